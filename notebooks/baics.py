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
# # The best arm that is fair to everyone
#
# A firm tries three policies on three groups of customers. It wants the policy that is best *on
# average*, but only among those that lose in no group. How many trials does it take to know, if a
# 10% risk of a wrong answer is accepted?
#
# This is best-arm identification with fairness constraints on subpopulations, BAICS for short ([Wu,
# Zheng & Zhu, WSC 2023](https://arxiv.org/abs/2304.04091)). The notebook goes from one instance to
# the paper's Table 1 and runs in less than a minute.

# %% tags=["hide-input"]
from bestarm.baics.problem import instances
from bestarm.common.drawing import WIDE, new_figure
from bestarm.common.styles import BLACK, GREY
from bestarm.notebook import picture

instance = instances()["example1"]
figure = new_figure(WIDE, 2.2)
axes = figure.subplots()
for arm, marker in enumerate("osv"):
    colour = GREY if arm == 1 else BLACK
    axes.plot(instance.group_names, instance.means[arm], marker + ":", color=colour, clip_on=False)
said = {
    0: "arm 1: the answer",
    1: "arm 2: fair, but worse than arm 1 on average",
    2: "arm 3: best on average, but\nsubpopulation 1 loses",
}
for arm, text in said.items():
    axes.annotate(
        text, (2, instance.means[arm][2]), (8, 0), textcoords="offset points", va="center"
    )
axes.axhline(0.0, color=BLACK, lw=0.8)
axes.set(ylabel="mean reward", xlim=(-0.1, 4.4), xticks=range(3), ylim=(-0.35, 1.6))
picture(
    figure,
    "Mean rewards of three arms in three subpopulations. Arm 3 is highest in subpopulations 2 "
    "and 3 and below zero in subpopulation 1; arms 1 and 2 are above zero everywhere.",
)

# %% [markdown]
# ## The instance
#
# A pull of arm $k$ in subpopulation $l$ gives a Gaussian reward with mean $\mu_{kl}$ and unit
# variance. Subpopulation $l$ has weight $q_l$. The answer is the arm with the highest weighted mean
#
# $$k^* = \operatorname{argmax}_k \sum_l q_l \mu_{kl}$$
#
# among the feasible arms, those with $\mu_{kl} \ge 0$ for all $l$: no subpopulation loses by them.

# %%
import numpy as np
import pandas as pd

means = pd.DataFrame(instance.means, instance.arm_names, instance.group_names)
means["weighted mean"] = np.array(instance.means) @ instance.problem.weights
means

# %% [markdown]
# ## What it costs to know
#
# Call a strategy *delta-correct* if its answer is wrong with probability at most $\delta$, whatever
# the means. Such a strategy has to rule out every *alternative*: other means $\lambda$ under which
# the answer would differ. Pulling the pairs in proportions $w$ rules out the nearest alternative at
# a rate that the best allocation $w^*$ makes as large as possible:
#
# $$\frac{1}{T^*} = \max_w \min_{\lambda} \sum_{k,l} w_{kl} \frac{(\mu_{kl} - \lambda_{kl})^2}{2}$$
#
# No delta-correct strategy needs fewer than $T^* \operatorname{kl}(\delta, 1 - \delta)$ pulls on
# average, where $\operatorname{kl}$ is the relative entropy of two coins.

# %%
from bestarm.baics.problem import Instance, truth
from bestarm.core.information import needed_information

known = truth(instance)
bound = known.characteristic_time * needed_information(0.1)
print(
    f"T* = {known.characteristic_time:.0f} pulls per nat; lower bound at delta = 0.1: {bound:.0f}"
)
pd.DataFrame(known.allocation, instance.arm_names, instance.group_names).round(3)

# %% [markdown]
# Most pulls go where the decision is hard: does subpopulation 1 really gain by arm 1, and really
# lose by arm 3?

# %% [markdown] tags=["exercise"]
# ### Predict, then run: a hundred times as careful
#
# How many times as many pulls does the bound ask for if the risk is 0.1% instead of 10%?

# %% tags=["exercise"]
risk = 0.1  # change this to 0.001

print(f"lower bound: {known.characteristic_time * needed_information(risk):.0f} pulls")

# %% tags=["exercise", "hide-cell"]
from IPython.display import Markdown

factor = needed_information(0.001) / needed_information(0.1)
assert 3.5 < factor < 4.5
Markdown(
    f"**{factor:.1f} times.** The bound grows with the logarithm of $1/\\delta$: certainty is "
    "cheap, small gaps are expensive."
)

