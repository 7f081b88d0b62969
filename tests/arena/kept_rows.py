"""Which row of a kept table a job makes."""

from bestarm.common.assumptions import Row


def named(job):
    """Paper, instance, strategy and noise."""
    first = job.arguments[0]
    if isinstance(first, Row):
        return (first.case.paper, first.case.instance, first.strategy, first.noise)
    return (first.paper, first.instance, *job.arguments[1:3])
