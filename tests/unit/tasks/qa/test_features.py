"""Every gold answer maps to tokens and back to its characters, or is counted with the reason."""

import dataclasses
import unicodedata

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from heron.data.examples import Example, Span
from heron.data.features import UNLABELLED, FeatureOptions, load_features
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.tasks.qa.features import char_span, qa_features, token_chars, token_span

NIQQUD = "שָׁלוֹם עֲלֵיכֶם"
LETTERS = sorted(set(HEBREW.alphabet + ROMANIAN.alphabet + NIQQUD + ".,?!'\"־׳״0123") - {" "})
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
# Pieces that span several letters, so that an answer can begin or end inside one.
PIECES = ["של", "לו", "ום", "ul", "lui", "ția", "אב", "20"]
OPTIONS = FeatureOptions("question", 24, ("answer", "no_answer"), overflow="windows", stride=4)
INNER = [*LETTERS, *PIECES, "🙂", "👩\u200d🔬", "\u200f", "\u202b", "e\u0302", "\u0301"]
TEXTS = st.lists(
    st.lists(st.sampled_from(INNER), min_size=1, max_size=5).map("".join), max_size=30
).map(" ".join)
QUESTIONS = st.lists(st.sampled_from(["אב", "ul", "של", "?"]), min_size=1, max_size=4).map(" ".join)


def fast(backend, template):
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair=template,
        special_tokens=[(name, backend.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]",
    )  # fmt: skip


def wordpiece(template="[CLS] $A [SEP] $B:1 [SEP]:1", strip=False):
    """Build a BERT-like tokenizer; with `strip` it drops points, accents and direction marks."""
    pieces = [*SPECIAL, *LETTERS, *PIECES, *(f"##{piece}" for piece in (*LETTERS, *PIECES))]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    if strip:
        backend.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return fast(backend, template)


def sentencepiece():
    """Build a tokenizer whose pieces begin with the blank before a word."""
    pieces = [*SPECIAL, "▁", *LETTERS, *PIECES, *(f"▁{piece}" for piece in (*LETTERS, *PIECES))]
    scores = [(piece, -float(len(pieces) - len(piece))) for piece in pieces]
    backend = Tokenizer(models.Unigram(scores, unk_id=1))
    backend.normalizer = normalizers.NFKC()
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    return fast(backend, "[CLS] $A [SEP] [SEP] $B [SEP]")


def byte_level():
    """Build a tokenizer of bytes: a letter is two tokens, an emoji four."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: index for index, piece in enumerate([*SPECIAL, *alphabet])}
    backend = Tokenizer(models.BPE(vocabulary, [], unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    return fast(backend, "[CLS] $A [SEP] $B [SEP]")


BERT, STRIPS = wordpiece(), wordpiece(strip=True)
NAMED = {"BERT": BERT, "strips": STRIPS, "blanks": sentencepiece(), "bytes": byte_level()}
TOKENIZERS = st.sampled_from(list(NAMED.values()))


def example(text, *spans, question="של?", guid="g0", label="answer"):
    return Example(guid, text, question, tuple(Span(*span) for span in spans), label)


def windows(features, row=0):
    """List a row's windows: token ids, characters and answer of each."""
    borders = [*features.sequences_R, len(features.lengths_S)]
    for s in range(borders[row], borders[row + 1]):
        part = slice(features.offsets_S[s], features.offsets_S[s + 1])
        answers = features.columns["answers"]
        answer = tuple(map(int, answers.array[answers.offsets[s]]))
        yield features.tokens_T[part].tolist(), features.columns["chars"].array[part], answer


def fit(features):
    """Name how the tokens of the only row match its answer; None without an answer."""
    names = [name.removeprefix("answers_") for name, (n, _) in features.counts.items() if n]
    return names[0] if names else None


def fits(rows, options=OPTIONS, tokenizer=BERT):
    return [fit(qa_features([row], tokenizer, options)) for row in rows]


def only(text, *spans, tokenizer=BERT, options=OPTIONS, **values):
    features = qa_features([example(text, *spans, **values)], tokenizer, options)
    assert features.refused == []
    return features


