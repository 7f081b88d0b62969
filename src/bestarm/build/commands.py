"""`bestarm workflow ...`: one command a rule of the workflow. People use the other commands."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestarm import registry
from bestarm.common.command import Command
from bestarm.core.errors import InputError

app = typer.Typer(
    help="The steps of the workflow, as its rules call them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
command = partial(app.command, cls=Command)

if TYPE_CHECKING:
    Paper = str  # one of the names of papers
else:
    Paper = StrEnum("Paper", {name: name for name in registry.TITLES})
Out = Annotated[Path, typer.Option(help="File to write.")]
Pictures = Annotated[list[Path], typer.Argument(help="Files to write: .svg, .png or .pdf.")]
Seed = Annotated[int, typer.Option(help="Root seed of the scale.")]
PerShard = Annotated[int, typer.Option(help="Replications of a shard.")]


def _named(entries: Mapping[str, Any], paper: str, name: str) -> Any:
    """A target by name. Raises InputError if the paper has none of that name."""
    try:
        return entries[name]
    except KeyError:
        raise InputError(f"{name}: {paper} has none of that name") from None


@command("compile")
def compile_kernels(paper: Paper) -> None:
    """Compile a paper's kernels into the cache, so that shards start warm."""
    registry.PAPERS[paper].simulation.warm_up()


@command()
def instances(paper: Paper, out: Out) -> None:
    """Write a paper's instances with their ground truth."""
    from bestarm.core.files import write_json
    from bestarm.runs.plan import describe_instances

    entry = registry.PAPERS[paper]
    write_json(out, describe_instances(entry, entry.problems.instances()))


@command()
def shard(
    paper: Paper,
    experiment: str,
    index: int,
    instances: Path,
    seed: Seed,
    per_shard: PerShard,
    out: Out,
) -> None:
    """Simulate one shard of an experiment."""
    from bestarm.runs.plan import plan_from
    from bestarm.runs.shard import write_shard

    entry = registry.PAPERS[paper]
    write_shard(plan_from(entry, experiment, seed, per_shard, instances), entry, index, out)


@command()
def summary(
    paper: Paper,
    experiment: str,
    shards: int,
    instances: Path,
    seed: Seed,
    per_shard: PerShard,
    out: Out,
) -> None:
    """Summarise the first shards of an experiment, as many as said: there may be too many to name.
    They lie in its folder beside the instances."""
    from bestarm.common.tables import write_table
    from bestarm.runs.plan import plan_from
    from bestarm.runs.summary import summarise

    paths = [instances.parent / experiment / f"shard-{index}.parquet" for index in range(shards)]
    entry = registry.PAPERS[paper]
    plan = plan_from(entry, experiment, seed, per_shard, instances)
    write_table(summarise(plan, entry, paths), out)


@command()
def table(
    paper: Paper,
    target: str,
    instances: Path,
    published: Path,
    out: Out,
    summaries: Annotated[list[Path] | None, typer.Argument()] = None,
    geometry: bool = False,
) -> None:
    """Make a target's table, or its geometry, from the summaries of its experiments."""
    from bestarm.common.tables import read_sources, target_table, write_geometry, write_table

    spec = _named(registry.PAPERS[paper].targets, paper, target)
    sources = read_sources(spec, summaries or [], instances, published)
    if geometry:
        write_geometry(spec.geometry(sources), out)
    else:
        write_table(target_table(spec, sources), out)


@command()
def plot(
    paper: Paper,
    target: str,
    table: Path,
    pictures: Pictures,
    geometry: Annotated[Path | None, typer.Option()] = None,
) -> None:
    """Draw a target from its table."""
    from bestarm.common.drawing import save
    from bestarm.common.tables import read_geometry, read_table

    draw = _named(registry.PAPERS[paper].plots.draw, paper, target)
    parts = [read_table(table), *([read_geometry(geometry)] if geometry else [])]
    save(draw(*parts), *pictures)


