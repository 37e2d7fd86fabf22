"""Downloads that resume after a cut, are verified, and take their place in one step."""

from __future__ import annotations

import http.client
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

from heron import __version__
from heron.base.files import locked, sha256_file
from heron.config.data import FileConfig

ATTEMPTS = 5
TIMEOUT = 30  # seconds without a byte
_BLOCK = 1 << 16

# Called with the bytes received so far and, where known, those of the whole file.
Report = Callable[[int, int | None], None]


class DownloadError(Exception):
    """A file that could not be fetched; the message says why."""


class UnreachableError(DownloadError):
    """No connection at all: trying the next file would fail the same way."""


def download(file: FileConfig, target: Path, report: Report) -> None:
    """Fetch `file.url` to `target`; safe when several processes want the same file.

    What has arrived is kept as `<target>.part`, and the next attempt, in this process or a later
    one, asks the server only for the rest.

    Args:
        file: its address, and the hash and size (bytes) that it must have.
        target: where it goes; appears only whole and verified.
        report: called after every block.

    Raises:
        DownloadError: no usable address, an answer other than the file, another hash or size, or a
            connection that keeps breaking.
        OSError: the target's folder cannot be written.
    """
    url = _checked(file.url)
    part = target.with_name(f"{target.name}.part")
    with locked(target.with_name(f".{target.name}.lock")):
        if target.is_file():  # another process was faster
            return
        for _ in range(ATTEMPTS):
            if _receive(url, part, report):
                break
        else:
            raise DownloadError(f"the connection to {url} broke {ATTEMPTS} times; try again")
        _verify(part, file)
        os.replace(part, target)


def _receive(url: str, part: Path, report: Report) -> bool:
    """Append to `part` what is missing; returns whether it is whole, False after a cut."""
    start = part.stat().st_size if part.is_file() else 0
    headers = {"User-Agent": f"heron/{__version__}"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), timeout=TIMEOUT
        ) as response:
            _checked(response.url)
            if response.status != http.HTTPStatus.PARTIAL_CONTENT:
                start = 0  # a server without ranges sends the whole file again
            length = response.headers.get("Content-Length")
            total = start + int(length) if length else None
            return _append(response, part, start, total, report)
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink(missing_ok=True)  # all of it, or more: begin again
            return False
        raise DownloadError(f"{url} answers {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise UnreachableError(f"cannot reach {_host(url)}: {error.reason}") from error
    except (http.client.HTTPException, ConnectionError, TimeoutError):
        return False


def _append(
    response: http.client.HTTPResponse, part: Path, start: int, total: int | None, report: Report
) -> bool:
    received = start
    with open(part, "ab" if start else "wb") as out:
        while block := response.read(_BLOCK):
            out.write(block)
            received += len(block)
            report(received, total)
        out.flush()
        os.fsync(out.fileno())
    return total is None or received == total


def _verify(part: Path, file: FileConfig) -> None:
    """Check size and hash; content that is wrong is removed, or it would be resumed for ever."""
    size, sha256 = part.stat().st_size, sha256_file(part)
    if file.size not in (None, size) or file.sha256 not in (None, sha256):
        part.unlink()
        raise DownloadError(
            f"{file.url} gives {size} bytes with sha256 {sha256}, "
            f"expected {file.size} bytes with sha256 {file.sha256}"
        )


def _checked(url: str | None) -> str:
    """Refuse addresses whose content could be changed on the way; this computer's own are fine."""
    if not url:
        raise DownloadError(
            "no address is known for it; of a stored run's config.yaml, one without sha256 is none"
        )
    if urllib.parse.urlsplit(url).scheme != "https" and _host(url) != "127.0.0.1":
        raise DownloadError(f"{url} is not https")
    return url


def _host(url: str) -> str:
    return urllib.parse.urlsplit(url).hostname or ""
