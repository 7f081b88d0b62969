"""What holds of every replication site, of one paper or of all, given as its files."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import NamedTuple
from urllib.parse import unquote

import pandas as pd
import pytest

from bestarm import registry
from bestarm.common.tables import read_table
from bestarm.publish.report_verdicts import verdict_table
from bestarm.publish.site import texts
from bestarm.publish.site.pictures import smaller
from bestarm.publish.styles import STYLES
from bestarm.verdicts.claims import read_claims
from bestarm.verdicts.table import VERDICT_TABLES, judged_claims, read_verdicts

VOID = {"meta", "link", "img", "br", "input", "hr"}


class Page(HTMLParser):
    """Ids, links and texts of a page, each with the ids of the elements around it."""

    def __init__(self, html: str):
        super().__init__()
        self.ids, self.links, self.pictures = [], [], []
        self.section_of, self.text_of = {}, Counter()
        self.texts: dict[str, str] = {}
        self.tags = Counter()
        self._open: list[tuple[str, str]] = []
        self.feed(html)
        assert not self._open, self._open

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags[tag] += 1
        if "id" in found:
            self.ids.append(found["id"])
            self.section_of[found["id"]] = [one for _, one in self._open if one]
        self.links += [found[name] for name in ("href", "src") if name in found]
        if tag == "img":
            self.pictures.append((found["src"], found["alt"], [i for _, i in self._open if i]))
        if tag not in VOID:
            self._open.append((tag, found.get("id", "")))

    def handle_endtag(self, tag):
        assert tag in VOID or self._open.pop()[0] == tag

    def handle_data(self, data):
        for _, one in self._open:
            if one:
                self.texts[one] = self.texts.get(one, "") + data


class Site(NamedTuple):
    root: Path  # the project that it shows
    files: dict[str, bytes]  # by path
    pages: dict[str, Page]
    papers: list[str]


def site_of(root: Path, files: dict[str, bytes], papers) -> Site:
    html = {path: data.decode() for path, data in files.items() if path.endswith(".html")}
    return Site(root, files, {path: Page(text) for path, text in html.items()}, list(papers))


def every_link_leads_somewhere(site):
    """On the site; findings on the first page lead to all papers."""
    elsewhere = re.compile(r"https?:|data:,$|(\.\./)*docs/")
    missing = {f"{paper}.html" for paper in registry.PAPERS if paper not in site.papers}
    for path, page in site.pages.items():
        for link in page.links:
            if elsewhere.match(link):
                continue
            there, _, fragment = unquote(link).partition("#")
            target = normpath(join(dirname(path), there)) if there else path
            if path == "index.html" and target in missing:
                continue
            assert target in site.files, f"{path}: {link}"
            if fragment:
                assert fragment in site.pages[target].ids, f"{path}: {link}"


def nothing_is_fetched_from_outside(site):
    for path, data in site.files.items():
        if path.endswith((".html", ".css")):
            fetched = re.findall(
                r"(?:src|<link[^>]*href)=\"(https?:[^\"]*)|url\((?!#)(.*?)\)", data.decode()
            )
            assert not fetched, path


def ids_are_unique(site):
    for path, page in site.pages.items():
        assert [one for one, k in Counter(page.ids).items() if k > 1] == [], path


def every_claim_is_on_its_target_once(site):
    paths = [site.root / "figures" / name for name in VERDICT_TABLES]
    lines = read_verdicts(*(path for path in paths if path.is_file()))
    for paper in site.papers:
        page = site.pages[f"{paper}.html"]
        claims = read_claims(site.root / f"data/claims/{paper}.yaml")
        expected = judged_claims(claims, [line for line in lines if line.paper == paper])
        shown = Counter(one for one in page.ids if one.startswith("claim-"))
        assert shown == Counter(f"claim-{one.claim.id}" for one in expected)
        for one in expected:
            section = one.target or "untested"
            assert section in page.section_of[f"claim-{one.claim.id}"], one.claim.id
    on_papers = {f"{paper}.html" for paper in site.papers}
    with_claims = {
        path for path, page in site.pages.items() if any(i.startswith("claim-") for i in page.ids)
    }
    assert with_claims == on_papers


def claims_say_what_the_verdicts_table_says(site):
    lines = pd.concat([pd.read_csv(site.root / "figures" / name) for name in VERDICT_TABLES])
    for (paper, name), of_claim in lines[lines.paper.isin(site.papers)].groupby(["paper", "id"]):
        text = " ".join(site.pages[f"{paper}.html"].texts[f"claim-{name}"].split())
        first = of_claim.iloc[0]
        assert " ".join(first.statement.split()) in text
        look = STYLES[first.verdict]
        assert text.startswith(f"{look.sign} {look.label} {first.kind}"), (name, text)
        if first.test == "none":
            continue
        for row in of_claim.itertuples():
            alone = of_claim.reading.value_counts()[row.reading] == 1
            label = row.reading if alone else row.part
            shown = re.findall(
                rf"(?<!\S){re.escape(label)} (?:more than )?(-?\d[\d.,e+-]*|∞|undefined)", text
            )
            words = {"undefined": "nan", "∞": "inf"}
            numbers = [float(words.get(one, one).replace(",", "")) for one in shown]
            ours = row.low if row.at_least else row.ours
            same = pytest.approx(ours, rel=1e-3, nan_ok=True)
            assert any(one == same for one in numbers), (name, row)
        readings = of_claim.groupby("reading")
        errs = readings.errs.first().astype(bool)
        assert text.count("errs more often than delta") == errs.sum(), name


def every_target_has_its_picture_table_and_code(site):
    for paper in site.papers:
        page, targets = site.pages[f"{paper}.html"], registry.PAPERS[paper].targets
        code = re.compile(rf"{paper}/(\w+/)?plots\w*\.py\.html#L-")
        assert len([link for link in page.links if code.search(link)]) == len(targets)
        for target in targets.values():
            stem = f"figures/{paper}/{target.name}"
            shown = [(alt, around) for src, alt, around in page.pictures if src == f"{stem}.svg"]
            assert len(shown) == 1
            alt, around = shown[0]
            assert target.title in alt
            assert target.name in around
            assert site.files[f"{stem}.svg"] == smaller((site.root / f"{stem}.svg").read_bytes())
            assert site.files[f"{stem}.csv"] == (site.root / f"{stem}.csv").read_bytes()
            assert f"{stem}.csv" in page.links
            assert page.texts[f"{target.name}-caption"].endswith(".")
            section = page.texts[target.name]
            assert f"bestarm verify {paper}/{target.name}" in section
            assert "cells: " in section or "no simulation" in section


def every_claim_has_its_quotation(site):
    for paper in site.papers:
        for claim in read_claims(site.root / f"data/claims/{paper}.yaml").claims:
            text = " ".join(site.pages[f"{paper}.html"].texts[f"claim-{claim.id}"].split())
            assert " ".join((claim.quote or "").split()) in text


def the_overview_counts_the_claims(site):
    """The numbers of README's table, by paper and kind."""
    totals = pd.read_csv(site.root / "figures/headline.csv")
    expected = [row.strip("| ").split(" | ") for row in verdict_table(totals).splitlines()[2:]]
    html = site.files["index.html"].decode()
    table = html[html.index('<table class="overview">') :]
    shown = []
    for body in re.findall(r"<tbody>(.*?)</tbody>", table, re.DOTALL):
        (paper,) = set(re.findall(r'<th scope="row".*?href="(\w+)\.html"', body, re.DOTALL))
        n_targets = len(registry.PAPERS[paper].targets.values())
        assert f"{n_targets} of {n_targets} figures and tables rebuilt" in body
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
            cells = re.findall(r'<td data-label=".*?".*?>(.*?)</td>', row)
            kind = {"identities": "identity"}.get(cells[0], cells[0].removesuffix("s"))
            shown.append([paper, kind, *cells[1:]])
    assert shown == [row for row in expected if row[0] in site.papers]
    assert {row[0] for row in shown} == set(site.papers) - set(registry.CONTROLS)


