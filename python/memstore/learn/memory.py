"""Memory: conversations go in, and what is held true comes out, for one owner at a time."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memstore.domain.metadata import encode, merge_patch
from memstore.domain.records import NewFact, Scope
from memstore.domain.results import Results, WordsOnly
from memstore.errors import Conflict, NotFound
from memstore.facts.batch import AddFact, Applied, DeleteFact
from memstore.facts.facts import standing
from memstore.learn.conversation import MemoryChanges, Stopped, learn
from memstore.learn.decision import DELETE_SHARE
from memstore.learn.memory_view import changed, past, shown
from memstore.prompting.messages import read_messages

if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping

    from memstore.domain.metadata import Filters
    from memstore.domain.protocols import Generator
    from memstore.domain.records import Fact
    from memstore.learn.memory_view import MemoryChange, MemoryEvent
    from memstore.prompting.messages import Message, Messages
    from memstore.store.store import Store

STOPPED: Final[ContextVar[threading.Event | None]] = ContextVar("STOPPED", default=None)
"""Set by who no longer waits for a call in another thread: nothing more is then begun."""

ATTEMPTS: Final = 3
"""How often a deletion of many is tried when others change the same memories meanwhile."""


@dataclass(frozen=True, eq=False, repr=False)
class MemoryHits(Results[dict[str, Any]]):
    """The memories one search found, best first, each with its ``score``."""

    words_only: WordsOnly | None = None
    """Why meaning took no part in the search; ``None`` if it did."""


class Memory:
    """Learns from conversations and keeps what was learnt right; safe to share between threads.

    Every call is bound to the store's namespace and to a scope: ``user_id``, ``agent_id`` and
    ``run_id``. One that is left out means "not set", never "all": what was added for a user in a
    run is found by naming both. A blank one is an error. Somebody else's id is not found.

    Args:
        store: where it is kept; it stays the caller's to close.
        generator: the model that reads conversations; without one they are stored as they are.
        delete_share: of the memories a model is shown, how many one decision may delete, 0 to 1;
            a single one may always go.
    """

    def __init__(
        self,
        store: Store,
        generator: Generator | None = None,
        *,
        delete_share: float = DELETE_SHARE,
    ) -> None:
        if not 0 <= delete_share <= 1:
            raise ValueError(f"delete_share must be 0 to 1, not {delete_share}")
        self._store = store
        self._generator = generator
        self._delete_share = delete_share

    def __repr__(self) -> str:
        model = None if self._generator is None else self._generator.model
        return f"Memory({self._store!r}, generator={model!r})"

    def add(
        self,
        messages: Messages,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        infer: bool | None = None,
    ) -> MemoryChanges:
        """Learn from messages, or store them as they are, and return what became of them.

        With a generator the conversation is recorded word for word, facts are extracted, compared
        with up to 20 similar memories of the same scope, and what was decided is carried out in
        one transaction. After an error the same call completes it, and doubles nothing.

        Args:
            messages: a text, or ``{"role": …, "content": …}`` messages; their ``at`` is the time
                that "yesterday" is counted from.
            user_id: whose memory it is.
            agent_id: and of which agent.
            run_id: and of which run.
            metadata: a JSON object that goes with everything that is stored.
            infer: ``True`` to learn, which needs a generator; ``False`` to store each message as
                one memory; by default ``True`` if there is a generator.

        Returns:
            A change a fact (or a message), with ``event`` ``ADD``, ``UPDATE``, ``DELETE`` or
            ``NONE``; its ``refused`` says what the model wanted that was not carried out.

        Raises:
            ValueError: no messages, a blank one, a blank scope id, ``infer`` without a generator.
            TypeError: messages of another form.
            LearningError: a step failed; its ``step`` says which, and its cause why.
        """
        scope = Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
        read = read_messages(messages)
        encode(metadata)
        if infer is None:
            infer = self._generator is not None
        if not infer:
            return self._store_as_they_are(read, scope, metadata)
        if self._generator is None:
            raise ValueError(
                "infer=True needs a generator: pass one to Memory(store, generator), or leave "
                "infer out to store the messages as they are"
            )
        return learn(
            self._store,
            self._generator,
            read,
            scope,
            metadata=metadata,
            delete_share=self._delete_share,
            checkpoint=_checkpoint,
        )

    def _store_as_they_are(
        self, messages: list[Message], scope: Scope, metadata: Mapping[str, Any] | None
    ) -> MemoryChanges:
        applied = self._store.apply(
            [
                AddFact(
                    fact=NewFact(
                        content=message.content,
                        subject=_speaker(message, scope),
                        metadata=metadata,
                        valid_at=message.at,
                        source="conversation",
                    ),
                    unless_known=True,
                )
                for message in messages
            ],
            scope=scope,
        )
        return MemoryChanges([changed("NONE" if a.known else "ADD", a.fact) for a in applied])

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Filters = None,
        limit: int = 10,
        threshold: float | None = None,
    ) -> MemoryHits:
        """Find memories of a scope by words and by meaning, best first.

        Args:
            query: a question or some words.
            user_id: whose memories.
            agent_id: and of which agent.
            run_id: and of which run.
            filters: conditions on metadata; see :meth:`memstore.Store.search`.
            limit: how many at most, 1 to 1000.
            threshold: leave out what scores below this, 0 to 1.

        Raises:
            ValueError: a blank scope id, or a limit, filter or threshold out of range.
        """
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be 0 to 1, not {threshold}")
        scope = Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
        found = self._store.search(query, scope=scope, filters=filters, limit=limit)
        hits = (
            shown(hit.fact) | {"score": hit.score}
            for hit in found
            if threshold is None or hit.score >= threshold
        )
        return MemoryHits(hits, words_only=found.words_only)

    def get(
        self,
        memory_id: int,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> dict[str, Any]:
        """Return one memory of a scope; its ``status`` says whether it is superseded or expired.

        Raises:
            NotFound: there is none with this id, it is somebody else's, or it was deleted.
        """
        scope = Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
        return shown(self._of(scope, memory_id))

    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Filters = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[dict[str, Any]]:
        """Return the memories of a scope that hold now, oldest first.

        Args:
            user_id: whose memories.
            agent_id: and of which agent.
            run_id: and of which run.
            filters: conditions on metadata.
            limit: how many at most; ``None`` for all.
            offset: how many to pass over first.
        """
        scope = Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
        found = self._store.list(scope=scope, filters=filters, limit=limit, offset=offset)
        return [shown(fact) for fact in found]

    def update(
        self,
        memory_id: int,
        content: str,
        metadata: Mapping[str, Any] | None = None,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> MemoryChange:
        """Let a new text supersede a memory; the old one stays in its history.

        Args:
            memory_id: the memory that holds now.
            content: its new text; the same text changes the metadata alone.
            metadata: a JSON merge patch to its metadata; ``None`` leaves it as it is.
            user_id: whose memory it is.
            agent_id: and of which agent.
            run_id: and of which run.

        Returns:
            The change; its ``id`` is the new memory's.

        Raises:
            NotFound: there is none with this id, it is somebody else's, or it was deleted.
            Conflict: it is superseded or expired.
        """
        scope = Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
        old = self._of(scope, memory_id)
        if old.status != "active":
            raise Conflict(f"memory {old.id} is {standing(old)}: update one that holds now")
        if content == old.content:
            fact = old if metadata is None else self._store.update_metadata(old.id, metadata)
            return changed("NONE" if fact == old else "UPDATE", fact, None if fact == old else old)
        new = NewFact(
            content=content,
            subject=old.subject,
            category=old.category,
            metadata=merge_patch(old.metadata, metadata or {}),
            supersedes=old.id,
        )
        (applied,) = self._store.apply([AddFact(fact=new)], scope=scope)
        return changed("UPDATE", applied.fact, old)

    def delete(
        self,
        memory_id: int,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> MemoryChange:
        """Put a tombstone on a memory: it is found no more, and its history stays.

        Raises:
            NotFound: there is none with this id, it is somebody else's, or it was deleted before.
            Conflict: it is superseded: what it became is another memory.
        """
        scope = Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
        old = self._of(scope, memory_id)
        if old.superseded_by is not None:
            raise Conflict(
                f"memory {old.id} is superseded by memory {old.superseded_by}: delete the one "
                "that holds now"
            )
        if old.status != "active":  # expired
            return _deleted(self._store.delete(old.id))
        # Looks again in its transaction: what was superseded meanwhile is not deleted in its place.
        (applied,) = self._store.apply([DeleteFact(fact_id=old.id)], scope=scope)
        return _deleted(applied.fact)

    def delete_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        everything: bool = False,
    ) -> list[MemoryChange]:
        """Delete every memory of a scope that holds now: all of them, or none.

        Args:
            user_id: whose memories.
            agent_id: and of which agent.
            run_id: and of which run.
            everything: every fact and task of every scope in the namespace; goes with no scope id.

        Raises:
            ValueError: neither a scope id nor ``everything=True``, or both.
            Conflict: others kept changing the same memories; nothing was deleted.
        """
        scope = Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
        named = scope != Scope()
        if named == everything:
            raise ValueError(
                "delete_all needs user_id, agent_id or run_id, or everything=True for the "
                "memories of every scope; it takes no scope id beside everything=True"
            )
        return [_deleted(a.fact) for a in self._delete_active(scope if named else None)]

    def _delete_active(self, scope: Scope | None) -> list[Applied]:
        for attempt in range(1, ATTEMPTS + 1):
            facts = self._store.list(scope=scope)
            try:
                return self._store.apply([DeleteFact(fact_id=f.id) for f in facts], scope=scope)
            except (Conflict, NotFound):  # one of them was changed meanwhile: look again
                if attempt == ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")  # pragma: no cover

    def history(
        self,
        memory_id: int,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> list[MemoryEvent]:
        """Return everything that happened to a memory, oldest first, from any of its ids.

        What it superseded and what superseded it belongs to it. Also of a deleted one.

        Raises:
            NotFound: there is none with this id, or it is somebody else's.
        """
        scope = Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
        fact = self._of(scope, memory_id, deleted_too=True)
        # Whoever has the file may let one owner's fact supersede another's: theirs stays unseen.
        own = {one.id: one for one in self._store.history(fact.id) if one.scope == scope}
        operations = self._store.operations(fact.id)
        return past([*own.values()], [one for one in operations if one.fact_id in own])

    def reset(self, *, namespace: str) -> bool:
        """Erase every memory, task and record of the namespace, of every scope, for good.

        Args:
            namespace: the store's own, written out: nobody types it by accident.

        Returns:
            Whether the bytes have left the file already; see :meth:`memstore.Store.erase`.

        Raises:
            ValueError: it is not the store's namespace; nothing was erased.
        """
        if namespace != self._store.namespace:
            raise ValueError(
                f"reset erases everything in namespace {self._store.namespace!r}: pass just that "
                f"as namespace=, not {namespace!r}"
            )
        return self._store.clear()

    def _of(self, scope: Scope, memory_id: int, *, deleted_too: bool = False) -> Fact:
        fact = self._store.get(memory_id)
        if fact.scope != scope or (fact.deleted_at is not None and not deleted_too):
            raise NotFound(
                f"there is no memory {memory_id} of these owners: name those it was stored for "
                "(user_id, agent_id, run_id), or search to find the id"
            )
        return fact


def _checkpoint() -> None:
    stopped = STOPPED.get()
    if stopped is not None and stopped.is_set():
        raise Stopped


def _speaker(message: Message, scope: Scope) -> str:
    """Return whom a message is filed under: its name, its owner, or else its role."""
    owners = {"user": scope.user_id, "assistant": scope.agent_id}
    return message.name or owners.get(message.role) or message.role


def _deleted(fact: Fact) -> MemoryChange:
    return changed("DELETE", fact) | {"previous": fact.content}
