"""The subjects of active facts: by name, by size, and by their last change."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from memstore.database import journal, line_filters
from memstore.database.tables import changed_facts, counts
from memstore.database.tables import facts as fact_table
from memstore.domain.status import Subject, SubjectOrder
from memstore.named import NamedTuple
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter


Changed: TypeAlias = "tuple[datetime | None, datetime | None]"
"""After and before when something changed; ``None`` for any time."""

FEW: Final = 500
"""If there are no more subjects than this, the last change of each is looked up."""


class _Counted(NamedTuple):
    key: str
    number: int
    """Its active facts."""
    line: int
    """Its last line in the journal."""


def subjects(
    transaction: Transaction,
    wanted: FactFilter,
    prefix: str,
    order: SubjectOrder,
    after: Subject | None,
    limit: int,
    changed: Changed = (None, None),
) -> list[Subject]:
    """Return subjects of active facts of these namespaces and owners.

    Args:
        prefix: how their keys begin.
        after: begin after this one, at the place that it had when it was returned.
        changed: only those that changed last between these times; read in the order of changes.
    """
    lines = _LastLines(transaction, wanted, *changed)
    if order == SubjectOrder.CHANGED:
        found = _changed(lines, prefix, after, limit)
    else:
        place = None if after is None else counts.SubjectPlace(subject_key(after.name), after.facts)
        sizes = counts.subjects(transaction, wanted, prefix, order, place, limit)
        found = [lines.counted(key, number) for key, number in sizes.items()]
    return [_subject(transaction, wanted, one) for one in found]


def _subject(transaction: Transaction, wanted: FactFilter, one: _Counted) -> Subject:
    newest, name = fact_table.newest_of(transaction, wanted, "subject", one.key, one.number)
    at = journal.time_of(transaction, one.line)
    return Subject(name=name, facts=one.number, newest=newest, line=one.line, changed_at=at)


def _changed(lines: _LastLines, prefix: str, after: Subject | None, limit: int) -> list[_Counted]:
    """Return subjects, the last one changed first."""
    few = lines.by_name(prefix, FEW + 1)
    if len(few) > FEW:
        return [*islice(lines.newest(prefix, after), limit)]
    every = [lines.counted(key, number) for key, number in few.items()]
    before = lines.end if after is None else min(lines.end, after.line)
    meant = (one for one in every if lines.first <= one.line < before)
    return sorted(meant, key=lambda one: -one.line)[:limit]


class _LastLines:
    """The last lines about subjects, in one snapshot."""

    def __init__(
        self,
        transaction: Transaction,
        wanted: FactFilter,
        since: datetime | None,
        until: datetime | None,
    ) -> None:
        self._transaction = transaction
        self._wanted = wanted
        self._last = journal.last_id(transaction)
        self.first = 0
        """The first line that is meant."""
        self.end = self._last + 1
        """The line after the last one that is meant."""
        if since is not None:
            self.first = line_filters.last_until(transaction, since) + 1
        if until is not None:
            self.end = line_filters.first_since(transaction, until)

    def by_name(self, prefix: str, limit: int) -> dict[str, int]:
        return counts.subjects(
            self._transaction, self._wanted, prefix, SubjectOrder.NAME, None, limit
        )

    def counted(self, key: str, number: int) -> _Counted:
        line = changed_facts.last_line(self._transaction, self._wanted, key, number, self._last)
        return _Counted(key, number, line)

    def newest(self, prefix: str, after: Subject | None) -> Iterator[_Counted]:
        """Yield subjects from the newest lines on, or from those before another subject's."""
        begin = self.end - 1 if after is None else min(self.end, after.line) - 1
        seen: set[str] = set()
        counted = counts.KeyCounts(self._transaction, self._wanted, "subject")
        for key, line in changed_facts.subjects_before(self._transaction, self._wanted, begin):
            if line < self.first:
                return
            if key in seen or not key.startswith(prefix):
                continue
            seen.add(key)
            number = counted.of(key)
            if not number:
                continue
            if (one := self.counted(key, number)).line == line:  # else it was on an earlier page
                yield one
