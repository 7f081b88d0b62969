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
# # A mixture whose limits have to be learned too
#
# A canteen mixes its menus: more of what is liked, but the mean price and the mean salt must stay
# within limits. How much each menu is liked is unknown, and so are its price and salt; all are
# observed, with noise, whenever a menu is served. How many servings does it take to recommend a
# mixture?
#
# This is pure exploration under unknown linear constraints (LAGEX: [Das & Basu, AISTATS
# 2026](https://arxiv.org/abs/2410.18844)). The notebook goes from one instance to the paper's
# Figure 6 and runs in less than a minute.

# %% tags=["hide-input"]
import numpy as np
import pandas as pd

from bestarm.common.drawing import WIDE, new_figure
from bestarm.common.styles import BLACK
from bestarm.lagex.problem import instances, truth
from bestarm.notebook import picture

instance = instances()["setup 1 m3=1.3"]
known = truth(instance)
figure = new_figure(WIDE, 2.2)
axes = figure.subplots()
chosen = np.array(known.policy) > 0.01
axes.barh(instance.arm_names, instance.means, color=np.where(chosen, BLACK, "#bbbbbb"), height=0.6)
for arm in np.flatnonzero(chosen):
    axes.annotate(
        f"{known.policy[arm]:.0%} of the best mixture", (0.05, arm), va="center", color="white"
    )
for first, last in ((0, 1), (2, 4)):
    axes.plot(
        [1.62, 1.66, 1.66, 1.62], [first - 0.3, first - 0.3, last + 0.3, last + 0.3], color=BLACK
    )
    axes.annotate("together at\nmost 50%", (1.7, (first + last) / 2), va="center")
axes.set(xlabel="mean reward", xlim=(0, 2.1), ylim=(5.5, -0.5))
axes.set_xticks([0, 0.5, 1, 1.5])
axes.grid(visible=False)
picture(
    figure,
    "Mean rewards of six arms as bars. Arms 1 and 2 together may have at most half of the "
    "mixture, and so may arms 3, 4 and 5. The best mixture gives half to arm 1 and half to arm 3.",
)

# %% [markdown]
# ## The instance
#
# Setup 1 of the paper, easy environment. A pull of arm $a$ gives a reward with mean $\mu_a$ and,
# for every constraint $i$, a cost with mean $A_{ia}$, all with standard deviation 1. The best
# mixture $\pi$ solves
#
# $$\max_{\pi} \mu^\top \pi$$
#
# subject to $A \pi \le b$, $\sum_a \pi_a = 1$ and $\pi \ge 0$.
#
# (The paper prints no constraints; these are those of its program.)

# %%
problem = instance.problem
arms = pd.DataFrame({"mean reward": instance.means}, instance.arm_names)
for constraint in instance.constraints:
    arms[f"{constraint.name} ≤ {constraint.at_most}"] = constraint.coefficients
arms["best mixture"] = np.abs(known.policy)
arms.T

# %% [markdown]
# ## What it costs to know
#
# Suppose the limits and costs are known. Then the best mixture has to be told from its neighbours,
# the corners of the feasible set next to it. If a wrong answer may have the probability $\delta$,
# this takes at least
#
# $$T \, \ln \frac{1}{2.4 \, \delta}$$
#
# pulls on average, where $T$ is the characteristic time of the instance.

# %%
from bestarm.lagex.paper.bounds import lower_bound

delta, r = 0.01, 0.01
print(f"T = {known.characteristic_time:.0f}, without limits {known.bai_characteristic_time:.0f}")
print(f"lower bound, limits known: {lower_bound(known.characteristic_time, delta):.0f} steps")

# %% [markdown] tags=["exercise"]
# ### Predict, then run: wider limits
#
# Limits of 0.6 instead of 0.5 allow better mixtures. Is the best one then easier or harder to find,
# and by how much?

# %% tags=["exercise"]
from bestarm.lagex.problem import Instance


def with_limits(at_most):
    """The instance with the same limit for both constraints."""
    fields = instance.model_dump()
    limits = [constraint | {"at_most": at_most} for constraint in fields["constraints"]]
    return Instance(**fields | {"name": "changed", "constraints": limits})


