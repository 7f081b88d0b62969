"""The verdicts tables, figures/claims.csv and control.csv: one line per claim, reading and part."""

import csv
import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pydantic
from pydantic import Field

from bestarm.core.files import write_text
from bestarm.core.inputs import InputError
from bestarm.verdicts.claims import Claim, ClaimsFile, described

#: The verdicts tables under figures/: of the papers that make the totals, and of the others.
VERDICT_TABLES = ("claims.csv", "control.csv")


class Line(pydantic.BaseModel):
    """One part of a claim under one reading, and what is the same in all lines of the claim.

    A text that is missing is empty, a number nan.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    paper: str = Field(description="whose claim")
    id: str = Field(description="of the claim, as in data/claims")
    kind: str = Field(description="`number`, `ordering`, `guarantee` or `identity`")
    where: str = Field(description="in the paper")
    statement: str = Field(description="what is claimed")
    test: str = Field(description="how it is tested")
    group: str = described("", "claims that only count together")
    result: str = described(
        "", "the independent result that a number belongs to; none if it is beyond the paper"
    )
    beyond: bool = described(False, "whether it says more than the paper: then it is in no total")
    substitute: bool = described(False, "whether something of ours stands for what is not public")
    published: str = described("", "the published number, as printed")
    precision: str = described("", "`print`, or `plot` if it is read off one")
    reading: str = described("", "of the paper, under which the rest of the line is")
    added: bool | None = described(
        None, "whether the reading was entered after the outcomes were seen"
    )
    part: str = described("", "of the claim")
    ours: float = described(math.nan, "our number")
    at_least: bool | None = described(
        None, "whether ours is a mean over capped runs, the published one not: it is larger"
    )
    low: float = described(math.nan, "lower end of its 95% interval")
    high: float = described(math.nan, "upper end")
    n: float = described(math.nan, "our runs")
    than: float = described(math.nan, "what it is compared with, if not published")
    ratio: float = described(math.nan, "published over ours, or ours over the other")
    ratio_low: float = described(math.nan, "lower end of its interval, both sides' errors counted")
    ratio_high: float = described(math.nan, "upper end")
    ratio_low_ours: float = described(math.nan, "lower end if only our error is counted")
    ratio_high_ours: float = described(math.nan, "upper end")
    margin: float = described(
        math.nan, "of equivalence: a share of the number, or a difference of shares"
    )
    p_for: float = described(math.nan, "p-value for the claim, before correction over readings")
    p_against: float = described(math.nan, "p-value against it")
    part_outcome: str = described("", "what follows for the part")
    outcome: str = described("", "what follows for the claim under the reading")
    reason: str = described("", "why it is open")
    runs_needed: float = described(
        math.nan, "runs of ours that would settle it, if the difference stays what it is"
    )
    resolution: float = described(math.nan, "the least difference that would show")
    known_to: float = described(math.nan, "of a number: half the width of its interval, as a share")
    close: bool | None = described(
        None, "of a number that differs: whether its whole interval lies within the margin"
    )
    power: float = described(
        math.nan, "at least the chance that the number would be confirmed if the reading were true"
    )
    validity: str = described(
        "", "of the strategy under the reading: does it err at most as often as delta?"
    )
    validity_than: str = described("", "of the strategy it is compared with")
    errs: bool | None = described(
        None, "whether it errs more often than delta though the paper's text is proven not to"
    )
    verdict: str = Field(description="on the claim, over all readings")
    under: str = described(
        "", "the reading that the verdict rests on; of those that differ, the nearest"
    )
    basis: str = described(
        "",
        "what the first reading is: `text`; `recovered`: the text in an environment that it "
        "does not print; `substitute`: the text on what we put in place of it; `not run`: "
        "another one",
    )
    text: str = described("", "outcome under the paper's own text, where that fixes the experiment")
    program: str = described(
        "", "of a number: whether runs of the authors' program are compatible with it"
    )
    program_value: float = described(math.nan, "what the program gives")
    program_low: float = described(math.nan, "lower end of its 95% interval")
    program_high: float = described(math.nan, "upper end; infinite if it lies among capped runs")
    program_n: float = described(math.nan, "runs of the program")
    program_spans: float = described(
        math.nan,
        "the factor between the ends of the interval of published over the program's, "
        "in which both samples count",
    )
    below_bound: bool | None = described(
        None, "whether the published number is below the paper's own lower bound"
    )
    note: str = described("", "what else there is to say")


#: What every column means.
MEANINGS = {name: str(field.description) for name, field in Line.model_fields.items()}
COLUMNS = list(MEANINGS)
TEXTS = [name for name, field in Line.model_fields.items() if field.annotation is str]


class JudgedClaim(NamedTuple):
    """A claim with its lines of the verdicts table; one that was not judged yet has none."""

    claim: Claim
    lines: list[Line]

    @property
    def verdict(self) -> str:
        """The verdict over all readings; empty if it was not judged yet."""
        return self.lines[0].verdict if self.lines else ""

    @property
    def under(self) -> str:
        """The reading that the verdict rests on; empty if there is none."""
        return self.lines[0].under if self.lines else ""

    @property
    def statement(self) -> str:
        """What is claimed, with the published number."""
        return self.lines[0].statement if self.lines else self.claim.statement

    @property
    def target(self) -> str:
        """The first table that it is tested on; empty if it cannot be tested."""
        return next(iter(self.claim.targets), "")

    @property
    def below_bound(self) -> bool:
        """Whether the published number is below the paper's own lower bound."""
        return any(line.below_bound for line in self.lines)

    @property
    def readings(self) -> dict[str, list[Line]]:
        """The lines of each reading, one per part, in the order of the claims file."""
        by_reading: dict[str, list[Line]] = {}
        for line in self.lines:
            if line.reading:
                by_reading.setdefault(line.reading, []).append(line)
        return by_reading


def judged_claims(claims: ClaimsFile, lines: Iterable[Line]) -> list[JudgedClaim]:
    """All claims of a paper in the order of its file, those without a verdict included.

    Args:
        claims: of the paper.
        lines: of the paper.
    """
    by_claim: dict[str, list[Line]] = {}
    for line in lines:
        by_claim.setdefault(line.id, []).append(line)
    return [JudgedClaim(claim, by_claim.get(claim.id, [])) for claim in claims.claims]


def read_verdicts(*paths: Path) -> list[Line]:
    """The lines of some verdicts tables.

    Raises:
        InputError: naming the file, which is not there or is no verdicts table.
    """
    return [line for path in paths for line in _read(path)]


def _read(path: Path) -> list[Line]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [{k: v for k, v in row.items() if v} for row in csv.DictReader(file)]
        return [Line.model_validate(row) for row in rows]
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (ValueError, csv.Error) as error:
        problem = str(error).splitlines()[:2]
        raise InputError(f"{path}: is not a table of verdicts ({' '.join(problem)})") from None


def as_frame(lines: Iterable[Line]) -> pd.DataFrame:
    """Lines as a data frame, in which missing texts are missing values."""
    table = pd.DataFrame([line.model_dump() for line in lines], columns=COLUMNS)
    return table.assign(**{name: table[name].replace("", None) for name in TEXTS})


def write_verdicts(lines: Iterable[Line], path: Path | str) -> None:
    """Write a verdicts table, numbers to 6 significant digits, published ones as printed."""
    table = as_frame(lines)
    write_text(path, table.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
