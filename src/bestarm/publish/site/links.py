"""From links of the project's texts, as its host shows them, to pages of the site.

The site has two parts: the replication site, and below `docs/` what Sphinx makes of `docs/`. Texts
of both are linked by this module alone.
"""

import posixpath
from pathlib import Path

from bestarm import registry
from bestarm.publish.captions import ARENA
from bestarm.publish.site import texts
from bestarm.publish.site.code import Code
from bestarm.publish.site.content import kept, sources


class Links:
    """Where the site shows the files of a project."""

    def __init__(self, root: Path):
        self.code = Code(root, sources(root))
        schemas = sorted((root / "schemas").glob("*.json"))
        self._files = {path.relative_to(root).as_posix() for path in [*kept(root), *schemas]}

    def page(self, folder: str, href: str) -> str | None:
        """The page for a link of a text in `folder`, from the site's top; None if there is none.

        Example:
            >>> links = Links(Path("."))
            >>> links.page("docs", "../figures/baics/fig1.svg")
            'baics.html#fig1'
            >>> links.page("docs/authors", "../design.md#words")
            'docs/design.html#words'
        """
        path, _, fragment = href.partition("#")
        path = posixpath.normpath(posixpath.join(folder, path))
        anchor = f"#{fragment}" if fragment else ""
        parts = path.split("/")
        if path == "README.md":
            return f"rerun.html{anchor}"
        if parts[0] == "docs" and path.endswith((".md", ".rst")):
            return f"{path.rpartition('.')[0]}.html{anchor}"
        if parts[0] == "site":
            return "/".join(parts[1:]) + anchor
        if parts[0] == "figures" and len(parts) > 1 and parts[1] in (*registry.PAPERS, ARENA):
            return "#".join([f"{parts[1]}.html", *(name.split(".")[0] for name in parts[2:3])])
        return path if path in self._files else self.code.page(path)


def reading_anchor(heading: str, name: str) -> str | None:
    """The anchor of a reading, named in a section of docs/readings.md; None if it is no reading."""
    for paper in registry.PAPERS:
        if texts.about(paper, [heading]):
            names = registry.PAPERS[paper].simulation.reading_names()
            return f"{paper}-{name}" if name in names else None
    return None
