"""The strategies as ask/tell objects, on the same steps as simulations (`strategies.py`)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, cast, get_args, overload

import numpy as np

from bestarm.baics.alternatives import NO_ARM, NO_FLOOR, alternative_cost, problem_of
from bestarm.baics.evidence import GLR, UNKNOWN, half_width, log_unknown
from bestarm.baics.problem import floor_of
from bestarm.baics.steps import INITIAL_DRAWS, log_evidence, needed_evidence
from bestarm.baics.strategies import (
    READINGS,
    STRATEGIES,
    Options,
    Reading,
    Setting,
    rules_of,
)
from bestarm.baics.two_stage import two_stage_cost
from bestarm.common.monitor import Line, Monitored, mean_interval, more_trials
from bestarm.common.rates import Law
from bestarm.core.anytime import BERNOULLI_SIGMA, beta_interval
from bestarm.core.arguments import numbers, positive, whole
from bestarm.core.information import stylised_threshold
from bestarm.core.inputs import InputError, parse, short
from bestarm.core.interactive import AskTell, Trial
from bestarm.core.labels import Label, count_or_names
from bestarm.core.record import atomic

Pair = tuple[Label, Label]
#: Both parameters of the prior of the intervals of rewards from 0 to 1.
BETA_PRIOR = 0.5


class _Baics(Monitored, AskTell[Pair]):
    """Base class of the strategies: the problem, the state, the stopping rule, the answer.

    Args:
        n_arms: K, at least 2; or the arms' names.
        weights: (L,) weights of the subpopulations in an arm's quality; their proportions count.
            With names: a mapping from name to weight. `Uniform` and `TaS`, which draw
            subpopulations by weight, need positive ones for constrained subpopulations.
        delta: maximum probability of a wrong answer, e.g. 0.05. Guaranteed under the readings whose
            name has `proven`, of which one is the default (docs/guarantees.md), for rewards with
            noise that is sub-Gaussian with this sigma. Not under the paper's `as-written`: with
            ten segments or more its error rate exceeds delta (figures/baics/guarantee).
        constrained: M, the first M subpopulations must have mean >= minimum; all if left out.
        minimum: the least mean of the answer on a constrained subpopulation; one number, or M.
        sigma: standard deviation of a reward, in the rewards' unit; one number, or (K, L) by arm
            and subpopulation. For rewards between a and b, such as 0 and 1, (b - a) / 2 will do.
            Or "unknown", for Gaussian noise, which selects a reading `proven-unknown-sigma`; these
            readings make no use of a sigma. Not for Two-stage.
        rewards: "gaussian"; or "bernoulli" for rewards that are 0 or 1, or between: sigma is then
            1/2, and minima are tested by the law of such rewards, which is sharper.
        reading: of the paper, see `READINGS`; by default the one of `bestarm run`.
        seed: of the strategy's own randomness; or a numpy Generator.
        options: of T-a-SCS, see `Options`.

    Raises:
        InputError: an argument is out of range, or an option is set by the reading, naming it.
    """

    _name = "Uniform"
    _draws_groups = False  # by weight: one of weight 0 is never tried, so never decided
    _newer: ClassVar[dict[str, Any]] = {"minimum": 0.0, "rewards": "gaussian"}

    def __init__(
        self,
        n_arms: int | Sequence[str],
        weights: Sequence[float] | Mapping[str, float],
        *,
        delta: float = 0.1,
        constrained: int | None = None,
        minimum: float | Sequence[float] = 0.0,
        sigma: float | Sequence[Sequence[float]] | Literal["unknown"] = 1.0,
        rewards: Law = "gaussian",
        reading: str | None = None,
        seed: int | np.random.Generator = 0,
        **options: Any,
    ) -> None:
        name = type(self).__name__
        self._arms = count_or_names(n_arms, "arm", 2, f"{name}: n_arms")
        shares = list(weights.values()) if isinstance(weights, Mapping) else weights
        q = numbers(shares, 1, f"{name}: weights")
        if (q < 0).any() or not q.sum() > 0:
            raise InputError(
                f"{name}: weights: must be nonnegative with a positive sum, got {weights}"
            )
        groups = list(weights) if isinstance(weights, Mapping) else q.size
        self._groups = count_or_names(groups, "subpopulation", 1, f"{name}: weights")
        most = q.size if constrained is None else constrained
        n_constrained = whole(most, 0, q.size, f"{name}: constrained")
        least = numbers(minimum, 1, f"{name}: minimum")
        if least.size not in (1, n_constrained):
            raise InputError(
                f"{name}: minimum: must be a number, or {n_constrained} numbers, one per "
                f"constrained subpopulation, got {least.size}"
            )
        self._floor = floor_of(least if least.size > 1 else float(least[0]), n_constrained, q.size)
        rule = self._rule(sigma, reading)
        used = 1.0 if rule.stopping == UNKNOWN else sigma
        self._sigma = _sigmas(used, (len(self._arms), q.size), f"{name}: sigma")
        if rewards not in get_args(Law):
            raise InputError(
                f"{name}: rewards: must be gaussian or bernoulli, got {short(rewards)}"
            )
        if rewards == "bernoulli":
            self._check_sigma(sigma, rule)
            self._sigma = np.full(self._sigma.shape, BERNOULLI_SIGMA)
        setting = parse(Setting, {"delta": delta, "cap": None}, name)
        if self._draws_groups and not q[:n_constrained].all():
            never = self._groups[int(np.argmin(q[:n_constrained]))]
            raise InputError(
                f"{name}: weights: must be positive on constrained subpopulations, which {name} "
                f"draws by weight, got 0 for {never}"
            )
        floor = self._floor if rewards == "bernoulli" else NO_FLOOR
        problem = problem_of(q, n_constrained, self._sigma, floor)
        chosen = parse(Options, options, name)
        rules = rules_of(len(self._arms), problem, setting.delta, rule, chosen, name)
        super().__init__(STRATEGIES[self._name], rules, np.random.default_rng(seed))

    def _rule(self, sigma: Any, reading: Any) -> Reading:
        """The reading. Raises InputError if there is none, or it needs a sigma that is unknown."""
        name, readings = type(self).__name__, READINGS[self._name]
        wanted = readings.default if reading is None else reading
        if isinstance(sigma, str) and sigma == "unknown":
            fitting = [key for key, rule in readings.items() if rule.stopping == UNKNOWN]
            if reading is None and fitting:
                wanted = fitting[0]
            if wanted not in fitting:
                raise InputError(f"{name}: sigma: must be known under reading {short(wanted)}")
        return readings.chosen(wanted, f"{name}: reading")

    def _check_sigma(self, sigma: Any, rule: Reading) -> None:
        """Raises InputError if sigma is neither that of Bernoulli rewards nor left out."""
        name = type(self).__name__
        if rule.stopping == UNKNOWN:
            raise InputError(f"{name}: rewards: must be gaussian if sigma is unknown")
        if not np.isin(sigma, (BERNOULLI_SIGMA, 1.0)).all():
            raise InputError(f"{name}: sigma: must be left out if rewards are bernoulli")

    @overload
    def ask(self) -> Pair: ...

    @overload
    def ask(self, n: int) -> list[Trial[Pair]]: ...

    @overload
    def ask(self, *, segment: Label) -> Trial[Pair]: ...

    @atomic
    def ask(
        self, n: int | None = None, *, segment: Label | None = None
    ) -> Pair | list[Trial[Pair]] | Trial[Pair]:
        """The (arm, subpopulation) to pull next, the same until it is told; or n new trials.

        With `segment`, a new trial for somebody who comes in this subpopulation: the strategy
        chooses the arm only.

        Raises:
            RuntimeError: once `done`.
            ValueError: n is not a positive integer, or there is no such subpopulation.
        """
        if segment is None:
            return super().ask() if n is None else super().ask(n)
        if n is not None:
            raise ValueError(f"n must be left out with segment, got {n}")
        return self._trials(1, self._groups[self._groups.index(segment)])[0]

    def _choose(self, segment: Label | None = None) -> int:
        chosen = super()._choose()
        if segment is None:
            return chosen
        group = self._groups.index(segment)
        return self._arm_for(group, chosen // len(self._groups)) * len(self._groups) + group

    def _arm_for(self, group: int, chosen: int) -> int:
        """The arm for a subpopulation: the least pulled in its initial draws, then the chosen."""
        pulls = self._state.pulls[:, group]
        return int(np.argmin(pulls)) if (pulls < INITIAL_DRAWS).any() else chosen

    @property
    def answer(self) -> Label | None:
        """The best feasible arm so far, or None if none looks feasible."""
        best = int(self._state.answer[0])
        return None if best == NO_ARM else self._arms[best]

    @property
    def pulls(self) -> np.ndarray:
        """(K, L) pulls so far."""
        return self._state.pulls.astype(np.int64)

    @property
    def means(self) -> np.ndarray:
        """(K, L) empirical means, 0 where there is no pull yet."""
        told = self._state.pulls > 0
        return np.where(told, self._state.means * self._sigma + self._floor, 0.0)

    @property
    def statistic(self) -> float:
        """Z(t) or ln(evidence), to be compared with `threshold`; 0 until every pair was pulled."""
        return min(self._evidence()) if self._state.pulls.all() else 0.0

    def _evidence(self) -> list[float]:
        """The statistic against every kind of alternative to the answer, see `alternative_cost`."""
        state, rules = self._state, self._rules
        problem, best, shift = rules.problem, int(state.answer[0]), state.shift
        kinds = range(problem.constrained + rules.n_arms)
        if rules.stopping == UNKNOWN:
            data = (state.evidence, state.pulls, state.means, problem, best)
            return [float(log_unknown(i, self.threshold, *data)) for i in kinds]
        costs = [
            float(alternative_cost(i, state.pulls, state.means, problem, best, shift))
            for i in kinds
        ]
        if rules.stopping == GLR:
            return [rules.glr_factor * cost for cost in costs]
        proved = [float(log_evidence(rules, state, i)) for i in kinds]
        if problem.floor.size:
            return proved
        return [min(0.5 * cost, log) for cost, log in zip(costs, proved, strict=True)]

    @property
    def threshold(self) -> float:
        """beta(t, delta) = ln((1 + ln t) / delta), or the evidence needed, ln(K / delta)."""
        if self._rules.stopping != GLR:
            return float(needed_evidence(self._rules))
        return float(stylised_threshold(max(1, int(self._state.clock[0])), self._rules.delta))

    @atomic
    def tell(self, arm: Trial[Pair] | Pair, reward: float) -> None:
        """Record the reward of a trial, or of an (arm, subpopulation).

        Raises:
            ValueError: for an unknown (arm, subpopulation) or trial, or a reward that is no finite
                number, or not from 0 to 1 if rewards are bernoulli.
        """
        self._tell(arm, reward)

    def _lines(self) -> list[Line]:
        lines: list[Line] = []
        totals, n_pairs = self._totals(), self._state.pulls.size
        for index in range(n_pairs):
            arm, group = self._label(index)
            pulls, sums = totals.get(index, (0, np.zeros(1)))
            share = self._rules.delta / n_pairs
            sigma, floor = float(self._sigma.flat[index]), self._floor[index % len(self._groups)]
            mean, low, high = mean_interval(float(sums[0]), pulls, sigma, share)
            if pulls and self._rules.stopping == UNKNOWN:
                k, l = divmod(index, len(self._groups))
                level, state = math.log(1.0 / share), self._state
                half = float(half_width(level, state.evidence, state.pulls, k, l))
                low, high = mean - half, mean + half
            elif pulls and self._rules.problem.floor.size:
                total = float(sums[0])
                level, prior = math.log(1.0 / share), (BETA_PRIOR, BETA_PRIOR)
                low, high = beta_interval(level, total, pulls - total, *prior)
            status = "gains" if low >= floor else "loses" if high < floor else "open"
            lines.append(Line(f"{arm}, {group}", "reward", pulls, mean, low, high, status))
        return lines

    def _open_question(self) -> str:
        state, problem = self._state, self._rules.problem
        if not state.pulls.all():
            return "Some arms have not been tried in every subpopulation yet."
        best, i = int(state.answer[0]), int(np.argmin(self._evidence()))
        if i < problem.constrained:
            what = f"{self._arms[best]} is the best so far, but may lose in {self._groups[i]}"
        elif best == NO_ARM:
            what = f"no arm looks feasible, but {self._arms[i - problem.constrained]} may be"
        else:
            other = self._arms[i - problem.constrained]
            what = f"{self._arms[best]} is the best so far, but {other} may be feasible and better"
        more = more_trials(float(state.pulls.sum()), self.statistic, self.threshold)
        return (
            f"{what[0].upper()}{what[1:]}: the evidence against it is {self.statistic:.2f}, "
            f"{self.threshold:.2f} is needed; {more}."
        )

    def _label(self, index: int) -> Pair:
        k, l = divmod(index, len(self._groups))
        return self._arms[k], self._groups[l]

    def _index(self, arm: Any) -> int:
        pair = cast(Sequence[Any], arm if isinstance(arm, tuple) or np.ndim(arm) == 1 else ())
        if len(pair) != 2:
            raise ValueError(f"arm must be an (arm, subpopulation), got {arm!r}")
        return self._arms.index(pair[0]) * len(self._groups) + self._groups.index(pair[1])

    def _data(self) -> list[np.ndarray]:
        return [self._state.clock, self._state.pulls]

    def _expect(self, index: int) -> None:
        self._state.clock[0] += 1
        self._state.pulls.flat[index] += 1.0

    def _observation(self, index: int, *observed: float) -> float:
        (reward,) = observed
        if self._rules.problem.floor.size and not 0.0 <= reward <= 1.0:
            raise ValueError(f"reward must be from 0 to 1, got {reward:g}")
        return (reward - self._floor[index % len(self._groups)]) / float(self._sigma.flat[index])


def _sigmas(sigma: Any, shape: tuple[int, int], source: str) -> np.ndarray:
    """(K, L) standard deviations of rewards. Raises InputError naming `source`."""
    if not isinstance(sigma, list | tuple | np.ndarray):
        return np.full(shape, positive(sigma, source))
    found = numbers(sigma, 2, source)
    if found.shape != shape or not (found > 0.0).all():
        rows, columns = shape
        raise InputError(
            f"{source}: must be a positive number, or {rows} rows of {columns} of them, "
            f"got {short(sigma)}"
        )
    return found


class TaSCS(_Baics):
    """Track-and-Stop with fairness constraints on subpopulations (Section 4).

    `ask` returns (arm, subpopulation), by name or counted from 0.

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

    def _arm_for(self, group: int, chosen: int) -> int:
        """Pulls in a subpopulation are shared among arms in proportion to what was tracked."""
        pulls = self._state.pulls
        tracked = self._state.tracked.reshape(pulls.shape)
        shares = pulls[:, group] / tracked[:, group]
        return super()._arm_for(group, int(np.argmin(shares)))


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
    _draws_groups = True


