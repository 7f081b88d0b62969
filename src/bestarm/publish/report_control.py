"""How the positive control came out, in a sentence for README.md."""

from pathlib import Path

from bestarm import registry
from bestarm.common.prose import wrapped
from bestarm.verdicts.outcome import ALL_DIFFER, BY_READING, BY_TEXT, COMPATIBLE
from bestarm.verdicts.table import as_frame, read_verdicts


def control_text(root: Path) -> str:
    """The verdicts on the control's published numbers and on its other claims.

    Args:
        root: of the project; reads figures/control.csv.
    """
    claims = as_frame(read_verdicts(root / "figures/control.csv")).drop_duplicates(["paper", "id"])
    numbers = claims[claims.kind == "number"].verdict.value_counts()
    others = claims[claims.kind != "number"]
    confirmed = others.verdict.isin([BY_TEXT, BY_READING]).sum()
    title = registry.PAPERS[registry.CONTROLS[0]].title
    counts = {
        "confirmed as written": BY_TEXT,
        "confirmed under another reading": BY_READING,
        "compatible": COMPATIBLE,
        "different from every reading": ALL_DIFFER,
    }
    parts = [
        f"{numbers[key]} {'is' if numbers[key] == 1 else 'are'} {words}"
        for words, key in counts.items()
        if numbers.get(key, 0)
    ]
    return wrapped(
        f"**Positive control.** *{title}* stands beside these totals, never in them: it was "
        f"chosen because its experiments are known in full and expected to replicate. Of its "
        f"{numbers.sum()} published numbers {', '.join(parts)}; of its {len(others)} other claims "
        f"{confirmed} are confirmed ([figures/control.csv](figures/control.csv)). All of them are "
        "second hand: the paper's text could not be read here, and every page says so."
    )
