"""Folding: the form in which two texts are the same text, or the same claim."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import hashlib
else:
    hashlib = lazy_import("hashlib")


def folded(text: str) -> str:
    """Return a text without regard to case, blanks and a full stop at its end."""
    normal = text if text.isascii() else unicodedata.normalize("NFC", text)
    plain = " ".join(normal.casefold().split())
    return plain[:-1] if plain.endswith(".") and not plain.endswith("..") else plain


def subject_key(subject: str) -> str:
    """Return the form by which subjects are compared: case and Unicode's normal form folded."""
    if subject.isascii():
        return subject.strip().lower()
    plain = unicodedata.normalize("NFD", subject.strip()).casefold()
    return unicodedata.normalize("NFC", plain)


def claim(subject: str, content: str) -> tuple[str, str]:
    """Return what facts that say the same about the same subject share."""
    return subject_key(subject), folded(content)


def claim_hash(subject: str, content: str) -> int:
    """Return 64 bits of a hash of the claim, as SQL stores them."""
    told = f"{subject_key(subject)}\n{folded(content)}".encode()
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), signed=True)
