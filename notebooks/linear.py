# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Arms whose pulls all tell about each other
#
# A recipe has a temperature, a time, a dose. Trying one recipe says something about all others,
# since the outcome is (nearly) linear in these features. Which of a few candidates is best? And
# how few trials does it take, with at most a 5% risk of being wrong?
#
# This is best-arm identification in linear bandits (Soare, Lazaric & Munos, NIPS 2014). The
# notebook walks from one instance to the paper's Figure 4; it takes about half a minute.

# %%
import math

import numpy as np
import pandas as pd

from bestarm.common.looks import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION
from bestarm.common.paper import Cell
from bestarm.common.style import new_figure
from bestarm.core.estimates import mean
from bestarm.core.streams import replication_streams
from bestarm.linear import G, LinGapE, XYAdaptive
from bestarm.linear.problem import Instance, instances, truth
from bestarm.linear.strategies import prepare
from bestarm.notebook import kept_table, kept_verdicts, picture

# %% [markdown]
# ## An instance
#
# The paper's family: the axes of a d-dimensional space, and one more arm that is almost the first
# axis, turned from it by a small angle ω. The truth θ points along the first axis. So arm 1 is
# best, the last arm nearly as good, and all others are hopeless. Here d = 2, with an angle that
# is easy on the eyes.

# %%
angle = 0.4
easy = Instance(
    name="easy",
    arms=[[1.0, 0.0], [0.0, 1.0], [math.cos(angle), math.sin(angle)]],
    theta=[2.0, 0.0],
)
known = truth(easy)
arms = pd.DataFrame(easy.arms, easy.arm_names, ["feature 1", "feature 2"])
arms["mean reward"] = np.array(easy.arms) @ easy.theta
arms["gap"] = known.gaps
arms.round(3)

# %% [markdown]
# ## What it costs to know
#
# Only one *direction* matters: the difference between arm 1 and the last arm, which lies almost
# along the second axis. Pulling the good arms tells little about it; pulling the hopeless arm 2
# tells most! The design that an oracle would choose, and its hardness H (pulls, up to
# logarithms), are the solution of a convex program. The G-optimal design learns all arms equally
# well, the XY-optimal one all differences.

# %%
hard = known.complexity
print(f"H = {hard.h_lb:.0f} pulls for the best design against these gaps")
pd.DataFrame(
    {"oracle": hard.oracle_design, "XY": hard.xy_design, "G": hard.g_design}, easy.arm_names
).round(3)

# %% [markdown]
# ## One run, step by step
#
# LinGapE (a later algorithm) asks for the arm that tells most about the two that are hardest to
# tell apart. In a real experiment you would try what `ask` wants and `tell` what it gave.

# %%
rng = np.random.default_rng(3)


def reward(arm):
    """One noisy outcome of an arm."""
    return rng.normal(np.dot(easy.arms[arm], easy.theta), easy.sigma)


strategy = LinGapE(easy.arms, delta=0.05, norm=2.0)
while not strategy.done:
    arm = strategy.ask()
    strategy.tell(arm, reward(arm))

print(f"best: {easy.arm_names[strategy.answer]}, after {strategy.pulls.sum()} pulls")
pd.DataFrame({"pulls": strategy.pulls, "estimate": strategy.values.round(3)}, easy.arm_names)

# %% [markdown]
# Most pulls went to the hopeless arm. The paper's own XY-Adaptive works in phases, and drops arms
# that are dominated; G-allocation looks at no reward but to stop. On an instance as small as
# this, phases do not pay.

# %%
spent = {"LinGapE": strategy.pulls}
for name, kind in (("XY-Adaptive", XYAdaptive), ("G", G)):
    other = kind(easy.arms, delta=0.05)
    while not other.done:
        arm = other.ask()
        other.tell(arm, reward(arm))
    spent[name] = other.pulls
pd.DataFrame(spent, easy.arm_names)

