"""Looking after a file: its state, its embeddings, what goes out of it and comes in."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memstore.database.filters import FactFilter
from memstore.database.tables import facts as fact_table
from memstore.database.tables import generations as generation_table
from memstore.database.tables import meta as meta_table
from memstore.database.tables import pieces as piece_table
from memstore.database.tables import vectors as vector_table
from memstore.database.tables.vectors import FACTS, TABLES
from memstore.domain import clock
from memstore.domain.arguments import ALL_NAMESPACES
from memstore.domain.records import StoreStatus
from memstore.errors import EmbedderError, InvalidArgument, Remedy, StorageError
from memstore.graph import satellite
from memstore.store.binding import Binding

if TYPE_CHECKING:
    import builtins
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memstore.database.engine import Progress
    from memstore.domain.protocols import Embedder
    from memstore.embedding.generations import ReembedReport
    from memstore.embedding.health import Probe
    from memstore.embedding.pending import EmbedReport
    from memstore.importing import ImportFromReport
    from memstore.transfer import ImportReport
    from memstore.upkeep.doctor import Finding


class Upkeep(Binding):
    """What a store does for its file as a whole."""

    def status(self) -> StoreStatus:
        """Count what the namespace holds, and say where and how it is kept."""
        self._flush_touches()
        now = clock.utc_now()
        active = FactFilter((self.namespace,), now)
        size_bytes = self._engine.size_bytes()  # a transaction of its own where there is no file
        with self._engine.read() as transaction:
            stored = generation_table.active(transaction)
            return StoreStatus(
                namespace=self.namespace,
                **fact_table.count_states(transaction, self.namespace, now),
                **piece_table.count_episodes(transaction, self.namespace),
                **vector_table.count_waiting(transaction, FACTS, stored.id, self.namespace),
                subjects=fact_table.count_by(transaction, "subject", active),
                categories=fact_table.count_by(transaction, "category", active),
                model=stored.model,
                dimension=stored.dimension,
                embedder=None if (embedder := self._embedder_now()) is None else embedder.model,
                path=self.path,
                size_bytes=size_bytes,
                schema_version=meta_table.schema_version(transaction),
                namespaces=self._shown(fact_table.count_namespaces(transaction)),
            )

    def embed_pending(
        self,
        *,
        limit: int | None = None,
        everywhere: bool = False,
        retry_quarantined: bool = False,
        progress: Progress | None = None,
    ) -> EmbedReport:
        """Embed the facts and episodes that wait for it.

        Args:
            everywhere: those of every namespace in the file, not just of this one. Their texts
                go to this store's embedder, whoever wrote them.
            limit: how many texts at most, a long episode being several; ``None`` for all.
            retry_quarantined: give what this namespace has in quarantine another chance first.
            progress: called with how many are done, and of how many.

        Raises:
            EmbedderError: this store has no embedder.
            EmbedderMismatch: the file took on another model meanwhile.
        """
        if everywhere:
            self._namespaces(ALL_NAMESPACES)  # a confined store has one
        following = self._needed()
        if retry_quarantined:
            with self._engine.write() as transaction:
                active = generation_table.active(transaction)
                for table in TABLES:
                    vector_table.release_quarantine(transaction, table, active.id, self.namespace)
        from memstore.embedding.pending import embed_pending

        namespace = None if everywhere else self.namespace
        return embed_pending(self._engine, self._author, following, namespace, limit, progress)

    def embed_in_background(self, interval_seconds: float = 5.0) -> None:
        """Keep embedding what is pending in the file, in a thread that ends with the store.

        Of all processes that do this one works at a time, for every namespace.
        """
        if self._home is not None:
            self._home.embed_in_background(interval_seconds)
            return
        following = self._following()
        if following is None or self._read_only:
            return
        from memstore.embedding.background import BackgroundEmbedding

        with self._waking:
            if self._background is None:
                self._background = BackgroundEmbedding(
                    self._engine, self._author, following, None, interval_seconds
                )
                self._background.start()

    def keep_embedding(
        self,
        tell: Callable[[EmbedReport | str], object],
        *,
        everywhere: bool = False,
        interval_seconds: float = 5.0,
    ) -> None:
        """Embed what is pending, now and whenever something is, until the process is interrupted.

        Where another process does it already, this one waits to take over.

        Args:
            tell: called with what was done, or with why nothing could be.
            everywhere: for every namespace in the file, not just this one.
            interval_seconds: how long to wait between two looks.

        Raises:
            EmbedderError: this store has no embedder.
            KeyboardInterrupt: the process was interrupted; nothing is left half done.
        """
        from memstore.embedding.background import BackgroundEmbedding

        BackgroundEmbedding(
            self._engine,
            self._author,
            self._needed(),
            None if everywhere else self.namespace,
            interval_seconds,
            tell=tell,
        ).run()

    def reembed(
        self, embedder: Embedder, *, again: bool = False, progress: Progress | None = None
    ) -> ReembedReport:
        """Bring the file over to another embedding model; searches go on with the old one.

        Every fact and episode of the file, whatever its namespace, is embedded anew beside the old
        vectors; then one transaction switches. Stopped or killed at any point, the same call goes
        on from there. The old vectors stay until ``generations.drop``, and ``generations.switch``
        goes back to them at once. Other processes notice the switch with their next search.

        Args:
            embedder: of the new model. This store uses it afterwards, if it used one before.
            again: make the vectors of the model the file has already once more.
            progress: called with how many are done, and of how many.

        Raises:
            Conflict: the file's vectors are of this model, or another one is being staged.
            EmbedderMismatch: the embedder changed its dimension on the way.
        """
        return self.generations.reembed(embedder, again=again, progress=progress)

    def warm(self) -> None:
        """Load the model and the vectors now, so that the first search need not."""
        if (following := self._following()) is not None:
            with suppress(EmbedderError):
                following.current.embed(["memory"])
        self._wake()[1].warm(self.namespace)
        self._episode_search().warm(self.namespace)

    def probe_embedder(self, timeout_seconds: float = 3.0) -> Probe | None:
        """Ask the embedder for a vector now, and return what came of it; ``None`` without one.

        Args:
            timeout_seconds: how long to wait; one that does not answer by then does not work.
        """
        if self._home is not None:
            return self._home.probe_embedder(timeout_seconds)
        embedder = self._embedder_now()
        if embedder is None:
            return None
        with self._waking:
            if self._probing is None or self._probing.embedder is not embedder:
                from memstore.embedding.health import Probing

                self._probing = Probing(embedder)
        return self._probing.ask(timeout_seconds)

    def export(
        self, *, namespaces: str | Sequence[str] | None = None, progress: Progress | None = None
    ) -> Iterator[str]:
        """Yield an export as lines of JSON: everything but the embeddings.

        Args:
            namespaces: which ones; the store's own by default, ``"all"`` for all.
            progress: called with how many facts are written, and of how many.
        """
        from memstore import transfer

        self._flush_touches()
        return transfer.export(self._engine, self._namespaces(namespaces), progress)

    def import_(
        self,
        lines: Iterable[str],
        *,
        keep_namespaces: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Bring an export in: all of it, or nothing. Doing it twice changes nothing more.

        Facts and episodes are found by words at once; :meth:`embed_pending` embeds them.

        Args:
            lines: what :meth:`export` yielded.
            keep_namespaces: leave each fact in the namespace it came from, rather than in the
                store's own.
            progress: called with how many facts are in, and of how many.

        Raises:
            TransferError: the export is damaged; the line is named.
        """
        from memstore import transfer

        if keep_namespaces:
            self._namespaces(ALL_NAMESPACES)  # a confined store has one
        incoming = transfer.read(lines)
        if not keep_namespaces and len(incoming.namespaces) > 1:
            raise InvalidArgument(
                "the export holds several namespaces", remedy=Remedy.KEEP_NAMESPACES
            )
        home = None if keep_namespaces else self.namespace
        return transfer.write(self._engine, self._author, incoming, home, satellite, progress)

    def import_from(
        self,
        source: str,
        path: str | os.PathLike[str],
        *,
        keep_namespaces: bool = False,
        skip_damaged: bool = False,
        progress: Progress | None = None,
    ) -> ImportFromReport:
        """Bring in what another program remembers. Doing it twice changes nothing more.

        The file is read whole before anything is written, and then comes in by batches; after an
        interruption the same import goes on. Its embeddings are another model's and stay behind:
        :meth:`embed_pending` makes new ones.

        Args:
            source: ``"engram"`` (JSON Lines, or its DuckDB file with the extra ``duckdb``),
                ``"memstore"`` (the original's SQLite file, of any version), ``"mem0"`` (an export
                as JSON) or ``"server-memory"`` (its JSON Lines).
            path: the file, which is left as it is.
            keep_namespaces: make the source's namespaces and groups namespaces here, rather than
                bring everything into the store's own.
            skip_damaged: leave out what cannot be read, and report it.
            progress: called with how many things are in, and of how many.

        Returns:
            What came in, and what could not be carried over.

        Raises:
            TransferError: something cannot be read; its place is named, and nothing was imported.
            StorageError: the file cannot be opened.
            ValueError: an unknown source.
        """
        from memstore import importing

        if keep_namespaces:
            self._namespaces(ALL_NAMESPACES)  # a confined store has one
        return importing.import_from(
            self._engine,
            self._author,
            source,
            Path(path).expanduser(),
            satellite,
            namespace=None if keep_namespaces else self.namespace,
            skip_damaged=skip_damaged,
            progress=progress,
        )

    def backup(self, target: str | os.PathLike[str], *, progress: Progress | None = None) -> Path:
        """Write a consistent copy of the live file, also while others write to it.

        Raises:
            StorageError: there is a file already, or it cannot be written.
        """
        file = Path(target).expanduser().absolute()
        if file.exists():
            raise StorageError(f"{file} exists: name a new file, so that no backup is lost")
        if not file.parent.is_dir():
            raise StorageError(f"{file.parent} is no folder: create it first")
        self._flush_touches()
        self._engine.backup(file, progress)
        return file

    def examine(self, *, progress: Progress | None = None) -> builtins.list[Finding]:
        """Prove that derived data agrees with the rows; an empty list means all is well.

        Args:
            progress: called with how many checks are done, and of how many.
        """
        from memstore.upkeep import doctor

        return doctor.examine(self._engine, satellite, read_only=self._read_only, progress=progress)

    def similarities(self, text: str, others: Sequence[str]) -> builtins.list[float]:
        """Return the cosine of a text with each of the others, -1 to 1. Nothing is stored.

        The texts are compared as they are: stored vectors stand for a fact with its subject.

        Raises:
            EmbedderError: the store has no embedder, or it failed.
        """
        return self._needed().current.similarities(text, others)
