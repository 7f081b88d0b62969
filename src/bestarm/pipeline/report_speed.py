"""What bench/bench.csv measured, as tables for README.md and docs/speed.md."""

import pandas as pd

from bestarm.common.tables import groups
from bestarm.pipeline.prose import markdown, number


def speed_table(bench: pd.DataFrame) -> str:
    """What `make bench` measured."""
    shown = pd.DataFrame(
        {
            "measure": bench.measure,
            "value": _values(bench),
            "pulls a second": _where_measured(bench.pulls_per_second),
            "peak memory, MB": _where_measured(bench.peak_mb),
            "how": bench.how,
        }
    )
    return _with_machine(shown, bench.machine)


def time_table(bench: pd.DataFrame) -> str:
    """How long what takes, and how much of it is simulation."""
    rows = bench[bench.unit.eq("s")]
    shares = bench.set_index("measure").value
    simulation = [
        shares.get(f"{measure.split(',')[0]}: share of that time in simulation")
        if "paper scale" in measure
        else None
        for measure in rows.measure
    ]
    shown = pd.DataFrame(
        {
            "measure": rows.measure,
            "time": _values(rows),
            "in simulation": ["" if s is None else f"{s:.0%}" for s in simulation],
            "how": rows.how,
        }
    )
    return _with_machine(shown, rows.machine)


def strategy_table(bench: pd.DataFrame) -> str:
    """The time of a unit of work of each strategy where it is shortest and where it is longest."""
    rows = bench[bench.unit.fillna("").str.startswith("us a ")]
    named = rows.measure.str.extract(r"^(?P<paper>\w+): (?P<strategy>.+?) on (?P<instance>.+)$")
    shown = []
    for (paper, strategy), of_one in groups(rows.join(named), "paper", "strategy"):
        longest = of_one.iloc[of_one.value.argmax()]
        shown.append(
            {
                "paper": paper,
                "strategy": strategy,
                "least": number(of_one.value.min()),
                "most": number(of_one.value.max()),
                "unit": longest.unit,
                "most on": longest.instance,
            }
        )
    return _with_machine(pd.DataFrame(shown), rows.machine)


def _with_machine(shown: pd.DataFrame, machines: pd.Series) -> str:
    """A table and the machine it was measured on; a column of them where there are several."""
    if machines.nunique() == 1:
        return f"{markdown(shown)}\n\nMachine: {machines.iloc[0]}."
    return markdown(shown.assign(machine=machines))


def _where_measured(numbers: pd.Series) -> list[str]:
    return ["" if pd.isna(x) else number(x) for x in numbers]


def _values(bench: pd.DataFrame) -> pd.Series:
    return (bench.value.map(number) + " " + bench.unit.fillna("")).str.strip()
