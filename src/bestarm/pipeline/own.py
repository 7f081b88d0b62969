"""Runs and bounds on a person's own instance file."""

import os
import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from bestarm.common.paper import Cell, Experiment
from bestarm.common.renamed import refusal
from bestarm.core.inputs import Input, InputError, load_yaml, parse
from bestarm.pipeline import registry
from bestarm.pipeline.own_results import Files, Found
from bestarm.pipeline.plan import describe_instances, make_plan
from bestarm.pipeline.shard import simulate_cell
from bestarm.pipeline.show import few, output, print_instance

#: Replications handed to a thread at a time.
CHUNK = 20
#: Sizes of numbers other than 0: fourth powers of their ratios are still far from overflowing.
SMALLEST, LARGEST = 1e-12, 1e12
#: Control characters, which would steer the terminal that a name is printed to.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def read_instance(path: Path):
    """The paper and the instance of a file, or of PAPER/INSTANCE if there is no such file.

    Raises InputError naming the file and the field.
    """
    paper, _, name = str(path).partition("/")
    if paper in registry.PAPERS and not path.exists():
        known = registry.PAPERS[paper].problems.instances()
        if name not in known:
            raise InputError(f"{path}: {paper} has no such instance; see `bestarm list {paper}`")
        return paper, known[name]
    data = load_yaml(path)
    if not isinstance(data, dict) or data.get("paper") not in list(registry.PAPERS):
        raise InputError(f"{path}: paper: is required, one of {', '.join(registry.PAPERS)}")
    problems = registry.PAPERS[data["paper"]].problems
    data = problems.with_files({"name": path.stem, **data}, path)
    instance = parse(problems.instance, data, str(path))
    for field, value in _leaves(instance.model_dump(), ""):
        if isinstance(value, str) and CONTROLS.search(value):
            raise InputError(f"{path}: {field}: must not hold control characters, got {value!r}")
        if isinstance(value, int | float) and value and not SMALLEST <= abs(value) <= LARGEST:
            allowed = f"0 or of size {SMALLEST:g} to {LARGEST:g}"
            raise InputError(f"{path}: {field}: must be {allowed}")
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
def _computing(path: Path) -> Iterator[None]:
    """Solvers that fail on an instance whose numbers are too far apart, as an error of its file."""
    try:
        yield
    except InputError:
        raise
    except (ArithmeticError, ValueError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{path}: cannot be computed with these numbers ({reason})") from None


def split_options(paper: str, asked: dict[str, str]) -> tuple[dict, dict[str, dict]]:
    """The setting, and each strategy's options, from options as a person wrote them.

    Raises InputError for a name that the paper has not, or a value out of range.
    """
    simulation = registry.PAPERS[paper].simulation
    given = {name: None if text.lower() == "none" else text for name, text in asked.items()}
    allowed = list(simulation.setting.model_fields)
    allowed += [name for model in simulation.options.values() for name in model.model_fields]
    for name in given:
        if name not in allowed:
            written, options = name.replace("_", "-"), [f.replace("_", "-") for f in allowed]
            only = f"{paper} has no such option, only --{', --'.join(options)}"
            raise InputError(f"--{written}: {refusal('option', written, options) or only}")

    def part(model: type[Input]) -> dict:
        return {name: given[name] for name in model.model_fields if name in given}

    setting = parse(simulation.setting, part(simulation.setting), "option").model_dump()
    options = {}
    for strategy, model in simulation.options.items():
        found = parse(model, part(model), "option").model_dump()
        options[strategy] = {name: found[name] for name in part(model)}
    return setting, options


def own_experiment(
    paper: str,
    name: str,
    asked: dict[str, str],
    wanted: list[str] | None,
    readings: list[str] | None,
) -> Experiment:
    """Cells for the wanted strategies and readings (all strategies, the default reading)."""
    simulation = registry.PAPERS[paper].simulation
    chosen = wanted or list(simulation.readings)
    for strategy in chosen:
        if strategy not in simulation.readings:
            allowed = ", ".join(simulation.readings)
            raise InputError(f"--strategy: must be one of {allowed}, got {strategy}")
    for reading in readings or []:
        if reading not in (names := simulation.reading_names()):
            allowed = f"must be one of {few(names)}, got {reading}"
            raise InputError(f"--reading: {refusal('reading', reading, names) or allowed}")
    setting, options = split_options(paper, asked)
    cells = tuple(
        Cell(name, strategy, setting, reading, options.get(strategy, {}))
        for strategy in chosen
        for reading in readings or [simulation.readings[strategy].default]
        if reading in simulation.readings[strategy]
    )
    if not cells:
        raise InputError(
            f"--reading: none of {', '.join(readings or [])} applies to the strategies asked"
        )
    return Experiment("own", cells)


def run_own(
    path: Path,
    reps: int,
    asked: dict[str, str],
    strategies: list[str] | None,
    readings: list[str] | None,
    seed: int,
    cores: int | None,
    files: Files,
) -> None:
    """Simulate, print a table of the strategies, and write what is asked for."""
    paper, instance = read_instance(path)
    experiment = own_experiment(paper, instance.name, asked, strategies, readings)
    with _computing(path), files:  # files are opened before the work
        described = describe_instances(paper, {instance.name: instance})
        plan = make_plan(paper, experiment, seed, reps, described)
        found = Found(plan, _simulate(plan, reps, cores), reps)
        files.write(found)
    if not files.printed:
        console = output()
        found.show(console)
        for line in files.said(found):
            console.print(line, soft_wrap=True)


def _simulate(plan, reps: int, cores: int | None) -> list[tuple[Cell, dict[str, np.ndarray]]]:
    """All cells of the plan, on threads: the compiled loops release the interpreter's lock."""
    chunks = [range(a, min(a + CHUNK, reps)) for a in range(0, reps, CHUNK)]
    console = Console(stderr=True)
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    results = []
    interrupted = threading.Event()
    with (
        Progress(*columns, console=console, disable=not sys.stderr.isatty()) as progress,
        ThreadPoolExecutor(cores or os.cpu_count()) as pool,
    ):
        try:
            for cell in plan.cell_objects():
                task = progress.add_task(f"{cell.label} ({cell.reading})", total=reps)

                def tick(task=task):
                    if interrupted.is_set():
                        raise KeyboardInterrupt
                    progress.advance(task)

                jobs = [pool.submit(simulate_cell, plan, cell, chunk, tick) for chunk in chunks]
                parts = [job.result() for job in jobs]
                runs = {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}
                results.append((cell, runs))
        except KeyboardInterrupt:
            interrupted.set()
            pool.shutdown(cancel_futures=True)
            raise
    return results


def bound_own(path: Path, asked: dict[str, str]) -> None:
    """Print an instance, what is true of it, and the lower bound at delta."""
    paper, instance = read_instance(path)
    allowed = registry.PAPERS[paper].own.bound_options
    for name in asked:
        if name not in allowed:
            only = f"only on --{', --'.join(allowed)}" if allowed else "on no option"
            raise InputError(f"--{name.replace('_', '-')}: bounds of {paper} depend {only}")
    setting, _ = split_options(paper, asked)
    with _computing(path):
        print_instance(paper, instance, setting)
