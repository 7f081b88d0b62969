"""The command line as a person meets it: what it prints, and what it says to bad input."""

import fcntl
import json
import logging
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pyarrow.parquet as pq
import pytest

from bestarm import registry
from bestarm.common.tables import read_table
from bestarm.users import plugins
from bestarm.users.results import decimal
from bestarm.users.tables import with_interval
from command_line import bestarm, printed_to

INSTANCE = """\
paper: baics
means: [[0.9, 0.8], [0.7, -0.9]]
weights: [0.5, 0.5]
"""


def started(*arguments, **how):
    """The command line in a process of its own."""
    command = [sys.executable, "-m", "bestarm", *map(str, arguments)]
    return subprocess.run(command, text=True, **how)


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "my instance.yaml"
    path.write_text(INSTANCE)
    return path


RATES = """
paper: baics
name: conversion
means: [[0.3, 0.2], [0.2, 0.1]]
weights: [1, 1]
constrained: 0
rewards: bernoulli
"""

#: One of each command or group. Most of their time is that of importing the package.
COMMANDS = [
    ["run", "INSTANCE", "--reps", "3"],
    ["workflow", "shard"],
    pytest.param(["list", "baics"], marks=pytest.mark.long),
    pytest.param(["show", "baics/example1"], marks=pytest.mark.long),
    pytest.param(["schema"], marks=pytest.mark.long),
    pytest.param(["bound", "INSTANCE", "--cap", "3"], marks=pytest.mark.long),
    pytest.param(["check", "INSTANCE"], marks=pytest.mark.long),
    pytest.param(["verify", "nothing"], marks=pytest.mark.long),
]


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_process_of_its_own_does_the_same(mine, arguments):
    """As the calls in this process that the other tests look at."""
    arguments = [mine if argument == "INSTANCE" else argument for argument in arguments]
    process = started(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert bestarm(*arguments) == (process.returncode, process.stdout, process.stderr)


CHANGES = """
import logging, os, signal, sys, warnings
import matplotlib as mpl

os.environ["MINE"] = "1"
os.chdir("/")
sys.path.append("mine")
signal.signal(signal.SIGTERM, signal.SIG_IGN)
logging.getLogger().setLevel(logging.DEBUG)
logging.getLogger().addHandler(logging.NullHandler())
warnings.simplefilter("ignore")
mpl.rcParams["font.size"] = 3
"""


def test_a_call_leaves_this_process_as_it_was(mine, tmp_path):
    """With a plug-in that changes what a process has one of."""
    plugin = tmp_path / "changes.py"
    plugin.write_text(CHANGES)

    def settings():
        log = logging.getLogger()
        yield from (dict(os.environ), Path.cwd(), [*sys.path], signal.getsignal(signal.SIGTERM))
        yield from (log.level, [*log.handlers], [*warnings.filters], mpl.rcParams["font.size"])
        yield from (sys.argv, sys.stdout, sys.stderr, sys.modules["__main__"])

    before = [*settings()]
    refused(bestarm("run", mine, "--plugin", plugin), "has no strategy")
    assert [*settings()] == before


def test_list_names_every_part():
    out = bestarm("list").out
    for name in ("baics", "T-a-SCS", "maximiser", "example1", "asymptotics"):
        assert name in out
    assert bestarm("list", "baics").out in out
    assert "maximiser+no-half" in bestarm("list", "baics", "--all").out


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_a_paper_is_listed_on_a_screen(paper):
    """Every option once, and no name on two lines."""
    known = registry.PAPERS[paper]
    lines = bestarm("list", paper).out.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    options = [line.split()[0] for line in lines if line.startswith("  --")]
    assert len(options) == len(set(options)) > 0
    for name in (*known.targets, *known.simulation.readings):
        assert any(name in line for line in lines), name
    every = bestarm("list", paper, "--all").out.splitlines()
    assert max(map(len, every)) <= 80
    for reading in known.simulation.reading_names():
        assert any(reading in line for line in every), reading


def test_list_says_what_is_proven_and_what_is_refuted_by_how_much(root):
    """Of every reading; the number is that of a table under figures."""
    text = bestarm("list", "baics", "--all").out
    of_tascs = text[text.index("  T-a-SCS ") : text.index("  T-a-S ")]
    proven = of_tascs[of_tascs.index("    proven: ") :]
    assert "maximiser+proven*" in proven
    refuted = of_tascs[of_tascs.index("    refuted: ") :]
    share = re.search(r"as-written \((\d+)% wrong at delta = 0.05\)", refuted)[1]
    kept = pd.read_csv(root / "figures/baics/segments.csv").query("statistic == 'wrong_stops'")
    assert int(share) == round(100 * kept.value.max())


def test_claims_have_their_readings_and_the_command_that_checks_them(root):
    out = bestarm("claims", "linear/readings", cwd=root).out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "linear fig5-budget-g: compatible (sqrt2*log1+argmin-max)" in out
    assert "more than 3,000,000: differs" in out
    assert "Figure 5: G needs 140,075 pulls on average at d = 5." in out
    assert "more: --id fig5-budget-g shows all" in out
    assert "check: bestarm verify linear/readings" in out
    one = bestarm("claims", "--id", "fig5-budget-g", cwd=root).out
    assert "  readings: docs/readings.md; code: src/bestarm/linear/reference.py\n" in one
    kept = pd.read_csv(root / "figures/claims.csv").query("id == 'fig5-budget-g'")
    assert sum(f"    {reading} " in one for reading in kept.reading) == len(kept)


def test_a_claim_has_its_quotation_its_basis_and_the_runs_of_the_program(root):
    out = bestarm("claims", "lagex", "--id", "fig6-median-ptns", cwd=root).out
    kept = pd.read_csv(root / "figures/claims.csv").query("id == 'fig6-median-ptns'").iloc[0]
    assert "as-written: the text, with what it does not print recovered" in out
    assert "“Sample complexity" in out
    assert f"released program, {kept.program_n:.0f} runs: " in out
    assert f", {kept.program}\n" in out


def test_claims_by_verdict_are_those_of_the_table(root):
    out = bestarm("claims", "baics", "--verdict", "confirmed by the", cwd=root).out
    kept = pd.read_csv(root / "figures/claims.csv").drop_duplicates(["paper", "id"])
    kept = kept.query("paper == 'baics' and verdict == 'confirmed by the text'")
    assert out.count(": confirmed by the text\n") == len(kept) > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody",), "paper must be one of baics"),
        (("baics/none",), "target must be one of "),
        (("--verdict", "fine"), "must begin as one of: confirmed by the text"),
        (("baics", "--id", "none"), "baics --id none: there is no such claim"),
    ],
)
def test_claims_that_are_not_there(root, arguments, said):
    refused(bestarm("claims", *arguments, cwd=root), said)


