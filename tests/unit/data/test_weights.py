"""A pretrained model has the weights of its file, all of them, or does not load."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoModelForMaskedLM, AutoModelForSequenceClassification

from heron.base.errors import ConfigError
from heron.data.weights import load_weights
from heron.models.config import EncoderConfig
from heron.models.encoder import load_encoder
from tiny_models import save_model, tokenizer_of

WRAPPED = (
    ("bert", "module."),
    ("roberta", "_orig_mod."),
    ("modernbert", "_orig_mod.module."),
    ("t5", "module._orig_mod."),
)


@pytest.fixture
def saved(tmp_path, tiny_encoder):
    """Return a function that saves a model, whose weights `rename` names (None: left out)."""

    tokenizer = tokenizer_of(tiny_encoder)

    def save(kind="bert", rename=None, auto="AutoModel"):
        folder = save_model(kind, tokenizer, tmp_path / "model", auto=auto)
        if rename is not None:
            weights = load_file(folder / "model.safetensors")
            renamed = {rename(name): weight for name, weight in weights.items()}
            renamed.pop(None, None)
            save_file(renamed, folder / "model.safetensors", metadata={"format": "pt"})
        return folder

    return save


def change_settings(folder, **changes):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def load(folder):
    config = EncoderConfig(name=str(folder), max_length=64, kernels="torch")
    return load_encoder(config, vocabulary=0, pad_id=0)


def same_weights(model, other):
    first, second = model.state_dict(), other.state_dict()
    return all(torch.equal(weight, second[name]) for name, weight in first.items())


@pytest.mark.parametrize(("kind", "wrapper"), WRAPPED)
def test_a_wrapped_models_weights_are_read_and_saved_under_their_own_names(
    kind, wrapper, saved, tmp_path
):
    torch.manual_seed(0)
    expected, drawn_next = load(saved(kind)), torch.rand(1)
    torch.manual_seed(0)
    wrapped = load(saved(kind, rename=lambda name: wrapper + name))
    assert same_weights(wrapped, expected)
    assert torch.rand(1) == drawn_next  # so that a head begins with the same weights
    wrapped.save_pretrained(tmp_path / "again")
    assert same_weights(wrapped, AutoModel.from_pretrained(tmp_path / "again"))


def test_the_encoder_of_a_wrapped_masked_language_model_is_read(saved):
    folder = saved(auto="AutoModelForMaskedLM")
    expected = AutoModelForMaskedLM.from_pretrained(folder).bert
    folder = saved(auto="AutoModelForMaskedLM", rename=lambda name: f"module.{name}")
    assert same_weights(load(folder), expected)


@pytest.mark.parametrize("lost", ["layer.1.", "LayerNorm", "word_embeddings"])
def test_weights_that_the_file_lacks_are_named_and_never_drawn(lost, saved):
    folder = saved(rename=lambda name: None if lost in name else name)
    with pytest.raises(ConfigError, match=rf"{folder}.*not in its file \(.*{lost}"):
        load(folder)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"num_hidden_layers": 3}, r"16 of the 53 weights .*layer\.2\."),
        ({"model_type": "distilbert", "dim": 32, "n_layers": 2, "n_heads": 2}, "distilbert"),
        ({"intermediate_size": 48}, r"intermediate\.dense.* is \[64"),
    ],
    ids=["more layers", "another architecture", "another shape"],
)
def test_a_config_that_does_not_fit_the_file_is_refused(settings, named, saved):
    folder = saved()
    change_settings(folder, **settings)
    with pytest.raises(ConfigError, match=named):
        load(folder)


def test_a_pooler_may_be_missing_but_not_from_a_classifier(saved):
    folder = saved(kind="roberta", rename=lambda name: None if "pooler" in name else name)
    load(folder)
    with pytest.raises(ConfigError, match="classifier"):
        load_weights(AutoModelForSequenceClassification, str(folder))
