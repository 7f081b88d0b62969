"""`bestarm.compare` and plugins: strategies from outside beside those of the package."""

import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pytest

from bestarm import Compiled, baics, cbmai, compare, delayed, lagex, linear, registry
from bestarm.core.compile import inlined, jit
from bestarm.core.inputs import InputError
from bestarm.core.strategy import Strategy
from bestarm.users import installed
from command_line import bestarm
from test_cli import on_a_terminal

EASY = {paper: known.simulation.easy for paper, known in registry.PAPERS.items()}


class Turns:
    """Linear bandits: every arm in turn, ten times."""

    def __init__(self, arms):
        self.sums, self.told = [0.0] * len(arms), 0

    def ask(self):
        return self.told % len(self.sums)

    def tell(self, arm, reward):
        self.sums[arm] += reward
        self.told += 1

    @property
    def done(self):
        return self.told == 10 * len(self.sums)

    @property
    def answer(self):
        return self.sums.index(max(self.sums))


RATES = baics.problem.Instance(
    name="rates",
    means=[[0.9, 0.8], [0.7, 0.1]],
    weights=[1, 1],
    minimum=0.4,
    rewards="bernoulli",
)


def test_rewards_of_0_and_1_are_told_as_such():
    told = []

    class Watched(baics.Uniform):
        def tell(self, arm, reward):
            told.append(reward)
            super().tell(arm, reward)

    found = compare(RATES, [Watched, "T-a-SCS"], reps=2, cores=1)
    assert set(told) == {0.0, 1.0}
    assert found.runs.correct.all()


def test_costs_of_0_and_1_are_told_as_such():
    instance = cbmai.problem.Instance(
        name="rates",
        rewards=[0.1, 0.9, 0.2],
        costs=[[0.1, 0.6, 0.3]],
        bounds=[0.4],
        observations="bernoulli",
    )
    told = []

    class Watched(cbmai.SFSR):
        def tell(self, arm, reward, costs, pulls=1):
            told.extend([reward, *costs])
            assert (self._sigma, self._cost_sigma) == (0.5, 0.5)
            super().tell(arm, reward, costs, pulls)

    compare(instance, [Watched, "SFSR"], reps=2, cores=1, budget=100)
    assert set(told) == {0.0, 1.0}


def test_a_strategy_must_know_of_a_minimum():
    class Own:
        def __init__(self, n_arms, weights, delta, sigma):
            pass

    with pytest.raises(InputError, match="its constructor must name minimum, which this instance"):
        compare(RATES, [Own], reps=2, cores=1)


class Dice(Turns):
    """Arms at random."""

    def __init__(self, arms, seed):
        super().__init__(arms)
        self.seed = seed

    def ask(self):
        return int(self.seed.integers(len(self.sums)))


def derived(kind):
    """A class from outside that does what one of the package does."""
    return type(f"My{kind.__name__}", (kind,), {"__module__": "mine"})


#: Rewards in another unit: told and divided again by a power of two, they stay the same bits.
#: Arms in another order in every run.
CHANGED = {
    delayed.Partial: EASY["delayed"].model_copy(update={"shuffled": True}),
    baics.FWS: EASY["baics"].model_copy(update={"sigma": 2.0}),
    linear.G: EASY["linear"].model_copy(update={"sigma": 0.5}),
}

SAME = [
    (baics.FWS, {}),
    (linear.G, {}),
    (baics.TaSCS, {}),
    (baics.Uniform, {"delta": 0.3}),
    (linear.LinGapE, {}),
    (linear.XYOracle, {}),
    (lagex.LAGEX, {"r": 0.5}),
    (delayed.Partial, {}),
    (delayed.Partial, {"batch": 3, "limit": 2}),
    (delayed.Partial, {"cap": 20, "delta": 1e-6}),
]


