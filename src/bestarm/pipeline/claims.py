"""The ledgers data/claims/PAPER.yaml: what a paper claims, and which rows of which tables test it.

    equals     a published number, by the margin            (kind number)
    exact      a published number, computed by us            (kind identity)
    at_least   ours exceeds a given value or another row
    at_most    ours is below a given value or another row
    about      ours is another row, by the margin
    never      of our runs none does it; the row counts those that do
    none       cannot be tested; the note says why

A row is named by the fields that tell it apart. `than`, `published`, `over` and the readings name
only what differs from `row`. `over` lists the parts of a claim that is made of several cases.
docs/analysis-plan.md says how claims are decided, verdicts.py decides them.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from bestarm.common.tables import lines
from bestarm.core.inputs import Input, InputError, PositiveFloat, load

#: The tables of verdicts under figures/: of the papers that make the totals, and of the others.
VERDICT_TABLES = ("claims.csv", "control.csv")
KINDS = ("number", "ordering", "guarantee", "identity")
#: Margins: a factor, for what is compared by its logarithm, or a difference, of shares.
FACTOR, SHARE = 1.2, 0.05


class RowOf(Input):
    """Which row of which table. Of a part only the fields that are named count."""

    target: str | None = None
    instance: str | None = None
    strategy: str | None = None
    setting: str | None = None
    statistic: str | None = None
    x: float | None = None
    reading: str | None = None  # the reading under test, if left out

    def but(self, *others: "RowOf | None") -> "RowOf":
        """This row, with the fields that others name in place of its own; null drops a field."""
        fields = self.model_dump()
        for other in filter(None, others):
            names = other.model_fields_set & RowOf.model_fields.keys()
            fields |= {name: getattr(other, name) for name in names}
        return RowOf(**fields)


class Part(RowOf):
    """One case of a claim: fields of its row, and what differs for the other side."""

    name: str
    than: RowOf | float | None = None


class ReadingOf(RowOf):
    """A reading under a name of its own, where it is one of the instance too."""

    name: str
    added: bool = False  # entered after the outcomes were seen (docs/analysis-plan.md)


class Added(Input):
    """Readings that were entered after the outcomes were seen."""

    added: list[str | ReadingOf]


#: What a list of readings is made of.
Entry = str | ReadingOf | Added


def named(entries: Iterable[Entry]) -> Iterator[ReadingOf]:
    """The readings of a list, in order."""
    for entry in entries:
        if isinstance(entry, Added):
            yield from (one.model_copy(update={"added": True}) for one in named(entry.added))
        else:
            yield entry if isinstance(entry, ReadingOf) else ReadingOf(name=entry)


class Claim(Input):
    """One checkable statement of a paper."""

    id: str
    where: str
    kind: Literal["number", "ordering", "guarantee", "identity"]
    statement: str  # {published} stands for the published number
    quote: str = ""  # the paper's words, where it has some; "…" stands for what is left out
    test: Literal["equals", "exact", "at_least", "at_most", "about", "never", "none"]
    row: RowOf | None = None
    published: RowOf | None = None  # where equals and exact find it; else as row
    than: RowOf | float | None = None  # the other side of at_least, at_most and about
    bound: RowOf | None = None  # what a published mean must not lie below
    over: list[Part] = Field(default=[])
    margin: PositiveFloat | None = None  # a factor above 1, or a difference of shares
    scale: Literal["factor", "difference"] | None = None
    group: str = ""  # numbers of one published row
    result: str = ""  # what one experiment gives for one strategy; its group, if left out
    beyond: bool = False  # more than the paper says: judged as the others, and in no total
    substitute: bool = False  # ours is on another simulator or data
    unchecked: bool = False  # second hand: not compared with the paper's text, hence without quote
    as_written: bool = True  # whether the first reading is the paper's own text
    readings: Annotated[list[Entry], Field(min_length=1)] | str = Field(default=["as-written"])
    note: str = ""

    @property
    def tested(self) -> RowOf:
        """Its row, which every claim has that can be tested."""
        if self.row is None:
            raise ValueError(f"{self.id}: has no row")
        return self.row

    @model_validator(mode="after")
    def _complete(self):
        needed = {
            **dict.fromkeys(("at_least", "at_most", "about"), ("row", "than")),
            **dict.fromkeys(("equals", "exact", "never"), ("row",)),
            "none": ("note",),
        }[self.test]
        for name in needed:
            if getattr(self, name) in (None, ""):
                raise ValueError(f"{name} is required by test {self.test}")
        kinds = {"equals": "number", "exact": "identity"}
        if self.test in kinds and self.kind != kinds[self.test]:
            raise ValueError(f"kind must be {kinds[self.test]} for test {self.test}")
        if self.kind == "number" and self.test not in ("equals", "none"):
            raise ValueError("a number is tested by equals")
        if self.margin is not None and not self.note:
            raise ValueError("note is required: why this margin")
        if self.unchecked and self.quote:
            raise ValueError("quote must be left out if unchecked: it would be second hand")
        return self

    @property
    def parts(self) -> list[Part]:
        """Its cases; of a claim without any, itself."""
        return self.over or [Part(name="")]

    @property
    def is_difference(self) -> bool:
        """Whether numbers are compared by their difference, not by their ratio."""
        if self.scale:
            return self.scale == "difference"
        return self.row is not None and str(self.row.statistic).startswith(("prob_", "share_"))

    @property
    def independent_result(self) -> str:
        """The result that it is a number of: one strategy in one environment."""
        return self.result or self.group or self.id

    def is_about(self, instances: list[str]) -> bool:
        """Whether a row that it is tested on has an instance that begins with one of these."""
        rows = [self.row, *self.over, *([self.than] if isinstance(self.than, RowOf) else [])]
        names = [str(row.instance) for row in rows if row is not None and row.instance]
        return any(name.startswith(tuple(instances)) for name in names)

    def margin_times(self, factor: float) -> float:
        """The margin, or a multiple of it, on the scale of the comparison."""
        if self.is_difference:
            return (SHARE if self.margin is None else self.margin) * factor
        return math.log(FACTOR if self.margin is None else self.margin) * factor


class Proof(Input):
    """Readings of some strategies whose promise has a proof."""

    strategies: list[str]
    readings: list[str]
    where: str  # the page and section that has it
    by: Literal["us", "authors"] = "us"  # whose proof it is
    condition: str = ""  # of the runs, if it is not for all


class Recovered(Input):
    """What a paper does not print of its experiments, so that its text alone fixes no result."""

    instances: list[str]  # how their names begin
    kinds: list[Literal["number", "ordering", "guarantee", "identity"]]  # of the claims concerned
    what: str  # is not printed
    source: str  # from where it was recovered


class ReleasedProgram(Input):
    """The authors' program: which instances it has, and the rows of the runs made of it."""

    instances: list[str]  # how the names of those that it was run on, or could be, begin
    strategies: list[str]
    row: RowOf | None = None  # None if there are no runs


