"""How the six verdicts look, in pictures and on pages: each has a shape and a sign of its own."""

from typing import Literal, NamedTuple

from bestarm.common.styles import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION
from bestarm.verdicts.outcome import (
    ALL_DIFFER,
    BY_READING,
    BY_TEXT,
    COMPATIBLE,
    INCONCLUSIVE,
    NOT_TESTABLE,
)


class VerdictStyle(NamedTuple):
    """A verdict's style: in a picture a marker, on a page a sign; both filled alike."""

    name: str  # also a class in site.css
    label: str
    sign: str
    colour: str
    marker: str
    fill: Literal["full", "left", "none"]  # of the marker, as Matplotlib's fillstyle
    meaning: str


STYLES = {
    BY_TEXT: VerdictStyle(
        "written", "by the text", "✓", GREEN, "o", "full", "The paper's own text gives it."
    ),
    BY_READING: VerdictStyle(
        "reading",
        "by a reading",
        "◐",
        BLUE,
        "o",
        "left",
        "A reading gives it, which is named: of the text, or of what the text leaves open.",
    ),
    COMPATIBLE: VerdictStyle(
        "compatible",
        "compatible",
        "○",
        PURPLE,
        "D",
        "none",
        "Of a published number: the data exclude not every reading, and confirm none.",
    ),
    INCONCLUSIVE: VerdictStyle(
        "unknown",
        "inconclusive",
        "?",
        ORANGE,
        "^",
        "none",
        "Of other claims: runs show neither that it holds nor that it does not.",
    ),
    ALL_DIFFER: VerdictStyle(
        "differs",
        "differs",
        "✗",
        VERMILION,
        "X",
        "full",
        "The data exclude every reading that we tried.",
    ),
    NOT_TESTABLE: VerdictStyle(
        "untestable",
        "not testable",
        "–",
        GREY,
        "_",
        "full",
        "What it would take was not published, or is undefined in our runs.",
    ),
}
