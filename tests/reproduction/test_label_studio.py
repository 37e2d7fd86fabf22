"""What a real Label Studio exports is read as its annotators marked it, in each of its formats."""

from __future__ import annotations

import json

import pytest

from heron.base.files import read_json
from heron.base.folders import data_set_file
from heron.cli import main
from heron.data.config import read_config
from heron.data.readers import read_rows
from label_studio import FORMATS, PROGRAM, choice, region, serving, span_result, utf16

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(
        not PROGRAM.is_file(),
        reason="HERON_LABEL_STUDIO names no label-studio (tests/helpers/label_studio.py)",
    ),
]
_TEXT = '<Text name="text" value="$text"/>'
CLASSES = f"""<View>{_TEXT}<Choices name="opinion" toName="text">
<Choice value="bun"/><Choice value="rău"/></Choices></View>"""
ANSWERS = f"""<View>{_TEXT}<Text name="question" value="$question"/>
<Labels name="answer" toName="text"><Label value="answer"/></Labels></View>"""
CONTEXT = "🎤 Ana are  mere\nși pere. 🎤 Ion doarme."


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("label_studio")) as running:
        yield running


def rows_of(name, path, **changes):
    config = read_config(data_set_file(name))
    config.language = "ro"
    config.label_order = changes.get("classes", config.label_order)
    return read_rows(path, config, "optional", "report")


def test_classes_are_labels(server, tmp_path):
    tasks = [{"text": f"Textul {number}."} for number in range(3)]
    results = [[[choice("bun")]], [[choice("rău")], [choice("rău")]], [[choice("bun")]]]
    project = server.annotate(CLASSES, tasks, results)
    for form in FORMATS:
        path = server.export(project, form, tmp_path)
        rows = rows_of("own_classification", path, classes=["bun", "rău"])
        assert [row.label for row in rows.examples] == ["bun", "rău", "bun"]


@pytest.mark.parametrize("units", [len, utf16], ids=["characters", "UTF-16 units"])
def test_spans_are_answers(server, tmp_path, units):
    asked = {"Ce are?": "mere\nși pere", "Cine doarme?": "Ion", "Cum are?": "are  mere"}
    tasks = [{"text": CONTEXT, "question": question} for question in asked]
    results = [[[span_result(CONTEXT, a, "r", to="text", units=units)]] for a in asked.values()]
    project = server.annotate(ANSWERS, tasks, results)
    for form in FORMATS:
        rows = rows_of("own_qa", server.export(project, form, tmp_path))
        assert rows.problems == []
        spans = {row.text_pair: row.text[slice(*row.spans[0])] for row in rows.examples}
        assert spans == asked


@pytest.mark.parametrize("units", [len, utf16], ids=["characters", "UTF-16 units"])
def test_questions_are_collected(server, tmp_path, units, capsys):
    texts = [f"Oraș {number} 🎤, mare  și\nvechi. " * 30 for number in range(4)]
    articles = [{"title": f"t{n}", "paragraphs": [t, f"{t}!"]} for n, t in enumerate(texts)]
    source = tmp_path / "articles.jsonl"
    source.write_text("\n".join(map(json.dumps, articles)), "utf-8")
    words = [f"from={source}", f"out={tmp_path / 'shoot'}", "language=ro"]
    assert main(["build", "parashoot", "sample", *words]) == 0
    tasks = read_json(tmp_path / "shoot" / "tasks.json")
    for task in tasks:  # of texts that another program has prepared
        task["data"]["context"] = task["data"]["context"].replace(", mare", ",  mare\n")
    results = []
    for number, task in enumerate(tasks):
        context = task["data"]["context"]
        first = region(context, f"Cum e orașul {number}?", "mare\n și vechi", "a", units)
        second = region(context, f"Ce e {number}?", "vechi", "b", units)
        results.append([[*first, *second]])
    labelling = (tmp_path / "shoot" / "labelling.xml").read_text("utf-8")
    project = server.annotate(labelling, tasks, results)
    for form in FORMATS:
        path = server.export(project, form, tmp_path)
        out = tmp_path / form
        assert main(["build", "parashoot", "collect", f"exports={path}", f"out={out}"]) == 0
        assert "16 questions - 0 rejected = 16" in capsys.readouterr().out
