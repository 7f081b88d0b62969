"""Make data/arena/cells.csv: strategies against lower bounds, cell by cell.

    python -m bestarm.arena --out data/arena/cells.csv

Only cells that are new are played, or whose code, instances or submission changed since their row
was made; the other rows are kept as they are. With --new only cells without a row are played. An
interrupted run goes on where it was.
"""

from bestarm.runs.kept import command_line

if __name__ == "__main__":
    command_line("bestarm.arena.table", __doc__ or "")
