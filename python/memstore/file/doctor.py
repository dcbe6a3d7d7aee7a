"""The doctor: checks that derived data matches the rows, and rebuilds it if not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from memstore.database import meta as meta_table
from memstore.database.migrations import VERSION
from memstore.database.short_transactions import in_steps
from memstore.database.tables import counts, device_files, feeds, line_counts, replies
from memstore.database.tables import facts as fact_table
from memstore.database.tables import proposals as proposal_table
from memstore.database.tables import vectors as vector_table
from memstore.embedding.repair import every_kind, mending_vectors, misfits
from memstore.errors import Reason, Remedy
from memstore.facts import adoption
from memstore.file import findings, indexes, tokens, verification
from memstore.history import trust
from memstore.search import comparing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memstore.database.changes import Dependents
    from memstore.database.engine import Cancelled, Engine, Progress, Transaction
    from memstore.database.journal import Author
    from memstore.file.findings import Check, Finding
    from memstore.search.searches import Searches

LONG_LOG_BYTES: Final = 64 * 1024 * 1024
"""A write-ahead log longer than this is reported; writers keep it far below."""

DERIVED: Final = frozenset(table.name for table in vector_table.TABLES)
"""The tables whose rows a rebuild removes if what they belong to does not exist."""


def check(
    engine: Engine,
    dependents: Dependents,
    searches: Searches,
    *,
    deep: bool = False,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> list[Finding]:
    """Run every check and return the problems.

    The checks use a copy of one state of the file, so that they hold up neither writers nor
    checkpoints. Comparing the full-text index with the rows counts as a write, so without room for
    a copy it is left out of a read-only file.

    ``deep`` also compares every line of the journal, and every file of a device that meets others
    at this server, with its hash.
    """
    checks = (
        *_checks(engine, dependents, searches),
        *verification.of_rows(engine),
        findings.ids(
            "newer",
            "facts of which it is wrongly known what is newer",
            partial(comparing.misfits, deep=deep),
            repairable=True,
        ),
        *((*verification.of_lines(), ("device files", _device_files)) if deep else ()),
        ("words", indexes.full_texts),
    )
    with engine.aside(cancelled) as copy:
        return findings.run(checks, copy, progress, cancelled)


def _checks(
    engine: Engine, dependents: Dependents, searches: Searches
) -> Sequence[tuple[str, Check]]:
    """Return the checks that only read, each with the name of its findings."""
    return (
        ("locks", partial(_locks, engine)),
        ("log", partial(_log, engine)),
        ("index", _index(searches)),
        ("pages", partial(_pages, engine)),
        ("links", partial(_links, engine)),
        ("chains", partial(_chains, engine)),
        findings.ids(
            "replies", "replies kept about erased or closed episodes", replies.misplaced, True
        ),
        ("embeddings", _embeddings),
        findings.ids("counts", "counts of facts or episodes that differ", counts.misfits, True),
        findings.ids("lines", "stretches of counted lines that differ", line_counts.misfits, True),
        ("graph", dependents.troubles),
    )


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
        if restored := tokens.restore(transaction):
            more.append(f"gave {restored} access tokens back what the journal says of them")
        if forgotten := replies.forget_misplaced(transaction):
            more.append(f"deleted the model replies about {forgotten} erased episodes")

    def judge(transaction: Transaction) -> None:
        if trust.rebuild(transaction):
            more.append("hid what rests on sources that are not trusted, and nothing else")

    def count(transaction: Transaction) -> None:
        counts.count_again(transaction)
        more.append("counted the facts and episodes again")

    def remove_damaged(transaction: Transaction) -> None:
        if removed := device_files.remove_damaged(transaction):
            more.append(f"removed {removed} damaged files of devices, which these write again")

    more += _restored(engine)
    with engine.aside() as copy:
        parts: tuple[Iterable[Callable[[Transaction], object]], ...] = (
            indexes.mending_facts(copy, facts),
            indexes.mending_episodes(copy, author, episodes),
            [repair]
            if [*dependents.troubles(copy), *replies.misplaced(copy), *tokens.misfits(copy)]
            else [],
            mending_vectors(copy, author, more),
            # After the facts, whose subject keys it counts; a difference is only rarely found.
            [count] if counts.misfits(copy) else [],
            line_counts.counting_again(copy),
            [judge],
            [remove_damaged] if any(device_files.damaged(copy)) else [],
        )
        for done, acts in enumerate(parts):
            findings.tell(progress, done, len(parts))
            for _ in in_steps(engine, acts):
                pass
    more += (f"removed the damaged index of {rows}" for rows in searches.remove_damaged())
    # By an index that is built anew, if it was damaged.
    searches.comparisons.again()
    more.append("compared the facts of each subject again")
    findings.tell(progress, len(parts), len(parts))
    return [
        f"rebuilt the full-text index of facts, and re-indexed {len(facts)} facts",
        f"rebuilt the full-text index of episodes, and re-indexed {len(episodes)} episodes",
        *more,
    ]


def _restored(engine: Engine) -> Iterator[str]:
    """Restore what the other repairs rely on: the parts of the schema, and adopted facts."""
    with engine.write() as transaction:
        mended = engine.mend_schema(transaction)
        if mended.restored or mended.dropped:
            feeds.break_off(transaction)
        if meta_table.versions(transaction) != {VERSION}:
            meta_table.record_version(transaction, VERSION)
            yield f"wrote the schema version again: {VERSION}"
    if mended.restored:
        yield f"restored {mended.restored} triggers, views and indexes"
    for dropped in mended.dropped:
        yield f"dropped what another program had added: {dropped}"
    if adopted := adoption.adopt_all(engine):
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


def _index(searches: Searches) -> Check:
    """Compare the files of the index, and return the check that reports what is wrong.

    That takes a transaction, which a pooler may not have while another one is open.
    """
    failure: Exception | None = None
    are_whole: dict[str, bool] = {}
    try:
        are_whole = searches.are_whole()
    except findings.DAMAGE as error:
        failure = error

    def check(_: Transaction) -> Iterator[tuple[str, bool]]:
        if failure is not None:
            raise failure
        for rows, is_whole in are_whole.items():
            if not is_whole:
                yield (
                    f"the index of {rows}, which is beside the file, differs from its checksum,"
                    " or another version of memstore wrote it",
                    True,
                )

    return check


def _device_files(transaction: Transaction) -> Iterator[tuple[str, bool]]:
    damaged = [name for _, name in device_files.damaged(transaction)]
    if damaged:
        yield f"files of devices that are not as they were stored: {findings.some(damaged)}", True


def _pages(engine: Engine, transaction: Transaction) -> Iterator[tuple[str, bool]]:
    for trouble in engine.damage(transaction):
        yield Reason(f"SQLite finds: {trouble}", Remedy.RESTORE_BACKUP), False


def _links(engine: Engine, transaction: Transaction) -> Iterator[tuple[str, bool]]:
    for table, row_ids in engine.dangling_rows(transaction).items():
        if table in DERIVED:
            yield f"rows of {table} that refer to missing rows: {findings.some(row_ids)}", True
        elif table != "memstore_facts":
            yield f"rows of {table} that refer to missing rows: {findings.some(row_ids)}", False
    if lost := fact_table.without_episode(transaction):
        yield f"facts of episodes that are not in their namespace: {findings.some(lost)}", False
    if scattered := proposal_table.scattered(transaction):
        yield (
            f"proposals about facts that are not in one namespace: {findings.some(scattered)}",
            False,
        )


def _chains(engine: Engine, transaction: Transaction) -> Iterator[tuple[str, bool]]:
    if missing := engine.dangling_rows(transaction).get("memstore_facts"):
        yield f"facts superseded by facts that do not exist: {findings.some(missing)}", False
    for circle in fact_table.circles(transaction):
        yield f"facts that supersede each other in a circle: {findings.some(circle)}", False
    links = fact_table.links(transaction)
    if strangers := [link.fact_id for link in links if not link.same_namespace]:
        yield f"facts superseded by facts of another namespace: {findings.some(strangers)}", False


def _embeddings(transaction: Transaction) -> Iterator[tuple[str, bool]]:
    """Check that every vector is valid, and that no row for a vector is missing."""
    for table, generation in every_kind(transaction):
        where = f"{table.plural} of generation {generation.id}"
        if wrong := [*misfits(transaction, table, generation)]:
            yield f"invalid embeddings, {where}: {findings.some(wrong)}", True
        if missing := vector_table.missing(transaction, table, generation.id):
            yield f"missing rows for embeddings, {where}: {findings.some(missing)}", True
        if given_up := vector_table.quarantined(transaction, table, generation.id, None):
            told = f"the embedder refused {where} for good: {findings.some(given_up)}"
            yield Reason(told, Remedy.RETRY_QUARANTINED), False
