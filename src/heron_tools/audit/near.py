"""Near duplicates: texts that share most of their character 5-grams.

MinHash with locality-sensitive hashing proposes candidate pairs; a pair is kept if its exact
Jaccard overlap reaches the threshold. So there are no false positives, but some pairs near the
threshold are missed (at most 2 % of the pairs exactly at it).

Two rows are near duplicates if both their premises and their hypotheses are. By an overlap over
both texts, any two hypotheses of one long premise would be near duplicates. For summarization,
only the articles are compared.

Source: Broder 1997, On the resemblance and containment of documents (MinHash).

Shape suffixes: N texts, C texts of a chunk, S shingles of its texts, P pairs of texts.
"""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.base.terminal import tracked
from heron.data.examples import Example
from heron_tools.audit.findings import Finding, FindingRow, grouped, severity
from heron_tools.audit.texts import ARTICLE, HYPOTHESIS, WINDOW, Numbered, Splits, names_of

THRESHOLD = 0.8
_SHINGLE = 5  # characters
_PERMUTATIONS = 96
_MOST = 50  # candidates compared per text; a text made from a template has thousands
_SERIOUS_SHARE = 0.01
_RECALL = 0.98  # of the pairs exactly at the threshold
_CHUNK = 5_000  # texts whose shingles or candidates are in memory at once
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

Shingles = npt.NDArray[np.uint64]
Counts = npt.NDArray[Any]
_Key = tuple[str, ...]  # a row's texts
_Rows = list[tuple[_Key, Example]]
Neighbours = Mapping[str, Mapping[str, float]]  # overlap of each pair of near texts, a fraction
_Link = tuple[bool, float, list[FindingRow]]  # whether labels agree, the smaller overlap, both rows


def find_near_duplicates(
    splits: Splits, loose_texts: Numbered, threshold: float = THRESHOLD
) -> list[Finding]:
    """Find rows whose overlap is at least `threshold`, without exact duplicates.

    Event pairs are compared across splits only: the pairs of one window share their text by design.

    Args:
        splits: the rows.
        loose_texts: their texts at the level of `texts.loose`.
        threshold: minimum overlap, a fraction.

    Returns:
        For each split and each two splits with near duplicates, `near_pairs.<splits>` where rows
        are pairs of texts, else `near_texts.<splits>`.
    """
    names = names_of(splits)
    texts = loose_texts.texts
    sides = 1 if ARTICLE in names else 2

    # Numbers below 0 stand for events or for no second text: they count as the empty text, 0.
    text_ids = {split: ids_N2[:, :sides].clip(0) for split, ids_N2 in loose_texts.rows.items()}
    used = np.unique(np.concatenate(list(text_ids.values())))
    used_texts = [texts[number] for number in used.tolist() if number]
    neighbours, truncated = find_neighbours(used_texts, threshold)

    has_neighbour = np.array([text in neighbours for text in texts])
    near_rows: dict[str, _Rows] = {}
    for split, ids_NK in text_ids.items():
        near_rows[split] = []
        is_near_N = has_neighbour[ids_NK].any(1)
        for row in np.flatnonzero(is_near_N).tolist():
            key = tuple(texts[number] for number in ids_NK[row].tolist())
            near_rows[split].append((key, splits[split][row]))

    findings = []
    for first, second in combinations_with_replacement(splits, 2):
        if first == second and names == (WINDOW,):
            continue

        links = _links(near_rows, first, second, neighbours)
        if links:
            findings.append(_finding(splits, first, second, links, threshold, truncated))

    return findings


def find_neighbours(texts: Sequence[str], threshold: float) -> tuple[Neighbours, int]:
    """Find pairs of distinct texts that overlap by at least `threshold`.

    Args:
        texts: distinct texts.
        threshold: minimum overlap, a fraction.

    Returns:
        The overlap of each pair, under both of its texts; the number of texts with more candidates
        than are compared.
    """
    total = len(texts)
    chunk_starts = range(0, total, _CHUNK)
    count, rows = bands(threshold)

    keys_by_chunk = []
    for start in chunk_starts:
        chunk = texts[start : start + _CHUNK]
        keys_by_chunk.append(_band_keys(chunk, count, rows))

    groups = []
    for band_keys in zip(*keys_by_chunk, strict=True):
        groups.append(_groups(np.concatenate(band_keys)))

    shingles = lru_cache(_CHUNK)(lambda row: shingle(texts[row]))
    neighbours: dict[str, dict[str, float]] = defaultdict(dict)
    truncated = 0
    for start in tracked(chunk_starts, "near duplicates"):
        pairs = [_earlier(start, total, *group) for group in groups]
        distinct_pairs = np.unique(np.concatenate(pairs))
        rows_P, others_P = np.divmod(distinct_pairs, total)

        # The number of each candidate of a row, from 0.
        rank_P = np.arange(len(rows_P)) - np.searchsorted(rows_P, rows_P)
        truncated += int((rank_P == _MOST).sum())
        is_compared_P = rank_P < _MOST
        rows_P = rows_P[is_compared_P]
        others_P = others_P[is_compared_P]

        for row, other in zip(rows_P.tolist(), others_P.tolist(), strict=True):
            overlap = jaccard(shingles(row), shingles(other))
            if overlap >= threshold:
                text = texts[row]
                other_text = texts[other]
                neighbours[text][other_text] = overlap
                neighbours[other_text][text] = overlap

    return neighbours, truncated


