"""Two Gaussian arms; which has the larger mean?"""

from typing import Literal

from bestarm.core.inputs import Input


class Instance(Input):
    paper: Literal["toy"] = "toy"
    name: str
    means: list[float]


class Truth(Input):
    answer: int


def truth(instance: Instance) -> Truth:
    return Truth(answer=int(instance.means[1] > instance.means[0]))


def instances() -> dict[str, Instance]:
    return {"two-arms": Instance(name="two-arms", means=[0.0, 0.3])}
