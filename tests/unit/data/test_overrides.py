"""Words laid over a data set: an error names the word, and says in plain words what it needs."""

from __future__ import annotations

from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import example, given
from hypothesis import strategies as st

from heron.base.errors import ConfigError
from heron.base.tables import write_table
from heron.config.constraints import all_keys
from heron.config.words import readable, rewrite
from heron.data.config import Columns, DataConfig
from heron.data.overrides import configure, override
from heron.data.readers import read_rows
from heron_tools.audit.checks import find_cases

PAIRS = DataConfig(label_order=["A", "B"])
QUESTIONS = ("qa", "squad_json")
ARTICLES = ("summarization", "article_table")


def data_of(task: str, form: str) -> DataConfig:
    columns = Columns(text_pair="question") if task == "qa" else Columns()
    return DataConfig(task=task, format=form, columns=columns)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("data.columns.text=טקסט", "טקסט"),
        ("data.columns.text=my (first) column", "my (first) column"),
        ("data.columns.text='a, b'", "a, b"),
        ("data.columns.text=x=y", "x=y"),
        ("data.columns.side=[titlu, țară]", ["titlu", "țară"]),
        ("data.label_aliases={כן: A, 'לא, לא': B, '0': A}", {"כן": "A", "לא, לא": "B", "0": "A"}),
        ("data.label_aliases.כן=A", {"כן": "A"}),
    ],
)
def test_words_in_any_script_are_read_as_heron_train_reads_them(word: str, found: Any) -> None:
    data = override(PAIRS, [word])
    key = "data.label_aliases" if "aliases" in word else word.partition("=")[0]
    assert attrgetter(key.removeprefix("data."))(data) == found
    if key == word.partition("=")[0] and "{" not in word:
        (parsed,) = OverridesParser.create().parse_overrides([readable(word)])
        assert parsed.value() == found


@pytest.mark.parametrize(
    ("value", "read"),
    [
        *[("2.0", "2"), ("1e3", "1000"), ("1.5e3", "1500"), ("1.5e0", "1.5e0"), ("2.5", "2.5")],
        *[("2.0,4e1,6", "2,40,6"), ("2.0,2.5", "2,2.5"), ("range(1,3)", "range(1,3)")],
    ],
)
def test_a_whole_number_may_have_a_point_or_exponent_and_no_other_is_rounded(value, read) -> None:
    assert readable(f"trainer.max_epochs={value}") == f"trainer.max_epochs={read}"


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("head=ESS,Emp", "head=ess,emp"),
        ("experiment=TRC/ESS", "experiment=trc/ess"),
        ("data.duplicates=DROP", "data.duplicates=drop"),
        ("head=NONE_SUCH", "head=NONE_SUCH"),
        ("data.title=Hello", "data.title=Hello"),
        ("curriculum=null", "curriculum=none"),
        ("~curriculum", "curriculum=none"),
        ("head=null", "head=null"),
        ("data.label_order=[A,B]", "data.label_order=[A,B]"),
    ],
)
def test_names_of_options_may_be_typed_in_capitals_and_texts_keep_theirs(typed, read) -> None:
    assert rewrite([typed]) == [read]


_KEYS = [key for key in all_keys(DataConfig, "data.") if key in all_keys()]


@given(
    st.sampled_from(_KEYS),
    st.one_of(st.text(max_size=8), st.text("[]{}:,'\"$?*&!#ab1 ", max_size=8)),
)
@example("data.columns.side", "[[a]]")
@example("data.label_aliases", "{[a]: b}")
@example("data.columns.text", "a\0")
def test_every_word_gives_a_data_set_or_an_error_that_is_shown(key: str, value: str) -> None:
    with suppress(ConfigError):
        assert isinstance(override(PAIRS, [f"{key}={value}"]), DataConfig)


def test_the_last_value_of_a_key_counts_and_mappings_are_merged() -> None:
    new = override(PAIRS, ["data.columns={label: gold}", "data.columns.label=right"])
    assert new.columns.label == "right"
    new = override(PAIRS, ["data.label_aliases.a=A", "data.label_aliases={b: B}"])
    assert new.label_aliases == {"a": "A", "b": "B"}


