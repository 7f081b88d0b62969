"""Strategies for people with a real experiment: ask which arm to pull, tell what it gave."""

import math
from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

Arm = TypeVar("Arm", bound=Hashable)


class Observation(NamedTuple, Generic[Arm]):
    """One entry of a history."""

    arm: Arm
    reward: float
    asked: bool  # whether it answered an `ask`


class AskTell(Generic[Arm]):
    """The ask/tell loop; a paper's strategy says how to choose, observe, stop and answer.

    `ask` returns the same arm until a reward of it is told. Rewards of other arms may be told
    too, in any order; they count, and leave the question open.
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

    def tell(self, arm: Arm, reward: float) -> None:
        """Record a reward. Raises ValueError for an arm there is not, or a reward not finite."""
        reward = float(reward)
        if not math.isfinite(reward):
            raise ValueError(f"reward must be a finite number, got {reward}")
        self._observe(arm, reward)
        self.history.append(Observation(arm, reward, arm == self._asked))
        if arm == self._asked:
            self._asked = None

    def replay(self, history: Iterable[Observation[Arm]]) -> None:
        """Bring a new object, made with the same arguments, to where another one's history ends.

        Save `history` (plain tuples of arm, reward, asked) to survive a restart. Raises
        ValueError where the history is not one of this strategy.
        """
        for arm, reward, asked in history:
            if asked and self.ask() != arm:
                raise ValueError(f"the history pulls {arm} where this strategy asks {self.ask()}")
            self.tell(arm, reward)

    @property
    def done(self) -> bool:
        """Whether the stopping rule says that the answer is sure enough."""
        raise NotImplementedError

    @property
    def answer(self):
        """The answer as of now; sure only once `done`."""
        raise NotImplementedError

    def _choose(self) -> Arm:
        raise NotImplementedError

    def _observe(self, arm: Arm, reward: float) -> None:
        raise NotImplementedError
