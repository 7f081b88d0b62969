"""The recorded pulls of the two applications, as kernels take them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bestarm.common.files import data_folder
from bestarm.core.inputs import InputError
from bestarm.delayed.data.corridors import corridor, start_value
from bestarm.delayed.data.forecast import Traces, forecasts, split_instances, train
from bestarm.delayed.world import Records

if TYPE_CHECKING:  # people with an experiment of their own start without pandas
    import pandas as pd

#: The tables, under data/; their provenance is beside them.
TABLES = {"battery": "battery/policies.csv", "mip": "mip/traces.parquet"}
#: Cycles of a battery test per time step.
CYCLES_PER_STEP = 50


def table_path(table: str) -> Path:
    """Where a table is. Raises InputError if it is missing, saying how to make it."""
    path = data_folder() / TABLES[table]
    if not path.is_file():
        raise InputError(f"{path}: is missing; `snakemake data/{TABLES[table]}` makes it")
    return path


def digest(table: str) -> str:
    """The sha256 of a table's file, with which an instance names its version."""
    return hashlib.sha256(table_path(table).read_bytes()).hexdigest()


@cache
def records(table: str) -> tuple[tuple[str, ...], Records]:
    """Names of the arms, and their recorded pulls."""
    return {"battery": _battery, "mip": _mip}[table]()


def policies() -> pd.DataFrame:
    """The table of charging policies, one row per policy."""
    import pandas as pd

    return pd.read_csv(table_path("battery"))


def _battery() -> tuple[tuple[str, ...], Records]:
    """A pull cycles one of a policy's cells to its end of life; the reward is that life.

    A life of L cycles takes ceil(L / CYCLES_PER_STEP) steps.
    """
    table = policies()
    lives = table.filter(like="cell_").to_numpy(float)
    none = np.empty((*lives.shape, 0))
    delays = np.ceil(lives / CYCLES_PER_STEP).astype(np.int64)
    return tuple(table.policy), Records(lives, delays, none, none)


def traces() -> Traces:
    """All runs of the solver, as recorded by `cuts.py`."""
    import pyarrow.parquet as pq

    table = pq.read_table(table_path("mip")).to_pandas()
    arms = table.arm.cat
    shape = int(table.instance.max()) + 1, len(arms.categories), int(table.step.max())
    lower, upper = np.full(shape, np.nan), np.full(shape, np.nan)
    place = table.instance, arms.codes, table.step - 1
    lower[place], upper[place] = table.lower, table.upper
    start = np.array([start_value(corridor(number)) for number in range(shape[0])], dtype=float)
    return Traces(tuple(arms.categories), lower, upper, start)


def _mip() -> tuple[tuple[str, ...], Records]:
    """A pull solves one of the instances that the predictor was not trained on."""
    runs = traces()
    training, testing = split_instances(len(runs.lower))
    model = train(runs, training)
    predicted, spreads = forecasts(runs, model)
    by_arm = [
        np.ascontiguousarray(np.moveaxis(a[testing], 0, 1))
        for a in (runs.finals, runs.delays, predicted, spreads)
    ]
    return runs.arms, Records(*by_arm)
