"""What is simulated for the CBMAI paper, and how summaries become its figures' tables."""

import math
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from bestarm.cbmai import tables
from bestarm.cbmai.problem import SEEDS, Instance, make, random_instance
from bestarm.cbmai.strategies import STRATEGIES
from bestarm.cbmai.tables import point
from bestarm.common.paper import Benchmark, Cell, Experiment, Target
from bestarm.core.estimates import LEVEL, Estimate, Moments, mean, proportion, undefined

#: Budgets are not printed in the paper. On these the best strategy's error goes from above 0.5 to
#: below 0.01 on every instance.
SMALL = (200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 7000, 10_000)
LARGE = (1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000)
RANDOM_BUDGET = 5000
#: From errors in a quarter of the runs to some twenty in a million, for SFSR and for USLP, which
#: has to go further.
DECAY, DECAY_USLP = (1000, 4000, 8000, 12_000), (18_000, 24_000, 30_000)
AVERAGE, HARD = ("A1", "A2", "A3"), ("H1", "H2", "H3")
TWO_CONSTRAINTS = ("D1P", "D2P", "D3P", "D1I", "D2I", "D3I")
KNOWN = ("A2", "A2-known-4", "A2-known-8", "A2-known-12")
INFEASIBLE = ("too-dear", "conflict")


def error_curves(instances: Iterable[str], budgets: Iterable[int]) -> tuple[Cell, ...]:
    """Every strategy on every instance and budget."""
    return tuple(
        point(instance, strategy, budget)
        for instance in instances
        for budget in budgets
        for strategy in STRATEGIES
    )


EXPERIMENTS = (
    Experiment("average", error_curves(AVERAGE, SMALL)),
    Experiment("hard", error_curves(HARD, SMALL)),
    Experiment("two-constraints", error_curves(TWO_CONSTRAINTS, LARGE)),
    Experiment("three-constraints", error_curves(["three-constraints"], LARGE)),
    Experiment("known-arms", error_curves(KNOWN, SMALL)),
    Experiment("infeasible", error_curves(INFEASIBLE, SMALL)),
    Experiment(
        "decay",
        (*error_curves(["A2"], DECAY), *(point("A2", "USLP", budget) for budget in DECAY_USLP)),
    ),
    Experiment("random", error_curves([random_instance(k).name for k in SEEDS], [RANDOM_BUDGET])),
)


def summarise(
    cell: Cell, truth: dict, runs: dict[str, np.ndarray], level: float = LEVEL
) -> list[Estimate]:
    """The statistics of one cell.

    Args:
        cell: what was run.
        truth: of its instance, as in instances.json.
        runs: columns of the shards, see `strategies.Outcome`.
        level: of intervals.
    """
    return estimates(tally(cell, truth, runs), level)


def tally(cell: Cell, truth: dict, runs: dict[str, np.ndarray]) -> dict[str, int | Moments]:
    """Counts and moments of some runs of a cell, which add up; arguments as for `summarise`."""
    budget = cell.setting["budget"]
    answered = np.isfinite(runs["reward"])
    first = np.isin(runs["first_rejected"], truth["answer"]) & (runs["first_rejected"] > 0)
    value = math.nan if truth["value"] is None else truth["value"]
    return {
        "runs": runs["tau"].size,
        "right": int((runs["answer"] == truth["answer"]).all(axis=1).sum()),
        "infeasible": int((runs["answer"] == 0).all(axis=1).sum()),
        "over_budget": int((runs["tau"] > budget).sum()),
        "first_rejects_support": int(first.sum()),
        "budget_share": Moments.of(runs["tau"] / budget),
        "regret": Moments.of(value - runs["reward"][answered]),
        "violation": Moments.of(runs["violation"][answered]),
    }


def estimates(tally: dict[str, int | Moments], level: float = LEVEL) -> list[Estimate]:
    """The statistics of a cell from the tally of its runs."""
    n = tally["runs"]
    return [
        proportion("prob_correct", tally["right"], n, level),
        proportion("error_rate", n - tally["right"], n, level),
        proportion("share_infeasible", tally["infeasible"], n, level),
        proportion("share_over_budget", tally["over_budget"], n, level),
        proportion("share_first_rejects_support", tally["first_rejects_support"], n, level),
        mean("mean_budget_share", "share", tally["budget_share"], level=level),
        _mean_of_answers("mean_regret", "reward", tally["regret"], n, level),
        _mean_of_answers("mean_violation", "cost", tally["violation"], n, level),
    ]


def _mean_of_answers(statistic: str, unit: str, sample: Moments, n: int, level: float) -> Estimate:
    """A mean over the runs that gave a mixture; `undefined` if none did, or without a truth."""
    if math.isnan(sample.mean):
        return undefined(statistic, unit, n)
    return mean(statistic, unit, sample, level=level)


def benchmark_instance(n_arms: int, n_costs: int) -> Instance:
    """Random arms of which some mixture is feasible."""
    rng = np.random.default_rng(0)
    rewards, costs = rng.uniform(0.0, 1.0, n_arms), rng.uniform(0.2, 1.6, (n_costs, n_arms))
    return make(f"K={n_arms} L={n_costs}", rewards, costs)


