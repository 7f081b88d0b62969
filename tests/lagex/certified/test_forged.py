"""Forged certificates: whatever passes the check is true of the data that the file states."""

import json
import random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from bestarm.lagex import Certified, check
from bestarm.lagex.certified import reference
from forgeries import accepted

HIGH = 1e140


def counterexample(data: dict) -> str:
    """What is wrong with the claim of a certificate, by brute force in floating point; or ""."""
    names = ("pulls", "reward_sums", "cost_sums", "limits", "delta", "n0", "sigma", "cost_sigma")
    # what is larger than HIGH is as bad at HIGH, whose square is a float
    stated: Any = [np.clip(np.array(data[name], dtype=float), -HIGH, HIGH) for name in names]
    seen = reference.confidence_set(*stated)
    k, rows = seen.means.size, seen.rows
    points: Any = reference.grid(k, 24)
    policy = None if data["policy"] is None else np.array(data["policy"], dtype=float)
    if policy is not None:
        if min(policy) < 0.0 or abs(policy.sum() - 1.0) > 1e-12:
            return "no policy"
        radius = np.sqrt(policy**2 @ seen.u)
        if (rows @ policy + radius > data["eps"] + 1e-9 * (1.0 + radius + abs(rows).max())).any():
            return "a limit"
    # the best policies if costs are those, of all that may be true, which favour some policy most
    for point in points[:: max(1, len(points) // 12)]:
        radius = np.sqrt(point**2 @ seen.u)
        slope = np.zeros(k)
        if policy is not None and (apart := np.sqrt((point - policy) ** 2 @ seen.h)) > 0.0:
            slope = seen.h * (point - policy) / apart
        favourable = rows - seen.u * point / max(radius, 1e-300)
        scale = abs(favourable).max(1, keepdims=True)
        found: Any = linprog(
            -(seen.means + slope) / max(1e-300, abs(seen.means + slope).max()),
            A_ub=favourable / scale,
            b_ub=np.full(len(rows), -1e-6),
            A_eq=np.ones((1, k)),
            b_eq=[1.0],
        )
        if found.success:
            points = np.vstack([points, found.x])
    inside = points[(points @ rows.T < (1.0 - 1e-6) * np.sqrt(points**2 @ seen.u)[:, None]).all(1)]
    if policy is None:
        return "a feasible policy" if len(inside) else ""
    worst = max(reference.shortfalls(seen, policy, inside), default=0.0)
    return (
        "a better policy" if worst > data["r"] * (1.0 + 1e-6) + 1e-9 * abs(seen.means).max() else ""
    )


def run(k: int, means: list, matrix: list, limits: list, **options) -> dict:
    """The certificate of a run without noise."""
    s: Any = Certified(k, limits, **options)
    while not s.done:
        for a, n in s.wanted.items():
            s.tell(a, n * means[a], [n * row[a] for row in matrix], pulls=n)
    return json.loads(s.certificate())


@pytest.fixture(scope="module")
def certificates() -> list[dict]:
    """With a single piece and with several, with one and two limits, and without a policy."""
    one = ([3.0, 0.0, 1.5], [[1.0, 0.0, 0.5]])
    two = ([1.0, 0.2, 0.5], [[1.0, 0.0, 0.0], [0.0, 0.5, 1.0]])
    made = [
        run(3, *one, [0.6], r=2.0),
        run(3, *one, [0.6], r=0.4),
        run(3, *two, [0.4, 0.6], r=0.5),
        run(3, *one, [-0.5], r=1.0),
        run(3, *two, [0.2, 0.2], r=0.5),
    ]
    assert max(len(data["splits"]) for data in made) > 3
    return [*made, {name: made[0][name] for name in check.FIELDS}]


def test_brute_force_sees_what_is_wrong(certificates):
    for data in certificates:
        assert counterexample(data) == ""
    good, none = certificates[1], certificates[3]
    assert counterexample(good | {"policy": [1.0, 0.0, 0.0]}) == "a limit"
    assert counterexample(good | {"policy": [0.0, 1.0, 0.0]}) == "a better policy"
    assert counterexample(good | {"r": 0.1}) == "a better policy"
    assert counterexample(good | {"policy": None}) == "a feasible policy"
    assert counterexample(none | {"limits": [0.5]}) == "a feasible policy"


@pytest.mark.parametrize(
    ("seed", "mutants"), [(0, 400), pytest.param(1, 30_000, marks=pytest.mark.long)]
)
def test_what_passes_is_true(certificates, tmp_path, seed, mutants):
    """And most that is changed does not pass, with no error but those that say what is wrong."""
    rng, path, number = random.Random(seed), tmp_path / "certificate.json", 0
    for data in accepted(check, certificates, rng, path, mutants, "margins"):
        number += 1
        assert check.claim(data).isprintable()
        assert counterexample(data) == "", path.read_text()
    assert mutants / 100 < number < mutants / 2
