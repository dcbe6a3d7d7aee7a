"""What an import does to a record that is here already: the state there against the state here.

| there \\ here | current | superseded | deleted | erased |
|---|---|---|---|---|
| current | stays | stays | restored, if that was later | stays erased |
| superseded | superseded | stays | superseded, stays deleted | stays erased |
| deleted | deleted, unless restored here later | deleted | the later time | stays erased |
| erased | erased | erased | erased | nothing |

Nothing else of a known record is taken over: its metadata, pin, expiry and confirmations stay as
they are here. What happened to it there and is not taken over is counted (:class:`Left`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from memstore.database import journal
from memstore.database.journal import UNCHANGED, Kind
from memstore.history import replay

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.domain.episodes import Episode
    from memstore.domain.records import Fact, JournalLine

    Record = TypeVar("Record", Fact, Episode)


class Left(StrEnum):
    """What of a known record was not taken over."""

    ERASED = "erased_here"
    """It was erased here; its text there is not taken back."""
    ERASURE = "erasure"
    """It was erased there; the caller takes no erasures."""
    ANOTHER = "another_record"
    """It was erased there, but what is here was created at another time."""
    RESTORED = "restored_here"
    """It was deleted there, and restored here later."""
    DELETED = "deleted_here"
    """It was restored there, and deleted here later."""
    SUPERSEDED = "superseded_here"
    """There it is superseded by another fact, or is current again."""
    SUPERSESSION = "supersession"
    """It was superseded there; here that was taken back later, or it is the other way round."""
    METADATA = "metadata"
    PIN = "pin"
    EXPIRY = "expiry"
    CONFIRMATIONS = "confirmations"
    EXTERNAL_KEY = "external_key"
    OTHER = "other"


OF_FIELD: Final = {
    "metadata": Left.METADATA,
    "pinned_at": Left.PIN,
    "expired_at": Left.EXPIRY,
    "confirmed_count": Left.CONFIRMATIONS,
    "last_confirmed_at": Left.CONFIRMATIONS,
    "external_key": Left.EXTERNAL_KEY,
}
"""What the fields are that a line may change; any other field is :attr:`Left.OTHER`."""

OWN: Final = frozenset(
    {"id", "namespace", "superseded_by", "superseded_at", "deleted_at", "episode_id"}
    | {"idempotency_key", "user_id", "agent_id", "run_id"}
)
"""Fields that are compared in another way, or may differ between two files."""


class Outcome(NamedTuple):
    """What becomes of a known record."""

    change: Kind | None = None
    at: datetime | None = None
    """When it was deleted or restored there."""
    left: Left | None = None


NOTHING: Final = Outcome()


def of_erasure(known: Record, there: Record, *, erasures: bool) -> Outcome | None:
    """Return the outcome if either record is erased; ``None`` if neither is."""
    if known.status == "erased":
        return NOTHING if there.status == "erased" else Outcome(left=Left.ERASED)
    if there.status != "erased":
        return None
    if known.created_at != there.created_at:
        return Outcome(left=Left.ANOTHER)
    return Outcome(Kind.ERASE) if erasures else Outcome(left=Left.ERASURE)


def of_deletion(
    known: Fact,
    there: Fact,
    operations: Iterable[JournalLine],
    restored_here: Callable[[], datetime | None],
) -> Outcome:
    """Return whether a fact that nobody erased is deleted or restored as there: the later wins."""
    if known.deleted_at == there.deleted_at:
        return NOTHING
    deleted_here = known.deleted_at
    if there.deleted_at is not None:
        here = deleted_here or restored_here()
        if here is None or here < there.deleted_at:
            return Outcome(Kind.DELETE, there.deleted_at)
        return NOTHING if deleted_here is not None else Outcome(left=Left.RESTORED)
    restored = max((one.moment for one in operations if one.kind == Kind.RESTORE), default=None)
    if restored is None or deleted_here is None:
        return NOTHING
    if restored > deleted_here:
        return Outcome(Kind.RESTORE, restored)
    return Outcome(left=Left.DELETED)


def of_supersession(
    known: Fact, there: Fact, successor: int | None, operations: Iterable[JournalLine]
) -> Left | None:
    """Return what is left of a fact that is superseded here, by the id here of its successor."""
    if known.superseded_by is None or known.superseded_by == successor:
        return None
    if there.superseded_by is not None:
        return Left.SUPERSEDED
    back = max((one.moment for one in operations if one.kind == Kind.UNSUPERSEDE), default=None)
    since = known.superseded_at
    return None if back is None or (since is not None and back <= since) else Left.SUPERSEDED


def differences(
    transaction: Transaction,
    known: Record,
    there: Record,
    operations: Sequence[JournalLine],
    fields: Collection[str],
) -> set[Left]:
    """Return what was changed there, and is different here.

    A change is known by its line, which an import repeats. Without lines, any difference counts.
    """
    differing = {
        name
        for name in fields
        if name not in OWN and getattr(known, name, None) != getattr(there, name, None)
    }
    if getattr(known, "pinned_at", None) and getattr(there, "pinned_at", None):
        differing.discard("pinned_at")  # since when is of no account
    if not differing:
        return set()
    if operations:
        differing &= {*_changed(_lines(transaction, known), operations)}
    return {OF_FIELD.get(name, Left.OTHER) for name in differing}


def _lines(transaction: Transaction, known: Fact | Episode) -> list[JournalLine]:
    if hasattr(known, "superseded_by"):
        return journal.of_fact(transaction, known.id)
    return journal.of_episode(transaction, known.id)


def _changed(here: Iterable[JournalLine], there: Iterable[JournalLine]) -> Iterator[str]:
    """Yield the fields that lines of another journal changed which this one does not have."""
    had = {_identity(one) for one in here}
    for line in there:
        if _identity(line) not in had and line.kind not in {*replay.BEGINS, *UNCHANGED}:
            yield from line.after or ()


def _identity(line: JournalLine) -> tuple[Any, ...]:
    return line.moment, line.kind, line.actor, line.source
