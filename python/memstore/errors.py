"""Every error memstore raises, in one tree.

    Explained                   what happened, the argument at fault, and a remedy
    ├── InvalidArgument         a wrong value; also a ValueError
    ├── InvalidArgumentType     a value of a wrong type; also a TypeError
    └── MemstoreError
        ├── StorageError            the database operation failed
        │   ├── StoreBusy           another process held the write lock for too long
        │   ├── FileReplaced        the file was replaced while it was open
        │   │   └── FileMissing     it was moved or removed; it is used again when it is back
        │   ├── StoreClosed         the store was used after close()
        │   └── SchemaError         this version cannot open the file
        ├── Cancelled               the caller cancelled a long operation
        ├── NotFound                no such fact here (or it belongs to another namespace)
        ├── Conflict                the fact's state does not allow the request
        │   ├── FactChanged         it was changed after it was read
        │   └── IdempotencyConflict the key was already used with different content
        ├── EmbedderError           embedding failed
        │   ├── EmbedderUnavailable temporary: retrying later may succeed
        │   ├── EmbedderRejected    permanent: the same input will fail again
        │   └── EmbedderMismatch    the file holds the vectors of another model
        ├── GeneratorError          a language model gave no usable answer
        │   ├── GeneratorUnavailable temporary: retrying later may succeed
        │   ├── GeneratorRejected   permanent: the same prompt will fail again
        │   └── ReplyError          the model's answer could not be parsed
        ├── LearningError           learning stopped at the step it names
        ├── AccessDenied            the token is invalid or does not grant this access
        ├── TransferError           an export could not be read; nothing was imported
        └── SyncError               a place where devices meet could not be read or written

Programs catch ``MemstoreError``, and wrong arguments as ``ValueError`` and ``TypeError``, as is
usual in Python. The faces have some errors of their own below ``MemstoreError``.

The text of an error says what happened, independently of the face: ``argument`` is the library's
name for a parameter, command-line flag or tool field, and ``remedy`` says what to do about it. Each
face has tables that translate both; the library adds the remedy to the exception as a note.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Remedy(Enum):
    """What to do about an error; the value is the sentence that library users see."""

    NAME_PROGRAM = "Name that program as the source."
    FIND_ID = "Search or list to find the id."
    IMPORT_UNVERIFIED = "Export again, or take it as it is with unverified=True."
    FIND_HEAD = "Copy the head as a status, an export or a backup printed it."
    EARLIER_FIRST = "Name the earlier moment first."
    LATER_MOMENT = "Name that time or a later one."
    FIND_EPISODE = "Search or list the episodes to find the id."
    RETRY = "Re-read it and retry."
    WAIT = "Try again later."
    RESTORE = "Restore it first with restore()."
    DELETE_HOLDER = "Delete that fact first, or put the text under the key again."
    ADD_AGAIN = "Add the text as a new fact."
    SUPERSEDE = "Supersede it with supersede(), or use a new idempotency key."
    SAY_ANY_SUBJECT = "If this is intended, pass any_subject=True."
    USE_NEWEST = "Name the newest fact of the chain."
    TRUST_SOURCE = "If you trust this source, set its level with sources.trust()."
    ACCEPT = "Accept the proposal with proposals.accept()."
    REJECT = "Reject the proposal with proposals.reject()."
    UPDATE_TASK = "Use tasks.update()."
    CREATE_TASK = "Use tasks.create()."
    NEW_KEY = "Use a new idempotency key."
    RECORD_PARTS = "Record it in parts that share the same source and name."
    NAME_FILE = "Name another file."
    USE_STANDARD_STREAM = "Pass its contents, or name a regular file."
    CREATE_FILE = "Open it with create=True, or name another file."
    CREATE_MEMORY = "Open it with create=True, or name another namespace."
    LOCAL_DISK = "Move it to a local disk, and serve it to other machines over HTTP."
    CLOSE_OTHERS = "Close the other connections to the file, or open the store first."
    OPEN_AGAIN = "Open it again with memstore.open()."
    OPEN_REPLACED = "Close the store; memstore.open() opens what is there now."
    PUT_BACK = (
        "Put the file back, or mount its disk, and it is used again. For a new memory, start the "
        "program again."
    )
    MOUNT_DISK = "Mount it. For a new memory, name another file."
    PUT_BACK_OR_MOVE_LOG = (
        "Put the file back beside its log. For a new memory, move the log elsewhere."
    )
    OPEN_WRITABLE = "Open it without read_only."
    UPGRADE = "Upgrade pymemstore."
    EXPORT = "Export it with the version that wrote it, and import that."
    CHOOSE_EMBEDDER = "Open the store with an embedder."
    NAME_EMBEDDER = (
        "Name another embedder, or None for words only; pymemstore from PyPI has the model."
    )
    USE_STORED_MODEL = (
        "Open the file with the model it holds or with embedder=None, or switch it to another "
        "model with reembed()."
    )
    REMAKE_VECTORS = "Name another model, or recompute all vectors with reembed(again=True)."
    REEMBED = "Run reembed(), which embeds what is missing and then switches to the new model."
    FINISH_STAGED = "Finish it with reembed() and that model, or drop it with generations.drop()."
    SWITCH_FIRST = "Switch to another generation first with generations.switch()."
    READ_AGAIN = "Read it again before repeating it."
    INSTALL_FASTEMBED = "Install it with pip install 'pymemstore[fastembed]'."
    INSTALL_POSTGRES = "Install it with pip install 'pymemstore[postgres]'."
    OPEN_NAMESPACE = "Open it with that namespace."
    BACK_UP_SERVER = "Back the server up with pg_dump, or export the memory."
    SET_UP_SERVER = "Create them first: memstore.open() the database for writing."
    ADD_CITUS = "Install Citus on the server, then run CREATE EXTENSION citus in the database."
    ADD_NODES = "Add servers to the cluster with the function citus_add_node of Citus."
    NEW_TARGET = "Name a file that does not exist yet, in a folder that does."
    EMPTY_TARGET = "Name another database, or a namespace of it that holds nothing yet."
    CHECK_SERVICE = (
        "Check that the service is running (Ollama: `ollama serve`), that base_url is its address, "
        "and the network and proxy settings."
    )
    CHECK_KEY = "Check api_key, and that it may use this model."
    CHECK_MODEL = "Check that base_url points to an embedding service that has this model."
    CHECK_GENERATOR = (
        "Check that the language model's service is running (Ollama: `ollama serve`), that "
        "base_url is its address, and the network and proxy settings."
    )
    CHECK_GENERATOR_KEY = "Check the language model's api_key, and that it may use this model."
    CHECK_GENERATOR_MODEL = "Check that base_url points to a chat service that has this model."
    CHECK_PROXY = "Check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE."
    CHECK_PLAN = "Wait, or check the plan's limits and credit."
    CHECK_SCHEMA = (
        "Set additionalProperties to false on every object in the schema, and list all of its "
        "properties as required."
    )
    PULL_MODEL = "Pull the model with `ollama pull`."
    UPGRADE_OLLAMA = "Check that it is Ollama, and version 0.5 or newer."
    CHOOSE_EMBEDDING_MODEL = "Choose an embedding model, such as embeddinggemma."
    CHOOSE_CHAT_MODEL = "Choose a model that writes text, such as llama3.1."
    CHOOSE_ANOTHER_MODEL = "Leave the text out, or choose another model."
    SEND_LESS = "Send a shorter text, or raise max_tokens or context_tokens."
    ALLOW_TIME = "Allow more time with timeout_seconds, or send less at once."
    ASK_AGAIN = "Retry, or use another model."
    CHOOSE_GENERATOR = "Pass a generator."
    CHECK_PLACE = "Check that it is mounted and may be written; the next run carries on."
    MOUNT_PLACE = "Mount it; if it is empty on purpose, run memstore sync --refill."
    OWN_PLACE = "Give the devices a folder or a repository of their own."
    CHECK_GIT = "Check that `git ls-remote` reaches it from a terminal; the next run carries on."
    ALLOW_FORCE = "Allow force pushes to the branch memstore, so that erased texts can be dropped."
    NAME_PLACE = (
        "Name a folder, the address of a git repository, or https:// and the address of a server."
    )
    KEEP_CREDENTIALS = (
        "Leave it out: git's credential helper keeps it, and a server takes a token instead."
    )
    INSTALL_SYNC = "Install it with pip install 'pymemstore[sync]'."
    SAY_PASSPHRASE = "Pass the passphrase of the place."  # noqa: S105
    SEAL_PLACE = "Leave trust out, or leave the place and begin again with a passphrase."
    NAME_OWNERS = "Name the owners it was stored for: user_id, agent_id, run_id."
    BUILD_GRAPH = "Build the graph with graph.build()."
    LIST_ENTITIES = "List its entities with graph.entities()."
    LIST_DECISIONS = "List the decisions with graph.decisions()."
    FORGET_DECISION = "Undo one of these decisions first with graph.forget()."
    CREATE_TOKEN = "Create a token with tokens.create()."  # noqa: S105 - a sentence
    LIST_TOKENS = "List the tokens with tokens.list()."
    RENAME_TOKEN = "Choose another name, or revoke that token first."  # noqa: S105 - a sentence
    NEW_SECRET = "Use another secret."  # noqa: S105 - a sentence
    LEAVE_SECRET_OUT = 'Leave it out, or open the store with secrets="redact" or "keep".'  # noqa: S105
    SKIP_DAMAGED = "Repair the file, or skip the damaged entries with skip_damaged=True."
    IMPORT_AGAIN = "Run the same import again; it resumes where it stopped."
    KEEP_NAMESPACES = "Import it with store.file.import_, or export one namespace at a time."
    OMIT_NAMESPACE = "Leave the namespace out."
    RESTORE_BACKUP = "Restore a backup with memstore.recover()."
    PLAN_AGAIN = "Draw up the plan again, and read what it does now."
    END_READING = "Read to the end first, or use a store on disk."
    OTHER_BACKUP = "Name another backup."
    RETRY_QUARANTINED = (
        "Words find them. To ask the embedder again, call"
        " file.embed_pending(retry_quarantined=True)."
    )
    OTHER_FOLDER = "Name another folder."
    REBUILD = "Rebuild the indexes with rebuild()."
    RELEASE_FILE = "Close the program that wrote it, or open it there once, and try again."
    CLOSE_FILE = "Close every program that has it open, and try again."
    INSTALL_DUCKDB = (
        "Install pymemstore[duckdb], or write the table episodes to JSON Lines with Engram's tools."
    )

    def __str__(self) -> str:
        return str(self.value)


class Reason(str):
    """The text and remedy of a failure that is reported rather than raised."""

    remedy: Remedy | None

    def __new__(cls, text: str, remedy: Remedy | None = None) -> Reason:
        reason = super().__new__(cls, text)
        reason.remedy = remedy
        return reason

    @classmethod
    def of(cls, error: BaseException) -> Reason:
        """Return the text and remedy of an error."""
        return cls(str(error), error.remedy if isinstance(error, Explained) else None)


class Explained(Exception):
    """An error with the argument at fault and a remedy, both of which each face words itself.

    Args:
        text: what happened. If there is an argument, the text completes a sentence that begins
            with its name: ``"must be at least 1, not 0"``.
        argument: the name of the parameter at fault.
        remedy: what to do about it.
        place: which of several items failed, such as ``"fact 2 of 7"``.
    """

    def __init__(
        self,
        text: str = "",
        *,
        argument: str | None = None,
        remedy: Remedy | None = None,
        place: str | None = None,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.argument = argument
        self.remedy = remedy
        self.place = place
        if remedy is not None:
            self.add_note(remedy.value)

    def __str__(self) -> str:
        return self.worded({})

    def worded(self, names: Mapping[str, str]) -> str:
        """Return the message, with the argument called by a face's name for it."""
        argument = None if self.argument is None else names.get(self.argument, self.argument)
        sentence = f"{argument} {self.text}" if argument else self.text
        return f"{self.place}: {sentence}" if self.place else sentence


