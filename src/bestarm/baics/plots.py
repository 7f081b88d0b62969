"""The BAICS paper's figures, one function per target, drawn from the target's table alone."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from bestarm.baics import findings
from bestarm.baics.plots_proven import (
    boundary,
    guarantee,
    proven,
    proven_asymptotics,
    rates_asymptotics,
)
from bestarm.common.drawing import (
    HALF,
    WIDE,
    caption,
    dots,
    heat,
    legend,
    new_figure,
    plain_log_ticks,
    published,
    runs,
    series,
    with_errors,
)
from bestarm.common.paper import Plots
from bestarm.common.styles import (
    BLACK,
    BLUE,
    BOUND,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    UNIFORM,
    VERMILION,
    Style,
    named_styles,
)
from bestarm.common.tables import pick

STYLES = {
    "T-a-SCS": Style(BLUE, "o"),
    "T-a-S": Style(ORANGE, "^"),
    "Uniform": UNIFORM,
    "Two-stage": Style(VERMILION, "v", "--"),
    "FWS": Style(PURPLE, "D"),
    "BAICS": Style(BLUE, "o", name="with constraints"),
    "BAI": Style(VERMILION, "s", "--", "without constraints"),
    "as-written": Style(BLUE, "o", name="as written"),
    "no-half": Style(PURPLE, "s", "--", "no ½ in Z"),
    "maximiser": Style(GREEN, "^", name="exact maximiser"),
    "maximiser+no-half": Style(SKY, "v", "--", "exact maximiser, no ½"),
    "first-alternative": Style(ORANGE, "D", name="first of ties"),
    "first-alternative+no-half": Style(VERMILION, "P", "--", "first of ties, no ½"),
    "proven": Style(BLUE, "o", name="proven"),
    "maximiser+proven": Style(GREEN, "^", name="exact maximiser, proven"),
    "levelled+proven": Style(PURPLE, "D", name="levelled, proven"),
    "proven-mixture": Style(SKY, "v", name="proven by full mixtures"),
    "maximiser+proven-mixture": Style(ORANGE, "v", name="exact maximiser, full mixtures"),
    "proven-unknown-sigma": Style(VERMILION, "s", name="proven, unknown σ"),
    "maximiser+proven-unknown-sigma": Style(VERMILION, "^", name="exact maximiser, unknown σ"),
}
#: Statistics that compare strategies, with the titles of their panels and labels of their axes.
COMPARED = {
    "mean_stopping_time": ("stopping time τ", "pulls\n(dotted: lower bound)"),
    "prob_correct": ("right answers", "share of runs\n(dotted: 1 − δ)"),
    "share_capped": ("capped runs", "share of runs"),
}


def comparison(table: pd.DataFrame, example: str, finding: str) -> Figure:
    """Stopping times, right answers and capped runs, a line per strategy and reading."""
    ours = table[~table.reading.isin(["exact", "published"])]
    names = {
        k: style.name for k, style in named_styles(STYLES, {*ours.strategy, *ours.reading}).items()
    }
    ours = ours.assign(line=ours.strategy.map(names) + ", " + ours.reading.map(names))
    pairs = ours.drop_duplicates("line").set_index(["strategy", "reading"]).line
    order = [pairs[s, r] for s in names for r in names if (s, r) in pairs.index]
    figure = new_figure(WIDE, 0.21 * len(order) + 0.75)
    col = ("statistic", {name: title for name, (title, _) in COMPARED.items()})
    panels = dots(figure, ours[ours.statistic.isin(COMPARED)], STYLES, order, y="line", col=col)[0]
    panels[0].set_xscale("log")
    for line, rows in ours.groupby("line"):
        values = rows.set_index("statistic").value
        y = order.index(line)
        colour = named_styles(STYLES, rows.strategy)[rows.strategy.iloc[0]].colour
        ends = values[["quartile_25", "quartile_75"]]
        panels[0].plot(ends, [y, y], color=colour, lw=5, alpha=0.25, solid_capstyle="butt")
        panels[0].plot(values["median_stopping_time"], y, "|", color=colour, ms=8, mew=1.6)
    stated = pick(table, reading="published")
    stated = with_errors(stated, pick(ours, reading="as-written"))
    bound = pick(table, statistic="lower_bound").iloc[0]
    for axes, (statistic, (_, unit)) in zip(panels, COMPARED.items(), strict=True):
        rows = pick(stated, statistic=statistic)
        at = [order.index(pairs[name, "as-written"]) - 0.3 for name in rows.strategy]
        published(axes, rows, rows.value, at, label="published" * (axes is panels[0]))
        axes.set_xlabel(unit)
    for axes, value in zip(panels, (bound.value, 1.0 - bound.delta), strict=False):
        axes.axvline(value, color=BOUND.colour, ls=BOUND.line, lw=1)
    plain_log_ticks(panels[0].xaxis, crowded=20.0)
    panels[1].set_xlim(min(0.88, panels[1].get_xlim()[0]), 1.005)
    panels[2].set_xlim(-0.03, 1.03)
    panels[0].set_ylim(len(order) - 0.4, -0.75)
    caption(
        figure,
        finding,
        f"{example}, δ = 0.1. Stopping times: mean (marker) with 95% interval, median (tick), "
        f"quartiles (band; absent if too many runs were capped at 15,000); {runs(ours.n)}. A mean "
        "over capped runs is restricted to the cap. Shares with 95% Wilson intervals. "
        + ("Diamonds: published, with the sampling error of n = 300. " if len(stated) else "")
        + "Dotted: the lower bound T* kl(δ, 1−δ) on the mean of a δ-correct strategy, and 1−δ.",
    )
    return figure


def table1(table: pd.DataFrame) -> Figure:
    return comparison(table, "Example 1, K = L = 3", findings.table1(table))


def example2(table: pd.DataFrame) -> Figure:
    return comparison(table, "Example 2, K = 4, L = 3", findings.example2(table))


def no_feasible_arm(table: pd.DataFrame) -> Figure:
    return comparison(table, "No feasible arm, K = L = 3", findings.no_feasible_arm(table))


def allocation(table: pd.DataFrame, example: str) -> Figure:
    """Heat maps over arms x subpopulations: T-a-SCS, T-a-S, and the optimal allocation."""
    shares = table[table.statistic.str.contains(";")]
    panels = {
        "T-a-SCS": pick(shares, strategy="T-a-SCS", reading="as-written"),
        "T-a-S": pick(shares, strategy="T-a-S", reading="as-written"),
        "optimal, w*": pick(shares, reading="exact"),
    }
    places = shares.statistic.str.extract(r":(\d+);(\d+)").astype(int)
    n_arms, n_groups = places.max()
    figure = new_figure(WIDE, 0.42 * n_arms + 0.75)
    all_axes = figure.subplots(1, len(panels), sharey=True)
    for axes, (name, rows) in zip(all_axes, panels.items(), strict=True):
        grid, half = np.full((2, n_arms, n_groups), np.nan)
        at = tuple((places.loc[rows.index] - 1).to_numpy().T)
        grid[at], half[at] = rows.value, (rows.high - rows.low) / 2
        texts = np.array(
            [
                [f"{v:.3f}" + (f"\n±{h:.3f}" if h > 0 else "") for v, h in zip(*line, strict=True)]
                for line in zip(grid, half, strict=True)
            ]
        )
        heat(axes, grid, texts, vmin=0.0, vmax=shares.value.max(), cmap="Blues")
        axes.set(title=name, xlabel="subpopulation")
        axes.set_xticks(np.arange(n_groups) + 0.5, range(1, n_groups + 1))
        axes.set_yticks(np.arange(n_arms) + 0.5, range(1, n_arms + 1))
    all_axes[0].set_ylabel("arm")
    shades = all_axes[-1].collections[0]
    figure.colorbar(shades, ax=list(all_axes), label="share of pulls", aspect=12)
    mine, optimal = (
        panels[name].set_index(panels[name].statistic.str.partition(":")[2]).value
        for name in ("T-a-SCS", "optimal, w*")
    )
    apart = (mine - optimal).abs()
    caption(
        figure,
        f"T-a-SCS pulls every pair within {apart.max():.2f} of its optimal share. "
        f"{example}: where the pulls go. Mean over runs of the pulls of a pair over all pulls of "
        "the run, ± half a 95% interval, as written "
        f"({runs(pick(table, reading='as-written').n)}).",
    )
    return figure


def fig1(table: pd.DataFrame) -> Figure:
    return allocation(table, "Example 1")


def fig2(table: pd.DataFrame) -> Figure:
    return allocation(table, "Example 2")


def complexity(table: pd.DataFrame) -> Figure:
    """T* against epsilon for the three instances of Section 3.2."""
    titles = {
        "tradeoff": "Example 1\nμ₂ = (4, −ε)\nμ₃ = (1, 1−ε)",
        "easy-feasibility": "easy feasibility\nμ₂ = (4, −2−ε)\nμ₃ = (1, −1)",
        "easy-gap": "easy gap\nμ₂ = (1, −ε)\nμ₃ = (1, −1)",
    }
    figure = new_figure(WIDE, 2.3)
    rows = pick(table, statistic="characteristic_time")
    rows = rows[rows.instance.isin(titles) & rows.x.notna()]
    panels = series(figure, rows, STYLES, log="xy", col=("instance", titles))[0]
    for axes in panels:
        axes.set_xlabel("ε (reward)")
    panels[0].invert_xaxis()
    panels[0].set_ylabel("T* (pulls per nat)")
    legend(figure, named_styles(STYLES, rows.strategy))
    caption(
        figure,
        findings.complexity(table),
        "Characteristic time of μ₁ = (1, 1) against the two arms named, q = (½, ½), "
        f"σ = 1; {runs(table.n)}.",
    )
    return figure


def asymptotics(table: pd.DataFrame) -> Figure:
    """Mean stopping time over T* ln(1/delta), and the same for increments."""
    lines = {
        "T-a-SCS, maximiser": Style(BLUE, "o", name="T-a-SCS, exact maximiser"),
        "T-a-SCS, as-written": Style(BLUE, "o", "--", "T-a-SCS, one step per pull"),
        "T-a-SCS, maximiser+no-half": Style(PURPLE, "D", name="T-a-SCS, exact, no ½ in Z"),
        "T-a-SCS, no-half": Style(PURPLE, "D", "--", "T-a-SCS, one step, no ½ in Z"),
        "T-a-S, as-written": STYLES["T-a-S"]._replace(name="T-a-S"),
        "Uniform, as-written": STYLES["Uniform"]._replace(name="Uniform"),
    }
    titles = {
        "asymptotic_ratio": "mean stopping time",
        "marginal_ratio": "growth per 4 decades",
    }
    figure = new_figure(WIDE, 2.9)
    table = table.assign(line=table.strategy + ", " + table.reading)
    rows = table[table.line.isin(lines) & table.statistic.isin(titles)]
    panels = series(figure, rows, lines, "line", "xy", ("statistic", titles), share=False)[0]
    bound = pick(table, statistic="lower_bound").sort_values("x")
    time = bound.value / ((1 - 2 * bound.x) * np.log((1 - bound.x) / bound.x))
    ratio = bound.value / (time * np.log(1 / bound.x))
    panels[0].plot(bound.x, ratio, color=BOUND.colour, ls=BOUND.line, lw=1.6)
    for axes in panels:
        axes.axhline(1.0, color=BOUND.colour, lw=0.7)
        axes.set_xlabel("δ")
        plain_log_ticks(axes.yaxis)
    panels[0].invert_xaxis()
    panels[0].set_ylabel("E[τ] / (T* ln 1/δ)")
    panels[1].set_ylabel("ΔE[τ] / (T* Δ ln 1/δ)")
    legend(figure, lines | {"bound": BOUND._replace(name="lower bound T* kl(δ, 1−δ)")}, 2)
    caption(
        figure,
        findings.asymptotics(table),
        f"Example 1, no cap; means with 95% intervals ({runs(rows.n)} per point). A "
        "δ-correct strategy cannot be below the bound; an optimal one tends to 1 "
        "(horizontal line) in both panels as δ → 0.",
    )
    return figure


def step_size(table: pd.DataFrame) -> Figure:
    """Mean and median stopping time of T-a-SCS against its step size."""
    lines = {
        "1, 1": Style(BLUE, "o", name="1 step per pull, ties by coin"),
        "1, 0": Style(VERMILION, "v", name="1 step per pull, first of ties"),
        "5, 1": Style(GREEN, "s", name="5 steps per pull"),
        "20, 1": Style(PURPLE, "D", name="20 steps per pull"),
    }
    col = ("reading", {"as-written": "as written", "no-half": "no ½ in Z"})
    row = ("statistic", {"mean_stopping_time": "mean", "median_stopping_time": "median"})
    rows = pick(table, x_name="step")
    rows = rows[rows.reading.isin(col[1]) & rows.statistic.isin(row[1])]
    counts = rows[["inner_steps", "tie_coins"]].astype(int).astype(str)
    rows = rows.assign(line=counts.inner_steps + ", " + counts.tie_coins)
    figure = new_figure(WIDE, 3.9)
    panels = series(figure, rows, lines, "line", "xy", col, row)
    bound = float(pick(table, statistic="lower_bound").value.iloc[0])
    stated = pick(table, reading="published", statistic="mean_stopping_time")
    stated = with_errors(stated, pick(table, reading="maximiser")).iloc[0]
    for (i, j), axes in np.ndenumerate(panels):
        statistic, reading = list(row[1])[i], list(col[1])[j]
        exact = pick(table, statistic=statistic, strategy="T-a-SCS")
        exact = pick(exact, reading="maximiser" + "+no-half" * (reading == "no-half"))
        axes.axhline(float(exact.value.iloc[0]), color=SKY, lw=2.5, zorder=1)
        axes.axhline(bound, color=BOUND.colour, ls=BOUND.line)
        if i == 0:
            axes.axhspan(stated.low, stated.high, color=BLACK, alpha=0.15, lw=0)
            axes.axhline(stated.value, color=BLACK, lw=0.8)
        axes.set_xlabel("step size α" if i == 1 else "")
        axes.set_ylabel(f"{row[1][statistic]} τ (pulls)" if j == 0 else "")
        plain_log_ticks(axes.yaxis, crowded=20.0)
    others = {
        "exact": Style(SKY, "", name="exact maximiser"),
        "published": Style(BLACK, "", name="published mean"),
        "bound": BOUND._replace(name="lower bound"),
    }
    legend(figure, lines | others, 3)
    caption(
        figure,
        findings.step_size(table),
        "T-a-SCS in example 1, δ = 0.1, cap 15,000, by the step size of its ascent: means with 95% "
        f"intervals above, medians below ({runs(rows.n)} per point). Grey: sampling error of the "
        "published mean (n = 300).",
    )
    return figure


def two_stage(table: pd.DataFrame) -> Figure:
    """Times of Two-stage and T-a-SCS as the feasibility of a poor arm gets hard to determine."""
    figure = new_figure(HALF, 2.3)
    rows = pick(table, statistic="mean_stopping_time")
    axes = series(figure, rows, STYLES, log="xy")[0, 0]
    axes.set(xlabel="ε: how far below 0 the mean is", ylabel="mean stopping time (pulls)")
    axes.invert_xaxis()
    legend(figure, named_styles(STYLES, rows.strategy))
    caption(
        figure,
        findings.two_stage(table),
        "Section 3.2, second variant, δ = 0.1: arm 2 is poor, and whether it is feasible need "
        "not be determined. Two-stage determines it first, nonetheless. Means with 95% intervals "
        f"(smaller than the marks); {runs(rows.n)}.",
    )
    return figure


def segments(table: pd.DataFrame) -> Figure:
    """How often T-a-SCS stops wrongly, against the number of subpopulations."""
    figure = new_figure(HALF, 2.0)
    rows = pick(table, statistic="wrong_stops")
    axes = series(figure, rows, STYLES)[0, 0]
    delta = rows.delta.iloc[0]
    axes.axhline(delta, color=BOUND.colour, linestyle=BOUND.line)
    axes.annotate(f"δ = {delta:g}", (rows.x.max(), delta), ha="right", va="bottom")
    axes.set(xlabel="subpopulations", ylabel="runs that stop wrongly", ylim=(0.0, None))
    caption(
        figure,
        findings.segments(table),
        "T-a-SCS with two arms, of mean 0.1 (right) and −3 on every subpopulation. With the "
        "threshold ln((1 + ln t)/δ) runs stop early with the answer that no arm is feasible. "
        f"Shares with 95% Wilson intervals; {runs(rows.n)} of at most 10,000 pulls.",
    )
    return figure


def tracking(table: pd.DataFrame) -> Figure:
    """Distance of the pulls from the targets they track, as a share of the bound of Eq. (12)."""
    figure = new_figure(HALF, 1.15)
    row = pick(table, statistic="tracking_error")
    axes = dots(figure, row, STYLES, list(row.strategy))[0, 0]
    largest = pick(table, statistic="tracking_error:largest").value
    axes.plot(largest, [0.0], "x", color=VERMILION, ms=5)
    axes.axvline(1.0, color=BOUND.colour, linestyle=BOUND.line)
    for x, text, align in (
        (row.value.iloc[0], "mean", "center"),
        (largest.iloc[0], "largest of all runs", "left"),
        (1.0, "Eq. (12)", "right"),
    ):
        axes.annotate(text, (x, 0.4 if text == "mean" else -0.2), ha=align, fontsize=6.5)
    axes.set(xlabel="largest |N − Σ w| over K L (1 + √t)", xlim=(0.0, 1.05))
    caption(
        figure,
        findings.tracking(table),
        f"T-a-SCS in example 1, kept from stopping until t = 5,000; {runs(row.n)}: mean with 95% "
        "interval and largest over runs.",
    )
    return figure


PLOTS = Plots(
    {
        "table1": table1,
        "fig1": fig1,
        "example2": example2,
        "fig2": fig2,
        "complexity": complexity,
        "asymptotics": asymptotics,
        "step-size": step_size,
        "no-feasible-arm": no_feasible_arm,
        "two-stage": two_stage,
        "segments": segments,
        "guarantee": guarantee,
        "proven": proven,
        "boundary": boundary,
        "proven-asymptotics": proven_asymptotics,
        "rates-asymptotics": rates_asymptotics,
        "tracking": tracking,
    },
    STYLES,
    {
        "table1": "mean_stopping_time",
        "example2": "mean_stopping_time",
        "complexity": "characteristic_time",
        "asymptotics": "asymptotic_ratio",
        "step-size": "mean_stopping_time",
        "no-feasible-arm": "mean_stopping_time",
        "two-stage": "mean_stopping_time",
        "segments": "wrong_stops",
        "guarantee": "wrong_stops",
        "proven": "mean_stopping_time",
        "boundary": "wrong_stops",
        "proven-asymptotics": "bound_ratio",
        "rates-asymptotics": "bound_ratio",
    },
)
