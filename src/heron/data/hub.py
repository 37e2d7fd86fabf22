"""Where encoders and tokenizers come from: a folder, the hub, or training on the train split."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from huggingface_hub import try_to_load_from_cache

from heron.base.errors import ConfigError
from heron.base.files import (
    SEAL,
    damaged_files,
    fingerprint,
    read_json,
    sha256_file,
    stored_folder,
    write_json,
)
from heron.languages.language import UNDETERMINED
from heron.languages.unlisted import canonical

_BPE = 2  # sentencepiece's number of this kind of model
_PATH = re.compile(r"[/~.]|.*/.*/")  # begins as a path does, or has more parts than a hub id


class Pretrained(Protocol):
    """What names a model: keys of `encoder`."""

    name: str  # hub id or folder
    revision: str | None
    trust_remote_code: bool


def origin(config: Pretrained) -> dict[str, Any]:
    """Make the `from_pretrained` arguments: where to load from, and whether its code may run.

    A damaged `model/` of a run is a ConfigError, and so are a run and a missing folder.
    """
    folder = Path(config.name)
    is_cached = False
    if not folder.is_dir() and _PATH.match(config.name):
        raise ConfigError(f"encoder.name={config.name}: no such folder")
    if not folder.is_dir():
        with loading(config.name):  # a missing folder is no hub id
            is_cached = _local_file(config, "config.json") is not None
    elif not (folder / "config.json").is_file() and (folder / "model" / "config.json").is_file():
        model = folder / "model"
        raise ConfigError(f"encoder.name={config.name}: a run; did you mean {model}?")
    elif (folder / "adapter_config.json").is_file() and not (folder / "config.json").is_file():
        raise ConfigError(
            f"encoder.name={config.name}: an adapter without its model; load both with peft, then "
            "save merge_and_unload() and the tokenizer in one folder"
        )
    elif damaged := damaged_files(folder):
        files = ", ".join(damaged)
        raise ConfigError(
            f"encoder.name={config.name}: {files}: damaged or changed since a run exported it; "
            f"copy the folder again. If you have changed it yourself, remove {SEAL}"
        )
    return {
        "revision": config.revision,
        "trust_remote_code": config.trust_remote_code,
        "local_files_only": is_cached,
    }


def identity(config: Pretrained) -> dict[str, str]:
    """Identify a pretrained encoder by its content; empty for `scratch`.

    `{file: SHA-256}` of a folder's weights, settings, tokenizer and code, or `{"commit": id}`.
    """
    if config.name == "scratch":
        return {}
    folder = Path(config.name)
    if folder.is_dir():
        kinds = ("*.safetensors", "*.bin", "*.json", "*.txt", "*.model", "*.py")
        files = sorted(file for kind in kinds for file in folder.glob(kind))
        return {file.name: sha256_file(file) for file in files}

    from transformers import AutoConfig  # start-up time

    AutoConfig.from_pretrained(config.name, **origin(config))  # fetches it where it is not cached
    path = _local_file(config, "config.json")
    # The cache keeps each commit in a folder of its name; transformers 5 does not report it.
    commit = path.parent.name if path else config.revision
    return {"commit": str(commit)}


def pretrained_tokenizer(config: Pretrained) -> Any:
    """Load an encoder's fast tokenizer; a decoder's ends each text with its end token.

    Source: RoNLI section 4: RoGPT2 is read at the state of its end-of-sequence token.
    """
    from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerFast  # start-up time

    source = origin(config)
    with loading(config.name):
        tokenizer: Any = AutoTokenizer.from_pretrained(config.name, **source)
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise ConfigError(f"encoder.name={config.name}: heron needs a fast tokenizer (offsets)")
    words = _words(tokenizer)
    if not words:  # transformers makes a tokenizer up where there is none
        raise _no_tokenizer(config.name)
    last = max(words.values())
    with loading(config.name):
        settings = AutoConfig.from_pretrained(config.name, **source)
    rows = getattr(getattr(settings, "encoder", settings), "vocab_size", None)
    if rows is not None and last >= rows:
        raise ConfigError(
            f"encoder.name={config.name}: its tokenizer numbers words up to {last}, "
            f"its model has embeddings of {rows}; bring the tokenizer that it was trained with"
        )

    read_as_stored(tokenizer, config)
    _end_texts(tokenizer)
    if tokenizer.pad_token is None:  # any token will do: padding is masked
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
    return tokenizer


def read_as_stored(tokenizer: Any, config: Pretrained) -> None:
    """Let a fast tokenizer normalize and divide texts as its file says.

    Most classes of transformers 5.23 take only the vocabulary from it: lower-casing is lost where a
    RoBERTa was trained with it, and sentencepiece's table (NFKC) of DeBERTa, mBART and BigBird.
    """
    from tokenizers import Tokenizer, normalizers, pre_tokenizers  # start-up time
    from transformers import PreTrainedTokenizerFast
    from transformers.convert_slow_tokenizer import SentencePieceExtractor

    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        return
    backend = tokenizer.backend_tokenizer
    path = _local_file(config, "tokenizer.json")
    if path is not None:
        if type(tokenizer) is PreTrainedTokenizerFast:  # it has read the whole file
            return
        stored: Any = Tokenizer.from_file(str(path))
        # Settings beside the file change these two: `do_lower_case`, `add_prefix_space`.
        if not isinstance(stored.normalizer, normalizers.BertNormalizer):
            backend.normalizer = stored.normalizer
        if not isinstance(stored.pre_tokenizer, pre_tokenizers.ByteLevel):
            backend.pre_tokenizer = stored.pre_tokenizer
        return

    vocabulary = str(getattr(tokenizer, "vocab_file", ""))
    if vocabulary.endswith(".model"):
        read_as_sentencepiece(tokenizer, SentencePieceExtractor(vocabulary).proto)


def read_as_sentencepiece(tokenizer: Any, proto: Any) -> None:
    """Let a tokenizer read texts as the sentencepiece model does that it was made from.

    transformers 5.23 leaves out the table of normalization (NFKC), and of models like Llama's (BPE
    that falls back to bytes) the blank before a text, and the start token where
    `tokenizer_config.json` does not ask for it.

    Args:
        tokenizer: a fast tokenizer.
        proto: the `ModelProto` of its file.
    """
    from tokenizers import normalizers, pre_tokenizers  # start-up time

    backend = tokenizer.backend_tokenizer
    steps = _steps(backend.normalizer)
    table = proto.normalizer_spec.precompiled_charsmap
    has_table = any(isinstance(step, normalizers.Precompiled) for step in steps)
    if table and not has_table:
        backend.normalizer = normalizers.Sequence([normalizers.Precompiled(table), *steps])

    is_bpe = proto.trainer_spec.model_type == _BPE
    if is_bpe and proto.trainer_spec.byte_fallback:
        blank = "first" if proto.normalizer_spec.add_dummy_prefix else "never"
        backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=blank, split=False)
        tokenizer.add_bos_token = tokenizer.init_kwargs.get("add_bos_token", True)


def _steps(normalizer: Any) -> list[Any]:
    """List the steps of a normalizer; none of None."""
    from tokenizers.normalizers import Sequence as Steps  # start-up time

    if isinstance(normalizer, Steps):
        steps: Any = normalizer
        return list(steps)
    return [] if normalizer is None else [normalizer]


def _mark_language(tokenizer: Any, language: str, name: str) -> None:
    """Let the tokenizer of mBART or NLLB mark texts by the token of their language.

    It would read all as English. Where no token (`he_IL`, `heb_Hebr`) is the language's, what the
    folder sets stays.
    """
    marked = getattr(tokenizer, "src_lang", None)
    if marked is None:
        return
    if tokenizer.convert_tokens_to_ids(marked) == tokenizer.unk_token_id:
        raise _no_tokenizer(name)
    tokens = [token.content for token in tokenizer.added_tokens_decoder.values()]
    own = [token for token in tokens if canonical(token) == language]
    if own:
        tokenizer.src_lang = own[0]


def _end_texts(tokenizer: Any) -> None:
    """Let a decoder's tokenizer write its end token after each text; most write none.

    Some write a start token only (Llama, Mistral, Gemma), which stays.
    """
    from tokenizers.processors import TemplateProcessing  # start-up time

    start_ids = tokenizer("").input_ids
    ends = {tokenizer.eos_token_id, tokenizer.sep_token_id, tokenizer.cls_token_id}
    if tokenizer.eos_token is None or not ends.isdisjoint(start_ids):
        return
    start = tokenizer.convert_ids_to_tokens(start_ids)
    end = tokenizer.eos_token
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=[*start, "$A", end],
        pair=[*start, "$A", end, "$B", end],
        special_tokens=[*zip(start, start_ids, strict=True), (end, tokenizer.eos_token_id)],
    )


def _words(tokenizer: Any) -> dict[str, int]:
    """Map the pieces of the vocabulary, without special tokens, to their ids.

    Pieces in brackets count as special, whether the tokenizer marks them so or not.
    """
    added = tokenizer.added_tokens_decoder.values()
    special = {token.content for token in added if token.special}
    return {
        piece: number
        for piece, number in tokenizer.get_vocab().items()
        if piece not in special and piece.strip("▁")[:1] not in ("", "<", "[")
    }


def _no_tokenizer(name: str) -> ConfigError:
    return ConfigError(
        f"encoder.name={name}: no complete tokenizer in {name}; add the files of the tokenizer "
        "that the model was trained with (tokenizer.json, or vocab.txt, *.model, vocab.json and "
        "merges.txt)"
    )


def vocabulary_size(tokenizer: Any) -> int:
    """Count the embeddings that tokens need; added tokens may leave out numbers."""
    return max(len(tokenizer), 1 + max(tokenizer.added_tokens_decoder, default=-1))


def unused_share(tokenizer: Any) -> float:
    """Compute the share of the vocabulary that no text is read as, from 0 to 1.

    These pieces have capitals or accents, and the tokenizer's normalizer removes them.
    """
    normalizer = tokenizer.backend_tokenizer.normalizer
    if normalizer is None or normalizer.normalize_str("É") == "É":
        return 0.0
    words = [piece.removeprefix("##").strip("▁") for piece in _words(tokenizer)]
    # Chinese characters get blanks around them.
    unused = [word for word in words if normalizer.normalize_str(word).strip() != word]
    return round(len(unused) / len(words), 4)


def _local_file(config: Pretrained, name: str) -> Path | None:
    """Find a file of a folder, or of the hub's cache; None where there is none."""
    path: object = Path(config.name, name)
    if not Path(config.name).is_dir():
        path = try_to_load_from_cache(config.name, name, revision=config.revision)
    is_found = isinstance(path, str | Path) and Path(path).is_file()
    return Path(str(path)) if is_found else None


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Turn any error while a model loads into a ConfigError; libraries raise many kinds.

    What transformers logs about the weights is part of its error only: `load_weights` checks them.
    """
    logger = logging.getLogger("transformers.modeling_utils")
    before = logger.level, logger.propagate
    report = _LastMessage()
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    logger.addHandler(report)
    try:
        yield
    except (ConfigError, MemoryError):
        raise
    except Exception as error:
        raise unreachable(name, error, report.text) from error
    finally:
        logger.removeHandler(report)
        logger.level, logger.propagate = before


class _LastMessage(logging.Handler):
    """Keeps the last message of a logger, without the colours of a terminal."""

    text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text = re.sub(r"\x1b\[[\d;]*m", "", record.getMessage())


def unreachable(name: str, error: Exception, report: str = "") -> ConfigError:
    """Make the error for a model or tokenizer that could not be loaded.

    `report` is what transformers logged before, to which its error may point.
    """
    why = str(error)
    if "above report" in why:
        why = f"{why}\n{report}"
    if "trust_remote_code" in why:
        why = "it has Python code (*.py); read it, then set encoder.trust_remote_code=true"
    elif "weights_only" in why:  # torch's message advises to trust the file
        why = "its weights are pickled Python objects, which could run code"
    elif "Couldn't instantiate the backend tokenizer" in why:
        return _no_tokenizer(name)
    elif "`tiktoken` is required" in why:  # transformers tries it where sentencepiece is missing
        why = "its tokenizer is a sentencepiece model: pip install 'heron-nlu[sentencepiece]'"
    return ConfigError(f"encoder.name={name}: {why}")


class Tokenized(Pretrained, Protocol):
    """What decides how texts are tokenized: keys of `encoder`."""

    max_length: int
    scratch: Any  # `vocabulary` is the number of its word pieces


def load_tokenizer(
    config: Tokenized,
    markers: Sequence[str],
    texts: Iterable[str],
    cache: Path,
    language: str = UNDETERMINED,
) -> Any:
    """Load the encoder's tokenizer and add the markers to it as one special token each.

    For `name=scratch` it is trained on `texts`, which are not read otherwise, and kept in `cache`.
    `language` is that of the texts, which some tokenizers mark by a token.
    """
    if config.name == "scratch":
        tokenizer = _trained(sorted(set(texts)), config.scratch.vocabulary, cache)
    else:
        tokenizer = pretrained_tokenizer(config)
        _mark_language(tokenizer, language, config.name)
    # Plain strings, not AddedToken(lstrip, rstrip): those swallow spaces and shift the offsets.
    tokenizer.add_tokens(list(markers), special_tokens=True)
    model = tokenizer.backend_tokenizer.model
    for marker in markers:
        word = model.id_to_token(tokenizer.convert_tokens_to_ids(marker))
        if word not in (None, marker):
            raise ConfigError(
                f"encoder.name={config.name}: its vocabulary has gaps, so that the marker {marker} "
                f"gets the number of the word {word}; number its words without gaps"
            )
    _correct_offsets(tokenizer.backend_tokenizer)
    tokenizer.model_max_length = config.max_length
    tokenizer.truncation_side = "right"  # tasks look for cut events at the end
    return tokenizer


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Save a fast tokenizer so that transformers 4.57 and 5 read texts with it alike.

    `tokenizer.json` describes it completely. An encoder's own class would build parts of it itself;
    transformers 5 calls the class that does not `TokenizersBackend`, a name that 4.57 lacks.
    """
    tokenizer.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    settings = read_json(path)
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    settings["model_input_names"] = tokenizer.model_input_names  # their defaults differ
    if "extra_special_tokens" in settings:  # 4.57 reads a list under the older name alone
        settings["additional_special_tokens"] = settings.pop("extra_special_tokens")
    write_json(path, settings)


