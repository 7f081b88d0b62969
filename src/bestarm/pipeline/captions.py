"""The captions of all pictures as one table, which the site and the README show."""

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from bestarm.core.files import write_text
from bestarm.pipeline.registry import PAPERS

_DESCRIPTION = ".//{http://purl.org/dc/elements/1.1/}description"


def caption_of(svg: str) -> str:
    """The caption that an SVG keeps as its description; empty if it has none."""
    return ElementTree.fromstring(svg).findtext(_DESCRIPTION, "")


def write_captions(pictures: Iterable[Path], path: Path | str) -> None:
    """Write a table of paper, target and caption, a line per picture FIGURES/PAPER/TARGET.svg.

    The paper of a picture that is of all papers together, FIGURES/NAME.svg, is empty.
    """
    rows = [
        (p.parent.name if p.parent.name in PAPERS else "", p.stem, caption_of(p.read_text("utf-8")))
        for p in map(Path, pictures)
    ]
    table = pd.DataFrame(rows, columns=["paper", "target", "caption"])
    write_text(path, table.to_csv(index=False))


def read_captions(path: Path) -> dict[tuple[str, str], str]:
    """Captions by paper and target; none if the table has not been made."""
    if not path.is_file():
        return {}
    table = pd.read_csv(path, keep_default_na=False)
    return dict(zip(zip(table.paper, table.target, strict=True), table.caption, strict=True))
