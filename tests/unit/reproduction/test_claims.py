"""`heron claims`: every claim of the five papers, held with its verdict and its number."""

import json

import pytest

from heron.base.errors import ConfigError
from heron.cli import main
from heron.config.extensions import CLAIMS
from heron.reproduction.claims import Claim, Published, claims_table

# What does not hold: the number that the calculation gives, None where it gives none.
FAILED = {
    "hesum": {
        "compression-formula": 0.9548,
        "compression-xsum": 0.904,
        "novel-words": 0.42,
        "shortest-summary": None,
        "correlation": 0.02915,
        "best-languages": 0.1708,
        "languages-combinations": 7.0,
        "used-languages": 0.128,
        "mlongt5-validation": 0.1747,
    },
    "lchaim": {
        "total": 8365.0,
        "test-size": 805.0,
        "translation-culture": 0.755,
        "unique-texts": None,
        "human-english": 0.9121,
        "human-english-f1": 0.9348,
        "neutral-r": 0.0127,
        "neutral-f1": 0.0242,
        "table4-longhero-entailment": 0.7884,
        "table4-longhero-contradiction": 0.7339,
        "table4-longhero-probe": 0.4899,
        "table4-longhero-all": 0.8394,
        "below-human": 0.328,
        "relative-gain": 0.5109,
        "hebnli-gain-alephbert": 0.2523,
        "sequential-gain": 0.0941,
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
        "groups-are-apart": 3559.0,
        "equation-1": 1.05,
        "classes-cbow-softmax": 0.01039,
        "classes-zero-shot-multilingual-bert": 0.01101,
        "classes-ro-bert-spurious": 0.0125,
        "classes-ro-bert-oversampled": 0.01472,
        "classes-ro-bert-length-cl": 0.01974,
        "classes-ro-bert-sts-cl": 0.01442,
        "macro-rogpt2": 0.35,
        "macro-fine-tuned-multilingual-bert": 0.255,
        "macro-ro-bert-a": 0.425,
        "macro-ro-bert-sts-cl": 0.555,
        "length-cl-below-base": 0.73,
        "label-agreement": 0.62,
        "zero-shot": 0.08,
    },
    "trc": {
        "share-before": 0.4259,
        "best-encoder-relaxed": 0.67,
        "best-encoder-strict": 0.5,
        "relaxed-agreement": None,
        "relaxed-score": None,
        "windows": 0.2684,
        "matres-shares": 1.0,
    },
}
# What holds, in the same way.
HOLDS = {
    "hesum": {
        "rows": 10000.0,
        "novel-bigrams": 0.732,
        "rouge-against-people": 0.0378,
    },
    "lchaim": {
        "translation-accuracy": 0.8558,
        "translation-fluency": 0.8254,
        "table2-alephbert-nothing": 0.3595,
        "table2-alephbert-hebnli": 0.3543,
        "table2-alephbert-lchaim": 0.3239,
        "table2-alephbert-hebnli+lchaim": 0.4132,
        "table2-longhero-nothing": 0.3374,
        "table2-longhero-hebnli": 0.2492,
        "table2-longhero-lchaim": 0.3468,
        "table2-longhero-hebnli+lchaim": 0.522,
        "hebnli-gain-longhero": 0.2735,
        "hebnli-over-lchaim": 0.3176,
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
    },
    "ronli": {
        "total-train": 58110.0,
        "total-test": 3000.0,
        "pairs": 64170.0,
        "group-easy": 19290.0,
        "group-hard": 19290.0,
        "equation-1-swapped": 0.95,
        "classes-cbow-svm": 0.006667,
        "classes-rogpt2": 0.009407,
        "classes-chatgpt-3.5-turbo": 0.006154,
        "classes-fine-tuned-multilingual-bert": 0.005833,
        "classes-ro-bert": 0.006025,
        "classes-ro-bert-e2l": 0.007867,
        "classes-ro-bert-a": 0.003333,
        "classes-ro-bert-h2l": 0.007846,
        "classes-ro-bert-e2l-a": 0.006667,
        "classes-ro-bert-cart-cl": 0.005526,
        "classes-ro-bert-cart-clpp": 0.004255,
        "classes-ro-bert-cart-stra-clpp": 0.008738,
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
    },
    "trc": {
        "total": 7260.0,
        "share-after": 0.327,
        "share-equal": 0.08512,
        "share-vague": 0.162,
    },
}
# What the published numbers cannot decide.
OPEN = {("hesum", "compression"): 0.9767}
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
    assert claim.value == (value if value is None else pytest.approx(value, rel=1e-3))
    assert claim.calculation
    assert claim.where


def test_no_claim_is_left_out_and_names_are_unique(found):
    assert set(found) == {(paper, name) for paper, name, *_ in EXPECTED}
    for paper in CLAIMS:
        names = [each.name for each in CLAIMS[paper]()]
        assert len(names) == len(set(names))


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


def test_wrong_words_name_what_there_is(capsys):
    assert main(["claims", "ronly"]) == 2
    assert "ronli" in capsys.readouterr().err
    assert main(["claims", "only=fail"]) == 2
    assert "failed" in capsys.readouterr().err
