"""Scores of temporal relations, strict and relaxed about VAGUE.

VAGUE means that a text does not say which of two events came first. Where the annotators wrote
VAGUE, a system that names an order has not clearly contradicted them; the relaxed scores forgive
it. Papers do so in different ways and call all of them relaxed, so heron computes three, named:

- `recode`: where gold is VAGUE, gold becomes the prediction; then macro and weighted F1 over all
  classes. A forgiven row is a true positive of the predicted class, and VAGUE's recall is 1.
- `drop`: rows whose gold is VAGUE are left out; then macro and weighted F1 over the other classes.
  On the rows that stay, predicting VAGUE is an error: it misses the gold class.
- `matres_micro`: VAGUE counts as "no relation", and the other classes are pooled: of all
  predictions other than VAGUE, and of all golds other than VAGUE, how many are right (precision,
  recall, their F1). Unlike the others it forgives nothing; it does not reward finding VAGUE.

Source: Yanko, Pariente and Bar, Temporal Relation Classification in Hebrew ("ignoring mistakes of
non-VAGUE predictions on VAGUE samples"), and its released evaluation, which is `recode`;
Ning et al. 2018 (MATRES) for `matres_micro`.
Deviates: the paper's text can be read as `drop`; only `recode` agrees with its code and with its
Limitations section, which calls such rows true positives.
"""

from __future__ import annotations

import numpy as np

from heron.metrics.confusion import Counts, Fractions, accuracy, f1, macro_f1, micro_f1, weighted_f1

VAGUE = "VAGUE"
RELATIONS = ("BEFORE", "AFTER", "EQUAL", VAGUE)
MODES = ("recode", "drop", "matres_micro")


def recode_vague(matrix: Counts, vague: int) -> Counts:
    """Move each row whose gold is VAGUE to the class that was predicted; shape `[..., C, C]`."""
    recoded = matrix.copy()
    recoded[..., vague, :] = 0
    diagonal = np.arange(matrix.shape[-1])
    recoded[..., diagonal, diagonal] += matrix[..., vague, :]
    return recoded


def drop_vague(matrix: Counts, vague: int) -> Counts:
    """Leave out the rows whose gold is VAGUE; shape stays `[..., C, C]`."""
    kept = matrix.copy()
    kept[..., vague, :] = 0
    return kept


def relation_scores(matrix: Counts, vague: int, relaxed: str = "recode") -> dict[str, Fractions]:
    """Compute the strict scores and every relaxed one.

    Args:
        matrix: int64 `[..., C, C]`.
        vague: which class is VAGUE.
        relaxed: the mode, one of `MODES`, that the unqualified names stand for: `relaxed_macro_f1`
            and `relaxed_weighted_f1`, or `relaxed_micro_f1` for `matres_micro`.

    Returns:
        Fractions `[...]` by name.
    """
    others = [number for number in range(matrix.shape[-1]) if number != vague]
    recoded, kept = recode_vague(matrix, vague), drop_vague(matrix, vague)
    by_mode = {
        "recode": {"macro": macro_f1(recoded), "weighted": weighted_f1(recoded)},
        # No row of VAGUE is left, so its weight is 0: only the plain mean has to leave it out.
        "drop": {"macro": f1(kept)[..., others].mean(-1), "weighted": weighted_f1(kept)},
        "matres": {"micro": micro_f1(matrix, others)},
    }
    chosen = by_mode[relaxed.removesuffix("_micro")]
    return {
        "accuracy": accuracy(matrix),
        "macro_f1": macro_f1(matrix),
        "weighted_f1": weighted_f1(matrix),
        **{f"relaxed_{average}_f1": score for average, score in chosen.items()},
        **{
            f"relaxed_{mode}_{average}_f1": score
            for mode, averages in by_mode.items()
            for average, score in averages.items()
        },
    }
