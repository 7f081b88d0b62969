"""Make data/arena/cells.csv: strategies against lower bounds, cell by cell.

    python -m bestarm.arena --out data/arena/cells.csv

A cell is done once: an interrupted run goes on where it was. A new submission plays all cells
again.
"""

from bestarm.common.generate import command_line

if __name__ == "__main__":
    command_line("bestarm.arena.table", __doc__ or "")
