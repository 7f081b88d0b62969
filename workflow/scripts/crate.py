"""Write an RO-Crate of a finished build: inputs, workflow, outputs, software and times.

    python workflow/scripts/crate.py figures crate

The profile is Workflow Run Crate (https://w3id.org/ro/wfrun/workflow/0.5): one run of one workflow.
What is copied is enough to run it again. Run by `make crate`, from the project's folder.
"""

import argparse
import base64
import json
import mimetypes
import platform
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from bestarm import registry
from bestarm.build.manifest import changed_tables
from bestarm.core.files import sha256
from bestarm.core.inputs import InputError
from bestarm.publish.citation import author_entity

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
#: What a run takes in, and what it is besides: folders, and files.
INPUTS = ("data/instances", "data/published", "data/claims")
PROGRAM = ("src", "workflow", "profiles", "config")
FILES = ("README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile")
PINS = ("pyproject.toml", "requirements.lock", "environment.yml", "Dockerfile")
#: Files under another licence than the crate.
OTHER = {"data/imdb/imdb12.csv": "LICENSES/LicenseRef-IMDB-ratings.txt"}
#: A term that RO-Crate 1.1 does not have yet.
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
MIT = "https://spdx.org/licenses/MIT"


class Job(NamedTuple):
    """When a file of the build was made, by Snakemake's own records."""

    output: str
    rule: str
    start: datetime
    end: datetime


def build_jobs(build: Path) -> list[Job]:
    """The jobs behind a build, in the order of their starts. Raises InputError if there is none."""
    scale = "paper" if build.name == "figures" else build.name
    folders = (f"{build}/", f"results/{scale}/")
    jobs = []
    records = Path(".snakemake/metadata")
    for record in records.rglob("*"):
        if record.is_file():
            encoded = (part.removeprefix("@") for part in record.relative_to(records).parts)
            output = base64.urlsafe_b64decode("".join(encoded)).decode()
            known = json.loads(record.read_text())
            if output.startswith(folders) and known["endtime"]:
                times = (datetime.fromtimestamp(known[k], UTC) for k in ("starttime", "endtime"))
                jobs.append(Job(output, known["rule"], *times))
    if f"{build}/all" not in {job.output for job in jobs}:
        raise InputError(f"{build}: was not built here; `snakemake {build}/all` does")
    return sorted(jobs, key=lambda job: (job.start, job.output))


def check(manifest: Path) -> None:
    """Raise InputError if a build is not finished, or its tables were changed since."""
    if not manifest.is_file():
        raise InputError(f"{manifest}: is missing; `snakemake {manifest}` finishes the build")
    for table in changed_tables(manifest):
        raise InputError(f"{table}: is not the one of the build; see {manifest}")


def outputs(build: Path) -> list[Path]:
    """The files of a build."""
    folders = [build, *(build / paper for paper in registry.PAPERS)]
    return sorted(p for folder in folders for p in folder.iterdir() if p.is_file())


def kept_tables() -> list[str]:
    """The tables under data/ that instances and targets are made from."""
    return sorted(
        {
            name
            for paper in registry.PAPERS.values()
            for part in (paper.problems, *paper.targets.values())
            for name in part.kept
        }
    )


def files_under(folders: Iterable[str]) -> Iterator[Path]:
    """Every file of some folders but what Python leaves behind."""
    for folder in folders:
        found = (p for p in sorted(Path(folder).rglob("*")) if p.is_file())
        yield from (p for p in found if "__pycache__" not in p.parts)


