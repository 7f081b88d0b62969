"""How summaries and instances become the tables of the linear bandits paper's figures."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from bestarm.common.paper import Cell, Sources
from bestarm.common.tables import (
    assemble,
    cell_rows,
    comparison_rows,
    groups,
    lines,
    published_rows,
)
from bestarm.core.estimates import (
    Estimate,
    difference_of_independent_means,
    exact,
    ratio_of_independent_means,
)
from bestarm.core.information import needed_information
from bestarm.linear import lemmas
from bestarm.linear.complexity import pulls_until
from bestarm.linear.confidence import Width, radius
from bestarm.linear.designs import optimal_design
from bestarm.linear.problem import DIMENSIONS, SEEDS, SIZES, Instance, paper_instance, span_basis
from bestarm.linear.strategies import (
    ALPHA,
    CLOSEST,
    HONEST,
    LOG_TERMS,
    SPACINGS,
    Reading,
    deterministic_budget,
    grid,
    static_rules,
    static_width,
)

#: Pulls by arm are summarised up to this many arms.
MOST_ARMS_SHOWN = 12
#: The constants of Proposition 1 and its footnote as printed.
PRINTED = Reading(2.0 * math.sqrt(2.0), "logn")
DELTA = 0.05
#: Cap on the exact budgets of static sequences.
LONGEST = 20_000_000
RUN_STATISTICS = ("mean_stopping_time", "median_stopping_time", "quartile_25", "quartile_75")
RUN_STATISTICS += ("share_capped", "error_rate", "prob_correct")


def bounds(truth: dict, setting: dict) -> list[Estimate]:
    """The answer, its complexity, and the paper's bounds on budgets at the setting's delta.

    N* (Eq. 7) and M* (Eq. 19) are for the honest width, Theorems 1 to 3 for the printed one, with
    beta = 0; Lemmas 5 to 7 for N* pulls.
    """
    complexity, d, delta = truth["complexity"], truth["dimension"], setting["delta"]
    width = static_width(HONEST, truth["arms"], delta)
    printed = static_width(PRINTED, truth["arms"], delta)
    least = min(gap for gap in truth["gaps"] if gap > 0.0)
    oracle = pulls_until(complexity["h_lb"], width)
    estimates = [
        exact("best_arm", "index", truth["answer"]),
        exact("oracle_complexity", "pulls", complexity["h_lb"]),
        exact("lower_bound", "pulls", 2.0 * complexity["h_lb"] * needed_information(delta)),
        exact("lemma_2:lower", "pulls", complexity["lower"]),
        exact("lemma_2:lower as printed", "pulls", complexity["printed_lower"]),
        exact("lemma_2:upper", "pulls", complexity["upper"]),
        exact("design_value:G", "", complexity["g_value"]),
        exact("design_value:XY", "", complexity["xy_value"]),
        exact("budget_bound:N*", "pulls", oracle),
        exact("rounding_bound:lemma 5", "", lemma_5(d, oracle)),
        exact("rounding_bound:lemma 6", "", lemmas.lemma_6(d, oracle)),
        exact("rounding_bound:lemma 7", "", 2.0 * lemmas.lemma_6(d, oracle)),
        exact("budget_bound:theorem 1", "pulls", pulls_until(16.0 * d / least**2, printed)),
        exact("budget_bound:theorem 2", "pulls", pulls_until(32.0 * d / least**2, printed)),
    ]
    if complexity["cone_scale"]:
        hardness = complexity["cone_scale"] ** -2
        third = theorem_3(pulls_until(complexity["h_lb"], printed), hardness, printed, least)
        estimates.append(exact("budget_bound:M*", "pulls", pulls_until(hardness, width)))
        estimates.append(exact("budget_bound:theorem 3", "pulls", third))
    return estimates


def lemma_5(d: int, n: float) -> float:
    """Eq. (24): bound on the factor by which rounding to n pulls raises a design's value."""
    return 1.0 + d * (d + 1) / n


def theorem_3(oracle: float, hardness: float, width: Width, least: float) -> float:
    """Eq. (20) with beta = 0: the bound for XY-Adaptive.

    max(M*, 16 N* / alpha) log(C(N*) / gap) / log(1 / alpha).

    Args:
        oracle: N*.
        hardness: cone_scale^-2.
        width: C.
        least: the smallest gap.
    """
    longest = max(pulls_until(hardness, width), 16.0 * oracle / ALPHA)
    return longest / math.log(1.0 / ALPHA) * math.log(radius(width, oracle) / least)


