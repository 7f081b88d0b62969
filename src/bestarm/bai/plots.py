"""The figures of best-arm identification, one function per target, drawn from its table alone."""

import pandas as pd
from matplotlib.figure import Figure

from bestarm.bai import findings
from bestarm.bai.problem import BOUNDARY
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
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    Style,
    named_styles,
)
from bestarm.common.tables import pick

STYLES = {
    "Track-and-Stop": Style(BLUE, "o"),
    "Chernoff-Racing": Style(ORANGE, "s"),
    "KL-LUCB": Style(GREEN, "^"),
    "KL-Racing": Style(VERMILION, "D"),
    "lower bound": BOUND,
    "w*": Style(BLACK, ""),
    "as-written": Style(BLUE, "o", "--", "as written"),
    "c-tracking": Style(SKY, "v", name="C-tracking"),
    "coin-ties": Style(PURPLE, "P", name="coins break ties"),
    "by-round": Style(ORANGE, "s", name="threshold by round"),
    "proven": Style(GREEN, "^", name="proven"),
    "c-tracking+proven": Style(VERMILION, "D", name="C-tracking, proven"),
    "bets": Style(BLUE, "o", name="bets"),
    "kaufmann-koolen": Style(ORANGE, "s", name="Kaufmann & Koolen"),
    "betting-intervals": Style(PURPLE, "P", name="betting intervals"),
}
TITLES = {
    "mu1": "μ1 = (.5, .45, .43, .4)",
    "mu2": "μ2 = (.3, .21, .2, .19, .18)",
}


def _counts(rows: pd.DataFrame) -> str:
    """How many runs a mark has; other readings have fewer, for a build that takes a minute."""
    written = rows.reading == "as-written"
    return (
        f"{runs(rows.n[written])} per mark as written, {runs(rows.n[~written])} of other readings"
    )


def table1(table: pd.DataFrame) -> Figure:
    """Mean draws of every strategy and reading, with the published ones."""
    rows = pick(table[~table.reading.isin(["exact", "published"])], statistic="mean_stopping_time")
    stated = pick(table, reading="published", statistic="mean_stopping_time")
    stated = with_errors(stated, pick(rows, reading="as-written"), log=True)
    order = [name for name in STYLES if name in set(rows.strategy)]
    figure = new_figure(WIDE, 2.3)
    col = ("instance", TITLES)
    panels = dots(figure, rows, STYLES, order, "strategy", "reading", True, col)[0]
    for axes, instance in zip(panels, TITLES, strict=True):
        theirs = pick(stated, instance=instance)
        places = [order.index(name) - 0.42 for name in theirs.strategy]
        published(axes, theirs, theirs.value, places)
        bound = pick(table, instance=instance, statistic="lower_bound").value.iloc[0]
        axes.axvline(bound, color=BOUND.colour, ls=BOUND.line, lw=1)
        axes.set(xlabel="mean draws", ylim=(len(order) - 0.4, -0.8))
        plain_log_ticks(axes.xaxis, crowded=20.0)
    legend(figure, named_styles(STYLES, rows.reading), 4, lines=False)
    caption(
        figure,
        findings.table1(table),
        f"Mean draws until a strategy stops, δ = 0.1, with 95% intervals; {_counts(rows)}. "
        "Diamonds: published means, second hand, with the sampling error of n = 3,000. Dotted: the "
        "lower bound T* kl(δ, 1−δ).",
    )
    return figure


def proportions(table: pd.DataFrame) -> Figure:
    """Mean shares of pulls by arm, and w*."""
    kept = ("Track-and-Stop", "lower bound")
    rows = table[table.strategy.isin(kept) & ~table.reading.eq("coin-ties")]
    rows = rows.assign(
        x=rows.statistic.str.extract(r":(\d+)")[0].astype(float),
        line=rows.reading.where(rows.reading != "exact", "w*"),
    )
    figure = new_figure(WIDE, 2.2)
    panels = series(figure, rows, STYLES, "line", col=("instance", TITLES))[0]
    for axes in panels:
        axes.set_xlabel("arm")
    panels[0].set_ylabel("share of draws")
    legend(figure, named_styles(STYLES, rows.line), 3)
    caption(
        figure,
        findings.proportions(table),
        "Mean share of each arm in the draws of Track-and-Stop, δ = 0.1, with 95% intervals; "
        f"{_counts(rows)}; and the optimal shares w*.",
    )
    return figure