# %% [markdown] tags=["exercise"]
# ### Predict, then run: a policy that hurts more
#
# Arm 3 loses 0.2 in subpopulation 1. If it lost 0.4 instead, would the problem get easier or
# harder, and by how much?


# %% tags=["exercise"]
def time_with(loss):
    """T* if arm 3 loses this much in subpopulation 1."""
    means = [*instance.means[:2], [-loss, *instance.means[2][1:]]]
    return truth(
        Instance(name="changed", means=means, weights=instance.weights)
    ).characteristic_time


loss = 0.2  # change this to 0.4
print(f"T* = {time_with(loss):.0f} pulls per nat")

# %% tags=["exercise", "hide-cell"]
easier = time_with(0.4) / time_with(0.2)
assert 0.7 < easier < 0.9
Markdown(
    f"**Easier: T\\* falls from {time_with(0.2):.0f} to {time_with(0.4):.0f},** to "
    f"{easier:.0%}. To see a loss twice as large takes a quarter of the pulls, but those that "
    "show that subpopulation 1 gains by arm 1 stay as many."
)

# %% [markdown]
# ## One run, step by step
#
# Track-and-Stop with subpopulations (T-a-SCS) estimates the means, moves its allocation towards the
# best one for these estimates, and pulls so as to follow it. In a real experiment you would do the
# trial that `ask` wants and `tell` what it gave. Here the world is simulated, and the stopping rule
# the paper's; by default it is one that is proved.

# %%
from bestarm.baics import TaSCS

rng = np.random.default_rng(1)
strategy = TaSCS(n_arms=3, weights=instance.weights, delta=0.1, reading="as-written")
statistic, threshold = [], []
while not strategy.done:
    arm, group = strategy.ask()
    strategy.tell((arm, group), rng.normal(instance.means[arm][group]))
    statistic.append(strategy.statistic)
    threshold.append(strategy.threshold)

print(f"stopped after {strategy.pulls.sum()} pulls with arm {strategy.answer + 1}")
pd.DataFrame(strategy.pulls, instance.arm_names, instance.group_names)

# %% [markdown]
# It stops when the GLR statistic of the nearest alternative
#
# $$Z(t) = \min_{\lambda} \tfrac{1}{2} \sum_{k,l} N_{kl}(t) (m_{kl}(t) - \lambda_{kl})^2$$
#
# exceeds a threshold that grows slowly, $\ln((1 + \ln t)/\delta)$. Here $N_{kl}$ are the pulls so
# far and $m_{kl}$ the means of their rewards.

# %% tags=["hide-input"]
from bestarm.baics.plots import STYLES, table1

figure = new_figure(WIDE, 2.2)
axes = figure.subplots()
axes.plot(statistic, color=STYLES["T-a-SCS"].colour)
axes.plot(threshold, color=BLACK, ls="--")
axes.annotate("threshold", (len(threshold), threshold[-1]), (-60, -12), textcoords="offset points")
axes.annotate(
    "statistic Z(t)", (0.55, 0.2), xycoords="axes fraction", color=STYLES["T-a-SCS"].colour
)
axes.set(xlabel="pulls", ylabel="nats")
picture(
    figure,
    "The GLR statistic of one run of T-a-SCS, with ups and downs, rises until it crosses the "
    "threshold, which hardly grows.",
)

# %% [markdown]
# ## Many runs
#
# The same steps, compiled, make a run in a few milliseconds. Beside the paper's strategies as
# written we try other *readings*: the statistic without its factor ½ (`no-half`), an exact
# optimiser at every pull instead of one step (`maximiser`), and both.

# %%
from bestarm.common.paper import Cell
from bestarm.notebook import beside, kept_table, simulate

RUNS = 100


def cell(strategy, reading, delta=0.1):
    """What to run, for at most 15,000 pulls."""
    return Cell("example1", strategy, {"delta": delta, "cap": 15_000}, reading)


here = simulate(
    instance,
    [
        *(cell("T-a-SCS", r) for r in ("as-written", "no-half", "maximiser", "maximiser+no-half")),
        *(cell(s, r) for s in ("T-a-S", "Uniform") for r in ("as-written", "no-half")),
    ],
    RUNS,
)
kept = kept_table("baics", "table1")

# %% tags=["hide-input"]
stated = kept[kept.reading.isin(["exact", "published"])]
picture(
    table1(pd.concat([here, stated])),
    "Stopping times, shares of right answers and of capped runs for three strategies under "
    "several readings. As written all need far more pulls than the paper prints; without the "
    "factor one half T-a-S and Uniform come close to it, and so does T-a-SCS with the exact "
    "optimiser.",
)

