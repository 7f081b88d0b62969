"""What a build refuses to look for."""

import pytest

from bestarm.build.targets import unknown_target

KNOWN = ["figures/all", "figures/baics/all", "figures/baics/table1.svg", "results/paper/baics/x"]
RULES = ["all", "notebooks"]


@pytest.mark.parametrize(
    ("name", "made", "near"),
    [
        ("figures/baics/tabel1.svg", True, "figures/baics/table1.svg"),
        ("figures/Baics/all", False, "figures/baics/all"),
        ("notebook", False, "notebooks"),
        ("figures/al", False, "figures/all"),
    ],
)
def test_a_name_that_nothing_makes(name, made, near):
    said = unknown_target(name, KNOWN, RULES, made)
    assert said is not None
    assert said.startswith(f"{name}: nothing makes this; did you mean {near}")
    assert "\n" not in said


def test_a_name_like_no_other():
    said = unknown_target("xyzzy", KNOWN, RULES, False)
    assert said == "xyzzy: nothing makes this; `bestarm list` names targets, as " + (
        "figures/PAPER/TARGET.svg"
    )


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("figures/all", True),
        ("./figures/all", False),
        ("all", False),
        ("data/arena/cells.csv", True),
        ("site/index.html", True),
        ("results/smoke/baics/instances.json", True),
        ("results/smoke/baics/example1/shard-0.parquet", True),
        (__file__, False),
    ],
)
def test_names_that_are_left_to_snakemake(name, made):
    assert unknown_target(name, KNOWN, RULES, made) is None
