"""The claims files data/claims/PAPER.yaml: what a paper claims, and which rows of tables test it.

    equals     a published number, by the margin            (kind number)
    exact      a published number, computed by us            (kind identity)
    at_least   ours exceeds a given value or another row
    at_most    ours is below a given value or another row
    about      ours is another row, by the margin
    never      of our runs none does it; the row counts those that do
    none       cannot be tested; the note says why

A row is named by the fields that tell it apart. `than`, `published`, `over` and the readings name
only what differs from `row`. `over` lists the parts of a claim that is made of several cases.
docs/analysis-plan.md says how claims are decided.
"""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from bestarm.core.inputs import Input, PositiveFloat, load

Kind = Literal["number", "ordering", "guarantee", "identity"]
KINDS: tuple[Kind, ...] = ("number", "ordering", "guarantee", "identity")
#: Margins: a factor, for what is compared by its logarithm, or a difference, of shares.
FACTOR, SHARE = 1.2, 0.05


def described(default: Any, description: str) -> Any:
    """A field with a default, and what it means."""
    return Field(default=default, description=description)


class TableRow(Input):
    """A row of a table. Of a part only the fields that are named count."""

    target: str | None = described(None, "the table: a target of the paper")
    instance: str | None = described(None, "its instance")
    strategy: str | None = described(None, "its strategy, as labelled in the table")
    setting: str | None = described(None, "its setting, as labelled in the table")
    statistic: str | None = described(None, "its statistic (docs/tables.md)")
    x: float | None = described(None, "its place on the horizontal axis")
    reading: str | None = described(None, "its reading; the one under test, if left out")

    def but(self, *others: "TableRow | None") -> "TableRow":
        """This row, with the fields that others name in place of its own; null drops a field."""
        fields = self.model_dump()
        for other in filter(None, others):
            names = other.model_fields_set & TableRow.model_fields.keys()
            fields |= {name: getattr(other, name) for name in names}
        return TableRow(**fields)


class Part(TableRow):
    """One case of a claim: fields of its row, and what differs for the other side."""

    name: str = Field(description="of the case, as the verdicts table has it")
    than: TableRow | float | None = described(
        None, "the other side in this case, if it differs from the claim's"
    )


class NamedReading(TableRow):
    """A reading under a name of its own, for one that is of the instance too."""

    name: str = Field(description="of the reading, as the verdicts table has it")
    added: bool = described(
        False, "whether it was entered after the outcomes were seen (docs/analysis-plan.md)"
    )


class AddedReadings(Input):
    """Readings that were entered after the outcomes were seen."""

    added: list[str | NamedReading] = Field(
        description="readings that were entered after the outcomes were seen"
    )


#: What a list of readings is made of.
Entry = str | NamedReading | AddedReadings


def named(entries: Iterable[Entry]) -> Iterator[NamedReading]:
    """The readings of a list, in order."""
    for entry in entries:
        if isinstance(entry, AddedReadings):
            yield from (
                reading.model_copy(update={"added": True}) for reading in named(entry.added)
            )
        else:
            yield entry if isinstance(entry, NamedReading) else NamedReading(name=entry)


