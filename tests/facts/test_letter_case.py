"""Letter case is content: texts that differ in it alone are two facts, and one names the other."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstore import AddFact, NewFact
from memstore.text import folding

if TYPE_CHECKING:
    from memstore import Store

PAIRS = [
    ("The column is called userid", "The column is called userId"),
    ("The variable is api_token", "The variable is API_TOKEN"),
    ("The pump draws 5 mW", "The pump draws 5 MW"),
    ("The tag is Latest", "The tag is latest"),
    ("The file is readme.md", "The file is README.md"),
    ("La classe s'appelle état", "La classe s'appelle État"),
    ("Der Schalter heißt MASSE", "Der Schalter heißt Masse"),
    ("Переменная называется Путь", "Переменная называется путь"),
    ("Η μεταβλητή είναι Ω", "Η μεταβλητή είναι ω"),
]


@pytest.mark.parametrize(("older", "newer"), PAIRS)
def test_text_in_other_letter_case_is_stored_and_names_the_older_one(
    store: Store, older: str, newer: str
) -> None:
    first = store.add(older, subject="Thing", unless_known=True)
    second = store.add(newer, subject="thing", unless_known=True)
    assert second.id != first.id
    assert second.content == newer
    assert store.get(first.id).confirmed_count == 0
    assert [fact.id for fact in store.may_replace(second.id)] == [first.id]
    again = store.add(f"  {newer.replace(' ', '  ')}.", subject="THING", unless_known=True)
    assert again.id == second.id


def test_older_spelling_is_named_among_many_facts_of_the_subject(store: Store) -> None:
    first = store.add("The queue is called Jobs", subject="api")
    for number in range(40):
        store.add(f"The queue is called jobs{number}", subject="api")
    second = store.add("The queue is called jobs", subject="api")
    assert first.id in [fact.id for fact in store.may_replace(second.id)]


def test_correction_of_the_spelling_supersedes(store: Store) -> None:
    first = store.add("The column is userid", subject="db")
    second = store.add("The column is userId", subject="db", supersedes=first.id, unless_known=True)
    assert store.get(first.id).superseded_by == second.id
    assert store.exists("The column is userId", subject="DB")
    assert not store.exists("The column is userid", subject="DB")


def test_batch_that_repeats_itself_in_other_case_stores_both(store: Store) -> None:
    texts = ("Uses kafka", "Uses Kafka", "Uses  kafka.")
    done = store.ledger.apply(
        [AddFact(fact=NewFact(content=one, subject="etl"), unless_known=True) for one in texts]
    )
    assert [one.known for one in done] == [False, False, True]
    assert done[2].fact.id == done[0].fact.id


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40))
def test_same_claim_is_the_same_but_for_space_and_form(text: str) -> None:
    spread = " ".join(unicodedata.normalize("NFD", text).split(" "))
    assert folding.claim("s", spread) == folding.claim("S", text)
    other = text.swapcase()
    if folding.spaced(other) != folding.spaced(text):
        assert folding.claim("s", other) != folding.claim("s", text)
    if folding.folded(other) == folding.folded(text):
        assert folding.claim_hash("s", other) == folding.claim_hash("s", text)
