"""Many pulls of one arm in a row under ARGMIN_MAX, where one direction is left.

After many pulls two arms that take turns lower y^T A^-1 y by shares that differ by little more than
TIE, so `repeats` can tell no two choices in advance, and rounding may matter to some. So every pull
here is the step that `choose` and `shrink` make, to the last bit, without what cannot matter.
"""

import numpy as np

from bestarm.core.compile import inlined, lean
from bestarm.linear.allocation import TIE, Directions, Uncertainty, overlap
from bestarm.linear.least_squares import Fit
from bestarm.linear.static import Leeway

#: More than the error of what takes a few operations, as a share of its largest term.
ROUNDING = 1e-14


@inlined
def link(
    directions: Directions, table: np.ndarray, arm: int, linked: np.ndarray
) -> tuple[int, float]:
    """Begin `linked` with the other arms z whose x^T A^-1 z is not 0, for an arm x.

    Pulls of x change no entry of the table in a row or column of the arms that are not linked, and
    leave those zeros. Returns the number of linked arms, and by how much a pull of one that is not
    can lower y^T A^-1 y at most, for the only direction y.
    """
    links, most = 0, 0.0
    for z in range(table.shape[0]):
        if table[arm, z] != 0.0 or table[z, arm] != 0.0:
            if z != arm:
                linked[links] = z
                links += 1
        else:
            most = max(most, overlap(directions, table, z, 0) ** 2 / (1.0 + table[z, z]))
    return links, most


@lean
def pull_singly(
    fit: Fit,
    means: np.ndarray,
    directions: Directions,
    uncertainty: Uncertainty,
    arm: int,
    length: np.ndarray,
    leeway: Leeway,
    moved: float,
    grown: float,
    most: int,
    linked: np.ndarray,
    environment,
) -> tuple[int, float, float]:
    """Pull an arm x once, and again while ARGMIN_MAX certainly chooses it and `repeats` is 1.

    Let y be the direction and s_z = y^T (A + z z^T)^-1 y = y^T A^-1 y - (z^T A^-1 y)^2 /
    (1 + z^T A^-1 z). Then `choose` returns x if s_z (1 - TIE) > s_x for every other arm z: x
    replaces whichever arm before it was best so far, and no arm after it replaces x. And `repeats`
    is 1 if `keeps` fails for an arm z and k = 1, of which (z^T A^-1 y)^2 / (1 + z^T A^-1 z) >
    (x^T A^-1 y)^2 / (1 + x^T A^-1 x)^2 - 2 TIE y^T A^-1 y is sufficient. Both are asked for with a
    surplus of ROUNDING y^T A^-1 y.

    Args:
        fit, means, leeway, environment: as for `run_skip_interval`.
        directions: one.
        uncertainty: of it.
        arm: x, which `choose` has returned.
        length: (K,) norms of the arms at the beginning of the skip interval.
        moved, grown: what is used of the leeway.
        most: pulls allowed.
        linked: (K,) buffer.

    Returns:
        Pulls, and `moved` and `grown` after them.
    """
    sizes, table = uncertainty
    # unsigned, so that compiled code need not look for negative indices
    x = np.uint64(arm)
    first, second = np.uint64(directions.first[0]), np.uint64(directions.second[0])
    links, limit = link(directions, table, arm, linked)
    size, total = sizes[0], fit.sums[x]
    left, part = 1.0 / (1.0 + table[x, x]), table[x, first] - table[x, second]
    then = size - left * part * part
    n, sure = 0, True
    while sure:
        reward = means[x] + environment.standard_normal()
        total += reward
        moved += length[x] * abs(reward - fit.values[x])
        grown += length[x] * length[x]
        n += 1
        size = then
        for i in range(links):
            z = linked[i]
            share = left * table[z, x]
            table[z, x] -= share * table[x, x]
            for j in range(links):
                table[z, linked[j]] -= share * table[x, linked[j]]
        table[x, x] *= left
        for i in range(links):
            table[x, linked[i]] *= left
        left, part = 1.0 / (1.0 + table[x, x]), table[x, first] - table[x, second]
        then = size - left * part * part
        room = size - then * (1.0 + TIE) - 2.0 * ROUNDING * size
        bar = (left * part) ** 2 - (2.0 * TIE - ROUNDING) * size
        again, once = limit < room and then > 0.0, False
        for i in range(links):
            z = linked[i]
            gain, scale = table[z, first] - table[z, second], 1.0 + table[z, z]
            again &= gain * gain < room * scale
            once |= gain * gain > bar * scale
        over = not (moved < leeway.slack and grown < leeway.growth)
        sure = again and once and not over and n < most
    sizes[0], fit.sums[x] = size, total
    fit.counts[x] += n
    return n, moved, grown
