"""The LAGEX paper's figures, one function per target, from the target's table and geometry."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon
from matplotlib.ticker import MaxNLocator

from bestarm.common.drawing import (
    WIDE,
    caption,
    dots,
    legend,
    new_figure,
    plain_log_ticks,
    published,
    runs,
    series,
    spread,
    with_errors,
)
from bestarm.common.paper import Plots
from bestarm.common.styles import (
    BLACK,
    BLUE,
    BOUND,
    GREEN,
    GREY,
    ORANGE,
    PUBLISHED,
    SKY,
    VERMILION,
    Style,
    named_styles,
)
from bestarm.common.tables import pick
from bestarm.lagex import findings
from bestarm.lagex.boxes import (
    BOXES,
    KNOWING,
    STYLES,
    bounds_legend,
    box_lines,
    boxes,
    single_value,
    stopping_times,
    strategies_in,
)
from bestarm.lagex.certified.plots import certified
from bestarm.lagex.problem import EASIER, HARD, setup1
from bestarm.lagex.released.plots import peculiarities, programs

#: Lower bounds under known constraints, and with the one for strategies that have to learn them.
KNOWN = ("known lower bound", "inside lower bound")
ALL = (*KNOWN, "unknown lower bound")
#: A barycentric plot: corners of the simplex in the plane.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def times(
    table: pd.DataFrame,
    titles: dict[str, str],
    note: str,
    bounds: tuple[str, ...] = ALL,
    finding: str = "",
) -> Figure:
    """Stopping times, one panel per instance."""
    figure = new_figure(WIDE, 3.4)
    panels = figure.subplots(1, len(titles), squeeze=False)[0]
    for axes, (instance, title) in zip(panels, titles.items(), strict=True):
        stopping_times(axes, table, instance, bounds)
        axes.set(title=title, xlabel="steps until stopping")
    stated = "published" in set(table.reading)
    bounds_legend(figure, bounds, stated)
    counts = pick(table, statistic="median_stopping_time", reading="as-written").n
    pale = "The lower, pale box is with the released stopping rule. "
    second = pale if "released-stop" in set(table.reading) else ""
    finding = finding or findings.medians(table)
    caption(figure, finding, f"{BOXES}. {second}{note} {runs(counts)} per box.")
    return figure


def fig5(table: pd.DataFrame) -> Figure:
    titles = {
        "setup 1 m3=0.5": "hard (μ₃ = 0.5), six arms",
        "setup 1 printed m3=0.5": "hard, seven arms as printed",
    }
    return times(table, titles, "δ = 0.01, r = 0.01.")


def fig6(table: pd.DataFrame) -> Figure:
    titles = {
        "setup 1 m3=1.3": "easy (μ₃ = 1.3), six arms",
        "setup 1 printed m3=1.3": "easy, seven arms as printed",
    }
    return times(table, titles, "δ = 0.01, r = 0.01.", (*ALL, "BAI lower bound"))


def fig7(table: pd.DataFrame) -> Figure:
    return times(table, {"imdb": "IMDB, twelve movies"}, "δ = 0.1, r = 0.01, σ = 1.")


def imdb_spread(table: pd.DataFrame) -> Figure:
    """IMDB with reward deviations of 1 and with those of the ratings."""
    titles = {"imdb": "σ = 1, as in the paper", "imdb, true spread": "the ratings' own σ"}
    figure = times(
        table, titles, "As written, δ = 0.1, r = 0.01.", KNOWN, findings.imdb_spread(table)
    )
    ends = [axes.get_xlim() for axes in figure.axes]
    for axes in figure.axes:
        axes.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))
        plain_log_ticks(axes.xaxis, crowded=20.0)
    return figure


def violations(table: pd.DataFrame, titles: dict[str, str], note: str) -> Figure:
    """Rounds whose policy (compared with the paper) or allocation violates a true constraint."""
    kinds = {"policy_violations": "policy πₜ", "allocation_violations": "allocation ωₜ"}
    order = strategies_in(table, but=KNOWING)
    figure = new_figure(WIDE, 0.5 + 1.75 * len(titles))
    panels = figure.subplots(len(titles), 2, squeeze=False, sharex="col")
    stated = pick(table, reading="published")
    for row, (instance, title) in zip(panels, titles.items(), strict=True):
        ours = table[(table.instance == instance) & (table.reading != "published")]
        for axes, (kind, label) in zip(row, kinds.items(), strict=True):
            low, middle, high = (f"{kind}:{q}" for q in ("quartile_25", "median", "quartile_75"))
            five = (low, low, middle, high, high)
            names = {"as-written": five, "released-stop": five}
            lines = box_lines(ours, order, names)
            boxes(axes, ours, lines, names)
            axes.set_title(f"{title}: {label}")
            if kind == "policy_violations":
                here = stated[stated.strategy.isin(order)].assign(instance=instance)
                here = with_errors(here, pick(ours, reading="as-written"))
                at = [lines.index((name, "as-written")) for name in here.strategy]
                published(axes, here, here.value, at, label="")
    for column, kind in zip(panels.T, kinds, strict=True):
        rows = table[table.statistic.str.startswith(f"{kind}:") & table.strategy.isin(order)]
        top = rows[rows.reading.ne("published") | (kind == "policy_violations")].value.max()
        column[0].set_xlim(-0.01 * max(top, 1.0), 1.08 * max(top, 1.0))
        column[-1].set_xlabel("rounds with a violation")
        for axes in column:
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.xaxis.set_major_formatter("{x:,.0f}")
    legend(figure, {"published": PUBLISHED._replace(name="published median")})
    counts = pick(table, statistic="policy_violations:median", reading="as-written").n
    caption(
        figure,
        findings.violations(table),
        "Rounds until stopping whose policy, or allocation, breaks a true constraint. Boxes: "
        "quartiles and median over runs; the lower, pale box is with the released stopping rule; "
        "a box that is missing, or open, ends among capped runs. CTnS and CGE "
        f"know the constraints and never break one. {note} {runs(counts)} per box.",
    )
    return figure


def fig8(table: pd.DataFrame) -> Figure:
    titles = {"setup 1 m3=0.5": "hard, six arms", "setup 1 printed m3=0.5": "hard, seven arms"}
    return violations(table, titles, "Setup 1, δ = 0.01.")


def fig9(table: pd.DataFrame) -> Figure:
    titles = {"setup 1 m3=1.3": "easy, six arms", "setup 1 printed m3=1.3": "easy, seven arms"}
    return violations(table, titles, "Setup 1, δ = 0.01.")


def fig10(table: pd.DataFrame) -> Figure:
    return violations(table, {"setup 2 hard": "setup 2, hard"}, "δ = 0.1.")


def fig11(table: pd.DataFrame) -> Figure:
    return violations(table, {"setup 2 easy": "setup 2, easy"}, "δ = 0.1.")


def fig10_delta(table: pd.DataFrame) -> Figure:
    return violations(table, {"setup 2 hard": "setup 2, hard"}, "δ = 0.01.")


def fig11_delta(table: pd.DataFrame) -> Figure:
    return violations(table, {"setup 2 easy": "setup 2, easy"}, "δ = 0.01.")


def fig12(table: pd.DataFrame) -> Figure:
    return violations(table, {"imdb": "IMDB"}, "δ = 0.1.")


def fig4(table: pd.DataFrame) -> Figure:
    """Medians of LAGEX with quartiles, and lower bounds, over the third mean."""
    titles = {"setup 1": "six arms", "setup 1 printed": "seven arms, as printed"}
    stated = pick(table, reading="published")
    ours = pick(table[table.reading != "published"], x_name="m3", strategy="LAGEX")
    medians = pick(ours, statistic="median_stopping_time")
    bounds = pick(table[table.reading == "exact"], statistic="lower_bound", x_name="m3")
    figure = new_figure(WIDE, 3.7)
    panels = series(figure, medians, STYLES, "reading", "y", ("family", titles))[0]
    lines = named_styles(STYLES, set(bounds.strategy))
    for axes, family in zip(panels, titles, strict=True):
        for reading, style in named_styles(STYLES, medians.reading).items():
            band(axes, pick(ours, family=family, reading=reading), style)
        for name, style in lines.items():
            rows = pick(bounds, family=family, strategy=name).sort_values("x")
            axes.plot(rows.x, rows.value.replace(np.inf, np.nan), style.line, color=style.colour)
            for x in rows[np.isinf(rows.value)].x:
                place = {"xycoords": axes.get_xaxis_transform(), "ha": "center", "va": "top"}
                axes.annotate("∞", (x, 0.99), color=style.colour, fontsize=9, **place)
        mine = pick(medians, family=family, reading="as-written")
        runs_of_paper = stated[stated.strategy == "LAGEX"].merge(
            mine[["x", "instance"]], on="x", suffixes=("_stated", "")
        )
        marks = with_errors(runs_of_paper[stated.columns], mine, log=True)
        published(axes, marks, marks.x, marks.value, along="y", label="")
        for name in lines:
            rows = pick(stated, strategy=name)
            axes.plot(rows.x, rows.value, "D", mec=lines[name].colour, mfc="white", ms=2.5, mew=0.7)
        axes.set_xlabel("third mean μ₃")
    finite = bounds.value.replace(np.inf, np.nan)
    top = pd.concat([medians.value, medians.high, finite, stated.value]).max()
    panels[0].set(ylabel="steps", ylim=(15, 4.0 * top))
    plain_log_ticks(panels[0].yaxis, crowded=20.0)
    readings = {
        name: style._replace(name=f"LAGEX, {style.name}")
        for name, style in named_styles(STYLES, medians.reading).items()
    }
    legend(figure, readings | {"published": PUBLISHED} | lines, 2)
    caption(
        figure,
        findings.medians(pick(table, strategy="LAGEX")),
        "LAGEX on setup 1, δ = 0.01: medians with 95% intervals, quartiles shaded, "
        f"{runs(pick(medians, reading='as-written').n)} per point. Lines: exact lower bounds "
        "T ln(1/(2.4 δ)). Diamonds: published; black ones medians of LAGEX (n = 500, with their "
        "sampling error), small ones lower bounds, in the colour of ours. Without constraints "
        "the bound is infinite at μ₃ = 1.5, where two arms tie; the published curve is not. "
        "Constraints unknown: what every strategy that errs at most δ needs on average.",
    )
    return figure


def band(axes: Axes, rows: pd.DataFrame, style: Style) -> None:
    """The quartiles as a band, where they are defined."""
    low, high = (pick(rows, statistic=f"quartile_{q}").sort_values("x") for q in (25, 75))
    ends = (quartile.value.to_numpy(float) for quartile in (low, high))
    axes.fill_between(low.x.to_numpy(float), *ends, color=style.colour, alpha=0.2, lw=0)


def ternary(axes: Axes) -> None:
    """The simplex of policies of three arms."""
    axes.add_patch(Polygon(CORNERS, fill=False, ec=GREY, lw=1.0))
    for arm, (x, y) in enumerate(CORNERS, 1):
        shift = (0, 3) if arm == 3 else (0, -9)
        axes.annotate(
            f"arm {arm}", (x, y), shift, textcoords="offset points", ha="center", fontsize=7
        )
    axes.set(aspect="equal", xlim=(-0.08, 1.08), ylim=(-0.1, 0.97))
    axes.axis("off")


def in_plane(shapes: pd.DataFrame) -> np.ndarray:
    """(V, 2) policies as points of the triangle."""
    return shapes[["pi1", "pi2", "pi3"]].to_numpy(float) @ CORNERS


def draw_set(axes: Axes, shapes: pd.DataFrame, **style) -> None:
    """Draw a set of policies; nothing if it is empty."""
    points = in_plane(pick(shapes, kind="feasible"))
    if len(points):
        axes.add_patch(Polygon(points, **style))


def best(axes: Axes, shapes: pd.DataFrame, marker: str, colour: str, label: str) -> None:
    """The best policy of a set."""
    points = in_plane(pick(shapes, kind="best policy"))
    axes.plot(points[:, 0], points[:, 1], marker, color=colour, ms=5, ls="", label=label, zorder=5)


def fig1(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """Feasible sets and best policies; characteristic times against the perturbation."""
    figure = new_figure(WIDE, 2.8)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.15])
    ternary(left)
    styles = {
        0.0: ("o", {"fc": "#e3e3e3", "ec": GREY, "lw": 1.0}),
        0.005: ("s", {"fc": "none", "ec": BLUE, "lw": 1.2}),
        0.05: ("^", {"fc": "none", "ec": VERMILION, "lw": 1.6, "hatch": "//"}),
    }
    for epsilon, (marker, style) in styles.items():
        shapes = pick(geometry, epsilon=epsilon)
        draw_set(left, shapes, **style)
        best(left, shapes, marker, style["ec"], f"ε = {epsilon:g}")
    left.legend(loc="upper left")
    left.set_title("feasible sets, best policies")
    curves = {
        "characteristic_time": (Style(BLUE, "o"), "T, known constraints"),
        "inside_time": (Style(GREEN, "^"), "T, allocations feasible too"),
        "tolerant_time": (Style(ORANGE, "v"), "T at r = 0.01"),
        "perturbation_pulls": (Style(BLACK, "", "--"), "1/ε²: to see ε in a cost"),
    }
    ours = table[(table.reading == "exact") & (table.x > 0)]
    for statistic, (style, label) in curves.items():
        rows = pick(ours, statistic=statistic).sort_values("x")
        right.plot(
            rows.x, rows.value, style.line, marker=style.marker, color=style.colour, label=label
        )
    stated = pick(table, reading="published")
    published(right, stated, stated.x, stated.value, along="y")
    right.set(xscale="log", yscale="log", xlabel="tightened by ε", ylabel="steps per nat")
    right.set_title("sample complexity")
    right.legend(fontsize=6.5)
    moved = pick(ours, statistic="characteristic_time").value
    caption(
        figure,
        "Tightening a constraint that follows from others leaves the characteristic time at "
        f"{spread(moved)} steps per nat; the published 4 × 10⁴ at ε = 0.005 is "
        "what it takes to see the perturbation itself. Section 1's three arms: the first "
        "constraint, π·(0, −0.3, −0.2) ≤ 0, follows from π ≥ 0 until it is tightened to −ε. "
        "Computed, no simulation.",
    )
    return figure


def fig2(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """The optimistic set of one run over the true one."""
    rounds = sorted(set(geometry["round"]) - {0})
    figure = new_figure(WIDE, 2.1)
    panels = figure.subplots(1, len(rounds))
    truly = pick(geometry, round=0)
    for axes, t in zip(panels, rounds, strict=True):
        shapes = pick(geometry, round=t)
        ternary(axes)
        draw_set(axes, shapes, fc=SKY, ec=BLUE, alpha=0.35, lw=1.2)
        draw_set(axes, truly, fc="none", ec=GREEN, lw=1.6, hatch="///")
        best(axes, truly, "*", GREEN, "best policy")
        best(axes, shapes, "o", VERMILION, "best by the estimates")
        axes.set_title(f"t = {t}")
    entries = {
        "feasible": Patch(fc="none", ec=GREEN, hatch="///"),
        "optimistic": Patch(fc=SKY, ec=BLUE, alpha=0.35),
        "best policy": Line2D([], [], color=GREEN, marker="*", ls="", ms=5),
        "best by the estimates": Line2D([], [], color=VERMILION, marker="o", ls="", ms=5),
    }
    figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=4)
    truth = single_value(pick(table, strategy="truth"), "feasible_area")
    sizes = [f"{single_value(pick(table, x=t), 'feasible_area'):.0%}" for t in rounds]
    covered = single_value(pick(table, x=rounds[-1]), "covers_feasible_set:shared shift")
    caption(
        figure,
        f"The optimistic set is {', '.join(sizes)} of all policies on average ({runs(table.n)}), "
        f"the true one {truth:.0%}; at t = {rounds[-1]} the optimistic set "
        f"holds the true one in a share {covered:g} of runs. One run of LAGEX on three arms, kept "
        "from stopping; the optimistic set is Â π ≤ b + s at δ = 0.01, with s at the pulls so far.",
    )
    return figure


def ray_ends(shapes: pd.DataFrame) -> np.ndarray:
    """(2, 2) the ends of a cone's rays, outside of the picture."""
    return 6.0 * shapes[shapes.kind != "means"][["x", "y"]].to_numpy(float)


