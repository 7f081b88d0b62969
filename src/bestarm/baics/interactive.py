"""The strategies as ask/tell objects, on the same steps as simulations (`strategies.py`)."""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast, get_args, overload

import numpy as np

from bestarm.baics.alternatives import NO_ARM, NO_FLOOR, alternative_cost, make_problem
from bestarm.baics.counts import observe_counts, with_arms
from bestarm.baics.e_values import GLR, MIXTURE, UNKNOWN, half_width, log_mixture, log_unknown
from bestarm.baics.problem import minimum_array
from bestarm.baics.rounds import RoundRule
from bestarm.baics.steps import INITIAL_DRAWS, Rules, log_e_value, needed_e_value
from bestarm.baics.strategies import (
    READINGS,
    STRATEGIES,
    Options,
    Reading,
    Setting,
    make_rules,
)
from bestarm.baics.two_stage import two_stage_cost
from bestarm.common.rates import Law
from bestarm.core.anytime import BERNOULLI_SIGMA, beta_interval
from bestarm.core.arguments import numbers, positive, whole
from bestarm.core.information import stylised_threshold
from bestarm.core.inputs import InputError, parse, short
from bestarm.core.plain import ordinary
from bestarm.live.changing import Changing
from bestarm.live.combinations import (
    BETA_PRIOR,
    Interval,
    bernoulli_combination,
    between,
    gaussian_combination,
    weighted,
)
from bestarm.live.counts import Counts, added_up
from bestarm.live.expected import Planned, means_by_arm
from bestarm.live.interactive import Trial
from bestarm.live.labels import Label, Numbers, count_or_names, in_order
from bestarm.live.lines import ALL, TOTAL, Line
from bestarm.live.monitor import PRIOR_PULLS, mean_interval, more_trials
from bestarm.live.record import atomic

Pair = tuple[Label, Label]
#: Squares that are told have to be larger than the square of the total over the pulls by this share
#: of them: the rounding of 16 digits is then a ten-thousandth of a percent of the scatter.
SCATTER = 1e-8
#: The logarithm of the growth of pulls, told one by one, after which it is tested if the answer is
#: within the tolerance, which takes longer than all else.
CHECK_GROWTH = 0.01


