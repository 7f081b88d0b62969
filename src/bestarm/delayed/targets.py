"""The figures and tables of the delayed feedback paper."""

from bestarm.common.paper import Target
from bestarm.delayed import tables

ARMS = {
    "arm": "its name; best first",
    "mean": "of its recorded rewards",
    "sigma": "their standard deviation",
}
TARGETS = (
    Target(
        "fig1", "Time with partial feedback over time without", tables.figure_1, ("arms", "delays")
    ),
    Target(
        "means",
        "Bounded means as in the text, and as in the published program",
        tables.means,
        ("means",),
    ),
    Target(
        "readings",
        "Every reading on two instances",
        tables.only("time_ratio", "error_rate", "mean_stopping_time"),
        ("readings",),
    ),
    Target(
        "models",
        "The four models of feedback",
        tables.only("time_ratio", "error_rate", "mean_stopping_time", "share_slower"),
        ("models",),
    ),
    Target("coverage", "Confidence bounds that fail", tables.only("share_missed"), ("coverage",)),
    Target(
        "fig2",
        "Battery charging: time with forecasts of a cell's life over time without",
        tables.figure_2,
        ("battery",),
        tables.tabulate_arms("battery"),
        columns=ARMS,
    ),
    Target(
        "mip",
        "Cut strategies: time with forecasts of the final bound over time without",
        tables.cut_strategies,
        ("mip",),
        tables.tabulate_arms("mip"),
        columns=ARMS,
    ),
    Target(
        "mixture",
        "Time with partial feedback over time without, under one bound that is proved",
        tables.mixture,
        ("mixture", "mixture-priors", "mixture-coverage", "mixture-models", "mixture-recorded"),
    ),
)
