"""Masks are BERT's: how many, where, with what, and the same again for the same seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from heron.data.collate import IGNORED
from heron.data.examples import Example
from heron.data.features import FeatureOptions
from heron_tools.mlm.masking import Vocabulary, mask_tokens, text_sequences, texts_of_rows
from made_up_texts import sentences

PAD, CLS, SEP, MASK = range(4)
SIZE = 60
# Ids from 40 on continue a word.
VOCABULARY = Vocabulary(MASK, np.arange(SIZE) > MASK, np.arange(SIZE) < 40)


@st.composite
def batches(draw):
    lengths = draw(st.lists(st.integers(0, 40), min_size=1, max_size=5))
    tokens_BL = np.full((len(lengths), max(lengths) + 2), PAD)
    for row, length in enumerate(lengths):
        ids = draw(st.lists(st.integers(MASK + 1, SIZE - 1), min_size=length, max_size=length))
        tokens_BL[row, : length + 2] = [CLS, *ids, SEP]
    return tokens_BL, (tokens_BL != PAD).astype(np.int64)


def masked(batch, seed=0, share=0.15, whole=False):
    tokens_BL, mask_BL = batch
    seeds = [(seed, 1, row) for row in range(len(tokens_BL))]
    return mask_tokens(tokens_BL, mask_BL, seeds, VOCABULARY, share, whole)


@given(batches(), st.floats(0.01, 1.0), st.booleans())
def test_only_ordinary_tokens_are_chosen_and_all_others_stay(batch, share, whole):
    tokens_BL, _ = batch
    inputs_BL, gold_BL = masked(batch, share=share, whole=whole)
    chosen_BL = gold_BL != IGNORED
    assert (tokens_BL[chosen_BL] > MASK).all()
    assert (gold_BL[chosen_BL] == tokens_BL[chosen_BL]).all()
    assert (inputs_BL[~chosen_BL] == tokens_BL[~chosen_BL]).all()
    assert (inputs_BL[chosen_BL] >= MASK).all()


@given(batches(), st.floats(0.01, 1.0))
def test_the_share_of_tokens_is_exact_and_every_sequence_has_one(batch, share):
    tokens_BL, _ = batch
    _, gold_BL = masked(batch, share=share)
    for tokens_L, gold_L in zip(tokens_BL, gold_BL, strict=True):
        ordinary = int((tokens_L > MASK).sum())
        assert (gold_L != IGNORED).sum() == (max(1, round(share * ordinary)) if ordinary else 0)


@given(batches(), st.floats(0.01, 1.0))
def test_whole_words_are_chosen_until_there_are_enough_tokens(batch, share):
    tokens_BL, _ = batch
    _, gold_BL = masked(batch, share=share, whole=True)
    for tokens_L, gold_L in zip(tokens_BL, gold_BL, strict=True):
        places = np.flatnonzero(tokens_L > MASK)
        words = np.cumsum(VOCABULARY.begins_V[tokens_L[places]])
        chosen = gold_L[places] != IGNORED
        sizes = [chosen[words == word].mean() for word in np.unique(words)]
        assert set(sizes) <= {0.0, 1.0}
        longest = np.bincount(words).max(initial=0)
        wanted = max(1, round(share * len(places))) if len(places) else 0
        assert wanted <= chosen.sum() < wanted + max(longest, 1)


@given(batches(), st.integers(0, 5))
def test_a_sequence_s_masks_depend_on_its_seed_alone(batch, seed):
    tokens_BL, mask_BL = batch
    inputs_BL, gold_BL = masked(batch, seed)
    last = len(tokens_BL) - 1
    alone = mask_tokens(
        tokens_BL[last:], mask_BL[last:], [(seed, 1, last)], VOCABULARY, 0.15, False
    )
    assert (alone[0] == inputs_BL[last:]).all()
    assert (alone[1] == gold_BL[last:]).all()


def test_eighty_percent_are_masks_ten_are_others_and_ten_stay():
    tokens_BL = np.random.default_rng(0).integers(MASK + 1, SIZE, size=(400, 100))
    batch = tokens_BL, np.ones_like(tokens_BL)
    inputs_BL, gold_BL = masked(batch)
    chosen = gold_BL != IGNORED
    assert chosen.sum() == 400 * 15
    stays = (inputs_BL == tokens_BL)[chosen].mean()
    is_mask = (inputs_BL == MASK)[chosen].mean()
    assert is_mask == pytest.approx(0.8, abs=0.02)
    assert stays == pytest.approx(0.1 + 0.1 / (SIZE - MASK - 1), abs=0.015)
    others = inputs_BL[chosen & (inputs_BL != tokens_BL) & (inputs_BL != MASK)]
    assert set(others) == set(range(MASK + 1, SIZE)), "any ordinary token"
    _, again_BL = masked(batch, seed=1)
    assert (again_BL != gold_BL).any()


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder):
    return AutoTokenizer.from_pretrained(tiny_encoder)


def options(**changes):
    return FeatureOptions("masked", 16, ("text",), **changes)


def test_a_long_text_becomes_several_sequences_without_a_lost_token(tokenizer):
    texts = [*sentences(3, words=4), *sentences(3, words=60)]
    examples = [Example(f"t{n}", text, label="text") for n, text in enumerate(texts)]
    features = text_sequences(examples, tokenizer, options())
    assert max(features.lengths_S) <= 16
    assert len(set(features.guids)) == len(features) == len(features.lengths_S)
    places = texts_of_rows(features.guids, [example.guid for example in examples])
    parts = np.split(features.tokens_T, features.offsets_S[1:-1])
    special = tokenizer.all_special_ids
    for number, text in enumerate(texts):
        read = [
            token
            for place, ids in zip(places, parts, strict=True)
            for token in ids.tolist()
            if place == number and token not in special
        ]
        assert read == tokenizer(text, add_special_tokens=False)["input_ids"]


def test_with_windows_neighbouring_sequences_share_tokens(tokenizer):
    example = Example("t", sentences(1, words=60)[0], label="text")
    plain = text_sequences([example], tokenizer, options())
    shared = text_sequences([example], tokenizer, options(overflow="windows", stride=5))
    assert len(shared) > len(plain) > 1


def test_word_starts_are_read_from_both_kinds_of_tokenizers(tokenizer):
    vocabulary = Vocabulary.of(tokenizer)
    ids = tokenizer("Pronunciation matters", add_special_tokens=False)["input_ids"]
    assert vocabulary.begins_V[ids].sum() == 2
    assert not vocabulary.ordinary_V[tokenizer.all_special_ids].any()
    assert vocabulary.mask_id == tokenizer.mask_token_id