# %% [markdown]
# ## Many runs
#
# Now the paper's own instances, ω = 0.01, where the gap is 0.0001 and a run takes up to a million
# pulls. Compiled, that is some milliseconds. `honest` is the reading of the paper whose
# confidence widths we can prove; `closest` is for each strategy the reading whose budget is
# nearest to the published one.

# %%
RUNS, DIMENSIONS = 10, (2, 3, 4, 5)
STRATEGIES = {
    "G": ("honest", GREY),
    "XY": ("honest", BLUE),
    "XY-Adaptive": ("honest", VERMILION),
    "XY-Oracle": ("honest", BLACK),
    "LinGapE": ("as-written", GREEN),
    "RAGE": ("as-written", ORANGE),
}
paper = instances()


def pulls_of(strategy, reading, d):
    """Pulls of some runs in dimension d."""
    cell = Cell(f"d={d}", strategy, {"delta": 0.05, "cap": 20_000_000}, reading)
    run = prepare(paper[cell.instance], cell)
    return np.array([run(streams).tau for streams in replication_streams(2024, range(RUNS))])


found = {
    (strategy, d): mean("", "pulls", pulls_of(strategy, reading, d))
    for strategy, (reading, _) in STRATEGIES.items()
    for d in DIMENSIONS
}

# %% [markdown]
# ## The figure
#
# Mean pulls against the dimension, with 95% intervals, and as small crosses the kept results of
# more runs. Static strategies pay for every dimension; those that adapt, or know the truth, do
# not. Most runs of XY-Adaptive end with the same phase and so take equally long; a few need one
# more phase, ten times as long, and ten runs may well have none of them.

# %%
kept = kept_table("linear", "fig4")
kept = kept[(kept.statistic == "mean_stopping_time") & kept.instance.str.fullmatch(r"d=\d+")]
kept = kept.set_index(["strategy", "reading", "instance"])

figure = new_figure(6.4, 3.6)
axes = figure.subplots()
axes.set_yscale("log")
for strategy, (reading, colour) in STRATEGIES.items():
    rows = [found[strategy, d] for d in DIMENSIONS]
    reach = [[r.value - r.low for r in rows], [r.high - r.value for r in rows]]
    values = [r.value for r in rows]
    axes.errorbar(DIMENSIONS, values, yerr=reach, fmt="o-", color=colour, label=strategy)
    more = [kept.value[strategy, reading, f"d={d}"] for d in DIMENSIONS]
    axes.plot(DIMENSIONS, more, "x", color=colour)
axes.set(xlabel="dimension d", ylabel="pulls", xticks=DIMENSIONS)
axes.set_title(f"{RUNS} runs each, 95% intervals; crosses: kept results")
figure.legend(loc="outside right center")
picture(
    figure,
    "Pulls against the dimension, from 2 to 5, for six strategies. G and XY rise with the "
    "dimension, the others hardly do. The crosses of the kept results lie near the points, those "
    "of XY-Adaptive above them.",
)

# %% [markdown]
# ## Beside the kept results

# %%
pd.DataFrame(
    [
        {
            "strategy": strategy,
            "here": f"{found[strategy, 5].value:.3g} "
            f"[{found[strategy, 5].low:.3g}, {found[strategy, 5].high:.3g}]",
            "kept": "{:.3g} [{:.3g}, {:.3g}]".format(
                *kept.loc[(strategy, reading, "d=5"), ["value", "low", "high"]]
            ),
        }
        for strategy, (reading, _) in STRATEGIES.items()
    ]
).set_index("strategy")

# %% [markdown]
# And what the ledger says of the paper's budgets at d = 5:

# %%
kept_verdicts("linear", "fig5-budget")

# %% [markdown]
# ## Where to go on
#
# The published budgets are far smaller than these: no one confidence width gives all five, and
# some of those that fit err more often than promised. `figures/linear/readings.svg` shows what
# each reading of the paper gives; `docs/readings.md` proves the honest width. `bestarm run
# my-instance.yaml` takes your own arms, from a CSV file if you like.
