"""The experiments of the LAGEX paper."""

from collections.abc import Iterator

from bestarm.common.paper import Cell, Experiment
from bestarm.lagex.problem import EASIER, HARD, SWEEP, TOLERANCE, setup1
from bestarm.lagex.strategies import READINGS

#: Section 5 and the released program: the settings of setup 1 and of the other instances.
SETUP_1 = {"delta": 0.01, "r": TOLERANCE, "cap": 100_000}

OTHERS = {"delta": 0.1, "r": TOLERANCE, "cap": 100_000}

#: The example in docs/usage.md.
EXAMPLE = {"delta": 0.05, "r": 0.1, "cap": 100_000}

#: Readings shown in the paper's own figures; the others are in target `readings`.
SHOWN = ("as-written", "released-stop")


def shown(instance: str, setting: dict, **x) -> Iterator[Cell]:
    """Every strategy as written and with the released stopping rule."""
    for strategy in READINGS:
        for reading in READINGS[strategy]:
            if reading in SHOWN:
                yield Cell(instance, strategy, setting, reading, **x)


def others(instance: str, setting: dict) -> Iterator[Cell]:
    """Every strategy under the other readings that change it."""
    for strategy in READINGS:
        for reading in READINGS[strategy]:
            if reading not in SHOWN:
                yield Cell(instance, strategy, setting, reading)


def sweep() -> Iterator[Cell]:
    """Figure 4: LAGEX on setup 1, with the recovered and with the printed means."""
    for printed in (False, True):
        for third in SWEEP:
            name = setup1(third, printed).name
            for cell in shown(name, SETUP_1, x_name="m3", x=third):
                if cell.strategy == "LAGEX":
                    yield cell


def both_setups(third: float, setting: dict) -> tuple[Cell, ...]:
    """Every strategy on setup 1, with the recovered and with the printed means."""
    return tuple(
        c for printed in (False, True) for c in shown(setup1(third, printed).name, setting)
    )


EXPERIMENTS = (
    Experiment("sweep", tuple(sweep())),
    Experiment("hard", both_setups(HARD, SETUP_1)),
    Experiment("easy", both_setups(EASIER, SETUP_1)),
    Experiment("setup-2-hard", tuple(shown("setup 2 hard", OTHERS))),
    Experiment("setup-2-easy", tuple(shown("setup 2 easy", OTHERS))),
    Experiment("imdb", tuple(shown("imdb", OTHERS))),
    Experiment(
        "imdb-spread",
        tuple(Cell("imdb, true spread", strategy, OTHERS, SHOWN[0]) for strategy in READINGS),
    ),
    Experiment("example", tuple(Cell("example", s, EXAMPLE, READINGS[s].text) for s in READINGS)),
    Experiment(
        "readings",
        (
            *others(setup1(HARD).name, SETUP_1),
            *others(setup1(EASIER).name, SETUP_1),
            *others("imdb", OTHERS),
        ),
    ),
)