def _band_keys(texts: Sequence[str], count: int, rows: int) -> list[Shingles]:
    """Hash each band of the MinHash sketches of texts.

    Args:
        texts: C texts.
        count: number of bands.
        rows: components of the sketch per band.

    Returns:
        One uint64 `[C]` per band.
    """
    shingles_of = [shingle(text) for text in texts]
    shingles_S = np.concatenate(shingles_of)
    starts_C = np.cumsum([0, *map(len, shingles_of[:-1])])

    random = np.random.default_rng(0)
    keys = []
    for _ in range(count):
        key_C = np.zeros(len(texts), np.uint64)
        # An odd factor permutes all hashes; the minimum is one component of the sketch.
        factors = random.integers(1, 2**63, rows, np.uint64)
        for factor in factors * np.uint64(2) + np.uint64(1):
            minimum_C = np.minimum.reduceat(shingles_S * factor, starts_C)
            key_C = _mix(key_C, minimum_C)

        keys.append(key_C)

    return keys


def _groups(key_N: Shingles) -> tuple[Counts, ...]:
    """Group the texts by a band's key, leaving out the texts that share it with no other.

    Args:
        key_N: the key of each text.

    Returns:
        Four int32 arrays for the M texts left: the texts sorted by key; the texts in ascending
        order, and of each of these the position in the first array where its group starts, and its
        rank in the group.
    """
    order_N = np.argsort(key_N, kind="stable")
    sorted_N = key_N[order_N]
    equals_next_N = np.append(sorted_N[1:] == sorted_N[:-1], False)
    is_shared_N = equals_next_N | np.roll(equals_next_N, 1)

    order_M = order_N[is_shared_N]
    sorted_M = sorted_N[is_shared_N]
    first_M = np.searchsorted(sorted_M, sorted_M)
    rank_M = np.arange(len(first_M)) - first_M

    by_text_M = np.argsort(order_M)
    columns = order_M, order_M[by_text_M], first_M[by_text_M], rank_M[by_text_M]
    return tuple(column_M.astype(np.int32) for column_M in columns)


def _earlier(
    start: int, total: int, order_M: Counts, texts_M: Counts, first_M: Counts, rank_M: Counts
) -> Counts:
    """Pair each text of a chunk with the first `_MOST + 1` earlier texts of its group.

    Args:
        start: position of the chunk's first text.
        total: number of texts.
        order_M: the texts sorted by key; this and the next three as `_groups` returns them.
        texts_M: the texts in ascending order.
        first_M: where the group of each starts in `order_M`.
        rank_M: the rank of each in its group.

    Returns:
        The pairs, each as one number: `total` times the later text's position, plus the earlier's.
    """
    first, end = np.searchsorted(texts_M, (start, start + _CHUNK))
    chunk = slice(first, end)
    count_C = np.minimum(rank_M[chunk], _MOST + 1)
    later_P = np.repeat(texts_M[chunk].astype(np.int64), count_C)

    # The number of each pair of a text, from 0.
    pairs_before_C = np.cumsum(count_C) - count_C
    number_P = np.arange(len(later_P)) - np.repeat(pairs_before_C, count_C)
    earlier_P = order_M[np.repeat(first_M[chunk], count_C) + number_P]
    return later_P * total + earlier_P


