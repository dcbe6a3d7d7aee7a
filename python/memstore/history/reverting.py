"""Taking back what an episode, a source, a run or an hour did: first a plan, then one act."""

from __future__ import annotations

import hashlib
import re
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal, line_filters
from memstore.database.changes import Changes, Line
from memstore.database.journal import UNCHANGED, Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import support as support_table
from memstore.database.tables.proposals import ProposalDecision
from memstore.domain import clock
from memstore.domain.plans import DECISIONS, UNDO, Action, PlanConflict, Reverted, Step, outdated
from memstore.domain.proposals import ProposalState
from memstore.errors import InvalidArgument, NotFound, Remedy
from memstore.frozen import replace
from memstore.history import past, proposals, reasons, trust
from memstore.history.seen import ANOTHER_FACT, Seen
from memstore.history.supports import Supports, confirmed, taken_back
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.database.journal import Author
    from memstore.domain.plans import Selection
    from memstore.domain.records import Fact, JournalLine
    from memstore.domain.standing import Standing


BATCH: Final = 500
"""Facts whose lines are read at once."""

ASPECTS: Final = (
    ("superseded_by", "superseded_at"),
    ("deleted_at",),
    ("metadata",),
    ("pinned_at",),
    ("expired_at",),
    ("external_key",),
)
"""Columns that change together, and that can be taken back apart from the others.

Confirmations are counted instead, since each can be taken back whatever came after it.
"""

CONFIRMATIONS: Final = ("confirmed_count", "last_confirmed_at")

STAYS: Final = "stays, it has other support"

SETTING: Final = {
    "superseded_by": (Action.SUPERSEDE, "is superseded by fact {} again"),
    "deleted_at": (Action.DELETE, "is deleted again"),
    "metadata": (Action.METADATA, "gets its metadata of before back"),
    "pinned_at": (Action.PIN, "is pinned again"),
    "expired_at": (Action.UPDATE, "expires as before"),
    "external_key": (Action.UPDATE, "has its external key of before"),
    "confirmed_count": (Action.CONFIRM, "counts {} confirmation{}"),
}
CLEARING: Final = {
    "superseded_by": (Action.REACTIVATE, "is active again"),
    "deleted_at": (Action.RESTORE, "is restored"),
    "pinned_at": (Action.UNPIN, "is no longer pinned"),
}

DONE: Final[Mapping[str, str]] = {
    Kind.ADD: "stored",
    Kind.ADOPT: "taken in",
    Kind.SUPERSEDE: "superseded",
    Kind.UNSUPERSEDE: "made active again",
    Kind.CONFIRM: "confirmed",
    Kind.UNCONFIRM: "confirmed less often",
    Kind.UNSUPPORT: "left without support",
    Kind.SUPPORT: "given support back",
    Kind.METADATA: "given other metadata",
    Kind.UPDATE: "updated",
    Kind.PIN: "pinned",
    Kind.UNPIN: "unpinned",
    Kind.DELETE: "deleted",
    Kind.RESTORE: "restored",
    Kind.PROPOSE: "proposed to be superseded",
    Kind.ACCEPT: "superseded, by a proposal",
    Kind.REJECT: "kept, against a proposal",
    Kind.REOPEN: "proposed to be superseded again",
}

DECIDED_TO: Final = {
    (ProposalState.OPEN, ProposalState.REJECTED): (
        Action.REJECT,
        None,
        "keeps its place: proposal {} is rejected",
    ),
    (ProposalState.ACCEPTED, ProposalState.REJECTED): (
        Action.REJECT,
        Action.REACTIVATE,
        "keeps its place: proposal {} is rejected",
    ),
    (ProposalState.REJECTED, ProposalState.OPEN): (
        Action.REOPEN,
        None,
        "may be superseded: proposal {} is open again",
    ),
    (ProposalState.ACCEPTED, ProposalState.OPEN): (
        Action.REOPEN,
        Action.REACTIVATE,
        "may be superseded: proposal {} is open again",
    ),
    (ProposalState.OPEN, ProposalState.ACCEPTED): (
        Action.ACCEPT,
        Action.SUPERSEDE,
        "gives way: proposal {} is accepted again",
    ),
    (ProposalState.REJECTED, ProposalState.ACCEPTED): (
        Action.ACCEPT,
        Action.SUPERSEDE,
        "gives way: proposal {} is accepted again",
    ),
}
"""What brings a proposal from one state into another: the step, what has to be done to its facts
for that, and its words."""


