"""Runs and bounds on a person's own instance file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bestarm import registry
from bestarm.common.files import files_hash
from bestarm.common.names import advice
from bestarm.common.paper import Cell, Experiment
from bestarm.common.user_strategies import READING, UserStrategy
from bestarm.core.arguments import sized
from bestarm.core.files import write_text
from bestarm.core.inputs import SIZES, Input, InputError, load_yaml, parse
from bestarm.registry.names import near_part
from bestarm.runs.cores import simulate
from bestarm.runs.plan import describe_instances, make_plan
from bestarm.runs.shard import simulation_code
from bestarm.users import plugins
from bestarm.users.files import Files
from bestarm.users.output import output
from bestarm.users.results import RunResults
from bestarm.users.shards import Mark, Share, merge
from bestarm.users.show import print_instance
from bestarm.users.show_list import few
from bestarm.users.views import instance_view

#: Control characters, which would steer the terminal that a name is printed to.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def read_instance(path: Path):
    """The paper and the instance of a file, or of PAPER/INSTANCE if there is no such file.

    Raises InputError naming the file and the field.
    """
    paper, _, name = str(path).partition("/")
    if paper in registry.PAPERS and not path.exists():
        instances = registry.PAPERS[paper].problems.instances()
        if name in instances:
            return paper, instances[name]
        if name in registry.PAPERS[paper].targets:
            raise InputError(
                f"{path}: is a target, which `bestarm show {path}` prints and `bestarm verify "
                f"{path}` checks; an instance is wanted, see `bestarm list {paper}`"
            )
        near = near_part(str(path), f"see `bestarm list {paper}`", targets=False)
        raise InputError(f"{path}: {paper} has no such instance; {near}")
    if not path.exists() and (near := near_part(str(path), "", targets=False)):
        raise InputError(f"{path}: No such file or directory; {near}")
    data = load_yaml(path)
    if not isinstance(data, dict) or data.get("paper") not in list(registry.PAPERS):
        got = data.get("paper") if isinstance(data, dict) else None
        near = advice(got, registry.PAPERS, "") if isinstance(got, str) else ""
        papers = ", ".join(registry.PAPERS)
        raise InputError(f"{path}: paper: is required, one of {papers}{near and '; ' + near}")
    problems = registry.PAPERS[data["paper"]].problems
    data = problems.with_files({"name": path.stem, **data}, path)
    instance = parse(problems.instance, data, str(path))
    for field, value in _leaves(instance.model_dump(), ""):
        if isinstance(value, str) and CONTROLS.search(value):
            raise InputError(f"{path}: {field}: must not hold control characters, got {value!r}")
        if isinstance(value, int | float) and not sized(value):
            raise InputError(f"{path}: {field}: must be {SIZES}")
    return data["paper"], instance


def _leaves(value: Any, field: str) -> Iterator[tuple[str, Any]]:
    """Every number and text in nested fields, with its name; list entries count from 1."""
    parts = value.items() if isinstance(value, dict) else enumerate(value, 1)
    for name, part in parts:
        if isinstance(part, dict | list):
            yield from _leaves(part, f"{field}{name}.")
        else:
            yield f"{field}{name}", part


@contextmanager
def computing(path: object) -> Iterator[None]:
    """Solvers that fail on an instance whose numbers are too far apart, as an error of its file."""
    try:
        yield
    except InputError:
        raise
    except (ArithmeticError, ValueError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{path}: cannot be computed with these numbers ({reason})") from None


def split_options(
    paper: str, texts: Mapping[str, str], dashes: str = "--"
) -> tuple[dict, dict[str, dict]]:
    """The setting, and each strategy's options, from options as a person wrote them.

    Raises InputError for a name that the paper has not, or a value out of range; `dashes` are
    what its messages put before a name.
    """
    simulation = registry.PAPERS[paper].simulation
    values = {name: None if text.lower() == "none" else text for name, text in texts.items()}
    allowed = list(simulation.setting.model_fields)
    allowed += [name for model in simulation.options.values() for name in model.model_fields]
    for name in values:
        if name not in allowed:
            written, *options = (
                n.replace("_", "-") if dashes else n for n in dict.fromkeys([name, *allowed])
            )
            near = advice(written, [f"{dashes}{option}" for option in options], "")
            only = f"{paper} has no such option, only {dashes}{f', {dashes}'.join(options)}"
            only += f"; {near}" if near else ""
            raise InputError(f"{dashes}{written}: {only}")

    def part(model: type[Input]) -> dict:
        return {name: values[name] for name in model.model_fields if name in values}

    setting = parse(simulation.setting, part(simulation.setting), "option").model_dump()
    options = {}
    for strategy, model in simulation.options.items():
        parsed = parse(model, part(model), "option").model_dump()
        options[strategy] = {name: parsed[name] for name in part(model)}
    return setting, options


class Runs(NamedTuple):
    """How much to simulate, and how."""

    reps: int
    seed: int = 0
    cores: int | None = None  # all
    quiet: bool = False  # no progress bar
    share: Share | None = None  # all


class StrategyOptions(NamedTuple):
    """Strategies, readings and plugins as the command line has them."""

    strategies: list[str] | None
    readings: list[str] | None
    plugins: list[Path] | None


class Request(NamedTuple):
    """Which strategies a person wants to run.

    Args:
        strategies: names, of the paper or of `user_strategies`; all if None.
        readings: of the paper's strategies; the default ones if None.
        user_strategies: by name, which are always run.
    """

    strategies: Sequence[str] | None = None
    readings: Sequence[str] | None = None
    user_strategies: Mapping[str, UserStrategy] = {}


def user_experiment(
    paper: str, name: str, texts: Mapping[str, str], request: Request, dashes: str = "--"
) -> Experiment:
    """Cells for the wanted strategies and readings, in the order of their names.

    Raises:
        InputError: a strategy, a reading or an option does not exist, or a reading does not apply
            to a strategy that was named.
    """
    simulation = registry.PAPERS[paper].simulation
    names = list(simulation.readings) + list(request.user_strategies)
    strategies = simulation.readings if request.strategies is None else request.strategies
    named = [plugins.strategy_named(paper, s, names, f"{dashes}strategy") for s in strategies]
    chosen = list(dict.fromkeys([*named, *request.user_strategies]))
    for reading in request.readings or []:
        if reading not in (every := simulation.reading_names()):
            near = advice(reading, every, "")
            allowed = f"must be one of {few(every)}, got {reading}{near and '; ' + near}"
            raise InputError(f"{dashes}reading: {allowed}")
    setting, options = split_options(paper, texts, dashes)
    cells: list[Cell] = []
    for strategy in chosen:
        if strategy in request.user_strategies:
            cells.append(Cell(name, strategy, setting, READING))
            continue
        of = simulation.readings[strategy]
        applying = [r for r in request.readings or [of.default] if r in of]
        if not applying and request.strategies is not None:
            several = ", ".join(request.readings or [])
            raise InputError(f"{dashes}reading: none of {several} applies to {strategy}")
        cells += [Cell(name, strategy, setting, r, options.get(strategy, {})) for r in applying]
    return Experiment("own", tuple(cells))


def simulate_experiment(
    paper: str,
    instance: Any,
    experiment: Experiment,
    user_strategies: Mapping[str, UserStrategy],
    runs: Runs,
) -> RunResults:
    """Simulate an experiment on an instance."""
    entry = registry.PAPERS[paper]
    described = describe_instances(entry, {instance.name: instance})
    plan = make_plan(paper, experiment, runs.seed, runs.reps, described)
    mine = runs.share.of(runs.reps) if runs.share else range(runs.reps)
    runs_by_task = simulate(plan.tasks(entry, user_strategies), mine, runs.cores, runs.quiet)
    return RunResults(plan, runs_by_task, len(mine), user_strategies)


def request_from_options(paper: str, strategies: StrategyOptions) -> Request:
    """What the command line asks for: names, and files whose strategies are run beside.

    Raises:
        InputError: a file cannot be run, or a name is used twice.
    """
    user_strategies = [
        strategy
        for path in strategies.plugins or []
        for strategy in plugins.load_user_strategies(path)
    ]
    taken = {
        *registry.PAPERS[paper].simulation.readings,
        *(strategy.name for strategy in user_strategies),
    }
    user_strategies += [
        plugins.load_installed(name)
        for name in dict.fromkeys(strategies.strategies or [])
        if name not in taken and name in plugins.installed()
    ]
    return Request(
        strategies.strategies or None, strategies.readings, plugins.distinct(paper, user_strategies)
    )


def _inputs(paper: str, path: Path, strategies: StrategyOptions) -> dict[str, Path]:
    """The files that a run reads, by what they are."""
    inputs = {"the instance": path}
    if path.is_file():
        data = load_yaml(path)
        for field in registry.PAPERS[paper].problems.files:
            if isinstance(data[field], str):
                inputs[f"a file of the instance ({field})"] = path.parent / data[field]
    return inputs | {f"the plugin {plugin}": plugin for plugin in strategies.plugins or []}


def run_instance(
    path: Path, options: dict[str, str], strategies: StrategyOptions, runs: Runs, files: Files
) -> None:
    """Simulate, print a table of the strategies, and write what is asked for."""
    paper, instance = read_instance(path)
    files.spare(_inputs(paper, path, strategies))
    request = request_from_options(paper, strategies)
    experiment = user_experiment(paper, instance.name, options, request)
    mark = None
    with computing(path), files:  # files are opened before the work
        results = simulate_experiment(paper, instance, experiment, request.user_strategies, runs)
        if runs.share:
            mark = Mark(
                plan=results.plan,
                reps=runs.reps,
                share=runs.share,
                outside=list(request.user_strategies),
                plugins=files_hash(strategies.plugins or []),
                code=simulation_code(paper),
            )
        files.write(results, mark)
    _report(results, files)


def merge_shards(paths: Sequence[Path], files: Files) -> None:
    """Merge the shards of a run, print its table, and write what is asked for."""
    files.spare({f"the shard {path}": path for path in paths})
    results = merge(paths)
    with files:
        files.write(results)
    _report(results, files)


def _report(results: RunResults, files: Files) -> None:
    """Print the statistics and what was written, unless files go to standard output."""
    if not files.printed:
        console = output()
        results.show(console)
        for line in files.said(results):
            console.print(line, soft_wrap=True)


def bound_instance(path: Path, texts: dict[str, str], certificate: Path | None = None) -> None:
    """Print an instance, its ground truth, and the lower bound at delta; write its certificate."""
    paper, instance = read_instance(path)
    allowed = registry.PAPERS[paper].user_output.bound_options
    for name in texts:
        if name not in allowed:
            only = f"only on --{', --'.join(allowed)}" if allowed else "on no option"
            raise InputError(f"--{name.replace('_', '-')}: bounds of {paper} depend {only}")
    setting, _ = split_options(paper, texts)
    with computing(path):
        proof = certified(paper, instance, path) if certificate else ""
        view = instance_view(paper, instance, setting)
    if certificate:
        write_text(certificate, proof + "\n")
    print_instance(view)


def certified(paper: str, instance: Any, path: Path) -> str:
    """The certificate of an instance's lower bound. Raises InputError if there is none."""
    certify = registry.PAPERS[paper].user_output.certificate
    if certify is None:
        raise InputError(f"--certificate: {paper} has none, only baics with rewards bernoulli has")
    try:
        return certify(instance)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
