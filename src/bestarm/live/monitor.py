"""A live experiment for people who watch it: a table, a picture, and what is still open."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, cast

from bestarm.core.anytime import mean_radius
from bestarm.core.inputs import short
from bestarm.core.plain import restored
from bestarm.live.combinations import NOTHING, Interval, between
from bestarm.live.labels import Label, Labels
from bestarm.live.lines import ANSWER, COLUMNS, DIFFERENCES, Line, Row
from bestarm.live.record import Recorded, atomic

if TYPE_CHECKING:  # pandas and Matplotlib are loaded when somebody looks
    import pandas as pd
    from matplotlib.figure import Figure

#: Pulls that the prior of an interval is worth: intervals are tightest at some times as many.
PRIOR_PULLS = 30.0


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

    _arms: Labels

    @atomic
    def summary(self, *, control: Label | None = None, nested: bool = False) -> pd.DataFrame:
        """A row per estimate: pulls, estimate, time-uniform interval, what is settled.

        All intervals hold together, at all times, so they may be looked at whenever one likes:
        with probability 1 - delta, of CBMAI 95%, for noise that is sub-Gaussian with the sigma that
        was given. Those of `Partial` are the race's own, and promise what its reading does.

        Columns are `arm`, `segment` (if there are any), `quantity`, `pulls`, `estimate`, `low`,
        `high`, `limit` (if there are any: a minimum, or the most that a mean cost may be), `status`
        and `kept_out`, results that do not count as they were not asked for. With several segments
        an arm has a row for all of them, its mean weighted by their weights. A limit on mean costs
        has a row for the answer so far.

        Args:
            control: an arm that others are compared with. `difference` is how much higher an
                estimate is than the control's, between `difference_low` and `difference_high`, and
                `detectable` the smallest difference that can be distinguished from 0 by now: half
                the width of that interval. These hold together with all others, for any control.
            nested: whether an interval is cut to what all earlier ones of its row have in common,
                so that it never grows, as intervals here may from one result to the next. If an
                assumption fails it may be empty, with `low` above `high`. Takes as long as telling
                all results again.

        Raises:
            ValueError: there is no such arm.
        """
        import pandas as pd

        rows = self._nested_rows(control) if nested else self._rows(control)
        lines = [line for line, _ in rows]
        table = pd.DataFrame(lines, columns=list(Line._fields))[[*COLUMNS]]
        if not table.segment.any():
            table = table.drop(columns="segment")
        if table.limit.isna().all():
            table = table.drop(columns="limit")
        if control is None:
            return table
        values = [
            (interval.estimate, interval.low, interval.high, 0.5 * (interval.high - interval.low))
            for _, interval in rows
        ]
        return table.join(pd.DataFrame(values, columns=list(DIFFERENCES)))

    @atomic
    def plot(self, *, control: Label | None = None) -> Figure:
        """A picture to show: the decision, estimates with intervals, shares of results by arm.

        Args:
            control: an arm that others are compared with: differences from it are drawn.

        Raises:
            ValueError: there is no such arm.
        """
        from bestarm.live.progress import draw_progress

        arms = [*map(str, self._arms.labels)]
        named = "" if control is None else self._named(control)
        return draw_progress(self._decision(), arms, self._rows(control), self._results(), named)

    def _named(self, control: Label) -> str:
        """The name of the control. Raises ValueError if there is no such arm."""
        if str(control) not in map(str, self._arms.labels):
            raise ValueError(f"control must be {self._arms.allowed}, got {short(control)}")
        return str(control)

    def _rows(self, control: Label | None) -> list[Row]:
        """The rows of `summary`."""
        lines = self._lines()
        if control is None:
            return [(line, NOTHING) for line in lines]
        name = self._named(control)
        controls = {(line.segment, line.quantity): line for line in lines if line.arm == name}
        return [(line, self._compared(line, controls)) for line in lines]

    def _compared(self, line: Line, controls: dict[tuple[str, str], Line]) -> Interval:
        """The difference from the control's estimate of the same, if it has another one."""
        control = controls.get((line.segment, line.quantity))
        return NOTHING if control in (None, line) else self._difference(line, cast(Line, control))

    def _difference(self, line: Line, control: Line) -> Interval:
        """That of two estimates, which holds together with all other intervals."""
        return between(line.interval, control.interval)

    def _nested_rows(self, control: Label | None) -> list[Row]:
        """The rows with what intervals after every event so far have in common."""
        arguments = {name: restored(value) for name, value in self._arguments.items()}
        twin, rows = type(self)(**arguments), []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were given when it was told
            for event in self.history:
                twin.replay([event])
                before = {_key(line): (line, apart) for line, apart in rows}
                rows = [_inner(row, before.get(_key(row[0]))) for row in twin._rows(control)]
        return rows

    def _results(self) -> list[tuple[int, str, int]]:
        """Of all that was told, in that order: the number of the event, arm and pulls."""
        events: list[tuple[int, Any, int]] = []
        for place, event in enumerate(self.history):
            if event.kind == "tell":
                events.append((place, event.arm, cast(Any, self)._pull_count(event.values)))
            elif event.kind == "counts":
                events += [(place, arm, pulls) for arm, pulls, *_ in event.values]
        return [(i, str(arm[0] if isinstance(arm, tuple) else arm), n) for i, arm, n in events]

    def _decision(self) -> str:
        """The state of the experiment in a line."""
        if self.done:
            return f"Decided: {self._answer_in_words()}"
        return f"Not decided yet. {self._open_question()}"

    @atomic
    def why_not_done(self) -> str:
        """What is still open, and about how many more trials it takes at the present rate."""
        if not self.done:
            return self._open_question()
        return f"It has stopped: {self._answer_in_words()}."

    def _answer_in_words(self) -> str:
        return str(self.answer)

    def _lines(self) -> list[Line]:
        """The rows of `summary`."""
        raise NotImplementedError

    def _open_question(self) -> str:
        """What is open, in a sentence or two."""
        raise NotImplementedError


def _key(line: Line) -> tuple[str, str, str]:
    return line.arm, line.segment, line.quantity


def _inner(row: Row, before: Row | None) -> Row:
    """A row whose intervals are cut to those from before; not the answer's, which changes."""
    line, difference = row
    if before is None or line.arm == ANSWER:
        return row
    low, high = max(line.low, before[0].low), min(line.high, before[0].high)
    apart = before[1]
    if not math.isnan(apart.low):
        difference = difference._replace(
            low=max(difference.low, apart.low), high=min(difference.high, apart.high)
        )
    return line._replace(low=low, high=high), difference


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
        return "it is too early to estimate how many more trials that takes"
    more = pulls * (threshold / statistic - 1.0)
    if more < 1.0:
        return "a trial or two may settle it"
    return f"about {_rounded(more):,} more trials at the present rate"


def _rounded(number: float) -> int:
    """A number to two digits."""
    digits = max(0, math.floor(math.log10(number)) - 1)
    return max(1, round(number / 10**digits) * 10**digits)
