"""`heron compare` on summaries: mean ROUGE, tested over articles, beside what copying reaches."""

from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from compared import by_label, run, write_compared
from heron.base.errors import DataError
from heron.base.run_folder import config_text
from heron.base.tables import write_table
from heron.data.config import DataConfig
from heron.languages.hebrew import HEBREW
from heron.languages.unicode import UnicodeOptions
from heron.metrics.significance import holm
from heron.metrics.summary import item_rouge
from heron.results import run_comparison
from heron.results.collect import collect
from heron.tasks.config import Config
from made_up_runs import changed

N = 60
GUIDS = [f"s{row}" for row in range(N)]
WORDS = ["הכנסת", "אישרה", "אתמול", "את", "התקציב", "לשנה", "הבאה", "שר", "האוצר", "הודיע"]
RANDOM = np.random.default_rng(3)
GOLDS = [" ".join(RANDOM.choice(WORDS, 8)) for _ in range(N)]
SKILLS = {"scratch": 0.1, "mt5": 0.15, "mlongt5": 0.6}
COPIED = {"lead3_rouge1": 0.25, "oracle_rouge1": 0.5, "lead3_rouge2": 0.125, "oracle_rouge2": 0.375}


def summarize(skill, seed):
    """Keep a share of each gold summary's words; the others are drawn."""
    random = np.random.default_rng(seed)
    return [
        " ".join(w if random.random() < skill else random.choice(WORDS) for w in gold.split())
        for gold in GOLDS
    ]


def texts_of(encoder, seed):
    return summarize(SKILLS[encoder], 10 * seed + list(SKILLS).index(encoder))


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    """A sweep of three encoders, three seeds each; `mlongt5` is far better than the others."""
    monkeypatch.chdir(tmp_path)
    for encoder in SKILLS:
        for seed in range(3):
            config = {"data": {"label_order": ["summary"]}, "trainer": {"monitor": "rouge1"}}
            config["task"] = {"name": "summarization", "resample": "row"}
            scores = {"validation": {"rouge1": [0.2, 0.4, 0.3][seed]}, "test": COPIED}
            table = {"guid": GUIDS, "gold": GOLDS, "prediction": texts_of(encoder, seed)}
            table |= {"group": [f"site{row // 3}" for row in range(N)]}
            write_compared(tmp_path, f"encoder={encoder}", seed, config, table, scores=scores)
    return "runs/sweep"


def overlap(prediction, gold):
    """ROUGE-1 by hand: words are alone here, so F is 2 shared / all."""
    first, second = prediction.split(), gold.split()
    shared = sum(min(first.count(word), second.count(word)) for word in set(first))
    return 2 * shared / (len(first) + len(second))


def test_summaries_are_compared_by_mean_rouge_1_as_counted_by_hand(sweep):
    written = run(sweep, "against=encoder=scratch")
    systems = by_label(written)
    by_hand = {
        encoder: np.array(
            [
                [overlap(*pair) for pair in zip(texts_of(encoder, seed), GOLDS, strict=True)]
                for seed in range(3)
            ]
        )
        for encoder in SKILLS
    }
    assert written["settings"]["metric"] == "rouge1"
    assert written["copied"] == {"lead3_rouge1": 0.25, "oracle_rouge1": 0.5}
    for encoder, values in by_hand.items():
        assert systems[f"encoder={encoder}"]["scores"] == pytest.approx(values.mean(1))
    found = systems["encoder=mlongt5"]["against"]
    difference = by_hand["mlongt5"].mean() - by_hand["scratch"].mean()
    assert found["bootstrap"]["difference"] == pytest.approx(difference)
    # A plain paired bootstrap: the same draws of rows for both, all seeds of a row together.
    gains = by_hand["mlongt5"].mean(0) - by_hand["scratch"].mean(0)
    draws = np.random.default_rng(0).choice(gains, (4000, N)).mean(1)
    low, high = np.quantile(draws, [0.025, 0.975])
    assert found["bootstrap"]["low"] == pytest.approx(low, abs=0.01)
    assert found["bootstrap"]["high"] == pytest.approx(high, abs=0.01)
    others = [systems[f"encoder={name}"]["against"] for name in ("mlongt5", "mt5")]
    raw = [other["randomization"]["p"] for other in others]
    assert [other["p_holm"] for other in others] == pytest.approx(holm(raw))
    assert [other["significant"] for other in others] == [True, False]
    assert (written["right"], written["cochran_q"]) == (None, None)


def test_files_of_any_system_stand_beside_runs_and_alone_say_their_language(sweep):
    for name, skill in (("mine", 0.9), ("other", 0.3)):
        columns = {"guid": GUIDS[::-1], "gold": GOLDS[::-1]}
        write_table(f"{name}.csv", {**columns, "prediction": summarize(skill, 5)[::-1]})
    expected = item_rouge(summarize(0.9, 5), GOLDS, HEBREW)["rouge1"].mean()
    beside = by_label(run(sweep, "mine.csv"))["mine"]
    assert beside["scores"] == pytest.approx([expected])
    alone = run("mine.csv", "other.csv", "task=summarization", "language=he")
    assert by_label(alone)["mine"]["scores"] == pytest.approx([expected])
    assert alone["copied"] == {}


