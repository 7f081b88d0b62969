"""Strategies for a real experiment: ask which arm to pull, tell its reward."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, TypeVar, cast, overload

import numpy as np

from bestarm.core.arguments import finite, integer, observed
from bestarm.core.inputs import MOST_AT_A_TIME, short
from bestarm.core.plain import plain, restored, state_from_json, state_to_json
from bestarm.core.record import Event, Recorded, atomic

Arm = TypeVar("Arm")


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

    A paper's class builds the rules from its arguments and defines a `tell` of its own, which
    passes what it is told to `_tell`. `_label`, `_index` and `_observation` translate between its
    arms and observations and those of the steps; `_data` and `_expect` say what outstanding trials
    change.

    Args:
        strategy: a `Strategy`, or an object with steps of the same names.
        rules: the strategy's rules, see `core/strategy.py`.
        coins: a generator, for a randomised strategy.

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

    def __init__(self, strategy: Any, rules: Any, coins: np.random.Generator | None = None) -> None:
        self._strategy, self._rules, self._coins = strategy, rules, coins
        self._state = strategy.start(rules)
        self._asked = 0  # trials so far
        self._outstanding: dict[int, int] = {}  # indices of arms by trial, oldest first
        self._told = self._late = 0
        self._done = False  # no rule holds before the first observation

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
        """Observations told after `done`, which the answer does not rest on."""
        return self._late

    @property
    @atomic
    def outstanding(self) -> list[Trial[Arm]]:
        """The trials that were asked for and neither told nor abandoned, oldest first."""
        return [Trial(id, self._label(index)) for id, index in self._outstanding.items()]

    @overload
    def ask(self) -> Arm: ...

    @overload
    def ask(self, n: int) -> list[Trial[Arm]]: ...

    @atomic
    def ask(self, n: int | None = None) -> Arm | list[Trial[Arm]]:
        """The arm of the oldest outstanding trial, or of a new one; or n new trials.

        There are fewer than n if the strategy has to hear of others first.

        Raises:
            RuntimeError: once `done`.
            ValueError: n is not a positive integer.
        """
        if n is not None:
            return self._trials(n)
        if self._done or not self._outstanding:
            self._trials(1)
        return self._label(next(iter(self._outstanding.values())))

    @atomic
    def trial(self, id: int) -> Trial[Arm]:
        """An outstanding trial by its id, for `tell`. Raises ValueError if there is none."""
        self._check_outstanding(id)
        return Trial(int(id), self._label(self._outstanding[int(id)]))

    @atomic
    def abandon(self, trial: Trial[Arm] | int) -> None:
        """Give up a trial that will never be told.

        Raises:
            ValueError: there is no such trial, or it was told or abandoned before.
        """
        id = trial.id if isinstance(trial, Trial) else trial
        self._check_outstanding(id)
        del self._outstanding[int(id)]
        self.history.append(Event("abandon", int(id), None, ()))

    def _trials(self, n: int, *given: Any) -> list[Trial[Arm]]:
        """At most n new trials; `given` is passed on to `_choose`."""
        if not 1 <= (integer(n) or 0) <= MOST_AT_A_TIME:
            allowed = f"a positive integer, at most {MOST_AT_A_TIME:,}"
            raise ValueError(f"n must be {allowed}, got {short(n)}")
        if self._done:
            raise RuntimeError("the strategy has stopped; its answer is in .answer")
        made: list[Trial[Arm]] = []
        with self._expecting(n > 1):
            while len(made) < n and self._may_ask():
                index = self._choose(*given)
                made.append(self._new_trial(index, *given))
                if len(made) < n:
                    self._expect(index)
        return made

    def _choose(self) -> int:
        """The index of the arm to pull next."""
        return int(self._strategy.choose(self._rules, self._state, self._coins))

    def _new_trial(self, index: int, *given: Any) -> Trial[Arm]:
        """Record a trial of an arm; `given` is what the choice depended on."""
        trial: Trial[Arm] = Trial(self._asked, self._label(index))
        self._outstanding[trial.id] = index
        self._asked += 1
        self.history.append(Event("ask", trial.id, trial.arm, given))
        return trial

    @contextmanager
    def _expecting(self, more: bool) -> Generator[None]:
        """Within this block the state counts outstanding trials as pulls.

        Args:
            more: whether there will be others.
        """
        data = self._data() if self._outstanding or more else []
        kept = [array.copy() for array in data]
        for index in self._outstanding.values():
            self._expect(index)
        try:
            yield
        finally:
            for array, before in zip(data, kept, strict=True):
                array[...] = before

    def _tell(self, arm: Any, *told: float) -> None:
        """Take in an observation of a trial, or of an arm: then of its oldest outstanding trial.

        Raises:
            ValueError: for an unknown arm or trial, one told before, or a number that is not
                finite or too large; nothing has changed then.
        """
        id, index = self._meant(arm)
        values = tuple(map(finite, told))
        observation = self._observation(index, *values)
        pulls = self._pulls_of(values)
        for place, value in enumerate(values):
            observed(value, "costs" if place else "reward", pulls)
        if isinstance(arm, Trial) and pulls != 1:
            raise ValueError(f"a trial is one pull, got {pulls}")
        ids = [id] if isinstance(arm, Trial) else self._oldest(index, pulls)
        for one in ids:
            del self._outstanding[one]
        only = ids[0] if ids and pulls == 1 else None
        self.history.append(Event("tell", only, self._label(index), values))
        self._told += 1
        if self._done:
            self._late += 1
            return
        self._done = self._update(index, observation)

    def _update(self, index: int, observation: Any) -> bool:
        """Observe, and evaluate the stopping rule."""
        self._strategy.observe(self._rules, self._state, index, observation)
        return bool(self._strategy.done(self._rules, self._state))

    def _meant(self, arm: Any) -> tuple[int, int]:
        """The id of a trial, or -1, and the index of its arm."""
        if not isinstance(arm, Trial):
            return -1, self._index(arm)
        trial = cast(Trial[Any], arm)
        self._check_outstanding(trial.id)
        if self._index(trial.arm) != self._outstanding[trial.id]:
            there = self._label(self._outstanding[trial.id])
            raise ValueError(f"trial {trial.id} is of arm {there}, got {trial.arm}")
        return trial.id, self._outstanding[trial.id]

    def _oldest(self, index: int, most: int) -> list[int]:
        """The oldest outstanding trials of an arm, at most so many."""
        return [id for id, asked in self._outstanding.items() if asked == index][:most]

    def _check_outstanding(self, id: Any) -> None:
        """Raise ValueError unless a trial is outstanding."""
        found = integer(id)
        if found is None or not 0 <= found < self._asked:
            raise ValueError(f"trial must be one that was asked for, got {id!r}")
        if id not in self._outstanding:
            raise ValueError(f"trial {id} was told or abandoned before")

    def _old_event(self, entry: Any) -> Event:
        """An entry of a history before there were trials: arm, observed, whether asked for."""
        arm, observed, asked = entry
        if asked and self._index(arm) != self._index(self.ask()):
            raise ValueError(f"the history pulls {arm} where this strategy asks {self.ask()}")
        return Event("tell", None, arm, tuple(observed))

    def _apply(self, event: Event) -> None:
        if event.kind == "ask":
            (trial,) = self._trials(1, *event.values)
            if self._index(event.arm) != self._outstanding[trial.id]:
                raise ValueError(
                    f"the history pulls {event.arm} where this strategy asks {trial.arm}"
                )
        elif event.kind == "abandon":
            self.abandon(event.trial)  # pyright: ignore[reportArgumentType]
        else:
            told = event.arm if event.trial is None else self.trial(event.trial)
            self._tell(told, *event.values)

    def _state_to_json(self) -> Any:
        return {
            "steps": state_to_json(self._state),
            "coins": None if self._coins is None else plain(self._coins),
            "asked": self._asked,
            "outstanding": [[id, index] for id, index in self._outstanding.items()],
            "told": self._told,
            "late": self._late,
            "done": self._done,
        }

    def _restore(self, state: Any) -> None:
        self._state = state_from_json(self._state, state["steps"])
        if self._coins is not None:
            self._coins = restored(state["coins"])
        self._asked, self._told = state["asked"], state["told"]
        self._late, self._done = state["late"], state["done"]
        self._outstanding = dict(state["outstanding"])

    def _totals(self) -> dict[int, tuple[int, np.ndarray]]:
        """By arm, of what was told before the end: the number of pulls and the sums."""
        found: dict[int, tuple[int, np.ndarray]] = {}
        told = [event for event in self.history if event.kind == "tell"]
        for event in told[: len(told) - self._late]:
            index, n = self._index(event.arm), self._pulls_of(event.values)
            pulls, sums = found.get(index, (0, 0.0))
            found[index] = pulls + n, sums + np.array(event.values)
        return found

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

    def _pulls_of(self, values: tuple[float, ...]) -> int:
        """How many pulls the numbers that were told are of."""
        return 1

    def _data(self) -> list[np.ndarray]:
        """The arrays of the state that `_expect` changes."""
        raise NotImplementedError

    def _expect(self, index: int) -> None:
        """Count a pull of an arm in `_data` as if it had been told, without news."""
        raise NotImplementedError

    def _may_ask(self) -> bool:
        """Whether `choose` has an arm, the outstanding ones being counted as pulls."""
        return True
