"""What the site is made from, and a fingerprint that changes when any of it does."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from bestarm import arena, registry
from bestarm.registry.outline import outlines

#: Folders at the top of the project that hold what was built. Of figures/ only the targets count.
BUILT = {"build", "crate", "dist", "figures", "results", "site"}

#: Pages made of sections of README.md: title and sections.
README_PAGES = {
    "rerun": ("How to rerun it", ["Rebuild everything", "Reading the code"]),
    "use": ("On your own problem", ["Ask and tell", "Run on your problem"]),
}


def page_names() -> list[str]:
    """The pages at the top of the site: overview, papers, arena, sections of README.md."""
    return ["index", *registry.PAPERS, "arena", *README_PAGES]


def prose(root: Path) -> list[Path]:
    """The pages of docs/ that are Markdown. Sphinx makes them, and the programming interface."""
    return sorted((root / "docs").rglob("*.md"))


def stem(root: Path, paper: str, target: str) -> Path:
    """The path of a target's files without their endings."""
    return root / "figures" / paper / target


def kept(root: Path) -> list[Path]:
    """The files of paper-scale targets that the site shows, and verdicts; some may be missing."""
    across = [
        f"figures/{name}.csv"
        for name in ("claims", "control", "headline", "results", "scorecard", "captions")
    ]
    across += ["figures/results.svg"]
    for paper in registry.COUNTED:
        across += [f"figures/forest-{paper}.svg", f"figures/forest-{paper}.pdf"]
        across += [f"figures/scorecard-{paper}.svg"]
    across += [f"figures/arena/{name}.svg" for name in arena.PICTURES]
    return [root / name for name in across] + [
        Path(f"{stem(root, paper, target)}{ending}")
        for paper in registry.PAPERS
        for target in outlines()[paper].targets  # Snakemake asks too, and imports no paper
        for ending in (".csv", ".svg")
    ]


def sources(root: Path) -> list[Path]:
    """Every file of the project that a person wrote and a page may show."""
    return [
        path
        for top in sorted(root.iterdir())
        if not (top.is_dir() and top.name in BUILT)
        for path in _written(top)
        if ".min." not in path.name
    ]


def _written(path: Path) -> Iterator[Path]:
    """A file, or those under a folder: nothing hidden, compiled or installed."""
    if path.name.startswith((".", "__pycache__")) or path.name.endswith(".egg-info"):
        return
    if path.is_file():
        yield path
    elif path.is_dir() and not (path / "pyvenv.cfg").exists():
        for inner in sorted(path.iterdir()):
            yield from _written(inner)


def fingerprint(root: Path) -> str:
    """A hash of everything the site is made from, by content; file times do not count."""
    digest = hashlib.sha256()
    for path in [*sources(root), *kept(root)]:
        digest.update(f"{path.relative_to(root)}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b"missing")
    return digest.hexdigest()[:16]
