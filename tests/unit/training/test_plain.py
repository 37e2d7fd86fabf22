"""`heron_model.py` predicts what heron predicts, without heron."""

import ast
import sys

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification

from heron.base.errors import ConfigError
from heron.config.data import UnicodeOptions
from heron.data.markers import with_markers
from heron.languages import get_language
from heron.languages.unicode import normalise
from heron.training.inference import open_trained
from heron.training.plain import OWN_CLASS, write_plain
from small_exports import Exported
from tiers import one_in

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
]


def load(folder):
    """Load the model by the folder's own `heron_model.py`."""
    loaded = AutoModelForSequenceClassification.from_pretrained(folder, trust_remote_code=True)
    assert type(loaded).__module__.startswith("transformers_modules.")
    return loaded


def write(config, tmp_path):
    run, folder = Exported(config, tmp_path / "run"), tmp_path / "plain"
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


def test_the_file_needs_nothing_but_torch_and_transformers(chronicle_config, tmp_path):
    _, folder, _ = write(chronicle_config("head=ess"), tmp_path)
    tree = ast.parse((folder / "heron_model.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", None) or node.names[0].name for node in imports}
    needed = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    assert needed == {"torch", "transformers", "safetensors"}  # transformers needs the last


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
    config = chronicle_config(*words, "encoder.freeze=all")
    _, folder, plain = write(config, tmp_path)
    assert plain.loads_as == "AutoModelForSequenceClassification"
    assert (folder / "model.safetensors").is_file()
    assert not (folder / "heron_model.py").exists()


def test_a_head_of_a_fork_is_refused(chronicle_config, tmp_path):
    config = chronicle_config("head=ess", "head.classifier=per_event")
    with pytest.raises(ConfigError, match=r"classifier per_event; in Python, .*load_exported"):
        write(config, tmp_path)


def test_the_model_can_be_trained_further(chronicle_config, tmp_path):
    run, folder, _ = write(chronicle_config("head=ess"), tmp_path)
    model = load(folder)
    text = with_markers(run.data.examples["test"][0], run.data.config.data)
    logits_RC = model(**model.batch(model.encode(text)))
    torch.nn.functional.cross_entropy(logits_RC, torch.tensor([0])).backward()
    assert all(weight.grad is not None for weight in model.classifier.parameters())