def test_show_an_instance():
    out = bestarm("show", "baics/example1").out
    assert "0.26194" in out  # the optimal share of subpopulation 1 of arm 1
    assert "190.884" in out
    assert "335.531" in out


@pytest.mark.parametrize(
    "target", ["baics/table1", "cbmai/decay", "lagex/fig5", "linear/readings", "delayed/fig1"]
)
def test_show_a_target_in_80_columns(root, target):
    """Every number of the table once, with three digits."""
    out = bestarm("show", target, cwd=root).out
    assert max(map(len, out.splitlines())) <= 80
    table = read_table(root / f"figures/{target}.csv")
    for statistic in table.statistic.unique():
        assert statistic in out
    numbers = out.replace("∞", "inf").count("[") - 1  # one is in the footnote
    assert numbers == (table.low < table.high).sum()
    assert all(line.count("[") == line.count("]") for line in out.splitlines())


def test_show_a_target_has_its_numbers(root):
    out = bestarm("show", "baics/table1", cwd=root).out
    row = read_table(root / "figures/baics/table1.csv").query(
        "statistic == 'mean_stopping_time' and strategy == 'T-a-SCS' and reading == 'maximiser'"
    )
    value, low, high = (f"{float(f'{row[n].item():.3g}'):,.0f}" for n in ("value", "low", "high"))
    assert re.search(rf"T-a-SCS +maximiser +1,200 .*{value} \[{low}, {high}\]", out)
    assert "published" in out


def test_bound(mine):
    result = bestarm("bound", mine, "--delta", "0.05")
    assert result.code == 0
    assert "characteristic_time" in result.out
    assert "lower_bound" in result.out


def test_bound_writes_a_certificate_that_check_verifies(mine, tmp_path):
    file = tmp_path / "bound.json"
    mine.write_text(RATES)
    assert bestarm("bound", mine, "--certificate", file).code == 0
    result = bestarm("check", file)
    assert result.code == 0
    assert "kl(delta, 1 - delta) pulls" in result.out
    file.write_text(file.read_text().replace('"time": ', '"time": 9'))
    result = bestarm("check", file)
    assert result.code == 1
    assert "REFUSED near" in result.out
    mine.write_text(INSTANCE)
    refused(bestarm("bound", mine, "--certificate", file), mine, "rewards: a certificate is only")
    refused(bestarm("bound", "cbmai/D1P", "--certificate", file), "--certificate: cbmai has none")


