"""The seven strategies as ask/tell objects, on the compiled steps of the runs."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from bestarm.core.inputs import InputError, parse
from bestarm.core.interactive import AskTell
from bestarm.linear.adaptive import distances, dominated, ellipsoid, log_growth, most_telling, rival
from bestarm.linear.allocation import (
    all_pairs,
    among,
    choose,
    make_uncertainty,
    measure,
    products,
)
from bestarm.linear.confidence import radius
from bestarm.linear.least_squares import make_fit, refit
from bestarm.linear.phased import Phases, RagePhases
from bestarm.linear.problem import Problem, span_of
from bestarm.linear.static import best_arm, done, true_gaps
from bestarm.linear.strategies import (
    READINGS,
    RIDGE,
    Setting,
    adaptive_width,
    make_sequence,
    static_width,
    xy_adaptive_phases,
)


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
    """What all share: the arms, the fit to the rewards, the answer.

    Args:
        arms: (K, d) feature vectors; pulls of arm k give rewards of mean arms[k] . theta.
        delta: wanted probability of a wrong answer, in (0, 1).
        sigma: standard deviation of a reward, in the rewards' unit.
        reading: of the paper, see `strategies.READINGS`; left out, the honest one.

    Raises:
        InputError: an argument is out of range, naming it.
    """

    _strategy = ""
    _ridge = 0.0

    def __init__(
        self,
        arms: Sequence[Sequence[float]],
        *,
        delta: float = 0.05,
        sigma: float = 1.0,
        reading: str | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        table = _finite(arms, 2, f"{name}: arms")
        if len(table) < 2 or len(np.unique(table, axis=0)) < len(table):
            raise InputError(f"{name}: arms: must be at least 2 distinct vectors")
        _positive(sigma, f"{name}: sigma")
        readings = READINGS[self._strategy]
        if reading is not None and reading not in readings:
            raise InputError(f"{name}: reading: must be one of {', '.join(readings)}")
        self._reading = readings[reading or readings.default]
        self._delta = parse(Setting, {"delta": delta}, name).delta
        self._sigma = sigma
        self._span = span_of(table)
        self._arms = table @ self._span
        self._fit = make_fit(self._arms, self._ridge)

    def tell(self, arm: int, reward: float) -> None:
        """Report the reward of one pull of an arm, counted from 0."""
        self._record(arm, reward)

    @property
    def answer(self) -> int:
        """The arm of highest estimated value, counted from 0."""
        return int(best_arm(self._fit))

    @property
    def pulls(self) -> np.ndarray:
        """(K,) pulls so far."""
        counts = np.zeros(len(self._arms), np.int64)
        np.add.at(counts, [entry.arm for entry in self.history], 1)
        return counts

    @property
    def values(self) -> np.ndarray:
        """(K,) estimated mean rewards; 0 while the pulls do not determine them."""
        return self._sigma * self._fit.values

    def _products(self) -> np.ndarray:
        """(K, K) x^T A^-1 x'."""
        table = np.empty((len(self._arms), len(self._arms)))
        products(self._fit, table)
        return table

    def _observe(self, arm: int, *observed: float) -> None:
        (reward,) = observed
        if arm not in range(len(self._arms)):
            raise ValueError(f"arm must be 0 to {len(self._arms) - 1}, got {arm}")
        self._fit.counts[arm] += 1.0
        self._fit.sums[arm] += reward / self._sigma
        if self._determined():
            refit(self._fit)

    def _determined(self) -> bool:
        """Whether the pulls determine theta."""
        pulled = self._arms[self._fit.counts > 0.0]
        return self._ridge > 0.0 or np.linalg.matrix_rank(pulled) == self._arms.shape[1]


