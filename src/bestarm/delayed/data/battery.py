"""Make data/battery: how many cycles cells live under forty fast-charging policies, by PyBaMM.

    python -m bestarm.delayed.data.battery --out data/battery/policies.csv

A policy charges from empty to 80% in four steps of 20% each, at rates C1, ..., C4; all policies
take equally long. docs/applied-studies.md describes the model and its tuned parameters.
"""

import os
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bestarm.core.inputs import InputError
from bestarm.runs.kept import Job, KeptTable, command_line, gather

SEED = 2018
POLICIES, CELLS = 40, 12
#: C1, C2 and C3 are from GRID; C4 follows from the total time MINUTES, and must be in range LAST.
GRID = tuple(np.arange(2.5, 6.01, 0.25).tolist())
LAST = (2.0, 3.0)
MINUTES, SHARE = 13.0, 0.2
#: Cycles of the nominal cell, and of each other cell, which is compared with the nominal one.
LONG, SHORT = 200, 10
#: Cycles per call of the simulator.
BLOCK = 10
#: Mesh points in each electrode, the separator and the particles. PyBaMM's default 20 takes twice
#: as long and gives lives 1% shorter.
POINTS = 10
#: A cell reaches its end of life at this share of the capacity of its first cycle.
DEAD = 0.8
#: At the cut-off voltage fast charging ends early, and the policy takes longer than the others.
CUT_OFF, FULL, EMPTY = "4.5V", "4.2V", "2.8V"
#: Tuned so that lives are hundreds to thousands of cycles and depend on the policy.
TUNED = {
    "Lithium plating transfer coefficient": 1.0,
    "Negative particle radius [m]": 5e-6,
}
#: Tuned too, and varied between cells: the nominal value times a lognormal factor.
SPREAD_BY = {
    "Lithium plating kinetic rate constant [m.s-1]": 2.5e-12,
    "SEI solvent diffusivity [m2.s-1]": 2.5e-22,
    "Total heat transfer coefficient [W.m-2.K-1]": 1.5,
}
#: Standard deviation of the logarithm of these factors.
SPREAD = 0.06


class Policy(NamedTuple):
    """Charging rates, in multiples of the current that fills the cell in an hour."""

    c1: float
    c2: float
    c3: float
    c4: float

    @property
    def name(self) -> str:
        return "-".join(f"{rate:.4g}" for rate in self)


def minutes(rate: float) -> float:
    """Duration of a charging step at this rate."""
    return 60.0 * SHARE / rate


def candidates() -> list[Policy]:
    """All policies of the grid whose last step can make up the time, in a random order."""
    policies = []
    for rates in product(GRID, repeat=3):
        left = MINUTES - sum(map(minutes, rates))
        if left > 0.0 and LAST[0] <= (c4 := minutes(1.0) / left) <= LAST[1]:
            c1, c2, c3 = rates
            policies.append(Policy(c1, c2, c3, c4))
    order = np.random.default_rng(SEED).permutation(len(policies))
    return [policies[i] for i in order]


def cells() -> np.ndarray:
    """(CELLS, 3) factors of SPREAD_BY; the same cells are put on every policy."""
    normal = np.random.default_rng([SEED, 1]).standard_normal((CELLS, len(SPREAD_BY)))
    return np.exp(SPREAD * normal)


def life(capacities: np.ndarray) -> float:
    """Cycles to DEAD times the first capacity, on the line through the first and last cycle."""
    first, last = capacities[0], capacities[-1]
    return 1.0 + (1.0 - DEAD) * first * (len(capacities) - 1) / (first - last)


@cache
def library():
    """PyBaMM. Raises InputError saying how to install it."""
    os.environ.setdefault("PYBAMM_DISABLE_TELEMETRY", "true")
    try:
        import pybamm
    except ImportError:
        raise InputError('PyBaMM is missing; pip install ".[battery]"') from None
    return pybamm


def model_and_values():
    """The cell: a single-particle model with electrolyte, heat, SEI growth and plating.

    Mohtat2020 with the SEI and plating entries of OKane2022, TUNED; SPREAD_BY are left as inputs.
    """
    pybamm = library()
    model = pybamm.lithium_ion.SPMe(
        {
            "thermal": "lumped",
            "SEI": "solvent-diffusion limited",
            "SEI porosity change": "false",
            "lithium plating": "irreversible",
            "lithium plating porosity change": "false",
        }
    )
    values = pybamm.ParameterValues("Mohtat2020")
    other = pybamm.ParameterValues("OKane2022")
    ageing = {
        name: other[name]
        for name in other
        if "SEI" in name or "plat" in name.lower() or "dead lithium" in name.lower()
    }
    values.update(ageing)
    values.update(TUNED)
    values.set_initial_state(0.0)
    values.update(dict.fromkeys(SPREAD_BY, "[input]"))
    return model, values


