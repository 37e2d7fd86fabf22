"""Where an encoder comes from: what is cached is named by its commit."""

import dataclasses
import importlib.util
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import constants
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers
from tokenizers.models import BPE, Unigram, WordLevel, WordPiece
from tokenizers.pre_tokenizers import Digits, Metaspace, Sequence, Whitespace
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoConfig,
    BertConfig,
    GPT2Config,
    MBart50Tokenizer,
    MBartConfig,
    MBartTokenizer,
    NllbTokenizer,
    PreTrainedTokenizerFast,
)

from heron.base.errors import ConfigError
from heron.base.files import seal
from heron.data import hub as module
from heron.data.hub import (
    identity,
    load_tokenizer,
    origin,
    read_as_sentencepiece,
    unused_share,
    vocabulary_size,
)
from heron.languages.english import ENGLISH
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.metrics.bertscore import sign
from heron.metrics.config import BertScoreConfig
from heron.models.config import EncoderConfig, ScratchConfig
from heron.models.encoder import load_encoder
from tiny_models import save_model

COMMITS = {"main": "0123456789abcdef0123456789abcdef01234567", "v2": "f" * 40}


@pytest.fixture
def cached(tiny_encoder, tmp_path, monkeypatch) -> str:
    """Put an encoder into a hub cache, twice; returns its id."""
    folder = tmp_path / "models--acme--encoder"
    (folder / "refs").mkdir(parents=True)
    for name, commit in COMMITS.items():
        (folder / "refs" / name).write_text(commit)
        (folder / "snapshots" / commit).mkdir(parents=True)
        for file in tiny_encoder.iterdir():
            Path(folder / "snapshots" / commit / file.name).symlink_to(file)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return "acme/encoder"


@pytest.mark.parametrize("revision", [None, "main", "v2"])
def test_a_cached_encoder_is_named_by_its_commit(cached, revision):
    found = identity(EncoderConfig(name=cached, revision=revision))
    assert found == {"commit": COMMITS[revision or "main"]}


def test_a_signature_names_the_commit(cached):
    assert sign(BertScoreConfig(cached, 1)).startswith("acme/encoder@0123456789ab_L1_")


def test_a_damaged_export_is_no_encoder_to_begin_with(tiny_encoder, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_encoder, folder)
    config = EncoderConfig(name=str(folder))
    origin(config)  # a folder without checksums is anybody's
    seal(folder)
    origin(config)
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-5] ^= 1
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(ConfigError, match=r"model\.safetensors: damaged or changed"):
        origin(config)


MARKERS = HEBREW.event_markers
LETTERS = HEBREW.alphabet + ROMANIAN.alphabet + ENGLISH.alphabet
SCRATCH = EncoderConfig(max_length=32, scratch=ScratchConfig(vocabulary=400))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    # Both ways, so that every letter occurs at and after a word's start.
    cache = tmp_path_factory.mktemp("cache")
    return load_tokenizer(SCRATCH, MARKERS, [LETTERS, LETTERS[::-1], " ".join(LETTERS)], cache)


@pytest.fixture
def pretrained(tiny_encoder, tmp_path):
    config = EncoderConfig(name=str(tiny_encoder), max_length=64)
    return load_tokenizer(config, MARKERS, (), tmp_path)


@pytest.mark.parametrize("name", ["trained", "pretrained"])
def test_each_marker_is_one_token_at_the_end_of_the_vocabulary(name, request):
    tokenizer = request.getfixturevalue(name)
    ids = [tokenizer.convert_tokens_to_ids(marker) for marker in MARKERS]
    assert ids == list(range(len(tokenizer) - 4, len(tokenizer)))
    text = "שר [א1] נבחר [/א1] ,[א2]עזב[/א2]"
    assert [token for token in tokenizer.tokenize(text) if token in MARKERS] == list(MARKERS)


