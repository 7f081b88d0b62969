"""Slow and obvious versions of the kernels: test oracles, never used in simulations."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import zeta

A, C = 0.6, 1.1


def radius(scale: float, tau: int, level: float) -> float:
    """Lemma 1's right-hand side, b from `level` = 2 zeta(2a/c) exp(-2b/c)."""
    if tau == 0:
        return math.inf
    b = -(C / 2) * math.log(level / (2 * zeta(2 * A / C)))
    return scale * math.sqrt((A * math.log(math.log(tau, C) + 1) + b) / tau)


def best_split(pieces, n: float, delta: float) -> tuple[np.ndarray, float]:
    """Shares of delta that minimise sum of weight C(scale, tau, share / n), and the minimum.

    By Lagrange: for a multiplier y the derivative of every piece in its share is -y; the share of
    each piece is a root in an interval, and so is the y that makes the shares add up to delta.

    Args:
        pieces: triples (scale, tau, weight).
        n: arms in the union bound.
        delta: the total of the shares.
    """

    def slope(piece, log_share):
        scale, tau, weight = piece
        height = (radius(1.0, tau, math.exp(log_share) / n) ** 2) * tau
        return math.log(weight * scale / math.sqrt(tau * height)) - log_share

    def share(piece, y):
        least, most = -700.0, math.log(delta)
        if slope(piece, most) >= y:
            return delta
        root = brentq(lambda u: slope(piece, u) - y, least, most, xtol=1e-15, rtol=1e-14)
        return math.exp(root)

    def excess(y):
        return math.log(sum(share(piece, y) for piece in pieces) / delta)

    tops = [slope(piece, math.log(delta)) for piece in pieces]
    y = brentq(excess, min(tops), max(tops) + 20.0, xtol=1e-14, rtol=1e-14)
    shares = np.array([share(piece, y) for piece in pieces])
    value = sum(
        weight * radius(scale, tau, each / n)
        for (scale, tau, weight), each in zip(pieces, shares, strict=True)
    )
    return shares, value


class Pull:
    """A running pull."""

    def __init__(self, arm: int, number: int, reward: float, delay: int) -> None:
        self.arm, self.number, self.reward, self.delay = arm, number, reward, delay
        self.partial: list[float] = []  # feedback before the last step, in order
        self.spreads: list[float] = []  # its standard deviations, where recorded
        self.record: int | None = None  # which of its arm's recorded pulls it is
        self.age = 0


class Nature:
    """Rewards and delays of the f-th pull of every arm, drawn row by row (all arms at a time).

    Args:
        means: (n,)
        low, high: (n,) delays are uniform on low, ..., high steps.
        sigma: standard deviation of a reward.
        environment: generator of rewards, delays and the choice of records.
        records: (rewards, delays, forecasts, spreads); if given, pulls are drawn from these.
        bias: (n,) of partial feedback, by default 0.
        sigma_p: standard deviation of a partial feedback given the reward.
    """

    def __init__(
        self, means, low, high, sigma, environment, records=None, *, bias=None, sigma_p=0.0
    ) -> None:
        self.means, self.low, self.high, self.sigma = means, low, high, sigma
        self.environment, self.records = environment, records
        self.bias, self.sigma_p = [0.0] * len(means) if bias is None else bias, sigma_p
        self.rows: list[tuple[list[float], list[int]]] = []
        self.picks: list[list[int]] = []  # the record of each arm's pull, in rows as above

    def pull(self, arm: int, number: int) -> Pull:
        if self.records:
            m = len(self.records[0][arm])
            while len(self.picks) <= number:
                self.picks.append([int(self.environment.integers(0, m)) for _ in self.means])
            record = self.picks[number][arm]
            pull = Pull(arm, number, *(each[arm][record] for each in self.records[:2]))
            pull.record = record
            return pull
        while len(self.rows) <= number:
            rewards = [m + self.sigma * self.environment.standard_normal() for m in self.means]
            delays = [int(d) for d in self.low]
            if tuple(self.low) != tuple(self.high):
                bounds = zip(self.low, self.high, strict=True)
                delays = [int(self.environment.integers(a, b + 1)) for a, b in bounds]
            self.rows.append((rewards, delays))
        rewards, delays = self.rows[number]
        return Pull(arm, number, rewards[arm], delays[arm])

    def partial_feedback(self, pull: Pull, feedback: str, coins) -> None:
        """The partial feedback of a running pull at its age."""
        if feedback == "incremental":
            left = pull.delay - pull.age + 1
            mean = (pull.reward - sum(pull.partial)) / left
            spread = self.sigma * math.sqrt((1 - 1 / left) / pull.delay)
            pull.partial.append(mean + spread * coins.standard_normal())
        elif feedback == "recorded":
            _, _, forecasts, spreads = self.records or ([], [], [], [])
            pull.partial.append(forecasts[pull.arm][pull.record][pull.age - 1])
            pull.spreads.append(spreads[pull.arm][pull.record][pull.age - 1])
        else:
            noise = self.sigma_p * coins.standard_normal()
            pull.partial.append(pull.reward + self.bias[pull.arm] + noise)


