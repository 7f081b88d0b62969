"""How long a test will take: its simulations are the objects themselves, on assumed means."""

import numpy as np
import pytest
from scipy import stats

from bestarm import bai, baics
from bestarm.core.inputs import InputError
from test_progress import check_legible

PAGES, COUNTRIES = ["old", "new"], {"Sweden": 0.6, "Norway": 0.4}
RATES = {"old": 0.2, "new": {"Sweden": 0.3, "Norway": 0.4}}


def plan(**options):
    return baics.FWS(PAGES, COUNTRIES, **{"rewards": "bernoulli", "constrained": 0} | options)


@pytest.fixture(scope="module")
def found():
    return plan().expected(RATES, batch=100, runs=10, most=40)


def test_it_has_a_row_per_share_and_quantiles_in_order(found):
    table = found.table
    assert table.share.tolist() == [1.0, 0.5]
    np.testing.assert_allclose(table.uplift, [0.6 * 0.3 + 0.4 * 0.4 - 0.2, 0.07])
    assert (table.q10 <= table["median"]).all()
    assert (table["median"] <= table.q90).all()
    assert table["median"][0] < table["median"][1]
    assert (table.runs == 10).all()
    right = table.right * table.stopped * table.runs
    assert (right >= stats.binom.isf(1 - 1e-6, (table.stopped * table.runs).astype(int), 0.9)).all()


def test_the_table_is_made_of_the_runs(found):
    runs = found.runs
    for row in found.table.itertuples():
        mine = runs[runs.share == row.share]
        lasted = np.sort(np.where(mine.stopped, mine.batches, np.inf))
        assert (row.q10, row.median, row.q90) == (lasted[0], lasted[4], lasted[8])
        assert row.stopped == mine.stopped.mean()


def test_a_run_is_what_a_person_would_have_seen():
    """By hand: days of visitors by weight, allocated, told as counts when they are over."""
    made = {"n_arms": PAGES, "weights": COUNTRIES, "rewards": "bernoulli", "constrained": 0}
    found = baics.Uniform(**made).expected(RATES, batch=100, runs=4, shares=[1.0])
    run = found.runs.iloc[3]
    s, rng = baics.Uniform(**made, seed=3), np.random.default_rng([0, 3])
    day = 0
    while not s.done:
        day, rows = day + 1, []
        come = rng.multinomial(100, list(COUNTRIES.values()))
        for country, n in zip(COUNTRIES, come, strict=True):
            for page, pulls in s.allocation(int(n), segment=country).items():
                rate = RATES[page][country] if page == "new" else RATES[page]
                rows.append((page, country, pulls, float(rng.binomial(pulls, rate))))
        columns = zip(*rows, strict=True)
        s.tell_table(dict(zip(("arm", "segment", "pulls", "total"), columns, strict=True)))
    assert (run.batches, run.answer) == (day, s.answer)
    assert found.runs.batches.nunique() > 1


def test_it_changes_nothing_and_repeats():
    s = plan()
    before = s.to_dict()
    options = {"batch": 200, "runs": 3, "shares": [1.0], "most": 40}
    one, other = (s.expected(RATES, **options).runs for _ in range(2))
    assert s.to_dict() == before
    assert one.equals(other)
    assert not one.equals(s.expected(RATES, **options, seed=1).runs)


def test_a_window_is_left_out():
    options = {"batch": 200, "runs": 3, "shares": [1.0], "most": 5}
    with_window = plan(window=7.0, default=0.0).expected(RATES, **options)
    assert with_window.runs.equals(plan().expected(RATES, **options).runs)


def test_what_does_not_stop_has_no_quantile():
    found = plan(delta=1e-9).expected(RATES, batch=20, runs=3, most=2)
    assert not found.runs.stopped.any()
    assert np.isinf(found.table[["q10", "median", "q90"]]).all(axis=None)
    assert found.table.right.isna().all()
    said = check_legible(found.plot())
    assert any("do not stop in that time" in text for text in said)


def test_it_is_drawn_legibly(found):
    said = check_legible(found.plot())
    row = found.table.iloc[0]
    assert any(f"{row['median']:,.0f} batches of 100" in text for text in said)


@pytest.mark.parametrize(
    ("s", "means", "answer"),
    [
        (bai.TrackAndStop(2, rewards="poisson"), [2.0, 5.0], 1),
        (bai.KLLUCB(2, rewards="exponential"), [4.0, 1.0], 0),
        (bai.TopK(3, 2, rewards="gaussian", sigma=0.5), [1.0, 5.0, 3.0], [1, 2]),
        (baics.TaSCS(2, [1.0, 1.0], sigma=[[0.5, 2.0], [1.0, 1.0]]), [[3.0, -2.0], [1.0, 1.0]], 1),
        (baics.TaSCS(2, [1.0], minimum=9.0), [1.0, 2.0], None),
    ],
)
def test_it_knows_the_right_answer_of_other_laws(s, means, answer):
    found = s.expected(means, batch=200, runs=4, shares=[1.0], most=20)
    assert found.runs.stopped.all()
    assert found.runs.right.all()
    assert all(one == answer for one in found.runs.answer)


@pytest.mark.parametrize("kind", ["bernoulli", "gaussian", "poisson", "exponential"])
def test_sums_have_the_mean_and_the_scatter_of_their_law(kind):
    s = bai.TrackAndStop(2, rewards=kind, **({"sigma": 3.0} if kind == "gaussian" else {}))
    rng, n, mean = np.random.default_rng(0), 50, 0.4
    sums = np.array([s._drawn(0, mean, n, rng) for _ in range(4000)])
    variances = {"bernoulli": 0.24, "gaussian": 9.0, "poisson": 0.4, "exponential": 0.16}
    variance = n * variances[kind]
    assert abs(sums.mean() - n * mean) < 5.0 * np.sqrt(variance / 4000)
    assert abs(sums.var() / variance - 1.0) < 0.15


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"means": {"old": 0.1}}, "means: must be given for old, new, got old"),
        ({"means": {"old": 0.1, "new": 1.5}}, "means: means must be from 0 to 1"),
        ({"means": {"old": 0.1, "new": {"Sweden": 0.1}}}, "means: must be given for Sweden, Norw"),
        ({"means": [0.1, [0.1, 0.2, 0.3]]}, "means: must be a number or 2 per arm, got 3"),
        ({"means": 0.1}, "means: must be given for 2 arms, got 0.1"),
        ({"batch": 0}, "batch: must be a whole number from 1 to"),
        ({"runs": 0}, "runs: must be a whole number from 1 to"),
        ({"most": 0}, "most: must be a whole number from 1 to"),
        ({"shares": [0.0]}, "shares: must be a positive number, got 0.0"),
        ({"shares": [9.0]}, "shares: means must be from 0 to 1"),
    ],
)
def test_wrong_arguments_are_named(options, said):
    with pytest.raises(InputError, match=f"^FWS: expected: {said}"):
        plan().expected(**{"means": RATES, "batch": 100} | options)


def test_what_takes_no_counts_says_so():
    with pytest.raises(ValueError, match=r"trials must be asked for by ask\(n\): a race"):
        bai.KLRacing(2).expected([0.1, 0.9], batch=100)
    with pytest.raises(InputError, match="need a sigma, which is unknown here"):
        baics.TaSCS(2, [1.0], sigma="unknown").expected([1.0, 2.0], batch=100)
    with pytest.raises(ValueError, match="control must be one of old, new"):
        plan().expected(RATES, batch=100, control="none")
