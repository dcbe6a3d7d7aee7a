"""Answers of the server before a process has its index: codes of vectors, and few rows a word."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.postgres import psycopg

import memstore
from memstore import NewFact, Store
from memstore.database.postgres import full_text, transaction
from memstore.database.postgres.schema import tables
from memstore.database.postgres.transaction import MAX_BITS, code, coded
from memstore.database.sqlite import marked
from memstore.database.writes import BY_ID, Form, Insert, Update
from memstore.search.index import index as module
from memstore.search.index.index import Index
from memstore.search.lookups import database

CODES = (
    "SELECT fact_id, embedding, code FROM memstore_fact_vectors"
    " UNION ALL SELECT piece_id, embedding, code FROM memstore_piece_vectors"
)


def bits(numbers: list[float]) -> str:
    return "".join("1" if number < 0 else "0" for number in numbers[:MAX_BITS])


@given(st.lists(st.floats(width=32, allow_nan=False).filter(bool), max_size=40))
def test_a_code_has_a_bit_for_each_number(numbers: list[float]) -> None:
    binary = code(pack(f"<{len(numbers)}f", *numbers))
    written = "".join(f"{byte:08b}" for byte in binary[4:])
    assert int.from_bytes(binary[:4], "big") == len(numbers)
    assert written == bits(numbers).ljust((len(numbers) + 7) // 8 * 8, "0")


def test_a_code_has_no_more_bits_than_an_index_takes() -> None:
    assert len(code(bytes(4 * (MAX_BITS + 100)))) == 4 + MAX_BITS // 8


OF_PIECES = Insert(
    "memstore_piece_vectors",
    ("generation_id", "piece_id", "embedding"),
    ("id", ":owner", "CASE WHEN state = 'active' THEN :vector END"),
    source="memstore_generations",
)
OF_FACTS = Insert("memstore_fact_vectors", ("id", "embedding"))
REMOVING = Update("memstore_fact_vectors", {"embedding": "NULL"}, BY_ID)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            OF_PIECES,
            "INSERT INTO memstore_piece_vectors (generation_id, piece_id, embedding, code)"
            " SELECT id, :owner, CASE WHEN state = 'active' THEN :vector END,"
            " CASE WHEN state = 'active' THEN :code END FROM memstore_generations",
        ),
        (
            OF_FACTS,
            "INSERT INTO memstore_fact_vectors (id, embedding, code)"
            " VALUES (:id, :embedding, :code)",
        ),
        (
            REMOVING,
            "UPDATE memstore_fact_vectors SET embedding = NULL, code = NULL WHERE id = :id",
        ),
    ],
)
def test_what_writes_a_vector_writes_its_code(form: Form, text: str) -> None:
    found = coded(form)
    assert found is not None
    assert found.form.text == text


@pytest.mark.parametrize(
    "form",
    [
        Update("memstore_fact_vectors", {"embed_attempts": "0"}, "embedding IS NULL"),
        Insert("memstore_fact_vectors", ("generation_id", "fact_id")),
    ],
)
def test_other_writes_stay_as_they_are(form: Form) -> None:
    assert coded(form) is None
    assert transaction.with_code(form, {"a": 1}) == (form, {"a": 1})


@pytest.mark.process
def test_every_stored_vector_has_its_code(url: str) -> None:
    with memstore.open(url) as store:
        gone = store.add("The quay is open", subject="quay")
        store.add_many([NewFact(content=f"The boat {n} is blue", subject="boat") for n in range(9)])
        store.episodes.add("We met at the quay", source="chat")
        store.file.embed_pending()
        store.erase(gone.id)
    with psycopg.connect(url) as connection:
        rows = connection.execute(CODES).fetchall()
    assert len(rows) == 11
    assert sum(blob is None for _, blob, _ in rows) == 1
    for _, blob, found in rows:
        assert found == (None if blob is None else bits([*memoryview(blob).cast("f")]))


@pytest.mark.process
def test_a_code_of_another_vector_is_found_and_replaced(url: str) -> None:
    with memstore.open(url) as store:
        store.add_many([NewFact(content=f"The boat {n} is blue", subject="boat") for n in range(9)])
        store.episodes.add("We met at the quay", source="chat")
        store.file.embed_pending()
        with psycopg.connect(url, autocommit=True) as connection:
            before = connection.execute(CODES).fetchall()
            for number in (2, 5):
                connection.execute(
                    "UPDATE memstore_fact_vectors SET code = (SELECT code FROM"
                    " memstore_fact_vectors WHERE fact_id = 1) WHERE fact_id = %s",
                    [number],
                )
            connection.execute("UPDATE memstore_piece_vectors SET code = B'101'")
        assert [one.message for one in store.file.doctor() if one.repairable] == [
            "invalid embeddings, facts of generation 1: 2 (the code of another vector),"
            " 5 (the code of another vector)",
            "invalid embeddings, pieces of episodes of generation 1:"
            " 1 (the code of another vector)",
        ]
        done = store.file.rebuild()
        assert "replaced the codes of 2 embeddings of facts" in done
        assert store.file.doctor() == []
        assert store.status().pending == 0
    with psycopg.connect(url) as connection:
        assert sorted(connection.execute(CODES).fetchall()) == sorted(before)


@pytest.mark.process
def test_no_vector_is_without_a_code(url: str) -> None:
    with memstore.open(url) as store:
        store.add("The quay is open", subject="quay")
    with psycopg.connect(url, autocommit=True) as connection:
        for column in ("code", "embedding"):
            with pytest.raises(psycopg.errors.CheckViolation):
                connection.execute(f"UPDATE memstore_fact_vectors SET {column} = NULL")


@pytest.fixture
def store(url: str, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Forty facts that the server searches, comparing ten vectors and ranking three rows a word."""
    monkeypatch.setattr(module, "AT_ONCE", 0)
    monkeypatch.setattr(Index, "_work_behind", lambda _: None)
    monkeypatch.setattr(database, "COMPARED", 10)
    monkeypatch.setattr(full_text, "RANKED", 3)
    store = memstore.open(url)
    store.add_many(
        [NewFact(content=f"The boat number {n} is blue", subject=f"boat {n}") for n in range(40)]
    )
    store.add("Grandmother baked bread on Sunday", subject="kitchen")
    return store