def update_arm_sets(accepted: set, rejected: set, surviving: set, k: int, lower, upper):
    """UpdateArmSets of Algorithm 1, with ranks that do not exist at -inf and inf."""
    k_t = k - len(accepted)
    uppers = [*sorted((upper[i] for i in surviving), reverse=True), -math.inf]
    lowers = [math.inf, *sorted((lower[i] for i in surviving), reverse=True)]
    ends_early = k_t >= len(surviving)
    accept = {i for i in surviving if ends_early or lower[i] > uppers[k_t]}
    reject = {i for i in surviving if not ends_early and upper[i] < lowers[k_t]}
    return accepted | accept, rejected | reject, surviving - accept - reject


@dataclass(frozen=True)
class Rules:
    """What intervals depend on, besides observations."""

    feedback: str
    sigma: float  # scale of a reward in Lemma 1
    sigma_p: float  # of a partial feedback; if recorded, a factor of its own scale
    delta: float
    split: str = "optimal"
    survivors: bool = False  # whether delta is shared by the surviving arms, else by all
    pooled: int = 1  # running pulls of an arm that enter its interval
    find_split: Callable = best_split  # how delta is split unless its shares are fixed
    n0: float = 1.0  # pulls that the prior is worth, if mixture


def interval(rules: Rules, history: list[Pull], running: list[Pull], n: int):
    """Centre and half-width of one arm's interval, from its own finished and running pulls.

    Args:
        rules: of intervals.
        history: its finished `Pull`s, in order.
        running: its running `Pull`s, oldest first.
        n: arms in the union bound.
    """
    if rules.split == "mixture":
        return mixture_interval(rules, [*history, *running], n)
    count = len(history)
    total = sum(pull.reward for pull in history)
    if rules.feedback == "incremental":
        delay = (history or running)[0].delay
        seen = sum(p.age for p in [*history, *running])
        total += sum(sum(p.partial) for p in running)
        scale = rules.sigma * math.sqrt(delay)
        return total * delay / seen, radius(scale, seen, rules.delta / n)
    centre = total / count if count else 0.0
    width = radius(rules.sigma, count, largest_share(rules) / n)
    used = running[: rules.pooled]
    shifts = [sum(p.partial) / len(p.partial) - p.reward for p in history if p.partial]
    if rules.feedback == "full" or not used or (rules.feedback == "biased" and not shifts):
        return centre, width
    narrower = with_running(rules, count, used, len(shifts), n)
    if narrower >= width:
        return centre, width
    m = len(used)
    sums = total + sum(sum(pull.partial) / pull.age for pull in used)
    if rules.feedback == "biased":
        sums -= m * (sum(shifts) / len(shifts))
    return sums / (count + m), narrower


def likelihood(rules: Rules, pull: Pull) -> tuple[np.ndarray, np.ndarray]:
    """Information about (mean, bias) in all that a pull has told, and the score at 0.

    Feedback y is Gaussian with mean H (mean, bias) and a covariance V, written out as matrices: the
    information is H' V^-1 H, the score H' V^-1 y.
    """
    p = len(pull.partial) if rules.feedback != "full" else 0
    final = pull.age == pull.delay
    values = np.array([*pull.partial[:p], *([pull.reward] if final else [])])
    if rules.feedback == "incremental":
        values = np.array([*pull.partial, *([pull.reward - sum(pull.partial)] if final else [])])
        design = np.tile([1.0 / pull.delay, 0.0], (len(values), 1))
        covariance = np.eye(len(values)) * rules.sigma**2 / pull.delay
    else:
        biased = float(rules.feedback == "biased")
        design = np.array([[1.0, biased]] * p + [[1.0, 0.0]] * final).reshape(-1, 2)
        spreads = pull.spreads[:p] if rules.feedback == "recorded" else [1.0] * p
        noise = [*(rules.sigma_p * np.array(spreads)) ** 2, *([0.0] if final else [])]
        covariance = rules.sigma**2 + np.diag(noise)
    if not len(values):
        return np.zeros((2, 2)), np.zeros(2)
    solved = np.linalg.solve(covariance, np.column_stack([design, values]))
    return design.T @ solved[:, :2], design.T @ solved[:, 2]


