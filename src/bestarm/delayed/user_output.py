"""What is printed for a user instance."""

import numpy as np
import pandas as pd

from bestarm.common.paper import UserOutput
from bestarm.delayed import tables
from bestarm.delayed.problem import Instance
from bestarm.delayed.statistics import correct
from bestarm.live.labels import listed

#: Statistics that `bestarm run` prints, and the headings of their columns.
COLUMNS = {
    "mean_stopping_time": "mean steps",
    "median_stopping_time": "median steps",
    "error_rate": "error rate",
    "pulls_finished": "pulls finished",
    "pulls_cancelled": "cancelled",
    "share_capped": "share capped",
}


def describe(instance: Instance, truth: dict) -> dict[str, pd.DataFrame]:
    """An instance as tables for people: arms with mean, gap, delay, and who is in the top k."""
    arms = instance.problem
    frame = pd.DataFrame({"mean reward": arms.means}, index=instance.arm_names)
    if truth["gaps"] is not None:
        frame["gap"] = truth["gaps"]
    same = (arms.low == arms.high).all()
    frame["delay"] = (
        arms.low if same else [f"{a}-{b}" for a, b in zip(arms.low, arms.high, strict=True)]
    )
    if instance.feedback == "biased":
        frame["bias"] = arms.bias
    chosen = set(truth["answer"])
    frame[f"top {instance.top}"] = ["yes" if a + 1 in chosen else "" for a in range(len(frame))]
    sigmas = sorted({min(instance.sigma), max(instance.sigma)})
    noise = "sigma = " + " to ".join(f"{sigma:g}" for sigma in sigmas)
    if instance.sigma_p:
        noise += f", sigma_p = {instance.sigma_p:g}"
    return {f"{instance.name}: {instance.feedback} feedback, delays in time steps ({noise})": frame}


def answers(instance: Instance, runs: dict[str, np.ndarray]) -> list[str | None]:
    """The top k that runs answered with, or None."""
    names = instance.arm_names
    return [
        listed(names[arm - 1] for arm in arms) if arms.all() else None for arms in runs["answer"]
    ]


USER_OUTPUT = UserOutput(COLUMNS, tables.bounds, describe, correct, answers)
