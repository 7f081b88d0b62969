"""The contract in words: it holds for the package's classes, and says what is broken."""

import importlib
from dataclasses import replace

import pytest

from bestarm import Compiled, conformance, registry
from bestarm.common.user_strategies import UserStrategy
from bestarm.conformance import Case, check
from bestarm.core.compile import inlined
from bestarm.core.inputs import InputError
from command_line import bestarm
from test_compare import Turns, compiled, raises

#: One of each paper. Others share most of their code, and test_ask_tell.py tries all of them.
QUICK = {"TaSCS", "SFSR", "LAGEX", "LinGapE", "Full", "TrackAndStop"}
#: CTnS and CGE know the costs; the answer of TopK is a set.
OTHERS = {"CTnS", "CGE", "TopK"}
OURS = [
    pytest.param(paper, kind, marks=() if kind.__name__ in QUICK else pytest.mark.long)
    for paper in registry.PAPERS
    for module in [importlib.import_module(f"bestarm.{paper}")]
    for kind in (getattr(module, name) for name in module.__all__)
    if isinstance(kind, type) and hasattr(kind, "ask") and kind.__name__ not in OTHERS
]


def failures(given, paper):
    return {r.check: r.said for r in check(Case(given, paper)) if r.holds is False}


@pytest.mark.parametrize(("paper", "kind"), OURS, ids=lambda x: getattr(x, "__name__", x))
def test_it_holds_for_classes_of_the_package(paper, kind):
    """But those that are told rewards alone: CTnS and CGE, who know the costs, and Full."""
    if kind.__name__ == "Full":
        kind = type("Full", (kind,), {"partial": None})
    assert failures(UserStrategy(kind.__name__, kind), paper) == {}


class Good(Turns):
    """Linear bandits: every arm in turn, and what is told later does not count."""

    def __init__(self, arms, seed):
        super().__init__(arms)
        self.seed, self.reads = seed, 0

    def tell(self, arm, reward):
        if not self.done:
            super().tell(arm, reward)

    def to_dict(self):
        return {"sums": self.sums, "told": self.told}

    @classmethod
    def from_dict(cls, data):
        made = cls(data["sums"], None)
        made.sums, made.told = data["sums"], data["told"]
        return made


shared = []


def ask_of_the_class(self):
    shared.append(self)
    return len(shared) ** 2 % 11 % 3


def ask_by_fifties(self):
    shared.append(self)
    return len(shared) // 50 % 3


def ask_after_looking(self):
    return self.reads % 3


def looked(self):
    self.reads += 1
    return self.told == 30


def strict(self, arm, reward):
    if arm != self.ask():
        raise KeyError(arm)
    Good.tell(self, arm, reward)


def late(self, arm, reward):
    self.sums[arm] += reward
    self.told = min(self.told + 1, 30)


def counts_on(self, arm, reward):
    self.sums[arm] += 0.0 if self.done else reward
    self.told += 1


#: What is broken, and the check that says so, by the beginning of its words.
BROKEN = [
    ({"__init__": raises}, "is made"),
    ({"ask": lambda self: 5}, "asks for arms"),
    ({"answer": "x"}, "asks for arms"),
    ({"done": False}, "stops"),
    ({"answer": 1}, "finds"),
    ({"ask": ask_by_fifties}, "depends on"),
    ({"ask": ask_of_the_class}, "does not depend"),
    ({"done": property(looked), "ask": ask_after_looking}, "is not changed"),
    ({"tell": strict}, "takes a reward"),
    ({"ask": lambda self, n=1: self.told % 3}, "takes several"),
    ({"tell": late}, "stays done"),
    ({"tell": counts_on}, "stays done"),
    ({"to_dict": lambda self: {1, 2}}, "goes on"),
    ({"from_dict": classmethod(lambda cls, data: cls(data["sums"], None))}, "goes on"),
]


def test_a_good_class_has_no_failure(monkeypatch):
    """Though it takes all the pulls that it may."""
    monkeypatch.setitem(conformance.SETTING, "cap", 30)
    assert failures(UserStrategy("Good", Good), "linear") == {}


@pytest.mark.parametrize(
    ("methods", "words"), BROKEN, ids=lambda x: x if isinstance(x, str) else ""
)
def test_what_is_broken_is_said(monkeypatch, methods, words):
    monkeypatch.setitem(conformance.SETTING, "cap", 1000)  # the good class takes 30 pulls
    broken = type("Broken", (Good,), methods)
    said = failures(UserStrategy("Broken", broken), "linear")
    assert any(one.startswith(words) for one in said), said
    assert all(said.values())


@inlined
def observe_elsewhere(rules, state, arm, reward):
    state.pulls[0] += 1.0


def test_compiled_steps_that_count_wrongly_are_caught():
    """They answer with the first arm, which is best there, after ten pulls."""
    right = compiled()
    assert failures(UserStrategy("compiled", right), "linear") == {}
    wrong = Compiled(replace(right.strategy, observe=observe_elsewhere), right.rules)
    (said,) = failures(UserStrategy("compiled", wrong), "linear").values()
    assert said.startswith("compiled its state counts")


def test_the_command_says_it_in_words(tmp_path):
    code = "class Bad:\n    def __init__(self, arms): ...\n    def ask(self):\n        return 9\n"
    code += "    def tell(self, arm, reward): ...\n    done, answer = False, 0\n"
    (tmp_path / "bad.py").write_text(code)
    for target in ("bad.py", "bad:Bad", "bad.py:Bad"):
        result = bestarm(target, cwd=tmp_path, module="bestarm.conformance")
        assert result.code == 1, result.err
        assert result.out.startswith("Bad on linear/easy\n")
        assert "FAILS asks for arms that exist" in result.out
    for target, said in (
        ("none.py", "none.py: is not a file"),
        ("bad:Good", "bad:Good: bad has no Good"),
        ("no_such:Bad", "no_such:Bad: ModuleNotFoundError"),
    ):
        result = bestarm(target, cwd=tmp_path, module="bestarm.conformance")
        assert result.code == 2
        assert result.err.startswith(f"error: {said}")
        assert len(result.err.splitlines()) == 1


def test_a_paper_has_to_be_named_if_several_suit():
    class Any:
        def __init__(self, delta): ...
        def ask(self): ...
        def tell(self): ...

    with pytest.raises(InputError, match=r"^Any: several papers suit it; say --on, one of b"):
        conformance.fitting_paper(UserStrategy("Any", Any))
    with pytest.raises(InputError, match=r"^Any: no paper suits it \(its constructor needs k"):
        conformance.fitting_paper(
            UserStrategy("Any", type("Any", (Any,), {"__init__": lambda self, k: None}))
        )
