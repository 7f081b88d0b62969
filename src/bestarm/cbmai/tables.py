"""How summaries and instances become the tables of the CBMAI paper's figures."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy import special

from bestarm.cbmai.problem import Instance, solved
from bestarm.cbmai.steps import FIRST_REJECTED, World, end_round, pull_round, start
from bestarm.cbmai.strategies import make_rules, most_normals
from bestarm.common.paper import Cell, Sources
from bestarm.common.tables import (
    assemble,
    cell_rows,
    comparison_rows,
    groups,
    lines,
    published_rows,
)
from bestarm.core.estimates import Estimate, exact, proportion, undefined
from bestarm.core.streams import run_streams, stream_key
from bestarm.core.units import power_of_two

#: Least number of errors for a normal approximation in the logarithm, and its 97.5% quantile.
FEWEST_ERRORS = 10
Z = special.ndtri(0.975)
#: The run that figure 4 shows: on H2, with this budget.
MISLED_BUDGET = 1000
#: The bounds of the theorems on limits of exponents, by name.
LIMITS = {
    "SFSR at least": "exponent_sfsr",
    "USLP at most": "exponent_uslp",
    "any at most": "exponent_any",
}


def point(instance: str, strategy: str, budget: float) -> Cell:
    """A point of an error curve."""
    setting = {"budget": int(budget)}
    return Cell(instance, strategy, setting, "as-written", x_name="budget", x=float(budget))


def bounds(truth: dict, setting: dict) -> list[Estimate]:
    """The optimal value, Delta_0^2, and the limits of Theorems 1 and 2; nothing if infeasible."""
    quantities = [("optimal_value", "reward", truth["value"])]
    quantities.append(("squared_gap:infeasibility", "", truth["infeasibility_gap"]))
    quantities += [
        (f"exponent_limit:{name}", "per pull", truth[key]) for name, key in LIMITS.items()
    ]
    return [exact(*quantity) for quantity in quantities if quantity[-1] is not None]


def gap_rows(truth: dict) -> list[Estimate]:
    """Delta_a^2 of every column, infinite where no basis with it can overtake the optimal one."""
    return [
        exact(f"squared_gap:{column}", "", math.inf if gap is None else gap)
        for column, gap in enumerate(truth["arm_gaps"], 1)
    ]


def without_ties(summary: pd.DataFrame) -> pd.DataFrame:
    """Without the shares of mixtures that break limits: 0, since Gaussian estimates do not tie."""
    return summary[summary.statistic != "share_breaks_limits"]


def errors(sources: Sources) -> pd.DataFrame:
    """All statistics of an experiment, with comparisons of error rates."""
    return assemble(without_ties(sources.summary), comparisons(sources.summary))


def two_constraints(sources: Sources) -> pd.DataFrame:
    """The same, and error exponents beside their limits."""
    return assemble(without_ties(sources.summary), comparisons(sources.summary), rates(sources))


def patient(sources: Sources) -> pd.DataFrame:
    """Error rates and answers of "infeasible" of all strategies, with comparisons."""
    rates = sources.summary[sources.summary.statistic.isin(["error_rate", "share_infeasible"])]
    pairs = (("SFSR-patient", "SFSR"), ("SFSR-patient", "SFSR-L"), ("SFSR-patient", "USLP"))
    return assemble(rates, comparisons(rates, pairs))


#: Strategies compared.
PAIRS = (("SFSR", "USLP"), ("SFSR-L", "USLP"), ("SFSR-L", "SFSR"))


def comparisons(summary: pd.DataFrame, pairs: Sequence[tuple[str, str]] = PAIRS) -> list[dict]:
    """Differences and ratios of error rates at the same instance and budget.

    Runs share their streams, so the intervals, which assume independent runs, are conservative.
    Those of differences are Newcombe's, from the two Wilson intervals; those of ratios are normal
    in the logarithm, and undefined if either strategy erred in fewer than FEWEST_ERRORS runs.
    """
    rates = summary[summary.statistic == "error_rate"]
    rows = []
    for (instance, x), group in groups(rates, "instance", "x"):
        by = {row.strategy: row for row in lines(group)}
        for first, second in pairs:
            a, b = by[first], by[second]
            low = a.value - b.value - math.hypot(a.value - a.low, b.high - b.value)
            high = a.value - b.value + math.hypot(a.high - a.value, b.value - b.low)
            difference = Estimate("error_difference", "share", a.value - b.value, low, high, a.n)
            cell = point(instance, first, x)
            rows += comparison_rows(cell, second, [difference], by="-")
            ratio = _estimate("error_ratio", "", np.exp(_log_ratio(a, b)), a.n)
            rows += comparison_rows(cell, second, [ratio])
    return rows


def rates(sources: Sources) -> pd.DataFrame:
    """-ln(error rate) / N and its local slope, with the limits of Theorems 1 and 2.

    If no run erred, the one-sided bound on the rate gives a lower bound. Slopes are between
    neighbouring budgets, undefined with fewer than FEWEST_ERRORS at either.
    """
    error_rates = sources.summary[sources.summary.statistic == "error_rate"]
    rows = []
    for (instance, strategy), curve in groups(error_rates, "instance", "strategy"):
        before = None
        for row in lines(curve.sort_values("x")):
            cell = point(instance, strategy, row.x)
            rows += cell_rows(cell, [_error_exponent(row)])
            if before is not None:
                fall = _log_ratio(before, row) / (row.x - before.x)
                rows += cell_rows(cell, [_estimate("marginal_exponent", "per pull", fall, row.n)])
            before = row
    for instance in error_rates.instance.unique():
        truth = sources.instances[instance]["truth"]
        for name, field in LIMITS.items():
            if truth[field] is not None:
                limit = exact("exponent_limit", "per pull", truth[field])
                rows += cell_rows(Cell(instance, name, {}, "exact"), [limit])
    return assemble(rows)


def decay(sources: Sources) -> pd.DataFrame:
    """Error rates and exponents, and the tail of a Gaussian whose exponent is USLP's limit."""
    error_rates = sources.summary[sources.summary.statistic == "error_rate"]
    rows = []
    for instance, points in groups(error_rates[error_rates.strategy == "USLP"], "instance"):
        limit = sources.instances[instance]["truth"][LIMITS["USLP at most"]]
        budgets = np.sort(points.x)
        tails = special.log_ndtr(-np.sqrt(2.0 * limit * budgets))
        falls = [None, *-np.diff(tails) / np.diff(budgets)]
        for budget, tail, fall in zip(budgets, tails, falls, strict=True):
            tail_rows = [exact("gaussian_tail", "share", math.exp(tail))]
            tail_rows += [exact("marginal_exponent", "per pull", fall)] if fall else []
            rows += cell_rows(point(instance, "USLP at most", budget), tail_rows)
    return assemble(without_ties(sources.summary), rates(sources), rows)


