"""What is timed of the LAGEX paper."""

from bestarm.common.paper import Cell
from bestarm.lagex.cells import OTHERS, SETUP_1
from bestarm.lagex.problem import EASIER, HARD, setup1
from bestarm.lagex.strategies import READINGS
from timed import Benchmark, Timed


def _steps(outcome) -> int:
    return int(outcome.tau)


#: Time a step of every strategy with 6, 7 and 12 arms.
BENCHMARKS = tuple(
    Benchmark(Cell(instance, strategy, setting, READINGS[strategy].text), 5, "step", _steps)
    for instance, setting in (
        (setup1(HARD).name, SETUP_1),
        (setup1(EASIER).name, SETUP_1),
        (setup1(HARD, printed=True).name, SETUP_1),
        ("imdb", OTHERS),
    )
    for strategy in READINGS
)

#: Targets whose time from nothing `make bench` measures.
TARGETS = (tuple(f"fig{i}" for i in range(4, 13)),)

TIMED = Timed(BENCHMARKS, TARGETS)
