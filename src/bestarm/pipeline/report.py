"""The computed parts of README.md and docs/: verdicts from the ledger, speeds from the bench.

A page marks such a part with `<!-- computed: NAME -->` and `<!-- end -->`; what is between them is
written here.
"""

import re
import textwrap
from pathlib import Path

import pandas as pd

from bestarm.core.inputs import InputError, read_text
from bestarm.pipeline.claims import (
    CONTRADICTS,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    UNDER_READING,
    reading_of,
)
from bestarm.pipeline.files import write_text

#: Pages with computed parts, and which.
PAGES = {
    "README.md": ("verdicts", "findings", "times", "strategies"),
    "docs/disagreements.md": ("disagreements",),
    "docs/speed.md": ("speed",),
}

#: A number of the ledger in prose: {{PAPER CLAIM READING COLUMN}}.
PLACE = re.compile(r"\{\{(\S+) (\S+) (\S+) (\S+)\}\}")

#: Tables show this many readings of a claim; the ledger has all.
MOST_READINGS = 6

#: Verdicts in the order of the table.
OTHER_READING = UNDER_READING.format("").replace(" reading ", " another reading")
VERDICTS = [REPRODUCED, OTHER_READING, NOT_REPRODUCED, CONTRADICTS, NOT_TESTABLE]


def verdict_table(ledger: pd.DataFrame) -> str:
    """One line a paper: claims by verdict; which other reading it took is in the ledger."""
    claims = ledger.drop_duplicates(["paper", "id"])
    kinds = claims.verdict.map(lambda verdict: OTHER_READING if reading_of(verdict) else verdict)
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


def findings(template: str, ledger: pd.DataFrame) -> str:
    """Prose whose numbers are looked up in the ledger.

    A column is one of the ledger's, or `interval` for low and high.

    Raises:
        InputError: there is no such line or column.
    """

    def look_up(place: re.Match) -> str:
        paper, claim, reading, column = place.groups()
        lines = ledger[(ledger.paper == paper) & (ledger.id == claim) & (ledger.reading == reading)]
        if len(lines) != 1 or (column != "interval" and column not in lines):
            raise InputError(f"data/claims/findings.md: {place[0]}: is not in the ledger")
        line = lines.iloc[0]
        if column == "interval":
            return f"{_number(line.low)} to {_number(line.high)}"
        return _number(line[column])

    paragraphs = PLACE.sub(look_up, template).strip().split("\n\n")
    return "\n\n".join(map(_wrapped, paragraphs))


def _wrapped(paragraph: str) -> str:
    """A paragraph in lines of at most 100 letters, code kept together."""
    whole = re.sub(r"`[^`]+`", lambda m: "\0".join(m[0].split()), " ".join(paragraph.split()))
    lines = textwrap.fill(whole, 100, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\0", " ")


def _number(value) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def speed_table(bench: pd.DataFrame) -> str:
    """What `make bench` measured."""
    shown = pd.DataFrame(
        {
            "measure": bench.measure,
            "value": _values(bench),
            "pulls a second": _where_measured(bench.pulls_per_second),
            "peak memory, MB": _where_measured(bench.peak_mb),
            "how": bench.how,
        }
    )
    return _with_machine(shown, bench.machine)


def time_table(bench: pd.DataFrame) -> str:
    """How long what takes, and how much of it is simulation."""
    rows = bench[bench.unit.eq("s")]
    shares = bench.set_index("measure").value
    simulation = [
        shares.get(f"{measure.split(',')[0]}: share of that time in simulation")
        if "paper scale" in measure
        else None
        for measure in rows.measure
    ]
    shown = pd.DataFrame(
        {
            "measure": rows.measure,
            "time": _values(rows),
            "in simulation": ["" if s is None else f"{s:.0%}" for s in simulation],
            "how": rows.how,
        }
    )
    return _with_machine(shown, rows.machine)


def strategy_table(bench: pd.DataFrame) -> str:
    """The time of a unit of work of each strategy where it is shortest and where it is longest."""
    rows = bench[bench.unit.fillna("").str.startswith("us a ")]
    named = rows.measure.str.extract(r"^(?P<paper>\w+): (?P<strategy>.+?) on (?P<instance>.+)$")
    shown = []
    for (paper, strategy), of_one in rows.groupby([named.paper, named.strategy], sort=False):
        longest = of_one.value.idxmax()
        shown.append(
            {
                "paper": paper,
                "strategy": strategy,
                "least": _number(of_one.value.min()),
                "most": _number(of_one.value.max()),
                "unit": of_one.unit[longest],
                "most on": named.instance[longest],
            }
        )
    return _with_machine(pd.DataFrame(shown), rows.machine)


def _with_machine(shown: pd.DataFrame, machines: pd.Series) -> str:
    """A table and the machine it was measured on; a column of them where there are several."""
    if machines.nunique() == 1:
        return f"{_markdown(shown)}\n\nMachine: {machines.iloc[0]}."
    return _markdown(shown.assign(machine=machines))


def _where_measured(numbers: pd.Series) -> list[str]:
    return ["" if pd.isna(x) else _number(x) for x in numbers]


def _values(bench: pd.DataFrame) -> pd.Series:
    return (bench.value.map(_number) + " " + bench.unit.fillna("")).str.strip()


def computed_parts(root: Path) -> dict[str, str]:
    """Every computed part by name, from the files of a checkout."""
    ledger = pd.read_csv(root / "figures/claims.csv")
    bench = pd.read_csv(root / "bench/bench.csv")
    template = read_text(root / "data/claims/findings.md")
    return {
        "verdicts": verdict_table(ledger),
        "findings": findings(template, ledger),
        "times": time_table(bench),
        "strategies": strategy_table(bench),
        "disagreements": disagreement_table(ledger),
        "speed": speed_table(bench),
    }


def fill(name: str, text: str, parts: dict[str, str]) -> str:
    """A page's text with its computed parts made anew. Raises InputError if a mark is missing."""
    for part in PAGES[name]:
        marked = re.compile(rf"(<!-- computed: {part} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marked.search(text):
            raise InputError(f"{name}: the mark <!-- computed: {part} --> is missing")
        text = marked.sub(lambda m, part=part: f"{m[1]}\n{parts[part]}\n\n{m[2]}", text)
    return text


def fill_pages(root: Path) -> None:
    """Make the computed parts of every page of a checkout anew, in place."""
    parts = computed_parts(root)
    pages = {root / name: fill(name, read_text(root / name), parts) for name in PAGES}
    for path, text in pages.items():
        write_text(path, text)


def _markdown(table: pd.DataFrame) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *table.itertuples(index=False)]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
