"""How long the example of docs/adding-a-paper.md is."""

from pathlib import Path

from bestarm.common.prose import wrapped


def toy_text(root: Path) -> str:
    """The files and lines of the toy paper, without empty ones."""
    modules = sorted((root / "tests/toy/toy").glob("*.py"))
    data = sorted((root / "tests/toy/data").iterdir())
    steps = f"{len(modules)} modules of {_lines(modules)} lines: a strategy of five steps"
    claim = f"{_lines(data)} lines of data, with a claim"
    text = f"{steps}, its ask/tell object and a figure; and {claim}"
    return wrapped(f"[tests/toy](../tests/toy) has {text}.")


def _lines(files: list[Path]) -> int:
    texts = (path.read_text(encoding="utf-8") for path in files)
    return sum(bool(line.strip()) for text in texts for line in text.split("\n"))
