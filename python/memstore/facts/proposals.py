"""Proposals: supersessions and consolidations that a person decides on."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from memstore.database.journal import Kind
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables.proposals import ProposalDecision, ProposalFilter
from memstore.domain import clock, queries, zones
from memstore.domain.arguments import (
    MAX_QUERY,
    checked_id,
    checked_ids,
    checked_page,
    checked_text,
    shown,
)
from memstore.domain.proposals import Decided, Proposal, ProposalState, Question
from memstore.domain.queries import ProposalNarrowing
from memstore.domain.records import NewFact
from memstore.errors import Conflict, InvalidArgument, NotFound, Remedy
from memstore.facts.checks import CONSOLIDATE
from memstore.facts.rules import standing
from memstore.frozen import from_arguments
from memstore.text.folding import subject_key
from memstore.text.marking import marked

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from memstore.database.engine import Engine, Transaction
    from memstore.domain.records import Fact
    from memstore.facts.checks import Prepared
    from memstore.facts.transactions import FactTransactions
    from memstore.facts.writer import FactWriter


REJECT: Final = "reject"
VERDICTS: Final = ("accept", REJECT)


class Proposals(zones.Zoned):
    """The proposals of one namespace."""

    def __init__(self, engine: Engine, facts: FactTransactions) -> None:
        self._engine = engine
        self._facts = facts

    def list(
        self,
        state: str | None = ProposalState.OPEN,
        *,
        subject: str | None = None,
        category: str | None = None,
        source: str | None = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        limit: int | None = None,
        after_id: int | None = None,
    ) -> builtins.list[Proposal]:
        """Return proposals, oldest first.

        Args:
            state: ``open`` (undecided, and all its facts are active), ``accepted`` or
                ``rejected``; ``None`` for all there ever were.
            subject: only proposals about facts of this subject.
            category: only proposals about a fact of this category.
            source: only proposals about a fact, the older or the newer, from this source.
            created_after, created_before: only proposals put forward between these times
                (exclusive).
            limit: the maximum number; ``None`` for all.
            after_id: only proposals with larger ids; with the last one of a page, the next page.
        """
        wanted = self._wanted(state, from_arguments(ProposalNarrowing, locals()))
        return self._select(wanted, limit, after_id)

    def count(
        self,
        state: str | None = ProposalState.OPEN,
        *,
        subject: str | None = None,
        category: str | None = None,
        source: str | None = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
    ) -> int:
        """Return how many proposals :meth:`list` would return without a limit."""
        wanted = self._wanted(state, from_arguments(ProposalNarrowing, locals()))
        with self._engine.read() as transaction:
            return proposal_table.count(transaction, self._facts.namespace, wanted)

    def get(self, proposal_id: int) -> Proposal:
        """Return one proposal in any state.

        Raises:
            NotFound: no such proposal in this namespace.
        """
        with self._engine.read() as transaction:
            return self._known(transaction, proposal_id)

    def put_forward(
        self, sources: Sequence[int], content: str, evidence: Mapping[str, Any]
    ) -> Proposal:
        """Propose that one text replaces several facts.

        Args:
            sources: the ids of two or more active facts about one subject, of the same owners.
            content: the text of the new fact.
            evidence: the reasons for it.

        Raises:
            NotFound: a fact is not in this namespace, or they have different owners.
            Conflict: a fact is no longer active, or the same facts were proposed before.
        """
        with self._facts.writing() as transaction:
            writer = self._facts.writer(transaction)
            facts = [writer.active(fact_id) for fact_id in sorted(set(sources))]
            if strangers := [fact.id for fact in facts if fact.scope != facts[0].scope]:
                raise NotFound(f"these facts to consolidate have other owners: {strangers}")
            if len(facts) < 2 or len({subject_key(fact.subject) for fact in facts}) > 1:
                raise InvalidArgument(
                    "must be two facts or more about one subject", argument="sources"
                )
            ids = [fact.id for fact in facts]
            known = proposal_table.consolidating(transaction, ids, self._facts.namespace)
            if known is not None:
                raise Conflict(
                    f"proposal {known.id} is already about the same facts; it is {known.state}"
                )
            new_id = proposal_table.insert_consolidation(writer.changes, ids, content, evidence)
            return self._known(transaction, new_id or 0)

    def accept(self, proposal_id: int) -> Proposal:
        """Accept a proposal: the new fact supersedes the older one or ones.

        Raises:
            NotFound: no such proposal.
            Conflict: it was already decided, or one of the facts is no longer active.
        """
        prepared = self._prepared(proposal_id)
        with self._facts.writing() as transaction:
            return self._accepted(transaction, proposal_id, prepared)

    def reject(self, proposal_id: int, *, remove: bool = False) -> Proposal:
        """Reject a proposal: its facts stay active, and it is not proposed again.

        Args:
            proposal_id: its id.
            remove: also delete the newer fact, in the same act: only the older one is true.

        Raises:
            NotFound: no such proposal.
            Conflict: it was already decided, or there is no newer fact to delete.
        """
        with self._facts.writing() as transaction:
            return self._rejected(transaction, proposal_id, remove=remove)

    def decide(self, verdict: str, proposal_ids: Iterable[int], *, remove: bool = False) -> Decided:
        """Accept or reject several proposals in one transaction, which is one act to undo.

        Those that cannot be decided are left, and named.

        Args:
            verdict: ``"accept"`` or ``"reject"``.
            proposal_ids: their ids, in the order in which they are decided.
            remove: of those that are rejected, also delete the newer fact.
        """
        if verdict not in VERDICTS:
            raise InvalidArgument(
                f"must be {' or '.join(VERDICTS)}, not {verdict!r}", argument="verdict"
            )
        ids = checked_ids(proposal_ids, "proposal_ids")
        done: builtins.list[Proposal] = []
        left: builtins.list[int] = []
        # Texts are embedded before the transaction opens.
        prepared = {} if verdict == REJECT else self._all_prepared(ids)
        with self._facts.writing() as transaction:
            for proposal_id in dict.fromkeys(ids):
                try:
                    if verdict == REJECT:
                        done.append(self._rejected(transaction, proposal_id, remove=remove))
                    else:
                        its = prepared.get(proposal_id)
                        done.append(self._accepted(transaction, proposal_id, its))
                except (Conflict, NotFound):  # raised before anything of it is written
                    left.append(proposal_id)
        return Decided(proposals=tuple(done), left=tuple(left))

    def reopen(self, proposal_id: int) -> Proposal:
        """Open a rejected proposal again: it can be decided anew.

        Also an accepted one whose supersession was taken back, so that all its facts are active.

        Raises:
            NotFound: no such proposal.
            Conflict: it is open, or one of its facts is no longer active.
        """
        with self._facts.writing() as transaction:
            proposal = self._known(transaction, proposal_id)
            if proposal.state == ProposalState.OPEN:
                raise Conflict(f"proposal {proposal_id} is open already")
            if proposal.kind == "consolidation" and proposal.new is not None:
                raise Conflict(
                    f"proposal {proposal_id} was accepted, and its text is fact {proposal.new.id}"
                )
            for fact in _facts_of(proposal):
                if fact.status != "active":
                    raise Conflict(f"fact {fact.id} of proposal {proposal.id} is {standing(fact)}")
            writer = self._facts.writer(transaction)
            writer.check_acts(*_facts_of(proposal))
            decision = _decision(proposal, Kind.REOPEN)
            if proposal.kind == "consolidation":
                decision = decision._replace(content=proposal.content)
            proposal_table.decide(writer.changes, decision)
            return self._known(transaction, proposal.id)

    def questions(
        self,
        state: str | None = ProposalState.OPEN,
        *,
        subject: str | None = None,
        category: str | None = None,
        source: str | None = None,
        created_after: datetime | str | None = None,
        created_before: datetime | str | None = None,
        limit: int | None = None,
        after_id: int | None = None,
    ) -> builtins.list[Question]:
        """Return proposals as a person reads them, those about one subject together.

        The arguments are those of :meth:`list`; a page ends with its largest id.
        """
        wanted = self._wanted(state, from_arguments(ProposalNarrowing, locals()))
        proposals = self._select(wanted, limit, after_id)
        first: dict[str, int] = {}
        for place, one in enumerate(proposals):
            first.setdefault(subject_key(one.old.subject), place)
        proposals.sort(key=lambda one: (first[subject_key(one.old.subject)], one.id))
        with self._engine.read() as transaction:
            return [_question(transaction, one) for one in proposals]

    def _select(
        self, wanted: ProposalFilter, limit: int | None, after_id: int | None
    ) -> builtins.list[Proposal]:
        checked_page(limit, 0, after_id=after_id)
        with self._engine.read() as transaction:
            return proposal_table.select(
                transaction, self._facts.namespace, wanted, after_id=after_id, limit=limit
            )

    def _wanted(self, state: str | None, asked: ProposalNarrowing) -> ProposalFilter:
        """Check what proposals are narrowed by, and return it."""
        if state is not None and state not in tuple(ProposalState):
            raise InvalidArgument(
                f"must be open, accepted, rejected or None, not {state!r}", argument="state"
            )
        given: dict[str, Any] = {
            name: checked_text(text, name, MAX_QUERY)
            for name in ("subject", "category", "source")
            if (text := getattr(asked, name)) is not None
        }
        return ProposalFilter(
            state=state, owners=self._facts.standing.selected, **given, **queries.times(asked)
        )

    def _prepared(self, proposal_id: int) -> Prepared | None:
        """Return the new fact of a consolidation that may be accepted, embedded."""
        with self._engine.read() as transaction:
            proposal = self._open(transaction, proposal_id)
            _check_current(proposal)
        if proposal.new is not None:
            return None
        (prepared,) = self._facts.prepare([_consolidated(proposal)])
        return prepared

    def _all_prepared(self, proposal_ids: Iterable[int]) -> dict[int, Prepared | None]:
        found = {}
        for proposal_id in proposal_ids:
            with suppress(Conflict, NotFound):  # which is found again
                found[proposal_id] = self._prepared(proposal_id)
        return found

    def _accepted(
        self,
        transaction: Transaction,
        proposal_id: int,
        prepared: Prepared | None,
    ) -> Proposal:
        proposal = self._open(transaction, proposal_id)
        _check_current(proposal)
        writer = self._facts.writer(transaction)
        writer.check_acts(*proposal.sources)
        if prepared is not None:
            return self._consolidate(writer, proposal, prepared)
        if proposal.new is None:  # it could not be accepted when texts were embedded
            raise Conflict(
                f"proposal {proposal_id} was changed in the meantime", remedy=Remedy.RETRY
            )
        why: dict[str, Any] = {"proposal": proposal_id, "similarity": proposal.similarity}
        why |= proposal.evidence
        return self._accept(writer, proposal, proposal.new.id, why)

    def _rejected(self, transaction: Transaction, proposal_id: int, *, remove: bool) -> Proposal:
        proposal = self._open(transaction, proposal_id)
        if remove and proposal.new is None:
            raise Conflict(f"proposal {proposal_id} has no newer fact that could be deleted")
        decision = _decision(proposal, Kind.REJECT)
        writer = self._facts.writer(transaction)
        writer.check_acts(*_facts_of(proposal))
        proposal_table.decide(writer.changes, decision)
        if remove and proposal.new is not None:
            writer.delete(proposal.new, {"proposal": proposal_id})
        return self._known(transaction, proposal.id)

    def _consolidate(self, writer: FactWriter, proposal: Proposal, prepared: Prepared) -> Proposal:
        ids = [fact.id for fact in proposal.sources]
        why: dict[str, Any] = {"proposal": proposal.id, "consolidates": ids} | proposal.evidence
        new = writer.insert(prepared, why)
        return self._accept(writer, proposal, new.id, why)

    def _accept(
        self, writer: FactWriter, proposal: Proposal, new_id: int, evidence: Mapping[str, Any]
    ) -> Proposal:
        now, decision = writer.changes.moment, _decision(proposal, Kind.ACCEPT)
        retired = [
            fact_table.retirement(fact.id, new_id, now, evidence, decision.episode_id)
            for fact in proposal.sources
        ]
        proposal_table.decide(writer.changes, decision._replace(new_id=new_id))
        writer.changes.write(
            [line for line, _ in retired], *(statement for _, statement in retired)
        )
        return self._known(writer.transaction, proposal.id)

    def _open(self, transaction: Transaction, proposal_id: int) -> Proposal:
        proposal = self._known(transaction, proposal_id)
        if proposal.state != ProposalState.OPEN:
            raise Conflict(f"proposal {proposal_id} was already {proposal.state}")
        return proposal

    def _known(self, transaction: Transaction, proposal_id: int) -> Proposal:
        checked_id(proposal_id, "proposal_id")
        proposal = proposal_table.get(transaction, proposal_id, self._facts.namespace)
        if proposal is None or not all(map(self._facts.standing.reaches, _facts_of(proposal))):
            raise NotFound(
                f"there is no proposal {shown(proposal_id)} in namespace {self._facts.namespace!r}"
            )
        return proposal


def _facts_of(proposal: Proposal) -> tuple[Fact, ...]:
    return (*proposal.sources, *(() if proposal.new is None else (proposal.new,)))


def _question(transaction: Transaction, proposal: Proposal) -> Question:
    pairs = [marked(fact.content, proposal.content) for fact in proposal.sources]
    if len(pairs) != 1:  # else it is the same pair
        together = " ".join(fact.content for fact in proposal.sources)
        pairs.append(marked(together, proposal.content))
    since = min(fact.valid_at or fact.created_at for fact in proposal.sources)
    return Question(
        proposal=proposal,
        olds=tuple(old for old, _ in pairs[: len(proposal.sources)]),
        new=pairs[-1][1],
        quoted=_quoted(transaction, proposal),
        age_seconds=max(0.0, (clock.utc_now() - since).total_seconds()),
    )


def _quoted(transaction: Transaction, proposal: Proposal) -> str:
    """Return whose words the new text of a proposal is."""
    new = proposal.new
    if new is None:
        model = proposal.evidence.get("model")
        return f"written by {model}" if isinstance(model, str) else "written by a model"
    if new.episode_id is not None:
        episode = episode_table.get(transaction, new.episode_id, new.namespace)
        if episode is not None:
            who = episode.speaker or episode.source
            return f"from {who}, e{episode.id}" if who else f"from e{episode.id}"
    return f"from {new.source}" if new.source else "stored directly"


def _cause(proposal: Proposal) -> int | None:
    """Return the episode that led to a proposal."""
    named = proposal.evidence.get("episode")
    if type(named) is int:
        return named
    return None if proposal.new is None else proposal.new.episode_id


def _decision(proposal: Proposal, kind: Kind) -> ProposalDecision:
    return ProposalDecision(
        proposal.id,
        kind,
        [fact.id for fact in proposal.sources],
        new_id=None if proposal.new is None else proposal.new.id,
        episode_id=_cause(proposal),
    )


def _check_current(proposal: Proposal) -> None:
    for fact in _facts_of(proposal):
        if fact.status != "active":
            raise Conflict(
                f"fact {fact.id} of proposal {proposal.id} is {standing(fact)}",
                remedy=Remedy.REJECT,
            )


def _usual_category(facts: Sequence[Fact]) -> str:
    """Return the category of most facts, as the last of them spells it."""
    spelt = {subject_key(fact.category): fact.category for fact in facts}
    [(usual, _)] = Counter(subject_key(fact.category) for fact in facts).most_common(1)
    return spelt[usual]


def _consolidated(proposal: Proposal) -> NewFact:
    """Return the new fact of a consolidation, with metadata and thread taken from its sources."""
    facts: tuple[Fact, ...] = proposal.sources
    metadata: dict[str, Any] = {}
    for fact in facts:
        metadata |= fact.metadata
    episodes = {fact.episode_id for fact in facts}
    together = len({fact.thread for fact in facts}) == 1
    last = max(facts, key=lambda fact: fact.seq or 0)
    return NewFact(
        content=proposal.content,
        subject=facts[0].subject,
        category=_usual_category(facts),
        metadata=metadata or None,
        # All of them hold since the latest of these times.
        valid_at=max((fact.valid_at for fact in facts if fact.valid_at), default=None),
        source="consolidation",
        episode_id=episodes.pop() if len(episodes) == 1 else None,
        thread=last.thread if together else None,
        seq=last.seq if together else None,
        derivation=CONSOLIDATE,
        **facts[0].scope.ids,
    )
