"""Measure speed and memory, print a table and write bench/bench.csv. Run by `make bench`.

Timings are kept out of figures/ and out of the tests: they are a property of a machine, which is
named in the file. Each number is the median of its repeats.
"""

import contextlib
import csv
import ctypes
import itertools
import multiprocessing
import os
import platform
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import balance as balance_of
import drivers as drivers_of
import growth as growth_of
import live as live_of
import peers as peers_of
import programs as programs_of
import psutil
import sizes as sizes_of
from rich.console import Console
from rich.table import Table
from timed import of as timed_of
from timed import replication_of

from bestarm import registry
from bestarm.build import client, served
from bestarm.common.arithmetic import same_bits
from bestarm.core.streams import replication_streams
from bestarm.publish.report_speed import FIRST, INSTALL, REBUILD
from bestarm.registry.scales import read_scale

ROOT = Path(__file__).parents[1]
CORES = 2
REPEATS = 11
#: How many of the slowest tests are listed.
SLOWEST = 10
#: Most of a core that processes beside a measured command may use.
OTHERS = 0.05
#: Commands of README that are measured in one clone, in this order.
COMMANDS = {**FIRST, **REBUILD}
#: Of these, those that are measured without compiled kernels wherever they come in the order.
COLD = ("make test",)


class Row(NamedTuple):
    """A line of bench.csv."""

    measure: str
    value: str
    unit: str
    pulls_per_second: str  # of strategies
    peak_mb: str  # of a process that runs the strategy alone; of all processes of a command
    how: str
    machine: str
    disk_mb: str = ""  # that a command takes and keeps
    processor_s: str = ""  # of all processes of a command, in seconds


def row(
    measure: str,
    value: float,
    unit: str,
    how: str,
    *,
    pulls: float | None = None,
    peak: float | None = None,
    disk: float | None = None,
    processor: float | None = None,
) -> Row:
    """A line; `pulls` per second, `peak` memory and `disk` in MB and `processor` in seconds if they
    were measured."""
    second, memory, space, spent = (
        "" if x is None else f"{x:.3g}" for x in (pulls, peak, disk, processor)
    )
    return Row(measure, f"{value:.3g}", unit, second, memory, how, machine(), space, spent)


def main() -> None:
    """Run the stages, papers and commands named as arguments; all where none is named."""
    stages = [name for name in STAGES if name in sys.argv[1:]] or list(STAGES)
    papers = [name for name in registry.PAPERS if name in sys.argv[1:]] or list(registry.PAPERS)
    of_readme = [name for name in COMMANDS if name in sys.argv[1:]] or list(COMMANDS)
    if unknown := set(sys.argv[1:]) - {*STAGES, *registry.PAPERS, *COMMANDS}:
        allowed = ", ".join([*STAGES, *registry.PAPERS, *(f"'{name}'" for name in COMMANDS)])
        sys.exit(f"error: arguments must be among {allowed}, got {', '.join(sorted(unknown))}")
    everything = not sys.argv[1:]
    rows = {} if everything else read()
    for stage in stages:
        for new in STAGES[stage](of_readme if stage == "commands" else papers):
            rows[new.measure] = new
            print(f"{new.measure}: {new.value} {new.unit}", file=sys.stderr, flush=True)
            write(rows)
    show(rows)


def kernels(papers: list[str]) -> Iterator[Row]:
    """Microseconds a unit of work of each strategy, with all that a replication costs."""
    for paper in papers:
        speeds = alone(measure, paper)
        for number, benchmark in enumerate(timed_of(paper).benchmarks):
            spent, pulls = speeds[number]
            cell = benchmark.cell
            reading = "" if cell.reading == "as-written" else f", {cell.reading}"
            note = f" ({benchmark.note})" if benchmark.note else ""
            yield row(
                f"{paper}: {cell.label}{reading} on {cell.instance}, {cell.setting_label}",
                spent * 1e6,
                f"us a {benchmark.per}",
                f"{benchmark.runs} runs, median of {REPEATS}{note}",
                pulls=pulls,
                peak=alone(peak_of, paper, number),
            )


