"""The schema of the configuration: every key that the code reads, with its type and its unit.

YAML in `conf/` holds the values. A field's type says which values are allowed, and the method
`problems()` of a class which of them cannot work together; `heron.config.parsing` reads both.
`heron options` prints the comments on the fields.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Annotated, Any

from annotated_types import Ge, Gt, Interval, Len

from heron.base.errors import nearest
from heron.config.constraints import (
    Checked,
    Count,
    Fraction,
    Matches,
    Natural,
    OneOf,
    Part,
    Positive,
    Seed,
    Share,
    TrainerFlags,
)
from heron.config.curriculum import CurriculumConfig
from heron.config.data import DataConfig
from heron.config.registries import BASELINES, CLASSIFIERS, LEARNT, POOLINGS, TASKS

OPEN = ("auto", "fastest")  # values of `trainer.precision` that leave it to the machine
BUDGET = 3072  # padded tokens a batch where `batching.tokens` is null
Rate = Annotated[float, Gt(0)]  # to train the head alone, set encoder.freeze=all
Freeze = Annotated[
    str, Matches(r"none|embeddings|all|\d+", "none, embeddings, all or a layer count")
]


@dataclass
class PathsConfig:
    """Folders; none of them influences a result."""

    data: str = "data"  # data sets (`<data>/trc/...`); the default is `HERON_DATA`
    cache: str = "cache"  # downloads, generated corpora, tokenized features
    runs: str = "runs"  # run folders


@dataclass
class GenerationConfig(Checked):
    """How a summary is generated."""

    num_beams: Count = 4  # beams of the search; 1 is greedy search
    # a beam's log probability is divided by its length to this power; above 0 favours long
    # summaries. No effect with one beam.
    length_penalty: float = 1.0
    # n-grams of this many tokens occur once in a summary; 0: no limit
    no_repeat_ngram_size: Natural = 3
    min_new_tokens: Natural = 0  # shortest summary, in tokens
    max_new_tokens: Count = 128  # longest summary, in tokens

    def problems(self) -> Iterator[str]:
        """Check that a summary may be as long as it must be."""
        if self.min_new_tokens > self.max_new_tokens:
            yield (
                f"task.generation.min_new_tokens={self.min_new_tokens}: must be at most "
                f"task.generation.max_new_tokens={self.max_new_tokens}"
            )


@dataclass
class BertScoreConfig(Checked):
    """Whether and how summaries are scored by BERTScore (`heron.metrics.bertscore`)."""

    model: str | None = None  # encoder, hub id or folder; null: no BERTScore
    # layer of the encoder, from 1. There is no default: scores of different layers cannot be
    # compared, and papers seldom name theirs.
    layer: Count | None = None
    idf: bool = False  # weight tokens by inverse document frequency in the references
    # texts that are longer than the encoder can read, counted in any case: `skip` leaves their
    # pairs out, as HeSum does; `cut` reads the beginning, as the bert-score package does; `windows`
    # reads everything, in overlapping windows
    long: Annotated[str, OneOf("skip", "cut", "windows")] = "skip"
    # `32-true`, or `bf16-mixed`, which changes scores by about 0.0002
    precision: Annotated[str, OneOf("32-true", "bf16-mixed")] = "32-true"
    # a file in bert-score's format (LAYER,P,R,F), to add rescaled scores; null: none
    baseline: str | None = None

    def problems(self) -> Iterator[str]:
        """Scores of different layers cannot be compared, and there is no common choice."""
        unset = BertScoreConfig(long=self.long, precision=self.precision)
        if self.model is None and self != unset:
            yield "task.bertscore.* needs task.bertscore.model=NAME (bertscore=NAME)"
        if self.model is not None and self.layer is None:
            yield (
                f"scores of different layers of {self.model} cannot be compared: name one, such as "
                "task.bertscore.layer=9 (bertscore_layer=9), a fair choice for 12 layers; "
                "bert-score has 9 for multilingual BERT and XLM-R base, 17 (of 24) for XLM-R large"
            )


@dataclass
class TaskConfig:
    """What is learned and how it is scored."""

    # `relation`, `nli` (sentence pairs), `qa` (answers are spans of the text), `summarization`,
    # `classification` (single texts) or `mlm` (masked tokens of raw text)
    name: Annotated[str, OneOf(registry="heron.config.registries:TASKS")] = "relation"
    # the mode behind `relaxed_macro_f1`: `recode` or `drop`. Every mode also has scores under its
    # own name, such as `relaxed_matres_micro_f1`.
    relaxed: Annotated[str, OneOf("recode", "drop")] = "recode"
    bootstrap: Natural = 1000  # bootstrap resamples for the 95 % intervals; 0: no intervals
    # unit of a resample: `group` (documents; texts where there are none) or `row`. Pairs of one
    # document are not independent, so `row` gives intervals that are too narrow.
    resample: Annotated[str, OneOf("group", "row")] = "group"
    # of `relation`, once the epoch is chosen: null takes each pair's most probable class;
    # `transitive` the most probable classes of a window's pairs that do not contradict each other
    decoding: Annotated[str | None, OneOf("transitive")] = None
    max_answer_tokens: Count = 30  # of `qa`: longest answer, in tokens
    n_best: Count = 20  # of `qa`: spans kept for each window and each question
    # of `summarization`: reference summaries are cut to this many tokens in training
    max_target_tokens: Annotated[int, Ge(2)] = 128
    # of `summarization`: rows that are summarized after each epoch to choose the best one, always
    # the same; null: all. The end of the run takes all.
    validation_samples: Count | None = None
    # of `summarization`: how summaries are generated
    generation: GenerationConfig = field(default_factory=GenerationConfig)
    # of `summarization`: computed at the end of a run
    bertscore: BertScoreConfig = field(default_factory=BertScoreConfig)
    mask_share: Share = 0.15  # of `mlm`: share of a sequence's tokens to predict
    whole_words: bool = False  # of `mlm`: choose words, each with all its tokens
    # further scores, registered by forks; computed at the end of a run
    metrics: list[Annotated[str, OneOf(registry="heron.config.registries:METRICS")]] = field(
        default_factory=list
    )


@dataclass
class ScratchConfig(Checked):
    """Shape of an encoder with random weights; its tokenizer is trained on the train split."""

    vocabulary: Count = 4000  # most word pieces
    hidden: Count = 128  # width D
    layers: Count = 2  # number of layers
    heads: Count = 4  # attention heads
    intermediate: Count = 256  # width of the feed-forward layers
    positions: Count = 256  # longest sequence, in tokens

    def problems(self) -> Iterator[str]:
        """Check that the heads share the width evenly."""
        if self.hidden % self.heads:
            yield (
                f"encoder.scratch.hidden={self.hidden}: must be a multiple of "
                f"encoder.scratch.heads={self.heads}"
            )


@dataclass
class EncoderConfig(Checked):
    """A Hugging Face encoder, by hub id or folder, or one with random weights (`scratch`)."""

    name: str = "scratch"  # hub id or folder; `scratch` builds one
    revision: str | None = None  # branch, tag or commit on the hub
    max_length: Annotated[int, Ge(8)] = 512  # longest sequence, in tokens, special tokens included
    # which text of a pair is cut: `only_first` (the premise), `only_second`, or `longest_first`
    # (token by token, the longer one)
    truncation: Annotated[str, OneOf("only_first", "only_second", "longest_first")] = "only_first"
    # tokens beyond `max_length`: `truncate` drops and counts them; `windows` reads the text in
    # overlapping windows, each with the whole other text
    overflow: Annotated[str, OneOf("truncate", "windows")] = "truncate"
    stride: Natural = 64  # tokens that neighbouring windows share
    # text between premise and hypothesis in place of the tokenizer's pair template; null: the
    # template
    separator: str | None = None
    trailing_separator: bool = False  # write `separator` after the hypothesis, too
    num_layers: Count | None = None  # use the first k layers; null: all
    # `none`, `embeddings`, `all`, or a number k: embeddings and the first k layers
    freeze: Freeze = "none"
    # probability for hidden states and attention; null: the encoder's own
    dropout: Fraction | None = None
    attention: str = "sdpa"  # `eager`, `sdpa`, or another implementation in transformers
    # on a CPU, use faster dropout masks and attention (`models/dropout.py`): the same functions
    # with other random numbers. Replaces `attention` there.
    fast_dropout: bool = True
    # recompute activations in the backward pass to save memory
    gradient_checkpointing: bool = False
    # with `freeze=all`, compute the pooled vectors once; false: in every epoch, with the same
    # scores
    cache: bool = True
    trust_remote_code: bool = False  # run code that comes with the weights; read it first
    scratch: ScratchConfig = field(default_factory=ScratchConfig)

    def problems(self) -> Iterator[str]:
        """List what windows and separators cannot do."""
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


# Of heron's tasks: known without a look at forks.
_FORMS = (
    *("marked", "window", "pair", "separate", "premise", "hypothesis"),
    *("question", "article", "text", "masked"),
)
_OF_TASKS = ("span", "biaffine", "seq2seq", "warm_start", "mlm")  # see `TaskRules.classifiers`
# See `TaskRules.keys`.
_KEYS_OF_TASKS = ("head.distance", "task.bertscore.model", "task.decoding", "optim.soft.answers")


@dataclass
class HeadConfig(Checked):
    """A pooling times a classifier, and the input form that the pooling reads."""

    name: str = "ess"  # name in tables
    # of events `marked` (one event pair per sequence, mentions between marker tokens) or `window`
    # (each text once, unmarked, with all its event pairs); of two texts `pair` (both in one
    # sequence), `separate` (a sequence each), `premise` or `hypothesis` (only that one); `text`
    # (one text to classify); `question` (question and context); `article` (text to summarize);
    # `masked` (raw text)
    input: Annotated[str, OneOf(*_FORMS, registry="heron.config.registries:FORMS")] = "marked"
    # `cls`, `last_token`, `mean`; of events `event_start`, `mention_pool`, `span_ends`; of answers,
    # summaries and masked tokens `tokens` (no pooling)
    pooling: Annotated[str, OneOf("tokens", registry="heron.config.registries:POOLINGS")] = (
        "event_start"
    )
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
    classifier: Annotated[
        str, OneOf(*_OF_TASKS, registry="heron.config.registries:CLASSIFIERS")
    ] = "linear"
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
    # of `warm_start`: layers of the decoder; null: as many as the encoder
    decoder_layers: Count | None = None
    # `model/` folder of a run whose head to start from; null: random weights
    start: str | None = None
    # a whole head that a fork has registered; null: pooling and classifier
    module: Annotated[str, OneOf(registry="heron.config.registries:HEADS")] | None = None

    def problems(self) -> Iterator[str]:
        """Check that the classifier has its layers."""
        if self.classifier == "mlp" and not self.hidden:
            yield "head.classifier=mlp needs head.hidden, for example head.hidden=[256]"


@dataclass
class BaselineConfig:
    """A system without a trained encoder, in place of encoder and head."""

    # `none`; `majority`; `cbow_svm` and `cbow_softmax` (mean word vectors, then a support vector
    # machine or multinomial logistic regression); `zero_shot` (a finished NLI model). Of
    # `summarization`, sentences of the article: `lead` (the first ones), `textrank` (those most
    # similar to all others), `oracle` (chosen greedily by the reference: a ceiling, not a system).
    name: Annotated[str, OneOf("none", registry="heron.config.registries:BASELINES")] = "none"
    sentences: Count = 3  # most sentences of `lead`, `textrank` and `oracle`
    # what is read: `pair`, only the `premise`, or only the `hypothesis`
    input: Annotated[str, OneOf("pair", "premise", "hypothesis")] = "pair"
    # word vectors: `train` (fastText on the train split's own texts), or a file: .bin in fastText's
    # format, .vec or .vec.gz
    vectors: str = "train"
    # tokenization: `words` (`heron.languages.words`, case kept), `folded` (those in lower case) or
    # `whitespace`, as RoNLI's repository has it
    words: Annotated[str, OneOf("words", "folded", "whitespace")] = "words"
    # dim, epochs, min_count, buckets: of `vectors=train`: width of the vectors, passes over the
    # texts, fewest occurrences of a word, rows for character n-grams
    dim: Count = 300
    epochs: Count = 10
    min_count: Count = 2
    buckets: Count = 100_000
    # scaling of the features, fitted on the train split: `none`, `standard` (mean 0, variance 1) or
    # `minmax` (0 to 1)
    scale: Annotated[str, OneOf("none", "standard", "minmax")] = "none"
    C: Positive = 1.0  # inverse strength of the l2 penalty
    kernel: Annotated[str, OneOf("linear", "rbf")] = "linear"  # `linear` or `rbf`, for `cbow_svm`
    max_iter: Count = 1000  # most iterations of the optimizer
    tol: Positive = 1e-3  # tolerance at which it stops
    # `none` or `balanced` (N / (C n_c))
    class_weight: Annotated[str, OneOf("none", "balanced")] = "none"
    # model, revision: of `zero_shot`, a Hugging Face model for sequence pairs with an entailment
    # class, by hub id or folder
    model: str = "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
    revision: str | None = None
    # `definitions` asks for each class whether the pair entails its sentence in `hypotheses`;
    # `direct` takes the model's own classes, for data with the same classes
    zero_shot: Annotated[str, OneOf("definitions", "direct")] = "definitions"
    hypotheses: dict[str, str] = field(default_factory=dict)  # a sentence per class
    # how a pair becomes the one text that may entail the sentence
    template: str = "{premise} {hypothesis}"
    # what is compared between classes: the `probability` of entailment among the model's classes,
    # or its `logit`, as transformers' pipeline does
    entailment: Annotated[str, OneOf("probability", "logit")] = "probability"
    # `repo` orders the scores as RoNLI's repository does, which is a mistake: the prediction
    # becomes the rank of the first class. `none` does not.
    permutation: Annotated[str, OneOf("none", "repo")] = "none"
    # longest sequence of the `zero_shot` model, in tokens; the pair is cut
    max_length: Annotated[int, Ge(8)] = 512


@dataclass
class SoftConfig:
    """What train rows learn beside their label, or their first answer."""

    # columns with other people's labels (of `data.columns.side` or `data.join.take`)
    columns: list[str] = field(default_factory=list)
    # predictions of train rows by a teacher that has not seen them: files with a column
    # `p/<class>` each, runs, or sweeps (`folds=`), whose predictions on validation count
    predictions: list[str] = field(default_factory=list)
    weight: Share = 0.5  # share of a row's target; its label has the rest
    answers: bool = False  # of `qa`: all gold answers of a window are its target, each the same


@dataclass
class SuspectsConfig:
    """Train rows whose labels look wrong in the dynamics of earlier runs (`heron noise`)."""

    # runs with all train rows, or sweeps (of runs with this data and fold); scores are averaged
    dynamics: list[str] = field(default_factory=list)
    score: Annotated[str, OneOf(*LEARNT)] = "confidence"  # see `heron noise`
    share: Share = 0.1  # of the rows that are suspects, those of the highest score
    weight: Fraction = 0.0  # of a suspect in the loss; other rows have 1


@dataclass
class OptimConfig(Checked):
    """The optimizer and its schedule."""

    # `adamw`, or `adafactor`, which needs less memory (two vectors per matrix instead of two
    # matrices) and scales steps by the size of the weights; it has no `betas` and `eps`
    name: Annotated[str, OneOf("adamw", "adafactor")] = "adamw"
    lr: Rate = 3e-5  # peak learning rate of the encoder
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
    loss: Annotated[str, OneOf(registry="heron.config.registries:LOSSES")] = "cross_entropy"
    soft: SoftConfig = field(default_factory=SoftConfig)
    suspects: SuspectsConfig = field(default_factory=SuspectsConfig)

    def target_options(self) -> list[str]:
        """List the options in use that change what train rows teach."""
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


@dataclass
class BatchingConfig:
    """How sequences become batches."""

    # `shuffle` (batches of `size` sequences) or `bucket` (sequences of similar length, up to
    # `tokens` tokens with padding)
    plan: Annotated[str, OneOf("shuffle", "bucket")] = "shuffle"
    size: Count = 32  # sequences per batch under `shuffle`
    # padded tokens per batch under `bucket` and in evaluation. null: 3072, and in training fewer
    # where an epoch would have less than 20 batches (never less than the longest sequence);
    # `status.json` has the number, `data.batch_tokens`.
    tokens: Annotated[int, Ge(8)] | None = 4096
    workers: Natural = 0  # data loading processes
    # copies of rows of rare classes in each epoch: `none`, `balanced` (the largest class's count //
    # the class's own) or `multipliers`
    oversample: Annotated[str, OneOf("none", "balanced", "multipliers")] = "none"
    # copies per class under `multipliers`; 1 for a class that is not named
    multipliers: dict[str, Count] = field(default_factory=dict)


@dataclass
class TrainerConfig(Checked):
    """How long and on what a run trains, and what is kept."""

    max_epochs: Count = 3  # passes over the train split
    # optimizer steps, in place of `max_epochs`; the last epoch is cut short. null: `max_epochs`
    # decides.
    max_steps: Count | None = None
    # the validation score, without `task.decoding`, that chooses the best epoch (the highest), or
    # `loss` (the lowest)
    monitor: str = "macro_f1"
    # `best` epoch (by `monitor`, needs a validation split), `last`, or the `mean` of the weights
    # after each of the last `mean_of` epochs
    select: Annotated[str, OneOf("best", "last", "mean")] = "best"
    mean_of: Count = 3  # of `select=mean`: number of epochs
    # epochs without a better `monitor` before training stops; null: it never stops early
    patience: Count | None = None
    # device type; `auto` takes a GPU where there is one
    accelerator: Annotated[str, OneOf("auto", "cpu", "cuda", "gpu", "mps", "tpu")] = "auto"
    # processes on each machine, each with its own device (or share of the cores). Every batch is
    # divided between them, so a step computes the same with any number.
    devices: Count = 1
    num_nodes: Count = 1  # machines; above 1, start the run on each with `torchrun`
    # of several devices: `auto` and `ddp` (each has the whole model), `fsdp` (each has a part of
    # it; GPUs only), or `ddp_find_unused_parameters_true` (`ddp` for an encoder with weights that
    # no output depends on)
    strategy: Annotated[str, OneOf("auto", "ddp", "ddp_find_unused_parameters_true", "fsdp")] = (
        "auto"
    )
    # `bf16-mixed`, `32-true`, `16-mixed`, or by the machine: `auto` takes `bf16-mixed` on a GPU
    # (`16-mixed` on one without bf16) and on processors whose bf16 products are known to be faster
    # (AMX; AMD with avx512_bf16), else `32-true`; `fastest` measures. A run's config.yaml has what
    # was chosen, and the run keeps it.
    precision: Annotated[str, OneOf(*OPEN, "bf16-mixed", "32-true", "16-mixed")] = "auto"
    # longest work that a kill can lose; every epoch has a checkpoint, too
    checkpoint_minutes: float = 5.0
    checkpoint_steps: Count | None = None  # the same in optimizer steps; null: none
    # CPU threads of each process; null: as many as the cores it may use, and 1 for a small model
    threads: Annotated[int, Interval(ge=1, le=1024)] | None = None
    deterministic: bool = True  # bit-identical repeats on one machine
    # show a progress bar; null: when the output is a terminal
    enable_progress_bar: bool | None = None
    # batches per optimizer step, which has the gradient of one batch of all their rows
    accumulate_grad_batches: Count = 1
    # largest gradient norm, or value (`gradient_clip_algorithm=value`); 0: no clipping
    gradient_clip_val: Annotated[float, Ge(0)] | None = 1.0
    # any other argument of Lightning's Trainer, typed without `flags`: trainer.fast_dev_run=true,
    # trainer.limit_train_batches=0.1, trainer.val_check_interval=0.5, trainer.profiler=simple
    flags: Annotated[dict[str, Any], TrainerFlags()] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take `monitor` by the name that loggers show, too: `validation/macro_f1`."""
        self.monitor = self.monitor.removeprefix("validation/")

    def needs_validation(self) -> bool:
        """Tell whether scores on validation choose the epoch or end the training."""
        return self.select == "best" or self.patience is not None

    def problems(self) -> Iterator[str]:
        """List what several devices and the mean of epochs cannot do."""
        if self.patience is not None and self.flags.get("limit_val_batches") == 0:
            yield "trainer.patience needs validation, not trainer.limit_val_batches=0"
        several, fsdp = self.devices * self.num_nodes > 1, self.strategy == "fsdp"
        if several and self.accelerator in ("mps", "tpu"):
            yield (
                f"trainer.devices={self.devices}: several devices need trainer.accelerator=cpu or "
                f"cuda, not {self.accelerator}"
            )
        if fsdp and (not several or self.accelerator == "cpu"):
            yield "trainer.strategy=fsdp needs several GPUs: set trainer.devices to their number"
        if self.select == "mean" and (self.patience is not None or fsdp):
            yield (
                "trainer.select=mean knows its last epochs beforehand and keeps whole weights: set "
                "trainer.patience=null and another trainer.strategy than fsdp"
            )


