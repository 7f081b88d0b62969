# The replication site, from the targets that are kept in git.
#
# Figures are not inputs: Snakemake would look behind them and, in a fresh clone, simulate. What the
# site is made from enters as a hash of its content, and the command checks it again at the end.

from bestarm.publish.site.content import fingerprint, page_names

FIRST, *PAGES = [f"site/{page}.html" for page in page_names()]
FOLDERS = ["site/assets", "site/code", "site/figures", "site/schemas"]
FOLDERS += ["site/notebooks"] if NOTEBOOKS else []

# As with manifests: Snakemake would not see that a page beside the first is missing.
if WILL_BUILD and not all(Path(file).exists() for file in PAGES + FOLDERS):
    Path(FIRST).unlink(missing_ok=True)


rule site:
    """Make the replication site from the committed figures."""
    input:
        notebooks=expand("results/notebooks/{paper}.ipynb", paper=NOTEBOOKS),
        docs="site/docs",
    output:
        PAGES,
        [directory(folder) for folder in FOLDERS],
        FIRST,  # last, so that it is the newest: Snakemake sets the times of outputs in this order
    log:
        "results/logs/site.log",
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        content=lambda w: fingerprint(Path()),
    shell:
        "python -m bestarm workflow site {input.notebooks} --out site --content {params.content}"
        " 2> {log}"
