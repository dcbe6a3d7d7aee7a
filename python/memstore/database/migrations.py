"""Bringing a file to the schema of this version, one step and one transaction at a time.

V1 to V6 are the steps of the original memstore, so that a file written at any of them opens here.
From V7 on the steps are ours.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from memstore import clock, cutting, metadata
from memstore.database import integrity, meta_table, words
from memstore.errors import SchemaError
from memstore.settings import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from memstore.database.engine import Engine, Transaction, Value

EMPTYING_VERSION = 11
"""The version that moves the vectors out of the rows of the facts, whose pages it leaves nearly
empty: reading facts gets no faster until the file is written anew."""

LAST_SHARED_VERSION = 6
"""The last version the original memstore and this one have in common."""


def migrate(engine: Engine) -> int:
    """Bring the file to the newest schema and return its version.

    Several processes may do this at once: each step looks again, inside its own transaction.

    Raises:
        SchemaError: the file is newer than this program, or a different program's; it is untouched.
    """
    with engine.read() as transaction:
        first = version = _known_version(transaction, engine.path)
    while version < VERSION:
        with engine.write() as transaction:
            version = _known_version(transaction, engine.path)
            if version < VERSION:
                version += 1
                _take_step(transaction, version)
    if 0 < first < EMPTYING_VERSION <= version:
        engine.compact()  # where it cannot be done, all is well but for the room it takes
    return version


def _known_version(transaction: Transaction, path: str) -> int:
    version = meta_table.schema_version(transaction)
    if version == 0 and meta_table.holds_only_others(transaction):
        raise SchemaError(
            f"{path} is the database of another program. It was left untouched: name another file"
        )
    if version > LAST_SHARED_VERSION:
        if meta_table.get(transaction, "schema_family") != meta_table.FAMILY:
            raise SchemaError(
                f"{path} has schema version {version} of a different memstore; this one reads "
                f"its versions 1 to {LAST_SHARED_VERSION}. The file was left untouched: name "
                "another one, or bring the facts over with an export"
            )
        if version > VERSION:
            raise SchemaError(
                f"{path} was written by a newer memstore (schema version {version}; this one "
                f"knows up to {VERSION}). The file was left untouched: upgrade pymemstore"
            )
    return version


def _take_step(transaction: Transaction, version: int) -> None:
    if version == 1:
        transaction.run("CREATE TABLE IF NOT EXISTS memstore_version (version INTEGER NOT NULL)")
    transaction.run(
        files("memstore.database.schema").joinpath(f"v{version:02}.sql").read_text("utf-8")
    )
    if version in DATA_STEPS:
        DATA_STEPS[version](transaction)
    meta_table.record_version(transaction, version)


def _identify_facts(transaction: Transaction) -> None:
    """V7: give every fact a UUID, text that is text, one form of times, and a named namespace.

    What cannot be read is kept as it was in the meta table: a time under ``unreadable_times:<id>``,
    a text as hexadecimal bytes under ``unreadable_texts:<id>``. A fact without a readable
    ``created_at`` counts as created now.
    """
    meta_table.put(transaction, "schema_family", meta_table.FAMILY)
    _mend_texts(transaction)
    _break_circles(transaction)
    transaction.run(
        "UPDATE memstore_facts SET namespace = ? WHERE namespace = ''", (DEFAULT_NAMESPACE,)
    )
    columns = "created_at, superseded_at, last_confirmed_at, last_used_at"
    for row in list(
        transaction.rows(f"SELECT id, content, subject, {columns} FROM memstore_facts ORDER BY id")
    ):
        fact_id, content, subject, *moments = row
        created_at, *others = (_readable(moment) for moment in moments)
        created = clock.from_text(created_at) if created_at else clock.utc_now()
        if lost := [
            m for m, read in zip(moments, [created_at, *others], strict=True) if m and not read
        ]:
            meta_table.put(transaction, f"unreadable_times:{int(fact_id or 0)}", json.dumps(lost))
        transaction.run(
            "UPDATE memstore_facts SET (uuid, segments, created_at, superseded_at,"
            " last_confirmed_at, last_used_at) = (?, ?, ?, ?, ?, ?) WHERE id = ?",
            (
                clock.new_uuid(created),
                words.segments(str(content), str(subject)),
                clock.to_text(created),
                *others,
                fact_id,
            ),
        )


TEXT_COLUMNS = (
    "namespace", "content", "subject", "category", "metadata",
    "created_at", "superseded_at", "last_confirmed_at", "last_used_at",
)  # fmt: skip


def _mend_texts(transaction: Transaction) -> None:
    """Make text of what is none: the original never asked whether what it stored is UTF-8."""
    asked = ", ".join(f"typeof({name}), CAST({name} AS BLOB)" for name in TEXT_COLUMNS)
    for fact_id, *found in list(transaction.rows(f"SELECT id, {asked} FROM memstore_facts")):
        kept: dict[str, str] = {}
        for name, kind, raw in zip(TEXT_COLUMNS, found[::2], found[1::2], strict=True):
            if not isinstance(raw, bytes):
                continue
            text = raw.decode("utf-8", "replace")
            if kind != "text" or text.encode() != raw:
                kept[name] = raw.hex()
                transaction.run(
                    f"UPDATE memstore_facts SET {name} = ? WHERE id = ?", (text, fact_id)
                )
        if kept:
            key = f"unreadable_texts:{int(fact_id or 0)}"
            meta_table.put(transaction, key, json.dumps(kept))


def _break_circles(transaction: Transaction) -> None:
    """Let the newest of facts that supersede each other hold; the original did not look."""
    for circle in integrity.circles(transaction):
        transaction.run(
            "UPDATE memstore_facts SET superseded_by = NULL, superseded_at = NULL WHERE id = ?",
            (max(circle),),
        )


def _readable(moment: Value) -> str | None:
    """Return a time stamp in today's form; ``None`` for one nobody can read."""
    try:
        return clock.to_text(clock.from_text(str(moment))) if moment else None
    except ValueError:
        return None


