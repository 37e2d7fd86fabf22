"""`heron compare` on answers whose golds stand in several Unicode spellings."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.languages.unicode import UNIFY_ALL
from heron.metrics.span import item_scores
from heron.results.frame import read_frame
from heron.results.outcomes import Settings, score_rows

# SQuAD's rules leave out the second quotation mark only: by exact match, four different texts.
SPELLINGS = ["ארה״ב", 'ארה"ב', "\u200fארה״ב", "אָרה״ב"]
SPELT = "rows have golds that the files spell"

golds = st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=4, unique=True)
answers = st.sampled_from([*SPELLINGS, "צרפת"])
rows = st.lists(st.tuples(answers, golds, golds), min_size=1, max_size=4)


def compared(folder, *files, options=UNIFY_ALL):
    """Align files of answers and golds, a list or one text for each row."""
    frames = []
    for name, (answered, golds) in zip("abc", files, strict=False):
        path = folder / f"{name}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for row, (answer, gold) in enumerate(zip(answered, golds, strict=True)):
                right = {"gold": gold} if isinstance(gold, str) else {"gold": gold[0]}
                right |= {} if isinstance(gold, str) else {"golds": gold}
                table = {"guid": f"q{row}", "prediction": answer, **right}
                file.write(json.dumps(table, ensure_ascii=False) + "\n")
        frames.append(read_frame(path))
    settings = Settings("exact_match", "qa", language="he", unicode=options)
    return score_rows(frames, settings, [])


def scores(aligned):
    return aligned.outcome_FN.tolist()


@pytest.mark.parametrize("answer", SPELLINGS)
def test_golds_of_one_row_that_are_spelt_alike_are_all_right(tmp_path, answer):
    file = [answer], [SPELLINGS]
    turned = [answer], [SPELLINGS[::-1]]
    aligned = compared(tmp_path, file, turned)
    assert scores(aligned) == [[1.0], [1.0]]
    assert not aligned.notes


@given(rows)
def test_the_same_answer_is_worth_the_same_beside_golds_of_any_spelling(tmp_path_factory, rows):
    answered, *both = map(list, zip(*rows, strict=True))
    folder = tmp_path_factory.mktemp("spelt")
    aligned = compared(folder, *((answered, golds) for golds in both))
    first, second = scores(aligned)
    assert first == second
    own = [item_scores(answered, golds)["exact_match"] for golds in both]
    # Each spelling that any file has is right, and no other one.
    assert first == [max(pair) for pair in zip(*own, strict=True)]
    apart = sum(set(one) != set(other) for one, other in zip(*both, strict=True))
    said = [note for note in aligned.notes if SPELT in note]
    assert [note.split()[0] for note in said] == ([str(apart)] if apart else [])


def test_a_file_of_one_gold_a_row_is_counted_only_where_no_other_spells_it_so(tmp_path):
    whole = ["צרפת"] * 2, [SPELLINGS[:2]] * 2
    one = ["צרפת"] * 2, [SPELLINGS[1], SPELLINGS[2]]
    (note,) = compared(tmp_path, one, whole).notes
    assert note.startswith(f"1 of 2 {SPELT}")
    (note,) = compared(tmp_path, one, (one[0], SPELLINGS[1:2] * 2)).notes
    assert note.startswith(f"1 of 2 {SPELT}")
    assert scores(compared(tmp_path, ([SPELLINGS[0]] * 2, one[1]), whole))[0] == [1.0, 1.0]
