"""Near duplicates: texts that share most of their character 5-grams.

MinHash and locality-sensitive hashing (datasketch) propose candidates; the exact Jaccard overlap of
the shingle sets decides. So every reported pair truly overlaps, and a few pairs near the threshold
may be missed (of those exactly at it, one in fifty).

Two rows are near duplicates if both their premises and their hypotheses are. One overlap over both
texts would find every two hypotheses of one long premise alike. Of articles with summaries, only
the articles are compared.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt
from datasketch import MinHash, MinHashLSH

from heron.data.examples import Example
from heron_tools.audit.findings import Finding, Row
from heron_tools.audit.texts import Splits, every, has_events, is_pair, loose

THRESHOLD = 0.8
_SHINGLE = 5  # characters
_PERMUTATIONS = 96
_MOST = 50  # neighbours of one text that are looked at: a template's fillings are all alike
_SERIOUS_SHARE = 0.01
_RECALL = 0.98  # of the pairs exactly at the threshold
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

Shingles = npt.NDArray[np.uint64]
Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Overlapping texts: the Jaccard overlap (a fraction) by text and other text.

    `cut` counts the texts with more candidates than were compared.
    """

    of: Mapping[str, Mapping[str, float]]
    cut: int


def find_near_duplicates(
    splits: Splits, threshold: float = THRESHOLD, progress: Progress | None = None
) -> list[Finding]:
    """Find rows that are nearly, but not exactly, the same: overlap of at least `threshold`.

    `near_pairs.<place>` are of pairs, `near_texts.<place>` of other texts. Event pairs are only
    compared across splits: the pairs of one window share their text by design.
    """
    inside = not has_events(splits)
    texts = {loose(text): None for e in every(splits) for text in (e.text, e.text_pair) if text}
    neighbours = find_neighbours([text for text in texts if text], threshold, progress)
    findings = []
    for one, other in combinations_with_replacement(splits, 2):
        if one == other and not inside:
            continue
        if links := _links(splits, one, other, neighbours):
            findings.append(_finding(splits, one, other, links, threshold, neighbours.cut))
    return findings


def find_neighbours(
    texts: Sequence[str], threshold: float, progress: Progress | None = None
) -> Neighbours:
    """Find, among distinct texts, all that overlap with another by at least `threshold`."""
    index = MinHashLSH(num_perm=_PERMUTATIONS, params=bands(threshold))
    empty = MinHash(_PERMUTATIONS, seed=0, hashfunc=int)
    sets: list[Shingles] = []
    of: dict[str, dict[str, float]] = defaultdict(dict)
    cut = 0
    for number, text in enumerate(texts):
        shingles = shingle(text)
        sets.append(shingles)
        sketch = empty.copy()
        sketch.update_batch((shingles >> np.uint64(32)).tolist())
        candidates = sorted(index.query(sketch))
        cut += len(candidates) > _MOST
        for candidate in candidates[:_MOST]:
            if (overlap := jaccard(shingles, sets[candidate])) >= threshold:
                of[text][texts[candidate]] = of[texts[candidate]][text] = overlap
        index.insert(number, sketch, check_duplication=False)
        if progress and (number % 500 == 0 or number + 1 == len(texts)):
            progress(number + 1, len(texts))
    return Neighbours(of, cut)


def bands(threshold: float) -> tuple[int, int]:
    """Choose the number of bands and of rows per band: the fewest candidates with 98 % recall.

    The recall is of pairs exactly at the threshold. datasketch's own choice finds two thirds of
    them at a threshold of .8.
    """
    for rows in range(_PERMUTATIONS // 2, 0, -1):
        count = _PERMUTATIONS // rows
        if 1 - (1 - threshold**rows) ** count >= _RECALL:
            return count, rows
    return _PERMUTATIONS, 1


def shingle(text: str) -> Shingles:
    """Hash each run of 5 characters to 64 bits, sorted, each once; a shorter text is one run."""
    codes = np.frombuffer(text.ljust(_SHINGLE).encode("utf-32-le"), np.uint32).astype(np.uint64)
    hashes = np.zeros(len(codes) - _SHINGLE + 1, np.uint64)
    for offset in range(_SHINGLE):
        hashes = (hashes ^ codes[offset : offset + len(hashes)]) * _MULTIPLIER
        hashes ^= hashes >> np.uint64(29)
    return np.unique(hashes)


def jaccard(one: Shingles, other: Shingles) -> float:
    """Divide the number of common shingles by the number of all."""
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)


@dataclass(frozen=True, slots=True)
class _Link:
    """Two rows, and the smaller of their texts' overlaps."""

    rows: tuple[Row, Row]
    overlap: float

    @property
    def conflict(self) -> bool:
        return self.rows[0].label != self.rows[1].label


def _links(splits: Splits, one: str, other: str, neighbours: Neighbours) -> list[_Link]:
    """Link each two rows of two splits (or of one) that are near copies, the closest first."""
    by_key = defaultdict(list)
    for example in splits[other]:
        by_key[_key(example)].append(example)
    links = []
    for example in splits[one]:
        for key, overlap in _near_keys(_key(example), by_key, neighbours):
            for copy in by_key[key]:
                if one == other and example.guid >= copy.guid:
                    continue
                rows = (
                    Row(one, example.guid, example.label, 0),
                    Row(other, copy.guid, copy.label, 0),
                )
                links.append(_Link(rows, overlap))
    return sorted(links, key=lambda link: (not link.conflict, -link.overlap))


def _key(example: Example) -> tuple[str, str]:
    return loose(example.text), loose(example.text_pair or "")


def _near_keys(
    key: tuple[str, str], known: Mapping[tuple[str, str], object], neighbours: Neighbours
) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield the known keys with two near texts, but not the key itself."""
    first, second = ({text: 1.0, **neighbours.of.get(text, {})} for text in key)
    for premise, overlap in first.items():
        for hypothesis, other in second.items():
            if (premise, hypothesis) in known and (premise, hypothesis) != key:
                yield (premise, hypothesis), min(overlap, other)


def _finding(
    splits: Splits, one: str, other: str, links: Sequence[_Link], threshold: float, cut: int
) -> Finding:
    inside = one == other
    place = f"{one} holds" if inside else f"{one} and {other} share"
    kind, unit = ("near_pairs", "pairs") if is_pair(splits) else ("near_texts", "rows")
    conflicts = sum(link.conflict for link in links)
    rows = [row._replace(group=i) for i, link in enumerate(links, 1) for row in link.rows]
    touched = len({row[:2] for row in rows if row.split == other})
    serious = not inside and touched >= _SERIOUS_SHARE * len(splits[other])
    meaning = f"Jaccard overlap of character {_SHINGLE}-grams, of each text of a row."
    if cut:
        meaning += f" {cut:,} texts have more than {_MOST} candidates; only those were compared."
    return Finding(
        f"{kind}.{one}" if inside else f"{kind}.{one}.{other}",
        "serious" if serious else "warning" if not inside or conflicts else "info",
        f"{place} {len(links):,} nearly identical {unit} (overlap {threshold:g} or more)"
        + (f", {conflicts:,} with different labels" if conflicts else ""),
        [
            {
                "threshold": threshold,
                "links": len(links),
                f"rows of {other}": touched,
                "conflicting labels": conflicts,
                "mean overlap": float(np.mean([link.overlap for link in links])),
            }
        ],
        rows,
        "" if inside else "score the test rows without a near copy apart from the others",
        meaning,
    )
