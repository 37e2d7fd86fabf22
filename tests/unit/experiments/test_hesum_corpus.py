"""`heron build hesum`: pages served here are fetched politely and become a data set."""

import csv
import gzip
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import pytest

from heron.cli import main
from heron.data.config import read_config
from heron.results.shipped import read_shipped
from heron.training.compose import compose
from heron_forks.hesum.corpus.collecting import Article, divide
from heron_forks.hesum.corpus.extraction import Extracted, clean, extract
from heron_forks.hesum.corpus.sites import Site
from heron_forks.hesum.corpus.store import Page
from real_data import DATA, on_real

pytestmark = pytest.mark.real  # takes ten seconds; changes seldom

LOREM = "הממשלה החליטה אתמול להעביר את התקציב החדש לאישור הכנסת אחרי דיון ארוך שבו השתתפו כל השרים"
SUMMARY = "תחקיר {} מגלה שהעירייה שילמה לקבלן סכומים גדולים בלי מכרז ובלי פיקוח של המועצה"


def article(number, summary=None, body=None, description="האתר של העיתונות העצמאית בישראל"):
    summary = SUMMARY.format(number) if summary is None else summary
    body = [f"{LOREM} בפעם ה-{number}.", f"{LOREM} {number} ועוד."] if body is None else body
    paragraphs = "".join(f"<p>{text}</p>" for text in body)
    return (
        f'<html lang="he"><head><meta charset="utf-8"><title>כתבה {number}</title>'
        f'<meta name="description" content="{description}"></head><body>'
        f'<nav><a href="/">בית</a></nav><article><h1>כתבה {number}</h1>'
        f'<h2 class="sub">{summary}</h2><div class="text"><p>{summary}</p>{paragraphs}</div>'
        "</article></body></html>"
    )


def home(*links):
    anchors = "".join(f'<p><a href="{link}">קישור</a></p>' for link in links)
    head = '<head><meta charset="utf-8"><title>בית</title></head>'
    return f"<html>{head}<body>{anchors}</body></html>"


class Server:
    """A site on this machine; `pages` maps paths to a page, or to status, page and headers."""

    def __init__(self, pages, robots=""):
        self.log, outer = [], self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.log.append((time.monotonic(), self.path, self.headers["User-Agent"]))
                page = robots if self.path == "/robots.txt" else pages.get(self.path, (404, "", {}))
                status, text, headers = (200, page, {}) if isinstance(page, str) else page
                content = text.encode() if isinstance(text, str) else text
                self.send_response(status)
                for name, value in {"Content-Type": "text/html", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *words):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def counts(self):
        return Counter(path for _, path, _ in self.log)


@pytest.fixture
def serve():
    servers = []

    def start(pages, robots=""):
        servers.append(Server(pages, robots))
        return servers[-1]

    yield start
    for one in servers:
        one.server.shutdown()
        one.server.server_close()


def sites_file(folder, *starts, **selectors):
    """A list of sites; `ignore=/print` and so on are for all of them."""
    lines = ["sites:"]
    for start in starts:
        lines += ["- domain: 127.0.0.1", f"  start: {start}/"]
        lines += [f"  {name}: '{value}'" for name, value in selectors.items()]
    path = folder / "sites.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def command(out, sites, *words):
    """The crawl as a process of its own, since scrapy's reactor runs once in a process."""
    options = [f"out={out}", f"sites={sites}", "contact=me@example.org", *words]
    return [sys.executable, "-m", "heron", "build", "hesum", *options]


def build(out, sites, *words):
    environment = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    return subprocess.run(
        command(out, sites, *words), capture_output=True, text=True, timeout=120, env=environment
    )


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def reasons(out):
    text = (out / "left_out.csv").read_text(encoding="utf-8")
    left_out = csv.DictReader(text.splitlines())
    return {row["page"].rpartition("/")[2]: row["reason"] for row in left_out}


