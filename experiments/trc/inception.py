"""Event pairs for INCEpTION, as UIMA CAS XMI, and its exported answers.

A document has a span (`EVENT`) for each event, whose features `axis` and `connects` annotators fill
in with names of time axes, and a relation (`PAIR`) for each pair, with `q1` and `q2`: yes or no.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from heron.base.errors import ConfigError, DataError
from heron.base.files import write_file
from heron.base.terminal import say

EVENT = "webanno.custom.Event"
PAIR = "webanno.custom.Pair"
FEATURES = {EVENT: ("axis", "connects"), PAIR: ("q1", "q2")}  # that annotators fill in
_SENTENCE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence"
_TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
_TYPES = "TypeSystem.xml"
_JSON = ".json"
_EXPORTS = (".xmi", _JSON)
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Export(NamedTuple):
    """An exported document."""

    where: str
    types: bytes  # JSON has its own: empty
    content: bytes


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
        cas.sofa_string = _xml_text(document)
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


def is_export(path: Path) -> bool:
    """Tell whether a path is that of an annotator's exports, see `read_answers`."""
    return path.is_dir() or bool(_of_annotator(path))


def read_answers(path: Path, layer: str) -> list[tuple[str, str, list[str]]]:
    """Read an annotator's answers: file, guid and both features of each event or pair.

    Args:
        path: a folder with .xmi files beside their TypeSystem.xml, .json files, or .zip files with
            either, in any depth; or `annotation/NAME`, where `annotation` is the folder of an
            exported project, which has a folder with `NAME.zip` for each document.
        layer: `EVENT` or `PAIR`.

    Raises:
        DataError: no such file, or one that cannot be read.
    """
    answers: list[tuple[str, str, list[str]]] = []
    exports = list(_exports(path))
    if not exports:
        fix = "INCEpTION's export as UIMA CAS XMI or JSON"
        raise DataError(str(path), "has no .xmi, .json or .zip", fix)

    for export in exports:
        answers += _answers(export, layer)
    return answers


def _answers(export: _Export, layer: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the answers of one exported document, see `read_answers`."""
    cassis = _cassis()
    content = io.BytesIO(export.content)
    try:
        if export.types:
            typesystem = cassis.load_typesystem(io.BytesIO(export.types))
            cas = cassis.load_cas_from_xmi(content, typesystem=typesystem)
        else:
            cas = cassis.load_cas_from_json(content)

        annotations = []
        if cas.typesystem.contains_type(layer):  # JSON declares only the types that it has
            annotations = cas.select(layer)
    except Exception as error:  # the library does not document its errors for broken files
        problem = f"cannot be read: {error}"
        raise DataError(export.where, problem, "UIMA CAS XMI or JSON") from error

    own = 0
    for annotation in annotations:
        guid = getattr(annotation, "guid", None)
        if not guid:
            own += 1
            continue

        answers = []
        for name in FEATURES[layer]:
            answer = getattr(annotation, name, None) or ""
            answers.append(str(answer).strip())
        yield export.where, guid, answers

    if own:
        name = layer.rpartition(".")[2].lower()
        say(f"{export.where}: {own} that the annotator has added are left out ({name})")


def _exports(path: Path) -> Iterator[_Export]:
    """Yield each exported document."""
    files = _of_annotator(path)
    if path.is_dir():
        # A project's export has a folder for each document, named like its file.
        files = sorted(file for file in path.rglob("*") if file.is_file())

    for file in files:
        if file.suffix == ".zip":
            yield from _packed(file)
        elif file.suffix == _JSON:
            yield _Export(str(file), b"", file.read_bytes())
        elif file.suffix == ".xmi":
            types = file.parent / _TYPES
            if not types.is_file():
                problem = f"has no {_TYPES} beside it"
                raise DataError(str(file), problem, "the export's own")
            yield _Export(str(file), types.read_bytes(), file.read_bytes())


def _of_annotator(path: Path) -> list[Path]:
    """List an annotator's files in a project's export, see `read_answers`."""
    return sorted(path.parent.glob(f"*/{path.name}.zip"))


def _packed(path: Path) -> Iterator[_Export]:
    """Yield the documents in a .zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if not name.endswith(_EXPORTS):
                    continue
                types = b"" if name.endswith(_JSON) else archive.read(_TYPES)
                yield _Export(f"{path}:{name}", types, archive.read(name))
    except (zipfile.BadZipFile, KeyError) as error:
        fix = f"a .json, or a .xmi and {_TYPES}"
        raise DataError(str(path), str(error), fix) from error


def _xml_text(document: Any) -> str:
    """Read a document's text, with blanks for characters that XML cannot have."""
    text, count = _NO_XML.subn(" ", document.text)
    if count:
        say(f"document {document.name}: {count} control characters are blanks in XMI")
    return text


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
