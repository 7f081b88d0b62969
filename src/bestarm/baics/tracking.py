"""Eq. (12): pulls of T-a-SCS against the sum of the weights that they track."""

import numpy as np

from bestarm.baics.problem import Instance
from bestarm.baics.steps import Rules, choose_ta_scs, observe, start_pairs
from bestarm.baics.strategies import Options, Reading, make_rules
from bestarm.core.compile import jit
from bestarm.core.streams import run_streams, stream_key

#: Number of runs, and pulls per run; they do not stop.
TRACKED_RUNS, PULLS = 400, 5000


@jit
def follow(truth: np.ndarray, rules: Rules, cap: int, environment, coins) -> float:
    """The largest max_kl |N_kl(t) - sum_{s<t} w_kl(s)| / (K L (1 + sqrt t)) of a run up to its cap.

    The initial draws count as the weights of their rounds, 1 / (K L) each.
    """
    state = start_pairs(rules)
    weights = np.zeros(truth.size)
    worst = 0.0
    while state.clock[0] < cap:
        pair = choose_ta_scs(rules, state, coins)
        if state.target.sum() > 0.0:  # there is none in the initial draws
            weights += state.target
        else:
            weights += 1.0 / truth.size
        observe(rules, state, pair, truth.flat[pair] + environment.standard_normal())
        bound = truth.size * (1.0 + np.sqrt(state.clock[0]))
        for i in range(truth.size):
            worst = max(worst, abs(state.pulls.flat[i] - weights[i]) / bound)
    return worst


def tracking_errors(instance: Instance) -> np.ndarray:
    """(TRACKED_RUNS,) what `follow` gives, each run on a stream of its own."""
    means = instance.standard_means
    rules = make_rules(len(means), instance.problem, 0.1, Reading(), Options())
    key = stream_key(0, "baics", "tracking", instance.name, "")
    errors = []
    for run in range(TRACKED_RUNS):
        streams = run_streams(key, run)
        errors.append(follow(means, rules, PULLS, streams.environment, streams.coins))
    return np.array(errors)
