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
from multiprocessing import get_context
from pathlib import Path
from typing import IO, Any, NamedTuple

from rich.progress import Progress

from heron.base.errors import ConfigError, DataError
from heron.base.files import fingerprint, read_json, sha256_file, write_file, write_json
from heron.base.folders import begin_worker, experiment_roots
from heron.base.terminal import messages
from heron.data.config import SPLITS

from .texts import NEUTRAL, Found, Rules, read_article

BATCH = 100  # pages per part
PARTS = "parts"
ORIGINALS = ("original1", "original2")  # columns of the sentences with their phrases


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings that determine the result."""

    dump: Path
    rules: Rules
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


def build(plan: Plan, out: Path, workers: int, progress: bool | None = None) -> BuildCounts:
    """Build the corpus into `out`; returns its counts.

    Raises:
        ConfigError: the parts in `out` were made with other options.
        DataError: the dump cannot be read.
    """
    _claim(plan, out)
    counts = BuildCounts(_make_parts(plan, out, workers, progress), Counter(), Counter())
    pairs = _link(plan, out, counts)
    _write_splits(plan, out, pairs, counts.pairs)
    return counts


def _claim(plan: Plan, out: Path) -> None:
    """Store the settings of the parts, or compare with them."""
    key = fingerprint(Found._fields, asdict(plan.rules), sha256_file(plan.dump))
    path = out / PARTS / "made_with.json"
    if path.is_file() and read_json(path)["key"] != key:
        raise ConfigError(f"{out / PARTS}: made with other options; remove it, or choose out=DIR")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"key": key})


def read_namespaces(dump: Path) -> list[str]:
    """List the dump's names for the namespaces of files and categories, in lower case."""
    with _read(dump) as read:
        return [str(n.name).lower() for n in read.site_info.namespaces or () if n.id in (6, 14)]


def read_pages(dump: Path) -> Iterator[tuple[str, str]]:
    """Yield title and text of a dump's articles: namespace 0, no redirects.

    Raises:
        ConfigError: mwxml is not installed.
        DataError: the file is not a MediaWiki dump, or is truncated.
    """
    with _read(dump) as read:
        for page in read:
            if page.namespace == 0 and page.redirect is None:
                last = None
                for last in page:  # noqa: B007  (the last revision is used)
                    pass
                if last is not None and last.text:
                    yield page.title, last.text


@contextmanager
def _read(dump: Path) -> Iterator[Any]:
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


def _open(dump: Path) -> IO[Any]:
    opened: dict[str, Any] = {".bz2": bz2.open, ".gz": gzip.open}
    return opened.get(dump.suffix, open)(dump, "rb")


def _make_parts(plan: Plan, out: Path, workers: int, progress: bool | None) -> Counter[str]:
    """Process batches of pages into parts, a few at a time; existing parts are kept."""
    console = messages()
    shown = console.is_terminal if progress is None else progress
    counts: Counter[str] = Counter()
    waiting: deque[Future[None]] = deque()
    roots = experiment_roots()  # a worker imports this module from there
    with (
        Progress(console=console, disable=not shown, transient=True) as bar,
        ProcessPoolExecutor(workers, get_context("spawn"), begin_worker, (roots,)) as pool,
    ):
        task = bar.add_task("pages", total=None)
        for number, batch in enumerate(_batches(plan.dump)):
            counts["pages"] += len(batch)
            path = out / PARTS / f"{number:06}.jsonl"
            if not path.is_file():
                waiting.append(pool.submit(_make_part, batch, plan.rules, path))
            if len(waiting) > 2 * workers:
                waiting.popleft().result()
            bar.update(task, advance=len(batch))
        for future in waiting:
            future.result()
    return counts


def _batches(dump: Path) -> Iterator[list[tuple[str, str]]]:
    batch: list[tuple[str, str]] = []
    for page in read_pages(dump):
        batch.append(page)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _make_part(batch: Sequence[tuple[str, str]], rules: Rules, path: Path) -> None:
    lines = []
    for title, text in batch:
        pairs, plain = read_article(text, rules)
        if pairs or plain:
            lines.append(
                json.dumps({"title": title, "pairs": pairs, "plain": plain}, ensure_ascii=False)
            )
    write_file(path, "".join(f"{line}\n" for line in lines))


