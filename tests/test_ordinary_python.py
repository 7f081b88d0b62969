"""Containers that Python, NumPy and pandas have are taken, or refused in a line; objects copy."""

import copy
import multiprocessing
import pickle

import numpy as np
import pandas as pd
import pytest

import bestarm
from bestarm import baics, cbmai, delayed, lagex, linear
from bestarm.core.inputs import InputError
from test_ask_tell import ARMS, MATRIX, every, made, played, tell

NAMES, SHARES = ["flat", "loyalty"], {"new": 0.7, "regular": 0.3}
ROWS = dict(zip("abc", ARMS.tolist(), strict=True))
#: Two ways to say the same.
ALIKE = [
    (baics.TaSCS, {"n_arms": NAMES, "weights": SHARES}, other)
    for other in (
        {"n_arms": pd.Series(NAMES), "weights": pd.Series(SHARES)},
        {"n_arms": pd.Index(NAMES), "weights": SHARES},
        {"n_arms": pd.Series(NAMES, index=["x", "y"]), "weights": SHARES},
        {"n_arms": np.array(NAMES), "weights": SHARES},
        {"n_arms": dict.fromkeys(NAMES).keys(), "weights": SHARES},
        {"n_arms": dict(enumerate(NAMES)).values(), "weights": SHARES},
    )
]
ALIKE += [
    (baics.TaSCS, {"n_arms": 2, "weights": [0.7, 0.3]}, {"n_arms": 2, "weights": weights})
    for weights in (np.array([0.7, 0.3]), pd.Series([0.7, 0.3]), SHARES.values())
]
ALIKE += [
    (
        baics.TaSCS,
        {"n_arms": 2, "weights": [1.0], "sigma": [[1.0], [2.0]]},
        {"n_arms": 2, "weights": [1.0], "sigma": pd.DataFrame([[1.0], [2.0]])},
    ),
    (linear.G, {"arms": ARMS.tolist()}, {"arms": pd.DataFrame(ARMS)}),
    (linear.G, {"arms": ROWS}, {"arms": pd.DataFrame(ARMS, index=[*"abc"])}),
    (
        cbmai.SFSR,
        {"n_arms": 3, "bounds": {"money": 1.0}, "budget": 60},
        {"n_arms": 3, "bounds": pd.Series({"money": 1.0}), "budget": np.int64(60)},
    ),
    (
        lagex.CTnS,
        {"matrix": MATRIX.tolist(), "limits": [0.5, 0.6], "arms": [*"abc"]},
        {
            "matrix": pd.DataFrame(MATRIX),
            "limits": pd.Series([0.5, 0.6]),
            "arms": pd.Index([*"abc"]),
        },
    ),
    (
        delayed.Full,
        {"n_arms": NAMES, "sigma": 1.0},
        {"n_arms": pd.Series(NAMES), "sigma": np.float64(1.0)},
    ),
]


@pytest.mark.parametrize(("kind", "one", "other"), ALIKE)
def test_containers_say_the_same(kind, one, other):
    one, other = kind(**one), kind(**other)
    assert other.to_dict() == one.to_dict()
    assert other.ask() == one.ask()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n_arms": set(NAMES)}, "n_arms: must be numbers, texts, or lists"),
        ({"n_arms": (name for name in NAMES)}, "n_arms: must be numbers, texts, or lists"),
        ({"n_arms": pd.Series([1.0, 2.0])}, "n_arms: must be a whole number"),
        ({"weights": pd.Series([1.0, 2.0], index=["x", "x"])}, "weights: names in the index must"),
        ({"weights": SHARES.items()}, "weights: must be finite numbers"),
        ({"weights": pd.DataFrame([[1.0]], index=["x"])}, "weights: must be finite numbers"),
        ({"weights": pd.Series(["x", "y"])}, "weights: must be finite numbers"),
        (
            {"sigma": pd.DataFrame([[1.0]] * 2, index=["x", "y"])},
            "sigma: must be a positive number",
        ),
        ({"minimum": pd.Series({"new": 0.1})}, "minimum: must be given for 0, got new"),
        ({"seed": np.random.RandomState(0)}, "seed: must be numbers, texts, or lists"),
    ],
)
def test_others_are_refused_in_a_line_that_names_the_argument(wrong, said):
    with pytest.raises(InputError) as error:
        baics.TaSCS(**{"n_arms": 2, "weights": [1.0]} | wrong)
    assert str(error.value).startswith(f"TaSCS: {said}")
    assert "\n" not in str(error.value)


COPIES = (copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s)))


@every
def test_copies_go_on_alike_and_apart(kind):
    s = played(made(kind), np.random.default_rng(3), most=20)
    before = s.to_dict()
    for copied in COPIES:
        other = copied(s)
        assert type(other) is kind
        assert other.to_dict() == before
        if not s.done:
            arm = other.ask()
            tell(other, arm, np.random.default_rng(4))
        assert s.to_dict() == before


def test_a_race_is_copied():
    s = delayed.Full(3, sigma=1.0, batch=2)
    s.ask()
    for copied in COPIES:
        other = copied(s)
        other.final(0, 1.0)
        assert [pull.id for pull in s.running] == [0, 1]


def test_what_is_imported_on_first_use_is_listed():
    assert {"compare", "Compiled", "__version__"} <= set(dir(bestarm))


class InTurn:
    """A class of a user."""

    def __init__(self, arms):
        self.n_arms, self.told = len(arms), 0

    def ask(self):
        return self.told % self.n_arms

    def tell(self, arm, reward):
        self.told += 1

    @property
    def done(self):
        return self.told == 6

    @property
    def answer(self):
        return 0


def _compared(cores):
    try:
        found = bestarm.compare("linear/d=2", [InTurn], reps=9, cores=cores, progress=False)
    except InputError as error:
        return str(error)
    return len(found.runs)


def test_compare_in_a_worker_of_a_pool_says_what_to_give():
    """Such workers are daemonic: they may start no processes."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert "give cores=1" in pool.apply(_compared, (2,))
        assert pool.apply(_compared, (1,)) == 9
