"""Live experiments: nothing that is told is lost or counted twice, whatever comes in what order."""

import itertools
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bestarm.baics import TaS, TaSCS
from bestarm.cbmai import SFSR
from bestarm.core.inputs import InputError
from bestarm.delayed import Partial
from bestarm.lagex import LAGEX
from bestarm.linear import RAGE, XY, G, XYAdaptive, XYOracle
from bestarm.live.interactive import Trial
from test_ask_tell import ARMS, BAICS, CBMAI, OBJECTS, every, made, played, tell

#: Classes that count only what they asked for.
FIXED = (G, XY, XYOracle, XYAdaptive, RAGE, *CBMAI)
#: Steps of a state machine, 50 an example: of every class in `make test`, and of the long tests.
STEPS, MANY_STEPS = 200, int(os.environ.get("BESTARM_LIVE_STEPS", "10000"))


def run_machine(machine, steps):
    enough = settings(max_examples=steps // 50, stateful_step_count=50)
    run_state_machine_as_test(machine, settings=enough)


#: Arms that no object has.
NO_ARMS = (True, 0.5, 99, -1, None, "x", (0, 99), [0], (0.5, 0), {}, np.bool_(False))


def told_by(kind):
    """Numbers that may be told of a pull: a reward, and costs where there are any."""
    return (1.0, [0.5]) if kind in CBMAI else (1.0, [0.5, 0.5]) if has_costs(kind) else (1.0,)


def has_costs(kind):
    return kind.__module__.startswith("bestarm.lagex") and kind.__name__ not in ("CTnS", "CGE")


def forms(arm):
    """What a service may make of an arm."""
    if isinstance(arm, tuple):
        return [arm, list(arm), np.array(arm), tuple(map(np.int64, arm))]
    return [arm, np.int64(arm), np.array(arm)]


class Live(RuleBasedStateMachine):
    """Asks, tells, late, repeated, unknown and malformed ones, files and threads."""

    kind = None
    loose = None  # arguments that make a run long

    @initialize(seed=st.integers(0, 2**16))
    def begin(self, seed):
        self.s = made(self.kind, **self.loose)
        self.rng = np.random.default_rng(seed)
        self.open, self.closed = {}, set()  # arms of outstanding trials; ids of the others
        self.counted = self.late = self.kept_out = 0
        self.was_done = False

    def asked(self, trials):
        for trial in trials:
            assert trial.id == len(self.open) + len(self.closed)
            self.open[trial.id] = trial.arm

    def answered(self, id):
        kept_out = self.s.kept_out > self.kept_out
        assert not kept_out or (id is None and self.kind in FIXED)
        self.kept_out += kept_out
        self.late += self.was_done
        self.counted += not self.was_done and not kept_out
        if id is not None:
            del self.open[id]
            self.closed.add(id)

    def oldest(self, arm):
        return next((id for id, asked in self.open.items() if asked == arm), None)

    def refused(self, call):
        before = self.s.to_dict()
        with pytest.raises(ValueError, match=r"."):
            call()
        assert self.s.to_dict() == before

    @rule(n=st.integers(1, 6))
    def ask_for_some(self, n):
        if self.was_done:
            with pytest.raises(RuntimeError, match="stopped"):
                self.s.ask(n)
        else:
            trials = self.s.ask(n)
            assert len(trials) <= n
            self.asked(trials)

    @precondition(lambda self: not self.was_done)
    @rule()
    def ask_for_one(self):
        if self.open:
            assert self.s.ask() == next(iter(self.open.values()))
        else:
            arm = self.s.ask()
            self.asked([Trial(len(self.closed), arm)])

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def tell_a_trial(self, data):
        id = data.draw(st.sampled_from(sorted(self.open)))
        arm = data.draw(st.sampled_from(forms(self.open[id])))
        tell(self.s, Trial(id, arm), self.rng, self.open[id])
        self.answered(id)

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def tell_an_arm(self, data):
        arm = self.open[data.draw(st.sampled_from(sorted(self.open)))]
        tell(self.s, data.draw(st.sampled_from(forms(arm))), self.rng, arm)
        self.answered(self.oldest(arm))

    @rule(k=st.integers(0, 2), l=st.integers(0, 1))
    def tell_what_was_not_asked(self, k, l):
        arm = (k, l) if self.kind in BAICS else k
        tell(self.s, arm, self.rng)
        self.answered(self.oldest(arm))

    @precondition(lambda self: self.closed)
    @rule(data=st.data())
    def tell_again(self, data):
        id = data.draw(st.sampled_from(sorted(self.closed)))
        arm = (0, 0) if self.kind in BAICS else 0
        self.refused(lambda: self.s.tell(Trial(id, arm), *told_by(self.kind)))
        self.refused(lambda: self.s.abandon(id))

    @rule(arm=st.sampled_from(NO_ARMS), id=st.sampled_from([-1, 10**6, True, None, 0.5]))
    def tell_of_what_is_not_there(self, arm, id):
        numbers = told_by(self.kind)
        self.refused(lambda: self.s.tell(arm, *numbers))
        self.refused(lambda: self.s.tell(Trial(id, arm), *numbers))

    @rule(number=st.sampled_from([np.nan, np.inf, -np.inf, None, "x", [1.0, 2.0]]))
    def tell_no_number(self, number):
        arm = (0, 0) if self.kind in BAICS else 0
        self.refused(lambda: self.s.tell(arm, number, *told_by(self.kind)[1:]))

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def abandon(self, data):
        id = data.draw(st.sampled_from(sorted(self.open)))
        self.s.abandon(data.draw(st.sampled_from([id, np.int64(id), Trial(id, self.open[id])])))
        del self.open[id]
        self.closed.add(id)

    @rule()
    def save_and_load(self):
        self.s = self.kind.from_dict(json.loads(json.dumps(self.s.to_dict())))

    @rule()
    def threads(self):
        """Eight ask a copy for two trials each and tell them: one history, which replays."""
        shared = self.kind.from_dict(self.s.to_dict())

        def work(_):
            with suppress(RuntimeError):  # it may have stopped
                for trial in shared.ask(2):
                    shared.tell(trial, *told_by(self.kind))
                    answered.append(trial.id)

        answered = []
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        assert len(answered) == len(set(answered)) == shared.told - self.s.told
        self.check_replay(shared)

    @invariant()
    def nothing_is_lost(self):
        assert [*self.open.items()] == [(t.id, t.arm) for t in self.s.outstanding]
        assert self.s.told == self.counted + self.late + self.kept_out
        assert self.s.kept_out == self.kept_out
        assert self.s.late == self.late
        assert self.s.pulls.sum() == self.counted
        assert self.s.done >= self.was_done
        self.was_done = self.s.done

    def check_replay(self, s):
        """The history, as JSON, brings a new object to the same place."""
        again = made(self.kind, **self.loose)
        again.replay(json.loads(json.dumps(s.history)))
        assert again.to_dict() == s.to_dict()

    def teardown(self):
        if hasattr(self, "s"):
            self.check_replay(self.s)


#: Arguments with which runs do not end at once.
LOOSE = {kind: {"budget": 600} if kind in CBMAI else {"delta": 1e-6} for kind in OBJECTS}


def machine_of(kind):
    return type(kind.__name__, (Live,), {"kind": kind, "loose": LOOSE[kind]})


@every
def test_nothing_is_lost_or_counted_twice(kind):
    run_machine(machine_of(kind), STEPS)


@pytest.mark.long
@every
def test_nothing_is_lost_or_counted_twice_in_many_steps(kind):
    run_machine(machine_of(kind), MANY_STEPS)


class LiveRace(RuleBasedStateMachine):
    """Delayed feedback: reports in any order, late, repeated and malformed ones, and files."""

    arguments = None

    @initialize(seed=st.integers(0, 2**16))
    def begin(self, seed):
        self.s = Partial(**self.arguments)
        self.rng = np.random.default_rng(seed)
        self.running, self.dropped, self.ended = {}, set(), set()

    def refused(self, call):
        before = self.s.to_dict()
        with pytest.raises(ValueError, match=r"."):
            call()
        assert self.s.to_dict() == before

    @rule()
    def ask(self):
        actions = self.s.ask()
        for pull in actions.cancel:
            assert self.running.pop(pull.id) == pull.arm
            self.dropped.add(pull.id)
        for pull in actions.start:
            assert pull.id == len(self.running) + len(self.dropped) + len(self.ended)
            self.running[pull.id] = pull.arm

    @precondition(lambda self: self.running)
    @rule(data=st.data(), ends=st.booleans())
    def report(self, data, ends):
        id = data.draw(st.sampled_from(sorted(self.running)))
        pull = data.draw(st.sampled_from([id, np.int64(id), Trial(id, self.running[id])]))
        value = float(self.rng.normal(-self.running[id], 0.5))
        if ends:
            self.s.final(pull, value)
            del self.running[id]
            self.ended.add(id)
        else:
            self.s.partial(pull, value)

    @precondition(lambda self: self.dropped)
    @rule(data=st.data())
    def report_of_a_cancelled_pull(self, data):
        """It is kept, and changes nothing else."""
        id = data.draw(st.sampled_from(sorted(self.dropped)))
        before = self.s.to_dict()
        self.s.final(id, 1.0)
        after = self.s.to_dict()
        assert after.pop("history") == [*before.pop("history"), ["final", id, None, (1.0,)]]
        assert after == before

    @rule(id=st.sampled_from([-1, 10**6, True, None, 0.5, "x"]))
    def report_of_what_is_not_there(self, id):
        for report in (self.s.partial, self.s.final):
            self.refused(lambda report=report: report(id, 1.0))
        self.refused(lambda: self.s.abandon(id))

    @precondition(lambda self: self.ended)
    @rule(data=st.data())
    def report_again(self, data):
        id = data.draw(st.sampled_from(sorted(self.ended)))
        self.refused(lambda: self.s.final(id, 1.0))
        self.refused(lambda: self.s.abandon(id))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), number=st.sampled_from([np.nan, np.inf, None, "x", [1.0, 2.0]]))
    def report_no_number(self, data, number):
        id = data.draw(st.sampled_from(sorted(self.running)))
        self.refused(lambda: self.s.final(id, number))

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def abandon(self, data):
        id = data.draw(st.sampled_from(sorted(self.running)))
        self.s.abandon(id)
        del self.running[id]
        self.dropped.add(id)

    @rule()
    def save_and_load(self):
        self.s = Partial.from_dict(json.loads(json.dumps(self.s.to_dict())))

    @invariant()
    def nothing_is_lost(self):
        assert {pull.id: pull.arm for pull in self.s.running} == self.running
        waiting = [e for events in self.s._reports.values() for e in events if e.kind == "final"]
        assert self.s._state.tally.finished.sum() + len(waiting) == len(self.ended)

    def teardown(self):
        if hasattr(self, "s"):
            again = Partial(**self.arguments)
            again.replay(json.loads(json.dumps(self.s.history)))
            assert again.to_dict() == self.s.to_dict()


