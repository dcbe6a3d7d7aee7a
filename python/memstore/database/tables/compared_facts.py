"""Finds which facts changed between two moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memstore.database import journal
from memstore.database.acts import STRETCH
from memstore.database.dialect import owned_by
from memstore.database.journal import UNCHANGED, Kind
from memstore.database.tables import journal_lines, line_counts
from memstore.domain import clock
from memstore.domain.records import NOBODY, Scope
from memstore.named import NamedTuple
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.database.tables.line_counts import Counted
    from memstore.domain.moments import Moment
    from memstore.domain.records import AtLeast


EXPIRED_INDEX: Final = "idx_memstore_expired"
"""Of few facts; the planner would prefer to read all facts of the owners."""


CONFIRMATION_KINDS: Final = (Kind.CONFIRM, Kind.UNCONFIRM, Kind.ERASE)
"""The other kinds that change a fact, in the order of the index of their lines."""

OF_CONFIRMATION: Final = f"kind IN {tuple(map(str, CONFIRMATION_KINDS))}"

INDEXED: Final = ((journal.STATE_KINDS, journal.OF_STATE), (CONFIRMATION_KINDS, OF_CONFIRMATION))
"""All kinds that change a fact, by the indexes of their lines, with the tests of these."""


class DifferenceFilter(NamedTuple):
    """Which facts are compared."""

    namespaces: tuple[str, ...] | None
    owners: Scope | AtLeast | None
    subject: str | None = None
    category: str | None = None


Span: TypeAlias = tuple[int, int]
"""A first line and a last one."""


class Spans(NamedTuple):
    """How the lines between two moments are read, in parts in their order."""

    added: int
    """How many lines add facts that are counted and not read."""
    adding: Sequence[Span]
    """Where these lines are."""
    by_ids: Sequence[Span]
    """Where lines change facts that all may be seen, and no others: their ids are enough."""
    changing: Sequence[Span]
    """Where lines change facts, beside those that were counted, and some may not be seen."""
    others: Sequence[Span]
    """Each line is read."""


CHANGING: Final = {
    str(kind)
    for kind in Kind
    if kind not in UNCHANGED
    and kind not in (Kind.ADD, Kind.EPISODE, Kind.UPDATE_EPISODE, Kind.ERASE_EPISODE)
}
"""Kinds of lines that change facts that exist."""

BEGINNING_OTHERWISE: Final = {str(Kind.ADOPT), line_counts.IMPORT}

MAX_BY_IDS: Final = 64
"""Of more spans of which the ids are enough, each line is read as if some may not be seen."""


def spans(transaction: Transaction, a: Moment, b: Moment, which: DifferenceFilter) -> Spans:
    """Return how the lines between two moments are read."""
    first, last = a.line + 1, b.line
    owners = which.owners
    has_user = isinstance(owners, Scope) and owners.user_id is not None
    if which.subject is not None or which.category is not None:
        return Spans(0, (), (), (), [(first, last)])
    if owners not in (None, NOBODY) and not has_user:
        return Spans(0, (), (), (), [(first, last)])
    counted = line_counts.between(transaction, first, last)
    known: dict[int, _Stretch] = {}  # many stretches have the same numbers, as one object
    stretches: dict[int, _Stretch] = {}
    reading = _Reading(which, by_ids=has_user)
    for stretch, one in counted.items():
        here = known.get(id(one))
        if here is None:
            here = known[id(one)] = reading.stretch(one)
        if here.is_sure:
            stretches[stretch] = here
    if has_user and isinstance(owners, Scope):
        of_owners = journal_lines.OwnedAdditions(transaction, which.namespaces, owners)
        added = _added_for(of_owners, counted, stretches)
    else:
        added = sum([one.added for one in stretches.values()])
    adding = [place for place, one in stretches.items() if one.adds]
    changing = [place for place, one in stretches.items() if one.changes is SOME]
    by_ids = [*_all_seen(stretches)]
    if len(by_ids) > MAX_BY_IDS:
        by_ids, either = [], (SEEN, SOME)
        changing = [place for place, one in stretches.items() if one.changes in either]
    others = []
    for begin, end in _lines_of(stretches):
        if first < begin:
            others.append((first, begin - 1))
        first = end + 1
    if first <= last:
        others.append((first, last))
    return Spans(
        added, [*_lines_of(adding)], [*_lines_of_runs(by_ids)], [*_lines_of(changing)], others
    )


NONE: Final = "none"
"""No line of a stretch changes a fact."""
SEEN: Final = "seen"
"""The facts that its lines change may all be seen."""
SOME: Final = "some"
"""Some of them may not be, or that is not known."""
UNSEEN: Final = "unseen"


class _Stretch(NamedTuple):
    """What the numbers of a stretch say of the facts that are compared."""

    is_sure: bool
    """Whether each of them that began there was added."""
    adds: bool
    added: int
    changes: str


class _Reading:
    """Reads what the numbers of stretches say.

    Args:
        by_ids: what was added is counted by the ids of facts, which only tell it where nothing
            began otherwise, in whatever namespace.
    """

    def __init__(self, which: DifferenceFilter, *, by_ids: bool) -> None:
        self._namespaces = which.namespaces
        self._is_anybody, self._by_ids = which.owners is None, by_ids

    def stretch(self, counted: Counted) -> _Stretch:
        is_sure, added, most_added = True, 0, 0
        changing = least = most = 0
        for namespace, kind, number, unowned in counted.numbers:
            if namespace is None:
                continue
            is_seen = self._namespaces is None or namespace in self._namespaces
            begins_otherwise = kind in BEGINNING_OTHERWISE
            if begins_otherwise and (is_seen or self._by_ids):
                is_sure = False
            low, high = self._range(number, unowned) if is_seen else (0, 0)
            if begins_otherwise or kind in CHANGING:
                changing, least, most = changing + number, least + low, most + high
            elif kind == Kind.ADD:
                added, most_added = added + low, most_added + high
        changes = NONE if not changing else UNSEEN if not most else SOME
        if changing and least == changing:
            changes = SEEN
        return _Stretch(is_sure, most_added > 0, added, changes)

    def _range(self, number: int, unowned: int) -> tuple[int, int]:
        """Return how many of some lines at least, and at most, are about facts of the owners."""
        if self._by_ids:
            return 0, number - unowned
        seen = number if self._is_anybody else unowned
        return seen, seen


def _all_seen(stretches: Mapping[int, _Stretch]) -> Iterator[Span]:
    """Yield the first and the last stretch of spans in which all changed facts may be seen.

    Stretches that change none may be among them; at their ends are some that do.
    """
    begin = end = previous = -1
    for place, one in stretches.items():
        if begin >= 0 and (place != previous + 1 or one.changes in (SOME, UNSEEN)):
            yield begin, end
            begin = -1
        if one.changes is SEEN:
            begin, end = (place if begin < 0 else begin), place
        previous = place
    if begin >= 0:
        yield begin, end


def _added_for(
    of_owners: journal_lines.OwnedAdditions,
    counted: Mapping[int, Counted],
    stretches: dict[int, _Stretch],
) -> int:
    """Return how many facts were added for certain owners where stretches tell it.

    Where they do not, the stretches are taken out: their lines are read.
    """
    added = 0
    for begin, end in [*line_counts.joined([*stretches])]:
        run = {place: counted[place] for place in range(begin, end + 1)}
        number = of_owners.added(run)
        if number is None:
            for place in run:
                del stretches[place]
        else:
            added += number
    return added


def _lines_of(stretches: Iterable[int]) -> Iterator[Span]:
    """Yield the first and the last line of stretches, those that follow one another as one."""
    return _lines_of_runs(line_counts.joined([*stretches]))


def _lines_of_runs(runs: Iterable[Span]) -> Iterator[Span]:
    return ((begin * STRETCH, (end + 1) * STRETCH - 1) for begin, end in runs)


class Line(NamedTuple):
    """A line that changes a fact."""

    fact_id: int
    id: int
    kind: str
    is_plain: bool
    """Whether the fact is not erased and never expires or, if nothing was changed after the later
    moment, had not expired by then."""


def lines(
    transaction: Transaction,
    span: Span,
    which: DifferenceFilter,
    b: Moment,
    *,
    additions: bool = True,
) -> list[Line]:
    """Return the lines of a span that change facts, oldest first.

    Args:
        additions: also those that add facts.
    """
    listed = transaction.dialect.listed
    wanted, values = _whose(transaction, which)
    unchanged = sorted(UNCHANGED) if additions else [*sorted(UNCHANGED), Kind.ADD]
    rows = transaction.rows(
        # CROSS: the lines between are read first; the plus keeps an index from being scanned.
        f"SELECT j.fact_id, j.id, j.kind, {_is_plain(transaction, b)}"
        " FROM memstore_journal j CROSS JOIN memstore_facts f"
        " WHERE f.id = +j.fact_id AND j.id >= :first AND j.id <= :last"
        f" AND j.kind NOT IN {listed('unchanged')} AND {wanted} ORDER BY j.id",
        {
            "first": span[0],
            "last": span[1],
            "unchanged": unchanged,
            "to_time": clock.to_text(b.at),
            **values,
        },
    )
    return [Line(*row) for row in rows]


def _is_plain(transaction: Transaction, b: Moment) -> str:
    """Return the test of :attr:`Line.is_plain`."""
    lasts = "f.expired_at IS NULL"
    if is_now(transaction, b):
        lasts = f"({lasts} OR f.expired_at > :to_time)"
    return f"{lasts} AND f.content <> ''"


def changed(
    transaction: Transaction, span: Span, kinds: Collection[str], a: Moment, b: Moment
) -> list[int]:
    """Return facts that began between two moments and that lines of a span changed.

    Args:
        kinds: of the lines, among :data:`CHANGING`.
    """
    found = []
    for some, index in INDEXED:
        if among := [one for one in some if one in kinds]:
            found += transaction.ints(
                f"SELECT fact_id FROM memstore_journal WHERE {index}"
                f" AND kind IN {transaction.dialect.listed('kinds')}"
                " AND id >= :first AND id <= :last AND fact_id > :after AND fact_id <= :until",
                {
                    "first": span[0],
                    "last": span[1],
                    "after": a.last_fact,
                    "until": b.last_fact,
                    "kinds": among,
                },
            )
    return found


def among(transaction: Transaction, fact_ids: Collection[int], which: DifferenceFilter) -> set[int]:
    """Return those of some facts that are compared."""
    wanted, values = _whose(transaction, which)
    return {
        *transaction.ints(
            "SELECT f.id FROM memstore_facts f"
            f" WHERE f.id IN {transaction.dialect.listed('ids')} AND {wanted}",
            {**values, "ids": [*fact_ids]},
        )
    }


def changes_of_others(
    transaction: Transaction,
    span: Span,
    which: DifferenceFilter,
    a: Moment,
    b: Moment,
    facts: Sequence[int],
) -> list[Line]:
    """Return the lines of a span that changed facts which began before, and some other facts."""
    found: list[Line] = []
    wanted, whose = _whose(transaction, which)
    values: dict[str, Any] = {
        **whose,
        "first": span[0],
        "last": span[1],
        "after": a.last_fact,
        "until": b.last_fact,
        "facts": facts,
        "to_time": clock.to_text(b.at),
    }
    for _, index in INDEXED:
        rows = transaction.rows(
            f"SELECT j.fact_id, j.id, j.kind, {_is_plain(transaction, b)}"
            " FROM memstore_journal j CROSS JOIN memstore_facts f"
            f" WHERE {index} AND j.id >= :first AND j.id <= :last AND f.id = j.fact_id"
            f" AND (j.fact_id <= :after OR j.fact_id > :until"
            f" OR j.fact_id IN {transaction.dialect.listed('facts')}) AND {wanted}",
            values,
        )
        found += [Line(*row) for row in rows if row[2] in CHANGING]
    return found


def not_plain(transaction: Transaction, a: Moment, b: Moment) -> list[int]:
    """Return facts that began between two moments and are not plain (:attr:`Line.is_plain`)."""
    expire = "expired_at <= :to_time" if is_now(transaction, b) else "expired_at IS NOT NULL"
    hint = transaction.dialect.indexed_by(EXPIRED_INDEX)
    values: dict[str, Any] = {
        "to_time": clock.to_text(b.at),
        "after": a.last_fact,
        "until": b.last_fact,
    }
    return [
        *transaction.ints(
            f"SELECT id FROM memstore_facts {hint} WHERE expired_at IS NOT NULL AND {expire}"
            " AND id > :after AND id <= :until",
            values,
        ),
        *transaction.ints(
            f"SELECT fact_id FROM memstore_journal WHERE {OF_CONFIRMATION}"
            f" AND kind = '{Kind.ERASE}' AND fact_id > :after AND fact_id <= :until",
            values,
        ),
    ]


def is_now(transaction: Transaction, moment: Moment) -> bool:
    """Return whether nothing was changed after a moment."""
    return moment.line >= journal.last_id(transaction)


def additions(
    transaction: Transaction, span: Span, which: DifferenceFilter, limit: int
) -> list[tuple[int, int]]:
    """Return the first lines of a span that add facts: the ids of the line and of the fact."""
    wanted, values = _whose(transaction, which)
    rows = transaction.rows(
        "SELECT j.id, j.fact_id FROM memstore_journal j CROSS JOIN memstore_facts f"
        f" WHERE f.id = +j.fact_id AND j.id >= :first AND j.id <= :last AND j.kind = '{Kind.ADD}'"
        f" AND {wanted} ORDER BY j.id LIMIT :limit",
        {**values, "first": span[0], "last": span[1], "limit": limit},
    )
    return [(int(line), int(fact_id)) for line, fact_id in rows]


def born_expiring(
    transaction: Transaction, a: Moment, b: Moment, which: DifferenceFilter
) -> list[int]:
    """Return facts that began between two moments and whose lines do not say if they were active.

    They expire: before the first moment or, if something was changed after the later one, ever.
    """
    wanted, values = _whose(transaction, which)
    until = "f.expired_at <= :from_time" if is_now(transaction, b) else "f.expired_at IS NOT NULL"
    hint = transaction.dialect.indexed_by(EXPIRED_INDEX)
    return transaction.ints(
        f"SELECT f.id FROM memstore_facts f {hint} WHERE f.expired_at IS NOT NULL AND {until}"
        f" AND f.id > :after AND f.id <= :until AND {wanted} ORDER BY 1",
        {
            "from_time": clock.to_text(a.at),
            "after": a.last_fact,
            "until": b.last_fact,
            **values,
        },
    )


def expired(transaction: Transaction, a: Moment, b: Moment, which: DifferenceFilter) -> list[int]:
    """Return the ids of facts that expired between two moments."""
    wanted, values = _whose(transaction, which)
    hint = transaction.dialect.indexed_by(EXPIRED_INDEX)
    return transaction.ints(
        f"SELECT f.id FROM memstore_facts f {hint}"
        f" WHERE f.expired_at > :from_time AND f.expired_at <= :to_time AND {wanted} ORDER BY 1",
        {"from_time": clock.to_text(a.at), "to_time": clock.to_text(b.at), **values},
    )


def expired_alone(
    transaction: Transaction, fact_ids: Sequence[int], a: Moment
) -> list[tuple[int, datetime]]:
    """Return those of the facts that were added and have only ever expired since, and when.

    They may have been confirmed.
    """
    rows = transaction.rows(
        "SELECT f.id, f.expired_at FROM memstore_facts f"
        f" WHERE f.id IN {transaction.dialect.listed('ids')} AND f.content <> ''"
        " AND EXISTS (SELECT 1 FROM memstore_journal j WHERE j.fact_id = f.id"
        f"  AND j.kind = '{Kind.ADD}' AND (j.id <= :line) = (f.id <= :last_fact))"
        " AND NOT EXISTS (SELECT 1 FROM memstore_journal j WHERE j.fact_id = f.id"
        f"  AND {journal.OF_STATE})",
        {"ids": fact_ids, "line": a.line, "last_fact": a.last_fact},
    )
    return [(int(id_), clock.from_text(str(at))) for id_, at in rows]


def _whose(transaction: Transaction, which: DifferenceFilter) -> tuple[str, dict[str, Any]]:
    tests = ["TRUE"]
    if which.namespaces is not None:
        tests.append(f"f.namespace IN {transaction.dialect.listed('namespaces')}")
    if which.owners is not None:
        tests.append(owned_by(which.owners))
    if which.subject is not None:
        tests.append("f.subject_key = :subject_key")
    if which.category is not None:
        tests.append("f.category_key = :category_key")
    return " AND ".join(tests), {
        "namespaces": which.namespaces,
        "subject_key": None if which.subject is None else subject_key(which.subject),
        "category_key": None if which.category is None else subject_key(which.category),
        **(which.owners.ids if which.owners else {}),
    }
