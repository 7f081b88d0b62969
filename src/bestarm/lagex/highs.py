"""Small linear programs by HiGHS, every bit as from `scipy.optimize.linprog`, and faster.

SciPy builds options and checks them anew in every call. Here the model is the same and the options
are made once. What it calls is SciPy's own, not public, and pinned by requirements.lock; a test
compares every bit.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize._highspy import _core  # pyright: ignore[reportMissingImports]


class Solution(NamedTuple):
    """A vertex, and the slacks of the rows there."""

    x: np.ndarray  # (n,)
    slacks: np.ndarray  # (m,)


def _options() -> "_core.HighsOptions":
    """Those that linprog sets for the method highs-ds."""
    options = _core.HighsOptions()
    options.presolve = "on"
    options.solver = "simplex"
    options.highs_debug_level = _core.HighsDebugLevel.kHighsDebugLevelNone
    options.log_to_console = False
    options.output_flag = False
    options.simplex_strategy = _core.simplex_constants.SimplexStrategy.kSimplexStrategyDual
    return options


OPTIONS = _options()


def least(costs: np.ndarray, rows: np.ndarray, limits: np.ndarray) -> Solution | None:
    """min costs^T x  s.t. rows @ x <= limits, x >= 0, by dual simplex; None unless it is solved.

    Args:
        costs: (n,). rows: (m, n). limits: (m,).
    """
    (m, n), columns = rows.shape, rows.T
    kept = columns != 0.0
    model = _core.HighsLp()
    model.num_col_ = model.a_matrix_.num_col_ = n
    model.num_row_ = model.a_matrix_.num_row_ = m
    model.a_matrix_.format_ = _core.MatrixFormat.kColwise
    model.col_cost_ = costs
    model.col_lower_ = np.zeros(n)
    model.col_upper_ = np.full(n, _core.kHighsInf)
    model.row_lower_ = np.full(m, -_core.kHighsInf)
    model.row_upper_ = limits
    model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    model.a_matrix_.index_ = np.nonzero(kept)[1].astype(np.int32)
    model.a_matrix_.value_ = columns[kept]
    solver = _core._Highs()
    solver.passOptions(OPTIONS)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != _core.HighsModelStatus.kOptimal:
        return None
    solution = solver.getSolution()
    return Solution(np.array(solution.col_value), limits - solution.row_value)
