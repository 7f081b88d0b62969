"""Best-arm identification in linear bandits (Soare, Lazaric & Munos, NIPS 2014).

The reward of an arm x in R^d is x . theta* + noise. A pull of one arm gives information about all.
"""

from bestarm.linear.interactive import (
    RAGE,
    XY,
    FullyAdaptive,
    G,
    LinGapE,
    XYAdaptive,
    XYOracle,
)

__all__ = ["RAGE", "XY", "FullyAdaptive", "G", "LinGapE", "XYAdaptive", "XYOracle"]
