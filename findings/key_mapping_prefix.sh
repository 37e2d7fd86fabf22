#!/usr/bin/env bash
# transformers 5.23.0: from_pretrained(key_mapping=...) loads a checkpoint whose names begin with
# `module.` (saved from DDP), and save_pretrained then writes names that begin with a "+".
#
# Expected: the saved folder has the model's own names, as it has without key_mapping, or those of
# the checkpoint. Seen: `+embeddings.LayerNorm.bias` ...; the folder loads again with every weight
# drawn at random, which is only logged. save_pretrained undoes each renaming of the loading by
# turning its regular expression into a replacement text, where the quantifier `+` stays behind.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
	torch==2.13.0 transformers==5.23.0 numpy
cd "$folder"
HF_HUB_OFFLINE=1 "$folder/env/bin/python" - <<'PYTHON'
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertModel, __version__

settings = BertConfig(
    vocab_size=50, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
)
BertModel(settings).save_pretrained("plain")
weights = load_file("plain/model.safetensors")
wrapped = {f"module.{name}": weight for name, weight in weights.items()}
save_file(wrapped, "plain/model.safetensors", metadata={"format": "pt"})
model, report = BertModel.from_pretrained(
    "plain", key_mapping={r"^(?:module\.)+": ""}, output_loading_info=True
)
assert not report["missing_keys"] and not report["unexpected_keys"]
model.save_pretrained("again")
names = sorted(load_file("again/model.safetensors"))
_, report = BertModel.from_pretrained("again", output_loading_info=True)
print(f"transformers {__version__}: saved {names[0]}; {len(report['missing_keys'])} of "
      f"{len(names)} weights are missing when the folder is loaded again")
assert all(name.startswith("+") for name in names), "save_pretrained writes other names now"
assert len(report["missing_keys"]) == len(names), "the folder loads now"
PYTHON
