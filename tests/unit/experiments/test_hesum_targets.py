"""What fills HeSum's tables and figures: on made-up articles, and on those at hand."""

from pathlib import Path

import pytest

from heron.base.files import read_yaml
from heron.base.tables import write_table
from heron.cli import main
from heron_forks.hesum import targets
from heron_tools.reproduction import targets as reproduced
from heron_tools.reproduction.targets import TargetRequest, read_targets
from real_data import DATA, ENCODER, on_real
from small_study import answer_json, sample

FOLDER = Path(targets.__file__).parent
ARTICLE = "הממשלה אישרה אתמול את התקציב אחרי דיון ארוך בירושלים"


def fill(key, request):
    return read_targets()[f"hesum:{key}"].compute(request)


def write_hesum(folder, sizes, summary="הממשלה אישרה תקציב חדש"):
    """Splits of articles of ten words with summaries of four, two of them in no article."""
    for split, size in sizes.items():
        articles = [f"{ARTICLE} {split}{number}" for number in range(size)]
        columns = {"article": articles, "summary": [summary] * size}
        path = folder / "hesum" / f"{split}.csv"
        write_table(path, columns)


@pytest.fixture
def unsized(monkeypatch):
    """Let made-up files stand for those that a data set names with size and hash."""
    configure = reproduced.configure

    def without_sizes(name, words):
        config = configure(name, words)
        for file in config.files.values():
            file.rows = file.size = file.git_blob = None
        return config

    monkeypatch.setattr(reproduced, "configure", without_sizes)


@pytest.fixture
def whole(tmp_path, unsized):
    """All three files, of 8, 4 and 3 articles."""
    write_hesum(tmp_path, {"train": 8, "validation": 4, "test": 3})
    return TargetRequest(tmp_path, tmp_path / "cache")


def test_texts_are_described_split_by_split(whole):
    values = fill("T1", whole).values["table1"]
    assert {key[0] for key in values} == {"train", "validation", "test"}
    found = {name: values[name, "rows"].value for name in ("train", "validation", "test")}
    assert found == {"train": 8, "validation": 4, "test": 3}
    assert values["test", "article_length"].value == 10
    assert values["test", "summary_length"].value == 4
    # Nine words that all share, and one of each article.
    assert values["train", "tokens"].value == 9 + 8
    assert not any(one.mark for one in values.values())


def test_shares_of_all_splits_stand_beside_the_paper_s_rows(whole):
    values = fill("T5", whole).values["table5"]
    assert {key[0] for key in values} == {"HeSum", "HeSum, morphemes"}
    # "תקציב" (the article has התקציב) and "חדש" are novel; so are two of three pairs.
    assert values["HeSum", "novel_1"].value == pytest.approx(2 / 4)
    assert values["HeSum", "novel_2"].value == pytest.approx(2 / 3)
    assert values["HeSum", "compression"].value == pytest.approx(1 - 4 / 10)
    assert values["HeSum", "redundancy_1"].value == 0
    # By morpheme, the prefix of התקציב is taken off.
    assert values["HeSum, morphemes", "novel_1"].value < 2 / 4
    assert {one.n for one in values.values()} == {15}
    assert {key[0] for key in fill("T2", whole).values["table5"]} == {"HeSum"}


@pytest.mark.usefixtures("unsized")
def test_without_hesum_the_unchanged_pairs_of_the_subset_stand_in_and_are_marked(tmp_path):
    kinds = ["original", "curated", "original", "normalized"]
    columns = {
        "id": list("abcd"),
        "article": [f"{ARTICLE} {n}" for n in range(4)],
        "summary": ["הממשלה אישרה תקציב חדש"] * 4,
        "summary_kind": kinds,
        "source_file": ["x"] * 4,
    }
    write_table(tmp_path / "hesum_subset" / "pairs.jsonl", columns)
    request = TargetRequest(tmp_path, tmp_path / "cache")
    found = fill("T5", request)
    assert {one.mark for one in found.values["table5"].values()} == {
        "hesum_subset, 2 unchanged pairs"
    }
    assert {one.n for one in found.values["table5"].values()} == {2}
    assert {key[0] for key in fill("T1", request).values["table1"]} == {"hesum_subset"}
    assert "In place of HeSum" in found.notes[-1]


