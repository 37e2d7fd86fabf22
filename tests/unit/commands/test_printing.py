"""What every command prints: results once, as text or JSON, and messages apart from them."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.text import Text

import small_study
from heron.base import terminal
from heron.base.cells import Cell, Formatted, Interval, Summary, Table, show, to_json
from heron.base.tables import read_table, write_table
from heron.base.terminal import print_lines, print_tables
from small_runs import TINY, heron, in_folder, train
from tiers import one_in

ISOLATES = "\u2068", "\u2069"
EDITION = "תַּנַ״ךְ מְנֻקָּד, 中文版 א"
TABLE = Table(
    "A title",
    ("כותרת", "text", "other", "score"),
    ((EDITION, "מילה " * 30, "word " * 20, 0.25), ("a", "b", "עברית, English, 1948", None)),
)

# Every command that prints a table, with a word that its results hold.
COMMANDS = {
    "agreement files={labels} raters=anna,ben majority={out}/most.csv": "most.csv",
    "analyze run={run} by=length out={out}": "test-length.json",
    "analyze data=chronicle data.generator.size=100 out={out} {cache}": "statistics.json",
    "annotate draw data=chronicle data.generator.size=100 rows=4 out={out} {cache}": "rater1.csv",
    "annotate collect sheets={sheets} key={study}/key.json out={out}": "answers.csv",
    "audit data=chronicle data.generator.size=100 out={out} {cache}": "audit.html",
    "claims hesum out={out}": "claims.json",
    "compare {predictions} {others} task=relation draws=50 out={out}": "compare.json",
    "dashboard {sweep} out={out}": "dashboard.html",
    "data": "chronicle_nli",
    "data chronicle": "synthetic",
    "evaluate run={run}": "macro_f1",
    "export run={run} out={out}/export": "README.md",
    "judge collect forms={forms} key={judged} out={out}": "report.md",
    "map run={run} out={out} texts=false": "map.html",
    "noise run={run} out={out}": "suspects.csv",
    "options head": "head.hidden",
    "predict run={run} text=[א1]_הוגשו_[/א1]_ואז_[א2]_נאמרו_[/א2]": "p/BEFORE",
    "prompt data=chronicle_nli data.generator.size=100 model=gpt-4o dry_run=true {cache}": "gpt-4o",
    "report {run} out={out}": "report.html",
    "report {sweep} out={out}": "table.csv",
    "reproduce trc": "trc:T4",
    "score task=relation gold={labelled} predictions={predictions} resamples=20": "macro_f1",
    "sweep {sweep}": "1 jobs: 1 done",
    "train {tiny}": "report.html",
}


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Train one tiny run and write small files; returns what the words of a command name."""
    folder = tmp_path_factory.mktemp("printed")
    run = train(folder).path
    guids = [str(number) for number in range(8)]
    labels = ["BEFORE", "AFTER"] * 4
    files = {
        name: folder / f"{name}.csv" for name in ("labels", "labelled", "predictions", "others")
    }
    write_table(files["labels"], {"guid": guids, "anna": labels, "ben": ["BEFORE"] * 8})
    write_table(files["labelled"], {"guid": guids, "label": labels})
    columns = {"guid": guids, "gold": labels, "prediction": ["AFTER", *labels[1:]]}
    write_table(files["predictions"], columns)
    write_table(files["others"], {**columns, "prediction": labels})
    runs, cache = in_folder(folder)
    study = folder / "study"
    draw = ("data=chronicle", "data.generator.size=100", "rows=6", "raters=anna,ben", cache)
    assert heron("annotate", "draw", *draw, f"out={study}") == 0
    sheets = [study / "anna.csv", study / "ben.csv"]
    for sheet, label in zip(sheets, ("BEFORE", "AFTER"), strict=True):
        rows = read_table(sheet).rows
        filled = {name: [row[name] for row in rows] for name in ("guid", "text")}
        write_table(sheet, {**filled, "label": [label, *["BEFORE"] * (len(rows) - 1)]})
    judged = small_study.sample(folder / "judged", "articles=6")
    fill = small_study.with_ratings(lambda rater, guid, system, number: 1 + len(system) % 3)
    small_study.answer_json(judged, fill, folder / "forms")
    tiny = " ".join([*TINY, runs, cache, "run.job=tiny"])
    collected = {"study": study, "sheets": ",".join(map(str, sheets))}
    collected |= {"forms": folder / "forms/*.json", "judged": folder / "judged/study/key.json"}
    named = {**collected, "run": run, "sweep": run.parent, "cache": cache, "tiny": tiny, **files}
    return {name: str(value) for name, value in named.items()}


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch):
    """Let `heron data` find no files to read."""
    monkeypatch.setenv("HERON_DATA", str(tmp_path / "data"))


@contextmanager
def noted() -> Iterator[list[Table]]:
    """Note the tables of a command that prints text."""
    found: list[Table] = []

    def note(**results: Any) -> bool:
        found.extend(results.get("tables", ()))
        return False

    with pytest.MonkeyPatch.context() as patch:
        for module in ("heron_tools.audit.report", "heron.commands.predict", "heron.base.terminal"):
            patch.setattr(f"{module}.hold_results", note)
        yield found


def words_of(command: str, places: dict[str, str], out: Path) -> list[str]:
    words = command.format(**places, out=out).split()
    return [word.replace("_", " ") if word.startswith("text=") else word for word in words]


def plain(cell: Cell) -> Any:
    if isinstance(cell, Interval | Summary):
        return cell._asdict()
    return cell.value if isinstance(cell, Formatted) else cell


