"""Reminders: what a memory has to say about a prompt that did not ask it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import memstore
from memstore.providers.local import tokens_at_most

Open = Callable[..., memstore.Store]

TALK = [
    ("user", "staging moves to port 5499, Marta owns the migration"),
    ("assistant", "Noted: staging listens on 5499 from now on."),
    ("user", "We decided to use httpx for the gateway"),
    ("user", "Mein Hund heißt Bello und wir wohnen in Hamburg"),
    ("user", "昨日、緑茶を飲みました"),
    ("user", "Nous avons choisi le fournisseur Lumière pour la facturation"),
]
FILLING = [
    "the build was slow again today",
    "please look at the tests of the parser",
    "the header is too large on small screens",
]


@pytest.fixture
def store(open_store: Open) -> memstore.Store:
    store = open_store()
    tell(store, *TALK)
    tell(store, *(("user", text) for text in FILLING), thread="other")
    return store


def tell(store: memstore.Store, *turns: tuple[str, str], thread: str = "first") -> None:
    store.episodes.add_many(
        {"content": content, "source": "host", "thread": thread, "speaker": speaker}
        for speaker, content in turns
    )


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("which port does staging use?", "5499"),
        ("who owns the migration", "Marta"),
        ("tell Marta that the migration is done", "Marta"),
        ("did we pick httpx?", "httpx"),
        ("is 5499 open in the firewall", "5499"),
        ("wie heißt mein Hund?", "Bello"),
        ("緑茶を飲んだのはいつ?", "緑茶"),
        ("quel fournisseur pour la facturation ?", "Lumière"),
        ("traceback follows\n" + "frame of a call\n" * 500 + "does staging use port 5499?", "5499"),
    ],
)
def test_prompt_gets_what_answers_it(store: memstore.Store, prompt: str, answer: str) -> None:
    found = store.remind(prompt)
    assert answer in found.text
    assert found.episodes
    assert tokens_at_most(found.text) <= 500


@pytest.mark.parametrize(
    "prompt",
    [
        "run the tests",
        "continue",
        "fix the typo in parse()",
        "commit and push",
        "look at the header again",
        "führe die Tests aus",
        "テストを実行して",
        "what does this function do?",
        "",
        "   ",
        "?",
        "Traceback (most recent call last):\n  File 'x.py', line 3\nValueError: too slow again",
    ],
)
def test_prompt_that_memory_does_not_bear_on_gets_nothing(
    store: memstore.Store, prompt: str
) -> None:
    assert store.remind(prompt).text == ""


def test_turns_of_the_thread_that_goes_on_are_left_out(store: memstore.Store) -> None:
    asked = "which port does staging use?"
    turn = store.episodes.get(1)
    assert store.remind(asked, thread="first").text == ""
    assert store.remind(asked, thread="second").text
    assert store.remind(asked, thread="first", thread_before=turn.created_at).text == ""
    later = store.episodes.add("and now?", source="host").created_at
    assert "5499" in store.remind(asked, thread="first", thread_before=later).text


def test_what_is_known_is_left_out_unless_the_prompt_names_it(store: memstore.Store) -> None:
    known = ["e1", "e2"]
    asked = "which port does staging use?"
    assert store.remind(asked, known=known).text == ""
    assert 2 not in store.remind(f"{asked} I mean e1", known=known).episodes
    assert store.remind(f"{asked} I mean e1", known=known).episodes[0] == 1
    fact = store.add("Marta leads the infrastructure group", subject="Marta")
    assert store.remind("what does Marta lead?", known=known).facts == (fact.id,)
    assert store.remind("what does Marta lead?", known=[*known, f"#{fact.id}"]).facts == ()


def test_superseded_turn_is_shown_with_what_superseded_it(store: memstore.Store) -> None:
    asked = "which port does staging use?"
    old = store.add("Staging uses port 5499", subject="staging", episode_id=1)
    new = store.add("Staging uses the socket /run/s", subject="staging", supersedes=old.id)
    found = store.remind(asked)
    assert 1 in found.episodes
    assert new.id in found.facts
    assert f"#{new.id}" in found.text
    store.delete(new.id)
    assert 1 not in store.remind(asked).episodes


def test_superseding_fact_of_another_owner_hides_the_turn(store: memstore.Store) -> None:
    old = store.add("Staging uses port 5499", subject="staging", episode_id=1)
    new = store.add("Ben moved it to 5600", subject="staging", user_id="ben")
    store.supersede(old.id, new.id, across=True)
    found = store.remind("which port does staging use?")
    assert "5600" not in found.text
    assert 1 not in found.episodes


@pytest.mark.parametrize(
    "later",
    [
        "Correction: staging moves to port 5600",
        "actually, the staging port is 5600",
        "staging is no longer on that port, it is 5600",
    ],
)
def test_corrected_turn_is_shown_with_its_correction(open_store: Open, later: str) -> None:
    store = open_store()
    tell(store, TALK[0], *(("user", text) for text in FILLING), ("user", later))
    found = store.remind("what does Marta own with the migration?", max_tokens=60)
    assert TALK[0][1] in found.text
    assert later in found.text


def test_correction_that_does_not_fit_takes_its_turn_along(open_store: Open) -> None:
    store = open_store()
    tell(store, TALK[0], ("user", "Correction: staging moves to port 5600 " + "very " * 80))
    assert store.remind("what does Marta own with the migration?", max_tokens=60).text == ""


def test_correction_by_someone_else_is_no_correction(open_store: Open) -> None:
    store = open_store()
    tell(store, TALK[0], *(("user", text) for text in FILLING))
    tell(store, ("Ben", "Actually the migration of staging is done"))
    assert store.remind("what does Marta own?").episodes[0] == 1


def test_longer_text_makes_room_for_the_next(open_store: Open) -> None:
    store = open_store()
    tell(store, ("user", "The migration of billing belongs to Ines " + "and so on " * 60))
    tell(store, ("user", "The migration of billing is planned for May"), thread="b")
    found = store.remind("who owns the migration of billing?", max_tokens=50)
    assert found.episodes == (2,)
    assert found.left_out


def test_only_facts_and_turns_of_the_owners_and_namespace(store: memstore.Store) -> None:
    asked = "which port does staging use?"
    assert store.remind(asked, scope=memstore.Scope(user_id="ben")).text == ""
    assert store.within("elsewhere").remind(asked).text == ""


@pytest.mark.parametrize(
    "wrong", [{"max_tokens": 0}, {"thread_before": "noon"}, {"known": 7}, {"prompt": 7}]
)
def test_wrong_arguments_are_refused(store: memstore.Store, wrong: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        store.remind(**({"prompt": "staging?"} | wrong))  # type: ignore[arg-type]
