# From summaries to tables, pictures, claims and manifests. What is marked with report() is shown by
# `snakemake ... --report`, with the caption that a picture keeps in its data. At quick and smoke
# scale pictures are SVG only: PNG and PDF take half as long again.

TARGET_PICTURE = {
    "caption": "../report/caption.rst",
    "category": lambda w: registry.PAPERS[w.paper].title,
    "labels": lambda w: report_labels(w, "picture"),
}
OVERVIEW_PICTURE = {
    "caption": "../report/caption.rst",
    "category": ACROSS,
    "labels": lambda w: {"figure": OVERVIEWS[w.overview][1], "as": "picture"},
}


rule table:
    """Make the table of a figure from the summaries behind it."""
    input:
        summaries=lambda w: [
            f"results/{SCALE_OF[w.figures]}/{w.paper}/{name}/summary.csv"
            for name in outlines()[w.paper].targets[w.target].experiments
        ],
        instances=lambda w: f"results/{shard_scale(SCALE_OF[w.figures])}/{w.paper}/instances.json",
        published="data/published/{paper}.csv",
    output:
        report(
            "{figures}/{paper}/{target}.csv",
            category=lambda w: registry.PAPERS[w.paper].title,
            labels=lambda w: report_labels(w, "table"),
        ),
    log:
        "results/logs/{figures}/{paper}/{target}.table.log",
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=lambda w: code_hash("bestarm.common.tables", f"bestarm.{w.paper}.targets")
        + kept_hashes(outlines()[w.paper].targets[w.target].kept),
        kind="",
    shell:
        "python -m bestarm workflow table {wildcards.paper} {wildcards.target} {input.instances}"
        " {input.published} {input.summaries} {params.kind} --out {output} 2> {log}"


use rule table as geometry with:
    """Make the polygons and curves of a figure, beside its table."""
    output:
        "{figures}/{paper}/{target}.geometry.csv",
    log:
        "results/logs/{figures}/{paper}/{target}.geometry.log",
    params:
        code=rules.table.params.code,
        kind="--geometry",


rule plot:
    """Draw a figure from its table: SVG, PNG and PDF."""
    input:
        table="{figures}/{paper}/{target}.csv",
        geometry=lambda w: (
            f"{w.figures}/{w.paper}/{w.target}.geometry.csv"
            if outlines()[w.paper].targets[w.target].geometry
            else []
        ),
    output:
        report("{figures}/{paper}/{target}.svg", **TARGET_PICTURE),
        "{figures}/{paper}/{target}.png",
        "{figures}/{paper}/{target}.pdf",
    log:
        "results/logs/{figures}/{paper}/{target}.plot.log",
    wildcard_constraints:
        figures="|".join(PRINTED),
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=lambda w: code_hash(f"bestarm.{w.paper}.plots"),
        # As it depends on the output, a new caption is no reason to draw again.
        caption=lambda w, output: rst_caption(output[0]),
        geometry=lambda w, input: f"--geometry {input.geometry}" if input.geometry else "",
    shell:
        "python -m bestarm workflow plot {wildcards.paper} {wildcards.target} {input.table}"
        " {output} {params.geometry} 2> {log}"


use rule plot as sketch with:
    """Draw a figure at quick or smoke scale from its table: SVG."""
    output:
        report("{figures}/{paper}/{target}.svg", **TARGET_PICTURE),
    wildcard_constraints:
        figures="|".join(SKETCHED),


rule claims:
    """Judge every claim of the papers on the tables."""
    input:
        tables=lambda w: [
            f"{w.figures}/{paper}/{target.name}.csv"
            for paper in registry.COUNTED
            for target in targets(paper)
        ],
        files=[f"data/claims/{paper}.yaml" for paper in registry.COUNTED],
        published=[f"data/published/{paper}.csv" for paper in registry.COUNTED],
    output:
        claims=report(
            "{figures}/claims.csv", category=ACROSS, labels={"figure": "all claims", "as": "table"}
        ),
        headline=report(
            "{figures}/headline.csv", category=ACROSS, labels={"figure": "totals", "as": "table"}
        ),
        results=report(
            "{figures}/results.csv",
            category=ACROSS,
            labels={"figure": "independent results", "as": "table"},
        ),
        scorecard=report(
            "{figures}/scorecard.csv",
            category=ACROSS,
            labels={"figure": "readings", "as": "table"},
        ),
    log:
        "results/logs/{figures}/claims.log",
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code_hash("bestarm.verdicts.judge", "bestarm.verdicts.scoreboard"),
    shell:
        "python -m bestarm workflow claims {input.files} --figures {wildcards.figures}"
        " --out {output.claims} --headline {output.headline} --results {output.results}"
        " --scorecard {output.scorecard} 2> {log}"