changed = truth(with_limits(0.5))  # change this to 0.6
print(f"mixture {np.abs(np.round(changed.policy, 2))}, T = {changed.characteristic_time:.0f}")

# %% tags=["exercise", "hide-cell"]
from IPython.display import Markdown

wider = truth(with_limits(0.6))
longer = wider.characteristic_time / known.characteristic_time
assert 4 < longer < 5
Markdown(
    f"**Harder, {longer:.1f} times.** At 0.5 the limits leave arms 1 and 3 half each, whichever of "
    "them is better. At 0.6 the better one gets 60%, so one has to know which it is, and they "
    f"differ by only {instance.means[0] - instance.means[2]:.1f}. Limits can do a part of the "
    "exploring."
)

# %% [markdown]
# ## One run, step by step
#
# LAGEX plays a game between an allocation and the means that would make its answer wrong, with a
# price on limits that look broken. `ask` says which arm to pull; `tell` takes its reward and its
# costs.

# %%
from bestarm.lagex import LAGEX

rng = np.random.default_rng(1)
strategy = LAGEX(n_arms=6, limits=problem.limits, delta=delta, r=r)
excess = []
while not strategy.done:
    arm = strategy.ask()
    reward = rng.normal(problem.means[arm], np.sqrt(problem.variances[arm]))
    strategy.tell(arm, reward, rng.normal(problem.matrix[:, arm], problem.cost_sigma))
    excess.append((problem.matrix @ strategy.answer - problem.limits).max())

print(f"stopped after {strategy.pulls.sum()} steps with {strategy.answer.round(2)}")

# %% tags=["hide-input"]
from bestarm.lagex.plots import STYLES

figure = new_figure(WIDE, 2.2)
axes = figure.subplots()
axes.plot(excess, color=STYLES["LAGEX"].colour)
axes.axhline(0.0, color=BLACK, lw=0.8)
axes.annotate(
    "all limits kept", (len(excess), 0.0), (-4, -10), textcoords="offset points", ha="right"
)
axes.set(xlabel="steps", ylabel="largest excess\nover a true limit", ylim=(-0.08, None))
picture(
    figure,
    "By how much the mixture that LAGEX would recommend exceeds a true limit, step by step. It "
    "comes closer to zero, and is above it when the run stops.",
)

# %% [markdown]
# The best mixture exhausts both limits, so its estimate ends on either side of each of them. No
# stopping rule of the paper asks how well the limits are known.

# %% [markdown]
# ## Many runs
#
# All eight strategies. CTnS and CGE are *told* the costs; the others estimate them. Two things are
# counted: when a run stops, and whether the recommended mixture truly keeps the limits.

# %%
from bestarm.common.paper import Cell
from bestarm.lagex.strategies import STRATEGIES
from bestarm.notebook import beside, kept_table, simulate

RUNS = 100


def simulated(strategies):
    """Runs of some strategies as a table."""
    setting = {"delta": delta, "r": r, "cap": 100_000}
    return simulate(
        instance, [Cell(instance.name, s, setting, "as-written") for s in strategies], RUNS
    )


here = simulated(STRATEGIES)
kept = kept_table("lagex", "fig6")
shares = kept_table("lagex", "shares")

# %% tags=["hide-input"]
from bestarm.lagex.plots import times

stated = kept[kept.reading.isin(["exact", "published"])]
picture(
    times(
        pd.concat([here, stated]),
        {instance.name: ""},
        "",
        ("known lower bound", "inside lower bound", "BAI lower bound"),
    ),
    "Boxes of the stopping times of eight strategies, which lie between the lower bounds with "
    "and without constraints; most published medians lie far above the boxes.",
)

# %% [markdown]
# The left half of the paper's Figure 6, from 100 runs each: quartiles, medians, 5% and 95%
# quantiles; diamonds: the published medians.

# %% tags=["hide-input"]
from bestarm.common.drawing import dots

