"""How long an experiment will take, by simulation, before it starts."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bestarm.core.arguments import numbers, positive, whole
from bestarm.core.inputs import MOST_AT_A_TIME, InputError, short
from bestarm.core.plain import restored
from bestarm.live.labels import Label, Labels, in_order
from bestarm.live.monitor import Monitored

if TYPE_CHECKING:  # pandas and Matplotlib are loaded when somebody looks
    import pandas as pd
    from matplotlib.figure import Figure

#: Quantiles of the table.
QUANTILES = {"q10": 0.1, "median": 0.5, "q90": 0.9}
MOST_RUNS, MOST_BATCHES = 100_000, 100_000


class Expected:
    """How long an experiment takes at assumed means, as `Planned.expected` found.

    Example:
        >>> from bestarm.bai import TrackAndStop
        >>> plan = TrackAndStop(["old", "new"], delta=0.1)
        >>> found = plan.expected({"old": 0.2, "new": 0.5}, batch=50, runs=20)
        >>> found.table.columns.tolist()
        ['share', 'uplift', 'runs', 'stopped', 'right', 'q10', 'median', 'q90']
        >>> found.runs.shape
        (40, 6)
    """

    def __init__(self, runs: pd.DataFrame, uplifts: Mapping[float, float], batch: int) -> None:
        self._runs, self._uplifts, self._batch = runs, uplifts, batch

    @property
    def runs(self) -> pd.DataFrame:
        """A row per run: `share`, `run`, `batches`, `stopped`, `answer`, `right`.

        A run that did not stop has the largest number of batches.
        """
        return self._runs.copy()

    @property
    def table(self) -> pd.DataFrame:
        """A row per share of the assumed differences, with quantiles of the number of batches.

        `uplift` is the largest difference from the control, `stopped` the share of runs that did,
        `right` that of these whose answer is right for the means. A quantile is infinite if it is
        of a run that did not stop.
        """
        import pandas as pd

        rows = []
        for share, uplift in self._uplifts.items():
            mine = self._runs[self._runs.share == share]
            lasted = np.where(mine.stopped, mine.batches, np.inf)
            ends = np.quantile(lasted, list(QUANTILES.values()), method="inverted_cdf")
            right = mine.right[mine.stopped].mean() if mine.stopped.any() else math.nan
            rows.append((share, uplift, len(mine), mine.stopped.mean(), right, *ends))
        return pd.DataFrame(
            rows, columns=["share", "uplift", "runs", "stopped", "right", *QUANTILES]
        )

    def plot(self) -> Figure:
        """The share of runs that have stopped, against the number of batches."""
        from bestarm.live.expected_plot import draw_expected

        return draw_expected(self.table, self._runs, self._batch)


class Planned(Monitored):
    """Adds `expected` to an ask/tell object that takes counts.

    Subclasses define the means, who comes, sums of rewards, and which answer is right.

    Example:
        >>> from bestarm.baics import FWS
        >>> plan = FWS(["old", "new"], [1.0], rewards="bernoulli", constrained=0)
        >>> found = plan.expected({"old": 0.1, "new": 0.4}, batch=100, shares=[1.0], runs=5)
        >>> found.table.uplift.round(2).tolist()
        [0.3]
    """

    def expected(
        self,
        means: Any,
        *,
        batch: int,
        control: Label | None = None,
        shares: Sequence[float] = (1.0, 0.5),
        runs: int = 100,
        most: int = 100,
        least_share: Any = None,
        seed: int = 0,
    ) -> Expected:
        """How many batches the experiment takes at assumed means, and at smaller differences.

        Simulates objects made with the same arguments. Each batch is allocated by `allocation`, and
        told as counts when it is over; visitors come to segments by weight. A window is left out:
        it delays the answer by its length.

        Args:
            means: assumed mean rewards by arm; of BAICS a number per arm, or one per segment.
            batch: pulls per batch, such as visitors per day.
            control: the arm whose means stay as they are; the first if left out.
            shares: of the assumed differences from the control that are left, such as 0.5 for half
                the uplift. What the smallest one costs is what a test for it costs.
            runs: of each share.
            most: batches after which a run is cut short.
            least_share: as for `allocation`.
            seed: of the simulation.

        Raises:
            InputError: an argument is out of range, naming it.
            ValueError: the strategy takes no counts.
        """
        import pandas as pd

        source = f"{type(self).__name__}: expected"
        start = self._twin(0)  # without arms that were added since
        assumed = start._assumed_means(means, f"{source}: means")
        batch = whole(batch, 1, MOST_AT_A_TIME, f"{source}: batch")
        runs = whole(runs, 1, MOST_RUNS, f"{source}: runs")
        most = whole(most, 1, MOST_BATCHES, f"{source}: most")
        arms = [*map(str, start._arms.labels)]
        first = 0 if control is None else arms.index(start._named(control))
        rows, uplifts = [], {}
        for share in numbers(shares, 1, f"{source}: shares").tolist():
            positive(share, f"{source}: shares")
            left = assumed[first] + share * (assumed - assumed[first])
            start._check_means(left, f"{source}: shares")
            overall = start._overall(left)
            uplifts[share] = float((overall - overall[first]).max())
            for run in _shown(range(runs), f"share {share:g}"):
                twin = self._twin(run)
                coins = np.random.default_rng([seed, run])
                batches = _batches(twin, left, batch, most, least_share, coins)
                right = twin.done and start._is_right(twin.answer, left)
                rows.append((share, run, batches, twin.done, twin.answer, right))
        columns = ["share", "run", "batches", "stopped", "answer", "right"]
        return Expected(pd.DataFrame(rows, columns=columns), uplifts, batch)

    def _twin(self, run: int) -> Any:
        """A new object with the same arguments, but no window, and coins of its own."""
        given = {name: restored(value) for name, value in self._arguments.items()}
        given = {name: value for name, value in given.items() if name not in ("window", "default")}
        return type(self)(**given | ({"seed": run} if "seed" in given else {}))

    def _assumed_means(self, means: Any, source: str) -> np.ndarray:
        """(K, ...) the means. Raises InputError naming what is wrong."""
        raise NotImplementedError

    def _check_means(self, means: np.ndarray, source: str) -> None:
        """Raises InputError unless rewards can have these means."""
        raise NotImplementedError

    def _arrivals(self, batch: int, coins: np.random.Generator) -> list[tuple[dict[str, Any], int]]:
        """How many of a batch come, by the options of `allocation`."""
        raise NotImplementedError

    def _drawn(self, index: int, mean: float, pulls: int, coins: np.random.Generator) -> float:
        """The sum of the rewards of some pulls."""
        raise NotImplementedError

    def _is_right(self, answer: Any, means: np.ndarray) -> bool:
        """Whether an answer is right."""
        raise NotImplementedError

    def _overall(self, means: np.ndarray) -> np.ndarray:
        """(K,) the mean of each arm."""
        raise NotImplementedError


def means_by_arm(means: Any, arms: Labels, source: str) -> list[Any]:
    """What is assumed of each arm. Raises InputError naming `source`."""
    by_arm = in_order(means, arms.labels, f"{source}:")
    if not isinstance(by_arm, Sequence | np.ndarray) or len(by_arm) != len(arms):
        raise InputError(f"{source}: must be given for {len(arms)} arms, got {short(means)}")
    return list(by_arm)


def _shown(runs: range, title: str) -> Iterable[int]:
    """Runs, with a bar of progress if somebody watches."""
    from rich.console import Console
    from rich.progress import track

    hidden = not sys.stderr.isatty()
    return track(runs, title, console=Console(stderr=True), transient=True, disable=hidden)


def _batches(
    twin: Any,
    means: np.ndarray,
    batch: int,
    most: int,
    least_share: Any,
    coins: np.random.Generator,
) -> int:
    """The number of batches until a new object stops, at most `most`."""
    for number in range(1, most + 1):
        rows: list[tuple[Any, ...]] = []
        for options, n in twin._arrivals(batch, coins):
            for arm, pulls in twin.allocation(n, least_share=least_share, **options).items():
                place = (arm, *options.values())
                index = twin._index(place if options else arm)
                total = twin._drawn(index, float(means.flat[index]), pulls, coins)
                rows.append((*place, pulls, total))
        columns = [*twin.arm_columns, "pulls", "total"]
        twin.tell_table(dict(zip(columns, zip(*rows, strict=True), strict=True)))
        if twin.done:
            return number
    return most
