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
from heron.tasks.task import TextScores, scores_of
from heron_tools.prompting.command import composed
from heron_tools.prompting.config import PromptConfig
from heron_tools.prompting.prompts import Prompter
from heron_tools.prompting.system import PromptedModel, fit_prompted

Floats = np.ndarray


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
    rounds, sample, candidates = options.rounds, options.sample, options.candidates
    settings = config.prompting
    if settings is None:
        raise ConfigError("heron prompt tune asks a model: leave baseline= and experiment= out")
    if len(candidates) > rounds:
        raise ConfigError(
            f"candidates: {len(candidates)} prompts, but rounds={rounds}; set "
            f"rounds={len(candidates)}, or name fewer"
        )
    given = [(name, _read(name)) for name in candidates]
    examples = load_run_data(config).examples
    seen, apart = _halves(examples.get(VALIDATION, []), config, sample)
    for name, prompt in given:  # before the first request
        _check_rendering(name, Prompter(config, prompt), seen[0])
    system = fit_prompted(config, examples.get(TRAIN, []))

    def score(prompt: PromptConfig, rows: Sequence[Example]) -> Floats:
        here = replace(config, parts={"prompting": replace(settings, prompt=prompt)})
        return _values(replace(system, settings=here.prompting), rows, here)

    tried = _tried(settings.prompt, given, rounds, config.seed)
    found = list(climb(settings.prompt, tried, seen, sample, config.seed, score))
    last = [each for each in found if each.is_kept][-1]
    held_out = compare(score(settings.prompt, apart), score(last.prompt, apart), config.seed)
    tables = _tables(found, held_out, _score_name(config))
    print_tables(tables)
    write_json(
        options.out / "tune.json",
        {"rounds": [asdict(each) for each in found], "held_out": asdict(held_out)},
    )
    print_lines(write_file(options.out / "tune.md", "\n\n".join(map(to_markdown, tables))))
    text = f"# @package prompting.prompt\n{dump_yaml(asdict(last.prompt))}"
    print_lines(write_file(options.out / "prompt.yaml", text))


def climb(
    first: PromptConfig,
    tried: Callable[[PromptConfig, int], tuple[str, PromptConfig] | None],
    rows: Sequence[Example],
    sample: int,
    seed: int,
    score: Callable[[PromptConfig, Sequence[Example]], Floats],
) -> Iterator[Round]:
    """Score the first prompt, then each changed one, against the last kept prompt.

    Args:
        first: the prompt to begin with.
        tried: returns a round's change and changed prompt; None if none is left.
        rows: of validation.
        sample: rows drawn in each round.
        seed: of the draws.
        score: float64 [N] for N rows.
    """
    best, kept, number = -np.inf, first, 0
    change: tuple[str, PromptConfig] | None = ("as given", first)
    while change is not None:
        drawn = random.Random(f"{seed}:{number}").sample(list(rows), sample)
        value_N = score(change[1], drawn)
        is_kept = bool(value_N.mean() > best)
        yield Round(*change, *interval(value_N, seed), is_kept, [each.guid for each in drawn])
        if is_kept:
            best, kept = float(value_N.mean()), change[1]
        number += 1
        change = tried(kept, number)


def interval(value_N: Floats, seed: int) -> tuple[float, float, float]:
    """Compute a mean and its 95 % interval: Wilson's of shares, else by bootstrap."""
    mean = float(value_N.mean())
    if set(value_N) <= {0.0, 1.0}:
        low, high = proportion_confint(int(value_N.sum()), len(value_N), method="wilson")
        return mean, float(low), float(high)
    found = score_intervals({"score": value_N}, seed=seed)
    return mean, found["score_low"], found["score_high"]


def compare(first_N: Floats, last_N: Floats, seed: int) -> HeldOut:
    """Compare two prompts on the same rows."""
    change_N = last_N - first_N
    found = score_intervals({"change": change_N}, seed=seed)
    better, worse = int((change_N > 0).sum()), int((change_N < 0).sum())
    p = float(binomtest(better, better + worse).pvalue) if better + worse else 1.0
    ends = found["change_low"], found["change_high"]
    return HeldOut(len(change_N), float(first_N.mean()), float(last_N.mean()), *ends, p)


def _halves(
    rows: Sequence[Example], config: Config, sample: int
) -> tuple[list[Example], list[Example]]:
    """Divide the labelled rows of validation: a half to draw from, and a held-out half."""
    known = [row for row in rows if row.label is not None or row.target is not None]
    random.Random(config.seed).shuffle(known)
    half = len(known) // 2
    if half < sample:
        raise ConfigError(
            f"sample={sample}: {config.data.name} has {len(known)} labelled rows of validation, "
            f"and half of them are set aside; at most sample={half}"
        )
    return known[:half], known[half:]


