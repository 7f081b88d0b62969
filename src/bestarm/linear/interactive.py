"""The seven strategies as ask/tell objects, on the steps of `steps.py`."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from bestarm.core.inputs import InputError, parse
from bestarm.core.interactive import AskTell
from bestarm.linear.problem import Problem, span_of
from bestarm.linear.strategies import READINGS, STRATEGIES, Setting, rules_of


def _finite(values: Any, dimensions: int, source: str) -> np.ndarray:
    """An array of finite numbers. Raises InputError naming `source`."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if array.ndim != dimensions or not np.isfinite(array).all():
        shape = "a vector" if dimensions == 1 else "vectors of equal length,"
        raise InputError(f"{source}: must be {shape} of finite numbers")
    return array


def _positive(value: Any, source: str) -> float:
    """A positive, finite number. Raises InputError naming `source`."""
    if not isinstance(value, int | float | np.number) or not 0.0 < value < np.inf:
        raise InputError(f"{source}: must be a positive number, got {value}")
    return float(cast(float, value))


class _Linear(AskTell[int]):
    """Base class of the strategies: the arms, the fit to the rewards, the answer.

    Args:
        arms: (K, d) feature vectors; pulls of arm k give rewards of mean arms[k] . theta.
        delta: maximum probability of a wrong answer, e.g. 0.05.
        sigma: standard deviation of a reward, in the rewards' unit.
        reading: of the paper, see `strategies.READINGS`; by default the honest one.

    Raises:
        InputError: an argument is out of range, naming it.
    """

    _name = ""
    # The part of the truth that some strategies are given, in the rewards' unit: the arms' means,
    # the norm of theta.
    _means: np.ndarray | None = None
    _norm = 0.0

    def __init__(
        self,
        arms: Sequence[Sequence[float]],
        *,
        delta: float = 0.05,
        sigma: float = 1.0,
        reading: str | None = None,
    ) -> None:
        name = type(self).__name__
        table = _finite(arms, 2, f"{name}: arms")
        if len(table) < 2 or len(np.unique(table, axis=0)) < len(table):
            raise InputError(f"{name}: arms: must be at least 2 distinct vectors")
        self._sigma = _positive(sigma, f"{name}: sigma")
        readings = READINGS[self._name]
        chosen = readings.chosen(reading or readings.default, f"{name}: reading")
        setting = parse(Setting, {"delta": delta}, name)
        means = np.zeros(len(table)) if self._means is None else self._means
        problem = Problem(table @ span_of(table), means / sigma, self._norm / sigma)
        rules = rules_of(self._name, problem, chosen, setting.delta)
        super().__init__(STRATEGIES[self._name], rules)

    def tell(self, arm: int, reward: float) -> None:
        """Report the reward of one pull of an arm, counted from 0.

        Raises:
            ValueError: for an unknown arm or a reward that is not finite.
        """
        self._record(arm, reward)

    @property
    def answer(self) -> int:
        """The arm of highest estimated value among those not eliminated, counted from 0."""
        return self._state.answer

    @property
    def pulls(self) -> np.ndarray:
        """(K,) pulls so far."""
        return self._state.pulls.astype(np.int64)

    @property
    def values(self) -> np.ndarray:
        """(K,) estimated mean rewards; 0 while the pulls do not determine them."""
        return self._sigma * self._state.fit.values

    def _index(self, arm: int) -> int:
        if arm not in range(len(self._rules.arms)):
            raise ValueError(f"arm must be 0 to {len(self._rules.arms) - 1}, got {arm}")
        return arm

    def _observation(self, *observed: float) -> float:
        (reward,) = observed
        return reward / self._sigma


class _Eliminating(_Linear):
    """A strategy that eliminates arms."""

    @property
    def remaining(self) -> list[int]:
        """Arms that may still be the best, counted from 0."""
        return np.flatnonzero(self._state.active).tolist()


class G(_Linear):
    """G-allocation: minimises the largest uncertainty of an arm's value, Eq. (12).

    Example:
        >>> arms, theta = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], [1.0, 0.2]  # theta is unknown
        >>> s = G(arms, sigma=0.1)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, sum(x * t for x, t in zip(arms[arm], theta)))
        >>> s.answer
        0
    """

    _name = "G"


