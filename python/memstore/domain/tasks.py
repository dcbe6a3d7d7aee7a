"""Tasks: facts with the subject ``todo``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from memstore.domain.records import Record
from memstore.frozen import frozen

if TYPE_CHECKING:
    from datetime import datetime


class TaskScope(StrEnum):
    """Who owns a task."""

    USER = "user"
    AGENT = "agent"
    COLLABORATIVE = "collaborative"


class TaskStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


OPEN_STATUSES = (TaskStatus.PENDING, TaskStatus.IN_PROGRESS)


@frozen(kw_only=True)
class Task(Record):
    """Something to be done: a fact with the subject ``todo``, read as a task."""

    id: int
    content: str
    scope: str
    status: str
    priority: str = "normal"
    project: str | None = None
    due: str | None = None
    """The due date as the caller wrote it."""
    due_at: datetime | None = None
    """When it is due; ``None`` if the text names no day. Days such as "tomorrow" are counted from
    the task's creation, in UTC."""
    surface: str | None = None
    note: str | None = None
    created_at: datetime
