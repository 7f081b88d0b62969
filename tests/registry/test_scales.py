import pytest

from bestarm.core.inputs import InputError
from bestarm.registry.scales import SCALES, Size, read_scale


def test_other_replications_are_whole_shards_of_the_same_size():
    size = Size(replications=300, per_shard=50)
    assert size.with_replications(30_000, "x").shards == 600
    with pytest.raises(InputError, match=r"^x: .* of per_shard, got 1020 and 50; the next is 1050"):
        size.with_replications(1020, "x")
    for wrong in (0, -50, "many", None, 1.5):
        with pytest.raises(InputError, match=r"^x: replications: must be "):
            size.with_replications(wrong, "x")


@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_covers_every_experiment(root, scale):
    read_scale(root / f"workflow/scales/{scale}.yaml")


def test_quick_and_smoke_are_prefixes_of_paper(root):
    """Same seed and fewer replications: the rows of a small scale are rows of the large one."""
    scales = {s: read_scale(root / f"workflow/scales/{s}.yaml") for s in SCALES}
    assert len({s.seed for s in scales.values()}) == 1
    for paper, sizes in scales["paper"].papers.items():
        for name, size in sizes.items():
            quick = scales["quick"].papers[paper][name].replications
            assert scales["smoke"].papers[paper][name].replications <= quick
            assert size.replications / 40 <= quick <= size.replications / 10


def test_shards_are_full():
    assert Size(replications=300, per_shard=50).shards == 6
    with pytest.raises(ValueError, match="multiple of per_shard"):
        Size(replications=300, per_shard=70)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("example1:", "exampel1:", "papers.baics.exampel1: unknown"),
        ("baics:", "biacs:", "papers.baics."),
        ("per_shard: 150", "per_shard: 140", "must be a multiple of per_shard"),
        ("seed: 2023", "sede: 2023", "sede: unknown field"),
    ],
)
def test_bad_scales(root, tmp_path, old, new, said):
    text = (root / "workflow/scales/paper.yaml").read_text()
    assert old in text
    path = tmp_path / "paper.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as error:
        read_scale(path)
    assert str(path) in str(error.value)
    assert said in str(error.value)