def test_filled_forms_give_counts_of_errors_and_mean_ratings(tmp_path):
    study = sample(tmp_path, "articles=5", "raters=3", articles=6)
    systems = study.systems

    def answer(rater, item, judged):
        noticed = []
        if judged.system == systems[0]:
            noticed = ["wrong_gender"]  # by everybody
        elif judged.system == systems[1] and rater == "r1":
            noticed = ["hallucination"]  # by one of three
        rating = 1 + systems.index(judged.system)
        ratings = {"coherence": rating, "completeness": 5}
        return {"ratings": ratings, "errors": noticed, "none": not noticed}

    answer_json(study, answer, tmp_path / "returned")
    files = [tmp_path / "study", tmp_path / "returned"]
    found = fill("T4", TargetRequest(tmp_path, tmp_path / "cache", files=files))
    counts = found.values["table4"]
    assert {column for _, column in counts} == set(targets.ERRORS.values())
    assert counts[systems[0], "incorrect gender"].value == 5
    assert counts[systems[1], "hallucination"].value == 0
    assert sum(one.value for one in counts.values()) == 5
    assert {(one.n, one.mark) for one in counts.values()} == {
        (5, "not 30 summaries of each system")
    }
    means = found.values["table3_people"]
    assert [means[name, "coherence"].value for name in systems] == [1, 2, 3]
    assert means[systems[2], "completeness"].value == 5
    # The names of heron's errors are those of the forms, and the paper's those of its table.
    published = read_yaml(FOLDER / "published.yaml")["tables"]["table4"]
    assert sorted(published["columns"]) == sorted(targets.ERRORS.values())
    assert set(targets.ERRORS) == {one.name for one in study.errors}
    assert tuple(published["rows"]) == targets.SYSTEMS


def test_scales_are_those_of_the_forms_in_two_languages(tmp_path):
    english, hebrew = fill("F1", TargetRequest(tmp_path, tmp_path)).tables
    assert [row[0] for row in english.rows] == ["Coherence", "Completeness"]
    assert [len(row) for row in hebrew.rows] == [4, 4]
    assert all("\u05d0" <= row[0][0] <= "\u05ea" for row in hebrew.rows)


def test_the_prompt_is_the_one_that_is_sent(tmp_path):
    files = fill("F2", TargetRequest(tmp_path, tmp_path)).files
    said = files["hesum.txt"].splitlines()
    assert said[0].startswith("You are a genius summarizer.")
    assert said[1] == "1. The summary should be concise, consisting of up to 3 sentences."
    assert said[3] == "3. The output should be in English."
    assert said[-1] == "(the article)"
    assert files["hesum_he.txt"].splitlines()[3].endswith("בעברית.")


def test_the_page_shows_hebrew_from_right_to_left(tmp_path, page, capsys):
    assert main(["reproduce", "hesum:F1", f"out={tmp_path}"]) == 0
    page.open(tmp_path / "hesum" / "F1" / "result.html", 420)
    script = """[...document.querySelectorAll("td")].map(cell => {
        const text = cell.firstChild, places = [0, text.length - 1].map(start => {
            const range = document.createRange();
            range.setStart(text, start); range.setEnd(text, start + 1);
            return range.getBoundingClientRect(); });
        return [cell.textContent, places[0].left < places[1].left]; })"""
    cells = dict(page.run(script))
    (english,) = [text for text in cells if text.startswith("Does the summary hold")]
    (hebrew,) = [text for text in cells if text.startswith("האם התקציר כולל")]
    # The question mark ends the sentence: on the right in English, on the left in Hebrew.
    assert english[-1] == hebrew[-1] == "?"
    assert cells[english] is True
    assert cells[hebrew] is False
    assert page.errors == []


@on_real
def test_the_unchanged_pairs_are_close_to_table_2_by_white_space(tmp_path):
    found = fill("T5", TargetRequest(DATA, tmp_path))
    values = {key: round(100 * one.value, 1) for key, one in found.values["table5"].items()}
    words = [values["HeSum", f"novel_{n}"] for n in (1, 2, 3, 4)]
    assert words == [44.1, 72.2, 80.4, 83.0]
    assert (values["HeSum", "compression"], values["HeSum", "redundancy_1"]) == (94.0, 5.0)
    morphemes = [values["HeSum, morphemes", f"novel_{n}"] for n in (1, 2, 3, 4)]
    assert morphemes == [24.9, 53.9, 69.7, 76.4]
    published = read_yaml(FOLDER / "published.yaml")["tables"]["table5"]
    inside = [
        one.low <= printed <= one.high
        for column, printed in zip(published["columns"], published["rows"]["HeSum"], strict=True)
        for one in [found.values["table5"]["HeSum", column]]
    ]
    assert sum(inside) == 5


@on_real
@pytest.mark.skipif(not ENCODER.is_dir(), reason="HERON_ENCODER names no folder")
def test_bertscore_is_of_the_pairs_that_the_encoder_can_read(tmp_path):
    request = TargetRequest(DATA, tmp_path, encoder=str(ENCODER))
    found = fill("T1", request).values["table1"]["hesum_subset", "bertscore"]
    assert found.n < 208
    assert 0.6 < found.value < 0.8
    assert found.mark.endswith(f"{ENCODER.name}, layer 9")
