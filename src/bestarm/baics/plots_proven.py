"""Figures of stopping rules that are proved beside the paper's."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bestarm.baics import findings
from bestarm.baics.problem import BOUNDARY, CONVERSION
from bestarm.common.drawing import (
    WIDE,
    caption,
    dots,
    legend,
    new_figure,
    plain_log_ticks,
    runs,
    series,
)
from bestarm.common.styles import BLUE, BOUND, GREEN, ORANGE, PURPLE, VERMILION, Style, named_styles
from bestarm.common.tables import groups, pick

#: Sampling rules by colour and marker; dashed if their stopping rule is not proved.
RULE_STYLES = {
    "T-a-SCS, as-written": Style(BLUE, "o", "--", "T-a-SCS, as written"),
    "T-a-SCS, proven": Style(BLUE, "o", "-", "T-a-SCS, proven"),
    "T-a-SCS, maximiser": Style(GREEN, "^", "--", "exact maximiser, paper's stop"),
    "T-a-SCS, maximiser+proven": Style(GREEN, "^", "-", "exact maximiser, proven"),
    "T-a-SCS, maximiser+proven-mixture": Style(ORANGE, "v", "-", "exact maximiser, full mixtures"),
    "FWS, as-written": Style(PURPLE, "D", "--", "FWS, paper's stop"),
    "FWS, proven": Style(VERMILION, "P", "-", "FWS, proven, not levelled"),
    "FWS, levelled+proven": Style(PURPLE, "D", "-", "FWS, levelled, proven"),
    "Uniform, proven": Style(BLUE, "s", "-", "uniform, proven"),
}
#: The same where a rule that errs is to stand out by its colour.
ERROR_STYLES = {
    "T-a-SCS, as-written": RULE_STYLES["T-a-SCS, as-written"]._replace(colour=ORANGE),
    "T-a-SCS, maximiser": RULE_STYLES["T-a-SCS, maximiser"]._replace(colour=VERMILION),
    "T-a-SCS, proven": RULE_STYLES["T-a-SCS, proven"],
    "T-a-SCS, maximiser+proven": RULE_STYLES["T-a-SCS, maximiser+proven"],
}


def _with_rule(table: pd.DataFrame) -> pd.DataFrame:
    """A table with a column `rule`: strategy and reading, as in RULE_LOOKS."""
    return table.assign(rule=table.strategy + ", " + table.reading)


def guarantee(table: pd.DataFrame) -> Figure:
    """Wrong stops and median times against the number of subpopulations."""
    figure = new_figure(WIDE, 2.5)
    ours = _with_rule(table[table.reading != "exact"])
    titles = {"wrong_stops": "wrong answers", "median_stopping_time": "median stopping time"}
    panels = []
    for part, statistic in zip(figure.subfigures(1, 2, squeeze=False)[0], titles, strict=True):
        rows = pick(ours, statistic=statistic).assign(status="")  # draws shares of 0 as the others
        log = "x" if statistic == "wrong_stops" else "xy"
        axes = series(part, rows, ERROR_STYLES, "rule", log)[0, 0]
        axes.set(title=titles[statistic], xlabel="subpopulations")
        axes.set_xticks(sorted(rows.x.unique()), [f"{x:g}" for x in sorted(rows.x.unique())])
        axes.minorticks_off()
        panels.append(axes)
    delta = ours.delta.iloc[0]
    panels[0].axhline(delta, color=BOUND.colour, ls=BOUND.line)
    panels[0].annotate(f"δ = {delta:g}", (ours.x.max(), delta), ha="right", va="bottom")
    panels[0].set(ylabel="share of runs", ylim=(-0.03, 1.0))
    bound = pick(table, statistic="lower_bound").sort_values("x")
    panels[1].plot(bound.x, bound.value, color=BOUND.colour, ls=BOUND.line)
    panels[1].set_ylabel("pulls")
    plain_log_ticks(panels[1].yaxis, crowded=20.0)
    styles = named_styles(ERROR_STYLES, ours.rule) | {
        "bound": BOUND._replace(name="δ, lower bound")
    }
    legend(figure, styles, 3)
    caption(
        figure,
        findings.guarantee(table),
        "T-a-SCS (exact maximiser) with two arms, of mean 0.1 (right) and −3 on every "
        f"subpopulation, δ = {delta:g}, no cap; {runs(ours.n)} per point. Left: shares with 95% "
        "Wilson intervals. Right: medians with 95% intervals, and the lower bound T* kl(δ, 1−δ) on "
        "the mean. Where medians fall, runs stop wrongly after their initial draws.",
    )
    return figure


def proven(table: pd.DataFrame) -> Figure:
    """Stopping times of rules with and without a proof, on the paper's instances."""
    ours = _with_rule(pick(table[table.reading != "exact"], other=""))
    order = [name for name in RULE_STYLES if name in set(ours.rule)]
    titles = {
        "example1": "example 1",
        "example2": "example 2",
        "no-feasible-arm": "no feasible arm",
    }
    figure = new_figure(WIDE, 0.21 * len(order) + 0.75)
    means = pick(ours, statistic="mean_stopping_time")
    panels = dots(figure, means, RULE_STYLES, order, "rule", "rule", True, ("instance", titles))[0]
    for axes, instance in zip(panels, titles, strict=True):
        for name, rows in groups(pick(ours, instance=instance), "rule"):
            values = rows.set_index("statistic").value
            y, colour = order.index(name), RULE_STYLES[name].colour
            ends = values[["quartile_25", "quartile_75"]]
            axes.plot(ends, [y, y], color=colour, lw=5, alpha=0.25, solid_capstyle="butt")
            axes.plot(values["median_stopping_time"], y, "|", color=colour, ms=8, mew=1.6)
        bound = pick(table, instance=instance, statistic="lower_bound").value.iloc[0]
        axes.axvline(bound, color=BOUND.colour, ls=BOUND.line, lw=1)
        axes.set_xlabel("pulls")
        plain_log_ticks(axes.xaxis, crowded=10.0)
    caption(
        figure,
        findings.proven(table),
        "Stopping times, δ = 0.1, no cap: mean (marker) with 95% interval, median (tick), "
        f"quartiles (band); {runs(means.n)}. Dotted: the bound T* kl(δ, 1−δ) on the mean of a "
        "δ-correct strategy. The paper's stopping rule is not proved. FWS: Frank-Wolfe Sampling.",
    )
    return figure


