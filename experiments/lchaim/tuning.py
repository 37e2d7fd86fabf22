"""`heron prompt tune`: LCHAIM's hill-climb over prompts, and the share of noise in its gain.

In each round, a changed prompt is scored on a new sample of validation; it is kept if it
scores better than the last kept prompt did on its sample, else the change is undone. Half of
validation is held out: the first and the last prompt are compared on it. Test is never used.

Source: LCHAIM section 3.2 (seven rounds, 30 rows each, without examples).
Deviates: the authors changed their prompt by hand; heron takes given prompts or changes lines of
the instruction at random.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from heron.base.cells import Formatted, Interval, Table, to_markdown
from heron.base.errors import ConfigError, nearest
from heron.base.files import dump_yaml, read_yaml, write_file, write_json
from heron.base.terminal import print_lines, print_tables
from heron.config.constraints import Count
from heron.config.describe import group_options
from heron.config.parsing import check
from heron.data.config import TRAIN, VALIDATION
from heron.data.examples import Example
from heron.data.readers import load_run_data
from heron.languages import get_language
from heron.metrics.intervals import score_intervals
from heron.tasks.config import Config
from heron.tasks.scoring import TextScores
from heron.tasks.task import scores_of
from heron_tools.prompting.command import composed
from heron_tools.prompting.config import PromptConfig
from heron_tools.prompting.prompts import Prompter
from heron_tools.prompting.system import PromptedModel, fit_prompted

Floats = np.ndarray
Change = tuple[str, PromptConfig]  # what was changed, and the changed prompt
NextChange = Callable[[PromptConfig, int], Change | None]


@dataclass(frozen=True)
class Round:
    """One tried prompt."""

    change: str  # what was changed
    prompt: PromptConfig
    score: float  # mean over the drawn rows, and its 95 % interval
    low: float
    high: float
    is_kept: bool
    guids: Sequence[str]  # the drawn rows


@dataclass(frozen=True)
class HeldOut:
    """The first and the last prompt on the same held-out rows."""

    rows: int
    first: float
    last: float
    low: float  # of the difference of the means, 95 %
    high: float
    p: float  # two-sided sign test over the rows that differ


@dataclass
class TuneOptions:
    """Options of `heron prompt tune`; all other arguments are those of `heron prompt`."""

    rounds: Count = 7  # prompts to try after the first
    sample: Count = 30  # rows of validation in each round
    # prompts to try, options of `conf/prompt` or YAML files; empty: changes of lines at random
    candidates: list[str] = field(default_factory=list)
    out: Path = Path("runs/tune")  # a folder for `tune.md`, `tune.json` and `prompt.yaml`


def run(arguments: Sequence[str]) -> None:
    """Tune a prompt; print and write `tune.md`, `tune.json` and the last kept prompt.

    Raises:
        ConfigError: too few validation rows, an unknown candidate, more candidates than rounds.
    """
    config, options = composed(arguments, TuneOptions)
    settings = config.prompting
    if settings is None:
        raise ConfigError("heron prompt tune asks a model: leave baseline= and experiment= out")

    needed = len(options.candidates)
    if needed > options.rounds:
        raise ConfigError(
            f"candidates: {needed} prompts, but rounds={options.rounds}; set rounds={needed}, or "
            "name fewer"
        )

    candidates = [(name, _read_prompt(name)) for name in options.candidates]
    examples = load_run_data(config).examples
    drawn_from, held_out = _halves(examples.get(VALIDATION, []), config, options.sample)
    for name, prompt in candidates:  # before the first request
        _check_rendering(name, Prompter(config, prompt), drawn_from[0])

    system = fit_prompted(config, examples.get(TRAIN, []))

    def score(prompt: PromptConfig, rows: Sequence[Example]) -> Floats:
        of_prompt = replace(settings, prompt=prompt)
        prompted = replace(config, parts={"prompting": of_prompt})
        prompted_system = replace(system, settings=prompted.prompting)
        return _row_scores(prompted_system, rows, prompted)

    first = settings.prompt
    if candidates:
        next_change = _given_changes(candidates)
    else:
        next_change = _random_changes(first, options.rounds, config.seed)

    rounds = list(climb(first, next_change, drawn_from, options.sample, config.seed, score))
    kept = [round for round in rounds if round.is_kept]
    last = kept[-1].prompt

    first_N = score(first, held_out)
    last_N = score(last, held_out)
    comparison = compare(first_N, last_N, config.seed)

    tables = _tables(rounds, comparison, _score_name(config))
    print_tables(tables)

    result = {"rounds": [asdict(round) for round in rounds], "held_out": asdict(comparison)}
    write_json(options.out / "tune.json", result)

    markdown = "\n\n".join(map(to_markdown, tables))
    page = write_file(options.out / "tune.md", markdown)
    print_lines(page)

    yaml = dump_yaml(asdict(last))
    prompt_file = write_file(options.out / "prompt.yaml", f"# @package prompting.prompt\n{yaml}")
    print_lines(prompt_file)


def climb(
    first: PromptConfig,
    next_change: NextChange,
    rows: Sequence[Example],
    sample: int,
    seed: int,
    score: Callable[[PromptConfig, Sequence[Example]], Floats],
) -> Iterator[Round]:
    """Score the first prompt, then each changed one, against the last kept prompt.

    Args:
        first: the prompt to begin with.
        next_change: returns a change of the kept prompt, by the number of the round; None ends the
            climb.
        rows: of validation.
        sample: rows drawn in each round.
        seed: of the draws.
        score: float64 [N] for N rows.
    """
    best = -np.inf
    kept = first
    number = 0
    change: Change | None = ("as given", first)
    while change is not None:
        description, prompt = change
        source = random.Random(f"{seed}:{number}")
        drawn = source.sample(list(rows), sample)
        scores_N = score(prompt, drawn)
        mean, low, high = interval(scores_N, seed)
        is_kept = mean > best
        guids = [example.guid for example in drawn]
        yield Round(description, prompt, mean, low, high, is_kept, guids)

        if is_kept:
            best = mean
            kept = prompt
        number += 1
        change = next_change(kept, number)


def interval(scores_N: Floats, seed: int) -> tuple[float, float, float]:
    """Compute a mean and its 95 % interval: Wilson's of shares, else by bootstrap."""
    mean = float(scores_N.mean())
    if set(scores_N) <= {0.0, 1.0}:
        right = int(scores_N.sum())
        low, high = proportion_confint(right, len(scores_N), method="wilson")
        return mean, float(low), float(high)
    bounds = score_intervals({"score": scores_N}, seed=seed)
    return mean, bounds["score_low"], bounds["score_high"]


