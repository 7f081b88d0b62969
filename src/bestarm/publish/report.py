"""The computed parts of README.md and docs/: verdicts from claims.csv, speeds from the bench.

A page marks such a part with `<!-- computed: NAME -->` and `<!-- end -->`; what is between them is
written here. A number in the middle of a sentence stands between
`<!-- number: PAPER CLAIM READING COLUMN -->` and `<!-- end -->`. A page needs the tables of its own
parts and no others.
"""

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import pandas as pd

from bestarm import registry
from bestarm.common.drawing import save
from bestarm.common.prose import wrapped
from bestarm.core.files import write_text
from bestarm.core.inputs import InputError, read_text
from bestarm.publish.captions import read_captions
from bestarm.publish.citation import citation_files
from bestarm.publish.findings import as_markdown, look_up, read_findings
from bestarm.publish.report_arena import (
    arena_cells,
    arena_errors,
    arena_submissions,
    arena_table,
    arena_text,
)
from bestarm.publish.report_control import control_text
from bestarm.publish.report_drivers import driver_table
from bestarm.publish.report_guarantees import (
    assumption_table,
    crossing_table,
    drift_table,
    rates_table,
    threshold_table,
)
from bestarm.publish.report_mutants import mutant_table
from bestarm.publish.report_speed import (
    FIRST,
    INSTALL,
    REBUILD,
    cold_table,
    command_table,
    growth_table,
    import_table,
    peer_table,
    program_speed_table,
    size_table,
    speed_table,
    strategy_table,
    suite_table,
    time_table,
)
from bestarm.publish.report_tables import dictionary, example
from bestarm.publish.report_toy import toy_text
from bestarm.publish.report_verdicts import (
    differs_table,
    headline_sentence,
    headline_text,
    margin_table,
    rate_table,
    recovered_text,
    settle_table,
    verdict_table,
)
from bestarm.publish.schema import schema_files
from bestarm.publish.speed_picture import speed_picture, summary_text
from bestarm.verdicts.table import as_frame, read_verdicts

#: Pages with computed parts, and which of them are of no paper or are made for each.
PAGES: dict[str, tuple[str, ...]] = {
    "README.md": ("rebuild commands", "results picture", "headline sentence", "finding"),
    "docs/findings.md": ("headline", "control", "forests", "findings", "verdicts"),
    "docs/arena.md": (
        *("arena summary", "arena", "arena instances", "arena errors", "arena submissions"),
    ),
    "docs/checking.md": ("first commands",),
    "docs/installation.md": ("install",),
    "docs/tutorial-check.md": (),
    "docs/usage.md": (),
    "docs/guarantees.md": ("thresholds", "crossings", "assumptions", "rates", "drift"),
    "docs/analysis-plan.md": ("verdict rates", "margins"),
    "docs/mutants.md": ("mutants",),
    "docs/speed.md": (
        "speed summary",
        "times",
        "cold starts",
        "imports",
        "tests",
        "strategies",
        "growth",
        "sizes",
        "peers",
        "programs speed",
        "speed",
    ),
    "docs/design.md": tuple(f"drivers {paper}" for paper in registry.PAPERS),
    "docs/tables.md": ("table example", "tables"),
    "docs/paper/paper.md": ("headline sentence",),
    "docs/readings.md": (),
    "docs/applied-studies.md": (),
    "docs/adding-a-paper.md": ("toy",),
    **{
        f"docs/authors/{paper}.md": (f"recovered {paper}", f"differs {paper}", f"settle {paper}")
        for paper in registry.COUNTED
    },
}

#: A number of the verdicts table within a sentence of a page.
INLINE = re.compile(r"(<!-- number: (\S+) (\S+) (\S+) (\S+) -->).*?(<!-- end -->)")


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
    def results(self) -> pd.DataFrame:
        """Independent results by how they stand."""
        return pd.read_csv(self.root / "figures/results.csv")

    @cached_property
    def bench(self) -> pd.DataFrame:
        """What was measured."""
        return pd.read_csv(self.root / "bench/bench.csv")


def from_docs(text: str) -> str:
    """A text whose links start at the top of the project, for a page in docs/."""
    return text.replace("](docs/", "](").replace("](figures/", "](../figures/")


def results_picture(root: Path) -> str:
    """What became of every published result; the caption is its text alternative."""
    caption = read_captions(root / "figures/captions.csv").get(("", "results"), "")
    return f"[![{caption}](figures/results.svg)](figures/results.svg)"


