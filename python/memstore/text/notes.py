"""Markdown notes: their front matter, and the blocks that are claims or instructions.

CommonMark (with tables) decides where an item of a list, a paragraph or a heading begins and ends,
and YAML what the front matter says (decision 159). Places are lines of the file.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from memstore.frozen import frozen
from memstore.lazy import cached_property, lazy_import
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import markdown_it
    import yaml
    from markdown_it.token import Token
else:
    markdown_it = lazy_import("markdown_it")
    yaml = lazy_import("yaml")

FRONT: Final = "---"
FRONT_ENDS: Final = (FRONT, "...")
PAIR: Final = re.compile(r"([A-Za-z_][\w -]*):(?:\s+(.*))?$")
LISTED: Final = re.compile(r"\s*-\s+(.*)$")
FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
CHECKBOX: Final = re.compile(r"\[(.?)\](?:\s+|$)")
OBSERVATION: Final = re.compile(r"\[([^\[\]()|^!]{2,60})\]\s+(.*)$", re.DOTALL)
RELATION: Final = re.compile(
    r"(\S[^\[\]!]{0,80}?)\s+\[\[([^\[\]|#^]+)(?:[|#^][^\[\]]*)?\]\](?:\s+\((.*)\))?$"
)
DATED: Final = re.compile(
    r"(?=.*\d)(?:[\d\s:.,/+~%>–—-]|\b[ap]\.?m\b|(?<=\d)[hmstz]+(?![a-z])"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*\b)+",
    re.IGNORECASE,
)
"""A time, a date, a length or a share, as in a transcript: no category."""
QUOTES: Final = ("**", "__", "*", "_", "`", '"', "'", "“”", "„“", "«»", "‘’")
"""What may stand around the kind of a relation, at both ends or as a pair."""
CONTEXT: Final = re.compile(r"\s\(([^()]*)\)$")
TAG: Final = re.compile(r"(?:^|\s)#([\w/-]*[^\W\d][\w/-]*)")
LINK_ALONE: Final = re.compile(r"!?(\[\[.*\]\]|\[.*?\]\(.*?\)|<?https?://\S+>?)$")
COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
CELL_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
CODE: Final = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
IMPORT: Final = re.compile(r"(?:^|\s)@([^\s@`,;:)]+)")

MAX_TEXT: Final = 10_000
"""Characters of a block that may be a claim or an instruction; a longer one is prose."""
MAX_NESTING: Final = 100
"""Levels of blocks inside each other; deeper ones are not read."""
MAX_FRONT: Final = 100_000
"""Characters of front matter that are read as YAML; more is a file of data."""
NO_FRONT: Final[dict[str, Any]] = {}


class Block(NamedTuple):
    """An item of a list, a paragraph or a row of a table; the blocks inside of an item are its own
    text, but for the lists."""

    kind: str
    """``item``, ``paragraph`` or ``row``."""
    line: int
    text: str
    headings: tuple[str, ...]
    introduced: tuple[str, ...] = ()
    """The texts ending with a colon that it is listed under, outermost first."""
    introduces: bool = False
    """Whether it ends with a colon, and blocks follow that are listed under it."""


@frozen
class Note:
    title: str
    front: dict[str, Any]
    body: str
    first_line: int = 1
    """The line of the file that the body begins with."""

    @cached_property
    def blocks(self) -> list[Block]:
        """Its items, paragraphs and rows in order, without code, comments and HTML."""
        return [*_Reader(self.first_line).blocks(_tokens(self.body))]


@frozen
class NoteClaim:
    """An item of a note that says something about its title."""

    line: int
    category: str
    text: str
    tags: tuple[str, ...] = ()
    context: str | None = None


@frozen
class NoteRelation:
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
    front, body, first_line = _front(text.replace("\r\n", "\n"))
    title = front.get("title")
    if not isinstance(title, str) or not title.strip():
        tokens = iter(_tokens(body))
        first = next((one for one in tokens if one.type == "heading_open"), None)
        said = _one_line(next(tokens).content) if first is not None else ""
        title = said if first is not None and first.tag == "h1" and said else stem
    return Note(title.strip(), front, body, first_line)


def claims(note: Note) -> Iterator[NoteClaim | NoteRelation]:
    """Yield what a note says in items such as ``- [category] text #tag (context)``."""
    for block in note.blocks:
        said = block.text
        if block.kind != "item" or CHECKBOX.match(said) or said.startswith("!"):
            continue
        found = OBSERVATION.match(said)
        if found and _is_category(found[1]) and not found[2].startswith("("):
            text, context = found[2], None
            if closing := CONTEXT.search(text):
                text, context = text[: closing.start()], closing[1].strip() or None
            tags = tuple(dict.fromkeys(TAG.findall(text)))
            if text := TAG.sub("", text).strip():
                yield NoteClaim(block.line, found[1].strip(), text, tags, context)
        elif related := RELATION.match(said):
            kind = _unquoted(related[1])
            yield NoteRelation(block.line, kind, related[2].strip(), related[3])


