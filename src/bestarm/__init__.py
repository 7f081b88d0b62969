"""Best-arm identification: the algorithms of five papers, and what of them replicates."""

__version__ = "0.1.0"
