"""The migrations of the schema, in SQLite's SQL.

A new file is created with the newest version. Steps 1 to 6 are those of the original memstore, so
its files of any of these versions can be opened. Step 7 is ours: it renames the original's table
of facts, creates every table, and copies the facts.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from memstore.database import meta as meta_table
from memstore.database.changes import Changes, Line
from memstore.database.journal import Author, Kind
from memstore.database.line_filters import UPGRADE
from memstore.database.migrations import LAST_SHARED_VERSION
from memstore.database.tables import facts as fact_table
from memstore.database.tables import vectors as vector_table
from memstore.domain import clock, metadata
from memstore.domain.arguments import nfc
from memstore.settings import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memstore.database.engine import Transaction, Value

MIGRATION: Final = Author("memstore", UPGRADE)


def create(transaction: Transaction) -> None:
    """Create the newest schema in an empty file."""
    for group in ("meta", "facts", *OTHER_GROUPS):
        _run_file(transaction, f"v07/{group}.sql")
    meta_table.put(transaction, "schema_family", meta_table.FAMILY)
    _begin_generation(transaction, None, None)


def take_step(transaction: Transaction, version: int) -> None:
    if version > LAST_SHARED_VERSION:
        _take_step_7(transaction)
        return
    if version == 1:
        transaction.execute(
            "CREATE TABLE IF NOT EXISTS memstore_version (version INTEGER NOT NULL)"
        )
    _run_file(transaction, f"original/v{version:02}.sql")


def _run_file(transaction: Transaction, name: str) -> None:
    transaction.execute(_text_of(name))


@cache
def _text_of(name: str) -> str:
    return files("memstore.database.sqlite.schema").joinpath(name).read_text("utf-8")


OTHER_GROUPS = (
    "facts_first", "facts_threads", "facts_most_used", "facts_keyed", "facts_words",
    "facts_members", "journal", "journal_confirmed", "line_counts", "episodes", "episodes_lasting",
    "episodes_words", "vectors", "changes", "facts_changed", "proposals", "readings", "graph",
    "graph_blocks", "tokens", "counts", "counts_added", "facts_foreign", "support", "distrusted",
    "searches", "newer", "sync", "device_files",
)  # fmt: skip


LATER_COLUMNS: Final = {
    "pinned_at": "TEXT",
    "slots": "TEXT",
    "external_key": "TEXT",
    "unsearched": "INTEGER",
    "category_key": "TEXT NOT NULL DEFAULT ''",
}
"""Columns of facts that development builds of the newest version lacked, in their order."""

COMES_WITH: Final = {
    "pinned_at": ("facts_first",),
    "external_key": ("facts_keyed",),
    "unsearched": ("facts_unsearched",),
    "category_key": (
        "categories_by_key", "facts_first", "facts_changed", "counts", "counts_added",
        "facts_foreign",
    ),
}  # fmt: skip
"""The files with what a column needs besides itself, in a file that lacked it."""


COLUMNS: Final = "SELECT name FROM pragma_table_info('memstore_facts')"

LATER_OBJECTS: Final = {
    # The full-text indexes are made anew: builds that lacked this view counted erased rows.
    "memstore_episodes_words": ("words_dropped", "facts_words", "episodes_words"),
    "idx_memstore_most_used": ("facts_most_used",),
    "idx_memstore_threads": ("facts_threads",),
    "memstore_line_counts": ("line_counts",),
    "memstore_newer": ("newer",),
    "memstore_taken": ("sync",),
    "memstore_device_files": ("device_files",),
    "memstore_facts_counted_added": ("counts_added",),
    "memstore_episodes_lasting": ("episodes_lasting",),
    "memstore_mention_blocks": ("graph_blocks",),
    "idx_memstore_journal_confirmed": ("journal_confirmed",),
}
"""Tables, views, indexes and triggers that development builds lacked, with what makes each."""


def complete(transaction: Transaction) -> None:
    """Add what a development build left out of a file of the newest version."""
    held = {str(name) for (name,) in transaction.rows(COLUMNS)}
    lacking = [name for name in LATER_COLUMNS if name not in held]
    for name in lacking:
        transaction.execute(f"ALTER TABLE memstore_facts ADD COLUMN {name} {LATER_COLUMNS[name]}")
    if "category_key" in lacking:
        fact_table.key_categories(transaction)
    # Each once, in order: what comes with a later column replaces what came with an earlier one.
    for group in dict.fromkeys(one for name in lacking for one in COMES_WITH.get(name, ())):
        _run_file(transaction, f"v07/{group}.sql")
    for name, groups in LATER_OBJECTS.items():
        if not transaction.scalar(
            "SELECT count(*) FROM sqlite_master WHERE name = :name", {"name": name}
        ):
            for group in groups:
                _run_file(transaction, f"v07/{group}.sql")


def _take_step_7(transaction: Transaction) -> None:
    meta_table.put(transaction, "schema_family", meta_table.FAMILY)
    others = _built_by_others(transaction)
    _set_original_aside(transaction)
    _run_file(transaction, "v07/facts.sql")
    _carry_facts(transaction)
    _break_circles(transaction)
    for group in OTHER_GROUPS:
        _run_file(transaction, f"v07/{group}.sql")
    _adopt_facts(transaction)
    _carry_vectors(transaction)
    transaction.execute("DROP TABLE memstore_original_facts")
    for statement in others:
        transaction.execute(statement)


def _built_by_others(transaction: Transaction) -> list[str]:
    """Return the triggers and indexes that another program put on the original's table of facts.

    Those that use the column of embeddings are left out: it no longer exists.
    """
    rows = transaction.rows(
        "SELECT sql FROM sqlite_master WHERE tbl_name = 'memstore_facts' AND sql IS NOT NULL"
        " AND type IN ('trigger', 'index') AND name NOT LIKE 'memstore!_facts!_%' ESCAPE '!'"
        " AND name NOT LIKE 'idx!_memstore!_%' ESCAPE '!' AND sql NOT LIKE '%embedding%'"
    )
    return [str(sql) for (sql,) in rows]


def _set_original_aside(transaction: Transaction) -> None:
    """Rename the original's table of facts, so that the new one is created in one statement."""
    for trigger in ("ai", "ad", "au"):
        transaction.execute(f"DROP TRIGGER IF EXISTS memstore_facts_{trigger}")
    transaction.execute("DROP TABLE IF EXISTS memstore_facts_fts")
    for index in ("subject", "category", "active", "namespace"):
        transaction.execute(f"DROP INDEX IF EXISTS idx_memstore_{index}")
    # Views and foreign keys of other tables in the file keep the name, which the new table gets.
    transaction.execute("PRAGMA legacy_alter_table = ON")
    transaction.execute("ALTER TABLE memstore_facts RENAME TO memstore_original_facts")
    transaction.execute("PRAGMA legacy_alter_table = OFF")


