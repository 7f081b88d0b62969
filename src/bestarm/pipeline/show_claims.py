"""Printing claims: what a paper says, what came out by reading, and the command that checks it."""

import math
import textwrap
from collections.abc import Iterator
from functools import cache
from typing import Any

import pandas as pd

from bestarm.common.files import data_folder
from bestarm.common.tables import groups, lines
from bestarm.core.inputs import InputError
from bestarm.pipeline import registry
from bestarm.pipeline.claims import VERDICT_TABLES, Claim, read_ledger
from bestarm.pipeline.names import advice
from bestarm.pipeline.output import WIDTH
from bestarm.pipeline.prose import number
from bestarm.pipeline.released import NOT_RELEASED
from bestarm.pipeline.report_verdicts import BASES
from bestarm.pipeline.verdicts import BY_TEXT, RECOVERED, SUBSTITUTE, VERDICTS

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
    if verdict and not any(known.startswith(verdict) for known in VERDICTS):
        raise InputError(f"--verdict {verdict}: must begin as one of: {'; '.join(VERDICTS)}")
    parts = []
    for file in VERDICT_TABLES:
        path = data_folder().parent / "figures" / file
        if not path.is_file():
            raise InputError(
                f"{path}: is not here; claims are shown in a checkout, or after a build"
            )
        known = {"ours": [""], "ratio": [""]}
        parts.append(pd.read_csv(path, keep_default_na=False, na_values=known))
    table = pd.concat(parts, ignore_index=True)
    for column, wanted in {"paper": paper, "id": id}.items():
        table = table[table[column] == wanted] if wanted else table
    table = table[table.verdict.str.startswith(verdict or "")]
    shown = 0
    for (of, claim_id), rows in groups(table, "paper", "id"):
        claim = claims_of(of)[claim_id]
        if target and target not in targets_of(claim):
            continue
        print("\n".join(described(of, claim, rows, all_readings=bool(id))), end="\n\n")
        shown += 1
    if not shown:
        asked = [f"--id {id}"] * bool(id) + [f"--verdict {verdict}"] * bool(verdict)
        known = [one for paper in registry.PAPERS for one in claims_of(paper)] if id else []
        near = advice(id or "", known, "")
        words = " ".join([name or "all papers", *asked])
        raise InputError(f"{words}: there is no such claim{near and '; ' + near}")


@cache
def claims_of(paper: str) -> dict[str, Claim]:
    """A paper's claims by id."""
    ledger = read_ledger(data_folder() / f"claims/{paper}.yaml")
    return {claim.id: claim for claim in ledger.claims}


def targets_of(claim: Claim) -> list[str]:
    """The tables that a claim is tested on."""
    rows = [claim.row, *claim.over]
    return list(dict.fromkeys(row.target for row in rows if row is not None and row.target))


def described(paper: str, claim: Claim, rows: pd.DataFrame, all_readings: bool) -> Iterator[str]:
    """A claim in lines of at most WIDTH columns."""
    first = next(iter(lines(rows)))
    under = f" ({first.under})" if first.under and first.verdict != BY_TEXT else ""
    yield from wrapped(f"{paper} {claim.id}: {first.verdict}{under}", "")
    source = ", read off a plot" if first.precision == "plot" else ""
    yield from wrapped(f"{claim.where}{source}: {first.statement}", "  ")
    if claim.quote:
        yield from wrapped(f"“{claim.quote}”", "  ")
    kept = [row for row in lines(rows) if row.reading]
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
    for target in targets_of(claim):
        yield from wrapped(f"check: bestarm verify {paper}/{target}", "  ")


def label(row: Any) -> str:
    """The reading, and the part of a claim that has several."""
    return f"{row.reading}, {row.part}" if row.part else str(row.reading)


def program(row: Any) -> str:
    """What the released program gives, and what follows."""
    if not float(row.program_n or 0):
        return "not run"
    runs = f"{float(row.program_n):,.0f} runs"
    if not row.program_low:
        return f"{runs}: {row.program}"
    low, high = float(row.program_low), float(row.program_high)
    span = f"to {number(high)}" if math.isfinite(high) else "or more"
    return f"{runs}: {number(low)} {span}, {row.program}"


def ours(row: Any) -> str:
    """Our number with its interval."""
    if row.at_least == "True":
        return f"more than {number(float(row.low))}"
    if math.isnan(row.ours):
        return "no number"
    if row.low == "" or row.high == "":
        return number(row.ours)
    return f"{number(row.ours)} ({number(float(row.low))} to {number(float(row.high))})"


def wrapped(text: str, indent: str) -> list[str]:
    """A text in lines, further ones indented by two more columns."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )
