"""Tidy tables: the shape of every summary and every target's CSV."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from bestarm.common.files import write_text
from bestarm.common.paper import Cell, Sources, Target
from bestarm.core.estimates import Estimate
from bestarm.core.inputs import InputError

TEXTS = ("instance", "strategy", "setting", "reading", "x_name", "statistic", "unit", "status")
NUMBERS = ("x", "value", "low", "high")

#: The columns of a table, in order; the first seven identify a row and sort it.
COLUMNS = [
    *("instance", "strategy", "setting", "reading", "x_name", "x", "statistic"),
    *("unit", "value", "low", "high", "n", "status"),
]


def cell_rows(cell: Cell, estimates: Iterable[Estimate]) -> list[dict]:
    """Estimates of a cell as rows of a table."""
    names = {
        "instance": cell.instance,
        "strategy": cell.label,
        "setting": cell.setting_label,
        "reading": cell.reading,
        "x_name": cell.x_name,
        "x": cell.x,
    }
    return [{**names, **asdict(estimate)} for estimate in estimates]


def setting_value(setting: str, name: str) -> float | None:
    """A number of a setting's label, such as its delta; None if it has none of that name."""
    text = dict(part.split("=", 1) for part in setting.split(",") if "=" in part).get(name)
    return None if text in (None, "none") else float(text)


def published_rows(published: pd.DataFrame, target: str) -> pd.DataFrame:
    """The published values of a target, as rows of its table."""
    rows = published[published.target == target]
    return rows.assign(reading="published", setting="", x_name="", status="published")


def assemble(*parts: pd.DataFrame | list[dict]) -> pd.DataFrame:
    """Put rows from several places into one table."""
    frames = [pd.DataFrame(part).reindex(columns=COLUMNS) for part in parts]
    return pd.concat([f.astype(object) for f in frames if len(f)], ignore_index=True)


def write_table(table: pd.DataFrame, path: Path | str) -> None:
    """Write a table: sorted, floats to 6 significant digits, the same bytes every time."""
    table = table[COLUMNS].astype(dict.fromkeys(NUMBERS, float) | {"n": int})
    ordered = table.sort_values(COLUMNS[:7], kind="stable", na_position="first")
    write_text(path, ordered.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def read_table(path: Path | str) -> pd.DataFrame:
    """Read a table or a data file of published values. Raises InputError naming the file."""
    try:
        return pd.read_csv(
            path,
            dtype=dict.fromkeys(TEXTS, str),
            keep_default_na=False,
            na_values={name: [""] for name in NUMBERS},
        )
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: is not a table that can be read ({error})") from None


def write_geometry(shapes: pd.DataFrame, path: Path | str) -> None:
    """Write the vertices a picture needs: any columns, in the order given, to 6 digits."""
    write_text(path, shapes.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def read_geometry(path: Path | str) -> pd.DataFrame:
    """Read what `write_geometry` wrote."""
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def read_sources(
    target: Target, summaries: list[Path], instances: Path, published: Path
) -> Sources:
    """What a target is made from; summaries come in the order of its experiments."""
    frames = [
        read_table(path).assign(experiment=name)
        for name, path in zip(target.experiments, summaries, strict=True)
    ]
    return Sources(
        summary=pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS),
        instances=json.loads(Path(instances).read_text()),
        published=read_table(published),
    )
