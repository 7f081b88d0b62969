"""One function a target."""

import pandas as pd
from matplotlib.figure import Figure

from bestarm.common.paper import Plots
from bestarm.common.style import BLUE, Look, caption, error_bars, new_figure, pick, runs

LOOKS = {"Equal": Look(BLUE, "o")}


def fig1(table: pd.DataFrame, geometry: pd.DataFrame) -> Figure:
    figure = new_figure(4, 3)
    axes = figure.subplots()
    rows = pick(table, statistic="error_rate")
    error_bars(axes, rows, rows.x, rows.value, LOOKS["Equal"])
    axes.plot(geometry.x, geometry.y, color="black", linestyle=":")
    axes.set(xlabel="budget (pulls)", ylabel="error rate")
    caption(figure, f"Share of wrong answers with 95% Wilson intervals ({runs(rows.n)}).")
    return figure


PLOTS = Plots({"fig1": fig1}, LOOKS)
