"""Tasks: facts with the subject ``todo``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from memstore.domain import zones
from memstore.domain.records import Record
from memstore.frozen import frozen
from memstore.lazy import lazy_pattern

if TYPE_CHECKING:
    from datetime import datetime


DATE_LENGTH: Final = len("2026-11-30")
STAMP: Final = lazy_pattern(r"\d{4}-\d\d-\d\d(?:[Tt ][\d:.]+(?:[Zz]|[+-]\d\d:\d\d)?)?")


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
class Task(zones.ZonedResult, Record):
    """Something to be done: a fact with the subject ``todo``, read as a task."""

    id: int
    content: str
    scope: str
    status: str
    priority: str = "normal"
    project: str | None = None
    due: str | None = None
    """The due date as the caller wrote it."""
    due_on: str | None = None
    """What that means, as ``2026-11-30`` or as a time in UTC; ``None`` if the text names no day.
    Days such as "tomorrow" are counted from the task's creation, by the user's clock."""
    due_at: datetime | None = None
    """When that is: on a day, its beginning by the user's clock."""
    surface: str | None = None
    note: str | None = None
    created_at: datetime

    @property
    @zones.of_its_zone
    def due_day(self) -> str | None:
        """When it is due by the user's clock: a day, or a time to the minute."""
        if self.due_at is None or self.due_on is None:
            return None
        return self.due_on if len(self.due_on) == DATE_LENGTH else zones.minute(self.due_at)

    @property
    def due_text(self) -> str | None:
        """When it is due, and the words for it: ``2026-11-30 (tomorrow)``."""
        day, said = self.due_day, self.due_said
        if day is None:
            return self.due
        return f"{day} ({said})" if said else day

    @property
    def due_said(self) -> str | None:
        """The words for when it is due, if they are more than a date."""
        if self.due_day is None or self.due is None or STAMP.fullmatch(self.due.strip()):
            return None
        return self.due

    @zones.of_its_zone
    def is_overdue(self, now: datetime) -> bool:
        """Whether the day or the moment at which it is due is over."""
        if self.due_at is None or self.due_on is None:
            return False
        if len(self.due_on) == DATE_LENGTH:
            return self.due_on < zones.day(now)
        return self.due_at < now
