"""Streams: the same name gives the same numbers, any other name gives others."""

import itertools

import numpy as np
from scipy import stats

from bestarm.core.streams import BLOCK, WORDS, replication_streams, run_streams, stream_key

NAME = (1, "baics", "example1", "example1", "delta=0.1")


def firsts_of(streams):
    """Draws of both generators; the last takes half of a random word and leaves the other half."""
    generators = streams.environment, streams.coins
    return np.array([[*g.standard_normal(3), g.integers(2**31)] for g in generators])


def draws(key, replication):
    return firsts_of(run_streams(key, replication))


def test_same_name_same_numbers():
    np.testing.assert_array_equal(draws(stream_key(*NAME), 3), draws(stream_key(*NAME), 3))


def test_any_part_of_the_name_matters():
    names = [NAME, (2, *NAME[1:])]
    names += [(*NAME[:i], NAME[i] + "x", *NAME[i + 1 :]) for i in range(1, 5)]
    seen = [draws(stream_key(*name), r).ravel() for name in names for r in range(3)]
    for one, other in itertools.combinations(seen, 2):
        assert not np.isin(one, other).any()


def test_parts_of_a_name_do_not_run_together():
    assert stream_key(1, "ab", "c", "d", "e") != stream_key(1, "a", "bc", "d", "e")


def test_environment_and_coins_are_independent():
    pairs = np.array([draws(stream_key(*NAME), r)[:, 0] for r in range(2000)])
    # correlation of independent normals, at a false-alarm rate of 1e-6
    assert abs(stats.pearsonr(*pairs.T).statistic) < stats.norm.isf(5e-7) / np.sqrt(2000)


def test_order_and_company_do_not_matter():
    """Any replications, in any order, across blocks: each has its own numbers."""
    wanted = [0, 5, BLOCK + 1, 4, 3 * BLOCK, 5]
    for replication, streams in zip(wanted, replication_streams(7, wanted), strict=True):
        np.testing.assert_array_equal(firsts_of(streams), draws(7, replication))


def test_generators_are_numpys_own():
    """Seeded with the words of the block's SeedSequence as numpy's PCG64 seeds itself."""

    class Words(np.random.bit_generator.ISeedSequence):
        def __init__(self, words):
            self.words = words

        def generate_state(self, n_words, dtype=np.uint32):
            assert (n_words, dtype) == (WORDS, np.uint64)
            return self.words

    sequence = np.random.SeedSequence(7, spawn_key=(2,))
    words = sequence.generate_state(BLOCK * 2 * WORDS, np.uint64).reshape(BLOCK, 2, WORDS)
    for place in (0, 1, 100, BLOCK - 1):
        streams = run_streams(7, 2 * BLOCK + place)
        for purpose, found in enumerate([streams.environment, streams.coins]):
            plain = np.random.Generator(np.random.PCG64(Words(words[place, purpose])))
            np.testing.assert_array_equal(found.random(5), plain.random(5))
            assert found.integers(9) == plain.integers(9)


def test_replications_are_independent():
    """Means of replications' first draws, over blocks, are standard normal together."""
    firsts = [s.environment.standard_normal() for s in replication_streams(3, range(4 * BLOCK))]
    assert stats.kstest(firsts, "norm").pvalue > 1e-6
    lagged = stats.pearsonr(firsts[1:], firsts[:-1]).statistic
    assert abs(lagged) < stats.norm.isf(5e-7) / np.sqrt(4 * BLOCK - 1)
