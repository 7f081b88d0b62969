"""Names of papers and of their parts that people write: what they mean."""

from bestarm import registry
from bestarm.common.names import advice, simplified
from bestarm.core.errors import InputError


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
            for paper, entry in registry.PAPERS.items()
            for parts in (
                entry.problems.instances() if instances else (),
                entry.targets if targets else (),
            )
            for part in parts
        )
    )


def near_part(name: str, otherwise: str, instances: bool = True, targets: bool = True) -> str:
    """`advice` for PAPER/INSTANCE or PAPER/TARGET, or for a part whose paper was left out."""
    names = names_of_parts(instances, targets)
    bare = simplified(name)
    same = [part for part in names if simplified(part.partition("/")[2]) == bare]
    return f"did you mean {' or '.join(same[:3])}?" if same else advice(name, names, otherwise)