@pytest.mark.parametrize(("kind", "options"), SAME, ids=str)
def test_a_derived_class_has_the_rows_of_the_compiled_strategy(kind, options):
    """All columns but what cannot be seen from outside: the same rewards, pulls and answers."""
    paper = kind.__module__.split(".")[1]
    instance = CHANGED.get(kind, EASY[paper])
    found = compare(instance, [kind, derived(kind)], reps=7, cores=1, **options)
    ours, theirs = (
        rows.reset_index(drop=True) for _, rows in found.runs.groupby("reading", sort=False)
    )
    assert set(theirs.reading) == {"own"}
    unknown = registry.PAPERS[paper].user_strategies.unknown
    assert theirs[list(unknown)].isna().all(axis=None)
    for name in ours.columns.difference(["strategy", "reading", "algorithm", *unknown]):
        for one, other in zip(ours[name], theirs[name], strict=True):
            np.testing.assert_array_equal(one, other, name)


def test_a_class_without_partial_is_told_rewards_only():
    class Rewards(delayed.Full):
        partial = None

    found = compare(EASY["delayed"], [delayed.Full, Rewards], reps=7, cores=1)
    ours, theirs = (rows for _, rows in found.runs.groupby("reading", sort=False))
    for name in ("tau", "finished", "cancelled", "answer"):
        assert [str(x) for x in ours[name]] == [str(x) for x in theirs[name]]


def test_named_strategies_have_the_rows_of_bestarm_run(tmp_path):
    """By name or by class, to the byte, whatever is compared beside them."""

    class Never:
        answer = None

        def __init__(self, n_arms): ...
        def ask(self):
            return 0, 0

        def tell(self, *_): ...
        def done(self):
            return False

    options = {"delta": 0.2, "cap": 2000}
    found = compare(
        "baics/example2", [baics.TaS, Never, "Uniform"], reps=30, seed=5, cores=2, **options
    )
    asked = ["--strategy", "T-a-S", "--strategy", "Uniform", "--reps", 30, "--seed", 5]
    asked += ["--delta", 0.2, "--cap", 2000, "--out", "runs.parquet"]
    result = bestarm("run", "baics/example2", *asked, cwd=tmp_path)
    assert result.code == 0, result.err
    rows = found._results.runs()
    kept = rows.filter(np.array(rows["strategy"].to_pylist()) != "Never")
    assert kept.combine_chunks().equals(pq.read_table(tmp_path / "runs.parquet").combine_chunks())


def test_results_do_not_depend_on_cores_and_repeat_by_seed():
    """In processes, a class of a function with coins of its own."""

    class Local(Dice):
        pass

    rows = [
        compare("linear/d=2", {"dice": Local}, reps=23, cores=cores, seed=seed).runs
        for cores, seed in ((1, 0), (2, 0), (3, 0), (1, 1))
    ]
    pulls = [[tuple(p) for p in one.pulls] for one in rows]
    assert pulls[0] == pulls[1] == pulls[2]
    assert pulls[0] != pulls[3]
    assert rows[0].replication.tolist() == list(range(23))


def test_table_and_picture_have_what_was_asked_for():
    class Endless(Turns):
        done = False

    found = compare("linear/d=2", ["LinGapE", Turns, Endless], reps=12, cap=50, cores=1)
    table = found.table.set_index(["strategy", "statistic"])
    assert table.loc[("Endless", "share_capped"), "value"] == 1.0
    assert table.loc[("Endless", "mean_stopping_time"), "status"] == "restricted"
    assert (found.runs.query("strategy == 'Endless'").end != "stopped by its own rule").all()
    right = found.runs.query("strategy == 'Turns'").correct
    one = table.loc[("Turns", "prob_correct")]
    assert (one.value, one.n) == (right.mean(), 12)
    assert one.low < one.value <= one.high
    for text in (str(found), *_labels(found.plot())):
        assert all(name in text for name in ("LinGapE", "Turns", "Endless"))


def _labels(figure):
    return [" ".join(t.get_text() for t in figure.axes[0].get_yticklabels())]


