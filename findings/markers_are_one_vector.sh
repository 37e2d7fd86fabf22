#!/usr/bin/env bash
# transformers 5.23.0: tokens that are added to a model's vocabulary get one and the same embedding.
#
# Expected: as the docstring of `resize_token_embeddings` says, draws from a normal distribution with
# the mean and the covariance of the other embeddings. Seen: the covariance is multiplied by 1e-9, so
# the markers of the first and of the second event differ by less than 1e-4 of the mean length of an
# embedding, two drawn ones by 1.3; `mean_resizing=False` draws each, as all versions before 4.46.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
    transformers==5.23.0 torch==2.13.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import torch
from transformers import BertConfig, BertModel, __version__


def distance(**how: bool) -> float:
    torch.manual_seed(0)
    shape = {"hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128}
    model = BertModel(BertConfig(vocab_size=2000, num_hidden_layers=1, **shape))
    model.resize_token_embeddings(2002, **how)
    weights = model.get_input_embeddings().weight
    return float((weights[-1] - weights[-2]).norm() / weights[:2000].norm(dim=1).mean())


default, drawn = distance(), distance(mean_resizing=False)
print(f"transformers {__version__}: two added tokens differ by {default:.1e} of the mean length")
print(f"of an embedding; with mean_resizing=False by {drawn:.1e}")
assert default < 1e-3 < 0.5 < drawn, "added tokens have embeddings of their own now"
PYTHON
