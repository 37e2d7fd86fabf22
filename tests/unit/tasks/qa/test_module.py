"""The extraction module: its loss, what it tells the recorder, and answers joined over windows."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from heron.data.config import SPLITS, TRAIN, VALIDATION, FileConfig
from heron.data.datamodule import DataModule, feature_options
from heron.data.examples import Example, Span
from heron.languages.unicode import UnicodeOptions
from heron.tasks.qa.features import AnswerColumns, qa_features
from heron.tasks.qa.head import NEVER
from heron.tasks.qa.predictions import CandidateAnswer, SpanPredictions, from_texts
from heron.training.trainer import build_module

SMALL = ("data=chronicle_qa", "data.generator.size=120", "task.max_answer_tokens=12")
WINDOWS = ("encoder.max_length=64", "encoder.stride=24")
SOME_UNANSWERABLE = ("data.generator.unanswerable=0.4", "data.label_order=[answer,no_answer]")


@pytest.fixture
def built(chronicle_config):
    """Return a function that builds a module in eval mode, its data and a batch of validation."""

    def build(*overrides):
        data = DataModule(chronicle_config(*SMALL, *overrides))
        module = build_module(data.config, data).eval()
        return module, data, next(iter(data.evaluation_loader(VALIDATION)))

    return build


def rows_of(batch):
    """The windows of each row of a batch."""
    return [(batch.owners_B == row).nonzero()[:, 0].tolist() for row in range(len(batch))]


def spans_of(batch, window, longest):
    """Every span that may be given in a window."""
    inside = AnswerColumns.of(batch).context_BL[window].nonzero()[:, 0].tolist()
    return [(i, j) for i in inside for j in inside if i <= j < i + longest]


@pytest.mark.parametrize("words", [(), WINDOWS], ids=["whole", "windows"])
def test_loss_is_the_mean_cross_entropy_of_start_and_end(built, words):
    module, _, batch = built("head=span", *words)
    with torch.no_grad():
        logits = module.logits(batch)
        loss = module.output(logits, batch).loss
    first_B, last_B = AnswerColumns.of(batch).first_B2.unbind(dim=1)
    expected = F.cross_entropy(logits.start_BL, first_B) + F.cross_entropy(logits.end_BL, last_B)
    torch.testing.assert_close(loss, expected / 2)


def with_more_answers(data):
    """Give each answered question of train a second answer: the last word of its context."""
    for number, example in enumerate(data.examples[TRAIN]):
        if example.spans and number % 2:
            text = example.text.rstrip()
            last = Span(text.rindex(" ") + 1, len(text))
            data.examples[TRAIN][number] = replace(example, spans=(*example.spans, last))
    return data


@pytest.mark.parametrize("head", ["span", "biaffine"])
def test_with_soft_answers_a_window_learns_each_answer_that_lies_in_it(chronicle_config, head):
    # No answer is longer than 40 tokens: with one answer or all, `biaffine` has the same spans.
    longest = "task.max_answer_tokens=40"
    words = (f"head={head}", *SMALL, *WINDOWS, longest, "optim.soft.answers=true")
    config = chronicle_config(*words)
    data = DataModule(config, with_more_answers(DataModule(config)).examples)
    module = build_module(config, data).eval()
    module.training = True  # of the module alone: no dropout
    several = 0
    for batch in data.train_dataloader():
        with torch.no_grad():
            logits = module.logits(batch)
            found = module.output(logits, batch).loss
            answers_BK2 = AnswerColumns.of(batch).spans_BK2
            each_BK = torch.full(answers_BK2.shape[:2], torch.nan)
            for k in range(answers_BK2.shape[1]):
                one = batch.with_columns(answers=answers_BK2[:, k : k + 1].clamp(min=0))
                each_BK[:, k] = module._likelihood(logits, one)[1]
        each_BK[answers_BK2[:, :, 0] < 0] = torch.nan
        torch.testing.assert_close(found, each_BK.nanmean(dim=1).mean())
        several += int((answers_BK2[:, 1:, 0] > 0).sum())
        for window, row in enumerate(batch.owners_B.tolist()):
            example = next(
                e
                for e in data.examples[TRAIN]
                if e.guid == data.features[TRAIN].guids[batch.rows_R[row]]
            )
            golds = [example.text[s.start : s.end].lower().replace(" ", "") for s in example.spans]
            for first, last in answers_BK2[window].tolist():
                ids = batch.tokens_BL[window, first : last + 1].tolist()
                text = data.tokenizer.decode(ids).lower().replace(" ", "")
                assert first <= 0 or any(gold in text for gold in golds)
    assert several


def test_biaffine_loss_is_the_cross_entropy_over_all_spans_and_none(built):
    module, _, batch = built("head=biaffine", *WINDOWS)
    with torch.no_grad():
        logits = module.logits(batch)
        loss = module.output(logits, batch).loss
    losses = []
    for window in range(len(AnswerColumns.of(batch).first_B2)):
        spans = spans_of(batch, window, longest=12)
        scores = {
            span: logits.span_B(torch.tensor([span] * len(logits.start_BL)))[window]
            for span in spans
        }
        total = torch.stack([*scores.values(), logits.none_B[window]]).logsumexp(0)
        gold = tuple(AnswerColumns.of(batch).first_B2[window].tolist())
        losses.append(total - (scores[gold] if gold[0] else logits.none_B[window]))
    torch.testing.assert_close(loss, torch.stack(losses).mean())


def test_smoothing_spreads_a_share_over_the_tokens_of_the_text_and_no_answer(built):
    module, _, batch = built("head=span", "optim.label_smoothing=0.2")
    with torch.no_grad():
        logits = module.logits(batch)
        loss = module.output(logits, batch).loss
    allowed_BL = AnswerColumns.of(batch).context_BL.clone()
    allowed_BL[:, 0] = True
    parts = []
    for scores_BL, side in ((logits.start_BL, 0), (logits.end_BL, 1)):
        for scores_L, allowed_L, gold in zip(
            scores_BL, allowed_BL, AnswerColumns.of(batch).first_B2[:, side], strict=True
        ):
            log_p = scores_L[allowed_L].log_softmax(0)
            own = scores_L.log_softmax(0)[gold]
            parts.append(-0.8 * own - 0.2 * log_p.mean())
    torch.testing.assert_close(loss, torch.stack(parts).mean())


@pytest.mark.parametrize("head", ["span", "biaffine"])
def test_the_recorder_is_told_probability_correctness_and_margin(built, head):
    module, _, batch = built(f"head={head}", *WINDOWS, *SOME_UNANSWERABLE)
    with torch.no_grad():
        logits = module.logits(batch)
        observed_R3 = module.observe(module.output(logits, batch))
    everything = torch.tensor([[0, 0]] * len(logits.start_BL))
    for row, windows in enumerate(rows_of(batch)):
        best_wrong, right = -np.inf, None
        none = min(logits.none_B[w].item() for w in windows)
        for window in windows:
            gold = tuple(AnswerColumns.of(batch).first_B2[window].tolist())
            for span in spans_of(batch, window, longest=12):
                everything[window] = torch.tensor(span)
                score = logits.span_B(everything)[window].item()
                if gold[0] and span == gold:
                    right = score if right is None else max(right, score)
                else:
                    best_wrong = max(best_wrong, score)
        if right is None:
            right = none
        else:
            best_wrong = max(best_wrong, none)
        _, correct, margin = observed_R3[row].tolist()
        assert margin == pytest.approx(right - best_wrong, abs=1e-4)
        assert correct == (margin > 0)
    if head == "span":
        first_B, last_B = AnswerColumns.of(batch).first_B2.unbind(dim=1)
        p_B = (
            logits.start_BL.softmax(1).gather(1, first_B[:, None])
            * logits.end_BL.softmax(1).gather(1, last_B[:, None])
        )[:, 0]
        means_R = torch.stack([p_B[windows].mean() for windows in rows_of(batch)])
        torch.testing.assert_close(observed_R3[:, 0], means_R)


@pytest.mark.parametrize("words", [(), SOME_UNANSWERABLE], ids=["all", "some"])
def test_answers_are_the_best_spans_over_all_windows(built, words):
    module, data, batch = built("head=span", *WINDOWS, *words)
    with torch.no_grad():
        logits = module.logits(batch)
        output = module.output(logits, batch)
    features = data.features[VALIDATION]
    texts = {example.guid: example.text for example in data.examples[VALIDATION]}
    predictions = module.collect([output], data, VALIDATION)
    place = {guid: number for number, guid in enumerate(predictions.guids)}
    for row, windows in enumerate(rows_of(batch)):
        number = int(batch.rows_R[row])
        found: dict[tuple[int, int], float] = {}
        for step, window in enumerate(windows):
            begin = features.offsets_S[features.sequences_R[number] + step]
            for i, j in spans_of(batch, window, longest=12):
                start, end = (
                    features.columns["chars"].array[begin + i, 0],
                    features.columns["chars"].array[begin + j, 1],
                )
                score = (logits.start_BL[window, i] + logits.end_BL[window, j]).item()
                found[start, end] = max(score, found.get((start, end), -np.inf))
        guid = features.guids[number]
        best = predictions.best[place[guid]]
        ranked = sorted(found, key=lambda span: (-found[span], span))
        assert [(a.start, a.end) for a in best] == ranked[: len(best)]
        assert all(a.text == texts[guid][a.start : a.end] for a in best)
        assert all(a.probability >= b.probability for a, b in pairwise(best))
        none = min(logits.none_B[w].item() for w in windows)
        margin = none - found[ranked[0]]
        assert predictions.none_R[place[guid]] == pytest.approx(margin, abs=1e-4)


def sure_of_golds(module, data):
    """Outputs of validation as if every window were sure of its gold answer."""
    outputs = []
    for batch in data.evaluation_loader(VALIDATION):
        with torch.no_grad():
            logits = module.logits(batch)
        for side, scores_BL in enumerate((logits.start_BL, logits.end_BL)):
            allowed_BL = scores_BL > NEVER
            scores_BL[allowed_BL] = 0.0
            scores_BL.scatter_(1, AnswerColumns.of(batch).first_B2[:, side : side + 1], 50.0)
        outputs.append(module.output(logits, batch))
    return outputs


def test_gold_answers_map_to_themselves(built):
    """Were every window sure of its gold, the answers would be the gold ones."""
    longer = "task.max_answer_tokens=40"
    module, data, _ = built("head=span", *WINDOWS, *SOME_UNANSWERABLE, longer)
    outputs = sure_of_golds(module, data)
    predictions = module.tune(module.collect(outputs, data, VALIDATION))
    features = data.features[VALIDATION]
    options = feature_options(data.config)
    inexact = {  # questions whose gold answer begins or ends inside a token
        example.guid
        for example in data.examples[VALIDATION]
        if qa_features([example], data.tokenizer, options).counts["answers_inexact"][0]
    }
    assert len(inexact) < len(features) / 2
    given = dict(zip(predictions.guids, predictions.texts, strict=True))
    for guid, gold in zip(predictions.guids, predictions.golds, strict=True):
        if guid not in inexact:
            assert given[guid] == gold
    assert module.head.threshold.item() == predictions.threshold


POINTED = "רוּתִי הָלְכָה אֶל־בֵּית הַסֵּפֶר\u200f, וְדָוִד ל\u200eחיפה."


def test_answers_are_spelt_and_counted_as_in_the_file_whatever_is_unified(
    chronicle_config, tmp_path
):
    answers = ["רוּתִי", "אֶל־בֵּית", "הַסֵּפֶר", "ל\u200eחיפה"]
    rows = [
        {"id": f"q{n}", "title": "a", "context": POINTED, "question": f"מי {n}?", "answers": {
            "text": [text], "answer_start": [POINTED.index(text)]}}
        for n, text in enumerate(answers)
    ]  # fmt: skip
    (tmp_path / "all.json").write_text(json.dumps({"data": rows}))
    config = chronicle_config("data=chronicle_qa", "head=span")
    files = {split: FileConfig(str(tmp_path / "all.json")) for split in SPLITS}
    unicode = UnicodeOptions(niqqud="strip", punctuation="unify")
    columns = replace(config.data.columns, side=[])
    own = {"generator": None, "files": files, "unicode": unicode, "columns": columns}
    config = replace(config, data=replace(config.data, **own))
    data = DataModule(config)
    module = build_module(config, data).eval()
    collected = module.collect(sure_of_golds(module, data), data, VALIDATION)
    examples = data.examples[VALIDATION]
    read = [example.text[slice(*example.spans[0])] for example in examples]
    assert read != answers
    for predictions in (collected, from_texts(examples, read, config)):
        assert predictions.texts == answers
        assert predictions.scores(config)["exact_match"] == 1
        columns = predictions.columns(config)
        places = zip(columns["text"], columns["start"], columns["end"], strict=True)
        assert [text[start:end] for text, start, end in places] == answers


def made_up(none, golds):
    """Predict each gold answer, "wrong" where there is none, with these scores of "no answer"."""
    texts = [gold[0] if gold else "wrong" for gold in golds]
    examples = [
        Example(str(number), "g", label="answer" if gold else "no_answer", side={"answers": gold})
        for number, gold in enumerate(golds)
    ]
    best = [[CandidateAnswer(text, 0, 1, 0.5)] for text in texts]
    return SpanPredictions.over(examples, best, np.asarray(none, dtype=np.float32), 0.0)


@pytest.mark.parametrize(
    ("none", "golds", "threshold"),
    [([-5, -4, -3], [["x"]] * 3, 0.0), ([-1, 9], [["x"], []], 0.0), ([2, 9], [["x"], []], 5.5)],
)
def test_the_threshold_is_0_where_0_is_as_good_as_the_best(none, golds, threshold):
    assert made_up(none, golds).tuned().threshold == threshold


def test_where_all_have_answers_there_is_no_threshold(built):
    module, data, batch = built("head=span")
    with torch.no_grad():
        predictions = module.collect([module.step(batch)], data, VALIDATION)
    assert predictions.threshold is None
    assert predictions.tuned() is predictions


def test_every_question_is_recorded_in_training(built):
    module, data, _ = built("head=span")
    module.train()
    rows = [module.step(batch).observed_R3.shape for batch in data.train_dataloader()]
    assert sum(rows_R for rows_R, _ in rows) == len(data.features[TRAIN])
