"""The LAGEX paper's figures, one function per target, from the target's table and geometry."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon
from matplotlib.ticker import MaxNLocator

from bestarm.common.paper import Plots
from bestarm.common.style import (
    BLACK,
    BLUE,
    BOUND,
    GREEN,
    GREY,
    ORANGE,
    PUBLISHED,
    SKY,
    VERMILION,
    Look,
    caption,
    error_bars,
    new_figure,
    pick,
    plain_log_ticks,
    runs,
)
from bestarm.lagex.boxes import (
    BOXES,
    ENTRIES,
    KNOWING,
    LINES,
    LOOKS,
    PLACES,
    READING_NAMES,
    box,
    fill_of,
    legend,
    marks,
    rows_of_strategies,
    stopping_times,
    strategies_of,
    value_of,
)

#: Lower bounds under known constraints, and with the one for strategies that have to learn them.
KNOWN = ("known lower bound", "inside lower bound")
ALL = (*KNOWN, "unknown lower bound")
#: A barycentric plot: corners of the simplex in the plane.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def times(
    table: pd.DataFrame, titles: dict[str, str], note: str, bounds: tuple[str, ...] = ALL
) -> Figure:
    """Stopping times, one panel per instance."""
    figure = new_figure(7.6 if len(titles) > 1 else 6.2, 4.9)
    panels = figure.subplots(1, len(titles), squeeze=False, sharey=True)[0]
    for axes, (instance, title) in zip(panels, titles.items(), strict=True):
        stopping_times(axes, table, instance, bounds)
        axes.set(title=title, xlabel="steps until stopping")
    legend(figure, list(ENTRIES), bounds)
    counts = pick(table, statistic="median_stopping_time", reading="as-written").n
    caption(figure, f"{BOXES}, an open box ends among capped runs. {note} {runs(counts)} a box.")
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


def violations(table: pd.DataFrame, titles: dict[str, str], note: str) -> Figure:
    """Rounds whose policy (compared with the paper) or allocation violates a true constraint."""
    kinds = {"policy_violations": "policy πₜ", "allocation_violations": "allocation ωₜ"}
    figure = new_figure(7.6, 1.1 + 2.9 * len(titles))
    panels = figure.subplots(len(titles), 2, squeeze=False, sharey=True)
    names = ["quartile_25", "median", "quartile_75"]
    published = pick(table, reading="published")
    for row, (instance, title) in zip(panels, titles.items(), strict=True):
        ours = table[(table.instance == instance) & (table.reading != "published")]
        order = [name for name in strategies_of(ours) if name not in KNOWING]
        for axes, (kind, what) in zip(row, kinds.items(), strict=True):
            shown = ours[ours.statistic.str.startswith(kind) & ours.strategy.isin(order)]
            stated = published.value if kind == "policy_violations" else []
            top = np.nanmax([1.0, *shown.value, *stated])
            axes.set_xlim(-0.01 * top, 1.08 * top)
            for place, strategy in enumerate(order):
                for reading, (shift, height) in PLACES.items():
                    rows = pick(shown, strategy=strategy, reading=reading)
                    if len(rows):
                        quantiles = ["", *(f"{kind}:{name}" for name in names), ""]
                        look = fill_of(strategy, reading)
                        box(axes, rows, quantiles, place + shift, height, look)
            if kind == "policy_violations":
                marks(axes, published, order)
            rows_of_strategies(axes, order)
            axes.set(title=f"{title}: {what}", xlabel="rounds with a violation")
            axes.xaxis.set_major_locator(MaxNLocator(5))
            axes.xaxis.set_major_formatter("{x:,.0f}")
    legend(figure, ["ours, as written", "ours, released stopping rule", "published median"], ())
    counts = pick(table, statistic="policy_violations:median", reading="as-written").n
    caption(
        figure,
        "Rounds until stopping whose policy, or allocation, breaks a true constraint. Boxes: "
        "quartiles and median over runs; the lower, pale box is with the released stopping rule "
        "(released-stop); a box that is missing, or open, ends among capped runs. CTnS and CGE "
        f"know the constraints and never break one. {note} {runs(counts)} a box.",
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


def fig12(table: pd.DataFrame) -> Figure:
    return violations(table, {"imdb": "IMDB"}, "δ = 0.1.")


def programs(table: pd.DataFrame) -> Figure:
    """Published, of the program and as written, side by side: stopping times and violations."""
    titles = {"setup 1 m3=0.5": "hard", "setup 1 m3=1.3": "easy", "imdb": "IMDB"}
    whiskers = {
        "published": ("whisker:low", "whisker:high"),
        "program": ("quantile_05", "quantile_95"),
        "as-written": ("quantile_05", "quantile_95"),
    }
    order = [name for name in LOOKS if name not in KNOWING]
    figure = new_figure(7.6, 6.8)
    panels = figure.subplots(2, len(titles), sharey=True)
    for column, (instance, title) in zip(panels.T, titles.items(), strict=True):
        here = table[(table.instance == instance) & table.strategy.isin(order)]
        for axes, prefix in zip(column, ("", "policy_violations:"), strict=True):
            median = f"{prefix}median" if prefix else "median_stopping_time"
            middle = (f"{prefix}quartile_25", median, f"{prefix}quartile_75")
            limits = (f"{prefix}{end}" for ends in whiskers.values() for end in ends)
            spans = here[here.statistic.isin([*middle, *limits])].value.clip(lower=4.0)
            axes.set_xscale("log")
            axes.set_xlim(0.8 * spans.min(), 1.3 * spans.max())
            for row, strategy in enumerate(order):
                for at, reading in zip((-0.27, 0.0, 0.27), whiskers, strict=True):
                    rows = pick(here, strategy=strategy, reading=reading)
                    low, high = (f"{prefix}{end}" for end in whiskers[reading])
                    look = fill_of(strategy, "released-stop" if reading == "as-written" else "")
                    if reading == "published":
                        look |= {"facecolor": "white"}
                    box(axes, rows, [low, *middle, high], row + at, 0.22, look)
            rows_of_strategies(axes, order)
            plain_log_ticks(axes.xaxis, crowded=8.0)
            axes.set_xlabel("rounds that break a limit" if prefix else "steps until stopping")
        counts = pick(here, reading="program", statistic="median_stopping_time").n
        of = f"{counts.min():g} runs of a program" if len(counts) else "programs not run"
        column[0].set_title(f"{title} ({of})")
    shown = {
        "published": Patch(facecolor="white", edgecolor=BLACK),
        "released program": Patch(facecolor=GREY, edgecolor=BLACK),
        "as written": Patch(facecolor=GREY, alpha=0.4, edgecolor=BLACK),
    }
    figure.legend(shown.values(), shown.keys(), loc="outside upper center", ncols=3)
    caption(
        figure,
        "Boxes: quartiles and median over runs; whiskers: 5% and 95%, published ones as drawn. "
        "Those that reach 0 leave the axis. Where a quantile lies among capped runs the box is "
        "open. Setup 1 with the six arms of the released programs, which lack CTnS and CGE. "
        f"{runs(pick(table, reading='as-written', statistic='median_stopping_time').n)} a box, as "
        "written and published.",
    )
    return figure


def fig4(table: pd.DataFrame) -> Figure:
    """Medians of LAGEX with quartiles, and lower bounds, over the third mean."""
    titles = {"setup 1": "six arms", "setup 1 printed": "seven arms, as printed"}
    figure = new_figure(7.6, 5.0)
    panels = figure.subplots(1, 2, sharey=True)
    published = pick(table, reading="published")
    for axes, (setup, title) in zip(panels, titles.items(), strict=True):
        ours = pick(table[table.reading != "published"], family=setup, x_name="m3")
        axes.set_yscale("log")
        for reading, look in (
            ("as-written", Look(BLUE, "o")),
            ("released-stop", Look(SKY, "s", "--")),
        ):
            band(axes, pick(ours, strategy="LAGEX", reading=reading), look, reading)
        for name, (colour, line, label) in LINES.items():
            rows = pick(ours, strategy=name, statistic="lower_bound").sort_values("x")
            axes.plot(rows.x, rows.value.replace(np.inf, np.nan), line, color=colour, label=label)
            if name in ("known lower bound", "BAI lower bound"):
                stated = pick(published, strategy=name)
                axes.plot(
                    stated.x, stated.value, "x", color=colour, ms=4, label=f"{label}, published"
                )
        medians = pick(published, strategy="LAGEX")
        style = {"color": PUBLISHED.colour, "mfc": "white", "ms": 4.5}
        axes.plot(medians.x, medians.value, PUBLISHED.marker, label="LAGEX, published", **style)
        at_tie = pick(ours, strategy="BAI lower bound")
        for x in at_tie[np.isinf(at_tie.value)].x:
            axes.annotate(
                "∞", (x, 1.0), xycoords=axes.get_xaxis_transform(), color=VERMILION, ha="center"
            )
        axes.set(title=title, xlabel="third mean μ₃")
        plain_log_ticks(axes.yaxis)
    panels[0].set_ylabel("steps")
    tall = ["median_stopping_time", "quartile_75", "lower_bound"]
    top = table[table.statistic.isin(tall)].value.replace(np.inf, np.nan).max()
    panels[0].set_ylim(15, 2.0 * top)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    counts = pick(table, statistic="median_stopping_time", reading="as-written").n
    caption(
        figure,
        "LAGEX on setup 1, δ = 0.01: medians with 95% intervals, quartiles shaded, "
        f"{runs(counts)} a point. Lines: exact lower bounds T ln(1/(2.4 δ)). Without constraints "
        "it is infinite at μ₃ = 1.5, where two arms tie; the published curve is not. Constraints "
        "unknown: what every strategy that errs at most δ needs on average.",
    )
    return figure


def band(axes: Axes, rows: pd.DataFrame, look: Look, reading: str) -> None:
    """Medians with their intervals, and the quartiles as a band; if they are defined."""
    if rows.empty:
        return
    medians = pick(rows, statistic="median_stopping_time").sort_values("x")
    low, high = (
        pick(rows, statistic=f"quartile_{q}").sort_values("x").value.to_numpy(float)
        for q in (25, 75)
    )
    axes.fill_between(medians.x.to_numpy(float), low, high, color=look.colour, alpha=0.2, lw=0)
    label = f"LAGEX, {READING_NAMES[reading]}"
    error_bars(axes, medians, medians.x, medians.value, look, ms=3.5, label=label)


def ternary(axes: Axes) -> None:
    """The simplex of policies of three arms."""
    axes.add_patch(Polygon(CORNERS, fill=False, ec=GREY, lw=1.0))
    for arm, (x, y) in enumerate(CORNERS, 1):
        shift = (0, 4) if arm == 3 else (0, -11)
        axes.annotate(
            f"arm {arm}", (x, y), shift, textcoords="offset points", ha="center", fontsize=8
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
    axes.plot(points[:, 0], points[:, 1], marker, color=colour, ms=7, ls="", label=label, zorder=5)


def fig1(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """Feasible sets and best policies; characteristic times against the perturbation."""
    figure = new_figure(7.6, 3.7)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.15])
    ternary(left)
    looks = {
        0.0: ("o", {"fc": "#e3e3e3", "ec": GREY, "lw": 1.0}),
        0.005: ("s", {"fc": "none", "ec": BLUE, "lw": 1.2}),
        0.05: ("^", {"fc": "none", "ec": VERMILION, "lw": 1.6, "hatch": "//"}),
    }
    for epsilon, (marker, look) in looks.items():
        shapes = pick(geometry, epsilon=epsilon)
        draw_set(left, shapes, **look)
        best(left, shapes, marker, look["ec"], f"ε = {epsilon:g}")
    left.legend(loc="upper left", fontsize=8)
    left.set_title("feasible sets, best policies")
    curves = {
        "characteristic_time": (Look(BLUE, "o"), "T, known constraints"),
        "inside_time": (Look(GREEN, "^"), "T, allocations feasible too"),
        "tolerant_time": (Look(ORANGE, "v"), "T at r = 0.01"),
        "perturbation_pulls": (Look(BLACK, "", "--"), "1/ε²: to see ε in a cost"),
    }
    ours = table[(table.reading == "exact") & (table.x > 0)]
    for statistic, (look, label) in curves.items():
        rows = pick(ours, statistic=statistic).sort_values("x")
        right.plot(
            rows.x, rows.value, look.line, marker=look.marker, color=look.colour, label=label
        )
    stated = pick(table, reading="published")
    right.plot(stated.x, stated.value, "D", color=BLACK, mfc="white", ms=6, label="published")
    right.set(xscale="log", yscale="log", xlabel="tightened by ε", ylabel="steps per nat")
    right.set_title("sample complexity")
    right.legend(fontsize=7.5)
    caption(
        figure,
        "Section 1's three arms. The first constraint, π·(0, −0.3, −0.2) ≤ 0, follows from π ≥ 0 "
        "until it is tightened to −ε. The characteristic time hardly moves; the published "
        "4 × 10⁴ at ε = 0.005 is what it takes to see the perturbation itself. Computed, no "
        "simulation.",
    )
    return figure


def fig2(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """The optimistic set of one run over the true one."""
    rounds = sorted(set(geometry["round"]) - {0})
    figure = new_figure(7.6, 3.2)
    panels = figure.subplots(1, len(rounds))
    truly = pick(geometry, round=0)
    for axes, t in zip(panels, rounds, strict=True):
        shapes = pick(geometry, round=t)
        ternary(axes)
        draw_set(axes, shapes, fc=SKY, ec=BLUE, alpha=0.35, lw=1.2)
        draw_set(axes, truly, fc="none", ec=GREEN, lw=1.6, hatch="///")
        best(axes, truly, "*", GREEN, "best policy")
        best(axes, shapes, "o", VERMILION, "best by the estimates")
        axes.set_title(f"t = {t}", fontsize=8.5)
    entries = {
        "feasible": Patch(fc="none", ec=GREEN, hatch="///"),
        "optimistic": Patch(fc=SKY, ec=BLUE, alpha=0.35),
        "best policy": Line2D([], [], color=GREEN, marker="*", ls="", ms=7),
        "best by the estimates": Line2D([], [], color=VERMILION, marker="o", ls="", ms=6),
    }
    figure.legend(entries.values(), entries.keys(), loc="outside upper center", ncols=4)
    truth = value_of(pick(table, strategy="truth"), "feasible_area")
    sizes = [f"{value_of(pick(table, x=t), 'feasible_area'):.0%}" for t in rounds]
    covered = value_of(pick(table, x=rounds[-1]), "covers_feasible_set:shared shift")
    caption(
        figure,
        "One run of LAGEX on three arms, kept from stopping; the optimistic set is Â π ≤ b + s at "
        f"δ = 0.01, with s at the pulls so far. The true set is {truth:.0%} of all policies, the "
        f"optimistic ones {', '.join(sizes)} on average ({runs(table.n)}); at t = {rounds[-1]} it "
        f"holds the true one in a share {covered:g} of runs.",
    )
    return figure


def edges_of(shapes: pd.DataFrame) -> np.ndarray:
    """(2, 2) the ends of a cone's rays, outside of the picture."""
    return 6.0 * shapes[shapes.kind != "means"][["x", "y"]].to_numpy(float)