@dataclass
class DynamicsConfig(Checked):
    """Per-example training dynamics."""

    enabled: bool = True  # write `dynamics/epoch=<n>.parquet`
    # `train` records the training passes, as published; `evaluation` makes another forward pass
    # over the train split, without dropout
    mode: Annotated[str, OneOf("train", "evaluation")] = "train"
    # epochs between records: 1, or a fraction of one (0.25: four records an epoch)
    every: float = 1.0

    def problems(self) -> Iterator[str]:
        """Check that records divide an epoch evenly."""
        if not 0 < self.every <= 1 or abs(1 / self.every - round(1 / self.every)) > 1e-6:
            yield f"dynamics.every={self.every}: must be 1, 0.5, 0.25 or another 1/n"


@dataclass
class RunConfig:
    """The run folder, and what happens when it exists."""

    # folder under `paths.runs`; null: named by the experiment or the data, and by overrides that
    # change data, task or length (`heron.config.run_names.sweep_name`)
    sweep: str | None = None
    job: str | None = None  # folder under the sweep; null: named by the overrides and a hash
    resume: bool = True  # continue from `last.ckpt` and skip finished runs; false: start over
    export: bool = True  # write `model/` in Hugging Face form
    # train every job in its own process; null: in sweeps only. A job on several devices always has
    # its own.
    isolate: bool | None = None
    # which ended jobs the same command trains again: `cut` (stopped, killed, out of memory, disk
    # full) or `failed` (all that failed)
    retry: Annotated[str, OneOf("cut", "failed")] = "cut"
    oversubscribe: bool = False  # allow more `trainer.devices` than processor cores
    # under `run.from=DIR`, make the classes that the run's config.yaml names, whosever they are
    trust: bool = False


