"""Export and import as JSON Lines: everything but what can be computed anew.

The first line says what the file is; then one line a fact, and one for each operation of the
journal. Facts are known by their UUID, so importing a file twice changes nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memstore import clock, metadata
from memstore.arguments import MAX_NUMBER, checked_text, stored_text
from memstore.database import fact_table, journal, meta_table
from memstore.database.journal import Author, Kind
from memstore.errors import TransferError
from memstore.facts import blank, journalled
from memstore.model import MOMENT_FIELDS, Fact, Operation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memstore.database.engine import Engine, Progress, Transaction

FORMAT: Final = 1

NOT_EXPORTED: Final = frozenset({"embedded", "embed_error", "status"})
IMPORTED: Final = tuple(name for name in fact_table.STORED if name not in NOT_EXPORTED)
REQUIRED: Final = ("id", "uuid", "namespace", "content", "subject", "category", "created_at")
NUMBERS: Final = ("id", "superseded_by", "confirmed_count", "use_count", "episode_id")
TEXTS: Final = tuple(
    name for name in IMPORTED if name not in {*NUMBERS, *MOMENT_FIELDS, "metadata"}
)
PROGRESS_EVERY: Final = 500


def export(
    engine: Engine, namespaces: tuple[str, ...] | None, progress: Progress | None = None
) -> Iterator[str]:
    """Yield the lines of an export, each without its line end; one state from first to last.

    Args:
        engine: the database.
        namespaces: which ones; ``None`` for all.
        progress: called with how many facts are written, and of how many.
    """
    with engine.read() as transaction:
        total = fact_table.count_all(transaction, namespaces)
        model, dimension = meta_table.embedding_model(transaction)
        yield _line(
            memstore="export",
            format=FORMAT,
            exported_at=clock.to_text(clock.utc_now()),
            facts=total,
            operations=journal.count(transaction, namespaces),
            model=model,
            dimension=dimension,
        )
        for done, fact in enumerate(fact_table.everything(transaction, namespaces), 1):
            values = fact.to_dict()
            yield _line(fact={k: v for k, v in values.items() if k not in NOT_EXPORTED})
            for operation in journal.of_facts(transaction, [fact.id]):
                yield _line(operation=_operation_out(operation))
            if progress is not None and (done % PROGRESS_EVERY == 0 or done == total):
                progress(done, total)


def _line(**values: object) -> str:
    return json.dumps(values, ensure_ascii=False)


def _operation_out(operation: Operation) -> dict[str, Any]:
    values = operation._asdict() | {"at": clock.to_text(operation.at), "fact": operation.fact_id}
    return {
        k: v
        for k, v in values.items()
        if v is not None and k not in ("id", "fact_id", "episode_id")
    }


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did."""

    imported: int
    known: int
    """Facts that were here already, by UUID."""
    retired: int
    """Known facts that the export knew to be superseded, and that now are."""
    removed: int
    """Known facts that the export knew to be deleted or erased, and that now are."""
    restored: int
    """Known facts that were deleted here, and restored at the source since."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A whole export, read and checked."""

    facts: list[Fact]
    operations: dict[int, list[Operation]]
    """By the id that the fact has in the export."""


def read(lines: Iterable[str]) -> Incoming:
    """Read an export whole, and check it before anything is written.

    Raises:
        TransferError: the first thing that is wrong, with its line.
    """
    incoming = Incoming([], {})
    header: dict[str, Any] = {}
    seen: set[object] = set()
    for number, value in _objects(lines):
        if not header:
            _check_header(number, value)
            header = value
        elif isinstance(value.get("fact"), dict):
            fact = _fact_in(number, value["fact"])
            _check_identity(number, fact, seen)
            incoming.facts.append(fact)
        elif isinstance(value.get("operation"), dict):
            fact_id, operation = _operation_in(number, value["operation"])
            if fact_id not in seen:
                raise _bad(number, f"speaks of fact {fact_id}, which no line before it holds")
            incoming.operations.setdefault(fact_id, []).append(operation)
        else:
            raise _bad(number, "is neither a fact nor an operation")
    if not header:
        raise TransferError("the export is empty; nothing was imported")
    _check_counts(header, incoming)
    _check_chains(incoming.facts)
    return incoming


def _check_identity(number: int, fact: Fact, seen: set[object]) -> None:
    for name, identity in (("id", fact.id), ("uuid", (fact.namespace, fact.uuid))):
        if identity in seen:
            raise _bad(number, f"has the same {name} as a fact before it")
        seen.add(identity)