def wide(tokenizer, text, span, **changes):
    options = dataclasses.replace(OPTIONS, max_length=4000, **changes)
    return only(text, span, tokenizer=tokenizer, options=options, question="א")


@st.composite
def answers(draw):
    """Draw a text and an answer in it that neither begins nor ends with a blank."""
    text = draw(TEXTS)
    visible = [place for place, letter in enumerate(text) if not letter.isspace()]
    assume(visible)
    first, last = sorted((draw(st.sampled_from(visible)), draw(st.sampled_from(visible))))
    return text, Span(first, last + 1)


@given(TOKENIZERS, answers(), QUESTIONS, st.sampled_from(["windows", "truncate"]))
def test_an_answer_maps_to_tokens_and_back_or_is_counted_with_the_reason(
    tokenizer, answer, question, overflow
):
    text, span = answer
    options = dataclasses.replace(OPTIONS, max_length=40, overflow=overflow)
    features = qa_features([example(text, span, question=question)], tokenizer, options)
    assume(len(features))  # a question of many bytes is refused, tested below
    whole = next(windows(wide(tokenizer, text, span)))[1]
    tokens = token_span(whole, span)
    held = [(chars, found) for _, chars, found in windows(features) if found != (0, 0)]
    if fit(features) == "exact":
        assert held
        for chars, (first, last) in held:
            assert char_span(chars, first, last) == span
    elif fit(features) == "inexact":
        for chars, (first, last) in held:
            start, end = char_span(chars, first, last)
            assert (start, end) != span
            # Either a token holds characters on both sides of a border, or none holds those at it.
            outside = text[start : span.start] + text[span.end : end]
            unheld = text[span.start : start] + text[end : span.end]
            assert not any(letter.isspace() for letter in outside)
            assert dropped(unheld)
    else:
        assert not held
        assert (fit(features) == "tokenless") == (tokens is None)


def dropped(characters):
    """Tell whether some characters are nothing but marks, controls and blanks."""
    return all(unicodedata.category(letter)[0] in "MCZ" for letter in characters)


@settings(deadline=None)
@given(answers(), st.sampled_from(["BERT", "strips", "blanks", "bytes"]))
def test_whole_words_are_exact_in_every_tokenizer(answer, name):
    text, span = answer
    start = text.rfind(" ", 0, span.start) + 1
    end = len(text) if (end := text.find(" ", span.end)) < 0 else end
    word = text[start:end]
    # A mark that is dropped belongs to the letter before it, and here there is none.
    assume(not dropped(word[:1]) and not unicodedata.category(word[-1]).startswith("C"))
    assert fit(wide(NAMED[name], text, (start, end))) == "exact"


@pytest.mark.parametrize("stride", [0, 1, 5, 8])
@pytest.mark.parametrize("name", NAMED)
def test_many_windows_are_those_of_the_tokenizer_itself(name, stride):
    text = " ".join(f"{word} {NIQQUD} ul." for word in PIECES * 3)
    assert require_same_windows(NAMED[name], text, Span(0, 2), "של?", stride) > 3


def require_same_windows(tokenizer, text, span, question, stride):
    """Compare the windows with those that the tokenizer cuts by itself; returns their number."""
    options = dataclasses.replace(OPTIONS, max_length=60, stride=stride)
    features = qa_features([example(text, span, question=question)], tokenizer, options)
    expected = tokenizer(
        [question],
        [text],
        truncation="only_second",
        max_length=60,
        stride=stride,
        return_overflowing_tokens=True,
    )
    assert [ids for ids, _, _ in windows(features)] == expected["input_ids"]
    for (_, chars, _), encoding in zip(windows(features), expected.encodings, strict=True):
        context = [source == 1 for source in encoding.sequence_ids]
        assert not (chars[:, 0] >= 0)[~np.asarray(context)].any()
    assert features.truncated_R.tolist() == [False]
    assert features.units().sizes_U.tolist() == [len(expected["input_ids"])]
    return len(expected["input_ids"])


