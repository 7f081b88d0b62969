"""The best of K arms with fixed confidence: Track-and-Stop (Garivier & Kaufmann, COLT 2016)."""

from bestarm.bai.interactive import KLLUCB, ChernoffRacing, KLRacing, TrackAndStop

__all__ = ["KLLUCB", "ChernoffRacing", "KLRacing", "TrackAndStop"]