@pytest.mark.parametrize("name", ["trained", "pretrained"])
def test_markers_take_no_space_and_no_letter_with_them(name, request):
    tokenizer = request.getfixturevalue(name)
    text = "אב [א1] גד [/א1] הו"
    encoded = tokenizer(text, return_offsets_mapping=True)
    found = dict(zip(encoded.tokens(), encoded["offset_mapping"], strict=True))
    for marker in MARKERS[:2]:
        start, end = found[marker]
        assert text[start:end] == marker


@given(st.text(LETTERS, min_size=1, max_size=12))
def test_a_trained_tokenizer_gives_back_every_letter_and_its_case(trained, word):
    pieces = trained.tokenize(word)
    assert "".join(piece.removeprefix("##") for piece in pieces) == word


def test_sequences_are_framed_for_one_text_and_for_two(trained):
    one = trained("אב").tokens()
    two = trained("אב", "גד").tokens()
    assert (one[0], one[-1]) == ("[CLS]", "[SEP]")
    assert [token for token in two if token.startswith("[")] == ["[CLS]", "[SEP]", "[SEP]"]
    assert trained.pad_token_id == 0


def test_no_segment_ids_are_made(trained):
    assert set(trained("אב")) == {"input_ids", "attention_mask"}


@pytest.mark.parametrize("name", ["trained", "pretrained"])
def test_the_length_limit_is_the_configured_one_and_cuts_the_end(name, request):
    tokenizer = request.getfixturevalue(name)
    assert tokenizer.model_max_length in (32, 64)
    assert tokenizer.truncation_side == "right"


def test_training_happens_once_per_texts_and_size(tmp_path, monkeypatch):
    trainings = []
    train = module._train_wordpiece
    monkeypatch.setattr(
        module, "_train_wordpiece", lambda *inputs: trainings.append(1) or train(*inputs)
    )
    texts = ["אבג דהו", "abc def"]
    first = load_tokenizer(SCRATCH, MARKERS, texts, tmp_path)
    again = load_tokenizer(SCRATCH, (), texts[::-1] * 2, tmp_path)  # order and repeats do not count
    assert len(trainings) == 1
    assert len(again) == len(first) - len(MARKERS)
    load_tokenizer(SCRATCH, MARKERS, [*texts, "more"], tmp_path)
    small = dataclasses.replace(SCRATCH, scratch=ScratchConfig(vocabulary=20))
    load_tokenizer(small, MARKERS, texts, tmp_path)
    assert len(trainings) == 3


def _cut(path):
    path.write_bytes(path.read_bytes()[:-9])


@pytest.mark.parametrize("damage", [_cut, lambda path: path.unlink()], ids=["cut", "deleted"])
@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "checksums.json"])
def test_a_damaged_tokenizer_is_trained_again(name, damage, tmp_path):
    texts = ["אבג דהו אבד", "abc def abd"]
    whole = load_tokenizer(SCRATCH, (), texts, tmp_path).backend_tokenizer.to_str()
    (file,) = tmp_path.glob(f"tokenizers/*/{name}")
    expected = file.read_bytes()
    damage(file)
    assert load_tokenizer(SCRATCH, (), texts, tmp_path).backend_tokenizer.to_str() == whole
    assert file.read_bytes() == expected


def test_a_kill_between_the_files_of_a_tokenizer_costs_the_next_run_nothing(tmp_path, monkeypatch):
    texts = ["אבג דהו אבד", "abc def abd"]

    def write_the_first_and_die(self, folder):
        (folder / "tokenizer_config.json").write_text("{}")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PreTrainedTokenizerFast, "save_pretrained", write_the_first_and_die)
        with pytest.raises(KeyboardInterrupt):
            load_tokenizer(SCRATCH, (), texts, tmp_path)
    assert len(load_tokenizer(SCRATCH, (), texts, tmp_path)) > 5
    assert len([path for path in (tmp_path / "tokenizers").iterdir() if path.is_dir()]) == 1


