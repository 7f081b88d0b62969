"""The experiments of the LAGEX paper."""

from collections.abc import Iterator
from itertools import product

from bestarm.common.paper import Cell, Experiment
from bestarm.lagex.certified.runs import ADAPTIVE
from bestarm.lagex.problem import (
    COST_SIGMAS,
    EASIER,
    HARD,
    SWEEP,
    TOLERANCE,
    normalised,
    setup1,
    with_cost_sigma,
)
from bestarm.lagex.strategies import KINDS, READINGS

#: Section 5 and the released program: the settings of setup 1 and of the other instances.
SETUP_1 = {"delta": 0.01, "r": TOLERANCE, "cap": 100_000}

#: Of runs of the released programs without some of their peculiarities, on setup 1 easy.
SHORT = SETUP_1 | {"cap": 5_000}

OTHERS = {"delta": 0.1, "r": TOLERANCE, "cap": 100_000}

#: The other delta of setup 2, for which nothing says what was run.
OTHER_DELTA = OTHERS | {"delta": SETUP_1["delta"]}

#: The example in docs/usage.md.
EXAMPLE = {"delta": 0.05, "r": 0.1, "cap": 100_000}

#: Readings shown in the paper's own figures; the others are in target `readings`.
SHOWN = ("as-written", "released-stop")
TRIED = ("averages", "printed-r", "optimistic-policy", "inside", "full-adagrad")
#: Those that were added after the outcomes were seen (docs/analysis-plan.md).
CROSSED = ("averages+printed-r", "averages+released-stop", "printed-r+released-stop")
CROSSED += ("optimistic-policy+released-stop",)

#: Where the medians' sensitivity is looked at: instances of the paper, and their settings.
ENVIRONMENTS = {setup1(HARD).name: SETUP_1, setup1(EASIER).name: SETUP_1, "imdb": OTHERS}
#: Values that stand in place of the setting's own, one at a time.
OTHER_SETTINGS = {"delta": (0.1, 0.05, 0.01), "r": (0.0, 0.01, 0.1)}

#: What Certified is tried on: every instance of the paper (of Figure 4 the ends), and the example.
CERTIFIED_INSTANCES = (
    *(setup1(third, printed).name for printed in (False, True) for third in (HARD, EASIER)),
    *("setup 2 hard", "setup 2 easy", "imdb", "triangle", "perturbed eps=0", "example"),
)
CERTIFIED_DELTAS, CERTIFIED_TOLERANCES = (0.1, 0.01), (0.3, 0.1, 0.03, 0.01)


def every_strategy(instance: str, setting: dict, **x) -> Iterator[Cell]:
    """Every strategy as written and with the released stopping rule."""
    for strategy in KINDS:
        for reading in READINGS[strategy]:
            if reading in SHOWN:
                yield Cell(instance, strategy, setting, reading, **x)


def under(readings: tuple[str, ...], instance: str, setting: dict) -> Iterator[Cell]:
    """Every strategy under those of some readings that change it."""
    for strategy in KINDS:
        for reading in READINGS[strategy]:
            if reading in readings:
                yield Cell(instance, strategy, setting, reading)


def tried(fewer: bool) -> Iterator[Cell]:
    """The readings in TRIED that have fewer runs: where runs are long, and of CTnS none."""
    for instance, setting in ENVIRONMENTS.items():
        for cell in under(TRIED, instance, setting):
            if fewer == (cell.strategy != "CTnS" and instance != setup1(EASIER).name):
                yield cell


def added() -> Iterator[Cell]:
    """The added readings, of all strategies where runs are short, else of LAGEX alone."""
    for instance, setting in ENVIRONMENTS.items():
        for cell in (
            *under(CROSSED, instance, setting),
            *under(SHOWN, normalised(instance).name, setting),
        ):
            if cell.strategy == "LAGEX" or instance == setup1(EASIER).name:
                yield cell


def sensitivity() -> Iterator[Cell]:
    """LAGEX as written with one thing changed at a time, in each environment."""
    for instance, setting in ENVIRONMENTS.items():
        for name, values in OTHER_SETTINGS.items():
            for value in values:
                if value != setting[name]:
                    yield Cell(instance, "LAGEX", setting | {name: value}, "as-written")
        for reading in ("slow-adagrad", "fast-adagrad"):
            yield Cell(instance, "LAGEX", setting, reading)
        yield Cell(normalised(instance).name, "LAGEX", setting, "as-written")
        for sigma in COST_SIGMAS:
            yield Cell(with_cost_sigma(instance, sigma).name, "LAGEX", setting, "as-written")


def sweep() -> Iterator[Cell]:
    """Figure 4: LAGEX on setup 1, with the recovered and with the printed means."""
    for printed in (False, True):
        for third in SWEEP:
            name = setup1(third, printed).name
            for cell in every_strategy(name, SETUP_1, x_name="m3", x=third):
                if cell.strategy == "LAGEX":
                    yield cell


def both_setups(third: float, setting: dict) -> tuple[Cell, ...]:
    """Every strategy on setup 1, with the recovered and with the printed means."""
    return tuple(
        c for printed in (False, True) for c in every_strategy(setup1(third, printed).name, setting)
    )


def certified() -> Iterator[Cell]:
    """Certified, with its allocation and uniform (at the larger delta), beside LAGEX and LATS."""
    for instance, delta, r in product(CERTIFIED_INSTANCES, CERTIFIED_DELTAS, CERTIFIED_TOLERANCES):
        setting, x = {"delta": delta, "r": r}, {"x_name": "r", "x": r}
        for strategy in ADAPTIVE:
            if strategy == "Certified" or delta == max(CERTIFIED_DELTAS):
                yield Cell(
                    instance, strategy, setting | {"cap": None}, READINGS[strategy].text, **x
                )
        for strategy in ("LAGEX", "LATS"):
            yield Cell(instance, strategy, setting | {"cap": SETUP_1["cap"]}, SHOWN[0], **x)


EXPERIMENTS = (
    Experiment("sweep", tuple(sweep())),
    Experiment("hard", both_setups(HARD, SETUP_1)),
    Experiment("easy", both_setups(EASIER, SETUP_1)),
    Experiment("setup-2-hard", tuple(every_strategy("setup 2 hard", OTHERS))),
    Experiment("setup-2-easy", tuple(every_strategy("setup 2 easy", OTHERS))),
    Experiment("imdb", tuple(every_strategy("imdb", OTHERS))),
    Experiment(
        "imdb-spread",
        tuple(Cell("imdb, true spread", strategy, OTHERS, SHOWN[0]) for strategy in KINDS),
    ),
    Experiment("example", tuple(Cell("example", s, EXAMPLE, READINGS[s].text) for s in KINDS)),
    Experiment("readings", tuple(tried(fewer=True))),
    # As many runs as the paper (docs/analysis-plan.md): the streams are those of `readings`.
    Experiment("readings-full", tuple(tried(fewer=False)), streams="readings"),
    Experiment("readings-added", tuple(added())),
    Experiment("setup-2-hard-delta", tuple(every_strategy("setup 2 hard", OTHER_DELTA))),
    Experiment("setup-2-easy-delta", tuple(every_strategy("setup 2 easy", OTHER_DELTA))),
    Experiment("sensitivity", tuple(sensitivity())),
    Experiment("certified", tuple(certified())),
)
