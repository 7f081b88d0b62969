"""What is printed for a user instance."""

import numpy as np
import pandas as pd

from bestarm.bai import tables
from bestarm.bai.problem import Instance
from bestarm.bai.statistics import correct
from bestarm.common.paper import UserOutput

#: Statistics that `bestarm run` prints, and the headings of their columns.
COLUMNS = {
    "mean_stopping_time": "mean pulls",
    "median_stopping_time": "median pulls",
    "prob_correct": "share right",
    "share_capped": "share capped",
}
#: Rewards in words.
REWARDS = {
    "bernoulli": "rewards are 0 or 1",
    "poisson": "rewards are Poisson",
    "exponential": "rewards are exponential",
}


def describe(instance: Instance, truth: dict) -> dict[str, pd.DataFrame]:
    """An instance as a table for people: means, and w*."""
    noise = REWARDS.get(instance.rewards, f"sigma = {instance.sigma:g}")
    columns = {"mean": instance.means, "optimal share of pulls": truth["allocation"]}
    return {f"{instance.name}: arms ({noise})": pd.DataFrame(columns, instance.arm_names)}


def answers(instance: Instance, runs: dict[str, np.ndarray]) -> list[str | None]:
    """The arms that runs answered with."""
    return [instance.arm_names[answer - 1] for answer in runs["answer"]]


def several(instance: Instance, truth: dict) -> bool:
    """Whether a second arm is as good as the best."""
    return instance.means.count(max(instance.means)) > 1


USER_OUTPUT = UserOutput(COLUMNS, tables.bounds, describe, correct, answers, several, ["delta"])
