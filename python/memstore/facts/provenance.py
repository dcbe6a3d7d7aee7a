"""Derived facts: what makes one the same fact again, and whether a person had a hand in it.

A derived fact is known by its episode, its subject and its words. Its UUID follows from them and
from the episode's salt, so that deriving it again gives the same one, in this file or another; and
of a fact that was erased the UUID is enough to know that it is not to be derived again. Erasing the
episode erases the salt: then nobody can tell from the UUID what the fact said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memstore.database.journal import Kind
from memstore.database.tables import episodes as episode_table
from memstore.database.tables import facts as fact_table
from memstore.database.tables.readings import EXTRACT, MEMORY
from memstore.domain import clock
from memstore.lazy import lazy_import
from memstore.text.folding import subject_key

if TYPE_CHECKING:
    import hashlib
    from collections.abc import Iterable
    from datetime import datetime

    from memstore.database.engine import Transaction
    from memstore.database.tables.episodes import Origin
    from memstore.domain.records import Fact, JournalLine
    from memstore.facts.new import CheckedFact
else:
    hashlib = lazy_import("hashlib")

DERIVED: Final = frozenset({EXTRACT, MEMORY})

REBUILT: Final = "rebuild"
"""The key in the evidence of what a rebuild did by itself."""

AUTOMATIC: Final = frozenset(
    {Kind.ADD, Kind.ADOPT, Kind.EMBED, Kind.QUARANTINE, Kind.KEEP, Kind.PROPOSE}
)
"""Operations on a fact that are no person's word about it."""


def uuid_of(salt: str, episode_uuid: str, recorded_at: datetime, subject: str, content: str) -> str:
    """Return the UUID of what an episode says about a subject."""
    told = "\n".join((salt, episode_uuid, subject_key(subject), content)).encode()
    return clock.named_uuid(recorded_at, hashlib.sha256(told).digest())


def thread_of(episode: Origin) -> tuple[str | None, int | None]:
    """Return the thread of the facts of an episode, and their place there.

    An episode outside of threads is one by itself. Its name follows from the salt, like the UUIDs
    of its facts: once the episode is erased, the name leads nowhere.
    """
    if episode.thread is not None or episode.salt is None:
        return episode.thread, episode.seq
    told = "\n".join((episode.salt, episode.uuid, "thread")).encode()
    return hashlib.sha256(told).hexdigest()[:32], 1


def identity(
    transaction: Transaction,
    namespace: str,
    new: CheckedFact,
    episode: Origin | None,
    now: datetime,
) -> tuple[str, datetime]:
    """Return the UUID and the time of creation of a fact that is about to be stored.

    An extracted fact counts from when its text was recorded. One that was there before and is said
    again is a new fact of its own time.
    """
    created_at = new.created_at
    uuid = _derived_uuid(new, episode)
    if (
        episode is not None
        and uuid is not None
        and fact_table.find(transaction, namespace, uuid=uuid) is None
    ):
        if new.derivation == EXTRACT:
            created_at = created_at or episode.created_at
        return uuid, created_at or now
    created_at = created_at or now
    return clock.new_uuid(created_at), created_at


def erased_before(transaction: Transaction, namespace: str, new: CheckedFact) -> Fact | None:
    """Return what is left of a derived fact that said just this, and was erased."""
    if new.derivation not in DERIVED or new.episode_id is None:
        return None
    episode = episode_table.origin(transaction, new.episode_id, namespace)
    if (uuid := _derived_uuid(new, episode)) is None:
        return None
    known = fact_table.find(transaction, namespace, uuid=uuid)
    return known if known is not None and known.status == "erased" else None


def erased_since(
    transaction: Transaction, namespace: str, subject: str, content: str, since: datetime
) -> bool:
    """Whether a fact that said just this, drawn from whatever episode, was erased since then."""
    return any(
        one.erased_at >= since
        and one.uuid
        == uuid_of(one.salt, one.episode_uuid, one.episode_created_at, subject, content)
        for one in fact_table.erased(transaction, namespace)
    )


def untouched(lines: Iterable[JournalLine]) -> bool:
    """Whether only programs ever changed a fact.

    A proposal that a person accepted counts as a person's change, and so does one without a
    reason.
    """
    return all(
        line.kind in AUTOMATIC
        or (line.kind in (Kind.SUPERSEDE, Kind.CONFIRM) and automatic(line))
        or (line.kind in (Kind.DELETE, Kind.RESTORE) and rebuilt(line))
        for line in lines
    )


def automatic(line: JournalLine) -> bool:
    """Whether a program superseded the fact by itself."""
    return bool(line.evidence) and "proposal" not in (line.evidence or {})


def rebuilt(line: JournalLine) -> bool:
    return REBUILT in (line.evidence or {})


def withdrawn(lines: Iterable[JournalLine]) -> bool:
    """Whether a rebuild deleted the fact, and nothing changed that since."""
    last = None
    for line in lines:
        if line.kind in (Kind.DELETE, Kind.RESTORE, Kind.ERASE):
            last = line
    return last is not None and last.kind == Kind.DELETE and rebuilt(last)


def _derived_uuid(new: CheckedFact, episode: Origin | None) -> str | None:
    """Return the UUID that a derived fact has, unless its episode was erased."""
    if new.derivation not in DERIVED or episode is None or episode.salt is None:
        return None
    return uuid_of(episode.salt, episode.uuid, episode.created_at, new.subject, new.content)
