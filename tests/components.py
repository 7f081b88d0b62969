"""The readings of a strategy that show every part of any of them."""

from bestarm.common.paper import Readings


def components(readings: Readings) -> list[str]:
    """The paper's text, the default, and of the others as many as show every part of any reading.

    A reading is a NamedTuple of parts, and the readings of a strategy may be a grid of them.
    """
    shown, names = set(), []
    for name in dict.fromkeys([readings.text, readings.default, *readings]):
        reading = readings[name]
        parts = {name} if reading is None else set(reading._asdict().items())
        if not parts <= shown or name == readings.default:
            names.append(name)
            shown |= parts
    return names
