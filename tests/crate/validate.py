"""Validate a crate against Workflow Run Crate, without the network. Run by `make test-crate`.

The validator looks up the JSON-LD context of RO-Crate 1.1. Here it finds, under that name, the one
that the rocrate package has, of 1.3, with Bioschemas' terms named as in 1.1. Web pages that the
crate names are not looked up. A check that was skipped all the same is a failure.
"""

import json
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from requests_cache import CachedRequest, CachedResponse, CachedSession

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
PROFILE = "workflow-run-crate-0.5"


def know(url: str, text: str, cache: Path) -> None:
    """Put the answer to a request into a cache of requests."""
    answer = CachedResponse(
        status_code=200,
        url=url,
        headers={"Content-Type": "application/ld+json"},
        content=text.encode(),
        request=CachedRequest(method="GET", url=url),
    )
    CachedSession(str(cache), backend="sqlite").cache.save_response(answer)


def main(crate: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache, report = Path(folder) / "cache", Path(folder) / "report.json"
        context = files("rocrate").joinpath("data/ro-crate.jsonld").read_text()
        know(CONTEXT, context.replace("bioschemas.org/terms/", "bioschemas.org/"), cache)
        validator = str(Path(sys.executable).with_name("rocrate-validator"))
        command = [validator, "--no-interactive", "--disable-color", "validate", "--offline"]
        command += ["--cache-path", str(cache), "--skip-availability-check", "--verbose"]
        command += ["--profile-identifier", PROFILE, "--no-paging", "--show-skipped-checks"]
        subprocess.run([*command, crate])
        subprocess.run([*command, "--output-format", "json", "--output-file", str(report), crate])
        found = json.loads(report.read_text())
    skipped = [one["identifier"] for one in found["skipped_check_details"]]
    if not found["passed"] or skipped:
        sys.exit(f"error: {crate}: {len(found['issues'])} issues; skipped: {skipped}")
    print(f"{crate}: valid, by {PROFILE}")


if __name__ == "__main__":
    main(sys.argv[1])
