"""What is printed of a person's own instance."""

import pandas as pd

from bestarm.common.paper import UserOutput
from bestarm.core.estimates import Estimate, exact

COLUMNS = {"error_rate": "error rate", "mean_lead": "lead"}


def bounds(truth: dict, setting: dict) -> list[Estimate]:
    return [exact("mean_lead", "reward", setting["cap"] * truth["gap"] / 2)]


def describe(instance, truth: dict) -> dict[str, pd.DataFrame]:
    return {instance.name: pd.DataFrame({"mean": instance.means})}


def correct(cell, truth: dict, runs: dict):
    return runs["answer"] == truth["answer"]


def answers(instance, runs: dict) -> list[str]:
    return [f"arm {answer}" for answer in runs["answer"]]


USER_OUTPUT = UserOutput(COLUMNS, bounds, describe, correct, answers, bound_options=["cap"])
