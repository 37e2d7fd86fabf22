"""States of one layer: the right layer, with the final norm."""

import pytest
import torch
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
from heron.models.token_states import TokenEncoder, check_backbone

TEXTS = ["הוועדה התכנסה בבוקר", "", "Șoferul a oprit mașina după ce a văzut câinele", "the end"]


def hidden(folder, text, layer):
    """What transformers itself gives after a layer."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    with torch.no_grad():
        found = model.eval()(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
    return found.hidden_states[layer][0]


def save_tokenizer(source, folder):
    tokenizer = AutoTokenizer.from_pretrained(source)
    tokenizer.save_pretrained(folder)
    return len(tokenizer)


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return TokenEncoder.load(str(tiny_encoder), 1, device=torch.device("cpu"))


def test_states_are_those_after_the_layer_not_the_last_ones(tiny_encoder, encoder):
    found = encoder.states(encoder.pieces(TEXTS))
    for text, states in zip(TEXTS, found, strict=True):
        torch.testing.assert_close(states, hidden(tiny_encoder, text, 1), atol=1e-6, rtol=0)


def test_the_last_layer_is_the_models_own_output(tiny_encoder):
    encoder = TokenEncoder.load(str(tiny_encoder), 2, device=torch.device("cpu"))
    (states,) = encoder.states(encoder.pieces(TEXTS[:1]))
    torch.testing.assert_close(states, hidden(tiny_encoder, TEXTS[0], 2), atol=1e-6, rtol=0)


def test_an_encoder_that_normalises_before_its_blocks_is_normalised_after_the_last(
    tiny_encoder, tmp_path
):
    size = save_tokenizer(tiny_encoder, tmp_path)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        shape = ModernBertConfig(
            vocab_size=size,
            hidden_size=32,
            num_hidden_layers=3,
            num_attention_heads=2,
            intermediate_size=64,
            pad_token_id=0,
        )
        model = ModernBertModel(shape)
    model.save_pretrained(tmp_path)
    raw = hidden(tmp_path, TEXTS[0], 2)
    encoder = TokenEncoder.load(str(tmp_path), 2, device=torch.device("cpu"))
    (states,) = encoder.states(encoder.pieces(TEXTS[:1]))
    torch.testing.assert_close(states, model.final_norm(raw).detach(), atol=1e-6, rtol=0)
    assert not torch.allclose(states, raw, atol=1e-3)


def test_of_an_encoder_decoder_the_encoder_is_read(tiny_encoder, tmp_path):
    size = save_tokenizer(tiny_encoder, tmp_path)
    shape = T5Config(vocab_size=size, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2)
    T5Model(shape).save_pretrained(tmp_path)
    encoder = TokenEncoder.load(str(tmp_path), 1, device=torch.device("cpu"))
    (pieces,) = encoder.pieces(TEXTS[:1])
    (states,) = encoder.states([pieces])
    assert states.shape == (len(pieces.ids), 32)
    assert not encoder.is_long(encoder.pieces(["מילה " * 2000])[0])  # its positions are relative


def test_to_byte_level_tokenizers_a_first_word_is_as_any_other(tmp_path):
    from tokenizers import ByteLevelBPETokenizer

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        ["the end of the end"] * 9, 300, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    )
    trained.save_model(str(tmp_path))
    vocabulary, merges = (str(tmp_path / name) for name in ("vocab.json", "merges.txt"))
    RobertaTokenizer(vocab=vocabulary, merges=merges).save_pretrained(tmp_path)
    shape = RobertaConfig(
        vocab_size=trained.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=66,
        pad_token_id=1,
    )
    RobertaModel(shape).save_pretrained(tmp_path)
    encoder = TokenEncoder.load(str(tmp_path), 1, device=torch.device("cpu"))
    first, twice, empty = encoder.pieces(["end", "end end", " "])
    assert twice.text.tolist() == first.text.tolist() * 2
    assert not len(empty.text)
    assert encoder.positions == 64


def test_texts_are_cut_at_the_end_and_keep_the_closing_token(encoder):
    text = "the end " * 200
    (pieces,) = encoder.pieces([text])
    assert encoder.is_long(pieces)
    expected = encoder.tokenizer(text, truncation=True, max_length=256)["input_ids"]
    assert encoder.cut(pieces).ids.tolist() == expected
    assert not encoder.is_long(encoder.cut(pieces))


def test_a_missing_layer_or_encoder_is_named_before_anything_is_loaded(tiny_encoder, tmp_path):
    with pytest.raises(ConfigError, match=r"bertscore layer 3: .* has 2 layers"):
        check_backbone(str(tiny_encoder), 3)
    with pytest.raises(ConfigError, match=r"bertscore model .*nowhere"):
        check_backbone(str(tmp_path / "nowhere"), 1)
    with pytest.raises(ConfigError, match="scratch"):
        check_backbone("scratch", 1)