RACE = {"n_arms": 4, "top": 2, "sigma": 0.5, "sigma_p": 0.4, "batch": 5, "limit": 3, "delta": 1e-3}


READINGS = pytest.mark.parametrize(
    "reading", ["as-written", "as-published", "all-running", "mixture"]
)


def race_of(reading):
    return type(reading, (LiveRace,), {"arguments": RACE | {"reading": reading}})


@READINGS
def test_a_race_loses_nothing(reading):
    run_machine(race_of(reading), STEPS)


@pytest.mark.long
@READINGS
def test_a_race_loses_nothing_in_many_steps(reading):
    run_machine(race_of(reading), MANY_STEPS)


@every
def test_a_file_brings_back_everything(kind, tmp_path):
    rng, file = np.random.default_rng(5), tmp_path / "experiment.json"
    one = played(made(kind), rng, most=20)
    if not one.done:
        one.ask(3)
    one.save(file)
    other = kind.load(file)
    assert other.to_dict() == one.to_dict()
    assert [p.name for p in tmp_path.iterdir()] == [file.name]


def test_a_file_of_something_else_is_refused_in_a_line(tmp_path):
    file = tmp_path / "experiment.json"
    s = TaSCS(3, [0.2, 0.8], delta=0.1)
    s.save(file)
    for load, said in [
        (lambda: TaSCS.load(file, delta=0.05), "delta: saved with 0.1, wanted 0.05"),
        (lambda: TaSCS.load(file, sigmas=1.0), "sigmas: "),
        (lambda: TaS.load(file), "strategy: must be TaS, got TaSCS"),
        (lambda: TaSCS.load(tmp_path / "none.json"), "No such file"),
        (lambda: TaSCS.load(tmp_path), "Is a directory"),
    ]:
        with pytest.raises(InputError, match=said) as error:
            load()
        assert str(error.value).startswith(str(tmp_path))
    TaSCS.load(file, delta=0.1, n_arms=3)
    good = json.loads(file.read_text())
    wrong = [{"format": 2}, {"state": {}}, {"arguments": {}}, {"fingerprint": "x"}, {"history": 3}]
    for change in [*wrong, {"state": good["state"] | {"steps": {}}}]:
        file.write_text(json.dumps(good | change))
        with pytest.raises(InputError, match=re.escape(str(file))):
            TaSCS.load(file)
    for text in ("", "[]", "3", "{", '{"format": 1}'):
        file.write_text(text)
        with pytest.raises(InputError, match="is not a saved experiment"):
            TaSCS.load(file)


