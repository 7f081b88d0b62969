"""What is simulated for the LAGEX paper, and what is printed of a person's own instance."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bestarm.common.paper import Benchmark, Cell, Experiment, Sources, Target
from bestarm.common.tables import cell_rows
from bestarm.core.estimates import (
    LEVEL,
    Estimate,
    censored_quantile,
    correctness,
    exact,
    mean,
    proportion,
    stopping_times,
    undefined,
)
from bestarm.lagex import kept, shapes, tables
from bestarm.lagex.problem import EASIER, HARD, SWEEP, TOLERANCE, Instance, setup1
from bestarm.lagex.strategies import STRATEGIES, readings_of

#: Section 5 and the published program: delta of setup 1 and of the others, and the cap.
SETUP_1 = {"delta": 0.01, "r": TOLERANCE, "cap": 100_000}
OTHERS = {"delta": 0.1, "r": TOLERANCE, "cap": 100_000}
#: The loop in docs/usage.md.
EXAMPLE = {"delta": 0.05, "r": 0.1, "cap": 100_000}
#: Readings shown side by side in the paper's own figures; the others are in target `readings`.
SHOWN = ("as-written", "released-stop")
#: A policy breaks a constraint if it exceeds a limit by more than rounding does.
ROUNDING = 1e-9
#: Breaking a limit by more than a tenth of a cost is counted too.
FAR = 0.1


def shown(instance: str, setting: dict, **x) -> Iterator[Cell]:
    """Every strategy as written and as in the published program."""
    for strategy in STRATEGIES:
        for reading in readings_of(strategy):
            if reading in SHOWN:
                yield Cell(instance, strategy, setting, reading, **x)


def others(instance: str, setting: dict) -> Iterator[Cell]:
    """Every strategy under the other readings that change it."""
    for strategy in STRATEGIES:
        for reading in readings_of(strategy):
            if reading not in SHOWN:
                yield Cell(instance, strategy, setting, reading)


def sweep() -> Iterator[Cell]:
    """Figure 4: LAGEX on setup 1, with the recovered and with the printed arms."""
    for printed in (False, True):
        for third in SWEEP:
            name = setup1(third, printed).name
            for cell in shown(name, SETUP_1, x_name="m3", x=third):
                if cell.strategy == "LAGEX":
                    yield cell


def both_setups(third: float, setting: dict) -> tuple[Cell, ...]:
    """Setup 1 with the arms recovered for it, and with those printed."""
    return tuple(
        c for printed in (False, True) for c in shown(setup1(third, printed).name, setting)
    )


EXPERIMENTS = (
    Experiment("sweep", tuple(sweep())),
    Experiment("hard", both_setups(HARD, SETUP_1)),
    Experiment("easy", both_setups(EASIER, SETUP_1)),
    Experiment("setup-2-hard", tuple(shown("setup 2 hard", OTHERS))),
    Experiment("setup-2-easy", tuple(shown("setup 2 easy", OTHERS))),
    Experiment("imdb", tuple(shown("imdb", OTHERS))),
    Experiment(
        "imdb-spread",
        tuple(Cell("imdb, true spread", strategy, OTHERS, SHOWN[0]) for strategy in STRATEGIES),
    ),
    Experiment(
        "example", tuple(Cell("example", s, EXAMPLE, readings_of(s)[0]) for s in STRATEGIES)
    ),
    Experiment(
        "readings",
        (
            *others(setup1(HARD).name, SETUP_1),
            *others(setup1(EASIER).name, SETUP_1),
            *others("imdb", OTHERS),
        ),
    ),
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
    tau, status, n = runs["tau"], runs["status"], runs["tau"].size
    good = runs["regret"] <= cell.setting.get("r", TOLERANCE) + ROUNDING
    feasible = runs["excess"] <= ROUNDING
    return [
        *stopping_times(tau, status, "steps", level),
        censored_quantile("quantile_05", "steps", tau, 0.05, status, level),
        censored_quantile("quantile_95", "steps", tau, 0.95, status, level),
        *correctness(good & feasible, level),
        proportion("prob_r_optimal", int(good.sum()), n, level),
        proportion("prob_feasible", int(feasible.sum()), n, level),
        proportion("prob_far_over", int((runs["excess"] > FAR).sum()), n, level),
        mean("mean_regret", "reward", runs["regret"], level=level),
        mean("mean_excess", "cost", runs["excess"][~feasible], level=level)
        if not feasible.all()
        else undefined("mean_excess", "cost", n),
        *(
            censored_quantile(f"{kind}:{name}", "rounds", runs[kind], p, status, level)
            for kind in ("policy_violations", "allocation_violations")
            for name, p in (("quartile_25", 0.25), ("median", 0.5), ("quartile_75", 0.75))
        ),
        mean("policy_violation_share", "share", runs["policy_violations"] / tau, level=level),
        mean(
            "allocation_violation_share", "share", runs["allocation_violations"] / tau, level=level
        ),
        mean("share_empty", "share", runs["empty"] / tau, level=level),
    ]


#: Kept tables that targets are made from.
KEPT = kept.TABLES


def programs(sources: Sources) -> pd.DataFrame:
    """The released programs' kept runs beside strategies as written and what is published."""
    rows = []
    for name, program, runs in kept.runs(sources.instances):
        cell = Cell(name, program, OTHERS if name == "imdb" else SETUP_1, "program")
        rows += cell_rows(cell, summarise(cell, sources.instances[name]["truth"], runs))
    for name, program, shares in kept.rounds():
        cell = Cell(name, program, {}, "program")
        rows += cell_rows(cell, [exact(which, "share", share) for which, share in shares.items()])
    return tables.programs(sources, pd.DataFrame(rows))


