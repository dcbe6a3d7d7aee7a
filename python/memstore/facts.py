"""Facts: storing them, correcting them, and never losing one on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memstore import clock, metadata
from memstore.arguments import MAX_CONTENT, MAX_NAME, MAX_NUMBER, checked_limit, checked_text
from memstore.database import fact_table, journal, word_index
from memstore.database.filters import FactFilter
from memstore.database.journal import Author, Kind
from memstore.errors import Conflict, EmbedderMismatch, IdempotencyConflict, NotFound

if TYPE_CHECKING:
    from memstore.database.engine import Engine, Transaction
    from memstore.embedding import Embedding
    from memstore.model import Fact, NewFact, Operation


class Facts:
    """The facts of one namespace."""

    def __init__(
        self,
        engine: Engine,
        author: Author,
        namespace: str,
        embedding: Callable[[], Embedding | None],
    ) -> None:
        self._engine = engine
        self._author = author
        self._namespace = namespace
        self._embedding = embedding

    def add_many(self, new_facts: Iterable[NewFact]) -> list[Fact]:
        """Store facts in one transaction: all of them, or none."""
        checked = _all_checked(list(new_facts))
        if not checked:
            return []
        embedding = self._embedding()
        blobs: list[bytes | None] = [None] * len(checked)
        if embedding is not None:
            blobs = embedding.for_writing([(new["subject"], new["content"]) for new in checked])
        first = next(filter(None, blobs), None)
        with self._engine.write() as transaction:
            if embedding is not None and first is not None:
                try:
                    embedding.admit(transaction, first)
                except EmbedderMismatch as error:  # the write goes on
                    embedding.note_trouble(str(error))
                    blobs = [None] * len(checked)
            return [self._insert(transaction, *new) for new in zip(checked, blobs, strict=True)]

    def _insert(
        self, transaction: Transaction, checked: Mapping[str, Any], blob: bytes | None
    ) -> Fact:
        values = dict(checked)
        known = self._same_key(transaction, values)
        if known is not None:
            return known
        supersedes = values.pop("supersedes")
        old = None if supersedes is None else self._retirable(transaction, supersedes)
        created_at = values.get("created_at") or clock.utc_now()
        values |= {
            "uuid": clock.new_uuid(created_at),
            "namespace": self._namespace,
            "created_at": created_at,
        }
        fact = fact_table.insert(transaction, values, blob)
        journal.append(transaction, self._author, Kind.ADD, fact.id, after=journalled(fact))
        if old is not None:
            self._retire(transaction, old, fact.id)
        return fact

    def _same_key(self, transaction: Transaction, values: Mapping[str, Any]) -> Fact | None:
        key = values.get("idempotency_key")
        if key is None:
            return None
        known = fact_table.find(transaction, self._namespace, idempotency_key=key)
        if known is None:
            return None
        if (known.content, known.subject) != (values["content"], values["subject"]):
            raise IdempotencyConflict(
                f"the idempotency key {key!r} already stands for fact {known.id}, whose content "
                "is another: use a new key for a new fact"
            )
        if known.deleted_at is not None:
            raise Conflict(
                f"the idempotency key {key!r} stands for fact {known.id}, which is deleted: "
                "restore it, or use a new key"
            )
        replaced = values["supersedes"]
        if replaced is not None and not self._replaced(transaction, replaced, known):
            raise IdempotencyConflict(
                f"the idempotency key {key!r} stands for fact {known.id}, which did not supersede "
                f"fact {replaced}: call supersede({replaced}, {known.id}), or use a new key"
            )
        return known

    def _replaced(self, transaction: Transaction, old_id: int, known: Fact) -> bool:
        old = fact_table.get(transaction, old_id, self._namespace)
        return old is not None and old.superseded_by == known.id

    def get(self, fact_id: int) -> Fact:
        """Return one fact, in whatever state but erased."""
        with self._engine.read() as transaction:
            return self._known(transaction, fact_id)

    def select(
        self,
        wanted: FactFilter,
        *,
        limit: int | None,
        offset: int,
        newest_first: bool,
    ) -> list[Fact]:
        """Return the facts a filter lets through, by id."""
        checked_limit(limit)
        if not isinstance(offset, int) or not 0 <= offset <= MAX_NUMBER:
            raise ValueError(f"offset must be 0 or more, not {offset}")
        with self._engine.read() as transaction:
            return [
                *fact_table.select(
                    transaction, wanted, limit=limit, offset=offset, newest_first=newest_first
                )
            ]

    def exists(self, content: str, subject: str) -> bool:
        """Whether an active fact says just this about just this subject.

        A superseded one does not count: what was once true may become true again.
        """
        wanted = FactFilter((self._namespace,), clock.utc_now(), subject=subject, content=content)
        with self._engine.read() as transaction:
            return fact_table.count(transaction, wanted) > 0

    def supersede(self, old_id: int, new_id: int) -> Fact:
        """Retire one fact in favour of another that is there already; return the retired one."""
        if old_id == new_id:
            raise Conflict(f"fact {old_id} cannot supersede itself: name the newer fact's id")
        with self._engine.write() as transaction:
            old = self._retirable(transaction, old_id)
            new = self._known(transaction, new_id)
            if new.status != "active":
                raise Conflict(
                    f"fact {new_id} is {_standing(new)}, so it cannot supersede fact {old_id}: "
                    "name an active fact"
                )
            self._retire(transaction, old, new_id)
            return self._known(transaction, old_id)

    def _retirable(self, transaction: Transaction, fact_id: int) -> Fact:
        old = self._known(transaction, fact_id)
        if old.superseded_by is not None:
            newest = fact_table.chain(transaction, fact_id)[-1]
            raise Conflict(
                f"fact {fact_id} is already superseded by fact {old.superseded_by}: "
                + (
                    f"supersede the newest of its chain, fact {newest.id}"
                    if newest.status in ("active", "expired")
                    else f"the newest of its chain, fact {newest.id}, is {newest.status}; "
                    "add the new fact by itself"
                )
            )
        if old.deleted_at is not None:
            raise Conflict(f"fact {fact_id} is deleted: restore it first, or just add the new fact")
        return old

    def _retire(self, transaction: Transaction, old: Fact, new_id: int) -> None:
        at = clock.utc_now()
        after = {"superseded_by": new_id, "superseded_at": clock.to_text(at)}
        fact_table.update(transaction, old.id, superseded_by=new_id, superseded_at=at)
        journal.append(transaction, self._author, Kind.SUPERSEDE, old.id, after=after)

    def history(self, fact_id: int) -> list[Fact]:
        """Return the whole chain a fact is in, oldest first, from any member of it."""
        with self._engine.read() as transaction:
            self._known(transaction, fact_id)
            return fact_table.chain(transaction, fact_id)

    def history_of_subject(self, subject: str) -> list[Fact]:
        """Return every fact there ever was about a subject, oldest first."""
        name = checked_text(subject, "subject", MAX_NUMBER).strip()
        with self._engine.read() as transaction:
            return fact_table.of_subject(transaction, self._namespace, name)

    def operations(self, fact_id: int) -> list[Operation]:
        """Return what the journal holds of the chain a fact is in, oldest first."""
        with self._engine.read() as transaction:
            self._known(transaction, fact_id)
            ids = [fact.id for fact in fact_table.chain(transaction, fact_id)]
            return journal.of_facts(transaction, ids)

    def confirm(self, fact_id: int) -> Fact:
        """Count one more confirmation that an active fact holds true."""
        with self._engine.write() as transaction:
            fact = self._known(transaction, fact_id)
            if fact.status in ("superseded", "deleted"):
                raise Conflict(
                    f"fact {fact_id} is {_standing(fact)}: confirm the fact that holds now"
                )
            changes = {
                "confirmed_count": fact.confirmed_count + 1,
                "last_confirmed_at": clock.utc_now(),
            }
            return self._change(transaction, fact, Kind.CONFIRM, changes)

    def update_metadata(
        self,
        fact_id: int,
        patch: Mapping[str, Any],
        check: Callable[[Fact, Mapping[str, Any]], Mapping[str, Any]] | None = None,
    ) -> Fact:
        """Apply a merge patch to the metadata; null removes a key.

        Args:
            fact_id: the fact.
            patch: what to set, or to remove.
            check: called with the fact and the patch inside the transaction; returns the patch
                to apply, or raises. For changes that depend on what is there.
        """
        if not isinstance(patch, Mapping):
            raise TypeError(f"the metadata patch must be a mapping, not {type(patch).__name__}")
        metadata.check(patch)
        with self._engine.write() as transaction:
            fact = self._known(transaction, fact_id)
            if fact.deleted_at is not None:
                raise Conflict(f"fact {fact_id} is deleted: restore it before changing it")
            merged = metadata.merge_patch(fact.metadata, check(fact, patch) if check else patch)
            # As text: to Python 1, 1.0 and true are equal, to JSON they are not.
            before, after = metadata.encode(fact.metadata) or "", metadata.encode(merged) or ""
            if before == after:
                return fact
            if len(after) > len(before):
                metadata.check_size(merged)
            return self._change(transaction, fact, Kind.METADATA, {"metadata": merged})

    def delete(self, fact_id: int) -> Fact:
        """Put a tombstone on a fact; ``restore`` takes it away again."""
        with self._engine.write() as transaction:
            fact = self._known(transaction, fact_id)
            if fact.deleted_at is not None:
                return fact
            return self._change(transaction, fact, Kind.DELETE, {"deleted_at": clock.utc_now()})

    def restore(self, fact_id: int) -> Fact:
        """Bring back a deleted fact, or the text of a superseded one as the newest of its chain."""
        with self._engine.write() as transaction:
            fact = self._known(transaction, fact_id)
            if fact.deleted_at is not None:
                return self._change(transaction, fact, Kind.RESTORE, {"deleted_at": None})
            if fact.superseded_by is None:
                raise Conflict(f"fact {fact_id} is {_standing(fact)}: there is nothing to restore")
            newest = fact_table.chain(transaction, fact_id)[-1]
            if newest.deleted_at is not None:
                raise Conflict(
                    f"the newest of this chain, fact {newest.id}, is {newest.status}: "
                    + ("restore that one first, or " if newest.content else "")
                    + "add the old text as a new fact"
                )
            again = {
                "content": fact.content,
                "subject": fact.subject,
                "category": fact.category,
                "metadata": fact.metadata,
                "supersedes": newest.id,
                "valid_at": fact.valid_at,
                "source": fact.source,
            }
            blob = fact_table.embedding_of(transaction, fact_id)
            return self._insert(transaction, again, blob)

    def erase(self, fact_id: int) -> bool:
        """Remove the bytes of a fact for good; its place in the chain stays, empty.

        Returns:
            Whether they have left the files already.
        """
        with self._engine.write() as transaction:
            blank(transaction, self._author, self._stored(transaction, fact_id))
        return self._engine.compact()

    def _known(self, transaction: Transaction, fact_id: int) -> Fact:
        fact = self._stored(transaction, fact_id)
        if fact.status == "erased":
            raise _not_found(fact_id, self._namespace)
        return fact

    def _stored(self, transaction: Transaction, fact_id: int) -> Fact:
        if isinstance(fact_id, bool) or not isinstance(fact_id, int):
            raise TypeError(f"a fact's id is a whole number, not {fact_id!r}")
        fact = fact_table.get(transaction, fact_id, self._namespace)
        if fact is None:
            raise _not_found(fact_id, self._namespace)
        return fact

    def _change(
        self, transaction: Transaction, fact: Fact, kind: Kind, changes: Mapping[str, Any]
    ) -> Fact:
        fact_table.update(transaction, fact.id, **changes)
        before = {name: _json_value(getattr(fact, name)) for name in changes}
        after = {name: _json_value(value) for name, value in changes.items()}
        journal.append(transaction, self._author, kind, fact.id, before=before, after=after)
        return self._known(transaction, fact.id)


def blank(transaction: Transaction, author: Author, fact: Fact) -> None:
    """Take a fact's text out of row, index and journal; the pages of the file are to follow."""
    fact_table.blank(transaction, fact.id, fact.deleted_at or clock.utc_now())
    word_index.forget_deleted(transaction)
    journal.forget_texts(transaction, fact.id)
    journal.append(transaction, author, Kind.ERASE, fact.id)