TEXT_COLUMNS = (
    "namespace", "content", "subject", "category", "metadata",
    "created_at", "superseded_at", "last_confirmed_at", "last_used_at",
)  # fmt: skip
TIME_COLUMNS = TEXT_COLUMNS[5:]


def _carry_facts(transaction: Transaction) -> None:
    """Copy every fact with a UUID, valid text, times in one format, and a named namespace.

    Unreadable values are kept in the meta table: times under ``unreadable_times:<id>``, texts as
    hexadecimal bytes under ``unreadable_texts:<id>``. A fact without a readable ``created_at``
    counts as created now.
    """
    selected = ", ".join(f"typeof({name}), CAST({name} AS BLOB)" for name in TEXT_COLUMNS)
    copied = "superseded_by, confirmed_count, use_count"
    carry = (
        f"INSERT INTO memstore_facts (id, uuid, {', '.join(fact_table.FoundBy._fields)},"
        f" {', '.join(TEXT_COLUMNS)}, {copied})"
        f" SELECT id, :uuid, :{', :'.join((*fact_table.FoundBy._fields, *TEXT_COLUMNS))}, {copied}"
        " FROM memstore_original_facts WHERE id = :id"
    )
    rows = transaction.rows(f"SELECT id, {selected} FROM memstore_original_facts ORDER BY id")
    for fact_id, *read in list(rows):
        texts = _valid_texts(transaction, int(fact_id or 0), read)
        times = _readable_times(transaction, int(fact_id or 0), texts)
        created = clock.from_text(times["created_at"]) if times["created_at"] else clock.utc_now()
        values = texts | times
        values["created_at"] = clock.to_text(created)
        values["namespace"] = nfc(texts["namespace"] or DEFAULT_NAMESPACE)
        found = fact_table.found_by(
            texts["content"] or "", texts["subject"] or "", texts["category"] or ""
        )
        uuid = clock.new_uuid(created)
        transaction.execute(carry, {**values, "id": fact_id, "uuid": uuid, **found._asdict()})
    # The original may have deleted rows, and ids must not be reused.
    transaction.execute("DELETE FROM sqlite_sequence WHERE name = 'memstore_facts'")
    transaction.execute(
        "UPDATE sqlite_sequence SET name = 'memstore_facts' WHERE name = 'memstore_original_facts'"
    )