def test_a_site_becomes_a_data_set_politely_and_once(serve, tmp_path):
    paths = [f"/a{number}" for number in range(6)]
    broken = article(7).replace("</p>", "").replace("</div>", "").encode() + b"\xff<"
    others = ("/secret", "/moved", "/fails", "/broken", "/print/a0", "/file.pdf", "/plain")
    pages = {
        "/": home(*paths, *others, "http://example.invalid/elsewhere"),
        **{path: article(number) for number, path in enumerate(paths)},
        "/secret": article(90),
        "/moved": (301, "", {"Location": "/a6"}),
        "/a6": article(6),
        "/fails": (500, "no", {}),
        # Neither closed nor well-formed, and bytes that are not UTF-8.
        "/broken": (200, broken, {}),
        "/print/a0": article(0),
        "/plain": (200, "words", {"Content-Type": "text/plain"}),
    }
    robots = "User-agent: *\nDisallow: /secret\nCrawl-delay: 0.1\n"
    site = serve(pages, robots)
    sites = sites_file(tmp_path, site.url, summary="h2.sub", body=".text p", ignore="/print/")
    out = tmp_path / "news"
    found = build(out, sites, "delay=0.05", "splits=0.5,0.25,0.25", "name=mine")
    assert found.returncode == 0, found.stderr
    assert not found.stderr
    assert f"{site.url}/fails" in found.stdout
    assert "status 500" in found.stdout

    counts = site.counts()
    assert counts["/secret"] == 0
    assert counts["/print/a0"] == 0
    assert counts["/fails"] == 3  # tried again twice
    assert all(counts[path] == 1 for path in [*paths, "/", "/moved", "/a6", "/broken"])
    # Crawl-delay, not the shorter delay=, keeps requests apart: on average, as a busy machine notes
    # some of them late.
    times = [when for when, _, _ in site.log][1:]
    assert (times[-1] - times[0]) / (len(times) - 1) > 0.09
    assert {agent for _, _, agent in site.log} == {site.log[0][2]}
    assert "me@example.org" in site.log[0][2]

    articles = {row["title"]: row for row in rows(out / "articles.jsonl")}
    assert articles.keys() == {f"כתבה {number}" for number in range(8)}
    one = articles["כתבה 3"]
    assert one["url"] == f"{site.url}/a3"
    assert one["summary"] == SUMMARY.format(3)
    # The subheading, repeated in the text, is not in the article.
    assert one["article"] == f"{LOREM} בפעם ה-3.\n{LOREM} 3 ועוד."
    assert articles["כתבה 6"]["url"] == f"{site.url}/a6"
    assert reasons(out) == {"": "no text"}  # the home page

    # The raw page is kept, and the data set is one that `heron train` reads.
    stored = [json.loads(path.read_text()) for path in (out / "pages").rglob("*.json")]
    assert {row["status"] for row in stored} == {200, 301}
    raw = [gzip.decompress(path.read_bytes()) for path in (out / "pages").rglob("*.html.gz")]
    assert pages["/a3"].encode() in raw
    config = read_config(out / "conf" / "data" / "mine.yaml")
    shipped = read_shipped(config, out, tmp_path / "cache")
    sizes = {name: len(examples) for name, examples in shipped.splits.items()}
    assert sizes == {"train": 4, "validation": 2, "test": 2}
    guids = {example.guid for examples in shipped.splits.values() for example in examples}
    assert guids == {row["id"] for row in articles.values()}

    words = ["data=mine", "--config-dir", str(out / "conf"), f"paths.data={out}"]
    assert compose(words).task.name == "summarization"

    # Once more: the same files, and nothing but robots.txt and what had failed is fetched.
    before = (out / "articles.jsonl").read_bytes()
    site.log.clear()
    again = build(out, sites, "delay=0.05", "splits=0.5,0.25,0.25", "name=mine")
    assert again.returncode == 0, again.stderr
    assert set(site.counts()) == {"/robots.txt", "/fails"}
    assert (out / "articles.jsonl").read_bytes() == before


