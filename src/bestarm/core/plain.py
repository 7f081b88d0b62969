"""Arguments and states as JSON values, and back."""

import base64
import sys
from collections.abc import ItemsView, KeysView, Mapping, Sequence, ValuesView
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

#: Keys of objects that stand for something else than a mapping.
MAPPING, GENERATOR, ARRAY = "mapping", "generator", "array"


def ordinary(value: Any) -> Any:
    """Arrays, views of dictionaries and what pandas has, as lists and dictionaries.

    Numbers of a Series, and rows of a DataFrame, are by name if all labels of the index are texts;
    else they are a list. Any other value is returned as it is.

    Raises:
        ValueError: a name is repeated.
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, KeysView | ValuesView | ItemsView):
        return [*value]
    pandas = sys.modules.get("pandas")  # if nobody has imported it, nothing is of it
    if pandas is None or not isinstance(value, pandas.Series | pandas.DataFrame | pandas.Index):
        return value
    rows: list[Any] = value.to_numpy().tolist()
    names = [] if isinstance(value, pandas.Index) else value.index.tolist()
    if not names or not all(isinstance(name, str) for name in names):
        return rows
    if all(isinstance(row, str) for row in rows):  # names themselves
        return rows
    if len(set(names)) < len(names):
        raise ValueError("names in the index must be distinct")
    return dict(zip(names, rows, strict=True))


def plain(value: Any) -> Any:
    """A value as JSON: numbers, texts, lists; mappings as pairs, generators by their state.

    Raises:
        TypeError: the value is of another kind.
        ValueError: as for `ordinary`.
    """
    value = ordinary(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Mapping):
        return {MAPPING: [[plain(k), plain(v)] for k, v in value.items()]}
    if isinstance(value, np.random.Generator):
        return {GENERATOR: plain(value.bit_generator.state)}
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    raise TypeError(
        f"must be numbers, texts, or lists, tables or dictionaries of these, "
        f"got a {type(value).__name__}"
    )


def restored(value: Any) -> Any:
    """The value that `plain` was given, lists for all sequences."""
    if isinstance(value, list):
        return [restored(item) for item in value]
    if not isinstance(value, dict):
        return value
    if MAPPING in value:
        return {restored(k): restored(v) for k, v in value[MAPPING]}
    state = restored(value[GENERATOR])
    bits = getattr(np.random, state["bit_generator"])()
    bits.state = state
    return np.random.Generator(bits)


def tuples(value: Any) -> Any:
    """A value of JSON with tuples for all lists."""
    return tuple(map(tuples, value)) if isinstance(value, list | tuple) else value


def state_to_json(state: Any) -> Any:
    """A state of NamedTuples, dataclasses, arrays and numbers as JSON, bit for bit."""
    if isinstance(state, np.ndarray):
        data = base64.b64encode(np.ascontiguousarray(state).tobytes()).decode()
        return {ARRAY: data, "dtype": state.dtype.str, "shape": list(state.shape)}
    if isinstance(state, np.generic):
        return state.item()
    if is_dataclass(state) and not isinstance(state, type):
        return {f.name: state_to_json(getattr(state, f.name)) for f in fields(state)}
    if isinstance(state, tuple):
        return {f: state_to_json(getattr(state, f)) for f in state._fields}  # pyright: ignore
    return state


def state_from_json(like: Any, data: Any) -> Any:
    """The state that `state_to_json` was given; `like` is a state of the same strategy.

    Raises:
        ValueError, KeyError, TypeError: the data do not describe such a state.
    """
    if isinstance(like, np.ndarray):
        values = np.frombuffer(base64.b64decode(data[ARRAY]), data["dtype"])
        if values.dtype != like.dtype or len(data["shape"]) != like.ndim:
            raise ValueError("an array of another type")
        return values.reshape(data["shape"]).copy()
    if is_dataclass(like) and not isinstance(like, type):
        named = {f.name: state_from_json(getattr(like, f.name), data[f.name]) for f in fields(like)}
        return type(like)(**named)
    if isinstance(like, tuple):
        return type(like)(
            *(state_from_json(getattr(like, f), data[f]) for f in like._fields)  # pyright: ignore
        )
    return data