def exact_rows(instance: str, truth: dict, x_name: str, x: float) -> list[dict]:
    """The computed numbers of an instance, as rows, at DELTA."""
    cell = Cell(instance, "bound", {"delta": DELTA}, "exact", x_name=x_name, x=x)
    return cell_rows(cell, bounds(truth, {"delta": DELTA}))


def dimensions(sources: Sources) -> pd.DataFrame:
    """Budgets and errors in every dimension, the growth of budgets, and their ratios."""
    summary = sources.summary
    rows_by_dimension = [
        exact_rows(f"d={d}", sources.instances[f"d={d}"]["truth"], "d", d) for d in DIMENSIONS
    ]
    means = summary[summary.statistic == "mean_stopping_time"]
    return assemble(
        summary[summary.statistic.isin(RUN_STATISTICS)],
        [row for rows in rows_by_dimension for row in rows],
        list(growth(means)),
        list(comparisons(means)),
    )


def growth(means: pd.DataFrame) -> Iterator[dict]:
    """The ratio of a strategy's mean budgets in the highest and the lowest dimension."""
    low, high = min(DIMENSIONS), max(DIMENSIONS)
    for (strategy, reading), rows in groups(means, "strategy", "reading"):
        by = {row.x: row for row in lines(rows)}
        cell = Cell(f"d={high} / d={low}", strategy, {"delta": DELTA}, reading)
        ratio = ratio_of_independent_means("budget_ratio", by[high], by[low])
        yield from cell_rows(cell, [ratio], family="canonical")


def comparisons(means: pd.DataFrame) -> Iterator[dict]:
    """Mean budgets compared, same dimension and reading.

    Ratios to those of G, XY and XY-Oracle, and what XY-Adaptive saves of those of G and XY.
    """
    for (instance, x, reading), rows in groups(means, "instance", "x", "reading"):
        by = {row.strategy: row for row in lines(rows)}
        for base in {"G", "XY", "XY-Oracle"} & set(by):
            for strategy in sorted(set(by) - {base}):
                cell = Cell(instance, strategy, {"delta": DELTA}, reading, {}, "d", x)
                ratio = ratio_of_independent_means("budget_ratio", by[strategy], by[base])
                yield from comparison_rows(cell, base, [ratio])
        for static in {"G", "XY"} & set(by) if "XY-Adaptive" in by else ():
            cell = Cell(instance, static, {"delta": DELTA}, reading, {}, "d", x)
            saved = difference_of_independent_means(
                "budget_difference", "pulls", by[static], by["XY-Adaptive"]
            )
            yield from comparison_rows(cell, "XY-Adaptive", [saved], by="-")


def allocation(sources: Sources) -> pd.DataFrame:
    """Pulls of every arm and budgets at d = 5, beside the published ones."""
    summary = sources.summary[sources.summary.instance == "d=5"]
    by_arm = summary.statistic.str.startswith("mean_pulls")
    return assemble(
        summary[by_arm | summary.statistic.isin(RUN_STATISTICS)],
        published_rows(sources.published, "fig5"),
    )


def readings(sources: Sources) -> pd.DataFrame:
    """Budgets, pulls and errors under every reading at d = 5, and budgets with exact estimates.

    `budget_ratio` is the mean budget over the published one.
    """
    summary, published = sources.summary, sources.published
    budgets = published[published.statistic == "mean_stopping_time"].set_index("strategy").value
    rows = []
    for row in lines(summary[summary.statistic == "mean_stopping_time"]):
        cell = Cell(row.instance, row.strategy, {"delta": DELTA}, row.reading)
        scale = budgets[row.strategy]
        ends = (row.value / scale, row.low / scale, row.high / scale)
        rows += cell_rows(cell, [Estimate("budget_ratio", "", *ends, row.n, row.status)])
    problem = paper_instance(5).problem
    for strategy in ("G", "XY", "XY-Oracle"):
        for name, reading in grid(strategy).items():
            rules = static_rules(strategy, problem, reading, DELTA)
            n = deterministic_budget(rules, problem.means, LONGEST)
            cell = Cell("d=5", strategy, {"delta": DELTA}, name)
            rows += cell_rows(cell, [exact("exact_budget", "pulls", n if n else math.inf)])
    by_arm = summary.statistic.str.startswith("mean_pulls")
    kept = summary[by_arm | summary.statistic.isin(RUN_STATISTICS)]
    return assemble(kept, rows, published_rows(published, "fig5"))


#: Place of true gaps among the pulls between two tests, which are 1, 100, 1,000 and 10,000.
TRUE_GAPS = 1_000_000


