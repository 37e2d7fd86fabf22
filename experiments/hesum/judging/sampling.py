"""`heron judge sample`: draw articles, blind the systems, write forms and key.

Legend: A articles, S systems.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.files import fingerprint, sha256_file
from heron.config.constraints import Seed
from heron.languages import get_language
from heron.languages.unicode import Spell, around_difference
from heron.tasks.summarization.scores import require_asked
from heron_tools.analysis.systems import SummarySystem, read_systems
from heron_tools.annotation.sheets import assign_raters
from heron_tools.statistics.options import BertScoreOptions

from .form import write_forms
from .measuring import measure, references, sign_measures
from .study import Judged, Study, choose_questions, get_wording, write_key
from .systems import GOLD, articles_of, shared_speller

Ids = npt.NDArray[np.int64]


@dataclass
class SampleOptions(BertScoreOptions):
    """Options of `heron judge sample`.

    Args:
        systems: run folders or tables with guid and prediction; `name:path` names one.
        out: a folder without a study.
        gold: also judge the reference summaries, as a system called `gold`.
        articles: number to draw; HeSum's study has 62.
        raters: number of forms; HeSum's study has 7.
        overlap: raters per article; default: all.
        criteria: names, or a table with the columns name, description, lowest, highest.
        errors: kinds of errors to tick: `all`, `none`, names, or a table with name, description.
        language: of the texts, ISO 639-1; default: the runs'.
        wording: language of the form's own words; default: the texts'.
        split: of the runs' predictions.
        seed: determines the articles and orders.

    Also `bertscore=` and its options, for the correlations: `heron.metrics.config`.
    """

    systems: list[str]
    out: Path
    gold: bool = False
    articles: int = 62
    raters: int = 7
    overlap: int | None = None
    criteria: list[str] = field(default_factory=lambda: ["coherence", "completeness"])
    errors: list[str] = field(default_factory=lambda: ["all"])
    language: str | None = None
    wording: str | None = None
    split: str = "test"
    seed: Seed = 0


def draw_study(options: SampleOptions) -> tuple[Study, list[Path]]:
    """Draw the articles, and write `key.json` and the forms; returns the study and the forms.

    Raises:
        ConfigError: impossible options, too few articles, or an existing study.
        DataError: unusable files.
    """
    key = options.out / "key.json"
    if key.exists():
        raise ConfigError(f"{key} exists already, and forms in use may need it: name a new out=")
    overlap, by_encoder = _check_numbers(options), options.bertscore_config()
    require_asked(by_encoder)
    systems = read_systems(options.systems, options.split)
    language = get_language(_language(options, systems)).code
    wording = options.wording or (language if get_language(language).wording else "en")
    criteria, errors = choose_questions(options.criteria, options.errors, get_wording(wording))
    articles = _articles(systems, shared_speller(systems, language))
    summaries = _summaries(systems, options.gold)
    guids = _draw(articles, summaries, options)
    study = Study(
        id=_identity(options, systems, guids),
        language=language,
        wording=wording,
        criteria=criteria,
        errors=errors,
        systems=tuple(summaries),
        items=_items(guids, list(summaries), options.raters, overlap, options.seed),
        metrics=measure(systems, guids, language, by_encoder),
        synthetic=any(system.synthetic for system in systems),
        made={
            "options": _plain(options),
            "files": {
                one.name: {"path": str(one.path), "sha256": sha256_file(one.path)}
                for one in systems
            },
            **sign_measures(systems, guids, language, by_encoder),
        },
    )
    write_key(key, study)
    return study, write_forms(options.out / "forms", study, articles, summaries)


def _check_numbers(options: SampleOptions) -> int:
    overlap = options.raters if options.overlap is None else options.overlap
    for name, value in (("articles", options.articles), ("raters", options.raters)):
        if value < 1:
            raise ConfigError(f"{name}={value}: at least 1")
    if not 1 <= overlap <= options.raters:
        raise ConfigError(
            f"overlap={overlap}: from 1 to {options.raters}, the raters of an article"
        )
    if options.seed < 0:
        raise ConfigError(f"seed={options.seed}: at least 0")
    return overlap


def _language(options: SampleOptions, systems: Sequence[SummarySystem]) -> str:
    if options.language:
        return options.language
    found = sorted({system.language for system in systems if system.language})
    if len(found) != 1:
        what = f"the runs are in {' and '.join(found)}" if found else "tables do not say theirs"
        raise ConfigError(f"language=: {what}; name the language of the texts, such as language=he")
    return found[0]


def _articles(systems: Sequence[SummarySystem], spell: Spell) -> dict[str, str]:
    """Join the articles of all files.

    Raises:
        DataError: there are none, or articles or references differ; names the guids.
    """
    _check_same(systems, "reference", [one.references for one in systems], spell)
    _check_same(systems, "article", [articles_of(one) for one in systems], spell)
    articles = {guid: text for one in reversed(systems) for guid, text in articles_of(one).items()}
    if not articles:
        fix = "at least one file needs a column text or article: raters have to read it"
        raise DataError(", ".join(str(one.path) for one in systems), "no articles", fix)
    return articles


def _check_same(
    systems: Sequence[SummarySystem], kind: str, texts: Sequence[Mapping[str, str]], spell: Spell
) -> None:
    """Refuse files whose texts of one guid differ."""
    found: dict[str, tuple[str, SummarySystem]] = {}
    problems = []
    for system, by_guid in zip(systems, texts, strict=True):
        for guid, text in by_guid.items():
            known, first = found.setdefault(guid, (text, system))
            if known == text:
                continue
            own, other = (" ".join(spell(each).split()) for each in (text, known))
            if own != other:
                here, there = around_difference(own, other)
                what = f"another {kind} than in {first.path}: '{here}', there '{there}'"
                fix = f"guids must mean the same; or leave the {kind} out of one file"
                problems.append(Problem(f"{system.path}: {guid}", what, fix))
    if problems:
        raise DataError(problems)


def _summaries(systems: Sequence[SummarySystem], gold: bool) -> dict[str, Mapping[str, str]]:
    summaries: dict[str, Mapping[str, str]] = {one.name: one.summaries for one in systems}
    if gold:
        if GOLD in summaries:
            raise ConfigError(f"gold=true: a system is called {GOLD}; name it: systems=other:PATH")
        summaries[GOLD] = references(systems)
        if not summaries[GOLD]:
            raise ConfigError("gold=true: no file has a column gold or reference")
    return summaries


def _draw(
    articles: Mapping[str, str], summaries: Mapping[str, Mapping[str, str]], options: SampleOptions
) -> list[str]:
    """Draw from the articles that all systems summarized, independent of the files' order."""
    common = sorted(set(articles).intersection(*summaries.values()))
    if options.articles > len(common):
        have = ", ".join(f"{name} {len(texts)}" for name, texts in summaries.items())
        raise ConfigError(
            f"articles={options.articles}: only {len(common)} articles have a text and a summary "
            f"of every system ({have})"
        )
    random = np.random.default_rng([options.seed, 0])
    return sorted(random.choice(common, options.articles, replace=False).tolist())


