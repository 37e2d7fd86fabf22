"""Fast dropout is dropout, and CPU attention is attention."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from heron.models.dropout import ATTENTION, FastDropout, attention, fast_dropout, use_fast_dropout


def bert(dropout: float = 0.1, implementation: str = "sdpa") -> BertModel:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=50,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        attn_implementation=implementation,
    )
    return BertModel(config, add_pooling_layer=False)


def padded_batch() -> dict[str, Tensor]:
    mask = torch.tensor([[1] * 9, [1] * 4 + [0] * 5])
    return {"input_ids": torch.arange(18).view(2, 9), "attention_mask": mask}


@given(p=st.floats(0, 1), shape=st.lists(st.integers(0, 9), max_size=3), seed=st.integers(0, 2**32))
def test_every_element_is_dropped_or_scaled(p: float, shape: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    dropped = fast_dropout(torch.ones(shape), p)
    kept = dropped[dropped != 0]
    share = round(p * 65536) / 65536
    assert dropped.shape == tuple(shape)
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - share or 1)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("p", [0.1, 0.5])
def test_share_mean_and_variance_are_those_of_dropout(p: float, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    n = 400_000
    dropped = fast_dropout(torch.ones(n, dtype=dtype), p).double()
    share_error = (p * (1 - p) / n) ** 0.5
    assert float((dropped == 0).double().mean()) == pytest.approx(p, abs=4 * share_error)
    # bf16 has 8 bits: the factor 1 / (1 - p) itself is off by up to 1 / 256, as in torch.
    rounding = 0.0 if dtype == torch.float32 else 1 / 256
    assert float(dropped.mean()) == pytest.approx(1, abs=4 * share_error / (1 - p) + rounding)
    assert float(dropped.var()) == pytest.approx(p / (1 - p), rel=0.02)


def test_neighbours_are_dropped_independently() -> None:
    torch.manual_seed(0)
    dropped = (fast_dropout(torch.ones(400_000), 0.3) == 0).double()
    for lag in (1, 2, 4, 5, 384):
        pairs = torch.stack([dropped[:-lag], dropped[lag:]])
        assert abs(float(torch.corrcoef(pairs)[0, 1])) < 0.01


def test_gradient_is_the_mask_of_the_forward_pass() -> None:
    x = torch.randn(64, 32, requires_grad=True)
    dropped = FastDropout(0.2)(x)
    dropped.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad * x, dropped)


def test_restored_random_state_goes_on_with_the_same_masks() -> None:
    x = torch.ones(1000)
    fast_dropout(x, 0.5)
    state = torch.get_rng_state()
    expected = [fast_dropout(x, 0.5) for _ in range(3)]
    torch.set_rng_state(state)
    assert all(torch.equal(mask, fast_dropout(x, 0.5)) for mask in expected)


@pytest.mark.parametrize("gradients", [False, True])
def test_attention_computes_what_sdpa_computes(gradients: bool) -> None:
    model, batch = bert().eval(), padded_batch()
    expected = model(**batch).last_hidden_state
    use_fast_dropout(model)
    assert model.config._attn_implementation == ATTENTION
    with torch.set_grad_enabled(gradients):
        actual = model(**batch).last_hidden_state
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5)


def test_attention_has_the_gradients_of_sdpa() -> None:
    gradients = []
    for fast in (False, True):
        model = bert(dropout=0.0).train()
        if fast:
            use_fast_dropout(model)
        model(**padded_batch()).last_hidden_state[:, 0].square().sum().backward()
        weights = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
        gradients.append(torch.cat(weights))
    torch.testing.assert_close(gradients[1], gradients[0], rtol=1e-4, atol=1e-4)


def test_bf16_attention_is_as_close_to_float32_as_eager_is() -> None:
    batch = padded_batch()
    expected = bert().eval()(**batch).last_hidden_state
    errors = []
    for fast in (False, True):
        model = bert(implementation="eager").eval()
        if fast:
            use_fast_dropout(model)
        with torch.autocast("cpu", torch.bfloat16):
            errors.append(float((model(**batch).last_hidden_state - expected).abs().mean()))
    assert errors[1] < 1.25 * errors[0]


def test_other_devices_keep_their_own_dropout_and_attention() -> None:
    states = torch.empty(2, 4, 9, 8, device="meta", requires_grad=True)
    mixed, weights = attention(nn.Identity(), states, states, states, None, dropout=0.1)
    assert mixed.shape == (2, 9, 4, 8)
    assert weights is None
    assert FastDropout(0.1)(states).device.type == "meta"


def test_training_drops_hidden_states_and_attention_weights() -> None:
    batch = padded_batch()
    for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
        model = bert(dropout=0.0)
        setattr(model.config, name, 0.5)
        model = BertModel(model.config, add_pooling_layer=False).train()
        use_fast_dropout(model)
        first, second = (model(**batch).last_hidden_state for _ in range(2))
        assert not torch.allclose(first, second), name


def test_weights_names_and_saved_configuration_stay() -> None:
    plain, fast = bert(), bert()
    use_fast_dropout(fast)
    assert plain.state_dict().keys() == fast.state_dict().keys()
    assert plain.config.to_dict() == fast.config.to_dict()
    assert not any(type(module) is nn.Dropout for module in fast.modules())
