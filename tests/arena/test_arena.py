"""The arena: its list of cells, its kept tables, its summaries and pictures, and submissions."""

import hashlib
import math

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from bestarm import registry
from bestarm.arena import pictures, runs, summary, table
from bestarm.arena.cells import (
    DELTAS,
    GENERIC,
    MOST_CELLS,
    MOST_PULLS,
    PROVEN,
    budget_cells,
    cells,
    entry_deltas,
    smallest_cells,
    submitted_cells,
)
from bestarm.arena.entries import Entry, arenas, entry_bound, entry_time
from bestarm.arena.submissions import load_submission, submissions
from bestarm.common.files import data_folder
from bestarm.core.estimates import wilson
from bestarm.core.inputs import InputError
from bestarm.core.pure_exploration.optimum import characteristic_time
from bestarm.verdicts.claims import read_claims
from bestarm.verdicts.validity import guarantees
from command_line import bestarm

KEPT = data_folder() / "arena"


@pytest.fixture(scope="module")
def kept():
    return {name: pd.read_csv(KEPT / f"{name}.csv") for name in ("cells", "errors", "budgets")}


def one_cell_a_problem():
    """The bound of a cell is slow to compute, and does not depend on its strategy."""
    return {(entry.paper, entry.family, entry.instance): entry for entry in cells()}.values()


def test_the_list_is_short_and_bounds_are_small():
    assert 0 < len(cells()) <= MOST_CELLS
    assert len(set(cells())) == len(cells())
    for entry in one_cell_a_problem():
        assert entry_deltas(entry)
        assert all(entry_bound(entry, delta) <= MOST_PULLS for delta in entry_deltas(entry))


def test_every_strategy_and_reading_exists():
    for entry in [*cells(), *(entry for entry, _ in budget_cells())]:
        if entry.reading == GENERIC:
            assert entry.strategy in runs.STRATEGIES
        else:
            assert entry.reading in registry.PAPERS[entry.paper].simulation.readings[entry.strategy]


def test_rules_called_proven_are_so_in_the_claims(root):
    claimed = {
        paper: guarantees(read_claims(root / f"data/claims/{paper}.yaml"), {})
        for paper in {entry.paper for entry in cells()}
    }
    for entry in cells():
        if entry.rule == PROVEN and entry.reading != GENERIC:
            assert claimed[entry.paper][entry.strategy, entry.reading].startswith("proven")


def test_a_family_is_the_same_problem_for_all_papers():
    times: dict = {}
    for entry in one_cell_a_problem():
        times.setdefault((entry.family, entry.instance), []).append(entry_time(entry))
    for some in times.values():
        np.testing.assert_allclose(some, some[0], rtol=3e-6)  # twice the certificate's gap


def test_times_are_those_of_the_kept_table(kept):
    """Of every problem; the table has six digits."""
    table = kept["cells"].groupby(["family", "paper", "instance"]).characteristic_time.first()
    for entry in one_cell_a_problem():
        known = table[entry.family, entry.paper, entry.instance]
        assert entry_time(entry) == pytest.approx(known, rel=1e-5)


def test_times_are_those_of_the_papers():
    """T* by each paper's own solver, where it has one."""
    for paper in ("baics", "lagex"):
        problems = registry.PAPERS[paper].problems
        for family in arenas()[paper].families.values():
            for instance in family.instances if family.time is None else ():
                known = problems.truth(instance).characteristic_time
                found = characteristic_time(*arenas()[paper].problem(instance)).time
                assert found == pytest.approx(known, rel=1e-5)


def test_the_kept_tables_are_those_described(kept):
    provenance = yaml.safe_load((KEPT / "provenance.yaml").read_text())
    hashes = {provenance["table"]: provenance["sha256"]} | provenance["beside"]
    for name, known in hashes.items():
        assert hashlib.sha256((KEPT / name).read_bytes()).hexdigest() == known
    jobs = table.jobs()
    for file, _, level, work in table.KINDS.values():
        wanted = [(*job.arguments[0], *job.arguments[1:]) for job in jobs if job.work is work]
        found = kept[file.removesuffix(".csv")][[*Entry._fields, level, "runs"]]
        assert list(found.itertuples(index=False, name=None)) == wanted
    hashed = pd.read_csv(KEPT / table.FINGERPRINTS)
    assert list(hashed["row"]) == [job.name for job in jobs]


FAST = [
    ("linear rewards", "RAGE"),
    ("best arm for all subpopulations", "T-a-S"),
    ("good mixture, unknown limits", "LAGEX"),
]


@pytest.mark.parametrize(("family", "strategy"), FAST)
def test_a_cell_gives_its_kept_row(kept, family, strategy):
    row = kept["cells"].query("family == @family and strategy == @strategy").iloc[0]
    entry = Entry(*row[list(Entry._fields)])
    again = runs.measure(list(entry), row.delta, row.runs)
    del again["microseconds"]
    for name, value in again.items():
        assert row[name] == (pytest.approx(value, rel=1e-5) if type(value) is float else value)


def test_ratios_and_errors_are_what_they_say():
    """By plain Python, for runs of which one was cut off and one is wrong."""
    tau = [10, 20, 30, 40]
    found = {
        "tau": np.array(tau),
        "stopped": np.array([True, True, True, False]),
        "right": np.array([True, False, True, False]),
    }
    ratios = runs.time_ratios(found, 10.0)
    mean = sum(tau) / 40
    deviation = math.sqrt(sum((t / 10 - mean) ** 2 for t in tau) / 3)
    half = stats.t(3).ppf(0.975) * deviation / 2
    assert ratios["ratio"] == pytest.approx(mean)
    assert ratios["ratio_low"] == pytest.approx(mean - half)
    assert ratios["ratio_90"] is None  # among those cut off
    counts = runs.error_counts(found)
    assert (counts["runs"], counts["stopped"], counts["wrong"]) == (4, 3, 1)
    assert (counts["error_low"], counts["error_high"]) == pytest.approx(wilson(0.25, 4))


