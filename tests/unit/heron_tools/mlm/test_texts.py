"""Raw texts: where they come from, and which are left out."""

import gzip
import json

import pytest

from heron.base.errors import ConfigError, DataError
from heron.base.tables import read_table
from heron.config.parsing import check
from heron.data.config import DataConfig, FileConfig, TextsConfig, ValidationConfig
from heron.data.readers import load_with_report
from heron_tools.mlm.collecting import Overlap
from made_up_texts import sentences

CONLLU = "# sent_id = {0}\n# text = {1}\n1\tא\tא\tX\t_\t_\t0\troot\t_\t_\n\n"


def own(**changes):
    values = {
        "name": "mine",
        "task": "mlm",
        "format": "texts",
        "label_order": ["text"],
        "validation": ValidationConfig(fraction=0),
        "files": {"train": FileConfig("train.txt")},
    }
    return DataConfig(**values | changes)


def read(config, folder):
    return load_with_report(config, folder, folder / "cache")


def texts_of(loaded):
    return [example.text for example in loaded.examples["train"]]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["a.txt", "a.conllu", "a.jsonl", "a.csv"])
def test_texts_are_read_from_text_files_treebanks_and_tables(tmp_path, name, packed):
    texts = sentences(3)
    content = {
        "a.txt": "\n\n".join(texts),
        "a.conllu": "".join(CONLLU.format(n, text) for n, text in enumerate(texts)),
        "a.jsonl": "\n".join(json.dumps({"text": text}) for text in texts),
        "a.csv": "\n".join(["text", *texts]),
    }[name].encode()
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(content) if packed else content)
    loaded = read(own(files={"train": FileConfig(path.name)}), tmp_path)
    assert texts_of(loaded) == texts
    assert not loaded.dropped


def test_copies_are_left_out_and_counted(tmp_path):
    texts = sentences(4)
    (tmp_path / "train.txt").write_text("\n".join([*texts, *texts[:3]]), encoding="utf-8")
    loaded = read(own(), tmp_path)
    assert texts_of(loaded) == texts
    assert loaded.dropped == {"train": {"copies": 3}}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train.txt", b"\n \n", r"train\.txt"),
        ("train.txt", b"fine\n\xff\xfe no\n", r"train\.txt:2: not UTF-8: byte 0xff"),
        ("train.doc", b"fine", r"train\.doc"),
        ("train.csv", b"text,n\n,1\n", r"train\.csv:2: 'text'"),
        ("train.csv", b"words\nfine\n", "no column 'text'.*data.columns.text=NAME"),
        ("train.conllu", b"1\tone\n\n", r"train\.conllu:1"),
    ],
)
def test_a_file_that_holds_no_texts_is_refused_by_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read(own(files={"train": FileConfig(name)}), tmp_path)


