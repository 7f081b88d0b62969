"""The strategies as ask/tell objects, on the same steps as simulations (`strategies.py`)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestarm.baics.alternatives import NO_ARM, Problem, nearest_alternative
from bestarm.baics.steps import two_stage_cost
from bestarm.baics.strategies import (
    READINGS,
    STRATEGIES,
    Options,
    Setting,
    rules_of,
)
from bestarm.core.information import stylised_threshold
from bestarm.core.inputs import InputError, parse
from bestarm.core.interactive import AskTell

Pair = tuple[int, int]


class _Baics(AskTell[Pair]):
    """Base class of the strategies: the problem, the state, the stopping rule, the answer.

    Args:
        n_arms: K, at least 2.
        weights: (L,) weights of the subpopulations in an arm's quality; their proportions count.
        delta: maximum probability of a wrong answer, e.g. 0.05. Not guaranteed: the stopping
            threshold is smaller than any that is proved, and with ten segments or more the error
            rate exceeds delta (docs/usage.md, figures/baics/segments).
        constrained: M, the first M subpopulations must have mean >= 0; all of them if left out.
        sigma: standard deviation of a reward, in the rewards' unit.
        reading: of the paper, see `READINGS`.
        seed: of the strategy's own randomness; or a numpy Generator.
        options: of T-a-SCS, see `Options`.

    Raises:
        InputError: an argument is out of range, naming it.
    """

    _name = "Uniform"

    def __init__(
        self,
        n_arms: int,
        weights: Sequence[float],
        *,
        delta: float = 0.1,
        constrained: int | None = None,
        sigma: float = 1.0,
        reading: str = "as-written",
        seed: int | np.random.Generator = 0,
        **options: Any,
    ) -> None:
        name = type(self).__name__
        q = np.array(weights, dtype=float)
        if q.ndim != 1 or not np.isfinite(q).all() or (q < 0).any() or not q.sum() > 0:
            raise InputError(
                f"{name}: weights: must be nonnegative with a positive sum, got {weights}"
            )
        n_constrained = q.size if constrained is None else constrained
        if not 0 <= n_constrained <= q.size:
            raise InputError(f"{name}: constrained: must be 0 to {q.size}, got {constrained}")
        if n_arms < 2:
            raise InputError(f"{name}: n_arms: must be at least 2, got {n_arms}")
        if not (np.isfinite(sigma) and sigma > 0):
            raise InputError(f"{name}: sigma: must be positive, got {sigma}")
        parts = READINGS[self._name].chosen(reading, f"{name}: reading")
        setting = parse(Setting, {"delta": delta, "cap": None}, name)
        problem = Problem(q / q.sum(), n_constrained)
        chosen = parse(Options, options, name)
        rules = rules_of(n_arms, problem, setting.delta, parts, chosen)
        super().__init__(STRATEGIES[self._name], rules, np.random.default_rng(seed))
        self._sigma = sigma

    @property
    def answer(self) -> int | None:
        """The best feasible arm so far, counted from 0, or None if none looks feasible."""
        best = int(self._state.answer[0])
        return None if best == NO_ARM else best

    @property
    def pulls(self) -> np.ndarray:
        """(K, L) pulls so far."""
        return self._state.pulls.astype(np.int64)

    @property
    def means(self) -> np.ndarray:
        """(K, L) empirical means, 0 where there is no pull yet."""
        return self._state.means * self._sigma

    @property
    def statistic(self) -> float:
        """Z(t), to be compared with `threshold`; 0 until every pair was pulled."""
        state = self._state
        if not state.pulls.all():
            return 0.0
        problem = self._rules.problem
        cost = nearest_alternative(state.pulls, state.means, problem, state.answer[0], state.shift)
        return float(self._rules.glr_factor * cost)

    @property
    def threshold(self) -> float:
        """beta(t, delta) = ln((1 + ln t) / delta)."""
        return float(stylised_threshold(max(1, int(self._state.clock[0])), self._rules.delta))

    def tell(self, arm: Pair, reward: float) -> None:
        """Record a reward.

        Raises:
            ValueError: for an unknown (arm, subpopulation) or a reward that is not finite.
        """
        self._record(arm, reward)

    def _arm_at(self, index: int) -> Pair:
        return divmod(index, self._rules.problem.weights.size)

    def _index(self, arm: Pair) -> int:
        k, l = arm
        n_arms, n_groups = self._state.pulls.shape
        if not (0 <= k < n_arms and 0 <= l < n_groups):
            raise ValueError(
                f"arm must be (0 to {n_arms - 1}, 0 to {n_groups - 1}), got ({k}, {l})"
            )
        return k * n_groups + l

    def _observation(self, *observed: float) -> float:
        (reward,) = observed
        return reward / self._sigma


class TaSCS(_Baics):
    """Track-and-Stop with fairness constraints on subpopulations (Section 4).

    `ask` returns (arm, subpopulation), both counted from 0.

    Example:
        >>> s = TaSCS(n_arms=2, weights=[0.5, 0.5], delta=0.1)
        >>> means = [[0.9, 0.8], [0.7, -0.9]]  # of 2 arms on 2 subpopulations, unknown to you
        >>> while not s.done:
        ...     arm, group = s.ask()
        ...     s.tell((arm, group), means[arm][group])
        >>> s.answer
        0
    """

    _name = "T-a-SCS"


class TaS(_Baics):
    """Track-and-Stop for plain identification, with the constrained stopping rule (Section 5).

    Example:
        >>> s = TaS(n_arms=2, weights=[0.5, 0.5], delta=0.1)
        >>> means = [[0.9, 0.8], [0.7, -0.9]]  # of 2 arms on 2 subpopulations, unknown to you
        >>> while not s.done:
        ...     arm, group = s.ask()
        ...     s.tell((arm, group), means[arm][group])
        >>> s.answer, s.statistic > s.threshold
        (0, True)
    """

    _name = "T-a-S"


class Uniform(_Baics):
    """A uniform arm, a subpopulation drawn from the weights (Section 5).

    Example:
        >>> s = Uniform(n_arms=2, weights=[0.5, 0.5], delta=0.1, seed=3)
        >>> means = [[0.9, 0.8], [0.7, -0.9]]  # of 2 arms on 2 subpopulations, unknown to you
        >>> while not s.done:
        ...     arm, group = s.ask()
        ...     s.tell((arm, group), means[arm][group])
        >>> s.answer, int(s.pulls.sum()) == len(s.history)
        (0, True)
    """


class TwoStage(_Baics):
    """Determine which arms are feasible, then the best of these, each at level delta / 2.

    The naive strategy of Section 3.2.

    Example:
        >>> s = TwoStage(n_arms=2, weights=[0.5, 0.5], delta=0.1)
        >>> means = [[0.9, 0.8], [0.7, -0.9]]  # of 2 arms on 2 subpopulations, unknown to you
        >>> while not s.done:
        ...     arm, group = s.ask()
        ...     s.tell((arm, group), means[arm][group])
        >>> s.answer
        0
    """

    _name = "Two-stage"

    @property
    def statistic(self) -> float:
        """The GLR statistic of stage two; 0 while the feasibility of some arm is undecided."""
        if not self._state.decided.all():
            return 0.0
        return float(self._rules.glr_factor * two_stage_cost(self._rules.problem, self._state))

    @property
    def threshold(self) -> float:
        """beta(t, delta / 2)."""
        return float(stylised_threshold(max(1, int(self._state.clock[0])), self._rules.delta / 2))