def test_a_file_of_another_version_is_replayed(monkeypatch):
    """The state of other code may mean something else; the history does not."""
    one = played(made(TaSCS), np.random.default_rng(5), most=40)
    data = one.to_dict() | {"version": "0.0.1", "state": None}
    assert TaSCS.from_dict(data).to_dict() == one.to_dict()


def test_a_history_of_other_arguments_is_refused():
    one = played(made(TaSCS), np.random.default_rng(5), most=10)
    with pytest.raises(ValueError, match="made with other arguments"):
        made(TaSCS, delta=0.2).replay(one.history)


@every
def test_many_asked_at_once_are_not_the_same_arm(kind):
    """What is outstanding counts as pulled."""
    s = played(made(kind, **LOOSE[kind]), np.random.default_rng(1), most=40)
    arms = [trial.arm for trial in s.ask(12)]
    assert len(set(arms)) > 1


@every
def test_stopping_is_final_and_what_comes_later_is_kept(kind):
    s = made(kind)
    rng = np.random.default_rng(2)
    trials = s.ask(2)
    every_arm = [(k, l) for k in range(3) for l in range(2)] if kind in BAICS else range(3)
    for arm in itertools.cycle(every_arm):
        if s.done:
            break
        if kind in FIXED:
            for trial in s.ask(50) or s.outstanding:
                if not s.done:
                    tell(s, trial, rng, trial.arm)
        else:
            tell(s, arm, rng)
    before, pulls, answer = len(s.history), s.pulls, s.answer
    for trial in set(trials) & set(s.outstanding):
        tell(s, trial, rng, trial.arm)
    tell(s, (0, 0) if kind in BAICS else 0, rng)
    assert s.done
    assert len(s.history) - before == s.late >= 1
    np.testing.assert_array_equal(s.pulls, pulls)
    np.testing.assert_array_equal(s.answer, answer)