def _is_category(name: str) -> bool:
    """Return whether a name in brackets says what follows: it has a letter or a sign, no time."""
    said = any(sign.isalpha() or unicodedata.category(sign) == "So" for sign in name)
    return said and DATED.fullmatch(name.strip()) is None


def _unquoted(kind: str) -> str:
    """Return the kind of a relation without quotes or emphasis around it, and without a colon."""
    bare = kind.strip().removesuffix(":").strip()
    for quotes in QUOTES:
        is_pair = len(set(quotes)) > 1
        first, last = (quotes[0], quotes[1]) if is_pair else (quotes, quotes)
        inner = bare[len(first) : -len(last)].strip()
        is_around = bare.startswith(first) and bare.endswith(last) and bool(inner)
        if is_around and first not in inner and last not in inner:
            return inner.removesuffix(":").strip() or bare
    return bare


def instructions(note: Note) -> Iterator[Instruction]:
    """Yield each item, paragraph and row of a table, with the headings that it stands under.

    What introduces a list stands before each of its items. Boxes that are ticked, links alone, and
    what names files to be read with ``@`` are no instructions.
    """
    for block in note.blocks:
        said = block.text
        if box := CHECKBOX.match(said):
            said = said[box.end() :] if not box[1].strip() else ""
        if not said or block.introduces or said.startswith("@") or LINK_ALONE.match(said):
            continue
        if block.kind == "paragraph" and any(_imported(said)):
            continue
        yield Instruction(block.line, block.headings, ": ".join([*block.introduced, said]))


def too_long(note: Note) -> Iterator[int]:
    """Yield the lines of blocks that are too long to be claims or instructions."""
    for block in note.blocks:
        if not block.text:
            yield block.line


def imports(note: Note) -> Iterator[tuple[int, str]]:
    """Yield the files that a note names as ``@file``, outside of code."""
    for token in _tokens(note.body):
        if token.type == "inline":
            line = note.first_line + (token.map or [0])[0]
            for name in _imported(token.content):
                yield line, name


def _imported(text: str) -> Iterator[str]:
    for name in IMPORT.findall(COMMENT.sub("", CODE.sub("", text))):
        if name.startswith(("~", "/", ".")) or "/" in name or name.endswith((".md", ".txt")):
            yield name.rstrip(".")


# -- blocks --------------------------------------------------------------------------------


class _Reader:
    """Collects blocks from the tokens of a document."""

    def __init__(self, first_line: int) -> None:
        self._first_line = first_line
        self._headings: list[tuple[int, str]] = []

    def blocks(self, tokens: Sequence[Token], introduced: tuple[str, ...] = ()) -> Iterator[Block]:
        """Yield the blocks among the tokens of a document or a quotation, in order."""
        listed: tuple[str, ...] = introduced
        parts = [*_parts(tokens)]
        for place, part in enumerate(parts):
            first = part[0]
            kind = first.type
            if kind == "heading_open":
                level, name = int(first.tag[1:]), _one_line(part[1].content)
                self._headings = [one for one in self._headings if one[0] < level]
                self._headings.append((level, name))
                listed = introduced
            elif kind == "paragraph_open":
                after = parts[place + 1] if place + 1 < len(parts) else None
                said = _said(part)
                code = after is not None and after[0].type in ("fence", "code_block")
                is_opening = said.endswith(":") and after is not None
                if is_opening and code and after is not None:
                    said = f"{said}\n{_code(after[0])}"
                    is_opening = False
                elif is_opening and after is not None:
                    is_opening = after[0].type in LISTS
                listed = (*introduced, said[:-1]) if is_opening else introduced
                yield from self._block("paragraph", first, said, introduced, is_opening)
            elif kind in LISTS:
                for item in _parts(part[1:-1]):
                    yield from self._item(item, listed)
                listed = introduced
            elif kind == "table_open":
                yield from self._rows(part, listed)
                listed = introduced
            elif kind == "blockquote_open":
                yield from self.blocks(part[1:-1], introduced)
                listed = introduced

    def _item(self, tokens: Sequence[Token], introduced: tuple[str, ...]) -> Iterator[Block]:
        """Yield an item, then those of the lists inside of it."""
        inner = [*_parts(tokens[1:-1])]
        own = [part for part in inner if part[0].type not in NESTED]
        nested = [part for part in inner if part[0].type in NESTED]
        said = _said([token for part in own for token in part])
        is_opening = said.endswith(":") and bool(nested)
        yield from self._block("item", tokens[0], said, introduced, is_opening)
        listed = (*introduced, said[:-1]) if is_opening else introduced
        for part in nested:
            if part[0].type == "table_open":
                yield from self._rows(part, listed)
            else:
                for item in _parts(part[1:-1]):
                    yield from self._item(item, listed)

    def _rows(self, tokens: Sequence[Token], introduced: tuple[str, ...]) -> Iterator[Block]:
        """Yield the rows of a table as ``heading: cell; heading: cell``."""
        names: list[str] = []
        for row in _rows_of(tokens):
            cells = [
                CELL_BREAK.sub(" ", _one_line(COMMENT.sub("", token.content)))
                for token in row
                if token.type == "inline"
            ]
            if row[1].type == "th_open":
                names = cells
                continue
            said = "; ".join(
                f"{name}: {cell}" if name else cell
                for name, cell in zip(names, cells, strict=False)
                if cell
            )
            yield from self._block("row", row[0], said, introduced)

    def _block(
        self,
        kind: str,
        first: Token,
        said: str,
        introduced: tuple[str, ...],
        introduces: bool = False,
    ) -> Iterator[Block]:
        if not said:
            return
        line = self._first_line + (first.map or [0])[0]
        headings = tuple(name for _, name in self._headings if name)
        text = said if len(said) <= MAX_TEXT else ""
        yield Block(kind, line, text, headings, introduced, introduces)


