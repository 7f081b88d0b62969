"""Which runs of LAGEX's released programs there are, and what their peculiarities do."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from bestarm.common.prose import Lines, as_table, markdown, number, wrapped
from bestarm.common.tables import groups, lines, read_table
from bestarm.lagex.released import pages as program_pages
from bestarm.lagex.released.kept import SETUP_2, TITLES
from bestarm.lagex.released.pages import TIMES, listed
from bestarm.lagex.released.program import PROGRAMS, SWITCHED_OFF, can_be_without, reading_without
from bestarm.lagex.released.runs import PLANS, Plan


class Ablation(NamedTuple):
    """A program's median stopping time with something switched off."""

    strategy: str
    without: str  # a key of SWITCHED_OFF
    n: int  # runs
    value: float  # nan if half or more of the runs reached the cap
    low: float  # nan without an interval; so is `high`
    high: float
    capped: float  # share of runs
    published: float
    written: float  # as written

    def apart_from(self, other: "Ablation") -> bool:
        """Whether the two intervals have no number in common."""
        return self.low > other.high or self.high < other.low


def read(root: Path) -> pd.DataFrame:
    """The target's table."""
    return read_table(root / "figures/lagex/peculiarities.csv")


def ablations(table: pd.DataFrame) -> Iterator[list[Ablation]]:
    """By strategy its medians with nothing switched off, with one thing, and with all."""
    by_name = dict(groups(table, "strategy"))
    for strategy in PROGRAMS:
        rows = by_name[strategy]
        medians = {row.reading: row for row in lines(rows[rows.statistic == TIMES])}
        capped = rows[rows.statistic == "share_capped"].set_index("reading").value
        medians_without = []
        for without in SWITCHED_OFF:
            if can_be_without(strategy, without):
                reading = reading_without(without)
                median = medians[reading]
                medians_without.append(
                    Ablation(
                        strategy,
                        without,
                        int(median.n),
                        float(median.value),
                        float(median.low),
                        float(median.high),
                        float(capped.get(reading, np.nan)),
                        float(medians["published"].value),
                        float(medians["as-written"].value),
                    )
                )
        yield medians_without


def peculiarity_table(root: Path) -> str:
    """A line per strategy and peculiarity that is switched off."""
    return markdown(
        {
            "strategy": ablation.strategy,
            "switched off": SWITCHED_OFF[ablation.without],
            "median": "not run" if not ablation.n else _value(ablation),
            "95% interval": _interval(ablation),
            "runs": ablation.n,
            "reached the cap": f"{100 * ablation.capped:.0f}%" if ablation.n else "–",
            "published median": number(ablation.published),
            "as written": number(ablation.written),
        }
        for medians in ablations(read(root))
        for ablation in medians
    )


def _value(ablation: Ablation) -> str:
    return "beyond the cap" if np.isnan(ablation.value) else number(ablation.value)


def _interval(ablation: Ablation) -> str:
    if np.isnan(ablation.low):
        return "none"
    end = "or more" if np.isinf(ablation.high) else f"to {number(ablation.high)}"
    return f"{number(ablation.low)} {end}"


def peculiarity_text(root: Path) -> str:
    """Per strategy: without what its interval moves away, and holds the published median."""
    items = []
    for released, *others in ablations(read(root)):
        made = [ablation for ablation in others if ablation.n]
        if not made:
            items.append(f"- {released.strategy}: not run without any of its peculiarities so far.")
            continue
        moved = [
            f"{SWITCHED_OFF[ablation.without]} ({way})"
            for ablation in made
            for way in ["sooner" if ablation.high < released.low else "later"]
            if ablation.apart_from(released)
        ]
        holds = [
            SWITCHED_OFF[ablation.without]
            for ablation in (released, *made)
            if ablation.low <= ablation.published <= ablation.high
        ]
        moves = (
            f"switching off {listed(moved)} moves the interval away from that as released"
            if moved
            else "whatever is switched off, the interval overlaps that as released"
        )
        holding = f"with {listed(holds)} switched off" if holds else "in no case"
        text = f"{released.strategy}: {moves}. It holds the published median {holding}."
        if missing := [SWITCHED_OFF[ablation.without] for ablation in others if not ablation.n]:
            text += f" Not run so far without {listed(missing)}."
        items.append("- " + wrapped(text).replace("\n", "\n  "))
    return "\n".join(items)


@as_table
def planned_table(root: Path) -> Lines:
    """How many of the planned runs exist, by environment and program."""
    made = runs_by_cell(program_pages.read(root)) | runs_by_cell(read(root))
    for plan in PLANS:
        cells = {
            name: f"{made.get(plan_cell(plan, name), 0)} of {plan.runs}"
            if can_be_without(name, plan.without)
            else "–"
            for name in PROGRAMS
        }
        yield {"environment": plan_title(plan), "δ": f"{plan.delta:g}"} | cells


def plan_cell(plan: Plan, program: str) -> tuple:
    """A plan's runs of a program, as `runs_by_cell` names them."""
    return plan.instance, plan.delta, reading_without(plan.without), program


def runs_by_cell(table: pd.DataFrame) -> dict[tuple, int]:
    """Runs of the programs in a table."""
    medians = table[table.reading.str.startswith("program") & (table.statistic == TIMES)]
    return {
        (row.instance, float(row.delta), row.reading, row.strategy): int(row.n)
        for row in lines(medians)
    }


def plan_title(plan: Plan) -> str:
    """An environment of the programs in words."""
    title = TITLES.get(plan.instance) or f"setup 2 {SETUP_2[plan.instance]}"
    return f"{title}; switched off: {SWITCHED_OFF[plan.without]}" if plan.without else title
