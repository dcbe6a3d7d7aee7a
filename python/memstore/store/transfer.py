"""Memories carried to other files and from other programs, and what stays the same there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memstore import transfer
from memstore.database import journal
from memstore.database.tables import facts as fact_table
from memstore.domain import zones
from memstore.domain.arguments import checked_ids
from memstore.facts import rules
from memstore.lazy import lazy_import

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Iterator

    from memstore.database.engine import Progress
    from memstore.database.journal import Author
    from memstore.domain.moments import Moment
    from memstore.domain.standing import Standing
    from memstore.file.file import File
    from memstore.importing import ImportFromReport
    from memstore.transfer import ImportReport, exporting, owned
else:
    exporting = lazy_import("memstore.transfer.exporting")
    owned = lazy_import("memstore.transfer.owned")


class TransferView(zones.Zoned):
    """Memories to be carried elsewhere: ``transfer`` of a :class:`memstore.View`."""

    def __init__(self, file: File, standing: Standing, moment: Moment | None = None) -> None:
        self._file = file
        self._zone = file.zone
        self._standing = standing
        self._moment = moment

    def export(self, *, progress: Progress | None = None) -> Iterator[str]:
        """Yield the namespace's memories as lines of JSON: all but embeddings, from one snapshot.

        Everything is read, in short steps, before the first line is yielded, so a slow consumer
        does not block other users of the file. Of a view they are the memories of then with their
        journal; proposals have their states of then, while replies of models and decisions about
        names are those of then that are still there, and what was erased since is in it as erased.

        Args:
            progress: called with the number of facts and episodes read and the total.
        """
        standing, engine = self._standing, self._file.engine
        names, levels = standing.namespaces, not standing.confined
        if self._moment is None:
            self._file.write_use_counts()
            every = transfer.export(engine, names, progress, levels=levels)
        else:
            every = exporting.export_as_of(engine, names, self._moment, progress, levels=levels)
        return every if standing.bound is None else owned.of_owners(engine, every, standing.bound)

    def uuids(self, fact_ids: Iterable[int]) -> dict[int, str]:
        """Return the UUIDs of facts of this namespace by their ids, also of erased ones.

        A fact's UUID is the same wherever it was imported, restored or copied to.
        """
        ids = checked_ids(fact_ids)
        if self._moment is not None:
            ids = [one for one in ids if one <= self._moment.last_fact]
        standing = self._standing.alone
        with self._file.engine.read() as transaction:
            if standing.bound is not None:
                known = fact_table.get_many(transaction, ids).values()
                ids = [fact.id for fact in known if rules.is_seen(fact, standing)]
            return fact_table.uuids_of(transaction, standing.namespace, ids)

    def identity(self) -> str | None:
        """Return what tells this memory from all others, whatever its file is called.

        Backups and copies of it have the same, and so has the file after a backup was restored;
        one into which its export was imported has another. ``None`` before the first write.
        """
        if self._moment is not None and self._moment.line < 1:
            return None
        with self._file.engine.read() as transaction:
            return journal.beginning(transaction)


class Transfer(TransferView):
    """Memories carried elsewhere and from elsewhere: ``transfer`` of a :class:`memstore.Store`."""

    def __init__(self, file: File, author: Author, standing: Standing) -> None:
        super().__init__(file, standing)
        self._author = author

    def import_(
        self,
        lines: Iterable[str],
        *,
        unverified: bool = False,
        erasures: bool = True,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Import an export into this namespace. Importing it again changes nothing.

        Everything is checked before anything is written. It is then written in short transactions,
        in such an order that no superseded fact is ever active. After an interruption, running the
        same import again completes it; until then, or until :meth:`memstore.File.give_up_imports`,
        ``status`` counts it as incomplete. Searches by words find the memories at once;
        :meth:`memstore.File.embed_pending` embeds them.

        Known facts are superseded, deleted, restored, erased and changed as at the source; of two
        changes the later holds. The report counts what was not taken over (``left``). What was
        erased there is erased here, which cannot be undone, and what was erased here stays erased.

        Args:
            lines: the lines of :meth:`export`.
            unverified: also take an export that was changed after it was written.
            erasures: erase known records here that were erased at the source. Say false for an
                export of somebody who must not erase anything here; the report counts them.
            dry_run: write nothing, and return what would be reported.
            progress: called with the number of facts imported and the total.

        Raises:
            TransferError: the export is damaged, and the error names the line; or it was changed.
            Conflict: this store's source counts less than an agent, and an export has the acts of
                others, by their names.
            ValueError: the store is of some owners: an export has owners of its own.
        """
        self._standing.check_unbound("imports what anybody has")
        return self._file.import_(
            lines,
            namespace=self._standing.namespace,
            unverified=unverified,
            erasures=erasures,
            dry_run=dry_run,
            progress=progress,
            author=self._author,
        )

    def import_from(
        self,
        source: str,
        path: str | os.PathLike[str],
        *,
        skip_damaged: bool = False,
        include: Collection[str] = (),
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportFromReport:
        """Import the memories of another program; importing them again changes nothing.

        The whole file is read before anything is written, in batches. After an interruption, the
        same import resumes. Embeddings are not imported, because they are of another model;
        :meth:`memstore.File.embed_pending` computes new ones.

        Args:
            source: ``"engram"`` (JSON Lines, or its DuckDB file with the extra ``duckdb``),
                ``"memstore"`` (the original's SQLite file, of any version), ``"mem0"`` (an export
                as JSON), ``"server-memory"`` (its JSON Lines), ``"chatgpt"`` or ``"claude"`` (the
                ZIP archive of their data export, or what is in it), ``"markdown"`` (a folder of
                notes, or one file), ``"mcp-memory-service"`` or
                ``"claude-mem"`` (SQLite or JSON), ``"letta"`` (an agent file) or ``"langgraph"``
                (its SQLite store).
            path: the file or folder, which is not changed.
            skip_damaged: skip entries that cannot be read, and report them.
            include: what of conversations is left out otherwise: ``"branches"``, ``"hidden"``,
                ``"reasoning"``, ``"tools"``.
            dry_run: check the source and count, without importing anything.
            progress: called with the number of bytes or rows read and the total, then with the
                number of entries imported and the total.

        Returns:
            What was imported, and what could not be.

        Raises:
            TransferError: an entry cannot be read; the error says where, and nothing was imported.
            StorageError: the file cannot be opened.
            ValueError: an unknown source.
        """
        return self._file.import_from(
            source,
            path,
            namespace=self._standing.namespace,
            owners=self._standing.imported,
            skip_damaged=skip_damaged,
            include=include,
            dry_run=dry_run,
            progress=progress,
            author=self._author,
        )
