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
from heron_tools.audit.findings import Finding, Row, grouped, severity
from heron_tools.audit.texts import ARTICLE, WINDOW, Numbered, Splits, names_of

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
_Link = tuple[bool, float, list[Row]]  # whether labels agree, the smaller overlap, both rows


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
    neighbours, cut = find_neighbours([texts[n] for n in used.tolist() if n], threshold)
    is_near = np.array([text in neighbours for text in texts])
    near_rows: dict[str, _Rows] = {}
    for split, ids_NK in text_ids.items():
        near_rows[split] = [
            (tuple(texts[n] for n in ids_NK[row].tolist()), splits[split][row])
            for row in np.flatnonzero(is_near[ids_NK].any(1)).tolist()
        ]
    findings = []
    for first, second in combinations_with_replacement(splits, 2):
        if first == second and names == (WINDOW,):
            continue
        links = _links(near_rows, first, second, neighbours)
        if links:
            findings.append(_finding(splits, first, second, links, threshold, cut))
    return findings


def find_neighbours(texts: Sequence[str], threshold: float) -> tuple[Neighbours, int]:
    """Find pairs of distinct texts that overlap by at least `threshold`.

    Also counts the texts with more candidates than are compared.
    """
    chunk_starts = range(0, len(texts), _CHUNK)
    keys_by_chunk = [
        _band_keys(texts[start : start + _CHUNK], *bands(threshold)) for start in chunk_starts
    ]
    groups = [_groups(np.concatenate(keys)) for keys in zip(*keys_by_chunk, strict=True)]
    shingles = lru_cache(_CHUNK)(lambda row: shingle(texts[row]))
    neighbours: dict[str, dict[str, float]] = defaultdict(dict)
    cut = 0
    for start in tracked(chunk_starts, "near duplicates"):
        pairs = [_earlier(start, len(texts), *group) for group in groups]
        rows_P, others_P = np.divmod(np.unique(np.concatenate(pairs)), len(texts))
        rank_P = np.arange(len(rows_P)) - np.searchsorted(rows_P, rows_P)
        cut += int((rank_P == _MOST).sum())
        compared_P = rank_P < _MOST
        candidates = zip(rows_P[compared_P].tolist(), others_P[compared_P].tolist(), strict=True)
        for row, other in candidates:
            overlap = jaccard(shingles(row), shingles(other))
            if overlap >= threshold:
                neighbours[texts[row]][texts[other]] = overlap
                neighbours[texts[other]][texts[row]] = overlap
    return neighbours, cut


def _band_keys(texts: Sequence[str], count: int, rows: int) -> list[Shingles]:
    """Hash each band of the MinHash sketches of texts; one uint64 [C] per band."""
    sets = [shingle(text) for text in texts]
    starts_C = np.cumsum([0, *map(len, sets[:-1])])
    shingles_S = np.concatenate(sets)
    random = np.random.default_rng(0)
    keys = []
    for _ in range(count):
        key_C = np.zeros(len(texts), np.uint64)
        for factor in random.integers(1, 2**63, rows, np.uint64) * np.uint64(2) + np.uint64(1):
            # An odd factor permutes all hashes; the minimum is one component of the sketch.
            least_C = np.minimum.reduceat(shingles_S * factor, starts_C)
            key_C = (key_C ^ least_C) * _MULTIPLIER
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
    twin_N = np.append(sorted_N[1:] == sorted_N[:-1], False)
    shared_N = twin_N | np.roll(twin_N, 1)
    order_M, sorted_M = order_N[shared_N], sorted_N[shared_N]
    first_M = np.searchsorted(sorted_M, sorted_M)
    rank_M = np.arange(len(first_M)) - first_M
    by_text_M = np.argsort(order_M)
    columns = order_M, order_M[by_text_M], first_M[by_text_M], rank_M[by_text_M]
    return tuple(column_M.astype(np.int32) for column_M in columns)


