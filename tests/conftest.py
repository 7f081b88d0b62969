"""Shared by all tests: one Hypothesis profile, and where the project is."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Fixed examples, so that a red test is red again; no deadline, because a first call compiles.
settings.register_profile("bestarm", derandomize=True, deadline=None, max_examples=200)
settings.load_profile("bestarm")
# Other examples each time, and many: pytest tests/fuzz --hypothesis-profile=search
settings.register_profile("search", deadline=None, max_examples=10_000)

BUILT = (".venv", ".git", ".snakemake", "results", "smoke", "quick", "all")
#: The first holds an environment of 600 MB, which test_wheel.py keeps; the last are being written.
CACHES = (".pytest_cache", ".hypothesis", ".ruff_cache", "*.pyc.*")

#: Files whose tests take longest, or wait longest for what they share.
LONG = (
    *("test_workflow.py", "test_faults.py", "test_notebooks.py", "test_wheel.py"),
    *("test_site.py", "test_adding_a_strategy.py", "test_project.py"),
)


#: Runs last: test_interactive.py beside it needs the same kernels, and both would compile them.
LAST = "test_failures.py"


def pytest_collection_modifyitems(items: list) -> None:
    """Long tests first, so that in the end no core waits for one."""
    place = {name: index for index, name in enumerate(LONG)} | {LAST: len(LONG) + 1}
    items.sort(key=lambda item: place.get(item.path.name, len(LONG)))


def module_of(path):
    """A file that is in no package, imported."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def copy_project(root):
    """A function that copies the project to a folder, without anything built."""

    def copy(folder: Path) -> None:
        shutil.copytree(root, folder, ignore=shutil.ignore_patterns(*BUILT, *CACHES))
        shutil.rmtree(folder / "site", ignore_errors=True)

    return copy


@pytest.fixture(scope="class")
def folder_name() -> str:
    """A name that a shell would act on."""
    return "bestärm 'copy' $(touch x); touch x"


@pytest.fixture(scope="class")
def project(copy_project, tmp_path_factory, folder_name):
    """A copy with nothing built."""
    folder = tmp_path_factory.mktemp("workflow") / folder_name
    copy_project(folder)
    return folder
