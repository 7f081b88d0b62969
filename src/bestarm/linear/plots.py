"""The linear bandits paper's figures, one function per target, drawn from the target's table."""

from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from bestarm.common.drawing import (
    HALF,
    WIDE,
    caption,
    dots,
    heat,
    legend,
    new_figure,
    over_published,
    runs,
    series,
    spread,
    with_errors,
)
from bestarm.common.p_values import Side, log_side, same, share_against
from bestarm.common.paper import Plots
from bestarm.common.styles import (
    BLACK,
    BLUE,
    BOUND,
    GREEN,
    GREY,
    ORANGE,
    PUBLISHED,
    PURPLE,
    SKY,
    VERMILION,
    YELLOW,
    Style,
    named_styles,
)
from bestarm.common.tables import pick
from bestarm.linear import findings
from bestarm.linear.strategies import CONSTANTS, HONEST_EMPIRICAL, HONEST_PERMILLE, LOG_TERMS
from bestarm.linear.tables import TRUE_GAPS

STYLES = {
    "G": Style(ORANGE, "s"),
    "XY": Style(VERMILION, "^", "--"),
    "XY-Adaptive": Style(BLUE, "o"),
    "XY-Oracle": Style(BLACK, "*", "-."),
    "Fully-Adaptive": Style(PURPLE, "D"),
    "RAGE": Style(GREEN, "v"),
    "LinGapE": Style(SKY, "P"),
    "published": PUBLISHED,
    "closest": Style(VERMILION, "s", "", "closest to the paper"),
    HONEST_PERMILLE: Style(BLUE, "o", "", "honest: a valid width for all"),
}
DELTA = 0.05


def fig4(table: pd.DataFrame) -> Figure:
    titles = {HONEST_PERMILLE: "honest: a valid width for all", "closest": "closest: per strategy"}
    rows = table[table.x_name == "d"]
    star = pick(rows, reading=HONEST_EMPIRICAL, strategy="XY-Oracle").assign(
        strategy="XY-Oracle, Eq. (11)", reading=HONEST_PERMILLE
    )
    bound = pick(rows, statistic="lower_bound").assign(strategy="lower bound", statistic="")
    both = pick(rows, reading="as-written")
    both = [both.assign(reading=HONEST_PERMILLE), both[~both.strategy.isin(["RAGE", "LinGapE"])]]
    both[1] = both[1].assign(reading="closest")
    rows = pd.concat([rows[rows.reading.isin(titles)], star, *both])
    rows = rows[rows.other == ""]
    wrong = pick(rows, statistic="error_rate")
    figure = new_figure(WIDE, 4.2)
    styles = STYLES | {
        "XY-Oracle, Eq. (11)": Style(GREY, "*", ":"),
        "lower bound": BOUND._replace(name="lower bound"),
    }
    means = pick(rows, statistic="mean_stopping_time")
    sure = wrong.groupby("reading").value.transform("max") == 0.0
    row = ("statistic", {"mean_stopping_time": "mean budget (pulls)", "error_rate": "error rate"})
    drawn = pd.concat([means, wrong[~sure]])
    panels = series(figure, drawn, styles, col=("reading", titles), row=row, share="row")
    panels[0, 0].get_gridspec().set_height_ratios([2.4, 1.0])
    panels[0, 0].set_yscale("log")
    bound = bound.sort_values("x")
    panels[0, 0].plot(bound.x, bound.value, color=BOUND.colour, ls=BOUND.line)
    for axes, reading in zip(panels[1], titles, strict=True):
        axes.axhline(DELTA, color=BOUND.colour, lw=0.6)
        at_reading = pick(wrong[sure], reading=reading)
        text = f"no wrong answer\nin {int(at_reading.n.sum()):,} runs" if len(at_reading) else ""
        axes.annotate(text, (0.5, 0.5), xycoords="axes fraction", ha="center", va="center")
        axes.set_xlabel("dimension d")
    panels[1, 0].annotate(f"δ = {DELTA}", (10, DELTA), ha="right", va="bottom", fontsize=6.5)
    for axes, label in zip(panels[:, 0], row[1].values(), strict=True):
        axes.set_ylabel(label)
    legend(figure, named_styles(styles, {*means.strategy, "lower bound"}), 5)
    last = int(rows.x.max())
    over = {
        reading: pick(means, reading=reading, x=last).value / pick(bound, x=last).value.iloc[0]
        for reading in titles
    }
    caption(
        figure,
        f"At d = {last} strategies need {spread(over[HONEST_PERMILLE])} times the lower bound "
        f"under valid widths, and {spread(over['closest'])} times under those closest to the "
        "paper. "
        "Mean pulls until the stopping rule holds, 95% t intervals, and shares of wrong answers, "
        "95% Wilson intervals (arrow: one-sided, the first d without an error), "
        f"δ = {DELTA}; {runs(pick(wrong, reading=HONEST_PERMILLE).n)} left, "
        f"{runs(pick(wrong, reading='closest').n)} right. Left: confidence widths that are valid "
        "for every strategy; right: for each strategy those that come closest to the paper's "
        "Figure 5. Lower bound: 2 H_LB kl(δ, 1−δ). XY-Oracle stops by the true gaps, Eq. (4), "
        "unless said.",
    )
    return figure


