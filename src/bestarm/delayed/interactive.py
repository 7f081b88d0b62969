"""Racing with delayed feedback as ask/tell objects, event by event."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import model_validator

from bestarm.core.inputs import PositiveFloat, PositiveInt, parse
from bestarm.core.strategy import NO_CAP
from bestarm.delayed.bounds import AGE, ARM, FREE, FULL, INCREMENTAL, NUMBER
from bestarm.delayed.problem import MODELS
from bestarm.delayed.steps import (
    ACCEPTED,
    REJECTED,
    SURVIVING,
    Race,
    bound,
    cancel,
    compact_slots,
    eliminate,
    make_state,
    next_arm,
    observe_final,
    observe_partial,
    start_pull,
    wait,
)
from bestarm.delayed.strategies import READINGS, Setting, answer_of, rules_of


class Pull(NamedTuple):
    """A pull of an arm, both counted from 0.

    Example:
        >>> Pull(id=3, arm=1)
        Pull(id=3, arm=1)
    """

    id: int
    arm: int


class Actions(NamedTuple):
    """The pulls to start and to cancel now.

    Example:
        >>> Partial(n_arms=3, sigma=0.1, sigma_p=0.2).ask()
        Actions(start=[Pull(id=0, arm=0)], cancel=[])
    """

    start: list[Pull]
    cancel: list[Pull]


class Event(NamedTuple):
    """One entry of a history.

    Example:
        >>> s = Full(n_arms=3, sigma=0.1)
        >>> pull = s.ask().start[0]
        >>> s.final(pull.id, 5.0)
        >>> s.history[-1]
        Event(kind='final', pull=0, value=5.0)
    """

    kind: str  # "ask", "partial" or "final"
    pull: int = -1  # its id
    value: float = 0.0


class Arguments(Setting):
    """The arguments of `Partial`."""

    n_arms: PositiveInt
    top: PositiveInt
    sigma: PositiveFloat
    sigma_p: float | None
    feedback: str
    delay: int | None

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


class Partial:
    """Top-k racing with partial feedback: Algorithm 2, and its parallel and biased variants.

    `ask` says which pulls to start and which to cancel. Report what running pulls give, as it
    arrives, with `partial` and `final`, and ask again; whatever was reported since the last `ask`
    counts together (under reading `as-published` pull by pull, in the order of their slots). Arms
    are counted from 0.

    Args:
        n_arms: n.
        top: k, the number of arms to find, those with the highest means.
        sigma: standard deviation of a reward.
        sigma_p: standard deviation of an unbiased or biased partial feedback given the reward.
        feedback: "unbiased", "biased", "incremental", or "full" for none.
        delay: steps of every pull, needed for incremental feedback only: `delay` - 1 increments
            arrive before the reward, which is the sum of all.
        delta: maximum probability of a wrong answer, e.g. 0.05.
        batch, limit: maximum number of running pulls, in total and per arm (default: the same).
        reading: of the paper, see `strategies.READINGS`.

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
        n_arms: int,
        top: int = 1,
        *,
        sigma: float,
        sigma_p: float | None = None,
        feedback: str = "unbiased",
        delay: int | None = None,
        delta: float = 0.05,
        batch: int = 1,
        limit: int | None = None,
        reading: str = "as-written",
    ) -> None:
        name = type(self).__name__
        question = {"n_arms": n_arms, "top": top, "sigma": sigma, "sigma_p": sigma_p}
        question |= {"feedback": feedback, "delay": delay}
        question |= {"delta": delta, "batch": batch, "limit": limit}
        asked = parse(Arguments, question, name)
        parts = READINGS[self._strategy].chosen(reading, f"{name}: reading")
        sigmas = np.full(asked.n_arms, asked.sigma)
        self._race = Race(asked.top, asked.batch, asked.limit or asked.batch, NO_CAP)
        self._rules = rules_of(parts, asked.feedback, sigmas, asked.sigma_p or 0.0, asked)
        self._delay = asked.delay or 0
        self._state = make_state(self._race, np.full(asked.n_arms, self._delay))
        self._ids: dict[tuple[int, int], int] = {}  # ids of running pulls, by arm and number
        self._fresh: list[int] = []  # arms with feedback since the last `ask`
        self._reports: dict[int, list[Event]] = {}  # not observed yet, by slot, with `by_slot`
        #: All calls so far, for `replay`.
        self.history: list[Event] = []

    def ask(self) -> Actions:
        """The pulls to start now and the running ones to cancel; both are assumed to happen."""
        self.history.append(Event("ask"))
        cancelled = self._update_by_slot() if self._rules.by_slot else self._update()
        return Actions(self._start(), cancelled)

    def partial(self, pull: int, value: float) -> None:
        """Report a partial feedback of a running pull.

        Raises:
            ValueError: no such pull is running, the number is not finite, or no partial feedback is
                expected.
        """
        s = self._slot(pull, value)
        if self._rules.feedback == FULL:
            raise ValueError("no partial feedback is expected: report the reward with `final`")
        if self._rules.feedback == INCREMENTAL and self._age(s) + 1 >= self._delay:
            raise ValueError(f"pull {pull} has {self._delay} steps; report its reward")
        self._report(s, Event("partial", pull, value))

    def final(self, pull: int, reward: float) -> None:
        """Report the reward of a running pull, which ends it.

        Raises:
            ValueError: no such pull is running, the number is not finite, or increments are
                missing.
        """
        s = self._slot(pull, reward)
        if self._rules.feedback == INCREMENTAL and self._age(s) + 1 != self._delay:
            raise ValueError(f"pull {pull} has had {self._age(s)} of {self._delay - 1} increments")
        self._report(s, Event("final", pull, reward))

    def replay(self, history: Iterable[Sequence[Any]]) -> None:
        """Apply another object's history to a new one that was made with the same arguments."""
        report = {"partial": self.partial, "final": self.final}
        for kind, pull, value in history:
            if kind == "ask":
                self.ask()
            else:
                report[kind](pull, value)

    @property
    def running(self) -> list[Pull]:
        """The running pulls, oldest first; under reading `as-published` in the order of slots."""
        return [Pull(self._ids[key], key[0]) for key in self._keys() if key in self._ids]

    @property
    def done(self) -> bool:
        """Whether every arm is accepted or rejected, as of the last `ask`."""
        return not self._state.n_surviving[0]

    @property
    def answer(self) -> list[int]:
        """The top k, accepted arms and before `done` also those with the highest estimates."""
        return answer_of(self._state.sets, self._state.centres, self._race.k).tolist()

    @property
    def accepted(self) -> list[int]:
        """Arms accepted into the top k."""
        return np.flatnonzero(self._state.sets == ACCEPTED).tolist()

    @property
    def rejected(self) -> list[int]:
        """Arms rejected from the top k."""
        return np.flatnonzero(self._state.sets == REJECTED).tolist()

    @property
    def bounds(self) -> np.ndarray:
        """(n, 2) LCB and UCB of every arm's mean, as of the last `ask`."""
        return np.column_stack([self._state.lower, self._state.upper])

    def _key(self, s: int) -> tuple[int, int]:
        """Arm and number of the pull in a slot, which identify it; (FREE, any) if there is none."""
        slots = self._state.tally.slots
        return int(slots[ARM, s]), int(slots[NUMBER, s])

    def _keys(self) -> list[tuple[int, int]]:
        """The keys of all slots."""
        return [self._key(s) for s in range(self._race.batch)]

    def _slot(self, pull: int, value: float) -> int:
        """The slot of a running pull. Raises ValueError for no such pull or a non-finite value."""
        ids = [self._ids.get(key) for key in self._keys()]
        if pull is None or pull not in ids:  # pyright: ignore[reportUnnecessaryComparison]
            running = [each.id for each in self.running]
            raise ValueError(f"pull must be a running one, {running}, got {pull}")
        if not math.isfinite(value):
            raise ValueError(f"feedback must be a finite number, got {value}")
        return ids.index(pull)

    def _age(self, s: int) -> int:
        return int(self._state.tally.slots[AGE, s]) + len(self._reports.get(s, ()))

    def _report(self, s: int, event: Event) -> None:
        """Observe an event now, or with `by_slot` at the next `ask`; a reward ends its pull."""
        self.history.append(event)
        key = self._key(s)
        if event.kind == "final":
            del self._ids[key]
        if self._rules.by_slot:
            self._reports.setdefault(s, []).append(event)
            return
        self._observe(s, event)
        compact_slots(self._state)
        if key[0] not in self._fresh:
            self._fresh.append(key[0])

    def _observe(self, s: int, event: Event) -> None:
        wait(self._state, s, 1)
        if event.kind == "partial":
            observe_partial(self._state, s, float(event.value), 0.0)
        else:
            observe_final(self._rules, self._state, s, float(event.value))

    def _update(self) -> list[Pull]:
        """Update the bounds of arms with feedback, then Algorithm 1; return the cancelled pulls."""
        for arm in self._fresh:
            bound(self._rules, self._state, arm)
        moved = bool(self._fresh) and eliminate(self._rules, self._state)
        self._fresh.clear()
        cancelled = self._cancel(range(self._race.batch)) if moved else []
        compact_slots(self._state)
        return cancelled

    def _update_by_slot(self) -> list[Pull]:
        """`_update` in the published program's order, see `racing.simulate_by_slot`."""
        cancelled: list[Pull] = []
        for s, (arm, _) in enumerate(self._keys()):
            reports = self._reports.pop(s, [])
            for event in reports:
                self._observe(s, event)
            if reports and self._state.sets[arm] == SURVIVING:
                self._state.origin[arm] = s
                bound(self._rules, self._state, arm)
                eliminate(self._rules, self._state)
            cancelled += self._cancel([s])
        return cancelled + (self._cancel(range(self._race.batch)) if self.done else [])

    def _cancel(self, slots: Iterable[int]) -> list[Pull]:
        """Cancel the pulls in some slots whose arms are not in S."""
        cancelled: list[Pull] = []
        for s in slots:
            arm, number = self._key(s)
            if arm != FREE and self._state.sets[arm] != SURVIVING:
                cancel(self._state, s)
                cancelled.append(Pull(self._ids.pop((arm, number)), arm))
        return cancelled

    def _start(self) -> list[Pull]:
        """Start pulls until b are running or no arm may start another."""
        started: list[Pull] = []
        for s, (occupied, _) in enumerate(self._keys()):
            if occupied == FREE:
                arm = int(next_arm(self._race, self._state))
                if arm < 0:
                    break
                pull = Pull(int(self._state.started.sum()), arm)
                self._ids[arm, int(self._state.started[arm])] = pull.id
                start_pull(self._state, s, arm, 0)
                started.append(pull)
        return started


class Full(Partial):
    """Top-k racing on rewards alone: Algorithm 3, or standard racing with a batch of one.

    Args:
        n_arms, top, sigma, delta, batch, limit, reading: as for `Partial`.

    Example:
        >>> lives, s = [5.0, 3.0, 1.0], Full(n_arms=3, top=2, sigma=0.1)
        >>> while not s.done:
        ...     for pull in s.ask().start:
        ...         s.final(pull.id, lives[pull.arm])
        >>> s.answer
        [0, 1]
    """

    _strategy = "Full"

    def __init__(self, n_arms: int, top: int = 1, *, sigma: float, **options: Any) -> None:
        super().__init__(n_arms, top, sigma=sigma, feedback="full", **options)
