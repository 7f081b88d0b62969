"""Racing on recorded pulls: the same run as the literal algorithm, and what the tables hold."""

import numpy as np
import pytest

from bestarm.common.paper import Cell
from bestarm.core.inputs import InputError, parse
from bestarm.core.streams import run_streams
from bestarm.delayed import reference
from bestarm.delayed.bounds import FULL, RECORDED, UNBIASED, Rules
from bestarm.delayed.data import recorded
from bestarm.delayed.data.forecast import Traces, forecasts, split_instances, train
from bestarm.delayed.problem import SIGMAS_P, Instance, battery, mip, qualities, truth
from bestarm.delayed.racing import run
from bestarm.delayed.steps import ACCEPTED, REJECTED, Race
from bestarm.delayed.strategies import prepare, reordered
from bestarm.delayed.world import Problem, Records
from delayed.test_racing import SPLITS, counts, streams

KINDS = {"full": FULL, "unbiased": UNBIASED, "recorded": RECORDED}
N, M, LONGEST = 5, 7, 12


def population(seed):
    """Five arms of seven pulls, with forecasts that get better."""
    rng = np.random.default_rng(seed)
    rewards = np.arange(N)[:, None] + rng.normal(0.0, 0.6, (N, M))
    delays = rng.integers(1, LONGEST + 1, (N, M))
    spreads = rng.uniform(0.3, 1.0, (N, M, LONGEST)) / np.arange(1, LONGEST + 1)
    errors = spreads * rng.uniform(-1.0, 1.0, spreads.shape)
    return Records(rewards, delays, rewards[:, :, None] + errors, spreads)


def arms_of(records, sigma_p):
    means, sigma = records.rewards.mean(axis=1), records.rewards.std(axis=1)
    low, high = records.delays.min(axis=1), records.delays.max(axis=1)
    return Problem(means, np.zeros(N), low, high, sigma, sigma_p, records)


