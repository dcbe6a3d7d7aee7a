"""Reasons that the evidence of a change gives, without quoting anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.database.tables.support import SupportRow

SHOWN: Final = 3
"""How many ids are named."""

FACTS: Final = ("superseded_by", "supersedes", "reinstates", "consolidates", "became")
"""The members of lines and of evidence that name facts: an id or a list of ids."""


def of_change(evidence: Mapping[str, Any]) -> Iterator[str]:
    """Yield why something was changed."""
    if lines := numbers_in(evidence, "reverts"):
        yield f"it takes back {'line' if len(lines) == 1 else 'lines'} {listed(lines)}"
    if accepted := number_in(evidence, "proposal"):
        yield f"proposal {accepted} was accepted"
    if summed := numbers_in(evidence, "consolidates"):
        yield f"one text replaces {len(summed)} facts"
    if "rebuild" in evidence:
        yield "a rebuild derived the facts again"
    elif number_in(evidence, "reinstates"):
        yield "a superseded fact was brought back"
    if evidence.get("outranked") is True:
        yield "what speaks against it counts less"
    if evidence.get("wanted") == "DELETE":
        yield "a model wanted to delete it"


def of_support(support: SupportRow) -> str:
    """Return what spoke for a fact: "confirmed in episode 3 by user through mcp, in line 7"."""
    of = f" in episode {support.episode_id}" if support.episode_id is not None else ""
    if not of and support.cited:
        of = f", from {support.cited},"
    return (
        f"{support.kind}{of} by {support.actor} through {support.through}, in line {support.line}"
    )


def facts_in(evidence: Mapping[str, Any] | None) -> list[int]:
    """Return the facts that evidence names."""
    part = evidence or {}
    single = (number_in(part, name) for name in FACTS)
    several = (one for name in FACTS for one in numbers_in(part, name))
    return sorted({*filter(None, single), *several})


def listed(ids: Sequence[int]) -> str:
    """Return the first ids, and how many more there are."""
    named = ", ".join(map(str, ids[:SHOWN]))
    return named if len(ids) <= SHOWN else f"{named} and {len(ids) - SHOWN} more"


def number_in(part: Mapping[str, Any] | None, name: str) -> int | None:
    value = (part or {}).get(name)
    return value if type(value) is int else None


def numbers_in(part: Mapping[str, Any], name: str) -> list[int]:
    value = part.get(name)
    return [one for one in value if type(one) is int] if isinstance(value, list) else []
