"""Tables of docs/guarantees.md: bounds compared, how often they are violated, what proofs cost."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bestarm.baics.evidence import MEAN_WEIGHT
from bestarm.common.prose import markdown, number
from bestarm.common.tables import groups, lines, read_table
from bestarm.core.anytime import (
    half_normal_threshold,
    kaufmann_koolen_threshold,
    mean_radius,
    mixture_threshold,
    shrunk_counts,
    t_radius,
)
from bestarm.core.estimates import proportion
from bestarm.core.information import stylised_threshold
from bestarm.pipeline import registry
from bestarm.pipeline.crossings import DELTA, SAMPLING, VECTOR

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


#: The bounds of `pipeline/crossings.py` by name, then those of one stream and one side.
THRESHOLDS: dict[str, Threshold] = dict(
    zip(VECTOR, (_mixture(1.0), _mixture(100.0), _stylised, kaufmann_koolen_threshold), strict=True)
)
ONE_SIDED = {f"half-normal, n1 = {n1:g}, one side": _half_normal(n1) for n1 in (1.0, 20.0)}


def threshold_table() -> str:
    """What sum N err^2 / 2 must exceed at delta = DELTA, by streams and pulls of each."""
    level = math.log(1.0 / DELTA)
    rows = []
    for streams in STREAMS:
        for name, threshold in (THRESHOLDS | (ONE_SIDED if streams == 1 else {})).items():
            values = (threshold(level, np.full(streams, float(pulls))) for pulls in PULLS)
            shown = {f"N = {pulls:,}": number(v) for pulls, v in zip(PULLS, values, strict=True)}
            rows.append({"streams": streams, "bound": name, **shown})
    return markdown(pd.DataFrame(rows))


def crossing_table(root: Path) -> str:
    """How often runs violate each bound, from the kept table."""
    rows = []
    for row in lines(pd.read_csv(root / "data/anytime/crossings.csv")):
        share = proportion("", int(row.crossed), int(row.runs))
        said = f"{100 * share.value:.2f}% ({100 * share.low:.2f} to {100 * share.high:.2f})"
        how = row.sampling if row.streams > 1 or row.sampling not in SAMPLING else "–"
        rows.append({"bound": row.bound, "streams": row.streams, "sampled": how, "violated": said})
    return markdown(pd.DataFrame(rows))


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


def _by_noise(
    kept: pd.DataFrame, headings: dict[str, str], about: Callable[[Any], dict[str, str]]
) -> str:
    """A line per strategy: `about` its runs as assumed, and wrong answers by noise."""
    rows = []
    for case, runs in groups(kept, "paper", "instance", "strategy"):
        by = {row.noise: row for row in lines(runs)}
        first = dict(zip(("paper", "instance", "strategy"), case, strict=True))
        wrong = {head: _wrong(by[name]) if name in by else "–" for name, head in headings.items()}
        rows.append({**first, **about(by["as assumed"]), **wrong})
    return markdown(pd.DataFrame(rows))


def rates_table(root: Path) -> str:
    """Errors and cost on Bernoulli rewards by what is told of sigma, from the kept table."""
    kept = pd.read_csv(root / "data/assumptions/errors.csv")
    rows = [
        {
            "instance": row.instance,
            "told": row.noise,
            "stopped": f"{100 * row.stopped / row.runs:.1f}%",
            "wrong": _wrong(row),
            "median pulls": number(row.median),
        }
        for row in lines(kept[~kept.noise.isin(list(HEADINGS))])
    ]
    return markdown(pd.DataFrame(rows))


def _wrong(row) -> str:
    share = proportion("", int(row.wrong), int(row.runs))
    return f"{100 * share.value:.1f}% (to {100 * share.high:.1f})"


def cost_table(root: Path) -> str:
    """What the proof costs BAICS: mean pulls with the proved rule over those with the paper's."""
    table = read_table(root / "figures/baics/proven.csv")
    rows = []
    for (strategy, reading), some in groups(
        table[table.statistic == "budget_ratio"], "algorithm", "reading"
    ):
        found = {row.instance: row for row in lines(some)}
        shown = {
            name: f"{row.value:.2f} ({row.low:.2f} to {row.high:.2f})"
            for name, row in sorted(found.items())
        }
        rows.append({"sampling": strategy, "stopping": f"`{reading}`", **shown})
    return markdown(pd.DataFrame(rows))


