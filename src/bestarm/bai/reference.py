"""Slow and obvious versions of the kernels: test oracles, never used in simulations."""

import math
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.special import rel_entr
from scipy.stats import beta, gamma, norm

from bestarm.bai.families import BERNOULLI, EXPONENTIAL, GAUSSIAN, POISSON


def divergence(family: int, p: float, q: float) -> float:
    """KL between laws of means p and q, as textbooks have it."""
    if family == BERNOULLI:
        return float(rel_entr(p, q) + rel_entr(1.0 - p, 1.0 - q))
    if family == GAUSSIAN:
        return (p - q) ** 2 / 2.0
    if family == POISSON:
        return q - p + float(rel_entr(p, q)) if p else q
    return p / q - 1.0 - math.log(p / q)


def transport(family: int, w: float, p: float, v: float, q: float) -> float:
    """min_m w d(p, m) + v d(q, m) over a fine grid, and the best of its cell by thirds."""
    low, high = min(p, q), max(p, q)

    def cost(m: float) -> float:
        return w * divergence(family, p, m) + v * divergence(family, q, m)

    for _ in range(200):
        a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, b) if cost(a) < cost(b) else (a, high)
    return cost((low + high) / 2.0)


def allocation(family: int, means: np.ndarray) -> tuple[float, np.ndarray]:
    """T* and w* as a concave program: max s with C_a(w) >= s for all a other than the best."""
    best, k = int(np.argmax(means)), len(means)
    others = [a for a in range(k) if a != best]

    def cost(w: np.ndarray, a: int) -> float:
        m = (w[best] * means[best] + w[a] * means[a]) / (w[best] + w[a])
        return w[best] * divergence(family, means[best], m) + w[a] * divergence(family, means[a], m)

    unit = min(cost(np.full(k, 1.0 / k), a) for a in others)
    bounds = [{"type": "ineq", "fun": lambda x, a=a: cost(x, a) / unit - x[-1]} for a in others]
    total = {"type": "eq", "fun": lambda x: x[:-1].sum() - 1.0}
    start = np.append(np.full(k, 1.0 / k), 1.0)
    box = [(1e-9, 1.0)] * k + [(0.0, None)]
    options = {"ftol": 1e-13, "maxiter": 1000}
    given: dict[str, Any] = {"constraints": [*bounds, total], "bounds": box, "options": options}
    result = minimize(lambda x: -x[-1], start, **given)
    w = result.x[:-1] / result.x[:-1].sum()
    return 1.0 / min(cost(w, a) for a in others), w


def upper(family: int, p: float, level: float) -> float:
    """The q >= p with d(p, q) = level, by bisection."""
    high = 1.0 - 1e-15 if family == BERNOULLI else p + 1.0
    while family != BERNOULLI and divergence(family, p, high) < level:
        high *= 2.0
    if divergence(family, p, high) <= level:
        return high
    return brentq(lambda q: divergence(family, p, q) - level, p, high, xtol=1e-15)  # pyright: ignore


def log_mixture(family: int, rewards: np.ndarray, mean: float) -> float:
    """ln of the likelihood ratio of rewards, averaged over the prior by numerical integration,
    to that of the true mean."""
    n, s = len(rewards), rewards.sum()
    likelihoods = {
        BERNOULLI: lambda m: s * math.log(m) + (n - s) * math.log(1.0 - m),
        GAUSSIAN: lambda m: float(-0.5 * ((rewards - m) ** 2).sum()),
        POISSON: lambda m: s * math.log(m) - n * m,
        EXPONENTIAL: lambda rate: n * math.log(rate) - rate * s,  # the prior is of 1 / mean
    }
    priors: dict[int, Any] = {
        BERNOULLI: (beta(0.5, 0.5), 0.0, 1.0),
        GAUSSIAN: (norm(mean, 1.0 / math.sqrt(30.0)), mean - 3.0, mean + 3.0),
        POISSON: (gamma(0.5), 0.0, 30.0),
        EXPONENTIAL: (gamma(0.5), 0.0, 30.0),
    }
    log, (prior, low, high) = likelihoods[family], priors[family]
    true = log(1.0 / mean if family == EXPONENTIAL else mean)
    # the square takes the pole of the prior at 0 away
    ends = (math.sqrt(low), math.sqrt(high)) if family != GAUSSIAN else (low, high)

    def integrand(u: float) -> float:
        m = u * u if family != GAUSSIAN else u
        jacobian = 2.0 * u if family != GAUSSIAN else 1.0
        return math.exp(log(m) - true) * float(prior.pdf(m)) * jacobian

    return math.log(quad(integrand, *ends, limit=500, epsabs=0.0, epsrel=1e-9)[0])


class Race:
    """A run as Section 6 has it, with beta(t, delta) = ln((1 + ln t) / delta), pull by pull.

    Args:
        family: of FAMILIES.
        pull: arm -> a reward.
        n_arms, delta: as in the paper.
    """

    def __init__(self, family: int, pull: Callable[[int], float], n_arms: int, delta: float):
        self.family, self.pull, self.delta = family, pull, delta
        self.rewards: list[list[float]] = [[] for _ in range(n_arms)]
        self.arms: list[int] = []

    def draw(self, arm: int) -> None:
        self.rewards[arm].append(self.pull(arm))
        self.arms.append(arm)

    @property
    def n(self) -> np.ndarray:
        return np.array([len(r) for r in self.rewards], float)

    @property
    def means(self) -> np.ndarray:
        return np.array([sum(r) / len(r) for r in self.rewards])

    def beta(self, time: int | None = None) -> float:
        return math.log((1.0 + math.log(time or len(self.arms))) / self.delta)

    def statistic(self) -> float:
        """max_a min_b Z_{a,b}, Z the GLR statistic of mu_a > mu_b, negative if mu^_a < mu^_b."""
        n, mu, k = self.n, self.means, range(len(self.rewards))
        sign = lambda a, b: 1.0 if mu[a] >= mu[b] else -1.0  # noqa: E731
        z = {
            (a, b): sign(a, b) * transport(self.family, n[a], mu[a], n[b], mu[b])
            for a in k for b in k if a != b
        }  # fmt: skip
        return max(min(z[a, b] for b in k if b != a) for a in k)


