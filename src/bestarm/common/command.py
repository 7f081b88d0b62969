"""How every command meets faults of its surroundings, in one line each.

A disk that is full, a compiled kernel that was cut short, a package that is not installed.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from pickle import UnpicklingError

from typer import Typer
from typer.core import TyperCommand

from bestarm.core.errors import InputError

#: The name to install by; the import name is shorter.
DISTRIBUTION = "bestarm-replication"
#: The extra of pyproject.toml that has a module; others are in `rebuild`.
EXTRAS = {
    "plot": ("matplotlib", "seaborn"),
    "notebooks": ("ipykernel", "jupytext", "nbclient", "nbformat"),
    "service": ("fastapi", "uvicorn"),
}
#: The file of Numba that keeps compiled kernels.
CACHING = ("numba", "core", "caching.py")
#: Where a context keeps what `PaperCommand` found.
PAPER_OPTIONS = "bestarm.paper_options"


def not_installed(module: str) -> InputError:
    """What to install for a module that is not there."""
    top = module.partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if top in modules), "rebuild")
    how = f"pip install '{DISTRIBUTION}[{extra}]'"
    return InputError(f"{module}: is not installed; {how}, or make setup in a checkout")


def print_all_characters() -> None:
    """Print what the terminal's encoding lacks, such as an umlaut in a name, as an escape."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def told(error: OSError, otherwise: str = "output") -> str:
    """What could not be read or written and why, in a line; `otherwise` if no file is named."""
    return f"{error.filename or otherwise}: {os.strerror(error.errno) if error.errno else error}"


class Interruption(Exception):
    """Ctrl-C, which Click would take without a word."""


def run_app(app: Typer, arguments: Sequence[str] | None = None, name: str | None = None) -> None:
    """Run a command line; bad input is one line on standard error and exit code 2.

    Args:
        app: the commands.
        arguments: words after the name; those of this process if left out.
        name: as usage shows it; that of this process if left out.
    """
    try:
        print_all_characters()
        try:
            app(arguments, prog_name=name)
        finally:
            _flush()  # the interpreter's own flush at exit could not report an error
    except InputError as error:
        _fail(f"error: {error}", 2)
    except MemoryError:
        _fail("error: not enough memory for what is asked", 2)
    except (Interruption, KeyboardInterrupt):
        _fail("interrupted; nothing was written", 130)
    except BrokenPipeError:
        _fail("", 141)
    except OSError as error:
        _fail(f"error: {told(error)}", 2)


def _flush() -> None:
    print(end="", flush=True)


def _fail(message: str, code: int) -> None:
    """Print a message, if any, and exit; output that standard output refuses is dropped."""
    if message:
        _complain(message)
    try:
        _flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _complain(message: str) -> None:
    """Print to standard error, or to standard output if standard error is on a full disk."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        print(message)


class Command(TyperCommand):
    """A command that says in one line what it could not write or import, and mends the compile
    cache."""

    def invoke(self, ctx):
        try:
            return self._invoke(ctx)
        except BrokenPipeError:
            raise
        except KeyboardInterrupt:
            raise Interruption from None
        except OSError as error:
            if _is_of_the_compile_cache(error):
                raise InputError(_cache_refused(error)) from None
            # An error of writing, unlike one of opening, does not know its file.
            out = ctx.params.get("out") or ctx.params.get("svg")
            raise InputError(told(error, f"{out}: not written" if out else "output")) from None
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("bestarm"):
                raise
            raise not_installed(error.name or "") from None

    def _invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except (EOFError, UnpicklingError):  # Numba takes what it finds in the cache
            _empty_compile_cache()
            return super().invoke(ctx)


class PaperCommand(Command):
    """A command that takes options it does not know, `--name value` or `--name=value`, for the
    paper of an instance to read (`PAPER_OPTIONS`)."""

    def parse_args(self, ctx, args):
        declared = {name for parameter in self.params for name in (*parameter.opts, "--help")}
        options, rest, words = {}, [], iter(args)
        for word in words:
            name, equals, value = word.partition("=")
            if not name.startswith("--") or name in ("--", *declared):
                rest.append(word)
                if name in declared and not equals:  # its value may begin with a dash
                    rest.extend(w for w in [next(words, None)] if w is not None)
                continue
            value = value if equals else next(words, None)
            if value is None:
                raise InputError(f"{name}: needs a value")
            options[name[2:].replace("-", "_")] = value
        ctx.meta[PAPER_OPTIONS] = options
        return super().parse_args(ctx, rest)


def paper_options(context) -> dict[str, str]:
    """The options that a command did not know itself, by name."""
    return context.meta[PAPER_OPTIONS]


def _is_of_the_compile_cache(error: OSError) -> bool:
    """Whether Numba met an error when it kept or read a compiled kernel."""
    frames = traceback.extract_tb(error.__traceback__)
    return any(Path(frame.filename).parts[-3:] == CACHING for frame in frames)


def _cache_refused(error: OSError) -> str:
    from bestarm.core.cache import cache_base

    why = os.strerror(error.errno) if error.errno else str(error)
    return (
        f"{cache_base()}: compiled kernels cannot be kept: {why}; make room there, or set "
        "NUMBA_CACHE_DIR to another folder"
    )


def _empty_compile_cache() -> None:
    from bestarm.core import compile as compiling

    folder = compiling.cache_folder().parent
    print(f"{folder}: has a damaged file, so all is compiled again", file=sys.stderr)
    for folder in compiling.cache_folders():
        for file in folder.rglob("*.nb[ic]"):
            file.unlink(missing_ok=True)
