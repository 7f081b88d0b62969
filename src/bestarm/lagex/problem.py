"""Instances of pure exploration under linear constraints, and their ground truth."""

import csv
import math
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator
from scipy.optimize import linprog

from bestarm.common.files import data_folder
from bestarm.common.paper import BaseInstance, Names, PerArm, Problems
from bestarm.common.rates import Law, check_rates
from bestarm.core.anytime import BERNOULLI_SIGMA
from bestarm.core.inputs import Input, PositiveFloat, load, short
from bestarm.core.units import power_of_two
from bestarm.lagex.kernel_problem import Problem
from bestarm.lagex.paper.bounds import (
    TIE,
    bai_time,
    constraint_rows,
    corollary_1,
    known_time,
    learning_time,
    policy_slacks,
    shadow_price,
    ties,
)
from bestarm.lagex.vertices import MOST_COLUMNS, alternatives, nonempty, row_units

#: r in all of the paper's experiments.
TOLERANCE = 0.01

#: The table of movies, under data/.
IMDB = "imdb/imdb12.csv"
Vector = Annotated[list[float], Field(min_length=2)]


class Constraint(Input):
    """sum_a coefficients_a pi_a at most, or at least, a number."""

    name: str = ""
    coefficients: Vector = Field(description="(K,) mean costs of the arms")
    at_most: float | None = Field(default=None, description="this, or at_least")
    at_least: float | None = Field(default=None, description="this, or at_most")

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        for name in data if isinstance(data, dict) else ():
            if name not in cls.model_fields:
                allowed = ", ".join(cls.model_fields)
                raise ValueError(f"{name}: unknown field, allowed are {allowed}")
        return data

    @model_validator(mode="after")
    def _one_side(self):
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError("must have either at_most or at_least")
        return self

    @property
    def row(self) -> tuple[np.ndarray, float]:
        """A row of A and its b, as an upper limit."""
        row = np.array(self.coefficients, dtype=float)
        if self.at_least is not None:
            return -row, -self.at_least
        return row, float(self.at_most or 0.0)


class Instance(BaseInstance):
    """Arms with rewards and costs. The answer is the best feasible policy.

    Rewards and costs are Gaussian, or 0 or 1, and independent.
    """

    paper: Literal["lagex"] = "lagex"
    means: Vector = Field(description="(K,) mean rewards")
    observations: Law = Field(
        default="gaussian",
        description="rewards and costs are gaussian; or bernoulli: 1 with probability their mean, "
        "else 0",
    )
    sigma: list[PositiveFloat] = Field(
        default=[1.0], min_length=1, description="standard deviation of a reward; one, or by arm"
    )
    constraints: list[Constraint] = Field(min_length=1, description="d limits on the policy")
    cost_sigma: PositiveFloat = Field(
        default=1.0, description="standard deviation of an observed cost"
    )
    arms: Names = None

    @field_validator("sigma", mode="before", json_schema_input_type=PerArm[PositiveFloat])
    @classmethod
    def _of_all(cls, value: Any) -> Any:
        return value if isinstance(value, list) else [value]

    @field_validator("sigma", "arms")
    @classmethod
    def _fits(cls, value, info: ValidationInfo):
        means = info.data.get("means")
        alone = info.field_name == "sigma" and len(value) == 1
        if means and value is not None and len(value) != len(means) and not alone:
            raise ValueError(f"must have {len(means)} entries to fit means, got {len(value)}")
        return value

    @field_validator("constraints")
    @classmethod
    def _fit(cls, value: list[Constraint], info: ValidationInfo):
        means = info.data.get("means")
        names = [constraint.name for constraint in value if constraint.name]
        if len(set(names)) < len(names):
            raise ValueError(f"names must be distinct, got {short(names)}")
        for number, constraint in enumerate(value, 1):
            got = len(constraint.coefficients)
            if means and got != len(means):
                raise ValueError(
                    f"{number}.coefficients: must have {len(means)} entries to fit means, got {got}"
                )
        return value

    @model_validator(mode="after")
    def _bernoulli(self):
        if self.bernoulli:
            check_rates("means", self.means, "observations")
            for number, constraint in enumerate(self.constraints, 1):
                check_rates(
                    f"constraints.{number}.coefficients", constraint.coefficients, "observations"
                )
            for name in ("sigma", "cost_sigma"):
                if getattr(self, name) != type(self).model_fields[name].default:
                    raise ValueError(f"{name}: must be left out if observations are bernoulli")
        return self

    @model_validator(mode="after")
    def _feasible(self):
        problem, k = self.problem, len(self.means)
        if (got := k + len(self.constraints)) > MOST_COLUMNS:
            raise ValueError(
                f"means, constraints: must be at most {MOST_COLUMNS} together, got {got}"
            )
        rows = constraint_rows(problem)
        if (rows <= 0.0).all(axis=0).any():  # one arm alone keeps all limits
            return self
        rows /= row_units(rows)[:, None]
        result = linprog(
            np.zeros(k), rows, np.zeros(len(rows)), np.ones((1, k)), [1.0], method="highs"
        )
        if result.status != 0:
            raise ValueError("constraints: must allow some policy, here none satisfies all of them")
        return self

    @property
    def bernoulli(self) -> bool:
        """Whether rewards and costs are 0 or 1."""
        return self.observations == "bernoulli"

    @property
    def sigmas(self) -> tuple[list[float], float]:
        """Standard deviations of rewards, one or by arm, and of costs; of Bernoulli ones bounds."""
        if self.bernoulli:
            return [BERNOULLI_SIGMA], BERNOULLI_SIGMA
        return self.sigma, self.cost_sigma

    @cached_property
    def problem(self) -> Problem:
        """The instance as kernels take it."""
        means = np.array(self.means, dtype=float)
        rows, limits = zip(*(c.row for c in self.constraints), strict=True)
        sigma, cost_sigma = self.sigmas
        variances = np.broadcast_to(np.array(sigma, dtype=float) ** 2, means.shape)
        return Problem(means, variances.copy(), np.array(rows), np.array(limits, float), cost_sigma)

    @property
    def arm_names(self) -> list[str]:
        return self.arms or [f"arm {a + 1}" for a in range(len(self.means))]

    @property
    def constraint_names(self) -> list[str]:
        return [c.name or f"constraint {i + 1}" for i, c in enumerate(self.constraints)]


