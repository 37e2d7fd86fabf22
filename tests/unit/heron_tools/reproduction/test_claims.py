"""`heron claims`: every claim of the five papers, held with its verdict and its number."""

import ast
import json
from pathlib import Path

import pytest

from heron.base.errors import ConfigError
from heron.cli import main
from heron.results import CLAIMS
from heron_tools.reproduction.claims import Claim, Published, claims_table, f1_range, whole

# What does not hold: the number that the calculation gives, None where it gives none.
FAILED = {
    "hesum": {
        "compression-formula": 0.02331,
        "compression-xsum": 0.005,
        "most-abstractive": 1.0,
        "novel-words": 0.42,
        "shortest-summary": 1.0,
        "correlation": 0.02915,
        "best-languages": 0.1708,
        "languages-combinations": 7.0,
        "used-languages": 0.128,
        "mlongt5-validation": 0.0115,
    },
    "lchaim": {
        "total": 8365.0,
        "same-split": 8323.0,
        "test-size": 805.0,
        "translation-culture": 0.755,
        "unique-texts": 4.318,
        "table4-accuracy-alephbert-nothing": 0.5368,
        "table4-f1-alephbert-nothing": 0.5313,
        "table4-classes-alephbert-nothing": 0.004976,
        "table4-classes-alephbert-lchaim+hebnli": 0.0005162,
        "table4-classes-longhero-nothing": 0.01005,
        "table4-accuracy-longhero-hebnli": 0.7308,
        "table4-f1-longhero-hebnli": 0.7337,
        "table4-classes-longhero-hebnli": 0.03575,
        "table4-accuracy-longhero-lchaim": 0.3698,
        "table4-f1-longhero-lchaim": 0.3177,
        "table4-classes-longhero-lchaim": 0.01125,
        "table4-f1-longhero-lchaim+hebnli": 0.8394,
        "table2-neutral-r": 0.01271,
        "table2-neutral-f1": 0.02419,
        "table4-neutral-r": 0.03297,
        "table4-neutral-f1": 0.0604,
        "human-english": 0.9121,
        "human-english-f1": 0.9348,
        "human-english-classes": 0.004883,
        "human-hebrew-rows": 193.0,
        "human-hebrew": 0.8446,
        "alephbert-hebnli-f1": -0.0052,
        "alephbert-lchaim-f1": -0.0355,
        "longhero-hebnli-accuracy": -0.0298,
        "longhero-hebnli-f1": -0.0882,
        "longhero-all-f1": 0.1846,
        "people-over-longhero-f1": 0.3206,
        "hebnli-gain-alephbert": 0.2523,
        "sequential-gain": 0.0941,
        "below-human": 0.328,
        "relative-gain": 0.5109,
        "hebnli-range": 0.3158,
        "all-is-one-system": None,
        "model-gap": 0.2485,
        "few-shot-dicta": 0.0298,
        "shots-dictalm-2.0-7b": 6.0,
        "shots-gpt-4o": 2.0,
    },
    "parashoot": {
        "ceiling": 0.8714,
        "question-words": 0.8733,
    },
    "ronli": {
        "total-validation": 3058.0,
        "group-ambiguous": 19290.0,
        "equation-1": 1.05,
        "equation-1-code": -8.03,
        "half-of-the-steps": 0.0,
        "equal-steps": 4190.0,
        "classes-ro-bert": 0.009499,
        "classes-ro-bert-spurious": 0.007099,
        "classes-ro-bert-oversampled": 0.01152,
        "classes-ro-bert-e2l-a": 0.01039,
        "classes-ro-bert-length-cl": 0.01548,
        "classes-ro-bert-sts-cl": 0.009792,
        "macro-rogpt2": 0.35,
        "macro-fine-tuned-multilingual-bert": 0.255,
        "macro-ro-bert-a": 0.425,
        "macro-ro-bert-sts-cl": 0.555,
        "length-cl-below-base": 0.73,
        "label-agreement": 0.7756,
        "zero-shot": 2849.0,
    },
    "trc": {
        "share-before": 0.4259,
        "best-encoder-relaxed": 0.67,
        "best-encoder-strict": 0.5,
        "relaxed-agreement": 0.791,
        "relaxed-score": 0.03882,
        "windows": 420.0,
        "second-round": 1323.0,
        "matres-shares": 0.5072,
        "less-vague-than-matres": 0.1211,
    },
}
# What holds, in the same way.
HOLDS = {
    "hesum": {
        "rows": 10000.0,
        "less-than-5-percent": 0.0483,
        "novel-bigrams": 0.732,
        "error-shares": 0.1333,
        "rouge-against-people": 0.0378,
    },
    "lchaim": {
        "translation-accuracy": 0.8558,
        "translation-fluency": 0.8254,
        "table2-accuracy-alephbert-nothing": 0.395,
        "table2-f1-alephbert-nothing": 0.3595,
        "table2-classes-alephbert-nothing": 3.236e-05,
        "table2-accuracy-alephbert-hebnli": 0.3751,
        "table2-f1-alephbert-hebnli": 0.3543,
        "table2-classes-alephbert-hebnli": 8.142e-06,
        "table2-accuracy-alephbert-lchaim": 0.3838,
        "table2-f1-alephbert-lchaim": 0.3239,
        "table2-classes-alephbert-lchaim": 2.912e-05,
        "table2-accuracy-alephbert-hebnli+lchaim": 0.426,
        "table2-f1-alephbert-hebnli+lchaim": 0.4132,
        "table2-classes-alephbert-hebnli+lchaim": 5.795e-05,
        "table2-accuracy-longhero-nothing": 0.3453,
        "table2-f1-longhero-nothing": 0.3374,
        "table2-classes-longhero-nothing": 7.989e-05,
        "table2-accuracy-longhero-hebnli": 0.3155,
        "table2-f1-longhero-hebnli": 0.2492,
        "table2-classes-longhero-hebnli": 5.649e-05,
        "table2-accuracy-longhero-lchaim": 0.4149,
        "table2-f1-longhero-lchaim": 0.3468,
        "table2-classes-longhero-lchaim": 9.094e-05,
        "table2-accuracy-longhero-hebnli+lchaim": 0.5218,
        "table2-f1-longhero-hebnli+lchaim": 0.522,
        "table2-classes-longhero-hebnli+lchaim": 9.226e-05,
        "table4-accuracy-alephbert-hebnli": 0.7873,
        "table4-f1-alephbert-hebnli": 0.7868,
        "table4-classes-alephbert-hebnli": 4.17e-05,
        "table4-accuracy-alephbert-lchaim": 0.3642,
        "table4-f1-alephbert-lchaim": 0.3102,
        "table4-classes-alephbert-lchaim": 5.802e-05,
        "table4-accuracy-alephbert-lchaim+hebnli": 0.7827,
        "table4-f1-alephbert-lchaim+hebnli": 0.7822,
        "table4-accuracy-longhero-nothing": 0.4717,
        "table4-f1-longhero-nothing": 0.4674,
        "table4-accuracy-longhero-lchaim+hebnli": 0.8393,
        "table4-classes-longhero-lchaim+hebnli": 5.932e-05,
        "human-hebrew-f1": 0.8426,
        "alephbert-hebnli-accuracy": -0.0199,
        "alephbert-lchaim-accuracy": -0.0112,
        "alephbert-all-accuracy": 0.031,
        "alephbert-all-f1": 0.0538,
        "longhero-lchaim-accuracy": 0.0696,
        "longhero-lchaim-f1": 0.0094,
        "longhero-all-accuracy": 0.1764,
        "people-over-longhero-accuracy": 0.328,
        "hebnli-gain-longhero": 0.2735,
        "lchaim-loss-alephbert": -0.1708,
        "lchaim-loss-longhero": -0.0987,
        "hebnli-over-lchaim": 0.3176,
        "few-shot-gemma": -0.005,
        "shots-gemma-9b": 7.0,
    },
    "parashoot": {
        "total-articles": 493.0,
        "total-paragraphs": 947.0,
        "total-questions": 3038.0,
        "discarded": 3038.0,
        "best-f1": 0.5714,
        "question-words-of-validation": 8.0,
        "overlap-types": 1.0,
        "what-and-which": 0.3213,
        "how-and-why": 0.1131,
        "zero-overlap": 0.4595,
    },
    "ronli": {
        "total-train": 58110.0,
        "total-test": 3000.0,
        "pairs": 64170.0,
        "group-easy": 19290.0,
        "group-hard": 19290.0,
        "groups-overlap": 967.0,
        "equation-1-swapped": 0.95,
        "classes-cbow-svm": 0.0,
        "classes-cbow-softmax": 0.0,
        "classes-rogpt2": 0.0,
        "classes-chatgpt-3.5-turbo": 0.0,
        "classes-zero-shot-multilingual-bert": 0.0,
        "classes-fine-tuned-multilingual-bert": 0.0,
        "classes-ro-bert-e2l": 0.0,
        "classes-ro-bert-a": 0.0,
        "classes-ro-bert-h2l": 0.0,
        "classes-ro-bert-cart-cl": 0.0,
        "classes-ro-bert-cart-clpp": 0.0,
        "classes-ro-bert-cart-stra-clpp": 0.0,
        "micro-cbow-svm": 0.6312,
        "macro-cbow-svm": 0.455,
        "micro-cbow-softmax": 0.6655,
        "macro-cbow-softmax": 0.365,
        "micro-rogpt2": 0.6953,
        "micro-chatgpt-3.5-turbo": 0.5703,
        "macro-chatgpt-3.5-turbo": 0.4,
        "micro-zero-shot-multilingual-bert": 0.08021,
        "macro-zero-shot-multilingual-bert": 0.0825,
        "micro-fine-tuned-multilingual-bert": 0.5015,
        "micro-ro-bert": 0.7239,
        "macro-ro-bert": 0.3675,
        "micro-ro-bert-spurious": 0.6887,
        "macro-ro-bert-spurious": 0.35,
        "micro-ro-bert-oversampled": 0.7225,
        "macro-ro-bert-oversampled": 0.555,
        "micro-ro-bert-e2l": 0.65,
        "macro-ro-bert-e2l": 0.31,
        "micro-ro-bert-a": 0.7308,
        "micro-ro-bert-h2l": 0.3142,
        "macro-ro-bert-h2l": 0.12,
        "micro-ro-bert-e2l-a": 0.7255,
        "macro-ro-bert-e2l-a": 0.4325,
        "micro-ro-bert-length-cl": 0.7263,
        "macro-ro-bert-length-cl": 0.535,
        "micro-ro-bert-sts-cl": 0.7384,
        "micro-ro-bert-cart-cl": 0.6985,
        "macro-ro-bert-cart-cl": 0.5,
        "micro-ro-bert-cart-clpp": 0.7361,
        "macro-ro-bert-cart-clpp": 0.5675,
        "micro-ro-bert-cart-stra-clpp": 0.747,
        "macro-ro-bert-cart-stra-clpp": 0.59,
        "gain": 0.03,
        "spurious-drop": 0.03,
    },
    "trc": {
        "total": 7260.0,
        "share-after": 0.327,
        "share-equal": 0.08512,
        "share-vague": 0.162,
        "agreement": 0.6151,
        "recoded-agreement": 0.8448,
        "labelled-twice": 0.5507,
    },
}
# What the published numbers cannot decide.
OPEN = {("hesum", "compression"): 0.9767, ("lchaim", "similarity-filter"): 8222.0}
EXPECTED = [
    *((paper, name, value, False) for paper, of in FAILED.items() for name, value in of.items()),
    *((paper, name, value, True) for paper, of in HOLDS.items() for name, value in of.items()),
    *((*key, value, None) for key, value in OPEN.items()),
]


