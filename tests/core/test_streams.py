"""Streams: the same name gives the same numbers, any other name gives others."""

import itertools

import numpy as np
from scipy import stats

from bestarm.core.streams import replication_streams, stream_key

NAME = (1, "baics", "example1", "example1", "delta=0.1")


def draws(key, replication):
    return np.array([g.standard_normal(4) for g in replication_streams(key, replication)])


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
