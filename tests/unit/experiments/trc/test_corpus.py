"""`heron build trc`: event pairs from treebanks and documents, labels from answers."""

import json
import re
import zipfile
from collections import Counter

import cassis
import pytest

from heron.base.errors import DataError
from heron.base.files import read_yaml
from heron.base.tables import read_table, write_table
from heron.cli import main
from heron.data.markers import Markers
from heron.languages import get_language
from heron_forks.trc.corpus import (
    make_pairs,
    read_documents,
    read_treebank,
    split_documents,
)
from heron_forks.trc.inception import EVENT, PAIR
from real_data import DATA, on_real
from small_runs import TINY, heron, in_folder

ENGLISH = Markers(*get_language("en").event_markers)


def word(number, form, pos, feats="_"):
    return f"{number}\t{form}\t{form}\t{pos}\t_\t{feats}\t0\troot\t_\t_"


def sentence(text, *words):
    return "\n".join([f"# text = {text}", *words, "", ""])


TREEBANK = (
    "# newdoc id = a\n"
    + sentence("Rain fell .", word(1, "Rain", "NOUN"), word(2, "fell", "VERB", "VerbForm=Fin"),
               word(3, ".", "PUNCT"))
    + sentence("We had gone home to sleep .", word(1, "We", "PRON"), word(2, "had", "AUX"),
               word(3, "gone", "VERB", "VerbForm=Part"), word(4, "home", "ADV"),
               word(5, "to", "PART"), word(6, "sleep", "VERB", "VerbForm=Inf"),
               word(7, ".", "PUNCT"))
    + sentence("It stopped .", word(1, "It", "PRON"), word(2, "stopped", "VERB"),
               word(3, ".", "PUNCT"))
    + "# newdoc id = b\n"
    + sentence("They ran , fell .", word(1, "They", "PRON"), word(2, "ran", "VERB"),
               word(3, ",", "PUNCT"), word(4, "fell", "VERB"), word(5, ".", "PUNCT"))
)  # fmt: skip


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "bank.conllu"
    path.write_text(TREEBANK, "utf-8")
    return path


def test_events_are_verbs_but_no_infinitives_gerunds_auxiliaries_or_existentials(treebank):
    first, second = read_treebank(treebank)
    assert [first.text[slice(*span)] for span in first.events] == ["fell", "gone", "stopped"]
    assert [second.text[slice(*span)] for span in second.events] == ["ran", "fell"]
    treebank.write_text(TREEBANK.replace("ran\tVERB\t_\t_", "ran\tVERB\t_\tHebExistential=Yes"))
    assert [second.text[slice(*span)] for span in read_treebank(treebank)[1].events] == ["fell"]
    treebank.write_text(TREEBANK.replace("ran\tran\tVERB", "ran\tיש\tVERB"))
    assert [second.text[slice(*span)] for span in read_treebank(treebank)[1].events] == ["fell"]
    (without, _) = read_treebank(treebank, ("Inf", "Part"))
    assert [without.text[slice(*span)] for span in without.events] == ["fell", "stopped"]


def test_a_pair_stands_once_in_the_first_window_of_two_sentences_that_holds_it(treebank):
    first, second = read_treebank(treebank)
    pairs = list(make_pairs(first, ENGLISH))
    assert [(pair.guid, pair.text) for pair in pairs] == [
        ("1.0.0", "Rain [E1] fell [/E1] . We had [E2] gone [/E2] home to sleep ."),
        ("1.1.1", " We had [E1] gone [/E1] home to sleep . It [E2] stopped [/E2] ."),
    ]
    assert [pair.text for pair in make_pairs(second, ENGLISH)] == [
        "They [E1] ran [/E1] , [E2] fell [/E2] ."
    ]


def test_documents_of_a_treebank_without_any_are_made_of_some_sentences(tmp_path):
    path = tmp_path / "bank.conllu"
    path.write_text(TREEBANK.replace("# newdoc id = a\n", "").replace("# newdoc id = b\n", ""))
    assert [len(each.sentences) for each in read_treebank(path, every=3)] == [3, 1]
    assert len(read_treebank(path)) == 1


