"""What is printed for a user instance."""

import numpy as np
import pandas as pd

from bestarm.common.paper import UserOutput
from bestarm.linear import tables
from bestarm.linear.problem import Instance
from bestarm.linear.statistics import correct

#: Statistics that `bestarm run` prints, and the headings of their columns.
COLUMNS = {
    "mean_stopping_time": "mean pulls",
    "median_stopping_time": "median pulls",
    "error_rate": "error rate",
    "share_capped": "share capped",
}


def describe(instance: Instance, truth: dict) -> dict[str, pd.DataFrame]:
    """An instance as tables for people: arms with mean and gap, and the optimal designs."""
    complexity = truth["complexity"]
    arms = pd.DataFrame(instance.arms, index=instance.arm_names)
    arms.columns = [f"feature {i + 1}" for i in range(arms.shape[1])]
    arms["mean reward"] = arms.to_numpy() @ instance.theta
    arms["gap"] = truth["gaps"]
    shares = {"G": "g_design", "XY": "xy_design", "XY-Oracle": "oracle_design"}
    designs = pd.DataFrame(
        {name: complexity[field] for name, field in shares.items()}, index=instance.arm_names
    )
    return {
        f"{instance.name}: arms (sigma = {instance.sigma:g})": arms,
        "optimal designs: share of pulls": designs,
    }


def answers(instance: Instance, runs: dict[str, np.ndarray]) -> list[str | None]:
    """The arms that runs answered with, or None."""
    return [[None, *instance.arm_names][answer] for answer in runs["answer"]]


USER_OUTPUT = UserOutput(
    COLUMNS, tables.bounds, describe, correct, answers, bound_options=["delta"]
)