class Undoing(NamedTuple):
    """What taking back the lines means."""

    steps: tuple[Step, ...]
    conflicts: tuple[PlanConflict, ...]
    facts: tuple[int, ...]
    """The facts that it rests on."""


def undoing(
    transaction: Transaction, selected: Sequence[JournalLine], visible: Callable[[Fact], bool]
) -> Undoing:
    """Plan what takes back the lines; only facts that are visible are changed or shown."""
    return _Undoing(transaction, selected, visible).planned()


class _Undoing:
    def __init__(
        self,
        transaction: Transaction,
        selected: Sequence[JournalLine],
        visible: Callable[[Fact], bool],
    ) -> None:
        self._transaction = transaction
        self._visible = visible
        self._lines = {line.id: line for line in selected}
        self._replaced: dict[int, list[Fact]] = {}
        """The facts that a fact which the selection added replaces, by its id."""
        self._owed: set[int] = set()
        """Supersessions that were taken back, but stay as long as the fact that replaced."""
        self._facts: dict[int, Fact] = {}
        self._supports: dict[int, Supports] = {}
        self._journal: dict[int, list[JournalLine]] = {}
        self._over: dict[int, set[int]] = {}
        """The lines of each fact that were taken back, unless the selection did that."""
        self._steps: dict[int, list[Step]] = {}
        self._conflicts: dict[int, PlanConflict] = {}

    def planned(self) -> Undoing:
        self._read({line.fact_id for line in self._lines.values() if line.fact_id})
        self._add_decisions()
        self._add_lost_beginnings()
        born = [id_ for id_ in self._facts if self._is_born(id_)]
        for ids in _batches(born):
            for old in filter(self._visible, fact_table.all_superseded_by(self._transaction, ids)):
                self._replaced.setdefault(old.superseded_by or 0, []).append(old)
        self._read({old.id for old in chain(*self._replaced.values())} - {*self._facts})
        self._replaced = {
            new_id: [old for old in olds if old.id in self._facts]
            for new_id, olds in self._replaced.items()
        }
        self._add_own_supersessions()
        for id_ in sorted(self._facts):
            if self._is_leaving(id_):
                self._unborn(id_)
        for id_ in sorted(self._facts):
            self._support(id_)
            if not self._is_leaving(id_):
                self._changed(id_)
        self._proposals()
        steps = chain.from_iterable(self._steps[id_] for id_ in sorted(self._steps))
        return Undoing((*steps,), (*self._conflicts.values(),), (*sorted(self._facts),))

    def _read(self, ids: Iterable[int]) -> None:
        """Read facts with their lines; erased ones, and those with no line yet, are left out."""
        for some in _batches(sorted(ids)):
            lines = sorted(journal.of_facts(self._transaction, some), key=_of_fact)
            self._journal |= {id_: [*own] for id_, own in groupby(lines, key=_of_fact)}
            self._supports |= Supports.of_facts(self._transaction, some, self._lines)
            for id_, one in fact_table.get_many(self._transaction, some).items():
                if one.status != "erased" and id_ in self._journal:
                    self._facts[id_] = one
                    others = [line for line in self._journal[id_] if line.id not in self._lines]
                    self._over[id_] = taken_back(others)

    def _is_born(self, fact_id: int) -> bool:
        """Return whether the selection added the fact."""
        return self._journal[fact_id][0].id in self._lines

    def _is_leaving(self, fact_id: int) -> bool:
        """Return whether nothing speaks for the fact any more without the selection."""
        supports = self._supports[fact_id]
        return not supports.after and (self._is_born(fact_id) or bool(supports.lost))

    def _add_lost_beginnings(self) -> None:
        """Select what was taken back before of facts that lose their last support now.

        So it does not matter in which order the sources of a fact are taken back.
        """
        for id_ in [one for one in self._facts if self._is_leaving(one)]:
            own = self._journal[id_]
            ended = {
                line
                for one in own
                if one.kind == Kind.UNSUPPORT and one.id not in self._over[id_] | {*self._lines}
                for line in reasons.numbers_in(one.evidence or {}, "reverts")
            }
            self._lines |= {one.id: one for one in own if one.id in ended}
            self._owed |= ended

    def _add_decisions(self) -> None:
        """Select accepted proposals with what they did, and the other way round."""
        for own in self._journal.values():
            acts = {
                line.txn
                for line in own
                if line.id in self._lines and line.kind in (Kind.SUPERSEDE, Kind.ACCEPT)
            }
            for line in own:
                is_either = line.kind in (Kind.SUPERSEDE, Kind.ACCEPT) and line.txn in acts
                if is_either and any(
                    one.kind == Kind.ACCEPT and one.txn == line.txn for one in own
                ):
                    self._lines[line.id] = line

    def _add_own_supersessions(self) -> None:
        """Select the supersessions by facts that the selection added, in the same acts."""
        for new_id, olds in self._replaced.items():
            acts = {line.txn for line in self._journal[new_id] if line.id in self._lines}
            for line in chain.from_iterable(self._journal[old.id] for old in olds):
                if line.kind == Kind.SUPERSEDE and (line.txn in acts or line.id in self._owed):
                    self._lines[line.id] = line
        self._add_decisions()

    def _later(self, fact_id: int, after: int, columns: Sequence[str] = ()) -> list[JournalLine]:
        """Return the changes of a fact (or of these columns) that are not selected."""
        return [
            line
            for line in self._journal[fact_id]
            if line.id > after
            and line.id not in self._lines
            and line.id not in self._over[fact_id]
            and not self._took_back(line, after)
            and line.kind not in UNCHANGED
            and (not columns or _touches(line, columns))
        ]

    @staticmethod
    def _took_back(line: JournalLine, after: int) -> bool:
        """Return whether a line took back only what came after another, so that both are over."""
        reverted = reasons.numbers_in(line.evidence or {}, "reverts")
        return bool(reverted) and min(reverted) > after

    def _unborn(self, fact_id: int) -> None:
        """Plan the deletion of a fact that rests on nothing but the selection."""
        fact = self._facts[fact_id]
        if fact.deleted_at is not None:
            return
        own = [line for line in self._journal[fact_id] if line.id in self._lines]
        spoke = [line for line in own if line.id in self._supports[fact_id].lost] or own[:1]
        ids = [line.id for line in spoke]
        step = _step(fact, Action.DELETE, "is deleted", spoke[:1], {"deleted_at": None}, ids=ids)
        later = self._later(fact_id, own[0].id)
        others = [
            line
            for old in self._replaced.get(fact_id, ())
            for line in self._later(old.id, own[0].id, ("superseded_by",))
        ]
        steps = [step, *self._confirmations(fact)]
        if not (later or others):
            self._steps[fact_id] = steps
            return
        for old in self._replaced.get(fact_id, ()):
            lines = [one for one in self._journal[old.id] if _touches(one, ("superseded_by",))]
            before = {"superseded_by": None, "superseded_at": None}
            steps.append(_step(old, Action.REACTIVATE, "is active again", lines[-1:], before))
        reasons = [f"it was {_described(line)}" for line in later]
        reasons += [f"fact {line.fact_id} was {_described(line)}, by this one" for line in others]
        self._conflict(fact, "; ".join(reasons), steps)

    def _support(self, fact_id: int) -> None:
        """Plan to take away the support that a fact began with, if it stays, or to give it back."""
        fact, supports, own = self._facts[fact_id], self._supports[fact_id], self._journal[fact_id]
        first = own[0]
        is_deleted = fact.deleted_at is not None
        if first.id in supports.lost and (supports.after or is_deleted):
            kept = [line.id for line in self._kept_by(fact_id)] if supports.after else []
            ids = [first.id, *kept]
            if supports.after:
                also = f"; it was also {reasons.of_support(supports.after[0])}"
                step = _step(fact, Action.UNSUPPORT, STAYS, [first], {}, ids=ids, also=also)
            else:
                text = "stays deleted, without this support"
                step = _step(fact, Action.UNSUPPORT, text, [first], {}, ids=ids)
            self._steps.setdefault(fact_id, []).append(step)
        given = [line for line in own if line.id in self._lines and line.kind == Kind.UNSUPPORT]
        if given and first.id in supports.gained:
            step = _step(fact, Action.SUPPORT, "has this support again", given, {})
            self._steps.setdefault(fact_id, []).append(step)

    def _kept_by(self, fact_id: int) -> Iterator[JournalLine]:
        """Yield the selected supersessions by a fact that stays."""
        for old in self._replaced.get(fact_id, ()):
            for line in self._journal[old.id]:
                by = (line.after or {}).get("superseded_by")
                if line.kind == Kind.SUPERSEDE and line.id in self._lines and by == fact_id:
                    yield line

    def _confirmations(self, fact: Fact) -> Iterator[Step]:
        """Yield the step that takes confirmations back, or gives them back."""
        supports, own = self._supports[fact.id], self._journal[fact.id]
        values = confirmed(fact, own, supports)
        if values is not None:
            changed = [
                line
                for line in own
                if line.id in self._lines
                and line.id not in self._over[fact.id]
                and _touches(line, CONFIRMATIONS)
            ]
            yield _set(fact, changed, values)

    def _changed(self, fact_id: int) -> None:
        """Plan to take back changes of a fact that was there before."""
        fact = self._facts[fact_id]
        if steps := [*self._confirmations(fact)]:
            self._steps.setdefault(fact_id, []).extend(steps)
        for columns in ASPECTS:
            own = [
                line
                for line in self._journal[fact_id]
                if line.id in self._lines
                and line.id not in self._over[fact_id]
                and _touches(line, columns)
            ]
            if not own:
                continue
            if columns[0] == "deleted_at" and self._is_bereft(fact_id):
                continue
            later = self._later(fact_id, own[0].id, columns)
            reasons = [f"it was {_described(line)}, later" for line in later]
            if columns[0] == "superseded_by":
                if self._is_kept(fact.superseded_by):
                    continue  # it comes with what replaced it
                reasons += self._relied_on(fact, own[0])
            if columns[0] in ("superseded_by", "deleted_at"):
                reasons += self._lost_key(fact)
            values = self._before(fact, own, columns, bool(later))
            if _same(fact, values):
                continue
            step = _set(fact, own, values)
            if reasons:
                self._conflict(fact, "; ".join(reasons), [step])
            else:
                self._steps.setdefault(fact_id, []).append(step)

    def _is_bereft(self, fact_id: int) -> bool:
        """Return whether all that spoke for a fact was taken back, so that it stays deleted."""
        return (
            not self._supports[fact_id].after
            and self._journal[fact_id][0].id in self._over[fact_id]
        )

    def _is_kept(self, fact_id: int | None) -> bool:
        """Return whether the selection added a fact that is in conflict, or has other support."""
        if fact_id not in self._facts or not self._is_born(fact_id):
            return False
        return fact_id in self._conflicts or not self._is_leaving(fact_id)

    def _relied_on(self, fact: Fact, line: JournalLine) -> Iterator[str]:
        """Yield what later superseded the fact that superseded this one."""
        if fact.superseded_by is None:
            return
        successor = self._facts.get(fact.superseded_by)
        if successor is None:
            self._read([fact.superseded_by])
            successor = self._facts.get(fact.superseded_by)
        if successor is None or successor.superseded_by is None:
            return
        for one in self._later(successor.id, line.id, ("superseded_by",)):
            yield f"fact {successor.id}, which replaced it, was {_described(one)}, later"

    def _lost_key(self, fact: Fact) -> Iterator[str]:
        """Yield which fact, that the selection leaves alone, has the fact's external key now."""
        for one in fact_table.of_external_key(self._transaction, fact, fact.namespace):
            own = self._journal.get(one.id, ())
            if one.id != fact.id and not any(line.id in self._lines for line in own):
                yield f"its external key is that of fact {one.id} now"

    def _before(
        self, fact: Fact, own: Sequence[JournalLine], columns: Sequence[str], was_changed: bool
    ) -> dict[str, Any]:
        """Return the values that the columns had before the selected lines."""
        first = own[0]
        lines = [line for line in self._journal[fact.id] if line.id < first.id]
        state = (past.state(lines) or {}) | dict(first.before or {})
        values: dict[str, Any] = {name: state.get(name) for name in columns}
        if columns[0] == "metadata":
            values["metadata"] = values["metadata"] or {}
            if was_changed:
                values["metadata"] = _patched_back(fact.metadata, values["metadata"], own)
        return values

    def _conflict(self, fact: Fact, reason: str, steps: Sequence[Step]) -> None:
        known = self._conflicts.get(fact.id)
        if known is not None:
            reason, steps = f"{known.reason}; {reason}", (*known.steps, *steps)
        self._conflicts[fact.id] = PlanConflict(
            fact_id=fact.id, claim=_claim(fact), reason=reason, steps=(*steps,)
        )

    def _proposals(self) -> None:
        """Plan to reject what the selection proposed, and to take its decisions back."""
        chosen, _ = proposals.grouped(self._lines.values())
        for id_, row in proposal_table.with_ids(self._transaction, [*chosen]).items():
            sources = row.sources or (row.old_id,)
            fact = self._facts.get(sources[0])
            if fact is None:
                continue
            lines, left = proposals.lines_about(self._transaction, sources)
            rest = [line for line in lines[id_] if line.id not in self._lines]
            over = taken_back(rest)
            rest = [
                line
                for line in rest
                if line.id not in over and not reasons.numbers_in(line.evidence or {}, "reverts")
            ]
            state = proposal_table.STATES[rest[-1].kind] if rest else ProposalState.REJECTED
            done = DECIDED_TO.get((ProposalState(row.state), state))
            if done is None:
                continue
            action, needs, text = done
            if needs and row.sources and _has_no_text(lines[id_][0], left):
                continue
            last = chosen[id_][-1]
            ids = [line.id for line in chosen[id_]]
            step = _step(fact, action, text.format(id_), [last], {}, proposal_id=id_, ids=ids)
            self._decided(step, sources, needs)

    def _decided(self, step: Step, sources: Sequence[int], needs: Action | None) -> None:
        """Plan a decision, beside the steps that it says were done to its facts."""
        if needs is None or all(self._has(self._steps.get(one, ()), needs, one) for one in sources):
            self._steps.setdefault(step.fact_id, []).append(step)
            return
        for id_, conflict in self._conflicts.items():
            if all(self._has(conflict.steps, needs, one) for one in sources):
                self._conflicts[id_] = replace(conflict, steps=(*conflict.steps, step))

    @staticmethod
    def _has(steps: Iterable[Step], action: Action, fact_id: int) -> bool:
        return any((step.fact_id, step.action) == (fact_id, action) for step in steps)


