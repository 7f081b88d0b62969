"""What Certified certifies, as JSON that `lagex/check.py` verifies on its own."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from bestarm.common.exact import fields_sha256
from bestarm.lagex.certified.confidence import excess, norm
from bestarm.lagex.certified.pieces import WHOLE, Pieces, largest_shortfall
from bestarm.lagex.certified.state import POLICY, VERDICT, Rules, State


def certificate(
    state: State,
    rules: Rules,
    delta: float,
    arms: Sequence[str] = (),
    costs: Sequence[str] = (),
) -> str:
    """The answer of a run that has stopped, with all that its proof needs.

    Fields: `version` of these fields; `arms` and `costs`, the names; `policy`, its shares, or null
    if no policy is feasible; `margins`, by how much each limit and then the tolerance r are kept;
    `splits`, the pieces of the simplex (`pieces.py`), each a pair of corners and a share, or null
    if it is not split; the sums of what was observed, by arm; and the parameters that were fixed
    beforehand. `sha256` is that of all other fields.

    Args:
        state: of the run; its pieces are computed again.
        rules: of the run.
        delta: maximum probability of a wrong answer.
        arms: (K,) names. costs: (d,) names; both are counted if left out.

    Raises:
        ValueError: of a run with directed sums, which a certificate has no fields for.
    """
    if rules.directed > 0.0:
        raise ValueError("a certificate cannot hold directed sums")
    has_policy, seen = state.counts[VERDICT] == POLICY, state.seen
    bound = largest_shortfall(seen, state.policy, rules.r if has_policy else -np.inf, state.pieces)
    radius = norm(seen.u, state.policy)
    slacks = [rules.eps - excess(row[None], state.policy) - radius for row in seen.rows]
    reward, cost = rules.units[:2].tolist()  # costs have one unit; the limits are at least one
    data: dict[str, Any] = {
        "paper": "lagex",
        "strategy": "Certified",
        "version": 2,
        "arms": list(arms) or [f"arm {a}" for a in range(state.policy.size)],
        "costs": list(costs) or [f"cost {i + 1}" for i in range(rules.limits.size)],
        "policy": state.policy.tolist() if has_policy else None,
        "margins": [*(cost * slack for slack in slacks), reward * (rules.r - bound)]
        if has_policy
        else [],
        "delta": delta,
        "r": reward * rules.r,
        "eps": cost * rules.eps,
        "n0": rules.n0,
        "sigma": (reward * np.sqrt(rules.variances)).tolist(),
        "cost_sigma": cost * float(np.sqrt(rules.cost_variance)),
        "limits": (cost * rules.limits).tolist(),
        "pulls": state.pulls.astype(int).tolist(),
        "reward_sums": (reward * state.reward_sums).tolist(),
        "cost_sums": (cost * state.cost_sums).tolist(),
        "splits": piece_splits(state.pieces),
    }
    data["sha256"] = fields_sha256(data)
    return json.dumps(data, indent=1)


def piece_splits(pieces: Pieces) -> list[list[float] | None]:
    """The pieces, depth first, as `largest_shortfall` leaves them."""
    looked_at = range(pieces.looked_at[0])
    pairs, shares = pieces.splits.tolist(), pieces.shares.tolist()
    return [None if pairs[p][0] == WHOLE else [*pairs[p], shares[p]] for p in looked_at]
