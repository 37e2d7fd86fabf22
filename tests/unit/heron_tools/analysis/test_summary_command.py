"""`heron analyze` on articles and summaries, from the command line."""

from pathlib import Path

import pytest
from tests.unit.heron_tools.morphology.test_conllu import SAMPLE

from heron.base.files import read_json
from heron.base.run_folder import config_text
from heron.base.tables import read_table, write_table
from heron.cli import main
from heron.data.config import Columns, DataConfig, FileConfig
from heron.metrics.bertscore import bertscore
from heron.metrics.config import BertScoreConfig
from heron.models.config import HeadConfig
from heron.tasks import FORK_ANALYSES
from heron.tasks.config import Config, PathsConfig, TaskConfig
from heron_tools.analysis.command import open_slicer
from heron_tools.statistics.options import parse
from made_up_runs import changed

ROOT = Path(__file__).resolve().parents[4]
PUBLISHED = ROOT / "experiments/hesum/published.yaml"
SHARES = ["novel_1", "novel_2", "novel_3", "novel_4", "compression", "redundancy_1", "redundancy_2"]
ARTICLES = ["הילדים באו אל בית הספר בבוקר, ואז הלכו.", "שר החינוך אמר: לא יהיו שינויים בשנה הבאה."]
SUMMARIES = ["הילדים באו לבית הספר בזמן.", "אין שינויים, אמר שר החינוך."]


@pytest.fixture(autouse=True)
def fast_figures(monkeypatch):
    """Replace the figure, which takes most of the time; it has a test of its own."""
    monkeypatch.setattr("heron_tools.statistics.summaries.summaries_figure", lambda *inputs: b"PNG")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = 12
    columns = {
        "guid": [f"g{row}" for row in range(rows)],
        "article": [ARTICLES[row % 2] + f" פסקה {row}." for row in range(rows)],
        "summary": [SUMMARIES[row % 2] for row in range(rows)],
        "kind": [("long", "short", "short")[row % 3] for row in range(rows)],
    }
    for split in ("train", "test"):
        write_table(tmp_path / "data" / "own" / f"{split}.csv", columns)
    return tmp_path


def analyze(folder, *words):
    """Run the command on the table; returns its exit code."""
    shared = ["data=own_summaries", f"paths.data={folder / 'data'}", f"out={folder / 'out'}"]
    shared += ["data.files.test.path=own/test.csv", "data.language=he"]
    return main(["analyze", *shared, *map(str, words)])


def test_a_data_set_is_described_by_split_and_altogether(folder, capsys):
    assert analyze(folder, "morphology=simplemma-prefixes") == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "lengths.png",
        "statistics.json",
        "statistics.md",
    ]
    stored = read_json(folder / "out" / "statistics.json")
    assert list(stored["sets"]) == ["train", "test", "all"]
    assert [one["rows"] for one in stored["sets"].values()] == [12, 12, 24]
    assert stored["paper"] is None
    train = stored["sets"]["train"]
    assert train["units"]["whitespace"]["summary_length"] == 5.0
    assert train["articles"]["anaphors"] is None
    assert train["articles"]["morphemes"] > train["articles"]["words"]
    assert stored["note"].startswith("Prefixes are separated by a dictionary")
    shown = capsys.readouterr().out
    assert "UD_Hebrew-HTB's test" in " ".join(shown.split())
    assert "stanza, conllu:FILE" in " ".join(shown.split())


def test_a_column_tells_sets_apart(folder, capsys):
    assert analyze(folder, "by=kind", "data.columns.side=[kind]") == 0
    stored = read_json(folder / "out" / "statistics.json")
    sizes = {name: one["rows"] for name, one in stored["sets"].items()}
    assert sizes == {
        "train, long": 4,
        "train, short": 8,
        "test, long": 4,
        "test, short": 8,
        "all": 24,
    }
    assert analyze(folder, "by=kin", "data.columns.side=[kind]") == 2
    assert "Did you mean 'kind'" in capsys.readouterr().err
    assert analyze(folder, "by=kind") == 2
    assert "data.columns.side=[kind] reads it" in capsys.readouterr().err


