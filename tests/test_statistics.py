"""What a cell's runs come to, on a few runs worked by hand."""

import math

import numpy as np
import pytest

from bestarm import registry
from bestarm.common.paper import Cell
from bestarm.core.status import Status

STOPPED, CAPPED = int(Status.STOPPED), int(Status.CAPPED)


def summarised(paper, truth, runs, **cell):
    """The estimates by name."""
    fields = {"strategy": "s", "setting": {}} | cell
    asked = Cell("x", fields["strategy"], fields["setting"], "as-written")
    columns = {name: np.array(values) for name, values in runs.items()}
    found = registry.PAPERS[paper].statistics.summarise(asked, truth, columns)
    return {one.statistic: one for one in found}


def test_a_baics_run_that_was_cut_off_has_not_stopped_wrongly():
    runs = {"tau": [10, 10, 10], "status": [STOPPED, STOPPED, CAPPED], "answer": [1, 2, 2]}
    runs["pulls"] = [[6, 4], [5, 5], [4, 6]]
    truth = {"answer": 1, "qualities": [1.0, 0.5], "allocation": [[0.5], [0.5]]}
    found = summarised("baics", truth, runs)
    assert found["wrong_stops"].value == pytest.approx(1 / 3)
    assert found["prob_correct"].value == pytest.approx(1 / 3)
    assert found["mean_share:1"].value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("answer", "first", "share"), [([1, 3], [0, 1, 3, 2], 0.5), ([0, 0], [0, 0, 1, 2], 0.0)]
)
def test_a_cbmai_run_that_rejects_nothing_rejects_no_part_of_the_support(answer, first, share):
    """An answer of zeros says that no mixture is feasible; a first rejection of 0, that there was
    none."""
    runs = {"tau": [5] * 4, "answer": [answer] * 4, "first_rejected": first}
    runs |= {"reward": [0.5] * 4, "violation": [0.0] * 4}
    runs |= {"weights": [[0.5, 0.5], [1.5, -0.5], [np.nan, np.nan], [1.0, 0.0]]}
    truth = {"answer": answer, "value": 1.0}
    found = summarised("cbmai", truth, runs, setting={"budget": 10})
    assert found["share_first_rejects_support"].value == share
    assert found["mean_budget_share"].value == 0.5
    assert found["mean_regret"].value == 0.5
    assert found["share_breaks_limits"].value == (0.5 if any(answer) else 0.0)


def test_the_excess_of_lagex_is_that_of_policies_that_exceed_a_limit():
    runs = {"tau": [9] * 4, "status": [STOPPED] * 4, "excess": [-0.9, 0.0, 0.2, 0.4]}
    runs |= {"regret": [0.0] * 4, "empty": [0] * 4}
    runs |= {"policy_violations": [0, 3, 6, 9], "allocation_violations": [0] * 4}
    found = summarised("lagex", {"units": [1.0, 1.0]}, runs, setting={"r": 0.01})
    assert found["mean_excess"].value == pytest.approx(0.3)
    assert found["prob_feasible"].value == 0.5
    assert found["prob_far_over"].value == 0.5
    assert found["policy_violation_share"].value == pytest.approx(0.5)


@pytest.mark.parametrize("late", ["status", "full_status"])
def test_a_ratio_of_times_is_restricted_if_either_run_was_cut_off(late):
    runs = {"tau": [8, 9], "tau_full": [10, 12], "status": [STOPPED] * 2, "answer": [[1], [1]]}
    runs |= {"full_status": [STOPPED] * 2, "missed": [0, 0]}
    runs |= {"finished": [[1, 2]] * 2, "cancelled": [[0, 0]] * 2}
    whole = summarised("delayed", {"answer": [1]}, runs, strategy="Partial")
    assert (whole["time_ratio"].status, whole["mean_time_ratio"].status) == ("", "")
    assert whole["time_ratio"].value == pytest.approx(17 / 22)
    cut = summarised(
        "delayed", {"answer": [1]}, runs | {late: [STOPPED, CAPPED]}, strategy="Partial"
    )
    assert cut["time_ratio"].status == cut["mean_time_ratio"].status == "restricted"
    assert cut["pulls_finished"].status == ("restricted" if late == "status" else "")


@pytest.mark.parametrize(("last", "status"), [(STOPPED, ""), (CAPPED, "restricted")])
def test_pulls_of_an_arm_are_restricted_as_the_time_is(last, status):
    runs = {"tau": [5, 9], "status": [STOPPED, last], "answer": [0, 0], "pulls": [[2, 3], [4, 5]]}
    found = summarised("linear", {"answer": 0, "arms": 2}, runs)
    assert {found[f"mean_pulls:x{arm}"].status for arm in (1, 2)} == {status}
    assert found["mean_stopping_time"].status == status


def test_the_lower_bound_of_linear_bandits_is_that_of_two_unrelated_arms():
    """8 sigma^2 / gap^2 kl(delta, 1 - delta); kl = (1 - 2 delta) ln((1 - delta) / delta)."""
    problems = registry.PAPERS["linear"].problems
    fields = {"name": "x", "arms": [[1.0, 0.0], [0.0, 1.0]], "theta": [0.5, 0.1], "sigma": 2.0}
    truth = problems.truth(problems.instance(**fields)).model_dump()
    bounds = {
        b.statistic: b for b in registry.PAPERS["linear"].user_output.bounds(truth, {"delta": 0.1})
    }
    kl = 0.8 * math.log(9.0)
    assert bounds["lower_bound"].value == pytest.approx(8 * 4.0 / 0.4**2 * kl, rel=1e-4)
