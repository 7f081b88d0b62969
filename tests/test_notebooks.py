"""The notebooks: short, on the public interface, and what a page is made of them."""

import ast
import json
import re

import jupytext
import nbformat
import pandas as pd
import pytest

from bestarm import registry
from bestarm.build.notebooks import execute
from bestarm.cbmai.problem import instances
from bestarm.common.drawing import new_figure
from bestarm.common.paper import Cell
from bestarm.common.tables import COLUMNS
from bestarm.notebook import beside, kept_verdicts, picture, simulate
from bestarm.publish.site.notebook import notebook_view
from bestarm.verdicts.table import VERDICT_TABLES

MOST_CELLS = 40
#: One of every kind of cell.
SMALL = """\
# %% [markdown]
# # The best mixture
#
# $$N = 1$$

# %% tags=["hide-input"]
from IPython.display import Markdown

from bestarm.common.drawing import new_figure
from bestarm.notebook import kept_verdicts, picture

figure = new_figure(4, 3)
figure.subplots().set_title("drawn")
picture(figure, "Empty axes under a title, in place of everything that could be drawn.")

# %% [markdown] tags=["exercise"]
# ### Predict, then run: how much is $1 + 1$?

# %% tags=["exercise", "hide-cell"]
Markdown("**Two,** or $2$.")

# %%
kept_verdicts("cbmai", "fig2")
"""


def cells_of(root, paper):
    return jupytext.read(root / f"notebooks/{paper}.py").cells


def tags_of(cell):
    return cell.metadata.get("tags", [])


def code_of(root, paper):
    return [cell for cell in cells_of(root, paper) if cell.cell_type == "code"]


def calls(cell, name):
    """The calls of a function in a cell of code."""
    nodes = ast.walk(ast.parse(cell.source))
    return [n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "id", "") == name]


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_every_paper_has_a_short_notebook_on_the_public_interface(root, paper):
    cells = cells_of(root, paper)
    assert len(cells) < MOST_CELLS
    assert cells[0].cell_type == "markdown"
    assert cells[0].source.startswith("# ")
    for node in (n for cell in code_of(root, paper) for n in ast.walk(ast.parse(cell.source))):
        if isinstance(node, ast.ImportFrom | ast.Import):
            names = [getattr(node, "module", "") or "", *(alias.name for alias in node.names)]
            assert not any(re.search(r"(^|\.)_", name) for name in names)
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_") or node.attr == "__name__"


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_picture_comes_first_and_its_code_is_folded_away(root, paper):
    code = code_of(root, paper)
    drawing = [cell for cell in code if calls(cell, "picture")]
    assert code[0] is drawing[0]
    assert len(drawing) > 1
    assert all("hide-input" in tags_of(cell) for cell in drawing)
    assert all(calls(cell, "picture") for cell in code if "hide-input" in tags_of(cell))
    assert re.search(r"^\$\$", "\n".join(c.source for c in cells_of(root, paper)), re.MULTILINE)


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_pictures_take_colours_and_scales_from_the_figures(root, paper):
    """Neutral colours are the only ones chosen by hand; axes become logarithmic by `style` alone,
    which draws a share of 0 as a bound."""
    for cell in code_of(root, paper):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom) and node.module == "bestarm.common.styles":
                assert {alias.name for alias in node.names} <= {"BLACK", "GREY", "named_styles"}
        assert all(r == g == b for r, g, b in re.findall(r"#(\w\w)(\w\w)(\w\w)\b", cell.source))
        assert not re.search(r"scale\(|scale=|loglog|semilog", cell.source)


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_three_exercises_whose_answers_are_checked(root, paper):
    """A question, code with a number to change, and a folded answer that asserts what it says."""
    cells = [cell for cell in cells_of(root, paper) if "exercise" in tags_of(cell)]
    assert len(cells) == 9
    for question, code, answer in zip(*[iter(cells)] * 3, strict=True):
        assert question.source.startswith("### Predict, then run: ")
        assert question.source.rstrip().endswith("?")
        assert "# change this" in code.source
        assert "hide-cell" in tags_of(answer)
        assert re.search(r"^assert ", answer.source, re.MULTILINE)
        assert len(calls(answer, "Markdown")) == 1


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_everything_that_a_notebook_imports_is_there(root, paper):
    """Seconds here, minutes into the build of the site otherwise."""
    for cell in code_of(root, paper):
        body = ast.parse(cell.source).body
        imports = [node for node in body if isinstance(node, ast.ImportFrom | ast.Import)]
        exec(compile(ast.Module(imports, []), f"notebooks/{paper}.py", "exec"), {})


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_notebook_ends_with_verdicts_that_the_ledger_has(root, paper):
    (asked,) = calls(code_of(root, paper)[-1], "kept_verdicts")
    beginnings = [argument.value for argument in asked.args]
    claims = pd.concat([pd.read_csv(root / "figures" / name) for name in VERDICT_TABLES])
    shown = kept_verdicts(*beginnings).data
    links = re.findall(r"\.\./site/(\w+)\.html#claim-([\w.-]+)\)", shown)
    assert len(links) == shown.count("\n") - 1 > 0
    assert {here for here, _ in links} == {paper}
    assert {claim for _, claim in links} <= set(claims[claims.paper == paper].id)


