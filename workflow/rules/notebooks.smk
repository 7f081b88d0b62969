# Run a paper's notebook and write it as a page. Not part of figures/all: what it compares with are
# the tables in git, which it does not rebuild.
from bestarm.pipeline.manifest import files_hash

NOTEBOOKS = [paper for paper in registry.PAPERS if Path(f"notebooks/{paper}.py").exists()]


rule notebooks:
    input:
        expand("site/notebooks/{paper}.html", paper=NOTEBOOKS),


rule notebook:
    input:
        "notebooks/{paper}.py",
    output:
        "site/notebooks/{paper}.html",
    log:
        "results/logs/notebooks/{paper}.log",
    threads: 1
    resources:
        mem_mb=each_attempt(1500),
        runtime=each_attempt(10),
    params:
        code=lambda w: code_hash(
            "bestarm.pipeline.notebooks",
            f"bestarm.{w.paper}.interactive",
            f"bestarm.{w.paper}.statistics",
        ),
        tables=lambda w: files_hash(sorted(Path(f"figures/{w.paper}").glob("*.csv"))),
    shell:
        "python -m bestarm workflow notebook {input} --out {output} 2> {log}"
