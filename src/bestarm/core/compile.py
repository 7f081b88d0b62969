"""The one place where compile options and the compile cache are chosen.

Numba keys a cached function by the file that defines it, so an edit to a callee or a
constant in another file would silently run the old machine code. The cache folder is
therefore named by a hash of every source that may hold a kernel: an edit to any of them
starts an empty folder, while plots, tables and the command line can change without
compiling again.
"""

import hashlib
import os
import tempfile
from pathlib import Path

import numba
import platformdirs

PACKAGE = Path(__file__).parents[1]


def kernel_sources() -> list[Path]:
    """Every source file that may define or feed a compiled function, sorted.

    Those are `core/` and all that import from this module; a test asserts that these take nothing
    from other files that could end up in compiled code.
    """
    marker = b"from bestarm.core.compile import"
    sources = sorted(PACKAGE.rglob("*.py"))
    return [s for s in sources if s.parent.name == "core" or marker in s.read_bytes()]


def cache_folder() -> Path:
    """Where compiled kernels are kept: NUMBA_CACHE_DIR or the user's cache, then the hash.

    Falls back to the temporary folder when that place cannot be written.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for source in kernel_sources():
        digest.update(source.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    base = os.environ.get("NUMBA_CACHE_DIR") or platformdirs.user_cache_dir("bestarm")
    try:
        (folder := Path(base) / name).mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.gettempdir()) / f"bestarm-{os.getuid()}" / name


numba.config.CACHE_DIR = str(cache_folder())

#: Compile a step of a few lines into its callers. Passing a state of ten arrays to a compiled
#: function means counting references to all of them, which a loop that takes several steps a pull
#: would notice.
inlined = numba.njit(cache=True, error_model="numpy", nogil=True, inline="always")

#: Compile a kernel. Division by zero gives inf or nan as in numpy; the lock is released.
jit = numba.njit(cache=True, error_model="numpy", nogil=True)
