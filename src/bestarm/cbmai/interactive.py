"""SFSR, SFSR-L and USLP as ask/tell objects, on the steps of `steps.py`."""

from collections.abc import Mapping, Sequence

import numpy as np

from bestarm.cbmai.problem import Problem
from bestarm.cbmai.steps import FOUND, PHASE, answer, pulls_needed
from bestarm.cbmai.strategies import STRATEGIES, check_budget, rules_of
from bestarm.core.inputs import InputError
from bestarm.core.interactive import AskTell


class _Cbmai(AskTell[int]):
    """Arms are counted from 0; the slack of constraint l counts as arm K + l, as in the paper.

    Args:
        n_arms: K, at least 2.
        bounds: (L,) bounds on a mixture's mean costs.
        budget: N, the total number of pulls, greater than the number of unknown arms.
        known: arm -> (reward, costs) for arms with known means; `ask` never returns these.

    Raises:
        InputError: an argument is out of range, naming it.
    """

    _name = ""

    def __init__(
        self,
        n_arms: int,
        bounds: Sequence[float] | float,
        budget: int,
        *,
        known: Mapping[int, tuple[float, Sequence[float] | float]] | None = None,
    ) -> None:
        name = type(self).__name__
        known = dict(known or {})
        self._bounds = np.atleast_1d(np.array(bounds, dtype=float))
        if n_arms < 2:
            raise InputError(f"{name}: n_arms: must be at least 2, got {n_arms}")
        if self._bounds.ndim != 1 or not np.isfinite(self._bounds).all() or not self._bounds.size:
            raise InputError(f"{name}: bounds: must be finite numbers, got {bounds}")
        for arm in known:
            if not 0 <= arm < n_arms:
                raise InputError(f"{name}: known: must be arms 0 to {n_arms - 1}, got {arm}")
        unknown = [arm for arm in range(n_arms) if arm not in known]
        if not unknown:
            raise InputError(f"{name}: known: must leave an arm unknown")
        check_budget(budget, len(unknown), name)
        #: Columns as the kernels order them: unknown arms, known arms, slacks.
        self._columns = [*unknown, *known, *range(n_arms, n_arms + self._bounds.size)]
        rewards, costs = np.zeros(n_arms), np.zeros((self._bounds.size, n_arms))
        for place, (arm, (reward, cost)) in enumerate(known.items(), len(unknown)):
            means = np.array([reward, *np.atleast_1d(cost)], dtype=float)
            if means.size != self._bounds.size + 1 or not np.isfinite(means).all():
                raise InputError(
                    f"{name}: known: must be a finite reward and {self._bounds.size} costs "
                    f"per arm, got {(reward, cost)} for arm {arm}"
                )
            rewards[place], costs[:, place] = means[0], means[1:]
        problem = Problem(rewards, costs, self._bounds, len(unknown))
        super().__init__(STRATEGIES[self._name], rules_of(self._name, problem, budget))

    def tell(self, arm: int, reward: float, costs: Sequence[float] | float, pulls: int = 1) -> None:
        """Record the reward and costs of a pull, or their sums over several pulls of an arm.

        Raises:
            ValueError: for an arm that does not exist or is known, numbers that are not finite, the
                wrong number of costs, or a number of pulls that is not a positive integer.
        """
        self._record(arm, reward, *np.atleast_1d(costs), pulls)

    @property
    def wanted(self) -> dict[int, int]:
        """Pulls that each arm still needs in this round, to run them as a batch."""
        needed = [
            pulls_needed(self._rules, self._state, a) for a in range(self._rules.problem.n_unknown)
        ]
        return {self._columns[a]: int(n) for a, n in enumerate(needed) if n}

    @property
    def remaining(self) -> list[int]:
        """The arms and slacks not rejected so far."""
        return sorted(self._columns[c] for c in np.flatnonzero(self._state.remaining))

    @property
    def answer(self) -> list[int] | None:
        """The support of the best mixture, slacks included; None if no mixture is feasible.

        Raises RuntimeError before `done`.
        """
        self._need_the_end()
        return self.remaining if self._state.counters[PHASE] == FOUND else None

    @property
    def mixture(self) -> dict[int, float] | None:
        """Weights of the arms of the best mixture by the estimates (Remark 2); None if infeasible.

        Raises RuntimeError before `done`.
        """
        self._need_the_end()
        if self._state.counters[PHASE] != FOUND:
            return None
        support, weights = answer(self._state, self._rules.problem)
        arms: dict[int, float] = {
            self._columns[c]: float(w) for c, w in zip(support, weights, strict=True)
        }
        return {arm: arms[arm] for arm in sorted(arms) if arm < self._state.pulls.size}

    @property
    def pulls(self) -> np.ndarray:
        """(K,) pulls so far."""
        return self._by_arm(self._state.pulls).astype(np.int64)

    @property
    def rewards(self) -> np.ndarray:
        """(K,) mean rewards, empirical (0 before the first pull) or known."""
        return self._by_arm(self._state.rewards)

    @property
    def costs(self) -> np.ndarray:
        """(L, K) mean costs, likewise."""
        return self._by_arm(self._state.costs)

    def _arm_at(self, index: int) -> int:
        return self._columns[index]

    def _index(self, arm: int) -> int:
        unknown = self._columns[: self._rules.problem.n_unknown]
        if arm not in unknown:
            raise ValueError(f"arm must be an unknown one, {unknown}, got {arm}")
        return unknown.index(arm)

    def _observation(self, *observed: float) -> np.ndarray:
        _, *costs, pulls = observed
        if len(costs) != self._bounds.size:
            raise ValueError(f"costs must be {self._bounds.size} numbers, got {costs}")
        if not (pulls >= 1 and int(pulls) == pulls):
            raise ValueError(f"pulls must be a positive integer, got {pulls}")
        return np.array(observed)

    def _by_arm(self, values: np.ndarray) -> np.ndarray:
        """From the kernels' order of arms to the caller's, along the last axis."""
        return values[..., np.argsort(self._columns[: self._state.pulls.size])]

    def _need_the_end(self) -> None:
        if not self.done:
            raise RuntimeError(f"the run is not over; arms remaining: {self.remaining}")


_EXAMPLE = """
    Example:
        Rewards 3, 0 and 1.5, costs 1, 0 and 0.5, at most 0.75: half of arm 0, half of arm 2.

        >>> s = {name}(n_arms=3, bounds=0.75, budget=60)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, [3.0, 0.0, 1.6][arm], [1.0, 0.0, 0.5][arm])
        >>> s.mixture
        {{0: 0.5, 2: 0.5}}
    """


def _documented(name: str, what: str) -> str:
    """The docstring of a strategy: what it does, the arguments of all, an example."""
    return f"{what} {_Cbmai.__doc__}{_EXAMPLE.format(name=name)}"


class SFSR(_Cbmai):
    __doc__ = _documented("SFSR", "Successive rejects by the intersection value, Algorithm 1.")
    _name = "SFSR"


class SFSRL(_Cbmai):
    __doc__ = _documented("SFSRL", "Successive rejects by the Lagrangian score, Eq. (8).")
    _name = "SFSR-L"


class USLP(_Cbmai):
    __doc__ = _documented(
        "USLP", "The same number of pulls of every unknown arm, then the linear program."
    )
    _name = "USLP"
