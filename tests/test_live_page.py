"""docs/live.md: its blocks run in order, print what stands under them, and draw its pictures.

`python tests/test_live_page.py` makes the printed parts and the pictures again.
"""

import re
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

import page_blocks

PAGE = Path(__file__).parents[1] / "docs/live.md"
#: From this heading on blocks draw other numbers every time.
RANDOM = "\n## Names\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a run."""
    folder = tmp_path_factory.mktemp("live")
    page_blocks.make_apart(__file__, folder)
    return folder


def test_blocks_run_and_print_what_stands_under_them(made):
    assert (made / "live.md").read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def test_every_picture_is_shown(made):
    shown = page_blocks.pictures_shown(PAGE.read_text(encoding="utf-8"))
    assert shown == {path.name for path in made.glob("*.svg")}


def test_pictures_are_those_that_were_drawn(made, root):
    locked = re.search(r"^matplotlib==(\S+)", (root / "requirements.lock").read_text(), re.M)[1]
    if mpl.__version__ != locked:
        pytest.skip(f"pictures are promised for matplotlib {locked}")
    for path in made.glob("*.svg"):
        assert path.read_bytes() == (page_blocks.PICTURES / path.name).read_bytes(), path.name


if __name__ == "__main__":
    if sys.argv[1:]:
        page_blocks.make(PAGE, sys.argv[1], random_from=RANDOM)
    else:
        page_blocks.update(__file__, PAGE)
