"""The folder of inputs."""

from pathlib import Path

from bestarm.core.inputs import InputError


def data_folder() -> Path:
    """data/ of the checkout, the inputs kept in git.

    Raises:
        InputError: the package runs from somewhere else; users' own instances still work there.
    """
    folder = Path(__file__).parents[3] / "data"
    if not folder.is_dir():
        raise InputError(f"{folder}: is missing; the papers' inputs need a checkout of the project")
    return folder
