"""Make data/certified-times/times.csv: what the parts of Certified's certificate cost.

    python -m bestarm.lagex.certified.times --out data/certified-times/times.csv

Computed without sampling, see `offline.py`.
"""

from itertools import product

import numpy as np

from bestarm.lagex.cells import CERTIFIED_DELTAS, CERTIFIED_INSTANCES, CERTIFIED_TOLERANCES
from bestarm.lagex.certified.offline import WITHOUT, Certificate, Parts, best_fixed, noiseless
from bestarm.lagex.certified.runs import Options, make_rules
from bestarm.lagex.problem import instances
from bestarm.runs.kept import Job, KeptTable, command_line

#: What allocates: a run without noise, or shares that are fixed, the best ones or equal ones.
NOISELESS, BEST, UNIFORM = "run without noise", "best fixed", "uniform"
#: What is switched off; "" for nothing. The box is made finer by splitting it.
ALL = "these together, but the box"
COLUMNS = ["instance", "delta", "r", "allocation", "without", "time"]


def times(name: str, delta: float, r: float) -> list[dict]:
    """Rows of an instance at a delta and a tolerance."""
    problem = instances()[name].problem
    arguments = (delta, r, Options(), problem.variances, problem.cost_sigma, problem.limits)
    rules = make_rules("Certified", *arguments)
    best, k = best_fixed(problem, rules), problem.means.size
    by_part = {
        (NOISELESS, ""): noiseless(problem, rules)[0],
        (BEST, ""): best.time,
        (UNIFORM, ""): Certificate(problem, rules).time(np.full(k, 1.0 / k), best.time),
    }
    together = Parts(union=False, mixture=False, unsure=False)
    for part, parts in (WITHOUT | {ALL: together}).items():
        by_part[BEST, part] = Certificate(problem, rules, parts).time(best.omega, best.time)
    labels = {"instance": name, "delta": delta, "r": r}
    return [
        {**labels, "allocation": allocation, "without": part, "time": round(time)}
        for (allocation, part), time in by_part.items()
    ]


def jobs() -> list[Job]:
    """One for each instance, delta and tolerance."""
    grid = product(CERTIFIED_INSTANCES, CERTIFIED_DELTAS, CERTIFIED_TOLERANCES)
    return [
        Job(f"{name.replace(' ', '-')}-{d:g}-{r:g}", times, (name, d, r)) for name, d, r in grid
    ]


TABLE = KeptTable(
    "bestarm.lagex.certified.times",
    "times at which the certificate of Certified closes if all estimates equal the truth",
    {},
    ("numpy", "numba", "scipy"),
    jobs,
    ("triangle-0.1-0.3", "setup-2-easy-0.1-0.3"),
    COLUMNS,
)


if __name__ == "__main__":
    command_line("bestarm.lagex.certified.times", __doc__ or "")
