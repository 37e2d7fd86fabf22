"""The tagger: a task with tensors of its own, as a fork, on made-up and on real sentences."""

import re
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer

from heron.base.files import read_json
from heron.base.folders import conf_dir, data_set_file
from heron.base.tables import read_table
from heron.cli import main
from heron.data.config import read_config
from heron.data.examples import Example
from heron.data.readers import load, read_rows
from heron_forks.tagger.task import entities, entity_scores
from real_data import DATA, on_real

SMALL = "encoder.scratch={vocabulary:300,hidden:32,layers:1,heads:2,intermediate:64}"
TINY = (SMALL, "encoder.dropout=0.0", "batching.tokens=200", "optim.lr=1e-2", "seed=0")
QUIET = ("trainer.enable_progress_bar=false", "task.bootstrap=0")
TAGS = {
    "BIO": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "IOBES": ["O", *(f"{prefix}-{kind}" for kind in "XY" for prefix in "BIES")],
}


@pytest.mark.parametrize(
    ("tags", "in_bio", "closed"),
    [
        ("B-X I-X O", {("X", 0, 2)}, set()),
        ("B-X E-X O", None, {("X", 0, 2)}),
        ("B-X M-X E-X", None, {("X", 0, 3)}),
        ("B-X B-X I-Y", {("X", 0, 1), ("X", 1, 2)}, set()),
        ("I-X I-X O", set(), set()),
        ("B-X I-Y", {("X", 0, 1)}, set()),
        ("S-X S-X", None, {("X", 0, 1), ("X", 1, 2)}),
        ("B-X S-Y E-X", None, {("Y", 1, 2)}),
        ("S-X I-X E-X", None, {("X", 0, 1)}),
    ],
)
def test_entities_begin_and_end_as_their_scheme_says(tags, in_bio, closed):
    assert entities(tags.split(), closed=True) == closed
    assert in_bio is None or entities(tags.split(), closed=False) == in_bio


# What seqeval 1.2.2 says: f1_score(..., mode="strict", scheme=IOB2 or IOBES), micro and macro.
@pytest.mark.parametrize(
    ("scheme", "golds", "predictions", "expected"),
    [
        (
            "BIO",
            ["B-X I-X O B-Y", "O O B-X", "B-Y I-Y I-Y"],
            ["B-X I-X O B-X", "O B-Y I-X", "B-Y I-Y O"],
            {"f1": 0.25, "precision": 0.25, "recall": 0.25, "macro_f1": 0.25},
        ),
        (
            "IOBES",
            ["B-X E-X O S-Y", "O O S-X", "B-Y I-Y E-Y"],
            ["B-X E-X O S-Y", "O S-X S-X", "B-Y I-Y I-Y"],
            {"f1": 0.75, "precision": 0.75, "recall": 0.75, "macro_f1": 11 / 15},
        ),
    ],
)
def test_scores_are_those_of_seqeval(scheme, golds, predictions, expected):
    found = entity_scores(TAGS[scheme], golds, predictions)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def write_sentences(path: Path, count: int, tags: tuple[str, str] = ("B-PER", "E-PER")) -> Path:
    """Write sentences in which two words behind `mr` are a person, and `oslo` is a place."""
    names = ["ann bee", "cid dor", "eve fox"]
    lines = []
    for number in range(count):
        first, last = names[number % 3].split()
        words = [("we", "O"), ("met", "O"), ("mr", "O"), (first, tags[0]), (last, tags[1])]
        words += [("in", "O"), ("oslo", "S-GPE")] * (number % 2)
        lines += [f"{word} {tag}" for word, tag in words] + [""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory, session_cache):
    """A finished run on made-up sentences."""
    folder = tmp_path_factory.mktemp("tagger")
    files = [
        f"data.files.{split}.path={write_sentences(folder / f'{split}.bmes', count)}"
        for split, count in (("train", 40), ("validation", 9), ("test", 9))
    ]
    words = [*files, "data.verify=false", "data.language=en", *TINY, *QUIET]
    paths = [f"paths.runs={folder / 'runs'}", f"paths.cache={session_cache}"]
    command = ["train", "data=nemo", *words, *paths, "trainer.max_epochs=8", "run.sweep=s"]
    assert main([*command, "run.job=one"]) == 0
    assert main([*command, "run.job=two", "curriculum=cart_cl"]) == 0
    return folder / "runs" / "s" / "one"


def test_a_run_learns_records_and_predicts_by_sentence(run):
    scores = read_json(run / "scores.json")["test"]
    assert scores["f1"] == scores["f1/PER"] == scores["f1/GPE"] == scores["accuracy"] == 1.0
    dynamics = read_table(run / "dynamics" / "epoch=7.parquet")
    assert len(dynamics) == 40
    assert all(row["p_gold"] > 0.5 and row["correct"] == 1 for row in dynamics.rows)
    rows = read_table(run / "predictions" / "test.parquet").rows
    assert [row["guid"] for row in rows][:2] == ["test:1", "test:7"]
    assert rows[1]["prediction"] == rows[1]["gold"] == "O O O B-PER E-PER O S-GPE"
    planned = read_json(run.parent / "two" / "scores.json")
    assert planned["test"].keys() == scores.keys()


