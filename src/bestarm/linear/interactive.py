"""The seven strategies as ask/tell objects, on the steps of `steps.py`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestarm.core.arguments import numbers, positive
from bestarm.core.inputs import InputError, parse
from bestarm.core.plain import ordinary
from bestarm.linear.problem import MOST_ARMS, Problem, span_basis
from bestarm.linear.self_normalised import self_normalised
from bestarm.linear.strategies import READINGS, STRATEGIES, Setting, make_rules
from bestarm.live.combinations import Interval
from bestarm.live.counts import Counts
from bestarm.live.interactive import AskTell, Trial
from bestarm.live.labels import Label, count_or_names
from bestarm.live.lines import Line
from bestarm.live.monitor import PRIOR_PULLS, Monitored, more_trials
from bestarm.live.record import atomic

Arms = Sequence[Sequence[float]] | Mapping[str, Sequence[float]]


def features(arms: Any, name: str) -> np.ndarray:
    """(K, d) features of arms, with or without names. Raises InputError."""
    arms = ordinary(arms)
    return numbers([*arms.values()] if isinstance(arms, Mapping) else arms, 2, f"{name}: arms")


def ellipsoid_intervals(
    arms: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
    delta: float,
    directions: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Least-squares values of directions and half-widths that hold for all of them at all times.

    With A the design of the pulls, I0 that of PRIOR_PULLS spread evenly, and S = sum of x times
    noise, exp(y S - y^T A y / 2) mixed over y ~ N(0, I0^-1) is a martingale, so with probability
    1 - delta S^T (A + I0)^-1 S <= 2 beta, beta = ln(1/delta) + 1/2 ln det(A + I0) / det I0, and
    |x A^-1 S| <= sqrt(2 beta x^T A^-1 (A + I0) A^-1 x).

    Args:
        arms: (K, d), of rank d.
        counts, sums: (K,) of pulls and rewards.
        delta: for all directions together, which may be chosen in hindsight.
        directions: (n, d); the arms if left out.

    Returns:
        (n,) values in the unit of the rewards and (n,) half-widths in that of the noise; nan and
        infinity if the pulls do not determine the values.
    """
    vectors = arms if directions is None else directions
    design = arms.T * counts @ arms
    if np.linalg.matrix_rank(arms[counts > 0]) < arms.shape[1]:
        return np.full(len(vectors), np.nan), np.full(len(vectors), np.inf)
    prior = PRIOR_PULLS / len(arms) * arms.T @ arms
    beta = -np.log(delta) + 0.5 * (
        np.linalg.slogdet(design + prior)[1] - np.linalg.slogdet(prior)[1]
    )
    predictors = np.linalg.solve(design, vectors.T)
    spread = np.einsum("da,de,ea->a", predictors, design + prior, predictors)
    return predictors.T @ (arms.T @ sums), np.sqrt(2.0 * beta * spread)