def test_statistics_that_cannot_be_known_are_said_to_be():
    class Half:
        done, answer = True, (0.3, 0.0, 0.7)

        def __init__(self, limits):
            assert limits == [0.3]

        def ask(self): ...
        def tell(self): ...

    found = compare(EASY["lagex"], [Half], reps=3, cores=1, r=0.5)
    table = found.table.set_index("statistic")
    assert table.loc["policy_violation_share", "status"] == "not known"
    assert np.isnan(table.loc["policy_violation_share", "value"])
    assert found.runs.policy_violations.isna().all()
    assert found.runs.regret.to_numpy() == pytest.approx(0.0, abs=1e-9)
    assert found.runs.excess.to_numpy() == pytest.approx(0.0, abs=1e-9)
    assert "not known" in str(found)


def test_a_mixture_is_valued_by_the_truth():
    """CBMAI: rewards 3 and 0, costs 2 and 0, at most 1: half of arm 1 is worth 1.5; a third, 1."""

    class Third:
        answer, mixture = [0, 1], {1: 1 / 3, 0: 2 / 3}

        def __init__(self, budget):
            self.left = budget

        def ask(self):
            return 1

        def tell(self, arm, reward, costs):
            assert (arm, len(costs)) == (1, 1)
            self.left -= 1

        @property
        def done(self):
            return self.left == 0

    class Bare(Third):
        mixture = None

    found = compare(EASY["cbmai"], [Third, Bare], reps=4, budget=9, cores=1)
    third, bare = (rows for _, rows in found.runs.groupby("strategy", sort=False))
    assert third.reward.to_numpy() == pytest.approx(1.0)
    assert (third.violation == 0.0).all()
    assert third.correct.all() and bare.correct.all()
    assert third.tau.tolist() == [9] * 4
    assert bare.reward.isna().all()


def test_rewards_and_costs_are_those_of_the_arm():
    """CBMAI: their means over 4,000 pulls are within 6 standard errors of the truth."""
    means = []

    class Third:
        answer = None

        def __init__(self, budget):
            self.left, self.total = budget, np.zeros(2)

        def ask(self):
            return 1

        def tell(self, arm, reward, costs):
            self.total += [reward, *costs]
            self.left -= 1

        @property
        def done(self):
            if not self.left:
                means.append(self.total / 4000)
            return not self.left

    compare(EASY["cbmai"], [Third], reps=1, budget=4000, cores=1)
    assert abs(means[0] - [3.0, 2.0]).max() < 6 / 4000**0.5


def failing(**methods):
    return type("Failing", (Turns,), {"__module__": __name__, **methods})


def raises(self, *_):
    raise ZeroDivisionError("by zero")


def second_run_fails(self):
    failing.runs = getattr(failing, "runs", -1) + (self.told == 0)
    return 9 if failing.runs == 2 else Turns.ask(self)


FAULTS = [
    ({"ask": raises}, r"run 0: ask raised ZeroDivisionError: by zero \(.*test_compare.py, line \d"),
    ({"tell": raises}, r"run 0: tell raised ZeroDivisionError"),
    ({"__init__": raises}, "run 0: the constructor raised ZeroDivisionError"),
    (
        {"ask": lambda self: 7},
        "run 0: ask gave no arm after 0 pulls: must be an arm, 0 to 2",
    ),
    ({"ask": lambda self: 0.0}, "ask gave no arm after 0 pulls: must be an arm, 0 to 2, got 0.0"),
    ({"ask": second_run_fails}, "run 2: ask gave no arm"),
    ({"answer": 3}, "run 0: answer must be an arm, 0 to 2, got 3"),
    ({"answer": None}, "run 0: answer must be an arm, 0 to 2, got None"),
    ({"answer": property(raises)}, "run 0: answer raised ZeroDivisionError"),
    ({"done": property(raises)}, "run 0: done raised ZeroDivisionError"),
    ({"done": np.zeros(2)}, r"run 0: done must be true or false, got array"),
    ({"tell": None}, "run 0: has no method tell; it needs ask, tell"),
    (
        {"__init__": lambda self, k: None},
        "its constructor needs k; it may name arms, delta, ",
    ),
    ({"ask": lambda self: sys.exit(3)}, "run 0: ask raised SystemExit: 3"),
]


