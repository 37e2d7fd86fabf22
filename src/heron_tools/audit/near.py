"""Near duplicates: texts that share most of their character 5-grams.

MinHash and locality-sensitive hashing propose candidates, which are kept by their exact Jaccard
overlap. So there are no false positives, and a few pairs near the threshold may be missed (exactly
at the threshold, at most one in fifty). Sketches are made, sorted and matched as arrays.

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
_MOST = 50  # candidates compared per text: texts from one template are all alike
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
    splits: Splits, loosely: Numbered, threshold: float = THRESHOLD
) -> list[Finding]:
    """Find rows whose overlap is at least `threshold`, without exact duplicates.

    Findings are `near_pairs.<place>` for pairs of texts, else `near_texts.<place>`. Event pairs are
    compared across splits only, as the pairs of one window share their text by design. `loosely`
    has the rows' texts at the level of `texts.loose`.
    """
    names = names_of(splits)
    texts = loosely.texts
    sides = 1 if ARTICLE in names else 2
    text_ids = {split: numbers[:, :sides].clip(0) for split, numbers in loosely.rows.items()}

    used = np.unique(np.concatenate(list(text_ids.values())))
    used_texts = [texts[number] for number in used.tolist() if number]  # 0 is the empty text
    neighbours, truncated = find_neighbours(used_texts, threshold)

    has_neighbour = np.array([text in neighbours for text in texts])
    near_rows: dict[str, _Rows] = {}
    for split, ids_NK in text_ids.items():
        near_rows[split] = []
        for row in np.flatnonzero(has_neighbour[ids_NK].any(1)).tolist():
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

    Returns:
        The overlap of each pair, under both of its texts; the number of texts with more candidates
        than are compared.
    """
    total = len(texts)
    chunk_starts = range(0, total, _CHUNK)
    count, rows = bands(threshold)
    keys_by_chunk = [
        _band_keys(texts[start : start + _CHUNK], count, rows) for start in chunk_starts
    ]
    groups = [_groups(np.concatenate(keys)) for keys in zip(*keys_by_chunk, strict=True)]

    shingles = lru_cache(_CHUNK)(lambda row: shingle(texts[row]))
    neighbours: dict[str, dict[str, float]] = defaultdict(dict)
    truncated = 0
    for start in tracked(chunk_starts, "near duplicates"):
        pairs = [_earlier(start, total, *group) for group in groups]
        rows_P, others_P = np.divmod(np.unique(np.concatenate(pairs)), total)

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
            key_C = (key_C ^ minimum_C) * _MULTIPLIER
            key_C ^= key_C >> np.uint64(29)

        keys.append(key_C)

    return keys


def _groups(key_N: Shingles) -> tuple[Counts, ...]:
    """Sort the M texts that share a band's key with another by it.

    Returns:
        Their order; the texts, ascending; of each, where its group starts in the order, and its
        rank in the group; int32.
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
        order_M: these and the others as `_groups` returns them.
        texts_M: the texts, ascending.
        first_M: where each text's group starts in the order.
        rank_M: each text's rank in its group.

    Returns:
        A pair is one number: `total` times the later text's position, plus the earlier's.
    """
    chunk = slice(*np.searchsorted(texts_M, (start, start + _CHUNK)))
    count_C = np.minimum(rank_M[chunk], _MOST + 1)
    later_P = np.repeat(texts_M[chunk].astype(np.int64), count_C)

    # The number of each pair of a text, from 0.
    pairs_before_C = np.cumsum(count_C) - count_C
    number_P = np.arange(len(later_P)) - np.repeat(pairs_before_C, count_C)
    earlier_P = order_M[np.repeat(first_M[chunk], count_C) + number_P]
    return later_P * total + earlier_P


def bands(threshold: float) -> tuple[int, int]:
    """Choose the number of bands and of rows per band: the most rows with a recall >= 98 %.

    Recall is for pairs exactly at the threshold.
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
        hashes = (hashes ^ codes[offset : offset + len(hashes)]) * _MULTIPLIER
        hashes ^= hashes >> np.uint64(29)
    return np.unique(hashes)


def jaccard(first: Shingles, second: Shingles) -> float:
    """Divide the number of common shingles by the number of all."""
    common = len(np.intersect1d(first, second, assume_unique=True))
    return common / (len(first) + len(second) - common)


def _links(
    rows: Mapping[str, _Rows], first: str, second: str, neighbours: Neighbours
) -> list[_Link]:
    """List the near duplicates between two splits (or within one).

    Different labels come first, then the largest overlap.
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
    """Yield the known keys whose texts are all near, but not the key itself."""
    near_texts = [{text: 1.0, **neighbours.get(text, {})} for text in key]
    for near_key in product(*near_texts):
        if near_key in known and near_key != key:
            overlaps = [near[text] for near, text in zip(near_texts, near_key, strict=True)]
            yield near_key, min(overlaps)


def _finding(
    splits: Splits,
    first: str,
    second: str,
    links: Sequence[_Link],
    threshold: float,
    truncated: int,
) -> Finding:
    """Describe the near duplicates between two splits (or within one).

    `truncated` is the number of texts with more candidates than were compared.
    """
    conflicts = sum(not labels_agree for labels_agree, _, _ in links)
    mean_overlap = float(np.mean([overlap for _, overlap, _ in links]))
    rows = grouped(pair for _, _, pair in links)
    copied_rows = len({row.place for row in rows if row.split == second})

    kind = "near_texts"
    unit = "rows"
    if HYPOTHESIS in names_of(splits):
        kind = "near_pairs"
        unit = "pairs"

    if first == second:
        place = first
        subject = f"{first} holds"
        advice = ""
        level = severity(conflicts, 1)
    else:
        place = f"{first}.{second}"
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
        id=f"{kind}.{place}",
        severity=level,
        title=title,
        measures=[measure],
        rows=rows,
        advice=advice,
        meaning=meaning,
    )
