"""Instance files of any content: `run` and `bound` answer, or refuse in one line."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from command_line import bestarm
from fuzz.calls import check, tree
from fuzz.documents import ARMS, INSTANCES, damaged, files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("instances")


BAICS = b"paper: baics\nmeans: [[0.9, 0.8], [0.7, -0.9]]\nweights: [0.5, 0.5]\n"
LINEAR = b"paper: linear\ntheta: [1, 2]\narms: "


@settings(max_examples=settings.default.max_examples // 4)
@given(content=files(INSTANCES))
@example(content=b"paper: [baics]")
@example(content=BAICS + b"name: '[/x]'\narms: ['[/y]', '[red]']")
@example(content=BAICS + b'"a\\nb": 1')
@example(content=BAICS + b"sigma: !!bool x")
@example(content=BAICS + b"sigma: 0x" + b"f" * 5000)
@example(content=BAICS.replace(b"0.9, 0.8", b"*a, *a") + b"name: &a a")
@example(content=LINEAR + b'"\\0.csv"')
@example(content=LINEAR + b"/dev/zero")
@example(content=LINEAR + b".")
def test_instance_files(folder, content):
    path = folder / "mine.yaml"
    path.write_bytes(content)
    before = tree(folder)
    limit = "--budget" if b"cbmai" in content else "--cap"
    out = folder / "new/runs.parquet"
    run = bestarm("run", path, "--reps", 2, limit, 100, "--cores", 1, "--out", out)
    check(run)
    if run.code == 0:
        assert out.read_bytes()[:4] == b"PAR1"
        out.unlink()
        out.parent.rmdir()
    check(bestarm("bound", path))
    assert tree(folder) == before


@settings(max_examples=settings.default.max_examples // 4)
@given(content=damaged([ARMS]) | st.binary(max_size=60))
@example(content=b'"' + b"1" * 200_000)  # longer than the csv module reads
def test_files_of_arms(folder, content):
    path = folder / "linear.yaml"
    path.write_bytes(LINEAR.replace(b"[1, 2]", b"[2, 0.5, -0.9, 0.6]") + b"arms.csv")
    (folder / "arms.csv").write_bytes(content)
    check(bestarm("bound", path))