def test_transformers_own_class_gives_the_same_tags(run):
    model = AutoModelForTokenClassification.from_pretrained(run / "model").eval()
    tokenizer = AutoTokenizer.from_pretrained(run / "model")
    words = ["we", "met", "mr", "ann", "bee", "in", "oslo"]
    read = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        best = model(read["input_ids"], read["attention_mask"]).logits[0].argmax(dim=1).tolist()
    owners = read.word_ids()
    tags = [model.config.id2label[best[owners.index(word)]] for word in range(len(words))]
    assert tags == ["O", "O", "O", "B-PER", "E-PER", "O", "S-GPE"]


def test_files_are_predicted_scored_and_mapped(run, tmp_path, capsys):
    file = tmp_path / "few.bmes"
    file.write_text("we\nmet\nmr\neve\nfox\nin\noslo\n\nwe\n", encoding="utf-8")
    assert main(["predict", f"run={run}", f"input={file}"]) == 0
    found = read_table(tmp_path / "few.predictions.csv").rows
    assert [row["prediction"] for row in found] == ["O O O B-PER E-PER O S-GPE", "O"]
    gold = write_sentences(tmp_path / "test.bmes", 9)
    predictions = run / "predictions" / "test.parquet"
    assert main(["score", "task=tagger", f"gold={gold}", f"predictions={predictions}"]) == 0
    assert "f1/GPE" in capsys.readouterr().out
    assert main(["map", f"run={run}", f"out={tmp_path / 'map'}"]) == 0
    assert len(read_table(tmp_path / "map" / "map.csv")) == 40


def test_tags_and_words_go_to_the_first_token_of_each_word(tiny_encoder):
    from heron.data.features import FeatureOptions
    from heron_forks.tagger.module import tag_features

    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    example = Example("g", "שלום qqqq 12", label="B-X", target="O B-X I-X")
    features = tag_features([example], tokenizer, FeatureOptions("", 64, tuple(TAGS["BIO"])))
    words, tags = (features.columns[name].array for name in ("words", "tags"))
    assert [word for word in words.tolist() if word >= 0] == [0, 1, 2]
    assert tags[words >= 0].tolist() == [0, 1, 2]
    assert (tags[words < 0] == -100).all()


@pytest.mark.parametrize(
    ("lines", "said"),
    [("oslo S-GPE\nis\n", "2 words, 1 tags"), ("oslo X-GPE\n", "unknown tags X-GPE")],
)
def test_a_sentence_that_cannot_be_used_is_named_by_line(lines, said, tmp_path, capsys):
    file = tmp_path / "train.bmes"
    file.write_text(f"a O\n\n{lines}", encoding="utf-8")
    files = [f"data.files.{split}.path={file}" for split in ("train", "validation", "test")]
    assert main(["data", "nemo", *files, "data.verify=false"]) == 2
    assert f"train.bmes:3: {said}" in capsys.readouterr().err


@pytest.mark.parametrize("between", [" -X- _ ", "\tNN\t", " NN "], ids=["2003", "tabs", "2002"])
def test_words_of_a_conll_file_are_its_first_column(between, tmp_path):
    words = ["U.N.", "New\u00a0York", ",", "Iași"]
    lines = [f"{word}{between}{tag}" for word, tag in zip(words, TAGS["BIO"], strict=False)]
    path = tmp_path / "train.conll"
    path.write_text("\n".join(["-DOCSTART- -X- O", *lines, "", f"a{between}O"]), "utf-8")
    config = read_config(data_set_file("nemo"))
    config.label_order = TAGS["BIO"]
    first, second = read_rows(path, config).examples
    assert (first.text, second.text) == ("U.N. New\u00a0York , Iași", "a")
    assert first.target == " ".join(TAGS["BIO"][:4])


def test_words_with_blanks_before_their_tag_stay_whole(tmp_path):
    path = tmp_path / "train.bmes"
    path.write_text("New York S-GPE\nis O\n", "utf-8")
    (example,) = read_rows(path, read_config(data_set_file("nemo"))).examples
    assert example.text == "New\u00a0York is"


def test_no_line_of_heron_names_the_fork():
    for path in (conf_dir().parent / "src").rglob("*.py"):
        is_fork = "experiments" in path.parts
        assert is_fork or not re.search(r"[\"'./]tagger\b|tagged_words", path.read_text("utf-8"))


@on_real
@pytest.mark.parametrize(
    ("data", "counts", "least"),
    [
        ("nemo", {"train": 6757, "validation": 489, "test": 468}, 0.1),
        ("ronec", {}, 0.25),
    ],
)
def test_real_files_are_trained_and_scored(data, counts, least, tmp_path, session_cache):
    config = read_config(data_set_file(data))
    for split, number in counts.items():
        examples = load(config, DATA, session_cache)[split]
        assert sum(len(entities(e.target.split(), closed=True)) for e in examples) == number
    words = [f"data={data}", f"paths.data={DATA}", f"paths.runs={tmp_path}", *QUIET, "seed=0"]
    words += [SMALL.replace("300", "3000").replace("32", "64"), "optim.lr=3e-3", "run.sweep=s"]
    assert main(["train", *words, "run.job=one", "trainer.max_epochs=6"]) == 0
    assert read_json(tmp_path / "s" / "one" / "scores.json")["test"]["f1"] > least
