"""The workflow itself, run for real at smoke scale in a copy of the project, with one paper.

`make test-build` builds all papers, at quick scale.
The tests of a class share one copy and build on one another in the order they are written.
"""

import base64
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
from bestarm.common.tables import read_table
from bestarm.pipeline import registry
from bestarm.pipeline.captions import caption_of

#: Whatever asks for a page goes to a port where nothing listens.
OFFLINE = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
ALL = "figures/smoke/all"
BAICS = registry.PAPERS["baics"]


def snakemake(project, *arguments, check=True, **more):
    """Run snakemake in a copy as a person would, without this project's own environment."""
    command = [str(Path(sys.executable).with_name("snakemake")), *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | more
    result = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    output = result.stdout + result.stderr
    assert result.returncode == 0 or not check, output
    return output


def jobs(output) -> Counter:
    """Jobs that a run or a dry run lists, by (rule, paper)."""
    found = Counter()
    for rule, body in re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)+)", output, re.MULTILINE):
        paper = re.search(r"paper=(\w+)", body)
        found[rule, paper[1] if paper else ""] += 1
    return found


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def nothing_to_do(output):
    return "Nothing to be done" in output


def files_of(project):
    """What is built of the paper; hidden files are Snakemake's own."""
    return list((project / "figures/smoke/baics").glob("[!.]*"))


class TestSixthPaper:
    """The toy beside all papers; what it builds is in the next class."""

    def test_it_is_planned_with_the_others(self, project):
        toy.add_to(project, compiled=False)
        listed = jobs(snakemake(project, "-n", ALL))
        assert {paper for _, paper in listed} == {*registry.PAPERS, "toy", ""}
        for paper in registry.PAPERS:
            assert listed["table", paper] == len(registry.PAPERS[paper].targets)
        assert listed["table", "toy"] == listed["geometry", "toy"] == 1


