"""Builds a corpus from a dump: pages in parallel, parts on disk, then splits.

The dump is read as a stream. Each batch of pages becomes one part on disk, so that a killed command
resumes after its last part; the result does not depend on the number of processes.
"""

from __future__ import annotations

import bz2
import gzip
import heapq
import json
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import accumulate
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from rich.progress import Progress

from heron.base.errors import ConfigError, DataError
from heron.base.files import fingerprint, read_json, sha256_file, write_file, write_json
from heron.base.folders import begin_worker, experiment_roots
from heron.base.terminal import messages
from heron.data.config import SPLITS

from .texts import NEUTRAL, PairRules, SentencePair, read_article

BATCH = 100  # pages per part
PARTS = "parts"
_NAMESPACES = (6, 14)  # MediaWiki's numbers of files and of categories
ORIGINALS = ("original1", "original2")  # columns of the sentences with their phrases


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """The settings that determine the result."""

    dump: Path
    rules: PairRules
    neutral: str  # `other_article` or `same_article`
    most_neutral: int  # maximum of neutral pairs; 0: as many as linked ones
    shares: Sequence[float]  # of articles in train, validation and test
    seed: int


class LinkedPair(NamedTuple):
    """A pair of sentences, without and with its phrases; neutral ones have none."""

    title: str  # of the article
    first: str
    second: str
    label: str
    original_first: str
    original_second: str


class Phrase(NamedTuple):
    """A linking phrase of a class."""

    label: str
    text: str


class BuildCounts(NamedTuple):
    """What a build counts."""

    pairs: Counter[str]  # pages, pairs found, dropped and written
    sentences: Counter[Phrase]  # that a phrase begins, as Tables 7 to 9 of RoNLI count
    kept: Counter[Phrase]  # of them, in a pair


def build(
    plan: BuildSettings, out: Path, workers: int, progress: bool | None = None
) -> BuildCounts:
    """Build the corpus into `out`; returns its counts.

    Args:
        plan: the dump, and what becomes of it.
        out: the folder of the corpus; parts that it has are not made again.
        workers: processes that read pages.
        progress: whether a bar is shown; None: on a terminal.

    Raises:
        ConfigError: the parts in `out` were made with other options.
        DataError: the dump cannot be read.
    """
    _check_options(plan, out)
    pages = _make_parts(plan, out, workers, progress)
    counts = BuildCounts(pairs=pages, sentences=Counter(), kept=Counter())
    pairs = _choose_pairs(plan, out, counts)
    _write_splits(plan, out, pairs, counts.pairs)
    return counts


def _check_options(plan: BuildSettings, out: Path) -> None:
    """Store the settings of the parts, or compare with them."""
    key = fingerprint(SentencePair._fields, asdict(plan.rules), sha256_file(plan.dump))
    path = out / PARTS / "made_with.json"
    if path.is_file() and read_json(path)["key"] != key:
        raise ConfigError(f"{out / PARTS}: made with other options; remove it, or choose out=DIR")

    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"key": key})


def read_namespaces(dump: Path) -> list[str]:
    """List the dump's names for the namespaces of files and categories, in lower case."""
    with _read(dump) as content:
        namespaces = content.site_info.namespaces or ()
        return [str(space.name).lower() for space in namespaces if space.id in _NAMESPACES]


def read_pages(dump: Path) -> Iterator[tuple[str, str]]:
    """Yield title and text of a dump's articles: namespace 0, no redirects.

    Raises:
        ConfigError: mwxml is not installed.
        DataError: the file is not a MediaWiki dump, or is truncated.
    """
    with _read(dump) as content:
        for page in content:
            if page.namespace != 0 or page.redirect is not None:
                continue

            last = None
            for last in page:  # noqa: B007  (the last revision is used)
                pass
            if last is not None and last.text:
                yield page.title, last.text


@contextmanager
def _read(dump: Path) -> Iterator[Any]:
    """Open a dump; an error of the file or of its XML becomes a DataError."""
    try:
        import mwxml  # optional dependency
    except ImportError as error:
        raise ConfigError("heron build ronli needs mwxml: pip install heron-nlu[build]") from error

    try:
        with _open(dump) as file:
            yield mwxml.Dump.from_file(file)
    except (OSError, EOFError, ValueError, AttributeError, SyntaxError) as error:
        fix = "a dump pages-articles.xml, also .bz2 or .gz"
        raise DataError(str(dump), f"cannot be read: {error}", fix) from error


