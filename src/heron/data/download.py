"""Downloads of data files: resumed after an interruption, verified, moved into place at once."""

import http.client
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from heron.base.errors import DataError, Problem
from heron.base.files import locked, sha256_file
from heron.base.folders import VERSION
from heron.base.progress import messages
from heron.base.tables import read_table
from heron.base.terminal import say
from heron.data.config import FileConfig
from heron.data.sources import Source, State, wrong_content

ATTEMPTS = 5
TIMEOUT = 30  # seconds without a byte
_BLOCK = 1 << 16

# Called with the bytes received so far (`completed`) and, where known, all of the file (`total`).
Report = Callable[..., None]


class DownloadError(Exception):
    """A file that could not be fetched; the message says why."""


class UnreachableError(DownloadError):
    """No connection at all: trying the next file would fail the same way."""


def fetch(sources: Mapping[str, Source], folder: Path) -> list[Problem]:
    """Download the missing ones among `sources` into `folder`, with a progress bar.

    Returns a problem for each file that could not be fetched: why, and what to do by hand.
    """
    missing = [source for source in sources.values() if source.state is State.MISSING]
    if not missing:
        return []
    for name in ("HERON_OFFLINE", "HF_HUB_OFFLINE"):
        if os.environ.get(name, "").lower() not in ("", "0", "false", "no"):
            return [_missing(source, f"offline: {name} is set") for source in missing]
    problems: list[Problem] = []
    unreachable: UnreachableError | None = None
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(*columns, console=messages()) as progress:
        for source in missing:
            path = Path(source.file.path)
            try:
                if path.is_absolute() or ".." in path.parts:
                    raise DownloadError(f"it is not fetched: its path leads out of {folder}")
                if unreachable:
                    raise unreachable
                task = progress.add_task(source.path.name, total=source.file.size)
                download(source.file, folder / path, partial(progress.update, task))
            except DownloadError as error:
                unreachable = error if isinstance(error, UnreachableError) else unreachable
                problems.append(_missing(source, str(error)))
            except OSError as error:
                problems.append(_missing(source, f"cannot write into {folder}: {error.strerror}"))
    return problems


def _missing(source: Source, reason: str) -> Problem:
    if source.path.is_dir():
        return Problem(str(source.path), "is a folder, not a file", "name a file in it")
    address = f"fetch {source.file.url} and put it there" if source.file.url else "put it there"
    fix = (address, f"set paths.data to the folder that holds {source.file.path}")
    return Problem(str(source.path), f"missing; {reason}", fix)


def download(file: FileConfig, target: Path, report: Report) -> None:
    """Fetch `file.url` to `target`; safe when several processes want the same file.

    Received bytes are kept in `<target>.part`; the next attempt, in this process or a later one,
    asks the server only for the rest. The target appears only complete and verified.
    """
    url = _require_https(file.url)
    part = target.with_name(f"{target.name}.part")
    with locked(target.with_name(f".{target.name}.lock")):
        if target.is_file():  # another process was faster
            return
        for _ in range(ATTEMPTS):
            if _receive(url, part, report):
                break
        else:
            raise DownloadError(f"the connection to {url} broke {ATTEMPTS} times; try again")
        if wrong := wrong_content(file, part):
            part.unlink()  # or the next attempt would resume it
            raise DownloadError(f"what {file.url} gives is another file: {wrong}")
        os.replace(part, target)
        if not file.sha256:  # what to pin
            with suppress(DataError):
                say(f"{target}: {len(read_table(target)):,} rows")
            say(f"{target}: its sha256 is {sha256_file(target)}")


def _receive(url: str, part: Path, report: Report) -> bool:
    """Append the rest of the file to `part`; returns whether it is complete."""
    start = part.stat().st_size if part.is_file() else 0
    headers = {"User-Agent": f"heron/{VERSION}"}
    if start:
        headers["Range"] = f"bytes={start}-"
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            _require_https(response.url)
            if response.status != http.HTTPStatus.PARTIAL_CONTENT:
                start = 0  # a server without ranges sends the whole file again
            length = response.headers.get("Content-Length")
            total = start + int(length) if length else None
            with open(part, "ab" if start else "wb") as out:
                while block := response.read(_BLOCK):
                    start += out.write(block)
                    report(completed=start, total=total)
                out.flush()
                os.fsync(out.fileno())
            return total is None or start == total
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink(missing_ok=True)  # it is complete, or too long: begin again
            return False
        raise DownloadError(f"{url} answers {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise UnreachableError(f"cannot reach {_host(url)}: {error.reason}") from error
    except (http.client.HTTPException, ConnectionError, TimeoutError):
        return False


def _require_https(url: str | None) -> str:
    """Refuse addresses other than https, except on this computer."""
    if not url:
        raise DownloadError(
            "it has no address (in a run's config.yaml, an address without sha256 does not count)"
        )
    if urllib.parse.urlsplit(url).scheme != "https" and _host(url) != "127.0.0.1":
        raise DownloadError(f"{url} is not https")
    return url


def _host(url: str) -> str:
    return urllib.parse.urlsplit(url).hostname or ""
