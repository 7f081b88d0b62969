"""The same work done by others on this machine: general solvers, plain loops, released programs."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numba
import numpy as np
from scipy import optimize
from timed import in_turn, replication_of

from bestarm import registry
from bestarm.baics import alternatives
from bestarm.baics import reference as baics
from bestarm.cbmai import reference as cbmai
from bestarm.common.paper import Cell
from bestarm.core.bases import basic_solution, load_program, make_workspace, score_bases
from bestarm.core.streams import replication_streams, run_streams
from bestarm.delayed import reference as delayed
from bestarm.lagex import reference as lagex
from bestarm.lagex.paper import projection
from bestarm.lagex.released import program
from bestarm.lagex.strategies import READINGS
from bestarm.linear import reference as linear
from bestarm.linear.allocation import all_pairs
from bestarm.linear.designs import optimal_design


class Peer(NamedTuple):
    """Two ways to do the same; each returns the units of work it did."""

    paper: str
    what: str
    unit: str
    ours: Callable[[], int]
    peer: str
    theirs: Callable[[], int]


def measured(papers: list[str]) -> Iterator[tuple[str, float, str, str]]:
    """Measure, value, unit and how of each peer: their time a unit of work over ours."""
    for paper in papers:
        for peer in PEERS[paper]():
            ours, theirs = in_turn((peer.ours, peer.theirs))
            how = f"{1e6 * ours:.3g} us, theirs {1e6 * theirs:.3g} us per {peer.unit}"
            yield f"peer: {paper}: {peer.what}: {peer.peer}", theirs / ours, "times our time", how


def times(n: int, work: Callable[[], object]) -> Callable[[], int]:
    """The same work n times, as n units."""

    def repeated() -> int:
        for _ in range(n):
            work()
        return n

    return repeated


def runs(cell: Cell, n: int, paper: str) -> Callable[[], int]:
    """Our runs of a cell; the units are pulls or steps."""
    replicate = replication_of(paper, cell)
    return lambda: sum(int(replicate(s).tau) for s in replication_streams(1, range(n)))


@numba.njit
def swaps(w, means, problem, shift, n):
    """Solve the same swap n times."""
    total = 0.0
    for _ in range(n):
        total += alternatives.nearest_swap(w, means, problem, 0, 1, shift)
    return total


def of_baics() -> Iterator[Peer]:
    """The inner program of T-a-SCS, and its whole loop."""
    instance = registry.PAPERS["baics"].problems.instances()["example1"]
    means, problem = np.array(instance.means), instance.problem
    q, constrained = problem.weights, problem.constrained
    w = np.full(means.shape, 1.0 / means.size)
    shift, n = np.empty((2, q.size)), 10_000

    def ours() -> int:
        swaps(w, means, problem, shift, n)
        return n

    what = "nearest swap of two arms on three subpopulations"
    yield Peer(
        "baics",
        what,
        "solution",
        ours,
        "scipy, SLSQP",
        times(20, lambda: swap_by_slsqp(w, means, q, constrained)),
    )
    by_cvxpy = times(3, lambda: baics.swap_cost(w, means, q, constrained, 0, 1))
    yield Peer("baics", what, "solution", ours, "cvxpy, Clarabel", by_cvxpy)
    cell = Cell("example1", "T-a-SCS", {"delta": 0.1, "cap": 15_000}, "as-written")
    loop = plain_loop(means, q, constrained, 300)
    yield Peer("baics", "T-a-SCS", "pull", runs(cell, 20, "baics"), "a plain NumPy loop", loop)


def swap_by_slsqp(w, means, q, constrained: int) -> float:
    """The same swap as scipy's general solver finds it."""
    weights, start = w[:2].ravel(), means[:2].ravel()
    better = {
        "type": "ineq",
        "fun": lambda x: q @ (x[q.size :] - x[: q.size]),
        "jac": lambda x: np.concatenate([-q, q]),
    }
    lower = np.full((2, q.size), -np.inf)
    lower[1, :constrained] = 0.0
    found = optimize.minimize(
        lambda x: weights @ (start - x) ** 2,
        start,
        jac=lambda x: 2.0 * weights * (x - start),
        bounds=optimize.Bounds(lower.ravel(), np.inf),
        constraints=[better],
        method="SLSQP",
    )
    return float(found.fun)