LISTS: Final = ("bullet_list_open", "ordered_list_open")
NESTED: Final = (*LISTS, "table_open")


def _parts(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens of each block, from its opening to its end."""
    first = depth = 0
    for place, token in enumerate(tokens):
        if not depth:
            first = place
        depth += token.nesting
        if not depth:
            yield tokens[first : place + 1]


def _rows_of(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    for part in _parts(tokens[1:-1]):  # its head and its body
        yield from _parts(part[1:-1])


def _said(tokens: Sequence[Token]) -> str:
    """Return the text of blocks: paragraphs on a line each, code as it is."""
    texts: list[str] = []
    for token in tokens:
        if token.type == "inline":
            texts.append(_one_line(COMMENT.sub("", token.content)))
        elif token.type in ("fence", "code_block"):
            texts.append(_code(token))
    return "\n".join(text for text in texts if text)


def _code(token: Token) -> str:
    return token.content.rstrip()


def _one_line(text: str) -> str:
    """Join the lines of a paragraph."""
    *lines, last = text.split("\n")
    joined = [line.strip().removesuffix("\\") for line in lines]  # which breaks a line
    return " ".join([*joined, last.lstrip()]).strip()


def _tokens(body: str) -> list[Token]:
    """Return the blocks of a document as CommonMark reads them, with tables; ``inline`` ones have
    their source."""
    reader = markdown_it.MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    reader.core.ruler.disable("inline")
    return reader.parse(_without_remarks(body))


def _without_remarks(body: str) -> str:
    """Empty the lines of Obsidian's comments, between ``%%``."""
    if "%%" not in body:
        return body
    kept: list[str] = []
    fence, remark = "", False
    for line in body.split("\n"):
        mark = FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif remark:
            remark = "%%" not in line
            kept.append("")
            continue
        elif mark:
            fence = mark[1]
        elif line.lstrip().startswith("%%"):
            remark = line.count("%%") == 1
            kept.append("")
            continue
        kept.append(line)
    return "\n".join(kept)


# -- front matter --------------------------------------------------------------------------


def _front(text: str) -> tuple[dict[str, Any], str, int]:
    """Return the values of the front matter, the rest, and the line that the rest begins with."""
    if text.partition("\n")[0].rstrip() != FRONT:
        return NO_FRONT, text, 1
    lines = text.split("\n")
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in FRONT_ENDS), None)
    if end is None:
        return NO_FRONT, text, 1
    values = front_values("".join(f"{line}\n" for line in lines[1:end]))
    after = end + 1
    while after < len(lines) - 1 and not lines[after]:
        after += 1
    return values, "\n".join(lines[after:]), after + 1


def front_values(text: str) -> dict[str, Any]:
    """Return the values of front matter, all scalars as texts.

    Of text that is no YAML, such as a value with ``: `` in it, each line is read by itself.
    """
    try:
        if len(text) > MAX_FRONT:
            raise ValueError("front matter is too long")
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.BaseLoader)):
            raise ValueError("an alias may stand for more than there is memory for")
        read = yaml.load(text, yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return _by_lines(text)
    if not isinstance(read, dict):
        return {} if not read else _by_lines(text)
    return {name: value for name, value in read.items() if isinstance(name, str)}


def _by_lines(text: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    name = None
    for line in text.split("\n"):
        if pair := PAIR.match(line):
            name = pair[1].strip()
            values[name] = _value(pair[2] or "")
        elif name is not None and (listed := LISTED.match(line)):
            before = values[name]
            values[name] = [*(before if isinstance(before, list) else []), _bare(listed[1])]
    return values


def _value(text: str) -> str | list[str]:
    text = text.strip()
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        return [bare for part in text[1:-1].split(",") if (bare := _bare(part))]
    return _bare(text)


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