@pytest.mark.process
def test_the_nearest_are_found_by_their_codes(store: Store) -> None:
    with store:
        hits = store.search("baking bread", word_weight=0, limit=3)
        assert hits.provisional
        assert hits[0].fact.subject == "kitchen"


@pytest.mark.process
def test_a_filter_that_few_pass_chooses_among_these(store: Store) -> None:
    with store:
        hits = store.search("a blue boat on Sunday", word_weight=0, subject="kitchen", limit=3)
        assert [hit.fact.subject for hit in hits] == ["kitchen"]


@pytest.mark.process
def test_rare_words_are_found_among_frequent_ones(store: Store) -> None:
    with store:
        hits = store.search("the blue boat number 33", vector_weight=0, limit=3)
        assert hits[0].fact.subject == "boat 33"
        assert len(store.search("blue", vector_weight=0, limit=20)) == 3


# -- words as the index reads them -----------------------------------------------------------------

LETTERS = [chr(number) for number in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00))]
OTHER_LETTERS = [chr(number) for number in (*range(0x391, 0x3CF), *range(0x410, 0x450))]

OTHERWISE = frozenset("Ǡǡſẛ")
"""Letters that the index folds in its own way."""


@pytest.mark.process
def test_letters_are_folded_as_in_the_index(url: str) -> None:
    texts = [f"q{letter}q" for letter in (*LETTERS, *OTHER_LETTERS) if letter.isalpha()]
    with psycopg.connect(url) as connection:
        folding = tables.folded("given")
        rows = connection.execute(
            f"SELECT {folding}, tsvector_to_array(to_tsvector('simple', {folding}))"
            " FROM unnest(%s::text[]) AS given",
            [texts],
        ).fetchall()
    others = set()
    for text, (server, found), tokens in zip(texts, rows, marked.tokens(texts), strict=True):
        assert full_text.folded(text) == server
        if found != tokens:
            others.add(text[1])
    assert others == OTHERWISE


@pytest.mark.process
@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("koln", "Köln am Rhein"),
        ("KÖLN", "we met in koln"),
        ("Ko\u0308ln", "Köln am Rhein"),
        ("cafe", "un CAFÉ noir"),
        ("Příšerně", "priserne zlutoucky kun"),
        ("strasse", "die Straße"),
        ("Οδυσσέας", "ο Οδυσσέας"),
        ("ёлка", "новогодняя Ёлка"),
        ("ana@example.com", "write to ana@example.com today"),
        ("python 3.11", "it runs with 3.11 too"),
        ("src/app.py", "look at src/app.py first"),
    ],
)
def test_words_are_found_as_in_the_index(
    url: str, monkeypatch: pytest.MonkeyPatch, query: str, content: str
) -> None:
    with memstore.open(url, embedder=None) as store:
        store.add("the quay is open, and nothing else", subject="note")
        store.add(content, subject="note")
        store.episodes.add(content, source="chat")
        found = []
        monkeypatch.setattr(module, "AT_ONCE", 0)
        monkeypatch.setattr(Index, "_work_behind", lambda _: None)
        for is_provisional in (True, False):
            hits = store.search(query)
            said = store.episodes.search(query)
            assert hits.provisional == said.provisional == is_provisional
            found += [[hit.fact.content for hit in hits], [hit.episode.content for hit in said]]
            monkeypatch.undo()
    assert found == [[content]] * 4
