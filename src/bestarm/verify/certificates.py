"""`bestarm check`: certificates, each verified by the module `check` of its paper."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bestarm import registry
from bestarm.core.inputs import InputError, read_text

#: What a paper's module raises if the data are no certificate of it.
NO_CERTIFICATE = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)


def check_certificate(path: Path) -> bool:
    """Print the claim, every line that holds and the first that does not; whether all hold.

    Raises:
        InputError: the file cannot be read, is not JSON, or is of no paper with certificates.
    """
    data = read(path)
    papers = [name for name in registry.PAPERS if find_spec(f"bestarm.{name}.check")]
    if not isinstance(data, dict) or data.get("paper") not in papers:
        raise InputError(f"{path}: paper: is required, one of {', '.join(papers)}")
    check = registry.PAPERS[data["paper"]].module("check")
    if not check.misfit(data):
        print(f"{'claim':8}{check.claim(data)}", flush=True)
    try:
        for statement, holds in check.lines(data):
            print(f"{'ok' if holds else 'REFUSED':8}{statement}", flush=True)
            if not holds:
                return False
    except NO_CERTIFICATE as error:
        print(f"{'REFUSED':8}fields: {type(error).__name__}: {error}")
        return False
    return True


def read(path: Path) -> Any:
    """The JSON of a file. Raises InputError naming the file, for a repeated key or NaN too."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not a number")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            raise ValueError("a key is repeated")
        return fields

    try:
        return json.loads(read_text(path), parse_constant=refuse, object_pairs_hook=unique)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON ({error})") from None
