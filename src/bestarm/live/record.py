"""The record of a live experiment: arguments, events, and one file to go on from.

A file holds the arguments, every event and the full state, so that loading replays nothing.
"""

import hashlib
import json
import threading
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

from bestarm import __version__
from bestarm.core.files import write_text
from bestarm.core.inputs import InputError
from bestarm.core.plain import plain, restored, tuples

#: The format of saved files, raised with every change that older code cannot read.
FORMAT = 1
#: That of their states, raised with every change: a file with another is replayed.
STATE = 5
#: Names in an `__init__` that are no arguments.
NO_ARGUMENTS = ("self", "__class__")


class Event(NamedTuple):
    """One entry of a history, of plain values only, so that it survives JSON.

    Example:
        >>> Event("tell", None, 2, (0.5,)).arm
        2
    """

    #: "new", "ask", "assign", "allocate", "tell", "counts", "abandon", "drop", "add"; with times
    #: "clock", "wait"; of races "partial", "final"
    kind: str
    trial: int | None  # the id of a trial; None for an arm that was told but not asked for
    arm: Any  # its label
    values: tuple[Any, ...]  # what was told; for "new" the strategy and its `fingerprint`

    @classmethod
    def of(cls, entry: Any) -> "Event":
        """An event from JSON, which has lists for tuples. Raises ValueError if it is none."""
        if len(entry) != len(cls._fields):
            raise ValueError(f"an entry of a history has {len(cls._fields)} fields, got {entry}")
        kind, trial, arm, values = entry
        return cls(kind, trial, tuples(arm), tuples(values))


Owner = TypeVar("Owner", bound="Recorded")
P = ParamSpec("P")
R = TypeVar("R")


def atomic(method: Callable[Concatenate[Owner, P], R]) -> Callable[Concatenate[Owner, P], R]:
    """A method that no other thread's atomic method of the same object interrupts.

    Example:
        >>> class Counted(Recorded):
        ...     told = 0
        ...     @atomic
        ...     def tell(self):
        ...         self.told += 1
        >>> s = Counted()
        >>> s.tell()
        >>> s.told
        1
    """

    @wraps(method)
    def call(self: Owner, /, *args: P.args, **options: P.kwargs) -> R:
        with self.lock:
            return method(self, *args, **options)

    return call


