"""Operations as Numba compiles them."""

import numba
from numba.core.registry import cpu_target

from bestarm.core.pure_exploration.problem import _IMPLEMENTATIONS
from bestarm.core.pure_exploration.top_arms import top_arms


def test_operations_are_compiled_under_names_of_their_own():
    """Symbols of machine code from two processes may differ in nothing else.

    With one name for all operations, a kernel from the cache called `pieces` in place of
    `make_work`, and wrote through a null pointer.
    """
    cpu_target.typing_context.refresh()
    kind, names = numba.typeof(top_arms(3)), []
    for operation in _IMPLEMENTATIONS:
        templates = cpu_target.typing_context.resolve_value_type(operation).templates
        names.append(templates[0]._overload_func(kind).__qualname__)
    assert len(names) > 5
    assert len({*names}) == len(names)
