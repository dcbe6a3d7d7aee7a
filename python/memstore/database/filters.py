"""Filters of facts and episodes as WHERE clauses; every value is a bound parameter."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ClassVar, Final

from memstore.domain import clock
from memstore.domain.arguments import MAX_CONTENT, MAX_QUERY, checked_text
from memstore.domain.metadata import MetadataFilter, Not
from memstore.domain.records import NOBODY, TODO, Scope
from memstore.errors import InvalidArgument
from memstore.frozen import field, frozen, replace
from memstore.text.folding import claim_hash, subject_key

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from memstore.database.dialect import Dialect
    from memstore.database.engine import Parameters, Value
    from memstore.domain.metadata import Condition, Scalar
    from memstore.domain.records import AtLeast

SEEN_INDEX: Final = "idx_memstore_episode_seen"
"""Covers every column of :meth:`EpisodeFilter.where` except tags, the thread, the speaker and the
metadata. A query that does not start from ids or words names it in a hint, because SQLite's planner
would prefer to read the rows."""

THREAD_INDEX: Final = "idx_memstore_episode_thread"
"""The episodes of a thread, in order."""

BEGAN: Final = "coalesce({0}.valid_at, {0}.created_at)"

BOUNDS: Final = (
    ("created_after", "{0}.created_at > :created_after"),
    ("created_before", "{0}.created_at < :created_before"),
    ("valid_after", f"{BEGAN} > :valid_after"),
    ("valid_before", f"{BEGAN} < :valid_before"),
)

EXPIRY_BOUNDS: Final = (
    ("expired_after", "{0}.expired_at > :expired_after"),
    ("expired_before", "{0}.expired_at < :expired_before"),
)

REPLACED: Final = f"(SELECT {BEGAN.format('n')} FROM memstore_facts n WHERE n.id = f.superseded_by)"
"""Since when the fact that supersedes ``f`` is valid; NULL if none does."""

HOLDS_UNTIL: Final = (
    "CASE WHEN f.superseded_by IS NULL THEN f.expired_at"
    f" WHEN f.expired_at < {REPLACED} THEN f.expired_at ELSE {REPLACED} END"
)

VALID_IN: Final = (
    f"{BEGAN.format('f')} < :valid_to AND CASE WHEN f.superseded_by IS NULL"
    " THEN f.expired_at IS NULL OR f.expired_at > :valid_from"
    f" ELSE {HOLDS_UNTIL} > :valid_from AND {HOLDS_UNTIL} > {BEGAN.format('f')} END"
)
"""See :attr:`FactFilter.valid_on`. A fact whose successor is valid since the same time never
held."""

SUPERSEDED_BUT_VALID: Final = (
    f"{BEGAN.format('f')} < :valid_to AND {BEGAN.format('n')} > :valid_from"
    f" AND {BEGAN.format('n')} > {BEGAN.format('f')} AND (f.expired_at IS NULL"
    f" OR f.expired_at > :valid_from AND f.expired_at > {BEGAN.format('f')})"
)
"""Like :data:`VALID_IN`, for a fact ``f`` joined with its successor ``n``."""

DISTRUSTED: Final = "(SELECT fact_id FROM memstore_distrusted)"
CURRENT: Final = "f.deleted_at IS NULL AND f.superseded_by IS NULL"
UNEXPIRED: Final = "(f.expired_at IS NULL OR f.expired_at > :now)"

IN_STATE: Final = {
    "deleted": "f.deleted_at IS NOT NULL AND f.content <> ''",
    "superseded": "f.deleted_at IS NULL AND f.superseded_by IS NOT NULL",
    "expired": f"{CURRENT} AND f.expired_at <= :now",
    "distrusted": f"{CURRENT} AND {UNEXPIRED} AND f.id IN {DISTRUSTED}",
    "active": f"{CURRENT} AND {UNEXPIRED} AND f.id NOT IN {DISTRUSTED}",
}
"""When :attr:`memstore.Fact.status` is which. Only rows with a tombstone are read for their text,
which no index has: others are not erased."""

AMONG_TAGGED: Final = "e.id IN (SELECT episode_id FROM memstore_episode_tags WHERE tag = :{})"
TAGGED: Final = "EXISTS (SELECT 1 FROM memstore_episode_tags WHERE tag = :{} AND episode_id = e.id)"


def after_prefix(prefix: str) -> str | None:
    """Return the first text after all that have a prefix; ``None`` if there is none."""
    for end in range(len(prefix), 0, -1):
        following = ord(prefix[end - 1]) + 1
        if following <= sys.maxunicode:
            # No text has half of a character.
            following = 0xE000 if 0xD800 <= following < 0xE000 else following
            return prefix[: end - 1] + chr(following)
    return None


class Conditions:
    """Clauses joined by AND, and their parameters."""

    def __init__(self, alias: str) -> None:
        self._alias = alias
        self._clauses: list[str] = []
        self._values: dict[str, Value | Sequence[str] | Sequence[int]] = {}

    def add(self, clause: str, **values: Value | Sequence[str] | Sequence[int]) -> None:
        self._clauses.append(clause)
        self._values.update(values)

    def add_equal(self, column: str, value: Value) -> None:
        if value is None:
            self.add(f"{self._alias}.{column} IS NULL")
        else:
            self.add(f"{self._alias}.{column} = :{column}", **{column: value})

    def add_prefix(self, column: str, prefix: str) -> None:
        """Add the condition that a column is set and begins with a text."""
        name = f"{self._alias}.{column}"
        self.add(f"{name} >= :{column}_from", **{f"{column}_from": prefix})
        if (beyond := after_prefix(prefix)) is not None:
            self.add(f"{name} < :{column}_to", **{f"{column}_to": beyond})

    def add_bounds(self, bounds: Sequence[tuple[str, str]], wanted: object) -> None:
        for name, clause in bounds:
            if (bound := getattr(wanted, name)) is not None:
                self.add(clause.format(self._alias), **{name: clock.to_text(bound)})

    def add_unexpired(self, now: datetime) -> None:
        column = f"{self._alias}.expired_at"
        self.add(f"({column} IS NULL OR {column} > :now)", now=clock.to_text(now))

    @property
    def sql(self) -> tuple[str, Parameters]:
        return " AND ".join(self._clauses) or "TRUE", self._values


@frozen
class Filter:
    """The conditions that filters of facts and of episodes share. Erased rows never pass."""

    KINDS: ClassVar[tuple[str, ...]] = ("created", "valid")
    """The times that are bounded."""

    namespaces: tuple[str, ...] | None
    """``None`` means all of them."""
    now: datetime
    scope: Scope | AtLeast | None = field(default=None, kw_only=True)
    """Only rows of exactly, or of at least, these owners; ``None`` means any owners."""
    created_after: datetime | None = field(default=None, kw_only=True)
    created_before: datetime | None = field(default=None, kw_only=True)
    valid_after: datetime | None = field(default=None, kw_only=True)
    valid_before: datetime | None = field(default=None, kw_only=True)
    """All four bounds are exclusive. A missing ``valid_at`` counts as ``created_at``."""
    among: Collection[int] | None = field(default=None, kw_only=True)
    """Only these rows; ``None`` means any."""
    include_distrusted: bool = field(default=False, kw_only=True)
    """Whether what rests on distrusted sources alone passes."""
    given: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    """The times that a caller gave as texts, by name: a day is asked for by bounds around it."""

    def __post_init__(self) -> None:
        for kind in self.KINDS:
            after, before = self.period(kind)
            if after is not None and before is not None and after >= before:
                raise InvalidArgument(
                    f"({self.said(f'{kind}_after') or clock.to_text(after)}) is not earlier than "
                    f"the end of the period ({self.said(f'{kind}_before') or clock.to_text(before)}"
                    "): nothing lies between",
                    argument=f"{kind}_after",
                )

    def said(self, name: str) -> str | None:
        """Return a time as a caller gave it; ``None`` if it was no text."""
        return dict(self.given).get(name)

    def period(self, kind: str) -> tuple[datetime | None, datetime | None]:
        """Return the bounds of one of :attr:`KINDS`."""
        return getattr(self, f"{kind}_after"), getattr(self, f"{kind}_before")

    @property
    def is_bounded(self) -> bool:
        return any(getattr(self, name) is not None for name, _ in BOUNDS)

    @property
    def is_among(self) -> bool:
        """Whether it selects among rows that are named by their ids."""
        return self.among is not None

    def of(self, alias: str, dialect: Dialect) -> tuple[str, Parameters]:
        """Return the condition on namespace and owners only."""
        return self._conditions(alias, dialect).sql

    @property
    def is_exact(self) -> bool:
        """Whether it selects rows of one set of owners."""
        return isinstance(self.scope, Scope)

    @property
    def is_common(self) -> bool:
        """Whether it selects all owners' rows or only rows without owners; no id set is needed."""
        return self.scope is None or self.scope == NOBODY

    def _conditions(self, alias: str, dialect: Dialect) -> Conditions:
        conditions = Conditions(alias)
        if self.namespaces is not None and len(self.namespaces) == 1:
            conditions.add_equal("namespace", self.namespaces[0])
        elif self.namespaces is not None:
            conditions.add(
                f"{alias}.namespace IN {dialect.listed('namespaces')}", namespaces=self.namespaces
            )
        if self.scope is not None:
            for name, owner in self.scope.ids.items():
                conditions.add_equal(name, owner)
        if self.among is not None:
            conditions.add(f"{alias}.id IN {dialect.listed('among')}", among=[*self.among])
        return conditions


