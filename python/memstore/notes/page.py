"""One note: the facts about a subject as lines that a person can edit, each with its id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from memstore.domain.records import Fact

BREAK: Final = "<br>"
"""A line break within a fact."""
LINKS: Final = "## Links"
HISTORY: Final = "> [!note]- History"
"""A callout that Obsidian shows folded."""
MAX_SENTENCE: Final = 300
"""Characters of a source sentence."""

LINE: Final = re.compile(r"- (?:\[([^\[\]]+)\] )?(.*?)(?: \((\d{4}-\d{2}-\d{2})\) \^m(\w+))?$")
MARK: Final = re.compile(r"(?:^|\s)(?:\^m|#m)([0-9]{1,19})\b")
"""How a line names its fact: its own, or an older one in the history. Its last mark counts, since
a text may name others."""
SENTENCE: Final = re.compile(r"  > .* #m([0-9]{1,19})\s*$")
LINK: Final = re.compile(r"- \[\[(.*)\]\]\s*$")
ID: Final = re.compile(r"[0-9]{1,19}")
"""An id of a fact: no number that SQLite stores has more digits."""
IDS: Final = re.compile(r"facts: \[(.*)\]$")
SUBJECT: Final = re.compile(r"subject: (.*)$")
SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s+|\n+")


@frozen
class EditableLine:
    number: int
    category: str | None
    text: str
    fact_id: int | None
    """``None`` for a line that is new, or whose mark is damaged."""
    damage: str | None = None
    """What is in the mark instead of an id."""


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
        day = (fact.valid_at or fact.created_at).date().isoformat()
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
            ids = _ids(found[1])
    if not start or not subject or ids is None:
        return None
    return ReadPage(subject, ids, tuple(_lines(lines, start)))


def _ids(text: str) -> frozenset[int] | None:
    """Return the ids of a list; ``None`` if it has anything else."""
    named = [one.strip() for one in text.split(",") if one.strip()]
    return frozenset(map(int, named)) if all(map(ID.fullmatch, named)) else None


def _lines(lines: list[str], start: int) -> Iterator[EditableLine]:
    for number, line in enumerate(lines[start:], start + 1):
        if line.startswith((LINKS, HISTORY)):
            return
        found = LINE.match(line.rstrip())
        if not found or not found[2].strip():
            continue
        mark = found[4]
        is_id = mark is not None and ID.fullmatch(mark)
        yield EditableLine(
            number,
            found[1],
            found[2].strip(),
            int(mark) if is_id else None,
            None if mark is None or is_id else mark,
        )


def marks(text: str) -> set[int]:
    """Return the facts that the lines of a note stand for."""
    return {mark for line in text.split("\n") if (mark := _mark(line)) is not None}


def _mark(line: str) -> int | None:
    found = MARK.findall(line)
    return int(found[-1]) if found else None


def without(
    text: str,
    erased: Collection[int],
    sentences: Collection[int],
    links: Collection[str],
) -> str:
    """Return a note without what was erased.

    Args:
        text: the note, perhaps with edits.
        erased: the facts whose lines go.
        sentences: the facts whose source still has its sentence.
        links: the subjects whose notes are gone.
    """
    kept = []
    for line in text.split("\n"):
        mark = _mark(line)
        if mark is not None and mark in erased:
            continue
        if (found := SENTENCE.fullmatch(line)) and int(found[1]) not in sentences:
            continue
        if (found := LINK.fullmatch(line)) and found[1] in links:
            continue
        kept.append(line)
    return "\n".join(kept)


def is_bare(text: str) -> bool:
    """Return whether nothing is left of a note but its headings and links."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != "---" or "---" not in (line.strip() for line in lines[1:]):
        return False
    end = next(number for number, line in enumerate(lines[1:], 1) if line.strip() == "---")
    body = [line.strip() for line in lines[end + 1 :] if line.strip()]
    if body and body[0].startswith("# "):
        del body[0]
    return all(line in (LINKS, HISTORY) or LINK.fullmatch(line) for line in body)


def sentence(text: str, start: int, stop: int) -> str:
    """Return the sentence around some words of an episode."""
    begin = max((one.end() for one in SENTENCE_END.finditer(text, 0, start)), default=0)
    after = SENTENCE_END.search(text, stop)
    end = after.start() if after else len(text)
    return text[begin:end].strip()[:MAX_SENTENCE]
