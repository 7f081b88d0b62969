"""Instances of best-arm identification in linear bandits, and their ground truth."""

import csv
import math
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from bestarm.common.files import data_folder
from bestarm.common.paper import BaseInstance, Names, Problems
from bestarm.core.inputs import Input, InputError, PositiveFloat, load, read_text
from bestarm.linear.complexity import Complexity, complexity

#: Every strategy keeps numbers for all pairs of arms: for so many about 1 GB, RAGE d times that.
MOST_ARMS = 5_000
Vector = Annotated[list[float], Field(min_length=1)]


class Problem(NamedTuple):
    """The instance as kernels take it, in units of the noise."""

    arms: np.ndarray  # (K, d) in coordinates of the space they span
    means: np.ndarray  # (K,)
    norm: float  # ||theta*||


class Instance(BaseInstance):
    """Arms x in R^d, with Gaussian rewards of mean x . theta. The answer is the best arm."""

    paper: Literal["linear"] = "linear"
    arms: list[Vector] = Field(
        min_length=2,
        max_length=MOST_ARMS,
        description="(K, d) the arms; or the name of a CSV file with one per line",
    )
    theta: Vector = Field(description="(d,) the mean reward of an arm x is x . theta")
    sigma: PositiveFloat = Field(default=1.0, description="standard deviation of a reward")
    names: Names = None

    @field_validator("arms")
    @classmethod
    def _rectangular(cls, arms: list[list[float]]):
        for number, arm in enumerate(arms, 1):
            if len(arm) != len(arms[0]):
                raise ValueError(f"arm {number} must have {len(arms[0])} entries, got {len(arm)}")
        if len({tuple(arm) for arm in arms}) < len(arms):
            raise ValueError("must be distinct")
        return arms

    @field_validator("theta", "names")
    @classmethod
    def _fits(cls, value, info: ValidationInfo):
        arms = info.data.get("arms")
        if arms and value is not None:
            length = len(arms[0]) if info.field_name == "theta" else len(arms)
            if len(value) != length:
                raise ValueError(f"must have {length} entries to fit arms, got {len(value)}")
        return value

    @model_validator(mode="after")
    def _one_best_arm(self):
        means = np.sort(np.array(self.arms) @ self.theta)
        if not means[-1] > means[-2]:
            raise ValueError("theta: must make one arm the best, here several are")
        return self

    @cached_property
    def problem(self) -> Problem:
        arms = np.array(self.arms)
        means = arms @ self.theta / self.sigma
        span = span_basis(arms)
        inside = span.T @ self.theta
        return Problem(arms @ span, means, float(np.linalg.norm(inside)) / self.sigma)

    @property
    def arm_names(self) -> list[str]:
        return self.names or [f"x{a + 1}" for a in range(len(self.arms))]


def span_basis(arms: np.ndarray) -> np.ndarray:
    """(d, rank) an orthonormal basis of the arms' span: the identity if they span R^d."""
    d = arms.shape[1]
    _, sizes, rows = np.linalg.svd(arms, full_matrices=False)
    rank = int((sizes > 1e-10 * sizes[0]).sum())
    return np.eye(d) if rank == d else rows[:rank].T


class Truth(Input):
    """The ground truth of an instance; arms are counted from 1."""

    answer: int
    gaps: list[float]  # (K,) to the best arm, in the rewards' unit
    arms: int  # K
    dimension: int  # d, of the arms' span
    complexity: Complexity


def truth(instance: Instance) -> Truth:
    """The ground truth of an instance."""
    problem = instance.problem
    best = int(np.argmax(problem.means))
    return Truth(
        answer=best + 1,
        gaps=((problem.means[best] - problem.means) * instance.sigma).tolist(),
        arms=len(problem.arms),
        dimension=problem.arms.shape[1],
        complexity=complexity(problem.arms, problem.means),
    )


def with_files(data: dict[str, Any], path: Path) -> dict[str, Any]:
    """An instance file's fields, with `arms: FILE.csv` replaced by the contents of that file.

    Args:
        data: as read.
        path: of the instance file; the CSV file is relative to its folder.
    """
    if not isinstance(data.get("arms"), str):
        return data
    names, arms = read_arms(Path(path).parent / data["arms"])
    return {**data, "arms": arms} | ({"names": names} if names and "names" not in data else {})


def read_arms(path: Path) -> tuple[list[str] | None, list[list[float]]]:
    """Arms from a CSV file: one line per arm, optionally its name first and a line of headings.

    Raises:
        InputError: naming the file and the line.
    """
    lines = read_text(path).splitlines()
    try:
        rows = list(enumerate(csv.reader(lines), 1))
    except csv.Error as error:
        raise InputError(f"{path}: is not a CSV file ({error})") from None
    rows = [(number, row) for number, row in rows if any(cell.strip() for cell in row)]
    if not rows:
        raise InputError(f"{path}: holds no arms")
    if len(rows) > 1 and not _numbers(rows[0][1][1:] or rows[0][1]):
        rows = rows[1:]
    named = not _numbers(rows[0][1][:1])
    arms = []
    for number, row in rows:
        cells = row[1:] if named else row
        if not cells or not _numbers(cells):
            raise InputError(f"{path}: line {number}: must hold numbers, got {','.join(row)}")
        arms.append([float(cell) for cell in cells])
    return [row[0].strip() for _, row in rows] if named else None, arms


def _numbers(cells: list[str]) -> bool:
    try:
        return all(math.isfinite(float(cell)) for cell in cells)
    except ValueError:
        return False


#: Section 6: the angle between the best arm and the next, and the dimensions of Figure 4.
OMEGA, DIMENSIONS = 0.01, range(2, 11)
#: The study beyond the paper: random unit vectors in R^5.
SIZES, SEEDS = (6, 10, 20, 40), range(5)


def paper_instance(d: int) -> Instance:
    """Section 6: the canonical basis and (cos w, sin w, 0, ...), theta* = (2, 0, ...)."""
    near = [math.cos(OMEGA), math.sin(OMEGA)] + [0.0] * (d - 2)
    return Instance(
        name=f"d={d}",
        family="canonical",
        parameters={"d": d},
        source="Section 6",
        arms=[*np.eye(d).tolist(), near],
        theta=[2.0] + [0.0] * (d - 1),
    )


def random_instance(n_arms: int, seed: int) -> Instance:
    """Unit vectors drawn uniformly in R^5; theta* is the first of them."""
    arms = np.random.default_rng([n_arms, seed]).normal(size=(n_arms, 5))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    return Instance(
        name=f"random K={n_arms} seed={seed}",
        family="random",
        parameters={"n_arms": n_arms, "seed": seed},
        source="beyond the paper",
        arms=arms.tolist(),
        theta=arms[0].tolist(),
    )


def instances() -> dict[str, Instance]:
    """Those of data/instances/linear by name, the paper's family, and the random ones."""
    stored = [
        load(Instance, p) for p in sorted((data_folder() / "instances/linear").glob("*.yaml"))
    ]
    made = [paper_instance(d) for d in DIMENSIONS]
    drawn = [random_instance(n_arms, seed) for n_arms in SIZES for seed in SEEDS]
    return {instance.name: instance for instance in [*stored, *made, *drawn]}


PARAMETERS = {"d": "dimension", "n_arms": "arms", "seed": "of the generator that drew the arms"}
PROBLEMS = Problems(Instance, instances, truth, with_files, ("arms",), parameters=PARAMETERS)
