"""Standard normals of numpy's PCG64, to the last bit, in blocks that cost less than one by one.

A Generator in compiled code calls numpy's C code for every 64 bits. Here PCG64 (O'Neill 2014) is
compiled too, and its state stays in registers while a block of normals is made.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload, overload_method
from numba.np.random._constants import ki_double, wi_double
from numba.np.random.distributions import random_standard_normal
from numba.np.random.generator_core import next_double, next_uint64

from bestarm.core.compile import inlined, lean
from bestarm.core.streams import MULTIPLIER

#: Normals made at a time.
BLOCK = 512
#: Of the ziggurat's layers, for positive and negative numbers.
_SCALES = np.concatenate([wi_double, -wi_double])
_WORD = (1 << 64) - 1


class State(NamedTuple):
    """PCG64: two numbers of 128 bits, as high and low words."""

    words: np.ndarray  # (4,) uint64: the state, which changes, and the increment


class Normals(NamedTuple):
    """A stand-in for a Generator, of which only standard normals are drawn; see `in_blocks`."""

    state: State  # after the block
    before: State  # before the block
    block: np.ndarray  # (BLOCK,)
    used: np.ndarray  # (1,) how many of the block are drawn


@contextmanager
def in_blocks(generator: Any) -> Iterator[Any]:
    """What draws a generator's standard normals for compiled code, and nothing else.

    When the context ends, the generator goes on after the last normal that was drawn. Any but a
    Generator with PCG64, such as a `DisturbedGenerator`, stands for itself.

    Example:
        >>> generator = np.random.default_rng(1)
        >>> with in_blocks(generator) as normals:
        ...     first = next_normal(normals)
        >>> rng = np.random.default_rng(1)
        >>> rng.standard_normal(2).tolist() == [first, generator.standard_normal()]
        True
    """
    bits = generator.bit_generator
    if not isinstance(bits, np.random.PCG64):
        yield generator
        return
    state = bits.state
    numbers = state["state"]["state"], state["state"]["inc"]
    words = np.array([part for n in numbers for part in (n >> 64, n & _WORD)], np.uint64)
    normals = Normals(State(words), State(words.copy()), np.empty(BLOCK), np.array([BLOCK]))
    try:
        yield normals
    finally:
        if normals.used[0] < BLOCK:
            words[:] = normals.before.words
            fill(normals.state, normals.block[: normals.used[0]])
        state["state"]["state"] = int(words[0]) << 64 | int(words[1])
        bits.state = state


@intrinsic
def _advanced(_, high, low, step_high, step_low):
    """The next state of PCG64, as (high, low): LLVM multiplies 128 bits, Numba has but 64."""

    def generate(context, builder, signature, args):
        wide = ir.IntType(128)
        parts = [builder.zext(word, wide) for word in args]
        state, step = (builder.or_(builder.shl(parts[i], wide(64)), parts[i + 1]) for i in (0, 2))
        state = builder.add(builder.mul(state, wide(MULTIPLIER)), step)
        ends = builder.lshr(state, wide(64)), state
        words = [builder.trunc(end, ir.IntType(64)) for end in ends]
        return context.make_tuple(builder, signature.return_type, words)

    return types.UniTuple(types.uint64, 2)(*[types.uint64] * 4), generate


@inlined
def _output(high: np.uint64, low: np.uint64) -> np.uint64:
    """The 64 bits that PCG64 makes of a state: its halves xored, rotated by its upper 6 bits."""
    mixed, turn = high ^ low, high >> np.uint64(58)
    return (mixed >> turn) | (mixed << (-turn & np.uint64(63)))


@lean
def next_bits(state: State) -> np.uint64:
    """PCG64's next 64 bits."""
    words = state.words
    words[0], words[1] = _advanced(words[0], words[1], words[2], words[3])  # pyright: ignore[reportCallIssue]
    return _output(words[0], words[1])


