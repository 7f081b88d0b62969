"""The arena: strategies of all papers, and submitted ones, against computed lower bounds.

`python -m bestarm.arena --out data/arena/cells.csv` makes the kept table; docs/arena.md has more.
"""

#: Its pictures, by the names of their files in figures/arena, and what they show.
PICTURES = {
    "fixed-confidence": "pulls over the lower bound",
    "winners": "the best proven rules",
    "fixed-budget": "errors at equal budgets",
}