class Rig:
    """Cells on one policy; the equations are built once, for a block of cycles at a time."""

    def __init__(self, policy: Policy, block: int = BLOCK) -> None:
        pybamm = library()
        self.block = block
        step = pybamm.step
        charge = [
            step.c_rate(-rate, duration=60.0 * minutes(rate), termination=CUT_OFF, period=60.0)
            for rate in policy
        ]
        self.cycle = (
            *charge,
            # without the rest a later step may start past its own end and give an empty solution
            step.rest(duration=120.0, period=60.0),
            step.c_rate(-1.0, duration=3600.0, termination=FULL, period=300.0),
            step.voltage(float(FULL[:-1]), duration=7200.0, termination="C/20", period=300.0),
            step.c_rate(1.0, duration=7200.0, termination=EMPTY, period=300.0),
        )
        model, values = model_and_values()
        cycles: list[Any] = [self.cycle] * block
        self.simulation = pybamm.Simulation(
            model,
            parameter_values=values,
            experiment=pybamm.Experiment(cycles),
            var_pts=dict.fromkeys(("x_n", "x_s", "x_p", "r_n", "r_p"), POINTS),
            solver=pybamm.IDAKLUSolver(rtol=1e-5, atol=1e-7),
        )

    def capacities(self, cycles: int, factors: np.ndarray) -> np.ndarray | None:
        """(cycles,) capacities in A.h, or None if fast charging reached its cut-off.

        Args:
            cycles: a multiple of the block.
            factors: (3,) of SPREAD_BY.

        Raises:
            RuntimeError: the simulation ended before its last cycle.
        """
        inputs = {n: v * f for (n, v), f in zip(SPREAD_BY.items(), factors, strict=True)}
        by_cycle: list[float] = []
        last = None
        while len(by_cycle) < cycles:
            solution = self.simulation.solve(
                inputs=inputs, starting_solution=last, calc_esoh=False, showprogress=False
            )
            for cycle in solution.cycles[-self.block :]:
                if any(step.termination != "final time" for step in cycle.steps[:4]):
                    return None
                if len(cycle.steps) < len(self.cycle):
                    raise RuntimeError("a cycle was not simulated to its end")
                passed = cycle.steps[-1]["Discharge capacity [A.h]"].entries
                by_cycle.append(passed[-1] - passed[0])
            last = solution.last_state
        return np.array(by_cycle)


def try_policy(policy: tuple, long: int = LONG, short: int = SHORT) -> dict | None:
    """A row of the table, or None if the policy reaches the cut-off."""
    rig = Rig(Policy(*policy), min(BLOCK, short))
    capacities = rig.capacities(long, np.ones(len(SPREAD_BY)))
    if capacities is None:
        return None
    short_life = life(capacities[:short])
    row = {
        "policy": Policy(*policy).name,
        **Policy(*policy)._asdict(),
        "first_capacity": capacities[0],
        "last_capacity": capacities[-1],
        "largest_rise": np.diff(capacities).max(),
        "life": life(capacities),
        "short_life": short_life,
    }
    for i, factors in enumerate(cells()):
        of_cell = rig.capacities(short, factors)
        if of_cell is None:
            return None
        row[f"cell_{i + 1:02}"] = row["life"] * life(of_cell) / short_life
    return {k: v if isinstance(v, str) else float(v) for k, v in row.items()}


def jobs(policies: Sequence[Policy] = ()) -> list[Job]:
    """One for each policy; for all candidates in order if none are named."""
    return [Job(policy.name, try_policy, (tuple(policy),)) for policy in policies or candidates()]


TABLE = KeptTable(
    "bestarm.delayed.data.battery",
    f"lives in cycles of a nominal cell and of {CELLS} others on {POLICIES} policies",
    {"policies": SEED, "cells": [SEED, 1]},
    ("pybamm", "pybammsolvers", "numpy"),
    jobs,
    ("4.25-4.5-5.25-2.297",),  # the first that is kept
    written={"float_format": "%.6g"},
)


def make(out: Path, threads: int) -> None:
    """Test candidates in order until POLICIES of them never reach the cut-off; write the table."""
    library()
    queue, rows = candidates(), []
    while len(rows) < POLICIES:
        now, queue = queue[: POLICIES - len(rows)], queue[POLICIES - len(rows) :]
        rows += [row for row in gather(jobs(now), out, threads, "charging policies") if row]
    TABLE.write((), rows, out)
    TABLE.finish(out)


if __name__ == "__main__":
    command_line("bestarm.delayed.data.battery", __doc__ or "")