def a_positive_control_is_beside_the_totals(site):
    html = site.files["index.html"].decode()
    for paper in set(site.papers) & set(registry.CONTROLS):
        assert html.index('id="control"') < html.rindex(f'href="{paper}.html"')
        assert f"{paper}.html#claim-" not in html


def every_paper_has_a_page_for_its_authors(site):
    for paper in set(site.papers) - set(registry.CONTROLS):
        assert f"docs/authors/{paper}.html" in site.pages[f"{paper}.html"].links
        assert f"docs/authors/{paper}.html" in site.pages["index.html"].links
        text = (site.root / f"docs/authors/{paper}.md").read_text()
        assert {"Errata", "What differs, and under which readings"} <= texts.sections(text).keys()


def a_paper_begins_with_what_it_asks_and_a_link_to_it(site):
    for paper in site.papers:
        html = site.files[f"{paper}.html"].decode()
        lead = html[html.index("question") : html.index('id="found"')]
        (link,) = re.findall(r'href="(https:[^"]+)"', lead)
        assert f"]({link})" in (site.root / "README.md").read_text()
        assert html.index('id="found"') < html.index('class="tally"')
        anchors = [link for link in site.pages[f"{paper}.html"].links if link == "#contents"]
        assert len(anchors) == len(registry.PAPERS[paper].targets)


