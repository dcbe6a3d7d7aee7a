"""Proposals: supersessions and consolidations that a person decides on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from memstore.database.changes import Line
from memstore.database.journal import Kind
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.domain import clock
from memstore.domain.arguments import MAX_QUERY, checked_id, checked_page, checked_text
from memstore.domain.proposals import Proposal, ProposalState
from memstore.domain.records import NewFact, selected_scope
from memstore.errors import Conflict, InvalidArgument, NotFound, Remedy
from memstore.facts.checks import CONSOLIDATE
from memstore.facts.rules import standing
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    import builtins
    from collections.abc import Mapping, Sequence

    from memstore.database.engine import Engine, Transaction
    from memstore.domain.records import Fact, Scope, ScopeSelection
    from memstore.facts.checks import Prepared
    from memstore.facts.facts import Facts
    from memstore.facts.writer import FactWriter


class Proposals:
    """The proposals of one namespace."""

    def __init__(self, engine: Engine, facts: Facts) -> None:
        self._engine = engine
        self._facts = facts

    def list(
        self,
        state: str | None = ProposalState.OPEN,
        *,
        scope: ScopeSelection = None,
        subject: str | None = None,
        limit: int | None = None,
        after_id: int | None = None,
    ) -> builtins.list[Proposal]:
        """Return proposals, oldest first.

        Args:
            state: ``open`` (undecided, and all its facts are active), ``accepted`` or
                ``rejected``; ``None`` for all there ever were.
            scope: only proposals about facts of exactly these owners, or without owners; ``"all"``
                for any owners.
            subject: only proposals about facts of this subject.
            limit: the maximum number; ``None`` for all.
            after_id: only proposals with larger ids; with the last one of a page, the next page.
        """
        owners, about = selected_scope(scope), _checked(state, subject)
        checked_page(limit, 0, after_id=after_id)
        with self._engine.read() as transaction:
            return proposal_table.select(
                transaction,
                self._facts.namespace,
                state,
                scope=owners,
                subject=about,
                after_id=after_id,
                limit=limit,
            )

    def count(
        self,
        state: str | None = ProposalState.OPEN,
        *,
        scope: ScopeSelection = None,
        subject: str | None = None,
    ) -> int:
        """Return how many proposals :meth:`list` would return without a limit."""
        owners, about = selected_scope(scope), _checked(state, subject)
        with self._engine.read() as transaction:
            return proposal_table.count(transaction, self._facts.namespace, state, owners, about)

    def get(self, proposal_id: int, *, scope: Scope | None = None) -> Proposal:
        """Return one proposal in any state; with a ``scope``, only if it has these owners.

        Raises:
            NotFound: no such proposal in this namespace, or it has other owners.
        """
        with self._engine.read() as transaction:
            return self._known(transaction, proposal_id, scope)

    def put_forward(
        self, sources: Sequence[int], content: str, evidence: Mapping[str, Any], *, scope: Scope
    ) -> Proposal:
        """Propose that one text replaces several facts.

        Args:
            sources: the ids of two or more active facts of exactly these owners about one subject.
            content: the text of the new fact.
            evidence: the reasons for it.
            scope: the owners of the facts.

        Raises:
            NotFound: a fact is not in this namespace, or has other owners.
            Conflict: a fact is no longer active, or the same facts were proposed before.
        """
        with self._facts.writing() as transaction:
            writer = self._facts.writer(transaction)
            facts = [writer.active(fact_id) for fact_id in sorted(set(sources))]
            if strangers := [fact.id for fact in facts if fact.scope != scope]:
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

    def accept(self, proposal_id: int, *, scope: Scope | None = None) -> Proposal:
        """Accept a proposal: the new fact supersedes the older one or ones.

        Args:
            proposal_id: its id.
            scope: only if it is about facts of exactly these owners.

        Raises:
            NotFound: no such proposal, or it has other owners.
            Conflict: it was already decided, or one of the facts is no longer active.
        """
        with self._engine.read() as transaction:
            proposal = self._open(transaction, proposal_id, scope)
            _check_current(proposal)
        prepared = None
        if proposal.new is None:  # its text is embedded before the transaction opens
            (prepared,) = self._facts.prepare([_consolidated(proposal)])
        with self._facts.writing() as transaction:
            proposal = self._open(transaction, proposal_id, scope)
            _check_current(proposal)
            writer = self._facts.writer(transaction)
            if prepared is not None:
                return self._consolidate(writer, proposal, prepared)
            if proposal.new is None:  # pragma: no cover - a proposal does not change its kind
                raise Conflict(
                    f"proposal {proposal_id} was changed in the meantime", remedy=Remedy.RETRY
                )
            why: dict[str, Any] = {"proposal": proposal_id, "similarity": proposal.similarity}
            why |= proposal.evidence
            return self._accept(writer, proposal, proposal.new.id, why)

    def reject(self, proposal_id: int, *, scope: Scope | None = None) -> Proposal:
        """Reject a proposal: its facts stay active, and it is not proposed again.

        Args:
            proposal_id: its id.
            scope: only if it is about facts of exactly these owners.

        Raises:
            NotFound: no such proposal, or it has other owners.
            Conflict: it was already decided.
        """
        with self._facts.writing() as transaction:
            proposal = self._open(transaction, proposal_id, scope)
            after: dict[str, Any] = {"proposal": proposal_id}
            if proposal.new is not None:
                after["superseded_by"] = proposal.new.id
            self._facts.writer(transaction).changes.write(
                [
                    Line(Kind.REJECT, fact.id, _cause(proposal), after=after)
                    for fact in proposal.sources
                ],
                *proposal_table.deciding(proposal.id, ProposalState.REJECTED, clock.utc_now()),
            )
            return self._known(transaction, proposal.id)

    def _consolidate(self, writer: FactWriter, proposal: Proposal, prepared: Prepared) -> Proposal:
        ids = [fact.id for fact in proposal.sources]
        why: dict[str, Any] = {"proposal": proposal.id, "consolidates": ids} | proposal.evidence
        new = writer.insert(prepared, why)
        return self._accept(writer, proposal, new.id, why)

    def _accept(
        self, writer: FactWriter, proposal: Proposal, new_id: int, evidence: Mapping[str, Any]
    ) -> Proposal:
        now = clock.utc_now()
        retired = [
            fact_table.retirement(fact.id, new_id, now, evidence) for fact in proposal.sources
        ]
        became = new_id if proposal.new is None else None
        writer.changes.write(
            [line for line, _ in retired],
            *(statement for _, statement in retired),
            *proposal_table.deciding(proposal.id, ProposalState.ACCEPTED, now, new_id=became),
        )
        return self._known(writer.transaction, proposal.id)

    def _open(self, transaction: Transaction, proposal_id: int, scope: Scope | None) -> Proposal:
        proposal = self._known(transaction, proposal_id, scope)
        if proposal.state != ProposalState.OPEN:
            raise Conflict(f"proposal {proposal_id} was already {proposal.state}")
        return proposal

    def _known(
        self, transaction: Transaction, proposal_id: int, scope: Scope | None = None
    ) -> Proposal:
        checked_id(proposal_id, "proposal_id")
        proposal = proposal_table.get(transaction, proposal_id, self._facts.namespace)
        if proposal is None or (scope is not None and not _is_of(proposal, scope)):
            raise NotFound(
                f"there is no proposal {proposal_id} in namespace {self._facts.namespace!r}"
            )
        return proposal


def _checked(state: str | None, subject: str | None) -> str | None:
    """Check what proposals are narrowed by; return the subject."""
    if state is not None and state not in tuple(ProposalState):
        raise InvalidArgument(
            f"must be open, accepted, rejected or None, not {state!r}", argument="state"
        )
    return None if subject is None else checked_text(subject, "subject", MAX_QUERY)


def _is_of(proposal: Proposal, scope: Scope) -> bool:
    facts = (*proposal.sources, *(() if proposal.new is None else (proposal.new,)))
    return all(fact.scope == scope for fact in facts)


def _cause(proposal: Proposal) -> int | None:
    """Return the episode that led to a proposal."""
    named = proposal.evidence.get("episode")
    return named if type(named) is int else None


def _check_current(proposal: Proposal) -> None:
    for fact in (*proposal.sources, *(() if proposal.new is None else (proposal.new,))):
        if fact.status != "active":
            raise Conflict(
                f"fact {fact.id} of proposal {proposal.id} is {standing(fact)}",
                remedy=Remedy.REJECT,
            )


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
        category=Counter(fact.category for fact in facts).most_common(1)[0][0],
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
