"""Instances and their files: what is read, what is refused, and subspaces."""

import numpy as np
import pytest

from bestarm.common.paper import Cell
from bestarm.core.inputs import InputError, parse
from bestarm.core.streams import run_streams
from bestarm.linear.problem import (
    MOST_ARMS,
    Instance,
    paper_instance,
    random_instance,
    read_arms,
    span_basis,
    truth,
    with_files,
)
from bestarm.linear.strategies import READINGS, STRATEGIES, prepare

GOOD = {"name": "x", "arms": [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], "theta": [4.0, 0.5]}


def written(tmp_path, text):
    path = tmp_path / "arms.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,0\n0,1\n", None),
        ("a,b\n1,0\n0,1\n", None),
        ("\n1,0\n\n0,1\n\n", None),
        ("red,1,0\nblue,0,1\n", ["red", "blue"]),
        ("name,a,b\nred,1,0\nblue,0,1\n", ["red", "blue"]),
        (",a,b\n red ,1,0\nblue, 0,1e0\n", ["red", "blue"]),
    ],
)
def test_arms_with_and_without_names_and_headings(tmp_path, text, names):
    assert read_arms(written(tmp_path, text)) == (names, [[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ": holds no arms"),
        ("\n \n", ": holds no arms"),
        ("1,0\n0,one\n", ": line 2: must hold numbers, got 0,one"),
        ("a,b\n\n1,0\n0,\n", ": line 4: must hold numbers"),
        ("red,1,0\nblue,0,x\n", ": line 2: must hold numbers"),
        ("1,0\nnan,1\n", ": line 2: must hold numbers"),
        ("1,0\n0,inf\n", ": line 2: must hold numbers"),
        ("red\n", ": line 1: must hold numbers"),
    ],
)
def test_bad_files_of_arms(tmp_path, text, said):
    path = written(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_arms(path)
    assert str(error.value).startswith(f"{path}{said}")


def test_a_file_of_arms_lies_beside_the_instance(tmp_path):
    written(tmp_path, "red,1,0\nblue,0,1\ngrey,0.8,0.6\n")
    data = {"name": "x", "arms": "arms.csv", "theta": [4.0, 0.5]}
    instance = parse(Instance, with_files(data, tmp_path / "x.yaml"), "x.yaml")
    assert instance.arms == GOOD["arms"]
    assert instance.arm_names == ["red", "blue", "grey"]
    named = with_files(data | {"names": ["a", "b", "c"]}, tmp_path / "x.yaml")
    assert named["names"] == ["a", "b", "c"]
    assert with_files(GOOD, tmp_path / "x.yaml") == GOOD


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv: No such file"):
        with_files({"arms": "none.csv"}, tmp_path / "x.yaml")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"arms": [[1.0, 0.0]]}, "arms: "),
        ({"arms": [[1.0, 0.0], [1.0]]}, "arms: arm 2 must have 2 entries, got 1"),
        ({"arms": [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]}, "arms: must be distinct"),
        ({"arms": [[], []], "theta": [1.0]}, "arms.1: "),
        ({"arms": [[1.0, float("inf")], [0.0, 1.0]]}, "arms.1.2: must be a finite number"),
        ({"theta": [4.0]}, "theta: must have 2 entries to fit arms, got 1"),
        ({"theta": [1.0, 2.0, 3.0]}, "theta: must have 2 entries to fit arms, got 3"),
        ({"theta": [0.0, 0.0]}, "theta: must make one arm the best, here several are"),
        ({"theta": [1.0, 1.0 / 3.0], "arms": [[1.0, 0.0], [0.0, 3.0]]}, "theta: must make one"),
        ({"names": ["a"]}, "names: must have 3 entries to fit arms, got 1"),
        ({"sigma": 0.0}, "sigma: must be greater than 0, got 0"),
        ({"thetas": [1.0]}, "thetas: unknown field"),
    ],
)
def test_bad_instances(change, said):
    with pytest.raises(InputError) as error:
        parse(Instance, GOOD | change, "x.yaml")
    message = str(error.value).removeprefix("x.yaml: ")
    assert message.removeprefix(": ").startswith(said)
    assert "\n" not in message


def test_problem_is_in_units_of_the_noise():
    problem = Instance(**GOOD, sigma=2.0).problem
    np.testing.assert_allclose(problem.means, [2.0, 0.25, 1.75])
    assert problem.norm == pytest.approx(np.hypot(4.0, 0.5) / 2.0)
    np.testing.assert_array_equal(problem.arms, GOOD["arms"])


def test_span_is_orthonormal_and_holds_the_arms():
    arms = np.random.default_rng(0).normal(size=(5, 2)) @ np.array([[1.0, 2, 0], [0, 1, 3]])
    span = span_basis(arms)
    assert span.shape == (3, 2)
    np.testing.assert_allclose(span.T @ span, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(arms @ span @ span.T, arms, atol=1e-12)
    np.testing.assert_array_equal(span_basis(np.array([[1.0, 2.0], [3.0, 4.0]])), np.eye(2))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_arms_of_a_subspace_give_the_runs_of_fewer_coordinates(strategy):
    """Arms in a plane of R^4; theta leaves the plane, which no reward shows."""
    rng = np.random.default_rng(4)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    arms, theta = rng.normal(size=(4, 2)), np.array([1.5, -0.4])
    few = Instance(name="few", arms=arms.tolist(), theta=theta.tolist())
    many = Instance(
        name="many",
        arms=(arms @ turn[:2]).tolist(),
        theta=(theta @ turn[:2] + 3.0 * turn[2]).tolist(),
    )
    assert many.problem.arms.shape == (4, 2)
    assert many.problem.norm == pytest.approx(few.problem.norm)
    cell = Cell("any", strategy, {"delta": 0.1}, READINGS[strategy].default)
    for replication in range(3):
        one, two = (prepare(i, cell)(run_streams(6, replication)) for i in (few, many))
        assert one.tau == two.tau
        np.testing.assert_array_equal(one.pulls, two.pulls)
        assert one.answer == two.answer


def test_truth_of_the_paper_instance():
    known = truth(paper_instance(4))
    assert (known.answer, known.arms, known.dimension) == (1, 5, 4)
    np.testing.assert_allclose(known.gaps, [0.0, 2.0, 2.0, 2.0, 2.0 * (1.0 - np.cos(0.01))])


def test_gaps_are_in_the_unit_of_the_rewards():
    known = truth(Instance(**GOOD, sigma=2.0))
    np.testing.assert_allclose(known.gaps, [0.0, 3.5, 0.5])


def test_random_instances_are_unit_vectors_and_named_by_their_seed():
    one, other = random_instance(10, 1), random_instance(10, 2)
    np.testing.assert_allclose(np.linalg.norm(one.arms, axis=1), 1.0)
    assert one.theta == one.arms[0]
    assert one.name != other.name
    assert truth(one).answer == 1
    assert one == random_instance(10, 1)


def test_an_instance_of_too_many_arms_is_refused():
    arms = [[1.0, float(a)] for a in range(MOST_ARMS + 1)]
    with pytest.raises(InputError, match="arms: must hold at most 5000, got "):
        parse(Instance, {**GOOD, "arms": arms}, "x")
