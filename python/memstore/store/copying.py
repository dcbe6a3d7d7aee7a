"""Copying a memory from a file to a server, back, or to another of its kind: everything in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memstore import settings
from memstore.database import carrying, journal
from memstore.errors import Conflict, Remedy, StorageError
from memstore.store import opening

if TYPE_CHECKING:
    import os

    from memstore.database.engine import Progress
    from memstore.domain.records import Head


class Copied(NamedTuple):
    """What a copy has."""

    facts: int
    episodes: int
    vectors: int
    lines: int
    """Of the journal."""
    head: Head
    """The end of the journal's chain, which is the same in both."""


def copy(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    namespace: str = settings.DEFAULT_NAMESPACE,
    progress: Progress | None = None,
) -> Copied:
    """Copy everything into an empty memory, in one transaction: rows, journal, vectors, tokens.

    Before it is committed, the rows of both are compared by their number and by a hash of their
    values, and the journals by their heads. So an interrupted copy leaves nothing behind and is
    simply made again. What is written to the source meanwhile is not in the copy.

    Args:
        source: a file, or the URL of a database.
        target: a new or empty file, or the URL of a database in which nothing was stored under
            this namespace.
        namespace: on a server, the namespace whose memory is meant; a file has one memory.
        progress: called with the number of tables copied and the total.

    Raises:
        Conflict: the target is not empty, or one of the namespaces belongs to another memory of
            the target's database. Nothing was stored.
        StorageError: the copy differs from the source. Nothing was stored.
    """
    with (
        opening.open(source, namespace=namespace, embedder=None, read_only=True) as given,
        opening.open(target, namespace=namespace, embedder=None) as made,
        given.file.engine.read() as reading,
        made.file.engine.write() as writing,
    ):
        if not carrying.is_empty(writing):
            raise Conflict(
                f"{made.path} is not empty; nothing was copied", remedy=Remedy.NEW_TARGET
            )
        counts = carrying.carry(reading, writing, progress)
        columns = carrying.columns_of(reading)
        before, after = (carrying.digest(one, columns) for one in (reading, writing))
        head = journal.head(reading)
        differing = [name for name in before if before[name] != after[name]]
        if differing or journal.head(writing) != head:
            raise StorageError(
                f"the copy differs from {given.path} in {', '.join(differing) or 'its journal'}; "
                "nothing was stored"
            )
        return Copied(
            facts=counts["memstore_facts"],
            episodes=counts["memstore_episodes"],
            vectors=counts["memstore_fact_vectors"] + counts["memstore_piece_vectors"],
            lines=counts["memstore_journal"],
            head=head,
        )
