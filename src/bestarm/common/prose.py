"""Numbers and tables in Markdown."""

import re
import textwrap

import pandas as pd


def wrapped(paragraph: str) -> str:
    """A paragraph in lines of at most 100 letters, code kept together."""
    whole = re.sub(r"`[^`]+`", lambda m: "\0".join(m[0].split()), " ".join(paragraph.split()))
    lines = textwrap.fill(whole, 100, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\0", " ")


def number(value) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def printed(text) -> str:
    """A published number, all its digits, with commas between thousands."""
    whole, point, rest = str(text).partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.isdigit() else str(text)


def markdown(table: pd.DataFrame) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *table.itertuples(index=False)]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
