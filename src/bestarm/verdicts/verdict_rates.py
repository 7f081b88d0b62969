"""Make data/verdict-rates/rates.csv: how often the rule for published numbers is right.

python -m bestarm.verdicts.verdict_rates --out data/verdict-rates/rates.csv

Claims of known truth are drawn and judged: exponential times, means of 300 runs of the paper's and
1,200 of ours. With `apart` 0 the first reading is the true one and the others are 30% off; else
every reading is off by the factor 1 + `apart`, the second one downwards, the third upwards again.
A row of two numbers has two such means, of other runs.
"""

from typing import Any

import numpy as np
import pandas as pd

from bestarm.common.paper import Cell
from bestarm.common.tables import assemble, cell_rows
from bestarm.core.estimates import mean
from bestarm.runs.kept import Job, KeptTable, command_line
from bestarm.verdicts.claims import ClaimsFile
from bestarm.verdicts.judge import judge
from bestarm.verdicts.outcome import CONFIRMED, DIFFERS
from bestarm.verdicts.tables import Tables

SEED, CLAIMS = 2026, 2000
#: Published rows that are judged at once.
BATCH = 100
OURS, THEIRS = 1200, 300
APART = (0.0, 0.1, 0.2, 0.3, 1.0)
READINGS = (1, 3, 6)
NUMBERS = (1, 2)
#: How far the other readings are off where one is true.
OTHERS = 0.3

MEANINGS = {
    "apart": "of the published law's mean and every reading's; at 0 the first reading is true",
    "readings": "tried",
    "numbers": "in the published row",
    "claims": "drawn and judged",
    "first_in_set": "share of claims that have the first reading in the confidence set",
    "confirmed": "share confirmed, by whichever reading",
    "first_confirmed": "share that the first reading confirms",
    "set_empty": "share that differs from every reading",
    "power": "mean of the least chance of being confirmed under the first reading, in the set",
}


def factors(apart: float, readings: int) -> list[float]:
    """Of each reading's mean over the published law's."""
    off = [apart or (OTHERS if k else 0.0) for k in range(readings)]
    return [1.0 + d if k % 2 == 0 else 1.0 / (1.0 + d) for k, d in enumerate(off)]


def statistic(row: int, number: int) -> str:
    """The name of a number of a published row."""
    return f"mean_stopping_time:{row}:{number}"


def simulated_claims(readings: int, numbers: int) -> ClaimsFile:
    """BATCH published rows of some numbers, under readings 0, 1, ..."""
    fields = {"where": "Table 1", "kind": "number", "statement": "so it is", "test": "equals"}
    place = {"target": "t", "instance": "i", "strategy": "s"}
    claims = [
        {
            **fields,
            "id": f"row {row}, number {number}",
            "row": place | {"statistic": statistic(row, number)},
            "group": f"row {row}",
            "readings": [str(reading) for reading in range(readings)],
        }
        for row in range(BATCH)
        for number in range(numbers)
    ]
    return ClaimsFile.model_validate({"claims": claims})


def simulated_tables(rng: np.random.Generator, means: list[float], numbers: int) -> Tables:
    """Our table and the published one for these claims, of fresh runs."""
    ours, theirs = [], []
    same = {"target": "t", "instance": "i", "strategy": "s", "n": THEIRS, "half_unit": 0.0}
    same |= {"precision": "print", "cap": np.nan, "own_error": np.nan}
    for row in range(BATCH):
        for number in range(numbers):
            name = statistic(row, number)
            for reading, factor in enumerate(means):
                estimate = mean(name, "pulls", rng.exponential(factor, OURS))
                ours += cell_rows(Cell("i", "s", {}, str(reading)), [estimate])
            value = rng.exponential(1.0, THEIRS).mean()
            theirs.append(same | {"statistic": name, "value": value, "printed": f"{value}"})
    numeric = dict.fromkeys(("x", "value", "low", "high"), float)
    return Tables({"t": assemble(ours).astype(numeric)}, pd.DataFrame(theirs))


def rates(apart: float, readings: int, numbers: int, claims: int = CLAIMS) -> dict[str, Any]:
    """A row: what becomes of the first number of so many published rows, a multiple of BATCH."""
    rng = np.random.default_rng([SEED, round(100 * apart), readings, numbers])
    published, means = simulated_claims(readings, numbers), factors(apart, readings)
    outcomes, powers = [], []
    for _ in range(claims // BATCH):
        judged = judge(published, simulated_tables(rng, means, numbers), validity={})
        for claim in judged[::numbers]:
            outcomes.append([line.outcome for line in claim.lines])
            powers.append(claim.lines[0].power)
    seen = np.array(outcomes)
    return {
        "apart": apart,
        "readings": readings,
        "numbers": numbers,
        "claims": len(seen),
        "first_in_set": float((seen[:, 0] != DIFFERS).mean()),
        "confirmed": float((seen == CONFIRMED).any(axis=1).mean()),
        "first_confirmed": float((seen[:, 0] == CONFIRMED).mean()),
        "set_empty": float((seen == DIFFERS).all(axis=1).mean()),
        "power": float(np.nanmean(powers)) if np.isfinite(powers).any() else 0.0,
    }


def jobs() -> list[Job]:
    """One for each row."""
    cases = [(apart, r, k) for apart in APART for r in READINGS for k in NUMBERS]
    return [Job(f"{number:02}", rates, case) for number, case in enumerate(cases)]


TABLE = KeptTable(
    "bestarm.verdicts.verdict_rates",
    f"how often the rule for published numbers is right, of {CLAIMS:,} claims per row",
    {"claims": SEED},
    ("numpy", "scipy"),
    jobs,
    ("00", "07"),  # one number and reading; two numbers, one reading, all off
    list(MEANINGS),
    {"float_format": "%.4g"},
)


if __name__ == "__main__":
    command_line("bestarm.verdicts.verdict_rates", __doc__ or "")
