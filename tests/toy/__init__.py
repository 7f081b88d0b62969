"""Adding a paper, as docs/adding-a-paper.md tells it."""

import re
import shutil
from pathlib import Path

HERE = Path(__file__).parent
SCALES = ("paper", "quick", "smoke")


def add_to(project: Path, name: str = "toy", compiled: bool = True) -> None:
    """Add the toy paper to a copy of the project: one folder, its data, one registry line.

    If it is not compiled, the copy has the kernels of the project, and takes them from its cache.
    """
    folder = shutil.copytree(HERE / "toy", project / f"src/bestarm/{name}")
    if not compiled:
        code = (folder / "steps.py").read_text()
        code = code.replace("from bestarm.core.compile import jit\n", "").replace("@jit\n", "")
        (folder / "steps.py").write_text(code)
    for module in folder.glob("*.py"):
        code = module.read_text().replace("bestarm.toy", f"bestarm.{name}")
        module.write_text(code.replace('"toy"', f'"{name}"'))
    (project / f"data/instances/{name}").mkdir()
    shutil.copy(HERE / "data/claims.yaml", project / f"data/claims/{name}.yaml")
    shutil.copy(HERE / "data/published.csv", project / f"data/published/{name}.csv")
    size = (HERE / "data/scale.yaml").read_text().replace("toy:", f"{name}:")
    for scale in SCALES:
        with (project / f"workflow/scales/{scale}.yaml").open("a") as file:
            file.write(size)
    registry = project / "src/bestarm/registry/__init__.py"
    line = f'TITLES = {{\n    "{name}": "{name.capitalize()}",'
    registry.write_text(registry.read_text().replace("TITLES = {", line))


def alone_in(project: Path, *names: str, compiled: bool = True, size: str = "") -> None:
    """Make toys the only papers of a copy, so that a build of everything takes seconds.

    Args:
        project: the copy.
        names: of the toys, which differ in nothing else.
        compiled: see `add_to`.
        size: of their experiment, at every scale; that of `add_to` if empty.
    """
    registry = project / "src/bestarm/registry/__init__.py"
    papers = re.compile(r"^TITLES = \{.*?^\}", re.MULTILINE | re.DOTALL)
    registry.write_text(papers.sub("TITLES = {\n}", registry.read_text()))
    for scale in SCALES:
        (project / f"workflow/scales/{scale}.yaml").write_text("seed: 1\npapers:\n")
    for name in reversed(names):
        add_to(project, name, compiled)
    if size:
        for scale in SCALES:
            file = project / f"workflow/scales/{scale}.yaml"
            file.write_text(re.sub(r"errors: \{.*\}", f"errors: {size}", file.read_text()))
