"""SFSR, SFSR-L and USLP as ask/tell objects, on the steps of `steps.py`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bestarm.cbmai.problem import Problem
from bestarm.cbmai.steps import FOUND, PHASE, ROUND, answer, pulls_needed
from bestarm.cbmai.strategies import READINGS, STRATEGIES, check_budget, make_rules
from bestarm.core.arguments import numbers, positive, several_pulls, whole
from bestarm.core.inputs import MOST_PULLS, SIZES, InputError
from bestarm.core.plain import ordinary
from bestarm.live.interactive import AskTell, Trial
from bestarm.live.labels import Label, Numbers, count_or_names, in_order, named_limits
from bestarm.live.lines import Line, limit_lines
from bestarm.live.monitor import Monitored, mean_interval
from bestarm.live.record import atomic


class _Cbmai(Monitored, AskTell[Label]):
    """Arms have names or are counted from 0. The slack of a limit has the limit's name, else it is
    arm K + l, or "limit 1" and so on if arms have names.

    Args:
        n_arms: K, at least 2; or the arms' names.
        bounds: (L,) bounds on a mixture's mean costs; or a mapping of names to these.
        budget: N, the total number of pulls, greater than the number of unknown arms.
        known: arm -> (reward, costs) for arms with known means, costs in order or by name; `ask`
            never returns these.
        sigma, cost_sigma: standard deviations of a reward and of a cost, for the intervals of
            `summary`; the strategies do not use them.
        reading: one of `bestarm.cbmai.strategies.READINGS`; the one of `bestarm run` by default.
        window, default: a result counts in the order of asking, and as `default`, a reward and
            costs, if it is not told within `window` later trials, or within that time if calls
            have `at`.

    Raises:
        InputError: an argument is out of range, naming it.
    """

    _name = ""
    _observes_sums = True
    _plans_ahead = True

    def __init__(
        self,
        n_arms: int | Sequence[str],
        bounds: Sequence[float] | Mapping[str, float] | float,
        budget: int,
        *,
        known: Mapping[Label, tuple[float, Numbers]] | None = None,
        sigma: float = 1.0,
        cost_sigma: float = 1.0,
        reading: str | None = None,
        window: float | None = None,
        default: tuple[float, Numbers] | None = None,
    ) -> None:
        self._made_with(locals())
        name = type(self).__name__
        self._sigma = positive(sigma, f"{name}: sigma")
        self._cost_sigma = positive(cost_sigma, f"{name}: cost_sigma")
        self._arms = count_or_names(n_arms, "arm", 2, f"{name}: n_arms")
        self._costs, self._bounds = named_limits(bounds, f"{name}: bounds")
        self._slacks = self._slack_labels(isinstance(ordinary(bounds), Mapping), f"{name}: bounds")
        given = self._known_means(known or {}, name)
        unknown = [arm for arm in range(len(self._arms)) if arm not in given]
        if not unknown:
            raise InputError(f"{name}: known: must leave an arm unknown")
        check_budget(whole(budget, 1, MOST_PULLS, f"{name}: budget"), len(unknown), name)
        #: Columns as the kernels order them: unknown arms, known arms, slacks.
        slacks = range(len(self._arms), len(self._arms) + self._bounds.size)
        self._columns = [*unknown, *given, *slacks]
        means = np.zeros((1 + self._bounds.size, len(self._arms)))
        for place, arm in enumerate(given, len(unknown)):
            means[:, place] = given[arm]
        problem = Problem(means[0], means[1:], self._bounds, len(unknown))
        self._budget = budget
        readings = READINGS[self._name]
        chosen = readings.default if reading is None else reading
        rule = readings.chosen(chosen, f"{name}: reading")
        rules = make_rules(self._name, problem, budget, rule.keep_basis)
        super().__init__(STRATEGIES[self._name], rules, window=window, default=default)

    def _slack_labels(self, named: bool, source: str) -> list[Label]:
        """(L,) what slacks are called. Raises InputError if an arm has the name of a limit."""
        if named:
            if both := sorted(set(self._costs) & {str(arm) for arm in self._arms.labels}):
                raise InputError(f"{source}: must not have the name of an arm, {both[0]}")
            return list(self._costs)
        if self._arms.named:
            return [f"limit {l + 1}" for l in range(self._bounds.size)]
        return [len(self._arms) + l for l in range(self._bounds.size)]

    def _known_means(self, known: Mapping[Label, Any], name: str) -> dict[int, np.ndarray]:
        """By arm the (1 + L,) reward and costs of `known`. Raises InputError."""
        means: dict[int, np.ndarray] = {}
        for label, given in known.items():
            try:
                arm = self._arms.index(label)
            except ValueError as error:
                raise InputError(f"{name}: known: {error}") from None
            try:
                reward, costs = given
            except (TypeError, ValueError):
                reward, costs = None, None
            costs = in_order(costs, self._costs, f"{name}: known: costs of arm {label}")
            try:
                means[arm] = numbers([reward, *np.atleast_1d(costs)], 1, "")
            except (TypeError, ValueError):
                means[arm] = np.empty(0)
            if means[arm].size != self._bounds.size + 1:
                raise InputError(
                    f"{name}: known: must be a reward and {self._bounds.size} costs per arm, "
                    f"each {SIZES}, got {given} for arm {label}"
                )
        return means

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
        """Record the reward and costs of a pull, or their sums over several pulls of an arm.

        `total` is another name of the sum of rewards.

        Costs are in the order of the bounds, or by their names.

        Of an arm that the round does not want (`wanted`) they are kept out.
        Without a window none may be late, or missing, because of its value (docs/live.md).

        Raises:
            ValueError: for an arm that does not exist or is known, numbers that are not finite, the
                wrong number of costs, or a number of pulls that is not a positive integer or
                exceeds what the round wants of the arm; or of `at`, as for `ask`.
        """
        self._tell(arm, self._reward(reward, total), *self._ordered_costs(costs), pulls, at=at)

    @property
    @atomic
    def wanted(self) -> dict[Label, int]:
        """Pulls that each arm still needs in this round, to run them as a batch."""
        with self._expecting(more=False):
            arms = range(self._rules.problem.n_unknown)
            needed = {a: int(pulls_needed(self._rules, self._state, a)) for a in arms}
        return {self._label(a): n for a, n in needed.items() if n > 0}

    @property
    def remaining(self) -> list[Label]:
        """The arms and slacks not rejected so far."""
        left = sorted(self._columns[c] for c in np.flatnonzero(self._state.remaining))
        return [self._column_label(c) for c in left]

    @property
    def answer(self) -> list[Label] | None:
        """The support of the best mixture, slacks included; None if no mixture is feasible.

        Raises RuntimeError before `done`.
        """
        self._need_the_end()
        return self.remaining if self._state.counters[PHASE] == FOUND else None

    @property
    def mixture(self) -> dict[Label, float] | None:
        """Weights of the arms of the best mixture by the estimates (Remark 2); None if infeasible.

        Raises RuntimeError before `done`.
        """
        self._need_the_end()
        if self._state.counters[PHASE] != FOUND:
            return None
        support, weights = answer(self._state, self._rules.problem)
        arms: dict[int, float] = {
            self._columns[c]: float(w) for c, w in zip(support, weights, strict=True)
        }
        return {self._arms[arm]: arms[arm] for arm in sorted(arms) if arm < len(self._arms)}

    @property
    def pulls(self) -> np.ndarray:
        """(K,) pulls so far."""
        return self._by_arm(self._state.pulls).astype(np.int64)

    @property
    def rewards(self) -> np.ndarray:
        """(K,) mean rewards, empirical (0 before the first pull) or known."""
        return self._by_arm(self._state.rewards)

    @property
    def costs(self) -> np.ndarray:
        """(L, K) mean costs, likewise."""
        return self._by_arm(self._state.costs)

    def _lines(self) -> list[Line]:
        """Intervals hold with probability 95%: with a fixed budget there is no delta."""
        totals, n_costs = self._totals, self._bounds.size
        quantities = ["reward", *self._costs]
        lines: list[Line] = []
        for i, quantity in enumerate(quantities):
            for index, column in enumerate(self._columns[: len(self._arms)]):
                name = str(self._arms[column])
                if index >= self._rules.problem.n_unknown:
                    mean = float(self.rewards[column] if i == 0 else self.costs[i - 1, column])
                    lines.append(Line(name, quantity, 0, mean, mean, mean, "known"))
                    continue
                pulls, sums = totals.get(index, (0, np.zeros(n_costs + 2)))
                sigma = self._cost_sigma if i else self._sigma
                share = 0.05 / (len(quantities) * self._rules.problem.n_unknown)
                interval = mean_interval(float(sums[i]), pulls, sigma, share)
                status = "remains" if self._state.remaining[index] else "rejected"
                kept_out = self._kept_out.get(index, 0)
                lines.append(Line(name, quantity, pulls, *interval, status, kept_out))
        return lines + limit_lines(self._costs, self._bounds, self._shares(), lines)

    def _shares(self) -> np.ndarray | None:
        """(K,) of the arms in the mixture, in the order of the kernels; None if there is none."""
        mixture = self.mixture if self.done else None
        if mixture is None:
            return None
        arms = (self._arms[column] for column in self._columns[: len(self._arms)])
        return np.array([mixture.get(arm, 0.0) for arm in arms])

    def _open_question(self) -> str:
        missing, rounds = self.wanted, self._rules.schedule.size
        return (
            f"Round {int(self._state.counters[ROUND]) + 1} of {rounds} takes "
            f"{sum(missing.values()):,} more pulls ("
            + ", ".join(f"{arm}: {n:,}" for arm, n in missing.items())
            + f"); {self._left:,} of the budget of {self._budget:,} are left."
        )

    def _column_label(self, column: int) -> Label:
        """The label of an arm or a slack."""
        n_arms = len(self._arms)
        return self._arms[column] if column < n_arms else self._slacks[column - n_arms]

    def _label(self, index: int) -> Label:
        return self._arms[self._columns[index]]

    def _index(self, arm: Any) -> int:
        unknown = self._columns[: self._rules.problem.n_unknown]
        index = self._arms.index(arm)
        if index not in unknown:
            raise ValueError(f"arm must be an unknown one, {unknown}, got {arm}")
        return unknown.index(index)

    def _data(self) -> list[np.ndarray]:
        return [self._state.pulls]

    def _expect(self, pulls: Mapping[int, int]) -> None:
        for index, n in pulls.items():
            self._state.pulls[index] += n

    @property
    def _left(self) -> int:
        """What is left of the budget."""
        return self._budget - int(self._state.pulls.sum())

    def _wanted(self, index: int, ids: list[int], pulls: int) -> bool:
        """Whether the round wants pulls of an arm, beside those that are outstanding.

        Raises:
            ValueError: it wants some, but not so many.
        """
        others = self._outstanding.counts.get(index, 0) - len(ids)
        needed = int(pulls_needed(self._rules, self._state, index)) - others
        if 0 < needed < pulls:
            raise ValueError(f"pulls must be at most {needed}, as the round wants, got {pulls}")
        return needed > 0

    def _pull_values(self, reward: Any, *costs: Any) -> tuple[float, ...]:
        return *super()._pull_values(reward, *costs), 1.0

    def _may_ask(self) -> bool:
        return self._left > 0 and any(
            pulls_needed(self._rules, self._state, a) > 0
            for a in range(self._rules.problem.n_unknown)
        )

    def _pull_count(self, values: tuple[float, ...]) -> int:
        return int(values[-1])

    def _observation(self, index: int, *observed: float) -> np.ndarray:
        _, *costs, pulls = observed
        if len(costs) != self._bounds.size:
            raise ValueError(f"costs must be {self._bounds.size} numbers, got {costs}")
        several_pulls(pulls)
        if pulls > self._left and not self._done:
            raise ValueError(
                f"pulls must be at most {self._left}, the rest of the budget, got {pulls:.0f}"
            )
        return np.array(observed)

    def _by_arm(self, values: np.ndarray) -> np.ndarray:
        """From the kernels' order of arms to the caller's, along the last axis."""
        return values[..., np.argsort(self._columns[: self._state.pulls.size])]

    def _need_the_end(self) -> None:
        if not self.done:
            raise RuntimeError(f"the run is not over; arms remaining: {self.remaining}")


_EXAMPLE = """
    Example:
        Rewards 3, 0 and 1.5, costs 1, 0 and 0.5, at most 0.75: half of arm 0, half of arm 2.

        >>> s = {name}(n_arms=3, bounds=0.75, budget=60)
        >>> while not s.done:
        ...     arm = s.ask()
        ...     s.tell(arm, [3.0, 0.0, 1.6][arm], [1.0, 0.0, 0.5][arm])
        >>> s.mixture
        {{0: 0.5, 2: 0.5}}
    """


def _documented(name: str, what: str) -> str:
    """The docstring of a strategy: what it does, the arguments of all, an example."""
    return f"{what} {_Cbmai.__doc__}{_EXAMPLE.format(name=name)}"


class SFSR(_Cbmai):
    __doc__ = _documented("SFSR", "Successive rejects by the intersection value, Algorithm 1.")
    _name = "SFSR"


class SFSRL(_Cbmai):
    __doc__ = _documented("SFSRL", "Successive rejects by the Lagrangian score, Eq. (8).")
    _name = "SFSR-L"


class SFSRPatient(_Cbmai):
    __doc__ = _documented(
        "SFSRPatient",
        "`SFSR` that answers None only after its last round: an earlier round whose linear "
        "program is infeasible rejects the arm that needs the largest bounds.",
    )
    _name = "SFSR-patient"


class USLP(_Cbmai):
    __doc__ = _documented(
        "USLP", "The same number of pulls of every unknown arm, then the linear program."
    )
    _name = "USLP"
