"""Instances of top-k identification with delayed feedback, and their ground truth."""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from bestarm.common.files import data_folder
from bestarm.common.paper import BaseInstance, Names, PerArm, Problems
from bestarm.core.inputs import Input, InputError, PositiveFloat, PositiveInt, load
from bestarm.delayed.data import recorded
from bestarm.delayed.world import NO_RECORDS, Problem, Records

Feedback = Literal["full", "incremental", "unbiased", "biased", "recorded"]


class Spread(Input):
    """A delay drawn independently for every pull, uniformly on low, ..., high steps."""

    low: PositiveInt
    high: PositiveInt

    @model_validator(mode="after")
    def _ordered(self):
        if self.high < self.low:
            raise ValueError(f"high: must be at least low, {self.low}, got {self.high}")
        return self


def _spread(value: Any) -> Any:
    """Turn a number of steps into a constant delay."""
    return {"low": value, "high": value} if isinstance(value, int | float) else value


def always(steps: int) -> Spread:
    """A constant delay."""
    return Spread(low=steps, high=steps)


Delay = Annotated[Spread, BeforeValidator(_spread)]


class Table(Input):
    """A table of recorded pulls under data/, see `recorded.TABLES`."""

    name: Literal["battery", "mip"]
    sha256: str


class Instance(BaseInstance):
    """Arms whose rewards arrive some time steps after a pull starts. The answer is the top k.

    With a `table`, a pull is drawn uniformly from the recorded pulls of its arm; `means`, `sigma`
    and `delay` then describe these.
    """

    paper: Literal["delayed"] = "delayed"
    means: list[float] = Field(min_length=1, description="(n,) mean rewards")
    top: PositiveInt = Field(default=1, description="k, how many arms are looked for")
    sigma: list[PositiveFloat] = Field(
        default=[1.0], min_length=1, description="standard deviation of a reward; one, or by arm"
    )
    feedback: Feedback = Field(
        default="unbiased", description="before the reward, see Section 2 of the paper"
    )
    sigma_p: PositiveFloat | None = Field(
        default=None, description="standard deviation of noisy partial feedback given the reward"
    )
    bias: list[float] | None = Field(default=None, description="(n,) of biased partial feedback")
    delay: list[Delay] = Field(
        min_length=1, description="time steps from a pull to its reward; one, or by arm"
    )
    arms: Names = None
    shuffled: bool = Field(default=False, description="whether every run permutes the arms")
    table: Table | None = Field(default=None, description="recorded pulls to draw from")

    @field_validator("sigma", mode="before", json_schema_input_type=PerArm[PositiveFloat])
    @classmethod
    def _sigma_of_all(cls, value):
        return value if isinstance(value, list) else [value]

    @field_validator("delay", mode="before", json_schema_input_type=PerArm[PositiveInt | Spread])
    @classmethod
    def _delay_of_all(cls, value):
        return value if isinstance(value, list) else [value]

    @field_validator("sigma", "bias", "delay", "arms")
    @classmethod
    def _fits(cls, value, info: ValidationInfo):
        means = info.data.get("means")
        alone = info.field_name in ("sigma", "delay") and len(value) == 1
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
                f"means: must have a unique top {self.top}, but the means ranked {self.top} and "
                f"{self.top + 1} are equal"
            )
        noisy = self.feedback in ("unbiased", "biased")
        if noisy != (self.sigma_p is not None):
            needed = "required" if noisy else "not used"
            raise ValueError(f"sigma_p: is {needed} with feedback {self.feedback}")
        if (self.feedback == "biased") != (self.bias is not None):
            needed = "required" if self.feedback == "biased" else "not used"
            raise ValueError(f"bias: is {needed} with feedback {self.feedback}")
        if (self.feedback == "recorded") != (self.table is not None and self.table.name == "mip"):
            raise ValueError("feedback: must be recorded for table mip, and only for it")
        if self.table is not None and self.feedback in ("incremental", "biased"):
            raise ValueError(f"feedback: cannot be {self.feedback} for recorded pulls")
        return self

    @property
    def arm_names(self) -> list[str]:
        return self.arms or [f"arm {a + 1}" for a in range(len(self.means))]

    @property
    def problem(self) -> Problem:
        """The instance as kernels take it."""
        delays = self.delay if len(self.delay) > 1 else self.delay * len(self.means)
        low = np.array([delay.low for delay in delays])
        high = np.array([delay.high for delay in delays])
        means = np.array(self.means, dtype=float)
        bias = np.array(self.bias, dtype=float) if self.bias else np.zeros(means.size)
        sigma = np.broadcast_to(np.array(self.sigma), means.shape).copy()
        sigma_p = 1.0 if self.feedback == "recorded" else self.sigma_p or 0.0
        return Problem(means, bias, low, high, sigma, sigma_p, self._records())

    def _records(self) -> Records:
        """Raises InputError if the table is not the version that the instance was made from."""
        if self.table is None:
            return NO_RECORDS
        if recorded.digest(self.table.name) != self.table.sha256:
            path = recorded.table_path(self.table.name)
            raise InputError(f"{path}: is not the table that instance {self.name} was made from")
        return recorded.records(self.table.name)[1]


