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
# # The best arm, and how soon one can know
#
# Four headlines are shown to visitors, who click or do not. Which is clicked most? How many
# visitors does it take to know, if a 10% risk of a wrong answer is accepted?
#
# This is best-arm identification with fixed confidence ([Garivier & Kaufmann, COLT
# 2016](https://arxiv.org/abs/1602.04589)). The paper is here as a positive control: it is expected
# to replicate.

# %% tags=["hide-input"]
from bestarm.bai.problem import instances
from bestarm.common.drawing import WIDE, new_figure
from bestarm.common.styles import BLACK, GREY
from bestarm.notebook import picture

instance = instances()["mu1"]
figure = new_figure(WIDE, 1.8)
axes = figure.subplots()
axes.bar(instance.arm_names, instance.means, color=[BLACK, GREY, GREY, GREY])
axes.set(ylabel="chance of a click", ylim=(0.0, 0.6))
picture(figure, "Four bars: the first arm has mean 0.5, the others 0.45, 0.43 and 0.4.")

# %% [markdown]
# ## What it costs to know
#
# A strategy that errs with probability at most $\delta$ has to rule out every *alternative*, other
# means under which another arm is best. The nearest one gives the best arm $b$ and one rival $a$
# the same mean. With shares $w$ of the pulls it is ruled out at a rate that the best shares $w^*$
# make as large as possible:
#
# $$\frac{1}{T^*} = \max_w \min_{a \neq b} \min_m \; w_b d(\mu_b, m) + w_a d(\mu_a, m)$$
#
# where $d$ is the relative entropy of two laws of rewards. No such strategy needs fewer than
# $T^* \operatorname{kl}(\delta, 1 - \delta)$ pulls on average.

# %%
import pandas as pd

from bestarm.bai.problem import Instance, characteristic_time
from bestarm.core.information import needed_information

best = characteristic_time(instance)
bound = best.time * needed_information(0.1)
print(f"T* is between {best.low:.6f} and {best.time:.6f}; lower bound: {bound:.0f} pulls")
pd.DataFrame({"mean": instance.means, "w*": best.allocation.round(3)}, instance.arm_names)

# %% [markdown] tags=["exercise"]
# ### Predict, then run: rare clicks
#
# With chances of 0.050 and 0.045 in place of 0.50 and 0.45 the ratio of the means stays. Does it
# take more pulls, fewer, or as many?

# %% tags=["exercise"]
scale = 1.0  # change this to 0.1

two = Instance(name="two", means=[0.5 * scale, 0.45 * scale])
print(f"T* = {characteristic_time(two).time:.0f} pulls per nat")

# %% tags=["exercise", "hide-cell"]
from IPython.display import Markdown

common = characteristic_time(Instance(name="common", means=[0.5, 0.45])).time
rare = characteristic_time(Instance(name="rare", means=[0.05, 0.045])).time
assert 15.0 < rare / common < 25.0
Markdown(
    f"**{rare / common:.0f} times as many.** The gap falls to a tenth, the variance only to about "
    "a fifth."
)

# %% [markdown] tags=["exercise"]
# ### Predict, then run: a clear loser
#
# The fourth headline gets 6% of the optimal pulls. How much would be saved if it were not there?

# %% tags=["exercise"]
kept = 4  # change this to 3

fewer = Instance(name="fewer", means=instance.means[:kept])
print(f"T* = {characteristic_time(fewer).time:.0f} pulls per nat")

# %% tags=["exercise", "hide-cell"]
three = characteristic_time(Instance(name="three", means=instance.means[:3])).time
assert 0.85 < three / best.time < 0.98
Markdown(
    f"**{1.0 - three / best.time:.0%}.** A clear loser is cheap; the nearest rival makes the cost."
)

# %% [markdown]
# ## One run, step by step
#
# Track-and-Stop estimates the means, computes $w^*$ for these estimates and pulls the arm that lags
# behind. In a real experiment you would do the trial that `ask` wants and `tell` what it gave.

# %%
import numpy as np

from bestarm.bai import TrackAndStop

rng = np.random.default_rng(1)
strategy = TrackAndStop(["question", "number", "quote"], delta=0.05)
rates = {"question": 0.2, "number": 0.6, "quote": 0.3}
while not strategy.done:
    arm = strategy.ask()
    strategy.tell(arm, rng.random() < rates[str(arm)])

print(f"stopped after {strategy.pulls.sum()} trials: {strategy.answer}")
strategy.summary().round(2)

# %% [markdown]
# ## Many runs
#
# The same steps, compiled, make a run of thousands of pulls in milliseconds.

# %%
from bestarm.common.paper import Cell
from bestarm.notebook import beside, kept_table, simulate

cells = [
    Cell("mu1", name, {"delta": 0.1, "cap": None}, "as-written")
    for name in ("Track-and-Stop", "Chernoff-Racing", "KL-LUCB", "KL-Racing")
]
found = simulate(instance, cells, 100)
times = found[found.statistic == "mean_stopping_time"]
beside(times, kept_table("bai", "table1"), "strategy")

# %% [markdown] tags=["exercise"]
# ### Predict, then run: what a proof costs
#
# The threshold of the experiments, $\ln((1 + \ln t)/\delta)$, has no proof. With one that is
# proved, how many times as many pulls does Track-and-Stop take?

# %% tags=["exercise"]
reading = "as-written"  # change this to "proven"

cell = Cell("mu1", "Track-and-Stop", {"delta": 0.1, "cap": None}, reading)
rows = simulate(instance, [cell], 100)
print(f"{rows[rows.statistic == 'mean_stopping_time'].value.iloc[0]:,.0f} pulls on average")

# %% tags=["exercise", "hide-cell"]
both = [
    Cell("mu1", "Track-and-Stop", {"delta": 0.1, "cap": None}, name)
    for name in ("as-written", "proven")
]
means = simulate(instance, both, 100)
costs = means[means.statistic == "mean_stopping_time"].set_index("reading").value
factor = costs["proven"] / costs["as-written"]
assert 2.0 < factor < 5.0
Markdown(f"**{factor:.1f} times.** As $\\delta$ shrinks the factor tends to 1.")

# %% tags=["hide-input"]
from bestarm.bai.plots import table1

picture(
    table1(kept_table("bai", "table1")),
    "Mean draws of four strategies on two instances, ours beside the published ones.",
)

# %% [markdown]
# ## What replicates

# %%
from bestarm.notebook import kept_verdicts

kept_verdicts("bai", "mu1", "mu2")
