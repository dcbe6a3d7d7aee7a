"""The doctor: checks that derived data agrees with the rows, and rebuilds it where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from memstore.access import tokens
from memstore.database import integrity
from memstore.database.sqlite import full_text
from memstore.database.tables import facts as fact_table
from memstore.database.tables import replies as reply_table
from memstore.database.tables import stored_vectors
from memstore.embedding.repair import every_kind, mend_vectors, misfits
from memstore.errors import Remedy, StorageError
from memstore.text import words
from memstore.upkeep import episodes, journal_check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from memstore.database.engine import Engine, Progress, Transaction
    from memstore.database.journal import Author
    from memstore.database.satellite import Satellite

    _Check: TypeAlias = Callable[[Transaction], Iterator["Finding"]]

SHOWN: Final = 10
"""Items named in one finding; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem the doctor found."""

    check: str
    message: str
    repairable: bool
    """Whether a rebuild mends it; everything else needs a person."""


def examine(
    engine: Engine,
    satellite: Satellite,
    *,
    read_only: bool = False,
    progress: Progress | None = None,
) -> list[Finding]:
    """Run every check on one state of the file; an empty list means that all is well.

    Comparing the full-text index with the rows counts as a write and is left out if only reading
    is allowed; SQLite's own check of the index is not.
    """
    checks: tuple[tuple[str, _Check], ...] = (
        ("pages", _pages),
        ("chains", _chains),
        ("journal", _facts),
        ("episodes", _episodes),
        ("replies", _replies),
        ("tokens", _tokens),
        ("embeddings", _embeddings),
        ("words", _segments),
        ("graph", partial(_satellite, satellite)),
    )
    steps = len(checks) + (not read_only)
    findings: list[Finding] = []
    with engine.read() as transaction:
        for done, (name, check) in enumerate(checks):
            _tell(progress, done, steps)
            findings += _run(name, check, transaction)
    if not read_only:
        _tell(progress, len(checks), steps)
        with engine.write() as transaction:
            findings += _words(transaction)
    _tell(progress, steps, steps)
    return findings


def _tell(progress: Progress | None, done: int, steps: int) -> None:
    if progress is not None:
        progress(done, steps)


def _run(name: str, check: _Check, transaction: Transaction) -> Iterator[Finding]:
    """Yield what a check finds; damage that stops it is a finding too."""
    try:
        yield from check(transaction)
    except StorageError as error:
        restore = "; restore a backup" if error.remedy is Remedy.RESTORE_BACKUP else ""
        yield Finding(name, f"{error}{restore}", repairable=False)


def rebuild(
    engine: Engine, author: Author, satellite: Satellite, progress: Progress | None = None
) -> list[str]:
    """Rebuild the derived data: full-text indexes, segments, and embeddings that do not fit.

    The rows themselves are not changed. Returns what was done, one sentence each.
    """
    done = []
    with engine.write() as transaction:
        # First the index: changing segments corrects an entry in it, which must be there.
        _tell(progress, 0, 3)
        full_text.FACTS.rebuild(transaction)
        _tell(progress, 1, 3)
        stale = _stale_segments(transaction)
        for fact_id, right in stale:
            fact_table.set_segments(transaction, fact_id, right)
        done.append(f"rebuilt the full-text index ({len(stale)} facts cut into segments anew)")
        done += episodes.rebuild(transaction, author)
        done += satellite.repair(transaction)
        if forgotten := reply_table.forget_misplaced(transaction):
            done.append(f"forgot what models answered about {forgotten} erased episodes")
        _tell(progress, 2, 3)
        done += mend_vectors(transaction, author)
    _tell(progress, 3, 3)
    return done


def _pages(transaction: Transaction) -> Iterator[Finding]:
    for trouble in integrity.page_troubles(transaction):
        yield Finding("pages", f"SQLite finds: {trouble}; restore a backup", repairable=False)
    for table, row_ids in integrity.dangling_rows(transaction).items():
        if table == "memstore_facts":
            message = f"superseded by facts that do not exist: {_some(row_ids)}"
            yield Finding("chains", message, repairable=False)
        else:
            message = f"rows of {table} that name what does not exist: {_some(row_ids)}"
            yield Finding("links", message, repairable=False)


def _chains(transaction: Transaction) -> Iterator[Finding]:
    for circle in integrity.circles(transaction):
        message = f"supersede each other in a circle: {_some(circle)}"
        yield Finding("chains", message, repairable=False)
    links = integrity.links(transaction)
    if strangers := [link.fact_id for link in links if not link.same_namespace]:
        message = f"superseded from another namespace: {_some(strangers)}"
        yield Finding("chains", message, repairable=False)


def _facts(transaction: Transaction) -> Iterator[Finding]:
    if wrong := list(journal_check.facts(transaction)):
        message = f"facts that differ from the journal: {_some(wrong)}"
        yield Finding("journal", message, repairable=False)


def _episodes(transaction: Transaction) -> Iterator[Finding]:
    if wrong := list(journal_check.episodes(transaction)):
        message = f"episodes that differ from the journal: {_some(wrong)}"
        yield Finding("episodes", message, repairable=False)
    if wrong := list(episodes.derived(transaction)):
        message = f"episodes that are not found by what they hold: {_some(wrong)}"
        yield Finding("words", message, repairable=True)


def _replies(transaction: Transaction) -> Iterator[Finding]:
    if wrong := reply_table.misplaced(transaction):
        message = f"replies kept about episodes that are erased or closed: {_some(wrong)}"
        yield Finding("replies", message, repairable=True)


def _tokens(transaction: Transaction) -> Iterator[Finding]:
    if wrong := tokens.strangers(transaction):
        message = f"tokens that differ from the journal: {_some(wrong)}; revoke unknown ones"
        yield Finding("tokens", message, repairable=False)


def _embeddings(transaction: Transaction) -> Iterator[Finding]:
    """Check that everything has a place in every generation, and that every vector fits."""
    for table, generation in every_kind(transaction):
        whose = f"{table.plural} of generation {generation.id}"
        if wrong := [f"{id_} ({why})" for id_, why in misfits(transaction, table, generation)]:
            message = f"embeddings that do not fit, {whose}: {_some(wrong)}"
            yield Finding("embeddings", message, repairable=True)
        if missing := stored_vectors.missing(transaction, table, generation.id):
            message = f"no place for an embedding, {whose}: {_some(missing)}"
            yield Finding("embeddings", message, repairable=True)


def _segments(transaction: Transaction) -> Iterator[Finding]:
    stale = [fact_id for fact_id, _ in _stale_segments(transaction)]
    if stale:
        yield Finding("words", f"segments that do not fit: {_some(stale)}", repairable=True)


def _stale_segments(transaction: Transaction) -> list[tuple[int, str | None]]:
    return [
        (fact_id, right)
        for fact_id, content, subject, held in fact_table.all_texts(transaction)
        if (right := words.segments(content, subject)) != held
    ]


def _satellite(satellite: Satellite, transaction: Transaction) -> Iterator[Finding]:
    for message, repairable in satellite.troubles(transaction):
        yield Finding("graph", message, repairable)


def _words(transaction: Transaction) -> Iterator[Finding]:
    for name, index in (("facts", full_text.FACTS), ("episodes", full_text.EPISODES)):
        if trouble := index.check(transaction):
            message = f"the full-text index of the {name} differs: {trouble}"
            yield Finding("words", message, repairable=True)


def _some(items: Iterable[object]) -> str:
    texts = [str(item) for item in items]
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return ", ".join(texts[:SHOWN]) + more
