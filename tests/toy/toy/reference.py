"""Nothing here is slow."""
