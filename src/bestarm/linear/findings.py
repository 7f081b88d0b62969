"""What came out, in one sentence for each figure that is not in the paper, from its table."""

import numpy as np
import pandas as pd

from bestarm.common.drawing import spread
from bestarm.common.findings import at_end, named
from bestarm.common.tables import pick


def readings(alike: np.ndarray, wrong: np.ndarray) -> str:
    """Of the grid of the picture: which budgets are compatible with the published, which err."""
    both = (alike & wrong).sum()
    return (
        f"Of {alike.size} budgets {alike.sum()} are compatible with the published ones; the rules "
        f"of {both or 'none'} of these err more often than δ."
    )


def stopping(drawn: pd.DataFrame) -> str:
    """Of the rows that are drawn, each with its width in a column `log`."""
    ratios = drawn.pivot_table("value", ["strategy", "log"], "x")
    every, *_, rarely, true_gaps = (ratios[x] for x in sorted(set(drawn.x)))
    return (
        f"Tested every {rarely.name:,.0f} pulls in place of every pull, the stopping rule takes "
        f"{spread(rarely / every)} times the budget, and with true gaps "
        f"{spread(true_gaps / every)} times."
    )


def random_arms(table: pd.DataFrame) -> str:
    last = at_end(pick(table, statistic="over_lower_bound")).sort_values("value")
    ratios = dict(zip(last.strategy, last.value, strict=True))
    return f"At K = {last.x.max():g} mean budgets over the lower bound are {named(ratios)}."
