"""The table of docs/live.md: each cell says what a class does, and is tried."""

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from bestarm import baics, delayed, lagex, registry
from test_ask_tell import BAICS, CBMAI, KNOWN, LAGEX, OBJECTS, made, tell

PAGE = Path(__file__).parents[1] / "docs/live.md"
HEADING = "| class | late |"
#: Classes whose names are not unique, or that stand for a class with an option.
NAMES = {
    "Uniform": (baics.Uniform, {}),
    "Uniform with rounds=True": (baics.Uniform, {"rounds": True, "delta": 1e-9}),
    "lagex.Uniform": (lagex.Uniform, {}),
}
RACES = {"Full": delayed.Full, "Partial": delayed.Partial, "Mixture": delayed.Mixture}


def rows():
    """By row of the table: the classes it is of, and its cells by heading."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(HEADING))
    headings = [cell.strip() for cell in lines[first].strip("|").split("|")]
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            return
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        names = cells[0].replace("` with `", " with ")
        yield re.findall(r"`([^`]+)`", names), dict(zip(headings[1:], cells[1:], strict=True))


CASES = [
    pytest.param(name, heading, cell, id=f"{name}-{heading}")
    for names, cells in rows()
    for name in names
    for heading, cell in cells.items()
]


def of(name):
    """A new object of a class that the table names."""
    if name in NAMES:
        kind, options = NAMES[name]
    else:
        kinds = {kind.__name__: kind for kind in OBJECTS if kind.__name__ != "Uniform"}
        kind, options = kinds[name], {}
    return made(kind, **options)


def race(name):
    forecasts = {} if name == "Full" else {"sigma_p": 1.0}
    return RACES[name](n_arms=3, sigma=1.0, batch=2, **forecasts)


def test_every_class_is_in_the_table():
    listed = {name for names, _ in rows() for name in names}
    kinds = {
        f"lagex.{kind.__name__}" if kind is lagex.Uniform else kind.__name__
        for module in (importlib.import_module(f"bestarm.{paper}") for paper in registry.PAPERS)
        for kind in map(module.__dict__.get, module.__all__)
        if inspect.isclass(kind)
    }
    assert listed == kinds | {"Uniform with rounds=True"}


@pytest.mark.parametrize(("name", "heading", "cell"), CASES)
def test_the_cell_is_right(name, heading, cell):
    of_trials, of_pulls = CHECKS[heading]
    if name in RACES:
        of_pulls(race(name), cell)
    else:
        of_trials(of(name), cell)


def late(s, cell):
    """A trial of several is told at once, the others not yet."""
    rng = np.random.default_rng(0)
    trials = s.ask(2)
    tell(s, trials[0], rng, trials[0].arm)
    assert s.told == 1
    if cell == "counts when told":
        assert s.pulls.sum() == 1
        return
    assert cell in ("the round waits", "the phase waits")
    before = decided(s)
    while open_trials := s.ask(3):  # the rest of the plan, but for one trial
        for trial in open_trials:
            tell(s, trial, rng, trial.arm)
    assert decided(s) == before
    tell(s, trials[1], rng, trials[1].arm)
    assert decided(s) != before


def decided(s):
    """What is decided at the ends of rounds and phases."""
    state = s._state
    if hasattr(state, "rounds"):
        return float(state.rounds[0])
    return (state.phase, s.done) if hasattr(state, "phase") else state.counters.tolist()


def order(s, cell):
    assert cell == "any order"
    first, second = s.ask(2)
    rng = np.random.default_rng(0)
    tell(s, second, rng, second.arm)
    assert [trial.id for trial in s.outstanding] == [first.id]
    tell(s, first, rng, first.arm)
    assert s.told == 2


def unasked(s, cell):
    rng, kind = np.random.default_rng(0), type(s)
    if kind in CBMAI:
        tell(s, 1, rng)  # as many as the round wants are asked for, by `wanted`
        assert s.kept_out == 0
        while 1 in s.wanted:
            tell(s, 1, rng)
    before = s.pulls.sum()
    tell(s, (1, 1) if kind in BAICS else 1, rng)
    assert s.kept_out == (cell == "kept out")
    assert s.pulls.sum() == before + (cell == "counts")


def abandoned(s, cell):
    if cell == "forgotten":
        s.abandon(s.ask(1)[0])
        assert s.pulls.sum() == s.told == s.late == 0
        assert not s.outstanding
    elif cell == "left out":
        twin = type(s)(**OBJECTS[type(s)])
        _, *others = twin.ask(20)
        s.abandon(s.ask(1)[0])
        assert [trial.arm for trial in s.ask(19)] == [trial.arm for trial in others]
    else:
        assert cell == "asked again"
        plan = s.ask(5000)
        s.abandon(plan[0])
        assert [trial.arm for trial in s.ask(5000)] == [plan[0].arm]


def several(s, cell):
    n = 5000
    trials = s.ask(n)
    if cell == "any number":
        assert len(trials) == n
        return
    assert cell in (
        "up to the end of the round",
        "up to the end of the phase",
        "up to the next test of the stopping rule",
    )
    while more := s.ask(n):
        trials += more
    rng = np.random.default_rng(0)
    for trial in trials:
        if not s.done:
            tell(s, trial, rng, trial.arm)
    assert s.done or s.ask(1)


def visitors(s, cell):
    if cell == "`ask(segment=...)`":
        assert s.ask(segment=1).arm[1] == 1
        return
    assert cell == "no"
    with pytest.raises((TypeError, ValueError), match="segment"):
        s.ask(segment=1)


def an_arm(s):
    return (0, 0) if type(s) in BAICS else 0


def counts(s, cell):
    """Two pulls of an arm at once, of trials that are outstanding or not."""
    total = {"total": 1.0}
    if type(s) in LAGEX and type(s) not in KNOWN:
        total["costs"] = [1.0, 1.0]
    if type(s) in CBMAI:
        total["costs"] = [1.0]
    if cell == "no":
        with pytest.raises(ValueError, match="pulls must be told one by one"):
            s.tell(an_arm(s), pulls=2, **total)
        return
    if cell == "of outstanding trials":
        s.tell(0, pulls=2, **total)
        assert (s.kept_out, s.pulls.sum()) == (2, 0)
        s.ask(200)
        n = s._outstanding.counts[0]
        s.tell(0, pulls=n, **total)
        assert s.pulls[0] == n
        return
    if cell == "as the round wants":
        with pytest.raises(ValueError, match="as the round wants"):
            s.tell(0, pulls=s.wanted[0] + 1, **total)
    else:
        assert cell == "yes"
    s.tell(an_arm(s), pulls=2, **total)
    assert s.pulls.sum() == s.told == 2


def allocated(s, cell):
    if cell == "yes":
        assert sum(s.allocation(50).values()) == 50
        assert not s.outstanding
        return
    assert cell == "no"
    with pytest.raises(ValueError, match=r"trials must be asked for by ask\(n\)"):
        s.allocation(50)


def least(s, cell):
    options = {"segment": 0} if type(s) in BAICS else {}
    if cell == "yes":
        trials = s.ask(20, least_share=0.25, **options)
        arms = [trial.arm[0] if options else trial.arm for trial in trials]
        assert min(arms.count(arm) for arm in range(3)) >= 5
        return
    assert cell == "no"
    with pytest.raises(ValueError, match="must be left out"):
        s.ask(20, least_share=0.25, **options)


def race_has(name):
    def check(s, cell):
        assert cell == "no"
        assert not hasattr(s, name)

    return check


def race_least(s, cell):
    assert cell == "no"
    with pytest.raises(TypeError):
        s.ask(least_share=0.1)


def race_late(s, cell):
    assert cell == "counts when told"
    first, _ = s.ask().start
    s.final(first, 1.0)
    s.ask()
    assert s.summary().pulls.sum() == 1


def race_order(s, cell):
    assert cell == "any order"
    first, second = s.ask().start
    s.final(second, 1.0)
    assert first in s.running


def race_unasked(s, cell):
    assert cell == "refused"
    with pytest.raises(ValueError, match="running"):
        s.final(99, 1.0)


def race_abandoned(s, cell):
    assert cell == "its forecasts stay"
    first, _ = s.ask().start
    has_forecasts = not isinstance(s, delayed.Full)
    if has_forecasts:
        s.partial(first, 3.0)
    s.abandon(first)
    s.ask()
    assert np.isfinite(s.bounds[first.arm]).all() == has_forecasts


def race_several(s, cell):
    assert cell == "up to `batch`"
    assert len(s.ask().start) == 2


def race_visitors(s, cell):
    assert cell == "no"
    with pytest.raises(TypeError):
        s.ask(segment=1)


#: By heading the check of a trial, and of a pull in a race.
CHECKS = {
    "late": (late, race_late),
    "out of order": (order, race_order),
    "not asked for": (unasked, race_unasked),
    "abandoned": (abandoned, race_abandoned),
    "several at a time": (several, race_several),
    "visitors who come by themselves": (visitors, race_visitors),
    "counts": (counts, race_has("tell")),
    "`allocation(n)`": (allocated, race_has("allocation")),
    "`least_share`": (least, race_least),
}
