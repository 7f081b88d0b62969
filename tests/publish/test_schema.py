"""The schemas take what the project holds, refuse what it refuses, and are the ones kept."""

import json
import math
from functools import cache

import jsonschema
import pytest
import yaml

from bestarm import registry
from bestarm.common.tables import read_table
from bestarm.core.inputs import InputError
from bestarm.publish.schema import schema_files, schema_text, schemas, write_schemas
from bestarm.users.run import read_instance


@cache
def checker(name):
    return jsonschema.Draft202012Validator(json.loads(schema_text(name)))


def errors(name, value):
    """What a schema has against a value."""
    return [error.message for error in checker(name).iter_errors(value)]


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_one(name):
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text(name)))


def test_kept_schemas_are_in_step(root, tmp_path):
    """`make readme` makes them anew."""
    kept = {path.name: path.read_text() for path in (root / "schemas").iterdir()}
    assert kept == schema_files()
    write_schemas(tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(kept)


def test_every_instance_file_is_taken(root):
    files = sorted((root / "data/instances").rglob("*.yaml"))
    assert len(files) > 20
    for file in files:
        assert errors("instance", yaml.safe_load(file.read_text())) == [], file


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_instances_of_the_papers_are_taken_as_models_write_them(paper):
    for one in registry.PAPERS[paper].problems.instances().values():
        assert errors("instance", json.loads(one.model_dump_json())) == []


@pytest.mark.parametrize("name", ["abn", "linear", "delayed", "mix", "lagex"])
def test_what_the_schema_refuses_the_command_line_refuses(root, tmp_path, name):
    """Each field misspelled, and of another type; and another paper."""
    data = yaml.safe_load((root / f"data/instances/example-{name}.yaml").read_text())
    path = tmp_path / "x.yaml"
    for field in data:
        others = {key: value for key, value in data.items() if key != field}
        for wrong in ({**others, f"{field}x": data[field]}, {**others, field: {"a": 1}}):
            assert errors("instance", wrong), (field, wrong)
            path.write_text(yaml.safe_dump(wrong))
            with pytest.raises(InputError):
                read_instance(path)
    assert errors("instance", {key: value for key, value in data.items() if key != "paper"})


def test_a_csv_file_of_arms_is_taken_and_no_other_text(root):
    data = yaml.safe_load((root / "data/instances/example-linear.yaml").read_text())
    assert errors("instance", {**data, "arms": "arms.csv"}) == []
    assert errors("instance", {**data, "arms": "arms"})
    assert errors("instance", {**data, "theta": "arms.csv"})


@pytest.mark.parametrize("scale", ["paper", "quick", "smoke"])
def test_scales_and_ledgers_are_taken(root, scale):
    assert (
        errors("scale", yaml.safe_load((root / f"workflow/scales/{scale}.yaml").read_text())) == []
    )
    assert errors("scale", {"seed": 1, "papers": {"baics": {"x": {"replications": 0}}}})


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_ledgers_options_and_tables_are_taken(root, paper):
    assert errors("claims", yaml.safe_load((root / f"data/claims/{paper}.yaml").read_text())) == []
    simulation = registry.PAPERS[paper].simulation
    models = (simulation.setting, *simulation.options.values())
    defaults = {name: value for model in models for name, value in model().model_dump().items()}
    assert errors(f"{paper}/options", defaults) == []
    assert errors(f"{paper}/options", {**defaults, "dleta": 0.1})
    for target in registry.PAPERS[paper].targets:
        rows = read_table(root / f"figures/{paper}/{target}.csv").head(30).to_dict("records")
        for row in rows:
            plain = {
                k: None if isinstance(v, float) and not math.isfinite(v) else v
                for k, v in row.items()
            }
            assert errors(f"{paper}/table", plain) == [], target
        assert errors(f"{paper}/table", {**plain, "valeu": 1.0})


def test_every_field_of_a_claims_file_says_what_it_means():
    schema = json.loads(schema_text("claims"))
    models = {"ClaimsFile": schema, **schema["$defs"]}
    fields = {
        (m, name): f for m, model in models.items() for name, f in model["properties"].items()
    }
    assert len(fields) > 48
    assert [place for place, field in fields.items() if not field.get("description")] == []


def test_an_unknown_schema_is_one_line():
    with pytest.raises(InputError, match="nope: there is no such schema; only instance, scale"):
        schema_text("nope")