# What Numba's own `random_standard_normal` draws from.
@overload(next_uint64)
def _next_uint64(bitgen):
    if getattr(bitgen, "instance_class", None) is State:
        return lambda bitgen: next_bits(bitgen)
    return None


@overload(next_double)
def _next_double(bitgen):
    if getattr(bitgen, "instance_class", None) is State:
        return lambda bitgen: (next_bits(bitgen) >> np.uint64(11)) * 2.0**-53
    return None


@lean
def _any_normal(state: State) -> float:
    return random_standard_normal(state)


@lean
def fill(state: State, out: np.ndarray) -> None:
    """Fill (n,) `out` with the next standard normals.

    Of the ziggurat's 256 layers and signs, 99% of all numbers need but one of PCG64's and a
    comparison; what is left is Numba's.
    """
    words = state.words
    high, low, step_high, step_low = words[0], words[1], words[2], words[3]
    for i in range(out.size):
        next_high, next_low = _advanced(high, low, step_high, step_low)  # pyright: ignore[reportCallIssue]
        bits = _output(next_high, next_low)
        place = (bits >> np.uint64(9)) & np.uint64(2**52 - 1)
        if place < ki_double[bits & np.uint64(255)]:
            out[i] = np.int64(place) * _SCALES[bits & np.uint64(511)]
            high, low = next_high, next_low
        else:
            words[0], words[1] = high, low
            out[i] = _any_normal(state)
            high, low = words[0], words[1]
    words[0], words[1] = high, low


@lean
def refill(normals: Normals) -> None:
    """Make the next block."""
    before, words = normals.before.words, normals.state.words
    before[0], before[1] = words[0], words[1]
    fill(normals.state, normals.block)
    normals.used[0] = 0


@inlined
def next_normal(normals: Normals) -> float:
    """The next standard normal."""
    if normals.used[0] == normals.block.size:
        refill(normals)
    normals.used[0] += 1
    return normals.block[normals.used[0] - 1]  # pyright: ignore[reportReturnType]


#: What stands in for a Generator in compiled code, and how it gives its next standard normal.
#: Numba looks at one definition of a method of named tuples, and at no other.
STAND_INS: dict[type, Callable[[Any], float]] = {Normals: next_normal}


@overload_method(types.NamedTuple, "standard_normal", inline="always")
def _standard_normal(self):
    draw = STAND_INS.get(self.instance_class)
    return draw and (lambda self: draw(self))


def upcoming(source: Any, spare: np.ndarray) -> tuple[int, int]:
    """Indices (first, end) of the next standard normals of a source, at least one of them.

    Compiled code reads them with `peek(source, spare, i)`, first <= i < end, and then calls `spend`
    with the number that it used; the next call returns the rest again. This costs less than drawing
    one by one. A source that is not `Normals` gives a single one, which must be used.

    Args:
        source: `Normals`, a Generator, or what stands in for one.
        spare: (1,) buffer.
    """
    raise NotImplementedError("for compiled code")


def peek(source: Any, spare: np.ndarray, i: int) -> float:
    """One of the `upcoming` normals."""
    raise NotImplementedError("for compiled code")


def spend(source: Any, n: int) -> None:
    """Mark the first n of the `upcoming` normals as used."""
    raise NotImplementedError("for compiled code")


def _is_block(source: types.Type) -> bool:
    return getattr(source, "instance_class", None) is Normals


@overload(upcoming, inline="always")
def _upcoming(source, spare):
    def of_block(source, spare):
        if source.used[0] == source.block.size:
            refill(source)
        return source.used[0], source.block.size

    def single_draw(source, spare):
        spare[0] = source.standard_normal()
        return 0, 1

    return of_block if _is_block(source) else single_draw


@overload(peek, inline="always")
def _peek(source, spare, i):
    if _is_block(source):
        return lambda source, spare, i: source.block[i]
    return lambda source, spare, i: spare[i]


@overload(spend, inline="always")
def _spend(source, n):
    def of_block(source, n):
        source.used[0] += n

    return of_block if _is_block(source) else lambda source, n: None
