"""Racing with delayed feedback: Algorithms 1 to 3 and their parallel and biased counterparts.

One loop runs them all. Sequential racing is a batch of one, and racing on full feedback is a race
that looks only when a pull ends. The published program's order of events has a loop of its own.
"""

from typing import NamedTuple

import numpy as np

from bestarm.core.compile import inlined, jit, lean
from bestarm.delayed.bounds import AGE, ARM, DELAY, FREE, FULL, Rules, Tally, make_tally
from bestarm.delayed.by_slot import go_on_by_slot
from bestarm.delayed.steps import (
    SURVIVING,
    Arms,
    Book,
    Drawn,
    Now,
    Race,
    advance,
    draw,
    eliminate,
    judge,
    move,
    next_arm,
    places_left,
    settle,
    start,
)

#: Rows of the table of rewards at first.
ROWS = 64


class Result(NamedTuple):
    """How a run ended."""

    time: int  # steps
    stopped: bool  # by its own rule
    sets: np.ndarray  # (n,) SURVIVING, ACCEPTED or REJECTED
    centres: np.ndarray  # (n,) estimated means
    finished: np.ndarray  # (n,) pulls that ended
    cancelled: np.ndarray  # (n,) pulls cancelled, or running at the cap
    steps: np.ndarray  # (n,) time steps of all pulls
    missed: bool  # whether some interval did not hold its arm's mean


@inlined
def until_next(tally: Tally, running: int) -> int:
    """Steps until the next pull ends."""
    slots = tally.slots
    least = slots[DELAY, 0] - slots[AGE, 0]
    for s in range(1, running):
        least = min(least, slots[DELAY, s] - slots[AGE, s])
    return least


@lean
def go_on(
    race: Race,
    rules: Rules,
    arms: Arms,
    tally: Tally,
    book: Book,
    drawn: Drawn,
    random: bool,
    now: Now,
    environment,
    coins,
) -> Now:
    """Race until it is over, or a pull starts that `drawn` has no room for."""
    slots, sets, alive, heard, news = tally.slots, book.sets, book.alive, book.heard, book.news
    n = arms.means.size
    time, running, surviving, rows, missed = now
    wanted = places_left(sets, race.k)

    while surviving > 0 and time < race.cap:
        while running < race.batch:
            arm = next_arm(alive, surviving, book.started, book.active, race.limit)
            if arm < 0:
                break
            if book.started[arm] == rows:
                if rows == drawn.rewards.shape[0]:
                    return Now(time, running, surviving, rows, missed)
                draw(drawn, rows, arms, random, environment)
                rows += 1
            start(tally, book, running, arm, drawn.delays[book.started[arm], arm])
            running += 1

        elapsed = 1
        if rules.feedback == FULL:
            elapsed = min(until_next(tally, running), race.cap - time)
        time += elapsed

        kept, n_news = 0, 0
        for s in range(running):
            arm = slots[ARM, s]
            ended = advance(rules, arms, tally, book, drawn, s, elapsed, coins)
            if not ended:
                move(tally, s, kept)
                kept += 1
            if (ended or rules.feedback != FULL) and heard[arm] != time:
                heard[arm] = time
                news[n_news] = arm
                n_news += 1
        running = kept

        sharing = surviving if rules.survivors else n
        for i in range(n_news):
            missed = judge(rules, arms, tally, book, 0, running, news[i], sharing, missed)
        left = eliminate(race, rules, tally, running, book, surviving, sharing, wanted)
        if left < surviving:
            surviving, wanted = left, places_left(sets, race.k)
            kept = 0
            for s in range(running):
                arm = slots[ARM, s]
                if sets[arm] == SURVIVING:
                    move(tally, s, kept)
                    kept += 1
                else:
                    book.cancelled[arm] += 1
                    book.active[arm] -= 1
            running = kept
    return Now(time, running, surviving, rows, missed)


@jit
def run(race: Race, rules: Rules, arms: Arms, environment, coins) -> Result:
    """One replication.

    Rewards, delays and which records pulls are come from `environment`; `coins` gives the partial
    feedback.
    """
    n = arms.means.size
    random = (arms.low != arms.high).any()
    recorded = arms.records.rewards.size > 0
    drawn = Drawn(
        np.empty((ROWS, n)),
        np.empty((ROWS, n), np.int64),
        np.empty((ROWS if recorded else 0, n), np.int64),
    )
    tally = make_tally(np.where(arms.low == arms.high, arms.low, 0), race.batch)
    book = Book(
        started=np.zeros(n, np.int64),
        active=np.zeros(n, np.int64),
        cancelled=np.zeros(n, np.int64),
        sets=np.zeros(n, np.int64),
        alive=np.arange(n),
        centres=np.zeros(n),
        lower=np.full(n, -np.inf),
        upper=np.full(n, np.inf),
        rough=np.zeros(n, np.bool_),
        origin=np.zeros(n, np.int64),
        heard=np.full(n, -1),
        news=np.zeros(race.batch, np.int64),
    )
    now = Now(0, 0, n, 0, False)
    while now.surviving > 0 and now.time < race.cap:
        if now.rows == drawn.rewards.shape[0]:
            drawn = Drawn(_twice(drawn.rewards), _twice(drawn.delays), _twice(drawn.picks))
        if rules.by_slot:
            now = go_on_by_slot(
                race, rules, arms, tally, book, drawn, random, now, environment, coins
            )
        else:
            now = go_on(race, rules, arms, tally, book, drawn, random, now, environment, coins)
    settle(rules, tally, now.running, book, now.surviving, now.surviving if rules.survivors else n)
    for s in range(now.running):
        if tally.slots[ARM, s] != FREE:
            book.cancelled[tally.slots[ARM, s]] += 1
    return Result(
        now.time,
        now.surviving == 0,
        book.sets,
        book.centres,
        tally.finished,
        book.cancelled,
        tally.steps,
        now.missed,
    )


@inlined
def _twice(table: np.ndarray) -> np.ndarray:
    """A table with room for twice as many rows."""
    larger = np.empty((2 * table.shape[0], table.shape[1]), table.dtype)
    larger[: table.shape[0]] = table
    return larger