class Ledger(Input):
    """data/claims/PAPER.yaml."""

    claims: list[Claim]
    sentence: str = ""  # what came out, for the headline
    recovered: list[Recovered] = Field(default=[])
    program: ReleasedProgram | None = None
    proven: list[Proof] = Field(default=[])
    lower_bounds: list[RowOf] = Field(
        default=[]
    )  # of mean stopping times, for every delta-correct strategy
    reading_sets: dict[str, list[Entry]] = Field(default={})

    @model_validator(mode="after")
    def _consistent(self):
        ids = [claim.id for claim in self.claims]
        if repeated := sorted({i for i in ids if ids.count(i) > 1}):
            raise ValueError(f"repeated id {repeated[0]}")
        groups: dict[str, Claim] = {}
        for claim in self.claims:
            if isinstance(claim.readings, str) and claim.readings not in self.reading_sets:
                raise ValueError(f"{claim.id}: no reading set is named {claim.readings}")
            first = groups.setdefault(claim.group, claim) if claim.group else claim
            if self.names_of(first) != self.names_of(claim):
                raise ValueError(f"{claim.id}: must have the readings of {first.id}, its group")
        return self

    def readings_of(self, claim: Claim, added: bool = True) -> list[ReadingOf]:
        """The readings a claim is tested under, the paper's text first.

        Without `added` those that were entered after the outcomes were seen are left out.
        """
        entries = claim.readings
        listed = self.reading_sets[entries] if isinstance(entries, str) else entries
        return [reading for reading in named(listed) if added or not reading.added]

    def recovered_for(self, claim: Claim) -> list[Recovered]:
        """What the text leaves open of a claim's experiment."""
        return [
            part
            for part in self.recovered
            if claim.kind in part.kinds and claim.is_about(part.instances)
        ]

    def names_of(self, claim: Claim) -> list[str]:
        return [reading.name for reading in self.readings_of(claim)]


class Published(NamedTuple):
    """A published number with its own precision: a line of data/published/PAPER.csv."""

    printed: str  # as printed or read off
    value: float
    n: float  # the paper's runs behind it; nan if it is computed
    half_unit: float  # half of the last printed digit, or the error of reading it off
    precision: str  # print, or plot
    cap: float  # at which the paper's runs stop; nan if they do not
    own_error: float  # standard error of its logarithm by the paper's own repetition; nan if none

    @property
    def rounding(self) -> float:
        """By how much its logarithm may be off, by its rounding or its plot."""
        part = self.half_unit / self.value if self.value else 1.0
        return -math.log1p(-part) if part < 1.0 else math.inf


