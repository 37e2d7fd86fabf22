"""BERTScore: equal to a plain re-statement of bert-score, whatever comes together in a batch."""

import dataclasses
import json
import math
import os
import random
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import (
    AutoModel,
    AutoTokenizer,
    ModernBertConfig,
    ModernBertModel,
    RobertaConfig,
    RobertaModel,
    RobertaTokenizer,
    T5Config,
    T5Model,
)

from heron.base.errors import ConfigError
from heron.metrics import bertscore as module
from heron.metrics.bertscore import TokenEncoder, bertscore, idf_weights, match_tokens, sign
from heron.metrics.config import BertScoreConfig
from heron.models.config import EncoderConfig

HEBREW = "הוועדה התכנסה בבוקר ודחתה את ההצעה לאחר שהשר עזב"
ROMANIAN = "Șoferul a oprit mașina în fața școlii"
ENGLISH = "the committee met in the morning and rejected a proposal"
WORDS = [*HEBREW.split(), *ROMANIAN.split(), *ENGLISH.split()]
CPU = torch.device("cpu")


def texts(count, seed, longest=12):
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, longest))) for _ in range(count)]


@pytest.fixture
def config(tiny_encoder):
    return BertScoreConfig(str(tiny_encoder), 1)


def score(predictions, references, config, cache=None):
    return bertscore(predictions, references, config, cache, device=CPU, progress=False)


def columns(found):
    return np.stack([found.items[f"bertscore_{name}"] for name in ("precision", "recall", "f1")], 1)


def restated(predictions, references, config):
    """bert-score 0.3.13, pair by pair: no batches, no cache, loops instead of matrices."""
    tokenizer = AutoTokenizer.from_pretrained(config.model)
    model = AutoModel.from_pretrained(config.model).eval()

    def ids(text):
        return tokenizer(text.strip(), truncation=True, max_length=256)["input_ids"]

    def states(text):
        with torch.no_grad():
            found = model(torch.tensor([ids(text)]), output_hidden_states=True)
        rows = found.hidden_states[config.layer][0].double()
        return rows / rows.norm(dim=1, keepdim=True)

    total = len(references)

    def weight(token):
        if config.idf:
            return math.log((total + 1) / (1 + sum(token in ids(text) for text in references)))
        return float(token not in (tokenizer.cls_token_id, tokenizer.sep_token_id))

    def mean(tokens, best):
        weights = [weight(token) for token in tokens]
        return sum(w * value for w, value in zip(weights, best, strict=True)) / sum(weights)

    rows = []
    for prediction, reference in zip(predictions, references, strict=True):
        alike = states(prediction) @ states(reference).T
        precision = mean(ids(prediction), alike.max(1).values.tolist())
        recall = mean(ids(reference), alike.max(0).values.tolist())
        rows.append((precision, recall, 2 * precision * recall / (precision + recall)))
    return np.array(rows)


@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.parametrize("idf", [False, True])
def test_scores_are_those_of_bert_score(config, layer, idf):
    config = dataclasses.replace(config, layer=layer, idf=idf)
    pairs = texts(12, 0), texts(12, 1)
    np.testing.assert_allclose(columns(score(*pairs, config)), restated(*pairs, config), atol=1e-6)


PACKAGE = json.loads(Path(__file__).with_name("bertscore_package.json").read_text("utf-8"))


@pytest.mark.real
@pytest.mark.parametrize("name", PACKAGE["scores"])
def test_scores_of_a_real_encoder_are_those_that_the_package_gave(name):
    encoder = os.environ.get("HERON_ENCODER")
    if not encoder or Path(encoder).name != "me5-small-he-ro":
        pytest.skip("HERON_ENCODER is not the encoder that the package was run with")
    layer, idf = name.split("_")
    config = BertScoreConfig(encoder, int(layer[1:]), idf == "idf", "cut")
    found = score(*zip(*PACKAGE["pairs"], strict=True), config)
    np.testing.assert_allclose(columns(found), PACKAGE["scores"][name], atol=2e-6)