def compare(first_N: Floats, last_N: Floats, seed: int) -> HeldOut:
    """Compare two prompts by their scores of the same rows.

    Args:
        first_N: scores of the prompt that tuning began with.
        last_N: scores of the prompt that it ended with.
        seed: of the bootstrap.
    """
    change_N = last_N - first_N
    bounds = score_intervals({"change": change_N}, seed=seed)
    better = int((change_N > 0).sum())
    worse = int((change_N < 0).sum())
    differing = better + worse
    p = 1.0
    if differing:
        p = float(binomtest(better, differing).pvalue)

    return HeldOut(
        rows=len(change_N),
        first=float(first_N.mean()),
        last=float(last_N.mean()),
        low=bounds["change_low"],
        high=bounds["change_high"],
        p=p,
    )


def _halves(
    rows: Sequence[Example], config: Config, sample: int
) -> tuple[list[Example], list[Example]]:
    """Divide the labelled rows of validation: a half to draw from, and a held-out half."""
    labelled = [row for row in rows if row.label is not None or row.target is not None]
    random.Random(config.seed).shuffle(labelled)
    half = len(labelled) // 2
    if half < sample:
        raise ConfigError(
            f"sample={sample}: {config.data.name} has {len(labelled)} labelled rows of validation, "
            f"and half of them are set aside; at most sample={half}"
        )
    return labelled[:half], labelled[half:]


def _row_scores(system: PromptedModel, rows: Sequence[Example], config: Config) -> Floats:
    """Score each row: right or wrong, or a text's main score."""
    columns = system.predict(rows, config).columns(config)
    predictions = columns["prediction"]

    scores = scores_of(config.task.name)
    if not isinstance(scores, TextScores):
        matches = []
        for prediction, gold in zip(predictions, columns["gold"], strict=True):
            matches.append(prediction == gold)
        return np.array(matches, float)

    golds = [scores.golds(row) for row in rows]
    language = get_language(config.data.language)
    by_score: Mapping[str, Any] = scores.items(predictions, golds, language, None)
    return np.nan_to_num(np.asarray(by_score[scores.metric], dtype=float))


