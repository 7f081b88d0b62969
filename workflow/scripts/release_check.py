"""Print what is still missing for a release, and the identifiers of what would be archived.

    python workflow/scripts/release_check.py

Each line is a check of one thing: version, changelog, citation, tables, crate, wheel, commit. The
exit code is 1 if one fails. Run by `make release-check`, from the project's folder.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import yaml

from bestarm import __version__
from bestarm.build.manifest import changed_tables
from bestarm.core.files import sha256
from bestarm.publish.citation import citation_files

#: Who stands for the authors until somebody publishes.
PLACEHOLDER = "The bestarm developers"
RELEASE = re.compile(r"\d+\.\d+\.\d+")


def version(root: Path) -> Iterator[str]:
    """A release has three numbers and nothing behind them, the same everywhere."""
    if not RELEASE.fullmatch(__version__):
        yield f"src/bestarm/__init__.py: __version__ is {__version__}, not MAJOR.MINOR.PATCH"
    stated = citation(root)["version"]
    if stated != __version__:
        yield f"CITATION.cff: version: is {stated}, __version__ is {__version__}"


def changelog(root: Path) -> Iterator[str]:
    """The newest section is that of the version, and nothing is unreleased."""
    sections = re.split(r"^## ", (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)[
        1:
    ]
    if not sections[0].startswith(__version__):
        title = sections[0].partition("\n")[0]
        yield f"CHANGELOG.md: begins with {title}; entries stand under {__version__} and a date"


def cited(root: Path) -> Iterator[str]:
    """Who wrote it, when it was released, and the files that follow from that."""
    known = citation(root)
    if any(author.get("name") == PLACEHOLDER for author in known["authors"]):
        yield f"CITATION.cff: authors: {PLACEHOLDER} is a placeholder for names"
    try:
        date.fromisoformat(str(known.get("date-released")))
    except ValueError:
        yield "CITATION.cff: date-released: is missing; it is a day, like 2026-01-31"
    for field in ("doi", "repository-code"):
        if not known.get(field):
            yield f"CITATION.cff: {field}: is missing"
    for name, text in citation_files(root).items():
        if (root / name).read_text(encoding="utf-8") != text:
            yield f"{name}: is not what CITATION.cff gives; `make readme` writes it"


def paper(root: Path) -> Iterator[str]:
    """The paper has a day, and affiliations of its authors."""
    head = (root / "docs/paper/paper.md").read_text(encoding="utf-8").split("---\n")[1]
    if "to be " in head:
        yield "docs/paper/paper.md: affiliations or date are placeholders"


def tables(root: Path) -> Iterator[str]:
    """The committed tables are those of a finished build at paper scale."""
    manifest = root / "figures/all"
    if not manifest.is_file():
        yield "figures/all: is missing; `make figures` writes it"
        return
    for table in changed_tables(manifest, root):
        yield f"{table}: is not the one of the build; `make figures`"


def crate(root: Path) -> Iterator[str]:
    """The crate is of this version, its files have their hashes, its tables are the committed."""
    path = root / "crate/ro-crate-metadata.json"
    if not path.is_file():
        yield "crate: is missing; `make crate` writes it"
        return
    entities = json.loads(path.read_text(encoding="utf-8"))["@graph"]
    stated = next(one["version"] for one in entities if one["@id"] == "./")
    if stated != __version__:
        yield f"crate: version: is {stated}, __version__ is {__version__}"
    for one in entities:
        copies = [path.parent / one["@id"], root / one["@id"]]
        for file in copies if "sha256" in one and one["@id"] != "jobs.csv" else ():
            if not file.is_file() or sha256(file) != one["sha256"]:
                yield f"{file.relative_to(root)}: is not the one that the crate lists; `make crate`"


def wheel(root: Path) -> Iterator[str]:
    """A wheel can be built; it has the version, the licences and every committed schema."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        made = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if made.returncode:
            yield f"wheel: cannot be built: {made.stderr.strip().splitlines()[-1]}"
            return
        (path,) = Path(folder).glob("*.whl")
        if path.name.split("-")[1] != __version__:
            yield f"wheel: is called {path.name}, __version__ is {__version__}"
        names = {Path(name).name for name in ZipFile(path).namelist()}
    wanted = {file.name for of in ("schemas", "LICENSES") for file in (root / of).iterdir()}
    yield from (f"wheel: lacks {name}" for name in sorted(wanted - names))


def commit(root: Path) -> Iterator[str]:
    """Everything is committed, and the commit has the tag of the version."""
    if changed := git(root, "status", "--porcelain"):
        yield f"{changed.split()[1]}: is changed or not committed (git status)"
    if f"v{__version__}" not in git(root, "tag", "--points-at", "HEAD").splitlines():
        yield f"git: the commit has no tag v{__version__}"


CHECKS: tuple[Callable[[Path], Iterator[str]], ...] = (
    *(version, changelog, cited, paper, tables, crate, wheel, commit),
)


def identifiers(root: Path) -> list[str]:
    """The identifiers that Software Heritage gives to the commit and to its files."""
    names = {"rev": "HEAD", "dir": "HEAD^{tree}"}
    return [f"swh:1:{kind}:{git(root, 'rev-parse', name)}" for kind, name in names.items()]


def citation(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    root, missing = Path.cwd(), 0
    for check in CHECKS:
        problems = list(check(root))
        missing += len(problems)
        print(*(problems or [f"{check.__name__}: ready"]), sep="\n")
    print(*identifiers(root), sep="\n")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
