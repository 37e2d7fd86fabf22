"""What fills ParaShoot's tables and figures: on made-up files, and on the paper's own."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from heron.base.errors import ConfigError
from heron.base.files import read_yaml
from heron.base.run_folder import config_text
from heron.base.tables import write_table
from heron.data.overrides import configure
from heron.models.config import EncoderConfig, HeadConfig
from heron.results.shipped import read_shipped
from heron.tasks.config import Config, TaskConfig
from heron.tasks.qa.answers import spans_as_given
from heron.tasks.qa.reader import given_context, normaliser
from heron_forks.parashoot import targets
from heron_forks.parashoot.answer_sheet import write_sheet
from heron_tools.reproduction.targets import TargetRequest, read_targets
from made_up_runs import HOSTILE, KINDS, make_answered_run, write_squad
from real_data import DATA, on_real

FOLDER = Path(targets.__file__).parent


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data set `parashoot` of made-up files, without a test file."""
    for split in ("train", "dev"):
        write_squad(tmp_path / "parashoot" / f"{split}.json", 40 if split == "train" else 20)
    config = configure("parashoot", ["data.verify=false"])
    for file in config.files.values():
        file.sha256 = file.size = file.rows = None
    monkeypatch.setattr(targets, "configure", lambda name, words: config_of(config))
    return TargetRequest(tmp_path, tmp_path / "cache")


def config_of(config):
    copied = configure("parashoot", ["data.verify=false"])
    copied.files = dict(config.files)
    return copied


def fill(key, request):
    return read_targets()[f"parashoot:{key}"].compute(request)


def test_sizes_leave_out_the_total_where_a_file_is_missing(data):
    found = fill("T1", data)
    values = {key: one.value for key, one in found.values["table1"].items()}
    assert values == {
        ("train", "articles"): 7,
        ("train", "paragraphs"): 7,
        ("train", "questions"): 40,
        ("validation", "articles"): 7,
        ("validation", "paragraphs"): 7,
        ("validation", "questions"): 20,
    }
    assert found.notes == ("Left out, since the file is missing: test.",)
    write_squad(data.data_dir / "parashoot" / "test.json", 10)
    total = fill("T1", data).values["table1"]["total", "questions"]
    assert total.value == 70


def test_question_words_are_shares_of_validation_that_sum_to_one(data):
    values = fill("T3", data).values["table3"]
    shares = {key: one.value for (key, _), one in values.items()}
    # KINDS: when, where to, about whom (not its first word), whom, where from; 4 of each.
    assert shares["when"] == pytest.approx(4 / 20)
    assert shares["where"] == pytest.approx(8 / 20)
    assert sum(shares.values()) == pytest.approx(1)
    assert {one.n for one in values.values()} == {20}


def test_a_filled_sheet_gives_table_2_and_the_ceiling(data):
    sheet = data.data_dir / "sheet.csv"
    examples = read_shipped(targets.configure("", []), data.data_dir, data.cache_dir).splits
    write_sheet(sheet, examples["validation"], sample=10, seed=0)
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        long = number < 3 and len(row["answer"].split()) > 1
        row["too_long" if long else "minimal"] = "x"
        row["corrected_answer"] = row["answer"].split()[0] if long else ""
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    long = sum(bool(row["too_long"]) for row in rows)
    request = TargetRequest(data.data_dir, data.cache_dir, files=[sheet])
    found = fill("T2", request)
    values = found.values["table2"]
    assert values["minimal", "share"].value == pytest.approx(1 - long / 10)
    assert values["too long", "share"].value == pytest.approx(long / 10)
    assert values["too short", "share"].value == 0
    assert values["minimal", "share"].low < values["minimal", "share"].value
    assert [table.title for table in found.tables][1] == "Annotation ceiling"
    with pytest.raises(ConfigError, match="from=FILE: 0 given, expected a filled sheet"):
        fill("T2", data)


@pytest.fixture
def answered(tmp_path):
    run = make_answered_run(tmp_path / "made", 60)
    return TargetRequest(tmp_path / "made" / "data", tmp_path / "cache", files=[run])


def test_a_run_s_overlaps_are_those_of_its_answers(answered):
    found = fill("T5", answered)
    values = found.values["table5"]
    names = ("equal", "inside", "contains", "overlaps", "disjoint")
    # One of each kind in turn (see KINDS).
    assert len(KINDS) == len(names)
    for name in names:
        assert values[name, "share"].value == pytest.approx(1 / 5)
        assert values[name, "share"].n == 60
        assert values[name, "share"].mark == "questions, test, scratch"
        if name != "equal":
            assert values[name, "share of errors"].value == pytest.approx(1 / 4)
            assert values[name, "share of errors"].n == 48
    drawn = found.tables[1]
    assert drawn.title == "50 drawn questions, seed 0"
    assert sum(row[2] for row in drawn.rows) == 50
    again = fill("T5", TargetRequest(answered.data_dir, answered.cache_dir, 1, answered.files))
    assert again.values == found.values
    assert again.tables[1].rows != drawn.rows


