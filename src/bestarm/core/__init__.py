"""Mathematics shared by the papers, one idea a module."""
