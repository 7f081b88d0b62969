"""Two Gaussian arms; which has the larger mean?"""

from typing import Literal

from bestarm.common.paper import BaseInstance, Problems
from bestarm.core.inputs import Input


class Instance(BaseInstance):
    paper: Literal["toy"] = "toy"
    means: list[float]


class Truth(Input):
    answer: int
    gap: float


def truth(instance: Instance) -> Truth:
    gap = instance.means[1] - instance.means[0]
    return Truth(answer=int(gap > 0.0), gap=gap)


def instances() -> dict[str, Instance]:
    return {"two-arms": Instance(name="two-arms", means=[0.0, 0.3])}


PROBLEMS = Problems(Instance, instances, truth)
