"""The encoder trains what it should, with dropout, from the layers it should, or says why not."""

import dataclasses
from functools import partialmethod

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend
from transformers import (
    AutoModel,
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    LongformerConfig,
    LongformerModel,
    ModernBertConfig,
    ModernBertModel,
)

from heron.base.errors import ConfigError
from heron.models.config import EncoderConfig, ScratchConfig
from heron.models.encoder import Encoder, load_encoder, segments

SHAPE = {
    "vocab_size": 100,
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 40,
}


@pytest.fixture
def settings(tiny_encoder):
    return EncoderConfig(name=str(tiny_encoder), max_length=64)


def load(settings, vocabulary=0, **changes):
    settings = dataclasses.replace(settings, **changes)
    model = load_encoder(settings, vocabulary, pad_id=0)
    return Encoder(model, settings.freeze, settings.global_attention)


def saved(folder, model):
    model.save_pretrained(folder)
    return EncoderConfig(name=str(folder), max_length=32)


def gradients(encoder, batch):
    """Run backward from a weighted sum of the states; returns the gradient of each parameter."""
    torch.manual_seed(0)
    states_BLD = encoder(batch)
    weights_D = torch.linspace(-1, 1, states_BLD.shape[-1])
    (states_BLD * weights_D * batch.mask_BL[..., None]).sum().backward()
    return {name: parameter.grad for name, parameter in encoder.model.named_parameters()}


def test_a_loaded_encoder_trains_with_dropout_and_evaluates_without(settings, make_batch):
    encoder, batch = load(settings), make_batch()
    encoder.train()
    encoder.assert_mode(training=True)
    assert not torch.equal(encoder(batch), encoder(batch))
    encoder.eval()
    encoder.assert_mode(training=False)
    assert torch.equal(encoder(batch), encoder(batch))


def test_the_mode_that_from_pretrained_leaves_is_noticed(settings):
    encoder = load(settings)  # transformers returns eval mode
    with pytest.raises(AssertionError, match="modules not in train mode"):
        encoder.assert_mode(training=True)


@pytest.mark.parametrize(
    ("freeze", "frozen"),
    [
        ("none", ()),
        ("embeddings", ("embeddings",)),
        ("0", ("embeddings",)),
        ("1", ("embeddings", "encoder.layer.0")),
        ("2", ("embeddings", "encoder.layer.0", "encoder.layer.1")),
        ("all", ("embeddings", "encoder")),
    ],
)
def test_frozen_parts_have_no_gradient_and_no_dropout_and_all_others_have(
    settings, make_batch, freeze, frozen
):
    encoder = load(settings, freeze=freeze).train()
    encoder.assert_mode(training=True)
    if freeze not in ("2", "all"):
        for name, gradient in gradients(encoder, make_batch()).items():
            assert (gradient is None) == name.startswith(frozen), name
    for name, parameter in encoder.model.named_parameters():
        assert parameter.requires_grad != bool(frozen and name.startswith(frozen)), name
    for name, module in encoder.model.named_modules():
        if name and name != "encoder" and not name.endswith("layer"):
            assert module.training != bool(frozen and name.startswith(frozen)), name


def test_a_wholly_frozen_encoder_gives_equal_states_in_train_mode(settings, make_batch):
    encoder, batch = load(settings, freeze="all").train(), make_batch()
    states_BLD = encoder(batch)
    assert torch.equal(states_BLD, encoder(batch))
    assert not states_BLD.requires_grad


def test_freezing_more_layers_than_there_are_is_refused(settings):
    with pytest.raises(ConfigError, match=r"encoder.freeze=3: the encoder has only 2 layers"):
        load(settings, freeze="3")


