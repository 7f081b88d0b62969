"""The error rate against the budget."""

import pandas as pd
from bestarm.toy.cells import BUDGETS

from bestarm.common.paper import Sources, Target
from bestarm.common.tables import assemble


def errors(sources: Sources) -> pd.DataFrame:
    return assemble(sources.summary)


def curve(sources: Sources) -> pd.DataFrame:
    """A geometry beside the table: any columns, drawn as they are."""
    return pd.DataFrame({"x": BUDGETS, "y": 0.5})


CURVE = {"x": "budget", "y": "share of wrong answers of a coin"}
TARGETS = (Target("fig1", "Errors", errors, ("errors",), geometry=curve, columns=CURVE),)
