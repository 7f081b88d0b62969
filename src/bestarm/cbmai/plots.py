"""The CBMAI paper's figures, one function per target, drawn from the target's table alone."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MultipleLocator, NullFormatter

from bestarm.cbmai import findings
from bestarm.common.drawing import (
    WIDE,
    caption,
    heat,
    legend,
    new_figure,
    plain_log_ticks,
    runs,
    series,
    spread,
)
from bestarm.common.paper import Plots
from bestarm.common.styles import (
    BLACK,
    BLUE,
    BOUND,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    UNIFORM,
    VERMILION,
    Style,
    named_styles,
)
from bestarm.common.tables import lines, pick

STYLES = {
    "SFSR": Style(BLUE, "o"),
    "SFSR-L": Style(VERMILION, "^"),
    "USLP": UNIFORM,
    "SFSR-patient": Style(PURPLE, "D", "--", "SFSR, patient"),
}
#: Arms of the optimal support, which have no strategy's colour.
SUPPORT = Style(GREEN, "^")
BARS = (
    "95% Wilson intervals; an arrow, at the first N without an error, starts at the one-sided 95% "
    "upper bound"
)


def error_curves(
    figure: Figure | SubFigure, rows: pd.DataFrame, col: str, titles: Mapping[str, str]
) -> np.ndarray:
    """Shares of runs against the budget, both logarithmic, a line per strategy."""
    rows = rows[rows[col].isin(titles)]
    panels = series(figure, rows, STYLES, log="xy", col=(col, titles))[0]
    for axes in panels:
        axes.set_xlabel("budget N (pulls)")
        axes.xaxis.set_minor_formatter(NullFormatter())
    panels[0].set_ylabel("error rate")
    return panels


def scatter(axes: Axes, arms: pd.DataFrame) -> None:
    """Arms of a one-constraint instance in the plane of cost and reward, with the frontier."""
    best = arms[arms.weight > 0]
    rest = arms[arms.weight == 0]
    axes.axvline(1.0, color=BOUND.colour, ls=BOUND.line, lw=1)
    axes.plot(rest.cost, rest.reward, "o", color=GREY, ms=3, mfc="none")
    axes.plot(best.cost, best.reward, "-", color=SUPPORT.colour, lw=1)
    axes.plot(best.cost, best.reward, SUPPORT.marker, color=SUPPORT.colour, ms=5)
    for (cost, reward), group in rest.groupby(["cost", "reward"]):
        if len(group) > 1:
            many = {"textcoords": "offset points", "ha": "center", "fontsize": 7, "color": GREY}
            axes.annotate(f"{len(group)} arms", (cost, reward), (0, -11), **many)
    axes.set(xlabel="mean cost")
    axes.margins(0.12, 0.22)  # room for the labels below


def instances_over_curves(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """The instances above, the error rates below."""
    figure = new_figure(WIDE, 4.1)
    names = {name: f"{name} (reconstructed)" for name in dict.fromkeys(geometry.instance)}
    upper, lower = figure.subfigures(2, 1, squeeze=False, height_ratios=[1, 1.15])[:, 0]
    above = upper.subplots(1, len(names))
    for axes, (name, title) in zip(above, names.items(), strict=True):
        scatter(axes, pick(geometry, instance=name))
        axes.set_title(title)
    above[0].set_ylabel("mean reward")
    rows = pick(table, statistic="error_rate")
    error_curves(lower, rows, "instance", dict.fromkeys(names, ""))
    legend(lower, named_styles(STYLES, rows[rows.other == ""].strategy))
    caption(
        figure,
        findings.fewer_errors(table),
        "Above: arms; green triangles are in the optimal support, the dotted line is the bound on "
        "the cost. Instances are rebuilt from their description, the paper does not print them. "
        f"Below: share of runs with a wrong support, {BARS} ({runs(rows.n)} per point).",
    )
    return figure


def fig2(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    return instances_over_curves(table, geometry)


def fig3(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    return instances_over_curves(table, geometry)


def curves(table: pd.DataFrame, titles: dict[str, str], note: str, finding: str) -> Figure:
    """Error rates alone, a panel per instance, at most three in a row."""
    n_rows = -(-len(titles) // 3)
    figure = new_figure(WIDE, 1.75 * n_rows + 0.3)
    rows = pick(table, statistic="error_rate")
    names = list(titles)
    parts = figure.subfigures(n_rows, 1, squeeze=False)[:, 0]
    for k, part in enumerate(parts):
        size = -(-len(names) // n_rows)
        in_row = {name: titles[name] for name in names[k * size : (k + 1) * size]}
        panels = error_curves(part, rows, "instance", in_row)
        panels[0].set_ylim(0.3 * rows.value[rows.value > 0].min(), 1.5)
    legend(figure, named_styles(STYLES, rows.strategy))
    caption(figure, finding, f"Share of wrong answers, {BARS} ({runs(rows.n)} per point). {note}")
    return figure


def fig5(table: pd.DataFrame) -> Figure:
    names = ("D1P", "D2P", "D3P", "D1I", "D2I", "D3I")
    note = "K = 24 arms, L = 2 constraints; the instances are those of Table 1."
    return curves(table, {name: name for name in names}, note, findings.fewer_errors(table))


def known_arms(table: pd.DataFrame) -> Figure:
    titles = {"A2": "A2: none known"} | {
        f"A2-known-{n}": f"{n} of 16 arms known" for n in (4, 8, 12)
    }
    note = (
        "The arms furthest below the frontier are the known ones; both of the support are unknown."
    )
    return curves(table, titles, note, findings.known_arms(table))


def infeasible(table: pd.DataFrame) -> Figure:
    titles = {
        "too-dear": "every arm too dear (L = 1)",
        "conflict": "two constraints in conflict (L = 2)",
    }
    note = 'The right answer is "infeasible".'
    return curves(table, titles, note, findings.infeasible(table))


def patient(table: pd.DataFrame) -> Figure:
    titles = {
        "three-constraints": "three constraints",
        "D1P": "D1P",
        "D1I": "D1I",
        "H1": "H1",
        "too-dear": "infeasible: too dear",
        "conflict": "infeasible: conflict",
    }
    note = (
        'Patient: SFSR that answers "infeasible" only after the last round. On the same rewards it '
        "never errs where SFSR is right if a mixture is feasible, and the other way round if none "
        "is."
    )
    drawn = table[table.instance.isin(titles)]
    return curves(table, titles, note, findings.patient(drawn))


def three_constraints(table: pd.DataFrame) -> Figure:
    """Error rates, and the share of runs that end early in "infeasible"."""
    figure = new_figure(WIDE, 2.3)
    titles = {"error_rate": "wrong answers", "share_infeasible": 'of which "infeasible"'}
    panels = error_curves(figure, table, "statistic", titles)
    panels[0].set_ylabel("share of runs")
    legend(figure, named_styles(STYLES, pick(table, statistic="error_rate").strategy))
    counts = pick(table, statistic="error_rate").n
    caption(
        figure,
        findings.three_constraints(table),
        f"K = 12 arms, L = 3 constraints, all binding. {BARS} ({runs(counts)} per point).",
    )
    return figure


#: What keeps a label legible on a line.
LABEL = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.85}


def fig1(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """Arms in the plane of cost and reward; scores as heights on the line of the bound."""
    figure = new_figure(WIDE, 2.7)
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
        style = {"textcoords": "offset points", "fontsize": 7, "bbox": LABEL}
        left.annotate(text, (1.0, score), (5, -1), va="top", **style)
    for arm in lines(geometry):
        left.annotate(f"{arm.arm}", (arm.cost, arm.reward), (-8, 2), textcoords="offset points")
    left.set(ylabel="mean reward", title="intersection values ρ")
    bars(right, table, geometry)
    first = best_columns(table, "intersection_value") & best_columns(table, "lagrangian_score")
    caption(
        figure,
        f"Both scores are highest for columns {' and '.join(sorted(first))}. "
        "A five-arm instance with one constraint (reconstructed; computed, no simulation). Left: a "
        "score is the best value of a mixture, on a basis with that arm, that meets the bound "
        "(dotted); grey segments are those mixtures. Right: both scores of every column.",
    )
    return figure


def best_columns(table: pd.DataFrame, score: str) -> set[str]:
    """The columns with the highest score, a tie included."""
    rows = table[table.statistic.str.startswith(f"{score}:")]
    best = rows[np.isclose(rows.value, rows.value.max())]
    return set(best.statistic.str.partition(":")[2])


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
    for shift, (statistic, style) in zip(
        (-0.19, 0.19),
        {"intersection_value": STYLES["SFSR"], "lagrangian_score": STYLES["SFSR-L"]}.items(),
        strict=True,
    ):
        values = np.array(
            [float(pick(table, statistic=f"{statistic}:{c}").value.iloc[0]) for c in columns]
        )
        drops = values.max() - values
        label = {"intersection_value": "intersection value (SFSR)"}.get(
            statistic, "Lagrangian score (SFSR-L)"
        )
        axes.bar(np.arange(len(columns)) + shift, drops, 0.36, color=style.colour, label=label)
    axes.set_xticks(range(len(columns)), names)
    axes.set(
        xlabel="column", ylabel="score below the best (reward)", title="what is rejected first"
    )
    axes.grid(visible=False, axis="x")
    axes.legend()


def fig4(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """H2: its true means, its empirical means in a run that fails, and how often runs do."""
    figure = new_figure(WIDE, 2.3)
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=[2.0, 1.1])[0]
    titles = {"true": "true means", "seen": "empirical, after round 1"}
    panels = left.subplots(1, 2, sharex=True, sharey=True)
    for axes, (panel, title) in zip(panels, titles.items(), strict=True):
        arms = pick(geometry, panel=panel)
        frontier = arms[arms.score.abs() < 1e-9]
        axes.axvline(1.0, color=BOUND.colour, ls=BOUND.line, lw=1)
        slope, height = np.polyfit(frontier.cost, frontier.reward, 1)
        ends = np.array([min(arms.cost.min(), 0.0) - 0.05, arms.cost.max() + 0.1])
        axes.plot(ends, height + slope * ends, color=SUPPORT.colour, lw=1)
        axes.plot(arms.cost, arms.reward, "o", color=GREY, ms=3, mfc="none")
        for arm, colour in ((1, PURPLE), (2, ORANGE)):
            point = pick(arms, arm=arm)
            axes.plot(point.cost, point.reward, SUPPORT.marker, color=colour, ms=5)
            place = (point.cost.iloc[0], point.reward.iloc[0])
            axes.annotate(
                f"arm {arm}", place, (5, -9), textcoords="offset points", fontsize=7, bbox=LABEL
            )
        lowest = arms.iloc[arms.score.argmin()]
        if panel == "seen":
            fall = [lowest.reward, lowest.reward - lowest.score]
            axes.plot([lowest.cost] * 2, fall, color=BLACK, lw=1, ls="--")
        axes.set(title=title, xlabel="cost")
    panels[0].set_ylabel("reward")
    panels[0].margins(0.15)
    rows = table[table.strategy.isin(STYLES) & (table.strategy != "USLP")]
    axes = series(right, rows, STYLES, log="x")[0, 0]
    axes.set(title="first rejection is wrong", xlabel="budget N (pulls)", ylabel="share of runs")
    legend(figure, named_styles(STYLES, rows.strategy))
    seen = pick(geometry, panel="seen")
    worst = rows.groupby("strategy").value.max()
    caption(
        figure,
        f"SFSR-L first rejects an arm of the support in up to {worst['SFSR-L']:.0%} of runs, SFSR "
        f"in up to {worst['SFSR']:.0%}. "
        "H2 (reconstructed from Appendix A). Left: the green frontier passes through arms 1 and 2. "
        f"Middle: run {seen.replication.iloc[0]}, {seen.pulls.iloc[0]:g} pulls per arm: one of "
        "arms 3 to 16 tilts the empirical frontier, and arm 1, which looks no worse than it is, "
        "falls furthest below it (dashed). Right: runs whose first rejection is arm 1 or 2, with "
        f"95% Wilson intervals ({runs(table.n)} per point).",
    )
    return figure


def table1(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """Rewards by cost, as the paper prints them; the optimal support outlined with its weights."""
    figure = new_figure(WIDE, 4.9)
    names = ("D1P", "D2P", "D3P", "D1I", "D2I", "D3I")
    rows, columns = (sorted(set(geometry[c])) for c in ("cost_1", "cost_2"))
    rewards = table[table.statistic.str.startswith("mean_reward:")].value
    all_axes = figure.subplots(2, 3, sharex=True, sharey=True)
    for axes, name in zip(all_axes.flat, names, strict=True):
        facts = pick(table, instance=name).set_index("statistic").value
        grid = np.full((len(rows), len(columns)), np.nan)
        texts = np.full(grid.shape, "", dtype=object)
        best = []
        for arm in lines(geometry):
            place = rows.index(arm.cost_1), columns.index(arm.cost_2)
            grid[place] = facts[f"mean_reward:{arm.arm}"]
            weight = facts.get(f"optimal_weight:{arm.arm}")
            texts[place] = f"{grid[place]:.2f}" + (
                f"\nw {weight:.2f}" if weight is not None else ""
            )
            best += [place] if weight is not None else []
        ends = {"vmin": rewards.min(), "vmax": rewards.max()}
        heat(axes, grid, texts, cmap="Blues", linewidths=0.8, annot_kws={"size": 6.5}, **ends)
        for i, j in best:
            axes.add_patch(Rectangle((j, i), 1, 1, fill=False, ec=VERMILION, lw=1.8, zorder=4))
        axes.set_xticks(np.arange(len(columns)) + 0.5, [f"{c:g}" for c in columns])
        axes.set_yticks(np.arange(len(rows)) + 0.5, [f"{c:g}" for c in rows])
        axes.set_title(f"{name}: value {facts['optimal_value']:.4g}")
    for axes in all_axes[1]:
        axes.set_xlabel("mean cost 2")
    for axes in all_axes[:, 0]:
        axes.set_ylabel("mean cost 1")
    shades = all_axes[0, 0].collections[0]
    figure.colorbar(shades, ax=list(all_axes.flat), label="mean reward", aspect=35, pad=0.01)
    sizes = pick(table, statistic="support_size", reading="exact").value
    caption(
        figure,
        f"The best mixture has {spread(sizes, '.0f')} of 24 arms. "
        "Mean rewards of the 24 arms, transcribed from the paper's Table 1. Outlined: the optimal "
        "support, recomputed, with its weights w. Both bounds are 1. Computed, no simulation.",
    )
    return figure


#: Looks of the bounds on exponents.
LIMITS = {
    "any at most": Style(BLACK, "", "-", "any consistent strategy, at most (Theorem 2)"),
    "USLP at most": Style(GREY, "", ":", "USLP, at most (Theorem 2)"),
    "SFSR at least": Style(BLUE, "", ":", "SFSR, at least (Theorem 1)"),
}


def limit_lines(axes: Axes, rows: pd.DataFrame) -> None:
    """The theorems' bounds on exponents."""
    for name, style in LIMITS.items():
        value = pick(rows, strategy=name).value.iloc[0]
        axes.axhline(value, color=style.colour, ls=style.line)


