"""Speed of live experiments: what the rows of stage `live` of bench.py are made from."""

import http.client
import importlib
import itertools
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bestarm import registry
from bestarm.baics import TaSCS
from bestarm.baics.problem import Instance
from bestarm.common.paper import Cell
from bestarm.core.streams import run_streams
from bestarm.delayed import Partial

ROOT = Path(__file__).parents[1]
#: Arguments of small experiments, by paper and for single strategies.
SMALL: dict[str, dict[str, Any]] = {
    "bai": {"n_arms": 5},
    "TopK": {"n_arms": 5, "top": 2},
    "baics": {"n_arms": 5, "weights": [0.5, 0.5]},
    "linear": {"arms": [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]},
    "delayed": {"n_arms": 5, "sigma": 0.5, "sigma_p": 0.4},
    "cbmai": {"n_arms": 5, "bounds": 0.5, "budget": 500},
    "lagex": {"n_arms": 5, "limits": [0.5, 0.5]},
    "Full": {"n_arms": 5, "sigma": 0.5},
    "CTnS": {"matrix": [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]], "limits": [0.5, 0.5]},
    "XYOracle": {"arms": [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], "theta": [1.0, 0.2]},
    "LinGapE": {"arms": [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]], "norm": 1.5},
}
SMALL["CGE"] = SMALL["CTnS"]
FIRST_ASK = """
import json, sys, time
from importlib import import_module
kind = getattr(import_module(sys.argv[1]), sys.argv[2])
start = time.perf_counter()
kind(**json.loads(sys.argv[3])).ask()
print(time.perf_counter() - start)
"""
#: A large problem, and how many pulls of it are timed after the initial ones.
ARMS, SEGMENTS, PULLS = 200, 20, 20_000
TRIALS = 1_000_000
#: Trials without a result, and how many calls are timed with and without them.
OUTSTANDING, MEASURED = 100_000, 1_000
#: Visitors of two segments: mean rewards of three arms, shares of the segments, runs.
UPLIFT, SHARES, RUNS = [[1.0, 1.4], [2.2, -0.9], [0.4, 0.9]], [0.8, 0.2], 40
#: Visitors of a small day and the standard deviation of their rewards; days and visitors of a
#: large experiment.
DAY, SPREAD, DAYS, VISITORS = 200, 6.0, 20, 5_000
CLIENTS, SECONDS = 8, 5.0
#: Trials of a request where many are asked for.
AT_ONCE = 100


#: What is run and asked first without compiled kernels, by paper: arguments of `bestarm run` in
#: data/instances, and a class.
COLD = {
    "baics": ("example-abn.yaml --delta 0.05", "TaSCS"),
    "linear": ("example-linear.yaml", "RAGE"),
    "delayed": ("example-delayed.yaml", "Mixture"),
    "cbmai": ("example-mix.yaml --budget 3000", "SFSR"),
    "lagex": ("example-lagex.yaml", "LAGEX"),
}


class Measured(NamedTuple):
    """A row of bench.csv without its machine."""

    measure: str
    value: float
    unit: str
    how: str


def first_asks(paper: str) -> Measured:
    """Seconds until the first arm after the import, in a process of its own: the slowest."""
    module = f"bestarm.{paper}"
    slowest = max(
        (_first_ask(module, name), name) for name in importlib.import_module(module).__all__
    )
    how = f"{slowest[1]}, the slowest; of two processes the faster, compiled before"
    return Measured(f"live: first ask of {paper} after the import", slowest[0], "s", how)


def _first_ask(module: str, name: str) -> float:
    command = first_ask(module, name)
    runs = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(2)]
    return min(float(run.stdout) for run in runs)


def first_ask(module: str, name: str) -> list[str]:
    """A command that imports a class, asks for an arm and prints the seconds from class to arm."""
    arguments = json.dumps(SMALL.get(name, SMALL[module.rpartition(".")[2]]))
    return [sys.executable, "-c", FIRST_ASK, module, name, arguments]


def large() -> Iterator[Measured]:
    """Microseconds a pull of T-a-SCS on a large problem: compiled loop, and ask and tell."""
    means = np.random.default_rng(1).normal(1.0, 0.1, (ARMS, SEGMENTS)).tolist()
    initial = ARMS * SEGMENTS
    size = f"{ARMS} x {SEGMENTS}"
    how = f"{PULLS:,} pulls after the initial {initial:,}"

    simulation = registry.PAPERS["baics"].simulation
    instance = Instance(name="large", means=means, weights=[1.0 / SEGMENTS] * SEGMENTS)

    def looped(cap: int) -> float:
        cell = Cell("large", "T-a-SCS", {"delta": 1e-300, "cap": cap}, "as-written")
        replicate = simulation.prepare(instance, cell)
        replicate(run_streams(0, 0))
        start = time.perf_counter()
        replicate(run_streams(0, 0))
        return time.perf_counter() - start

    kernel = (looped(initial + PULLS) - looped(initial)) / PULLS
    yield Measured(f"live: a pull of T-a-SCS at {size}, compiled loop", kernel * 1e6, "us", how)

    options = {"delta": 1e-300, "reading": "as-written", "seed": 1}
    s = TaSCS(ARMS, [1.0] * SEGMENTS, **options)
    rng = np.random.default_rng(2)
    rewards = rng.normal(size=initial + PULLS)
    for i in range(initial):
        arm, segment = s.ask()
        s.tell((arm, segment), means[arm][segment] + rewards[i])
    start = time.perf_counter()
    for i in range(initial, initial + PULLS):
        arm, segment = s.ask()
        s.tell((arm, segment), means[arm][segment] + rewards[i])
    spent = (time.perf_counter() - start) / PULLS
    yield Measured(f"live: ask and tell of TaSCS at {size}", spent * 1e6, "us", how)


