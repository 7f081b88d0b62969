"""The verdicts as sentences and tables, for README.md and docs/."""

import textwrap

import pandas as pd

from bestarm.common.tables import groups, lines
from bestarm.pipeline.prose import markdown, number, wrapped
from bestarm.pipeline.scoreboard import MARGINS, expected_false_alarms
from bestarm.pipeline.verdicts import (
    AGREES,
    ALL_DIFFER,
    AS_WRITTEN,
    BROKEN_PROMISE,
    CANNOT_TELL,
    DIFFERS,
    NOT_TESTABLE,
    OTHER_READING,
    OURS,
    VERDICTS,
    WITHIN_MARGIN,
)

#: Tables show this many readings of a claim; the ledger has all.
MOST_READINGS = 6

#: Verdicts in a sentence.
SAID = {
    AS_WRITTEN: "agree{s} as written",
    OTHER_READING: "under another reading",
    BROKEN_PROMISE: "only under a reading that breaks its own promise",
    ALL_DIFFER: "differ{s} under every reading we tried",
    CANNOT_TELL: "cannot be told",
}
KINDS_SAID = {
    "number": "published numbers",
    "ordering": "orderings and trends",
    "guarantee": "guarantees and bounds",
    "identity": "identities (computed without sampling)",
}


def headline_text(headline: pd.DataFrame, ledger: pd.DataFrame) -> str:
    """The verdicts on published numbers as a sentence, those on all kinds of claims as a table."""
    of_plan = headline[headline.margins == 1.0]
    counts = of_plan.pivot_table(index="kind", columns="verdict", values="claims", aggfunc="sum")
    counts = counts.reindex(index=list(KINDS_SAID), columns=list(VERDICTS), fill_value=0)
    counts = counts.fillna(0).astype(int)
    table = counts.rename(index=KINDS_SAID).rename_axis(index="claims").reset_index()
    sampled, alarms = expected_false_alarms(ledger)
    note = (
        f"Each test rejects a true reading at most 5% of the time, so at most {alarms:.0f} of the "
        f"{sampled} claims that rest on sampling are expected to differ by chance. "
        "[The analysis plan](docs/analysis-plan.md) has the rules, frozen beforehand, and the "
        "same totals at half and at double margins."
    )
    return "\n\n".join([wrapped(f"**{_sentence(counts)}**"), markdown(table), wrapped(note)])


def _sentence(counts: pd.DataFrame) -> str:
    kind, said_of = next(iter(KINDS_SAID.items()))
    numbers = {verdict: int(counts[verdict][kind]) for verdict in VERDICTS}
    left_out = numbers[NOT_TESTABLE]
    said = [
        f"{numbers[verdict] or 'none'} {words.format(s='s' if numbers[verdict] == 1 else '')}"
        for verdict, words in SAID.items()
    ]
    untested = f" {left_out} more cannot be tested." if left_out else ""
    total = sum(numbers.values()) - left_out
    found = f"{', '.join(said[:-1])}, and {said[-1]}"
    return f"Of {total} {said_of} that can be tested {found}.{untested}"


def verdict_table(headline: pd.DataFrame) -> str:
    """Claims by paper, kind and verdict."""
    of_plan = headline[headline.margins == 1.0]
    counts = of_plan.pivot_table(
        index=["paper", "kind"], columns="verdict", values="claims", sort=False
    )
    counts = counts[counts.sum(axis=1) > 0][list(VERDICTS)].astype(int)
    counts.insert(0, "claims", counts.sum(axis=1))
    return markdown(counts.reset_index())


def margin_table(headline: pd.DataFrame) -> str:
    """The verdicts on numbers, and on what else has a margin, at multiples of the margins."""
    counts = headline.groupby(["kind", "margins", "verdict"], sort=False).claims.sum().unstack()
    counts = counts.loc[["number", "ordering"], list(VERDICTS)].reset_index()
    counts["margins"] = counts.margins.map({m: f"{m:g} times" for m in MARGINS})
    return markdown(counts)


def _ours(rows: pd.DataFrame) -> str:
    """What readings give, with intervals and outcomes, for a cell of a table."""
    said = {AGREES: "agrees", WITHIN_MARGIN: "within the margin", DIFFERS: "differs"}
    return "; ".join(
        f"{row.reading} {number(row.ours)} [{number(row.low)}, {number(row.high)}]"
        f" {said.get(row.outcome, row.outcome)}"
        for row in lines(rows)
    )


def differs_table(ledger: pd.DataFrame, paper: str) -> str:
    """The numbers of a paper that its own text does not give, and what readings do."""
    lines = []
    numbers = ledger[(ledger.paper == paper) & ledger.kind.eq("number") & ledger.reading.notna()]
    for name, rows in groups(numbers, "id"):
        if rows.verdict.iloc[0] not in (AS_WRITTEN, NOT_TESTABLE):
            under = rows.under.iloc[0]
            named = f": `{under}`" if isinstance(under, str) else ""
            lines.append(
                {
                    "claim": f"`{name}`",
                    "published": rows.published.iloc[0],
                    "ours, by reading": _ours(_telling(rows)),
                    "verdict": rows.verdict.iloc[0] + named,
                }
            )
    others = ledger[(ledger.paper == paper) & ledger.kind.ne("number") & ledger.reading.notna()]
    lines += [
        {
            "claim": f"`{name}`",
            "published": textwrap.shorten(rows.statement.iloc[0], 200),
            "ours, by reading": "; ".join(
                f"{reading}: {one.outcome.iloc[0]}" for reading, one in groups(rows, "reading")
            ),
            "verdict": rows.verdict.iloc[0],
        }
        for name, rows in groups(others, "id")
        if rows.verdict.iloc[0] in (OTHER_READING, BROKEN_PROMISE, ALL_DIFFER)
    ]
    return markdown(pd.DataFrame(lines)) if lines else "Nothing: every claim agrees as written."


def _telling(claim: pd.DataFrame) -> pd.DataFrame:
    """The readings to show: of many the paper's text and those that agree."""
    if len(claim) <= MOST_READINGS:
        return claim
    agree = claim.iloc[1:][claim.outcome.iloc[1:].isin([AGREES, WITHIN_MARGIN])]
    return pd.concat([claim.iloc[:1], agree]).head(MOST_READINGS)


def settle_table(ledger: pd.DataFrame, paper: str) -> str:
    """What would settle each claim of a paper that cannot be told."""
    open_ = ledger[(ledger.paper == paper) & ledger.verdict.eq(CANNOT_TELL)]
    why = {
        "published": "the paper's own sample, rounding or plot is too coarse",
        "capped": "runs were capped: a higher cap",
        "row": "the reading does not give the other numbers of the row",
    }
    lines = []
    for name, rows in groups(open_, "id"):
        undecided = rows[rows.reason.notna()]
        reasons = [why[r] for r in undecided.reason.unique() if r in why]
        ours = undecided[undecided.reason == OURS]
        if len(ours):
            least, most = ours.runs_needed.min(), ours.runs_needed.max()
            span = f"{least:,.0f}" if least == most else f"{least:,.0f} to {most:,.0f}"
            reasons.insert(0, f"{span} runs of ours instead of {ours.n.max():,.0f}")
        lines.append({"claim": f"`{name}`", "what would settle it": "; ".join(reasons)})
    return markdown(pd.DataFrame(lines)) if lines else "Nothing is open."
