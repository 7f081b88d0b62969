"""Best-arm identification: the algorithms of five papers, and what of them replicates."""

__version__ = "1.0.0"