def fig3(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    """Normal cones of the best policy: true, and by the estimates of one run."""
    rounds = sorted(set(geometry["round"]))
    figure = new_figure(7.6, 2.7)
    panels = figure.subplots(1, len(rounds), sharex=True, sharey=True)
    true_edges = edges_of(pick(geometry, round=0))
    for axes, t in zip(panels, rounds, strict=True):
        here = pick(geometry, round=t)
        colour = BLUE if t else GREEN
        edges = edges_of(here)
        axes.add_patch(Polygon(np.vstack([[0, 0], edges]), fc=colour, alpha=0.15))
        for one, line, edge in ((true_edges, "--", GREEN), (edges, "-", colour)):
            for x, y in one:
                axes.plot([0, x], [0, y], line, color=edge, lw=1.4)
        means = pick(here, kind="means")
        axes.plot(means.x, means.y, "o", color=VERMILION, ms=5)
        where = pick(table, x=t) if t else pick(table, strategy="truth")
        name = f"t = {t}" if t else "truth"
        axes.set_title(f"{name}: {value_of(where, 'cone_angle'):.0f}°")
        axes.set(aspect="equal", xlim=(-1.9, 1.5), ylim=(-0.3, 2.0), xlabel="(μ₂ − μ₁)/√2")
    panels[0].set_ylabel("(2μ₃ − μ₁ − μ₂)/√6")
    caption(
        figure,
        "Means under which the best policy stays best, in the plane of differences of means "
        "(shaded; dashed: under the true constraints), and the estimated means (dots). The run of "
        "figure 2; relaxing the constraints shifts them and does not turn their normals.",
    )
    return figure


#: A dot with an interval in a plot of dots.
DOT = {"mec": BLACK, "mew": 0.4, "ms": 5, "ecolor": BLACK, "elinewidth": 0.8, "horizontal": True}


def dots(axes: Axes, rows: pd.DataFrame, **style) -> None:
    """One statistic of every strategy with its interval, in the order of LOOKS from the top."""
    for place, (strategy, look) in enumerate(LOOKS.items()):
        one = pick(rows, strategy=strategy).dropna(subset="value")
        if len(one):
            error_bars(axes, one, one.value, [place], look._replace(line=""), **DOT | style)
    axes.set_yticks(range(len(LOOKS)), list(LOOKS), fontsize=7)
    axes.set_ylim(len(LOOKS) - 0.5, -0.5)


def shares(table: pd.DataFrame) -> Figure:
    """Shares of runs that recommend a good policy, and a feasible one."""
    instances = {
        "setup 1 m3=0.5": "setup 1 hard",
        "setup 1 m3=1.3": "setup 1 easy",
        "setup 2 hard": "setup 2 hard",
        "setup 2 easy": "setup 2 easy",
        "imdb": "IMDB",
    }
    columns = {
        "prob_r_optimal": "r-optimal",
        "prob_feasible": "feasible",
        "prob_correct": "both",
        "mean_excess": "excess if infeasible",
        "share_capped": "capped",
    }
    figure = new_figure(7.8, 7.2)
    panels = figure.subplots(len(instances), len(columns), sharey=True, sharex="col")
    for row, (instance, title) in zip(panels, instances.items(), strict=True):
        here = table[(table.instance == instance) & (table.reading == "as-written")]
        for axes, (statistic, name) in zip(row, columns.items(), strict=True):
            dots(axes, pick(here, statistic=statistic), ms=4.5)
            if statistic.startswith("prob"):
                axes.axvline(1.0 - here.delta.iloc[0], color=BOUND.colour, ls=BOUND.line, lw=1.0)
            if statistic.startswith(("prob", "share")):
                axes.set_xlim(-0.04, 1.06)
            axes.tick_params(axis="x", labelsize=7)
            if axes in panels[0]:
                axes.set_title(name)
        row[0].set_ylabel(title, fontsize=8)
    caption(
        figure,
        "Shares of runs whose recommended policy is within r = 0.01 of the best true value (or "
        "above it), keeps all true constraints, and both; mean excess over the limit of those that "
        "do not; share capped. As written, 95% intervals; dotted: 1 − δ. An active constraint that "
        "is estimated without bias is broken about half of the time, one of two even more often. "
        f"{runs(pick(table, statistic='prob_feasible').n)}.",
    )
    return figure


def example(table: pd.DataFrame) -> Figure:
    """The recommendations in the example of docs/usage.md, and how often they exceed the limit."""
    columns = {
        "prob_r_optimal": "within r of the best value",
        "prob_feasible": "keeps the limit",
        "prob_far_over": "over it by more than 0.1",
    }
    figure = new_figure(7.0, 2.6)
    panels = figure.subplots(1, len(columns), sharey=True)
    for axes, (statistic, title) in zip(panels, columns.items(), strict=True):
        dots(axes, pick(table, statistic=statistic))
        axes.set(title=title, xlim=(-0.04, 1.04))
    caption(
        figure,
        "Shares of runs, with 95% intervals, on the three menus of docs/usage.md, whose mean price "
        "may be 0.8. CTnS and CGE are told the prices. δ = 0.05, r = 0.1, as written. "
        f"{runs(pick(table, statistic='prob_feasible').n)}.",
    )
    return figure


def readings(table: pd.DataFrame) -> Figure:
    """Median stopping times under every reading."""
    instances = {"setup 1 m3=0.5": "setup 1 hard", "setup 1 m3=1.3": "easy", "imdb": "IMDB"}
    medians = pick(table, statistic="median_stopping_time")
    names = list(dict.fromkeys(medians[medians.reading != "published"].reading))
    names.sort(key=lambda name: (name != "as-written", name == "released-stop", name))
    rows = [
        (strategy, reading)
        for strategy in LOOKS
        for reading in names
        if len(pick(medians, strategy=strategy, reading=reading))
    ]
    figure = new_figure(7.8, 0.9 + 0.19 * len(rows))
    panels = figure.subplots(1, len(instances), sharey=True)
    for axes, (instance, title) in zip(panels, instances.items(), strict=True):
        axes.set_xscale("log")
        here = pick(medians, instance=instance)
        for place, (strategy, reading) in enumerate(rows):
            look = LOOKS[strategy]._replace(line="")
            one = pick(here, strategy=strategy, reading=reading)
            if one.value.notna().any():
                error_bars(axes, one, one.value, [place], look, **DOT)
            else:
                axes.annotate(
                    "capped",
                    (1.0, place),
                    xycoords=axes.get_yaxis_transform(),
                    fontsize=6,
                    color=GREY,
                    ha="right",
                    va="center",
                )
        for strategy in LOOKS:
            places = [i for i, (name, _) in enumerate(rows) if name == strategy]
            stated = pick(here, strategy=strategy, reading="published")
            for value in stated.value:
                ends = [min(places) - 0.4, max(places) + 0.4]
                axes.plot([value] * 2, ends, color=BLACK, ls=":", lw=1.1)
            axes.axhline(max(places) + 0.5, color=GREY, lw=0.4)
        labels = [f"{strategy}, {reading}" for strategy, reading in rows]
        axes.set_yticks(range(len(rows)), labels, fontsize=7)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set(title=title, xlabel="median steps")
        plain_log_ticks(axes.xaxis, crowded=10.0)
        axes.tick_params(axis="x", labelsize=7)
    caption(
        figure,
        "Medians with 95% intervals; dotted: published. Where half or more of the runs were capped "
        f"there is no median. {runs(medians[medians.reading != 'published'].n)}.",
    )
    return figure


def imdb_spread(table: pd.DataFrame) -> Figure:
    """IMDB with reward deviations of 1 and with those of the ratings."""
    figure = new_figure(7.6, 4.4)
    panels = figure.subplots(1, 2, sharey=True)
    titles = {"imdb": "σ = 1, as in the paper", "imdb, true spread": "the ratings' own σ"}
    for axes, (instance, title) in zip(panels, titles.items(), strict=True):
        stopping_times(axes, table, instance, KNOWN)
        axes.set(title=title, xlabel="steps until stopping")
    ends = [axes.get_xlim() for axes in panels]
    for axes in panels:
        axes.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))
    legend(figure, ["ours, as written", "told the constraints"], KNOWN)
    counts = pick(table, statistic="median_stopping_time").n
    caption(
        figure,
        "Boxes: quartiles and median over runs, whiskers: 5% and 95%; as written, δ = 0.1, "
        f"r = 0.01. {runs(counts)} a box.",
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
        "fig12": fig12,
        "shares": shares,
        "example": example,
        "readings": readings,
        "programs": programs,
        "imdb-spread": imdb_spread,
    },
    LOOKS,
)