def mixture_interval(rules: Rules, pulls: list[Pull], n: int) -> tuple[float, float]:
    """Centre and half-width of one arm's interval from the likelihood of all its pulls.

    Args:
        rules: of intervals.
        pulls: finished ones and others.
        n: arms in the union bound.
    """
    both = [likelihood(rules, pull) for pull in pulls]
    information = sum((i for i, _ in both), np.zeros((2, 2)))
    score = sum((s for _, s in both), np.zeros(2))
    prior = np.diag([rules.n0 / rules.sigma**2, 100.0 * rules.n0 / rules.sigma_p**2])
    n_parameters = (
        2 if information[1, 1] > 0.0 else 1
    )  # without partial feedback the bias is no matter
    information, score, prior = (
        information[:n_parameters, :n_parameters],
        score[:n_parameters],
        prior[:n_parameters, :n_parameters],
    )
    if np.linalg.matrix_rank(information, tol=1e-9 * np.trace(information)) < n_parameters:
        return 0.0, math.inf
    inverse = np.linalg.inv(information)
    ratio = np.linalg.det(information + prior) / np.linalg.det(prior)
    beta = math.log(n / rules.delta) + 0.5 * math.log(ratio)
    variance = (inverse @ (information + prior) @ inverse)[0, 0]
    return (inverse @ score)[0], math.sqrt(2 * beta * variance)


def largest_share(rules: Rules) -> float:
    """The share of delta of a radius if fixed in advance, else all of delta."""
    kinds = {"biased": 3, "unbiased": 2, "recorded": 2}.get(rules.feedback, 1)
    return rules.delta / kinds if rules.split == "guaranteed" else rules.delta


def with_running(rules: Rules, count: int, used: list[Pull], n_shifts: int, n: int) -> float:
    """Half-width of an interval from F finished and some running pulls.

    Args:
        rules: of intervals.
        count: F.
        used: the running pulls.
        n_shifts: finished pulls behind the estimated bias, if feedback is biased.
        n: arms in the union bound.
    """
    m = len(used)
    pieces = [(rules.sigma, count + m, 1.0)]
    pieces += [
        (rules.sigma_p * np.sqrt(np.mean(np.square(p.spreads or 1.0))), p.age, 1.0 / (count + m))
        for p in used
    ]
    union = [1.0, *(6.0 / (math.pi * (pull.number + 1)) ** 2 for pull in used)]
    if rules.feedback == "biased":
        pieces.append((rules.sigma_p, n_shifts, m / (count + m)))
        union.append(1.0)
    if rules.split == "guaranteed":
        shares = [largest_share(rules) * each for each in union]
    else:
        shares, _ = rules.find_split(pieces, n, rules.delta)
        if rules.split == "published":
            shares = [1.0 - sum(shares[1:]), *shares[1:]]
    return sum(
        weight * radius(scale, tau, share / n)
        for (scale, tau, weight), share in zip(pieces, shares, strict=True)
    )


