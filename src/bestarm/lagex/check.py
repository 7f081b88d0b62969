"""Check a certificate of Certified in exact arithmetic (docs/guarantees.md).

Arrays hold fractions. Logarithms and roots are rounded up, so that more policies may be feasible.
"""

import hashlib
import json
from collections.abc import Iterator
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from itertools import combinations
from math import ceil, comb, isqrt, sqrt

import numpy as np

SCALARS = ("delta", "r", "eps", "n0", "cost_sigma")
ARRAYS = ("sigma", "limits", "pulls", "reward_sums", "cost_sums")
DIGITS, GRID = Context(prec=50, rounding=ROUND_CEILING), 2**80
#: Stated margins may differ by this much; most sets of columns.
CLOSE, MOST_SETS = 1e-9, 50_000
#: Numbers as fractions.
exact = np.vectorize(Fraction, otypes=[object])


def ln_up(x: Fraction) -> Fraction:
    """An upper bound on ln x."""
    return Fraction(DIGITS.divide(x.numerator, x.denominator).ln(DIGITS).next_plus(DIGITS))


def is_above(left: Fraction, square: Fraction) -> bool:
    """Whether left is at least the root of a square."""
    return left >= 0 and left**2 >= square


def solved(system: np.ndarray) -> np.ndarray | None:
    """The solution of equations in integers, right-hand sides last, by Bareiss's elimination."""
    last, n = 1, len(system)
    for k in range(n):
        pivot = next((i for i in range(k, n) if system[i, k]), None)
        if pivot is None:
            return None
        system[[k, pivot]] = system[[pivot, k]]
        others = [i for i in range(n) if i != k]
        crossed = system[others, k][:, None] * system[k]
        system[others] = (system[k, k] * system[others] - crossed) // last
        last = system[k, k]
    return system[:, n] * Fraction(1, last)


def pieces(splits: Iterator, corners: np.ndarray) -> Iterator[np.ndarray]:
    """The pieces of the simplex. A split is a pair of corners, and the share of the first."""
    split = next(splits)
    if split is None:
        yield corners
    else:
        i, j, share = split[0], split[1], min(max(Fraction(split[2]), 0), 1)
        for k in (j, i):
            part = corners.copy()
            part[k] = share * corners[i] + (1 - share) * corners[j]
            yield from pieces(splits, part)


def vertices(corners: np.ndarray, rows: np.ndarray, u: np.ndarray) -> Iterator[np.ndarray]:
    """The vertices of {pi in a piece: rows pi <= the chord of |pi|_u}, made larger by rounding."""
    d, k = rows.shape
    sizes = [Fraction(isqrt(ceil(x * GRID**2)) + 1, GRID) for x in corners**2 @ u]
    system = np.eye(1 + d, k + d + 1, k - 1, int).astype(object)
    system[0], system[1:, :k] = 1, np.floor((rows @ corners.T - sizes) * GRID)
    system[0, k : k + d] = 0
    points = np.vstack([corners, np.zeros((d, k), int)])
    for chosen in combinations(range(k + d), 1 + d):
        values = solved(system[:, [*chosen, k + d]])
        if values is not None and min(values) >= 0:
            yield values @ points[[*chosen]]


def lines(data: dict) -> Iterator[tuple[str, bool]]:
    """What is checked and whether it holds, in order; an error for data of another kind."""
    delta, r, eps, n0, cost_sigma = (exact(data[name])[()] for name in SCALARS)
    sigma, limits, pulls, rewards, costs = (exact(data[name]) for name in ARRAYS)
    k, d = len(pulls), len(limits)
    yield "size", comb(k + d, d + 1) <= MOST_SETS
    yield "shapes", sigma.shape == rewards.shape == (k,) and costs.shape == (d, k)
    least = min(*pulls, *sigma, cost_sigma, r, n0, delta, 1 - delta)
    yield "ranges", least > 0 <= eps and all(n.denominator == 1 for n in pulls)
    beta = ln_up((1 + d) / delta) + sum(ln_up(1 + n / n0) for n in pulls) / 2
    square = 2 * beta * (pulls + n0) / pulls**2
    h, u = square * sigma**2, square * cost_sigma**2
    means, rows = rewards / pulls, costs / pulls - limits[:, None]
    parts, tests = pieces(iter(data["splits"]), exact(np.eye(k))), []
    others = [pi for part in parts for pi in vertices(part, rows, u)]
    if data["policy"] is None:
        yield "no feasible policy", not others
    else:
        policy = exact(data["policy"])
        yield "weights", len(policy) == k and min(policy) >= 0 and sum(policy) == 1
        tests = [(left, u @ policy**2) for left in eps - rows @ policy]
        for i, test in enumerate(tests, 1):
            yield f"limit {i}", is_above(*test)
        bounds = [(r - means @ step, h @ step**2) for step in others - policy]
        yield "no better policy", all(is_above(*bound) for bound in bounds)
        tests.append(min(bounds, key=lambda bound: float(bound[0]) - sqrt(bound[1])))
    pairs = zip(data["margins"], tests, strict=True)
    yield "margins", all(abs(m - float(x) + sqrt(y)) <= CLOSE * (1 + abs(m)) for m, (x, y) in pairs)
    rest = json.dumps({name: data[name] for name in data if name != "sha256"}, sort_keys=True)
    yield "sha256", data["sha256"] == hashlib.sha256(rest.encode()).hexdigest()