def journalled(fact: Fact) -> dict[str, Any]:
    """Return what the journal keeps of a fact; usage and the embedding are not journalled."""
    left_out = ("id", "use_count", "last_used_at", "embed_error", "embedded", "status")
    return {name: value for name, value in fact.to_dict().items() if name not in left_out}


def _json_value(value: Any) -> Any:
    return clock.to_text(value) if isinstance(value, datetime) else value


def _standing(fact: Fact) -> str:
    if fact.status == "superseded":
        return f"superseded by fact {fact.superseded_by}"
    return fact.status


def _not_found(fact_id: int, namespace: str) -> NotFound:
    return NotFound(
        f"there is no fact {fact_id} in namespace {namespace!r}: search or list to find the id"
    )


def _all_checked(new_facts: list[NewFact]) -> list[dict[str, Any]]:
    checked = []
    for place, new in enumerate(new_facts):
        try:
            checked.append(_checked(new))
        except (ValueError, TypeError) as error:
            if len(new_facts) == 1:
                raise
            raise type(error)(
                f"fact {place} of {len(new_facts)}: {error}; none was stored"
            ) from None
    return checked


def _checked(new: NewFact) -> dict[str, Any]:
    """Return the columns of a new fact, checked; raises before anything is written."""
    metadata.check_size(new.metadata)
    values: dict[str, Any] = {
        "content": checked_text(new.content, "content", MAX_CONTENT),
        "subject": checked_text(new.subject, "subject", MAX_NAME).strip(),
        "category": checked_text(new.category, "category", MAX_NAME).strip(),
        "metadata": dict(new.metadata) if new.metadata is not None else None,
        "supersedes": new.supersedes,
        "created_at": clock.moment(new.created_at, "created_at"),
        "valid_at": clock.moment(new.valid_at, "valid_at"),
        "expired_at": clock.moment(new.expired_at, "expired_at"),
    }
    if values["expired_at"] and values["valid_at"] and values["expired_at"] <= values["valid_at"]:
        raise ValueError("expired_at is not after valid_at: the fact would never hold")
    for name in ("source", "idempotency_key"):
        text = getattr(new, name)
        values[name] = text if text is None else checked_text(text, name, MAX_NAME)
    return values
