"""`heron build lchaim` joins released pairs and translations, made up here in their form."""

import json
from dataclasses import replace

import pytest

from heron.base.tables import read_table
from heron.cli import main
from heron.data.manifests import read_manifest
from heron.data.overrides import configure
from heron.data.readers import load

PAIRS = [("id_0", "text_0", "text_1"), ("id_1", "text_0", "text_2"), ("id_2", "text_3", "text_1")]


@pytest.fixture
def build(tmp_path):
    """Return a function that joins `PAIRS` with texts, and gives the uids of the rows."""
    names = ("uid", "premise_id", "hypothesis_id")
    pairs = [{**dict(zip(names, ids, strict=True)), "label": "n"} for ids in PAIRS]
    (tmp_path / "pairs.json").write_text(json.dumps(pairs, indent=4))

    def run(texts, *words):
        (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)))
        files = [f"pairs={tmp_path / 'pairs.json'}", f"texts={tmp_path / 'texts.jsonl'}"]
        assert main(["build", "lchaim", *files, *words, f"out={tmp_path / 'out.jsonl'}"]) == 0
        return read_table(tmp_path / "out.jsonl").rows

    return run


def test_train_is_joined_from_pairs_and_translations(build, capsys):
    texts = [{"text": f"t{n}", "key": f"text_{n},", "text_translated": f"ת{n}"} for n in range(2)]
    (row,) = build(texts)
    assert "1 rows, 2 without a translation" in capsys.readouterr().out
    assert row == {"uid": "id_0", "premise": "ת0", "hypothesis": "ת1", "label": "n"}


def test_data_lchaim_reads_what_was_built_though_a_text_has_no_translation(build, tmp_path):
    texts = [{"key": f"text_{n},", "text_translated": f"ת{n}"} for n in (0, 1, 3)]
    assert [row["uid"] for row in build(texts)] == ["id_0", "id_2"]
    assert read_manifest(tmp_path / "out.jsonl").left_out == {"without a translation": 1}
    words = [f"data.files.train.path={tmp_path / 'out.jsonl'}", "data.validation.fraction=0"]
    config = configure("lchaim", words)
    config = replace(config, files={"train": config.files["train"]})
    assert len(load(config, tmp_path, tmp_path)["train"]) == 2


def test_pairs_without_any_translation_are_an_error(build, capsys, tmp_path):
    with pytest.raises(AssertionError):  # of `build`: the exit code is not 0
        build([{"key": "text_9", "text_translated": "ת"}])
    assert "3 without a translation" in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()


def test_rows_whose_texts_came_back_otherwise_are_left_out_and_counted(
    build, tiny_encoder, capsys, tmp_path, monkeypatch
):
    monkeypatch.setenv("HERON_CACHE", str(tmp_path / "cache"))
    texts = [
        {
            "key": f"text_{n}",
            "hebrew_text": f"ת{n}",
            "origin_text": f"they met in town {n}",
            "text_reverse_translated": "x" if n == 3 else f"they met in town {n}",
        }
        for n in range(4)
    ]
    rows = build(texts, "minimum=0.9999", f"similarity={tiny_encoder}")
    assert [row["uid"] for row in rows] == ["id_0", "id_1"]
    assert rows[1]["hypothesis"] == "ת2"
    said = capsys.readouterr().out
    assert "2 rows, 1 below 0.9999" in said
    shown = [line.split() for line in said.splitlines() if line.startswith(("premise", "hypo"))]
    paper = [["22", "1,928"], ["103", "1,928"]]
    assert [line[-2:] for line in shown] == [["1", "2"], ["0", "2"], *paper], "below, unique texts"
    (row, *_) = build(texts, "column=text_reverse_translated")
    assert row["premise"] == "they met in town 0"
