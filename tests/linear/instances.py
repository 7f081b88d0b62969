"""Random instances, as the tests need them."""

import math
from typing import NamedTuple

import numpy as np

from bestarm.linear.confidence import Width
from bestarm.linear.problem import Instance


class Arms(NamedTuple):
    """Arms and what they give, in units of the noise."""

    arms: np.ndarray
    theta: np.ndarray
    means: np.ndarray


def drawn(seed: int, d: int, n_arms: int, strength: float = 2.0) -> Arms:
    """Arms of lengths from 1/2 to 1, and a theta of the given norm."""
    rng = np.random.default_rng([seed, d, n_arms])
    arms, theta = rng.normal(size=(n_arms, d)), rng.normal(size=d)
    arms *= rng.uniform(0.5, 1.0, (n_arms, 1)) / np.linalg.norm(arms, axis=1, keepdims=True)
    theta *= strength / np.linalg.norm(theta)
    return Arms(arms, theta, arms @ theta)


def near_pair(omega: float, d: int = 2) -> Instance:
    """The paper's instance with another angle between the best arm and the next."""
    near = [math.cos(omega), math.sin(omega)] + [0.0] * (d - 2)
    return Instance(name="near", arms=[*np.eye(d).tolist(), near], theta=[2.0] + [0.0] * (d - 1))


def oracle_directions(arms: np.ndarray, means: np.ndarray) -> np.ndarray:
    """(x* - x) / Delta(x) of the other arms."""
    best = int(np.argmax(means))
    gaps = means[best] - np.delete(means, best)
    return (arms[best] - np.delete(arms, best, axis=0)) / gaps[:, None]


def pair_directions(arms: np.ndarray) -> np.ndarray:
    """x - x' of every two arms."""
    first, second = np.triu_indices(len(arms), 1)
    return arms[first] - arms[second]


#: Widths of both shapes: constant, and growing with n.
WIDTHS = {
    "constant": Width(scale=2.0, base=math.log(40.0)),
    "growing": Width(scale=1.0, base=math.log(40.0), growth=2.0, offset=0.0, slope=1.0),
    "biased": Width(scale=1.5, base=math.log(20.0), growth=1.0, slope=1.0, bias=0.5),
}
