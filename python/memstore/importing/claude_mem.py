"""claude-mem's observations, summaries and prompts: its SQLite file, or its export as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memstore.database.foreign import sqlite_file
from memstore.errors import StorageError
from memstore.importing import long_json, texts, values
from memstore.importing.long_json import JsonForm
from memstore.importing.records import Damaged, Dump, Imported, Skipped, identity, key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from memstore.database.engine import Progress
    from memstore.importing.records import Found

NAME: Final = "claude-mem"
OBSERVATIONS: Final = "observations"
SUMMARIES: Final = "session_summaries"
PROMPTS: Final = "user_prompts"
SESSIONS: Final = "sdk_sessions"
SESSION: Final = ("memory_session_id", "sdk_session_id")
"""Columns of the id of a session, newest layout first."""
CONTENT_SESSION: Final = ("content_session_id", "claude_session_id")
"""Columns of the host's own id of a session."""
SECTIONS: Final = ("request", "investigated", "learned", "completed", "next_steps", "notes")
OF_OBSERVATIONS: Final = ("facts", "narrative", "title", "subtitle", "text", "concepts")
TITLES: Final = ("title", "subtitle")
LISTS: Final = ("concepts", "files_read", "files_modified")
COLUMNS: Final = frozenset({
    "id", *SESSION, *CONTENT_SESSION, *SECTIONS, *LISTS, "project", "merged_into_project", "text",
    "type", "title", "subtitle", "facts", "narrative", "prompt_number", "prompt_text",
    "created_at", "created_at_epoch",
})  # fmt: skip
MILLISECOND: Final = 0.001
NO_PROJECT: Final = "claude-mem"


def _table(row: Mapping[str, Any]) -> str | None:
    """Return the table that a row is of, by its columns."""
    if row.get("prompt_text") is not None:
        return PROMPTS
    if any(row.get(name) is not None for name in SECTIONS[:-1]):
        return SUMMARIES
    if any(row.get(name) is not None for name in OF_OBSERVATIONS):
        return OBSERVATIONS
    return SESSIONS if _first(row, CONTENT_SESSION) else None


def is_typical(row: Mapping[str, Any]) -> bool:
    """Return whether a row can only be one of this program."""
    return bool(row.keys() & {"narrative", "prompt_text", *SESSION, *CONTENT_SESSION})


FORM: Final = JsonForm(
    f"a row of {NAME}",
    lambda row: _table(row) is not None,
    frozenset({OBSERVATIONS, "summaries", "prompts", "sessions"}),
)
EXPECTED: Final = (
    'its SQLite file is expected, or its export: {"observations": […], "summaries": […], '
    '"prompts": […], "sessions": […]}'
)


def found(path: Path, progress: Progress | None = None) -> Iterator[Found]:
    reader = _RowReader(Dump.of(NAME, path))
    if sqlite_file.is_sqlite(path):
        yield from _of_database(path, reader, progress)
    else:
        yield from _of_export(path, reader)


def _of_database(path: Path, reader: _RowReader, progress: Progress | None) -> Iterator[Found]:
    with sqlite_file.opened(path) as transaction:
        counted = sqlite_file.tables(transaction)
        if OBSERVATIONS not in counted and SUMMARIES not in counted:
            raise StorageError(f"{path} holds no observations of {NAME}")
        total, done = sum(counted.values()), 0
        for table in (SESSIONS, OBSERVATIONS, SUMMARIES, PROMPTS):
            for number, row in sqlite_file.rows(transaction, table, COLUMNS):
                yield from reader.read(table, f"{table} {row.get('id', number)}", row)
            done += counted.pop(table, 0)
            if progress is not None:
                progress(done, total)
        for table, count in counted.items():
            if count and not table.startswith("schema_"):
                yield Skipped(f"table {table}", f"{count} rows", count)


def _of_export(path: Path, reader: _RowReader) -> Iterator[Found]:
    # Sessions come after the observations, so they are read first.
    for sessions in (True, False):
        with texts.reading(path) as file:
            for item in long_json.records(file, FORM):
                if isinstance(item, long_json.JsonItem):
                    table = _table(item.value)
                    if (table == SESSIONS) == sessions and table is not None:
                        yield from reader.read(table, item.place, item.value)
                elif not sessions:
                    yield item


