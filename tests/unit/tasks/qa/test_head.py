"""The span head: which spans it scores, and how, against brute force."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heron.data.collate import Batch
from heron.models.config import HeadConfig
from heron.tasks.qa.head import NEVER, SpanHead, SpanLogits, best_spans

WIDTH = 8


def batch_of(contexts):
    """A batch of windows whose context tokens are marked; nothing else in it is read."""
    context_BL = torch.tensor(contexts, dtype=torch.bool)
    nothing = torch.zeros(len(contexts), dtype=torch.int64)
    return Batch(
        tokens_BL=torch.zeros(context_BL.shape, dtype=torch.int64),
        mask_BL=torch.ones(context_BL.shape, dtype=torch.int64),
        second_B=nothing,
        owners_B=nothing,
        sequences_R=nothing[:1],
        labels_R=nothing[:1],
        rows_R=nothing[:1],
        columns={
            "answers": torch.zeros(len(contexts), 1, 2, dtype=torch.int64),
            "chars": context_BL.long()[:, :, None].expand(-1, -1, 2) - 1,
        },
    )


def head(classifier="span", **settings):
    torch.manual_seed(0)
    hidden = [4] if classifier == "biaffine" else []
    config = HeadConfig(
        "x", "question", "tokens", classifier=classifier, hidden=hidden, dropout=0.0, **settings
    )
    return SpanHead(config, WIDTH)


@pytest.fixture(params=["span", "biaffine"])
def logits(request):
    contexts = [[0, 0, 0, 1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1, 1, 1, 0]]
    torch.manual_seed(1)
    states_BLD = torch.randn(2, 9, WIDTH)
    with torch.no_grad():
        return head(request.param)(states_BLD, batch_of(contexts))


def test_only_the_text_and_token_0_can_be_chosen(logits):
    assert (logits.start_BL[0] > NEVER).nonzero()[:, 0].tolist() == [0, 3, 4, 5, 6]
    assert (logits.end_BL[1] > NEVER).nonzero()[:, 0].tolist() == [0, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("longest", [1, 3, 20])
def test_the_band_holds_the_score_of_every_span_up_to_the_limit(logits, longest):
    band_BLW = logits.band_BLW(longest)
    assert band_BLW.shape[2] == min(longest, 9)
    for window, (first, last) in enumerate([(3, 6), (2, 7)]):
        for start in range(9):
            for width in range(band_BLW.shape[2]):
                score = band_BLW[window, start, width]
                if first <= start and start + width <= last:
                    spans = torch.tensor([[start, start + width]] * 2)
                    torch.testing.assert_close(score, logits.span_B(spans)[window])
                else:
                    assert score < NEVER / 2


def test_candidates_are_the_best_spans_in_order(logits):
    found = best_spans(logits, longest=3, n_best=100)
    for window, (first, last) in enumerate([(3, 6), (2, 7)]):
        spans = [(i, j) for i in range(first, last + 1) for j in range(i, min(i + 3, last + 1))]
        scores = {s: logits.span_B(torch.tensor([s, s]))[window].item() for s in spans}
        ranked = sorted(spans, key=lambda span: -scores[span])
        assert [tuple(s) for s in found.spans_BN2[window, : len(spans)].tolist()] == ranked
        assert (found.scores_BN[window, len(spans) :] < NEVER / 2).all()
        total = torch.tensor(list(scores.values())).logsumexp(0)
        torch.testing.assert_close(found.total_B[window], total)


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=7), st.integers(1, 4))
def test_equal_scores_are_ranked_by_place(starts, longest):
    start_BL = torch.tensor([[NEVER, *starts]])
    logits = SpanLogits(start_BL, torch.where(start_BL > NEVER, 0.0, NEVER))
    found = best_spans(logits, longest, n_best=50)
    kept = found.scores_BN[0] > NEVER / 2
    keys = [
        (-score, *span)
        for score, span in zip(
            found.scores_BN[0][kept].tolist(), found.spans_BN2[0][kept].tolist(), strict=True
        )
    ]
    assert keys == sorted(keys)


def test_the_head_stays_in_full_precision_under_autocast():
    states_BLD = torch.randn(1, 4, WIDTH)
    batch = batch_of([[0, 1, 1, 0]])
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        under = head()(states_BLD, batch)
    with torch.no_grad():
        whole = head()(states_BLD, batch)
    assert under.start_BL.dtype == torch.float32
    assert torch.equal(under.start_BL, whole.start_BL)