@frozen
class FactFilter(Filter):
    subject: str | None = None
    category: str | None = None
    content: str | None = None
    metadata: Sequence[Condition] = ()
    active_only: bool = True
    include_deleted: bool = False
    include_superseded: bool = False
    """Whether ``active_only`` lets superseded facts through that have not expired."""
    tasks: bool = True
    """``False`` leaves tasks out."""
    pinned: bool = False
    """Only pinned facts."""
    states: tuple[str, ...] | None = None
    """Only facts whose status is one of these, whatever ``active_only``, ``include_deleted`` and
    ``include_distrusted`` say; ``None`` leaves it to them."""
    source: str | None = None
    thread: str | None = None
    external_key_prefix: str | None = None
    """Only facts whose external key begins like this."""
    searched: bool = False
    """Only facts that a search may find. Those without words and vector it does not meet anyway."""
    episode_id: int | None = None
    """Only facts extracted from this episode."""
    valid_on: tuple[datetime, datetime] | None = None
    """Only facts that held at some time between these, the first included: from when a fact is
    valid until it expires or the fact that supersedes it is valid. Then superseded and expired
    facts pass, whatever ``active_only`` is."""

    def __post_init__(self) -> None:
        Filter.__post_init__(self)
        # Files of other programs may hold names longer than MAX_NAME.
        limits = dict.fromkeys(("subject", "category", "source", "thread"), MAX_QUERY)
        limits["content"] = MAX_CONTENT
        for name, limit in limits.items():
            if (text := getattr(self, name)) is not None:
                checked_text(text, name, limit)

    @property
    def is_plain(self) -> bool:
        """Whether it filters by nothing but namespace, state, tasks and having an owner at all."""
        narrowed = self.subject or self.category or self.metadata or self.is_keyed
        timed = self.is_bounded or self.valid_on
        return self.is_common and not (narrowed or self.needs_rows or timed or self.is_among)

    @property
    def is_superseded(self) -> bool:
        """Whether superseded facts pass it, and all of its namespaces, whose owners are common."""
        states = self.states == ("superseded",)
        return states and self.tasks and replace(self, states=None, active_only=False).is_plain

    @property
    def needs_rows(self) -> bool:
        """Whether it tests what is only in the rows of facts, not in the columns of the index."""
        by_row = (
            self.content,
            self.source,
            self.thread,
            self.episode_id,
            self.states,
        )
        return self.pinned or any(value is not None for value in by_row)

    @property
    def is_keyed(self) -> bool:
        """Whether it selects by external keys."""
        return self.external_key_prefix is not None

    @property
    def is_counted(self) -> bool:
        """Whether the counts that triggers keep say how many facts pass it."""
        narrowed = self.metadata or self.is_keyed or self.needs_rows or self.is_among
        both = self.subject is not None and self.category is not None
        states = self.include_deleted or self.include_superseded
        kept = self.active_only and self.tasks and not states
        return kept and not (narrowed or both or self.is_bounded or self.valid_on)

    def where(self, dialect: Dialect, *, by_id: bool = False) -> tuple[str, Parameters]:
        """Return the condition on ``memstore_facts f``, and its parameters.

        With ``by_id``, for a few known rows, metadata is read from each row; otherwise the index
        ``memstore_fact_members`` finds the facts.
        """
        conditions = self._conditions("f", dialect)
        if self.valid_on is not None:
            start, stop = map(clock.to_text, self.valid_on)
            conditions.add(VALID_IN, valid_from=start, valid_to=stop)
        if self.states is not None:
            tests = " OR ".join(f"({IN_STATE[one]})" for one in self.states) or "FALSE"
            conditions.add(f"({tests})", now=clock.to_text(self.now))
        else:
            self._add_state(conditions)
        if self.subject is not None:
            key = subject_key(self.subject)
            conditions.add_equal("subject_key", key)
            if self.content is not None:
                conditions.add_equal("claim_hash", claim_hash(key, self.content))
        if self.content is not None:
            conditions.add_equal("content", self.content)
        if self.category is not None:
            conditions.add_equal("category_key", subject_key(self.category))
        if not self.tasks:
            conditions.add(f"({is_task(dialect)}) IS NOT TRUE")
        if self.pinned:
            conditions.add("f.pinned_at IS NOT NULL")
        for column in ("source", "thread", "episode_id"):
            if (value := getattr(self, column)) is not None:
                conditions.add_equal(column, value)
        if self.external_key_prefix is not None:
            conditions.add_prefix("external_key", self.external_key_prefix)
        if self.searched:
            conditions.add("f.unsearched IS NULL")
        conditions.add_bounds(BOUNDS, self)
        for place, condition in enumerate(self.metadata):
            clause, values = metadata_clause(dialect, condition, place, by_id=by_id)
            conditions.add(clause, **values)
        return conditions.sql

    def keyed(self, dialect: Dialect) -> tuple[str, Parameters]:
        """Return the condition on namespace, owners and external key only."""
        conditions = self._conditions("f", dialect)
        conditions.add_prefix("external_key", self.external_key_prefix or "")
        return conditions.sql

    def _add_state(self, conditions: Conditions) -> None:
        conditions.add("f.content <> ''" if self.include_deleted else "f.deleted_at IS NULL")
        if not self.include_distrusted:
            conditions.add("f.id NOT IN (SELECT fact_id FROM memstore_distrusted)")
        if self.active_only and self.valid_on is None:
            if not self.include_superseded:
                conditions.add("f.superseded_by IS NULL")
            conditions.add_unexpired(self.now)