def test_run_compares_the_strategies_and_writes_the_runs(mine, tmp_path):
    out = tmp_path / "new" / "runs.parquet"
    result = bestarm("run", mine, "--reps", 50, "--delta", 0.2, "--out", out)
    assert result.code == 0, result.err
    strategies = {"T-a-SCS", "T-a-S", "Uniform", "FWS", "Two-stage"}
    for text in (*strategies, "mean pulls", "50 runs", "delta=0.2"):
        assert text in result.out
    runs = pq.read_table(out).to_pandas()
    assert len(runs) == 250
    assert set(runs.strategy) == strategies
    assert set(runs.reading) == {"maximiser+proven", "proven", "levelled+proven", "as-written"}
    assert (runs.pulls.map(sum) == runs.tau).all()
    assert result.err == ""  # no progress bar into a file


def test_run_is_a_function_of_its_seed_not_of_its_threads(mine, tmp_path):
    tables = []
    for cores, seed in ((1, 0), (2, 0), (2, 1)):
        out = tmp_path / f"{cores}-{seed}.parquet"
        bestarm("run", mine, "--reps", 45, "--cores", cores, "--seed", seed, "--out", out)
        tables.append(pq.read_table(out))
    assert tables[0].equals(tables[1])
    assert not tables[0].equals(tables[2])


def test_run_only_what_is_asked(mine):
    result = bestarm(
        "run",
        mine,
        "--reps",
        5,
        "--strategy",
        "T-a-SCS",
        "--reading",
        "maximiser",
        "--reading",
        "as-written",
    )
    assert "Uniform" not in result.out
    assert "maximiser" in result.out


def test_run_shows_progress_on_a_terminal(monkeypatch, mine):
    asked = ("run", mine, "--reps", 40, "--strategy", "Uniform")
    assert "40/40" in on_a_terminal(monkeypatch, *asked, errors=True)


@pytest.mark.parametrize("name", ["example-abn.yaml", "example-lagex.yaml"])
def test_example_instances_of_the_readme(root, name):
    for command, *options in (["run", "--reps", 5], ["bound"]):
        result = bestarm(command, root / "data/instances" / name, *options)
        assert result.code == 0, result.err


def test_an_instance_may_name_a_csv_file(root, tmp_path):
    for name in ("example-linear.yaml", "example-linear.csv"):
        (tmp_path / name).write_bytes((root / "data/instances" / name).read_bytes())
    mine, arms = tmp_path / "example-linear.yaml", tmp_path / "example-linear.csv"
    result = bestarm("run", mine, "--reps", 5, "--strategy", "LinGapE", "--strategy", "XY")
    assert result.code == 0, result.err
    out = bestarm("bound", mine).out
    assert "cool short" in out
    assert "oracle_complexity" in out
    arms.write_text(arms.read_text().replace("middle,1,0", "middle,1,zero"))
    refused(bestarm("bound", mine), arms, "line 6: must hold numbers")
    arms.unlink()
    refused(bestarm("run", mine), arms, "No such file")


def refused(result, *texts):
    """One clear line on standard error, exit code 2, nothing on standard output."""
    assert result.code == 2, result.err
    assert result.out == ""
    assert len(result.err.strip().splitlines()) == 1, result.err
    for text in texts:
        assert str(text) in result.err


@pytest.mark.parametrize("command", ["run", "bound"])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("weights:", "wieghts:", "wieghts: unknown field, allowed are name"),
        ("weights: [0.5, 0.5]", "weights: [0.5]", "weights: must have 2 entries to fit means"),
        ("weights: [0.5, 0.5]", "weights: [0.5, -1]", "weights.2: must be greater than or equal"),
        ("0.9, 0.8", ".nan, 0.8", "means.1.1: must be a finite number, got nan"),
        ("means: [[0.9, 0.8], [0.7, -0.9]]", "means: []", "means: "),
        ("0.9, 0.8", "1.0e-300, 0.8", "means.1.1: must be 0 or of size 1e-15 to 1e+15"),
        ("paper: baics", 'paper: baics\nname: "a\\e"', "name: must not hold control characters"),
        ("paper: baics", "paper: biacs", "paper: is required, one of baics"),
        ("paper: baics", "paper: [baics]", "paper: is required, one of baics"),
        ("paper: baics", "paper: [", "line "),
    ],
)
def test_bad_instances(mine, tmp_path, command, old, new, said):
    mine.write_text(mine.read_text().replace(old, new))
    refused(bestarm(command, mine), mine, said)
    assert sorted(tmp_path.iterdir()) == [mine]


@pytest.mark.parametrize("delta", [0, 1, 1.5, -0.1, "nan"])
@pytest.mark.parametrize("command", ["run", "bound"])
def test_bad_delta(mine, command, delta):
    refused(bestarm(command, mine, "--delta", delta), "delta: must be")


