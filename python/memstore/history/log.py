"""The acts of the journal in words."""

from __future__ import annotations

from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Final

from memstore.database import origins
from memstore.database.journal import About, Kind
from memstore.database.tables import outlines, taken
from memstore.database.tables.journal_lines import ActLines, LineConditions
from memstore.database.tables.line_counts import FOUND, IMPORT
from memstore.domain.arguments import MAX_NUMBER
from memstore.domain.log import MAX_CLAIMS, Act, ActChange, LogLine, claim_of, cropped
from memstore.history.seen import ANOTHER_FACT, Seen
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.database.origins import Origin
    from memstore.domain.log import LogFilter, Outline
    from memstore.domain.records import JournalLine
    from memstore.domain.standing import Standing

UUID_DIGITS: Final = 8
"""The last digits of a UUID, which tell facts apart."""

TOGETHER: Final = 50
"""Acts whose facts are read at once."""

MAX_NAMED: Final = 5
"""More facts than these are counted and not named one by one."""

DONE: Final[Mapping[str, str]] = {
    Kind.ADD: "added {}",
    Kind.ADOPT: "took in {}",
    Kind.SUPERSEDE: "replaced {}",
    Kind.CONFIRM: "confirmed {}",
    Kind.METADATA: "changed the metadata of {}",
    Kind.UPDATE: "updated {}",
    Kind.PIN: "pinned {}",
    Kind.UNPIN: "unpinned {}",
    Kind.DELETE: "deleted {}",
    Kind.RESTORE: "restored {}",
    Kind.UNSUPERSEDE: "made {} active again",
    Kind.UNCONFIRM: "took confirmations of {} back",
    Kind.UNSUPPORT: "took support of {} back",
    Kind.SUPPORT: "gave {} support back",
    Kind.ERASE: "erased {}",
    Kind.EMBED: "embedded {}",
    Kind.QUARANTINE: "could not embed {}",
    Kind.KEEP: "kept {}, compared with something new",
    Kind.PROPOSE: "proposed to replace {}",
    Kind.ACCEPT: "accepted a proposal on {}",
    Kind.REJECT: "rejected a proposal on {}",
    Kind.REOPEN: "reopened a proposal on {}",
    Kind.REDACT: "erased a quote from the evidence on {}",
    Kind.EPISODE: "recorded {}",
    Kind.UPDATE_EPISODE: "changed {}",
    Kind.ERASE_EPISODE: "erased {}",
    Kind.STAGE: "staged an embedding model",
    Kind.SWITCH: "switched the embedding model",
    Kind.DROP: "dropped an embedding model",
    Kind.TOKEN: "created an access token",
    Kind.REVOKE_TOKEN: "revoked an access token",
    Kind.GRAPH: "built the graph",
    Kind.CLEAR_GRAPH: "removed the graph",
    Kind.SAME_ENTITY: "declared two names one entity",
    Kind.OTHER_ENTITY: "declared two names different entities",
    Kind.UNDECIDE: "took a decision about two names back",
    Kind.OVERTAKEN: "heard of a change of {} that something later had replaced",
    IMPORT: "imported {}",
}

SINGLE: Final = frozenset(
    {Kind.SUPERSEDE, Kind.PROPOSE, Kind.METADATA, Kind.ACCEPT, Kind.REJECT, Kind.REOPEN}
)
"""Kinds whose lines say more than a fact's id: they are told one by one if there are few."""

TRUSTING: Final = frozenset({Kind.TRUST, Kind.DISTRUST})


def acts(
    engine: Engine,
    wanted: LogFilter,
    standing: Standing,
) -> list[Act]:
    """Return acts, newest first, with what they did to facts and episodes that may be seen."""
    with engine.read() as transaction:
        before = wanted.before
        if before is not None and origins.is_any(transaction):  # it may be amid what was taken
            wanted = wanted._replace(before=taken.end_of_act(transaction, before) + 1)
        conditions = _wanted(transaction, wanted, standing)
        seen = Seen(standing.namespaces, standing.selected)
        parts = (
            part
            for found in conditions.acts()
            for part in _parts(transaction, found)
            if before is None or part.is_before(before)
        )
        found: list[Act] = []
        each = islice(parts, wanted.limit)
        while some := [*islice(each, TOGETHER)]:
            found += _acts(transaction, some, seen, conditions.added)
        return found


