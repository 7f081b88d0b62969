"""Helpers of the notebooks: kept tables, and figures with a description."""

import io

import matplotlib as mpl
import pandas as pd
from IPython.display import Image
from matplotlib.figure import Figure

from bestarm.common.files import data_folder
from bestarm.common.tables import read_table

pd.set_option("display.max_colwidth", None)  # verdicts are sentences


def kept_table(paper: str, target: str) -> pd.DataFrame:
    """The table of a target as it is in git, made with the papers' own numbers of runs."""
    return read_table(data_folder().parent / f"figures/{paper}/{target}.csv")


def kept_verdicts(paper: str, *beginnings: str) -> pd.DataFrame:
    """Published numbers and verdicts of claims, by the beginnings of their ids.

    Raises ValueError if no claim of the paper begins with one of them.
    """
    path = data_folder().parent / "figures/claims.csv"
    claims = pd.read_csv(path, dtype=str, keep_default_na=False).drop_duplicates(["paper", "id"])
    claims = claims[claims.paper == paper]
    unknown = [each for each in beginnings if not claims.id.str.startswith(each).any()]
    if unknown:
        raise ValueError(f"no claim of {paper} in {path} begins with {', '.join(unknown)}")
    claims = claims[claims.id.str.startswith(beginnings)]
    under = [f" ({reading})" if reading else "" for reading in claims.under]
    shown = {"published": claims.published, "verdict": claims.verdict + under}
    return pd.DataFrame(shown).set_index(claims.id)


def picture(figure: Figure, alt: str) -> Image:
    """A figure as the output of a cell; `alt` describes it for readers who do not see it."""
    buffer = io.BytesIO()
    with mpl.rc_context({"savefig.dpi": 144}):
        figure.savefig(buffer, format="png", metadata={"Software": None})
    width = round(80 * figure.get_figwidth())
    return Image(data=buffer.getvalue(), format="png", width=width, alt=alt)