def alone(work: Callable, *arguments: object) -> Any:
    """What a function returns in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def measure(paper: str) -> list[tuple[float, float]]:
    """Seconds a unit of work, and pulls a second, of a paper's benchmarks.

    They take turns, so that a busy minute of the machine does not fall upon all repeats of one.
    """
    works = [work_of(paper, i) for i in range(len(timed_of(paper).benchmarks))]
    turns = [[timed(work) for work in works] for _ in range(REPEATS)]
    speeds = []
    for repeats in zip(*turns, strict=True):
        each = statistics.median(seconds / amount for seconds, (amount, _) in repeats)
        rate = statistics.median(pulls / seconds for seconds, (_, pulls) in repeats)
        speeds.append((each, rate))
    return speeds


def work_of(paper: str, number: int) -> Callable[[], tuple[int, int]]:
    """A benchmark, compiled: it returns units of work and pulls (of delayed feedback, those that
    ended or were cancelled).

    Each call uses new streams, because strategies remember runs on the same streams: some continue
    where an earlier run stopped.
    """
    benchmark = timed_of(paper).benchmarks[number]
    replicate = replication_of(paper, benchmark.cell, benchmark.instance)
    fields, keys = {"pulls", "finished", "cancelled"}, itertools.count(1)

    def work() -> tuple[int, int]:
        amount = pulls = 0
        for streams in replication_streams(next(keys), range(benchmark.runs)):
            outcome = replicate(streams)
            amount += benchmark.work(outcome)
            pulls += sum(int(getattr(outcome, f).sum()) for f in fields & set(outcome._fields))
        return amount, pulls

    return work


def peak_of(paper: str, number: int) -> float:
    """Peak memory in MB of this process, which runs a benchmark and nothing else."""
    work_of(paper, number)()
    return own_peak()


def own_peak() -> float:
    """Peak resident memory of this process in MB; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM:"))


def timed(work: Callable) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


#: Parts of the stage below, after the first questions.
LIVE = (
    live_of.large,
    live_of.arrivals,
    live_of.batches,
    live_of.outstanding,
    live_of.files,
    live_of.service,
)


def live(papers: list[str]) -> Iterator[Row]:
    """What live experiments cost: the first question, pulls, files, a service."""
    for name in papers:
        yield row(*live_of.first_asks(name))
    for part in LIVE:
        for measured in part():
            yield row(*measured)


def cold(papers: list[str]) -> Iterator[Row]:
    """What a beginner waits for, compiling included: a run of each strategy, a first question."""
    for name in papers:
        options, kind = live_of.COLD[name]
        for measure, command, how in (
            (f"`bestarm run {options} --reps 1`", f"bestarm run {options} --reps 1", "to the end"),
            (
                f"`from bestarm.{name} import {kind}`, then `ask`",
                shlex.join(live_of.first_ask(f"bestarm.{name}", kind)),
                "until the first arm",
            ),
        ):
            with tempfile.TemporaryDirectory() as cache:
                environ = os.environ | {"NUMBA_CACHE_DIR": cache}
                spent = watched(command, ROOT / "data/instances", environ)
            yield row(f"cold: {measure}", spent.wall, "s", how, processor=spent.processor)


def peers(papers: list[str]) -> Iterator[Row]:
    """How much longer others take for the same work on this machine."""
    for measured in peers_of.measured(papers):
        yield row(*measured)


def drivers(papers: list[str]) -> Iterator[Row]:
    """What runs that are shorter than the steps buy on a whole paper."""
    for paper in papers:
        for measured in alone(drivers_of.all_measured, paper, ROOT):
            yield row(*measured)


def programs(papers: list[str]) -> Iterator[Row]:
    """How long a round of LAGEX's released programs takes, by program and environment."""
    if "lagex" in papers:
        for instance, delta in programs_of.environments():
            with same_bits():
                found = alone(programs_of.measured, instance, delta)
            for measured in found:
                yield row(*measured)


def growth(papers: list[str]) -> Iterator[Row]:
    """How the time of a pull grows with the size of a problem."""
    for measured in growth_of.measured(papers):
        yield row(*measured)


def sizes(papers: list[str]) -> Iterator[Row]:
    """The largest number of arms that each strategy starts on within a second and a gigabyte."""
    for paper in papers:
        for name, most, start, why_not in alone(sizes_of.measured, paper):
            how = why_not or "more was not tried"
            measure = f"size: {name}"
            yield row(measure, most, "arms", how, peak=start.peak, processor=start.seconds)


