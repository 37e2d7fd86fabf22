"""Questions in SQuAD's JSON become examples, and no wrong offset is ever used as it is."""

import json
import unicodedata

import pytest

from heron.base.errors import DataError
from heron.data.config import Columns, DataConfig, FileConfig, QaDataConfig
from heron.data.readers import load_with_report, read_rows

CONTEXT = "The strike ended on Monday. On Monday the port opened."
FIRST, SECOND = 20, 31  # where the two Mondays start


def answer(text="Monday", start=FIRST):
    return {"text": text, "answer_start": start}


def row(id="q1", question="When did it end?", **values):
    return {"id": id, "question": question, "answers": [answer()], **values}


@pytest.fixture
def config() -> DataConfig:
    own = DataConfig(
        name="own",
        language="en",
        task="qa",
        format="squad_json",
        label_order=["answer", "no_answer"],
        columns=Columns("context", text_pair="question"),
        files={"train": FileConfig("train.json")},
    )
    own.validation.fraction = 0
    return own


@pytest.fixture
def write(tmp_path):
    def write(*rows, context=CONTEXT, title="Strikes", **more):
        paragraph = {"context": context, "qas": list(rows), **more}
        article = {"paragraphs": [paragraph], **({"title": title} if title else {})}
        (tmp_path / "train.json").write_text(json.dumps({"version": "1.1", "data": [article]}))

    return write


@pytest.fixture
def read(tmp_path, config):
    return lambda: load_with_report(config, tmp_path, tmp_path / "cache")


def only(loaded):
    (example,) = loaded.examples["train"]
    return example


def problems(read) -> list[str]:
    with pytest.raises(DataError) as error:
        read()
    return [str(problem) for problem in error.value.problems]


def problem(read) -> str:
    (one,) = problems(read)
    return one


def found(example):
    return [example.text[span.start : span.end] for span in example.spans]


def test_a_question_becomes_an_example_with_its_gold_answers_as_spans(write, read):
    write(row(answers=[answer(), answer("on Monday", 17)]))
    example = only(read())
    assert (example.guid, example.text, example.text_pair) == ("q1", CONTEXT, "When did it end?")
    assert (example.label, example.group) == ("answer", "Strikes")
    assert found(example) == ["Monday", "on Monday"]
    assert example.side == {"file": "train.json", "line": 1, "answers": ["Monday", "on Monday"]}


def test_the_flat_layout_reads_like_the_nested_one(write, read, tmp_path):
    write(row(answers=[answer(), answer("port", 42)]))
    nested = only(read())
    flat = {
        **{"id": "q1", "title": "Strikes", "context": CONTEXT, "question": "When did it end?"},
        "answers": {"text": ["Monday", "port"], "answer_start": [FIRST, 42]},
    }
    (tmp_path / "train.json").write_text(json.dumps({"data": [flat]}))
    assert only(read()) == nested


def test_without_a_title_the_context_is_the_group_and_without_an_id_the_number(write, read):
    write({k: v for k, v in row().items() if k != "id"}, title=None)
    example = only(read())
    assert (example.guid, example.group) == ("train:1", CONTEXT)


def test_a_question_without_answers_is_labelled_and_plausible_answers_are_no_answers(write, read):
    plausible = [answer("port", 42)]
    write(
        row("a", is_impossible=True, answers=[], plausible_answers=plausible),
        row("b", answers=[]),
        row("c", is_impossible=False),
    )
    labels = {e.guid: (e.label, found(e)) for e in read().examples["train"]}
    assert labels == {
        "a": ("no_answer", []),
        "b": ("no_answer", []),
        "c": ("answer", ["Monday"]),
    }


def test_a_data_set_whose_questions_all_have_answers_refuses_one_without(write, read, config):
    config.label_order = ["answer"]
    write(row(answers=[]))
    assert "data.label_order=[answer,no_answer]" in problem(read)


@pytest.mark.parametrize(
    "values",
    [
        *({"is_impossible": True}, {"is_impossible": False, "answers": []}),
        *({"is_impossible": "TRUE"}, {"answers": "Monday"}),
        {"answers": {"text": ["a"], "answer_start": []}},
        {"answers": [answer(["Monday", "port"], FIRST)]},
        {"answers": [answer(start="20th")]},
        *({"question": "  "}, {"question": "?!"}, {"question": [7, 8]}),
        *({"context": ""}, {"context": " \n"}, {"context": "… —"}, {"context": None}),
    ],
)
def test_a_question_that_contradicts_itself_or_lacks_something_is_refused(write, read, values):
    write(row(**values))
    assert "train.json question 1: q1: " in problem(read)


def test_ids_that_repeat_are_numbered_and_that_is_said_once(write, read, capsys):
    write(row(), row("q1#2"), row(), row())
    assert [e.guid for e in read().examples["train"]] == ["q1", "q1#2", "q1#3", "q1#4"]
    assert capsys.readouterr().err.count("numbered") == 1


def test_one_paragraph_without_a_list_and_starts_that_are_text_are_read(write, read, tmp_path):
    write(row(answers=[answer(start=str(SECOND)), answer(start=f"{FIRST}.0")]))
    content = json.loads((tmp_path / "train.json").read_text())
    content["data"][0]["paragraphs"] = content["data"][0]["paragraphs"][0]
    (tmp_path / "train.json").write_text(json.dumps(content))
    assert [span.start for span in only(read()).spans] == [SECOND, FIRST]


def test_misaligned_answers_are_all_refused_with_what_stands_there_and_where_they_do(write, read):
    write(
        row("far", answers=[answer(start=FIRST - 5)]),
        row("good"),
        row("nowhere", answers=[answer("Tuesday")]),
        row("behind", answers=[answer(start=900)]),
        row("negative", answers=[answer(start=-1)]),
    )
    far, nowhere, *others = problems(read)
    for number, said in zip((1, 3, 4, 5), (far, nowhere, *others), strict=True):
        assert f"train.json question {number}: " in said
    assert str(FIRST) in far
    assert ("misaligned=repair" in far, "misaligned=repair" in nowhere) == (True, False)


@pytest.mark.parametrize(("start", "place"), [(0, FIRST), (FIRST + 4, FIRST), (FIRST + 7, SECOND)])
def test_repair_takes_the_nearest_place_and_counts(write, read, config, start, place):
    config.qa = QaDataConfig(misaligned="repair")
    write(row(answers=[answer(start=start)]))
    example = only(read())
    assert found(example) == ["Monday"]
    assert example.spans[0].start == place
    assert example.side["repairs"] == ["repaired"]


@pytest.mark.parametrize("start", [FIRST - 3, FIRST + 1, None])
def test_repair_takes_an_answer_with_other_white_space_and_counts(write, read, config, start):
    config.qa = QaDataConfig(misaligned="repair")
    context = CONTEXT.replace("on Monday.", "on\u00a0 Monday.")
    write(row(answers=[answer("on Monday.", start)]), context=context)
    example = only(read())
    assert found(example) == ["on\u00a0 Monday."]
    assert (example.side["answers"], example.side["repairs"]) == (["on Monday."], ["repaired"])


WIDE = "🎤🎉 Ion 7, Ana 7 puncte."  # two characters before it are two UTF-16 units each
SEVENS = [WIDE.index("7"), WIDE.rindex("7")]


@pytest.mark.parametrize("misaligned", ["refuse", "repair", "drop"])
def test_offsets_in_utf_16_units_are_exact_and_every_place_is_listed(
    write, read, config, misaligned
):
    config.qa = QaDataConfig(misaligned=misaligned)
    write(row(answers=[answer("7", SEVENS[0] + 2)]), context=WIDE)
    example = only(read())
    assert example.spans[0].start == SEVENS[0]
    assert example.side["moved"] == [
        {"answer": "7", "answer_start": SEVENS[0] + 2, "place": SEVENS[0]}
    ]


def test_the_unit_of_offsets_is_that_which_fits_most_answers_of_a_file(write, read):
    context = "🎤🎉 7 7 7 end"
    answers = [answer("7", 5), answer("end", 11)]  # either reading finds a 7, one finds the end
    write(row(answers=answers), context=context)
    assert [span.start for span in only(read()).spans] == [3, 9]