def _correct_offsets(backend: Any) -> None:
    """Keep characters that a sentencepiece normalizer deletes from shifting the offsets.

    tokenizers 0.23 does not count characters (controls, as in texts from PDF files) that
    `Precompiled` deletes at the start of a text, which shifts the offsets of all that follows. A
    step before it deletes them instead; the tokens stay the same.
    """
    from tokenizers import Regex, normalizers  # start-up time

    normalizer = backend.normalizer
    steps = _steps(normalizer)
    for index, step in enumerate(steps):
        if not isinstance(step, normalizers.Precompiled):
            continue
        deleted = _deleted_characters(step)
        if _shifts_offsets(normalizer, deleted):
            deletion = normalizers.Replace(Regex(rf"\A[{re.escape(deleted)}]+"), "")
            steps.insert(index, deletion)
            backend.normalizer = normalizers.Sequence(steps)
        return


def _deleted_characters(step: Any) -> str:
    """Find the characters below U+3000 (controls, alphabets) that a normalization step deletes."""
    characters = map(chr, range(0x3000))
    return "".join(c for c in characters if step.normalize_str(f"{c}a") == "a")


def _shifts_offsets(normalizer: Any, deleted: str) -> bool:
    """Tell whether a deleted character at the start of a text moves the letter after it."""
    from tokenizers import NormalizedString  # start-up time

    text: Any = NormalizedString(f"{deleted[:1]}a")
    normalizer.normalize(text)
    return bool(text.slice((0, 1)).original != "a")


