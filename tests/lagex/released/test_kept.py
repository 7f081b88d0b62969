"""The kept runs of the released programs are those that their port makes."""

import numpy as np
import pytest
import yaml

from bestarm.common import arithmetic
from bestarm.core.files import write_json
from bestarm.core.inputs import InputError
from bestarm.core.status import Status
from bestarm.lagex.problem import EASIER, HARD, instances, setup1
from bestarm.lagex.released import kept, program
from bestarm.lagex.released import runs as program_runs
from bestarm.registry import PAPERS
from bestarm.runs.kept import Job, part, parts_folder
from bestarm.runs.plan import describe_instances
from lagex.released.test_program import same_arithmetic
from provenance import described


@pytest.mark.parametrize("name", kept.TABLES)
def test_tables_are_those_described(name):
    described(name)


#: Runs per program before PLANS had today's counts.
BEFORE = {
    setup1(EASIER).name: dict.fromkeys(program.PROGRAMS, 100),
    setup1(HARD).name: dict.fromkeys(program.PROGRAMS, 7),
    "imdb": dict(zip(program.PROGRAMS, (3, 1, 14, 10, 5, 29), strict=True)),
}


def test_every_run_is_there_once():
    """A count was fixed beforehand: a part of the wanted runs would be the shorter ones."""
    table = kept.read(kept.RUNS)
    planned = {(p.instance, p.delta, p.without): p.runs for p in program_runs.PLANS}
    for (name, delta, strategy, without), rows in table.groupby(program_runs.KEY[:-1]):
        counts = (planned[name, delta, without], BEFORE.get(name, {}).get(strategy))
        assert len(rows) in counts
        assert sorted(rows.replication) == list(range(len(rows)))
    assert (table.pulls.map(sum) == table.tau).all()
    np.testing.assert_allclose(table.policy.map(sum), 1.0, atol=1e-9)


@pytest.mark.long
@same_arithmetic
@pytest.mark.parametrize("name", program.PROGRAMS)
def test_a_kept_run_is_made_again(apart, name):
    """The shortest of every program, all of it."""
    table = kept.read(kept.RUNS)
    rows = table[table.strategy == name]
    row = rows.loc[rows.tau.idxmin()]
    run = program_runs.Run(row.instance, row.delta, name, row.without, int(row.replication))
    again = apart.submit(program.simulate, *program_runs.simulate_arguments(run)).result()
    for column, value in again.items():
        np.testing.assert_array_equal(row[column], value)


@pytest.mark.long
def test_columns_are_those_of_simulated_runs():
    described = describe_instances(PAPERS["lagex"], {n: instances()[n] for n in BEFORE})
    found = list(kept.runs(described))
    assert {name for _, _, name, _ in found} == set(program.PROGRAMS)
    deltas = {plan.instance: plan.delta for plan in program_runs.PLANS if plan.instance in BEFORE}
    for instance, delta, _, runs in found:
        assert delta == deltas[instance]
        # a policy that costs at least 0 too much is no better than the best by more than its price
        assert (runs["regret"][runs["excess"] <= 0.0] >= -1e-9).all()
        assert (runs["tau"] >= instances()[instance].problem.means.size).all()


def test_runs_without_a_peculiarity_are_read_apart(monkeypatch):
    runs = kept.read(kept.RUNS).query("strategy == 'Uniform' and tau < 500").copy()
    runs["without"] = np.where(runs.replication % 2, "tight", "")
    monkeypatch.setattr(kept, "read", {kept.RUNS: runs}.get)
    easy = describe_instances(PAPERS["lagex"], {n: instances()[n] for n in [setup1(EASIER).name]})
    for without in ("", "tight"):
        ((_, _, name, columns),) = kept.runs(easy, without)
        own = runs[(runs.instance == setup1(EASIER).name) & (runs.without == without)]
        assert name == "Uniform"
        np.testing.assert_array_equal(columns["tau"], own.tau)
    assert list(kept.runs(easy, "sum")) == []


@pytest.mark.parametrize("cap", [1, 199, 200, 201, 10**6])
def test_a_smaller_cap_ends_runs_as_if_they_had_had_it(cap):
    """A run that stops with its last allowed pull has stopped."""
    runs = {"tau": np.array([100, 200, 300, 300, 400]), "status": np.array([0, 0, 0, 2, 1])}
    tau, status = kept.stopped_at(cap, runs)
    for ours, its, before, was in zip(tau, status, *runs.values(), strict=True):
        assert (ours, its) == ((before, was) if before <= cap else (cap, Status.CAPPED))


