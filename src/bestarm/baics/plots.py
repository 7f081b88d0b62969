"""The BAICS paper's figures, one function per target, drawn from the target's table alone."""

import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from bestarm.common.paper import Plots
from bestarm.common.style import (
    BLUE,
    BOUND,
    GREEN,
    ORANGE,
    PUBLISHED,
    PURPLE,
    UNIFORM,
    VERMILION,
    Look,
    caption,
    error_bars,
    new_figure,
    pick,
    plain_log_ticks,
    runs,
)

LOOKS = {"T-a-SCS": Look(BLUE, "o"), "T-a-S": Look(ORANGE, "^"), "Uniform": UNIFORM}
READING_LABELS = {
    "as-written": "as written",
    "no-half": "no ½ in Z",
    "maximiser": "maximiser",
    "maximiser+no-half": "maximiser, no ½",
    "first-alternative": "first of ties",
    "first-alternative+no-half": "first of ties, no ½",
}
TWO_STAGE = Look(VERMILION, "v", "--")


def comparison(table: pd.DataFrame, title: str) -> Figure:
    """Stopping times, right answers and capped runs, a line per strategy and reading."""
    measured = table[~table.reading.isin(["exact", "published"])]
    published = pick(table, reading="published")
    lines = [
        (strategy, reading)
        for strategy in LOOKS
        for reading in READING_LABELS
        if len(pick(measured, strategy=strategy, reading=reading))
    ]
    figure = new_figure(7.4, 0.4 * len(lines) + 1.8)
    panels = figure.subplots(1, 3, sharey=True, width_ratios=[2.2, 1.1, 0.9])
    panels[0].set_xscale("log")
    statistics = ("mean_stopping_time", "prob_correct", "share_capped")
    for y, (strategy, reading) in enumerate(lines):
        look = LOOKS[strategy]
        rows = pick(measured, strategy=strategy, reading=reading).set_index("statistic")
        quartiles = rows.loc[["quartile_25", "quartile_75"], "value"]
        median = rows.loc["median_stopping_time", "value"]
        panels[0].plot(
            quartiles, [y, y], color=look.colour, lw=6, alpha=0.25, solid_capstyle="butt"
        )
        panels[0].plot(median, y, "|", color=look.colour, ms=11, mew=2)
        for axes, statistic in zip(panels, statistics, strict=True):
            row = rows.loc[[statistic]]
            error_bars(axes, row, row.value, y, look, horizontal=True)
            mark = pick(published, strategy=strategy, statistic=statistic).value
            axes.plot(mark, [y] * len(mark), PUBLISHED.marker, color=PUBLISHED.colour, mfc="none")
    bound = pick(table, statistic="lower_bound").iloc[0]
    for axes, place in zip(panels, (bound.value, 1.0 - bound.delta), strict=False):
        axes.axvline(place, color=BOUND.colour, linestyle=BOUND.line)
    panels[0].set(xlabel="stopping time τ (pulls)", title=title)
    plain_log_ticks(panels[0].xaxis)
    panels[1].set(xlabel="share of right answers", xlim=(min(0.88, panels[1].get_xlim()[0]), 1.005))
    panels[2].set(xlabel="share of runs capped", xlim=(-0.03, 1.03))
    panels[0].set_yticks(
        range(len(lines)), [f"{s}\n{READING_LABELS[r]}" for s, r in lines], fontsize=8
    )
    panels[0].invert_yaxis()
    caption(
        figure,
        f"Left: mean (marker) with 95% interval, median (tick), quartiles (band; absent where too "
        f"many runs were capped at 15,000); {runs(measured.n)}. A mean over capped runs is "
        "restricted to the cap. Middle, right: shares with 95% Wilson intervals. "
        + ("Diamond: published (n = 300). " if len(published) else "")
        + "Dotted: the lower bound T* kl(δ, 1−δ) on the mean of a δ-correct strategy, and 1−δ.",
    )
    return figure


def table1(table: pd.DataFrame) -> Figure:
    return comparison(table, "Example 1, K = L = 3, δ = 0.1")


