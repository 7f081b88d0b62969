"""Names that people write: what they mean, and which existing ones are near."""

import difflib
from collections.abc import Collection, Iterable
from importlib import import_module

from bestarm.core.inputs import InputError
from bestarm.pipeline import plugins, registry


def simplified(name: str) -> str:
    """A name without case, hyphens and other signs.

    Example:
        >>> simplified("T-a-SCS") == simplified("TaSCS")
        True
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The names that somebody may have meant: equal but for case and signs, else alike.

    Example:
        >>> nearest("baics/Exampel1", ["baics/example1", "lagex/imdb"])
        ['baics/example1']
    """
    by_letters: dict[str, list[str]] = {}
    for one in known:
        by_letters.setdefault(simplified(one), []).append(one)
    wanted = simplified(name)
    if wanted in by_letters:
        return by_letters[wanted][:most]
    close = difflib.get_close_matches(wanted, by_letters, most, cutoff=0.7)
    return [one for letters in close for one in by_letters[letters]][:most]


def advice(name: str, known: Iterable[str], otherwise: str) -> str:
    """The nearest names as a question; something else if none is near.

    Example:
        >>> advice("baic", ["baics", "lagex"], "see `bestarm list`")
        'did you mean baics?'
    """
    near = nearest(name, known)
    return f"did you mean {' or '.join(near)}?" if near else otherwise


def paper_named(name: str) -> str:
    """The name of a paper. Raises InputError, with the nearest one, for any other name."""
    if name not in registry.PAPERS:
        papers = f"papers are {', '.join(registry.PAPERS)}"
        raise InputError(f"{name}: there is no such paper; {advice(name, registry.PAPERS, papers)}")
    return name


def names_of_parts(instances: bool = True, targets: bool = True) -> list[str]:
    """PAPER/INSTANCE and PAPER/TARGET of all papers."""
    return list(
        dict.fromkeys(
            f"{paper}/{part}"
            for paper, known in registry.PAPERS.items()
            for parts in (
                known.problems.instances() if instances else (),
                known.targets if targets else (),
            )
            for part in parts
        )
    )


def near_part(name: str, otherwise: str, instances: bool = True, targets: bool = True) -> str:
    """`advice` for PAPER/INSTANCE or PAPER/TARGET, or for a part whose paper was left out."""
    known = names_of_parts(instances, targets)
    bare = simplified(name)
    same = [one for one in known if simplified(one.partition("/")[2]) == bare]
    return f"did you mean {' or '.join(same[:3])}?" if same else advice(name, known, otherwise)


def strategy_named(paper: str, name: str, known: Collection[str], source: str) -> str:
    """The name in tables of a strategy, from that name in any case and without its hyphens, or from
    the name of its class.

    Args:
        paper: a paper.
        name: as a person writes it.
        known: names in tables, which may have strategies of the user among them.
        source: of the name, for messages.

    Raises:
        InputError: there is no such strategy.

    Example:
        >>> strategy_named("baics", "TaSCS", registry.PAPERS["baics"].simulation.readings, "x")
        'T-a-SCS'
    """
    if name in known:
        return name
    same = [one for one in known if simplified(one) == simplified(name)]
    if len(same) == 1:
        return same[0]
    module = import_module(f"bestarm.{paper}")
    for one in module.__all__:
        label = plugins.name_of_ours(getattr(module, one), paper)
        if label is not None and label in known and simplified(one) == simplified(name):
            return label
    allowed = ", ".join(dict.fromkeys([*known, *plugins.installed()]))
    near = advice(name, [*known, *plugins.installed()], "")
    raise InputError(f"{source}: must be one of {allowed}, got {name}{near and '; ' + near}")
