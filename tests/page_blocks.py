"""Pages whose blocks run: what they print stands under them, and the pictures they draw are kept.

A block of Python or of commands runs as it stands, after the blocks before it. One that follows
the words "Save this as" and a name in backquotes is written to that file instead.
"""

import contextlib
import importlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

from bestarm.common.arithmetic import same_bits
from bestarm.common.drawing import save
from command_line import bestarm
from test_progress import check_legible

PICTURES = Path(__file__).parents[1] / "docs/pictures"
#: The file that a block is saved as, its language, the block, and what it prints.
BLOCK = re.compile(
    r"((?:Save this as `(\S+)`[^`]*\n\n)?```(python|sh|yaml)\n(.*?)```\n)"
    r"(?:\n```text\n(.*?)```\n)?",
    re.DOTALL,
)


def _called(line):
    """What a command prints."""
    program, *words = shlex.split(line, comments=True)
    module, words = (words[1], words[2:]) if program == "python" else (program, words)
    result = bestarm(*words, module=module)
    assert result.code == 0, f"{line}\n{result.out}{result.err}"
    return result.out


def _run(language, code, names):
    """What a block prints."""
    if language == "sh":
        lines = code.replace("\\\n", " ").splitlines()
        return "".join(_called(line) for line in lines)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "page", "exec"), names)
    return out.getvalue()


def make(page, folder, random_from=None):
    """Run a page in a folder; there are then the page, with what it prints, and its pictures.

    From the text `random_from` on blocks print other numbers every time, which are left out.
    """
    os.chdir(folder)
    os.environ["COLUMNS"] = "120"
    sys.path.insert(0, str(folder))
    text, names, drawn = page.read_text(encoding="utf-8"), {"__name__": "page"}, {}
    end = text.index(random_from) if random_from else len(text)
    Figure.savefig, savefig = lambda figure, name: drawn.update({name: figure}), Figure.savefig

    def printed(match):
        block, file, language, code, _ = match.groups()
        if file:
            Path(file).write_text(code, encoding="utf-8")
            importlib.invalidate_caches()
            return match[0]
        out = "".join(f"{line.rstrip()}\n" for line in _run(language, code, names).splitlines())
        return block + (f"\n```text\n{out}```\n" if out and match.start() < end else "")

    made = BLOCK.sub(printed, text)
    Figure.savefig = savefig
    Path(page.name).write_text(made, encoding="utf-8")
    for name, figure in drawn.items():
        save(figure, name)
        check_legible(figure)


def make_apart(script, folder):
    """Call a test's file with a folder, in a process of its own with byte-identical arithmetic."""
    with same_bits():
        subprocess.run([sys.executable, script, folder], check=True)


def update(script, *pages):
    """Make the printed parts of pages, and their pictures, again."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        make_apart(script, folder)
        for path in Path(folder).rglob("*.svg"):
            shutil.copy(path, PICTURES)
        for page in pages:
            shutil.copy(next(Path(folder).rglob(page.name)), page)


def pictures_shown(text):
    """The pictures of docs/pictures that a page shows."""
    return {*re.findall(r"!\[[^]]+\]\(pictures/(.*?)\)", text)}