def act_of(
    transaction: Transaction, lines: Sequence[JournalLine], namespaces: Sequence[str]
) -> Act:
    """Return the act of these lines, with what it did to facts of these namespaces.

    It is told to models too, for which facts have numbers alone.
    """
    part = _Part(ActLines([*lines], {}), lines[0].txn, {})
    seen = Seen(namespaces, None)
    [act] = _acts(transaction, [part], seen, lambda *_: 0, with_ends=False)
    return act


class _Part(NamedTuple):
    """An act, which may be part of a transaction that took several acts of other devices."""

    found: ActLines
    number: int
    origins: Mapping[int, Origin]

    def is_before(self, line: int) -> bool:
        is_whole = self.number == self.found.lines[0].txn and not self.origins
        return (self.found.lines[-1].id if is_whole else self.number) < line


def _parts(transaction: Transaction, found: ActLines) -> list[_Part]:
    """Divide the lines of a transaction into the acts of this file and of others, newest first."""
    came_from = origins.of_lines(transaction, [line.id for line in found.lines])
    whole = _Part(found, found.lines[0].txn, came_from)
    if not came_from or found.numbers:  # one so large is one act there, too
        return [whole]
    groups: dict[Origin | None, list[JournalLine]] = {}
    for line in found.lines:
        groups.setdefault(came_from.get(line.id), []).append(line)
    if len(groups) == 1:
        return [whole]
    return [
        _Part(ActLines(lines, {}), lines[0].id, came_from) for lines in [*groups.values()][::-1]
    ]


def changes(
    engine: Engine,
    wanted: LogFilter,
    standing: Standing,
    *,
    newest_first: bool,
) -> list[LogLine]:
    """Return lines, each in words, about facts and episodes that may be seen."""
    unbound = wanted._replace(before=None, after=None)  # these are lines here, not acts
    with engine.read() as transaction:
        found = _wanted(transaction, unbound, standing).lines(
            wanted.before, wanted.after, wanted.limit, newest_first=newest_first
        )
        came_from = origins.of_lines(transaction, [line.id for line in found])
        drafts = [_Draft(_kind(line, came_from), [line]) for line in found]
        ids = {id_ for draft in drafts for id_ in draft.shown}
        facts = outlines.of_facts(transaction, [*ids])
        ends = _ends(transaction, facts)
    seen = Seen(standing.namespaces, standing.selected)
    told = (draft.change(facts, seen, ends) for draft in drafts)
    return [
        _line(line, change, came_from.get(line.id))
        for line, change in zip(found, told, strict=True)
    ]


def _wanted(transaction: Transaction, wanted: LogFilter, standing: Standing) -> LineConditions:
    namespaces, owners = standing.namespaces, standing.selected
    return LineConditions(transaction, wanted, namespaces, owners, whole_file=not standing.confined)


def _line(line: JournalLine, change: ActChange, origin: Origin | None) -> LogLine:
    return LogLine(
        line=line.id,
        act=line.txn,
        at=line.at,
        actor=line.actor,
        source=line.source,
        run=line.run,
        kind=change.kind,
        text=change.text,
        facts=change.facts,
        episodes=change.episodes,
        claims=change.claims,
        reverts=tuple(_reverted(line)),
        device=None if origin is None else origin.device,
    )


def _acts(
    transaction: Transaction,
    parts: Sequence[_Part],
    seen: Seen,
    added: Callable[[Sequence[int], int, int], int],
    *,
    with_ends: bool = True,
) -> list[Act]:
    """Return acts in words; the facts that they show are read together."""
    drafted = [_drafted(part, added) for part in parts]
    ids = {id_ for own in drafted for draft in own for id_ in draft.shown[:MAX_CLAIMS]}
    facts = outlines.of_facts(transaction, [*ids])
    ends = _ends(transaction, facts) if with_ends else {}
    return [_act(part, own, facts, seen, ends) for part, own in zip(parts, drafted, strict=True)]


