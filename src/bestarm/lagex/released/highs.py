"""Small linear programs by HiGHS, every bit as from `scipy.optimize.linprog`, and faster.

SciPy builds options, solver and model anew in every call. Here they are the same and made once;
models of the same zeros differ in their numbers only. What is called is SciPy's own, not public,
and pinned by requirements.lock; a test compares every bit.
"""

from functools import cache
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


#: It starts every problem from nothing.
SOLVER = _core._Highs()
SOLVER.passOptions(_options())


@cache
def _model(pattern: bytes, m: int, n: int) -> "_core.HighsLp":
    """min costs^T x  s.t. rows @ x <= limits, x >= 0, all numbers still to be filled in.

    Args:
        pattern: of which entries of rows (m, n) are not zero, by columns.
    """
    kept = np.frombuffer(pattern, bool).reshape(n, m)
    model = _core.HighsLp()
    model.num_col_ = model.a_matrix_.num_col_ = n
    model.num_row_ = model.a_matrix_.num_row_ = m
    model.a_matrix_.format_ = _core.MatrixFormat.kColwise
    model.col_lower_ = np.zeros(n)
    model.col_upper_ = np.full(n, _core.kHighsInf)
    model.row_lower_ = np.full(m, -_core.kHighsInf)
    model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    model.a_matrix_.index_ = np.nonzero(kept)[1].astype(np.int32)
    return model


def least(costs: np.ndarray, rows: np.ndarray, limits: np.ndarray) -> Solution | None:
    """min costs^T x  s.t. rows @ x <= limits, x >= 0, by dual simplex; None unless it is solved.

    Args:
        costs: (n,). rows: (m, n). limits: (m,).
    """
    columns = rows.T.copy()
    kept = columns != 0.0
    model = _model(kept.tobytes(), *rows.shape)
    model.col_cost_ = costs
    model.row_upper_ = limits
    model.a_matrix_.value_ = columns[kept]
    SOLVER.passModel(model)
    SOLVER.run()
    if SOLVER.getModelStatus() != _core.HighsModelStatus.kOptimal:
        return None
    solution = SOLVER.getSolution()
    return Solution(np.array(solution.col_value), limits - solution.row_value)
