"""What CBMAI brings to the arena: error rates at equal budgets."""

from bestarm.cbmai.cells import AVERAGE, HARD, INFEASIBLE, TWO_CONSTRAINTS
from bestarm.cbmai.problem import instances
from bestarm.cbmai.strategies import STRATEGIES
from bestarm.common.arena import Arena, Family

RANDOM = tuple(f"random seed={seed}" for seed in range(5))
FAMILIES = {
    "average": AVERAGE,
    "hard": HARD,
    "random": RANDOM,
    "two constraints": TWO_CONSTRAINTS,
    "infeasible": INFEASIBLE,
}
KNOWN = instances()
ARENA = Arena(
    {
        name: Family(
            tuple(KNOWN[instance] for instance in names),
            {},
            dict.fromkeys(STRATEGIES, "as-written"),
            False,
        )
        for name, names in FAMILIES.items()
    },
    budgets=(1000, 4000, 16_000),
)
