"""JSON Schemas of what people write and read: instance files, settings, claims, tables.

Made of the models that check these files, so that an editor completes what the command line takes.
A schema knows each field alone. What fields have to be together, such as lengths that fit, only the
command line checks.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bestarm import registry
from bestarm.common.names import advice
from bestarm.common.tables import COLUMNS, MEANINGS, NUMBERS
from bestarm.core.files import canonical_json, write_text
from bestarm.core.inputs import Input, InputError

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, Callable[[], dict[str, Any]]]:
    """What makes each schema, by the names that `bestarm schema` takes."""
    papers = registry.PAPERS
    return {
        "instance": instance,
        "scale": scale,
        "claims": claims,
        **{f"{paper}/options": partial(options, paper) for paper in papers},
        **{f"{paper}/table": partial(table, paper) for paper in papers},
    }


def schema_text(name: str) -> str:
    """A schema as JSON. Raises InputError if there is none of that name."""
    texts = schemas()
    if name not in texts:
        near = advice(name, texts, f"only {', '.join(texts)}")
        raise InputError(f"{name}: there is no such schema; {near}")
    return json.dumps({"$schema": DIALECT, **texts[name]()}, indent=2, ensure_ascii=False) + "\n"


def schema_files() -> dict[str, str]:
    """Every schema by the name of its file."""
    return {f"{name.replace('/', '-')}.schema.json": schema_text(name) for name in schemas()}


def write_schemas(folder: Path) -> None:
    """Write every schema into a folder."""
    for name, text in schema_files().items():
        write_text(folder / name, text)


def instance() -> dict[str, Any]:
    """An instance file, of the paper that it names."""
    models, parts = {}, {}
    for name in registry.PAPERS:
        models[name], own = _of_instance(name)
        parts |= {f"{name}-{part}": model for part, model in own.items()}
    return {
        "title": "An instance for `bestarm run` and `bestarm bound`",
        "type": "object",
        "required": ["paper"],
        "properties": {"paper": {"enum": list(models), "description": "whose strategies play it"}},
        "allOf": [
            {
                "if": {"required": ["paper"], "properties": {"paper": {"const": name}}},
                "then": {"$ref": f"#/$defs/{name}"},
            }
            for name in models
        ],
        "$defs": models | parts,
    }


def _of_instance(paper: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of a paper's instances as files have them, and the parts that it refers to."""
    text = canonical_json(registry.PAPERS[paper].problems.instance.model_json_schema())
    model = json.loads(text.replace("#/$defs/", f"#/$defs/{paper}-"))
    model["required"] = [name for name in model["required"] if name != "name"]
    for field in registry.PAPERS[paper].problems.files:
        own = model["properties"][field]
        model["properties"][field] = {
            "description": own.pop("description"),
            "anyOf": [own, {"type": "string", "pattern": r"\.csv$"}],
        }
    return model, model.pop("$defs", {})


def options(paper: str) -> dict[str, Any]:
    """What `bestarm run` may be asked of a paper: its settings, and the options of strategies."""
    simulation = registry.PAPERS[paper].simulation
    fields: dict[str, Any] = {}
    for model in (simulation.setting, *simulation.options.values()):
        fields |= model.model_json_schema()["properties"]
    title = f"Settings of {paper} and options of its strategies"
    return {"title": title, "type": "object", "additionalProperties": False, "properties": fields}


def scale() -> dict[str, Any]:
    """workflow/scales/SCALE.yaml."""
    from bestarm.registry.scales import Scale

    return _titled(Scale, "How many replications each experiment has")


def claims() -> dict[str, Any]:
    """data/claims/PAPER.yaml."""
    from bestarm.verdicts.claims import ClaimsFile

    return _titled(ClaimsFile, "What a paper claims, and how it is tested")


def _titled(model: type[Input], title: str) -> dict[str, Any]:
    return model.model_json_schema() | {"title": title}


def table(paper: str) -> dict[str, Any]:
    """A row of any table of a paper, figures/PAPER/TARGET.csv; an empty field is null."""
    number = ["number", "null"]
    kinds = {name: number if name in NUMBERS else "string" for name in COLUMNS}
    kinds["n"] = "integer"
    fields = {name: {"type": kinds[name], "description": MEANINGS[name]} for name in COLUMNS}
    for columns in registry.PAPERS[paper].extra_columns.values():
        fields |= {name: {"type": number, "description": text} for name, text in columns.items()}
    return {
        "title": f"A row of a table of {paper}",
        "type": "object",
        "required": list(COLUMNS),
        "additionalProperties": False,
        "properties": fields,
    }
