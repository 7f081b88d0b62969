"""The verdicts as sentences and tables, for README.md and docs/."""

import math
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from bestarm import registry
from bestarm.common.prose import Lines, as_table, markdown, number, wrapped
from bestarm.common.tables import groups, lines
from bestarm.verdicts.claims import read_claims
from bestarm.verdicts.outcome import (
    ALL_DIFFER,
    BASES,
    BY_READING,
    BY_TEXT,
    COMPATIBLE,
    CONFIRMED,
    INCONCLUSIVE,
    NOT_RUN,
    NOT_TESTABLE,
    OURS,
    VERDICTS,
)
from bestarm.verdicts.released import NOT_RELEASED, TOO_FEW
from bestarm.verdicts.scoreboard import (
    COARSE,
    DIFFERS_ALL,
    FROM_PROGRAM,
    FROM_READING,
    FROM_TEXT,
    MARGINS,
    NOT_FIXED,
    STANDINGS,
    expected_false_alarms,
    of_papers,
)

#: Tables name this many compatible readings of a number; claims.csv has all.
MOST_READINGS = 6
#: Runs of ours above which it does not matter how many it would take.
MOST_RUNS = 1_000_000
KINDS_SAID = {
    "number": "published numbers",
    "ordering": "orderings and trends",
    "guarantee": "guarantees and bounds",
    "identity": "identities (computed without sampling)",
}


def headline_text(root: Path, verdicts: pd.DataFrame) -> str:
    """How the published results stand, by paper, and the verdicts on all kinds of claims.

    Args:
        root: of the project.
        verdicts: claims.csv.
    """
    results = pd.read_csv(root / "figures/results.csv")
    totals = pd.read_csv(root / "figures/headline.csv")
    return "\n\n".join(
        [
            wrapped(f"**{headline_sentence(results)}**"),
            result_table(results),
            *(f"- {sentence}" for sentence in paper_sentences(root)),
            wrapped(
                "A result is what one experiment gives for one strategy in one environment; it "
                "stands in the first row that holds for all its published numbers. “Replicates” "
                "means that equivalence within 20% (shares: 0.05) is shown, not that the reading "
                "is what was run; which reading it is differs from result to result "
                "([figures/results.csv](figures/results.csv)). The last column leaves out readings "
                "that were [added after the outcomes were seen](docs/analysis-plan.md#readings-"
                "added-after-the-outcomes-were-seen)."
            ),
            kind_table(totals),
            wrapped(_note(verdicts)),
        ]
    )


def headline_sentence(results: pd.DataFrame) -> str:
    """The results in a sentence."""
    counts = results.standing.value_counts().reindex(STANDINGS, fill_value=0)
    from_text, inside = counts[FROM_TEXT], counts[FROM_PROGRAM]
    return (
        f"Of {len(results) - counts[NOT_TESTABLE]} published results that can be tested, "
        f"{from_text or 'none'} replicate{'' if from_text > 1 else 's'} from the paper's text "
        f"alone, {counts[FROM_READING]} from a named reading of it, {counts[COARSE]} are "
        f"compatible with a reading without being confirmed, and {inside} "
        f"lie{'s' if inside == 1 else ''} inside the interval of the authors' released program. "
        f"{counts[NOT_FIXED]} more rest on "
        "experiments that the text does not fix, and no one reading gives all their numbers; for "
        "some of them the released program has too few runs to say. "
        f"{counts[DIFFERS_ALL]} differ from every reading that we tried."
    )


@as_table
def result_table(results: pd.DataFrame) -> Lines:
    """Results by standing and paper, with the numbers that they make."""
    papers = [paper for paper in registry.COUNTED if paper in set(results.paper)]
    short = {paper: registry.PAPERS[paper].pages.short or paper for paper in papers}
    for standing in STANDINGS:
        here = results[results.standing == standing]
        cells = {short[paper]: _count(here[here.paper == paper]) for paper in papers}
        all_here = {"all": _count(here), "their numbers": int(here.numbers.sum())}
        before = {"all, without added readings": int((results.without_added == standing).sum())}
        yield {"published results": standing, **cells, **all_here, **before}


def _count(results: pd.DataFrame) -> str:
    """How many, and how well they are known."""
    known_to = results.known_to
    if results.empty or not (results.standing == COARSE).all():
        return str(len(results))
    if known_to.isna().any():
        return f"{len(results)} (± unknown)"
    low, high = (f"{100 * end:.0f}" for end in (known_to.min(), known_to.max()))
    return f"{len(results)} (± {low if low == high else f'{low} to {high}'}%)"


