"""`codehash._meaning` for tests that hash many copies of the same sources."""

from bestarm.common import codehash

PARSED = {}


def meaning(source, parse=codehash._meaning.__wrapped__):
    """`codehash._meaning`, once per content instead of per path."""
    text = source.read_text()
    if text not in PARSED:
        PARSED[text] = parse(source)
    return PARSED[text]