def _open(dump: Path) -> Any:
    if dump.suffix == ".bz2":
        return bz2.open(dump, "rb")
    if dump.suffix == ".gz":
        return gzip.open(dump, "rb")
    return dump.open("rb")


def _make_parts(
    plan: BuildSettings, out: Path, workers: int, progress: bool | None
) -> Counter[str]:
    """Process batches of pages into parts, a few at a time; existing parts are kept."""
    console = messages()
    if progress is None:
        progress = console.is_terminal

    counts: Counter[str] = Counter()
    waiting: deque[Future[None]] = deque()
    roots = experiment_roots()  # a worker imports this module from there
    with (
        Progress(console=console, disable=not progress, transient=True) as bar,
        ProcessPoolExecutor(workers, get_context("spawn"), begin_worker, (roots,)) as pool,
    ):
        task = bar.add_task("pages", total=None)
        for number, batch in enumerate(_batches(plan.dump)):
            counts["pages"] += len(batch)
            path = out / PARTS / f"{number:06}.jsonl"
            if not path.is_file():
                part = pool.submit(_make_part, batch, plan.rules, path)
                waiting.append(part)
            if len(waiting) > 2 * workers:
                oldest = waiting.popleft()
                oldest.result()
            bar.update(task, advance=len(batch))

        for future in waiting:
            future.result()
    return counts


def _batches(dump: Path) -> Iterator[list[tuple[str, str]]]:
    """Yield title and text of the pages of a dump, `BATCH` at a time."""
    batch: list[tuple[str, str]] = []
    for page in read_pages(dump):
        batch.append(page)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _make_part(batch: Sequence[tuple[str, str]], rules: PairRules, path: Path) -> None:
    """Write the pairs and the other sentences of some pages, a line for each article."""
    lines = []
    for title, text in batch:
        pairs, plain = read_article(text, rules)
        if pairs or plain:
            article = {"title": title, "pairs": pairs, "plain": plain}
            lines.append(_json_line(article))
    write_file(path, "".join(lines))


