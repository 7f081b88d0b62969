# Plan an experiment, simulate its shards, summarise them.


rule plan:
    input:
        "results/{scale}/{paper}/instances.json",
    output:
        "results/{scale}/{paper}/{experiment}/plan.json",
    log:
        "results/logs/{scale}/{paper}/{experiment}/plan.log",
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code_hash("bestarm.pipeline.plan"),
        cells=lambda w: cells_of(w.paper, w.experiment),
        # Not the scale's file: it also holds the replications, and more of them keep the plan.
        seed=lambda w: SIZES[w.scale].seed,
        per_shard=lambda w: SIZES[w.scale].papers[w.paper][w.experiment].per_shard,
    shell:
        "python -m bestarm workflow plan {wildcards.paper} {wildcards.experiment} {input}"
        " --seed {params.seed} --per-shard {params.per_shard} --out {output} 2> {log}"


rule shard:
    input:
        "results/{scale}/{paper}/{experiment}/plan.json",
    output:
        "results/{scale}/{paper}/{experiment}/shard-{index}.parquet",
    log:
        "results/logs/{scale}/{paper}/{experiment}/shard-{index}.log",
    benchmark:
        "results/benchmarks/{scale}/{paper}/{experiment}/shard-{index}.tsv"
    threads: 1
    resources:
        # Measured at paper scale: about 600 MB (linear, docs/speed.md) and the Snakemakes around a job;
        # 15 minutes (lagex, hard; results/benchmarks). The same for all shards, because a job array
        # asks for the same.
        mem_mb=each_attempt(1500),
        runtime=each_attempt(60),
    params:
        code=lambda w: code_hash("bestarm.pipeline.shard", f"bestarm.{w.paper}.strategies"),
    shell:
        "python -m bestarm workflow shard {input} {wildcards.index} --out {output} 2> {log}"


rule summary:
    input:
        plan=lambda w: f"results/{rows_of(w.scale)}/{w.paper}/{w.experiment}/plan.json",
        shards=lambda w: [
            f"results/{rows_of(w.scale)}/{w.paper}/{w.experiment}/shard-{index}.parquet"
            for index in range(size_of(w.scale, w.paper, w.experiment).shards)
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
        code=lambda w: code_hash("bestarm.pipeline.summary", f"bestarm.{w.paper}.statistics"),
        # Not the files' names: a shell takes no command of 3000 of them.
        shards=lambda w, input: len(input.shards),
    shell:
        "python -m bestarm workflow summary {input.plan} {params.shards} --out {output} 2> {log}"
