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
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    AutoConfig,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
    TextClassificationPipeline,
)
from transformers.modeling_outputs import SequenceClassifierOutput

Text = str | tuple[str, str]  # one text, or a pair
Span = tuple[int, int]  # of characters: start, end
Encoded = dict[str, Any]  # one sequence: its tokens, and the positions of its events

DISTANCES = (2, 3, 5, 9, 17, 33, 65, 129)  # buckets of tokens between two events


class HeronConfig(PretrainedConfig):
    """The configuration of an encoder, and heron's own settings."""

    model_type = "heron"
    _auto_class = "AutoConfig"

    def __init__(self, encoder: Any = None, heron: Any = None, **more: Any):
        """Keep both configurations.

        Args:
            encoder: the encoder's configuration as a dict, `model_type` included.
            heron: heron's settings, as `heron export` writes them.
            more: transformers' own keys.
        """
        self.encoder = encoder or {}
        self.heron = heron or {}
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
        """Build the layers, with new weights.

        Args:
            config: of the exported folder.
        """
        super().__init__(config)
        self.settings = settings = config.heron

        encoder_class = getattr(transformers, settings["encoder"])
        parameters = inspect.signature(encoder_class).parameters
        options = {"add_pooling_layer": False} if "add_pooling_layer" in parameters else {}
        encoder = dict(config.encoder)
        model_type = encoder.pop("model_type")
        encoder_config = AutoConfig.for_model(model_type, **encoder)
        self.encoder: Any = encoder_class(encoder_config, **options)

        self.distance = None
        if settings["distance"]:
            self.distance = nn.Embedding(*settings["distance"])

        layers = []
        for name, *sizes in settings["layers"]:
            layer_class = getattr(nn, name)
            layers.append(layer_class(*sizes))

        self.classifier = nn.Sequential(*layers)
        self.post_init()

    @classmethod
    def from_config(cls, config: Any, dtype: Any = None) -> "HeronModel":
        """Build the model from its encoder's configuration, which also has `heron`.

        Args:
            config: the encoder's configuration, with heron's settings as `heron`.
            dtype: of the weights; None for the default.
        """
        encoder = config.to_dict()
        settings = encoder.pop("heron")
        own_config = HeronConfig(
            encoder,
            settings,
            id2label=config.id2label,
            label2id=config.label2id,
            dtype=dtype,
        )
        return cls(own_config)

    @cached_property
    def tokenizer(self) -> Any:
        """Load the folder's tokenizer."""
        return AutoTokenizer.from_pretrained(self.name_or_path, config=self.config)

    @torch.no_grad()
    def predict(self, texts: Sequence[Text], batch_size: int = 32) -> list[dict[str, float]]:
        """Compute the probability of each class.

        Args:
            texts: as in training, with markers around events.
            batch_size: texts that are computed together.

        Returns:
            For each text, the probabilities by class, from 0 to 1.

        Raises:
            ValueError: an event is cut or missing.
        """
        names = self.config.id2label.values()
        probabilities = []
        for start in range(0, len(texts), batch_size):
            for logits_C in self.read(texts[start : start + batch_size]):
                values = logits_C.softmax(dim=0).tolist()
                probabilities.append(dict(zip(names, values, strict=True)))

        return probabilities

    def read(self, texts: Sequence[Text]) -> Tensor:
        """Compute the logits of texts, over all windows of each.

        Args:
            texts: as in training, with markers around events.

        Returns:
            logits_RC, or log-probabilities where both orders of the events are averaged.
        """
        sequences: list[Encoded] = []
        counts = []  # pooled vectors of each text
        for text in texts:
            windows = self.encode(text)
            sequences += windows
            count = len(windows)
            if self.settings["input"] == "separate":  # one vector of premise and hypothesis
                count //= 2
            counts.append(count)

        device = next(self.parameters()).device
        batch = {name: tensor.to(device) for name, tensor in self.batch(sequences).items()}
        pooled_XP = self.pool(**batch)

        over_windows = self.settings["over_windows"]
        if over_windows == "mean_states":
            means = [windows_XP.mean(dim=0) for windows_XP in pooled_XP.split(counts)]
            pooled_XP = torch.stack(means)
            counts = [1] * len(texts)

        logits_XC = self.classify(pooled_XP, batch["spans"])
        if self.settings["both_ways"]:
            # The second event first; `inverse` maps classes back to the first order.
            batch["spans"] = batch["spans"][:, [2, 3, 0, 1]]
            swapped_XP = self.pool(**batch)
            swapped_XC = self.classify(swapped_XP, batch["spans"])
            swapped_XC = swapped_XC[:, self.settings["inverse"]]
            logits_XC = (logits_XC.log_softmax(dim=1) + swapped_XC.log_softmax(dim=1)) / 2

        rows = []
        for windows_XC in logits_XC.split(counts):
            if over_windows == "max_logits":
                row_C = windows_XC.amax(dim=0)
            else:
                row_C = windows_XC.mean(dim=0)
            rows.append(row_C)

        return torch.stack(rows)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        spans: Tensor | None = None,
        markers: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> SequenceClassifierOutput:
        """Compute logits_RC of a `batch`; with labels, also their loss.

        With `input=separate`, premise and hypothesis sequences alternate.

        Args:
            input_ids: token ids [B, L].
            attention_mask: 1 for tokens, 0 for padding [B, L].
            token_type_ids: 1 for tokens of the second text [B, L].
            spans: first and last token of both events [B, 4].
            markers: tokens of the opening markers of both events [B, 2].
            labels: indices of classes [R].
        """
        pooled_RP = self.pool(input_ids, attention_mask, token_type_ids, spans, markers)
        logits_RC = self.classify(pooled_RP, spans)

        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits_RC, labels)

        return SequenceClassifierOutput(loss=loss, logits=logits_RC)

    def pool(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None,
        spans: Any,
        markers: Any,
    ) -> Tensor:
        """Encode sequences and pool their states; the arguments are those of `forward`.

        Returns:
            pooled_XP, one vector for a sequence, or for two with `input=separate`.
        """
        states_BLD = self._states(input_ids, attention_mask, token_type_ids)
        rows_B = torch.arange(len(states_BLD), device=states_BLD.device)
        rows_B1 = rows_B[:, None]

        pooling = self.settings["pooling"]
        if pooling == "cls":
            pooled_XP = states_BLD[:, 0]
        elif pooling == "last_token":
            last_B = attention_mask.sum(dim=1) - 1
            pooled_XP = states_BLD[rows_B, last_B]
        elif pooling == "mean":
            mask_BL1 = attention_mask[..., None].to(states_BLD.dtype)
            pooled_XP = (states_BLD * mask_BL1).sum(dim=1) / mask_BL1.sum(dim=1)
        elif pooling == "event_start":
            pooled_XP = states_BLD[rows_B1, markers].flatten(1)
        elif pooling == "mention_pool":
            a_RP = _largest(states_BLD, spans[:, :2])
            b_RP = _largest(states_BLD, spans[:, 2:])
            pooled_XP = torch.cat([a_RP, b_RP], dim=1)
        elif pooling == "span_ends":
            ends_R4D = states_BLD[rows_B1, spans]
            a_RP = ends_R4D[:, :2].flatten(1)
            b_RP = ends_R4D[:, 2:].flatten(1)
            pooled_XP = torch.cat([a_RP, b_RP, a_RP * b_RP, a_RP - b_RP], dim=1)
        else:
            raise ValueError(f"config.json: unknown pooling {pooling}")

        if self.settings["input"] != "separate":
            return pooled_XP

        premise_RP = pooled_XP[0::2]
        hypothesis_RP = pooled_XP[1::2]
        parts = [premise_RP, hypothesis_RP]
        if self.settings["combine"] == "compare":
            parts.append((premise_RP - hypothesis_RP).abs())
            parts.append(premise_RP * hypothesis_RP)

        return torch.cat(parts, dim=1)

    def _states(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None
    ) -> Tensor:
        """Encode sequences; returns states_BLD."""
        config = self.encoder.config
        options: dict[str, Tensor] = {}
        segment_types = getattr(config, "type_vocab_size", 1)
        if token_type_ids is not None and segment_types > 1:
            options["token_type_ids"] = token_type_ids

        is_longformer = hasattr(config, "attention_window")
        if is_longformer and self.settings["global_attention"] == "first":
            global_BL = torch.zeros_like(attention_mask)
            global_BL[:, 0] = 1
            options["global_attention_mask"] = global_BL

        encoder = self.encoder
        if config.is_encoder_decoder:
            encoder = encoder.get_encoder()

        output = encoder(input_ids=input_ids, attention_mask=attention_mask, **options)
        states_BLD: Tensor = output.last_hidden_state
        return states_BLD

    def classify(self, pooled_XP: Tensor, spans: Any) -> Tensor:
        """Map pooled vectors, with the distance of the events if heron used it, to logits_XC.

        Args:
            pooled_XP: of `pool`.
            spans: as in `forward`; not read without a distance.
        """
        if self.distance is not None:
            distance_R = spans[:, 2] - spans[:, 0]
            borders = torch.tensor(DISTANCES, device=spans.device)
            bucket_R = torch.bucketize(distance_R.abs(), borders, right=True)

            # Distances have buckets of their own if the second event comes first.
            buckets = len(DISTANCES) + 1
            bucket_R = bucket_R + buckets * (distance_R < 0)
            distance_RP = self.distance(bucket_R)
            pooled_XP = torch.cat([pooled_XP, distance_RP], dim=1)

        logits_XC: Tensor = self.classifier(pooled_XP)
        return logits_XC

    def encode(self, text: Text) -> list[Encoded]:
        """Tokenize one text or pair into sequences, each with its tokens and event positions.

        Args:
            text: as in training, with markers around events.

        Returns:
            One sequence, or several with `overflow=windows`; with `input=separate`, those of the
            premise and then those of the hypothesis.
        """
        parts = [text] if isinstance(text, str) else text
        texts = [self.clean(part) for part in parts]
        form = self.settings["input"]
        case = self.settings["case"]

        if case == "lower":
            texts = [part.lower() for part in texts]

        if form in ("marked", "window"):
            return [self._encode_events(texts[0])]

        if case == "capitalize" and len(texts) == 2:
            texts[1] = texts[1].capitalize()

        if form == "separate":
            return self._encode(texts[:1]) + self._encode(texts[1:])

        if form == "hypothesis":
            return self._encode(texts[-1:])

        if form != "pair":
            return self._encode(texts[:1])

        separator = self.settings["separator"]
        if separator is None:
            return self._encode(texts)

        premise, hypothesis = texts
        joined = f"{premise}{separator}{hypothesis}"
        if self.settings["trailing_separator"]:
            joined += separator
        return self._encode([joined])

    def _encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Tokenize a text, or a pair as one sequence; with `overflow=windows`, into several."""
        settings = self.settings
        options = {"max_length": settings["max_length"], "truncation": settings["truncation"]}
        if len(texts) == 1:
            options["truncation"] = "longest_first"

        if settings["overflow"] == "windows":
            options["return_overflowing_tokens"] = True
            options["stride"] = settings["stride"]

        batches = [[text] for text in texts]  # a batch of one row for each text
        encoded = self.tokenizer(*batches, **options)
        return [_sequence(encoding) for encoding in encoded.encodings]

    def _encode_events(self, text: str) -> Encoded:
        """Tokenize a text with two marked events into one sequence.

        Raises:
            ValueError: the markers of an event are not there, or the event is cut.
        """
        settings = self.settings
        plain, events = _parse(text, settings["markers"])
        needed = max(end for _, end in events)  # characters that must not be cut

        openings: list[int] = []
        written_markers = settings["written_markers"]
        if written_markers:
            plain, events, openings, needed = _mark(plain, events, written_markers)

        encoded = self.tokenizer(
            [plain],
            return_offsets_mapping=True,
            truncation=True,
            max_length=settings["max_length"],
        )
        encoding = encoded.encodings[0]
        event_tokens = [_tokens_of(encoding, start, end) for start, end in events]
        opening_tokens = [_tokens_of(encoding, start, start + 1) for start in openings]

        reached = max(end for _, end in encoding.offsets)
        is_cut = encoding.overflowing and reached < needed
        if is_cut or not all(event_tokens + opening_tokens):
            raise ValueError(f"an event is not among the first {len(encoding.ids)} tokens: {text}")

        sequence = _sequence(encoding)
        sequence["spans"] = []
        for tokens in event_tokens:
            sequence["spans"] += [tokens[0], tokens[-1]]

        # Without markers in the text, the events' own first tokens.
        sequence["markers"] = [tokens[0] for tokens in opening_tokens or event_tokens]
        return sequence

    def batch(self, sequences: Sequence[Encoded]) -> dict[str, Tensor]:
        """Pad sequences of `encode` to the arguments of `forward`.

        Args:
            sequences: B sequences, as `encode` returns them.
        """

        def padded(name: str, fill: int) -> Tensor:
            rows = [torch.tensor(sequence[name]) for sequence in sequences]
            return pad_sequence(rows, batch_first=True, padding_value=fill)

        return {
            "input_ids": padded("ids", self.tokenizer.pad_token_id),
            "attention_mask": padded("mask", 0),
            "token_type_ids": padded("types", 0),
            "spans": torch.tensor([sequence["spans"] for sequence in sequences]),
            "markers": torch.tensor([sequence["markers"] for sequence in sequences]),
        }

    def clean(self, text: str) -> str:
        """Unify Unicode variants as in training; a second call changes nothing."""
        table = str.maketrans(self.settings["characters"])

        # Replaced characters may form new composed letters, hence several rounds.
        before = ""
        while text != before:
            before = text
            if self.settings["nfc"]:
                text = unicodedata.normalize("NFC", text)
            text = text.translate(table)

        return text.strip()


class HeronPipeline(TextClassificationPipeline):
    """Classify texts, or pairs as `{"text": ..., "text_pair": ...}`, as `HeronModel.predict`."""

    def check_model_type(self, supported_models: Any) -> None:
        """Accept HeronModel, which transformers does not list."""

    def preprocess(self, inputs: Any, **unused: Any) -> dict[str, Any]:
        """Wrap one text or a pair for `HeronModel.read`."""
        if isinstance(inputs, dict):
            pair = inputs.get("text_pair")
            inputs = inputs["text"]
            if pair is not None:
                inputs = (inputs, pair)
        return {"texts": [inputs]}

    def _forward(self, model_inputs: Any) -> Any:
        return SequenceClassifierOutput(logits=self.model.read(model_inputs["texts"]))


def _sequence(encoding: Any) -> Encoded:
    """Make a sequence without events of a fast tokenizer's encoding."""
    length = len(encoding.ids)

    # Tokens from the second text on have type 1, its special tokens included.
    first = encoding.type_ids.index(1) if 1 in encoding.type_ids else length
    return {
        "ids": list(encoding.ids),
        "mask": [1] * length,
        "types": [0] * first + [1] * (length - first),
        "spans": [0, 0, 0, 0],
        "markers": [0, 0],
    }


