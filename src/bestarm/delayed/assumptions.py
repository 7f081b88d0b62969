"""Instances on which racing is played when assumptions do not hold."""

from bestarm.common.assumptions import Assumptions, Case

ASSUMPTIONS = Assumptions(
    (
        Case("delayed", "bounded n=10", {"delta": 0.1}),
        Case("delayed", "alike, unbiased", {"delta": 0.1, "cap": 10_000}),
        Case("delayed", "alike, biased", {"delta": 0.1, "cap": 10_000}),
    )
)
