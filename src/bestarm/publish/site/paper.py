"""What a paper's page says: its targets with their claims and code, and its experiments."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from bestarm import registry
from bestarm.common import prose
from bestarm.common.paper import Cell, Experiment, Target
from bestarm.common.tables import read_table
from bestarm.core.inputs import InputError
from bestarm.publish.site.chart import chart
from bestarm.publish.site.code import Code
from bestarm.publish.site.content import stem
from bestarm.publish.site.pictures import log_axes, widths
from bestarm.registry.scales import Scale
from bestarm.verdicts.claims import TableRow
from bestarm.verdicts.table import JudgedClaim


class TargetView(NamedTuple):
    """A target on its paper's page; a part that has not been built is None."""

    target: Target
    table: pd.DataFrame | None
    picture: bytes | None
    widths: tuple[int, int]  # of the picture, in CSS pixels: the least, and the most
    caption: str
    chart: dict | None
    claims: list[JudgedClaim]
    code: list[tuple[str, str]]  # what it is, and its page

    @property
    def built(self) -> bool:
        return self.table is not None and self.picture is not None


class ExperimentView(NamedTuple):
    """An experiment: its cells as a table, and how often each is run."""

    name: str
    cells: pd.DataFrame
    replications: int
    strategies: list[tuple[str, str | None]]  # name, and the page of its code


def target_view(
    root: Path, paper: str, target: Target, claims: list[JudgedClaim], code: Code, caption: str
) -> TargetView:
    """A target with the claims that are tested on it (of all those of the paper)."""
    path = stem(root, paper, target.name)
    csv, svg = Path(f"{path}.csv"), Path(f"{path}.svg")
    table = read_table(csv) if csv.is_file() else None
    picture = svg.read_bytes() if svg.is_file() else None
    own = [claim for claim in claims if claim.target == target.name]
    entry = registry.PAPERS[paper]
    plots = entry.plots
    drawn = None
    if table is not None:
        first = plots.first.get(target.name, "")
        drawn = chart(table, plots.styles, first, entry.extra_columns, log_axes(picture))
    pieces = {
        "the plot": plots.draw[target.name],
        "the table": target.tabulate,
        "its geometry": target.geometry,
    }
    pages = [(label, code.of(piece)) for label, piece in pieces.items() if piece is not None]
    links = [(label, page) for label, page in pages if page]
    return TargetView(target, table, picture, widths(picture or b""), caption, drawn, own, links)


def experiment_view(paper: str, experiment: Experiment, scale: Scale, code: Code) -> ExperimentView:
    """An experiment of a paper at a scale."""
    cells = pd.DataFrame(
        [(c.instance, c.label, c.setting_label, c.reading) for c in experiment.cells],
        columns=["instance", "strategy", "setting", "reading"],
    )
    names = dict.fromkeys(cell.strategy for cell in experiment.cells)
    strategies = [(name, _strategy_page(paper, name, code)) for name in names]
    size = scale.papers[paper][experiment.name]
    return ExperimentView(experiment.name, cells, size.replications, strategies)


def _strategy_page(paper: str, name: str, code: Code) -> str | None:
    """Where a strategy is written, or where it is put together."""
    simulation = registry.PAPERS[paper].simulation
    if simulation.steps is None:
        return code.of(simulation.prepare)
    reading = simulation.readings[name].default
    cell = Cell(simulation.easy.name, name, {}, reading)
    return code.of(simulation.steps(simulation.easy, cell).strategy.choose)


def printed(judged: JudgedClaim) -> str:
    """The numbers that the paper prints for a claim; empty if it prints none."""
    numbers = {line.published for line in judged.lines}
    return ", ".join(sorted(map(prose.printed, numbers - {""})))


def threshold(judged: JudgedClaim) -> str:
    """What our test of a claim without a printed number asks for; empty for other claims."""
    claim = judged.claim
    if claim.test in ("none", "equals", "exact"):
        return ""
    if claim.test == "never":
        return "never"
    side = {"at_least": "above", "at_most": "below", "about": "about"}[claim.test]
    if not isinstance(claim.than, TableRow):
        limits = {p.than for p in claim.over if isinstance(p.than, float)}
        limits = limits or {float(claim.than or 0.0)}
        return f"{side} {', '.join(f'{limit:,.6g}' for limit in sorted(limits))}"
    other, row = (
        claim.than.model_dump(exclude_none=True),
        claim.tested.model_dump(exclude_none=True),
    )
    differs = [_said(key, str(value)) for key, value in other.items() if row.get(key) != value]
    named = ", ".join(dict.fromkeys(filter(None, differs)))
    return f"{side} that of {named}" if len(claim.over) < 2 else f"{side} others"


def _said(field: str, value: str) -> str:
    """A field by which two rows differ, in words; empty if it goes without saying."""
    if field == "target" or value == "exact":
        return ""
    if field == "statistic":
        return value.replace("_", " ").replace(":", ": ")
    return value if field == "strategy" else f"{field} {value}"


def check_targets(paper: str, claims: list[JudgedClaim]) -> None:
    """Raise InputError for a claim on a target that the paper does not have."""
    targets = set(registry.PAPERS[paper].targets)
    for claim in claims:
        if claim.target and claim.target not in targets:
            raise InputError(
                f"data/claims/{paper}.yaml: {claim.claim.id}: row.target: must be among "
                f"{', '.join(sorted(targets))}, got {claim.target}"
            )
