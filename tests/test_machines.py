"""Machines on which little is as usual: long folders, no home, users and disks that are shared."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import toy
from bestarm.build import client, served

IS_ROOT = os.getuid() == 0 and shutil.which("setpriv") is not None
#: A user without an entry in passwd, as containers are run.
NOBODY = 54_321
#: It may read all files, as in a container, wherever Python is installed here; not write to them.
READS = [f"--{kind}-caps=+dac_read_search" for kind in ("inh", "ambient")]
BECOME = ["setpriv", "--clear-groups", *READS]
TABLE = "figures/smoke/toy/fig1.csv"
PICTURE = "figures/smoke/toy/fig1.svg"


@pytest.fixture
def place():
    """A folder that every user can reach, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="bestarm-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def run(folder, *command, user=None, check=True, **environment):
    """Run a command, perhaps as another user, with an environment of these variables."""
    binaries = Path(sys.executable).parent
    environment = {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", **environment}
    who = [] if user is None else [*BECOME, f"--reuid={user}", f"--regid={user}", "--"]
    result = subprocess.run(
        [*who, *command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0 or not check, result.stdout + result.stderr
    return result


def give(folder, user):
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, user, user, follow_symlinks=False)


@pytest.fixture(scope="module")
def toys(copy_project, tmp_path_factory):
    """A project whose only paper is the toy."""
    folder = tmp_path_factory.mktemp("machines") / "project"
    copy_project(folder)
    for unused in ("figures", "notebooks", "tests", "docs"):
        shutil.rmtree(folder / unused)
    (folder / "docs/api").mkdir(parents=True)
    toy.alone_in(folder, "toy", compiled=False)
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="the server is for Linux")
def test_a_long_temporary_folder(tmp_path, monkeypatch):
    """An address of a socket has at most 107 bytes."""
    folder = tmp_path / ("long " * 30) / "folder"
    folder.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv(client.SOCKET, raising=False)
    server = served.start()
    assert server is not None
    assert server.stdin is not None
    try:
        path = Path(os.environ[client.SOCKET])
        assert len(str(path)) > 150
        out = tmp_path / "x"
        command = ["workflow", "manifest", __file__, "--out", str(out)]
        while (code := client.ask(command)) is None:  # the file exists before the server listens
            assert server.poll() is None
        assert code == 0
        assert out.exists()
    finally:
        server.stdin.close()
        assert server.wait(60) == 0
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="the server is for Linux")
def test_a_build_without_a_temporary_folder_has_no_server(monkeypatch):
    def refuse(**_):
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.delenv(client.SOCKET, raising=False)
    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    assert served.start() is None
    assert client.SOCKET not in os.environ


@pytest.mark.long
@pytest.mark.skipif(not IS_ROOT, reason="only root becomes another user")
def test_a_container_of_an_arbitrary_user_builds_figures(toys, place):
    """Nothing can be written to but the volume that the project is on; there is no entry in passwd.

    The command line needs no home either.
    """
    project, temporary = place / "volume/project", place / "volume/tmp"
    shutil.copytree(toys, project)
    temporary.mkdir()
    give(place / "volume", NOBODY)
    (place / "read-only").mkdir()
    # Snakemake does not start without a home that it can write to; the image sets HOME to /tmp.
    result = run(
        project, "snakemake", PICTURE, user=NOBODY, TMPDIR=str(temporary), HOME=str(temporary)
    )
    assert "Traceback" not in result.stdout + result.stderr
    made = [project / TABLE, project / PICTURE]
    assert all(path.stat().st_uid == NOBODY for path in made)
    assert not (project / "~").exists()
    shown = run(
        place / "read-only",
        *("python", "-m", "bestarm", "list", "toy"),
        user=NOBODY,
        TMPDIR=str(temporary),
        PYTHONPATH=str(project / "src"),
    )
    assert shown.stdout.startswith("toy: ")