def example2(table: pd.DataFrame) -> Figure:
    return comparison(table, "Example 2, K = 4, L = 3, δ = 0.1")


def no_feasible_arm(table: pd.DataFrame) -> Figure:
    return comparison(table, "No feasible arm, K = L = 3, δ = 0.1")


def allocation(table: pd.DataFrame, title: str) -> Figure:
    """Heat maps over arms x subpopulations: T-a-SCS, T-a-S, and the optimal allocation."""
    panels = [
        ("T-a-SCS", pick(table, strategy="T-a-SCS", reading="as-written")),
        ("T-a-S", pick(table, strategy="T-a-S", reading="as-written")),
        ("optimal, w*", pick(table, reading="exact")),
    ]
    figure = new_figure(7.4, 3.0)
    highest = table[table.statistic.str.contains(";")].value.max()
    shades = ScalarMappable(Normalize(0.0, highest), "cividis")
    for axes, (name, rows) in zip(figure.subplots(1, 3, sharey=True), panels, strict=True):
        rows = rows[rows.statistic.str.contains(";")]
        index = rows.statistic.str.extract(r":(\d+);(\d+)").astype(int)
        n_arms, n_groups = index[0].max(), index[1].max()
        grid, half = np.full((2, n_arms, n_groups), np.nan)
        grid[index[0] - 1, index[1] - 1] = rows.value
        half[index[0] - 1, index[1] - 1] = (rows.high - rows.low) / 2
        axes.imshow(grid, cmap=shades.cmap, norm=shades.norm, aspect="auto")
        for (k, l), share in np.ndenumerate(grid):
            text = f"{share:.3f}" + (f"\n±{half[k, l]:.3f}" if half[k, l] > 0 else "")
            colour = "black" if share > 0.6 * highest else "white"
            axes.text(l, k, text, ha="center", va="center", fontsize=8, color=colour)
        axes.set_title(name)
        axes.set_xticks(range(n_groups), range(1, n_groups + 1))
        axes.set_yticks(range(n_arms), range(1, n_arms + 1))
        axes.set_xlabel("subpopulation")
        axes.grid(False)
        axes.label_outer()
        if name == "T-a-SCS":
            axes.set_ylabel("arm")
    figure.colorbar(shades, ax=figure.axes, label="share of pulls")
    figure.suptitle(title, x=0.01, ha="left", fontsize=9.5)
    simulated = table[table.reading == "as-written"]
    caption(
        figure,
        "Mean over runs of the pulls of a pair over all pulls of the run, ± half a 95% interval "
        f"({runs(simulated.n)}, reading as written).",
    )
    return figure


def fig1(table: pd.DataFrame) -> Figure:
    return allocation(table, "Example 1: where the pulls go")


def fig2(table: pd.DataFrame) -> Figure:
    return allocation(table, "Example 2: where the pulls go")


def complexity(table: pd.DataFrame) -> Figure:
    """T* against epsilon for the three instances of Section 3.2."""
    titles = {
        "tradeoff": "Example 1\nμ₂ = (4, −ε), μ₃ = (1, 1−ε)",
        "easy-feasibility": "easy feasibility\nμ₂ = (4, −2−ε), μ₃ = (1, −1)",
        "easy-gap": "easy gap\nμ₂ = (1, −ε), μ₃ = (1, −1)",
    }
    looks = {"BAICS": Look(BLUE, "o"), "BAI": Look(VERMILION, "s", "--")}
    figure = new_figure(7.4, 3.1)
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (variant, title) in zip(panels, titles.items(), strict=True):
        for problem, look in looks.items():
            rows = pick(table, instance=variant, strategy=problem, statistic="characteristic_time")
            rows = rows.sort_values("x")
            axes.plot(
                rows.x,
                rows.value,
                color=look.colour,
                marker=look.marker,
                ls=look.line,
                ms=3.5,
                label={"BAICS": "with constraints", "BAI": "without"}[problem],
            )
        axes.set(xscale="log", yscale="log", title=title, xlabel="ε (reward)")
        axes.invert_xaxis()
    panels[0].set_ylabel("T* (pulls per nat)")
    panels[0].legend()
    caption(
        figure,
        "Characteristic time of μ₁ = (1, 1) against the two arms named, q = (½, ½), "
        f"σ = 1; {runs(table.n)}.",
    )
    return figure