@pytest.mark.parametrize("layers", [1, 2])
def test_num_layers_k_gives_the_kth_hidden_state_of_the_full_model(settings, make_batch, layers):
    batch = make_batch()
    full = AutoModel.from_pretrained(settings.name).eval()
    hidden = full(batch.tokens_BL, batch.mask_BL, output_hidden_states=True).hidden_states
    encoder = load(settings, num_layers=layers).eval()
    assert len(encoder.layers) == layers
    torch.testing.assert_close(encoder(batch), hidden[layers])


def test_a_length_beyond_the_positions_is_refused(settings):
    load(settings, max_length=256)
    with pytest.raises(ConfigError, match=r"encoder.max_length=257: .* reads only 256 tokens"):
        load(settings, max_length=257)


def test_new_tokens_leave_the_old_rows_as_they_were(settings):
    before = load(settings).model.get_input_embeddings().weight
    after = load(settings, vocabulary=len(before) + 4).model.get_input_embeddings().weight
    assert len(after) == len(before) + 4
    assert torch.equal(after[: len(before)], before)
    assert after[len(before) :].isfinite().all()


def test_added_tokens_begin_as_different_as_two_others(settings):
    """Markers of events are "distinct special tokens" (TRC, section 4)."""
    known = len(load(settings).model.get_input_embeddings().weight)
    embeddings = load(settings, vocabulary=known + 4).model.get_input_embeddings().weight
    distances = torch.pdist(embeddings[known:])
    assert distances.min() > 0.5 * torch.pdist(embeddings[:known]).median()


@pytest.mark.parametrize("freeze", ["none", "embeddings", "1"])
def test_gradient_checkpointing_gives_equal_gradients(settings, make_batch, freeze):
    plain = load(settings, freeze=freeze).train()
    saving = load(settings, freeze=freeze, gradient_checkpointing=True).train()
    expected = gradients(plain, make_batch())
    for name, gradient in gradients(saving, make_batch()).items():
        if expected[name] is None:
            assert gradient is None, name
        else:
            torch.testing.assert_close(gradient, expected[name])


def test_dropout_is_set_or_the_encoders_own(settings):
    def probabilities(encoder):
        return {m.p for m in encoder.modules() if isinstance(m, torch.nn.Dropout)}

    assert probabilities(load(settings)) == {0.1}
    assert probabilities(load(settings, dropout=0.3)) == {0.3}
    scratch = EncoderConfig(max_length=32, dropout=0.0)
    assert probabilities(load(scratch, vocabulary=50)) == {0.0}


def test_a_dropout_that_would_be_ignored_is_refused(tmp_path):
    shape = DistilBertConfig(vocab_size=100, dim=16, n_heads=2, n_layers=2, hidden_dim=24)
    settings = saved(tmp_path, DistilBertModel(shape))
    assert len(load(settings).layers) == 2
    with pytest.raises(ConfigError, match=r"encoder.dropout=0.3: a distilbert encoder"):
        load(settings, dropout=0.3)


def test_an_encoder_from_scratch_has_the_shape_it_was_asked_for():
    shape = ScratchConfig(hidden=24, layers=3, heads=2, intermediate=40)
    encoder = load(EncoderConfig(max_length=50, scratch=shape), vocabulary=70)
    assert (encoder.width, len(encoder.layers)) == (24, 3)
    assert encoder.model.get_input_embeddings().num_embeddings == 70
    assert len(load(EncoderConfig(max_length=50, num_layers=1), vocabulary=70).layers) == 1


def test_segments_are_zero_then_one_and_zero_in_padding(make_batch):
    batch = make_batch(lengths=(6, 8, 7), rows=(1, 1, 1))
    batch = dataclasses.replace(batch, second_B=torch.tensor([4, 3, -1]))
    assert segments(batch).tolist() == [
        [0, 0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0, 0],
    ]