@frozen(kw_only=True)
class EpisodeFilter(Filter):
    KINDS: ClassVar[tuple[str, ...]] = (*Filter.KINDS, "expired")

    tags: tuple[str, ...] = ()
    """The episode has all of these."""
    source: str | None = None
    expired_after: datetime | None = None
    expired_before: datetime | None = None
    """Either bound excludes episodes that never expire, and includes expired ones."""
    include_expired: bool = False
    thread: str | None = None
    speaker: str | None = None
    metadata: Sequence[Condition] = ()

    def __post_init__(self) -> None:
        if self.expired_after is not None or self.expired_before is not None:
            object.__setattr__(self, "include_expired", True)
        Filter.__post_init__(self)

    @property
    def is_plain(self) -> bool:
        """Whether it filters by nothing but namespace, expiry and having an owner at all."""
        expiry = self.expired_after or self.expired_before
        named = self.tags or self.source or self.thread is not None
        narrowed = named or self.is_bounded or self.is_among or self.needs_rows
        return self.is_common and not (narrowed or expiry)

    @property
    def needs_rows(self) -> bool:
        """Whether it tests what is only in the rows, not in the columns of the index."""
        return bool(self.metadata) or self.speaker is not None

    def where(self, dialect: Dialect, *, by_id: bool = False) -> tuple[str, Parameters]:
        """Return the condition on ``memstore_episodes e``, and its parameters.

        With ``by_id``, for a few known rows, tags are looked up for each row; otherwise the index
        of tags finds the episodes.
        """
        conditions = self._conditions("e", dialect)
        conditions.add("e.content_hash <> ''")
        if not self.include_distrusted:
            conditions.add("e.id NOT IN (SELECT episode_id FROM memstore_distrusted_episodes)")
        if not self.include_expired:
            conditions.add_unexpired(self.now)
        for place, tag in enumerate(self.tags):
            name = f"tag_{place}"
            conditions.add((TAGGED if by_id else AMONG_TAGGED).format(name), **{name: tag})
        for column in ("source", "thread", "speaker"):
            if (value := getattr(self, column)) is not None:
                conditions.add_equal(column, value)
        conditions.add_bounds((*BOUNDS, *EXPIRY_BOUNDS), self)
        for place, condition in enumerate(self.metadata):
            clause, values = read_clause(dialect, condition, f"{place}", "e.metadata")
            conditions.add(clause, **values)
        return conditions.sql


