"""`bestarm.compare`: strategies side by side on one instance, from Python."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, overload

import pandas as pd
from rich.console import Console

from bestarm.common.paper import BaseInstance
from bestarm.common.user_strategies import UserStrategy
from bestarm.core.arguments import whole
from bestarm.core.inputs import InputError, short
from bestarm.users import plugins
from bestarm.users.results import RunResults
from bestarm.users.run import (
    Request,
    Runs,
    computing,
    read_instance,
    simulate_experiment,
    user_experiment,
)

#: Width of a printed comparison.
WIDTH = 120


class Comparison:
    """What `compare` found.

    Example:
        >>> from bestarm import compare
        >>> found = compare("baics/example1", ["Uniform"], reps=20)
        >>> found.runs.shape[0], sorted(found.table.columns)[:3]
        (20, ['high', 'low', 'meaning'])
    """

    def __init__(self, results: RunResults) -> None:
        self._results = results

    @property
    def table(self) -> pd.DataFrame:
        """A row per strategy, reading and statistic: value, 95% interval (`low`, `high`), `n`.

        `status` says if it is restricted or undefined because runs did not finish, `meaning` what
        it is. Right answers are `prob_correct`, with Wilson's interval; stopping times
        `mean_stopping_time`, `median_stopping_time`, `quartile_25` and `quartile_75`.
        """
        return self._results.statistics

    @property
    def runs(self) -> pd.DataFrame:
        """A row per run, as `bestarm run --out` writes it: `tau`, `answer`, `correct`, `end`."""
        return self._results.runs().to_pandas()

    def plot(self) -> Any:
        """A Matplotlib figure: a panel per statistic, strategies with 95% intervals."""
        return self._results.picture()

    def __str__(self) -> str:
        text = io.StringIO()
        self._results.show(Console(file=text, width=WIDTH, markup=False, emoji=False))
        return text.getvalue().rstrip()

    __repr__ = __str__


class Comparisons(Mapping[str, Comparison]):
    """What `compare` found on several instances: a `Comparison` each, by name.

    Example:
        >>> from bestarm import compare
        >>> found = compare(["linear/d=2", "linear/d=3"], ["LinGapE"], reps=5)
        >>> list(found), found["d=3"].runs.shape[0], sorted(set(found.table.instance))
        (['d=2', 'd=3'], 5, ['d=2', 'd=3'])
    """

    def __init__(self, comparisons: Mapping[str, Comparison]) -> None:
        self._comparisons = dict(comparisons)

    def __getitem__(self, name: str) -> Comparison:
        return self._comparisons[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._comparisons)

    def __len__(self) -> int:
        return len(self._comparisons)

    @property
    def table(self) -> pd.DataFrame:
        """The rows of all tables, with the column `instance` first."""
        tables = {name: comparison.table for name, comparison in self._comparisons.items()}
        rows = pd.concat(tables, names=["instance"]).reset_index(level="instance")
        return rows.reset_index(drop=True)

    @property
    def runs(self) -> pd.DataFrame:
        """The runs on all instances, which the column `instance` names."""
        return pd.concat(
            [comparison.runs for comparison in self._comparisons.values()], ignore_index=True
        )

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._comparisons.values()))

    __repr__ = __str__


Instance: TypeAlias = str | Path | BaseInstance


@overload
def compare(
    instance: Instance, strategies: Iterable[Any] | Mapping[str, Any], **options: Any
) -> Comparison: ...


@overload
def compare(
    instance: Sequence[Instance], strategies: Iterable[Any] | Mapping[str, Any], **options: Any
) -> Comparisons: ...


def compare(
    instance: Instance | Sequence[Instance],
    strategies: Iterable[Any] | Mapping[str, Any],
    *,
    reps: int = 1000,
    seed: int = 0,
    cores: int | None = None,
    readings: Sequence[str] | None = None,
    progress: bool = True,
    **options: Any,
) -> Comparison | Comparisons:
    """Simulate strategies on the same rewards and compare them, on one instance or on several.

    Strategies of this package give the rows of `bestarm run` with the same seed and options.

    Args:
        instance: "PAPER/INSTANCE", the path of an instance file, or an instance; or a list of them,
            of one paper, for `Comparisons`.
        strategies: names as in tables, ask/tell classes of this package, classes of your own,
            `Compiled`; or a mapping from names to these. docs/adding-a-strategy.md says what your
            class needs.
        reps: runs of each.
        seed: root seed.
        cores: all if left out. Results do not depend on it.
        readings: of the paper, for its own strategies; the default ones if left out.
        progress: show progress on a terminal, and say about how long runs of your class will take.
        options: of the paper, such as `delta`, `cap` or `budget`; `bestarm list PAPER` has them.

    Raises:
        InputError: what is asked does not exist or is out of range; or a strategy of your own
            raises, asks for no arm, or has no proper answer, naming it and the run.

    Example:
        >>> class InTurn:
        ...     def __init__(self, arms):
        ...         self.sums, self.told = [0.0] * len(arms), 0
        ...     def ask(self):
        ...         return self.told % len(self.sums)
        ...     def tell(self, arm, reward):
        ...         self.sums[arm] += reward
        ...         self.told += 1
        ...     @property
        ...     def done(self):
        ...         return self.told == 60
        ...     @property
        ...     def answer(self):
        ...         return self.sums.index(max(self.sums))
        >>> found = compare("linear/d=2", ["LinGapE", InTurn], reps=10, cores=1)
        >>> found.table.query("statistic == 'mean_stopping_time'").strategy.tolist()
        ['LinGapE', 'InTurn']
    """
    single = isinstance(instance, str) or not isinstance(instance, Sequence)
    listed: Any = [instance] if single else instance
    instances = [_instance(named) for named in listed]
    paper = _common(instances)
    names, user_strategies = _strategies(strategies, paper)
    request = Request(names, readings, plugins.distinct(paper, user_strategies))
    texts = {name: str(value) for name, value in options.items()}
    experiments = [user_experiment(paper, i.name, texts, request, dashes="") for _, i in instances]
    runs = Runs(
        whole(reps, 1, 10**6, "reps"),
        whole(seed, 0, None, "seed"),
        None if cores is None else whole(cores, 1, 1024, "cores"),
        quiet=not progress,
    )
    comparisons: dict[str, Comparison] = {}
    for (_, parsed), experiment in zip(instances, experiments, strict=True):
        with computing(parsed.name):
            results = simulate_experiment(paper, parsed, experiment, request.user_strategies, runs)
        comparisons[parsed.name] = Comparison(results)
    return next(iter(comparisons.values())) if single else Comparisons(comparisons)


def _common(instances: Sequence[tuple[str, Any]]) -> str:
    """The paper of all instances. Raises InputError if they have several, or share a name."""
    papers = dict.fromkeys(paper for paper, _ in instances)
    if len(papers) != 1:
        got = ", ".join(papers) or "none"
        raise InputError(f"instance: a list must hold instances of one paper, got {got}")
    names = [parsed.name for _, parsed in instances]
    if len(set(names)) < len(names):
        raise InputError(f"instance: names must be distinct, got {', '.join(names)}")
    return next(iter(papers))


def _instance(instance: Any) -> tuple[str, Any]:
    """The paper and the instance that are meant."""
    if isinstance(instance, BaseInstance):
        return getattr(instance, "paper"), instance  # noqa: B009  # of every paper's instances
    if not isinstance(instance, str | Path):
        raise InputError(f"instance: must be a name, a path or an instance, got {short(instance)}")
    return read_instance(Path(instance))


def _strategies(strategies: Any, paper: str) -> tuple[list[str], list[UserStrategy]]:
    """The names of strategies in order, and the user strategies among them."""
    if isinstance(strategies, str | type) or not isinstance(strategies, Iterable):
        raise InputError(f"strategies: must be a list of them, got {short(strategies)}")
    if isinstance(strategies, Mapping):
        user_strategies = [plugins.user_strategy(make, name) for name, make in strategies.items()]
        return [strategy.name for strategy in user_strategies], user_strategies
    names: list[str] = []
    user_strategies: list[UserStrategy] = []
    for strategy in strategies:
        name = strategy if isinstance(strategy, str) else plugins.name_of_ours(strategy, paper)
        if name is None:
            user_strategies.append(plugins.user_strategy(strategy))
            name = user_strategies[-1].name
        elif name in plugins.installed():
            user_strategies.append(plugins.load_installed(name))
        names.append(name)
    if not names:
        raise InputError("strategies: must be at least one")
    return names, user_strategies
