"""Requesting a model's reply, and reading it as strict JSON.

The JSON is looked for in three places, in this order:

1. the whole reply;
2. the Markdown code blocks in it;
3. the text, whose brackets must be JSON or prose: ``[as you asked]``, ``{sic}`` or ``[1]``.

For the last two, what a model thought (``<think>…</think>``) is left out first. JSON that is broken
makes the reply an error, and so do two values that differ. NaN, infinities and duplicate keys are
errors too, because their meaning would be a guess.

A reply that breaks off at its end is an error as well, unless the caller can do with the whole
entries of a list (:func:`parse_list`). The entry after them, :data:`CUT`, says that more may be
missing, so a truncated reply is never taken for a shorter list.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.domain.arguments import why_no_json
from memstore.domain.metadata import no_number
from memstore.domain.protocols import JSONGenerator
from memstore.errors import GeneratorError, GeneratorUnavailable, Remedy, ReplyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memstore.domain.protocols import Generator
    from memstore.prompting.reading_log import Readings


@dataclass(slots=True)
class Replies:
    """A model's replies about an episode; a stored reply is not requested again.

    Only readable replies are stored, so that a retry can help. Each is stored as it arrives, so
    that a failure at a later piece loses none. With ``only_kept`` the model is never asked.
    """

    generator: Generator
    readings: Readings | None = None
    episode_id: int = 0
    only_kept: bool = False
    questions: int = 0
    """How many questions the model was asked."""

    def entries(
        self, prompt: str, schema: Mapping[str, Any], read: Callable[[str], list[object]]
    ) -> list[object]:
        """Return the list that ``read`` finds in the stored reply, or else in a new one.

        Raises:
            GeneratorError: no usable reply.
        """
        key = self._key(prompt, schema)
        if self.readings is not None:
            known = self.readings.reply(self.episode_id, key)
            if known is not None:
                return list(json.loads(known))
        if self.only_kept:
            raise GeneratorUnavailable("the model does not answer and was not called again")
        self.questions += 1
        found = read(ask(self.generator, prompt, schema))
        if self.readings is not None:
            # A list nested too deeply to be written is not a list of facts and is not stored.
            with suppress(RecursionError):
                self.readings.keep_reply(self.episode_id, key, self.generator.model, found)
        return found

    def _key(self, prompt: str, schema: Mapping[str, Any]) -> str:
        held_to = schema if isinstance(self.generator, JSONGenerator) else None
        question = json.dumps([self.generator.model, prompt, held_to], sort_keys=True)
        return hashlib.sha256(question.encode()).hexdigest()


def ask(generator: Generator, prompt: str, schema: Mapping[str, Any]) -> str:
    """Return a model's answer, requesting the schema if the generator accepts one.

    Raises:
        GeneratorError: any failure.
    """
    try:
        if isinstance(generator, JSONGenerator):
            return generator.generate_json(prompt, schema)
        return generator.generate(prompt)
    except GeneratorError:
        raise
    # A generator may be the caller's own code, which can raise anything.
    except Exception as error:
        raise GeneratorError(f"the generator failed: {type(error).__name__}: {error}") from error


EXCERPT: Final = 200
"""How many characters of a reply its error shows."""

FENCE: Final = "```"
_THOUGHT: Final = r"(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)"

THOUGHTS: Final = re.compile(
    rf"^[ \t]*(?:<(?P<tag>{_THOUGHT})>.*?</(?P=tag)>[ \t]*)+"
    rf"|^[ \t]*(?:\[(?P<mark>{_THOUGHT})\].*?\[/(?P=mark)\][ \t]*)+",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""Thoughts, at the start of a line, where they are not inside JSON text."""

THOUGHTS_END: Final = re.compile(rf"^[ \t]*</{_THOUGHT}>", re.MULTILINE | re.IGNORECASE)
"""The end of thoughts whose beginning is part of the prompt."""

THOUGHTS_BEGIN: Final = re.compile(rf"^[ \t]*<{_THOUGHT}>", re.MULTILINE | re.IGNORECASE)

CUT: Final = "the reply breaks off here, and more may be missing"
"""The last entry of a list that a reply breaks off in."""

