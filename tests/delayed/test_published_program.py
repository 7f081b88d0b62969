"""Reading `as-published` against what the published program computes, step by step.

data/delayed-program holds its bounds and sets of arms on the random numbers used here.
"""

import hashlib
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from bestarm.delayed import reference
from bestarm.delayed.steps import ACCEPTED
from delayed.test_racing import compiled, literal

TRACES = Path(__file__).parents[2] / "data" / "delayed-program" / "traces.parquet"
RUNS = [("bounded", 10, 0), ("bounded", 10, 1), ("bounded", 1, 0), ("free", 10, 0)]
#: The most that the program's optimiser adds to the least half-width, or takes from it: the radius
#: of rewards is at 1 - delta_p, so that a smaller delta_p than the best is not always wider.
OFF_BY = 0.004


def case_of(family, batch, seed, strategy):
    """The run of a trace, for `compiled` and `literal`."""
    if family == "bounded":
        means, noise, delay = 5.0 - (np.arange(10) / 10) ** 0.6, (0.03, 0.03), 50
    else:
        means, noise, delay = 20.0 - np.arange(10), (0.5, 0.25), 100
    case = {
        "means": means[np.random.default_rng([seed, 3]).permutation(10)],
        "sigma": noise[0],
        "sigma_p": noise[1],
        "delay": (delay, delay),
        "batch": batch,
        "by_slot": True,
        "survivors": True,
    }
    return case | ({"split": "published"} if strategy == "Partial" else {"feedback": "full"})


def trace(family, batch, seed, strategy):
    table = pd.read_parquet(TRACES)
    wanted = {"family": family, "batch": batch, "seed": seed, "strategy": strategy}
    for name, value in wanted.items():
        table = table[table[name] == value]
    return table


def as_the_program(pieces, n, delta):
    """The split as its optimiser finds it: SLSQP from halves, which stops short of the best."""
    return _as_the_program(tuple(pieces), n, delta)


@cache
def _as_the_program(pieces, n, delta):

    def width(shares):
        return sum(
            weight * reference.radius(scale, tau, share / n)
            for (scale, tau, weight), share in zip(pieces, shares, strict=True)
        )

    least = {"type": "ineq", "fun": lambda shares: delta - shares[0] - shares[1]}
    bounds = ((1e-6, delta),) * 2
    found = minimize(width, [delta / 2, delta / 2], bounds=bounds, constraints=least).x
    return np.array([delta - found[1], found[1]]), width(found)


def test_traces_are_those_described():
    provenance = TRACES.with_name("provenance.yaml").read_text()
    assert f"sha256: {hashlib.sha256(TRACES.read_bytes()).hexdigest()}" in provenance


@pytest.mark.parametrize("strategy", ["Partial", "Full"])
@pytest.mark.parametrize("run", RUNS, ids=str)
def test_every_step_is_the_programs(run, strategy):
    """With its optimiser: the same feedbacks in the same order, bounds to 1e-6
    (gradients by differences turn a last digit into the eighth), the arms that leave S."""
    theirs = trace(*run, strategy)
    case = case_of(*run, strategy)
    rules = {"find_split": as_the_program} if strategy == "Partial" else {}
    ours = pd.DataFrame(
        literal(run[2], **case, **rules).log,
        columns=["step", "slot", "sharing", "left", "arm", "centre", "half_width"],
    )
    for name in ("step", "slot", "sharing", "left", "arm"):
        np.testing.assert_array_equal(ours[name], theirs[name])
    for name in ("centre", "half_width"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-6)


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_the_best_split_ends_the_same_race(run):
    """The reading splits exactly: the same answer, within 2% of the program's steps."""
    for strategy in ("Partial", "Full"):
        theirs = trace(*run, strategy)
        ours = compiled(run[2], **case_of(*run, strategy))
        assert theirs.left.iloc[-1] == 0
        assert ours.stopped
        assert abs(ours.time - theirs.step.iloc[-1]) <= (
            0.02 * ours.time if strategy == "Partial" else 0
        )
        best = np.argsort(-case_of(*run, strategy)["means"])[:2]
        assert set(np.flatnonzero(ours.sets == ACCEPTED)) == set(best)


def test_how_far_the_programs_optimiser_is_from_the_best_split():
    """Half-widths differ by less than 0.4%, over both families and all F and P that occur."""
    rng = np.random.default_rng(4)
    for sigma, sigma_p, arms, delay in ((0.03, 0.03, 10, 50), (0.5, 0.25, 100, 100)):
        for _ in range(50):
            n, pulls = int(rng.integers(1, arms + 1)), int(np.exp(rng.uniform(0, 4)))
            pieces = [(2 * sigma, pulls, 1.0), (2 * sigma_p, rng.integers(1, delay), 1.0 / pulls)]
            widths = []
            for find in (as_the_program, reference.best_split):
                share = find(pieces, n, 0.05)[0][1]
                levels = (1.0 - share, share)
                widths.append(
                    sum(
                        weight * reference.radius(scale, tau, level / n)
                        for (scale, tau, weight), level in zip(pieces, levels, strict=True)
                    )
                )
            assert widths[0] == pytest.approx(widths[1], rel=OFF_BY)