def arrivals() -> Iterator[Measured]:
    """Trials where visitors come as they do, over trials where their segment is chosen."""

    def trials(seed: int, chosen: bool) -> int:
        s, rng = TaSCS(len(UPLIFT), SHARES, delta=0.05, sigma=2.0), np.random.default_rng(seed)
        while not s.done:
            segment = None if chosen else int(rng.choice(len(SHARES), p=SHARES))
            trial = s.ask(1)[0] if segment is None else s.ask(segment=segment)
            arm, group = trial.arm
            s.tell(trial, rng.normal(UPLIFT[arm][group], 2.0))
        return s.told

    chosen, coming = (np.mean([trials(i, c) for i in range(RUNS)]) for c in (True, False))
    how = f"{RUNS} runs of TaSCS each, segments of {SHARES[0]:.0%} and {SHARES[1]:.0%}"
    measure = "live: trials of visitors as they come, over chosen ones"
    yield Measured(measure, float(coming / chosen), "", how)


def batches() -> Iterator[Measured]:
    """What daily batches and least shares cost, and how long an experiment of counts takes."""

    def visitors(seed: int, day: int, least_share: float | None) -> int:
        """Visitors until it stops: days of so many, or one at a time."""
        s, rng = TaSCS(len(UPLIFT), SHARES, delta=0.05, sigma=SPREAD), np.random.default_rng(seed)
        columns = ("arm", "segment", "pulls", "total")
        while not s.done:
            rows = list[tuple[int, int, int, float]]()
            for segment, n in enumerate(rng.multinomial(day, SHARES)):
                split = s.allocation(int(n), segment=segment, least_share=least_share) if n else {}
                for arm, m in split.items():
                    total = rng.normal(m * UPLIFT[arm][segment], SPREAD * m**0.5)
                    rows.append((arm, segment, m, total))
            s.tell_table(dict(zip(columns, zip(*rows, strict=True), strict=True)))
        return s.told

    def mean(day: int, least_share: float | None = None) -> float:
        return float(np.mean([visitors(i, day, least_share) for i in range(RUNS)]))

    alone, daily = mean(1), mean(DAY)
    how = f"{RUNS} runs of TaSCS each"
    measure = f"live: visitors in daily batches of {DAY}, told as counts, over one by one"
    yield Measured(measure, daily / alone, "", how)
    for share in (0.1, 0.2):
        measure = f"live: visitors with least_share={share} in such batches, over none"
        yield Measured(measure, mean(DAY, share) / daily, "", how)

    rates, rng = np.array([[0.05, 0.06], [0.03, 0.04], [0.04, 0.03]]), np.random.default_rng(1)
    s = TaSCS(len(rates), SHARES, rewards="bernoulli", delta=1e-300)
    asked, told = 0.0, list[float]()
    for _ in range(DAYS):
        rows = list[tuple[int, int, int, int]]()
        for segment, n in enumerate(rng.multinomial(VISITORS, SHARES)):
            start = time.perf_counter()
            split = s.allocation(int(n), segment=segment)
            asked += time.perf_counter() - start
            rows += [
                (a, segment, m, int(rng.binomial(m, rates[a, segment]))) for a, m in split.items()
            ]
        start = time.perf_counter()
        s.tell_table(pd.DataFrame(rows, columns=["arm", "segment", "pulls", "total"]))
        told.append(time.perf_counter() - start)
    how = (
        f"TaSCS, {len(rates)} arms, {DAYS} days of {VISITORS:,} visitors of {len(SHARES)} segments"
    )
    yield Measured("live: a whole experiment of counts", asked + sum(told), "s", how)
    yield Measured("live: a day told as counts", float(np.median(told)) * 1e3, "ms", how)


