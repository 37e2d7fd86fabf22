"""`python -m tests.benchmarks.wiki_pairs`: pages of a dump per second, beside a plain script.

The rival does what a script for one corpus does, as RoNLI's extractor: the whole dump in memory,
markup removed by regular expressions, each phrase looked up in each sentence. Both read the same
generated dump in the same run; heron in one process and in two. See README.md here.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from xml.etree import ElementTree

from heron.config.constraints import Count
from made_up_texts import PHRASES, write_dump

from .frame import ROOT, Found, Times, environment, main, set_beside

PLAIN = "plain script"


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


def run(options: Options) -> Found:
    """Time every way in every round; processes of their own, so that memory is each one's."""
    if made := options.made:
        listed = json.loads((made / "phrases.json").read_text("utf-8"))
        return Found(lines=[plain_script(made / "dump.xml", listed)])
    times: Times = {}
    peaks: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        dump, listed = Path(folder) / "dump.xml", Path(folder) / "phrases.json"
        write_dump(dump, options.pages, words=options.words, linked=options.linked)
        listed.write_text(json.dumps(phrases(options.phrases)), "utf-8")
        build = ["heron", "build", "ronli", f"dump={dump}", f"phrases={listed}"]
        ways = {
            PLAIN: ["tests.benchmarks.wiki_pairs", f"made={folder}"],
            **{f"heron, {n}": [*build, f"workers={n}"] for n in (1, 2)},
        }
        for number, (way, words) in product(range(options.rounds), ways.items()):
            out = [f"out={folder}/{way}-{number}"] if way != PLAIN else []
            seconds, peak = timed(*words, *out)
            times.setdefault(way, []).append(seconds)
            peaks[way] = max(peaks.get(way, 0), peak)
    case = f"{options.pages:,} pages"
    bars = {case: dict.fromkeys(("heron, 1", "heron, 2"))}
    found = set_beside("pages of a dump", {case: times}, PLAIN, bars=bars)
    return replace(found, record=found.record | {"peak_mb": peaks}, lines=[f"peak MiB: {peaks}"])


def timed(*words: str) -> tuple[float, float]:
    """Run a command of Python; returns clock seconds and MiB of its largest process."""
    code = (
        "import resource, subprocess, sys, time; start = time.perf_counter(); "
        "subprocess.run([sys.executable, '-m', *sys.argv[1:]], check=True, stdout=2); "
        "print(time.perf_counter() - start, "
        "resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment(1), cwd=ROOT
    )
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
