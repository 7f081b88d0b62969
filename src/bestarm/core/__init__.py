"""Mathematics shared by the papers, one topic per module."""