def test_training_is_deterministic(tmp_path):
    texts = ["אבג דהו אבד", "abc def abd", "ăîș țab"]
    one, two = (
        load_tokenizer(SCRATCH, MARKERS, texts, tmp_path / folder).backend_tokenizer.to_str()
        for folder in "ab"
    )
    assert Tokenizer.from_str(one).get_vocab() == Tokenizer.from_str(two).get_vocab()


@pytest.fixture
def decoder(tmp_path):
    """Save a tokenizer that adds nothing to a text, as GPT-2's does, and has no padding token."""
    backend = Tokenizer(WordLevel({"?": 0, "a": 1, "b": 2, "<end>": 3}, unk_token="?"))
    backend.pre_tokenizer = Whitespace()
    bare = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="?", eos_token="<end>")
    bare.save_pretrained(tmp_path / "decoder")
    GPT2Config(vocab_size=4).save_pretrained(tmp_path / "decoder")
    return load_tokenizer(
        EncoderConfig(name=str(tmp_path / "decoder"), max_length=8), (), (), tmp_path
    )


def test_a_decoders_tokenizer_ends_each_text(decoder):
    assert decoder("a b").tokens() == ["a", "b", "<end>"]
    assert decoder("a b", "b").tokens() == ["a", "b", "<end>", "b", "<end>"]
    assert decoder.pad_token_id == decoder.eos_token_id


def test_a_decoder_that_only_begins_its_texts_ends_them_too_and_can_be_padded(tmp_path):
    backend = Tokenizer(WordLevel({"?": 0, "a": 1, "b": 2, "<s>": 3, "</s>": 4}, unk_token="?"))
    backend.pre_tokenizer = Whitespace()
    backend.post_processor = TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 3)]
    )
    llamas = PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="?", bos_token="<s>", eos_token="</s>"
    )
    loaded = load(save_model("llama", llamas, tmp_path))
    assert loaded("a b").tokens() == ["<s>", "a", "b", "</s>"]
    assert loaded("a b", "b").tokens() == ["<s>", "a", "b", "</s>", "b", "</s>"]
    assert loaded.pad_token_id == 4


@pytest.mark.parametrize(
    ("blank", "settings", "expected"),
    [
        (True, {}, ["<s>", "▁a", "b"]),  # Llama and Mistral
        (False, {}, ["<s>", "a", "b"]),  # Gemma
        (True, {"add_bos_token": False}, ["▁a", "b"]),
    ],
)
def test_sentencepiece_models_of_decoders_are_read_as_they_were_trained(blank, settings, expected):
    pieces = ["<unk>", "<s>", "</s>", "▁", "a", "b", "▁a"]
    merges = [("▁", "a")]
    backend = Tokenizer(BPE({piece: n for n, piece in enumerate(pieces)}, merges))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>", **settings
    )
    proto = SimpleNamespace(
        trainer_spec=SimpleNamespace(model_type=2, byte_fallback=True),
        normalizer_spec=SimpleNamespace(precompiled_charsmap=b"", add_dummy_prefix=blank),
    )
    read_as_sentencepiece(tokenizer, proto)
    assert tokenizer("ab").tokens() == expected


def save_multilingual(kind, folder: Path) -> Path:
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "▁": 4, "a": 5, "<mask>": 6}
    if kind is not NllbTokenizer:
        vocabulary = [(piece, -1.0) for piece in vocabulary]
    kind(vocab=vocabulary).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("kind", "language", "token"),
    [
        (MBartTokenizer, "ro", "ro_RO"),
        (MBartTokenizer, "he", "en_XX"),  # it has none for Hebrew
        (MBart50Tokenizer, "he", "he_IL"),
        (MBart50Tokenizer, "fil", "tl_XX"),
        (NllbTokenizer, "he", "heb_Hebr"),
        (NllbTokenizer, "zh-Hant", "zho_Hant"),
        (NllbTokenizer, "und", "eng_Latn"),
    ],
)
def test_a_multilingual_tokenizer_marks_texts_by_their_language(kind, language, token, tmp_path):
    folder = save_multilingual(kind, tmp_path)
    MBartConfig(vocab_size=300).save_pretrained(folder)
    tokenizer = load_tokenizer(EncoderConfig(name=str(folder)), (), (), tmp_path, language)
    texts = tokenizer("a").tokens(), tokenizer("a", "a").tokens()
    for tokens in texts:
        assert [t for t in tokens if t in ("ro_RO", "en_XX", "eng_Latn") or t == token] == [token]