def rates(table: pd.DataFrame) -> Figure:
    """-ln(error)/N of every strategy, with the theorems' bounds on its limit."""
    figure = new_figure(WIDE, 4.3)
    rows = pick(table, statistic="error_exponent")
    rows = rows[rows.strategy.isin(STYLES)]
    parts = figure.subfigures(2, 1, squeeze=False)[:, 0]
    for part, names in zip(parts, ("A1 A2 A3", "H1 H2 H3"), strict=True):
        titles = {name: f"{name} (reconstructed)" for name in names.split()}
        in_part = rows[rows.instance.isin(titles)]
        panels = series(part, in_part, STYLES, log="xy", col=("instance", titles))[0]
        for axes, name in zip(panels, titles, strict=True):
            limit_lines(axes, pick(table, instance=name))
            axes.set_xlabel("budget N (pulls)")
        panels[0].set_ylabel("−ln(error rate) / N")
        plain_log_ticks(panels[0].yaxis, crowded=50.0)
    legend(figure, named_styles(STYLES, rows.strategy) | LIMITS, 2)
    caption(
        figure,
        findings.rates(table),
        "Symbols: measured, 95% intervals; an arrow where no run erred, from the one-sided 95% "
        f"bound ({runs(rows.n)} per point). The theorems bound limits as N → ∞, where prefactors "
        "no longer count. Rows have scales of their own.",
    )
    return figure


