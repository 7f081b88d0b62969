"""The contract of a user strategy, tried on it::

    python -m bestarm.conformance my_strategy.py
    python -m bestarm.conformance my_package.my_module:MyStrategy --on linear

Says in words what holds and what does not; exit code 1 if something does not.
"""

import inspect
import json
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from bestarm import registry
from bestarm.common.command import print_all_characters
from bestarm.common.paper import Cell
from bestarm.common.user_strategies import (
    Compiled,
    Fault,
    Rounds,
    UserObject,
    UserStrategy,
    construct,
    described,
    most_pulls,
    play,
)
from bestarm.core.inputs import InputError, short
from bestarm.core.status import Status
from bestarm.core.strategy import with_pull
from bestarm.core.streams import Streams, run_streams
from bestarm.users import plugins
from bestarm.users.run import read_instance

#: Runs that are played, and how many of them have to be right; delta is 0.1 or less.
RUNS, RIGHT = 10, 7
#: Pulls for checks of part of a run.
PART = 25
#: Settings with which a Python class has done in seconds, of those that a paper has.
SETTING = {"cap": 20_000, "budget": 1000, "delta": 0.1, "r": 0.2}


class NotApplicable(Exception):
    """A check that does not apply, and why."""


class Result(NamedTuple):
    """What a check found."""

    check: str  # what should hold, in words
    holds: bool | None  # None if the check does not apply
    said: str  # what does not hold, or why it does not apply


def _nothing(_: UserObject) -> None:
    pass


def pulled(rounds: Rounds, index: int, streams: Streams) -> tuple[Any, ...]:
    """What `tell` gets after an arm that is pulled."""
    observed = rounds.pull(rounds.world, None, index, streams.environment)
    return rounds.told(index, observed)


class Case:
    """A strategy on an instance, by default the easy one of the paper.

    Args:
        strategy: the strategy.
        paper: whose instance.
        instance: of it.
    """

    def __init__(self, strategy: UserStrategy, paper: str, instance: Any = None) -> None:
        self.user_strategy, self.paper = strategy, registry.PAPERS[paper]
        simulation = self.paper.simulation
        self.instance = instance or simulation.easy
        fields = simulation.setting.model_fields
        self.setting = simulation.setting(**{k: v for k, v in SETTING.items() if k in fields})
        self.arguments = self.paper.user_strategies.arguments(self.instance, self.setting)

    @property
    def rounds(self) -> Rounds:
        """How the paper's rounds are played."""
        if self.paper.user_strategies.rounds is None:
            raise NotApplicable("runs of this paper have no rounds")
        return self.paper.user_strategies.rounds(self.instance, self.setting)

    def run(self, number: int) -> Any:
        """The outcome of a run. Raises Fault."""
        replicate = self.paper.user_strategies.prepare(
            self.instance, self.setting, self.user_strategy
        )
        return replicate(run_streams(17, number))

    @cached_property
    def outcomes(self) -> list[Any]:
        """Those of all runs."""
        return [self.run(number) for number in range(RUNS)]

    def object(self, streams: Streams) -> UserObject:
        """A new object of a class."""
        if isinstance(self.user_strategy.make, Compiled):
            raise NotApplicable("is compiled")
        return UserObject(self.user_strategy, self.arguments, streams.coins, "ask", "tell")

    def pulls(
        self, number: int, between: Callable[[UserObject], Any] = lambda _: None
    ) -> Iterator[Any]:
        """The arms of a run as it asks for them, told after `between`."""
        rounds, streams = self.rounds, run_streams(17, number)
        user_object = self.object(streams)
        while not user_object.done:
            arm = user_object.call("ask")
            between(user_object)
            values = pulled(rounds, rounds.index_of(arm), streams)
            yield arm
            user_object.call("tell", arm, *values)


def can_be_made(case: Case) -> None:
    """is made of the arguments that the paper gives"""
    make = case.user_strategy.make
    if isinstance(make, Compiled):
        construct(make.rules, case.arguments)
    else:
        construct(make, case.arguments, np.random.default_rng(0))


def plays(case: Case) -> None:
    """asks for arms that exist, and has an answer of the right form"""
    assert case.outcomes


def stops(case: Case) -> None:
    """stops on an easy instance"""
    left = sum(run.status != Status.STOPPED for run in case.outcomes)
    if left:
        raise Fault(f"{left} of {RUNS} runs were not done after {most_pulls(case.setting):,} pulls")


