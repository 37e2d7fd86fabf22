"""Predict classes with a model trained by heron; needs torch and transformers, not heron.

    from transformers import AutoModelForSequenceClassification   # FOLDER has this file
    model = AutoModelForSequenceClassification.from_pretrained("FOLDER", trust_remote_code=True)
    model.predict(["one text", ("a premise", "a hypothesis")])   # probabilities by class

`pipeline("text-classification", model="FOLDER", trust_remote_code=True)` reads the same texts. To
train it further, `model(**model.batch(sequences), labels=labels)` returns a loss, with `sequences`
from `model.encode(text)`.

Texts are read as in training: two events are between markers, `[א1] הוגשו [/א1]` in Hebrew,
`[E1] ended [/E1]` in other languages (`heron` in `config.json` has the markers).

Shape suffixes: B sequences, L tokens, D hidden, R rows, P pooled, C classes; X rows or sequences.
"""

import inspect
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
    TextClassificationPipeline,
)
from transformers.modeling_outputs import SequenceClassifierOutput

DISTANCES = (2, 3, 5, 9, 17, 33, 65, 129)  # buckets of tokens between two events


class HeronConfig(PretrainedConfig):
    """The configuration of an encoder, and heron's own settings."""

    model_type = "heron"
    _auto_class = "AutoConfig"

    def __init__(self, encoder: Any = None, heron: Any = None, **more: Any):
        self.encoder, self.heron = encoder or {}, heron or {}
        super().__init__(**more)

    @property
    def custom_pipelines(self) -> dict[str, Any]:
        """Name the pipeline; a new dict each time, because transformers modifies it."""
        own = {"impl": "heron_model.HeronPipeline", "pt": ["AutoModelForSequenceClassification"]}
        return {"text-classification": own}


