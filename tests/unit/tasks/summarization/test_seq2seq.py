"""Encoder-decoders: pretrained ones, and decoders begun from any encoder."""

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    EncoderDecoderModel,
    GenerationConfig,
    LEDConfig,
    LEDForConditionalGeneration,
    LongT5Config,
    LongT5ForConditionalGeneration,
    MBartConfig,
    MBartForConditionalGeneration,
    T5Config,
    T5ForConditionalGeneration,
)

from heron.base.errors import ConfigError
from heron.base.run_folder import RunFolder
from heron.data.collate import Batch
from heron.models.encoder import Encoder
from heron.models.optim import build_optimizer
from heron.tasks.summarization.config import GenerationConfig as Generation
from heron.tasks.summarization.seq2seq import Seq2Seq, build_seq2seq, load_seq2seq
from heron.training.exported import export, load_exported
from heron.training.inference import inference_module
from heron.training.trainer import build_encoder, build_head
from heron_tools.export.model_card import usage_code
from heron_tools.export.plain import Plain
from tiers import quick

CHRONICLE = ("data=chronicle_summaries", "task.generation.max_new_tokens=6")
SPECIAL = {"pad_token_id": 0, "eos_token_id": 3}
T5 = SPECIAL | {
    "d_model": 32,
    "d_kv": 16,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 2,
    "decoder_start_token_id": 0,
}
LED = SPECIAL | {
    "d_model": 32,
    "attention_window": 8,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_encoder_position_embeddings": 256,
    "max_decoder_position_embeddings": 64,
    "bos_token_id": 2,
    "decoder_start_token_id": 3,
}
LOCAL = {"local_radius": 7, "global_block_size": 4, "encoder_attention_type": "transient-global"}
KINDS = {
    "t5": (T5ForConditionalGeneration, T5Config, T5),
    "longt5": (LongT5ForConditionalGeneration, LongT5Config, T5 | LOCAL),
    "led": (LEDForConditionalGeneration, LEDConfig, LED),
}


@pytest.fixture(scope="session")
def tiny_seq2seq(tiny_encoder, tmp_path_factory):
    """Return a function from a kind to the folder of a tiny encoder-decoder, saved once."""
    folders: dict[str, Path] = {}

    def save(kind: str) -> Path:
        if kind not in folders:
            folder = folders[kind] = tmp_path_factory.mktemp(f"tiny_{kind}")
            tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
            tokenizer.save_pretrained(folder)
            model, config, shape = KINDS[kind]
            with torch.random.fork_rng():
                torch.manual_seed(0)
                model(config(vocab_size=len(tokenizer), **shape)).save_pretrained(folder)
        return folders[kind]

    return save


@pytest.fixture
def config_of(chronicle_config):
    """Return a function that configures a model by its folder."""

    def configure(folder, classifier, **encoder):
        config = chronicle_config(*CHRONICLE)
        own_encoder = dataclasses.replace(
            config.encoder, name=str(folder), max_length=64, **encoder
        )
        head = dataclasses.replace(config.head, classifier=classifier)
        return dataclasses.replace(config, encoder=own_encoder, head=head)

    return configure


