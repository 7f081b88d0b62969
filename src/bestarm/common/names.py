"""Names that people write: which of the known ones are near."""

import difflib
from collections.abc import Iterable


def simplified(name: str) -> str:
    """A name without case, hyphens and other signs.

    Example:
        >>> simplified("T-a-SCS") == simplified("TaSCS")
        True
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def nearest(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The names that somebody may have meant: equal but for case and signs, else alike.

    Example:
        >>> nearest("baics/Exampel1", ["baics/example1", "lagex/imdb"])
        ['baics/example1']
    """
    by_letters: dict[str, list[str]] = {}
    for candidate in names:
        by_letters.setdefault(simplified(candidate), []).append(candidate)
    typed = simplified(name)
    if typed in by_letters:
        return by_letters[typed][:most]
    close = difflib.get_close_matches(typed, by_letters, most, cutoff=0.7)
    return [candidate for letters in close for candidate in by_letters[letters]][:most]


def advice(name: str, names: Iterable[str], otherwise: str) -> str:
    """The nearest names as a question; something else if none is near.

    Example:
        >>> advice("baic", ["baics", "lagex"], "see `bestarm list`")
        'did you mean baics?'
    """
    near = nearest(name, names)
    return f"did you mean {' or '.join(near)}?" if near else otherwise
