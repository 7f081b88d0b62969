# The pages of the programming interface, by Sphinx from docstrings; they are linked from the site.
from bestarm.common.files import files_hash


rule api:
    """Make the pages of the programming interface."""
    input:
        sorted(str(path) for path in Path("docs/api").iterdir()),
    output:
        directory("site/api"),
    log:
        "results/logs/api.log",
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        # Of texts, not of code alone: docstrings are what is shown.
        sources=files_hash(sorted(Path("src/bestarm").rglob("*.py"))),
    shell:
        # Maps of styles and scripts are of use to the theme's developers only.
        "(python -m sphinx --quiet --fail-on-warning -d results/api docs/api {output}"
        " && find {output} -name '*.map' -delete) 2> {log}"
