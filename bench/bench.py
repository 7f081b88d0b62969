"""Measure speed and memory, print a table and write bench/bench.csv. Run by `make bench`.

Timings are kept out of figures/ and out of the tests: they are a property of a machine, which is
named in the file. Each number is the median of its repeats.
"""

import contextlib
import csv
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bestarm.core.streams import replication_streams, streams_of
from bestarm.pipeline import registry
from bestarm.pipeline.scales import read_scale

ROOT = Path(__file__).parents[1]
CORES = 2
REPEATS = 5


def main() -> None:
    """Run the stages and papers named as arguments; all where none is named."""
    stages = [name for name in STAGES if name in sys.argv[1:]] or list(STAGES)
    papers = [name for name in registry.PAPERS if name in sys.argv[1:]] or list(registry.PAPERS)
    if unknown := set(sys.argv[1:]) - {*STAGES, *registry.PAPERS}:
        allowed = ", ".join([*STAGES, *registry.PAPERS])
        sys.exit(f"error: arguments must be among {allowed}, got {', '.join(sorted(unknown))}")
    everything = (stages, papers) == (list(STAGES), list(registry.PAPERS))
    rows = {} if everything else read()
    for stage in stages:
        for name, value, unit, how in STAGES[stage](papers):
            rows[name] = {"measure": name, "value": f"{value:.3g}", "unit": unit, "how": how}
            print(f"{name}: {value:.3g} {unit}", file=sys.stderr, flush=True)
            write(rows)
    show(rows)


def kernels(papers: list[str]) -> Iterator[tuple]:
    """Microseconds a unit of work of each strategy, with all that a replication costs."""
    for paper in papers:
        strategies, experiments = (registry.room(paper, m) for m in ("strategies", "experiments"))
        instances = registry.room(paper, "problem").instances()
        for benchmark in experiments.BENCHMARKS:
            cell = benchmark.cell
            instance = benchmark.instance or instances[cell.instance]
            replicate = strategies.prepare(instance, cell)
            replicate(streams_of(0, 0))  # compiles

            def work(replicate=replicate, benchmark=benchmark) -> int:
                runs = map(replicate, replication_streams(1, range(benchmark.runs)))
                return sum(map(benchmark.work, runs))

            spent = [timed(work) for _ in range(REPEATS)]
            reading = "" if cell.reading == "as-written" else f", {cell.reading}"
            note = f" ({benchmark.note})" if benchmark.note else ""
            yield (
                f"{paper}: {cell.label}{reading} on {cell.instance}, {cell.setting_label}",
                statistics.median(seconds / amount for seconds, amount in spent) * 1e6,
                f"us a {benchmark.per}",
                f"{benchmark.runs} runs, median of {REPEATS}{note}",
            )


def timed(work: Callable) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def quick(papers: list[str]) -> Iterator[tuple]:
    """Wall time of everything at quick scale, in a copy of the project."""
    with copy(registry.PAPERS) as folder:
        yield (
            "quick scale from nothing, warm compile cache",
            run(folder, "figures/quick/all"),
            "s",
            f"snakemake figures/quick/all on {CORES} cores",
        )


def paper(papers: list[str]) -> Iterator[tuple]:
    """Wall time of the papers at paper scale, in a copy of the project."""
    with copy(papers) as folder:
        for name in papers:
            spent = 0.0
            for targets in getattr(registry.room(name, "experiments"), "TIMED_TARGETS", ()):
                for built in (f"results/paper/{name}", f"figures/{name}"):
                    shutil.rmtree(folder / built, ignore_errors=True)
                files = [f"figures/{name}/{target}.svg" for target in targets]
                spent = run(folder, *files)
                yield (
                    f"{name}, {' and '.join(targets)} from nothing, warm compile cache",
                    spent,
                    "s",
                    f"snakemake {' '.join(files)} on {CORES} cores",
                )
            yield (
                f"{name}, paper scale from nothing, warm compile cache",
                spent + run(folder, f"figures/{name}/all"),  # what is there need not be built again
                "s",
                f"snakemake figures/{name}/all on {CORES} cores",
            )


