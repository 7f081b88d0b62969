"""The command line: show the results, and run the algorithms on your own instance."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bestarm import __version__, registry
from bestarm.build.commands import app as workflow
from bestarm.common.command import (
    Command,
    PaperCommand,
    paper_options,
    run_app,
)

app = typer.Typer(
    help="Best-arm identification: five papers, their algorithms, and what replicates.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(workflow, name="workflow")
command = partial(app.command, cls=Command)

PAPER_OPTIONS = (
    "Further options, such as --delta 0.05, are the paper's: `bestarm list PAPER` names them."
)
DASH = "- is standard output, to which then nothing else is printed."
InstanceArgument = Annotated[
    Path, typer.Argument(help="An instance file (YAML), or PAPER/INSTANCE; one per command.")
]
Cores = Annotated[int | None, typer.Option(min=1, max=1024, help="All cores if left out.")]
Out = Annotated[Path | None, typer.Option(help="Write every run to this .parquet file.")]
Csv = Annotated[Path | None, typer.Option(help=f"Write the statistics as CSV; {DASH}")]
Json = Annotated[Path | None, typer.Option(help=f"Write them as JSON; {DASH}")]
Table = Annotated[
    Path | None,
    typer.Option(help="Write a table for a paper to this .tex (booktabs) or .md file."),
]
Plot = Annotated[Path | None, typer.Option(help="Draw them to this .pdf, .svg or .png file.")]


def main() -> None:
    """Run the command line; bad input is one line on standard error and exit code 2."""
    run_app(app)


def _version(is_given: bool) -> None:
    if is_given:
        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@command("list")
def list_papers(
    paper: Annotated[str | None, typer.Argument(help="Only this one.")] = None,
    every: Annotated[
        bool, typer.Option("--all", help="All readings, and what is proven of each.")
    ] = False,
):
    """List the papers: their instances, targets, options and strategies."""
    from bestarm.registry.names import paper_named
    from bestarm.users.show_list import list_installed, list_paper

    for place, name in enumerate([paper_named(paper)] if paper else registry.TITLES):
        print("\n" * min(place, 1), end="")
        list_paper(name, every)
    list_installed()


@command()
def show(name: Annotated[str, typer.Argument(help="PAPER/INSTANCE or PAPER/TARGET.")]):
    """Show an instance of a paper with its ground truth, or a target's table."""
    from bestarm.users.show import show_named

    show_named(name)


@command()
def claims(
    name: Annotated[
        str | None, typer.Argument(help="PAPER or PAPER/TARGET; all if left out.")
    ] = None,
    id: Annotated[str | None, typer.Option(help="Only this claim, with all its readings.")] = None,
    verdict: Annotated[
        str | None, typer.Option(help='Only claims whose verdict begins so, such as "differs".')
    ] = None,
):
    """Print what the papers claim, what came out by reading, and how to check it."""
    from bestarm.users.show_claims import show_claims

    show_claims(name, id, verdict)


@command()
def schema(
    name: Annotated[str | None, typer.Argument(help="Which; their names if left out.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write all of them to.")] = None,
):
    """Print a JSON Schema: of instance files, settings, claims files or tables."""
    from bestarm.publish import schema as known

    if out is not None:
        known.write_schemas(out)
    else:
        print(known.schema_text(name) if name else "\n".join(known.schemas()), end="")


@command(cls=PaperCommand, epilog=PAPER_OPTIONS)
def run(
    context: typer.Context,
    instance: InstanceArgument,
    reps: Annotated[int, typer.Option(min=1, max=10**6, help="Runs of each strategy.")] = 1000,
    strategy: Annotated[list[str] | None, typer.Option(help="Only these; repeat for more.")] = None,
    reading: Annotated[list[str] | None, typer.Option(help="Readings; repeat for more.")] = None,
    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            help="Also the strategies of this Python file, which is run as your own code."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Root seed.")] = 0,
    cores: Cores = None,
    shard: Annotated[
        str | None, typer.Option(help="Only these of the runs, such as 2/8, for `bestarm merge`.")
    ] = None,
    out: Out = None,
    csv: Csv = None,
    json: Json = None,
    table: Table = None,
    plot: Plot = None,
):
    """Simulate the strategies on your own instance and compare them."""
    from bestarm.users.files import Files
    from bestarm.users.run import Runs, StrategyOptions, run_instance
    from bestarm.users.shards import share_from

    files = Files(out=out, csv=csv, json=json, table=table, plot=plot)
    share = None if shard is None else share_from(shard, reps)
    if share:
        files.only_runs()
    strategies = StrategyOptions(strategy, reading, plugin)
    run_instance(
        instance, paper_options(context), strategies, Runs(reps, seed, cores, share=share), files
    )


@command()
def merge(
    shards: Annotated[list[Path], typer.Argument(help="All that `bestarm run --shard` wrote.")],
    out: Out = None,
    csv: Csv = None,
    json: Json = None,
    table: Table = None,
    plot: Plot = None,
):
    """Put the shards of a run together: the same table and files as one machine would have made."""
    from bestarm.users.files import Files
    from bestarm.users.run import merge_shards

    merge_shards(shards, Files(out=out, csv=csv, json=json, table=table, plot=plot))


@command(cls=PaperCommand, epilog=PAPER_OPTIONS)
def bound(
    context: typer.Context,
    instance: InstanceArgument,
    certificate: Annotated[
        Path | None, typer.Option(help="File for a proof of T* of rates, for `bestarm check`.")
    ] = None,
):
    """Print the complexity of your own instance: the lower bound and the optimal allocation."""
    from bestarm.users.run import bound_instance

    bound_instance(instance, paper_options(context), certificate)


@command()
def check(
    certificate: Annotated[
        Path, typer.Argument(help="What `.certificate()` or `bound --certificate` gave, as a file.")
    ],
) -> None:
    """Check a certificate in exact arithmetic; exit code 1 with the first line that fails."""
    from bestarm.verify.certificates import check_certificate

    if not check_certificate(certificate):
        raise typer.Exit(1)


@command()
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="PAPER or PAPER/TARGET; all if left out.")
    ] = None,
    independent: Annotated[
        bool,
        typer.Option(
            "--independent", help="Other seeds, even on the platform with byte-identical results."
        ),
    ] = False,
    runs: Annotated[
        int | None, typer.Option(min=2, help="Fewest independent runs per cell; more detect more.")
    ] = None,
    cores: Cores = None,
) -> None:
    """Simulate again and check the kept results; exit code 1 if something differs."""
    from bestarm.verify.verification import FEWEST, Verification

    cores = cores or os.cpu_count() or 1
    independent = independent or runs is not None
    if not Verification(Path(), names or [], independent, cores, runs or FEWEST).run():
        raise typer.Exit(1)


if __name__ == "__main__":
    main()
