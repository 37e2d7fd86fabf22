"""Single features that no reader needs the text for: casing, lengths, overlap, punctuation.

Each is one value per example: a yes or no, a name, or a number. `rules` asks how much of the label
it gives away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heron.audit.texts import EVENTS, HYPOTHESIS, PREMISE, fields, words
from heron.data.examples import Example
from heron.languages import LANGUAGES

Values = npt.NDArray[np.generic]
_Of = Callable[[str], object]

_LAST_MARKS = re.compile(r"[\"'”’»)\]\s]+$")


@dataclass(frozen=True, slots=True)
class Feature:
    """One value of each example.

    Args:
        family: `casing`, `length`, `overlap`, `negation`, `punctuation`, `word`, `distance`; the
            check's name.
        field: the text it looks at; empty where it looks at several.
        name: what it is, in words.
        values_N: float (a threshold is looked for), or text (each value by itself).
    """

    family: str
    field: str
    name: str
    values_N: Values


def measure(examples: Sequence[Example], language: str) -> list[Feature]:
    """Measure every feature of every example.

    Args:
        examples: of one split or of several, N.
        language: its code; decides which words negate.

    Returns:
        The features in a fixed order, those included that never vary: splits stay comparable.
    """
    texts = [fields(example) for example in examples]
    found = []
    for field in texts[0] if texts else ():
        found += _of_field(field, [text.get(field, "") for text in texts], language)
    if texts and HYPOTHESIS in texts[0]:
        found += _of_pair([t[PREMISE] for t in texts], [t[HYPOTHESIS] for t in texts])
    if texts and EVENTS in texts[0]:
        distance = [abs(e.spans[1].start - e.spans[0].start) for e in examples]
        found.append(Feature("distance", "", "characters between the events", _floats(distance)))
    return found


def later_capital(text: str) -> bool:
    """Whether there is an upper-case letter after the first character."""
    return any(character.isupper() for character in text[1:])


def overlap(one: str, other: str) -> float:
    """Jaccard overlap of the words of two texts, a fraction."""
    first, second = set(words(one)), set(words(other))
    return len(first & second) / max(len(first | second), 1)


def _of_field(field: str, texts: Sequence[str], language: str) -> list[Feature]:
    def named(family: str, name: str, value: _Of) -> Feature:
        return Feature(
            family, field, f"{field}: {name}", np.array([_word(value(text)) for text in texts])
        )

    found = [
        named("casing", "upper-case letter after the first character", later_capital),
        named("casing", "begins with an upper-case letter", lambda text: text[:1].isupper()),
        Feature("length", field, f"{field}: characters", _floats([len(text) for text in texts])),
        Feature("length", field, f"{field}: words", _floats([len(text.split()) for text in texts])),
        named("punctuation", "last character", _last),
        named("punctuation", "question mark", lambda text: "?" in text),
        named("punctuation", "quotation mark", lambda text: any(c in '"„”“«»' for c in text)),
        named("punctuation", "digit", lambda text: any(c.isdigit() for c in text)),
        named("punctuation", "comma", lambda text: "," in text),
    ]
    known = LANGUAGES.find(language)
    if known and (negation := known.negation):
        found.append(
            named("negation", "word of negation", lambda t: bool(negation & set(words(t))))
        )
    return found


def _of_pair(premises: Sequence[str], hypotheses: Sequence[str]) -> list[Feature]:
    both = list(zip(premises, hypotheses, strict=True))
    ratio = [len(second) / max(len(first), 1) for first, second in both]
    inside = [_share_inside(first, second) for first, second in both]
    return [
        Feature("length", "", "length of hypothesis / premise", _floats(ratio)),
        Feature(
            "overlap", "", "word overlap (Jaccard)", _floats([overlap(*pair) for pair in both])
        ),
        Feature("overlap", "", "share of hypothesis words in the premise", _floats(inside)),
    ]


def _share_inside(premise: str, hypothesis: str) -> float:
    found = words(hypothesis)
    known = set(words(premise))
    return sum(word in known for word in found) / max(len(found), 1)


def _last(text: str) -> str:
    """The last character that is no quotation mark or bracket; a letter or digit counts as none."""
    end = _LAST_MARKS.sub("", text)[-1:]
    return "none" if not end or end.isalnum() else end


def _floats(values: Sequence[float]) -> Values:
    return np.array(values, np.float64)


def _word(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
