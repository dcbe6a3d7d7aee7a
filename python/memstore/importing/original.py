"""The original memstore's SQLite file, in any of its versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.database.foreign import original_tables, sqlite_file
from memstore.domain import metadata
from memstore.domain.chains import circles
from memstore.domain.clock import from_text, to_text
from memstore.domain.records import Fact
from memstore.errors import Remedy, StorageError
from memstore.frozen import replace
from memstore.importing.records import Damaged, Dump, Imported, Skipped, identity, key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Set
    from pathlib import Path

    from memstore.database.engine import Progress, Transaction
    from memstore.database.foreign.original_tables import Original
    from memstore.importing.records import Found

NAME: Final = "memstore"
BATCH: Final = 500

MOMENTS: Final = ("created_at", "superseded_at", "last_confirmed_at", "last_used_at")
REJECTED: Final = frozenset({"blocked", "abandoned"})
"""Screening states of facts that the original never shows."""
UNSCREENED: Final = "pending"
NO_SUBJECT: Final = "unknown"
EXPECTED: Final = "the SQLite file of the original memstore is expected"


def found(path: Path, progress: Progress | None = None) -> Iterator[Found]:
    """Yield the facts of a file; those that supersede each other are in one group."""
    with sqlite_file.opened(path) as transaction:
        original = original_tables.look(transaction)
        _check(path, original)
        yield from _ChainReader(transaction, original, Dump.of(NAME, path)).found(progress)
        yield from _other_tables(transaction)


def _check(path: Path, original: Original) -> None:
    if original.family is not None:
        raise StorageError(
            f"{path} is a file of this memstore, not of the original", remedy=Remedy.EXPORT
        )
    if "content" not in original.columns or not original.version:
        raise StorageError(f"{path} holds no facts of the original memstore")


def _other_tables(transaction: Transaction) -> Iterator[Skipped]:
    for table, count in sqlite_file.tables(transaction).items():
        if table in original_tables.CARRIED or not count:
            continue
        kind = "embeddings" if table == original_tables.VECTORS else f"table {table}"
        yield Skipped(kind, f"{count} rows of {table}", count)


class _ChainReader:
    def __init__(self, transaction: Transaction, original: Original, source: Dump) -> None:
        self._transaction = transaction
        self._original = original
        self._source = source
        self._users = original_tables.users(transaction)
        self._successors = original_tables.successors(transaction)
        self._ends: set[int] = set()
        """Facts whose successor there is missing or cannot supersede them here."""

    def found(self, progress: Progress | None) -> Iterator[Found]:
        """Yield every fact, whole chains together, ordered by id."""
        yield from self._mend_chains()
        done = 0
        for group, ids in enumerate(self._whole_chains()):
            done += len(ids)
            if progress is not None:
                progress(done, len(self._successors))
            rows = original_tables.facts(self._transaction, self._original, ids)
            found = [one for values, mended in rows for one in self._fact(values, mended)]
            read = {one.item.id for one in found if isinstance(one, Imported)}
            for one in found:
                yield _ended(one, read, group) if isinstance(one, Imported) else one

    def _whole_chains(self) -> Iterator[list[int]]:
        """Yield the ids of whole chains, a few hundred at a time."""
        ends: dict[int, int] = {}
        chains: dict[int, list[int]] = {}
        for fact_id in self._successors:
            path, here = [], fact_id
            while here not in ends and (following := self._successors[here]) is not None:
                path.append(here)
                here = following
            end = ends.get(here, here)
            ends.update(dict.fromkeys([*path, here], end))
            chains.setdefault(end, []).append(fact_id)
        batch: list[int] = []
        for chain in chains.values():
            batch += chain
            if len(batch) >= BATCH:
                yield sorted(batch)
                batch = []
        if batch:
            yield sorted(batch)

    def _mend_chains(self) -> Iterator[Skipped]:
        """Break circular chains, and links to missing facts or to another namespace."""
        homes = original_tables.homes(self._transaction, self._original)
        for fact_id, by in self._successors.items():
            if by is not None and (
                by not in self._successors or homes.get(by) != homes.get(fact_id)
            ):
                self._ends.add(fact_id)
                self._successors[fact_id] = None
                yield Skipped("supersessions by a missing fact", f"of fact {fact_id}")
        for *_, newest in circles(self._successors):
            self._successors[newest] = None  # it stays active
            yield Skipped("supersessions in a circle", f"of fact {newest}")

    def _fact(self, values: dict[str, Any], mended: tuple[str, ...]) -> Iterator[Found]:
        fact_id = values["id"]
        place = f"fact {fact_id}"
        if values.get("screen_state") in REJECTED:
            # Imported as deleted, because it may be part of a chain and can be restored.
            yield Skipped("facts that screening rejected (deleted here)", place)
        elif values.get("screen_state") == UNSCREENED:
            yield Skipped("screening of facts that were not screened yet", place)
        left_out = ["embeddings"] if values.get("embedded") else []
        left_out += [f"bytes of {name} that are not UTF-8" for name in mended]
        # These never change, and differ from those of other files' facts with the same id.
        written = f"{values.get('created_at')}\x1f{values.get('content')}"
        known = identity(NAME, fact_id, written)
        try:
            columns = self._columns(values, left_out) | {
                "metadata": _metadata(values),
                "idempotency_key": key(NAME, known),
            }
            origin = {"id": fact_id, **_origin(values)}
            fact = self._source.fact(fact_id, known, columns, origin)
        except (ValueError, TypeError) as error:
            yield Damaged(place, str(error))
            return
        yield Imported(place, fact, tuple(left_out))

    def _columns(self, values: Mapping[str, Any], left_out: list[str]) -> dict[str, Any]:
        columns = dict(values)
        owner = self._users.get(values.get("user_id") or 0)
        columns["user_id"] = owner
        columns["superseded_by"] = self._successors[values["id"]]
        for name in MOMENTS:
            if values.get(name) and _unreadable(values[name]):
                columns[name] = None
                left_out.append(f"{name} that is not a time")
        if not str(values.get("subject") or "").strip():
            # Since V12, the original leaves the subject blank if it is the owner.
            columns["subject"] = owner or values.get("category") or NO_SUBJECT
            left_out.append("blank subjects (replaced by the owner or category)")
        if values["id"] in self._ends or values.get("screen_state") in REJECTED:
            ended_at = columns.get("superseded_at") or columns.get("created_at")
            columns["deleted_at"] = ended_at or to_text(self._source.written_at)
        if columns["superseded_by"] is None:
            columns["superseded_at"] = None
        return columns


def _ended(record: Imported, read: Set[int], group: int) -> Imported:
    """Put a fact in its group; mark it as deleted if its successor could not be read."""
    fact = record.item
    if isinstance(fact, Fact) and fact.superseded_by is not None and fact.superseded_by not in read:
        ended_at = fact.superseded_at or fact.created_at
        fact = replace(fact, superseded_by=None, superseded_at=None, deleted_at=ended_at)
    return replace(record, item=fact, group=group)


def _unreadable(given: str) -> bool:
    try:
        from_text(given)
    except ValueError:
        return True
    return False


def _origin(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in ("namespace", "screen_state") if values.get(name)}


def _metadata(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata, with kind and subsystem, which are columns since V8."""
    whole = metadata.decode(values.get("metadata"))
    for name in ("kind", "subsystem"):
        if values.get(name):
            whole.setdefault(name, values[name])
    return whole
