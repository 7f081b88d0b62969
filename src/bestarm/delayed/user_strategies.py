"""How a user strategy plays an instance of delayed feedback, event by event."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bestarm.common.paper import Cell
from bestarm.common.user_strategies import (
    ConstructorArguments,
    Fault,
    UserObject,
    UserStrategies,
    UserStrategy,
    arm_index,
    most_pulls,
)
from bestarm.core.arguments import integer
from bestarm.core.inputs import short
from bestarm.core.status import Status
from bestarm.core.streams import Streams
from bestarm.delayed.bounds import AGE, ARM, DELAY, FULL, NUMBER, RECORDED, make_tally
from bestarm.delayed.problem import Instance
from bestarm.delayed.strategies import READINGS as NAMED
from bestarm.delayed.strategies import Outcome, Setting, make_rules, prepare, reordered, usable
from bestarm.delayed.world import (
    Problem,
    draw,
    is_full,
    make_draws,
    partial_feedback,
    pull_delay,
    pull_reward,
    with_more_room,
)


def arguments(instance: Instance, setting: Setting) -> ConstructorArguments:
    """Arguments, named as those of `Partial`."""
    sigma, delays = instance.sigma, instance.delay
    fixed = len(delays) == 1 and delays[0].low == delays[0].high
    problem = {
        "n_arms": len(instance.means),
        "top": instance.top,
        "sigma": sigma[0] if len(sigma) == 1 else sigma,
        "sigma_p": instance.sigma_p,
        "feedback": usable(instance),
        "delay": delays[0].low if fixed else None,
        "delta": setting.delta,
        "batch": setting.batch,
        "limit": setting.limit or setting.batch,
    }
    return ConstructorArguments(problem, {})


class World:
    """The pulls that run, at most `batch`, and what they give.

    Args:
        problem: the truth, in the order of this run.
        feedback: its kind, as in bounds.py.
        setting: of the run.
        streams: rewards and delays are drawn from the environment, forecasts from the coins.
    """

    def __init__(self, problem: Problem, feedback: int, setting: Setting, streams: Streams) -> None:
        n = problem.means.size
        self.problem, self.feedback, self.setting, self.streams = (
            problem,
            feedback,
            setting,
            streams,
        )
        self.draws, self.tally = (
            make_draws(problem),
            make_tally(np.zeros(n, np.int64), setting.batch),
        )
        self.running: dict[int, int] = {}  # arms by id, oldest first
        self.slots: dict[int, int] = {}
        self.used: set[int] = set()  # ids
        self.started = np.zeros(n, np.int64)
        self.steps, self.finished, self.cancelled = (np.zeros(n, np.int64) for _ in range(3))

    def obey(self, actions: Any) -> None:
        """Cancel and start what `ask` says. Raises ValueError if that cannot be done."""
        try:
            start, cancel = actions
            started = [(id, arm) for id, arm in start]
            cancelled = [trial[0] if isinstance(trial, tuple) else trial for trial in cancel]
        except (TypeError, ValueError):
            raise ValueError(
                f"must be two lists, of (id, arm) to start and to cancel; got {short(actions)}"
            ) from None
        for id in cancelled:
            if id not in self.running:
                raise ValueError(f"cancels {short(id)}, which is none of {list(self.running)}")
            self.cancelled[self.end(id)] += 1
        for id, arm in started:
            self.start(id, arm)

    def start(self, id: Any, arm: Any) -> None:
        """Start a pull. Raises ValueError for an id that was used, or one pull too many."""
        index = arm_index(arm, self.started.size)
        limit, batch = self.setting.limit or self.setting.batch, self.setting.batch
        if integer(id) is None or id in self.used:
            raise ValueError(f"starts a pull with an id that is no new number: {short(id)}")
        if len(self.running) == batch or [*self.running.values()].count(index) == limit:
            raise ValueError(f"starts more pulls than may run: {batch}, {limit} of an arm")
        number = self.started[index]
        while number >= self.draws.rows[0]:
            if is_full(self.draws):
                self.draws = with_more_room(self.draws)
            draw(self.draws, self.problem, self.streams.environment)
        s = min({*range(batch)} - {*self.slots.values()})
        slots = self.tally.slots
        slots[ARM, s], slots[NUMBER, s], slots[AGE, s] = index, number, 0
        slots[DELAY, s] = pull_delay(self.draws, self.problem, number, index)
        self.tally.sums[s] = 0.0
        self.used.add(id)
        self.running[id], self.slots[id] = index, s
        self.started[index] += 1

    def end(self, id: int) -> int:
        """Take a pull out; returns its arm."""
        del self.slots[id]
        return self.running.pop(id)

    def cut(self) -> None:
        """Count the pulls that the cap cuts short as cancelled."""
        for id, index in self.running.items():
            self.cancelled[index] += self.tally.slots[AGE, self.slots[id]] > 0

    def elapsed(self, most: int) -> int:
        """Steps until something can be told, at most `most`."""
        if self.feedback != FULL:
            return 1
        slots = self.tally.slots
        return min(most, *(int(slots[DELAY, s] - slots[AGE, s]) for s in self.slots.values()))

    def advance(self, user_object: UserObject, elapsed: int) -> None:
        """Let time pass, and tell what the running pulls give, oldest first."""
        slots, tally = self.tally.slots, self.tally
        for id, index in list(self.running.items()):
            s = self.slots[id]
            slots[AGE, s] += elapsed
            self.steps[index] += elapsed
            if slots[AGE, s] == slots[DELAY, s]:
                reward = float(pull_reward(self.draws, self.problem, slots[NUMBER, s], index))
                self.finished[self.end(id)] += 1
                user_object.call("final", id, reward)
            elif self.feedback != FULL:
                value, spread = partial_feedback(
                    self.feedback, self.problem, self.draws, tally, s, self.streams.coins
                )
                tally.sums[s] += value
                more = (float(spread),) if self.feedback == RECORDED else ()
                user_object.call("partial", id, float(value), *more)


def play(user_object: UserObject, world: World, cap: int) -> tuple[int, bool]:
    """A run: the time of its end, and whether it stopped."""
    time = 0
    while True:
        actions = user_object.call("ask")
        try:
            world.obey(actions)
        except ValueError as error:
            raise Fault(f"ask after {time} steps: {error}") from None
        stopped = user_object.done
        if stopped or time >= cap:
            return time, stopped
        if not world.running:
            raise Fault(f"ask after {time} steps: starts nothing, though nothing runs")
        elapsed = world.elapsed(cap - time)
        time += elapsed
        world.advance(user_object, elapsed)


def checked_answer(answer: Any, n: int, k: int) -> np.ndarray:
    """(k,) arms from 0, ascending. Raises Fault if the answer is not k different arms."""
    try:
        arms = sorted(arm_index(arm, n) for arm in answer)
    except (TypeError, ValueError):
        arms = []
    if len(arms) != k or len(set(arms)) != k:
        raise Fault(f"answer must be {k} different arms, 0 to {n - 1}, got {short(answer)}")
    return np.array(arms)


def events(
    instance: Instance, setting: Setting, strategy: UserStrategy
) -> Callable[[Streams], Outcome]:
    """A function that plays a run of a strategy on its streams.

    `ask` gives the pulls to start, as (id, arm), and those to cancel. `partial` gets an id and a
    forecast (of recorded ones also their standard deviation), `final` an id and the reward; a class
    without `partial` is told rewards only. `done` is read after each `ask`. Every run is paired
    with racing on rewards alone, as Partial's are.
    """
    truth, n = instance.problem, len(instance.means)
    options = setting.model_dump()
    on_rewards = prepare(instance, Cell(instance.name, "Full", options, NAMED["Full"].default))
    default = NAMED["Partial"][NAMED["Partial"].default]
    kind = make_rules(default, usable(instance), truth.sigma, truth.sigma_p, setting).feedback

    def replicate(streams: Streams) -> Outcome:
        generators = streams.environment.bit_generator, streams.coins.bit_generator
        before = [bits.state for bits in generators]
        alone = on_rewards(streams)
        for bits, state in zip(generators, before, strict=True):
            bits.state = state
        order = streams.environment.permutation(n) if instance.shuffled else np.arange(n)
        # the forecasts' stream, undisturbed, names one for the strategy
        seed = np.random.default_rng(before[1]["state"]["state"])
        user_object = UserObject(strategy, arguments(instance, setting), seed, "ask", "final")
        used = kind if callable(getattr(user_object.object, "partial", None)) else FULL
        world = World(reordered(truth, order), used, setting, streams)
        time, stopped = play(user_object, world, most_pulls(setting))
        answer, place = user_object.read("answer"), np.argsort(order)
        world.cut()
        none = answer is None and not stopped
        return Outcome(
            tau=time,
            status=int(Status.STOPPED if stopped else Status.CAPPED),
            answer=np.zeros(instance.top, np.int64)
            if none
            else np.sort(order[checked_answer(answer, n, instance.top)]) + 1,
            tau_full=alone.tau,
            full_status=alone.status,
            missed=0,
            steps=world.steps[place],
            finished=world.finished[place],
            cancelled=world.cancelled[place],
        )

    return replicate


USER_STRATEGIES = UserStrategies(arguments, events=events, unknown={"missed": ("share_missed",)})
