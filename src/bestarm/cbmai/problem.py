"""Instances of constrained best mixed arm identification, their true answers and their gaps."""

import math
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from bestarm.cbmai.gaps import StandardProblem, arm_gaps, infeasibility_gap
from bestarm.common.files import data_folder
from bestarm.common.paper import BaseInstance, Names, Problems
from bestarm.common.rates import Law, check_rates
from bestarm.core.anytime import BERNOULLI_SIGMA
from bestarm.core.bases import load_program, make_workspace, reduced_values, score_bases
from bestarm.core.compile import inlined
from bestarm.core.inputs import Input, PositiveFloat, load
from bestarm.core.units import power_of_two

#: Gaps are computed only if no arm is known, and up to this many constraints and bases; for more
#: they take minutes.
MOST_CONSTRAINTS, MOST_BASES = 2, 50_000
#: Coordinates and reduced values nearer to 0 than this count as 0: Assumption 1 fails. Costs are in
#: units of `cost_size`, rewards of the largest one.
DEGENERATE = 1e-9
#: Bounds much smaller than costs are no unit for these: rounding would exceed tolerances.
LARGEST_RATIO = 1024.0


class Problem(NamedTuple):
    """Rewards, costs and bounds. Column a of the linear program is arm a, or slack a - K."""

    rewards: np.ndarray  # (K,)
    costs: np.ndarray  # (L, K)
    bounds: np.ndarray  # (L,) cbar
    n_unknown: int  # K0: the means of the first K0 arms are not known to a strategy


class Noise(NamedTuple):
    """Standard deviations of the reward and of each cost of a pull; of Bernoulli ones a bound."""

    reward: float
    cost: float


class Instance(BaseInstance):
    """Arms with a reward and L costs each, and bounds on a mixture's mean costs.

    Rewards and costs are Gaussian, or 0 or 1, and independent.

    The answer is the support of the best mixture, the solution of the linear program

        max r . p   s.t.   c p + s = cbar,  1 . p = 1,  p, s >= 0,

    slacks s included (they count as arms K + 1 to K + L); or "infeasible".
    """

    paper: Literal["cbmai"] = "cbmai"
    reconstructed: bool = Field(
        default=False, description="drawn but not printed in the paper, hence rebuilt"
    )
    seed: int | None = Field(default=None, description="of the generator that rebuilt it")
    rewards: list[float] = Field(min_length=2, description="(K,) mean rewards")
    costs: list[list[float]] = Field(
        min_length=1, description="(L, K) mean costs: a row per limit, a column per arm"
    )
    bounds: list[float] = Field(description="(L,) limits on the mixture's mean costs")
    unknown: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="K0: a strategy knows the means of all but the first K0 arms; all"
    )
    observations: Law = Field(
        default="gaussian",
        description="rewards and costs are gaussian; or bernoulli: 1 with probability their mean, "
        "else 0",
    )
    sigma_reward: PositiveFloat = Field(default=1.0, description="standard deviation of a reward")
    sigma_cost: PositiveFloat = Field(default=1.0, description="standard deviation of a cost")
    arms: Names = None
    constraints: Names = None

    @field_validator("costs")
    @classmethod
    def _one_cost_per_arm(cls, costs: list[list[float]], info: ValidationInfo):
        n_arms = len(info.data.get("rewards", []))
        for row in costs:
            if n_arms and len(row) != n_arms:
                raise ValueError(
                    f"must have {n_arms} entries per row to fit rewards, got a row of {len(row)}"
                )
        return costs

    @field_validator("bounds", "unknown", "arms", "constraints")
    @classmethod
    def _fits(cls, value, info: ValidationInfo):
        rewards, costs = (info.data.get(name) for name in ("rewards", "costs"))
        if value is None or rewards is None or costs is None:
            return value
        if info.field_name == "unknown":
            if value > len(rewards):
                raise ValueError(f"must be at most {len(rewards)}, the number of arms")
            return value
        field, length = (
            ("rewards", len(rewards)) if info.field_name == "arms" else ("costs", len(costs))
        )
        if len(value) != length:
            raise ValueError(f"must have {length} entries to fit {field}, got {len(value)}")
        return value

    @model_validator(mode="after")
    def _bernoulli(self):
        if self.bernoulli:
            check_rates("rewards", self.rewards, "observations")
            check_rates("costs", self.costs, "observations")
            for name in ("sigma_reward", "sigma_cost"):
                if getattr(self, name) != type(self).model_fields[name].default:
                    raise ValueError(f"{name}: must be left out if observations are bernoulli")
        return self

    @property
    def bernoulli(self) -> bool:
        """Whether rewards and costs are 0 or 1."""
        return self.observations == "bernoulli"

    @cached_property
    def problem(self) -> Problem:
        """The instance as kernels take it."""
        return Problem(
            np.array(self.rewards),
            np.array(self.costs),
            np.array(self.bounds),
            len(self.rewards) if self.unknown is None else self.unknown,
        )

    @property
    def noise(self) -> Noise:
        if self.bernoulli:
            return Noise(BERNOULLI_SIGMA, BERNOULLI_SIGMA)
        return Noise(self.sigma_reward, self.sigma_cost)

    @property
    def arm_names(self) -> list[str]:
        return self.arms or [f"arm {a + 1}" for a in range(len(self.rewards))]

    @property
    def constraint_names(self) -> list[str]:
        return self.constraints or [f"cost {l + 1}" for l in range(len(self.bounds))]