def fig5(table: pd.DataFrame) -> Figure:
    columns = {f"mean_pulls:x{k}": f"x{'₁₂₃₄₅₆'[k - 1]}" for k in range(1, 7)}
    columns |= {"mean_stopping_time": "all arms"}
    stated = pick(table, reading="published")
    rows = table[table.statistic.isin(columns) & table.strategy.isin(stated.strategy)]
    ours = rows[rows.reading.isin(["closest", HONEST_PERMILLE])]
    stated = with_errors(stated, pick(rows, reading="closest"), log=True)
    rows = pd.concat([stated[stated.statistic.isin(columns)], ours])
    rows = rows.assign(**{name: rows[name].clip(lower=0.5) for name in ("value", "low", "high")})
    figure = new_figure(WIDE, 2.6)
    order = list(named_styles(STYLES, stated.strategy))
    col = ("statistic", columns)
    for axes in dots(figure, rows, STYLES, order, by="reading", log=True, col=col)[0]:
        axes.set_xlim(0.3, 2e7)
        axes.set_xticks([1, 1e3, 1e6])
        axes.minorticks_off()
        for edge in range(1, len(order)):
            axes.axhline(edge - 0.5, color="#e3e3e3", lw=0.5)
    figure.axes[3].set_xlabel("mean pulls")
    legend(figure, named_styles(STYLES, rows.reading), lines=False)
    times = [
        over_published(table, "mean_stopping_time", reading)
        for reading in (HONEST_PERMILLE, "closest")
    ]
    caption(
        figure,
        f"Valid widths take {times[0]} the published budgets, the closest ones {times[1]}. "
        f"Mean pulls of every arm and of all at d = 5, δ = {DELTA}, with 95% intervals (of "
        "published means: ours, at n = 100 runs); "
        f"closest: {runs(pick(ours, reading='closest').n)}; "
        f"honest: {runs(pick(ours, reading=HONEST_PERMILLE).n)}. Fewer than half a pull is drawn "
        "at ½.",
    )
    return figure


