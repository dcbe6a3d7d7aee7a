"""What a reader finds in the documents: links, answers within two clicks, and nothing replaced."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from tests.test_decisions import index
from tests.test_package import import_file

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/memstore/pymemstore/blob/main/"
STARTS = (ROOT / "README.md", DOCS / "index.md")
LINK = re.compile(r"\]\(([^)\s]+)\)")
MADE = import_file(DOCS / "reference.py")


def pages() -> list[Path]:
    """Return every page that a reader may come to, but for decisions and what the site makes."""
    written = [DOCS / "reference" / f"{name}.md" for name in MADE.WRITTEN]
    folders = (ROOT, DOCS, DOCS / "adapters")
    found = [page for folder in folders for page in sorted(folder.glob("*.md"))]
    return [*found, *written, ROOT / "benches" / "README.md", ROOT / "examples" / "README.md"]


@cache
def lines(page: Path) -> tuple[str, ...]:
    """Return a page's lines without its code, in which signs begin no heading."""
    text = page.read_text(encoding="utf-8")
    return tuple(re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL).splitlines())


def anchor(heading: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {anchor(line.lstrip("#")) for line in lines(page) if re.match(r"#{1,6} ", line)}


def links(page: Path) -> set[tuple[Path, str]]:
    """Return the pages of the project that one links to, each with the anchor."""
    found = set()
    for link in LINK.findall("\n".join(lines(page))):
        own = link.removeprefix(REPOSITORY)
        if re.match(r"\w+:", own):
            continue
        name, _, place = own.partition("#")
        folder = ROOT if own != link else page.parent
        found.add(((folder / name).resolve() if name else page, place))
    return found


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_headings_that_exist(page: Path) -> None:
    for target, place in links(page):
        if target.suffix == ".md" and place and target.exists():
            assert place in anchors(target), f"{target.name}#{place}"


QUESTIONS = {
    "How do I install it?": ("start", "1. Install", "pip install"),
    "How does my agent get it?": ("hosts", "Set-up", "claude-code"),
    "The host shows no tools. Why?": ("hosts", "Troubleshooting", "setup --check"),
    "What is my agent told when a session begins?": (
        "remembers", "What a session begins with", "open tasks",
    ),
    "When does a prompt get a memory?": ("remembers", "Hooks", "A prompt gets nothing unless"),
    "Where is my data, and who can read it?": ("privacy", "What is kept, and where", "memory.db"),
    "Does anything leave my machine?": ("privacy", "What leaves your machine", "Nothing"),
    "How do I delete something for good?": ("privacy", "How to remove it", "memstore erase"),
    "Which memory does a project have?": ("remembers", "A project and its namespace", "git"),
    "How do I see and correct what is known?": ("web", "Putting it right", "Undo"),
    "How do I have it on two machines?": ("sync", "Ways to set it up", "git repository"),
    "How do I bring my memories from mem0 or ChatGPT?": ("coming-from", "mem0", "--from mem0"),
    "How do I catch an error in Python?": ("store", "Errors", "InvalidArgument"),
    "How do I use it with asyncio?": ("store", "Asyncio", "AsyncStore"),
    "How do I keep memories of several users apart?": ("store", "Owners", "store.of("),
    "How does a model learn facts from a conversation?": ("learning", "Conversations", "Memory"),
    "How do I use another embedding model?": ("embedding", "Which model", "fastembed"),
    "How do I serve it to a team?": ("serving", "A server", "--http"),
    "Can several machines write to one memory?": ("serving", "On PostgreSQL", "PostgreSQL"),
    "What does a write survive?": ("durability", "Durability: what a write survives", "power"),
    "How do I make a backup?": ("durability", "Backups", "memstore backup"),
    "How do I find out who changed a fact?": ("ledger", "Why, and why not", "explain"),
    "Why was a fact not found?": ("finding", "A fact that is not found", "why_not"),
    "How fast is it, and with how many facts?": ("performance", "How it grows", "million"),
    "What does a command do?": ("cli", "Options of every command", "--db"),
}  # fmt: skip
"""What a reader asks: the page, the heading on it, and words of the answer below the heading."""


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("start", STARTS, ids=lambda page: page.stem)
def test_a_question_is_answered_within_two_clicks(question: str, start: Path) -> None:
    """The first click is a link of the page where a reader begins, the second the heading."""
    name, heading, words = QUESTIONS[question]
    page = DOCS / f"{name}.md"
    assert page in {target for target, _ in links(start)}
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert found is not None
    below = re.split(rf"^#{{1,{len(found[1])}}} ", text[found.end() :], flags=re.MULTILINE)[0]
    assert words in below


REPLACED = {
    5: r"the journal is the change feed|reads the journal to keep its vectors",
    7: r"max\(2 \* limit, 200\)",
    27: r"TypedDict|Unpack\[",
    37: r"CRC-32 (of|over) (the|each) line",
    52: r"(date|day) with the best answer comes first",
    62: r"the last two sessions",
    92: r"a flag is never out of date|compared anew at each search",
    102: r"reads each (statement )?once, binds every table",
    104: r"pg_xact_status|begins by locking its tenant's row",
    136: r"padded to ten",
    184: r"more than 256 facts nothing is stored",
    187: r"each vector has a row of its own|2,441 bytes",
    188: r"lines of (one set of owners|certain owners) are read",
    190: r"(part|days) meant add 0\.1",
    255: r"look for it among facts|event among their own kind",
    212: r"another (passport|one of several) is (asked about|a question)",
}
"""Words of each decision that was replaced, as a page would say what is no longer so."""

GONE = r"\]\([./\w-]*\b(first-steps|memory|generators|http|deploy|postgres)\.md"
"""Links to pages whose contents are on others now."""


def test_each_replaced_decision_has_its_words() -> None:
    replaced = {int(name[:4]) for name, (_, status) in index().items() if status != "holds"}
    assert replaced == {*REPLACED}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_page_says_what_was_replaced(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split())
    for words in (*REPLACED.values(), GONE):
        found = re.search(words, text, re.IGNORECASE)
        assert found is None, found
