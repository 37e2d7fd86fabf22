"""Reads what an offline W&B run has recorded, for tests; the format is LevelDB's log."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wandb.proto import wandb_internal_pb2

BLOCK = 32 * 1024
HEADER = struct.Struct("<IHB")  # checksum, length, kind: 1 whole, 2 first, 3 middle, 4 last
WHOLE, LAST = 1, 4


@dataclass
class Recorded:
    """One W&B run, as its server would hold it."""

    id: str = ""
    project: str = ""
    entity: str = ""
    group: str = ""
    name: str = ""
    kind: str = ""
    sweep: str = ""
    notes: str = ""
    tags: list[str] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    artifacts: dict[str, list[str]] = field(default_factory=dict)
    exit_code: int | None = None


def recorded_runs(folder: Path) -> list[Recorded]:
    """Read every offline W&B run below a folder, in order of name."""
    return [read_recorded(path) for path in sorted(folder.rglob("offline-run-*/run-*.wandb"))]


def read_recorded(path: Path) -> Recorded:
    """Read one `.wandb` file."""
    run = Recorded()
    for content in _records(path.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(content)
        _add(run, record)
    return run


def _add(run: Recorded, record: Any) -> None:
    kind = record.WhichOneof("record_type")
    if kind == "run":
        of = record.run
        run.id, run.project, run.group = of.run_id, of.project, of.run_group
        run.entity, run.notes, run.sweep = of.entity, of.notes, of.sweep_id
        run.name, run.kind, run.tags = of.display_name, of.job_type, list(of.tags)
        run.config |= {each.key: json.loads(each.value_json) for each in of.config.update}
    elif kind == "summary":
        run.summary |= {_name(each): json.loads(each.value_json) for each in record.summary.update}
    elif kind == "history":
        run.rows.append({_name(each): json.loads(each.value_json) for each in record.history.item})
    elif kind == "artifact":
        files = sorted(entry.path for entry in record.artifact.manifest.contents)
        run.artifacts[record.artifact.name] = files
    elif kind == "request" and record.request.HasField("log_artifact"):
        artifact = record.request.log_artifact.artifact
        run.artifacts[artifact.name] = sorted(entry.path for entry in artifact.manifest.contents)
    elif kind == "exit":
        run.exit_code = record.exit.exit_code


def _name(item: Any) -> str:
    return item.key or ".".join(item.nested_key)


def _records(content: bytes) -> Iterator[bytes]:
    position, parts = 7, b""  # a header of W&B's own comes first
    while position + HEADER.size <= len(content):
        if BLOCK - position % BLOCK < HEADER.size:  # a header never crosses two blocks
            position += BLOCK - position % BLOCK
            continue
        _, length, kind = HEADER.unpack_from(content, position)
        position += HEADER.size
        parts += content[position : position + length]
        position += length
        if kind in (WHOLE, LAST):
            yield parts
            parts = b""