class _Static(_Linear):
    """A fixed sequence of arms, and the stopping rule of Eq. (11)."""

    def __init__(self, arms: Sequence[Sequence[float]], **options: Any) -> None:
        super().__init__(arms, **options)
        self._width = static_width(self._reading, len(self._arms), self._delta)
        self._sequence = make_sequence(
            self._strategy, self._arms, self._means(), self._reading.greedy
        )
        self._place = 0

    def _means(self) -> np.ndarray | None:
        return None

    @property
    def done(self) -> bool:
        """Whether one arm dominates all others."""
        return self._begun() and bool(done(self._fit, self._width, self._fit.counts.sum()))

    def _begun(self) -> bool:
        """Whether the first pulls, which determine theta, have been made."""
        return self._place >= self._sequence.least

    def _choose(self) -> int:
        return int(self._sequence.first(self._place + 1)[self._place])

    def _observe(self, arm: int, *observed: float) -> None:
        (reward,) = observed
        super()._observe(arm, reward)
        self._place += arm == self._asked


class G(_Static):
    """G-allocation: every arm's value equally sure, Eq. (12)."""

    _strategy = "G"


class XY(_Static):
    """XY-allocation: every difference of two arms equally sure, Eq. (14)."""

    _strategy = "XY"


class XYOracle(_Static):
    """XY-Oracle, Eqs. (4) and (5): what one would do who knew theta. For simulations.

    Args:
        arms: (K, d) feature vectors.
        theta: (d,) the true parameter.
        options: as of the others.
    """

    _strategy = "XY-Oracle"

    def __init__(
        self, arms: Sequence[Sequence[float]], theta: Sequence[float], **options: Any
    ) -> None:
        table, self._theta = (
            _finite(arms, 2, "XYOracle: arms"),
            _finite(theta, 1, "XYOracle: theta"),
        )
        if self._theta.shape != table.shape[1:]:
            raise InputError("XYOracle: theta: must have as many entries as an arm")
        means = np.sort(table @ self._theta)
        if len(means) > 1 and not means[-1] > means[-2]:
            raise InputError("XYOracle: theta: must make one arm the best, here several are")
        super().__init__(arms, **options)

    def _means(self) -> np.ndarray:
        return self._arms @ (self._span.T @ self._theta) / self._sigma

    @property
    def done(self) -> bool:
        """Whether the true gaps, or under an empirical reading the estimated ones, are clear."""
        if not self._reading.true_gaps:
            return super().done
        wide = radius(self._width, self._fit.counts.sum())
        return self._begun() and bool(true_gaps(self._fit, self._means()) >= wide)


class _Phased(_Linear):
    """Phases of pulls, after each of which dominated arms are left out."""

    def __init__(self, arms: Sequence[Sequence[float]], **options: Any) -> None:
        super().__init__(arms, **options)
        self._phases = self._make_phases()
        self._left = np.ones(len(self._arms), np.bool_)
        self._reached: float = self._phases.start
        self._phase, self._told = 0, 0
        self._begin()

    def _make_phases(self) -> Phases:
        raise NotImplementedError

    @property
    def remaining(self) -> list[int]:
        """Arms that may still be the best, counted from 0."""
        return np.flatnonzero(self._left).tolist()

    @property
    def done(self) -> bool:
        """Whether one arm is left."""
        return bool(self._left.sum() == 1)

    @property
    def answer(self) -> int:
        """Of the arms left, that of highest estimated value, counted from 0."""
        return int(np.argmax(np.where(self._left, self._fit.values, -np.inf)))

    def _begin(self) -> None:
        self._phase += 1
        most = int(np.iinfo(np.int64).max)
        self._plan = self._phases.plan(self._phase, self._left, self._reached, most)
        self._fit = make_fit(self._arms, 0.0)

    def _choose(self) -> int:
        return int(np.argmax(self._plan.counts - self._fit.counts))

    def _observe(self, arm: int, *observed: float) -> None:
        (reward,) = observed
        super()._observe(arm, reward)
        self._told += 1
        if (self._fit.counts >= self._plan.counts).all() and not self.done:
            self._left = self._phases.survivors(self._fit, self._phase, self._left, self._told)
            self._reached = self._plan.reached
            if not self.done:
                self._begin()


