"""The workflow itself, run for real at smoke scale in copies of the project.

Where the papers themselves add nothing, the copy has two toys in their place, which differ in name
only. `make test-build` builds all papers, at quick scale. The tests of a class share one copy and
build on one another in the order they are written. A start of Snakemake takes seconds, so tests put
several questions to one.
"""

import base64
import contextlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import toy
from bestarm import registry
from bestarm.common.tables import read_table
from bestarm.publish.captions import kept_caption

#: Whatever asks for a page goes to a port where nothing listens.
OFFLINE = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
ALL = "figures/smoke/all"
ARENA = "figures/arena/winners.svg"
TOYS = ("toy", "twin")
#: What is made of all papers together, when a table of one has changed.
ACROSS = {(rule, "") for rule in ("claims", "overview_sketch", "captions", "manifest")}


def snakemake(project, *arguments, check=True, **more):
    """Run snakemake in a copy as a person would, without this project's own environment."""
    command = [str(Path(sys.executable).with_name("snakemake")), *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | more
    result = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    output = result.stdout + result.stderr
    assert result.returncode == 0 or not check, output
    return output


def jobs(output, scale="") -> Counter:
    """Jobs that a run or a dry run lists, by (rule, paper); if so asked, those of one scale."""
    found = Counter()
    for rule, body in re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)+)", output, re.MULTILINE):
        paper = re.search(r"paper=(\w+)", body)
        if re.search(rf"(scale=|figures=figures/){scale}", body) or not scale:
            found[rule, paper[1] if paper else ""] += 1
    return found


def of_paper(listed, paper) -> dict:
    """How often each rule runs for a paper, of the jobs that are listed."""
    return {rule: count for (rule, name), count in listed.items() if name == paper}


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@contextlib.contextmanager
def edits(project, changes):
    """Files edited, each (path, old, new), and at the end as before."""
    kept = {path: (project / path).read_bytes() for path, _, _ in changes}
    for path, old, new in changes:
        edit(project / path, old, new)
    yield
    for path, content in kept.items():
        (project / path).write_bytes(content)


def nothing_to_do(output):
    return "Nothing to be done" in output


def files_of(project, paper):
    """What is built of a paper; hidden files are Snakemake's own."""
    return list((project / f"figures/smoke/{paper}").glob("[!.]*"))


@pytest.fixture(scope="class")
def plan(project):
    """At smoke scale; and one paper at paper scale, whose figures are in the clone."""
    toy.add_to(project, compiled=False)
    return snakemake(project, "-n", ALL, "figures/baics/all")


class TestAllPapers:
    """All papers and the toy, planned together. What the toy builds is in the next class."""

    def test_a_sixth_paper_is_planned_with_the_others(self, plan):
        listed = jobs(plan, "smoke")
        assert {paper for _, paper in listed} == {*registry.PAPERS, "toy", ""}
        for paper in registry.PAPERS:
            assert listed["table", paper] == len(registry.PAPERS[paper].targets)
        assert listed["table", "toy"] == listed["geometry", "toy"] == 1

    def test_committed_figures_are_not_trusted_by_their_times(self, plan):
        """Figures are there, results are not: paper scale is to be rebuilt whole."""
        listed = jobs(plan) - jobs(plan, "smoke")
        assert listed["shard", "baics"] > 0
        assert listed["table", "baics"] == len(registry.PAPERS["baics"].targets)


@pytest.fixture(scope="class")
def built(project):
    """A copy and the jobs of its build. The twin has two experiments; the toy shows kept data."""
    toy.alone_in(project, *TOYS, compiled=False)
    edit(
        project / "src/bestarm/toy/targets.py",
        "columns=CURVE)",
        'columns=CURVE, kept=("arena/cells.csv",))',
    )
    with (project / "src/bestarm/twin/cells.py").open("a") as cells:
        cell = 'Cell("two-arms", "Equal", {"cap": 50}, "as-written", {}, "budget", 50.0)'
        cells.write(f'EXPERIMENTS += (Experiment("long", ({cell},)),)\n')
    edit(project / "src/bestarm/twin/targets.py", '("errors",)', '("errors", "long")')
    for scale in toy.SCALES:
        edit(
            project / f"workflow/scales/{scale}.yaml",
            "  twin:\n",
            "  twin:\n    long: {replications: 20, per_shard: 20}\n",
        )
    (project / ARENA).unlink()  # else Snakemake knows nothing of what it was made from
    return project, jobs(snakemake(project, ALL, ARENA))


