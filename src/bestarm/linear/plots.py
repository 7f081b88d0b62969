"""The linear bandits paper's figures, one function per target, drawn from the target's table."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import NullFormatter

from bestarm.common.evidence import Side, log_side, same, share_against
from bestarm.common.paper import Plots
from bestarm.common.style import (
    BLACK,
    BLUE,
    BOUND,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    YELLOW,
    Look,
    caption,
    error_bars,
    new_figure,
    pick,
    runs,
)
from bestarm.linear.cells import HONEST_EMPIRICAL
from bestarm.linear.strategies import CONSTANTS, LOG_TERMS

LOOKS = {
    "G": Look(ORANGE, "s"),
    "XY": Look(VERMILION, "^", "--"),
    "XY-Adaptive": Look(BLUE, "o"),
    "XY-Oracle": Look(BLACK, "*", "-."),
    "Fully-Adaptive": Look(PURPLE, "D"),
    "RAGE": Look(GREEN, "v"),
    "LinGapE": Look(SKY, "P"),
}
EMPIRICAL = Look(GREY, "*", ":")
DELTA = 0.05


def budgets(axes: Axes, table: pd.DataFrame, reading: str) -> None:
    """Mean stopping times against the dimension."""
    axes.set_yscale("log")
    for strategy, look in LOOKS.items():
        rows = pick(table, strategy=strategy, statistic="mean_stopping_time", x_name="d")
        rows = rows[rows.reading.isin([reading, "as-written"])].sort_values("x")
        if len(rows) and (reading == "honest" or strategy not in ("RAGE", "LinGapE")):
            error_bars(axes, rows, rows.x, rows.value, look, ms=4, label=strategy)


def errors(axes: Axes, table: pd.DataFrame, reading: str) -> None:
    """Error rates against the dimension."""
    for place, (strategy, look) in enumerate(LOOKS.items()):
        rows = pick(table, strategy=strategy, statistic="error_rate", x_name="d")
        rows = rows[rows.reading.isin([reading, "as-written"])].sort_values("x")
        if len(rows) and (reading == "honest" or strategy not in ("RAGE", "LinGapE")):
            shifted = rows.x + 0.09 * (place - 3)
            error_bars(axes, rows, shifted, rows.value, look, ms=3.5, lw=0.8)
    axes.axhline(DELTA, color=BOUND.colour, ls=BOUND.line, lw=1)
    axes.set(xlabel="dimension d", xticks=range(2, 11))


def fig4(table: pd.DataFrame) -> Figure:
    figure = new_figure(7.6, 5.6)
    panels = figure.subplots(2, 2, sharex=True, height_ratios=[2.2, 1.0])
    titles = {"honest": "a valid width for all", "closest": "per strategy, closest to Figure 5"}
    for column, (reading, title) in enumerate(titles.items()):
        budgets(panels[0, column], table, reading)
        errors(panels[1, column], table, reading)
        panels[0, column].set(title=f"{reading}: {title}")
    star = pick(table, reading=HONEST_EMPIRICAL, x_name="d", strategy="XY-Oracle")
    star = pick(star, statistic="mean_stopping_time").sort_values("x")
    error_bars(panels[0, 0], star, star.x, star.value, EMPIRICAL, ms=4, label="XY-Oracle, Eq. (11)")
    bound = pick(table, statistic="lower_bound", x_name="d").sort_values("x")
    panels[0, 0].plot(bound.x, bound.value, color=BOUND.colour, ls=BOUND.line, label="lower bound")
    panels[0, 0].set_ylabel("mean budget (pulls)")
    panels[1, 0].set_ylabel("error rate")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncol=5)
    simulated = pick(table, statistic="error_rate", x_name="d")
    caption(
        figure,
        "Above: mean pulls until the stopping rule holds, 95% t intervals; below: share of wrong "
        f"answers, 95% Wilson intervals (upper ends one-sided where none was wrong), δ = {DELTA} "
        f"dotted; {runs(simulated[simulated.reading != 'closest'].n)} left, "
        f"{runs(pick(simulated, reading='closest').n)} right. Lower bound: "
        "2 H_LB kl(δ, 1−δ). XY-Oracle stops by the true gaps, Eq. (4), unless said.",
    )
    return figure


def fig5(table: pd.DataFrame) -> Figure:
    strategies = [s for s in LOOKS if len(pick(table, strategy=s, reading="published"))]
    columns = [*(f"mean_pulls:x{k}" for k in range(1, 7)), "mean_stopping_time"]
    figure = new_figure(7.6, 5.4)
    panels = figure.subplots(3, 1, sharex=True)
    norm = LogNorm(0.5, 5e6)
    for axes, reading in zip(panels, ("published", "closest", "honest"), strict=True):
        rows = pick(table, reading=reading)
        rows = rows[rows.strategy.isin(strategies) & rows.statistic.isin(columns)]
        grid = rows.pivot(index="strategy", columns="statistic", values="value")
        half = rows.assign(half=rows.high - rows.value)
        half = half.pivot(index="strategy", columns="statistic", values="half")
        grid, half = (f.loc[strategies, columns].to_numpy() for f in (grid, half))
        axes.imshow(np.maximum(grid, 0.5), norm=norm, cmap="cividis_r", aspect="auto", alpha=0.55)
        for (i, j), value in np.ndenumerate(grid):
            text = f"{value:,.0f}" if value >= 10 else f"{value:.3g}"
            if half[i, j] > 0.005 * value:
                text += f" ± {half[i, j] / value:.0%}"
            axes.text(j, i, text, ha="center", va="center", fontsize=6.5)
        axes.set(title=reading, yticks=range(len(strategies)))
        axes.set_yticklabels(strategies, fontsize=8)
        axes.grid(False)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.axvline(5.5, color="white", lw=3)
    panels[-1].set_xticks(range(7), ["x₁", "x₂", "x₃", "x₄", "x₅", "x₆", "budget"])
    caption(
        figure,
        "Mean pulls of every arm and in all at d = 5, δ = 0.05, ± half of the 95% t interval from "
        "half a percent on. Published: n = 100 runs; "
        f"closest: {runs(pick(table, reading='closest').n)}; "
        f"honest: {runs(pick(table, reading='honest').n)}. Darker: more pulls.",
    )
    return figure


ROWS = {
    ("G", "two-step"): "G, two-step",
    ("G", "argmin-max"): "G, argmin max",
    ("XY", "two-step"): "XY, two-step",
    ("XY", "argmin-max"): "XY, argmin max",
    ("XY-Oracle", "two-step+true-gaps"): "XY-Oracle, two-step, Eq. (4)",
    ("XY-Oracle", "two-step+empirical"): "XY-Oracle, two-step, Eq. (11)",
    ("XY-Oracle", "argmin-max+true-gaps"): "XY-Oracle, argmin max, Eq. (4)",
    ("XY-Oracle", "argmin-max+empirical"): "XY-Oracle, argmin max, Eq. (11)",
    ("XY-Adaptive", "two-step+eq18+kept-out"): "XY-Adaptive, two-step, Eq. (18), kept out",
    ("XY-Adaptive", "argmin-max+eq18+kept-out"): "XY-Adaptive, argmin max, Eq. (18), kept out",
    ("XY-Adaptive", "two-step+fig3+kept-out"): "XY-Adaptive, two-step, Fig. 3, kept out",
    ("XY-Adaptive", "argmin-max+fig3+kept-out"): "XY-Adaptive, argmin max, Fig. 3, kept out",
    ("XY-Adaptive", "two-step+eq18+rebuilt"): "XY-Adaptive, two-step, Eq. (18), rebuilt",
    ("XY-Adaptive", "argmin-max+eq18+rebuilt"): "XY-Adaptive, argmin max, Eq. (18), rebuilt",
    ("XY-Adaptive", "two-step+fig3+rebuilt"): "XY-Adaptive, two-step, Fig. 3, rebuilt",
    ("XY-Adaptive", "argmin-max+fig3+rebuilt"): "XY-Adaptive, argmin max, Fig. 3, rebuilt",
    ("Fully-Adaptive", "two-step"): "Fully-Adaptive, two-step, √d",
    ("Fully-Adaptive", "argmin-max"): "Fully-Adaptive, argmin max, √d",
}
LOG_LABELS = {"log1": "1/δ", "logK": "K/δ", "logK2": "K²/δ", "logn": "c'n²K²/δ"}
CONSTANT_LABELS = {"1": "1", "sqrt2": "√2", "2sqrt2": "2√2"}


def readings(table: pd.DataFrame) -> Figure:
    widths = [f"{c}*{log}" for c in CONSTANTS for log in LOG_TERMS]
    ratios = pick(table, statistic="budget_ratio").set_index(["strategy", "reading"])
    rates = pick(table, statistic="error_rate").set_index(["strategy", "reading"])
    capped = pick(table, statistic="share_capped").set_index(["strategy", "reading"])
    published = pick(table, reading="published", statistic="mean_stopping_time")
    published_runs = float(published.n.min())
    figure = new_figure(7.6, 6.6)
    axes = figure.subplots()
    names = [[(s, f"{width}+{rest}") for width in widths] for s, rest in ROWS]
    grid = np.array([[ratios.value[name] for name in line] for line in names])
    norm = TwoSlopeNorm(0.0, -2.0, 2.0)
    axes.imshow(np.log10(grid), norm=norm, cmap="PuOr", aspect="auto", alpha=0.75)
    for i, line in enumerate(names):
        for j, name in enumerate(line):
            mark = ">" if ratios.status[name] == "restricted" else ""
            errors = round((rates.value[name] - capped.value[name]) * rates.n[name])
            wrong = share_against(errors, int(rates.n[name]), DELTA, -1.0).against < 0.025
            style: dict[str, Any] = (
                {"weight": "bold"} if near(ratios.loc[[name]].iloc[0], published_runs) else {}
            )
            text = f"{mark}{grid[i, j]:.2g}" + ("\u2020" if wrong else "")
            axes.text(j, i, text, ha="center", va="center", fontsize=6.5, **style)
    axes.set_yticks(range(len(ROWS)), list(ROWS.values()), fontsize=7)
    labels = [f"{LOG_LABELS[log]}" for _ in CONSTANTS for log in LOG_TERMS]
    axes.set_xticks(range(len(widths)), labels, fontsize=7, rotation=45)
    axes.grid(False)
    axes.tick_params(length=0)
    for edge in (3.5, 7.5):
        axes.axvline(edge, color="white", lw=3)
    for edge in (1.5, 3.5, 7.5, 15.5):
        axes.axhline(edge, color="white", lw=3)
    for k, label in enumerate(CONSTANT_LABELS.values()):
        axes.text(4 * k + 1.5, -0.9, f"c = {label}", ha="center", fontsize=8)
    axes.set_xlabel("logarithm of")
    caps = sorted(rates.cap.unique())
    second = [
        ratios.value["Fully-Adaptive", f"prop2+{rule}"] for rule in ("two-step", "argmin-max")
    ]
    caption(
        figure,
        "Mean budget at d = 5 over the published one, by confidence width c √log(·) (columns) and "
        "the other choices (rows). Bold: cannot be told from 1 at 5%, with both samples' errors. "
        "Dagger: errs surely more than δ = 0.05 (binomial test, runs that stopped). '>': some "
        f"runs were capped, at {caps[-1]:,.0f} pulls ('rebuilt' at {caps[0]:,.0f}). "
        f"{runs(rates.n)}. Fully-Adaptive with Proposition 2's own width: "
        f"{second[0]:.2g} (two-step), {second[1]:.2g} (argmin max).",
    )
    return figure


def near(ratio: pd.Series, published_runs: float) -> bool:
    """Whether a ratio differs from 1 by less than both samples' errors, published ones as ours."""
    ours = log_side(ratio)
    if ratio.status == "restricted" or ours is None:
        return False
    theirs = ours.above * np.sqrt(ratio.n / published_runs)
    return same(ours, Side(0.0, theirs, theirs), np.inf).against >= 0.05


