"""Who judges which articles, and in which order the systems come: random, but balanced.

Legend: A articles, R raters, S systems.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]


def assign_raters(
    articles: int, raters: int, overlap: int, random: np.random.Generator
) -> list[list[int]]:
    """Give every article to `overlap` raters.

    Nobody gets more than one article more than anybody else, and of those who are as free as each
    other it is those who have judged least together: every pair of raters should share articles,
    or nothing shows how they agree.

    Args:
        articles: A.
        raters: R.
        overlap: raters of each article, 1 to R.
        random: decides ties.

    Returns:
        For each article the numbers of its raters, ascending.
    """
    loads = np.zeros(raters, np.int64)
    together_RR = np.zeros((raters, raters), np.int64)
    chosen: list[list[int]] = []
    for _ in range(articles):
        team: list[int] = []
        for _ in range(overlap):
            free = [one for one in random.permutation(raters).tolist() if one not in team]
            team.append(min(free, key=lambda one: (loads[one], together_RR[one, team].sum())))
        loads[team] += 1
        together_RR[np.ix_(team, team)] += 1
        chosen.append(sorted(team))
    return chosen


def system_orders(articles: int, systems: int, random: np.random.Generator) -> Ids:
    """Draw the order of the systems for each article of one form.

    Orders are the rows of random Latin squares, one below another: over the whole form no system
    is at any place more than once more often than another.

    Args:
        articles: A.
        systems: S, at least 1.
        random: draws the squares.

    Returns:
        int64 `[A, S]`, each row a permutation.
    """
    squares = [_latin_square(systems, random) for _ in range(-(-articles // systems))]
    return np.concatenate([np.empty((0, systems), np.int64), *squares])[:articles]


def _latin_square(size: int, random: np.random.Generator) -> Ids:
    """Shuffle rows, columns and symbols of the cyclic square."""
    rows, columns, symbols = (random.permutation(size) for _ in range(3))
    return symbols[(rows[:, None] + columns[None]) % size].astype(np.int64)