def _error_exponent(row) -> Estimate:
    middle, low, high = (
        -math.log(p) / row.x if p > 0 else math.nan for p in (row.value, row.high, row.low)
    )
    middle = low if row.value == 0.0 else middle
    return Estimate("error_exponent", "per pull", middle, low, high, row.n, row.status)


def _log_ratio(a, b) -> np.ndarray:
    """ln(a / b) of two error rates with its normal interval; nan with fewer than FEWEST_ERRORS."""
    if min(a.value * a.n, b.value * b.n) < FEWEST_ERRORS:
        return np.full(3, np.nan)
    half = Z * math.hypot(*(math.sqrt((1 / r.value - 1) / r.n) for r in (a, b)))
    return math.log(a.value / b.value) + half * np.array([0.0, -1.0, 1.0])


def _estimate(statistic: str, unit: str, ends: np.ndarray, n: int) -> Estimate:
    if np.isnan(ends[0]):
        return undefined(statistic, unit, n)
    middle, low, high = ends.tolist()
    return Estimate(statistic, unit, middle, low, high, n)


def random_instances(sources: Sources) -> pd.DataFrame:
    """Errors on the random instances, and shares of instances on which one strategy beats another.

    It does if the 95% interval of the difference lies on one side of 0.
    """
    compared = pd.DataFrame(comparisons(sources.summary))
    differences = compared[compared.statistic == "error_difference"]
    rows = []
    for (first, second), group in groups(differences, "algorithm", "other"):
        counts = {"below": (group.high < 0).sum(), "above": (group.low > 0).sum()}
        shares = [
            proportion(f"share_of_instances:{side}", int(count), len(group))
            for side, count in counts.items()
        ]
        cell = point("random", first, group.x.iloc[0])
        rows += comparison_rows(cell, second, shares, by="-", family="random")
    rates = sources.summary[sources.summary.statistic == "error_rate"]
    return assemble(rates, differences, rows)


def rewards(*names: str) -> Callable[[Sources], pd.DataFrame]:
    """Table 1: rewards by arm, and the optimal support with its weights."""

    def tabulate(sources: Sources) -> pd.DataFrame:
        rows = [reward_rows(name, sources.instances[name]) for name in names]
        return assemble(*rows, published_rows(sources.published, "table1"))

    return tabulate


