"""Numbers of the verdicts table in prose, and the findings that README and site begin with."""

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from bestarm.common.prose import number, printed, wrapped
from bestarm.core.inputs import Input, InputError, load_yaml, parse

SOURCE = "data/claims/findings.yaml"

#: A number of the verdicts table in a template: {{PAPER CLAIM READING COLUMN}}.
PLACE = re.compile(r"\{\{(\S+) (\S+) (\S+) (\S+)\}\}")


class Finding(Input):
    """A finding as written, numbers as places in the verdicts table."""

    headline: str
    text: str
    check: str  # the command that checks it
    figure: str  # PAPER/TARGET
    unit: str  # of the marks
    marks: list[tuple[str, str]]  # labels and places


class Findings(Input):
    findings: list[Finding]


class Bar(NamedTuple):
    """A number drawn: its label, its text and its share of the largest."""

    label: str
    text: str
    share: float


def read_findings(root: Path) -> list[Finding]:
    """data/claims/findings.yaml. Raises InputError naming a wrong field."""
    return parse(Findings, {"findings": load_yaml(root / SOURCE)}, SOURCE).findings


def as_markdown(findings: list[Finding], verdicts: pd.DataFrame) -> str:
    """A paragraph per finding."""
    texts = [
        f"**{finding.headline}** {finding.text.strip()} Check: `{finding.check}`."
        for finding in findings
    ]
    return "\n\n".join(wrapped(filled(text, verdicts)) for text in texts)


def is_known(finding: Finding, verdicts: pd.DataFrame) -> bool:
    """Whether the table of verdicts, maybe of a partial build, has all numbers of a finding."""
    places = PLACE.findall(" ".join([finding.text, *(place for _, place in finding.marks)]))
    lines = set(zip(verdicts.paper, verdicts.id, verdicts.reading, strict=True))
    return all(place[:3] in lines for place in places)


def bars(finding: Finding, verdicts: pd.DataFrame) -> list[Bar]:
    """The marks of a finding."""
    texts = [filled(place, verdicts) for _, place in finding.marks]
    values = [float(text.replace(",", "")) for text in texts]
    marks = zip(finding.marks, texts, values, strict=True)
    return [Bar(label, text, value / max(values)) for (label, _), text, value in marks]


def filled(template: str, verdicts: pd.DataFrame) -> str:
    """Prose whose numbers are looked up in the verdicts table.

    A column is one of the verdicts table's, or `interval` for low and high.

    Raises:
        InputError: there is no such line or column.
    """
    return PLACE.sub(lambda place: look_up(verdicts, place.groups(), SOURCE), template)


def look_up(verdicts: pd.DataFrame, place: tuple[str, ...], source: str) -> str:
    """A number of verdicts in words. Raises InputError naming `source` if it is not there."""
    paper, claim, reading, column = place
    lines = verdicts[
        (verdicts.paper == paper) & (verdicts.id == claim) & (verdicts.reading == reading)
    ]
    if lines.empty or (column != "interval" and column not in lines):
        raise InputError(f"{source}: {' '.join(place)}: is not in the verdicts table")
    line = lines.iloc[0]
    if column == "interval":
        return f"{number(line.low)} to {number(line.high)}"
    return printed(line[column]) if column == "published" else number(line[column])
