"""Wildlife corridors: a connected set of land parcels that joins reserves within a budget.

The connection subgraph problem of Gomes et al. (2008), on which CORLAT is based, on random maps. A
parcel has a price and a suitability; reserves are free. The goal is the connected set of largest
total suitability that contains the reserves and costs at most the budget.
"""

import heapq
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

SEED = 2018
#: Parcels are SIDE x SIDE squares.
SIDE = 7
RESERVES = 3
#: Least distance of two reserves, in steps from parcel to parcel.
APART = 4
#: Budget over the cost of the greedy tree.
SLACK = 1.5


class Corridor(NamedTuple):
    """One problem. Parcels are numbered row by row."""

    suitability: np.ndarray  # (parcels,) 1 to 100
    price: np.ndarray  # (parcels,) 1 to 100, 0 for reserves
    reserves: np.ndarray  # (RESERVES,) parcels; the first is where flow starts
    budget: int
    tree: dict[int, int]  # parcel -> its predecessor, in a tree that joins the reserves


def corridor(number: int) -> Corridor:
    """The problem with this number, drawn from a stream of its own."""
    rng = np.random.default_rng([SEED, number])
    suitability, price = _field(rng), _field(rng)
    reserves = _places(rng)
    price[reserves] = 0
    tree = joining_tree(price, reserves)
    budget = int(SLACK * price[list(tree)].sum())
    return Corridor(suitability, price, reserves, budget, tree)


def neighbours(parcel: int) -> list[int]:
    """The parcels that share a side with this one."""
    row, column = divmod(parcel, SIDE)
    around = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
    return [r * SIDE + c for r, c in around if 0 <= r < SIDE and 0 <= c < SIDE]


def _field(rng: np.random.Generator) -> np.ndarray:
    """A smooth random field, transformed by ranks to be uniform on 1, ..., 100."""
    smooth = gaussian_filter(rng.standard_normal((SIDE, SIDE)), 1.0).ravel()
    rank = np.argsort(np.argsort(smooth))
    return 1 + (99 * rank) // (smooth.size - 1)


def _places(rng: np.random.Generator) -> np.ndarray:
    """Reserves, redrawn until all are at least APART from each other."""
    while True:
        places = rng.permutation(SIDE * SIDE)[:RESERVES]
        rows, columns = places // SIDE, places % SIDE
        steps = abs(rows[:, None] - rows) + abs(columns[:, None] - columns)
        if (steps + APART * np.eye(RESERVES) >= APART).all():
            return places


def joining_tree(price: np.ndarray, reserves: np.ndarray) -> dict[int, int]:
    """Grow a tree from the first reserve by the cheapest path to a reserve not in it, greedily.

    Returns:
        parcel -> its predecessor on the path from the first reserve, which is its own predecessor.
    """
    tree = {int(reserves[0]): int(reserves[0])}
    while missing := {int(r) for r in reserves} - tree.keys():
        before, queue = {}, [(0, parcel, parcel) for parcel in sorted(tree)]
        while True:
            cost, parcel, source = heapq.heappop(queue)
            if parcel in before:
                continue
            before[parcel] = source
            if parcel in missing:
                break
            for other in neighbours(parcel):
                if other not in before:
                    heapq.heappush(queue, (cost + int(price[other]), other, parcel))
        while parcel not in tree:
            tree[parcel] = before[parcel]
            parcel = before[parcel]
    return tree


def start_value(problem: Corridor) -> int:
    """The suitability of the greedy tree, the start solution that a solver is given."""
    return int(problem.suitability[list(problem.tree)].sum())


def tree_flow(tree: dict[int, int]) -> dict[tuple[int, int], int]:
    """The flow along the arcs of a tree if every parcel but the first consumes one unit."""
    flow: dict[tuple[int, int], int] = {}
    for parcel in tree:
        while tree[parcel] != parcel:
            arc = tree[parcel], parcel
            flow[arc] = flow.get(arc, 0) + 1
            parcel = tree[parcel]
    return flow
