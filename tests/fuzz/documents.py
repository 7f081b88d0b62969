"""What a person, or an enemy, may write into a file: Hypothesis strategies."""

import copy
from pathlib import Path

import yaml
from hypothesis import strategies as st

from bestarm.linear.problem import read_arms

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "data/instances"


def _example(name: str, **changes) -> dict:
    return yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text()) | changes


#: A valid file of arms.
ARMS = (EXAMPLES / "example-linear.csv").read_text()


#: Valid instance files of every paper, every kind of feedback, and every field.
INSTANCES = [
    _example("example-abn"),
    _example("example-rates"),
    _example("example-abn", minimum=[0.5, 0.5, -1.0], sigma=[[1.0, 2.0, 1.0]] * 3),
    _example("baics/example1"),
    _example("baics/no-feasible-arm"),
    _example("example-linear", arms=read_arms(EXAMPLES / "example-linear.csv")[1]),
    _example("linear/three-arms", names=["a", "b", "c"]),
    _example("example-delayed"),
    _example("example-delayed", feedback="incremental", sigma_p=None, delay=[20], shuffled=True),
    _example("example-delayed", feedback="biased", bias=[0.0, 1.0, -1.0, 0.5, 0.0, 2.0]),
    _example("example-mix"),
    _example("example-mix", unknown=3),
    _example("example-lagex"),
    _example("example-lagex", sigma=[0.5, 1.0, 0.2, 0.8]),
]
SCALES = [yaml.safe_load((ROOT / "workflow/scales/smoke.yaml").read_text())]

EXTREMES = [
    *(None, True, "", "x", "1e3", ".csv", "..", "/", "\0", "a\nb", "\x1b[31m", "é" * 300, "名前"),
    *("[/x]", "[red]", ":smile:", "{0}", "%s", "$(touch x)", "'; touch x", "\u202e", "\U0001f600"),
    *(0, -1, 1, 2, 7, 1000, 10**9, 10**18, 2**63, 2**64, 10**40, -(10**18)),
    *(0.0, -0.0, 1e-3, 1e-9, 1e-300, 5e-324, 1e9, 1e15, 1e200, 1.7e308, -1e308),
    *(float("nan"), float("inf"), float("-inf")),
    *([], {}, [[]], [{}], [0], [1.0, 2.0], [[1.0], [2.0, 3.0]], [0.0] * 50, {"low": 1, "high": 9}),
]
#: Mostly such as get past validation, near and far from those of the examples.
NUMBERS = st.sampled_from(
    [0, 1, 2, -1, 0.0, -2.5, *(10.0**e for e in range(-15, 16)), 10**6, 10**15, 1e-16, 1e16]
) | st.floats(-10.0, 10.0)
SCALARS = st.sampled_from(EXTREMES) | NUMBERS | st.floats() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda s: st.lists(s, max_size=4) | st.dictionaries(st.text(max_size=4), s, max_size=3),
    max_leaves=6,
).map(copy.deepcopy)  # a mutation may change what it put in


def _keys(value: dict | list) -> list:
    return list(value) if isinstance(value, dict) else list(range(len(value)))


def places(value) -> list[tuple]:
    """(container, key) of everything in a document."""
    found = [(value, key) for key in _keys(value)]
    for key in _keys(value):
        if isinstance(value[key], dict | list):
            found += places(value[key])
    return found


@st.composite
def mutated(draw, documents: list[dict]) -> dict:
    """A valid document in which one to three places are no longer what they were."""
    document = copy.deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        found = places(document) or [(document, "x")]
        numbers = [(c, k) for c, k in found if k in _keys(c) and type(c[k]) in (int, float)]
        kind = draw(st.sampled_from(["number", "number", "replace", "drop", "add", "repeat"]))
        container, key = draw(st.sampled_from(numbers if kind == "number" and numbers else found))
        if kind == "number":
            container[key] = draw(NUMBERS)
        elif kind == "drop":
            container.pop(key, None) if isinstance(container, dict) else container.pop(key)
        elif kind == "repeat" and isinstance(container, list):
            container += container[-1:] * draw(st.integers(1, 3))
        elif kind == "add" and isinstance(container, dict):
            container[draw(st.text(max_size=5))] = draw(VALUES)
        else:
            container[key] = draw(VALUES)
    return document


#: What YAML can say beside plain data, and what is no YAML.
FRAGMENTS = [
    *("&a ", "*a", "&a [*a]", "<<: *a", "!!bool x", "!!int ''", "!!timestamp x", "!!map [[a, b]]"),
    *("!!set [a]", "!!float ''", "!!binary é", "!!python/object/apply:os.system [touch x]"),
    *("!!python/name:os.system", "!x", "? [a]\n: 1\n", "---\n", "...\n", "%YAML 3.0\n", "\t", "\0"),
    *("[", "]", "{", "}", ": ", "- ", "'", '"', "#", "|\n", "paper: baics\n", "name: a\n"),
    *("0x" + "f" * 5000, "9" * 5000, "1:30", "2001-01-01", "2001-13-45", "\ufeff", "\x85", "\x1b"),
]


@st.composite
def damaged(draw, texts: list[str]) -> bytes:
    """A valid text, in one to three places of which something else stands."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 3) | st.integers(0, 200))
        text = text[:at] + draw(st.sampled_from(FRAGMENTS) | st.text(max_size=3)) + text[at + cut :]
    return text.encode("utf-8", "surrogatepass")


def files(documents: list[dict]) -> st.SearchStrategy[bytes]:
    """The bytes of a file: mutations of documents, of their texts, and anything."""
    dumped = mutated(documents).map(lambda d: yaml.safe_dump(d, allow_unicode=True).encode())
    texts = [yaml.safe_dump(document, sort_keys=False) for document in documents]
    anything = VALUES.map(lambda d: yaml.safe_dump(d).encode())
    return dumped | dumped | damaged(texts) | anything | st.binary(max_size=60)
