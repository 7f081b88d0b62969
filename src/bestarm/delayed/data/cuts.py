"""Make data/mip: SCIP's bounds while it solves corridor problems, with 32 choices of cuts.

    python -m bestarm.delayed.data.cuts --out data/mip/traces.parquet

Time is counted in LP iterations, so that the table does not depend on the machine: a step is
STEP of them, and a run ends when the problem is solved or after STEPS steps.
"""

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bestarm.core.files import replacing
from bestarm.core.inputs import InputError
from bestarm.delayed.data.corridors import (
    SEED,
    Corridor,
    corridor,
    neighbours,
    start_value,
    tree_flow,
)
from bestarm.runs.kept import Job, KeptTable, command_line, gather

INSTANCES = 200
STEP, STEPS = 100, 20
#: Families of cuts, and the separators of SCIP that make each one.
FAMILIES = {
    "gomory": ("gomory", "gomorymi", "strongcg"),
    "cmir": ("cmir",),
    "flow": ("flowcover",),
    "zerohalf": ("zerohalf",),
    "knapsack": ("knapsackcover",),
}
#: These separators are called by the separator `aggregation`.
UNDER_AGGREGATION = ("cmir", "flowcover", "knapsackcover")
#: Knapsack covers are separated by constraint handlers too.
KNAPSACK_HANDLERS = ("knapsack", "linear")


def arms() -> dict[str, tuple[str, ...]]:
    """Every subset of the families by name: the cuts each arm enables."""
    choices = (
        tuple(family for family, on in zip(FAMILIES, bits, strict=True) if on)
        for bits in product((False, True), repeat=len(FAMILIES))
    )
    return {"+".join(chosen) or "none": chosen for chosen in choices}


def scip() -> Any:
    """PySCIPOpt. Raises InputError saying how to install it."""
    try:
        import pyscipopt
    except ImportError:
        raise InputError('PySCIPOpt is missing; pip install ".[mip]"') from None
    return pyscipopt


def build(problem: Corridor, chosen: tuple[str, ...]) -> tuple:
    """The single-commodity flow formulation, with a start solution and only the chosen cuts.

    Every chosen parcel but the first reserve consumes one unit of what flows out of that reserve,
    and only chosen parcels let flow in:

        max  sum_v u_v x_v   s.t.   sum_in y - sum_out y = x_v,   y_uv <= (N - 1) x_v,
        sum_v c_v x_v <= budget,    x = 1 on reserves.

    Returns:
        The model and its variables x.
    """
    quicksum = scip().quicksum
    model = scip().Model()
    model.hideOutput()
    parcels = range(problem.price.size)
    root, most = int(problem.reserves[0]), problem.price.size - 1
    x = [model.addVar(f"x{v}", vtype="B", obj=int(problem.suitability[v])) for v in parcels]
    arcs = [(u, v) for u in parcels for v in neighbours(u) if v != root]
    y = {arc: model.addVar(f"y{arc[0]}_{arc[1]}", lb=0.0, ub=most) for arc in arcs}
    model.setMaximize()
    model.addCons(quicksum(int(problem.price[v]) * x[v] for v in parcels) <= problem.budget)
    for v in problem.reserves:
        model.addCons(x[v] == 1)
    for (_, v), flow in y.items():
        model.addCons(flow <= most * x[v])
    for v in parcels:
        if v != root:
            into = quicksum(y[u, v] for u in neighbours(v))
            out = quicksum(y[v, w] for w in neighbours(v) if w != root)
            model.addCons(into - out == x[v])
    start = model.createSol()
    flow = tree_flow(problem.tree)
    for v in parcels:
        model.setSolVal(start, x[v], float(v in problem.tree))
    for arc in arcs:
        model.setSolVal(start, y[arc], float(flow.get(arc, 0)))
    if not model.addSol(start):
        raise RuntimeError("the joining tree was refused as a start solution")
    _switch(model, chosen)
    return model, x


def _switch(model, chosen: tuple[str, ...]) -> None:
    """Disable all separators but those of the chosen families, which keep SCIP's defaults."""
    defaults = model.getParams()
    model.setSeparating(scip().SCIP_PARAMSETTING.OFF)
    separators = [name for family in chosen for name in FAMILIES[family]]
    if set(separators) & set(UNDER_AGGREGATION):
        model.setParam("separating/aggregation/freq", defaults["separating/aggregation/freq"])
    for separator in separators:
        name = f"separating/{separator}/freq"
        model.setParam(name, defaults[name])
    if "knapsack" in chosen:
        for handler in KNAPSACK_HANDLERS:
            name = f"constraints/{handler}/sepafreq"
            model.setParam(name, defaults[name])
    model.setParam("lp/threads", 1)
    model.setParam("parallel/maxnthreads", 1)