class Truth(Input):
    """The ground truth of an instance; None stands for infinity."""

    answer: list[int]  # (K + d,) 1 for arms with weight in the best policy, then slack constraints
    policy: list[float]  # (K,) the best one
    value: float  # its mean reward
    gaussian: bool = True  # whether rewards are; else times are of Gaussian ones of their sigma
    unique: bool  # whether it is the only best one
    slacks: list[float]  # (d,) of the constraints at the best policy
    characteristic_time: float | None  # T_{F,0}, Eq. (4), allocations over the simplex
    inside_time: float | None  # the same, allocations in F; the Lagrangian's without a shift
    tolerant_time: float  # T_{F,r} at TOLERANCE
    bai_characteristic_time: float | None  # without the constraints
    learning_time: float | None  # of the constraints, for answers within TOLERANCE
    allocation: list[float]  # (K,) that attains characteristic_time
    inside_allocation: list[float]  # (K,) that attains inside_time
    shadow_price: float | None  # Theorem 6
    corollary_1: list[float | None]  # lower and upper bound on T_{F,0}; upper one inside F
    units: list[float]  # powers of two near the largest mean, and near the smallest row


def truth(instance: Instance) -> Truth:
    """The ground truth of an instance."""
    problem = instance.problem
    best = nonempty(alternatives(problem.means, problem.matrix, problem.limits, 0.0))
    rows = constraint_rows(problem)
    slacks = policy_slacks(best.policy, rows)
    simplex, inside = known_time(problem), known_time(problem, inside=True)
    return Truth(
        answer=np.concatenate([best.policy > TIE, slacks > 0.0]).astype(int).tolist(),
        policy=best.policy.tolist(),
        value=best.value,
        gaussian=not instance.bernoulli,
        unique=not ties(problem, best),
        slacks=slacks.tolist(),
        characteristic_time=_finite(simplex.time),
        inside_time=_finite(inside.time),
        tolerant_time=known_time(problem, TOLERANCE).time,
        bai_characteristic_time=_finite(bai_time(problem).time),
        learning_time=_finite(learning_time(problem, TOLERANCE).time),
        allocation=simplex.allocation.tolist(),
        inside_allocation=inside.allocation.tolist(),
        shadow_price=_finite(shadow_price(best.policy, rows)),
        corollary_1=[_finite(bound) for bound in corollary_1(problem)],
        units=[power_of_two(float(np.abs(problem.means).max())), float(row_units(rows).min())],
    )


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _at_most(k: int, *groups: tuple[int, ...]) -> list[Constraint]:
    """At most half of the pulls to each group of arms, counted from 1."""
    return [
        Constraint(
            name="+".join(f"pi{a}" for a in group),
            coefficients=[float(a + 1 in group) for a in range(k)],
            at_most=0.5,
        )
        for group in groups
    ]


#: Tightenings of the active constraint in Figure 1; the text's example is 0.005.
EPSILONS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
#: The third mean of setup 1: hard, easy, and the sweep of Figure 4.
HARD, EASIER = 0.5, 1.3
SWEEP = tuple(round(0.5 + 0.1 * i, 1) for i in range(21))


def setup1(third: float, printed: bool = False) -> Instance:
    """Setup 1 as in the released program (six arms), or with the printed means."""
    means = [1.5, 1.0, third, 0.4, 0.3, 0.2] + ([0.1] if printed else [])
    groups = ((1, 2), (3, 4)) if printed else ((1, 2), (3, 4, 5))
    names = {HARD: "hard", EASIER: "easy"}
    family = "setup 1 printed" if printed else "setup 1"
    return Instance(
        name=f"{family} m3={third:g}",
        family=family,
        parameters={"m3": third},
        source=f"Section 5, setup 1 ({names.get(third, 'Figure 4')}); constraints recovered",
        means=means,
        constraints=_at_most(len(means), *groups),
    )