class _RowReader:
    def __init__(self, dump: Dump) -> None:
        self._dump = dump
        self._number = 0
        self._sessions: dict[str, tuple[str, str | None]] = {}
        """The session and the project for the host's own id of a session."""

    def read(self, table: str, place: str, row: Mapping[str, Any]) -> Iterator[Found]:
        read = {
            SESSIONS: self._session,
            OBSERVATIONS: self._observation,
            SUMMARIES: self._summary,
            PROMPTS: self._prompt,
        }[table]
        try:
            yield from list(read(place, row))
        except (ValueError, TypeError) as error:
            yield Damaged(place, str(error))

    def _session(self, place: str, row: Mapping[str, Any]) -> Iterator[Found]:
        host, session = _first(row, CONTENT_SESSION), _first(row, SESSION)
        if host:
            self._sessions[host] = (session or host, values.text(row.get("project")))
        yield from ()

    def _observation(self, place: str, row: Mapping[str, Any]) -> Iterator[Found]:
        common = self._common(row, _first(row, SESSION))
        about = {name: listed for name in LISTS if (listed := values.texts(row.get(name), name))}
        facts = values.texts(row.get("facts"), "facts")
        narrative = values.text(row.get("narrative")) or values.text(row.get("text"))
        if not facts and not narrative:
            narrative = "\n".join(text for name in TITLES if (text := values.text(row.get(name))))
        for content in facts:
            columns = {
                **common,
                "subject": common["namespace"] or NO_PROJECT,
                "category": values.name(row.get("type")),
                "metadata": about,
            }
            yield self._record(place, "fact", content, columns, row, as_fact=True)
        if narrative:
            columns = {**common, "name": values.name(row.get("title")), "metadata": about}
            yield self._record(place, "narrative", narrative, columns, row)
        if not facts and not narrative:
            yield Skipped("observations without text", place)

    def _summary(self, place: str, row: Mapping[str, Any]) -> Iterator[Found]:
        parts = [
            f"{name.replace('_', ' ').capitalize()}: {text}"
            for name in SECTIONS
            if (text := values.text(row.get(name)))
        ]
        if not parts:
            yield Skipped("summaries without text", place)
            return
        columns = {**self._common(row, _first(row, SESSION)), "tags": ["summary"]}
        columns["name"] = values.name(row.get("request"))
        yield self._record(place, "summary", "\n".join(parts), columns, row)

    def _prompt(self, place: str, row: Mapping[str, Any]) -> Iterator[Found]:
        text = values.text(row.get("prompt_text"))
        if text is None:
            yield Skipped("prompts without text", place)
            return
        host = _first(row, CONTENT_SESSION)
        session, project = self._sessions.get(host or "", (host, None))
        columns = {**self._common(row, session), "speaker": "user"}
        columns["namespace"] = columns["namespace"] or project
        yield self._record(place, "prompt", text, columns, row)

    def _common(self, row: Mapping[str, Any], session: str | None) -> dict[str, Any]:
        epoch = values.moment(row.get("created_at_epoch"), "created_at_epoch", MILLISECOND)
        project = values.text(row.get("merged_into_project")) or values.text(row.get("project"))
        return {
            "namespace": project,
            "source": NAME,
            "created_at": epoch or values.text(row.get("created_at")),
            "thread": session,
            # Milliseconds order what belongs to one session.
            "seq": row.get("created_at_epoch") if session and epoch is not None else None,
        }

    def _record(
        self,
        place: str,
        kind: str,
        content: str,
        columns: Mapping[str, Any],
        row: Mapping[str, Any],
        *,
        as_fact: bool = False,
    ) -> Imported:
        self._number += 1
        # Any two of its files have an observation 1.
        parts = (kind, columns["thread"], row.get("created_at_epoch") or row.get("created_at"))
        known = identity(NAME, *parts, content)
        make = self._dump.fact if as_fact else self._dump.episode
        origin = {"id": row.get("id"), "kind": kind, "project": columns["namespace"]}
        whole = {"content": content, "idempotency_key": key(NAME, known), **columns}
        return Imported(place, make(self._number, known, whole, origin))


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := values.text(row.get(name)))), None)