def _set(fact: Fact, own: Sequence[JournalLine], values: Mapping[str, Any]) -> Step:
    column, value = next(iter(values.items()))
    if value is None and column in CLEARING:
        action, text = CLEARING[column]
    else:
        action, text = SETTING[column]
        if column == "confirmed_count" and value < fact.confirmed_count:
            action = Action.UNCONFIRM
    return _step(fact, action, text.format(value, "" if value == 1 else "s"), own, values)


def _step(
    fact: Fact,
    action: Action,
    text: str,
    own: Sequence[JournalLine],
    values: Mapping[str, Any],
    *,
    proposal_id: int | None = None,
    ids: Sequence[int] | None = None,
    also: str = "",
) -> Step:
    return Step(
        fact_id=fact.id,
        claim=_claim(fact),
        action=action,
        text=text,
        reason=f"it was {_described(own[-1])}{also}",
        lines=tuple(ids or [line.id for line in own]),
        values=values,
        proposal_id=proposal_id,
    )


def _has_no_text(line: JournalLine, left: Mapping[int, Mapping[str, Any]]) -> bool:
    """Return whether the text of a consolidation is not known any more, so that it cannot open."""
    text, _ = proposal_table.split(proposals.evidence_of(line, left))
    return text is None


def _described(line: JournalLine) -> str:
    done = DONE.get(line.kind, "changed")
    to = (line.after or {}).get("superseded_by") if line.kind == Kind.SUPERSEDE else None
    by = f" by fact {to}" if to else ""
    return f"{done}{by} in line {line.id} ({line.actor} through {line.source})"


