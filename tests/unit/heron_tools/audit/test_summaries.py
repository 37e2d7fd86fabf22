"""The audit of articles and summaries: what is copied, short, long, cut or there twice."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.heron_tools.audit.builders import by_id, sentence

from heron.base.tables import write_table
from heron.cli import main
from heron.data.examples import Example
from heron_tools.audit.summaries import find_in_summaries, fragments
from tiers import quick

token = st.lists(st.sampled_from("abcd"), max_size=12)


def row(guid, article, summary):
    return Example(guid, article, label="summary", target=summary)


def clean(count=40, seed=0, prefix="g"):
    """Articles of many lengths, and summaries that do not occur in them."""
    rng = random.Random(seed)
    return [
        row(
            f"{prefix}{i}",
            ". ".join(sentence(rng) for _ in range(4 + i % 9)) + ".",
            f"Pe scurt: {sentence(rng, 12)} de {prefix}{i}",
        )
        for i in range(count)
    ]


@given(article=token, summary=token)
def test_fragments_are_the_longest_runs_shared_with_the_article(article, summary):
    lengths = fragments(article, summary)
    assert sum(lengths) == sum(word in article for word in summary)
    joined = " ".join(article)
    start = 0
    for length in lengths:
        while summary[start] not in article:
            start += 1
        run = summary[start : start + length]
        assert " ".join(run) in joined
        # No longer run begins there.
        assert (
            length == len(summary) - start
            or " ".join([*run, summary[start + length]]) not in joined
        )
        start += length


def test_summaries_that_stand_in_their_article_are_counted_and_listed():
    copied = row("c", "Unu doi. Trei, patru cinci! Șase. Șapte opt nouă zece.", "trei patru CINCI")
    late = row("l", "Unu. Doi. Trei. Patru. Cinci șase.", "cinci șase")
    found = by_id(find_in_summaries({"train": [*clean(8), copied, late]}))["copied.train"]
    assert found.severity == "serious"
    assert [each.guid for each in found.rows] == ["c", "l"]
    (numbers,) = found.measures
    assert numbers["occur in the article"] == 2
    assert numbers["in its first 3 sentences"] == 1
    assert find_in_summaries({"train": clean(8)})[0].severity == "info"


def test_vowel_points_do_not_cut_words_into_pieces():
    summary = "הַבַּיִת הַגָּדוֹל נִבְנָה"  # three words, ten runs of letters
    article = f"{summary} בְּיִשְׂרָאֵל לִפְנֵי שָׁנִים."
    found = by_id(find_in_summaries({"train": [row("a", article, summary)]}))
    assert [each.guid for each in found["short.train"].rows] == ["a"]
    (numbers,) = found["copied.train"].measures
    assert numbers["mean density"] == 3.0


def test_a_word_that_begins_like_the_article_s_is_no_copy():
    found = by_id(find_in_summaries({"train": [row("a", "casa mare.", "cas")]}))
    assert found["copied.train"].rows == []


def test_short_summaries_and_those_as_long_as_their_article_are_listed():
    odd = [
        row("s", "Un articol lung. " * 9, "doar trei cuvinte"),
        row("l", "scurt", "scurt și lung"),
    ]
    found = by_id(find_in_summaries({"test": [*clean(30), *odd]}))
    assert [each.guid for each in found["long.test"].rows] == ["l"]
    short = found["short.test"]
    assert {each.guid for each in short.rows} == {"s", "l"}
    assert "min_summary_tokens=10" in short.advice
    assert set(by_id(find_in_summaries({"test": clean(30)}))) == {"copied.test"}


def articles(lengths):
    return [row(str(i), "cuvânt " * n, f"rezumat {i} " * 6) for i, n in enumerate(lengths)]


@pytest.mark.parametrize("seed", quick(range(5), 2))
def test_articles_cut_at_one_length_are_found_and_uncut_ones_are_not(seed):
    random = np.random.default_rng(seed)
    natural = random.lognormal(5.5, 0.7, 300).astype(int) + 5
    narrow = random.normal(200, 8, 300).astype(int)
    assert "cut.train" not in by_id(find_in_summaries({"train": articles(natural)}))
    assert "cut.train" not in by_id(find_in_summaries({"train": articles(narrow)}))
    cut = by_id(find_in_summaries({"train": articles(np.minimum(natural, 400))}))["cut.train"]
    assert cut.severity == "warning"
    longest = {str(i) for i, n in enumerate(natural) if n >= 400}
    assert longest <= {each.guid for each in cut.rows}


def test_the_command_finds_leaks_and_shows_articles_beside_summaries(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    near = clean(1, seed=7)[0]
    shared = clean(1, seed=8)[0]
    train = [*clean(30), near, shared]
    test = [
        *clean(20, seed=1, prefix="t"),
        row(
            "near",
            near.text + " Ieri.",
            "Cu totul alt rezumat, scris de altcineva în altă zi, azi.",
        ),
        row("copy", shared.text, shared.target),
    ]
    for split, rows in (("train", train), ("test", test)):
        columns = {
            "guid": [each.guid for each in rows],
            "article": [each.text for each in rows],
            "summary": [each.target for each in rows],
        }
        if split == "train":
            columns["guid"][-2:] = ["n", "s"]
        write_table(tmp_path / f"{split}.csv", columns)
    files = [f"data.files.{split}.path={tmp_path / split}.csv" for split in ("train", "test")]
    words = ["data=own_summaries", "data.language=ro", f"paths.cache={tmp_path / 'cache'}", *files]
    assert main(["audit", *words, "strict=true", "out=report"]) == 1
    stored = json.loads((tmp_path / "report/findings.json").read_text(encoding="utf-8"))
    found = {one["id"]: one for one in stored["findings"]}
    assert {each["guid"] for each in found["duplicates.train.test"]["rows"]} == {"s", "copy"}
    assert {each["guid"] for each in found["near_texts.train.test"]["rows"]} == {"n", "near"}
    texts = [line["text"] for line in found["shared_texts.train.test"]["measures"]]
    assert list(dict.fromkeys(texts)) == ["either side", "article", "summary"]
    assert {line["text"] for line in found["length_drift"]["measures"]} == {"article", "summary"}
    # What is about classes has nothing to say here.
    assert not {"rules", "label_drift", "skipped", "words.window"} & set(found)
