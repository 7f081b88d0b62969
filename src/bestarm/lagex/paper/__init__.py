"""What the paper's text specifies, for reading beside it: Algorithms 1 to 4, Theorems 1 to 4.

A round is in `exploration.py`: it takes its state from `state.py`, its allocation from
`allocation.py` (solved in `dual.py`), `game.py` or `projection.py`, and its threshold from
`confidence.py`. Bounds on stopping times are in `bounds.py`, theorems on the paper's instances in
`theorems.py`, the sets of Figures 1 to 3 in `shapes.py`.
"""
