"""HeSum's tables and figures without a sweep: `heron reproduce hesum:T5`.

Statistics come from `heron analyze data=hesum`, error counts and ratings from `heron judge`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap

from heron.base.cells import Formatted, Interval, Table
from heron.base.errors import ConfigError
from heron.data.examples import Example
from heron.languages import get_language
from heron.training.compose import compose
from heron_tools.morphology.backends import Morphology, load_morphology
from heron_tools.prompting.prompts import Prompter, as_text
from heron_tools.reproduction.targets import Estimate, Filled, Names, TargetRequest
from heron_tools.statistics.options import AnalyzeOptions
from heron_tools.statistics.profiles import (
    MARKED_MORPHEMES,
    WHITESPACE,
    ArticleSummary,
    SummaryProfile,
    measure,
    merge,
    profile,
)
from heron_tools.statistics.summaries import (
    ALL,
    morphology_table,
    share_table,
    similarity,
    text_table,
)

from .judging.reading import find_forms, read_forms
from .judging.study import Study, get_wording, read_key
from .judging.tables import agreement_table, errors_tables, means_table, unblind
from .published_statistics import TEXTS

DATA = "hesum"
SUBSET = "hesum_subset"
UNCHANGED = "original"  # `summary_kind` of the subset's unchanged summaries
MORPHOLOGY = "simplemma-prefixes"
WORDS_ROW = "HeSum"
MORPHEMES_ROW = "HeSum, morphemes"
# Table 4's names of the kinds of errors in heron's forms.
ERRORS = {
    "repetition": "repetition",
    "copying": "copy from article",
    "lost_signs": "non-alphabetic omission",
    "wrong_reading": "incorrect disambiguation",
    "hallucination": "hallucination",
    "culture_transfer": "culture transfer",
    "wrong_gender": "incorrect gender",
    "wrong_definiteness": "incorrect definite",
}
SYSTEMS = ("GPT-4", "GPT-3.5", "mLongT5 base")  # rows of Tables 3 and 4
CRITERIA = ("coherence", "completeness")
BERTSCORE = "bertscore"
LAYER = 9  # of BERTScore, as in `experiment=hesum/mlongt5_base`
SUMMARIES = 30  # of each system in Table 4
_ARTICLE = "(the article)"
_WIDTH = 100  # characters per line

Sets = Mapping[str, Sequence[ArticleSummary]]
Values = dict[Names, Estimate]  # by row and column of a table of the paper


def texts(request: TargetRequest) -> Filled:
    """Describe articles and summaries (Table 1).

    Deviates: morphology by simplemma and prefix rules, not by DictaBERT. BERTScore only with
    `encoder=`, at layer 9: the paper names no layer.
    """
    sets, substitute = _pairs(request)
    profiles = _profiles(sets)
    means, counts, note = _similarity(sets, request)
    table = text_table(profiles, means, f"Morphology: {MORPHOLOGY}. {note}")

    values: Values = {}
    for set_name, *cells in table.rows:
        name = str(set_name)
        if name == ALL:
            continue
        for column, cell in zip(TEXTS, cells, strict=True):
            value = cell.value if isinstance(cell, Formatted) else cell
            if not isinstance(value, int | float):
                continue

            n = len(profiles[name])
            mark = substitute
            if column == BERTSCORE:
                n = counts[name]
                encoder = Path(str(request.encoder))
                layer = f"{encoder.name}, layer {LAYER}"
                mark = f"{substitute}, {layer}" if substitute else layer
            values[name, column] = Estimate(value, n=n, of="articles", mark=mark)

    per_word = morphology_table(profiles, _morphology())
    return Filled({"table1": values}, (table, per_word), notes=_substitute_note(substitute))


def _similarity(sets: Sets, request: TargetRequest) -> tuple[dict[str, float], dict[str, int], str]:
    """Compute BERTScore of articles and summaries with the request's encoder, if it has one.

    Returns:
        By set, the mean and the number of pairs that fit the encoder; and a note.
    """
    if request.encoder is None:
        return {}, {}, ""

    options = AnalyzeOptions(
        bertscore=request.encoder, bertscore_layer=LAYER, paths_cache=request.cache_dir
    )
    means, facts, note = similarity(sets, options)
    assert facts is not None
    means_of_sets = {name: means[name] for name in sets if name in means}

    left_out = facts["left_out"]
    counts = {}
    for name, pairs in sets.items():
        counts[name] = len(pairs) - left_out[name]
    return means_of_sets, counts, note


def _morphology() -> Morphology:
    return load_morphology(MORPHOLOGY, get_language("he"))


def summaries_by_word(request: TargetRequest) -> Filled:
    """Measure abstractness, compression and redundancy (Table 2)."""
    return _shares(request, {WORDS_ROW: WHITESPACE})


def summaries_by_morpheme(request: TargetRequest) -> Filled:
    """Measure the same by word and by morpheme (Table 5)."""
    return _shares(request, {WORDS_ROW: WHITESPACE, MORPHEMES_ROW: MARKED_MORPHEMES})


def _shares(request: TargetRequest, units: Mapping[str, str]) -> Filled:
    """Compare rows of the paper's table with measured shares.

    Args:
        request: of the target.
        units: by row, the token unit that its shares are compared with.
    """
    sets, substitute = _pairs(request)
    # The last profile is that of all splits together, if there are several.
    profiles = _profiles(sets)
    name = list(profiles)[-1]
    whole = profiles[name]
    size = len(whole)
    measured = measure(whole, request.seed)

    values: Values = {}
    for row, unit in units.items():
        for column, share in measured[unit].items():
            if isinstance(share, Interval):
                estimate = Estimate(*share, n=size, of="articles", mark=substitute)
                values[row, column] = estimate

    table = share_table({name: measured}, {name: size}, _morphology())
    listed = ", ".join(f"{row}: {unit}" for row, unit in units.items())
    note = f"Tokens beside the paper's rows: {listed}. The table has every token unit."
    # published.yaml has Tables 2 and 5 as one, `table5`.
    return Filled({"table5": values}, (table,), notes=(note, *_substitute_note(substitute)))


def _pairs(request: TargetRequest) -> tuple[Sets, str]:
    """Read HeSum's splits, or without its files the unchanged pairs of its subset.

    Returns:
        Pairs by name, and the name of the substitute data (empty: HeSum itself).

    Raises:
        DataError: neither exists, or a file is not readable.
    """
    shipped, _ = request.read_present(DATA, SUBSET)
    splits = shipped.splits
    substitute = ""
    if shipped.config.name == SUBSET:
        unchanged = []
        for example in splits["train"]:
            if example.side["summary_kind"] == UNCHANGED:
                unchanged.append(example)
        splits = {SUBSET: unchanged}
        substitute = f"{SUBSET}, {len(unchanged)} unchanged pairs"

    sets: dict[str, list[ArticleSummary]] = {}
    for name, examples in splits.items():
        sets[name] = []
        for example in examples:
            if example.target is not None:
                sets[name].append(ArticleSummary(example.text, example.target, example.group))
    return sets, substitute


def _profiles(sets: Sets) -> dict[str, SummaryProfile]:
    """Compute the profile of each set, and of several together."""
    morphology = _morphology()
    profiles = {name: profile(pairs, morphology) for name, pairs in sets.items()}
    if len(profiles) > 1:
        profiles[ALL] = merge(list(profiles.values()))
    return profiles


def _substitute_note(substitute: str) -> tuple[str, ...]:
    if not substitute:
        return ()
    return (f"In place of HeSum: {substitute}. Its articles may be cut.",)


def errors(request: TargetRequest) -> Filled:
    """Count the errors that raters noticed, and average their ratings (Tables 4 and 3)."""
    study, forms = _study(request.files)
    answers, problems = read_forms(forms, study)
    if not answers:
        files = ",".join(map(str, request.files))
        raise ConfigError(f"from={files}: no form is filled")

    ratings = unblind(study, answers)
    means = means_table(ratings, request.seed)
    values = {"table4": {}, "table3_people": _means(means)}
    notes = [f"Only systems called {', '.join(SYSTEMS)} are compared with the paper's rows."]

    counts = errors_tables(ratings)
    if counts:
        values["table4"] = _counts(counts[0])
        notes.append(f"The paper counts in {SUMMARIES} summaries of each system.")
    notes += [f"not used: {problem}" for problem in problems]
    tables = (*counts, means, agreement_table(ratings, request.seed))
    return Filled(values, tables, notes=notes)


def _counts(table: Table) -> Values:
    """Read the counts of errors that most raters noticed.

    Counts over another number of summaries than the paper's are marked.

    Args:
        table: its columns are systems, its first row counts the summaries of each.
    """
    checked, *rows = table.rows
    values: Values = {}
    for column, system in enumerate(table.columns[1:], 1):
        n = int(_number(checked[column]))
        mark = "" if n == SUMMARIES else f"not {SUMMARIES} summaries of each system"
        for row in rows:
            kind = str(row[0])
            estimate = Estimate(_number(row[column]), n=n, of="summaries", mark=mark)
            values[system, ERRORS.get(kind, kind)] = estimate
    return values


def _means(table: Table) -> Values:
    """Read the mean ratings.

    Args:
        table: a row for each system, with its mean of each criterion.

    Returns:
        Means by system and criterion, with intervals unless all ratings are of one article.
    """
    values: Values = {}
    for row in table.rows:
        system = str(row[0])
        cells = dict(zip(table.columns, row, strict=True))
        n = int(_number(cells["summaries"]))
        for name in CRITERIA:
            mean = cells.get(name)
            if isinstance(mean, Interval):
                values[system, name] = Estimate(*mean, n=n, of="summaries")
            elif isinstance(mean, float):
                values[system, name] = Estimate(mean, n=n, of="summaries")
    return values


def _number(cell: object) -> float:
    assert isinstance(cell, int | float)
    return cell


def _study(files: Sequence[Path]) -> tuple[Study, list[Path]]:
    """Find the key and the forms of a study.

    Args:
        files: the study's folder or its `key.json`, and forms or folders of forms; without these,
            the forms of the study's folder are read.

    Raises:
        ConfigError: no key, or no forms.
    """
    keys = []
    for path in files:
        file = path / "key.json" if path.is_dir() else path
        if file.name == "key.json" and file.is_file():
            keys.append(file)
    if len(keys) != 1:
        raise ConfigError(
            "from=STUDY,FORMS: name the folder with key.json that `heron judge sample` wrote, and "
            "the filled forms, unless they are in its folder forms"
        )

    key = keys[0]
    forms = [str(path) for path in files if path not in (key, key.parent)]
    if not forms:
        forms = [str(key.parent / "forms")]
    return read_key(key), find_forms(forms, key)


def scales(request: TargetRequest) -> Filled:
    """Show the raters' scales, in English and Hebrew (Figure 1)."""
    tables = []
    for code in ("en", "he"):
        rows = []
        for scale in get_wording(code).criteria:
            if scale.name in CRITERIA:
                rows.append((scale.title, scale.description, scale.lowest, scale.highest))
        title = f"Scales from 1 to 5, {get_language(code).name}"
        tables.append(Table(title, ("criterion", "question", "1", "5"), rows))

    notes = ("heron's own wording; `heron judge sample` writes the forms.",)
    return Filled(tables=tables, notes=notes)


def prompts(request: TargetRequest) -> Filled:
    """Render the prompt as sent, and heron's Hebrew translation of it (Figure 2)."""
    example = Example("article", _ARTICLE)
    files = {}
    tables = []
    for name, output in (("hesum", "en"), ("hesum_he", "null")):
        translation = f"prompting.translation.output={output}"
        config = compose(["experiment=hesum/gpt", f"prompt={name}", translation])
        prompter = Prompter(config, config.prompting.prompt)
        text = as_text(prompter.messages(example))
        files[f"{name}.txt"] = f"{text}\n"

        lines = []
        for line in text.splitlines():
            lines += [(part,) for part in wrap(line, _WIDTH)]
        columns = ("as sent, but for line breaks",)
        tables.append(Table(f"The prompt, prompt={name}", columns, lines))

    notes = (
        f"{_ARTICLE} is replaced by an article, below the instruction: the figure ends before it.",
        "hesum_he.txt is heron's translation; the paper does not print the Hebrew instruction of "
        "Table 8.",
    )
    return Filled(tables=tables, files=files, notes=notes)
