"""Check a certificate of Certified in exact arithmetic (docs/guarantees.md).

A file is parsed JSON without repeated keys. `misfit` says whether it has the fields of a
certificate and no others, `claim` states in words what it certifies, and `lines` tests that. Arrays
hold fractions. Logarithms and roots are rounded up, so that more policies may be feasible.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import ceil, comb, isqrt, sqrt
from typing import Any

import numpy as np

from bestarm.common.exact import exact, fields_sha256, ln_up, names, numbers

#: Numbers, by name: one, or lists by arm (k) and limit (d).
SCALARS = ("delta", "r", "eps", "n0", "cost_sigma")
ARRAYS = {"sigma": "k", "limits": "d", "pulls": "k", "reward_sums": "k", "cost_sums": "dk"}
#: All fields; then those that files of version 1, which had no names, lack.
FIELDS = {"paper", "strategy", "policy", "margins", "splits", "sha256", *SCALARS, *ARRAYS}
NAMES = {"version", "arms", "costs"}
GRID = 2**80
#: Relative rounding error of stated margins; most sets of columns, and pieces.
CLOSE, MOST_SETS, MOST_PIECES = 1e-9, 50_000, 200


def is_split(value: Any, k: int) -> bool:
    """Whether a value is a pair of different corners, and the share of the first."""
    if not numbers(value, 3) or not type(value[0]) is type(value[1]) is int:
        return False
    return 0 <= min(value[:2]) < max(value[:2]) < k and 0 <= value[2] <= 1


def misfit(data: dict) -> str:
    """The fields that are missing or unknown, or one of another form than it must be; or ""."""
    expected = FIELDS | NAMES if NAMES & set(data) else FIELDS
    if wrong := sorted(set(data) ^ expected):
        return f"missing or unknown: {', '.join(map(repr, wrong))}"
    pulls, limits, policy, splits = (data[name] for name in ("pulls", "limits", "policy", "splits"))
    k, d = (len(value) if type(value) is list else 0 for value in (pulls, limits))
    forms = {
        "pulls": k > 1 and numbers(pulls, k) and all(type(n) is int for n in pulls),
        "limits": d > 0 and numbers(limits, d),
        "paper": data["paper"] == "lagex",
        "strategy": data["strategy"] == "Certified",
        "policy": policy is None or numbers(policy, k),
        "margins": numbers(data["margins"], 0 if policy is None else d + 1),
        "splits": type(splits) is list and all(s is None or is_split(s, k) for s in splits),
        "sha256": type(data["sha256"]) is str,
    }
    for name, shape in (dict.fromkeys(SCALARS, "") | ARRAYS).items():
        forms.setdefault(name, numbers(data[name], *({"k": k, "d": d}[size] for size in shape)))
    if expected > FIELDS:
        forms["version"] = type(data["version"]) is int and data["version"] == 2
        forms |= {"arms": names(data["arms"], k), "costs": names(data["costs"], d)}
    return next((f"form of {name}" for name, fits in forms.items() if not fits), "")


def claim(data: dict) -> str:
    """What a file certifies if all lines hold, in one line; its fields must be of the right form.

    Names are quoted and their line ends escaped, so that no name can look like another line.
    """
    arms = data.get("arms", [f"arm {a}" for a in range(len(data["pulls"]))])
    costs = data.get("costs", [f"cost {i + 1}" for i in range(len(data["limits"]))])
    kept = [f"{name!r} at most {b!r}" for name, b in zip(costs, data["limits"], strict=True)]
    shares, sigma, pulls = (
        ", ".join(f"{x!r} of {arm!r}" for x, arm in zip(data[name] or [], arms, strict=False))
        for name in ("policy", "sigma", "pulls")
    )
    delta, r, eps, n0, cost_sigma = (data[name] for name in SCALARS)
    policy = f"the policy {shares} keeps mean costs of {', '.join(kept)} within eps = {eps!r}, and "
    policy += f"its mean reward is within r = {r!r} of the best policy's that keeps these limits"
    if data["policy"] is None:
        policy = f"no policy keeps mean costs of {', '.join(kept)}"
    assumptions = f"sigma {sigma}; cost_sigma = {cost_sigma!r}; n0 = {n0!r}; pulls {pulls}"
    return f"{policy}; with probability at least 1 - delta, delta = {delta!r}; {assumptions}"


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


def pieces(splits: list, k: int) -> list[np.ndarray] | None:
    """The pieces of the simplex, split depth first; None unless splits end as all are split."""
    waiting, parts = [exact(np.eye(k))], []
    for split in splits:
        if not waiting:
            return None
        corners = waiting.pop()
        if split is None:
            parts.append(corners)
            continue
        i, j, share = split[0], split[1], Fraction(split[2])
        for replaced in (i, j):
            part = corners.copy()
            part[replaced] = share * corners[i] + (1 - share) * corners[j]
            waiting.append(part)
    return None if waiting else parts


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
    """What is checked and whether it holds, in order, until it cannot go on."""
    if wrong := misfit(data):
        yield f"fields: {wrong}", False
        return
    yield "fields", True
    delta, r, eps, n0, cost_sigma = (exact(data[name])[()] for name in SCALARS)
    sigma, limits, pulls, rewards, costs = (exact(data[name]) for name in ARRAYS)
    k, d = len(pulls), len(limits)
    yield "size", comb(k + d, d + 1) <= MOST_SETS and len(data["splits"]) <= MOST_PIECES
    yield "ranges", min(*pulls, *sigma, cost_sigma, r, n0, delta, 1 - delta) > 0 <= eps
    parts = pieces(data["splits"], k)
    if parts is None:
        yield "pieces", False
        return
    yield "pieces", True
    beta = ln_up((1 + d) / delta) + sum(ln_up(1 + n / n0) for n in pulls) / 2
    square = 2 * beta * (pulls + n0) / pulls**2
    h, u = square * sigma**2, square * cost_sigma**2
    means, rows = rewards / pulls, costs / pulls - limits[:, None]
    others = [pi for part in parts for pi in vertices(part, rows, u)]
    tests, sizes = [], [*(eps + abs(limits) + abs(costs / pulls).max(1)), r + 2 * abs(means).max()]
    if data["policy"] is None:
        yield "no feasible policy", not others
    else:
        policy = exact(data["policy"])
        yield "weights", min(policy) >= 0 and sum(policy) == 1
        tests = [(left, u @ policy**2) for left in eps - rows @ policy]
        for i, test in enumerate(tests, 1):
            yield f"limit {i}", is_above(*test)
        bounds = [(r - means @ step, h @ step**2) for step in (pi - policy for pi in others)]
        yield "no better policy", bool(bounds) and all(is_above(*bound) for bound in bounds)
        tests.append(min(bounds, key=lambda bound: float(bound[0]) - sqrt(bound[1])))
    stated = zip(data["margins"], tests, sizes[: len(tests)], strict=True)
    errors = [(abs(m - float(x) + sqrt(y)), abs(m) + sqrt(y) + float(z)) for m, (x, y), z in stated]
    yield "margins", all(error <= CLOSE * size for error, size in errors)
    yield "sha256", data["sha256"] == fields_sha256(data)