def _json_line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _articles(out: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((out / PARTS).glob("*.jsonl")):
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def _choose_pairs(plan: BuildSettings, out: Path, counts: BuildCounts) -> list[LinkedPair]:
    """Choose the pairs: linked ones without duplicates, and neutral ones.

    A sentence is used once, in its first article, because boilerplate of many articles is
    uninformative and would be in several splits.
    """
    seen: set[int] = set()
    pairs: list[LinkedPair] = []
    for article in _articles(out):
        for first, second, label, phrase, *originals in article["pairs"]:
            linking_phrase = Phrase(label, phrase)
            counts.pairs[f"found {label}"] += 1
            counts.sentences[linking_phrase] += 1

            keys = _hash(first), _hash(second)
            if seen.intersection(keys):
                counts.pairs["repeated sentences"] += 1
                continue
            seen.update(keys)

            counts.kept[linking_phrase] += 1
            pair = LinkedPair(article["title"], first, second, label, *originals)
            pairs.append(pair)

    wanted = plan.most_neutral or len(pairs)
    pairs += _neutral_pairs(plan, out, wanted, seen, counts.pairs)
    return pairs


def _neutral_pairs(
    plan: BuildSettings, out: Path, wanted: int, seen: set[int], counts: Counter[str]
) -> Iterator[LinkedPair]:
    """Pair sentences without phrases, of one article or of two.

    Args:
        plan: says whether the sentences of a pair come from one article.
        out: the folder with the parts.
        wanted: number of pairs to draw sentences for; fewer may be found.
        seen: hashes of the sentences that are used; those of the new pairs are added.
        counts: of pairs, by what became of them.
    """
    same_article = plan.neutral == "same_article"
    sentences = _draw_sentences(plan, out, wanted, seen)
    while len(sentences) > 1:
        title, first = sentences.popleft()
        partner = None
        for index, (other_title, _) in enumerate(sentences):
            if (other_title == title) is same_article:
                partner = index
                break

        # Sentences that were drawn together are neighbours.
        if partner is None or (same_article and partner > 0):
            counts["neutral sentences without a partner"] += 1
            continue
        _, second = sentences[partner]
        del sentences[partner]

        keys = {_hash(first), _hash(second)}
        if keys & seen or first == second:
            counts["repeated sentences"] += 1
            continue
        seen.update(keys)

        counts[f"found {NEUTRAL}"] += 1
        yield LinkedPair(title, first, second, NEUTRAL, first, second)


def _draw_sentences(
    plan: BuildSettings, out: Path, wanted: int, seen: set[int]
) -> deque[tuple[str, str]]:
    """Draw sentences for neutral pairs, independent of the dump's order.

    With `same_article`, two sentences of an article are drawn together.

    Returns:
        The title of the article and the sentence of each, those with the smallest hashes first.
    """
    size = 2 if plan.neutral == "same_article" else 1

    # The smallest hashes, negated, because a heap drops its minimum.
    drawn: list[tuple[int, str, list[str]]] = []
    for article in _articles(out):
        hashed = []
        for text in set(article["plain"]):
            if _hash(text) not in seen:
                key = _seeded_hash(plan.seed, text)
                hashed.append((key, text))
        hashed.sort()

        for start in range(0, len(hashed) - size + 1, size):
            together = hashed[start : start + size]
            smallest, _ = together[0]
            texts = [text for _, text in together]
            entry = (-smallest, article["title"], texts)
            if len(drawn) < 2 * wanted // size:
                heapq.heappush(drawn, entry)
            else:
                heapq.heappushpop(drawn, entry)

    sentences: deque[tuple[str, str]] = deque()
    for _, title, texts in sorted(drawn, reverse=True):
        for text in texts:
            sentences.append((title, text))
    return sentences


def _hash(text: str) -> int:
    digest = blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _seeded_hash(seed: int, text: str) -> int:
    return _hash(f"{seed}\n{text}")


def _write_splits(
    plan: BuildSettings, out: Path, pairs: Sequence[LinkedPair], counts: Counter[str]
) -> None:
    """Divide the articles, and write and count the rows of each split."""
    split_of = _divide_articles(plan, pairs)
    rows: dict[str, list[dict[str, str]]] = {split: [] for split in SPLITS}
    for pair in pairs:
        split = split_of[pair.title]
        counts[f"{split} {pair.label}"] += 1

        key = _hash(f"{pair.title}{pair.first}{pair.second}")
        row = {
            "guid": f"{key:016x}",
            "sentence1": pair.first,
            "sentence2": pair.second,
            "label": pair.label,
            "article": pair.title,
            ORIGINALS[0]: pair.original_first,
            ORIGINALS[1]: pair.original_second,
        }
        rows[split].append(row)

    for split, rows_of_split in rows.items():
        rows_of_split.sort(key=itemgetter("guid"))
        lines = "".join(map(_json_line, rows_of_split))
        write_file(out / f"{split}.jsonl", lines)


def _divide_articles(plan: BuildSettings, pairs: Sequence[LinkedPair]) -> dict[str, str]:
    """Choose the split of each article: each class is divided by `plan.shares`.

    An article counts for the rarest class of its pairs.

    Returns:
        The split of each title.
    """
    labels_of: dict[str, set[str]] = {}
    for pair in pairs:
        labels_of.setdefault(pair.title, set()).add(pair.label)

    sizes = Counter(pair.label for pair in pairs)
    titles_of: dict[str, list[str]] = {label: [] for label in sizes}
    for title, labels in labels_of.items():
        rarest = min(labels, key=lambda label: (sizes[label], label))
        titles_of[rarest].append(title)

    ends = tuple(accumulate(plan.shares))
    split_of: dict[str, str] = {}
    for titles in titles_of.values():
        titles.sort(key=lambda title: _seeded_hash(plan.seed, title))

        for position, title in enumerate(titles):
            for split, end in zip(SPLITS, ends, strict=True):
                if position < end * len(titles):
                    split_of[title] = split
                    break
    return split_of
