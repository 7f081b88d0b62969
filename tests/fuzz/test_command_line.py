"""Arguments of any kind: an answer, or an error; nothing is written but where it was asked for."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bestarm.build.client import SHORT
from command_line import bestarm
from fuzz.calls import check, tree

INSTANCE = "paper: baics\nmeans: [[0.9, 0.8], [0.7, -0.9]]\nweights: [0.5, 0.5]\n"

# no surrogates and no NUL: no shell can pass them on
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10)
HOSTILE = st.sampled_from(
    [
        *(
            "",
            "-",
            "--",
            "--help",
            "-1",
            "0",
            "1e3",
            "nan",
            "inf",
            "1" * 5000,
            str(2**63),
            "10" * 20,
        ),
        *("..", "/", "/dev/null", ".", "none.yaml", "baics", "baics/", "baics/table1"),
        *("baics/../../x", "[/x]", "[red]", "$(touch x)", "a b", "é\u202e", "a\nb", "x" * 300),
    ]
)
WORDS = HOSTILE | TEXTS
OPTIONS = st.sampled_from(
    [
        *("--reps", "--delta", "--cap", "--budget", "--batch", "--limit", "--r", "--strategy"),
        *("--reading", "--seed", "--cores", "--independent", "--runs", "--version"),
        *("--per-shard", "--geometry", "--figures", "--content"),
    ]
)
COMMANDS = st.sampled_from(
    [
        *(["list"], ["show"], ["run"], ["bound"], ["verify"], ["workflow"], []),
        *(["run", "mine.yaml", "--reps", "2", "--cap", "20"], ["bound", "mine.yaml"]),
        *(["workflow", name] for name in (*SHORT, "report")),
        *(["workflow", name, "baics"] for name in ("shard", "summary", "table", "plot")),
    ]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command line")
    (folder / "mine.yaml").write_text(INSTANCE)
    return folder


@settings(max_examples=settings.default.max_examples // 2)
@given(COMMANDS, st.lists(WORDS | OPTIONS, max_size=4))
@example(["run", "mine.yaml"], ["--cap", str(2**63)])
@example(["run", "mine.yaml"], ["--reps", str(10**12)])
@example(["run", "mine.yaml"], ["--batch", "5"])
@example(
    ["workflow", "shard", "nopaper", "x", "0", "y"],
    ["--seed", "1", "--per-shard", "1", "--out", "z"],
)
@example(["workflow", "claims"], ["x", "--figures", "f", "--out", "z"])
def test_arguments(folder, command, more):
    before = tree(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)  # which is no checkout: there is nothing to verify or to report on
        result = bestarm(*command, *more)
    if not re.search("Usage: |─ Error ─", result.err + result.out):  # else of the option parser
        check(result)
    assert result.code in (0, 2), result
    assert "Traceback" not in result.err
    assert tree(folder) == before
