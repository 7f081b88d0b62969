"""Runs that go on from where one with narrower intervals stopped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestarm.common.paper import Cell
from bestarm.common.stops import Stops
from bestarm.core.status import Status
from bestarm.core.streams import run_streams
from bestarm.linear import strategies
from bestarm.linear.confidence import Width, radius
from bestarm.linear.problem import paper_instance
from bestarm.linear.stops import at_most
from bestarm.linear.strategies import grid, prepare

SIZE = st.floats(0.1, 10.0)
WIDTHS = st.builds(
    Width,
    scale=SIZE,
    base=SIZE,
    growth=st.sampled_from([0.0, 1.0, 2.0]),
    offset=st.sampled_from([0.0, 1.0]),
    slope=st.sampled_from([0.5, 1.0]),
    bias=st.sampled_from([0.0, 1.0]),
)


@given(narrow=WIDTHS, wide=WIDTHS)
def test_what_is_called_narrower_is_nowhere_wider(narrow, wide):
    if at_most(narrow, wide):
        for n in (1, 2, 10, 10**8):
            assert radius(narrow, n) <= radius(wide, n) * (1.0 + 1e-12)


def test_constant_and_growing_widths_compare():
    constant, growing = Width(1.0, 2.0), Width(1.0, 2.0, 2.0, 0.0, 1.0)
    assert at_most(constant, growing)
    assert not at_most(growing, constant)
    assert not at_most(growing, growing._replace(offset=1.0))


@pytest.mark.parametrize("cap", [3, 40, 4000])
@pytest.mark.parametrize("strategy", ["G", "XY", "XY-Oracle"])
def test_runs_are_those_of_a_fresh_record(strategy, cap, monkeypatch):
    """Every reading in two orders; some caps are met before the rule, at it and after it."""
    instance = paper_instance(2)
    names = [name for name in grid(strategy) if "true-gaps" not in name]
    cells = [Cell(instance.name, strategy, {"cap": cap}, name) for name in names]

    def runs(order, fresh):
        found = {}
        for cell in order:
            replicate = prepare(instance, cell)
            for r in range(3):
                if fresh:
                    monkeypatch.setattr(strategies, "STOPPED", Stops())
                found[cell.reading, r] = replicate(run_streams(5, r))
        return found

    wanted = runs(cells, fresh=True)
    for order in (cells, cells[::-1]):
        monkeypatch.setattr(strategies, "STOPPED", Stops())
        for which, one in runs(order, fresh=False).items():
            for ours, theirs in zip(one, wanted[which], strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_a_cap_at_the_stop_itself_is_a_stop(monkeypatch):
    """Also for a second run, which begins there."""
    instance = paper_instance(2)
    tau = prepare(instance, Cell("", "G", {}, "1*logK+two-step"))(run_streams(5, 0)).tau
    monkeypatch.setattr(strategies, "STOPPED", Stops())
    for cap, status in ((tau, Status.STOPPED), (tau - 1, Status.CAPPED)):
        replicate = prepare(instance, Cell("", "G", {"cap": cap}, "1*logK+two-step"))
        assert [replicate(run_streams(5, 0)).status for _ in range(2)] == [status, status]
