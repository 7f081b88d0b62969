"""The replication site: of one paper, whole and with parts that are missing or hostile.

The site of all papers is tested by `make test-build` (tests/built/test_pages.py).
"""

import html
import json
import os
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import jupytext
import numpy as np
import pandas as pd
import pytest
from docutils.core import publish_parts

import site_checks
from bestarm import arena, registry
from bestarm.common.drawing import caption, new_figure, save
from bestarm.common.styles import BLACK, BLUE, GREEN, ORANGE, PURPLE, Style
from bestarm.common.tables import assemble, read_table
from bestarm.core.inputs import InputError
from bestarm.publish.captions import kept_caption, read_captions, rst_caption, write_captions
from bestarm.publish.site import arena as arena_page
from bestarm.publish.site import build, links, texts, verdicts
from bestarm.publish.site.chart import chart
from bestarm.publish.site.code import Code, Highlights, highlighted
from bestarm.publish.site.content import fingerprint, page_names, sources
from bestarm.publish.site.pictures import log_axes, smaller, svg_width
from bestarm.publish.site.table import plain, script
from bestarm.verdicts.claims import read_claims
from bestarm.verdicts.table import judged_claims, read_verdicts

#: The paper whose site is whole, and the one whose site is odd.
WHOLE, ODD = "cbmai", "baics"


