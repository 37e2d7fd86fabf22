"""Texts made up: raw text and runs on it, and MediaWiki dumps; they mean nothing."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

from heron.tasks.config import Config
from heron.training.compose import compose

WORDS = [
    *("הוועדה", "ההצעה", "השר", "האולם", "החברה", "העובדים", "שביתה", "בבוקר", "עזב"),
    *("דחתה", "התכנסה", "לאחר", "לפני", "את", "של", "על"),
]


def sentences(count: int, seed: int = 0, words: int = 12) -> list[str]:
    """Draw different texts of `words // 2` to `words` words."""
    draw = random.Random(seed)
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts[" ".join(draw.choices(WORDS, k=draw.randint(words // 2, words)))] = None
    return list(texts)


@cache
def _compose(*words: str) -> Config:
    return compose(words)


def run_on(file: Path, encoder: Path, cache_dir: Path, *words: str) -> Config:
    """Compose a small run on a file of raw text."""
    config = _compose(
        "data=own_text",
        "encoder=pretrained",
        "encoder.name=somewhere",
        "encoder.max_length=32",
        "data.files.train.path=train.txt",
        "data.validation.fraction=0.2",
        "trainer.max_epochs=2",
        "trainer.precision=32-true",
        "trainer.accelerator=cpu",
        "trainer.threads=1",
        "trainer.enable_progress_bar=false",
        "batching.tokens=256",
        *words,
    )
    config = copy.deepcopy(config)
    config.encoder.name, config.data.files["train"].path = str(encoder), str(file)
    config.paths.cache = str(cache_dir)
    return config


PHRASES = {
    "contrastive": ["În contrast", "Cu toate acestea", "În ciuda acestui fapt"],
    "entailment": ["Cu alte cuvinte", "Altfel spus"],
    "reasoning": ["Prin urmare", "Astfel că", "În concluzie"],
}
_WORDS = (
    *("casa", "apa", "timpul", "râul", "orașul", "muntele", "pădurea", "copilul", "omul", "drumul"),
    *("lumina", "cartea", "școala", "podul", "satul", "vântul", "iarna", "vara", "noaptea", "ziua"),
    *("piatra", "focul", "câmpul", "marea", "nordul", "sudul", "estul", "vestul", "începe"),
    *("rămâne", "devine", "ajunge", "poartă", "aduce", "lasă", "crește", "scade", "urmează"),
    *("vechi", "nou", "mare", "mic", "lung", "scurt", "înalt"),
)
_HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="ro">\n'
)


def sentence(draw: random.Random) -> str:
    """Write a sentence of 10 to 22 words, one of them a name, plain, linked or bold."""
    words = [draw.choice(_WORDS) for _ in range(draw.randint(10, 22))]
    words[draw.randrange(3, len(words))] = draw.choice(["Dunărea", "[[Cluj|Clujul]]", "'''Iași'''"])
    if draw.random() < 0.2:
        words[-1] += "<ref>{{citat|titlu=x|an=1990}}</ref>"
    text = " ".join(words)
    return text[0].upper() + text[1:] + "."


def article(draw: random.Random, words: int = 600, linked: float = 0.05) -> str:
    """Write an article with an infobox, sections, a table, a list and references."""
    parts = ["{{Infocaseta|nume=x|{{sub|y}}}}"]
    count = 0
    phrases = [phrase for listed in PHRASES.values() for phrase in listed]
    while count < words:
        found = []
        for place in range(5):
            text = sentence(draw)
            if place and draw.random() < linked:
                text = f"{draw.choice(phrases)}, {text[0].lower()}{text[1:]}"
            found.append(text)
            count += len(text.split())
        parts.append(" ".join(found))
        if draw.random() < 0.2:
            parts.append(f"== Secțiunea {len(parts)} ==")
    parts.append("{| class=wikitable\n|-\n| Prin urmare, o celulă || alta\n|}")
    parts.append("* Prin urmare, un punct al unei liste care este destul de lung pentru o pereche.")
    parts.append(
        "== Note ==\nAceasta este o notă lungă. Prin urmare, ea nu este un text obișnuit aici."
    )
    return "\n\n".join(parts)


def pages(count: int, seed: int = 0, words: int = 600, linked: float = 0.05) -> Iterator[str]:
    """Yield the XML of pages: articles, and some redirects, talk and disambiguation pages."""
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        text, space, redirect = article(draw, words, linked), 0, ""
        if number % 20 == 7:
            text, redirect = "#REDIRECT [[x]]", '<redirect title="x" />'
        elif number % 20 == 11:
            space = 1
        elif number % 20 == 13:
            text = "{{dezambiguizare}}\n" + text
        yield (
            f"<page><title>Pagina {number}</title><ns>{space}</ns><id>{number + 1}</id>{redirect}"
            f"<revision><id>{number + 1}</id><timestamp>2020-01-01T00:00:00Z</timestamp>"
            f"<contributor><username>u</username><id>1</id></contributor><model>wikitext</model>"
            f'<format>text/x-wiki</format><text xml:space="preserve">{escape(text)}</text>'
            f"<sha1>x</sha1></revision></page>\n"
        )


def write_dump(
    path: Path, count: int, seed: int = 0, words: int = 600, linked: float = 0.05
) -> Path:
    """Write a dump; returns its path."""
    with path.open("w", encoding="utf-8") as file:
        file.write(_HEAD)
        file.write("<siteinfo><sitename>W</sitename><dbname>rowiki</dbname></siteinfo>\n")
        file.writelines(pages(count, seed, words, linked))
        file.write("</mediawiki>\n")
    return path
