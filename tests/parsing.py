"""Parse functions for tests that hash many copies of the same sources."""

from bestarm.common import codehash, definitions


def by_content(parse):
    """A function of a file that is called once per content instead of per path."""
    known = {}

    def once(source):
        text = source.read_text()
        if text not in known:
            known[text] = parse(source)
        return known[text]

    return once


meaning = by_content(codehash._meaning.__wrapped__)
parsed = by_content(definitions.parsed.__wrapped__)