def outstanding() -> Iterator[Measured]:
    """Times with OUTSTANDING trials that have no result yet, over times with none.

    Both are measured in turns, since the speed of a machine changes within a second.
    """
    rng, visitors = np.random.default_rng(1), (i % 2 for i in itertools.count())

    def experiment(outstanding: int) -> TaSCS:
        s = TaSCS(3, SHARES, delta=1e-300)
        for _ in range(MEASURED):
            s.tell(s.ask(), rng.normal())
        for _ in range(outstanding):
            s.ask(segment=next(visitors))
        return s

    def visit(s: TaSCS) -> tuple[float, float]:
        start = time.perf_counter()
        trial = s.ask(segment=next(visitors))
        asked = time.perf_counter()
        s.tell(trial, rng.normal())
        return asked - start, time.perf_counter() - asked

    none, many = experiment(0), experiment(OUTSTANDING)
    times = [(visit(none), visit(many)) for _ in range(MEASURED)]
    without, beside = np.median(times, axis=0)
    for what, ratio in zip(("ask(segment)", "tell"), beside / without, strict=True):
        how = f"TaSCS, medians of {MEASURED:,}, in turns"
        measure = f"live: {what} with {OUTSTANDING:,} trials outstanding, over none"
        yield Measured(measure, float(ratio), "", how)

    def race(running: int) -> tuple[Partial, deque[Any]]:
        race = Partial(5, sigma=0.5, sigma_p=0.4, delta=1e-300, batch=running)
        return race, deque(race.ask().start)

    def report(race: Partial, pulls: deque[Any]) -> float:
        start = time.perf_counter()
        race.partial(pulls[0], rng.normal())
        race.final(pulls.popleft(), rng.normal())
        pulls += race.ask().start
        return time.perf_counter() - start

    one, all_at_once = race(1), race(OUTSTANDING)
    reports = [(report(*one), report(*all_at_once)) for _ in range(MEASURED)]
    single, beside = np.median(reports, axis=0)
    yield Measured(
        f"live: a report of Partial with {OUTSTANDING:,} pulls running, over one",
        float(beside / single),
        "",
        f"a forecast, a reward and `ask`, medians of {MEASURED:,}, in turns",
    )


def files() -> Iterator[Measured]:
    """Seconds to save and to load an experiment of a million trials."""
    s = TaSCS(5, [0.5, 0.5], delta=1e-300, reading="as-written")
    rewards = np.random.default_rng(1).normal(size=TRIALS)
    for reward in rewards:
        s.tell(s.ask(), reward)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "experiment.json"
        start = time.perf_counter()
        s.save(path)
        saved = time.perf_counter()
        TaSCS.load(path)
        loaded = time.perf_counter()
        how = f"TaSCS, a file of {path.stat().st_size / 1e6:.0f} MB"
    yield Measured(f"live: save {TRIALS:,} trials", saved - start, "s", how)
    yield Measured(f"live: load {TRIALS:,} trials", loaded - saved, "s", how)


def service() -> Iterator[Measured]:
    """Trials a second of examples/service.py, and how long it takes to start with many of them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        with _served(Path(folder) / "quick", port), ThreadPoolExecutor(CLIENTS) as clients:
            end = time.perf_counter() + SECONDS
            done = sum(clients.map(lambda i: _client(port, i, end), range(CLIENTS)))
        how = f"{CLIENTS} clients on the same machine; two requests a trial, on disk first"
        yield Measured("live: trials of examples/service.py", done / SECONDS, "a second", how)
        with _served(Path(folder) / "large", port):
            for _ in range(OUTSTANDING // AT_ONCE):
                _post(http.client.HTTPConnection("127.0.0.1", port), "/trials", {"n": AT_ONCE})
        start = time.perf_counter()
        with _served(Path(folder) / "large", port):
            spent = time.perf_counter() - start
        how = f"until it answers; asked for in requests of {AT_ONCE}, none told; killed before"
        measure = f"live: a start of examples/service.py with {OUTSTANDING:,} trials outstanding"
        yield Measured(measure, spent, "s", how)


#: Three policies on two segments, with a delta at which they never stop.
SERVED = """
paper: baics
strategy: TaSCS
arguments:
  n_arms: [flat, loyalty, delivery]
  weights: {new: 7000, regular: 3000}
  delta: 1.0e-300
  sigma: 2.0
"""


@contextmanager
def _served(folder: Path, port: int) -> Iterator[None]:
    """The service on a log in this folder, until it is killed."""
    folder.mkdir(exist_ok=True)
    experiment = folder / "experiment.yaml"
    experiment.write_text(SERVED)
    command = [sys.executable, "examples/service.py", str(experiment)]
    command += ["--log", str(folder / "trials.sqlite"), "--port", str(port)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as server:
        try:
            _until_it_answers(port)
            yield
        finally:
            server.kill()


def _until_it_answers(port: int) -> None:
    for _ in range(600):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/health")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.1)
        else:
            return
    sys.exit("error: examples/service.py does not answer")


def _post(connection: http.client.HTTPConnection, path: str, body: dict[str, Any]) -> Any:
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    return json.load(connection.getresponse())


def _client(port: int, number: int, end: float) -> int:
    """Trials asked for and answered until a time."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    rng = np.random.default_rng(number)

    done = 0
    while time.perf_counter() < end:
        (trial,) = _post(connection, "/trials", {"n": 1})
        _post(connection, f"/trials/{trial['id']}/result", {"reward": rng.normal()})
        done += 1
    return done
