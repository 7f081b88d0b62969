"""The picture of how long an experiment will take."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from bestarm.common.drawing import WIDE, new_figure
from bestarm.live.progress import STYLES, TITLE_SIZE, title_lines


def draw_expected(table: pd.DataFrame, runs: pd.DataFrame, batch: int) -> Figure:
    """A curve per share of the assumed differences: of runs those that have stopped.

    Args:
        table: of `Expected`.
        runs: a row per run.
        batch: pulls per batch.
    """
    figure = new_figure(WIDE, 2.9)
    axes = figure.subplots()
    last = int(runs.batches.max())
    rows: list[Any] = [*table.itertuples()]
    for i, row in enumerate(rows):
        mine = runs[(runs.share == row.share) & runs.stopped]
        times = np.sort(mine.batches.to_numpy())
        stopped = np.arange(1, times.size + 1) / row.runs
        colour, marker = STYLES[i % len(STYLES)]
        label = f"uplift {row.uplift:.3g} ({row.share:.0%} of what is assumed)"
        steps = np.r_[0, times, last], np.r_[0.0, stopped, stopped[-1:] if times.size else 0.0]
        axes.plot(*steps, drawstyle="steps-post", color=colour)
        ends = [end for end in (row.q10, row.median, row.q90) if np.isfinite(end)]
        axes.plot(ends, [0.1, 0.5, 0.9][: len(ends)], marker, color=colour, label=label)
    axes.set(
        xlabel=f"batches of {batch:,}, n = {int(table.runs.iloc[0]):,} runs each",
        ylabel="share of runs that have stopped",
        xlim=(0, 1.03 * last),
        ylim=(0.0, 1.03),
        yticks=[0.0, 0.1, 0.5, 0.9, 1.0],
    )
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    figure.legend(loc="outside lower center", ncols=1)
    title = "\n".join(title_lines(_in_words(table.iloc[0], batch)))
    figure.suptitle(title, x=0.01, ha="left", fontsize=TITLE_SIZE)
    return figure


def _in_words(row: pd.Series, batch: int) -> str:
    """The first row of the table in a sentence."""
    if not np.isfinite(row["median"]):
        return f"With uplift {row.uplift:.3g} half of the runs or more do not stop in that time."
    late = f", 90% within {row.q90:,.0f}" if np.isfinite(row.q90) else ""
    return (
        f"With uplift {row.uplift:.3g} half of the runs stop within {row['median']:,.0f} batches "
        f"of {batch:,}{late}."
    )