def _check_counts(header: Mapping[str, Any], incoming: Incoming) -> None:
    """The first line says how much follows, so that a file cut short between lines is noticed."""
    operations = sum(map(len, incoming.operations.values()))
    for name, number in (("facts", len(incoming.facts)), ("operations", operations)):
        if header.get(name, number) != number:
            raise TransferError(
                f"the export was cut short or changed: its first line speaks of {header[name]} "
                f"{name}, and it holds {number}; nothing was imported"
            )


def _objects(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _bad(number, f"is no JSON ({error})") from None
        if not isinstance(value, dict):
            raise _bad(number, "is no JSON object")
        yield number, value


def _bad(number: int, what: str) -> TransferError:
    return TransferError(f"line {number} {what}; nothing was imported")


def _check_header(number: int, value: Mapping[str, Any]) -> None:
    if value.get("memstore") != "export":
        raise _bad(number, 'is not the first line of an export ({"memstore": "export", …})')
    if value.get("format") != FORMAT:
        raise _bad(
            number, f"names format {value.get('format')!r}, and this memstore reads {FORMAT}"
        )


def _fact_in(number: int, values: Mapping[str, Any]) -> Fact:
    known = {k: v for k, v in values.items() if k in IMPORTED and v is not None}
    if missing := [name for name in REQUIRED if name not in known]:
        raise _bad(number, f"lacks {', '.join(missing)}")
    if empty := [name for name in ("uuid", "namespace") if known[name] == ""]:
        raise _bad(number, f"has an empty {empty[0]}")
    for name in NUMBERS:
        if not _is_whole(known.get(name, 0)):
            raise _bad(number, f"has a {name} that is no whole number")
    try:
        metadata.encode(known.setdefault("metadata", {}))
        for name in TEXTS:
            if known.get(name, "") != "":  # blank in a fact that was erased
                stored_text(known[name], name)
        for name in MOMENT_FIELDS & known.keys():
            known[name] = clock.moment(known[name], name)
    except (ValueError, TypeError) as error:
        raise _bad(number, f"holds what cannot be stored: {error}") from None
    return Fact(**known)


def _is_whole(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_NUMBER


def _operation_in(number: int, values: Mapping[str, Any]) -> tuple[int, Operation]:
    if not _is_whole(values.get("fact")):
        raise _bad(number, "names no fact by its id")
    for name in ("before", "after", "evidence"):
        if not isinstance(values.get(name, {}), dict):
            raise _bad(number, f"has a {name} that is no object")
    try:
        operation = Operation(
            id=0,
            at=clock.from_text(values["at"]),
            actor=checked_text(values["actor"], "actor", MAX_NUMBER),
            source=checked_text(values["source"], "source", MAX_NUMBER),
            kind=Kind(values["kind"]),
            fact_id=None,
            before=values.get("before"),
            after=values.get("after"),
            evidence=values.get("evidence"),
        )
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise _bad(number, f"is no operation: {error}") from None
    return values["fact"], operation


def _check_chains(facts: Iterable[Fact]) -> None:
    """Every successor must be in the file and its namespace, and following them must end."""
    following = {fact.id: fact.superseded_by for fact in facts}
    homes = {fact.id: fact.namespace for fact in facts}
    ended: set[int] = set()
    for start in following:
        path: dict[int, None] = {}
        here: int | None = start
        while here is not None and here not in ended:
            if here in path:
                raise TransferError(
                    f"facts supersede each other in a circle at {here}; nothing was imported"
                )
            if here not in following:
                raise TransferError(
                    f"fact {next(reversed(path))} is superseded by fact {here}, which the export "
                    "does not hold; nothing was imported"
                )
            if homes[here] != homes[start]:
                raise TransferError(
                    f"fact {here} supersedes one of another namespace; nothing was imported"
                )
            path[here] = None
            here = following[here]
        ended.update(path)


def write(
    engine: Engine,
    author: Author,
    incoming: Incoming,
    namespace: str | None,
    progress: Progress | None = None,
) -> ImportReport:
    """Bring the facts in, in one transaction. Their embeddings are pending afterwards.

    Args:
        engine: the database.
        author: who imports.
        incoming: what :func:`read` returned.
        namespace: where the facts go; ``None`` to keep each in its own.
        progress: called with how many facts are in, and of how many.
    """
    here: dict[int, Fact] = {}
    new: dict[int, Fact] = {}
    changes: Counter[Kind | None] = Counter()
    retired = 0
    with engine.write() as transaction:
        for done, fact in enumerate(incoming.facts, 1):
            home = namespace or fact.namespace
            known = fact_table.find(transaction, home, uuid=fact.uuid)
            if known is None:
                here[fact.id] = new[fact.id] = _bring_in(transaction, fact, home)
            else:
                here[fact.id] = known
                operations = incoming.operations.get(fact.id, ())
                changes[_settle(transaction, author, known, fact, operations)] += 1
            if progress is not None and (done % PROGRESS_EVERY == 0 or done == len(incoming.facts)):
                progress(done, len(incoming.facts))
        for fact in incoming.facts:
            if fact.superseded_by is None or here[fact.id].superseded_by is not None:
                continue
            if len(new) < len(here) and _leads_back(transaction, here, fact):
                continue  # here the two were settled the other way round, and that stays
            retired += fact.id not in new
            _link(transaction, author, fact, here, is_new=fact.id in new)
        linked = fact_table.get_many(transaction, [fact.id for fact in new.values()])
        for there, fact in new.items():
            for operation in incoming.operations.get(there, ()):
                journal.append_verbatim(transaction, operation, fact.id)
            # The lines before speak of other ids; this one says where the fact stands now.
            after = journalled(linked[fact.id])
            journal.append(transaction, author, Kind.ADOPT, fact.id, after=after)
    if changes[Kind.ERASE]:
        engine.compact()
    removed = changes[Kind.DELETE] + changes[Kind.ERASE]
    return ImportReport(len(new), len(here) - len(new), retired, removed, changes[Kind.RESTORE])


def _bring_in(transaction: Transaction, fact: Fact, namespace: str) -> Fact:
    values = {name: getattr(fact, name) for name in fact_table.INSERT_LIST}
    key = fact.idempotency_key
    if key and fact_table.find(transaction, namespace, idempotency_key=key):
        values["idempotency_key"] = None  # another fact answers to it here
    values |= {"namespace": namespace, "superseded_by": None, "superseded_at": None}
    values["episode_id"] = None  # episodes stay where they were recorded
    return fact_table.insert(transaction, values)


def _settle(
    transaction: Transaction,
    author: Author,
    known: Fact,
    fact: Fact,
    operations: Iterable[Operation],
) -> Kind | None:
    """Delete, restore or erase a known fact as the source did, if it did so later than we.

    Returns:
        What was done; ``None`` for nothing.
    """
    if known.status == "erased" or fact.deleted_at == known.deleted_at:
        return None
    if fact.status == "erased":
        blank(transaction, author, known)
        return Kind.ERASE
    there = fact.deleted_at or max(
        (operation.at for operation in operations if operation.kind == Kind.RESTORE), default=None
    )
    here = known.deleted_at or journal.last_restored(transaction, known.id)
    if there is None or (here is not None and there <= here):
        return None
    kind = Kind.RESTORE if fact.deleted_at is None else Kind.DELETE
    fact_table.update(transaction, known.id, deleted_at=fact.deleted_at)
    after = {"deleted_at": clock.to_text(fact.deleted_at) if fact.deleted_at else None}
    journal.append(transaction, author, kind, known.id, after=after)
    return kind


def _leads_back(transaction: Transaction, here: Mapping[int, Fact], fact: Fact) -> bool:
    """Whether the fact is the one that supersedes its successor in the end."""
    chain = fact_table.chain(transaction, here[fact.superseded_by or 0].id)
    return chain[-1].id == here[fact.id].id


def _link(
    transaction: Transaction, author: Author, fact: Fact, here: Mapping[int, Fact], *, is_new: bool
) -> None:
    """Let the successor supersede the fact; a fact that was here before gets a journal line."""
    old, successor = here[fact.id], here[fact.superseded_by or 0]
    at = fact.superseded_at  # a file of before V4 does not say, and nobody can know any more
    if not is_new:
        at = at or clock.utc_now()
        after = {"superseded_by": successor.id, "superseded_at": clock.to_text(at)}
        journal.append(transaction, author, Kind.SUPERSEDE, old.id, after=after)
    fact_table.update(transaction, old.id, superseded_by=successor.id, superseded_at=at)