class Recorded:
    """Base class: knows its arguments and its history, saves and loads itself.

    Subclasses begin their `__init__` with `self._made_with(locals())`. They define `_apply`, which
    repeats an event, and `_state_to_json` and `_restore` for what a file holds besides.

    Example:
        >>> from bestarm.baics import Uniform
        >>> s = Uniform(n_arms=2, weights=[1.0])
        >>> s.tell((0, 0), 0.7)
        >>> again = Uniform.from_dict(s.to_dict())
        >>> again.ask() == s.ask()
        True
    """

    lock: threading.RLock
    history: list[Event]
    _arguments: dict[str, Any]

    def __new__(cls, *_: Any, **__: Any) -> Self:
        self = super().__new__(cls)
        self.lock = threading.RLock()
        self._state_arguments({})
        return self

    def _made_with(self, names: dict[str, Any]) -> None:
        """State the arguments that a saved experiment is made anew with.

        The first line of a class's `__init__` calls it with `locals()`, which holds nothing but the
        arguments then. Of a class and those that it derives from the first call counts, so its own.

        Args:
            names: the arguments, and what else such a function has names for. Those of a mapping
                `options` count one by one.
        """
        if not self._arguments:
            given = {name: value for name, value in names.items() if name not in NO_ARGUMENTS}
            self._state_arguments(given | given.pop("options", {}))

    def _state_arguments(self, given: dict[str, Any]) -> None:
        stated: dict[str, Any] = {}
        for name, value in given.items():
            try:
                stated[name] = plain(value)
            except (TypeError, ValueError) as error:
                raise InputError(f"{type(self).__name__}: {name}: {error}") from None
        self._arguments = stated
        self.history = [Event("new", None, None, (type(self).__name__, self.fingerprint))]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies, deep ones and pickles are made from `to_dict`: a lock has none."""
        return type(self).from_dict, (self.to_dict(),)

    @property
    def done(self) -> bool:
        """Whether the experiment is over."""
        raise NotImplementedError

    @property
    def answer(self) -> Any:
        """The answer so far; its guarantee holds only once `done`."""
        raise NotImplementedError

    @property
    def fingerprint(self) -> str:
        """A hash of the strategy's name and its arguments."""
        text = json.dumps([type(self).__name__, self._arguments], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @atomic
    def replay(self, history: Any) -> None:
        """Repeat another object's history on a new one that was made with the same arguments.

        Raises:
            ValueError: the history is of other arguments, or this strategy asks for other arms.
        """
        for entry in history:
            event = Event.of(entry)
            if event.kind == "new":
                self._check_origin(*event.values)
            else:
                self._apply(event)

    @atomic
    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values, for `from_dict`."""
        return {
            "format": FORMAT,
            "version": __version__,
            "strategy": type(self).__name__,
            "fingerprint": self.fingerprint,
            "arguments": self._arguments,
            "state": self._state_to_json(),
            "state_format": STATE,
            "history": [list(event) for event in self.history],
        }

    @classmethod
    def from_dict(cls, data: Any, **expected: Any) -> Self:
        """The object that `to_dict` described: it will make the same choices.

        Args:
            data: from `to_dict`.
            expected: arguments that it must have been made with, to be sure.

        Raises:
            InputError: the data are of another strategy or format, damaged, or an argument differs.
        """
        return cls._loaded(data, "from_dict", expected)

    def save(self, path: Path | str) -> None:
        """Write `to_dict` to a JSON file, whole or not at all."""
        write_text(path, json.dumps(self.to_dict(), allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: Path | str, **expected: Any) -> Self:
        """The object that `save` wrote, see `from_dict`. Raises InputError naming the file."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
        except ValueError:
            raise InputError(f"{path}: is not a saved experiment") from None
        return cls._loaded(data, str(path), expected)

    @classmethod
    def _loaded(cls, data: Any, source: str, expected: dict[str, Any]) -> Self:
        """`from_dict`, with a name of the data for messages."""
        try:
            version, kind, arguments = data["format"], data["strategy"], data["arguments"]
        except (KeyError, TypeError):
            raise InputError(f"{source}: is not a saved experiment") from None
        if version != FORMAT:
            raise InputError(f"{source}: format: must be {FORMAT}, got {version}")
        if kind != cls.__name__:
            raise InputError(f"{source}: strategy: must be {cls.__name__}, got {kind}")
        for name, value in expected.items():
            if name not in arguments or plain(value) != arguments[name]:
                there = arguments.get(name, "no such argument")
                raise InputError(f"{source}: {name}: saved with {there}, wanted {value}")
        try:
            self = cls(**{name: restored(value) for name, value in arguments.items()})
            if data["version"] == __version__ and data.get("state_format") == STATE:
                self._restore(data["state"])
                self.history = [*map(Event.of, data["history"])]
            else:
                self.replay(data["history"])
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{source}: is damaged: {error!r}") from None
        if self.fingerprint != data["fingerprint"]:
            raise InputError(f"{source}: fingerprint: does not fit the arguments")
        return self

    def _check_origin(self, strategy: str, fingerprint: str) -> None:
        """Raise ValueError unless a history began with this strategy and these arguments."""
        if (strategy, fingerprint) != (type(self).__name__, self.fingerprint):
            raise ValueError(
                f"the history is of {strategy} {fingerprint}, made with other arguments than "
                f"this {type(self).__name__} {self.fingerprint}"
            )

    def _apply(self, event: Event) -> None:
        """Repeat an event."""
        raise NotImplementedError

    def _state_to_json(self) -> Any:
        """All that determines the next choices, as JSON."""
        raise NotImplementedError

    def _restore(self, state: Any) -> None:
        """Take over what `_state_to_json` gave."""
        raise NotImplementedError
