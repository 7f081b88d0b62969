"""The best k of K arms as an ask/tell object, by a strategy of core/pure_exploration."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from bestarm.bai.bets import BOX, log_better, make_bets, plan_bets, record_bets
from bestarm.bai.counts import observe_counts_of_game
from bestarm.bai.families import GAUSSIAN
from bestarm.bai.interactive import _Arms
from bestarm.bai.strategies import Setting
from bestarm.core.arguments import positive, whole
from bestarm.core.inputs import InputError, parse, short
from bestarm.core.plain import state_from_json, state_to_json
from bestarm.core.pure_exploration.problem import PRIOR_PULLS
from bestarm.core.pure_exploration.steps import make_rules
from bestarm.core.pure_exploration.strategies import STRATEGIES
from bestarm.core.pure_exploration.top_arms import MOST_ARMS, top_arms
from bestarm.live.counts import Counts
from bestarm.live.labels import Label, count_or_names
from bestarm.live.monitor import more_trials

#: Rewards that are sub-Gaussian with a known scale; pulls of rewards from 0 to 1 are chosen as if
#: they had this one.
Rewards = Literal["bernoulli", "gaussian"]
FROM_0_TO_1 = 0.5


class TopK(_Arms):
    """The `top` best arms, by the game of Degenne, Koolen & Menard (2019).

    In the arena it is the proved strategy that needs least for more than one arm. On rewards from
    0 to 1 it stops by bets, which know how little rare rewards vary.

    Args:
        n_arms: K, at most 62; or the arms' names.
        top: how many of them are looked for, from 1 to K - 1.
        delta: maximum probability of a wrong answer, e.g. 0.05; guaranteed (docs/guarantees.md).
        tolerance: how much better an arm outside of the answer may be than one of it, in the
            rewards' unit (docs/guarantees.md). With 0 the answer is the best arms.
        rewards: bernoulli, for rewards from 0 to 1; or gaussian, with a known sigma.
        sigma: standard deviation of a Gaussian reward, in the rewards' unit; else left out.
        window, default: a result counts in the order of asking, and as `default` if it is not told
            within `window` later trials, or within that time if calls have `at`.

    Raises:
        InputError: an argument is out of range, naming it.

    Example:
        >>> import random
        >>> coins, rates = random.Random(1), {"red": 0.9, "green": 0.2, "blue": 0.8}
        >>> s = TopK(list(rates), 2, delta=0.05)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, coins.random() < rates[arm])
        >>> s.answer
        ['red', 'blue']
    """

    def __init__(
        self,
        n_arms: int | Sequence[str],
        top: int,
        *,
        delta: float = 0.1,
        tolerance: float = 0.0,
        rewards: Rewards = "bernoulli",
        sigma: float = 1.0,
        window: float | None = None,
        default: float | None = None,
    ) -> None:
        self._made_with(locals())
        self._arms = count_or_names(n_arms, "arm", 2, "TopK: n_arms")
        if len(self._arms) > MOST_ARMS:
            raise InputError(f"TopK: n_arms: must be at most {MOST_ARMS}, got {len(self._arms)}")
        top = whole(top, 1, len(self._arms) - 1, "TopK: top")
        if rewards not in get_args(Rewards):
            allowed = ", ".join(get_args(Rewards))
            raise InputError(f"TopK: rewards: must be one of {allowed}, got {short(rewards)}")
        sigma = positive(sigma, "TopK: sigma")
        if rewards != "gaussian" and sigma != 1.0:
            raise InputError("TopK: sigma: must be left out unless rewards are gaussian")
        self._rewards, self._law = rewards, GAUSSIAN
        self._sigma = sigma if rewards == "gaussian" else FROM_0_TO_1
        self._delta = parse(Setting, {"delta": delta}, "TopK").delta
        self._tolerance = 0.0 if tolerance == 0 else positive(tolerance, "TopK: tolerance")
        rules = make_rules(top_arms(len(self._arms), top), self._delta)
        self._bets = make_bets(len(self._arms) if rewards == "bernoulli" else 0)
        self._needed = math.log(top * (len(self._arms) - top) / self._delta)  # of a statistic
        coins = np.random.default_rng(0)  # which the game does not toss
        super().__init__(STRATEGIES["Game"], rules, coins, window=window, default=default)

    def _observe_sums(self, pulls: np.ndarray, sums: np.ndarray) -> None:
        observe_counts_of_game(self._rules, self._state, pulls, sums)

    def _update(self, index: int, observation: Any) -> bool:
        done = super()._update(index, observation)
        if self._bets.low.size:
            return self._bet({index: (1.0, float(observation))})
        return done or (self._tolerance > 0.0 and self._is_close())

    def _update_counts(self, batch: Sequence[Counts]) -> bool:
        done = super()._update_counts(batch)
        if not self._bets.low.size:
            return done or (self._tolerance > 0.0 and self._is_close())
        told: dict[int, tuple[float, float]] = {}
        for counts in batch:
            pulls, total = told.get(counts.arm, (0.0, 0.0))
            told[counts.arm] = pulls + counts.pulls, total + self._standard(counts)
        return self._bet(told)

    def _bet(self, told: Mapping[int, tuple[float, float]]) -> bool:
        """Settle the bets on what was told, plan the next; whether every exchange is ruled out.

        Args:
            told: by arm its pulls, and the sum of their rewards in units of sigma.
        """
        for arm, (pulls, total) in told.items():
            record_bets(self._bets, arm, pulls, FROM_0_TO_1 * total)
        state = self._state
        if not state.pulls.all():
            return False
        inside = np.zeros(state.pulls.size, np.int64)
        inside[self._best()] = 1
        share = self._needed + math.log(2.0 / BOX)
        plan_bets(self._bets, share, state.pulls, FROM_0_TO_1 * state.sums, inside)
        return self._is_close()

    def _is_close(self) -> bool:
        """Whether no other arm is better than one of the answer by more than the tolerance."""
        if not self._state.pulls.all():
            return False
        statistics, needed = self._statistics()
        return bool((statistics > needed).all())

    def _statistics(self) -> tuple[np.ndarray, np.ndarray]:
        """(top, K - top) for arms of the answer and others: statistics of "the other is not better"
        by more than the tolerance, and what it has to exceed."""
        best, others, state = self._best(), self._others(), self._state
        if self._bets.low.size:
            margin = self._tolerance
            won = [[log_better(self._bets, b, a, margin) for a in others] for b in best]
            return np.array(won), np.full((len(best), len(others)), self._needed)
        gaps = state.means[best][:, None] - state.means[others] + self._tolerance / self._sigma
        variances = (state.pulls + PRIOR_PULLS) / state.pulls**2
        costs = 0.5 * np.log1p(state.pulls / PRIOR_PULLS)
        statistics = 0.5 * gaps**2 / (variances[best][:, None] + variances[others])
        return statistics, self._needed + costs[best][:, None] + costs[others]

    def _state_to_json(self) -> Any:
        return super()._state_to_json() | {"bets": state_to_json(self._bets)}

    def _restore(self, state: Any) -> None:
        super()._restore(state)
        self._bets = state_from_json(self._bets, state["bets"])

    @property
    def answer(self) -> list[Label]:
        """The arms of the largest means so far, in the order of `n_arms`."""
        return [self._arms[a] for a in self._best()]

    def _best(self) -> list[int]:
        return [int(a) for a in self._state.answer]

    def _others(self) -> list[int]:
        best = self._best()
        return [a for a in range(len(self._arms)) if a not in best]

    def _is_right(self, answer: Any, means: np.ndarray) -> bool:
        inside = np.isin(np.arange(means.size), [self._arms.index(arm) for arm in answer])
        return bool(means[inside].min() >= means[~inside].max() - self._tolerance)

    def _status(self, arm: int) -> str:
        if arm in self._best():
            return "among the best" if self.done else "leads"
        return ("not much better" if self._tolerance else "worse") if self.done else "open"

    def _open_question(self) -> str:
        state = self._state
        if not state.pulls.all():
            return "Some arms have no result yet."
        statistics, needed = self._statistics()
        b, a = np.unravel_index(np.argmin(statistics - needed), statistics.shape)
        more = more_trials(state.pulls.sum(), float(statistics[b, a]), float(needed[b, a]))
        margin = f" by more than {self._tolerance:g}" if self._tolerance else ""
        inside, outside = self._arms[self._best()[b]], self._arms[self._others()[a]]
        return (
            f"{outside} may be better than {inside}{margin}: the test statistic is "
            f"{statistics[b, a]:.2f}, the threshold {needed[b, a]:.2f}; {more}."
        )
