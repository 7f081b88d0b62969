"""Runs of BAICS at ties, where nothing but delta keeps a rule from the wrong arm."""

from bestarm.baics.attacks import attacked
from bestarm.baics.problem import Instance
from bestarm.baics.strategies import steps
from bestarm.common.paper import Cell
from bestarm.core.streams import run_streams


def wrong_stops(
    instance: Instance,
    reading: str,
    delta: float,
    attack: int,
    runs: int,
    pulls: int,
    factor: float = 1.0,
) -> int:
    """How many runs under an attack stop with another answer than the first arm.

    Args:
        instance: whose answer is the first arm.
        reading: of the stopping rule, that of `Uniform`.
        delta: of the rule, and `factor` times it is what the rule takes.
        attack: of attacks.py.
        runs, pulls: how many, and how long at most.
    """
    cell = Cell(instance.name, "Uniform", {"delta": delta, "cap": pulls}, reading)
    _, rules, world, cap = steps(instance, cell)
    rules = rules._replace(delta=factor * rules.delta)
    ends = [attacked(rules, world, attack, cap, run_streams(9, r).environment) for r in range(runs)]
    return sum(stopped and answer != 0 for stopped, answer in ends)