class Quality(Input):
    """The quality of recorded forecasts at a step, over the pulls of all arms still running."""

    step: int
    share: float  # of pulls still running
    bias: float  # mean forecast - reward
    error: float  # root mean square of the same
    spread: float  # root mean square of the standard deviation assigned to it
    within: float  # share of these pulls whose error is at most their spread
    correlation: float | None  # of errors with those at the step before


class Truth(Input):
    """The ground truth of an instance; arms are counted from 1."""

    answer: list[int]  # (k,) the top k, ascending
    gaps: list[float] | None  # (n,) to the best arm outside the top k, or to the worst in it
    hardness: float | None  # sum of (sigma / gap)^2, in pulls
    forecasts: list[Quality] | None = None  # by step, if recorded


def truth(instance: Instance) -> Truth:
    """The ground truth of an instance; with k = n no arm has a gap."""
    means, k = np.array(instance.means), instance.top
    order = np.argsort(-means, kind="stable")
    answer = sorted(int(a) + 1 for a in order[:k])
    if k == means.size:
        return Truth(answer=answer, gaps=None, hardness=None)
    inside, outside = means[order[k - 1]], means[order[k]]
    gaps = np.where(means >= inside, means - outside, inside - means)
    hardness = float((instance.problem.sigma**2 / gaps**2).sum())
    forecasts = qualities(instance.problem.records) if instance.feedback == "recorded" else None
    return Truth(answer=answer, gaps=gaps.tolist(), hardness=hardness, forecasts=forecasts)


def _correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    """The correlation of two samples; None if it is not defined."""
    return float(np.corrcoef(x, y)[0, 1]) if x.size > 2 and x.std() * y.std() > 0.0 else None


def qualities(pulls: Records) -> list[Quality]:
    """The quality of forecasts at every step after which some pulls are still running."""
    by_step = []
    errors = pulls.forecasts - pulls.rewards[:, :, None]
    for s in range(pulls.delays.max() - 1):
        on = pulls.delays > s + 1
        error, spread = errors[on, s], pulls.spreads[on, s]
        by_step.append(
            Quality(
                step=s + 1,
                share=on.mean(),
                bias=error.mean(),
                error=np.sqrt((error**2).mean()),
                spread=np.sqrt((spread**2).mean()),
                within=(abs(error) <= spread).mean(),
                correlation=_correlation(errors[on, s - 1], error) if s > 0 else None,
            )
        )
    return by_step


#: Section 5.1 and the published experiments: numbers of arms, and the delays of Figure 1c.
SIZES, DELAYS = (10, 20, 50, 100), (10, 20, 50, 100, 200, 500, 1000)
#: The study of the four feedback models beyond the paper, and its random delay.
MODELS: tuple[Feedback, ...] = ("full", "incremental", "unbiased", "biased")
RANDOM_DELAY = Spread(low=50, high=150)
#: Random delay in the study of coverage.
RANDOM_WAIT = Spread(low=1, high=19)
#: Figure 2: standard deviations of the forecasts of a cell's life, in cycles.
SIGMAS_P = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


def bounded(n: int, first: int = 0) -> Instance:
    """Means in [4, 5]: mu_i = 5 - (i / n)^0.6.

    i = 0, ..., n - 1 in the published program; i = 1, ..., n, which is `first` = 1, in the text.
    """
    family = "bounded from 1" if first else "bounded"
    return Instance(
        name=f"{family} n={n}",
        family=family,
        parameters={"n_arms": n},
        source="Section 5.1, Figure 1a",
        means=[5.0 - ((first + i) / n) ** 0.6 for i in range(n)],
        top=n // 5,
        sigma=[0.03],
        sigma_p=0.03,
        delay=[always(50)],
        shuffled=True,
    )