def is_task(dialect: Dialect) -> str:
    """Return the condition that ``memstore_facts f`` is a task."""
    kind = dialect.member("f.metadata", "'kind'")
    return f"f.subject_key = '{TODO}' AND {kind} = 'task'"


def metadata_clause(
    dialect: Dialect, condition: Condition, place: int, *, by_id: bool
) -> tuple[str, dict[str, Value]]:
    """Return one metadata filter as SQL; the key is a parameter too, so any key is safe.

    Its ``place`` among the filters makes the names of its parameters unique.
    """
    if not (isinstance(condition, MetadataFilter) and condition.is_indexed):
        return read_clause(dialect, condition, f"{place}")
    key, value = f"key_{place}", f"value_{place}"
    kind, compared = _typed(dialect, condition.value)
    values: dict[str, Value] = {key: dialect.json_text(condition.path[0]), value: compared}

    def has(kind: str = "", op: str = "") -> str:
        if by_id:
            return dialect.has_member("f.metadata", f":{key}", _read(kind, op, value))
        return f"f.id IN ({_having(dialect, kind, op, key, value)})"

    clause = has(kind, "!=" if condition.value is None else condition.op)
    if condition.value is None and condition.op != "!=":
        clause = f"NOT {clause}"
    if condition.include_missing:
        clause = f"({clause} OR NOT {has()})"
    return clause, values