def _earlier(
    start: int, total: int, order_M: Counts, texts_M: Counts, first_M: Counts, rank_M: Counts
) -> Counts:
    """Pair each text of a chunk with the first `_MOST + 1` earlier texts of its group.

    A pair is encoded as one number: `total` times the later text's position, plus the earlier's.
    """
    chunk = slice(*np.searchsorted(texts_M, (start, start + _CHUNK)))
    count_C = np.minimum(rank_M[chunk], _MOST + 1)
    texts_P = np.repeat(texts_M[chunk].astype(np.int64), count_C)
    within_P = np.arange(len(texts_P)) - np.repeat(np.cumsum(count_C) - count_C, count_C)
    return texts_P * total + order_M[np.repeat(first_M[chunk], count_C) + within_P]


def bands(threshold: float) -> tuple[int, int]:
    """Choose the number of bands and of rows per band: the most rows with a recall >= 98 %.

    Recall is for pairs exactly at the threshold.
    """
    for rows in range(_PERMUTATIONS // 2, 0, -1):
        count = _PERMUTATIONS // rows
        if 1 - (1 - threshold**rows) ** count >= _RECALL:
            return count, rows
    return _PERMUTATIONS, 1


def shingle(text: str) -> Shingles:
    """Hash the distinct character 5-grams to 64 bits, sorted; shorter texts are padded."""
    codes = np.frombuffer(text.ljust(_SHINGLE).encode("utf-32-le"), np.uint32).astype(np.uint64)
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
    links: list[_Link] = []
    for key, example in rows[first]:
        for near_key, overlap in _near_keys(key, copies_of, neighbours):
            for copy in copies_of[near_key]:
                if first == second and example.guid >= copy.guid:
                    continue  # each pair of a split once
                pair = [
                    Row(first, example.guid, example.label),
                    Row(second, copy.guid, copy.label),
                ]
                links.append((example.label == copy.label, overlap, pair))
    return sorted(links, key=lambda link: (link[0], -link[1]))


def _near_keys(
    key: _Key, known: Container[_Key], neighbours: Neighbours
) -> Iterator[tuple[_Key, float]]:
    """Yield the known keys whose texts are all near, but not the key itself."""
    overlaps = [{text: 1.0, **neighbours.get(text, {})} for text in key]
    for near_key in product(*overlaps):
        if near_key in known and near_key != key:
            yield near_key, min(of[text] for of, text in zip(overlaps, near_key, strict=True))


def _finding(
    splits: Splits, first: str, second: str, links: Sequence[_Link], threshold: float, cut: int
) -> Finding:
    has_pairs = "hypothesis" in names_of(splits)
    conflicts = sum(not agree for agree, _, _ in links)
    rows = grouped(rows for _, _, rows in links)
    touched = len({row.place for row in rows if row.split == second})
    if first == second:
        place, subject, advice = first, f"{first} holds", ""
        level = severity(conflicts, 1)
    else:
        place, subject = f"{first}.{second}", f"{first} and {second} share"
        advice = f"also score {second} without its near duplicates"
        level = severity(touched, 0, _SERIOUS_SHARE * len(splits[second]))
    units = "pairs" if has_pairs else "rows"
    title = f"{subject} {len(links):,} nearly identical {units} (overlap {threshold:g} or more)"
    if conflicts:
        title += f", {conflicts:,} with different labels"
    meaning = f"Jaccard overlap of character {_SHINGLE}-grams, of each text of a row."
    if cut:
        meaning += f" {cut:,} texts have more than {_MOST} candidates; only {_MOST} were compared."
    measure = {
        "threshold": threshold,
        "links": len(links),
        f"rows of {second}": touched,
        "conflicting labels": conflicts,
        "mean overlap": float(np.mean([overlap for _, overlap, _ in links])),
    }
    kind = "near_pairs" if has_pairs else "near_texts"
    return Finding(f"{kind}.{place}", level, title, [measure], rows, advice, meaning)