def n_bases(n_arms: int, n_costs: int) -> int:
    """Bases that SFSR looks at: all of the remaining columns, one column fewer every round."""
    return sum(math.comb(m, n_costs + 1) for m in range(n_costs + 2, n_arms + n_costs + 1))


def growth() -> Iterator[Benchmark]:
    """SFSR's cost against K, beside the bases to look at, which it should grow no faster than."""
    for n_costs, sizes in ((1, (8, 16, 32, 64)), (2, (8, 16, 24, 32)), (3, (8, 12, 16))):
        for n_arms in sizes:
            instance = benchmark_instance(n_arms, n_costs)
            cell = Cell(instance.name, "SFSR", {"budget": 10_000}, "as-written")
            bases = n_bases(n_arms, n_costs)
            runs = max(20, 2_000_000 // bases)
            yield Benchmark(cell, runs, "run", one_run, f"{bases:,} bases a run", instance)


def one_run(outcome) -> int:
    return 1


#: Speed on one of each paper-scale kind of instance, and its growth with the number of arms.
BENCHMARKS = (
    *(
        Benchmark(Cell(instance, strategy, {"budget": budget}, "as-written"), 2000, "run", one_run)
        for instance, budget in (("A2", 2000), ("A2", 10_000), ("D2P", 64_000))
        for strategy in STRATEGIES
    ),
    *growth(),
)

#: Targets whose time from nothing `make bench` measures.
TIMED_TARGETS = (("fig2", "fig3"), ("fig5",))
#: Likewise, with the replications of --config.
TIMED_MORE = {"decay": 1_000_000}

#: What `bestarm run` prints of a person's own instance, and how it heads the columns.
OWN_STATISTICS = {
    "error_rate": "error rate",
    "share_infeasible": "infeasible",
    "mean_regret": "mean regret",
    "mean_violation": "mean violation",
    "mean_budget_share": "budget used",
}


bounds = tables.bounds


def describe(instance: Instance, truth: dict) -> dict[str, pd.DataFrame]:
    """An instance as tables for people: rewards and costs by arm, and the best mixture."""
    n_arms = len(instance.rewards)
    weights = dict(zip(truth["answer"], truth["weights"], strict=True))
    of_column = np.array([weights.get(c + 1, 0.0) for c in range(n_arms + len(instance.bounds))])
    arms = pd.DataFrame({"reward": instance.rewards}, index=instance.arm_names)
    for name, row in zip(instance.constraint_names, instance.costs, strict=True):
        arms[name] = row
    arms["means"] = [
        "unknown" if a < instance.problem.n_unknown else "known" for a in range(n_arms)
    ]
    rows = pd.DataFrame({"bound": instance.bounds}, index=instance.constraint_names)
    if truth["value"] is None:
        rows["answer"] = "no mixture is feasible"
    else:
        arms["weight in the best mixture"] = of_column[:n_arms]
        rows["slack at the best mixture"] = of_column[n_arms:]
        if truth["arm_gaps"] is not None:
            gaps = np.array(truth["arm_gaps"], dtype=float)
            arms["squared gap"], rows["squared gap of the slack"] = gaps[:n_arms], gaps[n_arms:]
        if not truth["unique"]:
            rows["answer"] = "not unique: errors cannot vanish (Assumption 1)"
    marks = "; reconstructed" if instance.reconstructed else ""
    noise = f"sigma_reward = {instance.sigma_reward:g}, sigma_cost = {instance.sigma_cost:g}"
    return {f"{instance.name}: arms ({noise}{marks})": arms, "constraints": rows}


def errors(name: str, title: str, experiment: str, *drawn: str) -> Target:
    """A target with the error curves of an experiment, and the arms of some of its instances."""
    geometry = tables.arms_of(*drawn) if drawn else None
    return Target(name, title, tables.errors, (experiment,), geometry)


TARGETS = (
    Target(
        "fig1",
        "Intersection values of five arms",
        tables.scores,
        geometry=tables.arms_of("intersection-values"),
    ),
    errors("fig2", "Average instances", "average", *AVERAGE),
    errors("fig3", "Hard instances", "hard", *HARD),
    Target("fig4", "How SFSR-L fails", tables.first_rejections, ("hard",), tables.misled_run),
    Target("fig5", "Two constraints", tables.two_constraints, ("two-constraints",)),
    Target(
        "table1",
        "Rewards and optimal supports",
        tables.rewards(*TWO_CONSTRAINTS),
        geometry=tables.grid("D1P"),
    ),
    Target("rates", "Error exponents and their limits", tables.rates, ("average", "hard")),
    Target("decay", "Decay of the error rate", tables.decay, ("decay",)),
    Target("random-instances", "Random instances", tables.random_instances, ("random",)),
    errors("known-arms", "Some arms known", "known-arms"),
    errors("infeasible", "No feasible mixture", "infeasible"),
    errors("three-constraints", "Three constraints", "three-constraints"),
)
