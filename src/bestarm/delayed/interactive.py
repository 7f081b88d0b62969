"""Racing with delayed feedback as ask/tell objects, event by event."""

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Annotated, Any, NamedTuple, TypeGuard

import numpy as np
from pydantic import Field, model_validator

from bestarm.core.arguments import integer, observed
from bestarm.core.inputs import (
    MOST_PULLS,
    Input,
    PositiveInt,
    Scale,
    Sized,
    parse,
    short,
)
from bestarm.core.plain import state_from_json, state_to_json
from bestarm.core.strategy import NO_CAP
from bestarm.delayed.bounds import (
    AGE,
    ARM,
    FREE,
    FULL,
    INCREMENTAL,
    MIXTURE,
    WEIGHTED,
    WORTH,
)
from bestarm.delayed.mixture import running_information
from bestarm.delayed.problem import MODELS
from bestarm.delayed.running import RunningSums
from bestarm.delayed.steps import (
    ACCEPTED,
    REJECTED,
    SURVIVING,
    Race,
    bound,
    cancel,
    compact_slots,
    eliminate,
    keep_partial,
    make_state,
    next_arm,
    observe_final,
    observe_partial,
    start_pull,
    wait,
)
from bestarm.delayed.strategies import READINGS, Setting, make_rules, recommended_arms
from bestarm.live.interactive import Trial
from bestarm.live.labels import Label, count_or_names
from bestarm.live.lines import Line
from bestarm.live.monitor import Monitored, more_trials
from bestarm.live.record import Event, Recorded, atomic


class Actions(NamedTuple):
    """The pulls to start and to cancel now.

    Example:
        >>> Partial(n_arms=3, sigma=0.1, sigma_p=0.2).ask()
        Actions(start=[Trial(id=0, arm=0)], cancel=[])
    """

    start: list[Trial[Label]]
    cancel: list[Trial[Label]]


class Arguments(Setting):
    """The arguments of `Partial`."""

    n_arms: PositiveInt
    top: PositiveInt
    sigma: Scale
    sigma_p: Sized | None
    feedback: str
    delay: Annotated[int, Field(le=MOST_PULLS)] | None

    @model_validator(mode="after")
    def _complete(self):
        if self.top > self.n_arms:
            raise ValueError(f"top: must be 1 to {self.n_arms}, got {self.top}")
        if self.feedback not in MODELS:
            raise ValueError(f"feedback: must be one of {', '.join(MODELS)}")
        noisy = self.feedback in ("unbiased", "biased")
        if noisy and not (self.sigma_p is not None and self.sigma_p > 0.0):
            raise ValueError(f"sigma_p: must be a positive number, got {self.sigma_p}")
        if self.feedback == "incremental" and not (self.delay is not None and self.delay > 0):
            raise ValueError(f"delay: must be a positive integer, got {self.delay}")
        return self


