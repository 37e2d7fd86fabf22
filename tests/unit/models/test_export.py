"""An exported run is an ordinary Hugging Face folder, and heron reads it back exactly."""

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from heron.config import to_yaml
from heron.data.datamodule import DataModule
from heron.files import atomic_open
from heron.models.export import export, load_exported
from heron.runtime.build import build_module
from heron.runtime.run_folder import RunFolder


class Exported:
    """A run that is exported without having been trained, and a batch to try it on."""

    def __init__(self, config, path):
        data = DataModule(config)
        torch.manual_seed(1)
        module = build_module(config, data).eval()
        self.encoder, self.head, self.tokenizer = module.encoder, module.head, data.tokenizer
        self.folder = RunFolder(path)
        with atomic_open(self.folder.config) as file:
            file.write(to_yaml(config))
        export(self.folder.model, self.encoder, self.head, self.tokenizer, config)
        self.texts = [example.text for example in data.examples["test"][:4]]
        self.batch = next(iter(data.evaluation_loader("test")))


@pytest.fixture(params=["scratch", "pretrained", "fewer layers", "window"])
def exported(request, chronicle_config, tiny_encoder, tmp_path):
    overrides = {
        "scratch": (),
        "pretrained": (f"encoder.name={tiny_encoder}", "encoder.max_length=256"),
        "fewer layers": (
            f"encoder.name={tiny_encoder}",
            "encoder.max_length=256",
            "encoder.num_layers=1",
            "encoder.freeze=embeddings",
        ),
        "window": ("head=window",),
    }
    return Exported(chronicle_config(*overrides[request.param]), tmp_path / "run")


def test_plain_transformers_gives_the_same_states(exported):
    model = AutoModel.from_pretrained(exported.folder.model).eval()
    batch = exported.batch
    with torch.no_grad():
        states_BLD = model(batch.tokens_BL, batch.mask_BL).last_hidden_state
        expected_BLD = exported.encoder(batch)
    real = batch.mask_BL.bool()
    torch.testing.assert_close(states_BLD[real], expected_BLD[real])


def test_plain_transformers_tokenizes_the_same(exported):
    tokenizer = AutoTokenizer.from_pretrained(exported.folder.model)
    assert len(tokenizer) == len(exported.tokenizer)
    assert tokenizer.model_max_length == exported.tokenizer.model_max_length
    for text in [*exported.texts, "[א1] אב [/א1] [א2] Țară [/א2]"]:
        assert tokenizer(text)["input_ids"] == exported.tokenizer(text)["input_ids"]


def test_heron_gives_the_same_logits(exported):
    _, encoder, head = load_exported(exported.folder)
    assert not any(module.training for module in (*encoder.modules(), *head.modules()))
    with torch.no_grad():
        logits_RC = head(encoder(exported.batch), exported.batch)
        expected_RC = exported.head(exported.encoder(exported.batch), exported.batch)
    torch.testing.assert_close(logits_RC, expected_RC)


def test_label_names_are_in_the_exported_config(exported):
    settings = AutoModel.from_pretrained(exported.folder.model).config
    labels = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
    assert settings.id2label == dict(enumerate(labels))
    assert settings.label2id == {label: index for index, label in enumerate(labels)}


def test_the_loaded_configuration_names_the_exported_model_with_all_its_layers(exported):
    config, encoder, _ = load_exported(exported.folder)
    assert config.encoder.name == str(exported.folder.model)
    assert (config.encoder.num_layers, config.encoder.freeze) == (None, "none")
    assert len(encoder.layers) == len(exported.encoder.layers)


def test_there_is_no_pickle_among_the_files(exported):
    names = {path.name for path in exported.folder.model.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "head.safetensors"} <= names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl", ".pth"))]
