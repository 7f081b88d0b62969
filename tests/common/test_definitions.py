"""A hash of what is computed changes with the computation, and not with the place of its code."""

import pytest

from bestarm.common import codehash, definitions
from bestarm.common.definitions import definitions_hash

FILES = {
    "one.py": '''"""A module."""

import math

from bestarm import two
from bestarm.two import LIMIT as MOST
from bestarm.two import Kind, registers


def root(x: Kind) -> float:
    """The root of it."""
    return two.twice(math.sqrt(x)) if x < MOST else again(x)


def again(x):
    return root(x - 1)


def unused(x):
    return 3
''',
    "two.py": """LIMIT = 5
LIMIT += 1


class Kind:
    factor = 2


def registers(kind):
    def keep(function):
        kind.known = function
        return function

    return keep


@registers(Kind)
def special(x):
    return 7


def twice(x):
    from bestarm.three import shift

    return shift(2 * x)
""",
    "three.py": """def shift(x):
    return x + 0
""",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package that is looked at instead; write(file, text) changes it."""
    monkeypatch.setattr(codehash, "PACKAGE", tmp_path / "bestarm")
    (tmp_path / "bestarm").mkdir()

    def write(file, text):
        (tmp_path / "bestarm" / file).write_text(text)
        definitions.parsed.cache_clear()
        definitions.hash_at.cache_clear()

    for file, text in FILES.items():
        write(file, text)
    yield write
    definitions.parsed.cache_clear()
    definitions.hash_at.cache_clear()


def hash_now(module="bestarm.one"):
    return definitions.hash_at(frozenset([(module, "root")]))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("one.py", "x - 1", "x - 2"),
        ("two.py", "LIMIT = 5", "LIMIT = 4"),
        ("two.py", "LIMIT += 1", "LIMIT += 2"),
        ("two.py", "factor = 2", "factor = 3"),
        ("two.py", "return 7", "return 8"),
        ("two.py", "2 * x", "3 * x"),
        ("three.py", "x + 0", "x + 1"),
    ],
)
def test_what_is_used_counts(package, file, old, new):
    before = hash_now()
    assert old in FILES[file]
    package(file, FILES[file].replace(old, new))
    assert hash_now() != before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("one.py", "return 3", "return 4"),
        ("one.py", '"""The root of it."""', '"""Its root."""'),
        ("one.py", "import math\n", "import math\nimport sys  # too\n"),
        ("two.py", "LIMIT = 5", "OTHER = 6\nLIMIT = 5"),
    ],
)
def test_what_is_not_used_does_not(package, file, old, new):
    before = hash_now()
    assert old in FILES[file]
    package(file, FILES[file].replace(old, new))
    assert hash_now() == before


def test_places_do_not_count(package):
    """A file is renamed, and then a function goes to another one."""
    before = hash_now()
    package("four.py", FILES["three.py"])
    package("two.py", FILES["two.py"].replace("bestarm.three", "bestarm.four"))
    package("three.py", "")
    assert hash_now() == before
    shift = FILES["three.py"]
    moved = FILES["two.py"].replace("    from bestarm.three import shift\n\n", "")
    package("two.py", f"{shift}\n\n{moved}")
    assert hash_now() == before
    package("five.py", FILES["one.py"])
    assert hash_now("bestarm.five") == before


def test_versions_count(package, monkeypatch):
    before = hash_now()
    monkeypatch.setattr(definitions, "version", lambda library: "0")
    definitions.hash_at.cache_clear()
    assert hash_now() != before


def test_a_place_without_a_definition_is_an_error(package):
    with pytest.raises(ValueError, match=r"bestarm\.one: has no definition other"):
        definitions.hash_at(frozenset([("bestarm.one", "other")]))


def test_the_instance_and_its_kernels_count_for_a_paper():
    """What a run of BAICS uses is found, and nothing of its figures."""
    from bestarm.registry import PAPERS

    prepare = PAPERS["baics"].simulation.prepare
    found = definitions.definitions(frozenset([(prepare.__module__, prepare.__qualname__)]))
    named = " ".join(found)
    assert "name='Instance'" in named
    assert "name='choose_ta_scs'" in named
    assert "name='Experiment'" not in named
    assert len(definitions_hash(prepare)) == 16