def _items(
    guids: Sequence[str], systems: Sequence[str], raters: int, overlap: int, seed: int
) -> dict[str, dict[str, Judged]]:
    """Assign summaries to forms; each rater has another order of the articles."""
    random = np.random.default_rng([seed, 1])
    teams = assign_raters(len(guids), raters, overlap, random)
    forms = {}
    for rater in range(raters):
        mine = [guid for guid, team in zip(guids, teams, strict=True) if rater in team]
        mine = [mine[place] for place in random.permutation(len(mine))]
        orders = system_orders(len(mine), len(systems), random)
        forms[f"r{rater + 1}"] = {
            f"{article:03d}-{place}": Judged(guid, systems[system])
            for article, (guid, order) in enumerate(zip(mine, orders, strict=True), 1)
            for place, system in enumerate(order.tolist(), 1)
        }
    return forms


def _identity(
    options: SampleOptions, systems: Sequence[SummarySystem], guids: Sequence[str]
) -> str:
    hashes = [(system.name, sha256_file(system.path)) for system in systems]
    return fingerprint(hashes, list(guids), {**_plain(options), "out": ""})[:8]


def _plain(options: SampleOptions) -> dict[str, object]:
    return {**dataclasses.asdict(options), "out": str(options.out)}


def system_orders(articles: int, systems: int, random: np.random.Generator) -> Ids:
    """Draw the order of the systems for each article of one form, int64 `[A, S]`.

    Orders are rows of random Latin squares, so that over a form, each system is in each position
    equally often, up to one.
    """
    squares = [_latin_square(systems, random) for _ in range(-(-articles // systems))]
    return np.concatenate([np.empty((0, systems), np.int64), *squares])[:articles]


def _latin_square(size: int, random: np.random.Generator) -> Ids:
    """Shuffle rows, columns and symbols of the cyclic square."""
    rows, columns, symbols = (random.permutation(size) for _ in range(3))
    return symbols[(rows[:, None] + columns[None]) % size].astype(np.int64)
