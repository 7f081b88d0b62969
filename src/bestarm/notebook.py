"""What the notebooks share: simulations as tables, kept results, verdicts, described pictures."""

import io
from collections.abc import Iterable
from typing import Any

import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from bestarm.common import prose
from bestarm.common.files import data_folder
from bestarm.common.paper import Cell, Experiment
from bestarm.common.tables import NUMBERS, assemble, read_table
from bestarm.registry import PAPERS
from bestarm.runs.plan import describe_instances, make_plan
from bestarm.runs.summary import summary_rows
from bestarm.runs.tasks import run
from bestarm.verdicts.claims import read_claims
from bestarm.verdicts.outcome import BY_TEXT
from bestarm.verdicts.table import VERDICT_TABLES, judged_claims, read_verdicts


def simulate(instance: Any, cells: Iterable[Cell], runs: int) -> pd.DataFrame:
    """Run some cells of an instance; a table like those in `figures/`, made from these runs.

    Args:
        instance: of any paper.
        cells: what to run; they share their streams of random numbers.
        runs: of each cell.
    """
    paper = PAPERS[instance.paper]
    described = describe_instances(paper, {instance.name: instance})
    plan = make_plan(paper.name, Experiment("notebook", tuple(cells)), 2024, runs, described)
    rows = [row for task in plan.tasks(paper) for row in summary_rows(task, run(task, range(runs)))]
    return assemble(rows).infer_objects().astype(dict.fromkeys(NUMBERS, float))


def kept_table(paper: str, target: str) -> pd.DataFrame:
    """The table of a target as it is in git, made with the papers' own numbers of runs."""
    return read_table(data_folder().parent / f"figures/{paper}/{target}.csv")


def beside(here: pd.DataFrame, kept: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Numbers of a simulation beside the kept and the published ones, with 95% intervals.

    Args:
        here: rows of a simulation.
        kept: rows of a kept table, and published ones; all of one setting.
        names: columns that tell the rows of `here` apart.
    """
    place = ["instance", "strategy", "statistic"]
    ours = kept.assign(kept=_with_intervals(kept))[[*place, "reading", "kept"]]
    stated = kept[kept.reading == "published"]
    stated = stated.assign(published=stated.value.map(prose.number))[[*place, "published"]]
    table = here.assign(here=_with_intervals(here)).merge(ours, "left", validate="many_to_one")
    table = table.merge(stated, "left", on=place, validate="many_to_one")
    columns = ["here", "kept", *(["published"] if len(stated) else [])]
    table = table[[*names, *columns]].fillna("–")
    return table.set_index(names[0]).rename_axis(None)


def _with_intervals(rows: pd.DataFrame) -> pd.Series:
    numbers = rows[["value", "low", "high"]].map(prose.number)
    return numbers.value + " [" + numbers.low + ", " + numbers.high + "]"


def kept_verdicts(paper: str, *beginnings: str) -> Markdown:
    """Claims of a paper with their verdicts, each with a link to its place on the site.

    Args:
        paper: its key.
        beginnings: of the ids of the claims.

    Raises:
        ValueError: no claim of the paper begins with one of them.
    """
    path = data_folder().parent / "figures"
    lines = read_verdicts(*(path / name for name in VERDICT_TABLES))
    file = read_claims(data_folder() / f"claims/{paper}.yaml")
    judged = judged_claims(file, [line for line in lines if line.paper == paper])
    ids = [claim.claim.id for claim in judged if claim.lines]
    unknown = [each for each in beginnings if not any(id.startswith(each) for id in ids)]
    if unknown:
        raise ValueError(f"no claim of {paper} in {path} begins with {', '.join(unknown)}")
    claims = [claim for claim in judged if claim.lines and claim.claim.id.startswith(beginnings)]
    link = f"[{{}}](../site/{paper}.html#claim-{{}})".format
    columns = {
        "claim": [link(claim.statement.replace("|", r"\|"), claim.claim.id) for claim in claims],
        "printed": [prose.printed(claim.lines[0].published) or "–" for claim in claims],
        "verdict": [
            f"{claim.verdict} (`{claim.under}`)"
            if claim.under and claim.verdict != BY_TEXT
            else claim.verdict
            for claim in claims
        ],
    }
    return Markdown(prose.markdown(pd.DataFrame(columns)))


class picture:
    """A figure as the output of a cell, an SVG; `alt` describes it to those who do not see it."""

    def __init__(self, figure: Figure, alt: str):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        self.svg, self.alt = buffer.getvalue(), alt

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """What IPython shows of it."""
        return {"image/svg+xml": self.svg, "text/plain": self.alt}