class InvalidArgument(Explained, ValueError):
    """An argument has an invalid value."""


class InvalidArgumentType(Explained, TypeError):
    """An argument has the wrong type."""


class MemstoreError(Explained):
    """The base class of all other errors that memstore raises on purpose."""


class StorageError(MemstoreError):
    """The database operation failed; nothing was changed."""


class StoreBusy(StorageError):
    """Another process held the write lock for longer than the store was willing to wait."""


class FileReplaced(StorageError):
    """The file, or its write-ahead log, was replaced, moved or removed while it was open."""


class FileMissing(FileReplaced):
    """A file that was open was moved away or removed, or its disk was unmounted.

    Nothing was stored. The store is used again when the file is back, and opening that path creates
    none in its place.
    """


class StoreClosed(StorageError):
    """The store was used after ``close()``."""


class SchemaError(StorageError):
    """The file was written by a newer version or another program; it was not touched."""


class Cancelled(MemstoreError):
    """The caller cancelled a long operation, which changed nothing."""


class NotFound(MemstoreError):
    """There is no such fact in this namespace."""


class Conflict(MemstoreError):
    """The fact exists, but its state does not allow the request."""


class FactChanged(Conflict):
    """A fact was changed after it was read; nothing was done. See ``Store.unless_changed``.

    Args:
        text: what happened.
        fact_id: the fact.
        since: the line of the journal that it was read at.
        remedy: what to do about it.
    """

    def __init__(
        self, text: str, *, fact_id: int = 0, since: int = 0, remedy: Remedy | None = None
    ) -> None:
        super().__init__(text, remedy=remedy)
        self.fact_id = fact_id
        self.since = since