def test_a_killed_crawl_goes_on_and_fetches_nothing_twice(serve, tmp_path):
    paths = [f"/a{number}" for number in range(12)]
    site = serve({"/": home(*paths), **{p: article(n) for n, p in enumerate(paths)}})
    sites = sites_file(tmp_path, site.url, summary="h2.sub", body=".text p")
    out = tmp_path / "news"
    process = subprocess.Popen(
        command(out, sites, "delay=0.2"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while len(site.log) < 6 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    kept = {json.loads(path.read_text())["url"] for path in (out / "pages").rglob("*.json")}
    assert 3 <= len(kept) < 13
    times = [when for when, _, _ in site.log[1:]]
    assert min(late - early for early, late in pairwise(times)) > 0.1  # about delay=
    first = site.counts()
    found = build(out, sites, "delay=0.05")
    assert found.returncode == 0, found.stderr
    second = site.counts() - first
    assert not kept & {site.url + path for path in second}
    assert {"/", *paths} == (first.keys() | second.keys()) - {"/robots.txt"}
    # The request under way when the process was killed may be repeated, no other.
    assert sum(site.counts()[path] > 1 for path in paths) <= 1
    assert len(rows(out / "articles.jsonl")) == 12


def test_the_limit_ends_a_crawl_that_goes_on_later(serve, tmp_path):
    paths = [f"/a{number}" for number in range(8)]
    site = serve({"/": home(*paths), **{p: article(n) for n, p in enumerate(paths)}})
    sites = sites_file(tmp_path, site.url, summary="h2.sub", body=".text p")
    found = build(tmp_path / "news", sites, "delay=0.05", "limit=4")
    assert found.returncode == 0, found.stderr
    assert "run it again to go on" in found.stdout
    assert 4 <= sum(site.counts().values()) - 1 <= 5
    again = build(tmp_path / "news", sites, "delay=0.05")
    assert again.returncode == 0, again.stderr
    assert "run it again to go on" not in again.stdout
    assert len(rows(tmp_path / "news" / "articles.jsonl")) == 8
    assert max(site.counts()[path] for path in ["/", *paths]) == 1


def write_pages(folder, pages):
    folder.mkdir(parents=True)
    for name, text in pages.items():
        content = text.encode()
        path = folder / (f"{name}.html.gz" if name.startswith("z") else f"{name}.html")
        path.write_bytes(gzip.compress(content) if name.startswith("z") else content)


def test_each_filter_leaves_out_what_it_names_and_is_counted(tmp_path, capsys):
    english = "The government sent the budget to parliament after a long debate of all ministers."
    pages = {
        "good": article(1),
        "zipped": article(2),
        "copy": article(1, summary=SUMMARY.format(9)),
        "empty": article(4, body=[]).replace(SUMMARY.format(4), ""),
        "textless": article(5, body=[]),
        "bare": article(6, summary=""),
        "english": article(7, body=[english, english + " Twice."]),
        "nine": article(8, summary="אחת שתיים שלוש ארבע חמש שש שבע שמונה תשע"),
        "ten": article(9, summary="אחת שתיים שלוש ארבע חמש שש שבע שמונה תשע עשר"),
        "slogan1": article(10, summary=SUMMARY.format("קבוע")),
        "slogan2": article(11, summary=SUMMARY.format("קבוע")),
    }
    write_pages(tmp_path / "pages" / "127.0.0.1", pages)
    sites = sites_file(tmp_path, "http://127.0.0.1", summary="h2.sub", body=".text p")
    words = [f"out={tmp_path / 'news'}", f"pages={tmp_path / 'pages'}", f"sites={sites}"]
    assert main(["build", "hesum", *words, "splits=1,0,0"]) == 0
    kept = {row["title"] for row in rows(tmp_path / "news" / "articles.jsonl")}
    assert kept == {"כתבה 1", "כתבה 2", "כתבה 9"}
    assert reasons(tmp_path / "news") == {
        "empty.html": "no text",
        "textless.html": "no text",
        "bare.html": "no subheading",
        "english.html": "other script",
        "nine.html": "short summary",
        "good.html": "copy of an article",
        "slogan1.html": "summary of several articles",
        "slogan2.html": "summary of several articles",
    }
    printed = capsys.readouterr().out
    assert "summary of several articles" in printed
    # "10 or fewer", as the paper's limitations say, leaves out the summary of ten words, too.
    assert main(["build", "hesum", *words, "min_summary_tokens=11"]) == 0
    assert reasons(tmp_path / "news")["ten.html"] == "short summary"


def test_without_selectors_the_description_is_the_subheading(tmp_path):
    pages = {f"p{n}": article(n, summary="", description=SUMMARY.format(n)) for n in range(3)}
    write_pages(tmp_path / "pages", pages)
    sites = sites_file(tmp_path, "http://127.0.0.1")
    words = [f"out={tmp_path / 'news'}", f"pages={tmp_path / 'pages'}", f"sites={sites}"]
    assert main(["build", "hesum", *words]) == 0
    found = rows(tmp_path / "news" / "articles.jsonl")
    assert {row["summary"] for row in found} == {SUMMARY.format(n) for n in range(3)}
    assert all(LOREM in row["article"] and "כתבה" not in row["article"] for row in found)


@pytest.mark.parametrize(
    "address",
    [
        "<!-- saved from url=(0026)https://www.example.org/a1 -->",
        "<!--\n Page saved with SingleFile \n url: https://www.example.org/a1 \n-->",
        "<!-- Mirrored from www.example.org/a1 by HTTrack Website Copier -->",
        '<link rel="canonical" href="https://www.example.org/a1">',
        '<link rel="canonical" href="/a1"><meta property="og:url" content="//example.org/a1">',
        '<link rel="canonical" href="https://other.org/"><meta property="og:url" '
        'content="http://example.org:80/a1">',
    ],
)
def test_a_page_s_address_says_its_site(tmp_path, address):
    page = article(1).replace("<head>", f"<head>{address}")
    write_pages(tmp_path / "pages", {"saved": page})
    sites = sites_file(tmp_path, "http://127.0.0.1", summary="h2.sub", body=".text p")
    sites.write_text(sites.read_text("utf-8").replace("127.0.0.1", "example.org"), "utf-8")
    words = [f"out={tmp_path / 'news'}", f"pages={tmp_path / 'pages'}", f"sites={sites}"]
    assert main(["build", "hesum", *words]) == 0
    (row,) = rows(tmp_path / "news" / "articles.jsonl")
    assert row["summary"] == SUMMARY.format(1)
    assert row["site"].endswith("example.org")


@on_real
def test_real_articles_of_hesum_come_back_from_pages_with_an_address(tmp_path):
    """The public files have HeSum's texts but no site's pages, so these are laid out here."""
    texts = rows(DATA / "hesum_subset/pairs.jsonl")
    link = '<head><link rel="canonical" href="https://www.the7eye.org.il/{}">'
    pages = {
        row["id"]: article(
            row["id"], escape(row["summary"]), list(map(escape, row["article"].splitlines()))
        ).replace("<head>", link.format(row["id"]))
        for row in texts
    }
    write_pages(tmp_path / "pages", pages)
    sites = sites_file(tmp_path, "http://127.0.0.1", summary="h2.sub", body=".text p")
    sites.write_text(sites.read_text("utf-8").replace("127.0.0.1", "the7eye.org.il"), "utf-8")
    words = [f"out={tmp_path / 'news'}", f"pages={tmp_path / 'pages'}", f"sites={sites}"]
    assert main(["build", "hesum", *words]) == 0
    found = rows(tmp_path / "news/articles.jsonl")
    assert Counter(reasons(tmp_path / "news").values()) == {"short summary": 7}
    assert len(found) == 417
    given = {row["id"]: row for row in texts}
    for row in found:
        own = given[row["url"].rpartition("/")[2]]
        assert row["summary"] == clean(own["summary"])
        assert row["article"].split() == clean(own["article"]).split()


@pytest.mark.parametrize("where", ["header", "meta", "nowhere"])
def test_pages_in_an_old_encoding_are_read(where):
    page = article(1)
    if where == "header":
        page = page.replace('<meta charset="utf-8">', "")
    else:
        page = page.replace("utf-8", "windows-1255" if where == "meta" else "")
    kind = f"text/html{'; charset=windows-1255' if where == 'header' else ''}"
    content = page.encode("utf-8" if where == "nowhere" else "cp1255")
    found = extract(Page(Path("a"), "", "", content, kind), Site("a", "", summary="h2.sub"))
    assert found.summary == SUMMARY.format(1)
    assert LOREM in found.body


def test_invisible_marks_are_removed_and_letters_composed():
    assert clean(" שלום\u200f \x00עולם\ufeff\t\n a\u0301 ") == "שלום עולם á"


def test_splits_are_exact_and_do_not_depend_on_the_order_of_pages():
    found = [Extracted(f"u{n}", "", "", f"b{n}", "", 0) for n in range(100)]
    articles = [Article("h", one) for one in found]
    one, other = (divide(each, [8, 1, 1], 3) for each in (articles, articles[::-1]))
    assert {name: len(rows) for name, rows in one.items()} == {
        "train": 80,
        "validation": 10,
        "test": 10,
    }
    assert one == other
    assert divide(articles, [8, 1, 1], 4) != one