class Partial(Monitored, Recorded):
    """Top-k racing with partial feedback: Algorithm 2, and its parallel and biased variants.

    `ask` says which pulls to start and which to cancel. Report what running pulls give, as it
    arrives, with `partial` and `final`, and ask again; whatever was reported since the last `ask`
    counts together (under reading `as-published` pull by pull, in the order of their slots). What
    still arrives of a cancelled pull is kept in the history only. While `batch` pulls run, `ask`
    starts none: a pull that only gives partial feedback has to end or be abandoned.

    Args:
        n_arms: n; or the arms' names.
        top: k, the number of arms to find, those with the highest means.
        sigma: standard deviation of a reward.
        sigma_p: standard deviation of an unbiased or biased partial feedback given the reward.
        feedback: "unbiased", "biased", "incremental", or "full" for none.
        delay: steps of every pull, needed for incremental feedback only: `delay` - 1 increments
            arrive before the reward, which is the sum of all.
        delta: maximum probability of a wrong answer, e.g. 0.05.
        batch, limit: maximum number of running pulls, in total and per arm (default: the same).
        reading: of the bounds, see `strategies.READINGS`; the default is proved (`Mixture`), those
            of the paper begin with `as-written`.

    Raises:
        InputError: an argument is out of range, naming it.

    Example:
        >>> lives, s = [5.0, 3.0, 1.0], Partial(n_arms=3, sigma=0.1, sigma_p=0.2)
        >>> while not s.done:
        ...     for pull in s.ask().start:
        ...         s.partial(pull.id, lives[pull.arm])  # a forecast
        ...         s.final(pull.id, lives[pull.arm])  # later, the reward
        >>> s.answer, s.rejected
        ([0], [1, 2])
    """

    _strategy = "Partial"

    def __init__(
        self,
        n_arms: int | Sequence[str],
        top: int = 1,
        *,
        sigma: float,
        sigma_p: float | None = None,
        feedback: str = "unbiased",
        delay: int | None = None,
        delta: float = 0.05,
        batch: int = 1,
        limit: int | None = None,
        reading: str = "mixture",
    ) -> None:
        self._made_with(locals())
        name = type(self).__name__
        self._arms = count_or_names(n_arms, "arm", 1, f"{name}: n_arms")
        question = {"n_arms": len(self._arms), "top": top, "sigma": sigma, "sigma_p": sigma_p}
        question |= {"feedback": feedback, "delay": delay}
        question |= {"delta": delta, "batch": batch, "limit": limit}
        arguments = parse(Arguments, question, name)
        rule = READINGS[self._strategy].chosen(reading, f"{name}: reading")
        sigmas = np.full(arguments.n_arms, arguments.sigma)
        self._race = Race(
            arguments.top, arguments.batch, arguments.limit or arguments.batch, NO_CAP
        )
        self._rules = make_rules(
            rule, arguments.feedback, sigmas, arguments.sigma_p or 0.0, arguments
        )
        self._delay = arguments.delay or 0
        self._state = make_state(self._race, np.full(arguments.n_arms, self._delay))
        self._running: dict[int, int] = {}  # slots of running pulls by id, oldest first
        self._free = [*range(arguments.batch)]  # the other slots, a heap
        self._sums = RunningSums(arguments.n_arms)  # of the running pulls, with MIXTURE
        self._fresh: list[int] = []  # arms with feedback since the last `ask`
        self._reports: dict[int, list[Event]] = {}  # not observed yet, by slot, with `by_slot`
        self._dropped: set[int] = set()  # ids of pulls that were cancelled or abandoned

    @atomic
    def ask(self) -> Actions:
        """The pulls to start now and the running ones to cancel; both are assumed to happen."""
        self.history.append(Event("ask", None, None, ()))
        cancelled = self._update_by_slot() if self._rules.by_slot else self._update()
        return Actions(self._start(), cancelled)

    @atomic
    def partial(self, pull: Trial[Label] | int, value: float) -> None:
        """Report a partial feedback of a running pull, by its id.

        Raises:
            ValueError: there is no such pull or it has ended, the number is not finite, or no
                partial feedback is expected.
        """
        id, told = _id(pull), observed(value, "value")
        s = self._slot(id)
        if self._rules.feedback == FULL:
            raise ValueError("no partial feedback is expected: report the reward with `final`")
        if (
            s is not None
            and self._rules.feedback == INCREMENTAL
            and self._age(s) + 1 >= self._delay
        ):
            raise ValueError(f"pull {id} has {self._delay} steps; report its reward")
        self._report(s, Event("partial", id, None, (told,)))

    @atomic
    def final(self, pull: Trial[Label] | int, reward: float) -> None:
        """Report the reward of a running pull, which ends it.

        Raises:
            ValueError: there is no such pull or it has ended, the number is not finite, or
                increments are missing.
        """
        id, told = _id(pull), observed(reward, "reward")
        s = self._slot(id)
        if (
            s is not None
            and self._rules.feedback == INCREMENTAL
            and self._age(s) + 1 != self._delay
        ):
            raise ValueError(f"pull {id} has had {self._age(s)} of {self._delay - 1} increments")
        self._report(s, Event("final", id, None, (told,)))

    @atomic
    def abandon(self, pull: Trial[Label] | int) -> None:
        """Give up a running pull that will never end.

        Raises:
            ValueError: there is no such pull, or it has ended.
        """
        id = _id(pull)
        s = self._slot(id)
        if s is None:
            raise ValueError(f"pull {id} was cancelled or abandoned before")
        self.history.append(Event("abandon", id, None, ()))
        self._reports.pop(s, None)
        keep_partial(self._rules, self._state, s)
        self._drop(id)
        self._compact()

    def _apply(self, event: Event) -> None:
        if event.kind == "ask":
            self.ask()
        elif event.trial is not None:
            report = {"partial": self.partial, "final": self.final, "abandon": self.abandon}
            report[event.kind](event.trial, *event.values)

    def _state_to_json(self) -> Any:
        return {
            "race": state_to_json(self._state),
            "running": [[id, s] for id, s in self._running.items()],
            "fresh": self._fresh,
            "reports": [[s, [list(e) for e in events]] for s, events in self._reports.items()],
            "dropped": sorted(self._dropped),
        }

    def _restore(self, state: Any) -> None:
        self._state = state_from_json(self._state, state["race"])
        self._running = dict(state["running"])
        self._free = np.flatnonzero(self._state.tally.slots[ARM] == FREE).tolist()
        for s in self._running.values():
            self._sum_up(s)
        self._fresh = state["fresh"]
        self._reports = {s: [*map(Event.of, events)] for s, events in state["reports"]}
        self._dropped = set(state["dropped"])

    @property
    def running(self) -> list[Trial[Label]]:
        """The running pulls, oldest first; under reading `as-published` in the order of slots."""
        return [*map(self._trial, self._ordered())]

    @property
    def done(self) -> bool:
        """Whether every arm is accepted or rejected, as of the last `ask`."""
        return not self._state.n_surviving[0]

    @property
    def answer(self) -> list[Label]:
        """The top k: accepted arms, and before `done` also those with the highest estimates."""
        return self._labels(recommended_arms(self._state.sets, self._state.centres, self._race.k))

    @property
    def accepted(self) -> list[Label]:
        """Arms accepted into the top k."""
        return self._labels(np.flatnonzero(self._state.sets == ACCEPTED))

    @property
    def rejected(self) -> list[Label]:
        """Arms rejected from the top k."""
        return self._labels(np.flatnonzero(self._state.sets == REJECTED))

    @property
    def bounds(self) -> np.ndarray:
        """(n, 2) LCB and UCB of every arm's mean, as of the last `ask`."""
        return np.column_stack([self._state.lower, self._state.upper])

    def _lines(self) -> list[Line]:
        """The race's own bounds: what they promise is the reading's (docs/guarantees.md)."""
        state, words = self._state, {SURVIVING: "open", ACCEPTED: "accepted", REJECTED: "rejected"}
        return [
            Line(
                str(self._arms[a]),
                "reward",
                int(state.tally.finished[a]),
                float(state.centres[a]),
                float(state.lower[a]),
                float(state.upper[a]),
                words[int(state.sets[a])],
            )
            for a in range(len(self._arms))
        ]

    def _open_question(self) -> str:
        state, n_to_accept = self._state, int(self._state.n_to_accept[0])
        open_arms = np.flatnonzero(state.sets == SURVIVING)
        names = ", ".join(map(str, self._labels(open_arms)))
        text = f"{open_arms.size} arms are open ({names}), of which {n_to_accept} will be accepted"
        widths = 0.5 * (state.upper - state.lower)[open_arms]
        if not np.isfinite(widths).all() or not 0 < n_to_accept < open_arms.size:
            return f"{text}; some of them have no feedback yet."
        order = open_arms[np.argsort(-state.centres[open_arms], kind="stable")]
        last, first = order[n_to_accept - 1], order[n_to_accept]
        gap = float(state.centres[last] - state.centres[first])
        reach = float(0.5 * (state.upper - state.lower)[[last, first]].sum())
        more = more_trials(float(state.tally.finished.sum()), gap**2, reach**2)
        accepted, rejected = self._arms[int(last)], self._arms[int(first)]
        return (
            f"{text}; {accepted} and {rejected} are {gap:.3g} apart, and their intervals reach "
            f"{reach:.3g}; {more}."
        )

    def _labels(self, arms: np.ndarray) -> list[Label]:
        return [self._arms[int(arm)] for arm in arms]

    def _ordered(self) -> list[int]:
        """The ids of running pulls, oldest first; with `by_slot` in the order of their slots."""
        if not self._rules.by_slot:
            return [*self._running]
        return sorted(self._running, key=self._running.__getitem__)

    def _arm_at(self, s: int) -> int:
        """The arm of the pull in a slot, or FREE."""
        return int(self._state.tally.slots[ARM, s])

    def _trial(self, id: int) -> Trial[Label]:
        """A running pull by its id."""
        return Trial(id, self._arms[self._arm_at(self._running[id])])

    def _slot(self, pull: int) -> int | None:
        """The slot of a running pull; None if it was cancelled. Raises ValueError for others."""
        if pull in self._dropped:
            return None
        if pull not in self._running:
            running = short([*self._running])
            raise ValueError(f"pull must be a running one, {running}, got {pull}")
        return self._running[pull]

    def _counts_steps(self, s: int | None) -> TypeGuard[int]:
        """Whether the pull in a slot runs and its feedback has to come step by step."""
        return s is not None and self._rules.feedback == INCREMENTAL

    def _age(self, s: int) -> int:
        return int(self._state.tally.slots[AGE, s]) + len(self._reports.get(s, ()))

    def _report(self, s: int | None, event: Event) -> None:
        """Observe an event now, or with `by_slot` at the next `ask`; a reward ends its pull."""
        self.history.append(event)
        if s is None:  # of a cancelled pull
            return
        arm = self._arm_at(s)
        if event.kind == "final":
            del self._running[event.trial]  # pyright: ignore[reportArgumentType]
        if self._rules.by_slot:
            self._reports.setdefault(s, []).append(event)
            return
        self._observe(s, event)
        self._compact()
        if arm not in self._fresh:
            self._fresh.append(arm)

    def _observe(self, s: int, event: Event) -> None:
        wait(self._state, s, 1)
        if event.kind == "partial":
            observe_partial(self._rules, self._state, s, event.values[0], 0.0)
            self._sum_up(s)
        else:
            observe_final(self._rules, self._state, s, event.values[0])
            self._leave(s)

    def _sum_up(self, s: int) -> None:
        """Count what the pull in a slot tells so far, if sums are kept."""
        if self._rules.split == MIXTURE and self._rules.feedback != FULL:
            told = running_information(self._rules, self._state.tally, s)
            self._sums.put(s, self._arm_at(s), *map(float, told))

    def _leave(self, s: int) -> None:
        """The pull in a slot has ended."""
        self._sums.remove(s)
        heappush(self._free, s)

    def _drop(self, id: int) -> None:
        """Cancel a running pull."""
        s = self._running.pop(id)
        cancel(self._state, s)
        self._leave(s)
        self._dropped.add(id)

    def _compact(self) -> None:
        """Move the running pulls into the first slots, where bounds look through all of them.

        The mixture has its sums and does not look; with `by_slot` a pull keeps its slot.
        """
        if self._rules.by_slot or self._rules.split == MIXTURE:
            return
        compact_slots(self._state)
        self._running = {id: s for s, id in enumerate(self._running)}
        self._free = [*range(len(self._running), self._race.batch)]

    def _update(self) -> list[Trial[Label]]:
        """Update the bounds of arms with feedback, then Algorithm 1; return the cancelled pulls."""
        cache, kept = self._state.tally.cache, self._state.tally.kept
        for arm in self._fresh:
            if self._rules.split == MIXTURE:
                worth, weighted = self._sums.of(arm)
                cache[WORTH, arm] = kept[0, arm] + worth
                cache[WEIGHTED, arm] = kept[1, arm] + weighted
            bound(self._rules, self._state, arm)
        moved = bool(self._fresh) and eliminate(self._rules, self._state)
        self._fresh.clear()
        cancelled = self._cancel(self._ordered()) if moved else []
        self._compact()
        return cancelled

    def _update_by_slot(self) -> list[Trial[Label]]:
        """`_update` in the published program's order, see `racing.simulate_by_slot`."""
        cancelled: list[Trial[Label]] = []
        at = {s: id for id, s in self._running.items()}
        for s in range(self._race.batch):
            arm = self._arm_at(s)
            reports = self._reports.pop(s, [])
            for event in reports:
                self._observe(s, event)
            if reports and self._state.sets[arm] == SURVIVING:
                self._state.origin[arm] = s
                bound(self._rules, self._state, arm)
                eliminate(self._rules, self._state)
            if s in at:
                cancelled += self._cancel([at[s]])
        return cancelled + (self._cancel(self._ordered()) if self.done else [])

    def _cancel(self, ids: Iterable[int]) -> list[Trial[Label]]:
        """Cancel those of some running pulls whose arms are not in S."""
        cancelled: list[Trial[Label]] = []
        for id in ids:
            if self._state.sets[self._arm_at(self._running[id])] != SURVIVING:
                cancelled.append(self._trial(id))
                self._drop(id)
        return cancelled

    def _start(self) -> list[Trial[Label]]:
        """Start pulls until b are running or no arm may start another."""
        started: list[Trial[Label]] = []
        while self._free and (arm := int(next_arm(self._race, self._state))) >= 0:
            s, id = heappop(self._free), int(self._state.started.sum())
            self._running[id] = s
            start_pull(self._state, s, arm, 0)
            started.append(self._trial(id))
        return started