class TestWorkflow:
    """A build of two toys."""

    def test_is_built(self, built):
        project, done = built
        assert {paper for _, paper in done} == {*TOYS, ""}
        for paper in TOYS:
            assert done["table", paper] == done["geometry", paper] == done["sketch", paper] == 1
        assert (done["shard", "toy"], done["shard", "twin"]) == (2, 3)
        assert not list(project.parent.rglob("x"))  # no shell acted on the name
        check = subprocess.run(["sha256sum", "-c", ALL], cwd=project, capture_output=True)
        assert check.returncode == 0
        assert len((project / ALL).read_text().splitlines()) == len(TOYS)

    def test_a_report_has_pictures_with_captions_and_tables(self, built):
        """Made without network."""
        project, _ = built
        snakemake(project, ALL, "--report", "report.html", **OFFLINE)
        page = (project / "report.html").read_text()
        assert not re.search(r"<(script|link|img)[^>]*(src|href)=.https?:", page)
        shown = json.loads(re.search(r"var results = ({.*?});?\n", page)[1])
        files = [path for paper in TOYS for path in files_of(project, paper)]
        tables = [path for path in files if re.fullmatch(r"[\w-]+\.csv", path.name)]
        pictures = [path for path in files if path.suffix == ".svg"]
        assert len(tables) == len(pictures) == len(TOYS)
        pictures += (project / "figures/smoke").glob("*.svg")
        for path in [*tables, *pictures]:
            one = shown[path.relative_to(project).as_posix()]
            assert base64.b64decode(one["data_uri"].partition("base64,")[2]) == path.read_bytes()
            caption = html.unescape(re.sub("<.*?>", "", one["caption"]))
            assert caption.split() == (kept_caption(path) if path in pictures else "").split()
        names = json.loads(re.search(r"var categories = ({.*?});?\n", page)[1])
        assert {"Toy", "Twin", "All papers"} == set(names)
        labels = shown["figures/smoke/toy/fig1.svg"]["labels"]
        assert labels == {"figure": "fig1", "shows": "Errors", "as": "picture"}

    def test_deleted_files_are_rebuilt_alone(self, built):
        """A picture, and a table behind another; the report before has left nothing to be done."""
        project, _ = built
        names = ("toy/fig1.svg", "twin/fig1.geometry.csv")
        lost = [project / f"figures/smoke/{name}" for name in names]
        before = [path.read_bytes() for path in lost]
        for path in lost:
            path.unlink()
        done = jobs(snakemake(project, ALL))
        assert [path.read_bytes() for path in lost] == before
        assert of_paper(done, "toy") == {"sketch": 1, "paper_manifest": 1}
        assert of_paper(done, "twin") == {"geometry": 1, "sketch": 1, "paper_manifest": 1}
        assert of_paper(done, "") == {"captions": 1, "manifest": 1}

    def test_words_rerun_nothing_and_more_replications_keep_their_shards(self, built):
        """In the toy. In its twin, an edit to a picture simulates nothing."""
        project, _ = built
        sizes = "  toy:\n    errors: {replications: %d"
        changes = [
            (
                "src/bestarm/toy/steps.py",
                "state.pulls[arm] += 1.0",
                "state.pulls[arm] += 1.0  # more",
            ),
            ("src/bestarm/toy/steps.py", '"""What', '"""Of what'),
            ("workflow/scales/smoke.yaml", sizes % 40, sizes % 60),
            ("src/bestarm/twin/plots.py", "budget (pulls)", "pulls"),
        ]
        forest = project / "figures/smoke/forest-toy.svg"
        lost = forest.read_bytes()
        forest.unlink()
        with edits(project, changes):
            listed = jobs(snakemake(project, "-n", ALL))
        more = ("shard", "summary", "table", "geometry", "sketch", "paper_manifest")
        assert of_paper(listed, "toy") == dict.fromkeys(more, 1)
        assert listed["overview_sketch", ""] == 1 + 2 * len(TOYS)
        assert of_paper(listed, "twin").items() >= {"sketch": 1, "paper_manifest": 1}.items()
        assert not of_paper(listed, "twin").keys() & {"instances", "shard", "summary", "table"}
        assert (project / ALL).exists()  # though a file is missing: nothing was to be built
        forest.write_bytes(lost)

    def test_an_edit_to_a_statistic_simulates_nothing_and_to_a_title_summarises_nothing(
        self, built
    ):
        """Nor is a plan written: what comes after a plan that is written is simulated again."""
        project, _ = built
        changes = [
            ("src/bestarm/toy/statistics.py", '"mean_lead", "reward"', '"mean_lead", "Reward"'),
            ("src/bestarm/twin/targets.py", '"Errors"', '"Wrong answers"'),
        ]
        with edits(project, changes):
            listed = jobs(snakemake(project, "-n", ALL))
        assert of_paper(listed, "toy")["summary"] == 1
        assert not of_paper(listed, "toy").keys() & {"instances", "shard"}
        assert of_paper(listed, "twin")["table"] == 1
        assert not of_paper(listed, "twin").keys() & {"instances", "shard", "summary"}

    def test_an_edit_to_a_cell_simulates_its_experiment_and_kept_data_go_into_tables(self, built):
        """One of the twin's two; a table under data/ is shown by the toy and by the arena."""
        project, _ = built
        kept = project / "data/arena/cells.csv"
        last = kept.read_text().splitlines()[-1]
        changes = [
            ("src/bestarm/twin/cells.py", '"cap": 50', '"cap": 60'),
            ("data/arena/cells.csv", f"{last}\n", ""),
        ]
        with edits(project, changes):
            listed = jobs(snakemake(project, "-n", ALL, ARENA))
        assert of_paper(listed, "twin")["shard"] == of_paper(listed, "twin")["summary"] == 1
        assert of_paper(listed, "toy")["table"] == 1
        assert not of_paper(listed, "toy").keys() & {"instances", "shard", "summary"}
        assert listed["arena", ""] == 1

    def test_an_edit_to_a_strategy_reruns_its_paper_and_nothing_else(self, built):
        project, _ = built
        before = {path: path.stat().st_mtime_ns for path in files_of(project, "twin")}
        edit(project / "src/bestarm/toy/steps.py", "+= reward", "+= 2.0 * reward")
        table = project / "figures/smoke/toy/fig1.csv"
        old = table.read_bytes()
        done = jobs(snakemake(project, ALL))
        assert done["shard", "toy"] == 2
        others = {(rule, paper) for rule, paper in done if paper != "toy"}
        assert others == ACROSS
        assert table.read_bytes() != old
        assert {path: path.stat().st_mtime_ns for path in before} == before
        assert nothing_to_do(snakemake(project, ALL))

    @pytest.mark.long
    def test_one_core_gives_the_same_bytes(self, built):
        project, _ = built
        pictures = [f"figures/smoke/{paper}/fig1.svg" for paper in TOYS]
        made = [(project / file).with_suffix(e) for file in pictures for e in (".csv", ".svg")]
        before = [path.read_bytes() for path in made]
        for old in ("results", "figures/smoke", ".snakemake"):
            shutil.rmtree(project / old)
        snakemake(project, "--cores", "1", *pictures)
        assert [path.read_bytes() for path in made] == before