def is_right(case: Case) -> None:
    """finds the right answer of an easy instance"""
    columns = zip(*case.outcomes, strict=True)
    names = case.outcomes[0]._fields
    runs = {name: np.array(values) for name, values in zip(names, columns, strict=True)}
    cell = Cell(case.instance.name, case.user_strategy.name, case.setting.model_dump(), "own")
    truth = case.paper.problems.truth(case.instance).model_dump()
    same = [np.array_equal(answer, truth["answer"]) for answer in runs["answer"]]
    right = int((case.paper.user_output.correct(cell, truth, runs) | same).sum())
    if right < RIGHT:
        raise Fault(f"{right} of {RUNS} runs were right, at least {RIGHT} have to be")


def repeats(case: Case) -> None:
    """depends on its rewards and its seed alone"""
    first, again = case.outcomes[3], case.run(3)
    for name, value, value_again in zip(first._fields, first, again, strict=True):
        if not np.array_equal(value, value_again, equal_nan=True):
            raise Fault(
                f"the same run again had another {name}: {short(value)}, then {short(value_again)}"
            )


def is_alone(case: Case) -> None:
    """does not depend on other objects of its class"""
    alone = list(islice(case.pulls(1), PART))
    both = list(islice(zip(case.pulls(1), case.pulls(2), strict=False), PART))
    _same_arms(alone, [arm for arm, _ in both], "beside another object")


def styles(case: Case) -> None:
    """is not changed by looking at done and answer"""

    def look(user_object: UserObject) -> None:
        for name in ("done", "answer", "done"):
            user_object.read(name)

    _same_arms(
        list(islice(case.pulls(1), PART)), list(islice(case.pulls(1, look), PART)), "looked at"
    )


def _same_arms(expected: list[Any], got: list[Any], what: str) -> None:
    for number, (a, b) in enumerate(zip(expected, got, strict=False)):
        if not np.array_equal(a, b):
            raise Fault(f"{what} it asks for {short(b)} as pull {number}, else for {short(a)}")


def takes_any_arm(case: Case) -> None:
    """takes a reward that it did not ask for, or refuses it with ValueError"""
    streams, rounds = run_streams(17, 1), case.rounds
    user_object = case.object(streams)
    arm = user_object.call("ask")
    others = [a for a in islice(case.pulls(1), PART) if not np.array_equal(a, arm)]
    if not others:
        raise NotApplicable(f"asks for one arm only in {PART} pulls")
    values = pulled(rounds, rounds.index_of(others[0]), streams)
    _told(user_object, others[0], values)
    rounds.index_of(user_object.call("ask"))


def _told(user_object: UserObject, arm: Any, values: tuple[Any, ...]) -> bool:
    """Tell what may be refused; returns whether it was taken."""
    try:
        user_object.object.tell(arm, *values)
    except (ValueError, RuntimeError):
        return False
    except Exception as error:
        raise Fault(f"tell of {short(arm)} raised {described(error)}") from error
    return True


def takes_trials(case: Case) -> None:
    """takes several trials in any order"""
    streams, rounds = run_streams(17, 1), case.rounds
    user_object = case.object(streams)
    if not inspect.signature(user_object.object.ask).parameters:
        raise NotApplicable("ask takes no number of trials")
    trials = user_object.call("ask", 3)
    try:
        trials = [(trial, rounds.index_of(trial.arm)) for trial in reversed(trials)]
    except (TypeError, AttributeError):
        raise Fault(f"ask(3) must give trials with id and arm, got {short(trials)}") from None
    for trial, index in trials:
        values = pulled(rounds, index, streams)
        user_object.call("tell", trial, *values)


def stays_done(case: Case) -> None:
    """stays done, with the same answer, whatever it is told then"""
    streams, rounds = run_streams(17, 1), case.rounds
    user_object = case.object(streams)
    run = play(user_object, rounds, most_pulls(case.setting), streams.environment)
    if not run.stopped:
        raise NotApplicable("did not stop")
    for arm in list(islice(case.pulls(1), PART)):
        values = pulled(rounds, rounds.index_of(arm), streams)
        far = tuple(100.0 - 200.0 * np.asarray(value) for value in values)
        _told(user_object, arm, tuple(float(v) if v.ndim == 0 else v for v in far))
        if not user_object.done:
            raise Fault(f"a reward of {short(arm)} after the end took done back")
    answer = user_object.read("answer")
    if not np.array_equal(np.asarray(answer), np.asarray(run.answer)):
        raise Fault(f"later rewards made its answer {short(answer)}, from {short(run.answer)}")


def goes_on_from_json(case: Case) -> None:
    """goes on from JSON as if nothing had happened"""
    streams, rounds = run_streams(17, 1), case.rounds
    user_object = case.object(streams)
    kind = type(user_object.object)
    if not (hasattr(kind, "to_dict") and hasattr(kind, "from_dict")):
        raise NotApplicable("has no to_dict and from_dict")
    for _ in range(PART):
        if user_object.done:
            break
        arm = user_object.call("ask")
        values = pulled(rounds, rounds.index_of(arm), streams)
        user_object.call("tell", arm, *values)
        try:
            text = json.dumps(user_object.call("to_dict"))
        except (TypeError, ValueError) as error:
            raise Fault(f"to_dict is not JSON: {error}") from None
        again = user_object.call("from_dict", json.loads(text))
        if again.done == user_object.done and not user_object.done:
            _same_arms([user_object.call("ask")], [again.ask()], "loaded")
        user_object.object = again


