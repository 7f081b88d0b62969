"""The CBMAI paper's figures, one function per target, drawn from the target's table alone."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MultipleLocator, NullFormatter

from bestarm.common.paper import Plots
from bestarm.common.style import (
    BLUE,
    BOUND,
    GREEN,
    GREY,
    PURPLE,
    UNIFORM,
    VERMILION,
    Look,
    caption,
    curve,
    error_bars,
    new_figure,
    pick,
    plain_log_ticks,
    runs,
)
from bestarm.common.tables import lines

LOOKS = {"SFSR": Look(BLUE, "o"), "SFSR-L": Look(VERMILION, "^"), "USLP": UNIFORM}
SUPPORT = Look(GREEN, "^")
BARS = (
    "95% Wilson intervals; an arrow, at the first N without an error, starts at the one-sided 95% "
    "upper bound"
)


def error_curves(axes: Axes, table: pd.DataFrame, statistic: str = "error_rate") -> None:
    """Shares of runs against the budget, both logarithmic, a line per strategy."""
    axes.set(xscale="log", yscale="log")
    for place, (strategy, look) in enumerate(LOOKS.items()):
        rows = pick(table, strategy=strategy, statistic=statistic)
        curve(axes, rows, look, strategy, shift=1.06 ** (place - 1))
    axes.set_xlabel("budget N (pulls)")
    axes.xaxis.set_minor_formatter(NullFormatter())


def scatter(axes: Axes, arms: pd.DataFrame) -> None:
    """Arms of a one-constraint instance in the plane of cost and reward, with the frontier."""
    best = arms[arms.weight > 0]
    rest = arms[arms.weight == 0]
    axes.axvline(1.0, color=BOUND.colour, ls=BOUND.line, lw=1)
    axes.plot(rest.cost, rest.reward, "o", color=GREY, ms=4, mfc="none")
    axes.plot(best.cost, best.reward, "-", color=SUPPORT.colour, lw=1)
    axes.plot(best.cost, best.reward, SUPPORT.marker, color=SUPPORT.colour, ms=6)
    for (cost, reward), group in rest.groupby(["cost", "reward"]):
        if len(group) > 1:
            many = {"textcoords": "offset points", "ha": "center", "fontsize": 8, "color": GREY}
            axes.annotate(f"{len(group)} arms", (cost, reward), (0, -13), **many)
    axes.set(xlabel="mean cost")
    axes.margins(0.12, 0.22)  # room for the labels below


def instances_over_curves(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """The instances above, the error rates below."""
    figure = new_figure(7.4, 5.4)
    names = list(dict.fromkeys(geometry.instance))
    above, below = figure.subplots(2, len(names), height_ratios=[1, 1.25])
    for lower in below[1:]:
        lower.sharey(below[0])
    for axes, lower, name in zip(above, below, names, strict=True):
        scatter(axes, pick(geometry, instance=name))
        axes.set_title(f"{name} (reconstructed)")
        error_curves(lower, pick(table, instance=name))
        lower.label_outer()
    above[0].set_ylabel("mean reward")
    below[0].set_ylabel("error rate")
    figure.legend(*below[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    counts = pick(table, statistic="error_rate").n
    caption(
        figure,
        f"Above: arms; green triangles are in the optimal support, the dotted line is the bound on "
        f"the cost. Instances are rebuilt from their description, the paper does not print them. "
        f"Below: share of runs with a wrong support, {BARS} ({runs(counts)} a point).",
    )
    return figure


def fig2(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    return instances_over_curves(table, geometry)


def fig3(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    return instances_over_curves(table, geometry)


def curves(table: pd.DataFrame, titles: dict[str, str], columns: int, note: str = "") -> Figure:
    """Error rates alone, a panel per instance."""
    n_rows = -(-len(titles) // columns)
    figure = new_figure(7.4, 2.5 * n_rows + 0.9)
    panels = figure.subplots(n_rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes, (name, title) in zip(panels.flat, titles.items(), strict=True):
        error_curves(axes, pick(table, instance=name))
        axes.set_title(title)
        axes.label_outer()
    for axes in panels[:, 0]:
        axes.set_ylabel("error rate")
    figure.legend(*panels.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    counts = pick(table, statistic="error_rate").n
    caption(figure, f"Share of wrong answers, {BARS} ({runs(counts)} a point). {note}")
    return figure


def fig5(table: pd.DataFrame) -> Figure:
    names = ("D1P", "D2P", "D3P", "D1I", "D2I", "D3I")
    note = "K = 24 arms, L = 2 constraints; the instances are those of Table 1."
    return curves(table, {name: name for name in names}, 3, note)


def known_arms(table: pd.DataFrame) -> Figure:
    titles = {"A2": "A2: none known"} | {
        f"A2-known-{n}": f"{n} of 16 arms known" for n in (4, 8, 12)
    }
    note = (
        "The arms furthest below the frontier are the known ones; both of the support are unknown."
    )
    return curves(table, titles, 4, note)


def infeasible(table: pd.DataFrame) -> Figure:
    titles = {
        "too-dear": "every arm too dear (L = 1)",
        "conflict": "two constraints in conflict (L = 2)",
    }
    note = 'The right answer is "infeasible".'
    return curves(table, titles, 2, note)


def three_constraints(table: pd.DataFrame) -> Figure:
    """Error rates, and the share of runs that end early in "infeasible"."""
    figure = new_figure(7.4, 3.4)
    panels = figure.subplots(1, 2, sharey=True)
    titles = {"error_rate": "wrong answers", "share_infeasible": 'of which "infeasible"'}
    for axes, (statistic, title) in zip(panels, titles.items(), strict=True):
        error_curves(axes, table, statistic)
        axes.set_title(title)
    panels[0].set_ylabel("share of runs")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    counts = pick(table, statistic="error_rate").n
    caption(
        figure, f"K = 12 arms, L = 3 constraints, all binding. {BARS} ({runs(counts)} a point)."
    )
    return figure


def fig1(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """Arms in the plane of cost and reward; scores as heights on the line of the bound."""
    figure = new_figure(7.4, 3.6)
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1], sharey=False)
    scatter(left, geometry)
    scores = {
        column: float(pick(table, statistic=f"intersection_value:{column}").value.iloc[0])
        for column in geometry.arm
    }
    for first, second in partners(geometry, scores):
        ends = geometry.set_index("arm").loc[[first, second]]
        left.plot(ends.cost, ends.reward, color=GREY, lw=0.8, zorder=0)
    for score in sorted(set(scores.values())):
        arms = [a for a, s in scores.items() if s == score]
        text = " = ".join(f"ρ{subscript(a)}" for a in arms)
        left.plot(1.0, score, "D", color=PURPLE, ms=4)
        left.annotate(text, (1.0, score), (5, -1), textcoords="offset points", va="top", fontsize=8)
    for arm in lines(geometry):
        left.annotate(f"{arm.arm}", (arm.cost, arm.reward), (-9, 3), textcoords="offset points")
    left.set(ylabel="mean reward", title="intersection values ρ")
    bars(right, table, geometry)
    caption(
        figure,
        "A five-arm instance with one constraint (reconstructed; computed, no simulation). Left: a "
        "score is the best value of a mixture, on a basis with that arm, that meets the bound "
        "(dotted); grey segments are those mixtures. Right: both scores of every column.",
    )
    return figure


def partners(arms: pd.DataFrame, scores: dict[int, float]) -> Iterable[tuple[int, int]]:
    """Pairs of arms whose segment meets the bound at the height of a score of either."""
    below, above = arms[arms.cost <= 1.0], arms[arms.cost > 1.0]
    for a in lines(below):
        for b in lines(above):
            share = (1.0 - a.cost) / (b.cost - a.cost)
            height = a.reward + share * (b.reward - a.reward)
            if min(abs(height - scores[a.arm]), abs(height - scores[b.arm])) < 1e-4:
                yield a.arm, b.arm


def subscript(number: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))


def bars(axes: Axes, table: pd.DataFrame, geometry: pd.DataFrame) -> None:
    """Both scores by column, as drops below the best."""
    columns = [*geometry.arm, len(geometry) + 1]
    names = [*map(str, geometry.arm), "slack"]
    for shift, (statistic, look) in zip(
        (-0.19, 0.19),
        {"intersection_value": LOOKS["SFSR"], "lagrangian_score": LOOKS["SFSR-L"]}.items(),
        strict=True,
    ):
        values = np.array(
            [float(pick(table, statistic=f"{statistic}:{c}").value.iloc[0]) for c in columns]
        )
        drops = values.max() - values
        label = {"intersection_value": "intersection value (SFSR)"}.get(
            statistic, "Lagrangian score (SFSR-L)"
        )
        axes.bar(np.arange(len(columns)) + shift, drops, 0.36, color=look.colour, label=label)
    axes.set_xticks(range(len(columns)), names)
    axes.set(
        xlabel="column", ylabel="score below the best (reward)", title="what is rejected first"
    )
    axes.grid(visible=False, axis="x")
    axes.legend()


def fig4(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """H2: its true means, its empirical means in a run that fails, and how often runs do."""
    figure = new_figure(7.4, 3.4)
    panels = figure.subplots(1, 3, width_ratios=[1, 1, 0.9])
    panels[1].sharex(panels[0])
    panels[1].sharey(panels[0])
    titles = {"true": "true means", "seen": "empirical, after round 1"}
    for axes, (panel, title) in zip(panels, titles.items(), strict=False):
        arms = pick(geometry, panel=panel)
        frontier = arms[arms.score.abs() < 1e-9]
        axes.axvline(1.0, color=BOUND.colour, ls=BOUND.line, lw=1)
        slope, height = np.polyfit(frontier.cost, frontier.reward, 1)
        ends = np.array([min(arms.cost.min(), 0.0) - 0.05, arms.cost.max() + 0.1])
        axes.plot(ends, height + slope * ends, color=SUPPORT.colour, lw=1)
        axes.plot(arms.cost, arms.reward, "o", color=GREY, ms=4, mfc="none")
        for arm, colour in ((1, VERMILION), (2, BLUE)):
            one = pick(arms, arm=arm)
            axes.plot(one.cost, one.reward, "o", color=colour, ms=6)
            axes.annotate(
                f"arm {arm}",
                (one.cost.iloc[0], one.reward.iloc[0]),
                (6, -10),
                textcoords="offset points",
                fontsize=8,
                color=colour,
            )
        lowest = arms.iloc[arms.score.argmin()]
        if panel == "seen":
            axes.plot(
                [lowest.cost] * 2,
                [lowest.reward, lowest.reward - lowest.score],
                color=VERMILION,
                lw=1,
                ls="--",
            )
        axes.set(title=title, xlabel="cost")
    panels[0].set_ylabel("reward")
    axes = panels[2]
    axes.set(xscale="log")
    for strategy in ("SFSR", "SFSR-L"):
        rows = pick(table, strategy=strategy).sort_values("x")
        error_bars(axes, rows, rows.x, rows.value, LOOKS[strategy], label=strategy, ms=3.5)
    axes.set(title="first rejection is wrong", xlabel="budget N (pulls)", ylabel="share of runs")
    axes.legend()
    seen = pick(geometry, panel="seen")
    caption(
        figure,
        "H2 (reconstructed from Appendix A). Left: the green frontier passes through arms 1 and 2. "
        f"Middle: run {seen.replication.iloc[0]}, {seen.pulls.iloc[0]:g} pulls an arm: one of arms "
        "3 to 16 tilts the empirical frontier, and arm 1, which looks no worse than it is, falls "
        "furthest below it (dashed). Right: runs whose first rejection is arm 1 or 2, with 95% "
        f"Wilson intervals ({runs(table.n)} a point).",
    )
    return figure


def table1(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """Rewards by cost, as the paper prints them; the optimal support outlined with its weights."""
    figure = new_figure(7.4, 6.6)
    names = ("D1P", "D2P", "D3P", "D1I", "D2I", "D3I")
    rows, columns = (sorted(set(geometry[c])) for c in ("cost_1", "cost_2"))
    for axes, name in zip(figure.subplots(2, 3, sharex=True, sharey=True).flat, names, strict=True):
        facts = pick(table, instance=name).set_index("statistic").value
        rewards = np.full((len(rows), len(columns)), np.nan)
        for arm in lines(geometry):
            i, j = rows.index(arm.cost_1), columns.index(arm.cost_2)
            rewards[i, j] = facts[f"mean_reward:{arm.arm}"]
            weight = facts.get(f"optimal_weight:{arm.arm}")
            text = f"{rewards[i, j]:.2f}" + (f"\nw {weight:.2f}" if weight is not None else "")
            axes.text(
                j,
                i,
                text,
                ha="center",
                va="center",
                fontsize=7.5,
                weight="bold" if weight is not None else "normal",
            )
            if weight is not None:
                axes.add_patch(outline(j, i))
        axes.imshow(rewards, cmap="Blues", aspect="auto", alpha=0.45)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.grid(False)
        axes.set_title(f"{name}: value {facts['optimal_value']:.4g}")
    for axes in figure.axes[3:]:
        axes.set_xlabel("mean cost 2")
    for axes in figure.axes[::3]:
        axes.set_ylabel("mean cost 1")
    caption(
        figure,
        "Mean rewards of the 24 arms, transcribed from the paper's Table 1. Outlined: the optimal "
        "support, recomputed, with its weights w; shade by reward within a panel. Both bounds are "
        "1. Computed, no simulation.",
    )
    return figure


def outline(column: int, row: int) -> Rectangle:
    """The outline of a cell of an image."""
    return Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, fill=False, ec=VERMILION, lw=1.5)


#: Colour, line style and label of the bounds on exponents.
LIMITS = {
    "any at most": (BOUND.colour, "-", "Theorem 2: any consistent strategy, at most"),
    "USLP at most": (UNIFORM.colour, ":", "Theorem 2: USLP, at most"),
    "SFSR at least": (BLUE, ":", "Theorem 1: SFSR, at least"),
}


def rates(table: pd.DataFrame) -> Figure:
    """-ln(error)/N of every strategy, with the theorems' bounds on its limit."""
    names = ("A1", "A2", "A3", "H1", "H2", "H3")
    figure = new_figure(7.4, 5.8)
    for axes, name in zip(figure.subplots(2, 3, sharex=True, sharey=True).flat, names, strict=True):
        axes.set(xscale="log", yscale="log")
        for place, (strategy, look) in enumerate(LOOKS.items()):
            rows = pick(table, instance=name, strategy=strategy, statistic="error_exponent")
            curve(axes, rows, look, strategy, shift=1.06 ** (place - 1))
        for limit, (colour, line, label) in LIMITS.items():
            value = pick(table, instance=name, strategy=limit).value.iloc[0]
            axes.axhline(value, color=colour, ls=line, lw=1.2, label=label)
        axes.set_title(f"{name} (reconstructed)")
    for axes in figure.axes[3:]:
        axes.set_xlabel("budget N (pulls)")
    for axes in figure.axes[::3]:
        axes.set_ylabel("−ln(error rate) / N (per pull)")
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=2)
    counts = pick(table, statistic="error_exponent").n
    caption(
        figure,
        f"Symbols: measured, 95% intervals; an arrow where no run erred, from the one-sided 95% "
        f"bound ({runs(counts)} a point). The theorems bound limits as N → ∞, where prefactors "
        "no longer count.",
    )
    return figure


