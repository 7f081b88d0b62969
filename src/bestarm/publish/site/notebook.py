"""An executed notebook as a page: its cells, their outputs, and its pictures as files.

Tags of cells are those of Jupyter Book: `hide-input` folds the code of a picture away, `hide-cell`
an answer with its code. Cells of an exercise are tagged `exercise`.
"""

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bestarm.publish.site import texts
from bestarm.publish.site.code import preformatted
from bestarm.publish.site.pictures import smaller, widths


class Output(NamedTuple):
    """What a cell shows: HTML, or a picture of the notebook."""

    body: str = ""
    picture: str = ""  # its file, beside the page
    alt: str = ""
    widths: tuple[int, int] = (0, 0)  # as of a target's picture


class CellView(NamedTuple):
    """A cell: prose, or code with its outputs."""

    prose: str  # HTML; empty for code
    code: str  # highlighted; empty for prose
    outputs: list[Output]
    tags: list[str]


class NotebookView(NamedTuple):
    """A notebook on its page."""

    title: str
    headings: list[texts.Heading]
    cells: list[CellView]
    pictures: dict[str, bytes]  # by file name


def notebook_view(path: Path, link: Callable[[str], str | None]) -> NotebookView:
    """A notebook (.ipynb) with the outputs that it has.

    Args:
        path: the file; its pictures are named after it.
        link: from a relative link to one that works on the site, or None to leave plain text.
    """
    view = NotebookView("", [], [], {})
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source, tags = "".join(cell["source"]), cell["metadata"].get("tags", [])
        if cell["cell_type"] == "markdown":
            text = texts.render(source, link)
            view = view._replace(title=view.title or text.title)
            view.headings.extend(text.headings)
            view.cells.append(CellView(text.body, "", [], tags))
        else:
            outputs = [
                _output(output, path.stem, view.pictures, link) for output in cell["outputs"]
            ]
            view.cells.append(CellView("", preformatted(source, "python"), outputs, tags))
    return view


def _output(
    output: dict[str, Any],
    name: str,
    pictures: dict[str, bytes],
    link: Callable[[str], str | None],
) -> Output:
    """An output as the page shows it; a picture is added to `pictures`."""
    data = {kind: "".join(text) for kind, text in output.get("data", {}).items()}
    if svg := data.get("image/svg+xml"):
        file = f"{name}-{len(pictures) + 1}.svg"
        pictures[file] = smaller(svg.encode())
        return Output("", file, data["text/plain"], widths(svg.encode()))
    if markdown := data.get("text/markdown"):
        return Output(texts.render(markdown, link).body)
    if table := data.get("text/html"):
        return Output(_table(table))
    printed = "".join(output.get("text", "")) or data.get("text/plain", "")
    return Output(f'<pre class="printed">{html.escape(printed.rstrip())}</pre>')


def _table(text: str) -> str:
    """A table of pandas, without its style and empty headings; keys reach it where it scrolls."""
    rows = text[text.index("<thead>") : text.index("</table>")]
    rows = re.sub(r"<th>\s*</th>", "<td></td>", rows)
    region = '<div class="scroll frame" tabindex="0" role="region" aria-label="Table">'
    return f"{region}<table>{rows}</table></div>"
