"""A study: what is judged, by whom, and who wrote what; kept in `key.json`, which no rater sees."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron import __version__
from heron.base.errors import DataError, Problem
from heron.base.files import read_json, write_json
from heron.languages.wording import Question

KIND = "heron judge key"
RATINGS = range(1, 6)  # Likert


@dataclass(frozen=True, slots=True)
class Judged:
    """One summary.

    Args:
        guid: of its article.
        system: who wrote it.
    """

    guid: str
    system: str


@dataclass(frozen=True, slots=True)
class Study:
    """Everything that is needed to make sense of filled forms.

    Args:
        id: 8 hexadecimal digits, on every form: forms of different studies must not be mixed up.
        language: of the texts, ISO 639-1.
        wording: the language of the form's own words.
        criteria: what is rated from 1 to 5.
        errors: what can be ticked; may be none.
        systems: names, in the order of tables.
        items: for each rater, in the form's order, items (`012-2`: article 12, summary 2) and what
            they are.
        metrics: automatic scores, by system, guid and name.
        synthetic: whether the texts are generated.
        made: how the sample was drawn: options, files, hashes.
    """

    id: str
    language: str
    wording: str
    criteria: tuple[Question, ...]
    errors: tuple[Question, ...]
    systems: tuple[str, ...]
    items: Mapping[str, Mapping[str, Judged]]
    metrics: Mapping[str, Mapping[str, Mapping[str, float]]]
    synthetic: bool
    made: Mapping[str, Any]

    @property
    def guids(self) -> list[str]:
        """The articles, sorted."""
        return sorted({one.guid for items in self.items.values() for one in items.values()})


def write_key(path: Path, study: Study) -> None:
    """Write `key.json`."""
    content = {"kind": KIND, "heron": __version__, **dataclasses.asdict(study)}
    write_json(path, content)


def read_key(path: Path) -> Study:
    """Read what `write_key` wrote.

    Raises:
        DataError: it is not there, or is something else.
    """
    try:
        content = read_json(path)
        if not isinstance(content, dict) or content.pop("kind", None) != KIND:
            raise ValueError("it is no key")
        content.pop("heron")
        items = {
            rater: {item: Judged(**one) for item, one in items.items()}
            for rater, items in content.pop("items").items()
        }
        criteria, errors = (
            tuple(Question(**one) for one in content.pop(name)) for name in ("criteria", "errors")
        )
        systems = tuple(content.pop("systems"))
        return Study(criteria=criteria, errors=errors, systems=systems, items=items, **content)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        fix = "key= is the key.json that `heron judge sample` wrote beside the forms"
        raise DataError(Problem(str(path), f"cannot be read as a key: {error}", fix)) from error
