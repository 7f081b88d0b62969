"""Looks, helpers that draw tables, and files that come out the same."""

import io
import os
import re
import subprocess
import sys
import warnings
import zlib
from copy import copy

import numpy as np
import pandas as pd
import pytest
from fontTools.subset import Options
from fontTools.ttLib import TTFont
from matplotlib.axis import Axis
from matplotlib.collections import PathCollection
from matplotlib.font_manager import FontManager, fontManager, json_dump
from matplotlib.text import Text

from bestarm import registry
from bestarm.common.drawing import (
    HALF,
    WIDE,
    _computed_once,
    _quiet,
    dots,
    legend,
    new_figure,
    over_published,
    runs,
    save,
    series,
    spread,
    with_errors,
)
from bestarm.common.styles import BLUE, SPARE, Style, named_styles
from bestarm.common.tables import read_geometry, read_table
from bestarm.core.errors import InputError
from bestarm.core.estimates import wilson
from bestarm.publish.captions import read_captions
from command_line import bestarm

KNOWN = {"B": Style(BLUE, "s", "--", "bee"), "A": Style("#000000")}


def rows(values, strategy="A", n=100, status=""):
    """Shares of n runs at x = 1, 2, ... with Wilson's intervals."""
    ends = np.array([wilson(value, n) for value in values])
    marks = [status if value in (0.0, 1.0) else "" for value in values]
    found = {"x": np.arange(1.0, len(values) + 1), "value": values, "n": n, "status": marks}
    named = {"instance": "i", "statistic": "error_rate", "unit": "share", "strategy": strategy}
    return pd.DataFrame(found | {"low": ends[:, 0], "high": ends[:, 1]} | named)


def test_known_styles_come_first_and_others_get_styles_of_their_own():
    found = named_styles(KNOWN, ["new", "A", "B", "A", "also new"])
    assert list(found) == ["B", "A", "also new", "new"]
    assert [style.name for style in found.values()] == ["bee", "A", "also new", "new"]
    assert len({(style.colour, style.marker) for style in found.values()}) == 4
    assert not {style.marker for style in KNOWN.values()} & {marker for _, marker in SPARE}


def test_more_names_than_styles_are_an_error():
    with pytest.raises(ValueError, match="no styles left for z99"):
        named_styles({}, [f"z{k:02}" for k in range(len(SPARE))] + ["z99"])


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_every_strategy_has_a_style(paper):
    known = registry.PAPERS[paper]
    assert known.simulation.readings.keys() <= known.plots.styles.keys()


@pytest.mark.parametrize(
    ("paper", "target", "strategy"),
    [
        ("baics", "table1", "T-a-S"),
        ("baics", "two-stage", "Two-stage"),
        ("linear", "fig4", "RAGE"),
        ("linear", "fig5", "XY"),
        ("linear", "random-arms", "G"),
        ("cbmai", "fig5", "SFSR-L"),
        ("cbmai", "fig2", "SFSR-L"),
        ("lagex", "fig7", "PTnS"),
        ("lagex", "fig12", "PTnS"),
        ("lagex", "shares", "PTnS"),
        ("lagex", "readings", "PTnS"),
        ("lagex", "example", "CTnS"),
    ],
)
def test_a_strategy_without_a_style_is_drawn(paper, target, strategy, root):
    """A strategy of the table, renamed: its new name is among the picture's texts."""
    stem = root / f"figures/{paper}/{target}"
    table = read_table(f"{stem}.csv")
    names = {strategy: "Brand-New"}
    table = table.assign(
        strategy=table.strategy.replace(names), algorithm=table.algorithm.replace(names)
    )
    parts = [table]
    if registry.PAPERS[paper].targets[target].geometry:
        parts.append(read_geometry(f"{stem}.geometry.csv"))
    figure = registry.PAPERS[paper].plots.draw[target](*parts)
    texts = [text.get_text() for text in figure.findobj(Text) if text.get_visible()]
    assert any("Brand-New" in text for text in texts)


def test_a_zero_is_a_bound_and_not_joined():
    figure = new_figure(HALF, 2)
    some = pd.concat([rows([0.5, 0.1, 0.0, 0.0], status="one-sided"), rows([0.4] * 4, "C")])
    axes = series(figure, some, KNOWN, log="y")[0, 0]
    joined = [line.get_ydata() for line in axes.lines if len(line.get_ydata()) > 1]
    assert sorted(map(len, joined)) == [2, 4]
    assert min(map(min, joined)) > 0.0
    arrows = [line for line in axes.lines if len(line.get_ydata()) == 1]
    bound = wilson(0.0, 100)[1]
    ends = sorted(line.get_ydata()[0] for line in arrows)
    assert ends == pytest.approx([0.65 * bound, bound])


def test_a_value_without_an_interval_has_a_dot():
    figure = new_figure(HALF, 2)
    some = rows([0.1, 0.4]).assign(strategy=["A", "B"], low=np.nan, high=np.nan)
    axes = dots(figure, some, KNOWN, ["A", "B"])[0, 0]
    marks = [mark for mark in axes.collections if isinstance(mark, PathCollection)]
    assert sorted(float(x) for mark in marks for x, _ in mark.get_offsets()) == [0.1, 0.4]