def test_documents_that_a_treebank_names_are_not_cut(treebank):
    assert [len(each.sentences) for each in read_treebank(treebank, every=2)] == [3, 1]


def test_no_document_is_in_both_splits_and_a_seed_repeats_the_split():
    names = [str(n) for n in range(20)]
    held = split_documents(names * 3, 0.2, seed=1)
    assert len(held) == 4
    assert held == split_documents(names, 0.2, seed=1)
    assert split_documents(["one"], 0.2, seed=0) == set()
    assert split_documents(names, 0.0, seed=0) == set()


def document(events=((0, 3), (14, 17))):
    text = "Rain fell. We went home."
    listed = [
        {"event_id": n, "start": start, "end": end, "text": text[start : end + 1]}
        for n, (start, end) in enumerate(events)
    ]
    relations = [{"event_id_1": 0, "event_id_2": 1, "label": "BEFORE"}]
    return {"document_id": 7, "text": text, "events": listed, "temporal_relations": relations}


def test_documents_with_labels_give_labelled_pairs(tmp_path):
    path = tmp_path / "data.json"
    path.write_text(json.dumps({"documents": [document()]}))
    (pair,) = make_pairs(read_documents(path)[0], ENGLISH)
    assert (pair.guid, pair.label) == ("7.0.0", "BEFORE")
    assert pair.text == "[E1] Rain [/E1] fell. We [E2] went [/E2] home."


def test_an_event_that_is_not_at_its_place_is_named(tmp_path):
    path = tmp_path / "data.json"
    wrong = document()
    wrong["events"][1]["text"] = "came"
    path.write_text(json.dumps({"documents": [wrong]}))
    with pytest.raises(DataError, match=r"document 7.*events \[1\]"):
        read_documents(path)
    path.write_text("{}")
    with pytest.raises(DataError, match="cannot be read"):
        read_documents(path)


def test_answers_become_labels_agreement_and_a_data_set(treebank, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["build", "trc", "pairs", f"from={treebank}", "language=en", f"out={out}"]) == 0
    assert re.search(r"^events +5$", capsys.readouterr().out, flags=re.M)
    rows = read_table(out / "pairs.csv").rows
    said = {"anna": ["yes,no", "no,yes", "no,no"], "ben": ["yes,no", "yes,yes", ""]}
    for name, answers in said.items():
        lines = [
            f"{row['guid']},{answer or ','}" for row, answer in zip(rows, answers, strict=True)
        ]
        (out / f"{name}.csv").write_text("\n".join(["guid,q1,q2", *lines]))
    words = ["build", "trc", "collect", f"pairs={out}/pairs.csv", f"out={out}"]
    words.append(f"answers={out}/anna.csv,{out}/ben.csv")
    assert main(words) == 0
    assert "1 pairs to decide" in capsys.readouterr().out
    (guid,) = [row["guid"] for row in read_table(out / "adjudicate.csv").rows]
    (out / "decided.csv").write_text(f"guid,label\n{guid},VAGUE\n")
    assert main([*words, f"decided={out}/decided.csv"]) == 0
    assert "0 pairs to decide" in capsys.readouterr().out
    (out / "decided.csv").unlink()
    assert main([*words, f"decided={out}/adjudicate.csv"]) == 0  # what was decided is kept there
    labels = Counter()
    for split in ("train", "test"):
        labels.update(row["label"] for row in read_table(out / f"{split}.csv").rows)
    assert labels == {"BEFORE": 1, "VAGUE": 1, "EQUAL": 1}


def test_the_sheet_shows_each_event_in_its_own_sentence(treebank, tmp_path):
    out = tmp_path / "out"
    assert main(["build", "trc", "pairs", f"from={treebank}", f"out={out}", "language=en"]) == 0
    rows = read_table(out / "events.csv", own=True).rows
    texts = [" ".join(re.sub(r"\[/?E\d]", "|", row["text"]).split()) for row in rows]
    assert texts == [
        "Rain | fell | .",
        "We had | gone | home to sleep .",
        "It | stopped | .",
        "They | ran | , fell .",
        "They ran , | fell | .",
    ]


