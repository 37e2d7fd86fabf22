#!/usr/bin/env bash
# tokenizers 0.23.3: the normalizer `Precompiled` (sentencepiece's: XLM-R, T5, ALBERT) does not count
# characters that it deletes at the start of a text.
#
# Expected: the offsets of a token name its characters in the text, as those behind a deletion in the
# middle do. Seen: after a first U+007F, every token's offsets are one too small. Where an answer or
# an event is found by its offsets, another is taken. A Replace step that deletes the same characters
# before it gives the right offsets.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tokenizers==0.23.3
"$folder/env/bin/python" - <<'PYTHON'
import struct

from tokenizers import Regex, Tokenizer, __version__, models, normalizers, pre_tokenizers

# sentencepiece's table with one key, U+007F, which is replaced by an empty text: a double array
# over bytes, then the replacements.
entries = [0] * 513
entries[0] = 256 << 10
entries[256 + 0x7F] = 0x7F | 1 << 8 | ((256 + 0x7F) ^ 512) << 10
array = struct.pack("<513I", *entries)
table = normalizers.Precompiled(struct.pack("<I", len(array)) + array + b"\0")

text = "\x7fana are"
tokenizer = Tokenizer(models.WordLevel({"ana": 0, "are": 1, "?": 2}, unk_token="?"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.normalizer = table
seen = tokenizer.encode(text)
tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(Regex(r"\A\x7f+"), ""), table])
right = tokenizer.encode(text)
print(f"tokenizers {__version__}: {seen.tokens} of {text!r} at {seen.offsets}, not {right.offsets}")
assert seen.tokens == right.tokens == ["ana", "are"]
assert right.offsets == [(1, 4), (5, 8)]
assert seen.offsets != right.offsets, "Precompiled counts what it deletes now"
PYTHON
