"""`python -m tests.benchmarks.wiki_pairs`: pages of a dump per second, beside a plain script.

The rival does what a script for one corpus does, as RoNLI's extractor: the whole dump in memory,
markup removed by regular expressions, each phrase looked up in each sentence. Both read the same
generated dump in the same run; heron in one process and in two. See README.md here.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

from heron.base.cells import Formatted, Table
from heron.config.constraints import Count
from made_up_texts import PHRASES, write_dump

from .frame import ROOT, Found, main


@dataclass
class Options:
    """Options of the benchmark."""

    pages: Count = 10_000
    words: Count = 600  # of a page
    linked: float = 0.01  # share of the sentences that begin with a phrase
    rounds: Count = 2  # ratios are taken within a round
    phrases: Count = 114  # as RoNLI's list has
    out: Path = Path("runs/benchmark_wiki_pairs.json")
    made: Path | None = None  # run the plain script in this process, on the dump in this folder


def phrases(count: int) -> dict[str, list[str]]:
    """Add phrases that never occur to those of the generated dump, up to `count`."""
    found = {label: list(listed) for label, listed in PHRASES.items()}
    number = sum(map(len, found.values()))
    for place in range(count - number):
        found["reasoning"].append(f"Fraza inexistentă numărul {place}")
    return found


def plain_script(dump: Path, listed: dict[str, list[str]]) -> int:
    """Do the same in the plain way; returns the number of linked pairs."""
    root = ElementTree.parse(dump).getroot()  # the whole dump
    space = root.tag.partition("}")[0] + "}"
    found = 0
    for page in root.iter(f"{space}page"):
        if page.findtext(f"{space}ns") != "0" or page.find(f"{space}redirect") is not None:
            continue
        text = page.findtext(f"{space}revision/{space}text") or ""
        for pattern in (r"\{\{.*?\}\}+", r"<ref.*?</ref>", r"\{\|.*?\|\}", r"'{2,}"):
            text = re.sub(pattern, "", text, flags=re.S)
        text = re.sub(r"\[\[(?:[^|\]]*\|)?([^\]]*)\]\]", r"\1", text)
        text = re.sub(r"^==.*==$|^[*#].*$", "", text, flags=re.M)
        for paragraph in text.split("\n"):
            sentences = re.split(r"(?<=[.!?])\s+", paragraph)
            for first, second in pairwise(sentences):
                for of in listed.values():
                    for phrase in of:
                        if phrase in second and len(first) >= 50:
                            found += 1
    return found


def measure(options: Options, folder: Path) -> list[dict[str, float]]:
    """Time every way in every round; processes of their own, so that memory is each one's."""
    dump = write_dump(
        folder / "dump.xml", options.pages, words=options.words, linked=options.linked
    )
    listed = folder / "phrases.json"
    listed.write_text(json.dumps(phrases(options.phrases)), "utf-8")
    rounds = []
    for number in range(options.rounds):
        found = {}
        for workers in (1, 2):
            out = folder / f"out-{number}-{workers}"
            words = ["-m", "heron", "build", "ronli", f"dump={dump}", f"phrases={listed}"]
            found[f"heron, {workers}"] = _timed([*words, f"out={out}", f"workers={workers}"])
        found["plain script"] = _timed(["-m", "tests.benchmarks.wiki_pairs", f"made={folder}"])
        rounds.append(found)
    return rounds


def _timed(words: list[str]) -> dict[str, float]:
    """Run a command of Python; returns seconds and MiB of the largest process."""
    code = (
        "import resource, subprocess, sys, time; start = time.perf_counter(); "
        "subprocess.run([sys.executable, *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL); "
        "print(time.perf_counter() - start, "
        "resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment, cwd=ROOT
    )
    seconds, peak = map(float, done.stdout.split()[-2:])
    return {"seconds": seconds, "peak_mb": peak}


def summary(rounds: list[dict[str, dict[str, float]]], pages: int) -> Table:
    """Show pages per second, memory, and the ratio to the plain script within a round."""
    rows = []
    for name in rounds[0]:
        seconds = statistics.median(each[name]["seconds"] for each in rounds)
        ratio = statistics.median(
            each["plain script"]["seconds"] / each[name]["seconds"] for each in rounds
        )
        peak = max(each[name]["peak_mb"] for each in rounds)
        rate, shown = Formatted(pages / seconds, ",.0f"), Formatted(ratio, ".2f")
        rows.append((name, Formatted(seconds, ".1f"), rate, shown, Formatted(peak, ",.0f")))
    columns = ("way", "seconds", "pages a second", "times the plain script", "peak MiB")
    return Table(f"{pages:,} pages", columns, tuple(rows), "Peak: of the largest process.")


def run(options: Options) -> Found:
    """Measure all ways, or run the rival in this process."""
    if made := options.made:
        listed = json.loads((made / "phrases.json").read_text("utf-8"))
        return Found(lines=[plain_script(made / "dump.xml", listed)])
    with tempfile.TemporaryDirectory() as folder:
        rounds = measure(options, Path(folder))
    return Found({"rounds": rounds}, [summary(rounds, options.pages)])


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