def _claim(fact: Fact) -> str:
    return f"{fact.subject}: {fact.content}"


def _touches(line: JournalLine, columns: Sequence[str]) -> bool:
    if line.kind in UNCHANGED or line.kind in past.BEGINS:
        return False
    return any(name in (line.after or {}) for name in columns)


def _same(fact: Fact, values: Mapping[str, Any]) -> bool:
    current = {"metadata": {}, "confirmed_count": 0} | fact_table.journalled(fact)
    return all(current.get(name) == value for name, value in values.items())


def _patched_back(
    current: Mapping[str, Any], before: Mapping[str, Any], own: Sequence[JournalLine]
) -> dict[str, Any]:
    """Return the metadata of now, with what the lines changed as it was before them."""
    changed: set[str] = set()
    for line in own:
        was, became = ((one or {}).get("metadata") or {} for one in (line.before, line.after))
        changed |= {k for k in {*was, *became} if was.get(k) != became.get(k)}
    kept = {name: value for name, value in current.items() if name not in changed}
    return kept | {name: value for name, value in before.items() if name in changed}


def _of_fact(line: JournalLine) -> int:
    return line.fact_id or 0


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


KINDS: Final = {
    Action.DELETE: Kind.DELETE,
    Action.RESTORE: Kind.RESTORE,
    Action.SUPERSEDE: Kind.SUPERSEDE,
    Action.REACTIVATE: Kind.UNSUPERSEDE,
    Action.METADATA: Kind.METADATA,
    Action.UPDATE: Kind.UPDATE,
    Action.PIN: Kind.PIN,
    Action.UNPIN: Kind.UNPIN,
    Action.CONFIRM: Kind.CONFIRM,
    Action.UNCONFIRM: Kind.UNCONFIRM,
    Action.UNSUPPORT: Kind.UNSUPPORT,
    Action.SUPPORT: Kind.SUPPORT,
    Action.ACCEPT: Kind.ACCEPT,
    Action.REJECT: Kind.REJECT,
    Action.REOPEN: Kind.REOPEN,
}
"""The kind of line that each step writes."""


