"""Feasible sets and normal cones of three arms, for Figures 1 to 3."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from bestarm.common.paper import Cell, Sources
from bestarm.common.tables import assemble, cell_rows, groups
from bestarm.core.estimates import Estimate, exact, mean, proportion
from bestarm.core.streams import run_streams, stream_key
from bestarm.lagex.paper.confidence import norm, radius
from bestarm.lagex.paper.state import start
from bestarm.lagex.problem import Instance, Problem, perturbed
from bestarm.lagex.strategies import READINGS, STEPS, Setting, make_rules, make_world
from bestarm.lagex.vertices import Alternatives, alternatives, every_alternative, nonempty

#: Figure 2's rounds, and the delta of its optimistic sets.
ROUNDS = (60, 200, 266)
DELTA = 0.01
#: The delta of the run itself, so small that it hardly ever stops before the last of these rounds.
RUN_DELTA = 1e-30
#: Runs behind the numbers of Figure 2: enough to distinguish a share of 0.99 from 1.
RUNS = 500
#: The epsilons drawn in Figure 1: none, that of the text, and ten times as much.
DRAWN = (0.0, 0.005, 0.05)
#: An orthonormal basis (2, 3) of the plane of policies.
PLANE = np.array([[-1.0, 1.0, 0.0], [-1.0, -1.0, 2.0]]) / np.sqrt([[2.0], [6.0]])


class Snapshot(NamedTuple):
    """The estimates of a run after some rounds."""

    round: int
    means: np.ndarray  # (K,) estimates of Section 3.1
    matrix: np.ndarray  # (d, K) estimate of A
    pulls: np.ndarray  # (K,)
    shift: float  # relaxation of every limit by optimism


def snapshots(instance: Instance, run: int = 0) -> Iterator[Snapshot]:
    """A run of LAGEX, at ROUNDS; on a stream of its own. Run 0 is drawn in the figure.

    The run continues after the stopping rule holds. With r > 0 the rule holds at any delta if the
    estimated set is very small.
    """
    problem = instance.problem
    rng = run_streams(stream_key(0, "lagex", "fig2", instance.name, ""), run).environment
    reading, setting = READINGS["LAGEX"]["as-written"], Setting(delta=RUN_DELTA)
    rules = make_rules("LAGEX", reading, setting, problem.variances, problem.limits, problem.matrix)
    state, world = start(rules), make_world(problem)
    estimates = state.estimates
    for t in ROUNDS:
        while (done := int(estimates.pulls.sum())) < t:
            # without coins, as the kernels of ask/tell objects are compiled
            if STEPS.resume(world, rules, state, t - done, rng, rng):
                arm = STEPS.choose(rules, state, None)
                STEPS.observe(rules, state, arm, STEPS.pull(world, state, arm, rng))
        shift = width_at(estimates.pulls) * norm(estimates.pulls / t, estimates.pulls)
        matrix = estimates.rows + problem.limits[:, None]
        yield Snapshot(t, estimates.means.copy(), matrix, estimates.pulls.copy(), shift)


def width_at(pulls: np.ndarray) -> float:
    """f(t, DELTA) of Eq. (2)."""
    return radius(float(np.log1p(pulls).sum()), pulls.size, DELTA)


def covers(problem: Problem, snapshot: Snapshot, truly: np.ndarray) -> bool:
    """Whether Lemma 1's set, A^ pi - f ||pi|| <= b (norm of Sigma^-1), contains every feasible pi.

    With pi = Sigma^(1/2) p and g = Sigma^(1/2) (A^_i - b_i) the i-th limit asks g . p <= f ||p||
    over the cone of the feasible set's corners. The largest g . p / ||p|| is the length of g's
    projection onto that cone, which least squares with weights >= 0 gives.

    Args:
        problem: the truth.
        snapshot: the estimates of a run.
        truly: (V, K) corners of the true feasible set.
    """
    roots = np.sqrt(1.0 + snapshot.pulls)
    cone, width = (truly / roots).T, width_at(snapshot.pulls)
    for row, limit in zip(snapshot.matrix, problem.limits, strict=True):
        g = roots * (row - limit)
        missed = nnls(cone, g)[1]
        if math.sqrt(max(g @ g - missed**2, 0.0)) > width:
            return False
    return True


def corners(rivals: Alternatives | None) -> np.ndarray:
    """The vertices (V, 3) of a set of policies of three arms, in order around it; none if empty."""
    if rivals is None:
        return np.zeros((0, 3))
    points = np.vstack([rivals.policy, rivals.policy + rivals.steps])
    _, first = np.unique(points.round(9), axis=0, return_index=True)
    points = points[first]
    away = (points - points.mean(axis=0)) @ PLANE.T
    return points[np.argsort(np.arctan2(away[:, 1], away[:, 0]))]


def area(points: np.ndarray) -> float:
    """The area of a polygon of policies over that of the simplex, by the shoelace formula."""
    x, y = points @ PLANE.T[:, 0], points @ PLANE.T[:, 1]
    twice = abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1)))
    return twice / 2.0 / (math.sqrt(3.0) / 2.0)


def polygon(points: np.ndarray, **columns) -> pd.DataFrame:
    """A set of policies as rows of a geometry."""
    frame = pd.DataFrame(points, columns=["pi1", "pi2", "pi3"])
    return frame.assign(**columns)


def triangle_instance(sources: Sources) -> Instance:
    """The instance of Figures 2 and 3."""
    return Instance(**sources.instances["triangle"]["instance"])


def regions(sources: Sources) -> pd.DataFrame:
    """Figure 1: the feasible sets and best policies."""
    frames = []
    for epsilon in DRAWN:
        problem = perturbed(epsilon).problem
        rivals = nonempty(every_alternative(problem.means, problem.matrix, problem.limits))
        frames.append(polygon(corners(rivals), epsilon=epsilon, kind="feasible"))
        frames.append(polygon(rivals.policy[None], epsilon=epsilon, kind="best policy"))
    return pd.concat(frames)


def optimistic(problem: Problem, snapshot: Snapshot) -> np.ndarray:
    """The corners of the optimistic feasible set."""
    return corners(
        every_alternative(snapshot.means, snapshot.matrix, problem.limits + snapshot.shift)
    )


def best_and_neighbours(problem: Problem, snapshot: Snapshot) -> Alternatives | None:
    """The best policy by the estimates and its neighbours."""
    return alternatives(snapshot.means, snapshot.matrix, problem.limits, 0.0)


def estimated_regions(sources: Sources) -> pd.DataFrame:
    """Figure 2: the true feasible set, and the optimistic ones with the policies they give."""
    instance = triangle_instance(sources)
    problem = instance.problem
    rivals = nonempty(every_alternative(problem.means, problem.matrix, problem.limits))
    frames = [
        polygon(corners(rivals), round=0, kind="feasible"),
        polygon(rivals.policy[None], round=0, kind="best policy"),
    ]
    for snapshot in snapshots(instance):
        frames.append(polygon(optimistic(problem, snapshot), round=snapshot.round, kind="feasible"))
        best = best_and_neighbours(problem, snapshot)
        if best is not None:
            frames.append(polygon(best.policy[None], round=snapshot.round, kind="best policy"))
    return pd.concat(frames)


def estimated_sets(sources: Sources) -> pd.DataFrame:
    """Figure 2 in numbers, over RUNS runs.

    These are the areas of the optimistic sets, the shares that contain the true set, and the
    distances of the policies from the best one. Lemma 1 relaxes the limits for every policy by its
    own norm, Algorithms 2 and 3 for all policies by the norm of the allocation (Table 1), which is
    what is drawn.
    """
    instance = triangle_instance(sources)
    problem = instance.problem
    rivals = nonempty(every_alternative(problem.means, problem.matrix, problem.limits))
    truly = corners(rivals)
    seen = [
        {
            "round": snapshot.round,
            "feasible_area": area(optimistic(problem, snapshot)),
            "own norm": covers(problem, snapshot, truly),
            "shared shift": (truly @ snapshot.matrix.T - problem.limits - snapshot.shift).max()
            <= 0.0,
            "policy_distance": _distance(best_and_neighbours(problem, snapshot), rivals.policy),
        }
        for run in range(RUNS)
        for snapshot in snapshots(instance, run)
    ]
    rows = cell_rows(Cell("triangle", "truth", {}, "exact"), [of_one("feasible_area", area(truly))])
    for t, runs in groups(pd.DataFrame(seen), "round"):
        cell = Cell("triangle", "LAGEX", {"delta": DELTA}, "as-written", {}, "round", float(t))
        estimates = [
            mean("feasible_area", "", runs.feasible_area.to_numpy()),
            *(
                proportion(f"covers_feasible_set:{shift}", int(runs[shift].sum()), len(runs))
                for shift in ("own norm", "shared shift")
            ),
            mean("policy_distance", "", runs.policy_distance.dropna().to_numpy()),
        ]
        rows += cell_rows(cell, estimates)
    return assemble(rows)


def _distance(best: Alternatives | None, policy: np.ndarray) -> float:
    """The largest difference of a weight from a policy's; nan if no policy looks feasible."""
    return math.nan if best is None else float(np.abs(best.policy - policy).max())


