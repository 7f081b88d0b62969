"""Tables of independent runs: rarely a false alarm, whatever the law; gross errors are found."""

import math
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bestarm.common.paper import Cell
from bestarm.common.tables import QUANTILES, assemble, cell_rows
from bestarm.core.estimates import (
    LEVEL,
    Estimate,
    exact,
    least_runs,
    mean,
    proportion,
    quantile,
    ratio_of_means,
)
from bestarm.verify.agreement import (
    agree,
    as_written,
    computed_differ,
    fresh_level,
    paired,
    verdicts,
)

KEPT, FRESH = 300, 30
LAWS = {
    "normal": lambda rng, n: rng.normal(10.0, 1.0, n),
    "exponential": lambda rng, n: rng.exponential(1.0, n),
    "heavy": lambda rng, n: rng.lognormal(0.0, 1.5, n),
    "rarely long": lambda rng, n: rng.normal(10.0, 0.1, n) + 1000.0 * (rng.random(n) < 0.01),
    "whole numbers": lambda rng, n: rng.poisson(1.0, n).astype(float),
    "constant": lambda rng, n: np.full(n, 7.0),
}


def estimates(sample: np.ndarray, level: float) -> list:
    return [
        mean("mean_stopping_time", "pulls", sample, level=level),
        quantile("median_stopping_time", "pulls", sample, 0.5, level),
        quantile("quartile_25", "pulls", sample, 0.25, level),
        quantile("quantile_95", "pulls", sample, 0.95, level),
        proportion("share_capped", int((sample > 1.5).sum()), sample.size, level),
    ]


def table_of(samples: list[np.ndarray], level: float = LEVEL) -> pd.DataFrame:
    """The estimates of some samples, each an instance of its own."""
    return as_written(
        assemble(
            [
                row
                for number, sample in enumerate(samples)
                for row in cell_rows(Cell(f"{number}", "s", {}, "r"), estimates(sample, level))
            ]
        )
    )


def side_by_side(kept: list, fresh: list, alpha: float) -> pd.DataFrame:
    """The rows of samples as `paired` puts them, each with its verdict."""
    rows = paired(table_of(kept), table_of(fresh, fresh_level(alpha)))
    return rows.assign(agrees=verdicts(rows, alpha))


@pytest.mark.parametrize("law", LAWS)
def test_what_is_right_rarely_disagrees(law):
    """At most a share alpha of pairs; a count this high has probability 1e-6 at alpha."""
    alpha, repeats = 0.05, 50
    rng = np.random.default_rng(1)
    draw = LAWS[law]
    kept, fresh = ([draw(rng, n) for _ in range(repeats)] for n in (KEPT, FRESH))
    for _, rows in side_by_side(kept, fresh, alpha).groupby("statistic"):
        assert len(rows) == repeats
        p = QUANTILES.get(rows.statistic.iloc[0])
        few = p is not None and least_runs(p, fresh_level(alpha)) > FRESH
        assert rows.agrees.isna().all() if few else rows.agrees.notna().all()
        assert rows.agrees.eq(False).sum() <= stats.binom.isf(1e-6, repeats, alpha)


@pytest.mark.parametrize("shift", [-5.0, 5.0])
def test_gross_errors_are_found_at_the_level_of_one_test_in_many(shift):
    rng = np.random.default_rng(2)
    kept, fresh = LAWS["normal"](rng, KEPT), LAWS["normal"](rng, FRESH) + shift
    found = side_by_side([kept], [fresh], 1e-8).set_index("statistic").agrees
    assert found["mean_stopping_time"] is False
    assert found["median_stopping_time"] is False


def test_a_wrong_share_is_found():
    kept, fresh = np.repeat([1.0, 2.0], [270, 30]), np.repeat([1.0, 2.0], [3, 27])
    found = side_by_side([kept], [fresh], 1e-8).set_index("statistic").agrees
    assert found["share_capped"] is False


def test_constants_have_to_be_the_same():
    rows = side_by_side([np.full(KEPT, 7.0)], [np.full(FRESH, 7.001)], 1e-8)
    found = rows.set_index("statistic").agrees
    assert found["mean_stopping_time"] is False
    assert found["median_stopping_time"] is False
    assert found["share_capped"] is True


