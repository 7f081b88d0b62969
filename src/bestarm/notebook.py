"""What notebooks need besides the algorithms: kept tables, and pictures with a description."""

import io

import matplotlib as mpl
import pandas as pd
from IPython.display import Image
from matplotlib.figure import Figure

from bestarm.pipeline.files import data_folder
from bestarm.pipeline.tables import read_table


def kept_table(paper: str, target: str) -> pd.DataFrame:
    """The table of a target as it is in git, made with the papers' own numbers of runs."""
    return read_table(data_folder().parent / f"figures/{paper}/{target}.csv")


def kept_claims(paper: str) -> pd.DataFrame:
    """A paper's claims with their verdicts, a line a claim and reading."""
    claims = pd.read_csv(data_folder().parent / "figures/claims.csv", keep_default_na=False)
    return claims[claims.paper == paper]


def picture(figure: Figure, alt: str) -> Image:
    """A figure to end a cell with, and what it shows for those who do not see it."""
    buffer = io.BytesIO()
    with mpl.rc_context({"savefig.dpi": 144}):
        figure.savefig(buffer, format="png", metadata={"Software": None})
    return Image(data=buffer.getvalue(), format="png", width=72 * figure.get_figwidth(), alt=alt)
