"""The strategies as ask/tell objects, on the same steps as simulations (`strategies.py`)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from bestarm.bai.counts import observe_counts, with_arms
from bestarm.bai.families import FAMILIES, PRIOR_PULLS, divergence, mixing_cost, shrunk, upper
from bestarm.bai.problem import Family
from bestarm.bai.steps import Rules, arm_cost, pair_level, pair_statistic
from bestarm.bai.strategies import READINGS, STRATEGIES, Setting, make_rules
from bestarm.bai.tolerance import margin_statistic
from bestarm.core.arguments import numbers, positive
from bestarm.core.inputs import InputError, parse, short
from bestarm.live.changing import Changing
from bestarm.live.combinations import Interval, bernoulli_combination, gaussian_combination
from bestarm.live.counts import Counts, added_up
from bestarm.live.expected import Planned, means_by_arm
from bestarm.live.interactive import AskTell, Trial
from bestarm.live.labels import Label, count_or_names
from bestarm.live.lines import Line
from bestarm.live.monitor import more_trials
from bestarm.live.record import atomic

#: Bisections of the lower end of an interval.
BISECTIONS = 100


def interval(family: int, pulls: float, total: float, level: float) -> tuple[float, float]:
    """The means q with N' d(mean, q) - mixing cost <= level: a confidence sequence of an arm.

    Args:
        family: of FAMILIES.
        pulls: N > 0.
        total: the sum of the rewards; of Gaussian ones over sigma.
        level: ln(1 / (its share of delta)).

    Example:
        >>> low, high = interval(FAMILIES["bernoulli"], 100.0, 40.0, math.log(20))
        >>> round(low, 3), round(high, 3)
        (0.249, 0.565)
    """
    mean = total / pulls
    reach = (level + mixing_cost(family, pulls, total)) / shrunk(family, pulls)
    high = upper(family, mean, reach, 0.0)
    if family == FAMILIES["gaussian"]:
        return 2.0 * mean - high, high
    inside, outside = mean, 0.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (inside + outside)
        if middle > 0.0 and divergence(family, mean, middle) <= reach:
            inside = middle
        else:
            outside = middle
    return outside, high


class _Arms(Planned, AskTell[Label]):
    """Base class: arms whose rewards are of one family, in a unit.

    Subclasses set the fields below before they call the constructor of `AskTell`.
    """

    _rewards: str
    _law: int  # the family of the intervals
    _sigma: float  # the unit of rewards
    _delta: float

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
        `tell_table` does.
        Without a window none may be late, or missing, because of its value (docs/live.md).

        Raises:
            ValueError: for an unknown arm or trial, or a reward that is no finite number or not one
                of its family; or of `at`, as for `ask`; or if the strategy takes no counts.
        """
        self._tell_one(arm, reward, pulls=pulls, total=total, at=at)

    def _standard(self, counts: Counts) -> float:
        total = counts.sums[0]
        if self._rewards == "poisson":  # a mean need not be a count
            self._observation(counts.arm, total)
            return total
        return super()._standard(counts)

    def _observe_counts(self, batch: Sequence[Counts]) -> None:
        told = [
            counts._replace(arm=self._place(counts.arm), sums=(self._standard(counts),))
            for counts in batch
        ]
        self._observe_sums(*added_up(told, self._state.pulls.shape)[:2])

    def _observe_sums(self, pulls: np.ndarray, sums: np.ndarray) -> None:
        observe_counts(self._state, pulls, sums)

    @property
    def pulls(self) -> np.ndarray:
        """(K,) pulls so far."""
        return self._state.pulls.astype(np.int64)

    @property
    def means(self) -> np.ndarray:
        """(K,) empirical means, 0 where there is no pull yet."""
        return self._sigma * self._state.means

    def _lines(self) -> list[Line]:
        level = math.log(2 * self._n_means() / self._delta)
        lines: list[Line] = []
        for a in range(len(self._arms)):
            n, sums = self._totals.get(a, (0, np.zeros(1)))
            low, mean, high = -math.inf, math.nan, math.inf
            if n:
                total = float(sums[0]) / self._sigma
                mean = total / n * self._sigma
                ends = interval(self._law, float(n), total, level)
                low, high = (self._sigma * end for end in ends)
            status = self._status(a)
            lines.append(
                Line(
                    str(self._arms[a]),
                    "reward",
                    n,
                    mean,
                    low,
                    high,
                    status,
                    self._kept_out.get(a, 0),
                )
            )
        return lines

    def _n_means(self) -> float:
        """Among how many means a share of delta is divided."""
        return len(self._arms)

    def _n_pairs(self) -> float:
        """Among how many pairs of arms a share of delta is divided."""
        return len(self._arms) * (len(self._arms) - 1) / 2

    def _difference(self, line: Line, control: Line) -> Interval:
        """Of two arms: half of delta is for these, and shared among all pairs."""
        if self._law not in (FAMILIES["bernoulli"], FAMILIES["gaussian"]):
            return super()._difference(line, control)
        n, names = len(self._arms), [*map(str, self._arms.labels)]
        c, pulls, totals = np.zeros((3, n))
        c[names.index(line.arm)], c[names.index(control.arm)] = 1.0, -1.0
        for a, (count, sums) in self._totals.items():
            pulls[a], totals[a] = count, float(sums[0])
        level = math.log(2 * self._n_pairs() / self._delta)
        if self._law == FAMILIES["bernoulli"]:
            return bernoulli_combination(c, pulls, totals, level)
        sigma = np.full(n, self._sigma)
        return gaussian_combination(c, pulls, totals, sigma, level, PRIOR_PULLS)

    def _assumed_means(self, means: Any, source: str) -> np.ndarray:
        assumed = numbers(means_by_arm(means, self._arms, source), 1, source)
        self._check_means(assumed, source)
        return assumed

    def _check_means(self, means: np.ndarray, source: str) -> None:
        said, fits = {
            "bernoulli": ("from 0 to 1", (means >= 0.0) & (means <= 1.0)),
            "gaussian": ("finite", np.isfinite(means)),
            "poisson": ("0 or more", means >= 0.0),
            "exponential": ("positive", means > 0.0),
        }[self._rewards]
        if not fits.all():
            raise InputError(f"{source}: means must be {said}")

    def _arrivals(self, batch: int, coins: np.random.Generator) -> list[tuple[dict[str, Any], int]]:
        return [({}, batch)]

    def _drawn(self, index: int, mean: float, pulls: int, coins: np.random.Generator) -> float:
        if self._rewards == "bernoulli":
            return float(coins.binomial(pulls, mean))
        if self._rewards == "poisson":
            return float(coins.poisson(pulls * mean))
        if self._rewards == "exponential":
            return float(coins.gamma(pulls, mean))
        return float(coins.normal(pulls * mean, math.sqrt(pulls) * self._sigma))

    def _overall(self, means: np.ndarray) -> np.ndarray:
        return means

    def _status(self, arm: int) -> str:
        raise NotImplementedError

    def _label(self, index: int) -> Label:
        return self._arms[index]

    def _index(self, arm: Any) -> int:
        return self._arms.index(arm)

    def _observation(self, index: int, *observed: float) -> float:
        (reward,) = observed
        if self._rewards == "bernoulli" and not 0.0 <= reward <= 1.0:
            raise ValueError(f"reward must be from 0 to 1 if rewards are bernoulli, got {reward:g}")
        if self._rewards == "poisson" and (reward < 0.0 or reward != int(reward)):
            raise ValueError(f"reward must be a count if rewards are poisson, got {reward:g}")
        if self._rewards == "exponential" and not reward > 0.0:
            raise ValueError(f"reward must be positive if rewards are exponential, got {reward:g}")
        return reward / self._sigma

    def _data(self) -> list[np.ndarray]:
        state = self._state
        return [state.clock, state.pulls, state.sums]

    def _expect(self, pulls: Mapping[int, int]) -> None:
        """As pulls that give the arm's present mean."""
        state = self._state
        for place, n in self._places(pulls).items():
            state.clock[0] += n
            state.pulls[place] += n
            state.sums[place] += n * state.means[place]