class Plan:
    """What a revert would do. Nothing is changed before :meth:`apply`.

    ``steps`` say what happens to which fact, and why; one that something else speaks for stays, and
    loses a support. ``conflicts`` are facts that something else
    changed later, or relies on; they are left alone. ``missing`` says of which lines and acts that
    were named nothing is here. ``digest`` stands for what the plan rests on.
    """

    def __init__(
        self,
        engine: Engine,
        author: Author,
        transaction: Transaction,
        lines: Sequence[JournalLine],
        seen: Seen,
        missing: Sequence[str] = (),
    ) -> None:
        self._engine, self._author = engine, author
        self.missing: tuple[str, ...] = tuple(missing)
        """A sentence for each line and act that was named and is not in the log, or is not about a
        fact here."""
        self.lines: tuple[int, ...] = tuple(line.id for line in lines)
        """The selected lines of the journal."""
        found = undoing(transaction, lines, seen.sees)
        naming = _Naming(transaction, seen, found)
        self.steps: tuple[Step, ...] = naming.steps(found.steps)
        self.conflicts: tuple[PlanConflict, ...] = naming.conflicts(found.conflicts)
        self._facts = found.facts
        self.digest: str = self._digest(transaction)

    def __repr__(self) -> str:
        return f"Plan(steps={len(self.steps)}, conflicts={len(self.conflicts)})"

    def __bool__(self) -> bool:
        """Whether there is anything to do or to decide."""
        return bool(self.steps or self.conflicts)

    def to_dict(self) -> dict[str, Any]:
        return {
            "steps": [step.to_dict() for step in self.steps],
            "conflicts": [conflict.to_dict() for conflict in self.conflicts],
            "lines": len(self.lines),
            "missing": [*self.missing],
            "digest": self.digest,
        }

    def apply(self, *, decide: Mapping[int, str] | None = None) -> Reverted:
        """Do it in one transaction; its lines name those that they take back.

        Args:
            decide: for the facts of conflicts, by id: ``"undo"`` or (the default) ``"leave"``.

        Raises:
            Conflict: something that the plan rests on has changed since; nothing was done.
            ValueError: another decision than these, or about a fact that has no conflict.
        """
        steps = self._decided(decide or {})
        with self._engine.write() as transaction:
            if self._digest(transaction) != self.digest:
                raise outdated()
            if not steps:
                return Reverted(act=None, lines=(), steps=())
            trust.check_acts(transaction, self._author, sorted({step.fact_id for step in steps}))
            before = journal.last_id(transaction)
            changes = Changes(transaction, self._author)
            for step in steps:
                _take(changes, step)
            after = journal.last_id(transaction)
            return Reverted(act=before + 1, lines=(*range(before + 1, after + 1),), steps=steps)

    def _decided(self, decide: Mapping[int, str]) -> tuple[Step, ...]:
        conflicts = {conflict.fact_id: conflict for conflict in self.conflicts}
        steps = {_key(step): step for step in self.steps}
        for fact_id, decision in decide.items():
            if fact_id not in conflicts:
                raise InvalidArgument(
                    f"names fact {fact_id}, which has no conflict", argument=DECIDE
                )
            if decision not in DECISIONS:
                raise InvalidArgument(
                    f"must be one of {', '.join(DECISIONS)}, not {decision!r}", argument=DECIDE
                )
            if decision == UNDO:
                added = conflicts[fact_id].steps
                steps = {_key(step): step for step in added} | steps
        return (*steps.values(),)

    def _digest(self, transaction: Transaction) -> str:
        last = line_filters.last_lines(transaction, self._facts)
        supports = [support.line for support in support_table.of_facts(transaction, self._facts)]
        return hashlib.sha256(repr((self.lines, last, supports)).encode()).hexdigest()


