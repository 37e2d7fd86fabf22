"""Articles and summaries as token ids: cut, counted, padded, shared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from heron.data.collate import IGNORED, Collator
from heron.data.examples import Example
from heron.data.features import UNLABELLED, FeatureOptions
from heron.tasks.summarization.features import SummaryOptions, summary_features

WORD = "הוועדה התכנסה בבוקר ודחתה את ההצעה לאחר שהשר עזב את האולם".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder):
    return AutoTokenizer.from_pretrained(tiny_encoder)


def options(**changes):
    known = {"max_length": 16, "max_target": 8, "target_start": False} | changes
    length = known.pop("max_length")
    return FeatureOptions("article", length, ("summary",), own=SummaryOptions(**known))


def example(number, words, summary):
    text = " ".join(WORD[i % len(WORD)] for i in range(words))
    target = None if summary is None else " ".join(WORD[-1 - i % len(WORD)] for i in range(summary))
    label = None if summary is None else "summary"
    return Example(str(number), text, label=label, target=target)


def test_articles_and_summaries_are_cut_and_keep_their_end(tokenizer):
    features = summary_features([example(0, 40, 40), example(1, 1, 1)], tokenizer, options())
    first_T = features.tokens_T[: features.offsets_S[1]]
    assert (len(first_T), first_T[-1]) == (16, tokenizer.sep_token_id)
    target = features.columns["target"]
    target_T = target.array[: target.offsets[1]]
    assert (len(target_T), target_T[-1]) == (8, tokenizer.sep_token_id)
    assert features.truncated_R.tolist() == [True, False]
    assert features.counts["targets_cut"][0] == 1


def test_the_token_before_a_text_stays_where_the_decoder_must_say_it(tokenizer):
    rows = [example(0, 3, 2)]
    without, with_it = (
        summary_features(rows, tokenizer, each).columns["target"].array.tolist()
        for each in (options(), options(target_start=True))
    )
    assert with_it == [tokenizer.cls_token_id, *without]
    assert tokenizer.decode(without, skip_special_tokens=True) == rows[0].target


def test_a_row_without_a_summary_has_an_empty_target(tokenizer):
    rows = [example(0, 3, 2), example(1, 3, None)]
    features = summary_features(rows, tokenizer, options())
    assert features.labels_R.tolist() == [0, UNLABELLED]
    batch = Collator(features, 0)(np.array([1, 0]))
    assert (batch.columns["target"][0] == IGNORED).all()
    assert (batch.columns["target"][1] != IGNORED).all()


@given(
    st.lists(st.tuples(st.integers(1, 12), st.none() | st.integers(1, 9)), min_size=1, max_size=9)
)
def test_a_batch_holds_each_row_s_article_and_target(tokenizer, sizes):
    rows = [example(number, *size) for number, size in enumerate(sizes)]
    features = summary_features(rows, tokenizer, options(max_length=64, max_target=64))
    units_U = np.random.default_rng(0).permutation(len(rows))
    batch = Collator(features, tokenizer.pad_token_id)(units_U)
    for place, row in enumerate(units_U):
        article = batch.tokens_BL[place][batch.mask_BL[place] == 1]
        assert tokenizer.decode(article, skip_special_tokens=True) == rows[row].text
        target = batch.columns["target"][place]
        shown = tokenizer.decode(target[target != IGNORED], skip_special_tokens=True)
        assert shown == (rows[row].target or "")