#: Rows of the picture of readings: strategies, and the choices beside the confidence width.
ROWS = [
    *(("G", ""), ("XY", ""), ("XY-Oracle", "+true-gaps"), ("XY-Oracle", "+empirical")),
    *(
        ("XY-Adaptive", f"+{gap}+{arms}")
        for arms in ("kept-out", "rebuilt")
        for gap in ("eq18", "fig3")
    ),
    ("Fully-Adaptive", ""),
]
ROUNDINGS = {"two-step": "two-step", "argmin-max": "argmin max"}
CHOICES = {
    "": "",
    "+true-gaps": ", Eq. (4)",
    "+empirical": ", Eq. (11)",
    "+eq18+kept-out": ", Eq. (18), kept out",
    "+fig3+kept-out": ", Fig. 3, kept out",
    "+eq18+rebuilt": ", Eq. (18), rebuilt",
    "+fig3+rebuilt": ", Fig. 3, rebuilt",
}
LOG_LABELS = {"log1": "1/δ", "logK": "K/δ", "logK2": "K²/δ", "logn": "c'n²K²/δ"}
CONSTANT_LABELS = {"1": "1", "sqrt2": "√2", "2sqrt2": "2√2"}


def short(ratio: float) -> str:
    """A ratio in at most four characters."""
    if ratio >= 1000:
        return f"{ratio / 1000:.0f}k"
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2f}"[1:]


def readings(table: pd.DataFrame) -> Figure:
    widths = [f"{c}*{log}" for c in CONSTANTS for log in LOG_TERMS]
    ratios = pick(table, statistic="budget_ratio").set_index(["strategy", "reading"])
    rates = pick(table, statistic="error_rate").set_index(["strategy", "reading"])
    capped = pick(table, statistic="share_capped").set_index(["strategy", "reading"])
    published = pick(table, reading="published", statistic="mean_stopping_time")
    lines = [(s, rounding, rest) for s, rest in ROWS for rounding in ROUNDINGS]
    names = [[(s, f"{w}+{rounding}{rest}") for w in widths] for s, rounding, rest in lines]
    grid = np.array([[ratios.value[name] for name in line] for line in names])
    texts = np.full(grid.shape, "", dtype=object)
    alike, wrong = np.zeros((2, *grid.shape), bool)
    for place in np.ndindex(*grid.shape):
        name = names[place[0]][place[1]]
        mark = ">" if ratios.status[name] == "restricted" else ""
        errors = round((rates.value[name] - capped.value[name]) * rates.n[name])
        wrong[place] = share_against(errors, int(rates.n[name]), DELTA, -1.0).against < 0.025
        alike[place] = near(ratios.loc[[name]].iloc[0], float(published.n.min()))
        texts[place] = f"{mark}{short(float(grid[place]))}" + ("†" if wrong[place] else "")
    figure = new_figure(WIDE, 5.0)
    axes = figure.subplots()
    heat(
        axes, np.log10(grid), texts, cmap="PuOr_r", vmin=-2, vmax=2, linewidths=0.8,
        annot_kws={"size": 6.5},
    )  # fmt: skip
    for text, bold in zip(axes.texts, alike.ravel(), strict=True):
        text.set(weight="bold" if bold else "normal")
    axes.set_yticks(
        np.arange(len(lines)) + 0.5, [f"{s}, {ROUNDINGS[r]}{CHOICES[c]}" for s, r, c in lines]
    )
    axes.set_xticks(
        np.arange(len(widths)) + 0.5, [LOG_LABELS[log] for _ in CONSTANTS for log in LOG_TERMS]
    )
    axes.tick_params(axis="x", rotation=45)
    for edge in (4, 8):
        axes.axvline(edge, color="white", lw=4)
    for edge in np.flatnonzero([a[0] != b[0] for a, b in pairwise(lines)]):
        axes.axhline(float(edge) + 1, color="white", lw=4)
    for k, label in enumerate(CONSTANT_LABELS.values()):
        axes.text(4 * k + 2, -0.3, f"c = {label}", ha="center")
    axes.set_xlabel("confidence width c √log(·), logarithm of")
    bar = figure.colorbar(
        axes.collections[0], location="bottom", aspect=40, shrink=0.8, extend="both"
    )
    bar.set_ticks([-2, -1, 0, 1, 2], labels=["0.01", "0.1", "1", "10", "100"])
    bar.set_label("our mean budget / published (bold: compatible with 1)")
    caps = sorted(rates.cap.unique())
    second = [ratios.value["Fully-Adaptive", f"prop2+{rule}"] for rule in ROUNDINGS]
    caption(
        figure,
        findings.readings(alike, wrong),
        "Mean budget at d = 5 over the published one, by confidence width (columns) and the other "
        "choices (rows): the greedy rule (argmin max: the arm that leaves the least largest "
        "variance, or two-step: the direction of largest variance, then the arm that lowers it "
        "most); whether XY-Oracle stops by the true gaps, Eq. (4), or by the empirical ones, "
        "Eq. (11); how long a phase of XY-Adaptive lasts, by Eq. (18) or by Figure 3; and whether "
        "an arm once dominated stays out or the candidates are rebuilt from all arms after a "
        "phase. Bold: compatible with 1 at 5%, with both samples' errors. †: errs significantly "
        "more often than δ = 0.05 (binomial test, runs that stopped). '>': some runs were "
        f"capped, at {caps[-1]:,.0f} pulls ('rebuilt' at {caps[0]:,.0f}); k: thousand. "
        f"{runs(rates.n)}. Fully-Adaptive with Proposition 2's own width: "
        f"{second[0]:.2g} (two-step), {second[1]:.2g} (argmin max).",
    )
    return figure


