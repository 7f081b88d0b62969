"""The bound from the likelihood of everything observed: its formula, its martingale, its misses."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar

from bestarm.common.paper import Cell
from bestarm.core.inputs import InputError
from bestarm.core.streams import run_streams
from bestarm.delayed import Mixture, Partial, reference, scales
from bestarm.delayed.bounds import AGE, ARM, MIXTURE, RECORDED, Rules
from bestarm.delayed.mixture import mixture_interval, running_information, sum_running
from bestarm.delayed.problem import MODELS, alike
from bestarm.delayed.steps import Race, keep_partial, make_state, observe_partial
from bestarm.delayed.strategies import prepare
from delayed.test_bounds import random_pulls, tally_of
from delayed.test_racing import FEEDBACKS

SCALES = {"sigma": 0.8, "sigma_p": 0.6}


def literal(feedback, delta=0.05, **other):
    return reference.Rules(feedback, delta=delta, split="mixture", **SCALES | other)


def draws(rng, feedback):
    """Finished and running pulls; those that have had all their feedback still run."""
    finished, running = random_pulls(rng, feedback)
    going = [pull for pull in running if feedback != "incremental" or pull.age < pull.delay]
    for pull in going:
        pull.delay = pull.delay if feedback == "incremental" else 99
    return finished, going


def log_mixture(rules, pulls, mean, bias):
    """The logarithm of the mixture of likelihood ratios against the truth."""
    truth = np.array([mean, bias])
    both = [reference.likelihood(rules, pull) for pull in pulls]
    information = sum(i for i, _ in both)
    score = sum(s for _, s in both) - information @ truth
    prior = np.diag([rules.n0 / rules.sigma**2, 100.0 * rules.n0 / rules.sigma_p**2])
    after = information + prior
    ratio = np.linalg.slogdet(after)[1] - np.linalg.slogdet(prior)[1]
    return 0.5 * score @ np.linalg.solve(after, score) - 0.5 * ratio


@pytest.mark.parametrize("feedback", FEEDBACKS)
def test_intervals_are_those_of_the_joint_gaussian(feedback):
    """Random pulls, scales, delta and n0: centre and half-width to 1e-9."""
    rng, finite = np.random.default_rng(5), 0
    for _ in range(60):
        finished, running = draws(rng, feedback)
        scales = {"sigma": rng.uniform(0.5, 2.0), "sigma_p": 10.0 ** rng.uniform(-1.5, 0.7)}
        delta, n, n0 = rng.uniform(0.01, 0.3), int(rng.integers(1, 30)), rng.uniform(0.1, 50.0)
        rules = Rules(
            FEEDBACKS[feedback], np.array([scales["sigma"], 99.0]), scales["sigma_p"], delta,
            MIXTURE, False, 1, n0=n0,
        )  # fmt: skip
        tally, used = tally_of(finished, running)
        sum_running(rules, tally, used, np.array([0]), 1)
        found = mixture_interval(rules, tally, 0, n)
        expected = reference.mixture_interval(
            literal(feedback, delta, n0=n0, **scales), finished + running, n
        ) if finished or running else (0.0, math.inf)  # fmt: skip
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        finite += math.isfinite(found[1])
    assert finite > 40


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("feedback", [*FEEDBACKS, "recorded"])
def test_what_a_running_or_an_abandoned_pull_tells(feedback, kept):
    """The information of the joint Gaussian, in pulls, also with recorded scales."""
    rng = np.random.default_rng(6)
    kind = RECORDED if feedback == "recorded" else FEEDBACKS[feedback]
    rules = Rules(kind, np.full(2, 0.8), 1.0 if kind == RECORDED else 0.6, 0.05, MIXTURE, False, 1)
    state = make_state(Race(1, 3, 3, 99), np.full(2, 9))
    pull = reference.Pull(1, 0, 0.0, 9)
    state.tally.slots[ARM, 2] = 1
    for _ in range(7):
        pull.age = state.tally.slots[AGE, 2] = pull.age + 1
        pull.partial.append(rng.normal())
        pull.spreads.append(rng.uniform(0.2, 2.0) if kind == RECORDED else 0.0)
        observe_partial(rules, state, 2, pull.partial[-1], pull.spreads[-1])
    found = running_information(rules, state.tally, 2)
    if kept:
        keep_partial(rules, state, 2)
        keep_partial(rules, state, 2)
        found = state.tally.kept[:, 1] / 2.0
    like = literal(feedback, sigma_p=rules.scale_p)
    information, score = reference.likelihood(like, pull)
    assert found == pytest.approx(0.8**2 * np.array([information[0, 0], score[0]]), rel=1e-12)


@pytest.mark.parametrize("feedback", ["unbiased", "biased"])
@pytest.mark.parametrize("seen", [0, 1, 4])
@pytest.mark.parametrize("ends", [False, True])
def test_the_mixture_is_a_martingale(feedback, seen, ends):
    """Its mean after a running pull's next feedback, or its reward, is what it was: to 1e-8.

    The next value is Gaussian given the partial feedback so far; its law is written out here and
    integrated by Gauss and Hermite. With a prior of five pulls the integrand has light tails.
    """
    rng, rules, mean, bias = np.random.default_rng(seen), literal(feedback, n0=5.0), 0.3, 0.7
    bias = bias if feedback == "biased" else 0.0
    others, running = draws(rng, feedback)
    others = [*others[:3], *running[:1]]
    pull = reference.Pull(0, 9, 0.0, 99)
    pull.partial, pull.age = rng.normal(mean + bias, 1.0, size=seen).tolist(), seen
    before = log_mixture(rules, [*others, pull], mean, bias)
    variance, noise = rules.sigma**2, rules.sigma_p**2
    w = seen * variance / (seen * variance + noise)  # of the mean partial feedback
    told = np.mean(pull.partial) - bias - mean if seen else 0.0
    centre, spread = mean + w * told, math.sqrt(variance * (1.0 - w) + (0.0 if ends else noise))
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    after = reference.Pull(0, 9, 0.0, seen + 1 if ends else 99)
    after.age = seen + 1
    total = 0.0
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        value = centre + spread * node + (0.0 if ends else bias)
        after.reward = value
        after.partial = pull.partial if ends else [*pull.partial, value]
        total += weight * math.exp(log_mixture(rules, [*others, after], mean, bias) - before)
    assert total == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("feedback", FEEDBACKS)
def test_an_interval_misses_only_if_the_martingale_is_large(feedback):
    """A mean just outside has a mixture of n / delta or more, whatever the bias is.

    Just inside it is less for some bias, so that nothing is given away.
    """
    rng = np.random.default_rng(7)
    for _ in range(20):
        finished, running = draws(rng, feedback)
        if not finished or (feedback == "biased" and not any(p.partial for p in finished)):
            continue
        rules, pulls = literal(feedback), finished + running
        centre, width = reference.mixture_interval(rules, pulls, 4)
        level = math.log(4 / rules.delta)
        for mean, inside in ((centre + 0.999 * width, True), (centre - 1.001 * width, False)):
            e_values = partial(log_mixture, rules, pulls, mean)
            assert (minimize_scalar(e_values).fun < level) == inside


@pytest.mark.parametrize("feedback", MODELS)
def test_coverage(feedback):
    """At most delta = 0.05 of 300 runs ever leave a bound; false alarm 1e-6."""
    instance = alike(feedback)
    for setting in ({"batch": 1}, {"batch": 4}):
        cell = Cell(instance.name, "Partial", setting | {"cap": 1000}, "mixture-n0=10")
        replicate = prepare(instance, cell)
        assert sum(replicate(run_streams(8, r)).missed for r in range(300)) <= 15 + 19


def test_the_class_is_the_reading_with_a_prior_of_ones_own():
    """The same bounds as the reading for the same n0; others for another."""
    made = {
        "reading": Partial(2, sigma=1.0, sigma_p=0.5, batch=2, reading="mixture-n0=10"),
        "class": Mixture(2, sigma=1.0, sigma_p=0.5, batch=2, n0=10.0),
        "other": Mixture(2, sigma=1.0, sigma_p=0.5, batch=2),
    }
    for s in made.values():
        pulls = s.ask().start
        s.partial(pulls[0], 1.0)
        s.final(pulls[1], 2.0)
        s.ask()
    np.testing.assert_array_equal(made["reading"].bounds, made["class"].bounds)
    assert (made["other"].bounds != made["class"].bounds).all()
    with pytest.raises(InputError, match="Mixture: n0"):
        Mixture(2, sigma=1.0, sigma_p=0.5, n0=0.0)


def test_an_abandoned_pull_still_counts():
    s = Mixture(2, sigma=1.0, sigma_p=0.5, batch=2)
    first, second = s.ask().start
    s.partial(first, 1.0)
    s.partial(second, 1.0)
    s.ask()
    before = s.bounds
    s.abandon(first)
    new = s.ask().start
    assert [pull.arm for pull in new] == [0]
    s.partial(second, 1.0)
    s.ask()
    np.testing.assert_array_equal(s.bounds[0], before[0])
    s.final(new[0], 2.0)
    s.ask()
    told = 1.0 / (1.0 + 0.5**2)  # of a pull, by the one that was abandoned
    beta = math.log(2 / 0.05) + 0.5 * math.log(2.0 + told)
    width = math.sqrt(2.0 * beta * (2.0 + told)) / (1.0 + told)
    centre = (2.0 + told) / (1.0 + told)
    np.testing.assert_allclose(s.bounds[0], [centre - width, centre + width], rtol=1e-12)


def test_abandoned_increments_stay_in_the_mean():
    """Two steps of a first pull, ten a pull: 0.1 a step is a mean of 1, whatever the reading."""
    options = {"sigma": 9.0, "feedback": "incremental", "delay": 10}
    for s in (Partial(2, reading="as-written", **options), Mixture(2, **options)):
        (pull,) = s.ask().start
        s.partial(pull, 0.1)
        s.partial(pull, 0.1)
        s.abandon(pull)
        for _ in range(2):  # of the other arm, then of the first
            (pull,) = s.ask().start
            for _ in range(9):
                s.partial(pull, 0.1)
            s.final(pull, 1.0)
        s.ask()
        assert s.bounds.mean(axis=1) == pytest.approx([1.0, 1.0])


def test_kept_runs_with_wrong_scales(root):
    """The kept table has a row per case; halving sigma makes intervals miss more often."""
    kept = pd.read_csv(root / "data/delayed-scales/errors.csv")
    assert [tuple(row) for row in kept[["feedback", "batch", "sigma", "sigma_p"]].to_numpy()] == [
        (job.arguments[0], job.arguments[1], *job.arguments[2]) for job in scales.jobs()
    ]
    right, halved = (scales.missed("unbiased", 1, told, 60, 500) for told in ((1, 1), (0.5, 1)))
    assert right["missed"] <= 3 + 10  # delta = 0.05; false alarm 1e-5
    assert halved["missed"] > right["missed"]
