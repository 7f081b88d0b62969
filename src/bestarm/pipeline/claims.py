"""Claims of a paper, tested on the targets' tables; every verdict is computed here.

Each claim is tested under each reading of the paper that it is about. A test compares two
numbers, each with a standard error read off its 95% interval, through a normal statistic:

    equals     the published value and ours do not differ, two-sided at 5%. The published value
               carries the sampling error of its own runs, taken as ours scaled to their number,
               and the rounding of its last printed digit.
    exact      the published value is ours, rounded as printed.
    at_least   ours exceeds a given value or row, one-sided at 5%.
    at_most    ours is below a given value or row, one-sided at 5%.

Claims of the last two kinds gain by trying several readings, so the p-values of all but the
paper's own text are corrected over the readings tried (Holm). A claim on a number that is
undefined under every reading (too few runs) is not testable. Of several readings that support a
claim the verdict names the first that does not surely err more than delta, if there is one.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field, model_validator
from scipy import special

from bestarm.core.estimates import wilson
from bestarm.core.inputs import Input, InputError, PositiveInt, load
from bestarm.pipeline.files import write_text

LEVEL = 0.05
SE_PER_HALF_WIDTH = 1.0 / special.ndtri(1 - LEVEL / 2)

REPRODUCED = "reproduced"
UNDER_READING = "reproduced under reading {}"
NOT_REPRODUCED = "not reproduced"
CONTRADICTS = "contradicts the paper's own bound"
NOT_TESTABLE = "not testable"
VALID, INVALID = "valid", "invalid: errs more than delta"


class RowOf(Input):
    """Which row of which table; columns left out must not be needed to tell rows apart."""

    target: str
    statistic: str
    strategy: str | None = None
    instance: str | None = None
    setting: str | None = None
    x: float | None = None
    reading: str | None = None  # the reading under test when left out


class Published(Input):
    """A printed number and its own precision."""

    value: float
    n: PositiveInt | None = None  # the paper's runs behind it; none for a computed number
    half_unit: Annotated[float, Field(ge=0.0)] = 0.0  # half of its last printed digit
    precision: Literal["table", "text", "figure"]


class Claim(Input):
    """One checkable statement of a paper."""

    id: str
    where: str
    statement: str
    test: Literal["equals", "exact", "at_least", "at_most", "none"]
    row: RowOf | None = None
    published: Published | None = None
    than: RowOf | float | None = None  # the other side of at_least and at_most
    bound: RowOf | None = None  # what a published value must not be below
    readings: Annotated[list[str], Field(min_length=1)]  # the first is the paper's text
    note: str = ""

    @model_validator(mode="after")
    def _complete(self):
        needed = {
            "equals": ("row", "published"),
            "exact": ("row", "published"),
            "at_least": ("row", "than"),
            "at_most": ("row", "than"),
            "none": ("note",),
        }[self.test]
        for name in needed:
            if getattr(self, name) in (None, ""):
                raise ValueError(f"{name} is required by test {self.test}")
        return self


class Ledger(Input):
    """data/claims/PAPER.yaml."""

    claims: list[Claim]


class Tables:
    """The targets' tables of one scale, read when asked for."""

    def __init__(self, tables: Mapping[str, pd.DataFrame]):
        self._tables = tables

    def find(self, row: RowOf, reading: str) -> pd.Series:
        """The one row meant, under a reading. Raises InputError when there is none, or several."""
        if row.target not in self._tables:
            raise InputError(f"claims name target {row.target}, which has no table")
        table = self._tables[row.target]
        wanted = row.model_dump(exclude={"target"}, exclude_none=True)
        wanted.setdefault("reading", reading)
        for column, value in wanted.items():
            same = (
                np.isclose(table.x, value, rtol=1e-5) if column == "x" else table[column] == value
            )
            table = table[same]
        if len(table) != 1:
            raise InputError(
                f"claims: {len(table)} rows of {row.target} match {wanted}, 1 is wanted"
            )
        return table.iloc[0]

    def error_rate(self, row: RowOf, found: pd.Series) -> pd.Series | None:
        """The error rate of the cell a row belongs to, where its table has it."""
        table = self._tables[row.target]
        for column in ("instance", "strategy", "setting", "reading"):
            table = table[table[column] == found[column]]
        same_x = table.x.isna() if math.isnan(found.x) else table.x == found.x
        table = table[same_x & (table.statistic == "error_rate")]
        return table.iloc[0] if len(table) == 1 else None


def standard_error(row: pd.Series, towards: float) -> float:
    """A row's standard error, from the side of its interval that faces another number."""
    side = row.high - row.value if towards > row.value else row.value - row.low
    return 0.0 if math.isnan(side) else max(side, 0.0) * SE_PER_HALF_WIDTH


def published_error(published: Published, ours: pd.Series) -> float:
    """The sampling error of a published number: ours, at the paper's number of runs."""
    if published.n is None:
        return 0.0
    if ours.unit == "share":
        low, high = wilson(published.value, published.n)
        side = high - published.value if ours.value > published.value else published.value - low
        return side * SE_PER_HALF_WIDTH
    spread = standard_error(ours, published.value) * math.sqrt(ours.n)
    return spread / math.sqrt(published.n)


