"""The project as a whole: packaging in step, kernels where the cache looks, README true."""

import ast
import re
import subprocess
import tomllib
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import metadata
from multiprocessing import get_context
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
import yaml

from bestarm import __version__, registry
from bestarm.common.arithmetic import same_bits
from bestarm.common.command import DISTRIBUTION
from bestarm.common.drawing import save
from bestarm.common.tables import COLUMNS, read_geometry, read_table
from bestarm.core.compile import PACKAGE, kernel_sources, source_paper
from bestarm.core.estimates import MEANINGS
from bestarm.publish.citation import citation_files
from bestarm.publish.report import PAGES, Project, fill
from bestarm.publish.speed_picture import speed_picture
from bestarm.registry.scales import SCALES, read_scale


@pytest.fixture(scope="module")
def pyproject(root):
    return tomllib.loads((root / "pyproject.toml").read_text())


def plain(name):
    """A name as the Python package index compares it with others, to refuse those alike."""
    name = re.sub(r"[-_.]", "", name.lower())
    return re.sub("[li]", "1", name).replace("o", "0")


def test_the_name_to_install_by_is_not_taken_for_another(pyproject):
    """bestarm would be: there is a package best-arm."""
    assert plain("bestarm") == plain("best-arm") != plain(pyproject["project"]["name"])
    assert pyproject["project"]["name"] == DISTRIBUTION


def test_conda_environment_is_in_step(root, pyproject):
    """All that tests need: same packages, same ranges, as conda spells them."""
    extras = pyproject["project"]["optional-dependencies"]
    left_out = ("battery", "mip", "types")
    optional = [one for extra, group in extras.items() if extra not in left_out for one in group]
    wanted = {f"python{pyproject['project']['requires-python']}"}
    wanted |= {*pyproject["project"]["dependencies"], *optional}
    renamed = {"matplotlib": "matplotlib-base", "cvxpy": "cvxpy-base", "seaborn": "seaborn-base"}
    wanted = {re.sub(r"^[\w-]+", lambda m: renamed.get(m[0], m[0]), one) for one in wanted}
    conda = yaml.safe_load((root / "environment.yml").read_text())
    assert conda["channels"] == ["conda-forge", "bioconda", "nodefaults"]
    *named, last = conda["dependencies"]
    assert set(named) == wanted | {"pip"}
    assert last == {"pip": ["-e ."]}


def test_lock_pins_every_dependency_and_names_no_address(root, pyproject):
    lock = (root / "requirements.lock").read_text()
    assert "://" not in lock
    extras = pyproject["project"]["optional-dependencies"]
    optional = [one for group in extras.values() for one in group]
    for requirement in [*pyproject["project"]["dependencies"], *optional]:
        name = re.match(r"[\w-]+", requirement)[0]
        assert re.search(rf"^{name}==\S+.*\\\n +--hash=sha256:", lock, re.MULTILINE), name


def test_files_that_say_how_to_cite_it_are_in_step(root):
    """codemeta.json and .zenodo.json; `make readme` makes them anew."""
    assert yaml.safe_load((root / "CITATION.cff").read_text())["version"] == __version__
    newest = re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert newest in (__version__, "Unreleased")
    for name, text in citation_files(root).items():
        assert (root / name).read_text(encoding="utf-8") == text, name


def test_kernels_live_where_the_compile_cache_looks():
    """Files with kernels take nothing from others of the package but classes and functions."""
    sources = {paper: set(kernel_sources(paper)) for paper in (None, *registry.PAPERS)}
    for source in PACKAGE.rglob("*.py"):
        allowed = sources[source_paper(source)]
        tree = ast.parse(source.read_text())
        imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
        uses_jit = any(n.module == "bestarm.core.compile" for n in imports)
        assert not uses_jit or source in allowed, source
        for node in imports if uses_jit else ():
            found = PACKAGE.joinpath(*node.module.split(".")[1:]).with_suffix(".py")
            assert source_paper(found) in (None, source_paper(source)), (source, node.module)
            if node.module.startswith("bestarm") and found not in allowed:
                constants = {alias.name for alias in node.names if alias.name.isupper()}
                assert not constants, (source, node.module, constants)


def test_slurm_may_be_given_all_shards_at_once(root):
    """Otherwise its plugin may wait for ever; profiles/slurm says why."""
    profile = yaml.safe_load((root / "profiles/slurm/config.yaml").read_text())
    per_second = int(profile["max-jobs-per-timespan"].removesuffix("/1s"))
    for scale in SCALES:
        papers = read_scale(root / f"workflow/scales/{scale}.yaml").papers.values()
        shards = sum(size.shards for experiments in papers for size in experiments.values())
        assert shards <= min(profile["jobs"], per_second)


