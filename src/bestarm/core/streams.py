"""Random streams: every replication has its own, derived from what it simulates."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

import numpy as np

#: Replications whose seeds are made together.
BLOCK = 256
#: 64-bit words that seed a PCG64.
WORDS = 4
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_MASK = (1 << 128) - 1


class _SeededGenerator:
    """A generator that is reseeded for every replication.

    Most of the cost of a new PCG64 that compiled code can use does not depend on the seed; setting
    the state of an existing one avoids it.
    """

    def __init__(self) -> None:
        self._bits = np.random.PCG64(0)
        self.generator = np.random.Generator(self._bits)

    def seed(self, words: np.ndarray) -> np.random.Generator:
        """Set the state PCG64 has for these four 64-bit words of a SeedSequence (O'Neill 2014)."""
        high, low, stream_high, stream_low = words.tolist()
        increment = ((stream_high << 64 | stream_low) << 1 | 1) & _MASK
        state = ((increment + (high << 64 | low)) * MULTIPLIER + increment) & _MASK
        self._bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": state, "inc": increment},
            "has_uint32": 0,
            "uinteger": 0,
        }
        return self.generator


def stream_key(seed: int, paper: str, experiment: str, instance: str, setting: str) -> int:
    """A 128-bit key of the streams of one instance and setting of an experiment.

    Example:
        >>> stream_key(1, "baics", "x", "easy", "") == stream_key(1, "baics", "x", "easy", "")
        True
    """
    name = json.dumps([seed, paper, experiment, instance, setting])
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:16])


class Streams:
    """The generators of one replication, seeded on first use.

    Example:
        >>> streams = run_streams(7, 0)
        >>> float(streams.environment.random()) == float(run_streams(7, 0).environment.random())
        True
        >>> float(streams.coins.random()) == float(run_streams(7, 1).coins.random())
        False
    """

    def __init__(
        self, words: np.ndarray, environment: _SeededGenerator, coins: _SeededGenerator
    ) -> None:
        self._words, self._environment, self._coins = words, environment, coins

    @cached_property
    def environment(self) -> np.random.Generator:
        """For rewards and delays; the same for every strategy."""
        return self._environment.seed(self._words[0])

    @cached_property
    def coins(self) -> np.random.Generator:
        """For the strategy's own randomness, such as ties and random subpopulations."""
        return self._coins.seed(self._words[1])


@lru_cache(maxsize=4)  # for single runs, one after the other
def _words(key: int, block: int) -> np.ndarray:
    """(BLOCK, 2, WORDS) words that seed the generators of a block's replications."""
    sequence = np.random.SeedSequence(key, spawn_key=(block,))
    words = sequence.generate_state(BLOCK * 2 * WORDS, np.uint64).reshape(BLOCK, 2, WORDS)
    words.flags.writeable = False
    return words


def replication_streams(key: int, replications: Iterable[int]) -> Iterator[Streams]:
    """The streams of some replications, independent of all other keys and replications.

    Numpy's SeedSequence of the key and the replication's block gives the words that seed every
    generator of the block. The generators are reused: each iteration reseeds the same objects, so
    finish with one replication before advancing to the next.

    Example:
        >>> first = [float(s.coins.random()) for s in replication_streams(7, range(3))]
        >>> first[2] == float(run_streams(7, 2).coins.random())
        True
    """
    current, words = -1, np.empty(0)
    environment, coins = _SeededGenerator(), _SeededGenerator()
    for replication in replications:
        block, place = divmod(replication, BLOCK)
        if block != current:
            current, words = block, _words(key, block)
        yield Streams(words[place], environment, coins)


def run_streams(key: int, replication: int) -> Streams:
    """The streams of one replication, with newly created generators.

    Example:
        >>> 0.0 <= run_streams(7, 0).environment.random() < 1.0
        True
    """
    return next(replication_streams(key, [replication]))
