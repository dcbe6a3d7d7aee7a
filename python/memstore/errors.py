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
    ├── LearningError           a conversation was not learnt from; its step says how far it came
    ├── AccessDenied            the token is not good, or not good for this
    └── TransferError           an export could not be read; nothing was imported

Wrong arguments are ``ValueError`` or ``TypeError``, as everywhere in Python.
Each message says what to do next.
"""

from __future__ import annotations


class MemstoreError(Exception):
    """The root of everything memstore raises on purpose."""


class StorageError(MemstoreError):
    """The database could not carry the request out; nothing was changed."""


class StoreBusy(StorageError):
    """Another process held the write lock for longer than the store was willing to wait."""


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
        message: what happened and what to do.
        unquoted: the message without the service's own words, which may quote the text.
    """

    def __init__(self, message: str, *, unquoted: str | None = None) -> None:
        super().__init__(message)
        self.unquoted = message if unquoted is None else unquoted


class EmbedderRejected(EmbedderError):
    """A lasting failure: the same input would fail again."""


class EmbedderMismatch(EmbedderError):
    """The file holds the vectors of another model.

    Args:
        message: what happened and what to do.
        stored: the file's model, where it names one.
    """

    def __init__(self, message: str, *, stored: str | None = None) -> None:
        super().__init__(message)
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
    """A conversation was not learnt from to the end; the same call again completes it.

    Args:
        message: what happened and what to do.
        step: where it stopped: ``record``, ``extract``, ``decide`` or ``store``.
        episode_id: the conversation's record; ``None`` if it stopped before there was one.
    """

    def __init__(self, message: str, *, step: str = "", episode_id: int | None = None) -> None:
        super().__init__(message)
        self.step = step
        self.episode_id = episode_id


class AccessDenied(MemstoreError):
    """A token is unknown, revoked or expired, or does not reach what was asked for."""


class TransferError(MemstoreError):
    """An export could not be read; nothing was imported."""