def notebooks_have_the_shell_of_the_site(site):
    """Header, styles, a table of contents, the paper's page and the notebook's own source."""
    for paper in site.papers:
        assert f"notebooks/{paper}.html" in site.pages[f"{paper}.html"].links
        links = site.pages[f"notebooks/{paper}.html"].links
        there = {"../index.html", "../assets/site.css", "../assets/theme.js", f"../{paper}.html"}
        assert there <= set(links)
        assert f"../code/notebooks/{paper}.py.html" in links
        assert sum(link.startswith("#") for link in links) > 4


def what_a_picture_shows_first_is_in_its_table(site):
    """And every table with different values can be explored; what is seen first has our numbers."""
    for paper in site.papers:
        known = registry.PAPERS[paper]
        assert set(known.plots.first) <= set(known.targets)
        for name in known.targets:
            data = site.files[f"figures/{paper}/{name}.js"].decode()
            drawn = json.loads(data.partition(", ")[2].removesuffix(");\n"))["chart"]
            table = read_table(site.root / f"figures/{paper}/{name}.csv")
            if table.groupby("statistic").value.nunique().max() >= 2:  # else a number of each
                assert drawn, name
                assert known.plots.first.get(name) in (None, drawn["start"]), name
                picture = (site.root / f"figures/{paper}/{name}.svg").read_bytes()
                assert set(drawn["log"]) == {"x", "y"}
                assert drawn["log"]["x"] == (b"<rdf:li>x log</rdf:li>" in picture)
            if not drawn:
                continue
            first = table.statistic == drawn["start"]
            panels = [{at} if isinstance(at, int) else set(at) for at in drawn["of"]["panel"]]
            seen, ours = (
                set().union(*(some for some, one in zip(panels, which, strict=True) if one)) - {-1}
                for which in (first, first & (table.reading != "published"))
            )
            assert min(seen) in ours, name


#: Of every site, also of one of which parts were never built.
ALWAYS = (
    every_link_leads_somewhere,
    nothing_is_fetched_from_outside,
    ids_are_unique,
    every_claim_is_on_its_target_once,
)
#: Of a site with notebooks, all of whose figures are built.
COMPLETE = (
    *ALWAYS,
    claims_say_what_the_verdicts_table_says,
    every_target_has_its_picture_table_and_code,
    every_claim_has_its_quotation,
    the_overview_counts_the_claims,
    a_positive_control_is_beside_the_totals,
    every_paper_has_a_page_for_its_authors,
    a_paper_begins_with_what_it_asks_and_a_link_to_it,
    notebooks_have_the_shell_of_the_site,
    what_a_picture_shows_first_is_in_its_table,
)
