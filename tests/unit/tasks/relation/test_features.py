"""Characters become tokens exactly: every mention is found, and every cut mention is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from heron.data.examples import Example, Span
from heron.data.features import FeatureOptions
from heron.data.hub import load_tokenizer
from heron.data.markers import Markers, mark
from heron.languages.hebrew import HEBREW
from heron.models.config import EncoderConfig
from heron.tasks.relation.features import relation_features

HE = Markers(*HEBREW.event_markers)
LABELS = ("BEFORE", "AFTER", "EQUAL", "VAGUE")
MARKED = FeatureOptions("marked", max_length=128, label_order=LABELS, own=HE)
WINDOW = FeatureOptions("window", max_length=128, label_order=LABELS, own=())


def spans_of(features):
    return features.columns["spans"].array


def markers_of(features):
    return features.columns["markers"].array


@pytest.fixture(scope="session")
def word_pieces(tiny_encoder, session_cache):
    """Keeps every character, unknown ones as [UNK]; knows the markers."""
    return load_tokenizer(EncoderConfig(name=str(tiny_encoder)), HE, (), session_cache)


@pytest.fixture(scope="session")
def accent_stripper(word_pieces):
    """Lower-cases and drops accents, niqqud and direction marks, as uncased BERT does."""
    backend = Tokenizer.from_str(word_pieces.backend_tokenizer.to_str())
    backend.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    return _fast(backend)


@pytest.fixture(scope="session")
def unigram():
    """SentencePiece-like, as XLM-R: spaces become ▁ and belong to the word behind them."""
    backend = Tokenizer(models.Unigram())
    backend.normalizer = normalizers.NFKC()
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=80, special_tokens=["[CLS]", "[SEP]", "[UNK]"], unk_token="[UNK]"
    )
    texts = [HEBREW.alphabet, "אבגד הוזח טיכל", "abc ăîșț cab", "abcdefg"]
    backend.train_from_iterator(texts, trainer)
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 1)]
    )
    return _fast(backend)


def _fast(backend: Tokenizer) -> PreTrainedTokenizerFast:
    names = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **names)
    tokenizer.add_tokens(list(HE), special_tokens=True)
    return tokenizer


@pytest.fixture(params=["word_pieces", "accent_stripper", "unigram"], scope="session")
def tokenizer(request):
    return request.getfixturevalue(request.param)


# Letters, Hebrew points, emoji, invisible direction marks, punctuation: all inside of words.
WORD = st.text(
    "אבגשםץabcăîșțÎȘ'\"-.,׳״־ָׁ\u05b9\u200f\u200e\u202b😀👩🏽\u0301", min_size=1, max_size=6
)
MENTION = st.builds(str.__add__, st.sampled_from("אבגשabcăș"), WORD)


@st.composite
def texts_with_spans(draw):
    """A text of words and the spans of two of its words, in either order."""
    words = draw(st.lists(WORD, max_size=8))
    places = []
    for _ in range(2):
        places.append(draw(st.integers(0, len(words))))
        words.insert(places[-1], draw(MENTION))
    if places[1] <= places[0]:
        places[0] += 1
    starts = [len(" ".join([*words[:place], ""])) for place in places]
    spans = [
        Span(start, start + len(words[place])) for start, place in zip(starts, places, strict=True)
    ]
    return " ".join(words), tuple(spans)


def example(text, spans, guid="g", label="BEFORE"):
    return Example(guid=guid, text=text, spans=tuple(Span(*span) for span in spans), label=label)


def pieces_of(tokenizer, text, span):
    """Ask the tokenizer, character by character, which piece each one is in."""
    encoding = tokenizer(text).encodings[0]
    found = [encoding.char_to_token(character) for character in range(*span)]
    return [piece for piece in found if piece is not None]


@given(case=texts_with_spans())
def test_window_form_finds_the_pieces_of_every_mention_and_no_others(tokenizer, case):
    text, spans = case
    features = relation_features([example(text, spans)], tokenizer, WINDOW)
    expected = [pieces_of(tokenizer, text, span) for span in spans]
    assert features.refused == []
    assert spans_of(features).tolist() == [[f(p) for p in expected for f in (min, max)]]
    assert markers_of(features).tolist() == [[min(p) for p in expected]]


@given(case=texts_with_spans())
def test_marked_form_finds_mentions_and_opening_markers(tokenizer, case):
    text, spans = case
    features = relation_features([example(text, spans)], tokenizer, MARKED)
    marked = mark(text, spans, HE)
    expected = [pieces_of(tokenizer, marked.text, span) for span in marked.spans]
    assert spans_of(features).tolist() == [[f(p) for p in expected for f in (min, max)]]
    ids = features.tokens_T[markers_of(features)[0]].tolist()
    assert tokenizer.convert_ids_to_tokens(ids) == [HE.start_1, HE.start_2]


@pytest.mark.parametrize("written", [(), ("$", "$", "#", "#"), ("<a>", "</a>", "<b>", "</b>")])
def test_other_markers_or_none_take_the_place_of_the_files_own(
    written, tiny_encoder, session_cache
):
    encoder = EncoderConfig(name=str(tiny_encoder))
    tokenizer = load_tokenizer(encoder, written, (), session_cache)
    text, spans = "גשם ירד $ והם הלכו", (Span(14, 18), Span(4, 7))
    features = relation_features([example(text, spans)], tokenizer, replace(MARKED, own=written))
    opened = features.tokens_T[markers_of(features)[0]].tolist()
    first, _, second, _ = written or (text[14:18], "", text[4:7], "")
    wanted = [tokenizer(form, add_special_tokens=False).input_ids[0] for form in (first, second)]
    assert opened == wanted
    read = tokenizer.decode(features.tokens_T[1:-1]).split()
    assert len(read) == len(text.split()) + len(written)


def test_a_mention_ending_in_stripped_points_is_found(accent_stripper):
    text = "נָבְחַר הַשָּׂרָֹ"
    spans = [(0, 7), (8, len(text))]
    features = relation_features([example(text, spans)], accent_stripper, WINDOW)
    assert features.refused == []
    assert len(features) == 1


WORDS = ["ועדה", "נבחר", "שר", "עזב", "אולם", "שב"]
TEXT = " ".join(WORDS)
PLACES = [Span(TEXT.index(word), TEXT.index(word) + len(word)) for word in WORDS]
PAIRS = [(0, 1), (0, 2), (1, 2), (3, 1)]


def pairs_of_two_windows():
    """Rows of two texts, interleaved: pair by pair, once in each text."""
    rows = []
    for number, (one, two) in enumerate(PAIRS):
        for window, text in enumerate((TEXT, f"{TEXT} . סוף")):
            spans = (PLACES[one], PLACES[two])
            rows.append(example(text, spans, f"w{window}.{number}", LABELS[number]))
    return rows


def test_window_form_gives_all_pairs_of_a_text_one_sequence(word_pieces):
    rows = pairs_of_two_windows()
    features = relation_features(rows, word_pieces, WINDOW)
    texts = {row.guid: row.text for row in rows}
    assert len(features.lengths_S) == 2
    assert features.sequences_R.tolist() == [0] * len(PAIRS) + [1] * len(PAIRS)
    for guid, sequence in zip(features.guids, features.sequences_R, strict=True):
        start, end = features.offsets_S[sequence : sequence + 2]
        assert features.tokens_T[start:end].tolist() == word_pieces(texts[guid])["input_ids"]


def test_both_forms_have_the_same_rows_with_the_same_labels(word_pieces):
    rows = pairs_of_two_windows()
    marked, window = (relation_features(rows, word_pieces, form) for form in (MARKED, WINDOW))
    labels = {row.guid: LABELS.index(row.label) for row in rows}
    for features in (marked, window):
        assert dict(zip(features.guids, features.labels_R.tolist(), strict=True)) == labels
    assert len(marked.lengths_S) == len(rows)


@given(case=texts_with_spans(), form=st.sampled_from(["marked", "window"]), data=st.data())
def test_truncation_refuses_exactly_the_rows_it_cuts(word_pieces, case, form, data):
    text, spans = case
    options = MARKED if form == "marked" else WINDOW
    whole = relation_features([example(text, spans)], word_pieces, options)
    max_length = data.draw(st.integers(4, len(whole.tokens_T)))
    options = replace(options, max_length=max_length)
    short = relation_features([example(text, spans)], word_pieces, options)
    # The last position of a truncated sequence is [SEP]: content ends before it. In the marked
    # form a closing marker, one token, follows the last mention.
    last = spans_of(whole).max() + (form == "marked")
    if last < max_length - 1:
        assert short.guids == ["g"]
        assert short.refused == []
        assert spans_of(short).tolist() == spans_of(whole).tolist()
        assert markers_of(short).tolist() == markers_of(whole).tolist()
    else:
        assert short.guids == []
        assert [problem.where for problem in short.refused] == ["g"]
        assert f"first {max_length} tokens" in short.refused[0].what


def test_a_cut_row_leaves_the_other_pairs_of_its_window(word_pieces):
    rows = [example(TEXT, (PLACES[i], PLACES[j]), f"{i}-{j}") for i, j in [(4, 5), (0, 1), (0, 5)]]
    length = spans_of(relation_features(rows[1:2], word_pieces, WINDOW)).max() + 2
    short = replace(WINDOW, max_length=int(length))
    features = relation_features(rows, word_pieces, short)
    assert features.guids == ["0-1"]
    assert [problem.where for problem in features.refused] == ["4-5", "0-5"]


def test_a_sequence_whose_rows_are_all_refused_is_left_out(word_pieces):
    far = example(f"{TEXT} " * 30, (PLACES[0], Span(25 * len(TEXT), 25 * len(TEXT) + 9)), "far")
    near = example(TEXT, PLACES[:2], "near")
    for form in (MARKED, WINDOW):
        features = relation_features([far, near], word_pieces, form)
        assert [problem.where for problem in features.refused] == ["far"]
        assert features.sequences_R.tolist() == [0]
        assert features.lengths_S.tolist() == [len(features.tokens_T)]
        assert features.guids == ["near"]


def test_a_mention_without_any_token_is_refused_with_its_own_reason(accent_stripper):
    text = "נבחר \u05b9\u05b8 שר"
    features = relation_features([example(text, [(0, 4), (5, 7)])], accent_stripper, WINDOW)
    assert "no token of this tokenizer" in features.refused[0].what


@pytest.mark.parametrize("options", [MARKED, WINDOW])
def test_texts_are_tokenized_a_few_at_a_time_to_the_same_features(
    options, word_pieces, monkeypatch
):
    text = "אבג דהו זחט יכל"
    spans = [(Span(0, 3), Span(4, 7)), (Span(8, 11), Span(12, 15)), (Span(4, 7), Span(0, 3))]
    cut = Example("cut", "אבג " * 300 + text, None, (Span(0, 3), Span(1200, 1203)))
    texts = [text, text[:-1] + "מ", text]
    examples = [Example(f"{n}", texts[n % 3], None, spans[n % 3]) for n in range(7)]
    examples.insert(3, cut)
    whole, asked = relation_features(examples, word_pieces, options), []

    def tokenize(texts, **settings):
        asked.append(len(texts))
        return word_pieces(texts, **settings)

    monkeypatch.setattr("heron.tasks.relation.features._CHUNK", 2)
    parts = relation_features(examples, tokenize, options)
    assert max(asked) == 2
    assert len(asked) > 1
    assert (parts.guids, parts.refused) == (whole.guids, whole.refused)
    assert [problem.where for problem in whole.refused] == ["cut"]
    for name in ("tokens_T", "offsets_S", "sequences_R", "truncated_R"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    for name, column in whole.columns.items():
        np.testing.assert_array_equal(parts.columns[name].array, column.array)
