"""What is timed of BAICS."""

from bestarm.baics.cells import every_strategy
from timed import Benchmark, Timed

#: Speed at K = L = 3, T-a-SCS with one supergradient step a pull and with the exact maximiser.
BENCHMARKS = tuple(
    Benchmark(cell, runs=200, per="pull", work=lambda outcome: outcome.tau)
    for cell in every_strategy("example1")
    if "no-half" not in cell.reading
)

TIMED = Timed(BENCHMARKS)
