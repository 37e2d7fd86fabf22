"""Pairs become what the tokenizer itself makes of them, and nothing is cut unseen."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from heron.data.examples import Example
from heron.data.features import FeatureOptions
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.tasks.text_features import text_features

CLASSES = ("contradiction", "entailment", "neutral")
NIQQUD = "שָׁלוֹם עֲלֵיכֶם"
LETTERS = sorted(set(HEBREW.alphabet + ROMANIAN.alphabet + NIQQUD + ".,?!'\"־׳״") - {" "})
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "<end>"]
OPTIONS = FeatureOptions("pair", 24, CLASSES)

# Emoji are unknown to the vocabulary, as in real encoders; words stay short, so lengths vary.
WORDS = st.text(st.sampled_from([*LETTERS, "🙂", "\u200d", "🔬"]), min_size=1, max_size=6)
TEXTS = st.lists(WORDS, max_size=30).map(" ".join)
SHORT = st.lists(WORDS, min_size=1, max_size=2).map(" ".join)


def wordpiece(pair, single="[CLS] $A [SEP]"):
    """Build a tokenizer that knows every letter; `pair` is its template for two texts."""
    pieces = [*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single=single,
        pair=pair,
        special_tokens=[(name, vocabulary[name]) for name in SPECIAL[2:]],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", eos_token="<end>",
    )  # fmt: skip


BERT = wordpiece("[CLS] $A [SEP] $B:1 [SEP]:1")  # two segments
ROBERTA = wordpiece("[CLS] $A [SEP] [SEP] $B [SEP]")  # one segment, two separators
DECODER = wordpiece("$A <end> $B <end>", single="$A <end>")
TOKENIZERS = st.sampled_from([BERT, ROBERTA, DECODER])


def example(text, text_pair="", guid="g0", label="neutral"):
    return Example(guid, text, label=label, text_pair=text_pair)


def sequences(features):
    """Read the sequences back out of the flat arrays."""
    borders = zip(features.offsets_S, features.offsets_S[1:], strict=False)
    return [features.tokens_T[start:end].tolist() for start, end in borders]


def ids(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def whole(tokenizer, *texts):
    """What the tokenizer makes of one or two texts with nothing cut."""
    return tokenizer(*([text] for text in texts), verbose=False)["input_ids"][0]


def one(tokenizer, options, text, text_pair=""):
    """Tokenize one pair; returns its features and its only sequence."""
    features = text_features([example(text, text_pair)], tokenizer, options)
    (sequence,) = sequences(features)
    return features, sequence


@given(TOKENIZERS, st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
def test_a_pair_that_fits_is_the_tokenizers_own_encoding_of_it(tokenizer, pairs):
    options = dataclasses.replace(OPTIONS, max_length=1000)
    rows = [example(*pair, guid=f"g{row}") for row, pair in enumerate(pairs)]
    features = text_features(rows, tokenizer, options)
    assert sequences(features) == [whole(tokenizer, *pair) for pair in pairs]
    assert features.sequences_R.tolist() == list(range(len(pairs)))
    assert features.guids == [row.guid for row in rows]
    assert not features.truncated_R.any()
    assert features.refused == []


@given(TOKENIZERS, TEXTS, SHORT)
def test_only_first_keeps_the_whole_hypothesis_and_the_premises_beginning(tokenizer, text, pair):
    features, sequence = one(tokenizer, OPTIONS, text, pair)
    premise, hypothesis = ids(tokenizer, text), ids(tokenizer, pair)
    special = tokenizer.num_special_tokens_to_add(pair=True)
    kept = premise[: OPTIONS.max_length - special - len(hypothesis)]
    assert len(sequence) == len(kept) + len(hypothesis) + special <= OPTIONS.max_length
    start = sequence.index(kept[0]) if kept else 0
    assert sequence[start : start + len(kept)] == kept
    assert sequence[-1 - len(hypothesis) : -1] == hypothesis
    assert features.truncated_R.tolist() == [len(kept) < len(premise)]


@given(TOKENIZERS, SHORT, TEXTS)
def test_only_second_keeps_the_whole_premise(tokenizer, text, pair):
    options = dataclasses.replace(OPTIONS, truncation="only_second")
    features, sequence = one(tokenizer, options, text, pair)
    premise, hypothesis = ids(tokenizer, text), ids(tokenizer, pair)
    room = OPTIONS.max_length - tokenizer.num_special_tokens_to_add(pair=True) - len(premise)
    start = sequence.index(premise[0])
    assert sequence[start : start + len(premise)] == premise
    assert sequence[len(sequence) - 1 - len(hypothesis[:room]) : -1] == hypothesis[:room]
    assert features.truncated_R.tolist() == [len(hypothesis) > room]


@given(TOKENIZERS, TEXTS, TEXTS)
def test_longest_first_takes_from_the_longer_text_until_both_fit(tokenizer, text, pair):
    options = dataclasses.replace(OPTIONS, truncation="longest_first")
    features, sequence = one(tokenizer, options, text, pair)
    a, b = len(ids(tokenizer, text)), len(ids(tokenizer, pair))
    room = OPTIONS.max_length - tokenizer.num_special_tokens_to_add(pair=True)
    assert len(sequence) == min(a + b, room) + OPTIONS.max_length - room
    assert features.truncated_R.tolist() == [a + b > room]
    if a + b > room:
        premise, hypothesis = ids(tokenizer, text), ids(tokenizer, pair)
        begin, end = 0 if tokenizer is DECODER else 1, len(sequence) - 1
        # What is left is the beginning of both; they are as long as each other, or one is whole.
        fair = [k for k in range(b + 1) if abs(room - 2 * k) <= 1 or k == b or room - k == a]
        assert any(
            sequence[begin : begin + room - k] == premise[: room - k]
            and sequence[end - k : end] == hypothesis[:k]
            for k in fair
        )


@given(TOKENIZERS, TEXTS, TEXTS, st.sampled_from(["premise", "hypothesis"]))
def test_one_text_alone_is_encoded_alone_and_cut_at_its_end(tokenizer, text, pair, form):
    options = dataclasses.replace(OPTIONS, input=form)
    features, sequence = one(tokenizer, options, text, pair)
    read = text if form == "premise" else pair
    uncut = whole(tokenizer, read)
    special = tokenizer.num_special_tokens_to_add()
    assert len(sequence) == min(len(uncut), options.max_length)
    body = [t for t in sequence if t not in tokenizer.all_special_ids or t == 1]
    assert body == ids(tokenizer, read)[: options.max_length - special]
    assert features.truncated_R.tolist() == [len(uncut) > options.max_length]
    assert features.refused == []
    assert features.second_S.tolist() == [-1]


@given(TOKENIZERS, st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_separate_gives_premise_then_hypothesis_of_each_row_in_order(tokenizer, pairs):
    options = dataclasses.replace(OPTIONS, input="separate")
    rows = [example(*pair, guid=f"g{row}") for row, pair in enumerate(pairs)]
    features = text_features(rows, tokenizer, options)
    for row, pair in enumerate(pairs):
        for place, text in enumerate(pair):
            _, alone = one(tokenizer, dataclasses.replace(OPTIONS, input="premise"), text)
            assert sequences(features)[2 * row + place] == alone
        longer = max(len(whole(tokenizer, text)) for text in pair)
        assert features.truncated_R[row] == (longer > options.max_length)
    assert features.sequences_R.tolist() == list(range(0, 2 * len(pairs), 2))
    assert features.units().sizes_U.tolist() == [2] * len(pairs)


@given(TOKENIZERS, TEXTS, SHORT, st.integers(0, 6))
def test_windows_hold_every_premise_token_share_the_stride_and_the_hypothesis(
    tokenizer, text, pair, stride
):
    options = dataclasses.replace(OPTIONS, overflow="windows", stride=stride, max_length=36)
    features = text_features([example(text, pair)], tokenizer, options)
    premise, hypothesis = ids(tokenizer, text), ids(tokenizer, pair)
    special = tokenizer.num_special_tokens_to_add(pair=True)
    begin = 0 if tokenizer is DECODER else 1
    windows = sequences(features)
    found = []
    for number, window in enumerate(windows):
        assert len(window) <= options.max_length
        assert window[-1 - len(hypothesis) : -1] == hypothesis
        part = window[begin : begin + len(window) - special - len(hypothesis)]
        if number:
            shared = min(stride, len(found))
            assert part[:shared] == found[len(found) - shared :]
            assert len(part) > shared  # every window has something new
            part = part[shared:]
        found += part
    assert found == premise
    assert features.truncated_R.tolist() == [False]
    assert features.sequences_R.tolist() == [0]
    assert features.units().sizes_U.tolist() == [len(windows)]


def test_a_pair_that_fits_whole_is_never_cut_for_its_windows():
    options = dataclasses.replace(OPTIONS, overflow="windows", stride=10, max_length=24)
    long = " ".join(LETTERS[:16])
    features = text_features([example("a b", long), example(long, long, "g1")], BERT, options)
    assert features.truncated_R.tolist() == [False, True]


def test_windows_of_a_single_text_hold_all_of_it():
    options = dataclasses.replace(OPTIONS, input="premise", overflow="windows", stride=3)
    text = " ".join(LETTERS[:40])
    features = text_features([example(text, "", "g0"), example("a", "", "g1")], BERT, options)
    windows = sequences(features)
    assert len(windows) > 2
    found = windows[0][1:-1]
    for window in windows[1:-1]:
        assert window[1:4] == found[-3:]
        found += window[4:-1]
    assert found == ids(BERT, text)
    assert features.sequences_R.tolist() == [0, len(windows) - 1]


@given(TEXTS, TEXTS, st.sampled_from([" [SEP] ", " | ", "[SEP]"]), st.booleans())
def test_the_separator_is_literal_text_in_one_sequence(text, pair, separator, trailing):
    options = dataclasses.replace(
        OPTIONS, separator=separator, trailing_separator=trailing, truncation="longest_first"
    )
    features, sequence = one(BERT, options, text, pair)
    joined = whole(BERT, text + separator + pair + (separator if trailing else ""))
    if len(joined) <= options.max_length:
        assert sequence == joined
    else:  # its end is cut, the hypothesis with it
        assert sequence == [*joined[: options.max_length - 1], BERT.sep_token_id]
    assert features.truncated_R.tolist() == [len(joined) > options.max_length]
    assert features.second_S.tolist() == [-1]


@given(TEXTS, SHORT)
def test_the_second_segment_begins_after_the_first_separator_where_there_are_two(text, pair):
    features, sequence = one(BERT, OPTIONS, text, pair)
    assert features.second_S.tolist() == [sequence.index(BERT.sep_token_id) + 1]
    for tokenizer in (ROBERTA, DECODER):
        assert one(tokenizer, OPTIONS, text, pair)[0].second_S.tolist() == [-1]


def long_and_short():
    long = " ".join(LETTERS[:21])
    return [example("a", "e", "short"), example("a", long, "long-1"), example("a", long, "long-2")]


def test_a_hypothesis_that_leaves_no_room_is_cut_beside_rows_that_fit():
    features = text_features(long_and_short(), BERT, OPTIONS)
    longest_first = dataclasses.replace(OPTIONS, truncation="longest_first")
    assert features.guids == ["short", "long-1", "long-2"]
    assert features.truncated_R.tolist() == [False, True, True]
    assert sequences(features) == sequences(text_features(long_and_short(), BERT, longest_first))
    assert features.refused == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [({}, 20), ({"overflow": "windows", "stride": 5}, 15), ({"truncation": "only_second"}, 20)],
)
def test_a_text_stays_whole_while_it_leaves_room_for_something_new(changes, words):
    def cut(count):
        whole_text = " ".join(LETTERS[:count])
        other = "a e i o u " * 9
        is_premise = options.truncation == "only_second"
        pair = (whole_text, other) if is_premise else (other, whole_text)
        features = text_features([example(*pair)], BERT, options)
        return [ids(BERT, whole_text)[-1] in sequence for sequence in sequences(features)]

    options = dataclasses.replace(OPTIONS, **changes)
    assert set(cut(words)) == {True}
    assert cut(words + 1) == [False]


@pytest.mark.parametrize("form", ["pair", "separate"])
def test_rows_are_the_same_however_many_are_encoded_at_once(form, monkeypatch):
    options = dataclasses.replace(OPTIONS, input=form, overflow="windows" if form == "pair" else "")
    options = dataclasses.replace(options, stride=2)
    rows = [example("a e i " * n, "o u", f"g{n}") for n in range(1, 12)]
    expected = text_features(rows, BERT, options)
    monkeypatch.setattr("heron.tasks.text_features._CHUNK", 3)
    found = text_features(rows, BERT, options)
    assert sequences(found) == sequences(expected)
    assert found.sequences_R.tolist() == expected.sequences_R.tolist()
