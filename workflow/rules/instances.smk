# Compile a paper's kernels before its jobs fan out, and write down its instances.


rule instances:
    """Compile a paper's kernels and write its instances, with their ground truth."""
    input:
        lambda w: sorted(str(p) for p in Path(f"data/instances/{w.paper}").glob("*")),
    output:
        "results/{scale}/{paper}/instances.json",
    log:
        "results/logs/{scale}/{paper}/instances.log",
    threads: 1
    resources:
        # Compiling takes up to 555 MB (lagex) beside the Snakemakes around a job, and minutes.
        mem_mb=each_attempt(1500),
        runtime=each_attempt(30),
    params:
        # The strategies count because this job compiles them. A marker file of its own would have
        # to be an ancient() input of the shards, and Snakemake 9 passes over jobs behind one.
        code=lambda w: code_hash(
            "bestarm.runs.plan", f"bestarm.{w.paper}.problem", f"bestarm.{w.paper}.strategies"
        )
        + kept_hashes(outlines()[w.paper].kept),
    shell:
        "(python -m bestarm workflow compile {wildcards.paper}"
        " && python -m bestarm workflow instances {wildcards.paper} --out {output}) 2> {log}"