def p_value(difference: float, error: float) -> float:
    """One-sided p-value of `difference` > 0 against 0; differences without error decide at once."""
    if error == 0.0:
        return 0.0 if difference > 0.0 else 1.0
    return float(special.ndtr(-difference / error))


def holm(p_values: list[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    highest = 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted.tolist()


def _test(claim: Claim, tables: Tables, reading: str) -> dict:
    """Test a claim under one reading: our number, the p-value, and whether the bound is broken."""
    ours = tables.find(claim.row, reading)
    result = {"ours": ours.value, "low": ours.low, "high": ours.high, "n": ours.n}
    if claim.test in ("equals", "exact"):
        published = claim.published
        gap = max(0.0, abs(ours.value - published.value) - published.half_unit * (1 + 1e-9))
        error = math.hypot(standard_error(ours, published.value), published_error(published, ours))
        result["p"] = min(1.0, 2.0 * p_value(gap, error)) if gap > 0.0 else 1.0
        result["supported"] = result["p"] >= LEVEL
        if claim.bound:
            shortfall = tables.find(claim.bound, reading).value - published.value
            result["bound_p"] = p_value(
                shortfall - published.half_unit, published_error(published, ours)
            )
    else:
        other, error_of_other = claim.than, 0.0
        if isinstance(claim.than, RowOf):
            row = tables.find(claim.than, reading)
            other, error_of_other = row.value, standard_error(row, ours.value)
        sign = 1.0 if claim.test == "at_least" else -1.0
        error = math.hypot(standard_error(ours, other), error_of_other)
        result["than"] = other
        result["p"] = p_value(sign * (ours.value - other), error)
    result["valid"] = _validity(tables, claim.row, ours)
    return result


def _validity(tables: Tables, row: RowOf, ours: pd.Series) -> str:
    """Whether the reading keeps its promise on this cell: an error rate of at most delta."""
    rate = tables.error_rate(row, ours)
    settings = dict(part.split("=", 1) for part in ours.setting.split(",") if "=" in part)
    if rate is None or "delta" not in settings:
        return ""
    return INVALID if rate.low > float(settings["delta"]) else VALID


def judge(claim: Claim, tables: Tables) -> list[dict]:
    """The ledger's lines of one claim, a line a reading, all with the claim's verdict."""
    head = {
        "id": claim.id,
        "where": claim.where,
        "statement": claim.statement,
        "test": claim.test,
        "published": claim.published.value if claim.published else math.nan,
        "precision": claim.published.precision if claim.published else "",
    }
    if claim.test == "none":
        return [{**head, "reading": "", "verdict": NOT_TESTABLE, "note": claim.note}]
    results = {reading: _test(claim, tables, reading) for reading in claim.readings}
    if claim.test in ("at_least", "at_most"):
        adjusted = holm([result["p"] for result in results.values()])
        for reading, corrected in zip(claim.readings[1:], adjusted[1:], strict=True):
            results[reading]["p"] = corrected
        for result in results.values():
            result["supported"] = result["p"] < LEVEL
    verdict = _verdict(claim.readings, results)
    return [
        {**head, "reading": reading, **result, "verdict": verdict, "note": claim.note}
        for reading, result in results.items()
    ]


def _verdict(readings: list[str], results: dict[str, dict]) -> str:
    if all(math.isnan(result["ours"]) for result in results.values()):
        return NOT_TESTABLE
    if all(result.get("bound_p", 1.0) < LEVEL for result in results.values()):
        return CONTRADICTS
    supported = [reading for reading in readings if results[reading]["supported"]]
    if not supported:
        return NOT_REPRODUCED
    if supported[0] == readings[0]:
        return REPRODUCED
    valid = [reading for reading in supported if results[reading]["valid"] != INVALID]
    if valid:
        return UNDER_READING.format(valid[0])
    return UNDER_READING.format(supported[0]) + ", which errs more than delta"


def reading_of(verdict: str) -> str:
    """The reading that a verdict names, or nothing."""
    head, _, reading = verdict.partition(UNDER_READING.format(""))
    return "" if head else reading.partition(",")[0]


COLUMNS = [
    *("paper", "id", "where", "statement", "test", "published", "precision", "reading"),
    *("ours", "low", "high", "n", "than", "p", "supported", "bound_p", "valid", "verdict", "note"),
]


def judge_all(paper: str, ledger: Path, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Test every claim of a paper. Raises InputError naming the file where a claim is unusable."""
    claims = load(Ledger, ledger).claims
    repeated = sorted({c.id for c in claims if [d.id for d in claims].count(c.id) > 1})
    if repeated:
        raise InputError(f"{ledger}: claims: repeated id {repeated[0]}")
    try:
        lines = [line for claim in claims for line in judge(claim, Tables(tables))]
    except InputError as error:
        raise InputError(f"{ledger}: {error}") from None
    return pd.DataFrame(lines).assign(paper=paper).reindex(columns=COLUMNS)


def write_ledger(ledger: pd.DataFrame, path: Path | str) -> None:
    """Write the ledger, numbers to 4 significant digits."""
    write_text(path, ledger.to_csv(index=False, float_format="%.4g", lineterminator="\n"))
