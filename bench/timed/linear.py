"""What is timed of the linear bandits paper."""

from bestarm.common.paper import Cell
from bestarm.linear.cells import PAPER_SETTING
from bestarm.linear.strategies import CHOICES, CLOSEST
from timed import Benchmark, Timed


def _speed(d: int, strategy: str, reading: str, runs: int) -> Benchmark:
    whole = strategy in ("XY-Adaptive", "XY-Oracle", "RAGE")
    setting = PAPER_SETTING if whole else {"delta": 0.05, "cap": 400_000}
    cell = Cell(f"d={d}", strategy, setting, reading)
    return Benchmark(cell, runs, "pull", lambda outcome: outcome.tau)


#: Speed at d = 5 and against d. Strategies that go pull by pull are stopped early by a cap.
BENCHMARKS = tuple(
    _speed(d, strategy, "honest" if strategy in CLOSEST else "as-written", 20)
    for d in (2, 5, 10)
    for strategy in CHOICES
)

TIMED = Timed(BENCHMARKS)
