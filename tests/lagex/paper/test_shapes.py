"""The runs behind Figure 2."""

from bestarm.lagex.paper.shapes import ROUNDS, snapshots
from bestarm.lagex.problem import triangle


def test_a_run_goes_on_where_its_stopping_rule_holds():
    """Run 181 draws a tiny estimated set, which passes the test in round 3 at any delta."""
    for run in (0, 181):
        assert [one.pulls.sum() for one in snapshots(triangle(), run)] == list(ROUNDS)
