"""What the project uses of Numba, llvmlite, SciPy and Snakemake that may change in any release.

When one of these tests fails, the upper bound in pyproject.toml has let in a version for which the
interface named by the test has to be replaced.
"""

import ast
import inspect
import re
import tomllib
from importlib import import_module

import pytest
from packaging.requirements import Requirement

from bestarm.core.compile import PACKAGE

#: By distribution: an interface and the file that uses it.
INTERFACES = {
    "numba": {
        "numba.core.config.CACHE_DIR": "src/bestarm/core/compile.py",
        "numba.core.config.CACHE_LOCATOR_CLASSES": "src/bestarm/core/compile.py",
        "numba.core.caching.UserProvidedCacheLocator": "src/bestarm/core/compile.py",
        "numba.core.options.DefaultOptions._nrt": "src/bestarm/core/compile.py",
        "numba.core.cgutils.alloca_once_value": "src/bestarm/lagex/released/lapack.py",
        "numba.np.random._constants.ki_double": "src/bestarm/core/normals.py",
        "numba.np.random._constants.wi_double": "src/bestarm/core/normals.py",
        "numba.np.random.distributions.random_standard_normal": "src/bestarm/core/normals.py",
        "numba.np.random.generator_core.next_double": "src/bestarm/core/normals.py",
        "numba.np.random.generator_core.next_uint64": "src/bestarm/core/normals.py",
    },
    "llvmlite": {
        "llvmlite.binding.add_symbol": "src/bestarm/lagex/released/lapack.py",
        "llvmlite.binding.get_host_cpu_name": "src/bestarm/linear/allocation.py",
        "llvmlite.ir.IntType": "src/bestarm/core/normals.py",
    },
    "scipy": {
        "scipy.optimize._highspy._core._Highs": "src/bestarm/lagex/released/highs.py",
        "scipy.optimize._highspy._core.HighsLp": "src/bestarm/lagex/released/highs.py",
        "scipy.optimize._highspy._core.HighsOptions": "src/bestarm/lagex/released/highs.py",
        "scipy.linalg.cython_lapack.__pyx_capi__": "src/bestarm/lagex/released/lapack.py",
        "scipy.linalg.cython_blas.__pyx_capi__": "src/bestarm/lagex/released/lapack.py",
    },
    "snakemake": {
        "snakemake.cli.get_argument_parser": "workflow/rules/targets.smk",
        "snakemake.rules.Rule.has_wildcards": "workflow/rules/targets.smk",
        "snakemake.rules.Rule.is_producer": "workflow/rules/targets.smk",
        "snakemake.workflow.Workflow.is_main_process": "workflow/rules/common.smk",
    },
}
EVERY = {name: (of, file) for of, some in INTERFACES.items() for name, file in some.items()}


def found(name):
    """What a dotted name stands for, by the longest part of it that is a module."""
    module, _, rest = name.rpartition(".")
    parts = [rest]
    while True:
        try:
            value = import_module(module)
            break
        except ModuleNotFoundError:
            module, _, rest = module.rpartition(".")
            parts.insert(0, rest)
    for part in parts:
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", EVERY)
def test_it_is_there(root, name):
    of, file = EVERY[name]
    assert name.rpartition(".")[2].strip("_") in (root / file).read_text() or "cython" in name, file
    try:
        found(name)
    except (AttributeError, ValueError):
        pytest.fail(f"{name} is gone, which {file} uses; see the bounds of {of} in pyproject.toml")


def test_the_scheduler_of_snakemake_has_a_rate_that_may_be_none(root):
    """`job_rate_limiter`, an attribute that is set and read inside."""
    source = inspect.getsource(found("snakemake.scheduling.job_scheduler.JobScheduler"))
    name = "job_rate_limiter"
    assert f"workflow.scheduler.{name} = None" in (root / "workflow/rules/common.smk").read_text()
    assert f"self.{name} is None" in source, f"{name} of Snakemake's scheduler is gone"


def test_the_ziggurat_has_256_layers():
    for name in ("ki_double", "wi_double"):
        assert found(f"numba.np.random._constants.{name}").shape == (256,), name


def test_distributions_with_private_interfaces_have_upper_bounds(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = [one for some in project["optional-dependencies"].values() for one in some]
    bounded = {
        wanted.name
        for wanted in map(Requirement, [*project["dependencies"], *extras])
        if any(one.operator == "<" for one in wanted.specifier)
    }
    assert bounded == set(INTERFACES)


def private_imports():
    """Names that files of the package import from modules that are not public."""
    for source in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    name = f"{node.module}.{alias.name}"
                    if re.match(r"numba\.(core|np)|llvmlite|(scipy|numpy|pandas)\..*\b_", name):
                        yield name


def test_every_private_import_is_listed():
    imported = set(private_imports())
    assert len(imported) >= 10
    for name in imported:
        assert any(f"{each}.".startswith(f"{name}.") for each in EVERY), f"{name} is not listed"