def paper_sentences(root: Path) -> Iterator[str]:
    """What came out, paper by paper, in a sentence each."""
    for paper in registry.COUNTED:
        path = root / "data/claims" / f"{paper}.yaml"
        sentence = read_claims(path).sentence if path.is_file() else ""
        if sentence:
            title = registry.PAPERS[paper].title
            yield wrapped(f"**{title}.** {sentence}").replace("\n", "\n  ")


def kind_table(totals: pd.DataFrame) -> str:
    """Claims of all papers by kind and verdict.

    Args:
        totals: headline.csv.
    """
    of_plan = totals[totals.margins == 1.0]
    counts = of_plan.pivot_table(index="kind", columns="verdict", values="claims", aggfunc="sum")
    counts = counts.reindex(index=list(KINDS_SAID), columns=list(VERDICTS), fill_value=0)
    counts = counts.fillna(0).astype(int)
    return markdown(counts.rename(index=KINDS_SAID).rename_axis(index="claims").reset_index())


def _note(verdicts: pd.DataFrame) -> str:
    sampled, alarms = expected_false_alarms(verdicts)
    return (
        f"Each test rejects a true reading at most 5% of the time, so at most {alarms:.0f} of the "
        f"{sampled} claims that rest on sampling are expected to differ by chance. "
        "[The analysis plan](docs/analysis-plan.md) has the rules, what was known when they were "
        "written, and the same totals at half and at double margins."
    )


def verdict_table(totals: pd.DataFrame) -> str:
    """Claims by paper, kind and verdict."""
    of_plan = totals[totals.margins == 1.0]
    counts = of_plan.pivot_table(
        index=["paper", "kind"], columns="verdict", values="claims", sort=False
    )
    counts = counts[counts.sum(axis=1) > 0][list(VERDICTS)].astype(int)
    counts.insert(0, "claims", counts.sum(axis=1))
    return markdown(counts.reset_index())


def margin_table(totals: pd.DataFrame) -> str:
    """The verdicts on numbers, and on what else has a margin, at multiples of the margins."""
    counts = totals.groupby(["kind", "margins", "verdict"], sort=False).claims.sum().unstack()
    counts = counts.loc[["number", "ordering"], list(VERDICTS)].reset_index()
    counts["margins"] = counts.margins.map({m: f"{m:g} times" for m in MARGINS})
    return markdown(counts)


def rate_table(root: Path) -> str:
    """How often the rule for numbers is right, from the kept table."""
    kept = pd.read_csv(root / "data/verdict-rates/rates.csv")
    truths = {
        apart: "the first reading is true" if apart == 0.0 else f"every reading is {apart:.0%} off"
        for apart in kept.apart.unique()
    }
    shares = {
        "first reading in the set": kept.first_in_set,
        "confirmed": kept.confirmed,
        "differs from every reading": kept.set_empty,
    }
    table = pd.DataFrame(
        {
            "truth": kept.apart.map(truths),
            "readings": kept.readings,
            "numbers in the row": kept.numbers,
            **{name: column.map("{:.1%}".format) for name, column in shares.items()},
            "power stated": kept.power.map("{:.0%}".format).where(kept.apart == 0.0, "–"),
        }
    )
    return markdown(table)


def our_number(row) -> str:
    """Our number with its interval; a mean over capped runs is a bound."""
    if row.at_least:
        return f"more than {number(row.low)}"
    if math.isnan(row.low):
        return number(row.ours)
    return f"{number(row.ours)} [{number(row.low)}, {number(row.high)}]"


def recovered_text(root: Path, paper: str) -> str:
    """What a paper's text leaves open of its experiments, and from where it was recovered."""
    recovered = read_claims(root / "data/claims" / f"{paper}.yaml").recovered
    rows = [
        {"experiments on": ", ".join(part.instances), "not printed": part.what, "from": part.source}
        for part in recovered
    ]
    return markdown(rows) if rows else "Nothing: the text fixes its experiments."


def differs_table(verdicts: pd.DataFrame, paper: str) -> str:
    """The claims of a paper that its text alone does not give, and what does, or comes nearest."""
    of_paper = of_papers(verdicts[(verdicts.paper == paper) & verdicts.reading.notna()])
    parts = []
    numbers = of_paper[of_paper.kind.eq("number")]
    rows = [
        _number_row(name, of_claim)
        for name, of_claim in groups(numbers, "id")
        if of_claim.verdict.iloc[0] not in (BY_TEXT, NOT_TESTABLE)
    ]
    if rows:
        parts.append(markdown(rows))
    rows = [
        _other_row(name, of_claim)
        for name, of_claim in groups(of_paper[of_paper.kind.ne("number")], "id")
        if of_claim.verdict.iloc[0] in (BY_READING, ALL_DIFFER)
        and not (of_claim.outcome.iloc[0] == CONFIRMED and of_claim.basis.iloc[0] != NOT_RUN)
    ]
    if rows:
        parts.append(markdown(rows))
    return "\n\n".join(parts) or "Nothing: the text gives every claim."


