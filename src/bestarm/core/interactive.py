"""Strategies for people with a real experiment: ask which arm to pull, tell what it gave."""

import math
from collections.abc import Hashable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

Arm = TypeVar("Arm", bound=Hashable)


class Observation(NamedTuple, Generic[Arm]):
    """One entry of a history."""

    arm: Arm
    observed: tuple[float, ...]  # what the strategy's `tell` was given after the arm
    asked: bool  # whether it answered an `ask`


class AskTell(Generic[Arm]):
    """The ask/tell loop; a paper's strategy says how to choose, observe, stop and answer.

    `ask` returns the same arm until an observation of it is told. Those of other arms may be told
    too, in any order; they count, and leave the question open. A strategy's `tell` has the
    arguments that suit it, and hands them to `_record`.
    """

    def __init__(self) -> None:
        self.history: list[Observation[Arm]] = []
        self._asked: Arm | None = None

    def ask(self) -> Arm:
        """The arm to pull next. Raises RuntimeError once `done`."""
        if self.done:
            raise RuntimeError("the strategy has stopped; its answer is in .answer")
        if self._asked is None:
            self._asked = self._choose()
        return self._asked

    def replay(self, history: Iterable[Observation[Arm]]) -> None:
        """Bring a new object, made with the same arguments, to where another one's history ends.

        Save `history` (plain tuples of arm, observed, asked) to survive a restart. Raises
        ValueError where the history is not one of this strategy.
        """
        for arm, observed, asked in history:
            if asked and self.ask() != arm:
                raise ValueError(f"the history pulls {arm} where this strategy asks {self.ask()}")
            self._record(arm, *observed)

    @property
    def done(self) -> bool:
        """Whether the stopping rule says that the answer is sure enough, or the budget is spent."""
        raise NotImplementedError

    @property
    def answer(self) -> Any:
        """The answer, sure only once `done`."""
        raise NotImplementedError

    def _record(self, arm: Arm, *observed: float) -> None:
        """Observe, and keep it in the history. Raises ValueError for what is not finite."""
        observed = tuple(map(float, observed))
        for number in observed:
            if not math.isfinite(number):
                raise ValueError(f"an observation must be a finite number, got {number}")
        self._observe(arm, *observed)
        self.history.append(Observation(arm, observed, arm == self._asked))
        if arm == self._asked:
            self._asked = None

    def _choose(self) -> Arm:
        raise NotImplementedError

    def _observe(self, arm: Arm, *observed: float) -> None:
        """Take an observation into the state. Raises ValueError for an arm there is not."""
        raise NotImplementedError
