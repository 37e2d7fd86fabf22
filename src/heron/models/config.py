"""Keys of the encoder, the head and the optimizer, and registries of what they name."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge, Gt, Len

from heron.config.constraints import (
    ConstrainedConfig,
    Count,
    Fraction,
    Matches,
    Natural,
    OfTask,
    OneOf,
    Positive,
    Share,
)
from heron.data import CLASSIFIERS_OF_TASKS, FORMS
from heron.models import CLASSIFIERS, HEADS, LEARNT, LOSSES, POOLINGS

Rate = Annotated[float, Gt(0)]  # to train the head alone, set encoder.freeze=all
Freeze = Annotated[
    str, Matches(r"none|embeddings|all|\d+", "none, embeddings, all or a layer count")
]


@dataclass
class ScratchConfig(ConstrainedConfig):
    """Shape of an encoder with random weights; its tokenizer is trained on the train split."""

    vocabulary: Count = 4000  # most word pieces
    hidden: Count = 128  # width D
    layers: Count = 2  # number of layers
    heads: Count = 4  # attention heads
    intermediate: Count = 256  # width of the feed-forward layers

    def problems(self) -> Iterator[str]:
        """Check that the width is a multiple of the number of attention heads."""
        if self.hidden % self.heads:
            yield (
                f"encoder.scratch.hidden={self.hidden}: must be a multiple of "
                f"encoder.scratch.heads={self.heads}"
            )


@dataclass
class EncoderConfig(ConstrainedConfig):
    """A Hugging Face encoder, by hub id or folder, or one with random weights (`scratch`)."""

    name: str = "scratch"  # hub id or folder; `scratch` builds one
    revision: str | None = None  # branch, tag or commit on the hub
    max_length: Annotated[int, Ge(8)] = 512  # longest sequence, in tokens, special tokens included
    # which text of a pair is cut: `only_first` (the premise), `only_second`, or `longest_first`
    # (token by token, the longer one), as all do where the other text is too long itself
    truncation: Annotated[str, OneOf("only_first", "only_second", "longest_first")] = "only_first"
    # tokens beyond `max_length`: `truncate` drops and counts them; `windows` reads the text in
    # overlapping windows, each with the whole other text
    overflow: Annotated[str, OneOf("truncate", "windows")] = "truncate"
    stride: Natural = 64  # tokens that neighbouring windows share
    # text between premise and hypothesis in place of the tokenizer's pair template; null: the
    # template
    separator: str | None = None
    trailing_separator: bool = False  # write `separator` after the hypothesis, too
    # of Longformer: `first`, the first token attends to all tokens and they to it, or `none`
    global_attention: Annotated[str, OneOf("first", "none")] = "first"
    num_layers: Count | None = None  # use the first k layers; null: all
    # `none`, `embeddings`, `all`, or a number k: embeddings and the first k layers
    freeze: Freeze = "none"
    # probability for hidden states and attention; null: the encoder's own
    dropout: Fraction | None = None
    attention: str = "sdpa"  # `eager`, `sdpa`, or another implementation in transformers
    # what computes the encoder: `auto` (on a CPU faster dropout masks and attention, which replaces
    # `attention` there: the same functions with other random numbers, see `models/dropout.py`),
    # `torch` (always torch's own), or `compiled` (by torch.compile, once for all lengths)
    kernels: Annotated[str, OneOf("auto", "torch", "compiled")] = "auto"
    # recompute activations in the backward pass to save memory
    gradient_checkpointing: bool = False
    # with `freeze=all`, compute the pooled vectors once; false: in every epoch, with the same
    # scores
    cache: bool = True
    trust_remote_code: bool = False  # run code that comes with the weights; read it first
    scratch: ScratchConfig = field(default_factory=ScratchConfig)

    def problems(self) -> Iterator[str]:
        """Check the settings of windows and separators."""
        if self.trailing_separator and self.separator is None:
            yield "encoder.trailing_separator=true needs encoder.separator, for example ' [SEP] '"
        if self.overflow != "windows":
            return
        if self.separator is not None:  # no window over one joined text has the whole hypothesis
            yield "encoder.overflow=windows needs encoder.separator=null"
        if self.truncation == "longest_first":
            yield "encoder.overflow=windows needs encoder.truncation=only_first or only_second"
        if self.stride > self.max_length // 2:
            yield (
                f"encoder.stride={self.stride}: must be at most half of encoder.max_length="
                f"{self.max_length}, or windows hardly move"
            )


@dataclass
class HeadConfig(ConstrainedConfig):
    """A pooling and a classifier, and the input form that the pooling reads."""

    name: str = "ess"  # name in tables
    # of events `marked` (one event pair per sequence, mentions between marker tokens) or `window`
    # (each text once, unmarked, with all its event pairs); of two texts `pair` (both in one
    # sequence), `separate` (a sequence each), `premise` or `hypothesis` (only that one); `text`
    # (one text to classify); `question` (question and context); `article` (text to summarize);
    # `masked` (raw text)
    input: Annotated[str, OfTask(FORMS)] = "marked"
    # `cls`, `last_token`, `mean`; of events `event_start`, `mention_pool`, `span_ends`; of answers,
    # summaries and masked tokens `tokens` (no pooling)
    pooling: Annotated[str, OneOf("tokens", registry=POOLINGS)] = "event_start"
    # how `separate` combines its vectors u and v: `concat` (u, v) or `compare` (u, v, |u - v|, u *
    # v)
    combine: Annotated[str, OneOf("concat", "compare")] = "concat"
    # how the windows of a premise are combined: `mean_logits`, `max_logits`, or `mean_states` (of
    # the pooled vectors, before the classifier)
    over_windows: Annotated[str, OneOf("mean_logits", "max_logits", "mean_states")] = "mean_logits"
    # `linear`, `mlp`, or `per_event` (as the TRC repository: a layer per event, then one for both;
    # with `cls`, BERT's pooler); of answers `span` (start and end scores) or `biaffine` (also a
    # score for each pair of start and end); of summaries `seq2seq` (the decoder of `encoder.name`)
    # or `warm_start` (a decoder that starts from the encoder's weights and attends to its states);
    # of masked tokens `mlm`
    classifier: Annotated[str, OfTask(CLASSIFIERS, CLASSIFIERS_OF_TASKS)] = "linear"
    # widths of the hidden layers of `mlp`; of `biaffine` its one width
    hidden: list[Count] = field(default_factory=list)
    dropout: Fraction = 0.1  # probability, at the places of `dropout_at`
    # of `mlp`: `all` (before the classifier and after each hidden layer), `hidden` (after each
    # hidden layer), `first` or `first_two` (after these hidden layers only)
    dropout_at: Annotated[str, OneOf("all", "hidden", "first", "first_two")] = "all"
    # normalise after the activation of `none`, the `first` or `all` hidden layers
    layer_norm: Annotated[str, OneOf("none", "first", "all")] = "none"
    distance: Natural = 0  # width of the embedding of the distance between two events; 0: none
    # read each pair in both directions: in training both must give the label (inverted by
    # `data.inverse`), in evaluation their mean decides. Needs `input=window`.
    both_ways: bool = False
    # of `marked`: what is written around the events, four strings (start and end of event 1, of
    # event 2; equal ones are fine), `[]`: nothing; null: the markers of the data set. Without,
    # `event_start` reads an event's first word piece, and `cls` cannot tell a text's pairs apart.
    markers: list[str] | None = None
    # of `warm_start`: layers of the decoder; null: as many as the encoder
    decoder_layers: Count | None = None
    # `model/` folder of a run whose head to start from; null: random weights
    start: str | None = None
    # a whole head that a fork has registered; null: pooling and classifier
    module: Annotated[str, OneOf(registry=HEADS)] | None = None

    def problems(self) -> Iterator[str]:
        """Check that the classifier has its layers."""
        if self.classifier == "mlp" and not self.hidden:
            yield "head.classifier=mlp needs head.hidden, for example head.hidden=[256]"
        if self.markers and (len(self.markers) != 4 or not all(map(str.strip, self.markers))):
            yield (
                f"head.markers={self.markers}: name four strings (start and end of event 1, start "
                "and end of event 2), [] for none, or null for those of the data set"
            )


@dataclass
class SoftConfig:
    """Targets of train rows beside their label, or their first answer."""

    # columns with other people's labels (of `data.columns.side` or `data.join.take`)
    columns: list[str] = field(default_factory=list)
    # predictions of train rows by a teacher that has not seen them: files with a column `p/<class>`
    # per class, or runs or sweeps (`folds=`), of which predictions on validation are read
    predictions: list[str] = field(default_factory=list)
    weight: Share = 0.5  # weight of the soft target; the label has the rest
    answers: bool = False  # of `qa`: all gold answers of a window are its target, with equal weight


@dataclass
class SuspectsConfig:
    """Train rows whose labels look wrong in the dynamics of earlier runs (`heron noise`)."""

    # runs with all train rows, or sweeps (of runs with this data and fold); scores are averaged
    dynamics: list[str] = field(default_factory=list)
    score: Annotated[str, OneOf(*LEARNT)] = "confidence"  # see `heron noise`
    share: Share = 0.1  # of the rows are suspects: those with the highest scores
    weight: Fraction = 0.0  # of a suspect in the loss; other rows have 1


@dataclass
class OptimConfig(ConstrainedConfig):
    """The optimizer and its schedule."""

    # `adamw`, or `adafactor`, which needs less memory (two vectors per matrix instead of two
    # matrices) and scales steps by the size of the weights; it has no `betas` and `eps`
    name: Annotated[str, OneOf("adamw", "adafactor")] = "adamw"
    lr: Rate = 5e-5  # peak learning rate of the encoder
    head_lr: Rate | None = None  # peak learning rate of the head, or of the decoder; null: `lr`
    # factor on the learning rate for each layer further from the head
    layer_decay: Annotated[float, Ge(0)] = 1.0
    weight_decay: Annotated[float, Ge(0)] = 0.01  # of matrices; biases and normalisation have none
    # of `adamw`: decay of the running means of the gradient and of its square
    betas: Annotated[list[Fraction], Len(2, 2)] = field(default_factory=lambda: [0.9, 0.999])
    eps: Positive = 1e-8  # of `adamw`: added to the root of the mean square, against division by 0
    # `constant`, `linear`, `cosine` (both decay to 0)
    schedule: Annotated[str, OneOf("constant", "linear", "cosine")] = "linear"
    # fraction of all optimizer steps in which the learning rate rises to its peak
    warmup: Fraction = 0.1
    warmup_steps: Natural | None = None  # the same in optimizer steps; null: `warmup` decides
    # share of the target spread over all classes, or over all tokens
    label_smoothing: Fraction = 0.0
    # `none`, `balanced` (N / (C n_c)), `one_minus_share` (1 - n_c / N)
    class_weights: Annotated[str, OneOf("none", "balanced", "one_minus_share")] = "none"
    # of tasks with classes: `cross_entropy`, or one that a fork has registered
    loss: Annotated[str, OneOf(registry=LOSSES)] = "cross_entropy"
    soft: SoftConfig = field(default_factory=SoftConfig)
    suspects: SuspectsConfig = field(default_factory=SuspectsConfig)

    def target_options(self) -> list[str]:
        """List the options in use that change the targets of train rows."""
        soft = ["optim.soft"] if self.soft.columns or self.soft.predictions else []
        return [*soft, "optim.suspects"] if self.suspects.dynamics else soft

    def problems(self) -> Iterator[str]:
        """Check the loss of smoothed and soft targets, and that suspects come from runs."""
        smoothing = ["optim.label_smoothing"] if self.label_smoothing else []
        for key in (*smoothing, *self.target_options()):
            if self.loss != "cross_entropy":
                yield f"{key} needs optim.loss=cross_entropy, not {self.loss}"
        if not self.suspects.dynamics and self.suspects != SuspectsConfig():
            yield "optim.suspects.* needs optim.suspects.dynamics=[RUNS]"
        if self.soft.weight != SoftConfig.weight and "optim.soft" not in self.target_options():
            yield "optim.soft.weight needs optim.soft.columns or optim.soft.predictions=[RUNS]"
