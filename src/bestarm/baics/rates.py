"""Make data/rates/times.csv: what rates cost BAICS, over a rule that knows each one's sigma.

python -m bestarm.baics.rates --out data/rates/times.csv
"""

from typing import Any

import numpy as np

from bestarm.baics.problem import Instance
from bestarm.baics.ratios import mean_ratio, writer
from bestarm.baics.strategies import DEFAULTS, make_replication, make_world, prepare, steps
from bestarm.common.paper import Cell
from bestarm.core.strategy import Steps
from bestarm.core.streams import stream_key
from bestarm.runs.kept import Job, KeptTable, command_line

SEED, RUNS, SETTING = 2027, 100, {"delta": 0.05, "cap": None}
#: Three arms on two subpopulations of the same size; the answer is the first.
INSTANCES: dict[str, dict[str, Any]] = {
    "3 to 6%": {"means": [[0.06, 0.06], [0.045, 0.04], [0.04, 0.03]], "constrained": 0},
    "3 to 6%, minimum 2%": {"means": [[0.06, 0.06], [0.045, 0.04], [0.04, 0.03]], "minimum": 0.02},
    "near 1/2": {"means": [[0.55, 0.6], [0.5, 0.5], [0.45, 0.5]], "constrained": 0},
    "94 to 97%": {"means": [[0.97, 0.97], [0.955, 0.95], [0.94, 0.96]], "constrained": 0},
}
STRATEGIES = ("Uniform", "T-a-SCS", "FWS")
COLUMNS = ["instance", "strategy", "delta", "runs", "bets", "yardstick", "ratio", "low", "high"]
COLUMNS += ["wrong_bets", "wrong_yardstick"]


def instance(name: str) -> Instance:
    """An instance of INSTANCES."""
    return Instance(name=name, weights=[1.0, 1.0], rewards="bernoulli", **INSTANCES[name])


def told_sigma(rates: Instance, cell: Cell, sigma: np.ndarray) -> Steps:
    """A cell on rates whose strategy takes them for Gaussian rewards.

    Args:
        rates: the instance that is played.
        cell: of BAICS.
        sigma: (K, L) the standard deviations that the strategy is told.
    """
    fields = {field: getattr(rates, field) for field in ("name", "means", "weights")}
    fields |= {field: getattr(rates, field) for field in ("constrained", "minimum")}
    believed = Instance(**fields, sigma=sigma.tolist())
    world = make_world(rates)
    values = rates.sigmas.reshape(-1, 1) * world.values / believed.sigmas.reshape(-1, 1)
    return steps(believed, cell)._replace(world=world._replace(values=values))


def own_sigma(rates: Instance) -> np.ndarray:
    """(K, L) the standard deviation of each rate, with which it is not sub-Gaussian."""
    means = np.array(rates.means)
    return np.sqrt(means * (1.0 - means))


def time_ratio(name: str, strategy: str, runs: int) -> dict:
    """A row: mean visitors of the proved rule and of the yardstick, on the same streams."""
    rates, key = instance(name), stream_key(SEED, "baics", "rates", name, "")
    cell = Cell(name, strategy, SETTING, DEFAULTS[strategy])
    yardstick = make_replication(told_sigma(rates, cell, own_sigma(rates)))
    ratios = mean_ratio(rates, prepare(rates, cell), yardstick, key, runs)
    return dict(zip(COLUMNS, (name, strategy, SETTING["delta"], runs, *ratios), strict=True))


def jobs() -> list[Job]:
    """One for each instance and strategy."""
    return [
        Job(f"{number}-{strategy}", time_ratio, (name, strategy, RUNS))
        for number, name in enumerate(INSTANCES)
        for strategy in STRATEGIES
    ]


TABLE = KeptTable(
    "bestarm.baics.rates",
    f"mean visitors of {RUNS} runs of BAICS on rates, by bets and with the sigma of each rate",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    ("2-Uniform", "2-FWS"),
    save=writer(COLUMNS),
    law=2,
)


if __name__ == "__main__":
    command_line("bestarm.baics.rates", __doc__ or "")