def decay(table: pd.DataFrame) -> Figure:
    """Error rates over as many decades as the runs reach, and the slopes of these curves."""
    figure = new_figure(WIDE, 3.1)
    titles = {
        "error_rate": "wrong answers",
        "marginal_exponent": "how fast they become fewer",
    }
    rows = table[table.statistic.isin(titles) & table.strategy.isin(STYLES)]
    left, right = series(figure, rows, STYLES, log="y", col=("statistic", titles), share=False)[0]
    left.set_ylabel("error rate")
    right.set_ylabel("local exponent (per pull)")
    tail = Style(GREEN, "", "-.", "Gaussian tail Q(√(2cN))")
    for axes, statistic in ((left, "gaussian_tail"), (right, "marginal_exponent")):
        axes.set_xlabel("budget N (pulls)")
        axes.xaxis.set_major_locator(MultipleLocator(10_000))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        curve = pick(table, strategy="USLP at most", statistic=statistic).sort_values("x")
        axes.plot(curve.x, curve.value, color=tail.colour, ls=tail.line)
    left.set_xlim(0, 1.05 * table.x.max())
    limit_lines(right, pick(table, statistic="exponent_limit"))
    plain_log_ticks(right.yaxis)
    legend(figure, named_styles(STYLES, rows.strategy) | {"tail": tail} | LIMITS, 2)
    counts = pick(table, statistic="error_rate").n
    caption(
        figure,
        findings.decay(table),
        f"A2 (reconstructed). Left: share of runs with a wrong support, {BARS} ({runs(counts)} per "
        "point). Right: fall of ln(error rate) per pull since the next smaller budget, with 95% "
        "intervals, where at least 10 runs erred at both; the theorems bound its limit as N → ∞. "
        "Q(√(2cN)) is the tail of a standard normal, c being Theorem 2's limit for USLP.",
    )
    return figure


