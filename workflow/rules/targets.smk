# What may be asked for. The last file to be included, as it knows all rules.
from snakemake.cli import get_argument_parser

from bestarm.build.targets import unknown_target

# A name that nothing is made of is one line, before Snakemake looks for what makes it.
if workflow.is_main_process and Path(sys.argv[0]).name in ("snakemake", "__main__.py"):
    KNOWN = [
        name
        for folder in SCALE_OF
        for name in (
            f"{folder}/all",
            *across_papers(folder),
            *(f"{folder}/{paper}/all" for paper in registry.PAPERS),
            *(file for paper in registry.PAPERS for file in pictures(folder, paper)),
            *(file for paper in registry.PAPERS for file in summaries(folder, paper)),
        )
    ]
    RULES = [rule.name for rule in workflow.rules if not rule.has_wildcards()]
    for name in get_argument_parser().parse_args(sys.argv[1:]).targets or []:
        made = any(rule.is_producer(name) for rule in workflow.rules)
        if wrong := unknown_target(name, KNOWN, RULES, made):
            sys.exit(f"error: {wrong}")
