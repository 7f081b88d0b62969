"""Routines of the BLAS and LAPACK that come with SciPy, called from kernels.

SciPy's SLSQP calls the same library. Its points depend on the order in which numbers are added, so
slsqp.py adds them there too. A matrix is stored by columns, as these routines want it: a[j, i] is
row i of column j.
"""

from typing import Any

import numpy as np
from llvmlite import binding
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

from bestarm.core.compile import jit

_POINTERS = {"c": types.uint8, "i": types.int32, "d": types.float64}
_L, _N, _R, _T, _U = (np.uint8(ord(letter)) for letter in "LNRTU")
_ONE = np.int32(1)


def _routine(library: str, name: str, arguments: str, result: Any = types.void) -> Any:
    """A routine by its name and its arguments: pointers to c(haracters), i(ntegers), d(oubles)."""
    address = get_cython_function_address(f"scipy.linalg.cython_{library}", name)
    binding.add_symbol(f"bestarm_{name}", address)
    pointers = [types.CPointer(_POINTERS[letter]) for letter in arguments]
    return types.ExternalFunction(f"bestarm_{name}", result(*pointers))


_daxpy = _routine("blas", "daxpy", "iddidi")
_dgemv = _routine("blas", "dgemv", "ciiddididdi")
_dnrm2 = _routine("blas", "dnrm2", "idi", types.float64)
_dtpmv = _routine("blas", "dtpmv", "ccciddi")
_dtpsv = _routine("blas", "dtpsv", "ccciddi")
_dtrsm = _routine("blas", "dtrsm", "cccciiddidi")
_dtrsv = _routine("blas", "dtrsv", "cccididi")
_dgeqr2 = _routine("lapack", "dgeqr2", "iididdi")
_dgerq2 = _routine("lapack", "dgerq2", "iididdi")
_dlarf = _routine("lapack", "dlarf", "ciididdid")
_dlarfgp = _routine("lapack", "dlarfgp", "iddid")
_dlartgp = _routine("lapack", "dlartgp", "ddddd")
_dorm2r = _routine("lapack", "dorm2r", "cciiididdidi")
_dormr2 = _routine("lapack", "dormr2", "cciiididdidi")


def _pointer(_, number):
    def generate(context, builder, signature, args):
        return cgutils.alloca_once_value(builder, args[0])

    return types.CPointer(number)(number), generate


#: A pointer to a copy of a number, since Fortran takes numbers by reference.
_at: Any = intrinsic(_pointer)


@jit
def norm(x):
    """||x|| of (n,)."""
    return _dnrm2(_at(np.int32(x.size)), x.ctypes, _at(_ONE))


@jit
def add(alpha, x, y):
    """y += alpha x, both (n,)."""
    step = _at(_ONE)
    _daxpy(_at(np.int32(x.size)), _at(alpha), x.ctypes, step, y.ctypes, step)


@jit
def _gemv(letter, alpha, a, x, beta, y):
    n, m = np.int32(a.shape[0]), np.int32(a.shape[1])
    step = _at(_ONE)
    _dgemv(
        _at(letter), _at(m), _at(n), _at(alpha), a.ctypes, _at(m), x.ctypes, step, _at(beta),
        y.ctypes, step,
    )  # fmt: skip


@jit
def multiply(alpha, a, x, beta, y):
    """y = alpha A x + beta y for A of m rows; a (n, m), x (n,), y (m,)."""
    _gemv(_N, alpha, a, x, beta, y)


@jit
def multiply_transposed(alpha, a, x, beta, y):
    """y = alpha A^T x + beta y for A of m rows; a (n, m), x (m,), y (n,)."""
    _gemv(_T, alpha, a, x, beta, y)


@jit
def multiply_packed(factor, x, transposed):
    """x = L x or L^T x; L has a unit diagonal, and its lower columns stand in `factor`."""
    letter = _T if transposed else _N
    n = np.int32(x.size)
    _dtpmv(_at(_L), _at(letter), _at(_U), _at(n), factor.ctypes, x.ctypes, _at(_ONE))


@jit
def solve_packed(factor, x):
    """x = L^-1 x; L as in `multiply_packed`."""
    n = np.int32(x.size)
    _dtpsv(_at(_L), _at(_N), _at(_U), _at(n), factor.ctypes, x.ctypes, _at(_ONE))


