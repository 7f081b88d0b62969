"""The one place where compile options and the compile cache are chosen.

Numba keys a cached function by the file that defines it, so an edit to a callee or a
constant in another file would silently run the old machine code. A cache folder is
therefore named by a hash of every source that its kernels may depend on: an edit to any of
them starts an empty folder, while plots, tables and the command line can change without
compiling again. Kernels of a paper depend on that paper and on what all papers share. Those
outside of papers are compiled for the types of any paper, so they depend on all.
Copies of the project with the same kernels share them.
"""

import hashlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import UserProvidedCacheLocator

from bestarm.core.cache import cache_base, private_folder

PACKAGE = Path(__file__).parents[1]


def kernel_sources(paper: str | None = None) -> list[Path]:
    """Every source file that may define or feed a compiled function (of a paper), sorted.

    Those are `core/` and all that import from this module; a test asserts that these take nothing
    from other files that could end up in compiled code.
    """
    marker = b"from bestarm.core.compile import"
    sources = sorted(PACKAGE.rglob("*.py"))
    feeding = [s for s in sources if s.parent.name == "core" or marker in s.read_bytes()]
    return [s for s in feeding if paper is None or source_paper(s) in (paper, None)]


def source_paper(source: Path) -> str | None:
    """The paper whose folder a file is in, if any."""
    if not source.is_relative_to(PACKAGE):
        return None
    room = source.relative_to(PACKAGE).parts[0]
    return room if (PACKAGE / room / "strategies.py").is_file() else None


@cache
def cache_folder(paper: str | None = None) -> Path:
    """The folder of compiled kernels (of a paper) in `cache_base`, named by a hash."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in kernel_sources(paper):
        digest.update(source.read_bytes())
    return private_folder(cache_base(), f"kernels-{digest.hexdigest()[:16]}")


def cache_folders() -> set[Path]:
    """Those of all papers and the one of what they share."""
    return {cache_folder(source_paper(source)) for source in kernel_sources()}


class Locator(UserProvidedCacheLocator):
    """Keys kernels by their module's path in the package, so that copies of the project share them.

    The hash of the sources they depend on is already in the name of the cache folder.
    """

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        module = sys.modules.get(py_func.__module__)  # may not be the one whose lines these are
        paper = source_paper(Path(getattr(module, "__file__", None) or py_file))
        self._cache_path = str(cache_folder(paper) / self.get_suitable_cache_subpath(py_file))

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        folder = Path(py_file).resolve().parent
        if folder.is_relative_to(PACKAGE):
            return ".".join(folder.relative_to(PACKAGE.parent).parts)
        return super().get_suitable_cache_subpath(py_file)


LOCATORS = f"{__name__}.Locator,InTreeCacheLocator,UserWideCacheLocator,IPythonCacheLocator"
for name, value in {"CACHE_DIR": str(cache_folder()), "CACHE_LOCATOR_CLASSES": LOCATORS}.items():
    setattr(config, name, value)

#: Division by zero gives inf or nan as in numpy; the GIL is released.
OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "nogil": True}
#: With and without Numba's reference counting of arrays (the Numba runtime, NRT).
COUNTING: dict[str, Any] = OPTIONS | {"_nrt": True}
BARE: dict[str, Any] = OPTIONS | {"_nrt": False}

#: Inline a step of a few lines into its callers. Passing a state of ten arrays to a compiled
#: function counts references to all of them, which is a noticeable cost in a loop that takes
#: several steps per pull.
inlined = numba.njit(**OPTIONS, inline="always")

#: Compile a kernel.
jit = numba.njit(**COUNTING)

#: Compile a kernel that allocates no arrays, without counting references to its arguments. Counting
#: is one atomic operation per array and call, and took almost half of the time of a loop that
#: passes small arrays around. Such a kernel may call one that allocates, but must not keep the
#: result.
lean = numba.njit(**BARE)
