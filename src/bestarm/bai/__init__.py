"""The best of K arms with fixed confidence: Track-and-Stop (Garivier & Kaufmann, COLT 2016)."""