def test_a_papers_numbers_stand_beside_with_differences_and_the_nearest_definition(folder):
    assert analyze(folder, f"published={PUBLISHED}") == 0
    stored = read_json(folder / "out" / "statistics.json")
    texts, _, shares, nearest = stored["tables"]
    assert [row["texts"] for row in texts["rows"]][:3] == [
        "train, paper",
        "validation, paper",
        "test, paper",
    ]
    ours = {(row["texts"], row["tokens"]): row for row in shares["rows"] if row["texts"]}
    assert ours["HeSum", "paper"]["novel 1"] == 0.42
    place = next(i for i, row in enumerate(shares["rows"]) if row["tokens"] == "whitespace")
    row, change = shares["rows"][place : place + 2]
    assert change["tokens"] == "- HeSum"
    assert change["novel 1"] == pytest.approx(row["novel 1"]["value"] - 0.42)
    inside = sum(
        row[name]["low"] <= printed <= row[name]["high"]
        for name, printed in ours["HeSum", "paper"].items()
        if name[:3] in ("nov", "CMP", "RED")
    )
    assert change["inside"] == f"{inside} of 7"
    distances = [
        r["mean |Δ|"] for r in nearest["rows"] if (r["texts"], r["paper"]) == ("all", "HeSum")
    ]
    ways = [w for w in stored["sets"]["all"]["definitions"] if w["row"] == "HeSum"]
    assert distances == sorted(w["mean_distance"] for w in ways)[:2]


def test_texts_for_another_tool_come_back_as_its_analyses(folder, capsys):
    table = read_table(folder / "data" / "own" / "train.csv")
    rows = {name: [table.values(name)[0]] for name in table.columns}
    rows["article"], rows["summary"] = ["ובביתו גר. כן"], ["כן"]
    for split in ("train", "test"):
        write_table(folder / "data" / "own" / f"{split}.csv", rows)
    assert analyze(folder, f"texts={folder / 'texts.jsonl'}") == 0
    assert read_table(folder / "texts.jsonl").values("text") == ["ובביתו גר. כן", "כן"]
    (folder / "made.conllu").write_text(SAMPLE, encoding="utf-8")
    assert analyze(folder, f"morphology=conllu:{folder / 'made.conllu'}") == 0
    stored = read_json(folder / "out" / "statistics.json")
    articles = stored["sets"]["train"]["articles"]
    assert (articles["anaphors"], articles["constructs"], articles["morphemes"]) == (1, 0, 7)
    assert stored["tables"][0]["rows"][0]["anaphors"] == 1.0


def test_summaries_are_compared_with_their_articles_where_an_encoder_is_named(
    folder, tiny_encoder, capsys
):
    words = [f"bertscore={tiny_encoder}", "bertscore_layer=1", "bertscore_long=cut"]
    assert analyze(folder, *words, f"paths.cache={folder / 'cache'}") == 0
    stored = read_json(folder / "out" / "statistics.json")
    found = stored["bertscore"]
    config = BertScoreConfig(str(tiny_encoder), 1, long="cut")
    table = read_table(folder / "data" / "own" / "train.csv").rows
    texts = [row["summary"] for row in table], [row["article"] for row in table]
    expected = bertscore(*texts, config).means()["bertscore_f1"]
    assert found["means"]["train"] == pytest.approx(expected, abs=1e-6)
    assert found["means"].keys() == {"train", "test", "all"}
    assert found["signature"] in " ".join(stored["tables"][0]["note"].split())
    assert analyze(folder, words[0]) == 2
    assert "bertscore_layer=" in capsys.readouterr().err


def make_run(folder, synthetic=False):
    """Write a run whose summaries are the articles' first words."""
    data = DataConfig(
        name="own_summaries",
        language="he",
        task="summarization",
        format="article_table",
        synthetic=synthetic,
        label_order=["summary"],
        columns=Columns(text="article", target="summary"),
        files={split: FileConfig(f"own/{split}.csv") for split in ("train", "test")},
    )
    paths = PathsConfig(data=str(folder / "data"), cache=str(folder / "cache"), runs="runs")
    head = HeadConfig(name="warm_start", input="article", pooling="tokens", classifier="warm_start")
    config = Config(data=data, task=TaskConfig(name="summarization"), head=head, paths=paths)
    run = folder / "run"
    run.mkdir()
    (run / "config.yaml").write_text(config_text(config), encoding="utf-8")
    table = read_table(folder / "data" / "own" / "test.csv")
    columns = {
        "guid": table.values("guid"),
        "gold": [None, *table.values("summary")[1:]],
        "prediction": [" ".join(text.split()[:4]) for text in table.values("article")],
        "text": table.values("article"),
    }
    write_table(run / "predictions" / "test.parquet", columns)
    return run


