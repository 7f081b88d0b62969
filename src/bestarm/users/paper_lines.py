"""What a paper holds, in lines: its instances, targets, options, strategies and readings."""

import textwrap
from collections.abc import Iterator, Mapping

from bestarm.common.files import data_folder
from bestarm.common.paper import BaseInstance, Paper, Simulation
from bestarm.common.tables import read_table
from bestarm.live.labels import listed
from bestarm.users.output import WIDTH, names_in_lines
from bestarm.verdicts.claims import read_claims
from bestarm.verdicts.validity import NOT_PROVEN, guarantees

#: Of a reading: the guarantee, and in brackets its condition or the clearest number against it.
Guarantees = Mapping[tuple[str, str], str]


def paper_lines(paper: Paper, every: bool) -> Iterator[str]:
    """The lines of a paper; with `every`, all readings in place of the default ones."""
    yield from names_in_lines(_families(paper.problems.instances()), "  instances  ")
    yield from names_in_lines(paper.targets, "  targets    ")
    yield from option_lines(paper.simulation)
    yield from _every_reading(paper) if every else _default_readings(paper)


def _default_readings(paper: Paper) -> Iterator[str]:
    """A line per strategy: its default reading, what is known of it, how many others there are."""
    readings, guarantees = paper.simulation.readings, _guarantees(paper)
    rows = [("strategy", "reading (of all)", "guarantee" * bool(guarantees))]
    for strategy, of in readings.items():
        guarantee = guarantees.get((strategy, of.default), NOT_PROVEN) if guarantees else ""
        more = f"{of.default} (of {len(of)})" if len(of) > 1 else of.default
        rows.append((strategy, more, guarantee))
    first, second = (max(len(row[i]) for row in rows) + 2 for i in range(2))
    for strategy, reading, guarantee in rows:
        yield f"  {strategy:{first}}{reading:{second}}{guarantee}".rstrip()


def _every_reading(paper: Paper) -> Iterator[str]:
    """The readings of each strategy by guarantee; * marks the default of `bestarm run`."""
    guarantees = _guarantees(paper)
    for strategy, readings in paper.simulation.readings.items():
        yield f"  {strategy} (* the default reading)"
        by: dict[str, list[str]] = {}
        for name in readings:
            guarantee = guarantees.get((strategy, name), NOT_PROVEN if guarantees else "readings")
            kind, _, remark = guarantee.partition(" (")
            marked = name + "*" * (name == readings.default)
            by.setdefault(kind, []).append(f"{marked} ({remark}" if remark else marked)
        for kind, names in by.items():
            yield from names_in_lines(names, f"    {kind}: ")


def _guarantees(paper: Paper) -> Guarantees:
    """What is known of each promise to err with probability at most delta, by strategy and reading;
    nothing if there is no delta.

    Proofs are those of the claims file; refutations are computed from the tables that are there.
    """
    if "delta" not in paper.simulation.setting.model_fields:
        return {}
    folder = data_folder()
    paths = {name: folder.parent / f"figures/{paper.name}/{name}.csv" for name in paper.targets}
    tables = {name: read_table(path) for name, path in paths.items() if path.is_file()}
    return guarantees(read_claims(folder / f"claims/{paper.name}.yaml"), tables)


def option_lines(simulation: Simulation) -> Iterator[str]:
    """Lines of what `run` and `bound` may be asked of a paper: option, default, meaning, range.

    An option that several strategies have alike is one line.
    """
    of = {"": simulation.setting} | dict(simulation.options)
    strategies: dict[tuple[str, str, str], list[str]] = {}
    for strategy, model in of.items():
        for name, described in model.model_json_schema()["properties"].items():
            limits = described | next(iter(described.get("anyOf", [])), {})
            words = {
                "exclusiveMinimum": "above",
                "minimum": "at least",
                "exclusiveMaximum": "below",
                "maximum": "at most",
            }
            ranges = [f"{word} {limits[key]:,g}" for key, word in words.items() if key in limits]
            if {"type": "null"} in described.get("anyOf", []):
                ranges.append("or none")
            default = "none" if described["default"] is None else described["default"]
            option = f"--{name.replace('_', '-')} {str(default).lower()}"
            meaning = described["description"].partition(", e.g. ")[0]
            line = (option, meaning, ", ".join(["", *ranges]))
            strategies.setdefault(line, []).append(strategy)
    width = max(len(option) for option, _, _ in strategies) + 1
    for (option, meaning, ranges), names in strategies.items():
        which = f" ({', '.join(names)})" if any(names) else ""
        line = f"  {option:{width}}{meaning}{ranges}{which}"
        indent = " " * (width + 2)
        yield from textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _families(instances: Mapping[str, BaseInstance]) -> list[str]:
    """Names, with those that end in different values of a parameter put together, and what is added
    to names of others said once: "..., normalised"."""
    groups: dict[str, list[str]] = {}
    variants: set[str] = set()
    for name, instance in instances.items():
        base, comma, variant = name.partition(", ")
        if comma and base in instances:
            if variant not in variants:
                groups[f"..., {variant}"] = [""]
            variants.add(variant)
            continue
        values = (f"{value:g}" for value in instance.parameters.values())
        value = next((value for value in values if name.endswith(f"={value}")), "")
        groups.setdefault(name.removesuffix(value), []).append(value)
    return [
        f"{stem}{{{', '.join(_shortened(values))}}}"
        if len(values) > 1
        else listed([f"{stem}{values[0]}"])
        for stem, values in groups.items()
    ]


def _shortened(values: list[str], most: int = 7) -> list[str]:
    return values if len(values) <= most else [*values[:2], "...", values[-1]]
