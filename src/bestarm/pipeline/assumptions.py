"""Make data/assumptions/errors.csv: errors of strategies when assumptions do not hold.

python -m bestarm.pipeline.assumptions --out data/assumptions/errors.csv
"""

from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from bestarm.cbmai.steps import FOUND, PHASE
from bestarm.common.custom import Given, Played
from bestarm.common.paper import Cell
from bestarm.core.noise import Disturbed
from bestarm.core.status import Status
from bestarm.core.streams import Streams, stream_key
from bestarm.lagex.certified.state import POLICY, VERDICT
from bestarm.pipeline import plugins, registry
from bestarm.runs.kept import Job, KeptTable, command_line
from bestarm.runs.play import count, has_stopped, play

SEED, RUNS = 2024, 1000
#: Strategies whose simulations draw sums of pulls, and whose compiled steps do not tell the answer:
#: their ask/tell classes are played, which takes a thousand times as long, hence in fewer runs.
BY_PULL = {"RAGE", "XY-Adaptive"}
RUNS_BY_PULL = 100
#: Papers whose simulations draw sums of pulls: their compiled steps are played pull by pull. By
#: paper what the ask/tell classes would answer in the last state.
ANSWERS: dict[str, Callable[[Any], np.ndarray | None]] = {
    "cbmai": lambda state: (
        np.flatnonzero(state.remaining) if state.counters[PHASE] == FOUND else None
    ),
    "lagex": lambda state: state.policy if state.counts[VERDICT] == POLICY else None,
}
COLUMNS = ["paper", "instance", "strategy", "noise", "delta", "runs", "stopped", "wrong", "median"]

#: What replaces standard normal noise, by name; the strategies are told what holds of the first.
NOISE: dict[str, dict[str, Any]] = {
    "as assumed": {},
    "sigma 2": {"scale": 2.0},
    "t": {"heavy": True},
    "swing": {"swing": 0.5},
}


class Case(NamedTuple):
    """An instance that is played by what the paper's ask/tell classes are at their defaults."""

    paper: str
    instance: str
    setting: dict[str, Any]
    left_out: tuple[str, ...] = ()


#: Strategies of LAGEX that promise nothing (`bestarm list`), or know the constraints.
UNPROVED = ("LAGEX", "LATS", "Uniform", "CTnS", "CGE")
CASES = (
    Case("baics", "example1", {"cap": 20_000}),
    Case("baics", "two tied", {"cap": 1500}),
    Case("linear", "three-arms", {"cap": 20_000}, ("XY-Oracle",)),  # which knows the truth
    Case("delayed", "bounded n=10", {"delta": 0.1}),
    Case("delayed", "alike, unbiased", {"delta": 0.1, "cap": 10_000}),
    Case("delayed", "alike, biased", {"delta": 0.1, "cap": 10_000}),
    Case("cbmai", "A1", {"budget": 5000}),
    Case("cbmai", "H1", {"budget": 2000}),
    Case("lagex", "setup 2 easy", {"r": 0.1, "cap": None}, UNPROVED),
    Case("lagex", "triangle", {"r": 0.1, "cap": None}, UNPROVED),
)

#: Rates, played by a rule that knows what they are, by one that is told their sub-Gaussian scale
#: only, both proved, and by one that is told the standard deviation of each, as if they were
#: Gaussian. The second is next to instances with another answer.
RATES: dict[str, dict[str, Any]] = {
    "rates": {"means": [[0.12, 0.10], [0.05, 0.20]], "minimum": [0.08, 0.05]},
    "rates at the minimum": {"means": [[0.02 - 1e-9, 0.06], [0.01, 0.01]], "minimum": 0.02},
}
CAPS = {"rates": 50_000, "rates at the minimum": 3000}
TOLD: dict[str, Callable[[np.ndarray], np.ndarray] | None] = {
    "0 or 1": None,
    "sigma 1/2": lambda means: np.full(means.shape, 0.5),
    "sigma of each rate": lambda means: np.sqrt(means * (1.0 - means)),
}


class Run(NamedTuple):
    """What a row needs of a run."""

    tau: int
    status: int
    answer: int


def classes(paper: str) -> dict[str, Any]:
    """The paper's ask/tell classes by their names in tables."""
    module = import_module(f"bestarm.{paper}")
    kinds = [getattr(module, name) for name in module.__all__]
    return {str(plugins.name_of_ours(kind, paper)): kind for kind in kinds}


