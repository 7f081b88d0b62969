"""Make data/self-normalised/times.csv: pulls of the self-normalised rule and of the published ones.

python -m bestarm.linear.self_normalised_times --out data/self-normalised/times.csv

All results are asked for here, so both rules count all of theirs.
"""

from typing import Any

import numpy as np

from bestarm.common.paper import Cell
from bestarm.core.estimates import mean, ratio_of_independent_means
from bestarm.core.streams import run_streams, stream_key
from bestarm.linear.arena import canonical, random_instance
from bestarm.linear.problem import Instance, instances
from bestarm.linear.self_normalised import self_normalised
from bestarm.linear.strategies import READINGS, make_rules, prepare
from bestarm.runs.kept import Job, KeptTable, command_line
from bestarm.runs.play import play

SEED, RUNS, SETTING = 2027, 40, {"delta": 0.05, "cap": None}
STRATEGIES = ("G", "XY", "RAGE")
COLUMNS = ["instance", "strategy", "delta", "runs", "published", "self_normalised"]
COLUMNS += ["ratio", "low", "high", "wrong_published", "wrong_self_normalised"]


def all_instances() -> dict[str, Instance]:
    """Those of the arena, and one of ten dimensions."""
    chosen = (instances()["three-arms"], canonical(5), canonical(10), random_instance(0))
    return {instance.name: instance for instance in chosen}


def self_normalised_runs(instance: Instance, strategy: str, key: int, runs: int) -> np.ndarray:
    """(runs, 2) pulls and answers of the strategy with the self-normalised rule."""
    problem, reading = instance.problem, READINGS[strategy][READINGS[strategy].default]
    steps: Any
    steps, rules = self_normalised(
        make_rules(strategy, problem, reading, SETTING["delta"]), SETTING["delta"]
    )
    rows = []
    for run in range(runs):
        streams, state = run_streams(key, run), steps.start(rules)
        for _ in steps.follow(problem, rules, state, streams.environment, streams.coins):
            pass
        rows.append((state.pulls.sum(), state.answer + 1))
    return np.array(rows)


def time_ratio(name: str, strategy: str, runs: int) -> dict[str, Any]:
    """A row: mean pulls of both rules and their ratio."""
    instance = all_instances()[name]
    best = int(instance.problem.means.argmax()) + 1
    key = stream_key(SEED, "linear", name, strategy, "")
    cell = Cell(name, strategy, SETTING, READINGS[strategy].default)
    published = play(prepare(instance, cell), key, range(runs))
    ours = self_normalised_runs(instance, strategy, key, runs)
    above, below = mean("pulls", "pulls", ours[:, 0]), mean("pulls", "pulls", published["tau"])
    ratio = ratio_of_independent_means("ratio", above, below)
    numbers = (below.value, above.value, ratio.value, ratio.low, ratio.high)
    wrong = [int((answers != best).sum()) for answers in (published["answer"], ours[:, 1])]
    rounded = [round(float(number), 4) for number in numbers]
    fields = (name, strategy, SETTING["delta"], runs, *rounded, *wrong)
    return dict(zip(COLUMNS, fields, strict=True))


def jobs() -> list[Job]:
    """One for each instance and strategy."""
    return [
        Job(f"{number}-{strategy}", time_ratio, (name, strategy, RUNS))
        for number, name in enumerate(all_instances())
        for strategy in STRATEGIES
    ]


TABLE = KeptTable(
    "bestarm.linear.self_normalised_times",
    f"mean pulls of {RUNS} runs by the published rules and by the self-normalised one",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    ("0-G", "0-RAGE"),
    columns=COLUMNS,
)


if __name__ == "__main__":
    command_line("bestarm.linear.self_normalised_times", __doc__ or "")
