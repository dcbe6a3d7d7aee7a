"""Who may be seen: the WHERE clauses over facts, each condition bound and never spliced in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memstore.domain import clock
from memstore.domain.arguments import MAX_NUMBER, checked_text
from memstore.domain.records import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from memstore.database.engine import Value
    from memstore.domain.metadata import MetadataFilter, Scalar


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts a question is about. Erased facts are never among them."""

    namespaces: tuple[str, ...] | None
    """``None`` means all of them, and is said only by who asks for that."""
    now: datetime
    subject: str | None = None
    category: str | None = None
    content: str | None = None
    metadata: Sequence[MetadataFilter] = ()
    active_only: bool = True
    include_deleted: bool = False
    scope: Scope | None = None
    """Only what has just these owners, and where one is not set, none; ``None`` asks for no
    owner at all."""

    def __post_init__(self) -> None:
        for name in ("subject", "category", "content"):
            given = getattr(self, name)
            if given is not None:
                checked_text(given, name, MAX_NUMBER)
        if not isinstance(self.scope, Scope | None):
            raise TypeError(f"scope must be a Scope, not {type(self.scope).__name__}")

    @property
    def is_plain(self) -> bool:
        """Whether namespace and standing alone decide, so that no id set is needed."""
        return not (
            self.subject or self.category or self.content or self.metadata or self.scope is not None
        )

    def where(self) -> tuple[str, list[Value]]:
        """Return the condition on ``memstore_facts f``, and its parameters."""
        clauses: list[str] = []
        values: list[Value] = []

        def also(clause: str, *parameters: Value) -> None:
            clauses.append(clause)
            values.extend(parameters)

        if self.namespaces is not None:
            marks = ", ".join("?" * len(self.namespaces))
            also(
                f"f.namespace IN ({marks})" if len(self.namespaces) > 1 else "f.namespace = ?",
                *self.namespaces,
            )
        if self.include_deleted:
            also("f.content <> ''")
        else:
            also("f.deleted_at IS NULL")
        if self.active_only:
            also("f.superseded_by IS NULL")
            also("(f.expired_at IS NULL OR f.expired_at > ?)", clock.to_text(self.now))
        if self.subject is not None:
            also("f.subject = ?", self.subject.strip())
        if self.content is not None:
            also("f.content = ?", self.content)
        if self.category is not None:
            also("f.category = ?", self.category.strip())
        if self.scope is not None:
            for name, owner in self.scope.ids.items():
                if owner is None:
                    also(f"f.{name} IS NULL")
                else:
                    also(f"f.{name} = ?", owner)
        for condition in self.metadata:
            clause, parameters = metadata_clause(condition)
            also(clause, *parameters)
        return " AND ".join(clauses), values


def metadata_clause(condition: MetadataFilter) -> tuple[str, list[Value]]:
    """Write one metadata filter as SQL; the key is a parameter too, so any key is safe."""
    values: list[Value] = [condition.key]
    if condition.value is None:
        clause = ("" if condition.op == "!=" else "NOT ") + _has_key("j.type <> 'null'")
    else:
        types, value = _json_types(condition.value)
        marks = ", ".join("?" * len(types))
        same = f"j.type IN ({marks}) AND j.atom {'=' if condition.op == '!=' else condition.op} ?"
        clause = _has_key(f"NOT ({same})" if condition.op == "!=" else same)
        values += [*types, value]
    if condition.include_missing:
        clause = f"({clause} OR NOT {_has_key('TRUE')})"
        values.append(condition.key)
    return clause, values


def _has_key(test: str) -> str:
    # A row of another program may hold anything: what is no JSON has no keys.
    keys = "json_each(iif(json_valid(f.metadata), f.metadata, '{}')) AS j"
    return f"EXISTS (SELECT 1 FROM {keys} WHERE j.key = ? AND {test})"


def _json_types(value: Scalar) -> tuple[tuple[str, ...], Value]:
    if isinstance(value, bool):
        return ("true", "false"), int(value)
    if isinstance(value, str):
        return ("text",), value
    return ("integer", "real"), value