def test_an_instance_is_not_overwritten(mine):
    before = mine.read_text()
    refused(bestarm("run", mine, "--csv", mine), mine, "--csv must name another file")
    assert mine.read_text() == before


def test_bad_names(mine):
    refused(bestarm("run", mine, "--strategy", "Ta"), "--strategy: must be one of T-a-SCS, T-a-S")
    refused(bestarm("run", mine, "--reading", "x"), "--reading: must be one of as-written")
    refused(
        bestarm("run", mine, "--strategy", "Uniform", "--reading", "maximiser"),
        "--reading: none of maximiser applies",
    )
    refused(bestarm("show", "example1"), "must be PAPER/INSTANCE or PAPER/TARGET")
    refused(bestarm("show", "baics/none"), "no such instance or target")


def test_names_are_printed_as_they_are(mine):
    """Square brackets and colons are no markup."""
    mine.write_text(INSTANCE + "name: '[/b] :smile:'\narms: ['[red]x', '[/y]']\n")
    for command, *options in (["run", "--reps", 5], ["bound"]):
        result = bestarm(command, mine, *options)
        assert result.code == 0, result.err
        assert "[/b] :smile:" in result.out
    assert "[red]x" in result.out


FAR_APART = """\
paper: linear
theta: [-1.0e-09, 0.5, -0.9, 0.6]
sigma: 1.5
arms:
  - [1.0, 1.0e-11, -1.0, 1.0]
  - [-1.0, 0.001, 0.0, 1.0]
  - [1.0e+12, -100.0, -1.0e+05, 0.0]
  - [1.0, 0.0, -1.0, 0.01]
  - [1.0, -1.0e-07, -1.0e-11, 0.0]
  - [1.0, 0.0, 0.0, 1.0e-06]
  - [1.0, 1.0, 1.0e+10, 0.0]
  - [1.0e+07, 1.0, 0.0, 0.0]
  - [0.0, 1.0e-09, 1.0, 1.0]
"""


def test_numbers_that_no_solver_can_work_with(mine, tmp_path):
    mine.write_text(FAR_APART)
    refused(bestarm("bound", mine), mine, "cannot be computed with these numbers (no design")
    out = tmp_path / "runs.parquet"
    run = bestarm("run", mine, "--reps", 1, "--cap", 10, "--strategy", "RAGE", "--out", out)
    refused(run, mine, "cannot be computed with these numbers (no design")
    assert list(tmp_path.iterdir()) == [mine]


@pytest.mark.parametrize("option", ["--reps", "--cores"])
def test_numbers_beyond_any_use(mine, option):
    result = bestarm("run", mine, option, 10**19)
    assert result.code == 2
    assert f"Invalid value for '{option}'" in result.err


def test_options_of_the_paper(mine):
    """Those of its setting, and those of a strategy, which the others do not take."""
    run = ("run", mine, "--reps", 3)
    refused(bestarm(*run, "--inner-steps", 2), "T-a-SCS: inner_steps: is set by the reading")
    run = (*run, "--reading", "proven")
    result = bestarm(*run, "--cap=200", "--inner-steps", 2, "--delta", 0.3)
    assert result.code == 0, result.err
    assert "cap=200,delta=0.3" in result.out
    assert "T-a-SCS inner_steps=2" in result.out
    assert "Uniform inner_steps" not in result.out
    assert "cap=none" in bestarm(*run, "--cap", "none").out
    refused(bestarm(*run, "--cap", 10**19), "cap: must be less than or equal to 1000000000000000")
    refused(bestarm(*run, "--step", "-1"), "step: must be greater than 0")
    refused(bestarm(*run, "--budget", 3), "--budget: baics has no such option, only --delta, --cap")
    refused(bestarm("bound", mine, "--delta"), "--delta: needs a value")
    refused(bestarm("bound", mine, "--cap", 3), "--cap: bounds of baics depend only on --delta")
    refused(
        bestarm("bound", "cbmai/D1P", "--delta", 0.1),
        "--delta: bounds of cbmai depend on no option",
    )
    listed = bestarm("list", "baics").out
    assert "--inner-steps 1" in listed
    assert "at least 0 (T-a-SCS)" in listed


def test_steps_of_the_workflow_refuse_names_in_one_line(tmp_path):
    out = ("--out", tmp_path / "x")
    bad = tmp_path / "instances.json"
    bad.write_text("{")
    shard = ("workflow", "shard", "baics")
    rest = ("--seed", 1, "--per-shard", 1, *out)
    refused(bestarm(*shard, "none", 0, bad, *rest), "none: baics has none of that name")
    refused(bestarm(*shard, "example1", 0, bad, *rest), bad, "is not a file of baics's instances")
    refused(bestarm(*shard, "example1", 0, tmp_path / "no", *rest), "no: No such file")
    files = ("--figures", "x", "--headline", "y", "--scorecard", "z", "--results", "r", *out)
    refused(bestarm("workflow", "claims", bad, *files), "one of baics")
    assert list(tmp_path.iterdir()) == [bad]