def _tokens_of(encoding: Any, start: int, end: int) -> list[int]:
    """List the positions of the tokens that have characters of a span."""
    tokens = []
    for token, (token_start, token_end) in enumerate(encoding.offsets):
        if max(start, token_start) < min(end, token_end):
            tokens.append(token)

    return tokens


def _largest(states_BLD: Tensor, span_R2: Tensor) -> Tensor:
    """Take the maximum over the tokens of a span, both ends included."""
    first_R1 = span_R2[:, :1]
    last_R1 = span_R2[:, 1:]
    positions_L = torch.arange(states_BLD.shape[1], device=states_BLD.device)
    outside_RL = (positions_L < first_R1) | (positions_L > last_R1)

    lowest = torch.finfo(states_BLD.dtype).min
    masked_BLD = states_BLD.masked_fill(outside_RL[..., None], lowest)
    return masked_BLD.amax(dim=1)


def _mark(
    plain: str, events: Sequence[Span], markers: Sequence[str]
) -> tuple[str, list[Span], list[int], int]:
    """Put markers and spaces around two events.

    Args:
        plain: the text without markers.
        events: the spans of the first and second event.
        markers: opening and closing marker of the first event, and of the second.

    Returns:
        The text, the events' spans, the positions of the opening markers, and the end of the last
        closing marker.
    """
    text = ""
    copied = 0  # characters of `plain` that are in `text`
    spans = [(0, 0), (0, 0)]
    openings = [0, 0]

    in_text_order = sorted((0, 1), key=lambda number: events[number])
    for number in in_text_order:
        start, end = events[number]
        opening, closing = markers[2 * number : 2 * number + 2]

        text += plain[copied:start]
        openings[number] = len(text)
        text += f"{opening} "

        event_start = len(text)
        text += plain[start:end]
        spans[number] = event_start, len(text)
        text += f" {closing}"
        copied = end

    return text + plain[copied:], spans, openings, len(text)


