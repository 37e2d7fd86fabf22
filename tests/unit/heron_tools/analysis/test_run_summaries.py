"""`heron analyze` on a run of summaries: slices of it, and the page of all summaries."""

import itertools

import numpy as np
import pytest

from heron.base.errors import ConfigError
from heron.base.files import read_json
from heron.base.tables import write_table
from heron.cli import main
from heron.languages.hebrew import HEBREW
from heron.languages.words import folded_words
from heron.metrics.summary import extractive_scores, item_rouge, split_sentences
from heron_tools.analysis import summaries as analysis
from heron_tools.analysis.command import open_slicer
from heron_tools.analysis.summaries import novel_spans
from heron_tools.statistics.options import parse
from made_up_runs import (
    HOSTILE,
    article_of,
    changed,
    gold_of,
    make_summary_run,
    read_payload,
    written_for,
)
from summary_shares import mean_shares

N = 40
PNG = b"\x89PNG"
FIGURES = {
    "article_length": "article_length",
    "summary_length": "summary_length",
    "compression": "compression",
    "novelty": "novel_2",
}
BY = ("article_length", "summary_length", "compression", "novelty")


@pytest.fixture(autouse=True)
def fast_figures(monkeypatch, request):
    """Replace the figure where a test is not about it."""
    if "drawn" not in request.node.name:
        monkeypatch.setattr("heron_tools.analysis.figures.slices_figure", lambda *inputs: PNG)


@pytest.fixture
def run(tmp_path):
    return make_summary_run(tmp_path)


def opened(run, *words):
    return open_slicer(parse([f"run={run}", *map(str, words)])[0])


def analyze(*words):
    """Run the command; returns its exit code."""
    return main(["analyze", *map(str, words)])


def test_a_run_leaves_a_table_and_a_figure_for_each_analysis_and_a_page(run, capsys):
    assert analyze(f"run={run}") == 0
    files = [f"test-{by}.{kind}" for by in sorted(BY) for kind in ("json", "png")]
    files += [f"test-statistics.{kind}" for kind in ("json", "md", "png")]
    names = sorted(path.name for path in (run / "analysis").iterdir())
    assert names == sorted(["summaries.html", *files])
    shown = capsys.readouterr().out
    assert "ROUGE by words of the article" in shown
    stored = read_json(run / "analysis" / "test-novelty.json")
    (table,) = stored["tables"]
    every = table["rows"][-1]
    expected = item_rouge(
        [written_for(row) for row in range(N)], [gold_of(row) for row in range(N)], HEBREW
    )
    copied = extractive_scores(
        [article_of(row) for row in range(N)], [gold_of(row) for row in range(N)], HEBREW
    )
    for measure in ("rouge1", "rouge2", "rougeL"):
        assert every[measure]["value"] == pytest.approx(expected[measure].mean())
        assert every[measure]["low"] < every[measure]["value"] < every[measure]["high"]
        for copy in ("lead3", "oracle"):
            assert every[f"{copy}_{measure}"] == pytest.approx(copied[f"{copy}_{measure}"])


@pytest.mark.parametrize("by", BY)
def test_slices_part_all_articles_by_what_the_gold_summary_and_the_article_are(run, by):
    slicer = opened(run, "bins=3")
    found = slicer.run(by)
    (slicing,) = found.slicings
    rows = np.concatenate([one.rows_M for one in slicing.slices])
    assert sorted(rows.tolist()) == list(range(N))
    values = slicer.split.frame[FIGURES[by]]
    edges = [(values[one.rows_M].min(), values[one.rows_M].max()) for one in slicing.slices]
    assert all(low[1] < high[0] for low, high in itertools.pairwise(edges))
    whole = found.tables[0].rows[-1]
    column = found.tables[0].columns.index("rouge1")
    means = [one.cells["rouge1"] for one in slicing.slices]
    means = [getattr(mean, "value", mean) for mean in means]
    sizes = [len(one.rows_M) for one in slicing.slices]
    assert np.average(means, weights=sizes) == pytest.approx(whole[column].value)


def test_what_articles_are_sliced_by_is_a_statistic_of_each_pair(run):
    frame = opened(run).split.frame
    pairs = list(zip(frame["article"], frame["gold"], strict=True))
    for name in ("compression", "novel_2"):
        expected = [mean_shares([article], [gold])[name] for article, gold in pairs]
        assert frame[name] == pytest.approx(np.array(expected), nan_ok=True)
    for name, text in (("article_length", "article"), ("summary_length", "gold")):
        assert frame[name].tolist() == [len(folded_words(cell)) for cell in frame[text]]


def test_the_seed_of_slices_is_the_one_that_was_asked_for(run):
    def intervals(seed):
        (slicing,) = opened(run, "bins=2", f"seed={seed}").run("summary_length").slicings
        return [one.cells["rouge1"] for one in slicing.slices]

    assert intervals(0) == intervals(0) != intervals(1)
    values = [[one.value for one in intervals(seed)] for seed in (0, 1)]
    assert values[0] == values[1]


def test_a_gold_summary_of_one_word_has_no_pairs_and_a_slice_of_its_own(run):
    with changed(run / "predictions" / "test.parquet") as columns:
        columns["gold"][:2] = ["תקציב", "מים"]
    (slicing,) = opened(run).run("novelty").slicings
    assert slicing.slices[-1].name == "(too short)"
    assert slicing.slices[-1].rows_M.tolist() == [0, 1]