class XYAdaptive(_Phased):
    """XY-Adaptive, Figure 3."""

    _strategy = "XY-Adaptive"

    def _make_phases(self) -> Phases:
        return xy_adaptive_phases(self._arms, self._reading, self._delta)


class RAGE(_Phased):
    """RAGE (Fiez, Jain, Jamieson & Ratliff, NeurIPS 2019)."""

    _strategy = "RAGE"

    def _make_phases(self) -> Phases:
        return RagePhases(self._arms, self._delta)


class FullyAdaptive(_Linear):
    """XY-allocation on the arms that no other dominates, after every pull.

    Args:
        arms: (K, d) feature vectors.
        norm: bound on the norm of theta, in the rewards' unit; the readings with Proposition 2's
            width need it.
        options: as of the others.
    """

    _strategy = "Fully-Adaptive"

    def __init__(
        self, arms: Sequence[Sequence[float]], *, norm: float | None = None, **options: Any
    ) -> None:
        super().__init__(arms, **options)
        if self._reading.proposition_2:
            norm = _positive(norm, "FullyAdaptive: norm")
            self._ridge = RIDGE
            self._fit = make_fit(self._arms, RIDGE)
        problem = Problem(self._arms, np.zeros(len(self._arms)), (norm or 0.0) / self._sigma)
        self._width = adaptive_width(self._reading, problem, self._delta)
        self._pairs = all_pairs(len(self._arms))
        self._beaten = np.zeros(len(self._arms), np.bool_)

    @property
    def remaining(self) -> list[int]:
        """Arms that may still be the best, counted from 0."""
        return np.flatnonzero(~self._beaten).tolist()

    @property
    def done(self) -> bool:
        """Whether one arm is left."""
        return len(self.remaining) == 1

    def _choose(self) -> int:
        counts = self._fit.counts
        if (counts == 0.0).any():
            return int(np.argmin(counts))
        directions = among(self._pairs, ~self._beaten)
        uncertainty = make_uncertainty(counts.size, directions.first.size)
        measure(self._fit, directions, uncertainty)
        return int(choose(directions, uncertainty, counts, self._reading.greedy))

    def _observe(self, arm: int, *observed: float) -> None:
        (reward,) = observed
        super()._observe(arm, reward)
        if (self._fit.counts > 0.0).all():
            wide = radius(self._width, self._fit.counts.sum())
            far = np.empty(self._pairs.first.size)
            distances(self._fit, self._pairs, self._products(), far)
            dominated(self._fit, self._pairs, far, wide, self._beaten)


class LinGapE(_Linear):
    """LinGapE (Xu, Honda & Sugiyama, AISTATS 2018).

    Args:
        arms: (K, d) feature vectors.
        norm: bound on the norm of theta, in the rewards' unit.
        options: as of the others.
    """

    _strategy = "LinGapE"
    _ridge = RIDGE

    def __init__(self, arms: Sequence[Sequence[float]], *, norm: float, **options: Any) -> None:
        super().__init__(arms, **options)
        self._norm = _positive(norm, "LinGapE: norm") / self._sigma

    @property
    def done(self) -> bool:
        """Whether no other arm might still be better than the best looking."""
        return bool((self._fit.counts > 0.0).all() and self._pair()[2] <= 0.0)

    def _pair(self) -> tuple[int, int, float]:
        """The two arms that are hardest to tell apart, and by how much the second may be better."""
        best = best_arm(self._fit)
        wide = ellipsoid(log_growth(self._fit), self._norm, self._delta, RIDGE)
        other, excess = rival(self._products(), self._fit.values, best, wide)
        return best, other, excess

    def _choose(self) -> int:
        if (self._fit.counts == 0.0).any():
            return int(np.argmin(self._fit.counts))
        best, other, _ = self._pair()
        return int(most_telling(self._products(), best, other))