def collected(out, answers, axes):
    """Collect one annotator's answers and axes of the treebank's pairs; returns labels by guid."""
    words = [f"pairs={out}/pairs.csv", f"answers={answers}", f"axes={axes}", f"out={out}", "test=0"]
    assert main(["build", "trc", "collect", *words]) == 0
    return {row["guid"]: row["label"] for row in read_table(out / "train.csv", own=True).rows}


def write_axes(out, **axes):
    """Fill in the sheet of events as a person would: the axis of an event, and what it connects."""
    sheet = read_table(out / "events.csv", own=True).rows
    named = [axes.get(re.search(r"\[E1] (\w+)", row["text"])[1], ("", "")) for row in sheet]
    columns = {"guid": [row["guid"] for row in sheet]}
    columns |= {"axis": [axis for axis, _ in named], "connects": [other for _, other in named]}
    write_table(out / "axes.csv", columns)
    return out / "axes.csv"


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ({}, ["BEFORE", "BEFORE", "BEFORE"]),
        ({"gone": ("Hypothetical", "")}, ["VAGUE", "VAGUE", "BEFORE"]),
        ({"gone": ("opinion", ""), "stopped": ("opinion  2", "")}, ["VAGUE", "VAGUE", "BEFORE"]),
        ({"gone": ("opinion", ""), "stopped": ("opinion", "")}, ["VAGUE", "BEFORE", "BEFORE"]),
        ({"gone": ("intention", "main")}, ["BEFORE", "BEFORE", "BEFORE"]),
        ({"gone": ("main", "intention"), "stopped": ("intention", "")}, ["BEFORE"] * 3),
    ],
)
def test_events_of_different_axes_are_vague_but_for_a_connecting_event(
    axes, expected, treebank, tmp_path
):
    assert (
        main(["build", "trc", "pairs", f"from={treebank}", "language=en", f"out={tmp_path}"]) == 0
    )
    guids = ["1.0.0", "1.1.1", "2.0.0"]
    write_table(tmp_path / "anna.csv", {"guid": guids, "q1": ["yes"] * 3, "q2": ["no"] * 3})
    found = collected(tmp_path, tmp_path / "anna.csv", write_axes(tmp_path, **axes))
    assert [found[guid] for guid in guids] == expected


def test_an_axis_that_is_none_is_named_with_its_line(treebank, tmp_path, capsys):
    main(["build", "trc", "pairs", f"from={treebank}", "language=en", f"out={tmp_path}"])
    write_table(tmp_path / "anna.csv", {"guid": ["1.0.0"], "q1": ["yes"], "q2": ["no"]})
    words = [f"pairs={tmp_path}/pairs.csv", f"answers={tmp_path}/anna.csv", f"out={tmp_path}"]
    axes = write_axes(tmp_path, gone=("mian", ""))
    assert main(["build", "trc", "collect", *words, f"axes={axes}"]) == 2
    assert "axes.csv:3: axis 'mian'" in capsys.readouterr().err
    assert main(["build", "trc", "collect", *words, f"axes={axes},{axes}"]) == 2


def test_collected_pairs_keep_their_language_guids_texts_and_windows(treebank, tmp_path):
    out = tmp_path / "out"
    assert main(["build", "trc", "pairs", f"from={treebank}", "language=ro", f"out={out}"]) == 0
    asked = read_table(out / "pairs.csv", own=True).rows
    columns = {name: [row[name] for row in asked] for name in asked[0]}
    # pandas writes whole numbers so, where a column has gaps.
    write_table(out / "pairs.csv", {**columns, "window": [f"{w}.0" for w in columns["window"]]})
    answers = {"guid": columns["guid"], "q1": ["yes"] * len(asked), "q2": ["no"] * len(asked)}
    write_table(out / "anna.csv", answers)
    with (out / "anna.csv").open("a") as file:
        file.write(",,\n,,\n")  # a spreadsheet's empty rows
    words = [f"pairs={out}/pairs.csv", f"answers={out}/anna.csv", f"out={out}"]
    assert main(["build", "trc", "collect", *words]) == 0
    found = [r for s in ("train", "test") for r in read_table(out / f"{s}.csv", own=True).rows]
    assert len({row["document"] for row in asked}) == 2
    names = ("guid", "document", "window", "text")
    assert sorted([row[name] for name in names] for row in found) == sorted(
        [row[name] for name in names] for row in asked
    )
    assert read_yaml(out / "conf/data/pairs.yaml")["language"] == "ro"


