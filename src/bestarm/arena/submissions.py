"""Strategies that people submit: arena/NAME.yaml and a Python class."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator

from bestarm import registry
from bestarm.common.files import data_folder
from bestarm.common.user_strategies import UserStrategy
from bestarm.core.inputs import Input, InputError, load
from bestarm.core.pure_exploration.strategies import STRATEGIES
from bestarm.users import plugins

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class Submission(Input):
    """What a submission says of itself."""

    name: Text = Field(description="of the strategy, in tables and pictures")
    strategy: Text = Field(description="FILE.py:CLASS beside this file, or MODULE:CLASS")
    papers: list[Text] = Field(min_length=1, description="whose instances it plays")
    promise: Literal["proven", "not proven"] = Field(
        description="whether it is proved to err with probability at most delta"
    )
    reference: Text = Field(description="where it is described, and proved if it is")
    licence: Text = Field(description="of its code, as an SPDX identifier")
    runs: int = Field(default=500, ge=50, le=500, description="of each cell; fewer if it is slow")

    @field_validator("papers")
    @classmethod
    def _known(cls, value: list[str]) -> list[str]:
        for paper in value:
            if paper not in registry.PAPERS:
                raise ValueError(f"must be of {', '.join(registry.PAPERS)}, got {paper}")
        return value

    @field_validator("strategy")
    @classmethod
    def _names_a_class(cls, value: str) -> str:
        where, _, name = value.partition(":")
        if not where or not name.isidentifier():
            raise ValueError(f"must be FILE.py:CLASS or MODULE:CLASS, got {value}")
        return value


def submissions_folder() -> Path:
    """arena/ of a checkout."""
    return data_folder().parent / "arena"


def submissions(folder: Path | None = None) -> list[Submission]:
    """Those of a folder, by name of the file; none if there is no such folder.

    Raises:
        InputError: a file is not a submission, naming it and the field; or a name is used twice,
            or is that of a strategy of this package.
    """
    folder = folder or submissions_folder()
    taken = {name for paper in registry.PAPERS.values() for name in paper.simulation.readings}
    taken |= STRATEGIES.keys()
    listed: list[Submission] = []
    for path in sorted(folder.glob("*.yaml")):
        submission = load(Submission, path)
        if submission.name in taken:
            raise InputError(f"{path}: name: {submission.name} is taken; choose another")
        taken.add(submission.name)
        listed.append(submission)
    return listed


def load_submission(submission: Submission, folder: Path | None = None) -> UserStrategy:
    """The class of a submission, under the submission's name.

    Raises:
        InputError: there is none.
    """
    where, _, name = submission.strategy.partition(":")
    if where.endswith(".py"):
        module: Any = plugins.load_file(submission_file(submission, folder))
    else:
        try:
            module = import_module(where)
        except ImportError as error:
            raise InputError(f"{submission.name}: strategy: {error}") from None
    if not hasattr(module, name):
        raise InputError(f"{submission.name}: strategy: {where} has no {name}")
    return plugins.user_strategy(getattr(module, name), submission.name, submission.strategy)


def submission_file(submission: Submission, folder: Path | None = None) -> Path:
    """The file that the class of a submission is in.

    Raises:
        InputError: it is of a module that is not installed.
    """
    where = submission.strategy.partition(":")[0]
    if where.endswith(".py"):
        return (folder or submissions_folder()) / where
    try:
        spec = find_spec(where)
    except ImportError as error:
        raise InputError(f"{submission.name}: strategy: {error}") from None
    if spec is None or spec.origin is None:
        raise InputError(f"{submission.name}: strategy: there is no module {where}")
    return Path(spec.origin)
