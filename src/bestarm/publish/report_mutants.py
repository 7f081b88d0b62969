"""Which test kills which planted fault, as a table for docs/mutants.md."""

from pathlib import Path

import pandas as pd

from bestarm.common.prose import markdown

#: What the column of tests says of a fault that none sees.
SURVIVES = "survives"


def mutant_table(root: Path) -> str:
    """One line per fault: what it breaks, where, and the test that fails; and the totals.

    The last column is of the tests that bench/mutants-before.csv was measured with.
    """
    files = [root / f"bench/{name}.csv" for name in ("mutants", "mutants-before")]
    if not files[0].is_file():
        return "Not measured."
    now, before = (
        pd.read_csv(file).set_index("fault").killed_by if file.is_file() else pd.Series(dtype=str)
        for file in files
    )
    faults = pd.read_csv(files[0])
    table = pd.DataFrame(
        {
            "fault": faults.breaks,
            "in": "`" + faults.file.str.removeprefix("src/bestarm/") + "`",
            "seen by": faults.killed_by.map(_test),
            "before": [_test(before.get(name, "–")) for name in faults.fault],
        }
    )
    return f"{_total(now, 'now')} {_total(before, 'before')}\n\n{markdown(table)}"


def _test(node: str) -> str:
    """A test without its folder and parameters."""
    return node.removeprefix("tests/").partition("[")[0].replace("::", ": ")


def _total(killed_by: pd.Series, when: str) -> str:
    return (
        f"{when.capitalize()}: {(killed_by != SURVIVES).sum()} of {killed_by.size} faults are seen."
    )
