"""A strategy is five steps on a state, which simulations and ask/tell objects share::

    state = start(rules)                       before the first pull
    done(rules, state) -> bool                 the stopping rule, evaluated once before every choice
    choose(rules, state, coins) -> arm         the arm to pull next
    observe(rules, state, arm, observed)       update the state with its reward
    pull(world, state, arm, environment)       in simulations: a reward of the arm

`rules` and `world` are NamedTuples of numbers and arrays: what the strategy is given, and the
ground truth, which it is not given. A state's arrays are changed in place. `interactive.py` runs
the steps on a real experiment.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import is_jitted

from bestarm.core.compile import BARE, COUNTING

Step = Callable[..., Any]
#: More pulls than any run makes.
NO_CAP = int(np.iinfo(np.int64).max)


def _missing(*_: Any) -> Any:
    raise NotImplementedError


# The loop below is a template: `Strategy.resume` compiles a copy in which these are its steps.
done = choose = observe = pull = _missing


def _resume(world: Any, rules: Any, state: Any, cap: int, environment: Any, coins: Any) -> bool:
    for _ in range(cap):
        if done(rules, state):
            return True
        arm = choose(rules, state, coins)
        observe(rules, state, arm, pull(world, state, arm, environment))
    return False


@dataclass(frozen=True)
class Strategy:
    """The steps of a strategy, compiled or plain Python.

    Args:
        name: unique, such as "baics T-a-SCS"; compiled loops are cached by it.
        start, done, choose, observe, pull: see the module. `inlined` is best for short ones.
            Simulations on an instance of a paper have a `pull` of their own.
        lean: compile the loop as `lean` does; allowed if no step but `start` allocates an array.
        cache: keep the compiled loops. Numba would not notice an edit to a step outside of this
            package, so loops of such steps are compiled in each process.

    Example:
        Pulls three times, arm 0 only; the state is the number of pulls.

        >>> import numpy as np
        >>> three = Strategy(
        ...     "example",
        ...     start=lambda rules: np.zeros(1, np.int64),
        ...     done=lambda rules, state: state[0] == 3,
        ...     choose=lambda rules, state, coins: 0,
        ...     observe=lambda rules, state, arm, observed: state.__setitem__(0, state[0] + 1),
        ...     pull=lambda world, state, arm, environment: 1.0,
        ... )
        >>> list(three.follow(None, None, three.start(None), None, None))
        [0, 0, 0]
    """

    name: str
    start: Step
    done: Step
    choose: Step
    observe: Step
    pull: Step = _missing
    lean: bool = False
    cache: bool = True

    @cached_property
    def resume(self) -> Step:
        """resume(world, rules, state, cap, environment, coins) -> stopped, a compiled loop.

        Continues a run from a state; `cap` and `stopped` are as in `play`. Plain Python if the
        steps are.
        """
        used = {step: getattr(self, step) for step in STEPS[1:]}
        # Numba caches compiled functions by file, name and first line, so copies have names.
        copy = _copy(_resume, f"{self.name} resume", used)
        if not all(map(is_jitted, used.values())):
            return copy
        copy.__module__ = self.choose.__module__  # of the paper whose kernels it is kept among
        kept: dict[str, Any] = {"cache": self.cache}
        return numba.njit(**(BARE if self.lean else COUNTING) | kept)(copy)

    def play(
        self, world: Any, rules: Any, cap: int, environment: Any, coins: Any
    ) -> tuple[Any, bool]:
        """A run of at most `cap` pulls: its last state, and whether the stopping rule held before
        one of them.

        Not compiled: a compiled caller would compile the whole of `resume` again.
        """
        state = self.start(rules)
        return state, self.resume(world, rules, state, cap, environment, coins)

    def follow(
        self, world: Any, rules: Any, state: Any, environment: Any, coins: Any
    ) -> Iterator[int]:
        """The same run step by step, in Python: yields each arm after its pull was observed."""
        while not self.done(rules, state):
            arm = int(self.choose(rules, state, coins))
            self.observe(rules, state, arm, self.pull(world, state, arm, environment))
            yield arm


@cache
def with_pull(strategy: Strategy, pull: Step, n_arms: int) -> Strategy:
    """A strategy whose steps are not of this package, with a `pull` that first checks the arm.

    Compiled code would read whatever lies at the place of an arm that does not exist. The same
    arguments give the same object, so that its loop is compiled once.

    Example:
        >>> two = with_pull(Strategy("two", *[lambda *_: None] * 4), lambda *_: 1.0, 2)
        >>> two.cache
        False
    """

    kept: dict[str, Any] = {"cache": False}

    @numba.njit(**COUNTING | kept)
    def checked(world: Any, state: Any, arm: int, environment: Any) -> Any:
        if not 0 <= arm < n_arms:
            raise IndexError("choose gave an arm that does not exist")
        return pull(world, state, arm, environment)

    return replace(strategy, pull=checked, cache=False)


class Steps(NamedTuple):
    """Everything a run needs: a strategy, its rules, the world and a cap.

    Example:
        >>> from bestarm.registry import PAPERS

        >>> from bestarm.common.paper import Cell
        >>> simulation = PAPERS["baics"].simulation
        >>> cell = Cell(simulation.easy.name, "Uniform", {"cap": 100}, "as-written")
        >>> simulation.steps(simulation.easy, cell).cap
        100
    """

    strategy: Any  # a `Strategy`, or an object with steps of the same names
    rules: Any
    world: Any
    cap: int  # most pulls


STEPS = ("start", "done", "choose", "observe", "pull")


def _copy(template: FunctionType, name: str, names: dict[str, Step]) -> FunctionType:
    """A copy of a function under another name, whose global names are `names`."""
    copy = FunctionType(template.__code__, names, name)
    copy.__module__, copy.__qualname__ = template.__module__, name
    return copy