def asymptotics(table: pd.DataFrame) -> Figure:
    """Mean stopping time over T* ln(1/delta), and the same for increments."""
    figure = new_figure(7.4, 3.9)
    panels = figure.subplots(1, 2)
    lines = {
        ("T-a-SCS", "maximiser"): (BLUE, "-", "T-a-SCS, exact maximiser"),
        ("T-a-SCS", "as-written"): (BLUE, "--", "T-a-SCS, one step a pull"),
        ("T-a-S", "as-written"): (LOOKS["T-a-S"].colour, "-", "T-a-S"),
        ("Uniform", "as-written"): (LOOKS["Uniform"].colour, "-", "Uniform"),
        ("T-a-SCS", "maximiser+no-half"): (PURPLE, "-", "T-a-SCS, exact, no ½ in Z"),
        ("T-a-SCS", "no-half"): (PURPLE, "--", "T-a-SCS, one step, no ½ in Z"),
    }
    for axes, statistic in zip(panels, ("asymptotic_ratio", "marginal_ratio"), strict=True):
        axes.set(xscale="log", yscale="log")
        for (strategy, reading), (colour, line, label) in lines.items():
            rows = pick(table, strategy=strategy, reading=reading, statistic=statistic)
            rows = rows.sort_values("x")
            look = Look(colour, LOOKS[strategy].marker, line)
            error_bars(axes, rows, rows.x, rows.value, look, label=label, ms=3.5)
        axes.axhline(1.0, color=BOUND.colour, linestyle=BOUND.line)
        axes.set_xlabel("δ")
        plain_log_ticks(axes.yaxis)
        axes.invert_xaxis()
    bound = pick(table, statistic="lower_bound").sort_values("x")
    time = bound.value / ((1 - 2 * bound.x) * np.log((1 - bound.x) / bound.x))
    panels[0].plot(
        bound.x,
        bound.value / (time * np.log(1 / bound.x)),
        color=BOUND.colour,
        ls=BOUND.line,
        lw=2,
        label="lower bound T* kl(δ, 1−δ)",
    )
    panels[0].set(ylabel="E[τ] / (T* ln 1/δ)", title="Mean stopping time")
    panels[1].set(ylabel="ΔE[τ] / (T* Δ ln 1/δ)", title="Its growth over four decades of δ")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    caption(
        figure,
        f"Example 1, no cap; means with 95% intervals ({runs(table.n)} a point). A "
        "δ-correct strategy cannot be below the bound; an optimal one tends to 1 "
        "(horizontal line) in both panels as δ → 0.",
    )
    return figure


def step_size(table: pd.DataFrame) -> Figure:
    """Mean and median stopping time of T-a-SCS against its step size."""
    figure = new_figure(7.4, 3.9)
    panels = figure.subplots(1, 2, sharey=True)
    lines = {  # (steps a pull, ties by coin)
        (1, 1): (BLUE, "o", "1 step a pull, ties by coin"),
        (1, 0): (VERMILION, "v", "1 step a pull, first of ties"),
        (5, 1): (GREEN, "s", "5 steps a pull"),
        (20, 1): (PURPLE, "D", "20 steps a pull"),
    }
    bound = float(pick(table, statistic="lower_bound").value.iloc[0])
    published = float(
        pick(table, reading="published", statistic="mean_stopping_time").value.iloc[0]
    )
    for axes, reading in zip(panels, ("as-written", "no-half"), strict=True):
        axes.set(xscale="log", yscale="log")
        measured = pick(table, reading=reading, x_name="step")
        for (inner_steps, coin), (colour, marker, label) in lines.items():
            rows = pick(measured, inner_steps=inner_steps, tie_coins=coin)
            means = pick(rows, statistic="mean_stopping_time").sort_values("x")
            medians = pick(rows, statistic="median_stopping_time").sort_values("x")
            error_bars(axes, means, means.x, means.value, Look(colour, marker), label=label, ms=4)
            axes.plot(medians.x, medians.value, color=colour, ls=":", marker=marker, ms=3, mfc="w")
        exact = "maximiser" if reading == "as-written" else "maximiser+no-half"
        rows = pick(table, reading=exact, statistic="mean_stopping_time")
        axes.axhspan(
            float(rows.low.iloc[0]),
            float(rows.high.iloc[0]),
            color="#bbbbbb",
            lw=0,
            label="exact maximiser (mean)",
        )
        axes.axhline(published, color=PUBLISHED.colour, lw=1, label="published mean")
        axes.axhline(bound, color=BOUND.colour, ls=BOUND.line, label="lower bound")
        axes.set(
            xlabel="step size α",
            title=f"reading: {READING_LABELS[reading]}",
        )
        plain_log_ticks(axes.yaxis)
    panels[0].set_ylabel("stopping time (pulls)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    caption(
        figure,
        "Example 1, δ = 0.1, cap 15,000. Solid: mean with 95% interval; dotted: median "
        f"({runs(pick(table, x_name='step').n)} a point).",
    )
    return figure