def of_one(statistic: str, value: float) -> Estimate:
    """A computed number of the drawn run or of the truth."""
    return exact(statistic, "degrees" if statistic == "cone_angle" else "", value)


def rays(rivals: Alternatives) -> np.ndarray:
    """(2, 2) unit vectors, in the plane, along the edges of a vertex's normal cone.

    The cone contains the means for which no neighbour pi + v is better, lambda . v <= 0. It does
    not change if a number is added to all means, so its projection on the plane describes it.
    """
    edges = rivals.steps @ PLANE.T
    edges /= np.linalg.norm(edges, axis=1, keepdims=True)
    sides = np.stack([-edges[:, 1], edges[:, 0]], axis=1)
    other = (sides * edges[::-1]).sum(axis=1)
    return sides * np.where(other <= 0.0, 1.0, -1.0)[:, None]


def cones(sources: Sources) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Round (0: the truth), rays of the cone of the best policy, and the means in the plane."""
    instance = triangle_instance(sources)
    problem = instance.problem
    rivals = nonempty(alternatives(problem.means, problem.matrix, problem.limits, 0.0))
    yield 0, rays(rivals), PLANE @ problem.means
    for snapshot in snapshots(instance):
        best = best_and_neighbours(problem, snapshot)
        if best is not None and len(best.steps) == 2:
            yield snapshot.round, rays(best), PLANE @ snapshot.means


def cone_rays(sources: Sources) -> pd.DataFrame:
    """Figure 3: rays of the normal cones, and the means inside them."""
    rows = []
    for round_, edges, means in cones(sources):
        shapes = {"ray 1": edges[0], "ray 2": edges[1], "means": means}
        rows += [{"round": round_, "kind": k, "x": x, "y": y} for k, (x, y) in shapes.items()]
    return pd.DataFrame(rows)


def normal_cones(sources: Sources) -> pd.DataFrame:
    """Figure 3 in numbers: angles of the cones."""
    rows = []
    for round_, edges, _ in cones(sources):
        angle = math.degrees(math.acos(np.clip(edges[0] @ edges[1], -1.0, 1.0)))
        strategy, x_name = ("LAGEX", "round") if round_ else ("truth", "")
        reading, x = ("as-written", float(round_)) if round_ else ("exact", None)
        setting = {"delta": DELTA} if round_ else {}
        cell = Cell("triangle", strategy, setting, reading, {}, x_name, x)
        rows += cell_rows(cell, [of_one("cone_angle", angle)])
    return assemble(rows)
