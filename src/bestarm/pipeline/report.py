"""The computed parts of README.md and docs/: verdicts from claims.csv, speeds from the bench.

A page marks such a part with `<!-- computed: NAME -->` and `<!-- end -->`; what is between them is
written here. A number in the middle of a sentence stands between
`<!-- ledger: PAPER CLAIM READING COLUMN -->` and `<!-- end -->`. A page needs the tables of its own
parts and no others.
"""

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import pandas as pd

from bestarm.common.prose import wrapped
from bestarm.core.files import write_text
from bestarm.core.inputs import InputError, read_text
from bestarm.pipeline import registry
from bestarm.pipeline.captions import read_captions
from bestarm.pipeline.citation import citation_files
from bestarm.pipeline.findings import as_markdown, look_up, read_findings
from bestarm.pipeline.report_arena import (
    arena_cells,
    arena_errors,
    arena_submissions,
    arena_table,
    arena_text,
)
from bestarm.pipeline.report_certified import cost_text, error_table, menu_table, part_table
from bestarm.pipeline.report_control import control_text
from bestarm.pipeline.report_delayed import coverage_table, prior_table, scale_table
from bestarm.pipeline.report_drivers import driver_table
from bestarm.pipeline.report_guarantees import (
    assumption_table,
    boundary_table,
    cost_table,
    crossing_table,
    drift_table,
    patient_table,
    rate_price_table,
    rates_table,
    sigma_table,
    threshold_table,
)
from bestarm.pipeline.report_mutants import mutant_table
from bestarm.pipeline.report_programs import program_summary, program_table, program_text
from bestarm.pipeline.report_speed import (
    FIRST,
    INSTALL,
    REBUILD,
    cold_table,
    command_table,
    growth_table,
    import_table,
    peer_table,
    speed_table,
    strategy_table,
    suite_table,
    time_table,
)
from bestarm.pipeline.report_tables import dictionary
from bestarm.pipeline.report_users import example_table, segment_table
from bestarm.pipeline.report_verdicts import (
    differs_table,
    headline_text,
    margin_table,
    rate_table,
    recovered_text,
    settle_table,
    verdict_table,
)
from bestarm.pipeline.schema import schema_files
from bestarm.verdicts.table import as_frame, read_verdicts

#: Pages with computed parts, and which.
PAGES = {
    "README.md": (
        *(
            "headline",
            "control",
            "forest",
            "findings",
            "programs summary",
            "certified",
            "arena summary",
        ),
        *("first commands", "install", "rebuild commands"),
    ),
    "docs/findings.md": ("verdicts", "programs summary"),
    "docs/arena.md": ("arena", "arena instances", "arena errors", "arena submissions"),
    "docs/usage.md": ("segments", "example", "menus"),
    "docs/guarantees.md": (
        *("thresholds", "crossings", "assumptions", "rates", "drift"),
        *("rate prices", "unknown sigma", "boundary errors", "proof costs"),
        *("mixture priors", "mixture coverage", "mixture scales"),
        *("patient", "certified parts", "certified errors"),
    ),
    "docs/analysis-plan.md": ("verdict rates", "margins"),
    "docs/mutants.md": ("mutants",),
    "docs/speed.md": (
        "times",
        "cold starts",
        "imports",
        "tests",
        "strategies",
        "growth",
        "peers",
        "speed",
    ),
    "docs/design.md": tuple(f"drivers {paper}" for paper in registry.PAPERS),
    "docs/tables.md": ("tables",),
    "docs/readings.md": ("programs", "programs medians"),
    "docs/applied-studies.md": (),
    **{
        f"docs/authors/{paper}.md": (f"recovered {paper}", f"differs {paper}", f"settle {paper}")
        for paper in registry.COUNTED
    },
}

#: A number of the ledger within a sentence of a page.
INLINE = re.compile(r"(<!-- ledger: (\S+) (\S+) (\S+) (\S+) -->).*?(<!-- end -->)")


class Project:
    """The files of a checkout that several parts are made of, each read when first asked for."""

    def __init__(self, root: Path):
        self.root = root

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """The lines of claims.csv."""
        return as_frame(read_verdicts(self.root / "figures/claims.csv"))

    @cached_property
    def headline(self) -> pd.DataFrame:
        """Claims by kind and verdict."""
        return pd.read_csv(self.root / "figures/headline.csv")

    @cached_property
    def bench(self) -> pd.DataFrame:
        """What was measured."""
        return pd.read_csv(self.root / "bench/bench.csv")


def forest(root: Path) -> str:
    """The forest plot and its caption."""
    caption = read_captions(root / "figures/captions.csv").get(("", "forest"), "")
    title = "Published over ours for every number that can be tested"
    return f"[![{title}](figures/forest.svg)](figures/forest.svg)\n\n{wrapped(f'*{caption}*')}"