class TestWorkflow:
    """One paper and the toy."""

    def test_is_built(self, project):
        toy.beside(project, "baics")
        done = jobs(snakemake(project, ALL))
        assert {paper for _, paper in done} == {"baics", "toy", ""}
        assert done["table", "baics"] == len(BAICS.targets)
        assert done["geometry", "toy"] == 1
        assert not list(project.parent.rglob("x"))  # no shell acted on the name
        check = subprocess.run(["sha256sum", "-c", ALL], cwd=project, capture_output=True)
        assert check.returncode == 0
        lines = (project / ALL).read_text().splitlines()
        assert len(lines) == len(BAICS.targets) + 1  # the toy's one

    def test_a_report_has_pictures_with_captions_and_tables(self, project):
        """Made without network; it leaves nothing to be done."""
        snakemake(project, ALL, "--report", "report.html", **OFFLINE)
        page = (project / "report.html").read_text()
        assert not re.search(r"<(script|link|img)[^>]*(src|href)=.https?:", page)
        shown = json.loads(re.search(r"var results = ({.*?});?\n", page)[1])
        tables = [path for path in files_of(project) if re.fullmatch(r"[\w-]+\.csv", path.name)]
        pictures = [path for path in files_of(project) if path.suffix == ".svg"]
        pictures += (project / "figures/smoke").glob("*.svg")
        assert len(tables) == len(BAICS.targets)
        for path in [*tables, *pictures]:
            one = shown[path.relative_to(project).as_posix()]
            assert base64.b64decode(one["data_uri"].partition("base64,")[2]) == path.read_bytes()
            caption = html.unescape(re.sub("<.*?>", "", one["caption"]))
            assert caption.split() == (caption_of(path) if path in pictures else "").split()
        names = json.loads(re.search(r"var categories = ({.*?});?\n", page)[1])
        assert {BAICS.title, "All papers"} < set(names)
        labels = shown["figures/smoke/baics/table1.svg"]["labels"]
        assert labels == {
            "figure": "table1",
            "shows": "Stopping times in example 1",
            "as": "picture",
        }
        assert nothing_to_do(snakemake(project, ALL))

    @pytest.mark.parametrize(
        "target",
        [
            "figures/smoke/toy/$(touch x).svg",
            "figures/smoke/toy/a b.svg",
            "figures/smoke/toy/a.b.svg",
            "results/smoke/toy/a;b/summary.csv",
            "results/smoke/toy/`x`/summary.csv",
        ],
    )
    def test_names_that_a_shell_would_act_on_are_no_targets(self, project, target):
        assert "MissingRuleException" in snakemake(project, "-n", target, check=False)

    def test_deleted_files_are_rebuilt_alone(self, project):
        """A picture, and the table of another."""
        lost = [project / f"figures/smoke/baics/{name}" for name in ("fig1.svg", "fig2.csv")]
        before = [path.read_bytes() for path in lost]
        for path in lost:
            path.unlink()
        done = jobs(snakemake(project, ALL))
        assert [path.read_bytes() for path in lost] == before
        assert done["table", "baics"] == 1
        assert done["plot", "baics"] <= 2
        assert not {rule for rule, _ in done} & {"shard", "summary"}
        assert nothing_to_do(snakemake(project, ALL))

    def test_a_dry_run_leaves_the_manifest(self, project):
        figure = project / "figures/smoke/baics/fig2.svg"
        kept = figure.read_bytes()
        figure.unlink()
        snakemake(project, "-n", ALL)
        assert (project / ALL).exists()
        figure.write_bytes(kept)

    def test_words_about_code_rerun_nothing(self, project):
        steps = project / "src/bestarm/baics/steps.py"
        before = steps.read_bytes()
        edit(steps, "INITIAL_DRAWS = 5", "INITIAL_DRAWS = 5  #")
        edit(steps, '"""The steps of', '"""Steps of')
        assert not jobs(snakemake(project, "-n", ALL))
        steps.write_bytes(before)  # else all is compiled again

    def test_an_edit_to_a_picture_simulates_nothing(self, project):
        edit(project / "src/bestarm/baics/plots.py", "where the pulls go", "where pulls go")
        listed = jobs(snakemake(project, "-n", ALL))
        assert listed["plot", "baics"] == len(BAICS.targets)
        assert not {rule for rule, _ in listed} & {"shard", "summary", "table"}
        edit(project / "src/bestarm/baics/plots.py", "where pulls go", "where the pulls go")

    def test_an_edit_to_a_statistic_simulates_nothing(self, project):
        """Nor does it write a plan: what comes after a plan that is written is simulated again."""
        rooms = project / "src/bestarm/baics/statistics.py"
        edit(rooms, '"mean_share:{k + 1}", "share"', '"mean_share:{k + 1}", "Share"')
        listed = jobs(snakemake(project, "-n", ALL))
        assert listed["summary", "baics"] == len(BAICS.experiments)
        assert not {rule for rule, _ in listed} & {"shard"}
        edit(rooms, '"mean_share:{k + 1}", "Share"', '"mean_share:{k + 1}", "share"')

    def test_an_edit_to_a_title_summarises_nothing(self, project):
        edit(project / "src/bestarm/baics/targets.py", '"Sample allocation', '"Allocation')
        listed = jobs(snakemake(project, "-n", ALL))
        assert listed["table", "baics"] == len(BAICS.targets)
        assert not {rule for rule, _ in listed} & {"shard", "summary"}
        edit(project / "src/bestarm/baics/targets.py", '"Allocation', '"Sample allocation')

    def test_an_edit_to_a_cell_simulates_its_experiment(self, project):
        rooms = project / "src/bestarm/baics/cells.py"
        edit(rooms, "(20, True)", "(10, True)")
        listed = jobs(snakemake(project, "-n", ALL))
        assert listed["shard", "baics"] == 1
        edit(rooms, "(10, True)", "(20, True)")

    def test_an_edit_to_a_strategy_reruns_its_paper_and_nothing_else(self, project):
        before = {path: path.stat().st_mtime_ns for path in files_of(project)}
        edit(project / "src/bestarm/toy/strategies.py", "lead = 0.0", "lead = 1.0")
        table = project / "figures/smoke/toy/fig1.csv"
        old = table.read_bytes()
        done = jobs(snakemake(project, ALL))
        assert done["shard", "toy"] == 2
        others = {(rule, paper) for rule, paper in done if paper != "toy"}
        across = {(rule, "") for rule in ("claims", "forest", "captions", "manifest")}
        assert others == {*across, ("scorecard", "baics")}
        assert table.read_bytes() != old
        assert {path: path.stat().st_mtime_ns for path in before} == before
        assert nothing_to_do(snakemake(project, ALL))

    def test_an_edit_to_a_compiled_strategy_simulates_its_paper(self, project):
        steps = project / "src/bestarm/baics/steps.py"
        edit(steps, "INITIAL_DRAWS = 5", "INITIAL_DRAWS = 6")
        listed = jobs(snakemake(project, "-n", ALL))
        assert listed["shard", "baics"] == len(BAICS.experiments) + 1  # two shards of example1
        assert not listed["shard", "toy"]
        edit(steps, "INITIAL_DRAWS = 6", "INITIAL_DRAWS = 5")

    def test_more_replications_add_shards_and_keep_the_old(self, project):
        old = project / "results/smoke/baics/example1/shard-0.parquet"
        before = old.stat().st_mtime_ns
        scale = project / "workflow/scales/smoke.yaml"
        few = "example1: {replications: 2, per_shard: 1}"
        edit(scale, few, few.replace("2", "3"))
        done = jobs(snakemake(project, "results/smoke/baics/example1/summary.csv"))
        assert done["shard", "baics"] == 1
        assert old.stat().st_mtime_ns == before
        edit(scale, few.replace("2", "3"), few)

    def test_one_core_gives_the_same_bytes(self, project):
        """Of a picture with shards, of one without, and of one of a paper that is not compiled."""
        pictures = [
            f"figures/smoke/{n}.svg" for n in ("baics/table1", "baics/tracking", "toy/fig1")
        ]
        made = [
            (project / file).with_suffix(e) for file in pictures for e in (".csv", ".svg", ".pdf")
        ]
        before = [path.read_bytes() for path in made]
        for old in ("results", "figures/smoke", ".snakemake"):
            shutil.rmtree(project / old)
        snakemake(project, "--cores", "1", *pictures)
        assert [path.read_bytes() for path in made] == before


