"""Make data/unknown-sigma/times.csv: what it costs BAICS not to know sigma.

python -m bestarm.baics.unknown_sigma --out data/unknown-sigma/times.csv
"""

from bestarm.baics.problem import instances
from bestarm.baics.ratios import mean_ratio, writer
from bestarm.baics.strategies import DEFAULTS, prepare
from bestarm.common.paper import Cell
from bestarm.core.streams import stream_key
from bestarm.runs.kept import Job, KeptTable, command_line

SEED, RUNS, SETTING = 2025, 500, {"delta": 0.1, "cap": None}
INSTANCES = ("example1", "example2", "no-feasible-arm")
#: By strategy its reading with sigma unknown; the slower sampling rules are left out.
UNKNOWN_SIGMA = {"T-a-SCS": "maximiser+proven-unknown-sigma", "FWS": "proven-unknown-sigma"}
COLUMNS = ["instance", "strategy", "delta", "runs", "known", "unknown", "ratio", "low", "high"]
COLUMNS += ["wrong_known", "wrong_unknown"]


def time_ratio(name: str, strategy: str, runs: int) -> dict:
    """A row: mean pulls with sigma known and unknown, on the same streams, and their ratio."""
    instance, key = instances()[name], stream_key(SEED, "baics", "unknown-sigma", name, "")
    with_known, with_unknown = (
        prepare(instance, Cell(name, strategy, SETTING, reading))
        for reading in (DEFAULTS[strategy], UNKNOWN_SIGMA[strategy])
    )
    ratios = mean_ratio(instance, with_unknown, with_known, key, runs)
    pulls = (ratios.baseline, ratios.rule, ratios.ratio, ratios.low, ratios.high)
    values = (name, strategy, SETTING["delta"], runs, *pulls, ratios.wrong_baseline, ratios.wrong)
    return dict(zip(COLUMNS, values, strict=True))


def jobs() -> list[Job]:
    """One for each instance and strategy."""
    return [
        Job(f"{name}-{strategy}", time_ratio, (name, strategy, RUNS))
        for name in INSTANCES
        for strategy in UNKNOWN_SIGMA
    ]


TABLE = KeptTable(
    "bestarm.baics.unknown_sigma",
    f"mean pulls of {RUNS} runs of BAICS's proved rules with sigma known and unknown",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    ("no-feasible-arm-T-a-SCS", "no-feasible-arm-FWS"),
    save=writer(COLUMNS),
)


if __name__ == "__main__":
    command_line("bestarm.baics.unknown_sigma", __doc__ or "")
