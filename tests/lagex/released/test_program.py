"""The released programs: our rounds against recorded ones, and where they leave the paper.

Tests that need their optimisers, whose kernels take minutes to compile, are long.
"""

import itertools
import math
import os
import platform
import subprocess
import sys
from functools import cache

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy
import yaml

from bestarm.common.files import data_folder
from bestarm.core.status import Status
from bestarm.lagex.problem import EASIER, HARD, Problem, instances, setup1
from bestarm.lagex.reference import nearest_ties
from bestarm.lagex.released import solvers as program_solvers
from bestarm.lagex.released.program import (
    PROGRAMS,
    State,
    game_radius,
    make_state,
    next_arm,
    play_round,
    remembered,
    row_shift,
    run,
    solved_radius,
)
from bestarm.lagex.released.slsqp import Minimum
from bestarm.lagex.released.solvers import (
    GRID,
    INSIDE,
    AdaGrad,
    Lagrangian,
    RoundFailure,
    Vertex,
    adagrad_step,
    alternatives,
    best_policy,
    best_response,
    first_of_close,
    grid_end,
    multiplier,
    neighbour_game,
    project,
    simplex_rows,
    solved_allocation,
    vertex_neighbours,
)

FOLDER = data_folder() / "lagex-programs"
PROBLEMS = {"hard": setup1(HARD).problem, "easy": setup1(EASIER).problem}
#: How many rounds of a recorded run are computed again, 8 by default.
SAMPLED = {"LAGEX": 6, "LATS": 4}
#: SLSQP's points on flat objectives and at kinks are those of one version of SciPy, and depend on
#: the last bits of sums: with two threads instead of one, LATS pulls another arm in 2% of rounds.
RECORDED = yaml.safe_load((FOLDER / "provenance.yaml").read_text())["versions"]["scipy"]
same_arithmetic = pytest.mark.skipif(
    scipy.__version__.split(".")[:2] != RECORDED.split(".")[:2]
    or platform.machine() not in ("x86_64", "AMD64"),
    reason=f"rounds were recorded with SciPy {RECORDED} on x86-64",
)


class Recorded:
    """Gives out recorded numbers where a program draws."""

    def __init__(self, numbers):
        self.numbers = [] if numbers is None else list(numbers)

    def uniform(self, low, high, size):
        drawn, self.numbers = self.numbers[:size], self.numbers[size:]
        return np.array(drawn)

    def random(self):
        return self.numbers.pop(0)


@cache
def recorded():
    """The recorded runs, by program, instance and seed."""
    table = pq.read_table(FOLDER / "traces.parquet").to_pandas()
    return dict(list(table.groupby(["program", "instance", "seed"], observed=True)))


def started(name, rows):
    """A program's state before the first pull of a recorded run."""
    problem = PROBLEMS[rows.iloc[0].instance]
    d, k = problem.matrix.shape
    matrix, start = np.split(rows.iloc[0].initial.copy(), [d * k])  # a table's are read-only
    return make_state(
        PROGRAMS[name], problem, 0.01, matrix.reshape(d, k), start if start.size else np.zeros(d)
    )


def agree(name, state, row):
    """One round gives what was recorded, from the state in which it was recorded."""
    if row.failure:
        with pytest.raises(RoundFailure):
            play_round(PROGRAMS[name], state, Recorded(row.uniforms))
        return
    ours = play_round(PROGRAMS[name], state, Recorded(row.uniforms))
    np.testing.assert_allclose(ours.policy, row.policy, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.allocation, row.allocation, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.statistic, row.statistic, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.threshold, row.threshold, rtol=1e-9)
    assert (ours.arm, ours.stops, len(ours.neighbours)) == (row.arm, row.stop, row.neighbours)
    own = np.abs(ours.neighbours - ours.policy).max(axis=1).min() <= 1e-9
    assert own == row.own


