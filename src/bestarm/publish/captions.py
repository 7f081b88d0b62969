"""Captions, which pictures keep in their data: as a table, and for `snakemake --report`."""

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from bestarm.core.files import write_text
from bestarm.registry import PAPERS

_DESCRIPTION = "{http://purl.org/dc/elements/1.1/}description"
COLUMNS = ["paper", "target", "caption"]
#: The folder of pictures that are of no paper.
ARENA = "arena"


def kept_caption(svg: Path) -> str:
    """The caption that an SVG keeps as its description; empty if it has none, or does not exist."""
    if not svg.is_file():
        return ""
    with svg.open("rb") as file:  # read as far as the description; the parser would not close it
        elements = (element for _, element in ElementTree.iterparse(file))
        return next((element.text or "" for element in elements if element.tag == _DESCRIPTION), "")


def rst_caption(svg: Path | str) -> str:
    """`kept_caption` as reStructuredText, in which signs such as * act."""
    return re.sub(r"([\\*`|_])", r"\\\1", kept_caption(Path(svg)))


def write_captions(pictures: Iterable[Path], path: Path | str) -> None:
    """Write a table of paper, target and caption, a line per picture FIGURES/PAPER/TARGET.svg.

    The paper of a picture that is of all papers together, FIGURES/NAME.svg, is empty; pictures of
    the arena, FIGURES/arena/NAME.svg, have its name in place of a paper's.
    """
    buffer = io.StringIO()
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow(COLUMNS)
    for picture in pictures:
        paper = picture.parent.name if picture.parent.name in {*PAPERS, ARENA} else ""
        table.writerow([paper, picture.stem, kept_caption(picture)])
    write_text(path, buffer.getvalue())


def read_captions(path: Path) -> dict[tuple[str, str], str]:
    """Captions by paper and target; none if the table has not been made."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as lines:
        return {(row["paper"], row["target"]): row["caption"] for row in csv.DictReader(lines)}