def stopping(sources: Sources) -> pd.DataFrame:
    """Mean budgets over the published ones by how often the stop is tested, and by true gaps.

    Two-step rule, c = 1; of XY-Adaptive Eq. (18) with arms kept out. x is the number m of pulls
    between two tests, TRUE_GAPS with true gaps.
    """
    published = sources.published
    budgets = published[published.statistic == "mean_stopping_time"].set_index("strategy").value
    rest = {"XY-Adaptive": "+eq18+kept-out", "XY-Oracle": "+empirical"}
    means = sources.summary[sources.summary.statistic == "mean_stopping_time"]
    by_strategy = {(row.strategy, row.reading): row for row in lines(means)}
    rows = []
    for strategy in CLOSEST:
        for log in LOG_TERMS:
            first = f"1*{log}+two-step{rest.get(strategy, '')}"
            exact_gaps = first.replace("+empirical", "") + "+true-gaps"
            places = {1: first, **{m: f"{first}+every-{m}" for m in SPACINGS}}
            for x, name in (places | {TRUE_GAPS: exact_gaps}).items():
                row, scale = by_strategy[strategy, name], budgets[strategy]
                ends = (row.value / scale, row.low / scale, row.high / scale)
                cell = Cell("d=5", strategy, {"delta": DELTA}, name, {}, "m", float(x))
                ratio = Estimate("budget_ratio", "", *ends, row.n, row.status)
                rows += cell_rows(cell, [ratio])
    return assemble(rows)


def random_arms(sources: Sources) -> pd.DataFrame:
    """Budgets over the lower bound on random unit vectors, and their geometric mean by K."""
    summary = sources.summary
    kept = summary[summary.statistic.isin(["mean_stopping_time", "error_rate", "share_capped"])]
    rows, over = [], {}
    for n_arms in SIZES:
        for seed in SEEDS:
            name = f"random K={n_arms} seed={seed}"
            truth = sources.instances[name]["truth"]
            rows += exact_rows(name, truth, "K", n_arms)
            least = 2.0 * truth["complexity"]["h_lb"] * needed_information(DELTA)
            times = kept[(kept.instance == name) & (kept.statistic == "mean_stopping_time")]
            for row in lines(times):
                over.setdefault((n_arms, row.strategy, row.reading), []).append(row.value / least)
    for (n_arms, strategy, reading), ratios in over.items():
        logs = np.log(ratios)
        cell = Cell(f"K={n_arms}", strategy, {"delta": DELTA}, reading, {}, "K", n_arms)
        middle = math.exp(logs.mean())
        ends = (middle, min(ratios), max(ratios), len(ratios))
        ratio = Estimate("over_lower_bound", "", *ends)
        rows += cell_rows(cell, [ratio], family="random", n_arms=n_arms)
    return assemble(kept, rows)


#: Appendix A's epsilon, from 1 down.
EPSILONS = tuple(10.0 ** (-k / 4) for k in range(9))


def two_examples(sources: Sources) -> pd.DataFrame:
    """Values of the G- and XY-optimal designs on Appendix A's examples, and its closed forms.

    Also the lemmas: counterexamples, and those that are tried on other instances.
    """
    rows = []
    for epsilon in EPSILONS:
        examples = {
            "across": ([[1.0, epsilon / 2], [1.0, -epsilon / 2]], (2.0, 4.0)),
            "aligned": ([[1.0, 0.0], [1.0 - epsilon, 0.0]], (1.0, epsilon**2)),
        }
        for name, (arms, closed) in examples.items():
            inside = np.array(arms) @ span_basis(np.array(arms))
            directions_by_design = (inside, inside[:1] - inside[1:])
            for strategy, directions, form in zip(
                ("G", "XY"), directions_by_design, closed, strict=True
            ):
                value = optimal_design(inside, directions).value
                cell = Cell(name, strategy, {}, "exact", x_name="epsilon", x=epsilon)
                rows += cell_rows(
                    cell,
                    [exact("design_value", "", value), exact("closed_form", "", form)],
                )
    return assemble(rows, counterexamples(), list(lemma_rows(sources)))


