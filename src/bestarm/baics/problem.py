"""Instances of BAICS, their true answers and their complexity."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from bestarm.baics.alternatives import (
    NO_ARM,
    NO_FLOOR,
    Problem,
    best_feasible_arm,
    make_problem,
    optimal_allocation,
)
from bestarm.baics.rates_optimum import Optimum
from bestarm.baics.rates_optimum import characteristic_time as time_of_rates
from bestarm.common.files import data_folder
from bestarm.common.paper import BaseInstance, Names, Problems
from bestarm.common.rates import Law, check_rates
from bestarm.core.anytime import BERNOULLI_SIGMA
from bestarm.core.inputs import Input, OneOrEach, PositiveFloat, load

Row = Annotated[list[float], Field(min_length=1)]
PositiveRow = Annotated[list[PositiveFloat], Field(min_length=1)]


class Instance(BaseInstance):
    """Arms on subpopulations with rewards that are Gaussian, or 0 or 1.

    The answer is the arm of highest quality, the q-weighted mean over subpopulations, among those
    whose mean is at least a minimum on each of the first M subpopulations; or none.
    """

    paper: Literal["baics"] = "baics"
    means: list[Row] = Field(
        min_length=2, description="(K, L) mean rewards: a row per arm, a column per subpopulation"
    )
    weights: list[Annotated[float, Field(ge=0.0)]] = Field(
        description="(L,) sizes of the subpopulations; only their proportions matter"
    )
    constrained: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="M: the best arm has a mean >= `minimum` on each of the first M "
        "subpopulations; all",
    )
    minimum: OneOrEach[float, Row] = Field(
        default=0.0,
        description="the least mean of the best arm on constrained subpopulations; one, or (M,)",
    )
    rewards: Law = Field(
        default="gaussian", description="gaussian; or bernoulli: 1 with probability `means`, else 0"
    )
    sigma: OneOrEach[PositiveFloat, list[PositiveRow]] = Field(
        default=1.0, description="standard deviation of a reward; one, or (K, L) as `means`"
    )
    arms: Names = None
    subpopulations: Names = None

    @field_validator("means")
    @classmethod
    def _rectangular(cls, means: list[list[float]]) -> list[list[float]]:
        if len({len(row) for row in means}) > 1:
            raise ValueError(
                "must have the same number of subpopulations in every row, "
                f"got rows of {', '.join(str(len(row)) for row in means)}"
            )
        return means

    @field_validator("sigma")
    @classmethod
    def _by_pair(cls, sigma, info: ValidationInfo):
        means = info.data.get("means")
        if means and isinstance(sigma, list) and list(map(len, sigma)) != list(map(len, means)):
            raise ValueError(f"must be a number, or {len(means)} rows of {len(means[0])} as means")
        return sigma

    @model_validator(mode="after")
    def _minimum_by_subpopulation(self):
        if isinstance(self.minimum, list) and len(self.minimum) != self.n_constrained:
            raise ValueError(
                f"minimum: must be a number, or {self.n_constrained} numbers, one per constrained "
                f"subpopulation, got {len(self.minimum)}"
            )
        return self

    @model_validator(mode="after")
    def _bernoulli(self):
        if self.rewards == "bernoulli":
            check_rates("means", self.means, "rewards")
            if self.sigma != type(self).model_fields["sigma"].default:
                raise ValueError("sigma: must be left out if rewards are bernoulli")
        return self

    @field_validator("weights", "constrained", "arms", "subpopulations")
    @classmethod
    def _fits(cls, value, info: ValidationInfo):
        means = info.data.get("means")
        if value is None or means is None:
            return value
        n_arms, n_groups = len(means), len(means[0])
        if info.field_name == "constrained":
            if value > n_groups:
                raise ValueError(f"must be at most {n_groups}, the number of subpopulations")
            return value
        length = n_arms if info.field_name == "arms" else n_groups
        if len(value) != length:
            raise ValueError(f"must have {length} entries to fit means, got {len(value)}")
        if info.field_name == "weights" and not sum(value) > 0.0:
            raise ValueError("must have a positive sum")
        return value

    @property
    def n_constrained(self) -> int:
        """M."""
        return len(self.weights) if self.constrained is None else self.constrained

    @cached_property
    def problem(self) -> Problem:
        """What the strategies are given: weights q of sum 1, and M."""
        floor = self.floor if self.rewards == "bernoulli" else NO_FLOOR
        return make_problem(np.array(self.weights), self.n_constrained, self.sigmas, floor)

    @cached_property
    def sigmas(self) -> np.ndarray:
        """(K, L) standard deviations of rewards; of Bernoulli ones their bound."""
        sigma = BERNOULLI_SIGMA if self.rewards == "bernoulli" else self.sigma
        return np.broadcast_to(np.array(sigma, dtype=float), np.shape(self.means))

    @cached_property
    def floor(self) -> np.ndarray:
        """(L,) the least means of the best arm, 0 where there is no such constraint."""
        return minimum_array(self.minimum, self.n_constrained, len(self.weights))

    @cached_property
    def standard_means(self) -> np.ndarray:
        """(K, L) means above the floor, over sigma: rewards have variance 1, the floor is 0."""
        return (np.array(self.means) - self.floor) / self.sigmas

    @cached_property
    def feasible(self) -> np.ndarray:
        """(K,) whether arms keep every minimum."""
        return np.asarray((self.standard_means[:, : self.n_constrained] >= 0.0).all(axis=1))

    @property
    def arm_names(self) -> list[str]:
        return self.arms or [f"arm {k + 1}" for k in range(len(self.means))]

    @property
    def group_names(self) -> list[str]:
        return self.subpopulations or [f"subpop. {l + 1}" for l in range(len(self.weights))]


def minimum_array(minimum: float | Sequence[float] | np.ndarray, n_constrained: int, n_groups: int):
    """(L,) the minimum of the first M subpopulations, 0 of the others.

    Example:
        >>> minimum_array(0.5, 2, 3).tolist()
        [0.5, 0.5, 0.0]
    """
    floor = np.zeros(n_groups)
    floor[:n_constrained] = minimum
    return floor


class Truth(Input):
    """The ground truth of an instance."""

    answer: Annotated[int, Field(ge=0)]  # 1..K, or 0 for none, as in the paper
    qualities: list[float]  # (K,)
    characteristic_time: Annotated[float, Field(ge=0.0)] | None  # T*, pulls; None when infinite
    characteristic_time_low: float | None = None  # of rates: that T* is at least, by a certificate
    bai_characteristic_time: PositiveFloat | None  # T* without the constraints
    allocation: list[list[float]]  # (K, L) w*


def characteristic_time(instance: Instance, constrained: int | None = None) -> float:
    """T*(mu), Eqs. (7) and (8): E[tau] >= T* kl(delta, 1 - delta) for delta-correct strategies.

    Args:
        instance: with rewards that are Gaussian of variance sigma^2, or 0 or 1.
        constrained: M instead of the instance's own; 0 gives plain best-arm identification.

    Returns:
        Pulls; infinite when some alternative is at distance 0 (a tie, a mean of exactly 0).
    """
    return solve(instance, constrained).time


def true_allocation(instance: Instance) -> np.ndarray:
    """w*(mu), (K, L): the shares of pulls that attain T*."""
    return solve(instance).allocation


def true_answer(instance: Instance) -> int:
    """k*, Eq. (2), in 1..K, or 0 when no arm is feasible."""
    best = best_feasible_arm(instance.standard_means, instance.problem)
    return 0 if best == NO_ARM else best + 1


def truth(instance: Instance) -> Truth:
    """The ground truth of an instance."""
    optimum, plain = solve(instance), characteristic_time(instance, constrained=0)
    certified = instance.rewards == "bernoulli" and np.isfinite(optimum.low)
    return Truth(
        answer=true_answer(instance),
        qualities=(np.array(instance.means) @ instance.problem.weights).tolist(),
        characteristic_time=optimum.time if np.isfinite(optimum.time) else None,
        characteristic_time_low=optimum.low if certified else None,
        bai_characteristic_time=plain if np.isfinite(plain) else None,
        allocation=optimum.allocation.tolist(),
    )


def solve(instance: Instance, constrained: int | None = None) -> Optimum:
    """T* and w*, of rates with a certificate; the one of Gaussian rewards is exact.

    Args:
        instance: with rewards that are Gaussian of variance sigma^2, or 0 or 1.
        constrained: M instead of the instance's own.
    """
    means, problem = instance.standard_means, instance.problem
    if constrained is not None:
        problem = problem._replace(constrained=constrained)
    if instance.rewards == "bernoulli":
        return time_of_rates(np.array(instance.means), problem)
    allocation = np.empty(means.shape)
    time = optimal_allocation(means, problem, best_feasible_arm(means, problem), allocation)
    return Optimum(time, time, allocation)


def instances() -> dict[str, Instance]:
    """The paper's instances by name: those of data/instances/baics, and the epsilon family."""
    stored = [load(Instance, p) for p in sorted((data_folder() / "instances/baics").glob("*.yaml"))]
    made = [epsilon_family(variant, epsilon) for variant in VARIANTS for epsilon in EPSILONS]
    made += [segments(count) for count in SEGMENTS]
    made += [boundary(name) for name in BOUNDARY]
    made += [conversion(rewards) for rewards in CONVERSION]
    return {instance.name: instance for instance in [*stored, *made]}


