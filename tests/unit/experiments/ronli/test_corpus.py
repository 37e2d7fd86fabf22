"""`heron build ronli`: from a dump to labelled pairs."""

from __future__ import annotations

import bz2
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import gensim
import pytest

from heron.base.files import read_yaml
from heron.base.registry import load
from heron.base.tables import read_table
from heron.cli import main
from heron.languages import LANGUAGES, Language
from heron.results import CLAIMS
from made_up_texts import PHRASES, write_dump
from small_runs import TINY, heron, in_folder

pytestmark = pytest.mark.real  # takes ten seconds; changes seldom

assert "ronli" in CLAIMS  # imports the forks
TEXTS, BUILDING = "heron_forks.ronli.corpus.texts:", "heron_forks.ronli.corpus.building:"
WORDING = read_yaml(Path(__file__).parents[4] / "experiments/ronli/corpus/wording.yaml")
ENGLISH = {
    "contrastive": ["However", "Nevertheless", "In contrast", "Although", "But"],
    "entailment": ["For example", "In other words", "For instance"],
    "reasoning": ["Therefore", "Thus", "As a result", "Consequently"],
}
FIRST = "Orașul vechi a fost reședința județului până în anul 1950, scrie Popescu."


def rules(**more):
    return load(f"{TEXTS}PairRules")(PHRASES, WORDING["ro"], **more)


def linked(first, second, **more):
    return load(f"{TEXTS}linked")(first, second, rules(**more))


def built(folder, dump, *more, phrases=PHRASES):
    path = folder / "phrases.json"
    path.write_text(json.dumps(phrases), "utf-8")
    words = [f"dump={dump}", f"phrases={path}", f"out={folder}/out", "progress=false", *more]
    assert main(["build", "ronli", *words]) == 0
    return {
        split: [json.loads(line) for line in open(folder / f"out/{split}.jsonl", encoding="utf-8")]
        for split in ("train", "validation", "test")
    }


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    return write_dump(tmp_path_factory.mktemp("dump") / "dump.xml", 240, words=300)


@pytest.fixture(scope="module")
def whole(dump, tmp_path_factory):
    return built(tmp_path_factory.mktemp("built"), dump, "workers=1")


def test_a_phrase_at_the_start_labels_the_pair_and_is_removed():
    second = "Prin urmare, clădirile Primăriei din Cluj au fost păstrate cu mare grijă."
    found = linked(FIRST, second)
    assert (found.label, found.phrase) == ("reasoning", "Prin urmare")
    assert found.second == "Clădirile Primăriei din Cluj au fost păstrate cu mare grijă."


def test_only_the_released_way_loses_the_capitals_of_names():
    second = "Prin urmare, clădirile Primăriei din Cluj au fost păstrate cu mare grijă."
    assert linked(FIRST, second, lower=True).second.startswith("Clădirile primăriei din cluj")


def test_a_phrase_at_the_start_of_the_first_sentence_is_removed_too():
    first = "În concluzie, prin urmare, " + FIRST
    second = "Prin urmare, Altfel spus, clădirile Primăriei au fost păstrate cu mare grijă."
    found = linked("Cu alte cuvinte, " + FIRST, second)
    assert (found.first, found.label) == (FIRST, "reasoning")
    assert found.second == "Clădirile Primăriei au fost păstrate cu mare grijă."
    assert linked(first, second).first == FIRST
    assert linked(first, second, anywhere=True).first == first


def test_a_phrase_inside_a_sentence_counts_only_in_the_released_way():
    second = "Clădirile din Cluj au fost, prin urmare sau Prin urmare, păstrate cu grijă."
    assert linked(FIRST, second) is None
    assert linked(FIRST, second, anywhere=True).second == second


def test_a_phrase_is_a_whole_word_and_a_phrase_of_two_classes_says_nothing():
    assert (
        linked(FIRST, "Astfel călătorii au ajuns la timp în orașul cel vechi de la munte.") is None
    )
    other = load(f"{TEXTS}PairRules")({"a": ["Deci"], "b": ["Deci"]}, WORDING["ro"])
    assert load(f"{TEXTS}linked")(FIRST, "Deci " + FIRST, other) is None


def test_sentences_of_fewer_than_fifty_characters_are_left_out():
    assert linked(FIRST, "Prin urmare, a plecat.") is None
    assert linked(FIRST, "Prin urmare, a plecat.", short_links=True).second == "A plecat."


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Ion L. Caragiale a scris piese. Ele se joacă și azi.", 2),
        ("Vezi str. Mare nr. 5 din oraș. Este închis!", 2),
        ("A venit în 1990. 20 de ani mai târziu a plecat.", 2),
        ("„A plecat?” Nimeni nu știe… Poate mâine.", 3),
    ],
)
def test_abbreviations_and_initials_end_no_sentence(text, count):
    found = load(f"{TEXTS}sentences")(text, rules())
    assert (len(found), " ".join(found)) == (count, text)


