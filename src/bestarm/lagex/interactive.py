"""The strategies as ask/tell objects, on the steps of `exploration.py`."""

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from bestarm.core.inputs import InputError
from bestarm.core.interactive import AskTell
from bestarm.lagex.state import FAR_CUT
from bestarm.lagex.strategies import FAILURES, READINGS, STRATEGIES, Setting, rules_of
from bestarm.lagex.vertices import ALL_BASES, MOST_COLUMNS, alternatives


def _numbers(value: Any, field: str) -> np.ndarray:
    """An argument as an array. Raises InputError naming it unless it holds finite numbers."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{field}: must be numbers, got {value!r}") from None
    if not np.isfinite(array).all():
        raise InputError(f"{field}: must be finite numbers, got {array.tolist()}")
    return array


class _Lagex(AskTell[int]):
    """Base class. The answer is a policy: a share of each arm, summing to one.

    Arms are counted from 0. Constraint i is: mean cost at most limits[i]. For a lower limit, give
    its negative and tell negative costs.
    """

    _name = ""

    def __init__(
        self,
        n_arms: int,
        limits: Sequence[float] | float,
        matrix: np.ndarray | None,
        *,
        delta: float = 0.1,
        r: float = 0.01,
        sigma: Sequence[float] | float = 1.0,
        reading: str = "as-written",
    ) -> None:
        name = type(self).__name__
        if not isinstance(n_arms, Integral) or n_arms < 2:
            raise InputError(f"{name}: n_arms: must be a whole number of at least 2, got {n_arms}")
        at_most = np.atleast_1d(_numbers(limits, f"{name}: limits"))
        if at_most.ndim != 1 or not at_most.size:
            raise InputError(f"{name}: limits: must be numbers, got {at_most.tolist()}")
        if n_arms + at_most.size > MOST_COLUMNS:
            raise InputError(
                f"{name}: n_arms, limits: must be at most {MOST_COLUMNS} together, "
                f"got {n_arms + at_most.size}"
            )
        if not 0.0 < delta < 1.0:
            raise InputError(f"{name}: delta: must be greater than 0 and less than 1, got {delta}")
        if not 0.0 <= r < np.inf:
            raise InputError(f"{name}: r: must be at least 0, got {r}")
        deviations = _numbers(sigma, f"{name}: sigma")
        if deviations.shape not in ((), (n_arms,)) or not (deviations > 0).all():
            raise InputError(
                f"{name}: sigma: must be positive, one number or {n_arms}, "
                f"got {deviations.tolist()}"
            )
        parts = READINGS[self._name].chosen(reading, f"{name}: reading")
        if matrix is None:
            matrix = np.zeros((at_most.size, n_arms))
        elif len(matrix) != at_most.size:
            raise InputError(
                f"{name}: limits: must be {len(matrix)} numbers, one per row of matrix, "
                f"got {at_most.size}"
            )
        elif alternatives(np.zeros(n_arms), matrix, at_most, -np.inf) is None:
            raise InputError(
                f"{name}: limits: must allow some policy, here none satisfies all of them"
            )
        variances = np.broadcast_to(deviations**2, n_arms).copy()
        setting = Setting(delta=delta, r=r)
        rules = rules_of(self._name, parts, setting, variances, at_most, matrix)
        super().__init__(STRATEGIES[self._name], rules)

    @property
    def answer(self) -> np.ndarray:
        """(K,) the best policy by the estimates of the last `ask`; final once `done`."""
        return self._state.policies.polytope.policy.copy()

    @property
    def allocation(self) -> np.ndarray:
        """(K,) the target shares of pulls, as of the last `ask`."""
        return self._state.omega.copy()

    @property
    def pulls(self) -> np.ndarray:
        """(K,) pulls so far."""
        return self._state.estimates.pulls.astype(np.int64)

    @property
    def failures(self) -> dict[str, int]:
        """Rounds in which a step of the computation failed, by the names of `Outcome`."""
        return {name: int(self._state.counts[place]) for name, place in FAILURES.items()}

    def _update_done(self) -> None:
        cut = self._state.counts[FAR_CUT]
        super()._update_done()
        if self._state.counts[FAR_CUT] > cut:
            warnings.warn(
                f"{type(self).__name__} would stop, but the policies have more than "
                f"{ALL_BASES} bases, too many to compare the answer with",
                RuntimeWarning,
                stacklevel=4,
            )

    def _index(self, arm: int) -> int:
        n_arms = self._rules.variances.size
        if arm not in range(n_arms):
            raise ValueError(f"arm must be 0 to {n_arms - 1}, got {arm}")
        return arm

    def _observation(self, *observed: float) -> np.ndarray:
        expected = self._rules.limits.size
        if len(observed) != 1 + expected:
            raise ValueError(f"costs must be {expected} numbers, got {len(observed) - 1}")
        return np.array(observed)


class _Unknown(_Lagex):
    """A strategy that learns the constraints.

    Args:
        n_arms: K, at least 2.
        limits: (d,) upper limits on a policy's mean costs.
        delta: maximum probability of an answer more than r below the best feasible policy. There
            is no guarantee that the answer is feasible (docs/usage.md).
        r: tolerance of the answer's mean reward, in the rewards' unit.
        sigma: standard deviation of rewards, one or (K,); that of costs is assumed to be 1.
        reading: see docs/readings.md.

    Raises:
        InputError: an argument is out of range, naming it.
    """

    def __init__(self, n_arms: int, limits: Sequence[float] | float, **options: Any) -> None:
        super().__init__(n_arms, limits, None, **options)

    def tell(self, arm: int, reward: float, costs: Sequence[float] | float) -> None:
        """Record a pull's reward and its d costs.

        Raises:
            ValueError: for an unknown arm, numbers that are not finite, or a wrong number of costs.
        """
        self._record(arm, reward, *np.atleast_1d(costs))


class _Known(_Lagex):
    """A strategy that is given the constraints.

    Args:
        matrix: (d, K) mean costs of the arms.
        limits, delta, r, sigma, reading: as for the other strategies.

    Raises:
        InputError: an argument is out of range, naming it; or no policy satisfies the limits.
    """

    def __init__(
        self, matrix: Sequence[Sequence[float]], limits: Sequence[float], **options: Any
    ) -> None:
        name = type(self).__name__
        costs = np.atleast_2d(_numbers(matrix, f"{name}: matrix"))
        if costs.ndim != 2:
            raise InputError(
                f"{name}: matrix: must be rows of numbers, got {costs.ndim} dimensions"
            )
        super().__init__(int(costs.shape[1]), limits, costs, **options)

    def tell(self, arm: int, reward: float) -> None:
        """Record a pull's reward. Raises ValueError for an unknown arm or a non-finite reward."""
        self._record(arm, reward, *np.zeros(self._rules.limits.size))