def unread(text, row):
    """Spell a text as heron reads it no more: direction marks, a point that stands too early."""
    first, *rest = text.split()
    pointed = f"{first}\u05c1\u05b8" if row % 2 else first
    return f"\u200f{' '.join([pointed, *rest])}\u200f "


def read(text, row):
    first, *rest = text.split()
    return " ".join([f"{first}\u05b8\u05c1" if row % 2 else first, *rest])


@pytest.fixture
def pointed(sweep):
    """The sweep with Hebrew points in every second gold summary, in the order of NFC."""
    for path in Path(sweep).glob("*/predictions/test.parquet"):
        with changed(path) as columns:
            columns["gold"] = [read(gold, row) for row, gold in enumerate(GOLDS)]
    return sweep


def test_a_file_that_kept_unicode_variants_has_the_same_golds_and_loses_nothing_by_them(pointed):
    texts = summarize(0.9, 5)
    rows = range(N)
    spelt = {
        "read": ([read(GOLDS[row], row) for row in rows], [read(texts[row], row) for row in rows]),
        "kept": (
            [unread(GOLDS[row], row) for row in rows],
            [unread(texts[row], row) for row in rows],
        ),
    }
    for name, (golds, own) in spelt.items():
        write_table(f"{name}.csv", {"guid": GUIDS, "gold": golds, "prediction": own})
    expected = item_rouge(*spelt["read"][::-1], HEBREW)["rouge1"].mean()
    assert item_rouge(spelt["kept"][1], spelt["read"][0], HEBREW)["rouge1"].mean() < expected
    for order in ((pointed, "kept.csv", "read.csv"), ("kept.csv", pointed, "read.csv")):
        found = by_label(run(*order))
        assert found["kept"]["scores"] == found["read"]["scores"] == pytest.approx([expected])
    alone = by_label(run("kept.csv", "read.csv", "task=summarization", "language=he"))
    assert alone["kept"]["scores"] == alone["read"]["scores"] == pytest.approx([expected])


def reread(sweep, pattern, unicode):
    """Let runs have read their data otherwise."""
    for path in Path(sweep).glob(f"{pattern}/config.yaml"):
        config = OmegaConf.load(path)
        OmegaConf.update(config, "data.unicode", unicode, force_add=True)
        OmegaConf.save(config, path)


def test_golds_are_compared_as_the_runs_have_read_them(pointed):
    write_table("plain.csv", {"guid": GUIDS, "gold": GOLDS, "prediction": GOLDS})
    with pytest.raises(
        DataError, match=r"s1: gold is '.*' in .*Unicode variants that data.unicode"
    ):
        run(pointed, "plain.csv")
    reread(pointed, "*", {"niqqud": "strip"})
    written = run(pointed, "plain.csv")
    assert by_label(written)["plain"]["scores"] == [1.0]
    assert written["settings"]["unicode"]["niqqud"] == "strip"


def test_a_further_data_set_is_compared_as_it_was_read_itself(tmp_path):
    """As `compare` reads it of a run's split, whole configuration or not."""
    other = DataConfig(name="other", language="ro", unicode=UnicodeOptions(niqqud="strip"))
    config = Config(data=DataConfig(name="own", language="he"), others={"other": other})
    (tmp_path / "config.yaml").write_text(config_text(config), encoding="utf-8")
    for split, niqqud, language in (
        ("test", "keep", "he"),
        ("other.test", "strip", "ro"),
        ("gone.test", "keep", "he"),
    ):
        (record,) = collect(tmp_path)
        unicode, code = run_comparison._reading(record, split)
        assert (unicode.niqqud, code) == (niqqud, language), split


def test_runs_that_read_variants_differently_are_compared_by_the_coarser_reading(pointed):
    reread(pointed, "encoder=mt5*", {"niqqud": "strip"})
    for path in Path(pointed).glob("encoder=mt5*/predictions/test.parquet"):
        with changed(path) as columns:
            columns["gold"] = GOLDS
    written = run(pointed)
    assert any("read Unicode variants differently" in note for note in written["notes"])
    expected = item_rouge(texts_of("scratch", 0), GOLDS, HEBREW)["rouge1"].mean()
    assert by_label(written)["encoder=scratch"]["scores"][0] == pytest.approx(expected)


def test_an_empty_summary_scores_nothing_and_an_empty_gold_is_left_out(sweep):
    golds = ["", *GOLDS[1:]]
    first, second = summarize(0.5, 1), ["", "", *GOLDS[2:]]
    for name, texts in (("a", first), ("b", second)):
        write_table(f"{name}.csv", {"guid": GUIDS, "gold": golds, "prediction": texts})
    written = run("a.csv", "b.csv", "task=summarization", "language=he")
    assert written["rows"] == N - 1
    assert by_label(written)["b"]["scores"] == pytest.approx([(N - 2) / (N - 1)])
