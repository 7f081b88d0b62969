"""The strategies, the readings of the paper, and how a cell becomes runs."""

import json
import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from pydantic import Field

from bestarm.common.paper import Cell, Readings, Simulation
from bestarm.core.inputs import Batch, Input, Probability, Pulls
from bestarm.core.status import Status
from bestarm.core.streams import Streams, run_streams
from bestarm.delayed import bounds
from bestarm.delayed.bounds import GUARANTEED, MIXTURE, OPTIMAL, PUBLISHED, Rules
from bestarm.delayed.problem import Instance, Spread
from bestarm.delayed.racing import Result, run
from bestarm.delayed.steps import ACCEPTED, SURVIVING, Race
from bestarm.delayed.world import Problem, Records


class Reading(NamedTuple):
    """One reading of what the paper leaves open (docs/readings.md)."""

    split: int = OPTIMAL  # of delta between rewards and partial feedback
    survivors: bool = False  # delta / |surviving arms| in place of delta / n
    pooled: bool = False  # whether all running pulls of an arm count, else only the oldest
    by_slot: bool = False  # whether slots are processed one by one, else all at once
    multiplier: float = 2.0  # of standard deviations, for the scale in Lemma 1
    alone: str = "as-written"  # the reading of racing on rewards alone to compare with
    n0: float = 1.0  # pulls that the prior of the mixture is worth


NAMED = {
    "as-written": Reading(),
    "as-published": Reading(PUBLISHED, survivors=True, by_slot=True, alone="as-published"),
    "guaranteed": Reading(GUARANTEED),
    "published-split": Reading(PUBLISHED),
    "survivors": Reading(survivors=True, alone="survivors"),
    "all-running": Reading(pooled=True),
}
LEMMA_1 = NAMED | {
    f"{name}+sigma": reading._replace(multiplier=1.0, alone=f"{reading.alone}+sigma")
    for name, reading in NAMED.items()
}
#: One bound that is proved for all feedback (mixture.py); the prior is worth one pull, as fixed
#: before any run, or more or less to see what it matters.
MIXTURES = {
    name: Reading(MIXTURE, multiplier=1.0, alone=name, n0=n0)
    for name, n0 in (
        ("mixture", 1.0),
        ("mixture-n0=0.1", 0.1),
        ("mixture-n0=10", 10.0),
        ("mixture-n0=100", 100.0),
    )
}
EVERY = LEMMA_1 | MIXTURES


class Setting(Input):
    """The setting of a run, the same for every strategy."""

    delta: Probability = Field(0.05, description="maximum probability of a wrong answer, e.g. 0.05")
    cap: Pulls | None = Field(10_000_000, description="most time steps of a run")
    batch: Batch = Field(1, description="b, most pulls that run at a time")
    limit: Batch | None = Field(None, description="r, most of these of the same arm")


def make_rules(
    reading: Reading, feedback: str, sigma: np.ndarray, sigma_p: float, setting: Setting
) -> Rules:
    """The rules for intervals from one kind of partial feedback, "full" to ignore it.

    Args:
        reading, feedback, setting: as named.
        sigma: (n,) standard deviations of the arms' rewards.
        sigma_p: standard deviation of a partial feedback given the reward; 1 if each is recorded
            with its own.
    """
    return Rules(
        feedback=getattr(bounds, feedback.upper()),
        scale=reading.multiplier * sigma,
        scale_p=reading.multiplier * sigma_p,
        delta=setting.delta,
        split=reading.split,
        survivors=reading.survivors,
        pooled=setting.batch if reading.pooled else 1,
        by_slot=reading.by_slot,
        n0=reading.n0,
    )


def usable(instance: Instance) -> str:
    """The feedback that Partial uses: increments only if the delays are known."""
    unknown = any(delay.low < delay.high for delay in instance.delay)
    return "full" if instance.feedback == "incremental" and unknown else instance.feedback


#: Racing on rewards alone (Algorithm 3), and also on partial feedback (Algorithm 2, its biased
#: variant, and their parallel extensions): name -> the feedback that is used.
STRATEGIES: dict[str, Callable[[Instance], str]] = {
    "Full": lambda instance: "full",
    "Partial": usable,
}


READINGS = {
    "Full": Readings(
        {name: reading for name, reading in EVERY.items() if reading.alone == name},
        default="mixture",
    ),
    "Partial": Readings(EVERY, default="mixture"),
}