def test_identical_texts_score_1_and_others_less(config):
    mine = texts(6, 2)
    for idf in (False, True):
        found = columns(score(mine, mine, dataclasses.replace(config, idf=idf)))
        np.testing.assert_allclose(found, 1, atol=1e-6)
    assert (columns(score(mine, texts(6, 3), config)) < 0.9999).all()


def test_precision_and_recall_change_places_with_the_texts(config):
    one, other = texts(6, 4), texts(6, 5)
    there, back = columns(score(one, other, config)), columns(score(other, one, config))
    np.testing.assert_allclose(there, back[:, [1, 0, 2]], atol=1e-6)


@pytest.mark.parametrize("idf", [False, True])
def test_a_pairs_score_does_not_depend_on_order_batches_or_parts(config, idf, monkeypatch):
    config = dataclasses.replace(config, idf=idf)
    predictions, references = texts(20, 6, 30), texts(20, 7, 30)
    expected = columns(score(predictions, references, config))
    order = np.random.default_rng(0).permutation(20)
    turned = score([predictions[i] for i in order], [references[i] for i in order], config)
    np.testing.assert_allclose(columns(turned), expected[order], atol=1e-6)
    monkeypatch.setattr(module, "TOKENS", 40)
    monkeypatch.setattr(module, "PAIRS", 3)
    np.testing.assert_allclose(columns(score(predictions, references, config)), expected, atol=1e-6)


def test_white_space_around_a_text_is_nothing(config):
    np.testing.assert_allclose(columns(score([" the end\n"], ["the end"], config)), 1, atol=1e-6)


@pytest.mark.parametrize("pair", [("", "the end"), ("the end", " \n"), ("", "")])
def test_an_empty_text_scores_0_and_is_counted(config, pair):
    found = score([pair[0], "the end"], [pair[1], "the end"], config)
    np.testing.assert_allclose(columns(found), [[0, 0, 0], [1, 1, 1]], atol=1e-6)
    assert found.counts == {"bertscore_long": 0, "bertscore_empty": 1}
    assert found.means()["bertscore_f1"] == pytest.approx(0.5)


def test_a_reference_that_says_what_all_say_weighs_nothing_under_idf(config):
    config = dataclasses.replace(config, idf=True)
    found = score(["the end", "a morning"], ["the committee", "the committee met"], config)
    assert found.counts["bertscore_empty"] == 1
    assert not columns(found)[0].any()
    assert columns(found)[1].all()


LONG = "the committee met in the morning " * 60


def test_long_texts_are_left_out_or_cut_and_always_counted(config):
    pairs = (["the end", LONG, "a morning"], ["the end", "a proposal", LONG])
    found = {
        name: score(*pairs, dataclasses.replace(config, long=name)) for name in ("skip", "cut")
    }
    assert {each.counts["bertscore_long"] for each in found.values()} == {2}
    skipped = columns(found["skip"])
    assert np.isnan(skipped[1:]).all()
    assert found["skip"].means()["bertscore_f1"] == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(columns(found["cut"]), restated(*pairs, config), atol=1e-6)


def test_of_long_texts_alone_there_is_no_score(config):
    found = score([LONG], [LONG], config)
    assert found.means() == {"bertscore_long": 1, "bertscore_empty": 0}


def test_references_over_the_limit_have_no_say_in_idf(config):
    config = dataclasses.replace(config, idf=True)
    pairs = texts(5, 8), texts(5, 9)
    with_long = score([*pairs[0], "the end"], [*pairs[1], LONG], config)
    np.testing.assert_allclose(columns(with_long)[:5], columns(score(*pairs, config)), atol=1e-6)