def _adopt_facts(transaction: Transaction) -> None:
    """V8: open the journal with one line for each fact that is older than it."""
    columns = ["uuid", "namespace", "content", "subject", "category", "metadata"]
    columns += ["superseded_by", "superseded_at", "confirmed_count", "last_confirmed_at"]
    columns += ["created_at"]
    at = clock.to_text(clock.utc_now())
    facts = transaction.rows(f"SELECT id, {', '.join(columns)} FROM memstore_facts ORDER BY id")
    for fact_id, *values in list(facts):
        known: dict[str, Any] = {
            name: v for name, v in zip(columns, values, strict=True) if v is not None
        }
        if "metadata" in known:
            known["metadata"] = metadata.decode(str(known["metadata"]))
        transaction.run(
            "INSERT INTO memstore_journal (at, actor, source, kind, fact_id, after)"
            " VALUES (?, 'memstore', 'migration', 'adopt', ?, ?)",
            (at, fact_id, json.dumps(known, ensure_ascii=False)),
        )


def _file_episodes(transaction: Transaction) -> None:
    """V12: let the episodes that are there be found: segments, and pieces that are pending."""
    rows = transaction.rows("SELECT id, content, name FROM memstore_episodes WHERE content <> ''")
    for episode_id, content, name in list(rows):
        transaction.run(
            "UPDATE memstore_episodes SET segments = ? WHERE id = ?",
            (words.segments(str(content), str(name or "")), episode_id),
        )
        for start, stop in cutting.of_episode(str(content)):
            transaction.run(
                "INSERT INTO memstore_pieces (episode_id, start, stop) VALUES (?, ?, ?)",
                (episode_id, start, stop),
            )
    transaction.run(
        "INSERT INTO memstore_piece_vectors (generation_id, piece_id)"
        " SELECT g.id, p.id FROM memstore_generations g, memstore_pieces p ORDER BY g.id, p.id"
    )


DATA_STEPS: dict[int, Callable[[Transaction], None]] = {
    7: _identify_facts,
    8: _adopt_facts,
    12: _file_episodes,
}

VERSION = 15
"""The newest schema version, and the one every open file is brought to."""
