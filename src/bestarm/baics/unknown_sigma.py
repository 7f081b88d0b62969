"""Make data/unknown-sigma/times.csv: what it costs BAICS not to know sigma.

python -m bestarm.baics.unknown_sigma --out data/unknown-sigma/times.csv
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from bestarm.baics.problem import instances, true_answer
from bestarm.baics.strategies import DEFAULTS, prepare
from bestarm.common.paper import Cell
from bestarm.core.estimates import ratio_of_means
from bestarm.core.files import write_text
from bestarm.core.streams import stream_key
from bestarm.runs.kept import Job, KeptTable, command_line
from bestarm.runs.play import play

SEED, RUNS, SETTING = 2025, 500, {"delta": 0.1, "cap": None}
INSTANCES = ("example1", "example2", "no-feasible-arm")
#: By strategy its reading with sigma unknown; the slower sampling rules are left out.
UNKNOWN_SIGMA = {"T-a-SCS": "maximiser+proven-unknown-sigma", "FWS": "proven-unknown-sigma"}
COLUMNS = ["instance", "strategy", "delta", "runs", "known", "unknown", "ratio", "low", "high"]
COLUMNS += ["wrong_known", "wrong_unknown"]


def price(name: str, strategy: str, runs: int) -> dict:
    """A row: mean pulls with sigma known and unknown, on the same streams, and their ratio."""
    instance, key = instances()[name], stream_key(SEED, "baics", "unknown-sigma", name, "")
    taus, wrong = [], []
    for reading in (DEFAULTS[strategy], UNKNOWN_SIGMA[strategy]):
        replicate = prepare(instance, Cell(name, strategy, SETTING, reading))
        found = play(replicate, key, range(runs))
        taus.append(found["tau"].astype(float))
        wrong.append(int((found["answer"] != true_answer(instance)).sum()))
    known, unknown = taus
    ratio = ratio_of_means("ratio", unknown, known)
    values = (name, strategy, SETTING["delta"], runs, known.mean(), unknown.mean())
    interval = (ratio.value, ratio.low, ratio.high)
    return dict(zip(COLUMNS, (*values, *interval, *wrong), strict=True))


def jobs() -> list[Job]:
    """One for each instance and strategy."""
    return [
        Job(f"{name}-{strategy}", price, (name, strategy, RUNS))
        for name in INSTANCES
        for strategy in UNKNOWN_SIGMA
    ]


def save(jobs: Sequence[Job], rows: list[dict], out: Path) -> None:
    """Write the table, with four decimals."""
    table = pd.DataFrame(rows, columns=COLUMNS).round(4)
    write_text(out, table.to_csv(index=False, lineterminator="\n"))


TABLE = KeptTable(
    "bestarm.baics.unknown_sigma",
    f"mean pulls of {RUNS} runs of BAICS's proved rules with sigma known and unknown",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    ("no-feasible-arm-T-a-SCS", "no-feasible-arm-FWS"),
    save=save,
)


if __name__ == "__main__":
    command_line("bestarm.baics.unknown_sigma", __doc__ or "")