def test_every_distinct_text_is_encoded_once(config, monkeypatch):
    read = []
    encode = TokenEncoder.states
    monkeypatch.setattr(
        TokenEncoder, "states", lambda *words: (read.extend(words[1]), encode(*words))[1]
    )
    references = texts(4, 10)
    score([*texts(4, 11), *references, *texts(4, 11)], references * 3, config)
    assert len(read) == len(set(references) | set(texts(4, 11)))


def test_results_are_kept_by_all_that_decides_them(config, tmp_path, monkeypatch):
    pairs, read = (texts(4, 13), texts(4, 12)), []
    first = score(*pairs, config, tmp_path)
    encode = TokenEncoder.states
    monkeypatch.setattr(
        TokenEncoder, "states", lambda *words: (read.append(len(words[1])), encode(*words))[1]
    )
    np.testing.assert_array_equal(columns(score(*pairs, config, tmp_path)), columns(first))
    assert not read
    for change in ({"layer": 2}, {"idf": True}, {"long": "cut"}):
        score(*pairs, dataclasses.replace(config, **change), tmp_path)
        assert read, change
        read.clear()


def test_a_baseline_rescales_under_other_names_and_leaves_the_scores_alone(config, tmp_path):
    file = tmp_path / "baseline.tsv"  # bert-score's own have commas, whatever they are called
    file.write_text("LAYER,P,R,F\n0,0.3,0.3,0.3\n1,0.5,0.6,0.55\n")
    plain = score(texts(3, 15), texts(3, 16), config).items
    found = score(texts(3, 15), texts(3, 16), dataclasses.replace(config, baseline=str(file))).items
    for name, value in (("precision", 0.5), ("recall", 0.6), ("f1", 0.55)):
        np.testing.assert_array_equal(found[f"bertscore_{name}"], plain[f"bertscore_{name}"])
        rescaled = (plain[f"bertscore_{name}"] - value) / (1 - value)
        np.testing.assert_allclose(found[f"bertscore_{name}_rescaled"], rescaled)


@pytest.mark.parametrize("content", ["LAYER,P,R,F\n7,0,0,0\n", "LAYER,P\n1,0\n", "x", None])
def test_an_unusable_baseline_is_named(config, tmp_path, content):
    file = tmp_path / "baseline.tsv"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError, match=r"baseline .*baseline\.tsv"):
        sign(dataclasses.replace(config, baseline=str(file)))


def test_the_signature_changes_with_all_that_decides_a_score(config, tmp_path, tiny_encoder):
    signature = sign(config)
    assert f"{tiny_encoder.name}@" in signature
    assert "_L1_no-idf_" in signature
    assert "hug_trans=" in signature
    assert signature.endswith("_long=skip")
    assert score(["a"], ["a"], config).signature == signature
    baseline = tmp_path / "baseline.csv"
    baseline.write_text("LAYER,P,R,F\n1,0,0,0\n")
    changes = [
        {"layer": 2},
        {"long": "cut"},
        {"precision": "bf16-mixed"},
        {"baseline": str(baseline)},
    ]
    others = {sign(dataclasses.replace(config, **change)) for change in changes}
    others.add(sign(dataclasses.replace(config, idf=True), ["a", "b"]))
    assert len(others | {signature}) == 6


def test_with_idf_the_signature_names_the_references_in_any_order(config, tmp_path):
    idf = dataclasses.replace(config, idf=True)
    golds = texts(6, 19)
    signature = sign(idf, golds)
    assert "_L1_idf_version=" in signature
    assert re.search(r"_idf-references=6@[0-9a-f]{12}$", signature)
    for cache in (None, tmp_path, tmp_path):  # computed, and read from the cache
        assert score(texts(6, 20), golds, idf, cache).signature == signature
    assert sign(idf, golds[::-1]) == sign(idf, [f" {gold}\n" for gold in golds]) == signature
    others = [golds[:5], [*golds[:5], "the end"], [*golds, golds[0]]]
    assert len({signature, *(sign(idf, other) for other in others)}) == 4