#: Section 3.2's Example 1 and its two variants, and the values of epsilon they are drawn for.
VARIANTS = ("tradeoff", "easy-feasibility", "easy-gap")
EPSILONS = tuple(10.0 ** (-e / 4) for e in range(1, 13))


#: Numbers of subpopulations for which the stylised threshold is tried.
SEGMENTS = (2, 5, 10, 20, 50)


def segments(count: int) -> Instance:
    """A feasible arm of mean 0.1 on every one of `count` subpopulations, and one of mean -3.

    Every further subpopulation makes it more likely that arm 1 looks infeasible early on.
    """
    return Instance(
        name=f"{count} segments",
        family="segments",
        parameters={"segments": count},
        source="made here",
        means=[[0.1] * count, [-3.0] * count],
        weights=[1.0] * count,
    )


#: How near to another answer the instances of `boundary` are.
NEAR = 1e-9

#: Means of instances by name; without NEAR they have no unique answer.
BOUNDARY = {
    "feasible by 1e-9": [[NEAR] * 5, [-0.5] * 5, [-0.5] * 5],
    "infeasible by 1e-9": [[0.5, 0.5, -NEAR], [-0.4, -0.3, -0.5], [-0.6, 0.8, -0.5]],
    "two tied": [[0.8 + NEAR, 0.2], [0.2, 0.8]],
    "three tied": [[0.4 + NEAR, 0.4], [0.4, 0.4], [0.4, 0.4]],
    "tied, one at 0": [[0.4, 0.2 + NEAR], [0.6, 0.0], [0.1, -0.3]],
}


