"""Pure exploration for constrained best mixed arm identification (Tang, Jain, Nayyar & Nuzzo)."""

from bestarm.cbmai.interactive import SFSR, SFSRL, USLP

__all__ = ["SFSR", "SFSRL", "USLP"]
