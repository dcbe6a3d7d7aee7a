"""The library's tests on PostgreSQL: each file that a test opens is a database of the server.

``pytest --engine postgres`` runs them so. What is about files is left out, each with its reason;
docs/serving.md lists the reasons.
"""

from __future__ import annotations

import os
import re
import threading
from collections import ChainMap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import psycopg
import pytest
from tests.support import engines, raw, written

from memstore.database.postgres import pools, tenant_cache
from memstore.database.postgres.address import DatabaseAddress
from memstore.database.postgres.connection import Connection
from memstore.database.postgres.engine import PostgresEngine
from memstore.database.postgres.schema import tables
from memstore.database.postgres.transaction import PostgresTransaction
from memstore.errors import StorageError
from memstore.file import paths
from memstore.store import opening

if TYPE_CHECKING:
    from tests.support.postgres import Databases

BYTES = "a server's vacuum and log decide when bytes are gone, so erasing does not promise it"
FILE = "it reads, copies or damages the file itself"
PLAN = "it tests SQLite's query plans"
TRIGGERS = "rows are protected by the rights of roles there, not by triggers"
OTHERS = "other programs cannot write there"
WORDS = "without an index, the server finds and ranks words in its own way: that is provisional"
TYPES = "a column contains values of its own type alone there"
FTS5 = "it reads the tables of SQLite's full-text index"
SQLITE = "it tests the engine of files: their driver, full-text tables and upgrades"
MEMORY = "it tests a memory within this process"
REMAINS = "the server's files cannot be read from here, so `remains` is refused"
BACKUPS = "backups are refused: pg_dump makes them"
CHECKSUMS = "the pages of a server's files are checked by the server"
REPLACED = "a file is replaced, removed or upgraded while it is open"
OLDER = "there are no older versions"
OTHER_FILE = "it names a second file, which the command looks for before it opens it"
MEMORIES = "each namespace that is opened is a memory of its own there"
DURABILITY = "the server sets it: synchronous_commit"
HOSTS = "the hooks of hosts use a file, or a server over HTTP"
PROCESSES = "the processes that it starts open a file"
FAULT = "the fault is made, or noticed, by means that only SQLite has"

