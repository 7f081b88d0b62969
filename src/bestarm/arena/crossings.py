"""Make data/anytime/crossings.csv: how often simulated runs violate bounds of core/anytime.py.

    python -m bestarm.arena.crossings --out data/anytime/crossings.csv

Every run goes on to HORIZON pulls, and is sampled so as to help a violation.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from bestarm.core.anytime import beta_log, half_normal_log, kaufmann_koolen_threshold, t_log
from bestarm.core.compile import jit
from bestarm.core.streams import replication_streams, stream_key
from bestarm.runs.kept import Job, KeptTable, command_line

DELTA, RUNS, HORIZON, SEED = 0.05, 10_000, 100_000, 2023
#: Which of several streams is pulled next.
IN_TURN, LARGEST, SMALLEST = "in turn", "largest deviation", "smallest deviation"
SAMPLING = (IN_TURN, LARGEST, SMALLEST)
#: Columns of the table.
COLUMNS = ["bound", "streams", "sampling", "delta", "horizon", "runs", "crossed"]
#: Names of the bounds of `vector_bounds`, in its order.
VECTOR = ("mixture, n0 = 1", "mixture, n0 = 100", "stylised", "Kaufmann & Koolen")


@jit
def next_stream(sampling: int, time: int, totals: np.ndarray, counts: np.ndarray) -> int:
    """In turn, or the stream whose |S| / sqrt(N) is largest or smallest."""
    if sampling == 0:
        return time % counts.size
    sign = 1.0 if sampling == 1 else -1.0
    best, chosen = -math.inf, 0
    for a in range(counts.size):
        score = sign * totals[a] ** 2 / counts[a]
        if score > best:
            best, chosen = score, a
    return chosen


@jit
def _terms(total: float, count: float, out: np.ndarray) -> None:
    """What a stream adds to each of the first four statistics of `vector_bounds`."""
    half_square = 0.5 * total * total
    out[0] = half_square / (count + 1.0) - 0.5 * math.log1p(count)
    out[1] = half_square / (count + 100.0) - 0.5 * math.log1p(count / 100.0)
    out[2] = half_square / count
    out[3] = out[2] - 2.0 * math.log(4.0 + math.log(count))


@jit
def vector_bounds(n_streams: int, sampling: int, horizon: int, environment, out) -> None:
    """The largest value, over a run, of what each bound of VECTOR compares with a constant.

    Args:
        n_streams: of standard normal rewards; each is pulled once first.
        sampling: index into SAMPLING.
        horizon: pulls of the run.
        environment: generator of the rewards.
        out: (4,) overwritten.
    """
    totals, counts = np.zeros(n_streams), np.zeros(n_streams)
    terms, now = np.zeros((n_streams, 4)), np.zeros(4)
    out[:] = -math.inf
    for time in range(horizon):
        a = time if time < n_streams else next_stream(sampling, time, totals, counts)
        totals[a] += environment.standard_normal()
        counts[a] += 1.0
        now -= terms[a]
        _terms(totals[a], counts[a], terms[a])
        now += terms[a]
        if time >= n_streams - 1:
            for i in range(4):
                value = now[i] - math.log(1.0 + math.log(time + 1.0)) if i == 2 else now[i]
                out[i] = max(out[i], value)


@jit
def one_sided(n1: float, horizon: int, environment) -> float:
    """The largest `half_normal_log` of a run whose pulls count double while their sum is negative.

    Coefficients may depend on the past, as those of `baics/e_values.py` do.
    """
    u, v, largest = 0.0, 0.0, -math.inf
    for _ in range(horizon):
        c = 2.0 if u < 0.0 else 1.0
        u += c * environment.standard_normal()
        v += c * c
        largest = max(largest, half_normal_log(u, v, n1))
    return largest


@jit
def bernoulli(mean: float, horizon: int, environment) -> float:
    """The largest `beta_log` of a run, prior Beta(1/2, 1/2)."""
    successes, largest = 0.0, -math.inf
    for time in range(horizon):
        successes += 1.0 if environment.random() < mean else 0.0
        failures = time + 1.0 - successes
        largest = max(largest, beta_log(successes, failures, mean, 0.5, 0.5))
    return largest


@jit
def unknown_variance(sigma: float, horizon: int, environment) -> float:
    """The largest `t_log` of a run, n0 = 1."""
    total, squares, largest = 0.0, 0.0, -math.inf
    for time in range(horizon):
        reward = sigma * environment.standard_normal()
        total += reward
        squares += reward * reward
        largest = max(largest, t_log(total, squares, time + 1.0, 1.0))
    return largest


class Case(NamedTuple):
    """A bound of one stream, and what is simulated of it."""

    bound: str
    sampling: str
    largest: Callable[..., float]  # (parameter, horizon, environment)
    parameter: float


SINGLE = (
    Case("half-normal, n1 = 1", "double when behind", one_sided, 1.0),
    Case("half-normal, n1 = 20", "double when behind", one_sided, 20.0),
    Case("Beta(1/2, 1/2)", "mean 0.5", bernoulli, 0.5),
    Case("Beta(1/2, 1/2)", "mean 0.02", bernoulli, 0.02),
    Case("t, n0 = 1", "sigma 3", unknown_variance, 3.0),
)


def environments(name: str, runs: int) -> Iterator[Any]:
    """The generators of the runs of one case."""
    key = stream_key(SEED, "", "crossings", name, "")
    return (streams.environment for streams in replication_streams(key, range(runs)))


def crossed_vector(n_streams: int, sampling: str, runs: int, horizon: int) -> list[dict]:
    """A row for each bound of VECTOR: the runs that violate it at level DELTA."""
    log_inverse = math.log(1.0 / DELTA)
    counts = np.ones(n_streams)
    constant = kaufmann_koolen_threshold(log_inverse, counts) - 2.0 * n_streams * math.log(4.0)
    limits = np.array([log_inverse, log_inverse, log_inverse, constant])
    bounds, crossed = np.empty(4), np.zeros(4, np.int64)
    for environment in environments(f"{n_streams} {sampling}", runs):
        vector_bounds(n_streams, SAMPLING.index(sampling), horizon, environment, bounds)
        crossed += bounds >= limits
    return [
        _row(bound, n_streams, sampling, int(count), runs, horizon)
        for bound, count in zip(VECTOR, crossed, strict=True)
    ]


def crossed_single(index: int, runs: int, horizon: int) -> list[dict]:
    """The row of SINGLE[index]: the runs in which it reaches ln(1 / DELTA)."""
    case = SINGLE[index]
    largest = [
        case.largest(case.parameter, horizon, environment)
        for environment in environments(f"{case.bound} {case.sampling}", runs)
    ]
    crossed = int((np.array(largest) >= math.log(1.0 / DELTA)).sum())
    return [_row(case.bound, 1, case.sampling, crossed, runs, horizon)]


def _row(bound: str, n_streams: int, sampling: str, crossed: int, runs: int, horizon: int) -> dict:
    values = (bound, n_streams, sampling, DELTA, horizon, runs, crossed)
    return dict(zip(COLUMNS, values, strict=True))


def jobs() -> list[Job]:
    """One for every way to sample."""
    of_vectors = [(1, IN_TURN), *((6, sampling) for sampling in SAMPLING)]
    return [
        *(
            Job(f"{n}-{s.replace(' ', '-')}", crossed_vector, (n, s, RUNS, HORIZON))
            for n, s in of_vectors
        ),
        *(Job(f"single-{i}", crossed_single, (i, RUNS, HORIZON)) for i in range(len(SINGLE))),
    ]


TABLE = KeptTable(
    "bestarm.arena.crossings",
    f"runs of {HORIZON:,} pulls that violate a time-uniform bound at delta = {DELTA:g}",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    ("single-0",),
    COLUMNS,
)


if __name__ == "__main__":
    command_line("bestarm.arena.crossings", __doc__ or "")
