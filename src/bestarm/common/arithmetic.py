"""Environment variables that make floating-point results byte-identical across processors.

The order in which OpenBLAS adds depends on its number of threads and on the kernels that it picks
for the processor; a strategy that rounds a design may then pull differently. The last bit of
numpy's logarithms depends on the processor too, and with it the sixth digit of a coordinate in a
figure. Snakemake and `make verify` run every job with one thread (OMP_NUM_THREADS) and with the
arithmetic of processors with AVX2, that is, x86-64 since 2013.
"""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from bestarm.common.environment import environment
from bestarm.core.inputs import InputError

#: OpenBLAS's kernels for processors with AVX2.
KERNELS = "Haswell"
#: CPU features that numpy must not use: names or prefixes of names.
BEYOND_AVX2 = ("X86_V4", "AVX512")
NUMPY_SWITCH = "NPY_DISABLE_CPU_FEATURES"
THREADS = "OMP_NUM_THREADS"
#: What this process was started with; numpy reads it once.
AT_START = {name: os.environ.get(name) for name in (THREADS, "OPENBLAS_CORETYPE", NUMPY_SWITCH)}


def same_kernels() -> dict[str, str]:
    """Environment variables that select this arithmetic in a process started with them."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return {}
    features = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    off = os.environ.get(NUMPY_SWITCH, "").split()
    off += [feature for feature in features if feature.startswith(BEYOND_AVX2)]
    return {"OPENBLAS_CORETYPE": KERNELS} | ({NUMPY_SWITCH: " ".join(off)} if off else {})


@contextmanager
def same_bits() -> Iterator[None]:
    """Within the block, new processes compute with one thread and this arithmetic."""
    with environment(**{THREADS: "1"}, **same_kernels()):
        yield


def require_same_bits() -> None:
    """Raise InputError unless this process was started with one thread and this arithmetic."""
    for name, needed in {THREADS: "1", **same_kernels()}.items():
        if AT_START.get(name) != needed:
            raise InputError(
                f"{name} must be {needed} when the process starts, got {AT_START.get(name)}: "
                "another arithmetic gives other runs"
            )
