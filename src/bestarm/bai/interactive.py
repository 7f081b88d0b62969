"""The strategies as ask/tell objects, on the same steps as simulations (`strategies.py`)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from bestarm.bai.counts import observe_counts
from bestarm.bai.families import FAMILIES, divergence, price, shrunk, upper
from bestarm.bai.problem import Family
from bestarm.bai.steps import arm_price, pair_level, pair_statistic
from bestarm.bai.strategies import READINGS, STRATEGIES, Setting, rules_of
from bestarm.core.arguments import positive
from bestarm.core.inputs import InputError, parse, short
from bestarm.live.counts import Counts, added_up
from bestarm.live.interactive import AskTell, Trial
from bestarm.live.labels import Label, Labels, count_or_names
from bestarm.live.monitor import Line, Monitored, more_trials
from bestarm.live.record import atomic

#: Bisections of the lower end of an interval.
BISECTIONS = 100


def interval(family: int, pulls: float, total: float, level: float) -> tuple[float, float]:
    """The means q with N' d(mean, q) - price <= level: a confidence sequence of an arm.

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
    reach = (level + price(family, pulls, total)) / shrunk(family, pulls)
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


class _Arms(Monitored, AskTell[Label]):
    """Base class: arms whose rewards are of one family, in a unit.

    Subclasses set the fields below before they call the constructor of `AskTell`.
    """

    _arms: Labels
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
        told = [one._replace(sums=(self._standard(one),)) for one in batch]
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
        level = math.log(len(self._arms) / self._delta)
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
        for index, n in pulls.items():
            state.clock[0] += n
            state.pulls[index] += n
            state.sums[index] += n * state.means[index]


class _Bai(_Arms):
    """Base class of the strategies.

    Args:
        n_arms: K, at least 2; or the arms' names.
        delta: maximum probability of a wrong answer, e.g. 0.05. Guaranteed under the readings whose
            name has `proven`, of which one is the default (docs/guarantees.md); not under the
            paper's `as-written`.
        rewards: bernoulli, for rewards that are 0 or 1, or between; gaussian, with a known sigma;
            poisson, for counts; or exponential, for positive times.
        sigma: standard deviation of a Gaussian reward, in the rewards' unit; else left out.
        reading: of the paper, see `READINGS`; by default the one of `bestarm run`.
        seed: of the strategy's own randomness; or a numpy Generator.
        window, default: a result counts in the order of asking, and as `default` if it is not told
            within `window` later trials, or within that time if calls have `at`.

    Raises:
        InputError: an argument is out of range, naming it.
    """

    _name = ""

    def __init__(
        self,
        n_arms: int | Sequence[str],
        *,
        delta: float = 0.1,
        rewards: Family = "bernoulli",
        sigma: float = 1.0,
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
        rules = rules_of(self._name, self._law, len(self._arms), setting.delta, rule)
        coins = np.random.default_rng(seed)
        super().__init__(STRATEGIES[self._name], rules, coins, window=window, default=default)

    @property
    def answer(self) -> Label:
        """The arm of the largest mean so far, among those not eliminated."""
        return self._arms[int(self._state.answer[0])]

    @property
    def remaining(self) -> list[Label]:
        """Arms that no race has eliminated."""
        return [self._arms[int(a)] for a in np.flatnonzero(self._state.remaining)]

    def _status(self, arm: int) -> str:
        if not self._state.remaining[arm]:
            return "eliminated"
        if arm == self._state.answer[0]:
            return "best" if self.done else "leads"
        return "worse" if self.done else "open"

    def _open_question(self) -> str:
        state, rules = self._state, self._rules
        if not state.pulls[state.remaining > 0].all():
            return "Some arms have no result yet."
        best = int(state.answer[0])
        others = [a for a in range(len(self._arms)) if a != best and state.remaining[a]]
        found = {a: float(pair_statistic(rules, state, best, a)) for a in others}
        needed = {
            a: float(pair_level(rules, state))
            + float(arm_price(rules, state, best))
            + float(arm_price(rules, state, a))
            for a in others
        }
        other = min(others, key=lambda a: found[a] - needed[a])
        more = more_trials(state.pulls.sum(), found[other], needed[other])
        return (
            f"{self._arms[best]} leads, but {self._arms[other]} may be better: the evidence is "
            f"{found[other]:.2f} nats, {needed[other]:.2f} are needed; {more}."
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


class KLRacing(_Race):
    __doc__ = f"""KL-Racing (Kaufmann & Kalyanakrishnan 2013): as ChernoffRacing, by intervals.

    {_Bai.__doc__}{_EXAMPLE.format(name="KLRacing")}"""
    _name = "KL-Racing"