class Race:
    """Algorithm 3 with the intervals above, step by step; Algorithm 2 for a batch of one.

    After `run` it holds the time, the sets of accepted and rejected arms, every finished and
    cancelled pull, the most pulls that ran at once, in all and of an arm, and a log of (time, arm,
    centre, half-width), one entry per update.

    Args:
        nature: the source of rewards and delays.
        rules: of intervals.
        coins: generator of partial feedback.
        k: arms to accept.
        batch, limit: most pulls at a time, in all and of an arm.
        cap: most time steps.
    """

    def __init__(
        self, nature: Nature, rules: Rules, coins, *, k: int, batch: int, limit: int, cap: int
    ) -> None:
        self.nature, self.rules, self.coins = nature, rules, coins
        self.k, self.batch, self.limit, self.cap = k, batch, limit, cap
        n = len(nature.means)
        self.surviving, self.accepted, self.rejected = set(range(n)), set(), set()
        self.slots: list[Pull | None] = [None] * batch
        self.started, self.lower, self.upper = [0] * n, [-math.inf] * n, [math.inf] * n
        self.finished: list[Pull] = []
        self.cancelled: list[Pull] = []
        self.log: list[tuple] = []
        self.time = self.most = self.most_of_an_arm = 0

    def run(self) -> "Race":
        """Race until no arm survives or the cap is reached; returns self."""
        while self.surviving and self.time < self.cap:
            self.start_pulls()
            self.time += 1
            self.step()
        self.cancelled += self.running
        return self

    @property
    def running(self) -> list[Pull]:
        """The running pulls, in the order of their slots."""
        return [pull for pull in self.slots if pull]

    def start_pulls(self) -> None:
        """GetBatchArms."""
        for s in range(self.batch):
            of_arms = [pull.arm for pull in self.running]
            free = [i for i in self.surviving if of_arms.count(i) < self.limit]
            if self.slots[s] is None and free:
                arm = min(free, key=lambda i: (self.started[i], i))
                self.slots[s] = self.nature.pull(arm, self.started[arm])
                self.started[arm] += 1
        of_arms = [pull.arm for pull in self.running]
        self.most = max(self.most, len(of_arms))
        self.most_of_an_arm = max(self.most_of_an_arm, *map(of_arms.count, of_arms))

    def step(self) -> None:
        """All pulls give their feedback, then bounds follow, then arms move."""
        informed = [pull.arm for pull in self.running if self.advance(pull)]
        self.slots = [p if p and p.age < p.delay else None for p in self.slots]
        n = self.n_sharing()
        for arm in dict.fromkeys(informed):
            ours = [p for p in self.running if p.arm == arm]
            self.log.append((self.time, arm, *self.bound(arm, ours, n)))
        if informed:
            self.eliminate()
        self.cancelled += [p for p in self.running if p.arm not in self.surviving]
        kept = [p for p in self.running if p.arm in self.surviving]
        self.slots = [*kept, *[None] * (self.batch - len(kept))]

    def advance(self, pull: Pull) -> bool:
        """Advance a pull by one step; returns whether it gave feedback."""
        pull.age += 1
        if pull.age == pull.delay:
            self.finished.append(pull)
        elif self.rules.feedback != "full":
            self.nature.partial_feedback(pull, self.rules.feedback, self.coins)
        return pull.age == pull.delay or self.rules.feedback != "full"

    def n_sharing(self) -> int:
        """Arms in the union bound."""
        return len(self.surviving) if self.rules.survivors else len(self.started)

    def bound(self, arm: int, running: list[Pull], n: int) -> tuple[float, float]:
        """Update the bounds of an arm from finished and some running pulls; centre, half-width."""
        history = [p for p in self.finished if p.arm == arm]
        centre, width = interval(self.rules, history, running, n)
        self.lower[arm], self.upper[arm] = centre - width, centre + width
        return centre, width

    def eliminate(self) -> None:
        """Algorithm 1."""
        self.accepted, self.rejected, self.surviving = update_arm_sets(
            self.accepted, self.rejected, self.surviving, self.k, self.lower, self.upper
        )


class RaceBySlot(Race):
    """`Race` in the published program's order: slot by slot, with Algorithm 1 after each feedback.

    The log has (time, slot, arms that share delta, arms that survive it, arm, centre, half-width),
    one entry per feedback of a surviving arm.
    """

    def step(self) -> None:
        """Each pull gives its feedback, its arm's bounds follow, and arms move."""
        for s, pull in enumerate(self.slots):
            if pull is None:
                continue
            informed = self.advance(pull)
            ended = pull.age == pull.delay
            if ended:
                self.slots[s] = None
            if pull.arm in self.surviving and informed:
                ours = [] if ended else [pull]
                if self.rules.feedback == "incremental":  # one sequence, whatever the slots
                    ours = [p for p in self.running if p.arm == pull.arm]
                n = self.n_sharing()
                bounds = self.bound(pull.arm, ours, n)
                self.eliminate()
                self.log.append((self.time, s, n, len(self.surviving), pull.arm, *bounds))
            if not ended and pull.arm not in self.surviving:
                self.cancelled.append(pull)
                self.slots[s] = None
