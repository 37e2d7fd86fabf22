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

from heron.base.errors import ConfigError, DataError, Problem, raise_all
from heron.base.files import fingerprint, sha256_file
from heron.config.constraints import Seed
from heron.languages import get_language
from heron.languages.unicode import Spell, around_difference
from heron.tasks.scoring import require_bertscore
from heron_tools.analysis.systems import SummarySystem, read_systems
from heron_tools.annotation.sheets import assign_raters
from heron_tools.statistics.options import BertScoreOptions

from .form import write_forms
from .measuring import measure, references, sign_measures
from .study import JudgedSummary, Study, choose_questions, get_wording, write_key
from .systems import GOLD, articles_of, shared_speller

Ids = npt.NDArray[np.int64]


@dataclass
class SampleSummariesOptions(BertScoreOptions):
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


def draw_study(options: SampleSummariesOptions) -> tuple[Study, list[Path]]:
    """Draw the articles, and write `key.json` and the forms; returns the study and the forms.

    Raises:
        ConfigError: impossible options, too few articles, or an existing study.
        DataError: unusable files.
    """
    key = options.out / "key.json"
    if key.exists():
        raise ConfigError(f"{key} exists already, and forms in use may need it: name a new out=")

    overlap = _check_numbers(options)
    bertscore = options.bertscore_config()
    require_bertscore(bertscore)

    systems = read_systems(options.systems, options.split)
    language = get_language(_language(options, systems))
    code = language.code
    wording = options.wording or (code if language.wording else "en")
    criteria, errors = choose_questions(options.criteria, options.errors, get_wording(wording))

    articles = _articles(systems, shared_speller(systems, code))
    summaries = _summaries(systems, options.gold)
    guids = _draw(articles, summaries, options)
    names = tuple(summaries)
    items = _items(guids, names, options.raters, overlap, options.seed)

    plain_options = {**dataclasses.asdict(options), "out": str(options.out)}
    hashes = []
    files = {}
    for system in systems:
        sha256 = sha256_file(system.path)
        hashes.append((system.name, sha256))
        files[system.name] = {"path": str(system.path), "sha256": sha256}

    signatures = sign_measures(systems, guids, code, bertscore)
    study = Study(
        id=fingerprint(hashes, guids, {**plain_options, "out": ""})[:8],
        language=code,
        wording=wording,
        criteria=criteria,
        errors=errors,
        systems=names,
        items=items,
        metrics=measure(systems, guids, code, bertscore),
        synthetic=any(system.synthetic for system in systems),
        made={"options": plain_options, "files": files, **signatures},
    )
    write_key(key, study)
    return study, write_forms(options.out / "forms", study, articles, summaries)


def _check_numbers(options: SampleSummariesOptions) -> int:
    """Check the options that are numbers; returns the number of raters per article."""
    for name in ("articles", "raters"):
        value = getattr(options, name)
        if value < 1:
            raise ConfigError(f"{name}={value}: at least 1")

    raters = options.raters
    overlap = raters if options.overlap is None else options.overlap
    if not 1 <= overlap <= raters:
        raise ConfigError(f"overlap={overlap}: from 1 to {raters}, the raters of an article")
    return overlap


def _language(options: SampleSummariesOptions, systems: Sequence[SummarySystem]) -> str:
    """Find the language of the texts; raises ConfigError if the files do not agree on one."""
    if options.language:
        return options.language
    languages = sorted({system.language for system in systems if system.language})
    if len(languages) == 1:
        return languages[0]

    reason = "tables do not say theirs"
    if languages:
        reason = f"the runs are in {' and '.join(languages)}"
    raise ConfigError(f"language=: {reason}; name the language of the texts, such as language=he")


def _articles(systems: Sequence[SummarySystem], spell: Spell) -> dict[str, str]:
    """Join the articles of all files; those of the first file take precedence.

    Raises:
        DataError: there are none, or articles or references differ; names the guids.
    """
    _check_same(systems, "reference", [system.references for system in systems], spell)
    texts = [articles_of(system) for system in systems]
    _check_same(systems, "article", texts, spell)

    articles: dict[str, str] = {}
    for by_guid in reversed(texts):
        articles.update(by_guid)
    if not articles:
        paths = ", ".join(str(system.path) for system in systems)
        fix = "at least one file needs a column text or article: raters have to read it"
        raise DataError(paths, "no articles", fix)
    return articles