class Truth(Input):
    """The ground truth of an instance; columns are counted from 1, slacks after the arms."""

    answer: list[int]  # (L + 1,) the optimal support; zeros when infeasible
    weights: list[float]  # (L + 1,) of its columns
    value: float | None  # of the linear program
    unique: bool  # Assumption 1: one optimal solution, with L + 1 coordinates > 0
    infeasibility_gap: float | None  # Delta_0^2, Eq. (11)
    arm_gaps: list[float | None] | None  # (K + L,) Delta_a^2, Eq. (10); None where infinite
    exponent_sfsr: float | None  # Eq. (15): SFSR's error falls at least as fast
    exponent_any: float | None  # Eq. (13): no consistent strategy's falls faster, if Gaussian
    exponent_uslp: float | None  # Eq. (14): nor USLP's than this, if Gaussian


class Solution(NamedTuple):
    """A solution of the true linear program; columns are counted from 0, slacks after the arms.

    As in the strategies, the reduced value of a slack is per `cost_size` of its constraint.
    """

    basis: np.ndarray  # (L + 1,) ascending
    weights: np.ndarray  # (L + 1,) of its columns
    intersection_values: np.ndarray  # (K + L,) Eq. (6); -inf for columns in no feasible basis
    reduced: np.ndarray  # (K + L,) mu - A^T lambda: how far below the frontier a column lies
    unique: bool  # Assumption 1: no other optimal solution, and L + 1 coordinates > 0


@inlined
def cost_size(bound: float, largest: float) -> float:
    """What a cost is measured by: its bound, or a thousandth of the largest cost if that is more.

    Args:
        bound: on the mean cost of a mixture.
        largest: |mean cost| of the arm where it is largest.

    Returns:
        A positive number.
    """
    size = max(abs(bound), largest / LARGEST_RATIO)
    return size if size > 0.0 else 1.0


def solve(problem: Problem) -> Solution | None:
    """An optimal basic solution of the true linear program; None if it is infeasible.

    Raises ArithmeticError if the simplex method does not end within its step limit.
    """
    matrix, rhs, values = standard_form(problem)
    n, n_arms = values.size, problem.rewards.size
    largest = np.abs(problem.costs).max(axis=1)
    pairs = zip(problem.bounds.tolist(), largest.tolist(), strict=True)
    sizes = np.array([cost_size(*pair) for pair in pairs])
    matrix[:-1, n_arms:] = np.diag(sizes)
    units = np.array([*map(power_of_two, sizes.tolist()), 1.0])
    matrix, rhs = matrix / units[:, None], rhs / units
    unit = power_of_two(float(np.abs(values).max()))
    values /= unit
    work = make_workspace(rhs.size, n)
    load_program(work, matrix, rhs, values)
    if score_bases(work, n) == -math.inf:
        return None
    basis, intersection_values = work.basis.copy(), work.scores.copy()
    load_program(work, matrix, rhs, values)
    if not reduced_values(work, n):
        raise ArithmeticError("the simplex method found no dual solution within its step limit")
    weights = np.linalg.solve(matrix[:, basis], rhs)
    others = np.delete(work.scores, basis)
    unique = bool((weights > DEGENERATE).all() and (others < -DEGENERATE).all())
    weights *= np.append(np.ones(n_arms), sizes)[basis]
    return Solution(basis, weights, intersection_values * unit, work.scores * unit, unique)


def solved(problem: Problem) -> Solution:
    """`solve` of a feasible linear program. Raises ArithmeticError if it is not."""
    if (solution := solve(problem)) is None:
        raise ArithmeticError("the program is infeasible")
    return solution


