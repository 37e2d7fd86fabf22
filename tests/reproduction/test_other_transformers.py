"""Folders that heron saves give the same outputs in transformers 4.57, and convert to ONNX.

Both need an environment of their own, which has this one's packages below its own.
"""

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import numpy as np
import pytest

from heron_tools.export.plain import write_plain
from small_exports import Exported, encoder_of_kind
from tiny_models import save_model, tokenizer_of

pytestmark = pytest.mark.real
OLDER = "transformers==4.57.6"
ONNX = ("optimum==2.1.0", "optimum-onnx==0.1.0", "onnx==1.23.2", "onnxruntime==1.32.0")
ROTARY = {"rope_type": "linear", "rope_theta": 5e5, "factor": 2.0}
RUNS = {  # by the folder's name: overrides, and the kind of the encoder
    "classes": (("data=chronicle", "head=seq_cls"), "bert"),
    "events": (("data=chronicle", "head=ess"), "scratch"),
    "pairs": (("data=chronicle_nli", "head=siamese_cls"), "xlm-roberta"),
    "rotary": (("data=chronicle_nli", "head=last_token"), "llama"),
    "answers": (("data=chronicle_qa",), "bert"),
    "summary": (("data=chronicle_summaries", "task.generation.max_new_tokens=25"), "scratch"),
}
# Prints {folder: [token ids, outputs]} of some texts.
READ = """
import json, sys, torch, transformers
from pathlib import Path
texts = ["הוועדה [א1] התכנסה [/א1] בבוקר [א2] ודחתה [/א2] את"]
texts += ["Știința [E1] x [/E1] a [E2] b [/E2]"]
outputs = {}
for folder in sorted(Path(sys.argv[1]).glob("*/*/config.json")):
    where = str(folder.parent)
    tokenizer = transformers.AutoTokenizer.from_pretrained(where, trust_remote_code=True)
    config = transformers.AutoConfig.from_pretrained(where, trust_remote_code=True)
    name = config.architectures[0]
    auto = transformers.AutoModelForSequenceClassification
    model = auto if name == "HeronModel" else getattr(transformers, name)
    model = model.from_pretrained(where, trust_remote_code=True).eval()
    read = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        if name == "HeronModel":
            rows = texts if "events" in where else [("a premise", "a hypothesis")]
            found = [list(row.values()) for row in model.predict(rows[:1])]
        elif config.is_encoder_decoder:
            read.pop("token_type_ids", None)
            found = model.generate(**read).tolist()
        else:
            mask = read["attention_mask"]
            found = model(**read)[0]
            found = (found * mask.reshape(*mask.shape, *[1] * (found.ndim - 2))
                     if found.shape[:2] == mask.shape else found).tolist()
    outputs[where] = [tokenizer(texts)["input_ids"], found]
print(json.dumps([transformers.__version__, outputs]))
"""
CONVERT = "from optimum.commands.optimum_cli import main; main()"
COMPARE = """
import json, sys, onnxruntime, torch, transformers
plain, folder = sys.argv[1:]
text = "הוועדה [א1] התכנסה [/א1] בבוקר [א2] ודחתה [/א2] את"
tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
session = onnxruntime.InferenceSession(folder + "/model.onnx")
read = tokenizer([text], return_tensors="np")
(found,) = session.run(None, {each.name: read[each.name] for each in session.get_inputs()})
model = transformers.AutoModelForSequenceClassification.from_pretrained(plain).eval()
tokenizer = transformers.AutoTokenizer.from_pretrained(plain)
wanted = model(**tokenizer([text], return_tensors="pt")).logits
print(json.dumps([found.tolist(), wanted.tolist()]))
"""


def install(folder, *packages):
    """Install packages into an environment above this one's; skips where pip cannot."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        below = folder / "lib" / version / "site-packages" / "below.pth"
        below.write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    pip = [python, "-m", "pip", "install", "--quiet", "--no-warn-conflicts", *packages]
    installed = subprocess.run(pip, capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"pip cannot install {packages}: {installed.stderr.strip().splitlines()[-1]}")
    return python


def run(python, code, *words):
    """Run code without heron; returns the JSON of its last line."""
    command = [python, "-c", code, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip().splitlines()


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """Name the Python of an environment with the older transformers."""
    return install(tmp_path_factory.mktemp("older"), OLDER)


@pytest.fixture
def folders(chronicle_config, tiny_encoder, tmp_path, monkeypatch):
    """Save a run of each kind and its export, as NAME/model and NAME/plain."""
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    for name, (words, kind) in RUNS.items():
        encoder = tmp_path / f"encoder-{name}"
        if kind == "llama":
            own = {"num_key_value_heads": 1, "rope_parameters": ROTARY}
            save_model(kind, tokenizer_of(tiny_encoder), encoder, **own)
        elif kind != "scratch":
            encoder_of_kind(kind, tiny_encoder, encoder)
        pretrained = [f"encoder={encoder}", "encoder.max_length=200"] if encoder.exists() else []
        home = tmp_path / "saved" / name
        saved = Exported(chronicle_config(*words, *pretrained), home, scale=10)
        (home / "plain").mkdir()
        write_plain(saved.folder, home / "plain")
    return tmp_path / "saved"


def test_folders_give_the_same_outputs_in_transformers_4_and_5(folders, older):
    (version, wanted), (before, found) = (
        json.loads(run(python, READ, folders)[-1]) for python in (sys.executable, older)
    )
    assert (version[0], f"transformers=={before}") == ("5", OLDER)
    assert len(wanted) == 2 * len(RUNS)
    for where, (ids, outputs) in wanted.items():
        assert found[where][0] == ids
        np.testing.assert_allclose(found[where][1], outputs, atol=1e-6, err_msg=where)


def test_optimum_converts_an_export_with_its_tokenizer(folders, older):
    python, plain = install(Path(older).parents[1], *ONNX), folders / "classes" / "plain"
    converted = folders / "onnx"
    words = ("export", "onnx", "--task", "text-classification", "--model", plain, converted)
    run(python, CONVERT, *words)
    assert (converted / "tokenizer.json").is_file()
    found, wanted = json.loads(run(python, COMPARE, plain, converted)[-1])
    np.testing.assert_allclose(found, wanted, atol=1e-4)
