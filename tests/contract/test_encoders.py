"""Every family of encoders in transformers, with tiny random weights, under every task."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import CONFIG_MAPPING, AutoModel, AutoModelForSeq2SeqLM
from transformers.models.auto import modeling_auto as auto

from heron.base import terminal
from heron.base.errors import ConfigError
from heron.data.collate import IGNORED, Batch, Collator
from heron.data.datamodule import DataModule
from heron.data.examples import Example, Span
from heron.data.hub import load_tokenizer
from heron.models.config import EncoderConfig, OptimConfig
from heron.models.dropout import PLAIN_ATTENTION
from heron.models.encoder import Encoder, load_encoder
from heron.models.levels import check_positions, count_positions, encode_ids
from heron.models.optim import build_optimizer
from heron.tasks.summarization.seq2seq import build_seq2seq
from heron.training.compose import compose
from tiers import one_in

TEXT = "The committee met in the morning and rejected the proposal ."
LONG = f"{TEXT} The workers ended their strike after the minister had left ."
MET, REJECTED = Span(14, 17), Span(37, 45)
TASKS: dict[str, tuple[list[str], list[Example]]] = {
    "relation": (
        ["data=chronicle", "head=seq_cls"],
        [Example(text[-9:], text, spans=(MET, REJECTED)) for text in (TEXT, LONG)],
    ),
    "nli": (
        ["data=chronicle_nli", "task=nli", "head=cross"],
        [Example(text[-9:], text, "It did not meet .") for text in (TEXT, LONG)],
    ),
    "classification": (
        ["data=own_classification", "task=classification", "head=text"],
        [Example(text[-9:], text) for text in (TEXT, LONG)],
    ),
    "qa": (
        ["data=chronicle_qa", "task=qa", "head=span"],
        [Example(text[-9:], text, "Who met ?", (MET,)) for text in (TEXT, LONG)],
    ),
    "summarization": (
        ["data=chronicle_summaries", "task=summarization", "head=warm_start"],
        [Example("a", TEXT, target="They met ."), Example("b", LONG, target="They left at last .")],
    ),
}
# Sizes, by the names that configurations give them.
SIZES: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "d_model", "dim", "emb_dim", "n_embd"), 16),
    **dict.fromkeys(("embedding_size", "input_embedding_size", "d_kv"), 8),
    **dict.fromkeys(("num_hidden_layers", "encoder_layers", "decoder_layers", "n_layers"), 2),
    **dict.fromkeys(("num_layers", "num_decoder_layers", "n_layer"), 2),
    **dict.fromkeys(("num_attention_heads", "encoder_attention_heads", "n_heads", "n_head"), 2),
    **dict.fromkeys(("decoder_attention_heads", "num_heads", "num_key_value_heads"), 2),
    **dict.fromkeys(("intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff"), 24),
    **dict.fromkeys(("hidden_dim", "d_inner"), 24),
    **dict.fromkeys(("max_position_embeddings", "max_encoder_position_embeddings"), 128),
    "attention_window": 8,
    "block_size": 8,
    "pad_token_id": 0,
}
RELATIVE = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8}
# What a family needs beside them; None: not this one.
OWN: dict[str, dict[str, Any]] = {
    "deberta": RELATIVE,
    "deberta-v2": {**RELATIVE, "norm_rel_ebd": "layer_norm", "conv_kernel_size": 3},
    "esm": {},
    "funnel": {"block_sizes": [1, 1], "num_hidden_layers": None, "architectures": ["FunnelModel"]},
    "layoutlmv3": {"coordinate_size": 2, "shape_size": 4},
    "lilt": {"hidden_size": 24},
    "luke": {"entity_vocab_size": 10},
    "mobilebert": {"intra_bottleneck_size": 16, "embedding_size": 16},
    "prophetnet": {"num_encoder_layers": 2, "num_hidden_layers": None},
    "squeezebert": {"embedding_size": 16},
    "roc_bert": {"pronunciation_vocab_size": 10, "shape_vocab_size": 10},
    "xlnet": {"max_position_embeddings": None},
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
}
NO_TEXTS = {
    "fsmt": "its encoder is not one of transformers' models",
    "canine": "reads characters, without a tokenizer of the kind that heron needs",
    "ibert": "quantized: its embeddings are no layer of torch's",
    "layoutlmv2": "reads images",
    "lxmert": "reads images",
    "perceiver": "reads bytes, without word embeddings",
    "reformer": "reads texts of one length in training",
}
RANDOM = {"yoso"}  # draws numbers in evaluation, too
# Their states depend on padding, or on what is drawn; heron says so.
PADDED = {"convbert", "fnet", "funnel", "mobilebert", "nystromformer", *RANDOM}
FAMILIES = sorted(
    {*auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, *auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES}
    | {*auto.MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES, "gpt2", "xlnet"}
    - ({*auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES} - {"gpt2", "xlnet"})
)


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder, tmp_path_factory):
    """The tokenizer of all families, with the markers of events."""
    markers = [f"[{end}E{event}]" for event in (1, 2) for end in ("", "/")]
    settings = EncoderConfig(name=str(tiny_encoder))
    return load_tokenizer(settings, markers, (), tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def tasks(tokenizer, session_cache):
    """For each task its configuration, and what collates its rows."""
    found = {}
    for task, (words, examples) in TASKS.items():
        config = compose([*words, "encoder.max_length=64", "encoder.stride=16", "data.language=en"])
        config.paths.cache = str(session_cache)
        data = DataModule(config, {"test": examples}, tokenizer)
        found[task] = config, Collator(data.features["test"], tokenizer.pad_token_id)
    return found


def tiny(family: str, vocabulary: int, kind: Any = AutoModel) -> Any:
    """Build a family's model with random weights, or skip."""
    if family in NO_TEXTS:
        pytest.skip(NO_TEXTS[family])
    settings = CONFIG_MAPPING[family]
    if settings.sub_configs and family not in OWN:
        pytest.skip("more than one model, most of them of images or sound")
    usual = settings()
    sizes = {name: size for name, size in SIZES.items() if hasattr(usual, name)}
    sizes |= {"vocab_size": vocabulary, **OWN.get(family, {})}
    shape = settings(**{name: size for name, size in sizes.items() if size is not None})
    with torch.device("meta"):
        size = sum(p.numel() for p in kind.from_config(shape).parameters())
    if size > 3e6:
        pytest.skip(f"{size / 1e6:.0f} M parameters at least")
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        model = kind.from_config(shape).eval()
        for parameter in model.parameters():  # away from zero biases and weak attention
            if parameter.requires_grad:
                parameter += 0.2 * torch.randn_like(parameter)
    return model