def quick(papers: list[str]) -> Iterator[Row]:
    """Wall time of everything at the small scales, in a copy of the project."""
    with copy(registry.PAPERS) as folder:
        for scale in ("smoke", "quick"):
            yield row(
                f"{scale} scale from nothing, warm compile cache",
                run(folder, f"figures/{scale}/all"),
                "s",
                f"snakemake figures/{scale}/all on {CORES} cores",
            )


def starts(papers: list[str]) -> Iterator[Row]:
    """What a job of each kind costs by itself, and as a fork of a build's server."""
    with copy(["baics"]) as folder:
        run(folder, "figures/smoke/baics/all")
        yield row(
            "baics, smoke scale, nothing to do",
            min(run(folder, "figures/smoke/baics/all") for _ in range(REPEATS)),
            "s",
            f"snakemake figures/smoke/baics/all again, the least of {REPEATS}",
        )
        results, table = "results/smoke/baics", "figures/smoke/baics/table1.csv"
        files = [f"{results}/instances.json", "data/published/baics.csv"]
        files += [f"{results}/example1/summary.csv"]
        for of, command in {
            "shard of example1": job("shard", "baics", "example1", 0, "x.parquet", "smoke"),
            "summary of example1": job("summary", "baics", "example1", 1, "x.csv", "smoke"),
            "table of table1": step("table", "baics", "table1", *files, "--out", "x.csv"),
            "picture of table1": step(
                *("plot", "baics", "table1", table, "x.svg", "x.png", "x.pdf"),
            ),
        }.items():

            def once(command: list[str] = command) -> None:
                subprocess.run(command, cwd=folder, env=environment(folder), check=True)

            by_itself = statistics.median(timed(once)[0] for _ in range(REPEATS))
            server = served.start()
            once()  # the server imports and loads
            forked = statistics.median(timed(once)[0] for _ in range(REPEATS))
            del os.environ[client.SOCKET]
            if server is not None and server.stdin is not None:
                server.stdin.close()
                server.wait()
            how = f"smoke scale, median of {REPEATS}"
            yield row(f"job: {of}, by itself", by_itself, "s", how)
            yield row(f"job: {of}, in a build", forked, "s", f"{how}; a fork (served.py)")


#: What processes begin with, and which ones.
IMPORTS = {
    "nothing": "Python itself",
    "bestarm.build.client": "a job's command in a build, which asks the server",
    "bestarm.build.served": "the server, before it imports for its jobs",
    "bestarm.registry.scales": "what the workflow knows of papers and scales",
    "bestarm.baics": "ask/tell objects, and what a shard computes with",
    "bestarm.cli": "every command typed by hand",
    "bestarm.runs.shard": "a shard by itself, before its paper's strategies",
    "bestarm.runs.summary": "a summary by itself",
    "bestarm.common.tables": "a table by itself",
    "bestarm.common.drawing": "a picture by itself",
    "snakemake.cli": "the workflow",
}


def imports(papers: list[str]) -> Iterator[Row]:
    """The processor time of a process that imports a module and ends."""
    for module, who in IMPORTS.items():
        code = "pass" if module == "nothing" else f"import {module}"
        spent = [processor_time([sys.executable, "-c", code]) for _ in range(REPEATS)]
        how = f"processor time, median of {REPEATS}; {who}"
        yield row(f"import: {module}", statistics.median(spent), "s", how)


