"""How strategies of linear bandits are played when assumptions do not hold."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from bestarm.common.assumptions import Assumptions, Case, Replicate
from bestarm.common.paper import Cell
from bestarm.core.noise import DisturbedGenerator, shifts
from bestarm.core.streams import Streams
from bestarm.linear.phased import Phases, Plan
from bestarm.linear.strategies import SIMULATION, prepare_phased


class ChangingPhases:
    """Phases, and in place of a generator the noise of an arm's sum while means change.

    A phase pulls the arm that lacks most pulls (`PhasedSteps.choose`), so the order of its pulls,
    and how much means have changed by each, is known before; the rest of an arm's sum is one draw.
    """

    def __init__(self, phases: Phases, noise: DisturbedGenerator) -> None:
        self._phases, self._noise, self.start = phases, noise, phases.start
        self.survivors = phases.survivors

    def plan(self, phase: int, active: np.ndarray, reached: float, most: int) -> Plan:
        plan = self._phases.plan(phase, active, reached, most)
        self._counts = plan.counts.astype(int)
        return plan

    def standard_normal(self, n_arms: int) -> np.ndarray:
        """(n_arms,) the sums of the phase, less means, over the roots of their numbers of pulls."""
        arms = np.repeat(np.arange(n_arms), self._counts)
        left = np.concatenate([np.arange(n, 0, -1) for n in self._counts])
        arms = arms[np.lexsort((arms, -left))]
        changes = np.bincount(arms, shifts(self._noise, arms.size), n_arms)
        self._noise.drawn[0] += arms.size
        roots = np.sqrt(np.maximum(self._counts, 1))
        return self._noise.generator.standard_normal(n_arms) + changes / roots


def in_phases(instance: Any, cell: Cell) -> Replicate:
    """Plays XY-Adaptive or RAGE, which pull in phases, while means change."""
    assert SIMULATION.steps is not None
    steps = SIMULATION.steps(instance, cell)

    def replicate(streams: Streams) -> Any:
        noise: Any = streams.environment
        changing: Any = ChangingPhases(steps.rules.phases, noise)
        rules = steps.rules._replace(phases=changing)
        play: Any = prepare_phased(rules, steps.world, steps.cap)
        return play(SimpleNamespace(environment=changing))

    return replicate


ASSUMPTIONS = Assumptions(
    (Case("linear", "three-arms", {"cap": 20_000}, ("XY-Oracle",)),),  # which knows the truth
    ask_tell=frozenset({"RAGE", "XY-Adaptive"}),
    in_phases=in_phases,
)
