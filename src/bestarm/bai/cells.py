"""The experiments on best-arm identification."""

from collections.abc import Iterator

from bestarm.bai.problem import BOUNDARY
from bestarm.bai.strategies import READINGS
from bestarm.common.paper import Cell, Experiment

#: Section 6's setting and instances.
SETTING = {"delta": 0.1, "cap": None}
MEASURED = ("mu1", "mu2")
DELTAS = tuple(10.0**-e for e in range(1, 9))
#: The instance whose stopping times are followed as delta shrinks: the one with the smaller T*.
SWEPT = "mu2"
#: Pulls of a run on an instance that no number of pulls decides.
BOUNDARY_SETTING = {"delta": 0.1, "cap": 300}


def table1() -> Iterator[Cell]:
    """Table 1: every strategy as the text has it."""
    for instance in MEASURED:
        for strategy in READINGS:
            yield Cell(instance, strategy, SETTING, "as-written")


def readings() -> Iterator[Cell]:
    """What the text leaves open."""
    for instance in MEASURED:
        for strategy, named in READINGS.items():
            for reading in named:
                if not named[reading].proved and reading != "as-written":
                    yield Cell(instance, strategy, SETTING, reading)


def proven() -> Iterator[Cell]:
    """Every strategy with a threshold that is proved."""
    for instance in MEASURED:
        for strategy, named in READINGS.items():
            for reading in named:
                if named[reading].proved:
                    yield Cell(instance, strategy, SETTING, reading)


def sweep() -> Iterator[Cell]:
    """Theorem 14: ever smaller delta."""
    for delta in DELTAS:
        for reading in ("as-written", "proven"):
            setting = {"delta": delta, "cap": None}
            yield Cell(SWEPT, "Track-and-Stop", setting, reading, x_name="delta", x=delta)


def boundary() -> Iterator[Cell]:
    """Where errors are likeliest."""
    for instance in BOUNDARY:
        yield Cell(instance, "Track-and-Stop", BOUNDARY_SETTING, "as-written")
        for strategy in READINGS:
            yield Cell(instance, strategy, BOUNDARY_SETTING, "proven")


EXPERIMENTS = (
    Experiment("table1", tuple(table1())),
    Experiment("readings", tuple(readings())),
    Experiment("proven", tuple(proven())),
    Experiment("sweep", tuple(sweep())),
    Experiment("boundary", tuple(boundary())),
)
