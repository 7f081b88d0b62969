"""How strategies and readings look and what people call them, in pictures, pages and notebooks.

A paper's one table of looks is `Plots.looks`. Nothing here needs Matplotlib.
"""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import NamedTuple

# Okabe & Ito's palette, which colour-blind readers can distinguish, also by lightness in grey.
BLACK, GREY = "#000000", "#7f7f7f"
ORANGE, SKY, GREEN, YELLOW = "#e69f00", "#56b4e9", "#009e73", "#f0e442"
BLUE, VERMILION, PURPLE = "#0072b2", "#d55e00", "#cc79a7"

#: Looks of what has none of its own: a marker for every colour, then the next marker.
SPARE = [(c, m) for m, c in product("hpd<>", (PURPLE, GREEN, ORANGE, SKY, VERMILION, BLUE))]


class Look(NamedTuple):
    """How a strategy or a reading is drawn in every figure, and its name for people."""

    colour: str
    marker: str = "o"
    line: str = "-"
    name: str = ""  # if it is not the name in tables


#: The look of uniform sampling, which more than one paper has.
UNIFORM = Look(GREY, "s", "--")
#: Reference marks.
BOUND = Look(BLACK, "", ":")
PUBLISHED = Look(BLACK, "D", "", "published")


def named_looks(table: Mapping[str, Look], names: Iterable[str]) -> dict[str, Look]:
    """A look, with a name for people, for each of some names.

    Args:
        table: a paper's looks.
        names: of strategies or readings, such as a column of a table.

    Returns:
        Looks by name: first those of `table`, in its order, then spare ones, in alphabetical order.
    """
    needed = set(names)
    others = sorted(needed - table.keys())
    looks = {name: look for name, look in table.items() if name in needed}
    looks |= {name: Look(*spare) for name, spare in zip(others, SPARE, strict=False)}
    if missing := needed - looks.keys():
        raise ValueError(f"there are no looks left for {', '.join(sorted(missing))}")
    return {name: look._replace(name=look.name or name) for name, look in looks.items()}
