"""From the project's files to the pages of the site."""

import functools
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from bestarm import registry
from bestarm.core.files import replacing
from bestarm.core.inputs import InputError, read_text
from bestarm.publish.captions import ARENA, kept_caption, read_captions
from bestarm.publish.findings import Finding, bars, filled, is_known, read_findings
from bestarm.publish.report_control import control_text
from bestarm.publish.report_verdicts import headline_text
from bestarm.publish.site import arena, texts, verdicts
from bestarm.publish.site import table as tables
from bestarm.publish.site.code import Highlights
from bestarm.publish.site.content import README_PAGES, fingerprint, kept, prose
from bestarm.publish.site.links import Links, reading_anchor
from bestarm.publish.site.notebook import notebook_view
from bestarm.publish.site.paper import (
    check_targets,
    experiment_view,
    printed,
    target_view,
    threshold,
)
from bestarm.publish.site.pictures import smaller, widths
from bestarm.publish.styles import STYLES
from bestarm.registry.scales import Scale, read_scale
from bestarm.verdicts.claims import KINDS, read_claims
from bestarm.verdicts.table import (
    VERDICT_TABLES,
    Line,
    as_frame,
    judged_claims,
    read_verdicts,
)


class Site:
    """Gathers the files of the site, page by page."""

    def __init__(self, root: Path):
        self.root = root
        self.files: dict[str, bytes] = {}
        self.links = Links(root)
        self.code = self.links.code
        self.readme = read_text(root / "README.md")
        self.docs = self._docs()
        for path in kept(root):
            if path.parent == root / "figures" and path.is_file():
                data = path.read_bytes()
                svg = path.suffix == ".svg"
                self.files[f"figures/{path.name}"] = smaller(data) if svg else data
        for path in sorted((root / "schemas").glob("*.json")):
            self.files[f"schemas/{path.name}"] = path.read_bytes()
        self.readings = self._readings()
        self.names = {paper: self._name(paper) for paper in registry.PAPERS}
        loader = PackageLoader("bestarm.publish.site")
        self._templates = Environment(
            loader=loader,
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(
            papers=self.names,
            docs=self.docs,
            made=README_PAGES,
            claim_kinds=KINDS,
            about=verdicts.about,
            most_readings=verdicts.MOST_READINGS,
            number=verdicts.number,
            program=verdicts.program,
            readings=verdicts.readings,
            sign=verdicts.sign,
            style=verdicts.style,
            tally=verdicts.tally,
            why=verdicts.why,
            printed=printed,
            threshold=threshold,
            verdicts=list(STYLES.values()),
            tables=tables,
            code=self.code.page,
        )

    def page(self, path: str, template: str, **values: Any) -> None:
        """Add a page made from a template."""
        top = "../" * path.count("/")
        text = self._templates.get_template(template).render(top=top, path=path, **values)
        self.files[path] = text.encode()

    def link(self, folder: str) -> Callable[[str], str | None]:
        """Links of a text in `folder`, as links between pages."""
        return functools.partial(self.links.page, folder)

    def about(self, paper: str, texts_by_name: dict[str, str]) -> str:
        """Of some texts the one whose name says it is on a paper, or nothing."""
        name = texts.about(paper, texts_by_name)
        return texts_by_name[name] if name else ""

    def reading_page(self, paper: str, reading: str) -> str:
        """Where a reading is explained: at its name, else in the section on its paper."""
        if (anchor := f"{paper}-{reading}") in self.readings.anchors:
            return f"docs/readings.html#{anchor}"
        sections = {h.text: h.anchor for h in self.readings.headings if h.level == 2}
        anchor = self.about(paper, sections)
        return f"docs/readings.html#{anchor}" if anchor else "docs/readings.html"

    def _readings(self) -> texts.Text:
        markdown = read_text(self.root / "docs/readings.md")
        return texts.render(markdown, self.link("docs"), reading_anchor)

    def _name(self, paper: str) -> str:
        """The short name of a paper, as the headings of docs/readings.md have it."""
        heading = texts.about(paper, [h.text for h in self.readings.headings if h.level == 2])
        return heading.partition(" (")[0] if heading else paper

    def _docs(self) -> set[str]:
        """The pages of docs/, which Sphinx makes; what they link to is shown here."""
        for path in prose(self.root):
            folder = path.parent.relative_to(self.root).as_posix()
            texts.render(read_text(path), self.link(folder))
        return {
            path.relative_to(self.root / "docs").with_suffix("").as_posix()
            for path in prose(self.root)
        }


def build(
    root: Path, notebooks: Iterable[Path] = (), highlights: Path | None = None
) -> dict[str, bytes]:
    """The files of the site by path.

    Args:
        root: the project's folder.
        notebooks: executed ones, PAPER.ipynb.
        highlights: a file that keeps highlighted code for the next build.

    Raises:
        InputError: a text, table or claims file of the project cannot be read.
    """
    site = Site(root)
    walks = {path.stem: path for path in notebooks}
    paths = [root / "figures" / name for name in VERDICT_TABLES]
    lines = read_verdicts(*(path for path in paths if path.is_file()))
    scale = read_scale(root / "workflow/scales/paper.yaml")
    papers = {p: _add_paper(site, p, lines, scale, p in walks) for p in registry.PAPERS}
    for paper, path in walks.items():
        _add_notebook(site, paper, path)
    _add_texts(site)
    bench = pd.read_csv(root / "bench/bench.csv")
    times = {paper: _time(bench, paper) for paper in registry.PAPERS}
    pending = any(verdicts.PENDING in verdicts.tally(paper["claims"]) for paper in papers.values())
    styles = [*STYLES.values(), *([verdicts.PENDING] if pending else [])]
    counted = {paper: view for paper, view in papers.items() if paper in registry.COUNTED}
    values = {"of": counted, "times": times, "verdicts": styles, **_across_papers(site)}
    values["controls"] = [paper for paper in papers if paper not in counted]
    site.page("index.html", "index.html", **values)
    highlighted = Highlights(highlights)
    for path, page in site.code.pages(highlighted).items():
        site.page(path, "code.html", page=page)
    highlighted.keep()
    _add_assets(site)
    return site.files


def _add_paper(
    site: Site, paper: str, lines: list[Line], scale: Scale, notebook: bool
) -> dict[str, Any]:
    """Add a paper's page and the files it links; return what the overview says of it."""
    entry = registry.PAPERS[paper]
    claims = judged_claims(
        read_claims(site.root / f"data/claims/{paper}.yaml"),
        (line for line in lines if line.paper == paper),
    )
    check_targets(paper, claims)
    captions = read_captions(site.root / "figures/captions.csv")
    targets = [
        target_view(site.root, paper, t, claims, site.code, captions.get((paper, t.name), ""))
        for t in entry.targets.values()
    ]
    experiments = [experiment_view(paper, e, scale, site.code) for e in entry.experiments.values()]
    for view in targets:
        stem = f"figures/{paper}/{view.target.name}"
        if view.picture is not None:
            site.files[f"{stem}.svg"] = smaller(view.picture)
        if view.table is not None:
            site.files[f"{stem}.csv"] = Path(site.root / f"{stem}.csv").read_bytes()
            key = f"{paper}/{view.target.name}"
            site.files[f"{stem}.js"] = tables.script(key, view.table, view.chart).encode()
    for view in experiments:
        key = f"{paper}/cells-{view.name}"
        site.files[f"figures/{key}.js"] = tables.script(key, view.cells, None).encode()
    summary, question = (
        texts.render(site.about(paper, parts), site.link("docs")).body
        for parts in (
            texts.sections(read_text(site.root / "docs/findings.md")),
            texts.bullets(read_text(site.root / "docs/papers.md")),
        )
    )
    values = {"claims": claims, "targets": targets, "notebook": notebook}
    authors = f"authors/{paper}" in site.docs
    site.page(
        f"{paper}.html",
        "paper.html",
        paper=paper,
        title=entry.title,
        authors=f"docs/authors/{paper}.html" if authors else "",
        forest=site.files.get(f"figures/forest-{paper}.svg", b"").decode(),  # its marks are links
        forest_caption=captions.get(("", f"forest-{paper}"), ""),
        scorecard=widths(site.files.get(f"figures/scorecard-{paper}.svg", b"")),
        scorecard_caption=captions.get(("", f"scorecard-{paper}"), ""),
        question=question,
        summary=summary,
        experiments=experiments,
        reading_page=site.reading_page,
        **values,
    )
    return values


def _add_notebook(site: Site, paper: str, path: Path) -> None:
    """Add the page of a paper's notebook, and its pictures."""
    to_page = site.link("notebooks")

    def link(href: str) -> str | None:
        return (there := to_page(href)) and f"../{there}"

    view = notebook_view(path, link)
    site.files |= {f"notebooks/{name}": data for name, data in view.pictures.items()}
    site.page(f"notebooks/{paper}.html", "notebook.html", paper=paper, view=view)


def _add_texts(site: Site) -> None:
    """Add the pages made of sections of README.md, and the arena's."""
    _add_arena(site, site.root / "docs/arena.md")
    for page, (title, headings) in README_PAGES.items():
        markdown = "".join(texts.section(site.readme, heading) for heading in headings)
        if not markdown:
            raise InputError(f"README.md: has none of the sections {', '.join(headings)}")
        text = texts.render(f"# {title}\n\n{markdown}", site.link(""))
        site.page(f"{page}.html", "text.html", text=text)


def _add_arena(site: Site, path: Path) -> None:
    """Add the page of the arena: its text, its pictures and its cells."""
    captions = read_captions(site.root / "figures/captions.csv")
    pictures = arena.picture_views(site.root, captions)
    for picture in pictures:
        stem = f"figures/{ARENA}/{picture.name}.svg"
        site.files[stem] = smaller(Path(site.root / stem).read_bytes())
    kept = site.root / "data/arena/cells.csv"
    site.files[f"figures/{ARENA}/cells.csv"] = kept.read_bytes()
    cells = pd.read_csv(kept)
    site.page(
        f"{ARENA}.html",
        "arena.html",
        text=texts.render(read_text(path), site.link("docs")),
        pictures=pictures,
        labels=arena.CHOICES,
        choices=arena.choices(cells),
        columns=arena.COLUMNS,
        cells=arena.cell_views(cells),
    )


def _across_papers(site: Site) -> dict[str, Any]:
    """What the first page says of all papers together; parts that have not been built are empty."""
    files = site.files
    headline = results = ""
    finding_views: list[dict[str, Any]] = []
    tables = {f"figures/{name}.csv" for name in ("headline", "results", "claims")}
    if tables <= files.keys():
        lines = as_frame(read_verdicts(site.root / "figures/claims.csv"))
        headline = texts.render(headline_text(site.root, lines), site.link("")).body
        findings = (finding for finding in read_findings(site.root) if is_known(finding, lines))
        finding_views = [_finding(site, finding, lines) for finding in findings]
    if "figures/results.svg" in files:
        results = kept_caption(site.root / "figures/results.svg")
    control = ""
    if "figures/control.csv" in files and {*registry.CONTROLS} & registry.PAPERS.keys():
        control = texts.render(control_text(site.root), site.link("")).body
    return {
        "headline": headline,
        "findings": finding_views,
        "results": results,
        "control": control,
        "has_claims": "figures/claims.csv" in files,
    }


def _finding(site: Site, finding: Finding, lines: pd.DataFrame) -> dict[str, Any]:
    body = texts.render(filled(finding.text, lines), site.link("")).body
    return {
        **finding.model_dump(include={"headline", "check", "unit"}),
        "text": body.removeprefix("<p>").removesuffix("</p>\n"),
        "page": finding.figure.replace("/", ".html#"),
        "bars": bars(finding, lines),
    }


def _time(bench: pd.DataFrame, paper: str) -> str:
    """How long a paper takes from nothing at paper scale, if `make bench` has measured it."""
    measure = f"{paper}, paper scale from nothing, warm compile cache"
    measured = bench[bench.measure == measure]
    if measured.empty:
        return ""
    seconds = measured.value.iloc[0]
    return f"{seconds:.0f} s" if seconds < 180 else f"{seconds / 60:.0f} min"


def _add_assets(site: Site) -> None:
    """Add styles and scripts; uplot.min.js, which draws, is version 1.6.32 as published."""
    for asset in files("bestarm.publish.site").joinpath("assets").iterdir():
        site.files[f"assets/{asset.name}"] = asset.read_bytes()


def make(
    root: Path, out: Path, notebooks: Iterable[Path] = (), expected: str | None = None
) -> None:
    """Build the site into a folder.

    Args:
        root: the project's folder.
        out: where the pages go; other files there are left alone.
        notebooks: executed ones, PAPER.ipynb.
        expected: the fingerprint of the project when the site was asked for.

    Raises:
        InputError: see `build`; or the project has changed since the site was asked for.
    """
    pages = build(root, notebooks, root / "results/highlights.json")
    if expected and expected != fingerprint(root):
        raise InputError(f"{out}: the project changed while its site was made; make it again")
    # The first page last, so that it is never there without the others: a second build that starts
    # meanwhile would remove it (workflow/rules/site.smk).
    for path, data in sorted(pages.items(), key=lambda page: page[0] == "index.html"):
        with replacing(out / path) as temporary:
            temporary.write_bytes(data)
