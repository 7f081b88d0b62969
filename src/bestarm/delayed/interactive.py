"""Racing with delayed feedback for people with a real experiment, event by event."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bestarm.core.inputs import InputError, parse
from bestarm.delayed.bounds import AGE, ARM, FREE, FULL, INCREMENTAL, interval, make_tally
from bestarm.delayed.problem import MODELS
from bestarm.delayed.steps import ACCEPTED, REJECTED, SURVIVING, next_arm, update_sets
from bestarm.delayed.strategies import READINGS, Setting, answer_of, rules_of


class Pull(NamedTuple):
    """A pull of an arm, both counted from 0."""

    id: int
    arm: int


class Actions(NamedTuple):
    """What to do now."""

    start: list[Pull]
    cancel: list[Pull]


class Event(NamedTuple):
    """One entry of a history."""

    kind: str  # "ask", "partial" or "final"
    pull: int = -1  # its id
    value: float = 0.0


class Partial:
    """Top-k racing that uses partial feedback: Algorithm 2, and its parallel and biased relatives.

    `ask` says which pulls to start and which to cancel. Report what running pulls give, as it
    arrives, with `partial` and `final`, and ask again; whatever was reported since the last `ask`
    counts together (under reading `as-published`, pull by pull, in the order of their slots). Arms
    are counted from 0.

    Args:
        n_arms: n.
        top: k, how many of the arms with the highest means are wanted.
        sigma: standard deviation of a reward.
        sigma_p: of an unbiased or biased partial feedback given the reward.
        feedback: "unbiased", "biased", "incremental", or "full" for none.
        delay: steps of every pull, needed for incremental feedback only: `delay` - 1 increments
            arrive before the reward, which is the sum of all.
        delta: wanted probability of a wrong answer, in (0, 1).
        batch, limit: most pulls that run at a time, in all and of an arm (left out: as many).
        reading: of the paper, see `strategies.READINGS`.

    Raises:
        InputError: an argument is out of range, naming it.
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
        noisy = feedback in ("unbiased", "biased")
        if n_arms < 1:
            raise InputError(f"{name}: n_arms: must be at least 1, got {n_arms}")
        if not 1 <= top <= n_arms:
            raise InputError(f"{name}: top: must be 1 to {n_arms}, got {top}")
        if feedback not in MODELS:
            raise InputError(f"{name}: feedback: must be one of {', '.join(MODELS)}")
        if reading not in (readings := READINGS[self._strategy]):
            allowed = ", ".join(readings)
            raise InputError(f"{name}: reading: must be one of {allowed}")
        for field, value, needed in (("sigma", sigma, True), ("sigma_p", sigma_p, noisy)):
            if needed and not (value is not None and 0.0 < value < math.inf):
                raise InputError(f"{name}: {field}: must be a positive number, got {value}")
        if feedback == "incremental" and not (delay is not None and delay >= 1):
            raise InputError(f"{name}: delay: must be a positive integer, got {delay}")
        asked = {"delta": delta, "batch": batch, "limit": limit}
        self._setting = parse(Setting, asked, name)
        self._rules = rules_of(
            readings[reading], feedback, np.full(n_arms, sigma), sigma_p or 0.0, self._setting
        )
        self._k = top
        self._tally = make_tally(np.full(n_arms, delay or 0), batch)
        self._ids: list[int | None] = [None] * batch  # of running pulls, as in the tally's slots
        self._reports: dict[int, list[Event]] = {}  # not counted yet, by slot, if heard by slot
        self._next_id = 0
        self._heard: list[int] = []  # arms with news since the last `ask`
        self._sets = np.zeros(n_arms, np.int64)
        self._started = np.zeros(n_arms, np.int64)
        self._centres = np.zeros(n_arms)
        self._lower, self._upper = np.full(n_arms, -np.inf), np.full(n_arms, np.inf)
        #: Everything that happened, for `replay`.
        self.history: list[Event] = []

    def ask(self) -> Actions:
        """The pulls to start now, and the running ones to cancel; both count as done."""
        self.history.append(Event("ask"))
        if self._rules.by_slot:
            cancelled = self._hear_slots()
        else:
            cancelled = self._update() if self._heard else []
        return Actions(self._start(), cancelled)

    def partial(self, pull: int, value: float) -> None:
        """Report a partial feedback of a running pull.

        Raises:
            ValueError: no such pull is running, the number is not finite, or none is expected.
        """
        s = self._slot(pull, value)
        if self._rules.feedback == INCREMENTAL and self._age(s) + 1 >= self._delay(s):
            raise ValueError(f"pull {pull} has {self._delay(s)} steps; report its reward")
        self._expects_partial()
        self._hear(s, Event("partial", pull, value))

    def final(self, pull: int, reward: float) -> None:
        """Report the reward of a running pull, which ends it.

        Raises:
            ValueError: no such pull is running, the number is not finite, or increments lack.
        """
        s = self._slot(pull, reward)
        if self._rules.feedback == INCREMENTAL and self._age(s) + 1 != self._delay(s):
            raise ValueError(
                f"pull {pull} has had {self._age(s)} of {self._delay(s) - 1} increments"
            )
        self._hear(s, Event("final", pull, reward))

    def replay(self, history: Iterable[Sequence[Any]]) -> None:
        """Bring a new object, made with the same arguments, to where another one's history ends."""
        report = {"partial": self.partial, "final": self.final}
        for kind, pull, value in history:
            if kind == "ask":
                self.ask()
            else:
                report[kind](pull, value)

    @property
    def running(self) -> list[Pull]:
        """The pulls that run, oldest first."""
        arms = self._tally.slots[ARM]
        return [Pull(each, int(arms[s])) for s, each in enumerate(self._ids) if each is not None]

    @property
    def done(self) -> bool:
        """Whether every arm is accepted or rejected, by what was reported before the last `ask`."""
        return not (self._sets == SURVIVING).any()

    @property
    def answer(self) -> list[int]:
        """The top k: accepted arms, filled up with the best estimates until `done`."""
        return answer_of(self._sets, self._centres, self._k).tolist()

    @property
    def accepted(self) -> list[int]:
        """Arms sure to be in the top k."""
        return np.flatnonzero(self._sets == ACCEPTED).tolist()

    @property
    def rejected(self) -> list[int]:
        """Arms sure not to be."""
        return np.flatnonzero(self._sets == REJECTED).tolist()

    @property
    def bounds(self) -> np.ndarray:
        """(n, 2) LCB and UCB of every arm's mean, as of the last `ask`."""
        return np.column_stack([self._lower, self._upper])

    def _expects_partial(self) -> None:
        if self._rules.feedback == FULL:
            raise ValueError("no partial feedback is expected: report the reward with `final`")

    def _slot(self, pull: int | None, value: float) -> int:
        if pull is None or pull not in self._ids:
            running = [each.id for each in self.running]
            raise ValueError(f"pull must be one that runs, {running}, got {pull}")
        if not math.isfinite(value):
            raise ValueError(f"feedback must be a finite number, got {value}")
        return self._ids.index(pull)

    def _delay(self, s: int) -> int:
        return int(self._tally.delay[self._tally.slots[ARM, s]])

    def _age(self, s: int) -> int:
        return int(self._tally.slots[AGE, s]) + len(self._reports.get(s, ()))

    def _hear(self, s: int, event: Event) -> None:
        self.history.append(event)
        if self._rules.by_slot:
            self._reports.setdefault(s, []).append(event)
            if event.kind == "final":
                self._ids[s] = None
            return
        arm = int(self._tally.slots[ARM, s])
        if arm not in self._heard:
            self._heard.append(arm)
        self._count(s, event)
        if event.kind == "final":
            self._close_up([s])

    def _count(self, s: int, event: Event) -> None:
        """Add a report to the tally; a reward frees its slot."""
        tally = self._tally
        arm, seen = tally.slots[ARM, s], tally.slots[AGE, s]
        tally.steps[arm] += 1
        if event.kind == "partial":
            tally.slots[AGE, s] += 1
            tally.sums[s] += event.value
            return
        tally.finished[arm] += 1
        tally.totals[arm] += event.value
        if seen > 0:
            tally.shifts[arm] += tally.sums[s] / seen - event.value
            tally.shifted[arm] += 1
        self._free(s)

    def _free(self, s: int) -> None:
        self._ids[s] = None
        self._tally.slots[ARM, s] = FREE

    def _close_up(self, gone: list[int]) -> None:
        """Free slots and leave no gap between the others, oldest first."""
        for s in gone:
            self._free(s)
        kept = [s for s, each in enumerate(self._ids) if each is not None]
        order = kept + [s for s in range(len(self._ids)) if s not in kept]
        for array in (self._tally.slots, self._tally.sums):
            array[...] = array[..., order]
        self._ids = [self._ids[s] for s in order]

    def _bound(self, arm: int, first: int, last: int, sharing: int) -> None:
        """New bounds of an arm, its pulls in some slots counting."""
        centre, width = interval(self._rules, self._tally, first, last, arm, sharing)
        self._centres[arm] = centre
        self._lower[arm], self._upper[arm] = centre - width, centre + width

    def _move_arms(self) -> None:
        """Algorithm 1."""
        alive = np.flatnonzero(self._sets == SURVIVING)
        update_sets(self._sets, alive, alive.size, self._lower, self._upper, self._k)

    def _sharing(self) -> int:
        """How many arms share delta."""
        return int((self._sets == SURVIVING).sum()) if self._rules.survivors else self._sets.size

    def _update(self) -> list[Pull]:
        """New bounds of the arms heard of, and Algorithm 1; the pulls to cancel."""
        sharing = self._sharing()
        for arm in self._heard:
            self._bound(arm, 0, len(self._ids), sharing)
        self._heard.clear()
        self._move_arms()
        cancelled = [pull for pull in self.running if self._sets[pull.arm] != SURVIVING]
        self._close_up([self._ids.index(pull.id) for pull in cancelled])
        return cancelled

    def _hear_slots(self) -> list[Pull]:
        """The same in the published program's order, see `by_slot.go_on_by_slot`."""
        cancelled: list[Pull] = []
        for s in range(len(self._ids)):
            arm, pull = int(self._tally.slots[ARM, s]), self._ids[s]
            if arm == FREE:
                continue
            reports = self._reports.pop(s, [])
            for event in reports:
                self._count(s, event)
            ended = bool(reports) and reports[-1].kind == "final"
            if reports and self._sets[arm] == SURVIVING:
                first, last = s, s if ended else s + 1
                if self._rules.feedback == INCREMENTAL:
                    first, last = 0, len(self._ids)
                self._bound(arm, first, last, self._sharing())
                self._move_arms()
            if pull is not None and not ended and self._sets[arm] != SURVIVING:
                cancelled.append(Pull(pull, arm))
                self._free(s)
        left = self.running if self.done else []
        for each in left:
            self._free(self._ids.index(each.id))
        return cancelled + left

    def _start(self) -> list[Pull]:
        """GetBatchArms."""
        started: list[Pull] = []
        batch, slots = self._setting.batch, self._tally.slots
        alive = np.flatnonzero(self._sets == SURVIVING)
        for s in np.flatnonzero(slots[ARM] == FREE):
            active = np.bincount(slots[ARM, slots[ARM] != FREE], minlength=self._sets.size)
            limit = self._setting.limit or batch
            arm = int(next_arm(alive, alive.size, self._started, active, limit))
            if arm < 0:
                break
            slots[:, s] = arm, self._started[arm], 0, 0
            self._tally.sums[s] = 0.0
            self._started[arm] += 1
            self._ids[s] = self._next_id
            started.append(Pull(self._next_id, arm))
            self._next_id += 1
        return started


class Full(Partial):
    """Top-k racing on rewards alone: Algorithm 3, or standard racing with a batch of one.

    Args:
        n_arms, top, sigma, delta, batch, limit, reading: as of `Partial`.
    """

    _strategy = "Full"

    def __init__(self, n_arms: int, top: int = 1, *, sigma: float, **options: Any) -> None:
        super().__init__(n_arms, top, sigma=sigma, feedback="full", **options)