COMMA: Final = re.compile(r"\s*,\s*")
LIST_ENDS: Final = re.compile(r"\s*\]\s*(?:`{3}\s*)?")
REPLY_ENDS: Final = re.compile(r"\s*(?:`{3}\s*)?")
VALUE_BEGINS: Final = re.compile(
    r"-|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|u?[0-9a-fA-F]{0,4}|\\(?:u[0-9a-fA-F]{0,4})?"
)
"""What a cut leaves of a number, a literal such as ``true``, or an escaped character."""

BRACKET: Final = re.compile(r"[\[\]{}]")

JSON_BEGINS: Final = re.compile(r'\[\s*(?:["{\[\]\d-]|true\b|false\b|null\b)|\{\s*["}]')
"""A bracket that opens JSON, or what was meant to be JSON."""

NAMES: Final = {list: "array", dict: "object"}

JSON = TypeVar("JSON", list[Any], dict[str, Any])
T = TypeVar("T")


def list_schema(name: str, **properties: Any) -> dict[str, Any]:
    """Return the JSON Schema of an object with one list of objects, every property required."""
    entries = {"type": "array", "items": _closed(properties)}
    return _closed({name: entries})


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def parse_list(text: str, name: str, *, may_break_off: bool = False) -> list[object]:
    """Return the list under a key of the JSON object in a reply, as :func:`list_schema` asks.

    Or the list itself, if its entries are objects: some models leave the object around it out.

    Args:
        may_break_off: if the reply breaks off in it, return its whole entries, and :data:`CUT`.
    """
    try:
        entries = parse_object(text).get(name)
    except ReplyError:
        bare = _bare_list(text)
        if bare is not None:
            return bare
        found = _cut_list(text, name) if may_break_off and isinstance(text, str) else None
        if found is None:
            raise
        return found
    if not isinstance(entries, list):
        raise unusable(f'the model\'s reply has no list "{name}"')
    return entries


def _bare_list(text: str) -> list[object] | None:
    """Return the list of objects that a whole reply is; ``None`` if it is something else."""
    try:
        entries = parse_array(text)
    except ReplyError:
        return None
    return entries if entries and all(isinstance(one, dict) for one in entries) else None


class Unusable(ValueError):
    """One entry of a reply cannot be carried out; the text says why."""


def shown(number: object, items: Sequence[T]) -> T | None:
    """Return the item with this number, counted from 1, if it was among those shown."""
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(items):
        return None
    return items[number - 1]


def unusable(reason: str) -> ReplyError:
    return ReplyError(f"{reason}. Nothing was lost", remedy=Remedy.ASK_AGAIN)


def parse_array(text: str) -> list[object]:
    """Return the JSON array in a reply; an error if it is truncated or several differ."""
    return _parse(text, list)


def parse_object(text: str) -> dict[str, object]:
    """Return the JSON object in a reply; an error if it is truncated or several differ."""
    return _parse(text, dict)


def _parse(text: str, wanted: type[JSON]) -> JSON:
    if not isinstance(text, str):  # a generator may be the caller's own code
        raise ReplyError(f"the generator returned {type(text).__name__}, not text")
    stripped = text.lstrip("\ufeff").strip()
    if not stripped:
        raise _no_json(text, wanted, "it is empty")
    try:
        value = DECODER.decode(stripped)
    except (ValueError, RecursionError) as error:
        why = _words(error)
    else:
        if isinstance(value, wanted):
            return value
        raise _no_json(text, wanted, f"it is a JSON {_name(value)}")
    said = _without_thoughts(stripped)
    found = _all(wanted, _blocks(said)) or _all(wanted, _in_prose(said, wanted))
    if not found:
        raise _no_json(text, wanted, why)
    if any(other != found[0] for other in found[1:]):
        raise _no_json(text, wanted, f"it has {len(found)} that differ")
    return found[0]


def _cut_list(text: str, name: str) -> list[object] | None:
    """Return the whole entries of the list under a key, and :data:`CUT`, if a reply ends in it.

    ``None`` if it does not, if there is no whole entry, or if other JSON is before it.
    """
    said = _without_thoughts(text.lstrip("\ufeff").strip())
    begins = re.compile(rf'\{{\s*"{re.escape(name)}"\s*:\s*\[\s*')
    at = 0
    while opening := BRACKET.search(said, at):
        if found := begins.match(said, opening.start()):
            return _whole_entries(said, found.end())
        if opening[0] in "]}":
            return None
        if not JSON_BEGINS.match(said, opening.start()):
            at = _end_of_prose(said, opening.start())
            continue
        try:
            value, at = DECODER.raw_decode(said, opening.start())
        except (ValueError, RecursionError):
            return None
        if not _is_citation(value):
            return None
    return None


