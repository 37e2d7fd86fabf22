"""The loss over a vocabulary is torch's, its gradients too, however many tokens at a time."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from heron.tasks import token_loss as module
from heron.tasks.token_loss import token_loss


def draw(tokens, vocabulary, dtype=torch.float64):
    logits_NV = (3 * torch.randn(tokens, vocabulary, dtype=torch.float64)).to(dtype)
    return logits_NV.requires_grad_(), torch.randint(0, vocabulary, (tokens,))


@given(
    st.integers(1, 9),
    st.integers(2, 7),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from([1, 10, 1000]),
    st.integers(0, 99),
)
def test_losses_and_gradients_are_those_of_cross_entropy(tokens, words, smoothing, at_once, seed):
    torch.manual_seed(seed)
    logits_NV, gold_N = draw(tokens, words)
    weight_N = torch.rand(tokens, dtype=torch.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(module._AT_ONCE, "cpu", at_once)
        loss_N, _ = token_loss(logits_NV, gold_N, smoothing)
        (gradient_NV,) = torch.autograd.grad((loss_N * weight_N).sum(), logits_NV)
    wanted_N = F.cross_entropy(logits_NV, gold_N, label_smoothing=smoothing, reduction="none")
    torch.testing.assert_close(loss_N, wanted_N)
    (wanted_NV,) = torch.autograd.grad((wanted_N * weight_N).sum(), logits_NV)
    torch.testing.assert_close(gradient_NV, wanted_NV)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_scores_of_half_precision_are_summed_in_float32(dtype):
    torch.manual_seed(0)
    logits_NV, gold_N = draw(40, 5000, dtype)
    loss_N, seen_N3 = token_loss(logits_NV, gold_N, 0.1, looks=True)
    assert loss_N.dtype == seen_N3.dtype == torch.float32
    wanted_N = F.cross_entropy(logits_NV.float(), gold_N, label_smoothing=0.1, reduction="none")
    torch.testing.assert_close(loss_N, wanted_N)
    (gradient_NV,) = torch.autograd.grad(loss_N.sum(), logits_NV)
    assert gradient_NV.dtype == dtype
    (wanted_NV,) = torch.autograd.grad(wanted_N.sum(), logits_NV)
    torch.testing.assert_close(gradient_NV, wanted_NV)


def test_scores_beyond_what_exp_can_hold_keep_their_loss():
    logits_NV = torch.tensor([[900.0, 0.0, -900.0]] * 2).requires_grad_()
    loss_N, _ = token_loss(logits_NV, torch.tensor([0, 2]))
    assert loss_N.tolist() == [0.0, 1800.0]
    (gradient_NV,) = torch.autograd.grad(loss_N.sum(), logits_NV)
    assert gradient_NV.tolist() == [[0.0, 0.0, 0.0], [1.0, 0.0, -1.0]]


def test_how_a_token_was_seen_is_its_log_probability_rank_and_margin():
    logits_NV = torch.tensor([[2.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
    _, seen_N3 = token_loss(logits_NV, torch.tensor([0, 2]), looks=True)
    total = math.log(math.exp(2) + math.exp(1) + 1)
    assert seen_N3[0].tolist() == pytest.approx([2 - total, 1, 1], abs=1e-6)
    assert seen_N3[1].tolist() == pytest.approx([-total, 0, -2], abs=1e-6)


def test_no_token_costs_nothing_and_no_look_shows_nothing():
    loss_N, seen_N3 = token_loss(torch.zeros(0, 5).requires_grad_(), torch.zeros(0).long())
    assert loss_N.shape == (0,)
    loss_N.sum().backward()
    assert seen_N3.shape == (0, 3)
    assert token_loss(*draw(4, 5))[1].shape == (0, 3)
