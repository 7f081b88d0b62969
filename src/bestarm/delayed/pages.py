"""Documentation tables of delayed feedback: racing under the mixture."""

from pathlib import Path

import pandas as pd

from bestarm.common.pages import Pages
from bestarm.common.prose import Lines, as_table, markdown, number, percent_row
from bestarm.common.tables import groups, lines, read_table
from bestarm.core.estimates import proportion
from bestarm.delayed.problem import MODELS

#: By b.
BATCHES = {1: "one at a time", 10: "ten at a time"}
#: Readings of the mixture by n0.
PRIORS = {0.1: "mixture-n0=0.1", 1: "mixture", 10: "mixture-n0=10", 100: "mixture-n0=100"}


def _table(root: Path) -> pd.DataFrame:
    """Rows of racing with partial feedback."""
    table = read_table(root / "figures/delayed/mixture.csv")
    return table[table.algorithm == "Partial"]


@as_table
def prior_table(root: Path) -> Lines:
    """Mean steps, and time over that on rewards alone, by the prior's worth."""
    table = _table(root)
    with_priors = table[table.instance.isin(table[table.reading == PRIORS[100]].instance)]
    for (instance, batch), group in groups(with_priors, "instance", "batch"):
        row = {"instance": instance, "pulls": BATCHES[int(batch)]}
        for n0, reading in PRIORS.items():
            of = group[group.reading == reading].set_index("statistic").value
            row[f"n0 = {n0:g}"] = f"{of['mean_stopping_time']:,.0f} ({of['time_ratio']:.2f})"
        yield row


#: What families of instances are; of others the name is shown.
WHAT = {
    **dict.fromkeys(("bounded", "free", "delays"), "Figure 1, {}"),
    **dict.fromkeys(
        (*MODELS, *(f"{model}, random delay" for model in MODELS)), "20 free means, {}"
    ),
    "battery": "charging policies (recorded)",
    "mip": "cuts (recorded)",
}


def count(shares: pd.DataFrame) -> int:
    """The runs behind the shares of some cells."""
    return round(float((shares.value * shares.n).sum()))


def coverage_table(root: Path) -> str:
    """The share of runs in which some interval misses, and wrong answers, by instances."""
    table = _table(root)
    table = table[table.reading.isin([PRIORS[1], PRIORS[10]])]
    table = table[(table.reading == PRIORS[1]) | table.family.str.startswith("alike")]
    rows = []
    for (family, reading), cells in groups(table, "family", "reading"):
        missed, wrong = (cells[cells.statistic == s] for s in ("share_missed", "error_rate"))
        runs = int(missed.n.sum())
        share = proportion("", count(missed), runs)
        rows.append(
            {
                "instances": WHAT.get(family, "two equal arms, {}").format(
                    family.removeprefix("alike, ")
                ),
                "n0": 10 if reading == PRIORS[10] else 1,
                "runs": f"{runs:,}",
                "an interval missed": percent_row(share, 2),
                "wrong answers": "–" if "alike" in family else str(count(wrong)),
            }
        )
    return markdown(pd.DataFrame(rows).sort_values("instances", kind="stable"))


@as_table
def scale_table(root: Path) -> Lines:
    """The share of runs in which some interval misses, by the scales that the rules are told."""
    kept = pd.read_csv(root / "data/delayed-scales/errors.csv")
    for (sigma, sigma_p), group in groups(kept, "sigma", "sigma_p"):
        row = {"σ told": f"{number(sigma)} σ", "σₚ told": f"{number(sigma_p)} σₚ"}
        for line in lines(group):
            share = proportion("", int(line.missed), int(line.runs))
            row[f"{line.feedback}, {BATCHES[int(line.batch)]}"] = percent_row(share, 2)
        yield row


PAGES = Pages(
    short="delayed",
    parts={
        "docs/guarantees.md": {
            "mixture priors": prior_table,
            "mixture coverage": coverage_table,
            "mixture scales": scale_table,
        }
    },
)