def _number_row(name: str, of_claim: pd.DataFrame) -> dict[str, str]:
    """A number: the text's value, the nearest reading's, and the program's.

    How well it is known: the narrowest interval of a reading that fits.
    """
    readings = list(lines(of_claim))
    first = readings[0]
    nearest = next(row for row in readings if row.reading == first.under)
    fitting = [row for row in readings if row.outcome in (CONFIRMED, COMPATIBLE)]
    others = [row.reading for row in fitting if row not in (first, nearest)]
    widths = [row.known_to for row in fitting if not math.isnan(row.known_to)]
    return {
        "claim": f"`{name}`",
        "published": first.published,
        BASES[first.basis]: f"`{first.reading}` {our_number(first)}: {first.outcome}",
        "nearest reading": "the same"
        if nearest is first
        else f"`{nearest.reading}` {our_number(nearest)}: {_how(nearest)}",
        "also compatible": _listed(others) or "–",
        "known to": f"± {100 * min(widths):.0f}%" if widths else "–",
        "released program": _program(first),
    }


def _how(row) -> str:
    """An outcome, and whether a number that differs is close."""
    return f"{row.outcome}{', but close' if row.close == True else ''}"  # noqa: E712 (or missing)


def _program(row) -> str:
    """What the released program gives for a number."""
    if row.program == NOT_RELEASED:
        return "not released"
    if not row.program_n:
        return "not run"
    runs = f"{int(row.program_n)} runs"
    if math.isnan(row.program_low):
        return f"{TOO_FEW} ({runs})"
    high = "∞" if math.isinf(row.program_high) else number(row.program_high)
    value = "beyond the cap" if math.isnan(row.program_value) else number(row.program_value)
    spans = ""
    if row.program == TOO_FEW and not math.isinf(row.program_high):
        spans = f" (with the paper's own error a factor {row.program_spans:.2g} wide)"
    return f"{value} [{number(row.program_low)}, {high}], {runs}: {row.program}{spans}"


def _other_row(name: str, of_claim: pd.DataFrame) -> dict[str, str]:
    by_outcome: dict[str, list[str]] = {}
    for reading, parts in groups(of_claim, "reading"):
        by_outcome.setdefault(parts.outcome.iloc[0], []).append(reading)
    return {
        "claim": f"`{name}`",
        "what it says": textwrap.shorten(of_claim.statement.iloc[0], 200),
        "by reading": "; ".join(
            f"{name}: {_listed(readings)}" for name, readings in by_outcome.items()
        ),
    }


def _listed(readings: list[str]) -> str:
    """The first MOST_READINGS readings, and how many more there are."""
    more = len(readings) - MOST_READINGS
    quoted = [f"`{reading}`" for reading in readings[:MOST_READINGS]]
    return ", ".join([*quoted, *([f"{more} more"] if more > 0 else [])])


def most_runs(n: float) -> str:
    """A number of runs; one that nobody will make is not printed."""
    return f"{n:,.0f}" if n <= MOST_RUNS else f"more than {MOST_RUNS:,}"


def settle_table(verdicts: pd.DataFrame, paper: str) -> str:
    """What would settle each claim of a paper that is compatible or inconclusive."""
    still_open = of_papers(verdicts[verdicts.paper == paper])
    still_open = still_open[still_open.verdict.isin([COMPATIBLE, INCONCLUSIVE])]
    why = {
        "published": "the paper's own sample, rounding or plot is too coarse",
        "capped": "runs were capped: a higher cap",
        "row": "the reading does not give the other numbers of the row",
    }
    rows = []
    for name, of_claim in groups(still_open, "id"):
        undecided = of_claim[of_claim.reason.notna()]
        reasons = [why[r] for r in undecided.reason.unique() if r in why]
        ours = undecided[undecided.reason == OURS]
        if len(ours):
            least, most = ours.runs_needed.min(), ours.runs_needed.max()
            span = most_runs(least) if least == most else f"{least:,.0f} to {most_runs(most)}"
            reasons.insert(0, f"{span} runs of ours instead of {ours.n.max():,.0f}")
        rows.append({"claim": f"`{name}`", "what would settle it": "; ".join(reasons)})
    return markdown(rows) if rows else "Nothing is open."
