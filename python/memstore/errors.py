"""Every error memstore raises, in one tree.

    MemstoreError
    ├── StorageError            the database could not do it
    │   ├── StoreBusy           another process held the write lock for too long
    │   ├── StoreClosed         the store was used after close()
    │   └── SchemaError         the file is not one this version can open
    ├── NotFound                no such fact here (or it belongs to another namespace)
    ├── Conflict                the fact is not in a state that allows this
    │   └── IdempotencyConflict the key was used before, with other content
    ├── EmbedderError           no vectors could be had
    │   ├── EmbedderUnavailable a passing failure: trying again later makes sense
    │   ├── EmbedderRejected    a lasting failure: the same input will fail again
    │   └── EmbedderMismatch    the file holds the vectors of another model
    ├── GeneratorError          no usable answer could be had from a language model
    │   ├── GeneratorUnavailable a passing failure: trying again later makes sense
    │   ├── GeneratorRejected   a lasting failure: the same prompt will fail again
    │   └── ReplyError          it answered, and the answer cannot be read
    ├── LearningError           learning stopped at a step, which it names
    ├── AccessDenied            the token is not good, or not good for this
    └── TransferError           an export could not be read; nothing was imported

Wrong arguments raise ``InvalidArgument`` (a ``ValueError``) or ``InvalidArgumentType`` (a
``TypeError``), as everywhere in Python.

The text of an error says what happened, in no face's words: a flag of the command line, a field of
a tool and a parameter of the library are one ``argument``, and the way out is a ``remedy``. Each
face words both by tables of its own; here, in the library, the remedy is a note of the exception.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Remedy(Enum):
    """A way out of an error; the value is the sentence for users of the library."""

    FIND_ID = "Search or list to find the id."
    RETRY = "Read it again and retry."
    WAIT = "Try again later."
    RESTORE = "Restore it first with restore()."
    ADD_AGAIN = "Add the text as a new fact."
    SUPERSEDE = "Supersede it with supersede(), or use a new idempotency key."
    SAY_ACROSS = "If that is meant, pass across=True."
    USE_NEWEST = "Name the newest fact of the chain."
    REJECT = "Reject the proposal with proposals.reject()."
    UPDATE_TASK = "Use tasks.update()."
    CREATE_TASK = "Use tasks.create()."
    NEW_KEY = "Use a new idempotency key."
    RECORD_PARTS = "Record it in parts, with the same source and name."
    NAME_FILE = "Name another file."
    CLOSE_OTHERS = "Close the other connections to the file, or open the store before them."
    OPEN_AGAIN = "Open it again with memstore.open()."
    OPEN_REPLACED = "Close the store; memstore.open() opens what is there now."
    OPEN_WRITABLE = "Open it without read_only."
    UPGRADE = "Upgrade pymemstore."
    EXPORT = "Export it with the version that wrote it, and import that."
    CHOOSE_EMBEDDER = "Open the store with an embedder."
    USE_STORED_MODEL = (
        "Open the file with the model it holds or with embedder=None, or switch it to another "
        "model with reembed()."
    )
    REMAKE_VECTORS = "Name another model, or make all vectors again with reembed(again=True)."
    REEMBED = "Run reembed(), which stages what is missing and switches in the end."
    FINISH_STAGED = "Finish it with reembed() and that model, or drop it with generations.drop()."
    SWITCH_FIRST = "Switch to another generation first with generations.switch()."
    NEW_TARGET = "Name a file that does not exist yet, in a folder that does."
    CHECK_SERVICE = (
        "Check that the service is running (Ollama: `ollama serve`), that base_url is its address, "
        "and the network and proxy settings."
    )
    CHECK_KEY = "Check api_key, and that it may use this model."
    CHECK_MODEL = "Check that base_url leads to an embedding service and that it has the model."
    CHECK_GENERATOR = (
        "Check that the language model's service is running (Ollama: `ollama serve`), that "
        "base_url is its address, and the network and proxy settings."
    )
    CHECK_GENERATOR_KEY = "Check the language model's api_key, and that it may use this model."
    CHECK_GENERATOR_MODEL = "Check that base_url leads to a chat service and that it has the model."
    CHECK_PROXY = "Check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE."
    CHECK_PLAN = "Wait, or check the plan's limits and credit."
    CHECK_SCHEMA = "In the schema, close every object and require all of its properties."
    PULL_MODEL = "Pull the model with `ollama pull`."
    UPGRADE_OLLAMA = "Check that it is Ollama, and version 0.5 or newer."
    CHOOSE_EMBEDDING_MODEL = "Choose an embedding model, such as embeddinggemma."
    CHOOSE_CHAT_MODEL = "Choose a model that writes text, such as llama3.1."
    CHOOSE_ANOTHER_MODEL = "Leave the text out, or choose another model."
    SEND_LESS = "Send a shorter text, or raise max_tokens or context_tokens."
    ALLOW_TIME = "Allow more time with timeout_seconds, or send less at once."
    ASK_AGAIN = "Ask again, or ask another model."
    CHOOSE_GENERATOR = "Pass a generator."
    NAME_OWNERS = "Name the owners it was stored for: user_id, agent_id, run_id."
    BUILD_GRAPH = "Build the graph with graph.build()."
    LIST_ENTITIES = "List its entities with graph.entities()."
    LIST_DECISIONS = "List the decisions with graph.decisions()."
    FORGET_DECISION = "Take one of these decisions back first with graph.forget()."
    CREATE_TOKEN = "Create a token with tokens.create()."  # noqa: S105 - a sentence
    LIST_TOKENS = "List the tokens with tokens.list()."
    RENAME_TOKEN = "Choose another name, or revoke that token first."  # noqa: S105 - a sentence
    NEW_SECRET = "Use another secret."  # noqa: S105 - a sentence
    LEAVE_SECRET_OUT = 'Leave it out, or open the store with secrets="redact" or "keep".'  # noqa: S105
    SKIP_DAMAGED = "Repair the file, or leave out what is damaged with skip_damaged=True."
    IMPORT_AGAIN = "Run the same import again; it continues from there."
    KEEP_NAMESPACES = "Import it with keep_namespaces=True, or export one namespace at a time."
    OMIT_NAMESPACE = "Leave the namespace out."
    RESTORE_BACKUP = "Bring a backup back with memstore.recover()."
    END_READING = "Read to the end first, or keep the memories in a file."
    OTHER_BACKUP = "Name another backup."
    REBUILD = "Rebuild the indexes with rebuild()."
    RELEASE_FILE = "Close the program that wrote it, or open it there once, and try again."
    INSTALL_DUCKDB = (
        "Install pymemstore[duckdb], or write the table episodes to JSON Lines with Engram's tools."
    )


class Reason(str):
    """What went wrong, as text that keeps its remedy: for what is reported and not raised."""

    remedy: Remedy | None

    def __new__(cls, text: str, remedy: Remedy | None = None) -> Reason:
        made = super().__new__(cls, text)
        made.remedy = remedy
        return made

    @classmethod
    def of(cls, error: BaseException) -> Reason:
        """Return what an error says."""
        return cls(str(error), error.remedy if isinstance(error, Explained) else None)


class Explained(Exception):
    """An error that names the argument at fault and the way out, for each face to word.

    Args:
        text: what happened. Where there is an argument, the text is the rest of a sentence that
            begins with its name: ``"must be at least 1, not 0"``.
        argument: the name of the parameter at fault.
        remedy: what to do about it.
        place: which of several things it is about, such as ``"fact 2 of 7"``.
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
        return self.told({})

    def told(self, names: Mapping[str, str]) -> str:
        """Return what happened, the argument by the name a face has for it."""
        argument = None if self.argument is None else names.get(self.argument, self.argument)
        sentence = f"{argument} {self.text}" if argument else self.text
        return f"{self.place}: {sentence}" if self.place else sentence


