"""Records of a JSON file: JSON Lines, or a service's response with a list.

JSON Lines are read one by one, so the file may be larger than memory; a list is read whole, up to
a limit.
"""

from __future__ import annotations

import json
import os
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final, TextIO

from memstore.domain.arguments import why_no_json
from memstore.importing.records import Damaged, Skipped
from memstore.transfer import long_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Raw

MAX_CHARACTERS: Final = 100_000_000
"""The longest record or list; it has to fit into a database row and into memory."""

LISTS: Final = ("results", "memories", "episodes", "facts")
"""Keys of the list in services' responses."""

OPENING: Final = 2**16
RECORDS_A_LOOK: Final = 1000


def records(path: Path, progress: Progress | None = None) -> Iterator[Raw]:
    """Yield each record of a file with its place, and the parts that cannot be read.

    Args:
        progress: called with the bytes read so far and the size of the file.
    """
    # Invalid UTF-8 becomes lone surrogates, for which the record is refused later.
    with open(path, "rb") as raw:
        file = TextIOWrapper(raw, encoding="utf-8-sig", errors="surrogateescape", newline="")
        opening = file.read(OPENING).lstrip()
        file.seek(0)
        line, end, _ = opening.partition("\n")
        # A line of JSON Lines ends with its object; a longer object goes on after one of these.
        over_lines = end and line.rstrip().endswith(("{", "[", ",", ":"))
        found = _whole(file) if over_lines or opening.startswith("[") else _lines(file)
        size = os.fstat(raw.fileno()).st_size
        for number, one in enumerate(found):
            if progress is not None and number % RECORDS_A_LOOK == 0:
                progress(raw.tell(), size)
            yield one


def _lines(file: TextIO) -> Iterator[Raw]:
    number = 1
    try:
        while text := long_lines.line(file, _longest):
            if text.strip():
                yield from _read(f"line {number}", text)
            number += 1
    except long_lines.TooLong as error:
        yield Damaged(f"line {number}", str(error))


def _longest(beginning: str) -> int:
    if beginning.lstrip().startswith("{"):
        return MAX_CHARACTERS
    raise long_lines.TooLong(f"longer than {long_lines.CHUNK:,} characters, but not a JSON object")


def _whole(file: TextIO) -> Iterator[Raw]:
    text = file.read(MAX_CHARACTERS + 1)
    if len(text) <= MAX_CHARACTERS:
        yield from _read("the file", text, may_be_list=True)
        return
    yield Damaged(
        "the file",
        f"a list of more than {MAX_CHARACTERS:,} characters, which is the limit for a list; JSON "
        "Lines, as written by `jq -c '.[]'`, have no such limit",
    )


def _read(place: str, text: str, *, may_be_list: bool = False) -> Iterator[Raw]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        yield Damaged(place, f"not JSON ({why_no_json(error)})")
        return
    if may_be_list and isinstance(value, list):
        yield from _listed(value)
    elif not isinstance(value, dict):
        yield Damaged(place, "not a JSON object")
    elif "id" not in value and (lists := [n for n in LISTS if isinstance(value.get(n), list)]):
        yield from _answer(place, lists[0], value)
    else:
        yield place, value


def _listed(values: list[Any]) -> Iterator[Raw]:
    for number, value in enumerate(values, 1):
        place = f"record {number}"
        yield (place, value) if isinstance(value, dict) else Damaged(place, "not a JSON object")


def _answer(place: str, name: str, answer: dict[str, Any]) -> Iterator[Raw]:
    """Yield the records of a service's response, and note other lists and missing pages."""
    held = answer[name]
    yield from _listed(held)
    for other, value in answer.items():
        if other != name and isinstance(value, list) and value:
            yield Skipped(other, f"{len(value)} of them", len(value))
    total = answer.get("count")
    missing = total - len(held) if type(total) is int else 0
    if missing > 0 or answer.get("next"):
        yield Skipped("records on other pages", f"{place} is one page", max(missing, 1))