DIFFERENCES: dict[str, str] = {
    r"database/(sqlite/|test_(migrations|sqlite|full_text|short_transactions))": SQLITE,
    r"database/test_changes.*test_write_without_a_journal_line_is_found": FAULT,
    r"database/test_feed.*(by_other_programs|not_searched_yet|newest_lines)": OTHERS,
    r"domain/test_metadata.*is_not_an_object.*nested too deep": OTHERS,
    r"domain/test_metadata.*is_not_an_object.*(bytes|a number)": TYPES,
    r"text/test_words.*(words_do_not_reindex|erasing_change_the_index)": FTS5,
    r"text/test_words.*score_alike_in_the_index_and_in_fts5": WORDS,
    r"facts/test_batch.*test_erasing_a_fact_removes_its_text_from_the_evidence": FILE,
    r"facts/test_batch.*test_episodes_are_append_only": TRIGGERS,
    r"facts/test_batch.*test_erasing_an_episode_removes_its_bytes": BYTES,
    r"test_erasing_an_episode_leaves_no_thread_that_identifies_it|test_erased_fact_has_no_thread": (
        FILE
    ),
    r"test_the_position_of_an_episode_never_changes": TRIGGERS,
    r"test_an_incomplete_position_is_refused_by_the_file": TRIGGERS,
    r"test_what_a_distrusted_source_was_is_erased_with_its_episode": FILE,
    r"test_a_row_of_another_program_is_hidden_when_it_is_adopted": OTHERS,
    r"test_what_another_program_hides_or_shows_is_found": OTHERS,
    r"test_a_file_of_version_7_without_pins_opens": OLDER,
    r"test_a_file_that_compares_spellings_is_completed": OLDER,
    r"facts/test_query_plans|found_by_an_index_not_by_scanning|found_by_their_lines": PLAN,
    r"what_changed_the_trust_of_sources_is_found_by_an_index": PLAN,
    r"test_erasing_a_fact_erases_its_slots": BYTES,
    r"history/test_chain.*no_salt": BYTES,
    r"history/test_chain.*test_a_changed_line_is_named.*episode_id": TYPES,
    r"history/test_erased_everywhere": BYTES,
    r"history/test_erasure.*(interrupted_clear|others_write_while)": BYTES,
    r"history/test_reverting.*the_selection_reads_no_json": PLAN,
    r"history/test_weights_of_then.*in_a_copy_of_then": FILE,
    r"history/test_erasure.*(interrupted_erasure|applying_says|no_copies)": BYTES,
    r"test_a_fact_that_another_program_inserted_was_taken_in": OTHERS,
    r"test_missing_triggers_are_named|test_damaged_evidence_hides_no_other_support": TRIGGERS,
    r"test_journal_replay_reproduces_the_state": FILE,
    r"history/test_log.*test_acts_are_read_by_the_ids_of_their_lines": PLAN,
    r"episodes/test_log.*(from_many_processes|no_bytes_of|removes_quotes)": FILE,
    r"episodes/test_log.*repairs_damage.*(unknown|tag index more|word index)": FAULT,
    r"episodes/test_log.*(triggers_refuse|replace_and_rowid|erased_episode_cannot)": TRIGGERS,
    r"transfer/test_attachments.*(everything_attached|a_fact_was_erased|json_of_replies)": FILE,
    r"test_log_can_be_truncated_while_an_export_is_consumed": FILE,
    r"search/test_facts.*(another_process_holds|damaged_embedding_does_not_break)": FILE,
    r"search/test_corpus.*test_parts_are_word_scores_and_the_exact_cosine.*database": WORDS,
    r"search/test_index": "there are no index files there: each process keeps its index in memory",
    r"search/test_contextual.*test_scores_equal_the_documented_formulas": (
        "the twin of the ranking reads SQLite's own index"
    ),
    r"search/test_both_ways.*test_classic_has_the_same_order": WORDS,
    r"search/test_facts.*test_scores_equal_the_documented_formula": FTS5,
    r"search/test_contextual.*relevance_equals_the_documented_formula": WORDS,
    r"search/test_episodes.*test_filtering_reads_no_episode_text": PLAN,
    r"file/test_remains": REMAINS,
    r"file/test_scheduled|store/test_backup|test_a_backup_has_what_is_distrusted": BACKUPS,
    r"file/test_checksums": CHECKSUMS,
    r"file/test_doctor.*(blocks_nobody|in_place|damaged_pages)": FILE,
    r"file/test_doctor.*derived_data.*index (lacks|holds|pages|records)": FTS5,
    r"file/test_cancelling.*ends_when_it_is_cancelled": "the server works, not this process",
    r"file/test_foreign_rows|file/test_counts.*rows_of_other_programs": OTHERS,
    r"file/test_counts.*leaves_no_name_in_the_counts": BYTES,
    r"store/test_(upgraded_elsewhere|replaced)": REPLACED,
    r"store/test_recovery": BACKUPS,
    r"store/test_copying": "it names a server and a file itself, and runs without this option",
    r"store/test_in_memory.*(are_separate|backup_of_a_store|thread_that_reads)": MEMORY,
    r"store/test_opening.*(not_a_url|names_of_new_folders|missing_file_is_not_created)": FILE,
    r"store/test_opening.*(durability)": DURABILITY,
    r"search/test_(damaged|erased)_files": FILE,
    r"search/test_comparing.*a_file_from_before": OLDER,
    r"graph/test_graph.*test_erasing_a_fact_removes_its_relations": BYTES,
    r"graph/test_graph.*(killed_build|does_not_load_the_graph)": PROCESSES,
    r"embedding/test_generations.*test_a?_?kill_": PROCESSES,
    r"graph/test_mention_blocks.*no_block_can_hold": SQLITE,
    r"graph/test_model_extraction.*test_model_relations_are_erased": FILE,
    r"store/test_searches.*test_a_busy_writer_does_not": FILE,
    r"store/test_searches.*test_erasing_(blanks|many)": BYTES,
    r"learn/test_extraction.*test_failed_transaction_stores_nothing": FAULT,
    r"learn/test_memory.*(test_reset_erases_only|removes_its_quotes)": BYTES,
    r"learn/test_rebuilding.*(from_the_log_alone|text_is_gone|confirm_a_guess)": FILE,
    r"learn/test_rebuilding.*test_doctor_finds_replies.*closed": TRIGGERS,
    r"file/test_tokens.*(not_in_the_file|without_a_journal_line.*tampering0)": FILE,
    r"embedding/test_pending.*(nothing_to_do_writes|lease_without_writing)": FAULT,
    r"embedding/test_pending.*test_one_background_embedder_works_at_a_time": (
        "machines share the texts that wait"
    ),
    r"importing/test_other_programs.*test_original_refuses_other_files": FILE,
    r"cli/test_(demo.*when_piped|documentation.*documented_session)": FILE,
    r"cli/test_episodes.*reading_creates_no_file|cli/test_search.*missing_file": FILE,
    r"cli/test_erasing.*a_selection_is_erased_with_yes": FILE,
    r"cli/test_(episodes|facts).*erase_without_a_terminal": BYTES,
    r"cli/test_erasing.*(newest_of_a_chain|names_the_facts_that_stay)": BYTES,
    r"cli/test_erasing.*prove_(says|after_a_refusal)": BYTES,
    r"cli/test_file.*(readable_by_others|backup|recover|that_is_not_a_database)": FILE,
    r"cli/test_file.*(doctor_finds_and_repairs|irreparable|url_of_another_database)": FILE,
    r"cli/test_file.*invalid_schedule.*every must be 60": FILE,
    r"cli/test_file.*(through_a_pipe|import_of_a_damaged)": OTHER_FILE,
    r"cli/test_file.*(status_counts|between_files)": MEMORIES,
    r"cli/test_(rendering.*other_namespaces|search.*reaches_other_namespaces)": MEMORIES,
    r"mcp/test_opening.*replaced_file|mcp/test_options.*creates_backups": FILE,
    r"mcp/test_options.*durability": DURABILITY,
    r"mcp/test_options.*(default_file_of_another|file_or_embedder_chosen.*flags1)": (
        "the default is a file"
    ),
    r"http/test_metrics.*pending_and_indexes": "there is a pool of connections there",
    r"http/test_readiness.*writer_of_another_program": "it takes SQLite's locks",
    r"web/test_erase.*with_a_plan_and_a_proof": BYTES,
    r"hosts/test_(hook|prompted|setup)|test_chosen_owners.*setup_chooses_the_only_user": HOSTS,
    r"web/test_home.*(text_is_that_of_the_hook|nothing_bears_on_adds_nothing)": HOSTS,
    r"hosts/test_hostile_transcripts.*what_hooks_could_not_do_is_told": HOSTS,
    r"test_lines_removed_from_the_end_are_noticed_with_a_head": FILE,
}
"""Patterns of the ids of tests, and why they do not apply."""


