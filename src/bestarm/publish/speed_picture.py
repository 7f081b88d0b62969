"""The picture and the summary at the top of docs/speed.md, of what bench/bench.csv measured."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from bestarm import registry
from bestarm.common.drawing import WIDE, caption, new_figure
from bestarm.common.prose import number, wrapped
from bestarm.common.styles import BLUE, SKY
from bestarm.publish.report_speed import ELSEWHERE, duration


def builds(bench: pd.DataFrame) -> pd.DataFrame:
    """The time of each paper's build at paper scale: seconds, and the share in simulation."""
    values = bench.set_index("measure").value
    rows = {
        paper: {
            "seconds": values[f"{paper}, paper scale from nothing, warm compile cache"],
            "share": values[f"{paper}: share of that time in simulation"],
        }
        for paper in registry.COUNTED
        if f"{paper}, paper scale from nothing, warm compile cache" in values.index
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=["seconds", "share"])


def paces(bench: pd.DataFrame) -> pd.DataFrame:
    """Microseconds per pull, step or run of each strategy on each instance: paper, unit, value."""
    rows = bench[bench.unit.fillna("").str.startswith("us a ")]
    rows = rows[~rows.measure.str.startswith(ELSEWHERE)]
    paper, unit = rows.measure.str.partition(":")[0], rows.unit.str.removeprefix("us a ")
    return pd.DataFrame({"paper": paper, "unit": unit, "value": rows.value})


def speed_picture(bench: pd.DataFrame) -> Figure:
    """How long each paper's build takes, and each of its strategies.

    Args:
        bench: bench.csv.
    """
    built, pace = builds(bench), paces(bench)
    names = [registry.PAPERS[paper].pages.short or paper for paper in built.index]
    places = dict(zip(built.index, range(len(built)), strict=True))
    figure = new_figure(WIDE, 2.0)
    left, right = figure.subplots(1, 2, sharey=True)
    minutes = built.seconds / 60
    left.barh(names, minutes, color=SKY, height=0.6)
    left.barh(names, minutes * built.share, color=BLUE, height=0.6)
    left.set_xlabel("minutes at paper scale, 2 cores")
    entries = [Patch(fc=BLUE, label="simulation"), Patch(fc=SKY, label="all else")]
    left.legend(handles=entries, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    left.invert_yaxis()
    at = pace.paper.map(places)
    per_run = pace.unit.eq("run")
    right.plot(pace.value[~per_run], at[~per_run], "o", color=BLUE, alpha=0.6, label="pull or step")
    right.plot(pace.value[per_run], at[per_run], "o", mfc="none", mec=BLUE, label="whole run")
    right.set_xscale("log")
    right.set_xlabel("µs, one mark per strategy and instance")
    right.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    for axes in (left, right):
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
    caption(figure, summary(bench))
    return figure


def summary(bench: pd.DataFrame) -> str:
    """The same in words, with what other implementations take for the same work."""
    built, pace = builds(bench), paces(bench)
    seconds = bench.set_index("measure").value
    total = seconds["all papers, paper scale from nothing, warm compile cache"]
    low, high = (f"{share:.0%}" for share in (built.share.min(), built.share.max()))
    pulls = pace.value[pace.unit.ne("run")]
    peers = bench.value[bench.measure.str.startswith("peer: ")]
    return (
        f"On 2 cores all papers take {duration(total)} at paper scale with compiled kernels; {low} "
        f"to {high} of a paper's time is simulation. A pull or step takes {number(pulls.min())} to "
        f"{number(pulls.max())} µs, half of them below {number(pulls.median())} µs. Other "
        f"implementations take {number(peers.min())} to {number(peers.max())} times our time for "
        "the same work."
    )


def summary_text(bench: pd.DataFrame) -> str:
    """The summary, and the picture, as Markdown."""
    short = "Minutes per paper at paper scale, and microseconds per pull of its strategies"
    return f"{wrapped(summary(bench))}\n\n![{short}](pictures/speed.svg)"