def _steps(outcome) -> int:
    return int(outcome.tau)


#: Time a step of every strategy with 6, 7 and 12 arms.
BENCHMARKS = tuple(
    Benchmark(Cell(instance, strategy, setting, readings_of(strategy)[0]), 5, "step", _steps)
    for instance, setting in (
        (setup1(HARD).name, SETUP_1),
        (setup1(EASIER).name, SETUP_1),
        (setup1(HARD, printed=True).name, SETUP_1),
        ("imdb", OTHERS),
    )
    for strategy in STRATEGIES
)

#: Targets whose time from nothing `make bench` measures.
TIMED_TARGETS = (tuple(f"fig{i}" for i in range(4, 13)),)

#: What `bestarm run` prints of a person's own instance, and how it heads the columns.
OWN_STATISTICS = {
    "median_stopping_time": "median steps",
    "mean_stopping_time": "mean steps",
    "prob_r_optimal": "r-optimal",
    "prob_feasible": "feasible",
    "mean_excess": "excess if not",
    "policy_violation_share": "rounds infeasible",
    "share_capped": "share capped",
}

bounds = tables.bounds


def describe(instance: Instance, truth: dict) -> dict[str, pd.DataFrame]:
    """An instance as tables for people: arms with costs, best policy, allocations; constraints."""
    model = instance.model
    arms = pd.DataFrame({"mean reward": model.means}, index=instance.arm_names)
    for name, constraint in zip(instance.constraint_names, instance.constraints, strict=True):
        arms[name] = constraint.coefficients
    arms["best policy"] = truth["policy"]
    arms["pulls, any"] = truth["allocation"]
    arms["pulls, feasible"] = truth["inside_allocation"]
    limits = pd.DataFrame(
        {
            "limit": [
                f"at most {c.at_most:g}" if c.at_most is not None else f"at least {c.at_least:g}"
                for c in instance.constraints
            ],
            "slack at the best policy": truth["slacks"],
        },
        index=instance.constraint_names,
    )
    sigmas = sorted(set(np.sqrt(model.variances).round(4)))
    spread = f"{sigmas[0]:g}" if len(sigmas) == 1 else f"{sigmas[0]:g} to {sigmas[-1]:g}"
    noise = f"sigma = {spread}, cost_sigma = {model.cost_sigma:g}"
    tie = "" if truth["unique"] else "; the best policy is not unique"
    return {f"{instance.name}: arms ({noise}{tie})": arms, "constraints": limits}


TARGETS = (
    Target("fig1", "A tightened constraint", tables.perturbation, geometry=shapes.regions),
    Target(
        "fig2",
        "The optimistic feasible set over time",
        shapes.estimated_sets,
        geometry=shapes.estimated_regions,
    ),
    Target("fig3", "Normal cones over time", shapes.normal_cones, geometry=shapes.cone_rays),
    Target("fig4", "Lower bounds and LAGEX over the third mean", tables.sweep, ("sweep",)),
    Target("fig5", "Stopping times, setup 1 hard", tables.times("fig5"), ("hard",)),
    Target("fig6", "Stopping times, setup 1 easy", tables.times("fig6"), ("easy",)),
    Target("fig7", "Stopping times, IMDB", tables.times("fig7"), ("imdb",)),
    Target("fig8", "Violations, setup 1 hard", tables.violations("fig8"), ("hard",)),
    Target("fig9", "Violations, setup 1 easy", tables.violations("fig9"), ("easy",)),
    Target("fig10", "Violations, setup 2 hard", tables.violations("fig10"), ("setup-2-hard",)),
    Target("fig11", "Violations, setup 2 easy", tables.violations("fig11"), ("setup-2-easy",)),
    Target("fig12", "Violations, IMDB", tables.violations("fig12"), ("imdb",)),
    Target(
        "shares",
        "What is recommended in the end",
        tables.shares,
        ("hard", "easy", "setup-2-hard", "setup-2-easy", "imdb"),
    ),
    Target("example", "The example of docs/usage.md", tables.example, ("example",)),
    Target("readings", "Every reading", tables.readings, ("hard", "easy", "imdb", "readings")),
    Target(
        "programs",
        "The released programs, strategies as written and what is published",
        programs,
        ("hard", "easy", "imdb"),
    ),
    Target(
        "imdb-spread",
        "IMDB with the ratings' own spread",
        tables.spread,
        ("imdb", "imdb-spread"),
    ),
)