def _drafted(part: _Part, added: Callable[[Sequence[int], int, int], int]) -> list[_Draft]:
    lines, numbers = part.found.lines, dict(part.found.numbers)
    if Kind.ADD in numbers and (successors := _successors(lines)):
        numbers[Kind.ADD] -= added([*successors], lines[0].txn, MAX_NUMBER)
    return [*_drafts(part.found._replace(numbers=numbers), part.origins)]


def _act(
    part: _Part,
    drafts: Sequence[_Draft],
    facts: Mapping[int, Outline],
    seen: Seen,
    ends: Mapping[int, str],
) -> Act:
    lines = part.found.lines
    # Imported lines, and those that took in foreign rows, have other authors.
    by = next((one for one in lines if one.said_at is None and _author(one) not in FOUND), lines[0])
    origin = part.origins.get(lines[0].id)
    if ends:  # only of the facts of this act
        own = {id_ for draft in drafts for id_ in draft.shown[:MAX_CLAIMS]}
        ends = {id_: end for id_, end in ends.items() if id_ in own}
    return Act(
        line=part.number,
        at=lines[0].at,
        actor=by.actor,
        source=by.source,
        run=by.run,
        changes=tuple([draft.change(facts, seen, ends) for draft in drafts]),
        reverts=tuple(sorted({line for one in lines for line in _reverted(one)})),
        device=None if origin is None else origin.device,
        said_at=None if origin is None else lines[0].said_at,
    )


class _Draft:
    """Lines of one kind, before the facts' texts are read."""

    def __init__(
        self,
        kind: str,
        lines: Sequence[JournalLine],
        number: int | None = None,
        listed: Sequence[About] = (),
    ) -> None:
        """Draft it for these lines, the first ones of a ``number`` of them.

        Args:
            listed: what all of them are about, if only the first is among ``lines``.
        """
        self.kind, self._first, self._all = kind, lines[0], number
        about = listed or [About(line.id, line.fact_id, line.episode_id) for line in lines]
        self._lines = tuple([one.id for one in about])
        self._facts = _unique([one.fact_id for one in about])
        self._episodes = _unique([one.episode_id for one in about if one.fact_id is None])
        self._newer = _newer(lines[0]) if kind in SUPERSEDING and len(self._facts) == 1 else None
        self.shown = self._facts if self._newer is None else (self._newer,)
        """The facts whose texts are shown."""

    def change(
        self, facts: Mapping[int, Outline], seen: Seen, ends: Mapping[int, str]
    ) -> ActChange:
        known = [facts[id_] for id_ in self.shown[:MAX_CLAIMS] if id_ in facts]
        newer = facts.get(self._newer or 0)
        is_named = newer is not None and seen.names(newer)
        listed = (*self._facts, newer.id) if newer is not None and is_named else self._facts
        return ActChange(
            kind=self.kind,
            text=self._text(
                _with_end(self._newer, ends) if is_named else ANOTHER_FACT,
                {id_: end for id_, end in ends.items() if seen.names(facts[id_])},
            ),
            facts=listed,
            episodes=self._episodes,
            number=self._all or len(listed) + len(self._episodes),
            claims=tuple(claim_of(fact) for fact in known if seen.names(fact)),
            lines=self._lines,
        )

    def _text(self, newer: str, ends: Mapping[int, str]) -> str:
        first = self._first
        if self.kind in TRUSTING:
            return "; ".join(_trusting(first)) or "changed how much sources count"
        parts = [
            _named(self._facts, "fact", self._all, ends),
            _named(self._episodes, "episode", self._all, {}),
        ]
        told = DONE.get(self.kind, "changed {}").format(" and ".join(filter(None, parts)))
        if len(self._facts) != 1:
            return told
        if self._newer is not None:
            told += f" by {newer}"
        if self.kind == Kind.METADATA:
            told += _metadata(first)
        proposal = (first.after or {}).get("proposal")
        return told if proposal is None else f"{told} (proposal {proposal})"


SUPERSEDING: Final = frozenset({Kind.SUPERSEDE, Kind.PROPOSE})