def sigma_table(root: Path) -> str:
    """What it costs BAICS not to know sigma, from the kept table."""
    instances = registry.PAPERS["baics"].problems.instances()
    rows = []
    for row in lines(pd.read_csv(root / "data/unknown-sigma/times.csv")):
        n_arms, n_groups = np.shape(instances[row.instance].means)
        count = row.unknown / (n_arms * n_groups)
        level = math.log(2 * n_groups * n_arms / row.delta)
        half = t_radius(level, 1.0, count, MEAN_WEIGHT), mean_radius(level, count, MEAN_WEIGHT)
        rows.append(
            {
                "instance": row.instance,
                "sampling": row.strategy,
                "σ known": number(row.known),
                "σ unknown": number(row.unknown),
                "ratio": f"{row.ratio:.2f} ({row.low:.2f} to {row.high:.2f})",
                "t over normal interval": f"{half[0] / half[1]:.3f}",
            }
        )
    return markdown(pd.DataFrame(rows))


def rate_price_table(root: Path) -> str:
    """What rates cost BAICS over the yardstick, from the kept table."""
    rows = [
        {
            "rates": row.instance,
            "sampling": row.strategy,
            "bets": number(row.bets),
            "yardstick": number(row.yardstick),
            "ratio": f"{row.ratio:.2f} ({row.low:.2f} to {row.high:.2f})",
        }
        for row in lines(pd.read_csv(root / "data/rates/times.csv"))
    ]
    return markdown(pd.DataFrame(rows))


#: Instances of figures/cbmai/patient by what they are, the last two without a feasible mixture.
PATIENT = {
    "average": ("A1", "A2", "A3"),
    "hard": ("H1", "H2", "H3"),
    "random": (),
    "two constraints": ("D1P", "D2P", "D3P", "D1I", "D2I", "D3I"),
    "three constraints": ("three-constraints",),
    "infeasible: too dear": ("too-dear",),
    "infeasible: conflict": ("conflict",),
}


def patient_table(root: Path) -> str:
    """Mean error rate of CBMAI's strategies over instances and budgets, by kind of instance."""
    table = read_table(root / "figures/cbmai/patient.csv")
    table = table[(table.statistic == "error_rate") & (table.other == "")]
    kinds = {name: kind for kind, names in PATIENT.items() for name in names}
    table = table.assign(kind=table.instance.map(kinds).fillna("random"))
    rows = []
    for kind in PATIENT:
        some = table[table.kind == kind]
        found = some.groupby("strategy", sort=False).value.mean()
        shown = {name: f"{100 * value:.1f}%" for name, value in found.items()}
        rows.append({"instances": f"{kind} ({some.instance.nunique()})", **shown})
    return markdown(pd.DataFrame(rows))


#: Samplers of figures/baics/boundary: readings with the paper's rule, and with the proved one.
SAMPLERS = {
    "T-a-SCS": ("as-written", "proven"),
    "exact maximiser": ("maximiser", "maximiser+proven"),
}


def boundary_table(root: Path) -> str:
    """Wrong answers of BAICS where they are likeliest, with the paper's rule and the proved one."""
    table = read_table(root / "figures/baics/boundary.csv")
    found = {
        (row.instance, row.reading, row.delta): f"{number(100 * row.value)}% (to "
        f"{number(100 * row.high)})"
        for row in lines(table[table.statistic == "wrong_stops"])
    }
    deltas = sorted({delta for _, _, delta in found}, reverse=True)
    rows = []
    for instance in dict.fromkeys(instance for instance, _, _ in found):
        for sampler, (unproved, proved) in SAMPLERS.items():
            paper = {f"paper's rule, δ = {deltas[0]:g}": found[instance, unproved, deltas[0]]}
            ours = {f"proved, δ = {d:g}": found[instance, proved, d] for d in deltas}
            rows.append({"truth": instance, "sampling": sampler, **paper, **ours})
    return markdown(pd.DataFrame(rows))
