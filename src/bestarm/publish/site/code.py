"""Pages of source code, made for what other pages link to and nothing else."""

import functools
import html
import inspect
import json
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pygments
from pygments import highlight
from pygments.filter import simplefilter
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String, Text
from pygments.util import ClassNotFound

from bestarm.core.files import write_json
from bestarm.registry.outline import code_hash


class CodePage(NamedTuple):
    """A file or a folder of the project."""

    path: str  # in the project; with / at the end for a folder
    body: str  # highlighted HTML of a file
    entries: list[str]  # pages of a folder's files and folders, relative to the site


def _page(path: str) -> str:
    """Where a file or folder is shown."""
    return f"code/{path}index.html" if path.endswith("/") else f"code/{path}.html"


class Highlights:
    """Highlighted texts in a file, so that the next build highlights only what has changed.

    That takes a third of the time of a build of the site.
    """

    def __init__(self, file: Path | None = None):
        """`file` may be missing; if None, nothing is kept."""
        self._file = file
        self._made_by = f"{pygments.__version__} {code_hash(__name__)}"
        self._before: dict[str, str] = {}
        self._used: dict[str, str] = {}
        if file:
            with suppress(OSError, ValueError):
                self._before = json.loads(file.read_text(encoding="utf-8"))

    def of(self, text: str, language: str) -> str:
        """`highlighted`."""
        key = sha256(f"{self._made_by} {language} {text}".encode()).hexdigest()
        if key not in self._used:
            self._used[key] = self._before.get(key) or highlighted(text, language)
        return self._used[key]

    def keep(self) -> None:
        """Write what was used."""
        if self._file:
            write_json(self._file, self._used)


class Code:
    """Knows where the code of a project is shown, and collects which of it is asked for."""

    def __init__(self, root: Path, files: list[Path]):
        """`files` are those that may be linked."""
        self._root = root
        self._files = {path.relative_to(root).as_posix() for path in files}
        self._folders = {
            f"{folder.as_posix()}/" for file in self._files for folder in list(Path(file).parents)
        }
        self._asked: dict[str, set[int]] = {}  # pages, and the lines that are linked

    def page(self, path: str, line: int = 0) -> str | None:
        """The page of a file or folder, from the site's top; None if the site may not show it."""
        path = path.rstrip("/")
        name = path if path in self._files else f"{path}/" if f"{path}/" in self._folders else None
        if name is None:
            return None
        self._asked.setdefault(name, set()).update({line} - {0})
        page = _page(name)
        return f"{page}#L-{line}" if line else page

    def of(self, item: Any) -> str | None:
        """The page of a function, class, partial or compiled function, at its first line."""
        while isinstance(item, functools.partial) or hasattr(item, "py_func"):
            item = item.func if isinstance(item, functools.partial) else item.py_func
        try:
            file, line = inspect.getsourcefile(item), inspect.getsourcelines(item)[1]
        except (TypeError, OSError):
            return None
        path = Path(file or "").resolve()
        if not path.is_relative_to(self._root.resolve()):
            return None
        return self.page(path.relative_to(self._root.resolve()).as_posix(), line)

    def pages(self, highlights: Highlights | None = None) -> dict[str, CodePage]:
        """Every page asked for, and those that a folder among them lists.

        Args:
            highlights: of the last build.
        """
        highlights = highlights or Highlights()
        made: dict[str, CodePage] = {}
        while waiting := [path for path in self._asked if _page(path) not in made]:
            for path in waiting:
                page = self._folder(path) if path[-1] == "/" else self._file(path, highlights)
                made[_page(path)] = page
        return made

    def _folder(self, path: str) -> CodePage:
        inside = (entry for entry in self._files | self._folders if entry != path)
        direct = {
            entry for entry in inside if entry.startswith(path) and "/" not in entry[len(path) : -1]
        }
        for entry in direct:
            self._asked.setdefault(entry, set())
        return CodePage(path, "", [_page(entry) for entry in sorted(direct)])

    def _file(self, path: str, highlights: Highlights) -> CodePage:
        try:
            text = (self._root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            text = "(not a text)"
        marked = highlights.of(text, "python" if _is_python(path) else "text").split("\n")
        for line in self._asked[path]:
            marked[line - 1] = f'<span id="L-{line}">{marked[line - 1]}</span>'
        body = "\n".join(marked)
        return CodePage(path, f'<pre class="highlight">{body}</pre>', [])


def _is_python(path: str) -> bool:
    """Only such files have colours on pages of their own: marks double the size of data."""
    return path.endswith((".py", ".smk")) or Path(path).name == "Snakefile"


def highlighted(text: str, name: str) -> str:
    """Code as HTML, line by line; `name` is a file name or a language."""
    name = "python" if _is_python(name) else name
    lexer_for = get_lexer_for_filename if "." in name else get_lexer_by_name
    try:
        lexer = lexer_for(name, stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    lexer.add_filter(coloured())
    return highlight(text, lexer, HtmlFormatter(nowrap=True))


#: What site.css colours; kinds of one colour are one kind.
COLOURED = {
    kind: colour
    for colour, kinds in {
        Comment: [Comment, String.Doc],
        Keyword: [Keyword, Operator.Word, Name.Decorator],
        String: [String, Literal.Scalar.Plain],
        Number: [Number],
        Name.Function: [Name.Function, Name.Class, Name.Tag],
    }.items()
    for kind in kinds
}


@simplefilter
def coloured(self, lexer, stream, options):
    """Only marks that site.css has a colour for: that makes pages a third of their size."""
    for kind, value in stream:
        yield (_colour(kind) if value.strip() else Text), value


@functools.cache
def _colour(kind):
    ways = [way for way in COLOURED if kind in way]
    return COLOURED[max(ways, key=len)] if ways else Text


def preformatted(text: str, language: str) -> str:
    """A fenced block; it can be scrolled with the keyboard."""
    body = highlighted(text, language) if language else html.escape(text)
    return f'<pre tabindex="0" class="highlight"><code>{body}</code></pre>'