@settings(deadline=None)
@given(TOKENIZERS, answers())
def test_truncating_keeps_the_first_window_and_the_whole_question(tokenizer, answer):
    text, span = answer
    features = only(text, span, tokenizer=tokenizer, options=OPTIONS)
    cut = dataclasses.replace(OPTIONS, overflow="truncate")
    truncated = only(text, span, tokenizer=tokenizer, options=cut)
    (window,) = windows(truncated)
    first = next(windows(features))
    assert (window[0], window[2]) == (first[0], first[2])
    assert (window[1] == first[1]).all()
    assert truncated.truncated_R.tolist() == [len(list(windows(features))) > 1]


@settings(deadline=None)
@given(TOKENIZERS, answers())
def test_every_window_that_holds_the_answers_tokens_points_at_them(tokenizer, answer):
    text, span = answer
    whole = next(windows(wide(tokenizer, text, span)))
    tokens = token_span(whole[1], span)
    assume(tokens is not None)
    body = whole[0][tokens[0] : tokens[1] + 1]
    features = only(text, span, tokenizer=tokenizer)
    for ids, chars, (first, last) in windows(features):
        if (first, last) == (0, 0):
            held = token_span(chars, span)
            assert held is None or held[1] - held[0] + 1 < len(body)
        else:
            assert ids[first : last + 1] == body


LONG = " ".join(["אב"] * 40)  # 40 tokens; a window of 24 holds 19 beside the question של?


def test_an_answer_on_a_windows_border_is_found_in_the_next_one_only():
    start = 18 * 3  # words 19 and 20: the second one is behind the first window
    found = [answer for _, _, answer in windows(only(LONG, (start, start + 5)))]
    assert found[0] == (0, 0)
    assert [answer != (0, 0) for answer in found[1:]] == [True, False]
    assert fit(only(LONG, (start, start + 5))) == "exact"


def test_the_first_gold_answer_inside_a_window_is_its_answer():
    spans = [(39 * 3, 39 * 3 + 2), (0, 2), (3, 5)]
    found = list(windows(only(LONG, *spans)))
    held = [char_span(chars, *answer) for _, chars, answer in found if answer != (0, 0)]
    assert held == [(0, 2), (39 * 3, 39 * 3 + 2)]


def test_a_border_inside_a_token_keeps_the_tokens_and_is_counted():
    features = only("אב של אב", (4, 5))
    ((_, chars, answer),) = windows(features)
    assert char_span(chars, *answer) == (3, 5)
    assert fit(features) == "inexact"


@pytest.mark.parametrize("text", ["שָׁל", "של\u0301"])
def test_points_that_a_tokenizer_drops_belong_to_the_letter_before_them(text):
    features = wide(STRIPS, f"אב {text} אב", (3, 3 + len(text)))
    assert fit(features) == "exact"


def test_a_joiner_that_a_tokenizer_drops_stays_inside_the_answer():
    text = "אב \u200dאב"
    features = wide(STRIPS, text, (0, 2))
    assert fit(features) == "exact"


def test_an_answer_of_characters_that_the_tokenizer_drops_is_tokenless():
    features = wide(STRIPS, "אב \u200f של", (3, 4))
    assert fit(features) == "tokenless"
    ((_, _, answer),) = windows(features)
    assert answer == (0, 0)


def test_the_blank_before_a_word_is_no_part_of_its_token():
    chars = token_chars("a  bc\n", np.asarray([[0, 1], [1, 2], [1, 4], [4, 6]]))
    assert chars.tolist() == [[0, 1], [-1, -1], [3, 4], [4, 5]]


def test_an_answer_without_tokens_has_no_span_and_a_question_is_no_text():
    chars = np.asarray([[-1, -1], [0, 2], [3, 5]])
    assert token_span(chars, Span(2, 3)) is None
    assert token_span(chars, Span(1, 4)) == (1, 2)
    assert char_span(chars, 1, 2) == (0, 5)
    for first, last in ((0, 1), (2, 1), (0, 0)):
        with pytest.raises(ValueError, match="no span of the text"):
            char_span(chars, first, last)