def test_a_side_column_of_the_data_slices_as_well(run):
    assert analyze(f"run={run}", "by=desk") == 0
    (table,) = read_json(run / "analysis" / "test-desk.json")["tables"]
    assert [(row["slice"], row["n"]) for row in table["rows"]] == [
        ("news", N // 2),
        ("sport", N // 2),
        ("(all)", N),
    ]


def test_the_page_holds_every_summary_and_nothing_from_elsewhere(run):
    assert analyze(f"run={run}", "by=summaries") == 0
    page = (run / "analysis" / "summaries.html").read_text(encoding="utf-8")
    assert HOSTILE not in page
    assert "http" not in page.replace("http-equiv", "")
    content = read_payload(page, "cards-data")
    assert (content["direction"], content["language"]) == ("rtl", "he")
    assert [system["name"] for system in content["systems"]] == ["run", "lead3", "oracle"]
    assert [system["copied"] for system in content["systems"]] == [False, True, True]
    for number, row in enumerate(content["rows"]):
        assert row["article"] == article_of(number)
        own, lead, _ = row["texts"]
        assert own["text"] == written_for(number)
        assert lead["text"] == " ".join(split_sentences(article_of(number))[:3])
        assert lead["novel"] == []
        scores = item_rouge([own["text"]], [gold_of(number)], HEBREW)
        assert own["scores"] == pytest.approx([float(s[0]) for s in scores.values()], abs=5e-5)


def test_novel_words_are_those_whose_letters_the_article_lacks_wherever_they_stand(run):
    article = "The Committee met, in 1974. הכנסת 🦩 דנה"
    known = set(folded_words(article))
    summary = "🦩 committee MET 1974, twice: הכנסת הצביעה"
    novel = [summary[start:end] for start, end in novel_spans(summary, known)]
    assert novel == ["twice", "הצביעה"]
    row = analysis.payload(opened(run))["rows"][1]
    text = row["texts"][0]
    assert [text["text"][start:end] for start, end in text["novel"]] == ["בקרוב"]


def test_other_systems_stand_beside_a_run_with_gaps_where_they_have_none(run, tmp_path):
    even = range(0, N, 2)
    mine = {"guid": [f"s{row}" for row in even], "summary": [written_for(row, 1) for row in even]}
    write_table(tmp_path / "mine.csv", mine)
    (tmp_path / "other").mkdir()
    second = make_summary_run(tmp_path / "other", prediction=["אחר לגמרי"] * N)
    beside = f"beside={tmp_path / 'mine.csv'},{second}"
    assert analyze(f"run={run}", "by=summaries", beside) == 0
    page = (run / "analysis" / "summaries.html").read_text(encoding="utf-8")
    content = read_payload(page, "cards-data")
    names = [system["name"] for system in content["systems"]]
    assert names == ["run", "mine", "run (2)", "lead3", "oracle"]
    first, next_one = content["rows"][:2]
    assert first["texts"][1]["text"] == written_for(0, 1)
    assert next_one["texts"][1] is None
    assert next_one["texts"][2]["text"] == "אחר לגמרי"


def test_articles_that_do_not_fit_are_cut_and_the_page_says_so(run):
    slicer = opened(run)
    (page,) = analysis.page(slicer, megabytes=0.006).files.values()
    lengths = {len(row["article"]) for row in read_payload(page, "cards-data")["rows"]}
    assert max(lengths) < max(map(len, slicer.split.frame["article"]))
    assert f"cut after {max(lengths):,} characters" in page
    assert "cut after" not in str(analysis.page(slicer).files)


def test_summaries_without_a_gold_one_are_left_out_and_counted(run):
    path = run / "predictions" / "test.parquet"
    with changed(path) as columns:
        columns["gold"][0] = None
    assert analyze(f"run={run}", "by=novelty") == 0
    stored = read_json(run / "analysis" / "test-novelty.json")
    assert (stored["articles"], stored["unlabelled"]) == (N - 1, 1)
    with changed(path) as columns:
        columns["gold"] = [None] * N
    with pytest.raises(ConfigError, match="split=test: none of its articles"):
        opened(run)


def test_systems_of_other_data_are_said(run, tmp_path, capsys):
    write_table(tmp_path / "far.csv", {"guid": ["x"], "summary": ["y"]})
    write_table(tmp_path / "other.csv", {"guid": ["s3"], "summary": ["y"], "gold": ["another"]})
    beside = f"beside={tmp_path / 'far.csv'},{tmp_path / 'other.csv'}"
    assert analyze(f"run={run}", "by=summaries", beside) == 0
    said = capsys.readouterr().err
    assert "far.csv: 0 rows are the run's" in said
    assert "other.csv: 1 rows are the run's, 1 with another gold summary" in said


def with_marks(text):
    """Spell a text as it is no more when heron has read it: a direction mark around each word."""
    return " ".join(f"\u200f{word}\u200e" for word in text.split())


def test_a_system_that_kept_direction_marks_has_the_same_golds_and_loses_nothing(
    run, tmp_path, capsys
):
    guids = [f"s{row}" for row in range(N)]
    texts = {"marks.csv": with_marks, "plain.csv": str}
    for name, spell in texts.items():
        columns = {
            "gold": [spell(gold_of(row)) for row in range(N)],
            "prediction": [spell(written_for(row, 1)) for row in range(N)],
        }
        write_table(tmp_path / name, {"guid": guids, **columns})
    paths = [str(tmp_path / name) for name in texts]
    beside = f"beside={','.join(paths)}"
    marks, plain = analysis.systems_of(opened(run, beside).split)[1:3]
    assert plain.texts == [written_for(row, 1) for row in range(N)]
    assert marks.texts == list(map(with_marks, plain.texts))  # shown as they were written
    for name, score_N in plain.scores.items():
        np.testing.assert_array_equal(marks.scores[name], score_N)
    assert not capsys.readouterr().err
