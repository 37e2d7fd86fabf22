"""The benchmark of tokenizing: both ways give the same token ids, or it says so."""

import json

import pytest

from benchmarks import tokenizing as benchmark
from benchmarks.frame import main
from heron.base.errors import HeronError
from heron.data.tokenizer import load_tokenizer
from heron.training.compose import compose


@pytest.fixture
def made(tmp_path):
    texts = [
        "The strike ended on Monday. It was long.\nNo one worked.",
        {"a": ["רכבת יצאה מן התחנה"]},
    ]
    (tmp_path / "one.json").write_text(json.dumps(texts), "utf-8")
    (tmp_path / "two.conllu").write_text("# text = Trenul a plecat la timp.\n1\tTrenul\n", "utf-8")
    known = benchmark.sentences(tmp_path)
    config = compose(["data=chronicle", "encoder.scratch.vocabulary=300"])
    tokenizer = load_tokenizer(config.encoder, (), known, tmp_path / "cache")
    (tmp_path / "encoder").mkdir()
    tokenizer.save_pretrained(tmp_path / "encoder")
    benchmark.write_pairs(tmp_path / "pairs.jsonl", known, 5)
    return tmp_path


def test_sentences_of_json_and_treebanks_are_found(made):
    found = benchmark.sentences(made)
    assert "Trenul a plecat la timp." in found
    assert "The strike ended on Monday." in found


def test_both_ways_give_the_same_token_ids(made):
    pytest.importorskip("datasets")
    ids = [list(map(list, way(made / "encoder", made)[1])) for way in benchmark.WAYS.values()]
    assert ids[0] == ids[1]
    assert len(ids[0]) == 5


def test_ways_that_disagree_are_no_benchmark(made, monkeypatch):
    def differ(module, way, *words):
        return json.dumps({**dict.fromkeys(benchmark.PARTS, 1.0), "ids": way})

    monkeypatch.setattr(benchmark, "call", differ)
    with pytest.raises(HeronError, match="differ"):
        benchmark.measure(benchmark.Options(pairs=3, rounds=1), made / "encoder", made)


def test_without_texts_it_says_what_is_missing(made, monkeypatch, capsys):
    monkeypatch.delenv("HERON_DATA", raising=False)
    words = [f"encoder={made / 'encoder'}", f"out={made / 'x.json'}"]
    assert main(benchmark.Options, benchmark.run, words) == 0
    assert "set HERON_DATA" in capsys.readouterr().out
    assert not (made / "x.json").exists()
