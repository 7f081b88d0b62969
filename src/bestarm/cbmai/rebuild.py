"""Instances that the paper draws or describes but does not print, rebuilt from their description.

`python -m bestarm.cbmai.rebuild` writes them to data/instances/cbmai; a test asserts that the
files are what this module makes, and that each instance has the property it stands for.
"""

from collections.abc import Iterator

import numpy as np
import yaml

from bestarm.cbmai.problem import Instance, draw_arms, make, solved
from bestarm.common.files import data_folder
from bestarm.core.files import write_text

K = 16


def main() -> None:
    for instance in rebuilt():
        path = data_folder() / "instances/cbmai" / f"{instance.name}.yaml"
        fields = {"paper": "cbmai", **instance.model_dump(exclude_defaults=True)}
        text = yaml.safe_dump(fields, sort_keys=False, default_flow_style=None, width=88)
        write_text(path, f"# Written by `python -m bestarm.cbmai.rebuild`.\n{text}")


def rebuilt() -> Iterator[Instance]:
    """All rebuilt instances."""
    yield intersection_values()
    yield average("A1", n_arms_in_support=1, seed=1)
    yield average("A2", n_arms_in_support=2, seed=2)
    yield average("A3", n_arms_in_support=2, seed=3)
    yield hard("H1", H1, "Figure 3")
    yield hard("H2", H2, "Figure 3 and Appendix A")
    yield hard("H3", H3, "Figure 3")
    for n_known in (4, 8, 12):
        yield known_arms(average("A2", n_arms_in_support=2, seed=2), n_known)
    yield infeasible()
    yield conflict()
    yield three_constraints(seed=4)


def drawn(name: str, rewards: np.ndarray, costs: np.ndarray, source: str, **fields) -> Instance:
    """An instance that the paper draws but does not print."""
    return make(name, rewards, costs, source=f"{source}, drawn only", reconstructed=True, **fields)


def intersection_values() -> Instance:
    """Figure 1: five arms, of which 1 and 2 make the best mixture."""
    costs, rewards = [0.3, 1.6, 0.7, 1.3, 0.5], [0.6, 1.4, 0.65, 0.7, 0.25]
    return drawn("intersection-values", np.array(rewards), np.array(costs), source="Figure 1")


def average(name: str, n_arms_in_support: int, seed: int) -> Instance:
    """Figure 2: arms drawn anew until the instance has the described kind of optimum.

    The support has the given number of arms, with weights of at least 0.2, and the next arm lies
    0.1 to 0.2 below the frontier. The choice does not depend on the performance of any strategy.
    """
    rng = np.random.default_rng(seed)
    while True:
        instance = drawn(name, *draw_arms(rng), source="Figure 2", seed=seed)
        solution = solved(instance.problem)
        others = np.delete(solution.reduced, solution.basis)
        if (
            (solution.basis < K).sum() == n_arms_in_support
            and solution.weights.min() >= 0.2
            and -0.2 <= others.max() <= -0.1
        ):
            return instance


# The hard instances: (cost, reward) of arms 1 and 2, whose line is the frontier, then groups of
# further arms as (number, cost, distance below that line).
H1 = ((0.2, 0.1), (1.1, 0.3), (14, 1.5, 0.5))
H2 = ((0.0, 0.0), (1.2, 1.2), (14, 0.95, 0.3))
H3 = ((0.0, 0.6), (1.2, 1.2), (5, 0.8, 0.25), (9, 0.5, 0.5))


def hard(name: str, layout: tuple, source: str) -> Instance:
    """H1, H2 or H3, from its layout.

    H1, hard for SFSR and easy for SFSR-L: where the empirical cost of arm 2 falls below the bound,
    the arms of high cost mix with arm 2 and beat every mixture with arm 1, so SFSR rejects arm 1.
    H2, the reverse (Appendix A): an arm near the bound that looks a little better tilts the
    empirical frontier so that arm 1 falls furthest below it, so SFSR-L rejects arm 1.
    H3, on which SFSR-L barely beats USLP: the same in a milder form, among arms that both
    strategies reject easily.
    """
    (c1, r1), (c2, r2), *groups = layout
    costs = [c1, c2] + [c for n, c, _ in groups for _ in range(n)]
    line = np.array([r1 + (r2 - r1) / (c2 - c1) * (c - c1) for c in costs])
    below = [0.0, 0.0] + [gap for n, _, gap in groups for _ in range(n)]
    return drawn(name, line - below, np.array(costs), source=source)


def known_arms(instance: Instance, n_known: int) -> Instance:
    """The same arms, the `n_known` that lie furthest below the frontier known."""
    order = np.argsort(-solved(instance.problem).reduced[:K], kind="stable")
    return make(
        f"{instance.name}-known-{n_known}",
        np.array(instance.rewards)[order],
        np.array(instance.costs)[:, order],
        unknown=K - n_known,
        seed=instance.seed,
        reconstructed=True,
        source=f"beyond the paper: {instance.name} with known arms",
    )


def infeasible() -> Instance:
    """Every arm costs more than the bound, the cheapest by 0.1."""
    costs = 1.1 + np.arange(K) * 0.05
    return make("too-dear", costs - 0.5, costs, source="beyond the paper")


def conflict() -> Instance:
    """Two constraints that can each be met, but not both: c1 + c2 = 2.2 for every arm."""
    first = np.linspace(0.35, 1.85, K)
    costs = np.array([first, 2.2 - first])
    return make("conflict", np.full(K, 1.0), costs, source="beyond the paper")


def three_constraints(seed: int) -> Instance:
    """Twelve arms and three constraints, all binding at the best mixture of four arms."""
    rng = np.random.default_rng(seed)
    while True:
        costs = rng.uniform(0.2, 1.8, (3, 12))
        rewards = 0.5 * costs.sum(axis=0) + rng.uniform(-0.6, 0.0, 12)
        instance = make(
            "three-constraints",
            rewards,
            costs,
            seed=seed,
            source="beyond the paper",
        )
        solution = solved(instance.problem)
        if solution and (solution.basis < 12).all() and solution.weights.min() >= 0.1:
            return instance


if __name__ == "__main__":
    main()
