"""The lower bound on rates as JSON that `check.py` verifies on its own."""

import json
import math

import numpy as np

from bestarm.baics.check import KIND, time_down
from bestarm.baics.problem import Instance, solve, true_answer
from bestarm.common.exact import exact, fields_sha256
from bestarm.core.inputs import InputError


def certificate(instance: Instance) -> str:
    """The bound E[tau] >= `time` kl(delta, 1 - delta) of an instance, with all its proof needs.

    Fields: the instance; `time`, a lower end of T*; and alternatives with their shares, in a
    mixture of which no rate is further than 1 / `time` nats away (rates_optimum.py).

    Raises:
        InputError: rewards are not 0 or 1, or there is no bound: T* is 0 or infinite.

    Example:
        >>> pages = {"means": [[0.3], [0.2]], "weights": [1], "constrained": 0}
        >>> instance = Instance(name="pages", rewards="bernoulli", **pages)
        >>> round(json.loads(certificate(instance))["time"], 1)
        149.9
    """
    if instance.rewards != "bernoulli":
        raise InputError("rewards: a certificate is only of rewards that are bernoulli")
    optimum = solve(instance)
    if not 0.0 < optimum.low < np.inf:
        raise InputError(f"means: there is no bound to certify, T* is {optimum.low:g}")
    answer = true_answer(instance) - 1 if true_answer(instance) else None
    others = [settled(other, answer, instance) for other in optimum.alternatives]
    time = time_down(*map(exact, (instance.means, optimum.shares, others)))
    data = {
        "paper": "baics",
        "kind": KIND,
        "arms": instance.arm_names,
        "subpopulations": instance.group_names,
        "means": instance.means,
        "weights": instance.weights,
        "minimum": instance.floor[: instance.n_constrained].tolist(),
        "time": math.nextafter(float(time), 0.0),
        "shares": optimum.shares.tolist(),
        "alternatives": others,
    }
    return json.dumps(data | {"sha256": fields_sha256(data)}, indent=1)


def settled(other: np.ndarray, answer: int | None, instance: Instance) -> list[list[float]]:
    """An alternative in which another arm is as good as the answer exactly, not but for rounding.

    Args:
        other: (K, L) rates.
        answer: the arm, or None.
        instance: where it is the answer.
    """
    floor, q = instance.floor[: instance.n_constrained], exact(instance.weights)
    feasible = np.all(other[:, : floor.size] >= floor, axis=1)
    if answer is None or (other[answer, : floor.size] <= floor).any():
        return other.tolist()
    feasible[answer] = False
    rival = max(np.flatnonzero(feasible), key=lambda k: other[k] @ instance.weights)
    near, step = other.copy(), 2.0**-54
    while (exact(near[rival]) - exact(near[answer])) @ q < 0:
        near[rival] = np.minimum(other[rival] + step, 1.0)
        step *= 2.0
    return near.tolist()