def boundary(table: pd.DataFrame) -> Figure:
    """Shares of wrong stops at instances next to others with another answer."""
    rows = _with_rule(pick(table, statistic="wrong_stops"))
    titles = {delta: f"δ = {delta:g}" for delta in sorted(rows.delta.unique(), reverse=True)}
    order = [name for name in BOUNDARY if name in set(rows.instance)]
    figure = new_figure(WIDE, 0.36 * len(order) + 0.95)
    col = ("delta", titles)
    panels = dots(figure, rows, ERROR_STYLES, order, "instance", "rule", col=col)[0]
    for axes, delta in zip(panels, titles, strict=True):
        axes.axvline(delta, color=BOUND.colour, ls=BOUND.line)
        axes.set(xlabel="share of runs", xlim=(0.0, None))
        axes.xaxis.set_major_locator(MaxNLocator(3))
    legend(figure, named_styles(ERROR_STYLES, rows.rule), 2, lines=False)
    caption(
        figure,
        findings.boundary(table),
        "Runs of T-a-SCS that stop with a wrong answer within 500 pulls. Every instance is within "
        "1e-9 of others whose answer differs, so that no run of this length can tell them apart. "
        f"{runs(rows.n)} each; 95% Wilson intervals. Dotted: δ. The paper's stopping rule is shown "
        "at its own δ = 0.1 alone.",
    )
    return figure


def proven_asymptotics(table: pd.DataFrame) -> Figure:
    """Mean stopping time over the lower bound, as delta shrinks."""
    figure = new_figure(WIDE, 2.6)
    rows = _with_rule(pick(table, statistic="bound_ratio"))
    axes = series(figure, rows, RULE_STYLES, "rule", "x")[0, 0]
    axes.axhline(1.0, color=BOUND.colour, ls=BOUND.line)
    axes.invert_xaxis()
    axes.set(xlabel="δ", ylabel="E[τ] / (T* kl(δ, 1−δ))", ylim=(0.0, None))
    legend(figure, named_styles(RULE_STYLES, rows.rule), 2)
    caption(
        figure,
        findings.proven_asymptotics(table),
        "Example 1, no cap: mean stopping times over the lower bound (dotted), below which no "
        f"δ-correct strategy is; 95% intervals, {runs(rows.n)} per point. Dashed: with the paper's "
        "stopping rule, which is not proved.",
    )
    return figure


def rates_asymptotics(table: pd.DataFrame) -> Figure:
    """Mean stopping time over the lower bound, as delta shrinks, beside Gaussian rewards."""
    figure = new_figure(WIDE, 2.6)
    rows = _with_rule(pick(table, statistic="bound_ratio"))
    titles = {CONVERSION["bernoulli"]: "rates", CONVERSION["gaussian"]: "Gaussian rewards"}
    panels = series(figure, rows, RULE_STYLES, "rule", "x", ("instance", titles))[0]
    for axes in panels:
        axes.axhline(1.0, color=BOUND.colour, ls=BOUND.line)
        axes.set(xlabel="δ", ylim=(0.0, None))
    panels[0].invert_xaxis()
    panels[0].set_ylabel("E[τ] / (T* kl(δ, 1−δ))")
    legend(figure, named_styles(RULE_STYLES, rows.rule), 3)
    last = pick(rows, instance=CONVERSION["bernoulli"], x=rows.x.min())
    far = last.value[last.strategy == "Uniform"].item()
    near = last.value[last.strategy != "Uniform"].max()
    caption(
        figure,
        f"On rates, tracked rules come within {near:.2f} times the lower bound (dotted), which no "
        f"δ-correct strategy beats; uniform stays at {far:.2f}. Mean stopping times on rates of "
        "3 to 6%, and on Gaussian rewards of the same means and variances; 95% intervals, "
        f"{runs(rows.n)} per point.",
    )
    return figure
