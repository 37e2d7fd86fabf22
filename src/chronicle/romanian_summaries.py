"""Romanian summaries."""

from __future__ import annotations

from collections.abc import Sequence

from chronicle import romanian_words as words
from chronicle.romanian_questions import RomanianAsker
from chronicle.summary import Summariser, placeless
from chronicle.world import Entity, Event


class RomanianSummariser(Summariser, RomanianAsker):
    """Summarizes in Romanian."""

    def noun(self, event: Event, named: bool) -> str:
        """Tell an event as a noun, without its town: publicarea propunerii de către consiliu."""
        return self.nominal(placeless(event), named=named)

    def centre(self, who: Entity, acts: int, examples: Sequence[Event]) -> str:
        """Say who acts most often, how often, and name some of the actions."""
        things = self.together([self.noun(event, named=False) for event in examples])
        count = _number(acts)
        return self.rng.choice((
            f"în centrul articolului se află {self.full(who)}, cu {count} acțiuni, printre care"
            f" {things}",
            f"cel mai mult se vorbește despre {self.full(who)}, cu {count} acțiuni, inclusiv"
            f" {things}",
        ))  # fmt: skip

    def course(self, first: Event, last: Event) -> str:
        """Say how the story began and ended."""
        one, two = self.noun(first, named=True), self.noun(last, named=True)
        return self.rng.choice((
            f"totul a început cu {one} și s-a sfârșit cu {two}",
            f"punctul de plecare a fost {one}, iar încheierea a adus {two}",
        ))  # fmt: skip

    def towns(self, towns: Sequence[int]) -> str:
        """Say in how many towns things happened, and name them."""
        names, count = self.together([words.PLACES[town] for town in towns]), _number(len(towns))
        return self.rng.choice((
            f"faptele se leagă de {count} orașe: {names}",
            f"în total, cele întâmplate privesc {count} orașe, și anume {names}",
        ))  # fmt: skip

    def reason(self, effect: Event, cause: Event) -> str:
        """Say that one event followed from another."""
        noun, other = self.noun(effect, named=True), self.noun(cause, named=True)
        return self.rng.choice((
            f"{noun} a avut drept cauză {other}",
            f"la originea a ceea ce a urmat, {noun}, stă {other}",
        ))  # fmt: skip

    def together(self, names: Sequence[str]) -> str:
        """Join names: a, b și c."""
        *rest, last = names
        return f"{', '.join(rest)} și {last}"


def _number(count: int) -> str:
    """Count feminine and neuter nouns in words up to nine."""
    return words.NUMBERS[count] if count < 10 else str(count)
