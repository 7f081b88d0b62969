"""Old names of readings, options and columns: refused for one release, with the new name."""

from collections.abc import Collection

#: Old name -> new name, by kind. Release 1.1.0 empties it of what 1.0.0 renamed.
RENAMED: dict[str, dict[str, str]] = {
    "reading": {"released": "released-stop"},  # of LAGEX, 1.0.0
    "option": {},
    "column": {},
}


def refusal(kind: str, name: str, known: Collection[str] | None = None) -> str | None:
    """What to tell a person who uses an old name; None if it is none.

    Args:
        kind: a key of `RENAMED`.
        name: as the person writes it.
        known: names that may be used here; all if left out.
    """
    new = RENAMED[kind].get(name)
    return f"{name} is called {new} now" if new and (known is None or new in known) else None
