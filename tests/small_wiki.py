"""MediaWiki dumps with generated articles, for `heron build ronli`; the text means nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

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
    """Write one sentence of 60 to 160 characters, some with a name in capitals or markup."""
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
    """Yield the XML of pages: articles, and now and then a redirect, a talk page, a list."""
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