def _parse(text: str, markers: Sequence[str]) -> tuple[str, list[Span]]:
    """Remove the markers, each with the space inside it.

    Args:
        text: with both events marked.
        markers: opening and closing marker of the first event, and of the second.

    Returns:
        The text, and the spans of both events in it.

    Raises:
        ValueError: a marker is missing or occurs twice, or an event is empty.
    """
    longest_first = sorted(markers, key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first))

    # Texts and markers alternate, from a text (that may be empty) to a text.
    pieces = re.split(f"({pattern})", text)
    texts = pieces[::2]
    written = pieces[1::2]
    if sorted(written) != sorted(markers):
        listed = " ".join(markers)
        raise ValueError(f"mark two events by {listed}, each marker once: {text}")

    openings = markers[::2]
    closings = markers[1::2]
    for number, marker in enumerate(written):  # between texts[number] and texts[number + 1]
        if marker in openings:
            texts[number + 1] = texts[number + 1].removeprefix(" ")
        else:
            texts[number] = texts[number].removesuffix(" ")

    plain, *following = texts
    positions: dict[str, int] = {}  # of each marker in the text without markers
    for marker, piece in zip(written, following, strict=True):
        positions[marker] = len(plain)
        plain += piece

    indent = len(plain) - len(plain.lstrip())
    events = []
    for opening, closing in zip(openings, closings, strict=True):
        event = plain[positions[opening] : positions[closing]]
        length = len(event.strip())
        if not length:
            raise ValueError(f"an event is empty: {text}")

        start = positions[closing] - len(event.lstrip()) - indent
        events.append((start, start + length))

    return plain.strip(), events
