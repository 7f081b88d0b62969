"""The package as others get it: a wheel with core dependencies only, outside of a checkout.

Once unpacked, beside the packages that are installed for the tests, of which only the core
dependencies and theirs can be imported; and once installed, which `make test-long` does.
"""

import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bestarm import registry
from bestarm.common.command import EXTRAS

#: Prints the distributions behind the modules that some code has loaded.
LOADED = """
import atexit, importlib.metadata, json, sys
known = importlib.metadata.packages_distributions()
def say():
    tops = {name.partition(".")[0] for name in sys.modules}
    print(json.dumps(sorted({one.lower() for top in tops for one in known.get(top, [])})))
atexit.register(say)
"""
#: What the ask/tell objects are made of.
ALGORITHMS = {"llvmlite", "numba", "numpy", "platformdirs", "pydantic", "pyyaml", "scipy"}
#: A sitecustomize.py, which hides all but some modules and distributions.
HIDING = """
import sys
from importlib.machinery import PathFinder

class Finder:
    invalidate_caches = PathFinder.invalidate_caches

    @staticmethod
    def find_spec(name, path=None, target=None):
        hidden = name.partition(".")[0] in {modules!r}
        return None if hidden else PathFinder.find_spec(name, path, target)

    @staticmethod
    def find_distributions(*context):
        every = PathFinder.find_distributions(*context)
        return (one for one in every if one.name.lower().replace("_", "-") in {shown!r})

sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
"""
#: Runs commands of the command line, each of which ends in an exit code of 0.
COMMANDS = """
from bestarm.cli import main
for arguments in {commands!r}:
    sys.argv = ["bestarm", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (arguments, end.code)
"""


@pytest.fixture(scope="module")
def core(root):
    """Names of the core dependencies."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    return {re.match(r"[\w-]+", one)[0] for one in project["dependencies"]}


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    """Built from the source distribution, as it is for those who have no wheel."""
    out = tmp_path_factory.mktemp("dist")

    def build(folder, what):
        command = [sys.executable, "-m", "hatchling", "build", "-t", what, "-d", out]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return next(path for path in out.iterdir() if path.name.endswith(kinds[what]))

    kinds = {"sdist": ".tar.gz", "wheel": ".whl"}
    source = build(root, "sdist")
    subprocess.run(["tar", "xf", source, "-C", out], check=True)
    return build(out / source.name.removesuffix(".tar.gz"), "wheel")


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    """Commands by name, and an environment in which no more than the core dependencies is there."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    (own,) = metadata.distributions(path=[str(folder)])
    shown, waiting = {"bestarm-replication"}, list(own.requires)
    while waiting:
        asked = Requirement(waiting.pop())
        name = canonicalize_name(asked.name)
        if name not in shown and (not asked.marker or asked.marker.evaluate({"extra": ""})):
            shown.add(name)
            waiting += metadata.distribution(name).requires or []
    modules = {
        module
        for module, names in metadata.packages_distributions().items()
        if not shown & {canonicalize_name(name) for name in names}
    }
    assert {"matplotlib", "snakemake", "jinja2"} <= modules
    (folder / "sitecustomize.py").write_text(
        HIDING.replace("{modules!r}", repr(modules)).replace("{shown!r}", repr(shown))
    )
    python = [sys.executable]
    return {"python": python, "bestarm": [*python, "-m", "bestarm"]}, {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="module")
def installed(root, wheel, pytestconfig):
    """Commands of an environment with the wheel and what it asks for, in locked versions.

    Kept between test runs, and shared by processes that test at the same time.
    """
    lock = (root / "requirements.lock").read_text()
    pins = "\n".join(re.findall(r"^([\w.-]+==.*?) \\$", lock, re.M))
    asked = re.search(r"^dependencies = .*?\]", (root / "pyproject.toml").read_text(), re.M | re.S)
    folder = pytestconfig.cache.mkdir("core")
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python"]
    pip += ["--quiet", "--disable-pip-version-check"]
    constraints = folder / "pins.txt"
    with (folder.parent / "core.lock").open("w") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        if is_new(folder / "made-for", f"{sys.version}{pins}{asked[0]}".encode()):
            venv.create(folder, clear=True)
            constraints.write_text(pins)
            # Each module is compiled when it is first imported; most never are.
            install = [*pip, "install", "--no-compile"]
            subprocess.run([*install, wheel, "--constraint", constraints], check=True)
            mark(folder / "made-for", f"{sys.version}{pins}{asked[0]}".encode())
        if is_new(folder / "wheel", wheel.read_bytes()):
            subprocess.run([*pip, "install", "--no-deps", "--force-reinstall", wheel], check=True)
            mark(folder / "wheel", wheel.read_bytes())
    subprocess.run([*pip, "check"], check=True)
    return {name: [folder / "bin" / name] for name in ("python", "bestarm")}, {}


def mark(file, content):
    file.write_text(hashlib.sha256(content).hexdigest())


def is_new(file, content):
    return not file.exists() or file.read_text() != hashlib.sha256(content).hexdigest()


@pytest.fixture(params=["unpacked", pytest.param("installed", marks=pytest.mark.long)])
def run(request, tmp_path):
    """Run a program with the wheel in an empty folder."""
    programs, more = request.getfixturevalue(request.param)
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
    clean = {name: value for name, value in os.environ.items() if name not in hidden} | more

    def run(program, *arguments):
        command = [*programs[program], *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True)

    return run