def refused_by(stdout, arguments):
    """Exit code and standard error of a call whose standard output takes nothing."""
    with tempfile.TemporaryFile() as err:
        code = printed_to(stdout.fileno(), err.fileno(), arguments)
        err.seek(0)
        return code, err.read().decode()


def refused_at_the_end_by(stdout, arguments, unbuffered):
    """The same of a process, which may write at once, or only when it ends."""
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    result = started(*arguments, stdout=stdout, stderr=subprocess.PIPE, env=env)
    return result.returncode, result.stderr


@contextmanager
def closed_pipe():
    """A file whose reader has left."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        yield closed


FULL = (2, "error: output: No space left on device\n")


@pytest.mark.parametrize("arguments", [["bound", "INSTANCE"], ["list", "baics"]])
def test_a_full_disk_is_one_line(mine, arguments):
    arguments = [mine if argument == "INSTANCE" else argument for argument in arguments]
    with Path("/dev/full").open("w") as full:
        assert refused_by(full, arguments) == FULL


UNBUFFERED = ["", "1"]
LONG = pytest.param(["list", "baics"], marks=pytest.mark.long)


@pytest.mark.parametrize("unbuffered", UNBUFFERED)
@pytest.mark.parametrize("arguments", [["--version"], LONG])
def test_a_full_disk_is_one_line_of_a_process(arguments, unbuffered):
    """Whether Python writes at once, or only when it must: at its very end if a text is short."""
    with Path("/dev/full").open("w") as full:
        assert refused_at_the_end_by(full, arguments, unbuffered) == FULL


def test_a_reader_that_leaves_is_no_error():
    """Nothing is said of it; the code is that of Rich, which notices."""
    with closed_pipe() as closed:
        assert refused_by(closed, ["list"]) == (1, "")


@pytest.mark.parametrize(
    ("argument", "unbuffered", "code"),
    [
        ("--version", "", 141),
        ("--version", "1", 1),
        pytest.param("list", "", 1, marks=pytest.mark.long),
        pytest.param("list", "1", 1, marks=pytest.mark.long),
    ],
)
def test_a_reader_that_leaves_is_no_error_of_a_process(argument, unbuffered, code):
    """The code is Rich's and Click's if they notice, else the shell's."""
    with closed_pipe() as closed:
        assert refused_at_the_end_by(closed, [argument], unbuffered) == (code, "")


def test_missing_file(tmp_path):
    refused(bestarm("run", tmp_path / "none.yaml"), tmp_path / "none.yaml", "No such file")


def test_output_folder_that_is_a_file(mine, tmp_path):
    (tmp_path / "f").write_text("kept")
    result = bestarm("run", mine, "--reps", 5, "--out", tmp_path / "f" / "x.parquet")
    refused(result, tmp_path / "f", "is a file, a folder is wanted")
    assert (tmp_path / "f").read_text() == "kept"


def test_output_file_that_is_a_folder(mine, tmp_path):
    refused(bestarm("run", mine, "--reps", 5, "--out", tmp_path), tmp_path, "is a folder")
    assert list(tmp_path.iterdir()) == [mine]


@pytest.mark.parametrize("arguments", [["run"], ["nonsense"], ["run", "x", "--reps", "0"]])
def test_bad_usage_is_exit_code_2(arguments):
    result = bestarm(*arguments)
    assert result.code == 2
    assert "Traceback" not in result.err


def test_version():
    from bestarm import __version__

    assert bestarm("--version").out.strip() == __version__


def on_a_terminal(monkeypatch, *arguments, columns=80, errors=False):
    """What a command prints to a terminal of some width, without its colours: the standard output
    or, for `errors`, the standard error."""
    monkeypatch.setenv("TERM", "xterm")
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    read, write = pty.openpty()
    fcntl.ioctl(write, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with ThreadPoolExecutor(1) as reader, tempfile.TemporaryFile() as other:
        printed = reader.submit(until_the_end, read)
        out, err = (other.fileno(), write) if errors else (write, other.fileno())
        try:
            assert printed_to(out, err, arguments) == 0
        finally:
            os.close(write)
        text = printed.result().decode()
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "")