@given(st.lists(st.text(), min_size=1), st.lists(st.text(), min_size=1))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_equal_signatures_mean_the_same_counts_of_references(config, one, other):
    idf = dataclasses.replace(config, idf=True)
    same = sorted(text.strip() for text in one) == sorted(text.strip() for text in other)
    assert (sign(idf, one) == sign(idf, other)) == same
    assert sign(config, one) == sign(config, other) == sign(config)


def test_the_signature_tells_two_encoders_of_one_name_apart(config, tmp_path, tiny_encoder):
    copy = tmp_path / tiny_encoder.name
    model = AutoModel.from_pretrained(tiny_encoder)
    AutoTokenizer.from_pretrained(tiny_encoder).save_pretrained(copy)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight[5] += 1
    model.save_pretrained(copy)
    assert sign(dataclasses.replace(config, model=str(copy))) != sign(config)


def test_a_lower_precision_changes_little(config):
    pairs = texts(6, 17), texts(6, 18)
    low = columns(score(*pairs, dataclasses.replace(config, precision="bf16-mixed")))
    full = columns(score(*pairs, config))
    assert 0 < np.abs(low - full).max() < 0.02


@pytest.mark.parametrize("other", ["a", LONG])
def test_idf_over_one_reference_weighs_nothing_and_is_counted(config, other):
    found = score(["a", "a"], ["a", other], dataclasses.replace(config, idf=True))
    assert found.counts["bertscore_empty"] == 2 - (other == LONG)
    assert found.means()["bertscore_f1"] == 0


def opened(folder, layer=1):
    source = EncoderConfig(name=str(folder), num_layers=layer, max_length=8, kernels="torch")
    return TokenEncoder.load(source, device=CPU)