def _articles(out: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((out / PARTS).glob("*.jsonl")):
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def _link(plan: Plan, out: Path, counts: BuildCounts) -> list[LinkedPair]:
    """Choose the pairs: linked ones without duplicates, and neutral ones.

    A sentence is used once, in its first article, because boilerplate of many articles is
    uninformative and would be in several splits.
    """
    seen: set[int] = set()
    pairs: list[LinkedPair] = []
    for article in _articles(out):
        for first, second, label, phrase, *originals in article["pairs"]:
            counts.pairs[f"found {label}"] += 1
            counts.sentences[Phrase(label, phrase)] += 1
            keys = _hash(first), _hash(second)
            if seen.intersection(keys):
                counts.pairs["repeated sentences"] += 1
                continue
            seen.update(keys)
            counts.kept[Phrase(label, phrase)] += 1
            pairs.append(LinkedPair(article["title"], first, second, label, *originals))
    wanted = plan.most_neutral or len(pairs)
    return [*pairs, *_neutral(plan, out, wanted, seen, counts.pairs)]


def _neutral(
    plan: Plan, out: Path, wanted: int, seen: set[int], counts: Counter[str]
) -> Iterator[LinkedPair]:
    """Draw sentences without phrases, independent of the dump's order, and pair them.

    With `same_article`, two sentences of an article are drawn together.
    """
    same = plan.neutral == "same_article"
    size = 2 if same else 1
    # The smallest hashes, negated, because a heap drops its minimum.
    drawn: list[tuple[int, str, list[str]]] = []
    for article in _articles(out):
        unused = {text for text in article["plain"] if _hash(text) not in seen}
        own = sorted((_hash(f"{plan.seed}\n{text}"), text) for text in unused)
        for n in range(0, len(own) - size + 1, size):
            entry = (-own[n][0], article["title"], [text for _, text in own[n : n + size]])
            if len(drawn) < 2 * wanted // size:
                heapq.heappush(drawn, entry)
            else:
                heapq.heappushpop(drawn, entry)
    rest = deque((title, text) for _, title, of in sorted(drawn, reverse=True) for text in of)
    while len(rest) > 1:
        title, first = rest.popleft()
        place = next((n for n, (other, _) in enumerate(rest) if (other == title) is same), None)
        if place is None or (same and place > 0):
            counts["neutral sentences without a partner"] += 1
            continue
        second = rest[place][1]
        del rest[place]
        if {_hash(first), _hash(second)} & seen or first == second:
            counts["repeated sentences"] += 1
            continue
        seen.update((_hash(first), _hash(second)))
        counts[f"found {NEUTRAL}"] += 1
        yield LinkedPair(title, first, second, NEUTRAL, first, second)


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def _write_splits(plan: Plan, out: Path, pairs: Sequence[LinkedPair], counts: Counter[str]) -> None:
    """Divide articles, those with rare classes first, and write a file for each split."""
    sizes = Counter(pair.label for pair in pairs)
    rarest: dict[str, str] = {}
    for pair in pairs:
        labels = pair.label, rarest.get(pair.title, pair.label)
        rarest[pair.title] = min(labels, key=lambda label: (sizes[label], label))
    split_of: dict[str, str] = {}
    for label in sizes:
        ours = sorted((t for t, of in rarest.items() if of == label), key=_hash_of(plan.seed))
        ends = [sum(plan.shares[: n + 1]) * len(ours) for n in range(len(SPLITS))]
        for place, title in enumerate(ours):
            split_of[title] = next(s for s, end in zip(SPLITS, ends, strict=True) if place < end)
    rows: dict[str, list[dict[str, str]]] = {split: [] for split in SPLITS}
    for pair in pairs:
        row = {
            "guid": f"{_hash(f'{pair.title}{pair.first}{pair.second}'):016x}",
            "sentence1": pair.first,
            "sentence2": pair.second,
            "label": pair.label,
            "article": pair.title,
            ORIGINALS[0]: pair.original_first,
            ORIGINALS[1]: pair.original_second,
        }
        rows[split_of[pair.title]].append(row)
    for split, of_split in rows.items():
        of_split.sort(key=lambda row: row["guid"])
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in of_split)
        write_file(out / f"{split}.jsonl", text)
        for row in of_split:
            counts[f"{split} {row['label']}"] += 1


def _hash_of(seed: int) -> Any:
    return lambda title: _hash(f"{seed}\n{title}")