def test_no_answer_is_the_first_token_and_an_unlabelled_question_says_nothing():
    rows = [
        example("אב", label="no_answer", guid="n"),
        example("אב", label=None, guid="u"),
        example("אב", (0, 2), guid="a"),
    ]
    features = qa_features(rows, BERT, OPTIONS)
    found = [next(windows(features, row))[2] for row in range(3)]
    assert found[:2] == [(0, 0), (-1, -1)]
    assert found[2][0] > 0
    assert fits(rows) == [None, None, "exact"]
    assert features.labels_R.tolist() == [1, UNLABELLED, 0]


def test_only_training_refuses_an_answer_that_was_cut_away():
    cut = dataclasses.replace(OPTIONS, overflow="truncate")
    rows = [
        example(LONG, (39 * 3, 39 * 3 + 2), guid="behind"),
        example(LONG, (0, 2), guid="before"),
        example(LONG, label="no_answer", guid="none"),
    ]
    asked = qa_features(rows, BERT, cut)
    assert asked.guids == ["behind", "before", "none"]
    assert fits(rows, cut) == ["cut", "exact", None]
    assert asked.truncated_R.all()
    assert next(windows(asked))[2] == (0, 0)
    trained = qa_features(rows, BERT, dataclasses.replace(cut, own=True))
    assert trained.guids == ["before", "none"]
    (refused,) = trained.refused
    assert refused.where == "behind"
    assert "lies after the first 24 tokens and is cut" in refused.what
    for key in ("encoder.overflow=windows", "encoder.max_length", "data.on_cut=drop"):
        assert key in str(refused)


def test_training_refuses_an_answer_longer_than_every_window_and_one_without_tokens():
    training = dataclasses.replace(OPTIONS, own=True)
    rows = [example(LONG, (0, len(LONG)), guid="long"), example("\u200f אב", (0, 1), guid="mark")]
    assert fits(rows, tokenizer=STRIPS) == ["cut", "tokenless"]
    long, mark = qa_features(rows, STRIPS, training).refused
    assert "window of 24 tokens" in long.what
    assert "encoder.stride" in str(long)
    assert "map to no token" in mark.what


@pytest.mark.parametrize(
    ("overflow", "words", "kept"),  # 24 - 3 special - 4 shared - 1 new
    [("windows", 16, 1), ("windows", 17, 0), ("truncate", 20, 1), ("truncate", 21, 0)],
)
def test_a_question_that_leaves_its_context_no_room_is_refused(overflow, words, kept):
    row = example(LONG, (0, 2), question="אב " * words)
    features = qa_features([row], BERT, dataclasses.replace(OPTIONS, overflow=overflow))
    assert len(features) == kept
    for problem in features.refused:
        assert "encoder.max_length" in str(problem)
        assert ("encoder.stride" in str(problem)) == (overflow == "windows")
        assert "longest_first" not in str(problem)


@pytest.mark.parametrize("text", ["", "  ", "\u200f"])
def test_a_context_without_tokens_is_a_question_without_answer(text):
    features = only(text, label="no_answer", tokenizer=STRIPS)
    assert (features.columns["chars"].array == -1).all()
    assert len(features.lengths_S) == 1


def test_the_second_text_begins_behind_the_question_in_every_window():
    features = only(LONG, (0, 2))
    expected = [ids.index(BERT.sep_token_id) + 1 for ids, _, _ in windows(features)]
    assert features.second_S.tolist() == expected
    assert (only(LONG, (0, 2), tokenizer=NAMED["bytes"]).second_S == -1).all()


def test_rows_are_the_same_however_many_are_encoded_at_once_and_after_storage(
    monkeypatch, tmp_path
):
    rows = [example("אב של " * n, (0, 2), guid=f"g{n}") for n in range(1, 12)]
    expected = qa_features(rows, BERT, OPTIONS)
    monkeypatch.setattr("heron.tasks.qa.features._CHUNK", 3)
    for found in (
        qa_features(rows, BERT, OPTIONS),
        load_features(tmp_path, "00", lambda: expected),
    ):
        assert found.counts == expected.counts
        for name in ("tokens_T", "sequences_R"):
            assert (getattr(found, name) == getattr(expected, name)).all()
        for name, column in expected.columns.items():
            assert (found.columns[name].array == column.array).all()
