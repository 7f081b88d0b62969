"""Forged files: parsed JSON with changes in structure or values, and the hash that fits them."""

import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bestarm.core.inputs import InputError
from bestarm.verify.certificates import NO_CERTIFICATE, read

#: Written as texts by json, and replaced by what JSON's grammar allows and no number is.
HUGE = ["<1e999>", "<-1e999>", "<1E+400>"]
VALUES: list[Any] = [
    *(None, True, False, "", "1", "Certified", [], {}, [0], [0, 1], [0, 1, 2], [[0, 1, 2]]),
    *(0, 1, 2, -1, 3, 0.0, -0.0, 0.5, 1.0, 1.5, 1e-9, 1e308, -1e308, 5e-324, 1e-300, 1e20),
    *(2**63, 10**308, 10**400, float("nan"), float("inf"), float("-inf"), *HUGE),
    *([0, 1, 0.5], [1, 0, 0.25], [2, 1, 1], [0, 2, 1.0], [[0, 1, 2], [1, 2, 0], 0.5]),
]
FACTORS = [0.0, 0.5, 0.9, 0.999999, 1.000001, 1.1, 2.0, 10.0, -1.0]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every list or object of parsed JSON with each of its indices or keys."""
    if not isinstance(value, list | dict):
        return []
    keys = range(len(value)) if isinstance(value, list) else list(value)
    return [(value, key) for key in keys] + [one for key in keys for one in places(value[key])]


def mutate(data: dict, rng: random.Random) -> None:
    """Change the structure or a value of a certificate, somewhere."""
    # a field, or a place in one: each field is as likely, however long it is
    field: Any = rng.choice(list(data) or [None])
    inside = places(data[field]) if field in data else []
    place, key = rng.choice(inside) if inside and rng.random() < 0.8 else (data, field)
    old: Any = place.get(key) if isinstance(place, dict) else place[key]
    kind = rng.randrange(8)
    if kind == 0 and type(old) in (int, float) and abs(old) < 1e300:
        place[key] = type(old)(old * rng.choice(FACTORS))
    elif kind == 1:
        place[key] = [old] * rng.randrange(3)
    elif kind == 2:
        del place[key]
    elif kind == 3 and isinstance(place, list):
        place.insert(key, json.loads(json.dumps(rng.choice([old, *VALUES]))))
    elif kind == 4 and isinstance(place, list):
        rng.shuffle(place)
    elif kind == 5 and isinstance(place, dict):
        place[rng.choice(["more", "version", "arms", "Policy", ""])] = rng.choice(VALUES)
    elif kind == 6 and type(old) is float:
        place[key] = int(old) if abs(old) < 1e300 else str(old)
    else:
        place[key] = json.loads(json.dumps(rng.choice(VALUES)))


def forged(data: dict, rng: random.Random) -> str:
    """A file with some changes and the hash that fits them, perhaps with a key twice."""
    data = json.loads(json.dumps(data))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        mutate(data, rng)
    text = json.dumps({name: data[name] for name in data if name != "sha256"}, sort_keys=True)
    if "sha256" in data:
        data["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    text = json.dumps(data)
    if data and rng.random() < 0.1:
        key = rng.choice(list(data))
        text = f"{text[:-1]}, {json.dumps(key)}: {json.dumps(rng.choice([data[key], *VALUES]))}}}"
    for huge in HUGE:
        text = text.replace(f'"{huge}"', huge[1:-1])
    return text


def accepted(
    check: Any, written: list[dict], rng: random.Random, path: Path, tries: int, unchecked: str = ""
) -> Iterator[dict]:
    """Of forged certificates, one of those written each, those that a check takes for true.

    Args:
        check: a module `check` of a paper.
        written: certificates.
        rng: of the changes.
        path: of the file.
        tries: how many are forged.
        unchecked: a line of the check that may fail, since a forger could make it fit.
    """
    for _ in range(tries):
        path.write_text(forged(rng.choice(written), rng))
        try:
            data = read(path)
            passes = all(holds or said == unchecked for said, holds in check.lines(data))
        except (InputError, *NO_CERTIFICATE):
            continue
        if passes:
            yield data