class IdempotencyConflict(Conflict):
    """The idempotency key was already used with different content."""


class EmbedderError(MemstoreError):
    """A text could not be embedded."""


class EmbedderUnavailable(EmbedderError):
    """A temporary failure (timeout, refused connection, 429, 5xx).

    Args:
        text: what happened.
        unquoted: the text without the service's reply, which may quote the embedded texts.
        remedy: what to do about it.
    """

    def __init__(
        self, text: str, *, unquoted: str | None = None, remedy: Remedy | None = None
    ) -> None:
        super().__init__(text, remedy=remedy)
        self.unquoted = text if unquoted is None else unquoted


class EmbedderRejected(EmbedderError):
    """A permanent failure: the same input would fail again."""


class EmbedderMismatch(EmbedderError):
    """The file holds the vectors of another model.

    Args:
        text: what happened.
        stored: the file's model, if it names one.
        remedy: what to do about it.
    """

    def __init__(
        self, text: str, *, stored: str | None = None, remedy: Remedy | None = None
    ) -> None:
        super().__init__(text, remedy=remedy)
        self.stored = stored


class GeneratorError(MemstoreError):
    """A language model gave no usable answer."""


class GeneratorUnavailable(GeneratorError):
    """A temporary failure (timeout, refused connection, 429, 5xx, no text in the reply)."""


class GeneratorRejected(GeneratorError):
    """A permanent failure: the same prompt would fail again (refused, declined, cut off)."""


class ReplyError(GeneratorError):
    """A model answered, but the answer could not be parsed; retrying may help."""


class LearningError(MemstoreError):
    """Learning did not finish; repeating the call completes it.

    Args:
        text: what happened.
        step: the step that failed: ``record``, ``extract``, ``decide`` or ``store``.
        episode_id: the episode of the conversation; ``None`` if it was not recorded yet.
        remedy: what to do about it.
    """

    def __init__(
        self,
        text: str,
        *,
        step: str = "",
        episode_id: int | None = None,
        remedy: Remedy | None = None,
    ) -> None:
        super().__init__(text, remedy=remedy)
        self.step = step
        self.episode_id = episode_id


class AccessDenied(MemstoreError):
    """A token is unknown, revoked or expired, or does not grant the requested access."""


class TransferError(MemstoreError):
    """An export could not be read; nothing was imported."""


class SyncError(MemstoreError):
    """A place where devices meet could not be read or written; the next run carries on."""
