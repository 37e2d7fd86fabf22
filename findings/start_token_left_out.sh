#!/usr/bin/env bash
# transformers 5.23.0: a Llama folder with tokenizer.model alone (no tokenizer.json) reads texts
# without their start token, unless tokenizer_config.json says add_bos_token.
#
# Expected: <s> before a text, as with transformers 4.57.1, where add_bos_token is true by default
# (and as Llama was trained). Seen: none; the model reads every text in a way it never has.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
	transformers==5.23.0 sentencepiece==0.2.1 protobuf==6.33.1
cd "$folder"
HF_HUB_OFFLINE=1 "$folder/env/bin/python" - <<'PYTHON' 2>"$folder/log" || { cat "$folder/log"; exit 1; }
import json
from pathlib import Path

import sentencepiece
from transformers import AutoTokenizer, __version__

Path("text").write_text("the committee met in the morning and rejected the proposal\n" * 50)
sentencepiece.SentencePieceTrainer.train(
    input="text", model_prefix="tokenizer", model_type="bpe", vocab_size=40, minloglevel=2
)
special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
settings = {"tokenizer_class": "LlamaTokenizer", **special}
Path("config.json").write_text(json.dumps({"model_type": "llama"}))
read = {}
for name, more in (("as it is", {}), ("add_bos_token", {"add_bos_token": True})):
    Path("tokenizer_config.json").write_text(json.dumps(settings | more))
    read[name] = AutoTokenizer.from_pretrained(".")("the").tokens()
print(f"transformers {__version__}: 'the' is {read['as it is']}, "
      f"with add_bos_token=true {read['add_bos_token']}")
assert read["add_bos_token"][0] == "<s>"
assert read["as it is"][0] != "<s>", "the start token is there now"
PYTHON