def read_published(path: Path | str) -> pd.DataFrame:
    """data/published/PAPER.csv, the numbers as texts too. Raises InputError naming the file."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        table["printed"] = table.printed.where(table.printed != "", table.value)
        if "own_error" not in table:
            table["own_error"] = ""
        for name in ("value", "n", "half_unit", "cap", "own_error"):
            table[name] = pd.to_numeric(table[name])
        table["n"] = table.n.where(table.n > 0)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path}: is not a table of published values ({error})") from None
    return table


class Tables:
    """The targets' tables of one paper at one scale, and what it published.

    Claims ask for the same rows again and again, under other readings and margins. A row comes as
    a named tuple: reading a value of it takes a thousandth of the time of one of a pandas row.
    """

    def __init__(self, tables: Mapping[str, pd.DataFrame], published: pd.DataFrame | None = None):
        self.tables = tables
        self._published = pd.DataFrame() if published is None else published
        self._found: dict[str, Any] = {}

    def find(self, row: RowOf, reading: str) -> Any:
        """The one row meant, under a reading, with columns as attributes.

        Raises InputError when there is none, or several.
        """
        return self._once(f"{reading} {row!r}", lambda: self._find(row, reading))

    def find_if_there(self, row: RowOf) -> Any:
        """The one row meant, which names its reading; None if there is none.

        Raises InputError when there are several.
        """
        rows = self._rows(row, "")
        return self.find(row, "") if rows else None

    def published(self, row: RowOf) -> Published:
        """The published number of a row. Raises InputError when there is none, or several."""
        return self._once(repr(row), lambda: self._find_published(row))

    def _once(self, name: str, look_up: Callable[[], Any]) -> Any:
        if name not in self._found:
            self._found[name] = look_up()
        return self._found[name]

    def _find(self, row: RowOf, reading: str) -> Any:
        rows = self._rows(row, reading)
        if len(rows) != 1:
            wanted = _wanted(row, reading)
            raise InputError(
                f"claims: {len(rows)} rows of {row.target} match {wanted}, 1 is wanted"
            )
        return rows[0]

    def _rows(self, row: RowOf, reading: str) -> list[Any]:
        """All rows that are meant."""
        if row.target is None or row.target not in self.tables:
            raise InputError(f"claims name target {row.target}, which has no table")
        wanted = _wanted(row, reading)
        near = self._once(f"rows {row.target}", lambda: self._by_statistic(row.target))
        return [
            line
            for line in near[wanted.get("statistic")]
            if all(_is_near(getattr(line, k), v, k) for k, v in wanted.items())
        ]

    def _by_statistic(self, target: str | None) -> dict[str | None, list]:
        """The rows of a table by their statistic; all of them under None."""
        rows: dict[str | None, list] = defaultdict(list)
        for line in lines(self.tables[str(target)]):
            rows[line.statistic].append(line)
            rows[None].append(line)
        return rows

    def _find_published(self, row: RowOf) -> Published:
        names = ("target", "instance", "strategy", "statistic")
        wanted = {k: v for k, v in row.model_dump(exclude_none=True).items() if k in names}
        found = matching(self._published, wanted)
        if len(found) != 1:
            raise InputError(f"claims: {len(found)} published numbers match {wanted}, 1 is wanted")
        return Published(**{name: found.iloc[0][name] for name in Published._fields})


def _wanted(row: RowOf, reading: str) -> dict[str, Any]:
    """The columns of a row that is meant, with their values."""
    wanted = row.model_dump(exclude={"target"}, exclude_none=True)
    wanted.setdefault("reading", reading)
    return wanted


def _is_near(value: Any, wanted: Any, column: str) -> bool:
    """Whether a row has a wanted value; those of `x` may differ by rounding."""
    return abs(value - wanted) <= 1e-5 * abs(wanted) if column == "x" else bool(value == wanted)


def matching(table: pd.DataFrame, wanted: Mapping) -> pd.DataFrame:
    """The rows of a table with these values."""
    keep = np.ones(len(table), dtype=bool)
    for column, value in wanted.items():
        values = table[column]
        keep &= np.isclose(values, value, rtol=1e-5) if column == "x" else (values == value)
    return table[keep]


def read_ledger(path: Path) -> Ledger:
    """A paper's ledger. Raises InputError naming the file and the field."""
    return load(Ledger, path)
