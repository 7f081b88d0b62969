# Run a paper's notebook and keep it with its outputs, which the site shows as a page. Not part of
# figures/all: what it compares with are the tables in git, which it does not rebuild.
from bestarm.common.files import files_hash

NOTEBOOKS = [paper for paper in registry.PAPERS if Path(f"notebooks/{paper}.py").exists()]


rule notebooks:
    """Run every notebook into a page of the site."""
    input:
        "site/notebooks",


rule notebook:
    """Run a paper's notebook."""
    input:
        "notebooks/{paper}.py",
    output:
        "results/notebooks/{paper}.ipynb",
    log:
        "results/logs/notebooks/{paper}.log",
    threads: 1
    resources:
        mem_mb=each_attempt(1500),
        runtime=each_attempt(10),
    params:
        code=lambda w: code_hash(
            "bestarm.build.notebooks",
            "bestarm.notebook",
            f"bestarm.{w.paper}.interactive",
            f"bestarm.{w.paper}.statistics",
            f"bestarm.{w.paper}.plots",
        ),
        tables=lambda w: files_hash(
            [
                *Path("figures").glob("claims.csv"),
                *sorted(Path(f"figures/{w.paper}").glob("*.csv")),
            ]
        ),
    shell:
        "python -m bestarm workflow notebook {input} --out {output} 2> {log}"
