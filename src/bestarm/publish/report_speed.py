"""What bench/bench.csv measured, as tables for README.md and docs/speed.md."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from bestarm.common.prose import markdown, number
from bestarm.common.tables import groups
from bestarm.registry import EXAMPLE

SETUP = {"make setup": "installs hash-pinned packages into `.venv`, `bestarm` among them"}
#: Commands of the first half hour in a clone, in this order, and what they do.
FIRST = SETUP | {
    "bestarm verify": "compiles the kernels, simulates a twentieth of the runs again and checks "
    "all kept results against them; writes nothing",
    f"rm figures/{EXAMPLE}.* && snakemake figures/{EXAMPLE}.svg": "one table at paper scale; "
    "`git diff figures` stays empty",
    "bestarm run data/instances/example-abn.yaml --delta 0.05": "three strategies on a small "
    "problem, compared",
}
#: Commands that rebuild things, likewise.
REBUILD = SETUP | {
    "make kernels": "compiles all kernels once; later commands compile only what is missing",
    "make figures": "rebuilds every figure, table and verdict at paper scale",
    "make test": "linters, types and tests, from an empty cache of compiled kernels",
    "make quick": "the same at a twentieth of the replications, as SVG, under `figures/quick`",
    "make site": "the site, `site/index.html`, from the committed figures; notebooks included",
    "make notebooks": "a walk through each paper, as pages under `site/notebooks`",
}
#: Microseconds beyond which simulating is tedious: a million pulls, or a thousand runs, take a
#: quarter of an hour.
TEDIOUS = {"pull": 1e3, "step": 1e3, "run": 1e6}
#: How the names of measurements begin that have a table of their own.
ELSEWHERE = ("command: ", "cold: ", "peer: ", "growth: ", "driver: ", "import: ", "tests: ")
ELSEWHERE += ("program: ", "size: ")
#: Columns of what a command costs.
COSTS = ("time", "processor time", "memory", "disk")
#: What is enough to run on one's own problem.
INSTALL = {"pip install .": "the algorithms and the command line, in an environment of their own"}


def command_table(bench: pd.DataFrame, commands: Mapping[str, str]) -> str:
    """What commands do and cost; a dash where it has not been measured."""
    measured = bench.set_index("measure")
    by_measure = {}
    for command, does in commands.items():
        measure = f"command: {command}"
        cost = _cost(measured, measure)
        by_measure[measure] = {"command": f"`{command}`", "what it does": does, **cost}
    machines = measured.machine[measured.index.isin(by_measure)]
    return _with_machine(_lines(by_measure), machines)


def _cost(measured: pd.DataFrame, measure: str) -> dict[str, str]:
    if measure not in measured.index:
        return dict.fromkeys(COSTS, "–")
    seconds, busy, peak, disk = (
        measured[name][measure] for name in ("value", "processor_s", "peak_mb", "disk_mb")
    )
    return dict(
        zip(COSTS, (duration(seconds), busy_time(busy), size(peak), size(disk)), strict=True)
    )


def busy_time(seconds: float) -> str:
    """Processor seconds, if they were measured."""
    return "–" if math.isnan(seconds) else duration(seconds)


def duration(seconds: float) -> str:
    """Seconds, or from 100 of them on minutes."""
    return f"{seconds:.0f} s" if seconds < 99.5 else f"{seconds / 60:.0f} min"


def size(megabytes: float) -> str:
    """Megabytes, or from 1000 of them on gigabytes, if they were measured."""
    if math.isnan(megabytes):
        return "–"
    if megabytes < 1.0:
        return "below 1 MB"
    return f"{megabytes:.0f} MB" if megabytes < 999.5 else f"{megabytes / 1000:.1f} GB"


def peer_table(bench: pd.DataFrame) -> str:
    """How many times our time others take for the same work."""

    def columns(rows: pd.DataFrame) -> dict[str, pd.Series]:
        named = rows.measure.str.split(": ", n=3, expand=True)
        return {
            "paper": named[1],
            "work": named[2],
            "done by": named[3],
            "times our time": rows.value.map(number),
            "ours and theirs": rows.how,
        }

    return _own_table(bench, "peer: ", columns)


def growth_table(bench: pd.DataFrame) -> str:
    """The time of a unit of work by size, with the power of the size by which it grows.

    The power is the slope between the two largest sizes, in logarithms. It also extrapolates to the
    size at which the time would be `TEDIOUS`.
    """
    return _own_table(bench, "growth: ", _growths)


def _growths(rows: pd.DataFrame) -> pd.DataFrame:
    named = rows.measure.str.extract(
        r"^growth: (?P<paper>\w+): (?P<strategy>.+): (?P<at>.+): (?P<size>\w+)=(?P<n>\d+)$"
    )
    by_measure = {}
    for (paper, strategy, at, letter), group in groups(
        rows.join(named), "paper", "strategy", "at", "size"
    ):
        n, spent = group.n.astype(float).to_numpy(), group.value.to_numpy()
        per = group.unit.iloc[0].removeprefix("us a ")
        power = math.log(spent[-1] / spent[-2]) / math.log(n[-1] / n[-2])
        tedious = n[-1] * (TEDIOUS[per] / spent[-1]) ** (1.0 / power) if power > 0.0 else math.inf
        rounded = number(float(f"{tedious:.2g}"))
        by_measure[group.index[-1]] = {
            "paper": paper,
            "strategy": strategy,
            "size": f"{letter} = {', '.join(group.n)} at {at}",
            "time, us": ", ".join(map(number, spent)),
            "per": per,
            "power": f"{power:.1f}",
            "tedious at": f"{letter} = {rounded}" if tedious < 1e5 else "beyond 100,000",
        }
    return _lines(by_measure)


def size_table(bench: pd.DataFrame) -> str:
    """The largest number of arms that each strategy starts on, and what stops it from more."""
    return _own_table(bench, "size: ", _sizes)


def _sizes(rows: pd.DataFrame) -> pd.DataFrame:
    named = rows.measure.str.extract(r"^size: (?P<paper>\w+): (?P<strategy>\w+): (?P<at>.+)$")
    return named.assign(
        arms=rows.value.map(lambda arms: f"{arms:,.0f}"),
        **{
            "processor time": rows.processor_s.map(lambda seconds: f"{seconds:.2g} s"),
            "memory": rows.peak_mb.map(size),
            "on the next number": rows.how,
        },
    )


def import_table(bench: pd.DataFrame) -> str:
    """The processor time of importing what a process begins with."""
    return _own_table(
        bench,
        "import: ",
        lambda rows: {
            "import": rows.measure.str.removeprefix("import: "),
            "processor time": rows.value.map(lambda seconds: f"{1000 * seconds:.0f} ms"),
            "who": rows.how.str.split("; ").str[-1],
        },
    )


def cold_table(bench: pd.DataFrame) -> str:
    """How long the first things take that a user does, with no kernel compiled."""
    return _own_table(
        bench,
        "cold: ",
        lambda rows: {
            "command": rows.measure.str.removeprefix("cold: "),
            "time": rows.value.map(duration),
            "processor time": rows.processor_s.map(busy_time),
            "measured": rows.how,
        },
    )


def suite_table(bench: pd.DataFrame) -> str:
    """The time of the test suite, and of the tests that take the longest."""
    return _own_table(
        bench,
        "tests: ",
        lambda rows: {
            "what": rows.measure.str.removeprefix("tests: "),
            "time": rows.value.map(duration),
            "of": rows.how,
        },
    )


def program_speed_table(bench: pd.DataFrame) -> str:
    """The time of a round of LAGEX's released programs, by program and environment."""
    rows = bench[bench.measure.str.startswith("program: ")]
    if rows.empty:
        return "Not measured."
    named = rows.measure.str.split(": ", n=2, expand=True)
    spent = pd.Series(_values(rows).to_numpy(), pd.MultiIndex.from_arrays([named[1], named[2]]))
    table = spent.unstack()[list(named[2].unique())].loc[list(named[1].unique())]
    by_program = table.rename_axis("program").reset_index()
    return _with_machine(by_program.reset_index(drop=True), rows.machine)


