"""`heron claims`: every claim of the five papers, held with its verdict and its number."""

import ast
import json
from pathlib import Path

import pytest

from heron.base.errors import ConfigError
from heron.base.files import read_yaml
from heron.cli import main
from heron.results import CLAIMS
from heron_tools.reproduction.claims import Claim, Published, claims_table, f1_range, whole

# Each claim's number, by verdict, paper and name.
EXPECTED = [
    (paper, name, value, verdict)
    for verdict, papers in read_yaml(Path(__file__).with_name("claims.yaml")).items()
    for paper, numbers in papers.items()
    for name, value in numbers.items()
]


@pytest.fixture(scope="module")
def claims():
    return {(paper, claim.name): claim for paper in CLAIMS for claim in CLAIMS[paper]()}


@pytest.mark.parametrize(
    ("paper", "name", "value", "verdict"), EXPECTED, ids=[f"{p}-{n}" for p, n, *_ in EXPECTED]
)
def test_a_claim_has_its_verdict_and_its_number(claims, paper, name, value, verdict):
    claim = claims[paper, name]
    assert claim.verdict == verdict
    assert claim.value == (value if value is None else pytest.approx(value, rel=1e-3, abs=1e-6))
    assert claim.calculation
    assert claim.where


def test_no_claim_is_left_out_and_names_are_unique(claims):
    assert set(claims) == {(paper, name) for paper, name, *_ in EXPECTED}
    for paper in CLAIMS:
        names = [claim.name for claim in CLAIMS[paper]()]
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("paper", "name", "parts"),
    [
        ("lchaim", "test-size", ["23 of 24"]),
        ("lchaim", "table4-classes-longhero-hebnli", ["= 78.84%", "= 73.39%"]),
        ("lchaim", "table4-classes-longhero-nothing", ["= 48.99%"]),
        ("lchaim", "table4-f1-longhero-lchaim", ["31.77%", "plain mean: 31.46%"]),
        ("lchaim", "human-hebrew-rows", ["47/54, 52/66, 64/73"]),
        ("ronli", "label-agreement", ["0.624, 0.801, 0.613", "0.776, 0.877, 0.754"]),
        ("ronli", "equal-steps", ["4,190 steps", "4,200 of 256", "1,300 of 512", "2,500 of 256"]),
        ("trc", "relaxed-agreement", ["0.791, 0.687, 0.889"]),
        ("trc", "recoded-agreement", ["0.845, 0.771, 0.913"]),
        ("trc", "windows", ["3,998 samples, 1,073 with two labels"]),
    ],
)
def test_a_calculation_shows_every_number_that_it_rests_on(claims, paper, name, parts):
    for part in parts:
        assert part in claims[paper, name].calculation


def test_every_verdict_is_computed():
    files = sorted(Path(__file__).parents[4].glob("experiments/*/claims.py"))
    assert len(files) == 5
    calls = [
        (path, node)
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Claim"
    ]
    assert len(calls) > 50
    constants = [
        f"{path}:{node.lineno}"
        for path, node in calls
        if isinstance(node.args[5], ast.Constant) and isinstance(node.args[5].value, bool)
    ]
    assert not constants


def test_a_printed_share_is_a_whole_number_of_rows_rounded_or_cut():
    assert whole(0.3938, 805, 4)  # 317 / 805 = .39379, rounded
    assert whole(0.6819, 327, 4)  # 223 / 327 = .68196, cut
    assert not whole(0.4045, 805, 4)  # between 325 / 805 = .4037 and 326 / 805 = .4050


def test_rounded_precision_and_recall_bound_the_f1():
    low, high = f1_range(0.34, 0.43, 0.005)
    assert (low, high) == pytest.approx((0.3747, 0.3848), abs=1e-4)
    # One of 74 rows: its recall is .0135, not .005 to .015.
    low, high = f1_range(0.07, 0.01, 0.005, rows=74)
    assert (low, high) == pytest.approx((0.0224, 0.0229), abs=1e-4)
    low, high = f1_range(0.21, 0.10, 0.005, rows=74)
    assert low > high  # 7 of 74 is .09, 8 is .11
    assert f1_range(0.0, 0.0, 0.005)[0] == 0


def test_corrected_numbers_are_read_unless_the_printed_ones_are_asked_for():
    published = Published("trc")
    assert published("table2", "BEFORE", "share") == 0.43
    assert published("table2", "BEFORE", "share", printed=True) == 0.42
    with pytest.raises(ConfigError, match="nobody"):
        Published("nobody")


def test_the_title_counts_what_does_not_hold():
    values = {"a": 10_000.0, "b": None, "c": 0.97672}
    claims = [Claim(name, "s", "p", value, "c", name != "b") for name, value in values.items()]
    table = claims_table("x", claims)
    assert table.title == "x: 3 claims, 1 do not hold"
    assert [row[4] for row in table.rows] == ["holds", "does not hold", "holds"]
    assert [row[3] for row in table.rows] == ["10,000", None, "0.9767"]


def test_the_command_writes_what_it_prints(tmp_path, capsys):
    assert main(["claims", "parashoot", "only=failed", f"out={tmp_path}"]) == 0
    printed = capsys.readouterr().out
    assert "ceiling" in printed
    assert "discarded" not in printed
    stored = json.loads((tmp_path / "claims.json").read_text("utf-8"))["parashoot"]
    failed = []
    for paper, name, _, verdict in EXPECTED:
        if (paper, verdict) == ("parashoot", "does not hold"):
            failed.append(name)
    assert [claim["name"] for claim in stored] == failed
    assert "0.8714" in (tmp_path / "claims.md").read_text("utf-8")