def test_a_tokenizer_without_the_token_of_its_language_is_refused(tmp_path):
    folder = save_multilingual(NllbTokenizer, tmp_path)
    MBartConfig(vocab_size=300).save_pretrained(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings["src_lang"] = "heb_Latn"
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(ConfigError, match="no complete tokenizer"):
        load(folder)


SPECIAL_TOKENS = {
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "cls_token": "<s>",
    "sep_token": "</s>",
    "mask_token": "<mask>",
}


PIECES = [*SPECIAL_TOKENS.values(), *"▁finalv12"]
NUMBERED = {piece: number for number, piece in enumerate(PIECES)}


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        ("Roberta", BPE(NUMBERED, [], unk_token="<unk>")),
        ("Bert", WordPiece(NUMBERED, unk_token="<unk>")),
        ("DebertaV2", Unigram([(piece, -1.0) for piece in PIECES], unk_id=0)),
    ],
)
def test_a_tokenizer_reads_texts_as_its_file_says(kind, model, tmp_path):
    stored = Tokenizer(model)
    stored.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    stored.pre_tokenizer = Sequence([Digits(individual_digits=True), Metaspace()])
    whole = PreTrainedTokenizerFast(tokenizer_object=stored, **SPECIAL_TOKENS)
    save_model("bert", whole, tmp_path)
    settings = {**SPECIAL_TOKENS, "tokenizer_class": f"{kind}Tokenizer"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    text = "ﬁNAL Ⅶ 12"
    loaded = load(tmp_path)
    assert type(loaded) is not PreTrainedTokenizerFast
    assert loaded.tokenize(text) == whole.tokenize(text)


def test_a_decoders_last_token_survives_the_length_limit(decoder):
    cut = decoder("a b a b a b a b", "b", truncation="only_first", max_length=6)
    assert cut.tokens() == ["a", "b", "a", "<end>", "b", "<end>"]
    assert decoder("a b a b a", truncation=True, max_length=3).tokens() == ["a", "b", "<end>"]


def test_a_tokenizer_that_frames_its_texts_is_left_as_it_is(trained, tmp_path):
    trained.save_pretrained(tmp_path / "copy")
    BertConfig(vocab_size=len(trained)).save_pretrained(tmp_path / "ends")
    copy = PreTrainedTokenizerFast.from_pretrained(tmp_path / "copy", eos_token="[SEP]")
    copy.save_pretrained(tmp_path / "ends")
    loaded = load_tokenizer(EncoderConfig(name=str(tmp_path / "ends")), (), (), tmp_path)
    assert loaded.eos_token == "[SEP]"
    assert loaded("אב", "גד").tokens() == trained("אב", "גד").tokens()


def load(folder: Path, markers=()):
    return load_tokenizer(EncoderConfig(name=str(folder), max_length=64), markers, (), folder)


def save_words(folder: Path, words: dict[str, int], rows: int, *special: str) -> Path:
    """Save a tokenizer of whole words, to which `special` is added, with a config of `rows`."""
    backend = Tokenizer(WordLevel(words, unk_token="<unk>"))
    backend.pre_tokenizer = Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="<unk>", pad_token="<pad>", eos_token="<end>"
    )
    tokenizer.add_tokens(list(special), special_tokens=True)
    return save_model("gpt2", tokenizer, folder, vocab_size=rows)