def standard_form(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A of shape (L + 1, K + L), b and mu of Eq. (3)."""
    n_costs, n_arms = problem.costs.shape
    matrix = np.block(
        [[problem.costs, np.eye(n_costs)], [np.ones((1, n_arms)), np.zeros((1, n_costs))]]
    )
    return matrix, np.append(problem.bounds, 1.0), np.append(problem.rewards, np.zeros(n_costs))


def truth(instance: Instance) -> Truth:
    """The ground truth of an instance."""
    problem = instance.problem
    n_rows = problem.bounds.size + 1
    none: dict[str, Any] = dict.fromkeys(
        ("infeasibility_gap", "arm_gaps", "exponent_sfsr", "exponent_any", "exponent_uslp")
    )
    solution = solve(problem)
    if solution is None:
        return Truth(answer=[0] * n_rows, weights=[0.0] * n_rows, value=None, unique=False, **none)
    basis = solution.basis
    n_columns = problem.rewards.size + problem.bounds.size
    fields: dict[str, Any] = {
        "answer": (basis + 1).tolist(),
        "weights": solution.weights.tolist(),
        "value": float(standard_form(problem)[2][basis] @ solution.weights),
        "unique": solution.unique,
    }
    few = problem.bounds.size <= MOST_CONSTRAINTS and math.comb(n_columns, n_rows) <= MOST_BASES
    if not (solution.unique and few and problem.n_unknown == problem.rewards.size):
        return Truth(**fields, **none)
    scaled = in_units_of_noise(problem, instance.noise)
    gap, gaps = infeasibility_gap(scaled, basis), arm_gaps(scaled, basis)
    limits: dict[str, Any] = exponents(gap, gaps, problem)
    if instance.bernoulli:  # only Theorem 1 is for any noise that is sub-Gaussian
        limits |= {"exponent_any": None, "exponent_uslp": None}
    return Truth(
        **fields,
        infeasibility_gap=gap if math.isfinite(gap) else None,
        arm_gaps=[g if math.isfinite(g) else None for g in gaps.tolist()],
        **limits,
    )


def in_units_of_noise(problem: Problem, noise: Noise) -> StandardProblem:
    """The instance in units of its noise, as `gaps` needs it."""
    return StandardProblem(
        problem.rewards / noise.reward,
        problem.costs / noise.cost,
        problem.bounds / noise.cost,
    )


def exponents(gap: float, gaps: np.ndarray, problem: Problem) -> dict[str, float | None]:
    """The limits of -ln(error) / N of Eqs. (13) to (15), from Delta_0^2 and (K + L,) Delta_a^2."""
    n_costs, n_arms = problem.costs.shape
    ordered = np.sort(gaps)
    least = min(gap, ordered[n_costs + 1])
    ranks = np.arange(2, n_arms + 1)
    hardness = min(gap / n_arms, (ordered[n_costs + 1 :] / ranks).min())
    limits = {
        "exponent_sfsr": hardness / (3.0 * ((n_costs + 1) / 2.0 + math.log(n_arms))),
        "exponent_any": least / 2.0,
        "exponent_uslp": least / (2.0 * n_arms),
    }
    return {name: float(e) if math.isfinite(e) else None for name, e in limits.items()}


def instances() -> dict[str, Instance]:
    """Those of data/instances/cbmai by name, and the random ones."""
    paths = sorted((data_folder() / "instances/cbmai").glob("*.yaml"))
    stored = [load(Instance, path) for path in paths]
    return {instance.name: instance for instance in [*stored, *map(random_instance, SEEDS)]}


#: Seeds of the random instances.
SEEDS = range(100)
#: Section 5: sigma_r and sigma_c of every instance; the bounds are 1.
PAPER_NOISE = {"sigma_reward": 1.0, "sigma_cost": 0.5}


def make(name: str, rewards: np.ndarray, costs: np.ndarray, **fields) -> Instance:
    """An instance with bounds of 1 and Section 5's noise, numbers rounded to two decimals."""
    costs = np.atleast_2d(costs)
    return Instance(
        name=name,
        rewards=np.round(rewards, 2).tolist(),
        costs=np.round(costs, 2).tolist(),
        bounds=[1.0] * len(costs),
        **PAPER_NOISE,
        **fields,
    )


def draw_arms(rng: np.random.Generator, n_arms: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Rewards and costs (one each) of arms "clearly sub-optimal" and arms that are not (Section 5).

    Costs are uniform; rewards lie under a concave curve, half of them by at most 0.3 and half by at
    least 0.5.
    """
    costs = rng.uniform(0.1, 1.9, n_arms)
    below = np.where(
        np.arange(n_arms) < n_arms // 2,
        rng.uniform(0.0, 0.3, n_arms),
        rng.uniform(0.5, 1.0, n_arms),
    )
    order = rng.permutation(n_arms)
    return (0.5 + np.sqrt(costs) - below)[order], costs[order]


def random_instance(seed: int) -> Instance:
    """The first draw of a seed, without any selection."""
    rewards, costs = draw_arms(np.random.default_rng(seed))
    family = {"family": "random", "parameters": {"seed": seed}}
    name, source = f"random seed={seed}", "beyond the paper"
    return make(name, rewards, costs, seed=seed, source=source, **family)


PARAMETERS = {"seed": "of the generator that drew the arms"}
PROBLEMS = Problems(Instance, instances, truth, parameters=PARAMETERS)
