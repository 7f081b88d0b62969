# What all rules share: where the package is, the scales, and the files of a scale.
import getpass
import os
import sys
from hashlib import sha256
from pathlib import Path

if not Path("workflow/rules/common.smk").is_file():
    sys.exit(
        f"error: {Path.cwd()}: is not a checkout of bestarm, which its workflow runs in: clone it "
        "and run snakemake there. It cannot be a module of another workflow, as it reads files "
        "beside it (config/README.md)."
    )

# The workflow always runs the package beside it, in the interpreter that runs Snakemake. Nobody
# else has to set these variables, so they are no `envvars:`.
SOURCE = str(Path(workflow.basedir) / "src")
sys.path.insert(0, SOURCE)
os.environ.update(
    PYTHONPATH=os.pathsep.join([SOURCE, *filter(None, [os.environ.get("PYTHONPATH")])]),
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
)

# Snakemake asks for the user's name, which a container that is run as any number has not.
try:
    getpass.getuser()
except (KeyError, OSError):
    os.environ.update(USER=str(os.getuid()))

from bestarm.arena import PICTURES as ARENA
from bestarm.core.inputs import InputError
from bestarm.build import client, served
from bestarm import registry
from bestarm.publish.captions import rst_caption
from bestarm.common.arithmetic import same_kernels
from bestarm.registry.outline import code_hash, outlines
from bestarm.registry.scales import SCALES, read_scale

# A job on a node of a cluster stays within what it was given: no server of another machine, or of
# this one outside the job, does it.
if not workflow.is_main_process:
    os.environ.pop(client.SOCKET, None)

# Before any job starts; Snakemake itself gives each one thread.
os.environ.update(same_kernels())

try:
    SIZES = {scale: read_scale(Path(f"workflow/scales/{scale}.yaml")) for scale in SCALES}
except InputError as error:
    sys.exit(f"error: {error}")

# Scale `more` has as many replications as --config says. Its rows are those of scale paper and new
# ones after them; its figures stand apart, so that figures/ always has the counts of paper.yaml.
FIGURES = {"paper": "figures"} | {s: f"figures/{s}" for s in (*SCALES[1:], "more")}
SCALE_OF = {folder: scale for scale, folder in FIGURES.items()}
# Folders whose pictures are SVG, PNG and PDF, and folders whose pictures are SVG only.
PRINTED, SKETCHED = ("figures", "figures/more"), ("figures/quick", "figures/smoke")


def shard_scale(scale):
    """The scale that holds the shards of a scale."""
    return "paper" if scale == "more" else scale


def experiment_size(scale, paper, experiment):
    """How many replications an experiment has, from the scale's file or from --config."""
    size = SIZES[shard_scale(scale)].papers[paper][experiment]
    if unknown := config.keys() - {"replications"}:
        sys.exit(f"error: --config {min(unknown)}: unknown, allowed is replications")
    if (scale == "more") != ("replications" in config):
        sys.exit(
            "error: figures under figures/more need --config replications=N, others take none: "
            "snakemake figures/more/PAPER/TARGET.svg --config replications=N"
        )
    if scale == "more":
        try:
            source = f"--config replications, for {paper}/{experiment}"
            size = size.with_replications(config["replications"], source)
        except InputError as error:
            sys.exit(f"error: {error}")
    return size


def shard_options(scale, paper, experiment):
    """What every shard of an experiment depends on, as options. Not the scale's file: it also has
    the number of replications, and more of them keep the shards that there are."""
    per_shard = SIZES[shard_scale(scale)].papers[paper][experiment].per_shard
    return f"--seed {SIZES[shard_scale(scale)].seed} --per-shard {per_shard}"


# Pictures of claims by name: the table that each draws, and what it shows.
OVERVIEWS = {
    "results": ("results", "what replicates"),
    **{f"forest-{paper}": ("claims", f"numbers of {paper}") for paper in registry.COUNTED},
    **{f"scorecard-{paper}": ("scorecard", f"readings of {paper}") for paper in registry.COUNTED},
}


wildcard_constraints:
    scale="|".join(SCALES),
    figures="|".join(SCALE_OF),
    paper="|".join(registry.PAPERS),
    experiment=r"[\w-]+",
    target=r"[\w-]+",
    overview="|".join(OVERVIEWS),
    index=r"\d+",


