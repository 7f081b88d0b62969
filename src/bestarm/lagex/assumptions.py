"""How LAGEX's strategies are played when assumptions do not hold: pull by pull."""

from typing import Any

import numpy as np

from bestarm.common.assumptions import Assumptions, Case
from bestarm.lagex.certified.state import POLICY, VERDICT

#: Strategies that promise nothing (`bestarm list`), or know the constraints.
UNPROVED = ("LAGEX", "LATS", "Uniform", "CTnS", "CGE")


def answer(state: Any) -> np.ndarray | None:
    """The policy, if the verdict is one."""
    return state.policy if state.counts[VERDICT] == POLICY else None


ASSUMPTIONS = Assumptions(
    (
        Case("lagex", "setup 2 easy", {"r": 0.1, "cap": None}, UNPROVED),
        Case("lagex", "triangle", {"r": 0.1, "cap": None}, UNPROVED),
    ),
    answer=answer,
)