def replay(name, instance, seed):
    """Compute sampled rounds of a recorded run again."""
    rows = recorded()[name, instance, seed]
    state = started(name, rows)
    k = state.means.size
    sampled = set(range(k + seed, len(rows), len(rows) // SAMPLED.get(name, 8)))
    if name == "LAGEX":  # and those whose multiplier is largest
        largest = rows[rows.multiplier.notna()].multiplier.map(max).nlargest(3)
        sampled |= set(rows.t[largest.index[largest > 1e-3]])
    met = set(rows.found_at[rows.t.isin(sampled)].dropna())
    outer = np.zeros((k, k))
    for row in rows.itertuples():
        if row.t in met:  # neighbours are computed when a policy is first met
            remembered(state.neighbours, best_policy(state.means, (state.matrix, state.limits)))
        if row.t in sampled:
            if state.game:
                state.game.weights, state.game.outer = row.weights.copy(), outer
            agree(name, state, row)
        if row.loss is not None:
            gains = -row.loss * PROGRAMS[name].rescale
            outer = outer + np.outer(gains, gains)
        state.observe(row.arm, row.reward, row.cost)


def replay_game(name):
    """The first rounds of a recorded run, AdaGrad moving by itself."""
    rows = recorded()[name, "easy", 1]
    state = started(name, rows)
    for row in rows.iloc[:40].itertuples():
        np.testing.assert_allclose(state.game.weights, row.weights, rtol=0, atol=1e-9)
        if row.t >= 6 and not row.failure:
            play_round(PROGRAMS[name], state, Recorded(row.uniforms))
        state.observe(row.arm, row.reward, row.cost)


@same_arithmetic
@pytest.mark.parametrize("instance", PROBLEMS)
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n == "Uniform" else [pytest.mark.long]) for n in PROGRAMS],
)
def test_rounds_are_those_recorded(apart, name, instance, seed):
    apart.submit(replay, name, instance, seed).result()


@pytest.mark.long
@same_arithmetic
@pytest.mark.parametrize("name", ["LAGEX", "CGE-WLag"])
def test_adagrad_moves_as_recorded(apart, name):
    apart.submit(replay_game, name).result()


def test_lagex_samples_uniformly():
    for (name, *_), rows in recorded().items():
        if name == "LAGEX":
            allocations = np.stack(rows.allocation.dropna())
            np.testing.assert_allclose(allocations, 1.0 / 6.0, rtol=0, atol=1e-15)


def test_lats_returns_its_start_beside_a_policy_that_is_its_own_neighbour():
    for (name, *_), rows in recorded().items():
        if name in ("LATS", "CTnS-WLag"):
            found = rows[rows.allocation.notna()]
            gap = np.abs(np.stack(found.allocation) - np.stack(found.start)).max(axis=1)
            assert gap[found.own.to_numpy(bool)].max(initial=0.0) <= 1e-9
            sums = np.stack(found.allocation).sum(axis=1)
            assert (sums[gap > 1e-6] > 1.0).all()


def adagrad(k):
    rows, limits = simplex_rows(k)
    return AdaGrad(rows, limits, np.full(k, 1.0 / k), np.zeros((k, k)))


@pytest.mark.long
@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_adagrad_stays_where_all_gains_are_positive(scale):
    gains = scale * np.random.default_rng(1).uniform(0.5, 3.0, 6)
    game = adagrad(6)
    adagrad_step(game, gains)
    np.testing.assert_allclose(game.weights, 1.0 / 6.0, rtol=0, atol=1e-15)
    # sum |x - w - m| = sum m for every x of the simplex with x <= w + m
    move = gains / math.sqrt(2.0 * (gains @ gains + 0.01))
    rng = np.random.default_rng(2)
    for x in 0.99 / 6.0 + 0.01 * rng.dirichlet(np.ones(6), 20):
        assert np.abs(x - 1.0 / 6.0 - move).sum() == pytest.approx(move.sum(), rel=1e-12)


@pytest.mark.long
def test_adagrad_gives_way_at_a_negative_gain():
    game = adagrad(4)
    adagrad_step(game, np.array([1.0, 1.0, 1.0, -1.0]))
    assert game.weights[3] < 0.01
    assert game.weights.sum() == pytest.approx(1.0, abs=1e-6)


def vertex(hidden=()):
    """The first of three arms, with tight rows in `hidden` a rounding error loose."""
    rows, limits = simplex_rows(3)
    policy = np.array([1.0, 0.0, 0.0])
    slacks = limits - rows @ policy
    slacks[list(hidden)] = 1e-17
    return Vertex(policy, rows, limits, slacks)


def test_neighbours_of_exact_slacks():
    assert sorted(map(tuple, vertex_neighbours(vertex()))) == [(0, 0, 1), (0, 1, 0)]


@pytest.mark.parametrize("row", [1, 2])
def test_a_hidden_tight_row_makes_the_policy_its_own_neighbour(row):
    hidden = vertex([row])
    found = vertex_neighbours(hidden)
    assert any((point == hidden.policy).all() for point in found)
    for lagrangian in (None, Lagrangian(np.ones((1, 3)), np.array([5.0]), np.array([0.3]), 1.0)):
        weights = np.full(3, 1.0 / 3.0)
        game = neighbour_game(np.array([1.0, 0.5, 0.0]), hidden.policy, found)
        response = best_response(weights, game, lagrangian)
        assert response.value == pytest.approx(0.0, abs=1e-9)


