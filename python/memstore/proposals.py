"""Proposals: supersessions that wait for somebody's word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memstore import clock
from memstore.database import journal, proposal_table
from memstore.database.journal import Kind
from memstore.errors import Conflict, NotFound
from memstore.facts import standing
from memstore.model import Proposal, ProposalState

if TYPE_CHECKING:
    import builtins

    from memstore.database.engine import Engine, Transaction
    from memstore.facts import Facts
    from memstore.model import Scope


class Proposals:
    """The proposals of one namespace."""

    def __init__(self, engine: Engine, facts: Facts) -> None:
        self._engine = engine
        self._facts = facts

    def list(
        self, state: str | None = ProposalState.OPEN, *, scope: Scope | None = None
    ) -> builtins.list[Proposal]:
        """Return proposals, oldest first.

        Args:
            state: ``open`` (both facts hold now, nobody decided), ``accepted`` or ``rejected``;
                ``None`` for all there ever were.
            scope: only those about facts of just these owners.
        """
        if state is not None and state not in tuple(ProposalState):
            raise ValueError(f"state must be open, accepted, rejected or None, not {state!r}")
        with self._engine.read() as transaction:
            found = proposal_table.select(transaction, self._facts.namespace, state)
        return [p for p in found if scope is None or scope == p.old.scope == p.new.scope]

    def get(self, proposal_id: int) -> Proposal:
        """Return one proposal, in whatever state.

        Raises:
            NotFound: no such proposal in this namespace.
        """
        with self._engine.read() as transaction:
            return self._known(transaction, proposal_id)

    def accept(self, proposal_id: int) -> Proposal:
        """Let the newer fact supersede the older one.

        Raises:
            NotFound: no such proposal.
            Conflict: it was decided before, or one of the facts is not active any more.
        """
        with self._engine.write() as transaction:
            proposal = self._open(transaction, proposal_id)
            for fact in (proposal.old, proposal.new):
                if fact.status != "active":
                    raise Conflict(
                        f"fact {fact.id} of proposal {proposal_id} is "
                        f"{standing(fact)}: reject the proposal"
                    )
            why: dict[str, Any] = {"proposal": proposal_id, "similarity": proposal.similarity}
            why |= proposal.evidence
            self._facts.retire(transaction, proposal.old, proposal.new.id, why)
            return self._decide(transaction, proposal, ProposalState.ACCEPTED)

    def reject(self, proposal_id: int) -> Proposal:
        """Turn a proposal down: both facts go on side by side.

        Raises:
            NotFound: no such proposal.
            Conflict: it was decided before.
        """
        with self._engine.write() as transaction:
            proposal = self._open(transaction, proposal_id)
            after = {"proposal": proposal_id, "superseded_by": proposal.new.id}
            journal.append(
                transaction, self._facts.author, Kind.REJECT, proposal.old.id, after=after
            )
            return self._decide(transaction, proposal, ProposalState.REJECTED)

    def _open(self, transaction: Transaction, proposal_id: int) -> Proposal:
        proposal = self._known(transaction, proposal_id)
        if proposal.state != ProposalState.OPEN:
            raise Conflict(f"proposal {proposal_id} was {proposal.state} already")
        return proposal

    def _known(self, transaction: Transaction, proposal_id: int) -> Proposal:
        if isinstance(proposal_id, bool) or not isinstance(proposal_id, int):
            raise TypeError(f"a proposal's id is a whole number, not {proposal_id!r}")
        proposal = proposal_table.get(transaction, proposal_id, self._facts.namespace)
        if proposal is None:
            raise NotFound(
                f"there is no proposal {proposal_id} in namespace {self._facts.namespace!r}"
            )
        return proposal

    def _decide(self, transaction: Transaction, proposal: Proposal, state: str) -> Proposal:
        proposal_table.decide(transaction, proposal.id, state, clock.utc_now())
        return self._known(transaction, proposal.id)
