"""Memory: learns from conversations and searches what it learned, per owner."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memstore.coroutines import Awaited, awaited
from memstore.database.short_transactions import in_groups
from memstore.database.tables import facts as fact_table
from memstore.domain import clock, zones
from memstore.domain.arguments import (
    checked_choice,
    checked_number,
    checked_place,
    checked_real,
)
from memstore.domain.metadata import encode, merge_patch
from memstore.domain.records import EVERYBODY, NOBODY, NewFact, Scope, is_among
from memstore.domain.results import CLASSIC, Results, WordsOnly
from memstore.errors import (
    Conflict,
    InvalidArgument,
    NotFound,
    Remedy,
)
from memstore.facts.batch import AddFact, DeleteFact
from memstore.facts.rules import standing
from memstore.facts.tasks import refuse_task_keys
from memstore.frozen import frozen
from memstore.lazy import lazy_import
from memstore.learn.catching_up import catch_up, one_after_another, retry_each
from memstore.learn.conversation import (
    CONVERSATION,
    JUDGED,
    POLICIES,
    Learner,
    MemoryEvents,
)
from memstore.learn.decision import CHANGE_SHARE, check_share
from memstore.learn.distilling import (
    MAX_CHARACTERS,
    MIN_CHARACTERS,
    PORTION_CHARACTERS,
    portion,
)
from memstore.learn.memory_view import as_memory, deleted, history, memory_event
from memstore.learn.witness import judging
from memstore.prompting.messages import read_messages
from memstore.providers import given_generator
from memstore.store.store import deleted_all, file_of, given_store, standing_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from concurrent import futures

    from memstore.database.engine import Progress
    from memstore.domain.episodes import EpisodeHit
    from memstore.domain.metadata import Filters
    from memstore.domain.protocols import Generator
    from memstore.domain.records import AboutOthers, Fact, SearchHit
    from memstore.domain.unread import Portion, UnreadThread
    from memstore.learn import background
    from memstore.learn.background import BackgroundLearning
    from memstore.learn.memory_view import MemoryEvent, PastMemoryEvent
    from memstore.prompting.messages import Message, Messages
    from memstore.store.store import Store
else:
    futures = lazy_import("concurrent.futures")
    background = lazy_import("memstore.learn.background")


SPEAKERS: Final = ("user", "assistant")
"""The roles whose messages are stored as memories without a model."""

CHANGED_AT_ONCE: Final = 200
"""Memories stored without a model, or deleted, in one transaction: other writers wait less."""

LEARNING_THREADS: Final = 32
"""How many conversations can wait for a model at the same time; further ones queue."""


def _without_generator() -> InvalidArgument:
    return InvalidArgument(
        "can only be read by a generator, and there is none",
        argument="messages",
        remedy=Remedy.CHOOSE_GENERATOR,
    )


def _neighbours(hit: SearchHit) -> dict[str, list[dict[str, Any]]]:
    sides = {"before": hit.before, "after": hit.after}
    return {name: [*map(as_memory, facts)] for name, facts in sides.items() if facts}


def _newer(hit: SearchHit) -> dict[str, list[int]]:
    return {"newer": [*hit.newer]} if hit.newer else {}


@frozen
class MemoryHits(Results[dict[str, Any]]):
    """The memories found by one search, best first, each with its ``score``."""

    words_only: WordsOnly | None = None
    """Why the search used only words; ``None`` if it also used meaning."""
    said: tuple[EpisodeHit, ...] = ()
    """What was said about it, if that was asked for, best first; nothing that a memory repeats."""
    about: AboutOthers | None = None
    """That the answer is about others than the one whom the query names; ``None`` if it is not."""
    provisional: bool = False
    """Whether the order is provisional, because the index is still being built."""


class Memory(zones.Zoned):
    """Learns from conversations and keeps its memories up to date; safe to share between threads.

    Every call is bound to the store's namespace and to a scope: ``user_id``, ``agent_id`` and
    ``run_id``. An id that is left out means "not set", never "all": to find memories added for a
    user in a run, pass both. A blank id is an error. Memories of another scope are not found.

    Args:
        store: where memories are stored; the caller closes it.
        generator: the model that reads conversations, or the name of its provider, such as
            ``"ollama"``; without one each message is stored as it is.
        change_share: the share of the memories shown to the model that may be updated or deleted
            at once, 0 to 1; a single one always may.
        policy: what retires a memory that the model finds outdated. ``"judged"``: the words of the
            new fact must suggest it too; where they show nothing, it is proposed.
            ``"trust-the-model"``: the model's word, unless its reply contradicts itself or loses
            something.
        without_rules: rules of the judge that are switched off, by name, such as ``"VALUE"``,
            beside those of :func:`memstore.open`.
    """

    def __init__(
        self,
        store: Store,
        generator: str | Generator | None = None,
        *,
        change_share: float = CHANGE_SHARE,
        policy: str = JUDGED,
        without_rules: Iterable[str] = (),
    ) -> None:
        check_share(change_share)
        self._policy = checked_choice(policy, POLICIES, "policy")
        self._store = given_store(store)
        self._zone = self._store.timezone
        self._generator = None if generator is None else given_generator(generator)
        self._change_share = change_share
        self._judge = judging(store, without_rules)

    def __repr__(self) -> str:
        model = None if self._generator is None else self._generator.model
        return f"Memory({self._store!r}, generator={model!r})"

    def add(
        self,
        messages: Messages,
        *,
        metadata: Mapping[str, Any] | None = None,
        thread: str | None = None,
        infer: bool | None = None,
        every_role: bool = False,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> MemoryEvents:
        """Learn from messages, or store them as they are, and return the resulting events.

        With a generator the conversation is recorded word for word; facts are extracted and
        compared with up to 20 similar memories of the same scope; the decisions are carried out in
        one transaction. After an error the same call completes it and stores nothing twice.

        Args:
            messages: a text, or ``{"role": …, "content": …}`` messages; their ``at`` is the time
                to which "yesterday" is relative.
            metadata: a JSON object to store with everything.
            thread: the conversation that the messages are appended to; by default they form a new
                one. Each scope has its own threads.
            infer: ``True`` to learn, which needs a generator; ``False`` to store each message of a
                user or assistant as one memory, a few hundred per transaction; by default ``True``
                if there is a generator.
            every_role: with ``infer=False``, store ``system`` and ``tool`` messages too.

        Returns:
            One event per fact (or message): ``ADD``, ``UPDATE``, ``DELETE`` or ``NONE``. Its
            ``refused`` lists refused operations and undecided facts.

        Raises:
            ValueError: no messages, a blank one, a blank scope id or thread, ``infer`` without a
                generator.
            TypeError: messages of the wrong type.
            LearningError: a step failed; ``step`` names it, and the cause says why.
        """
        scope = self._scope(user_id, agent_id, run_id)
        screen = file_of(self._store).screen
        read = [screen.record(message) for message in read_messages(messages)]
        encode(metadata)
        thread, _ = checked_place(thread, None)
        metadata = screen.value(metadata, "metadata")
        if infer is None:
            infer = self._generator is not None
        if not infer:
            told = [message for message in read if every_role or message.role in SPEAKERS]
            return self._store_as_they_are(told, scope, metadata, thread)
        if self._generator is None:
            raise InvalidArgument(
                "needs a generator", argument="infer", remedy=Remedy.CHOOSE_GENERATOR
            )
        return self._learner(self._generator, scope, metadata, thread).learn(read)

    def retry(
        self,
        *,
        everything: bool = False,
        patient: bool = False,
        progress: Progress | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> list[MemoryEvents]:
        """Learn from the conversations of a scope that no model has read, oldest first.

        First from those whose learning failed (``Store.status().not_learned``), then from turns
        that were kept while there was no generator (``Store.status().unread``). They count as said
        when they were recorded, so they do not change newer memories.

        Args:
            everything: those of every scope in the namespace; not together with a scope id.
            patient: ask a model that is unavailable again after pauses, for six minutes.
            progress: called with the number of conversations done and the total, and then with
                those of the turns.

        Raises:
            ValueError: there is no generator, or ``everything`` with a scope id.
            LearningError: one or more failed again; the others are learned.
        """
        if everything and Scope(user_id=user_id, agent_id=agent_id, run_id=run_id) != NOBODY:
            raise InvalidArgument("cannot be combined with a scope id", argument="everything")
        if self._generator is None:
            raise _without_generator()
        readings, namespace = self._store.readings, self._store.namespace
        wanted = (
            standing_of(self._store).bound if everything else self._scope(user_id, agent_id, run_id)
        )
        failed = readings.not_learned(namespace, wanted)
        again = partial(self._retry, generator=self._generator)
        first = partial(retry_each, failed, again, patient=patient, progress=progress)
        kept = (
            partial(
                catch_up,
                self._learner(self._generator, owners),
                PORTION_CHARACTERS,
                progress,
                untried=True,
                patient=patient,
            )
            for owners in (
                [one for one in readings.untried_scopes(namespace) if is_among(one, wanted)]
                if everything
                else [self._scope(user_id, agent_id, run_id)]
            )
        )
        return one_after_another([first, *kept])

    def retry_in_background(self, interval_seconds: float = 60.0) -> BackgroundLearning:
        """Read what no model has read, of every scope, in a thread until it is stopped.

        As :meth:`retry` with ``everything``.

        After a failure it pauses twice as long, up to an hour; of several processes, one works.
        Stop it before the store is closed: it is a context manager, and has ``stop()``.

        Raises:
            ValueError: there is no generator, or the interval is not above 0.
        """
        if self._generator is None:
            raise _without_generator()
        return background.BackgroundLearning(
            file_of(self._store).engine,
            f"retry {self._store.namespace}",
            lambda: self._store.readings.are_waiting(self._store.namespace),
            partial(self.retry, everything=True),
            interval_seconds,
        ).start()

    def unread(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> list[UnreadThread]:
        """Return the conversations of a scope with turns that no language model has read.

        These are the episodes with a thread, such as the turns that hooks keep, and conversations
        that could not be learned from.
        """
        return self._store.readings.unread_threads(
            self._store.namespace, self._scope(user_id, agent_id, run_id)
        )

    def portion(
        self,
        characters: int = PORTION_CHARACTERS,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Portion:
        """Return the first unread turns of a scope for a model, with the known facts about them.

        Nothing is changed: the same portion is returned until :meth:`mark_read`.

        Args:
            characters: the most characters of the turns, 200 to 1,000,000. Turns are whole, but for
                one that is longer by itself.
        """
        return portion(self._store, self._scope(user_id, agent_id, run_id), characters)

    def mark_read(
        self,
        episode_id: int,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> int:
        """Mark the unread turns of a scope up to this id as read; return how many there were.

        Args:
            episode_id: ``last_id`` of a portion. Turns that were recorded later stay unread.

        Raises:
            NotFound: there is no such episode in the scope.
        """
        scope = self._scope(user_id, agent_id, run_id)
        found = self._store.of(scope).episodes.get(episode_id)
        return self._store.readings.mark_read(self._store.namespace, scope, found.id)

    def learn_unread(
        self,
        *,
        characters: int = PORTION_CHARACTERS,
        progress: Progress | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> list[MemoryEvents]:
        """Learn from every unread turn of a scope, in portions, oldest first; may take hours.

        A model that is unavailable is asked again after pauses, for six minutes. It may be stopped
        or killed at any time: another call continues. What was said earlier changes no newer
        memory.

        Args:
            characters: the most characters of the turns of a portion, as of :meth:`portion`.
            progress: called with the number of turns done and the total.

        Returns:
            The events of each conversation of each portion.

        Raises:
            ValueError: there is no generator.
            LearningError: some conversations could not be read and stay unread, or the model is
                unavailable.
        """
        checked_number(characters, "characters", MIN_CHARACTERS, MAX_CHARACTERS)
        if self._generator is None:
            raise _without_generator()
        scope = self._scope(user_id, agent_id, run_id)
        return catch_up(self._learner(self._generator, scope), characters, progress)

    def _learner(
        self,
        generator: Generator,
        scope: Scope,
        metadata: Mapping[str, Any] | None = None,
        thread: str | None = None,
    ) -> Learner:
        return Learner(
            store=self._store,
            generator=generator,
            scope=scope,
            metadata=metadata,
            change_share=self._change_share,
            policy=self._policy,
            thread=thread,
            judge=self._judge,
        )

    def _retry(self, episode_id: int, generator: Generator) -> MemoryEvents:
        episode = self._store.episodes.get(episode_id)
        return self._learner(generator, episode.scope, episode.metadata or None).retry(episode)

    def _store_as_they_are(
        self,
        messages: list[Message],
        scope: Scope,
        metadata: Mapping[str, Any] | None,
        thread: str | None,
    ) -> MemoryEvents:
        if thread is None and len(messages) > 1:
            thread = clock.new_uuid(clock.utc_now())  # there is no episode to name it after
        changes = [
            AddFact(
                fact=NewFact(
                    content=message.content,
                    subject=_speaker(message, scope),
                    metadata=metadata,
                    valid_at=message.at,
                    source=CONVERSATION,
                    thread=thread,
                ),
                unless_known=True,
            )
            for message in messages
        ]
        applied = [
            done
            for group in in_groups(changes, _bytes_of, CHANGED_AT_ONCE)
            for done in self._store.of(scope).ledger.apply(group)
        ]
        return MemoryEvents([memory_event("NONE" if a.known else "ADD", a.fact) for a in applied])

    def search(
        self,
        query: str,
        *,
        filters: Filters = None,
        limit: int = 10,
        context: int = 0,
        threshold: float | None = None,
        ranking: str | None = None,
        said: bool = False,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> MemoryHits:
        """Find memories of a scope by words and by meaning, best first.

        Args:
            query: a question or some words.
            filters: conditions on metadata; see :meth:`memstore.Store.search`.
            limit: the most memories to return, 1 to 1000.
            context: how many memories of the same conversation to add ``before`` and ``after``
                each hit, 0 to 10.
            threshold: the lowest score, 0 to 1. It applies to how well words and meaning match,
                whatever a memory's age: unless a ranking is named, the scores are then those of
                ``"classic"``, without decay.
            ranking: as for :meth:`memstore.Store.search`; a threshold applies to its scores.
            said: also return what was said about it in the scope's conversations, as ``said`` of
                the result; nothing if there are ``filters``.
        """
        half_lives: dict[str, float] | None = None
        if threshold is not None:
            checked_real(threshold, "threshold", 0, 1)
            if ranking is None:
                ranking, half_lives = CLASSIC, {}
        scope = self._scope(user_id, agent_id, run_id)
        found = self._store.of(scope).search(
            query,
            filters=filters,
            limit=limit,
            context=context,
            tasks=False,
            ranking=ranking,
            half_lives_seconds=half_lives,
        )
        hits = (
            as_memory(hit.fact) | {"score": hit.score} | _newer(hit) | _neighbours(hit)
            for hit in found
            if threshold is None or hit.score >= threshold
        )
        turns = self._store.of(scope).turns_for(query, found, filters=filters) if said else ()
        return MemoryHits(
            hits,
            words_only=found.words_only,
            said=tuple(turns),
            about=found.about,
            provisional=found.provisional,
        )

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
            NotFound: there is none with this id in the scope, it was deleted, or it is a task.
        """
        return as_memory(
            self._of(Scope(user_id=user_id, agent_id=agent_id, run_id=run_id), memory_id)
        )

    def get_all(
        self,
        *,
        filters: Filters = None,
        limit: int | None = None,
        offset: int = 0,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return the active memories of a scope, oldest first; with keywords of :meth:`search`."""
        scope = self._scope(user_id, agent_id, run_id)
        found = self._store.of(scope).list(filters=filters, limit=limit, offset=offset, tasks=False)
        return [as_memory(fact) for fact in found]

    def update(
        self,
        memory_id: int,
        content: str,
        metadata: Mapping[str, Any] | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> MemoryEvent:
        """Supersede a memory with a new text; the old one stays in its history.

        The new one takes its place in its conversation.

        Args:
            memory_id: an active memory.
            content: its new text; the same text changes only the metadata.
            metadata: a JSON merge patch to its metadata; ``None`` leaves it as it is.

        Returns:
            The event; its ``id`` is the new memory's.

        Raises:
            NotFound: there is none with this id in the scope, it was deleted, or it is a task.
            Conflict: it is superseded or expired, or the metadata would make it a task.
        """
        scope = self._scope(user_id, agent_id, run_id)
        old = self._of(scope, memory_id)
        if old.status != "active":
            remedy = None if old.superseded_by is None else Remedy.USE_NEWEST
            raise Conflict(f"memory {old.id} is {standing(old)}", remedy=remedy)
        if content == old.content:
            fact = old if metadata is None else self._store.update_metadata(old.id, metadata)
            return memory_event("UPDATE", fact, old) if fact != old else memory_event("NONE", fact)
        refuse_task_keys(old, metadata or {})
        new = NewFact(
            content=content,
            subject=old.subject,
            category=old.category,
            metadata=merge_patch(old.metadata, metadata or {}),
            supersedes=old.id,
        )
        (applied,) = self._store.of(scope).ledger.apply([AddFact(fact=new)])
        return memory_event("UPDATE", applied.fact, old)

    def delete(
        self,
        memory_id: int,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> MemoryEvent:
        """Delete a memory: it is no longer found, but its history stays.

        Raises:
            NotFound: there is none with this id in the scope, it was deleted, or it is a task.
            Conflict: it is superseded.
        """
        scope = self._scope(user_id, agent_id, run_id)
        old = self._of(scope, memory_id)
        if old.superseded_by is not None:
            raise Conflict(
                f"memory {old.id} is superseded by memory {old.superseded_by}",
                remedy=Remedy.USE_NEWEST,
            )
        if old.status != "active":  # expired
            return deleted(self._store.delete(old.id))
        # apply() checks again in its transaction that the memory is still active.
        (applied,) = self._store.of(scope).ledger.apply([DeleteFact(fact_id=old.id)])
        return deleted(applied.fact)

    def delete_all(
        self,
        *,
        everything: bool = False,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> list[MemoryEvent]:
        """Delete all active memories of a scope; tasks stay.

        A few hundred are deleted per transaction. After an error or an interruption, the same call
        deletes the rest. All of them count as deleted at the same moment, so
        :meth:`memstore.Store.ledger.restore_deleted` brings back what one call deleted.

        Args:
            everything: delete the memories of every scope in the namespace; not together with a
                scope id.

        Raises:
            ValueError: neither a scope id nor ``everything=True``, or both.
        """
        named = Scope(user_id=user_id, agent_id=agent_id, run_id=run_id) != NOBODY
        if named == everything:
            raise InvalidArgument(
                "must be True exactly when no scope id is given", argument="everything"
            )
        own = standing_of(self._store).owners or EVERYBODY
        whose = self._store.of(self._scope(user_id, agent_id, run_id) if named else own)
        return [*map(deleted, deleted_all(whose))]

    def history(
        self,
        memory_id: int,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> list[PastMemoryEvent]:
        """Return everything that happened to a memory, oldest first; any of its ids will do.

        It includes the memories before and after it in its chain, and deleted ones.

        Raises:
            NotFound: there is none with this id in the scope.
        """
        scope = self._scope(user_id, agent_id, run_id)
        fact = self._of(scope, memory_id, deleted_too=True)
        # Other programs can let one owner's fact supersede another's, which is not shown here.
        own = self._store.of(scope)
        chain = {one.id: one for one in own.history(fact.id) if one.scope == scope}
        lines = own.ledger.journal(fact.id)
        return history([*chain.values()], [line for line in lines if line.fact_id in chain])

    def reset(self, *, namespace: str) -> bool:
        """Permanently erase all memories, tasks and episodes of the namespace, of every scope.

        Args:
            namespace: the store's namespace, spelled out to prevent accidents.

        Returns:
            Whether the bytes are already removed from the file; see :meth:`memstore.Store.erase`.

        Raises:
            ValueError: it is not the store's namespace; nothing was erased.
        """
        if namespace != self._store.namespace:
            raise InvalidArgument(
                f"must be the store's own, {self._store.namespace!r}, to erase all of it, not "
                f"{namespace!r}",
                argument="namespace",
            )
        return self._store.clear()

    def _scope(self, user_id: str | None, agent_id: str | None, run_id: str | None) -> Scope:
        """Return the owners of a call: those that it names, or those of the store."""
        return standing_of(self._store).owners_for(
            Scope(user_id=user_id, agent_id=agent_id, run_id=run_id)
        )

    def _of(self, scope: Scope, memory_id: int, *, deleted_too: bool = False) -> Fact:
        fact = self._store.get(memory_id)
        if fact.scope != scope or (fact.deleted_at is not None and not deleted_too):
            raise NotFound(
                f"there is no memory {memory_id} of these owners", remedy=Remedy.NAME_OWNERS
            )
        if fact_table.is_task(fact.subject, fact.metadata):
            raise NotFound(f"fact {memory_id} is a task, not a memory", remedy=Remedy.UPDATE_TASK)
        return fact


def _bytes_of(change: AddFact) -> int:
    return len(change.fact.content.encode())


def _speaker(message: Message, scope: Scope) -> str:
    """Return the subject of a message: its name, its owner or its role."""
    owners = {"user": scope.user_id, "assistant": scope.agent_id}
    return message.name or owners.get(message.role) or message.role


class AsyncMemory(Awaited[Memory]):
    """:class:`Memory` for asyncio: the same calls, awaited.

    A cancelled call returns at once. Its work stops at the next step: no further model call and no
    further transaction begins; an open transaction is completed.
    """

    def __init__(
        self,
        store: Store,
        generator: str | Generator | None = None,
        *,
        change_share: float = CHANGE_SHARE,
        policy: str = JUDGED,
        without_rules: Iterable[str] = (),
    ) -> None:
        # A separate pool: calls that wait for a model would fill asyncio's few threads, and
        # searches would queue behind them. The threads end with this object.
        threads = futures.ThreadPoolExecutor(LEARNING_THREADS, "memstore-learning")
        memory = Memory(
            store, generator, change_share=change_share, policy=policy, without_rules=without_rules
        )
        super().__init__(memory, threads)

    def __repr__(self) -> str:
        return f"Async{self._blocking!r}"

    add = awaited(Memory.add, slow=True)
    retry = awaited(Memory.retry, slow=True)
    retry_in_background = awaited(Memory.retry_in_background)
    unread = awaited(Memory.unread)
    portion = awaited(Memory.portion)
    mark_read = awaited(Memory.mark_read)
    learn_unread = awaited(Memory.learn_unread, slow=True)
    search = awaited(Memory.search)
    get = awaited(Memory.get)
    get_all = awaited(Memory.get_all)
    update = awaited(Memory.update)
    delete = awaited(Memory.delete)
    delete_all = awaited(Memory.delete_all)
    history = awaited(Memory.history)
    reset = awaited(Memory.reset)