def speed_table(bench: pd.DataFrame) -> str:
    """What `make bench` measured, without what has a table of its own."""
    bench = bench[~bench.measure.str.startswith(ELSEWHERE)]
    table = pd.DataFrame(
        {
            "measure": bench.measure,
            "value": _values(bench),
            "pulls a second": _where_measured(bench.pulls_per_second),
            "peak memory, MB": _where_measured(bench.peak_mb),
            "how": bench.how,
        }
    )
    return _with_machine(table, bench.machine)


def time_table(bench: pd.DataFrame) -> str:
    """How long builds take, and how much of it is simulation."""
    rows = bench[bench.unit.eq("s") & ~bench.measure.str.startswith((*ELSEWHERE, "job: "))]
    shares = bench.set_index("measure").value
    simulation = [
        shares.get(f"{measure.split(',')[0]}: share of that time in simulation")
        if "paper scale" in measure
        else None
        for measure in rows.measure
    ]
    table = pd.DataFrame(
        {
            "measure": rows.measure,
            "time": _values(rows),
            "in simulation": ["" if s is None else f"{s:.0%}" for s in simulation],
            "how": rows.how,
        }
    )
    return _with_machine(table, rows.machine)


def strategy_table(bench: pd.DataFrame) -> str:
    """The time of a unit of work of each strategy where it is shortest and where it is longest."""
    rows = bench[bench.unit.fillna("").str.startswith("us a ")]
    rows = rows[~rows.measure.str.startswith(ELSEWHERE)]
    named = rows.measure.str.extract(r"^(?P<paper>\w+): (?P<strategy>.+?) on (?P<instance>.+)$")
    by_measure = {}
    for (paper, strategy), group in groups(rows.join(named), "paper", "strategy"):
        place = int(group.value.argmax())
        longest = group.iloc[place]
        by_measure[group.index[place]] = {
            "paper": paper,
            "strategy": strategy,
            "least": number(group.value.min()),
            "most": number(group.value.max()),
            "unit": longest.unit,
            "most on": longest.instance,
        }
    return _with_machine(_lines(by_measure), rows.machine)


