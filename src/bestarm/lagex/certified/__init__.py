"""Certified, which is not in the paper: with probability 1 - delta its answer keeps unknown limits.

`steps.py` plays it in blocks and `certificate.py` writes down what it certifies, for
`lagex/check.py`. `offline.py`, `times.py` and `errors.py` measure what a certificate costs.
"""
