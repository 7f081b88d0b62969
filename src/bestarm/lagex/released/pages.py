"""Medians of LAGEX's released programs beside the published ones: figures/lagex/programs.csv."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from bestarm.common.prose import markdown, number, wrapped
from bestarm.common.tables import groups, lines, read_table
from bestarm.core.estimates import least_runs
from bestarm.lagex.released.kept import SETUP_2, TITLES
from bestarm.verdicts.claims import read_claims
from bestarm.verdicts.released import INSIDE, NOT_RELEASED, OUTSIDE, TOO_FEW, WIDEST
from bestarm.verdicts.table import as_frame, read_verdicts

#: What is compared with the paper.
TIMES, VIOLATIONS = "median_stopping_time", "policy_violations:median"
KINDS = {TIMES: "stopping times", VIOLATIONS: "violations"}


class Median(NamedTuple):
    """A program's median beside the published one."""

    strategy: str
    n: int  # runs of the program
    capped: float  # share of them that reached the cap
    value: float  # nan if it lies among capped runs
    low: float  # nan without an interval; so is `high`
    high: float  # inf if the interval ends among capped runs
    published: float
    written: float  # as written
    covered: bool  # whether the interval as written holds the published one

    @property
    def known(self) -> bool:
        """Whether there are runs enough for an interval."""
        return not np.isnan(self.low)

    @property
    def agrees(self) -> bool:
        return self.low <= self.published <= self.high


def read(root: Path) -> pd.DataFrame:
    """The target's table."""
    return read_table(root / "figures/lagex/programs.csv")


def medians(table: pd.DataFrame, statistic: str = TIMES) -> Iterator[tuple[str, list[Median]]]:
    """Title of an instance, and its strategies that were run, if there are any."""
    for instance, title in TITLES.items():
        if listed := strategy_medians(table[table.instance == instance], statistic):
            yield title, listed


def strategy_medians(rows: pd.DataFrame, statistic: str) -> list[Median]:
    """The strategies that were run, of an instance at one delta, in the paper's order."""
    every = [read_median(group, statistic) for _, group in groups(rows, "strategy")]
    return sorted(
        (median for median in every if median is not None), key=lambda median: median.published
    )


def read_median(rows: pd.DataFrame, statistic: str) -> Median | None:
    """A strategy's; none if its program was not run."""
    by_reading = {row.reading: row for row in lines(rows[rows.statistic == statistic])}
    if not {"program", "published", "as-written"} <= by_reading.keys():
        return None
    ours, written = by_reading["program"], by_reading["as-written"]
    published = float(by_reading["published"].value)
    capped = rows[(rows.reading == "program") & (rows.statistic == "share_capped")]
    return Median(
        strategy=rows.strategy.iloc[0],
        n=int(ours.n),
        capped=float(capped.value.iloc[0]),
        value=float(ours.value),
        low=float(ours.low),
        high=float(ours.high),
        published=published,
        written=float(written.value),
        covered=bool(written.low <= published <= written.high),
    )


def program_table(root: Path) -> str:
    """Every median stopping time of a program, with its interval and the published one."""
    return markdown(
        {"environment": title, **cells(median)}
        for title, every in medians(read(root))
        for median in every
    )


def cells(median: Median) -> dict[str, object]:
    """A median as a line of a table."""
    return {
        "strategy": median.strategy,
        "published median": number(median.published),
        "program": "beyond the cap" if np.isnan(median.value) else number(median.value),
        "95% interval": interval(median),
        "runs": median.n,
        "reached the cap": f"{100 * median.capped:.0f}%",
        "as written": number(median.written),
    }


def setup_2_table(root: Path) -> str:
    """Median violations of the programs in setup 2; a sentence if they were not run there."""
    table = read(root)
    rows = []
    for instance, title in SETUP_2.items():
        here = table[table.instance == instance]
        for delta in sorted(set(here[here.reading == "program"].delta)):
            at_delta = here[(here.delta == delta) | (here.reading == "published")]
            rows += [
                {"environment": title, "δ": f"{delta:g}", **cells(median)}
                for median in strategy_medians(at_delta, VIOLATIONS)
            ]
    return markdown(rows) if rows else "No program was run in setup 2 so far."


def interval(median: Median) -> str:
    """The interval of a median in words."""
    if not median.known:
        return "none"
    end = "or more" if np.isinf(median.high) else f"to {number(median.high)}"
    return f"{number(median.low)} {end}"


def program_text(root: Path) -> str:
    """Per instance: which published medians come out, how well runs tell, and who stops first."""
    table = read(root)
    by_title = dict(medians(table))
    items = [
        f"- {sentence(title, by_title[title], orderings(table, instance))}"
        if title in by_title
        else f"- {title}: no program was run."
        for instance, title in TITLES.items()
    ]
    return "\n".join(wrapped(line).replace("\n", "\n  ") for line in items)


