"""The replication site in a real browser, opened as files. `make test-site` installs what it needs.

Plain pytest skips these.
"""

import os
import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from bestarm import registry
from bestarm.publish.site.content import page_names

CHROMIUM = shutil.which("chromium")
if "BESTARM_SITE" not in os.environ:
    pytest.skip("no site; `make test-site` builds it", allow_module_level=True)
if not CHROMIUM:
    pytest.skip("no chromium; `make test-site` installs it", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright; `make test-site`")
expect = sync_api.expect
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="see `make test-site`")

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
ROOT = Path(__file__).parents[2]
PAGES = [f"{name}.html" for name in page_names()]
NOTEBOOKS = [f"notebooks/{path.stem}.html" for path in sorted((ROOT / "notebooks").glob("*.py"))]
DOCS = [
    f"{path.relative_to(ROOT).with_suffix('')}.html"
    for path in sorted((ROOT / "docs").rglob("*"))
    if path.suffix in (".md", ".rst") and path.parent.name != "paper"
]
CODE = [
    "code/src/bestarm/index.html",
    "code/src/bestarm/verdicts/claims.py.html",
    f"code/data/claims/{next(iter(registry.PAPERS))}.yaml.html",
]


@pytest.fixture(scope="session")
def site():
    """The folder of the site, which the workflow built."""
    return Path(os.environ["BESTARM_SITE"]).resolve()


