"""The toy of docs/adding-a-paper.md: steps, an ask/tell object and a claim."""

import doctest
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import bestarm
from bestarm.common.paper import Cell
from bestarm.core.streams import run_streams
from bestarm.verdicts.claims import read_claims

HERE = Path(__file__).parent / "toy"


@pytest.fixture(autouse=True)
def added(monkeypatch):
    """`bestarm.toy` is the toy's folder."""
    monkeypatch.setattr(bestarm, "__path__", [*bestarm.__path__, str(HERE)])


def test_a_person_is_asked_for_the_pulls_that_are_simulated(monkeypatch):
    """The loop is compiled anew: its cache does not look at files outside of the package."""
    toy, simulation = import_module("bestarm.toy"), import_module("bestarm.toy.strategies")
    uncached = replace(simulation.STRATEGIES["Equal"], cache=False)
    monkeypatch.setitem(simulation.STRATEGIES, "Equal", uncached)
    instance = import_module("bestarm.toy.problem").instances()["two-arms"]
    cell = Cell("two-arms", "Equal", {"cap": 20}, "as-written")
    run = simulation.prepare(instance, cell)(run_streams(1, 0))
    s, environment = toy.Equal(budget=20), run_streams(1, 0).environment
    while not s.done:
        arm = s.ask()
        s.tell(arm, instance.means[arm] + environment.standard_normal())
    assert (s.answer, s.told) == (run.answer, run.tau)
    np.testing.assert_array_equal(run.pulls, [10, 10])
    assert toy.Equal.from_dict(s.to_dict()).answer == s.answer


def test_its_example_runs():
    module = import_module("bestarm.toy.interactive")
    assert doctest.testmod(module) == (0, 4)


def test_its_claim_is_one():
    (claim,) = read_claims(HERE / "data/claims.yaml").claims
    targets = import_module("bestarm.toy.targets").TARGETS
    assert claim.tested.target in {target.name for target in targets}
