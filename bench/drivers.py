"""What fast runs buy: all runs of a paper as they are simulated, and by the strategies' steps."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timed import replication_of

from bestarm import registry
from bestarm.common.paper import Cell
from bestarm.core.strategy import Strategy
from bestarm.core.streams import run_streams
from bestarm.publish.report_drivers import SIMULATED, STEPPED, fast_runs, measured_as
from bestarm.registry.scales import read_scale

#: Seconds and runs that a cell is measured for, whichever is reached first.
SECONDS, RUNS = 0.2, 20
#: A run by its steps that takes longer is extrapolated by its pulls.
LONGEST = 1.0
#: Parts that a run by its steps is cut into; calls of a compiled loop have more pulls than this.
PARTS, LEAST = 50, 10_000


def all_measured(paper: str, root: Path) -> list[tuple[str, float, str, str]]:
    """Measure, value, unit and how, of each strategy of a paper that has a fast run.

    Seconds of one core for all runs of the paper's experiments at paper scale.
    """
    sizes = read_scale(root / "workflow/scales/paper.yaml").papers[paper]
    fast = fast_runs(paper)
    cells = [
        (cell, sizes[experiment.name].replications)
        for experiment in registry.PAPERS[paper].experiments.values()
        for cell in experiment.cells
        if cell.strategy in fast
    ]
    spent: dict[tuple[str, str], float] = defaultdict(float)
    for cell, runs in cells:
        simulated, pulls = of_simulated(paper, cell)
        spent[cell.strategy, SIMULATED] += runs * simulated
        spent[cell.strategy, STEPPED] += runs * of_steps(paper, cell, pulls)
    numbers = Counter(cell.strategy for cell, _ in cells)
    return [
        (
            measured_as(paper, strategy, driver),
            seconds,
            "s",
            f"{numbers[strategy]} cells at paper scale, each from {RUNS} runs or {SECONDS:g} s",
        )
        for (strategy, driver), seconds in spent.items()
    ]


def of_simulated(paper: str, cell: Cell) -> tuple[float, float]:
    """Seconds and pulls of a run as it is simulated."""
    replicate, outcomes = replication_of(paper, cell), []

    def once(number: int) -> float:
        streams = run_streams(1, number)
        begin = time.process_time()
        outcomes.append(replicate(streams))
        return time.process_time() - begin

    seconds = repeated(once)
    return seconds, sum(int(each.tau) for each in outcomes) / len(outcomes)


def of_steps(paper: str, cell: Cell, pulls: float) -> float:
    """Seconds of a run of so many pulls by the strategy's steps."""
    known = registry.PAPERS[paper]
    assert known.simulation.steps is not None
    asked = known.simulation.steps(known.problems.instances()[cell.instance], cell)
    least = LEAST if isinstance(asked.strategy, Strategy) else 1
    part = max(least, round(pulls / PARTS))
    advance = parts_of(asked, part)
    advance(0, 0.0)  # compiles

    def once(number: int) -> float:
        done, seconds, whole = advance(number, LONGEST)
        return seconds if whole else seconds * max(1.0, pulls / done)

    return repeated(once)


def parts_of(asked: Any, part: int) -> Callable[[int, float], tuple[int, float, bool]]:
    """A function that makes a run part by part, until it stops or the time is up.

    It returns the pulls, up to those of the last part, the seconds, and whether the run stopped or
    reached its cap. With no time at all it makes one part.
    """
    strategy, rules, world, cap = asked

    def advance(number: int, longest: float) -> tuple[int, float, bool]:
        streams = run_streams(1, number)
        begin, done, whole = time.process_time(), 0, False
        state = strategy.start(rules)
        drawn = streams.environment, streams.coins
        follow = strategy.follow(world, rules, state, *drawn)
        while not whole:
            if isinstance(strategy, Strategy):
                whole = strategy.resume(world, rules, state, min(part, cap - done), *drawn)
                done += part
            else:
                made = sum(1 for _ in zip(range(part), follow, strict=False))
                whole, done = made < part, done + made
            whole = bool(whole or done >= cap)
            if time.process_time() - begin > longest:
                break
        return done, time.process_time() - begin, whole

    return advance


def repeated(once: Callable[[int], float]) -> float:
    """Mean seconds, without those of seeding, of what is done on other streams each time."""
    begin, seconds = time.process_time(), []
    while len(seconds) < RUNS and time.process_time() - begin < SECONDS:
        seconds.append(once(1 + len(seconds)))
    return sum(seconds) / len(seconds)