CASES = [
    {"feedback": "full"},
    {"feedback": "full", "batch": 4, "survivors": True},
    {"feedback": "unbiased"},
    {"feedback": "unbiased", "batch": 3},
    {"feedback": "recorded"},
    {"feedback": "recorded", "batch": 4},
    {"feedback": "recorded", "batch": 4, "split": "guaranteed", "pooled": 4},
    {"feedback": "recorded", "split": "published", "survivors": True},
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_same_run_as_the_literal_algorithm(case):
    """Same streams, same time, sets, pulls and intervals; scales differ by arm and by step."""
    feedback, batch = case["feedback"], case.get("batch", 1)
    split, survivors = case.get("split", "optimal"), case.get("survivors", False)
    pooled = case.get("pooled", 1)
    seed = CASES.index(case)
    records = population(seed)
    arms = arms_of(records, 0.4)
    # the literal race knows one scale for all arms
    arms = arms._replace(sigma=np.full(N, 0.6))
    scale_p = 2.0 if feedback == "recorded" else 0.8
    rules = Rules(
        KINDS[feedback], 2.0 * arms.sigma, scale_p, 0.05, SPLITS[split], survivors, pooled
    )
    fast = run(Race(2, batch, batch, 10**9), rules, arms, *streams(seed))
    environment, coins = streams(seed)
    nature = reference.Nature(arms.means, None, None, None, environment, records, sigma_p=0.4)
    slow = reference.Race(
        nature,
        reference.Rules(feedback, 1.2, scale_p, 0.05, split, survivors, pooled),
        coins,
        k=2,
        batch=batch,
        limit=batch,
        cap=10**9,
    ).run()
    assert fast.time == slow.time
    assert set(np.flatnonzero(fast.sets == ACCEPTED)) == slow.accepted
    assert set(np.flatnonzero(fast.sets == REJECTED)) == slow.rejected
    np.testing.assert_array_equal(fast.finished, counts(slow.finished, N))
    np.testing.assert_array_equal(fast.cancelled, counts(slow.cancelled, N))
    last = {arm: centre for _, arm, centre, _ in slow.log}
    for arm, centre in last.items():
        assert fast.centres[arm] == pytest.approx(centre, abs=1e-9)
    off = any(abs(centre - arms.means[arm]) > width for _, arm, centre, width in slow.log)
    assert fast.missed == off


@pytest.mark.parametrize("split", ["optimal", "guaranteed"])
@pytest.mark.parametrize("batch", [1, 4])
def test_feedback_that_is_passed_over_would_change_nothing(split, batch):
    """If an arm has one running pull, counting up to two is the same race, but skips nothing."""
    for seed in range(40):
        rng = np.random.default_rng([seed, batch])
        records = population(seed)
        rewards = 0.4 * records.rewards
        scales = 10.0 ** rng.uniform(-2.0, 0.5, (N, 1, 1)) * records.spreads
        records = records._replace(rewards=rewards, spreads=scales)
        arms = arms_of(records, 0.4)
        rules = Rules(RECORDED, 0.5 * arms.sigma, 1.0, 0.2, SPLITS[split], False, 1)
        race = Race(2, batch, 1, 10**9)
        one, other = (
            run(race, rules._replace(pooled=pooled), arms, *streams(seed)) for pooled in (1, 2)
        )
        for name in one._fields:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_scales_are_an_arms_own():
    """Fewer pulls where all arms are known to vary little, and where all but one are."""
    arms = arms_of(population(0), 0.1)
    alone = []
    for sigma in (0.6, 1e-6):
        rules = Rules(FULL, np.full(N, 2 * sigma), 0.0, 0.05, SPLITS["optimal"], False, 1)
        alone.append(run(Race(2, 1, 1, 10**6), rules, arms, *streams(0)).finished.sum())
    assert alone[1] == N < alone[0]
    scales = np.array([1e-6] * 4 + [1.2])
    mixed = Rules(FULL, scales, 0.0, 0.05, SPLITS["optimal"], False, 1)
    assert N < run(Race(2, 1, 1, 10**6), mixed, arms, *streams(0)).finished.sum() < alone[0]


def test_arms_in_another_order_take_their_records_along():
    arms = arms_of(population(1), 0.1)
    order = np.array([3, 0, 4, 1, 2])
    other = reordered(arms, order)
    np.testing.assert_array_equal(other.records.rewards[0], arms.records.rewards[3])
    np.testing.assert_array_equal(other.records.spreads[2], arms.records.spreads[4])
    np.testing.assert_array_equal(other.means, arms.means[order])


def made_up_traces(rng, instances=12, arms=3, steps=6):
    """Bounds that close in on 100, some runs shorter than others."""
    lower = 50.0 + np.sort(rng.integers(0, 50, (instances, arms, steps)), axis=2)
    upper = lower[:, :, -1:] + np.sort(rng.uniform(0, 99, lower.shape), axis=2)[:, :, ::-1]
    over = np.arange(steps) >= rng.integers(2, steps + 1, (instances, arms, 1))
    bounds = (np.where(over, np.nan, bound) for bound in (lower, upper))
    return Traces(("a", "b", "c"), *bounds, unit=rng.uniform(40, 50, instances))


def test_the_predictor_never_sees_test_instances():
    """Whatever the test instances hold, the coefficients are the same."""
    rng = np.random.default_rng(0)
    traces = made_up_traces(rng)
    training, testing = split_instances(12)
    assert not set(training) & set(testing)
    assert sorted([*training, *testing]) == list(range(12))
    assert len(training) == 3
    before = train(traces, training)
    spoilt = traces._replace(lower=traces.lower.copy(), upper=traces.upper.copy())
    spoilt.lower[testing] = 7.0 * rng.random(spoilt.lower[testing].shape) + 1.0
    spoilt.upper[testing] = 1e6
    np.testing.assert_array_equal(train(spoilt, training), before)
    assert not np.array_equal(train(spoilt, testing), before)


def test_forecasts_know_nothing_of_what_comes_later_or_of_other_arms():
    rng = np.random.default_rng(2)
    traces = made_up_traces(rng)
    model = train(traces, np.arange(4))
    before = [a[:, 1, 0].copy() for a in forecasts(traces, model)]
    later = traces._replace(lower=traces.lower.copy(), upper=traces.upper.copy())
    later.lower[:, 1, 1:] += 100.0
    later.lower[:, [0, 2]] += 100.0
    after = [a[:, 1, 0] for a in forecasts(later, model)]
    np.testing.assert_array_equal(before, after)


def test_a_linear_truth_is_found():
    """Final bounds that are linear in LB and UB at a step are forecast exactly there."""
    rng = np.random.default_rng(1)
    traces = made_up_traces(rng, instances=40, steps=4)
    lower, upper = traces.lower.copy(), traces.upper.copy()
    lower[:], upper[:] = rng.uniform(1, 2, lower.shape), rng.uniform(3, 4, upper.shape)
    lower[:, :, -1] = 0.5 * lower[:, :, 0] + 0.75 * upper[:, :, 0]
    lower[::2, 0, 1:] = upper[::2, 0, 1:] = np.nan  # runs that end here tell nothing of others
    # in any units of an instance the truth stays linear without a constant
    traces = traces._replace(lower=lower, upper=upper)
    model = train(traces, np.arange(10))
    np.testing.assert_allclose(model[0], [0.0, 0.5, 0.75], atol=1e-9)
    predicted, spreads = forecasts(traces, model)
    going_on = traces.delays > 1
    np.testing.assert_allclose(predicted[going_on, 0], traces.finals[going_on], rtol=1e-9)
    unit = traces.unit[:, None, None]
    np.testing.assert_allclose(spreads, np.nan_to_num((upper - lower) / 2 / unit))


@pytest.mark.parametrize("make", [lambda: battery(SIGMAS_P[2]), mip], ids=["battery", "mip"])
def test_an_instance_says_what_its_table_holds(make):
    instance = make()
    _, pulls = recorded.records(instance.table.name)
    np.testing.assert_allclose(instance.means, pulls.rewards.mean(axis=1))
    assert (pulls.delays >= 1).all()
    known = truth(instance)
    assert len(known.answer) == 1
    assert min(known.gaps) > 0  # the best arm is unique
    assert Instance(**instance.model_dump()) == instance
    run = prepare(instance, Cell(instance.name, "Partial", {"cap": 2000}, "as-written"))(
        run_streams(0, 0)
    )
    assert run.steps.sum() == run.tau


def test_another_table_is_refused():
    changed = mip().model_dump()
    changed["table"]["sha256"] = "0" * 64
    with pytest.raises(InputError, match="is not the table that instance mip was made from"):
        _ = Instance(**changed).problem


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"feedback": "unbiased", "sigma_p": 1.0}, "feedback: must be recorded for table mip"),
        ({"table": None}, "feedback: must be recorded for table mip"),
    ],
)
def test_bad_instances_are_explained(change, message):
    with pytest.raises(InputError, match=message):
        parse(Instance, mip().model_dump() | change, "file")


