#!/usr/bin/env bash
# transformers 5.23.0: AutoTokenizer takes the vocabulary of a tokenizer.json, but not its normalizer
# and pre-tokenizer, where tokenizer_config.json names RobertaTokenizer, GPT2Tokenizer, BertTokenizer,
# DebertaV2Tokenizer, MBartTokenizer, BigBirdTokenizer and most others.
#
# Expected: the tokens of tokenizer.json, as with tokenizer_class=PreTrainedTokenizerFast (and with
# transformers 4.57.1). Seen: a RoBERTa trained with lower-casing reads capitals as other pieces, and
# an mDeBERTa, whose sentencepiece table is left out, reads "…" as unknown.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check transformers==5.23.0
cd "$folder"
HF_HUB_OFFLINE=1 "$folder/env/bin/python" - <<'PYTHON' 2>"$folder/log" || { cat "$folder/log"; exit 1; }
import json
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import AutoTokenizer, __version__

pieces = ["<unk>", "▁", "a", "n", ".", "A", "N"]
bpe = models.BPE({piece: number for number, piece in enumerate(pieces)}, [], unk_token="<unk>")
unigram = models.Unigram([(piece, -1.0) for piece in pieces], unk_id=0)
byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
for name, model, words, normalizer in (
    ("RobertaTokenizer", bpe, byte_level, normalizers.Lowercase()),
    ("DebertaV2Tokenizer", unigram, pre_tokenizers.Metaspace(), normalizers.NFKC()),
):
    stored = Tokenizer(model)
    stored.normalizer = normalizer
    stored.pre_tokenizer = words
    stored.save("tokenizer.json")
    text = "ANA" if model is bpe else "an…"
    read = {}
    for class_name in ("PreTrainedTokenizerFast", name):
        settings = {"tokenizer_class": class_name, "unk_token": "<unk>"}
        Path("tokenizer_config.json").write_text(json.dumps(settings))
        read[class_name] = AutoTokenizer.from_pretrained(".").tokenize(text)
    print(f"transformers {__version__}: tokenizer.json reads {text!r} as {stored.encode(text).tokens}, "
          f"{name} as {read[name]}")
    assert read["PreTrainedTokenizerFast"] == stored.encode(text).tokens
    assert read[name] != read["PreTrainedTokenizerFast"], f"{name} reads the whole file now"
PYTHON
