"""Printing claims: what a paper says, what came out by reading, and the command that checks it."""

import math
import textwrap
from collections.abc import Iterator

from bestarm import registry
from bestarm.common.files import data_folder
from bestarm.common.names import advice
from bestarm.common.prose import number
from bestarm.core.inputs import InputError
from bestarm.users.output import WIDTH
from bestarm.verdicts.claims import read_claims
from bestarm.verdicts.outcome import BASES, BY_TEXT, RECOVERED, SUBSTITUTE, VERDICTS
from bestarm.verdicts.released import NOT_RELEASED
from bestarm.verdicts.table import (
    VERDICT_TABLES,
    JudgedClaim,
    Line,
    judged_claims,
    read_verdicts,
)

#: Readings shown of one claim among several.
FEW = 6


def show_claims(name: str | None, id: str | None, verdict: str | None) -> None:
    """Print the claims that are asked for.

    Args:
        name: PAPER or PAPER/TARGET, or None for all.
        id: of one claim, as in data/claims.
        verdict: how the verdict begins, such as "differs".

    Raises:
        InputError: there is no such paper, target, claim or verdict, or no table of verdicts.
    """
    paper, _, target = (name or "").partition("/")
    if paper and paper not in registry.PAPERS:
        near = advice(paper, registry.PAPERS, "")
        papers = ", ".join(registry.PAPERS)
        raise InputError(f"{name}: paper must be one of {papers}{near and '; ' + near}")
    if target and target not in (targets := registry.PAPERS[paper].targets):
        near = advice(target, targets, "")
        raise InputError(
            f"{name}: target must be one of {', '.join(targets)}{near and '; ' + near}"
        )
    if verdict and not any(word.startswith(verdict) for word in VERDICTS):
        raise InputError(f"--verdict {verdict}: must begin as one of: {'; '.join(VERDICTS)}")
    n_printed = 0
    every = all_claims()
    for of, claims in every.items():
        for claim in claims if paper in ("", of) else []:
            if id not in (None, claim.claim.id) or not claim.verdict.startswith(verdict or ""):
                continue
            if target and target not in claim.claim.targets:
                continue
            print("\n".join(described(of, claim, all_readings=bool(id))), end="\n\n")
            n_printed += 1
    if not n_printed:
        filters = [f"--id {id}"] * bool(id) + [f"--verdict {verdict}"] * bool(verdict)
        names = [claim.claim.id for claims in every.values() for claim in claims] if id else []
        near = advice(id or "", names, "")
        words = " ".join([name or "all papers", *filters])
        raise InputError(f"{words}: there is no such claim{near and '; ' + near}")


def all_claims() -> dict[str, list[JudgedClaim]]:
    """The claims of every paper that have a verdict. Raises InputError if there is no table."""
    paths = [data_folder().parent / "figures" / name for name in VERDICT_TABLES]
    for path in paths:
        if not path.is_file():
            raise InputError(
                f"{path}: is not here; claims are shown in a checkout, or after a build"
            )
    by_paper: dict[str, list[Line]] = {paper: [] for paper in registry.PAPERS}
    for line in read_verdicts(*paths):
        by_paper[line.paper].append(line)
    return {
        paper: [
            claim
            for claim in judged_claims(read_claims(data_folder() / f"claims/{paper}.yaml"), lines)
            if claim.lines
        ]
        for paper, lines in by_paper.items()
        if lines
    }


def described(paper: str, judged: JudgedClaim, all_readings: bool) -> Iterator[str]:
    """A claim in lines of at most WIDTH columns."""
    claim, first = judged.claim, judged.lines[0]
    under = f" ({first.under})" if first.under and first.verdict != BY_TEXT else ""
    yield from wrapped(f"{paper} {claim.id}: {first.verdict}{under}", "")
    source = ", read off a plot" if first.precision == "plot" else ""
    yield from wrapped(f"{claim.where}{source}: {first.statement}", "  ")
    if claim.quote:
        yield from wrapped(f"“{claim.quote}”", "  ")
    kept = [line for line in judged.lines if line.reading]
    # The nearest first; the paper's own text, which comes first, stays there.
    if not all_readings and len(kept) > FEW:
        near = sorted(kept[1:], key=lambda row: abs(math.log(row.ratio)) if row.ratio > 0 else 99.0)
        kept, left = [kept[0], *near[: FEW - 1]], len(kept) - FEW
    else:
        left = 0
    width = min(max((len(label(row)) for row in kept), default=0), WIDTH // 2)
    for row in kept:
        yield from wrapped(f"{label(row):{width}}  {ours(row)}: {row.part_outcome}", "    ")
    if first.basis in (RECOVERED, SUBSTITUTE):
        yield from wrapped(f"{first.reading}: {BASES[first.basis]}", "    ")
    if left:
        yield from wrapped(f"and {left} more: --id {claim.id} shows all", "    ")
    if first.program and first.program != NOT_RELEASED:
        yield from wrapped(f"released program, {program(first)}", "    ")
    if first.note:
        yield from wrapped(f"note: {first.note}", "  ")
    for target in claim.targets:
        yield from wrapped(f"check: bestarm verify {paper}/{target}", "  ")
    if all_readings:
        code = f"src/bestarm/{paper}/reference.py"
        yield from wrapped(f"readings: docs/readings.md; code: {code}", "  ")


def label(line: Line) -> str:
    """The reading, and the part of a claim that has several."""
    return f"{line.reading}, {line.part}" if line.part else line.reading


def program(line: Line) -> str:
    """What the released program gives, and what follows."""
    if not line.program_n > 0:
        return "not run"
    runs = f"{line.program_n:,.0f} runs"
    if math.isnan(line.program_low):
        return f"{runs}: {line.program}"
    high = line.program_high
    span = f"to {number(high)}" if math.isfinite(high) else "or more"
    return f"{runs}: {number(line.program_low)} {span}, {line.program}"


def ours(line: Line) -> str:
    """Our number with its interval."""
    if line.at_least:
        return f"more than {number(line.low)}"
    if math.isnan(line.ours):
        return "no number"
    if math.isnan(line.low) or math.isnan(line.high):
        return number(line.ours)
    return f"{number(line.ours)} ({number(line.low)} to {number(line.high)})"


def wrapped(text: str, indent: str) -> list[str]:
    """A text in lines, further ones indented by two more columns."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )
