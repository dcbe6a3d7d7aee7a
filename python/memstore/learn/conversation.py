"""Learning from a conversation in four steps: record, extract, decide, store.

The conversation is recorded before a model is asked, and all model calls end before the one
transaction that stores everything begins. An error names the step that failed. Repeating the call
completes it: the same conversation of the same scope is the same episode, and a fact that a memory
states word for word is not stored twice.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from memstore.coroutines import STOPPED
from memstore.database.tables import facts as fact_table
from memstore.database.tables.readings import MEMORY
from memstore.domain import clock, moments, zones
from memstore.domain.arguments import MAX_QUERY
from memstore.domain.results import Results
from memstore.errors import (
    Conflict,
    EmbedderError,
    Explained,
    LearningError,
    MemstoreError,
    NotFound,
)
from memstore.facts.batch import AddFact, AlsoReplaces, DeleteFact, KeepFact, MayReplace
from memstore.frozen import field, frozen, replace
from memstore.history import trust
from memstore.learn.decision import NOTHING, decide
from memstore.learn.distilling import fitting, in_turn
from memstore.learn.events import EVENTS, Decision, Decisions, Refusal
from memstore.learn.memory_view import MemoryEvent, deleted, memory_event, no_event
from memstore.learn.reading import facts_in, read_items
from memstore.learn.witness import Judge, Witness
from memstore.prompting.messages import ROLES, Message, read_transcript, transcript
from memstore.prompting.reply import Replies
from memstore.store.store import file_of
from memstore.text.chunks import PROMPT_CHARACTERS
from memstore.text.judging.judge import judge
from memstore.text.judging.slots import told_at
from memstore.text.words import terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from memstore.domain.episodes import Episode
    from memstore.domain.protocols import Generator
    from memstore.domain.records import Fact, NewFact, Scope
    from memstore.facts.batch import Applied, Change
    from memstore.store.store import Store

logger = logging.getLogger(__name__)

CONVERSATION: Final = "conversation"
"""The source of an episode that records a conversation. Its facts are not derived again, because
the decisions about them depended on the memories of that time."""

MAX_MEMORIES: Final = 20
"""How many similar memories a model is shown at once; it cannot compare more carefully."""

ERASED: Final = "it was erased, and this conversation still says it: add it by hand if you want it"

MAX_FACTS: Final = 20
"""How many new facts are decided in one prompt; more are split into groups."""

MAX_SHOWN_CHARACTERS: Final = PROMPT_CHARACTERS
"""Characters of all memories shown in one prompt; memories that do not fit are not changed."""

REPEATED_AFTER: Final = timedelta(hours=12)
"""Within this time the same words without a time are a repeated call; later, a new statement."""

JUDGED: Final = "judged"
TRUSTING: Final = "trust-the-model"
POLICIES: Final = (JUDGED, TRUSTING)
"""What has to agree that a memory is no longer true: the model and the words, or the model alone
(:mod:`memstore.learn.decision` checks its reply in either case)."""

ATTEMPTS: Final = 3
"""How often to try if other processes change the same memories in the meantime."""


class Stopped(Exception):
    """The caller was cancelled; raised in the thread that worked for it."""


@frozen
class MemoryEvents(Results[MemoryEvent]):
    """The events of one ``add``, one per fact, in the order of the conversation."""

    refused: list[Refusal] = field(default_factory=list)
    """Refused operations and undecided facts, with reasons."""
    episode_id: int | None = None
    """The record of the conversation; ``None`` if messages were stored without a model."""


@frozen
class Learner:
    """Learns from conversations of one scope, and compares them with its memories only."""

    store: Store
    generator: Generator
    scope: Scope
    metadata: Mapping[str, Any] | None
    change_share: float
    policy: str = JUDGED
    thread: str | None = None
    """The thread that a new conversation belongs to."""
    judge: Judge = judge

    def learn(self, messages: Sequence[Message]) -> MemoryEvents:
        """Learn from a conversation and return the event of each fact in it.

        Raises:
            LearningError: a step failed; ``step`` names it, and the cause says why.
        """
        with _session() as session:
            with _step("record"):
                session.episode_id = (episode := self._record(messages)).id
            session.events = self._learn_from(episode, messages)
        self.store.readings.end_learning(episode.id)
        return session.events

    def retry(self, episode: Episode) -> MemoryEvents:
        """Learn from a recorded conversation, as of the time it was recorded.

        Raises:
            LearningError: as of :meth:`learn`.
        """
        messages = read_transcript(episode.content)
        with _session() as session:
            session.episode_id = episode.id
            session.events = self._learn_from(episode, messages, since=episode.created_at)
        self.store.readings.end_learning(episode.id)
        return session.events

    def learn_turns(self, turns: Sequence[Episode]) -> MemoryEvents:
        """Learn from turns of one conversation that were recorded one by one, and mark them read.

        Each fact belongs to the turn that it shares the most words with.

        Raises:
            LearningError: as of :meth:`learn`; the turns stay unread.
        """
        messages = [message for turn in turns for message in _said_in(turn)]
        with _session() as session:
            session.episode_id = turns[-1].id
            session.events = self._learn_from(turns[-1], messages, turns=turns)
        self.store.readings.mark_turns([turn.id for turn in turns])
        return session.events

    def _learn_from(
        self,
        episode: Episode,
        messages: Sequence[Message],
        since: datetime | None = None,
        turns: Sequence[Episode] = (),
    ) -> MemoryEvents:
        go_on()
        with _step("extract", episode):
            facts, refused = self._extract(messages, episode, since, logged=not turns)
        if turns:
            facts = [replace(fact, episode_id=_turn_of(fact, turns).id) for fact in facts]
        for attempt in range(1, ATTEMPTS + 1):
            go_on()
            with _step("decide", episode):
                decisions = self._decide(facts)
            go_on()
            with _step("store", episode):
                try:
                    events = self._carry_out(decisions, episode)
                    return replace(events, items=events, refused=refused + events.refused)
                except (Conflict, NotFound):  # another process changed a memory: decide again
                    if attempt == ATTEMPTS:
                        raise
        raise AssertionError("the last attempt returns or raises")  # pragma: no cover

    def _record(self, messages: Sequence[Message]) -> Episode:
        said_at = max((message.at for message in messages if message.at is not None), default=None)
        record = partial(
            self.store.of(self.scope).episodes.record,
            transcript(messages),
            source=CONVERSATION,
            metadata=self.metadata,
            valid_at=said_at,
            thread=self.thread,
        )
        episode = record()
        # After REPEATED_AFTER, "tomorrow" means another day.
        if said_at is None and clock.utc_now() - episode.created_at > REPEATED_AFTER:
            episode = record(once=False)
        self.store.readings.begin_learning(episode.id)
        return episode

    def _extract(
        self,
        messages: Sequence[Message],
        episode: Episode,
        since: datetime | None,
        *,
        logged: bool = True,
    ) -> tuple[list[NewFact], list[Refusal]]:
        """Return the facts in a conversation, and the items of the replies that are not facts.

        The messages of one day are read together, with the time of that day. Without a time, they
        are true ``since`` then, or from now on.
        """
        # A reply about several episodes is not logged: it would outlive one that is erased.
        log = self.store.readings if logged else None
        replies = Replies(self.generator, log, episode.id)
        facts: list[NewFact] = []
        refused: list[Refusal] = []
        for at, said in _days(messages):
            go_on()
            # A conversation without times, read again, counts from when it was first recorded.
            items = read_items(transcript(said), replies, at=at or episode.created_at)
            facts += facts_in(episode, items, MEMORY, at or since, self.metadata)
            refused += [
                Refusal("", one.refused, one.content or None) for one in items if one.refused
            ]
        return facts, refused

    def _decide(self, facts: Sequence[NewFact]) -> Decisions:
        """Decide about facts in groups of a size that a model can handle.

        A memory that one group decides about is not shown to the next, so that no two groups can
        contradict each other.
        """
        decisions: list[Decision] = []
        refused: list[Refusal] = []
        before = NOTHING
        for start in range(0, len(facts), MAX_FACTS):
            if start:
                go_on()
            group = facts[start : start + MAX_FACTS]
            taken = {memory.id for d in decisions for memory in d.memories}
            similar = self._similar(group, taken)
            found = decide(
                group,
                similar,
                self.scope,
                self.generator,
                change_share=self.change_share,
                before=before,
                witness=self._witness,
            )
            decisions += found
            refused += found.refused
            before = before.and_then(similar, found)
        return Decisions(decisions, refused=refused)

    @property
    def _witness(self) -> Witness | None:
        if self.policy == TRUSTING:
            return None
        return Witness(self.judge, file_of(self.store).similarities)

    def _similar(self, facts: Sequence[NewFact], taken: set[int]) -> list[Fact]:
        """Return active memories that may be about the same things, most similar first.

        Tasks are not memories, so conversations do not change them.
        """
        found = self.store.of(self.scope).search_batch(
            [f"{fact.subject}: {fact.content}"[:MAX_QUERY] for fact in facts],
            limit=MAX_MEMORIES,
            half_lives_seconds={},  # an old memory may be the very one that changed
            min_relevance=0,  # so may one in other words
            tasks=False,
            touch=False,
        )
        similar = (fact for fact in in_turn(found).values() if fact.id not in taken)
        return [*islice(fitting(similar, MAX_SHOWN_CHARACTERS), MAX_MEMORIES)]

    def _carry_out(self, decisions: Decisions, episode: Episode) -> MemoryEvents:
        decisions = replace(decisions, items=self._within_trust(self._unsaid(decisions)))
        changes = [self._change(decision, episode) for decision in decisions]
        applied = iter(
            self.store.of(self.scope).ledger.apply([one for one in changes if one is not None])
        )
        events: list[MemoryEvent] = []
        refused = [*decisions.refused]
        for decision, change in zip(decisions, changes, strict=True):
            done = None if change is None else next(applied)
            if done is not None and done.known and done.fact.status == "erased":
                refused.append(Refusal(decision.event, ERASED, decision.fact.content))
                done = None
            if decision.against is not None:
                refused.append(_refusal(decision, decision.against, done))
            events += (
                [no_event(decision.stored.content)] if done is None else _events(decision, done)
            )
        return MemoryEvents(events, refused=refused, episode_id=episode.id)

    def _unsaid(self, decisions: Iterable[Decision]) -> list[Decision]:
        """Let facts that this conversation told before replace nothing now."""
        keys = {one.place: _key(one.fact) for one in decisions if one.replaces}
        told = {key for key in keys.values() if key is not None}
        with file_of(self.store).engine.read() as transaction:
            known = fact_table.used_keys(transaction, self.store.namespace, sorted(told))
        return [
            one.adding() if one.replaces and keys[one.place] in known else one for one in decisions
        ]

    def _within_trust(self, decisions: Iterable[Decision]) -> list[Decision]:
        """Let facts stand beside the memories that count more and that they should change."""
        with file_of(self.store).engine.read() as transaction:
            return [
                one.adding()._replace(
                    against=one.memory, wanted=one.event, evidence=one.evidence, outranked=True
                )
                if one.event in ("UPDATE", "DELETE")
                and any(
                    trust.counts_more(transaction, memory.id, one.fact.episode_id)
                    for memory in one.memories
                )
                else one
                for one in decisions
            ]

    def _change(self, decision: Decision, episode: Episode) -> Change | None:
        """Return the change for the store; ``None`` if no memory is affected."""
        origin: dict[str, Any] = {"episode": episode.id, "model": self.generator.model}
        if self.policy != TRUSTING:
            origin["policy"] = self.policy
        if decision.event == "ADD":
            return self._addition(decision, origin)
        if decision.memory is None:
            return None
        evidence = {"said": decision.fact.content, **(decision.evidence or {}), **origin}
        if decision.event == "UPDATE":
            return self._replacement(decision, evidence)
        if decision.event == "DELETE":
            return DeleteFact(fact_id=decision.memory.id, evidence=evidence)
        return KeepFact(fact_id=decision.memory.id, evidence=evidence)

    def _addition(self, decision: Decision, evidence: Mapping[str, Any]) -> AddFact:
        new = replace(decision.fact, idempotency_key=_key(decision.fact))
        if (old := decision.against) is None:
            return AddFact(fact=new, unless_known=True, evidence=evidence)
        wanted = {"outranked": True} if decision.outranked else {"wanted": decision.wanted}
        told = decision.evidence or {}
        near = told.get("similarity")
        return AddFact(
            fact=new,
            unless_known=True,
            precedence=MayReplace(
                old.id, self._similarity(new.content, old.content) if near is None else near
            ),
            evidence={**wanted, **told, **evidence},
        )

    def _replacement(self, decision: Decision, evidence: Mapping[str, Any]) -> AddFact:
        new = decision.stored
        if decision.replaces:
            new = replace(new, idempotency_key=_key(decision.fact))
        also = tuple(
            AlsoReplaces(one.memory.id, {**evidence, **(one.evidence or {})})
            for one in decision.also
            if one.memory is not None
        )
        return AddFact(fact=new, also=also, evidence=evidence)

    def _similarity(self, one: str, other: str) -> float:
        try:
            return file_of(self.store).similarities(one, [other])[0]
        except EmbedderError:  # nothing is compared
            return 0.0


@dataclass(slots=True)
class _Session:
    episode_id: int | None = None
    events: MemoryEvents = dataclasses.field(default_factory=lambda: MemoryEvents([]))


@contextmanager
def _session() -> Iterator[_Session]:
    """Log the result of learning from one conversation, in one line and without its text."""
    session, begun = _Session(), clock.monotonic()
    try:
        yield session
    except LearningError as error:
        logger.warning(
            "could not learn from episode %s: stopped at the step %r by %s after %.1f s",
            session.episode_id, error.step, type(error.__cause__).__name__,
            clock.monotonic() - begun,
        )  # fmt: skip
        raise
    kinds = Counter(event["event"] for event in session.events)
    logger.info(
        "learned from episode %s: %s, %d refused, in %.1f s",
        session.episode_id,
        ", ".join(f"{kinds[event]} {event}" for event in EVENTS),
        len(session.events.refused),
        clock.monotonic() - begun,
    )


def go_on() -> None:
    """Raise ``Stopped`` if the caller was cancelled."""
    stopped = STOPPED.get()
    if stopped is not None and stopped.is_set():
        raise Stopped


def _said_in(turn: Episode) -> list[Message]:
    if turn.source == CONVERSATION:
        return read_transcript(turn.content)
    speaks = turn.speaker in ROLES
    name = None if speaks else turn.speaker
    role = turn.speaker if speaks and turn.speaker else "user"
    return [Message(role, turn.content, name, turn.valid_at or turn.created_at)]


def _turn_of(fact: NewFact, turns: Sequence[Episode]) -> Episode:
    told = {*terms(f"{fact.subject} {fact.content}")}
    return max(turns, key=lambda turn: len(told & {*terms(turn.content)}))


@contextmanager
def _step(name: str, episode: Episode | None = None) -> Iterator[None]:
    """Report a failure with the step it happened in, and what was recorded before it."""
    # A generator may be the caller's own code; before it is asked, a bad argument is an error.
    expected = MemstoreError if episode is None else Exception
    try:
        yield
    except Stopped:
        raise
    except expected as error:
        kept = (
            "nothing was recorded"
            if episode is None
            else f"the conversation is on record as episode {episode.id} and no memory was "
            "changed: adding it again completes it, and so does a retry"
        )
        raise LearningError(
            f"learning stopped at the step {name!r}: {error} ({kept})",
            step=name,
            episode_id=None if episode is None else episode.id,
            remedy=error.remedy if isinstance(error, Explained) else None,
        ) from error


def _days(messages: Sequence[Message]) -> Iterator[tuple[datetime | None, list[Message]]]:
    """Yield the messages of each day with its latest time; ``None`` if no time is known.

    A message without a time belongs to the one before it.
    """
    day: list[Message] = []
    latest: datetime | None = None
    for message in messages:
        if message.at is not None:
            if latest is not None and zones.day(message.at) != zones.day(latest):
                yield latest, day
                day, latest = [], None
            latest = message.at if latest is None else max(latest, message.at)
        day.append(message)
    yield latest, day


def _refusal(decision: Decision, memory: Fact, done: Applied | None) -> Refusal:
    """Return the refusal of a deletion that nothing proves, with the proposal made of it."""
    reason = "nothing in the fact speaks against the memory, which stays"
    if decision.outranked:
        reason = "the memory counts more than what was said, and stays"
    if done is not None and done.proposal_id is not None:
        reason += (
            f"; if proposal {done.proposal_id} is accepted, memory {done.fact.id} (this fact) "
            f"replaces memory {memory.id}, which reinstating it undoes"
        )
    return Refusal(decision.wanted, reason, decision.fact.content, memory.id)


def _key(fact: NewFact) -> str | None:
    """Return an idempotency key if the conversation has a time, else ``None``.

    A conversation with a known time may be added again months later: a fact of it that was
    corrected since must not come back. Without a time, the same words may be a new statement.
    """
    if told_at(fact.slots, moments.instant(fact.valid_at, "valid_at")) is None:
        return None
    told = f"{fact.subject}\n{fact.content}".encode()
    return f"episode {fact.episode_id}: {hashlib.sha256(told).hexdigest()}"


def _events(decision: Decision, done: Applied) -> list[MemoryEvent]:
    """Return the event of a decision, and one for each further memory that its fact replaced."""
    if decision.event == "DELETE":
        return [deleted(done.fact)]
    event = "NONE" if done.known else decision.event
    further = [memory_event(event, done.fact, old) for old in done.also]
    return [memory_event(event, done.fact, done.previous), *further]
