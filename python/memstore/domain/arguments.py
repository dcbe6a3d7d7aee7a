"""Checks of callers' arguments; each error names the argument and the limit."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memstore.errors import InvalidArgument, InvalidArgumentType
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import inspect
else:
    inspect = lazy_import("inspect")

T = TypeVar("T")

MAX_CONTENT = 1_000_000
"""Characters of one fact, and bytes of its UTF-8. A fact is one claim; a longer text holds several.

How long a text holds the write lock depends on its bytes: each Chinese character is a word or two.
"""

MAX_UNSEARCHED = 16 * 1024 * 1024
"""Characters of a fact that no search finds, and bytes of its metadata: it may be a file."""

MAX_QUERY = 20_000
"""Characters of a query or a filter value; each costs a microsecond or two."""

MAX_NUMBER = 2**63 - 1
"""The largest integer that SQLite stores; its driver refuses larger ones."""

MAX_NAME = 500
"""Characters of a subject, a category, a source, an idempotency key or an external key."""

MAX_SEQ = 2**53
"""The largest place in a thread: up to here a float represents every integer exactly."""

ALL_NAMESPACES = "all"
"""Reserved: it selects every namespace of the file."""

AUTO: Final = "auto"
"""Selects the namespace of the current folder's project."""

RESERVED: Final = {ALL_NAMESPACES: "every namespace", AUTO: "the namespace of a project"}
"""Names that no namespace has, and what they select."""


def why_no_json(error: ValueError | RecursionError) -> str:
    """Return why a text is no JSON, without Python's advice on its own settings."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if str(error).startswith("Exceeds the limit"):  # of sys.get_int_max_str_digits
        return "a number has too many digits"
    return str(error)


def shown(value: object) -> str:
    """Return an argument as an error tells it."""
    try:
        return repr(value)
    except ValueError:  # Python writes no number with so many digits
        return "a number with thousands of digits"


def checked_limit(limit: int | None) -> None:
    """Refuse a limit that is not a positive whole number; ``None`` means no limit."""
    if limit is not None and (not isinstance(limit, int) or not 1 <= limit <= MAX_NUMBER):
        raise InvalidArgument(
            f"must be at least 1 and a whole number, not {shown(limit)}", argument="limit"
        )


def checked_id(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidArgumentType(f"must be a whole number, not {value!r}", argument=name)


def checked_ids(given: Iterable[int], name: str = "fact_ids") -> list[int]:
    """Return ids as a list, without those that no row can have."""
    ids = checked_items(given, name)
    for one in ids:
        checked_id(one, name)
    return [one for one in ids if abs(one) <= MAX_NUMBER]


def checked_number(value: object, name: str, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidArgument(
            f"must be a whole number from {least} to {most}, not {shown(value)}", argument=name
        )


def checked_real(value: float, name: str, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgumentType(f"must be a number, not {type(value).__name__}", argument=name)
    if not least <= value <= most or value == math.inf:
        span = f"{least} or more" if most == math.inf else f"{least} to {most}"
        raise InvalidArgument(f"must be {span}, not {shown(value)}", argument=name)


def checked_items(given: Iterable[T], name: str) -> list[T]:
    """Return the items as a list; a text or a mapping counts as one item and is refused."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidArgumentType(f"must be a list, not {type(given).__name__}", argument=name)
    return list(given)


def checked_records(kind: type[T], given: Iterable[T | Mapping[str, Any]], name: str) -> list[T]:
    """Return records, making those that were passed as mappings of their fields."""
    items = checked_items(given, name)
    records = [one for one in items if isinstance(one, kind)]
    if len(records) == len(items):
        return records  # without importing what reads a signature
    known = inspect.signature(kind).parameters
    return [
        one
        if isinstance(one, kind)
        else _record(kind, known, one, name, f"item {place} of {len(items)}")
        for place, one in enumerate(items, 1)
    ]


def _record(
    kind: type[T],
    known: Mapping[str, inspect.Parameter],
    given: T | Mapping[str, Any],
    name: str,
    place: str,
) -> T:
    if not isinstance(given, Mapping):
        what = f"must be {kind.__name__} objects or mappings of its fields, not"
        raise InvalidArgumentType(f"{what} {type(given).__name__}", argument=name, place=place)
    if unknown := [key for key in given if key not in known]:
        raise InvalidArgument(f"have no field {unknown[0]!r}", argument=name, place=place)
    needed = (key for key, one in known.items() if one.default is one.empty)
    if missing := [key for key in needed if key not in given]:
        raise InvalidArgument(f"lack {missing[0]!r}", argument=name, place=place)
    return kind(**given)


