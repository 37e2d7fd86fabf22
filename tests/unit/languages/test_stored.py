"""Analyses made elsewhere are found by the words of the text, whole sentences at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.languages.test_conllu import SAMPLE, written

from heron.base.errors import DataError
from heron.languages.hebrew import HEBREW
from heron_tools.morphology.morphology import load_morphology


def sentence(words):
    """Write one sentence, one word per token."""
    lines = [f"{i}\t{w}\t{w}\tNOUN\t_\t_\t0\troot\t_\t_" for i, w in enumerate(words, 1)]
    return "\n".join([f"# text = {' '.join(words)}", *lines, "", ""])


def test_what_universal_dependencies_say_is_counted(tmp_path):
    construct = sentence(["בית", "ספר"]).replace("NOUN\t_\t_", "NOUN\t_\tDefinite=Cons", 1)
    path = written(tmp_path, f"{SAMPLE}\n{construct}")
    backend = load_morphology(f"conllu:{path}", HEBREW)
    (found,) = backend.analyse(["ובביתו\nגר.  כן בית ספר"])
    assert found.words == 5
    assert found.lemmas[:6] == ("ו", "ב", "בית", "של", "הוא", "גר")
    assert found.morphemes == ("ו", "ב", "בית", "של", "הוא", "גר", "כן", "בית", "ספר")
    assert found.pos is not None
    assert found.pos[:3] == ("CCONJ", "ADP", "NOUN")
    assert (found.constructs, found.anaphors, found.readings) == (1, 1, None)
    assert backend.name.startswith("conllu a.conllu ")


def test_a_pronoun_behind_a_conjunction_is_no_suffix(tmp_path):
    lines = SAMPLE.replace("4\t_של_\tשל\tADP", "4\tו\tו\tCCONJ")
    backend = load_morphology(f"conllu:{written(tmp_path, lines)}", HEBREW)
    assert backend.analyse(["ובביתו גר."])[0].anaphors == 0


@given(
    sentences=st.lists(
        st.lists(st.sampled_from(["אב", "אבא", "גם", "דג"]), min_size=1, max_size=4),
        min_size=1,
        max_size=8,
    ),
    data=st.data(),
)
def test_any_run_of_sentences_is_found_and_nothing_else(tmp_path_factory, sentences, data):
    path = tmp_path_factory.mktemp("stored") / "a.conllu"
    path.write_text("".join(map(sentence, sentences)), encoding="utf-8")
    backend = load_morphology(f"conllu:{path}", HEBREW)
    first = data.draw(st.integers(0, len(sentences) - 1))
    last = data.draw(st.integers(first, len(sentences) - 1))
    words = [word for one in sentences[first : last + 1] for word in one]
    (found,) = backend.analyse([" ".join(words)])
    assert "".join(found.lemmas) == "".join(words)
    with pytest.raises(DataError, match="no analysis of 1 of 2 texts, such as 'ילד אחר…'"):
        backend.analyse([" ".join(words), "ילד אחר"])


def test_invisible_characters_and_composition_make_no_difference(tmp_path):
    backend = load_morphology(f"conllu:{written(tmp_path, sentence(['café', 'בית']))}", HEBREW)
    assert backend.analyse(["cafe\u0301\u200f  בית"])[0].words == 2
    assert backend.analyse([" "])[0].words == 0


def test_a_folder_holds_many_files_and_texts_do_not_reach_over_their_ends(tmp_path):
    for name in ("a", "b"):
        written(tmp_path, sentence([name, "בית"]), f"{name}.conllu")
    backend = load_morphology(f"conllu:{tmp_path}", HEBREW)
    assert [one.words for one in backend.analyse(["b בית", "a בית"])] == [2, 2]
    with pytest.raises(DataError, match="no analysis of 1 of 1 texts"):
        backend.analyse(["a בית b בית"])
