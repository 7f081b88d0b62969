"""What Certified of LAGEX promises and costs, in numbers, from figures/lagex/certified.csv."""

from pathlib import Path

import pandas as pd

from bestarm.common.prose import Lines, as_table, number, wrapped
from bestarm.common.tables import groups, lines, pick, read_table
from bestarm.core.estimates import wilson
from bestarm.lagex.released import kept

#: The hard environment, and the menus of docs/usage.md.
HARD, MENUS = "setup 1 m3=0.5", "example"
#: The paper's delta and r; those of the tables for users.
PAPERS, USERS = {"delta": 0.01, "r": 0.01}, {"delta": 0.1, "r": 0.1}
#: Kept table of runs with directed sums and without, under data/.
DIRECTED = "certified-directed/runs.csv"
#: Columns of the menus' table.
TIMES = {"median_stopping_time": "median steps", "quantile_95": "95% of runs within"}
SHARES = {
    "prob_feasible": "keeps the limit",
    "prob_r_optimal": "within r of the best",
    "prob_correct": "both",
}
#: What is switched off, by statistic; all parts that can be together.
ALL = "without these together, but the box"
PARTS = {
    "run without noise": "its own pulls",
    "uniform": "uniform",
    "without splitting of the box": "one box",
    "without the union bound": "no union",
    "without the mixture": "no mixture",
    "without the alternatives' cost doubt": "others' costs known",
    ALL: "the last three",
}


def read(root: Path) -> pd.DataFrame:
    """The target's table."""
    return read_table(root / "figures/lagex/certified.csv")


def value(table: pd.DataFrame, statistic: str, **columns: object) -> float:
    """The one value of a statistic among rows with these values."""
    return float(pick(table, statistic=statistic, **columns).value.iloc[0])


def cost_text(root: Path) -> str:
    """What Certified costs in the hard environment, for docs/findings.md."""
    table = pick(read(root), instance=HARD, delta=PAPERS["delta"])
    ours = pick(table, strategy="Certified")
    fine, coarse = pick(ours, r=PAPERS["r"]), pick(ours, r=USERS["r"])
    shares = pick(fine, statistic="prob_correct").iloc[0]
    over = value(fine, "mean_over_bound")
    lagex = value(table, "prob_correct", strategy="LAGEX", r=PAPERS["r"])
    proof = "guarantees.md#unknown-constraints-a-policy-that-is-certified"
    text = (
        "`Certified`, which is not in the paper, answers with a mixture that keeps all limits and "
        "is within r of the best one, both with probability 1 − δ, and with a certificate that "
        f"`bestarm check` verifies ([proof]({proof})). In the hard environment it takes a median "
        f"of {steps(fine)} steps at r = {PAPERS['r']:g} and δ = {PAPERS['delta']:g}, on average "
        f"{number(over)} times the least that any such strategy needs, and {steps(coarse)} at "
        f"r = {USERS['r']:g}. At r = {PAPERS['r']:g}, {100 * shares.value:.0f}% of its "
        f"{shares.n:,} runs were right, and {100 * lagex:.0f}% of LAGEX's. "
        "Check: `bestarm verify lagex/certified`."
    )
    return wrapped(text)


def steps(rows: pd.DataFrame) -> str:
    """The median steps among rows of a cell."""
    return number(value(rows, "median_stopping_time"))


@as_table
def menu_table(root: Path) -> Lines:
    """Certified beside LAGEX and LATS on the menus of docs/usage.md, by r."""
    table = pick(read(root), instance=MENUS, delta=USERS["delta"], x_name="r")
    table = table[table.strategy.isin(("Certified", "LAGEX", "LATS"))]
    table = table[table.statistic.isin((*SHARES, *TIMES)) & (table.other == "")]
    table = table.sort_values(["strategy", "r"], ascending=[True, False])
    for (strategy, r), group in groups(table, "strategy", "r"):
        by = group.set_index("statistic")
        times = {title: number(by.value[name]) for name, title in TIMES.items()}
        shares = {title: f"{100 * by.value[name]:.0f}%" for name, title in SHARES.items()}
        yield {"strategy": strategy, "r": f"{r:g}", **times, **shares}


@as_table
def error_table(root: Path) -> Lines:
    """Wrong answers of Certified in the kept runs, for docs/guarantees.md."""
    table = pick(read(root), statistic="error_check:wrong")
    for random in (False, True):
        these = table[table.instance.str.startswith("random ") == random]
        for (delta, r), group in groups(these, "delta", "r"):
            counts = [(round(row.value * row.n), row.n) for row in lines(group)]
            upper = max(wilson(wrong / n, n)[1] for wrong, n in counts)
            yield {
                "instances": "random linear programs" if random else "of the paper, and menus",
                "number": len(group),
                "δ": f"{delta:g}",
                "r": f"{r:g}",
                "runs of each": f"{counts[0][1]:,}",
                "wrong answers": f"{sum(wrong for wrong, _ in counts):,}",
                "largest upper 95% limit": f"{100 * upper:.2f}%",
            }


@as_table
def directed_table(root: Path) -> Lines:
    """Mean pulls with directed sums over those without, by r, for docs/guarantees.md."""
    rows = kept.read(DIRECTED)
    bounds = pick(read(root), statistic="lower_bound", delta=PAPERS["delta"])
    for instance, group in groups(rows, "instance"):
        line, finest = {"instance": instance}, group.r.min()
        for r, both in groups(group, "r"):
            plain, directed = lines(both.sort_values("directed"))
            ratio = directed.mean / plain.mean
            variance = sum((row.deviation / row.mean) ** 2 / row.runs for row in (plain, directed))
            line[f"r = {r:g}"] = f"{ratio:.2f} ± {1.96 * ratio * variance**0.5:.2f}"
            if r == finest:
                bound = pick(bounds, instance=instance, r=r).value.iloc[0]
                line[f"over lower bound, r = {r:g}"] = number(plain.mean / bound)
                line["with directed sums"] = number(directed.mean / bound)
        yield line


@as_table
def part_table(root: Path) -> Lines:
    """What the allocation and the parts of the certificate cost, for docs/guarantees.md."""
    table = pick(read(root), delta=USERS["delta"], r=PAPERS["r"], algorithm="Certified")
    for instance, group in groups(table, "instance"):
        by = group.set_index("statistic").value
        bound = by["mean_stopping_time"] / by["mean_over_bound"]
        labels = {
            "instance": instance,
            "median steps": number(by["median_stopping_time"]),
            "over lower bound": number(by["mean_over_bound"]),
            "best fixed": number(by["certificate_time:best fixed"]),
        }
        ratios = {t: f"{by[f'certificate_ratio:{name}']:.2f}" for name, t in PARTS.items()}
        left = {"their time over lower bound": number(by[f"certificate_time:{ALL}"] / bound)}
        yield labels | ratios | left