def write(build: Path, out: Path) -> None:
    """Write the crate of a build into a folder, in place of what is there.

    Args:
        build: figures, figures/quick or figures/smoke.
        out: made anew, once everything has been read.

    Raises:
        InputError: the build is not finished or was made elsewhere; `out` is no crate.
    """
    if out.exists() and not (out / "ro-crate-metadata.json").is_file():
        raise InputError(f"{out}: is there and no crate; another name is wanted")
    check(build / "all")
    jobs = build_jobs(build)
    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(TERMS)
    ended = max(job.end for job in jobs).isoformat()
    describe(crate, ended)
    workflow = add_workflow(crate)
    inputs = [add(crate, path) for path in files_under(INPUTS)]
    inputs += [add(crate, Path("data") / name) for name in kept_tables()]
    results = [add(crate, path) for path in outputs(build)]
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "jobs.csv"
        rows = [f"{j.output},{j.rule},{j.start.isoformat()},{j.end.isoformat()}" for j in jobs]
        times.write_text("\n".join(["output,rule,start,end", *rows, ""]))
        add(crate, times, "jobs.csv", name="When each file was made, and by which rule")
        crate.add_action(
            workflow,
            "#run",
            object=inputs,
            result=results,
            properties={
                "name": f"snakemake {build}/all",
                "startTime": jobs[0].start.isoformat(),
                "endTime": ended,
                "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
                "description": f"{len(jobs)} files made, on {platform.platform()}",
            },
        )
        shutil.rmtree(out, ignore_errors=True)
        crate.write(out)


def describe(crate: ROCrate, published: str) -> None:
    """The crate itself, from CITATION.cff."""
    crate.datePublished = published
    citation = yaml.safe_load(Path("CITATION.cff").read_text())
    crate.name, crate.description = citation["title"], citation["abstract"].strip()
    crate.keywords = citation["keywords"]
    crate.root_dataset["version"] = citation["version"]
    crate.root_dataset["license"] = entity(crate, MIT, "CreativeWork", name="MIT License")
    crate.root_dataset["author"] = [
        crate.add(ContextEntity(crate, f"#author-{i}", author_entity(author)))
        for i, author in enumerate(citation["authors"])
    ]
    crate.root_dataset["conformsTo"] = [
        entity(crate, url, "CreativeWork", name=name, version=url.rpartition("/")[2])
        for url, name in PROFILES.items()
    ]


def entity(crate: ROCrate, identifier: str, kind: str, **properties: Any) -> ContextEntity:
    return crate.add(ContextEntity(crate, identifier, {"@type": kind, **properties}))


def add_workflow(crate: ROCrate) -> Any:
    """The workflow, the package that it runs, and the software it ran with."""
    workflow = crate.add_workflow(
        "Snakefile",
        "Snakefile",
        main=True,
        lang="snakemake",
        lang_version=version("snakemake"),
        properties={"name": "Figures, tables and claims of five papers on best-arm identification"},
    )
    workflow["sha256"] = sha256(Path("Snakefile"))
    workflow["hasPart"] = [add(crate, path) for path in files_under(PROGRAM)]
    for name in (*FILES, *PINS, *OTHER.values()):
        add(crate, Path(name))
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["rebuild"]]
    names = sorted(re.split("[^a-z0-9-]", one)[0] for one in asked)
    versions = {"python": platform.python_version()} | {name: version(name) for name in names}
    workflow["softwareRequirements"] = [
        entity(crate, f"#{name}", "SoftwareApplication", name=name, softwareVersion=found)
        for name, found in versions.items()
    ]
    return workflow


def add(crate: ROCrate, path: Path, place: str = "", **properties: str) -> Any:
    """A file with its hash and size."""
    place = place or str(path)
    kind = mimetypes.guess_type(path.name)[0]
    known = {
        "name": place,
        "sha256": sha256(path),
        "contentSize": str(path.stat().st_size),
        **({"encodingFormat": kind} if kind else {}),
        **({"license": {"@id": OTHER[place]}} if place in OTHER else {}),
    }
    return crate.add_file(str(path), place, properties={**known, **properties})


def main() -> None:
    parser = argparse.ArgumentParser(description="Write an RO-Crate of a finished build.")
    parser.add_argument("build", type=Path, help="figures, figures/quick or figures/smoke")
    parser.add_argument("out", type=Path, help="folder to write")
    asked = parser.parse_args()
    try:
        write(asked.build, asked.out)
    except InputError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
