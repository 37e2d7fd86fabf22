"""An exported run is an ordinary Hugging Face folder, and heron reads it back exactly."""

import pytest
import torch
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForQuestionAnswering,
    AutoTokenizer,
    pipeline,
)

from heron.base.files import read_json
from heron.models.encoder import segments
from heron.tasks.qa.features import AnswerColumns
from heron.tasks.task import task_of
from heron.training.compose import compose
from heron.training.exported import load_exported
from heron_tools.export.model_card import usage_code
from heron_tools.export.plain import Plain
from small_exports import Exported
from tiny_models import save_model, tokenizer_of


@pytest.fixture(params=["scratch", "pretrained", "fewer layers", "window", "classifier"])
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
        "classifier": ("head=seq_cls",),
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


FULL = {"rope_type": "default", "rope_theta": 5e4}
LOCAL = {"rope_type": "default", "rope_theta": 3e4}
LINEAR = {"rope_type": "linear", "rope_theta": 5e5, "factor": 2.0}


@pytest.mark.parametrize(
    ("kind", "own", "older"),
    [
        (
            "llama",
            {"num_key_value_heads": 1, "rope_parameters": LINEAR},
            {"rope_theta": 5e5, "rope_scaling": LINEAR},
        ),
        (
            "modernbert",
            {
                "num_hidden_layers": 4,
                "global_attn_every_n_layers": 2,
                "rope_parameters": {"full_attention": FULL, "sliding_attention": LOCAL},
                **dict.fromkeys(("cls_token_id", "bos_token_id"), 2),
                **dict.fromkeys(("sep_token_id", "eos_token_id"), 3),
            },
            {"global_rope_theta": 5e4, "local_rope_theta": 3e4, "global_attn_every_n_layers": 2},
        ),
    ],
)
def test_saved_files_have_the_names_that_transformers_4_reads(
    kind, own, older, tiny_encoder, chronicle_config, tmp_path
):
    tokenizer = tokenizer_of(tiny_encoder)
    tokenizer.add_special_tokens({"extra_special_tokens": ["<extra>"]})
    encoder = save_model(kind, tokenizer, tmp_path / kind, **own)
    words = ("data=chronicle_nli", "head=last_token", "encoder.max_length=200")
    run = Exported(chronicle_config(*words, f"encoder={encoder}"), tmp_path / "run")
    saved = read_json(run.folder.model / "config.json")
    assert {name: saved.get(name) for name in older} == older
    settings = read_json(run.folder.model / "tokenizer_config.json")
    assert settings["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert settings["additional_special_tokens"] == ["<extra>"]
    assert "extra_special_tokens" not in settings
    with torch.no_grad():  # the older names change nothing here
        batch, plain = run.batch, AutoModel.from_pretrained(run.folder.model).eval()
        states_BLD = plain(batch.tokens_BL, batch.mask_BL).last_hidden_state
    real, wanted_BLD = batch.mask_BL.bool(), run.encoder(batch)
    torch.testing.assert_close(states_BLD[real], wanted_BLD[real])


def test_heron_gives_the_same_logits(exported):
    _, encoder, head = load_exported(exported.folder)
    assert not any(module.training for module in (*encoder.modules(), *head.modules()))
    with torch.no_grad():
        logits_RC = head(encoder(exported.batch), exported.batch)
        expected_RC = exported.head(exported.encoder(exported.batch), exported.batch)
    torch.testing.assert_close(logits_RC, expected_RC)


def test_the_card_cuts_texts_as_heron_does_and_fills_masks():
    pair = compose(["data=control_dev", "head=cross", "encoder.max_length=128"])
    code = usage_code(Plain(pair, "AutoModelForSequenceClassification"), "FOLDER")
    assert f'truncation="{pair.encoder.truncation}", max_length=128)' in code
    masked = compose(["data=hebrew_text"])
    assert 'pipeline("fill-mask"' in usage_code(Plain(masked, "AutoModelForMaskedLM"), "FOLDER")
    assert task_of(masked).about.hub_name == "fill-mask"


def test_transformers_finds_the_same_starts_and_ends(tiny_encoder, chronicle_config, tmp_path):
    words = ("data=chronicle_qa", f"encoder={tiny_encoder}", "encoder.max_length=256")
    run = Exported(chronicle_config(*words), tmp_path / "run")
    plain = AutoModelForQuestionAnswering.from_pretrained(run.folder.model).eval()
    batch = run.batch
    with torch.no_grad():
        found = plain(batch.tokens_BL, batch.mask_BL, token_type_ids=segments(batch))
        wanted = run.head(run.encoder(batch), batch)
    text_BL = AnswerColumns.of(batch).context_BL
    for side, expected_BL in (("start", wanted.start_BL), ("end", wanted.end_BL)):
        torch.testing.assert_close(found[f"{side}_logits"][text_BL], expected_BL[text_BL])


@pytest.mark.parametrize(
    "words",
    [
        ("data=chronicle", "head=ess"),
        ("data=chronicle_nli", "head=mlp3"),
        ("data=chronicle_nli", "head=cross", "encoder.overflow=windows"),
    ],
)
def test_transformers_never_answers_with_a_head_of_its_own(words, chronicle_config, tmp_path):
    run = Exported(chronicle_config(*words), tmp_path / "run")
    with pytest.raises(ValueError, match="empty"):
        pipeline("text-classification", model=str(run.folder.model))("א")
    spans = AutoModelForQuestionAnswering.from_pretrained(run.folder.model)
    with pytest.raises(ValueError, match="unpack"):
        spans(run.batch.tokens_BL)


def test_segments_that_transformers_would_leave_out_forbid_its_head(
    tiny_encoder, chronicle_config, tmp_path
):
    # The tokenizer numbers no segments, and the encoder has two.
    words = ("data=chronicle_nli", "head=cross", f"encoder={tiny_encoder}")
    config = chronicle_config(*words, "encoder.max_length=256")
    run = Exported(config, tmp_path / "run")
    assert AutoConfig.from_pretrained(run.folder.model).id2label == {}


def test_the_loaded_configuration_names_the_exported_model_with_all_its_layers(exported):
    config, encoder, _ = load_exported(exported.folder)
    assert config.encoder.name == str(exported.folder.model)
    assert (config.encoder.num_layers, config.encoder.freeze) == (None, "none")
    assert len(encoder.layers) == len(exported.encoder.layers)


def test_there_is_no_pickle_among_the_files(exported):
    names = {path.name for path in exported.folder.model.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "head.safetensors"} <= names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl", ".pth"))]
