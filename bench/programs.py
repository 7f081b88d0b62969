"""The time of a round of LAGEX's released programs, as their port computes them."""

import statistics
import time

import numpy as np

from bestarm.lagex.problem import instances
from bestarm.lagex.released import program
from bestarm.lagex.released.runs import PLANS

#: Rounds of a run that is timed, fewer if it stops by itself; and runs, of which the median counts.
ROUNDS, RUNS = 300, 5


def environments() -> list[tuple[str, float]]:
    """Instance and delta of every environment that whole programs are planned to run in."""
    return [(plan.instance, plan.delta) for plan in PLANS if not plan.without]


def measured(instance: str, delta: float) -> list[tuple[str, float, str, str]]:
    """Measure, value, unit and how, of each program in an environment.

    To be called in a process of the arithmetic that runs are made in (`same_bits`). It has one
    thread, so that processor time is that of the round alone.
    """
    model, rows = instances()[instance].problem, []
    for name in program.PROGRAMS:
        seconds_of_round(name, model, delta, 0, 2 * model.means.size)  # compiles
        spent = [seconds_of_round(name, model, delta, seed) for seed in range(1, RUNS + 1)]
        how = f"processor time, median of {RUNS} runs of at most {ROUNDS} rounds"
        measure = f"program: {name}: {instance}, delta={delta:g}"
        rows.append((measure, 1e3 * statistics.median(spent), "ms a round", how))
    return rows


def seconds_of_round(name: str, model, delta: float, seed: int, rounds: int = ROUNDS) -> float:
    """Processor seconds of a round of a run, the first pulls of all arms left out of the count."""
    rng = np.random.default_rng(seed)
    begin = time.process_time()
    found = program.run(program.variant(name), model, delta, rounds, rng)
    return (time.process_time() - begin) / max(found.time - model.means.size, 1)