_EXAMPLE = """
    Example:
        Rewards 1 and 0, and costs 1 and 0, at most 0.5: half of each arm.{remark}

        >>> s = {name}({arguments})
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, [1.0, 0.0][arm]{costs})
        >>> s.answer.round(2).tolist()
        {answer}
    """


def _documented(name: str, what: str, base: type[_Lagex]) -> str:
    """The docstring of a strategy: what it does, its arguments, an example."""
    parts = {"arguments": "matrix=[[1.0, 0.0]], limits=[0.5]", "costs": "", "remark": ""}
    parts |= {"answer": "[0.5, 0.5]"}
    if base is _Unknown:
        parts |= {"arguments": "n_arms=2, limits=0.5", "costs": ", [1.0, 0.0][arm]"}
        parts |= {"remark": " Estimates of costs start at 0, so a\n        little more is allowed."}
        parts |= {"answer": "[0.54, 0.46]"}
    return f"{what} {base.__doc__}{_EXAMPLE.format(name=name, **parts)}"


class LAGEX(_Unknown):
    __doc__ = _documented(
        "LAGEX",
        "Algorithm 3, a game of an allocation player with a Lagrangian penalty.",
        _Unknown,
    )
    _name = "LAGEX"


class LATS(_Unknown):
    __doc__ = _documented("LATS", "Algorithm 2, tracking the Lagrangian lower bound.", _Unknown)
    _name = "LATS"


class CTnS(_Known):
    __doc__ = _documented(
        "CTnS", "Tracking the lower bound of known constraints (Carlsson et al.).", _Known
    )
    _name = "CTnS"


class CGE(_Known):
    __doc__ = _documented("CGE", "The game for known constraints (Carlsson et al.).", _Known)
    _name = "CGE"


class Uniform(_Unknown):
    __doc__ = _documented("Uniform", "Uniform sampling, with the same stopping rule.", _Unknown)
    _name = "Uniform"