@command()
def claims(
    files: list[Path],
    figures: Annotated[Path, typer.Option()],
    out: Out,
    headline: Annotated[Path, typer.Option(help="File to write: claims by kind and verdict.")],
    results: Annotated[Path, typer.Option(help="File to write: independent results.")],
    scorecard: Annotated[Path, typer.Option(help="File to write: claims by reading.")],
) -> None:
    """Judge the claims of every paper (data/claims/PAPER.yaml) on the tables under a folder."""
    from bestarm.verdicts import scoreboard
    from bestarm.verdicts.table import as_frame, write_verdicts

    judged, before = _judged(files, figures, scoreboard.MARGINS)
    verdicts = {margins: as_frame(lines) for margins, lines in judged.items()}
    scoreboard.write(scoreboard.headline(verdicts), headline)
    scoreboard.write(scoreboard.results(verdicts[1.0], as_frame(before)), results)
    scoreboard.write(scoreboard.scorecard(verdicts[1.0]), scorecard)
    write_verdicts(judged[1.0], out)


@command()
def control(
    files: list[Path],
    figures: Annotated[Path, typer.Option()],
    out: Out,
) -> None:
    """Judge the claims of positive controls, which are in no total."""
    from bestarm.verdicts.table import write_verdicts

    judged, _ = _judged(files, figures, [1.0])
    write_verdicts(judged[1.0], out)


def _judged(
    files: list[Path], figures: Path, multiples: Iterable[float]
) -> tuple[dict[float, list[Any]], list[Any]]:
    """The lines of some claims files, judged at multiples of the plan's margins; at the plan's,
    also without the readings that were added."""
    from bestarm.common.tables import read_table
    from bestarm.verdicts.judge import judge_paper
    from bestarm.verdicts.tables import Tables, read_published

    judged, before = {margins: [] for margins in multiples}, []
    for path in files:
        paper = path.stem
        if paper not in registry.PAPERS:
            papers = ", ".join(registry.PAPERS)
            raise InputError(f"{path}: must be named after a paper, one of {papers}")
        names = list(registry.PAPERS[paper].targets)
        tables = Tables(
            {name: read_table(figures / paper / f"{name}.csv") for name in names},
            read_published(path.parent.parent / "published" / f"{paper}.csv"),
        )
        by_margin, without_added = judge_paper(path, tables, judged)
        for margins, lines in by_margin.items():
            judged[margins] += lines
        before += without_added
    return judged, before


@command()
def overview(name: str, table: Path, pictures: Pictures) -> None:
    """Draw what became of the claims: `results`, `forest-PAPER` or `scorecard-PAPER`, from
    results.csv, claims.csv or scorecard.csv."""
    from bestarm.common.drawing import save
    from bestarm.publish.overview import draw

    save(draw(name, table), *pictures)


@command()
def captions(pictures: list[Path], out: Out) -> None:
    """Write the captions of some pictures, FIGURES/PAPER/TARGET.svg, as one table."""
    from bestarm.publish.captions import write_captions

    write_captions(pictures, out)


@command()
def manifest(tables: list[Path], out: Out) -> None:
    """Write the manifest of some tables."""
    from bestarm.build.manifest import write_manifest

    write_manifest(tables, out)


@command()
def site(
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    notebooks: Annotated[list[Path] | None, typer.Argument(help="Executed ones.")] = None,
    content: Annotated[str | None, typer.Option(help="Hash that the project must have.")] = None,
) -> None:
    """Make the replication site from the project in this folder."""
    from bestarm.publish.site.build import make

    make(Path(), out, notebooks or [], content)


@command()
def arena(
    picture: str,
    tables: Path,
    pictures: Pictures,
    out: Out,
) -> None:
    """Summarise and draw the kept tables of the arena, which are in a folder."""
    from bestarm.arena.pictures import DRAWN
    from bestarm.common.drawing import save
    from bestarm.core.files import write_text

    if picture not in DRAWN:
        raise InputError(f"{picture}: must be one of {', '.join(DRAWN)}")
    summarise, draw = DRAWN[picture]
    table = summarise(tables)
    text = table.to_csv(index=False, lineterminator="\n", float_format="%.6g")
    write_text(out, text)
    save(draw(table), *pictures)


@command()
def report() -> None:
    """Make the computed parts of README.md and docs/ anew."""
    from bestarm.publish.report import fill_pages

    fill_pages(Path())


@command()
def hashes(out: Path = Path("data/verify/hashes.csv")) -> None:
    """Keep the hashes of the rows under results/quick, for `verify`."""
    from bestarm.verify.hashes import write_hashes

    write_hashes(Path("results"), Path("workflow/scales"), out)


@command()
def notebook(source: Path, out: Out) -> None:
    """Execute a notebook and write it as .ipynb."""
    from bestarm.build.notebooks import execute

    execute(source, out)
