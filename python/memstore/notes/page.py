"""One note: the facts about a subject as lines that a person can edit, each with its id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memstore.domain import zones
from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memstore.domain.records import Fact

BREAK: Final = "<br>"
"""A line break within a fact."""
LINKS: Final = "## Links"
HISTORY: Final = "> [!note]- History"
"""A callout that Obsidian shows folded."""
MAX_SENTENCE: Final = 300
"""Characters of a source sentence."""

LINE: Final = re.compile(r"- (?:\[([^\[\]]+)\] )?(.*?)(?: \((\d{4}-\d{2}-\d{2})\) \^m(\d+))?$")
MARK: Final = re.compile(r"(?:\^m|#m)(\d+)\b")
"""How a line names its fact: its own, or an older one in the history."""
IDS: Final = re.compile(r"facts: \[([\d, ]*)\]$")
SUBJECT: Final = re.compile(r"subject: (.*)$")
SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s+|\n+")


@frozen
class EditableLine:
    number: int
    category: str | None
    text: str
    fact_id: int | None
    """``None`` for a line that is new."""


@frozen
class ReadPage:
    subject: str
    ids: frozenset[int]
    """The facts that it had when it was written."""
    lines: tuple[EditableLine, ...]


def one_line(content: str) -> str:
    return BREAK.join(part.strip() for part in content.strip().splitlines())


def category_of(fact: Fact) -> str:
    return " ".join(re.sub(r"[\[\]]", "", fact.category).split()) or "note"


def render(
    subject: str,
    current: Iterable[Fact],
    earlier: Iterable[Fact],
    links: Iterable[str],
    sentences: Mapping[int, str],
) -> str:
    """Return the note of a subject; equal facts give equal text."""
    facts = sorted(current, key=lambda fact: fact.id)
    lines = [
        "---",
        f"subject: {one_line(subject)}",
        f"facts: [{', '.join(str(fact.id) for fact in facts)}]",
        "---",
        f"# {one_line(subject)}",
        "",
    ]
    for fact in facts:
        day = zones.day(fact.valid_at or fact.created_at)
        lines.append(f"- [{category_of(fact)}] {one_line(fact.content)} ({day}) ^m{fact.id}")
        if sentence := sentences.get(fact.id):
            lines.append(f"  > {one_line(sentence)} #m{fact.id}")
    if linked := sorted(links):
        lines += ["", LINKS, "", *(f"- [[{name}]]" for name in linked)]
    if older := sorted(earlier, key=lambda fact: fact.id):
        lines += ["", HISTORY]
        for fact in older:
            by = f", replaced by {fact.superseded_by}" if fact.superseded_by else ""
            lines.append(f"> - ~~{one_line(fact.content)}~~ ({fact.status}{by}) #m{fact.id}")
    return "\n".join(lines) + "\n"


def read(text: str) -> ReadPage | None:
    """Read the lines of a note that was written here, also after edits; ``None`` for another."""
    lines = text.replace("\r\n", "\n").split("\n")
    if len(lines) < 4 or lines[0].strip() != "---":
        return None
    subject = ids = None
    start = 0
    for number, line in enumerate(lines[1:], 1):
        if line.strip() == "---":
            start = number + 1
            break
        if found := SUBJECT.match(line):
            subject = found[1].strip()
        if found := IDS.match(line.strip()):
            ids = frozenset(int(one) for one in found[1].split(",") if one.strip())
    if not start or not subject or ids is None:
        return None
    return ReadPage(subject, ids, tuple(_lines(lines, start)))


def _lines(lines: list[str], start: int) -> Iterator[EditableLine]:
    for number, line in enumerate(lines[start:], start + 1):
        if line.startswith((LINKS, HISTORY)):
            return
        found = LINE.match(line.rstrip())
        if found and found[2].strip():
            id_ = None if found[4] is None else int(found[4])
            yield EditableLine(number, found[1], found[2].strip(), id_)


def without(text: str, erased: frozenset[int]) -> str:
    """Return a note without the lines of facts that were erased."""
    kept = []
    for line in text.splitlines(keepends=True):
        marks = {int(one) for one in MARK.findall(line)}
        if not marks & erased:
            kept.append(line)
    return "".join(kept)


def sentence(text: str, start: int, stop: int) -> str:
    """Return the sentence around some words of an episode."""
    begin = max((one.end() for one in SENTENCE_END.finditer(text, 0, start)), default=0)
    after = SENTENCE_END.search(text, stop)
    end = after.start() if after else len(text)
    return text[begin:end].strip()[:MAX_SENTENCE]
