"""The released programs without one of their peculiarities, and the table and picture of these."""

import itertools

import numpy as np
import pandas as pd
import pytest

from bestarm.common.tables import make_sources, read_table, target_table, write_table
from bestarm.core.status import Status
from bestarm.lagex import plots
from bestarm.lagex.cells import SHORT
from bestarm.lagex.problem import EASIER, HARD, instances, setup1
from bestarm.lagex.released import kept
from bestarm.lagex.released.program import (
    ALL,
    PECULIARITIES,
    PROGRAMS,
    SWITCHED_OFF,
    TIGHT,
    can_be_without,
    lagrangian_at,
    make_state,
    peculiarities,
    play_round,
    reading_without,
    remembered,
    row_shift,
    run,
    solved_radius,
    variant,
)
from bestarm.lagex.released.solvers import (
    AdaGrad,
    RoundFailure,
    adagrad_step,
    alternatives,
    best_policy,
    neighbour_game,
    simplex_rows,
    solved_allocation,
    vertex_neighbours,
)
from bestarm.registry import PAPERS
from bestarm.runs.plan import describe_instances

EASY = setup1(EASIER).name
#: What every program has, from the files of its authors.
HAS = {
    "LAGEX": ["tight", "distance", "rescale", "start", "radius"],
    "LATS": ["tight", "start", "sum"],
    "CTnS-WLag": ["tight", "sum"],
    "CGE-WLag": ["tight", "distance", "radius"],
    "PTnS": ["tight"],
    "Uniform": ["tight"],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_can_be_switched_off_is_what_a_program_has(name):
    """All together only where that is more than one of them."""
    has = HAS[name]
    assert peculiarities(PROGRAMS[name]) == has
    possible = [without for without in SWITCHED_OFF if can_be_without(name, without)]
    assert sorted(possible) == sorted(["", *has, *([ALL] if len(has) > 1 else [])])
    assert variant(name) == PROGRAMS[name]
    assert variant(name, ALL).without == set(has)
    for without in has:
        assert variant(name, without).without == {without}


def started(name, without="", seed=0, pulls=40.0):
    """A variant and its state on easy, all arms pulled, estimates a little off the truth."""
    problem, rng = instances()[EASY].problem, np.random.default_rng(seed)
    program = variant(name, without)
    matrix = rng.normal(problem.matrix, 0.05)
    state = make_state(program, problem, 0.01, matrix, rng.standard_normal(problem.limits.size))
    state.means, state.pulls = rng.normal(problem.means, 0.05), np.full(problem.means.size, pulls)
    return program, state, rng


@pytest.mark.parametrize("name", [setup1(HARD).name, "setup 2 easy"])
def test_with_a_tolerance_neighbours_are_the_adjacent_vertices(name):
    """By brute force over all vertices; as released, the policy is often among them."""
    rng, problem, own = np.random.default_rng(3), instances()[name].problem, 0
    for _ in range(15):
        means = problem.means + 0.3 * rng.standard_normal(problem.means.size)
        matrix = problem.matrix + 0.3 * rng.standard_normal(problem.matrix.shape)
        try:
            best = best_policy(means, (matrix, problem.limits))
        except RoundFailure:
            continue
        ours = vertex_neighbours(best, TIGHT)
        wanted = adjacent(best)
        assert len(ours) == len(wanted)
        for point in wanted:
            assert np.abs(ours - point).max(axis=1).min() < 1e-9
        assert np.abs(ours - best.policy).max(axis=1).min() > 1e-6
        released = vertex_neighbours(best)
        own += len(released) > 0 and np.abs(released - best.policy).max(axis=1).min() < 1e-9
    assert own > 0


def adjacent(best):
    """Vertices that have K - 1 independent tight rows in common with the best one."""
    k, rows, limits = best.policy.size, best.rows, best.limits
    vertices = []
    for basis in itertools.combinations(range(len(rows)), k):
        chosen = list(basis)
        if np.linalg.matrix_rank(rows[chosen]) < k:
            continue
        point = np.linalg.solve(rows[chosen], limits[chosen])
        inside = (rows @ point <= limits + 1e-9).all()
        if inside and all(np.abs(point - other).max() > 1e-7 for other in vertices):
            vertices.append(point)
    tight = [np.abs(limits - rows @ point) < 1e-7 for point in (best.policy, *vertices)]
    return [
        point
        for point, its in zip(vertices, tight[1:], strict=True)
        if np.abs(point - best.policy).max() > 1e-7
        and np.linalg.matrix_rank(rows[tight[0] & its]) == k - 1
    ]


def test_neighbours_are_stored_as_a_variant_has_them():
    for without in ("", "tight"):
        program, state, _ = started("LATS", without)
        vertex = best_policy(state.means, (state.matrix, state.limits))
        found = remembered(state.neighbours, vertex, program)
        near = TIGHT if without else 0.0
        np.testing.assert_array_equal(found, vertex_neighbours(vertex, near))


@pytest.mark.long
def test_least_squares_project_to_the_nearest_point():
    """(x - target)^T (v - x) >= 0 at every vertex v of the simplex, and only for the projection."""
    rng, moved = np.random.default_rng(4), 0
    for _ in range(20):
        rows, limits = simplex_rows(5)
        weights = rng.dirichlet(np.ones(5))
        gains = rng.uniform(0.5, 3.0, 5)
        for squared in (True, False):
            game = AdaGrad(rows, limits, weights, np.zeros((5, 5)))
            adagrad_step(game, gains, squared)
            outer = np.outer(gains, gains) + 0.01 * np.eye(5)
            values, vectors = np.linalg.eigh(outer)
            target = weights + vectors @ (vectors.T @ gains / np.sqrt(values)) / np.sqrt(2.0)
            at_vertices = (np.eye(5) - game.weights) @ (game.weights - target)
            if squared:
                assert at_vertices.min() > -1e-3  # SLSQP ends within 1e-6 of the least square
                moved += np.abs(game.weights - weights).max() > 1e-3
            else:
                np.testing.assert_allclose(game.weights, weights, rtol=0, atol=1e-12)
    assert moved == 20


def test_gains_are_scaled_in_lagex_alone():
    assert [name for name, program in PROGRAMS.items() if program.rescale != 1.0] == ["LAGEX"]
    assert variant("LAGEX", "rescale").rescale == variant("LAGEX", ALL).rescale == 1.0
    assert variant("LAGEX", "tight").rescale == 0.01


@pytest.mark.long
@pytest.mark.parametrize("name", ["LAGEX", "LATS"])
def test_the_multiplier_may_start_from_zero(name):
    program, state, _ = started(name)
    assert (lagrangian_at(program, state, state.matrix).start == state.start).all()
    assert state.start.any()
    program, state, _ = started(name, "start")
    assert not lagrangian_at(program, state, state.matrix).start.any()


@pytest.mark.long
@pytest.mark.parametrize("name", ["LATS", "CTnS-WLag"])
def test_allocations_may_have_to_sum_to_one(name):
    sums = {}
    for without in ("", "sum", ALL):
        sums[without] = []
        for seed in range(8):
            program, state, rng = started(name, without, seed)
            allocation = play_round(program, state, rng).allocation
            sums[without].append(allocation.sum())
            assert allocation.min() >= -1e-9
    for without in ("sum", ALL):
        np.testing.assert_allclose(sums[without], 1.0, rtol=0, atol=1e-6)
    assert max(sums[""]) > 1.5


@pytest.mark.long
def test_allocations_that_sum_to_one_are_best_among_these():
    """Against the vertices of a fine grid of three arms, one constraint."""
    rng = np.random.default_rng(7)
    grid = np.array([(a, b, 40 - a - b) for a in range(41) for b in range(41 - a)]) / 40.0
    rows, limits = np.array([[1.0, 0.0, 0.0]]), np.array([0.4])
    inside = grid[(grid @ rows.T <= limits).all(axis=1)]
    game = neighbour_game(np.array([1.0, 0.7, 0.0]), np.array([0.4, 0.6, 0.0]), np.eye(3)[1:])
    found = solved_allocation(game, rng, rows, limits, summed=True)
    best = max(alternatives(weights, game)[0].min() for weights in inside)
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    assert (rows @ found <= limits + 1e-9).all()
    assert alternatives(found, game)[0].min() >= best - 1e-6


@pytest.mark.long
@pytest.mark.parametrize("name", ["LAGEX", "CGE-WLag"])
def test_the_games_radius_may_be_that_of_the_others(name):
    policy = np.eye(6)[0]
    program, state, _ = started(name, "radius")
    assert row_shift(program, state, policy) == solved_radius(240, 6, 0.01) / np.sqrt(41.0)
    program, state, _ = started(name)
    assert row_shift(program, state, policy) < solved_radius(240, 6, 0.01) / np.sqrt(41.0)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "without"),
    [(name, out) for name in PROGRAMS for out in SWITCHED_OFF if can_be_without(name, out)],
)
def test_every_variant_runs(name, without):
    problem = instances()[EASY].problem
    found = run(variant(name, without), problem, 0.01, 15, np.random.default_rng(8))
    assert found.time == found.pulls.sum() == 15
    assert found.policy.sum() == pytest.approx(1.0)


