import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.commands.report import write_report
from heron.languages.hebrew import HEBREW as HEBREW_LANGUAGE
from heron_tools.audit.report import highlight
from html_page import Page, requests_nothing
from made_up_runs import read_payload

MARKERS = HEBREW_LANGUAGE.event_markers
HOSTILE = "<script>alert('x')</script> [א1] <b onclick=x> [/א1] \"quoted\" & more"


def _page(folder) -> tuple[str, Page]:
    text = write_report(folder).html.read_text(encoding="utf-8")
    return text, Page(text)


def test_markup_in_texts_guids_and_names_is_shown_never_run(make_run):
    config = {"data.label_order": ["<i>BEFORE</i>", "AFTER"]}
    text, page = _page(make_run(rows=2, texts=[HOSTILE], pairs=[HOSTILE, "b"], config=config))
    assert "<script>alert" not in text
    shown = read_payload(text, "cards-data")
    assert (shown["rows"][0]["text"], shown["markers"]) == (HOSTILE, list(MARKERS))
    assert [row["pair"] for row in shown["rows"]] == [HOSTILE, "b"]
    assert "premise and hypothesis" in text
    assert [tag for tag, _ in page.tags].count("script") == 4
    assert not {"b", "i"} & {tag for tag, _ in page.tags}


def test_a_page_requests_nothing_from_anywhere(make_run):
    assert requests_nothing(_page(make_run())[0])


@pytest.mark.parametrize(("language", "direction"), [("he", "rtl"), ("ro", "ltr"), ("xx", "auto")])
def test_texts_run_in_their_languages_direction(make_run, language, direction):
    shown = read_payload(_page(make_run(config={"data.language": language}))[0], "cards-data")
    assert (len(shown["rows"]), shown["direction"]) == (40, direction)


def test_a_runs_page_is_named_after_its_data_head_encoder_and_seed(make_run):
    config = {"data.name": "trc", "head.name": "ess", "encoder.name": "/home/me/encoders/mine"}
    text, _ = _page(make_run("default-1a2b", config=config))
    assert "<h1>trc, head ess, encoder mine, seed" in text
    assert "<bdi>default-1a2b</bdi>: done" in text
    text, _ = _page(make_run("b", config={"data.name": "trc", "baseline.name": "majority"}))
    assert "<h1>trc, baseline majority, seed" in text
    own = {"data.name": "own_nli", "data.files": {"train": {"path": "/home/me/ყიფი/pairs.csv"}}}
    assert "<h1>ყიფი/pairs.csv, head" in _page(make_run("c", config=own))[0]
    own = {"data.name": "own_nli", "data.hub": "me/pairs"}
    assert "<h1>me/pairs, head" in _page(make_run("d", config=own))[0]


def test_synthetic_data_wears_a_banner_and_real_data_does_not(make_run):
    banner = 'class="banner"'
    assert banner in _page(make_run("a", config={"data.synthetic": True}))[0]
    assert banner not in _page(make_run("b"))[0]


def test_provenance_configuration_and_error_are_on_the_page(make_run):
    assert "abc1234" in _page(make_run("a"))[0]
    assert "onlplab/alephbert-base" in _page(make_run("b"))[0]
    assert "out of memory" in _page(make_run("c", state="failed"))[0]


def test_too_many_predictions_keep_the_wrong_ones_and_say_how_many_there_are(make_run):
    text, page = _page(make_run(rows=2_500))
    rows = read_payload(text, "cards-data")["rows"]
    wrong = [row for row in rows if not row["right"]]
    assert [tag for tag, _ in page.tags].count("tr") < 30  # none of them before the script runs
    assert len(rows) == 2_000
    assert f"2,000 of 2,500 examples, {len(wrong):,} wrong" in text


def test_a_sweeps_page_links_to_its_runs_relatively(make_run):
    folder = make_run("head=ess,seed=0-1a2b", ("head=ess", "seed=0"))
    make_run("head=emp,seed=0-3c4d", ("head=emp", "seed=0"), state="failed")
    _, page = _page(folder.parent)
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert sorted(links) == [
        "head%3Demp%2Cseed%3D0-3c4d/report.html",
        "head%3Dess%2Cseed%3D0-1a2b/report.html",
    ]
    assert (folder / "report.html").is_file()


@given(st.lists(st.sampled_from([*MARKERS, "<i>", "שלום", "&"])))
def test_highlight_balances_its_elements_whatever_the_markers_do(parts):
    text = " ".join(parts)
    page = Page(str(highlight(text, MARKERS)))
    assert "".join(page.text) == text
    assert {tag for tag, _ in page.tags} <= {"mark", "bdi"}


def test_a_runs_page_shows_what_each_stage_spent(make_run, make_ledger):
    ledger = make_ledger(80, ("easy", "all of <them>"))
    text, _ = _page(make_run("a", ledger=ledger))
    assert "<h2>Spent</h2>" in text
    assert "all of &lt;them&gt;" in text
    assert "80 optimizer steps were planned" in text
    assert "<h2>Spent</h2>" not in _page(make_run("b"))[0]
