"""Markdown notes: their front matter, and the lines that are claims about their title."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from memstore.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

FRONT: Final = "---"
PAIR: Final = re.compile(r"([A-Za-z_][\w -]*):(?:\s+(.*))?$")
LISTED: Final = re.compile(r"\s*-\s+(.*)$")
HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})")
ITEM: Final = re.compile(r"(\s*)(?:[-*+]|\d{1,9}[.)])\s+(.*\S)\s*$")
CHECKBOX: Final = re.compile(r"\[.?\](\s|$)")
OBSERVATION: Final = re.compile(r"\[([^\[\]()|^!]{2,60})\]\s+(.*)$")
RELATION: Final = re.compile(
    r"(\S[^\[\]!]{0,80}?)\s+\[\[([^\[\]|#^]+)(?:[|#^][^\[\]]*)?\]\](?:\s+\((.*)\))?$"
)
CONTEXT: Final = re.compile(r"\s\(([^()]*)\)$")
TAG: Final = re.compile(r"(?:^|\s)#([\w/-]*[^\W\d][\w/-]*)")
LINK_ALONE: Final = re.compile(r"!?(\[\[.*\]\]|\[.*?\]\(.*?\)|<?https?://\S+>?)$")
MAX_LINE: Final = 10_000
"""Characters of a line that may be a claim or an instruction; a longer one is prose."""
IMPORT: Final = re.compile(r"(?:^|\s)@([^\s@`,;:)]+)")


@frozen
class Note:
    title: str
    front: dict[str, Any]
    body: str


@frozen
class Claim:
    """A line of a note that says something about its title."""

    line: int
    category: str
    text: str
    tags: tuple[str, ...] = ()
    context: str | None = None


@frozen
class Relation:
    line: int
    kind: str
    target: str
    context: str | None = None


@frozen
class Instruction:
    line: int
    headings: tuple[str, ...]
    text: str


def read(text: str, stem: str) -> Note:
    """Read a note; its title is that of its front matter, its first heading, or its file."""
    front, body = _front(text.replace("\r\n", "\n"))
    title = front.get("title")
    if not isinstance(title, str) or not title.strip():
        first = next((HEADING.match(line) for _, line in _plain(body) if HEADING.match(line)), None)
        title = first[2] if first is not None and len(first[1]) == 1 and first[2] else stem
    return Note(title.strip(), front, body)


def claims(note: Note) -> Iterator[Claim | Relation]:
    """Yield what a note says in lines such as ``- [category] text #tag (context)``."""
    for number, line in _plain(note.body):
        item = ITEM.match(line)
        if item is None or CHECKBOX.match(item[2]) or item[2].startswith("!"):
            continue
        if (found := OBSERVATION.match(item[2])) and not found[2].startswith("("):
            text, context = found[2], None
            if closing := CONTEXT.search(text):
                text, context = text[: closing.start()], closing[1].strip() or None
            tags = tuple(dict.fromkeys(TAG.findall(text)))
            if text := TAG.sub("", text).strip():
                yield Claim(number, found[1].strip(), text, tags, context)
        elif related := RELATION.match(item[2]):
            yield Relation(number, related[1].strip(), related[2].strip(), related[3])


def instructions(note: Note) -> Iterator[Instruction]:
    """Yield each item of a list, with the headings that it stands under."""
    headings: list[tuple[int, str]] = []
    for number, line in _plain(note.body):
        if heading := HEADING.match(line):
            level = len(heading[1])
            headings = [one for one in headings if one[0] < level] + [(level, heading[2])]
            continue
        item = ITEM.match(line)
        if item is None or CHECKBOX.match(item[2]) or LINK_ALONE.match(item[2]):
            continue
        if item[2].startswith("@"):
            continue
        yield Instruction(number, tuple(name for _, name in headings if name), item[2])


def imports(note: Note) -> Iterator[tuple[int, str]]:
    """Yield the files that a note names as ``@file``, outside of code."""
    for number, line in _plain(note.body):
        for name in IMPORT.findall(re.sub(r"`[^`]*`", "", line)):
            if name.startswith(("~", "/", ".")) or "/" in name or name.endswith((".md", ".txt")):
                yield number, name.rstrip(".")


def _plain(body: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside of code fences and comments, with their numbers."""
    fence, comment = "", False
    for number, line in enumerate(body.split("\n"), 1):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
            continue
        if mark and not comment:
            fence = mark[1]
            continue
        if comment:
            comment = "-->" not in line and "%%" not in line
            continue
        if line.lstrip().startswith(("<!--", "%%")):
            closed = "-->" in line if "<!--" in line else line.count("%%") > 1
            comment = not closed
            continue
        if len(line) <= MAX_LINE:
            yield number, line.rstrip()


def _front(text: str) -> tuple[dict[str, Any], str]:
    """Return the simple values of the front matter, and the rest."""
    lines = text.split("\n")
    if lines[0].rstrip() != FRONT:
        return {}, text
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == FRONT), None)
    if end is None:
        return {}, text
    values: dict[str, Any] = {}
    name = None
    for line in lines[1:end]:
        if pair := PAIR.match(line):
            name = pair[1].strip()
            values[name] = _value(pair[2] or "")
        elif name is not None and (listed := LISTED.match(line)):
            before = values[name]
            values[name] = [*(before if isinstance(before, list) else []), _bare(listed[1])]
    return values, "\n".join(lines[end + 1 :]).lstrip("\n")


def _value(text: str) -> str | list[str]:
    text = text.strip()
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        return [bare for part in text[1:-1].split(",") if (bare := _bare(part))]
    return _bare(text)


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
