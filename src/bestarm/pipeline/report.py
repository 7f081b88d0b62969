"""The parts of README.md that are computed: verdicts from the ledger, speeds from the bench."""

import re
from pathlib import Path

import pandas as pd

from bestarm.core.inputs import InputError
from bestarm.pipeline.claims import (
    CONTRADICTS,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    UNDER_READING,
)
from bestarm.pipeline.files import write_text

#: README shows this many readings of a claim; the ledger has all.
MOST_READINGS = 6

#: Verdicts in the order of the table.
VERDICTS = [
    REPRODUCED,
    UNDER_READING.replace("reading {}", "another reading"),
    NOT_REPRODUCED,
    CONTRADICTS,
    NOT_TESTABLE,
]


def verdict_table(ledger: pd.DataFrame) -> str:
    """One line a paper: claims by verdict; which other reading it took is in the ledger."""
    claims = ledger.drop_duplicates(["paper", "id"])
    kinds = claims.verdict.str.replace(r"under reading .*", "under another reading", regex=True)
    counts = pd.crosstab(claims.paper, kinds).reindex(columns=VERDICTS, fill_value=0)
    counts.insert(0, "claims", counts.sum(axis=1))
    return _markdown(counts.loc[claims.paper.unique()].reset_index())


def disagreement_table(ledger: pd.DataFrame) -> str:
    """The claims with a number that the paper's own text does not give, and what readings give.

    Of more than MOST_READINGS the paper's text, and those that support the claim.
    """
    wrong = ledger[ledger.test.eq("equals") & ledger.verdict.ne("reproduced")]
    lines = [
        {
            "claim": claim.iloc[0].id,
            "published": f"{claim.iloc[0].published:g}",
            "ours, by reading": ", ".join(
                f"{row.reading} {row.ours:.4g} [{row.low:.4g}, {row.high:.4g}]"
                for row in _telling(claim).itertuples()
            ),
            "verdict": claim.iloc[0].verdict,
        }
        for _, claim in wrong.groupby(["paper", "id"], sort=False)
    ]
    return _markdown(pd.DataFrame(lines))


def _telling(claim: pd.DataFrame) -> pd.DataFrame:
    if len(claim) <= MOST_READINGS:
        return claim
    supported = claim.supported.astype(str).eq("True")
    return pd.concat([claim.iloc[:1], claim.iloc[1:][supported.iloc[1:]]]).head(MOST_READINGS)


def speed_table(bench: pd.DataFrame) -> str:
    """What `make bench` measured, and on which machine."""
    rows = bench.fillna({"unit": ""})
    shown = pd.DataFrame(
        {
            "measure": rows.measure,
            "value": (rows.value.map("{:.3g}".format) + " " + rows.unit).str.strip(),
            "how": rows.how,
        }
    )
    return f"{_markdown(shown)}\n\nMachine: {bench.machine.iloc[0]}."


def fill(readme: str, ledger: pd.DataFrame, bench: pd.DataFrame) -> str:
    """README's text with its computed parts made anew. Raises InputError if a mark is missing."""
    parts = {
        "verdicts": verdict_table(ledger),
        "disagreements": disagreement_table(ledger),
        "speed": speed_table(bench),
    }
    for name, text in parts.items():
        marked = re.compile(rf"(<!-- computed: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marked.search(readme):
            raise InputError(f"README.md: the mark <!-- computed: {name} --> is missing")
        readme = marked.sub(lambda m, text=text: f"{m[1]}\n{text}\n\n{m[2]}", readme)
    return readme


def fill_file(readme: Path, ledger: Path, bench: Path) -> None:
    """Make README.md's computed parts anew, in place."""
    text = readme.read_text(encoding="utf-8")
    write_text(readme, fill(text, pd.read_csv(ledger), pd.read_csv(bench)))


def _markdown(table: pd.DataFrame) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *table.itertuples(index=False)]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
