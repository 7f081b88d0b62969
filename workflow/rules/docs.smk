# The pages of the documentation and of the programming interface, by Sphinx from docs/ and from
# docstrings. The replication site links them, and they link it.
from bestarm.common.files import files_hash
from bestarm.publish.site.content import kept


rule docs:
    """Make the pages of the documentation and of the programming interface."""
    input:
        sorted(str(path) for path in Path("docs").rglob("*") if path.is_file()),
    output:
        directory("site/docs"),
    log:
        "results/logs/docs.log",
    threads: 2
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        # Of texts, not of code alone: docstrings are what is shown.
        sources=files_hash(sorted(Path("src/bestarm").rglob("*.py"))),
        # Not inputs, for the reason that site.smk gives.
        pictures=files_hash([p for p in kept(Path()) if p.suffix == ".svg" and p.exists()]),
    shell:
        # Maps of styles and scripts are of use to the theme's developers only.
        "(python -m sphinx --quiet --fail-on-warning --fresh-env --jobs {threads} -d results/docs"
        " docs {output}"
        " && find {output} -name '*.map' -delete) 2> {log}"
