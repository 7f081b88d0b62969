"""The arena: strategies of all papers, and submitted ones, against computed lower bounds.

`python -m bestarm.arena --out data/arena/cells.csv` makes the kept table; docs/arena.md has more.
"""
