"""What people call arms: numbers from 0, or names."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bestarm.core.arguments import integer, numbers
from bestarm.core.inputs import MOST_ARMS, InputError, short
from bestarm.core.plain import ordinary

Label = int | str
#: One number, several, or several by name.
Numbers = float | Sequence[float] | np.ndarray | Mapping[str, float]


class Labels:
    """The arms, subpopulations or constraints of an object, by number or by name.

    Args:
        what: what they are, for messages, such as "arm".
        labels: by index; the indices themselves, or distinct names.
    """

    def __init__(self, what: str, labels: Iterable[Label]) -> None:
        self.what = what
        self.labels = list(labels)
        self._indices = {label: i for i, label in enumerate(self.labels)}

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Label:
        return self.labels[index]

    @property
    def named(self) -> bool:
        """Whether they have names."""
        return any(isinstance(label, str) for label in self.labels)

    @property
    def allowed(self) -> str:
        """The labels in words."""
        if self.named:
            return f"one of {listed(map(str, self.labels))}"
        if self.labels == list(range(len(self.labels))):
            return f"0 to {len(self.labels) - 1}"
        return f"one of {self.labels}"

    def index(self, label: Any) -> int:
        """The index of a label; any whole number will do for an integer.

        Raises:
            ValueError: there is no such label.
        """
        key = label if isinstance(label, str) else integer(label)
        if key is None or key not in self._indices:
            raise ValueError(f"{self.what} must be {self.allowed}, got {short(label)}")
        return self._indices[key]


def listed(names: Iterable[str]) -> str:
    """Names in one line, those with a comma in quotes."""
    return ", ".join(f'"{name}"' if "," in name else name for name in names)


def count_or_names(value: Any, what: str, least: int, source: str) -> Labels:
    """The labels for an argument that is a number of arms or their names.

    Raises:
        InputError: it is neither, has repeated names or fewer than `least` of them.
    """
    value, count = ordinary(value), integer(value)
    if count is not None and least <= count <= MOST_ARMS:
        return Labels(what, range(count))
    names = list(value) if isinstance(value, Sequence | Mapping) else []
    if (
        isinstance(value, str)
        or len(names) < least
        or not all(isinstance(name, str) and name for name in names)
        or len(set(names)) < len(names)
    ):
        raise InputError(
            f"{source}: must be a whole number from {least} to {MOST_ARMS} or as many distinct "
            f"names, got {short(value)}"
        )
    return Labels(what, map(str, names))


def named_limits(value: Any, source: str) -> tuple[list[str], np.ndarray]:
    """The names and values of an argument that is limits on mean costs, or a mapping to them.

    Args:
        value: numbers, whose names are "cost 1" and so on; or a mapping from names to numbers.
        source: of the argument, for messages.

    Raises:
        InputError: the limits are no finite numbers, or a name is no text, empty or "reward".
    """
    value = ordinary(value)
    if not isinstance(value, Mapping):
        limits = numbers(value, 1, source)
        return [f"cost {i + 1}" for i in range(limits.size)], limits
    if not all(isinstance(name, str) and name not in ("", "reward") for name in value):
        raise InputError(
            f"{source}: names must be texts, neither empty nor 'reward', got {short(value)}"
        )
    return list(map(str, value)), numbers(list(value.values()), 1, source)


def in_order(value: Any, names: Sequence[Label], source: str) -> Any:
    """What is given by name, in the order of the names; anything else as it is.

    Raises:
        InputError: a name is missing or unknown, naming `source`.
    """
    value = ordinary(value)
    if not isinstance(value, Mapping):
        return value
    if set(value) != set(names):
        expected, got = listed(map(str, names)), listed(map(str, value)) or "none"
        raise InputError(f"{source} must be given for {expected}, got {got}")
    return [value[name] for name in names]
