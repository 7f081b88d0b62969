"""Run a notebook and write it as one HTML page that needs nothing else: no script, no network."""

import re
import tempfile
from pathlib import Path

import jupytext
from nbconvert import HTMLExporter
from nbconvert.preprocessors import ExecutePreprocessor
from pygments.formatters import HtmlFormatter

from bestarm.common.environment import environment
from bestarm.core.files import write_text

#: Of its code; every colour of it is legible on white (contrast 4.5 or more; a test computes it).
PYGMENTS_STYLE = "xcode"
#: Seconds a cell may take.
TIMEOUT = 600

#: Lines are wrapped, so nothing has to be scrolled sideways but wide tables.
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0 auto; max-width: 50rem; padding: 1rem; background: #fff; color: #1b1b1b;
  font: 1rem/1.5 system-ui, sans-serif; }}
a {{ color: #0b5394; }}
h1, h2, h3 {{ line-height: 1.2; }}
pre, code {{ font: 0.85rem/1.45 ui-monospace, monospace; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; padding: 0.5rem 0.75rem; }}
.input_area {{ border: 1px solid #c8c8c8; border-radius: 4px; margin: 0.75rem 0 0.25rem; }}
.output_area {{ margin: 0.25rem 0 0.75rem; }}
.table {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.85rem; }}
th, td {{ padding: 0.2rem 0.6rem; text-align: right; border-bottom: 1px solid #ddd; }}
img {{ max-width: 100%; height: auto; }}
{pygments}
</style>
</head>
<body>
<nav><a href="../index.html">bestarm</a></nav>
<main>
{body}
</main>
</body>
</html>
"""


def render(source: Path, out: Path) -> None:
    """Execute a notebook (jupytext, py:percent) in the current folder and write its page.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell fails; nothing is written.
    """
    notebook = jupytext.read(source)
    with tempfile.TemporaryDirectory() as folder:
        # Jupyter's own files stay out of the home folder.
        private = {"IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder}
        quiet = {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        with environment(**private, **quiet):
            run = ExecutePreprocessor(timeout=TIMEOUT, kernel_name="python3")
            run.preprocess(notebook, {"metadata": {"path": str(Path.cwd())}})
    write_text(out, page(notebook))


def page(notebook) -> str:
    """An executed notebook as a page; its title is the first heading."""
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # jupytext's are random
    exporter = HTMLExporter(
        template_name="basic",
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        exclude_anchor_links=True,
    )
    body, _ = exporter.from_notebook_node(notebook)
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL)
    title = re.sub(r"<[^>]+>", "", heading[1]) if heading else "bestarm"
    pygments = HtmlFormatter(style=PYGMENTS_STYLE).get_style_defs(".highlight")
    return PAGE.format(title=title, pygments=pygments, body=_accessible(body))


def _accessible(body: str) -> str:
    """Tables as pandas writes them: no empty headings, and what scrolls can be reached by keys."""
    body = re.sub(r"<style scoped.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r"<th>\s*</th>", "<td></td>", body)
    scrolling = '<div class="table" role="group" aria-label="table" tabindex="0"><table>'
    body = re.sub(r'<table border="1" class="dataframe">', scrolling, body)
    return body.replace("</table>", "</table></div>")
