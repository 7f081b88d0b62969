"""Corridor problems, SCIP's runs on them, and the kept table of runs."""

import hashlib

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from bestarm.delayed.data import corridors, cuts
from bestarm.delayed.data.corridors import SIDE, corridor, joining_tree, neighbours, tree_flow
from bestarm.delayed.data.forecast import split_instances
from bestarm.delayed.data.recorded import TABLES, digest, table_path, traces

NAMES = ("none", "gomory+cmir+flow+zerohalf+knapsack")


@pytest.mark.parametrize("number", range(20))
def test_a_problem_is_one(number):
    """Reserves apart and free, a tree that joins them within the budget, a field over its range."""
    problem = corridor(number)
    assert len(set(problem.reserves)) == corridors.RESERVES
    assert (problem.price[problem.reserves] == 0).all()
    assert set(problem.reserves) <= problem.tree.keys()
    assert problem.price[list(problem.tree)].sum() * corridors.SLACK >= problem.budget
    assert problem.price[list(problem.tree)].sum() <= problem.budget
    assert (problem.suitability.min(), problem.suitability.max()) == (1, 100)
    for parcel, before in problem.tree.items():
        assert parcel == before == problem.reserves[0] or before in neighbours(parcel)
    again = corridor(number)
    np.testing.assert_array_equal(problem.suitability, again.suitability)
    assert problem.tree == again.tree


def test_flow_along_the_tree_is_conserved():
    problem = corridor(3)
    flow = tree_flow(problem.tree)
    root = problem.reserves[0]
    for parcel in problem.tree:
        into = sum(v for (_, w), v in flow.items() if w == parcel)
        out = sum(v for (u, _), v in flow.items() if u == parcel)
        assert into - out == (1 - len(problem.tree) if parcel == root else 1)


def test_the_cheapest_path_is_taken():
    """Two reserves at the ends of a row; a free detour beats a dear straight line."""
    price = np.full(SIDE * SIDE, 50)
    price[: 2 * SIDE : SIDE] = price[SIDE - 1 : 2 * SIDE : SIDE] = price[SIDE : 2 * SIDE] = 0
    tree = joining_tree(price, np.array([0, SIDE - 1]))
    assert price[list(tree)].sum() == 0
    assert set(range(SIDE, 2 * SIDE)) <= tree.keys()
    price[price == 0] = 40  # each parcel of the detour is cheaper, all together are not
    assert joining_tree(price, np.array([0, SIDE - 1])).keys() == set(range(SIDE))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Two instances, two arms, the real solver."""
    pytest.importorskip("pyscipopt")
    out = tmp_path_factory.mktemp("mip") / "traces.parquet"
    cuts.make(out, 1, instances=2, names=NAMES)
    return out


def check(table):
    """What must hold at every step of every run."""
    for (_, _), run in table.groupby(["instance", "arm"], observed=True):
        assert run.step.tolist() == list(range(1, len(run) + 1))
        final = run.lower.iloc[-1]
        assert (run.lower <= final).all()
        assert (final <= run.upper).all()
        assert (run.lower.diff().dropna() >= 0).all()
        assert (run.upper.diff().dropna() <= 0).all()
        assert len(run) <= cuts.STEPS
        assert len(run) == cuts.STEPS or final == pytest.approx(run.upper.iloc[-1], abs=1e-5)


def test_bounds_of_the_real_solver(small):
    table = pq.read_table(small).to_pandas()
    assert table.groupby(["instance", "arm"], observed=True).ngroups == 4
    assert table.arm.cat.categories.tolist() == list(NAMES)
    check(table)
    last = table.groupby(["instance", "arm"], observed=True).last()
    solved = last[last.lower >= last.upper - 1e-5]
    for _, same in solved.groupby("instance"):
        assert same.lower.nunique() == 1  # an optimum does not depend on the cuts


def test_another_run_gives_the_rows_that_are_kept(small):
    kept = yaml.safe_load(table_path("mip").with_name("provenance.yaml").read_text())
    if f"SCIP {cuts.scip().Model().version()} " not in kept["what"]:
        pytest.skip("rows are those of one version of SCIP")
    rows = pq.read_table(table_path("mip")).to_pandas().query("instance < 2 and arm in @NAMES")
    ours = pq.read_table(small).to_pandas()
    assert len(ours) == len(rows)
    for name in ("instance", "arm", "step", "lower", "upper"):
        np.testing.assert_array_equal(ours[name], rows[name])


def test_a_table_has_its_provenance_beside_it(small):
    provenance = yaml.safe_load((small.parent / "provenance.yaml").read_text())
    assert provenance["sha256"] == hashlib.sha256(small.read_bytes()).hexdigest()
    assert sorted(p.name for p in small.parent.iterdir()) == ["provenance.yaml", "traces.parquet"]


def test_families_switch_their_separators(small):
    """Of each family alone; all other separators stay off."""
    problem = corridor(0)
    for family, separators in cuts.FAMILIES.items():
        parameters = cuts.build(problem, (family,))[0].getParams()
        on = {
            name.split("/")[1]
            for name, value in parameters.items()
            if name.startswith("separating/") and name.endswith("/freq") and value >= 0
        }
        aggregation = {"aggregation"} if set(separators) & set(cuts.UNDER_AGGREGATION) else set()
        assert on == set(separators) | aggregation
        handlers = [parameters[f"constraints/{h}/sepafreq"] for h in cuts.KNAPSACK_HANDLERS]
        assert all(value >= 0 for value in handlers) == (family == "knapsack")


def test_the_table_that_is_kept():
    """Its shape, its bounds, its provenance, its size; runs of an instance share its optimum."""
    path = table_path("mip")
    assert path.stat().st_size < 5_000_000
    provenance = yaml.safe_load(path.with_name("provenance.yaml").read_text())
    assert provenance["sha256"] == digest("mip")
    assert provenance["table"] == TABLES["mip"].split("/")[1]
    runs = traces()
    assert runs.arms == tuple(cuts.arms())
    assert runs.lower.shape == (cuts.INSTANCES, 32, cuts.STEPS)
    final = np.rint(runs.finals * runs.unit[:, None])  # lower bounds are whole numbers
    assert (np.nan_to_num(runs.lower) <= final[:, :, None]).all()
    assert (np.nan_to_num(runs.upper, nan=np.inf) >= final[:, :, None]).all()
    assert len(split_instances(cuts.INSTANCES)[0]) * 4 == cuts.INSTANCES
    check(pq.read_table(path).to_pandas().query("instance < 5"))
