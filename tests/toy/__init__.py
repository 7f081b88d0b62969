"""Adding a paper, as docs/adding-a-paper.md tells it."""

import shutil
from pathlib import Path

HERE = Path(__file__).parent


def add_to(project: Path) -> None:
    """Add the toy paper to a copy of the project: one folder, its data, one registry line."""
    shutil.copytree(HERE / "toy", project / "src/bestarm/toy")
    (project / "data/instances/toy").mkdir()
    shutil.copy(HERE / "data/claims.yaml", project / "data/claims/toy.yaml")
    shutil.copy(HERE / "data/published.csv", project / "data/published/toy.csv")
    for scale in ("paper", "quick", "smoke"):
        with (project / f"workflow/scales/{scale}.yaml").open("a") as file:
            file.write((HERE / "data/scale.yaml").read_text())
    registry = project / "src/bestarm/pipeline/registry.py"
    registry.write_text(registry.read_text().replace("PAPERS = {", 'PAPERS = {\n    "toy": "Toy",'))
