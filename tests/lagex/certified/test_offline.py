"""Certificates without noise, against the slow reference, and the kept tables of them."""

import hashlib
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
import yaml

from bestarm.common.files import data_folder
from bestarm.core.anytime import mixture_threshold, shrunk_counts
from bestarm.core.estimates import wilson
from bestarm.core.status import Status
from bestarm.lagex.certified import errors, reference, times
from bestarm.lagex.certified.confidence import without_directions
from bestarm.lagex.certified.offline import WITHOUT, Certificate, Parts, best_fixed, noiseless
from bestarm.lagex.certified.runs import Options, make_rules
from bestarm.lagex.certified.tables import ERRORS, TIMES
from bestarm.lagex.problem import instances
from bestarm.lagex.vertices import constraint_rows

PROBLEM = instances()["triangle"].problem
RULES = make_rules("Certified", 0.1, 0.1, Options(), PROBLEM.variances, 1.0, PROBLEM.limits)
OMEGA = np.array([0.5, 0.2, 0.3])
#: Parts of a grid of policies, and accuracy of times by it.
GRID, CLOSE = 400, 0.06


def gap(parts: Parts, time: float) -> float:
    """The shortfall less r at a time, by the cone program's reference and a grid of policies."""
    counts = time * OMEGA
    level = RULES.level - (0.0 if parts.union else np.log(1.0 + PROBLEM.limits.size))
    beta = mixture_threshold(level, counts, RULES.n0) if parts.mixture else level
    shrunk = shrunk_counts(counts, RULES.n0) if parts.mixture else counts
    rows = constraint_rows(PROBLEM.matrix, PROBLEM.limits)
    seen = without_directions(
        PROBLEM.means, rows, 2 * beta * PROBLEM.variances / shrunk, 2 * beta / shrunk
    )
    safe = reference.best_safe_policy(seen, 0.0)
    if safe is None:
        return np.inf
    policies = reference.grid(3, GRID)
    doubt = seen if parts.unsure else seen._replace(u=np.full(3, 1e-20))  # rounding
    others = policies[reference.may_be_feasible(doubt, policies)]
    return reference.shortfalls(seen, safe[0], others).max() - RULES.r


@pytest.mark.parametrize(
    "parts", [Parts(), *(p for p in WITHOUT.values() if p.split)], ids=lambda p: str(tuple(p))
)
def test_certificates_close_when_the_reference_says(parts):
    """A little later the reference's shortfall is below r; a little earlier it is above."""
    time = Certificate(PROBLEM, RULES, parts).time(OMEGA)
    assert gap(parts, (1.0 + CLOSE) * time) <= 0.0
    assert gap(parts, (1.0 - CLOSE) * time) > 0.0


def test_the_box_alone_takes_longer():
    box = Certificate(PROBLEM, RULES, Parts(split=False)).time(OMEGA)
    assert box > 1.1 * Certificate(PROBLEM, RULES).time(OMEGA)


def test_no_allocation_nearby_is_better_than_the_best_fixed():
    best, rng = best_fixed(PROBLEM, RULES), np.random.default_rng(0)
    assert best.time <= noiseless(PROBLEM, RULES)[0]
    certificate = Certificate(PROBLEM, RULES)
    for _ in range(30):
        omega = best.omega * np.exp(0.2 * rng.standard_normal(3))
        assert certificate.time(omega / omega.sum(), best.time) >= 0.995 * best.time


@pytest.mark.parametrize(("name", "module"), [(TIMES, times), (ERRORS, errors)])
def test_kept_tables_are_whole_and_those_of_their_provenance(name, module):
    path = data_folder() / name
    said = yaml.safe_load((path.parent / "provenance.yaml").read_text())
    assert hashlib.sha256(path.read_bytes()).hexdigest() == said["sha256"]
    table = pd.read_csv(path)
    assert list(table) == module.COLUMNS
    rows = len(times.WITHOUT) + 4 if module is times else 1
    assert len(table) == rows * len(module.jobs())


def test_kept_times_are_those_of_this_code():
    table = pd.read_csv(data_folder() / TIMES)
    kept = table[(table.instance == "triangle") & (table.delta == 0.1) & (table.r == 0.1)]
    found = pd.DataFrame(times.times("triangle", 0.1, 0.1))
    assert found.allocation.tolist() == kept.allocation.tolist()
    np.testing.assert_allclose(found.time, kept.time, rtol=0.05)


def test_kept_errors_are_below_delta():
    """On every instance the upper limit of Wilson's interval."""
    table = pd.read_csv(data_folder() / ERRORS)
    assert (table.runs == errors.RUNS).all()
    assert (table.stopped == table.runs).all()
    for row in table.itertuples():
        assert wilson(row.wrong / row.runs, row.runs)[1] <= row.delta


def test_kept_errors_are_those_of_this_code():
    """The first runs of a cell are among those kept: no more errors in fewer runs."""
    table = pd.read_csv(data_folder() / ERRORS)
    kept = table[(table.instance == "random 2") & (table.delta == 0.1)].iloc[0]
    found = errors.wrong("random 2", 0.1, 50)
    assert [found["arms"], found["constraints"]] == [kept.arms, kept.constraints]
    assert found["wrong"] <= kept.wrong
    assert found["median"] == pytest.approx(kept["median"], rel=0.3)


def test_a_run_that_ends_without_a_policy_is_wrong(monkeypatch):
    """It said that no policy is feasible, of a program with an interior."""
    outcome = namedtuple("outcome", ["status", "excess", "regret", "tau"])
    run = outcome(Status.STOPPED, np.nan, np.nan, 9)
    monkeypatch.setattr(errors, "prepare", lambda instance, cell: lambda streams: run)
    found = errors.wrong("random 1", 0.1, 3)
    assert [found["infeasible"], found["suboptimal"], found["wrong"]] == [3, 3, 3]


@pytest.mark.parametrize("number", [1, 17, 30])
def test_random_programs_have_an_interior(number):
    problem = errors.random_program(number).problem
    policies = np.random.default_rng(0).dirichlet(np.ones(problem.means.size), 20_000)
    assert (problem.limits - policies @ problem.matrix.T).min(axis=1).max() > 0.02
