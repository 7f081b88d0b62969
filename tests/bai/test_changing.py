"""Arms that are dropped and added during a run: what is asked and answered, and the guarantee."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy import special

from bestarm.bai import KLLUCB, ChernoffRacing, KLRacing, TrackAndStop
from bestarm.bai.families import FAMILIES, divergence, mixing_cost
from bestarm.core.inputs import InputError

KINDS = [TrackAndStop, KLLUCB]
every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
NAMES = ["red", "green", "blue"]


def told(s, results):
    for arm, reward in results:
        s.tell(arm, reward)
    return s


def again(s):
    """The same object from its file and from its history."""
    loaded = type(s).from_dict(json.loads(json.dumps(s.to_dict())))
    replayed = type(s)(**{name: s._arguments[name] for name in ("n_arms", "may_drop", "may_add")})
    replayed.replay(json.loads(json.dumps([list(event) for event in s.history])))
    return loaded, replayed


@every
def test_a_dropped_arm_is_neither_asked_for_nor_answered(kind):
    s, rng = kind(NAMES, may_drop=True), np.random.default_rng(0)
    rates = {"red": 0.9, "green": 0.8, "blue": 0.3}
    trials = s.ask(20)
    for trial in trials[:10]:
        s.tell(trial, float(rng.random() < rates[trial.arm]))
    s.drop("red")
    for trial in trials[10:]:
        s.tell(trial, float(rng.random() < rates[trial.arm]))
    assert s.late == sum(trial.arm == "red" for trial in trials[10:]) > 0
    assert s.remaining == ["green", "blue"]
    assert s.allocation(50, least_share={"green": 0.3, "blue": 0.3}).keys() == {"green", "blue"}
    for one in (*again(s), s):
        assert one.to_dict() == s.to_dict()
    while not s.done:
        arm = s.ask()
        assert arm != "red"
        s.tell(arm, float(rng.random() < rates[arm]))
    assert s.answer == "green"
    assert s.summary().set_index("arm").status["red"] == "dropped"
    assert s.pulls.sum() == s.told - s.late


@every
def test_it_goes_on_as_on_the_arms_that_are_left(kind):
    """Choices are those of an object that was told the results of these arms alone."""
    results = [(arm, float(n % (2 + "rgb".index(arm[0])) == 0)) for n in range(9) for arm in NAMES]
    s = told(kind(NAMES, may_drop=True, delta=1e-9), results)
    s.drop("red")
    left = kind(NAMES[1:], delta=1e-9)
    for arm in NAMES[1:]:
        left.tell(arm, pulls=9, total=sum(x for a, x in results if a == arm))
    for n in range(60):
        arm = s.ask()
        assert arm == left.ask()
        for one in (s, left):
            one.tell(arm, float(n % 3 == 0))


def rule(s, arms, level):
    """Whether every pair of the answer and another arm is settled, by the definition."""
    family, k = FAMILIES["bernoulli"], [s._arms.index(arm) for arm in arms]
    best = max(k, key=lambda a: s.means[a])
    for a in set(k) - {best}:
        n, p = s.pulls[[best, a]], s.means[[best, a]]
        middle = float(n @ p / n.sum())
        z = sum(n[i] * divergence(family, p[i], middle) for i in range(2))
        costs = sum(mixing_cost(family, float(n[i]), float(n[i] * p[i])) for i in range(2))
        if not z > level + costs:
            return False
    return True


def test_delta_is_shared_among_all_pairs_that_there_ever_are():
    """The shares: of those at first half, of an arm that comes n-th half K / (n (n - 1)^2) each."""
    shares = []
    s, rng = TrackAndStop(NAMES, may_add=True, delta=0.1), np.random.default_rng(5)
    for n in (3, 4, 5, 6):
        pairs = [3] if n == 3 else [n - 1]
        level = math.log((s._rules.n_arms - 1) / s._rules.delta)
        shares += [pairs[0] * math.exp(-level)]
        for _ in range(60):
            arm = s.ask()
            s.tell(arm, float(rng.random() < 0.4))
            assert s.done == (s.pulls[s._kept].all() and rule(s, s.remaining, level))
        s.drop(s.remaining[0])
        assert s.add(f"new {n}") == s.remaining[-1]
    assert shares == pytest.approx([0.05, 0.05 / 4, 0.05 * 3 / 20, 0.05 * 3 / 30])
    after = sum(0.05 * 3 / (n * (n - 1)) for n in range(4, 10**5))
    assert after < 0.05
    dropping = TrackAndStop(5, may_drop=True, delta=0.1)._rules
    assert math.exp(math.log(4 / dropping.delta)) == pytest.approx(10 / 0.1)


def test_intervals_hold_for_any_arms_so_dropping_costs_nothing():
    s = KLLUCB(NAMES, delta=0.1)
    told(s, [(arm, 0.5) for arm in NAMES * 5])
    before = [s._ends(place) for place in range(3)]
    s.drop("green")
    assert [s._ends(place) for place in range(2)] == [before[0], before[2]]
    shares = []
    s = KLLUCB(NAMES, may_add=True, delta=0.1)
    for _ in range(3):
        shares.append(s._rules.delta / s._rules.n_arms)
        s.add(f"new {len(s._arms)}")
    assert shares == pytest.approx([0.05 / 3, 0.05 * 3 / 12, 0.05 * 3 / 20])


def ratios(s, rates):
    """Of each arm the mixture of likelihoods over the likelihood of its true rate."""
    ones, n = s.pulls * s.means, s.pulls
    logs = special.betaln(0.5 + ones, 0.5 + n - ones) - special.betaln(0.5, 0.5)
    return np.exp(logs - special.xlogy(ones, rates) - special.xlogy(n - ones, 1.0 - rates))


def shares_of(s, rates, levels):
    """Of each test that there ever was the share of delta that it has, and its martingale.

    Args:
        s: the object.
        rates: of all arms that there ever were.
        levels: what the rule needed, by how many arms there ever were.
    """
    found, first = ratios(s, np.array(rates)), min(levels)
    if isinstance(s, KLLUCB):
        return [(math.exp(-levels[max(first, a + 1)]), found[a]) for a in range(len(rates))]
    pairs = itertools.combinations(range(len(rates)), 2)
    return [(math.exp(-levels[max(first, b + 1)]), found[a] * found[b]) for a, b in pairs]


def level(s):
    return math.log((s._rules.n_arms - (not s._by_intervals)) / s._rules.delta)


def attacked(s, rates, most, reward):
    """Favour the leader; if one looks too good add a better arm, and drop the worst of four.

    Args:
        s: the object.
        rates: of its arms, to which those of new ones are added.
        most: results.
        reward: a function from a rate to a reward.

    Returns:
        What the rule needed, by how many arms there ever were.
    """
    levels = {len(rates): level(s)}
    while not s.done and s.told < most:
        means = np.where(s.pulls > 0, s.means, 1.0)[s._kept]
        if s.told % 3 == 2 and means.max() > max(rates):
            rates.append(min(max(rates) + 0.01, 0.95))
            s.add()
            levels[len(rates)] = level(s)
        if len(s.remaining) == 4:
            s.drop(s._kept[int(means.argmin())])
        least = s._kept[int(np.argmin(s.pulls[s._kept]))]
        arm = least if s.told % 2 else s._kept[int(np.argmax(s.means[s._kept]))]
        s.tell(arm, reward(rates[arm]))
    return levels


@every
def test_shares_times_martingales_are_on_average_at_most_delta(kind):
    """Exactly, over all sequences of seven rewards, with arms that come and go by luck."""
    total, whole, arms = 0.0, 0.0, set()
    for sequence in itertools.product((0.0, 1.0), repeat=7):
        s, rates, played = kind(2, may_add=True, delta=0.3), [0.3, 0.3], []

        def reward(rate, sequence=sequence, played=played):
            played.append((rate, sequence[len(played)]))
            return played[-1][1]

        levels = attacked(s, rates, 7, reward)
        chance = math.prod(rate if x else 1.0 - rate for rate, x in played)
        total += chance * sum(share * ratio for share, ratio in shares_of(s, rates, levels))
        whole += chance
        arms.add(len(rates))
    assert whole == pytest.approx(1.0)
    assert len(arms) == 3
    assert 0.15 < total <= 0.3


@every
def test_a_wrong_answer_needs_a_martingale_above_its_level(kind):
    """The other half of the proof, with a delta above 1, so that answers are often wrong."""
    wrong = 0
    for seed in range(30):
        s, rng, rates = kind(3, may_add=True), np.random.default_rng(seed), [0.4, 0.45, 0.5]
        s._delta = 1000.0
        s._rules = s._shared(s._rules)
        levels = attacked(s, rates, 60, lambda rate, rng=rng: float(rng.random() < rate))
        if s.done and rates[s.answer] < max(rates[arm] for arm in s.remaining):
            wrong += 1
            assert any(ratio * share > 1.0 for share, ratio in shares_of(s, rates, levels))
    assert wrong > 3


def test_arms_that_are_added_are_tried_first_and_may_win():
    s, rng = TrackAndStop(2, may_add=True, delta=0.1), np.random.default_rng(1)
    told(s, [(n % 2, float(rng.random() < 0.5)) for n in range(40)])
    assert s.add() == 2
    assert s.ask() == 2
    for one in again(s):
        assert one.to_dict() == s.to_dict()
    while not s.done:
        arm = s.ask()
        s.tell(arm, float(rng.random() < [0.5, 0.5, 0.9][int(arm)]))
    assert s.answer == 2
    assert len(s.summary(control=0)) == 3
    assert s.expected([0.2, 0.6], batch=50, runs=1, shares=[1.0]).table.stopped.all()
    assert s.plot().get_axes()


def test_trials_of_a_dropped_arm_have_no_turn_in_a_window():
    s = KLLUCB(["a", "b", "c"], window=10.0, default=0.0, delta=1e-9)
    trials = s.ask(6, least_share=0.33)
    for trial in trials[1:]:
        s.tell(trial, 1.0)
    s.drop(trials[1].arm)
    assert s.late == sum(trial.arm == trials[1].arm for trial in trials[1:])
    s.tell(trials[0], 1.0)
    assert s.pulls.sum() == s.told - s.late
    assert KLLUCB.from_dict(s.to_dict()).ask(3) == s.ask(3)


def test_a_drop_may_end_the_run():
    s = told(KLLUCB(NAMES), [(arm, float(arm != "blue")) for arm in NAMES * 30])
    assert not s.done
    s.drop("red")
    assert s.done
    assert s.answer == "green"
    with pytest.raises(RuntimeError, match="has stopped"):
        s.drop("blue")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: TrackAndStop(3).drop(0), "drop needs may_drop=True when the object is made"),
        (
            lambda: TrackAndStop(3, may_drop=True).add(),
            "add needs may_add=True when the object is made",
        ),
        (lambda: KLLUCB(3).drop(3), "arm must be 0 to 2, got 3"),
        (lambda: KLLUCB(2).drop(1), "2 arms have to be left"),
        (lambda: KLLUCB(3, may_add=True).add(4), "arm must be 3, or left out, got 4"),
        (lambda: KLLUCB(NAMES, may_add=True).add("red"), "a name that was not used yet, got 'red'"),
        (lambda: KLLUCB(NAMES, may_add=True).add(), "a name that was not used yet, got None"),
        (lambda: KLRacing(3, may_add=True).drop(0), "a race drops arms by itself"),
        (lambda: ChernoffRacing(3, may_add=True).add(), "compares arms from its first round on"),
        (lambda: KLLUCB(2, reading="as-written", may_drop=True), "needs a reading that is proved"),
    ],
)
def test_refused(change, said):
    with pytest.raises((ValueError, InputError), match=said):
        change()


def test_an_arm_is_dropped_once():
    s = KLLUCB(4)
    s.drop(1)
    with pytest.raises(ValueError, match="1 was dropped before"):
        s.drop(1)
