"""Facts extracted from episodes: their identity, and whether a person ever changed them.

The UUID of an extracted fact is a hash of the episode and its salt, the subject and the text. So
extracting it again gives the same UUID, in this file or another, and an erased fact is recognised
by its UUID and not extracted again. Erasing the episode erases the salt, after which the UUID
cannot be used to check a guess at the text.
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
    from memstore.facts.checks import Prepared
else:
    hashlib = lazy_import("hashlib")

DERIVED: Final = frozenset({EXTRACT, MEMORY})

REBUILT: Final = "rebuild"
"""The key in the evidence of changes that a rebuild made."""

RESTATED: Final = "restated"
"""The key in the evidence of a confirmation by somebody who stored the same fact again; its value
is the source that was given, or empty."""

AUTOMATIC: Final = frozenset(
    {Kind.ADD, Kind.ADOPT, Kind.EMBED, Kind.QUARANTINE, Kind.KEEP, Kind.PROPOSE}
)
"""Kinds of lines that never record a person's decision about a fact."""


def uuid_of(salt: str, episode_uuid: str, recorded_at: datetime, subject: str, content: str) -> str:
    """Return the UUID of a fact that an episode states about a subject."""
    identity = "\n".join((salt, episode_uuid, subject_key(subject), content)).encode()
    return clock.named_uuid(recorded_at, hashlib.sha256(identity).digest())


def thread_of(episode: Origin) -> tuple[str | None, int | None]:
    """Return the thread of an episode's facts, and their place in it.

    An episode without a thread is one by itself. The name is a hash with the salt, like the UUIDs
    of its facts, so that after the episode is erased the name reveals nothing about it.
    """
    if episode.thread is not None or episode.salt is None:
        return episode.thread, episode.seq
    name = "\n".join((episode.salt, episode.uuid, "thread")).encode()
    return hashlib.sha256(name).hexdigest()[:32], 1


def identity(
    transaction: Transaction,
    namespace: str,
    new: Prepared,
    episode: Origin,
    now: datetime,
) -> tuple[str, datetime]:
    """Return the UUID and the time of creation of a fact of an episode that is about to be stored.

    An extracted fact is dated by when its text was recorded. If a fact with its UUID already
    exists, the new one gets a UUID and a time of its own.
    """
    created_at = new.created_at or now
    uuid = _derived_uuid(new, episode)
    if uuid is None or fact_table.find(transaction, namespace, uuid=uuid) is not None:
        return clock.new_uuid(created_at), created_at
    if new.derivation == EXTRACT:
        created_at = new.created_at or episode.created_at
    return uuid, created_at


def erased_before(transaction: Transaction, namespace: str, new: Prepared) -> Fact | None:
    """Return the erased fact that was extracted from the same episode and said the same."""
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
    """Return whether a fact that said the same, from any episode, was erased since then."""
    return any(
        one.erased_at >= since
        and one.uuid
        == uuid_of(one.salt, one.episode_uuid, one.episode_created_at, subject, content)
        for one in fact_table.erased(transaction, namespace)
    )


def untouched(lines: Iterable[JournalLine]) -> bool:
    """Return whether only programs ever changed a fact.

    An accepted proposal counts as a person's change, and so does a change without evidence.
    """
    return all(
        line.kind in AUTOMATIC
        or (line.kind in (Kind.SUPERSEDE, Kind.CONFIRM) and automatic(line))
        or (line.kind in (Kind.DELETE, Kind.RESTORE) and rebuilt(line))
        for line in lines
    )


def automatic(line: JournalLine) -> bool:
    """Return whether a program made the change without a person's decision."""
    evidence = line.evidence or {}
    return bool(evidence) and "proposal" not in evidence and RESTATED not in evidence


def rebuilt(line: JournalLine) -> bool:
    return REBUILT in (line.evidence or {})


def withdrawn(lines: Iterable[JournalLine]) -> bool:
    """Return whether a rebuild deleted the fact, and it was not restored or erased since."""
    last = None
    for line in lines:
        if line.kind in (Kind.DELETE, Kind.RESTORE, Kind.ERASE):
            last = line
    return last is not None and last.kind == Kind.DELETE and rebuilt(last)


def _derived_uuid(new: Prepared, episode: Origin | None) -> str | None:
    """Return the UUID of an extracted fact; ``None`` if its episode was erased."""
    if new.derivation not in DERIVED or episode is None or episode.salt is None:
        return None
    return uuid_of(episode.salt, episode.uuid, episode.created_at, new.subject, new.content)