def learn(encoder: Encoder, batch: Batch) -> None:
    """Change every weight that gets a gradient."""
    states_BLD = encoder(batch)
    if not states_BLD.requires_grad:
        return
    (states_BLD * torch.linspace(-1, 2, states_BLD.shape[-1])).sum().backward()
    with torch.no_grad():
        for parameter in encoder.parameters():
            if parameter.grad is not None:
                parameter += 0.1 * parameter.grad.sign()


def largest_gap(found: Tensor, expected: Tensor) -> float:
    """The largest difference, by the largest number (or by 1)."""
    return float((found - expected).abs().max() / max(1.0, float(expected.abs().max())))


@pytest.mark.parametrize("family", one_in(3, FAMILIES))
def test_an_encoder_is_transformers_own_whatever_the_batch_and_learns_above_what_is_frozen(
    family, tokenizer, tasks, tmp_path, capsys
):
    tiny(family, len(tokenizer)).save_pretrained(tmp_path)
    own = AutoModel.from_pretrained(tmp_path).eval()
    settings = EncoderConfig(name=str(tmp_path), max_length=64)
    terminal.begin()
    model = load_encoder(settings, len(tokenizer), tokenizer.pad_token_id)
    encoder, warned = Encoder(model).eval(), "padding" in capsys.readouterr().err
    gaps, given = [], {}
    for task in ("relation", "nli", "classification", "qa"):
        collate = tasks[task][1]
        batch = collate(np.arange(2))
        given = {"input_ids": batch.tokens_BL, "attention_mask": batch.mask_BL}
        given |= encoder._extras(batch)
        with torch.no_grad():
            states_BLD = encoder(batch)
            if own.config.is_encoder_decoder:
                found = own(**given, decoder_input_ids=batch.tokens_BL)
                expected_BLD = found.encoder_last_hidden_state
            else:
                expected_BLD = own(**given).last_hidden_state
            alone = [encoder(collate(np.array([row])))[0] for row in range(2)]
        assert states_BLD.shape[-1] == encoder.width
        if family not in RANDOM:
            assert largest_gap(states_BLD, expected_BLD) < 1e-5
        gaps += [
            largest_gap(states_LD[: len(alone_LD)], alone_LD)
            for states_LD, alone_LD in zip(states_BLD, alone, strict=True)
        ]
    assert warned == (family in PADDED) == (max(gaps) > 1e-5)

    positions = count_positions(encoder.inner)
    if positions is not None:
        encode_ids(encoder.inner, [5] * positions)
        with pytest.raises(ConfigError, match="max_length"):
            check_positions(dataclasses.replace(settings, max_length=positions + 1), positions)

    if family in RANDOM or family == "funnel":  # Funnel lists no states between its layers
        return
    for level, freeze in ((1, "1"), (0, "embeddings")):
        frozen = Encoder(copy.deepcopy(model), freeze).eval()
        before = frozen.inner(**given, output_hidden_states=True).hidden_states
        learn(frozen, batch)
        after = frozen.inner(**given, output_hidden_states=True).hidden_states
        torch.testing.assert_close(after[level], before[level], rtol=0, atol=0)
        if any(parameter.requires_grad for parameter in frozen.parameters()):  # ALBERT: one layer
            assert largest_gap(frozen(batch), states_BLD) > 1e-3