def rows_for(folder: Path, tokenizer) -> int:
    """Count the embeddings of an encoder that is loaded for a tokenizer."""
    config = EncoderConfig(name=str(folder), max_length=64)
    encoder = load_encoder(config, vocabulary_size(tokenizer), tokenizer.pad_token_id)
    return len(encoder.get_input_embeddings().weight)


SPECIAL = ("<unk>", "<pad>", "<end>")
WORDS = {word: number for number, word in enumerate((*SPECIAL, *ENGLISH.alphabet[:17]))}  # 20


@pytest.mark.parametrize(
    "kind", ["bert", "gpt2", "xlm-roberta", "t5", "camembert", "mbart", "nllb-moe", "modernbert"]
)
def test_a_folder_without_a_tokenizer_is_refused(kind, tmp_path):
    AutoConfig.for_model(kind).save_pretrained(tmp_path)
    with pytest.raises(ConfigError, match=f"no complete tokenizer in {tmp_path}"):
        load(tmp_path)


def test_words_without_an_embedding_are_refused(tmp_path):
    assert len(load(save_words(tmp_path / "fits", WORDS, rows=20))) == 20
    with pytest.raises(ConfigError, match="embeddings of 19"):
        load(save_words(tmp_path / "more", WORDS, rows=19))


def test_markers_and_special_tokens_may_exceed_the_embeddings(tmp_path):
    folder = save_words(tmp_path, WORDS, 20, "<extra>")
    tokenizer = load(folder, MARKERS)
    assert rows_for(folder, tokenizer) == len(tokenizer) == 20 + 1 + len(MARKERS)


def test_every_token_has_an_embedding_where_ids_have_gaps(tmp_path):
    folder = save_words(tmp_path, WORDS | {"word": 29}, rows=30)
    tokenizer = load(folder)
    assert max(tokenizer("a word")["input_ids"]) == 29 < rows_for(folder, tokenizer)
    with pytest.raises(ConfigError, match="embeddings of 29"):
        load(save_words(tmp_path / "short", WORDS | {"word": 29}, rows=29))


def test_no_marker_takes_the_id_of_a_word(tmp_path):
    folder = save_words(tmp_path, WORDS | {"word": 21}, rows=30)
    with pytest.raises(ConfigError, match="gaps"):
        load(folder, MARKERS)


def test_a_run_is_refused_with_the_name_of_its_model(tiny_encoder, tmp_path):
    shutil.copytree(tiny_encoder, tmp_path / "model")
    with pytest.raises(ConfigError, match=f"did you mean {tmp_path / 'model'}"):
        load(tmp_path)


def test_an_adapter_alone_is_refused_with_the_way_to_a_whole_model(tmp_path):
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "base"}')
    with pytest.raises(ConfigError, match="merge_and_unload"):
        load(tmp_path)


@pytest.mark.skipif(importlib.util.find_spec("sentencepiece") is not None, reason="it is there")
def test_a_sentencepiece_file_alone_names_the_package_that_reads_it(tmp_path):
    AutoConfig.for_model("t5").save_pretrained(tmp_path)
    (tmp_path / "spiece.model").write_bytes(b"")
    with pytest.raises(ConfigError, match=r"heron-nlu\[sentencepiece\]"):
        load(tmp_path)


@pytest.mark.parametrize(("settings", "is_unused"), [({}, True), ({"do_lower_case": False}, False)])
def test_capitals_that_no_text_is_read_as_are_counted(settings, is_unused, tmp_path):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ana", "Ana", "##ță", "中"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    BertConfig(vocab_size=len(pieces)).save_pretrained(tmp_path)
    tokenizer = load(tmp_path, MARKERS)
    assert unused_share(tokenizer) == (0.5 if is_unused else 0)
    assert tokenizer.tokenize("Ana") == ["ana" if is_unused else "Ana"]


def test_an_uncased_vocabulary_is_used_whole(tmp_path):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "ana", "##ta", "中"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    BertConfig(vocab_size=len(pieces)).save_pretrained(tmp_path)
    assert unused_share(load(tmp_path)) == 0