def until_the_end(terminal):
    parts = []
    with suppress(OSError):  # the end of a terminal is an error
        while part := os.read(terminal, 65_536):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts)


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_tables_fit_a_terminal_of_80_columns(root, monkeypatch, paper):
    examples = sorted(root.glob("data/instances/example-*.yaml"))
    mine = next(path for path in examples if f"paper: {paper}\n" in path.read_text())
    text = on_a_terminal(monkeypatch, "run", mine, "--reps", 3)
    known = registry.PAPERS[paper]
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    for strategy, readings in known.simulation.readings.items():
        assert strategy in text
        assert readings.default in text
    for heading in known.user_output.columns.values():
        assert heading in text
    for command in (("bound", mine), ("list", paper)):
        text = on_a_terminal(monkeypatch, *command)
        assert "…" not in text
        tables = [line for line in text.splitlines() if line[:1] in "┏┃┡│└"]
        assert max(map(len, tables), default=0) <= 80


def test_an_instance_of_a_paper_may_be_named():
    assert "T*" in bestarm("bound", "baics/example1").out
    result = bestarm("run", "baics/example1", "--reps", 3, "--strategy", "Uniform")
    assert "example1: 3 runs per strategy" in result.out
    refused(bestarm("run", "baics/example9"), "baics/example9: baics has no such instance")


def test_statistics_as_files_and_a_picture(mine, tmp_path):
    files = {name: tmp_path / f"x.{name}" for name in ("csv", "json", "pdf", "svg", "png")}
    run = ("run", mine, "--reps", 5, "--strategy", "Uniform")
    for kind in ("pdf", "svg", "png"):
        assert bestarm(*run, "--plot", files[kind]).code == 0
    result = bestarm(*run, "--csv", files["csv"], "--json", files["json"])
    assert f"the statistics written to {files['csv']}" in result.out.replace("\n", "")
    begins = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}
    assert all(files[kind].read_bytes().startswith(mark) for kind, mark in begins.items())
    table, whole = pd.read_csv(files["csv"]), json.loads(files["json"].read_text())
    assert whole["setting"] == {"delta": 0.1, "cap": 15000}
    assert [row["value"] for row in whole["statistics"]] == table.value.tolist()
    assert (table.meaning != "").all()
    printed = bestarm(*run, "--csv", "-")
    assert printed.out == files["csv"].read_text()
    assert json.loads(bestarm(*run, "--json", "-").out) == whole


def test_files_of_other_kinds_are_refused(mine, tmp_path):
    run = ("run", mine, "--reps", 3)
    refused(bestarm(*run, "--out", tmp_path / "x.csv"), "--out: must end in .parquet, got")
    refused(bestarm(*run, "--plot", tmp_path / "x.gif"), "--plot: must end in .pdf or .png or .svg")
    refused(bestarm(*run, "--csv", "-", "--json", "-"), "only one of them can be standard output")
    refused(bestarm(*run, "--csv", mine), "--csv must name another file")
    refused(bestarm(*run, "--csv", "x.tex"), "--csv: writes CSV, and x.tex ends in .tex: --table")
    refused(bestarm(*run, "--json", "x.parquet"), "--out writes such files")
    refused(bestarm(*run, "--table", "x.csv"), "--table: must end in .tex or .md, got x.csv")
    assert list(tmp_path.iterdir()) == [mine]


def test_two_options_that_name_one_file_are_refused(mine, tmp_path):
    run = ("run", mine, "--reps", 3)
    one, link = tmp_path / "one", tmp_path / "link"
    link.symlink_to(one)
    for other in (one, tmp_path / "." / "one", link):
        said = f"--csv, --json: {other} is one file, they need two"
        refused(bestarm(*run, "--csv", one, "--json", other), said)
    assert sorted(tmp_path.iterdir()) == [link, mine]


def test_what_is_read_is_not_overwritten(root, tmp_path):
    """The file of an instance's arms, and a plugin."""
    mine, arms, plugin = (tmp_path / name for name in ("mine.yaml", "arms.csv", "plugin.py"))
    mine.write_text("paper: linear\narms: arms.csv\ntheta: [1, 0]\n")
    arms.write_text("1,0\n0,1\n")
    plugin.write_text("x = 1\n")
    run = ("run", mine, "--plugin", plugin)
    refused(bestarm(*run, "--csv", arms), "is a file of the instance (arms); --csv must name ano")
    refused(bestarm(*run, "--csv", plugin), "is the plugin", "--csv must name another file")
    assert arms.read_text() == "1,0\n0,1\n"


