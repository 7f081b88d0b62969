# Simulate the shards of an experiment, and summarise them.


rule shard:
    """Simulate one range of replications of an experiment."""
    input:
        "results/{scale}/{paper}/instances.json",
    output:
        "results/{scale}/{paper}/{experiment}/shard-{index}.parquet",
    log:
        "results/logs/{scale}/{paper}/{experiment}/shard-{index}.log",
    benchmark:
        "results/benchmarks/{scale}/{paper}/{experiment}/shard-{index}.tsv"
    threads: 1
    resources:
        # Measured at paper scale: under 400 MB (docs/speed.md) and the Snakemakes around a job;
        # 15 minutes (lagex, hard; results/benchmarks). The same for all shards, because a job array
        # asks for the same.
        mem_mb=each_attempt(1500),
        runtime=each_attempt(60),
    params:
        code=lambda w: code_hash("bestarm.runs.shard", f"bestarm.{w.paper}.strategies"),
        cells=lambda w: cells_hash(w.paper, w.experiment),
        size=lambda w: shard_options(w.scale, w.paper, w.experiment),
    shell:
        "python -m bestarm workflow shard {wildcards.paper} {wildcards.experiment}"
        " {wildcards.index} {input} {params.size} --out {output} 2> {log}"


rule summary:
    """Summarise all shards of an experiment: estimates with intervals."""
    input:
        instances=lambda w: f"results/{shard_scale(w.scale)}/{w.paper}/instances.json",
        shards=lambda w: [
            f"results/{shard_scale(w.scale)}/{w.paper}/{w.experiment}/shard-{index}.parquet"
            for index in range(experiment_size(w.scale, w.paper, w.experiment).shards)
        ],
    output:
        "results/{scale}/{paper}/{experiment}/summary.csv",
    log:
        "results/logs/{scale}/{paper}/{experiment}/summary.log",
    wildcard_constraints:
        scale="|".join(FIGURES),
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=lambda w: code_hash("bestarm.runs.summary", f"bestarm.{w.paper}.statistics"),
        size=lambda w: shard_options(w.scale, w.paper, w.experiment),
        # Not the files' names: a shell takes no command of 3000 of them.
        shards=lambda w, input: len(input.shards),
    shell:
        "python -m bestarm workflow summary {wildcards.paper} {wildcards.experiment}"
        " {params.shards} {input.instances} {params.size} --out {output} 2> {log}"