@pytest.mark.parametrize(("command", "held"), one_in(2, COMMANDS.items()))
def test_the_json_of_a_command_has_the_values_of_its_tables_and_quiet_only_results(
    command, held, places, tmp_path, capsys
):
    with noted() as found:
        assert heron(*words_of(command, places, tmp_path / "quiet"), "quiet=true") == 0
    text, errors = capsys.readouterr()
    assert not errors
    assert not re.search(r"out=DIR|not for raters|^epoch \d|done already", text, re.MULTILINE)
    asked = not command.startswith(("audit", "predict"))  # those print lines of their own
    cells = [show(cell) for table in found if asked for row in table.rows for cell in row]
    assert not {w for cell in cells for w in cell.split() if w not in text}

    assert heron(*words_of(command, places, tmp_path / "json"), "json=true") == 0
    output = capsys.readouterr().out
    document = json.loads(output)
    assert list(document) == ["command", "tables", "files", "notes"]
    assert held in output
    assert [table["title"] for table in document["tables"]] == [table.title for table in found]
    for printed, table in zip(document["tables"], found, strict=True):
        if "export" in command:
            continue  # paths are those of another folder
        values = [list(row.values()) for row in printed["rows"]]
        assert values == [[plain(cell) for cell in row] for row in table.rows]
    assert all(Path(path).exists() for path in document["files"])


def test_messages_are_neither_in_json_nor_lost_with_it(places, tmp_path, capsys):
    command = "annotate draw data=chronicle data.generator.size=100 rows=4 out={out} {cache}"
    assert heron(*words_of(command, places, tmp_path), "json=true") == 0
    found = capsys.readouterr()
    assert "not for raters" in found.err
    assert "not for raters" not in found.out


def test_quiet_drops_warnings_and_bars_but_no_error(capsys, monkeypatch):
    def body(words):
        terminal.begin()
        terminal.say("a warning")
        print("a hint")
        list(tracked([1], "a bar", wanted=True))
        print_lines("a result")
        return int(bool(words)) and heron("score", "task=nothing", "gold=x", "predictions=y")

    from heron.base.terminal import tracked

    monkeypatch.setattr("heron.commands.report.run", body)
    assert heron("report", "quiet=true") == 0
    assert capsys.readouterr() == ("a result\n", "")
    assert heron("report", "quiet=true", "x") == 2
    assert "heron score: " in capsys.readouterr().err
    assert heron("report", "quiet=false") == 0
    found = capsys.readouterr()
    assert (found.out, found.err.partition("\n")[0]) == (
        "a hint\na result\n",
        "heron report: warning: a warning",
    )


def test_json_knows_no_nan_and_keeps_columns_of_one_name():
    cells = (float("nan"), Formatted(0.5, ".1f"), Interval(0.5, float("-inf"), 1.0))
    table = Table("t", ("a", "paper", "paper"), (cells,), "note")
    rows = [{"a": None, "paper": 0.5, "paper 2": {"value": 0.5, "low": None, "high": 1.0}}]
    assert to_json(table) == {"title": "t", "rows": rows, "note": "note"}


def on_a_terminal(script: str, *words: str, columns: int = 80, **environment: str) -> str:
    """Run Python on a pseudo-terminal; returns what it showed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    left_out = ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "HERON_BIDI")
    usual = {name: value for name, value in os.environ.items() if name not in left_out}
    command = [sys.executable, "-c", script, *words]
    environment = {**usual, "TERM": "xterm", **environment}
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait() == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")


PRINTS = f"""
from heron.base.cells import *
from heron.base.terminal import print_lines, print_tables
table = {TABLE!r}
print_tables([table, Table("wide", tuple("column_%d_f1" % n for n in range(20)), ((0.5,) * 20,))])
"""


def test_on_a_terminal_lines_fit_and_every_line_of_hebrew_is_isolated():
    shown = Text.from_ansi(on_a_terminal(PRINTS)).plain
    assert max(map(cell_len, shown.splitlines())) <= 80
    hebrew = re.compile("[א-ת]")
    for line in shown.splitlines():
        assert line.count(ISOLATES[0]) == line.count(ISOLATES[1])
        assert not hebrew.search(re.sub("\u2068[^\u2068\u2069]*\u2069", "", line))
    assert shown.count("מילה") == 30
    assert not re.search("[\u2068\u2069]", on_a_terminal(PRINTS, HERON_BIDI="off"))


def test_colours_and_isolates_are_for_terminals_only(capsys):
    assert "\x1b[1m" in on_a_terminal(PRINTS)
    command = [sys.executable, "-c", PRINTS]
    piped = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    assert not re.search("[\x1b\u2068\u2069]", piped)
    assert "…" not in piped
    print_tables([TABLE])
    assert capsys.readouterr().out in piped


def test_a_note_below_several_tables_is_printed_once(capsys):
    terminal.begin()
    for _ in range(2):
        print_tables([replace(TABLE, note="a note")] * 2)
    assert capsys.readouterr().out.count("a note") == 1


@pytest.mark.parametrize(("seconds", "lines"), [(0.0, 0), (3.1, 1)])
def test_only_work_that_takes_seconds_says_how_long_and_once(seconds, lines, capsys, monkeypatch):
    now = iter(range(99))
    monkeypatch.setattr("time.monotonic", lambda: next(now) * seconds)
    assert list(terminal.tracked(range(5), "tokenizing")) == [0, 1, 2, 3, 4]
    said = capsys.readouterr().err
    assert said.count("tokenizing: about ") == lines
    assert said.count("12 s") == lines