class MixtureArguments(Input):
    """The further arguments of `Mixture`."""

    n0: Scale


class Mixture(Partial):
    """`Partial` under its default reading, with a prior of your own.

    Its interval is the likelihood's of everything observed, mixed over a prior
    (docs/guarantees.md). All running pulls count, in any order, overtaken and abandoned ones too.
    The promise needs Gaussian rewards and feedback whose standard deviations are sigma and sigma_p
    exactly, and delays that do not depend on them.

    Args:
        n_arms, top, sigma, sigma_p, feedback, delay, delta, batch, limit: as for `Partial`.
        n0: pulls that the prior is worth, fixed before the first pull; bounds are tightest after
            some times as many.

    Raises:
        InputError: an argument is out of range, naming it.

    Example:
        >>> lives, s = [5.0, 3.0, 1.0], Mixture(n_arms=3, sigma=0.1, sigma_p=0.2)
        >>> while not s.done:
        ...     for pull in s.ask().start:
        ...         s.partial(pull.id, lives[pull.arm])  # a forecast
        ...         s.final(pull.id, lives[pull.arm])  # later, the reward
        >>> s.answer, s.rejected
        ([0], [1, 2])
    """

    def __init__(
        self,
        n_arms: int | Sequence[str],
        top: int = 1,
        *,
        sigma: float,
        sigma_p: float | None = None,
        feedback: str = "unbiased",
        delay: int | None = None,
        delta: float = 0.05,
        batch: int = 1,
        limit: int | None = None,
        n0: float = 1.0,
    ) -> None:
        self._made_with(locals())
        super().__init__(
            n_arms,
            top,
            sigma=sigma,
            sigma_p=sigma_p,
            feedback=feedback,
            delay=delay,
            delta=delta,
            batch=batch,
            limit=limit,
            reading="mixture",
        )
        prior = parse(MixtureArguments, {"n0": n0}, type(self).__name__)
        self._rules = self._rules._replace(n0=prior.n0)


