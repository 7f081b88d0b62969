"""How the six verdicts look, in pictures and on pages: told apart without colour."""

from typing import Literal, NamedTuple

from bestarm.common.looks import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION
from bestarm.pipeline.verdicts import (
    ALL_DIFFER,
    AS_WRITTEN,
    BROKEN_PROMISE,
    CANNOT_TELL,
    NOT_TESTABLE,
    OTHER_READING,
)


class VerdictLook(NamedTuple):
    """A verdict's looks: in a picture a marker, on a page a sign; both filled alike."""

    name: str  # also a class in site.css
    label: str
    sign: str
    colour: str
    marker: str
    fill: Literal["full", "left", "none"]  # of the marker, as Matplotlib's fillstyle
    meaning: str


LOOKS = {
    AS_WRITTEN: VerdictLook(
        "written", "as written", "✓", GREEN, "o", "full", "The paper's own text gives it."
    ),
    OTHER_READING: VerdictLook(
        "reading", "other reading", "◐", BLUE, "o", "left", "Another reading, which is named, does."
    ),
    BROKEN_PROMISE: VerdictLook(
        "broken",
        "broken promise",
        "△",
        ORANGE,
        "^",
        "none",
        "Only a reading does that errs more often than it promises, or stops too soon to be right.",
    ),
    ALL_DIFFER: VerdictLook(
        "differs",
        "differs",
        "✗",
        VERMILION,
        "X",
        "full",
        "It differs under every reading we tried.",
    ),
    CANNOT_TELL: VerdictLook(
        "unknown",
        "cannot tell",
        "?",
        PURPLE,
        "D",
        "none",
        "Our runs, or the paper's, are too few to say; the ledger says whose.",
    ),
    NOT_TESTABLE: VerdictLook(
        "untestable",
        "not testable",
        "–",
        GREY,
        "_",
        "full",
        "What it would take was not published, or is undefined in our runs.",
    ),
}