@pytest.mark.long
class TestMoreReplications:
    """`--config replications=N`, after the paper's replications."""

    TARGET = "figures/more/toy/fig1.csv"
    SUMMARY = "results/paper/toy/errors/summary.csv"

    def test_new_shards_follow_the_old_which_stay_as_they_are(self, project):
        toy.alone_in(project, "toy", compiled=False)
        snakemake(project, "figures/toy/fig1.csv")
        kept = list((project / self.SUMMARY).parent.iterdir())
        kept += [project / "figures/toy/fig1.csv", project / "results/paper/toy/instances.json"]
        assert len(kept) == 2 + 1 + 2
        before = [(path.stat().st_mtime_ns, path.read_bytes()) for path in kept]
        done = jobs(snakemake(project, self.TARGET, "--config", "replications=100"))
        assert done == {("shard", "toy"): 3, ("summary", "toy"): 1, ("table", "toy"): 1}
        assert [(path.stat().st_mtime_ns, path.read_bytes()) for path in kept] == before
        table = read_table(project / self.TARGET)
        assert set(table.n[table.statistic == "error_rate"]) == {100}

    def test_asking_again_does_nothing(self, project):
        again = snakemake(project, self.TARGET, "--config", "replications=100")
        assert nothing_to_do(again)
        assert nothing_to_do(snakemake(project, "-n", self.SUMMARY))

    def test_fewer_are_the_first_shards(self, project):
        done = jobs(snakemake(project, self.TARGET, "--config", "replications=40"))
        assert done == {("summary", "toy"): 1, ("table", "toy"): 1}
        few = project / self.SUMMARY.replace("paper", "more")
        assert few.read_bytes() == (project / self.SUMMARY).read_bytes()