def tests(papers: list[str]) -> Iterator[Row]:
    """`make test` in this folder without compiled kernels, and which tests take the longest."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = os.environ | {"PYTEST_ADDOPTS": f"--junitxml={report}", "NUMBA_CACHE_DIR": folder}
        spent = watched("make test", ROOT, options)
        cases = [case.attrib for case in ElementTree.parse(report).iter("testcase")]
        took = {f"{case['classname']}: {case['name']}": float(case["time"]) for case in cases}
    how = f"make test: {len(took)} tests on {CORES} cores, without compiled kernels"
    yield row("tests: all", spent.wall, "s", how, peak=spent.memory, processor=spent.processor)
    slowest = sorted(took, key=lambda name: took[name], reverse=True)[:SLOWEST]
    for rank, name in enumerate(slowest, 1):
        yield row(f"tests: slowest, {rank}", took[name], "s", name)


def processor_time(command: list[str]) -> float:
    """The seconds that processors spend on a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(names: list[str]) -> Iterator[Row]:
    """What the README's commands cost a reader, one after the other in a new clone."""
    with tempfile.TemporaryDirectory() as parent:
        folder, cache = Path(parent) / "bestarm", Path(parent) / "cache"
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        path = f"{folder}/.venv/bin:{os.environ['PATH']}"
        clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        clean |= {"PATH": path, "NUMBA_CACHE_DIR": str(cache)}
        if "make setup" not in names:
            subprocess.run(["make", "setup"], cwd=folder, env=clean, check=True)
        for command in names:
            if command in COLD:
                shutil.rmtree(cache, ignore_errors=True)
            warm = "compiled kernels" if cache.exists() else "none compiled"
            before = disk_used(parent)
            spent = watched(command, folder, clean)
            yield row(
                f"command: {command}",
                spent.wall,
                "s",
                f"in a new clone, {warm} before, on {CORES} cores",
                peak=spent.memory,
                disk=disk_used(parent) - before,
                processor=spent.processor,
            )
            if command == "make figures":
                yield from build_rows(folder)


def build_rows(folder: Path) -> Iterator[Row]:
    """Which committed figures a build at paper scale changed, and how evenly it filled cores."""
    command = ["git", "-C", str(folder), "status", "--porcelain", "figures"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    files = listed.splitlines()
    yield row(
        "figures: files that make figures changed", len(files), "files", " ".join(files) or "none"
    )
    yield from balance_rows(folder)


def install(papers: list[str]) -> Iterator[Row]:
    """What an installation of the package and nothing more takes, downloads included."""
    for command in INSTALL:
        with tempfile.TemporaryDirectory() as folder:
            venv.create(folder, with_pip=True)
            clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
            clean |= {"PATH": f"{folder}/bin:{os.environ['PATH']}", "PIP_NO_CACHE_DIR": "1"}
            before = disk_used(folder)
            spent = watched(command, ROOT, clean)
            yield row(
                f"command: {command}",
                spent.wall,
                "s",
                "in a new environment, nothing downloaded before",
                peak=spent.memory,
                disk=disk_used(folder) - before,
                processor=spent.processor,
            )


class Spent(NamedTuple):
    """What a command took."""

    wall: float  # s
    processor: float  # s, of all its processes
    memory: float  # MB, the peak of all its processes together


def watched(command: str, folder: Path, environ: dict[str, str]) -> Spent:
    """Run a command, alone on this machine.

    It begins once other processes have used at most OTHERS of a core for three seconds. Ends with
    an error if they do not within a minute, or use more on average beside the command, or if the
    command fails.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    busy = wall = 0.0
    for _ in range(20):
        others, start = others_busy(), time.perf_counter()
        time.sleep(3.0)
        busy, wall = others_busy() - others, time.perf_counter() - start
        if busy <= OTHERS * wall:
            break
    refuse_company(command, busy, wall)
    others, ours, start, peak = others_busy(), ours_busy(), time.perf_counter(), 0
    with subprocess.Popen(["sh", "-c", command], cwd=folder, env=environ) as process:
        tree = psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, sum(map(proportional, [tree, *tree.children(recursive=True)])))
            time.sleep(0.5)
    wall = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"error: {command}: ended with {process.returncode}")
    reap_orphans()
    refuse_company(command, others_busy() - others, wall)
    return Spent(wall, ours_busy() - ours, peak / 1e6)


#: Of prctl on Linux: processes whose parent ended become ours, and so does their processor time.
PR_SET_CHILD_SUBREAPER = 36


def reap_orphans() -> None:
    """Wait for all processes that a command left behind, which end by themselves."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def ours_busy() -> float:
    """Processor seconds of this process and of all that it waited for."""
    spent = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in spent)


def others_busy() -> float:
    """Processor seconds of all other processes; meaningful once ours have ended."""
    times = psutil.cpu_times()
    return times.user + times.nice + times.system - ours_busy()


def refuse_company(command: str, busy: float, wall: float) -> None:
    """End with an error if other processes were too busy."""
    if busy > OTHERS * wall:
        sys.exit(
            f"error: {command}: not measured, other processes used {busy / wall:.0%} of a core, "
            f"at most {OTHERS:.0%} are allowed"
        )