DECIDE: Final = "decide"

FACT: Final = re.compile(r"\bfact ([0-9]{1,19})\b")
"""How the sentences of a plan name a fact."""


class _Naming:
    """Leaves the facts out of a plan's sentences that its reader may not see."""

    def __init__(self, transaction: Transaction, seen: Seen, found: Undoing) -> None:
        steps = chain(found.steps, *(conflict.steps for conflict in found.conflicts))
        texts = [text for step in steps for text in (step.text, step.reason)]
        texts += [conflict.reason for conflict in found.conflicts]
        named = {int(number) for text in texts for number in FACT.findall(text)}
        self._unseen = seen.unseen(transaction, named)

    def steps(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        if not self._unseen:
            return (*steps,)
        return tuple(
            replace(step, text=self._naming(step.text), reason=self._naming(step.reason))
            for step in steps
        )

    def conflicts(self, conflicts: Sequence[PlanConflict]) -> tuple[PlanConflict, ...]:
        if not self._unseen:
            return (*conflicts,)
        return tuple(
            replace(one, reason=self._naming(one.reason), steps=self.steps(one.steps))
            for one in conflicts
        )

    def _naming(self, text: str) -> str:
        return FACT.sub(lambda name: self._name(name[0], int(name[1])), text)

    def _name(self, name: str, fact_id: int) -> str:
        return ANOTHER_FACT if fact_id in self._unseen else name


def plan(
    engine: Engine,
    author: Author,
    chosen: Selection,
    standing: Standing,
) -> Plan:
    """Plan to take back the selected lines about facts of the standing's owners."""
    if all(condition is None for condition in chosen):
        raise InvalidArgument(
            "nothing is selected: give an episode, a source, a run, an actor, a time or lines"
        )

    with engine.read() as transaction:
        namespaces, owners = standing.namespaces, standing.selected
        lines = line_filters.of_facts(transaction, chosen, namespaces, owners)
        missing = [*_missing(chosen, lines, journal.last_id(transaction))]
        return Plan(engine, author, transaction, lines, Seen(namespaces, owners), missing)


def _missing(chosen: Selection, lines: Sequence[JournalLine], last: int) -> Iterator[str]:
    """Say which of the lines and acts that were named select nothing, and why."""
    others = chosen._replace(lines=None, acts=None)
    narrowed = any(value is not None for value in others)
    of_lines = {line.id for line in lines}
    of_acts = {line.txn for line in lines}
    for kind, named, known in (("line", chosen.lines, of_lines), ("act", chosen.acts, of_acts)):
        for number in dict.fromkeys(named or ()):
            if number > last:
                yield f"there is no {kind} {number}"
            elif number not in known:
                also = " that passes the other conditions" if narrowed else ""
                yield f"{kind} {number} is no change of a fact here{also}"


def _key(step: Step) -> tuple[int, str, int | None]:
    return step.fact_id, step.action, step.proposal_id


def _take(changes: Changes, step: Step) -> None:
    evidence = {"reverts": [*step.lines]}
    if step.proposal_id is not None:
        _decide(changes, step, step.proposal_id, evidence)
        return
    if not step.values:  # it changes what speaks for the fact, and nothing of the fact
        changes.write(Line(KINDS[Action(step.action)], step.fact_id, evidence=evidence))
        return
    fact = fact_table.get_many(changes.transaction, [step.fact_id]).get(step.fact_id)
    if fact is None:  # pragma: no cover - facts are never removed
        raise NotFound(f"there is no fact {step.fact_id}", remedy=Remedy.FIND_ID)
    values = dict(step.values)
    if step.action == Action.DELETE and values["deleted_at"] is None:
        values["deleted_at"] = clock.to_text(changes.moment)
    current = fact_table.journalled(fact)
    line = Line(
        KINDS[Action(step.action)],
        fact.id,
        before={name: current.get(name) for name in values},
        after=values,
        evidence=evidence,
    )
    changes.write(line, fact_table.updating(fact.id, **values))


def _decide(changes: Changes, step: Step, proposal_id: int, evidence: Mapping[str, Any]) -> None:
    """Decide a proposal, or open it again, with a line about each of its facts."""
    transaction, kind = changes.transaction, KINDS[Action(step.action)]
    row = proposal_table.with_ids(transaction, [proposal_id])[proposal_id]
    lines, left = proposals.lines_about(transaction, row.sources or (row.old_id,))
    first, content = lines[proposal_id][0], None
    if row.sources:
        content, _ = proposal_table.split(proposals.evidence_of(first, left))
    new_id = row.new_id
    if kind == Kind.ACCEPT:
        accepted = [line for line in lines[proposal_id] if line.kind == Kind.ACCEPT]
        new_id = (accepted[-1].after or {}).get("superseded_by", new_id)
    elif row.sources:
        new_id = None
    facts = row.sources or (step.fact_id,)
    decision = ProposalDecision(
        proposal_id, kind, facts, new_id=new_id, content=content, evidence=evidence
    )
    proposal_table.decide(changes, decision)
