"""Make data/certified-errors/errors.csv: how often Certified is wrong.

python -m bestarm.lagex.certified.errors --out data/certified-errors/errors.csv
"""

import numpy as np

from bestarm.common.paper import Cell
from bestarm.core.streams import stream_key
from bestarm.lagex.cells import CERTIFIED_INSTANCES
from bestarm.lagex.problem import Constraint, Instance, instances
from bestarm.lagex.statistics import ROUNDING
from bestarm.lagex.strategies import prepare
from bestarm.runs.kept import Job, KeptTable, command_line
from bestarm.runs.play import has_stopped, play

SEED, RUNS, DELTAS = 2023, 2000, (0.1, 0.01)
#: r on the paper's instances and on random programs, whose means have a standard deviation of 1.
R, R_RANDOM = 0.1, 0.3
#: Random programs, their arms and their constraints.
PROGRAMS, ARMS, CONSTRAINTS = 30, (3, 8), (1, 4)
COLUMNS = ["instance", "arms", "constraints", "delta", "r", "runs"]
COLUMNS += ["stopped", "infeasible", "suboptimal", "wrong", "median"]


def random_program(number: int) -> Instance:
    """A linear program with an interior: normal means and costs, slack at some random policy."""
    rng = np.random.default_rng([SEED, number])
    k, d = (int(rng.integers(low, high + 1)) for low, high in (ARMS, CONSTRAINTS))
    means, matrix = rng.normal(size=k), rng.normal(size=(d, k))
    limits = matrix @ rng.dirichlet(np.ones(k)) + rng.uniform(0.05, 0.5, d)
    rows = zip(matrix.tolist(), limits.tolist(), strict=True)
    return Instance(
        name=f"random {number}",
        means=means.tolist(),
        constraints=[Constraint(coefficients=row, at_most=limit) for row, limit in rows],
    )


def tested() -> dict[str, tuple[Instance, float]]:
    """All instances with their r, by name."""
    by_name = instances()
    papers = {name: (by_name[name], R) for name in CERTIFIED_INSTANCES}
    drawn = [random_program(number) for number in range(1, PROGRAMS + 1)]
    return papers | {instance.name: (instance, R_RANDOM) for instance in drawn}


def wrong(name: str, delta: float, runs: int) -> dict:
    """A row: how many runs end with an infeasible or a suboptimal policy."""
    instance, r = tested()[name]
    cell = Cell(name, "Certified", {"delta": delta, "r": r, "cap": None}, "proven")
    replicate = prepare(instance, cell)
    key = stream_key(SEED, "lagex", "certified-errors", name, cell.setting_label)
    columns = play(replicate, key, range(runs))
    infeasible = ~(columns["excess"] <= ROUNDING)
    suboptimal = ~(columns["regret"] <= r + ROUNDING)
    counts = {
        "stopped": int(has_stopped(columns).sum()),
        "infeasible": int(infeasible.sum()),
        "suboptimal": int(suboptimal.sum()),
        "wrong": int((infeasible | suboptimal).sum()),
        "median": float(np.median(columns["tau"])),
    }
    size = {"arms": len(instance.means), "constraints": len(instance.constraints)}
    return {"instance": name, **size, "delta": delta, "r": r, "runs": runs, **counts}


def jobs() -> list[Job]:
    """One for each instance and delta."""
    cases = [(name, delta) for name in tested() for delta in DELTAS]
    return [Job(f"{name.replace(' ', '-')}-{d:g}", wrong, (name, d, RUNS)) for name, d in cases]


TABLE = KeptTable(
    "bestarm.lagex.certified.errors",
    f"wrong answers of Certified in {RUNS:,} runs per instance and delta",
    {"runs": SEED, "programs": SEED},
    ("numpy", "numba"),
    jobs,
    ("triangle-0.1", "random-20-0.01"),
    COLUMNS,
)


if __name__ == "__main__":
    command_line("bestarm.lagex.certified.errors", __doc__ or "")
