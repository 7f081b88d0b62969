"""How CBMAI's strategies are played when assumptions do not hold: pull by pull."""

from typing import Any

import numpy as np

from bestarm.cbmai.steps import FOUND, PHASE
from bestarm.common.assumptions import Assumptions, Case


def answer(state: Any) -> np.ndarray | None:
    """The arms that are left once a mixture is found."""
    return np.flatnonzero(state.remaining) if state.counters[PHASE] == FOUND else None


ASSUMPTIONS = Assumptions(
    (Case("cbmai", "A1", {"budget": 5000}), Case("cbmai", "H1", {"budget": 2000})), answer=answer
)
