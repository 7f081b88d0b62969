"""The experiments of the delayed feedback paper."""

from collections.abc import Iterable, Iterator

from bestarm.common.paper import Cell, Experiment
from bestarm.delayed.problem import DELAYS, MODELS, SIGMAS_P, SIZES
from bestarm.delayed.strategies import LEMMA_1, MIXTURES

#: Section 5: delta, and b = r = 10 in parallel.
SEQUENTIAL, PARALLEL = {"batch": 1, "delta": 0.05}, {"batch": 10, "delta": 0.05}

SETTINGS = (SEQUENTIAL, PARALLEL)

#: Readings shown in Figure 1, and those of racing on rewards alone.
SHOWN = ("as-written", "as-published", "guaranteed")

ALONE = ("as-written", "as-published", "survivors")

#: All readings run for Figure 1: also the published union bound alone, and the printed Lemma 1.
FIGURE_1 = (*SHOWN, "survivors", "as-written+sigma", "as-published+sigma")

#: Sequential runs on cuts may take more steps than the default cap.
CUTS = tuple(setting | {"cap": 100_000_000} for setting in SETTINGS)

#: Setting of the coverage study: some 250 pulls per arm.
WATCHED = {"batch": 1, "cap": 5000, "delta": 0.05}

WATCHED_READINGS = ("as-written", "published-split", "guaranteed")


#: Those of Figure 1 once more, under the mixture, and priors worth less or more than one pull.
ONCE_MORE = ("mixture", "as-written", "as-published")

PRIORS = tuple(name for name in MIXTURES if name not in ONCE_MORE)


def points(
    names: Iterable[str],
    x_name: str,
    values: Iterable[float],
    readings: tuple[str, ...] = SHOWN,
    on_rewards: tuple[str, ...] = ALONE,
) -> Iterator[Cell]:
    """The cells of a column of Figure 1, both rows, or of Figure 2."""
    for name, x in zip(names, values, strict=True):
        for setting in SETTINGS:
            for reading in readings:
                yield Cell(name, "Partial", setting, reading, x_name=x_name, x=float(x))
            for reading in on_rewards:
                yield Cell(name, "Full", setting, reading, x_name=x_name, x=float(x))


def coverage() -> Iterator[Cell]:
    """Coverage of confidence intervals on two almost equal arms, for both multipliers."""
    for sigma in ("", "+sigma"):
        yield Cell("alike, unbiased", "Full", WATCHED, f"as-written{sigma}")
        for instance in ("alike, unbiased", "alike, biased"):
            for reading in WATCHED_READINGS:
                yield Cell(instance, "Partial", WATCHED, f"{reading}{sigma}")


def once_more() -> Iterator[Cell]:
    """Figure 1 under the mixture."""
    for family in ("bounded", "free"):
        names = (f"{family} n={n}" for n in SIZES)
        yield from points(names, "n", SIZES, ONCE_MORE, ONCE_MORE)
    names = (f"delays D={d}" for d in DELAYS)
    yield from points(names, "D", DELAYS, ONCE_MORE, ONCE_MORE)


def watched() -> Iterator[Cell]:
    """Coverage of the mixture on two almost equal arms, in all models."""
    for feedback in MODELS:
        for reading in ("mixture", "mixture-n0=10"):
            yield Cell(f"alike, {feedback}", "Partial", WATCHED, reading)
            if feedback != "incremental":  # which is of no use if delays are random
                setting = WATCHED | {"batch": 10}
                yield Cell(f"alike, {feedback}, random delay", "Partial", setting, reading)


EXPERIMENTS = (
    Experiment(
        "arms",
        tuple(
            cell
            for family in ("bounded", "free")
            for cell in points((f"{family} n={n}" for n in SIZES), "n", SIZES, FIGURE_1)
        ),
    ),
    Experiment(
        "means",
        tuple(
            cell
            for family in ("bounded from 1", "bounded")
            for cell in points((f"{family} n={n}" for n in SIZES), "n", SIZES, FIGURE_1)
        ),
    ),
    Experiment(
        "delays",
        tuple(points((f"delays D={d}" for d in DELAYS), "D", DELAYS, FIGURE_1)),
    ),
    Experiment(
        "readings",
        tuple(
            Cell(instance, "Partial", setting, reading)
            for instance in ("bounded n=10", "free n=100")
            for setting in SETTINGS
            for reading in LEMMA_1
        ),
    ),
    Experiment(
        "models",
        tuple(
            Cell(f"{model}{random}", "Partial", setting, reading)
            for random in ("", ", random delay")
            for model in MODELS
            for setting in SETTINGS
            for reading in SHOWN
        ),
    ),
    Experiment("coverage", tuple(coverage())),
    Experiment(
        "battery",
        tuple(points((f"battery sigma_p={s:g}" for s in SIGMAS_P), "sigma_p", SIGMAS_P)),
    ),
    Experiment(
        "mip",
        tuple(
            Cell("mip", strategy, setting, reading)
            for setting in CUTS
            for strategy, names in (("Partial", SHOWN), ("Full", ALONE))
            for reading in names
        ),
    ),
    Experiment("mixture", tuple(once_more())),
    Experiment(
        "mixture-priors",
        tuple(
            Cell(instance, "Partial", setting, reading)
            for instance in ("bounded n=10", "free n=100")
            for setting in SETTINGS
            for reading in PRIORS
        ),
    ),
    Experiment("mixture-coverage", tuple(watched())),
    Experiment(
        "mixture-models",
        tuple(
            Cell(f"{model}{random}", "Partial", setting, "mixture")
            for random in ("", ", random delay")
            for model in MODELS
            for setting in SETTINGS
        ),
    ),
    Experiment(
        "mixture-recorded",
        tuple(
            Cell(instance, "Partial", setting, "mixture")
            for setting in CUTS
            for instance in (*(f"battery sigma_p={s:g}" for s in SIGMAS_P), "mip")
        ),
    ),
)