class _Bai(Changing[Label], _Arms):
    """Base class of the strategies.

    Args:
        n_arms: K, at least 2; or the arms' names.
        delta: maximum probability of a wrong answer, e.g. 0.05. Guaranteed under the readings whose
            name has `proven`, of which one is the default (docs/guarantees.md); not under the
            paper's `as-written`.
        tolerance: how much worse than the best arm the answer may be, in the rewards' unit, under a
            proved reading (docs/guarantees.md). With 0 it is the best one.
        rewards: bernoulli, for rewards that are 0 or 1, or between; gaussian, with a known sigma;
            poisson, for counts; or exponential, for positive times.
        sigma: standard deviation of a Gaussian reward, in the rewards' unit; else left out.
        may_drop: whether arms may be dropped during the run. For `TrackAndStop` the rule then has
            to hold for all pairs of arms, so it takes some more pulls; `KLLUCB` needs no more.
        may_add: whether arms may be dropped, and others added. Half of delta is kept for those.
        reading: of the paper, see `READINGS`; by default the one of `bestarm run`.
        seed: of the strategy's own randomness; or a numpy Generator.
        window, default: a result counts in the order of asking, and as `default` if it is not told
            within `window` later trials, or within that time if calls have `at`.

    Raises:
        InputError: an argument is out of range, naming it.
    """

    _name = ""
    #: Whether intervals of arms decide; else pairs of arms.
    _by_intervals = False

    def __init__(
        self,
        n_arms: int | Sequence[str],
        *,
        delta: float = 0.1,
        tolerance: float = 0.0,
        rewards: Family = "bernoulli",
        sigma: float = 1.0,
        may_drop: bool = False,
        may_add: bool = False,
        reading: str | None = None,
        seed: int | np.random.Generator = 0,
        window: float | None = None,
        default: float | None = None,
    ) -> None:
        self._made_with(locals())
        name = type(self).__name__
        self._arms = count_or_names(n_arms, "arm", 2, f"{name}: n_arms")
        if rewards not in get_args(Family):
            allowed = ", ".join(get_args(Family))
            raise InputError(f"{name}: rewards: must be one of {allowed}, got {short(rewards)}")
        self._rewards = rewards
        self._sigma = positive(sigma, f"{name}: sigma")
        if rewards != "gaussian" and self._sigma != 1.0:
            raise InputError(f"{name}: sigma: must be left out unless rewards are gaussian")
        readings = READINGS[self._name]
        chosen = readings.default if reading is None else reading
        rule = readings.chosen(chosen, f"{name}: reading")
        setting = parse(Setting, {"delta": delta}, name)
        self._law, self._delta = FAMILIES[rewards], setting.delta
        rules = make_rules(self._name, self._law, len(self._arms), setting.delta, rule)
        self._tolerance = 0.0 if tolerance == 0 else positive(tolerance, f"{name}: tolerance")
        if self._tolerance and not rule.proved:
            raise InputError(f"{name}: tolerance: needs a reading that is proved, got {chosen}")
        if self._tolerance and rewards == "exponential" and not self._by_intervals:
            raise InputError(f"{name}: tolerance: of exponential rewards only KLLUCB, KLRacing")
        self._may_drop, self._may_add = bool(may_drop or may_add), bool(may_add)
        if self._may_drop and not rule.proved:
            raise InputError(f"{name}: may_drop: needs a reading that is proved, got {chosen}")
        self._first, self._proved = len(self._arms), rule.proved
        self._kept = [*range(self._first)]
        coins = np.random.default_rng(seed)
        rules = self._shared(rules)
        super().__init__(STRATEGIES[self._name], rules, coins, window=window, default=default)

    def _shared(self, rules: Rules) -> Rules:
        """Rules for the arms that are left, in which delta is shared as `_n_tests` says.

        The steps share it among the means, or the pairs with the best arm, of these arms only.
        """
        n_arms = len(self._kept)
        by_steps = n_arms if self._by_intervals else n_arms - 1
        return rules._replace(n_arms=n_arms, delta=self._delta * (by_steps / self._n_tests()))

    def _n_tests(self) -> float:
        """Among how many tests the stopping rule divides delta (docs/guarantees.md)."""
        if self._by_intervals:
            return self._n_means()
        return self._n_pairs() if self._may_drop else self._first - 1

    def _n_means(self) -> float:
        n, first = len(self._arms), self._first
        if not self._may_add:
            return n
        return 2 * first if n == first else 2 * n * (n - 1) / first

    def _n_pairs(self) -> float:
        n, first = len(self._arms), self._first
        if not self._may_add:
            return n * (n - 1) / 2
        return n * (n - 1) if n == first else 2 * n * (n - 1) ** 2 / first

    def _no_drop(self) -> str:
        free = self._by_intervals and self._proved
        return "" if self._may_drop or free else "drop needs may_drop=True when the object is made"

    def _no_add(self) -> str:
        return "" if self._may_add else "add needs may_add=True when the object is made"

    def _change(self, kept: list[int]) -> None:
        old = [self._kept.index(index) for index in kept if index in self._kept]
        self._kept = kept
        self._rules = self._shared(self._rules)
        self._state = with_arms(self._rules, self._state, old)

    def _stops_now(self) -> bool:
        return bool(self._strategy.done(self._rules, self._state)) or self._is_close()

    @property
    def answer(self) -> Label:
        """The arm of the largest mean so far, among those neither eliminated nor dropped."""
        return self._arms[self._index_at(int(self._state.answer[0]))]

    def _is_right(self, answer: Any, means: np.ndarray) -> bool:
        return bool(means[self._arms.index(answer)] >= means.max() - self._tolerance)

    @property
    def remaining(self) -> list[Label]:
        """Arms that were not dropped, and that no race has eliminated."""
        left = np.flatnonzero(self._state.remaining).tolist()
        return [self._arms[self._index_at(a)] for a in left]

    @property
    def _offered(self) -> list[Label]:
        return [self._arms[index] for index in self._kept]

    @property
    def pulls(self) -> np.ndarray:
        """(K,) pulls so far."""
        return self._of_all(super().pulls, lambda n, total: n)

    @property
    def means(self) -> np.ndarray:
        """(K,) empirical means, 0 where there is no pull yet."""
        return self._of_all(super().means, lambda n, total: total / n)

    def _status(self, arm: int) -> str:
        if arm not in self._kept:
            return "dropped"
        if not self._state.remaining[self._place(arm)]:
            return "eliminated"
        if self._place(arm) == self._state.answer[0]:
            return "best" if self.done else "leads"
        return ("not much better" if self._tolerance else "worse") if self.done else "open"

    def _update(self, index: int, observation: Any) -> bool:
        return super()._update(index, observation) or self._is_close()

    def _update_counts(self, batch: Sequence[Counts]) -> bool:
        return super()._update_counts(batch) or self._is_close()

    def _is_close(self) -> bool:
        """Whether no remaining arm is better than the answer by more than the tolerance."""
        state, best = self._state, int(self._state.answer[0])
        if not self._tolerance or not state.pulls[state.remaining > 0].all():
            return False
        others = [int(a) for a in np.flatnonzero(state.remaining) if a != best]
        if self._by_intervals:
            low = self._ends(best)[0] + self._tolerance / self._sigma
            return all(self._ends(a)[1] < low for a in others)
        return all(self._found(a) > self._needed(a) for a in others)

    def _name_at(self, place: int) -> Label:
        return self._arms[self._index_at(place)]

    def _ends(self, arm: int) -> tuple[float, float]:
        """The interval that the stopping rule has of an arm, in units of sigma."""
        state, level = self._state, math.log(self._rules.n_arms / self._rules.delta)
        return interval(self._law, float(state.pulls[arm]), float(state.sums[arm]), level)

    def _open_intervals(self, best: int, others: Sequence[int]) -> str:
        """What keeps the answer from being within the tolerance, by the intervals."""
        low, ends = self._ends(best)[0], {a: self._ends(a)[1] for a in others}
        other = max(others, key=lambda a: ends[a])
        low, high = self._sigma * low, self._sigma * ends[other]
        return (
            f"{self._name_at(best)} leads, but {self._name_at(other)} may be better by more than "
            f"{self._tolerance:g}: its mean may be {high:.3g} and that of {self._name_at(best)} "
            f"{low:.3g}, which is {high - low:.3g} less."
        )

    def _found(self, arm: int) -> float:
        """The statistic of "the arm is not better than the answer by more than the tolerance"."""
        state, rules, best = self._state, self._rules, int(self._state.answer[0])
        if not self._tolerance:
            return float(pair_statistic(rules, state, best, arm))
        pairs = [(shrunk(self._law, state.pulls[a]), state.means[a]) for a in (best, arm)]
        return margin_statistic(self._law, self._tolerance / self._sigma, *pairs[0], *pairs[1])

    def _needed(self, arm: int) -> float:
        """What `_found` has to exceed."""
        state, rules = self._state, self._rules
        mixing_costs = (float(arm_cost(rules, state, a)) for a in (int(state.answer[0]), arm))
        return float(pair_level(rules, state)) + sum(mixing_costs)

    def _open_question(self) -> str:
        state = self._state
        if not state.pulls[state.remaining > 0].all():
            return "Some arms have no result yet."
        best = int(state.answer[0])
        others = [a for a in range(state.pulls.size) if a != best and state.remaining[a]]
        if self._by_intervals and self._tolerance:
            return self._open_intervals(best, others)
        statistics, needed = ({a: of(a) for a in others} for of in (self._found, self._needed))
        other = min(others, key=lambda a: statistics[a] - needed[a])
        more = more_trials(state.pulls.sum(), statistics[other], needed[other])
        margin = f" by more than {self._tolerance:g}" if self._tolerance else ""
        return (
            f"{self._name_at(best)} leads, but {self._name_at(other)} may be better{margin}: the "
            f"test statistic is {statistics[other]:.2f}, the threshold {needed[other]:.2f}; {more}."
        )