class _Linear(Monitored, AskTell[Label]):
    """Arms have names or are counted from 0.

    Args:
        arms: (K, d) feature vectors, at most 5,000; pulls of arm k give rewards of mean
            arms[k] . theta. With names: a mapping from name to vector.
        delta: maximum probability of a wrong answer, e.g. 0.05.
        sigma: standard deviation of a reward, in the rewards' unit.
        reading: of the paper, see `strategies.READINGS`; by default the honest one.
        counts_all: whether results that were not asked for count. Then arms are compared by a
            bound for every choice of pulls (docs/guarantees.md), in place of the reading's.
        window, default: a result counts in the order of asking, and as `default` if it is not told
            within `window` later trials, or within that time if calls have `at`.

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
        arms: Arms,
        *,
        delta: float = 0.05,
        sigma: float = 1.0,
        reading: str | None = None,
        counts_all: bool = False,
        window: float | None = None,
        default: float | None = None,
    ) -> None:
        self._made_with(locals())
        name = type(self).__name__
        table = features(arms, name)
        if len(table) > MOST_ARMS:
            raise InputError(
                f"{name}: arms: must be at most {MOST_ARMS:,}, as all pairs of arms are kept, "
                f"got {len(table):,}"
            )
        if len(table) < 2 or len(np.unique(table, axis=0)) < len(table):
            raise InputError(f"{name}: arms: must be at least 2 distinct vectors")
        labels: Any = ordinary(arms)
        if not isinstance(labels, Mapping):
            labels = len(table)
        self._arms = count_or_names(labels, "arm", 2, f"{name}: arms")
        self._sigma = positive(sigma, f"{name}: sigma")
        readings = READINGS[self._name]
        chosen = readings.default if reading is None else reading
        rule = readings.chosen(chosen, f"{name}: reading")
        if rule.true_gaps and self._means is None:
            raise InputError(f"{name}: reading: true gaps are known in simulations only")
        setting = parse(Setting, {"delta": delta}, name)
        self._delta = setting.delta
        means = np.zeros(len(table)) if self._means is None else self._means
        problem = Problem(table @ span_basis(table), means / sigma, self._norm / sigma)
        rules = make_rules(self._name, problem, rule, setting.delta)
        strategy = STRATEGIES[self._name]
        if counts_all:
            strategy, rules = self_normalised(rules, setting.delta)
            self._fixed_design = False
        super().__init__(strategy, rules, window=window, default=default)

    @atomic
    def tell(
        self,
        arm: Trial[Label] | Label,
        reward: float | None = None,
        *,
        pulls: int | None = None,
        total: float | None = None,
        at: float | None = None,
    ) -> None:
        """Record the reward of a trial, or of one pull of an arm; with a window, of a trial.

        Or of several pulls of an arm their number and the `total` of their rewards, as
        `tell_table` does. Without a window none may be late, or missing, because of its value. G,
        XY, XY-Oracle, XY-Adaptive and RAGE count only what they asked for (docs/live.md), but with
        `counts_all`.

        Raises:
            ValueError: for an unknown arm or trial, or a reward that is no finite number; or of
                `at`, as for `ask`; or more pulls than count.
        """
        self._tell_one(arm, reward, pulls=pulls, total=total, at=at)

    def _observe_counts(self, batch: Sequence[Counts]) -> None:
        for counts in batch:
            total = float(self._standard(counts))
            self._strategy.observe(self._rules, self._state, counts.arm, total, counts.pulls)

    @property
    def answer(self) -> Label:
        """The arm of highest estimated value among those not eliminated."""
        return self._arms[self._state.answer]

    @property
    def pulls(self) -> np.ndarray:
        """(K,) pulls so far."""
        return self._state.pulls.astype(np.int64)

    @property
    def values(self) -> np.ndarray:
        """(K,) estimated mean rewards; 0 while the pulls do not determine them."""
        return self._sigma * self._state.fit.values

    def _lines(self) -> list[Line]:
        """Estimates from all rewards that count, with the ellipsoid of docs/guarantees.md."""
        features: np.ndarray = self._rules.arms
        counts = self._counts()[0]
        values, halves = self._ellipsoid(features)
        is_finite = np.isfinite(halves)
        low = np.where(is_finite, values - halves, -np.inf)
        high = np.where(is_finite, values + halves, np.inf)
        return [
            Line(
                str(self._arms[a]),
                "reward",
                int(counts[a]),
                float(values[a]),
                float(low[a]),
                float(high[a]),
                self._status(a),
                self._kept_out.get(a, 0),
            )
            for a in range(len(features))
        ]

    def _counts(self) -> tuple[np.ndarray, np.ndarray]:
        """(K,) pulls and sums of the rewards that count."""
        counts, sums = np.zeros((2, len(self._rules.arms)))
        for a, (pulls, total) in self._totals.items():
            counts[a], sums[a] = pulls, total[0]
        return counts, sums

    def _ellipsoid(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and half-widths in the unit of the rewards."""
        features: np.ndarray = self._rules.arms
        values, halves = ellipsoid_intervals(features, *self._counts(), self._delta, directions)
        return values, halves * self._sigma

    def _difference(self, line: Line, control: Line) -> Interval:
        names = [*map(str, self._arms.labels)]
        ours, theirs = (self._rules.arms[names.index(side.arm)] for side in (line, control))
        (value,), (half,) = self._ellipsoid((ours - theirs)[None])
        if not np.isfinite(half):
            return Interval(-np.inf, np.nan, np.inf)
        return Interval(float(value - half), float(value), float(value + half))

    def _status(self, arm: int) -> str:
        if arm == self._state.answer:
            return "best" if self.done else "leads"
        return "worse" if self.done else "open"

    def _open_question(self) -> str:
        state = self._state
        if not state.fit.inverse.any():
            return "The pulls so far do not determine the values of all arms."
        best, table, values = state.answer, state.table, state.fit.values
        sizes = np.diag(table) + table[best, best] - 2.0 * table[best]
        gaps: np.ndarray = values[best] - values
        far = np.full(gaps.size, np.inf)
        np.divide(gaps, np.sqrt(sizes), out=far, where=sizes > 0.0)
        other, needed = int(np.argmin(far)), self._strategy.radius(self._rules, state)
        more = more_trials(state.pulls.sum(), float(far[other]) ** 2, needed**2)
        return (
            f"{self._arms[best]} leads, but {self._arms[other]} may be better: they are "
            f"{far[other]:.2f} standard errors apart, {needed:.2f} are needed; {more}."
        )

    def _label(self, index: int) -> Label:
        return self._arms[index]

    def _index(self, arm: Any) -> int:
        return self._arms.index(arm)

    def _data(self) -> list[np.ndarray]:
        return [a for a in self._state.fit if isinstance(a, np.ndarray)]

    def _expect(self, pulls: Mapping[int, int]) -> None:
        self._strategy.expect(self._rules, self._state, pulls)

    def _may_ask(self) -> bool:
        return self._strategy.may_choose(self._rules, self._state)

    def _observation(self, index: int, *observed: float) -> float:
        (reward,) = observed
        return reward / self._sigma


