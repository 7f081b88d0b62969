"""The statistics of `bestarm run` as a table for a paper: LaTeX with booktabs, or Markdown."""

import math
import re
from typing import Any

import pandas as pd

from bestarm.common.prose import markdown
from bestarm.common.user_strategies import READING

#: Of the numbers.
DIGITS = 3
#: What LaTeX reads as something else, and how it is written.
ESCAPES = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "∞": r"$\infty$",
}


def significant(number: float, digits: int = DIGITS) -> str:
    """A number to some significant digits, with commas between thousands.

    Example:
        >>> [significant(x) for x in (3339.2, 0.0123456, 0.99996, 1.0, 0.0, 1e-9)]
        ['3,340', '0.0123', '0.99996', '1.00', '0', '1.00e-09']
    """
    while 0.9 < number < 1.0 and digits < 9 and float(f"{number:.{digits - 1}e}") == 1.0:
        digits += 1  # a share below 1 is not rounded to 1
    if number == 0.0 or not math.isfinite(number):
        return "0" if number == 0.0 else "∞" if number > 0 else "-∞"
    exponent = int(f"{number:.{digits - 1}e}".partition("e")[2])
    if exponent < -5:
        return f"{number:.{digits - 1}e}"
    places = digits - 1 - exponent
    return f"{round(number, places):,.{max(0, places)}f}"


def with_interval(value: float, low: float, high: float) -> str:
    """A number and its interval.

    Example:
        >>> with_interval(3339.2, 3251.5, 3426.9)
        '3,340 [3,250, 3,430]'
    """
    if math.isnan(low):
        return significant(value)
    return f"{significant(value)} [{significant(low)}, {significant(high)}]"


def for_a_paper(results: Any) -> pd.DataFrame:
    """A row per strategy and reading, and the statistics that `bestarm run` prints, as texts.

    Args:
        results: a `RunResults`.
    """
    rows: list[dict[str, str]] = []
    headings = results.headings
    statistics = results.statistics
    several = statistics.reading.nunique() > 1 or set(statistics.reading) != {READING}
    for (strategy, reading), of_cell in statistics.groupby(["strategy", "reading"], sort=False):
        cells: dict[Any, Any] = of_cell.set_index("statistic").to_dict("index")
        row = {"strategy": str(strategy)} | ({"reading": str(reading)} if several else {})
        for statistic, heading in headings.items():
            estimate = cells[statistic]
            text = with_interval(estimate["value"], estimate["low"], estimate["high"])
            row[heading] = f"– {estimate['status']}" if math.isnan(estimate["value"]) else text
            row[heading] += " restricted" if estimate["status"] == "restricted" else ""
        rows.append(row)
    return pd.DataFrame(rows)


def as_latex(results: Any) -> str:
    r"""A `tabular` with its caption as a comment; needs `\usepackage{booktabs}`."""
    table = for_a_paper(results)
    texts = sum(name in ("strategy", "reading") for name in table.columns)
    width = len(table.columns)
    notes = [f"\\multicolumn{{{width}}}{{l}}{{{escaped(note)}}}" for note in results.notes]
    lines = [
        f"% {results.title}; needs \\usepackage{{booktabs}}",
        f"\\begin{{tabular}}{{{'l' * texts}{'r' * (width - texts)}}}",
        "\\toprule",
        *_rows([table.columns]),
        "\\midrule",
        *_rows(table.itertuples(index=False)),
        "\\bottomrule",
        *(f"{note} \\\\" for note in notes),
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _rows(rows: Any) -> list[str]:
    return [" & ".join(escaped(str(cell)) for cell in row) + r" \\" for row in rows]


def escaped(text: str) -> str:
    """A text as LaTeX prints it.

    Example:
        >>> print(escaped("A_1 & 5%"))
        A\\_1 \\& 5\\%
    """
    return "".join(ESCAPES.get(letter, letter) for letter in text)


def as_markdown(results: Any) -> str:
    """A table and its notes."""
    table = for_a_paper(results)
    cells = table.map(lambda text: re.sub(r"([\\|*_<\[\]`])", r"\\\1", text))
    return "\n\n".join([results.title, markdown(cells), "; ".join(results.notes)]) + "\n"
