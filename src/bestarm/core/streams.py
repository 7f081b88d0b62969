"""Random streams: every replication owns its own, named by what it simulates."""

import hashlib
import json
from typing import NamedTuple

import numpy as np


class Streams(NamedTuple):
    """The generators of one replication."""

    environment: np.random.Generator  # rewards, delays: the same for every strategy
    coins: np.random.Generator  # the strategy's own: ties, random subpopulations


def stream_key(seed: int, paper: str, experiment: str, instance: str, setting: str) -> int:
    """A 128-bit number naming the streams of one instance and setting of an experiment."""
    name = json.dumps([seed, paper, experiment, instance, setting])
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:16])


def replication_streams(key: int, replication: int) -> Streams:
    """The streams of one replication, independent of every other key and replication."""
    return Streams(
        *(
            np.random.Generator(
                np.random.PCG64(np.random.SeedSequence(key, spawn_key=(replication, purpose)))
            )
            for purpose in range(2)
        )
    )