def test_segments_are_told_to_an_encoder_that_has_two(tmp_path, make_batch):
    bert = BertModel(BertConfig(**SHAPE, num_hidden_layers=1, type_vocab_size=2))
    encoder = load(saved(tmp_path, bert)).eval()
    plain = make_batch()
    batch = dataclasses.replace(plain, second_B=torch.tensor([4, 6, 5]))
    expected = encoder.model(
        batch.tokens_BL, batch.mask_BL, token_type_ids=segments(batch)
    ).last_hidden_state
    assert torch.equal(encoder(batch), expected)
    assert not torch.allclose(encoder(plain), expected)


def test_an_encoder_with_one_segment_is_told_nothing_of_two(settings, make_batch, tmp_path):
    bert = BertModel(BertConfig(**SHAPE, num_hidden_layers=1, type_vocab_size=1))
    encoder = load(saved(tmp_path, bert)).eval()
    plain = make_batch()
    batch = dataclasses.replace(plain, second_B=torch.tensor([4, 6, 5]))
    assert torch.equal(encoder(batch), encoder(plain))
    assert encoder._extras(batch) == {}


def test_an_encoder_that_lists_the_types_of_its_layers_is_cut_and_stored_again(tmp_path):
    types = ["full_attention", "sliding_attention", "full_attention", "sliding_attention"]
    shape = {"vocab_size": 100, "hidden_size": 16, "intermediate_size": 16, "pad_token_id": 1}
    settings = ModernBertConfig(
        **shape, num_hidden_layers=4, num_attention_heads=2, layer_types=types
    )
    config = saved(tmp_path / "modern", ModernBertModel(settings))
    encoder = load(dataclasses.replace(config, num_layers=2))
    assert encoder.model.config.layer_types == types[:2]
    encoder.model.save_pretrained(tmp_path / "cut")


@pytest.fixture(scope="module")
def longformer(tmp_path_factory):
    """Save a Longformer whose layers each reach two tokens to either side."""
    shape = SHAPE | {"max_position_embeddings": 66, "initializer_range": 0.4}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = LongformerModel(
            LongformerConfig(**shape, num_hidden_layers=2, attention_window=[4, 4], pad_token_id=1)
        )
    return dataclasses.replace(saved(tmp_path_factory.mktemp("longformer"), model), max_length=64)


@pytest.mark.parametrize("attention", ["first", "none"])
def test_a_longformer_evaluates_as_transformers_own_with_and_without_global_attention(
    attention, longformer, make_batch
):
    batch = make_batch(lengths=(30, 11), rows=(1, 1))
    own = LongformerModel.from_pretrained(longformer.name).eval()
    first = None
    if attention == "first":
        first = torch.zeros_like(batch.mask_BL)
        first[:, 0] = 1
    expected = own(batch.tokens_BL, batch.mask_BL, global_attention_mask=first).last_hidden_state
    real = batch.mask_BL.bool()
    states_BLD = load(longformer, global_attention=attention).eval()(batch)
    torch.testing.assert_close(states_BLD[real], expected[real])


def test_a_compiled_encoder_computes_the_same_and_is_compiled_once_for_all_lengths(
    settings, make_batch, monkeypatch
):
    graphs = CompileCounterWithBackend("aot_eager")  # needs no C++ compiler
    compiling = partialmethod(torch.nn.Module.compile, backend=graphs)
    monkeypatch.setattr(torch.nn.Module, "compile", compiling)
    plain = load(settings, kernels="torch", dropout=0.0).train()
    compiled = load(settings, kernels="compiled", dropout=0.0).train()
    assert list(compiled.state_dict()) == list(plain.state_dict())

    counts = []
    for lengths in ((7,) * 7, (9, 7, 9), (7, 8, 6, 6), (20, 7)):  # the first has 7 of 7 tokens
        batch = make_batch(lengths=lengths, rows=(1,) * len(lengths))
        expected = gradients(plain, batch)
        for name, gradient in gradients(compiled, batch).items():
            torch.testing.assert_close(gradient, expected[name], msg=name)
        plain.zero_grad()
        compiled.zero_grad()
        counts.append(graphs.frame_count)
    assert 0 < counts[0] == counts[-1]
