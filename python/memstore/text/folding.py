"""Folding: normal forms for comparing texts, subjects and claims."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import hashlib

    from memstore._kernel import claims
    from memstore.text import words
else:
    claims = lazy_import("memstore._kernel.claims")
    hashlib = lazy_import("hashlib")
    words = lazy_import("memstore.text.words")


def composed(text: str) -> str:
    """Return a text with letters and their marks as one character where there is one (NFC)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def spaced(text: str) -> str:
    """Return a text with blanks and Unicode's form unified, without a full stop at its end.

    Letter case is content: ``userId`` is another column than ``userid``, and MW is not mW.
    """
    plain = " ".join(composed(text).split())
    return plain[:-1] if plain.endswith(".") and not plain.endswith("..") else plain


def folded(text: str) -> str:
    """Return a text as :func:`spaced` does, and in lower case."""
    return spaced(text).casefold()


def subject_key(subject: str) -> str:
    """Return the form by which subjects are compared: case and Unicode's normal form folded."""
    if subject.isascii():
        return subject.strip().lower()
    plain = unicodedata.normalize("NFD", subject.strip()).casefold()
    return unicodedata.normalize("NFC", plain)


def text_of(subject: str, content: str) -> str:
    """Return the text to embed for a fact: its content, with the subject added if missing.

    People often search for "prefers tea" by Alice's name, which only the subject contains.
    """
    return content if subject.casefold() in content.casefold() else f"{subject}: {content}"


def claim(subject: str, content: str) -> tuple[str, str]:
    """Return the key of a claim: equal for facts that say the same about the same subject."""
    return subject_key(subject), spaced(content)


def claim_hash(key: str, content: str) -> int:
    """Return 64 bits of a hash of a claim about the subject with this key, as SQL stores them.

    Claims that differ in letter case alone share it, so that one look-up finds the same claim and
    those that are only spelt like it; :func:`claim` tells them apart.
    """
    if content.isascii():
        return claims.claim_hash(key, content)
    told = f"{key}\n{folded(content)}".encode()
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), signed=True)


def is_named_in(text: str, name: str) -> bool:
    """Return whether a text names something, by a word or by words; both are folded.

    It does not in an identifier: of ``SHOP-1042`` and ``src/shop/cart.ts``, shop is a part.
    """
    return name in text and bool(re.search(whole_word(name), text))


def whole_word(name: str) -> str:
    """Return the regular expression of a name that is no part of an identifier.

    Scripts without spaces part words as blanks do: radio in "radioのコーデックは".
    """
    letter = rf"[^\W{words.UNSPACED}]"
    return rf"(?<!{letter})(?<![./\\@#-]){re.escape(name)}(?!{letter}|[./\\@#-]\w)"
