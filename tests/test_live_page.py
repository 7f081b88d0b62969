"""docs/live.md: its blocks run in order, print what stands under them, and draw its pictures.

`python tests/test_live_page.py` makes the printed parts and the pictures again.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from bestarm.common.arithmetic import same_bits
from bestarm.common.style import save
from test_progress import check_legible

PAGE = Path(__file__).parents[1] / "docs/live.md"
PICTURES = PAGE.parent / "pictures"
#: A block and what it prints.
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
#: From this heading on blocks draw other numbers every time.
RANDOM = "\n## Names\n"


def make(folder):
    """Run the page in a folder; there are then the page, with what it prints, and its pictures."""
    os.chdir(folder)
    page, names, drawn = PAGE.read_text(encoding="utf-8"), {"__name__": "live"}, {}
    Figure.savefig, savefig = lambda figure, name: drawn.update({name: figure}), Figure.savefig

    def printed(match):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(match[1], PAGE.name, "exec"), names)
        text = out.getvalue() if match.start() < page.index(RANDOM) else ""
        return f"```python\n{match[1]}```\n" + (f"\n```text\n{text}```\n" if text else "")

    Path("live.md").write_text(BLOCK.sub(printed, page), encoding="utf-8")
    Figure.savefig = savefig
    for name, figure in drawn.items():
        save(figure, name)
        check_legible(figure)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a run in a separate process, with byte-identical arithmetic."""
    folder = tmp_path_factory.mktemp("live")
    with same_bits():
        subprocess.run([sys.executable, __file__, folder], check=True)
    return folder


def test_blocks_run_and_print_what_stands_under_them(made):
    assert (made / "live.md").read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def test_every_picture_is_shown(made):
    shown = re.findall(r"!\[[^]]+\]\(pictures/(.*?)\)", PAGE.read_text(encoding="utf-8"))
    assert {*shown} == {path.name for path in made.glob("*.svg")}


def test_pictures_are_those_that_were_drawn(made, root):
    locked = re.search(r"^matplotlib==(\S+)", (root / "requirements.lock").read_text(), re.M)[1]
    if mpl.__version__ != locked:
        pytest.skip(f"pictures are promised for matplotlib {locked}")
    for path in made.glob("*.svg"):
        assert path.read_bytes() == (PICTURES / path.name).read_bytes(), path.name


def update():
    """Make the printed parts and the pictures again."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, same_bits():
        subprocess.run([sys.executable, __file__, folder], check=True)
        for path in Path(folder).glob("*.svg"):
            shutil.copy(path, PICTURES)
        shutil.copy(Path(folder) / "live.md", PAGE)


if __name__ == "__main__":
    make(*sys.argv[1:]) if sys.argv[1:] else update()
