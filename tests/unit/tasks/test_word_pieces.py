"""Words tokenized once give what the tokenizer makes of whole texts, or are left to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from heron.tasks.word_pieces import WordPieces

LETTERS = "אבגםשăâîșțabcאבג.,?־״–1"
ODD = "\u05b4\u0301\u00a0\u200b\u200d\u200f\t\n´▁ﷺ…🙂½İ"


def tokenizer(normalizer, pre_tokenizer, **words):
    """Build a unigram tokenizer of letters, and a few pieces of two."""
    pieces = [("<unk>", 0.0), ("<s>", 0.0), ("▁", -2.0), *((each, -3.0) for each in set(LETTERS))]
    pieces += [(two, -4.0) for two in ("▁א", "▁a", "אב", "bc", "ш")]
    backend = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    backend.normalizer, backend.pre_tokenizer = normalizer, pre_tokenizer
    made = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", bos_token="<s>")
    if words:
        made.add_tokens(**words)
    return made


NFKC = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" {2,}", " ")])
METASPACE = pre_tokenizers.Metaspace(prepend_scheme="always")
SPLIT = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), METASPACE])
TOKENIZERS = [
    tokenizer(NFKC, SPLIT),
    tokenizer(NFKC, METASPACE),
    tokenizer(normalizers.NFC(), pre_tokenizers.BertPreTokenizer()),
    tokenizer(normalizers.NFC(), METASPACE),
]
# A word has other tokens at the beginning of a text, or pieces span words.
BY_PLACE = [
    pre_tokenizers.Metaspace(prepend_scheme="first"),
    pre_tokenizers.Metaspace(prepend_scheme="never"),
    pre_tokenizers.Metaspace(prepend_scheme="always", split=False),
    pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="first")]
    ),
    pre_tokenizers.ByteLevel(add_prefix_space=False),
]
WORDS = st.text(st.sampled_from(LETTERS), min_size=1, max_size=4) | st.text(
    st.sampled_from(LETTERS + ODD), max_size=3
)
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


def whole(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


@given(st.sampled_from(TOKENIZERS), st.lists(TEXTS, min_size=1, max_size=6))
def test_the_words_of_a_text_give_the_tokens_of_the_whole_text(tokenizer, texts):
    pieces = WordPieces(tokenizer)
    for _ in range(2):  # first seen, and remembered
        found = [ids.tolist() for ids in pieces.texts(texts)]
        assert found == [whole(tokenizer, text) for text in texts]


def test_a_word_is_tokenized_once_however_often_it_occurs(monkeypatch):
    pieces = WordPieces(TOKENIZERS[0])
    pieces.texts(["אב bc אב", "bc"])
    learnt = []
    monkeypatch.setattr(pieces, "_learn", learnt.append)
    assert pieces.texts(["bc bc אב"])[0].tolist() == whole(TOKENIZERS[0], "bc bc אב")
    assert learnt == [[]]


@pytest.mark.parametrize("text", ["a  b", " a", "a \u05b4b", "a <s> b", "a▁ b", "a\u200b b", ""])
def test_a_text_whose_words_need_their_neighbours_is_left_to_the_tokenizer(text):
    assert WordPieces(TOKENIZERS[0])._known([text]) == [None]


@pytest.mark.parametrize("pre_tokenizer", BY_PLACE)
def test_tokenizers_that_read_a_word_by_its_place_get_whole_texts(pre_tokenizer):
    made = tokenizer(None, pre_tokenizer)
    pieces = WordPieces(made)
    assert pieces._known(["a b"]) == [None]
    assert pieces.sequences([("a b",)], 9) == [None]
    assert pieces.texts(["a b"])[0].tolist() == whole(made, "a b")


def test_an_added_token_of_several_words_keeps_texts_whole():
    assert not WordPieces(tokenizer(NFKC, SPLIT, new_tokens=["a b"])).by_words
