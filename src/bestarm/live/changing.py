"""Arms that are dropped, or added, during an experiment: the steps run on those that are left."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from bestarm.core.inputs import MOST_ARMS, short
from bestarm.core.plain import plain
from bestarm.live.interactive import AskTell
from bestarm.live.labels import Label, Labels
from bestarm.live.record import Event, atomic

Arm = TypeVar("Arm")
#: Arms that have to be left, since one alone is compared with nothing.
LEAST_ARMS = 2


class Changing(AskTell[Arm]):
    """Adds `drop` and `add`.

    Arms keep their indices. The steps know the arms that are left, in that order, by their *place*.
    A subclass sets `_kept` before it starts, makes the state for other arms in `_change`, and says
    in `_no_drop` and `_no_add` why its guarantee would not survive a change.

    Example:
        >>> from bestarm.bai import KLLUCB
        >>> s = KLLUCB(["red", "green", "blue"])
        >>> s.drop("red")
        >>> s.ask(4)[0].arm, s.remaining
        ('green', ['green', 'blue'])
    """

    #: Indices of the arms that are left.
    _kept: list[int]

    @atomic
    def drop(self, arm: Label) -> None:
        """Drop an arm: it is never the answer and never asked for again.

        Results of it that are told later are kept in the history and counted in `late`. The answer
        is then the best of the arms that are left, with the same guarantee; which arm is dropped,
        and when, may depend on all results (docs/guarantees.md).

        Raises:
            RuntimeError: once `done`.
            ValueError: there is no such arm, it was dropped before, or fewer than two would be
                left; or the object was made without `may_drop`, and needs it.
        """
        index = self._arms.index(arm)
        if index not in self._kept:
            raise ValueError(f"{self._arms[index]} was dropped before")
        self._check_change(self._no_drop())
        if len(self._kept) <= LEAST_ARMS:
            raise ValueError(f"{LEAST_ARMS} arms have to be left: else end the experiment")
        self.history.append(Event("drop", None, self._arms[index], ()))
        self._change([kept for kept in self._kept if kept != index])
        if self._window is not None:
            self._late += self._waiting_results(index)
        self._done = self._stops_now()
        if self._done and self._window is not None:
            self._late += sum(map(self._waiting_results, self._kept))

    @atomic
    def add(self, arm: Label | None = None) -> Label:
        """Add an arm, which nothing is known of yet, and return its label.

        The answer is then the best of all arms that were not dropped, with the same guarantee;
        which arm is added, and when, may depend on all results (docs/guarantees.md).

        Args:
            arm: its name; left out if arms are counted, as its number is the next one.

        Raises:
            RuntimeError: once `done`.
            ValueError: the name is missing, or was used before, or there are too many arms; or the
                object was made without `may_add`.
        """
        self._check_change(self._no_add())
        label = self._new_label(arm)
        self.history.append(Event("add", None, label, ()))
        self._arms = Labels(self._arms.what, [*self._arms.labels, label])
        self._change([*self._kept, len(self._arms) - 1])
        return label

    @property
    def remaining(self) -> list[Label]:
        """The arms that were not dropped."""
        return [self._arms[index] for index in self._kept]

    @property
    def dropped(self) -> list[Label]:
        """The arms that were dropped, in the order of their indices."""
        return [label for a, label in enumerate(self._arms.labels) if a not in self._kept]

    @property
    def added(self) -> list[Label]:
        """The arms that were added, in that order."""
        return [event.arm for event in self.history if event.kind == "add"]

    @property
    def _offered(self) -> list[Label]:
        return self.remaining

    def _check_change(self, why_not: str) -> None:
        """Raise an error if arms may not change."""
        if self._done:
            raise RuntimeError("the strategy has stopped; its answer is in .answer")
        if why_not:
            raise ValueError(why_not)

    def _new_label(self, arm: Any) -> Label:
        n, labels = len(self._arms), self._arms.labels
        if n >= MOST_ARMS:
            raise ValueError(f"there are {n:,} arms, and there may be no more")
        if not self._arms.named:
            if arm not in (None, n):
                raise ValueError(f"arm must be {n}, or left out, got {short(arm)}")
            return n
        if not isinstance(arm, str) or not arm or arm in labels:
            raise ValueError(f"arm must be a name that was not used yet, got {short(arm)}")
        return arm

    def _no_drop(self) -> str:
        """Why no arm may be dropped; empty if one may."""
        raise NotImplementedError

    def _no_add(self) -> str:
        """Why no arm may be added; empty if one may."""
        raise NotImplementedError

    def _change(self, kept: list[int]) -> None:
        """Go on with these arms, of which new ones come last: set `_kept`, rules and state."""
        raise NotImplementedError

    def _stops_now(self) -> bool:
        """The stopping rule, by what is known."""
        raise NotImplementedError

    @property
    def _width(self) -> int:
        """How many indices of the steps an arm has: one for each segment."""
        return 1

    def _counts_still(self, index: int) -> bool:
        return index // self._width in self._kept

    def _place(self, index: int) -> int:
        arm, segment = divmod(index, self._width)
        return self._kept.index(arm) * self._width + segment

    def _index_at(self, place: int) -> int:
        """The index of what the steps know by a place."""
        arm, segment = divmod(place, self._width)
        return self._kept[arm] * self._width + segment

    def _choose(self) -> int:
        return self._index_at(super()._choose())

    def _waiting_results(self, arm: int) -> int:
        """How many results of an arm wait for their turn."""
        waiting = self._window.waiting.values() if self._window is not None else ()
        return sum(
            event.arm // self._width == arm and event.values is not None for event in waiting
        )

    def _of_all(self, kept: np.ndarray, past: Callable[[int, float], float]) -> np.ndarray:
        """Numbers of all arms, given those of the arms that are left.

        Args:
            kept: (K', ...) by place.
            past: the number of a dropped arm, from the number and the sum of its results.
        """
        values = np.zeros((len(self._arms), *kept.shape[1:]), kept.dtype)
        for index, (n, sums) in self._totals.items():
            values.flat[index] = past(n, float(sums[0]))
        values[self._kept] = kept
        return values

    def _apply(self, event: Event) -> None:
        if event.kind == "drop":
            self.drop(event.arm)
        elif event.kind == "add":
            self.add(event.arm)
        else:
            super()._apply(event)

    def _state_to_json(self) -> Any:
        arms = {"arms": plain(self._arms.labels), "kept": self._kept}
        return super()._state_to_json() | arms

    def _restore(self, state: Any) -> None:
        if (state["arms"], state["kept"]) != (self._arms.labels, self._kept):
            self._arms = Labels(self._arms.what, state["arms"])
            self._change([*state["kept"]])
        super()._restore(state)
