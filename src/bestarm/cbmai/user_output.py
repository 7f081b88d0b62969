"""What is printed for a user instance."""

import numpy as np
import pandas as pd

from bestarm.cbmai import tables
from bestarm.cbmai.problem import Instance
from bestarm.cbmai.statistics import correct
from bestarm.common.paper import UserOutput
from bestarm.live.labels import listed

#: Statistics that `bestarm run` prints, and the headings of their columns.
COLUMNS = {
    "error_rate": "error rate",
    "share_infeasible": "infeasible",
    "share_breaks_limits": "breaks limits by its estimates",
    "mean_regret": "mean regret",
    "mean_violation": "mean violation",
    "mean_budget_share": "budget used",
}


def describe(instance: Instance, truth: dict) -> dict[str, pd.DataFrame]:
    """An instance as tables for people: rewards and costs by arm, and the best mixture."""
    n_arms = len(instance.rewards)
    weights = dict(zip(truth["answer"], truth["weights"], strict=True))
    of_column = np.array([weights.get(c + 1, 0.0) for c in range(n_arms + len(instance.bounds))])
    arms = pd.DataFrame({"reward": instance.rewards}, index=instance.arm_names)
    for name, row in zip(instance.constraint_names, instance.costs, strict=True):
        arms[name] = row
    arms["means"] = [
        "unknown" if a < instance.problem.n_unknown else "known" for a in range(n_arms)
    ]
    rows = pd.DataFrame({"bound": instance.bounds}, index=instance.constraint_names)
    if truth["value"] is None:
        rows["answer"] = "no mixture is feasible"
    else:
        arms["weight in the best mixture"] = of_column[:n_arms]
        rows["slack at the best mixture"] = of_column[n_arms:]
        if truth["arm_gaps"] is not None:
            gaps = np.array(truth["arm_gaps"], dtype=float)
            arms["squared gap"], rows["squared gap of the slack"] = gaps[:n_arms], gaps[n_arms:]
        if not truth["unique"]:
            rows["answer"] = "not unique: errors cannot vanish (Assumption 1)"
    marks = "; reconstructed" if instance.reconstructed else ""
    if instance.bernoulli:
        noise = "rewards and costs are 0 or 1"
    else:
        noise = f"sigma_reward = {instance.sigma_reward:g}, sigma_cost = {instance.sigma_cost:g}"
    return {f"{instance.name}: arms ({noise}{marks})": arms, "constraints": rows}


def answers(instance: Instance, runs: dict[str, np.ndarray]) -> list[str | None]:
    """The supports that runs answered with: arms, and limits that are not used up."""
    slacks = [f"some of {name} left" for name in instance.constraint_names]
    names = [*instance.arm_names, *slacks]
    return [
        listed(names[column - 1] for column in columns) if columns.any() else None
        for columns in runs["answer"]
    ]


def several(instance: Instance, truth: dict) -> bool:
    """Whether the best mixture is not unique."""
    return truth["value"] is not None and not truth["unique"]


USER_OUTPUT = UserOutput(COLUMNS, tables.bounds, describe, correct, answers, several)