def _score_name(config: Config) -> str:
    scores = scores_of(config.task.name)
    if isinstance(scores, TextScores):
        return scores.metric
    return "accuracy"


def _given_changes(candidates: Sequence[Change]) -> NextChange:
    """Try the candidates in their order."""

    def next_change(kept: PromptConfig, number: int) -> Change | None:
        if number > len(candidates):
            return None
        return candidates[number - 1]

    return next_change


def _random_changes(first: PromptConfig, rounds: int, seed: int) -> NextChange:
    """Change a line of the kept prompt at random; no instruction is tried twice."""
    source = random.Random(seed)
    tried = {first.instruction}

    def next_change(kept: PromptConfig, number: int) -> Change | None:
        """Draw a change that was not tried; None after the last round, or if all were tried."""
        changes = []
        for description, prompt in line_changes(kept):
            if prompt.instruction not in tried:
                changes.append((description, prompt))
        if number > rounds or not changes:
            return None

        description, prompt = source.choice(changes)
        tried.add(prompt.instruction)
        return description, prompt

    return next_change


def line_changes(prompt: PromptConfig) -> list[Change]:
    """List every change of one line of the instruction: left out, moved, or repeated at the end."""
    lines = prompt.instruction.split("\n")
    variants = {}
    for index, line in enumerate(lines):
        name = f"line {index + 1}"
        others = lines.copy()
        del others[index]
        if others:
            variants[f"without {name}"] = others
            variants[f"{name} first"] = [line, *others]
            variants[f"{name} last"] = [*others, line]
        variants[f"{name} again at the end"] = [*lines, line]

    changes = []
    for name, changed in variants.items():
        if changed != lines:
            instruction = "\n".join(changed)
            changes.append((name, replace(prompt, instruction=instruction)))
    return changes


def _read_prompt(name: str) -> PromptConfig:
    """Read a candidate: an option of `conf/prompt`, or a YAML file like those."""
    known = group_options("prompt")
    path = Path(name) if name.endswith(".yaml") else known.get(name)
    if path is None or not path.is_file():
        raise ConfigError(f"candidates={name}: no such prompt or file.{nearest(name, known)}")

    try:
        defaults = OmegaConf.structured(PromptConfig)
        values = OmegaConf.merge(defaults, read_yaml(path) or {})
        prompt = cast(PromptConfig, OmegaConf.to_object(values))
        check(prompt)
        return prompt
    except (OmegaConfBaseException, ConfigError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"candidates={name}: {reason}. It is a file like those in conf/prompt"
        ) from error


def _check_rendering(name: str, prompter: Prompter, example: Example) -> None:
    """Raise a ConfigError that names a prompt whose template cannot be filled in."""
    try:
        prompter.messages(example, [example])
    except ConfigError as error:
        raise ConfigError(f"candidates={name}: {error}") from error


def _tables(rounds: Sequence[Round], held_out: HeldOut, score: str) -> list[Table]:
    """Lay out the rounds, and the share of noise in the gain of the last kept prompt."""
    rows = []
    for number, round in enumerate(rounds):
        mean = Interval(round.score, round.low, round.high)
        kept_cell = "yes" if round.is_kept else ""
        rows.append((number, round.change, mean, kept_cell))

    sample = len(rounds[0].guids)
    climb_table = Table(
        f"{score} of each round",
        ("round", "change", score, "kept"),
        rows,
        f"Each round: {sample} new rows of validation; a prompt is kept if it "
        "scores higher on its rows than the last one kept did on its own. [low, high]: 95 %.",
    )

    kept = [round.score for round in rounds if round.is_kept]
    gain = kept[-1] - kept[0]
    difference = held_out.last - held_out.first
    noise = gain - difference
    share = "no gain"
    if gain:
        share = f"{noise:+.3f} of the gain of {gain:+.3f} was noise"
    cells = (
        held_out.first,
        held_out.last,
        Interval(difference, held_out.low, held_out.high),
        Formatted(held_out.p, ".3g"),
    )
    check_table = Table(
        f"first and last prompt on {held_out.rows} rows that no round has seen",
        ("first", "last", "difference", "p"),
        (cells,),
        f"{share}. p: sign test over the rows that differ.",
    )
    return [climb_table, check_table]