def test_quality_of_forecasts_by_hand():
    """Two pulls of one arm: errors 1 and -3 at step 1; only the second goes on to step 2."""
    pulls = Records(
        np.array([[10.0, 20.0]]),
        np.array([[2, 3]]),
        np.array([[[11.0, 0.0, 0.0], [17.0, 20.5, 0.0]]]),
        np.array([[[2.0, 0.0, 0.0], [2.0, 0.25, 0.0]]]),
    )
    first, second = qualities(pulls)[:2]
    assert (first.share, first.bias, first.within, first.spread) == (1.0, -1.0, 0.5, 2.0)
    assert first.error == pytest.approx(np.sqrt(5.0))
    assert first.correlation is None
    assert (second.share, second.bias, second.within) == (0.5, 0.5, 0.0)


def test_what_the_page_on_the_applied_studies_says_of_the_cells(root):
    """Observed fade, and how much of the spread of cells is one factor common to all policies."""
    table = recorded.policies()
    fade = 1.0 - table.last_capacity / table.first_capacity
    logs = np.log(table.filter(like="cell_").to_numpy(float))
    squares = np.linalg.svd(logs - logs.mean(axis=1, keepdims=True), compute_uv=False) ** 2
    page = " ".join((root / "docs/applied-studies.md").read_text(encoding="utf-8").split())
    assert f"lose {fade.min():.1%} to {fade.max():.1%} of" in page
    assert f"{squares[0] / squares.sum():.1%} of the variance of log lives" in page
