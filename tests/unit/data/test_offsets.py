"""Offsets of tokens in texts with control, format and blank characters, for each kind of tokenizer.

The characters are those of PDF files and web pages.
"""

import struct
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, PreTrainedTokenizerFast

from heron.data.examples import Example, Span
from heron.data.features import FeatureOptions, Features
from heron.data.hub import load_tokenizer
from heron.models.config import EncoderConfig
from heron.tasks.qa.features import qa_features
from heron.tasks.relation.features import relation_features
from real_data import ENCODER, needs

WORDS = ["ana", "are", "mere", "שלום", "עולם", "the", "cat"]
LETTERS = set("".join(WORDS))
MARKERS = ("[A]", "[/A]", "[B]", "[/B]")
# What sentencepiece's `nmt_nfkc` deletes, and some of what it replaces with a blank.
DELETED = [*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F]
BLANK = [0x09, 0x0A, 0x0C, 0x0D]
# The least of each kind comes first, to which hypothesis shrinks.
ODD = [
    chr(code)
    for code in (0x7F, *range(sys.maxunicode + 1))
    if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zs", "Zl", "Zp")
]


def precompiled() -> normalizers.Precompiled:
    """Build a sentencepiece normalizer: a double array over UTF-8, then the replacements.

    An entry holds its byte, whether a key ends with it (bit 8), and the distance to the next entry
    (from bit 10); the entry of a key's end is the place of its replacement.
    """
    entries = [0] * 514
    entries[0] = 256 << 10
    for end, replacement, codes in ((512, 0, DELETED), (513, 1, BLANK)):
        entries[end] = replacement
        for code in codes:
            entries[256 + code] = code | 1 << 8 | ((256 + code) ^ end) << 10
    array = struct.pack(f"<{len(entries)}I", *entries)
    return normalizers.Precompiled(struct.pack("<I", len(array)) + array + b"\0 \0")


def unigram(*steps: normalizers.Normalizer, **metaspace: str) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(list(steps))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(**metaspace)
    options = {"special_tokens": ["<unk>", "</s>"], "unk_token": "<unk>", "show_progress": False}
    tokenizer.train_from_iterator(WORDS, trainers.UnigramTrainer(vocab_size=60, **options))
    return tokenizer


def wordpiece(**options: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=100, special_tokens=["<unk>", "</s>"], show_progress=False
    )
    tokenizer.train_from_iterator(WORDS, trainer)
    return tokenizer


def byte_level(**options: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(**options)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(WORDS, trainer)
    return tokenizer


ONE_BLANK = normalizers.Replace(Regex(" {2,}"), " ")
KINDS = {
    "wordpiece": lambda: wordpiece(lowercase=False),
    "wordpiece, uncased": wordpiece,
    "byte-level BPE": lambda: byte_level(add_prefix_space=False),
    "byte-level BPE with a blank before": byte_level,
    "unigram": lambda: unigram(precompiled()),
    "unigram, first word": lambda: unigram(precompiled(), prepend_scheme="first"),
    "unigram, stripped": lambda: unigram(normalizers.Strip(), precompiled(), ONE_BLANK),
    "unigram, lower-cased": lambda: unigram(normalizers.Lowercase(), precompiled(), ONE_BLANK),
    "unigram without a table": lambda: unigram(normalizers.Nmt(), normalizers.NFKC()),
}
loaded = pytest.mark.parametrize(
    "tokenizer",
    [*KINDS, pytest.param("real", marks=needs(ENCODER))],
    indirect=True,
    scope="module",
)


@pytest.fixture(scope="module")
def tokenizer(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    name = str(ENCODER)
    if request.param != "real":
        name, backend = str(folder), KINDS[request.param]()
        own = {"unk_token": "<unk>"} if "BPE" not in request.param else {}
        fast = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="</s>", **own)
        fast.save_pretrained(folder)
        BertConfig(vocab_size=len(fast)).save_pretrained(folder)
    return load_tokenizer(EncoderConfig(name=name, max_length=64), MARKERS, (), folder)


def pieces(tokenizer, text: str) -> list[tuple[str, str]]:
    """List the tokens with a letter, each beside the characters that its offsets name."""
    encoding = tokenizer.backend_tokenizer.encode(text)
    rows = zip(encoding.tokens, encoding.offsets, encoding.special_tokens_mask, strict=True)
    skipped = {*MARKERS, tokenizer.unk_token}
    return [
        (token, text[start:end])
        for token, (start, end), special in rows
        if not special and token not in skipped and LETTERS & set(token)
    ]


def letters(text: str) -> str:
    return "".join(letter for letter in text if letter in LETTERS)


odd = st.lists(st.sampled_from(ODD), max_size=3).map("".join)
texts = st.lists(
    st.tuples(odd, st.sampled_from([*WORDS, *MARKERS]), odd, st.sampled_from(["", " "])),
    min_size=1,
    max_size=5,
).map(lambda parts: "".join("".join(part) for part in parts))


@loaded
@given(text=texts)
def test_the_offsets_of_a_token_name_its_characters(tokenizer, text):
    for token, characters in pieces(tokenizer, text):
        assert letters(token) == letters(characters)


def tokens_of(features: Features, tokenizer, first: int, last: int) -> list[str]:
    return tokenizer.convert_ids_to_tokens(features.tokens_T[first : last + 1].tolist())


@loaded
@pytest.mark.parametrize("text", ["\x7f{}", "\x01\x02 {}", " \x7f{}", "{}\x7f", "ana \x1f{}"])
def test_an_answer_beside_a_control_character_is_found_exactly(tokenizer, text):
    context = text.format("mere are")
    start = context.index("mere")
    example = Example("q", context, "cat", (Span(start, start + 4),), label="a")
    options = FeatureOptions("question", 64, ("a",), overflow="windows")
    features = qa_features([example], tokenizer, options)
    assert features.counts["answers_exact"][0] == 1
    tokens = tokens_of(features, tokenizer, *features.columns["answers"].array[0])
    assert letters("".join(tokens)) == "mere"


@loaded
@pytest.mark.parametrize("form", ["window", "marked"])
def test_events_after_a_control_character_are_pooled_at_their_own_tokens(tokenizer, form):
    pooled = []
    for text in ("ana are mere", "\x7fana \x01are mere"):
        spans = [Span(start := text.index(word), start + len(word)) for word in ("ana", "mere")]
        options = FeatureOptions(form, 64, (), own=MARKERS)
        example = Example("r", text, spans=tuple(spans))
        features = relation_features([example], tokenizer, options)
        pooled.append(tokens_of(features, tokenizer, *features.columns["spans"].array[0, 2:]))
    assert letters("".join(pooled[1])) == "mere"
    assert pooled[0] == pooled[1]
