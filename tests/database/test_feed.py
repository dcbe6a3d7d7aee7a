"""The feeds list every change that a search could see, by any program, and no other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.raw import raw

from memstore import Store

FACT_CHANGES: dict[str, Callable[[Store], Any]] = {
    "add": lambda s: s.add("rain", subject="x"),
    "supersede": lambda s: s.add("rain", subject="tea", supersedes=1),
    "delete": lambda s: s.delete(1),
    "erase": lambda s: s.erase(1),
}
UNSEEN: dict[str, Callable[[Store], Any]] = {
    "touch": lambda s: s.searches.note_use([1]),
    "read": lambda s: s.get(1),
    "list": lambda s: s.list(),
}
PLAIN_SQL = {
    "a new fact": (
        "INSERT INTO memstore_facts (content, subject, category, created_at, namespace, uuid,"
        " subject_key) VALUES ('rain', 'x', 'note', '2026', 'default', 'u', 'x')",
        3,
    ),
    "a fact removed": ("DELETE FROM memstore_facts WHERE id = 2", 2),
    "another text": ("UPDATE memstore_facts SET content = 'rain' WHERE id = 2", 2),
    "another namespace": ("UPDATE memstore_facts SET namespace = 'n' WHERE id = 2", 2),
    "an owner": ("UPDATE memstore_facts SET user_id = 'ana' WHERE id = 2", 2),
    "an expiry": ("UPDATE memstore_facts SET expired_at = '2026' WHERE id = 2", 2),
    "a place": ("UPDATE memstore_facts SET thread = 't', seq = 1 WHERE id = 2", 2),
    "when it held": ("UPDATE memstore_facts SET valid_at = '2026' WHERE id = 2", 2),
    "when it was learned": ("UPDATE memstore_facts SET created_at = '2026' WHERE id = 2", 2),
    "when it was confirmed": (
        "UPDATE memstore_facts SET last_confirmed_at = '2026' WHERE id = 2",
        2,
    ),
    "no vector": ("UPDATE memstore_fact_vectors SET embedding = NULL WHERE fact_id = 2", 2),
    "no place": ("DELETE FROM memstore_fact_vectors WHERE fact_id = 2", 2),
}


def seen(path: Path, feed: str = "memstore_fact_changes") -> list[tuple[int, ...]]:
    with raw(path) as file:
        return list(file.execute(f"SELECT * FROM {feed} ORDER BY seq"))


@pytest.fixture
def filled(store: Store) -> Store:
    for text in ("tea", "coffee"):
        store.add(text, subject=text)
    return store


@pytest.mark.parametrize("change", FACT_CHANGES)
def test_feed_reports_changes_of_facts(filled: Store, path: Path, change: str) -> None:
    before = seen(path)
    FACT_CHANGES[change](filled)
    after = seen(path)
    assert after[: len(before)] == before
    assert [seq for seq, _ in after] == [*range(1, len(after) + 1)]
    newest = max(fact.id for fact in filled.list(active_only=False))
    told = {id_ for _, id_ in after[len(before) :]}
    assert told == {"delete": {1}, "erase": {1}, "supersede": {1, newest}}.get(change, {newest})


@pytest.mark.parametrize("use", UNSEEN)
def test_feed_leaves_out_changes_that_do_not_affect_search(
    filled: Store, path: Path, use: str
) -> None:
    before = seen(path)
    UNSEEN[use](filled)
    assert seen(path) == before


@pytest.mark.parametrize("change", PLAIN_SQL)
def test_feed_includes_changes_by_other_programs(filled: Store, path: Path, change: str) -> None:
    filled.close()
    command, fact_id = PLAIN_SQL[change]
    before = seen(path)
    with raw(path) as file:
        file.execute(command)
        file.commit()
    assert {id_ for _, id_ in seen(path)[len(before) :]} == {fact_id}


def test_feed_reports_changes_of_episodes_and_their_vectors(store: Store, path: Path) -> None:
    feed = "memstore_episode_changes"
    store.episodes.add("tea and rain", source="s")
    assert {row[1:] for row in seen(path, feed)} == {(1, None)}
    before = len(seen(path, feed))
    store.file.embed_pending()
    assert {row[1:] for row in seen(path, feed)[before:]} == {(1, 1)}
    before = len(seen(path, feed))
    store.episodes.erase(1)
    assert {row[1:] for row in seen(path, feed)[before:]} == {(1, None), (1, 1)}


def test_feed_leaves_out_vectors_that_are_not_searched_yet(filled: Store, path: Path) -> None:
    before = seen(path)
    with raw(path) as file:
        file.execute(
            "INSERT INTO memstore_generations (model, dimension, state, created_at)"
            " VALUES ('next', 2, 'staged', '2026')"
        )
        file.execute(
            "INSERT INTO memstore_fact_vectors (generation_id, fact_id, embedding)"
            " SELECT max(id), 1, x'0000000000000000' FROM memstore_generations"
        )
        file.commit()
    assert seen(path) == before


@pytest.mark.parametrize("feed", ["memstore_fact_changes", "memstore_episode_changes"])
def test_only_the_newest_lines_are_kept(store: Store, path: Path, feed: str) -> None:
    store.close()
    with raw(path) as file:
        file.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 201000)"
            f" INSERT INTO {feed} (id) SELECT i FROM n"
        )
        file.commit()
    rows = seen(path, feed)
    assert (rows[0][0], rows[-1][0], len(rows)) == (1001, 201000, 200000)
