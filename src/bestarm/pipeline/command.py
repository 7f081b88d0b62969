"""How every command meets two faults of a disk: it is full, or has cut a compiled kernel short."""

import os
import sys
from pickle import UnpicklingError

from typer.core import TyperCommand

from bestarm.core.inputs import InputError


def told(error: OSError, otherwise: str = "output") -> str:
    """What could not be read or written and why, in a line; `otherwise` if no file is named."""
    return f"{error.filename or otherwise}: {os.strerror(error.errno) if error.errno else error}"


class Command(TyperCommand):
    """A command that says in one line what it could not write, and mends the compile cache."""

    def invoke(self, ctx):
        try:
            return self._invoke(ctx)
        except BrokenPipeError:
            raise
        except OSError as error:
            # An error of writing, unlike one of opening, does not know its file.
            out = ctx.params.get("out") or ctx.params.get("svg")
            raise InputError(told(error, f"{out}: not written" if out else "output")) from None

    def _invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except (EOFError, UnpicklingError):  # Numba takes what it finds in the cache
            _empty_compile_cache()
            return super().invoke(ctx)


def _empty_compile_cache() -> None:
    from bestarm.core import compile as compiling

    folder = compiling.cache_folder()
    print(f"{folder}: has a damaged file, so all is compiled again", file=sys.stderr)
    for file in folder.rglob("*.nb[ic]"):
        file.unlink(missing_ok=True)
