"""The programs that the authors released, as software: the same rounds, bit for bit.

`program.py` plays a round and a run, `solvers.py` solves its problems by the methods that SciPy
has (`slsqp.py` on `least_squares.py` and `lapack.py`; `highs.py`). `runs.py` makes the kept runs
and `kept.py` reads them, for `plots.py` and the pages.
"""
