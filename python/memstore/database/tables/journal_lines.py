"""The lines of acts, newest first: each act is found by its last line that is wanted."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from memstore.database import journal, line_filters, origins
from memstore.database.acts import STRETCH
from memstore.database.dialect import owned_by
from memstore.database.engine import NO_LIMIT
from memstore.database.journal import Kind
from memstore.database.line_filters import DRAWN
from memstore.database.tables import line_counts
from memstore.database.tables.line_counts import IMPORT, KIND, USUALLY_LEFT_OUT, Wanted, joined
from memstore.domain.log import MAX_LISTED
from memstore.domain.records import NOBODY, Scope
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Parameters, Transaction
    from memstore.database.journal import About
    from memstore.database.tables.line_counts import Counted, LineCount
    from memstore.domain.log import LogFilter
    from memstore.domain.records import AtLeast, JournalLine

L = TypeVar("L", "JournalLine", "About")
Span: TypeAlias = tuple[int, int]
"""A first line and a last one."""

UNIFORM: Final = (str(Kind.ADD), str(Kind.EPISODE))
"""Kinds whose lines say nothing but what was added, each once."""

NEAR: Final = 8 * STRETCH
"""Lines that are read before it is looked up which stretches have wanted ones."""

HALF: Final = STRETCH // 2

FEW_LINES: Final = 2 * STRETCH
"""An act with fewer lines is read as a whole."""


class ActLines(NamedTuple):
    """Lines of one act, oldest first."""

    lines: list[JournalLine]
    numbers: dict[str, int]
    """How many lines there are of the kinds of which only the first ones are here."""
    listed: Mapping[str, Sequence[About]] = {}
    """The lines of kinds of which only the very first one is among ``lines``."""


class LineConditions:
    """The conditions on lines, as SQL.

    Args:
        namespaces: of the facts and episodes.
        owners: theirs; ``None`` for any.
        whole_file: whether lines about no fact and no episode are shown, such as those of trust.
    """

    def __init__(
        self,
        transaction: Transaction,
        wanted: LogFilter,
        namespaces: Sequence[str] | None,
        owners: Scope | AtLeast | None,
        *,
        whole_file: bool,
    ) -> None:
        self._transaction = transaction
        self._find_drawn = partial(_drawn_from, transaction, namespaces=namespaces, owners=owners)
        self._drawn: _Drawn | None = None
        test, values = line_filters.conditions(transaction, wanted.chosen)
        values |= {"namespaces": namespaces, **(owners.ids if owners else {})}
        self.first = max(values["first"], (wanted.after or 0) + 1)
        self.last = journal.last_id(transaction)
        if wanted.before is not None:
            self.last = min(self.last, _beginning(transaction, wanted.before) - 1)
        if wanted.until is not None:
            self.last = min(self.last, line_filters.last_until(transaction, wanted.until))
        whole_file = whole_file and owners in (None, NOBODY)
        tests = [test, self._seen(namespaces, owners, whole_file)]
        self._chosen = wanted.chosen
        is_narrowed = any(wanted.chosen._replace(since=None, actor=None, source=None, run=None))
        self._counts_kinds = not is_narrowed and wanted.kinds is None and wanted.fact is None
        self._is_counted = self._counts_kinds and owners in (None, NOBODY)
        self._counts = partial(_sum, namespaces, whole_file=whole_file, all_owners=owners is None)
        self._owned = None
        if self._counts_kinds and isinstance(owners, Scope) and owners.user_id is not None:
            self._owned = OwnedAdditions(transaction, namespaces, owners)
        # Of lines that are mostly left out, stretches do not say whose they are.
        told = wanted.chosen
        if _has_left_out(wanted):
            told = told._replace(actor=None, source=None, run=None)
        self._stretches = Wanted(
            _words(wanted, namespaces, whole_file),
            told.actor,
            told.source,
            None if told.source is None else self._drawn_stretches,
            run=told.run,
            owned=_owned_kinds(wanted, owners),
        )
        self._has_drawn = False
        self._counted_between: tuple[Span, dict[int, Counted]] = (0, -1), {}
        self._is_bounded = wanted.after is not None
        self._newest: int | None = None
        """The last stretch that was counted, once it was looked up."""
        listed = transaction.dialect.listed
        if wanted.kinds is None:
            tests.insert(1, f"kind NOT IN {tuple(map(str, USUALLY_LEFT_OUT))}")
        else:
            tests.insert(1, f"kind IN {listed('kinds')}")
            values["kinds"] = wanted.kinds
        if wanted.after is not None:
            tests.append("txn > :after")  # not the rest of the act that has this line
            values["after"] = wanted.after
        if wanted.fact is not None:
            tests.append(f"memstore_journal.id IN {listed('lines')}")
            values["lines"] = _lines_of(transaction, wanted.fact)
        self._has_others = origins.is_any(transaction)
        self._condition = " AND ".join(tests)
        self._values: dict[str, Any] = values | {"first": self.first}

    def acts(self) -> Iterator[ActLines]:
        """Yield the wanted lines of each act, newest act first."""
        last = self.last
        for begin, end in self._spans(self.first, self.last, newest_first=True):
            last = min(last, end)
            while last >= begin and (place := self._last_before(begin, last)) is not None:
                line, txn = place
                first = max(txn, self.first)
                if line - first < FEW_LINES or self._are_several(first, line):
                    yield ActLines(self._outlined(first, line, "TRUE", NO_LIMIT), {})
                else:
                    yield self._some(first, line)
                last = txn - 1

    def _are_several(self, first: int, last: int) -> bool:
        """Return whether lines are of several acts, which other devices made."""
        return self._has_others and origins.are_several(self._transaction, first, last)

    def _spans(self, first: int, last: int, *, newest_first: bool) -> Iterator[tuple[int, int]]:
        """Yield the first and the last line of spans that may have wanted lines; others have none.

        The spans at the end are long enough for most pages, so that no stretch is looked up.
        """
        if not self._stretches.narrows or last - first < NEAR:
            yield first, last
            return
        near = (last - NEAR, last) if newest_first else (first, first + NEAR)
        yield near
        first, last = (first, near[0] - 1) if newest_first else (near[1] + 1, last)
        yield from self._counted_spans(first, last, newest_first=newest_first)

    def _counted_spans(
        self, first: int, last: int, *, newest_first: bool = False
    ) -> Iterator[tuple[int, int]]:
        if self._newest is None:
            self._newest = line_counts.newest(self._transaction)
        for begin, end in line_counts.spans(
            self._transaction,
            first,
            last,
            self._stretches,
            newest_first=newest_first,
            known=self._newest,
        ):
            yield max(begin, first), min(end, last)

    def _drawn_stretches(self) -> Sequence[int] | None:
        """Return the stretches of lines about what is from the source, or was drawn from that."""
        if not self._has_drawn:
            self._has_drawn = True
            self._drawn = self._find_drawn(self._chosen.source or "")
            if self._drawn is None:  # any page is soon full
                self._stretches = self._stretches._replace(source=None, stretches=None)
        return None if self._drawn is None else self._drawn.stretches

    def _of(self, first: int, last: int) -> tuple[str, dict[str, Any]]:
        """Return the condition, and its values, of wanted lines between two.

        Once it is known which lines may be about what was drawn from a source, no others are tested
        for that, nor read where the source wrote none.
        """
        values = self._values | {"first": first, "last": last}
        if self._drawn is None:
            return self._condition, values
        lines, written = self._drawn.lines, self._drawn.written
        some = f"memstore_journal.id IN {self._transaction.dialect.listed('drawn')}"
        among = lines[bisect_left(lines, first) : bisect_right(lines, last)]
        if len(among) > STRETCH:  # handed over for each act
            return self._condition, values
        values["drawn"] = among
        low, high = first // STRETCH, last // STRETCH
        if high <= self._drawn.newest and bisect_left(written, low) == bisect_right(written, high):
            return f"{self._condition} AND {some}", values
        return self._condition.replace(DRAWN, f"({some} AND {DRAWN})"), values

    def _within(self, first: int, last: int, *, near: bool = False) -> Iterable[tuple[int, int]]:
        """Return spans of an act, or of a day, that have its wanted lines, oldest first.

        Args:
            near: its first lines are likely enough: no stretch is looked up for them.
        """
        if not self._stretches.narrows or last - first < FEW_LINES:
            return [(first, last)] if first <= last else []
        if not near:
            return self._counted_spans(first, last)
        begun = first + FEW_LINES
        return chain([(first, begun - 1)], self._counted_spans(begun, last))

    def _some(self, first: int, last: int) -> ActLines:
        """Return the lines of a large act, but of what it added only the first ones."""
        numbers = self.by_kind(first, last)
        many = {kind: n for kind in UNIFORM if (n := numbers.get(kind, 0)) > MAX_LISTED}
        lines: list[JournalLine] = []
        listed: dict[str, Sequence[About]] = {}
        if numbers.keys() - UNIFORM:
            lines += self._outlined(first, last, f"{KIND} NOT IN {UNIFORM}", NO_LIMIT)
        for kind in UNIFORM:
            if kind in numbers and (found := self._first_of(kind, first, last)):
                if not self._has_others:  # else some are told with those of other devices
                    listed[kind] = found
                    found = found[:1]
                lines += journal.outlined(
                    self._transaction,
                    f"id IN {self._transaction.dialect.listed('some')}",
                    {"some": [one.id for one in found]},
                )
        return ActLines(sorted(lines, key=lambda line: line.id), many, listed)

    def _first_of(self, kind: str, first: int, last: int) -> list[About]:
        """Return the first lines of a kind that add; those of an owner by the facts."""
        test = f"{KIND} = '{kind}'"
        own = None
        if kind == Kind.ADD and self._owned is not None:
            known = self._between(first, last)
            own = self._owned.first_lines(first, last, MAX_LISTED, known)
        if own is not None and not any(self._chosen):
            return own
        if own is not None:
            found = journal.abouts(
                self._transaction,
                f"{self._condition} AND {test} AND +memstore_journal.id <= :last"
                f" AND memstore_journal.id IN {self._transaction.dialect.listed('some')}",
                self._values | {"first": first, "last": last, "some": [one.id for one in own]},
            )
            if len(found) == len(own):
                return found
        return self._read_within(journal.abouts, first, last, test, MAX_LISTED)

    def _outlined(self, first: int, last: int, test: str, limit: int) -> list[JournalLine]:
        return self._read_within(journal.outlined, first, last, test, limit)

    def _read_within(
        self,
        read: Callable[[Transaction, str, Parameters, str], list[L]],
        first: int,
        last: int,
        test: str,
        limit: int,
    ) -> list[L]:
        """Return the first wanted lines between two that pass a test, oldest first."""
        found: list[L] = []
        for begin, end in self._within(first, last, near=limit != NO_LIMIT):
            left = limit if limit == NO_LIMIT else limit - len(found)
            condition, values = self._of(begin, end)
            found += read(
                self._transaction,
                f"{condition} AND {test} AND memstore_journal.id <= :last",
                values | {"limit": left},
                "memstore_journal.id LIMIT :limit",
            )
            if len(found) == limit:
                break
        return found

    def added(self, facts: Sequence[int], first: int, last: int) -> int:
        """Return how many of these facts the wanted lines between two have added."""
        return self._transaction.scalar(
            f"SELECT count(*) FROM memstore_journal WHERE {self._condition}"
            f" AND memstore_journal.id <= :last AND {KIND} = '{Kind.ADD}'"
            f" AND fact_id IN {self._transaction.dialect.listed('added')}",
            self._values | {"first": first, "last": last, "added": facts},
        )

    def lines(
        self, before: int | None, after: int | None, limit: int | None, *, newest_first: bool
    ) -> list[JournalLine]:
        """Return wanted lines between two, which are left out, one by one."""
        last = self.last if before is None else min(self.last, before - 1)
        first = max(self.first, (after or 0) + 1)
        way = "DESC" if newest_first else "ASC"
        found: list[JournalLine] = []
        for begin, end in self._spans(first, last, newest_first=newest_first):
            left = NO_LIMIT if limit is None else limit - len(found)
            condition, values = self._of(begin, end)
            found += journal.outlined(
                self._transaction,
                f"{condition} AND memstore_journal.id <= :last",
                values | {"limit": left},
                f"memstore_journal.id {way} LIMIT :limit",
            )
            if limit is not None and len(found) >= limit:
                break
        return found

    def by_kind(self, first: int, last: int) -> dict[str, int]:
        """Count the wanted lines between two, both included, by kind."""
        first, last = max(first, self.first), min(last, self.last)
        found: Counter[str] = Counter()
        if self._is_counted or self._owned is not None:
            for begin, end, numbers in self._known(self._between(first, last)):
                for kind, number in numbers.items():
                    found[kind] += number
                if first < begin:
                    found.update(self._read(first, begin - 1))
                first = end + 1
        found.update(self._read(first, last))
        return {kind: found[kind] for kind in sorted(found)}

    def _between(self, first: int, last: int) -> dict[int, Counted]:
        """Return what is known of stretches; asked again for the same lines, it is known."""
        if self._counted_between[0] != (first, last):
            counted = line_counts.between(self._transaction, first, last)
            self._counted_between = (first, last), counted
        return self._counted_between[1]

    def by_device(self, first: int, last: int) -> dict[int, dict[str, int]]:
        """Count those that came from other devices by kind there, by the ids of their rows.

        :meth:`by_kind` has them among what was imported.
        """
        first, last = max(first, self.first), min(last, self.last)
        if not self._has_others or first > last:
            return {}
        rows = self._transaction.rows(
            "SELECT t.device, kind, count(*) FROM memstore_taken t"
            " JOIN memstore_journal ON memstore_journal.id = t.line"
            " WHERE t.line >= :first AND t.line <= :last AND t.device > 0"
            f" AND {KIND} = '{IMPORT}' AND {self._condition} AND memstore_journal.id <= :last"
            " GROUP BY 1, 2 ORDER BY 1, 2",
            self._values | {"first": first, "last": last},
        )
        found: dict[int, dict[str, int]] = {}
        for device, kind, number in rows:
            found.setdefault(int(device), {})[str(kind)] = int(number)
        return found

    def _known(
        self, counted: Mapping[int, Counted]
    ) -> Iterator[tuple[int, int, Mapping[str, int]]]:
        """Yield the first and the last line of spans whose numbers are known, and the numbers."""
        if self._owned is not None:
            chosen = {place: counted[place] for place in _where(counted, self._is_by_chosen)}
            yield from self._known_of_owners(self._owned, chosen)
            return
        told: dict[int, Mapping[str, int]] = {}
        for stretch in _where(counted, self._is_by_chosen):
            one = counted[stretch]
            if id(one) not in told:
                told[id(one)] = self._counts(one.numbers)
            yield stretch * STRETCH, (stretch + 1) * STRETCH - 1, told[id(one)]

    def _known_of_owners(
        self, owned: OwnedAdditions, counted: Mapping[int, Counted]
    ) -> Iterator[tuple[int, int, Mapping[str, int]]]:
        """Yield the same for certain owners: what was added is counted, other lines are read."""
        for first, last in joined([*_where(counted, _has_births)]):
            begin, end = first * STRETCH, (last + 1) * STRETCH - 1
            some = {place: counted[place] for place in range(first, last + 1)}
            numbers = owned.born(some)
            if numbers is None:
                yield from owned.spans(some)
                continue
            found = Counter(numbers)
            for low, high in joined([*_where(some, _changes_others)]):
                span = low * STRETCH, (high + 1) * STRETCH - 1
                found.update(self._counted(*span, f" AND kind NOT IN {UNIFORM}"))
            yield begin, end, found

    def _is_by_chosen(self, counted: Counted) -> bool:
        """Whether the lines of a stretch are known to be by whom the caller asks for."""
        actor, source, run = self._chosen.actor, self._chosen.source, self._chosen.run
        if run is not None and counted.runs != [run.hex()]:
            return False
        if actor is None and source is None:
            return True
        if counted.authors is None or len(counted.authors) != 1:
            return False
        [(by, through)] = counted.authors
        return actor in (None, by) and source in (None, through)

    def _read(self, first: int, last: int) -> dict[str, int]:
        """Count lines by reading them, or the fewer others of their stretch."""
        found: Counter[str] = Counter()
        if self._is_counted and not self._is_bounded and HALF <= last - first < STRETCH:
            begin = first // STRETCH * STRETCH
            end = begin + STRETCH - 1
            known = line_counts.between(self._transaction, begin, end) if last <= end else {}
            if any(map(self._is_by_chosen, known.values())):
                (counted,) = known.values()
                found = self._counts(counted.numbers)
                for some in ((begin, first - 1), (last + 1, end)):
                    if some[0] <= some[1]:
                        found.subtract(self._counted(*some))
                return +found
        for begin, end in self._within(first, last):
            found.update(self._counted(begin, end))
        return found

    def _counted(self, first: int, last: int, test: str = "") -> dict[str, int]:
        condition, values = self._of(first, last)
        rows = self._transaction.rows(
            # The test comes first: few lines are left whose facts are looked up.
            f"SELECT {KIND}, count(*) FROM memstore_journal"
            f" WHERE memstore_journal.id <= :last{test} AND {condition} GROUP BY 1",
            values,
        )
        return dict(rows)

    def _last_before(self, first: int, last: int) -> tuple[int, int] | None:
        condition, values = self._of(first, last)
        row = self._transaction.one(
            f"SELECT id, txn FROM memstore_journal WHERE {condition}"
            " AND memstore_journal.id <= :last ORDER BY memstore_journal.id DESC LIMIT 1",
            values,
        )
        return None if row is None else (int(row[0]), int(row[1]))

    def _seen(
        self, namespaces: Sequence[str] | None, owners: Scope | AtLeast | None, whole_file: bool
    ) -> str:
        dialect = self._transaction.dialect
        whose = "" if owners is None else f" AND {owned_by(owners)}"
        if namespaces is not None:
            whose += f" AND namespace IN {dialect.listed('namespaces')}"
        tests = [
            f"EXISTS (SELECT 1 FROM memstore_facts f WHERE f.id = memstore_journal.fact_id{whose})",
            "(fact_id IS NULL AND EXISTS (SELECT 1 FROM memstore_episodes e"
            f" WHERE e.id = memstore_journal.episode_id{whose}))",
        ]
        if whole_file:
            tests.append("(fact_id IS NULL AND memstore_journal.episode_id IS NULL)")
        return f"({' OR '.join(tests)})"


EPISODES: Final = "memstore_episodes"

BORN: Final = (
    (str(Kind.ADD), "fact_id", "memstore_facts"),
    (str(Kind.EPISODE), "episode_id", EPISODES),
)
"""Kinds of lines that add one row each, whose ids grow with the lines."""


class OwnedAdditions:
    """Counts the lines that added facts of certain owners, by the facts.

    The facts that an act adds have consecutive ids. So where a stretch has lines that add facts and
    no others, and as many as there are ids between its first fact and its last one, the facts of
    the owners with such ids are those that its lines added.
    """

    def __init__(
        self, transaction: Transaction, namespaces: Sequence[str] | None, owners: Scope
    ) -> None:
        self._transaction = transaction
        whose = [
            f"{name} IS NULL" if value is None else f"{name} = :{name}"
            for name, value in owners.ids.items()
        ]
        if namespaces is not None:
            whose.append(f"namespace IN {transaction.dialect.listed('namespaces')}")
        self._whose = " AND ".join(whose)
        self._values: dict[str, Any] = {**owners.ids, "namespaces": namespaces}

    def spans(self, counted: Mapping[int, Counted]) -> Iterator[tuple[int, int, Mapping[str, int]]]:
        """Yield the first and the last line of spans that only add, and what is the owners'."""
        for first, last in joined([*_where(counted, _only_adds)]):
            begin, end = first * STRETCH, (last + 1) * STRETCH - 1
            ids = self._ids(begin, end)
            if ids is not None:
                number = self._transaction.scalar(
                    f"SELECT count(*) FROM memstore_facts WHERE {self._whose}"
                    " AND id >= :first AND id <= :last",
                    {**self._values, "first": ids[0], "last": ids[1]},
                )
                yield begin, end, {str(Kind.ADD): number} if number else {}

    def added(self, counted: Mapping[int, Counted]) -> int | None:
        """Return how many facts of the owners these stretches have added.

        ``None`` if their ids do not tell it.
        """
        found = self.born(counted, BORN[:1])
        return None if found is None else found.get(Kind.ADD, 0)

    def born(
        self, counted: Mapping[int, Counted], among: Sequence[tuple[str, str, str]] = BORN
    ) -> dict[str, int] | None:
        """Return how many facts and episodes of the owners these stretches have added, by kind.

        ``None`` if their ids do not tell it.
        """
        found = {}
        for kind, column, table in among:
            of_kind = partial(_number, kind)
            places = [*_where(counted, of_kind)]
            if not places:
                continue
            each = {id(counted[place]): counted[place] for place in places}
            numbers = {one: of_kind(known) for one, known in each.items()}
            low, high = (
                self._transaction.scalar(
                    f"SELECT {column} FROM memstore_journal WHERE id >= :begin AND id < :end"
                    f" AND kind = '{kind}' ORDER BY id {way} LIMIT 1",
                    {"begin": place * STRETCH, "end": (place + 1) * STRETCH},
                )
                for place, way in ((min(places), "ASC"), (max(places), "DESC"))
            )
            if high - low + 1 != sum(numbers[id(counted[place])] for place in places):
                return None
            by_id = self._transaction.dialect.indexed_by(None) if table == EPISODES else ""
            found[kind] = self._transaction.scalar(
                f"SELECT count(*) FROM {table} {by_id} WHERE {self._whose}"
                " AND id >= :low AND id <= :high",
                {**self._values, "low": low, "high": high},
            )
        return {kind: number for kind, number in found.items() if number}

    def first_lines(
        self, first: int, last: int, limit: int, counted: Mapping[int, Counted]
    ) -> list[About] | None:
        """Return the first lines between two that add facts of the owners.

        ``None`` if the facts do not tell them.

        Args:
            counted: what is known of the stretches between the lines.
        """
        ids = self._ids(first, last)
        if ids is None:
            return None
        low, high, begin = ids
        given = {**self._values, "low": low, "high": high, "limit": limit}
        facts = self._transaction.ints(
            f"SELECT id FROM memstore_facts WHERE {self._whose} AND id >= :low AND id <= :high"
            " ORDER BY id LIMIT :limit",
            given,
        )
        places = [begin + id_ - low for id_ in facts]
        known = {*zip(places, facts, strict=True)}
        looked_up = _looked_up(places, [*_where(counted, _only_adds)])
        found = self._transaction.rows(
            f"SELECT id, fact_id FROM memstore_journal WHERE kind = '{Kind.ADD}'"
            f" AND said_at IS NULL AND id IN {self._transaction.dialect.listed('places')}",
            {"places": looked_up},
        )
        if sum((line, fact) in known for line, fact in found) == len(looked_up):
            return [journal.About(*one, None) for one in zip(places, facts, strict=True)]
        # Lines between them add nothing, and as many ids were never used.
        rows = self._transaction.rows(
            "SELECT j.id, j.fact_id, j.episode_id FROM memstore_facts f"
            " CROSS JOIN memstore_journal j"
            f" WHERE {self._whose} AND f.id >= :low AND f.id <= :high AND j.fact_id = f.id"
            f" AND j.kind = '{Kind.ADD}' AND j.said_at IS NULL"
            " AND +j.id >= :first AND +j.id <= :last"
            " ORDER BY f.id LIMIT :limit",
            {**given, "first": first, "last": last},
        )
        return [journal.About(*row) for row in rows]

    def _ids(self, first: int, last: int) -> tuple[int, int, int] | None:
        """Return the first and the last of the facts that were added by these lines.

        And the line that added the first.

        ``None`` if some lines between the first and the last of them add none.
        """
        ends = []
        for way in ("ASC", "DESC"):
            row = self._transaction.one(
                "SELECT fact_id, id FROM memstore_journal WHERE id >= :first AND id <= :last"
                f" AND kind = '{Kind.ADD}' AND said_at IS NULL ORDER BY id {way} LIMIT 1",
                {"first": first, "last": last},
            )
            if row is None or row[0] is None:
                return None
            ends.append((int(row[0]), int(row[1])))
        (low, begin), (high, end) = ends
        return (low, high, begin) if high - low == end - begin else None