class Claim(Input):
    """One checkable statement of a paper."""

    id: str = Field(description="unique in the file")
    where: str = Field(description="its place in the paper")
    kind: Kind = Field(
        description="a published number; an ordering or trend; a guarantee or bound; or an "
        "identity, which is computed without sampling"
    )
    statement: str = Field(
        description="what is claimed, in our words; {published} stands for the published number"
    )
    quote: str = described(
        "", "the paper's words, where it has some; “…” stands for what is left out"
    )
    test: Literal["equals", "exact", "at_least", "at_most", "about", "never", "none"] = Field(
        description="how it is tested: ours equals the published number within the margin, or as "
        "printed (exact); is above, below or about a value or another row; no run does it; or not"
    )
    row: TableRow | None = described(None, "our number")
    published: TableRow | None = described(
        None, "where equals and exact find the published number, if it differs from row"
    )
    than: TableRow | float | None = described(
        None, "the other side of at_least, at_most and about: a value, or another row"
    )
    bound: TableRow | None = described(
        None, "the lower bound that a published mean must not lie below"
    )
    over: list[Part] = described([], "the cases of a claim that is made of several")
    margin: PositiveFloat | None = described(
        None, "a factor above 1, or a difference of shares; the analysis plan's, if left out"
    )
    scale: Literal["factor", "difference"] | None = described(
        None, "whether numbers are compared by ratio or difference; by default shares by difference"
    )
    group: str = described("", "numbers of one published row: they only count together")
    result: str = described(
        "", "what one experiment gives for one strategy; the claim's group, if left out"
    )
    beyond: bool = described(
        False, "whether it says more than the paper: judged as the others, and in no total"
    )
    substitute: bool = described(False, "whether ours is on another simulator or data")
    unchecked: bool = described(
        False,
        "whether it is second hand: not compared with the paper's text, and hence without a quote",
    )
    as_written: bool = described(True, "whether the first reading is the paper's own text")
    readings: Annotated[list[Entry], Field(min_length=1)] | str = described(
        ["as-written"],
        "what it is tested under, the paper's text first; or the name of one of reading_sets",
    )
    note: str = described("", "what else there is to say; why it cannot be tested; why this margin")

    @property
    def tested(self) -> TableRow:
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
    def targets(self) -> list[str]:
        """The tables that it is tested on; none if it cannot be tested."""
        rows = [self.row, *self.over]
        return list(dict.fromkeys(row.target for row in rows if row is not None and row.target))

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
        rows = [self.row, *self.over, *([self.than] if isinstance(self.than, TableRow) else [])]
        names = [str(row.instance) for row in rows if row is not None and row.instance]
        return any(name.startswith(tuple(instances)) for name in names)

    def margin_times(self, factor: float) -> float:
        """The margin, or a multiple of it, on the scale of the comparison."""
        if self.is_difference:
            return (SHARE if self.margin is None else self.margin) * factor
        return math.log(FACTOR if self.margin is None else self.margin) * factor


class Proof(Input):
    """Readings of some strategies whose promise has a proof."""

    strategies: list[str] = Field(description="whose promise has a proof")
    readings: list[str] = Field(description="under which it has")
    where: str = Field(description="the page and section that has the proof")
    by: Literal["us", "authors"] = described("us", "whose proof it is")
    condition: str = described("", "on the runs, if the proof is not for all")


class Recovered(Input):
    """What a paper does not print of its experiments, so that its text alone fixes no result."""

    instances: list[str] = Field(description="how the names of the instances concerned begin")
    kinds: list[Kind] = Field(description="of the claims concerned")
    what: str = Field(description="what is not printed")
    source: str = Field(description="from where it was recovered")


class ReleasedProgram(Input):
    """The authors' program: which instances it has, and the rows of the runs made of it."""

    instances: list[str] = Field(
        description="how the names of the instances begin that it was run on, or could be"
    )
    strategies: list[str] = Field(description="that it has")
    row: TableRow | None = described(None, "of its runs; nothing if there are none")


class ClaimsFile(Input):
    """data/claims/PAPER.yaml."""

    claims: list[Claim] = Field(description="what the paper claims, in the paper's order")
    sentence: str = described("", "what came out, for the headline")
    recovered: list[Recovered] = described(
        [], "what the paper does not print of its experiments, and from where it was recovered"
    )
    program: ReleasedProgram | None = described(None, "the authors' released program, if any")
    proven: list[Proof] = described([], "promises that have a proof")
    lower_bounds: list[TableRow] = described(
        [], "rows of lower bounds on the mean stopping time of every delta-correct strategy"
    )
    reading_sets: dict[str, list[Entry]] = described(
        {}, "lists of readings that several claims are tested under, by name"
    )

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
            if self.reading_names(first) != self.reading_names(claim):
                raise ValueError(f"{claim.id}: must have the readings of {first.id}, its group")
        return self

    def tested_readings(self, claim: Claim, added: bool = True) -> list[NamedReading]:
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

    def reading_names(self, claim: Claim) -> list[str]:
        return [reading.name for reading in self.tested_readings(claim)]


def read_claims(path: Path) -> ClaimsFile:
    """A claims file. Raises InputError naming the file and the field."""
    return load(ClaimsFile, path)
