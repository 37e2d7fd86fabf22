"""Each task chooses and orders the scores that head reports on its runs."""

import pytest

from heron.results.collect import headline_of

ROUGE = ("rougeL", "rouge1", "lead3_rouge1", "rouge1_heron", "rouge2")
ANSWERS = ("exact_match", "f1", "he_exact_match", "he_f1", "answerable_f1", "f1_low")


@pytest.mark.parametrize(
    ("tasks", "names", "expected"),
    [
        (["nli"], ["accuracy", "f1/a", "relaxed_macro_f1", "macro_f1"], ["macro_f1", "accuracy"]),
        (["relation"], ["relaxed_macro_f1", "macro_f1"], ["macro_f1", "relaxed_macro_f1"]),
        (["qa"], ANSWERS, ["f1", "exact_match", "he_f1", "he_exact_match"]),
        (["summarization"], ROUGE, ["rouge1", "lead3_rouge1", "rouge2", "rougeL"]),
        (["mlm"], ["perplexity", "accuracy"], ["accuracy"]),
        (["nli", "qa", "nli"], ["f1", "accuracy"], ["accuracy", "f1"]),
        (["unheard_of"], ["b", "a", "a_low", "f1/x"], ["b", "a"]),
    ],
)
def test_headline_scores_are_the_tasks_own(tasks, names, expected) -> None:
    assert headline_of(names, tasks) == expected