def test_verdicts_of_a_claim_that_is_not_there_are_refused():
    with pytest.raises(ValueError, match=r"no claim of lagex in .* begins with fig99"):
        kept_verdicts("lagex", "fig4", "fig99")


@pytest.fixture(scope="module")
def executed(root, tmp_path_factory):
    """A small notebook, executed, and its view with links as they are."""
    folder = tmp_path_factory.mktemp("notebooks")
    (folder / "small.py").write_text(SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        execute(folder / "small.py", folder / "small.ipynb")
    return folder / "small.ipynb", notebook_view(folder / "small.ipynb", lambda href: href)


def test_a_notebook_runs_into_a_page(executed):
    """`make test-build` looks at the pages of the papers' notebooks."""
    _, view = executed
    assert view.title == "The best mixture"
    assert view.cells[1].outputs[0].picture == "small-1.svg"
    shown = [output for cell in view.cells for output in cell.outputs]
    assert [one.picture for one in shown if one.picture] == list(view.pictures)
    assert all(len(one.alt) > 40 for one in shown if one.picture)
    assert all(data.startswith(b"<svg") for data in view.pictures.values())
    (answer,) = [cell for cell in view.cells if "hide-cell" in cell.tags]
    assert answer.outputs[0].body.startswith("<p><strong>")
    prose = "".join(cell.prose for cell in view.cells)
    assert 'display="block"' in prose
    assert "$" not in prose
    assert "claim-fig2-sfsr-below-uslp" in view.cells[-1].outputs[0].body


def test_a_notebook_repeats_itself(tmp_path):
    """Nothing random is in it, though jupytext draws the ids of cells, and no time of day."""
    (tmp_path / "x.py").write_text("# %% [markdown]\n# Text\n\n# %%\n1 + 1\n")
    paths = [tmp_path / name for name in ("once.ipynb", "again.ipynb")]
    for path in paths:
        execute(tmp_path / "x.py", path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    bundles = []
    for _ in paths:
        figure = new_figure(2, 1)
        figure.subplots().set_title("drawn")
        bundles.append(picture(figure, "A figure.")._repr_mimebundle_())
    assert bundles[0] == bundles[1]


def test_a_wrong_answer_writes_nothing(tmp_path):
    (tmp_path / "bad.py").write_text("# %%\nassert 1 > 2\n")
    with pytest.raises(Exception, match="AssertionError"):
        execute(tmp_path / "bad.py", tmp_path / "page.ipynb")
    assert not (tmp_path / "page.ipynb").exists()


def test_outputs_of_every_kind(tmp_path):
    """A picture with its description, a table, prose with an equation, and printed text."""
    figure = new_figure(2, 1)
    figure.subplots().set_title("drawn")
    bundles = [
        picture(figure, "An empty figure.")._repr_mimebundle_(),
        {"text/html": pd.DataFrame({"a": [1]}, ["row"])._repr_html_(), "text/plain": "a"},
        {"text/markdown": "**Yes,** $x^2$", "text/plain": "y"},
        {"text/plain": "3 < 4"},
    ]
    outputs = [nbformat.v4.new_output("display_data", data) for data in bundles]
    outputs.append(nbformat.v4.new_output("stream", text="line <1>\n"))
    cell = nbformat.v4.new_code_cell("f()", outputs=outputs, metadata={"tags": ["hide-input"]})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# T"), cell])
    nbformat.write(notebook, tmp_path / "x.ipynb")
    view = notebook_view(tmp_path / "x.ipynb", lambda href: href)
    drawn, table, prose, value, printed = view.cells[1].outputs
    assert (drawn.picture, drawn.alt) == ("x-1.svg", "An empty figure.")
    assert drawn.widths[0] > 0
    assert b"drawn" in view.pictures["x-1.svg"]
    assert table.body.startswith('<div class="scroll frame" tabindex="0"')
    assert "<th></th>" not in table.body
    assert "<style" not in table.body
    assert "<strong>Yes,</strong>" in prose.body
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in prose.body
    assert value.body == '<pre class="printed">3 &lt; 4</pre>'
    assert printed.body == '<pre class="printed">line &lt;1&gt;</pre>'
    assert view.cells[1].tags == ["hide-input"]


def test_a_simulation_is_a_table_like_the_kept_ones():
    """And the numbers beside the kept and published ones are those of the rows that match."""
    instance = instances()["A2"]
    cells = [Cell("A2", s, {"budget": 300}, "as-written") for s in ("SFSR", "USLP")]
    here = simulate(instance, cells, 50)
    assert list(here.columns[: len(COLUMNS)]) == COLUMNS
    assert here.n.max() == 50
    assert here.value.dtype == float
    assert here.equals(simulate(instance, cells, 50))
    rows = here[here.statistic == "error_rate"]
    kept = rows.assign(value=[0.25, 0.75], low=0.125, high=0.875)[::-1]
    stated = kept[:1].assign(reading="published", value=0.75)
    shown = beside(rows, pd.concat([kept, stated]), "strategy")
    assert list(shown.index) == ["SFSR", "USLP"]
    assert list(shown.kept) == ["0.25 [0.125, 0.875]", "0.75 [0.125, 0.875]"]
    assert list(shown.published) == ["–", "0.75"]
    assert float(shown.here["SFSR"].split()[0]) == pytest.approx(rows.value.iloc[0])


def test_an_executed_notebook_is_json_that_jupyter_reads(executed):
    nbformat.validate(json.loads(executed[0].read_text()))
