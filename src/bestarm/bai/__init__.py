"""The best of K arms with fixed confidence: Track-and-Stop (Garivier & Kaufmann, COLT 2016)."""

from bestarm.bai.interactive import KLLUCB, ChernoffRacing, KLRacing, TrackAndStop
from bestarm.bai.top_k import TopK

__all__ = ["KLLUCB", "ChernoffRacing", "KLRacing", "TopK", "TrackAndStop"]
