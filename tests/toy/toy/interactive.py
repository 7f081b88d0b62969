"""The strategy for a person with an experiment, on the steps that are simulated."""

from collections.abc import Mapping

import numpy as np
from bestarm.toy.steps import Rules
from bestarm.toy.strategies import STRATEGIES

from bestarm.core.arguments import whole
from bestarm.live.interactive import AskTell, Trial
from bestarm.live.record import atomic


class Equal(AskTell[int]):
    """Both arms equally often, until a budget of pulls is spent.

    Example:
        >>> s = Equal(budget=2)
        >>> s.tell(s.ask(), 0.1)
        >>> s.tell(s.ask(), 0.7)
        >>> s.done, s.answer
        (True, 1)
    """

    def __init__(self, budget: int) -> None:
        self._made_with(locals())
        budget = whole(budget, 2, 1_000_000, "Equal: budget")
        super().__init__(STRATEGIES["Equal"], Rules(budget))

    @atomic
    def tell(self, arm: Trial[int] | int, reward: float) -> None:
        """Record the reward of a trial, or of one pull of an arm."""
        self._tell(arm, reward)

    @property
    def answer(self) -> int:
        """The arm with the larger sum so far."""
        return int(self._state.sums[1] > self._state.sums[0])

    def _label(self, index: int) -> int:
        return index

    def _index(self, arm: int) -> int:
        if arm not in (0, 1):
            raise ValueError(f"arm must be 0 or 1, got {arm!r}")
        return int(arm)

    def _data(self) -> list[np.ndarray]:
        return [self._state.pulls]

    def _expect(self, pulls: Mapping[int, int]) -> None:
        for index, number in pulls.items():
            self._state.pulls[index] += number
