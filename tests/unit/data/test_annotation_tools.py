"""Exports of annotation tools are read at once, with every span where the annotator marked it."""

import json

import pytest

from heron.base.folders import data_set_file
from heron.base.tables import write_table
from heron.data.config import read_config
from heron.data.readers import read_rows
from label_studio import choice, region, span_result, utf16

CONTEXT = "🎤 Ana are  mere\nși pere."
HEBREW = "דָּוִד הָלַךְ אל 𐤀𐤁𐤂 וחזר. 𝒳𝒴 הוא שב הביתה."
TWO_LINES = "Ana are  mere.\r\nIon doarme 𝒳𝒴 aici."


def row_of(name, path, labels=()):
    config = read_config(data_set_file(name))
    config.language = "ro"
    config.label_order = list(labels) or config.label_order
    return read_rows(path, config, "optional", "report")


def task(number, data, *annotations):
    made = [{"completed_by": 1, "result": result} for result in annotations]
    cancelled = {"completed_by": 2, "was_cancelled": True, "result": [choice("wrong")]}
    return {"id": number, "data": data, "annotations": [*made, cancelled], "predictions": []}


def flat(number, data, **tags):
    of_export = {"annotator": 1, "annotation_id": number, "lead_time": None}
    return {**data, "id": 7, **tags, **of_export, "created_at": "a day", "updated_at": "a day"}


def write(path, rows):
    if path.suffix == ".csv":
        written = [
            {k: json.dumps(v) if isinstance(v, list | dict) else v for k, v in row.items()}
            for row in rows
        ]
        write_table(path, {name: [row.get(name) for row in written] for name in written[0]})
    else:
        path.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    return path


@pytest.mark.parametrize("name", ["nested.json", "min.json", "min.csv"])
def test_chosen_classes_are_labels_and_annotators_who_disagree_are_reported(tmp_path, name):
    texts = [{"text": text} for text in ("unu", "doi", "trei")]
    if name == "nested.json":
        results = [[[choice("bun")]], [[choice("bun")], [choice("rău")]], [[choice("bun", "rău")]]]
        pairs = zip(texts, results, strict=True)
        rows = [task(n, data, *made) for n, (data, made) in enumerate(pairs)]
    else:
        rows = [
            {**flat(1, texts[0], opinion="bun"), "id": 1},
            {**flat(2, texts[1], opinion="bun"), "id": 2},
            {**flat(3, texts[1], opinion="rău"), "id": 2},
            {**flat(4, texts[2], opinion={"choices": ["bun", "rău"]}), "id": 3},
        ]
    rows_read = row_of("own_classification", write(tmp_path / name, rows), ["bun", "rău"])
    assert [(e.text, e.label) for e in rows_read.examples] == [("unu", "bun")]
    assert len(rows_read.problems) == 2


def spans(example):
    return [example.text[start:end] for start, end in example.spans]


@pytest.mark.parametrize("units", [len, utf16])
@pytest.mark.parametrize("name", ["nested.json", "min.json", "min.csv"])
def test_spans_answer_the_row_s_question_or_their_own(tmp_path, name, units):
    data = {"text": CONTEXT, "question": "Ce are Ana?"}
    own = {"text": CONTEXT}
    marked = [span_result(CONTEXT, answer, "r", units=units) for answer in ("mere\nși", "pere")]
    asked = [
        region(CONTEXT, "Cine?", "Ana", "a", units),
        region(CONTEXT, "Face?", "are  mere", "b", units),
    ]
    if name == "nested.json":
        rows = [task(7, data, *[[one] for one in marked])]
        rows_asked = [task(7, own, [*asked[0], *asked[1]])]
    else:
        rows = [flat(n, data, answer=[one["value"]]) for n, one in enumerate(marked)]
        answer = [span["value"] for span, _ in asked]
        rows_asked = [flat(1, own, answer=answer, question=["Cine?", "Face?"])]
    (example,) = row_of("own_qa", write(tmp_path / name, rows)).examples
    assert (example.text_pair, spans(example)) == ("Ce are Ana?", ["mere\nși", "pere"])
    first, second = row_of("own_qa", write(tmp_path / f"asked-{name}", rows_asked)).examples
    assert (first.text_pair, spans(first)) == ("Cine?", ["Ana"])
    assert (second.text_pair, spans(second)) == ("Face?", ["are  mere"])
    assert "repairs" not in second.side


@pytest.mark.parametrize(
    "marks",
    [
        {"label": [[2, 5, "answer"]]},
        {"entities": [[2, 5, "answer"]]},
        {"entities": [{"id": 1, "label": "answer", "start_offset": 2, "end_offset": 5}]},
    ],
)
def test_spans_of_doccano_answer_the_question_beside_them(tmp_path, marks):
    path = tmp_path / "doccano.jsonl"
    path.write_text(json.dumps({"id": 3, "text": CONTEXT, "question": "Cine?", **marks}), "utf-8")
    (example,) = row_of("own_qa", path).examples
    assert spans(example) == ["Ana"]


@pytest.mark.parametrize(
    "marked",
    [
        {HEBREW: [(24, 28), (42, 47), (7, 13)], TWO_LINES: [(9, 13), (20, 26), (32, 36)]},
        {HEBREW: [(15, 19), (31, 36), (4, 7)], TWO_LINES: [(9, 13), (19, 25), (29, 33)]},
    ],
    ids=["UTF-16 units", "graphemes"],
)
def test_spans_are_read_in_the_unit_that_doccano_counts(marked, tmp_path, capsys):
    """The numbers are those that doccano 1.8.4 has stored for words marked in a browser."""
    rows = []
    for number, (text, places) in enumerate(marked.items()):
        entities = [{"label": "answer", "start_offset": s, "end_offset": e} for s, e in places]
        rows.append({"id": number, "text": text, "question": "Ce?", "entities": entities})
    path = tmp_path / "doccano.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    hebrew, two_lines = row_of("own_qa", path).examples
    assert spans(hebrew) == ["וחזר", "הביתה", "הָלַךְ"]
    assert spans(two_lines) == ["mere", "doarme", "aici"]
    assert "offsets count" in capsys.readouterr().err


def test_a_span_that_is_not_where_it_says_is_repaired_and_one_without_is_unlabelled(tmp_path):
    moved = span_result(CONTEXT, "pere", "r", shift=-3)
    data = {"text": CONTEXT, "question": "Ce?"}
    rows = [task(1, data, [moved]), {**task(2, data), "annotations": []}]
    first, second = row_of("own_qa", write(tmp_path / "a.json", rows)).examples
    assert (spans(first), first.side["repairs"]) == (["pere"], ["repaired"])
    assert second.label is None