def _has_births(counted: Counted) -> bool:
    """Whether the kinds of lines tell what was added here; what was imported has ids of any age."""
    return all(one.kind not in (IMPORT, Kind.ADOPT) for one in counted.numbers)


def _changes_others(counted: Counted) -> bool:
    """Whether a stretch has lines about what has an owner that added neither fact nor episode."""
    return any(one.kind not in UNIFORM and one.number > one.unowned for one in counted.numbers)


def _number(kind: str, counted: Counted) -> int:
    """Return how many lines of a stretch are of a kind."""
    return sum(one.number for one in counted.numbers if one.kind == kind)


def _looked_up(places: Sequence[int], adding: Sequence[int]) -> list[int]:
    """Return which of the lines are looked up that facts seem to have, by their ids.

    In stretches that only add, the first and the last one vouch for those between.

    Args:
        adding: the stretches that only add.
    """
    runs = {
        place: begin for begin, end in line_counts.joined(adding) for place in range(begin, end + 1)
    }
    found: list[int] = []
    for begin, its in groupby(places, key=lambda line: runs.get(line // STRETCH)):
        some = [*its]
        found += some if begin is None else dict.fromkeys((some[0], some[-1]))
    return found


def _where(counted: Mapping[int, Counted], test: Callable[[Counted], object]) -> Iterator[int]:
    """Yield the stretches whose numbers pass a test, which is made once for equal ones.

    Many stretches have the same numbers, as one object (:func:`line_counts.between`).
    """
    known: dict[int, bool] = {}
    for stretch, one in counted.items():
        passes = known.get(id(one))
        if passes is None:
            passes = known[id(one)] = bool(test(one))
        if passes:
            yield stretch


def _only_adds(counted: Counted) -> bool:
    """Whether each line of a stretch added a fact."""
    return _number(Kind.ADD, counted) == STRETCH


MAX_DRAWN: Final = 5_000
"""Facts, and episodes, of a source whose lines are looked up."""


class _Drawn(NamedTuple):
    """What may be about what is from a source, or was drawn from that; each in order."""

    lines: Sequence[int]
    stretches: Sequence[int]
    written: Sequence[int]
    """The stretches in which the source itself may have written."""
    newest: int
    """Stretches after this one may all be such."""


def _drawn_from(
    transaction: Transaction,
    source: str,
    namespaces: Sequence[str] | None,
    owners: Scope | AtLeast | None,
) -> _Drawn | None:
    """Return the lines about what is from a source, or was drawn from that.

    ``None`` if that are many.
    """
    listed = transaction.dialect.listed
    hint = transaction.dialect.indexed_by
    within = "" if namespaces is None else f" AND namespace IN {listed('namespaces')}"
    given = {"source": source, "namespaces": namespaces, "most": MAX_DRAWN + 1}
    given |= owners.ids if owners else {}
    episodes = transaction.ints(
        f"SELECT id FROM memstore_episodes {hint('idx_memstore_episode_seen')}"
        f" WHERE content_hash <> '' AND source = :source{within} LIMIT :most",
        given,
    )
    facts = transaction.ints(
        f"SELECT id FROM memstore_facts {hint('idx_memstore_source')}"
        f" WHERE source IS NOT NULL AND source = :source{within}"
        f" AND {owned_by(owners)} LIMIT :most",
        given,
    )
    if max(len(episodes), len(facts)) > MAX_DRAWN:
        return None
    lines = transaction.ints(
        f"SELECT id FROM memstore_journal WHERE episode_id IN {listed('episodes')}"
        f" UNION SELECT id FROM memstore_journal WHERE fact_id IN {listed('facts')}"
        " UNION SELECT j.id FROM memstore_facts f"
        " CROSS JOIN memstore_journal j WHERE j.fact_id = f.id"
        f" AND f.episode_id IN {listed('episodes')} ORDER BY 1",
        {"episodes": episodes, "facts": facts},
    )
    return _Drawn(
        lines,
        [*dict.fromkeys(line // STRETCH for line in lines)],
        line_counts.of_source(transaction, source),
        line_counts.newest(transaction),
    )


def _has_left_out(wanted: LogFilter) -> bool:
    """Return whether lines are asked for that stretches do not count."""
    return bool({*(wanted.kinds or ())} & {*USUALLY_LEFT_OUT})


def _words(
    wanted: LogFilter, namespaces: Sequence[str] | None, whole_file: bool
) -> list[list[str]]:
    """Return what the numbers of a stretch with wanted lines have: one word of each list."""
    words = []
    if namespaces is not None:
        about = [line_counts.word(name) for name in namespaces]
        words.append([*about, line_counts.word(None)] if whole_file else about)
    if wanted.kinds is not None and not _has_left_out(wanted):
        words.append([line_counts.word(kind) for kind in (*wanted.kinds, IMPORT)])
    return words


def _owned_kinds(wanted: LogFilter, owners: Scope | AtLeast | None) -> Sequence[str]:
    """Return the kinds that are asked for if only lines about what has an owner are wanted."""
    if wanted.kinds is None or _has_left_out(wanted):
        return ()
    if owners is None or not any(owners.ids.values()):
        return ()
    return [*wanted.kinds, IMPORT]


def _sum(
    namespaces: Sequence[str] | None,
    numbers: Sequence[LineCount],
    *,
    whole_file: bool,
    all_owners: bool,
) -> Counter[str]:
    """Return how many lines of each kind are about these namespaces, or about the whole file."""
    found: Counter[str] = Counter()
    for namespace, kind, number, unowned in numbers:
        is_seen = namespaces is None or namespace in namespaces
        if whole_file if namespace is None else is_seen:
            found[kind] += number if all_owners else unowned
    return +found


def _beginning(transaction: Transaction, line: int) -> int:
    """Return the first line of the act of a line."""
    row = transaction.one("SELECT txn FROM memstore_journal WHERE id = :id", {"id": line})
    return line if row is None else int(row[0])


def _lines_of(transaction: Transaction, fact_id: int) -> list[int]:
    """Return the ids of the lines about a fact, and of those by which it replaced others."""
    return transaction.ints(
        "SELECT id FROM memstore_journal WHERE fact_id = :id UNION"
        " SELECT j.id FROM memstore_facts f JOIN memstore_journal j ON j.fact_id = f.id"
        f" WHERE f.superseded_by = :id AND j.kind = '{Kind.SUPERSEDE}'",
        {"id": fact_id},
    )
