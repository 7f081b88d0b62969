"""Documentation tables of BAICS: what its proofs cost, and errors with each stopping rule."""

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd

from bestarm.baics.bets import box_level
from bestarm.baics.e_values import VARIANCES
from bestarm.baics.limits import exact_times
from bestarm.baics.problem import PROBLEMS, characteristic_time
from bestarm.baics.unknown_sigma import INSTANCES, RANDOM, UNKNOWN_SIGMA, random_instance
from bestarm.common.pages import Pages
from bestarm.common.prose import Lines, as_table, markdown, number, percent_row
from bestarm.common.tables import groups, lines, read_table
from bestarm.core.anytime import variance_bound
from bestarm.core.information import needed_information

#: Stopping rules of T-a-SCS with the exact maximiser, by reading.
STOPPING = {"maximiser": "the paper's rule", "maximiser+proven": "proved rule"}


@as_table
def segment_table(root: Path) -> Lines:
    """Wrong answers and pulls by the number of segments, at delta = 0.05, by stopping rule."""
    table = read_table(root / "figures/baics/guarantee.csv")
    for segments, group in groups(table[table.x.notna()].sort_values("x"), "x"):
        by = {key: rows.iloc[0] for key, rows in groups(group, "statistic", "reading")}
        wrong = {
            f"wrong, {says}": percent_row(by["wrong_stops", r]) for r, says in STOPPING.items()
        }
        medians = {r: by["median_stopping_time", r].value for r in STOPPING}
        pulls = {f"pulls, {says}": number(medians[r]) for r, says in STOPPING.items()}
        yield {"segments": f"{segments:.0f}", **wrong, **pulls}


@as_table
def cost_table(root: Path) -> Lines:
    """What the proof costs BAICS: mean pulls with the proved rule over those with the paper's."""
    table = read_table(root / "figures/baics/proven.csv")
    for (strategy, reading), group in groups(
        table[table.statistic == "budget_ratio"], "algorithm", "reading"
    ):
        by_instance = {row.instance: row for row in lines(group)}
        cells = {
            name: f"{row.value:.2f} ({row.low:.2f} to {row.high:.2f})"
            for name, row in sorted(by_instance.items())
        }
        yield {"sampling": strategy, "stopping": f"`{reading}`", **cells}


@as_table
def sigma_table(root: Path) -> Lines:
    """What it costs BAICS not to know sigma, from the kept table."""
    instances = PROBLEMS.instances()
    table = pd.read_csv(root / "data/unknown-sigma/times.csv")
    for row in lines(table[table.instance.isin(INSTANCES)]):
        n_arms, n_groups = np.shape(instances[row.instance].means)
        count = row.unknown / (n_arms * n_groups)
        level = box_level(math.log(n_arms / row.delta), n_groups, VARIANCES)
        bound = variance_bound(level, count - 1.0, count)
        yield {
            "instance": row.instance,
            "sampling": row.strategy,
            "σ known": number(row.known),
            "σ unknown": number(row.unknown),
            "ratio": f"{row.ratio:.2f} ({row.low:.2f} to {row.high:.2f})",
            "bound of σ² over σ²": f"{bound:.2f}",
        }


@as_table
def random_sigma_table(root: Path) -> Lines:
    """The same on random instances, by number of arms and of subpopulations."""
    table = pd.read_csv(root / "data/unknown-sigma/times.csv")
    for size, numbers in itertools.groupby(RANDOM, lambda numbers: numbers[:2]):
        names = [random_instance(*drawn).name for drawn in numbers]
        here = table[table.instance.isin(names)].groupby("strategy").ratio
        low, high = here.min(), here.max()
        cells = {name: f"{low[name]:.2f} to {high[name]:.2f}" for name in UNKNOWN_SIGMA}
        yield {"K": str(size[0]), "L": str(size[1]), "instances": str(len(names)), **cells}


def rate_time_table(root: Path) -> str:
    """What rates cost BAICS over the yardstick, from the kept table."""
    return markdown(
        {
            "rates": row.instance,
            "sampling": row.strategy,
            "bets": number(row.bets),
            "yardstick": number(row.yardstick),
            "ratio": f"{row.ratio:.2f} ({row.low:.2f} to {row.high:.2f})",
        }
        for row in lines(pd.read_csv(root / "data/rates/times.csv"))
    )


#: Samplers of figures/baics/boundary: readings with the paper's rule, and with the proved one.
SAMPLERS = {
    "T-a-SCS": ("as-written", "proven"),
    "exact maximiser": ("maximiser", "maximiser+proven"),
}


@as_table
def boundary_table(root: Path) -> Lines:
    """Wrong answers of BAICS where they are likeliest, with the paper's rule and the proved one."""
    table = read_table(root / "figures/baics/boundary.csv")
    errors = {
        (row.instance, row.reading, row.delta): f"{number(100 * row.value)}% (to "
        f"{number(100 * row.high)})"
        for row in lines(table[table.statistic == "wrong_stops"])
    }
    deltas = sorted({delta for _, _, delta in errors}, reverse=True)
    for instance in dict.fromkeys(instance for instance, _, _ in errors):
        for sampler, (unproved, proved) in SAMPLERS.items():
            paper = {f"paper's rule, δ = {deltas[0]:g}": errors[instance, unproved, deltas[0]]}
            ours = {f"proved, δ = {d:g}": errors[instance, proved, d] for d in deltas}
            yield {"truth": instance, "sampling": sampler, **paper, **ours}


#: Strategies of figures/baics/proven-asymptotics with the directed rule: their reading, its name.
DIRECTED_RUNS = {"T-a-SCS": "maximiser+proven", "FWS": "levelled+proven"}


def limit_table(root: Path) -> str:
    """Pulls of the directed rule over the lower bound as delta shrinks, and by exact estimates."""
    instance = PROBLEMS.instances()["example1"]
    table = read_table(root / "figures/baics/proven-asymptotics.csv")
    ratios = table[table.statistic == "bound_ratio"]
    measured = {(row.strategy, row.reading, row.x): row for row in lines(ratios)}
    deltas = sorted(set(ratios.x), reverse=True)
    rows = []
    for delta, time in zip(deltas, exact_times(instance, deltas), strict=True):
        bound = characteristic_time(instance) * needed_information(delta)
        runs = {name: measured[name, reading, delta] for name, reading in DIRECTED_RUNS.items()}
        intervals = {k: f"{r.value:.2f} ({r.low:.2f} to {r.high:.2f})" for k, r in runs.items()}
        rows.append({"δ": f"{delta:g}", "exact estimates": f"{time / bound:.2f}", **intervals})
    return markdown(pd.DataFrame(rows))


PAGES = Pages(
    short="BAICS",
    parts={
        "docs/usage.md": {"segments": segment_table},
        "docs/guarantees.md": {
            "random unknown sigma": random_sigma_table,
            "rate times": rate_time_table,
            "unknown sigma": sigma_table,
            "boundary errors": boundary_table,
            "proof costs": cost_table,
            "pulls in the limit": limit_table,
        },
    },
)
