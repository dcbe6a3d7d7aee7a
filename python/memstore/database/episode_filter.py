"""Which episodes may be seen: the WHERE clauses, each condition bound and never spliced in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memstore.domain import clock
from memstore.domain.records import Scope

if TYPE_CHECKING:
    from datetime import datetime

    from memstore.database.engine import Value

SEEN = "memstore_episodes e INDEXED BY idx_memstore_episode_seen"
"""What to ask with :meth:`EpisodeFilter.where`, unless ids or words lead to the rows. The index
holds all columns of the condition but tags; the planner, left alone, would rather read the rows."""

BOUNDS = (
    ("created_after", "e.created_at > ?"),
    ("created_before", "e.created_at < ?"),
    ("valid_after", "coalesce(e.valid_at, e.created_at) > ?"),
    ("valid_before", "coalesce(e.valid_at, e.created_at) < ?"),
)


AMONG_TAGGED = "e.id IN (SELECT episode_id FROM memstore_episode_tags WHERE tag = ?)"
TAGGED = "EXISTS (SELECT 1 FROM memstore_episode_tags WHERE tag = ? AND episode_id = e.id)"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeFilter:
    """Which episodes a question is about. Erased ones are never among them."""

    namespaces: tuple[str, ...] | None
    """``None`` means all of them, and is said only by who asks for that."""
    now: datetime
    tags: tuple[str, ...] = ()
    """An episode has all of these."""
    source: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    valid_after: datetime | None = None
    valid_before: datetime | None = None
    """The bounds themselves are outside. What has no ``valid_at`` was valid when created."""
    include_expired: bool = False
    scope: Scope | None = None
    """Only what has just these owners, and where one is not set, none; ``None`` asks for no
    owner at all."""

    def __post_init__(self) -> None:
        if not isinstance(self.scope, Scope | None):
            raise TypeError(f"scope must be a Scope, not {type(self.scope).__name__}")
        for kind in ("created", "valid"):
            after, before = getattr(self, f"{kind}_after"), getattr(self, f"{kind}_before")
            if after is not None and before is not None and after >= before:
                raise ValueError(
                    f"{kind}_after ({clock.to_text(after)}) is not earlier than {kind}_before "
                    f"({clock.to_text(before)}): nothing lies between"
                )

    @property
    def is_plain(self) -> bool:
        """Whether namespace and expiry alone decide, so that no id set is needed."""
        bounded = any(getattr(self, name) is not None for name, _ in BOUNDS)
        return not (self.tags or self.source or bounded or self.scope is not None)

    def where(self, *, by_id: bool = False) -> tuple[str, list[Value]]:
        """Return the condition on ``memstore_episodes e``, and its parameters.

        Args:
            by_id: a few rows are looked up, so do not gather all that have a tag first.
        """
        clauses = ["e.content_hash <> ''"]
        values: list[Value] = []

        def also(clause: str, *parameters: Value) -> None:
            clauses.append(clause)
            values.extend(parameters)

        if self.namespaces is not None:
            marks = ", ".join("?" * len(self.namespaces))
            also(
                f"e.namespace IN ({marks})" if len(self.namespaces) > 1 else "e.namespace = ?",
                *self.namespaces,
            )
        if not self.include_expired:
            also("(e.expired_at IS NULL OR e.expired_at > ?)", clock.to_text(self.now))
        for tag in self.tags:
            also(TAGGED if by_id else AMONG_TAGGED, tag)
        if self.source is not None:
            also("e.source = ?", self.source)
        for name, clause in BOUNDS:
            if (bound := getattr(self, name)) is not None:
                also(clause, clock.to_text(bound))
        if self.scope is not None:
            for name, owner in self.scope.ids.items():
                if owner is None:
                    also(f"e.{name} IS NULL")
                else:
                    also(f"e.{name} = ?", owner)
        return " AND ".join(clauses), values
