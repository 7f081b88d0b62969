"""Errors of input: one line, naming the file, the field and what is allowed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestarm.core.inputs import (
    MOST_CHARACTERS,
    Input,
    InputError,
    PositiveInt,
    Probability,
    load,
    parse,
)


class Sample(Input):
    delta: Probability
    runs: PositiveInt = 3
    means: tuple[float, ...] = ()


def message(data) -> str:
    with pytest.raises(InputError) as error:
        parse(Sample, data, "a.yaml")
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"delta": 0}, "a.yaml: delta: must be greater than 0, got 0"),
        ({"delta": 1.5}, "a.yaml: delta: must be less than 1, got 1.5"),
        ({}, "a.yaml: delta: is required"),
        ({"delta": 0.1, "rums": 2}, "a.yaml: rums: unknown field, allowed are delta, runs, means"),
        (
            {"delta": 0.1, "means": [0, float("nan")]},
            "a.yaml: means.2: must be a finite number, got nan",
        ),
        ({"delta": "x", "runs": 0}, "(and 1 more)"),
        ([1], "a.yaml: must hold fields (delta, runs, means), got [1]"),
    ],
)
def test_messages(data, text):
    assert text in message(data)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("delta: [", "line 1"),
        ("delta: 0.1\ndelta: 0.2", "repeated"),
        ("!!python/object/apply:os.system [ls]", "tag"),
        ("? [a, b]\n: 1", "key"),
        ("delta: 2001-13-45", "x.yaml"),
        ("delta: !!bool x", "not valid YAML"),  # PyYAML raises KeyError
        ("delta: !!timestamp x", "not valid YAML"),  # AttributeError
        ("delta: !!map [[a, b]]", "not valid YAML"),  # TypeError
        ("delta: 0x" + "f" * 5000, "got an integer of thousands of digits"),
        ('"de\\nlta\\e": 1', r"de\nlta\x1b: unknown field"),
        (
            "means: &a [1]\ndelta: [*a, *a]",  # nested, they stand for more than fits into memory
            "line 2: an alias, *a, cannot be used here",
        ),
        ("#" * MOST_CHARACTERS + "\n", "must be at most 1,000,000 characters long"),
    ],
)
def test_bad_yaml(tmp_path, text, said):
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        load(Sample, path)
    assert str(path) in str(error.value)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_file_and_folder_and_binary(tmp_path):
    with pytest.raises(InputError, match="is not the name of a file"):
        load(Sample, tmp_path / "a\0.yaml")
    with pytest.raises(InputError, match="No such file"):
        load(Sample, tmp_path / "none.yaml")
    with pytest.raises(InputError, match="directory"):
        load(Sample, tmp_path)
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        load(Sample, tmp_path / "b.yaml")


def test_a_number_written_as_text_by_yaml_is_read(tmp_path):
    (tmp_path / "x.yaml").write_text("delta: 1e-3\n")  # YAML 1.1 reads 1e-3 as a string
    assert load(Sample, tmp_path / "x.yaml").delta == 1e-3


@settings(max_examples=80)
@given(
    st.recursive(
        st.none() | st.floats() | st.text() | st.integers(),
        lambda s: st.lists(s) | st.dictionaries(st.text(), s),
        max_leaves=8,
    )
)
def test_whatever_comes_is_read_or_refused(data):
    try:
        parse(Sample, data, "a.yaml")
    except InputError as error:
        assert "a.yaml" in str(error)