def test_proven_rules_keep_their_promise(kept):
    """Upper limits are at most delta; in cells, errors by chance once in a million."""
    errors = kept["errors"]
    assert (errors.runs == 2000).all()
    assert (errors.error_high <= errors.delta).all()
    assert {(e.family, e.strategy) for e in smallest_cells()} == set(
        errors[["family", "strategy"]].itertuples(index=False, name=None)
    )
    proven = kept["cells"][kept["cells"].rule == PROVEN]
    assert (proven.wrong <= stats.binom.isf(1e-6, proven.runs, proven.delta)).all()
    assert (proven.ratio_high > 1.0).all()  # none is below the bound


def rows(**columns) -> pd.DataFrame:
    """Two instances of a family, of a strategy each of two."""
    base = {
        "family": "f", "rule": PROVEN, "delta": 0.1, "runs": 100, "stopped": 100, "error": 0.0,
        "error_low": 0.0, "error_high": 0.03, "ratio_90": 9.0, "ratio_99": 12.0,
        "microseconds": 1.0, "strategy": ["a", "a", "b", "b"], "ratio": [2.0, 8.0, 3.0, 3.0],
    }  # fmt: skip
    found = pd.DataFrame(base | columns)
    return found.assign(ratio_low=0.99 * found.ratio, ratio_high=1.01 * found.ratio)


def test_families_are_geometric_means_and_the_least_wins():
    found = summary.by_family(rows()).set_index("strategy")
    assert found.ratio.a == pytest.approx(4.0)
    assert found.ratio.b == pytest.approx(3.0)
    assert found.place.to_dict() == {"a": "", "b": "winner"}
    assert found.high.a / found.ratio.a == pytest.approx(math.exp(0.01 / math.sqrt(2)), rel=1e-4)


@pytest.mark.parametrize(
    "change",
    [
        {"rule": [PROVEN, PROVEN, "as written", "as written"]},
        {"error_low": [0.0, 0.0, 0.0, 0.2]},
        {"stopped": [100, 100, 100, 99]},
    ],
)
def test_only_proven_rules_that_stop_and_do_not_err_can_win(change):
    found = summary.by_family(rows(**change)).set_index("strategy")
    assert found.place.to_dict() == {"a": "winner", "b": ""}


def test_pictures_show_every_number():
    table = summary.by_family(rows(stopped=[100, 100, 100, 99], error_low=[0.0, 0.2, 0.0, 0.0]))
    drawn = pictures.fixed_confidence(table)
    texts = {text.get_text() for axes in drawn.axes for text in axes.texts}
    assert {"4.0", ">3.0"} <= texts
    assert [patch.get_hatch() for axes in drawn.axes for patch in axes.patches] == ["////"]
    won = summary.by_family(rows())
    for shown, title in ((table, "no winner"), (won, "b: 3.0 times the bound")):
        assert pictures.winners(shown).axes[0].get_title(loc="left") == f"f\n{title}"
    budgets = rows(wrong=[50, 0, 10, 10]).assign(budget=1000)
    drawn = pictures.fixed_budget(summary.by_budget(budgets))
    assert {text.get_text() for text in drawn.axes[0].texts} == {"25.0", "10.0", "f"}


def test_the_kept_pictures_are_drawn_from_the_kept_tables(root):
    for name, (tabulate, _) in pictures.DRAWN.items():
        text = tabulate(KEPT).to_csv(index=False, lineterminator="\n", float_format="%.6g")
        assert (root / f"figures/arena/{name}.csv").read_text() == text


def test_submissions_keep_the_contract(root):
    """Each on the easy instance of a paper that it names."""
    for one in submissions():
        where = load_submission(one).make.__module__.removeprefix("bestarm_plugin_")
        file = root / "arena" / f"{where}.py"
        for paper in one.papers:
            done = bestarm(file, "--on", paper, module="bestarm.conformance")
            assert done.code == 0, done.out + done.err
    assert {one.name for one in submitted_cells().values()} == {one.name for one in submissions()}
    assert set(DELTAS) == {0.1, 0.01}


GOOD = {
    "name": "Mine",
    "strategy": "mine.py:Mine",
    "papers": ["linear"],
    "promise": "proven",
    "reference": "here",
    "licence": "MIT",
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"papers": ["other"]}, r"mine\.yaml: papers: must be of baics, .*, got other"),
        ({"papers": []}, r"mine\.yaml: papers: "),
        ({"promise": "sure"}, r"mine\.yaml: promise: .*proven"),
        ({"strategy": "mine.py"}, r"mine\.yaml: strategy: must be FILE\.py:CLASS"),
        ({"name": "LinGapE"}, r"mine\.yaml: name: LinGapE is taken"),
        ({"name": "Earlier"}, r"mine\.yaml: name: Earlier is taken"),
        ({"speed": 1}, r"mine\.yaml: speed: unknown field"),
        ({"licence": None}, r"mine\.yaml: licence: "),
    ],
)
def test_what_is_no_submission_is_said_in_a_line(tmp_path, change, said):
    (tmp_path / "earlier.yaml").write_text(yaml.safe_dump(GOOD | {"name": "Earlier"}))
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(GOOD | change))
    with pytest.raises(InputError, match=said):
        submissions(tmp_path)


def test_a_class_that_is_not_there_is_named(tmp_path):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(GOOD))
    (tmp_path / "mine.py").write_text("class Other: pass")
    with pytest.raises(InputError, match=r"Mine: strategy: mine\.py has no Mine"):
        load_submission(submissions(tmp_path)[0], tmp_path)
