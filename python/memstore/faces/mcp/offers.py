"""Leaving out of an answer what names tools that the server does not offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ADVICE: Final = ("undo", "hint", "cut")
"""Members of answers that may name a tool, as the first word of a clause."""

THEIRS: Final = ("metadata",)
"""Members that hold only what was stored."""


def followable(answer: Any, shown: Mapping[str, str | None]) -> Any:
    """Return an answer without advice that its reader cannot follow.

    Args:
        answer: what the tool returned.
        shown: the name that each tool is shown by; ``None`` for those that are not offered.
    """
    if isinstance(answer, list):
        return [followable(item, shown) for item in answer]
    if not isinstance(answer, dict):
        return answer
    kept = {}
    for name, value in answer.items():
        if name in ADVICE and isinstance(value, str):
            # An undo quotes stored values, which are not clauses of ours.
            clauses = [value] if name == "undo" else value.split("; ")
            value = "; ".join(_offered(clauses, shown))
            if not value:
                continue
        kept[name] = value if name in THEIRS else followable(value, shown)
    return kept


def _offered(clauses: list[str], shown: Mapping[str, str | None]) -> list[str]:
    offered = []
    for clause in clauses:
        tool, blank, rest = clause.partition(" ")
        name = shown.get(tool, tool)
        if name is not None:
            offered.append(f"{name}{blank}{rest}")
    return offered
