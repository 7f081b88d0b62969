"""docs/tutorial-*.md: their blocks run, print what stands under them, and draw their pictures.

`python tests/test_tutorials.py` makes the printed parts and the pictures again.
"""

import sys
from pathlib import Path

import pytest

import page_blocks

PAGES = sorted((Path(__file__).parents[1] / "docs").glob("tutorial-*.md"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the folder of each page, by its name."""
    folder = tmp_path_factory.mktemp("tutorials")
    page_blocks.make_apart(__file__, folder)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_prints_and_draws_what_it_shows(page, made):
    text, folder = page.read_text(encoding="utf-8"), made / page.stem
    assert (folder / page.name).read_text(encoding="utf-8") == text
    drawn = {path.name: path.read_bytes() for path in folder.glob("*.svg")}
    assert drawn.keys() == page_blocks.pictures_shown(text)
    for name, picture in drawn.items():
        assert picture == (page_blocks.PICTURES / name).read_bytes(), name


if __name__ == "__main__":
    if sys.argv[1:]:
        for page in PAGES:
            folder = Path(sys.argv[1]).resolve() / page.stem
            folder.mkdir()
            page_blocks.make(page, folder)
    else:
        page_blocks.update(__file__, *PAGES)
