"""Kept data of the released programs: recorded rounds, and whole runs of their port."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from bestarm.common.files import data_folder
from bestarm.common.tables import groups
from bestarm.core.inputs import InputError
from bestarm.core.status import Status
from bestarm.lagex.problem import EASIER, HARD, Instance, setup1

#: The tables, under data/; their provenance is beside them.
TRACES, RUNS = "lagex-programs/traces.parquet", "lagex-runs/runs.parquet"
TABLES = (TRACES, RUNS)
#: Instances by their names in the traces.
INSTANCES = {"hard": setup1(HARD).name, "easy": setup1(EASIER).name}
#: Environments of the whole runs by name, in the order of tables and pictures.
TITLES = {"setup 1 m3=0.5": "hard", "setup 1 m3=1.3": "easy", "imdb": "IMDB"}
#: Those of setup 2, which is in no released file.
SETUP_2 = {"setup 2 hard": "hard", "setup 2 easy": "easy"}
#: Allocations that differ by at most this are the same.
SAME = 1e-9


def read(name: str) -> pd.DataFrame:
    """A kept table. Raises InputError if it is missing."""
    path = data_folder() / name
    if not path.is_file():
        raise InputError(f"{path}: is missing; it belongs to the repository")
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


def rounds() -> Iterator[tuple[str, str, dict[str, float]]]:
    """Instance, program, and shares of its recorded rounds.

    The shares are of rounds that repeated the last arm; and, of the other rounds, of those whose
    allocation is uniform, whose policy is among its own neighbours, and (for programs with a
    solver) whose allocation equals the solver's start.
    """
    table = read(TRACES)
    table = table[table.policy.notna() | (table.failure != "")]
    for (instance, program), rows in groups(table, "instance", "program"):
        recorded = rows[rows.allocation.notna()]
        allocations = np.stack(recorded.allocation.to_list())
        shares = {
            "rounds_repeated": (rows.failure != "").mean(),
            "rounds_uniform": _near(allocations, 1.0 / allocations.shape[1]).mean(),
            "rounds_own_neighbour": recorded.own.astype(bool).mean(),
        }
        if program in ("LATS", "CTnS-WLag"):
            shares["rounds_at_start"] = _near(
                allocations, np.stack(recorded.start.to_list())
            ).mean()
        yield INSTANCES[instance], program, {name: float(v) for name, v in shares.items()}


def _near(allocations: np.ndarray, others: np.ndarray | float) -> np.ndarray:
    return np.abs(allocations - others).max(axis=1) <= SAME


def runs(
    instances: Mapping, without: str = ""
) -> Iterator[tuple[str, float, str, dict[str, np.ndarray]]]:
    """Instance, delta, program, and its runs as columns of `strategies.Outcome`.

    Args:
        instances: name -> {"instance": ..., "truth": ...}, as in instances.json; runs on others
            are left out.
        without: what is switched off in the programs, see `program.variant`; "" for the programs
            as released.
    """
    table = read(RUNS)
    table = table[table.instance.isin(list(instances)) & (table.without == without)]
    for (name, delta, program), rows in groups(table, "instance", "delta", "strategy"):
        described = instances[name]
        problem = Instance(**described["instance"]).problem
        policies = np.stack(rows.policy.to_list())
        columns = ("tau", "status", "policy_violations", "allocation_violations", "empty")
        yield (
            name,
            delta,
            program,
            {column: rows[column].to_numpy() for column in columns}
            | {
                "regret": described["truth"]["value"] - policies @ problem.means,
                "excess": (policies @ problem.matrix.T - problem.limits).max(axis=1),
            },
        )


def stopped_at(cap: int, runs: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Stopping times and statuses of runs as they would be with a smaller cap.

    Example:
        >>> runs = {"tau": np.array([5, 6, 9]), "status": np.array([0, 1, 0])}
        >>> [column.tolist() for column in stopped_at(6, runs)]
        [[5, 6, 6], [0, 1, 1]]
    """
    tau, status = runs["tau"], runs["status"]
    return np.minimum(tau, cap), np.where(tau > cap, Status.CAPPED, status)