def test_markup_tables_lists_notes_and_references_are_no_text():
    text = "\n".join(
        [
            "{{Info|a=b}}'''Iași''' este un [[oraș|oraș mare]].<ref>notă</ref>",
            "[[Fișier:x.jpg|thumb|poză]]",
            "{| class=x\n| celulă\n|}\n* punct\n== Istorie ==\nText.",
            "=== Note ===\nascuns\n== Vezi și ==\nx",
        ]
    )
    found = list(load(f"{TEXTS}paragraphs")(text, rules()))
    assert found == ["Iași este un oraș mare.", "Text."]


def test_what_a_list_or_a_note_holds_ends_where_it_ends():
    text = "\n".join(
        [
            "Unu.<ref>Vezi:\n* {{citat\n| titlu = x\n}}</ref> Doi ''Iliada'''s trei.",
            "* punct {{a\n| b\n}} rest\nPatru.",
            "== Doi ==\n'''[[Fișier:x.jpg|left|thumb|poză [[a|b]]]]''' Cinci<br>Șase.",
            "<ref>fără sfârșit",
        ]
    )
    found = list(load(f"{TEXTS}paragraphs")(text, rules()))
    assert found == ["Unu. Doi Iliada's trei.", "Patru.", "Cinci", "Șase."]


def test_no_markup_is_left_of_a_real_dump(tmp_path):
    """The excerpt of the English Wikipedia that gensim ships: 206 pages, 106 of them articles."""
    name = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
    (tmp_path / "dump.bz2").symlink_to(Path(gensim.__file__).parent / "test/test_data" / name)
    words = ["language=en", "workers=1", "most_neutral=300"]
    splits = built(tmp_path, tmp_path / "dump.bz2", *words, phrases=ENGLISH)
    rows = [row for split in splits.values() for row in split]
    assert Counter(row["label"] for row in rows) == {
        "contrastive": 351, "entailment": 110, "reasoning": 59, "neutral": 300,
    }  # fmt: skip
    parts = [
        json.loads(line) for path in tmp_path.glob("out/parts/*.jsonl") for line in path.open()
    ]
    plain = [sentence for article in parts for sentence in article["plain"]]
    assert len(plain) == 16726
    sentences = [*plain, *(row[name] for row in rows for name in ("sentence1", "sentence2"))]
    markup = r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|</?ref|thumb\||\|thumb|\d+px|''|^Category:"
    assert not list(filter(re.compile(markup).search, sentences))


def test_a_language_of_a_fork_has_its_own_wording_and_one_without_is_built(
    dump, tmp_path, monkeypatch, capsys
):
    assert "надворешни врски" in load("heron_forks.ronli.corpus.command:_wording")("mk")["sections"]
    monkeypatch.setitem(LANGUAGES._entries, "lad", Language("lad", "Ladino", "ltr", "abc"))
    assert sum(map(len, built(tmp_path, dump, "workers=1", "language=lad").values())) > 100
    assert "language=lad" in capsys.readouterr().err


def test_pages_that_are_no_articles_are_left_out(whole, dump):
    titles = {int(row["article"].split()[1]) % 20 for rows in whole.values() for row in rows}
    assert titles.isdisjoint({7, 11, 13})


def test_no_phrase_stays_and_no_article_or_sentence_is_in_two_splits(whole):
    everything = [row for rows in whole.values() for row in rows]
    pattern = rules().pattern
    sentences = [s for row in everything for s in (row["sentence1"], row["sentence2"])]
    assert not any(map(pattern.match, sentences))
    assert len(sentences) == len(set(sentences))
    linked_ = [(row["article"], split) for split, rows in whole.items() for row in rows]
    assert max(Counter(title for title, _ in set(linked_)).values()) == 1


def test_the_sentences_of_each_phrase_are_counted(dump, tmp_path):
    splits = built(tmp_path, dump, "workers=1")
    rows = read_table(tmp_path / "out/phrases.csv").rows
    assert {(row["class"], row["phrase"]) for row in rows} == {
        (label, phrase) for label, phrases in PHRASES.items() for phrase in phrases
    }
    labels = Counter(row["label"] for of_split in splits.values() for row in of_split)
    for label in PHRASES:
        counts = [(int(r["sentences"]), int(r["pairs"])) for r in rows if r["class"] == label]
        assert sum(pairs for _, pairs in counts) == labels[label]
        assert all(sentences >= pairs for sentences, pairs in counts)


def test_phrases_are_kept_in_columns_of_the_same_rows(whole):
    pattern = rules().pattern
    for row in (row for rows in whole.values() for row in rows):
        phrased = pattern.match(row["original2"])
        assert bool(phrased) is (row["label"] in PHRASES)
        assert row["original2"].endswith(row["sentence2"][1:])
        assert row["original1"].endswith(row["sentence1"][1:])


def test_every_class_is_in_every_split_in_about_its_share(whole):
    counts = {split: Counter(row["label"] for row in rows) for split, rows in whole.items()}
    assert set(counts["test"]) == {*PHRASES, "neutral"}
    total = sum(counts.values(), Counter())
    assert total["neutral"] == pytest.approx(total.total() / 2, rel=0.05)
    for label, count in total.items():
        assert counts["train"][label] / count == pytest.approx(0.9, abs=0.08)