class _FixedSequence(_Linear):
    """A strategy along a sequence of arms that is fixed beforehand."""

    _fixed_design = True


class _Elimination(_Linear):
    """A strategy that eliminates arms."""

    @property
    def remaining(self) -> list[Label]:
        """Arms that may still be the best."""
        return [self._arms[int(a)] for a in np.flatnonzero(self._state.active)]

    def _status(self, arm: int) -> str:
        return super()._status(arm) if self._state.active[arm] else "eliminated"


class _Phases(_Elimination):
    """A strategy that eliminates arms at the end of phases, each with a design fixed before it."""

    _fixed_design = _plans_ahead = True

    def _open_question(self) -> str:
        missing = np.maximum(self._state.plan.counts - self._state.fit.counts, 0.0)
        return (
            f"{len(self.remaining)} arms remain: {', '.join(map(str, self.remaining))}. Phase "
            f"{self._state.phase} takes {int(missing.sum()):,} more pulls; others may follow."
        )


_EXAMPLE = """
    Example:
        >>> arms, theta = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], [1.0, 0.2]  # theta is unknown
        >>> s = {name}(arms, sigma=0.1)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, sum(x * t for x, t in zip(arms[arm], theta)))
        >>> s.answer
        0
    """


class G(_FixedSequence):
    __doc__ = f"""G-allocation: minimises the largest uncertainty of an arm's value, Eq. (12).

    {_Linear.__doc__}{_EXAMPLE.format(name="G")}"""
    _name = "G"


