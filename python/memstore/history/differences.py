"""Compares two moments: the state of each fact at both, replayed from the journal.

Erasing empties the lines of a fact, so what is left of an erased one is told by their kinds alone.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from heapq import merge
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal, line_filters, origins
from memstore.database.journal import UNCHANGED, Kind
from memstore.database.tables import compared_facts
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, zones
from memstore.domain.log import claim_of, cropped, on_device
from memstore.domain.records import Record
from memstore.domain.results import Results
from memstore.errors import InvalidArgument, Remedy
from memstore.frozen import field, frozen, replace
from memstore.history import moments, past, reasons
from memstore.history.reasons import number_in
from memstore.history.seen import ANOTHER_FACT, Seen
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Engine, Transaction
    from memstore.database.origins import Origin
    from memstore.database.tables.compared_facts import DifferenceFilter
    from memstore.domain.episodes import Episode
    from memstore.domain.moments import Moment
    from memstore.domain.records import Fact, JournalLine
    from memstore.domain.standing import Standing


class DifferenceKind(StrEnum):
    """What became of a fact between two moments, all in all."""

    ADDED = "added"
    """It did not exist, and is active at the later one."""
    RETIRED = "retired"
    """It was active, and is superseded, deleted or expired."""
    CHANGED = "changed"
    """It is active at both, with other metadata, another pin or other confirmations."""
    RESTORED = "restored"
    """It existed but was not active, and is."""
    ERASED = "erased"


HEADINGS: Final = tuple(DifferenceKind)
"""In the order of a changelog."""


@frozen(kw_only=True)
class Difference(zones.ZonedResult, Record):
    """What became of one fact."""

    kind: str
    """A :class:`DifferenceKind`."""
    fact_id: int
    claim: str
    """Its subject and text; "(erased)" if it was erased since, and after "(distrusted)" if it rests
    on a distrusted source."""
    text: str
    """What became of it, such as "replaced by fact 12", "status: pending → completed"."""
    at: datetime
    line: int | None = None
    """The line of the journal that decided it; ``None`` if the fact expired."""
    actor: str | None = None
    source: str | None = None
    """The program or interface through which it was done."""
    device: str | None = None
    """The name of the device on which it was done; ``None`` for this one."""
    reason: str | None = None
    """Why, as far as the journal says so and it may be seen."""
    evidence: Mapping[str, Any] | None = None
    by: int | None = None
    """The fact that superseded it."""
    replaces: tuple[int, ...] = ()
    """The facts that it superseded in the meantime."""
    before: Mapping[str, Any] = field(default_factory=dict)
    """The old values of what changed, as JSON values; without those that were not set."""
    after: Mapping[str, Any] = field(default_factory=dict)
    """The new ones; of a fact that was added or restored, all of them."""

    @property
    def through(self) -> str:
        """The program or interface, and the device if it was not this one."""
        return f"{self.source or ''}{on_device(self.device)}"

    @zones.of_its_zone
    def __str__(self) -> str:
        told = f"#{self.fact_id} {cropped(self.claim)}"
        if self.text:
            told += f" ({self.text})"
        if self.line is None:
            return f"{told}; {zones.day(self.at)}"
        because = f", because {self.reason}" if self.reason else ""
        by = f"{self.actor} through {self.through}, line {self.line}"
        return f"{told}; {zones.day(self.at)}, {by}{because}"


@frozen
class Differences(zones.ZonedResult, Results[Difference]):
    """What changed, in the order in which it did; as text, a changelog."""

    a: Moment | None = None
    b: Moment | None = None
    total: int = 0
    """How many there are without ``limit`` and ``offset``."""
    passed: int = 0
    """Facts that were stored after ``a`` and retired or erased by ``b``: no difference."""

    def __str__(self) -> str:
        return "\n".join(self._lines())

    @property
    @zones.of_its_zone
    def period(self) -> str:
        """The two moments in words."""
        return " to ".join(_named(one) for one in (self.a, self.b) if one is not None)

    def _lines(self) -> Iterator[str]:
        if self.a is not None and self.b is not None:
            yield self.period
        for kind, members in self.grouped():
            yield from ("", kind.capitalize(), *(f"- {one}" for one in members))
        if not self:
            yield from ("", "Nothing changed.")
        elif len(self) < self.total:
            yield from ("", f"{len(self):,} of {self.total:,} differences")

    def grouped(self) -> Iterator[tuple[str, Iterator[Difference]]]:
        """Yield each kind with its differences, in the order of a changelog."""
        by_kind = sorted(self, key=lambda one: HEADINGS.index(DifferenceKind(one.kind)))
        return groupby(by_kind, key=lambda one: one.kind)

    def to_dict(self) -> dict[str, Any]:
        moments = {
            name: {"line": one.line, "at": clock.to_text(one.at)}
            for name, one in (("a", self.a), ("b", self.b))
            if one is not None
        }
        found = [one.to_dict() for one in self]
        return {**moments, "differences": found, "total": self.total, "passed": self.passed}


def _named(moment: Moment) -> str:
    return f"{zones.stamp(moment.at)} (line {moment.line})"


BATCH: Final = 500
"""Facts whose lines are read at once."""

FEW: Final = 100
MANY: Final = 5_000
"""Lines that add facts which are read at once, first and at most."""

STANDING: Final = frozenset({"superseded_by", "superseded_at", "deleted_at"})
"""Columns that say whether a fact is active, and are told in words."""

SAID: Final = 80
"""Characters of a quote that a reason shows."""

DECIDING: Final[Mapping[str, frozenset[str]]] = {
    "superseded": frozenset({Kind.SUPERSEDE}),
    "deleted": frozenset({Kind.DELETE}),
    "erased": frozenset({Kind.ERASE}),
    "added": frozenset(past.BEGINS),
    "restored": frozenset({Kind.RESTORE, Kind.UNSUPERSEDE}),
}
"""The kinds of lines that bring an outcome about."""


TELLING: Final = frozenset({Kind.ADD, Kind.SUPERSEDE, Kind.DELETE, Kind.CONFIRM, Kind.PIN})
"""Kinds of which a single line says what became of a fact that had not changed before."""

LIGHT: Final = frozenset(
    {Kind.CONFIRM, Kind.UNCONFIRM, Kind.METADATA, Kind.UPDATE, Kind.PIN, Kind.UNPIN}
)
"""Kinds after which a fact that was added still was added."""

LEAVING: Final = frozenset({Kind.SUPERSEDE, Kind.DELETE})
"""Kinds after which a fact that was added is not active any more."""

REPLACING: Final = frozenset({DifferenceKind.ADDED, DifferenceKind.RESTORED})


class _State(NamedTuple):
    """A fact at a moment."""

    standing: str
    """``active``, ``superseded``, ``deleted``, ``expired`` or ``erased``."""
    values: dict[str, Any]
    """What the journal says of it; empty if it was erased since."""
    by: int | None


def differences(
    engine: Engine,
    a: datetime | str,
    b: datetime | str,
    wanted: DifferenceFilter,
    standing: Standing,
    *,
    limit: int | None,
    offset: int,
) -> Differences:
    """Return what changed between two moments, which the standing may name."""
    with engine.read() as transaction:
        first = moments.resolve(transaction, a, standing, name="a")
        last = moments.resolve(transaction, b, standing, name="b")
        if (last.line, last.at) < (first.line, first.at):
            raise InvalidArgument(
                f"({clock.to_text(last.at)}) is before the first moment"
                f" ({clock.to_text(first.at)})",
                argument="b",
                remedy=Remedy.EARLIER_FIRST,
            )
        found = _Comparing(transaction, first, last, wanted)
        stop = found.total if limit is None else offset + limit
        page = found.differences([*islice(found.order(), offset, stop)])
        return Differences(page, first, last, found.total, found.passed)


class _Comparing:
    def __init__(
        self, transaction: Transaction, a: Moment, b: Moment, wanted: DifferenceFilter
    ) -> None:
        self._transaction, self._a, self._b, self._wanted = transaction, a, b, wanted
        self._seen = Seen(wanted.namespaces, wanted.owners)
        self.passed = 0
        """Facts that came and went in between."""
        self._known: dict[int, Difference] = {}
        """Those that were read, by fact."""
        self._unseen: set[int] = set()
        """Facts that superseded others and must not be named."""
        self._spans = compared_facts.spans(transaction, a, b, wanted)
        self._first: dict[int, tuple[int, str]] = {}
        """The first line of a fact that was read, and its kind."""
        self._otherwise: set[int] = set()
        """Facts that do not differ by having been added alone."""
        self._found_by_ids: set[int] = set()
        """Those of them that are told by the ids in lines; all began between the moments."""
        self._without_line: list[tuple[datetime, int]] = []
        """When facts expired that differ by that, and the facts."""
        self._places = self._compare()
        counted = len(self._found_by_ids) + sum(
            self._is_counted(fact_id, self._first[fact_id][1] if fact_id in self._first else None)
            for fact_id in self._otherwise - self._found_by_ids
        )
        self.total = self._spans.added - counted + len(self._places) + len(self._without_line)
        """How many facts differ."""

    def _compare(self) -> dict[int, int]:
        """Return the facts that differ, each with its line; without counted ones.

        Lines are in the order of their times. For most facts, their kinds say that there is a
        difference; the others are compared.
        """
        places, others = self._by_kinds()
        for one in chain.from_iterable(self._some(some) for some in _batches(others)):
            self._known[one.fact_id] = one
            if one.line:
                places[one.fact_id] = one.line
            else:
                self._without_line.append((one.at, one.fact_id))
        return places

    def order(self) -> Iterator[int]:
        """Yield the facts that differ, in the order in which they came to."""
        known = sorted((float(line), fact_id) for fact_id, line in self._places.items())
        each = merge(known, self._additions(), self._expired())
        return (fact_id for _, fact_id in each)

    def _expired(self) -> Iterator[tuple[float, int]]:
        """Yield the places of what has no line, and the facts: before the lines of its time.

        A line is looked up when it is reached: a page shows few of them.
        """
        placed = (
            (line_filters.first_since(self._transaction, at) - 0.5, fact_id)
            for at, fact_id in sorted(self._without_line)
        )
        for _, some in groupby(placed, key=lambda one: one[0]):
            yield from sorted(some)

    def _additions(self) -> Iterator[tuple[float, int]]:
        """Yield the lines of counted spans that added facts which differ by that, and the facts."""
        number = FEW
        for begin, end in self._spans.adding:
            first = begin
            while first <= end:
                asked = (self._transaction, (first, end), self._wanted, number)
                found = compared_facts.additions(*asked)
                yield from (one for one in found if one[1] not in self._otherwise)
                if len(found) < number:
                    break
                first = found[-1][0] + 1
                number = min(2 * number, MANY)

    def _is_counted(self, fact_id: int, kind: str | None) -> bool:
        """Whether the line that added a fact is one of those that were counted and not read.

        Args:
            kind: that of the first line of the fact that was read; ``None`` if none was.
        """
        return self._a.last_fact < fact_id <= self._b.last_fact and kind not in past.BEGINS

    def differences(self, fact_ids: Sequence[int]) -> list[Difference]:
        """Return the differences of these facts, in this order."""
        left = [fact_id for fact_id in fact_ids if fact_id not in self._known]
        for one in chain.from_iterable(self._some(some) for some in _batches(left)):
            self._known[one.fact_id] = one
        replaced = self._replaced(fact_ids)
        found = [self._known[fact_id] for fact_id in fact_ids]
        places = origins.of_lines(self._transaction, [one.line for one in found if one.line])
        return [
            _replacing(_on_device(one, places.get(one.line or 0)), replaced.get(one.fact_id, ()))
            for one in found
        ]

    def _by_kinds(self) -> tuple[dict[int, int], list[int]]:
        """Return the facts of which one line says that they differ, each with it, and the others.

        A fact that was added, and since then at most confirmed, pinned or given metadata, was
        added; one that was superseded or deleted since came and went. One with a single line had
        changed before only if another kind of line says so.
        """
        asked = (self._transaction, self._a, self._b, self._wanted)
        first = self._first
        expired = compared_facts.expired(*asked)
        alone = compared_facts.expired_alone(self._transaction, expired, self._a) if expired else []
        others = {*expired, *compared_facts.born_expiring(*asked)} - {id_ for id_, _ in alone}
        lines = self._lines()
        began = {line.fact_id for line in lines if line.kind in past.BEGINS}
        gone, otherwise = self._by_ids(began)
        others |= otherwise
        counted: set[int] = set()
        for fact_id, line, kind, is_plain in self._lines_with(lines, began):
            known = first.get(fact_id)
            if known is None:
                known = first[fact_id] = line, kind
                if self._is_counted(fact_id, kind):
                    counted.add(fact_id)
            is_counted = fact_id in counted
            is_added = is_counted or known[1] == Kind.ADD
            if is_added and is_plain and kind in LEAVING:
                gone.add(fact_id)
                continue
            is_first = known[0] == line and not is_counted
            telling = TELLING if is_first else LIGHT if is_added else ()
            if not is_plain or kind not in telling:
                others.add(fact_id)
        old = first.keys() - counted
        older = sorted(fact_id for fact_id in old if first[fact_id][1] != Kind.ADD)
        others |= journal.changed_state(self._transaction, older, self._a.line)
        for fact_id, at in alone:  # some began later, with an expiry in the past
            if self._a.last_fact < fact_id <= self._b.last_fact:
                gone.add(fact_id)
            elif fact_id <= self._a.last_fact and fact_id not in others:
                self._without_line.append((at, fact_id))
        gone -= others
        self.passed += len(gone)
        self._otherwise = others | gone
        places = {id_: first[id_][0] for id_ in old - self._otherwise}
        return places, sorted(others)

    def _by_ids(self, began: Collection[int]) -> tuple[set[int], set[int]]:
        """Return the facts that came and went, and those to compare, of spans told by ids alone.

        Args:
            began: facts whose first lines are read, which are told by these.
        """
        gone: set[int] = set()
        others: set[int] = set()
        light: set[int] = set()
        for span in self._spans.by_ids:
            changed = partial(compared_facts.changed, self._transaction, span, a=self._a, b=self._b)
            gone.update(changed(LEAVING))
            light.update(changed(LIGHT))
            others.update(changed(compared_facts.CHANGING - LEAVING - LIGHT))
        if self._spans.by_ids:
            not_plain = compared_facts.not_plain(self._transaction, self._a, self._b)
            others |= (light | gone).intersection(not_plain)
        gone, others = gone.difference(began), others.difference(began)
        self._found_by_ids = gone | others
        if others:  # a foreign program may have changed whose they are: numbers do not know it
            others = compared_facts.among(self._transaction, others, self._wanted)
        return gone, others

    def _lines(self) -> list[compared_facts.Line]:
        """Return the lines of spans that are read, oldest first."""
        spans = [(*one, True) for one in self._spans.others]
        spans += [(*one, False) for one in self._spans.changing]
        return [
            line
            for begin, end, additions in sorted(spans)
            for line in compared_facts.lines(
                self._transaction, (begin, end), self._wanted, self._b, additions=additions
            )
        ]

    def _lines_with(
        self, lines: Sequence[compared_facts.Line], began: Collection[int]
    ) -> list[compared_facts.Line]:
        """Return lines with those of the spans told by ids about facts that began elsewhere."""
        found = [
            line
            for span in self._spans.by_ids
            for line in compared_facts.changes_of_others(
                self._transaction, span, self._wanted, self._a, self._b, sorted(began)
            )
        ]
        return sorted([*lines, *found], key=itemgetter(1)) if found else [*lines]

    def _replaced(self, fact_ids: Sequence[int]) -> dict[int, list[int]]:
        """Return what these facts replaced in the meantime, by their ids."""
        new = [id_ for id_ in fact_ids if self._known[id_].kind in REPLACING]
        freed = past.later_changes(self._transaction, self._b).superseded.were if new else ()
        old = {one for some in _batches(new) for one in self._superseded_by(some)} | {*freed}
        old &= {*self._places}
        for some in _batches(sorted(old - {*self._known})):
            self._known |= {one.fact_id: one for one in self._some(some)}
        found: dict[int, list[int]] = {}
        for id_ in sorted(old):
            by = self._known[id_].by
            if by is not None:
                found.setdefault(by, []).append(id_)
        return found

    def _superseded_by(self, fact_ids: Sequence[int]) -> list[int]:
        return [one.id for one in fact_table.all_superseded_by(self._transaction, fact_ids)]

    def _some(self, ids: Sequence[int]) -> Iterator[Difference]:
        facts = fact_table.get_many(self._transaction, ids)
        lines = [*journal.changing(self._transaction, ids, self._b.line)]
        newer = {number_in(line.after, "superseded_by") for line in lines}
        newer |= {fact.superseded_by for fact in facts.values()}
        self._unseen |= self._seen.unseen(self._transaction, {*filter(None, newer)})
        for fact_id, own in groupby(lines, key=_of):
            one = self._compared(facts[fact_id], [*own])
            if one is not None:
                yield one

    def _compared(self, fact: Fact, lines: Sequence[JournalLine]) -> Difference | None:
        before, after = self._state(fact, lines, self._a), self._state(fact, lines, self._b)
        own = [line for line in lines if line.id > self._a.line]
        if after is None:
            return None
        was, becomes = before is not None and before.standing == "active", after.standing
        if before is None and becomes != "active":
            self.passed += 1
            return None
        if becomes == "erased" and before is not None and before.standing != "erased":
            return self._outcome(fact, DifferenceKind.ERASED, "", own, "erased")
        if before is None:
            return self._outcome(fact, DifferenceKind.ADDED, "", own, "added", after=after.values)
        if was and becomes != "active":
            by = None if after.by in self._unseen else after.by
            text = f"replaced by {ANOTHER_FACT if by is None else f'fact {by}'}"
            if after.by is None:
                text = becomes
            return self._outcome(fact, DifferenceKind.RETIRED, text, own, becomes, by=by)
        old, new = _changed(before.values, after.values)
        text = ", ".join(_words(old, new))
        if becomes == "active" and not was:
            told = f"it was {before.standing}" + (f"; {text}" if text else "")
            return self._outcome(
                fact, DifferenceKind.RESTORED, told, own, "restored", before=old, after=after.values
            )
        if was and (old or new):
            return self._outcome(
                fact, DifferenceKind.CHANGED, text, own, "changed", before=old, after=new
            )
        return None

    def _outcome(
        self,
        fact: Fact,
        kind: DifferenceKind,
        text: str,
        own: Sequence[JournalLine],
        outcome: str,
        *,
        by: int | None = None,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> Difference:
        line = None if outcome == "expired" else _deciding(own, outcome)
        quotes = line is not None and self._may_quote(line)
        return Difference(
            kind=kind,
            fact_id=fact.id,
            claim=claim_of(fact),
            text=text,
            at=(fact.expired_at or self._b.at) if line is None else line.at,
            line=None if line is None else line.id,
            actor=None if line is None else line.actor,
            source=None if line is None else line.source,
            reason=None if line is None else _reason(line, quotes=quotes) or None,
            evidence=line.evidence if line is not None and quotes else None,
            by=by,
            before=before or {},
            after=after or {},
        )

    def _may_quote(self, line: JournalLine) -> bool:
        """Whether the facts and episodes that the evidence may quote are visible."""
        if not line.evidence:
            return False
        named = {line.episode_id, number_in(line.evidence, "episode")} - {None}
        episodes = episode_table.get_many(self._transaction, [*filter(None, named)])
        other = number_in(line.after, "superseded_by")
        facts = fact_table.get_many(self._transaction, [] if other is None else [other])
        quoted: list[Fact | Episode] = [*episodes.values(), *facts.values()]
        seen = all(self._seen.sees(one) for one in quoted)
        is_quoted = self._seen.quotes(self._transaction, line.evidence)
        return seen and is_quoted and len(episodes) == len(named)

    def _state(self, fact: Fact, lines: Sequence[JournalLine], moment: Moment) -> _State | None:
        """Return a fact as it was at a moment; ``None`` if it did not exist."""
        own = [line for line in lines if line.id <= moment.line]
        if not own:
            return None
        if not fact.content:
            return self._erased_state(fact, own, moment)
        values = past.state(own) or {}
        if "deleted_at" in values:
            return _State("deleted", values, None)
        if "superseded_by" in values:
            return _State("superseded", values, values["superseded_by"])
        expires = values.get("expired_at")
        is_expired = expires is not None and clock.from_text(expires) <= moment.at
        return _State("expired" if is_expired else "active", values, None)

    def _erased_state(self, fact: Fact, own: Sequence[JournalLine], moment: Moment) -> _State:
        """Return the state of a fact that is erased by now, from the kinds of its lines."""
        kinds = [line.kind for line in own]
        if Kind.ERASE in kinds:
            return _State("erased", {}, None)
        if _last_of(kinds, Kind.DELETE) > _last_of(kinds, Kind.RESTORE):
            return _State("deleted", {}, None)
        superseded = _last_of(kinds, Kind.SUPERSEDE) > _last_of(kinds, Kind.UNSUPERSEDE)
        if superseded or self._began_superseded(fact):
            return _State("superseded", {}, fact.superseded_by)
        is_expired = fact.expired_at is not None and fact.expired_at <= moment.at
        return _State("expired" if is_expired else "active", {}, None)

    def _began_superseded(self, fact: Fact) -> bool:
        """Whether no line says what superseded a fact: it was taken in like that."""
        if fact.superseded_by is None:
            return False
        lines = journal.of_fact(self._transaction, fact.id)
        return all(line.kind != Kind.SUPERSEDE for line in lines)


def _last_of(kinds: Sequence[str], kind: str) -> int:
    return max((place for place, one in enumerate(kinds) if one == kind), default=-1)


def _deciding(own: Sequence[JournalLine], outcome: str) -> JournalLine | None:
    """Return the line that brought an outcome about: the last of its kinds, or else the last."""
    wanted = [line for line in own if line.kind in DECIDING.get(outcome, ())]
    changing = [line for line in own if line.kind not in UNCHANGED]
    return next(reversed(wanted or changing), None)


def _changed(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the old and new values of what differs, but for whether the fact is active."""
    names = [
        name for name in sorted({*before, *after} - STANDING) if before.get(name) != after.get(name)
    ]
    return (
        {name: before[name] for name in names if name in before},
        {name: after[name] for name in names if name in after},
    )