def _successors(lines: Sequence[JournalLine]) -> set[int]:
    """Return the facts that superseded others."""
    newer = (_newer(line) for line in lines if line.kind == Kind.SUPERSEDE)
    return {id_ for id_ in newer if id_ is not None}


def _drafts(found: ActLines, came_from: Mapping[int, Origin]) -> Iterator[_Draft]:
    successors = _successors(found.lines)
    listed = {
        kind: [one for one in about if one.fact_id not in successors]  # told with what it replaced
        for kind, about in found.listed.items()
    }
    by_kind: dict[str, list[JournalLine]] = {}
    for line in found.lines:
        kind = _kind(line, came_from)
        if listed.get(kind, kind != Kind.ADD or line.fact_id not in successors):
            by_kind.setdefault(kind, []).append(line)
    begins = {kind: own[0].id for kind, own in by_kind.items()}
    begins |= {kind: about[0].id for kind, about in listed.items() if about}
    for kind in sorted(by_kind, key=begins.__getitem__):
        own = by_kind[kind]
        if kind in TRUSTING or (kind in SINGLE and len(own) <= MAX_NAMED):
            yield from (_Draft(kind, [*one]) for _, one in groupby(own, key=_of))
        else:
            yield _Draft(kind, own, found.numbers.get(kind), listed.get(kind, ()))


def _kind(line: JournalLine, came_from: Mapping[int, Origin]) -> str:
    if line.id in came_from:
        return line.kind
    if line.said_at is not None:
        return IMPORT
    return IMPORT if line.kind == Kind.ADOPT and _author(line) not in FOUND else line.kind


def _of(line: JournalLine) -> int:
    return line.fact_id or 0


def _author(line: JournalLine) -> tuple[str, str]:
    return line.actor, line.source


def _newer(line: JournalLine) -> int | None:
    newer = (line.after or {}).get("superseded_by")
    return newer if isinstance(newer, int) else None


def _reverted(line: JournalLine) -> Sequence[int]:
    taken = (line.evidence or {}).get("reverts")
    return [one for one in taken if isinstance(one, int)] if isinstance(taken, list) else []


def _unique(ids: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(id_ for id_ in ids if id_ is not None))


def _ends(transaction: Transaction, facts: Mapping[int, Outline]) -> dict[int, str]:
    """Return the last digits of UUIDs, by which other devices know facts, if there are any."""
    if not origins.is_shared(transaction):
        return {}
    return {id_: fact.uuid[-UUID_DIGITS:] for id_, fact in facts.items()}


def _with_end(id_: int | None, ends: Mapping[int, str]) -> str:
    return f"{id_} ({ends[id_]})" if id_ is not None and id_ in ends else str(id_)


def _named(ids: Sequence[int], noun: str, number: int | None, ends: Mapping[int, str]) -> str:
    if not ids:
        return ""
    if number is not None:
        return f"{number:,} {noun}s"
    if len(ids) == 1:
        return f"{noun} {_with_end(ids[0], ends)}"
    if len(ids) > MAX_NAMED:
        return f"{len(ids):,} {noun}s"
    *most, last = (_with_end(id_, ends) for id_ in ids)
    return f"{noun}s {', '.join(most)} and {last}"


def _metadata(line: JournalLine) -> str:
    """Return which members changed, in brackets; nothing if the texts were erased."""
    was, became = ((one or {}).get("metadata") or {} for one in (line.before, line.after))
    told = [
        f"{name}: {_value(was.get(name))} → {_value(became.get(name))}"
        for name in sorted({*was, *became})
        if was.get(name) != became.get(name)
    ]
    return f" ({', '.join(told)})" if told else ""


def _value(value: Any) -> str:
    return "none" if value is None else cropped(str(value), 40)


def _trusting(line: JournalLine) -> Iterator[str]:
    before, after = line.before or {}, line.after or {}
    was, became = (one.get("levels") or {} for one in (before, after))
    for source in sorted({*was, *became}):
        if was.get(source) != became.get(source):
            yield f"set the trust of {source} to {became.get(source, 'the default')}"
    was, became = ({*(one.get("distrusted") or ())} for one in (before, after))
    for source in sorted(became - was):
        yield f"distrusted {source}"
    for source in sorted(was - became):
        yield f"trusted {source} again"