def row(
    case: Case,
    instance: Any,
    strategy: str,
    replicate: Callable[[Any], Any],
    noise: str,
    runs: int,
    disturbance: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Counts over runs on streams that depend on the case and the noise alone.

    Args:
        case, instance, strategy, runs: what is played, and how often.
        replicate: plays it on streams.
        noise: the name of what is not as assumed.
        disturbance: of `Disturbed`; that of the noise's name in NOISE if left out.
    """
    paper = registry.PAPERS[case.paper]
    setting = paper.simulation.setting(**case.setting).model_dump()
    key = stream_key(SEED, case.paper, "assumptions", case.instance, noise)
    disturbance = NOISE.get(noise) if disturbance is None else disturbance

    def disturbed(streams: Streams) -> Any:
        environment: Any = streams.environment
        if disturbance is not None:
            environment = Disturbed(environment, np.zeros(1), **disturbance)
        return replicate(SimpleNamespace(environment=environment, coins=streams.coins))

    found = play(disturbed, key, range(runs))
    truth = paper.problems.truth(instance).model_dump()
    right = paper.own.correct(Cell(case.instance, strategy, setting, "default"), truth, found)
    return {
        "paper": case.paper,
        "instance": case.instance,
        "strategy": strategy,
        "noise": noise,
        "delta": setting.get("delta"),
        **count(has_stopped(found), right)._asdict(),
        "median": float(np.median(found["tau"])),
    }


def disturbed(
    case: Case, strategy: str, noise: str, runs: int, disturbance: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A row: runs with noise that is not what the strategy is told; arguments as for `row`."""
    paper = registry.PAPERS[case.paper]
    instance = paper.problems.instances()[case.instance]
    reading = paper.simulation.readings[strategy].default
    cell = Cell(case.instance, strategy, case.setting, reading)
    if case.paper in ANSWERS:
        replicate = by_step(case.paper, instance, cell)
    elif strategy in BY_PULL:
        given = Given(strategy, classes(case.paper)[strategy])
        replicate = paper.custom.prepare(instance, paper.simulation.setting(**case.setting), given)
    else:
        replicate = paper.simulation.prepare(instance, cell)
    return row(case, instance, strategy, replicate, noise, runs, disturbance)


def by_step(paper: str, instance: Any, cell: Cell) -> Callable[[Any], Any]:
    """A function that plays the compiled steps of a cell pull by pull, with the paper's outcome."""
    simulation, custom = registry.PAPERS[paper].simulation, registry.PAPERS[paper].custom
    assert simulation.steps is not None
    assert custom.rounds is not None
    steps, rules, world, cap = simulation.steps(instance, cell)
    outcome = custom.rounds(instance, simulation.setting(**cell.setting)).outcome

    def replicate(streams: Streams) -> Any:
        state, stopped = steps.play(world, rules, cap, streams.environment, streams.coins)
        tau = int(state.pulls.sum())
        return outcome(Played(tau, stopped, ANSWERS[paper](state), state.pulls, None))

    return replicate


def of_rates(name: str, strategy: str, told: str, runs: int) -> dict[str, Any]:
    """A row: runs on Bernoulli rewards, by a strategy that is told so, or some sigma instead."""
    paper, case = registry.PAPERS["baics"], Case("baics", name, {"cap": CAPS[name]})
    kind: Any = paper.problems.instance
    fields = {"name": name, "weights": [1.0, 1.0]} | RATES[name]
    instance = kind(**fields, rewards="bernoulli")
    sigma_of = TOLD[told]
    believed = instance
    if sigma_of is not None:
        believed = kind(**fields, sigma=sigma_of(np.array(fields["means"])).tolist())
    reading = paper.simulation.readings[strategy].default
    cell = Cell(name, strategy, case.setting, reading)
    assert paper.simulation.steps is not None
    _, _, world, _ = paper.simulation.steps(instance, cell)
    steps, rules, _, cap = paper.simulation.steps(believed, cell)
    in_its_unit = 0.5 * world.values / believed.sigmas.reshape(-1, 1)  # of sigma 1/2 before
    world = world._replace(values=in_its_unit)

    def replicate(streams: Streams) -> Any:
        state, stopped = steps.play(world, rules, cap, streams.environment, streams.coins)
        status = Status.STOPPED if stopped else Status.CAPPED
        return Run(int(state.clock[0]), int(status), int(state.answer[0]) + 1)

    return row(case, instance, strategy, replicate, told, runs)


def jobs() -> list[Job]:
    """One for each row."""
    made = [
        (disturbed, (case, strategy, noise, RUNS_BY_PULL if strategy in BY_PULL else RUNS))
        for case in CASES
        for strategy in classes(case.paper)
        if strategy not in case.left_out
        for noise in NOISE
    ]
    made += [(of_rates, (name, "T-a-SCS", told, RUNS)) for name in RATES for told in TOLD]
    return [Job(f"{number:03}", *parts) for number, parts in enumerate(made)]


TABLE = KeptTable(
    "bestarm.pipeline.assumptions",
    f"wrong answers in {RUNS:,} runs per strategy when assumptions do not hold",
    {"runs": SEED},
    ("numpy", "numba"),
    jobs,
    ("015", "041", "071", "106", "125", "130"),  # a quick one of each paper, and of rates
    COLUMNS,
    law=2,
)


if __name__ == "__main__":
    command_line("bestarm.pipeline.assumptions", __doc__ or "")