@pytest.fixture(scope="module")
def found():
    return {(paper, each.name): each for paper in CLAIMS for each in CLAIMS[paper]()}


@pytest.mark.parametrize(
    ("paper", "name", "value", "holds"), EXPECTED, ids=[f"{p}-{n}" for p, n, *_ in EXPECTED]
)
def test_a_claim_has_its_verdict_and_its_number(found, paper, name, value, holds):
    claim = found[paper, name]
    assert claim.holds is holds
    assert claim.value == (value if value is None else pytest.approx(value, rel=1e-3, abs=1e-6))
    assert claim.calculation
    assert claim.where


def test_no_claim_is_left_out_and_names_are_unique(found):
    assert set(found) == {(paper, name) for paper, name, *_ in EXPECTED}
    for paper in CLAIMS:
        names = [each.name for each in CLAIMS[paper]()]
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
def test_a_calculation_shows_every_number_that_it_rests_on(found, paper, name, parts):
    for part in parts:
        assert part in found[paper, name].calculation


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
    fixed = [
        f"{path}:{node.lineno}"
        for path, node in calls
        if isinstance(node.args[5], ast.Constant) and isinstance(node.args[5].value, bool)
    ]
    assert not fixed


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
    numbers = Published("trc")
    assert numbers("table2", "BEFORE", "share") == 0.43
    assert numbers("table2", "BEFORE", "share", printed=True) == 0.42
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
    assert [each["name"] for each in stored] == list(FAILED["parashoot"])
    assert "0.8714" in (tmp_path / "claims.md").read_text("utf-8")