class TestMoreReplications:
    """`--config replications=N`, after the paper's replications, which are made few."""

    TARGET = "figures/more/baics/two-stage.csv"
    SIZE = "two-stage: {replications: 300, per_shard: 100}"

    def test_new_shards_follow_the_old_which_stay_as_they_are(self, project):
        shutil.rmtree(project / "figures/more", ignore_errors=True)  # kept ones count as made
        edit(
            project / "workflow/scales/paper.yaml",
            self.SIZE,
            "two-stage: {replications: 4, per_shard: 2}",
        )
        snakemake(project, "results/paper/baics/two-stage/summary.csv")
        kept = list((project / "results/paper/baics/two-stage").iterdir())
        kept += [
            project / "figures/baics/two-stage.csv",
            project / "results/paper/baics/instances.json",
        ]
        before = [(path.stat().st_mtime_ns, path.read_bytes()) for path in kept]
        done = jobs(snakemake(project, self.TARGET, "--config", "replications=10"))
        assert done == {("shard", "baics"): 3, ("summary", "baics"): 1, ("table", "baics"): 1}
        assert [(path.stat().st_mtime_ns, path.read_bytes()) for path in kept] == before
        table = read_table(project / self.TARGET)
        assert set(table.n[table.statistic == "error_rate"]) == {10}

    def test_asking_again_does_nothing(self, project):
        again = snakemake(project, self.TARGET, "--config", "replications=10")
        assert nothing_to_do(again)
        assert nothing_to_do(snakemake(project, "-n", "results/paper/baics/two-stage/summary.csv"))

    def test_fewer_are_the_first_shards(self, project):
        done = jobs(snakemake(project, self.TARGET, "--config", "replications=4"))
        assert done == {("summary", "baics"): 1, ("table", "baics"): 1}
        few = project / "results/more/baics/two-stage/summary.csv"
        assert (
            few.read_bytes() == (few.parents[3] / "paper/baics/two-stage/summary.csv").read_bytes()
        )

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ((TARGET,), "figures under figures/more need --config replications=N"),
            (
                ("results/smoke/baics/two-stage/summary.csv", "--config", "replications=10"),
                "others take none",
            ),
            ((TARGET, "--config", "replications=5"), "multiple of per_shard, got 5 and 2; the n"),
            (
                (TARGET, "--config", "replications=many"),
                "for baics/two-stage: replications: must be a",
            ),
            ((TARGET, "--config", "runs=10"), "--config runs: unknown, allowed is replications"),
        ],
    )
    def test_a_mistake_is_one_line(self, project, arguments, said):
        output = snakemake(project, "-n", *arguments, check=False)
        assert said in output.splitlines()[-1]
        assert "Traceback" not in output


