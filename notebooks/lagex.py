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
# A canteen mixes its menus: more of what is liked, but the mean price and the mean salt must
# stay within limits. How much each menu is liked is unknown, and so are its price and salt; all
# are observed, with noise, whenever a menu is served. How many servings does it take to
# recommend a mixture?
#
# This is pure exploration under unknown linear constraints (LAGEX: Das & Basu, AISTATS 2026).
# The notebook walks from one instance to the paper's Figure 6; it takes two minutes.

# %%
import numpy as np
import pandas as pd

from bestarm.common.looks import BLACK, BLUE, GREY, VERMILION
from bestarm.common.paper import Cell
from bestarm.common.style import new_figure
from bestarm.core.estimates import proportion, quantile
from bestarm.core.streams import replication_streams
from bestarm.lagex import LAGEX
from bestarm.lagex.bounds import lower_bound
from bestarm.lagex.problem import instances, truth
from bestarm.lagex.strategies import STRATEGIES, prepare
from bestarm.notebook import kept_table, kept_verdicts, picture

# %% [markdown]
# ## An instance
#
# Setup 1 of the paper, easy environment: six arms; arms 1 and 2 together may have at most half of
# the mixture, and so may arms 3, 4 and 5. (The paper prints no constraints; these are those of
# its program.)

# %%
instance = instances()["setup 1 m3=1.3"]
model = instance.model
arms = pd.DataFrame({"mean reward": instance.means}, instance.arm_names)
for name, constraint in zip(instance.constraint_names, instance.constraints, strict=True):
    arms[f"{name} ≤ {constraint.at_most}"] = constraint.coefficients
arms.T

# %% [markdown]
# ## The answer, and what it costs to find
#
# The best mixture solves a linear program. If limits are known, telling it from its neighbours
# (the other corners next to it) takes T ln(1/(2.4 δ)) pulls on average, for the best allocation
# of pulls. Without limits the question would be another one, which of arms 1 and 3 is better.

# %%
delta, r = 0.01, 0.01
known = truth(instance)
bound = lower_bound(known.characteristic_time, delta)
without = lower_bound(known.bai_characteristic_time, delta)
print(f"best mixture: {np.abs(np.round(known.policy, 3))}, worth {known.value:.2f}")
print(f"lower bound, limits known: {bound:.0f} steps; without limits: {without:.0f}")
answer = pd.DataFrame({"mixture": known.policy, "pulls": known.allocation}, instance.arm_names)
answer.round(3).abs().T

# %% [markdown]
# ## One run, step by step
#
# LAGEX plays a game between an allocation and the means that would make its answer wrong, with
# a price on limits that look broken. `ask` says which arm to pull; `tell` takes its reward and
# its costs.

# %%
rng = np.random.default_rng(1)
strategy = LAGEX(n_arms=6, limits=model.limits, delta=delta, r=r)
excess = []
while not strategy.done:
    arm = strategy.ask()
    reward = rng.normal(model.means[arm], np.sqrt(model.variances[arm]))
    strategy.tell(arm, reward, rng.normal(model.matrix[:, arm], model.cost_sigma))
    excess.append((model.matrix @ strategy.answer - model.limits).max())

print(f"stopped after {strategy.pulls.sum()} steps with {strategy.answer.round(2)}")
print(f"that mixture exceeds a true limit by {excess[-1]:.2f} (below 0: keeps all)")

# %% [markdown]
# ## Many runs
#
# All eight strategies. CTnS and CGE are *told* the limits' coefficients; the others estimate them.
# Two things are counted: when a run stops, and whether the recommended mixture truly keeps the
# limits.

# %%
RUNS = 40
setting = {"delta": delta, "r": r, "cap": 100_000}


def outcomes(strategy):
    """Steps of some runs, and how many recommend a mixture that keeps all limits."""
    run = prepare(instance, Cell(instance.name, strategy, setting, "as-written"))
    runs = [run(streams) for streams in replication_streams(2024, range(RUNS))]
    steps = np.array([outcome.tau for outcome in runs])
    feasible = sum(outcome.excess <= 1e-9 for outcome in runs)
    return quantile("", "steps", steps, 0.5), proportion("prob_feasible", feasible, RUNS)


found = {strategy: outcomes(strategy) for strategy in STRATEGIES}

# %% [markdown]
# ## The figure
#
# Left: median steps with 95% intervals, the published medians, and the lower bound. Right: the
# share of runs whose mixture keeps the limits, which Lemma 2 of the paper puts at 0.99 or more.

# %%
kept = kept_table("lagex", "fig6")
medians = kept[(kept.statistic == "median_stopping_time") & (kept.instance == instance.name)]
medians = medians.set_index(["strategy", "reading"])
shares = kept_table("lagex", "shares")
shares = shares[(shares.statistic == "prob_feasible") & (shares.instance == instance.name)]
shares = shares[shares.reading == "as-written"].set_index("strategy")

figure = new_figure(7.2, 3.2)
left, right = figure.subplots(1, 2, sharey=True)
for y, (steps, feasible) in enumerate(found.values()):
    for axes, row, colour in ((left, steps, BLUE), (right, feasible, VERMILION)):
        reach = [[row.value - row.low], [row.high - row.value]]
        axes.errorbar(row.value, y, xerr=reach, fmt="o", color=colour)
published = kept[(kept.statistic == "median_stopping_time") & (kept.reading == "published")]
published = published.set_index("strategy").value
for y, name in enumerate(found):
    left.plot(published[name], y, "D", color=BLACK, markerfacecolor="none")
left.axvline(bound, color=GREY, linestyle=":")
left.set_yticks(range(len(found)), list(found))
left.invert_yaxis()
left.set(xlabel="median steps (diamonds: published)", title=f"{RUNS} runs each")
right.axvline(1 - delta, color=GREY, linestyle=":")
right.set(xlabel="share that keeps the limits", xlim=(-0.03, 1.03), title="Recommended mixtures")
picture(
    figure,
    "Left: median steps of eight strategies; most published medians lie far above ours. Right: "
    "CTnS and CGE, which are told the limits, keep them in nearly all runs; the others recommend a "
    "mixture that keeps the limits in a minority of runs.",
)

# %% [markdown]
# ## Beside the kept results
#
# `figures/lagex/fig6.csv` and `shares.csv` hold the same from 500 runs.

# %%
pd.DataFrame(
    [
        {
            "strategy": s,
            "median here": f"{steps.value:.0f} [{steps.low:.0f}, {steps.high:.0f}]",
            "kept": "{:.0f} [{:.0f}, {:.0f}]".format(
                *medians.loc[(s, "as-written"), ["value", "low", "high"]]
            ),
            "published": f"{published[s]:.0f}",
            "feasible here": f"{feasible.value:.2f}",
            "feasible kept": f"{shares.value[s]:.2f}",
        }
        for s, (steps, feasible) in found.items()
    ]
).set_index("strategy")

# %% [markdown]
# And what the ledger says of the two main claims: LAGEX stops first, and what it recommends is
# feasible.

# %%
kept_verdicts("lagex", "fig6-lagex-first", "lemma2-feasible-lagex")

# %% [markdown]
# ## Where to go on
#
# No stopping rule of the paper looks at how well the limits are known, so each limit that the
# best mixture exhausts is broken about as often as kept, however long one samples.
# `docs/readings.md` has the reasons, and a proof that the multiplier never changes the best
# allocation. `bestarm run my-instance.yaml` takes your own arms and limits.