def proportional(process: psutil.Process) -> int:
    """Bytes of memory of a process, pages shared by n processes counted as 1/n; 0 if it ended."""
    try:
        return process.memory_full_info().pss
    except psutil.Error:
        return 0


def disk_used(folder: str) -> float:
    """MB that the files under a folder take on disk."""
    lines = subprocess.run(["du", "-sk", folder], check=True, capture_output=True, text=True)
    return int(lines.stdout.split()[0]) * 1024 / 1e6


def paper(papers: list[str]) -> Iterator[Row]:
    """Wall time of the papers at paper scale, in a copy of the project."""
    with copy(papers) as folder:
        total = 0.0
        for name in papers:
            spent = 0.0
            for targets in timed_of(name).targets:
                for built in (f"results/paper/{name}", f"figures/{name}"):
                    shutil.rmtree(folder / built, ignore_errors=True)
                files = [f"figures/{name}/{target}.svg" for target in targets]
                spent = run(folder, *files)
                yield row(
                    f"{name}, {' and '.join(targets)} from nothing, warm compile cache",
                    spent,
                    "s",
                    f"snakemake {' '.join(files)} on {CORES} cores",
                )
            spent += run(folder, f"figures/{name}/all")  # what is there need not be built again
            total += spent
            yield row(
                f"{name}, paper scale from nothing, warm compile cache",
                spent,
                "s",
                f"snakemake figures/{name}/all on {CORES} cores",
            )
            simulated = sum(
                map(seconds_of, (folder / "results/benchmarks").rglob(f"{name}/**/*.tsv"))
            )
            yield row(
                f"{name}: share of that time in simulation",
                simulated / (CORES * spent),
                "",
                f"{simulated:.0f} s of shard jobs, of {CORES} times the time above",
            )
        if set(papers) == set(registry.PAPERS):
            yield row(
                "all papers, paper scale from nothing, warm compile cache",
                total + run(folder, "figures/all"),
                "s",
                f"the papers one after the other, then snakemake figures/all on {CORES} cores",
            )


def seconds_of(benchmark: Path) -> float:
    """How long a job took, as Snakemake measured it."""
    with benchmark.open(newline="") as file:
        return sum(float(line["s"]) for line in csv.DictReader(file, delimiter="\t"))


def more(papers: list[str]) -> Iterator[Row]:
    """Wall time of targets with more replications than the paper's, and memory of their summary."""
    with copy(papers) as folder:
        for name in papers:
            for target, runs in timed_of(name).more.items():
                file, config = f"figures/more/{name}/{target}.svg", f"replications={runs}"
                yield row(
                    f"{name}, {target} with {runs:,} runs a point, warm compile cache",
                    run(folder, file, config=config),
                    "s",
                    f"snakemake {file} --config {config} on {CORES} cores",
                )
                (experiment,) = registry.PAPERS[name].targets[target].experiments
                results = folder / f"results/paper/{name}/{experiment}"
                shards = len(list(results.glob("shard-*.parquet")))
                yield row(
                    f"{name}: peak memory of the summary of {experiment}, {runs:,} runs a point",
                    peak(folder, job("summary", name, experiment, shards, "x.csv")),
                    "MB",
                    f"{shards} shards",
                )


def data(papers: list[str]) -> Iterator[Row]:
    """Wall time of making the kept tables of data/ again, and whether they come out the same."""
    with copy(()) as folder:
        for name in papers:
            for rule, table in timed_of(name).tables.items():
                spent = run(folder, table, force=rule)
                same = (folder / table).read_bytes() == (ROOT / table).read_bytes()
                yield row(
                    f"{table} made again",
                    spent,
                    "s",
                    f"snakemake --force {table} on {CORES} cores; "
                    + ("the same to the byte" if same else "other bytes than before"),
                )


