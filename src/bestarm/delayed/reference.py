"""Slow and obvious versions of the kernels: oracles for tests, never used in sampling."""

import math

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
        delta: to share out.
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
    """Rewards and delays of the f-th pull of every arm, drawn a row of all arms at a time.

    With `records` (rewards, delays, forecasts, spreads) it is drawn which of them a pull is.
    """

    def __init__(self, means, low, high, sigma, environment, records=None) -> None:
        self.means, self.low, self.high, self.sigma = means, low, high, sigma
        self.environment, self.records = environment, records
        self.rows: list[tuple[list[float], list[int]]] = []
        self.picks: list[list[int]] = []  # which record each arm's pull is, a row as above

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


def update_arm_sets(accepted: set, rejected: set, surviving: set, k: int, lower, upper):
    """UpdateArmSets of Algorithm 1, with ranks that do not exist at -inf and inf."""
    k_t = k - len(accepted)
    uppers = [*sorted((upper[i] for i in surviving), reverse=True), -math.inf]
    lowers = [math.inf, *sorted((lower[i] for i in surviving), reverse=True)]
    ends_early = k_t >= len(surviving)
    accept = {i for i in surviving if ends_early or lower[i] > uppers[k_t]}
    reject = {i for i in surviving if not ends_early and upper[i] < lowers[k_t]}
    return accepted | accept, rejected | reject, surviving - accept - reject


def interval(
    history,
    running,
    n,
    *,
    sigma,
    sigma_p,
    delta,
    feedback,
    rule="optimal",
    pooled=1,
    find_split=best_split,
):
    """Centre and half-width of one arm's interval, from its own finished and running pulls.

    Args:
        history: its finished `Pull`s, in order.
        running: those running, oldest first.
        n: arms in the union bound.
        sigma, sigma_p: scales in Lemma 1.
        find_split: what shares out delta where it is not fixed.
    """
    count = len(history)
    total = sum(pull.reward for pull in history)
    kinds = {"biased": 3, "unbiased": 2, "recorded": 2}.get(feedback, 1)
    level = delta / kinds if rule == "guaranteed" else delta
    centre = total / count if count else 0.0
    width = radius(sigma, count, level / n)
    if feedback == "incremental":
        delay = (history or running)[0].delay
        seen = sum(p.age for p in [*history, *running])
        total += sum(sum(p.partial) for p in running)
        return total * delay / seen, radius(sigma * math.sqrt(delay), seen, delta / n)
    used = running[:pooled]
    if feedback == "full" or not used:
        return centre, width
    m = len(used)
    pieces = [(sigma, count + m, 1.0)]
    pieces += [
        (sigma_p * np.sqrt(np.mean(np.square(p.spreads or 1.0))), p.age, 1.0 / (count + m))
        for p in used
    ]
    union = [1.0, *(6.0 / (math.pi * (pull.number + 1)) ** 2 for pull in used)]
    sums = total + sum(sum(pull.partial) / pull.age for pull in used)
    if feedback == "biased":
        pairs = [(p.partial, p.reward) for p in history if p.delay > 1]
        if not pairs:
            return centre, width
        pieces.append((sigma_p, len(pairs), m / (count + m)))
        union.append(1.0)
        z = sum(sum(partial) / len(partial) - reward for partial, reward in pairs) / len(pairs)
        sums -= m * z
    if rule == "guaranteed":
        shares = [level * each for each in union]
    else:
        shares, _ = find_split(pieces, n, delta)
        if rule == "published":
            shares = [1.0 - sum(shares[1:]), *shares[1:]]
    narrower = sum(
        weight * radius(scale, tau, share / n)
        for (scale, tau, weight), share in zip(pieces, shares, strict=True)
    )
    if narrower < width:
        return sums / (count + m), narrower
    return centre, width


def hear(pull: Pull, nature: Nature, coins, feedback: str, bias, true_sigma_p: float) -> None:
    """The partial feedback of a running pull at its age."""
    if feedback == "incremental":
        left = pull.delay - pull.age + 1
        mean = (pull.reward - sum(pull.partial)) / left
        spread = nature.sigma * math.sqrt((1 - 1 / left) / pull.delay)
        pull.partial.append(mean + spread * coins.standard_normal())
    elif feedback == "recorded":
        _, _, forecasts, spreads = nature.records or ([], [], [], [])
        pull.partial.append(forecasts[pull.arm][pull.record][pull.age - 1])
        pull.spreads.append(spreads[pull.arm][pull.record][pull.age - 1])
    else:
        noise = true_sigma_p * coins.standard_normal()
        pull.partial.append(pull.reward + bias[pull.arm] + noise)


