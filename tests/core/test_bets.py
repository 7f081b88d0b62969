"""Bets on rewards from 0 to 1: fair or worse under every law, whatever is staked."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestarm.core.bets import FRACTIONS, LOG_WEIGHTS, add_bet, largest_product, log_wealth


def test_wealth_is_the_product_of_single_bets():
    """Of rewards that are 0 or 1; all at once, and one by one."""
    c, m, rewards = -0.7, 0.3, [1.0, 0.0, 0.0, 1.0, 0.0]
    together, single = np.zeros(FRACTIONS.size), np.zeros(FRACTIONS.size)
    add_bet(together, c, m, 5.0, 2.0)
    for reward in rewards:
        add_bet(single, c, m, 1.0, reward)
    expected = [math.log(math.prod(1 + x * c * (r - m) for r in rewards)) for x in FRACTIONS]
    np.testing.assert_allclose(together, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(single, expected, rtol=1e-12, atol=1e-14)
    slack = 1.7
    average = np.average(np.exp(np.array(expected) + FRACTIONS * slack), weights=FRACTIONS**0.5)
    assert log_wealth(together, slack) == pytest.approx(math.log(average), rel=1e-13)


def test_fractions_leave_something():
    assert FRACTIONS.max() < 1.0
    assert FRACTIONS.min() > 0.0
    assert np.exp(LOG_WEIGHTS).sum() == pytest.approx(1.0, abs=1e-14)


@given(
    chances=st.lists(st.floats(0.0, 1.0), min_size=2, max_size=5).filter(lambda p: sum(p) > 0.1),
    rewards=st.lists(st.floats(0.0, 1.0), min_size=5, max_size=5),
    m=st.floats(1e-6, 1.0 - 1e-6),
    share=st.floats(-1.0, 1.0),
)
def test_a_bet_is_on_average_at_most_fair(chances, rewards, m, share):
    """E[factor] <= 1 for every law on [0, 1], centre and coefficient that are allowed: exactly."""
    p = np.array(chances) / sum(chances)
    values = np.array(rewards[: p.size])
    c = share / m if share > 0.0 else share / (1.0 - m)
    mean, expected = p @ values, np.zeros(FRACTIONS.size)
    for chance, value in zip(p, values, strict=True):
        wealth = np.zeros(FRACTIONS.size)
        add_bet(wealth, c, m, 1.0, value)
        expected += chance * np.exp(wealth - FRACTIONS * c * (mean - m))
    assert (expected <= 1.0 + 1e-9).all()


def test_a_bound_is_that_of_the_worse_end():
    assert largest_product(2.0, -0.1, 0.4) == 0.8
    assert largest_product(-2.0, -0.1, 0.4) == 0.2
