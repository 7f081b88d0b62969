# Snakemake: the runs of `bestarm run` in shards, a job each, and their merge.
#
#     snakemake --snakefile shards.smk --cores 8 --config instance=my-instance.yaml shards=8
#     snakemake --snakefile shards.smk --config ... --executor slurm --jobs 8
#
# `options` are those of `bestarm run`, such as options="--reps 10000 --delta 0.05 --strategy FWS".
INSTANCE = config["instance"]
SHARDS = int(config.get("shards", 8))
OPTIONS = config.get("options", "")


rule all:
    input:
        "runs.parquet",
        "statistics.csv",


rule shard:
    "Simulate a share of the runs of every strategy."
    input:
        INSTANCE,
    output:
        f"shards/{{number}}-of-{SHARDS}.parquet",
    threads: 1
    resources:
        mem_mb=1500,
        runtime=60,
    shell:
        "bestarm run {input:q} {OPTIONS} --cores {threads}"
        " --shard {wildcards.number}/{SHARDS} --out {output:q}"


rule merge:
    "Write the rows and the statistics that one machine would have written."
    input:
        [f"shards/{number}-of-{SHARDS}.parquet" for number in range(1, SHARDS + 1)],
    output:
        runs="runs.parquet",
        statistics="statistics.csv",
    shell:
        "bestarm merge {input:q} --out {output.runs:q} --csv {output.statistics:q}"