def stopping(table: pd.DataFrame) -> Figure:
    figure = new_figure(WIDE, 2.4)
    titles = {name: name for name in ("G", "XY", "Fully-Adaptive", "XY-Oracle", "XY-Adaptive")}
    colours = {"log1": (BLUE, "o"), "logK": (ORANGE, "s"), "logK2": (GREEN, "^")}
    styles = {log: Style(*c, "", f"width √log({LOG_LABELS[log]})") for log, c in colours.items()}
    col = ("strategy", titles)
    drawn = table.assign(log=table.reading.str.extract(r"\*(\w+)\+", expand=False))
    drawn = drawn[drawn.log.isin(styles)]
    panels = series(figure, drawn, styles, by="log", log="xy", col=col)[0]
    for axes in panels:
        axes.axhline(1.0, color=BLACK, lw=0.8)
        axes.axvline(TRUE_GAPS / 10**0.5, color="#e3e3e3", lw=0.8)
        axes.set_xticks([1, 100, 10_000, TRUE_GAPS], ["1", "10²", "10⁴", "true\n gaps"])
        axes.minorticks_off()
        axes.set_ylim(0.08, 6.0)
    panels[0].set_yticks([0.1, 0.3, 1, 3], ["0.1", "0.3", "1", "3"])
    panels[0].set_ylabel("mean budget / published")
    panels[2].set_xlabel("pulls m between two tests of the stopping rule")
    legend(figure, styles)
    caption(
        figure,
        findings.stopping(drawn),
        f"Mean budget at d = 5 over the published one, δ = {DELTA}, 95% t intervals, by how often "
        "the stopping rule is tested (of XY-Adaptive, the end of a phase), and right of the grey "
        "line with true gaps in place of estimated ones; c = 1, two-step rule; of XY-Adaptive "
        "Eq. (18), dominated arms kept out. Runs were capped at 500,000 pulls (m = 1: 3,000,000), "
        "so that the largest means are lower bounds; under c'n²K²/δ nearly all runs reach the cap, "
        f"and it is not drawn. {runs(drawn.n)}; pulls with true gaps do not vary.",
    )
    return figure


def near(ratio: pd.Series, published_runs: float) -> bool:
    """Whether a ratio differs from 1 by less than both samples' errors, published ones as ours."""
    ours = log_side(ratio)
    if ratio.status == "restricted" or ours is None:
        return False
    scale = np.sqrt(ratio.n / published_runs)
    theirs = Side(0.0, scale * ours.below, scale * ours.above)
    return same(ours, theirs, np.inf).against >= 0.05


