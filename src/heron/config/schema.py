"""The schema of the configuration: every key that the code reads, with its type and its unit.

YAML in `conf/` holds the values; `heron.config.checks` checks them against these dataclasses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from heron.config.data import DataConfig

BUDGET = 3072  # padded tokens a batch where `batching.tokens` is null


@dataclass
class PathsConfig:
    """Folders; none of them influences a result.

    Args:
        data: where data sets lie (`<data>/trc/...`); `HERON_DATA` sets the default.
        cache: downloads, generated corpora, tokenized features.
        runs: run folders.
    """

    data: str = "data"
    cache: str = "cache"
    runs: str = "runs"


@dataclass
class GenerationConfig:
    """How a summary is written, token by token.

    Args:
        num_beams: beginnings that are pursued side by side; 1 takes the likeliest token each time.
        length_penalty: a beam's log probability is divided by its length to this power: above 0
            favours long summaries. Without effect for one beam.
        no_repeat_ngram_size: no run of so many tokens comes twice in a summary; 0 allows it.
        min_new_tokens: a summary does not end before.
        max_new_tokens: longest summary, in tokens.
    """

    num_beams: int = 4
    length_penalty: float = 1.0
    no_repeat_ngram_size: int = 3
    min_new_tokens: int = 0
    max_new_tokens: int = 128


@dataclass
class BertScoreConfig:
    """Whether summaries are scored by BERTScore too, and by what; see `heron.metrics.bertscore`.

    Args:
        model: the encoder whose states are compared, hub id or folder; null leaves BERTScore out.
        layer: after which of its layers, from 1; there is no default, because scores of two layers
            cannot be compared and the literature seldom says its own.
        idf: weigh tokens by how few references have them.
        long: what becomes of texts that are longer than the encoder can read: `skip` leaves their
            pairs out, as HeSum does; `cut` reads the beginning, as the bert-score package does;
            `windows` reads everything, in overlapping windows. Counted in any case.
        precision: `32-true`, or `bf16-mixed`, which changes scores by some 0.0002.
        baseline: a file as bert-score has them (LAYER,P,R,F): rescaled scores come beside the
            others; null: none.
    """

    model: str | None = None
    layer: int | None = None
    idf: bool = False
    long: str = "skip"
    precision: str = "32-true"
    baseline: str | None = None


@dataclass
class TaskConfig:
    """What is learned and how it is scored.

    Args:
        name: `relation`, `nli` (sentence pairs), `qa` (answers are spans of the text), or
            `summarization`.
        relaxed: which relaxed score `relaxed_macro_f1` means: `recode`, `drop`. Every mode is
            scored under its own name, `relaxed_matres_micro_f1` too.
        bootstrap: resamples behind the 95 % intervals; 0 leaves them out.
        resample: what a resample draws: `group` (whole documents; whole texts where there are
            none) or `row`. Pairs of one document are not independent: rows give too narrow
            intervals.
        max_answer_tokens: of `qa`: tokens of the longest span that can be given.
        n_best: of `qa`: spans kept of each window and of each question.
        max_target_tokens: of `summarization`: summaries to learn from are cut here.
        validation_samples: of `summarization`: rows that are summarized after each epoch, always
            the same ones, to choose the best epoch by; null takes all. The end of the run takes all
            in any case.
        generation: of `summarization`: how summaries are written.
        bertscore: of `summarization`: scored at the end of a run, not after each epoch.
    """

    name: str = "relation"
    relaxed: str = "recode"
    bootstrap: int = 1000
    resample: str = "group"
    max_answer_tokens: int = 30
    n_best: int = 20
    max_target_tokens: int = 128
    validation_samples: int | None = None
    generation: GenerationConfig = field(default_factory=GenerationConfig)
    bertscore: BertScoreConfig = field(default_factory=BertScoreConfig)


@dataclass
class ScratchConfig:
    """Shape of an encoder built from nothing, with a tokenizer trained on the train split.

    Args:
        vocabulary: word pieces at most.
        hidden: width D.
        layers: number of layers.
        heads: attention heads.
        intermediate: width of the feed-forward layers.
        positions: longest sequence, in tokens.
    """

    vocabulary: int = 4000
    hidden: int = 128
    layers: int = 2
    heads: int = 4
    intermediate: int = 256
    positions: int = 256


@dataclass
class EncoderConfig:
    """A Hugging Face encoder, by hub id or path, or one built from `scratch`.

    Args:
        name: hub id or folder; `scratch` builds one from config.
        revision: branch, tag or commit on the hub.
        max_length: longest sequence, in tokens, special tokens included.
        truncation: which of two texts gives way where a pair is too long: `only_first` (the
            premise), `only_second`, or `longest_first` (token by token, the longer one).
        overflow: what becomes of the tokens that do not fit: `truncate` leaves them out, counted;
            `windows` reads the text in overlapping windows, each with the whole other text.
        stride: tokens that neighbouring windows share.
        separator: text to put between premise and hypothesis instead of the tokenizer's own pair
            template, as one repository does; null for the template.
        trailing_separator: write `separator` after the hypothesis, too, as that repository does.
        num_layers: use the first k layers; null uses all.
        freeze: `none`, `embeddings`, `all`, or a number k: embeddings and the first k layers.
        dropout: probability for hidden states and attention; null keeps the encoder's own.
        attention: `eager` or `sdpa`, or another implementation that transformers knows.
        fast_dropout: on a CPU, draw dropout masks and attend in ways that suit it: the same
            functions, other random numbers (`models/dropout.py`); replaces `attention` there.
        gradient_checkpointing: recompute activations in the backward pass to save memory.
        cache: with `freeze=all`, compute the pooled vectors once and train on those; false encodes
            anew every epoch, to the same scores.
        trust_remote_code: run code that comes with the weights; off unless you have read it.
    """

    name: str = "scratch"
    revision: str | None = None
    max_length: int = 512
    truncation: str = "only_first"
    overflow: str = "truncate"
    stride: int = 64
    separator: str | None = None
    trailing_separator: bool = False
    num_layers: int | None = None
    freeze: str = "none"
    dropout: float | None = None
    attention: str = "sdpa"
    fast_dropout: bool = True
    gradient_checkpointing: bool = False
    cache: bool = True
    trust_remote_code: bool = False
    scratch: ScratchConfig = field(default_factory=ScratchConfig)


@dataclass
class HeadConfig:
    """A pooling times a classifier, and the input form the pooling needs.

    Args:
        name: name for tables.
        input: `marked` (one event pair per sequence, mentions between marker tokens, as in the
            papers) or `window` (each text once, unmarked, with all its event pairs); for two texts
            `pair` (both in one sequence), `separate` (each in its own), `premise` or `hypothesis`
            (only that one); `question` (the question, then the text that answers it); `article`
            (the text to summarize).
        pooling: `cls`, `last_token`, `mean`; for events `event_start`, `mention_pool`,
            `span_ends`; for answers and summaries `tokens`, which pools nothing.
        combine: what `separate` makes of its two vectors u and v: `concat` (u, v) or `compare`
            (u, v, |u - v|, u * v).
        over_windows: how the windows of a long premise become one: `mean_logits`, `max_logits`, or
            `mean_states` (of the pooled vectors, before the classifier).
        classifier: `linear`, `mlp`, or `per_event`, the TRC repository's stack: a layer per event,
            then one for both; with `cls`, which has no events, BERT's pooler; for answers `span`
            (a score for each start and each end) or `biaffine` (and one for each pair of them); for
            summaries `seq2seq` (`encoder.name` brings its decoder) or `warm_start` (a decoder that
            begins with the encoder's weights and attends to its states).
        hidden: widths of the hidden layers of `mlp`; of `biaffine` the one width.
        dropout: probability, at the places that `dropout_at` names.
        dropout_at: of `mlp`: `all` (before the classifier and after each hidden layer), `hidden`
            (after each hidden layer), `first` or `first_two` (after these hidden layers only).
        layer_norm: normalise after the activation of `none`, the `first` or `all` hidden layers.
        distance: width of the embedding of the distance between two spans; 0 leaves it out.
        both_ways: read each pair from event 1 to 2 and from 2 to 1: in training both must give
            the label (inverted by `data.inverse`), in evaluation their mean decides. Needs
            `input=window`: markers would say which event comes first.
        decoder_layers: of `warm_start`: layers of the decoder; null has as many as the encoder.
        start: `model/` folder of a run whose head to begin with; null begins from nothing.
    """

    name: str = "ess"
    input: str = "marked"
    pooling: str = "event_start"
    combine: str = "concat"
    over_windows: str = "mean_logits"
    classifier: str = "linear"
    hidden: list[int] = field(default_factory=list)
    dropout: float = 0.1
    dropout_at: str = "all"
    layer_norm: str = "none"
    distance: int = 0
    both_ways: bool = False
    decoder_layers: int | None = None
    start: str | None = None


@dataclass
class OptimConfig:
    """The optimizer and its schedule.

    Args:
        name: `adamw`, or `adafactor`, which keeps two vectors for a matrix where AdamW keeps two
            matrices, and scales steps by the size of the weights; without `betas` and `eps`.
        lr: peak learning rate of the encoder.
        head_lr: peak learning rate of the head, or of the decoder; null means `lr`.
        layer_decay: factor on the learning rate for each layer further from the head.
        weight_decay: on matrices only, never on biases and normalisation.
        schedule: `constant`, `linear`, `cosine` (both decay to 0).
        warmup: fraction of all optimizer steps, over which the learning rate rises to its peak.
        warmup_steps: the same in optimizer steps; null leaves it to `warmup`.
        clip: largest gradient norm; 0 leaves gradients alone.
        accumulate: batches per optimizer step.
        label_smoothing: share of the target spread over all classes, or over all tokens.
        class_weights: `none`, `balanced` (N / (C n_c)), `one_minus_share` (1 - n_c / N).
    """

    name: str = "adamw"
    lr: float = 3e-5
    head_lr: float | None = None
    layer_decay: float = 1.0
    weight_decay: float = 0.01
    betas: list[float] = field(default_factory=lambda: [0.9, 0.999])
    eps: float = 1e-8
    schedule: str = "linear"
    warmup: float = 0.1
    warmup_steps: int | None = None
    clip: float = 1.0
    accumulate: int = 1
    label_smoothing: float = 0.0
    class_weights: str = "none"


@dataclass
class BatchingConfig:
    """How sequences become batches.

    Args:
        plan: `shuffle` (batches of `size` sequences) or `bucket` (sequences of like length, up to
            `tokens` tokens with padding).
        size: sequences per batch under `shuffle`.
        tokens: padded tokens per batch under `bucket` and in evaluation. null: 3072, and in
            training fewer where an epoch would have less than 20 batches (never less than the
            longest sequence); `data.batch_tokens` in `status.json` says how many it were.
        workers: data loading processes.
        oversample: show rows of rare classes more than once an epoch: `none`, `balanced` (whole
            copies: the largest class's count // the class's own) or `multipliers`.
        multipliers: copies per class under `multipliers`; 1 for a class that is not named.
    """

    plan: str = "shuffle"
    size: int = 32
    tokens: int | None = 4096
    workers: int = 0
    oversample: str = "none"
    multipliers: dict[str, int] = field(default_factory=dict)


@dataclass
class TrainerConfig:
    """How long, on what, and what is kept.

    Args:
        max_epochs: passes over the train split.
        max_steps: optimizer steps of the run, in place of `max_epochs`; its last epoch is then cut
            short. null leaves it to `max_epochs`.
        monitor: what chooses the best epoch, on validation: a score's name in `scores.json`, of
            which more is better, or `loss`, of which less is.
        select: `best` (by `monitor`, needs a validation split) or `last` epoch.
        patience: epochs without a better `monitor` before stopping; null never stops early.
        precision: `auto` (bf16 where the processor has it), `bf16-mixed`, `32-true`, `16-mixed`.
        devices: processes on each machine, each with a device of its own (or its cores); every
            batch is divided between them, so their number does not change what a step computes.
        num_nodes: machines; above 1, `torchrun` starts the run on each.
        strategy: of several devices: `auto` and `ddp` (each has the whole model), `fsdp` (each has
            a part of it; GPUs only), or `ddp_find_unused_parameters_true` (`ddp` for an encoder
            with weights that no output depends on, which torch would refuse).
        checkpoint_minutes: a kill loses at most this much work; epochs are always kept.
        checkpoint_steps: the same, counted in optimizer steps; null leaves it to the clock.
        threads: CPU threads of each process; null leaves it to torch.
        deterministic: bit-identical repeats on one machine.
        progress: show a progress bar; null: when the output is a terminal.
    """

    max_epochs: int = 3
    max_steps: int | None = None
    monitor: str = "macro_f1"
    select: str = "best"
    patience: int | None = None
    accelerator: str = "auto"
    devices: int = 1
    num_nodes: int = 1
    strategy: str = "auto"
    precision: str = "auto"
    checkpoint_minutes: float = 5.0
    checkpoint_steps: int | None = None
    threads: int | None = None
    deterministic: bool = True
    progress: bool | None = None


@dataclass
class DynamicsConfig:
    """Per-example training dynamics.

    Args:
        enabled: write `dynamics/epoch=<n>.parquet`.
        mode: `train` records the training passes themselves, as published; `evaluation` looks at
            every example again, without dropout, at the cost of a forward pass over train.
        every: epochs between records: 1, or a fraction of one (0.25: four records an epoch).
    """

    enabled: bool = True
    mode: str = "train"
    every: float = 1.0


@dataclass
class CurriculumConfig:
    """In which order and share of the steps a run sees its examples.

    Whatever the curriculum, the run takes the optimizer steps of the run without one.

    Args:
        name: name for tables; `none` draws from everything all the time.
        difficulty: what makes an example hard: `length` (tokens), `sts` (premise and hypothesis
            unlike each other), `external` (a column of `scores`), `random`, or a statistic of an
            earlier run's dynamics (`heron.dynamics.cartography.SCORES`).
        reverse: hardest first.
        order: in which `unlock` and pacings that grow unlock: by `difficulty`, or by `groups`: the
            easy group, then the ambiguous one, then the hard one, each example once (the most
            confident, most variable, least confident ones first), as in the file that RoNLI's code
            reads for Cart-CL. Examples in no group are then never unlocked, and shares are of the
            others.
        grouping: how groups are made: `allenai` (the examples with the highest
            confidence, the highest variability, the lowest confidence; they overlap) or
            `tercile_partition` (disjoint thirds by difficulty).
        fraction: size of each group under `allenai`; the shipped curricula have the published
            tool's third, .3319.
        exact: with the published tool's off-by-one: int(fraction x N) + 1 examples, as `heron map`
            and the shipped curricula have it; else the nearest whole number.
        pacing: `stages` (as listed), `linear`, `root`, `competence` (the unlocked share grows with
            the steps), or `self_paced` (the examples with the lowest loss so far, a growing share).
        stages: mappings with `share` (of all steps), and either `unlock` (the easiest share of the
            examples) or `groups` (`easy`, `ambiguous`, `hard`). With `budget: own`, `steps` instead
            of `share`.
        start: share that is unlocked at first, for pacings that grow.
        until: share of all steps at which everything is unlocked, for pacings that grow.
        power: of `root`: 2 is the square root.
        updates: how often the unlocked share grows until then.
        by_class: unlock the same share of every class.
        sampling: `plain`, or `stratified` (each batch has the classes in their shares).
        budget: `equal` (the steps of the run without curriculum) or `own` (the sum of `steps`).
        restart: begin every stage with a new optimizer state, as the RoNLI repository does.
        dynamics: run folder whose dynamics say what is hard; null trains (or finds) the same run
            without curriculum first.
        changes: dotted keys that this first run has otherwise, such as
            `{batching.oversample: none}`.
        scores: table (.csv, .jsonl, .parquet) with a `guid` column, for `external`.
        column: the column of `scores`; higher is harder.
        embeddings: whose states `sts` compares: those of the encoder as it comes (`pretrained`) or
            as the first run has fine-tuned it (`trained`, as in the paper).
    """

    name: str = "none"
    difficulty: str = "eq1_swapped"
    reverse: bool = False
    order: str = "difficulty"
    grouping: str = "allenai"
    fraction: float = 0.33
    exact: bool = False
    pacing: str = "stages"
    stages: list[dict[str, Any]] = field(default_factory=list)
    start: float = 0.2
    until: float = 0.5
    power: float = 2.0
    updates: int = 20
    by_class: bool = False
    sampling: str = "plain"
    budget: str = "equal"
    restart: bool = False
    dynamics: str | None = None
    changes: dict[str, Any] = field(default_factory=dict)
    scores: str | None = None
    column: str | None = None
    embeddings: str = "pretrained"


@dataclass
class LoggerConfig:
    """Weights & Biases; `metrics.csv` is always written.

    Args:
        wandb: log there too.
        project: W&B project.
        mode: `offline` (default; `wandb sync` uploads later), `online`, `disabled`.
        artifacts: keep the predictions (without the texts, which are the data set's) and the data
            map's figure there too.
    """

    wandb: bool = False
    project: str = "heron"
    mode: str = "offline"
    artifacts: bool = False


@dataclass
class RunConfig:
    """Where the run folder lies and what happens when it is already there.

    Args:
        sweep: folder under `paths.runs`; null derives it from the experiment or the data, and from
            words that change data, task or length (`heron.config.run_names.sweep_name`).
        job: folder under the sweep; null derives it from the overrides and a hash.
        resume: go on from `last.ckpt`, skip what is done; false starts over.
        export: write `model/` in Hugging Face form.
        isolate: train every job in a process of its own; null does so in sweeps, not for one run.
            A job on several devices always has its own.
        n_jobs: jobs of a sweep side by side (in each worker of a `launcher`); they share the
            processor's cores.
        retry: which jobs of a sweep that ended badly the same command trains again: `cut`
            (stopped, killed, out of memory, disk full) or `failed` (all).
        oversubscribe: allow more `trainer.devices` than the machine has processor cores.
    """

    sweep: str | None = None
    job: str | None = None
    resume: bool = True
    export: bool = True
    isolate: bool | None = None
    n_jobs: int = 1
    retry: str = "cut"
    oversubscribe: bool = False


@dataclass
class LauncherConfig:
    """Where the jobs of a sweep run: in processes of this command, or in workers started elsewhere.

    Args:
        name: `local` (processes of this command, `run.n_jobs` side by side), or workers that take
            jobs from the sweep's folder: `joblib` (on this machine), `slurm` (submitit), `ray`.
        workers: how many.
        wait: stay until the workers end; false (`slurm`) submits them and leaves.
        cluster: for `slurm`: `slurm`, or to try it without one `local` (processes on this machine)
            or `debug` (inside this process).
        partition, account: of SLURM.
        minutes: what a worker may take; one that runs out is queued again and goes on.
        gpus, cpus: for each worker, of SLURM or Ray.
        memory_gb: for each worker; null leaves it to the cluster.
        options: more of SLURM's, by submitit's names: `{constraint: a100, setup: [module load x]}`.
        address: of a running Ray cluster (`auto`, `ray://host:10001`); null starts Ray here.
    """

    name: str = "local"
    workers: int = 1
    wait: bool = True
    cluster: str = "slurm"
    partition: str | None = None
    account: str | None = None
    minutes: int = 240
    gpus: int = 0
    cpus: int = 1
    memory_gb: float | None = None
    options: dict[str, Any] = field(default_factory=dict)
    address: str | None = None


@dataclass
class SweeperConfig:
    """Which points of a space of settings a sweep (`-m`) tries.

    The space is what is swept, in Hydra's grammar: `a,b`, `choice(a,b)`, `range(1,5)`,
    `interval(0,0.5)`, `tag(log,interval(1e-5,1e-3))`, `int(interval(16,256))`.

    Args:
        name: `grid` (all), `random` (draws without repeats), or `optuna` (each next point is chosen
            by what the earlier ones scored on validation, by `trainer.monitor`).
        trials: how many points, over all commands on the sweep's folder.
        seed: of the draws; the jobs' own `seed` is a key like any other and may be swept.
        sampler: of `optuna`: `tpe`, `gp` (Gaussian process) or `random`.
        pruner: of `optuna`, ends trainings without prospects: `none`, `median` (worse after an
            epoch than the median of the trials before) or `hyperband`.
        startup_trials: drawn at random before `sampler` learns; under `median`, none is ended
            before so many have finished.
        startup_epochs: that every training gets.
        study, trial: set by heron in a trial's own configuration.
    """

    name: str = "grid"
    trials: int = 20
    seed: int = 0
    sampler: str = "tpe"
    pruner: str = "none"
    startup_trials: int = 5
    startup_epochs: int = 1
    study: str | None = None
    trial: int | None = None


@dataclass
class BaselineConfig:
    """A system without a trained encoder, in place of encoder and head (`heron.models.baselines`).

    Args:
        name: `none`; `majority`; `cbow_svm` and `cbow_softmax` (mean word vectors, then support
            vectors or multinomial logistic regression); `zero_shot` (a finished NLI model). Of
            `summarization`, sentences of the article: `lead` (the first ones), `textrank` (those
            most like all others), `oracle` (those a greedy search with the reference finds: no
            system but a ceiling).
        sentences: how many of them `lead`, `textrank` and `oracle` take at most.
        input: what is read: `pair`, only the `premise`, or only the `hypothesis`.
        vectors: word vectors: `train` (fastText on the train split's own texts), or a file: .bin
            in fastText's format, .vec or .vec.gz.
        words: what a word is: `words` (`heron.languages.words`, capitals kept), `folded` (those,
            without capitals) or `whitespace` (what stands between spaces, as RoNLI's repository
            has it).
        dim, epochs, min_count, buckets: under `vectors=train` the width of the vectors, passes over
            the texts, the fewest occurrences of a word, and rows for character n-grams.
        scale: what is done to the features by what the train split shows: `none`, `standard` (mean
            0, variance 1) or `minmax` (from 0 to 1).
        C: inverse strength of the l2 penalty.
        kernel: `linear` or `rbf`, for `cbow_svm`.
        max_iter: iterations of the optimizer at most.
        tol: where it stops.
        class_weight: `none` or `balanced` (N / (C n_c)).
        model, revision: for `zero_shot`, a Hugging Face model for sequence pairs with an entailment
            class, by hub id or folder.
        zero_shot: `definitions` asks of each class whether the pair entails its sentence in
            `hypotheses`; `direct` takes the model's own classes, for data with the same ones.
        hypotheses: a sentence per class.
        template: how a pair becomes the one text that is to entail the sentence.
        entailment: what is compared between classes: the `probability` of entailment among the
            model's classes, or its `logit`, as transformers' pipeline does.
        permutation: `repo` orders the scores as RoNLI's repository does, which is a mistake: the
            prediction becomes the rank of the first class. `none` does not.
        max_length: longest sequence of the `zero_shot` model, in tokens; the pair gives way.
    """

    name: str = "none"
    sentences: int = 3
    input: str = "pair"
    vectors: str = "train"
    words: str = "words"
    dim: int = 300
    epochs: int = 10
    min_count: int = 2
    buckets: int = 100_000
    scale: str = "none"
    C: float = 1.0
    kernel: str = "linear"
    max_iter: int = 1000
    tol: float = 1e-3
    class_weight: str = "none"
    model: str = "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
    revision: str | None = None
    zero_shot: str = "definitions"
    hypotheses: dict[str, str] = field(default_factory=dict)
    template: str = "{premise} {hypothesis}"
    entailment: str = "probability"
    permutation: str = "none"
    max_length: int = 512


@dataclass
class StageConfig:
    """One stage of sequential fine-tuning; null keeps the run's own value.

    Args:
        data: a data set of `conf/data`, with the run's classes.
        max_epochs: passes over its train split.
        lr: peak learning rate of the encoder.
        head_lr: peak learning rate of the head.
        freeze: as `encoder.freeze`; `all` trains a probe.
        keep_head: begin with the head of the stage before, not with a new one.
        changes: dotted keys that this stage has otherwise than the run, such as
            `{batching.size: 8, optim.warmup_steps: 500, head.classifier: linear}`.
    """

    data: str
    max_epochs: int | None = None
    lr: float | None = None
    head_lr: float | None = None
    freeze: str | None = None
    keep_head: bool = True
    changes: dict[str, Any] = field(default_factory=dict)


@dataclass
class Config:
    """Everything one run needs.

    Args:
        stages: fine-tune on these data sets one after the other: names, or mappings as in
            `StageConfig`; empty trains once, on `data`.
        also_test: further data sets with the same classes, whose test splits (validation where
            there is none) are predicted and scored as `<data set>.<split>`.
        others: data sets to use instead of those of that name in `conf/data`; within a stage, the
            run's own `data` with all that was overridden.
    """

    data: DataConfig
    seed: int = 0
    protocol: str = "fixed"
    experiment: str | None = None
    report: str | None = None
    stages: list[Any] = field(default_factory=list)
    also_test: list[str] = field(default_factory=list)
    others: dict[str, DataConfig] = field(default_factory=dict)
    paths: PathsConfig = field(default_factory=PathsConfig)
    task: TaskConfig = field(default_factory=TaskConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    head: HeadConfig = field(default_factory=HeadConfig)
    baseline: BaselineConfig = field(default_factory=BaselineConfig)
    optim: OptimConfig = field(default_factory=OptimConfig)
    batching: BatchingConfig = field(default_factory=BatchingConfig)
    trainer: TrainerConfig = field(default_factory=TrainerConfig)
    dynamics: DynamicsConfig = field(default_factory=DynamicsConfig)
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)
    logger: LoggerConfig = field(default_factory=LoggerConfig)
    run: RunConfig = field(default_factory=RunConfig)
    launcher: LauncherConfig = field(default_factory=LauncherConfig)
    sweeper: SweeperConfig = field(default_factory=SweeperConfig)
