"""The log: acts of the journal in words, newest first, for those who may see them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.facts.test_query_plans import Explained
from tests.support.embedders import WordEmbedder
from tests.support.examples import examples
from tests.support.raw import sql

from memstore import InvalidArgument, Scope, Store
from memstore.database.journal import Kind
from memstore.database.tables import journal_lines as lines_of_acts
from memstore.domain.log import log_filter
from memstore.domain.queries import LineNarrowing
from memstore.history.log import DONE, TRUSTING

OpenStore = Callable[..., Store]


def told(store: Store, **asked: Any) -> list[str]:
    return [act.text for act in store.ledger.log(**asked)]


def test_an_act_is_told_in_words_newest_first(store: Store) -> None:
    old = store.add("Lives in Lisbon", subject="alice")
    new = store.add("Lives in Rome", subject="alice", supersedes=old.id)
    store.confirm(new.id)
    store.update_metadata(new.id, {"n": 1})
    store.delete(new.id)
    assert told(store) == [
        "deleted fact 2: alice: Lives in Rome",
        "changed the metadata of fact 2 (n: none → 1): alice: Lives in Rome",
        "confirmed fact 2: alice: Lives in Rome",
        "replaced fact 1 by 2: alice: Lives in Rome",
        "added fact 1: alice: Lives in Lisbon",
    ]
    act = store.ledger.log(kinds=["supersede"])[0]
    assert (act.actor, act.source) == ("user", "library")
    assert act.run == store.ledger.journal(1)[0].run
    assert act.changes[0].facts == (1, 2)
    assert act.changes[0].lines == (3,)
    assert str(act).endswith("  user through library  replaced fact 1 by 2: alice: Lives in Rome")


def test_many_facts_are_counted(store: Store) -> None:
    store.add_many({"content": f"fact {n}", "subject": "s"} for n in range(30))
    store.file.embed_pending()
    (act,) = store.ledger.log()
    assert act.text == "added 30 facts: s: fact 0; s: fact 1; s: fact 2; and 27 more"
    assert act.changes[0].facts == tuple(range(1, 31))
    assert len(act.changes[0].claims) == 20
    assert json.loads(json.dumps(act.to_dict()))["text"] == act.text


def test_embedding_is_shown_only_if_it_is_asked_for(open_store: OpenStore) -> None:
    with open_store(embedder=None) as plain:
        plain.add("one", subject="s")
    store = open_store(embedder=WordEmbedder())
    store.file.embed_pending()
    assert told(store) == ["added fact 1: s: one"]
    assert told(store, kinds=["embed"]) == ["embedded fact 1: s: one"]


def test_what_was_erased_is_shown_as_erased(store: Store, path: Path) -> None:
    fact = store.add("the wombat's secret", subject="wombat", metadata={"wombat": "yes"})
    store.update_metadata(fact.id, {"wombat": "no"})
    episode = store.episodes.record("wombat says", source="chat")
    store.add("else", subject="s", supersedes=fact.id, any_subject=True)
    store.erase(fact.id)
    store.episodes.erase(episode.id)
    whole = json.dumps([act.to_dict() for act in store.ledger.log(limit=None)])
    assert "wombat" not in whole
    assert told(store)[:2] == ["erased episode 1", "erased fact 1: (erased)"]
    assert told(store)[-1] == "added fact 1: (erased)"


def test_a_long_text_is_cropped_in_the_line(store: Store) -> None:
    store.add("word \n" * 5000, subject="s")
    (text,) = told(store)
    assert len(text) < 120
    assert "\n" not in text
    assert text.endswith("…")


def test_reverts_trust_and_imports_are_shown_as_such(open_store: OpenStore, path: Path) -> None:
    store = open_store(embedder=None)
    store.add("one", subject="s")
    with store.within(source="editor") as editor:
        editor.delete(1)
    store.ledger.revert(source="editor").apply()
    store.sources.trust("editor", "person")
    assert told(store)[:2] == [
        "set the trust of editor to person",
        "took back line 2: restored fact 1: s: one",
    ]
    assert store.ledger.log()[1].reverts == (2,)
    other = open_store(path.parent / "other.db", embedder=None)
    other.file.import_(store.file.export())
    act, trusted = other.ledger.log()
    assert act.text == "imported fact 1: s: one"
    assert trusted.text == "set the trust of editor to person"


def test_what_a_distrusted_source_said_is_marked(store: Store) -> None:
    store.add("mine", subject="s")
    store.add("theirs", subject="s", source="web:x")
    store.sources.distrust("web:x")
    assert told(store)[:2] == ["distrusted web:x", "added fact 2: (distrusted) s: theirs"]
    (one,) = store.ledger.diff("op:1")
    assert one.claim == "(distrusted) s: theirs"
    store.sources.trust("web:x")
    assert told(store)[0] == "trusted web:x again"


def test_a_fact_that_another_program_inserted_was_taken_in(store: Store, path: Path) -> None:
    columns = "(content, subject, category, metadata, created_at)"
    sql(path, f"INSERT INTO memstore_facts {columns} VALUES ('a', 's', 'c', '{{}}', '2026-01-01')")
    store.add("own", subject="s")
    act = store.ledger.log()[0]
    assert act.text == "took in fact 1: s: a; added fact 2: s: own"
    assert act.actor == "user"


# -- filters and pages -------------------------------------------------------------------


def test_filters_narrow_the_log(open_store: OpenStore) -> None:
    first = open_store(embedder=None)
    first.add("one", subject="s")
    first.close()
    store = open_store(embedder=None)
    store.add("two", subject="s", source="web:a")
    page = store.episodes.record("text", source="web:b")
    store.add("three", subject="s", episode_id=page.id)
    bot = open_store(embedder=None, actor="bot")
    bot.delete(1)
    acts = store.ledger.log()
    middle = acts[2].at
    assert told(store, fact=1) == ["deleted fact 1: s: one", "added fact 1: s: one"]
    assert told(store, source="web:a") == ["added fact 2: s: two"]
    assert told(store, source="web:b") == ["added fact 3: s: three", "recorded episode 1"]
    assert told(store, actor="bot") == ["deleted fact 1: s: one"]
    assert told(store, kinds=["delete", "episode"])[0].startswith("deleted")
    assert [act.line for act in store.ledger.log(run=acts[0].run)] == [5]
    assert [act.line for act in store.ledger.log(run=acts[1].run)] == [4, 3, 2]
    assert [act.line for act in store.ledger.log(since=middle)] == [5, 4, 3]
    assert [act.line for act in store.ledger.log(until=middle)] == [3, 2, 1]
    assert [act.line for act in store.ledger.log(until=middle - timedelta(microseconds=1))] == [
        2,
        1,
    ]
    assert store.ledger.log(until=middle.date().isoformat()) == acts
    assert store.ledger.log(since=middle + timedelta(days=1)) == []


def test_a_new_fact_shows_what_it_replaced(store: Store) -> None:
    store.add("one", subject="s")
    store.add("two", subject="s", supersedes=1)
    assert told(store, fact=2) == ["replaced fact 1 by 2: s: two"]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"kinds": ["frobnicate"]}, "kinds has no 'frobnicate'; the kinds are accept, add, "),
        ({"kinds": "add"}, "kinds must be a list"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"since": "soon"}, "since is not a moment"),
        ({"until": "soon"}, "until is not a moment"),
        ({"run": "x"}, "run is not the id of a run"),
        ({"fact": "x"}, "fact must be a whole number"),
        ({"before": 1.5}, "before must be a whole number"),
        ({"actor": " "}, "actor is empty"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(
    store: Store, asked: dict[str, Any], text: str
) -> None:
    with pytest.raises((InvalidArgument, TypeError), match=text):
        store.ledger.log(**asked)


def test_every_kind_of_line_has_its_words() -> None:
    assert {*DONE, *TRUSTING} >= {*Kind}


@pytest.mark.hypothesis
@settings(max_examples=examples(30))
@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=12), page=st.integers(1, 5))
def test_pages_together_are_the_whole_log(
    fresh: Callable[[], Store], sizes: list[int], page: int
) -> None:
    store = fresh()
    for size in sizes:
        store.add_many({"content": f"fact {n}", "subject": "s"} for n in range(size))
    whole = store.ledger.log(limit=None)
    assert [len(act.changes[0].facts) for act in whole] == sizes[::-1]
    paged, before = [], None
    while some := store.ledger.log(limit=page, before=before):
        paged += some
        before = some[-1].changes[-1].lines[-1]  # any line of the act will do
    assert paged == whole
    for act in whole:
        later = [one for one in whole if one.line > act.line]
        assert store.ledger.log(after=act.line, limit=None) == later
        assert store.ledger.log(after=act.changes[0].lines[-1], limit=None) == later


# -- who may see what --------------------------------------------------------------------


def test_a_log_shows_its_own_namespace_and_owners(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    with store.within(namespace="other") as other:
        other.add("hidden", subject="s")
        other.episodes.record("hidden")
    store.add("nobody's", subject="s")
    store.add("ana's", subject="s", user_id="ana")
    store.of(user_id="ana").episodes.record("ana's")
    store.sources.trust("web:x", "person")
    assert told(store) == ["set the trust of web:x to person", "added fact 2: s: nobody's"]
    ana = Scope(user_id="ana")
    assert told(store.of(ana)) == ["recorded episode 2", "added fact 3: s: ana's"]
    assert len(told(store.of("all"))) == 4
    with store.within(confined=True) as confined:
        assert told(confined) == ["added fact 2: s: nobody's"]
        assert told(confined, fact=1) == []
        assert told(confined, source="web:x") == []
        assert told(confined, kinds=["trust"]) == []


def test_a_replacement_of_another_owner_keeps_its_text(store: Store) -> None:
    store.add("mine", subject="s")
    store.add("ana's", subject="s", user_id="ana")
    store.supersede(1, 2)
    assert "ana's" not in json.dumps([act.to_dict() for act in store.ledger.log()])


NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


# -- cost --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked", [{}, {"kinds": ["delete"]}, {"since": NEW_YEAR}, {"before": 50}, {"after": 3}]
)
def test_acts_are_read_by_the_ids_of_their_lines(store: Store, asked: dict[str, Any]) -> None:
    for n in range(100):
        store.add(f"fact {n}", subject="s")
    wanted = log_filter(LineNarrowing(**asked), asked.get("since"), known=[*Kind])
    with store.file.engine.read() as transaction:
        explained = Explained(transaction)
        found = lines_of_acts.LineConditions(
            explained,  # type: ignore[arg-type]
            wanted,
            ["default"],
            Scope(),
            whole_file=True,
        )
        next(found.acts(), None)
    plans = [plan for plan in explained.plans if "memstore_facts" in plan or " f " in plan]
    assert plans
    for plan in plans:
        assert "SCAN memstore_journal" not in plan
        assert "TEMP B-TREE" not in plan
        assert "SEARCH memstore_journal USING INTEGER PRIMARY KEY" in plan