def random_arms(table: pd.DataFrame) -> Figure:
    figure = new_figure(HALF, 2.9)
    rows = pick(table, statistic="over_lower_bound")
    axes = series(figure, rows, STYLES, log="xy")[0, 0]
    sizes = sorted(rows.x.unique())
    axes.axhline(1.0, color=BOUND.colour, ls=BOUND.line)
    axes.set_xticks(sizes, [f"{k:.0f}" for k in sizes])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="number of arms K", ylabel="mean budget / lower bound")
    legend(figure, named_styles(STYLES, rows.strategy), 2)
    simulated = pick(table, statistic="mean_stopping_time")
    caption(
        figure,
        findings.random_arms(table),
        f"Random unit vectors in R⁵, δ = {DELTA}: geometric mean over {int(rows.n.max())} "
        "instances of the mean budget over 2 H_LB kl(δ, 1−δ); bars: smallest and largest of the "
        "instances; "
        f"{runs(simulated.n)} per instance. All under widths that are valid for them.",
    )
    return figure


def appendix_a(table: pd.DataFrame) -> Figure:
    titles = {"across": "arms (1, ±ε/2)", "aligned": "arms (1, 0) and (1−ε, 0)"}
    figure = new_figure(WIDE, 2.3)
    rows = table[table.instance.isin(titles)]
    values, forms = (pick(rows, statistic=name) for name in ("design_value", "closed_form"))
    styles = {name: style._replace(line="") for name, style in STYLES.items()}
    col = ("instance", titles)
    panels = series(figure, values, styles, log="xy", col=col, share=False)[0]
    for axes, instance in zip(panels, titles, strict=True):
        for strategy, style in named_styles(STYLES, values.strategy).items():
            form = pick(forms, instance=instance, strategy=strategy).sort_values("x")
            axes.plot(form.x, form.value, color=style.colour, lw=0.9, zorder=0)
        axes.set_xlabel("ε")
    panels[0].set(ylabel="largest variance of the design", ylim=(0.5, 10))
    legend(figure, named_styles(styles, values.strategy))
    same = values.merge(forms, on=["instance", "strategy", "x"])
    apart = (same.value_x / same.value_y - 1.0).abs().max()
    caption(
        figure,
        ("Solver and closed form agree to six digits: " if apart < 1e-5 else "")
        + "max over arms (G) or differences of arms (XY) of y·Λ⁻¹y at the optimal design: solver "
        "(marks) and closed form (lines). No simulation.",
    )
    return figure


def fig1(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    figure = new_figure(HALF, 2.6)
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
        x, y = wedge[len(wedge) // 2] * 1.95
        axes.text(x, y, f"C(x{'₁₂₃'[arm]})", ha="center", va="center")
    for _, ray in pick(geometry, shape="border").iterrows():
        axes.plot([0, reach * ray.theta1], [0, reach * ray.theta2], color=GREY, lw=1)
    inside = points[geometry["shape"] == "confidence set"]
    axes.add_patch(Polygon(inside, facecolor=GREEN, alpha=0.35, edgecolor=GREEN))
    axes.plot(arms.theta1, arms.theta2, "o", color=BLACK, ms=4)
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
        f"After 36 pulls the confidence set (green) meets the cones of {' and '.join(left)}. Three "
        "arms (dots) placed like the paper's, and the cones of parameters for which each is best. "
        "Computed, no simulation.",
    )
    return figure


PLOTS = Plots(
    {
        "fig1": fig1,
        "fig4": fig4,
        "fig5": fig5,
        "appendix-a": appendix_a,
        "readings": readings,
        "stopping": stopping,
        "random-arms": random_arms,
    },
    STYLES,
    {
        "fig4": "mean_stopping_time",
        "appendix-a": "design_value",
        "readings": "mean_stopping_time",
        "stopping": "budget_ratio",
        "random-arms": "over_lower_bound",
    },
)
