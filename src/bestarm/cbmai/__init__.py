"""Pure exploration for constrained best mixed arm identification (Tang et al., RLC 2025)."""

from bestarm.cbmai.interactive import SFSR, SFSRL, USLP

__all__ = ["SFSR", "SFSRL", "USLP"]