#: With a list of names and a list of settings, instead of a plan.
ASKING = """
include: "Snakefile"

def made(name):
    return any(each.is_producer(name) for each in workflow.rules)

def refusal(scale, settings):
    config.clear()
    config.update(settings)
    try:
        return str(experiment_size(scale, "toy", "errors"))
    except SystemExit as end:
        return end.code

for each in workflow.rules:
    each.update_wildcard_constraints()
asked = json.loads(Path("asked.json").read_text())
answers = [[made(name) for name in asked[0]], [refusal(*words) for words in asked[1]]]
tables = workflow.get_rule("arena_cells").output
answers.append({str(table): table.is_flagged("update") for table in tables})
Path("answers.json").write_text(json.dumps(answers))
sys.exit(3)
"""
NAMES = (
    "figures/smoke/toy/$(touch x).svg",
    "figures/smoke/toy/a b.svg",
    "figures/smoke/toy/a.b.svg",
    "results/smoke/toy/a;b/summary.csv",
    "results/smoke/toy/`x`/summary.csv",
)
GOOD_NAMES = ("figures/smoke/toy/a_b-1.svg", "results/smoke/toy/a-b/summary.csv")
SETTINGS = (
    ("smoke", {"replications": 10}, "others take none"),
    ("more", {"replications": 50}, "multiple of per_shard, got 50 and 20; the next is 60"),
    ("more", {"replications": "many"}, "for toy/errors: replications: must be a"),
    ("more", {"runs": 10}, "--config runs: unknown, allowed is replications"),
    ("more", {"replications": 60}, "replications=60 per_shard=20"),
)


@pytest.fixture(scope="class")
def toys(project):
    toy.alone_in(project, "toy", compiled=False)
    return project


@pytest.fixture(scope="class")
def answers(toys):
    (toys / "asking.smk").write_text("import json\n" + ASKING)
    asked = [[*NAMES, *GOOD_NAMES], [words[:2] for words in SETTINGS]]
    (toys / "asked.json").write_text(json.dumps(asked))
    snakemake(toys, "-n", "--snakefile", "asking.smk", check=False)
    return json.loads((toys / "answers.json").read_text())


class TestRefused:
    """What is not built, or not deleted before it is."""

    def test_names_that_a_shell_would_act_on_are_no_targets(self, answers):
        made = dict(zip([*NAMES, *GOOD_NAMES], answers[0], strict=True))
        assert [name for name in made if made[name]] == list(GOOD_NAMES)

    def test_replications_that_cannot_be(self, answers):
        for (*_, words), said in zip(SETTINGS, answers[1], strict=True):
            assert words in said

    def test_tables_of_the_arena_are_there_for_the_command_that_updates_them(self, answers):
        assert answers[2] == dict.fromkeys(answers[2], True)
        assert len(answers[2]) == 5

    def test_a_mistake_is_one_line(self, toys):
        output = snakemake(toys, "-n", "figures/more/toy/fig1.csv", check=False)
        said = "figures under figures/more need --config replications=N"
        assert said in output.splitlines()[-1]
        assert "Traceback" not in output

    def test_bad_configuration_is_one_line_and_nothing_is_written(self, toys):
        edit(toys / "workflow/scales/smoke.yaml", "errors: {", "errors: {rounds: 3, ")
        output = snakemake(toys, ALL, check=False)
        assert "Traceback" not in output
        said = "error: workflow/scales/smoke.yaml: papers.toy.errors.rounds: unknown field"
        assert said in output
        assert not (toys / "results").exists()


class TestFrontDoor:
    """What somebody meets who knows Snakemake and not this workflow."""

    def test_without_a_target_everything_is_made(self, toys):
        output = snakemake(toys, "-n")
        assert not nothing_to_do(output)
        assert jobs(output)["manifest", ""] == jobs(output)["paper_manifest", "toy"] == 1
        assert jobs(output)["shard", "toy"] > 0

    def test_a_wrong_target_is_one_line_with_the_nearest_names(self, toys):
        output = snakemake(toys, "figures/toy/fgi1.svg", "figures/all", check=False)
        (said,) = [line for line in output.splitlines() if not line.startswith("Using workflow")]
        assert said.startswith("error: figures/toy/fgi1.svg: nothing makes this; did you mean ")
        assert "figures/toy/fig1.svg" in said

    def test_every_rule_has_a_sentence(self, toys):
        listed = snakemake(toys, "--list-rules").splitlines()
        rules = [line for line in listed if not line.startswith("Using workflow")]
        assert len(rules) > 25
        assert [line for line in rules if not re.fullmatch(r"\w+ \([A-Z].*\.\)", line)] == []

    def test_lints_are_those_that_the_snakefile_explains(self, toys):
        found = set(re.findall(r"^    \* (.*)", snakemake(toys, "--lint", check=False), re.M))
        assert found == {"Specify a conda environment or container for each rule.:"}
        assert "asks for a conda environment or a container" in (toys / "Snakefile").read_text()

    def test_as_a_module_it_says_that_it_cannot_be_one(self, toys, tmp_path):
        module = f"module bestarm:\n    snakefile: {str(toys / 'Snakefile')!r}\n\n"
        (tmp_path / "Snakefile").write_text(module + "use rule * from bestarm\n")
        *_, said = snakemake(tmp_path, "-n", check=False).splitlines()
        assert said.startswith(f"error: {tmp_path}: is not a checkout of bestarm")
        assert "cannot be a module" in said


