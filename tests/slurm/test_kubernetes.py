"""The profile for Kubernetes, by a dry run: there is no cluster. `make test-slurm` runs this."""

import pytest

from bestarm import registry
from test_workflow import jobs, snakemake

pytest.importorskip("snakemake_executor_plugin_kubernetes", reason="see `make test-slurm`")
pytest.importorskip("snakemake_storage_plugin_fs", reason="see `make test-slurm`")


def test_a_dry_run_lists_what_is_simulated(project):
    profile = ("--profile", "profiles/kubernetes", "--default-storage-prefix", str(project))
    listed = jobs(snakemake(project, "-n", *profile, "figures/smoke/all"))
    assert {rule for rule, _ in listed} == {"instances", "shard", "summary"}
    assert {paper for _, paper in listed} == set(registry.PAPERS)