class _Baics(Planned, Changing[Pair]):
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
        tolerance: how much lower than that of the best feasible arm the answer's weighted mean may
            be; the answer is feasible. Needs a proved reading, and takes half of delta
            (docs/guarantees.md). With 0 it is the best one.
        constrained: M, the first M subpopulations must have mean >= minimum; all if left out.
        minimum: the least mean of the answer on a constrained subpopulation; one number, or M, or
            by subpopulation.
        sigma: standard deviation of a reward, in the rewards' unit; one number, or (K, L) by arm
            and subpopulation. For rewards between a and b, such as 0 and 1, (b - a) / 2 will do.
            Or "unknown", for Gaussian noise, which selects a reading `proven-unknown-sigma`; these
            readings make no use of a sigma. Not for Two-stage.
        rewards: "gaussian"; or "bernoulli" for rewards that are 0 or 1, or between: no sigma is
            needed. Under the readings whose name ends with `proven` the rule knows how little rare
            rewards vary, and takes far fewer pulls than with a sigma of 1/2.
        reading: of the paper, see `READINGS`; by default the one of `bestarm run`.
        seed: of the strategy's own randomness; or a numpy Generator.
        window, default: a result counts in the order of asking, and as `default` if it is not told
            within `window` later trials, or within that time if calls have `at`.
        missing: "worst", for rewards from 0 to 1: a trial that is outstanding or was abandoned
            counts as 0 in every lower bound and as 1 in every upper one, so that it may be late or
            abandoned because of its value. It selects a reading `proven-mixture`.
        resolution: of sigma="unknown": what rewards are rounded to, in their unit. Gaussian rewards
            never repeat, so without it the first that does keeps the strategy from stopping.
        may_drop: whether arms may be dropped during the run. The rule then has to hold for all
            pairs of arms, so it takes some more pulls (docs/guarantees.md).
        rounds: of `Uniform`: every (arm, subpopulation) once per round, in random order, with a
            rule whose answer is right for means averaged over the rounds so far: means may change.
        options: of T-a-SCS, see `Options`.

    Raises:
        InputError: an argument is out of range, or an option is set by the reading, naming it.
    """

    _name = "Uniform"
    arm_columns = ("arm", "segment")
    _draws_groups = False  # by weight: one of weight 0 is never tried, so never decided

    def __init__(
        self,
        n_arms: int | Sequence[str],
        weights: Sequence[float] | Mapping[str, float],
        *,
        delta: float = 0.1,
        tolerance: float = 0.0,
        constrained: int | None = None,
        minimum: Numbers = 0.0,
        sigma: float | Sequence[Sequence[float]] | Literal["unknown"] = 1.0,
        rewards: Law = "gaussian",
        reading: str | None = None,
        seed: int | np.random.Generator = 0,
        window: float | None = None,
        default: float | None = None,
        missing: Literal["left out", "worst"] = "left out",
        resolution: float | None = None,
        may_drop: bool = False,
        rounds: bool = False,
        **options: Any,
    ) -> None:
        self._made_with(locals())
        name = type(self).__name__
        self._arms = count_or_names(n_arms, "arm", 2, f"{name}: n_arms")
        weights = ordinary(weights)
        shares = list(weights.values()) if isinstance(weights, Mapping) else weights
        q = numbers(shares, 1, f"{name}: weights")
        if (q < 0).any() or not q.sum() > 0:
            raise InputError(
                f"{name}: weights: must be nonnegative with a positive sum, got {weights}"
            )
        groups = list(weights) if isinstance(weights, Mapping) else q.size
        self._groups = count_or_names(groups, "segment", 1, f"{name}: weights")
        most = q.size if constrained is None else constrained
        n_constrained = whole(most, 0, q.size, f"{name}: constrained")
        minima = in_order(minimum, self._groups.labels[:n_constrained], f"{name}: minimum:")
        least = numbers(minima, 1, f"{name}: minimum")
        if least.size not in (1, n_constrained):
            raise InputError(
                f"{name}: minimum: must be a number, or {n_constrained} numbers, one per "
                f"constrained segment, got {least.size}"
            )
        self._floor = minimum_array(
            least if least.size > 1 else float(least[0]), n_constrained, q.size
        )
        if missing not in ("left out", "worst"):
            raise InputError(f"{name}: missing: must be left out or worst, got {short(missing)}")
        self._worst = missing == "worst"
        if self._worst and (rewards != "bernoulli" or window is not None or rounds):
            raise InputError(
                f"{name}: missing: worst needs bernoulli rewards, no window, no rounds"
            )
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
            if n_constrained and least.max() > 1.0:
                text = f"rewards are at most 1, so no arm keeps a minimum of {least.max():g}"
                warnings.warn(f"{name}: minimum: {text}", stacklevel=2)
        setting = parse(Setting, {"delta": delta, "cap": None}, name)
        if self._draws_groups and not q[:n_constrained].all():
            never = self._groups[int(np.argmin(q[:n_constrained]))]
            raise InputError(
                f"{name}: weights: must be positive on constrained segments, which {name} "
                f"draws by weight, got 0 for {never}"
            )
        floor = self._floor if rewards == "bernoulli" else NO_FLOOR
        problem = make_problem(q, n_constrained, self._sigma, floor)
        chosen = parse(Options, options, name)
        self._tolerance = 0.0 if tolerance == 0 else positive(tolerance, f"{name}: tolerance")
        if self._tolerance and (rule.stopping == GLR or rounds):
            raise InputError(f"{name}: tolerance: needs a reading that is proved, and no rounds")
        self._may_drop = bool(may_drop)
        if self._may_drop and (rule.stopping == GLR or rounds):
            raise InputError(f"{name}: may_drop: needs a reading that is proved, and no rounds")
        self._spent = setting.delta / 2.0 if self._tolerance else setting.delta
        rules = make_rules(len(self._arms), problem, self._spent, rule, chosen, name)
        self._kept = [*range(len(self._arms))]
        rules = self._shared(rules)
        if rule.stopping == UNKNOWN and window is not None:
            raise InputError(f"{name}: window: needs a sigma, as a default is not Gaussian")
        self._lost = np.zeros(self._sigma.shape)  # abandoned trials, if they count
        self._never_repeats = rule.stopping == UNKNOWN and resolution is None
        self._seen: dict[int, dict[float, None]] = {}  # rewards by pair, if none may repeat
        self._repeated: int | None = None  # the pair of the first that did
        strategy: Any = STRATEGIES[self._name]
        if rounds:
            if self._name != "Uniform" or reading is not None or rule.stopping == UNKNOWN:
                raise InputError(f"{name}: rounds: only Uniform has them, with sigma, no reading")
            strategy = RoundRule(q, self._sigma, bounded=rewards == "bernoulli")
            self._fixed_design = self._plans_ahead = True
        self._in_rounds = rounds
        coins = np.random.default_rng(seed)
        super().__init__(strategy, rules, coins, window=window, default=default)
        if resolution is not None:
            if rule.stopping != UNKNOWN:
                raise InputError(f"{name}: resolution: needs sigma unknown")
            self._state.e_values.rounding[0] = positive(resolution, f"{name}: resolution")

    def _shared(self, rules: Rules) -> Rules:
        """Rules for the arms that are left; the steps share delta among as many wrong answers.

        If arms may be dropped it is shared among K (K + 1) / 2 tests of K arms.
        """
        n, left = len(self._arms), len(self._kept)
        n_tests = n * (n + 1) / 2 if self._may_drop else n
        return rules._replace(n_arms=left, delta=self._spent * (left / n_tests))

    def _no_drop(self) -> str:
        return "" if self._may_drop else "drop needs may_drop=True when the object is made"

    def _no_add(self) -> str:
        return "arms may be added to TrackAndStop and KLLUCB only"

    def _change(self, kept: list[int]) -> None:
        old, scale = [self._kept.index(arm) for arm in kept], self._rules.problem.scale
        problem = self._rules.problem._replace(scale=scale[old] if scale.size else scale)
        self._kept = kept
        self._rules = self._shared(self._rules._replace(problem=problem))
        new = self._strategy.start(self._rules)
        self._state = cast(Any, with_arms(self._rules, new, self._state, old))

    def _stops_now(self) -> bool:
        done = bool(self._strategy.done(self._rules, self._state))
        return self._settled(done, self._repeated is not None)

    @property
    def _width(self) -> int:
        return len(self._groups)

    def _rule(self, sigma: Any, reading: Any) -> Reading:
        """The reading. Raises InputError if there is none, or it needs a sigma that is unknown."""
        name, readings = type(self).__name__, READINGS[self._name]
        chosen = readings.default if reading is None else reading
        unknown = isinstance(sigma, str) and sigma == "unknown"
        for needed, stopping, otherwise in (
            (self._worst, MIXTURE, "missing: cannot be worst"),
            (unknown, UNKNOWN, "sigma: must be known"),
        ):
            fitting = [key for key, rule in readings.items() if rule.stopping == stopping]
            if needed and reading is None and fitting:
                chosen = fitting[-1]
            if needed and chosen not in fitting:
                raise InputError(f"{name}: {otherwise} under reading {short(chosen)}")
        return readings.chosen(chosen, f"{name}: reading")

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
    def ask(
        self,
        n: int,
        *,
        segment: Label | None = None,
        least_share: Numbers | None = None,
        at: float | None = None,
    ) -> list[Trial[Pair]]: ...

    @overload
    def ask(self, *, segment: Label, at: float | None = None) -> Trial[Pair]: ...

    @atomic
    def ask(
        self,
        n: int | None = None,
        *,
        segment: Label | None = None,
        least_share: Numbers | None = None,
        at: float | None = None,
    ) -> Pair | list[Trial[Pair]] | Trial[Pair]:
        """The (arm, subpopulation) to pull next, the same until it is told; or n new trials.

        With `segment` new trials, or one, for who comes in this subpopulation: the strategy
        chooses arms only.

        Args:
            n: how many. With a window it or a segment must be given.
            segment: the subpopulation of who is there; not with `rounds`.
            least_share: of the n trials that an arm gets at least, rounded down; one number, or by
                arm. The strategy chooses the others. With several subpopulations, of a segment.
            at: the time now, if the window is one of time.

        Raises:
            RuntimeError: once `done`.
            ValueError: n is not a positive integer, there is no such subpopulation, or `at` is
                missing or before an earlier one; or least shares add up to more than 1.
        """
        of = self._of(segment)
        if n is None and segment is not None and least_share is None:
            return self._batch(1, None, *of, at=at)[0]
        if n is None:
            return super().ask(least_share=least_share, at=at)  # pyright: ignore
        return self._batch(n, least_share, *of, at=at)

    @atomic
    def allocation(
        self, n: int, *, segment: Label | None = None, least_share: Numbers | None = None
    ) -> dict[Any, int]:
        """How many of the next n pulls each arm is to have, for who splits traffic.

        Nothing is outstanding then: tell the results as counts, however many came.

        Args:
            n: how many.
            segment: the subpopulation of who comes; without it keys are (arm, subpopulation).
            least_share: as for `ask`.

        Raises:
            RuntimeError: once `done`.
            ValueError: as of `ask`; or the strategy takes no counts.
        """
        by_index = self._allocated(n, least_share, *self._of(segment))
        pairs = {self._label(index): pulls for index, pulls in by_index}
        return pairs if segment is None else {arm: pulls for (arm, _), pulls in pairs.items()}

    def _of(self, segment: Any) -> tuple[Label, ...]:
        """What a choice for a segment is given. Raises ValueError for an unknown one."""
        if segment is None:
            return ()
        if self._in_rounds:
            raise ValueError("segment must be left out: rounds choose it, in random order")
        return (self._groups[self._groups.index(segment)],)

    def _least(self, n: Any, least_share: Any, *given: Any) -> Sequence[int]:
        by_arm, n_groups = super()._least(n, least_share, *given), len(self._groups)
        if by_arm and not given and n_groups > 1:
            raise ValueError("segment must be given with least_share")
        pairs = np.zeros((len(by_arm), n_groups), int)
        pairs[:, self._groups.index(given[0]) if given else 0] = by_arm
        return pairs.ravel().tolist()

    def _choose(self, segment: Label | None = None) -> int:
        chosen = super()._choose()
        if segment is None:
            return chosen
        group, n_groups = self._groups.index(segment), len(self._groups)
        place = self._arm_for(group, self._place(chosen) // n_groups)
        return self._index_at(place * n_groups + group)

    def _arm_for(self, group: int, chosen: int) -> int:
        """The arm for a subpopulation: the least pulled in its initial draws, then the chosen."""
        pulls = self._state.pulls[:, group]
        return int(np.argmin(pulls)) if (pulls < INITIAL_DRAWS).any() else chosen

    @property
    def answer(self) -> Label | None:
        """The best feasible arm so far, or None if none looks feasible."""
        best = int(self._state.answer[0])
        return None if best == NO_ARM else self._arms[self._kept[best]]

    @property
    def pulls(self) -> np.ndarray:
        """(K, L) pulls so far."""
        return self._of_all(self._state.pulls.astype(np.int64), lambda n, total: n)

    @property
    def means(self) -> np.ndarray:
        """(K, L) empirical means, 0 where there is no pull yet."""
        told = (self._state.rounds if self._in_rounds else self._state.pulls) > 0
        means = np.where(told, self._state.means * self._sigma[self._kept] + self._floor, 0.0)
        return self._of_all(means, lambda n, total: total / n)

    @property
    def statistic(self) -> float:
        """Z(t) or ln(e-value), to be compared with `threshold`; 0 until every pair was pulled."""
        return min(self._statistics()) if self._state.pulls.all() else 0.0

    def _statistics(self) -> list[float]:
        """The statistic against every kind of alternative to the answer, see `alternative_cost`."""
        state, rules = self._state, self._rules
        if self._in_rounds:
            return self._strategy.log_e_values(rules, state)
        if self._worst:
            return self._worst_statistics()
        problem, best, shift = rules.problem, int(state.answer[0]), state.shift
        kinds = range(problem.constrained + rules.n_arms)
        if rules.stopping == UNKNOWN:
            data = (state.e_values, state.pulls, state.means, problem, best)
            return [float(log_unknown(i, self.threshold, *data)) for i in kinds]
        costs = [
            float(alternative_cost(i, state.pulls, state.means, problem, best, shift))
            for i in kinds
        ]
        if rules.stopping == GLR:
            return [rules.glr_factor * cost for cost in costs]
        proved = [float(log_e_value(rules, state, i)) for i in kinds]
        if problem.floor.size:
            return proved
        return [min(0.5 * cost, log) for cost, log in zip(costs, proved, strict=True)]

    def _worst_statistics(self) -> list[float]:
        """`log_mixture` with missing rewards as 0 for the answer and as 1 for all other arms.

        The minimum over the instances of a kind decreases in the means of the arm that may be
        feasible and better, and increases in those of the answer, so no other values in [0, 1] of
        what is missing give less.
        """
        state, problem, best = self._state, self._rules.problem, int(self._state.answer[0])
        missing = self._missing()[self._kept]
        pulls = state.pulls + missing
        at_zero, at_one = ((x - self._floor) / self._sigma[self._kept] for x in (0.0, 1.0))
        means = (state.sums + missing * at_one) / pulls
        if best != NO_ARM:
            means[best] = ((state.sums + missing * at_zero) / pulls)[best]
        levels = [
            float(log_mixture(i, pulls, means, problem, best, state.e_values.buffers))
            for i in range(problem.constrained + self._rules.n_arms)
        ]
        if best != NO_ARM:  # `log_mixture` takes it that the answer looks feasible
            below = means[best, : problem.constrained] < 0.0
            levels[: problem.constrained] = np.where(below, -np.inf, levels[: problem.constrained])
        return [float(x) for x in levels]

    def _missing(self) -> np.ndarray:
        """(K, L) trials that were abandoned or are outstanding, if they count at their worst."""
        if not self._worst or self._done:
            return self._lost
        missing = self._lost.copy()
        for index, trials in self._outstanding.counts.items():
            missing.flat[index] += trials
        return missing

    def _lose(self, id: int, index: int) -> None:
        super()._lose(id, index)
        if self._worst and not self._done:
            self._lost.flat[index] += 1.0
            if self._stops():
                self._lost, self._done = self._missing(), True

    def _stops(self) -> bool:
        """The stopping rule with missing rewards at their worst."""
        return bool(self._state.pulls.all()) and min(self._statistics()) > self.threshold

    def _update(self, index: int, observation: Any) -> bool:
        done = super()._update(index, observation)
        repeated = self._never_repeats and self._repeats(index, float(observation))
        return self._settled(
            done, repeated, may_be_close=bool(self._tolerance) and self._has_grown()
        )

    def _has_grown(self) -> bool:
        """Whether the last pull is the first after one more growth by `CHECK_GROWTH`."""
        told = sum(pulls for pulls, _ in self._totals.values())
        return told < 2 or int(math.log(told) / CHECK_GROWTH) > int(
            math.log(told - 1) / CHECK_GROWTH
        )

    def _settled(self, done: bool, repeated: bool = False, may_be_close: bool = True) -> bool:
        """Whether it stops, given what the steps say of results alone.

        Args:
            done: what they say.
            repeated: whether rewards repeat that must not.
            may_be_close: whether it is time to test if the answer is within the tolerance.
        """
        lost = self._missing()[self._kept].any()
        done = self._stops() if lost else done and not repeated
        done = done or (may_be_close and self._is_close())
        if done:
            self._lost = self._missing()
        return done

    def _repeats(self, index: int, reward: float) -> bool:
        """Whether some reward of a pair came twice by now, which Gaussian ones never do."""
        seen = self._seen.setdefault(index, {})
        if reward in seen and self._repeated is None:
            self._repeated = index
            warnings.warn(f"{type(self).__name__}: {self._said_of_repeats()}", stacklevel=8)
        seen[reward] = None
        return self._repeated is not None

    def _said_of_repeats(self) -> str:
        arm, group = self._label(cast(int, self._repeated))
        return (
            f"Two results of {arm}, {group} are equal. Gaussian ones never are, so with sigma "
            "unknown it will not stop: give resolution=, what results are rounded to, or a sigma."
        )

    def _state_to_json(self) -> Any:
        seen = [[index, *values] for index, values in self._seen.items()]
        of_pairs = {"lost": self._lost.tolist(), "seen": seen, "repeated": self._repeated}
        return super()._state_to_json() | of_pairs

    def _restore(self, state: Any) -> None:
        super()._restore(state)
        self._lost, self._repeated = np.array(state["lost"]), state["repeated"]
        self._seen = {index: dict.fromkeys(values) for index, *values in state["seen"]}

    @property
    def threshold(self) -> float:
        """beta(t, delta) = ln((1 + ln t) / delta), or ln(K / delta) for a log e-value."""
        if self._in_rounds:
            return float(self._strategy.needed(self._rules))
        if self._rules.stopping != GLR:
            return float(needed_e_value(self._rules))
        return float(stylised_threshold(max(1, int(self._state.clock[0])), self._rules.delta))

    @atomic
    def tell(
        self,
        arm: Trial[Pair] | Pair,
        reward: float | None = None,
        *,
        pulls: int | None = None,
        total: float | None = None,
        squares: float | None = None,
        at: float | None = None,
    ) -> None:
        """Record the reward of a trial, or of an (arm, subpopulation); with a window, of a trial.

        Or of several pulls of an (arm, subpopulation) their number, the `total` of their rewards
        and, if sigma is unknown, that of their `squares`, as `tell_table` does.
        Without a window none may be late, or missing, because of its value (docs/live.md).

        Raises:
            ValueError: for an unknown (arm, subpopulation) or trial, or a reward that is no finite
                number, or not from 0 to 1 if rewards are bernoulli; or of `at`, as for `ask`; or
                if the strategy takes no counts.
        """
        self._tell_one(arm, reward, pulls=pulls, total=total, squares=squares, at=at)

    @property
    def _needs_squares(self) -> bool:
        return self._rules.stopping == UNKNOWN

    def _no_counts(self) -> str:
        if self._in_rounds:
            return "a round has one result of each arm and segment"
        if self._never_repeats:
            return "with sigma unknown rewards must not repeat; give resolution=, their rounding"
        return super()._no_counts()

    def _checked(self, told: Counts) -> Counts:
        counts = super()._checked(told)
        if counts.squares is not None and counts.scatter < SCATTER * counts.squares:
            raise ValueError(
                f"squares must be larger than total^2 / pulls by {SCATTER:g} of them, as rounding "
                f"hides less: tell rewards less a number near their mean, got {counts.squares:g}"
            )
        return counts

    def _observe_counts(self, batch: Sequence[Counts]) -> None:
        placed = [counts._replace(arm=self._place(counts.arm)) for counts in batch]
        sums_told = [(self._standard(counts),) for counts in batch]
        told = [counts._replace(sums=x) for counts, x in zip(placed, sums_told, strict=True)]
        pulls, sums, _ = added_up(told, self._state.pulls.shape)
        _, _, scatter = added_up(placed, self._state.pulls.shape)
        observe_counts(self._rules, self._state, pulls, sums, scatter)

    def _update_counts(self, batch: Sequence[Counts]) -> bool:
        return self._settled(super()._update_counts(batch))

    def _lines(self) -> list[Line]:
        """A row per (arm, subpopulation), then one per arm over all, if there are several."""
        pairs = [self._pair_line(index) for index in range(self._sigma.size)]
        n_groups = len(self._groups)
        by_arm = [pairs[i : i + n_groups] for i in range(0, len(pairs), n_groups)]
        if n_groups == 1:
            return [line._replace(status=self._status(k, [line])) for k, line in enumerate(pairs)]
        return pairs + [self._total_line(k, lines) for k, lines in enumerate(by_arm)]

    def _total_line(self, arm: int, lines: Sequence[Line]) -> Line:
        """The row of an arm over all subpopulations, given its others."""
        weights = self._rules.problem.weights
        if self._adds_up:
            total = self._combination({arm: weights})
        else:
            total = weighted(weights, [line.interval for line in lines])
        return Line(
            str(self._arms[arm]),
            TOTAL,
            sum(line.pulls for line in lines),
            total.estimate,
            total.low,
            total.high,
            self._status(arm, lines),
            sum(line.kept_out for line in lines),
            ALL,
        )

    def _pair_line(self, index: int) -> Line:
        """The row of an (arm, subpopulation)."""
        arm, group = self._label(index)
        k, l = divmod(index, len(self._groups))
        pulls, sums = self._totals.get(index, (0, np.zeros(1)))
        sigma, floor, total = float(self._sigma[k, l]), float(self._floor[l]), float(sums[0])
        share = self._spent / self._n_intervals(self._sigma.size)
        mean, low, high = mean_interval(total, pulls, sigma, share)
        if pulls and self._rules.stopping == UNKNOWN:
            half = self._half_width(k, l, share)
            low, high = mean - half, mean + half
        elif self._bounded and not self._in_rounds:
            low, high = self._rates(total, pulls, float(self._missing()[k, l]), share)
        status, limit = "", math.nan
        if l < self._rules.problem.constrained and not (self._bounded and floor <= 0.0):
            status = "gains" if low >= floor else "loses" if high < floor else "open"
            limit = floor
        left_out = self._kept_out.get(index, 0)
        values = (pulls, mean, low, high, status, left_out, str(group), limit)
        return Line(str(arm), "reward", *values)

    def _half_width(self, k: int, l: int, share: float) -> float:
        """Half an interval's width, sigma unknown; infinite for a dropped arm and in rounds."""
        if k not in self._kept or self._repeated is not None:
            return math.inf
        state, place = self._state, self._kept.index(k)
        return float(half_width(math.log(1.0 / share), state.e_values, state.pulls, place, l))

    def _status(self, arm: int, lines: Sequence[Line]) -> str:
        """What is settled of an arm, given its rows."""
        if arm not in self._kept:
            return "dropped"
        if any(line.status == "loses" for line in lines):
            return "loses"
        if self._kept.index(arm) == int(self._state.answer[0]):
            return "best" if self._done else "leads"
        return "ruled out" if self._done else "open"

    @property
    def _bounded(self) -> bool:
        """Whether rewards are from 0 to 1, and their law is used."""
        return bool(self._rules.problem.floor.size)

    @property
    def _adds_up(self) -> bool:
        """Whether intervals of sums of means are those of the sums, and not sums of intervals."""
        return not self._worst and self._rules.stopping != UNKNOWN

    def _n_intervals(self, n: int) -> int:
        """Among how many intervals delta is shared, of a family of n: half of it if there are two.

        One is of the (arm, subpopulation), one of sums and differences.
        """
        return 2 * n if self._adds_up else n

    def _combination(self, weights: Mapping[int, np.ndarray]) -> Interval:
        """The interval of a sum of means, whose weights are given by arm and subpopulation."""
        n_arms, n_groups = len(self._arms), len(self._groups)
        c, pulls, totals = np.zeros((3, n_arms, n_groups))
        for arm, row in weights.items():
            c[arm] = row
        for index, (n, sums) in self._totals.items():
            pulls.flat[index], totals.flat[index] = n, float(sums[0])
        several = n_groups > 1
        n_sums = several * n_arms + n_arms * (n_arms - 1) // 2 * (n_groups + several)
        level = math.log(self._n_intervals(n_sums) / self._spent)
        data = c.ravel(), pulls.ravel(), totals.ravel()
        if self._bounded and not self._in_rounds:
            return bernoulli_combination(*data, level)
        return gaussian_combination(*data, self._sigma.ravel(), level, PRIOR_PULLS)

    def _difference(self, line: Line, control: Line) -> Interval:
        if not self._adds_up:
            return super()._difference(line, control)
        names, groups = ([*map(str, of.labels)] for of in (self._arms, self._groups))
        weights = self._rules.problem.weights
        if line.quantity != TOTAL:
            weights = np.eye(len(groups))[groups.index(line.segment)]
        arms = {names.index(line.arm): weights, names.index(control.arm): -weights}
        return self._combination(arms)

    def _is_close(self) -> bool:
        """Whether by the intervals the answer is feasible, and no such arm is better by more than
        the tolerance."""
        best = int(self._state.answer[0])
        if not self._tolerance or best == NO_ARM or not self._state.pulls.all():
            return False
        best = self._kept[best]
        return not self._may_lose(best) and all(
            lead <= self._tolerance for lead, _ in self._leads(best)
        )

    def _may_lose(self, arm: int) -> list[int]:
        """The constrained subpopulations on which an arm's interval is not above the minimum."""
        lines = [self._pair_line(index) for index in self._constrained(arm)]
        return [l for l, line in enumerate(lines) if line.low < self._floor[l]]

    def _leads(self, best: int) -> Iterator[tuple[float, int]]:
        """How much better than the answer others may be, and which; if they may be feasible."""
        for k in self._kept:
            lines = [self._pair_line(index) for index in self._constrained(k)]
            loses = any(line.high < self._floor[l] for l, line in enumerate(lines))
            if k != best and not loses:
                yield self._lead(k, best).high, k

    def _constrained(self, arm: int) -> range:
        """The indices of an arm's constrained subpopulations."""
        first = arm * len(self._groups)
        return range(first, first + self._rules.problem.constrained)

    def _lead(self, arm: int, other: int) -> Interval:
        """How much higher the weighted mean of an arm is than that of another."""
        weights = self._rules.problem.weights
        if self._adds_up:
            return self._combination({arm: weights, other: -weights})
        rows = [
            [self._pair_line(k * weights.size + l).interval for l in range(weights.size)]
            for k in (arm, other)
        ]
        return between(weighted(weights, rows[0]), weighted(weights, rows[1]))

    def _assumed_means(self, means: Any, source: str) -> np.ndarray:
        """(K, L) a number per arm is its mean on every subpopulation."""
        assumed = np.zeros(self._sigma.shape)
        for k, given in enumerate(means_by_arm(means, self._arms, source)):
            row = numbers(in_order(given, self._groups.labels, f"{source}:"), 1, source)
            if row.size not in (1, len(self._groups)):
                said = f"must be a number or {len(self._groups)} per arm, got {row.size}"
                raise InputError(f"{source}: {said}")
            assumed[k] = row
        self._check_means(assumed, source)
        return assumed

    def _check_means(self, means: np.ndarray, source: str) -> None:
        if self._rules.stopping == UNKNOWN:
            raise InputError(f"{source}: need a sigma, which is unknown here")
        if self._bounded and not ((means >= 0.0) & (means <= 1.0)).all():
            raise InputError(f"{source}: means must be from 0 to 1")

    def _arrivals(self, batch: int, coins: np.random.Generator) -> list[tuple[dict[str, Any], int]]:
        come = coins.multinomial(batch, self._rules.problem.weights).tolist()
        pairs = zip(self._groups.labels, come, strict=True)
        return [({"segment": label}, n) for label, n in pairs if n]

    def _drawn(self, index: int, mean: float, pulls: int, coins: np.random.Generator) -> float:
        if self._bounded:
            return float(coins.binomial(pulls, mean))
        spread = math.sqrt(pulls) * float(self._sigma.flat[index])
        return float(coins.normal(pulls * mean, spread))

    def _is_right(self, answer: Any, means: np.ndarray) -> bool:
        m = self._rules.problem.constrained
        feasible = np.all(means[:, :m] >= self._floor[:m], axis=1)
        if answer is None or not feasible.any():
            return answer is None and not feasible.any()
        arm, overall = self._arms.index(answer), self._overall(means)
        return bool(feasible[arm] and overall[arm] >= overall[feasible].max() - self._tolerance)

    def _overall(self, means: np.ndarray) -> np.ndarray:
        return means @ self._rules.problem.weights

    def _rates(self, total: float, pulls: int, lost: float, share: float) -> tuple[float, float]:
        """The interval of a mean of rewards from 0 to 1; what was lost is 0 below and 1 above."""
        if pulls + lost == 0:
            return -math.inf, math.inf
        level, prior = math.log(1.0 / share), (BETA_PRIOR, BETA_PRIOR)
        low, _ = beta_interval(level, total, pulls + lost - total, *prior)
        _, high = beta_interval(level, total + lost, pulls - total, *prior)
        return low, high

    def _answer_in_words(self) -> str:
        return "no arm keeps every minimum" if self.answer is None else str(self.answer)

    def _open_question(self) -> str:
        state, problem = self._state, self._rules.problem
        if self._repeated is not None:
            return self._said_of_repeats()
        if not state.pulls.all():
            return "Some arms have not been tried in every segment yet."
        best, i = int(state.answer[0]), int(np.argmin(self._statistics()))
        names = self.remaining
        if i < problem.constrained:
            alternative = f"{names[best]} is the best so far, but may lose in {self._groups[i]}"
        elif best == NO_ARM:
            alternative = f"no arm looks feasible, but {names[i - problem.constrained]} may be"
        else:
            better = "feasible and better" if problem.constrained else "better"
            other = names[i - problem.constrained]
            alternative = f"{names[best]} is the best so far, but {other} may be {better}"
        more = more_trials(float(state.pulls.sum()), self.statistic, self.threshold)
        return (
            f"{alternative[0].upper()}{alternative[1:]}: the test statistic is "
            f"{max(self.statistic, 0.0):.2f}, "
            f"the threshold {self.threshold:.2f}; {more}.{self._beyond_tolerance(best)}"
        )

    def _beyond_tolerance(self, best: int) -> str:
        """What keeps the answer from being within the tolerance, in a sentence."""
        if not self._tolerance or best == NO_ARM:
            return ""
        best = self._kept[best]
        lost = self._may_lose(best)
        if lost:
            low, least = self._pair_line(self._constrained(best)[lost[0]]).low, self._floor[lost[0]]
            why = f"its mean in {self._groups[lost[0]]} may be {low:.3g}, below {least:g}"
        else:
            lead, arm = max(self._leads(best), default=(self._tolerance, best))
            why = f"{self._arms[arm]} may be better by {lead:.3g}"
        return f" Nor is it within the tolerance of {self._tolerance:g} for sure: {why}."

    def _label(self, index: int) -> Pair:
        k, l = divmod(index, len(self._groups))
        return self._arms[k], self._groups[l]

    def _index(self, arm: Any) -> int:
        pair = cast(Sequence[Any], arm if isinstance(arm, tuple) or np.ndim(arm) == 1 else ())
        if len(pair) != 2:
            raise ValueError(f"arm must be (arm, segment), got {arm!r}")
        return self._arms.index(pair[0]) * len(self._groups) + self._groups.index(pair[1])

    def _data(self) -> list[np.ndarray]:
        if self._in_rounds:
            return [self._state.told]
        return [self._state.clock, self._state.pulls]

    def _may_ask(self) -> bool:
        return not (self._in_rounds and self._state.told.all())

    def _expect(self, pulls: Mapping[int, int]) -> None:
        if self._in_rounds:
            self._state.told[[*pulls]] = True
            return
        for place, n in self._places(pulls).items():
            self._state.clock[0] += n
            self._state.pulls.flat[place] += n

    def _observation(self, index: int, *observed: float) -> float:
        (reward,) = observed
        if self._rules.problem.floor.size and not 0.0 <= reward <= 1.0:
            raise ValueError(f"reward must be from 0 to 1, got {reward:g}")
        return (reward - self._floor[index % len(self._groups)]) / float(self._sigma.flat[index])


def _sigmas(sigma: Any, shape: tuple[int, int], source: str) -> np.ndarray:
    """(K, L) standard deviations of rewards. Raises InputError naming `source`."""
    sigma = ordinary(sigma)
    if not isinstance(sigma, list | tuple):
        return np.full(shape, positive(sigma, source))
    sigmas = numbers(sigma, 2, source)
    if sigmas.shape != shape or not (sigmas > 0.0).all():
        rows, columns = shape
        raise InputError(
            f"{source}: must be a positive number, or {rows} rows of {columns} of them, "
            f"got {short(sigma)}"
        )
    return sigmas


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

    def _choose_for(self, pulls: int, *given: Any) -> int:
        """A step of the allocation is as long as that many of one pull would be."""
        before = self._state.iterate.copy()
        index = super()._choose_for(pulls, *given)
        steps = min(pulls, max(1, int(self._state.clock[0])))
        self._state.iterate[:] += (steps - 1) * (self._state.iterate - before)
        return index

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