def test_make_lists_its_targets_with_their_times(root):
    """Every target that README names; the times are README's, which are measured."""
    make = ("make", "--no-print-directory")  # which it prints where a make runs the tests
    help, bare = (
        subprocess.run([*make, *words], cwd=root, capture_output=True, text=True, check=True)
        for words in (["help"], [])
    )
    assert help.stdout == bare.stdout
    lines = {line.split()[0]: line for line in help.stdout.splitlines()}
    readme = (root / "README.md").read_text()
    named = re.findall(r"^\| `make ([\w-]+)` \|[^|]*\| (.*?) \|", readme, re.M)
    assert len(named) >= 6
    for name, time in named:
        assert re.match(rf"{name} +{time} +[A-Z]", lines[name])
    phony = re.search(r"^\.PHONY: (.*\\\n.*)", (root / "Makefile").read_text(), re.M)[1]
    assert set(phony.replace("\\", "").split()) == lines.keys()


@pytest.fixture(scope="module")
def project(root):
    return Project(root)


@pytest.mark.parametrize("page", PAGES)
def test_pages_say_what_was_computed(root, page, project):
    """Verdicts and speeds are those of the files; `make readme` makes them anew."""
    text = (root / page).read_text()
    assert fill(page, text, project) == text


def test_the_picture_of_speeds_is_drawn_from_what_was_measured(root, project, tmp_path):
    """Every time is in it; `make readme` draws it anew."""
    figure = speed_picture(project.bench)
    left, right = figure.axes
    paces = project.bench[project.bench.unit.fillna("").str.startswith("us a ")]
    paces = paces[~paces.measure.str.startswith("growth: ")]
    drawn = [x for line in right.lines for x in line.get_xdata()]
    assert sorted(drawn) == sorted(paces.value)
    totals = project.bench[project.bench.measure.str.contains("paper scale from nothing")]
    seconds = {round(60 * bar.get_width(), 6) for bar in left.patches}
    assert {
        v for m, v in zip(totals.measure, totals.value, strict=True) if "all" not in m
    } <= seconds
    save(figure, tmp_path / "speed.svg")
    kept = (root / "docs/pictures/speed.svg").read_bytes()
    assert (tmp_path / "speed.svg").read_bytes() == kept


@pytest.mark.parametrize("page", ["README.md", "docs/usage.md"])
def test_examples_run(root, page, tmp_path, monkeypatch):
    """The Python examples, as written; those of docs/live.md have a test of their own."""
    blocks = re.findall(r"```python\n(.*?)```", (root / page).read_text(), re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, page, "exec"), {})


def test_links_lead_somewhere(root):
    for page in [
        root / "README.md",
        root / "CONTRIBUTING.md",
        *sorted((root / "docs").glob("*.md")),
    ]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


#: A path with a folder, which ends in a known ending or begins with a folder of the project.
QUOTED = re.compile(
    r"(?<![\w/.<>{*-])((?:[\w.-]+/)+[\w.-]+\.(?:py|md|csv|ya?ml|json|toml|rst|smk|svg|sh)"
    r"|(?:src|tests|data|docs|figures|bench|workflow|notebooks|examples|schemas)/[\w./-]+)(?![\w*{<])"
)
#: Paths that a reader fills in, that a build makes, or that stand for a typing error.
NOT_KEPT = re.compile(r"PAPER|TARGET|figures/((quick|smoke|more)\b|(\w+/)?all$)|tabel1")