class XY(_FixedSequence):
    __doc__ = f"""XY-allocation: minimises the largest uncertainty of a difference, Eq. (14).

    {_Linear.__doc__}{_EXAMPLE.format(name="XY")}    >>> [round(float(v), 2) for v in s.values]
        [1.0, 0.2, 0.92]
    """
    _name = "XY"


class XYOracle(_FixedSequence):
    """XY-Oracle, Eqs. (4) and (5): a strategy that is given theta, for simulations.

    Args:
        arms: (K, d) feature vectors, or a mapping from name to vector.
        theta: (d,) the true parameter, which makes one arm the best.
        delta, sigma, reading, window, default: as for the other strategies.

    Raises:
        InputError: an argument is out of range, naming it.

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
        self,
        arms: Arms,
        theta: Sequence[float],
        *,
        delta: float = 0.05,
        sigma: float = 1.0,
        reading: str | None = None,
        window: float | None = None,
        default: float | None = None,
    ) -> None:
        self._made_with(locals())
        table = features(arms, "XYOracle")
        parameter = numbers(theta, 1, "XYOracle: theta")
        if parameter.shape != table.shape[1:]:
            raise InputError("XYOracle: theta: must have as many entries as an arm")
        self._means = table @ parameter
        ascending = np.sort(self._means)
        if len(ascending) > 1 and not ascending[-1] > ascending[-2]:
            raise InputError("XYOracle: theta: must make one arm the best, here several are")
        super().__init__(
            arms, delta=delta, sigma=sigma, reading=reading, window=window, default=default
        )


class XYAdaptive(_Phases):
    __doc__ = f"""XY-Adaptive, Figure 3.

    {_Linear.__doc__}{_EXAMPLE.format(name="XYAdaptive")}    >>> s.remaining
        [0]
    """
    _name = "XY-Adaptive"


class RAGE(_Phases):
    __doc__ = f"""RAGE (Fiez, Jain, Jamieson & Ratliff, NeurIPS 2019).

    {_Linear.__doc__}{_EXAMPLE.format(name="RAGE")}    >>> s.remaining
        [0]
    """
    _name = "RAGE"


class FullyAdaptive(_Elimination):
    """XY-allocation on the arms that no other arm dominates, updated after every pull.

    Args:
        arms: (K, d) feature vectors, or a mapping from name to vector.
        norm: bound on the norm of theta, in the rewards' unit; the readings with Proposition 2's
            width need it.
        delta, sigma, reading, window, default: as for the other strategies.

    Raises:
        InputError: an argument is out of range, naming it.

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
        self,
        arms: Arms,
        *,
        norm: float | None = None,
        delta: float = 0.05,
        sigma: float = 1.0,
        reading: str | None = None,
        window: float | None = None,
        default: float | None = None,
    ) -> None:
        self._made_with(locals())
        if norm is not None:
            self._norm = positive(norm, "FullyAdaptive: norm")
        super().__init__(
            arms, delta=delta, sigma=sigma, reading=reading, window=window, default=default
        )
        if self._rules.ridge > 0.0 and norm is None:
            raise InputError("FullyAdaptive: norm: must be given for Proposition 2's width")


class LinGapE(_Linear):
    """LinGapE (Xu, Honda & Sugiyama, AISTATS 2018).

    Args:
        arms: (K, d) feature vectors, or a mapping from name to vector.
        norm: bound on the norm of theta, in the rewards' unit.
        delta, sigma, reading, window, default: as for the other strategies.

    Raises:
        InputError: an argument is out of range, naming it.

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

    def __init__(
        self,
        arms: Arms,
        *,
        norm: float,
        delta: float = 0.05,
        sigma: float = 1.0,
        reading: str | None = None,
        window: float | None = None,
        default: float | None = None,
    ) -> None:
        self._made_with(locals())
        self._norm = positive(norm, "LinGapE: norm")
        super().__init__(
            arms, delta=delta, sigma=sigma, reading=reading, window=window, default=default
        )
