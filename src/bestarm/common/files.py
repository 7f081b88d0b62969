"""The folder of inputs."""

from pathlib import Path

from bestarm.core.inputs import InputError


def data_folder() -> Path:
    """The papers' inputs: data/ of the package if it came as a wheel, else of the checkout.

    A wheel has the instances and the tables they are made from, and figures/ beside them.

    Raises:
        InputError: there is neither.
    """
    package = Path(__file__).parents[1]
    folders = (package / "data", package.parents[1] / "data")
    for folder in folders:
        if folder.is_dir():
            return folder
    raise InputError(f"{folders[1]}: is missing, and with it the papers' instances")
