"""The generic driver, on a strategy of three lines."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import NullCache
from three_steps import TOY, WORLD, Rules

from bestarm import registry
from bestarm.common.paper import Cell
from bestarm.core.compile import PACKAGE, cache_folder
from bestarm.live.interactive import AskTell


def log(state):
    return state.log[: state.used[0]].tolist()


def test_a_run_looks_chooses_and_observes_in_turn():
    rng = np.random.default_rng(0)
    state, stopped = TOY.play(WORLD, Rules(3), 10, rng, rng)
    assert stopped
    assert log(state) == [1, 2, 3] * 3 + [1]


def test_a_run_ends_at_its_cap_before_another_look():
    rng = np.random.default_rng(0)
    state, stopped = TOY.play(WORLD, Rules(30), 2, rng, rng)
    assert not stopped
    assert log(state) == [1, 2, 3] * 2


def test_a_run_step_by_step_is_the_same():
    rng = np.random.default_rng(0)
    state = TOY.start(Rules(3))
    assert list(TOY.follow(WORLD, Rules(3), state, rng, rng)) == [0, 1, 0]
    assert log(state) == [1, 2, 3] * 3 + [1]


def test_a_person_is_asked_the_same():
    """The rule is evaluated after every observation; before the first it cannot hold."""

    class Toy(AskTell[int]):
        def __init__(self):
            super().__init__(TOY, Rules(3))

        def _label(self, index):
            return index

        def _index(self, arm):
            return arm

    toy = Toy()
    while not toy.done:
        assert toy.ask() == toy.ask()
        toy._tell(toy.ask(), 1.0)
    assert log(toy._state) == [2, 3, 1] * 3


def hits(cache):
    """Of two strategies, how often the loop was found compiled and how often not, in a process.

    They differ in one step only, so a loop that is found for the wrong one would fit.
    """
    code = (
        "from dataclasses import replace\n"
        "import numpy as np\n"
        "from three_steps import TOY, WORLD, Rules, second_arm\n"
        "rng = np.random.default_rng(0)\n"
        "for toy in (TOY, replace(TOY, name='another', choose=second_arm)):\n"
        "    state, _ = toy.play(WORLD, Rules(2), 10, rng, rng)\n"
        "    stats = toy.resume.stats\n"
        "    print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), end=' ')\n"
        "    print(*state.log[:4])\n"
    )
    path = os.pathsep.join([str(PACKAGE.parent), str(Path(__file__).parent)])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.splitlines()


def test_compiled_loops_are_found_by_a_second_process(tmp_path):
    assert hits(tmp_path) == ["0 1 1 2 3 1", "0 1 1 4 3 1"]
    assert hits(tmp_path) == ["1 0 1 2 3 1", "1 0 1 4 3 1"]


@pytest.mark.parametrize("paper", ["baics", "cbmai", "lagex"])
def test_compiled_loops_of_papers_are_kept(paper):
    """Of the papers that play by steps; with the other kernels of the paper, unless its steps are
    shared."""
    simulation = registry.PAPERS[paper].simulation
    for strategy, readings in simulation.readings.items():
        cell = Cell(simulation.easy.name, strategy, {}, readings.default)
        steps = simulation.steps(simulation.easy, cell).strategy
        assert not isinstance(steps.resume._cache, NullCache), strategy
        folder = cache_folder(paper if f".{paper}." in steps.choose.__module__ else None)
        assert Path(steps.resume.stats.cache_path).is_relative_to(folder), strategy
