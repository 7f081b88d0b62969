"""Live experiments: nothing that is told is lost or counted twice, whatever comes in what order."""

import json
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

from bestarm.core.interactive import Trial
from test_ask_tell import BAICS, CBMAI, OBJECTS, every, made, tell

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
        self.counted = self.late = 0
        self.was_done = False

    def asked(self, trials):
        for trial in trials:
            assert trial.id == len(self.open) + len(self.closed)
            self.open[trial.id] = trial.arm

    def answered(self, id):
        self.late += self.was_done
        self.counted += not self.was_done
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
        """Four ask a copy for two trials each and tell them: one history, which replays."""
        shared = self.kind.from_dict(self.s.to_dict())

        def work(_):
            with suppress(RuntimeError):  # it may have stopped
                for trial in shared.ask(2):
                    shared.tell(trial, *told_by(self.kind))
                    answered.append(trial.id)

        answered = []
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        assert len(answered) == len(set(answered)) == shared.told - self.s.told
        self.check_replay(shared)

    @invariant()
    def nothing_is_lost(self):
        assert [*self.open.items()] == [(t.id, t.arm) for t in self.s.outstanding]
        assert self.s.told == self.counted + self.late
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


@every
@pytest.mark.parametrize("steps", [50])
def test_nothing_is_lost_or_counted_twice(kind, steps):
    machine = type(kind.__name__, (Live,), {"kind": kind, "loose": LOOSE[kind]})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=20, stateful_step_count=steps)
    )