def _of_paper(paper: str) -> dict[str, Callable[[Project], str]]:
    """The parts of the page for a paper's authors."""
    return {
        f"recovered {paper}": lambda p: recovered_text(p.root, paper),
        f"differs {paper}": lambda p: differs_table(p.verdicts, paper),
        f"settle {paper}": lambda p: settle_table(p.verdicts, paper),
    }


#: What makes each part.
PARTS: dict[str, Callable[[Project], str]] = {
    "headline": lambda p: headline_text(p.root, p.verdicts),
    "control": lambda p: control_text(p.root),
    "forest": lambda p: forest(p.root),
    "verdicts": lambda p: verdict_table(p.headline),
    "verdict rates": lambda p: rate_table(p.root),
    "margins": lambda p: margin_table(p.headline),
    "findings": lambda p: as_markdown(read_findings(p.root), p.verdicts),
    "arena summary": lambda p: arena_text(p.root),
    "arena": lambda p: arena_table(p.root),
    "arena instances": lambda p: arena_cells(p.root),
    "arena errors": lambda p: arena_errors(p.root),
    "arena submissions": lambda p: arena_submissions(p.root),
    "segments": lambda p: segment_table(p.root),
    "example": lambda p: example_table(p.root),
    "programs summary": lambda p: program_summary(p.root, p.verdicts),
    "programs": lambda p: program_text(p.root),
    "programs medians": lambda p: program_table(p.root),
    "certified": lambda p: cost_text(p.root),
    "menus": lambda p: menu_table(p.root),
    "certified parts": lambda p: part_table(p.root),
    "certified errors": lambda p: error_table(p.root),
    "mixture priors": lambda p: prior_table(p.root),
    "mixture coverage": lambda p: coverage_table(p.root),
    "mixture scales": lambda p: scale_table(p.root),
    "patient": lambda p: patient_table(p.root),
    "thresholds": lambda _: threshold_table(),
    "crossings": lambda p: crossing_table(p.root),
    "assumptions": lambda p: assumption_table(p.root),
    "rates": lambda p: rates_table(p.root),
    "drift": lambda p: drift_table(p.root),
    "rate prices": lambda p: rate_price_table(p.root),
    "unknown sigma": lambda p: sigma_table(p.root),
    "boundary errors": lambda p: boundary_table(p.root),
    "proof costs": lambda p: cost_table(p.root),
    "first commands": lambda p: command_table(p.bench, FIRST),
    "install": lambda p: command_table(p.bench, INSTALL),
    "rebuild commands": lambda p: command_table(p.bench, REBUILD),
    "times": lambda p: time_table(p.bench),
    "cold starts": lambda p: cold_table(p.bench),
    "imports": lambda p: import_table(p.bench),
    "tests": lambda p: suite_table(p.bench),
    "mutants": lambda p: mutant_table(p.root),
    "strategies": lambda p: strategy_table(p.bench),
    "growth": lambda p: growth_table(p.bench),
    "peers": lambda p: peer_table(p.bench),
    "speed": lambda p: speed_table(p.bench),
    "tables": lambda p: dictionary(p.root),
}
for _paper in registry.COUNTED:
    PARTS |= _of_paper(_paper)
PARTS |= {
    f"drivers {paper}": lambda p, paper=paper: driver_table(p.bench, paper)
    for paper in registry.PAPERS
}


def fill(name: str, text: str, project: Project) -> str:
    """A page's text with its computed parts, and no others, made anew.

    Args:
        name: of the page, in PAGES.
        text: of the page.
        project: what its parts are made of.

    Raises:
        InputError: if a mark is missing, or is none of the page's.
    """
    for part in re.findall(r"<!-- computed: (.+?) -->", text):
        if part not in PAGES[name]:
            raise InputError(f"{name}: the mark <!-- computed: {part} --> is not in PAGES")
    for part in PAGES[name]:
        marked = re.compile(rf"(<!-- computed: {part} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marked.search(text):
            raise InputError(f"{name}: the mark <!-- computed: {part} --> is missing")
        made = PARTS[part](project)
        text = marked.sub(lambda m, made=made: f"{m[1]}\n{made}\n\n{m[2]}", text)

    def number(mark: re.Match[str]) -> str:
        return f"{mark[1]}{look_up(project.verdicts, mark.groups()[1:5], name)}{mark[6]}"

    return INLINE.sub(number, text)


def fill_pages(root: Path) -> None:
    """Make the computed parts of every page of a checkout anew, in place; and its schemas, and the
    files that say how to cite it.
    """
    project = Project(root)
    there = [name for name in PAGES if (root / name).is_file()]  # pages for authors are optional
    pages = {root / name: fill(name, read_text(root / name), project) for name in there}
    pages |= {root / name: text for name, text in citation_files(root).items()}
    pages |= {root / "schemas" / name: text for name, text in schema_files().items()}
    for path, text in pages.items():
        write_text(path, text)