def plain_loop(means, q, constrained: int, cap: int) -> Callable[[], int]:
    """T-a-SCS as its text reads: NumPy, no shortcut, stopped after `cap` pulls at the latest."""

    def run() -> int:
        rng = np.random.default_rng(0)
        pulls, sums = np.full(means.shape, 5.0), 5.0 * means
        w = np.full(means.shape, 1.0 / means.size)
        wanted, t = pulls.copy(), int(pulls.sum())
        while t < cap:
            estimates = sums / pulls
            best = baics.best_feasible_arm(estimates, q, constrained)
            glr = baics.glr(pulls, estimates, q, constrained, best)
            if glr > baics.threshold(t, 0.1):
                break
            found = baics.alternatives(w, estimates, q, constrained, best)
            _, gradient = min(found, key=lambda pair: pair[0])
            w = baics.project((w + gradient).ravel()).reshape(means.shape)
            wanted += baics.project(w.ravel(), 0.5 / np.sqrt(w.size**2 + t)).reshape(means.shape)
            pair = np.unravel_index(int((wanted - pulls).argmax()), means.shape)
            pulls[pair] += 1.0
            sums[pair] += means[pair] + rng.standard_normal()
            t += 1
        return t - 5 * means.size

    return run


def of_linear() -> Iterator[Peer]:
    """XY-optimal designs."""
    arms = registry.PAPERS["linear"].problems.instances()["d=5"].problem.arms
    pairs = all_pairs(len(arms))
    directions = arms[pairs.first] - arms[pairs.second]
    ours = times(20, lambda: optimal_design(arms, directions))
    theirs = times(1, lambda: linear.design_value(arms, directions))
    yield Peer("linear", "XY-optimal design, d = 5", "design", ours, "cvxpy, Clarabel", theirs)


def of_delayed() -> Iterator[Peer]:
    """Racing with partial feedback, its delta split in advance."""
    setting = {"batch": 10, "delta": 0.05}
    instance = registry.PAPERS["delayed"].problems.instances()["free n=10"]
    cell = Cell(instance.name, "Partial", {**setting, "cap": 2_000}, "guaranteed")

    arms, n = instance.problem, len(instance.means)
    scales = 2.0 * float(arms.sigma[0]), 2.0 * arms.sigma_p  # Lemma 1's, see radius.py
    rules = delayed.Rules("unbiased", *scales, 0.05, "guaranteed")

    def theirs() -> int:
        streams, sigma = run_streams(1, 0), float(arms.sigma[0])
        nature = delayed.Nature(
            arms.means, arms.low, arms.high, sigma, streams.environment, sigma_p=arms.sigma_p
        )
        race = delayed.Race(
            nature, rules, streams.coins, k=instance.top, batch=10, limit=n, cap=500
        )
        return race.run().time

    ours = runs(cell, 20, "delayed")
    yield Peer("delayed", "racing, n = 10, b = 10", "step", ours, "a plain NumPy loop", theirs)


def of_cbmai() -> Iterator[Peer]:
    """The linear program of a round of SFSR, whose scores need all bases."""
    known = registry.PAPERS["cbmai"].problems.instances()["A2"]
    in_equations = matrix, rhs, values = cbmai.with_slacks(known.problem)
    work = make_workspace(*matrix.shape)
    x = np.empty(matrix.shape[1])

    def ours() -> object:
        load_program(work, matrix, rhs, values)
        score_bases(work, matrix.shape[1])
        return basic_solution(work, x)

    what = f"scores of a round, {matrix.shape[1] - len(known.problem.bounds)} arms"
    theirs = times(3, lambda: cbmai.intersection_values(matrix, rhs, values))
    yield Peer("cbmai", what, "round", times(1000, ours), "NumPy, all bases at once", theirs)
    peer, by_scipy = "scipy, HiGHS: the optimum only", times(20, lambda: cbmai.solve(*in_equations))
    yield Peer("cbmai", what, "round", times(1000, ours), peer, by_scipy)


def of_lagex() -> Iterator[Peer]:
    """A projection of CGE, and rounds of the released programs."""
    rng = np.random.default_rng(0)
    point, rows = rng.normal(size=7), rng.normal(size=(2, 7))
    weights = rng.uniform(0.5, 2.0, 7)
    ours = times(1000, lambda: projection.project(point, weights, rows))
    theirs = times(3, lambda: lagex.project(point, weights, rows))
    yield Peer("lagex", "weighted projection", "solution", ours, "cvxpy, Clarabel", theirs)
    name = "setup 1 m3=1.3"
    model = registry.PAPERS["lagex"].problems.instances()[name].problem
    for strategy in program.PROGRAMS:
        setting = {"delta": 0.01, "r": 0.01, "cap": 3_000}
        reading = READINGS[strategy].text
        cell = Cell(name, strategy, setting, reading)

        def released(strategy: str = strategy) -> int:
            return program.run(
                program.PROGRAMS[strategy], model, 0.01, 60, run_streams(1, 0).environment
            ).time

        peer = "its released program, rebuilt with the same solver"
        yield Peer("lagex", strategy, "round", runs(cell, 5, "lagex"), peer, released)


PEERS = {
    "baics": of_baics,
    "linear": of_linear,
    "delayed": of_delayed,
    "cbmai": of_cbmai,
    "lagex": of_lagex,
}
