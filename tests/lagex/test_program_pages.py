"""What is said of the released programs follows from the table's counts and intervals."""

import shutil

import numpy as np
import pandas as pd
import pytest

from bestarm import registry
from bestarm.common.tables import read_table, sources_of, write_table
from bestarm.core.status import Status
from bestarm.lagex import kept, plots, program_pages, targets
from bestarm.lagex.problem import instances
from bestarm.lagex.program import PROGRAMS
from bestarm.runs.plan import describe_instances
from bestarm.verdicts.table import as_frame, read_verdicts

IMDB = "imdb"


def few_runs(n, capped=0):
    """Kept runs of every program on IMDB, `n` of each, the last ones capped."""
    arms = instances()[IMDB].model.means.size
    tau = 1000.0 * (1 + np.arange(n))
    tau[n - capped :] = 100_000
    one = {
        "instance": IMDB,
        "delta": 0.1,
        "without": "",
        "tau": tau,
        "status": np.where(np.arange(n) < n - capped, Status.STOPPED, Status.CAPPED),
        "policy": [np.full(arms, 1 / arms)] * n,
        "policy_violations": tau - arms,
        "allocation_violations": tau - arms,
        "empty": 0,
    }
    return pd.concat([pd.DataFrame(one | {"strategy": name}) for name in PROGRAMS])


@pytest.fixture(scope="module")
def sources(root):
    described = describe_instances(registry.PAPERS["lagex"], {IMDB: instances()[IMDB]})
    stored = program_pages.read(root)
    written = stored[(stored.reading == "as-written") & (stored.other == "")]
    published = read_table(root / "data/published/lagex.csv")
    return sources_of({"imdb": written}, described, published)


@pytest.fixture(scope="module")
def traces():
    return kept.read(kept.TRACES)


@pytest.fixture(scope="module")
def verdicts(root):
    return as_frame(read_verdicts(root / "figures/claims.csv"))


@pytest.fixture
def build(root, sources, traces, monkeypatch, tmp_path):
    """Make the target's table from kept runs, in a folder of its own."""

    def made(runs):
        tables = {kept.RUNS: runs, kept.TRACES: traces}
        monkeypatch.setattr(kept, "read", tables.get)
        write_table(targets.programs(sources), tmp_path / "figures/lagex/programs.csv")
        shutil.copy(root / "figures/claims.csv", tmp_path / "figures")
        (tmp_path / "data").mkdir(exist_ok=True)
        shutil.copytree(root / "data/claims", tmp_path / "data/claims", dirs_exist_ok=True)
        return tmp_path

    return made


@pytest.mark.parametrize("n", [5, 6])
def test_too_few_runs_have_no_interval(build, n):
    """Six is the least number of runs whose extremes hold the median in 95% of cases."""
    root = build(few_runs(n))
    found = dict(program_pages.medians(program_pages.read(root)))
    assert list(found) == ["IMDB"]
    assert {one.strategy for one in found["IMDB"]} == set(PROGRAMS)
    for one in found["IMDB"]:
        assert one.n == n
        assert one.known == (n >= 6)
        assert one.value == 500 * (n + 1)
    text, table = program_pages.program_text(root), program_pages.program_table(root)
    assert ("No interval for" in text) == (n < 6)
    assert ("| none |" in table) == (n < 6)
    assert "hard: no program was run" in text
    assert "on hard and easy" in " ".join(program_pages.program_summary(root).split())


def test_intervals_may_end_among_capped_runs(build):
    """A largest run that was capped is no upper end; a median that was capped has no interval."""
    for capped, said in ((1, "or more"), (4, "beyond the cap | none")):
        assert said in program_pages.program_table(build(few_runs(7, capped)))


def test_ratios_of_few_runs_tell_no_order(build):
    """One run each: the medians differ, but their ratio has no interval."""
    runs = few_runs(1)
    runs.loc[runs.strategy == "LATS", "tau"] = 10.0
    table = program_pages.read(build(runs))
    assert program_pages.orderings(table, IMDB) == []
    ratios = table[(table.statistic == "median_ratio") & (table.reading == "program")]
    assert len(ratios) == 3
    assert ratios.low.isna().all()


def test_the_figure_states_the_runs_of_each_panel(build):
    figure = plots.programs(program_pages.read(build(few_runs(3))))
    titles = [axes.get_title(loc="left") or axes.get_title() for axes in figure.axes]
    for name in (
        "hard (programs not run)",
        "easy (programs not run)",
        "IMDB (3 program runs)",
    ):
        assert name in titles


def test_without_kept_runs_everything_is_said(build):
    none = build(few_runs(0))
    assert "IMDB: no program was run" in program_pages.program_text(none)
    assert "none was run on hard, easy and IMDB" in program_pages.program_summary(none)
    program_pages.program_table(none)


def test_the_summary_counts_verdicts_on_times_and_violations(root, verdicts):
    """Six strategies with a time and a count of violations each; the verdicts decide, not we."""
    said = " ".join(program_pages.program_summary(root).split())
    easy = verdicts[verdicts.id.str.fullmatch("fig[69]-median-.*") & verdicts.program_n.gt(0)]
    easy = easy.drop_duplicates("id")
    compatible = (easy.program == "compatible").sum()
    assert f"{compatible} of {len(easy)} published numbers are compatible with it" in said
