"""Tests of the site of all papers, which `make site` builds from the committed figures."""

import html
import os
import re
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest

import site_checks
from bestarm import registry
from bestarm.publish.report_verdicts import headline_sentence
from bestarm.publish.site import texts
from bestarm.publish.site.content import page_names

SITE = os.environ.get("BESTARM_SITE")
if not SITE:
    pytest.skip("`make test-build` builds it", allow_module_level=True)


@pytest.fixture(scope="module")
def site(root):
    """What the workflow built, but for the pages that Sphinx makes."""
    folder = Path(root / SITE)
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("[!.]*")}
    contents = {
        name: path.read_bytes()
        for name, path in files.items()
        if path.is_file() and not name.startswith("docs/")
    }
    return site_checks.site_of(root, contents, registry.PAPERS)


@pytest.mark.parametrize("check", site_checks.COMPLETE, ids=lambda check: check.__name__)
def test_of_a_site(check, site):
    check(site)


def test_pages_are_those_the_workflow_declares(root, site):
    assert {p for p in site.files if "/" not in p} == {f"{name}.html" for name in page_names()}
    folders = {p.split("/")[0] for p in site.files if "/" in p}
    assert folders == {"assets", "code", "figures", "notebooks", "schemas"}


def test_home_shows_the_headline(root, site):
    page = site.files["index.html"].decode()
    said = headline_sentence(pd.read_csv(root / "figures/results.csv"))
    assert said in " ".join(html.unescape(re.sub(r"<.*?>", "", page)).split())


def test_marks_of_forests_lead_to_claims(root, site):
    lines = pd.read_csv(root / "figures/claims.csv")
    numbers = lines[lines.kind.eq("number") & lines.ratio.notna()]
    links = {
        link
        for paper in registry.COUNTED
        for link in re.findall(
            r'xlink:href="(\w+\.html#claim-[^"]+)"', site.files[f"{paper}.html"].decode()
        )
    }
    assert links == {f"{row.paper}.html#claim-{row.id}" for row in numbers.itertuples()}
    for link in links:
        page, _, anchor = link.partition("#")
        assert anchor in site.pages[page].ids


def test_readings_whose_names_are_put_together_lead_to_the_section_of_their_paper(root, site):
    headings = texts.sections((root / "docs/readings.md").read_text())
    (section,) = (texts.slug(heading) for heading in headings if heading.startswith("Linear"))
    assert f"docs/readings.html#{section}" in site.pages["linear.html"].links


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_notebook_has_its_outputs(paper, site):
    """Pictures with descriptions, answers, equations, and verdicts that lead to claims."""
    page = site.pages[f"notebooks/{paper}.html"]
    assert len(page.pictures) > 1
    assert all(len(alt) > 40 for _, alt, _ in page.pictures)
    html = site.files[f"notebooks/{paper}.html"].decode()
    assert html.count("<p><strong>") >= 3
    assert 'display="block"' in html
    assert any(re.match(rf"\.\./{paper}\.html#claim-", link) for link in page.links)


def test_the_programming_interface_is_documented(root):
    assert "bestarm.baics.TaSCS" in (Path(root / SITE) / "docs/api/baics.html").read_text()


def test_links_between_the_documentation_and_the_site_lead_somewhere(root):
    """And within the documentation; all pages of docs/ are there, with their pictures."""
    folder = Path(root / SITE).resolve()
    ids, links = {}, {}
    for path in folder.rglob("*.html"):
        text = path.read_text()
        ids[path] = set(re.findall(r'\sid="([^"]+)"', text))
        links[path] = set(re.findall(r'\s(?:href|src)="([^"]+)"', text))
    for source in [*(root / "docs").rglob("*.md"), *(root / "docs").rglob("*.rst")]:
        page = folder / source.relative_to(root).with_suffix(".html")
        assert page in ids or "paper" in source.parts, source
    crossings = 0
    for path, there in ((page, link) for page in links for link in links[page]):
        if re.match(r"\w+:", there):
            continue
        name, _, anchor = html.unescape(unquote(there)).partition("#")
        target = (path.parent / name.partition("?")[0]).resolve() if name else path
        in_docs = [folder / "docs" in one.parents for one in (path, target)]
        if not any(in_docs):
            continue  # the checks above
        crossings += not all(in_docs)
        assert target.is_file(), f"{path}: {there}"
        if anchor and target.suffix == ".html":
            assert anchor in ids[target], f"{path}: {there}"
    assert crossings > 500


def test_the_documentation_fetches_nothing_and_shows_its_pictures(root):
    pages = list((Path(root / SITE) / "docs").rglob("*.html"))
    for page in pages:
        text = page.read_text()
        assert not re.search(r'(?:src|<link[^>]*href)="(?:https?:)?//', text), page.name
    shown = "".join(page.read_text() for page in pages)
    for picture in (root / "docs/pictures").glob("*.svg"):
        assert f"_images/{picture.name}" in shown
