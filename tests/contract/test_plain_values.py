"""What is no text, number or absent is never a class, a text or an id, whoever reads it."""

import json

import pytest

from heron.base.errors import HeronError
from heron.base.folders import data_set_file
from heron.cli import main
from heron.data.config import read_config
from heron.data.overrides import configure
from heron.data.readers import read_rows
from heron.dynamics.cartography import read_statistics
from heron.dynamics.difficulty import read_scores
from heron.dynamics.files import read_record
from heron.results.frame import read_frame
from heron_tools.annotation.labels import Layout, read_labels

NO_TEXTS = [["Ana", "Ion"], {"x": "Ana", "y": "Ion"}, [["Ana"], ["Ion"]], {"x": 1.0}]
OF_TABLES = {
    "own_classification": {"text": "Ana vine", "label": "bun"},
    "own_nli": {"premise": "Ana vine", "hypothesis": "Ion vine", "label": "neutral"},
    "own_relation": {"text": "a [E1] b [/E1] c [E2] d [/E2] e", "label": "AFTER"},
    "own_qa": {"context": "Ana vine", "question": "Cine vine?", "answer": "Ana"},
    "own_summaries": {"article": "Ana vine. Ion pleacă.", "summary": "Ana vine."},
    "own_text": {"text": "Ana vine"},
}
CELLS = []
for name, row in OF_TABLES.items():
    for column in ("guid", "doc", *row):
        CELLS.append((name, column))


def write(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def read(path, name):
    config = read_config(data_set_file(name))
    config.columns.group = "doc"
    config.label_order = config.label_order or ["bun", "rău"]
    rows = read_rows(path, config, "required")
    return [(row.guid, row.group, row.label, row.text, row.text_pair) for row in rows.examples]


@pytest.mark.parametrize(("name", "column"), CELLS)
def test_a_table_s_cell_is_one_value_or_refused_by_line(name, column, tmp_path):
    row = {"guid": "1", "doc": "d", **OF_TABLES[name]}
    plain = read(write(tmp_path / "t.jsonl", [row]), name)
    for wrapped in ([row[column]], {"text": row[column]}):
        assert read(write(tmp_path / "t.jsonl", [{**row, column: wrapped}]), name) == plain

    for value in NO_TEXTS:
        if column == "answer" and value == NO_TEXTS[0]:  # several right answers
            continue
        wrong = {**row, "guid": "2"}
        if name == "own_text":  # copies are left out
            wrong["text"] = "Ion pleacă"
        wrong[column] = value
        with pytest.raises(HeronError, match=r"t\.jsonl:2"):
            read(write(tmp_path / "t.jsonl", [row, wrong]), name)


def test_classes_of_a_file_are_no_lists(tmp_path):
    rows = [{"text": "a", "label": ["bun"]}, {"text": "b", "label": {"choices": ["rău"]}}]
    words = [f"data.files.train.path={tmp_path / 't.jsonl'}"]
    write(tmp_path / "t.jsonl", rows)
    assert configure("own_classification", words).label_order == ["bun", "rău"]
    for value in NO_TEXTS:
        write(tmp_path / "t.jsonl", [*rows, {"text": "c", "label": value}])
        with pytest.raises(HeronError, match=r"t\.jsonl:3"):
            configure("own_classification", words)


def read_ratings(path):
    layout = Layout(raters=["label", "other"])
    return read_labels([path], layout).values


READERS = [
    (lambda path: read_frame(path).columns, {"gold": "x", "prediction": "Ana"}),
    (read_ratings, {"label": "Ana", "other": "Ana"}),
    (lambda path: read_scores(path, "s", ["1"]).tolist(), {"s": 1}),
    (
        lambda path: read_statistics(path).guids,
        {"confidence": 1, "variability": 0, "correctness": 1},
    ),
    (lambda path: read_record(path).to_pylist(), {"gold": 0, "logits_epoch_0": [1, 0]}),
]


@pytest.mark.parametrize(("reader", "row"), READERS)
def test_ids_predictions_and_ratings_are_one_value_or_refused(reader, row, tmp_path):
    path = tmp_path / "dynamics_epoch_0.jsonl"
    plain = reader(write(path, [{"guid": "1", **row}]))
    columns = ["guid", *(name for name in row if name in ("gold", "prediction", "label"))]
    if "logits_epoch_0" in row:
        columns.remove("gold")  # a number
    for column in columns:
        cells = {"guid": "1", **row}
        assert reader(write(path, [{**cells, column: [cells[column]]}])) == plain
        for value in NO_TEXTS:
            with pytest.raises(HeronError, match=r"dynamics_epoch_0\.jsonl"):
                reader(write(path, [cells, {**cells, "guid": "2", column: value}]))


FORMS = [
    {"label": "Ana", "score": 0.9},
    [{"label": "Ana", "score": 0.1}],
    [{"label": "Ion", "score": 0.1}, {"label": "Ana", "score": 0.9}],
    {"summary_text": "Ana"},
    {"choices": ["Ana"]},
    {"text": "Ana", "answer_start": 0},
    [{"text": "Ion", "probability": 0.2}, {"text": "Ana", "probability": 0.8}],
    ["Ana"],
]


@pytest.mark.parametrize("task", ["classification", "qa", "summarization"])
@pytest.mark.parametrize("as_object", [True, False])
def test_predictions_in_any_form_score_as_their_texts(task, as_object, tmp_path):
    column = {"classification": "label", "qa": "answer", "summarization": "summary"}[task]
    texts = {"text": "Ana vine", "article": "Ana vine", "context": "Ana vine", "question": "q?"}
    gold = write(tmp_path / "gold.jsonl", [{"guid": "1", **texts, column: "Ana"}])
    words = ["score", f"task={task}", f"gold={gold}", "resamples=0"]
    for value in [*FORMS, *NO_TEXTS]:
        predictions = tmp_path / "p.json"
        rows = {"1": value} if as_object else [{"guid": "1", "prediction": value}]
        predictions.write_text(json.dumps(rows), "utf-8")
        out = tmp_path / "scores.json"
        code = main([*words, f"predictions={predictions}", f"out={out}"])
        assert code == (0 if value in FORMS else 2)
        if value in FORMS:
            (scores,) = json.loads(out.read_text()).values()
            assert max(scores.get(name, 0) for name in ("accuracy", "f1", "rouge1")) == 1
