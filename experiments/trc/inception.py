"""Event pairs for INCEpTION, as UIMA CAS XMI, and its exported answers.

A document has a span (`EVENT`) for each event, whose features `axis` and `connects` annotators fill
in with names of time axes, and a relation (`PAIR`) for each pair, with `q1` and `q2`: yes or no.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError
from heron.base.files import write_file

EVENT = "webanno.custom.Event"
PAIR = "webanno.custom.Pair"
FEATURES = {EVENT: ("axis", "connects"), PAIR: ("q1", "q2")}  # that annotators fill in
_SENTENCE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence"
_TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
_TYPES = "TypeSystem.xml"


def write_documents(documents: Sequence[Any], pairs: Sequence[Any], out: Path) -> list[Path]:
    """Write an .xmi file for each document, and the annotation types.

    Args:
        documents: `corpus.Document`s.
        pairs: `corpus.Pair`s of these documents.
        out: an empty or new folder.
    """
    cassis = _cassis()
    types = _typesystem(cassis)
    paths = [write_file(out / _TYPES, types.to_xml())]
    for document in documents:
        cas = cassis.Cas(typesystem=types)
        cas.sofa_string = document.text
        cas.sofa_mime = "text/plain"
        for start, end in document.sentences:
            cas.add(types.get_type(_SENTENCE)(begin=start, end=end))
            for low, high in _words(document.text, start, end):
                cas.add(types.get_type(_TOKEN)(begin=low, end=high))

        events = []
        for number, (start, end) in enumerate(document.events):
            guid = document.event_guid(number)
            event = types.get_type(EVENT)(begin=start, end=end, guid=guid)
            cas.add(event)
            events.append(event)

        for pair in pairs:
            if pair.document != document.name:
                continue
            first, second = [events[index] for index in pair.events]
            relation = types.get_type(PAIR)(
                begin=second.begin,
                end=second.end,
                Governor=first,
                Dependent=second,
                guid=pair.guid,
            )
            cas.add(relation)

        path = write_file(out / f"{document.name}.xmi", cas.to_xmi())
        paths.append(path)
    return paths


def read_answers(folder: Path, layer: str) -> list[tuple[str, str, list[str]]]:
    """Read an annotator's answers: file, guid and both features of each event or pair.

    Args:
        folder: with .xmi files beside their TypeSystem.xml, or INCEpTION's exported .zip files, in
            any depth.
        layer: `EVENT` or `PAIR`.

    Raises:
        DataError: no such file, or one that cannot be read.
    """
    files = list(_exports(folder))
    if not files:
        fix = "INCEpTION's export as UIMA CAS XMI"
        raise DataError(str(folder), "has no .xmi and no .zip", fix)

    answers: list[tuple[str, str, list[str]]] = []
    for where, types, content in files:
        answers += _answers(where, types, content, layer)
    return answers


def _answers(
    where: str, types: bytes, content: bytes, layer: str
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the answers of one exported document, see `read_answers`."""
    cassis = _cassis()
    types_file = io.BytesIO(types)
    content_file = io.BytesIO(content)
    try:
        typesystem = cassis.load_typesystem(types_file)
        cas = cassis.load_cas_from_xmi(content_file, typesystem=typesystem)
        annotations = cas.select(layer)
    except Exception as error:  # the library does not document its errors for broken XML
        raise DataError(where, f"cannot be read: {error}", "UIMA CAS XMI") from error

    for annotation in annotations:
        guid = str(getattr(annotation, "guid", None))  # an annotator may have added an event
        answers = []
        for name in FEATURES[layer]:
            answer = getattr(annotation, name, None) or ""
            answers.append(str(answer).strip())
        yield where, guid, answers


def _exports(folder: Path) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield the name, the types and the content of each exported document."""
    for path in sorted(folder.rglob("*.xmi")):
        types = path.parent / _TYPES
        if not types.is_file():
            problem = f"has no {_TYPES} beside it"
            raise DataError(str(path), problem, "the export's own")
        type_system = types.read_bytes()
        yield str(path), type_system, path.read_bytes()

    for path in sorted(folder.rglob("*.zip")):
        try:
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    if not name.endswith(".xmi"):
                        continue
                    type_system = archive.read(_TYPES)
                    content = archive.read(name)
                    yield f"{path}:{name}", type_system, content
        except (zipfile.BadZipFile, KeyError) as error:
            raise DataError(str(path), str(error), f"a .xmi and {_TYPES}") from error


def _typesystem(cassis: Any) -> Any:
    """Declare INCEpTION's custom layers: spans for events, relations for pairs."""
    types = cassis.load_dkpro_core_typesystem()
    base = "uima.tcas.Annotation"
    event = types.create_type(name=EVENT, supertypeName=base)
    pair = types.create_type(name=PAIR, supertypeName=base)
    for name in ("Governor", "Dependent"):
        types.create_feature(domainType=pair, name=name, rangeType=event)

    for layer in (event, pair):
        for name in ("guid", *FEATURES[layer.name]):
            types.create_feature(domainType=layer, name=name, rangeType="uima.cas.String")
    return types


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each word of a sentence, in characters of the document."""
    position = start
    for word in text[start:end].split():
        begin = text.index(word, position)
        position = begin + len(word)
        yield begin, position


def _cassis() -> Any:
    try:
        import cassis  # an optional extra
    except ImportError as error:
        raise ConfigError("INCEpTION's files need cassis: pip install heron-nlu[build]") from error
    return cassis
