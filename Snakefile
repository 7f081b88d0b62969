report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/instances.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/api.smk"
include: "workflow/rules/notebooks.smk"
include: "workflow/rules/site.smk"
include: "workflow/rules/data.smk"
