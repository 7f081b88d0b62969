"""The strategies of core/pure_exploration as they are given to `bestarm.compare`."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bestarm.common.user_strategies import Compiled
from bestarm.core.pure_exploration.strategies import STRATEGIES


def compiled(
    rules: Callable[..., Any], observe: Callable[..., Any] | None = None, **names: str
) -> list[Compiled]:
    """All of them for a paper, in the order of `STRATEGIES`.

    Args:
        rules: makes the rules of what the paper gives, see `Compiled`.
        observe: another `observe`, if a paper's pulls give more than a reward.
        names: other names than those of `STRATEGIES`.
    """
    return [
        Compiled(
            replace(steps, name=names.get(name, name), observe=observe or steps.observe), rules
        )
        for name, steps in STRATEGIES.items()
    ]
