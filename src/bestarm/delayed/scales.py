"""Make data/delayed-scales/errors.csv: how often the mixture's intervals miss if scales are wrong.

python -m bestarm.delayed.scales --out data/delayed-scales/errors.csv
"""

from bestarm.core.streams import Streams, stream_key
from bestarm.delayed.problem import alike
from bestarm.delayed.racing import Result, run
from bestarm.delayed.steps import Race
from bestarm.delayed.strategies import READINGS, Setting, make_rules
from bestarm.runs.kept import Job, KeptTable, command_line
from bestarm.runs.play import play

SEED, RUNS, HORIZON, READING = 2023, 2000, 2000, "mixture-n0=10"
#: What the rules are told, in units of the true scale: sigma, sigma_p.
TOLD = (
    *((1.0, factor) for factor in (1.0, 0.5, 0.8, 1.25, 2.0, 4.0)),
    *((factor, 1.0) for factor in (0.5, 0.8, 1.25, 2.0)),
    (2.0, 2.0),
)
FEEDBACKS, BATCHES = ("unbiased", "biased"), (1, 10)
COLUMNS = ["feedback", "batch", "sigma", "sigma_p", "delta", "horizon", "runs", "missed"]


def missed(feedback: str, batch: int, told: tuple[float, float], runs: int, horizon: int) -> dict:
    """A row: runs on two equal arms in which some interval misses, at whatever step.

    Args:
        feedback: unbiased or biased.
        batch: most pulls that run; a pull takes ten steps.
        told: scales that the rules are told, in units of the true ones.
        runs: number of runs.
        horizon: steps of a run.
    """
    arms, setting = alike(feedback).problem, Setting(batch=batch, cap=horizon)  # pyright: ignore
    sigma, sigma_p = told[0] * arms.sigma, told[1] * arms.sigma_p
    rules = make_rules(READINGS["Partial"][READING], feedback, sigma, sigma_p, setting)
    race = Race(1, batch, batch, horizon)
    key = stream_key(SEED, "delayed", "scales", feedback, f"{batch}")

    def replicate(streams: Streams) -> Result:
        return run(race, rules, arms, streams.environment, streams.coins)

    count = int(play(replicate, key, range(runs))["missed"].astype(bool).sum())
    values = (feedback, batch, *told, setting.delta, horizon, runs, count)
    return dict(zip(COLUMNS, values, strict=True))


def jobs() -> list[Job]:
    """One for each feedback, batch and pair of scales."""
    return [
        Job(f"{feedback}-{batch}-{told[0]:g}-{told[1]:g}", missed, arguments)
        for feedback in FEEDBACKS
        for batch in BATCHES
        for told in TOLD
        for arguments in [(feedback, batch, told, RUNS, HORIZON)]
    ]


TABLE = KeptTable(
    "bestarm.delayed.scales",
    f"runs of {HORIZON:,} steps in which an interval of the mixture misses, by scales told",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    ("unbiased-1-1-1", "biased-10-2-2"),
    COLUMNS,
)


if __name__ == "__main__":
    command_line("bestarm.delayed.scales", __doc__ or "")