def test_a_quantile_of_few_runs_is_not_tested():
    """The largest of five runs is no upper bound of a 95% quantile, whatever the level."""
    rows = side_by_side([np.arange(1000.0, 1300.0)], [np.arange(5.0)], 1e-8)
    assert rows.set_index("statistic").agrees["quantile_95"] is None


def test_a_mean_whose_interval_is_cut_off_at_0_is_tested():
    tau = np.array([1.0] * 9 + [1000.0])
    kept = mean("mean_stopping_time", "pulls", tau, least=0.0)
    assert kept.low == 0.0
    for fresh, agrees in ((tau, True), (tau + 1e6, False)):
        found = mean("mean_stopping_time", "pulls", fresh, level=fresh_level(0.01), least=0.0)
        row = asdict(kept) | {f"{name}_fresh": value for name, value in asdict(found).items()}
        assert agree(SimpleNamespace(**row), 0.01) is agrees


@pytest.mark.parametrize("long_in", ["kept", "fresh"])
def test_a_rare_long_run_in_one_sample_is_no_disagreement(long_in):
    """The other sample's spread says nothing of it."""
    samples = {"kept": np.linspace(6.99, 7.01, KEPT), "fresh": np.linspace(6.99, 7.01, FRESH)}
    samples[long_in][0] = 1000.0
    rows = side_by_side([samples["kept"]], [samples["fresh"]], 1e-3)
    assert rows.set_index("statistic").agrees["mean_stopping_time"] is True


@pytest.mark.parametrize(("fresh", "agrees"), [(12.0, True), (13.0, False)])
def test_a_kept_quantile_counts_with_its_own_error(fresh, agrees):
    """At 1e-6 its 95% interval, 10 +- 1, is stretched to 10 +- 2.6."""
    kept = {"statistic": "median_stopping_time", "unit": "pulls", "n": 50}
    kept |= {"value": 10.0, "low": 9.0, "high": 11.0}
    made = {"value_fresh": fresh, "low_fresh": fresh, "high_fresh": fresh, "n_fresh": 4000}
    assert agree(SimpleNamespace(**kept, **made), 1e-6) is agrees


def test_other_statistics_are_not_tested():
    rng = np.random.default_rng(3)
    cell = Cell("i", "s", {}, "r")
    lopsided = {**asdict(mean("error_exponent", "", rng.normal(size=50))), "high": 9.0}
    undefined = {**asdict(mean("mean_regret", "", rng.normal(size=50))), "value": math.nan}
    for estimate in (lopsided, undefined):
        table = as_written(assemble(cell_rows(cell, [Estimate(**estimate)])))
        (row,) = paired(table, table).itertuples()
        assert agree(row, 0.05) is None


def test_a_ratio_of_means_is_tested_as_a_mean_is():
    rng = np.random.default_rng(4)
    rows = []
    for n, factor in ((KEPT, 1.0), (FRESH, 5.0)):
        below = rng.normal(10.0, 1.0, n)
        ratio = ratio_of_means("time_ratio", factor * rng.normal(10.0, 1.0, n), below)
        rows.append(as_written(assemble(cell_rows(Cell("i", "s", {}, "r"), [ratio]))))
    (row,) = paired(*rows).itertuples()
    assert agree(row, 1e-6) is False


def test_computed_numbers_that_differ_or_lack_are_named():
    def table(**values) -> pd.DataFrame:
        found = [exact(name, "pulls", value) for name, value in values.items()]
        return as_written(assemble(cell_rows(Cell("i", "s", {}, "r"), found)))

    kept = table(lower_bound=100.0, best_arm=2.0, hardness=1.0)
    fresh = table(lower_bound=100.001, best_arm=3.0)
    assert set(computed_differ(paired(kept, fresh), 1e-4).statistic) == {"best_arm", "hardness"}
    assert len(computed_differ(paired(kept, fresh), 0.0)) == 3
    assert len(computed_differ(paired(fresh, kept), 1e-4)) == 2
    assert computed_differ(paired(kept, kept), 0.0).empty
    undefined = table(closed_form=math.nan)
    assert computed_differ(paired(undefined, undefined), 0.0).empty
    assert len(computed_differ(paired(undefined, undefined.head(0)), 0.0)) == 1
