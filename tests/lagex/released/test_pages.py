"""What is said of the released programs follows from the table's counts and intervals."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bestarm import registry
from bestarm.common.tables import make_sources, read_table, write_table
from bestarm.core.status import Status
from bestarm.lagex import plots, targets
from bestarm.lagex.problem import instances
from bestarm.lagex.released import kept
from bestarm.lagex.released import pages as program_pages
from bestarm.lagex.released.program import PROGRAMS
from bestarm.runs.plan import describe_instances
from bestarm.verdicts.table import as_frame, read_verdicts

IMDB = "imdb"


def few_runs(n, capped=0):
    """Kept runs of every program on IMDB, `n` of each, the last ones capped."""
    arms = instances()[IMDB].problem.means.size
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
    return make_sources({"imdb": written}, described, published)


@pytest.fixture(scope="module")
def traces():
    return kept.read(kept.TRACES)


@pytest.fixture(scope="module")
def verdicts(root):
    return as_frame(read_verdicts(root / "figures/claims.csv"))


@pytest.fixture
def build(root, sources, traces, monkeypatch, tmp_path):
    """Make the target's table from kept runs, in a folder of its own."""

    def made(runs, sources=sources):
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
    said = " ".join(program_pages.program_summary(none).split())
    assert "None was run on hard, easy and IMDB" in said
    program_pages.program_table(none)


def test_the_summary_counts_verdicts_on_times_and_violations(root, verdicts):
    """Six strategies with a time and a count of violations each; the verdicts decide, not we."""
    said = program_pages.program_summary(root)
    lines = [line for line in said.splitlines() if line.startswith("| easy")]
    for line, figure in zip(lines, (6, 9), strict=True):
        easy = verdicts[
            verdicts.id.str.fullmatch(f"fig{figure}-median-.*") & verdicts.program_n.gt(0)
        ]
        easy = easy.drop_duplicates("id")
        counts = easy.program.value_counts()
        _, _, _, _, inside, differ, few, published, interval, _ = line.split("|")
        assert inside.strip() == f"{counts['compatible']} of {len(easy)}"
        assert int(differ) == counts.get("differs", 0)
        assert int(few) == counts.get("too few runs", 0)
        lagex = easy[easy.id == f"fig{figure}-median-lagex"].iloc[0]
        low, high = (f"{end:,.0f}" for end in (lagex.program_low, lagex.program_high))
        assert interval.strip() == f"{low} to {high}"
        assert abs(float(published.replace(",", "")) - float(lagex.published)) <= 0.5


def few_runs_of_setup_2(n, deltas):
    runs = few_runs(n)
    policy = [np.full(5, 0.2)] * len(runs)
    return pd.concat([
        runs.assign(instance=name, delta=delta, policy=policy)
        for name in ("setup 2 hard", "setup 2 easy")
        for delta in deltas
    ])  # fmt: skip


@pytest.mark.parametrize("deltas", [[0.1], [0.01, 0.1]])
def test_setup_2_stands_apart_and_only_if_it_was_run(root, build, sources, deltas):
    """Published are violations alone, under no delta."""
    names = ("setup 2 hard", "setup 2 easy")
    setup_2 = describe_instances(registry.PAPERS["lagex"], {n: instances()[n] for n in names})
    written = pd.concat([
        read_table(root / f"figures/lagex/{target}.csv").query("reading == 'as-written'")
        for target in ("fig10", "fig10-delta", "fig11", "fig11-delta")
    ])  # fmt: skip
    sources = replace(
        sources,
        instances={**sources.instances, **setup_2},
        summary=pd.concat([sources.summary, written]),
    )
    none = build(few_runs(6), sources)
    assert "No program was run in setup 2" in program_pages.setup_2_table(none)
    assert not program_pages.read(none).instance.str.startswith("setup 2").any()
    assert len(plots.programs(program_pages.read(none)).axes) == 6
    parts = program_pages.program_text, program_pages.program_table
    said = [part(none) for part in parts]
    some = build(pd.concat([few_runs(6), few_runs_of_setup_2(7, deltas)]), sources)
    table = program_pages.read(some)
    lines = program_pages.setup_2_table(some).splitlines()[2:]
    assert len(lines) == 2 * len(deltas) * len(PROGRAMS)
    assert all("| 7 |" in line for line in lines)
    wanted = table[(table.instance == "setup 2 hard") & (table.strategy == "LAGEX")]
    wanted = wanted[wanted.statistic == "policy_violations:median"].drop_duplicates("reading")
    wanted = wanted.set_index("reading").value
    (first,) = [line for line in lines if line.startswith(f"| hard | {deltas[0]:g} | LAGEX |")]
    assert f"| {wanted['published']:,.0f} | {wanted['program']:,.0f} |" in first
    figure = plots.programs(table)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert len(titles) == 6 + 2 * len(deltas)
    for delta in deltas:
        assert any(title.startswith(f"hard, δ = {delta:g}") for title in titles)
    assert "no released file has setup 2" in figure.get_label()
    assert "n = 7 runs per program" in figure.get_label()
    # what is said of the others is the same
    assert said == [part(some) for part in parts]