#: Runs that are kept in the tests below, by program and what is switched off.
MADE = {("LAGEX", ""): 9, ("LAGEX", "tight"): 7, ("LATS", ""): 6, ("LATS", "sum"): 1}
MADE |= {(name, ""): 6 for name in ("CTnS-WLag", "CGE-WLag", "PTnS", "Uniform")}


@pytest.fixture
def table(root, monkeypatch, tmp_path):
    """The target's table of made-up runs: tau = 1000, 2000, ..., so that some exceed the cap."""
    runs = pd.concat([
        pd.DataFrame({
            "instance": EASY, "delta": 0.01, "strategy": name, "without": without,
            "tau": 1000.0 * (1 + np.arange(count)), "status": Status.STOPPED,
            "policy": [np.full(6, 1 / 6)] * count,
            "policy_violations": 0, "allocation_violations": 0, "empty": 0,
        })
        for (name, without), count in MADE.items()
    ])  # fmt: skip
    monkeypatch.setattr(kept, "read", {kept.RUNS: runs}.get)
    stored = read_table(root / "figures/lagex/programs.csv")
    written = stored[(stored.reading == "as-written") & (stored.other == "")]
    described = describe_instances(PAPERS["lagex"], {EASY: instances()[EASY]})
    published = read_table(root / "data/published/lagex.csv")
    sources = make_sources({"easy": written}, described, published)
    made = target_table(PAPERS["lagex"].targets["peculiarities"], sources)
    write_table(made, tmp_path / "x.csv")
    return read_table(tmp_path / "x.csv")