def random_instances(table: pd.DataFrame) -> Figure:
    """The ratio of error rates of two strategies, instance by instance."""
    figure = new_figure(WIDE, 2.5)
    rates = pick(table, statistic="error_rate")
    rates = rates[rates.instance != "random"].pivot(
        index="instance", columns="strategy", values="value"
    )
    n = int(pick(table, statistic="error_rate").n.iloc[0])
    pairs = (("SFSR", "USLP"), ("SFSR-L", "USLP"), ("SFSR-L", "SFSR"))
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    for axes, (first, second) in zip(panels, pairs, strict=True):
        pair = pick(table, algorithm=first, other=second)
        sure = pick(pair, statistic="error_difference").set_index("instance")
        floored = rates.loc[sure.index].clip(lower=0.5 / n)
        ratio = floored[first] / floored[second]
        wins = {first: sure.high < 0, second: sure.low > 0}
        unsure = ~(wins[first] | wins[second])
        axes.axhline(1.0, color=BOUND.colour, ls=BOUND.line, lw=1)
        axes.plot(floored[second][unsure], ratio[unsure], ".", color="#bbbbbb", ms=2.5)
        for strategy, here in wins.items():
            style = STYLES[strategy]
            marks = {"color": style.colour, "ms": 3, "mec": BLACK, "mew": 0.3}
            axes.plot(floored[second][here], ratio[here], style.marker, **marks)
        axes.set(xlim=(0, 1), yscale="log", title=f"{first} against {second}")
        axes.set_xlabel(f"error rate of {second}")
        counts = [
            round(pick(pair, statistic=f"share_of_instances:{side}").value.iloc[0] * len(sure))
            for side in ("above", "below")
        ]
        for name, count, y in zip((second, first), counts, (0.98, 0.02), strict=True):
            axes.annotate(
                f"{name} better: {count}", (0.02, y), xycoords="axes fraction",
                va="top" if y > 0.5 else "bottom", fontsize=6.5, bbox=LABEL,
            )  # fmt: skip
    low, high = panels[0].get_ylim()
    panels[0].set_ylim(low / 1.8, high * 1.8)
    plain_log_ticks(panels[0].yaxis)
    panels[0].set_ylabel("ratio of error rates")
    caption(
        figure,
        findings.random_instances(table),
        f"A mark is one of {len(rates)} random instances with K = 16, L = 1, N = "
        f"{table.x.dropna().iloc[0]:,.0f} pulls; {runs([n])} each. In the style of the better "
        "strategy (and counted) if the 95% interval of the difference excludes 0, else a grey dot; "
        "rates of 0 are drawn at half a run.",
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
        "patient": patient,
    },
    STYLES,
    {
        "fig2": "error_rate",
        "fig3": "error_rate",
        "fig4": "share_first_rejects_support",
        "fig5": "error_rate",
        "rates": "error_exponent",
        "decay": "error_rate",
        "random-instances": "error_rate",
        "known-arms": "error_rate",
        "infeasible": "error_rate",
        "three-constraints": "error_rate",
        "patient": "error_rate",
    },
)