def race(
    nature: Nature,
    coins,
    *,
    k: int,
    batch: int,
    limit: int,
    cap: int,
    feedback: str,
    bias,
    true_sigma_p: float,
    survivors: bool = False,
    **rules,
) -> dict:
    """Algorithm 3 with the intervals above, step by step; Algorithm 2 for a batch of one.

    Returns:
        The time, the sets of accepted and rejected arms, every finished and cancelled pull, the
        most pulls that ran at once, in all and of an arm, and a log of (time, arm, centre,
        half-width), one entry an update.
    """
    n = len(nature.means)
    surviving, accepted, rejected = set(range(n)), set(), set()
    started, running, finished, cancelled, log = [0] * n, [], [], [], []
    lower, upper = [-math.inf] * n, [math.inf] * n
    t, most, most_of_an_arm = 0, 0, 0
    while surviving and t < cap:
        while len(running) < batch:
            free = [i for i in surviving if sum(p.arm == i for p in running) < limit]
            if not free:
                break
            arm = min(free, key=lambda i: (started[i], i))
            running.append(nature.pull(arm, started[arm]))
            started[arm] += 1
        of_arms = [sum(p.arm == i for p in running) for i in range(n)]
        most = max(most, len(running))
        most_of_an_arm = max([most_of_an_arm, *of_arms])
        t += 1
        heard = []
        for pull in running:
            pull.age += 1
            if pull.age == pull.delay:
                finished.append(pull)
                heard.append(pull.arm)
            elif feedback != "full":
                hear(pull, nature, coins, feedback, bias, true_sigma_p)
                heard.append(pull.arm)
        running = [p for p in running if p.age < p.delay]
        sharing = len(surviving) if survivors else n
        for arm in dict.fromkeys(heard):
            history = [p for p in finished if p.arm == arm]
            ours = [p for p in running if p.arm == arm]
            centre, width = interval(history, ours, sharing, feedback=feedback, **rules)
            lower[arm], upper[arm] = centre - width, centre + width
            log.append((t, arm, centre, width))
        if heard:
            accepted, rejected, surviving = update_arm_sets(
                accepted, rejected, surviving, k, lower, upper
            )
        cancelled += [p for p in running if p.arm not in surviving]
        running = [p for p in running if p.arm in surviving]
    return {
        "time": t,
        "accepted": accepted,
        "rejected": rejected,
        "finished": finished,
        "cancelled": cancelled + running,
        "most": most,
        "most_of_an_arm": most_of_an_arm,
        "log": log,
    }


def race_by_slot(
    nature: Nature,
    coins,
    *,
    k: int,
    batch: int,
    limit: int,
    cap: int,
    feedback: str,
    bias,
    true_sigma_p: float,
    survivors: bool = False,
    **rules,
) -> dict:
    """`race` in the published program's order: slots are heard one by one, each moving arms.

    Returns:
        The same but for the most that ran; the log has (time, slot, arms that share delta, arms
        that survive it, arm, centre, half-width), an entry a feedback of a surviving arm.
    """
    n = len(nature.means)
    surviving, accepted, rejected = set(range(n)), set(), set()
    started, finished, cancelled, log = [0] * n, [], [], []
    slots: list[Pull | None] = [None] * batch
    lower, upper = [-math.inf] * n, [math.inf] * n
    t = 0
    while surviving and t < cap:
        for s in range(batch):
            arms = [pull.arm for pull in slots if pull]
            free = [i for i in surviving if arms.count(i) < limit]
            if slots[s] is None and free:
                arm = min(free, key=lambda i: (started[i], i))
                slots[s] = nature.pull(arm, started[arm])
                started[arm] += 1
        t += 1
        for s, pull in enumerate(slots):
            if pull is None:
                continue
            pull.age += 1
            ended = pull.age == pull.delay
            if ended:
                finished.append(pull)
                slots[s] = None
            elif feedback != "full":
                hear(pull, nature, coins, feedback, bias, true_sigma_p)
            if pull.arm in surviving and (ended or feedback != "full"):
                history = [p for p in finished if p.arm == pull.arm]
                ours = [] if ended else [pull]
                if feedback == "incremental":  # one sequence, whatever the slots
                    ours = [p for p in slots if p and p.arm == pull.arm]
                sharing = len(surviving) if survivors else n
                centre, width = interval(history, ours, sharing, feedback=feedback, **rules)
                lower[pull.arm], upper[pull.arm] = centre - width, centre + width
                accepted, rejected, surviving = update_arm_sets(
                    accepted, rejected, surviving, k, lower, upper
                )
                log.append((t, s, sharing, len(surviving), pull.arm, centre, width))
            if not ended and pull.arm not in surviving:
                cancelled.append(pull)
                slots[s] = None
    return {
        "time": t,
        "accepted": accepted,
        "rejected": rejected,
        "finished": finished,
        "cancelled": cancelled + [p for p in slots if p],
        "log": log,
    }
