"""`bestarm check`: certificates, each verified by the module `check` of its paper."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bestarm.core.inputs import InputError, read_text
from bestarm.pipeline import registry

#: What a paper's module raises if the data are no certificate of it.
NO_CERTIFICATE = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)


def check_certificate(path: Path) -> bool:
    """Print every line that holds, then the first that does not; returns whether all hold.

    Raises:
        InputError: the file cannot be read, is not JSON, or is of no paper with certificates.
    """
    data = _read(path)
    papers = [name for name in registry.PAPERS if find_spec(f"bestarm.{name}.check")]
    if not isinstance(data, dict) or data.get("paper") not in papers:
        raise InputError(f"{path}: paper: is required, one of {', '.join(papers)}")
    try:
        for said, holds in registry.PAPERS[data["paper"]].module("check").lines(data):
            print(f"{'ok' if holds else 'REFUSED':8}{said}", flush=True)
            if not holds:
                return False
    except NO_CERTIFICATE as error:
        print(f"{'REFUSED':8}fields: {type(error).__name__}: {error}")
        return False
    return True


def _read(path: Path) -> Any:
    """The JSON of a file. Raises InputError naming the file, for infinite numbers too."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not a number")

    try:
        return json.loads(read_text(path), parse_constant=refuse)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON ({error})") from None