def setup2(name: str, means: list[float]) -> Instance:
    """Setup 2, five arms."""
    return Instance(
        name=f"setup 2 {name}",
        source="Appendix H, setup 2, after Carlsson et al. (2024)",
        means=means,
        constraints=_at_most(5, (1, 2), (3, 4)),
    )


def imdb(spread: bool = False) -> Instance:
    """Twelve movies: at most 0.3 to action, at least 0.3 to drama and to family."""
    with (data_folder() / IMDB).open(newline="") as file:
        rows = list(csv.DictReader(file))
    sides = {"action": "at_most", "drama": "at_least", "family": "at_least"}
    return Instance(
        name="imdb, true spread" if spread else "imdb",
        source="Section 5, IMDB-50K; data/imdb/imdb12.csv",
        means=[float(row["rating_sum"]) / float(row["n_ratings"]) for row in rows],
        sigma=[float(row["rating_std"]) for row in rows] if spread else [1.0],
        constraints=[
            Constraint(name=genre, coefficients=[float(row[genre]) for row in rows], **{side: 0.3})
            for genre, side in sides.items()
        ],
        arms=[row["movie"] for row in rows],
    )


def base(name: str) -> Instance:
    """An environment of the paper by name."""
    return {instance.name: instance for instance in (setup1(HARD), setup1(EASIER), imdb())}[name]


def normalised(name: str) -> Instance:
    """An environment with A pi <= 0 and rows of A of length 1, as Section 2 has it.

    A row a . pi <= b is (a - b 1) . pi <= 0, since policies sum to one; it is divided by its
    length. As costs keep their noise, they are noisier in units of the row than without.
    """
    instance = base(name)
    rows = constraint_rows(instance.problem)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    constraints = [
        Constraint(name=constraint.name, coefficients=row.tolist(), at_most=0.0)
        for constraint, row in zip(instance.constraints, rows, strict=True)
    ]
    changed = {"name": f"{name}, normalised", "family": "", "parameters": {}}
    return Instance.model_validate(instance.model_dump() | changed | {"constraints": constraints})


#: Standard deviations of costs in place of 1.
COST_SIGMAS = (0.5, 2.0)


def with_cost_sigma(name: str, sigma: float) -> Instance:
    """An environment with another standard deviation of costs."""
    changed = {"name": f"{name}, cost sigma {sigma:g}", "family": "", "parameters": {}}
    return Instance.model_validate(base(name).model_dump() | changed | {"cost_sigma": sigma})


def example() -> Instance:
    """The menus of the example in docs/usage.md: ratings, and prices of at most 0.8 on average."""
    row = Constraint(coefficients=[1.3, 0.9, 0.5], at_most=0.8)
    return Instance(
        name="example", source="docs/usage.md", means=[7.8, 7.2, 6.9], constraints=[row]
    )


def triangle() -> Instance:
    """Figure 2: three arms and one constraint."""
    row = Constraint(coefficients=[-3.0, -2.0, -1.0], at_most=-2.0)
    return Instance(name="triangle", source="Figure 2", means=[3.0, 2.0, 4.0], constraints=[row])


def perturbed(epsilon: float = 0.0) -> Instance:
    """Figure 1: the first constraint, active at the optimum, tightened by epsilon.

    On policies this is the same as adding epsilon to the first row of A. Loosening would have no
    effect, since the constraint as it is already follows from pi >= 0.
    """
    rows = ([0.0, -0.3, -0.2], [-0.2, 0.1, 0.1])
    return Instance(
        name=f"perturbed eps={epsilon:g}",
        family="perturbed",
        parameters={"epsilon": epsilon},
        source="Section 1, Figure 1",
        means=[1.0, 0.8, 0.6],
        constraints=[
            Constraint(coefficients=rows[0], at_most=-epsilon),
            Constraint(coefficients=rows[1], at_most=0.0),
        ],
    )


def instances() -> dict[str, Instance]:
    """Those of data/instances/lagex by name, the paper's, and both versions of setup 1."""
    folder = data_folder() / "instances/lagex"
    stored = [load(Instance, Path(p)) for p in sorted(folder.glob("*.yaml"))]
    made = [
        *map(setup1, SWEEP),
        *(setup1(third, printed=True) for third in SWEEP),
        setup2("easy", [1.0, 0.5, 0.4, 0.95, 0.8]),
        setup2("hard", [1.0, 0.5, 0.4, 0.4, 0.5]),
        imdb(),
        imdb(spread=True),
        *(normalised(name) for name in (setup1(HARD).name, setup1(EASIER).name, "imdb")),
        *(
            with_cost_sigma(name, sigma)
            for name in (setup1(HARD).name, setup1(EASIER).name, "imdb")
            for sigma in COST_SIGMAS
        ),
        example(),
        triangle(),
        *map(perturbed, EPSILONS),
    ]
    return {instance.name: instance for instance in [*stored, *made]}


PARAMETERS = {
    "m3": "mean reward of the third arm",
    "epsilon": "by how much the active constraint is tightened",
}
PROBLEMS = Problems(Instance, instances, truth, kept=(IMDB,), parameters=PARAMETERS)