def test_a_table_for_a_paper(mine, tmp_path):
    """Three significant digits and an interval, names as LaTeX and Markdown print them."""
    mine.write_text(INSTANCE + "name: 'A_1 & 5%'\n")
    files = {ending: tmp_path / f"x.{ending}" for ending in ("tex", "md", "csv")}
    run = ("run", mine, "--reps", 40, "--cap", 40, "--strategy", "Uniform", "--strategy", "T-a-S")
    for ending in ("tex", "md"):
        table, csv = ("--table", files[ending]), ("--csv", files["csv"])
        result = bestarm(*run, *table, *csv, "--reading", "proven")
        assert f"the table written to {files[ending]}" in result.out.replace("\n", "")
    row = pd.read_csv(files["csv"]).query("strategy == 'T-a-S' and statistic == 'share_capped'")
    tex, md = files["tex"].read_text(), files["md"].read_text()
    number = with_interval(*(row[name].item() for name in ("value", "low", "high")))
    assert re.fullmatch(r"[\d.]+ \[[\d.]+, [\d.]+\]", number)
    assert f"& {number}" in tex or number in tex
    lines = tex.splitlines()
    assert lines[0].startswith("% A_1 & 5%: 40 runs")
    assert (
        lines[1]
        == r"\begin{tabular}{ll" + "r" * len(registry.PAPERS["baics"].user_output.columns) + "}"
    )
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert lines.count(rule) == 1
    cells = {line.count(" & ") for line in lines if line.endswith(r" \\") and " & " in line}
    assert cells == {len(registry.PAPERS["baics"].user_output.columns) + 1}
    assert "restricted: some runs reached the cap" in tex
    assert "| T-a-S | proven |" in md
    assert number.replace("[", r"\[").replace("]", r"\]") in md


def test_small_limits_are_not_rounded_to_nothing(mine):
    """The upper limit of an error rate of none of many runs, and a share just below 1."""
    assert [decimal(x) for x in (0.0003, 0.99995, 0.0, 1.0, 0.5)] == [
        *("0.0003", "0.99995", "0.000", "1.000", "0.500")
    ]
    run = ("run", mine, "--reps", 6000, "--cap", 1, "--strategy", "Uniform")
    assert "1.000 [0.9995, 1.000]" in bestarm(*run).out


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("show", "baics/Exampel1"), "did you mean baics/example1"),
        (("show", "EXAMPLE1"), "did you mean baics/example1?"),
        (("show", "BAICS/TABLE1"), "did you mean baics/table1"),
        (("show", "lagex"), "`bestarm list lagex` names those of lagex"),
        (("run", "Baics/example1"), "did you mean baics/example1?"),
        (("bound", "linear/D=5"), "did you mean linear/d=5?"),
        (("run", "baics/table1"), "baics/table1: is a target, which `bestarm show baics/table1`"),
        (("list", "LAGEX"), "there is no such paper; did you mean lagex?"),
        (("list", "nobody"), "there is no such paper; papers are baics, linear"),
        (("verify", "baics/Table1"), "did you mean table1?"),
        (("verify", "baic"), "did you mean baics or bai?"),
        (("claims", "lagx"), "did you mean lagex?"),
        (("claims", "--id", "fig5-budget-j"), "did you mean fig5-budget-g"),
        (("schema", "instanc"), "did you mean instance?"),
        (("run", "baics/example1", "--strategy", "Unifrom"), "did you mean Uniform?"),
        (("run", "baics/example1", "--reading", "maximizer"), "did you mean maximiser"),
        (("run", "baics/example1", "--detla", "0.1"), "did you mean --delta?"),
    ],
)
def test_the_nearest_name_is_suggested(root, asked, said):
    refused(bestarm(*asked, cwd=root), said)


def test_an_instance_file_of_a_misspelt_paper(mine):
    mine.write_text(INSTANCE.replace("baics", "BAICS"))
    refused(bestarm("bound", mine), "paper: is required, one of baics", "did you mean baics?")


@pytest.mark.parametrize("paper", registry.PAPERS)
def test_strategies_may_be_named_by_their_classes_and_in_any_case(paper):
    """Every ask/tell class of the documentation, and names without hyphens."""
    known = registry.PAPERS[paper].simulation.readings
    module = import_module(f"bestarm.{paper}")
    classes = [name for name in module.__all__ if plugins.is_strategy(getattr(module, name))]
    assert classes
    for name in classes:
        label = plugins.name_of_ours(getattr(module, name), paper)
        if (paper, name) == ("bai", "TopK"):  # is for experiments, and no strategy of the paper
            continue
        assert plugins.strategy_named(paper, name, known, "x") == label
    for name in known:
        for written in (name.lower(), name.replace("-", ""), name.upper()):
            assert plugins.strategy_named(paper, written, known, "x") == name