class InvalidArgument(Explained, ValueError):
    """An argument has a value that cannot be used."""


class InvalidArgumentType(Explained, TypeError):
    """An argument is of a type that cannot be used."""


class MemstoreError(Explained):
    """The root of everything else memstore raises on purpose."""


class StorageError(MemstoreError):
    """The database could not carry the request out; nothing was changed."""


class StoreBusy(StorageError):
    """Another process held the write lock for longer than the store was willing to wait."""


class FileReplaced(StorageError):
    """The file, or its write-ahead log, was replaced, moved or removed while it was open."""


class StoreClosed(StorageError):
    """The store was used after ``close()``."""


class SchemaError(StorageError):
    """The file was written by a newer or a different program; it was left untouched."""


class NotFound(MemstoreError):
    """There is no such fact in this namespace."""


class Conflict(MemstoreError):
    """The fact exists, and its state does not allow the request."""


class IdempotencyConflict(Conflict):
    """The idempotency key was used before, with other content."""


class EmbedderError(MemstoreError):
    """No vectors could be had for a text."""


class EmbedderUnavailable(EmbedderError):
    """A passing failure (timeout, refused connection, 429, 5xx).

    Args:
        text: what happened.
        unquoted: the text without the service's own words, which may quote what was embedded.
        remedy: what to do about it.
    """

    def __init__(
        self, text: str, *, unquoted: str | None = None, remedy: Remedy | None = None
    ) -> None:
        super().__init__(text, remedy=remedy)
        self.unquoted = text if unquoted is None else unquoted


class EmbedderRejected(EmbedderError):
    """A lasting failure: the same input would fail again."""


class EmbedderMismatch(EmbedderError):
    """The file holds the vectors of another model.

    Args:
        text: what happened.
        stored: the file's model, where it names one.
        remedy: what to do about it.
    """

    def __init__(
        self, text: str, *, stored: str | None = None, remedy: Remedy | None = None
    ) -> None:
        super().__init__(text, remedy=remedy)
        self.stored = stored


class GeneratorError(MemstoreError):
    """No usable answer could be had from a language model."""


class GeneratorUnavailable(GeneratorError):
    """A passing failure (timeout, refused connection, 429, 5xx, no text in the reply)."""


class GeneratorRejected(GeneratorError):
    """A lasting failure: the same prompt would fail again (refused, declined, cut off)."""


class ReplyError(GeneratorError):
    """A model answered, and the answer cannot be read; asking again may help."""


class LearningError(MemstoreError):
    """Learning stopped before its end; the same call again completes it.

    Args:
        text: what happened.
        step: where it stopped: ``record``, ``extract``, ``decide`` or ``store``.
        episode_id: the conversation's record; ``None`` if it stopped before there was one.
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
    """A token is unknown, revoked or expired, or does not reach what was asked for."""


class TransferError(MemstoreError):
    """An export could not be read; nothing was imported."""