def test_the_interface_is_a_labelling_configuration_of_each_language(data):
    files = fill("F1", data).files
    for code, direction in (("he", "rtl"), ("en", "ltr")):
        root = ElementTree.fromstring(files[f"labelling-{code}.xml"])
        assert root.find("TextArea").get("perRegion") == "true"
        assert f"direction: {direction}" in root.get("style")
        assert len(files[f"instructions-{code}.txt"].splitlines()) == 3


def test_lengths_are_drawn_and_complex_questions_stand_beside_the_paper_s(data):
    found = fill("F2", data)
    assert found.figures["lengths.png"].startswith(b"\x89PNG")
    # One kind in five has eight words or more.
    complex_ones = found.values["figure2"]["all", "complex"]
    assert complex_ones.value == pytest.approx(1 / 5)
    assert (complex_ones.n, complex_ones.mark) == (60, "train, validation")


def test_every_number_has_its_place_in_the_published_tables(data, answered):
    tables = read_yaml(FOLDER / "published.yaml")["tables"]
    own = {("other", "share"): "has no row in the paper"}
    for key in ("T1", "T3", "T5", "F2"):
        for name, values in fill(key, answered if key == "T5" else data).values.items():
            for row, column in values.keys() - own.keys():
                assert row in tables[name]["rows"], (key, row)
                assert column in tables[name]["columns"], (key, column)


@pytest.mark.parametrize("key", ["F3", "A.1"])
def test_examples_are_a_page_from_right_to_left(key, data, answered, page, tmp_path):
    request = data if key == "F3" else answered
    found = fill(key, request)
    ((name, content),) = found.files.items()
    assert {row[1] for row in found.tables[0].rows} <= {gold for _, gold, _ in KINDS}
    assert HOSTILE not in content
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    for width in (1400, 420):
        page.open(path, width)
        assert page.run("document.querySelectorAll('.example').length") == (2 if key == "F3" else 3)
        direction = "getComputedStyle(document.querySelector('.example')).direction"
        assert page.run(direction) == "rtl"
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.run(wide) <= 0
    marked = "[...document.querySelectorAll('.annotated')].map(e => e.textContent)"
    assert set(page.run(marked)) & {gold for _, gold, _ in KINDS}
    if key == "A.1":
        under = "[...document.querySelectorAll('.predicted')].map(e => e.textContent)"
        # An error, a shorter answer inside the annotated one, and a longer one around it.
        assert page.run(under) == ["רות", "תל אביב", "דוד", " כהן"]
    assert page.errors == []


@pytest.fixture(scope="module")
def real():
    return TargetRequest(DATA, Path("cache"))


@on_real
def test_the_examples_of_the_paper_are_in_the_validation_file(real):
    found = fill("F3", real)
    assert found.notes[0].startswith("2 of 2 questions")
    page = found.files["figure3.html"]
    assert page.count('class="annotated"') == 2


@on_real
@pytest.mark.parametrize(
    ("name", "split"), [("parashoot", "validation"), ("parashoot_dev", "test")]
)
def test_made_predictions_on_the_paper_s_validation_file_fill_table_5_and_figure_a1(
    real, tmp_path, name, split
):
    """In turn the gold answer, the first word of the text, and all from the answer on."""
    config = configure(name, [])
    examples = read_shipped(config, real.data_dir, tmp_path).splits[split]
    columns = {}
    for number, example in enumerate(examples):
        text = given_context(example)
        ((start, end),) = spans_as_given(text, example.spans[:1], normaliser(config))
        if number % 3 == 1:
            start, end = 0, len(text.split()[0])
        if number % 3 == 2:
            end = len(text)
        start += len(text[start:end]) - len(text[start:end].lstrip())  # as heron cuts answers
        end = start + len(text[start:end].strip())
        gold = example.side["answers"][0]
        shown = {"guid": example.guid, "gold": gold, "prediction": text[start:end]}
        values = {**shown, "start": start, "end": end, "probability": 0.5, "no_answer": -1.0}
        values |= {"golds": json.dumps([gold]), "n_best": "[]"}
        values |= {"text_pair": example.text_pair, "text": text}
        for column, value in values.items():
            columns.setdefault(column, []).append(value)
    run = tmp_path / "run"
    run.mkdir()
    head = HeadConfig(name="span", input="question", pooling="tokens", classifier="span")
    encoder = EncoderConfig(name="onlplab/alephbert-base")
    made = Config(data=config, task=TaskConfig(name="qa"), head=head, encoder=encoder)
    (run / "config.yaml").write_text(config_text(made), encoding="utf-8")
    write_table(run / "predictions" / f"{split}.parquet", columns)
    request = TargetRequest(real.data_dir, tmp_path, files=[run])
    values = fill("T5", request).values["table5"]
    assert {one.mark for one in values.values()} == {""}
    assert values["equal", "share"].n == 221
    assert values["equal", "share"].value == pytest.approx(74 / 221, abs=0.01)
    assert values["contains", "share"].value == pytest.approx(73 / 221, abs=0.02)
    assert values["disjoint", "share"].value == pytest.approx(74 / 221, abs=0.05)
    page = fill("A.1", request).files["figureA1.html"]
    assert all(guid in page for guid in targets.FIGURE_A1)
