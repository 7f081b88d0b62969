"""Pure exploration for constrained best mixed arm identification (Tang et al., RLC 2025)."""

from bestarm.cbmai.interactive import SFSR, SFSRL, USLP, SFSRPatient

__all__ = ["SFSR", "SFSRL", "USLP", "SFSRPatient"]