@pytest.mark.parametrize("family", PLAIN_ATTENTION)
def test_a_mask_in_the_form_of_attention_changes_no_state(family, tokenizer, tasks):
    encoder = Encoder(tiny(family, len(tokenizer)))  # its attention is transformers' own
    batch = tasks["nli"][1](np.arange(2))
    given = {"input_ids": batch.tokens_BL, **encoder._extras(batch)}
    masks = batch.mask_BL, batch.mask_BL[:, None, None].bool()
    with torch.no_grad():
        usual, short = (encoder.inner(attention_mask=each, **given)[0] for each in masks)
    real = batch.mask_BL.bool()
    assert not real.all()
    torch.testing.assert_close(short[real], usual[real])


# Parameters outside the layers, by the lowest layer that they act below: 0 as embeddings, 3 above.
OUTSIDE = {
    "albert": {"encoder.embedding_hidden_mapping_in.weight": 0},
    "bart": {"embed_positions.weight": 0, "layernorm_embedding.weight": 0},
    "deberta-v2": {
        "encoder.rel_embeddings.weight": 0,
        "encoder.LayerNorm.weight": 0,
        "encoder.conv.conv.weight": 1,
    },
    "electra": {"embeddings_project.weight": 0},
    "gpt2": {"wte.weight": 0, "wpe.weight": 0, "ln_f.weight": 3},
    "mpnet": {"encoder.relative_attention_bias.weight": 0},
    "rembert": {"encoder.embedding_hidden_mapping_in.weight": 0},
    "squeezebert": {"embeddings.word_embeddings.weight": 0},
    "t5": {"embed_tokens.weight": 0, "final_layer_norm.weight": 3},
    "xlm": {"embeddings.weight": 0, "ffns.0.lin1.weight": 1, "ffns.1.lin1.weight": 2},
}


