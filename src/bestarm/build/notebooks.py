"""Run a notebook and keep it with its outputs; site/notebook.py makes it a page."""

import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

from bestarm.common.environment import environment
from bestarm.core.files import write_text

#: Seconds a cell may take.
TIMEOUT = 600


def execute(source: Path, out: Path) -> None:
    """Execute a notebook (jupytext, py:percent) in the current folder and write it as .ipynb.

    Nothing in the file is random, nor says when it was made.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell fails; nothing is written.
    """
    notebook = jupytext.read(source)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # jupytext's are random
    resources = {"metadata": {"path": str(Path.cwd())}}
    client = NotebookClient(
        notebook, timeout=TIMEOUT, kernel_name="python3", record_timing=False, resources=resources
    )
    with tempfile.TemporaryDirectory() as folder:
        # Jupyter's own files stay out of the home folder.
        private = {"IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder}
        quiet = {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        with environment(**private, **quiet):
            client.execute()
    write_text(out, nbformat.writes(notebook))