def make_batch(vocabulary=60, rows=3, length=20, words=7):
    """A batch of random articles and targets; the last row of each is shorter."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        tokens_BL = torch.randint(5, vocabulary, (rows, length))
        target_RM = torch.randint(5, vocabulary, (rows, words))
    mask_BL = torch.ones_like(tokens_BL)
    mask_BL[-1, length // 2 :] = tokens_BL[-1, length // 2 :] = 0
    target_RM[-1, words // 2 :] = -100
    numbers = torch.arange(rows)
    return Batch(
        tokens_BL=tokens_BL,
        mask_BL=mask_BL,
        second_B=torch.full((rows,), -1),
        owners_B=numbers,
        sequences_R=numbers,
        labels_R=torch.zeros(rows, dtype=torch.int64),
        rows_R=numbers,
        columns={"target": target_RM},
    )


def tokenizer_of(folder):
    return AutoTokenizer.from_pretrained(folder)


def built(kind, tiny_encoder, tiny_seq2seq, config_of):
    """Build a model of a kind; returns it with its configuration and tokenizer."""
    warm = kind == "warm_start"
    folder = tiny_encoder if warm else tiny_seq2seq(kind)
    config = config_of(folder, kind if warm else "seq2seq")
    return build_encoder(config, tokenizer_of(folder)).eval(), config, tokenizer_of(folder)


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("kind", quick(["led", "warm_start", "t5"], 2))
def test_the_cards_code_generates_the_same_texts_as_heron(
    kind, beams, tiny_encoder, tiny_seq2seq, config_of, tmp_path
):
    _, config, tokenizer = built(kind, tiny_encoder, tiny_seq2seq, config_of)
    config.task.generation = Generation(beams, 2.0, 2, min_new_tokens=25, max_new_tokens=30)
    encoder = build_encoder(config, tokenizer).eval()  # the model's own limit is 20 tokens
    export(tmp_path, encoder, torch.nn.Identity(), tokenizer, config)
    text = "the committee met and the minister left " * 6
    read = tokenizer(text, truncation=True, max_length=64, return_tensors="pt")
    batch = dataclasses.replace(
        make_batch(rows=1), tokens_BL=read["input_ids"], mask_BL=read["attention_mask"]
    )
    (ids_M,), _ = encoder.write(batch, config.task.generation)
    assert 25 <= len(ids_M) <= 30
    plain = Plain(config, "AutoModelForSeq2SeqLM", attends_globally=kind == "led")
    code = usage_code(plain, str(tmp_path)).strip("`\n").removeprefix("python\n")
    assert '"a text"' in code
    *lines, last = code.replace('"a text"', repr(text)).splitlines()
    variables: dict[str, Any] = {}
    exec("\n".join(lines), variables)
    assert variables["generated"][0, 1:].tolist() == ids_M.tolist()
    assert eval(last, variables) == tokenizer.decode(ids_M, skip_special_tokens=True).strip()
    assert ("global_attention_mask" in variables["inputs"]) == (kind == "led")


@pytest.mark.parametrize("attention", ["first", "none"])
def test_a_longformer_with_a_decoder_reads_with_or_without_global_attention(
    attention, tiny_seq2seq, config_of
):
    folder = tiny_seq2seq("led")
    config = config_of(folder, "seq2seq", global_attention=attention)
    model, batch = build_seq2seq(config, tokenizer_of(folder)).eval(), make_batch()
    inputs = {"input_ids": batch.tokens_BL, "attention_mask": batch.mask_BL}
    if attention == "first":
        inputs["global_attention_mask"] = torch.zeros_like(batch.mask_BL)
        inputs["global_attention_mask"][:, 0] = 1
    with torch.no_grad():
        expected_BLD = model.inner(**inputs).last_hidden_state
        states_BLD = Encoder.forward(model, batch)
    torch.testing.assert_close(states_BLD, expected_BLD)


@pytest.mark.parametrize("place", ["config", "generation_config", "decoder", "tokenizer"])
def test_a_start_token_that_stands_in_one_file_only_is_used_everywhere(
    place, tiny_encoder, config_of, tmp_path
):
    """The usual tutorial writes the first place; older versions of transformers the second."""
    tokenizer = tokenizer_of(tiny_encoder)
    pair = EncoderDecoderModel.from_encoder_decoder_pretrained(tiny_encoder, tiny_encoder)
    pair.generation_config = GenerationConfig()
    token = tokenizer.cls_token_id if place == "tokenizer" else 7
    parts = {"config": pair.config, "decoder": pair.config.decoder}
    if place != "tokenizer":
        parts.get(place, pair.generation_config).decoder_start_token_id = token
    pair.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    if place in ("config", "tokenizer"):  # folders of older versions have no such file
        (tmp_path / "generation_config.json").unlink()
    config = config_of(tmp_path, "seq2seq")
    encoder = build_encoder(config, tokenizer).eval()
    model, batch = encoder.model, make_batch()
    assert torch.isfinite(encoder(batch)).all()
    assert len(encoder.write(batch, config.task.generation)[0]) == len(batch)
    for part in (model.config, model.generation_config):
        assert part.decoder_start_token_id == token
        assert (part.eos_token_id, part.pad_token_id) == (
            tokenizer.sep_token_id,
            tokenizer.pad_token_id,
        )


def test_an_mbart_begins_summaries_with_the_language_that_training_puts_first(
    tiny_encoder, config_of, tmp_path
):
    tokenizer = tokenizer_of(tiny_encoder)
    end, language = "[SEP]", "[MASK]"  # its texts end with the language
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"$A {end} {language}",
        special_tokens=[(token, tokenizer.vocab[token]) for token in (end, language)],
    )
    sizes = {name: size for name, size in LED.items() if "ffn" in name or "layers" in name}
    shape = MBartConfig(
        vocab_size=len(tokenizer),
        d_model=32,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        **SPECIAL,
        **sizes,
    )
    model = MBartForConditionalGeneration(shape)
    other = tokenizer.vocab["[UNK]"]  # another language, which the folder begins summaries with
    model.generation_config.update(decoder_start_token_id=other)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)

    encoder = build_encoder(config_of(tmp_path, "seq2seq"), tokenizer)
    target_1M = torch.tensor([tokenizer("a").input_ids])
    first = encoder._shifted(target_1M)[0, 0]
    assert first == encoder.model.generation_config.decoder_start_token_id
    assert first == tokenizer.mask_token_id


def test_a_forced_first_token_is_the_one_that_gold_summaries_begin_with(
    tiny_seq2seq, config_of, tmp_path
):
    folder = shutil.copytree(tiny_seq2seq("led"), tmp_path / "model")
    tokenizer = tokenizer_of(folder)
    settings = GenerationConfig.from_pretrained(folder)
    settings.forced_bos_token_id = tokenizer.vocab["[UNK]"]
    settings.save_pretrained(folder)
    encoder = build_encoder(config_of(folder, "seq2seq"), tokenizer)
    forced = encoder.model.generation_config.forced_bos_token_id
    assert forced == tokenizer("a").input_ids[0]


@pytest.mark.parametrize("kind", quick(["warm_start", *KINDS]))
def test_every_kind_learns_a_batch_by_heart_and_writes_it(
    kind, tiny_encoder, tiny_seq2seq, config_of
):
    warm = kind == "warm_start"
    folder = tiny_encoder if warm else tiny_seq2seq(kind)
    config = config_of(folder, kind if warm else "seq2seq", dropout=0.0)
    config.task.generation = dataclasses.replace(
        config.task.generation, num_beams=1, no_repeat_ngram_size=0, max_new_tokens=7
    )
    config.optim.lr = 1e-2
    torch.manual_seed(0)
    encoder = build_encoder(config, tokenizer_of(folder))
    module = inference_module(config, encoder, build_head(config, encoder))
    batch = make_batch()
    end_RM = batch.columns["target"].clone()
    end_RM[:-1, -1] = 3  # the token that ends a summary
    end_RM[-1, 2] = 3
    batch = batch.with_columns(target=end_RM)
    optimizer = build_optimizer(module.encoder, module.head, config.optim)
    module.train()
    module.encoder.assert_mode(training=True)
    for _ in range(100):
        loss = module.step(batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.1
    written_RM = module.eval().write(batch).written_RM
    for written, target in zip(written_RM.tolist(), batch.columns["target"].tolist(), strict=True):
        tokens = [token for token in target if token != -100]
        assert written[: len(tokens)] == tokens


def test_the_decoder_begins_with_the_encoder_s_weights_and_new_cross_attention(
    tiny_encoder, config_of
):
    config = config_of(tiny_encoder, "warm_start")
    model = load_seq2seq(config, tokenizer_of(tiny_encoder))
    encoder, decoder = model.encoder.state_dict(), model.decoder.base_model.state_dict()
    for name, tensor in encoder.items():
        torch.testing.assert_close(decoder[name], tensor)
    assert {name.split(".")[3] for name in decoder.keys() - encoder.keys()} == {"crossattention"}
    assert model.generation_config.eos_token_id == tokenizer_of(tiny_encoder).sep_token_id


def test_a_decoder_may_have_fewer_layers_but_not_more(tiny_encoder, config_of):
    config = config_of(tiny_encoder, "warm_start")
    config.head.decoder_layers = 1
    model = load_seq2seq(config, tokenizer_of(tiny_encoder))
    assert len(model.decoder.base_model.encoder.layer) == 1
    config.head.decoder_layers = 3
    with pytest.raises(ConfigError, match="decoder_layers=3"):
        load_seq2seq(config, tokenizer_of(tiny_encoder))


def test_an_encoder_that_cannot_decode_gets_a_bert_decoder_with_its_words(
    tiny_longformer, config_of
):
    config = config_of(tiny_longformer, "warm_start")
    model = load_seq2seq(config, tokenizer_of(tiny_longformer))
    words = model.encoder.get_input_embeddings().weight
    torch.testing.assert_close(model.decoder.get_input_embeddings().weight, words)
    module = Seq2Seq(model).eval()
    batch = make_batch()
    with torch.no_grad():
        target_tokens = int((batch.columns["target"] != -100).sum())
        assert module(batch).shape == (target_tokens, model.decoder.config.vocab_size)
    written_BM, _ = module.write(batch, config.task.generation)
    assert written_BM.shape[0] == 3


def test_t5_is_refused_in_fp16(tiny_seq2seq, config_of):
    folder = tiny_seq2seq("longt5")
    config = config_of(folder, "seq2seq")
    config.trainer.precision = "16-mixed"
    with pytest.raises(ConfigError, match="overflows in fp16"):
        build_encoder(config, tokenizer_of(folder))


@pytest.mark.parametrize("kind", ["longt5", "warm_start"])
def test_freeze_holds_layers_of_the_encoder_only_and_the_decoder_trains(
    kind, tiny_encoder, tiny_seq2seq, config_of
):
    warm = kind == "warm_start"
    folder = tiny_encoder if warm else tiny_seq2seq(kind)
    config = config_of(folder, kind if warm else "seq2seq")
    for freeze, layers in (("none", 2), ("embeddings", 2), ("1", 1), ("all", 0)):
        config.encoder.freeze = freeze
        encoder = build_encoder(config, tokenizer_of(folder)).train()
        training = [layer for layer in encoder.layers if next(layer.parameters()).requires_grad]
        assert len(training) == layers
        assert all(layer.training for layer in training)
        assert any(encoder.learns_as_head(p) for p in encoder.parameters() if p.requires_grad)
        encoder.assert_mode(training=True)


@pytest.mark.parametrize("name", ["adamw", "adafactor"])
def test_decoder_and_layers_learn_at_their_own_rates(name, tiny_encoder, config_of):
    config = config_of(tiny_encoder, "warm_start")
    config.optim = dataclasses.replace(
        config.optim, name=name, lr=1e-3, head_lr=1e-2, layer_decay=0.5
    )
    encoder = build_encoder(config, tokenizer_of(tiny_encoder))
    optimizer = build_optimizer(encoder, torch.nn.Identity(), config.optim)
    rate = {id(p): group["lr"] for group in optimizer.param_groups for p in group["params"]}
    assert {rate[id(p)] for p in encoder.model.decoder.parameters()} == {1e-2}
    below, above = ({rate[id(p)] for p in layer.parameters()} for layer in encoder.layers)
    assert (below, above) == ({5e-4}, {1e-3})
    assert {rate[id(p)] for p in encoder.model.encoder.embeddings.parameters()} == {2.5e-4}
    decays = {id(p): g["weight_decay"] for g in optimizer.param_groups for p in g["params"]}
    assert all((decays[id(p)] > 0) == (p.ndim > 1) for p in encoder.parameters())


@pytest.mark.parametrize("kind", [*KINDS, "warm_start"])
def test_an_exported_model_opens_with_plain_transformers_and_with_heron(
    kind, tiny_encoder, tiny_seq2seq, config_of, tmp_path
):
    encoder, config, tokenizer = built(kind, tiny_encoder, tiny_seq2seq, config_of)
    folder = RunFolder(tmp_path / "run")
    export(folder.model, encoder, torch.nn.Identity(), tokenizer, config)
    from heron.base.run_folder import config_text

    folder.config.write_text(config_text(config), encoding="utf-8")
    _, opened, _ = load_exported(folder)
    plain = Seq2Seq(AutoModelForSeq2SeqLM.from_pretrained(folder.model)).eval()
    batch = make_batch()
    with torch.no_grad():
        logits = encoder(batch)
        torch.testing.assert_close(opened(batch), logits)
        torch.testing.assert_close(plain(batch), logits)
    texts = [model.write(batch, config.task.generation)[0] for model in (encoder, opened)]
    assert torch.equal(*texts)
    assert opened.model.generation_config.eos_token_id == 3
    assert all(p.requires_grad for p in opened.parameters())
    assert not any("pooler" in name for name, _ in opened.named_parameters())
