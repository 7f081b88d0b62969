"""The strategies as ask/tell objects, on the steps of `paper/exploration.py`."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestarm.core.arguments import numbers, positive, whole
from bestarm.core.inputs import InputError, parse
from bestarm.lagex.paper.counts import observe_counts
from bestarm.lagex.paper.exploration import analyse
from bestarm.lagex.paper.state import FAR_CUT, NO_ALTERNATIVES, PULLED, TIME
from bestarm.lagex.strategies import FAILURES, READINGS, STRATEGIES, Setting, make_rules
from bestarm.lagex.vertices import ALL_BASES, MOST_COLUMNS, alternatives, find_alternatives
from bestarm.live.counts import Counts
from bestarm.live.interactive import AskTell, Trial
from bestarm.live.labels import Label, Numbers, count_or_names, in_order, named_limits
from bestarm.live.lines import Line, limit_lines
from bestarm.live.monitor import Monitored, mean_interval, more_trials
from bestarm.live.record import atomic


def policy_in_words(policy: Mapping[Label, float]) -> str:
    """A policy in a line, such as "50% of arm a, 50% of arm b".

    Example:
        >>> policy_in_words({0: 0.25, 1: 0.0, 2: 0.75})
        '25% of 0, 75% of 2'
    """
    return ", ".join(f"{share:.0%} of {arm}" for arm, share in policy.items() if share > 0.0)


def checked_deviations(sigma: Any, n_arms: int, source: str) -> np.ndarray:
    """(K,) from one number or one of each arm. Raises InputError unless they are positive."""
    deviations = numbers(sigma, 1, source)
    if deviations.size not in (1, n_arms) or not (deviations > 0).all():
        raise InputError(
            f"{source}: must be positive, one number or {n_arms}, got {deviations.tolist()}"
        )
    return np.broadcast_to(deviations, n_arms).copy()


class _Lagex(Monitored, AskTell[Label]):
    """Base class. The answer is a policy: a share of each arm, summing to one.

    Arms have names or are counted from 0. Constraint i is: mean cost at most limits[i]. For a lower
    limit, give its negative and tell negative costs.
    """

    _name = ""

    def __init__(
        self,
        n_arms: int | Sequence[str],
        limits: Sequence[float] | Mapping[str, float] | float,
        matrix: np.ndarray | None,
        *,
        delta: float,
        r: float,
        sigma: Numbers,
        reading: str,
        cost_sigma: float = 1.0,
        window: float | None = None,
        default: Any = None,
    ) -> None:
        name = type(self).__name__
        self._arms = count_or_names(n_arms, "arm", 2, f"{name}: n_arms")
        k = len(self._arms)
        self._costs, at_most = named_limits(limits, f"{name}: limits")
        self._limits, self._known_costs = at_most, matrix
        whole(k + at_most.size, 3, MOST_COLUMNS, f"{name}: n_arms, limits: together")
        sigma = in_order(sigma, self._arms.labels, f"{name}: sigma:")
        variances = checked_deviations(sigma, k, f"{name}: sigma") ** 2
        rule = READINGS[self._name].chosen(reading, f"{name}: reading")
        setting = parse(Setting, {"delta": delta, "r": r}, name)
        if matrix is None:
            matrix = np.zeros((at_most.size, k))
        elif len(matrix) != at_most.size:
            raise InputError(
                f"{name}: limits: must be {len(matrix)} numbers, one per row of matrix, "
                f"got {at_most.size}"
            )
        elif alternatives(np.zeros(k), matrix, at_most, -np.inf) is None:
            raise InputError(
                f"{name}: limits: must allow some policy, here none satisfies all of them"
            )
        spread = positive(cost_sigma, f"{name}: cost_sigma")
        rules = make_rules(self._name, rule, setting, variances, at_most, matrix, spread)
        super().__init__(STRATEGIES[self._name], rules, window=window, default=default)

    @property
    def answer(self) -> np.ndarray:
        """(K,) the best policy by the estimates of the last `ask`; final once `done`."""
        return self._state.policies.polytope.policy.copy()

    @property
    def policy(self) -> dict[Label, float]:
        """The answer by arm: the share of each in the best policy."""
        return dict(zip(self._arms.labels, self.answer.tolist(), strict=True))

    def _answer_in_words(self) -> str:
        return policy_in_words(self.policy)

    @property
    def target_shares(self) -> np.ndarray:
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

    def _lines(self) -> list[Line]:
        k, totals, shares = len(self._arms), self._totals, self.answer
        quantities = ["reward"] if self._rules.known else ["reward", *self._costs]
        share = self._rules.delta / (k * len(quantities))
        lines: list[Line] = []
        for i, quantity in enumerate(quantities):
            for a in range(k):
                pulls, sums = totals.get(a, (0, np.zeros(len(quantities))))
                sigma = math.sqrt(self._rules.variances[a]) if i == 0 else 1.0
                sigma *= float(self._rules.units[i])
                interval = mean_interval(float(sums[i]), pulls, sigma, share)
                status = f"{shares[a]:.0%} of the answer" if i == 0 else ""
                lines.append(Line(str(self._arms[a]), quantity, pulls, *interval, status))
        return lines + limit_lines(self._costs, self._limits, shares, lines + self._known_lines())

    def _known_lines(self) -> list[Line]:
        """The arms' mean costs, if they are known."""
        mean_costs = self._known_costs
        costs: list[list[float]] = [] if mean_costs is None else mean_costs.tolist()
        return [
            Line(str(arm), name, 0, cost, cost, cost)
            for name, row in zip(self._costs, costs, strict=bool(costs))
            for arm, cost in zip(self._arms.labels, row, strict=True)
        ]

    def _open_question(self) -> str:
        state, rules = self._state, self._rules
        near, pulls = state.policies.near, state.estimates.pulls
        if state.counts[PULLED] < pulls.size:
            return "Some arms have not been pulled yet."
        if state.policies.n_near[0] == NO_ALTERNATIVES:
            return "By the estimates no mixture keeps the limits, so there is no answer yet."
        # listed anew: Uniform lists them only if its stopping rule needs them
        count = find_alternatives(state.policies.polytope, rules.r, near)
        if count == 0:
            return "By the estimates only one mixture keeps the limits; one more pull tells."
        steps = near.steps[:count]
        scatter = 2.0 * steps**2 @ (rules.variances / pulls)
        statistics = (near.gaps[:count] + rules.added) ** 2 / scatter
        needed = float(state.threshold[0])
        v = int(np.argmin(statistics))
        more = more_trials(float(pulls.sum()), float(statistics[v]), needed)
        return (
            f"A mixture with more of {self._arms[int(np.argmax(steps[v]))]} and less of "
            f"{self._arms[int(np.argmin(steps[v]))]} may be better: the test statistic is "
            f"{statistics[v]:.2f}, the threshold {needed:.2f}; {more}."
        )

    def _update(self, index: int, observation: Any) -> bool:
        cut = int(self._state.counts[FAR_CUT])
        done = super()._update(index, observation)
        self._warn(cut)
        return done

    def _observe_counts(self, batch: Sequence[Counts]) -> None:
        for counts in batch:
            observe_counts(
                self._rules, self._state, counts.arm, counts.pulls, self._standard(counts)
            )
        if self._state.counts[PULLED] == len(self._arms):
            analyse(self._rules, self._state)

    def _update_counts(self, batch: Sequence[Counts]) -> bool:
        cut = int(self._state.counts[FAR_CUT])
        done = super()._update_counts(batch)
        self._warn(cut)
        return done

    def _warn(self, cut: int) -> None:
        """Say if only vertices that may be missing kept it from stopping, `cut` times before."""
        if self._state.counts[FAR_CUT] > cut:
            warnings.warn(
                f"{type(self).__name__} would stop, but the policies have more than "
                f"{ALL_BASES} bases, too many to compare the answer with",
                RuntimeWarning,
                stacklevel=8,
            )

    def _choose(self) -> int:
        pulls = self._state.estimates.pulls
        if self._state.counts[PULLED] < pulls.size and pulls.all():
            return int(np.argmin(pulls))  # first pulls are outstanding: there is no policy yet
        return super()._choose()

    def _label(self, index: int) -> Label:
        return self._arms[index]

    def _index(self, arm: Any) -> int:
        return self._arms.index(arm)

    def _data(self) -> list[np.ndarray]:
        return [self._state.estimates.pulls, self._state.counts[TIME : TIME + 1]]

    def _expect(self, pulls: Mapping[int, int]) -> None:
        for index, n in pulls.items():
            self._state.estimates.pulls[index] += n
            self._state.counts[TIME] += n

    def _observation(self, index: int, *observed: float) -> np.ndarray:
        expected = self._rules.limits.size
        if len(observed) != 1 + expected:
            raise ValueError(f"costs must be {expected} numbers, got {len(observed) - 1}")
        return np.array(observed) / self._rules.units