def steps_agree(case: Case) -> None:
    """makes the same pulls compiled and step by step"""
    make = case.user_strategy.make
    if not isinstance(make, Compiled):
        raise NotApplicable("is not compiled")
    rounds, rules = case.rounds, construct(make.rules, case.arguments)
    steps = with_pull(make.strategy, rounds.pull, rounds.n)
    streams = run_streams(17, 2)
    state = steps.start(rules)
    run = steps.follow(rounds.world, rules, state, streams.environment, streams.coins)
    counted = np.bincount(list(islice(run, PART)), minlength=rounds.n)
    streams = run_streams(17, 2)
    run, _ = steps.play(rounds.world, rules, PART, streams.environment, streams.coins)
    for name, counts in (("compiled", run.pulls), ("step by step", state.pulls)):
        if not np.array_equal(np.ravel(counts), counted):
            raise Fault(f"{name} its state counts {short(np.ravel(counts))}, pulled were {counted}")


CHECKS: tuple[Callable[[Case], None], ...] = (
    can_be_made, plays, stops, is_right, repeats, is_alone, styles, takes_any_arm, takes_trials,
    stays_done, goes_on_from_json, steps_agree,
)  # fmt: skip


def check(case: Case) -> list[Result]:
    """Try the whole contract on a strategy.

    Example:
        >>> from bestarm.linear import LinGapE
        >>> results = check(Case(UserStrategy("LinGapE", LinGapE), "linear"))
        >>> all(result.holds is not False for result in results)
        True
    """
    results: list[Result] = []
    for condition in CHECKS:
        words = condition.__doc__ or ""
        try:
            condition(case)
            results.append(Result(words, True, ""))
        except NotApplicable as reason:
            results.append(Result(words, None, str(reason)))
        except (Fault, ValueError) as fault:
            results.append(Result(words, False, str(fault)))
            if condition is can_be_made:
                break  # nothing else can be tried
    return results


def load_strategies(target: str) -> list[UserStrategy]:
    """The strategies that FILE.py, FILE.py:NAME or MODULE:NAME stands for. Raises InputError."""
    source, _, name = target.rpartition(":") if ":" in target else (target, "", "")
    if source.endswith(".py"):
        module = plugins.load_file(Path(source))
    else:
        sys.path.insert(0, "")  # as `python -m` finds modules
        try:
            module = import_module(source)
        except Exception as error:
            raise InputError(f"{target}: {described(error)}") from error
    if not name:
        return plugins.module_strategies(module, source)
    if not hasattr(module, name):
        raise InputError(f"{target}: {source} has no {name}")
    return [plugins.user_strategy(getattr(module, name), None, target)]


def fitting_paper(strategy: UserStrategy) -> str:
    """The one paper whose arguments suit a strategy. Raises InputError if several do, or none."""
    fitting, reason = list[str](), ""
    for paper in registry.PAPERS:
        try:
            can_be_made(Case(strategy, paper))
            fitting.append(paper)
        except Fault as fault:
            reason = str(fault)
    if len(fitting) != 1:
        papers = ", ".join(fitting or registry.PAPERS)
        problem = "several papers suit it" if fitting else f"no paper suits it ({reason})"
        raise InputError(f"{strategy.name}: {problem}; say --on, one of {papers}")
    return fitting[0]


def main(
    target: Annotated[str, typer.Argument(help="FILE.py, FILE.py:NAME or MODULE:NAME.")],
    on: Annotated[
        str | None,
        typer.Option(help="A paper, PAPER/INSTANCE or an instance file; the paper that suits."),
    ] = None,
) -> None:
    """Try the contract on strategies, which are run as your own code."""
    failed = 0
    for strategy in load_strategies(target):
        if on is None or on in registry.PAPERS:
            case = Case(strategy, on or fitting_paper(strategy))
        else:
            case = Case(strategy, *read_instance(Path(on)))
        print(f"{strategy.name} on {case.paper.name}/{case.instance.name}")
        for result in check(case):
            mark = {True: "ok", False: "FAILS", None: "-"}[result.holds]
            print(f"  {mark:6}{result.check}{': ' if result.said else ''}{result.said}")
            failed += result.holds is False
    print("all holds" if not failed else f"{failed} failed")
    raise typer.Exit(1 if failed else 0)


if __name__ == "__main__":
    print_all_characters()
    try:
        typer.run(main)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
