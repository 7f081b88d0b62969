"""How a run ended."""

from enum import IntEnum


class Status(IntEnum):
    """Result code of one run; `message` is its text for users.

    Example:
        >>> Status(1).message
        'reached the cap before its rule stopped it'
    """

    STOPPED = 0
    CAPPED = 1
    FAILED = 2

    @property
    def message(self) -> str:
        return {
            Status.STOPPED: "stopped by its own rule",
            Status.CAPPED: "reached the cap before its rule stopped it",
            Status.FAILED: "numerical failure: the answer may be wrong",
        }[self]