class _LearnedLimits(_Lagex):
    """A strategy that learns the constraints.

    Args:
        n_arms: K, at least 2; or the arms' names.
        limits: (d,) upper limits on a policy's mean costs; or a mapping of names to these.
        delta: maximum probability of an answer more than r below the best feasible policy. There
            is no guarantee that the answer is feasible (docs/usage.md).
        r: tolerance of the answer's mean reward, in the rewards' unit.
        sigma: standard deviation of rewards, one or (K,), or by arm.
        reading: see docs/readings.md.
        cost_sigma: standard deviation of every cost.
        window, default: results count in the order of asking, and as `default`, a reward and costs,
            if not told within `window` later trials, or within that time if calls have `at`.

    Raises:
        InputError: an argument is out of range, naming it.
    """

    def __init__(
        self,
        n_arms: int | Sequence[str],
        limits: Sequence[float] | Mapping[str, float] | float,
        *,
        delta: float = 0.1,
        r: float = 0.01,
        sigma: Numbers = 1.0,
        reading: str = "as-written",
        cost_sigma: float = 1.0,
        window: float | None = None,
        default: tuple[float, Numbers] | None = None,
    ) -> None:
        self._made_with(locals())
        super().__init__(
            n_arms, limits, None, delta=delta, r=r, sigma=sigma, reading=reading,
            cost_sigma=cost_sigma, window=window, default=default,
        )  # fmt: skip

    @atomic
    def tell(
        self,
        arm: Trial[Label] | Label,
        reward: float | None = None,
        costs: Numbers = (),
        *,
        pulls: int | None = None,
        total: float | None = None,
        at: float | None = None,
    ) -> None:
        """Record a pull's reward and its d costs, in the order of the limits or by their names.

        Or of several pulls of an arm their number, the `total` of their rewards and those of their
        costs, as `tell_table` does. With a window it is of a trial.

        Without a window it must not be late, or missing, because of its value (docs/live.md).

        Raises:
            ValueError: for an unknown arm or trial, numbers that are not finite, or a wrong number
                of costs; or of `at`, as for `ask`.
        """
        self._tell_one(arm, reward, *self._ordered_costs(costs), pulls=pulls, total=total, at=at)


