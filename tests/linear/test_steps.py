"""The steps against the runs that simulations take: the same pulls, and the same answer."""

from copy import deepcopy

import numpy as np
import pytest

from bestarm.common.paper import Cell
from bestarm.core.status import Status
from bestarm.core.streams import run_streams
from bestarm.linear.permille import PERMILLE, is_tested
from bestarm.linear.problem import Instance
from bestarm.linear.steps import PhasedSteps, StaticState
from bestarm.linear.strategies import EASY, READINGS, STRATEGIES, prepare, steps
from components import components
from linear.instances import drawn

SHOWN = {strategy: components(readings) for strategy, readings in READINGS.items()}
CASES = [(strategy, reading) for strategy in STRATEGIES for reading in SHOWN[strategy]]
INSTANCES = {"easy": EASY}
for seed, size in enumerate([(2, 4), (3, 4)]):
    arms, theta, _ = drawn(seed, *size, strength=3.0)
    name = f"drawn {seed}"
    INSTANCES[name] = Instance(name=name, arms=arms.tolist(), theta=theta.tolist())
SETTING = {"delta": 0.1, "cap": 4000}


class Told:
    """In place of a generator: the normals that make a sum of rewards what a run draws at once.

    A run draws z of a Gaussian for the sum of c rewards of an arm, c mean + sqrt(c) z. Here every
    one of the c rewards is mean + z / sqrt(c).

    Args:
        environment: of the run.
        phase: () -> the number of a phase, and the (K,) pulls in it whose rewards are summed.
    """

    def __init__(self, environment, phase):
        self._environment, self._phase = environment, phase
        self._number, self._shares = 0, np.zeros(0)
        self.arm = 0

    def standard_normal(self):
        number, counts = self._phase()
        if number != self._number:
            normals = self.normals(counts)
            self._number, self._shares = number, normals / np.sqrt(np.maximum(counts, 1.0))
        return self._shares[self.arm]

    def normals(self, counts):
        return self._environment.standard_normal(counts.size)


class ToldUntilTest(Told):
    """The same for a run that draws sums from one test to the next, of the arms that are pulled.

    Which are pulled depends on no reward in between.
    """

    def __init__(self, environment, strategy, rules, state):
        super().__init__(environment, self.until_test)
        self._run, self._end, self._pulls = (strategy, rules, state), 0, np.zeros(0)

    def normals(self, counts):
        normals = np.zeros(counts.size)
        normals[counts > 0] = self._environment.standard_normal((counts > 0).sum())
        return normals

    def until_test(self):
        strategy, rules, state = self._run
        if state.pulls.sum() >= self._end:
            ahead, arm = deepcopy(state), self.arm
            while True:
                strategy.observe(rules, ahead, arm, 0.0)
                self._end = ahead.pulls.sum()
                if is_tested(PERMILLE, self._end) or self._end >= SETTING["cap"]:
                    break
                arm = strategy.choose(rules, ahead, None)
            self._pulls = ahead.pulls - state.pulls
        return self._end, self._pulls


def stepped(instance, cell, environment_of):
    """A run step by step: its last state, and whether it stopped."""
    strategy, rules, world, cap = steps(instance, cell)
    state = strategy.start(rules)
    environment = environment_of(strategy, rules, state)
    for _ in range(cap):
        if strategy.done(rules, state):
            return state, True
        arm = strategy.choose(rules, state, None)
        if isinstance(environment, Told):
            environment.arm = arm
        strategy.observe(rules, state, arm, strategy.pull(world, state, arm, environment))
    return state, strategy.done(rules, state)


@pytest.mark.parametrize("instance", INSTANCES)
@pytest.mark.parametrize(("strategy", "reading"), CASES)
def test_steps_make_the_pulls_of_the_run(strategy, reading, instance):
    """Told the same normals; where the run draws sums of rewards, normals with the same sums.

    The sums then agree but for rounding. Runs in phases do not order the pulls of a phase, so if
    the cap cuts one its pulls may differ.
    """
    cell = Cell(instance, strategy, SETTING, reading)
    wanted = prepare(INSTANCES[instance], cell)(run_streams(5, 1))
    environment = run_streams(5, 1).environment

    def told(step, rules, state):
        if isinstance(step, PhasedSteps):
            return Told(environment, lambda: (state.phase, state.plan.counts))
        if getattr(rules, "means", None) is not None:
            return Told(environment, lambda: (1, wanted.pulls))
        if getattr(rules, "every", 1) == PERMILLE:
            return ToldUntilTest(environment, step, rules, state)
        return environment

    state, stopped = stepped(INSTANCES[instance], cell, told)
    assert stopped == (wanted.status == Status.STOPPED)
    assert state.pulls.sum() == wanted.tau
    if stopped or not isinstance(STRATEGIES[strategy], PhasedSteps):
        assert state.answer + 1 == wanted.answer
        np.testing.assert_array_equal(state.pulls, wanted.pulls)


def test_these_runs_are_long_enough_to_tell():
    """Of every strategy some stop within the cap, after many pulls."""
    for strategy in STRATEGIES:
        runs = []
        for name, instance in INSTANCES.items():
            for reading in SHOWN[strategy]:
                cell = Cell(name, strategy, SETTING, reading)
                runs.append(prepare(instance, cell)(run_streams(5, 1)))
        stops = [run.tau for run in runs if run.status == Status.STOPPED]
        assert stops, strategy
        assert max(stops) > 100, strategy


def test_a_sequence_moves_only_by_choosing():
    strategy, rules, _, _ = steps(EASY, Cell("easy", "G", {}, "honest"))
    state = strategy.start(rules)
    strategy.observe(rules, state, 0, 1.0)
    assert isinstance(state, StaticState)
    assert state.place == 0
    arm = strategy.choose(rules, state, None)
    assert state.place == 1
    strategy.observe(rules, state, (arm + 1) % 3, 1.0)
    strategy.observe(rules, state, arm, 1.0)
    assert state.place == 1
    assert state.pulls.sum() == 3