@pytest.mark.parametrize("target", ["fig4", "readings"])
def test_two_runs_per_cell_have_a_picture(target, root, tmp_path):
    """Medians of two runs have no intervals."""
    table = read_table(root / f"figures/lagex/{target}.csv")
    runs_of_ours = ~table.reading.isin(["published", "exact"])
    table.loc[runs_of_ours, ["low", "high"]] = np.nan
    save(registry.PAPERS["lagex"].plots.draw[target](table), tmp_path / "a.svg")
    assert (tmp_path / "a.svg").exists()


def test_panels_follow_the_facets_and_an_empty_table_is_an_error():
    both = pd.concat([rows([0.1, 0.2]), rows([0.3], "B").assign(instance="j")])
    for draw in (series, dots):
        figure = new_figure(WIDE, 2)
        order = {"order": ["A", "B"]} if draw is dots else {}
        titles = {"j": "second", "i": "first"}
        panels = draw(figure, both, KNOWN, col=("instance", titles), **order)
        assert [axes.get_title(loc="left") for axes in panels[0]] == ["second", "first"]
        with pytest.raises(ValueError, match="no rows"):
            draw(figure, both[:0], KNOWN, **order)


def test_published_shares_have_the_interval_of_the_papers_own_runs():
    ours = rows([0.2], n=10_000)
    stated = ours.assign(value=0.3, n=100, low=np.nan, high=np.nan, status="published")
    found = with_errors(stated, ours).iloc[0]
    assert (found.low, found.high) == pytest.approx(wilson(0.3, 100))
    assert with_errors(stated, ours.assign(strategy="B")).low.isna().all()


def test_published_times_have_our_spread_at_the_papers_count():
    ours = rows([0.2], n=400).assign(value=100.0, low=90.0, high=110.0, unit="pulls")
    stated = ours.assign(value=200.0, n=100, low=np.nan, high=np.nan, status="published")
    found = with_errors(stated, ours).iloc[0]
    assert (found.low, found.high) == pytest.approx((160.0, 240.0), rel=1e-6)
    found = with_errors(stated, ours, log=True).iloc[0]
    assert found.high / 200.0 == pytest.approx((110.0 / 100.0) ** 2, rel=1e-6)
    assert found.low / 200.0 == pytest.approx((90.0 / 100.0) ** 2, rel=1e-6)


def test_one_warning_of_one_library_is_not_shown():
    def warn(message, module):
        warnings.warn_explicit(message, DeprecationWarning, "x", 1, module=module)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with _quiet():
            warn("The copy keyword is deprecated and will be removed", "seaborn._core.data")
            for other in (("Another one", "seaborn._core"), ("The copy keyword is", "pandas")):
                with pytest.raises(DeprecationWarning):
                    warn(*other)


def test_counts_are_written_for_people():
    assert runs([10_000, 10_000, 0]) == "n = 10,000 runs"
    assert runs([300, 10_000]) == "n = 300 to 10,000 runs"
    assert runs([0]) == "computed, no simulation"


def test_a_legend_has_names_for_people():
    figure = new_figure(HALF, 2)
    legend(figure, named_styles(KNOWN, "AB"))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["bee", "A"]


def test_files_are_the_same_in_every_process(root, tmp_path):
    """Also where Python orders sets otherwise, or the user's list of fonts misses most."""
    few = copy(fontManager)
    few.ttflist = [font for font in fontManager.ttflist if font.name == "DejaVu Sans"]
    json_dump(few, tmp_path / f"fontlist-v{FontManager.__version__}.json")
    other = {"PYTHONHASHSEED": "1", "MPLCONFIGDIR": str(tmp_path)}
    table, made = str(root / "figures/baics/fig1.csv"), []
    for name in ("here", "there"):
        files = [tmp_path / f"{name}.{ending}" for ending in ("svg", "png", "pdf")]
        command = ["workflow", "plot", "baics", "fig1", table, *map(str, files)]
        if name == "here":
            assert bestarm(*command).code == 0
        else:
            run = [sys.executable, "-m", "bestarm", *command]
            subprocess.run(run, check=True, env=os.environ | other)
        made.append([file.read_bytes() for file in files])
    assert made[0] == made[1]


@pytest.mark.parametrize(("low", "labelled"), [(1.0, False), (200.0, True)])
def test_minor_ticks_stay_where_they_have_labels(tmp_path, low, labelled):
    """Within a decade Matplotlib labels some, else they have neither label nor length."""
    figure = new_figure(2.0, 1.0)
    axes = figure.subplots()
    axes.set(xscale="log", xlim=(low, 950.0))
    assert len(axes.xaxis.get_minorticklocs()) > 0
    save(figure, tmp_path / "a.svg")
    labels = [text.get_text() for text in axes.get_xticklabels(minor=True)]
    assert any(labels) == (len(axes.xaxis.get_minorticklocs()) > 0) == labelled