def test_shares_that_add_up_to_a_little_less_than_one_divide_every_article(tmp_path):
    shares = [0.7, 0.2, 0.1]
    assert sum(shares) < 1  # as floating-point numbers
    plan = load(f"{BUILDING}BuildSettings")(tmp_path, rules(), "other_article", 0, shares, 0)
    pair = load(f"{BUILDING}LinkedPair")
    pairs = [pair(str(number), "", "", "reasoning", "", "") for number in range(1000)]
    split_of = load(f"{BUILDING}_divide_articles")(plan, pairs)
    assert Counter(split_of.values()) == {"train": 700, "validation": 200, "test": 100}


def test_capitals_do_not_give_labels_away(whole):
    rows = [row for split in whole.values() for row in split]
    later = {
        kind: sum(any(map(str.isupper, r["sentence2"][1:])) for r in ours) / len(ours)
        for kind in (True, False)
        for ours in [[r for r in rows if (r["label"] == "neutral") is kind]]
    }
    assert later[True] == pytest.approx(later[False], abs=0.05)


@pytest.mark.slow
def test_the_number_of_processes_and_packing_do_not_change_the_result(whole, dump, tmp_path):
    packed = tmp_path / "dump.xml.bz2"
    packed.write_bytes(bz2.compress(dump.read_bytes()))
    assert built(tmp_path, packed, "workers=2") == whole


def alive(group):
    """Tell whether a process group has a process that runs."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_a_killed_build_goes_on_and_gives_the_same(whole, dump, tmp_path):
    phrases = tmp_path / "phrases.json"
    phrases.write_text(json.dumps(PHRASES), "utf-8")
    out = tmp_path / "out"
    words = [f"dump={dump}", f"phrases={phrases}", f"out={out}", "workers=1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "heron", "build", "ronli", *words], start_new_session=True
    )
    until = time.monotonic() + 120
    while not list(out.glob("parts/*.jsonl")) and time.monotonic() < until:
        time.sleep(0.01)
    process.kill()  # not its workers: they end by themselves
    process.wait()
    while alive(process.pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not alive(process.pid)
    kept = {path: path.stat().st_mtime_ns for path in out.glob("parts/0*.jsonl")}
    assert kept
    assert built(tmp_path, dump, "workers=1") == whole
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())


def test_other_options_do_not_go_on_with_old_parts(dump, tmp_path, capsys):
    built(tmp_path, dump, "workers=1")
    words = [f"dump={dump}", f"phrases={tmp_path}/phrases.json", f"out={tmp_path}/out"]
    assert main(["build", "ronli", *words, "protocol=repo", "progress=false"]) == 2
    assert "made with other options" in capsys.readouterr().err


def test_analyze_and_audit_read_what_was_built(whole, dump, tmp_path, monkeypatch, capsys):
    built(tmp_path, dump, "workers=1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERON_FORKS", str(tmp_path / "out"))
    words = ["data=pairs", f"paths.data={tmp_path / 'out'}", f"paths.cache={tmp_path / 'cache'}"]
    assert main(["analyze", *words]) == 0
    assert main(["audit", *words]) == 0
    assert "0 serious" in capsys.readouterr().out
    assert main(["audit", *words, "--config-dir", str(tmp_path / "out/conf")]) == 2
    assert "HERON_FORKS=DIR" in capsys.readouterr().err


@pytest.mark.parametrize("neutral", ["same_article", "other_article"])
def test_as_many_neutral_pairs_are_found_as_are_wanted(neutral, tmp_path):
    """Most sentences are used already; of each of many articles, two others are left."""
    (tmp_path / "parts").mkdir()
    articles = [
        {"title": f"a{n}", "plain": [f"a{n} s{k}" for k in range(12)], "pairs": []}
        for n in range(300)
    ]
    text = "\n".join(json.dumps(article) for article in articles)
    (tmp_path / "parts" / "0.jsonl").write_text(text, encoding="utf-8")
    hashed, draw = (load(f"{BUILDING}{name}") for name in ("_hash", "_neutral_pairs"))
    seen = {hashed(f"a{n} s{k}") for n in range(300) for k in range(10)}
    plan = SimpleNamespace(seed=0, neutral=neutral)
    pairs = list(draw(plan, tmp_path, 100, seen, Counter()))
    assert len(pairs) >= 99
    assert len({text for pair in pairs for text in (pair.first, pair.second)}) == 2 * len(pairs)
    for pair in pairs:
        same = pair.first.split()[0] == pair.second.split()[0]
        assert same is (neutral == "same_article")


@pytest.mark.slow
def test_built_pairs_train(dump, tmp_path):
    built(tmp_path, dump, "workers=1", "name=wiki")
    tiny = [word for word in TINY if "generator" not in word]
    out = tmp_path / "out"
    more = ["data=wiki", "--config-dir", out / "conf", f"paths.data={out}", "trainer.max_steps=2"]
    words = [word for word in tiny if "max_epochs" not in word]
    assert heron("train", *words, *in_folder(tmp_path), "head=siamese_cls", *more) == 0
