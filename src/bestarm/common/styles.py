"""How strategies and readings look and what people call them, in pictures, pages and notebooks.

A paper's one table of styles is `Plots.styles`. Nothing here needs Matplotlib.
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


class Style(NamedTuple):
    """How a strategy or a reading is drawn in every figure, and its name for people."""

    colour: str
    marker: str = "o"
    line: str = "-"
    name: str = ""  # if it is not the name in tables


#: The style of uniform sampling, which more than one paper has.
UNIFORM = Style(GREY, "s", "--")
#: Reference marks.
BOUND = Style(BLACK, "", ":")
PUBLISHED = Style(BLACK, "D", "", "published")


def named_styles(table: Mapping[str, Style], names: Iterable[str]) -> dict[str, Style]:
    """A style, with a name for people, for each of some names.

    Args:
        table: a paper's styles.
        names: of strategies or readings, such as a column of a table.

    Returns:
        Looks by name: first those of `table`, in its order, then spare ones, in alphabetical order.
    """
    needed = set(names)
    others = sorted(needed - table.keys())
    styles = {name: style for name, style in table.items() if name in needed}
    styles |= {name: Style(*spare) for name, spare in zip(others, SPARE, strict=False)}
    if missing := needed - styles.keys():
        raise ValueError(f"there are no styles left for {', '.join(sorted(missing))}")
    return {name: style._replace(name=style.name or name) for name, style in styles.items()}