def reward_rows(name: str, described: dict) -> list[dict]:
    """The rows of an instance of Table 1: the printed numbers, and computed ones."""
    instance, truth = described["instance"], described["truth"]
    weights = zip(truth["answer"], truth["weights"], strict=True)
    support = sorted(c for c in truth["answer"] if c <= len(instance["rewards"]))
    gaps = {estimate.statistic.partition(":")[2]: estimate.value for estimate in gap_rows(truth)}
    inside = [gaps.pop(str(column)) for column in truth["answer"]]
    return cell_rows(
        Cell(name, "truth", {}, "exact"),
        [
            *(exact(f"mean_reward:{a}", "reward", r) for a, r in enumerate(instance["rewards"], 1)),
            *(exact(f"optimal_weight:{column}", "", weight) for column, weight in weights),
            exact("support_size", "arms", len(support)),
            *(exact(f"support_arm:{place}", "", arm) for place, arm in enumerate(support, 1)),
            *bounds(truth, {}),
            *gap_rows(truth),
            exact("squared_gap:largest of the optimal basis", "", max(inside)),
            exact("squared_gap:least of the others", "", min(gaps.values())),
        ],
    )


def grid(name: str) -> Callable[[Sources], pd.DataFrame]:
    """Costs of the arms of an instance with two constraints, for laying out rows and columns."""

    def geometry(sources: Sources) -> pd.DataFrame:
        first, second = sources.instances[name]["instance"]["costs"]
        return pd.DataFrame({"arm": range(1, len(first) + 1), "cost_1": first, "cost_2": second})

    return geometry


def tabulate_arms(*names: str) -> Callable[[Sources], pd.DataFrame]:
    """Cost and reward of every arm of one-constraint instances, and the optimal weights."""

    def geometry(sources: Sources) -> pd.DataFrame:
        frames = []
        for name in names:
            instance, truth = (sources.instances[name][key] for key in ("instance", "truth"))
            weights = dict(zip(truth["answer"], truth["weights"], strict=True))
            n_arms = len(instance["rewards"])
            arms = pd.DataFrame(
                {
                    "instance": name,
                    "arm": range(1, n_arms + 1),
                    "cost": instance["costs"][0],
                    "reward": instance["rewards"],
                }
            )
            frames.append(arms.assign(weight=[weights.get(a, 0.0) for a in arms.arm]))
        return pd.concat(frames)

    return geometry


def scores(sources: Sources) -> pd.DataFrame:
    """Figure 1: both scores of every column of the five-arm instance, slack included."""
    name = "intersection-values"
    solution = solved(Instance(**sources.instances[name]["instance"]).problem)
    by_statistic = {
        "intersection_value": solution.intersection_values,
        "lagrangian_score": solution.reduced,
    }
    return assemble(
        cell_rows(
            Cell(name, "truth", {}, "exact"),
            [
                exact(f"{statistic}:{column}", "reward", score)
                for statistic, scores in by_statistic.items()
                for column, score in enumerate(scores, 1)
            ],
        )
    )


def first_rejections(sources: Sources) -> pd.DataFrame:
    """How often the first rejection on H2 is of arm 1 or 2, by budget and strategy."""
    summary = sources.summary
    of_share = summary.statistic == "share_first_rejects_support"
    return assemble(summary[of_share & (summary.instance == "H2") & summary.strategy.ne("USLP")])


def misled_run(sources: Sources) -> pd.DataFrame:
    """Figure 4: H2's arms as they are, and as estimated in a run that rejects arm 1 in round 1.

    The run is the first replication of SFSR-L, on streams of its own, in which arm 1 is rejected
    although its estimates are no worse than its true means, with a frontier between two arms.
    """
    instance = Instance(**sources.instances["H2"]["instance"])
    problem, noise = instance.problem, instance.noise
    n_arms = problem.rewards.size
    rules = make_rules("SFSR-L", problem, MISLED_BUDGET, keep_basis=False)
    world = World(problem, noise, np.zeros(problem.bounds.size + 2))
    normals = np.empty(most_normals(problem, rules.schedule))
    key = stream_key(0, "cbmai", "fig4", "H2", f"budget={MISLED_BUDGET}")
    replication = -1
    while True:
        replication += 1
        run_streams(key, replication).environment.standard_normal(out=normals)
        state = start(rules)
        pull_round(world, rules, state, normals)
        no_worse = (state.rewards[0] >= problem.rewards[0]) & (state.costs[0] <= problem.costs[0])
        end_round(rules, state)
        scores = np.empty(state.remaining.size)
        unit = power_of_two(state.sizes[-1])
        scores[state.columns] = unit * state.work.scores[: state.columns.size]
        if no_worse[0] and state.counters[FIRST_REJECTED] == 0 and scores[n_arms] < 0.0:
            break
    truly = {"cost": problem.costs[0], "reward": problem.rewards, "score": solved(problem).reduced}
    seen = {"cost": state.costs[0], "reward": state.rewards, "score": scores}
    return pd.concat(
        pd.DataFrame(
            {
                "panel": panel,
                "arm": range(1, n_arms + 1),
                **{name: values[:n_arms] for name, values in columns.items()},
                "pulls": state.pulls,
                "replication": replication,
            }
        )
        for panel, columns in {"true": truly, "seen": seen}.items()
    )
