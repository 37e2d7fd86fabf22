#!/usr/bin/env bash
# label-studio-sdk 2.1.2 (Label Studio's exports): CONLL2003 has spans that nobody has marked.
#
# Expected: of two overlapping spans one is left out, or the export is refused. Seen: what they share
# belongs to the longer one, and the rest of the shorter one is a span of its own; a span inside a
# longer one is gone, and of a marked part of a word, such as a name after a Hebrew prefix, the whole
# word is marked. Nothing is reported. The JSON export has all spans as they were marked.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check label-studio-sdk==2.1.2
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import json
from importlib.metadata import version
from pathlib import Path

from label_studio_sdk.converter import Converter

LABELLING = """<View><Text name="text" value="$text"/><Labels name="label" toName="text">
<Label value="A"/><Label value="B"/></Labels></View>"""


def exported(text, **marked):
    """Write the tags of a text whose words are marked with labels."""
    results = []
    for label, words in marked.items():
        start = text.index(words)
        value = {"start": start, "end": start + len(words), "text": words, "labels": [label]}
        tag = {"id": label, "from_name": "label", "to_name": "text", "type": "labels"}
        results.append({**tag, "value": value})
    annotation = {"id": 1, "completed_by": 1, "result": results}
    task = {"id": 1, "data": {"text": text}, "annotations": [annotation]}
    Path("tasks.json").write_text(json.dumps([task]))
    Converter(LABELLING, ".").convert_to_conll2003("tasks.json", "out", is_dir=False)
    lines = Path("out/result.conll").read_text().split("\n")[1:]
    tags = [line.split()[-1] for line in lines if line]
    print(text, marked, "->", *tags)
    return " ".join(tags)


print("label-studio-sdk", version("label-studio-sdk"))
overlapping = exported("one two three four", A="one two three", B="three four")
assert overlapping == "B-A I-A I-A B-B", "overlapping spans are exported otherwise now"
inside = exported("New York City Hall", A="New York City Hall", B="York")
assert inside == "B-A I-A I-A I-A", "a span inside another is exported otherwise now"
part = exported("נסע ברכבת לחיפה", A="חיפה")
assert part == "O O B-A", "a part of a word is exported otherwise now"
PYTHON
