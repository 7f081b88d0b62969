"""What makes the same program give the same bits on every processor of a kind.

The order in which OpenBLAS adds depends on its number of threads and on the kernels that it picks
for the processor; a strategy that rounds a design may then pull differently. Snakemake gives every
job one thread (OMP_NUM_THREADS), and so does `make verify`; both ask for the kernels below.
"""

import platform
from collections.abc import Iterator
from contextlib import contextmanager

from bestarm.pipeline.environment import environment

#: OpenBLAS's kernels for processors with AVX2, that is, x86-64 since 2013.
KERNELS = "Haswell"


def same_kernels() -> dict[str, str]:
    """Environment variables that choose the kernels, for processes started with them."""
    return {"OPENBLAS_CORETYPE": KERNELS} if platform.machine() in ("x86_64", "AMD64") else {}


@contextmanager
def same_bits() -> Iterator[None]:
    """Let processes that are started meanwhile compute with one thread and these kernels."""
    with environment(OMP_NUM_THREADS="1", **same_kernels()):
        yield