@pytest.fixture
def others(tmp_path, monkeypatch):
    """Add a data set of pairs and one of summaries, each with train, validation and test."""
    pairs, articles = sentences(36, seed=1), sentences(20, seed=2, words=30)
    splits = {"train": slice(0, 12), "validation": slice(12, 24), "test": slice(24, 36)}
    for split, part in splits.items():
        rows = [{"premise": one, "hypothesis": f"האם {one}", "label": "a"} for one in pairs[part]]
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (tmp_path / f"pairs-{split}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    rows = [{"article": one, "summary": f"סיכום {n} {one[:20]}"} for n, one in enumerate(articles)]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (tmp_path / "articles.jsonl").write_text("\n".join(lines), encoding="utf-8")
    files = ", ".join(f"{split}: {{path: pairs-{split}.jsonl}}" for split in splits)
    yaml = {
        "pairs": "task: nli\nformat: pair_table\nlabel_order: [a, b]\ncolumns: "
        f"{{text: premise, text_pair: hypothesis}}\nfiles: {{{files}}}\n",
        "articles": "task: summarization\nformat: article_table\nlabel_order: [summary]\n"
        "columns: {text: article}\nfiles: {train: {path: articles.jsonl}}\n"
        "validation: {fraction: 0.2, by: row}\nholdout: {fraction: 0.2, by: row}\n",
    }
    for name, text in yaml.items():
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\n{text}", encoding="utf-8")
    found = {name: tmp_path / f"{name}.yaml" for name in yaml}
    monkeypatch.setattr("heron.base.folders.data_sets", lambda: found)
    return pairs, articles


def test_every_text_of_other_sets_train_splits_is_read_once_with_its_document(tmp_path, others):
    pairs, articles = others
    config = own(files={}, texts=TextsConfig(sets=["pairs", "articles"], overlap=100))
    loaded = read(config, tmp_path)
    texts = texts_of(loaded)
    assert texts[:24:2] == pairs[:12]
    assert texts[1:24:2] == [f"האם {one}" for one in pairs[:12]]
    assert len(texts) == len(set(texts)) == 24 + 2 * 12, "12 of 20 articles are left to train on"
    assert set(articles) - set(texts), "not those of validation and test"


def test_a_text_with_a_run_of_words_of_an_evaluation_text_is_left_out_and_counted(tmp_path, others):
    pairs = others[0]
    fresh = sentences(5, seed=3)
    test = next(one for one in pairs[24:] if len(one.split()) >= 8).split()
    seen = [
        f"{fresh[0]} {' '.join(test[:8])}",
        "״" + ", ".join(test[:8]) + "״",  # punctuation makes no difference
        " ".join(pairs[12].split()[:3]),  # shorter than a run, but whole in validation
    ]
    kept = [*fresh, f"{fresh[0]} {' '.join(test[:7])} אחרת"]
    (tmp_path / "train.txt").write_text("\n".join([*seen, *kept]), encoding="utf-8")
    loaded = read(own(texts=TextsConfig(unseen=["pairs"])), tmp_path)
    assert texts_of(loaded) == kept
    assert loaded.dropped == {"train": {"with words of evaluation texts (train)": 3}}
    both = read(own(texts=TextsConfig(sets=["articles"], unseen=["pairs"])), tmp_path)
    assert texts_of(both)[-len(kept) :] == kept
    assert not any(" ".join(test[:8]) in text for text in texts_of(both))


def test_texts_are_collected_once_for_equal_files_and_again_for_others(tmp_path, others):
    (tmp_path / "more.txt").write_text("\n".join(sentences(3, seed=5)), encoding="utf-8")
    config = own(files={}, texts=TextsConfig(sets=["pairs"], files=[FileConfig("more.txt")]))
    first = read(config, tmp_path)
    (stored,) = (tmp_path / "cache" / "texts").glob("*/train.jsonl")
    written = stored.stat().st_mtime_ns
    assert texts_of(read(config, tmp_path)) == texts_of(first)
    assert stored.stat().st_mtime_ns == written
    left_out = [row for row in read_table(stored).rows if row["heron: left out"]]
    assert all(row["text"] == "" for row in left_out), "no copy of an evaluation text"
    (tmp_path / "more.txt").write_text("\n".join(sentences(4, seed=6)), encoding="utf-8")
    assert texts_of(read(config, tmp_path)) != texts_of(first)


def test_words_are_compared_without_case_points_and_punctuation():
    overlap = Overlap(["Alpha, beta gamma! delta מנכ״ל epsilon"], 3, "he")
    assert "x BETA gamma Delta y" in overlap
    assert 'delta מנכ"ל epsilon' in overlap
    assert "beta x gamma delta" not in overlap
    assert "gamma delta" in overlap
    assert "gamma beta" not in overlap
    assert "..." not in overlap


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label_order": ["text", "more"]}, "label_order"),
        ({"texts": TextsConfig(sets=["mine"])}, "texts"),
    ],
)
def test_settings_that_raw_text_has_not_are_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        check(own(**changes), "data.")
