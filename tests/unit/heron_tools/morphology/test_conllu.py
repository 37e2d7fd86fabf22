"""CoNLL-U is read as it is written, and texts are found in it by whole sentences."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import DataError
from heron.languages.hebrew import HEBREW
from heron_tools.morphology.backends import load_morphology
from heron_tools.morphology.conllu import Token, Word, read_conllu

SAMPLE = """\
# newdoc id = d
# sent_id = s1
# text = ובביתו גר.
1-5\tובביתו\t_\t_\t_\t_\t_\t_\t_\t_
1\tו\tו\tCCONJ\t_\t_\t6\tcc\t_\t_
2\tב\tב\tADP\t_\t_\t3\tcase\t_\t_
3\tבית_\tבית\tNOUN\t_\tDefinite=Def|Gender=Masc\t6\tobl\t_\t_
4\t_של_\tשל\tADP\t_\t_\t5\tcase\t_\t_
5\t_הוא\tהוא\tPRON\t_\tPerson=3|PronType=Prs\t3\tnmod\t_\t_
6\tגר\tגר\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
6.1\tהוא\tהוא\tPRON\t_\t_\t_\t_\t6:nsubj\t_
7\t.\t.\tPUNCT\t_\t_\t6\tpunct\t_\t_

# sent_id = s2
1\tכן\t_\t_\t_\t_\t0\troot\t_\t_
"""


def written(tmp_path, text, name="a.conllu"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["a.conllu", "a.conllu.gz"])
@pytest.mark.parametrize("change", [str, lambda text: "\ufeff" + text.replace("\n", "\r\n")])
def test_tokens_hold_their_words_and_understood_words_are_left_out(tmp_path, name, change):
    first, second = read_conllu(written(tmp_path, change(SAMPLE), name))
    assert first.text == "ובביתו גר."
    assert [token.form for token in first.tokens] == ["ובביתו", "גר", "."]
    assert [len(token.words) for token in first.tokens] == [5, 1, 1]
    assert first.tokens[0].words[4] == Word("_הוא", "הוא", "PRON", "Person=3|PronType=Prs")
    assert first.comments == {"newdoc id": "d", "sent_id": "s1"}
    assert first.where.endswith(f"{name}:4")
    assert second.tokens == (Token("כן", (Word("כן", "", "", ""),)),)
    assert second.text == "כן"


def test_without_a_text_tokens_are_joined_as_space_after_says(tmp_path):
    lines = [line for line in SAMPLE.splitlines(True) if not line.startswith("# text")]
    in_range = "".join(lines).replace(
        "1-5\tובביתו" + "\t_" * 8, "1-5\tובביתו" + "\t_" * 7 + "\tSpaceAfter=No"
    )
    for content, text in (("".join(lines), "ובביתו גר."), (in_range, "ובביתוגר.")):
        first, _ = read_conllu(written(tmp_path, content))
        assert first.text == text


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
    with pytest.raises(DataError, match="ילד אחר"):
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
    with pytest.raises(DataError, match="a בית"):
        backend.analyse(["a בית b בית"])
