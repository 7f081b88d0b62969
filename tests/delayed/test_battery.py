"""Charging policies, PyBaMM's cells on them, and the kept table of lives."""

import hashlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from scipy.stats import spearmanr

from bestarm.core.inputs import InputError
from bestarm.delayed.data import battery
from bestarm.delayed.data.battery import MINUTES, Policy, candidates, cells, life, minutes
from bestarm.delayed.data.recorded import CYCLES_PER_STEP, digest, policies, records, table_path

GENTLE, HARSH = Policy(6.0, 6.0, 3.0, 2.4), Policy(3.0, 4.0, 6.0, 3.0)


def test_policies_take_equally_long():
    found = candidates()
    assert len(found) > 10 * battery.POLICIES
    assert len(set(found)) == len(found)
    for policy in found:
        assert sum(map(minutes, policy)) == pytest.approx(MINUTES)
        assert battery.LAST[0] <= policy.c4 <= battery.LAST[1]
    assert candidates() == found


def test_life_by_hand():
    """A fade of 1%, then 2%, of the first capacity a cycle; dead when 20% are gone."""
    assert life(np.array([5.0, 4.95, 4.9])) == pytest.approx(21.0)
    assert life(np.array([5.0, 4.9])) == pytest.approx(11.0)


def test_cells_spread_around_the_nominal_one():
    factors = cells()
    assert factors.shape == (battery.CELLS, 3)
    assert (factors > 0.5).all()
    assert (factors < 2.0).all()
    np.testing.assert_array_equal(factors, cells())


NOMINAL = np.ones(len(battery.SPREAD_BY))


@pytest.mark.long
def test_the_real_simulator():
    """Capacity never grows, more current is a shorter life, cells differ, and runs do not.

    Over two blocks, the second of which begins where the first ended.
    """
    pytest.importorskip("pybamm")
    rigs = {policy: battery.Rig(policy, block=3) for policy in (GENTLE, HARSH)}
    nominal = {policy: rig.capacities(6, NOMINAL) for policy, rig in rigs.items()}
    other = rigs[GENTLE].capacities(3, 1.3 * NOMINAL)
    for capacities in (*nominal.values(), other):
        assert (np.diff(capacities) <= 0.0).all()
        assert 3.0 < capacities[-1] < capacities[0] < 6.0
    assert life(nominal[HARSH]) < life(nominal[GENTLE])
    assert life(nominal[GENTLE]) != life(other)
    again = battery.Rig(GENTLE, block=3).capacities(6, NOMINAL)
    np.testing.assert_array_equal(again, nominal[GENTLE])


@pytest.mark.long
def test_a_policy_that_hits_the_cut_off_is_refused():
    pytest.importorskip("pybamm")
    assert battery.try_policy((20.0, 20.0, 20.0, 20.0), long=2, short=2) is None


class Step(dict):
    """A step of a cycle as PyBaMM gives it; charge passes only in the last one."""

    def __init__(self, cycle, termination):
        passed = SimpleNamespace(entries=np.array([1.0, 6.0 - 0.01 * cycle]))
        super().__init__({"Discharge capacity [A.h]": passed})
        self.termination = termination


class Simulation:
    """Two cycles per call, of 5 A.h less 0.01 per cycle, with steps that end as told."""

    def __init__(self, *terminations):
        self.terminations, self.begun = terminations, []

    def solve(self, *, inputs, starting_solution, **_):
        self.begun.append((inputs, starting_solution))
        first = starting_solution or 0
        cycles = [
            SimpleNamespace(steps=[Step(number, end) for end in self.terminations])
            for number in range(first + 2)
        ]
        return SimpleNamespace(cycles=cycles[-2:], last_state=first + 2)


def rig_of(*terminations):
    """A rig of four charging steps and two more, without PyBaMM."""
    rig = object.__new__(battery.Rig)
    rig.block, rig.cycle, rig.simulation = 2, (None,) * 6, Simulation(*terminations)
    return rig


def test_blocks_follow_each_other_and_every_cycle_counts():
    rig = rig_of(*["final time"] * 4, "event", "event")
    np.testing.assert_allclose(rig.capacities(4, 2.0 * NOMINAL), 5.0 - 0.01 * np.arange(4))
    assert [start for _, start in rig.simulation.begun] == [None, 2]
    wanted = {name: 2.0 * value for name, value in battery.SPREAD_BY.items()}
    assert all(inputs == wanted for inputs, _ in rig.simulation.begun)


@pytest.mark.parametrize("step", range(4))
def test_charging_that_ends_before_its_time_is_refused(step):
    ends = ["final time"] * 4
    ends[step] = "event: cut-off"
    assert rig_of(*ends, "event", "event").capacities(2, NOMINAL) is None


def test_a_cycle_without_its_last_step_is_an_error():
    with pytest.raises(RuntimeError, match="not simulated to its end"):
        rig_of(*["final time"] * 4, "event").capacities(2, NOMINAL)


def test_the_table_that_is_kept():
    """What the study needs of it, and its provenance."""
    table = policies()
    assert len(table) == table.policy.nunique() == battery.POLICIES
    rates = table[["c1", "c2", "c3", "c4"]]
    assert (60.0 * battery.SHARE / rates).sum(axis=1).to_numpy() == pytest.approx(MINUTES, rel=1e-5)
    assert (table.last_capacity < table.first_capacity).all()
    assert (table.largest_rise <= 0.0).all()
    assert table.life.between(100, 5000).all()
    assert table.life.max() > 1.5 * table.life.min()
    lives = table.filter(like="cell_")
    assert lives.shape[1] == battery.CELLS
    spread = lives.std(axis=1) / lives.mean(axis=1)
    assert spread.between(0.02, 0.2).all()
    provenance = yaml.safe_load(table_path("battery").with_name("provenance.yaml").read_text())
    assert provenance["sha256"] == digest("battery")
    assert provenance["sha256"] == hashlib.sha256(table_path("battery").read_bytes()).hexdigest()
    names, pulls = records("battery")
    assert list(names) == table.policy.tolist()
    assert (abs(pulls.delays - pulls.rewards / CYCLES_PER_STEP) <= 1.0).all()


def test_higher_currents_do_not_lengthen_lives_on_average():
    """Lives fall with the currents at high charge, where lithium plates.

    All policies take equally long, so a higher current late is a lower one early.
    """
    table = policies()
    for rate in (table.c3, table.c4):
        assert spearmanr(rate, table.life, alternative="less").pvalue < 0.05
    late = table.c3 + table.c4
    middle = late.median()
    assert table.life[late > middle].mean() < table.life[late <= middle].mean()


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pybamm", None)
    battery.library.cache_clear()
    with pytest.raises(InputError, match=r'PyBaMM is missing; pip install "\.\[battery\]"'):
        battery.make(tmp_path / "x.csv", 1)
    battery.library.cache_clear()
    assert not list(tmp_path.iterdir())
