"""Feasible sets and normal cones of three arms, for Figures 1 to 3."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from bestarm.core.estimates import Estimate, exact
from bestarm.core.streams import stream_key, streams_of
from bestarm.lagex.confidence import norm, radius
from bestarm.lagex.exploration import choose, make_state, observe
from bestarm.lagex.problem import Instance, Model, perturbed
from bestarm.lagex.strategies import READINGS, Setting, rules_of
from bestarm.lagex.vertices import Alternatives, alternatives, every_alternative
from bestarm.pipeline.model import Cell, Sources
from bestarm.pipeline.tables import assemble, cell_rows

#: Figure 2's rounds, and the delta of its optimistic sets.
ROUNDS = (60, 200, 266)
DELTA = 0.01
#: So small that the run goes on beyond the last of them.
NEVER_STOPS = 1e-30
#: What figure 1 shows of its set: as it is, tightened as in the text, and ten times as much.
DRAWN = (0.0, 0.005, 0.05)
#: An orthonormal basis (2, 3) of the plane of policies: a unit of height and of width.
PLANE = np.array([[-1.0, 1.0, 0.0], [-1.0, -1.0, 2.0]]) / np.sqrt([[2.0], [6.0]])


class Snapshot(NamedTuple):
    """What a run knows after some rounds."""

    round: int
    means: np.ndarray  # (K,) estimates of Section 3.1
    matrix: np.ndarray  # (d, K) the same of A
    shift: float  # by how much optimism relaxes every limit


def snapshots(instance: Instance) -> Iterator[Snapshot]:
    """One run of LAGEX, at ROUNDS; on a stream of its own."""
    model = instance.model
    k = model.means.size
    rng = streams_of(stream_key(0, "lagex", "fig2", instance.name, ""), 0).environment
    rules = rules_of("LAGEX", READINGS["as-written"], Setting(delta=NEVER_STOPS))
    state = make_state(model.variances, model.limits)
    for t in range(1, max(ROUNDS) + 1):
        arm = choose(rules, state)
        reward = rng.normal(model.means[arm], math.sqrt(model.variances[arm]))
        observe(rules, state, arm, reward, rng.normal(model.matrix[:, arm], model.cost_sigma))
        if t in ROUNDS:
            width = radius(float(np.log1p(state.pulls).sum()), k, DELTA)
            shift = width * norm(state.pulls / t, state.pulls)
            matrix = state.rows + model.limits[:, None]
            yield Snapshot(t, state.means.copy(), matrix, shift)


def corners(found: Alternatives | None) -> np.ndarray:
    """The vertices (V, 3) of a set of policies of three arms, in order around it; none if empty."""
    if found is None:
        return np.zeros((0, 3))
    points = np.vstack([found.policy, found.policy + found.steps])
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


def triangle_of(sources: Sources) -> Instance:
    """The instance of Figures 2 and 3."""
    return Instance(**sources.instances["triangle"]["instance"])


def regions(sources: Sources) -> pd.DataFrame:
    """Figure 1: the feasible sets and best policies."""
    frames = []
    for epsilon in DRAWN:
        model = perturbed(epsilon).model
        found = every_alternative(model.means, model.matrix, model.limits)
        frames.append(polygon(corners(found), epsilon=epsilon, kind="feasible"))
        frames.append(polygon(found.policy[None], epsilon=epsilon, kind="best policy"))
    return pd.concat(frames)


def optimistic(model: Model, seen: Snapshot) -> np.ndarray:
    """The corners of the optimistic feasible set."""
    return corners(every_alternative(seen.means, seen.matrix, model.limits + seen.shift))


def best_of(model: Model, seen: Snapshot) -> Alternatives | None:
    """The best policy by the estimates and its neighbours."""
    return alternatives(seen.means, seen.matrix, model.limits, 0.0)


def estimated_regions(sources: Sources) -> pd.DataFrame:
    """Figure 2: the true feasible set, and the optimistic ones with the policies they give."""
    instance = triangle_of(sources)
    model = instance.model
    found = every_alternative(model.means, model.matrix, model.limits)
    frames = [
        polygon(corners(found), round=0, kind="feasible"),
        polygon(found.policy[None], round=0, kind="best policy"),
    ]
    for seen in snapshots(instance):
        frames.append(polygon(optimistic(model, seen), round=seen.round, kind="feasible"))
        best = best_of(model, seen)
        if best is not None:
            frames.append(polygon(best.policy[None], round=seen.round, kind="best policy"))
    return pd.concat(frames)


def estimated_sets(sources: Sources) -> pd.DataFrame:
    """Figure 2 in numbers: sizes of the sets, whether they hold the true one, policies' errors."""
    instance = triangle_of(sources)
    model = instance.model
    found = every_alternative(model.means, model.matrix, model.limits)
    truly = corners(found)
    rows = cell_rows(Cell("triangle", "truth", {}, "exact"), [of_one("feasible_area", area(truly))])
    for seen in snapshots(instance):
        best = best_of(model, seen)
        excess = (truly @ seen.matrix.T - model.limits - seen.shift).max()
        away = math.nan if best is None else float(np.abs(best.policy - found.policy).max())
        cell = Cell("triangle", "LAGEX", {"delta": DELTA}, "as-written", {}, "round", seen.round)
        rows += cell_rows(
            cell,
            [
                of_one("feasible_area", area(optimistic(model, seen))),
                of_one("covers_feasible_set", float(excess <= 0.0)),
                of_one("policy_distance", away),
            ],
        )
    return assemble(rows)


def of_one(statistic: str, value: float) -> Estimate:
    """A number of a single run (or of the truth), without an interval."""
    return exact(statistic, "degrees" if statistic == "cone_angle" else "", value)


def rays(found: Alternatives) -> np.ndarray:
    """(2, 2) unit vectors, in the plane, along the edges of a vertex's normal cone.

    The cone holds the means under which no neighbour pi + v is better, lambda . v <= 0; adding a
    number to all means changes nothing, so the plane is enough.
    """
    edges = found.steps @ PLANE.T
    edges /= np.linalg.norm(edges, axis=1, keepdims=True)
    sides = np.stack([-edges[:, 1], edges[:, 0]], axis=1)
    other = (sides * edges[::-1]).sum(axis=1)
    return sides * np.where(other <= 0.0, 1.0, -1.0)[:, None]


def cones(sources: Sources) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Round (0: the truth), rays of the cone of the best policy, and the means in the plane."""
    instance = triangle_of(sources)
    model = instance.model
    found = alternatives(model.means, model.matrix, model.limits, 0.0)
    yield 0, rays(found), PLANE @ model.means
    for seen in snapshots(instance):
        best = best_of(model, seen)
        if best is not None and len(best.steps) == 2:
            yield seen.round, rays(best), PLANE @ seen.means


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