def boundary(name: str) -> Instance:
    """An instance that is next to others with another answer: no number of pulls tells them apart.

    A rule that errs with probability at most delta hardly ever stops on it, and half of its stops
    may be wrong.
    """
    means = BOUNDARY[name]
    return Instance(name=name, source="made here", means=means, weights=[1.0] * len(means[0]))


#: Names of two instances, by their rewards.
CONVERSION: dict[Law, str] = {"bernoulli": "rates", "gaussian": "Gaussian twin of rates"}


def conversion(rewards: Law) -> Instance:
    """Rates of 3 to 6% with a minimum of 2%, or Gaussian rewards of the same mean and variance."""
    means = np.array([[0.06, 0.06], [0.045, 0.04], [0.04, 0.03]])
    sigma = {"sigma": np.sqrt(means * (1.0 - means)).tolist()} if rewards == "gaussian" else {}
    return Instance(
        name=CONVERSION[rewards],
        source="made here",
        means=means.tolist(),
        weights=[1.0, 1.0],
        minimum=0.02,
        rewards=rewards,
        **sigma,
    )


def epsilon_family(variant: str, epsilon: float) -> Instance:
    """Section 3.2's Example 1 and its two variants, K = 3, L = M = 2, q = (1/2, 1/2).

    tradeoff: BAICS gets hard as epsilon -> 0 while plain identification stays easy.
    easy-feasibility: the reverse, arms 2 and 3 being clearly infeasible.
    easy-gap: whether arm 2 is feasible is hard to determine and irrelevant for the answer.
    """
    rows = {
        "tradeoff": [[4.0, -epsilon], [1.0, 1.0 - epsilon]],
        "easy-feasibility": [[4.0, -2.0 - epsilon], [1.0, -1.0]],
        "easy-gap": [[1.0, -epsilon], [1.0, -1.0]],
    }[variant]
    return Instance(
        name=f"{variant} epsilon={epsilon:g}",
        family=variant,
        parameters={"epsilon": epsilon},
        source=f"Section 3.2, {variant}",
        means=[[1.0, 1.0], *rows],
        weights=[0.5, 0.5],
    )


PARAMETERS = {
    "epsilon": "how far what is hard to tell is from a tie",
    "segments": "subpopulations",
}
PROBLEMS = Problems(Instance, instances, truth, parameters=PARAMETERS)