def _trained(texts: list[str], vocabulary: int, cache: Path) -> Any:
    """Train a WordPiece tokenizer, or load it from the cache."""
    from transformers import PreTrainedTokenizerFast  # start-up time

    def train(folder: Path) -> None:
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=_train_wordpiece(texts, vocabulary),
            pad_token="[PAD]",
            unk_token="[UNK]",
            cls_token="[CLS]",
            sep_token="[SEP]",
            mask_token="[MASK]",
            model_input_names=["input_ids", "attention_mask"],
        )
        save_tokenizer(tokenizer, folder)

    key = fingerprint("wordpiece-3", vocabulary, texts)[:32]
    folder = stored_folder(cache / "tokenizers" / key, train)
    return PreTrainedTokenizerFast.from_pretrained(folder)


def _train_wordpiece(texts: list[str], vocabulary: int) -> Any:
    # Start-up time.
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    # No lower-casing and no accent stripping: Romanian letters and niqqud are kept as they are.
    words = pre_tokenizers.BertPreTokenizer()
    # The trainer numbers letters inside words in random order and breaks ties by number. As special
    # tokens they have fixed numbers, so the vocabulary is the same every time.
    inner = {
        letter for text in texts for word, _ in words.pre_tokenize_str(text) for letter in word[1:]
    }
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary,
        special_tokens=[*special, *(f"##{letter}" for letter in sorted(inner))],
        show_progress=False,
    )
    trained = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trained.pre_tokenizer = words
    trained.train_from_iterator(texts, trainer)
    # A new tokenizer, so that these letters are no special tokens.
    tokenizer = Tokenizer(models.WordPiece(trained.get_vocab(), unk_token="[UNK]"))
    tokenizer.pre_tokenizer = words
    tokenizer.decoder = decoders.WordPiece()
    ends = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=ends
    )
    return tokenizer
