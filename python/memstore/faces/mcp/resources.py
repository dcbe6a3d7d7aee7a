"""Resources: parts of the memory that a person or a host can attach to a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from memstore.domain.records import Scope
from memstore.faces.mcp.answers import Answer, of_list, of_tasks, seen
from memstore.faces.mcp.offers import followable
from memstore.facts.tasks import SURFACE_STARTUP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memstore.store.store import Store

STARTUP: Final = "memory://startup"
SUBJECT: Final = "memory://subject/"

NEWEST: Final = 20
"""Facts of one resource."""


def read(
    store: Store, uri: str, shown: Mapping[str, str | None], owners: Mapping[str, str]
) -> Answer | None:
    """Return the content of a resource; ``None`` if there is no such resource."""
    subject = unquote(uri.removeprefix(SUBJECT))
    if uri != STARTUP and not (uri.startswith(SUBJECT) and subject.strip()):
        return None
    owner = Scope(**owners)
    made = _startup(store, owner) if uri == STARTUP else _newest(store, owner, subject)
    answer: Answer = followable(seen(made), shown)
    return answer


def subjects(store: Store, beginning: str, limit: int, owners: Mapping[str, str]) -> list[str]:
    return store.facts.subjects(beginning, Scope(**owners), limit)


def uri_of(subject: str) -> str:
    return SUBJECT + quote(subject, safe="")


def _startup(store: Store, owner: Scope) -> Answer:
    tasks = of_tasks(store.tasks.list(surface=SURFACE_STARTUP, owners=owner))
    return tasks | {"facts": _newest(store, owner)["facts"]}


def _newest(store: Store, owner: Scope, subject: str | None = None) -> dict[str, Any]:
    wanted: dict[str, Any] = {"subject": subject, "scope": owner}
    facts = store.list(**wanted, limit=NEWEST, newest_first=True)
    return of_list(facts, store.count(**wanted), 0)