@pytest.mark.long
@pytest.mark.skipif(not IS_ROOT, reason="only root becomes another user")
def test_two_users_share_a_cache(place):
    """Whatever umask the first has; the second compiles for itself."""
    cache = place / "cache"
    cache.mkdir()
    cache.chmod(0o1777)
    code = (
        "import os; os.umask(0o077); from bestarm.core.information import stylised_threshold as f"
    )
    code += "\nf(3, 0.1); print(sum(f.stats.cache_hits.values()))"
    source = Path(client.__file__).parents[2]
    shared = {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(source)}
    hits = [
        int(run(place, "python", "-c", code, user=user, **shared).stdout)
        for user in (NOBODY, NOBODY + 1, NOBODY, NOBODY + 1)
    ]
    assert hits == [0, 0, 1, 1]


@pytest.mark.long
def test_two_builds_in_two_clones_at_once(toys, tmp_path):
    """They share the cache of kernels, which is empty, and make the same files."""
    clones = [Path(shutil.copytree(toys, tmp_path / name)) for name in ("one", "two")]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("PYTHONPATH", None)
    snakemake = str(Path(sys.executable).with_name("snakemake"))
    builds = [
        subprocess.Popen(
            [snakemake, PICTURE], cwd=clone, env=environment, stdout=-1, stderr=-2, text=True
        )
        for clone in clones
    ]
    for build in builds:
        output, _ = build.communicate()
        assert build.returncode == 0, output
    for name in (TABLE, PICTURE):
        one, two = ((clone / name).read_bytes() for clone in clones)
        assert one == two


#: A command in front of another that can then write files of no more than some kilobytes.
SMALL = ["bash", "-c", 'ulimit -f "$1"; shift; exec "$@"', "bash"]
#: Python would keep compiled modules that are cut off there, and fail when it reads them.
NO_MODULES = {"PYTHONDONTWRITEBYTECODE": "1"}
RUN = ("python", "-m", "bestarm", "run", "baics/example1", "--reps", "3", "--strategy", "Uniform")


@pytest.fixture
def source():
    return str(Path(client.__file__).parents[2])


@pytest.mark.parametrize(
    "option",
    [
        "--csv=x.csv",
        "--out=x.parquet",
        pytest.param("--json=x.json", marks=pytest.mark.long),
        pytest.param("--table=x.tex", marks=pytest.mark.long),
    ],
)
def test_a_full_disk_for_what_run_writes(tmp_path, source, option):
    """The file is named, and nothing is left of it."""
    kernels = {k: os.environ[k] for k in ("HOME", "NUMBA_CACHE_DIR") if k in os.environ}
    home = {**kernels, "PYTHONPATH": source, **NO_MODULES}
    result = run(tmp_path, *SMALL, "0", *RUN, option, check=False, **home)
    assert result.returncode == 2
    assert result.stderr == f"error: {option.partition('=')[2]}: not written: File too large\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_full_disk_for_compiled_kernels(tmp_path, source):
    cache = tmp_path / "cache"
    here = {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": source, **NO_MODULES}
    result = run(tmp_path, *SMALL, "4", *RUN, check=False, **here)
    assert result.returncode == 2
    assert result.stderr.startswith(f"error: {cache}: compiled kernels cannot be kept: File too la")
    assert result.stderr.endswith("set NUMBA_CACHE_DIR to another folder\n")
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(not IS_ROOT, reason="only root becomes another user")
@pytest.mark.parametrize(
    "folder", ["read-only", pytest.param("volume", marks=pytest.mark.long, id="compiles")]
)
def test_run_from_a_read_only_checkout(place, source, folder):
    """Results go elsewhere or to standard output; a file that cannot be is one line."""
    (place / "read-only").mkdir()
    (place / "volume").mkdir()
    give(place / "volume", NOBODY)
    more = {"TMPDIR": str(place / "volume"), "PYTHONPATH": source}
    if folder == "read-only":
        result = run(place / folder, *RUN, "--csv", "x.csv", user=NOBODY, check=False, **more)
        said = f"error: {place / folder}: Permission denied\n"
        assert (result.returncode, result.stderr) == (2, said)
    else:
        result = run(place / "read-only", *RUN, "--csv", "-", user=NOBODY, **more)
        assert result.stdout.startswith("strategy,reading,statistic")
