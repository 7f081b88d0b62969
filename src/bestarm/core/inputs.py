"""User input: strict models, and errors that name the file and the field."""

from collections.abc import Hashable
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar, cast

import pydantic
import yaml
from pydantic_core import ErrorDetails
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from bestarm.core.errors import InputError as InputError

#: More than any handwritten file has; YAML of this size is parsed in half a minute.
MOST_CHARACTERS = 1_000_000


class Input(pydantic.BaseModel):
    """A validated, immutable piece of input: unknown fields and infinite numbers are refused.

    Example:
        >>> class Question(Input):
        ...     delta: Probability = 0.05
        >>> Question().delta
        0.05
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


Model = TypeVar("Model", bound=pydantic.BaseModel)
Value = TypeVar("Value")
Several = TypeVar("Several")

#: Tags of `OneOrEach`; messages leave them out of the names of fields.
ONE, EACH = "<one>", "<each>"


def _one_or_each(value: Any) -> str:
    return EACH if isinstance(value, list | tuple) else ONE


#: One for all, or a list: a wrong value is refused as whichever of both it looks like.
OneOrEach: TypeAlias = Annotated[
    Annotated[Value, pydantic.Tag(ONE)] | Annotated[Several, pydantic.Tag(EACH)],
    pydantic.Discriminator(_one_or_each),
]

#: delta, the maximum probability of a wrong answer.
Probability = Annotated[float, pydantic.Field(gt=0.0, lt=1.0)]
PositiveInt = Annotated[int, pydantic.Field(gt=0)]
PositiveFloat = Annotated[float, pydantic.Field(gt=0.0)]
#: Sizes of numbers other than 0: fourth powers of their ratios are still far from overflowing.
SMALLEST, LARGEST = 1e-15, 1e15
SIZES = f"0 or of size {SMALLEST:g} to {LARGEST:g}"


def _of_size(value: float) -> float:
    if value and not SMALLEST <= abs(value) <= LARGEST:
        raise ValueError(f"must be {SIZES}, got {short(value)}")
    return value


#: A number of such a size, a positive one, and one that may be 0.
Sized = Annotated[float, pydantic.AfterValidator(_of_size)]
Scale = Annotated[float, pydantic.Field(gt=0.0), pydantic.AfterValidator(_of_size)]
Tolerance = Annotated[float, pydantic.Field(ge=0.0), pydantic.AfterValidator(_of_size)]
#: Pulls or time steps of a run; twice the largest still fits a 64-bit integer.
MOST_PULLS = 10**15
Pulls = Annotated[int, pydantic.Field(gt=0, le=MOST_PULLS)]
#: Pulls that run at a time, and arms that are counted.
MOST_AT_A_TIME = MOST_ARMS = 10**6
Batch = Annotated[int, pydantic.Field(gt=0, le=MOST_AT_A_TIME)]


class _StrictLoader(yaml.SafeLoader):
    """Safe YAML in which a repeated key is an error, not a silent overwrite.

    Aliases are refused: nested, a few lines of them expand to more than fits into memory.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event: Any = cast(Any, self).get_event()
            problem = f"an alias, *{event.anchor}, cannot be used here"
            raise ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key, _ in node.value:
            name: Any = cast(Any, self).construct_object(key, deep=True)
            if not isinstance(name, Hashable) or name in seen:
                problem = f"repeated or unusable key {short(name)}"
                raise ConstructorError(None, None, problem, key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


def read_text(path: Path) -> str:
    """The text of a file. Raises InputError naming the file if it cannot be read.

    Example:
        >>> read_text(Path("no such file"))
        Traceback (most recent call last):
            ...
        bestarm.core.errors.InputError: no such file: No such file or directory
    """
    try:
        with Path(path).open(encoding="utf-8") as file:
            text = file.read(MOST_CHARACTERS + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text") from None
    except ValueError:
        raise InputError(f"{path}: is not the name of a file") from None
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"{path}: must be at most {MOST_CHARACTERS:,} characters long")
    return text


def load_yaml(path: Path) -> Any:
    """Parse a YAML file. Raises InputError naming the file, and the line if known.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "x.yaml"
        ...     _ = path.write_text("paper: baics")
        ...     load_yaml(path)
        {'paper': 'baics'}
    """
    text = read_text(path)
    try:
        return yaml.load(text, Loader=_StrictLoader)
    except Exception as error:  # a tag that does not fit its value, such as !!bool x: any kind
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}:" if mark else ""
        what = getattr(error, "problem", None) or "is not valid YAML"
        raise InputError(f"{path}:{where} {what}") from None


def parse(model: type[Model], data: Any, source: str) -> Model:
    """Validate `data`. Raises InputError naming `source`, the field and what is allowed.

    Example:
        >>> class Question(Input):
        ...     delta: Probability
        >>> parse(Question, {"delta": 2}, "x.yaml")
        Traceback (most recent call last):
            ...
        bestarm.core.errors.InputError: x.yaml: delta: must be less than 1, got 2
    """
    if not isinstance(data, dict):
        raise InputError(f"{source}: must hold fields ({_fields(model)}), got {short(data)}")
    try:
        return model.model_validate(data)
    except pydantic.ValidationError as error:
        # report an unknown field first: a misspelled name also makes the right one missing
        first, *others = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        more = f" (and {len(others)} more)" if others else ""
        raise InputError(f"{source}: {_explain(first, model)}{more}") from None


def load(model: type[Model], path: Path) -> Model:
    """Read and validate a YAML file. Raises InputError naming the file and the field.

    Example:
        >>> import tempfile
        >>> class Question(Input):
        ...     delta: Probability
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "x.yaml"
        ...     _ = path.write_text("delta: 0.1")
        ...     load(Question, path)
        Question(delta=0.1)
    """
    return parse(model, load_yaml(path), str(path))


def _explain(error: ErrorDetails, model: type[pydantic.BaseModel]) -> str:
    """One pydantic error as `field: allowed values, got value`."""
    parts = [part for part in error["loc"] if part not in (ONE, EACH)]
    field = ".".join(str(part + 1 if isinstance(part, int) else part) for part in parts)
    if error["type"] == "extra_forbidden":
        return f"{field}: unknown field, allowed are {_fields(model)}"
    if error["type"] == "missing":
        return f"{field}: is required"
    message = _allowed(error)
    got = "" if error["type"] == "value_error" else f", got {short(error['input'])}"
    return f"{field}: {message}{got}" if field else f"{message}{got}"


#: What is allowed, by the beginning of an error's type.
ALLOWED = {
    "too_short": "must hold at least {min_length}",
    "too_long": "must hold at most {max_length}",
    "list": "must be a list",
    "dict": "must hold fields",
    "float": "must be a number",
    "int": "must be a whole number",
    "string_type": "must be a text",
    "bool": "must be true or false",
    "finite_number": "must be a finite number",
}


def _allowed(error: ErrorDetails) -> str:
    for beginning, words in ALLOWED.items():
        if error["type"].startswith(beginning):
            return words.format_map(error.get("ctx", {}))
    message = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return message if error["type"] == "value_error" else f"must be {message}"


def _fields(model: type[pydantic.BaseModel]) -> str:
    return ", ".join(model.model_fields)


def short(value: Any) -> str:
    """A value in at most 40 characters, for messages.

    Example:
        >>> short("ten")
        "'ten'"
    """
    try:
        text = repr(value)
    except ValueError:
        text = "an integer of thousands of digits"
    return text if len(text) <= 40 else text[:37] + "..."
