"""The doctor: checks that derived data matches the rows, and rebuilds it if not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from memstore.access import tokens
from memstore.database.short_transactions import in_steps
from memstore.database.tables import counts, feeds, replies
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import vectors as vector_table
from memstore.embedding.repair import every_kind, mending_vectors, misfits
from memstore.errors import Reason, Remedy, StorageError
from memstore.facts import adoption
from memstore.frozen import frozen
from memstore.history import chain
from memstore.upkeep import indexes, journal_check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memstore.database.dependents import Dependents
    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.journal import Author
    from memstore.search.searches import Searches

    _Check: TypeAlias = Callable[[Transaction], Iterator[tuple[str, bool]]]
    """Yields each problem as a sentence, and whether a rebuild repairs it."""

LONG_LOG_BYTES: Final = 64 * 1024 * 1024
"""A write-ahead log longer than this is reported; writers keep it far below."""

DERIVED: Final = frozenset(table.name for table in vector_table.TABLES)
"""The tables whose rows a rebuild removes if what they belong to does not exist."""

SHOWN: Final = 10
"""How many items a finding names; the others are only counted."""


@frozen
class Finding:
    check: str
    message: str
    """A :class:`memstore.errors.Reason` if it has a remedy other than a rebuild."""
    repairable: bool
    """Whether a rebuild repairs it."""


def examine(
    engine: Engine,
    dependents: Dependents,
    searches: Searches,
    *,
    deep: bool = False,
    progress: Progress | None = None,
) -> list[Finding]:
    """Run every check and return the problems.

    The checks use a copy of one state of the file, so that they hold up neither writers nor
    checkpoints. Comparing the full-text index with the rows counts as a write, so without room for
    a copy it is left out of a read-only file.

    ``deep`` also compares every line of the journal with its checksum.
    """
    checks = (
        *_checks(engine, dependents, searches),
        *(DEEP if deep else ()),
        ("words", indexes.full_texts),
    )
    findings: list[Finding] = []
    _tell(progress, 0, len(checks))
    with engine.aside() as copy:
        for done, (name, check) in enumerate(checks):
            _tell(progress, done, len(checks))
            findings += _run(name, check, copy)
    _tell(progress, len(checks), len(checks))
    return findings


def _checks(
    engine: Engine, dependents: Dependents, searches: Searches
) -> Sequence[tuple[str, _Check]]:
    """Return the checks that only read, each with the name of its findings."""
    return (
        ("locks", partial(_locks, engine)),
        ("log", partial(_log, engine)),
        ("index", partial(_index, searches)),
        ("pages", partial(_pages, engine)),
        ("schema", partial(_schema, engine)),
        ("links", partial(_links, engine)),
        ("chains", partial(_chains, engine)),
        _ids("journal", "facts that another program inserted", indexes.foreign, True),
        _ids("journal", "facts that differ from the journal", journal_check.facts),
        _ids("episodes", "episodes that differ from the journal", journal_check.episodes),
        _ids("words", "episodes with wrong segments, tags or pieces", indexes.episodes, True),
        _ids("replies", "replies kept about erased or closed episodes", replies.misplaced, True),
        _ids(
            "tokens", "tokens that differ from the journal, revoke unknown ones", tokens.strangers
        ),
        ("embeddings", _embeddings),
        _ids("words", "facts with wrong subject keys, claims or segments", indexes.facts, True),
        _ids(
            "words",
            "facts that filters do not find by their metadata",
            fact_table.misfiled_members,
            True,
        ),
        _ids("counts", "counts of facts or episodes that differ", counts.misfits, True),
        ("graph", dependents.troubles),
    )


def _journal_lines(transaction: Transaction) -> Iterator[tuple[str, bool]]:
    wrong = [*chain.faults(transaction)]
    for fault in wrong[:SHOWN]:
        yield Reason(f"the journal: {fault}", Remedy.RESTORE_BACKUP), False
    if more := wrong[SHOWN:]:
        yield Reason(f"the journal has {len(more)} more faults", Remedy.RESTORE_BACKUP), False


DEEP: Final[Sequence[tuple[str, _Check]]] = (("journal", _journal_lines),)
"""The additional checks of a deep examination."""


def _ids(
    name: str, what: str, find: Callable[[Transaction], Iterable[object]], repairable: bool = False
) -> tuple[str, _Check]:
    """Return a check that reports the ids that ``find`` returns."""

    def check(transaction: Transaction) -> Iterator[tuple[str, bool]]:
        if wrong := list(find(transaction)):
            yield f"{what}: {_some(wrong)}", repairable

    return name, check


def _run(name: str, check: _Check, transaction: Transaction) -> Iterator[Finding]:
    """Yield the findings of a check; damage that stops it is a finding too."""
    try:
        for message, repairable in check(transaction):
            yield Finding(name, message, repairable)
    except StorageError as error:
        yield Finding(name, Reason.of(error), repairable=False)


def rebuild(
    engine: Engine,
    author: Author,
    dependents: Dependents,
    searches: Searches,
    progress: Progress | None = None,
) -> list[str]:
    """Rebuild the derived data: full-text indexes, segments, invalid embeddings, damaged files.

    Problems are found in a copy and repaired in steps, so that no writer waits long.
    """
    facts: set[int] = set()
    episodes: set[int] = set()
    more: list[str] = []

    def repair(transaction: Transaction) -> None:
        more.extend(dependents.repair(transaction))
        if forgotten := replies.forget_misplaced(transaction):
            more.append(f"deleted the model replies about {forgotten} erased episodes")

    def count(transaction: Transaction) -> None:
        counts.count_again(transaction)
        more.append("counted the facts and episodes again")

    more += _restored(engine)
    with engine.aside() as copy:
        parts: tuple[Iterable[Callable[[Transaction], object]], ...] = (
            indexes.mending_facts(copy, facts),
            indexes.mending_episodes(copy, author, episodes),
            [repair] if [*dependents.troubles(copy), *replies.misplaced(copy)] else [],
            mending_vectors(copy, author, more),
            # After the facts, whose subject keys it counts; a difference is only rarely found.
            [count] if counts.misfits(copy) else [],
        )
        for done, acts in enumerate(parts):
            _tell(progress, done, len(parts))
            for _ in in_steps(engine, acts):
                pass
    more += (f"removed the damaged index of {rows}" for rows in searches.remove_damaged())
    _tell(progress, len(parts), len(parts))
    return [
        f"rebuilt the full-text index of facts, and re-indexed {len(facts)} facts",
        f"rebuilt the full-text index of episodes, and re-indexed {len(episodes)} episodes",
        *more,
    ]


def _restored(engine: Engine) -> Iterator[str]:
    """Restore what the other repairs rely on: the parts of the schema, and adopted facts."""
    with engine.write() as transaction:
        if parts := engine.mend_schema(transaction):
            feeds.break_off(transaction)
            yield f"restored {parts} triggers, views and indexes"
    adopted = 0
    while True:
        with engine.write() as transaction:
            if not (some := adoption.adopt(transaction)):
                break
        adopted += some
    if adopted:
        yield f"journalled {adopted} facts that another program inserted"


def _locks(engine: Engine, _: Transaction) -> Iterator[tuple[str, bool]]:
    if engine.locks == "process":
        yield (
            "the locks of the file belong to the process: another SQLite in it, or open() and "
            "close() of the file, drops them",
            False,
        )


def _log(engine: Engine, _: Transaction) -> Iterator[tuple[str, bool]]:
    if (log_bytes := engine.log_bytes()) > LONG_LOG_BYTES:
        yield (
            f"the write-ahead log has {log_bytes:,} bytes: a program has been reading the file for "
            "a long time without a pause; the log shrinks at the first write after it ends",
            False,
        )


def _index(searches: Searches, _: Transaction) -> Iterator[tuple[str, bool]]:
    for rows, is_whole in searches.are_whole().items():
        if not is_whole:
            yield f"the index of {rows}, which is beside the file, differs from its checksum", True


def _tell(progress: Progress | None, done: int, steps: int) -> None:
    if progress is not None:
        progress(done, steps)


def _pages(engine: Engine, transaction: Transaction) -> Iterator[tuple[str, bool]]:
    for trouble in engine.damage(transaction):
        yield Reason(f"SQLite finds: {trouble}", Remedy.RESTORE_BACKUP), False


def _schema(engine: Engine, transaction: Transaction) -> Iterator[tuple[str, bool]]:
    if wrong := engine.schema_troubles(transaction):
        yield (
            f"parts of the schema that another program dropped or changed: {_some(wrong)}; what "
            "was written since may not be found, counted or protected",
            True,
        )


def _links(engine: Engine, transaction: Transaction) -> Iterator[tuple[str, bool]]:
    for table, row_ids in engine.dangling_rows(transaction).items():
        if table in DERIVED:
            yield f"rows of {table} that refer to missing rows: {_some(row_ids)}", True
        elif table != "memstore_facts":
            yield f"rows of {table} that refer to missing rows: {_some(row_ids)}", False
    if lost := fact_table.without_episode(transaction):
        yield f"facts of episodes that are not in their namespace: {_some(lost)}", False
    if scattered := proposal_table.scattered(transaction):
        yield f"proposals about facts that are not in one namespace: {_some(scattered)}", False


def _chains(engine: Engine, transaction: Transaction) -> Iterator[tuple[str, bool]]:
    if missing := engine.dangling_rows(transaction).get("memstore_facts"):
        yield f"facts superseded by facts that do not exist: {_some(missing)}", False
    for circle in fact_table.circles(transaction):
        yield f"facts that supersede each other in a circle: {_some(circle)}", False
    links = fact_table.links(transaction)
    if strangers := [link.fact_id for link in links if not link.same_namespace]:
        yield f"facts superseded by facts of another namespace: {_some(strangers)}", False


def _embeddings(transaction: Transaction) -> Iterator[tuple[str, bool]]:
    """Check that every vector is valid, and that no row for a vector is missing."""
    for table, generation in every_kind(transaction):
        where = f"{table.plural} of generation {generation.id}"
        if wrong := [f"{id_} ({why})" for id_, why in misfits(transaction, table, generation)]:
            yield f"invalid embeddings, {where}: {_some(wrong)}", True
        if missing := vector_table.missing(transaction, table, generation.id):
            yield f"missing rows for embeddings, {where}: {_some(missing)}", True


def _some(items: Iterable[object]) -> str:
    texts = [str(item) for item in items]
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return ", ".join(texts[:SHOWN]) + more