def built(root, paper, notebooks=()):
    """The site of a project as if it had one paper, and its code alone."""
    scale = build.read_scale(root / "workflow/scales/paper.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "read_scale", lambda _: scale)
        patch.setattr(registry, "PAPERS", {paper: registry.PAPERS[paper]})
        patch.setattr(registry, "COUNTED", (paper,))
        patch.setattr(
            links, "sources", lambda root: [path for path in sources(root) if paper in str(path)]
        )
        names = {f"{name}.html" for name in page_names()}
        site = site_checks.site_of(root, build.build(root, notebooks), [paper])
    assert {path for path in site.files if "/" not in path} == names
    return site


@pytest.fixture(scope="module")
def site(root, tmp_path_factory):
    """With its notebook as if executed, without outputs."""
    notebook = tmp_path_factory.mktemp("notebooks") / f"{WHOLE}.ipynb"
    jupytext.write(jupytext.read(root / f"notebooks/{WHOLE}.py"), notebook)
    return built(root, WHOLE, [notebook])


@pytest.fixture(scope="module")
def odd(root, tmp_path_factory):
    """Of a project with hostile texts, and parts that were never built; no notebook."""
    project = tmp_path_factory.mktemp("odd") / "project"
    papers = [paper for paper in registry.PAPERS if paper != ODD]
    left_out = (".*", "results", "site", "__pycache__", "quick", "smoke", "src", "tests", *papers)
    shutil.copytree(root, project, ignore=shutil.ignore_patterns(*left_out))
    figures = project / f"figures/{ODD}"
    (figures / "fig1.svg").unlink()
    (figures / "fig1.csv").unlink()
    (figures / "fig2.svg").unlink()
    table = figures / "table1.csv"
    table.write_text(table.read_text().replace("T-a-SCS", "</td><script>x()</script>"))
    lines = pd.read_csv(project / "figures/claims.csv", dtype=str, keep_default_na=False)
    lines.loc[lines.id == "table1-tascs-time", "statement"] = "<img src=x onerror=x()> & more"
    lines[lines.id != "table1-tas-time"].to_csv(project / "figures/claims.csv", index=False)
    return built(project, ODD)


@pytest.mark.parametrize("check", site_checks.COMPLETE, ids=lambda check: check.__name__)
def test_of_a_site(check, site):
    check(site)


@pytest.mark.parametrize("check", site_checks.ALWAYS, ids=lambda check: check.__name__)
def test_of_an_odd_site(check, odd):
    check(odd)


def test_folders_are_those_the_workflow_declares(site):
    folders = {p.split("/")[0] for p in site.files if "/" in p}
    assert folders == {"assets", "code", "figures", "notebooks", "schemas"}


def test_code_links_lead_to_the_function_that_draws(site):
    links = [link for link in site.pages["cbmai.html"].links if "cbmai/plots.py.html#L-" in link]
    page, line = links[1].split("#L-")  # the targets are in order, the second is fig2
    text = site.files[page].decode()
    linked = re.search(rf'<span id="L-{line}">(.*)</span>', text)[1]
    shown = re.sub("<.*?>", "", linked)
    assert shown == "def fig2(table: pd.DataFrame, geometry: pd.DataFrame) -&gt; Figure:"
    before = text[text.index('<pre class="highlight">') : text.index(linked)]
    assert before.count("\n") == int(line) - 1


def test_the_arena_has_its_pictures_and_a_line_per_cell(root, site):
    """Lines say the numbers of the kept table, and have the keys that filters offer."""
    page = site.pages["arena.html"]
    for name in arena.PICTURES:
        stem = f"figures/arena/{name}.svg"
        assert site.files[stem] == smaller((root / stem).read_bytes())
        assert [around[-1] for src, _, around in page.pictures if src == stem] == [name]
    kept = pd.read_csv(root / "data/arena/cells.csv")
    html = site.files["arena.html"].decode()
    lines = re.findall(r"<tr [^>]*data-family.*?</tr>", html)
    values = [re.findall("<td>(.*?)</td>", line) for line in lines]
    table = pd.DataFrame(values, columns=list(arena_page.COLUMNS))
    assert (table.strategy == kept.strategy).all()
    means = table["pulls/bound"].str.removeprefix("&gt; ").astype(float)
    np.testing.assert_allclose(means, kept.ratio, rtol=6e-3)
    assert ((table["above δ (95%)"] == "yes") == (kept.error_low > kept.delta)).all()
    for column in arena_page.CHOICES:
        offered = re.search(rf'<select name="{column}">(.*?)</select>', html)[1]
        keys = set(re.findall(r'value="([^"]+)"', offered))
        assert keys == set(re.findall(rf'<tr [^>]*data-{column}="([^"]*)"', html))
        assert len(keys) == kept[column].nunique()


def test_thresholds_of_our_tests_are_said_in_words(odd):
    said = {
        "table1-tascs-beats-tas": "Our test: below that of T-a-S.",
        "theorem-4.1-pac-mean": "Our test: above that of lower bound.",
    }
    for claim, words in said.items():
        assert words in odd.pages["baics.html"].texts[f"claim-{claim}"]


def test_readings_lead_to_where_they_are_explained(odd):
    assert "docs/readings.html#baics-maximiser+no-half" in odd.pages["baics.html"].links


def test_links_of_texts_lead_to_pages_of_the_site(root):
    of = links.Links(root)
    assert of.page("docs", "../figures/baics/fig1.svg") == "baics.html#fig1"
    assert of.page("docs/authors", "../../figures/baics") == "baics.html"
    assert of.page("docs/authors", "../design.md#words") == "docs/design.html#words"
    assert of.page("", "docs/api/index.rst") == "docs/api/index.html"
    assert of.page("docs", "../README.md#what-replicates") == "rerun.html#what-replicates"
    assert of.page("docs", "../figures/claims.csv") == "figures/claims.csv"
    there = of.page("docs", "../src/bestarm/core/anytime.py")
    assert there == "code/src/bestarm/core/anytime.py.html"
    assert there in of.code.pages()
    assert of.page("docs", "../results/x.csv") is None


def test_readings_are_named_by_paper():
    assert links.reading_anchor("BAICS (Wu and others)", "no-half") == "baics-no-half"
    assert links.reading_anchor("BAICS (Wu and others)", "no-such-reading") is None
    assert links.reading_anchor("Words", "no-half") is None


def test_hostile_texts_are_text(odd):
    page = odd.pages["baics.html"]
    assert "<img src=x onerror=x()> & more" in page.texts["claim-table1-tascs-time"]
    assert "</td><script>x()</script>" in page.texts["table1"]
    assert page.tags["script"] == 4
    assert all(src.startswith("figures/") for src, _, _ in page.pictures)


def test_what_is_missing_is_said(odd):
    page = odd.pages["baics.html"]
    assert "Not built yet: snakemake figures/baics/fig1.svg" in page.texts["fig1"]
    assert "Only its table has been built" in page.texts["fig2"]
    assert "figures/baics/fig1.csv" not in odd.files
    assert not any(src.startswith("figures/baics/fig1.") for src, _, _ in page.pictures)
    assert "… not tested yet" in page.texts["claim-table1-tas-time"]
    overview = odd.files["index.html"].decode()
    wanted = len(registry.PAPERS["baics"].targets)
    assert f"{wanted - 2} of {wanted} figures and tables rebuilt" in overview
    assert 'data-label="… not tested yet">1<' in overview


def test_a_notebook_is_linked_where_there_is_one(odd):
    assert "notebooks/baics.html" not in odd.pages["baics.html"].links


def test_links_to_what_the_site_does_not_have_are_plain_text(odd):
    """Links of README to the figures of papers that are not there."""
    assert "linear" not in "".join(odd.pages["rerun.html"].links)


def test_the_reading_that_decides_comes_first(root):
    """The one that the verdict rests on; the others in the order of the table."""
    table = pd.read_csv(root / "figures/claims.csv").dropna(subset=["reading"])
    lines = read_verdicts(root / "figures/claims.csv")
    for paper, of_paper in table.groupby("paper"):
        claims = read_claims(root / f"data/claims/{paper}.yaml")
        found = judged_claims(claims, [line for line in lines if line.paper == paper])
        shown = {one.claim.id: verdicts.readings(one) for one in found}
        for name, of_claim in of_paper.groupby("id"):
            order = list(dict.fromkeys(of_claim.reading))
            under = of_claim.under.iloc[0]
            if isinstance(under, str):
                order.sort(key=lambda reading: reading != under)
                assert shown[name][0][0].outcome in of_claim.verdict.iloc[0]
            assert [lines[0].reading for lines in shown[name]] == order


def test_run_times_are_those_measured():
    bench = pd.DataFrame({"measure": ["a, paper scale from nothing, warm compile cache"]})
    assert build._time(bench.assign(value=128.2), "a") == "128 s"
    assert build._time(bench.assign(value=1260.0), "a") == "21 min"
    assert build._time(bench.assign(value=1260.0), "b") == ""


def test_browser_packages_are_pinned_and_no_address_is_named(root):
    lock = (root / "tests/site/requirements.lock").read_text()
    assert "://" not in lock
    for line in (root / "tests/site/requirements.in").read_text().splitlines():
        if not line.startswith("#"):
            name = re.match(r"[\w-]+", line)[0]
            assert re.search(rf"^{name}==\S+ .*\n +--hash=sha256:", lock, re.MULTILINE), name


def test_table_leaves_out_columns_that_say_nothing_and_is_json():
    rows = [
        {"instance": "a", "strategy": s, "statistic": "t", "value": v, "n": 3}
        for s, v in (("x", 1.5), ("y", float("nan")), ("z", float("inf")))
    ]
    table = assemble(rows).astype({"value": float, "low": float, "high": float, "x": float})
    text = script("p/t", table, None)
    data = json.loads(text.removeprefix('bestarm.receive("p/t", ').removesuffix(");\n"))
    names = ["strategy", "statistic", "value", "low", "high", "n", "status"]
    assert list(data["columns"]) == names
    assert data["columns"]["value"] == [1.5, None, "∞"]
    assert data["columns"]["statistic"] == {"names": ["t"], "runs": [0, 3]}
    assert plain(3.0) == 3


def test_values_that_come_again_later_stay_where_they_are():
    table = pd.DataFrame({"strategy": list("xxxyyyxxx"), "statistic": list("abcabcabc")})
    text = script("p/t", table.assign(value=1.0), None)
    data = json.loads(text.removeprefix('bestarm.receive("p/t", ').removesuffix(");\n"))
    assert data["columns"]["strategy"] == {"names": ["x", "y"], "runs": [0, 3, 1, 3, 0, 3]}
    assert data["columns"]["statistic"] == {"names": ["a", "b", "c"], "at": [0, 1, 2] * 3}


def points(x_name, xs, strategy, value=0.5, reading="as-written", **more):
    names = {"instance": "A", "setting": "", "statistic": "error_rate", **more}
    return [
        {**names, "strategy": strategy, "reading": reading, "x_name": x_name, "x": x}
        | {"value": value / (k + 1), "low": 0.0, "high": 1.0, "n": 5}
        for k, x in enumerate(xs)
    ]


def with_lines(path):
    """A path whose vertical lines name both coordinates of their end."""
    return re.sub(r"M(\S+) (\S+)V(\S+)", r"M \1 \2 L \1 \3", path)


def test_a_smaller_picture_has_the_same_marks_texts_and_styles(root):
    """Elements, texts, links and styles as before; coordinates within 0.005."""
    picture = (root / "figures/forest-lagex.svg").read_bytes()
    small = smaller(picture)
    assert len(small) < 0.6 * len(picture)
    before, after = ([*ElementTree.fromstring(one).iter()] for one in (picture, small))
    before = [e for e in before if "metadata" not in e.tag and "purl" not in e.tag]
    before = [e for e in before if "creativecommons" not in e.tag and "rdf" not in e.tag]
    rules = dict(re.findall(r"\.(svg-\d+)\{(.*?)\}", small.decode()))
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        assert one.tag == other.tag
        if not one.tag.endswith("style"):
            assert (one.text or "").split() == (other.text or "").split()
        assert one.get("style") == rules.get(other.get("class"))
        turn = one.get("transform", "")
        places = {**one.attrib, "transform": "" if turn.startswith("rotate(-0 ") else turn}
        shown = other.attrib | {"d": with_lines(other.get("d", ""))}
        for key in ("d", "x", "y", "transform"):
            numbers = (re.findall(r"-?\d+\.?\d*", e.get(key, "")) for e in (places, shown))
            assert [*map(float, next(numbers))] == pytest.approx(
                [*map(float, next(numbers))], abs=0.006
            )
    assert svg_width(picture) == svg_width(small) > 0
    assert log_axes(picture)["x"]


def test_an_axis_is_logarithmic_if_it_is_in_any_panel(tmp_path):
    """The first panel of a figure may show the instance."""
    figure = new_figure(4, 2)
    figure.subplots(1, 2)[1].set_yscale("log")
    save(figure, *(tmp_path / f"x.{ending}" for ending in ("svg", "png", "pdf")))
    assert log_axes((tmp_path / "x.svg").read_bytes()) == {"x": False, "y": True}


def test_curves_are_put_into_panels_and_series():
    """What x says already is no part of a name; colours are the paper's."""
    styles = {"S": Style(BLUE, "s", "--")}
    rows = [
        row
        | {"instance": f"{family} d={row['x']:g}", "family": family, "d": row["x"]}
        | {"setting": f"n={row['x']:g}", "n_setting": row["x"], "algorithm": row["strategy"]}
        for family in ("easy", "hard")
        for row in points("d", (1, 2, 3), "S")
        + points("d", (1, 2, 3), "S", reading="published")
        + points("d", (1, 2), "T")
    ]
    about = {"instance": ["d"], "setting": ["n_setting"], "strategy": ["step"]}
    made = chart(assemble(rows), styles, about=about)
    assert made["panels"] == ["easy", "hard"]
    assert made["x_names"] == ["d", "d"]
    series = {one["name"]: one for one in made["series"]}
    blue = {"colour": BLUE, "dash": "dash", "symbol": "square"}
    assert list(series) == ["S", "S, published", "T"]
    assert series["S"] == {"name": "S", **blue}
    published = {"colour": BLACK, "dash": None, "symbol": "diamond", "hollow": True}
    assert series["S, published"] == {"name": "S, published", **published}
    assert made["of"][0] == ([0], 0)
    assert made["start"] == "error_rate"


def test_readings_of_one_strategy_have_their_own_styles_and_names():
    styles = {
        "S": Style(BLUE),
        "a": Style(GREEN, "^", "-.", "as it is"),
        "b": Style(ORANGE, "s", ""),
    }
    rows = [row for r in "ba" for row in points("d", (1, 2, 3), "S", reading=r)]
    rows += points("d", (1, 2, 3), "bound", reading="exact")
    assert chart(assemble(rows), styles, "error_rate")["series"] == [
        {"name": "as it is", "colour": GREEN, "dash": "dashdot", "symbol": "triangle-up"},
        {"name": "b", "colour": ORANGE, "dash": None, "symbol": "square"},
        {"name": "bound", "colour": PURPLE, "dash": "solid", "symbol": "circle"},
    ]


def test_several_strategies_in_several_readings_are_a_panel_per_reading():
    """What has one reading, or none, is in all of them."""
    rows = [row for s in "ST" for r in "ab" for row in points("d", (1, 2, 3), s, reading=r)]
    rows += points("d", (1, 2, 3), "U") + points("d", (1, 2, 3), "S", reading="published")
    made = chart(assemble(rows), {"b": Style(BLUE, name="another")})
    assert made["panels"] == ["a", "another"]
    assert [one["name"] for one in made["series"]] == ["S", "S, published", "T", "U"]
    assert [panels for panels, _ in made["of"]] == [
        *([[0]] * 3 + [[1]] * 3) * 2,
        *[[0, 1]] * 6,
    ]


def test_curves_that_share_a_style_differ_in_dashes():
    """Strategies with options have the look of the strategy."""
    rows = [
        row | {"algorithm": "S"} for k in "123" for row in points("d", (1, 2, 3), f"S step={k}")
    ]
    drawn = chart(assemble(rows), {"S": Style(BLUE, "^")})["series"]
    assert {(one["colour"], one["symbol"]) for one in drawn} == {(BLUE, "triangle-up")}
    assert len({one["dash"] for one in drawn}) == 3


def test_settings_tell_panels_apart_only_where_they_must():
    """Published values, which have none, are beside both."""
    rows = [
        row | {"batch": b, "d": row["x"]}
        for b in (1, 2)
        for row in points("d", (1, 2, 3), "S", setting=f"batch={b},d=1")
    ]
    rows += points("d", (1, 2, 3), "S", reading="published")
    made = chart(assemble(rows), {}, about={"setting": ["batch", "d"]})
    assert made["panels"] == ["batch=1", "batch=2"]
    assert made["of"][-1][0] == [0, 1]
    assert [of for _, of in made["of"][:6]] == [0] * 6


def test_a_bound_in_the_same_unit_stands_beside_the_first_statistic():
    times = {"statistic": "mean_stopping_time", "unit": "pulls"}
    rows = points("d", (1, 2, 3), "S", **times)
    bound = points("d", (1, 2, 3), "bound", reading="exact", statistic="lower_bound", unit="pulls")
    assert chart(assemble(rows + bound), {}, "mean_stopping_time")["beside"] == ["lower_bound"]
    assert chart(assemble(rows + bound), {}, "lower_bound")["beside"] == []
    bound = [row | {"unit": "steps"} for row in bound]
    assert chart(assemble(rows + bound), {}, "mean_stopping_time")["beside"] == []


def test_tables_without_curves_become_dots():
    """A dot per strategy and reading; a panel per x if x tells rows apart."""
    made = chart(assemble(points("d", (1, 2), "S") + points("d", (1, 2), "T")), {})
    assert (made["kind"], made["panels"]) == ("dots", ["1", "2"])
    assert [one["name"] for one in made["series"]] == ["S", "T"]


def test_panels_of_bounds_alone_come_after_those_with_runs():
    """A published value, whose setting is not known, is in all of them."""
    bounds = points("d", (1, 2, 3), "lower bound", reading="exact", statistic="lower_bound")
    runs = points("d", (1, 2, 3), "S")
    rows = [row | {"instance": "early"} for row in bounds]
    rows += [row | {"instance": "late"} for row in runs]
    rows += [row | {"instance": ""} for row in points("d", (1, 2, 3), "S", reading="published")]
    made = chart(assemble(rows), {}, "error_rate")
    assert made["panels"] == ["late", "early"]
    assert [{*panels} for panels, _ in made["of"]] == [{1}] * 3 + [{0}] * 3 + [{0, 1}] * 3


def test_values_that_nothing_tells_apart_or_that_are_all_the_same_have_no_chart():
    assert chart(assemble(points("d", (1, 2, 3), "S") * 2), {}) is None
    flat = [row | {"x": None, "x_name": "", "value": 1.0} for row in points("d", (1, 2), "S")]
    assert chart(assemble(flat[:1]), {}) is None


def test_the_explorer_starts_with_what_the_picture_shows_first():
    rows = [
        row
        for statistic in ("error_rate", "mean_regret")
        for row in points("d", (1, 2, 3), "S", statistic=statistic)
    ]
    log = {"x": False, "y": True}
    assert chart(assemble(rows), {}, "mean_regret", log=log)["start"] == "mean_regret"
    assert chart(assemble(rows), {}, "mean_regret", log=log)["log"] == log
    assert chart(assemble(rows), {})["start"] == "error_rate"


def test_statistics_of_many_parts_become_a_heat_map(root):
    made = chart(read_table(root / "figures/baics/fig1.csv"), {})
    assert made["kind"] == "map"
    assert made["panels"] == ["mean_share"]
    assert len(made["series"]) == 10


def test_captions_of_pictures_become_one_table(tmp_path):
    """Word for word, also with signs that XML and CSV escape; they are not drawn."""
    words = 'Mean over runs, δ = 0.1 & 0.2 <not> a tag, "quoted". ' * 6
    folder = tmp_path / "figures/baics"
    folder.mkdir(parents=True)
    figure = new_figure(4, 3)
    figure.subplots().set_title("A title")
    caption(figure, words)
    save(figure, *(folder / f"x.{ending}" for ending in ("svg", "png", "pdf")))
    assert "<text" in (folder / "x.svg").read_text()
    assert (folder / "x.svg").read_text().count("Mean over runs") == 6  # and none is drawn
    write_captions([folder / "x.svg"], tmp_path / "captions.csv")
    assert read_captions(tmp_path / "captions.csv") == {("baics", "x"): words}
    held = [path.resolve() for path in Path("/proc/self/fd").iterdir()]
    assert (folder / "x.svg").resolve() not in held  # it is left before its end, and yet closed


def test_markdown_keeps_to_the_site():
    text = texts.render(
        "# T\n<!-- computed: x -->\nabout <!-- number: y -->7<!-- end -->\npulls\n\n"
        "## Toy (1)\n\n- `one`: <b>[a](a.md#x)</b> [gone](b.md)\n"
        "- `one` again [out](https://x.org)\n\n## Toy (1)\n\n| a |\n| --- |\n| 1 |\n",
        lambda href: "page.html" if href == "a.md#x" else None,
        lambda heading, code: f"toy-{code}" if heading == "Toy (1)" else None,
    )
    assert text.title == "T"
    assert text.body.startswith("<p>about 7\npulls</p>")
    assert "&lt;b&gt;" in text.body
    assert '<a href="page.html">a</a>' in text.body
    assert "<span>gone</span>" in text.body
    assert text.body.count('<code id="toy-one">') == 1
    assert [h.anchor for h in text.headings] == ["toy-1", "toy-1-2"]
    assert 'href="https://x.org"' in text.body


def test_equations_are_mathml_and_money_is_not():
    text = texts.render("It is $\\frac{1}{2}$.\n\n$$x\n= 1$$\n\nFrom $5 to $6.\n\n`a$b$`", str)
    assert "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in text.body
    assert text.body.count("<math") == 2
    assert text.body.count('display="block"') == 1
    assert "From $5 to $6" in text.body
    with pytest.raises(InputError, match=r"the equation \\wrong: .*wrong"):
        texts.render("$\\wrong$", str)


def test_sections_and_bullets_of_a_text():
    markdown = "## A\n\n- **Toy.** one\n  two\n- **Other.** x\n\nend\n\n## B\nb\n"
    assert texts.section(markdown, "A").endswith("end\n\n")
    assert texts.section(markdown, "C") == ""
    assert texts.sections(markdown)["A"] == texts.section(markdown, "A").partition("\n")[2]
    assert "C" not in texts.sections(markdown)
    assert texts.bullets(markdown)["Toy"].split() == ["one", "two"]
    assert texts.about("toy", ["The toy", "Toy (1)"]) == "Toy (1)"
    assert texts.about("bai", ["BAICS (1)", "BAI (2)"]) == "BAI (2)"


def test_code_is_found_and_shown_only_if_the_project_has_it(root):
    from bestarm.cbmai.steps import run

    code = Code(root, sources(root))
    assert code.of(run).startswith("code/src/bestarm/cbmai/steps.py.html#L-")
    assert code.of(json.dumps) is None
    assert code.of(3) is None
    assert code.page("results/x.json") is None
    assert code.page("../outside.py") is None
    assert code.page("workflow/") == "code/workflow/index.html"
    assert "code/workflow/rules/site.smk.html" in code.pages()


def test_only_what_has_changed_is_highlighted_again(tmp_path):
    file = tmp_path / "highlights.json"
    first = Highlights(file)
    assert first.of("x = 1\n", "python") == highlighted("x = 1\n", "python")
    first.keep()
    (key,) = json.loads(file.read_text())
    file.write_text(json.dumps({key: "kept"}))
    second = Highlights(file)
    assert second.of("x = 1\n", "python") == "kept"
    for text, language in (("x = 2\n", "python"), ("x = 1\n", "text")):
        assert second.of(text, language) == highlighted(text, language)
    file.write_text("not JSON")
    assert Highlights(file).of("x = 1\n", "python") == highlighted("x = 1\n", "python")


def test_the_narrowest_kind_of_code_gives_the_colour():
    """A docstring is a string, but looks like a comment; a decorator is a name, like a keyword."""
    marked = highlighted('@f\ndef g():\n    """Text."""\n    return "x" and 1\n', "g.py")
    styles = re.findall(r'<span class="(\w+)">([^<]*)</span>', marked)
    kinds = {text: style for style, text in styles}
    assert kinds['"""Text."""'] == "c"
    assert [kinds[word] for word in ("@f", "def", "and")] == ["k", "k", "k"]


def test_fingerprint_follows_content_and_not_times(root, tmp_path):
    shutil.copytree(root / "figures", tmp_path / "figures")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("a")
    before = fingerprint(tmp_path)
    picture = tmp_path / "figures/baics/fig1.svg"
    os.utime(picture)
    (tmp_path / "results").mkdir()
    (tmp_path / "results/new").write_text("built")
    (tmp_path / ".hidden").write_text("x")
    assert fingerprint(tmp_path) == before
    picture.write_text(picture.read_text() + " ")
    after = fingerprint(tmp_path)
    assert after != before
    drawn = tmp_path / "figures/arena/winners.svg"
    drawn.write_text(drawn.read_text() + " ")
    assert fingerprint(tmp_path) != after
    picture.unlink()
    assert fingerprint(tmp_path) not in (before, after)
    (tmp_path / "docs/a.md").write_text("b")
    assert fingerprint(tmp_path) not in (before, after)


def test_a_claims_file_that_names_another_target_is_one_clear_error(root):
    claims = judged_claims(read_claims(root / "data/claims/baics.yaml"), [])
    claim = next(one for one in claims if one.target)
    row = claim.claim.row.model_copy(update={"target": "fig99"})
    wrong = claim._replace(claim=claim.claim.model_copy(update={"row": row}))
    with pytest.raises(InputError, match=r"row\.target: must be among .*fig1.*, got fig99"):
        build.check_targets("baics", [wrong])


def test_a_project_that_changes_meanwhile_is_refused(root, tmp_path, site, monkeypatch):
    monkeypatch.setattr(build, "build", lambda *_: site.files)
    with pytest.raises(InputError, match="changed while its site was made"):
        build.make(root, tmp_path / "out", expected="another")
    assert not (tmp_path / "out").exists()
    build.make(root, tmp_path / "out", expected=fingerprint(root))
    assert (tmp_path / "out/index.html").read_bytes() == site.files["index.html"]


def test_captions_are_words_in_a_report_of_snakemake(root):
    """Word for word, of every picture: no sign of a caption acts as reStructuredText."""
    pictures = sorted((root / "figures").rglob("*.svg"))
    assert len(pictures) > 50
    text = "\n\n".join(f"[{k}] {rst_caption(path)}" for k, path in enumerate(pictures))
    body = publish_parts(text, writer="html", settings_overrides={"report_level": 1})["body"]
    shown = html.unescape(re.sub("<.*?>", "", body)).split()
    assert shown == [
        word for k, path in enumerate(pictures) for word in [f"[{k}]", *kept_caption(path).split()]
    ]