rule control:
    """Judge every claim of the positive control on its tables."""
    input:
        tables=lambda w: [
            f"{w.figures}/{paper}/{target.name}.csv"
            for paper in registry.CONTROLS
            for target in targets(paper)
        ],
        files=[f"data/claims/{paper}.yaml" for paper in registry.CONTROLS],
        published=[f"data/published/{paper}.csv" for paper in registry.CONTROLS],
    output:
        report(
            "{figures}/control.csv",
            category=ACROSS,
            labels={"figure": "claims of the positive control", "as": "table"},
        ),
    log:
        "results/logs/{figures}/control.log",
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code_hash("bestarm.verdicts.judge"),
    shell:
        "python -m bestarm workflow control {input.files} --figures {wildcards.figures}"
        " --out {output} 2> {log}"


rule overview:
    """Draw what became of the claims: all results, a paper's numbers, or its readings."""
    input:
        lambda w: f"{w.figures}/{OVERVIEWS[w.overview][0]}.csv",
    output:
        report("{figures}/{overview}.svg", **OVERVIEW_PICTURE),
        "{figures}/{overview}.png",
        "{figures}/{overview}.pdf",
    log:
        "results/logs/{figures}/{overview}.log",
    wildcard_constraints:
        figures="|".join(PRINTED),
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code_hash("bestarm.publish.overview"),
        caption=lambda w, output: rst_caption(output[0]),
    shell:
        "python -m bestarm workflow overview {wildcards.overview} {input} {output} 2> {log}"


use rule overview as overview_sketch with:
    """Draw what became of the claims at quick or smoke scale: SVG."""
    output:
        report("{figures}/{overview}.svg", **OVERVIEW_PICTURE),
    wildcard_constraints:
        figures="|".join(SKETCHED),


rule arena:
    """Draw a picture of the arena from its kept tables, which are of no scale."""
    output:
        table=report(
            "figures/arena/{target}.csv",
            category=ACROSS,
            labels=lambda w: {"figure": ARENA[w.target], "as": "table"},
        ),
        svg=report(
            "figures/arena/{target}.svg",
            caption="../report/caption.rst",
            category=ACROSS,
            labels=lambda w: {"figure": ARENA[w.target], "as": "picture"},
        ),
        png="figures/arena/{target}.png",
        pdf="figures/arena/{target}.pdf",
    log:
        "results/logs/figures/arena-{target}.log",
    wildcard_constraints:
        target="|".join(ARENA),
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code_hash("bestarm.arena.pictures") + kept_hashes(ARENA_TABLES),
        caption=lambda w, output: rst_caption(output.svg),
    shell:
        "python -m bestarm workflow arena {wildcards.target} data/arena {output.svg} {output.png}"
        " {output.pdf} --out {output.table} 2> {log}"


rule captions:
    """Collect the captions of all pictures."""
    input:
        lambda w: [
            f"{w.figures}/{paper}/{target.name}.svg"
            for paper in registry.PAPERS
            for target in targets(paper)
        ],
        lambda w: [file for file in across_papers(w.figures) if file.endswith(".svg")],
    output:
        "{figures}/captions.csv",
    log:
        "results/logs/{figures}/captions.log",
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        code=code_hash("bestarm.publish.captions"),
    shell:
        "python -m bestarm workflow captions {input} --out {output} 2> {log}"


rule paper_manifest:
    """Make everything of one paper: figures/PAPER/all, the hashes of its tables."""
    input:
        tables=lambda w: [f"{w.figures}/{w.paper}/{t.name}.csv" for t in targets(w.paper)],
        pictures=lambda w: list(pictures(w.figures, w.paper)),
        summaries=lambda w: summaries(w.figures, w.paper),
    output:
        "{figures}/{paper}/all",
    log:
        "results/logs/{figures}/{paper}/manifest.log",
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        code=code_hash("bestarm.build.manifest"),
    shell:
        "python -m bestarm workflow manifest {input.tables} --out {output} 2> {log}"


rule manifest:
    """Make everything at one scale: figures/all, the hashes of all tables."""
    input:
        tables=lambda w: [
            f"{w.figures}/{paper}/{target.name}.csv"
            for paper in registry.PAPERS
            for target in targets(paper)
        ],
        papers=lambda w: [f"{w.figures}/{paper}/all" for paper in registry.PAPERS],
        across=lambda w: list(across_papers(w.figures)),
    output:
        "{figures}/all",
    log:
        "results/logs/{figures}/manifest.log",
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        code=code_hash("bestarm.build.manifest"),
    shell:
        "python -m bestarm workflow manifest {input.tables} --out {output} 2> {log}"