def test_pairs_without_a_window_or_a_guid_of_their_own_are_named(treebank, tmp_path, capsys):
    main(["build", "trc", "pairs", f"from={treebank}", "language=en", f"out={tmp_path}"])
    write_table(tmp_path / "anna.csv", {"guid": ["1.0.0"], "q1": ["yes"], "q2": ["no"]})
    words = [f"pairs={tmp_path}/pairs.csv", f"answers={tmp_path}/anna.csv", f"out={tmp_path}"]
    columns = {"guid": ["1.0.0", "1.1.1"], "document": [1, 1], "text": ["a", "b"]}
    columns["language"] = ["en", "en"]
    write_table(tmp_path / "pairs.csv", {**columns, "window": ["", "first"]})
    assert main(["build", "trc", "collect", *words]) == 2
    said = capsys.readouterr().err
    assert "pairs.csv:2: window ''" in said
    assert "pairs.csv:3: window 'first'" in said


@pytest.mark.slow
def test_built_pairs_train(tmp_path):
    documents = [{**document(), "document_id": n} for n in range(20)]
    (tmp_path / "data.json").write_text(json.dumps({"documents": documents}))
    out = tmp_path / "built"
    words = [f"from={tmp_path}/data.json", f"out={out}", "language=en"]
    assert main(["build", "trc", "pairs", *words]) == 0
    tiny = [word for word in TINY if "generator" not in word]
    more = ["data=pairs", "--config-dir", out / "conf", f"paths.data={out}", "trainer.max_epochs=1"]
    assert heron("train", *tiny, *in_folder(tmp_path), "head=ess", *more) == 0


@on_real
def test_the_released_pairs_are_rebuilt():
    markers = Markers(*get_language("he").event_markers)
    documents = read_documents(DATA / "trc/raw-data/TRC_data.json")
    ours = [
        (each.document, each.text, each.label)
        for document in sorted(documents, key=lambda each: int(each.name))
        for each in make_pairs(document, markers)
    ]
    table = DATA / "trc/training-data/TRC_dataset.csv"
    numbers = ("document_number", "pair_number")
    rows = sorted(read_table(table).rows, key=lambda row: [int(row[name]) for name in numbers])
    theirs = [(row["document_number"], row["text"], row["label"]) for row in rows]
    assert len(ours) == 7260
    assert [(d, label) for d, _, label in ours] == [(d, label) for d, _, label in theirs]
    different = [(a, b) for a, b in zip(theirs, ours, strict=True) if a != b]
    # Two pairs of one window: document 124 lacks words that the table's window has.
    assert [(document, label) for (document, _, label), _ in different] == [
        ("124", "VAGUE"),
        ("124", "AFTER"),
    ]
    for (_, whole, _), (_, short, _) in different:
        cut = len(whole) - len(short)
        assert 0 < cut < 20
        assert any(whole[:n] + whole[n + cut :] == short for n in range(len(short) + 1))


@on_real
@pytest.mark.parametrize(
    ("treebank", "sentences", "events", "pairs"),
    [
        ("htb/he_htb-ud-dev", 484, 790, 1911),
        # Neither marks existentials: 20 and 51 of their verbs.
        ("iahltwiki/he_iahltwiki-ud-dev", 348, 552, 1365),
        ("iahltknesset/he_iahltknesset-ud-test", 268, 494, 1546),
    ],
)
def test_counts_of_hebrew_treebanks(treebank, sentences, events, pairs, tmp_path):
    path = DATA / f"ud_hebrew_{treebank}.conllu"
    words = [f"from={path}", f"out={tmp_path}"]
    assert main(["build", "trc", "pairs", *words, "every=20"]) == 0
    documents = read_treebank(path, every=20)
    assert sum(len(each.sentences) for each in documents) == sentences
    assert sum(len(each.events) for each in documents) == events
    texts = [row["text"] for row in read_table(tmp_path / "pairs.csv").rows]
    assert len(texts) == pairs
    assert not [text for text in texts if re.search(r"] \w?(יש|אין) \[", text)]