#: Lags, in pulls, and ends of intervals, relative, that are nearer than this are equal: kernels
#: know them to less.
EQUAL_LAGS, EQUAL_ENDS = 0.03, 1e-8
#: A strategy told slowly: yields the arms that may be pulled next and is sent the one that is.
Told = Generator[set[int], int, None]


def initial(race: Race) -> Told:
    """Every arm once."""
    for a in range(len(race.rewards)):
        race.draw((yield {a}))


def track_and_stop(race: Race, cumulative: bool = False) -> Told:
    """Track-and-Stop, Eqs. (7) and (8)."""
    yield from initial(race)
    k = len(race.rewards)
    total = np.ones(k)
    while not race.statistic() > race.beta():
        t, n, mu = len(race.arms), race.n, race.means
        top = np.flatnonzero(mu == mu.max())
        w = np.zeros(k)
        if len(top) > 1:
            w[top] = 1.0 / len(top)
        else:
            w = allocation_by_bisection(race.family, mu)
        starved = np.flatnonzero(n < math.sqrt(t) - k / 2.0)
        if cumulative:
            total += projected(w, 0.5 / math.sqrt(k * k + t))
            lags = total - n
        elif len(starved):
            lags = np.where(np.arange(k) == starved[np.argmin(n[starved])], 1.0, 0.0)
        else:
            lags = t * w - n
        race.draw((yield set(np.flatnonzero(lags > lags.max() - EQUAL_LAGS).tolist())))


def projected(w: np.ndarray, floor: float) -> np.ndarray:
    """The nearest point to w, in the largest difference, with entries of at least `floor`.

    Entries below are raised and what that takes is taken evenly from the others, as long as they
    stay above.
    """
    out = np.maximum(w, floor)
    while (excess := out.sum() - 1.0) > 1e-12:
        free = out > floor
        out[free] = np.maximum(out[free] - excess / free.sum(), floor)
    return out


def allocation_by_bisection(family: int, means: np.ndarray) -> np.ndarray:
    """w* by Theorem 5, bisections within a bisection, as in the authors' program."""
    best = int(np.argmax(means))
    others = [a for a in range(len(means)) if a != best]

    def middle(a: int, x: float) -> float:
        return (means[best] + x * means[a]) / (1.0 + x)

    def g(a: int, x: float) -> float:
        if x == 0.0:
            return 0.0
        m = middle(a, x)
        return divergence(family, means[best], m) + x * divergence(family, means[a], m)

    def ratio(a: int, y: float) -> float:
        high = 1.0
        while g(a, high) < y:
            high *= 2.0
        return brentq(lambda x: g(a, x) - y, 0.0, high, xtol=1e-13)  # pyright: ignore

    def excess(y: float) -> float:
        pairs = [(a, middle(a, ratio(a, y))) for a in others]
        divergences = [
            divergence(family, means[best], m) / divergence(family, means[a], m) for a, m in pairs
        ]
        return sum(divergences) - 1.0

    least = min(divergence(family, means[best], means[a]) for a in others)
    high = min(1e-6, 0.5 * least)
    while excess(high) < 0.0:  # approaches the least divergence, which may be infinite
        high = min(2.0 * high, 0.5 * (high + least))
    y = brentq(excess, 1e-6 * high, high, xtol=1e-16)
    x = np.ones(len(means))
    x[others] = [ratio(a, y) for a in others]  # pyright: ignore
    return x / x.sum()


def kl_lucb(race: Race) -> Told:
    """KL-LUCB: the leader and the arm with the highest upper end, until these ends part."""
    yield from initial(race)
    k = len(race.rewards)
    while True:
        n, mu, level = race.n, race.means, race.beta()
        best = int(np.argmax(mu))
        ends = np.array(
            [upper(race.family, mu[a], level / n[a]) if a != best else -1.0 for a in range(k)]
        )
        high = ends.max()
        reach = n[best] * divergence(race.family, mu[best], high)
        if high < mu[best] and reach > level:
            return
        race.draw((yield {best}))
        race.draw((yield set(np.flatnonzero(ends > high * (1.0 - EQUAL_ENDS)).tolist())))


def racing(race: Race, intervals: bool, by_round: bool = False) -> Told:
    """Chernoff-Racing, or KL-Racing: at the end of each round the worst arm may leave."""
    left, rounds = list(range(len(race.rewards))), 0
    while len(left) > 1:
        for arm in left:
            race.draw((yield {arm}))
        rounds += 1
        mu = race.means
        best, worst = max(left, key=lambda a: mu[a]), min(left, key=lambda a: mu[a])
        level = race.beta(rounds if by_round else None)
        if mu[best] == mu[worst]:
            continue
        if intervals:
            end = upper(race.family, mu[worst], level / rounds)
            out = end < mu[best] and rounds * divergence(race.family, mu[best], end) > level
        else:
            out = transport(race.family, rounds, mu[best], rounds, mu[worst]) > level
        if out:
            left.remove(worst)
