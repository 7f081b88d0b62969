"""Scale files of any content are read, or refused in one line."""

import pytest
from hypothesis import example, given, settings

from bestarm.core.inputs import InputError
from bestarm.registry.scales import Scale, read_scale
from fuzz.documents import SCALES, files


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("scales") / "scale.yaml"


@settings(max_examples=settings.default.max_examples // 2)
@given(content=files(SCALES))
@example(content=b"seed: 0x" + b"f" * 5000 + b"\npapers: {}")
def test_scale_files(path, content):
    path.write_bytes(content)
    try:
        assert isinstance(read_scale(path), Scale)
    except InputError as error:
        assert str(error).startswith(f"{path}:")
        assert str(error).isprintable()
