"""One function a target."""

import pandas as pd
from matplotlib.figure import Figure

from bestarm.common.drawing import HALF, caption, new_figure, runs, series
from bestarm.common.paper import Plots
from bestarm.common.styles import BLUE, Style
from bestarm.common.tables import pick

STYLES = {"Equal": Style(BLUE, "o")}


def fig1(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    figure = new_figure(HALF, 2)
    rows = pick(table, statistic="error_rate")
    axes = series(figure, rows, STYLES)[0, 0]
    axes.plot(geometry.x, geometry.y, color="black", linestyle=":")
    axes.set(xlabel="budget (pulls)", ylabel="error rate")
    caption(figure, f"Share of wrong answers with 95% Wilson intervals ({runs(rows.n)}).")
    return figure


PLOTS = Plots({"fig1": fig1}, STYLES)
