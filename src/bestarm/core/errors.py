"""The error that every command reports in one line; a module of its own, since it loads at once."""


class InputError(ValueError):
    """Bad input; the message is one line naming the file, the field and what is allowed.

    Example:
        >>> raise InputError("x.yaml: delta: must be less than 1, got 2")
        Traceback (most recent call last):
            ...
        bestarm.core.errors.InputError: x.yaml: delta: must be less than 1, got 2
    """

    def __init__(self, message: str) -> None:
        # it may quote names that contain line ends or terminal control characters
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in message))