def random_arms(table: pd.DataFrame) -> Figure:
    figure = new_figure(6.4, 3.9)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log")
    for place, (strategy, look) in enumerate(LOOKS.items()):
        rows = pick(table, strategy=strategy, statistic="over_lower_bound").sort_values("x")
        at = rows.x * 1.02 ** (place - 3)
        error_bars(axes, rows, at, rows.value, look, ms=4, label=strategy, elinewidth=0.7)
    sizes = sorted(pick(table, statistic="over_lower_bound").x.unique())
    axes.axhline(1.0, color=BOUND.colour, ls=BOUND.line)
    axes.set_xticks(sizes, [f"{k:.0f}" for k in sizes])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="number of arms K", ylabel="mean budget / lower bound")
    figure.legend(loc="outside upper center", ncol=4)
    simulated = pick(table, statistic="mean_stopping_time")
    instances = int(pick(table, statistic="over_lower_bound").n.max())
    caption(
        figure,
        f"Random unit vectors in R⁵, δ = {DELTA}: geometric mean over {instances} instances of the "
        "mean budget over 2 H_LB kl(δ, 1−δ); bars: smallest and largest of the instances; "
        f"{runs(simulated.n)} an instance. All under widths that are valid for them.",
    )
    return figure


def appendix_a(table: pd.DataFrame) -> Figure:
    figure = new_figure(6.6, 3.0)
    titles = {"across": "arms (1, ±ε/2)", "aligned": "arms (1, 0) and (1−ε, 0)"}
    panels = figure.subplots(1, 2)
    for axes, (instance, title) in zip(panels, titles.items(), strict=True):
        axes.set(xscale="log", yscale="log", title=title, xlabel="ε")
        for strategy in ("G", "XY"):
            rows = pick(table, instance=instance, strategy=strategy).sort_values("x")
            found, form = (pick(rows, statistic=s) for s in ("design_value", "closed_form"))
            look = LOOKS[strategy]
            axes.plot(form.x, form.value, color=look.colour, lw=1)
            axes.plot(found.x, found.value, look.marker, color=look.colour, ms=5, label=strategy)
    panels[0].set_ylim(0.5, 10)
    panels[0].set_ylabel("largest variance of the design")
    panels[0].legend()
    caption(
        figure,
        "max over arms (G) or differences of arms (XY) of y·Λ⁻¹y at the optimal design: solver "
        "(marks) and closed form (lines). No simulation.",
    )
    return figure


