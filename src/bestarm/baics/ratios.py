"""Mean pulls of one rule of BAICS over those of another, for kept tables."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from bestarm.baics.problem import Instance, true_answer
from bestarm.core.estimates import ratio_of_means
from bestarm.core.files import write_text
from bestarm.runs.kept import Job
from bestarm.runs.play import Replicate, play


class MeanRatio(NamedTuple):
    """Pulls of a rule over those of a baseline, on the same streams."""

    rule: float  # its mean pulls
    baseline: float  # likewise
    ratio: float  # of the means, with its interval
    low: float
    high: float
    wrong: int  # runs of the rule with a wrong answer
    wrong_baseline: int


def mean_ratio(
    instance: Instance, rule: Replicate, baseline: Replicate, key: int, runs: int
) -> MeanRatio:
    """Play both on the same streams and compare their mean pulls."""
    taus, wrong = [], []
    for replicate in (rule, baseline):
        columns = play(replicate, key, range(runs))
        taus.append(columns["tau"].astype(float))
        wrong.append(int((columns["answer"] != true_answer(instance)).sum()))
    first, second = taus
    ratio = ratio_of_means("ratio", first, second)
    interval = (ratio.value, ratio.low, ratio.high)
    return MeanRatio(first.mean(), second.mean(), *interval, *wrong)


def writer(columns: Sequence[str]) -> Callable[[Sequence[Job], list[dict], Path], None]:
    """What writes a table of these columns with four decimals, see `KeptTable.save`."""

    def save(jobs: Sequence[Job], rows: list[dict], out: Path) -> None:
        table = pd.DataFrame(rows, columns=list(columns)).round(4)
        write_text(out, table.to_csv(index=False, lineterminator="\n"))

    return save
