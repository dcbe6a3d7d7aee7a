"""Taking back what an episode, a source, a run or an hour did: first a plan, then one act."""

from __future__ import annotations

import hashlib
import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from memstore.database import journal, selected
from memstore.database.changes import Changes, Line
from memstore.database.journal import Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import support as support_table
from memstore.database.tables.proposals import Decision
from memstore.domain import clock
from memstore.domain.plans import DECISIONS, UNDO, Action, Reverted, outdated
from memstore.errors import InvalidArgument, NotFound, Remedy
from memstore.frozen import replace
from memstore.history import proposals, trust
from memstore.history.seen import ANOTHER_FACT, Seen
from memstore.history.undoing import undoing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.database.journal import Author
    from memstore.domain.plans import PlanConflict, Selection, Step
    from memstore.domain.records import JournalLine
    from memstore.domain.standing import Standing
    from memstore.history.undoing import Undoing

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
    loses a leg. ``conflicts`` are facts that something else
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
        last = selected.last_lines(transaction, self._facts)
        legs = [leg.line for leg in support_table.of_facts(transaction, self._facts)]
        return hashlib.sha256(repr((self.lines, last, legs)).encode()).hexdigest()


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
        lines = selected.of_facts(transaction, chosen, namespaces, owners)
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
    """Decide a proposal, or open it again, with one line about the fact of the step."""
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
    decision = Decision(
        proposal_id, kind, [step.fact_id], new_id=new_id, content=content, evidence=evidence
    )
    proposal_table.decide(changes, decision)