def _whole_entries(text: str, at: int) -> list[object] | None:
    entries: list[object] = []
    while not REPLY_ENDS.fullmatch(text, at):
        if closed := LIST_ENDS.match(text, at):
            return entries if closed.end() == len(text) else None
        if entries:
            comma = COMMA.match(text, at)
            if comma is None:
                return None
            at = comma.end()
            if at == len(text):
                break
        try:
            entry, at = DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if not _breaks_off(error):
                return None
            break
        except (ValueError, RecursionError):
            return None
        if not isinstance(entry, dict):
            return None
        entries.append(entry)
    return [*entries, CUT] if entries else None


def _breaks_off(error: json.JSONDecodeError) -> bool:
    """Return whether JSON is broken only because its text ends."""
    rest = error.doc[error.pos :]
    return (
        not rest
        or error.msg.startswith("Unterminated string")
        or VALUE_BEGINS.fullmatch(rest) is not None
    )


def _without_thoughts(text: str) -> str:
    """Return a reply without a model's thoughts; only what is before them if they do not end."""
    text = THOUGHTS.sub("", text)
    if begin := THOUGHTS_BEGIN.search(text):
        return text[: begin.start()]
    end = THOUGHTS_END.search(text)
    return text[end.end() :] if end else text


def _all(wanted: type[JSON], texts: Iterator[str]) -> list[JSON]:
    found = []
    for text in texts:
        try:
            value = DECODER.decode(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, wanted):
            found.append(value)
    return found


def _blocks(text: str) -> Iterator[str]:
    """Yield the code blocks whose fences are on lines of their own.

    JSON strings contain no line breaks, so such a line is never inside one.
    """
    inside: list[str] | None = None
    for line in text.split("\n"):  # not splitlines(): a JSON string may contain U+2028
        mark = line.strip()
        if inside is None:
            if mark.startswith(FENCE):
                inside = []
        elif mark.startswith(FENCE) and not mark.strip("`"):
            yield "\n".join(inside)
            inside = None
        else:
            inside.append(line)


def _in_prose(text: str, wanted: type[JSON]) -> Iterator[str]:
    """Yield the JSON of the wanted type in a text; nothing if any other JSON is in it.

    An array inside a truncated object is not the model's answer, nor is one beside an object or
    before a bracket that nothing opened.
    """
    found = []
    at = 0
    while opening := BRACKET.search(text, at):
        start = opening.start()
        if opening[0] in "]}":
            return
        if not JSON_BEGINS.match(text, start):
            at = _end_of_prose(text, start)
            continue
        try:
            value, at = DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return
        if isinstance(value, wanted) and not _is_citation(value):
            found.append(text[start:at])
        elif not _is_citation(value):
            return
    yield from found


def _end_of_prose(text: str, start: int) -> int:
    """Return the place after the bracket that closes this one; the end if none does."""
    depth = 0
    for bracket in BRACKET.finditer(text, start):
        depth += 1 if bracket[0] in "[{" else -1
        if not depth:
            return bracket.end()
    return len(text)


def _is_citation(value: object) -> bool:
    """Return whether this is what prose refers to sources by, such as ``[1]`` or ``[2, 3]``."""
    return isinstance(value, list) and bool(value) and all(type(one) is int for one in value)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("it has a number that is too large")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {_printable(name)!r} is given twice in one object")
        found[name] = value
    return found


DECODER: Final = json.JSONDecoder(
    parse_constant=no_number, parse_float=_finite, object_pairs_hook=_distinct
)


def _words(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        if error.pos >= len(error.doc) or error.msg.startswith("Unterminated string"):
            return "it ends before its JSON does"
        return f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos}"
    return why_no_json(error)


def _name(value: object) -> str:
    names = {list: "array", dict: "object", str: "text", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def _no_json(text: str, wanted: type[JSON], reason: str) -> ReplyError:
    return unusable(
        f"the model's reply has no usable JSON {NAMES[wanted]}: {reason}. "
        f'It begins "{_printable(text)}"'
    )


def _printable(text: str) -> str:
    """Return the first characters on one line, unprintable ones escaped."""
    begin = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[:EXCERPT]
    )
    return begin + ("…" if len(text) > EXCERPT else "")
