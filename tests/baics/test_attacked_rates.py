"""Errors on rates that tie, where nothing but delta keeps a run from a wrong answer."""

import pytest
from scipy import stats

from bestarm.baics.attacks import LEAST, LUCKY, UNLUCKY
from bestarm.baics.problem import Instance
from ties import wrong_stops

#: Of two arms that tie the first is the answer. The other is called better with probability at most
#: delta / 2, as K wrong answers share delta.
TIES = {
    "equal": [[0.05, 0.04], [0.05, 0.04]],
    "opposed signs": [[0.08, 0.02], [0.02, 0.08]],
    "near 0": [[0.002, 0.0], [0.001, 0.001]],
    "near 1": [[0.998, 1.0], [0.999, 0.999]],
    "one half": [[0.5, 0.5], [0.5, 0.5]],
}
DELTA = 0.2


def wrong_at_tie(name, attack, runs, pulls, minimum=None):
    fields = {"constrained": 0} if minimum is None else {"minimum": minimum}
    instance = Instance(
        name=name, means=TIES[name], weights=[1.0, 1.0], rewards="bernoulli", **fields
    )
    return wrong_stops(instance, "proven", DELTA, attack, runs, pulls)


@pytest.mark.parametrize("attack", [LEAST, LUCKY, UNLUCKY])
@pytest.mark.parametrize("name", TIES)
def test_ties_of_rates_are_rarely_told_apart_under_attack(name, attack):
    """A rule that errs in a share delta / 2 fails once in 10^6."""
    runs = 120
    assert wrong_at_tie(name, attack, runs, 600) <= stats.binom.isf(1e-6, runs, DELTA / 2)


def test_at_a_minimum_every_answer_is_one_of_the_kinds():
    """All means are the minimum: arm 2 and "none" are as likely as they can be."""
    runs = 120
    assert wrong_at_tie("one half", LUCKY, runs, 600, 0.5) <= stats.binom.isf(1e-6, runs, DELTA)


@pytest.mark.long
@pytest.mark.parametrize("attack", [LEAST, LUCKY, UNLUCKY])
@pytest.mark.parametrize("name", TIES)
def test_ties_in_two_thousand_runs(name, attack):
    """The same, of more and longer runs."""
    runs = 2000
    assert wrong_at_tie(name, attack, runs, 2000) <= stats.binom.isf(1e-6, runs, DELTA / 2)
