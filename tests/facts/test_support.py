"""A fact's supports: who said or confirmed it, where, and what was said against it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.command_line import CommandLine, cli_fixture  # noqa: F401

import memstore
from memstore import AddFact, AsyncStore, KeepFact, MayReplace, NewFact, NotFound, Store

OpenStore = Callable[..., Store]


def kinds(store: Store, fact_id: int) -> list[Any]:
    return [
        (support.kind, support.source, support.episode_id)
        for support in store.ledger.support(fact_id)
    ]


@pytest.fixture
def heard(store: Store) -> Store:
    """Fact 1: read in episode 1, confirmed by hand, said again twice, and denied in episode 3."""
    said = store.episodes.record("Well. Ana likes tea. Bye.", source="web:ana.example")
    store.add("Ana likes tea.", subject="ana", episode_id=said.id)
    store.confirm(1)
    again = NewFact(content="Ana likes tea.", subject="ana", source="letters")
    store.ledger.apply([AddFact(fact=again, unless_known=True)])
    second = store.episodes.record("So Ana likes tea.", source="chat")
    evidence = {"said": "Ana likes  tea.", "episode": second.id, "model": "m"}
    store.ledger.apply([KeepFact(fact_id=1, evidence=evidence)])
    third = store.episodes.record("Ana hates tea.", source="radio")
    other = NewFact(content="Ana hates tea.", subject="ana", episode_id=third.id)
    against = AddFact(fact=other, precedence=MayReplace(1), evidence={"episode": third.id})
    store.ledger.apply([against])
    return store


def test_each_time_a_fact_is_heard_is_a_support(heard: Store) -> None:
    assert kinds(heard, 1) == [
        ("said", "web:ana.example", 1),
        ("confirmed", None, None),
        ("restated", "letters", None),
        ("restated", "chat", 2),
        ("denied", "radio", 3),
    ]
    assert heard.get(1).confirmed_count == 3


def test_a_support_names_the_place_of_its_words(heard: Store) -> None:
    first, _, _, again, against = heard.ledger.support(1)
    assert "Well. Ana likes tea. Bye."[first.start : first.stop] == "Ana likes tea."
    assert "So Ana likes tea."[again.start : again.stop] == "Ana likes tea."
    assert (against.start, against.stop) == (None, None)


def test_a_support_names_who_recorded_it_and_when(store: Store) -> None:
    store.within(source="a program").add("Ana likes tea.", subject="ana")
    (support,) = store.ledger.support(1)
    line = store.ledger.journal(1)[0]
    assert (support.actor, support.through, support.at, support.line) == (
        "user",
        "a program",
        line.at,
        line.id,
    )


def test_an_episode_that_states_a_fact_again_confirms_it_once(heard: Store) -> None:
    before = kinds(heard, 1)
    evidence = {"said": "Ana likes tea.", "episode": 2}
    heard.ledger.apply([KeepFact(fact_id=1, evidence=evidence)])
    assert kinds(heard, 1) == before
    assert heard.get(1).confirmed_count == 3


def test_what_is_only_alike_is_no_support(heard: Store) -> None:
    fourth = heard.episodes.record("Ana likes green tea.")
    heard.ledger.apply(
        [KeepFact(fact_id=1, evidence={"said": "Ana likes green tea.", "episode": fourth.id})]
    )
    assert len(heard.ledger.support(1)) == 5
    assert heard.get(1).confirmed_count == 3


@pytest.mark.parametrize(("episode_id", "left"), [(1, 4), (2, 4), (3, 4)])
def test_erasing_an_episode_takes_its_supports(heard: Store, episode_id: int, left: int) -> None:
    heard.episodes.erase(episode_id)
    assert len(heard.ledger.support(1)) == left
    assert all(support.episode_id != episode_id for support in heard.ledger.support(1))


def test_a_fact_without_its_only_episode_has_no_support(store: Store) -> None:
    said = store.episodes.record("Ana likes tea.")
    store.add("Ana likes tea.", subject="ana", episode_id=said.id)
    store.episodes.erase(said.id)
    assert store.ledger.support(1) == []


def test_erasing_the_fact_against_it_takes_the_denial(heard: Store) -> None:
    heard.erase(2)
    assert "denied" not in [kind for kind, *_ in kinds(heard, 1)]


def test_an_erased_fact_has_no_support(heard: Store) -> None:
    heard.erase(1)
    with pytest.raises(NotFound):
        heard.ledger.support(1)
    with heard.file.engine.read() as transaction:
        left = transaction.rows("SELECT DISTINCT fact_id FROM memstore_support")
        assert [*left] == [(2,)]


def test_another_namespace_has_no_support_here(heard: Store) -> None:
    with pytest.raises(NotFound):
        heard.within("other").ledger.support(1)


@pytest.mark.parametrize("erased", [None, 1, 2, 3])
def test_an_import_has_the_same_supports(
    heard: Store, open_store: OpenStore, tmp_path: Path, erased: int | None
) -> None:
    if erased is not None:
        heard.episodes.erase(erased)
    copy = open_store(tmp_path / "copy.db")
    copy.transfer.import_(heard.transfer.export())
    (fact,) = (fact for fact in copy.list() if fact.content == "Ana likes tea.")

    def supports(store: Store, fact_id: int) -> list[Any]:
        return [
            (
                support.kind,
                support.source,
                support.at,
                support.actor,
                support.through,
                support.start,
            )
            for support in store.ledger.support(fact_id)
        ]

    assert supports(copy, fact.id) == supports(heard, 1)


def test_damaged_evidence_hides_no_other_support(heard: Store) -> None:
    with heard.file.engine.write() as transaction:
        transaction.execute("DROP TRIGGER memstore_journal_erased")
        transaction.execute("UPDATE memstore_journal SET evidence = '{' WHERE kind = 'confirm'")
    assert "denied" in [kind for kind, *_ in kinds(heard, 1)]


def test_the_command_shows_the_supports(cli: CommandLine) -> None:
    cli.add("Ana likes tea", "ana", "--source", "letters")
    cli("confirm", "1")
    first, second = cli.json("support", "1")
    assert (first["kind"], first["source"], second["kind"]) == ("said", "letters", "confirmed")
    assert "said\tuser through cli\tletters" in cli("support", "1").out


def test_the_asynchronous_store_has_support(tmp_path: Path) -> None:
    async def supports() -> list[str]:
        async with AsyncStore(memstore.open(tmp_path / "a.db")) as store:
            fact = await store.add("Ana likes tea", subject="ana")
            return [support.kind for support in await store.ledger.support(fact.id)]

    assert asyncio.run(supports()) == ["said"]


def test_reverting_takes_the_support_and_reverting_that_gives_it_back(store: Store) -> None:
    store.add("Ana lives in Rome", subject="ana")
    talk = store.episodes.record("Ana lives in Rome", source="web:a.org")
    web = store.within(source="web:a.org")
    web.add("Ana lives in Rome", subject="ana", episode_id=talk.id, unless_known=True)
    web.confirm(1)
    supports = store.ledger.support(1)
    assert [support.kind for support in supports] == ["said", "restated", "confirmed"]
    done = store.ledger.revert(source="web:a.org").apply()
    assert [support.kind for support in store.ledger.support(1)] == ["said"]
    again = store.ledger.revert(lines=done.lines).apply()
    assert store.ledger.support(1) == supports
    store.ledger.revert(lines=again.lines).apply()
    assert [support.kind for support in store.ledger.support(1)] == ["said"]


def test_reverting_a_proposal_takes_what_speaks_against_a_fact(store: Store) -> None:
    store.add("Ana lives in Rome", subject="ana")
    store.add("Ana lives in Oslo", subject="ana", source="web:a.org", supersedes=1)
    supports = store.ledger.support(1)
    assert [support.kind for support in supports] == ["said", "denied"]
    with store.file.engine.read() as transaction:
        (line,) = memstore.database.journal.of_kinds(transaction, ["propose"])
    done = store.ledger.revert(lines=[line.id]).apply()
    assert [support.kind for support in store.ledger.support(1)] == ["said"]
    store.ledger.revert(lines=done.lines).apply()
    assert store.ledger.support(1) == supports


def test_a_confirmation_that_was_given_back_is_no_support_of_who_gave_it_back_after_an_import(
    store: Store, open_store: OpenStore, tmp_path: Path
) -> None:
    web = store.within(source="web:a.org")
    web.add("Ana lives in Rome", subject="ana", source="web:a.org")
    web.confirm(1)
    done = store.ledger.revert(source="web:a.org", lines=[2]).apply()
    store.ledger.revert(lines=done.lines).apply()
    copy = open_store(tmp_path / "copy.db")
    copy.transfer.import_(store.transfer.export())
    assert kinds(copy, 1) == kinds(store, 1)
    assert [support.through for support in copy.ledger.support(1)] == ["web:a.org", "web:a.org"]
