"""Certificates of lower bounds on rates: written, checked in exact arithmetic, and forged."""

import json
import random

import numpy as np
import pytest

from bestarm.baics import check
from bestarm.baics.lower_bound import certificate
from bestarm.baics.problem import Instance, solve
from bestarm.core.inputs import InputError
from forgeries import accepted


def instance(means, weights=(1.0, 1.0), **fields) -> Instance:
    return Instance(name="x", means=means, weights=list(weights), rewards="bernoulli", **fields)


INSTANCES = {
    "no minimum": instance([[0.06, 0.06], [0.045, 0.04], [0.04, 0.03]], constrained=0),
    "minima": instance([[0.6, 0.5], [0.7, 0.1], [0.3, 0.6]], (0.3, 0.7), minimum=[0.4, 0.3]),
    "none feasible": instance([[0.1, 0.6], [0.6, 0.2]], minimum=0.4),
    "close": instance([[0.3 + 1e-6, 0.2], [0.3, 0.2]], (1.0, 3.0), constrained=0),
    "0 and 1": instance([[1.0, 0.5], [0.5, 0.0]], constrained=0),
    "one minimum": instance([[0.5, 0.2], [0.1, 0.9]], constrained=1, minimum=0.2),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_what_is_written_holds_and_is_the_optimum(name):
    data, found = json.loads(certificate(INSTANCES[name])), solve(INSTANCES[name])
    assert all(holds for _, holds in check.lines(data)), list(check.lines(data))
    assert found.time * (1.0 - 1e-5) <= data["time"] <= found.time * (1.0 + 1e-9)
    assert check.claim(data).isprintable()


@pytest.mark.parametrize("seed", range(20))
def test_of_random_instances(seed):
    rng = np.random.default_rng(seed)
    m, shape = seed % 3, (2 + seed % 4, 2)
    minimum = rng.uniform(0.0, 0.5, m).tolist()
    means, weights = rng.beta(0.5, 0.5, shape).tolist(), rng.dirichlet([2.0, 2.0])
    data = json.loads(certificate(instance(means, weights, constrained=m, minimum=minimum or 0.0)))
    assert all(holds for _, holds in check.lines(data)), list(check.lines(data))


def counterexample(data: dict) -> str:
    """What is wrong with the claim of a certificate, by the search for T* itself; or ""."""
    m = len(data["minimum"])
    stated = instance(data["means"], data["weights"], constrained=m, minimum=data["minimum"] or 0.0)
    time = solve(stated).time
    return f"T* is {time}" if data["time"] > time * (1.0 + 1e-6) else ""


def test_the_search_sees_what_is_wrong():
    data = json.loads(certificate(INSTANCES["minima"]))
    assert counterexample(data) == ""
    assert counterexample(data | {"time": 1.001 * data["time"]})
    assert counterexample(data | {"means": [[0.6, 0.5], [0.7, 0.1], [0.3, 0.1]]})


@pytest.mark.parametrize(
    ("seed", "mutants"), [(0, 600), pytest.param(1, 20_000, marks=pytest.mark.long)]
)
def test_what_passes_is_true(tmp_path, seed, mutants):
    """And most that is changed does not pass, with no error but those that say what is wrong."""
    rng, path, number = random.Random(seed), tmp_path / "certificate.json", 0
    written = [json.loads(certificate(of)) for of in INSTANCES.values()]
    for data in accepted(check, written, rng, path, mutants):
        number += 1
        assert check.claim(data).isprintable()
        assert counterexample(data) == "", path.read_text()
    assert mutants / 100 < number < mutants / 2


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"time": 1e9}, "near"),
        ({"alternatives": [INSTANCES["minima"].means], "shares": [1.0]}, "alternative 1"),
        ({"shares": [-1.0] * 3}, "weights"),
        ({"means": [[0.6, 0.5], [0.6, 0.5], [0.3, 0.6]]}, "one answer"),
        ({"minimum": [0.4, 1.5]}, "rates"),
        ({"kind": "another"}, "fields: form of kind"),
    ],
)
def test_the_line_that_fails_is_named(change, line):
    data = json.loads(certificate(INSTANCES["minima"]))
    if "shares" in change:
        change["shares"] = change["shares"][:1] * len(change.get("alternatives", data["shares"]))
    assert next(said for said, holds in check.lines(data | change) if not holds) == line


def test_gaussian_rewards_and_ties_have_none():
    with pytest.raises(InputError, match="rewards: a certificate is only"):
        certificate(Instance(name="x", means=[[1.0], [0.0]], weights=[1.0]))
    with pytest.raises(InputError, match="means: there is no bound"):
        certificate(instance([[0.5, 0.5], [0.5, 0.5]], constrained=0))