def difference(nodeid: str) -> str | None:
    """Return why a test is about files only; ``None`` if it is not."""
    return next((why for which, why in DIFFERENCES.items() if re.search(which, nodeid)), None)


class Database:
    """A database opened like a file by ``raw``: rows changed there are fed and counted, too."""

    def __init__(self, transaction: PostgresTransaction) -> None:
        self._transaction = transaction
        self.row_factory: object = None
        """If it is set, rows are mappings, as with ``sqlite3.Row``."""

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        if "TRIGGER" in statement or "sqlite_schema" in statement:
            return _Found([], [])  # there are no triggers here
        if statement == "PRAGMA foreign_keys = OFF":
            self._transaction.connection.execute("SET session_replication_role = replica")
            return _Found([], [])
        if (table := re.fullmatch(r"PRAGMA table_info\((\w+)\)", statement)) is not None:
            names = [name for name in tables.columns()[table[1]] if name not in ADDED]
            return _Found([*enumerate(names)], ["cid", "name"])
        try:
            return self._sent(statement, values)
        except (StorageError, psycopg.Error) as error:
            self.rollback()
            raise raw.IntegrityError(str(error)) from error

    def _sent(self, statement: str, values: Sequence[Any]) -> Any:
        names = iter(range(len(values)))
        statement = re.sub(r"\bhex\((\w+)\)", r"upper(encode(\1, 'hex'))", statement)
        blobs: dict[str, Any] = {}

        def bound(blob: bytes) -> str:
            """Return a parameter: the code of a vector is computed from its value."""
            name = f"blob_{len(blobs)}"
            blobs[name] = blob
            return f":{name}"

        statement = re.sub(r"\bx'(\w*)'", lambda found: bound(bytes.fromhex(found[1])), statement)
        statement = re.sub(
            r"\bembedding = '(.*?)'",
            lambda found: f"embedding = {bound(found[1].encode())}",
            statement,
        )
        named = re.sub(r"\?", lambda _: f":value_{next(names)}", statement)
        given = blobs | {f"value_{place}": value for place, value in enumerate(values)}
        if re.match(r"\s*(SELECT|WITH)", named) is None:
            self._transaction.run(written.form(named), given)
            return _Found([], [])
        rows = [*self._transaction.rows(named, given)]
        columns = self._transaction.columns()
        shown = [place for place, name in enumerate(columns) if name not in ADDED]
        found = [tuple(row[place] for place in shown) for row in rows]
        names_shown = [columns[place] for place in shown]
        if self.row_factory is not None:
            return _Found(
                [_Named(zip(names_shown, row, strict=True)) for row in found], names_shown
            )
        return _Found(found, names_shown)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        for values in rows:
            self.execute(statement, values)

    def executescript(self, script: str) -> None:
        for statement in filter(None, map(str.strip, script.split(";"))):
            self.execute(statement)

    def iterdump(self) -> Iterator[str]:
        """Yield every row of the tenant as text, table by table."""
        for table, columns in sorted(tables.columns().items()):
            if columns and table in tables.scoped():
                rows = self._transaction.rows(f"SELECT {', '.join(columns)} FROM {table}")
                yield from sorted(f"{table} {row!r}" for row in rows)

    def commit(self) -> None:
        self._transaction.finish()
        self._transaction.connection.execute("BEGIN")

    def rollback(self) -> None:
        self._transaction.connection.execute("ROLLBACK")
        self._transaction.connection.execute("BEGIN")


