"""`heron_model.py` predicts what heron predicts, without heron."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForSequenceClassification, pipeline

from heron.data.markers import with_markers
from heron.languages import get_language
from heron.languages.unicode import UnicodeOptions, normalise
from heron.training.inference import open_trained
from heron_tools.export.model_card import usage_code
from heron_tools.export.plain import OWN_CLASS, write_plain
from small_exports import Exported
from tiers import one_in, quick

pytestmark = pytest.mark.usefixtures("copied_code")
HEADS = [
    ("data=chronicle", "head=ess"),
    ("data=chronicle", "head=emp", "head.classifier=mlp", "head.hidden=[8]", "head.layer_norm=all"),
    ("data=chronicle", "head=window", "head.both_ways=true"),
    ("data=chronicle_nli", "head=siamese_cls"),
    ("data=chronicle_nli", "head=siamese_cls", "head.combine=compare", "head.pooling=mean"),
    ("data=chronicle_nli", "head=mlp3", "data.normalize_case=lower"),
    ("data=chronicle_nli", "head=hypothesis_only", "data.normalize_case=capitalize"),
    ("data=chronicle_nli", "head=last_token", "encoder.separator=' [SEP] '"),
    *(
        (
            *("data=chronicle_nli", "head=cross", "data.generator.premise_sentences=[8,9]"),
            *("encoder.overflow=windows", "encoder.max_length=72", "encoder.stride=8"),
            f"head.over_windows={how}",
        )
        for how in ("mean_logits", "max_logits", "mean_states")
    ),
    ("data=chronicle", "head=seq_cls", "head.markers=['$','$','#','#']"),
    *(
        ("data=chronicle", f"head={head}", f"head.markers=[{written}]")
        for head in ("ess", "emp")
        for written in ("'$','$','#','#'", "")
    ),
]


def load(folder):
    """Load the model by the folder's own `heron_model.py`."""
    loaded = AutoModelForSequenceClassification.from_pretrained(folder, trust_remote_code=True)
    assert type(loaded).__module__.startswith("transformers_modules.")
    return loaded


def write(config, tmp_path):
    run, folder = Exported(config, tmp_path / "run", scale=2), tmp_path / "plain"
    folder.mkdir()
    return run, folder, write_plain(run.folder, folder)


@pytest.mark.parametrize(
    "words",
    one_in(2, ((words,) for words in HEADS)),
    ids=lambda words: ",".join(words[1:]),
)
def test_one_file_without_heron_gives_herons_probabilities(words, chronicle_config, tmp_path):
    config = chronicle_config(*words, "encoder.scratch.hidden=32", "encoder.scratch.layers=1")
    run, folder, plain = write(config, tmp_path)
    assert plain.loads_as == OWN_CLASS
    examples = run.data.examples["test"][:12]
    wanted, refused = open_trained(run.folder).predict(examples)
    assert not refused
    texts = [
        with_markers(example, config.data)
        if example.text_pair is None
        else (example.text, example.text_pair)
        for example in examples
    ]
    found = load(folder).predict(texts, batch_size=5)  # the last batch holds two
    assert [list(one) for one in found] == [config.data.label_order] * len(found)
    found_RC = np.array([list(one.values()) for one in found])
    np.testing.assert_allclose(found_RC, wanted.probabilities_RC, atol=1e-5)
    assert np.ptp(found_RC, axis=0).max() > 1e-4  # it read the texts


# Runs a card's code where there is no heron; prints its last value.
FRESH = """
import json, sys
sys.modules["heron"] = None
*before, last = sys.argv[1].rstrip().split(chr(10))
names = {}
exec(chr(10).join(before), names)
print(json.dumps(eval(last, names)))
"""


