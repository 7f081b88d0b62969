"""Instances of best-arm identification, their true answers and their complexity."""

from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from bestarm.bai import optimum
from bestarm.bai.families import FAMILIES
from bestarm.bai.optimum import Optimum
from bestarm.common.files import data_folder
from bestarm.common.paper import BaseInstance, Names, Problems
from bestarm.common.rates import check_rates
from bestarm.core.inputs import Input, Scale, Sized, load

#: How rewards are drawn.
Family = Literal["bernoulli", "gaussian", "poisson", "exponential"]


class Instance(BaseInstance):
    """Arms with rewards of one exponential family. The answer is the arm of the largest mean."""

    paper: Literal["bai"] = "bai"
    means: list[Sized] = Field(min_length=2, description="(K,) mean rewards")
    rewards: Family = Field(
        default="bernoulli",
        description="bernoulli: 1 with probability `means`, else 0; gaussian; poisson; or "
        "exponential",
    )
    sigma: Scale = Field(
        default=1.0, description="standard deviation of a Gaussian reward; else left out"
    )
    arms: Names = None

    @field_validator("arms")
    @classmethod
    def _one_name_per_arm(cls, arms, info: ValidationInfo):
        means = info.data.get("means")
        if arms is not None and means is not None and len(arms) != len(means):
            raise ValueError(f"must have {len(means)} entries to fit means, got {len(arms)}")
        return arms

    @model_validator(mode="after")
    def _of_the_family(self):
        if self.rewards == "bernoulli":
            check_rates("means", self.means, "rewards")
        if self.rewards != "gaussian" and self.sigma != type(self).model_fields["sigma"].default:
            raise ValueError("sigma: must be left out unless rewards are gaussian")
        for place, mean in enumerate(self.means, 1):
            if self.rewards == "poisson" and mean < 0.0:
                raise ValueError(f"means.{place}: must be at least 0 if rewards are poisson")
            if self.rewards == "exponential" and not mean > 0.0:
                raise ValueError(f"means.{place}: must be positive if rewards are exponential")
        return self

    @cached_property
    def law(self) -> int:
        """The family as kernels take it."""
        return FAMILIES[self.rewards]

    @cached_property
    def standard_means(self) -> np.ndarray:
        """(K,) means in units of sigma."""
        return np.array(self.means, float) / self.sigma

    @property
    def arm_names(self) -> list[str]:
        return self.arms or [f"arm {a + 1}" for a in range(len(self.means))]


class Truth(Input):
    """The ground truth of an instance."""

    answer: Annotated[int, Field(ge=1)]  # 1..K
    characteristic_time: float | None  # T*, pulls per nat; None when infinite
    characteristic_time_low: float | None  # that no allocation goes below
    allocation: list[float]  # (K,) w*


def characteristic_time(instance: Instance) -> Optimum:
    """T*(mu) and w*(mu), with a lower bound on T* as certificate.

    Example:
        >>> found = characteristic_time(instances()["mu1"])
        >>> round(found.time, 1), [round(float(w), 3) for w in found.allocation]
        (989.8, [0.417, 0.39, 0.136, 0.057])
    """
    return optimum.characteristic_time(instance.law, instance.standard_means)


def truth(instance: Instance) -> Truth:
    """The ground truth of an instance."""
    complexity = characteristic_time(instance)
    finite = np.isfinite(complexity.time)
    return Truth(
        answer=int(np.argmax(instance.means)) + 1,
        characteristic_time=complexity.time if finite else None,
        characteristic_time_low=complexity.low if finite else None,
        allocation=complexity.allocation.tolist(),
    )


#: How near to a tie the instances of `boundary` are, and what they are without it.
NEAR = 1e-9
BOUNDARY: dict[str, tuple[Family, list[float]]] = {
    "two tied": ("bernoulli", [0.5, 0.5]),
    "two tied, rare": ("bernoulli", [0.05, 0.05]),
    "five tied": ("bernoulli", [0.3] * 5),
    "two tied, gaussian": ("gaussian", [0.0, 0.0]),
    "two tied, poisson": ("poisson", [1.0, 1.0]),
    "two tied, exponential": ("exponential", [1.0, 1.0]),
}


def boundary(name: str) -> Instance:
    """An instance next to others with another best arm: no number of pulls tells them apart.

    A rule that errs with probability at most delta hardly ever stops on it, and half of its stops
    may be wrong, of five tied arms four fifths.
    """
    rewards, (first, *others) = BOUNDARY[name]
    return Instance(name=name, source="made here", rewards=rewards, means=[first + NEAR, *others])


def instances() -> dict[str, Instance]:
    """The paper's instances by name, from data/instances/bai, and those of `boundary`."""
    stored = [load(Instance, p) for p in sorted((data_folder() / "instances/bai").glob("*.yaml"))]
    return {instance.name: instance for instance in [*stored, *map(boundary, BOUNDARY)]}


PROBLEMS = Problems(Instance, instances, truth)