def pack(path, cas, types):
    """Export a document as INCEpTION does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as packed:
        if types is None:
            content = json.loads(cas.to_json())
            if not cas.select(PAIR):
                del content["%TYPES"][PAIR]
            packed.writestr("anna.json", json.dumps(content))
        else:
            packed.writestr("anna.xmi", cas.to_xmi())
            packed.writestr("TypeSystem.xml", types.to_xml())


def answer_in_inception(folder, out, answers, *, packed="{}/anna.zip", as_json=False):
    """Do what an annotator does: fill both features of each pair in, and export."""
    types = cassis.load_typesystem((folder / "TypeSystem.xml").read_bytes().decode())
    for path in folder.glob("*.xmi"):
        cas = cassis.load_cas_from_xmi(path.read_bytes().decode(), typesystem=types)
        for pair in cas.select(PAIR):
            pair.q1, pair.q2 = answers.get(pair.guid, (None, None))
            pair.Governor.axis = "opinion" if pair.guid == "1.0.0" else None
        pack(out / packed.format(path.stem), cas, None if as_json else types)


def test_inception_has_every_event_and_pair_at_its_place(treebank, tmp_path):
    words = [f"from={treebank}", f"out={tmp_path / 'p'}", "language=en", "inception=true"]
    assert main(["build", "trc", "pairs", *words]) == 0
    folder = tmp_path / "p" / "inception"
    types = cassis.load_typesystem((folder / "TypeSystem.xml").read_bytes().decode())
    rows = {row["guid"]: row for row in read_table(tmp_path / "p/pairs.csv", own=True).rows}
    seen = []
    for path in folder.glob("*.xmi"):
        cas = cassis.load_cas_from_xmi(path.read_bytes().decode(), typesystem=types)
        for pair in cas.select(PAIR):
            text = rows[pair.guid]["text"]
            for number, event in enumerate((pair.Governor, pair.Dependent), 1):
                opening = f"[E{number}] {event.get_covered_text()} [/E{number}]"
                assert opening in text
            seen.append(pair.guid)
    assert sorted(seen) == sorted(rows)


def test_inceptions_exports_are_answers_like_a_table(treebank, tmp_path, capsys):
    words = [f"from={treebank}", f"out={tmp_path / 'p'}", "language=en", "inception=true"]
    main(["build", "trc", "pairs", *words])
    rows = read_table(tmp_path / "p/pairs.csv", own=True).rows
    answers = {row["guid"]: ("yes", "no") for row in rows}
    answer_in_inception(tmp_path / "p/inception", tmp_path / "anna", answers)
    table = tmp_path / "ben.csv"
    both = {"q1": ["Yes"] * len(rows), "q2": ["no"] * len(rows)}
    write_table(table, {"guid": [row["guid"] for row in rows], **both})
    words = [f"pairs={tmp_path / 'p/pairs.csv'}", f"answers={tmp_path / 'anna'},{table}"]
    assert main(["build", "trc", "collect", *words, f"out={tmp_path / 'q'}"]) == 0
    assert "0 pairs to decide" in capsys.readouterr().out
    found = [
        row["label"] for s in ("train", "test") for row in read_table(tmp_path / f"q/{s}.csv").rows
    ]
    assert found == ["BEFORE"] * len(rows)
    anna = tmp_path / "anna"
    found = collected(tmp_path / "p", anna, anna)
    assert [guid for guid, label in found.items() if label == "VAGUE"] == ["1.0.0"]


@pytest.fixture
def for_inception(treebank, tmp_path):
    """Documents for INCEpTION, one of them without a pair, and the guids of the pairs."""
    one = sentence("It rained .", word(1, "It", "PRON"), word(2, "rained", "VERB"))
    treebank.write_text(f"{TREEBANK}# newdoc id = c\n{one}", "utf-8")
    words = [f"from={treebank}", f"out={tmp_path / 'p'}", "language=en", "inception=true"]
    assert main(["build", "trc", "pairs", *words]) == 0
    return tmp_path / "p", [row["guid"] for row in read_table(tmp_path / "p/pairs.csv").rows]


def test_inceptions_json_is_read_although_it_declares_only_the_types_it_has(
    for_inception, tmp_path
):
    out, guids = for_inception
    answers = dict.fromkeys(guids, ("no", "yes"))
    answer_in_inception(out / "inception", tmp_path / "anna", answers, as_json=True)
    labels = collected(out, tmp_path / "anna", tmp_path / "anna")
    assert {labels.pop(guid) for guid in ("1.1.1", "2.0.0")} == {"AFTER"}
    assert labels == {"1.0.0": "VAGUE"}


def test_an_annotator_s_answers_are_found_in_the_export_of_a_project(for_inception, tmp_path):
    out, guids = for_inception
    project = tmp_path / "annotation"
    for name, answer in {"anna.b": ("yes", "no"), "anna.c": ("no", "no")}.items():
        answers = dict.fromkeys(guids, answer)
        answer_in_inception(out / "inception", project, answers, packed=f"{{}}.xmi/{name}.zip")
    assert collected(out, project / "anna.b", out / "events.csv")["2.0.0"] == "BEFORE"
    assert collected(out, project / "anna.c", out / "events.csv")["2.0.0"] == "EQUAL"


def test_two_annotators_axes_of_one_event_are_not_mixed(for_inception, tmp_path, capsys):
    out, guids = for_inception
    answers = dict.fromkeys(guids, ("yes", "no"))
    for name in ("anna", "ben"):
        packed = f"{{}}.xmi/{name}.zip"
        answer_in_inception(out / "inception", tmp_path / "annotation", answers, packed=packed)
    project = tmp_path / "annotation"
    words = [f"answers={project / 'anna'}", f"axes={project}", f"out={tmp_path / 'q'}"]
    assert main(["build", "trc", "collect", f"pairs={out / 'pairs.csv'}", *words]) == 2
    assert "event '1.event.0' occurs twice" in capsys.readouterr().err


def test_pairs_and_events_that_an_annotator_adds_are_left_out(for_inception, tmp_path, capsys):
    out, _ = for_inception
    folder = out / "inception"
    types = cassis.load_typesystem((folder / "TypeSystem.xml").read_bytes().decode())
    cas = cassis.load_cas_from_xmi((folder / "1.xmi").read_bytes().decode(), typesystem=types)
    first, second, *_ = cas.select(EVENT)
    for pair in cas.select(PAIR):
        pair.q1, pair.q2 = "yes", "no"
    cas.add(types.get_type(PAIR)(begin=0, end=4, Governor=second, Dependent=first))
    cas.add(types.get_type(EVENT)(begin=0, end=4))
    cas.add(types.get_type(EVENT)(begin=5, end=9))
    pack(tmp_path / "anna" / "1.zip", cas, types)
    labels = collected(out, tmp_path / "anna", tmp_path / "anna")
    assert labels == {"1.0.0": "BEFORE", "1.1.1": "BEFORE"}
    assert "1 that the annotator has added are left out (pair)" in capsys.readouterr().err


def test_inception_gets_texts_with_characters_that_xml_cannot_have(tmp_path):
    path = tmp_path / "bank.conllu"
    path.write_text(TREEBANK.replace("Rain fell", "Rain\v fell"), "utf-8")
    words = [f"from={path}", f"out={tmp_path}", "language=en", "inception=true"]
    assert main(["build", "trc", "pairs", *words]) == 0
    types = cassis.load_typesystem((tmp_path / "inception/TypeSystem.xml").read_bytes().decode())
    xmi = (tmp_path / "inception/1.xmi").read_bytes().decode()
    cas = cassis.load_cas_from_xmi(xmi, typesystem=types)
    texts = [event.get_covered_text() for event in cas.select(EVENT)]
    assert texts == ["fell", "gone", "stopped"]