@pytest.mark.parametrize("family", OUTSIDE)
def test_what_acts_below_a_layer_is_frozen_with_it_and_learns_as_slowly(
    family, tokenizer, tmp_path
):
    tiny(family, len(tokenizer)).save_pretrained(tmp_path)
    settings = EncoderConfig(name=str(tmp_path), max_length=64)
    for freeze, level in (("none", -1), ("embeddings", 0), ("1", 1)):
        model = load_encoder(settings, len(tokenizer), tokenizer.pad_token_id)
        encoder = Encoder(model, freeze)
        own = dict(encoder.inner.named_parameters())
        for name, lowest in OUTSIDE[family].items():
            assert own[name].requires_grad == (lowest > level), (freeze, name)
    encoder = Encoder(load_encoder(settings, len(tokenizer), tokenizer.pad_token_id))
    optimizer = build_optimizer(encoder, nn.Identity(), OptimConfig(lr=1.0, layer_decay=0.5))
    rates = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    names, layers = dict(encoder.inner.named_parameters()), len(encoder.layers)
    for name, lowest in OUTSIDE[family].items():
        assert rates[id(names[name])] == 0.5 ** max(0, layers - lowest), name


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_an_encoder_with_a_decoder_is_cut_stored_and_opened_again(family, tokenizer, tmp_path):
    tiny(family, len(tokenizer)).save_pretrained(tmp_path / "whole")
    settings = EncoderConfig(name=str(tmp_path / "whole"), max_length=64, num_layers=1)
    encoder = Encoder(load_encoder(settings, len(tokenizer), tokenizer.pad_token_id)).eval()
    assert len(encoder.layers) == 1
    decoder = set(encoder.model.parameters()) - set(encoder.inner.parameters())
    assert decoder
    assert not any(parameter.requires_grad for parameter in decoder)
    ids = range(5, 15)
    with torch.no_grad():
        expected_LD = encode_ids(encoder.inner, ids)
    encoder.model.config.is_encoder_decoder = family != "t5"  # as T5EncoderModel stores it
    encoder.model.save_pretrained(tmp_path / "model")
    settings = EncoderConfig(name=str(tmp_path / "model"), max_length=64)
    opened = Encoder(load_encoder(settings, len(tokenizer), tokenizer.pad_token_id)).eval()
    with torch.no_grad():
        assert torch.equal(encode_ids(opened.inner, ids), expected_LD)


SEQ2SEQ = sorted(auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES)


@pytest.mark.parametrize("family", one_in(3, SEQ2SEQ))
def test_a_summary_costs_what_it_costs_in_transformers(family, tokenizer, tasks, tmp_path):
    if family == "prophetnet":
        pytest.skip("predicts several tokens at once")
    config, collate = tasks["summarization"]
    model = tiny(family, len(tokenizer), AutoModelForSeq2SeqLM)
    model.config.decoder_start_token_id = tokenizer.cls_token_id
    model.save_pretrained(tmp_path)
    own = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()
    config = dataclasses.replace(
        config,
        encoder=EncoderConfig(name=str(tmp_path), max_length=64),
        head=dataclasses.replace(config.head, classifier="seq2seq"),
    )
    encoder = build_seq2seq(config, tokenizer).eval()
    batch = collate(np.arange(2))
    known_BM = batch.columns["target"] != IGNORED
    with torch.no_grad():
        logits_NV = encoder(batch)
        given = {"input_ids": batch.tokens_BL, "attention_mask": batch.mask_BL}
        loss = own(**given, **encoder._extras(batch), labels=batch.columns["target"]).loss
        alone_NV = torch.cat([encoder(collate(np.array([row]))) for row in range(2)])
    torch.testing.assert_close(F.cross_entropy(logits_NV, batch.columns["target"][known_BM]), loss)
    assert largest_gap(alone_NV, logits_NV) < 1e-5
