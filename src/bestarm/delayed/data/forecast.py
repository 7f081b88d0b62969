"""Forecasts of a solver's final lower bound from its bounds so far (Section 5.3).

All bounds of an instance are divided by the value of its start solution, which is known before the
run, because raw bounds differ more between instances than between strategies.
"""

from typing import NamedTuple

import numpy as np

#: The first of every TRAINING_EVERY instances is used to train the predictor.
TRAINING_EVERY = 4


class Traces(NamedTuple):
    """Bounds of every run at every step, nan after its last."""

    arms: tuple[str, ...]  # their names
    lower: np.ndarray  # (instances, arms, steps)
    upper: np.ndarray  # (instances, arms, steps)
    unit: np.ndarray  # (instances,) the value of the start solution

    @property
    def delays(self) -> np.ndarray:
        """(instances, arms) steps of a run."""
        return np.isfinite(self.lower).sum(axis=2)

    @property
    def finals(self) -> np.ndarray:
        """(instances, arms) final lower bounds, in units of the start solution."""
        last = np.take_along_axis(self.lower, self.delays[:, :, None] - 1, axis=2)
        return last[:, :, 0] / self.unit[:, None]


def split_instances(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the training and of the test instances; they come in no order of difficulty."""
    training = np.arange(n) % TRAINING_EVERY == 0
    return np.flatnonzero(training), np.flatnonzero(~training)


def train(traces: Traces, training: np.ndarray) -> np.ndarray:
    """The least-squares fit  final = a_s + b_s LB_s + c_s UB_s  at every step s.

    Args:
        traces: of all instances.
        training: indices of the training instances, the only ones used.

    Returns:
        (steps, 3) coefficients a, b, c in units of the instance's start solution. A step that no
        training run reaches gets those of the step before.
    """
    unit = traces.unit[training, None, None]
    lower, upper = traces.lower[training] / unit, traces.upper[training] / unit
    final, delays = traces.finals[training], traces.delays[training]
    coefficients = np.zeros((traces.lower.shape[2], 3))
    for s in range(len(coefficients)):
        going_on = delays > s + 1
        if not going_on.any():
            coefficients[s] = coefficients[s - 1]
            continue
        seen = lower[:, :, s][going_on], upper[:, :, s][going_on]
        design = np.column_stack([np.ones(going_on.sum()), *seen])
        coefficients[s] = np.linalg.lstsq(design, final[going_on], rcond=None)[0]
    return coefficients


def forecasts(traces: Traces, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The prediction at every step of every run, and its scale (UB - LB) / 2.

    Returns:
        Two arrays (instances, arms, steps), in units of the instance's start solution; 0 after a
        run.
    """
    unit = traces.unit[:, None, None]
    lower, upper = np.nan_to_num(traces.lower / unit), np.nan_to_num(traces.upper / unit)
    a, b, c = coefficients.T
    running = np.isfinite(traces.lower)
    return np.where(running, a + b * lower + c * upper, 0.0), (upper - lower) / 2.0