def loaded(result):
    assert result.returncode == 0, result.stderr
    return set(json.loads(result.stdout.splitlines()[-1]))


def test_nothing_but_core_dependencies_is_there(run):
    found = (
        "from importlib.metadata import distributions; print(*(d.name for d in distributions()))"
    )
    names = run("python", "-c", found).stdout.lower().split()
    assert "bestarm-replication" in names
    assert "numba" in names
    for heavy in ("snakemake", "matplotlib", "seaborn", "cvxpy", "jinja2", "pybamm"):
        assert heavy not in names


def test_ask_and_tell_load_the_algorithms_dependencies_only(run, core):
    papers = ", ".join(f"bestarm.{paper}" for paper in registry.PAPERS)
    assert loaded(run("python", "-c", f"{LOADED}\nimport {papers}")) & core == ALGORITHMS


@pytest.mark.long
def test_every_core_dependency_is_needed_by_the_command_line(run, core, root, tmp_path):
    """`list`, `show`, `bound` and `run`, and what `verify` would start with."""
    example = "example-abn.yaml"
    (tmp_path / example).write_bytes((root / "data/instances" / example).read_bytes())
    commands = (
        ["list"],
        ["show", "lagex/imdb"],
        ["show", "delayed/fig1"],
        ["bound", example],
        ["run", example, "--reps", "2", "--out", "runs.parquet"],
    )
    code = LOADED + COMMANDS.format(commands=commands) + "import bestarm.verify.verification"
    used = loaded(run("python", "-c", code))
    assert used & core == core
    assert (tmp_path / "runs.parquet").is_file()


def test_data_are_those_of_the_checkout(root, wheel):
    """Every file that the package reads, from its place in the project."""
    places = {f"bestarm/{folder}": folder for folder in ("data", "figures", "schemas")}
    places["bestarm"] = "src/bestarm"
    found = set()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith("bestarm/"):
                place = max((p for p in places if name.startswith(f"{p}/")), key=len)
                path = root / places[place] / name.removeprefix(f"{place}/")
                assert archive.read(name) == path.read_bytes(), name
                found.add(path.relative_to(root).as_posix())
    kept = ("data/battery/policies.csv", "data/imdb/imdb12.csv", "data/mip/traces.parquet")
    tables = [
        f"figures/{paper}/{target}.csv"
        for paper in registry.PAPERS
        for target in registry.PAPERS[paper].targets
    ]
    claims = [f"data/claims/{paper}.yaml" for paper in registry.PAPERS]
    assert found >= {*kept, *tables, *claims}


@pytest.mark.long
def test_list_and_show_have_what_the_checkout_has(run):
    commands = [["list"], ["show", "delayed/mip"], ["show", "baics/table1"]]
    code = "import sys\n" + COMMANDS.format(commands=commands)
    here = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run("python", "-c", code).stdout == here.stdout


def test_the_readme_example(run, root):
    block = re.search(r"```python\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
    result = run("python", "-c", block[1])
    assert result.stdout.startswith("best:"), result.stderr


def test_what_is_not_there_is_said_in_one_line(run, tmp_path):
    result = run("bestarm", "verify")
    assert result.returncode == 2
    assert result.stderr.startswith(f"error: {tmp_path}: is not a checkout of the project")
    assert len(result.stderr.splitlines()) == 1
    files = [f"x.{kind}" for kind in ("svg", "png", "pdf")]
    result = run("bestarm", "workflow", "plot", "baics", "table1", "x.csv", *files)
    wanted = "error: matplotlib: is not installed; pip install 'bestarm-replication[plot]'"
    assert result.stderr.startswith(wanted)
    assert result.returncode == 2
    assert not [path for path in Path(tmp_path).iterdir() if path.name.startswith("x.")]


def test_pictures_name_their_extra_before_anything_is_simulated(run, tmp_path):
    """On the command line and in Python, where what README shows works but for the picture."""
    wanted = "matplotlib: is not installed; pip install 'bestarm-replication[plot]'"
    result = run("bestarm", "run", "baics/example1", "--reps", "1000000", "--plot", "x.pdf")
    assert result.stderr.startswith(f"error: {wanted}")
    code = "from bestarm import compare; found = compare('baics/example1', ['Uniform'], reps=5)"
    result = run("python", "-c", f"{code}; print(found); found.plot()")
    assert "example1: 5 runs" in result.stdout
    assert wanted in result.stderr.splitlines()[-1]
    assert not (tmp_path / "x.pdf").exists()


def test_extras_are_what_messages_name(root):
    """And what documentation names."""
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert extras.keys() >= {*EXTRAS, "rebuild"}
    for extra, modules in EXTRAS.items():
        names = {canonicalize_name(Requirement(one).name) for one in extras[extra]}
        assert names & set(modules)
    pages = [root / "README.md", root / "examples/service.py", *(root / "docs").rglob("*.md")]
    named = set(re.findall(r"bestarm[\w-]*\[(\w+)\]|\.\[(\w+)\]", "".join(map(read, pages))))
    assert {one for pair in named for one in pair if one} <= extras.keys()


def read(path):
    return path.read_text(encoding="utf-8")
