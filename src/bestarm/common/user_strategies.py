"""User strategies, which are not of this package, and how they play an instance of a paper.

A strategy is a class with `ask`, `tell`, `done` and `answer`, as this package's ask/tell objects
have them; or compiled steps (`Compiled`). docs/adding-a-strategy.md says what each paper gives it.
What goes wrong in it is a `Fault`, to which the caller adds its name and the run.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bestarm.common.codehash import PACKAGE
from bestarm.core.arguments import finite, integer
from bestarm.core.inputs import Input, short
from bestarm.core.strategy import NO_CAP, Strategy, with_pull
from bestarm.core.streams import Streams

#: The reading of all cells of user strategies.
READING = "own"


class Fault(Exception):
    """What a user strategy did wrong, in words; its cause is what it raised."""


@dataclass(frozen=True)
class Compiled:
    """Compiled steps and their rules, to be simulated as this package's own strategies are.

    Args:
        strategy: the steps; `pull` is the paper's, whatever it is here. Their state needs the
            arrays `pulls`, one entry per arm, and `answer`: (1,) the index of an arm or -1 for
            none; or what else the paper's answers are, see docs/adding-a-strategy.md.
        rules: makes the NamedTuple that the steps are given, from the arguments that a class would
            be given; it names those it needs.

    Example:
        >>> steps = Strategy("mine", *[lambda *_: None] * 4)
        >>> Compiled(steps, lambda n_arms, delta: (n_arms, delta)).strategy.name
        'mine'
    """

    strategy: Strategy
    rules: Callable[..., Any]


class UserStrategy(NamedTuple):
    """A user strategy under the name it has in tables."""

    name: str
    make: Any  # a class, or whatever makes an object when called; or `Compiled`


class ConstructorArguments(NamedTuple):
    """What a paper gives a strategy, by name.

    Args:
        problem: what every strategy may know.
        truth: parts of the ground truth, given only if the constructor names them.
        needed: without which a strategy would solve another problem: the constructor names them.
    """

    problem: Mapping[str, Any]
    truth: Mapping[str, Any]
    needed: Set[str] = frozenset()


class UserRun(NamedTuple):
    """A run as far as it does not depend on the paper."""

    tau: int  # pulls
    stopped: bool
    answer: Any  # the strategy's, in its own terms; None for none
    pulls: np.ndarray  # (n,) by index of the arm
    source: Any  # the object or the state at the end


@dataclass(frozen=True)
class UserStrategies:
    """How a paper's instances are played by user strategies.

    Args:
        arguments: instance, setting -> what a constructor is given.
        rounds: instance, setting -> how its rounds are played, if it has rounds.
        events: otherwise: instance, setting, strategy -> a function that plays a run on its
            streams, with the paper's own outcome.
        unknown: by column of the outcome that only the strategy knows, the statistics made of it.
    """

    arguments: Callable[[Any, Any], ConstructorArguments]
    rounds: Callable[[Any, Any], Rounds] | None = None
    events: Callable[[Any, Any, UserStrategy], Callable[[Streams], Any]] | None = None
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def prepare(
        self, instance: Any, setting: Any, strategy: UserStrategy
    ) -> Callable[[Streams], Any]:
        """A function that plays a run of a strategy on its streams, with the paper's outcome.

        Raises:
            Fault: the strategy cannot be played on this paper's instances.
        """
        if self.rounds is not None:
            rounds, arguments = self.rounds(instance, setting), self.arguments(instance, setting)
            return prepare_rounds(rounds, arguments, setting, strategy)
        assert self.events is not None
        if isinstance(strategy.make, Compiled):
            raise Fault("compiled steps need rounds, which this paper has not; give a class")
        return self.events(instance, setting, strategy)


class Rounds(NamedTuple):
    """A paper whose runs are one pull after the other.

    Args:
        n: number of arms, as `index_of` counts them.
        index_of: an arm as the strategy names it -> its index; raises ValueError.
        world: what `pull` is given.
        pull: a compiled step, see core/strategy.py; it does not look at the state.
        told: index of an arm, what `pull` gives -> what `tell` gets after the arm.
        outcome: a `UserRun` -> the paper's outcome; raises ValueError for a malformed answer.
    """

    n: int
    index_of: Callable[[Any], int]
    world: Any
    pull: Callable[..., Any]
    told: Callable[[int, Any], tuple[Any, ...]]
    outcome: Callable[[UserRun], Any]


def arm_index(arm: Any, n: int, what: str = "an arm") -> int:
    """An arm counted from 0. Raises ValueError for anything else."""
    index = integer(arm)
    if index is None or not 0 <= index < n:
        raise ValueError(f"must be {what}, 0 to {n - 1}, got {short(arm)}")
    return index


def shares(answer: Any, n: int) -> np.ndarray:
    """(n,) nonnegative shares that sum to parameter. Raises ValueError for anything else."""
    try:
        parsed = np.array([finite(share) for share in answer])
    except (TypeError, ValueError):
        parsed = np.empty(0)
    if parsed.size != n or (parsed < -1e-9).any() or abs(parsed.sum() - 1.0) > 1e-6:
        raise ValueError(f"must be {n} nonnegative shares that sum to 1, got {short(answer)}")
    return parsed


def construct(make: Callable[..., Any], arguments: ConstructorArguments, seed: Any = None) -> Any:
    """Call a constructor with those arguments of an offer that it names.

    With `**options` it gets all of `arguments.problem`, and the seed if there is parameter.

    Raises:
        Fault: it needs others, cannot be called, or raises.
    """
    try:
        named = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        raise Fault("cannot be called: it must be a class or a function") from None
    problem = {**arguments.problem} | ({} if seed is None else {"seed": seed})
    every = problem | {**arguments.truth}
    chosen = dict(problem) if any(p.kind is p.VAR_KEYWORD for p in named) else {}
    for parameter in named:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.name in every and parameter.kind is not parameter.POSITIONAL_ONLY:
            chosen[parameter.name] = every[parameter.name]
        elif parameter.default is parameter.empty:
            raise Fault(f"its constructor needs {parameter.name}; it may name {', '.join(every)}")
    if unknown := sorted(arguments.needed - chosen.keys()):
        raise Fault(f"its constructor must name {unknown[0]}, which this instance has")
    with faults_in("the constructor"):
        return make(**chosen)


@contextmanager
def faults_in(what: str) -> Iterator[None]:
    """Whatever a strategy's own code raises, as a Fault with its line."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise Fault(f"{what} raised {described(error)}") from error