def hidden(folder, text, layer):
    """What transformers itself gives after a layer."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    with torch.no_grad():
        found = model.eval()(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
    return found.hidden_states[layer][0]


@pytest.mark.parametrize("layer", [1, 2])
def test_states_are_those_after_the_layer(tiny_encoder, layer):
    encoder, mine = opened(tiny_encoder, layer), [HEBREW, "", ROMANIAN, "the end"]
    for text, states in zip(mine, encoder.states(encoder.ids(mine)), strict=True):
        torch.testing.assert_close(states, hidden(tiny_encoder, text, layer), atol=1e-6, rtol=0)


SHAPE = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}


def test_an_encoder_that_normalises_before_its_blocks_is_normalised_after_the_last(
    tiny_encoder, tmp_path
):
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    tokenizer.save_pretrained(tmp_path)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        shape = ModernBertConfig(
            vocab_size=len(tokenizer), num_hidden_layers=3, pad_token_id=0, **SHAPE
        )
        model = ModernBertModel(shape)
    model.save_pretrained(tmp_path)
    raw, encoder = hidden(tmp_path, HEBREW, 2), opened(tmp_path, 2)
    (states,) = encoder.states(encoder.ids([HEBREW]))
    torch.testing.assert_close(states, model.final_norm(raw).detach(), atol=1e-6, rtol=0)
    assert not torch.allclose(states, raw, atol=1e-3)


def test_of_an_encoder_decoder_the_encoder_is_read(tiny_encoder, tmp_path):
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    tokenizer.save_pretrained(tmp_path)
    shape = T5Config(
        vocab_size=len(tokenizer), d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2
    )
    T5Model(shape).save_pretrained(tmp_path)
    encoder = opened(tmp_path)
    (ids,) = encoder.ids([HEBREW])
    assert encoder.states([ids])[0].shape == (len(ids), 32)
    assert not encoder.is_long(encoder.ids(["מילה " * 2000])[0])  # its positions are relative


def test_to_byte_level_tokenizers_a_first_word_is_as_any_other(tmp_path):
    from tokenizers import ByteLevelBPETokenizer

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        ["the end of the end"] * 9, 300, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    )
    trained.save_model(str(tmp_path))
    vocabulary, merges = (str(tmp_path / name) for name in ("vocab.json", "merges.txt"))
    RobertaTokenizer(vocab=vocabulary, merges=merges).save_pretrained(tmp_path)
    size = {"vocab_size": trained.get_vocab_size(), "num_hidden_layers": 1}
    shape = RobertaConfig(**SHAPE, **size, max_position_embeddings=66, pad_token_id=1)
    RobertaModel(shape).save_pretrained(tmp_path)
    encoder = opened(tmp_path)
    first, twice, empty = (ids[1:-1].tolist() for ids in encoder.ids(["end", "end end", " "]))
    assert twice == first * 2
    assert not empty
    assert encoder.positions == 64


def test_a_missing_layer_or_encoder_is_named_before_anything_is_loaded(config, tmp_path):
    with pytest.raises(ConfigError, match=r"bertscore layer 3: .* has 2 layers"):
        sign(dataclasses.replace(config, layer=3))
    for nowhere in (str(tmp_path / "nowhere"), "scratch"):
        with pytest.raises(ConfigError, match=f"bertscore: .*{nowhere}"):
            sign(dataclasses.replace(config, model=nowhere))


def unit_vectors(count, seed):
    vectors = torch.randn(count, 5, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(vectors, dim=1)


def written_out(candidate, reference, candidate_weights, reference_weights):
    """Zhang et al. 2020, section 3, one token after the other."""

    def mean(tokens, others, weights):
        best = [max(sum(a * b for a, b in zip(t, o, strict=True)) for o in others) for t in tokens]
        weighed = sum(w * value for w, value in zip(weights, best, strict=True))
        return weighed / sum(weights)

    precision = mean(candidate.tolist(), reference.tolist(), candidate_weights)
    recall = mean(reference.tolist(), candidate.tolist(), reference_weights)
    positive = precision > 0 and recall > 0
    return precision, recall, 2 * precision * recall / (precision + recall) if positive else 0


sizes = st.integers(1, 6)
seeds = st.integers(0, 10_000)


@given(sizes, sizes, seeds)
def test_matching_is_the_papers_sums(first, second, seed):
    texts = unit_vectors(first, seed), unit_vectors(second, seed + 1)
    random = np.random.default_rng(seed)
    weights = random.uniform(0.1, 3, first), random.uniform(0.1, 3, second)
    found = match_tokens(*texts, *weights)
    assert found == pytest.approx(written_out(*texts, *weights), rel=1e-4, abs=1e-6)
    assert all(-1.00001 <= value <= 1.00001 for value in found)


def test_a_token_without_weight_can_be_matched_but_does_not_count():
    word, end = torch.eye(2)
    candidate, reference = torch.stack([word, end]), torch.stack([end])
    precision, recall, _ = match_tokens(candidate, reference, np.array([1.0, 0]), np.array([1.0]))
    assert (precision, recall) == (0, 1)


def test_frequent_tokens_weigh_little_and_unknown_ones_most():
    # Three references; the end token 9 is in all of them, 1 in two, 2 (twice in one text) in one.
    weights = idf_weights([np.array(ids) for ids in ([9, 1, 2, 2], [9, 1], [9])], special=())
    expected = [math.log(4 / 4), math.log(4 / 3), math.log(4 / 2), math.log(4 / 1)]
    assert weights.of(np.array([9, 1, 2, 5])).tolist() == pytest.approx(expected)


def test_a_reference_that_comes_twice_counts_twice():
    once, twice = (idf_weights([np.array([1])] + [np.array([2])] * n, ()) for n in (1, 2))
    assert once.of(np.array([2]))[0] == pytest.approx(math.log(3 / 2))
    assert twice.of(np.array([2]))[0] == pytest.approx(math.log(4 / 3))


def test_special_tokens_weigh_nothing():
    weights = idf_weights([np.array([1]), np.array([2])], [7])
    assert weights.of(np.array([7, 1])).tolist() == [0, weights.known[1]]
