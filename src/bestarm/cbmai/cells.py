"""The experiments of CBMAI."""

from collections.abc import Iterable

from bestarm.cbmai.problem import SEEDS, random_instance
from bestarm.cbmai.strategies import OF_PAPER, STRATEGIES
from bestarm.cbmai.tables import point
from bestarm.common.paper import Cell, Experiment

#: Budgets are not printed in the paper. On these the best strategy's error goes from above 0.5 to
#: below 0.01 on every instance.
SMALL = (200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 7000, 10_000)

LARGE = (1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000)

RANDOM_BUDGET = 5000

#: Budgets with error rates from 1/4 to some 2e-5, for SFSR and SFSR-L; USLP needs further ones.
DECAY, DECAY_USLP = (1000, 4000, 8000, 12_000), (18_000, 24_000, 30_000)

AVERAGE, HARD = ("A1", "A2", "A3"), ("H1", "H2", "H3")

TWO_CONSTRAINTS = ("D1P", "D2P", "D3P", "D1I", "D2I", "D3I")

KNOWN = ("A2", "A2-known-4", "A2-known-8", "A2-known-12")

INFEASIBLE = ("too-dear", "conflict")

#: Budgets and random instances on which a patient SFSR stands beside the others.
PATIENT_SMALL, PATIENT_LARGE = (200, 500, 1000, 2000, 5000), (1000, 4000, 16_000, 64_000)

PATIENT_SEEDS = SEEDS[:20]


def error_curves(
    instances: Iterable[str], budgets: Iterable[int], strategies: Iterable[str] = OF_PAPER
) -> tuple[Cell, ...]:
    """Every strategy on every instance and budget."""
    return tuple(
        point(instance, strategy, budget)
        for instance in instances
        for budget in budgets
        for strategy in strategies
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
    Experiment(
        "patient",
        error_curves(
            (*AVERAGE, *HARD, *INFEASIBLE, *(random_instance(k).name for k in PATIENT_SEEDS)),
            PATIENT_SMALL,
            STRATEGIES,
        )
        + error_curves((*TWO_CONSTRAINTS, "three-constraints"), PATIENT_LARGE, STRATEGIES),
    ),
)
