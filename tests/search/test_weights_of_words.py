"""What was erased, or is not searched, counts in no weight of a word: the order is another's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

import memstore
from memstore import Store
from memstore.database.sqlite import full_text
from memstore.domain import clock

AT = clock.utc_now() - timedelta(days=1)

WORDS = "tea cats ferry harbour violin moon river".split()
QUERIES = ("tea", "cats ferry", "violin moon river", "harbour")

texts = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join), min_size=2, max_size=12
)


def fill(store: Store, contents: Sequence[str]) -> list[tuple[int, int]]:
    """Store each text as a fact and as a turn; return their ids."""
    return [
        (
            store.add(text, subject=f"s{len(text) % 3}", created_at=AT).id,
            store.episodes.add(text, source="chat", thread="t", valid_at=AT).id,
        )
        for text in contents
    ]


def answers(store: Store) -> list[list[tuple[str, float]]]:
    """Return what searches of both kinds find, with and without vectors, in classic and ours."""
    found = []
    for query in QUERIES:
        for ranking in ("classic", "contextual"):
            asked = {"ranking": ranking, "min_relevance": 0, "limit": 50}
            facts = store.search(query, **asked, half_lives_seconds={}, touch=False)  # type: ignore[arg-type]
            turns = store.episodes.search(query, **asked)  # type: ignore[arg-type]
            found.append([(hit.fact.content, round(hit.score, 6)) for hit in facts])
            found.append([(hit.episode.content, round(hit.score, 6)) for hit in turns])
    return [sorted(each, key=lambda one: (-one[1], one[0])) for each in found]


def bm25(store: Store) -> list[list[tuple[float, str]]]:
    """Return what the full-text indexes alone find."""
    every = ((index, word) for index in (full_text.FACTS, full_text.EPISODES) for word in WORDS)
    with store.file.engine.read() as transaction:
        return [
            [
                (round(score, 9), str(content))
                for score, content in transaction.rows(
                    f"SELECT bm25({index.name}) AS score, {index.alias}.content FROM {index.name}"
                    f" JOIN {index.rows} ON {index.alias}.id = {index.name}.rowid"
                    f" WHERE {index.name} MATCH :word ORDER BY score, {index.alias}.content",
                    {"word": word},
                )
            ]
            for index, word in every
        ]


@pytest.mark.parametrize("opened_before", [False, True])
@given(contents=texts, data=st.data())
@settings(
    max_examples=examples(30),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
def test_an_erased_memory_ranks_as_one_that_never_held_the_text(
    tmp_path_factory: pytest.TempPathFactory,
    opened_before: bool,
    contents: list[str],
    data: st.DataObject,
) -> None:
    erased = data.draw(st.sets(st.sampled_from(range(len(contents))), min_size=1))
    folder = tmp_path_factory.mktemp("weights")
    with (
        memstore.open(folder / "a.db", embedder="local") as held,
        memstore.open(folder / "b.db", embedder="local") as never,
    ):
        ids = fill(held, contents)
        if opened_before:
            answers(held)
        for place in erased:
            held.erase(ids[place][0])
            held.episodes.erase(ids[place][1])
        fill(never, [text for place, text in enumerate(contents) if place not in erased])
        assert bm25(held) == bm25(never)
        assert answers(held) == answers(never)


def test_the_same_from_mapped_files_and_after_a_rebuild(
    tmp_path: Path,
) -> None:
    contents = [f"{WORDS[i % 7]} {WORDS[i * 3 % 7]} note {i}" for i in range(60)]
    with memstore.open(tmp_path / "b.db", embedder="local") as never:
        fill(never, contents[40:])
        expected, words = answers(never), bm25(never)
    with memstore.open(tmp_path / "a.db", embedder="local") as held:
        ids = fill(held, contents)
        answers(held)
        held.file.save_index()
        for fact_id, episode_id in ids[:40]:
            held.erase(fact_id)
            held.episodes.erase(episode_id)
        assert answers(held) == expected
        held.file.save_index()
    with memstore.open(tmp_path / "a.db", embedder="local") as again:
        assert answers(again) == expected
        for index in (full_text.FACTS, full_text.EPISODES):
            for step in index.rebuilding():
                with again.file.engine.write() as transaction:
                    step(transaction)
            with again.file.engine.write() as transaction:
                assert index.check(transaction) is None
        assert bm25(again) == words
        assert answers(again) == expected


def test_what_is_not_searched_changes_no_order(open_store: Callable[..., Store]) -> None:
    store = open_store(embedder="local")
    fill(store, ["tea and cats", "the ferry to the harbour", "violin and moon"])
    before, words = answers(store), bm25(store)
    for place in range(20):
        store.add(f"tea {place} cats ferry", subject="file", unsearched=True)
    assert bm25(store) == words
    assert answers(store) == before


def test_a_rebuild_takes_in_what_is_stored_and_erased_meanwhile(
    open_store: Callable[..., Store],
) -> None:
    store = open_store()
    ids = fill(store, [f"tea {place} {WORDS[place % 7]}" for place in range(230)])
    steps = full_text.FACTS.rebuilding()
    for number, step in enumerate(steps):
        with store.file.engine.write() as transaction:
            step(transaction)
        if number == 1:
            store.erase(ids[5][0])  # indexed already
            store.erase(ids[220][0])  # not yet
            store.add("harbour", subject="s")
    with store.file.engine.write() as transaction:
        assert full_text.FACTS.check(transaction) is None
        count = transaction.scalar("SELECT count(*) FROM memstore_facts_fts_docsize")
    assert count == 229


def test_a_file_of_a_build_that_counted_erased_rows(tmp_path: Path) -> None:
    with memstore.open(tmp_path / "a.db", embedder=None) as store:
        ids = fill(store, ["tea and cats", "ferry", "harbour tea"])
        store.erase(ids[1][0])
        words = bm25(store)
        with store.file.engine.write() as transaction:
            transaction.execute(
                "DROP TRIGGER memstore_episodes_ai; DROP TRIGGER memstore_episodes_au;"
                "DROP TABLE memstore_episodes_fts; DROP VIEW memstore_episodes_words"
            )
            transaction.execute("INSERT INTO memstore_facts_fts (rowid, content) VALUES (2, '')")
    with memstore.open(tmp_path / "a.db", embedder=None) as again:
        assert bm25(again) == words
        assert again.episodes.search("ferry", mode="words")
        assert again.file.doctor() == []
