"""Top-k identification with delayed feedback (Grover et al., AISTATS 2018).

A pull's reward arrives after a delay; partial feedback that arrives earlier may save waiting for
it.
"""

from bestarm.delayed.interactive import Full, Mixture, Partial

__all__ = ["Full", "Mixture", "Partial"]