class HeronModel(PreTrainedModel):
    """Encoder, pooling and classifier of one run, from the folder that `heron export` wrote."""

    config_class = HeronConfig
    base_model_prefix = "encoder"
    _auto_class = "AutoModelForSequenceClassification"
    _supports_sdpa = True

    def __init__(self, config: HeronConfig):
        super().__init__(config)
        self.settings = config.heron
        encoder = dict(config.encoder)
        kind = getattr(transformers, self.settings["encoder"])
        has_pooler = "add_pooling_layer" in inspect.signature(kind).parameters
        self.encoder: Any = kind(
            AutoConfig.for_model(encoder.pop("model_type"), **encoder),
            **({"add_pooling_layer": False} if has_pooler else {}),
        )
        distance = self.settings["distance"]
        self.distance = nn.Embedding(*distance) if distance else None
        self.classifier = nn.Sequential(
            *(getattr(nn, name)(*sizes) for name, *sizes in self.settings["layers"])
        )
        self.post_init()

    @classmethod
    def from_config(cls, config: Any, dtype: Any = None) -> "HeronModel":
        """Build the model from its encoder's configuration, which also has `heron`."""
        encoder = config.to_dict()
        named = {"id2label": config.id2label, "label2id": config.label2id, "dtype": dtype}
        return cls(HeronConfig(encoder, encoder.pop("heron"), **named))

    @cached_property
    def tokenizer(self) -> Any:
        """Load the folder's tokenizer."""
        return AutoTokenizer.from_pretrained(self.name_or_path, config=self.config)

    @torch.no_grad()
    def predict(
        self, texts: Sequence[str | tuple[str, str]], batch_size: int = 32
    ) -> list[dict[str, float]]:
        """Compute the probability of each class; a ValueError if an event is cut or missing."""
        starts = range(0, len(texts), batch_size)
        logits = [each for at in starts for each in self.read(texts[at : at + batch_size])]
        names = self.config.id2label.values()
        return [dict(zip(names, one.softmax(dim=0).tolist(), strict=True)) for one in logits]

    def read(self, texts: Sequence[str | tuple[str, str]]) -> Tensor:
        """Compute logits_RC of texts."""
        rows = [self.encode(text) for text in texts]
        batch = self.batch([sequence for row in rows for sequence in row])
        device = next(self.parameters()).device
        batch = {name: value.to(device) for name, value in batch.items()}
        pooled_XP = self.pool(**batch)
        per_row = 2 if self.settings["input"] == "separate" else 1
        counts = [len(row) // per_row for row in rows]
        how = self.settings["over_windows"]
        if how == "mean_states":
            pooled_XP = torch.stack([part.mean(dim=0) for part in pooled_XP.split(counts)])
            counts = [1] * len(rows)
        logits_XC = self.classify(pooled_XP, batch["spans"])
        if self.settings["both_ways"]:
            swapped = {**batch, "spans": batch["spans"][:, [2, 3, 0, 1]]}
            turned_XC = self.classify(self.pool(**swapped), swapped["spans"])
            turned_XC = turned_XC[:, self.settings["inverse"]]
            logits_XC = (logits_XC.log_softmax(dim=1) + turned_XC.log_softmax(dim=1)) / 2
        parts = logits_XC.split(counts)
        return torch.stack([p.amax(dim=0) if how == "max_logits" else p.mean(dim=0) for p in parts])

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        spans: Tensor | None = None,
        markers: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> SequenceClassifierOutput:
        """Compute logits_RC of a `batch`; with labels [R], also their loss.

        With `input=separate`, premise and hypothesis sequences alternate.
        """
        pooled_RP = self.pool(input_ids, attention_mask, token_type_ids, spans, markers)
        logits_RC = self.classify(pooled_RP, spans)
        loss = None if labels is None else nn.functional.cross_entropy(logits_RC, labels)
        return SequenceClassifierOutput(loss=loss, logits=logits_RC)

    def pool(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None,
        spans: Any,
        markers: Any,
    ) -> Tensor:
        """Encode sequences and pool their states; returns pooled_XP."""
        more: dict[str, Tensor] = {}
        if token_type_ids is not None and getattr(self.encoder.config, "type_vocab_size", 1) > 1:
            more["token_type_ids"] = token_type_ids
        is_longformer = hasattr(self.encoder.config, "attention_window")
        if is_longformer and self.settings["global_attention"] == "first":
            more["global_attention_mask"] = torch.zeros_like(attention_mask)
            more["global_attention_mask"][:, 0] = 1
        pair = self.encoder.config.is_encoder_decoder
        encode = self.encoder.get_encoder() if pair else self.encoder
        found = encode(input_ids=input_ids, attention_mask=attention_mask, **more)
        states_BLD, how = found.last_hidden_state, self.settings["pooling"]
        rows_B1 = torch.arange(len(states_BLD), device=states_BLD.device)[:, None]
        if how == "cls":
            pooled_XP = states_BLD[:, 0]
        elif how == "last_token":
            pooled_XP = states_BLD[rows_B1[:, 0], attention_mask.sum(dim=1) - 1]
        elif how == "mean":
            mask_BL1 = attention_mask[..., None].to(states_BLD.dtype)
            pooled_XP = (states_BLD * mask_BL1).sum(dim=1) / mask_BL1.sum(dim=1)
        elif how == "event_start":
            pooled_XP = states_BLD[rows_B1, markers].flatten(1)
        elif how == "mention_pool":
            pooled_XP = torch.cat([_largest(states_BLD, spans[:, at : at + 2]) for at in (0, 2)], 1)
        elif how == "span_ends":
            ends_R4D = states_BLD[rows_B1, spans]
            a_RP, b_RP = ends_R4D[:, :2].flatten(1), ends_R4D[:, 2:].flatten(1)
            pooled_XP = torch.cat([a_RP, b_RP, a_RP * b_RP, a_RP - b_RP], dim=1)
        else:
            raise ValueError(f"config.json: unknown pooling {how}")
        if self.settings["input"] != "separate":
            return pooled_XP
        u_RP, v_RP = pooled_XP[0::2], pooled_XP[1::2]
        both = [u_RP, v_RP]
        if self.settings["combine"] == "compare":
            both += [(u_RP - v_RP).abs(), u_RP * v_RP]
        return torch.cat(both, dim=1)

    def classify(self, pooled_XP: Tensor, spans: Any) -> Tensor:
        """Map pooled vectors to logits_XC."""
        if self.distance is not None:
            apart_R = spans[:, 2] - spans[:, 0]
            borders = torch.tensor(DISTANCES, device=spans.device)
            bucket_R = torch.bucketize(apart_R.abs(), borders, right=True)
            bucket_R = bucket_R + (len(DISTANCES) + 1) * (apart_R < 0)
            pooled_XP = torch.cat([pooled_XP, self.distance(bucket_R)], dim=1)
        logits_XC: Tensor = self.classifier(pooled_XP)
        return logits_XC

    def encode(self, text: str | tuple[str, str]) -> list[dict[str, Any]]:
        """Tokenize one text or pair into sequences, each with its tokens and event positions."""
        form, settings = self.settings["input"], self.settings
        texts = [self.clean(part) for part in ([text] if isinstance(text, str) else text)]
        if settings["case"] == "lower":
            texts = [part.lower() for part in texts]
        if form in ("marked", "window"):
            return [self._encode_events(texts[0])]
        if len(texts) == 2 and settings["case"] == "capitalize":
            texts[1] = texts[1].capitalize()
        if form == "separate":
            return [*self._encode([texts[0]]), *self._encode([texts[1]])]
        if form == "pair" and settings["separator"] is not None:
            end = settings["separator"] if settings["trailing_separator"] else ""
            return self._encode([f"{texts[0]}{settings['separator']}{texts[1]}{end}"])
        return self._encode(texts if form == "pair" else [texts[-1 if form == "hypothesis" else 0]])

    def _encode(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        settings = self.settings
        windows = settings["overflow"] == "windows"
        encoded = self.tokenizer(
            *([text] for text in texts),
            truncation="longest_first" if len(texts) == 1 else settings["truncation"],
            max_length=settings["max_length"],
            return_overflowing_tokens=windows,
            stride=settings["stride"] if windows else 0,
        )
        return [_sequence(encoding) for encoding in encoded.encodings]

    def _encode_events(self, text: str) -> dict[str, Any]:
        plain, events = _parse(text, self.settings["markers"])
        openings: list[int] = []
        last = max(end for _, end in events)  # character that must not be cut
        if written := self.settings["written_markers"]:
            plain, events, openings = _mark(plain, events, written)
            last = max(
                end + 1 + len(closing)
                for (_, end), closing in zip(events, written[1::2], strict=True)
            )
        limits = {"truncation": True, "max_length": self.settings["max_length"]}
        encoding = self.tokenizer([plain], return_offsets_mapping=True, **limits).encodings[0]

        def tokens(start: int, end: int) -> list[int]:
            inside = enumerate(encoding.offsets)
            return [n for n, (a, b) in inside if a < end and b > start and b > a]

        found = [tokens(*event) for event in events]
        opened = [tokens(start, start + 1) for start in openings] or found
        reached = max(end for _, end in encoding.offsets)
        if not all(found + opened) or (encoding.overflowing and reached < last):
            raise ValueError(f"an event is not among the first {len(encoding.ids)} tokens: {text}")
        spans = [place for each in found for place in (each[0], each[-1])]
        return _sequence(encoding) | {"spans": spans, "markers": [each[0] for each in opened]}

    def batch(self, sequences: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """Pad sequences to the arguments of `forward`."""
        longest = max(len(each["ids"]) for each in sequences)
        pad = self.tokenizer.pad_token_id

        def padded(name: str, fill: int) -> Tensor:
            return torch.tensor([s[name] + [fill] * (longest - len(s[name])) for s in sequences])

        return {
            "input_ids": padded("ids", pad),
            "attention_mask": padded("mask", 0),
            "token_type_ids": padded("types", 0),
            "spans": torch.tensor([each["spans"] for each in sequences]),
            "markers": torch.tensor([each["markers"] for each in sequences]),
        }

    def clean(self, text: str) -> str:
        """Unify Unicode variants as in training; a second call changes nothing."""
        table = str.maketrans(self.settings["characters"])
        before = ""
        while text != before:
            before = text
            text = unicodedata.normalize("NFC", text) if self.settings["nfc"] else text
            text = text.translate(table)
        return text.strip()


class HeronPipeline(TextClassificationPipeline):
    """Classify texts, or pairs as `{"text": ..., "text_pair": ...}`, as `HeronModel.predict`."""

    def check_model_type(self, supported_models: Any) -> None:
        """Accept HeronModel, which transformers does not list."""

    def preprocess(self, inputs: Any, **unused: Any) -> dict[str, Any]:
        """Take one text or a pair; the model reads it."""
        if isinstance(inputs, dict):
            pair = inputs.get("text_pair")
            inputs = inputs["text"] if pair is None else (inputs["text"], pair)
        return {"texts": [inputs]}

    def _forward(self, model_inputs: Any) -> Any:
        return SequenceClassifierOutput(logits=self.model.read(model_inputs["texts"]))


def _sequence(encoding: Any) -> dict[str, Any]:
    second = encoding.type_ids.index(1) if 1 in encoding.type_ids else len(encoding.ids)
    return {
        "ids": list(encoding.ids),
        "mask": [1] * len(encoding.ids),
        "types": [int(place >= second) for place in range(len(encoding.ids))],
        "spans": [0, 0, 0, 0],
        "markers": [0, 0],
    }


def _largest(states_BLD: Tensor, span_R2: Tensor) -> Tensor:
    """Take the maximum over the tokens of a span, both ends included."""
    positions_L = torch.arange(states_BLD.shape[1], device=states_BLD.device)
    inside_RL = (positions_L >= span_R2[:, :1]) & (positions_L <= span_R2[:, 1:])
    lowest = torch.finfo(states_BLD.dtype).min
    return states_BLD.masked_fill(~inside_RL[..., None], lowest).amax(dim=1)


def _mark(
    plain: str, events: Sequence[tuple[int, int]], markers: Sequence[str]
) -> tuple[str, list[tuple[int, int]], list[int]]:
    """Put markers and spaces around two events; returns text, event spans and opening markers."""
    text, cursor, moved, openings = "", 0, [(0, 0), (0, 0)], [0, 0]
    for number in sorted((0, 1), key=lambda each: events[each]):
        start, end = events[number]
        text += plain[cursor:start]
        openings[number] = len(text)
        text += markers[2 * number] + " "
        moved[number] = len(text), len(text) + end - start
        text += f"{plain[start:end]} {markers[2 * number + 1]}"
        cursor = end
    return text + plain[cursor:], moved, openings


def _parse(text: str, markers: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Remove the markers, each with one space; returns the text and both events' offsets."""
    longest_first = sorted(markers, key=len, reverse=True)
    found = list(re.finditer("|".join(map(re.escape, longest_first)), text))
    if sorted(match.group() for match in found) != sorted(markers):
        raise ValueError(f"mark two events by {' '.join(markers)}, each marker once: {text}")
    plain, cursor, places = "", 0, dict[str, int]()
    for match in found:
        opens = match.group() in markers[::2]
        before = not opens and text[: match.start()].endswith(" ")
        after = opens and text.startswith(" ", match.end())
        plain += text[cursor : match.start() - before]
        places[match.group()] = len(plain)
        cursor = match.end() + after
    plain += text[cursor:]
    indent = len(plain) - len(plain.lstrip())
    events = []
    for start, end in (
        (places[markers[0]], places[markers[1]]),
        (places[markers[2]], places[markers[3]]),
    ):
        mention = plain[start:end]
        start += len(mention) - len(mention.lstrip())
        end = start + len(mention.strip())
        if start >= end:
            raise ValueError(f"an event is empty: {text}")
        events.append((start - indent, end - indent))
    return plain.strip(), events
