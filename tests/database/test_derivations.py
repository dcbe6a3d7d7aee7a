"""A file's triggers keep what is described, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.raw import raw

import memstore
from memstore.database import derivations
from memstore.database.derivations import MEMBERS, TAGS, Counting, Feeding
from memstore.domain.records import SCOPE_FIELDS

OWNERS = [f"coalesce({{row}}.{name}, '')" for name in SCOPE_FIELDS]
COUNT = ", ".join(derivations.COUNT_COLUMNS[:-1])


def plain(sql: str) -> str:
    """Return a statement without comments, in one line."""
    return re.sub(r"\s+", " ", re.sub(r"--.*", "", sql)).strip()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The triggers and views of a new file."""
    path: Path = tmp_path_factory.mktemp("file") / "memory.db"
    memstore.open(path, embedder=None).close()
    with raw(path) as file:
        rows = file.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
        return {name: plain(sql) for name, sql in rows}


def trigger(name: str, when: str, table: str, body: str, test: str = "") -> str:
    condition = f" WHEN {test}" if test else ""
    return f"CREATE TRIGGER {name} {when} ON {table}{condition} BEGIN {body} END"


def fed(feeding: Feeding) -> Iterator[tuple[str, str]]:
    """Yield the triggers that feed the changes of a table."""
    has = f"{{row}}.{feeding.has} IS NOT NULL AND " if feeding.has else ""
    columns = "id, piece_id" if feeding.piece else "id"
    values = ", ".join(filter(None, (feeding.id, feeding.piece)))
    values = f"SELECT {values}" if "SELECT" in values else f"VALUES ({values})"
    body = f"INSERT INTO {feeding.feed} ({columns}) {values};"
    changed = f"AFTER UPDATE OF {', '.join(feeding.changed)}"
    for is_so, what, when, row, test in (
        (feeding.added, "added", "AFTER INSERT", "new", has + feeding.test),
        (feeding.removed, "removed", "AFTER DELETE", "old", has + feeding.test),
        (bool(feeding.changed), "changed", changed, "new", feeding.test),
    ):
        if is_so:
            name = f"{feeding.name}_{what}"
            sql = trigger(name, when, feeding.table, body, test)
            yield name, sql.replace("{row}", row)


def test_the_feeds_get_what_is_described(stored: dict[str, str]) -> None:
    feeds = (derivations.FACT_FEED, derivations.EPISODE_FEED)
    held = {
        name: sql for name, sql in stored.items() if any(f"INTO {feed} " in sql for feed in feeds)
    }
    assert held == dict(one for feeding in derivations.FED for one in fed(feeding))


def counted(counting: Counting) -> str:
    """Return the view of what each row counts as."""
    kind = counting.table.removeprefix("memstore_").removesuffix("s")
    view = f"{counting.table}_counted"
    rows = " UNION ALL ".join(
        f"SELECT {{row}}.namespace, '{count.kind}', {', '.join(OWNERS)}, {count.key}, {{row}}.id"
        f" FROM {counting.table}{f' WHERE {count.test}' if count.test else ''}"
        for count in counting.counts
    )
    return f"CREATE VIEW {view} ({COUNT}, {kind}_id) AS {rows}".replace("{row}.", "")


def counting_triggers(counting: Counting) -> Iterator[tuple[str, str]]:
    """Yield the triggers that count a row as its columns change."""
    view = f"{counting.table}_counted"
    key = f"{counting.table.removeprefix('memstore_').removesuffix('s')}_id"
    columns = ", ".join(counting.changed)
    for what, when, row, number in (
        ("bu", "BEFORE", "old", -1),
        ("au", "AFTER", "new", 1),
    ):
        body = (
            f"INSERT INTO memstore_count_changes SELECT {COUNT}, {number} FROM {view}"
            f" WHERE {key} = {row}.id;"
        )
        name = f"{view}_{what}"
        yield name, trigger(name, f"{when} UPDATE OF {columns}", counting.table, body)


@pytest.mark.parametrize("counting", derivations.COUNTED, ids=lambda one: one.table)
def test_rows_count_as_is_described(counting: Counting, stored: dict[str, str]) -> None:
    assert stored[f"{counting.table}_counted"] == counted(counting)
    for name, sql in counting_triggers(counting):
        assert stored[name] == sql


def test_a_new_fact_counts_as_is_described(stored: dict[str, str]) -> None:
    """It is counted without reading its row, so the counts are written there, too."""
    [counting] = [one for one in derivations.COUNTED if one.table == "memstore_facts"]
    first, *others = (
        (f"'{one.kind}'", one.key, f" WHERE {one.test}" if one.test else "")
        for one in counting.counts
    )
    rows = f"SELECT {first[0]} AS kind, {first[1]} AS key{first[2]} "
    rows += " ".join(f"UNION ALL SELECT {kind}, {key}{test}" for kind, key, test in others)
    body = (
        f"INSERT INTO memstore_counts SELECT {{row}}.namespace, counted.kind,"
        f" {', '.join(OWNERS)}, counted.key, 1 FROM ( {rows} ) AS counted WHERE TRUE ON CONFLICT"
        " (namespace, kind, user_id, agent_id, run_id, key) DO UPDATE SET number = number + 1;"
    )
    name = "memstore_facts_counted_added"
    test = "(new.claim_hash IS NOT NULL AND new.category_key <> '') OR new.content = ''"
    sql = trigger(name, "AFTER INSERT", "memstore_facts", body, test).replace("{row}", "new")
    assert stored[name] == sql


def test_members_are_of_the_described_column(stored: dict[str, str]) -> None:
    view = f"{MEMBERS.table}_read"
    assert stored[view].startswith(f"CREATE VIEW {view} ({', '.join(MEMBERS.columns)}) AS ")
    adding = (
        f"INSERT OR IGNORE INTO {MEMBERS.table} SELECT * FROM {view} WHERE {MEMBERS.id} = new.id;"
    )
    removing = (
        f"DELETE FROM {MEMBERS.table} WHERE ({', '.join(MEMBERS.columns)}) IN"
        f" (SELECT * FROM {view} WHERE {MEMBERS.id} = old.id);"
    )
    for what, when, body, row in (
        ("ai", "AFTER INSERT", adding, "new"),
        ("bd", "BEFORE DELETE", removing, "old"),
        ("bu", f"BEFORE UPDATE OF {MEMBERS.column}", removing, "old"),
        ("au", f"AFTER UPDATE OF {MEMBERS.column}", adding, "new"),
    ):
        name, test = f"{MEMBERS.table}_{what}", f"{row}.{MEMBERS.column} IS NOT NULL"
        assert stored[name] == trigger(name, when, MEMBERS.of, body, test)


def test_tags_are_of_the_described_column(stored: dict[str, str]) -> None:
    adding = (
        f"INSERT INTO {TAGS.table} ({', '.join(TAGS.columns)})"
        f" SELECT DISTINCT value, new.id FROM json_each(new.{TAGS.column});"
    )
    removing = f"DELETE FROM {TAGS.table} WHERE {TAGS.id} = old.id;"
    name = "memstore_episodes_tagged"
    when = f"AFTER UPDATE OF {TAGS.column}"
    assert stored[name] == trigger(name, when, TAGS.of, f"{removing} {adding}")
    assert adding in stored["memstore_episodes_ai"]