def _lines(by_measure: Mapping[Any, Mapping[str, str]]) -> pd.DataFrame:
    """A table of one line per measurement, by the measurement's place in the index of all."""
    return pd.DataFrame(list(by_measure.values()), index=list(by_measure))


def _own_table(bench: pd.DataFrame, begins: str, columns: Callable[[pd.DataFrame], Any]) -> str:
    """What is shown of the measurements whose names begin so."""
    rows = bench[bench.measure.str.startswith(begins)]
    if rows.empty:
        return "Not measured."
    return _with_machine(pd.DataFrame(columns(rows)), rows.machine)


def _with_machine(table: pd.DataFrame, machines: pd.Series) -> str:
    """A table and the machine it was measured on, or a column of machines if there are several.

    Args:
        table: one line per measurement.
        machines: by the same index, of these measurements and perhaps others.
    """
    if machines.nunique() == 0:
        return markdown(table)
    if machines.nunique() == 1:
        return f"{markdown(table)}\n\nMachine: {machines.iloc[0]}."
    return markdown(table.assign(machine=machines.reindex(table.index).fillna("–")))


def _where_measured(numbers: pd.Series) -> list[str]:
    return ["" if pd.isna(x) else number(x) for x in numbers]


def _values(bench: pd.DataFrame) -> pd.Series:
    return (bench.value.map(number) + " " + bench.unit.fillna("")).str.strip()