#: An error with a cause, one without a run, and one that would end a process.
IN_PROCESSES = [FAULTS[0], *FAULTS[-2:]]


@pytest.mark.parametrize(
    ("methods", "said", "cores"),
    [*((*fault, 1) for fault in FAULTS), *((*fault, 2) for fault in IN_PROCESSES)],
)
def test_a_fault_is_one_line_with_strategy_and_run(methods, said, cores):
    failing.runs = -1
    with pytest.raises(InputError, match=rf"^Failing: .*{said}") as error:
        compare("linear/d=2", [failing(**methods)], reps=9, cores=cores)
    assert "\n" not in str(error.value)


def test_a_process_that_dies_is_said_to():
    with pytest.raises(InputError, match=r"^Failing: run \d or later: ended its process$"):
        compare("linear/d=2", [failing(ask=lambda self: os._exit(3))], reps=9, cores=2)


WRONG = [
    ([], "strategies: must be at least one"),
    ("LinGapE", "strategies: must be a list of them, got 'LinGapE'"),
    (["LinGap"], "strategy: must be one of G, XY, .*, got LinGap"),
    ([baics.TaS], "strategies: TaS is of baics, and the instance of linear"),
    ([7], "strategies: must be a name, a class or a Compiled, got 7"),
    ([Turns, Turns], "Turns: two strategies have this name"),
    ({"RAGE": Turns}, "RAGE: is the name of a strategy of linear"),
    ({"a\nb": Turns}, "strategies: a strategy needs a name"),
]


@pytest.mark.parametrize(("strategies", "said"), WRONG, ids=str)
def test_strategies_that_cannot_be(strategies, said):
    with pytest.raises(InputError, match=f"^{said}"):
        compare("linear/d=2", strategies, reps=2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reps": 0}, "reps: must be a whole number from 1"),
        ({"cores": 0}, "cores: must be"),
        ({"delat": 0.1}, "delat: linear has no such option, only delta, cap"),
        ({"readings": ["closest"]}, "reading: none of closest applies to RAGE"),
    ],
)
def test_options_that_cannot_be(options, said):
    with pytest.raises(InputError, match=f"^{said}"):
        compare("linear/d=2", ["G", "RAGE"], **{"reps": 2, **options})


def test_importing_the_package_loads_nothing():
    code = "import bestarm, sys; print({'numpy', 'numba', 'pandas'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


class Rules(NamedTuple):
    n: int


class State(NamedTuple):
    pulls: np.ndarray
    answer: np.ndarray


@jit
def start(rules):
    return State(np.zeros(rules.n), np.zeros(1, np.int64))


@inlined
def observe(rules, state, arm, reward):
    state.pulls[arm] += 1.0


@inlined
def in_turn(rules, state, coins):
    return int(state.pulls.sum()) % rules.n


@inlined
def beyond(rules, state, coins):
    return rules.n


@inlined
def after_ten(rules, state):
    return state.pulls.sum() == 10


@inlined
def after_four(rules, state):
    return state.pulls.sum() == 4


def compiled(done=after_ten, choose=in_turn, rules=lambda arms: Rules(len(arms))):
    return Compiled(Strategy("compiled", start, done, choose, observe), rules)


def test_compiled_steps_are_those_that_are_given():
    """Also under a name that other steps had before: loops are not taken from the cache."""
    for done, pulls in ((after_ten, 10), (after_four, 4)):
        assert (compare("linear/d=2", [compiled(done)], reps=3).runs.tau == pulls).all()
    capped = compare("linear/d=2", [compiled()], reps=3, cap=7).runs
    assert (capped.tau == 7).all()
    assert capped.end.str.startswith("reached the cap").all()