@pytest.mark.long
class TestSite:
    """Of a project with a toy that was never built, and with few files for pages of code.

    `make test-build`, which is part of `.ci/run`, builds the whole site and looks at every page.
    """

    SITE = "site/index.html"
    API = "Interface\n=========\n\n.. autofunction:: bestarm.toy.steps.choose\n"
    PAGES = ("readings", "findings", "papers", "arena")

    def test_it_is_built_once_and_nothing_is_simulated(self, project):
        toy.alone_in(project, "toy", compiled=False)
        for folder in ("notebooks", "tests"):
            shutil.rmtree(project / folder)
        templates = project / "src/bestarm/publish/site/templates"
        edit(templates / "base.html", "src/bestarm/", "src/bestarm/toy/")
        edit(project / "README.md", "(src/bestarm/baics)", "(src/bestarm/toy)")
        for page in [*(project / "docs/api").glob("*.rst"), *(project / "docs").rglob("*.md")]:
            page.unlink()
        listed = "".join(f"- [Page]({name}.md)\n" for name in self.PAGES)
        contents = f"# Documentation\n\n## Reference\n\n{listed}- [Interface](api/index.rst)\n"
        (project / "docs/README.md").write_text(contents)
        for name in self.PAGES:
            code = "[code](../src/bestarm/toy/steps.py)"
            (project / f"docs/{name}.md").write_text(f"# {name}\n\nA page, {code}.\n")
        (project / "docs/api/index.rst").write_text(self.API)
        done = jobs(snakemake(project, self.SITE))
        assert done == {("docs", ""): 1, ("site", ""): 1}
        page = (project / "site/toy.html").read_text()
        assert "Not built yet" in page
        assert "not tested yet" in page
        assert 'href="toy.html"' in (project / self.SITE).read_text()
        docs = project / "site/docs"
        assert "bestarm.toy.steps.choose" in (docs / "api/index.html").read_text()
        there = re.search(r'href="(\.\./code/[^"]+)"', (docs / "papers.html").read_text())
        assert (docs / there[1]).is_file()
        # Hidden ones are Snakemake's own.
        files = [f for f in (project / "site").rglob("[!.]*") if f.is_file()]
        assert (project / self.SITE).stat().st_mtime_ns == max(f.stat().st_mtime_ns for f in files)

    def test_new_file_times_rebuild_nothing(self, project):
        (project / "figures/claims.csv").touch()
        (project / "docs/papers.md").touch()
        assert nothing_to_do(snakemake(project, "-n", self.SITE))

    def test_an_edit_to_what_it_shows_rebuilds_it(self, project):
        with edits(project, [("docs/readings.md", "# ", "#  ")]):
            made = jobs(snakemake(project, "-n", self.SITE))
            assert made == {("docs", ""): 1, ("site", ""): 1}

    def test_a_page_without_a_place_in_the_contents_is_refused(self, project):
        with edits(project, [("docs/README.md", "- [Page](arena.md)\n", "")]):
            snakemake(project, self.SITE, "--until", "docs", check=False)
            log = (project / "results/logs/docs.log").read_text()
        assert "arena.md: WARNING: document isn't included in any toctree" in log
        snakemake(project, self.SITE)

    def test_a_lost_page_is_made_again(self, project):
        """The run first removes the page that is asked for; this one ends before it makes it."""
        (project / "site/toy.html").unlink()
        snakemake(project, self.SITE, "--until", "docs")
        assert not (project / self.SITE).exists()
        assert (project / "site/docs/api/index.html").exists()

    def test_a_notebook_is_made_first(self, project):
        (project / "notebooks").mkdir()
        (project / "notebooks/toy.py").write_text("1\n")
        output = snakemake(project, "-n", self.SITE, check=False)
        assert "results/notebooks/toy.ipynb" in output
