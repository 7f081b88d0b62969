"""Kept tables are the files that their provenance describes."""

import hashlib
from pathlib import Path

import yaml

from bestarm.common.files import data_folder


def described(name: str) -> Path:
    """The path of a kept table under data/, whose hash is asserted to be in its provenance."""
    path = data_folder() / name
    provenance = yaml.safe_load(path.with_name("provenance.yaml").read_text())
    assert provenance["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    return path