def test_a_runs_summaries_are_set_beside_gold(folder, capsys):
    run = make_run(folder)
    assert main(["analyze", f"run={run}", "by=statistics", f"published={PUBLISHED}"]) == 0
    kinds = ("json", "md", "png")
    names = sorted(path.name for path in (run / "analysis").iterdir())
    assert names == [f"test-statistics.{kind}" for kind in kinds]
    stored = read_json(run / "analysis" / "test-statistics.json")
    assert {name: one["rows"] for name, one in stored["sets"].items()} == {"gold": 11, "system": 11}
    rows = stored["tables"][0]["rows"]
    assert rows[4]["texts"] == "mLongT5 base"
    system, change = (
        next(row for row in rows if (row["texts"], row["tokens"]) == (name, "words"))
        for name in ("system", "system - gold")
    )
    assert system["novel 1"]["value"] == 0.0  # it copies
    assert change["novel 1"] < 0
    assert change["differ"].endswith("of 7")
    capsys.readouterr()
    assert main(["analyze", f"run={run}", "by=statistics", "split=validation"]) == 2
    assert "no such predictions; the run has: test" in capsys.readouterr().err


def test_statistics_and_slices_of_a_run_leave_the_same_rows_out_and_only_slices_score(
    folder, monkeypatch
):
    run = make_run(folder)
    with changed(run / "predictions" / "test.parquet") as columns:
        columns["gold"][1] = "  "
        columns["prediction"][2] = None
    assert open_slicer(parse([f"run={run}"])[0]).split.unlabelled == 2
    monkeypatch.setattr("heron_tools.analysis.summaries.item_rouge", None)
    assert main(["analyze", f"run={run}", "by=statistics"]) == 0
    stored = read_json(run / "analysis" / "test-statistics.json")
    assert {name: one["rows"] for name, one in stored["sets"].items()} == {"gold": 10, "system": 10}
    assert stored["empty"] == 1


def test_what_a_run_has_written_is_counted_as_its_data_was_read(folder):
    run = make_run(folder)
    assert main(["analyze", f"run={run}", "by=statistics"]) == 0
    path = run / "analysis" / "test-statistics.json"
    before = read_json(path)["sets"]
    with changed(run / "predictions" / "test.parquet") as columns:
        columns["prediction"] = [text.replace("ה", "ה\u200f") for text in columns["prediction"]]
    assert main(["analyze", f"run={run}", "by=statistics"]) == 0
    assert read_json(path)["sets"] == before


def test_published_statistics_of_hesum_are_as_printed_and_belong_together():
    published_statistics = FORK_ANALYSES["published_statistics"]

    found = published_statistics("hesum_subset")
    assert found == published_statistics("hesum") == published_statistics("any", PUBLISHED)
    assert published_statistics("trc") is None
    assert set(found.beside.values()) == {"HeSum", "HeSum, morphemes"}
    assert list(found.summaries["XSum"].values()) == [
        0.3576,
        0.8345,
        0.955,
        0.9849,
        0.904,
        0.0583,
        0.0016,
    ]
    # "approximately half of its unique vocabulary" is 42 %, "over 73 % of bigrams" is 73.2 %.
    assert found.summaries["HeSum"] == found.systems["reference"]
    for row in (*found.summaries.values(), *found.systems.values()):
        assert list(row) == SHARES
        novel = [row[name] for name in SHARES[:4]]
        assert novel == sorted(novel)
        assert row["redundancy_1"] > row["redundancy_2"]
    # What section 3.3's formula gives for the mean lengths is another number than it prints.
    test = found.texts["train"]
    assert 1 - test["summary_length"] / test["article_length"] == pytest.approx(0.9767, abs=1e-4)
