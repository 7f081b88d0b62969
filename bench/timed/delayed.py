"""What is timed of the delayed feedback paper."""

from bestarm.common.paper import Cell
from bestarm.delayed.cells import SETTINGS
from timed import Benchmark, Timed


def _speed(setting: dict, reading: str, instance: str, runs: int) -> Benchmark:
    cell = Cell(instance, "Partial", setting, reading)
    note = "with the same run on rewards alone"
    return Benchmark(cell, runs, "step", lambda outcome: outcome.tau, note)


#: Time a simulated step with partial feedback, the split of delta optimised at each, or none.
BENCHMARKS = tuple(
    _speed(setting, reading, instance, 10)
    for setting in SETTINGS
    for instance in ("free n=100", "biased")
    for reading in ("as-written", "guaranteed", "mixture")
)

#: Targets whose time from nothing `make bench` measures.
TARGETS = (("fig1",), ("fig2",), ("mip",))

#: The kept tables by the rules that make them, whose time bench.py measures.
TABLES = {"battery": "data/battery/policies.csv", "mip": "data/mip/traces.parquet"}

TIMED = Timed(BENCHMARKS, TARGETS, tables=TABLES)
