"""What no part of the project may do: run text as code, or hand a name to a shell unchecked."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for folder in ("src", "notebooks", "bench", "workflow")
    for path in (ROOT / folder).rglob("*.py")
)
RULES = sorted((ROOT / "workflow/rules").glob("*.smk"))
#: Modules that run what they read.
LOADERS = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
#: Calls that run a text as code, or give it to a shell.
RUNNERS = {"eval", "exec", "__import__", "os.system", "os.popen", "subprocess.getoutput"}
SAFE_YAML = {"yaml.safe_load", "yaml.safe_dump"}


def dangers(code: str) -> list[str]:
    """What in a piece of Python is not allowed."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names = names or [alias.name for alias in node.names]
            errors_only = isinstance(node, ast.ImportFrom) and all(
                alias.name.endswith("Error") for alias in node.names
            )
            if not errors_only:
                found += [name for name in names if name.split(".")[0] in LOADERS]
            if isinstance(node, ast.ImportFrom) and node.module in ("os", "yaml", "subprocess"):
                found.append(f"from {node.module}")  # calls below are found by their full name
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            options = {word.arg: ast.unparse(word.value) for word in node.keywords}
            strict = name == "yaml.load" and options.get("Loader") == "_StrictLoader"
            unsafe_yaml = re.fullmatch(r"yaml\.\w*(load|dump)\w*", name) and name not in SAFE_YAML
            if name in RUNNERS or (unsafe_yaml and not strict):
                found.append(name)
            found += [
                f"{name}({key}={options[key]})"
                for key in ("shell", "allow_pickle")
                if key in options
            ]
    return found


@pytest.mark.parametrize(
    "code",
    [
        *("import pickle", "from joblib import load", "eval('1')", "exec(x)", "os.system(x)"),
        *(
            "yaml.load(x)",
            "yaml.load(x, Loader=yaml.Loader)",
            "yaml.unsafe_load(x)",
            "yaml.dump(x)",
        ),
        *(
            "subprocess.run(x, shell=True)",
            "np.load(x, allow_pickle=True)",
            "from yaml import load",
        ),
    ],
)
def test_dangers_are_seen(code):
    assert dangers(code)


def test_nothing_runs_what_it_reads():
    assert len(SOURCES) > 100
    found = {str(path): dangers(path.read_text()) for path in SOURCES}
    assert {path: what for path, what in found.items() if what} == {}


def test_the_one_loader_of_yaml_is_a_safe_one():
    import yaml

    from bestarm.core.inputs import _StrictLoader

    assert issubclass(_StrictLoader, yaml.SafeLoader)


def constraints() -> dict[str, str]:
    """The regular expressions of all wildcards, as workflow/rules/common.smk has them."""
    text = (ROOT / "workflow/rules/common.smk").read_text()
    block = re.search(r"^wildcard_constraints:\n((?: {4}.*\n)+)", text, re.MULTILINE)[1]
    return dict(re.findall(r"(\w+)=(.*),\n", block))


def test_wildcards_hold_nothing_that_a_shell_acts_on():
    lists = {name for name, pattern in constraints().items() if pattern.startswith('"|".join(')}
    assert lists == {"scale", "figures", "paper", "overview"}  # names of this project
    patterns = {name: ast.literal_eval(p) for name, p in constraints().items() if name not in lists}
    assert patterns == {"experiment": r"[\w-]+", "target": r"[\w-]+", "index": r"\d+"}


@pytest.mark.parametrize("rules", RULES, ids=lambda path: path.stem)
def test_shell_commands_hold_only_constrained_wildcards(rules):
    """What a rule's shell sees is made of these and of text in the rule, or is computed."""
    known = constraints().keys()
    text = rules.read_text()
    outputs = re.findall(r"^    (?:output|log|benchmark):\n((?: {8}.*\n)+)", text, re.MULTILINE)
    for block in outputs:
        assert set(re.findall(r"\{(\w+)\}", block)) <= known
    for block in re.findall(r"^    shell:\n((?: {8}.*\n)+)", text, re.MULTILINE):
        for name in re.findall(r"\{([\w.]+)\}", block):
            kind, _, part = name.partition(".")
            assert kind in ("input", "output", "log", "threads", "params", "wildcards"), name
            assert kind != "wildcards" or part in known, name