def _valid_texts(
    transaction: Transaction, fact_id: int, found: Sequence[Value]
) -> dict[str, str | None]:
    """Decode the text columns; the original did not check that they are UTF-8."""
    texts: dict[str, str | None] = {}
    kept: dict[str, str] = {}
    for name, kind, raw in zip(TEXT_COLUMNS, found[::2], found[1::2], strict=True):
        text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else None
        if isinstance(raw, bytes) and text is not None and (kind, text.encode()) != ("text", raw):
            kept[name] = raw.hex()
        texts[name] = text
    if kept:
        meta_table.put(transaction, f"unreadable_texts:{fact_id}", json.dumps(kept))
    return texts


def _readable_times(
    transaction: Transaction, fact_id: int, texts: dict[str, str | None]
) -> dict[str, str | None]:
    """Convert the times to today's format, in which text order is time order."""
    times = {name: _converted(texts[name]) for name in TIME_COLUMNS}
    if lost := [texts[name] for name in TIME_COLUMNS if texts[name] and not times[name]]:
        meta_table.put(transaction, f"unreadable_times:{fact_id}", json.dumps(lost))
    return times


def _converted(moment: str | None) -> str | None:
    try:
        return clock.to_text(clock.from_text(moment)) if moment else None
    except ValueError:
        return None


def _break_circles(transaction: Transaction) -> None:
    """Make the newest of facts that supersede each other in a circle active.

    The original did not prevent circles.
    """
    for circle in fact_table.circles(transaction):
        transaction.execute(
            "UPDATE memstore_facts SET superseded_by = NULL, superseded_at = NULL WHERE id = :id",
            {"id": max(circle)},
        )


def _adopt_facts(transaction: Transaction) -> None:
    """Begin the journal with one line for each existing fact."""
    columns = ["uuid", "namespace", "content", "subject", "category", "metadata"]
    columns += ["superseded_by", "superseded_at", "confirmed_count", "last_confirmed_at"]
    columns += ["created_at"]
    changes = Changes(transaction, MIGRATION)
    facts = transaction.rows(f"SELECT id, {', '.join(columns)} FROM memstore_facts ORDER BY id")
    for fact_id, *values in list(facts):
        known: dict[str, Any] = {
            name: v for name, v in zip(columns, values, strict=True) if v is not None
        }
        if "metadata" in known:
            known["metadata"] = metadata.decode(str(known["metadata"]))
        changes.write(Line(Kind.ADOPT, fact_id, after=known))


def _carry_vectors(transaction: Transaction) -> None:
    """Make the vectors in the original's rows the first generation; empty texts have none.

    If the file does not name the model (V1 never does) or a vector has the wrong length, the
    vector cannot be used and its fact is pending.
    """
    model, dimension = (
        meta_table.get(transaction, name) for name in ("embedding_model", "embedding_dim")
    )
    _begin_generation(transaction, model, dimension)
    transaction.execute(
        "DELETE FROM memstore_meta WHERE key IN ('embedding_model', 'embedding_dim')"
    )
    transaction.execute(
        "INSERT INTO memstore_fact_vectors (generation_id, fact_id, embed_attempts, embedding)"
        " SELECT g.id, f.id, CASE WHEN f.content = '' THEN -1 ELSE 0 END,"
        "  CASE WHEN g.model IS NOT NULL AND typeof(o.embedding) = 'blob'"
        "   AND length(o.embedding) = 4 * g.dimension THEN o.embedding END"
        " FROM memstore_generations g, memstore_facts f"
        " JOIN memstore_original_facts o ON o.id = f.id ORDER BY f.id"
    )
    vectors = transaction.rows(
        "SELECT id, fact_id, CAST(embedding AS BLOB) FROM memstore_fact_vectors"
        " WHERE embedding IS NOT NULL"
    )
    for id_, fact_id, blob in list(vectors):
        transaction.execute(
            "UPDATE memstore_fact_vectors SET checksum = :checksum WHERE id = :id",
            {"id": id_, "checksum": vector_table.checksum(fact_id, blob)},
        )


def _begin_generation(transaction: Transaction, model: str | None, dimension: str | None) -> None:
    transaction.execute(
        "INSERT INTO memstore_generations (model, dimension, state, created_at)"
        " VALUES (:model, CAST(:dimension AS INTEGER), 'active', :at)",
        {"model": model, "dimension": dimension, "at": clock.to_text(clock.utc_now())},
    )