def test_run_takes_the_name_of_a_class():
    run = ("run", "baics/example1", "--reps", 2, "--csv", "-", "--strategy")
    assert bestarm(*run, "TaSCS").out == bestarm(*run, "T-a-SCS").out != ""


def test_letters_that_the_terminal_has_not_are_escapes(mine, monkeypatch):
    """A name in an ASCII or a Latin-1 terminal; CSV is UTF-8 as in a file."""
    mine.write_text(INSTANCE + "name: größer\narms: [größer, 数]\n", encoding="utf-8")
    run = ("run", mine, "--reps", 3, "--strategy", "Uniform")

    def printed(encoding, *arguments):
        command = [sys.executable, "-m", "bestarm", *map(str, arguments)]
        env = {**os.environ, "PYTHONIOENCODING": encoding}
        result = subprocess.run(command, env=env, capture_output=True, check=False)
        assert (result.returncode, result.stderr) == (0, b"")
        return result.stdout

    latin = printed("latin-1", "bound", mine)
    assert "größer".encode("latin-1") in latin
    assert rb"\u6570" in latin
    assert rb"gr\xf6\xdfer" in printed("ascii", *run)
    assert printed("ascii", *run, "--csv", "-") == bestarm(*run, "--csv", "-").out.encode()


def test_runs_say_in_words_what_they_answered_and_how_they_ended(mine, tmp_path):
    mine.write_text(INSTANCE + "arms: [none, 'loyal, rural']\n")
    out = tmp_path / "runs.parquet"
    result = bestarm("run", mine, "--reps", 40, "--cap", 30, "--out", out)
    assert result.code == 0, result.err
    runs = pq.read_table(out).to_pandas()
    names = {0: "", 1: "none", 2: "loyal, rural"}  # null if there is no answer
    assert (runs.answer_names.fillna("") == runs.answer.map(names)).all()
    assert (runs.correct == (runs.answer == 1)).all()
    assert (runs.status.eq(1) == runs.end.str.startswith("reached the cap")).all()
    assert runs.status.nunique() == 2


TIES = {
    "baics": "means: [[1, 1], [1, 1]]\nweights: [1, 1]",
    "cbmai": "rewards: [1, 1, 0.2]\ncosts: [[0.5, 0.5, 0.2]]\nbounds: [0.7]",
}


@pytest.mark.parametrize("paper", TIES)
def test_nobody_is_wrong_where_several_answers_are_best(tmp_path, paper):
    mine, out = tmp_path / "mine.yaml", tmp_path / "runs.parquet"
    mine.write_text(f"paper: {paper}\n{TIES[paper]}\n")
    cap = ("--cap", 200) if paper != "cbmai" else ("--budget", 200)
    result = bestarm("run", mine, "--reps", 5, *cap, "--out", out)
    assert "not scored: several answers are best" in result.out, result.err
    assert pq.read_table(out)["correct"].null_count == len(pq.read_table(out))


def test_an_interrupted_run_says_so_in_a_line_and_leaves_nothing(mine, tmp_path):
    bestarm("run", mine, "--reps", 1)  # compiling cannot be interrupted
    command = [sys.executable, "-m", "bestarm", "run", str(mine), "--reps", "1000000"]
    command += ["--out", str(tmp_path / "runs.parquet")]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell's background ignores it
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heard) as process:
        while not list(tmp_path.glob(".runs*")):  # it has begun
            time.sleep(0.05)
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == "interrupted; nothing was written\n"
    assert list(tmp_path.iterdir()) == [mine]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("paper: baics\nmeans: [[1]]\nweights: [1]", "means: must hold at least 2, got [[1]]"),
        ("paper: baics\nmeans: 3\nweights: [1]", "means: must be a list, got 3"),
        ("paper: lagex\nmeans: [1, 2]\nconstraints: []", "constraints: must hold at least 1"),
        ("paper: linear\narms: [[a, 1], [0, 1]]\ntheta: [1, 1]", "arms.1.1: must be a number, got"),
    ],
)
def test_messages_are_the_project_s_own(mine, text, said):
    mine.write_text(text)
    refused(bestarm("bound", mine), mine, said)


def test_what_is_true_is_told_by_name(mine):
    mine.write_text(INSTANCE + "arms: [flat, loyal]\n")
    lines = bestarm("bound", mine, "--delta", 0.05).out.splitlines()
    assert any("ground truth and bounds (delta = 0.05)" in line for line in lines)
    (best,) = [line for line in lines if "best_arm" in line]
    assert "flat" in best
    assert "named program" not in "".join(lines)
    mine.write_text(INSTANCE.replace("[0.7, -0.9]", "[0.9, 0.8]"))
    (best,) = [line for line in bestarm("bound", mine).out.splitlines() if "best_arm" in line]
    assert "several" in best