def medians(table, strategy):
    rows = table[(table.strategy == strategy) & (table.statistic == "median_stopping_time")]
    return rows.set_index("reading")


def test_the_table_has_a_median_of_no_runs_where_none_was_made(table):
    for name, has in HAS.items():
        rows = medians(table, name)
        all_of_them = [reading_without(ALL)] if len(has) > 1 else []
        readings = {"program", *map(reading_without, has), *all_of_them}
        assert set(rows.index) == readings | {"as-written", "published"}
        for without in ("", *PECULIARITIES, ALL):
            if (reading := reading_without(without)) in readings:
                assert rows.n[reading] == MADE.get((name, without), 0)
                assert rows.cap[reading] == SHORT["cap"]


def test_runs_as_released_end_at_the_cap_of_the_others(table):
    """Nine runs of 1000 to 9000 rounds: the middle one is the last that stops."""
    rows = medians(table, "LAGEX")
    assert rows.value["program"] == 5000
    assert np.isinf(rows.high["program"])
    capped = table[(table.strategy == "LAGEX") & (table.statistic == "share_capped")]
    assert capped.set_index("reading").value["program"] == pytest.approx(4 / 9)


def test_strategies_that_know_the_constraints_are_left_out(table):
    assert set(table.strategy) == set(HAS)


def test_the_picture_says_where_there_is_no_mark(table):
    figure = plots.peculiarities(table)
    panels = {axes.get_title(loc="left"): axes for axes in figure.axes}
    assert set(panels) == set(HAS)
    texts = {name: [text.get_text() for text in axes.texts] for name, axes in panels.items()}
    assert texts["PTnS"] == ["not run", "–", "–", "–", "–", "–", "–"]
    assert texts["LATS"] == ["not run", "–", "–", "not run", "–", "not run"]
    assert texts["LAGEX"].count("not run") == 5
    released = (table.reading == "program") & (table.strategy == "LAGEX")
    capped = table.assign(value=table.value.where(~released))
    (lagex,) = [
        axes
        for axes in plots.peculiarities(capped).figure.axes
        if axes.get_title(loc="left") == "LAGEX"
    ]
    assert lagex.texts[0].get_text() == "half or more capped"
    assert "n = 6 to 9 runs as released, n = 1 to 7 runs without it" in figure.get_label()
