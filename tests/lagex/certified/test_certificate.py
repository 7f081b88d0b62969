"""Certificates: what passes the independent check, and that nothing that was changed does."""

import ast
import hashlib
import inspect
import itertools
import json
import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest

from bestarm.common import exact
from bestarm.lagex import Certified, check
from bestarm.lagex.certified.pieces import MOST_PIECES
from bestarm.lagex.certified.runs import MOST_SETS
from bestarm.lagex.problem import imdb, setup1
from command_line import bestarm
from lagex.certified.confidence_sets import played

PROBLEM = setup1(0.5).problem


def made(problem=PROBLEM, r=0.3, **options) -> dict:
    """A certificate."""
    s = Certified(problem.means.size, options.pop("limits", problem.limits), r=r, **options)
    return json.loads(played(s, problem).certificate())


@pytest.fixture(scope="module")
def certificate():
    return made()


@pytest.fixture(scope="module")
def infeasible():
    return made(limits=[0.5, -0.2])


def first_refused(data: dict) -> str:
    """The first line that fails; "" if all hold, "error" for data of another kind."""
    try:
        return next((said for said, holds in check.lines(data) if not holds), "")
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return "error"


def signed(data: dict, **fields) -> dict:
    """With other fields, and the hash that fits them."""
    data = {name: one for name, one in (data | fields).items() if name != "sha256"}
    text = json.dumps(data, sort_keys=True)
    return data | {"sha256": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.parametrize("r", [1.0, 0.3, 0.1])
@pytest.mark.parametrize("eps", [0.0, 0.05])
def test_certificates_hold(r, eps):
    data = made(r=r, eps=eps)
    assert first_refused(data) == ""
    assert len(data["margins"]) == len(PROBLEM.limits) + 1
    assert min(data["margins"]) >= 0.0


def test_a_certificate_of_many_pieces_holds():
    data = made(imdb().problem, r=0.3)
    assert data["splits"].count(None) > 5
    assert first_refused(data) == ""


def test_that_no_policy_is_feasible_is_certified(infeasible):
    assert infeasible["policy"] is None
    assert infeasible["margins"] == []
    assert first_refused(infeasible) == ""


#: Field, what is done to it, and the line that refuses it, with the old hash and with a new one.
TAMPERED = [
    ("paper", lambda x: "baics", "fields: form of paper", "fields: form of paper"),
    ("strategy", lambda x: "LAGEX", "fields: form of strategy", "fields: form of strategy"),
    ("version", lambda x: 3, "fields: form of version", "fields: form of version"),
    ("version", lambda x: 2.0, "fields: form of version", "fields: form of version"),
    ("arms", lambda x: [x[1], x[0], *x[2:]], "sha256", ""),
    ("arms", lambda x: [x[1], *x[1:]], "fields: form of arms", "fields: form of arms"),
    ("costs", lambda x: x[:1], "fields: form of costs", "fields: form of costs"),
    ("policy", lambda x: [x[0] + 0.25, *x[1:]], "weights", "weights"),
    ("policy", lambda x: [x[0] + x[2], x[1], 0.0, *x[3:]], "limit 1", "limit 1"),
    ("policy", lambda x: [0.125] * 5 + [0.375], "no better policy", "no better policy"),
    ("policy", lambda x: x[:-1], "fields: form of policy", "fields: form of policy"),
    ("policy", lambda x: [True, *[0] * 5], "fields: form of policy", "fields: form of policy"),
    ("policy", lambda x: [-1.0, 2.0, *[0] * 4], "weights", "weights"),
    (
        "policy",
        lambda x: None,
        "fields: form of margins",
        "fields: form of margins",
    ),
    ("margins", lambda x: [x[0] + 1e-4, *x[1:]], "margins", "margins"),
    ("margins", lambda x: x[:-1], "fields: form of margins", "fields: form of margins"),
    ("margins", lambda x: [math.inf, *x[1:]], "fields: form of margins", "fields: form of margins"),
    ("delta", lambda x: 0.05, "limit 1", "limit 1"),
    ("delta", lambda x: 0.2, "margins", "margins"),
    ("delta", lambda x: 1.5, "ranges", "ranges"),
    ("delta", str, "fields: form of delta", "fields: form of delta"),
    ("delta", lambda x: math.nan, "fields: form of delta", "fields: form of delta"),
    ("r", lambda x: 0.29, "no better policy", "no better policy"),
    ("r", lambda x: 0.31, "margins", "margins"),
    ("eps", lambda x: -0.1, "ranges", "ranges"),
    ("eps", lambda x: 0.01, "margins", "margins"),
    ("n0", lambda x: 2.0 * x, "margins", "margins"),
    ("n0", lambda x: 1e9, "limit 1", "limit 1"),
    ("n0", lambda x: 0.0, "ranges", "ranges"),
    ("sigma", lambda x: [1.1] * 6, "no better policy", "no better policy"),
    ("sigma", lambda x: x[:5], "fields: form of sigma", "fields: form of sigma"),
    ("cost_sigma", lambda x: 1.1, "limit 1", "limit 1"),
    ("cost_sigma", lambda x: 0.9, "margins", "margins"),
    ("limits", lambda x: [x[0] - 0.01, x[1]], "limit 1", "limit 1"),
    ("limits", lambda x: x[:1], "fields: form of margins", "fields: form of margins"),
    ("pulls", lambda x: [x[0] // 2, *x[1:]], "limit 1", "limit 1"),
    ("pulls", lambda x: [x[0] + 0.5, *x[1:]], "fields: form of pulls", "fields: form of pulls"),
    ("pulls", lambda x: [0, *x[1:]], "ranges", "ranges"),
    ("reward_sums", lambda x: [x[0] + 300.0, *x[1:]], "no better policy", "no better policy"),
    ("reward_sums", lambda x: [*x[:4], x[4] + 1e-3, x[5]], "sha256", ""),
    ("cost_sums", lambda x: [[x[0][0] + 30.0, *x[0][1:]], x[1]], "limit 1", "limit 1"),
    ("cost_sums", lambda x: x[:1], "fields: form of cost_sums", "fields: form of cost_sums"),
    (
        "cost_sums",
        lambda x: [x[0], x[1:]],
        "fields: form of cost_sums",
        "fields: form of cost_sums",
    ),
    ("splits", lambda x: [None], "no better policy", "no better policy"),
    ("splits", lambda x: x[:-1], "pieces", "pieces"),
    ("splits", lambda x: [*x, None], "pieces", "pieces"),
    ("splits", lambda x: [*x, [0, 1, 0.5]], "pieces", "pieces"),
    (
        "splits",
        lambda x: [[[0, 1, 2], [1, 2, 0], 0.5], *x, *x],
        "fields: form of splits",
        "fields: form of splits",
    ),
    ("splits", lambda x: [[1, 1, 0.5], *x, *x], "fields: form of splits", "fields: form of splits"),
    (
        "splits",
        lambda x: [[-1, 1, 0.5], *x, *x],
        "fields: form of splits",
        "fields: form of splits",
    ),
    ("splits", lambda x: [[0, 6, 0.5], *x, *x], "fields: form of splits", "fields: form of splits"),
    (
        "splits",
        lambda x: [[False, 1, 0.5], *x, *x],
        "fields: form of splits",
        "fields: form of splits",
    ),
    (
        "splits",
        lambda x: [[0.0, 1, 0.5], *x, *x],
        "fields: form of splits",
        "fields: form of splits",
    ),
    ("splits", lambda x: [[0, 1, 1.5], *x, *x], "fields: form of splits", "fields: form of splits"),
    (
        "splits",
        lambda x: [[0, 1, 0.5, 0.5], *x, *x],
        "fields: form of splits",
        "fields: form of splits",
    ),
    ("splits", lambda x: [[0, 1, 0.5]] * 100 + [None] * 101, "size", "size"),
    ("sha256", lambda x: [x], "fields: form of sha256", None),
    ("sha256", lambda x: x[::-1], "sha256", None),
]


@pytest.mark.parametrize(("field", "change", "refused", "signed_refused"), TAMPERED)
def test_a_changed_field_is_refused_by_the_first_line_that_fails(
    certificate, field, change, refused, signed_refused
):
    """Even if the hash is made to fit, unless what is claimed stays true of the changed data."""
    changed = certificate | {field: change(certificate[field])}
    assert first_refused(changed) == refused
    if signed_refused is not None:
        assert first_refused(signed(changed)) == signed_refused


def test_every_field_is_among_those_changed(certificate):
    assert {field for field, *_ in TAMPERED} == set(certificate)
    for field in certificate:
        without = {name: one for name, one in certificate.items() if name != field}
        assert first_refused(signed(without) if "sha256" in without else without) == (
            f"fields: missing or unknown: {field!r}"
        )
    assert first_refused(signed(certificate, more=1)) == "fields: missing or unknown: 'more'"


#: Of a run of the code that wrote no names.
VERSION_1 = """
{"paper": "lagex", "strategy": "Certified", "policy": [0.28812820836901665, 0.6217776201665401,
0.0900941714644432], "margins": [0.00014419833775702884, 0.022273622667447146], "delta": 0.3,
"r": 2.5, "eps": 0.0, "n0": 1.0, "sigma": [1.0, 0.5, 0.8], "cost_sigma": 0.7, "limits": [0.6],
"pulls": [37, 54, 10], "reward_sums": [111.0, 0.0, 15.0], "cost_sums": [[37.0, 0.0, 5.0]],
"splits": [null], "sha256": "98e160c34c9744251586514549d45d7e5daacb90ea042a843356462ce794ade8"}
"""


def test_a_file_of_version_1_holds_and_its_arms_are_counted():
    data = json.loads(VERSION_1)
    assert first_refused(data) == ""
    assert "37 of 'arm 0', 54 of 'arm 1', 10 of 'arm 2'" in check.claim(data)


def test_lists_of_indices_do_not_shrink_the_cover():
    """Arms worth 0, 10 and 5, r = 2: the policy is short by 5.6. Then arm 1 alone is feasible."""
    root, leaf = [[0, 1, 2], [1, 2, 0], 0.5], None
    splits: list = leaf
    for _ in range(8):
        splits = [root, leaf, splits]

    def listed(tree) -> list:
        return [leaf] if tree is leaf else [tree[0], *listed(tree[1]), *listed(tree[2])]

    data = json.loads(VERSION_1)
    data |= {"policy": [0.375, 0.25, 0.375], "margins": [0.9, 1.3], "delta": 0.01, "r": 2.0}
    data |= {"sigma": [1.0] * 3, "cost_sigma": 1.0, "limits": [1.0], "n0": 10.0}
    data |= {"pulls": [2000] * 3, "reward_sums": [0.0, 20000.0, 10000.0]}
    data |= {"cost_sums": [[0.0] * 3], "splits": listed(splits)}
    assert first_refused(signed(data)) == "fields: form of splits"
    costs = {"cost_sums": [[4000.0, 0.0, 4000.0]], "policy": None, "margins": []}
    assert first_refused(signed(data, **costs)) == "fields: form of splits"


def test_the_claim_names_all_that_is_certified_in_one_line(infeasible):
    s = Certified(["a", "b\nok      limits", "c"], {"price": 0.6}, r=0.5, eps=0.25, delta=0.05)
    while not s.done:
        for arm, n in s.wanted.items():
            a = "abc".index(arm[0])
            s.tell(arm, n * [3.0, 0.0, 1.5][a], n * [1.0, 0.0, 0.5][a], pulls=n)
    data = json.loads(s.certificate())
    assert first_refused(data) == ""
    said = check.claim(data)
    assert said.isprintable()
    for words in (
        *(f"{share!r} of {arm!r}" for share, arm in zip(data["policy"], data["arms"], strict=True)),
        *(f"{n!r} of {arm!r}" for n, arm in zip(data["pulls"], data["arms"], strict=True)),
        *("'price' at most 0.6", "eps = 0.25", "r = 0.5", "delta = 0.05", "sigma 1.0 of 'a'"),
        *("cost_sigma = 1.0", f"n0 = {data['n0']!r}"),
    ):
        assert words in said
    assert check.claim(infeasible).startswith("no policy keeps mean costs of 'cost 1' at most 0.5")


@pytest.mark.parametrize("power", [-40, 40])
def test_margins_are_tested_in_any_unit(certificate, power):
    """What was told and the arguments times a power of two: the same verdicts, scaled margins."""
    unit = 2.0**power
    scaled = ("r", "eps", "cost_sigma", "sigma", "limits", "reward_sums", "cost_sums", "margins")
    data = {name: (np.array(certificate[name]) * unit).tolist() for name in scaled}
    assert first_refused(signed(certificate, **data)) == ""
    off = [data["margins"][0] + 1e-4 * unit, *data["margins"][1:]]
    assert first_refused(signed(certificate, **data | {"margins": off})) == "margins"


def test_no_certificate_has_more_pieces_than_are_checked():
    assert check.MOST_PIECES == MOST_PIECES
    assert check.MOST_SETS == MOST_SETS


def test_a_policy_cannot_be_put_into_a_proof_that_there_is_none(infeasible):
    policy = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert first_refused(signed(infeasible, policy=policy, margins=[1.0] * 3)) == "limit 2"


def test_a_policy_cannot_be_left_out_of_a_proof_that_there_is_one(certificate):
    assert first_refused(signed(certificate, policy=None, margins=[])) == "no feasible policy"


def test_a_share_that_leaves_out_a_part_of_the_simplex_is_no_proof(certificate):
    """A share of 1 leaves a whole piece as it was, and one of 2 is none."""
    for share, refused in ((1.0, "no better policy"), (2.0, "fields: form of splits")):
        splits = [[*split[:2], share] if split else None for split in certificate["splits"]]
        assert first_refused(signed(certificate, splits=splits)) == refused


def test_vertices_are_those_of_the_exact_polytope():
    """In two dimensions, where the rounding outwards is below any float."""
    rows, u = check.exact([[0.5, -0.25, 0.125]]), check.exact([0.0, 0.0, 0.0])
    found = [tuple(map(float, pi)) for pi in check.vertices(check.exact(np.eye(3)), rows, u)]
    wanted = {(0.0, 1.0, 0.0), (1 / 3, 2 / 3, 0.0), (0.0, 1 / 3, 2 / 3)}
    assert {tuple(np.round(pi, 12)) for pi in found} == {tuple(np.round(pi, 12)) for pi in wanted}


def test_systems_of_equations_are_solved_exactly():
    for entries in itertools.product((-2, 0, 3), repeat=6):
        system = np.array(entries, object).reshape(2, 3)
        a, b, x, c, d, y = entries
        determinant = a * d - b * c
        found = check.solved(system)
        if determinant == 0:
            assert found is None
        else:
            wanted = [Fraction(x * d - b * y, determinant), Fraction(a * y - x * c, determinant)]
            assert found.tolist() == wanted


def test_logarithms_are_rounded_up():
    getcontext().prec = 80
    for x in (Fraction(3, 10), Fraction(31), Fraction(10**9 + 7, 3)):
        exact = (Decimal(x.numerator) / Decimal(x.denominator)).ln()
        above = check.ln_up(x) - Fraction(exact)
        assert 0 < above < Fraction(1, 10**40)


def test_the_check_is_independent_and_short():
    """Of the package only exact arithmetic, and fewer than 150 lines of code."""
    source = inspect.getsource(check)
    tree = ast.parse(source)
    modules = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = [getattr(n, "module", None) or n.names[0].name for n in modules]
    assert [name for name in names if name.startswith("bestarm")] == ["bestarm.common.exact"]
    assert "bestarm" not in inspect.getsource(exact)
    documented = [n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.FunctionDef)]
    first = [n.body[0] for n in documented if ast.get_docstring(n)]
    words = {line for n in first for line in range(n.lineno, n.end_lineno + 1)}
    lines = enumerate(source.splitlines(), 1)
    code = [text for number, text in lines if number not in words and text.strip()]
    assert sum(not text.lstrip().startswith("#") for text in code) < 150


def test_nothing_is_certified_before_the_end():
    s = Certified(3, [0.5])
    with pytest.raises(RuntimeError, match="nothing is certified yet"):
        s.certificate()


def test_the_command_prints_every_line_and_exits_with_1_if_one_fails(certificate, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate))
    passed = bestarm("check", path)
    assert passed.code == 0
    first, *others = passed.out.splitlines()
    assert first == f"claim   {check.claim(certificate)}"
    assert [line.split()[0] for line in others] == ["ok"] * 10
    path.write_text(json.dumps(certificate | {"r": 0.29}))
    failed = bestarm("check", path)
    assert failed.code == 1
    assert failed.out.splitlines()[-1].split(maxsplit=1) == ["REFUSED", "no better policy"]
    path.write_text(json.dumps(certificate | {"pulls": "many"}))
    failed = bestarm("check", path)
    assert failed.code == 1
    assert failed.out == "REFUSED fields: form of pulls\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "paper: is required, one of baics, lagex"),
        ('{"paper": "cbmai"}', "paper: is required, one of baics, lagex"),
        (json.dumps({"paper": "lagex", "r": math.inf}), "is not JSON (Infinity is not a number)"),
        ('{"paper": "lagex", "r": 1, "r": 2}', "is not JSON (a key is repeated)"),
    ],
)
def test_what_is_no_certificate_is_one_line(text, said, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(text)
    failed = bestarm("check", path)
    assert failed.code == 2
    assert failed.err.startswith(f"error: {path}: {said}")
    assert failed.err.count("\n") == 1