ADDED = ("tenant", "words", "asked_hash", "code")
"""The columns that files do not have."""


class _Named(dict[Any, Any]):
    """A row whose values have names and places."""

    def __missing__(self, place: int) -> Any:
        return [*self.values()][place]


class _Found(list[Any]):
    def __init__(self, rows: list[Any], columns: Sequence[str]) -> None:
        super().__init__(rows)
        self.description = [(name,) for name in columns]

    def fetchall(self) -> list[Any]:
        return self

    def fetchone(self) -> Any:
        return self[0] if self else None


@contextmanager
def _database(url: str) -> Iterator[Database]:
    with Connection.connect(url, autocommit=True) as connection:
        pools.configure(connection)
        connection.execute("BEGIN")
        row = connection.execute(
            f"SELECT {tenant_cache.COLUMNS} FROM memstore_tenants WHERE tenant = 'default'"
        ).fetchone()
        state = None if row is None else tenant_cache.TenantRow(*row)
        yield Database(PostgresTransaction(connection, "default", lambda *_: None, state))
        connection.execute("ROLLBACK")


FILES: Final = opening._engine
ASIDE: Final = opening._aside


class Places:
    """The databases that stand for paths: those of a module's fixtures, or of a test."""

    def __init__(self, outer: Places | None) -> None:
        self.urls: ChainMap[str, str] = ChainMap({}, *(outer.urls.maps if outer else ()))
        """The URL of the database that stands for a path."""
        self.paths: ChainMap[str, str] = ChainMap({}, *(outer.paths.maps if outer else ()))
        """The path for which a database is opened, by the database's address."""


@contextmanager
def at_a_url(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the URL of a database, which the programs themselves open."""
    url = databases.take()
    for name in (url, DatabaseAddress(url).shown):
        monkeypatch.setitem(raw.SERVED, name, partial(_database, url))
        own = partial(PostgresEngine, url, "default", "default")
        monkeypatch.setitem(engines.SERVED, name, own)
    yield url
    databases.give_back(url)


@contextmanager
def instead_of_files(
    databases: Databases, monkeypatch: pytest.MonkeyPatch, outer: Places | None = None
) -> Iterator[Places]:
    """Open a database for each path, and the same one for the same path.

    A memory without a file is a database of its own each time that it is opened. Only imports that
    are tried out first keep theirs in this process.

    Args:
        outer: those of the module, for a test.
    """
    trying_out = threading.local()
    known = Places(outer)
    urls, places = known.urls, known.paths
    opened: list[PostgresEngine] = []

    def engine(path: Any, namespaces: Sequence[str], *rest: Any, **options: Any) -> Any:
        is_known = path is not None and os.fspath(path) in places
        if not is_known and (
            path is None
            or hasattr(trying_out, "memory")
            or paths.is_server(path)
            or os.path.exists(path)
        ):
            return FILES(path, namespaces, *rest, **options)
        if os.fspath(path) == ":memory:":
            place = f":memory: {len(urls)}"
        else:
            place = places.get(os.fspath(path)) or os.path.abspath(os.path.expanduser(path))
        if place not in urls:
            urls[place] = databases.take()
        # One tenant, whatever namespace is opened first: a file has no others.
        engine = PostgresEngine(
            urls[place], namespaces[0], "default", wait_seconds=rest[1], **options
        )
        opened.append(engine)
        places[engine.path] = place
        serve(place, place, os.fspath(path), engine.path)
        return engine

    def serve(place: str, *names: str) -> None:
        for name in {*names} - {":memory:"}:
            monkeypatch.setitem(raw.SERVED, name, partial(_database, urls[place]))
            own = partial(PostgresEngine, urls[place], "default", "default")
            monkeypatch.setitem(engines.SERVED, name, own)

    def copy(source: str, target: str) -> None:
        if (url := urls.get(os.path.abspath(source))) is None:  # it is an empty file
            return
        if paths.is_server(target):
            databases.copy(url, target)
        else:
            urls[target] = databases.copy(url)
            serve(target, target)

    def try_out() -> Any:
        trying_out.memory = True
        try:
            return ASIDE()
        finally:
            del trying_out.memory

    monkeypatch.setattr(opening, "_engine", engine)
    monkeypatch.setattr(opening, "_aside", try_out)
    monkeypatch.setattr(engines, "COPYING", [copy])
    yield known
    for engine in opened:
        with suppress(Exception):
            engine.close()
    for url in urls.maps[0].values():
        databases.give_back(url)
