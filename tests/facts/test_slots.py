"""The slots of facts: extracted, stored, exported, rebuilt, verified and erased with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.raw import raw

from memstore import Extractor, Memory, Store
from memstore.database.tables.facts import journalled
from memstore.domain.records import NewFact
from memstore.errors import InvalidArgument
from memstore.history import past

HOME = "Ana has lived in Lisbon since 2026-05"
TEXT = "I moved to Lisbon in May"
ITEM = {
    "content": HOME,
    "subject": "ana",
    "category": "identity",
    "holder": "Ana",
    "attribute": "home",
    "value": "Lisbon",
    "cardinality": "one",
    "holds_from": "2026-05",
    "holds_until": None,
}
SLOTS = {
    "holder": "Ana",
    "attribute": "home",
    "value": "Lisbon",
    "cardinality": "one",
    "holds_from": "2026-05",
}


class Model:
    model = "scripted"

    def __init__(self, **changed: Any) -> None:
        self.item = ITEM | changed

    def generate(self, prompt: str) -> str:
        return json.dumps({"facts": [self.item]})


def extracted(store: Store, at: str | None = None, **changed: Any) -> Any:
    done = Extractor(store, Model(**changed)).extract(TEXT, at=at)
    assert done.items[0].fact_id is not None
    return store.get(done.items[0].fact_id)


def test_extractor_and_memory_store_what_the_text_says(store: Store) -> None:
    fact = extracted(store, holder="Ben", holds_until="2030")
    assert fact.slots == {name: one for name, one in SLOTS.items() if name != "holder"}
    assert fact.to_dict()["slots"] == fact.slots
    Memory(store, Model()).add(TEXT, user_id="ana")
    [memory] = store.of(user_id="ana").list()
    assert memory.slots == SLOTS


def test_times_of_the_slots_are_those_of_the_fact(store: Store) -> None:
    fact = extracted(store, at="2026-06-10")
    assert str(fact.valid_at)[:10] == "2026-05-01"
    assert fact.slots == SLOTS | {"said_at": "2026-06-10T00:00:00.000000Z"}
    assert fact.expired_at is fact.holds_until is None


@pytest.mark.parametrize(("until", "expires"), [("2099-05", "2099-06-01"), ("2020", None)])
def test_fact_ends_when_its_slots_say_unless_that_was_past(
    store: Store, until: str, expires: str | None
) -> None:
    content = f"Ana lives in Lisbon until {until}"
    fact = extracted(store, content=content, holds_from=None, holds_until=until)
    assert fact.slots["holds_until"] == until
    assert (fact.holds_until and str(fact.holds_until)[:10]) == expires
    assert fact.status == "active"


def test_older_fact_with_later_validity_is_no_newer_statement(store: Store) -> None:
    extracted(store, at="2026-06-10", content="Ana lives in Rome from 2030", holds_from="2030")
    later = Extractor(store, Model(holds_from=None), policy="auto").extract(
        "later", at="2026-07-01"
    )
    assert [str(item.outcome) for item in later.items] != ["outdated"]


def test_slots_are_journalled_exported_and_imported(
    store: Store, tmp_path: Path, open_store: Callable[..., Store]
) -> None:
    fact = extracted(store)
    lines = [line for line in store.ledger.journal(fact.id) if line.fact_id == fact.id]
    assert past.state(lines) == journalled(fact)
    assert store.ledger.verify() == []
    other = open_store(tmp_path / "other.db")
    other.transfer.import_(store.transfer.export())
    [there] = other.of("all").list()
    assert there.slots == SLOTS
    assert other.file.doctor(deep=True) == []


def test_rebuilding_finds_the_same_slots(store: Store) -> None:
    fact = extracted(store)
    Extractor(store, Model()).rebuild()
    assert store.get(fact.id) == fact


def test_erasing_a_fact_erases_its_slots(store: Store, path: Path) -> None:
    fact = extracted(store, at="2026-06-10")
    store.episodes.erase(1)
    assert store.erase(fact.id)
    store.close()
    with raw(path) as file:
        assert file.execute("SELECT slots FROM memstore_facts").fetchall() == [(None,)]
    assert b"Lisbon" not in path.read_bytes()


def test_row_with_other_slots_than_the_journal_is_found(
    store: Store, path: Path, open_store: Callable[..., Store]
) -> None:
    extracted(store)
    store.close()
    with raw(path) as file:
        file.execute("""UPDATE memstore_facts SET slots = '{"value":"Rome"}'""")
        file.commit()
    assert open_store().ledger.verify() != []


def test_restored_text_keeps_its_slots(store: Store) -> None:
    fact = extracted(store)
    store.add("Ana lives in Rome", subject="ana", supersedes=fact.id)
    assert store.reinstate(fact.id).slots == SLOTS


def test_only_slots_that_exist_can_be_stored(store: Store) -> None:
    with pytest.raises(InvalidArgument, match="colour"):
        store.add_many([NewFact(content="x", subject="x", slots={"colour": "red"})])


class Telling:
    """Finds one fact, with a home as its slots if there is one."""

    model = "scripted"

    def __init__(self, content: str, home: str | None) -> None:
        named = {"holder": "Ana", "attribute": "home", "value": home, "cardinality": "one"}
        self.item = {"content": content, "subject": "ana"} | (named if home else {})

    def generate(self, prompt: str) -> str:
        return json.dumps({"facts": [self.item]})


@pytest.mark.parametrize(
    ("slots", "outcome"), [((None, None), "proposed"), (("Berlin", "Lisbon"), "superseded")]
)
def test_slots_make_a_proof_of_what_the_words_only_suggest(
    store: Store, slots: tuple[str | None, str | None], outcome: str
) -> None:
    for content, home in zip(
        ("Ana rents a flat in Berlin", "Ana rents a flat in Lisbon now"), slots, strict=True
    ):
        model = Telling(content, home)
        done = Extractor(store, model, policy="judged").extract(f"said: {content}")
    assert [str(item.outcome) for item in done.items] == [outcome]
