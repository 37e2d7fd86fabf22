"""CoNLL-U is read as it is written, and mistakes in it are named by line."""

import gzip

import pytest

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
