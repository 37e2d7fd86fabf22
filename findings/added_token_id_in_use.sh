#!/usr/bin/env bash
# tokenizers 0.23.3: a token that is added to a vocabulary with gaps gets the id of a word.
#
# Expected: an id above all others. Seen: the number of words, which a word may have where ids leave
# out numbers (a vocabulary from which words were removed): marker and word share an embedding.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tokenizers==0.23.3
"$folder/env/bin/python" - <<'PYTHON'
from tokenizers import Tokenizer, __version__, models, pre_tokenizers

tokenizer = Tokenizer(models.WordLevel({"?": 0, "ana": 1, "are": 3}, unk_token="?"))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer.add_special_tokens(["[A]"])
ids = tokenizer.encode("[A] are").ids
print(f"tokenizers {__version__}: the ids of '[A] are' are {ids}")
assert ids == [3, 3], "an added token gets an id of its own now"
PYTHON