def two_stage(table: pd.DataFrame) -> Figure:
    """Times of Two-stage and T-a-SCS as the feasibility of a poor arm gets hard to determine."""
    figure = new_figure(5.2, 3.4)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log")
    rows = pick(table, statistic="mean_stopping_time")
    for strategy, look in (("Two-stage", TWO_STAGE), ("T-a-SCS", LOOKS["T-a-SCS"])):
        some = pick(rows, strategy=strategy)
        error_bars(axes, some, some.x, some.value, look, label=strategy)
    axes.set(xlabel="ε: how far below 0 the mean is", ylabel="mean stopping time (pulls)")
    axes.invert_xaxis()
    axes.legend()
    caption(
        figure,
        "Section 3.2, second variant, δ = 0.1: arm 2 is poor, and whether it is feasible need "
        "not be told. Two-stage tells all the same, first. Means with 95% intervals "
        f"(smaller than the marks); {runs(rows.n)}.",
    )
    return figure


def segments(table: pd.DataFrame) -> Figure:
    """How often T-a-SCS stops wrongly, against the number of subpopulations."""
    figure = new_figure(5.2, 3.2)
    axes = figure.subplots()
    rows = pick(table, statistic="wrong_stops").sort_values("x")
    delta = rows.delta.iloc[0]
    error_bars(axes, rows, rows.x, rows.value, LOOKS["T-a-SCS"], label="T-a-SCS")
    axes.axhline(delta, color=BOUND.colour, linestyle=BOUND.line, label=f"δ = {delta:g}")
    axes.set(xlabel="subpopulations", ylabel="share of runs that stop wrongly", ylim=(0.0, None))
    axes.legend()
    caption(
        figure,
        "Two arms, of mean 0.1 (right) and -3 on every subpopulation. With the threshold "
        "ln((1 + ln t)/δ) runs stop early with the answer that no arm is feasible. Shares with 95% "
        f"Wilson intervals; {runs(rows.n)} of at most 10,000 pulls.",
    )
    return figure


def tracking(table: pd.DataFrame) -> Figure:
    """Distance of the pulls from the targets they track, as a share of the bound of Eq. (12)."""
    figure = new_figure(5.2, 1.9)
    axes = figure.subplots()
    row = pick(table, statistic="tracking_error")
    error_bars(axes, row, row.value, [0.0], LOOKS["T-a-SCS"], horizontal=True, label="mean")
    largest = pick(table, statistic="tracking_error:largest").value
    axes.plot(largest, [0.0], "x", color=VERMILION, label="largest of all runs")
    axes.axvline(1.0, color=BOUND.colour, linestyle=BOUND.line, label="Eq. (12)")
    axes.set(
        xlabel="largest |N − Σ w| over K L (1 + √t), t up to 5,000", xlim=(0.0, 1.05), yticks=[]
    )
    axes.legend(loc="upper center", ncols=3)
    caption(figure, f"T-a-SCS in example 1, kept from stopping; {runs(row.n)}.")
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
        "tracking": tracking,
    },
    LOOKS,
)