def test_an_empty_answer_beside_others_is_left_out_and_counted(write, read):
    write(row(answers=[answer(), answer("", 0), answer(None, 0)]))
    example = only(read())
    assert (example.side["answers"], example.side["repairs"]) == (["Monday"], ["empty"])
    write(row(answers=[answer("", 0)]), row("q2", answers=[answer("", 0)], is_impossible=True))
    loaded = read()
    assert only(loaded).label == "no_answer"
    assert loaded.dropped == {"train": {"empty answer": 1}}


@pytest.mark.parametrize(("start", "misaligned"), [(18, "refuse"), (18, "drop"), (16, "repair")])
def test_an_answer_of_other_unicode_composition_is_placed(write, read, config, start, misaligned):
    config.qa = QaDataConfig(misaligned=misaligned)
    config.language = "ro"
    context = unicodedata.normalize("NFD", "Țara are munți. Băiatul doarme.")
    write(row(answers=[answer("Băiatul", start)]), context=context)
    example = only(read())
    assert (found(example), example.side["repairs"]) == (["Băiatul"], ["repaired"])


def test_drop_leaves_out_misaligned_answers_and_questions_without_another(write, read, config):
    config.qa = QaDataConfig(misaligned="drop")
    config.files["train"].rows = 2
    config.counts = {"train": {"answer": 2, "no_answer": 0}}
    write(row("one", answers=[answer(start=3)]), row("two", answers=[answer(start=3), answer()]))
    loaded = read()
    example = only(loaded)
    assert (example.guid, found(example), example.side["answers"]) == (
        "two",
        ["Monday"],
        ["Monday"],
    )
    assert example.side["repairs"] == ["misaligned answer"]
    assert loaded.dropped == {"train": {"misaligned answer": 1}}


def test_blanks_at_an_answers_ends_leave_the_span_and_stay_in_the_gold_string(write, read, config):
    write(row(answers=[answer(" Monday", FIRST - 1)]))
    trimmed = only(read())
    assert (found(trimmed), trimmed.side["answers"]) == (["Monday"], [" Monday"])
    assert trimmed.side["repairs"] == ["trimmed"]
    config.qa = QaDataConfig(trim=False)
    kept = only(read())
    assert found(kept) == [" Monday"]
    assert "repairs" not in kept.side


def test_offsets_count_in_the_files_context_and_spans_are_in_the_normalised_one(
    write, read, config
):
    config.language = "ro"
    context = "A\u200f fost e\u0302n oraşul Iaşi, ţara de Sus"
    write(row(answers=[answer("Iaşi", context.index("Iaşi"))]), context=f" {context}")
    assert "misaligned=repair" in problem(read)  # the blank moves it by one
    write(row(answers=[answer("Iaşi", context.index("Iaşi"))]), context=context)
    example = only(read())
    assert example.text == "A fost ên orașul Iași, țara de Sus"
    assert found(example) == ["Iași"]
    assert example.side["answers"] == ["Iaşi"]


def test_an_answer_of_direction_marks_alone_is_refused(write, read):
    write(row(answers=[answer("\u200f", 3)]), context="abc\u200f def")
    assert "data.unicode" in problem(read)


def test_side_columns_come_from_the_question_its_paragraph_or_its_article(write, read, config):
    config.columns.side = ["quality", "annotator"]
    write(row(quality="good"), annotator=7)
    assert only(read()).side == {
        **{"file": "train.json", "line": 1, "answers": ["Monday"]},
        **{"quality": "good", "annotator": 7},
    }


def test_a_question_without_answers_key_is_unlabelled(write, read, config, tmp_path):
    bare = {"id": "q2", "question": "Who?"}
    write(row(), bare)
    assert "question 2: q2: has no 'answers'" in problem(read)
    config.unlabelled = "drop"
    assert read().dropped == {"train": {"unlabelled": 1}}
    rows = read_rows(tmp_path / "train.json", config)
    assert [(e.guid, e.label, e.spans) for e in rows.examples][1] == ("q2", None, ())
    assert "answers" not in rows.examples[1].side


def test_whoever_only_predicts_needs_no_right_answers(write, config, tmp_path):
    write(row(answers=[answer(start=2)]), row("q2", answers="?"), row("q3", is_impossible="TRUE"))
    rows = read_rows(tmp_path / "train.json", config, labels="ignored")
    assert [(e.label, e.spans) for e in rows.examples] == [(None, ())] * 3
    assert rows.problems == []
