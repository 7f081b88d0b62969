"""The computed parts of README.md and docs/: verdicts from the ledger, speeds from the bench.

A page marks such a part with `<!-- computed: NAME -->` and `<!-- end -->`; what is between them is
written here. A number in the middle of a sentence stands between
`<!-- ledger: PAPER CLAIM READING COLUMN -->` and `<!-- end -->`.
"""

import re
from pathlib import Path

import pandas as pd

from bestarm.core.files import write_text
from bestarm.core.inputs import InputError, read_text
from bestarm.pipeline import registry
from bestarm.pipeline.captions import read_captions
from bestarm.pipeline.citation import citation_files
from bestarm.pipeline.findings import as_markdown, look_up, read_findings
from bestarm.pipeline.prose import wrapped
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
from bestarm.pipeline.report_guarantees import (
    assumption_table,
    boundary_table,
    cost_table,
    crossing_table,
    drift_table,
    patient_table,
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
        *("unknown sigma", "boundary errors", "proof costs"),
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


def computed_parts(root: Path) -> dict[str, str]:
    """Every computed part by name, from the files of a checkout."""
    ledger = read_ledger(root / "figures/claims.csv")
    headline = pd.read_csv(root / "figures/headline.csv")
    bench = pd.read_csv(root / "bench/bench.csv")
    return {
        "headline": headline_text(root, ledger),
        "control": control_text(root),
        "forest": forest(root),
        "verdicts": verdict_table(headline),
        "verdict rates": rate_table(root),
        "margins": margin_table(headline),
        "findings": as_markdown(read_findings(root), ledger),
        "arena summary": arena_text(root),
        "arena": arena_table(root),
        "arena instances": arena_cells(root),
        "arena errors": arena_errors(root),
        "arena submissions": arena_submissions(root),
        "segments": segment_table(root),
        "example": example_table(root),
        "programs summary": program_summary(root, ledger),
        "programs": program_text(root),
        "programs medians": program_table(root),
        "certified": cost_text(root),
        "menus": menu_table(root),
        "certified parts": part_table(root),
        "certified errors": error_table(root),
        "mixture priors": prior_table(root),
        "mixture coverage": coverage_table(root),
        "mixture scales": scale_table(root),
        "patient": patient_table(root),
        "thresholds": threshold_table(),
        "crossings": crossing_table(root),
        "assumptions": assumption_table(root),
        "rates": rates_table(root),
        "drift": drift_table(root),
        "unknown sigma": sigma_table(root),
        "boundary errors": boundary_table(root),
        "proof costs": cost_table(root),
        "first commands": command_table(bench, FIRST),
        "install": command_table(bench, INSTALL),
        "rebuild commands": command_table(bench, REBUILD),
        "times": time_table(bench),
        "cold starts": cold_table(bench),
        "imports": import_table(bench),
        "tests": suite_table(bench),
        "mutants": mutant_table(root),
        "strategies": strategy_table(bench),
        "growth": growth_table(bench),
        "peers": peer_table(bench),
        "speed": speed_table(bench),
        "tables": dictionary(root),
        **{f"recovered {paper}": recovered_text(root, paper) for paper in registry.COUNTED},
        **{f"differs {paper}": differs_table(ledger, paper) for paper in registry.COUNTED},
        **{f"settle {paper}": settle_table(ledger, paper) for paper in registry.COUNTED},
    }


def forest(root: Path) -> str:
    """The forest plot and its caption."""
    caption = read_captions(root / "figures/captions.csv").get(("", "forest"), "")
    title = "Published over ours for every number that can be tested"
    return f"[![{title}](figures/forest.svg)](figures/forest.svg)\n\n{wrapped(f'*{caption}*')}"


def read_ledger(path: Path) -> pd.DataFrame:
    """figures/claims.csv, published numbers as printed."""
    return pd.read_csv(path, dtype={"published": str, "reading": str, "program": str})


def fill(name: str, text: str, parts: dict[str, str], ledger: pd.DataFrame) -> str:
    """A page's text with its computed parts made anew.

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
        text = marked.sub(lambda m, part=part: f"{m[1]}\n{parts[part]}\n\n{m[2]}", text)
    return INLINE.sub(lambda m: f"{m[1]}{look_up(ledger, m.groups()[1:5], name)}{m[6]}", text)


def fill_pages(root: Path) -> None:
    """Make the computed parts of every page of a checkout anew, in place; and its schemas, and the
    files that say how to cite it.
    """
    parts, ledger = computed_parts(root), read_ledger(root / "figures/claims.csv")
    there = [name for name in PAGES if (root / name).is_file()]  # pages for authors are optional
    pages = {root / name: fill(name, read_text(root / name), parts, ledger) for name in there}
    pages |= {root / name: text for name, text in citation_files(root).items()}
    pages |= {root / "schemas" / name: text for name, text in schema_files().items()}
    for path, text in pages.items():
        write_text(path, text)
