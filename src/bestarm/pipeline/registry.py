"""The papers, and what a paper's folder provides.

    problem.py      Instance, instances(), truth(instance); with_files(data, path) if an instance
                    file may name others
    strategies.py   STRATEGIES, READINGS, readings_of(strategy), Setting, prepare(instance, cell),
                    warm_up()
    experiments.py  EXPERIMENTS, TARGETS, BENCHMARKS, OWN_STATISTICS, bounds(truth, setting),
                    summarise(cell, truth, runs, level), describe(instance, truth); tally(cell,
                    truth, runs) and estimates(tally) if what some runs tell adds up to what all
                    do, so that summaries need not hold them all; if wanted TIMED_TARGETS,
                    TIMED_MORE and TIMED_TABLES, and KEPT, tables under data/ that targets are
                    made from
    plots.py        one function a target; LOOKS, colours by strategy or reading, if wanted
    reference.py    slow versions, for tests

Modules are imported when asked for, so that a simulation job does not load plots.
"""

from importlib import import_module
from types import ModuleType

#: Every paper, in the order figures and claims list them. A new paper is one line here.
PAPERS = {
    "baics": "Best arm identification with fairness constraints on subpopulations (WSC 2023)",
    "linear": "Best-arm identification in linear bandits (NIPS 2014)",
    "delayed": "Best arm identification with delayed feedback (AISTATS 2018)",
    "cbmai": "Constrained best mixed arm identification with a fixed budget",
    "lagex": "Learning to explore with Lagrangians under unknown linear constraints (AISTATS 2026)",
}


def room(paper: str, module: str) -> ModuleType:
    """A module of a paper's folder, such as `room("baics", "strategies")`."""
    return import_module(f"bestarm.{paper}.{module}")


def experiment(paper: str, name: str):
    """An experiment by name. Raises KeyError if the paper has none of that name."""
    return {e.name: e for e in room(paper, "experiments").EXPERIMENTS}[name]


def target(paper: str, name: str):
    """A target by name. Raises KeyError if the paper has none of that name."""
    return {t.name: t for t in room(paper, "experiments").TARGETS}[name]
