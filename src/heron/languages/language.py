"""`Language`: letters, direction, word lists and the wording of forms."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from heron.languages.words import spaced

UNDETERMINED = "und"  # ISO 639's code of texts whose language is not known


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """How a language asks; words are normalised (`heron.metrics.span.language_profile`)."""

    # Cluster (CLUSTERS of ParaShoot) by question word or phrase.
    phrases: dict[tuple[str, ...], str]
    prefixes: str = ""  # letters that may be written together with the word that follows
    yes_or_no: frozenset[str] = frozenset()  # first words of questions that ask for yes or no
    # Those of them that a question word may follow: Romanian "Oare unde s-a născut?"
    any_question: frozenset[str] = frozenset()

    def longest(self) -> int:
        """Count the words of the longest phrase."""
        return max(map(len, self.phrases))

    def readings(self, word: str) -> Iterator[str]:
        """Give a word, then the word without one and two of its prefixes."""
        yield word
        for _ in range(2):
            if len(word) < 2 or word[0] not in self.prefixes:
                return
            word = word[1:]
            yield word


def question_words(
    prefixes: str = "", yes_or_no: str = "", any_question: str = "", **clusters: str
) -> QuestionWords:
    """Make `QuestionWords`: words apart by spaces, phrases of each cluster by commas."""
    phrases = {
        tuple(spaced(phrase).split()): cluster
        for cluster, listed in clusters.items()
        for phrase in listed.split(",")
    }
    opening = frozenset(yes_or_no.split()), frozenset(any_question.split())
    return QuestionWords(phrases, prefixes, *opening)


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Short words that are written together with the next word."""

    slots: tuple[tuple[str, ...], ...]  # a word has at most one prefix of each slot, in this order
    article: str = ""  # the definite article, one of the prefixes
    swallow_article: tuple[str, ...] = ()  # prefixes after which the article is not written


@dataclass(frozen=True, slots=True)
class Language:
    """One language. The first four fields are required; a feature that needs another says so."""

    code: str  # ISO 639 code, the value of `data.language`
    name: str  # its English name, for tables and figures
    direction: str  # `rtl` or `ltr`, the direction in which it is written; `auto`: by the text
    alphabet: str  # all letters of its own words, lower case first where there is case; NFC
    # Default opening and closing marker of event 1, then of event 2.
    event_markers: tuple[str, str, str, str] = ("[E1]", "[/E1]", "[E2]", "[/E2]")
    # Letters of old fonts and the letter of today for each, in pairs (`şșŢȚ`); replaced under
    # `data.unicode.cedilla=comma`.
    variants: str = ""
    # Words that negate, as `heron.languages.words` splits them: for the audit. `nu` is also found
    # in nu-i, before a hyphen.
    negation: frozenset[str] = field(default=frozenset(), compare=False)
    # Question words, for the analysis of question answering.
    questions: QuestionWords | None = field(default=None, compare=False)
    # For `morphology=simplemma-prefixes`.
    prefixes: Prefixes | None = field(default=None, compare=False)
    # YAML file with the words of the forms of `heron judge`.
    wording: Path | None = field(default=None, compare=False)
