"""Check a certificate of a lower bound on rates in exact arithmetic (docs/guarantees.md).

A file is parsed JSON without repeated keys. `misfit` says whether it has the fields of a
certificate and no others, `claim` states in words what it certifies, and `lines` tests that, with
fractions and with logarithms rounded up. Nothing here is shared with what finds the bound.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import zip_longest
from math import inf

import numpy as np

from bestarm.common.exact import exact, fields_sha256, ln_up, names, numbers

FIELDS = {"paper", "kind", "arms", "subpopulations", "means", "weights", "minimum", "time"}
FIELDS |= {"shares", "alternatives", "sha256"}
KIND = "lower bound on rates"
#: Most rates in all alternatives.
MOST = 100_000


def misfit(data: dict) -> str:
    """The fields that are missing or unknown, or one of another form than it must be; or ""."""
    if wrong := sorted(set(data) ^ FIELDS):
        return f"missing or unknown: {', '.join(map(repr, wrong))}"
    k, l, n, m = (
        len(data[name]) if type(data[name]) is list else 0
        for name in ("means", "weights", "shares", "minimum")
    )
    forms = {
        "paper": data["paper"] == "baics",
        "kind": data["kind"] == KIND,
        "arms": names(data["arms"], k),
        "subpopulations": names(data["subpopulations"], l),
        "means": k > 1 and l > 0 and numbers(data["means"], k, l),
        "weights": numbers(data["weights"], l),
        "minimum": m <= l and numbers(data["minimum"], m),
        "time": numbers(data["time"]),
        "shares": n > 0 and numbers(data["shares"], n),
        "alternatives": numbers(data["alternatives"], n, k, l),
        "sha256": type(data["sha256"]) is str,
    }
    return next((f"form of {name}" for name, fits in forms.items() if not fits), "")


def claim(data: dict) -> str:
    """What a file certifies if all lines hold, in one line; its fields must be of the right form.

    Names are quoted and their line ends escaped, so that no name can look like another line.
    """
    rows = (
        f"{arm!r} {', '.join(map(repr, row))}"
        for arm, row in zip(data["arms"], data["means"], strict=True)
    )
    groups = ", ".join(
        f"{name!r} of size {weight!r}" + (f" with minimum {least!r}" if least is not None else "")
        for name, weight, least in zip_longest(
            data["subpopulations"], data["weights"], data["minimum"]
        )
    )
    return (
        "a strategy that answers wrongly with probability at most delta, whatever the rates, takes "
        f"at least {data['time']!r} kl(delta, 1 - delta) pulls on average (delta < 1/2) where "
        f"rewards are 0 or 1 with rates {'; '.join(rows)} on {groups}"
    )


def lines(data: dict) -> Iterator[tuple[str, bool]]:
    """What is checked and whether it holds, in order, until it cannot go on."""
    if wrong := misfit(data):
        yield f"fields: {wrong}", False
        return
    yield "fields", True
    yield "size", np.size(data["alternatives"]) <= MOST
    mu, q, least, p, others = (
        exact(data[name]) if data[name] else np.array([], object)
        for name in ("means", "weights", "minimum", "shares", "alternatives")
    )
    rates = [*mu.flat, *least, *others.flat]
    yield "rates", min(rates) >= 0 and max(rates) <= 1
    yield "weights", min(*q, *p) >= 0 and sum(q) > 0 and sum(p) > 0 and data["time"] > 0
    feasible = [bool((row[: len(least)] >= least).all()) for row in mu]
    qualities = [row @ q for row, kept in zip(mu, feasible, strict=True) if kept]
    yield "one answer", qualities.count(max(qualities, default=0)) <= 1
    answer = next(
        (a for a, row in enumerate(mu) if feasible[a] and row @ q == max(qualities)), None
    )
    for number, other in enumerate(others, 1):
        yield f"alternative {number}", may_differ(other, answer, q, least)
    yield "near", Fraction(data["time"]) <= time_down(mu, p, others)
    yield "sha256", data["sha256"] == fields_sha256(data)


def time_down(mu: np.ndarray, p: np.ndarray, others: np.ndarray) -> Fraction:
    """A lower bound on 1 / max_a sum_i p_i kl(mu_a, lambda^i_a), of fractions; 0 if that is 0."""
    each = [
        [x * divergence_up(*pair) for pair in zip(mu.flat, other.flat, strict=True)]
        for x, other in zip(p, others, strict=True)
        if x
    ]
    most = max(map(sum, zip(*each, strict=True)))
    return Fraction(sum(p)) / most if 0 < most < inf else Fraction(0)


def may_differ(other: np.ndarray, answer: int | None, q: np.ndarray, least: np.ndarray) -> bool:
    """Whether instances arbitrarily near to `other`, or itself, have another answer."""
    feasible = np.all(other[:, : len(least)] >= least, axis=1)
    if answer is None:
        return bool(feasible.any())
    if any(x <= c and c > 0 for x, c in zip(other[answer], least, strict=False)):
        return True
    feasible[answer] = False
    return any((row - other[answer]) @ q >= 0 for row in other[feasible])


def divergence_up(p: Fraction, q: Fraction) -> Fraction | float:
    """An upper bound on kl(p, q) of two Bernoulli laws."""
    if p == q:
        return Fraction(0)
    if (p > 0 and q == 0) or (p < 1 and q == 1):
        return inf
    won = p * ln_up(p / q) if p > 0 else 0
    return won + ((1 - p) * ln_up((1 - p) / (1 - q)) if p < 1 else 0)