def cores(papers: list[str]) -> Iterator[Row]:
    """Efficiency of several cores against one: of a paper's shards in the workflow, and of
    independent processes. Cores that share caches or memory keep even these from an efficiency of
    1; only a gap between the two numbers is lost by the workflow."""
    with copy(papers) as folder:
        for name in papers:
            run(folder, f"results/paper/{name}/instances.json")
            sizes = read_scale(folder / "workflow/scales/paper.yaml").papers[name]
            shards = [
                f"results/paper/{name}/{experiment}/shard-{index}.parquet"
                for experiment, size in sizes.items()
                for index in range(size.shards)
            ]
            # On all cores before and after: a load that other programs slowly change cancels out.
            before = run(folder, *shards)
            alone = run(folder, *shards, cores=1, force="shard")
            together = (before + run(folder, *shards, force="shard")) / 2
            yield row(
                f"{name}: efficiency of {CORES} cores against 1",
                alone / (CORES * together),
                "",
                f"all paper-scale shards: {alone:.0f} s on 1 core, {together:.0f} s on {CORES} "
                "(mean of a run before and one after)",
            )
            spent = {1: 0.0, CORES: 0.0}
            for experiment, copies in itertools.product(sizes, spent):
                each = [job("shard", name, experiment, 0, f"{i}.parquet") for i in range(copies)]
                spent[copies] += at_once(folder, each)
            yield row(
                f"{name}: efficiency of {CORES} cores against 1, independent processes",
                spent[1] / spent[CORES],
                "",
                f"the first shard of each experiment: {spent[1]:.0f} s for 1 process, "
                f"{spent[CORES]:.0f} s for {CORES} at the same time",
            )


def at_once(folder: Path, commands: list[list[str]]) -> float:
    """Seconds until commands that start at the same time have all ended. Raises if one fails."""

    def execute(command: list[str]) -> None:
        subprocess.run(command, cwd=folder, env=environment(folder), check=True)

    start = time.perf_counter()
    with ThreadPoolExecutor(len(commands)) as threads:
        list(threads.map(execute, commands))
    return time.perf_counter() - start


def balance(papers: list[str]) -> Iterator[Row]:
    """How evenly the shards of this folder's last build at paper scale, if any, fill cores."""
    return balance_rows(ROOT)


def balance_rows(folder: Path) -> Iterator[Row]:
    """The rows of `balance` for the last build in any folder."""
    for found in balance_of.balances(folder / "results/benchmarks/paper"):
        yield row(
            f"balance: finish of all shards on {found.cores} cores",
            found.ratio,
            "times the even share",
            f"{found.shards} shards, {found.total:.0f} s in all, longest first; the longest takes "
            f"{found.longest.seconds:.0f} s ({found.longest.name})",
        )


def memory(papers: list[str]) -> Iterator[Row]:
    """Peak resident memory of the largest shard job of each paper, as the kernel counts it."""
    with copy(papers) as folder:
        for paper in papers:
            run(folder, f"results/paper/{paper}/instances.json")
            peaks = [
                peak(folder, job("shard", paper, experiment, 0, "x.parquet"))
                for experiment in registry.PAPERS[paper].experiments
            ]
            yield row(
                f"{paper}: peak memory of a shard", max(peaks), "MB", "largest of its experiments"
            )


def step(*arguments: object) -> list[str]:
    """A command of the workflow."""
    return [sys.executable, "-m", "bestarm", "workflow", *map(str, arguments)]


def job(
    name: str, paper: str, experiment: str, number: int, out: str, scale: str = "paper"
) -> list[str]:
    """The command of a job: shard `number`, or the summary of as many."""
    known = read_scale(ROOT / f"workflow/scales/{scale}.yaml")
    sizes = ["--seed", known.seed, "--per-shard", known.papers[paper][experiment].per_shard]
    instances = f"results/{scale}/{paper}/instances.json"
    return step(name, paper, experiment, number, instances, *sizes, "--out", out)


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
    "live": live,
    "cold": cold,
    "peers": peers,
    "growth": growth,
    "sizes": sizes,
    "drivers": drivers,
    "programs": programs,
    "memory": memory,
    "quick": quick,
    "imports": imports,
    "starts": starts,
    "tests": tests,
    "commands": commands,
    "install": install,
    "paper": paper,
    "more": more,
    "data": data,
    "cores": cores,
    "balance": balance,
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


def read() -> dict[str, Row]:
    if not FILE.exists():
        return {}
    with FILE.open(newline="") as file:
        return {line["measure"]: Row(**line) for line in csv.DictReader(file)}


def write(rows: dict[str, Row]) -> None:
    with FILE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([Row._fields, *rows.values()])


def show(rows: dict[str, Row]) -> None:
    heads = [name.replace("_", " ") for name in Row._fields[:-1]]
    table = Table(*heads, title=machine(), title_justify="left")
    for each in rows.values():
        table.add_row(*each[:-1])
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