def decay(table: pd.DataFrame) -> Figure:
    """Error rates over as many decades as the runs reach, and the slopes of these curves."""
    figure = new_figure(7.4, 4.2)
    left, right = figure.subplots(1, 2)
    left.set(yscale="log", ylabel="error rate", title="wrong answers")
    right.set(yscale="log", ylabel="local exponent (per pull)", title="how fast they become fewer")
    for axes, statistic in ((left, "error_rate"), (right, "marginal_exponent")):
        for place, (strategy, look) in enumerate(LOOKS.items()):
            rows = pick(table, strategy=strategy, statistic=statistic)
            curve(axes, rows, look, strategy, shift=1.02 ** (place - 1))
        axes.set_xlabel("budget N (pulls)")
        axes.xaxis.set_major_locator(MultipleLocator(10_000))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlim(0, 1.05 * table.x.max())
    tail = {"color": GREEN, "ls": "-.", "lw": 1.2, "zorder": 3, "label": "Gaussian tail Q(√(2cN))"}
    for axes, statistic in ((left, "gaussian_tail"), (right, "marginal_exponent")):
        rows = pick(table, strategy="USLP at most", statistic=statistic).sort_values("x")
        axes.plot(rows.x, rows.value, **tail)
    for limit, (colour, line, label) in LIMITS.items():
        value = pick(table, strategy=limit, statistic="exponent_limit").value.iloc[0]
        right.axhline(value, color=colour, ls=line, lw=1.2, label=label)
    plain_log_ticks(right.yaxis)
    figure.legend(*right.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    counts = pick(table, statistic="error_rate").n
    caption(
        figure,
        f"A2 (reconstructed). Left: share of runs with a wrong support, {BARS} ({runs(counts)} a "
        "point). Right: fall of ln(error rate) a pull since the next smaller budget, with 95% "
        "intervals, where at least 10 runs erred at both; the theorems bound its limit as N → ∞. "
        "Q(√(2cN)) is the tail of a standard normal, c being Theorem 2's limit for USLP.",
    )
    return figure


def random_instances(table: pd.DataFrame) -> Figure:
    """SFSR and SFSR-L against USLP, a mark per instance."""
    figure = new_figure(7.4, 3.3)
    panels = figure.subplots(1, 3)
    rates = pick(table, statistic="error_rate")
    rates = rates[rates.instance != "random"].pivot(
        index="instance", columns="strategy", values="value"
    )
    n = pick(table, statistic="error_rate").n.iloc[0]
    for axes, (first, second) in zip(
        panels, (("SFSR", "USLP"), ("SFSR-L", "USLP"), ("SFSR-L", "SFSR")), strict=True
    ):
        pairs = pick(table, algorithm=first, other=second)
        sure = pick(pairs, statistic="error_difference").set_index("instance")
        shown = rates.loc[sure.index].clip(lower=0.5 / n)
        ends = [0.9 * shown.to_numpy().min(), 1.05]
        axes.plot(ends, ends, color=BOUND.colour, ls=BOUND.line, lw=1)
        winners = {first: sure.high < 0, second: sure.low > 0}
        unsure = ~(winners[first] | winners[second])
        axes.plot(shown[second][unsure], shown[first][unsure], "o", color=GREY, mfc="none", ms=3)
        for strategy, wins in winners.items():
            look = LOOKS[strategy]
            colour = "black" if look.colour == GREY else look.colour
            marks = shown[wins]
            axes.plot(marks[second], marks[first], look.marker, color=colour, ms=3.5)
        axes.set(xscale="log", yscale="log", aspect="equal")
        axes.set(xlabel=f"error rate of {second}", ylabel=f"error rate of {first}")
        counts = [
            round(pick(pairs, statistic=f"share_of_instances:{side}").value.iloc[0] * len(sure))
            for side in ("below", "above")
        ]
        axes.set_title(f"{first} better: {counts[0]}\n{second} better: {counts[1]}", fontsize=8.5)
    caption(
        figure,
        f"A mark is one of {len(rates)} random instances with K = 16, L = 1, N = "
        f"{table.x.dropna().iloc[0]:,.0f} pulls; {runs([n])} each. Filled (and counted) where the "
        "95% interval of the difference leaves 0 out, in the colour of the better strategy (USLP: "
        "black); rates of 0 are drawn at half a run.",
    )
    return figure


PLOTS = Plots(
    {
        "fig1": fig1,
        "fig2": fig2,
        "fig3": fig3,
        "fig4": fig4,
        "fig5": fig5,
        "table1": table1,
        "rates": rates,
        "decay": decay,
        "random-instances": random_instances,
        "known-arms": known_arms,
        "infeasible": infeasible,
        "three-constraints": three_constraints,
    },
    LOOKS,
)
