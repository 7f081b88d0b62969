"""Stopping rules beside those of the literature, each on the sample of the first."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import rel_entr

from bestarm.bai.families import GAUSSIAN
from bestarm.bai.problem import Instance
from bestarm.bai.standard import (
    DELTA,
    GRID,
    LAWS,
    MIXTURES,
    N_ARMS,
    RULES,
    SEED,
    STAKE,
    Intervals,
    bet_on_grid,
    exponential_family_cost,
    is_pairwise,
    play,
    threshold_constant,
)
from bestarm.bai.steps import start
from bestarm.bai.strategies import READINGS, make_rules, prepare
from bestarm.common.paper import Cell
from bestarm.core.anytime import kaufmann_koolen_threshold
from bestarm.core.streams import run_streams, stream_key
from provenance import described

SMALL = ("rates, 50% and 35%", 2)


def test_mixtures_are_the_default_rule_of_track_and_stop():
    law, n_arms = SMALL
    _, best, other = LAWS[law]
    instance = Instance(name="two", means=[best, other])
    run = prepare(instance, Cell("two", "Track-and-Stop", {"delta": DELTA}, "proven"))
    key = stream_key(SEED, "bai", "standard", f"{law}, {n_arms} arms", "")
    for i in range(5):
        row, (times, answers) = run(run_streams(key, i)), play(law, n_arms, i)
        assert (row.tau, row.answer - 1) == (times[MIXTURES], answers[MIXTURES])


def test_kaufmann_and_koolen_have_their_thresholds():
    x = math.log(20.0)
    counts = np.array([30.0, 200.0])
    ours = threshold_constant(LAWS["Gaussian, 0.5 and 0"][0], x)
    ours += 2.0 * np.log(4.0 + np.log(counts)).sum()
    assert ours == pytest.approx(kaufmann_koolen_threshold(x, counts))
    for y in (20.0, 50.0, 100.0):  # their approximation, of the order of 2%
        near = y + 4.0 * math.log(1.0 + y + math.sqrt(2.0 * y))
        assert exponential_family_cost(y) == pytest.approx(near, rel=0.025)


@pytest.mark.parametrize("law", LAWS)
def test_the_pairwise_rule_stops_where_the_statistic_passes_the_threshold(law):
    family, best, other = LAWS[law]
    x, means = math.log(20.0), np.array([best, other])
    reading = READINGS["Track-and-Stop"]["proven"]
    rules = make_rules("Track-and-Stop", family, 2, DELTA, reading)
    state, stops = start(rules), []
    state.means[:], state.answer[0] = means, 0
    for n in (5 * 1.1 ** np.arange(90)).round():
        state.pulls[:] = n, 2.0 * n
        if family == GAUSSIAN:
            middle = means @ [1.0, 2.0] / 3.0
            statistic = 0.5 * n * ((means - middle) ** 2) @ [1.0, 2.0]
            threshold = kaufmann_koolen_threshold(x, state.pulls)
        else:
            q = means @ [1.0, 2.0] / 3.0
            nats = rel_entr(means, q) + rel_entr(1.0 - means, 1.0 - q)
            statistic = n * nats @ [1.0, 2.0]
            threshold = 2.0 * exponential_family_cost(0.5 * x)
            threshold += 3.0 * np.log(1.0 + np.log(state.pulls)).sum()
        stops.append(is_pairwise(rules, state, threshold_constant(family, x)))
        assert stops[-1] == (statistic > threshold)
    assert not stops[0]
    assert stops[-1]


@pytest.mark.parametrize("mean", [0.1, 0.5])
def test_betting_wealth_has_mean_one_at_the_true_mean(mean):
    """Over all sequences of eight rewards of 0 and 1, with their probabilities."""
    total = np.zeros(2)
    for rewards in product((0.0, 1.0), repeat=8):
        one, inf = np.zeros(1), np.full(1, np.inf)
        bets = Intervals(np.array([mean]), np.zeros((1, 2, 1)), one.copy(), -inf, inf)
        seen = 0.0
        for t, reward in enumerate(rewards):
            bet_on_grid(bets, 4.0, 0, float(t), seen, reward)
            seen += reward
        chance = mean**seen * (1.0 - mean) ** (8 - seen)
        total += chance * np.exp(bets.wealth[0, :, 0])
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)
    assert 0.0 < STAKE < 1.0 < GRID


def test_the_kept_table_has_every_rule_and_hardly_an_error():
    table = pd.read_csv(described("standard/times.csv"))
    assert {*table.rule} == {*RULES}
    assert len(table) == len(N_ARMS) * (2 + 4 + 4)
    assert (table.wrong <= 0.05 * table.runs).all()
    assert (table[table.rule == "pairwise"].ratio_low > 1.0).all()
    assert (table[table.rule == "intervals"].ratio_low > 1.0).all()
    bets = table[table.rule == "bets"].set_index("n_arms")
    assert (bets.ratio_high[bets.index == 2] < 1.0).all()
    assert (bets.ratio_low[bets.index > 2] > 1.0).all()
