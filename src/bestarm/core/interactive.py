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
    """A strategy for a person: the driver of `core/strategy.py` that asks instead of drawing.

    `ask` returns the same arm until an observation of it is told. Those of other arms may be told
    too, in any order; they count, and leave the question open. The stopping rule is looked at when
    there is no open question.

    A paper's object makes the rules from its arguments and has a `tell` with the arguments that
    suit it, which hands them to `_record`; `_arm` and `_number` translate where its arms are not
    the steps' numbers.

    Args:
        strategy: a `Strategy`, or an object with steps of the same names.
        rules: what it is told.
        coins: a generator, for a strategy that draws.
    """

    def __init__(self, strategy: Any, rules: Any, coins: Any = None) -> None:
        self.history: list[Observation[Arm]] = []
        self._strategy, self._rules, self._coins = strategy, rules, coins
        self._state = strategy.start(rules)
        self._asked: Arm | None = None
        self._look()

    @property
    def done(self) -> bool:
        """Whether the stopping rule says that the answer is sure enough, or the budget is spent."""
        return self._done

    @property
    def answer(self) -> Any:
        """The answer, sure only once `done`."""
        raise NotImplementedError

    def ask(self) -> Arm:
        """The arm to pull next. Raises RuntimeError once `done`."""
        if self._asked is not None:
            return self._asked
        if self.done:
            raise RuntimeError("the strategy has stopped; its answer is in .answer")
        number = int(self._strategy.choose(self._rules, self._state, self._coins))
        arm: Arm = self._arm(number)
        self._asked = arm
        return arm

    def replay(self, history: Iterable[Observation[Arm]]) -> None:
        """Bring a new object, made with the same arguments, to where another one's history ends.

        Save `history` (plain tuples of arm, observed, asked) to survive a restart. Raises
        ValueError where the history is not one of this strategy.
        """
        for arm, observed, asked in history:
            if asked and self.ask() != arm:
                raise ValueError(f"the history pulls {arm} where this strategy asks {self.ask()}")
            self._record(arm, *observed)

    def _record(self, arm: Arm, *observed: float) -> None:
        """Observe, and keep it in the history.

        Raises ValueError for an arm there is not, or what is not finite.
        """
        observed = tuple(map(float, observed))
        for number in observed:
            if not math.isfinite(number):
                raise ValueError(f"an observation must be a finite number, got {number}")
        self._strategy.observe(self._rules, self._state, self._number(arm), self._seen(*observed))
        self.history.append(Observation(arm, observed, arm == self._asked))
        if arm == self._asked:
            self._asked = None
        if self._asked is None:
            self._look()

    def _look(self) -> None:
        """Look at the stopping rule; now, so that a replay looks at the same times."""
        self._done = bool(self._strategy.done(self._rules, self._state))

    def _arm(self, number: int) -> Any:
        """The arm that the steps call `number`."""
        return number

    def _number(self, arm: Arm) -> int:
        """What the steps call an arm. Raises ValueError for one there is not."""
        raise NotImplementedError

    def _seen(self, *observed: float) -> Any:
        """What the steps observe where a person tells these numbers."""
        (one,) = observed
        return one