def test_longest_runs_come_first():
    seconds = list(program_runs.planned_runs().values())
    assert seconds == sorted(seconds, reverse=True)
    counts = {
        plan: sum(program.can_be_without(name, plan.without) for name in program.PROGRAMS)
        for plan in program_runs.PLANS
    }
    assert len(seconds) == sum(plan.runs * programs for plan, programs in counts.items())
    setup_2 = [
        (run.instance, run.delta) for run in program_runs.planned_runs() if "setup 2" in run[0]
    ]
    assert len(set(setup_2)) == 4


def test_the_forecast_leaves_out_what_is_there(tmp_path):
    out = tmp_path / "runs.parquet"
    runs = program_runs.planned_runs()
    hours = sum(runs.values()) / 3600.0
    assert f"together: {len(runs)} runs, {hours:.1f} h" in program_runs.forecast(out)
    done = program_runs.job(next(iter(runs)))
    write_json(part(done, out), {})
    assert f"together: {len(runs) - 1} runs" in program_runs.forecast(out)


def test_more_runs_extend_a_table(monkeypatch, tmp_path):
    """What is there of the same law is kept, and only what is missing is run.

    A run is replaced by its number of pulls.
    """
    easy, out = setup1(EASIER).name, tmp_path / "runs.parquet"
    quick = [program_runs.Run(easy, 0.01, "Uniform", "", r) for r in range(2)]
    asked = []

    def job(run):
        asked.append(run)
        name, work, arguments, law = whole_job(run)
        assert (work, arguments) == (program.simulate, program_runs.simulate_arguments(run))
        return Job(name, dict, ([("tau", 10 + run.replication)],), law)

    whole_job = program_runs.job
    monkeypatch.setattr(program_runs, "job", job)
    monkeypatch.setattr(program_runs, "planned_runs", lambda: dict.fromkeys(quick[:1], 1.0))
    program_runs.make(out, 1)
    first = out.with_name("provenance.yaml").read_text()
    assert "1 runs of" in first
    assert asked == quick[:1]
    monkeypatch.setattr(program_runs, "planned_runs", lambda: dict.fromkeys(quick, 1.0))
    program_runs.make(out, 1)
    assert asked == quick
    law = yaml.safe_load(out.with_name("provenance.yaml").read_text())["law"]
    assert program_runs.kept(out, law).tau.tolist() == [10, 11]
    assert program_runs.kept(out, law + 1).empty


def test_only_whole_cells_are_added_while_others_are_made(monkeypatch, tmp_path):
    """A part of a cell's runs would be the shorter ones; parts stay, so that `make` goes on."""
    easy, out = setup1(EASIER).name, tmp_path / "runs.parquet"
    cells = [("Uniform", ""), ("PTnS", ""), ("PTnS", "tight")]
    runs = [
        program_runs.Run(easy, 0.01, name, without, r) for name, without in cells for r in range(2)
    ]
    monkeypatch.setattr(program_runs, "planned_runs", lambda: dict.fromkeys(runs, 1.0))

    def finish(run):
        write_json(part(program_runs.job(run), out), {"tau": 10 + run.replication})

    def there():
        program_runs.make_complete(out, 1)
        table = program_runs.kept(out, program_runs.LAW)
        return [tuple(row) for row in table[["strategy", "without", "replication"]].to_numpy()]

    for run in (runs[0], runs[1], runs[2], runs[5]):
        finish(run)
    assert there() == [("Uniform", "", 0), ("Uniform", "", 1)]
    assert "2 runs of" in out.with_name("provenance.yaml").read_text()
    finish(runs[4])
    assert there() == [("PTnS", "tight", 0), ("PTnS", "tight", 1), *there()[2:]]
    assert len(there()) == 4
    assert set(program_runs.missing(program_runs.kept(out, program_runs.LAW))) == set(runs[2:4])
    assert part(program_runs.job(runs[2]), out).exists()
    finish(runs[3])
    program_runs.make(out, 1)
    assert len(program_runs.kept(out, program_runs.LAW)) == 6
    assert not parts_folder(out).exists()


def test_runs_are_made_in_the_arithmetic_of_the_kept_ones_only(monkeypatch):
    """Another one gives other runs: one of CGE-WLag ends after 1,099 rounds instead of 189."""
    monkeypatch.setattr(arithmetic, "AT_START", {"OMP_NUM_THREADS": "2"})
    with pytest.raises(InputError, match="OMP_NUM_THREADS must be 1"):
        program.simulate("Uniform", setup1(EASIER).name, 0.01, 10, 1, 0)


def test_shares_of_recorded_rounds():
    shares = {(instance, name): found for instance, name, found in kept.rounds()}
    assert len(shares) == 2 * len(program.PROGRAMS)
    for (_, name), found in shares.items():
        assert all(0.0 <= value <= 1.0 for value in found.values())
        if name in ("LAGEX", "Uniform"):
            assert found["rounds_uniform"] == 1.0
        assert found["rounds_own_neighbour"] > 0.5
        assert ("rounds_at_start" in found) == (name in ("LATS", "CTnS-WLag"))
