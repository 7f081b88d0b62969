"""The self-normalised rule against its definition, and under attack by adaptive choices."""

import json

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import minimize

from bestarm.linear import RAGE, XY, G, XYAdaptive
from bestarm.linear.least_squares import make_fit, refit
from bestarm.linear.self_normalised import is_refuted, log_e_values, make_mixture, rules_out

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]])
CLASSES = [G, XY, RAGE, XYAdaptive]


def log_mixture(mixture, fit, theta):
    """ln of the mixture at theta, by its closed form."""
    design = fit.arms.T * fit.counts @ fit.arms
    s = fit.arms.T @ (fit.sums - fit.counts * (fit.arms @ theta))
    both = design + mixture.prior
    growth = np.linalg.slogdet(both)[1] - np.linalg.slogdet(mixture.prior)[1]
    return 0.5 * (s @ np.linalg.solve(both, s) - growth)


def random_fit(seed, d=3, n_arms=5):
    rng = np.random.default_rng(seed)
    fit = make_fit(rng.normal(size=(n_arms, d)), 0.0)
    fit.counts[:] = rng.integers(1, 60, n_arms)
    fit.sums[:] = fit.counts * rng.normal(size=n_arms) + np.sqrt(fit.counts) * rng.normal(
        size=n_arms
    )
    refit(fit)
    return fit


def test_the_closed_form_is_the_mixture():
    fit = random_fit(0, 2, 3)
    mixture, theta = make_mixture(fit.arms, 0.1), fit.theta + 0.1
    design = fit.arms.T * fit.counts @ fit.arms
    s = fit.arms.T @ (fit.sums - fit.counts * (fit.arms @ theta))

    def integrand(a, b):
        h = np.array([a, b])
        prior = np.exp(-0.5 * h @ mixture.prior @ h) * np.sqrt(np.linalg.det(mixture.prior))
        return np.exp(h @ s - 0.5 * h @ design @ h) * prior / (2.0 * np.pi)

    value, _ = dblquad(integrand, -4.0, 4.0, -4.0, 4.0, epsabs=1e-10)
    assert np.log(value) == pytest.approx(log_mixture(mixture, fit, theta), abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_evidence_is_the_least_mixture_of_all_theta_with_the_arm_as_good(seed):
    fit = random_fit(seed)
    mixture, best = make_mixture(fit.arms, 0.1), int(fit.values.argmax())
    for arm, found in enumerate(log_e_values(mixture, fit, best)):
        if arm == best:
            assert found == np.inf
            continue
        y = fit.arms[best] - fit.arms[arm]
        allowed = {"type": "ineq", "fun": lambda theta, y=y: -y @ theta}
        start = fit.theta - y * (y @ fit.theta) / (y @ y)
        least = minimize(lambda t: log_mixture(mixture, fit, t), start, constraints=[allowed])
        assert found == pytest.approx(least.fun, abs=1e-4)


def test_units_of_the_features_do_not_matter():
    fit = random_fit(1)
    scaled = make_fit(1e3 * fit.arms, 0.0)
    scaled.counts[:], scaled.sums[:] = fit.counts, fit.sums
    refit(scaled)
    here, there = (log_e_values(make_mixture(f.arms, 0.1), f, 0) for f in (fit, scaled))
    np.testing.assert_allclose(here, there, rtol=1e-9)


def in_turn(fit, best, n):
    return n % len(fit.arms)


def most_telling(fit, best, n):
    """The arm that lowers the error of the largest lead, in standard errors, most."""
    y = fit.arms[best] - fit.arms
    sizes = np.einsum("ai,ai->a", y, fit.predictors[best] - fit.predictors)
    sizes[best] = np.inf
    far = int(((fit.values[best] - fit.values) / np.sqrt(sizes)).argmax())
    far = far if far != best else (best + 1) % len(y)
    shared = fit.arms @ (fit.predictors[best] - fit.predictors[far])
    return int((shared**2 / (1.0 + np.einsum("ai,ai->a", fit.arms, fit.predictors))).argmax())


def share_refuted(choose, delta, runs=150, most=250, free=False):
    """The share of runs that ever refute a tie of all arms, theta = 0; `free` takes no price."""
    rng, refuted = np.random.default_rng(7), 0
    mixture = make_mixture(ARMS, delta)
    for _ in range(runs):
        fit = make_fit(ARMS, 0.0)
        for n in range(most):
            arm = n if n < 3 else choose(fit, int(fit.values.argmax()), n)
            fit.counts[arm] += 1.0
            fit.sums[arm] += rng.normal()
            if n < 2:
                continue
            refit(fit)
            best = int(fit.values.argmax())
            rule = mixture
            if free:
                design = ARMS.T * fit.counts @ ARMS + mixture.prior
                rule = mixture._replace(log_volume=float(np.linalg.slogdet(design)[1]))
            if is_refuted(rule, fit, best).any():
                refuted += 1
                break
    return refuted / runs


@pytest.mark.parametrize("choose", [in_turn, most_telling])
def test_attacks_at_a_tie_refute_it_in_a_share_delta_of_runs_at_most(choose):
    """Of Bin(150, 0.45) more than 0.65 has probability 5e-7."""
    assert share_refuted(choose, 0.45) <= 0.65


def test_the_attack_would_find_a_rule_that_takes_no_price():
    assert share_refuted(most_telling, 0.45, most=800, free=True) > 0.65


@pytest.mark.parametrize("strategy", CLASSES)
def test_results_that_were_not_asked_for_count(strategy):
    s = strategy(ARMS.tolist(), delta=0.05, counts_all=True)
    other = strategy(ARMS.tolist(), delta=0.05, counts_all=True)
    rng, theta, told = np.random.default_rng(3), np.array([1.0, 0.2]), 0
    while not s.done:
        arm = s.ask()
        s.tell(arm, float(ARMS[arm] @ theta + rng.normal()))
        told += 1
        if not s.done:
            s.tell(told % 3, float(ARMS[told % 3] @ theta + rng.normal()))
            told += 1
    assert (s.answer, s.kept_out, int(s.pulls.sum())) == (0, 0, told)
    other.replay(json.loads(json.dumps(s.history)))
    assert other.done
    assert (other.pulls == s.pulls).all()


def test_the_same_results_without_the_option_are_kept_out():
    s = G(ARMS.tolist())
    s.tell(1, 0.5)
    assert s.kept_out == 1
    assert s.pulls.sum() == 0


def test_the_stop_is_that_of_the_evidence():
    s = G(ARMS.tolist(), counts_all=True)
    rng, last = np.random.default_rng(5), None
    while not s.done:
        last = s._state.fit.counts.copy(), s._state.fit.sums.copy()
        arm = s.ask()
        s.tell(arm, float(ARMS[arm] @ [1.0, 0.2] + rng.normal()))
    fit, rules = s._state.fit, s._rules
    assert rules_out(rules.mixture, fit, s._state.answer)
    before = make_fit(rules.arms, 0.0)
    before.counts[:], before.sums[:] = last
    refit(before)
    assert not rules_out(rules.mixture, before, int(before.values.argmax()))