def fig1(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    figure = new_figure(4.6, 4.4)
    axes = figure.subplots()
    points = geometry[["theta1", "theta2"]].to_numpy()
    arms = pick(geometry, shape="arm")
    reach = 4.0
    angles = np.linspace(0.0, 2.0 * np.pi, 721)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    owner = np.argmax(circle @ arms[["theta1", "theta2"]].to_numpy().T, axis=1)
    for arm, colour in enumerate((SKY, ORANGE, YELLOW)):
        wedge = circle[owner == arm]
        start = np.argmax(np.linalg.norm(np.diff(wedge, axis=0), axis=1)) + 1
        if np.linalg.norm(np.diff(wedge, axis=0), axis=1).max() > 0.1:
            wedge = np.roll(wedge, -start, axis=0)
        axes.add_patch(Polygon(np.vstack([[0, 0], reach * wedge]), color=colour, alpha=0.18, lw=0))
        x, y = wedge[len(wedge) // 2] * 1.75
        axes.text(x, y, f"C(x{'₁₂₃'[arm]})", ha="center", va="center")
    for _, ray in pick(geometry, shape="border").iterrows():
        axes.plot([0, reach * ray.theta1], [0, reach * ray.theta2], color=GREY, lw=1)
    inside = points[geometry["shape"] == "confidence set"]
    axes.add_patch(Polygon(inside, facecolor=GREEN, alpha=0.35, edgecolor=GREEN))
    axes.plot(arms.theta1, arms.theta2, "o", color=BLACK, ms=5)
    for _, arm in arms.iterrows():
        label = arm["name"].translate(str.maketrans("123", "₁₂₃"))
        axes.annotate(label, (arm.theta1, arm.theta2), (5, 5), textcoords="offset points")
    star = pick(geometry, shape="theta").iloc[0]
    axes.plot(star.theta1, star.theta2, "*", color=VERMILION, ms=9)
    axes.annotate("θ*", (star.theta1, star.theta2), (6, -4), textcoords="offset points")
    axes.set(xlim=(-2.2, 2.6), ylim=(-2.2, 2.2), xlabel="θ₁", ylabel="θ₂", aspect="equal")
    may = pick(table, unit="")
    left = [s.split(":")[1] for s, v in zip(may.statistic, may.value, strict=True) if v == 1.0]
    caption(
        figure,
        "Three arms (dots) placed like the paper's, the cones of parameters for which each is "
        "best, and the confidence set (green) after 36 pulls. It meets the cones of "
        f"{' and '.join(left)}. Computed, no simulation.",
    )
    return figure


PLOTS = Plots(
    {
        "fig1": fig1,
        "fig4": fig4,
        "fig5": fig5,
        "appendix-a": appendix_a,
        "readings": readings,
        "random-arms": random_arms,
    },
    LOOKS,
)
