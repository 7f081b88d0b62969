"""Strategies for a real experiment: ask which arm to pull, tell its reward."""

import math
from collections.abc import Hashable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar

Arm = TypeVar("Arm", bound=Hashable)


class Observation(NamedTuple, Generic[Arm]):
    """One entry of a history.

    Example:
        >>> Observation(arm=2, observed=(0.5,), asked=True).arm
        2
    """

    arm: Arm
    observed: tuple[float, ...]  # the arguments of `tell` after the arm
    asked: bool  # whether `ask` had returned this arm


class AskTell(Generic[Arm]):
    """An ask/tell strategy: runs the steps of `core/strategy.py` on observations told by the user.

    `ask` returns the same arm until an observation of it is told. Observations of other arms may be
    told too, in any order; they count, and the pull asked for remains outstanding. The stopping
    rule is evaluated only when no pull is outstanding.

    A paper's class builds the rules from its arguments and defines a `tell` of its own, which
    passes what it is told to `_record`. `_arm_at`, `_index` and `_observation` translate between
    its arms and observations and those of the steps.

    Args:
        strategy: a `Strategy`, or an object with steps of the same names.
        rules: the strategy's rules, see `core/strategy.py`.
        coins: a generator, for a randomised strategy.

    Example:
        >>> from bestarm.baics import Uniform
        >>> s = Uniform(n_arms=2, weights=[1.0])
        >>> s.tell((0, 0), 0.7)  # of any arm, asked for or not
        >>> s.history
        [Observation(arm=(0, 0), observed=(0.7,), asked=False)]
        >>> again = Uniform(n_arms=2, weights=[1.0])
        >>> again.replay(s.history)
        >>> again.ask() == s.ask()
        True
    """

    def __init__(self, strategy: Any, rules: Any, coins: Any = None) -> None:
        self.history: list[Observation[Arm]] = []
        self._strategy, self._rules, self._coins = strategy, rules, coins
        self._state = strategy.start(rules)
        self._asked: Arm | None = None
        self._update_done()

    @property
    def done(self) -> bool:
        """Whether the stopping rule holds, or the budget is spent."""
        return self._done

    @property
    def answer(self) -> Any:
        """The current answer; its guarantee holds only once `done`."""
        raise NotImplementedError

    def ask(self) -> Arm:
        """The arm to pull next. Raises RuntimeError once `done`."""
        if self._asked is not None:
            return self._asked
        if self.done:
            raise RuntimeError("the strategy has stopped; its answer is in .answer")
        index = int(self._strategy.choose(self._rules, self._state, self._coins))
        arm: Arm = self._arm_at(index)
        self._asked = arm
        return arm

    def replay(self, history: Iterable[Observation[Arm]]) -> None:
        """Apply another object's history to a new one that was made with the same arguments.

        Save `history` (plain tuples of arm, observed, asked) to survive a restart.

        Raises:
            ValueError: the strategy does not ask for the arms of this history.
        """
        for arm, observed, asked in history:
            if asked and self.ask() != arm:
                raise ValueError(f"the history pulls {arm} where this strategy asks {self.ask()}")
            self._record(arm, *observed)

    def _record(self, arm: Arm, *observed: float) -> None:
        """Update the state with an observation and append it to the history.

        Raises:
            ValueError: for an unknown arm or a number that is not finite.
        """
        observed = tuple(map(float, observed))
        for number in observed:
            if not math.isfinite(number):
                raise ValueError(f"an observation must be a finite number, got {number}")
        self._strategy.observe(
            self._rules, self._state, self._index(arm), self._observation(*observed)
        )
        self.history.append(Observation(arm, observed, arm == self._asked))
        if arm == self._asked:
            self._asked = None
        if self._asked is None:
            self._update_done()

    def _update_done(self) -> None:
        """Evaluate the stopping rule at once, so that a replay evaluates it at the same times."""
        self._done = bool(self._strategy.done(self._rules, self._state))

    def _arm_at(self, index: int) -> Any:
        """The user's name of the arm with this index in the steps."""
        return index

    def _index(self, arm: Arm) -> int:
        """The index of an arm in the steps. Raises ValueError for an unknown arm."""
        raise NotImplementedError

    def _observation(self, *observed: float) -> Any:
        """The observation of the steps for the numbers that were told."""
        (reward,) = observed
        return reward
