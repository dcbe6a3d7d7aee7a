"""Tasks: facts with the subject ``todo`` and a status."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from memstore.database.filters import FactFilter
from memstore.database.tables import facts as fact_table
from memstore.database.tables.facts import Said
from memstore.domain import clock, zones
from memstore.domain.arguments import MAX_NAME, checked_choice, checked_limit, checked_text
from memstore.domain.metadata import MetadataFilter
from memstore.domain.records import TODO, Fact, NewFact
from memstore.domain.tasks import OPEN_STATUSES, Task, TaskScope, TaskStatus
from memstore.errors import Conflict, NotFound, Remedy
from memstore.facts.rules import way_out
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from memstore.database.engine import Engine
    from memstore.facts import due as dues
    from memstore.facts.transactions import FactTransactions
else:
    dues = lazy_import("memstore.facts.due")

PRIORITIES: Final = ("high", "normal", "low")

STATUSES: Final = tuple(map(str, TaskStatus))

SURFACE_STARTUP: Final = "startup"
"""The ``surface`` of open tasks, which agents are shown when they start."""

TASK_KEYS: Final = ("kind", "scope", "status", "priority", "surface", "due", "due_on")
"""Metadata keys of tasks that only :class:`Tasks` writes."""

SCOPE_ALIASES: Final[Mapping[str, TaskScope]] = {
    "matthew": TaskScope.USER,
    "claude": TaskScope.AGENT,
}
"""The original memstore's names, which are accepted as arguments and in stored tasks."""

NEVER: Final = datetime.max.replace(tzinfo=UTC)
AT_ONCE: Final = datetime.min.replace(tzinfo=UTC)


class Tasks(zones.Zoned):
    """The tasks of one namespace."""

    def __init__(self, engine: Engine, facts: FactTransactions, source: str) -> None:
        self._engine = engine
        self._facts = facts
        self._source = source

    def create(
        self,
        content: str,
        *,
        scope: str = TaskScope.USER,
        priority: str = "normal",
        project: str | None = None,
        due: str | None = None,
    ) -> Task:
        """Store a new task.

        Args:
            content: what to do.
            scope: who does it: ``user``, ``agent`` or ``collaborative``.
            priority: ``high``, ``normal`` or ``low``.
            project: groups tasks.
            due: when it is due, as free text. The day that it names is kept beside it
                (``due_on``): "by 2026-11-30", "30 November", "tomorrow", "end of month", in ten
                languages. A day is one of the user's clock.

        Raises:
            ValueError: a value that is not one of these; the message lists them.
        """
        metadata: dict[str, Any] = {
            "kind": "task",
            "scope": _scope(scope),
            "status": str(TaskStatus.PENDING),
            "priority": checked_choice(priority, PRIORITIES, "priority"),
            "surface": SURFACE_STARTUP,
        }
        if project is not None:
            metadata["project"] = checked_text(project, "project", MAX_NAME).strip()
        if due is not None:
            metadata["due"] = checked_text(due, "due", MAX_NAME)
            if (on := dues.written(dues.due_on(due, clock.utc_now()))) is not None:
                metadata["due_on"] = on
        new = NewFact(
            content=content,
            subject=TODO,
            metadata=metadata,
            source=self._source,
        )
        return as_task(self._facts.add_many([new])[0])

    def update(self, task_id: int, status: str, *, note: str | None = None) -> Task:
        """Set the status of a task; all changes of status are allowed.

        Closed tasks are no longer shown when an agent starts; reopened ones are shown again.

        Args:
            task_id: the task's id.
            status: ``pending``, ``in_progress``, ``completed`` or ``cancelled``.
            note: the reason; stored with the task.

        Raises:
            NotFound: no such task.
            Conflict: the task is superseded or deleted.
        """
        wanted = checked_choice(status, TaskStatus, "status")
        patch: dict[str, Any] = {
            "status": wanted,
            "surface": SURFACE_STARTUP if wanted in OPEN_STATUSES else None,
        }
        if note is not None:
            patch["note"] = checked_text(note, "note", MAX_NAME)

        def check(fact: Fact, patch: Mapping[str, Any]) -> Mapping[str, Any]:
            as_task(fact)
            if fact.status != "active":
                raise Conflict(
                    f"task {task_id} is {fact.status}; only active tasks can change their status",
                    remedy=way_out(fact),
                )
            return patch

        return as_task(self._facts.update_metadata(task_id, patch, check))

    def list(
        self,
        *,
        scope: str | None = None,
        status: str | None = None,
        project: str | None = None,
        surface: str | None = None,
        limit: int | None = None,
    ) -> list[Task]:
        """Return tasks, most urgent first: by priority, then due date, then age.

        What is due "as soon as possible" comes before what is due on a day.

        Args:
            scope: only tasks for ``user``, ``agent`` or ``collaborative``.
            status: only tasks with this status; ``None`` for open ones, ``"all"`` for all.
            project: only tasks of this project.
            surface: ``"startup"`` for tasks that an agent is shown when it starts.
            limit: the maximum number.
        """
        checked_limit(limit)
        conditions = [MetadataFilter("kind", "=", "task")]
        if project is not None:
            conditions.append(MetadataFilter("project", "=", project))
        if surface is not None:
            checked_choice(surface, (SURFACE_STARTUP,), "surface")
            conditions.append(MetadataFilter("surface", "=", surface))
        statuses = _statuses(status)
        conditions += [
            MetadataFilter("status", "!=", other, include_missing=True)
            for other in TaskStatus
            if other not in statuses
        ]
        doer = None if scope is None else _scope(scope)
        filter_ = FactFilter(
            self._facts.namespaces,
            clock.utc_now(),
            subject=TODO,
            metadata=tuple(conditions),
            scope=self._facts.standing.selected,
        )
        with self._engine.read() as transaction:
            said = fact_table.said(transaction, filter_)
        found = [
            one
            for one in said
            if _status(one.metadata) in statuses and doer in (None, _doer(one.metadata))
        ]
        return [_task(one) for one in sorted(found, key=_urgency)[:limit]]


