"""The notebooks: short, on the public interface, and pages that need nothing but themselves."""

import ast
import re
from html.parser import HTMLParser

import jupytext
import nbformat
import pytest
from pygments.styles import get_style_by_name

from bestarm.common.style import new_figure
from bestarm.notebook import kept_verdicts, picture
from bestarm.pipeline import registry
from bestarm.pipeline.notebooks import PYGMENTS_STYLE, page, render

MOST_CELLS = 40
#: The quickest one to run.
CHEAP = "delayed"


class Page(HTMLParser):
    """What the tests look at: headings, pictures, and whatever a browser would fetch."""

    def __init__(self, text: str):
        super().__init__()
        self.levels, self.pictures, self.fetched, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        if re.fullmatch(r"h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag == "img":
            self.pictures.append(attrs)
        if tag != "a":
            self.fetched += [attrs[name] for name in ("src", "href") if name in attrs]


def check_page(text: str) -> Page:
    """Assert what holds of every page."""
    found = Page(text)
    assert ("html", {"lang": "en"}) in found.tags
    assert re.search(r"<title>[^<]+</title>", text)
    assert found.levels[0] == 1
    assert found.levels.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(found.levels, found.levels[1:], strict=False))
    assert not any(tag in ("script", "link", "iframe") for tag, _ in found.tags)
    assert all(one.startswith("data:") for one in found.fetched)
    assert not re.search(r"https?://|@import|url\(", text)
    assert all(len(one["alt"]) > 40 for one in found.pictures)
    assert all("tabindex" in attrs for tag, attrs in found.tags if attrs.get("class") == "table")
    assert "<th></th>" not in text
    return found


def notebook_of(root, paper):
    return jupytext.read(root / f"notebooks/{paper}.py")


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_every_paper_has_a_short_notebook_on_the_public_interface(root, paper):
    cells = notebook_of(root, paper).cells
    assert len(cells) < MOST_CELLS
    assert cells[0].cell_type == "markdown"
    assert cells[0].source.startswith("# ")
    code = [ast.parse(cell.source) for cell in cells if cell.cell_type == "code"]
    for node in (node for tree in code for node in ast.walk(tree)):
        if isinstance(node, ast.ImportFrom | ast.Import):
            names = [getattr(node, "module", "") or "", *(alias.name for alias in node.names)]
            assert not any(re.search(r"(^|\.)_", name) for name in names)
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_")
    pictures = [cell for cell in cells if cell.source.rstrip().startswith("picture(")]
    assert len(pictures) + sum("\npicture(" in cell.source for cell in cells) == 1


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_everything_that_a_notebook_imports_is_there(root, paper):
    """Seconds here, half an hour into the build of the site otherwise."""
    for cell in notebook_of(root, paper).cells:
        if cell.cell_type == "code":
            imports = [
                node
                for node in ast.parse(cell.source).body
                if isinstance(node, ast.ImportFrom | ast.Import)
            ]
            exec(compile(ast.Module(imports, []), f"notebooks/{paper}.py", "exec"), {})


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_notebook_ends_with_verdicts_that_the_ledger_has(root, paper):
    asked = [
        [argument.value for argument in node.args]
        for cell in notebook_of(root, paper).cells
        if cell.cell_type == "code"
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "kept_verdicts"
    ]
    assert asked
    assert all(len(kept_verdicts(*arguments)) for arguments in asked)


def test_verdicts_of_a_claim_that_is_not_there_are_refused():
    with pytest.raises(ValueError, match=r"no claim of lagex in .* begins with fig99"):
        kept_verdicts("lagex", "fig4", "fig99")


def test_a_notebook_runs_into_a_page(root, tmp_path, monkeypatch):
    monkeypatch.chdir(root)
    render(root / f"notebooks/{CHEAP}.py", tmp_path / "page.html")
    found = check_page((tmp_path / "page.html").read_text())
    assert len(found.pictures) == 1


def test_a_page_repeats_itself(root):
    """Nothing random is in it, though jupytext draws the ids of cells."""
    assert page(notebook_of(root, CHEAP)) == page(notebook_of(root, CHEAP))


def test_a_cell_that_fails_writes_nothing(tmp_path):
    (tmp_path / "bad.py").write_text("# %%\n1 / 0\n")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        render(tmp_path / "bad.py", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_a_picture_says_what_it_shows():
    alt = "A description that is longer than forty letters, as it should be."
    image = picture(new_figure(2, 1), alt)
    cells = [nbformat.v4.new_markdown_cell("# Title"), nbformat.v4.new_code_cell("picture()")]
    data, metadata = image._repr_mimebundle_()
    cells[1].outputs = [nbformat.v4.new_output("display_data", data, metadata=metadata)]
    found = check_page(page(nbformat.v4.new_notebook(cells=cells)))
    assert [one["alt"] for one in found.pictures] == [alt]


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_code_is_legible_on_white():
    for token, style in get_style_by_name(PYGMENTS_STYLE):
        if style["color"]:
            assert 1.05 / (luminance(style["color"]) + 0.05) >= 4.5, token


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_verdicts_shown_are_those_of_the_ledger(root, paper):
    verdicts = kept_verdicts(paper, "")
    assert len(verdicts) > 0
    assert verdicts.index.is_unique
