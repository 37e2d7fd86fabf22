"""`heron build translate`: rows there and back, the filter, the check, what is written."""

from collections import Counter

import openai
import pytest

from heron.base.files import read_yaml
from heron.base.tables import read_table, write_table
from heron.cli import main
from real_data import DATA, on_real
from small_prompts import serving

pytestmark = pytest.mark.real  # takes ten seconds; changes seldom


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(openai._base_client, "INITIAL_RETRY_DELAY", 0.01)


def reversing(prompt, times):
    """Translate by turning the words round; texts with the word for Monday are lost."""
    lost = "שני" in prompt.split()
    return 200, {"translatedText": "zzz" if lost else " ".join(prompt.split()[::-1])}


def pairs(count):
    """Make up pairs; the hypothesis of every fifth cannot be translated."""
    labels = ["contradiction", "entailment", "neutral"]
    return {
        "guid": [f"g{n}" for n in range(count)],
        "premise": [f"השביתה הסתיימה ביום {n // 2} לפני הצהריים" for n in range(count)],
        "hypothesis": [f"ביום {'שני' if n % 5 == 0 else n} היא נגמרה" for n in range(count)],
        "label": [labels[n % 3] for n in range(count)],
    }


@pytest.fixture
def build(tmp_path, tiny_encoder):
    """Run the command on 40 + 10 made-up pairs; returns its exit code and folder."""
    write_table(tmp_path / "train.csv", pairs(40))
    write_table(tmp_path / "test.csv", pairs(10))

    def run(url, *more):
        given = {word.partition("=")[0] for word in more}
        own = [word for word in ("to=en", "minimum=0.999") if word.partition("=")[0] not in given]
        words = [
            *(*own, "data=own_nli", "data.validation.fraction=0", "encoder.max_length=64"),
            *(f"data.files.{name}.path={tmp_path / name}.csv" for name in ("train", "test")),
            *("translation.backend=server", f"translation.url={url}/translate"),
            *(f"similarity={tiny_encoder}", f"out={tmp_path / 'out'}", "trainer.accelerator=cpu"),
            *(f"paths.cache={tmp_path / 'cache'}", f"paths.data={tmp_path}"),
        ]
        return main(["build", "translate", *words, *more]), tmp_path / "out"

    return run


def test_rows_that_do_not_come_back_are_dropped_and_counted(build, capsys):
    with serving(reversing) as place:
        code, out = build(place.url)
    assert code == 0
    kept = read_table(out / "test.csv").rows
    assert [row["guid"] for row in kept] == [f"g{n}" for n in (1, 2, 3, 4, 6, 7, 8, 9)]
    assert kept[0]["hypothesis"] == "נגמרה היא 1 ביום"
    assert kept[0]["original_hypothesis"] == "ביום 1 היא נגמרה"
    checked = read_table(out / "test.checked.csv").rows
    assert [row["guid"] for row in checked if row["kept"] == "False"] == ["g0", "g5"]
    assert {row["back_hypothesis"] for row in checked if row["kept"] == "False"} == {"zzz"}
    assert all(float(row["similarity_premise"]) == pytest.approx(1, abs=1e-5) for row in checked)
    said = capsys.readouterr().out
    assert "rows kept" in said
    assert "1.000 ± 0.000 (5)" in said, "five unique premises among ten rows"


@on_real
def test_every_row_of_control_goes_there_and_back(tmp_path, tiny_encoder):
    words = ["data=control_dev", f"paths.data={DATA}", f"paths.cache={tmp_path}/cache", "to=he"]
    words += ["encoder.max_length=64", "trainer.accelerator=cpu"]
    with serving(reversing) as place:
        words += ["translation.backend=server", f"translation.url={place.url}/translate"]
        out = tmp_path / "out"
        more = [f"similarity={tiny_encoder}", f"out={out}", "minimum=0.999"]
        assert main(["build", "translate", *words, *more]) == 0
    sizes = {"train": 540, "validation": 97, "test": 162}  # of 799 rows with 204 premises
    for name in (".checked", ""):
        found = {split: read_table(out / f"{split}{name}.csv").rows for split in sizes}
        assert {split: len(rows) for split, rows in found.items()} == sizes
    assert len({row["original_premise"] for rows in found.values() for row in rows}) == 204
    for row in found["test"]:
        assert row["premise"].split() == row["original_premise"].split()[::-1]
    known = read_yaml(out / "conf/data/translated.yaml")
    assert (known["language"], known["files"]["test"]["rows"]) == ("he", 162)


def test_a_second_threshold_asks_nobody_again(build):
    with serving(reversing) as place:
        build(place.url)
        asked = len(place.requests)
        code, out = build(place.url, "minimum=-1")
        assert (code, len(place.requests)) == (0, asked)
    assert len(read_table(out / "test.csv").rows) == 10


def test_a_command_that_was_cut_off_asks_only_for_what_has_not_arrived(build, capsys):
    healed = []

    def reply(prompt, times):
        return reversing(prompt, times) if healed or "7" not in prompt else (400, {"error": "no"})

    with serving(reply) as place:
        code, out = build(place.url, "traffic.concurrency=1")
        assert code == 2
        assert "Answers that have arrived are stored" in capsys.readouterr().err
        assert not out.exists()
        arrived = [each["q"] for each in place.requests if "7" not in each["q"]]
        healed.append(True)
        assert build(place.url)[0] == 0
        again = Counter((each["q"], each["source"]) for each in place.requests)
        assert arrived
        assert sum(again[text, "he"] for text in arrived) <= len(arrived) + 1, "one was under way"


def test_the_semantic_check_compares_labels_of_originals_and_what_came_back(
    build, tiny_encoder, capsys
):
    with serving(reversing) as place:
        code, _ = build(place.url, f"check={tiny_encoder}", "hidden=[8]")
    assert code == 0
    # Kept rows came back word by word, so that each keeps its label.
    assert "1.000 [0.676, 1.000]" in capsys.readouterr().out


def test_the_result_is_a_data_set_that_raters_can_get_with_its_originals(
    build, tmp_path, monkeypatch, capsys
):
    with serving(reversing) as place:
        _, out = build(place.url)
    known = read_yaml(out / "conf/data/translated.yaml")
    test = known["files"]["test"]
    assert (known["language"], test["path"], test["rows"]) == ("en", "test.csv", 8)
    monkeypatch.setenv("HERON_FORKS", str(out))
    words = ["data=translated", f"paths.data={out}", "rows=4", f"out={tmp_path / 'sheets'}"]
    shown = ["show=original_premise", "ask=fluency:1-5"]
    assert main(["annotate", "draw", *words, *shown]) == 0, capsys.readouterr().err
    sheet = read_table(tmp_path / "sheets/rater1.csv")
    assert sheet.columns == ("guid", "text", "text_pair", "original_premise", "fluency")
    assert all(row["original_premise"] for row in sheet.rows)
