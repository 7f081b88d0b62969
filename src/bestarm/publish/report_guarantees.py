"""Tables of docs/guarantees.md: bounds compared, and errors when bounds or assumptions fail."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bestarm.arena.crossings import DELTA, SAMPLING, VECTOR
from bestarm.common.prose import Lines, as_table, markdown, number, percent_row
from bestarm.common.tables import groups, lines
from bestarm.core.anytime import (
    half_normal_threshold,
    kaufmann_koolen_threshold,
    mixture_threshold,
    shrunk_counts,
)
from bestarm.core.estimates import proportion
from bestarm.core.information import stylised_threshold

#: Pulls of each stream at which thresholds are shown.
PULLS = (10, 100, 1000, 10_000, 100_000)
#: Numbers of streams, likewise.
STREAMS = (1, 6)

#: A bound on sum N err^2 / 2, from ln(1/delta) and the streams' equal pulls.
Threshold = Callable[[float, np.ndarray], float]


def _mixture(n0: float) -> Threshold:
    """The bound on sum N' err^2 / 2 at equal pulls N, times N / N'."""
    return lambda level, counts: (
        mixture_threshold(level, counts, n0) * counts[0] / float(shrunk_counts(counts[0], n0))
    )


def _half_normal(n1: float) -> Threshold:
    return lambda level, counts: (
        half_normal_threshold(level, counts[0], n1) ** 2 / (2.0 * counts[0])
    )


def _stylised(level: float, counts: np.ndarray) -> float:
    return stylised_threshold(int(counts.sum()), math.exp(-level))


#: The bounds of `arena/crossings.py` by name, then those of one stream and one side.
THRESHOLDS: dict[str, Threshold] = dict(
    zip(VECTOR, (_mixture(1.0), _mixture(100.0), _stylised, kaufmann_koolen_threshold), strict=True)
)
ONE_SIDED = {f"half-normal, n1 = {n1:g}, one side": _half_normal(n1) for n1 in (1.0, 20.0)}


@as_table
def threshold_table() -> Lines:
    """What sum N err^2 / 2 must exceed at delta = DELTA, by streams and pulls of each."""
    level = math.log(1.0 / DELTA)
    for streams in STREAMS:
        for name, threshold in (THRESHOLDS | (ONE_SIDED if streams == 1 else {})).items():
            values = (threshold(level, np.full(streams, float(pulls))) for pulls in PULLS)
            by_pulls = {f"N = {pulls:,}": number(v) for pulls, v in zip(PULLS, values, strict=True)}
            yield {"streams": streams, "bound": name, **by_pulls}


@as_table
def crossing_table(root: Path) -> Lines:
    """How often runs violate each bound, from the kept table."""
    for row in lines(pd.read_csv(root / "data/anytime/crossings.csv")):
        violated = percent_row(proportion("", int(row.crossed), int(row.runs)), 2)
        how = row.sampling if row.streams > 1 or row.sampling not in SAMPLING else "–"
        yield {"bound": row.bound, "streams": row.streams, "sampled": how, "violated": violated}


#: Headings of what kept tables name in a word.
HEADINGS = {
    "as assumed": "as assumed",
    "sigma 2": "σ understated by half",
    "t": "t, 3 degrees",
    "swing": "means swing",
}


def assumption_table(root: Path) -> str:
    """Wrong answers of every strategy by what does not hold, from the kept table."""
    kept = pd.read_csv(root / "data/assumptions/errors.csv")

    def about(row: Any) -> dict[str, str]:
        return {"δ": "–" if np.isnan(row.delta) else f"{row.delta:g}", "runs": f"{row.runs:,}"}

    return _by_noise(kept[kept.noise.isin(list(HEADINGS))], HEADINGS, about)


def drift_table(root: Path) -> str:
    """Wrong answers by how means change, and pulls if they do not, from the kept table."""
    kept = pd.read_csv(root / "data/drift/errors.csv")
    changes = ("as assumed", "weekdays", "trend", "novelty")

    def about(row: Any) -> dict[str, str]:
        return {"runs": f"{row.runs:,}", "median pulls": number(row.median)}

    return _by_noise(kept, dict(zip(changes, changes, strict=True)), about)


@as_table
def _by_noise(
    kept: pd.DataFrame, headings: dict[str, str], about: Callable[[Any], dict[str, str]]
) -> Lines:
    """A line per strategy: `about` its runs as assumed, and wrong answers by noise."""
    for case, runs in groups(kept, "paper", "instance", "strategy"):
        by = {row.noise: row for row in lines(runs)}
        first = dict(zip(("paper", "instance", "strategy"), case, strict=True))
        wrong = {head: _wrong(by[name]) if name in by else "–" for name, head in headings.items()}
        yield {**first, **about(by["as assumed"]), **wrong}


def rates_table(root: Path) -> str:
    """Errors and cost on Bernoulli rewards by what is told of sigma, from the kept table."""
    kept = pd.read_csv(root / "data/assumptions/errors.csv")
    return markdown(
        {
            "instance": row.instance,
            "told": row.noise,
            "stopped": f"{100 * row.stopped / row.runs:.1f}%",
            "wrong": _wrong(row),
            "median pulls": number(row.median),
        }
        for row in lines(kept[~kept.noise.isin(list(HEADINGS))])
    )


def _wrong(row) -> str:
    share = proportion("", int(row.wrong), int(row.runs))
    return f"{100 * share.value:.1f}% (to {100 * share.high:.1f})"