COMPILED = [
    (compiled(choose=beyond), "run 0: a step raised IndexError: choose gave an arm that does not"),
    (compiled(rules=lambda k: k), "its constructor needs k; it may name arms"),
    (compiled(rules=lambda arms: Rules("x")), "run 0: a step raised TypingError"),
    (compiled(rules=lambda arms: Rules(9)), "run 0: .* arm that does not exist|pulls must count 3"),
]


@pytest.mark.parametrize(("make", "said"), COMPILED, ids=["arm", "rules", "types", "size"])
def test_faults_of_compiled_steps(make, said):
    with pytest.raises(InputError, match=f"^compiled: .*({said})"):
        compare("linear/d=2", [make], reps=3)


def test_compiled_steps_need_rounds():
    with pytest.raises(InputError, match=r"^compiled: compiled steps need rounds"):
        compare(EASY["delayed"], [compiled()], reps=3)


PLUGIN = """\
class Mine:
    def __init__(self, n_arms, weights):
        self.told, self.n_arms, self.n_groups = 0, n_arms, len(weights)
    def ask(self):
        return self.told % self.n_arms, self.told // self.n_arms % self.n_groups
    def tell(self, pair, reward):
        self.told += 1
    @property
    def done(self):
        return self.told == 8
    answer = 0
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "paper: baics\nmeans: [[0.9, 0.8], [0.7, -0.9]]\nweights: [0.5, 0.5]\n"
    )
    (tmp_path / "plugin.py").write_text(PLUGIN)
    return tmp_path


def test_a_plugin_is_run_beside_the_strategies_that_are_named(mine):
    """Not what it imports."""
    (mine / "plugin.py").write_text(f"from bestarm.baics import TaSCS as Base\n\n{PLUGIN}")
    asked = ["run", "mine.yaml", "--reps", 4, "--plugin", "plugin.py", "--strategy", "Uniform"]
    result = bestarm(*asked, "--out", "runs.parquet", cwd=mine)
    assert result.code == 0, result.err
    rows = pq.read_table(mine / "runs.parquet").to_pandas()
    assert rows.groupby("strategy").size().to_dict() == {"Uniform": 4, "Mine": 4}
    assert "Mine" in result.out
    listed = PLUGIN + "\nSTRATEGIES = {'one': Mine, 'two': lambda n_arms: Mine(n_arms, [1])}\n"
    (mine / "plugin.py").write_text(listed)
    result = bestarm(*asked, cwd=mine)
    for name in ("Uniform", "one", "two"):
        assert name in result.out


def test_progress_is_shown_on_a_terminal(monkeypatch, mine):
    asked = ("run", mine / "mine.yaml", "--reps", 40, "--plugin", mine / "plugin.py")
    said = on_a_terminal(monkeypatch, *asked, "--strategy", "Uniform", errors=True)
    assert "Mine (own)" in said
    assert said.count("40/40") >= 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PLUGIN + "x = (\n", r"plugin.py: line 12: '\(' was never closed"),
        (PLUGIN + "import nothing_such\n", "ModuleNotFoundError: .*plugin.py, line 12"),
        ("x = 1\n", "plugin.py: has no strategy: a class with"),
        ("STRATEGIES = []\n", "plugin.py: STRATEGIES: must be a mapping"),
        ("STRATEGIES = {'Uniform': int}\n", "Uniform: is the name of a strategy of baics"),
        ("STRATEGIES = {'int': 7}\n", "plugin.py: must be a name, a class"),
        (PLUGIN.replace("return self.told %", "return 1 / 0,"), "run 0: .*plugin.py, line 5"),
        (None, "plugin.py: is not a file"),
    ],
)
def test_a_plugin_with_an_error_is_one_line(mine, text, said):
    if text is None:
        (mine / "plugin.py").unlink()
    else:
        (mine / "plugin.py").write_text(text)
    asked = ["run", "mine.yaml", "--reps", 4, "--plugin", "plugin.py", "--out", "runs.parquet"]
    result = bestarm(*asked, cwd=mine)
    assert result.code == 2
    assert len(result.err.splitlines()) == 1, result.err
    assert re.search(said, result.err), result.err
    assert not (mine / "runs.parquet").exists()


def test_installed_strategies_are_found_by_name(monkeypatch):
    point = EntryPoint("Installed", f"{__name__}:Turns", installed.GROUP)
    broken = EntryPoint("Broken", "no_such_module:Turns", installed.GROUP)
    monkeypatch.setattr(installed, "entry_points", lambda group: [point, broken])
    found = compare("linear/d=2", ["Installed"], reps=2, cores=1)
    assert set(found.runs.strategy) == {"Installed"}
    with pytest.raises(InputError, match=r"^Broken \(no_such_module:Turns\): ModuleNotFoundError"):
        compare("linear/d=2", ["Broken"], reps=2)


def test_cbmai_is_given_what_is_known():
    """The means of known arms, which are never pulled."""
    instance = EASY["cbmai"].model_copy(update={"unknown": 3, "name": "known"})
    found = compare(instance, [derived(cbmai.SFSR)], reps=3, budget=60, cores=1)
    assert all(pulls[3] == 0 for pulls in found.runs.pulls)
    assert found.runs.correct.all()


def test_several_instances_in_one_call():
    """Each as alone; together in one table, and in one of runs."""
    names = ["linear/d=2", "linear/d=3"]
    found = compare(names, ["LinGapE", "XY"], reps=5, seed=1)
    assert list(found) == ["d=2", "d=3"]
    for name in names:
        alone = compare(name, ["LinGapE", "XY"], reps=5, seed=1)
        one = name.partition("/")[2]
        assert found[one].runs.equals(alone.runs)
        rows = found.table[found.table.instance == one].drop(columns="instance")
        assert rows.reset_index(drop=True).equals(alone.table)
        assert str(alone) in str(found)
    assert found.runs.groupby("instance").size().to_dict() == {"d=2": 10, "d=3": 10}


def test_instances_that_are_not_of_one_paper_or_of_one_name():
    with pytest.raises(InputError, match="instances of one paper, got linear, baics"):
        compare(["linear/d=2", "baics/example1"], ["Uniform"], reps=1)
    with pytest.raises(InputError, match="names must be distinct, got d=2, d=2"):
        compare(["linear/d=2", "linear/d=2"], ["LinGapE"], reps=1)
    with pytest.raises(InputError, match="instances of one paper, got none"):
        compare([], ["LinGapE"], reps=1)


class Slow:
    """Answers after some pulls."""

    def __init__(self, arms):
        self.told = 0

    def ask(self):
        return 0

    def tell(self, arm, reward):
        self.told += 1

    @property
    def done(self):
        return self.told == 3

    @property
    def answer(self):
        return 0


@pytest.mark.parametrize("cores", [1, 2])
def test_it_says_how_long_runs_of_a_class_will_take(monkeypatch, capfd, cores):
    """Where nobody watches a terminal too; nothing if no progress is wanted, or it is short."""
    asked = ("linear/d=2", [Slow])
    compare(*asked, reps=8, cores=cores)
    assert capfd.readouterr().err == ""
    for name in ("PATIENCE", "LOADING"):
        monkeypatch.setattr(f"bestarm.runs.cores.{name}", 0.0)
    found = compare(*asked, reps=8, cores=cores)
    said = capfd.readouterr().err
    assert re.match(r"Slow: about \d+ s for 8 runs \(the first: 3 pulls; [\d,]+ per second\)", said)
    assert said.count("\n") == 1
    assert found.runs.replication.tolist() == list(range(8))
    compare(*asked, reps=8, cores=cores, progress=False)
    assert capfd.readouterr().err == ""