def checked_choice(value: str, allowed: Iterable[str], name: str) -> str:
    """Return a value that is one of those allowed, or raise an error that lists them."""
    *others, last = allowed
    if not isinstance(value, str) or value not in (*others, last):
        listed = f"{', '.join(others)} or {last}" if others else last
        raise InvalidArgument(f"must be {listed}, not {value!r}", argument=name)
    return str(value)


def checked_page(
    limit: int | None, offset: int, before_id: int | None = None, after_id: int | None = None
) -> None:
    """Refuse a limit or a place in a list that is out of range."""
    checked_limit(limit)
    if not isinstance(offset, int) or not 0 <= offset <= MAX_NUMBER:
        raise InvalidArgument(f"must be 0 or more, not {shown(offset)}", argument="offset")
    for name, value in (("before_id", before_id), ("after_id", after_id)):
        if value is not None:
            checked_number(value, name, 0, MAX_NUMBER)


def checked_text(text: object, name: str, limit: int) -> str:
    """Return a text that is not blank, not too long and without NUL characters."""
    storable = text if type(text) is str and text.isascii() else stored_text(text, name)
    if not storable or storable.isspace():
        raise InvalidArgument("is empty", argument=name)
    if len(storable) > limit:
        check_length(storable, name, limit)
    if "\x00" in storable:
        raise InvalidArgument("contains a NUL character", argument=name)
    return storable


def check_length(text: str, name: str, limit: int) -> None:
    if len(text) > limit:
        raise InvalidArgument(
            f"is {len(text):,} characters long; the limit is {limit:,}", argument=name
        )


def check_size(text: str, name: str) -> None:
    """Refuse a text that is too long for a fact, in characters or in bytes."""
    check_length(text, name, MAX_CONTENT)
    if not fits_a_fact(text):
        raise InvalidArgument(
            f"is {len(text.encode()):,} bytes long in UTF-8; the limit is {MAX_CONTENT:,}",
            argument=name,
        )


def fits_a_fact(text: str) -> bool:
    """Return whether a text is not too long for a fact."""
    if text.isascii() or 4 * len(text) <= MAX_CONTENT:
        return len(text) <= MAX_CONTENT
    return len(text.encode(errors="surrogatepass")) <= MAX_CONTENT


def checked_name(text: object, name: str) -> str:
    """Return the name of an owner or a namespace in Unicode normal form; case is significant."""
    return nfc(checked_text(text, name, MAX_NAME))


def checked_key(key: object, name: str) -> str:
    """Return an external key exactly as it is; it may be of spaces, but not empty."""
    text = stored_text(key, name)
    if not text:
        raise InvalidArgument("is empty", argument=name)
    if "\x00" in text:
        raise InvalidArgument("contains a NUL character", argument=name)
    check_length(text, name, MAX_NAME)
    return text


def checked_place(thread: object, seq: object) -> tuple[str | None, int | None]:
    """Return the name of a thread, in Unicode normal form, and a place in it."""
    if seq is not None:
        checked_number(seq, "seq", 0, MAX_SEQ)
    return (None if thread is None else checked_name(thread, "thread")), seq  # type: ignore[return-value]


def nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def checked_query(query: object) -> str:
    """Return a query without what no text has; any text is one.

    Raises:
        TypeError: it is no text.
        ValueError: it is too long.
    """
    if not isinstance(query, str):
        raise InvalidArgumentType(f"must be text, not {type(query).__name__}", argument="query")
    check_length(query, "query", MAX_QUERY)
    return query.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ").strip()


def stored_text(text: object, name: str) -> str:
    """Return a text that UTF-8 can encode; stored rows may be blank or contain NUL."""
    if not isinstance(text, str):
        raise InvalidArgumentType(f"must be text, not {type(text).__name__}", argument=name)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            f"contains half of a character at position {error.start} (a lone surrogate)",
            argument=name,
        ) from None
    return text if type(text) is str else str.__str__(text)  # a plain str, as reads return