def described(error: BaseException) -> str:
    """An exception in a line, with file and line of the code outside of this package."""
    text = next(iter(str(error).strip().splitlines()), "")
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        f.filename.startswith("<frozen ") or f.filename.startswith(str(PACKAGE)) for f in frames
    ]
    theirs = [frame for frame, is_ours in zip(frames, ours, strict=True) if not is_ours]
    place = ""
    if theirs:
        last = [frame for frame in theirs if frame.filename == theirs[0].filename][-1]
        place = f" ({last.filename}, line {last.lineno})"
    return f"{type(error).__name__}{': ' if text else ''}{text}{place}"


class UserObject:
    """An object of a user's class. Whatever it raises is a Fault.

    Args:
        strategy: its class.
        arguments: what its constructor is given.
        seed: a generator for its own randomness.

    Raises:
        Fault: it cannot be constructed, or a method of `methods` is missing.
    """

    def __init__(
        self,
        strategy: UserStrategy,
        arguments: ConstructorArguments,
        seed: np.random.Generator,
        *methods: str,
    ):
        self.object = construct(strategy.make, arguments, seed)
        missing = [name for name in methods if not callable(getattr(self.object, name, None))]
        if missing:
            raise Fault(f"has no method {missing[0]}; it needs {', '.join(methods)}")

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method."""
        try:
            return getattr(self.object, method)(*arguments)
        except (Exception, SystemExit) as error:
            raise Fault(f"{method} raised {described(error)}") from error

    def read(self, name: str) -> Any:
        """The value of an attribute, a property or a method without arguments."""
        try:
            value = getattr(self.object, name)
            return value() if callable(value) else value
        except (Exception, SystemExit) as error:
            if name == "answer" and isinstance(error, RuntimeError) and not self.done:
                return None  # this package's own objects have no answer before the end of a budget
            raise Fault(f"{name} raised {described(error)}") from error

    @property
    def done(self) -> bool:
        """Whether it has stopped."""
        value = self.read("done")
        try:
            return bool(value)
        except ValueError:
            raise Fault(f"done must be true or false, got {short(value)}") from None


def most_pulls(setting: Input) -> int:
    """Most pulls of a run under a setting."""
    return getattr(setting, "budget", None) or getattr(setting, "cap", None) or NO_CAP


def play(user_object: UserObject, rounds: Rounds, limit: int, environment: Any) -> UserRun:
    """Ask, pull and tell until it is done, or `limit` pulls are made."""
    pulls = np.zeros(rounds.n, np.int64)
    tau = 0
    while not (stopped := user_object.done) and tau < limit:
        arm = user_object.call("ask")
        try:
            index = rounds.index_of(arm)
        except ValueError as error:
            raise Fault(f"ask gave no arm after {tau} pulls: {error}") from None
        observed = rounds.pull(rounds.world, None, index, environment)
        user_object.call("tell", arm, *rounds.told(index, observed))
        pulls[index] += 1
        tau += 1
    return UserRun(tau, stopped, user_object.read("answer"), pulls, user_object.object)


def play_compiled(
    strategy: Strategy, rules: Any, rounds: Rounds, limit: int, streams: Streams
) -> UserRun:
    """A run of compiled steps."""
    with faults_in("a step"):
        state, stopped = strategy.play(
            rounds.world, rules, limit, streams.environment, streams.coins
        )
        stopped = bool(stopped or strategy.done(rules, state))
    try:
        pulls, answer = np.ravel(state.pulls).astype(np.int64), np.ravel(state.answer)
    except AttributeError:
        raise Fault("its state must have the arrays pulls and answer") from None
    tau = int(pulls.sum())
    if pulls.size != rounds.n or (not stopped and tau != limit):
        raise Fault(f"pulls must count {rounds.n} arms and every pull, got {short(pulls)}")
    answered = answer.tolist() if answer.size > 1 else int(answer[0])
    return UserRun(tau, stopped, None if answer.min() < 0 else answered, pulls, state)


def prepare_rounds(
    rounds: Rounds, arguments: ConstructorArguments, setting: Input, strategy: UserStrategy
) -> Callable[[Streams], Any]:
    """A function that plays a run of a strategy, for a paper with rounds.

    Raises:
        Fault: the rules of compiled steps cannot be made.
    """
    limit = most_pulls(setting)
    compiled = strategy.make if isinstance(strategy.make, Compiled) else None
    rules = construct(compiled.rules, arguments) if compiled else None
    steps = with_pull(compiled.strategy, rounds.pull, rounds.n) if compiled else None

    def replicate(streams: Streams) -> Any:
        if steps is None:
            user_object = UserObject(strategy, arguments, streams.coins, "ask", "tell")
            run = play(user_object, rounds, limit, streams.environment)
        else:
            run = play_compiled(steps, rules, rounds, limit, streams)
        try:
            return rounds.outcome(run)
        except ValueError as error:
            raise Fault(f"answer {error}") from None

    return replicate
