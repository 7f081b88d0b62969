"""Racing as the published program does it, slot by slot."""

from bestarm.core.compile import lean
from bestarm.delayed.bounds import AGE, ARM, DELAY, FREE, FULL, INCREMENTAL, Rules, Tally
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
    next_arm,
    places_left,
    start,
)


@lean
def go_on_by_slot(
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
    """`go_on` as the published program does it, slot by slot.

    In a step each slot in turn gives its feedback, its arm's bounds follow from that alone (a
    partial feedback's from F finished pulls and this slot's, a reward's from finished pulls), and
    Algorithm 1 moves arms at once; delta is shared by those that survive at that moment. A pull of
    an arm that does not is cancelled when its own slot is next heard, so those in earlier slots run
    for a step more. With one slot it is the same as `go_on`.
    """
    slots, sets, alive = tally.slots, book.sets, book.alive
    n, batch = arms.means.size, race.batch
    time, _, surviving, rows, missed = now
    wanted = places_left(sets, race.k)

    while surviving > 0 and time < race.cap:
        for s in range(batch):
            if slots[ARM, s] != FREE:
                continue
            arm = next_arm(alive, surviving, book.started, book.active, race.limit)
            if arm < 0:
                break
            if book.started[arm] == rows:
                if rows == drawn.rewards.shape[0]:
                    return Now(time, batch, surviving, rows, missed)
                draw(drawn, rows, arms, random, environment)
                rows += 1
            start(tally, book, s, arm, drawn.delays[book.started[arm], arm])

        elapsed = 1
        if rules.feedback == FULL:
            elapsed = race.cap - time
            for s in range(batch):
                arm = slots[ARM, s]
                if arm != FREE:
                    remaining = slots[DELAY, s] - slots[AGE, s] if sets[arm] == SURVIVING else 1
                    elapsed = min(elapsed, remaining)
        time += elapsed

        for s in range(batch):
            arm = slots[ARM, s]
            if arm == FREE:
                continue
            ended = advance(rules, arms, tally, book, drawn, s, elapsed, coins)
            if ended:
                slots[ARM, s] = FREE
            if sets[arm] == SURVIVING and (ended or rules.feedback != FULL):
                sharing = surviving if rules.survivors else n
                first, last = s, s if ended else s + 1
                if rules.feedback == INCREMENTAL:
                    first, last = 0, batch
                missed = judge(rules, arms, tally, book, first, last, arm, sharing, missed)
                book.origin[arm] = s
                left = eliminate(race, rules, tally, batch, book, surviving, sharing, wanted)
                if left < surviving:
                    surviving, wanted = left, places_left(sets, race.k)
            if not ended and sets[arm] != SURVIVING:
                book.cancelled[arm] += 1
                book.active[arm] -= 1
                slots[ARM, s] = FREE
    return Now(time, batch, surviving, rows, missed)