def more(papers: list[str]) -> Iterator[tuple]:
    """Wall time of targets with more replications than the paper's, and memory of their summary."""
    with copy(papers) as folder:
        for name in papers:
            experiments = registry.room(name, "experiments")
            for target, runs in getattr(experiments, "TIMED_MORE", {}).items():
                file, config = f"figures/more/{name}/{target}.svg", f"replications={runs}"
                yield (
                    f"{name}, {target} with {runs:,} runs a point, warm compile cache",
                    run(folder, file, config=config),
                    "s",
                    f"snakemake {file} --config {config} on {CORES} cores",
                )
                (experiment,) = registry.target(name, target).experiments
                plan = f"results/paper/{name}/{experiment}/plan.json"
                shards = str(len(list((folder / plan).parent.glob("shard-*.parquet"))))
                command = ["-m", "bestarm", "workflow", "summary", plan, shards, "--out", "x.csv"]
                yield (
                    f"{name}: peak memory of the summary of {experiment}, {runs:,} runs a point",
                    peak(folder, [sys.executable, *command]),
                    "MB",
                    f"{shards} shards",
                )


def cores(papers: list[str]) -> Iterator[tuple]:
    """What simulation gains by a second core."""
    with copy(papers) as folder:
        for name in papers:
            plans = [
                f"results/paper/{name}/{experiment.name}/plan.json"
                for experiment in registry.room(name, "experiments").EXPERIMENTS
            ]
            run(folder, *plans)
            sizes = read_scale(folder / "workflow/scales/paper.yaml").papers[name]
            shards = [
                f"results/paper/{name}/{experiment}/shard-{index}.parquet"
                for experiment, size in sizes.items()
                for index in range(size.shards)
            ]
            alone = run(folder, *shards, cores=1)
            together = run(folder, *shards, force="shard")
            yield (
                f"{name}: efficiency of {CORES} cores against 1",
                alone / (CORES * together),
                "",
                f"all paper-scale shards: {alone:.0f} s on 1 core, {together:.0f} s on {CORES}",
            )


def memory(papers: list[str]) -> Iterator[tuple]:
    """Peak resident memory of the largest shard job of each paper, as the kernel counts it."""
    with copy(papers) as folder:
        for paper in papers:
            peaks = []
            for experiment in registry.room(paper, "experiments").EXPERIMENTS:
                plan = f"results/paper/{paper}/{experiment.name}/plan.json"
                run(folder, plan)
                command = ["-m", "bestarm", "workflow", "shard", plan, "0", "--out", "x.parquet"]
                peaks.append(peak(folder, [sys.executable, *command]))
            yield f"{paper}: peak memory of a shard", max(peaks), "MB", "largest of its experiments"


def peak(folder: Path, command: list[str]) -> float:
    """Peak memory of a command in MB, measured by a parent that has no other child."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=folder,
        env=environment(folder),
        check=True,
        capture_output=True,
        text=True,
    )
    return int(result.stdout) * 1024 / 1e6


@contextlib.contextmanager
def copy(papers: Iterable[str]) -> Iterator[Path]:
    """A copy of the project with nothing built but these papers' kernels; removed afterwards."""
    built = (".venv", ".git", ".snakemake", "results", "figures", "__pycache__")
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "bestarm"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*built))
        for paper in papers:
            command = [sys.executable, "-m", "bestarm", "workflow", "compile", paper]
            subprocess.run(command, env=environment(folder), check=True)
        yield folder


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(folder / "src")}


def run(
    folder: Path,
    *targets: str,
    cores: int = CORES,
    force: str | None = None,
    config: str | None = None,
) -> float:
    """Seconds that snakemake takes to make some targets, with one rule forced if it is named."""
    command = [str(Path(sys.executable).with_name("snakemake")), "--cores", str(cores)]
    command += ["--quiet", "all", *(["--forcerun", force] if force else [])]
    command += [*(["--config", config] if config else []), "--", *targets]
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, env=environment(folder))
    return time.perf_counter() - start


STAGES = {
    "kernels": kernels,
    "memory": memory,
    "quick": quick,
    "paper": paper,
    "more": more,
    "cores": cores,
}
FILE = ROOT / "bench/bench.csv"


def machine() -> str:
    """The processor, as the system names it."""
    for line in (
        Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    ):
        if line.startswith("model name"):
            return f"{line.split(':')[1].strip()}, {os.cpu_count()} cores"
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def read() -> dict[str, dict]:
    if not FILE.exists():
        return {}
    with FILE.open(newline="") as file:
        return {row["measure"]: row for row in csv.DictReader(file)}


def write(rows: dict[str, dict]) -> None:
    with FILE.open("w", newline="") as file:
        fields = ["measure", "value", "unit", "how", "machine"]
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, "machine": machine()} for row in rows.values())


def show(rows: dict[str, dict]) -> None:
    table = Table("measure", "value", "unit", "how", title=machine(), title_justify="left")
    for row in rows.values():
        table.add_row(row["measure"], row["value"], row["unit"], row["how"])
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
