"""How every command meets two faults of a disk: it is full, or has cut a compiled kernel short."""

import os
import sys
from pickle import UnpicklingError

from typer.core import TyperCommand

from bestarm.core.inputs import InputError


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
            what = error.filename or (f"{out}: not written" if out else "output")
            reason = os.strerror(error.errno) if error.errno else error
            raise InputError(f"{what}: {reason}") from None

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
