"""Runs under Eq. (10) that go on from where the statistic without its half stopped them."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from bestarm.baics import strategies
from bestarm.baics.cells import EXPERIMENTS
from bestarm.baics.problem import instances
from bestarm.baics.strategies import (
    READINGS,
    Options,
    Stops,
    make_rules,
    prepare,
    stops_first,
)
from bestarm.common.paper import Cell
from bestarm.common.stops import MOST
from bestarm.core.information import stylised_threshold
from bestarm.core.streams import replication_streams
from bestarm.registry.scales import read_scale

ROOT = Path(__file__).parents[2]
INSTANCE = instances()["example1"]
SHARED = [
    ("T-a-SCS", "no-half", "as-written"),
    ("T-a-SCS", "first-alternative+no-half", "first-alternative"),
    ("T-a-SCS", "maximiser+no-half", "maximiser"),
    ("T-a-S", "no-half", "as-written"),
    ("Uniform", "no-half", "as-written"),
]


def outcomes(strategy, readings, setting, runs=4, fresh=None):
    """Those of the last reading, each simulated after all of those before it."""
    for reading in readings:
        cell = Cell(INSTANCE.name, strategy, setting, reading)
        replicate, found = prepare(INSTANCE, cell), []
        for streams in replication_streams(11, range(runs)):
            if fresh:
                fresh.setattr(strategies, "STOPPED", Stops())
            found.append(replicate(streams))
    return found


@pytest.mark.parametrize(("strategy", "loose", "strict"), SHARED)
@pytest.mark.parametrize("cap", [20, 200, None])
def test_runs_are_those_of_a_fresh_record(strategy, loose, strict, cap, monkeypatch):
    """In both orders; some caps are met before a rule, and a run may be asked for twice."""
    setting, wanted = {"delta": 0.1, "cap": cap}, {}
    for reading in (loose, strict):
        wanted[reading] = outcomes(strategy, [reading], setting, fresh=monkeypatch)
    for order in ([loose, strict], [strict, loose], [loose, strict, strict], [loose, loose]):
        monkeypatch.setattr(strategies, "STOPPED", Stops())
        for ours, theirs in zip(outcomes(strategy, order, setting), wanted[order[-1]], strict=True):
            for one, other in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(one, other)


def test_smaller_deltas_go_on_from_larger_ones(monkeypatch):
    """Eight rules on the same streams; two of them stop first now here, now there."""
    settings = [
        ({"delta": delta, "cap": None}, reading)
        for delta in (0.1, 0.01, 1e-3, 1e-4)
        for reading in ("no-half", "as-written")
    ]
    wanted = [outcomes("T-a-SCS", [r], setting, fresh=monkeypatch) for setting, r in settings]
    for order in (range(8), range(7, -1, -1), (3, 0, 6, 1, 5, 2, 7, 4)):
        monkeypatch.setattr(strategies, "STOPPED", Stops())
        for place in order:
            setting, reading = settings[place]
            found = outcomes("T-a-SCS", [reading], setting)
            for ours, theirs in zip(found, wanted[place], strict=True):
                for one, other in zip(ours, theirs, strict=True):
                    np.testing.assert_array_equal(one, other)


def test_a_rule_that_stops_first_asks_for_less_at_every_time():
    instance, readings = INSTANCE.problem, READINGS["T-a-SCS"]
    rules = [
        make_rules(3, instance, delta, readings[name], Options())
        for delta in (0.3, 0.1, 0.09, 0.01, 1e-6)
        for name in ("as-written", "no-half")
    ]
    found = 0
    for one, other in itertools.product(rules, rules):
        if stops_first(one, other):
            found += 1
            for time in (1, 2, 100, 10**9):
                asked = [stylised_threshold(time, r.delta) / r.glr_factor for r in (one, other)]
                assert asked[0] < asked[1] or asked[0] == asked[1] == 0.0
    assert found >= 25
    assert not any(stops_first(r, r) for r in rules)


def test_the_second_run_only_plays_what_the_first_has_not(monkeypatch):
    """As counted by pulls of the loop: with the looser rule before it, and alone."""
    setting, played = {"delta": 0.1, "cap": None}, []
    monkeypatch.setattr(strategies, "STOPPED", Stops())
    kept = strategies.STOPPED.keep
    monkeypatch.setattr(strategies.STOPPED, "keep", lambda *a: (played.append(a[2].n), kept(*a)))
    outcomes("T-a-S", ["no-half"], setting)
    starts = []
    resume = strategies.STRATEGIES["T-a-S"].resume

    def counting(world, rules, state, *others):
        starts.append(int(state.clock[0]))
        return resume(world, rules, state, *others)

    monkeypatch.setitem(strategies.STRATEGIES["T-a-S"].__dict__, "resume", counting)
    outcomes("T-a-S", ["as-written"], setting)
    assert starts == played[:4]
    assert all(starts)


def test_paper_scale_has_looser_rules_first_and_few_enough_runs_between():
    """Else a shard would play the second cell anew."""
    counts = read_scale(ROOT / "workflow/scales/paper.yaml").papers["baics"]
    for experiment in EXPERIMENTS:
        places = {cell: place for place, cell in enumerate(map(repr, experiment.cells))}
        for cell in experiment.cells:
            if "no-half" in cell.reading:
                strict = cell.reading.removesuffix("+no-half").removesuffix("no-half")
                other = Cell(**(vars(cell) | {"reading": strict or "as-written"}))
                between = places[repr(other)] - places[repr(cell)]
                assert between > 0
                assert between * counts[experiment.name].per_shard <= MOST


def test_readings_that_share_runs_are_all_listed():
    named = {(strategy, loose) for strategy, loose, _ in SHARED}
    assert named == {(s, name) for s in READINGS for name in READINGS[s] if "no-half" in name}