def _check_same(
    systems: Sequence[SummarySystem], kind: str, texts: Sequence[Mapping[str, str]], spell: Spell
) -> None:
    """Refuse files whose texts of one guid differ by more than spelling and white space.

    Args:
        systems: the files.
        kind: what the texts are, for messages.
        texts: of each system, by guid.
        spell: unifies spellings.
    """
    seen: dict[str, tuple[str, SummarySystem]] = {}  # by guid: the first text and its file
    problems = []
    for system, by_guid in zip(systems, texts, strict=True):
        for guid, text in by_guid.items():
            first_text, first_system = seen.setdefault(guid, (text, system))
            if text == first_text:
                continue

            words = " ".join(spell(text).split())
            first_words = " ".join(spell(first_text).split())
            if words != first_words:
                here, there = around_difference(words, first_words)
                first_path = first_system.path
                problem = f"another {kind} than in {first_path}: '{here}', there '{there}'"
                fix = f"guids must mean the same; or leave the {kind} out of one file"
                problems.append(Problem(f"{system.path}: {guid}", problem, fix))
    raise_all(problems)


def _summaries(systems: Sequence[SummarySystem], gold: bool) -> dict[str, Mapping[str, str]]:
    """Collect the summaries by system and guid; with `gold`, the references as a system."""
    summaries: dict[str, Mapping[str, str]] = {}
    for system in systems:
        summaries[system.name] = system.summaries
    if not gold:
        return summaries

    if GOLD in summaries:
        raise ConfigError(f"gold=true: a system is called {GOLD}; name it: systems=other:PATH")
    summaries[GOLD] = references(systems)
    if not summaries[GOLD]:
        raise ConfigError("gold=true: no file has a column gold or reference")
    return summaries


def _draw(
    articles: Mapping[str, str],
    summaries: Mapping[str, Mapping[str, str]],
    options: SampleSummariesOptions,
) -> list[str]:
    """Draw from the articles that all systems summarized, independent of the files' order.

    Returns:
        Guids, sorted.

    Raises:
        ConfigError: more articles are asked for than there are.
    """
    common = sorted(set(articles).intersection(*summaries.values()))
    count = options.articles
    if count > len(common):
        sizes = ", ".join(f"{name} {len(texts)}" for name, texts in summaries.items())
        raise ConfigError(
            f"articles={count}: only {len(common)} articles have a text and a summary "
            f"of every system ({sizes})"
        )

    random = np.random.default_rng([options.seed, 0])
    drawn = random.choice(common, count, replace=False)
    return sorted(drawn.tolist())


def _items(
    guids: Sequence[str], systems: Sequence[str], raters: int, overlap: int, seed: int
) -> dict[str, dict[str, JudgedSummary]]:
    """Assign summaries to forms; each rater has another order of the articles.

    Returns:
        Summaries by rater (`r1`) and item (`012-2`: article 12, summary 2), in the form's order.
    """
    random = np.random.default_rng([seed, 1])
    teams = assign_raters(len(guids), raters, overlap, random)

    forms = {}
    for rater in range(raters):
        assigned = [guid for guid, team in zip(guids, teams, strict=True) if rater in team]
        order = random.permutation(len(assigned))
        orders = system_orders(len(assigned), len(systems), random)

        items = {}
        for article, index in enumerate(order):
            for position, system in enumerate(orders[article], 1):
                item = f"{article + 1:03d}-{position}"
                items[item] = JudgedSummary(assigned[index], systems[system])
        forms[f"r{rater + 1}"] = items
    return forms


def system_orders(articles: int, systems: int, random: np.random.Generator) -> Ids:
    """Draw the order of the systems for each article of one form.

    Orders are rows of random Latin squares, so that over a form, each system is in each position
    equally often, up to one.

    Args:
        articles: number of articles on the form, A.
        systems: number of systems, S.
        random: generator.

    Returns:
        Indices of systems, int64 `[A, S]`.
    """
    orders = np.empty((0, systems), np.int64)
    while len(orders) < articles:
        orders = np.concatenate([orders, _latin_square(systems, random)])
    return orders[:articles]


def _latin_square(size: int, random: np.random.Generator) -> Ids:
    """Shuffle rows, columns and symbols of the cyclic square."""
    rows = random.permutation(size)
    columns = random.permutation(size)
    symbols = random.permutation(size)
    return symbols[(rows[:, None] + columns[None]) % size].astype(np.int64)
