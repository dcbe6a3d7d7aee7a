"""JSON values of a conversation as episodes, whose texts are found by words and by meaning.

The texts of a value (what was said, thought, called or returned) are the content of its episode.
The rest, with the places of the texts, is JSON text: in the metadata, or, if it is long or there
are no texts, at the end of the content. So a value comes back equal, and is stored once.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from memstore.adapters.values import from_json, to_json
from memstore.episodes import parts
from memstore.errors import InvalidArgument
from memstore.frozen import frozen
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.domain.episodes import Episode
    from memstore.text.secrets import Screen

SPOKEN: Final = frozenset(
    "content text output arguments transcript thinking refusal summary".split()
)
"""The keys whose texts are the content of an episode."""

MAX_REST: Final = 48_000
"""Bytes of JSON in the metadata, which may have 64 KiB; longer ones go to the content."""

SEPARATOR: Final = "\n\n"

REST: Final = "rest"
"""The member of the metadata: JSON text, or where it begins in the content, in characters."""


class _Text(NamedTuple):
    path: list[str | int]
    text: str


@frozen
class Turn:
    """A value as the content and the metadata of an episode."""

    content: str
    metadata: Mapping[str, Any]


class Unreadable(ValueError):
    """An episode that holds no value, such as one of another program."""


def turn_of(value: object, name: str, screen: Screen) -> Turn:
    """Return a value as an episode.

    Args:
        value: JSON of any shape.
        name: the caller's name for the value, for errors.
        screen: what becomes of secrets in it.

    Raises:
        InvalidArgument: JSON cannot keep the value, or it holds a secret that is refused, or that
            cannot be redacted.
        InvalidArgumentType: JSON cannot keep a part of it.
    """
    to_json(value, name)
    kept = from_json(to_json(screen.value(value, name), name))
    for texts in (_cut(kept), []):
        turn = _written(kept, texts)
        stored = screen.value(turn.content, name), screen.value(turn.metadata, name)
        if _reads_as(Turn(*stored), kept):
            return turn
    raise InvalidArgument("holds a secret that cannot be redacted", argument=name)


def value_of(episode: Episode | Turn) -> Any:
    """Return the value of an episode.

    Raises:
        Unreadable: it has none.
    """
    rest = episode.metadata.get(REST)
    try:
        text = rest if isinstance(rest, str) else episode.content[_place(rest) :]
        value, places = from_json(text)
        for *path, start, stop in places:
            value = _put(value, path, episode.content[start:stop])
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise Unreadable(f"no value can be read: {error}") from error
    return value


def values(episodes: Sequence[Episode]) -> list[Any]:
    """Return the values of episodes in order, without those that hold none; see `value_of`.

    The parts of a long text are one value.
    """
    found = []
    for episode in parts.joined(episodes):
        with suppress(Unreadable):
            found.append(value_of(episode))
    return found


def _place(rest: object) -> int:
    if not isinstance(rest, int) or rest < 0:
        raise ValueError("there is no rest of it in the metadata")
    return rest


def _reads_as(turn: Turn, value: object) -> bool:
    try:
        return to_json(value_of(turn), "value") == to_json(value, "value")
    except (Unreadable, ValueError):
        return False


def _written(value: Any, texts: list[_Text]) -> Turn:
    places, content = [], ""
    for path, text in texts:
        content += SEPARATOR if content else ""
        places.append([*path, len(content), len(content) + len(text)])
        value = _put(value, path, "")
        content += text
    rest = to_json([value, places], "value")
    if content and len(rest.encode()) <= MAX_REST:
        return Turn(content, {REST: rest})
    content += SEPARATOR if content else ""
    return Turn(content + rest, {REST: len(content)})


def _cut(value: object) -> list[_Text]:
    return [*_texts(value, [], spoken=False)]


def _texts(value: object, path: list[str | int], *, spoken: bool) -> Iterator[_Text]:
    if isinstance(value, str):
        if spoken and not value.isspace() and value and "\x00" not in value:
            yield _Text(path, value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, [*path, key], spoken=key in SPOKEN)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, [*path, number], spoken=spoken)


def _put(value: Any, path: list[str | int], text: str) -> Any:
    """Return the value with a text at a place; lists and objects on the way are copied."""
    if not path:
        return text
    first, *others = path
    copied = value.copy()
    copied[first] = _put(value[first], others, text)
    return copied
