"""Tests of the site of all papers, which `make site` builds from the committed figures."""

import html
import os
import re
from pathlib import Path

import pandas as pd
import pytest

import site_checks
from bestarm import registry
from bestarm.publish.report_verdicts import headline_sentence
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
        if path.is_file() and not name.startswith("api/")
    }
    return site_checks.site_of(root, contents, registry.PAPERS)


@pytest.mark.parametrize("check", site_checks.COMPLETE, ids=lambda check: check.__name__)
def test_of_a_site(check, site):
    check(site)


def test_pages_are_those_the_workflow_declares(root, site):
    assert {p for p in site.files if "/" not in p} == {f"{name}.html" for name in page_names(root)}
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


def test_readings_whose_names_are_put_together_lead_to_the_section_of_their_paper(site):
    sections = [one for one in site.pages["readings.html"].ids if one.startswith("linear-bandits")]
    assert f"readings.html#{sections[0]}" in site.pages["linear.html"].links


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
    assert "bestarm.baics.TaSCS" in (Path(root / SITE) / "api/baics.html").read_text()
