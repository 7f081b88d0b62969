"""How estimates are compared and turned into exponents, and the run that figure 4 shows."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bestarm.cbmai import tables
from bestarm.cbmai.problem import instances
from bestarm.common.tables import cell_rows
from bestarm.core.estimates import proportion


def error_rates(**errors):
    """A summary with the error rates of strategies, as (errors, runs)."""
    rows = []
    for strategy, (count, n) in errors.items():
        cell = tables.point("one", strategy.replace("_", "-"), 500)
        rows += cell_rows(cell, [proportion("error_rate", count, n)])
    return pd.DataFrame(rows)


def test_differences_have_newcombes_interval():
    """The worked example of Newcombe (1998), method 10: 56/70 against 48/80."""
    summary = error_rates(SFSR=(56, 70), USLP=(48, 80), SFSR_L=(56, 70))
    rows = pd.DataFrame(tables.comparisons(summary))
    row = rows[(rows.strategy == "SFSR - USLP") & (rows.statistic == "error_difference")].iloc[0]
    assert row.value == pytest.approx(0.2)
    assert (row.low, row.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)  # printed digits


def test_ratios_need_errors_on_both_sides():
    summary = error_rates(SFSR=(0, 100), USLP=(10, 100), SFSR_L=(20, 100))
    rows = pd.DataFrame(tables.comparisons(summary))
    ratios = rows[rows.statistic == "error_ratio"].set_index("strategy")
    assert (ratios.status.drop("SFSR-L / USLP") == "undefined").all()
    ratio = ratios.loc["SFSR-L / USLP"]
    assert ratio.value == pytest.approx(2.0)
    half = 1.96 * math.sqrt(0.9 / 10 + 0.8 / 20)
    assert ratio.high == pytest.approx(2.0 * math.exp(half), rel=1e-4)


def test_exponents_of_an_exponential_decay():
    """With an error rate of exp(-cN) both exponents are c; without errors there is a bound."""
    budgets = {100: 0.5, 200: 0.25, 400: 0.0625}
    rows = []
    for budget, rate in [*budgets.items(), (800, 0.0)]:
        cell = tables.point("one", "SFSR", budget)
        rows += cell_rows(cell, [proportion("error_rate", round(rate * 6400), 6400)])
    limits = dict.fromkeys(tables.LIMITS.values(), 0.01)
    sources = SimpleNamespace(
        summary=pd.DataFrame(rows), instances={"one": {"truth": limits}}, published=None
    )
    table = tables.rates(sources)
    expected = math.log(2) / 100
    known = table[(table.statistic == "error_exponent") & (table.x < 800)]
    np.testing.assert_allclose(known.value.astype(float), expected)
    assert (known.low < expected).all()
    assert (known.high > expected).all()
    slopes = table[(table.statistic == "marginal_exponent") & (table.status != "undefined")]
    np.testing.assert_allclose(slopes.value.astype(float), expected)
    assert list(slopes.x) == [200, 400]
    last = table[(table.statistic == "error_exponent") & (table.x == 800)].iloc[0]
    assert last.status == "one-sided"
    assert last.low == pytest.approx(-math.log(1 - 0.05 ** (1 / 6400)) / 800)


def test_the_tail_has_the_exponent_as_its_limit():
    """-ln Q(sqrt(2 c N)) falls by c a pull, and by the prefactor's 1 / 2N, up to O(1 / (c N^2))."""
    limits = dict.fromkeys(tables.LIMITS.values(), 0.01)
    rows = []
    for budget in (9000, 10_000, 11_000):
        rows += cell_rows(tables.point("one", "USLP", budget), [proportion("error_rate", 9, 100)])
    sources = SimpleNamespace(summary=pd.DataFrame(rows), instances={"one": {"truth": limits}})
    table = tables.decay(sources)
    tail = table[table.strategy == "USLP at most"].set_index(["statistic", "x"]).value
    assert tail["gaussian_tail", 10_000] == pytest.approx(stats.norm.sf(math.sqrt(200.0)), rel=1e-9)
    assert tail["marginal_exponent", 11_000] - 0.01 == pytest.approx(0.5 / 10_500, rel=0.02)


def test_the_misled_run_is_one():
    """Arm 1 looks no worse than it is, has the lowest score, and a frontier of two arms passes."""
    instance = instances()["H2"]
    sources = SimpleNamespace(instances={"H2": {"instance": instance.model_dump()}})
    geometry = tables.misled_run(sources)
    seen, true = (geometry[geometry.panel == panel].set_index("arm") for panel in ("seen", "true"))
    assert seen.reward[1] >= true.reward[1]
    assert seen.cost[1] <= true.cost[1]
    assert seen.score.idxmin() == 1
    assert (seen.score.abs() < 1e-9).sum() == 2
    assert set(true.index[true.score.abs() < 1e-9]) == {1, 2}