@dataclass
class SweeperConfig:
    """The search that a run is a trial of; set by `hydra/sweeper=optuna`, whose keys these are."""

    # `grid`: no trial
    name: Annotated[str, OneOf("grid", "random", "optuna")] = "grid"
    trials: Count = 20  # number of points
    seed: Seed = 0  # of the draws
    # of the points: Optuna's name
    sampler: Annotated[str, OneOf("tpe", "gp", "random")] = "tpe"
    # what stops bad trials early
    pruner: Annotated[str, OneOf("none", "median", "hyperband")] = "none"
    startup_trials: Natural = 5  # random trials before `sampler` learns
    startup_epochs: Count = 1  # epochs that every trial gets
    study: str | None = None  # name of the study in the sweep's journal
    trial: int | None = None  # number of the trial


@dataclass
class Config(Checked):
    """Everything one run needs."""

    data: DataConfig  # data set to train on and to be scored on
    seed: Seed = 0  # of random weights, dropout and the order of examples
    # whose choices apply where a paper and its released code differ: `paper`, `repo`, or heron's
    # own, `fixed`
    protocol: Annotated[str, OneOf("fixed", "paper", "repo")] = "fixed"
    experiment: str | None = None  # the chosen experiment; set by `experiment=NAME`
    # run to train on, by its folder or checkpoint: weights, optimizer, epoch and random state go on
    # from there, up to `trainer.max_epochs`; null: train from the start
    ckpt_path: str | None = None
    report: str | None = None  # the paper's table to compare a sweep with, such as `trc/table4`
    # data sets to train on one after the other: names, or mappings as in
    # `heron.config.stages.StageConfig`; empty: train once, on `data`
    stages: list[Annotated[Any, Part("heron.config.stages:StageConfig", as_written=True)]] = field(
        default_factory=list
    )
    # further data sets with the same classes; their test splits (validation where there is none)
    # are predicted and scored as `<data set>.<split>`
    also_test: list[str] = field(default_factory=list)
    # data sets to use instead of those of that name in `conf/data`; within a stage, the run's own
    # `data` with all its overrides
    others: dict[str, DataConfig] = field(default_factory=dict)
    paths: PathsConfig = field(default_factory=PathsConfig)
    task: TaskConfig = field(default_factory=TaskConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    head: HeadConfig = field(default_factory=HeadConfig)
    baseline: BaselineConfig = field(default_factory=BaselineConfig)
    # of `baseline=prompted`
    prompting: Annotated[Any, Part("heron.config.prompting:PromptingConfig")] = None
    optim: OptimConfig = field(default_factory=OptimConfig)
    batching: BatchingConfig = field(default_factory=BatchingConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    dynamics: DynamicsConfig = field(default_factory=DynamicsConfig)
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)
    # loggers beside `metrics.csv`: `{name: {_target_: the class, option: value}}`
    logger: dict[str, Any] = field(default_factory=dict)
    # callbacks beside heron's own: `{name: {_target_: the class, option: value}}`
    callbacks: dict[str, Any] = field(default_factory=dict)
    run: RunConfig = field(default_factory=RunConfig)
    sweeper: SweeperConfig = field(default_factory=SweeperConfig)

    def problems(self) -> Iterator[str]:
        """List what cannot work together in a run."""
        task, data = self.task, self.data
        if data.task != task.name:
            yield f"task.name={task.name}: data={data.name} is for task={data.task}"
            return  # head and settings may be the other task's, too
        rules = TASKS[task.name]
        for key in _KEYS_OF_TASKS:
            if key.startswith("head.") and self.baseline.name != "none":
                continue  # no head is built
            if attrgetter(key)(self) and key not in rules.keys:
                fitting = [other for other in TASKS if key in TASKS[other].keys]
                yield f"{key} needs task={' or '.join(fitting)}"
        for key in () if rules.has_classes else self.optim.target_options():
            yield f"{key} needs a task with classes, not task={task.name}"
        for label in sorted(set(self.batching.multipliers) - set(data.label_order)):
            hint = nearest(label, data.label_order)
            yield f"batching.multipliers.{label}: no such class.{hint}"
        if self.ckpt_path and (self.stages or self.baseline.name != "none"):
            yield "ckpt_path trains one model on: there must be no stages and no baseline"
        if self.sweeper.name == "optuna":
            yield from _search_problems(self)
        if self.baseline.name != "none":
            yield from _baseline_problems(self)
        elif form := _form_problem(self):
            yield form
        else:
            yield from _head_problems(self)
            if self.curriculum.name != "none":
                yield from _curriculum_problems(self)
            yield from _selection_problems(self)
        yield from rules.problems(self)

    def is_validated(self) -> bool:
        """Tell whether the data have a validation split, of their own or carved."""
        data = self.data
        carved = data.validation.fraction or data.folds.count
        return bool(data.generator or data.hub or "validation" in data.files or carved)


def _form_problem(config: Config) -> str:
    """Check that the task reads the input form, and that the pooling does."""
    head, task = config.head, config.task.name
    forms = TASKS[task].forms
    if head.input not in forms:
        return (
            f"head.input={head.input}: task={task} reads {' or '.join(forms)}; head={head.name} is "
            "for another task"
        )
    of_tokens = ("question", "article", "masked")
    poolings = of_tokens if head.pooling == "tokens" else POOLINGS[head.pooling].inputs
    if (poolings and head.input not in poolings) or (not poolings and head.input == "window"):
        needed = " or ".join(poolings or [form for form in forms if form != "window"])
        why = ": a window holds many pairs" if head.input == "window" else ""
        return f"head.pooling={head.pooling} needs head.input={needed}, not {head.input}{why}"
    return ""


def _head_problems(config: Config) -> Iterator[str]:
    head, encoder, task = config.head, config.encoder, config.task.name
    if head.classifier not in TASKS[task].classifiers and head.classifier not in CLASSIFIERS:
        fitting = [other for other in TASKS if head.classifier in TASKS[other].classifiers]
        if fitting:
            yield f"head.classifier={head.classifier} needs task={' or '.join(fitting)}"
    if head.both_ways and (head.input != "window" or not config.data.inverse):
        yield "head.both_ways=true needs head.input=window and data.inverse"
    if encoder.overflow == "windows" and head.input not in (long := TASKS[task].long_forms):
        needed = f"head.input={' or '.join(long)}" if long else "another task"
        yield f"encoder.overflow=windows needs {needed}, not head.input={head.input}"
    if encoder.separator is not None and head.input != "pair":
        yield "encoder.separator needs head.input=pair"
    if config.batching.oversample != "none" and head.input == "window":
        yield (
            "batching.oversample needs one row per sequence; with head.input=window a text comes "
            "with all its pairs: use optim.class_weights"
        )


def _selection_problems(config: Config) -> Iterator[str]:
    if not config.is_validated() and config.trainer.needs_validation():
        yield (
            "trainer.select=best and trainer.patience need a validation split: name "
            "data.files.validation, or set data.validation.fraction above 0"
        )


def _search_problems(config: Config) -> Iterator[str]:
    """Check that a search with Optuna has scores to choose by."""
    if not config.is_validated():
        yield (
            "sweeper=optuna chooses by scores on validation: name data.files.validation, or set "
            "data.validation.fraction above 0"
        )
    if config.baseline.name != "none" and config.trainer.monitor == "loss":
        yield f"trainer.monitor=loss: baseline={config.baseline.name} has none; set macro_f1"
    if config.sweeper.pruner != "none" and config.stages:
        yield f"sweeper.pruner={config.sweeper.pruner} compares epochs of one training, no stages"


def _baseline_problems(config: Config) -> Iterator[str]:
    """Check that a baseline fits the task, and that nothing needs an encoder."""
    name, task, fitting = (
        config.baseline.name,
        config.task.name,
        tasks_of_baseline(config.baseline.name),
    )
    keys = {**dict.fromkeys(config.optim.target_options(), "empty"), "stages": "[]"}
    if not config.stages:
        del keys["stages"]
    if config.curriculum.name != "none":
        keys["curriculum"] = "none"
    for key, value in keys.items():
        yield f"{key} changes how an encoder is trained; baseline={name} has none: make it {value}"
    if task not in (fitting := tasks_of_baseline(name)):
        yield f"baseline={name} needs task={' or '.join(fitting)}, not task={task}"
    else:
        yield from BASELINES[name].problems(config)


def tasks_of_baseline(name: str) -> list[str]:
    """List the tasks that a baseline is for."""
    chosen = BASELINES[name].tasks
    return [
        task
        for task in TASKS
        if (TASKS[task].has_classes if chosen is None else not chosen or task in chosen)
    ]


def _curriculum_problems(config: Config) -> Iterator[str]:
    """Check that the task and the dynamics have what a curriculum orders by."""
    curriculum, dynamics = config.curriculum, config.dynamics
    if curriculum.difficulty == "sts" and "pair" not in TASKS[config.task.name].forms:
        fitting = " or ".join(task for task in TASKS if "pair" in TASKS[task].forms)
        yield f"curriculum.difficulty=sts needs task={fitting}, not {config.task.name}"
    watched = dynamics.enabled and dynamics.mode == "evaluation"
    if curriculum.pacing == "self_paced" and not watched:
        yield "curriculum.pacing=self_paced needs dynamics.enabled=true dynamics.mode=evaluation"
    if curriculum.budget == "own" and (steps := config.trainer.max_steps) is not None:
        yield f"trainer.max_steps={steps}: curriculum.budget=own needs trainer.max_steps=null"
    by_class = curriculum.by_class or curriculum.sampling == "stratified"
    if by_class and config.head.input == "window":
        yield (
            "curriculum.by_class and curriculum.sampling=stratified need one row per sequence, not "
            "head.input=window"
        )