class XY(_Linear):
    """XY-allocation: minimises the largest uncertainty of a difference of two arms, Eq. (14).

    Example:
        >>> arms, theta = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], [1.0, 0.2]  # theta is unknown
        >>> s = XY(arms, sigma=0.1)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, sum(x * t for x, t in zip(arms[arm], theta)))
        >>> s.answer
        0
        >>> [round(float(v), 2) for v in s.values]
        [1.0, 0.2, 0.92]
    """

    _name = "XY"


class XYOracle(_Linear):
    """XY-Oracle, Eqs. (4) and (5): a strategy that is given theta, for simulations.

    Args:
        arms: (K, d) feature vectors.
        theta: (d,) the true parameter, which makes one arm the best.
        options: delta, sigma and reading, as for the other strategies.

    Example:
        >>> arms, theta = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], [1.0, 0.2]  # theta is unknown
        >>> s = XYOracle(arms, theta, sigma=0.1)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, sum(x * t for x, t in zip(arms[arm], theta)))
        >>> s.answer
        0
    """

    _name = "XY-Oracle"

    def __init__(
        self, arms: Sequence[Sequence[float]], theta: Sequence[float], **options: Any
    ) -> None:
        table, parameter = (
            _finite(arms, 2, "XYOracle: arms"),
            _finite(theta, 1, "XYOracle: theta"),
        )
        if parameter.shape != table.shape[1:]:
            raise InputError("XYOracle: theta: must have as many entries as an arm")
        self._means = table @ parameter
        ascending = np.sort(self._means)
        if len(ascending) > 1 and not ascending[-1] > ascending[-2]:
            raise InputError("XYOracle: theta: must make one arm the best, here several are")
        super().__init__(arms, **options)


class XYAdaptive(_Eliminating):
    """XY-Adaptive, Figure 3.

    Example:
        >>> arms, theta = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], [1.0, 0.2]  # theta is unknown
        >>> s = XYAdaptive(arms, sigma=0.1)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, sum(x * t for x, t in zip(arms[arm], theta)))
        >>> s.answer
        0
        >>> s.remaining
        [0]
    """

    _name = "XY-Adaptive"


class RAGE(_Eliminating):
    """RAGE (Fiez, Jain, Jamieson & Ratliff, NeurIPS 2019).

    Example:
        >>> arms, theta = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], [1.0, 0.2]  # theta is unknown
        >>> s = RAGE(arms, sigma=0.1)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, sum(x * t for x, t in zip(arms[arm], theta)))
        >>> s.answer
        0
        >>> s.remaining
        [0]
    """

    _name = "RAGE"


class FullyAdaptive(_Eliminating):
    """XY-allocation on the arms that no other arm dominates, updated after every pull.

    Args:
        arms: (K, d) feature vectors.
        norm: bound on the norm of theta, in the rewards' unit; the readings with Proposition 2's
            width need it.
        options: delta, sigma and reading, as for the other strategies.

    Example:
        >>> arms, theta = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], [1.0, 0.2]  # theta is unknown
        >>> s = FullyAdaptive(arms, sigma=0.1)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, sum(x * t for x, t in zip(arms[arm], theta)))
        >>> s.answer
        0
    """

    _name = "Fully-Adaptive"

    def __init__(
        self, arms: Sequence[Sequence[float]], *, norm: float | None = None, **options: Any
    ) -> None:
        if norm is not None:
            self._norm = _positive(norm, "FullyAdaptive: norm")
        super().__init__(arms, **options)
        if self._rules.ridge > 0.0 and norm is None:
            raise InputError("FullyAdaptive: norm: must be given for Proposition 2's width")


class LinGapE(_Linear):
    """LinGapE (Xu, Honda & Sugiyama, AISTATS 2018).

    Args:
        arms: (K, d) feature vectors.
        norm: bound on the norm of theta, in the rewards' unit.
        options: delta, sigma and reading, as for the other strategies.

    Example:
        >>> arms, theta = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], [1.0, 0.2]  # theta is unknown
        >>> s = LinGapE(arms, norm=1.5, sigma=0.1)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, sum(x * t for x, t in zip(arms[arm], theta)))
        >>> s.answer
        0
    """

    _name = "LinGapE"

    def __init__(self, arms: Sequence[Sequence[float]], *, norm: float, **options: Any) -> None:
        self._norm = _positive(norm, "LinGapE: norm")
        super().__init__(arms, **options)
