"""Labelled pairs in tables: ``label | subject | older | newer``, a file for each language."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

JUDGED: Final = Path(__file__).parents[1] / "text" / "judged"

LANGUAGES: Final = ("ru", "ko", "ar", "hi", "tr", "pl")
"""Those whose corrections are looked for with shorter lists than those of the first six."""

LABELS: Final = {"must": "supersedes", "stay": "coexists", "hostile": "coexists"}


def table(language: str) -> Path:
    """Return the file of a language."""
    return JUDGED / f"pairs_{language}.txt"


def labelled(lines: Iterable[str], language: str) -> list[dict[str, Any]]:
    """Return the pairs of a table, in the form of the published ones."""
    rows = [line.split(" | ") for line in lines if line.strip() and not line.startswith("#")]
    return [
        {
            "label": LABELS[label], "kind": "hostile" if label == "hostile" else "table",
            "lang": language, "subject": subject, "older": older, "newer": newer.rstrip("\n"),
        }
        for label, subject, older, newer in rows
    ]  # fmt: skip


def of(language: str) -> list[dict[str, Any]]:
    """Return the pairs of a language."""
    return labelled(table(language).read_text(encoding="utf-8").splitlines(), language)


def everyday() -> list[dict[str, Any]]:
    """Return the pairs of everyday corrections, whose table names the language of each."""
    lines = (JUDGED / "everyday.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.partition(" | ") for line in lines if not line.startswith("#")]
    return [pair for language, _, row in rows for pair in labelled([row], language)]