class Outcome(NamedTuple):
    """One replication, a row of the shards."""

    tau: int  # time steps when the run ended
    status: int  # a `Status`
    answer: np.ndarray  # (k,) arms from 1, ascending; if capped, filled up by estimates
    tau_full: int  # stopping time of racing on rewards alone with the same streams
    full_status: int  # a `Status`, of that run
    missed: int  # 1 if some confidence interval did not contain its arm's mean
    steps: np.ndarray  # (n,) time steps of the arms' pulls; with a batch of one they add up to tau
    finished: np.ndarray  # (n,) pulls that ended
    cancelled: np.ndarray  # (n,) pulls that were cancelled, or cut short by the cap


def recommended_arms(sets: np.ndarray, centres: np.ndarray, k: int) -> np.ndarray:
    """k arms from 0, ascending: the accepted, then the surviving ones of highest estimate."""
    rank = np.where(sets == ACCEPTED, np.inf, np.where(sets == SURVIVING, centres, -np.inf))
    return np.sort(np.argsort(-rank, kind="stable")[:k])


def reordered(problem: Problem, order: np.ndarray) -> Problem:
    """The arms in another order."""
    records = problem.records
    if records.rewards.size:
        records = Records(*(a[order] for a in records))
    by_arm = {name: getattr(problem, name)[order] for name in Problem._fields[:-2]}
    return problem._replace(**by_arm, records=records)


class ResultCache:
    """A thread-safe cache of the last results, `most` of them.

    All readings of Partial, and the cells of Full, need the same runs on rewards alone.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._results: dict[tuple, Result] = {}

    def get(self, key: tuple, simulate: Callable[[], Result]) -> Result:
        """The result of `key`, simulated if it is not in the cache."""
        result = self._results.get(key) or simulate()
        with self._lock:
            self._results[key] = result
            while len(self._results) > self._most:
                del self._results[next(iter(self._results))]
        return result

    def clear(self) -> None:
        """Empty the cache."""
        with self._lock:
            self._results.clear()


#: Runs on rewards alone, keyed by everything they depend on; a shard has at most 500 per cell.
ON_REWARDS = ResultCache(2048)


def prepare(instance: Instance, cell: Cell) -> Callable[[Streams], Outcome]:
    """A function that runs one replication of a cell on its streams.

    Every run of Partial is paired with one on rewards alone, with the same rewards and delays.
    """
    setting = Setting(**cell.setting)
    reading = READINGS[cell.strategy][cell.reading]
    used = STRATEGIES[cell.strategy](instance)
    truth = instance.problem
    n = truth.means.size
    cap = setting.cap or np.iinfo(np.int64).max
    race = Race(instance.top, setting.batch, setting.limit or setting.batch, cap)
    request = instance.model_dump_json(), setting, reading.alone

    def replicate(streams: Streams) -> Outcome:
        environment = streams.environment
        order = environment.permutation(n) if instance.shuffled else np.arange(n)
        problem = reordered(truth, order)
        rules, full = (
            make_rules(reading, kind, problem.sigma, problem.sigma_p, setting)
            for kind in (used, "full")
        )
        start = environment.bit_generator.state

        def simulate(rules: Rules) -> Result:
            environment.bit_generator.state = start
            return run(race, rules, problem, environment, streams.coins)

        alone = ON_REWARDS.get((*request, json.dumps(start)), lambda: simulate(full))
        race_result = alone if used == "full" else simulate(rules)
        place = np.argsort(order)
        return Outcome(
            tau=race_result.time,
            status=_status(race_result),
            answer=np.sort(order[recommended_arms(race_result.sets, race_result.centres, race.k)])
            + 1,
            tau_full=alone.time,
            full_status=_status(alone),
            missed=int(race_result.missed),
            steps=race_result.steps[place],
            finished=race_result.finished[place],
            cancelled=race_result.cancelled[place],
        )

    return replicate


def _status(result: Result) -> int:
    return int(Status.STOPPED if result.stopped else Status.CAPPED)


#: Small and quick to solve, for compiling and for tests.
EASY = Instance(
    name="easy",
    means=[0.0, 3.0, 0.5, 2.5],
    top=2,
    sigma_p=0.5,
    delay=[Spread(low=8, high=16)],
)


def warm_up() -> None:
    """Compile every kernel of this module for the types that runs use."""
    for strategy in STRATEGIES:
        prepare(EASY, Cell(EASY.name, strategy, {}, "as-written"))(run_streams(0, 0))


SIMULATION = Simulation(READINGS, Setting, prepare, warm_up, EASY)