NAMED = {
    TaSCS: {"n_arms": ["a", "b", "c"], "weights": {"x": 0.2, "y": 0.8}},
    SFSR: {"n_arms": ["a", "b", "c"]},
    LAGEX: {"n_arms": ["a", "b", "c"], "limits": {"money": 0.5, "time": 0.6}},
    G: {"arms": {name: row.tolist() for name, row in zip("abc", ARMS, strict=True)}},
}


@pytest.mark.parametrize("kind", NAMED)
def test_names_stand_for_numbers_everywhere(kind):
    """The same run; an unknown name is answered with those that there are."""
    named, plain = made(kind, **NAMED[kind]), made(kind)
    rng, same = np.random.default_rng(4), np.random.default_rng(4)

    def name(arm):
        return ("abc"[arm[0]], "xy"[arm[1]]) if kind is TaSCS else "abc"[arm]

    for _ in range(60):
        if plain.done:
            break
        arm = plain.ask()
        assert named.ask() == name(arm)
        tell(plain, arm, rng)
        tell(named, name(arm), same, arm)
    assert named.done == plain.done
    np.testing.assert_array_equal(named.pulls, plain.pulls)
    with pytest.raises(ValueError, match="one of a, b, c, got 'd'"):
        named.tell(("d", "x") if kind is TaSCS else "d", *told_by(kind))
    assert kind.from_dict(json.loads(json.dumps(named.to_dict()))).to_dict() == named.to_dict()


def test_visitors_of_a_segment_get_an_arm_of_it():
    """Each is a trial; pulls of a segment are shared as they were tracked."""
    rng = np.random.default_rng(6)
    s = TaSCS(3, {"new": 1.0, "old": 1.0}, delta=1e-9)
    means = {(0, "new"): 0.9, (0, "old"): 0.5, (1, "new"): 0.8, (1, "old"): 0.1}
    for _ in range(1500):
        trial = s.ask(segment="new" if rng.random() < 0.9 else "old")
        assert trial.arm[1] in ("new", "old")
        s.tell(trial, means.get(trial.arm, -1.0) + rng.standard_normal())
    assert s.pulls.sum(axis=0)[0] > 1200
    assert (s.pulls >= 5).all()
    assert s.pulls[2].sum() < s.pulls[0].sum()
    with pytest.raises(ValueError, match="segment must be one of new, old, got 'all'"):
        s.ask(segment="all")
    again = TaSCS(3, {"new": 1.0, "old": 1.0}, delta=1e-9)
    again.replay(json.loads(json.dumps(s.history)))
    assert again.to_dict() == s.to_dict()