@jit
def solve_upper(r, x, transposed):
    """x = R^-1 x or R^-T x; R is the upper triangle in the first n rows of r (n, m), x (n,)."""
    letter, n, m = _T if transposed else _N, np.int32(x.size), np.int32(r.shape[1])
    _dtrsv(_at(_U), _at(letter), _at(_N), _at(n), r.ctypes, _at(m), x.ctypes, _at(_ONE))


@jit
def divide_upper(g, r):
    """G = G R^-1, for g (n, rows of G) and R as in `solve_upper`."""
    rows, n, m = np.int32(g.shape[1]), np.int32(g.shape[0]), np.int32(r.shape[1])
    _dtrsm(
        _at(_R), _at(_U), _at(_N), _at(_N), _at(rows), _at(n), _at(1.0), r.ctypes, _at(m),
        g.ctypes, _at(rows),
    )  # fmt: skip


@jit
def qr(a):
    """A = Q R in place, a (n, m); returns the factors of the reflections that make up Q."""
    n, m = np.int32(a.shape[0]), np.int32(a.shape[1])
    factors, work = np.empty(min(n, m)), np.empty(n)
    _dgeqr2(_at(m), _at(n), a.ctypes, _at(m), factors.ctypes, work.ctypes, _at(_ONE))
    return factors


@jit
def turn_by_qr(a, factors, x):
    """x = Q^T x, (m,), for a and factors of `qr`."""
    m, k = np.int32(x.size), np.int32(factors.size)
    work = np.empty(1)
    _dorm2r(
        _at(_L), _at(_T), _at(m), _at(_ONE), _at(k), a.ctypes, _at(m), factors.ctypes, x.ctypes,
        _at(m), work.ctypes, _at(_ONE),
    )  # fmt: skip


@jit
def rq(e):
    """E = [0 R] Q in place, e (n, m) with m <= n; returns the factors of Q's reflections."""
    n, m = np.int32(e.shape[0]), np.int32(e.shape[1])
    factors, work = np.empty(m), np.empty(m)
    _dgerq2(_at(m), _at(n), e.ctypes, _at(m), factors.ctypes, work.ctypes, _at(_ONE))
    return factors


@jit
def _apply_rq(side, rows, columns, e, factors, a, work):
    k = np.int32(factors.size)
    rows, columns = np.int32(rows), np.int32(columns)
    _dormr2(
        _at(side), _at(_T), _at(rows), _at(columns), _at(k), e.ctypes, _at(k), factors.ctypes,
        a.ctypes, _at(rows), work.ctypes, _at(_ONE),
    )  # fmt: skip


@jit
def turn_rows_by_rq(e, factors, a):
    """A = A Q^T, a (n, rows of A), for e and factors of `rq`."""
    _apply_rq(_R, a.shape[1], a.shape[0], e, factors, a, np.empty(a.shape[1]))


@jit
def turn_by_rq(e, factors, x):
    """x = Q^T x, (n,), for e and factors of `rq`."""
    _apply_rq(_L, x.size, 1, e, factors, x, np.empty(1))


@jit
def reflection(x, made):
    """A reflection H = I - f v v^T that maps x to (p, 0, ...), p >= 0, with v = (1, ...).

    x (n,) keeps its first entry, and takes v's others; made[:2] = p, f.
    """
    made[0] = x[0]
    n = np.int32(x.size)
    _dlarfgp(_at(n), made.ctypes, x[1:].ctypes, _at(_ONE), made[1:].ctypes)


@jit
def reflect(v, factor, x, work):
    """x = x - factor v v^T x, both (n,)."""
    n, step = np.int32(x.size), _at(_ONE)
    _dlarf(
        _at(_L), _at(n), step, v.ctypes, step, _at(factor), x.ctypes, _at(n), work.ctypes
    )  # fmt: skip


@jit
def rotation(f, g, made):
    """A rotation that maps (f, g) to (r, 0), r >= 0: made[:3] = cosine, sine, r."""
    _dlartgp(_at(f), _at(g), made.ctypes, made[1:].ctypes, made[2:].ctypes)
