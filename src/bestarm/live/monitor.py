"""A live experiment for people who watch it: a table, a picture, and what is still open."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from bestarm.core.anytime import mean_radius
from bestarm.live.record import Recorded, atomic

if TYPE_CHECKING:  # pandas and Matplotlib are loaded when somebody looks
    import pandas as pd
    from matplotlib.figure import Figure

#: Pulls that the prior of an interval is worth: intervals are tightest at some times as many.
PRIOR_PULLS = 30.0


class Line(NamedTuple):
    """One estimate of an experiment: a row of `summary`."""

    arm: str
    quantity: str  # what is estimated, such as "reward"
    pulls: int
    estimate: float  # nan before the first pull
    low: float
    high: float
    status: str  # what is settled
    kept_out: int = 0  # results that do not count, since they were not asked for


class Monitored(Recorded):
    """Adds `summary`, `plot` and `why_not_done` to an ask/tell object.

    Subclasses define `_lines` and `_open_question`.

    Example:
        >>> from bestarm.baics import Uniform
        >>> s = Uniform(n_arms=2, weights=[1.0])
        >>> s.tell((0, 0), 0.7)
        >>> s.summary().pulls.tolist()
        [1, 0]
    """

    @atomic
    def summary(self) -> pd.DataFrame:
        """A row per estimate: arm, quantity, pulls, estimate, time-uniform interval, status.

        All intervals hold together, at all times, so they may be looked at whenever one likes:
        with probability 1 - delta, of CBMAI 95%, for noise that is sub-Gaussian with the sigma that
        was given. Those of `Partial` are the race's own, and promise what its reading does.
        `kept_out` counts results that were not asked for, where these do not count.
        """
        import pandas as pd

        return pd.DataFrame(self._lines(), columns=list(Line._fields))

    def plot(self) -> Figure:
        """The estimates with their intervals, a panel per quantity."""
        from bestarm.common.looks import BLUE
        from bestarm.common.style import HALF, new_figure

        table = self.summary()
        table = table[table.estimate.notna()]
        quantities = list(dict.fromkeys(table.quantity))
        rows = table.groupby("quantity").size().max() if len(table) else 1
        figure = new_figure(HALF * max(1, len(quantities)), 0.9 + 0.2 * rows)
        panels = figure.subplots(1, max(1, len(quantities)), squeeze=False)[0]
        for axes, quantity in zip(panels, quantities, strict=False):
            some = table[table.quantity == quantity]
            reach = [some.estimate - some.low, some.high - some.estimate]
            places = range(len(some))
            axes.errorbar(some.estimate, places, xerr=reach, fmt="o", color=BLUE)
            axes.set_yticks(
                places, [f"{line.arm} (n = {line.pulls:,})" for line in some.itertuples()]
            )
            axes.set(xlabel=quantity, ylim=(len(some) - 0.5, -0.5))
        figure.suptitle(f"{type(self).__name__}: {self._state_in_words()}", fontsize=8)
        return figure

    @atomic
    def why_not_done(self) -> str:
        """What is still open, and about how many more trials it takes at the present rate."""
        if not self.done:
            return self._open_question()
        return f"It has stopped: {self._answer_in_words()}."

    def _state_in_words(self) -> str:
        return f"stopped, answer {self._answer_in_words()}" if self.done else "goes on"

    def _answer_in_words(self) -> str:
        return str(self.answer)

    def _lines(self) -> list[Line]:
        """The rows of `summary`."""
        raise NotImplementedError

    def _open_question(self) -> str:
        """What is open, in a sentence or two."""
        raise NotImplementedError


def mean_interval(
    total: float, pulls: int, sigma: float, share: float
) -> tuple[float, float, float]:
    """The mean of `pulls` observations, and its interval at level 1 - `share` at all times.

    Args:
        total: their sum.
        pulls: their number; with none the interval is the whole line.
        sigma: their standard deviation, or a bound on their sub-Gaussian scale.
        share: of delta.
    """
    if pulls == 0:
        return math.nan, -math.inf, math.inf
    half = sigma * float(mean_radius(math.log(1.0 / share), float(pulls), PRIOR_PULLS))
    return total / pulls, total / pulls - half, total / pulls + half


def more_trials(pulls: float, statistic: float, threshold: float) -> str:
    """How many more trials until a statistic that grows with their number passes its threshold."""
    if not statistic > 0.0 or pulls <= 0:
        return "how many more trials that takes cannot be told yet"
    more = pulls * (threshold / statistic - 1.0)
    if more < 1.0:
        return "a trial or two may settle it"
    return f"about {_rounded(more):,} more trials at the present rate"


def _rounded(number: float) -> int:
    """A number to two digits."""
    digits = max(0, math.floor(math.log10(number)) - 1)
    return max(1, round(number / 10**digits) * 10**digits)