class Recorder:
    """Records the bounds of a run, step by step; `solve` turns it into a SCIP event handler.

    The bounds at the end of a step are those at the last event before it: an LP solved, a cut added
    or a node solved. SCIP updates its upper bound only when a node is solved, so at the root, where
    every LP value bounds the problem, the LP value is used too. Lower bounds are sums of
    suitabilities, hence integers; upper bounds are rounded up to multiples of 1e-6. Before the
    first LP the upper bound is the suitability of all parcels.

    Args:
        problem: the problem that is solved.
        x: its variables, see `build`.
    """

    model: Any  # the model of the run, set by PySCIPOpt

    def __init__(self, problem: Corridor, x: list) -> None:
        self.suitability, self.x = problem.suitability, x
        self.low, self.high = start_value(problem), float(problem.suitability.sum())  # bounds now
        self.lower: list[int] = []  # bounds at the ends of steps
        self.upper: list[float] = []
        self.seen = -1  # LP iterations at the last event
        self.over = False  # whether all steps are over

    def eventinit(self) -> None:
        """Subscribe to the events; called by SCIP before the run."""
        events = scip().SCIP_EVENTTYPE
        for event in ("FIRSTLPSOLVED", "LPSOLVED", "ROWADDEDSEPA", "NODESOLVED"):
            self.model.catchEvent(getattr(events, event), self)

    def eventexec(self, event: Any) -> None:
        """End the steps that are over, and update the bounds; called by SCIP at every event."""
        iterations = self.model.getNLPIterations()
        added = event.getType() == scip().SCIP_EVENTTYPE.ROWADDEDSEPA
        if self.over or (added and iterations == self.seen):
            return
        while len(self.lower) < STEPS - 1 and STEP * (len(self.lower) + 1) < iterations:
            self.end_step()
        self.seen = iterations
        self.look()
        if iterations >= STEP * STEPS:
            self.over = True
            self.model.interruptSolve()

    def end_step(self) -> None:
        """Record the current bounds as those at the end of a step."""
        self.lower.append(self.low)
        self.upper.append(self.high)

    def look(self) -> None:
        """Update the bounds."""
        high = self.model.getDualbound()
        if self.at_root():
            pairs = zip(self.suitability, self.x, strict=True)
            high = min(high, sum(int(u) * self.model.getSolVal(None, v) for u, v in pairs))
        self.low = round(self.model.getPrimalbound())
        self.high = max(min(self.high, math.ceil(high * 1e6) / 1e6), float(self.low))

    def at_root(self) -> bool:
        """Whether the value of the current LP is a bound for the problem."""
        return (
            self.model.getStage() == scip().SCIP_STAGE.SOLVING
            and self.model.getDepth() == 0
            and not self.model.inProbing()
            and self.model.getLPSolstat() == scip().SCIP_LPSOLSTAT.OPTIMAL
        )


def solve(problem: Corridor, chosen: tuple[str, ...]) -> tuple[list[int], list[float]]:
    """Lower and upper bounds at the end of every step, the last one being that of the run."""

    class Handler(Recorder, scip().Eventhdlr):
        """A class of its own, since PySCIPOpt is imported only here."""

    model, x = build(problem, chosen)
    recorder = Handler(problem, x)
    model.includeEventhdlr(recorder, "recorder", "bounds by LP iterations")
    model.optimize()
    if not recorder.over:
        recorder.look()
    recorder.end_step()
    return recorder.lower, recorder.upper


def solve_instance(number: int, names: tuple[str, ...]) -> list:
    """The runs of some arms on a problem: pairs of lists as `solve` returns."""
    problem = corridor(number)
    return [solve(problem, arms()[name]) for name in names]


def steps_table(runs: list[list], names: tuple[str, ...]) -> pa.Table:
    """A table with one row per step of every run; `runs[i][a]` is arm a on instance i."""
    rows = [
        (i, a, s + 1, low, high)
        for i, of_instance in enumerate(runs)
        for a, (lower, upper) in enumerate(of_instance)
        for s, (low, high) in enumerate(zip(lower, upper, strict=True))
    ]
    instance, arm, step, lower, upper = zip(*rows, strict=True)
    arm = pa.DictionaryArray.from_arrays(pa.array(arm, pa.int8()), pa.array(names))
    return pa.table(
        {
            "instance": pa.array(instance, pa.int16()),
            "arm": arm,
            "step": pa.array(step, pa.int8()),
            "lower": pa.array(lower, pa.int16()),
            "upper": pa.array(upper, pa.float64()),
        }
    )


def jobs(instances: int = INSTANCES, names: tuple[str, ...] = ()) -> list[Job]:
    """One for each of the first instances: every arm, or those named."""
    arguments = ((i, names or tuple(arms())) for i in range(instances))
    return [Job(f"{parameters[0]:03}", solve_instance, parameters) for parameters in arguments]


def save(jobs: Sequence[Job], runs: list, out: Path) -> None:
    """Write the runs of the first instances."""
    with replacing(out) as temporary:
        table = steps_table(runs, jobs[0].arguments[1])
        pq.write_table(table, temporary, compression="zstd", compression_level=19)


TABLE = KeptTable(
    "bestarm.delayed.data.cuts",
    "bounds of SCIP on corridor problems, by choice of cuts",
    {"corridors": SEED, "SCIP": "its defaults, 0"},
    ("PySCIPOpt", "numpy", "scipy"),
    jobs,
    ("000",),
    save=save,
)


def make(out: Path, threads: int, instances: int = INSTANCES, names: tuple = ()) -> None:
    """Run every arm (or those named) on the first instances, and write the table."""
    solver = f"SCIP {scip().Model().version()}"
    jobs_made = jobs(instances, names)
    save(jobs_made, gather(jobs_made, out, threads, "corridor problems"), out)
    choices = len(names or arms())
    description = (
        f"bounds of {solver} on {instances} corridor problems with {choices} choices of cuts"
    )
    TABLE.finish(out, description)


if __name__ == "__main__":
    command_line("bestarm.delayed.data.cuts", __doc__ or "")