class _KnownLimits(_Lagex):
    """A strategy that is given the constraints.

    Args:
        matrix: (d, K) mean costs of the arms.
        limits, delta, r, sigma, reading: as for the other strategies.
        arms: their names, if they have any.
        window, default: results count in the order of asking, and as `default`, a reward,
            if not told within `window` later trials, or within that time if calls have `at`.

    Raises:
        InputError: an argument is out of range, naming it; or no policy satisfies the limits.
    """

    def __init__(
        self,
        matrix: Sequence[Sequence[float]],
        limits: Sequence[float] | Mapping[str, float] | float,
        *,
        delta: float = 0.1,
        r: float = 0.01,
        sigma: Numbers = 1.0,
        reading: str = "as-written",
        arms: Sequence[str] | None = None,
        window: float | None = None,
        default: float | None = None,
    ) -> None:
        self._made_with(locals())
        name = type(self).__name__
        costs = numbers(matrix, 2, f"{name}: matrix")
        k = costs.shape[1]
        labels = count_or_names(k if arms is None else arms, "arm", 2, f"{name}: arms")
        whole(len(labels), k, k, f"{name}: arms: number of names")
        given = [*map(str, labels.labels)] if arms is not None else k
        super().__init__(
            given, limits, costs, delta=delta, r=r, sigma=sigma, reading=reading,
            window=window, default=default,
        )  # fmt: skip

    def _pull_values(self, reward: Any, *costs: Any) -> tuple[float, ...]:
        return *super()._pull_values(reward, *costs), *np.zeros(self._rules.limits.size).tolist()

    @property
    def told_costs(self) -> Sequence[str]:
        """None: they are known."""
        return ()

    def _standard(self, counts: Counts) -> Any:
        return super()._standard(counts._replace(sums=self._values(counts)))

    def _values(self, counts: Counts) -> tuple[float, ...]:
        return *counts.sums, *np.zeros(self._rules.limits.size).tolist()

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
        """Record a pull's reward; with a window, of a trial.

        Or of several pulls of an arm their number and the `total` of their rewards, as
        `tell_table` does. Without a window none may be late, or missing, because of its value
        (docs/live.md).

        Raises:
            ValueError: for an unknown arm or trial, or a reward that is no finite number; or of
                `at`, as for `ask`.
        """
        several = pulls is not None or total is not None
        costs = () if several else np.zeros(self._rules.limits.size)
        self._tell_one(arm, reward, *costs, pulls=pulls, total=total, at=at)


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
    if base is _LearnedLimits:
        parts |= {"arguments": "n_arms=2, limits=0.5", "costs": ", [1.0, 0.0][arm]"}
        parts |= {"remark": " Estimates of costs start at 0, so a\n        little more is allowed."}
        parts |= {"answer": "[0.54, 0.46]"}
    return f"{what} {base.__doc__}{_EXAMPLE.format(name=name, **parts)}"


class LAGEX(_LearnedLimits):
    __doc__ = _documented(
        "LAGEX",
        "Algorithm 3, a game of an allocation player with a Lagrangian penalty.",
        _LearnedLimits,
    )
    _name = "LAGEX"


class LATS(_LearnedLimits):
    __doc__ = _documented(
        "LATS", "Algorithm 2, tracking the Lagrangian lower bound.", _LearnedLimits
    )
    _name = "LATS"


class CTnS(_KnownLimits):
    __doc__ = _documented(
        "CTnS",
        "Tracking the lower bound of known constraints (Carlsson et al.).",
        _KnownLimits,
    )
    _name = "CTnS"


class CGE(_KnownLimits):
    __doc__ = _documented("CGE", "The game for known constraints (Carlsson et al.).", _KnownLimits)
    _name = "CGE"


class Uniform(_LearnedLimits):
    __doc__ = _documented(
        "Uniform", "Uniform sampling, with the same stopping rule.", _LearnedLimits
    )
    _name = "Uniform"