def targets(paper):
    return outlines()[paper].targets.values()


def cells_hash(paper, experiment):
    """A hash of the cells of an experiment. Shards follow changes by it and not by the code that
    lists them, so that a change to one experiment simulates no other."""
    return outlines()[paper].experiments[experiment]


def kept_hashes(kept):
    """Hashes of kept tables under data/. What is made of them follows changes by these,
    and not as inputs, so that no build of figures ever starts to make the tables again."""
    paths = [Path("data", name) for name in kept]
    return "".join(sha256(p.read_bytes()).hexdigest()[:16] for p in paths if p.exists())


# What the pictures of the arena are drawn from.
ARENA_TABLES = ("arena/cells.csv", "arena/budgets.csv")

# The category of what is of all papers together, in a report of Snakemake.
ACROSS = "All papers"


def report_labels(wildcards, kind):
    """What tells a target's files apart in a report of Snakemake."""
    target = outlines()[wildcards.paper].targets[wildcards.target]
    return {"figure": target.name, "shows": target.title, "as": kind}


def picture(figures, name):
    """The files of a picture."""
    endings = ("svg", "png", "pdf") if figures in PRINTED else ("svg",)
    return [f"{figures}/{name}.{ending}" for ending in endings]


def pictures(figures, paper):
    """Every file kept of a paper's targets."""
    for target in targets(paper):
        stem = f"{figures}/{paper}/{target.name}"
        yield from (f"{stem}.csv", *picture(figures, f"{paper}/{target.name}"))
        if target.geometry:
            yield f"{stem}.geometry.csv"


def across_papers(figures):
    """What is made of all papers together: the verdicts table, its totals, and their pictures; with
    figures of scale paper also the arena."""
    tables = ("claims", "headline", "results", "scorecard", "captions")
    yield from (f"{figures}/{name}.csv" for name in tables)
    yield from [f"{figures}/control.csv"] * bool(registry.CONTROLS)
    for name in OVERVIEWS:
        yield from picture(figures, name)
    for name in ARENA if figures == FIGURES["paper"] else ():
        yield from (f"{figures}/arena/{name}.csv", *picture(figures, f"arena/{name}"))


def summaries(figures, paper):
    """Every summary behind a paper's targets. Manifests depend on them so that a fresh clone,
    which has figures but no results, rebuilds instead of trusting file times."""
    names = {name: None for target in targets(paper) for name in target.experiments}
    return [f"results/{SCALE_OF[figures]}/{paper}/{name}/summary.csv" for name in names]


def each_attempt(amount):
    """A resource: `amount` for a job's first attempt, twice as much for the second, and so on."""
    return lambda wildcards, attempt: amount * attempt


# On a cluster, rules of seconds run where Snakemake does. A submitted job costs more: it starts
# Snakemake anew, up to three times around one another, each some seconds and 210 MB of memory.
localrules:
    summary,
    table,
    geometry,
    plot,
    sketch,
    claims,
    overview,
    overview_sketch,
    arena,
    captions,
    paper_manifest,
    manifest,


# A manifest that exists would hide a missing figure or summary: Snakemake does not look behind a file
# that is newer than everything present. So a run that will build removes such a manifest first. This
# comes before Snakemake's lock, but another run that makes the missing file makes the manifest anew.
BUILDS_NOTHING = {"-n", "--dry-run", "--dryrun", "--lint", "--report"}
ASKED = {word.partition("=")[0] for word in sys.argv}
WILL_BUILD = workflow.is_main_process and not BUILDS_NOTHING & ASKED
if WILL_BUILD:
    for figures in SCALE_OF:
        if not all(Path(file).exists() for file in across_papers(figures)):
            Path(f"{figures}/all").unlink(missing_ok=True)
        for paper in registry.PAPERS:
            behind = [*pictures(figures, paper), *summaries(figures, paper)]
            if not all(Path(file).exists() for file in behind):
                Path(f"{figures}/{paper}/all").unlink(missing_ok=True)
                Path(f"{figures}/all").unlink(missing_ok=True)


onstart:
    # There is no rate of starting jobs to keep to. Snakemake 9 watches it by a timer that sets itself
    # again and again, one more for each job that ends: after hundreds they fill a core.
    workflow.scheduler.job_rate_limiter = None
    # Ends when nothing refers to it any more, that is, with Snakemake.
    workflow.served = served.start()
