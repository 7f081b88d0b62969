# `snakemake --list-rules` says what every rule does, `snakemake figures/all` needs no flags, and
# `make help` has the times. `snakemake --lint` asks for a conda environment or a container in each
# rule; there is none on purpose: every rule runs the package, in the environment that Snakemake was
# started from (requirements.lock, environment.yml or Dockerfile).
report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/instances.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/docs.smk"
include: "workflow/rules/notebooks.smk"
include: "workflow/rules/site.smk"
include: "workflow/rules/data.smk"


rule all:
    """Make everything at paper scale; what `snakemake` without a target does."""
    input:
        "figures/all",


include: "workflow/rules/targets.smk"