@pytest.mark.parametrize("words", quick([(HEADS[n],) for n in (0, 3, 6)]), ids=" ".join)
@pytest.mark.real  # takes seconds in processes of their own
def test_the_cards_pipeline_gives_herons_probabilities_in_a_fresh_python(
    words, chronicle_config, tmp_path
):
    config = chronicle_config(*words)
    run, folder, plain = write(config, tmp_path)
    example = run.data.examples["test"][0]
    wanted = open_trained(run.folder).predict([example])[0].probabilities_RC[0]
    code = usage_code(plain, str(folder)).removeprefix("```python\n").removesuffix("```\n")
    if example.text_pair is None:
        text = with_markers(example, config.data)
    else:
        text = {"text": example.text, "text_pair": example.text_pair}
    code = re.sub(r"classify\(\[.*?\],", lambda _: f"classify([{text!r}],", code)
    env = {**os.environ, "PYTHONPATH": "", "HF_MODULES_CACHE": str(tmp_path / "modules")}
    command = [sys.executable, "-c", FRESH, code]
    printed = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout
    (found,) = json.loads(printed)  # it asked nothing
    found = {each["label"]: each["score"] for each in found}
    assert found == pytest.approx(dict(zip(config.data.label_order, wanted, strict=True)), abs=1e-5)


def test_without_its_code_a_folder_answers_nothing(chronicle_config, tmp_path):
    _, folder, _ = write(chronicle_config("head=ess"), tmp_path)
    with pytest.raises(ValueError, match="trust_remote_code"):
        pipeline("text-classification", model=str(folder), trust_remote_code=False)


@pytest.mark.parametrize(
    ("language", "options"),
    [("he", {"niqqud": "strip", "punctuation": "unify"}), ("ro", {}), ("ro", {"nfc": False})],
)
def test_texts_are_cleaned_as_in_training(language, options, chronicle_config, tmp_path):
    words = [f"data.unicode.{name}={value}" for name, value in options.items()]
    config = chronicle_config("head=ess", f"data.language={language}", *words)
    _, folder, _ = write(config, tmp_path)
    model = load(folder)
    dirty = "שָׁלוֹם־עולם\u200f צה״ל ş Ţ a\u0306 c\u0327\u202e x\u0327\u200f\u0301 I\u0307"
    wanted = normalise(dirty, get_language(language), UnicodeOptions(**options))
    assert model.clean(dirty) == wanted.strip() != dirty


def test_an_event_that_is_cut_or_not_marked_is_an_error(chronicle_config, tmp_path):
    run, folder, _ = write(chronicle_config("head=ess", "encoder.max_length=96"), tmp_path)
    model, text = (
        load(folder),
        with_markers(run.data.examples["test"][0], run.data.config.data),
    )
    assert sum(model.predict([text])[0].values()) == pytest.approx(1)
    with pytest.raises(ValueError, match="not among the first 96 tokens"):
        model.predict(["מלה " * 200 + text])
    with pytest.raises(ValueError, match="mark two events"):
        model.predict([text.replace("[/א2]", "")])


def test_a_frozen_encoder_is_exported_with_its_head(tiny_encoder, chronicle_config, tmp_path):
    words = ("head=seq_cls", f"encoder={tiny_encoder}", "encoder.max_length=256")
    config = chronicle_config(*words, "encoder.freeze=all", "encoder.cache=false")
    _, folder, plain = write(config, tmp_path)
    assert plain.loads_as == "AutoModelForSequenceClassification"
    assert (folder / "model.safetensors").is_file()
    assert not (folder / "heron_model.py").exists()


def test_a_step_of_training_is_the_runs_own(chronicle_config, tmp_path):
    run, folder, _ = write(chronicle_config("head=ess"), tmp_path)
    model, batch, data = load(folder), run.batch, run.data.config.data
    texts = [with_markers(example, data) for example in run.rows()]
    given = model.batch([each for text in texts for each in model.encode(text)])
    gold_R = torch.arange(len(texts)) % len(data.label_order)
    losses = []
    own = [*run.encoder.parameters(), *run.head.parameters()]
    for parameters, loss_of in (
        (own, lambda: cross_entropy(run.head(run.encoder(batch), batch), gold_R)),
        (model.parameters(), lambda: model(**given, labels=gold_R).loss),
    ):
        optimizer = torch.optim.AdamW(parameters, lr=1e-3)
        loss_of().backward()
        optimizer.step()
        losses.append(float(loss_of()))
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_many_classes_for_the_width_of_the_encoder_load_as_herons_own(chronicle_config, tmp_path):
    # BERT's dense layer has 16 units; four classes need seven each.
    words = ("head=seq_cls", "encoder.scratch.hidden=16")
    run, folder, plain = write(chronicle_config("data=chronicle", *words), tmp_path)
    assert plain.loads_as == OWN_CLASS
    assert list(load(folder).config.id2label.values()) == run.data.config.data.label_order