# %% [markdown]
# The paper's Table 1, from 100 runs each. Markers: means with 95% intervals; ticks: medians; bands:
# quartiles; diamonds: published; dotted: the lower bound and $1 - \delta$.

# %% [markdown] tags=["exercise"]
# ### Predict, then run: half the statistic
#
# Without the ½ the statistic is twice as large, and runs stop after about half as many pulls.
# Neither is proved at this threshold (docs/guarantees.md has rules that are). At $\delta = 0.1$
# nearly all answers are right in spite of the shortcut. Will they be at $\delta = 10^{-4}$?
# Look at the mean pulls beside the lower bound: can it be delta-correct?


# %% tags=["exercise"]
def mean_pulls(delta):
    """Mean pulls of T-a-SCS with the exact optimiser and without the ½, and the lower bound."""
    rows = simulate(instance, [cell("T-a-SCS", "maximiser+no-half", delta)], 4 * RUNS)
    mean = rows[rows.statistic == "mean_stopping_time"].iloc[0]
    return mean, known.characteristic_time * needed_information(delta)


delta = 0.1  # change this to 1e-4
mean, at_least = mean_pulls(delta)
print(f"mean pulls {mean.value:.0f} [{mean.low:.0f}, {mean.high:.0f}], lower bound {at_least:.0f}")

# %% tags=["exercise", "hide-cell"]
mean, at_least = mean_pulls(1e-4)
assert mean.high < at_least
Markdown(
    f"**No: it stops after {mean.value:,.0f} pulls on average,** with 95% confidence fewer than "
    f"{mean.high:,.0f}, while every delta-correct strategy needs {at_least:,.0f} or more. So under "
    "this reading the strategy cannot be delta-correct, even if every answer seen here is right."
)

# %% [markdown]
# ## A test on a website
#
# Three sign-up pages, two kinds of visitors, 2,000 a day. Which page has the most sign-ups, of
# those with at least 18% by either kind? How long will that take if the short page is better by
# five points, and how long if by half of that? [docs/live.md](../docs/live.md) goes through this
# test day by day.

# %%
from bestarm.baics import FWS

visitors = {"phone": 0.7, "desktop": 0.3}
test = FWS(["old page", "short page", "long page"], visitors, rewards="bernoulli", minimum=0.18)
hoped = {"old page": 0.21, "short page": 0.26, "long page": 0.21}
test.expected(hoped, batch=2000, control="old page", runs=20).table.round(3)

# %% [markdown]
# `q10`, `median` and `q90` are days. Now the test itself, with counts of whole days. The long page
# has the most sign-ups of all, but too few by phone.

# %% tags=["hide-input"]
rates = {
    "old page": {"phone": 0.20, "desktop": 0.22},
    "short page": {"phone": 0.25, "desktop": 0.29},
    "long page": {"phone": 0.14, "desktop": 0.52},
}
while not test.done:
    day = []
    for segment, share in visitors.items():
        for page, sent in test.allocation(int(2000 * share), segment=segment).items():
            signed_up = int(rng.binomial(sent, rates[page][segment]))
            day.append((page, segment, sent, signed_up))
    test.tell_table(pd.DataFrame(day, columns=["arm", "segment", "pulls", "total"]))

assert test.answer == "short page"
picture(
    test.plot(control="old page"),
    "Differences of two pages from the old page, by kind of visitor and in all, with intervals. "
    "The short page is better everywhere. The long page is better by desktop and worse by phone. "
    "Beside it the shares of visitors that each page had, by number of visitors.",
)

# %% [markdown]
# ## Beside the kept results
#
# `figures/baics/table1.csv` holds the same estimates from 1200 runs. Ours rest on fewer, so the
# intervals are wider; they should mostly overlap.

# %%
times = here[here.statistic == "mean_stopping_time"]
beside(times, kept, "strategy", "reading")

# %% [markdown]
# ## What the verdicts table says
#
# The published times fit the statistic without its ½, which cannot keep its promise:

# %%
from bestarm.notebook import kept_verdicts

kept_verdicts("baics", "table1", "theorem-4.1")

# %% [markdown]
# `bestarm show baics/asymptotics` shows mean pulls falling below the lower bound as $\delta$ gets
# small, and [the readings](../docs/readings.md) tell the whole story.
# `bestarm run my-instance.yaml` takes your own problem.