def counterexamples() -> list[dict]:
    """Examples in which Lemmas 7 and 5 fail as printed, for four pulls.

    For the arms 1 and -1 all allocations are one design, and the value of XY is 4 d, not 2 d. For
    the canonical basis of R^3 and the directions e1, e2/10, e3/10 every four pulls that determine
    all of them, hence (2, 1, 1) at best, leave more than 1 + 3/4 times the optimal design's
    uncertainty.
    """
    n = 4
    opposite = np.array([[1.0], [-1.0]])
    value = optimal_design(opposite, opposite[:1] - opposite[1:]).value
    bound = exact("rounding_bound:lemma 7", "", 2.0 * lemmas.lemma_6(1, n))
    estimates = [exact("design_value", "", value), bound]
    rows = cell_rows(Cell("opposite", "XY", {}, "exact"), estimates)
    basis, directions = np.eye(3), np.diag([1.0, 0.1, 0.1])
    value = optimal_design(basis, directions).value
    splits = [counts for counts in np.ndindex(n, n, n) if sum(counts) == n and min(counts) > 0]
    best = min(((directions**2) @ (n / np.array(counts))).max() for counts in splits)
    cell = Cell("four pulls", "best allocation", {}, "exact")
    return rows + cell_rows(
        cell,
        [
            exact("design_value", "", best),
            exact("rounding_bound:lemma 5", "", (1.0 + 3.0 / n) * value),
        ],
    )


def lemma_rows(sources: Sources) -> Iterator[dict]:
    """Propositions 1 and 2, Lemmas 1, 3, 4, 6 and 8, and H_LB of bandits, where they are tried."""
    name = "three-arms"
    problem = Instance(**sources.instances[name]["instance"]).problem
    cell = Cell(name, "printed widths", {"delta": DELTA}, "as-written")
    yield from cell_rows(cell, lemmas.tried(name, problem, DELTA))
    yield from cell_rows(Cell("random", "truth", {}, "exact"), lemmas.computed())


#: Figure 1 is drawn for the instance `three-arms` after this many pulls in equal shares.
CONE_PULLS = 36


def cones(sources: Sources) -> pd.DataFrame:
    """Which arms may still be the best: whose cones the confidence set of Figure 1 meets."""
    instance = Instance(**sources.instances["three-arms"]["instance"])
    inside = confidence_polygon(instance)
    best = {int(np.argmax(point @ np.array(instance.arms).T)) for point in _fill(inside)}
    rows = []
    for arm in range(len(instance.arms)):
        estimate = exact(f"may_be_best:x{arm + 1}", "", float(arm in best))
        rows += cell_rows(Cell(instance.name, "XY", {"delta": DELTA}, "exact"), [estimate])
    return assemble(rows)


def confidence_polygon(instance: Instance) -> np.ndarray:
    """Vertices, in order, of {theta : |y . (theta - theta*)| <= C(n) ||y|| for y between arms}.

    Eq. (3) made symmetric, as Figure 1 draws it, for y = x* - x.
    """
    arms = np.array(instance.arms)
    theta = np.array(instance.theta)
    best = int(np.argmax(arms @ theta))
    width = static_width(PRINTED._replace(c=1.0, log="log1"), len(arms), DELTA)
    inverse = np.linalg.inv(arms.T @ arms * CONE_PULLS / len(arms))
    y = arms[best] - np.delete(arms, best, axis=0)
    reach = radius(width, CONE_PULLS) * np.sqrt(np.einsum("ij,jk,ik->i", y, inverse, y))
    corners = [np.linalg.solve(y, reach * signs) for signs in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
    return theta + np.array(corners)


def _fill(polygon: np.ndarray, steps: int = 60) -> np.ndarray:
    """A grid of points that fills a parallelogram."""
    a, b, _, d = polygon
    s, t = np.meshgrid(np.linspace(0, 1, steps), np.linspace(0, 1, steps))
    return a + s.reshape(-1, 1) * (b - a) + t.reshape(-1, 1) * (d - a)


def cone_shapes(sources: Sources) -> pd.DataFrame:
    """Figure 1's arms, theta*, the border rays of the cones, and the confidence set's vertices."""
    instance = Instance(**sources.instances["three-arms"]["instance"])
    arms = np.array(instance.arms)
    rows = [("arm", name, *arm) for name, arm in zip(instance.arm_names, arms, strict=True)]
    rows.append(("theta", "theta*", *instance.theta))
    rows += [("confidence set", str(k), *v) for k, v in enumerate(confidence_polygon(instance))]
    for a in range(len(arms)):
        for b in range(a + 1, len(arms)):
            y = arms[a] - arms[b]
            for along in (np.array([-y[1], y[0]]), np.array([y[1], -y[0]])):
                along = along / np.linalg.norm(along)
                values = arms @ along
                if values[a] >= values.max() - 1e-12:
                    name = f"{instance.arm_names[a]}|{instance.arm_names[b]}"
                    rows.append(("border", name, *along))
    return pd.DataFrame(rows, columns=["shape", "name", "theta1", "theta2"])
