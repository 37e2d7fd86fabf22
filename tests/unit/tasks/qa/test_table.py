"""A table with a question in each row reads like SQuAD's JSON, whatever made the table."""

import json

import pytest

from heron.base.errors import DataError
from heron.base.folders import conf_dir
from heron.base.tables import write_table
from heron.data.config import QaDataConfig, read_config
from heron.data.readers import read_rows

CONTEXT, QUESTION = "המסך המפוצל שודר ב-2 במרץ 2002.", "מתי שודר?"
ANSWER, START = "ב-2 במרץ 2002", 17


@pytest.fixture
def config():
    return read_config(conf_dir() / "data" / "own_qa.yaml")


@pytest.fixture
def read(tmp_path, config):
    def read(rows, labels="optional", name="own.jsonl", **values):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(row) for row in rows))
        return read_rows(path, config, labels, **values)

    return read


def row(**values):
    return {"context": CONTEXT, "question": QUESTION, **values}


def problem(read, *rows, **values) -> str:
    with pytest.raises(DataError) as error:
        read(rows, **values)
    (one,) = error.value.problems
    return str(one)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_every_format_gives_the_same_examples(tmp_path, config, suffix):
    columns = {
        **{"guid": ["a", "b"], "context": [CONTEXT] * 2, "question": [QUESTION] * 2},
        **{"answer": [ANSWER, "2002"], "answer_start": [START, CONTEXT.index("2002")]},
    }
    write_table(tmp_path / f"own{suffix}", columns)
    first, second = read_rows(tmp_path / f"own{suffix}", config, "required").examples
    assert (first.guid, first.label, first.group) == ("a", "answer", CONTEXT)
    assert [CONTEXT[slice(*e.spans[0])] for e in (first, second)] == [ANSWER, "2002"]
    assert second.side["answers"] == ["2002"]  # CSV has no types: an answer is text even so


def test_without_answers_rows_can_be_predicted_on(read):
    (example,) = read([row()], "ignored").examples
    assert (example.guid, example.label, example.spans) == ("own:1", None, ())
    assert example.side["line"] == 1
    (optional,) = read([row()]).examples
    assert optional.label is None


def test_a_list_of_answers_and_the_shape_of_other_libraries_are_read(read):
    lists = row(answer=[ANSWER, "2002"], answer_start=[START, CONTEXT.index("2002")])
    shipped = row(answers={"text": [ANSWER], "answer_start": [START]})
    (example,) = read([lists]).examples
    assert [CONTEXT[slice(*span)] for span in example.spans] == [ANSWER, "2002"]
    (example,) = read([shipped], "required").examples
    assert [CONTEXT[slice(*span)] for span in example.spans] == [ANSWER]
    assert "own:1" in problem(read, row(answer=["a", "b"], answer_start=[1]))


@pytest.mark.parametrize(
    "written",
    [
        json.dumps({"text": [ANSWER], "answer_start": [START]}),
        str({"text": [ANSWER], "answer_start": [START]}),
        f"{{'text': array(['{ANSWER}'],\n dtype=object), 'answer_start': array([{START}])}}",
        str([{"text": ANSWER, "answer_start": str(START)}]),
    ],
)
def test_answers_written_as_text_are_read(tmp_path, config, written):
    columns = {"context": [CONTEXT], "question": [QUESTION], "answers": [written]}
    write_table(tmp_path / "own.csv", columns)
    (example,) = read_rows(tmp_path / "own.csv", config, "required").examples
    assert (example.spans, example.side["answers"]) == (((START, START + len(ANSWER)),), [ANSWER])


def test_answer_start_may_be_left_out_where_the_answer_stands_once(read, config):
    config.qa = QaDataConfig()
    (example,) = read([row(answer=ANSWER)]).examples
    assert example.spans == ((START, START + len(ANSWER)),)
    assert "repairs" not in example.side
    said = problem(read, row(answer="2"))
    assert "own.jsonl:1: own:1: " in said
    assert "answer_start" in said
    assert "own:1" in problem(read, row(answer="1999"))
    config.qa = QaDataConfig(misaligned="repair")
    (example,) = read([row(answer="2")]).examples
    assert example.spans[0].start == CONTEXT.index("2")


def test_an_empty_answer_is_no_answer_where_that_is_a_class_and_else_unlabelled(read, config):
    rows = [row(answer=ANSWER, answer_start=START), row(answer=None)]
    assert [e.label for e in read(rows).examples] == ["answer", None]
    config.label_order = ["answer", "no_answer"]
    assert [e.label for e in read(rows).examples] == ["answer", "no_answer"]


def test_a_bad_row_names_its_line(read, config):
    config.qa = QaDataConfig()
    said = problem(read, row(answer=ANSWER, answer_start=3), row(answer="2002"), bad_rows="raise")
    assert "own.jsonl:1: own:1: at 3 the context reads" in said
    assert "answer_start is 1.5" in problem(read, row(answer=ANSWER, answer_start=1.5))


def test_squad_json_and_qa_table_each_read_both_shapes_of_json(tmp_path, config):
    rows = [row(answer=ANSWER, answer_start=START)]
    squad = {"data": [row(id="x", answers=[{"text": ANSWER, "answer_start": START}])]}
    (tmp_path / "table.json").write_text(json.dumps(rows))
    (tmp_path / "squad.json").write_text(json.dumps(squad))
    for file_format in ("qa_table", "squad_json"):
        config.format = file_format
        for name in ("table", "squad"):
            (example,) = read_rows(tmp_path / f"{name}.json", config, "required").examples
            assert CONTEXT[slice(*example.spans[0])] == ANSWER
