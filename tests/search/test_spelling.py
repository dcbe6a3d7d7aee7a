"""Misspelt words: searched for as the memory spells them, and said so."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore import Store
from memstore._kernel.ids import Ids
from memstore._kernel.words import Words, edits, near_words
from memstore.domain.results import Respelt
from memstore.search.spelling import MAX_SOUGHT

OpenStore = Callable[..., Store]

TEXTS = (
    "Grafana dashboards live in the observability repo",
    "The Kubernetes cluster is in Frankfurt",
    "Kartoffelsuppe kocht Jürgen am Samstag",
    "Наблюдаемость настроена в кластере",
    "Η παρακολούθηση είναι ενεργή",
    "The undo_limit is 5499 and the commit is deadbeef",
    "Marek works with Joanna",
    "We meet on Wednesday",
)


@pytest.fixture
def notes(open_store: OpenStore) -> Store:
    store = open_store(embedder="local")
    store.add_many({"content": text, "subject": "note"} for text in TEXTS)
    store.episodes.add("The invoices go to Lisbon", source="chat")
    return store


def told(store: Store, query: str, **asked: object) -> list[tuple[str, str]]:
    return [*map(tuple, store.search(query, **asked).respelt)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "written", "searched", "place"),
    [
        ("obsevability", "obsevability", "observability", 0),
        ("obesrvability", "obesrvability", "observability", 0),
        ("observabilty repo", "observabilty", "observability", 0),
        ("bservability", "bservability", "observability", 0),
        ("Where are the dashbords?", "dashbords", "dashboards", 0),
        ("Grafanna", "Grafanna", "Grafana", 0),
        ("Kubernettes", "Kubernettes", "Kubernetes", 1),
        ("kuberntes cluster", "kuberntes", "Kubernetes", 1),
        ("Kartofelsuppe", "Kartofelsuppe", "Kartoffelsuppe", 2),
        ("наблюдаемсть", "наблюдаемсть", "Наблюдаемость", 3),
        ("παρακολουθηση", "", "", 4),
        ("παρακολοθηση", "παρακολοθηση", "παρακολούθηση", 4),
    ],
)
def test_a_misspelt_word_finds_what_its_near_spelling_finds(
    notes: Store, query: str, written: str, searched: str, place: int
) -> None:
    hits = notes.search(query)
    assert hits[0].fact.content == TEXTS[place]
    assert told(notes, query) == ([(written, searched)] if written else [])
    if written:
        right = notes.search(query.replace(written, searched))
        assert [(hit.fact.id, hit.score) for hit in hits] == [
            (hit.fact.id, pytest.approx(hit.score)) for hit in right
        ]
        assert right.respelt == ()
        recalled = notes.recall(query, max_tokens=200)
        assert recalled.facts[0] == hits[0].fact.id
        assert Respelt(written, searched) in recalled.respelt
        assert notes.why_not(query, hits[0].fact.id).place == 1


@pytest.mark.parametrize(
    "query",
    [
        "observability",  # as it is written
        "observable",  # the same stem, or too far
        "undo_limt",  # part of an identifier
        "deadbeeg5",
        "5498",
        "Mare",  # a short name
        "quantum gravity",
        "xylophagous beetles",
        "wedneday observability and many other words that somebody pasted from somewhere else "
        "though they say nothing about any of this whatsoever",
        "",
    ],
)
def test_other_words_stay_as_they_are(notes: Store, query: str) -> None:
    assert told(notes, query) == []


@pytest.mark.parametrize(
    ("held", "query"),
    [
        ("the issue with the tap", "the tissue"),  # another first letter in a short word
        ("the last one", "a blast"),
        ("connecting the seminar", "conducting"),  # a form of a known word
        ("machine learning", "his leaning"),
        ("he is camping", "damping"),
    ],
)
def test_a_word_that_is_merely_rare_is_not_misspelt(
    open_store: OpenStore, held: str, query: str
) -> None:
    store = open_store(embedder="local")
    store.add(held, subject="note")
    assert told(store, query) == []


def test_a_word_that_only_turns_have_is_known(notes: Store) -> None:
    notes.add("The voices go up", subject="note")
    assert told(notes, "invoices") == []
    assert [*map(tuple, notes.episodes.search("invoces").respelt)] == [("invoces", "invoices")]


def test_words_of_others_are_neither_told_nor_known(notes: Store) -> None:
    notes.within("other").add("projectfalcon launches in May", subject="x")
    notes.add("projectharrier is done", subject="x", user_id="ana")
    assert told(notes, "projectfalcn") == []
    assert told(notes, "projectharier") == []
    assert told(notes, "projectfalcn", namespaces="all") == [("projectfalcn", "projectfalcon")]
    # That another namespace has the misspelling does not make it a word of this one.
    notes.within("other").add("obsevability", subject="x")
    assert told(notes, "obsevability") == [("obsevability", "observability")]


def test_a_deleted_row_is_no_spelling(notes: Store) -> None:
    fact = notes.add("quetzalcoatlus", subject="x")
    assert told(notes, "quetzalcoatlis") == [("quetzalcoatlis", "quetzalcoatlus")]
    notes.delete(fact.id)
    assert told(notes, "quetzalcoatlis") == []
    notes.erase(fact.id)
    assert told(notes, "quetzalcoatlis") == []


def test_the_classic_ranking_searches_as_written(notes: Store) -> None:
    assert told(notes, "obsevability", ranking="classic") == []


def test_several_queries_are_respelt_each(notes: Store) -> None:
    found = notes.search_batch(["obsevability", "Frankfurt", "Kubernettes"])
    assert [len(hits.respelt) for hits in found] == [1, 0, 1]
    assert found[1][0].fact.content == TEXTS[1]


# -- distances -------------------------------------------------------------------------------------

letters = st.text(alphabet="abcdé", max_size=8)


def naive(left: str, right: str) -> int:
    """Return the optimal string alignment distance, by its definition."""
    if not left or not right:
        return len(left) + len(right)
    least = min(
        naive(left[:-1], right[:-1]) + (left[-1] != right[-1]),
        naive(left[:-1], right) + 1,
        naive(left, right[:-1]) + 1,
    )
    if len(left) > 1 and len(right) > 1 and left[-2:] == right[-2:][::-1]:
        least = min(least, naive(left[:-2], right[:-2]) + 1)
    return least


short = letters.filter(lambda one: len(one) < 6)


@given(short, st.lists(short, max_size=4), st.integers(0, 3))
def test_edits_are_those_of_their_definition(word: str, others: list[str], most: int) -> None:
    assert edits(word, others, most) == [min(naive(word, one), most + 1) for one in others]


def distance(left: str, right: str, most: int) -> int:
    return edits(left, [right], most)[0]


@given(short, st.lists(st.text("abcABC 1_-", max_size=30), max_size=5), st.integers(0, 2))
def test_near_words_of_texts_are_those_of_few_edits(word: str, texts: list[str], most: int) -> None:
    held = dict.fromkeys(one for text in texts for one in re.findall("[a-zA-Z]+", text))
    each = {one: naive(word, one.lower()) for one in held}
    expected = [(one, far) for one, far in each.items() if far <= most]
    assert near_words(word, texts, most) == expected


def test_rows_of_similar_terms_are_the_best_of_each() -> None:
    words, terms = Words(), ["observ", "observe", "obsrv", "ob", "tea"]
    rows = [[terms[number % 5], "tea"] for number in range(40)]
    words.put([*range(1, 41)], rows)
    visible = Ids(range(1, 40, 2))
    found = words.similar_rows("obsev", 2, terms=9, letters=3, rows=2, visible=visible)
    similar = [term for term, _ in words.similar("obsev", 2, 9) if len(term) >= 3]
    each = [words.search([[term]], 2, visible) for term in similar]
    assert found == [*dict.fromkeys(id_ for pairs in each for id_, _ in pairs)]
    assert len(found) == 6
    assert {*found} <= {*range(1, 40, 2)}


@given(st.lists(letters.filter(bool), min_size=1, max_size=12), letters.filter(bool))
def test_similar_terms_are_those_near_a_beginning(terms: list[str], word: str) -> None:
    words = Words()
    words.put([*range(1, len(terms) + 1)], [[term] for term in terms])
    beginnings = [word[:end] for end in range(len(word) + 1)]
    expected = {
        term: least
        for term in terms
        if (least := min(distance(one, term, 99) for one in beginnings)) <= 2
    }
    assert dict(words.similar(word, 2, 99)) == expected
    assert words.similar(word, 2, 1) == words.similar(word, 2, 99)[:1]


def test_similar_terms_are_the_same_among_sorted_and_new_ones() -> None:
    chance, words = random.Random(4), Words()
    terms: list[str] = []
    for number in range(4):  # the terms of earlier rows are sorted, later ones are compared singly
        new = ["".join(chance.choices("aeinrst", k=chance.randint(1, 7))) for _ in range(600)]
        words.put([*range(len(terms) + 1, len(terms) + 601)], [[term] for term in new])
        terms += new
        word = "".join(chance.choices("aeinrst", k=8))
        beginnings = [word[:end] for end in range(len(word) + 1)]
        expected = {
            term: least
            for term in terms
            if (least := min(distance(one, term, 2) for one in beginnings)) <= 2
        }
        assert expected, number
        assert dict(words.similar(word, 2, 10_000)) == expected


def test_of_a_query_three_unknown_words_are_looked_up(notes: Store) -> None:
    wrong = [("obsevability", "observability"), ("Kubernettes", "Kubernetes")]
    wrong += [("Kartofelsuppe", "Kartoffelsuppe"), ("dashbords", "dashboards")]
    assert MAX_SOUGHT == 3
    for several in permutations(wrong):
        assert told(notes, " ".join(word for word, _ in several)) == [*several[:3]]
    unknown = "xylophagous quetzalcoatlus zymurgical"  # they are looked up, too
    assert told(notes, f"{unknown} obsevability") == []
    assert told(notes, f"{unknown.rpartition(' ')[0]} obsevability") == wrong[:1]
    assert told(notes, f"observability cluster obsevability {wrong[1][0]}") == wrong[:2]