def as_task(fact: Fact) -> Task:
    if not fact_table.is_task(fact.subject, fact.metadata):
        raise NotFound(f"fact {fact.id} is not a task", remedy=Remedy.FIND_ID)
    return _task(Said(fact.id, fact.content, fact.metadata, fact.created_at))


def _task(said: Said) -> Task:
    data = said.metadata
    written, due_on = _due(said)
    return Task(
        id=said.id,
        content=said.content,
        scope=_doer(data),
        status=_status(data),
        priority=_priority(data),
        project=_text(data.get("project")),
        due=written,
        due_on=None if due_on is None else dues.written(due_on),
        due_at=None if due_on is None else dues.moment_of(due_on),
        surface=_text(data.get("surface")),
        note=_text(data.get("note")),
        created_at=said.created_at,
    )


def _status(data: Mapping[str, Any]) -> str:
    status = str(data.get("status", TaskStatus.PENDING))
    return status if status in STATUSES else TaskStatus.PENDING


def _doer(data: Mapping[str, Any]) -> str:
    scope = str(data.get("scope", TaskScope.USER))
    return SCOPE_ALIASES.get(scope, scope)


def _priority(data: Mapping[str, Any]) -> str:
    return str(data.get("priority", "normal"))


def _due(said: Said) -> tuple[str | None, date | datetime | None]:
    """Return when a task is due: as it was written, and what that means."""
    written = _text(said.metadata.get("due"))
    return written, _due_on(written, _text(said.metadata.get("due_on")), said.created_at)


def _due_on(due: str | None, known: str | None, created_at: datetime) -> date | datetime | None:
    """Return when a task is due; what was stored without a day is counted from its creation."""
    if not due:
        return None
    return (dues.read(known) if known else None) or dues.due_on(due, created_at)


def refuse_task_keys(fact: Fact, patch: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse a metadata patch that changes a task's own keys or makes a fact a task."""
    if fact_table.is_task(fact.subject, fact.metadata):
        for key in TASK_KEYS:
            if key in patch:
                raise Conflict(
                    f"fact {fact.id} is a task, and its {key} cannot be changed as metadata",
                    remedy=Remedy.UPDATE_TASK,
                )
    elif fact_table.is_task(fact.subject, patch):
        raise Conflict(
            f"fact {fact.id} is not a task, and metadata cannot make it one",
            remedy=Remedy.CREATE_TASK,
        )
    return patch


def _text(value: object) -> str | None:
    """Return a metadata value as text; other programs may have stored other types."""
    return None if value is None else str(value)


def _urgency(said: Said) -> tuple[int, datetime, datetime]:
    priority = _priority(said.metadata)
    rank = PRIORITIES.index(priority) if priority in PRIORITIES else len(PRIORITIES)
    written, due_on = _due(said)
    due_at = None if due_on is None else dues.moment_of(due_on)
    if due_at is None:
        due_at = AT_ONCE if written and dues.is_at_once(written) else NEVER
    return rank, due_at, said.created_at


def _scope(name: str) -> str:
    folded = name.strip().casefold() if isinstance(name, str) else name
    if isinstance(folded, str) and folded in SCOPE_ALIASES:
        return str(SCOPE_ALIASES[folded])
    return checked_choice(folded if folded in tuple(TaskScope) else name, TaskScope, "scope")


def _statuses(status: str | None) -> tuple[str, ...]:
    if status is None:
        return OPEN_STATUSES
    if status == "all":
        return tuple(TaskStatus)
    return (checked_choice(status, TaskStatus, "status"),)