def read_clause(
    dialect: Dialect, condition: Condition, place: str, column: str = "f.metadata"
) -> tuple[str, dict[str, Value]]:
    """Return any condition on metadata as SQL that reads the column of each row.

    The ``place`` makes the names of the parameters unique.
    """
    if not isinstance(condition, MetadataFilter):
        clause, values = _any_of(dialect, condition.filters, place, column)
        return (f"NOT {clause}" if isinstance(condition, Not) else clause), values
    keys = [f"key_{place}_{number}" for number in range(len(condition.path))]
    values = dict(zip(keys, map(dialect.json_text, condition.path), strict=True))

    def has(test: str = "TRUE") -> str:
        return dialect.at_path(column, [f":{key}" for key in keys], test)

    if condition.op == "in":
        clause, chosen = _any_of(dialect, condition.choices, place, column)
        values |= chosen
    else:
        value = f"value_{place}"
        kind, values[value] = _typed(dialect, condition.value)
        clause = has(_reading(dialect, condition, kind, value))
    if condition.value is None and condition.op == "=":
        clause = f"NOT {clause}"
    if condition.include_missing:
        clause = f"({clause} OR NOT {has()})"
    return clause, values


def _any_of(
    dialect: Dialect, conditions: Sequence[Condition], place: str, column: str
) -> tuple[str, dict[str, Value]]:
    clauses: list[str] = []
    values: dict[str, Value] = {}
    for number, one in enumerate(conditions):
        clause, its = read_clause(dialect, one, f"{place}_{number}", column)
        clauses.append(clause)
        values |= its
    return f"({' OR '.join(clauses) or 'FALSE'})", values


def _reading(dialect: Dialect, condition: MetadataFilter, kind: str, value: str) -> str:
    """Return the test on a member that :meth:`Dialect.at_path` reads."""
    if condition.op != "contains":
        return _read(kind, "!=" if condition.value is None else condition.op, value)
    if condition.value is None:
        return dialect.has_element("element.is_null")
    test = dialect.has_element(f"element.{kind} = :{value}")
    return f"({test} OR {dialect.contains('member.text', f':{value}')})" if kind == "text" else test


def having(dialect: Dialect, condition: MetadataFilter) -> tuple[str, dict[str, Value]]:
    """Return a query for the facts that have the key and whose value passes a filter.

    For ``= None`` it returns the complement: the facts that have a value.
    """
    kind, compared = _typed(dialect, condition.value)
    op = "!=" if condition.value is None else condition.op
    key = dialect.json_text(condition.path[0])
    return _having(dialect, kind, op, "key", "value"), {"key": key, "value": compared}


def having_key(dialect: Dialect, key: str) -> tuple[str, dict[str, Value]]:
    """Return a query for the facts that have a key, whatever its value."""
    return _having(dialect, "", "", "key", ""), {"key": dialect.json_text(key)}


def _having(dialect: Dialect, kind: str, op: str, key: str, value: str) -> str:
    query = f"SELECT fact_id FROM memstore_fact_members WHERE key = :{key}"
    return f"{query} AND {_filed(dialect, kind, op, value)}" if kind else query


def _read(kind: str, op: str, value: str) -> str:
    """Return a condition on a member that ``Dialect.has_member`` reads from the metadata."""
    if kind == "null":
        return "NOT member.is_null"
    if not kind:
        return "TRUE"
    return f"member.{kind} {'IS DISTINCT FROM' if op == '!=' else op} :{value}"


def _filed(dialect: Dialect, kind: str, op: str, value: str) -> str:
    """Return the same condition on a row of ``memstore_fact_members``."""
    if kind == "null":
        return "kind <> 'null'"
    if op == "!=":
        return f"NOT (kind = '{kind}' AND {dialect.filed(kind)} = :{value})"
    return f"kind = '{kind}' AND {dialect.filed(kind)} {op} :{value}"


def _typed(dialect: Dialect, value: Scalar) -> tuple[str, Value]:
    """Return the kind of a member with a value of this type, and the value to compare with."""
    if value is None:
        return "null", None
    if isinstance(value, bool):
        return "truth", int(value)
    if isinstance(value, str):
        return "text", dialect.json_text(value)
    return "number", value