figure = new_figure(WIDE, 2.2)
rows = here[here.statistic == "prob_feasible"]
order = [name for name in STYLES if name in set(rows.strategy)]
axes = dots(figure, rows, STYLES, order)[0, 0]
axes.axvline(1 - delta, color=BLACK, ls=":")
axes.annotate(
    "Lemma 2", (1 - delta, 0), (-3, 0), textcoords="offset points", ha="right", va="center"
)
axes.set(xlabel="share of runs whose mixture keeps all limits", xlim=(-0.02, 1.02))
picture(
    figure,
    "The share of runs whose mixture keeps all limits. CTnS and CGE, which are told the costs, "
    "keep them in all runs; the others in a small minority, while Lemma 2 of the paper asks for "
    "99%.",
)

# %% [markdown] tags=["exercise"]
# ### Predict, then run: told or not
#
# CTnS is told the costs; CTnS-WLag is the same strategy, but estimates them. How much sooner does
# the one stop that is told?

# %% tags=["exercise"]
name = "CTnS-WLag"  # change this to CTnS

rows = simulated([name]).set_index("statistic").value
print(
    f"median {rows['median_stopping_time']:.0f} steps, limits kept in {rows['prob_feasible']:.0%}"
)

# %% tags=["exercise", "hide-cell"]
pair = here[here.strategy.isin(["CTnS", "CTnS-WLag"])].set_index(["strategy", "statistic"]).value
told, estimating = (pair[name, "median_stopping_time"] for name in ("CTnS", "CTnS-WLag"))
assert 0.7 < told / estimating < 1.4
assert pair["CTnS", "prob_feasible"] > 0.9
assert pair["CTnS-WLag", "prob_feasible"] < 0.5
Markdown(
    f"**Not sooner at all: {told:.0f} and {estimating:.0f} steps.** The stopping rule is the same, "
    "and it asks for evidence on rewards only. So the one that estimates does not wait until it "
    f"knows the limits, and keeps them in {pair['CTnS-WLag', 'prob_feasible']:.0%} of its runs "
    f"instead of {pair['CTnS', 'prob_feasible']:.0%}."
)

# %% [markdown] tags=["exercise"]
# ### Predict, then run: what it takes to learn the limits
#
# A strategy that has to learn the limits and recommends a feasible mixture, at most $r = 0.01$
# worse than the best, with probability $1 - \delta$, needs a certain number of steps. Is this
# rather twice, ten times or a hundred times what LAGEX took above? And with $r = 0.1$?

# %% tags=["exercise"]
from bestarm.core.information import needed_information
from bestarm.lagex.paper.bounds import learning_time


def steps_to_learn(shortfall):
    """Mean steps of every delta-correct strategy that has to learn the limits."""
    return learning_time(problem, shortfall).time * needed_information(delta)


shortfall = 0.01  # change this to 0.1
print(f"{steps_to_learn(shortfall):,.0f} steps or more on average")

# %% tags=["exercise", "hide-cell"]
lagex = here[(here.strategy == "LAGEX") & (here.statistic == "median_stopping_time")].value.iloc[0]
fine, coarse = steps_to_learn(0.01), steps_to_learn(0.1)
assert fine > 100 * lagex
assert 50 < fine / coarse < 200
Markdown(
    f"**Hundreds of times: {fine:,.0f} steps or more,** while LAGEX stopped after {lagex:.0f} in "
    f"half of its runs. With $r = 0.1$ it is {coarse:,.0f}: an error of a cost that is ten times "
    "as large is seen with a hundredth of the pulls."
)

# %% [markdown]
# ## Beside the kept results
#
# `figures/lagex/fig6.csv` and `shares.csv` hold the same from 500 runs.

# %%
beside(here[here.statistic == "median_stopping_time"], kept, "strategy")

# %%
beside(here[here.statistic == "prob_feasible"], shares[shares.delta == delta], "strategy")

# %% [markdown]
# ## What the verdicts table says
#
# The two main claims are that LAGEX stops first, and that what it recommends is feasible:

# %%
from bestarm.notebook import kept_verdicts

kept_verdicts("lagex", "fig6-lagex-first", "fig6-median", "lemma2-feasible-lagex", "fig5-possible")

# %% [markdown]
# [The readings](../docs/readings.md) prove that the multiplier at the heart of LAGEX never changes
# the best allocation, and [the shares](../figures/lagex/shares.svg) of all environments are a
# figure of their own. `bestarm run my-instance.yaml` takes your own arms and limits.
