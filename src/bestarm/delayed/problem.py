"""Instances of top-k identification with delayed feedback, and what is true of them."""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from bestarm.core.inputs import Input, PositiveFloat, PositiveInt, load
from bestarm.delayed.racing import Arms
from bestarm.pipeline.files import data_folder

Feedback = Literal["full", "incremental", "unbiased", "biased"]


class Spread(Input):
    """A delay drawn anew for every pull, uniformly on low, ..., high steps."""

    low: PositiveInt
    high: PositiveInt

    @model_validator(mode="after")
    def _ordered(self):
        if self.high < self.low:
            raise ValueError(f"high: must be at least low, {self.low}, got {self.high}")
        return self


def _spread(value: Any) -> Any:
    """A number of steps as a delay that is always the same."""
    return {"low": value, "high": value} if isinstance(value, int | float) else value


Delay = Annotated[Spread, BeforeValidator(_spread)]


class Instance(Input):
    """Arms whose rewards arrive some time steps after a pull starts. The answer is the top k."""

    paper: Literal["delayed"] = "delayed"
    name: str = Field(min_length=1)
    source: str = ""
    means: Annotated[list[float], Field(min_length=1)]  # (n,)
    top: PositiveInt = 1  # k
    sigma: PositiveFloat = 1.0  # standard deviation of a reward
    feedback: Feedback = "unbiased"  # before the reward, see Section 2
    sigma_p: PositiveFloat | None = None  # of noisy partial feedback given the reward
    bias: list[float] | None = None  # (n,) of biased partial feedback
    delay: Annotated[list[Delay], Field(min_length=1)]  # time steps of a pull; of all, or by arm
    arms: list[str] | None = None  # names, for people
    shuffled: bool = False  # every run has the arms in an order of its own

    @field_validator("delay", mode="before")
    @classmethod
    def _of_all(cls, value):
        return value if isinstance(value, list) else [value]

    @field_validator("bias", "delay", "arms")
    @classmethod
    def _fits(cls, value, info: ValidationInfo):
        means = info.data.get("means")
        alone = info.field_name == "delay" and len(value) == 1
        if means and value is not None and len(value) != len(means) and not alone:
            raise ValueError(f"must have {len(means)} entries to fit means, got {len(value)}")
        return value

    @model_validator(mode="after")
    def _complete(self):
        n = len(self.means)
        if self.top > n:
            raise ValueError(f"top: must be at most the number of arms, {n}, got {self.top}")
        ordered = sorted(self.means, reverse=True)
        if self.top < n and not ordered[self.top - 1] > ordered[self.top]:
            raise ValueError(
                f"means: must have one top {self.top}, arms {self.top} and {self.top + 1} of the "
                "order tie"
            )
        noisy = self.feedback in ("unbiased", "biased")
        if noisy != (self.sigma_p is not None):
            needed = "required" if noisy else "not used"
            raise ValueError(f"sigma_p: is {needed} with feedback {self.feedback}")
        if (self.feedback == "biased") != (self.bias is not None):
            needed = "required" if self.feedback == "biased" else "not used"
            raise ValueError(f"bias: is {needed} with feedback {self.feedback}")
        return self

    @property
    def arm_names(self) -> list[str]:
        return self.arms or [f"arm {a + 1}" for a in range(len(self.means))]

    @property
    def model(self) -> Arms:
        """The instance as kernels take it."""
        delays = self.delay if len(self.delay) > 1 else self.delay * len(self.means)
        low = np.array([delay.low for delay in delays])
        high = np.array([delay.high for delay in delays])
        means = np.array(self.means, dtype=float)
        bias = np.array(self.bias, dtype=float) if self.bias else np.zeros(means.size)
        return Arms(means, bias, low, high, self.sigma, self.sigma_p or 0.0)


