"""Resources: parts of the memory that a person or a host can attach to a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from memstore import settings
from memstore.faces.mcp.answers import NOTE, Answer, noted, of_list, seen
from memstore.faces.mcp.offers import followable
from memstore.store import answers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.store.store import Store

STARTUP: Final = "memory://startup"
SUBJECT: Final = "memory://subject/"

NEWEST: Final = 20
"""Facts of one resource."""


def read(
    store: Store, uri: str, shown: Mapping[str, str | None], owners: Mapping[str, str]
) -> Answer | str | None:
    """Return the content of a resource; ``None`` if there is no such resource."""
    store = store.of(**owners)
    if uri == STARTUP:
        told = store.briefing(traces=settings.keeps_traces())
        if told.text:
            return f"{NOTE}\n{told}"
        nothing = answers.of_nothing(store, to_model=True)
        return str(noted({}, nothing).get("hint", "there is nothing to begin with"))
    subject = unquote(uri.removeprefix(SUBJECT))
    if not (uri.startswith(SUBJECT) and subject.strip()):
        return None
    answer: Answer = followable(seen(_newest(store, subject)), shown)
    return answer


def subjects(store: Store, beginning: str, limit: int, owners: Mapping[str, str]) -> list[str]:
    return [one.name for one in store.of(**owners).subjects(beginning, limit=limit)]


def _newest(store: Store, subject: str) -> dict[str, Any]:
    facts = store.list(subject=subject, limit=NEWEST, newest_first=True)
    return of_list(facts, store.count(subject=subject), 0)
