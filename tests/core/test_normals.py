"""Blocks of normals: numpy's own, to the last bit, and the generator goes on behind them."""

from contextlib import nullcontext

import numpy as np
import pytest

from bestarm.core.compile import jit
from bestarm.core.noise import DisturbedGenerator
from bestarm.core.normals import _SCALES, BLOCK, in_blocks, peek, spend, upcoming

#: Beyond it lies the tail, of which one normal in 3900 is.
TAIL = 3.6541528853610088


@jit
def drawn(environment, n):
    """The next n normals, in turn."""
    found = np.empty(n)
    for i in range(n):
        found[i] = environment.standard_normal()
    return found


def test_they_are_numpys_with_tails_and_all_layers():
    seen, layers = 0, np.zeros(256, np.bool_)
    for seed in range(20):
        wanted = np.random.default_rng(seed).standard_normal(200_000)
        with in_blocks(np.random.default_rng(seed)) as normals:
            found = drawn(normals, wanted.size)
        np.testing.assert_array_equal(found.view(np.uint64), wanted.view(np.uint64))
        seen += np.count_nonzero(np.abs(found) > TAIL)
        layers[np.random.default_rng(seed).integers(0, 2**64, 20_000, np.uint64) & 255] = True
    assert seen > 800
    assert layers.all()


@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 100_003])
def test_the_generator_goes_on_after_the_last_one(n):
    one, other = np.random.default_rng(n), np.random.default_rng(n)
    one.integers(0, 9, dtype=np.int32)  # leaves half of 64 bits for later
    other.integers(0, 9, dtype=np.int32)
    wanted = one.standard_normal(n)
    with in_blocks(other) as normals:
        found = np.append(drawn(normals, n // 3), drawn(normals, n - n // 3))
    np.testing.assert_array_equal(found, wanted)
    assert other.bit_generator.state == one.bit_generator.state


@jit
def taken(environment, sizes, spare):
    """The next normals, as many at a time as `sizes` says, of those that are ready."""
    found = np.empty(sizes.sum())
    n = 0
    for size in sizes:
        first, end = upcoming(environment, spare)
        used = 0
        for i in range(first, min(end, first + size)):
            found[n] = peek(environment, spare, i)
            n += 1
            used += 1
        spend(environment, used)
    return found[:n]


@pytest.mark.parametrize("blocks", [True, False])
def test_several_at_once_are_those_one_by_one(blocks):
    """Those that are not used come again."""
    sizes = np.random.default_rng(0).integers(1, BLOCK + 9, 50)
    one, other = np.random.default_rng(7), np.random.default_rng(7)
    with in_blocks(other) if blocks else nullcontext(other) as normals:
        found = np.append(taken(normals, sizes, np.empty(1)), drawn(normals, 3))
    assert (found.size > 10 * BLOCK) if blocks else (found.size == sizes.size + 3)
    np.testing.assert_array_equal(found, one.standard_normal(found.size))
    assert other.bit_generator.state == one.bit_generator.state


def test_only_compiled_code_takes_several_at_once():
    for call in (upcoming, peek, spend):
        with pytest.raises(NotImplementedError, match="compiled code"):
            call(*[None] * call.__code__.co_argcount)


def test_the_generator_goes_on_after_an_error():
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    with pytest.raises(ZeroDivisionError), in_blocks(other) as normals:
        drawn(normals, 7)
        raise ZeroDivisionError
    one.standard_normal(7)
    assert other.random() == one.random()


def test_zero_has_a_sign():
    """As of numpy's `-x`; no test would live to draw one."""
    assert np.signbit(0 * _SCALES[256:]).all()
    assert not np.signbit(0 * _SCALES[:256]).any()


@pytest.mark.parametrize("other", [np.random.Philox(3), np.random.PCG64DXSM(3)])
def test_other_generators_stand_for_themselves(other):
    generator = np.random.Generator(other)
    with in_blocks(generator) as normals:
        assert normals is generator
    disturbed = DisturbedGenerator(generator, np.zeros(1))
    with in_blocks(disturbed) as normals:
        assert normals is disturbed
