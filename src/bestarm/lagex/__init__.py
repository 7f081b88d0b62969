"""Learning to explore with Lagrangians for bandits under unknown constraints.

U. Das and D. Basu, AISTATS 2026. Find the best mixture of arms, a policy, that satisfies linear
constraints whose coefficients are unknown, like the rewards.
"""

from bestarm.lagex.certified.interactive import Certified
from bestarm.lagex.interactive import CGE, LAGEX, LATS, CTnS, Uniform

__all__ = ["CGE", "LAGEX", "LATS", "CTnS", "Certified", "Uniform"]