def free(n: int) -> Instance:
    """Means spaced by 1: mu_i = 2 n - i, i = 0, ..., n - 1."""
    return Instance(
        name=f"free n={n}",
        family="free",
        parameters={"n_arms": n},
        source="Section 5.1, Figures 1b and 1c",
        means=[float(2 * n - i) for i in range(n)],
        top=n // 5,
        sigma=[0.5],
        sigma_p=0.25,
        delay=[always(100)],
        shuffled=True,
    )


def delays(delay: int) -> Instance:
    """A hundred free means with a constant delay of that many steps."""
    name_and_family = {
        "name": f"delays D={delay}",
        "family": "delays",
        "parameters": {"delay": delay},
    }
    return Instance.model_validate(free(100).model_dump() | name_and_family | {"delay": [delay]})


def model(feedback: Feedback, delay: int | Spread) -> Instance:
    """Twenty free means under one of the four models; biases of -2 to 2."""
    like = free(20).model_dump()
    random = "" if isinstance(delay, int) else ", random delay"
    noisy = feedback in ("unbiased", "biased")
    biases = [float(i % 5 - 2) for i in range(20)]
    return Instance(
        **like
        | {
            "name": f"{feedback}{random}",
            "family": "",
            "parameters": {},
            "source": "beyond the paper",
            "feedback": feedback,
            "delay": [delay],
            "sigma_p": 0.25 if noisy else None,
            "bias": biases if feedback == "biased" else None,
        }
    )


def alike(feedback: Feedback, delay: int | Spread = 10) -> Instance:
    """Two arms too close to be separated, for runs of any length in the study of coverage."""
    random = "" if isinstance(delay, int) else ", random delay"
    return Instance(
        name=f"alike, {feedback}{random}",
        source="beyond the paper",
        means=[1e-9, 0.0],
        feedback=feedback,
        sigma_p=1.0 if feedback in ("unbiased", "biased") else None,
        bias=[1.0, -1.0] if feedback == "biased" else None,
        delay=[always(delay) if isinstance(delay, int) else delay],
    )


def from_table(table: Literal["battery", "mip"], **more: Any) -> Instance:
    """An instance from recorded pulls, with their means, standard deviations and delays."""
    names, pulls = recorded.records(table)
    delays = zip(pulls.delays.min(axis=1), pulls.delays.max(axis=1), strict=True)
    return Instance(
        means=pulls.rewards.mean(axis=1).tolist(),
        sigma=pulls.rewards.std(axis=1).tolist(),
        delay=[Spread(low=int(low), high=int(high)) for low, high in delays],
        arms=list(names),
        shuffled=True,
        table=Table(name=table, sha256=recorded.digest(table)),
        **more,
    )


def battery(sigma_p: float) -> Instance:
    """Forty charging policies whose pulls cycle a cell to its end; sigma_p in cycles."""
    return from_table(
        "battery",
        name=f"battery sigma_p={sigma_p:g}",
        family="battery",
        parameters={"sigma_p": sigma_p},
        source="Section 5.2, Figure 2",
        sigma_p=sigma_p,
    )


def mip() -> Instance:
    """The 32 ways to switch five families of cuts on or off."""
    return from_table("mip", name="mip", source="Section 5.3", feedback="recorded")


def instances() -> dict[str, Instance]:
    """Those of data/instances/delayed by name, the paper's families, and those beyond it."""
    folder = data_folder() / "instances/delayed"
    stored = [load(Instance, Path(p)) for p in sorted(folder.glob("*.yaml"))]
    made = [
        *map(bounded, SIZES),
        *(bounded(n, first=1) for n in SIZES),
        *map(free, SIZES),
        *map(delays, DELAYS),
        *(model(feedback, 100) for feedback in MODELS),
        *(model(feedback, RANDOM_DELAY) for feedback in MODELS),
        *map(alike, MODELS),
        *(alike(feedback, RANDOM_WAIT) for feedback in MODELS if feedback != "incremental"),
        *map(battery, SIGMAS_P),
        mip(),
    ]
    return {instance.name: instance for instance in [*stored, *made]}


PARAMETERS = {
    "n_arms": "arms",
    "delay": "D, time steps that a pull takes",
    "sigma_p": "standard deviation of a forecast of a cell's life, in cycles",
}
KEPT = tuple(recorded.TABLES.values())
PROBLEMS = Problems(Instance, instances, truth, kept=KEPT, parameters=PARAMETERS)
