"""Learning from one conversation: record, extract, decide, store.

The conversation is on record before a model is asked, every model call ends before the one
transaction opens that carries everything out, and an error says at which step it stopped. Doing it
again completes it: the same conversation of the same scope is the same episode, and what is held
word for word is not stored twice.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from memstore.database.tables.readings import MEMORY
from memstore.domain import clock
from memstore.domain.metadata import merge_patch
from memstore.domain.records import NewFact
from memstore.errors import Conflict, LearningError, MemstoreError, NotFound
from memstore.facts.batch import AddFact, DeleteFact, KeepFact
from memstore.learn.decision import decide
from memstore.learn.items import read_items
from memstore.learn.memory_view import MemoryChange, changed, unchanged
from memstore.learn.operations import Add, Decisions, Delete, Refusal, Update
from memstore.prompting.answers import Replies
from memstore.prompting.messages import transcript
from memstore.text.chunks import PROMPT_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from memstore.domain.protocols import Generator
    from memstore.domain.records import Episode, Fact, Scope
    from memstore.facts.batch import Applied, Change
    from memstore.learn.operations import MemoryOperation
    from memstore.prompting.messages import Message
    from memstore.store.store import Store

CONVERSATION: Final = "conversation"
"""The source of every conversation's record. What was drawn from one is not derived anew: it was
decided beside the memories of its time."""

MOST_MEMORIES: Final = 20
"""Similar memories a model is shown at once: what it can compare with care."""

ERASED: Final = "it was erased before, and these words say it still: add it by hand if it is meant"

MOST_FACTS: Final = 20
"""New facts of one decision; a longer conversation is decided in several."""

MOST_SHOWN: Final = PROMPT_CHARACTERS
"""Characters of the memories a model is shown at once; one that finds no room stays as it is."""

SAID_ANEW_AFTER: Final = timedelta(hours=12)
"""The same words without a time are a call made again until then, and said anew from then on."""

ATTEMPTS: Final = 3
"""How often it is decided anew when others changed the same memories meanwhile."""


class Stopped(Exception):
    """Nobody waits for the outcome any more; raised where no caller is left to see it."""


class MemoryChanges(list[MemoryChange]):
    """What became of each fact of one ``add``, in the order they were said."""

    def __init__(self, changes: Sequence[MemoryChange] = ()) -> None:
        super().__init__(changes)
        self.refused: list[Refusal] = []
        """What the model wanted, or left out, that was not carried out, and why."""
        self.episode_id: int | None = None
        """The record of the conversation; ``None`` in direct mode."""


def learn(
    store: Store,
    generator: Generator,
    messages: Sequence[Message],
    scope: Scope,
    *,
    metadata: Mapping[str, Any] | None,
    delete_share: float,
    checkpoint: Callable[[], None],
) -> MemoryChanges:
    """Learn from a conversation and return what became of it.

    Args:
        store: where it is kept.
        generator: the model that extracts and decides.
        messages: the conversation, read and checked.
        scope: whose it is; memories of no other scope are looked at.
        metadata: goes with every fact that is stored, and with the record of the conversation.
        delete_share: of the memories shown, how many one decision may delete.
        checkpoint: called between the steps; raises when nobody waits for the outcome any more.

    Raises:
        LearningError: a step failed; its ``step`` says which, and its cause why.
    """
    said_at = max((message.at for message in messages if message.at is not None), default=None)
    text = transcript(messages)
    record = partial(
        store.episodes.record,
        text,
        source=CONVERSATION,
        metadata=metadata,
        valid_at=said_at,
        scope=scope,
    )
    with _step("record"):
        episode = record()
        # "Tomorrow" is another day then.
        if said_at is None and clock.utc_now() - episode.created_at > SAID_ANEW_AFTER:
            episode = record(once=False)
        store.readings.begin(episode.id, MEMORY)
    checkpoint()
    with _step("extract", episode):
        replies = Replies(generator, store.readings, episode.id)
        facts, refused = _extracted(messages, replies, episode, metadata, checkpoint)
    for attempt in range(1, ATTEMPTS + 1):
        checkpoint()
        with _step("decide", episode):
            decisions = _decided(store, generator, facts, scope, delete_share, checkpoint)
        checkpoint()
        with _step("store", episode):
            try:
                changes = _stored(store, generator, decisions, scope, episode)
            except (Conflict, NotFound):  # others were faster: look again, and decide anew
                if attempt == ATTEMPTS:
                    raise
                continue
        changes.refused[:0] = refused
        return changes
    raise AssertionError("the last attempt returns or raises")  # pragma: no cover


@contextmanager
def _step(name: str, episode: Episode | None = None) -> Iterator[None]:
    """Say of a failure at which step it came, and what is on record all the same."""
    # A generator may be anybody's code; before it is asked, a wrong argument is the caller's.
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
            "changed: add it again to complete it"
        )
        raise LearningError(
            f"learning stopped at the step {name!r}: {error} ({kept})",
            step=name,
            episode_id=None if episode is None else episode.id,
        ) from error


def _extracted(
    messages: Sequence[Message],
    replies: Replies,
    episode: Episode,
    metadata: Mapping[str, Any] | None,
    checkpoint: Callable[[], None],
) -> tuple[list[NewFact], list[Refusal]]:
    """Return the facts in a conversation, and the items of the replies that are none.

    What was said on one day is read together, and counts from its own time.
    """
    facts: list[NewFact] = []
    refused: list[Refusal] = []
    for at, said in _days(messages):
        checkpoint()
        # A conversation without times that is read again counts from when it was first recorded.
        for item in read_items(transcript(said), replies, at=at or episode.created_at):
            if item.refused is not None:
                refused.append(Refusal("", item.refused, item.content or None))
                continue
            facts.append(
                NewFact(
                    content=item.content,
                    subject=item.subject,
                    category=item.category,
                    metadata=metadata,
                    valid_at=at,
                    source=episode.source,
                    episode_id=episode.id,
                    derivation=MEMORY,
                )
            )
    return facts, refused


def _days(messages: Sequence[Message]) -> Iterator[tuple[datetime | None, list[Message]]]:
    """Yield the messages of each day with the last time of that day; ``None`` if none is known.

    A message without a time was said with the one before it.
    """
    day: list[Message] = []
    latest: datetime | None = None
    for message in messages:
        if message.at is not None:
            if latest is not None and message.at.date() != latest.date():
                yield latest, day
                day, latest = [], None
            latest = message.at if latest is None else max(latest, message.at)
        day.append(message)
    yield latest, day


def _decided(
    store: Store,
    generator: Generator,
    facts: Sequence[NewFact],
    scope: Scope,
    delete_share: float,
    checkpoint: Callable[[], None],
) -> Decisions:
    """Decide about facts in groups that a model can oversee.

    A memory that one group has an operation for is not shown to the next, so that no two groups
    can disagree about it.
    """
    decisions = Decisions()
    for start in range(0, len(facts), MOST_FACTS):
        if start:
            checkpoint()
        group = facts[start : start + MOST_FACTS]
        taken = {_memory_id(operation) for operation in decisions}
        similar = _similar(store, group, scope, taken)
        found = decide(group, similar, scope, generator, delete_share=delete_share)
        decisions.extend(found)
        decisions.refused.extend(found.refused)
    return decisions


def _memory_id(operation: MemoryOperation) -> int | None:
    if isinstance(operation, Add) or operation.memory is None:
        return None
    return operation.memory.id


def _similar(
    store: Store, facts: Sequence[NewFact], scope: Scope, taken: set[int | None]
) -> list[Fact]:
    """Return active memories of the scope that may be about the same, the most similar first.

    Each fact has its turn, so that one with many neighbours does not crowd the others out. Tasks
    are not memories: a conversation does not decide about them.
    """
    found = store.search_batch(
        [f"{fact.subject}: {fact.content}" for fact in facts],
        scope=scope,
        limit=MOST_MEMORIES,
        half_lives_seconds={"note": 0},  # what is old may be just what has changed
        touch=False,
    )
    similar: dict[int, Fact] = {}
    for rank in zip_longest(*found):
        for hit in filter(None, rank):
            if hit.fact.metadata.get("kind") != "task" and hit.fact.id not in taken:
                similar.setdefault(hit.fact.id, hit.fact)
    return list(_fitting(similar.values()))[:MOST_MEMORIES]


def _fitting(memories: Iterable[Fact]) -> Iterator[Fact]:
    """Yield memories that fit a prompt together; a whole document among them finds no room."""
    room = MOST_SHOWN
    for memory in memories:
        if len(memory.content) <= room:
            room -= len(memory.content)
            yield memory


def _stored(
    store: Store, generator: Generator, decisions: Decisions, scope: Scope, episode: Episode
) -> MemoryChanges:
    carried = [_change(operation, generator.model, episode) for operation in decisions]
    done = store.apply([change for change in carried if change is not None], scope=scope)
    applied = iter(done)
    changes = MemoryChanges(
        [
            unchanged(operation.fact.content) if change is None else _told(next(applied))
            for operation, change in zip(decisions, carried, strict=True)
        ]
    )
    changes.refused = decisions.refused + [
        Refusal("UPDATE" if one.change.fact.supersedes else "ADD", ERASED, one.change.fact.content)
        for one in done
        if _erased(one) and isinstance(one.change, AddFact)
    ]
    changes.episode_id = episode.id
    return changes


def _change(operation: MemoryOperation, model: str, episode: Episode) -> Change | None:
    """Return what the store is to do; ``None``: nothing, since no memory is concerned."""
    evidence: dict[str, Any] = {
        "said": (operation.said if isinstance(operation, Update) else operation.fact).content,
        "episode": episode.id,
        "model": model,
    }
    if isinstance(operation, Add):
        del evidence["said"]
        new = replace(operation.fact, idempotency_key=_key(operation.fact))
        return AddFact(fact=new, unless_known=True, evidence=evidence)
    if isinstance(operation, Update):
        merged = merge_patch(operation.memory.metadata, operation.fact.metadata or {})
        return AddFact(fact=replace(operation.fact, metadata=merged), evidence=evidence)
    if isinstance(operation, Delete):
        return DeleteFact(fact_id=operation.memory.id, evidence=evidence)
    if operation.memory is None:
        return None
    return KeepFact(fact_id=operation.memory.id, evidence=evidence)


def _key(fact: NewFact) -> str | None:
    """Return what tells a fact that is read again from one that is said again.

    A conversation whose time is known may be added twice, months apart: what it told once and was
    corrected since does not come back. Without a time, the same words may be true anew.
    """
    if fact.valid_at is None:
        return None
    told = f"{fact.subject}\n{fact.content}".encode()
    return f"episode {fact.episode_id}: {hashlib.sha256(told).hexdigest()}"


def _told(applied: Applied) -> MemoryChange:
    if isinstance(applied.change, DeleteFact):
        return changed("DELETE", applied.fact) | {"previous": applied.fact.content}
    if _erased(applied) and isinstance(applied.change, AddFact):
        return unchanged(applied.change.fact.content)
    if applied.known or isinstance(applied.change, KeepFact):
        return changed("NONE", applied.fact)
    return changed("UPDATE" if applied.previous else "ADD", applied.fact, applied.previous)


def _erased(applied: Applied) -> bool:
    """Whether nothing was stored because somebody erased the same, drawn from the same words."""
    return applied.known and applied.fact.status == "erased"