def proven(table: pd.DataFrame) -> Figure:
    """Mean draws with the stylised and with the proved threshold."""
    ours = table[table.reading.ne("exact") & table.other.eq("")]
    rows = pick(ours, statistic="mean_stopping_time")
    order = [name for name in STYLES if name in set(rows.strategy)]
    figure = new_figure(WIDE, 2.2)
    col = ("instance", TITLES)
    panels = dots(figure, rows, STYLES, order, "strategy", "reading", True, col)[0]
    for axes, instance in zip(panels, TITLES, strict=True):
        bound = pick(table, instance=instance, statistic="lower_bound").value.iloc[0]
        axes.axvline(bound, color=BOUND.colour, ls=BOUND.line, lw=1)
        axes.set_xlabel("mean draws")
        plain_log_ticks(axes.xaxis, crowded=20.0)
    legend(figure, named_styles(STYLES, rows.reading), 3, lines=False)
    caption(
        figure,
        findings.proven(table),
        "Mean draws, δ = 0.1, with the threshold of Section 6 (as written) and with one that is "
        f"proved, with 95% intervals; {_counts(rows)}. Dotted: the lower bound T* kl(δ, 1−δ).",
    )
    return figure


def asymptotics(table: pd.DataFrame) -> Figure:
    """Mean draws over the lower bound, as delta shrinks."""
    rows = pick(table, statistic="bound_ratio")
    figure = new_figure(WIDE, 2.4)
    axes = series(figure, rows, STYLES, "reading", "x")[0, 0]
    axes.axhline(1.0, color=BOUND.colour, ls=BOUND.line)
    axes.invert_xaxis()
    axes.set(xlabel="δ", ylabel="E[τ] / (T* kl(δ, 1−δ))", ylim=(0.0, None))
    legend(figure, named_styles(STYLES, rows.reading), 2)
    caption(
        figure,
        findings.asymptotics(table),
        "Track-and-Stop on μ2: mean draws over the lower bound (dotted), below which no δ-correct "
        f"strategy is; 95% intervals, {runs(rows.n)} per point. Dashed: with the threshold of "
        "Section 6, which is not proved.",
    )
    return figure


def boundary(table: pd.DataFrame) -> Figure:
    """Shares of wrong stops next to a tie."""
    rows = pick(table, statistic="wrong_stops")
    titles = {"as-written": "as written", "proven": "proven"}
    order = [name for name in BOUNDARY if name in set(rows.instance)]
    figure = new_figure(WIDE, 0.36 * len(order) + 0.95)
    panels = dots(figure, rows, STYLES, order, "instance", "strategy", col=("reading", titles))[0]
    delta = rows.delta.iloc[0]
    for axes in panels:
        axes.axvline(delta, color=BOUND.colour, ls=BOUND.line)
        axes.set(xlabel="share of wrong stops", xlim=(0.0, 1.3 * max(delta, rows.high.max())))
    legend(figure, named_styles(STYLES, rows.strategy), 4, lines=False)
    caption(
        figure,
        findings.boundary(table),
        "Runs that stop with a wrong answer within 300 draws, on instances within 1e-9 of a tie, "
        f"which no number of draws decides; δ = {delta:g}, {runs(rows.n)} each, 95% Wilson "
        "intervals. Dotted: δ.",
    )
    return figure


def standard(table: pd.DataFrame) -> Figure:
    """Mean draws of our stopping rules and of the literature's, on the same samples."""
    rows, ratios = (pick(table, statistic=s) for s in ("mean_stopping_time", "budget_ratio"))
    rows = rows.assign(arms=rows.x.map("{:.0f} arms".format))
    order = list(dict.fromkeys(rows.sort_values("x").arms))
    columns = ("instance", dict(zip(rows.instance, rows.instance, strict=True)))

    def times(reading: str, *arms: int) -> str:
        """Draws of a rule over those of ours, in words; of all numbers if none is given."""
        of_rule = pick(ratios, reading=reading)
        return spread(of_rule.value[of_rule.x.isin(arms or of_rule.x)])

    figure = new_figure(WIDE, 2.3)
    for axes in dots(figure, rows, STYLES, order, "arms", "reading", True, columns)[0]:
        axes.set_xlabel("mean draws")
        plain_log_ticks(axes.xaxis, crowded=20.0)
    legend(figure, named_styles(STYLES, rows.reading), 4, lines=False)
    caption(
        figure,
        "Draws over those of our proved rule, a mixture per arm: Kaufmann & Koolen's threshold "
        f"{times('kaufmann-koolen')}, betting intervals {times('betting-intervals')}, bets "
        f"{times('bets', 2)} with two arms and {times('bets', 5, 10)} with five and ten. Mean "
        f"draws on the same samples of Track-and-Stop, δ = {rows.delta.iloc[0]:g}, with 95% "
        f"intervals; {runs(rows.n)}. The best arm has the first mean in the title, all others the "
        "second.",
    )
    return figure


PLOTS = Plots(
    {
        "table1": table1,
        "proportions": proportions,
        "proven": proven,
        "asymptotics": asymptotics,
        "standard": standard,
        "boundary": boundary,
    },
    STYLES,
)
