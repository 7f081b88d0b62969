"""Which test kills which planted fault: `make mutants`, or `python -m mutants.run` under tests/.

Each fault is planted in a copy of the project, one per core, and the tests that should see it run
there until one fails; the one that killed it last time comes first. Results are kept under
results/mutants until code, tests or faults change, so an interrupted run continues.
bench/mutants.csv is written when all faults have a result.
"""

import argparse
import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import pytest

from bestarm.core.compile import cache_folders
from conftest import BUILT, CACHES
from mutants.faults import PLACES, Fault, arguments_of, places, plant, read_faults

ROOT = Path(__file__).parents[2]
#: Seconds; a fault may make a loop endless, which is a kill.
LONGEST = 900
SURVIVES = "survives"
TABLE = ROOT / "bench/mutants.csv"


class Result(NamedTuple):
    """A row of the table."""

    fault: str
    file: str  # where it was planted
    breaks: str
    killed_by: str  # a test, or SURVIVES
    seconds: str  # until the test failed, or all had passed


class Copy:
    """A copy of the project with its own compiled kernels, for one fault at a time."""

    def __init__(self, folder: Path) -> None:
        self.root, self.cache = folder / "project", folder / "cache"
        shutil.copytree(ROOT, self.root, ignore=shutil.ignore_patterns(*BUILT, *CACHES))
        for kernels in cache_folders():
            shutil.copytree(kernels, self.cache / kernels.name)

    def test(self, arguments: list[str]) -> str:
        """The first test that fails, or SURVIVES, also where there is no such test any more."""
        source = str(self.root / "src")
        environment = os.environ | {"PYTHONPATH": source, "NUMBA_CACHE_DIR": str(self.cache)}
        command = [sys.executable, "-m", "pytest", "-x", "-rfE", "-p", "no:cacheprovider"]
        process = subprocess.Popen(
            [*command, *arguments],
            cwd=self.root, env=environment, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return f"no end after {LONGEST} s"
        if process.returncode in (pytest.ExitCode.OK, pytest.ExitCode.USAGE_ERROR):
            return SURVIVES
        failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", output, re.MULTILINE)
        assert process.returncode == 1 or failed, output  # neither a failure nor an error
        return failed[1] if failed else output.strip().splitlines()[-1]

    def result(self, fault: Fault, killer: str = "") -> Result:
        """Plant a fault, test, and take it out again; `killer` is the test that is tried first."""
        began = time.monotonic()
        (place,) = places(fault, self.root)
        before = place.file.read_bytes(), place.file.stat()
        try:
            plant(fault, self.root)
            tests = arguments_of(fault, self.root)
            killed_by = self.test([killer]) if killer else SURVIVES
            if killed_by == SURVIVES:
                killed_by = self.test(tests)
        finally:
            place.file.write_bytes(before[0])
            os.utime(place.file, ns=(before[1].st_atime_ns, before[1].st_mtime_ns))
            known = {kernels.name for kernels in cache_folders()}
            for folder in self.cache.glob("kernels-*"):
                if folder.name not in known:
                    shutil.rmtree(folder)
        file = place.file.relative_to(self.root).as_posix()
        seconds = f"{time.monotonic() - began:.0f}"
        return Result(fault.name, file, fault.breaks, killed_by, seconds)


def everything_hash() -> str:
    """A hash of all code and tests."""
    digest = hashlib.sha256()
    patterns = (*PLACES, "tests/**/*.py", "tests/mutants/faults/*.yaml")
    for file in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def main() -> None:
    """Run the faults named as arguments, or all, and report each as it ends."""
    faults = read_faults()
    parser = argparse.ArgumentParser(description=__doc__, prog="make mutants")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a fault; all by default")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    if unknown := set(asked.names) - faults.keys():
        sys.exit(f"error: {min(unknown)}: no such fault; they are in tests/mutants/faults")
    chosen = [faults[name] for name in asked.names] or list(faults.values())
    before = read(TABLE) if TABLE.exists() else {}
    kept = ROOT / f"results/mutants/{everything_hash()}.csv"
    kept.parent.mkdir(parents=True, exist_ok=True)
    results = read(kept) if kept.exists() else {}
    writing = threading.Lock()
    copies: SimpleQueue[Copy] = SimpleQueue()

    def run(fault: Fault) -> None:
        copy = copies.get()
        try:
            result = copy.result(fault, killer_of(before.get(fault.name)))
        finally:
            copies.put(copy)
        with writing, kept.open("a", newline="", encoding="utf-8") as file:
            results[fault.name] = result
            csv.writer(file).writerow(result)
            print(f"{result.fault}: {result.killed_by} ({result.seconds} s)", flush=True)

    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for core in range(asked.cores):
            copies.put(Copy(Path(folder, str(core))))
        with ThreadPoolExecutor(asked.cores) as threads:
            list(threads.map(run, [fault for fault in chosen if fault.name not in results]))
    survivors = [fault.name for fault in chosen if results[fault.name].killed_by == SURVIVES]
    print(f"{len(chosen)} faults, {len(survivors)} survive: {', '.join(survivors) or 'none'}")
    if results.keys() == faults.keys():
        write(TABLE, [results[name] for name in faults])
    sys.exit(bool(survivors))


def killer_of(result: Result | None) -> str:
    """The test that killed a fault last time, with all its parameters; empty if none did."""
    test = result.killed_by.partition("[")[0] if result else ""
    return test if "::" in test else ""


def read(file: Path) -> dict[str, Result]:
    """Results by fault."""
    with file.open(newline="", encoding="utf-8") as lines:
        return {row[0]: Result(*row) for row in csv.reader(lines)}


def write(file: Path, results: list[Result]) -> None:
    """Write a table with a head."""
    with file.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines, lineterminator="\n").writerows([Result._fields, *results])


if __name__ == "__main__":
    main()
