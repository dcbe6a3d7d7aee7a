"""Tasks: facts with the subject ``todo``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from memstore.domain.records import Record

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Record):
    """Something to be done: a fact with the subject ``todo``, read as a task."""

    id: int
    content: str
    scope: str
    status: str
    priority: str = "normal"
    project: str | None = None
    due: str | None = None
    """When, in the words that were given."""
    due_at: datetime | None = None
    """The time those words name; ``None`` where they name none."""
    surface: str | None = None
    note: str | None = None
    created_at: datetime
