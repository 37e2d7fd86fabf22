"""`heron build matres`: TimeML and relations to a data set that `data=matres` reads."""

import re

import pytest

from heron.base.tables import read_table
from heron.cli import main
from heron.data.examples import Span
from heron.data.overrides import configure
from heron.data.readers import load, load_with_report
from heron_forks.trc.matres import TimeML, mark_relation, read_timeml
from real_data import DATA, on_real
from small_runs import TINY, heron, in_folder

TML = """<?xml version="1.0" ?>
<TimeML>
<DOCID>{name}</DOCID>
<TITLE>A strike</TITLE>
<TEXT>

Workers <EVENT eid="e1" class="OCCURRENCE">walked</EVENT> out on <TIMEX3 tid="t1">Monday</TIMEX3>.
The union <EVENT eid="e2" class="REPORTING">said</EVENT> talks <SIGNAL sid="s1">would</SIGNAL>
<EVENT eid="e3" class="OCCURRENCE">resume</EVENT> &amp; end soon.

It was No. 1.5 of the <EVENT eid="e4" class="OCCURRENCE">year</EVENT>.
</TEXT>
<MAKEINSTANCE eventID="e1" eiid="ei101" tense="PAST"/>
<MAKEINSTANCE eventID="e2" eiid="ei102" tense="PAST"/>
<MAKEINSTANCE eventID="e3" eiid="ei103" tense="NONE"/>
<MAKEINSTANCE eventID="e4" eiid="ei104" tense="NONE"/>
</TimeML>
"""
LINES = {
    "timebank": ["one\twalked\tsaid\t101\t102\tBEFORE", "one\tsaid\tresume\t102\t103\tVAGUE"],
    "aquaint": ["two\tresume\twalked\t103\t101\tAFTER"],
    "platinum": ["three\tsaid\tresume\t102\t103\tBEFORE"],
}


@pytest.fixture
def sources(tmp_path):
    for part, lines in LINES.items():
        (tmp_path / f"{part}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("one", "two", "three"):
        folder = tmp_path / "texts" / name[0]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.tml").write_text(TML.format(name=name), encoding="utf-8")
    return tmp_path


def build(folder):
    words = [f"relations={folder}", f"texts={folder / 'texts'}", f"out={folder / 'matres'}"]
    return main(["build", "matres", *words])


def test_relations_stand_in_the_sentences_of_their_events(sources):
    assert build(sources) == 0
    rows = read_table(sources / "matres/train.csv").rows
    assert [row["guid"] for row in rows] == ["one.101.102", "one.102.103", "two.103.101"]
    assert rows[0]["text"] == (
        "Workers [E1] walked [/E1] out on Monday. "
        "The union [E2] said [/E2] talks would resume & end soon."
    )
    assert rows[1]["text"] == (
        "The union [E1] said [/E1] talks would [E2] resume [/E2] & end soon."
    ), "one sentence where both events stand in it"
    assert "[E2] walked [/E2]" in rows[2]["text"], "event 1 may come second"


def test_data_matres_reads_what_was_built(sources):
    build(sources)
    config = configure("matres", ["data.validation.fraction=0"])
    splits = load(config, sources, sources / "cache")
    assert {name: len(rows) for name, rows in splits.items()} == {"train": 3, "test": 1}
    row = splits["train"][2]
    assert [row.text[slice(*span)] for span in row.spans] == ["resume", "walked"]
    assert (row.group, row.label) == ("two", "AFTER")


def test_sentences_end_at_stops_before_capitals_and_at_empty_lines(sources):
    document = read_timeml(sources / "texts/o/one.tml")
    sentences = [document.text[slice(*span)].strip() for span in document.sentences]
    assert sentences[0] == "Workers walked out on Monday."
    assert sentences[-1] == "It was No. 1.5 of the year."
    assert len(sentences) == 3


def test_an_event_without_an_instance_is_found_by_its_word(sources):
    path = sources / "texts/o/one.tml"
    path.write_text(path.read_text("utf-8").replace('eventID="e1" eiid="ei101"', 'eventID="e9"'))
    with (sources / "timebank.txt").open("a", encoding="utf-8") as file:
        # Only events that have no instance of their own are looked through.
        file.write("one\twalked\tresume\t0\t103\tBEFORE\none\tsaid\tresume\t0\t103\tBEFORE\n")
    assert build(sources) == 0
    rows = {row["guid"]: row["text"] for row in read_table(sources / "matres/train.csv").rows}
    assert "[E1] walked [/E1]" in rows["one.0.103"]
    assert list(rows).count("one.0.103") == 1
    assert len(rows) == 4


@pytest.mark.parametrize("sentences", [[], [Span(0, 9)]])
def test_events_outside_every_sentence_bound_the_text(sentences):
    events = {"1": Span(10, 14), "2": Span(19, 26)}
    document = TimeML("It rained they and stopped now", sentences, events, [])
    line = ["d", "they", "stopped", "1", "2", "BEFORE"]
    guid, _, text, _ = mark_relation(line, document)
    assert guid == "d.1.2"
    assert re.sub(r" ?\[[^]]*\] ?", "|", text) == "|they|and|stopped|"


def test_a_relation_without_its_events_is_left_out_counted_and_named_by_line(sources, capsys):
    with (sources / "aquaint.txt").open("a", encoding="utf-8") as file:
        file.write("two\tresume\tran\t103\t101\tAFTER\ntwo\tran\tresume\t999\t103\tAFTER\n")
    assert build(sources) == 0
    said = capsys.readouterr().out
    assert re.search(r"^train +3 .* 2$", said, flags=re.M)
    assert {f"aquaint.txt:{number}" for number in (2, 3)} <= set(re.findall(r"\w+\.txt:\d+", said))
    assert len(read_table(sources / "matres/train.csv").rows) == 3


@on_real
def test_every_relation_of_matres_finds_its_events_and_the_data_set_trains(tmp_path):
    texts = [f"{DATA}/tempeval3/{name}" for name in ("TBAQ-cleaned", "te3-platinum")]
    words = [f"relations={DATA}/matres", f"texts={','.join(texts)}"]
    assert main(["build", "matres", *words, f"out={tmp_path / 'matres'}"]) == 0
    config = configure("matres", [])  # with the counts of the relations
    splits = load_with_report(config, tmp_path, tmp_path / "cache")
    assert {name: len(rows) for name, rows in splits.examples.items()} == {
        "train": 11432, "validation": 1308, "test": 837,
    }  # fmt: skip
    assert not any(splits.dropped.values())
    text = {row["guid"]: row["text"] for row in read_table(tmp_path / "matres/train.csv").rows}
    for other in (1486, 1487, 1488, 1489):
        assert "analysts [E1] think [/E1]" in text[f"WSJ910225-0066.0.{other}"]
    (tmp_path / "trc").symlink_to(f"{DATA}/trc")
    tiny = [word for word in TINY if not word.startswith(("data", "batching", "trainer.max"))]
    more = ["encoder.max_length=512", "trainer.max_steps=2", f"paths.data={tmp_path}"]
    for data, stages in (("matres", "[]"), ("trc", "[matres,trc]")):
        words = [*tiny, *in_folder(tmp_path), f"data={data}", f"stages={stages}", *more]
        assert heron("train", *words) == 0
