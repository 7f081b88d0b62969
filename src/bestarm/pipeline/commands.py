"""`bestarm workflow ...`: one command a rule of the workflow. People use the other commands."""

import json
from pathlib import Path
from typing import Annotated

import typer

from bestarm.pipeline import registry

app = typer.Typer(help="The steps of the workflow, as its rules call them.", no_args_is_help=True)

Out = Annotated[Path, typer.Option(help="File to write.")]


@app.command("compile")
def compile_kernels(paper: str) -> None:
    """Compile a paper's kernels into the cache, so that shards start warm."""
    registry.room(paper, "strategies").warm_up()


@app.command()
def instances(paper: str, out: Out) -> None:
    """Write a paper's instances and what is true of them."""
    from bestarm.pipeline.files import write_json
    from bestarm.pipeline.plan import describe_instances

    write_json(out, describe_instances(paper, registry.room(paper, "problem").instances()))


@app.command()
def plan(
    paper: str,
    experiment: str,
    instances: Path,
    seed: Annotated[int, typer.Option()],
    per_shard: Annotated[int, typer.Option()],
    out: Out,
) -> None:
    """Plan an experiment."""
    from bestarm.pipeline.files import write_json
    from bestarm.pipeline.plan import make_plan

    wanted = registry.experiment(paper, experiment)
    made = make_plan(paper, wanted, seed, per_shard, json.loads(instances.read_text()))
    write_json(out, made.model_dump())


@app.command()
def shard(plan: Path, index: int, out: Out) -> None:
    """Simulate one shard of a plan."""
    from bestarm.pipeline.plan import read_plan
    from bestarm.pipeline.shard import write_shard

    write_shard(read_plan(plan), index, out)


@app.command()
def summary(plan: Path, shards: int, out: Out) -> None:
    """Summarise the first shards beside a plan, as many as said: there may be too many to name."""
    from bestarm.pipeline.plan import read_plan
    from bestarm.pipeline.summary import summarise
    from bestarm.pipeline.tables import write_table

    paths = [plan.parent / f"shard-{index}.parquet" for index in range(shards)]
    write_table(summarise(read_plan(plan), paths), out)


@app.command()
def table(
    paper: str,
    target: str,
    instances: Path,
    published: Path,
    out: Out,
    summaries: Annotated[list[Path] | None, typer.Argument()] = None,
    geometry: bool = False,
) -> None:
    """Make a target's table, or its geometry, from the summaries of its experiments."""
    from bestarm.pipeline.tables import read_sources, write_geometry, write_table

    wanted = registry.target(paper, target)
    sources = read_sources(wanted, summaries or [], instances, published)
    if geometry:
        write_geometry(wanted.geometry(sources), out)
    else:
        write_table(wanted.tabulate(sources), out)


@app.command()
def plot(
    paper: str,
    target: str,
    table: Path,
    svg: Annotated[Path, typer.Option()],
    png: Annotated[Path, typer.Option()],
    geometry: Annotated[Path | None, typer.Option()] = None,
) -> None:
    """Draw a target from its table."""
    from bestarm.pipeline.style import save
    from bestarm.pipeline.tables import read_geometry, read_table

    draw = getattr(registry.room(paper, "plots"), target.replace("-", "_"))
    parts = [read_table(table), *([read_geometry(geometry)] if geometry else [])]
    save(draw(*parts), svg, png)


@app.command()
def claims(ledgers: list[Path], figures: Annotated[Path, typer.Option()], out: Out) -> None:
    """Test the claims of every paper (ledgers: data/claims/PAPER.yaml) on tables under a folder."""
    import pandas as pd

    from bestarm.pipeline.claims import judge_all, write_ledger
    from bestarm.pipeline.tables import read_table

    parts = []
    for ledger in ledgers:
        paper = ledger.stem
        names = [t.name for t in registry.room(paper, "experiments").TARGETS]
        tables = {name: read_table(figures / paper / f"{name}.csv") for name in names}
        parts.append(judge_all(paper, ledger, tables))
    write_ledger(pd.concat(parts), out)


@app.command()
def manifest(tables: list[Path], out: Out) -> None:
    """Write the manifest of some tables."""
    from bestarm.pipeline.manifest import write_manifest

    write_manifest(tables, out)


@app.command()
def site(
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    content: Annotated[str | None, typer.Option(help="Hash that the project must have.")] = None,
) -> None:
    """Make the replication site from the project in this folder."""
    from bestarm.pipeline.site.build import make

    make(Path(), out, content)


@app.command()
def report() -> None:
    """Make the computed parts of README.md and docs/ anew."""
    from bestarm.pipeline.report import fill_pages

    fill_pages(Path())


@app.command()
def hashes(out: Path = Path("data/verify/hashes.csv")) -> None:
    """Keep the hashes of the rows under results/quick, for `verify`."""
    from bestarm.pipeline.hashes import write_hashes

    write_hashes(Path("results"), Path("workflow/scales"), out)


@app.command()
def notebook(source: Path, out: Out) -> None:
    """Run a notebook and write it as a page."""
    from bestarm.pipeline.notebooks import render

    render(source, out)
