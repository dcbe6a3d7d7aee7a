"""The subjects of active facts: by name, by size, and by their last change."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from memstore.database import journal, line_filters
from memstore.database.tables import changed_facts, key_counts
from memstore.domain.status import Subject, SubjectOrder
from memstore.named import NamedTuple
from memstore.search import tallies
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.database.filters import FactFilter
    from memstore.database.tables.key_counts import Tally
    from memstore.search.index.contents import FeedContents

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
    contents: FeedContents | None,
    wanted: FactFilter,
    prefix: str,
    order: SubjectOrder,
    after: Subject | None,
    limit: int,
    changed: Changed = (None, None),
) -> list[Subject]:
    """Return subjects of active facts of these namespaces and owners.

    Args:
        contents: the index, if one is open.
        prefix: how their keys begin.
        after: begin after this one, at the place that it had when it was returned.
        changed: only those that changed last between these times; read in the order of changes.
    """
    (counted,) = tallies.of_keys(transaction, contents, wanted, "subject")
    lines = _LastLines(transaction, wanted, counted, *changed)
    if order == SubjectOrder.CHANGED:
        found = _changed(lines, prefix, after, limit)
    else:
        place = (
            None if after is None else key_counts.SubjectPlace(subject_key(after.name), after.facts)
        )
        sizes = key_counts.subjects(counted, prefix, order, place, limit)
        found = [lines.counted(key, number) for key, number in sizes.items()]
    told = counted.newest({one.key: one.number for one in found})
    times = journal.times_of(transaction, [one.line for one in found])
    return [
        Subject(
            name=told[one.key][1],
            facts=one.number,
            newest=told[one.key][0],
            line=one.line,
            changed_at=times.get(one.line),
        )
        for one in found
    ]


def _changed(lines: _LastLines, prefix: str, after: Subject | None, limit: int) -> list[_Counted]:
    """Return subjects, the last one changed first."""
    few = lines.sizes.first(prefix, None, FEW + 1)
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
        sizes: Tally,
        since: datetime | None,
        until: datetime | None,
    ) -> None:
        self._transaction = transaction
        self._wanted = wanted
        self.sizes = sizes
        self._last = journal.last_id(transaction)
        self.first = 0
        """The first line that is meant."""
        self.end = self._last + 1
        """The line after the last one that is meant."""
        if since is not None:
            self.first = line_filters.last_until(transaction, since) + 1
        if until is not None:
            self.end = line_filters.first_since(transaction, until)

    def counted(self, key: str, number: int) -> _Counted:
        line = changed_facts.last_line(self._transaction, self._wanted, key, number, self._last)
        return _Counted(key, number, line)

    def newest(self, prefix: str, after: Subject | None) -> Iterator[_Counted]:
        """Yield subjects from the newest lines on, or from those before another subject's."""
        begin = self.end - 1 if after is None else min(self.end, after.line) - 1
        seen: set[str] = set()
        for key, line in changed_facts.subjects_before(self._transaction, self._wanted, begin):
            if line < self.first:
                return
            if key in seen or not key.startswith(prefix):
                continue
            seen.add(key)
            number = self.sizes.of(key)
            if not number:
                continue
            if (one := self.counted(key, number)).line == line:  # else it was on an earlier page
                yield one