def forests(root: Path) -> str:
    """The forest plot of each paper that prints numbers, and its caption."""
    captions = read_captions(root / "figures/captions.csv")
    parts = []
    for paper in registry.COUNTED:
        file = f"figures/forest-{paper}.svg"
        caption = captions.get(("", f"forest-{paper}"), "")
        if "Marks:" in caption:  # else no number is drawn
            short = registry.PAPERS[paper].pages.short or paper
            picture = f"[![{short}. {caption.partition('.')[0]}.]({file})]({file})"
            parts.append(f"{picture}\n\n{wrapped(f'*{short}. {caption}*')}")
    return "\n\n".join(parts)


def _of_paper(paper: str) -> dict[str, Callable[[Project], str]]:
    """The parts of the page for a paper's authors."""
    return {
        f"recovered {paper}": lambda p: recovered_text(p.root, paper),
        f"differs {paper}": lambda p: differs_table(p.verdicts, paper),
        f"settle {paper}": lambda p: settle_table(p.verdicts, paper),
    }


#: What makes each part.
PARTS: dict[str, Callable[[Project], str]] = {
    "results picture": lambda p: results_picture(p.root),
    "headline sentence": lambda p: wrapped(f"**{headline_sentence(p.results)}**"),
    "headline": lambda p: from_docs(headline_text(p.root, p.verdicts)),
    "control": lambda p: from_docs(control_text(p.root)),
    "forests": lambda p: from_docs(forests(p.root)),
    "verdicts": lambda p: verdict_table(p.headline),
    "verdict rates": lambda p: rate_table(p.root),
    "margins": lambda p: margin_table(p.headline),
    "finding": lambda p: as_markdown(read_findings(p.root)[:1], p.verdicts),
    "findings": lambda p: as_markdown(read_findings(p.root), p.verdicts),
    "arena summary": lambda p: from_docs(arena_text(p.root)),
    "arena": lambda p: arena_table(p.root),
    "arena instances": lambda p: arena_cells(p.root),
    "arena errors": lambda p: arena_errors(p.root),
    "arena submissions": lambda p: arena_submissions(p.root),
    "thresholds": lambda _: threshold_table(),
    "crossings": lambda p: crossing_table(p.root),
    "assumptions": lambda p: assumption_table(p.root),
    "rates": lambda p: rates_table(p.root),
    "drift": lambda p: drift_table(p.root),
    "first commands": lambda p: command_table(p.bench, FIRST),
    "install": lambda p: command_table(p.bench, INSTALL),
    "rebuild commands": lambda p: command_table(p.bench, REBUILD),
    "speed summary": lambda p: summary_text(p.bench),
    "times": lambda p: time_table(p.bench),
    "cold starts": lambda p: cold_table(p.bench),
    "imports": lambda p: import_table(p.bench),
    "tests": lambda p: suite_table(p.bench),
    "mutants": lambda p: mutant_table(p.root),
    "strategies": lambda p: strategy_table(p.bench),
    "growth": lambda p: growth_table(p.bench),
    "sizes": lambda p: size_table(p.bench),
    "peers": lambda p: peer_table(p.bench),
    "programs speed": lambda p: program_speed_table(p.bench),
    "speed": lambda p: speed_table(p.bench),
    "table example": lambda p: example(p.root),
    "tables": lambda p: dictionary(p.root),
    "toy": lambda p: toy_text(p.root),
}
for _paper in registry.COUNTED:
    PARTS |= _of_paper(_paper)
PARTS |= {
    f"drivers {paper}": lambda p, paper=paper: driver_table(p.bench, paper)
    for paper in registry.PAPERS
}
for _known in registry.PAPERS.values():
    for _page, _parts in _known.pages.parts.items():
        PAGES[_page] += tuple(_parts)
        PARTS |= {name: lambda p, make=make: make(p.root) for name, make in _parts.items()}


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
    """Make the computed parts of every page of a checkout anew, in place; and its schemas, the
    picture of speeds, and the files that say how to cite it.
    """
    project = Project(root)
    there = [name for name in PAGES if (root / name).is_file()]  # pages for authors are optional
    pages = {root / name: fill(name, read_text(root / name), project) for name in there}
    pages |= {root / name: text for name, text in citation_files(root).items()}
    pages |= {root / "schemas" / name: text for name, text in schema_files().items()}
    for path, text in pages.items():
        write_text(path, text)
    save(speed_picture(project.bench), root / "docs/pictures/speed.svg")