def sentence(title: str, every: Sequence[Median], orders: Sequence[str]) -> str:
    """What the runs on an instance tell."""
    clear = [median for median in every if median.known]
    parts = [f"{title}, {counts(every)} per program: {agreement(every)}"]
    if outside := [median for median in clear if not median.agrees]:
        ways = [f"{o.strategy} ({'later' if o.low > o.published else 'sooner'})" for o in outside]
        parts.append(f"The programs that stop sooner or later than published: {listed(ways)}")
    if closed := [median.high / median.low for median in clear if np.isfinite(median.high)]:
        low, high = number(min(closed)), number(max(closed))
        wide = low if low == high else f"{low} to {high}"
        parts.append(f"An interval's upper end is {wide} times its lower end")
    if unending := [median.strategy for median in clear if np.isinf(median.high)]:
        parts.append(f"No upper end for {listed(unending)}, whose largest runs reached the cap")
    if few := [median.strategy for median in every if not median.known]:
        parts.append(f"No interval for {listed(few)}; it takes {least_runs(0.5)} runs that stop")
    who = listed(orders) if orders else "no pair that is compared"
    return ". ".join([*parts, f"The order is told for {who}."])


def orderings(table: pd.DataFrame, instance: str) -> list[str]:
    """The compared programs whose medians differ, their ratio's interval being above or below 1."""
    rows = table[(table.instance == instance) & (table.reading == "program")]
    orders = []
    for row in lines(rows[rows.statistic == "median_ratio"]):
        if row.high < 1.0:
            orders.append(f"{row.algorithm} before {row.other}")
        elif row.low > 1.0:
            orders.append(f"{row.other} before {row.algorithm}")
    return orders


def program_summary(root: Path) -> str:
    """What the programs say of all published numbers, for README.md and docs/findings.md."""
    table, outcomes = read(root), _outcomes(root)
    by_title = {statistic: dict(medians(table, statistic)) for statistic in KINDS}
    rows = [
        {
            "environment": title,
            "runs per program": counts(by_title[statistic][title]).removesuffix(" runs"),
            "published medians of": kind,
            **_of_numbers(outcomes.get((title, statistic), pd.Series(dtype=object))),
            **_of_lagex(by_title[statistic][title]),
        }
        for title in TITLES.values()
        for statistic, kind in KINDS.items()
        if title in by_title[statistic]
    ]
    missing = [title for title in TITLES.values() if title not in by_title[TIMES]]
    text = (
        "LAGEX's authors released programs, for setup 1. We ran them there and on IMDB. The table "
        "counts the published medians that are compatible with them: inside the 95% interval of "
        f"ours, both samples' errors counted, which spans at most a factor of {WIDEST:g}. "
        "Violations are rounds whose policy breaks a limit. "
        f"{f'None was run on {listed(missing)}. ' if missing else ''}"
        "Check: `bestarm claims lagex`."
    )
    return "\n\n".join([wrapped(text), *([markdown(rows)] if rows else [])])


def _outcomes(root: Path) -> dict[tuple[str, str], pd.Series]:
    """By an environment's title and one of KINDS what the program says of published numbers."""
    claims = {claim.id: claim for claim in read_claims(root / "data/claims/lagex.yaml").claims}
    verdicts = as_frame(read_verdicts(root / "figures/claims.csv"))
    numbers = verdicts[verdicts.paper.eq("lagex") & verdicts.result.notna()]
    numbers = numbers[numbers.program.notna() & numbers.program.ne(NOT_RELEASED)]
    numbers = numbers.drop_duplicates("id")
    tested = [claims[str(name)].tested for name in numbers.id]
    return {
        key: rows.program
        for key, rows in groups(
            numbers.assign(
                title=[TITLES.get(str(row.instance), "") for row in tested],
                kind=[str(row.statistic) for row in tested],
            ),
            "title",
            "kind",
        )
    }


def _of_numbers(outcomes: pd.Series) -> dict[str, object]:
    """Of how many published numbers what is said, as parts of a line of a table."""
    seen = outcomes.value_counts().reindex([INSIDE, OUTSIDE, TOO_FEW], fill_value=0)
    return {
        "compatible": f"{seen[INSIDE]} of {len(outcomes)}",
        "differ": seen[OUTSIDE],
        "too few runs": seen[TOO_FEW],
    }


def _of_lagex(every: Sequence[Median]) -> dict[str, str]:
    """LAGEX's published median and the program's interval, as parts of a line of a table."""
    lagex = [median for median in every if median.strategy == "LAGEX"]
    return {
        "LAGEX: published": number(lagex[0].published) if lagex else "–",
        "LAGEX: its program's interval": interval(lagex[0]) if lagex else "not run",
    }


def agreement(every: Sequence[Median]) -> str:
    """For how many strategies the published median is in the program's interval."""
    clear = [median for median in every if median.known]
    if not clear:
        return "too few runs for an interval"
    agreeing = sum(median.agrees for median in clear)
    covered = sum(median.covered for median in every)
    return (
        "the program's 95% interval holds the published median for "
        f"{agreeing} of {len(clear)} strategies (our runs of the algorithm as written: "
        f"{covered} of {len(every)})"
    )


def counts(every: Sequence[Median]) -> str:
    """The number of runs of the programs."""
    low, high = min(median.n for median in every), max(median.n for median in every)
    return f"{low:,} runs" if low == high else f"{low:,} to {high:,} runs"


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
