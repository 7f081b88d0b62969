"""Certified as an ask/tell object."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestarm.core.arguments import positive, several_pulls
from bestarm.core.inputs import parse
from bestarm.lagex.certified.certificate import certificate
from bestarm.lagex.certified.confidence import shortfall
from bestarm.lagex.certified.runs import Options, make_rules
from bestarm.lagex.certified.state import POLICY, SAFE, VERDICT
from bestarm.lagex.certified.steps import STEPS
from bestarm.lagex.interactive import checked_deviations, policy_in_words
from bestarm.lagex.strategies import Setting
from bestarm.live.interactive import AskTell, Trial
from bestarm.live.labels import Label, Numbers, count_or_names, in_order, named_limits
from bestarm.live.lines import Line, limit_lines
from bestarm.live.monitor import Monitored, mean_interval, more_trials
from bestarm.live.record import atomic

#: Shortfalls below this are as good as none.
TINY = 1e-12


class Certified(Monitored, AskTell[Label]):
    """A policy that keeps unknown limits and is within r of the best one, with a proof of both.

    Both hold with probability 1 - delta (docs/guarantees.md); `certificate` is the proof. Arms have
    names or are counted from 0. Constraint i is: mean cost at most limits[i] (+ eps). For a lower
    limit, give its negative and tell negative costs.

    Args:
        n_arms: K, at least 2; or the arms' names.
        limits: (d,) upper limits on a policy's mean costs; or a mapping of names to these.
        delta: maximum probability of a wrong answer, e.g. 0.05.
        r: tolerance of the answer's mean reward, in the rewards' unit, positive. Pulls grow as
            1 / r^2.
        eps: tolerance of mean costs. With 0, a set of feasible policies without an interior never
            gives an answer.
        sigma: upper bound on the standard deviation of rewards (sub-Gaussian), one or (K,).
        cost_sigma: the same of every cost.
        n0: weight of the prior in pulls, fixed before the first pull; by default from r.
        window, default: results count in the order of asking, and as `default`, a reward and costs,
            if not told within `window` later trials, or within that time if calls have `at`.

    Raises:
        InputError: an argument is out of range, naming it.

    Example:
        Rewards 3, 0 and 1.5, costs 1, 0 and 0.5, at most 0.6; told without noise, as sums.

        >>> s = Certified(n_arms=3, limits=0.6, r=0.5)
        >>> while not s.done:
        ...     for arm, n in s.wanted.items():
        ...         s.tell(arm, n * [3.0, 0.0, 1.5][arm], n * [1.0, 0.0, 0.5][arm], pulls=n)
        >>> bool(s.answer @ [1.0, 0.0, 0.5] <= 0.6), bool(s.answer @ [3.0, 0.0, 1.5] >= 1.3)
        (True, True)
        >>> s.certificate()[:20]
        '{\\n "paper": "lagex",'
    """

    _observes_sums = True
    _plans_ahead = True  # until the next test of the stopping rule

    def __init__(
        self,
        n_arms: int | Sequence[str],
        limits: Sequence[float] | Mapping[str, float] | float,
        *,
        delta: float = 0.1,
        r: float = 0.1,
        eps: float = 0.0,
        sigma: Numbers = 1.0,
        cost_sigma: float = 1.0,
        n0: float | None = None,
        window: float | None = None,
        default: tuple[float, Numbers] | None = None,
    ) -> None:
        self._made_with(locals())
        name = type(self).__name__
        self._arms = count_or_names(n_arms, "arm", 2, f"{name}: n_arms")
        self._costs, at_most = named_limits(limits, f"{name}: limits")
        sigma = in_order(sigma, self._arms.labels, f"{name}: sigma:")
        variances = checked_deviations(sigma, len(self._arms), f"{name}: sigma") ** 2
        scale = positive(cost_sigma, f"{name}: cost_sigma")
        setting = parse(Setting, {"delta": delta, "r": positive(r, f"{name}: r")}, name)
        options = parse(Options, {"eps": eps, "n0": n0}, name)
        self._delta, self._limits = setting.delta, at_most + options.eps
        rules = make_rules(
            "Certified", setting.delta, setting.r, options, variances, scale, at_most
        )
        super().__init__(STEPS, rules, window=window, default=default)

    @atomic
    def tell(
        self,
        arm: Trial[Label] | Label,
        reward: float | None = None,
        costs: Numbers = (),
        pulls: int = 1,
        *,
        total: float | None = None,
        at: float | None = None,
    ) -> None:
        """Record the reward and the d costs of a pull, or their sums over several pulls of an arm.

        `total` is another name of the sum of rewards.

        Costs are in the order of the limits, or by their names. With a window they are of a trial.
        Without one no pull may be late, or missing, because of its value (docs/live.md).

        Raises:
            ValueError: for an unknown arm or trial, numbers that are not finite, a wrong number of
                costs, or a number of pulls that is not a positive integer; or of `at`, as for
                `ask`.
        """
        self._tell(arm, self._reward(reward, total), *self._ordered_costs(costs), pulls, at=at)

    @property
    @atomic
    def wanted(self) -> dict[Label, int]:
        """Pulls of each arm until the next test of the stopping rule, to run them as a batch."""
        with self._expecting(more=False):
            owed = [] if self._done else self._state.owed.tolist()
        return {self._label(a): int(n) for a, n in enumerate(owed) if n}

    @property
    def answer(self) -> np.ndarray | None:
        """(K,) the policy; None if it is certified that none is feasible.

        Before `done`, the last policy that is known to keep the limits; None before the first.
        """
        counts = self._state.counts
        has_policy = counts[VERDICT] == POLICY if self._done else counts[SAFE]
        return self._state.policy.copy() if has_policy else None

    @property
    def policy(self) -> dict[Label, float] | None:
        """The answer by arm: the share of each in the policy; None as `answer` is."""
        answer = self.answer
        if answer is None:
            return None
        return dict(zip(self._arms.labels, answer.tolist(), strict=True))

    def _answer_in_words(self) -> str:
        policy = self.policy
        return "no policy keeps the limits" if policy is None else policy_in_words(policy)

    @property
    def target_shares(self) -> np.ndarray:
        """(K,) the target shares of pulls."""
        return self._state.omega.copy()

    @property
    def pulls(self) -> np.ndarray:
        """(K,) pulls so far, until it was done."""
        return self._state.pulls.astype(np.int64)

    @atomic
    def certificate(self) -> str:
        """The answer with its proof, as JSON; `bestarm check FILE` verifies it independently.

        Raises RuntimeError before `done`.
        """
        if not self._done:
            raise RuntimeError("nothing is certified yet")
        arms = [str(name) for name in self._arms.labels] if self._arms.named else []
        return certificate(self._state, self._rules, self._delta, arms, self._costs)

    def _lines(self) -> list[Line]:
        k, totals, answer, rules = len(self._arms), self._totals, self.answer, self._rules
        quantities = ["reward", *self._costs]
        share, lines = self._delta / (k * len(quantities)), []
        for i, quantity in enumerate(quantities):
            for a in range(k):
                pulls, sums = totals.get(a, (0, np.zeros(len(quantities))))
                variance = rules.cost_variance if i else rules.variances[a]
                sigma = float(rules.units[i]) * math.sqrt(variance)
                interval = mean_interval(float(sums[i]), pulls, sigma, share)
                status = f"{answer[a]:.0%} of the answer" if i == 0 and answer is not None else ""
                lines.append(Line(str(self._arms[a]), quantity, pulls, *interval, status))
        return lines + limit_lines(self._costs, self._limits, answer, lines)

    def _open_question(self) -> str:
        state, pulls = self._state, float(self._state.pulls.sum())
        if not state.counts[SAFE]:
            return (
                f"After {pulls:,.0f} pulls no mixture is known to keep the limits yet; "
                "how many more that takes cannot be told."
            )
        apart, unit = state.other - state.policy, float(self._rules.units[0])
        short = shortfall(state.seen, state.policy, state.other)
        more = more_trials(pulls, (self._rules.r / max(short, TINY)) ** 2, 1.0)
        return (
            f"A mixture with more of {self._arms[int(np.argmax(apart))]} and less of "
            f"{self._arms[int(np.argmin(apart))]} may keep the limits and be better by "
            f"{unit * short:.3g}, {unit * self._rules.r:g} is allowed; {more}."
        )

    def _label(self, index: int) -> Label:
        return self._arms[index]

    def _index(self, arm: Any) -> int:
        return self._arms.index(arm)

    def _data(self) -> list[np.ndarray]:
        return [self._state.owed]

    def _expect(self, pulls: Mapping[int, int]) -> None:
        for index, n in pulls.items():
            self._state.owed[index] = max(self._state.owed[index] - n, 0.0)

    def _may_ask(self) -> bool:
        return bool(self._state.owed.any())

    def _pull_count(self, values: tuple[float, ...]) -> int:
        return int(values[-1])

    def _pull_values(self, reward: Any, *costs: Any) -> tuple[float, ...]:
        return *super()._pull_values(reward, *costs), 1.0

    def _observation(self, index: int, *observed: float) -> np.ndarray:
        _, *costs, pulls = observed
        expected = self._rules.limits.size
        if len(costs) != expected:
            raise ValueError(f"costs must be {expected} numbers, got {len(costs)}")
        several_pulls(pulls)
        return np.append(np.array(observed[:-1]) / self._rules.units, pulls)