def _values(system: PromptedModel, rows: Sequence[Example], config: Config) -> Floats:
    """Score each row: right or wrong, or a text's main score."""
    columns = system.predict(rows, config).columns(config)
    given = columns["prediction"]
    scores = scores_of(config.task.name)
    if not isinstance(scores, TextScores):
        return np.asarray([a == b for a, b in zip(given, columns["gold"], strict=True)], float)
    golds = [scores.golds(row) for row in rows]
    language = get_language(config.data.language)
    values: Mapping[str, Any] = scores.items(given, golds, language, None)
    return np.nan_to_num(np.asarray(values[scores.metric], dtype=float))


def _score_name(config: Config) -> str:
    scores = scores_of(config.task.name)
    return scores.metric if isinstance(scores, TextScores) else "accuracy"


def _tried(
    first: PromptConfig, given: Sequence[tuple[str, PromptConfig]], rounds: int, seed: int
) -> Callable[[PromptConfig, int], tuple[str, PromptConfig] | None]:
    source, seen = random.Random(seed), {first.instruction}

    def next_prompt(kept: PromptConfig, number: int) -> tuple[str, PromptConfig] | None:
        if number > rounds:
            return None
        if given:
            return given[number - 1] if number <= len(given) else None
        changes = [each for each in line_changes(kept) if each[1].instruction not in seen]
        if not changes:
            return None
        chosen = source.choice(changes)
        seen.add(chosen[1].instruction)
        return chosen

    return next_prompt


def line_changes(prompt: PromptConfig) -> list[tuple[str, PromptConfig]]:
    """List every change of one line of the instruction: left out, moved, or repeated at the end."""
    lines = prompt.instruction.split("\n")
    found: list[tuple[str, list[str]]] = []
    for place, line in enumerate(lines):
        rest = lines[:place] + lines[place + 1 :]
        if len(lines) > 1:
            found.append((f"without line {place + 1}", rest))
            found.append((f"line {place + 1} first", [line, *rest]))
            found.append((f"line {place + 1} last", [*rest, line]))
        found.append((f"line {place + 1} again at the end", [*lines, line]))
    return [
        (change, replace(prompt, instruction="\n".join(changed)))
        for change, changed in found
        if changed != lines
    ]


def _read(name: str) -> PromptConfig:
    known = group_options("prompt")
    path = Path(name) if name.endswith(".yaml") else known.get(name)
    if path is None or not path.is_file():
        raise ConfigError(f"candidates={name}: no such prompt or file.{nearest(name, known)}")
    try:
        values = OmegaConf.merge(OmegaConf.structured(PromptConfig), read_yaml(path) or {})
        prompt = cast(PromptConfig, OmegaConf.to_object(values))
        check(prompt)
        return prompt
    except (OmegaConfBaseException, ConfigError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"candidates={name}: {reason}. It is a file like those in conf/prompt"
        ) from error


def _check_rendering(name: str, prompter: Prompter, example: Example) -> None:
    try:
        prompter.messages(example, [example])
    except ConfigError as error:
        raise ConfigError(f"candidates={name}: {error}") from error


def _tables(found: Sequence[Round], held_out: HeldOut, name: str) -> list[Table]:
    rows = [
        (n, each.change, Interval(each.score, each.low, each.high), "yes" if each.is_kept else "")
        for n, each in enumerate(found)
    ]
    climbed = [each.score for each in found if each.is_kept]
    gain, real = climbed[-1] - climbed[0], held_out.last - held_out.first
    note = (
        f"Each round: {len(found[0].guids)} new rows of validation; a prompt is kept if it "
        "scores higher on its rows than the last one kept did on its own. [low, high]: 95 %."
    )
    rounds = Table(f"{name} of each round", ("round", "change", name, "kept"), tuple(rows), note)
    noise = f"{gain - real:+.3f} of the gain of {gain:+.3f} was noise" if gain else "no gain"
    check = Table(
        f"first and last prompt on {held_out.rows} rows that no round has seen",
        ("first", "last", "difference", "p"),
        ((held_out.first, held_out.last, Interval(real, held_out.low, held_out.high),
          Formatted(held_out.p, ".3g")),),
        f"{noise}. p: sign test over the rows that differ.",
    )  # fmt: skip
    return [rounds, check]