def test_values_that_go_together_are_checked_together() -> None:
    data = data_of(*QUESTIONS)  # whose two texts are never in one column
    new = override(data, ["data.columns.text=question", "data.columns.text_pair=asked"])
    assert (new.columns.text, new.columns.text_pair) == ("question", "asked")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((), ["data.label_aliases={a: A}", "data.unlabelled=drop", "data.columns.truth=t"]),
        (QUESTIONS, ["data.qa.misaligned=drop", "data.columns.answer=a", "data.unlabelled=drop"]),
        (ARTICLES, ["data.summaries.empty=drop", "data.columns.target=t", "data.unlabelled=drop"]),
    ],
)
def test_keys_of_the_data_s_own_task_are_taken(data: Any, words: list[str]) -> None:
    assert isinstance(override(data_of(*data) if data else PAIRS, words), DataConfig)


def test_classes_read_from_a_file_have_the_names_that_are_given(tmp_path):
    (tmp_path / "t.csv").write_text("text,label\na,1\nb,0\nc,2\n")
    words = [f"data.files.train.path={tmp_path / 't.csv'}", "data.label_aliases={0: good, 1: bad}"]
    assert configure("own_classification", words).label_order == ["good", "bad", "2"]


def test_a_file_s_own_key_is_its_path(tmp_path):
    (tmp_path / "t.csv").write_text("text,label\na,1\nb,0\n")
    data = configure("own_classification", [f"data.files.train={tmp_path / 't.csv'}"])
    assert data.files["train"].path == str(tmp_path / "t.csv")


CASES = "text,label\na,rău\nb,Bun\nc,bun\nd,bun\n"


@pytest.mark.parametrize(
    ("content", "word", "classes", "says"),
    [
        (CASES, "", ["bun", "rău"], True),
        (CASES, "data.label_aliases={Bun: bun}", ["bun", "rău"], False),
        (CASES, "data.label_order=[Bun,bun,rău]", ["Bun", "bun", "rău"], False),
        ("text,label\na,1\nb,1\nc,1.0\nd,0\n", "", ["0", "1"], True),
    ],
)
def test_labels_that_differ_in_case_only_are_one_class(
    content, word, classes, says, tmp_path, capfd
):
    path = tmp_path / "t.csv"
    path.write_text(content)
    words = [f"data.files.train.path={path}", *filter(None, [word])]
    data = configure("own_classification", words)
    assert data.label_order == classes
    said = capfd.readouterr().err
    assert ("data.label_aliases={" in said) == says
    assert {row.label for row in read_rows(path, data, "required").examples} == set(classes)

    (finding, *_) = [*find_cases(data), None]
    is_apart = len(classes) == 3
    if content == CASES:
        assert finding.severity == ("warning" if is_apart else "info")


@pytest.mark.parametrize("order", ["[entailment,not_entailment]", "[]"])
def test_two_classes_of_inference_need_one_word(order, tmp_path):
    (tmp_path / "t.csv").write_text("premise,hypothesis,label\na,b,e\nc,d,not_entailment\n")
    data = configure(
        "own_nli", [f"data.label_order={order}", f"data.files.train.path={tmp_path / 't.csv'}"]
    )
    assert data.label_order == ["entailment", "not_entailment"]
    assert data.label_aliases == {"e": "entailment"}
    rows = read_rows(tmp_path / "t.csv", data, "required")
    assert [row.label for row in rows.examples] == data.label_order


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("form", ["t-*.{0}", "[t-0.{0}, t-1.{0}]"])
def test_shards_are_one_file(form, suffix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(f"t-0.{suffix}", {"text": ["a", "b"], "label": ["x", "y"]})
    write_table(f"t-1.{suffix}", {"text": ["c"], "label": ["z"], "note": ["n"]})
    data = configure("own_classification", [f"data.files.train.path={form.format(suffix)}"])
    assert data.label_order == ["x", "y", "z"]
    rows = read_rows(Path(data.files["train"].path), data, "required").examples
    assert [row.text for row in rows] == ["a", "b", "c"]
