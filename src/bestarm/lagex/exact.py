"""The vertices of {pi in simplex : A pi <= b} and their edges, in exact arithmetic.

Not for use in loops: Python's integers take microseconds where kernels take nanoseconds.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bestarm.lagex.vertices import MOST_COLUMNS

#: Most vertices, also of the set with only the first rows.
MOST_VERTICES = 2048


class Vertices(NamedTuple):
    """The vertices of a set of policies, breadth first along edges from the largest one.

    Policies are compared as tuples are. Neighbours come in the order of what becomes positive on
    the way to them: the weights of arms, then the slacks of rows.
    """

    policies: np.ndarray  # (V, K) each entry the float nearest to it
    neighbours: list[list[int]]  # of each vertex, ascending


class _Ray(NamedTuple):
    """An extreme ray of a cone, a vertex but for its length."""

    weights: list[int]  # (K,) nonnegative, without a common divisor
    tight: int  # bits of the inequalities that hold with equality: K of weights, then rows


def vertices(matrix: np.ndarray, limits: np.ndarray) -> Vertices:
    """All vertices of the policies with matrix @ pi <= limits, and which of them share an edge.

    The double description method (Motzkin, Raiffa, Thompson & Thrall 1953): start with the simplex
    and add one row at a time. Vertices that break the row go; each edge from one that breaks it to
    one with slack has a new vertex in between. A float is a fraction, so nothing is rounded, and
    sets that are degenerate, tiny or without an interior are no special case.

    Args:
        matrix: (d, K). limits: (d,).

    Returns:
        No vertices if no policy satisfies the limits.

    Raises:
        ValueError: more than MOST_COLUMNS arms and rows.
        ArithmeticError: more than MOST_VERTICES vertices.

    Example:
        At most half of the first arm.

        >>> vertices(np.array([[1.0, 0.0]]), np.array([0.5])).policies.tolist()
        [[0.5, 0.5], [0.0, 1.0]]
    """
    d, k = np.shape(matrix)
    if k + d > MOST_COLUMNS:
        raise ValueError(f"arms and constraints: must be at most {MOST_COLUMNS}, got {k + d}")
    every = (1 << k) - 1
    rays = [_Ray([int(a == b) for b in range(k)], every ^ 1 << a) for a in range(k)]
    for i in range(d):
        rays = _cut(rays, _integers(matrix[i], limits[i]), 1 << k + i)
        if len(rays) > MOST_VERTICES:
            raise ArithmeticError(f"the set of policies has more than {MOST_VERTICES} vertices")
    return _in_order(rays, k)


def _integers(row: np.ndarray, limit: float) -> list[int]:
    """row - limit times a positive number that makes all entries integers."""
    entries = [Fraction(float(entry)) - Fraction(float(limit)) for entry in row]
    common = math.lcm(*(entry.denominator for entry in entries))
    return [int(entry * common) for entry in entries]


def _cut(rays: list[_Ray], row: list[int], bit: int) -> list[_Ray]:
    """The extreme rays of a cone and row . x <= 0."""
    values = [sum(map(int.__mul__, row, ray.weights)) for ray in rays]
    cut = [
        ray._replace(tight=ray.tight | (0 if value else bit))
        for ray, value in zip(rays, values, strict=True)
        if value <= 0
    ]
    for a, others in enumerate(_edges(rays)):
        for b in others:
            if values[a] < 0 < values[b]:
                pairs = zip(rays[a].weights, rays[b].weights, strict=True)
                weights = [values[b] * x - values[a] * y for x, y in pairs]
                common, shared = math.gcd(*weights), rays[a].tight & rays[b].tight
                cut.append(_Ray([weight // common for weight in weights], shared | bit))
    return cut


def _edges(rays: list[_Ray]) -> list[list[int]]:
    """By ray, those it shares an edge with: no third one is tight wherever both are."""
    masks = np.array([ray.tight for ray in rays], np.uint64)
    edges: list[list[int]] = []
    for a, mask in enumerate(masks):
        shared = masks & mask
        likely = np.flatnonzero(np.bitwise_count(shared) >= len(rays[a].weights) - 2)
        edges.append(
            [int(b) for b in likely if b != a and ((masks & shared[b]) == shared[b]).sum() == 2]
        )
    return edges


def _in_order(rays: list[_Ray], k: int) -> Vertices:
    """The rays as vertices, in the order of `Vertices`."""
    policies = [[weight / sum(ray.weights) for weight in ray.weights] for ray in rays]
    edges = _edges(rays)
    order = [max(range(len(rays)), key=policies.__getitem__)] if rays else []
    place = dict.fromkeys(order, 0)
    for v in order:  # grows
        new = [w for w in edges[v] if w not in place]
        new.sort(key=lambda w: f"{rays[v].tight & ~rays[w].tight:b}"[::-1], reverse=True)
        place |= {w: len(order) + i for i, w in enumerate(new)}
        order += new
    neighbours = [sorted(place[w] for w in edges[v]) for v in order]
    return Vertices(np.array([policies[v] for v in order]).reshape(-1, k), neighbours)