def fig3(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """Normal cones of the best policy: true, and by the estimates of one run."""
    rounds = sorted(set(geometry["round"]))
    figure = new_figure(WIDE, 1.75)
    panels = figure.subplots(1, len(rounds), sharex=True, sharey=True)
    true_edges = ray_ends(pick(geometry, round=0))
    angles = []
    for axes, t in zip(panels, rounds, strict=True):
        here = pick(geometry, round=t)
        colour = BLUE if t else GREEN
        edges = ray_ends(here)
        axes.add_patch(Polygon(np.vstack([[0, 0], edges]), fc=colour, alpha=0.15))
        for rays, line, edge in ((true_edges, "--", GREEN), (edges, "-", colour)):
            for x, y in rays:
                axes.plot([0, x], [0, y], line, color=edge, lw=1.4)
        means = pick(here, kind="means")
        axes.plot(means.x, means.y, "o", color=VERMILION, ms=5)
        where = pick(table, x=t) if t else pick(table, strategy="truth")
        name = f"t = {t}" if t else "truth"
        angles.append(f"{single_value(where, 'cone_angle'):.0f}°")
        axes.set_title(f"{name}: {angles[-1]}")
        axes.set(aspect="equal", xlim=(-1.9, 1.5), ylim=(-0.3, 2.0), xlabel="(μ₂ − μ₁)/√2")
    panels[0].set_ylabel("(2μ₃ − μ₁ − μ₂)/√6")
    caption(
        figure,
        f"The cone of means under which the best policy stays best is {angles[0]} wide, and "
        f"{', '.join(angles[1:])} by the estimates of one run, that of figure 2. In the "
        "plane of differences of means (shaded; dashed: under the true constraints), with the "
        "estimated means (dots). Relaxing the constraints shifts them and "
        "does not turn their normals.",
    )
    return figure


#: Instances of the shares, in order.
INSTANCES = {
    "setup 1 m3=0.5": "setup 1 hard",
    "setup 1 m3=1.3": "setup 1 easy",
    "setup 2 hard": "setup 2 hard",
    "setup 2 easy": "setup 2 easy",
    "imdb": "IMDB",
}


def shares(table: pd.DataFrame) -> Figure:
    """Shares of runs that recommend a feasible policy, above; what else happens, below."""
    rows = table[(table.reading == "as-written") & table.instance.isin(INSTANCES)]
    order = strategies_in(rows)
    parts = {
        "prob_feasible": "recommends a feasible policy (share of runs)",
        "prob_r_optimal": "within r of the best value (share of runs)",
        "mean_excess": "mean excess over the limit, if infeasible",
    }
    capped = pick(rows, statistic="share_capped").value.max()
    figure = new_figure(WIDE, 5.4)
    subfigures = figure.subfigures(len(parts), 1, squeeze=False, height_ratios=[1.5, 1.0, 1.0])[
        :, 0
    ]
    for part, (statistic, title) in zip(subfigures, parts.items(), strict=True):
        first = statistic == "prob_feasible"
        titles = INSTANCES if first else dict.fromkeys(INSTANCES, "")
        defined = pick(rows, statistic=statistic).dropna(subset=["value"])
        panels = dots(part, defined, STYLES, order, col=("instance", titles))[0]
        panels[0].tick_params(axis="y", labelsize=7 if first else 6)
        for axes, instance in zip(panels, titles, strict=True):
            if statistic.startswith("prob"):
                axes.set_xlim(-0.06, 1.08)
                axes.set_xticks([0, 0.5, 1], ["0", "½", "1"])
            else:
                axes.xaxis.set_major_locator(MaxNLocator(2))
                axes.set_xlim(left=0.0)
            if statistic.startswith("prob"):
                delta = pick(rows, instance=instance).delta.iloc[0]
                axes.axvline(1.0 - delta, color=BOUND.colour, ls=BOUND.line, lw=1.0)
        part.supxlabel(title, fontsize=8)
    caption(
        figure,
        findings.shares(rows),
        "Above: share of runs whose recommended policy keeps all true constraints. Below: share "
        "within r = 0.01 of the best true value (or above it), mean excess over the limit of "
        f"policies that are infeasible. At most {capped:.2g} of the runs of a strategy were "
        "capped. As written, 95% intervals; dotted: 1 − δ. An "
        "active constraint that is estimated without bias is broken about half of the time, one of "
        f"two even more often. {runs(pick(table, statistic='prob_feasible').n)}.",
    )
    return figure


def example(table: pd.DataFrame) -> Figure:
    """The recommendations in the example of docs/usage.md, and how often they exceed the limit."""
    titles = {
        "prob_feasible": "keeps the limit",
        "prob_r_optimal": "within r of the best",
        "prob_far_over": "over by more than 0.1",
    }
    rows = table[table.statistic.isin(titles)]
    figure = new_figure(WIDE, 1.9)
    col = ("statistic", titles)
    for axes in dots(figure, rows, STYLES, strategies_in(rows), col=col)[0]:
        axes.set(xlabel="share of runs", xlim=(-0.04, 1.04))
    caption(
        figure,
        findings.example(table),
        "Shares of runs, with 95% intervals, on the three menus of docs/usage.md, whose mean price "
        "may be 0.8. CTnS and CGE know the prices. δ = 0.05, r = 0.1, as written. "
        f"{runs(pick(table, statistic='prob_feasible').n)}.",
    )
    return figure


def readings(table: pd.DataFrame) -> Figure:
    """Median stopping times under every reading named before the runs."""
    titles = TITLES
    medians = pick(table, statistic="median_stopping_time")
    medians = medians[
        medians.instance.isin(titles) & ~medians.reading.str.contains("+", regex=False)
    ]
    ours = medians[medians.reading != "published"]
    stated = pick(medians, reading="published")
    stated = with_errors(stated, pick(ours, reading="as-written"), log=True)
    rows = pd.concat([stated, ours.dropna(subset=["value"])])
    order = strategies_in(ours)
    figure = new_figure(WIDE, 5.4)
    col = ("instance", titles)
    for axes in dots(figure, rows, STYLES, order, by="reading", log=True, col=col)[0]:
        axes.set_xlabel("median steps")
        plain_log_ticks(axes.xaxis, crowded=10.0)
        for edge in range(1, len(order)):
            axes.axhline(edge - 0.5, color="#cccccc", lw=0.5)
    legend(figure, named_styles(STYLES, rows.reading), 4, lines=False)
    caption(
        figure,
        findings.readings(pd.concat([stated, ours])),
        "Medians with 95% intervals; of published ones, the sampling error of n = 500. If half or "
        "more of the runs were capped there is no median and no mark. Not every reading makes "
        f"sense for every strategy. {runs(ours.n)}.",
    )
    return figure


def theorems(table: pd.DataFrame) -> Figure:
    """What statements say is equal, as ratios."""
    rows = table[table.statistic.str.startswith("sides_ratio:")]
    tolerance = rows.x.map(lambda r: "" if pd.isna(r) else f", r = {r:g}")
    named = rows.statistic.str.partition(":")[2].str.capitalize()
    rows = rows.assign(line=named + tolerance)
    styles = {
        setup1(HARD).name: Style(VERMILION, "o", "", "setup 1, hard"),
        setup1(EASIER).name: Style(BLUE, "s", "", "setup 1, easy"),
    }
    order = sorted(rows.line.unique())
    figure = new_figure(WIDE, 2.4)
    with_lines = styles | {line: Style(BLACK, "") for line in order}
    axes = dots(figure, rows, with_lines, order, y="line", by="instance")[0, 0]
    axes.set_xlim(0.0, 1.05)
    axes.axvline(1.0, color=BOUND.colour, lw=0.6)
    axes.set_xlabel("left side over right side (1 if the statement holds)")
    legend(figure, styles, lines=False)
    caption(
        figure,
        findings.theorems(rows),
        "Computed on the recovered constraints. Theorem 1: an upper bound on the left side of "
        "Eq. (7) over the right side, limits relaxed by 0.05, r = 0. Theorem 2: D of the set whose "
        "limits are relaxed by a millionth over D of the true set. Proposition 1 and Theorem 4: as "
        "printed over the value by the alternatives of Eq. (5). No simulation.",
    )
    return figure


TITLES = {"setup 1 m3=0.5": "setup 1 hard", "setup 1 m3=1.3": "setup 1 easy", "imdb": "IMDB"}
#: Lines of the picture of what moves LAGEX's median: readings, and variants of an environment.
LINES = {
    "as-written": "as written",
    "delta=0.1": "δ = 0.1",
    "delta=0.05": "δ = 0.05",
    "delta=0.01": "δ = 0.01",
    "r=0": "r = 0",
    "r=0.1": "r = 0.1",
    "normalised": "rows of A normalised",
    "cost sigma 0.5": "costs' noise σ = 0.5",
    "cost sigma 2": "costs' noise σ = 2",
    "slow-adagrad": "AdaGrad's step × 0.1",
    "fast-adagrad": "AdaGrad's step × 10",
    "full-adagrad": "AdaGrad, full matrix",
    "averages": "plain averages",
    "optimistic-policy": "optimistic policy",
    "inside": "allocates inside",
    "printed-r": "printed sign of r",
    "averages+printed-r": "printed sign, averages",
    "released-stop": "released stop",
    "averages+released-stop": "released stop, averages",
    "optimistic-policy+released-stop": "released stop, opt. policy",
    "printed-r+released-stop": "released stop, printed sign",
    "normalised+released-stop": "released stop, normalised",
}


def changed(row: pd.Series) -> str:
    """What a row of the table of sensitivities has changed: a key of LINES."""
    _, _, variant = row.instance.partition(", ")
    usual = {"delta": 0.1 if row.environment == "imdb" else 0.01, "r": 0.01}
    settings = [f"{name}={row[name]:g}" for name, value in usual.items() if row[name] != value]
    reading = "" if row.reading == "as-written" else row.reading
    return "+".join(filter(None, [variant, reading, *settings])) or "as-written"


def sensitivity(table: pd.DataFrame) -> Figure:
    """LAGEX's median with one thing changed at a time."""
    medians = pick(table, statistic="median_stopping_time", strategy="LAGEX")
    medians = medians.assign(environment=medians.instance.str.split(", ").str[0])
    ours = medians[medians.reading != "published"].dropna(subset=["value"])
    ours = ours.assign(line=ours.apply(changed, axis=1), strategy="LAGEX")
    stated = pick(medians, reading="published").set_index("environment").value
    figure = new_figure(WIDE, 4.2)
    names = {name: Style(BLUE, "o", name=label) for name, label in LINES.items()}
    col = ("environment", TITLES)
    drawn = dots(figure, ours, STYLES | names, list(LINES), y="line", log=True, col=col)[0]
    for axes, environment in zip(drawn, TITLES, strict=True):
        written = pick(ours, environment=environment, line="as-written").value.iloc[0]
        axes.axvline(written, color=GREY, lw=0.8, ls=":")
        axes.axvline(stated[environment], color=VERMILION, lw=1.0)
        plain_log_ticks(axes.xaxis, crowded=10.0)
        for edge in (0.5, 3.5, 5.5, 8.5, 11.5, 14.5, 16.5):
            axes.axhline(edge, color="#dddddd", lw=0.5)
    drawn[1].set_xlabel("median steps of LAGEX")
    marks = {"published": Style(VERMILION, "", "-", "published median")}
    legend(figure, marks | {"ours": Style(GREY, "", ":", "as written")})
    caption(
        figure,
        findings.sensitivity(ours, stated),
        "Median steps of LAGEX with one thing changed at a time, 95% intervals; six arms in setup "
        "1. As written: δ = 0.01 (IMDB: 0.1), r = 0.01, costs of standard deviation 1, rows of A "
        f"not normalised. {runs(ours.n)}. There is no mark if half or more of the runs were "
        "capped.",
    )
    return figure


PLOTS = Plots(
    {
        "fig1": fig1,
        "fig2": fig2,
        "fig3": fig3,
        "fig4": fig4,
        "fig5": fig5,
        "fig6": fig6,
        "fig7": fig7,
        "fig8": fig8,
        "fig9": fig9,
        "fig10": fig10,
        "fig11": fig11,
        "fig10-delta": fig10_delta,
        "fig11-delta": fig11_delta,
        "fig12": fig12,
        "shares": shares,
        "theorems": theorems,
        "example": example,
        "readings": readings,
        "sensitivity": sensitivity,
        "programs": programs,
        "peculiarities": peculiarities,
        "imdb-spread": imdb_spread,
        "certified": certified,
    },
    STYLES,
    {
        "fig1": "characteristic_time",
        "fig2": "feasible_area",
        "fig3": "cone_angle",
        "fig4": "median_stopping_time",
        **dict.fromkeys(("fig5", "fig6", "fig7"), "median_stopping_time"),
        **{f"fig{k}": "policy_violations:median" for k in range(8, 13)},
        **dict.fromkeys(("fig10-delta", "fig11-delta"), "policy_violations:median"),
        **dict.fromkeys(("shares", "example"), "prob_feasible"),
        "theorems": "sides_ratio:theorem 1",
        **dict.fromkeys(
            ("readings", "sensitivity", "programs", "peculiarities", "imdb-spread"),
            "median_stopping_time",
        ),
        "certified": "median_stopping_time",
    },
)
