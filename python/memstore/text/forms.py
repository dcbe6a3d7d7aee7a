"""The forms in which a file may hold a word, as bytes."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Final

from memstore.text.folding import folded, subject_key
from memstore.text.words import segments

if TYPE_CHECKING:
    from collections.abc import Iterator

UTF_16: Final = ("utf-16-le", "utf-16-be")
"""SQLite keeps the texts of a file that was begun in one of these in it."""


def forms(word: str) -> dict[bytes, str]:
    """Return each form of a word with its name; the word itself is first."""
    found: dict[bytes, str] = {}
    for name, text in _spellings(word):
        found.setdefault(text.encode(), name)
    for name, text in _spellings(word):
        for encoding in UTF_16:
            found.setdefault(text.encode(encoding), f"{name}, in {encoding.upper()}")
    return {form: name for form, name in found.items() if form.strip(b"\x00 ")}


def _spellings(word: str) -> Iterator[tuple[str, str]]:
    yield "as it is", word
    for form in ("NFC", "NFD"):
        yield "in another normal form", unicodedata.normalize(form, word)
    for text in (subject_key(word), folded(word), word.lower(), word.casefold()):
        yield "in lower case", text
    if (cut := segments(word)) is not None:
        yield "cut into characters", cut
    for text in (word, unicodedata.normalize("NFC", word)):
        for is_ascii in (False, True):
            once = json.dumps(text, ensure_ascii=is_ascii)[1:-1]
            yield "in JSON", once
            yield "in JSON", json.dumps(once, ensure_ascii=is_ascii)[1:-1]
