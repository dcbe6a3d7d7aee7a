"""Copying a memory from a file to a server, back, or to another of its kind: everything in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore import settings
from memstore.database import carrying, journal
from memstore.errors import Conflict, Remedy, StorageError
from memstore.file.paths import is_server
from memstore.named import NamedTuple
from memstore.store import opening

if TYPE_CHECKING:
    import os

    from memstore.database.engine import Progress, Transaction
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
    changed: int
    """How many rows this run added, changed or removed."""


def copy(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    namespace: str = settings.DEFAULT_NAMESPACE,
    progress: Progress | None = None,
) -> Copied:
    """Copy everything into an empty memory, in one transaction: rows, journal, vectors, tokens.

    Into an earlier copy, bring what came since: agents may go on writing to the source during both.
    Before it is committed, the rows of both are compared by a hash of their values, and the
    journals by their heads. So an interrupted copy leaves nothing behind, or the earlier copy, and
    is simply made again. What is written to the source meanwhile is brought by the next run.

    Args:
        source: a file, or the URL of a database.
        target: a new or empty file, or the URL of a database in which nothing was stored under
            this namespace; or an earlier copy of the source, to which nobody else wrote.
        namespace: on a server, the namespace whose memory is meant; a file has one memory.
        progress: called with the number of tables copied and the total.

    Raises:
        Conflict: the target has something else, or one of the namespaces belongs to another memory
            of the target's database. Nothing was stored.
        StorageError: the copy differs from the source. Nothing was stored.
    """
    with (
        opening.open(source, namespace=namespace, embedder=None, read_only=True) as given,
        opening.open(target, namespace=namespace, embedder=None) as made,
        given.file.engine.read() as reading,
        made.file.engine.write() as writing,
    ):
        if carrying.is_empty(writing):
            changed = sum(carrying.carry(reading, writing, progress).values())
        else:
            _check_is_copy(reading, writing, made.path)
            changed = carrying.follow(reading, writing, progress)
        counts = carrying.counts(writing)
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
            vectors=carrying.vectors(writing),
            lines=counts["memstore_journal"],
            head=head,
            changed=changed,
        )


def _check_is_copy(source: Transaction, target: Transaction, path: str) -> None:
    """Check that the journal of a target is the beginning of the source's."""
    end = journal.head(target)
    if end.line == 0 or journal.head(source, end.line) != end:
        raise Conflict(
            f"{path} is not empty, and no earlier copy to which nobody else wrote; nothing was "
            "copied",
            remedy=Remedy.EMPTY_TARGET if is_server(path) else Remedy.NEW_TARGET,
        )