@pytest.fixture(scope="session")
def browser():
    with sync_api.sync_playwright() as playwright:  # with a new profile folder of its own
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, site):
    """Open a page of the site; at the end, no error, and nothing fetched but files, is asserted."""
    contexts, errors, fetched = [], [], []

    def opened(path, viewport=DESKTOP, scheme="light"):
        if path in NOTEBOOKS and not (site / path).is_file():
            pytest.skip("the notebook was not run; `make test-site` runs it")
        contexts.append(browser.new_context(viewport=viewport, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda request: errors.append(request.url))
        page.on("request", lambda request: fetched.append(request.url))
        page.goto((site / path.partition("#")[0]).as_uri() + "".join(path.partition("#")[1:]))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []
    assert [url for url in fetched if not url.startswith(("file:", "data:"))] == []


def explorable(site):
    """A page with an interactive figure of each kind: curves, and a heat map."""
    found = {}
    for paper in registry.PAPERS:
        for data in sorted((site / "figures" / paper).glob("*.js")):
            for kind in ("curves", "map", "dots"):
                if f'"chart":{{"kind":"{kind}"' in data.read_text():
                    found.setdefault(kind, (paper, data.stem))
    return found


#: The rules of axe-core about colours. The first takes minutes on all of a long table.
CONTRAST, LINKS = "color-contrast", "link-in-text-block"

#: Marks one element with text of each look, every field to fill in, and no others. A look is what
#: contrast follows from: the colours, font and place of an element and of all around it.
MARK_STYLES = """() => {
    const properties = [
        "color", "backgroundColor", "backgroundImage", "webkitTextFillColor", "webkitTextStroke",
        "textShadow", "fontSize", "fontWeight", "opacity", "filter", "mixBlendMode",
        "fill", "display", "visibility", "position", "top", "right", "bottom", "left", "zIndex",
        "float", "transform", "clipPath",
    ];
    const known = new Map();
    const look = element => {
        if (!element) return "";
        if (!known.has(element)) {
            const style = getComputedStyle(element);
            const own = properties.map(property => style[property]).join(";");
            known.set(element, `${look(element.parentElement)}>${element.tagName} ${own}`);
        }
        return known.get(element);
    };
    document.querySelectorAll("[data-look]").forEach(e => e.removeAttribute("data-look"));
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const seen = new Set();
    while (walker.nextNode()) {
        const { parentElement, data } = walker.currentNode;
        if (!data.trim() || seen.has(look(parentElement))) continue;
        seen.add(look(parentElement));
        parentElement.setAttribute("data-look", "");
    }
    const fields = document.querySelectorAll("input, select, textarea");
    fields.forEach(e => e.setAttribute("data-look", ""));
}"""


def grave_violations(page, part=None, **options):
    """What axe-core finds serious or critical, with the first element of each kind."""
    options |= {"preload": False, "resultTypes": ["violations"]}  # files cannot be fetched
    found = axe.Axe().run(page, context=part, options=options).response["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in grave]


def too_pale(page):
    """Where contrast is too low, by one element of each look."""
    page.evaluate(MARK_STYLES)
    return grave_violations(page, "[data-look]", runOnly=[CONTRAST])


#: The elements below the header that moved, came or went since this was last asked; at first, all.
MOVED = """() => {
    const place = element => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return [x, y, width, height, getComputedStyle(element).visibility].join();
    };
    const elements = [...document.querySelectorAll("main, main *, footer, footer *")];
    const before = window.places ?? new Map();
    window.places = new Map(elements.map(e => [e, place(e)]));
    const moved = elements.filter(e => before.get(e) !== window.places.get(e));
    const gone = [...before.keys()].filter(e => !window.places.has(e));
    return [...moved, ...gone].map(e => e.outerHTML.slice(0, 80));
}"""


@pytest.mark.parametrize("path", PAGES + NOTEBOOKS + DOCS)
def test_every_picture_loads_and_every_link_leads_to_a_file(open_page, path):
    page = open_page(path)
    page.evaluate("document.querySelectorAll('img').forEach(i => { i.loading = 'eager'; })")
    page.wait_for_function("[...document.images].every(i => i.complete)")
    assert page.evaluate("[...document.images].filter(i => !i.naturalWidth).map(i => i.src)") == []
    links = page.evaluate("[...document.links].map(a => a.href)")
    inside = [link for link in links if link.startswith("file:")]
    assert inside
    missing = {link for link in inside if not Path(unquote(urlsplit(link).path)).is_file()}
    assert missing == set()
    here = [unquote(link.partition("#")[2]) for link in inside if link.startswith(page.url + "#")]
    # "#" alone is the top of a page.
    assert [one for one in here if one and not page.locator(f'[id="{one}"]').count()] == []


@pytest.mark.parametrize("path", PAGES + NOTEBOOKS + CODE)
def test_nothing_bars_readers(open_page, path):
    """axe-core finds nothing serious or critical, in either theme.

    Below the header, whose button names the other theme, only colours differ between themes. So the
    rules about colours are enough there in the dark one.
    """
    page = open_page(path)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    all_but_contrast = {CONTRAST: {"enabled": False}}
    assert grave_violations(page, rules=all_but_contrast) == []
    assert too_pale(page) == []
    assert page.evaluate(MOVED) != []
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(MOVED) == []
    assert grave_violations(page, "header", rules=all_but_contrast) == []
    assert grave_violations(page, runOnly=[LINKS]) == []
    assert too_pale(page) == []


@pytest.mark.parametrize("part", ["td", "tr", "table"])
def test_one_pale_cell_of_many_is_found(open_page, part):
    page = open_page("arena.html")
    assert too_pale(page) == []
    cell = page.locator("table.cells tbody tr").nth(100).locator("td").nth(2)
    for scheme, colour in (("light", "light-dark(#ccc, #fff)"), ("dark", "light-dark(#000, #333)")):
        page.emulate_media(color_scheme=scheme)
        cell.evaluate(f"e => {{ e.closest('{part}').style.color = '{colour}'; }}")
        assert [rule for rule, _ in too_pale(page)] == [CONTRAST]
        cell.evaluate(f"e => {{ e.closest('{part}').style.color = ''; }}")


def test_tables_sort_with_all_their_rows(open_page, site):
    paper, target = explorable(site)["curves"]
    page = open_page(f"{paper}.html")
    table = page.locator(f'table[data-key="{paper}/{target}"]')
    table.evaluate("t => { t.closest('details').open = true; }")
    rows = table.locator("tbody tr")
    total = int(table.get_attribute("data-rows"))
    assert rows.count() < total
    heads = table.locator("thead th")
    column = heads.all_inner_texts().index("value")
    values = f"t => [...t.tBodies[0].rows].map(r => Number(r.cells[{column}].textContent))"
    heads.nth(column).get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(heads.nth(column)).to_have_attribute("aria-sort", "ascending")
    up = table.evaluate(values)
    assert len(up) == total
    assert up == sorted(up)
    page.keyboard.press("Enter")
    expect(heads.nth(column)).to_have_attribute("aria-sort", "descending")
    assert table.evaluate(values) == up[::-1]
    assert table.locator("[aria-sort]").count() == 1


def test_all_rows_come_when_asked_for(open_page, site):
    paper, target = explorable(site)["curves"]
    page = open_page(f"{paper}.html")
    button = page.locator(f'button.all[data-for="{paper}/{target}"]')
    button.evaluate("b => { b.closest('details').open = true; }")
    button.click()
    table = page.locator(f'table[data-key="{paper}/{target}"]')
    expect(table.locator("tbody tr")).to_have_count(int(table.get_attribute("data-rows")))
    expect(button).to_have_count(0)


@pytest.mark.parametrize("kind", ["curves", "map", "dots"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_interactive_figure_draws_and_answers(open_page, site, kind, scheme, viewport):
    paper, target = explorable(site)[kind]
    page = open_page(f"{paper}.html#{target}", viewport, scheme)
    assert page.locator("script[src*=uplot]").count() == 0  # only when asked for
    button = page.locator(f'button.explore[data-key="{paper}/{target}"]')
    button.focus()
    page.keyboard.press("Enter")
    plot = page.locator(f"#{target} .plot")
    marks = plot.locator({"curves": ".u-over", "map": ".heat td", "dots": ".track b"}[kind])
    expect(marks.first).to_be_attached(timeout=20_000)
    assert button.get_attribute("aria-expanded") == "true"
    marks.first.scroll_into_view_if_needed()
    if kind == "curves":
        values = plot.locator(".u-legend .u-value")
        marks.first.hover()
        assert any(text not in ("", "–", "--") for text in values.all_inner_texts())
    label = plot.get_attribute("aria-label")
    if kind != "map":
        choice = page.locator(f"#{target} select").first
        choice.select_option(index=(choice.evaluate("s => s.selectedIndex") + 1) % 2)
        expect(plot).not_to_have_attribute("aria-label", label)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert grave_violations(page, f"#{target} .explorer") == []
    button.click()
    assert not plot.is_visible()


def test_a_canvas_follows_the_theme(open_page, site):
    """Its axes are drawn in the colour of text, also after the reader changes the theme."""
    paper, target = explorable(site)["curves"]
    page = open_page(f"{paper}.html")
    page.locator(f'button.explore[data-key="{paper}/{target}"]').click()
    canvas = page.locator(f"#{target} canvas")
    expect(canvas).to_be_attached()
    darkest = """c => {
        const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        let [least, most] = [765, 0];
        for (let k = 0; k < d.length; k += 4) {
            if (d[k + 3] < 255) continue;
            const sum = d[k] + d[k + 1] + d[k + 2];
            [least, most] = [Math.min(least, sum), Math.max(most, sum)];
        }
        return [least, most];
    }"""
    light = canvas.evaluate(darkest)
    page.get_by_role("button", name="Use dark colours").click()
    page.wait_for_timeout(300)
    dark = page.locator(f"#{target} canvas").evaluate(darkest)
    assert light[0] < 150
    assert dark[1] > 600


def test_home_shows_all_claims_below_their_legend_and_finds_some(open_page):
    page = open_page("index.html")
    shown = page.locator("#claims tbody tr:visible")
    total = page.locator("#claims tbody tr").count()
    expect(shown).to_have_count(total)
    legend, table = page.locator("#verdicts").bounding_box(), page.locator("#claims").bounding_box()
    assert legend["y"] < table["y"]
    page.locator("select[name=verdict]").select_option("differs")
    some = shown.count()
    assert 0 < some < total
    expect(page.locator(".filters output")).to_have_text(f"{some} of {total} claims")
    page.locator("select[name=verdict]").select_option("")
    expect(shown).to_have_count(total)
    page.locator("select[name=paper]").select_option("cbmai")
    page.locator("select[name=kind]").select_option("ordering")
    page.get_by_label("Words").fill("sfsr-l better")
    assert 0 < shown.count() < 10
    assert all("SFSR-L" in text for text in shown.all_inner_texts())


def test_a_verdict_and_its_command_are_at_most_two_clicks_from_home(open_page):
    """One: the row says both. Its link leads to all readings of the claim."""
    page = open_page("index.html")
    row = page.locator("#claims tbody tr:visible").first
    assert row.locator(".chip").is_visible()
    assert row.locator("code").inner_text().startswith("bestarm verify ")
    name = row.locator("a").get_attribute("href").partition("#")[2]
    row.locator("a").click()
    expect(page.locator(f'[id="{name}"]')).to_be_visible()


def test_filters_of_a_paper_hide_figures_without_such_claims(open_page):
    page = open_page("lagex.html")
    tall = page.evaluate("document.documentElement.scrollHeight")
    page.locator("select[name=verdict]").select_option("written")
    assert page.locator("tr[data-verdict]:visible").count() > 0
    assert page.locator("tr[data-verdict]:visible:not([data-verdict=written])").count() == 0
    assert page.evaluate("document.documentElement.scrollHeight") < tall / 2
    page.evaluate("location.hash = '#claim-fig5-median-lagex'")
    expect(page.locator("#claim-fig5-median-lagex")).to_be_visible()  # a link clears the filters


def test_cells_of_the_arena_are_chosen_and_sorted(open_page):
    page = open_page("arena.html")
    rows = page.locator("table.cells tbody tr")
    shown = page.locator("table.cells tbody tr:visible")
    total = rows.count()
    count = page.locator(".filters output")
    expect(count).to_have_text(f"{total} of {total} cells")
    page.locator("select[name=family]").select_option("best k arms")
    page.locator("select[name=delta]").select_option(label="0.01")
    page.locator("select[name=rule]").select_option("proven")
    some = shown.count()
    assert 0 < some < total / 4
    expect(count).to_have_text(f"{some} of {total} cells")
    texts = shown.evaluate_all("r => r.map(r => [...r.cells].map(c => c.textContent))")
    assert all((t[0], t[3], t[4]) == ("best k arms", "proven", "0.01") for t in texts)
    heads = page.locator("table.cells thead th")
    column = heads.all_inner_texts().index("pulls/bound")
    heads.nth(column).get_by_role("button").click()
    expect(heads.nth(column)).to_have_attribute("aria-sort", "ascending")
    values = f"r => r.map(r => Number(r.cells[{column}].textContent))"
    up = shown.evaluate_all(values)
    assert up == sorted(up)
    assert len(up) == some  # those hidden stay so
    page.locator("select[name=strategy]").select_option("Game")
    assert set(shown.locator("td:nth-child(3)").all_inner_texts()) == {"Game"}
    page.locator("select[name=family]").select_option("")
    page.get_by_label("Words").fill("nothing like it")
    expect(count).to_have_text(f"0 of {total} cells")


def test_cells_of_the_arena_are_a_plain_table_without_scripts(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "arena.html").as_uri())
    assert page.locator("table.cells tbody tr:visible").count() > 100
    assert not page.locator(".filters").is_visible()
    context.close()


PICTURED = [*(f"{paper}.html" for paper in registry.PAPERS), "arena.html", *NOTEBOOKS]

#: Text below 11 pixels, with its size: that of the forest plot included, exponents left out.
SMALL = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
        const { parentElement: one, data } = walker.currentNode;
        if (!data.trim() || !one.checkVisibility() || one.closest("math, style")) continue;
        const svg = one.closest("svg");
        const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
        const size = parseFloat(getComputedStyle(one).fontSize) * scale;
        if (size < 10.99) found.push([data.trim().slice(0, 40), size]);
    }
    return found;
}"""


@pytest.mark.parametrize("path", PAGES + NOTEBOOKS + CODE)
def test_a_page_can_be_read_on_a_phone(open_page, site, path):
    """It is no wider, and no text but exponents is below 11 pixels: pictures scroll sideways."""
    page = open_page(path, PHONE)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.evaluate(SMALL) == []
    if path not in PICTURED:
        return
    page.evaluate("document.querySelectorAll('img').forEach(i => { i.loading = 'eager'; })")
    page.wait_for_function("[...document.images].every(i => i.complete)")
    sizes = "[...document.images].map(i => [i.getAttribute('src'), i.clientWidth, i.naturalWidth])"
    for source, shown, natural in page.evaluate(sizes):
        text = (site / path).parent.joinpath(unquote(source)).read_text()
        sizes = map(float, re.findall(r"font-size: ([\d.]+)px", text))
        least = min(size for size in sizes if size >= 6.0)  # exponents are smaller
        assert least * 4 / 3 * shown / natural >= 10.99, source


@pytest.mark.parametrize("path", DOCS)
def test_a_page_of_the_documentation_is_no_wider_than_a_phone(open_page, path):
    page = open_page(path, {"width": 390, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.get_by_role("link", name="Replication site", exact=True).is_visible()


def test_the_header_is_one_line_on_a_phone(open_page):
    page = open_page("lagex.html", {"width": 390, "height": 740})
    parts = page.locator("header .brand, header nav > ul a, header summary, #theme")
    boxes = [part.bounding_box() for part in parts.all()]
    assert len(boxes) == 5
    assert max(b["y"] for b in boxes) < min(b["y"] + b["height"] for b in boxes)
    assert max(b["x"] + b["width"] for b in boxes) <= 390
    links = [link.get_attribute("href") for link in page.locator("header nav > ul a").all()]
    assert links == ["arena.html", "docs/index.html"]


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("path", ["baics.html", "arena.html"])
def test_no_table_scrolls_up_and_down_inside(open_page, path, viewport):
    page = open_page(path, viewport)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    tall = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollHeight > e.clientHeight)"
    assert page.evaluate(f"{tall}.length") == 0


def test_the_site_is_light(site):
    """The first page with all it loads under 300 kB, the whole site under 25 MB."""
    page = (site / "index.html").read_text()
    assets = [site / path for path in re.findall(r'(?:href|src)="(assets/[^"]+)"', page)]
    first = [site / "index.html", *assets]
    assert len(first) == 4
    assert sum(path.stat().st_size for path in first) < 300_000
    files = [path for path in site.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 25_000_000


def test_dark_follows_the_system_until_chosen(open_page):
    ground = "getComputedStyle(document.body).backgroundColor"
    light = open_page("index.html").evaluate(ground)
    page = open_page("index.html", scheme="dark")
    dark = page.evaluate(ground)
    assert dark != light
    page.get_by_role("button", name="Use light colours").click()
    assert page.evaluate(ground) == light
    page.get_by_role("link", name="Readings", exact=True).first.click()
    page.wait_for_url("**/docs/readings.html")
    assert page.evaluate("document.body.dataset.theme") == "light"  # remembered
    page.get_by_role("link", name="Replication site", exact=True).click()
    page.wait_for_url("**/index.html")
    assert page.evaluate(ground) == light


def test_keyboard_reaches_everything(open_page):
    """The first stop is the skip link, which leads past the header; every stop is seen."""
    page = open_page("index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    inside = "document.activeElement.closest('main') !== null"
    assert page.evaluate(inside)
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    wanted = page.locator("main :is(a, button, input, select, [tabindex])").count()
    reached = set()
    for _ in range(wanted + 5):
        reached.add(page.evaluate("document.activeElement.outerHTML"))
        page.keyboard.press("Tab")
    seen = "[...document.querySelectorAll('main a')].filter(a => a.checkVisibility())"
    links = set(page.evaluate(f"{seen}.map(a => a.outerHTML)"))
    assert links <= reached


def test_printed_pages_leave_out_the_controls(open_page):
    page = open_page(f"{next(iter(registry.PAPERS))}.html")
    page.emulate_media(media="print")
    assert not page.locator("header nav").is_visible()
    assert not page.locator("button.all").first.is_visible()
    assert page.locator("table.claims").first.is_visible()
