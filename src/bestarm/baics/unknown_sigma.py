"""Make data/unknown-sigma/times.csv: what it costs BAICS not to know sigma.

python -m bestarm.baics.unknown_sigma --out data/unknown-sigma/times.csv
"""

import itertools

import numpy as np

from bestarm.baics.problem import Instance, instances
from bestarm.baics.ratios import mean_ratio, writer
from bestarm.baics.strategies import DEFAULTS, prepare
from bestarm.common.paper import Cell
from bestarm.core.streams import stream_key
from bestarm.runs.kept import Job, KeptTable, command_line

SEED = 2025
#: Instances of the paper: delta and runs; and those of `random_instance`.
INSTANCES, DELTA, RUNS = ("example1", "example2", "no-feasible-arm"), 0.1, 500
RANDOM_DELTA, RANDOM_RUNS = 0.05, 100
#: K, L, the typical gap in sigma, and whether all minima are 0.
RANDOM = [*itertools.product((2, 5), (1, 2, 5), (0.3, 1.0, 3.0), (False, True))]
#: By strategy its reading with sigma unknown; the slower sampling rules are left out.
UNKNOWN_SIGMA = {"T-a-SCS": "maximiser+proven-unknown-sigma", "FWS": "proven-unknown-sigma"}
COLUMNS = ["instance", "strategy", "delta", "runs", "known", "unknown", "ratio", "low", "high"]
COLUMNS += ["wrong_known", "wrong_unknown"]


def random_instance(n_arms: int, n_groups: int, gap: float, constrained: bool) -> Instance:
    """Means between 0.3 and 1 gap; those of arm 1 are higher by 0.8, of the last lower by 1.5 if
    there are minima, so that it breaks them."""
    name = f"random K={n_arms} L={n_groups} gap={gap:g}" + (", minima" if constrained else "")
    rng = np.random.default_rng([SEED, n_arms, n_groups, int(10 * gap), constrained])
    means = rng.uniform(0.3, 1.0, (n_arms, n_groups))
    means[0] += 0.8
    means[-1] -= 1.5 if constrained else 0.0
    return Instance(
        name=name,
        weights=[1.0] * n_groups,
        means=(gap * means).tolist(),
        constrained=n_groups if constrained else 0,
        sigma=1.0,
    )


def time_ratio(instance: Instance, strategy: str, delta: float, runs: int) -> dict:
    """A row: mean pulls with sigma known and unknown, on the same streams, and their ratio."""
    name, setting = instance.name, {"delta": delta, "cap": None}
    key = stream_key(SEED, "baics", "unknown-sigma", name, "")
    with_known, with_unknown = (
        prepare(instance, Cell(name, strategy, setting, reading))
        for reading in (DEFAULTS[strategy], UNKNOWN_SIGMA[strategy])
    )
    ratios = mean_ratio(instance, with_unknown, with_known, key, runs)
    pulls = (ratios.baseline, ratios.rule, ratios.ratio, ratios.low, ratios.high)
    values = (name, strategy, delta, runs, *pulls, ratios.wrong_baseline, ratios.wrong)
    return dict(zip(COLUMNS, values, strict=True))


def jobs() -> list[Job]:
    """One for each instance and strategy."""
    papers = [(instances()[name], DELTA, RUNS) for name in INSTANCES]
    drawn = [(random_instance(*numbers), RANDOM_DELTA, RANDOM_RUNS) for numbers in RANDOM]
    return [
        Job(f"{instance.name}-{strategy}", time_ratio, (instance, strategy, delta, runs))
        for instance, delta, runs in papers + drawn
        for strategy in UNKNOWN_SIGMA
    ]


TABLE = KeptTable(
    "bestarm.baics.unknown_sigma",
    "mean pulls of BAICS's proved rules with sigma known and unknown",
    {"runs": SEED, "random instances": SEED},
    ("numpy", "numba"),
    jobs,
    ("no-feasible-arm-T-a-SCS", "no-feasible-arm-FWS"),
    save=writer(COLUMNS),
    law=2,
)


if __name__ == "__main__":
    command_line("bestarm.baics.unknown_sigma", __doc__ or "")