class Uniform(_Baics):
    """A uniform arm, a subpopulation drawn from the weights (Section 5).

    Example:
        >>> s = Uniform(n_arms=2, weights=[0.5, 0.5], delta=0.1, seed=3)
        >>> means = [[0.9, 0.8], [0.7, -0.9]]  # of 2 arms on 2 subpopulations, unknown to you
        >>> while not s.done:
        ...     arm, group = s.ask()
        ...     s.tell((arm, group), means[arm][group])
        >>> s.answer, int(s.pulls.sum()) == s.told
        (0, True)
    """

    _draws_groups = True


class FWS(_Baics):
    """Frank-Wolfe Sampling (Wang, Tzeng & Proutiere 2021) on the paper's alternatives.

    Example:
        >>> s = FWS(n_arms=2, weights=[0.5, 0.5], delta=0.1)
        >>> means = [[0.9, 0.8], [0.7, -0.9]]  # of 2 arms on 2 subpopulations, unknown to you
        >>> while not s.done:
        ...     arm, group = s.ask()
        ...     s.tell((arm, group), means[arm][group])
        >>> s.answer, s.statistic > s.threshold
        (0, True)
    """

    _name = "FWS"

    def _arm_for(self, group: int, chosen: int) -> int:
        """In a subpopulation the arm that is furthest behind the allocation."""
        shares = self._state.pulls[:, group] / self._state.iterate[:, group]
        return super()._arm_for(group, int(np.argmin(shares)))


class TwoStage(_Baics):
    """Determine which arms are feasible, then the best of these, each at level delta / 2.

    The naive strategy of Section 3.2. Its threshold is the paper's, so delta is not guaranteed.

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

    def _arm_for(self, group: int, chosen: int) -> int:
        """In the first stage the undecided arm with the fewest pulls there."""
        undecided = np.flatnonzero(self._state.decided == 0)
        if undecided.size:
            chosen = int(undecided[np.argmin(self._state.pulls[undecided, group])])
        return super()._arm_for(group, chosen)

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
