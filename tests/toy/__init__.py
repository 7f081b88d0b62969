"""Adding a paper, as docs/adding-a-paper.md tells it."""

import re
import shutil
from pathlib import Path

from bestarm.pipeline.registry import TITLES

HERE = Path(__file__).parent


def add_to(project: Path, compiled: bool = True) -> None:
    """Add the toy paper to a copy of the project: one folder, its data, one registry line.

    If it is not compiled, the copy has the kernels of the project, and takes them from its cache.
    """
    folder = shutil.copytree(HERE / "toy", project / "src/bestarm/toy")
    if not compiled:
        code = (folder / "strategies.py").read_text()
        code = code.replace("from bestarm.core.compile import jit\n", "").replace("@jit\n", "")
        (folder / "strategies.py").write_text(code)
    (project / "data/instances/toy").mkdir()
    shutil.copy(HERE / "data/claims.yaml", project / "data/claims/toy.yaml")
    shutil.copy(HERE / "data/published.csv", project / "data/published/toy.csv")
    for scale in ("paper", "quick", "smoke"):
        with (project / f"workflow/scales/{scale}.yaml").open("a") as file:
            file.write((HERE / "data/scale.yaml").read_text())
    registry = project / "src/bestarm/pipeline/registry.py"
    registry.write_text(registry.read_text().replace("TITLES = {", 'TITLES = {\n    "toy": "Toy",'))


def beside(project: Path, paper: str) -> None:
    """Add the toy, not compiled, to a copy of the project and take out all papers but one."""
    add_to(project, compiled=False)
    registry = project / "src/bestarm/pipeline/registry.py"
    others = [name for name in TITLES if name != paper]
    text = registry.read_text()
    for name in others:
        text = re.sub(rf'^    "{name}": .*\n', "", text, flags=re.MULTILINE)
    registry.write_text(text)
    for scale in ("paper", "quick", "smoke"):
        file = project / f"workflow/scales/{scale}.yaml"
        text = file.read_text()
        for name in others:
            text = re.sub(rf"^  {name}:\n(    .*\n)+", "", text, flags=re.MULTILINE)
        file.write_text(text)


def alone_in(project: Path, replications: int, per_shard: int) -> None:
    """Make the toy the only paper of a copy, so that a build of everything takes seconds."""
    add_to(project)
    registry = project / "src/bestarm/pipeline/registry.py"
    papers = re.compile(r"^TITLES = \{.*?^\}", re.MULTILINE | re.DOTALL)
    registry.write_text(papers.sub('TITLES = {"toy": "Toy"}', registry.read_text()))
    size = f"{{replications: {replications}, per_shard: {per_shard}}}"
    for scale in ("paper", "quick", "smoke"):
        text = f"seed: 1\npapers:\n  toy:\n    errors: {size}\n"
        (project / f"workflow/scales/{scale}.yaml").write_text(text)
