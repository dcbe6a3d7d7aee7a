"""Searching episodes: by words, by meaning, with filters that apply before ranking."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.embedders import WordEmbedder
from tests.support.examples import examples

import memstore
from memstore import (
    EmbedderRejected,
    EmbedderUnavailable,
    EpisodeHit,
    EpisodeHits,
    NewEpisode,
    Scope,
    Store,
)
from memstore.database.filters import EpisodeFilter
from memstore.database.sqlite.engine import SqliteEngine
from memstore.database.tables import episodes as episode_table
from memstore.domain import clock
from memstore.search.requests import MIN_CANDIDATES, MODES
from memstore.text import chunks

Open = Callable[..., Store]

EACH_MODE = pytest.mark.parametrize("mode", MODES)
FILLER = "lorem ipsum dolor sit amet consectetur. " * 40


def ids(hits: Sequence[EpisodeHit]) -> list[int]:
    return [hit.episode.id for hit in hits]


def embed(store: Store) -> None:
    """Embed everything that is pending."""
    assert store.file.embed_pending().left == 0


@pytest.fixture
def log(store: Store) -> Store:
    """A store with a small log, all of it embedded."""
    store.episodes.add_many(
        [
            NewEpisode(content="the harbour froze in january", source="mail", tags=["ice", "sea"]),
            NewEpisode(content="ice cream on the pier", source="chat", tags=["ice"]),
            NewEpisode(content="a violin for sale", source="mail"),
            NewEpisode(content="violin lessons at the pier in january", source="chat"),
        ]
    )
    embed(store)
    return store


# -- the score -----------------------------------------------------------------------------------


def cosine(query: str, content: str) -> float:
    one, other = WordEmbedder().embed([query, content]).astype(np.float64)
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


@EACH_MODE
def test_score_equals_the_documented_formula(log: Store, mode: str) -> None:
    query, alpha = "pier january", 0.7
    hits = log.episodes.search(query, mode=mode, alpha=alpha)
    assert hits.words_only is None
    assert hits.newest_first == 0
    assert ids(hits)[0] == 4
    weight = {"words": 0.0, "meaning": 1.0, "hybrid": alpha}[mode]
    for hit in hits:
        near = cosine(query, hit.episode.content)
        assert hit.similarity == (None if mode == "words" else pytest.approx(near, abs=1e-5))
        score = (1 - weight) * hit.word_score + weight * max(0.0, hit.similarity or 0.0)
        assert hit.score == pytest.approx(score, abs=1e-5)
    assert [hit.score for hit in hits] == sorted((h.score for h in hits), reverse=True)
    assert (hits[0].word_score == 0) == (mode == "meaning")


@pytest.mark.parametrize(("alpha", "mode"), [(0.0, "words"), (1.0, "meaning")])
def test_extreme_alpha_ranks_by_one_mode_alone(log: Store, alpha: float, mode: str) -> None:
    query = "violin in january"
    assert ids(log.episodes.search(query, alpha=alpha)) == ids(
        log.episodes.search(query, mode=mode)
    )


def why(hits: EpisodeHits) -> str | None:
    return hits.words_only and hits.words_only.code


def test_search_by_words_calls_no_model(log: Store, embedder: WordEmbedder) -> None:
    embedder.calls.clear()
    assert ids(log.episodes.search("violin", mode="words", limit=1)) == [3]
    assert log.episodes.search("nothing of the sort", mode="words") == []
    log.episodes.search()
    assert embedder.calls == []


@pytest.mark.parametrize("query", [None, "", "  \n", "\x00"])
def test_without_a_query_the_newest_come_first(log: Store, query: str | None) -> None:
    hits = log.episodes.search(query, limit=3)
    assert ids(hits) == [4, 3, 2]
    assert {(hit.score, hit.similarity) for hit in hits} == {(0.0, None)}
    assert hits.words_only is None
    assert ids(log.episodes.search(query, source="mail")) == [3, 1]


@pytest.mark.parametrize(
    "query", ['"', "AND OR NOT", "a* NEAR(b)", "content:x", "\ud800", "👍", "->", "x" * 20_000]
)
def test_any_text_is_a_valid_query(log: Store, query: str) -> None:
    log.episodes.add("so -> it 👍 ends", source="t")
    for mode in MODES:
        hits = log.episodes.search(query, mode=mode)
        if query in ("👍", "->") and mode != "meaning":
            assert hits[0].episode.id == 5


# -- pieces --------------------------------------------------------------------------------------


def test_a_long_episode_is_found_by_any_chunk_and_counted_once(store: Store) -> None:
    marks = ["kumquats", "zeppelins", "xylophones"]
    text = FILLER + "".join(f"We talked about {mark}. {FILLER}" for mark in marks)
    store.episodes.add(text, source="book")
    store.episodes.add("something else", source="t")
    embed(store)
    for mark in marks:
        for mode in MODES:
            hits = store.episodes.search(f"we talked about {mark}", mode=mode)
            assert ids(hits).count(1) == 1
            hit = next(hit for hit in hits if hit.episode.id == 1)
            assert mark in hit.excerpt
            assert hit.excerpt == text[hit.start : hit.stop]
            assert len(hit.excerpt) <= chunks.PIECE_CHARACTERS
            assert hit.episode.content == text
            if mode == "meaning":
                pieces = [text[start:stop] for start, stop in chunks.of_episode(text)]
                nearest = max(cosine(f"we talked about {mark}", piece) for piece in pieces)
                assert hit.similarity == pytest.approx(nearest, abs=1e-5)


def test_a_short_episode_is_its_own_excerpt(log: Store) -> None:
    [hit] = log.episodes.search("harbour", mode="words")
    assert (hit.start, hit.stop, hit.excerpt) == (0, 28, hit.episode.content)


def test_the_excerpt_has_the_most_query_words_in_any_form(store: Store) -> None:
    text = f"deploying. {FILLER} the deployments were rolled back. {FILLER} rolling stones."
    store.episodes.add(text, source="t")
    [hit] = store.episodes.search("roll deployment", mode="words")
    assert "deployments were rolled" in hit.excerpt
    japanese = "天気がいい。" * 100 + "東京の新しいオフィス。" + "天気がいい。" * 100
    store.episodes.add(japanese, source="t")
    [hit] = store.episodes.search("オフィス", mode="words")
    assert "新しいオフィス" in hit.excerpt
    marked = f"\x02x\x03 {FILLER} and a kumquat {FILLER}"
    store.episodes.add(marked, source="t")
    [hit] = store.episodes.search("kumquat", mode="words")
    assert hit.episode.id == 3


def test_long_episodes_do_not_displace_others(store: Store) -> None:
    book = "tea with milk. " * 8000
    store.episodes.add_many({"content": book, "source": "book"} for _ in range(6))
    store.episodes.add_many({"content": f"tea {n}", "source": "t"} for n in range(20))
    embed(store)
    # More pieces than the first scan returns.
    assert len(chunks.of_episode(book)) * 6 > 2 * MIN_CANDIDATES
    hits = store.episodes.search("tea with milk", mode="meaning", limit=26)
    assert len(set(ids(hits))) == 26


def test_word_matches_are_scored_with_their_exact_similarity(store: Store) -> None:
    far = store.episodes.add("pier amid a dozen other words that nobody has asked for", source="t")
    store.episodes.add_many({"content": "tea", "source": "t"} for _ in range(300))
    embed(store)
    [hit] = store.episodes.search("tea pier", limit=1, ranking="classic")
    near = cosine("tea pier", far.content)
    assert hit.episode == far
    assert hit.similarity == pytest.approx(near, abs=1e-5)
    assert hit.score == pytest.approx(0.6 + 0.4 * near, abs=1e-5)


# -- filters -------------------------------------------------------------------------------------

TAGS = ["red", "green", "blue"]
SOURCES = ["mail", "chat"]
entries = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["tea", "rain", "paris", "pasta"]), min_size=1, max_size=4),
        st.lists(st.sampled_from(TAGS), unique=True),
        st.sampled_from(SOURCES),
        st.sampled_from([None, "2020-01-01", "2024-06-01", "2030-01-01"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)
asked_for = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.lists(st.sampled_from(TAGS), unique=True, max_size=2),
        "source": st.sampled_from(SOURCES),
        "valid_after": st.sampled_from(["2020-01-01", "2021-01-01"]),
        "valid_before": st.sampled_from(["2024-06-01", "2029-01-01"]),
        "include_expired": st.booleans(),
    },
)
selected = st.sampled_from(["all", Scope(), Scope(user_id="ana")])


def admitted(episode: memstore.Episode, asked: dict[str, Any], owners: Any) -> bool:
    """Whether a search may find it: the filters in plain Python."""
    when = episode.valid_at or episode.created_at
    return (
        set(asked.get("tags", ())) <= set(episode.tags)
        and asked.get("source") in (None, episode.source)
        and (
            "valid_after" not in asked
            or when >= memstore.domain.clock.from_text(asked["valid_after"])  # its whole day
        )
        and (
            "valid_before" not in asked
            or when < memstore.domain.clock.from_text(asked["valid_before"])
        )
        and (asked.get("include_expired", False) or episode.status == "active")
        and owners in ("all", episode.scope)
    )


@settings(max_examples=examples(40), deadline=None)
@given(entries=entries, asked=asked_for, owners=selected, mode=st.sampled_from([*MODES, "none"]))
def test_combined_filters_lose_nothing(
    entries: list[Any], asked: dict[str, Any], owners: Any, mode: str
) -> None:
    embedder = WordEmbedder()
    with (
        tempfile.TemporaryDirectory() as folder,
        memstore.open(Path(folder) / "m.db", embedder=embedder) as store,
    ):
        for words, tags, source, valid_at, expired in entries:
            scope = Scope(user_id="ana") if len(words) > 2 else Scope()
            added = store.of(scope).episodes.add(
                " ".join(words), source=source, tags=tags, valid_at=valid_at
            )
            if expired:
                store.episodes.update(added.id, expired_at="2021-01-01")
        every = store.of("all").episodes.list(include_expired=True)
        embed(store)
        if mode == "none":
            hits = store.of(owners).episodes.search(None, limit=50, **asked)
            expected = {e.id for e in every if admitted(e, asked, owners)}
        else:
            hits = store.of(owners).episodes.search("tea paris", mode=mode, limit=50, **asked)
            words = {"tea", "paris"}
            expected = {
                e.id for e in every if admitted(e, asked, owners) and words & set(e.content.split())
            }
        assert set(ids(hits)) == expected


def test_filtering_reads_no_episode_text(store: Store, path: Path) -> None:
    store.episodes.add_many({"content": FILLER * 100, "source": "mail"} for _ in range(20))
    store.close()  # which copies the log into the file
    assert path.stat().st_size > 1000 * 4096
    now = clock.utc_now()
    cases: list[dict[str, Any]] = [
        {},
        {"source": "mail"},
        {"valid_after": now},
        {"tags": ("ice",), "created_before": now, "scope": Scope(user_id="ana")},
        {"namespaces": ("default", "other")},
        {"namespaces": None, "include_expired": True},
    ]
    for narrowed in cases:
        asked: dict[str, Any] = {"namespaces": ("default",), "now": now} | narrowed
        wanted = EpisodeFilter(**asked)
        engine = SqliteEngine(path)
        with engine.read() as transaction:
            episode_table.select_ids(transaction, wanted)
            episode_table.count(transaction, wanted)
            episode_table.newest_ids(transaction, wanted, 10)
            pages_read, _ = transaction.connection.status(apsw.SQLITE_DBSTATUS_CACHE_MISS)
        engine.close()
        assert pages_read < 200, narrowed


@EACH_MODE
def test_better_matches_in_another_namespace_do_not_displace_hits(store: Store, mode: str) -> None:
    store.episodes.add("one violin in a long list of other things", source="t")
    crowd = store.within("crowd").episodes
    crowd.add_many({"content": "violin", "source": "t"} for _ in range(350))
    embed(store)
    assert ids(store.episodes.search("violin", mode=mode)) == [1]


@EACH_MODE
def test_newer_episode_wins_ties(store: Store, mode: str) -> None:
    store.episodes.add_many({"content": "violin lessons", "source": "t"} for _ in range(3))
    embed(store)
    assert ids(store.episodes.search("violin", mode=mode)) == [3, 2, 1]


def test_filters_apply_before_ranking(store: Store) -> None:
    crowd = [{"content": "tea " * 5, "source": "crowd", "tags": ["x"]} for _ in range(600)]
    store.episodes.add_many(crowd)
    store.episodes.add("tea and much else besides that is not asked for", source="lone", tags=["y"])
    embed(store)
    for mode in MODES:
        for asked in ({"source": "lone"}, {"tags": ["y"]}, {"created_after": _of(store, 600)}):
            hits = store.episodes.search("tea", mode=mode, limit=5, **asked)
            assert ids(hits) == [601]


def _of(store: Store, episode_id: int) -> Any:
    return store.episodes.get(episode_id).created_at


def test_min_similarity_drops_dissimilar_but_keeps_pending_episodes(
    log: Store,
) -> None:
    query = "pier january"
    near = {h.episode.id: h.similarity or 0.0 for h in log.episodes.search(query, alpha=1.0)}
    least = sorted(near.values())[-2]
    above = {id_ for id_, one in near.items() if one >= least}
    for mode in ("hybrid", "meaning"):
        hits = log.episodes.search(query, mode=mode, min_similarity=least - 1e-6)
        assert set(ids(hits)) == above
    fresh = log.episodes.add("the pier again", source="t")
    assert log.episodes.search("pier", min_similarity=1.0)[-1].episode.id == fresh.id
    assert log.episodes.search("pier", min_similarity=1.0)[-1].similarity is None


def test_namespaces_are_separate_unless_requested(log: Store, open_store: Open) -> None:
    other = open_store(namespace="other")
    theirs = other.episodes.add("violin concert", source="t")
    embed(other)
    for mode in MODES:
        search = log.episodes.search
        assert theirs.id not in ids(search("violin", mode=mode))
        assert ids(search("violin", mode=mode, namespaces="other")) == [theirs.id]
        assert theirs.id in ids(search("violin", mode=mode, namespaces="all"))
        assert theirs.id in ids(search("violin", mode=mode, namespaces=["default", "other"]))
    assert ids(log.episodes.search(namespaces="other")) == [theirs.id]


# -- boosted tags --------------------------------------------------------------------------------


@EACH_MODE
def test_tags_filter_without_a_boost_and_raise_scores_with_one(log: Store, mode: str) -> None:
    search = log.episodes.search
    assert ids(search("ice january", mode=mode, tags=["ice", "sea"])) == [1]
    plain = {hit.episode.id: hit for hit in search("the pier january ice", mode=mode)}
    raised = search("the pier january ice", mode=mode, tags=["ice", "sea"], tag_boost=2.0)
    assert set(ids(raised)) == set(plain)
    assert ids(raised)[0] == 1
    for hit in raised:
        extra = 2.0 if hit.episode.id == 1 else 0.0
        assert hit.score == pytest.approx(plain[hit.episode.id].score + extra, abs=1e-6)


def test_boost_finds_rows_beyond_the_candidates(store: Store) -> None:
    store.episodes.add("tea among many other words of no interest at all", source="t", tags=["x"])
    store.episodes.add_many({"content": "tea tea", "source": "t"} for _ in range(500))
    embed(store)
    for mode in MODES:
        hits = store.episodes.search("tea", mode=mode, tags=["x"], tag_boost=1.0, limit=3)
        assert ids(hits)[0] == 1
        assert len(hits) == 3


def test_a_boost_without_a_query_lists_tagged_episodes_first(log: Store) -> None:
    assert ids(log.episodes.search(tags=["ice"], tag_boost=0.5)) == [2, 1, 4, 3]


# -- an embedder that fails ----------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "meaning"])
@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (EmbedderUnavailable("no wire"), "embedder_unavailable"),
        (EmbedderRejected("no such text"), "embedder_rejected"),
        (RuntimeError("surprise"), "embedder_unavailable"),
    ],
)
def test_a_query_that_cannot_be_embedded_is_answered_by_words_then_newest_first(
    log: Store, embedder: WordEmbedder, mode: str, failure: Exception, code: str
) -> None:
    embedder.failure = failure
    hits = log.episodes.search("harbour", mode=mode, limit=3)
    assert ids(hits) == [1, 4, 3]
    assert [hit.word_score for hit in hits] == [1.0, 0.0, 0.0]
    assert [hit.similarity for hit in hits] == [None, None, None]
    assert hits.words_only is not None
    assert str(failure) in hits.words_only.reason
    assert (why(hits), hits.newest_first) == (code, 2)
    filtered = log.episodes.search("harbour", mode=mode, source="mail")
    assert ids(filtered) == [1, 3]
    assert ids(log.episodes.search("harbour", mode="words")) == [1]


def test_store_without_embedder_reports_it(store: Store, open_store: Open) -> None:
    store.episodes.add("one", source="t")
    store.episodes.add("two", source="t")
    hits = open_store(embedder=None).episodes.search("one")
    assert (ids(hits), why(hits), hits.newest_first) == (
        [1, 2],
        "no_embedder",
        1,
    )


def test_search_uses_words_before_anything_is_embedded(store: Store) -> None:
    store.episodes.add("one", source="t")
    hits = store.episodes.search("one", mode="meaning")
    assert (ids(hits), why(hits)) == ([1], "nothing_embedded")


@EACH_MODE
def test_vectors_of_another_namespace_do_not_count(log: Store, mode: str) -> None:
    log.episodes.search("harbour", mode=mode)  # now the vectors of this namespace are resident
    other = log.within("other").episodes
    other.add("the harbour of others", source="t")
    other.add("their violin", source="t")
    hits = other.search("harbour", mode=mode)
    told = (ids(hits), why(hits), hits.newest_first)
    assert told == (([5], None, 0) if mode == "words" else ([5, 6], "nothing_embedded", 1))


def test_a_query_of_another_dimension_is_not_compared(log: Store, open_store: Open) -> None:
    class Shrunk(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            return super().embed(texts)[:, :8]

    hits = open_store(embedder=Shrunk()).episodes.search("harbour", limit=2)
    assert (ids(hits), why(hits)) == ([1, 4], "other_model")


# -- concurrent changes --------------------------------------------------------------------------


def test_searches_see_changes_by_other_processes(log: Store, open_store: Open) -> None:
    search = log.episodes.search
    assert 1 in ids(search("harbour", mode="meaning"))
    other = open_store()
    added = other.episodes.add("harbour harbour", source="t")
    assert ids(search("harbour", mode="words"))[0] == added.id
    assert added.id not in ids(search("harbour", mode="meaning"))  # pending
    embed(other)
    assert ids(search("harbour", mode="meaning"))[0] == added.id
    other.episodes.update(1, expired_at="2020-01-01")
    assert 1 not in ids(search("harbour", mode="meaning"))
    assert 1 in ids(search("harbour", mode="meaning", include_expired=True))
    other.episodes.erase(added.id)
    assert added.id not in ids(search("harbour", mode="meaning", include_expired=True))


def test_pending_episodes_are_found_by_words_among_embedded_ones(log: Store) -> None:
    added = log.episodes.add("harbour harbour", source="t")
    hits = log.episodes.search("harbour")
    assert {hit.episode.id: hit.similarity is None for hit in hits}[added.id]


def test_scripts_without_spaces_are_found_by_words(store: Store) -> None:
    texts = [
        "東京で新しいオフィスを開いた",
        "서울에서 만나요",
        "ร้านกาแฟในกรุงเทพ",
        "Ärger in Zürich",
    ]
    for text in texts:
        store.episodes.add(text, source="t")
    for number, query in enumerate(["オフィス", "서울", "กาแฟ", "zurich"], 1):
        assert ids(store.episodes.search(query, mode="words")) == [number]


def test_names_and_descriptions_are_found_by_words(store: Store) -> None:
    store.episodes.add("text", source="t", name="Quarterly review", source_description="by phone")
    assert ids(store.episodes.search("quarterly", mode="words")) == [1]
    assert ids(store.episodes.search("phone", mode="words")) == [1]
    assert store.episodes.search("quarterly", mode="words")[0].excerpt == "text"


# -- arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"mode": "vector"}, ValueError, "mode must be hybrid, words or meaning, not 'vector'"),
        ({"alpha": 1.1}, ValueError, "alpha must be 0 to 1"),
        ({"alpha": float("nan")}, ValueError, "alpha must be 0 to 1"),
        ({"alpha": "0.5"}, TypeError, "alpha must be a number"),
        ({"tag_boost": -1}, ValueError, "tag_boost must be 0 or more"),
        ({"tag_boost": float("inf")}, ValueError, "tag_boost must be 0 or more"),
        ({"min_similarity": 2}, ValueError, "min_similarity must be -1 to 1"),
        ({"limit": 0}, ValueError, "limit"),
        ({"limit": 1001}, ValueError, "limit must be 1 to 1000"),
        ({"limit": None}, ValueError, "limit must be 1 to 1000"),
        ({"tags": "x"}, TypeError, "tags must be a list"),
        ({"created_before": "soon"}, ValueError, "created_before is not a time: 'soon'"),
        ({"query": 7}, TypeError, "query must be text"),
        ({"namespaces": []}, ValueError, "namespaces is empty"),
    ],
)
def test_search_refuses_invalid_values(
    log: Store, given: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        log.episodes.search(**{"query": "tea"} | given)