class Truth(Input):
    """What is true of an instance; arms are counted from 1."""

    answer: list[int]  # (k,) the top k, ascending
    gaps: list[float] | None  # (n,) to the best arm outside the top k, or to the worst in it
    hardness: float | None  # sum of (sigma / gap)^2: pulls, up to logarithms, that an answer takes


def truth(instance: Instance) -> Truth:
    """Everything later stages need to know of an instance; with k = n no arm has a gap."""
    means, k = np.array(instance.means), instance.top
    order = np.argsort(-means, kind="stable")
    answer = sorted(int(a) + 1 for a in order[:k])
    if k == means.size:
        return Truth(answer=answer, gaps=None, hardness=None)
    inside, outside = means[order[k - 1]], means[order[k]]
    gaps = np.where(means >= inside, means - outside, inside - means)
    hardness = float((instance.sigma**2 / gaps**2).sum())
    return Truth(answer=answer, gaps=gaps.tolist(), hardness=hardness)


#: Section 5.1 and the published experiments: numbers of arms, and the delays of Figure 1c.
SIZES, DELAYS = (10, 20, 50, 100), (10, 20, 50, 100, 200, 500, 1000)
#: The study of the four models beyond the paper: what arrives, and how delays are drawn.
MODELS = ("full", "incremental", "unbiased", "biased")
RANDOM_DELAY = Spread(low=50, high=150)


def bounded(n: int) -> Instance:
    """Means in [4, 5]: mu_i = 5 - (i / n)^0.6, i = 0, ..., n - 1."""
    return Instance(
        name=f"bounded n={n}",
        source="Section 5.1, Figure 1a",
        means=[5.0 - (i / n) ** 0.6 for i in range(n)],
        top=n // 5,
        sigma=0.03,
        sigma_p=0.03,
        delay=[50],
        shuffled=True,
    )


def free(n: int, delay: int | Spread = 100, name: str = "") -> Instance:
    """Means one apart: mu_i = 2 n - i, i = 0, ..., n - 1."""
    return Instance(
        name=name or f"free n={n}",
        source="Section 5.1, Figures 1b and 1c",
        means=[float(2 * n - i) for i in range(n)],
        top=n // 5,
        sigma=0.5,
        sigma_p=0.25,
        delay=[delay],
        shuffled=True,
    )


def model(feedback: str, delay: int | Spread) -> Instance:
    """Twenty free means under one of the four models; biases of -2 to 2."""
    like = free(20).model_dump()
    random = "" if isinstance(delay, int) else ", random delay"
    noisy = feedback in ("unbiased", "biased")
    biases = [float(i % 5 - 2) for i in range(20)]
    return Instance(
        **like
        | {
            "name": f"{feedback}{random}",
            "source": "beyond the paper",
            "feedback": feedback,
            "delay": [delay],
            "sigma_p": 0.25 if noisy else None,
            "bias": biases if feedback == "biased" else None,
        }
    )


def alike(feedback: str) -> Instance:
    """Two arms that are never told apart, to watch confidence bounds for as long as one likes."""
    return Instance(
        name=f"alike, {feedback}",
        source="beyond the paper",
        means=[1e-9, 0.0],
        feedback=feedback,
        sigma_p=1.0,
        bias=[1.0, -1.0] if feedback == "biased" else None,
        delay=[10],
    )


def instances() -> dict[str, Instance]:
    """Those of data/instances/delayed by name, the paper's families, and those beyond it."""
    folder = data_folder() / "instances/delayed"
    stored = [load(Instance, Path(p)) for p in sorted(folder.glob("*.yaml"))]
    made = [
        *map(bounded, SIZES),
        *map(free, SIZES),
        *(free(100, d, f"delays D={d}") for d in DELAYS),
        *(model(feedback, 100) for feedback in MODELS),
        *(model(feedback, RANDOM_DELAY) for feedback in MODELS),
        *map(alike, ("unbiased", "biased")),
    ]
    return {instance.name: instance for instance in [*stored, *made]}