def _words(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    was, becomes = (one.get("metadata") or {} for one in (old, new))
    for name in sorted({*was, *becomes}):
        if was.get(name) != becomes.get(name):
            yield f"{name}: {_value(was.get(name))} → {_value(becomes.get(name))}"
    if "pinned_at" in {*old, *new}:
        yield "pinned" if "pinned_at" in new else "no longer pinned"
    if "confirmed_count" in {*old, *new}:
        yield f"confirmed: {old.get('confirmed_count', 0)} → {new.get('confirmed_count', 0)}"
    for name in sorted({*old, *new} - {"metadata", "pinned_at", *CONFIRMATION}):
        yield f"{name}: {_value(old.get(name))} → {_value(new.get(name))}"


CONFIRMATION: Final = frozenset({"confirmed_count", "last_confirmed_at"})


def _value(value: Any) -> str:
    return "none" if value is None else cropped(str(value), 40)


def _reason(line: JournalLine, *, quotes: bool) -> str:
    evidence = line.evidence or {}
    found = [*reasons.of_change(evidence)]
    said = evidence.get("said")
    if quotes and isinstance(said, str) and said.strip():
        found.append(f'"{cropped(said, SAID)}" was said')
    return " and ".join(found)


def _on_device(one: Difference, origin: Origin | None) -> Difference:
    return one if origin is None else replace(one, device=origin.device)


def _replacing(one: Difference, replaced: Iterable[int]) -> Difference:
    replaces = tuple(replaced)
    if not replaces or one.kind not in REPLACING:
        return one
    text = f"replaces {reasons.listed(replaces)}"
    return replace(one, replaces=replaces, text=f"{one.text}; {text}" if one.text else text)


def _of(line: JournalLine) -> int:
    return line.fact_id or 0


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))