def test_two_hidden_rows_end_the_program():
    hidden = vertex([1, 2])
    found = vertex_neighbours(hidden)
    assert found.shape == (0, 3)
    with pytest.raises(ValueError, match="without neighbours"):
        best_response(np.ones(3) / 3.0, neighbour_game(np.ones(3), hidden.policy, found), None)


def test_stored_neighbours_are_not_renewed():
    known = {}
    first = remembered(known, vertex())
    assert remembered(known, vertex([3])) is first


def test_neighbours_are_those_that_allclose_tells_apart():
    rng = np.random.default_rng(8)
    for _ in range(50):
        points = rng.integers(0, 3, (12, 3)) + rng.choice([0.0, 1e-9, 1e-6, 1e-4], (12, 3))
        found = []
        for point in points:
            if not any(np.allclose(other, point) for other in found):
                found.append(point)
        np.testing.assert_array_equal(points[first_of_close(points)], found)


@pytest.mark.parametrize("k", [3, 6, 12])
def test_alternatives_are_those_of_numpy(k):
    """Bit for bit: SLSQP takes differences of these values."""
    rng = np.random.default_rng(9)
    for _ in range(50):
        weights, (policy, *others) = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), 5)
        means, others = rng.normal(size=k), np.array(others)
        fast = alternatives(weights, neighbour_game(means, policy, others))
        for ours, theirs in zip(fast, nearest_ties(weights, means, policy, others), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_the_alternative_is_as_good_at_the_neighbour():
    policy, others = np.array([1.0, 0.0, 0.0]), np.eye(3)[1:]
    game = neighbour_game(np.array([1.0, 0, 0.5]), policy, others)
    values, instances = alternatives(np.array([0.5, 0.25, 0.25]), game)
    # gap^2 / (2 (1 / w_1 + 1 / w_a)), two arms at a time
    np.testing.assert_allclose(values, [1.0 / 12.0, 0.25 / 12.0], rtol=1e-9)
    np.testing.assert_allclose(((policy - others) * instances).sum(axis=1), 0.0, atol=1e-9)


@pytest.mark.parametrize("name", [setup1(HARD).name, "imdb"])
def test_neighbours_are_those_of_every_basis(name):
    """Bit for bit, with the rank of every basis computed instead of told by a bound."""
    rng, problem = np.random.default_rng(10), instances()[name].problem
    for n in np.geomspace(3, 3000, 40).astype(int):
        means = problem.means + rng.standard_normal(problem.means.shape) / np.sqrt(n)
        matrix = problem.matrix + rng.standard_normal(problem.matrix.shape) / np.sqrt(n)
        for constraints in [(matrix, problem.limits)], []:
            try:
                best = best_policy(means, *constraints)
            except RoundFailure:
                continue
            np.testing.assert_array_equal(vertex_neighbours(best), neighbours_of_every_basis(best))


def neighbours_of_every_basis(best):
    k, rows = best.policy.size, best.rows
    bases = np.array(
        [
            (*basis[:place], row, *basis[place + 1 :])
            for basis in itertools.combinations(np.flatnonzero(best.slacks == 0.0), k)
            for row in np.flatnonzero(best.slacks != 0.0)
            for place in range(k)
        ]
    ).reshape(-1, k)
    bases = bases[np.linalg.matrix_rank(rows[bases]) == k] if len(bases) else bases
    points = np.linalg.solve(rows[bases], best.limits[bases][:, :, None])[:, :, 0]
    points = points[(points @ rows.T <= best.limits + INSIDE).all(axis=1)]
    return points[first_of_close(points)]


def test_the_norm_of_the_policy_is_that_of_the_inverse():
    """Bit for bit: the programs invert I + diag(N)."""
    rng = np.random.default_rng(11)
    for _ in range(200):
        state = known_state(np.zeros((1, 3)), [1.0])
        state.pulls, policy = rng.integers(1, 5000, 3) * 1.0, rng.dirichlet(np.ones(3))
        norm = policy @ np.linalg.inv(np.eye(3) + np.diag(state.pulls)) @ policy
        shift = solved_radius(state.time, 3, 0.01) * np.sqrt(norm)
        assert row_shift(PROGRAMS["LATS"], state, policy) == shift


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_best_response_leaves_out_no_neighbour_that_matters(sign):
    rng = np.random.default_rng(6)
    for _ in range(15):
        policy, *others = rng.dirichlet(np.ones(4), 5)
        rows, limits = rng.normal(size=(2, 4)), rng.uniform(-0.3, 1.5, 2) - rng.choice([0.0, 3.0])
        lagrangian = Lagrangian(rows, limits, rng.normal(size=2), sign)
        weights, means = rng.dirichlet(np.ones(4)), rng.normal(size=4)
        game = neighbour_game(means, policy, np.array(others))
        values, instances = alternatives(weights, game)
        slacks = limits - rows @ weights
        totals = [value + multiplier(value, slacks, lagrangian) @ slacks for value in values]
        found = best_response(weights, game, lagrangian)
        assert found.value == pytest.approx(min(totals), abs=1e-12)
        np.testing.assert_array_equal(found.means, instances[np.argmin(totals)])


@pytest.mark.long
def test_lats_allocations_exceed_one():
    rows, limits = np.array([[1.0, 1.0, 0.0]]), np.array([2.0])
    lagrangian = Lagrangian(rows, limits, np.array([0.5]), 1.0)
    policy, others = np.array([1.0, 0.0, 0.0]), np.eye(3)[1:]
    rng = np.random.default_rng(5)
    game = neighbour_game(np.array([1.0, 0.2, 0.0]), policy, others)
    found = solved_allocation(game, rng, rows, limits, lagrangian)
    assert found.sum() > 2.0


@pytest.mark.long
@pytest.mark.parametrize("is_lagrangian", [True, False])
def test_an_unsolved_game_has_no_allocation_for_lats_only(monkeypatch, is_lagrangian):
    result = Minimum(np.full(3, 0.4), success=False)
    monkeypatch.setattr(program_solvers, "sweep", lambda *arguments: result)
    lagrangian = Lagrangian(np.ones((1, 3)), np.ones(1), np.ones(1), 1.0) if is_lagrangian else None
    game = neighbour_game(np.ones(3), np.eye(3)[0], np.eye(3)[1:])
    arguments = game, None, np.ones((1, 3)), np.ones(1), lagrangian
    if is_lagrangian:
        with pytest.raises(RoundFailure, match="not solved"):
            solved_allocation(*arguments)
    else:
        assert solved_allocation(*arguments) is result.x


@pytest.mark.long
def test_solver_returns_its_start_where_the_game_is_flat():
    rows, limits = np.array([[1.0, 1.0, 0.0]]), np.array([2.0])
    lagrangian = Lagrangian(rows, limits, np.array([0.5]), 1.0)
    policy, drawn = np.array([1.0, 0.0, 0.0]), [0.5, 0.3, 0.4]
    game = neighbour_game(np.array([1.0, 0.2, 0.0]), policy, np.eye(3))
    found = solved_allocation(game, Recorded(drawn), rows, limits, lagrangian)
    start = project(np.array(drawn), rows, limits)
    np.testing.assert_allclose(found, start, rtol=0, atol=1e-12)
    np.testing.assert_allclose(start, np.array(drawn) - 0.2 / 3.0, atol=1e-4)


def test_bounds_of_the_multiplier():
    """Zero where constraints have slack; LATS finds no room for it where one is broken."""
    lagrangian = Lagrangian(np.zeros((2, 3)), np.zeros(2), np.array([0.4, 0.1]), 1.0)
    for slacks in ([1.0, 0.5], [2.0, -0.5]):
        np.testing.assert_allclose(multiplier(0.1, np.array(slacks), lagrangian), 0.0, atol=1e-9)
    loose = lagrangian._replace(
        sign=-1.0
    )  # LAGEX: at most value / largest excess, if all are broken
    found = multiplier(0.1, np.array([-0.5, -0.2]), loose)
    np.testing.assert_allclose(found, [0.5, 0.0], atol=1e-6)


@pytest.mark.parametrize("mean", [-0.7, 0.31, 1.5, 9.9])
@pytest.mark.parametrize("end", [-1.0, 10.0])
@pytest.mark.parametrize("level", [1e-4, 0.02, 1.3, 500.0])
def test_grid_end_is_bisection_on_the_grid(mean, end, level):
    grid, low, high = np.linspace(mean, end, GRID), 0, GRID
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if 0.5 * (mean - grid[middle]) ** 2 < level else (low, middle)
    found = grid_end(mean, end, level)
    assert found in grid
    assert abs(found - grid[low]) <= 1.001 * abs(grid[1] - grid[0])


def test_radii():
    assert game_radius(60, 6, 0.01) == 1 + math.sqrt(math.log(1200 + 1.5 * math.log(11)) / 2)
    assert solved_radius(60, 6, 0.01) == 1 + math.sqrt(math.log(400) / 2 + 1.5 * math.log(11))


def known_state(matrix, limits, means=(1.0, 0.6, 0.2), pulls=40.0, name="Uniform"):
    problem = Problem(np.array(means), np.ones(3), np.array(matrix), np.array(limits), 1.0)
    state = make_state(PROGRAMS[name], problem, 0.01, problem.matrix, np.full(len(limits), 0.2))
    state.means, state.pulls = problem.means.copy(), np.full(3, pulls)
    return state


@pytest.mark.long
def test_the_stopping_rules():
    """All slack, so that the multiplier is zero; the rules of others add K s and sum |c|."""
    beta = math.log(2.0 * (1.0 + math.log(120.0)) / 0.01)
    seen = {
        name: play_round(
            PROGRAMS[name], known_state([[0.0, 0.0, 0.1]], [9.0], name=name), Recorded([0.5] * 6)
        )
        for name in ("LATS", "LAGEX", "Uniform")
    }
    shift = solved_radius(120, 3, 0.01) / math.sqrt(41.0)
    glr = 120.0 * 0.4**2 / 2.0 / 6.0
    for name in ("LATS", "LAGEX"):
        assert seen[name].threshold == pytest.approx(beta, abs=1e-6)
        assert seen[name].statistic == pytest.approx(glr, abs=1e-5)
    assert seen["Uniform"].threshold == pytest.approx(beta + 3.0 * shift)
    assert seen["Uniform"].statistic == pytest.approx(glr + 9.0 + shift)


def test_forced_exploration_except_in_two_programs():
    state = State(
        np.ones(1), 0.01, np.zeros(1), np.zeros((1, 3)), np.zeros(3), np.array([50, 49, 1.0])
    )
    top = np.array([1.0, 0.0, 0.0])
    assert next_arm(PROGRAMS["LATS"], state, top, None) == 2
    assert next_arm(PROGRAMS["CGE-WLag"], state, top, None) == 0
    third = np.full(3, 1.0 / 3.0)
    drawn = [next_arm(PROGRAMS["Uniform"], state, third, Recorded([u])) for u in (0.1, 0.5, 0.9)]
    assert drawn == [0, 1, 2]


def test_rounds_without_a_policy_repeat_the_last_arm():
    never = Problem(np.array([1.0, 0.5, 0.0]), np.ones(3), np.full((1, 3), 50.0), np.zeros(1), 1.0)
    found = run(PROGRAMS["LATS"], never, 0.01, 20, np.random.default_rng(3))
    assert (found.time, found.status, found.empty) == (20, Status.CAPPED, 17)
    assert found.pulls.tolist() == [1, 1, 18]


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs(name):
    once, again = (
        run(PROGRAMS[name], PROBLEMS["easy"], 0.01, 12, np.random.default_rng(8)) for _ in range(2)
    )
    assert once.time == once.pulls.sum() == 12
    np.testing.assert_array_equal(once.pulls, again.pulls)
    np.testing.assert_array_equal(once.policy, again.policy)
    assert once.policy.sum() == pytest.approx(1.0)


@pytest.mark.long
def test_a_run_ends_by_its_rule():
    clear = Problem(
        np.array([8.0, 0.0, 0.0]), np.ones(3), np.array([[1.0, 0, 0]]), np.array([9.0]), 0.1
    )
    found = run(PROGRAMS["CTnS-WLag"], clear, 0.1, 2000, np.random.default_rng(2))
    assert found.status == Status.STOPPED
    np.testing.assert_allclose(found.policy, [1.0, 0.0, 0.0], atol=1e-9)


@pytest.mark.long
def test_a_process_may_load_what_another_compiled(tmp_path):
    """LATS first, of all programs: its game is solved with a multiplier that a solver seeks."""
    code = (
        "import numpy as np; from bestarm.lagex.problem import setup1; "
        "from bestarm.lagex.released.program import run, variant; "
        "print(run(variant('LATS'), setup1(1.3).problem, 0.01, 12, np.random.default_rng(3)).time)"
    )
    environ = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True)
        assert (done.returncode, done.stdout) == (0, b"12\n"), done.stderr.decode()