def bands(threshold: float) -> tuple[int, int]:
    """Choose the number of bands and of rows per band.

    More rows propose fewer candidates, but miss more pairs: the largest number of rows is taken at
    which at least 98 % of the pairs exactly at the threshold become candidates.
    """
    for rows in range(_PERMUTATIONS // 2, 0, -1):
        count = _PERMUTATIONS // rows
        recall = 1 - (1 - threshold**rows) ** count
        if recall >= _RECALL:
            return count, rows

    return _PERMUTATIONS, 1


def shingle(text: str) -> Shingles:
    """Hash the distinct character 5-grams to 64 bits, sorted; shorter texts are padded."""
    padded = text.ljust(_SHINGLE).encode("utf-32-le")
    codes = np.frombuffer(padded, np.uint32).astype(np.uint64)
    hashes = np.zeros(len(codes) - _SHINGLE + 1, np.uint64)
    for offset in range(_SHINGLE):
        hashes = _mix(hashes, codes[offset : offset + len(hashes)])

    return np.unique(hashes)


def _mix(hashes: Shingles, values: Shingles) -> Shingles:
    """Add one more value to each hash."""
    mixed = (hashes ^ values) * _MULTIPLIER
    return mixed ^ (mixed >> np.uint64(29))


def jaccard(first: Shingles, second: Shingles) -> float:
    """Divide the number of common shingles by the number of all."""
    common = len(np.intersect1d(first, second, assume_unique=True))
    union = len(first) + len(second) - common
    return common / union


def _links(
    rows: Mapping[str, _Rows], first: str, second: str, neighbours: Neighbours
) -> list[_Link]:
    """List the near duplicates between two splits (or within one).

    Args:
        rows: the rows with a near text, by split.
        first: a split.
        second: another split, or the same.
        neighbours: of `find_neighbours`.

    Returns:
        The links: those of different labels first, and among these the largest overlap first.
    """
    copies_of = defaultdict(list)
    for key, example in rows[second]:
        copies_of[key].append(example)

    links = []
    for key, example in rows[first]:
        row = FindingRow(first, example.guid, example.label)
        for near_key, overlap in _near_keys(key, copies_of, neighbours):
            for copy in copies_of[near_key]:
                if first == second and example.guid >= copy.guid:
                    continue  # each pair of a split once

                labels_agree = example.label == copy.label
                pair = [row, FindingRow(second, copy.guid, copy.label)]
                links.append((labels_agree, overlap, pair))

    return sorted(links, key=lambda link: (link[0], -link[1]))


def _near_keys(
    key: _Key, known: Container[_Key], neighbours: Neighbours
) -> Iterator[tuple[_Key, float]]:
    """Yield the known keys whose texts are all near those of a key, except the key itself.

    Each is with the smallest overlap of its texts.
    """
    overlaps_of = []  # for each text of the key, the overlap of every text near it
    for text in key:
        overlaps_of.append({text: 1.0, **neighbours.get(text, {})})

    for near_key in product(*overlaps_of):
        if near_key in known and near_key != key:
            pairs = zip(overlaps_of, near_key, strict=True)
            yield near_key, min(overlaps[text] for overlaps, text in pairs)


def _finding(
    splits: Splits,
    first: str,
    second: str,
    links: Sequence[_Link],
    threshold: float,
    truncated: int,
) -> Finding:
    """Describe the near duplicates between two splits (or within one).

    Args:
        splits: the rows.
        first: a split.
        second: another split, or the same.
        links: the near duplicates between them.
        threshold: minimum overlap.
        truncated: number of texts with more candidates than were compared.
    """
    conflicts = sum(not labels_agree for labels_agree, _, _ in links)
    mean_overlap = float(np.mean([overlap for _, overlap, _ in links]))
    rows = grouped(pair for _, _, pair in links)
    copied_guids = {row.guid for row in rows if row.split == second}
    copied_rows = len(copied_guids)

    kind = "near_texts"
    unit = "rows"
    if HYPOTHESIS in names_of(splits):
        kind = "near_pairs"
        unit = "pairs"

    if first == second:
        suffix = first
        subject = f"{first} holds"
        advice = ""
        level = severity(conflicts, 1)
    else:
        suffix = f"{first}.{second}"
        subject = f"{first} and {second} share"
        advice = f"also score {second} without its near duplicates"
        level = severity(copied_rows, 0, _SERIOUS_SHARE * len(splits[second]))

    title = f"{subject} {len(links):,} nearly identical {unit} (overlap {threshold:g} or more)"
    if conflicts:
        title += f", {conflicts:,} with different labels"

    meaning = f"Jaccard overlap of character {_SHINGLE}-grams, of each text of a row."
    if truncated:
        meaning += (
            f" {truncated:,} texts have more than {_MOST} candidates; only {_MOST} were compared."
        )

    measure = {
        "threshold": threshold,
        "links": len(links),
        f"rows of {second}": copied_rows,
        "conflicting labels": conflicts,
        "mean overlap": mean_overlap,
    }
    return Finding(
        id=f"{kind}.{suffix}",
        severity=level,
        title=title,
        measures=[measure],
        rows=rows,
        advice=advice,
        meaning=meaning,
    )
