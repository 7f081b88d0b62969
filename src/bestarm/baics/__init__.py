"""Best arm identification with fairness constraints on subpopulations (Wu, Zheng & Zhu 2023)."""

from bestarm.baics.interactive import FWS, TaS, TaSCS, TwoStage, Uniform

__all__ = ["FWS", "TaS", "TaSCS", "TwoStage", "Uniform"]
