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

from bestarm.lagex import Certified, check
from bestarm.lagex.problem import imdb, setup1
from command_line import bestarm
from lagex.certified.evidences import played

MODEL = setup1(0.5).model


def made(model=MODEL, r=0.3, **options) -> dict:
    """A certificate."""
    s = Certified(model.means.size, options.pop("limits", model.limits), r=r, **options)
    return json.loads(played(s, model).certificate())


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
    assert len(data["margins"]) == len(MODEL.limits) + 1
    assert min(data["margins"]) >= 0.0


def test_a_certificate_of_many_pieces_holds():
    data = made(imdb().model, r=0.3)
    assert data["splits"].count(None) > 5
    assert first_refused(data) == ""


def test_that_no_policy_is_feasible_is_certified(infeasible):
    assert infeasible["policy"] is None
    assert infeasible["margins"] == []
    assert first_refused(infeasible) == ""


#: Field, what is done to it, and the line that refuses it, with the old hash and with a new one.
TAMPERED = [
    ("paper", lambda x: "baics", "sha256", ""),
    ("strategy", lambda x: "LAGEX", "sha256", ""),
    ("policy", lambda x: [x[0] + 0.25, *x[1:]], "weights", "weights"),
    ("policy", lambda x: [x[0] + x[2], x[1], 0.0, *x[3:]], "limit 1", "limit 1"),
    ("policy", lambda x: [0.125] * 5 + [0.375], "no better policy", "no better policy"),
    ("policy", lambda x: x[:-1], "weights", "weights"),
    (
        "policy",
        lambda x: None,
        "no feasible policy",
        "no feasible policy",
    ),
    ("margins", lambda x: [x[0] + 1e-4, *x[1:]], "margins", "margins"),
    ("margins", lambda x: x[:-1], "error", "error"),
    ("delta", lambda x: 0.05, "limit 1", "limit 1"),
    ("delta", lambda x: 0.2, "margins", "margins"),
    ("delta", lambda x: 1.5, "ranges", "ranges"),
    ("r", lambda x: 0.29, "no better policy", "no better policy"),
    ("r", lambda x: 0.31, "margins", "margins"),
    ("eps", lambda x: -0.1, "ranges", "ranges"),
    ("eps", lambda x: 0.01, "margins", "margins"),
    ("n0", lambda x: 2.0 * x, "margins", "margins"),
    ("n0", lambda x: 1e9, "limit 1", "limit 1"),
    ("n0", lambda x: 0.0, "ranges", "ranges"),
    ("sigma", lambda x: [1.1] * 6, "no better policy", "no better policy"),
    ("sigma", lambda x: x[:5], "shapes", "shapes"),
    ("cost_sigma", lambda x: 1.1, "limit 1", "limit 1"),
    ("cost_sigma", lambda x: 0.9, "margins", "margins"),
    ("limits", lambda x: [x[0] - 0.01, x[1]], "limit 1", "limit 1"),
    ("limits", lambda x: x[:1], "shapes", "shapes"),
    ("pulls", lambda x: [x[0] // 2, *x[1:]], "limit 1", "limit 1"),
    ("pulls", lambda x: [x[0] + 0.5, *x[1:]], "ranges", "ranges"),
    ("reward_sums", lambda x: [x[0] + 300.0, *x[1:]], "no better policy", "no better policy"),
    ("reward_sums", lambda x: [*x[:4], x[4] + 1e-3, x[5]], "sha256", ""),
    ("cost_sums", lambda x: [[x[0][0] + 30.0, *x[0][1:]], x[1]], "limit 1", "limit 1"),
    ("cost_sums", lambda x: x[:1], "shapes", "shapes"),
    ("splits", lambda x: [None], "no better policy", "no better policy"),
    ("splits", lambda x: x[:-1], "error", "error"),
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
        said = "sha256" if field in ("paper", "strategy") else "error"
        assert first_refused(without) == said
    assert first_refused(certificate | {"more": 1}) == "sha256"


def test_a_policy_cannot_be_put_into_a_proof_that_there_is_none(infeasible):
    policy = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert first_refused(signed(infeasible, policy=policy)) == "limit 2"


def test_a_share_that_leaves_out_a_part_of_the_simplex_is_no_proof(certificate):
    """Corners are mixtures: a share of 2 counts as 1, which leaves a whole piece as it was."""
    splits = [[*split[:2], 2.0] if split else None for split in certificate["splits"]]
    assert first_refused(signed(certificate, splits=splits)) == "no better policy"


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
    """No kernel of the package, and fewer than 80 lines of code."""
    source = inspect.getsource(check)
    tree = ast.parse(source)
    modules = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = [getattr(n, "module", None) or n.names[0].name for n in modules]
    assert not any(name.startswith("bestarm") for name in names)
    documented = [n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.FunctionDef)]
    first = [n.body[0] for n in documented if ast.get_docstring(n)]
    words = {line for n in first for line in range(n.lineno, n.end_lineno + 1)}
    lines = enumerate(source.splitlines(), 1)
    code = [text for number, text in lines if number not in words and text.strip()]
    assert sum(not text.lstrip().startswith("#") for text in code) < 80


def test_nothing_is_certified_before_the_end():
    s = Certified(3, [0.5])
    with pytest.raises(RuntimeError, match="nothing is certified yet"):
        s.certificate()


def test_the_command_prints_every_line_and_exits_with_1_if_one_fails(certificate, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate))
    passed = bestarm("check", path)
    assert passed.code == 0
    assert [line.split()[0] for line in passed.out.splitlines()] == ["ok"] * 9
    path.write_text(json.dumps(certificate | {"r": 0.29}))
    failed = bestarm("check", path)
    assert failed.code == 1
    assert failed.out.splitlines()[-1].split(maxsplit=1) == ["REFUSED", "no better policy"]
    path.write_text(json.dumps(certificate | {"pulls": "many"}))
    failed = bestarm("check", path)
    assert failed.code == 1
    assert failed.out.splitlines()[-1].startswith("REFUSED fields: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "paper: is required, one of lagex"),
        ('{"paper": "baics"}', "paper: is required, one of lagex"),
        (json.dumps({"paper": "lagex", "r": math.inf}), "is not JSON (Infinity is not a number)"),
    ],
)
def test_what_is_no_certificate_is_one_line(text, said, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(text)
    failed = bestarm("check", path)
    assert failed.code == 2
    assert failed.err.startswith(f"error: {path}: {said}")
    assert failed.err.count("\n") == 1
