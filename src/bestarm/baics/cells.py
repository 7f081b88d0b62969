"""The experiments of BAICS."""

from collections.abc import Iterator

from bestarm.baics.e_values import GLR
from bestarm.baics.problem import BOUNDARY, CONVERSION, EPSILONS, SEGMENTS, epsilon_family, segments
from bestarm.baics.strategies import READINGS
from bestarm.common.paper import Cell, Experiment

PAPER_SETTING = {"delta": 0.1, "cap": 15_000}

DELTAS = tuple(10.0**-e for e in range(1, 9))

STEPS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)

#: The strategies of Section 5; Two-stage is only discussed, in Section 3.2.
COMPARED = ("T-a-SCS", "T-a-S", "Uniform")

#: Setting of the study of wrong stops of T-a-SCS.
SEGMENT_SETTING = {"delta": 0.05, "cap": 10_000}

NO_CAP_SETTING = {"delta": 0.1, "cap": None}

#: Values of epsilon at which Two-stage is run: 0.32, 0.1, 0.032 and 0.01.
TWO_STAGE_EPSILONS = EPSILONS[1:9:2]


def every_strategy(instance: str) -> tuple[Cell, ...]:
    """Every strategy under every reading of the paper's text that changes it, as in Section 5.

    Readings are in reverse order: if two differ in the factor of the statistic, the looser one is
    simulated first, and the runs of the other go on from where it stopped.
    """
    return tuple(
        Cell(instance, strategy, PAPER_SETTING, reading)
        for strategy in COMPARED
        for reading in reversed(list(READINGS[strategy]))
        if READINGS[strategy][reading].stopping == GLR
    )


def confidence_sweep() -> Iterator[Cell]:
    """Theorem 4.1: ever smaller delta, no cap. Runs go on from where a larger delta stops them."""
    for cell in every_strategy("example1"):
        for delta in DELTAS:
            setting = {"delta": delta, "cap": None}
            yield Cell(cell.instance, cell.strategy, setting, cell.reading, x_name="delta", x=delta)


def step_sweep() -> Iterator[Cell]:
    """What the paper leaves open in T-a-SCS: step size, steps per pull, and tie-breaking."""
    for step in STEPS:
        for inner_steps, tie_coins in ((1, True), (1, False), (5, True), (20, True)):
            options = {"step": step, "inner_steps": inner_steps, "tie_coins": tie_coins}
            for reading in ("no-half", "as-written"):  # the one that stops first
                yield Cell("example1", "T-a-SCS", PAPER_SETTING, reading, options, "step", step)


def two_stage() -> Iterator[Cell]:
    """Section 3.2, second variant: an irrelevant feasibility becomes harder to determine."""
    for epsilon in TWO_STAGE_EPSILONS:
        for strategy in ("T-a-SCS", "Two-stage"):
            name = epsilon_family("easy-gap", epsilon).name
            yield Cell(name, strategy, NO_CAP_SETTING, "as-written", {}, "epsilon", epsilon)


def over_segments() -> Iterator[Cell]:
    """Two arms, by the number of subpopulations."""
    for count in SEGMENTS:
        x = {"x_name": "segments", "x": float(count)}
        yield Cell(segments(count).name, "T-a-SCS", SEGMENT_SETTING, "as-written", **x)


#: A strategy, its reading with the paper's stopping rule, and the one with a rule that is proved.
RULES = (
    ("T-a-SCS", "as-written", "proven"),
    ("T-a-SCS", "maximiser", "maximiser+proven"),
    ("FWS", "as-written", "levelled+proven"),
)
BOUNDARY_CAP, BOUNDARY_DELTAS = 500, (0.1, 0.05, 0.01)
GUARANTEE_DELTAS = tuple(10.0**-e for e in range(1, 7))


def guarantee() -> Iterator[Cell]:
    """The instances of `over_segments` until every run stops."""
    setting = {"delta": SEGMENT_SETTING["delta"], "cap": None}
    for count in SEGMENTS:
        for reading in RULES[1][1:]:
            x = {"x_name": "segments", "x": float(count)}
            yield Cell(segments(count).name, "T-a-SCS", setting, reading, **x)


def proven() -> Iterator[Cell]:
    """The paper's instances without a cap; beside the rules, what they would be without a part."""
    parts = (("T-a-SCS", "maximiser+proven-mixture"), ("FWS", "proven"))
    for instance in ("example1", "example2", "no-feasible-arm"):
        for strategy, *readings in (*RULES, *parts):
            for reading in readings:
                yield Cell(instance, strategy, NO_CAP_SETTING, reading)


def boundary() -> Iterator[Cell]:
    """Where errors are likeliest; the paper's rule at its delta alone."""
    for instance in BOUNDARY:
        for strategy, unproved, proved in RULES[:2]:
            for delta in BOUNDARY_DELTAS:
                setting = {"delta": delta, "cap": BOUNDARY_CAP}
                if delta == PAPER_SETTING["delta"]:
                    yield Cell(instance, strategy, setting, unproved)
                yield Cell(instance, strategy, setting, proved)


def guarantee_sweep() -> Iterator[Cell]:
    """Ever smaller delta, for rules that `confidence_sweep` has not."""
    for delta in GUARANTEE_DELTAS:
        setting = {"delta": delta, "cap": None}
        pairs = [("T-a-SCS", "maximiser+proven"), *(("FWS", reading) for reading in RULES[2][1:])]
        for strategy, reading in pairs:
            yield Cell("example1", strategy, setting, reading, x_name="delta", x=delta)


RATE_DELTAS = (1e-1, 1e-3, 1e-6, 1e-9, 1e-12)
#: Sampling rules whose times on rates are compared, with their proved readings.
RATE_RULES = {"T-a-SCS": "maximiser+proven", "FWS": "levelled+proven", "Uniform": "proven"}


def rates_sweep() -> Iterator[Cell]:
    """Ever smaller delta, on rates and on Gaussian rewards like them."""
    for instance in CONVERSION.values():
        for strategy, reading in RATE_RULES.items():
            for delta in RATE_DELTAS:
                setting = {"delta": delta, "cap": None}
                yield Cell(instance, strategy, setting, reading, x_name="delta", x=delta)


EXPERIMENTS = (
    Experiment("example1", every_strategy("example1")),
    Experiment("example2", every_strategy("example2")),
    Experiment("no-feasible-arm", every_strategy("no-feasible-arm")),
    Experiment("confidence-sweep", tuple(confidence_sweep()), shared_over="delta"),
    Experiment("step-sweep", tuple(step_sweep())),
    Experiment("two-stage", tuple(two_stage())),
    Experiment("segments", tuple(over_segments())),
    Experiment("guarantee", tuple(guarantee())),
    Experiment("proven", tuple(proven())),
    Experiment("boundary", tuple(boundary())),
    Experiment("guarantee-sweep", tuple(guarantee_sweep())),
    Experiment("rates-sweep", tuple(rates_sweep())),
)