class Full(Partial):
    """Top-k racing on rewards alone: Algorithm 3, or standard racing with a batch of one.

    Args:
        n_arms, top, sigma, delta, batch, limit, reading: as for `Partial`.

    Raises:
        InputError: an argument is out of range, naming it.

    Example:
        >>> lives, s = [5.0, 3.0, 1.0], Full(n_arms=3, top=2, sigma=0.1)
        >>> while not s.done:
        ...     for trial in s.ask().start:
        ...         s.final(trial.id, lives[trial.arm])
        >>> s.answer
        [0, 1]
    """

    _strategy = "Full"

    def __init__(
        self,
        n_arms: int | Sequence[str],
        top: int = 1,
        *,
        sigma: float,
        delta: float = 0.05,
        batch: int = 1,
        limit: int | None = None,
        reading: str = "mixture",
    ) -> None:
        self._made_with(locals())
        super().__init__(
            n_arms,
            top,
            sigma=sigma,
            feedback="full",
            delta=delta,
            batch=batch,
            limit=limit,
            reading=reading,
        )


def _id(pull: Any) -> int:
    """The id of a pull or a number. Raises ValueError if it is neither."""
    id = integer(pull.id if isinstance(pull, Trial) else pull)  # pyright: ignore
    if id is None:
        raise ValueError(f"pull must be the id of a running one, got {pull!r}")
    return id