_EXAMPLE = """
    Example:
        >>> import random
        >>> coins, rates = random.Random(1), {{"red": 0.9, "green": 0.2, "blue": 0.3}}
        >>> s = {name}(list(rates), delta=0.05)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, coins.random() < rates[arm])
        >>> s.answer
        'red'
    """


class TrackAndStop(_Bai):
    __doc__ = f"""Track-and-Stop (Garivier & Kaufmann 2016): pulls follow the optimal shares w*.

    {_Bai.__doc__}{_EXAMPLE.format(name="TrackAndStop")}"""
    _name = "Track-and-Stop"


class _Race(_Bai):
    """A race, which compares the arms at the end of every round."""

    def _no_drop(self) -> str:
        return "a race drops arms by itself"

    def _no_add(self) -> str:
        return "a race compares arms from its first round on"

    def _no_counts(self) -> str:
        return "a race compares the arms after every round"


class ChernoffRacing(_Race):
    __doc__ = f"""Chernoff-Racing: all arms in rounds; the worst leaves by the GLR statistic.

    {_Bai.__doc__}{_EXAMPLE.format(name="ChernoffRacing")}"""
    _name = "Chernoff-Racing"


class KLLUCB(_Bai):
    __doc__ = f"""KL-LUCB (Kaufmann & Kalyanakrishnan 2013): the leader and its challenger in turn.

    {_Bai.__doc__}{_EXAMPLE.format(name="KLLUCB")}"""
    _name = "KL-LUCB"
    _by_intervals = True


class KLRacing(_Race):
    __doc__ = f"""KL-Racing (Kaufmann & Kalyanakrishnan 2013): as ChernoffRacing, by intervals.

    {_Bai.__doc__}{_EXAMPLE.format(name="KLRacing")}"""
    _name = "KL-Racing"
    _by_intervals = True
