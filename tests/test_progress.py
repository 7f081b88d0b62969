"""Pictures of live experiments: at 800 pixels all text can be read, and none hides another."""

import itertools
import string

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from bestarm import bai, baics, delayed, lagex
from bestarm.live.progress import MOST_ROWS
from test_ask_tell import every, made, played
from test_monitor import conversions

WIDTH, LEAST = 800, 9


def texts_of(figure):
    """What is written, with its height of letters and its box, in pixels at 800 pixels of width."""
    figure.set_dpi(WIDTH / figure.get_figwidth())
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    found = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for axes in figure.axes:
        found += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        for axis in (axes.xaxis, axes.yaxis):
            found += [tick.label1 for tick in axis._update_ticks()] + [axis.offsetText]
    renderer = canvas.get_renderer()
    return [
        (text.get_text(), text.get_fontsize() * figure.dpi / 72, text.get_window_extent(renderer))
        for text in found
        if text.get_visible() and text.get_text().strip()
    ]


def check_legible(figure):
    texts = texts_of(figure)
    whole = figure.bbox
    assert texts
    for text, size, box in texts:
        assert size >= LEAST, text
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= whole.x1 + 1 and box.y1 <= whole.y1 + 1
        assert inside, text
    for (one, _, first), (other, _, second) in itertools.combinations(texts, 2):
        assert not first.overlaps(second), (one, other)
    assert round(whole.width) == WIDTH
    return [text for text, _, _ in texts]


@every
def test_every_class_is_drawn_legibly(kind):
    s = made(kind)
    check_legible(s.plot())
    played(s, np.random.default_rng(8), most=60)
    said = check_legible(s.plot())
    assert any(text.startswith(("Decided: ", "Not decided yet. ")) for text in said)
    check_legible(s.plot(control=1))


def test_a_conversion_test_is_drawn_with_its_decision():
    s = conversions()
    said = check_legible(s.plot(control="old page"))
    assert "Sweden: new page" in said
    assert "all: longer page" in said
    assert "Sweden: old page" not in said
    assert "old page" in said
    assert any("difference from old page" in text for text in said)
    assert s.done == any(text.startswith("Decided: new page") for text in said)


def test_what_is_told_from_0_is_filled():
    s = conversions(days=10)
    table = s.summary(control="old page")
    table = table[table.difference.notna()].sort_values("segment", key=lambda x: x != "all")
    told = [False, *(table.difference_low > 0) | (table.difference_high < 0)]  # and the control
    axes = s.plot(control="old page").axes[0]
    marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
    assert sorted(line.get_markerfacecolor() != "white" for line in marks) == sorted(told)
    assert True in told


@pytest.mark.parametrize(
    "names",
    [
        [f"{letter * 40}" for letter in "WMi"],
        [
            "the page of old with a long name",
            "the page of new with a long name",
            "$x^2$ & $\\alpha",
        ],
        ["a", "b", "several\nlines"],
    ],
    ids=["wide", "long", "odd"],
)
def test_names_of_any_kind_are_legible(names):
    segments = {f"{name} here": 0.5 for name in names[:2]}
    s = baics.FWS(names, segments, rewards="bernoulli", may_drop=True)
    for arm, segment in itertools.product(names, s._groups.labels):
        s.tell((arm, segment), 1.0)
    check_legible(s.plot())
    check_legible(s.plot(control=names[0]))
    s.drop(names[0])
    for control in (None, names[0], names[1]):
        said = check_legible(s.plot(control=control))
        assert control == names[0] or any("(dropped)" in text for text in said)


def test_of_very_many_arms_the_best_are_drawn():
    arms = [f"{a}{b}" for a, b in itertools.product(string.ascii_lowercase, "12345")]
    s = bai.KLLUCB(arms, delta=0.1)
    for i, arm in enumerate(arms):
        s.tell(arm, i / len(arms))
    said = check_legible(s.plot())
    assert "z5" in said
    assert "a1" not in said
    assert len(s.plot().axes[0].get_yticks()) == MOST_ROWS


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e4, 1e12])
def test_numbers_of_any_size_are_legible(scale):
    s = lagex.LAGEX(["a", "b"], {"price": scale}, sigma=scale, cost_sigma=scale, r=scale)
    rng = np.random.default_rng(0)
    for arm in "ab" * 10:
        s.tell(arm, scale * rng.normal(1.0), [scale * rng.normal(1.0)])
    check_legible(s.plot())


def test_a_race_is_drawn_without_shares():
    s = delayed.Partial(["a", "b", "c"], sigma=0.5, sigma_p=0.5, batch=3)
    for pull in s.ask().start:
        s.final(pull.id, 1.0)
    s.ask()
    check_legible(s.plot())
    assert len(s.plot().axes) == 1


def test_shares_are_those_of_the_results():
    s = bai.TrackAndStop(["a", "b"])
    for arm in "abbb":
        s.tell(arm, 1.0)
    s.tell_table({"arm": ["b", "a"], "pulls": [1, 3], "total": [1.0, 2.0]})
    axes = s.plot().axes[-1]
    curves = [line for line in axes.lines if len(line.get_xdata()) > 1]
    np.testing.assert_allclose(curves[0].get_xdata(), [1, 2, 3, 4, 8])
    np.testing.assert_allclose(curves[0].get_ydata(), [1, 1 / 2, 1 / 3, 1 / 4, 4 / 8])
