#!/usr/bin/env bash
# sacrebleu 2.6.0: the paired approximate randomization test (`--paired-ar`) does not count trials
# that are as far apart as the systems are, only those that are farther.
#
# Expected: two systems that differ in one sentence get p = 1: every trial, swapped or not, has the
# same difference (Noreen 1989 counts differences "greater than or equal"). Seen: p = 1 / (trials +
# 1), the least that there is. With few differing sentences p is too small throughout.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check sacrebleu==2.6.0
"$folder/env/bin/python" - <<'PYTHON'
import sacrebleu
from sacrebleu.metrics import CHRF
from sacrebleu.significance import PairedTest

references = ["the cat sat on the mat", "a dog barked at the moon", "she read a long book"]
other = ["the cat sat on a mat", *references[1:]]
systems = [("other", other), ("equal to the references", references)]
metrics = {"chrF": CHRF(references=[references])}
test = PairedTest(systems, metrics, references=None, test_type="ar", n_samples=1000)
_, results = test()
p = results["chrF2"][1].p_value
print(f"sacrebleu {sacrebleu.__version__}: one of {len(references)} sentences differs, p = {p:.4f}")
assert p == 1 / 1001, "trials that are as far apart count now"
PYTHON