class TestFreshClone:
    def test_committed_figures_are_not_trusted_by_their_times(self, project):
        """Figures are there, results are not: paper scale is to be rebuilt whole."""
        listed = jobs(snakemake(project, "-n", "figures/all"))
        assert listed["shard", "baics"] > 0
        assert listed["table", "baics"] == len(BAICS.targets)

    def test_bad_configuration_is_one_line_and_nothing_is_written(self, project):
        edit(project / "workflow/scales/smoke.yaml", "example1: {", "example1: {rounds: 3, ")
        output = snakemake(project, ALL, check=False)
        assert "Traceback" not in output
        assert (
            "error: workflow/scales/smoke.yaml: papers.baics.example1.rounds: unknown field"
            in output
        )
        assert not (project / "results").exists()


class TestSite:
    """From the committed figures, with another paper that has none."""

    SITE = "site/index.html"

    def test_a_fresh_clone_simulates_nothing(self, project):
        toy.beside(project, "baics")
        shutil.rmtree(project / "notebooks", ignore_errors=True)
        assert jobs(snakemake(project, "-n", self.SITE)) == {("api", ""): 1, ("site", ""): 1}

    def test_it_is_built_once(self, project):
        snakemake(project, self.SITE)
        page = (project / "site/toy.html").read_text()
        assert "Not built yet" in page
        assert "not tested yet" in page
        assert 'href="toy.html"' in (project / self.SITE).read_text()
        assert "bestarm.baics.TaSCS" in (project / "site/api/baics.html").read_text()
        # Hidden ones are Snakemake's own.
        files = [f for f in (project / "site").rglob("[!.]*") if f.is_file()]
        assert (project / self.SITE).stat().st_mtime_ns == max(f.stat().st_mtime_ns for f in files)
        assert nothing_to_do(snakemake(project, self.SITE))

    def test_new_file_times_rebuild_nothing(self, project):
        (project / "figures/baics/fig2.csv").touch()
        (project / "docs/design.md").touch()
        assert nothing_to_do(snakemake(project, "-n", self.SITE))

    @pytest.mark.parametrize("path", ["figures/baics/fig2.svg", "docs/readings.md"])
    def test_an_edit_to_what_it_shows_rebuilds_it(self, project, path):
        before = (project / path).read_bytes()
        (project / path).write_bytes(before + b"\n")
        assert jobs(snakemake(project, "-n", self.SITE)) == {("site", ""): 1}
        (project / path).write_bytes(before)

    def test_a_lost_page_is_made_again(self, project):
        (project / "site/toy.html").unlink()
        shutil.rmtree(project / "site/code")
        snakemake(project, self.SITE)
        assert (project / "site/toy.html").exists()
        assert (project / "site/code/src/bestarm/index.html").exists()

    def test_a_notebook_is_made_first(self, project):
        (project / "notebooks").mkdir()
        (project / "notebooks/toy.py").write_text("1\n")
        output = snakemake(project, "-n", self.SITE, check=False)
        assert "results/notebooks/toy.ipynb" in output
