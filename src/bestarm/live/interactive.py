"""Strategies for a real experiment: ask which arm to pull, tell its reward."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast, overload

import numpy as np

from bestarm.core.arguments import finite, integer, observed, positive, several_pulls
from bestarm.core.inputs import MOST_AT_A_TIME, InputError, short
from bestarm.core.plain import ordinary, plain, restored, state_from_json, state_to_json, tuples
from bestarm.live.counts import Counts, table_rows
from bestarm.live.labels import Label, Labels, Numbers, in_order
from bestarm.live.outstanding import Outstanding
from bestarm.live.record import Event, Recorded, atomic
from bestarm.live.window import Window

Arm = TypeVar("Arm")
#: Steps in which a large batch is allocated: each stands for this part of its pulls.
STEPS = 200
#: Least shares that add up to 1 do so to rounding, and so do pulls that are whole numbers.
ROUNDING = 1e-9
PLANNED = "its pulls are planned in rounds or phases"


class Trial(NamedTuple, Generic[Arm]):
    """A pull that was asked for.

    Example:
        >>> Trial(id=3, arm=1).arm
        1
    """

    id: int  # from 0, in the order of asking
    arm: Arm


class AskTell(Recorded, Generic[Arm]):
    """An ask/tell strategy: runs the steps of `core/strategy.py` on observations told by the user.

    `ask()` returns the same arm until it is told; `ask(n)` returns n new trials, which may be told
    in any order, each once, or abandoned. Outstanding trials count in the choice of further ones.
    Arms that were not asked for may be told too.

    The stopping rule is evaluated after every observation. Once it holds, `done` stays true and
    the answer rests on the observations until then; later ones are kept in the history only.

    With a window results count in the order of asking, and a trial without one in time counts as
    `default`: then results may be late, or never come, because of their value (docs/live.md).

    A paper's class builds the rules from its arguments and defines a `tell` of its own, which
    passes what it is told to `_tell`. `_label`, `_index` and `_observation` translate between its
    arms and observations and those of the steps; `_data` and `_expect` say what outstanding trials
    change.

    Args:
        strategy: a `Strategy`, or an object with steps of the same names.
        rules: the strategy's rules, see `core/strategy.py`.
        coins: a generator, for a randomised strategy.
        window: trials asked for later, or the time on the caller's clock (`at`), within which a
            result counts; without one, results count when they are told.
        default: what counts for a trial that has no result then, as `tell` takes it.

    Example:
        >>> from bestarm.baics import Uniform
        >>> s = Uniform(n_arms=2, weights=[1.0])
        >>> s.tell((0, 0), 0.7)  # of any arm, asked for or not
        >>> s.history[-1]
        Event(kind='tell', trial=None, arm=(0, 0), values=(0.7,))
        >>> again = Uniform(n_arms=2, weights=[1.0])
        >>> again.replay(s.history)
        >>> again.ask() == s.ask()
        True
    """

    #: Whether the promise is for a design that is fixed beforehand: results that were not asked
    #: for are then kept out of it.
    _fixed_design = False
    #: The names of limits, if there are any.
    _costs: Sequence[str] = ()
    _arms: Labels
    #: Whether an allocation of many pulls may be made in steps.
    _allocates_in_steps = True
    #: Columns of `tell_table` that name an arm.
    arm_columns: ClassVar[tuple[str, ...]] = ("arm",)
    #: Whether the steps observe the sums over some pulls, with their number.
    _observes_sums = False
    #: Whether counts come with the sum of squares of rewards.
    _needs_squares = False
    #: Whether it asks for no further trials until results of a round or phase are there.
    _plans_ahead = False

    def __init__(
        self,
        strategy: Any,
        rules: Any,
        coins: np.random.Generator | None = None,
        *,
        window: float | None = None,
        default: Any = None,
    ) -> None:
        self._strategy, self._rules, self._coins = strategy, rules, coins
        self._state = strategy.start(rules)
        self._asked = 0  # trials so far
        self._outstanding = Outstanding()
        self._told = self._late = 0
        self._kept_out: dict[int, int] = {}  # results that were not asked for, by index
        #: By index what was told and counts: the number of pulls and the sums.
        self._totals: dict[int, tuple[int, np.ndarray]] = {}
        self._done = False  # no rule holds before the first observation
        self._window = self._make_window(window, default)
        self._clock: float | None = None  # the latest `at`

    @property
    def done(self) -> bool:
        """Whether the stopping rule held at some time, or the budget is spent."""
        return self._done

    @property
    def answer(self) -> Any:
        """The current answer; its guarantee holds only once `done`, and then it is final."""
        raise NotImplementedError

    @property
    def told(self) -> int:
        """Observations told so far."""
        return self._told

    @property
    def late(self) -> int:
        """Observations told too late to count: after `done`, or after their window."""
        return self._late

    @property
    def kept_out(self) -> int:
        """Results that do not count because they were not asked for (docs/live.md)."""
        return sum(self._kept_out.values())

    @property
    @atomic
    def outstanding(self) -> list[Trial[Arm]]:
        """The trials that were asked for and neither told nor abandoned, oldest first."""
        return [Trial(id, self._label(index)) for id, index in self._outstanding]

    @overload
    def ask(self) -> Arm: ...

    @overload
    def ask(
        self, n: int, *, least_share: Numbers | None = None, at: float | None = None
    ) -> list[Trial[Arm]]: ...

    @atomic
    def ask(
        self,
        n: int | None = None,
        *,
        least_share: Numbers | None = None,
        at: float | None = None,
    ) -> Arm | list[Trial[Arm]]:
        """The arm of the oldest outstanding trial, or of a new one; or n new trials.

        There are fewer than n if the strategy has to hear of others first.

        Args:
            n: how many. With a window it must be given, and be at most the window in trials.
            least_share: of the n trials that an arm gets at least, rounded down; one number, or by
                arm. The strategy chooses the others.
            at: the time now, if the window is one of time.

        Raises:
            RuntimeError: once `done`.
            ValueError: n is not a positive integer, or `at` is missing or before an earlier one; or
                least shares add up to more than 1, or pulls are planned in rounds or phases.
        """
        if n is not None:
            return self._batch(n, least_share, at=at)
        if least_share is not None:
            raise ValueError("n must be given with least_share")
        if self._window is not None or at is not None:
            raise ValueError("n must be given with a window: results are told by their trials")
        waiting = (index for _, index in self._outstanding if self._counts_still(index))
        index = None if self._done else next(waiting, None)
        return self._trials(1)[0].arm if index is None else self._label(index)

    @atomic
    def allocation(self, n: int, *, least_share: Numbers | None = None) -> dict[Arm, int]:
        """How many of the next n pulls each arm is to have, for who splits traffic.

        Nothing is outstanding then: tell the results as counts, however many came. A batch of more
        than `STEPS` is allocated in as many steps.

        Args:
            n: how many.
            least_share: as for `ask`.

        Raises:
            RuntimeError: once `done`.
            ValueError: as of `ask`; or the strategy takes no counts.
        """
        return {self._label(index): pulls for index, pulls in self._allocated(n, least_share)}

    def _allocated(self, n: Any, least_share: Any, *given: Any) -> list[tuple[int, int]]:
        """Indices of arms in order, and their pulls; `given` is passed on to `_choose`."""
        why = self._no_counts() or (PLANNED if self._fixed_design or self._plans_ahead else "")
        if why:
            raise ValueError(f"trials must be asked for by ask(n): {why}")
        counts = dict(enumerate(self._least(n, least_share, *given)))
        left = int(n) - sum(counts.values())
        steps = min(left, STEPS if self._allocates_in_steps else left)
        with self._expecting(more=True):
            self._expect({index: pulls for index, pulls in counts.items() if pulls})
            for step in range(steps):
                pulls = left * (step + 1) // steps - left * step // steps
                index = self._choose_for(pulls, *given)
                counts[index] = counts.get(index, 0) + pulls
                self._expect({index: pulls})
        request = (int(n), plain(least_share), *given)
        self.history.append(Event("allocate", None, None, tuples(request)))
        return sorted((index, pulls) for index, pulls in counts.items() if pulls)

    def _choose_for(self, pulls: int, *given: Any) -> int:
        """The arm of so many pulls, for whom an allocation that is tracked counts as often."""
        if not hasattr(self._state, "tracked"):
            return self._choose(*given)
        before = self._state.tracked.copy()
        index = self._choose(*given)
        self._state.tracked[:] += (pulls - 1) * (self._state.tracked - before)
        return index

    def _least(self, n: Any, least_share: Any, *given: Any) -> Sequence[int]:
        """By index the pulls that arms have at least. Raises as `ask` does."""
        if not 1 <= (integer(n) or 0) <= MOST_AT_A_TIME:
            raise ValueError(f"n must be a positive integer, at most {MOST_AT_A_TIME:,}, got {n!r}")
        if self._done:
            raise RuntimeError("the strategy has stopped; its answer is in .answer")
        if least_share is None:
            return []
        if self._fixed_design or self._plans_ahead:
            raise ValueError(f"least_share must be left out: {PLANNED}")
        offered = self._offered
        k, values = len(offered), np.zeros(len(self._arms))
        shares = np.atleast_1d(np.array(in_order(least_share, offered, "least_share"), dtype=float))
        if shares.shape not in ((1,), (k,)) or not (shares >= 0.0).all():
            raise ValueError(f"least_share must be a share, or {k}, got {short(least_share)}")
        values[[self._arms.index(label) for label in offered]] = shares
        if not values.sum() <= 1.0 + ROUNDING:
            raise ValueError(f"least_share must add up to at most 1, got {values.sum():g}")
        return np.floor(int(n) * values + ROUNDING).astype(int).tolist()

    @property
    def _offered(self) -> Sequence[Label]:
        """The arms that may be asked for."""
        return self._arms.labels

    def _batch(
        self, n: Any, least_share: Any, *given: Any, at: float | None = None
    ) -> list[Trial[Arm]]:
        """n new trials, first those that arms have at least, in turn."""
        if least_share is None:
            return self._trials(n, *given, at=at)
        least = self._least(n, least_share, *given)
        made: list[Trial[Arm]] = []
        for turn in range(max(least)):
            for index, pulls in enumerate(least):
                if turn < pulls and not self._done:
                    made.append(self._assign(index, *given, at=at))
        if len(made) < n and not self._done:
            made += self._trials(n - len(made), *given, at=at)
        return made

    def _assign(self, index: int, *given: Any, at: float | None = None) -> Trial[Arm]:
        """A trial of an arm that the strategy does not choose."""
        self._set_clock(at)
        trial = self._new_trial(index, *given, kind="assign")
        self._count_due()
        return trial

    @atomic
    def trial(self, id: int) -> Trial[Arm]:
        """An outstanding trial by its id, for `tell`. Raises ValueError if there is none."""
        return Trial(int(id), self._label(self._trial_arm(id)))

    @atomic
    def abandon(self, trial: Trial[Arm] | int, *, at: float | None = None) -> None:
        """Give up a trial that will never be told; with a window it counts as `default`.

        Without one a trial must not be abandoned because of its value (docs/live.md).

        Raises:
            ValueError: there is no such trial, or it was told or abandoned before; or of `at`, as
                for `ask`.
        """
        id = trial.id if isinstance(trial, Trial) else trial
        index = self._trial_arm(id)
        self._set_clock(at)
        self._outstanding.remove(int(id))
        self.history.append(Event("abandon", int(id), None, ()))
        self._lose(int(id), index)
        self._count_due()

    @atomic
    def wait(self, at: float) -> None:
        """Tell the time, for a window of time: trials whose window has passed count now.

        Raises:
            ValueError: `at` is before an earlier time, or there is no window of time.
        """
        self._set_clock(finite(at), "wait")
        self._count_due()

    def _lose(self, id: int, index: int) -> None:
        """A trial of an arm was given up."""
        if self._window is not None and self._window.missed.pop(id, None) is None:
            self._window.give_up(id)

    def _make_window(self, length: Any, default: Any) -> Window | None:
        """The window. Raises InputError naming what is wrong."""
        name = type(self).__name__
        if (length is None) != (default is None):
            missing = "window" if length is None else "default"
            raise InputError(f"{name}: {missing}: must be given, as window and default go together")
        if length is None:
            return None
        try:
            given = ordinary(default)
            several = isinstance(given, Sequence)
            values = self._pull_values(*given) if several else self._pull_values(given)
            self._observation(0, *(observed(value, "default") for value in values))
        except (TypeError, ValueError) as error:
            said = f"must be what tell takes after the trial, got {short(default)}: {error}"
            raise InputError(f"{name}: default: {said}") from None
        return Window(positive(length, f"{name}: window"), values)

    def _pull_values(self, reward: Any, *costs: Any) -> tuple[float, ...]:
        """What `_tell` gets for a pull that gave this."""
        return tuple(float(x) for x in (reward, *np.ravel([*map(self._ordered_costs, costs)])))

    def _ordered_costs(self, costs: Any) -> np.ndarray:
        """Costs in the order of the limits. Raises InputError for a wrong or missing name."""
        return np.atleast_1d(in_order(costs, self._costs, "costs"))

    def _set_clock(self, at: float | None, kind: str = "clock") -> None:
        """Take note of the time.

        Raises:
            ValueError: the time is missing, or goes backwards, or nothing asks for it.
        """
        if at is None:
            if self._clock is not None:
                raise ValueError("at must be given, since earlier calls had it")
            if self._window is not None and (self._plans_ahead or self._window.length < 1.0):
                why = "is below one trial" if self._window.length < 1.0 else "counts no trials here"
                raise ValueError(f"at must be given: the window {why}, so it has to be one of time")
            return
        time = finite(at)
        if self._window is None or (self._asked and self._clock is None):
            raise ValueError("at must be left out: trials have no times, or there is no window")
        if self._clock is not None and time < self._clock:
            raise ValueError(f"at must be {self._clock:g} or later, got {time:g}")
        if time != self._clock or kind == "wait":
            self._clock = time
            self.history.append(Event(kind, None, None, (time,)))

    @property
    def _now(self) -> float:
        """The time, or the number of trials that were asked for."""
        return float(self._asked) if self._clock is None else self._clock

    def _count_due(self) -> None:
        """Count the trials whose turn it is."""
        if self._window is not None and not self._done:
            for id, index, values in self._window.due(self._now):
                self._outstanding.remove(id)
                if self._counts_still(index):
                    self._count(index, values, self._observation(index, *values))
                if self._done:
                    self._late += self._window.told()
                    return

    def _count(self, index: int, values: tuple[float, ...], observation: Any) -> None:
        """Observe what a pull gave, and evaluate the stopping rule."""
        pulls, sums = self._totals.get(index, (0, 0.0))
        self._totals[index] = pulls + self._pull_count(values), sums + np.array(values)
        self._done = self._update(index, observation)

    def _trials(self, n: int, *given: Any, at: float | None = None) -> list[Trial[Arm]]:
        """At most n new trials; `given` is passed on to `_choose`."""
        most = MOST_AT_A_TIME
        if self._window is not None and at is None:
            most = min(most, max(1, int(self._window.length)))  # else the first ones never count
        if not 1 <= (integer(n) or 0) <= most:
            raise ValueError(f"n must be a positive integer, at most {most:,}, got {short(n)}")
        if self._done:
            raise RuntimeError("the strategy has stopped; its answer is in .answer")
        if at is not None and self._plans_ahead:
            with self._expecting(more=False):
                waits = not self._may_ask()
            if waits:  # what is due may end a phase
                self.wait(at)
                if self._done:
                    return []
        self._set_clock(at)
        if self._window is not None and n > 1:  # each new trial may be the turn of an older one
            made: list[Trial[Arm]] = self._trials(1, *given, at=at)
            while len(made) < n and not self._done and (more := self._trials(1, *given, at=at)):
                made += more
            return made
        made = []
        with self._expecting(n > 1):
            while len(made) < n and self._may_ask():
                index = self._choose(*given)
                made.append(self._new_trial(index, *given))
                if len(made) < n:
                    self._expect({index: 1})
        self._count_due()
        return made

    def _choose(self) -> int:
        """The index of the arm to pull next."""
        return int(self._strategy.choose(self._rules, self._state, self._coins))

    def _new_trial(self, index: int, *given: Any, kind: str = "ask") -> Trial[Arm]:
        """Record a trial of an arm; `given` is what the choice depended on."""
        trial: Trial[Arm] = Trial(self._asked, self._label(index))
        self._outstanding.add(trial.id, index)
        if self._window is not None:
            self._window.add(trial.id, index, self._now)
        self._asked += 1
        self.history.append(Event(kind, trial.id, trial.arm, given))
        return trial

    @contextmanager
    def _expecting(self, more: bool) -> Generator[None]:
        """Within this block the state counts outstanding trials as pulls.

        Args:
            more: whether there will be others.
        """
        waiting = self._outstanding if self._window is None else self._window
        data = self._data() if waiting.counts or more else []
        kept = [array.copy() for array in data]
        if waiting.counts:
            self._expect(waiting.counts)
        try:
            yield
        finally:
            for array, before in zip(data, kept, strict=True):
                array[...] = before

    def _tell(self, arm: Any, *told: float, at: float | None = None) -> None:
        """Take in an observation of a trial, or of an arm: then of its oldest outstanding trial.

        Raises:
            ValueError: for an unknown arm or trial, one told before, or a number that is not
                finite or too large; nothing has changed then.
        """
        id, index = self._meant(arm)
        values = tuple(map(finite, told))
        observation = self._observation(index, *values)
        pulls = self._pull_count(values)
        for place, value in enumerate(values):
            observed(value, "costs" if place else "reward", pulls)
        if isinstance(arm, Trial) and pulls != 1:
            raise ValueError(f"a trial is one pull, got {pulls}")
        if self._window is not None and id < 0:
            raise ValueError(f"arm must be a trial with a window, as ask(n) gives them, got {arm}")
        ids = [id] if isinstance(arm, Trial) else self._outstanding.oldest(index, pulls)
        waits = self._window is not None  # until it is its turn
        counting = self._done or waits or self._wanted(index, ids, pulls)
        self._set_clock(at)
        for trial_id in ids:
            self._outstanding.remove(trial_id)
        only = ids[0] if ids and pulls == 1 else None
        self.history.append(Event("tell", only, self._label(index), values))
        self._told += pulls
        in_time = self._window is None or self._window.settle(id, values, self._now)
        if self._done or not in_time or not self._counts_still(index):
            self._late += pulls
        elif not counting:
            self._kept_out[index] = self._kept_out.get(index, 0) + pulls
        elif self._window is None:
            self._count(index, values, observation)
        self._count_due()

    @atomic
    def tell_table(self, table: Any) -> None:
        """Tell a batch of results as counts, whole or not at all.

        Coefficients and plans are those from before the batch, and the stopping rule is evaluated
        once, after it. So how many pulls of an arm it has must not depend on their rewards: tell a
        batch when its time is over, a day for example (docs/live.md).

        Args:
            table: a DataFrame, or a mapping from columns to values, with a row per arm: `arm` (of
                BAICS `arm` and `segment`), `pulls`, `total` (the sum of the rewards), `squares`
                (that of their squares) if sigma is unknown, and the sum of each cost under the
                name of its limit. Rows with 0 pulls are left out.

        Raises:
            ValueError: a column or a row is wrong, naming it; or the strategy takes no counts.
        """
        costs = self.told_costs
        squares = ["squares"] if self._needs_squares else []
        columns = [*self.arm_columns, "pulls", "total", *squares, *costs]
        counts: list[Counts] = []
        n = len(self.arm_columns)
        for row in table_rows(table, columns):
            arm, (pulls, total, *others) = row[:n], row[n:]
            square = others.pop(0) if squares else None
            counts.append(Counts(arm if n > 1 else arm[0], pulls, (total, *others), square))
        self._tell_counts(counts)

    @property
    def told_costs(self) -> Sequence[str]:
        """The names of the costs that `tell` takes."""
        return self._costs

    def _tell_one(
        self,
        arm: Any,
        reward: Any,
        *costs: float,
        pulls: Any = None,
        total: Any = None,
        squares: Any = None,
        at: float | None = None,
    ) -> None:
        """One pull, or with `pulls` and `total` several of an arm, as counts."""
        if pulls is None and total is None and squares is None:
            self._tell(arm, reward, *costs, at=at)
            return
        if reward is not None or pulls is None or total is None:
            raise ValueError("pulls and total must be given together, and no reward")
        if isinstance(arm, Trial) or at is not None:
            raise ValueError("pulls must be told of an arm, not of a trial, without at")
        self._tell_counts([Counts(arm, pulls, (total, *costs), squares)])

    def _reward(self, reward: Any, total: Any) -> Any:
        """The sum over some pulls, which has two names. Raises ValueError unless there is one."""
        if (reward is None) == (total is None):
            raise ValueError("reward, or the total over several pulls, must be given, and only one")
        return total if reward is None else reward

    def _tell_counts(self, told: Sequence[Counts]) -> None:
        """Take in a batch of counts.

        Raises:
            ValueError: one of them is wrong, or the strategy takes none; nothing has changed then.
        """
        if why := self._no_counts():
            raise ValueError(f"pulls must be told one by one: {why}")
        checked: list[Counts] = []
        for place, counts in enumerate(told, 1):
            try:
                checked.append(self._checked(counts))
            except ValueError as error:
                row = f"row {place}: " if len(told) > 1 else ""
                raise ValueError(f"{row}{error}") from None
        batch = [counts for counts in checked if counts.pulls]
        if len({counts.arm for counts in batch}) < len(batch):
            raise ValueError("table must have one row per arm")
        trial_ids = [self._outstanding.oldest(counts.arm, counts.pulls) for counts in batch]
        which_count = [
            self._done or self._wanted(counts.arm, ids, counts.pulls)
            for counts, ids in zip(batch, trial_ids, strict=True)
        ]
        if not batch:
            return
        for ids in trial_ids:
            for id in ids:
                self._outstanding.remove(id)
        rows = [
            (self._label(counts.arm), counts.pulls, counts.sums, counts.squares) for counts in batch
        ]
        self.history.append(Event("counts", None, None, tuple(rows)))
        pulls = sum(counts.pulls for counts in batch)
        self._told += pulls
        if self._done:
            self._late += pulls
            return
        for counts, counting in zip(batch, which_count, strict=True):
            if not self._counts_still(counts.arm):
                self._late += counts.pulls
            elif counting:
                before, sums = self._totals.get(counts.arm, (0, 0.0))
                self._totals[counts.arm] = (
                    before + counts.pulls,
                    sums + np.array(self._values(counts)),
                )
            else:
                self._kept_out[counts.arm] = self._kept_out.get(counts.arm, 0) + counts.pulls
        pairs = zip(batch, which_count, strict=True)
        counted = [
            counts for counts, counting in pairs if counting and self._counts_still(counts.arm)
        ]
        if counted:
            self._done = self._update_counts(counted)

    def _no_counts(self) -> str:
        """Why the strategy takes no counts; empty if it does."""
        return "" if self._window is None else "with a window results count by their trials"

    def _checked(self, told: Counts) -> Counts:
        """Counts with the index of the arm and finite numbers. Raises ValueError."""
        index = self._index(told.arm)
        sums = tuple(map(finite, told.sums))
        if len(sums) != 1 + len(self.told_costs):
            expected, got = len(self.told_costs), len(sums) - 1
            raise ValueError(f"costs must be {expected} numbers, got {got}")
        if told.pulls == 0 and not any(sums):
            return Counts(index, 0, sums)
        pulls = several_pulls(finite(told.pulls))
        for place, value in enumerate(sums):
            observed(value, "costs" if place else "total", pulls)
        if (told.squares is None) == self._needs_squares:
            must = "be given with" if self._needs_squares else "be left out without"
            raise ValueError(f'squares must {must} sigma="unknown"')
        squares = None if told.squares is None else finite(told.squares)
        counts = Counts(index, pulls, sums, squares)
        try:
            self._standard(counts)
        except ValueError as error:
            raise ValueError(
                f"total of {sums[0]:g} over {pulls:g} pulls of {self._label(index)}: {error}"
            ) from None
        return counts

    def _standard(self, counts: Counts) -> Any:
        """The sum of the steps' observations of the pulls. Raises ValueError."""
        if self._observes_sums:
            return self._observation(counts.arm, *counts.sums, counts.pulls)
        return counts.pulls * self._observation(counts.arm, *np.array(counts.sums) / counts.pulls)

    def _values(self, counts: Counts) -> tuple[float, ...]:
        """What `_tell` would get for these pulls together."""
        return (*counts.sums, counts.pulls) if self._observes_sums else counts.sums

    def _update_counts(self, batch: Sequence[Counts]) -> bool:
        """Observe a batch, and evaluate the stopping rule."""
        self._observe_counts(batch)
        return bool(self._strategy.done(self._rules, self._state))

    def _observe_counts(self, batch: Sequence[Counts]) -> None:
        """Observe a batch: all coefficients and plans are those from before it."""
        for counts in batch:
            place = self._place(counts.arm)
            self._strategy.observe(self._rules, self._state, place, self._standard(counts))

    def _wanted(self, index: int, ids: list[int], pulls: int) -> bool:
        """Whether pulls of an arm, of these trials, count.

        Raises:
            ValueError: only some do.
        """
        if self._fixed_design and 0 < len(ids) < pulls:
            n = len(ids)
            raise ValueError(f"pulls must be at most {n}, as are outstanding, got {pulls}")
        return bool(ids) or not self._fixed_design

    def _update(self, index: int, observation: Any) -> bool:
        """Observe, and evaluate the stopping rule."""
        self._strategy.observe(self._rules, self._state, self._place(index), observation)
        return bool(self._strategy.done(self._rules, self._state))

    def _counts_still(self, index: int) -> bool:
        """Whether results of an arm count; not those of an arm that was dropped."""
        return True

    def _place(self, index: int) -> int:
        """What the steps know an arm by."""
        return index

    def _places(self, pulls: Mapping[int, int]) -> dict[int, int]:
        """Pulls by what the steps know an arm by, given those by index, of arms that count."""
        left = {index: n for index, n in pulls.items() if self._counts_still(index)}
        return {self._place(index): n for index, n in left.items()}

    def _meant(self, arm: Any) -> tuple[int, int]:
        """The id of a trial, or -1, and the index of its arm."""
        if not isinstance(arm, Trial):
            return -1, self._index(arm)
        trial = cast(Trial[Any], arm)
        index = self._trial_arm(trial.id)
        if self._index(trial.arm) != index:
            there = self._label(index)
            raise ValueError(f"trial {trial.id} is of arm {there}, got {trial.arm}")
        return int(trial.id), index

    def _trial_arm(self, id: Any) -> int:
        """The index of the arm of an outstanding trial, also of one whose window has passed.

        Raises:
            ValueError: there is none.
        """
        number = integer(id)
        if number is None or not 0 <= number < self._asked:
            raise ValueError(f"trial must be one that was asked for, got {id!r}")
        index = self._outstanding.arm(number)
        if index is None and self._window is not None:
            index = self._window.missed.get(number)
        if index is None:
            raise ValueError(f"trial {id} was told or abandoned before")
        return index

    def _apply(self, event: Event) -> None:
        at = self._clock
        if event.kind == "wait":
            self.wait(*event.values)
        elif event.kind == "clock":
            self._set_clock(*event.values)
        elif event.kind == "ask":
            (trial,) = self._trials(1, *event.values, at=at)
            if self._index(event.arm) != self._index(trial.arm):
                raise ValueError(
                    f"the history pulls {event.arm} where this strategy asks {trial.arm}"
                )
        elif event.kind == "assign":
            self._assign(self._index(event.arm), *event.values, at=at)
        elif event.kind == "allocate":
            n, least_share, *given = event.values
            self._allocated(n, restored(least_share), *given)
        elif event.kind == "counts":
            self._tell_counts([Counts(*row) for row in event.values])
        elif event.kind == "abandon":
            self.abandon(event.trial, at=at)  # pyright: ignore[reportArgumentType]
        else:
            told = event.arm if event.trial is None else self.trial(event.trial)
            self._tell(told, *event.values, at=at)

    def _state_to_json(self) -> Any:
        return {
            "steps": state_to_json(self._state),
            "coins": None if self._coins is None else plain(self._coins),
            "asked": self._asked,
            "outstanding": [[id, index] for id, index in self._outstanding],
            "told": self._told,
            "late": self._late,
            "kept_out": [[index, n] for index, n in self._kept_out.items()],
            "totals": [[index, n, sums.tolist()] for index, (n, sums) in self._totals.items()],
            "done": self._done,
            "clock": self._clock,
            "window": None if self._window is None else self._window.to_json(),
        }

    def _restore(self, state: Any) -> None:
        self._state = state_from_json(self._state, state["steps"])
        if self._coins is not None:
            self._coins = restored(state["coins"])
        self._asked, self._told = state["asked"], state["told"]
        self._late, self._done = state["late"], state["done"]
        self._outstanding = Outstanding((id, index) for id, index in state["outstanding"])
        self._kept_out = dict(state["kept_out"])
        self._totals = {index: (n, np.array(sums)) for index, n, sums in state["totals"]}
        self._clock = state["clock"]
        if self._window is not None:
            self._window.restore(state["window"])

    def _label(self, index: int) -> Any:
        """The user's label of the arm with this index in the steps."""
        raise NotImplementedError

    def _index(self, arm: Any) -> int:
        """The index of an arm in the steps. Raises ValueError for an unknown arm."""
        raise NotImplementedError

    def _observation(self, index: int, *observed: float) -> Any:
        """The steps' observation of an arm for the numbers that were told. Raises ValueError."""
        (reward,) = observed
        return reward

    def _pull_count(self, values: tuple[float, ...]) -> int:
        """How many pulls the numbers that were told are of."""
        return 1

    def _data(self) -> list[np.ndarray]:
        """The arrays of the state that `_expect` changes."""
        raise NotImplementedError

    def _expect(self, pulls: Mapping[int, int]) -> None:
        """Count pulls, by the index of their arm, in `_data` as if they had been told, no news."""
        raise NotImplementedError

    def _may_ask(self) -> bool:
        """Whether `choose` has an arm, the outstanding ones being counted as pulls."""
        return True