def test_a_file_of_another_format_is_refused_before_any_is_written(tmp_path):
    figure = new_figure(2.0, 1.0)
    with pytest.raises(InputError, match=r"x\.gif: must end in \.svg, \.png or \.pdf"):
        save(figure, tmp_path / "x.svg", tmp_path / "x.gif")
    assert not list(tmp_path.iterdir())


def fonts_in(pdf):
    """The fonts that are embedded in a PDF."""
    streams = re.findall(rb"stream\n(.*?)endstream", pdf.read_bytes(), re.DOTALL)
    parts = [zlib.decompress(part) for part in streams if part[:1] == b"x"]
    return [TTFont(io.BytesIO(part)) for part in parts if part[:4] == b"\0\1\0\0"]


def test_fonts_in_pdfs_have_glyphs_and_nothing_to_place_them_with(tmp_path):
    before = Options().drop_tables
    figure = new_figure(2.0, 1.0)
    figure.subplots().set_title("delta \u03b4")
    save(figure, tmp_path / "a.pdf")
    fonts = fonts_in(tmp_path / "a.pdf")
    assert sum(font["maxp"].numGlyphs for font in fonts) >= len(set("delta \u03b4"))
    assert not {"GDEF", "GPOS", "GSUB"} & {name for font in fonts for name in font.keys()}  # noqa: SIM118
    assert Options().drop_tables == before


def test_files_have_the_layout_of_the_first(tmp_path, monkeypatch):
    """A layout of its own for each would take about as long as drawing it."""
    figure = new_figure(2.0, 1.0)
    axes = figure.subplots()
    engine, before = figure.get_layout_engine(), axes.get_position().bounds
    runs = []
    execute = engine.execute
    monkeypatch.setattr(engine, "execute", lambda fig: (runs.append(fig), execute(fig)))
    save(figure, *(tmp_path / f"a.{kind}" for kind in ("svg", "png", "pdf")))
    assert runs == [figure]
    assert axes.get_position().bounds != before
    assert figure.get_layout_engine() is engine


def test_ticks_and_layouts_of_texts_are_computed_once_for_each_state():
    figure = new_figure(2.0, 1.0)
    axes = figure.subplots()
    text = axes.set_title("short")
    before = Axis._update_ticks, Text._get_layout

    def drawn():
        ticks = axes.xaxis._update_ticks()
        return ticks, [tick.get_loc() for tick in ticks], text.get_window_extent().width

    with _computed_once():
        ticks, places, width = drawn()
        assert drawn()[0] is ticks
        axes.set_xlim(100.0, 200.0)
        text.set_text("longer")
        _, new_places, longer = drawn()
        text.set_fontsize(20)
        larger = text.get_window_extent().width
    assert (Axis._update_ticks, Text._get_layout) == before
    assert (drawn()[1], text.get_window_extent().width) == (new_places, larger)
    assert max(places) < min(new_places)
    assert width < longer < larger


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_kept_pictures_fit_a_page_and_have_text_and_a_caption(paper, root):
    captions = pd.read_csv(root / "figures/captions.csv", keep_default_na=False)
    captions = captions[captions.paper == paper].set_index("target").caption
    for target in registry.PAPERS[paper].targets:
        svg = (root / f"figures/{paper}/{target}.svg").read_text()
        width = re.search(r'<svg [^>]*width="([\d.]+)pt"', svg)[1]
        assert float(width) in (72 * WIDE, 72 * HALF), target
        assert "<text" in svg, target
        assert captions[target].endswith("."), target
        assert not re.search(r"\b\d{5,}\b", captions[target]), target


def test_published_values_are_said_beside_ours():
    """Ratios by strategy, of one reading or the nearest; a bound has none."""
    rows = [
        ("A", "published", 100.0),
        ("A", "as-written", 200.0),
        ("A", "other", 90.0),
        ("B", "published", 10.0),
        ("B", "as-written", 15.0),
        ("B", "other", 40.0),
        ("C", "as-written", 7.0),
        ("bound", "exact", 1.0),
    ]
    table = pd.DataFrame(rows, columns=["strategy", "reading", "value"])
    table = table.assign(instance="one", statistic="mean")
    assert over_published(table, "mean", "as-written") == "1.5 to 2 times"
    assert over_published(table, "mean", "other") == "0.9 to 4 times"
    assert over_published(table, "mean") == "0.9 to 1.5 times"
    assert spread([0.5, 0.5]) == "0.5"
    assert spread([]) == "nan"


#: What a caption without a number may say first.
WITHOUT_NUMBER = re.compile(
    r"Solver and closed form agree to six digits: |No reading confirms a claim"
)


def test_captions_begin_with_a_number_of_ours(root):
    """Their first sentence says what came out, not what is drawn."""
    captions = read_captions(root / "figures/captions.csv")
    assert len({paper for paper, _ in captions} & set(registry.PAPERS)) == len(registry.PAPERS)
    for place, text in captions.items():
        first = text.partition(". ")[0]
        said = re.sub(r"n = [\d,]+|δ = [\d.]+|K = \d|μ[₁2]", "", first)
        assert re.search(r"\d", said) or WITHOUT_NUMBER.match(first), (place, first)
        assert "nan" not in first, (place, first)