def test_paths_that_pages_quote_exist(root):
    """In the folder of the project, package, tests or docs; a figure may lack its ending."""
    folders = [root, root / "src/bestarm", root / "tests", root / "docs"]
    for page in [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").glob("*.md")]:
        prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for path in QUOTED.findall(" ".join(re.findall(r"`([^`\n]+)`", prose))):
            names = [path, f"{path}.svg"]
            there = any((folder / name).exists() for folder in folders for name in names)
            assert there or NOT_KEPT.search(path), f"{page.name}: {path}"


def test_the_list_of_planted_faults_names_tests_that_exist(root):
    """Of the column before, which is history, the files alone."""
    lines = (root / "docs/mutants.md").read_text().splitlines()
    for now, before in [line.split(" | ")[2:] for line in lines if line.count(" | ") == 3]:
        for file, name in re.findall(r"([\w./]+\.py): (\w+)", now):
            assert name in (root / "tests" / file).read_text(), f"{file}: {name}"
        for file in re.findall(r"([\w./]+\.py): ", before):
            assert (root / "tests" / file).exists(), file


def test_every_page_of_the_documentation_is_in_its_contents(root):
    """Sphinx makes the contents of the lists of docs/README.md and docs/api/index.rst."""
    docs = root / "docs"
    listed = re.findall(r"\]\(([\w/-]+\.(?:md|rst))", (docs / "README.md").read_text())
    index = (docs / "api/index.rst").read_text()
    below = re.findall(r"^   ([a-z]\w+)$", index, re.MULTILINE)
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    pages |= {path.relative_to(docs).as_posix() for path in docs.rglob("*.rst")}
    pages -= {"README.md", "paper/paper.md"}
    assert pages == {*listed, *(f"api/{name}.rst" for name in below)}


def test_hosted_checks_try_every_python_that_numba_supports(root, pyproject):
    """The package alone from the oldest to the newest; a new Numba may add one."""
    jobs = yaml.safe_load((root / ".github/workflows/tests.yml").read_text())["jobs"]
    kind = "Programming Language :: Python :: 3."
    known = metadata("numba").get_all("Classifier")
    minors = {int(one.removeprefix(kind)) for one in known if one.startswith(kind)}
    oldest = int(pyproject["project"]["requires-python"].removeprefix(">=3."))
    expected = [f"3.{minor}" for minor in sorted(minors) if minor >= oldest]
    assert jobs["wheel"]["strategy"]["matrix"]["python"] == expected
    assert set(jobs["linux"]["strategy"]["matrix"]["python"]) <= set(expected)


def test_the_published_site_has_the_documentation(root):
    """The workflow uploads the folder in which the target that it makes puts both."""
    (job,) = yaml.safe_load((root / ".github/workflows/site.yml").read_text())["jobs"].values()
    (command,) = [step["run"] for step in job["steps"] if "run" in step]
    (upload,) = [step["with"]["path"] for step in job["steps"] if "path" in step.get("with", {})]
    recipe = re.search(r"^site:.*\n\t(.*)", (root / "Makefile").read_text(), re.MULTILINE)
    assert (command, upload) == ("make site", "site/")
    assert recipe and recipe[1].endswith("snakemake site/index.html")
    docs = (root / "workflow/rules/docs.smk").read_text()
    site = (root / "workflow/rules/site.smk").read_text()
    assert f'directory("{upload}docs")' in docs
    assert f'docs="{upload}docs"' in site


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_committed_targets_are_complete_and_use_known_statistics(paper, root):
    known = MEANINGS | registry.PAPERS[paper].statistics.meanings
    for target in registry.PAPERS[paper].targets.values():
        stem = root / f"figures/{paper}/{target.name}"
        table = pd.read_csv(f"{stem}.csv")
        assert list(table.columns[: len(COLUMNS)]) == COLUMNS
        if target.geometry:
            assert list(pd.read_csv(f"{stem}.geometry.csv", nrows=0)) == list(target.columns)
        assert {name.split(":")[0] for name in table.statistic} <= known.keys()
        assert Path(f"{stem}.svg").stat().st_size > 0
        assert Path(f"{stem}.png").stat().st_size > 0
        assert Path(f"{stem}.pdf").stat().st_size > 0


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_every_reading_is_written_down(paper, root):
    """By its name, or, where names are put together of parts, by every part."""
    text = (root / "docs/readings.md").read_text()
    for reading in registry.PAPERS[paper].simulation.reading_names():
        parts = re.split(r"[+*]", reading)
        assert f"`{reading}`" in text or all(f"`{part}`" in text for part in parts), reading


#: One picture of each paper. Together they use every function of bestarm.common.drawing that draws,
#: and matplotlib's kinds of marks: points with error bars, polygons, lines with intervals and
#: bands, a heat map, box plots.
SAMPLE = {
    "baics": "table1",
    "linear": "fig1",
    "delayed": "fig2",
    "cbmai": "table1",
    "lagex": "fig7",
    "bai": "asymptotics",
}


def pictures(root, paper):
    """All kept pictures of a paper, as (paper, target, path without suffix)."""
    for folder in (root / "figures", root / "figures/more"):
        for name in registry.PAPERS[paper].targets:
            if (folder / paper / f"{name}.csv").exists():
                yield paper, name, folder / paper / name


def test_a_picture_of_each_paper_is_drawn_from_its_committed_table(root, tmp_path):
    """Byte for byte, with the locked matplotlib; a change to a plot must be drawn and committed."""
    assert list(SAMPLE) == list(registry.PAPERS)
    sample = [(paper, name, root / f"figures/{paper}/{name}") for paper, name in SAMPLE.items()]
    assert drawn_otherwise(root, sample, tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("paper", registry.PAPERS)
def test_committed_pictures_are_drawn_from_the_committed_tables(paper, root, tmp_path):
    """Byte for byte, all of them."""
    found = [*pictures(root, paper)]
    assert {name for _, name, _ in found} == set(registry.PAPERS[paper].targets)
    assert drawn_otherwise(root, found, tmp_path) == []


def drawn_otherwise(root, wanted, folder):
    """Those that come out different from what is kept, drawn in a process started for them: numpy
    and OpenBLAS choose their arithmetic when they are loaded."""
    locked = re.search(r"^matplotlib==(\S+)", (root / "requirements.lock").read_text(), re.M)[1]
    if matplotlib.__version__ != locked:
        pytest.skip(f"pictures are promised for matplotlib {locked}")
    with same_bits(), ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(draw, wanted, folder).result()


def draw(wanted, folder):
    different = []
    for paper, name, stem in wanted:
        parts = [read_table(f"{stem}.csv")]
        if registry.PAPERS[paper].targets[name].geometry:
            parts.append(read_geometry(f"{stem}.geometry.csv"))
        save(registry.PAPERS[paper].plots.draw[name](*parts), folder / "x.svg")
        if (folder / "x.svg").read_bytes() != Path(f"{stem}.svg").read_bytes():
            different.append(stem.name)
    return different
