"""What rests on distrusted sources alone is hidden, and comes back exactly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learn.test_extraction import Scripted
from tests.support.raw import sql

import memstore
from memstore import (
    AccessDenied,
    AsyncStore,
    Conflict,
    Extractor,
    Memory,
    NewFact,
    NotFound,
    Scope,
    Store,
)
from memstore.database.tables import distrusted
from memstore.domain.support import SupportKind
from memstore.history import trust
from memstore.store.store import facts_of

OpenStore = Callable[..., Store]

BAD = "web:a.org"


@pytest.fixture
def bad(store: Store) -> Store:
    """A store with two facts and an episode of a source, and one fact of another."""
    page = store.episodes.record("The moon is made of cheese", source=f"{BAD}/moon", thread="t")
    store.add("The moon is made of cheese", subject="moon", episode_id=page.id)
    store.add("Ana lives in Oslo", subject="ana", category="identity", source=f"{BAD}/ana")
    store.add("Ana lives in Rome", subject="ana", category="identity")
    return store


def shown(store: Store) -> list[int]:
    return [fact.id for fact in store.of("all").list()]


def everything(store: Store) -> dict[str, Any]:
    """Return all that a caller can see."""
    return {
        "facts": [
            fact.to_dict() | {"use_count": 0, "last_used_at": None}
            for fact in store.of("all").list(active_only=False)
        ],
        "episodes": [one.to_dict() for one in store.of("all").episodes.list()],
        "count": store.of("all").count(),
        "subjects": [one.name for one in store.of("all").subjects()],
        "status": {
            name: value
            for name, value in store.of("all").status().to_dict().items()
            if name not in ("head", "size_bytes", "log_bytes", "index_bytes")
        },
        "words": [
            (hit.fact.id, round(hit.score, 6))
            for hit in store.of("all").search("ana moon cheese oslo")
        ],
        "said": [hit.episode.id for hit in store.of("all").episodes.search("moon cheese")],
        "proposals": [one.id for one in store.of("all").proposals.list()],
    }


# -- what is hidden ----------------------------------------------------------------------


def test_what_rests_on_a_source_alone_leaves_every_list(bad: Store) -> None:
    before = bad.status()
    change = bad.sources.distrust(source=BAD)
    assert change.sources[BAD] == "distrusted"
    assert (change.hidden_facts, change.hidden_episodes) == (2, 1)
    assert (change.shown_facts, change.shown_episodes) == (0, 0)
    assert [fact.id for fact in bad.list()] == [3]
    assert [fact.id for fact in bad.list(active_only=False, include_deleted=True)] == [3]
    assert [hit.fact.id for hit in bad.search("Ana lives moon cheese Oslo")] == [3]
    assert bad.count() == bad.count(category="identity") == bad.count(subject="ana") == 1
    assert [one.name for one in bad.subjects()] == ["ana"]
    assert not bad.exists("Ana lives in Oslo", subject="ana")
    assert bad.episodes.list() == []
    assert not bad.episodes.search("moon")
    recalled = bad.recall("moon cheese Oslo", max_tokens=500).text
    assert "cheese" not in recalled
    assert "Oslo" not in recalled
    status = bad.status()
    assert (status.active, status.distrusted, status.episodes) == (1, 2, 0)
    assert status.subjects == {"ana": 1}
    assert status.categories == {"identity": 1}
    assert (before.active, before.distrusted, before.episodes) == (3, 0, 1)


def test_it_is_still_found_by_its_id(bad: Store) -> None:
    bad.sources.distrust(BAD)
    assert (bad.get(1).status, bad.get(1).distrusted) == ("distrusted", True)
    assert bad.get(1).to_dict()["distrusted"] is True
    assert "distrusted" not in bad.get(3).to_dict()
    assert [fact.status for fact in bad.history(2)] == ["distrusted"]
    assert [fact.id for fact in bad.history(subject="moon")] == [1]
    assert [support.source for support in bad.ledger.support(2)] == [f"{BAD}/ana"]
    assert bad.ledger.explain(2).verdict == (
        'fact 2 is hidden; it rests on "web:a.org/ana" alone, which is not trusted'
    )
    assert bad.episodes.get(1).content == "The moon is made of cheese"


def test_a_superseded_fact_says_it_too(bad: Store) -> None:
    bad.supersede(2, 3)
    bad.sources.distrust(BAD)
    assert [(fact.status, fact.distrusted) for fact in bad.history(2)] == [
        ("superseded", True),
        ("active", False),
    ]
    assert [fact.id for fact in bad.list(active_only=False)] == [3]


def test_what_is_stored_later_is_hidden_too(bad: Store) -> None:
    bad.sources.distrust(BAD)
    new = bad.add("Ana is tall", subject="ana", source=f"{BAD}/x")
    assert new == bad.get(new.id)
    assert new.status == "distrusted"
    page = bad.episodes.record("Ana is short", source=BAD)
    drawn = bad.add_many([NewFact(content="Ana is short", subject="ana", episode_id=page.id)])
    assert [fact.status for fact in drawn] == ["distrusted"]
    through = bad.within(source=BAD).add("Ana is blond", subject="ana")
    assert (through.status, shown(bad)) == ("distrusted", [3])
    assert bad.episodes.list() == []


def test_a_new_fact_of_it_retires_nothing(bad: Store) -> None:
    bad.sources.distrust(BAD)
    bad.add("Ana lives in Bergen", subject="ana", source=BAD, supersedes=3)
    assert shown(bad) == [3]
    assert bad.proposals.list() == []  # nobody is asked about what is hidden


def test_a_proposal_by_a_distrusted_fact_cannot_be_accepted(bad: Store) -> None:
    bad.add("Ana lives in Bergen", subject="ana", source=BAD, supersedes=3)
    (proposal,) = bad.proposals.list()
    bad.sources.distrust(BAD)
    assert bad.proposals.list() == []
    with pytest.raises(Conflict, match="is distrusted"):
        bad.proposals.accept(proposal.id)
    with pytest.raises(Conflict, match="fact 4 is distrusted, so it cannot supersede fact 3"):
        bad.supersede(3, 4)
    bad.sources.trust(BAD)
    assert [one.id for one in bad.proposals.list()] == [proposal.id]


def test_the_briefing_and_the_reminder_leave_it_out(store: Store) -> None:
    chat = store.within(source="chat")
    chat.add("Zanzibar-7 is the staging host", subject="staging", category="preference")
    chat.pin(1)
    store.tasks.create("call Zanzibar-7")
    chat.tasks.create("visit Zanzibar-8")
    assert "staging host" in store.remind("What about Zanzibar-7?").text
    assert "staging host" in store.briefing().text
    store.sources.distrust("chat")
    assert "staging host" not in store.remind("What about Zanzibar-7?").text
    assert "staging host" not in store.briefing().text
    assert [task.content for task in store.tasks.list()] == ["call Zanzibar-7"]


def test_every_namespace_and_owner_is_concerned(store: Store) -> None:
    store.within("other").add("a", subject="s", source=BAD, user_id="ann")
    store.within("other").add("b", subject="s", user_id="ann")
    assert store.sources.distrust(BAD).hidden_facts == 1
    other = store.within("other")
    ann = Scope(user_id="ann")
    assert [fact.content for fact in other.of(ann).list()] == ["b"]
    assert other.of(ann).count() == 1
    assert other.of(ann).status().distrusted == 1
    assert other.status().others.facts == 1
    assert other.status().distrusted == 0


def test_the_longest_prefix_decides(store: Store) -> None:
    store.add("a", subject="s", source="web:a.org/good")
    store.add("b", subject="s", source="web:a.org/bad")
    store.add("c", subject="s", source="web:a.org.b.net")
    store.sources.trust("web:a.org/good", "tool")
    store.sources.distrust("web:a.org")
    assert shown(store) == [1, 3]
    store.sources.trust("web:a.org/bad", "external")
    assert shown(store) == [1, 2, 3]


def test_the_graph_leaves_it_out(store: Store) -> None:
    store.add("Ana works at Acme", subject="Ana", source=BAD)
    store.add("Bob works at Initech", subject="Bob")
    store.graph.build()
    names = {one.name for one in store.graph.entities()}
    store.sources.distrust(BAD)
    left = {one.name for one in store.graph.entities()}
    assert "Ana" in names - left
    assert "Bob" in left
    store.sources.trust(BAD)
    assert {one.name for one in store.graph.entities()} == names


def test_a_memory_leaves_it_out(store: Store) -> None:
    memory = Memory(store)
    memory.add("Ana likes tea", user_id="ana", infer=False)
    store.add("Ana likes gin", subject="ana", source=BAD, user_id="ana")
    assert len(memory.get_all(user_id="ana")) == 2
    store.sources.distrust(BAD)
    assert [one["id"] for one in memory.get_all(user_id="ana")] == [1]
    assert [one["id"] for one in memory.search("tea gin", user_id="ana")] == [1]


def test_an_unread_conversation_of_it_is_not_learned_from(store: Store) -> None:
    store.episodes.add("I like tea", source="chat", thread="t", speaker="user")
    assert len(store.readings.unread_threads("default", Scope())) == 1
    store.sources.distrust("chat")
    assert store.readings.unread_threads("default", Scope()) == []


# -- what brings a fact back -------------------------------------------------------------


def test_another_support_keeps_a_fact(bad: Store) -> None:
    bad.confirm(1)
    assert bad.sources.distrust(BAD).hidden_facts == 1
    assert shown(bad) == [1, 3]


def test_a_support_that_is_added_brings_a_fact_back(bad: Store) -> None:
    bad.sources.distrust(BAD)
    confirmed = bad.confirm(2)
    assert confirmed == bad.get(2)
    assert (confirmed.status, shown(bad)) == ("active", [2, 3])
    assert bad.search("Oslo")[0].fact.id == 2


def test_a_fact_heard_again_comes_back_and_goes_with_its_episode(bad: Store) -> None:
    bad.sources.distrust(BAD)
    bad.add("The moon is made of cheese.", subject="moon", unless_known=True, source=BAD)
    assert shown(bad) == [3]
    talk = bad.episodes.record("So the moon is made of cheese.", source="chat")
    heard = bad.add(
        "The moon is made of cheese", subject="moon", episode_id=talk.id, unless_known=True
    )
    assert (heard.id, heard.status, shown(bad)) == (1, "active", [1, 3])
    bad.episodes.erase(talk.id)
    assert shown(bad) == [3]


def test_a_fact_that_a_model_reads_elsewhere_comes_back(bad: Store) -> None:
    bad.sources.distrust(BAD)
    said = '{"facts": [{"content": "Ana lives in Oslo", "subject": "ana", "category": "identity"}]}'
    Extractor(bad, Scripted(said)).extract("Ana lives in Oslo, she says.")
    assert shown(bad) == [2, 3]
    assert [support.kind for support in bad.ledger.support(2)] == ["said", "restated"]


def test_a_restored_text_is_shown_beside_a_hidden_one(store: Store) -> None:
    store.add("Ana lives in Oslo", subject="ana")
    store.add("Ana lives in Rome", subject="ana", supersedes=1)
    store.add("Ana lives in Oslo", subject="ana", source=BAD)
    store.sources.distrust(BAD)
    assert store.restore(1).content == "Ana lives in Oslo"
    assert "Ana lives in Oslo" in [fact.content for fact in store.list()]


def test_what_speaks_against_a_fact_does_not_bring_it_back(bad: Store) -> None:
    bad.sources.distrust(BAD)
    with bad.file.engine.write() as transaction:
        writer = facts_of(bad).writer(transaction)
        writer._propose(writer.known(1), 3, None)
    assert SupportKind.DENIED in [support.kind for support in bad.ledger.support(1)]
    assert shown(bad) == [3]


def test_a_distrusted_fact_can_be_corrected(bad: Store) -> None:
    bad.sources.distrust(BAD)
    bad.add("The moon is made of rock", subject="moon", supersedes=1)
    assert bad.get(1).status == "superseded"
    assert shown(bad) == [3, 4]


def test_a_support_that_is_reverted_hides_a_fact_again(bad: Store) -> None:
    bad.sources.distrust(BAD)
    bad.within(source="chat").confirm(2)
    assert shown(bad) == [2, 3]
    done = bad.ledger.revert(source="chat").apply()
    assert shown(bad) == [3]
    bad.ledger.revert(lines=done.lines).apply()
    assert shown(bad) == [2, 3]


def test_erasing_a_distrusted_episode_leaves_its_facts_hidden(bad: Store) -> None:
    bad.sources.distrust(BAD)
    bad.episodes.erase(1)
    assert bad.ledger.support(1) == []
    assert (bad.get(1).status, shown(bad)) == ("distrusted", [3])
    bad.file.rebuild()
    assert (bad.ledger.verify(), shown(bad)) == ([], [3])
    bad.sources.distrust("web:b.org")
    assert shown(bad) == [3]
    bad.sources.trust(BAD)
    assert shown(bad) == [1, 2, 3]
    bad.sources.distrust(BAD)
    bad.confirm(1)
    assert shown(bad) == [1, 3]


def test_erasing_a_distrusted_episode_hides_no_fact_with_another_support(bad: Store) -> None:
    bad.sources.distrust(BAD)
    bad.confirm(1)
    bad.episodes.erase(1)
    assert shown(bad) == [1, 3]


def test_what_a_distrusted_source_was_is_erased_with_its_episode(
    open_store: OpenStore, tmp_path: Path
) -> None:
    store = open_store(tmp_path / "memory.db")
    page = store.episodes.record("Ana is tall", source="web:a.org/secretplace")
    store.add("Ana is tall", subject="ana", episode_id=page.id)
    store.sources.distrust(BAD)
    store.episodes.erase(page.id)
    store.close()
    assert b"secretplace" not in (tmp_path / "memory.db").read_bytes()


def test_trusting_again_brings_everything_back_exactly(bad: Store) -> None:
    before = everything(bad)
    bad.sources.distrust(BAD)
    assert everything(bad) != before
    change = bad.sources.trust(BAD)
    assert (change.shown_facts, change.shown_episodes) == (2, 1)
    assert everything(bad) == before


def test_each_change_is_journalled_with_the_whole_table(bad: Store) -> None:
    bad.sources.trust("chat", "person")
    bad.sources.distrust("Web:A.org ")
    assert bad.sources.distrust(BAD).hidden_facts == 0  # known already: nothing is written
    bad.sources.trust(BAD)
    bad.sources.trust(BAD)
    with bad.file.engine.read() as transaction:
        lines = memstore.database.journal.of_kinds(transaction, ["trust", "distrust"])
    held = {"levels": {"chat": "person"}, "distrusted": []}
    hidden = {"levels": {"chat": "person"}, "distrusted": [BAD]}
    assert [(line.kind, line.before, line.after) for line in lines[1:]] == [
        ("distrust", held, hidden),
        ("trust", hidden, held),
    ]


def test_it_survives_reopening_and_reaches_other_openings(
    open_store: OpenStore, tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    one, two = open_store(path), open_store(path)
    one.add("Ana lives in Oslo", subject="ana", source=BAD)
    assert two.search("Oslo")
    one.sources.distrust(BAD)
    assert not two.search("Oslo")
    two.add("Ana lives in Bergen", subject="ana", source=BAD)
    assert open_store(path).list() == []


def test_a_confined_store_distrusts_nothing(store: Store) -> None:
    with pytest.raises(AccessDenied):
        store.within(confined=True).sources.distrust(BAD)


def test_a_blank_source_is_refused(store: Store) -> None:
    with pytest.raises(memstore.InvalidArgument, match="source"):
        store.sources.distrust(" ")


def test_the_id_of_other_namespaces_stays_unknown(store: Store) -> None:
    store.within("other").add("a", subject="s", source=BAD)
    store.sources.distrust(BAD)
    with pytest.raises(NotFound):
        store.get(1)


def test_the_asynchronous_store_distrusts(tmp_path: Path) -> None:
    async def found() -> int:
        async with AsyncStore(memstore.open(tmp_path / "a.db")) as store:
            await store.add("a", subject="s", source=BAD)
            return (await store.sources.distrust(BAD)).hidden_facts

    assert asyncio.run(found()) == 1


def test_what_is_imported_is_judged_by_the_file_that_imports_if_it_holds_anything(
    bad: Store, open_store: OpenStore, tmp_path: Path
) -> None:
    bad.sources.trust("chat", "person")
    bad.sources.distrust(BAD)
    exported = [*bad.transfer.export()]
    empty = open_store(tmp_path / "empty.db")
    assert (empty.transfer.import_(exported).levels, shown(empty)) == (2, [3])
    assert empty.sources.levels() == bad.sources.levels()
    filled = open_store(tmp_path / "filled.db")
    filled.add("mine", subject="mine")
    done = filled.transfer.import_(exported)
    assert (done.levels, len(done.levels_left)) == (0, 2)
    assert (shown(filled), "chat" in filled.sources.levels()) == ([1, 2, 3, 4], False)
    wary = open_store(tmp_path / "wary.db")
    wary.sources.distrust(BAD)
    wary.transfer.import_(exported)
    assert (shown(wary), wary.episodes.list()) == ([3], [])
    assert wary.ledger.verify() == []
    wary.sources.trust(BAD)
    assert shown(wary) == [1, 2, 3]


def test_a_row_of_another_program_is_hidden_when_it_is_adopted(store: Store) -> None:
    store.sources.distrust(BAD)
    sql(
        store.path,
        "INSERT INTO memstore_facts (content, subject, category, created_at, source)"
        " VALUES ('x', 's', 'note', '2026-01-01T00:00:00.000000Z', 'web:a.org/x')",
    )
    store.add("y", subject="s")
    assert (shown(store), store.ledger.verify()) == ([2], [])


def test_a_write_that_fails_hides_nothing(bad: Store) -> None:
    bad.sources.distrust(BAD)

    def fail() -> None:
        with facts_of(bad).writing() as transaction:
            writer = facts_of(bad).writer(transaction)
            assert writer.confirm(writer.known(2)).status == "active"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (bad.get(2).status, shown(bad)) == ("distrusted", [3])


def test_a_backup_has_what_is_distrusted(bad: Store, open_store: OpenStore, tmp_path: Path) -> None:
    bad.sources.distrust(BAD)
    bad.file.backup(tmp_path / "backup.db")
    copy = open_store(tmp_path / "backup.db")
    assert (shown(copy), copy.sources.levels()[BAD]) == ([3], "distrusted")


# -- what is derived is checked and rebuilt ----------------------------------------------


def test_what_another_program_hides_or_shows_is_found_and_repaired(bad: Store) -> None:
    bad.sources.distrust(BAD)
    with bad.file.engine.write() as transaction:
        transaction.execute("DELETE FROM memstore_distrusted WHERE fact_id = 1")
        transaction.execute("INSERT INTO memstore_distrusted VALUES (3), (99)")
        transaction.execute("DELETE FROM memstore_distrusted_episodes")
    assert [(one.message, one.repairable) for one in bad.ledger.verify()] == [
        ("facts wrongly hidden, or wrongly shown: 1, 3, 99", True),
        ("episodes wrongly hidden, or wrongly shown: 1", True),
    ]
    assert {one.check for one in bad.file.doctor()} == {"trust"}
    bad.file.rebuild()
    assert (bad.ledger.verify(), shown(bad)) == ([], [3])


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM memstore_meta WHERE key = 'trust'",
        "UPDATE memstore_meta SET value = replace(value, 'web:a.org', 'b') WHERE key = 'trust'",
    ],
)
def test_a_table_of_sources_that_another_program_changes_is_restored(
    bad: Store, change: str
) -> None:
    bad.sources.distrust(BAD)
    sql(bad.path, change)
    told = next(one.message for one in bad.ledger.verify() if one.check == "trust")
    assert told.startswith("sources that count other than journalled: ")
    assert BAD in told
    bad.file.rebuild()
    assert (bad.ledger.verify(), shown(bad), bad.sources.levels()[BAD]) == ([], [3], "distrusted")


# -- any order of changes ----------------------------------------------------------------

SOURCES = ["web:a.org/x", "web:a.org/y", "web:b.org", "chat"]
SOURCE = st.sampled_from(SOURCES)
PREFIX = st.sampled_from(["web:a.org", "web:a.org/x", "web:", "chat"])
ID = st.integers(1, 8)
TEXT = st.sampled_from(["a b", "b c", "c d", "d e"])
ACTS = st.one_of(
    st.tuples(st.just("add"), TEXT, SOURCE, st.booleans()),
    st.tuples(st.just("say"), TEXT, SOURCE, st.booleans()),
    st.tuples(st.just("record"), TEXT, SOURCE),
    st.tuples(st.sampled_from(["confirm", "delete", "restore", "erase"]), ID, SOURCE),
    st.tuples(st.just("supersede"), ID, ID, SOURCE),
    st.tuples(st.just("erase episode"), ID),
    st.tuples(st.just("revert"), SOURCE),
    st.tuples(st.sampled_from(["distrust", "trust"]), PREFIX),
)


def act(store: Store, act: tuple[Any, ...]) -> None:
    """Do one thing, unless it is refused."""
    kind, *given = act
    try:
        if kind == "add":
            content, source, again = given
            store.add(content, subject="s", source=source, unless_known=again)
        elif kind == "say":
            content, source, again = given
            page = store.episodes.record(content, source=source)
            store.add(content, subject="s", episode_id=page.id, unless_known=again)
        elif kind == "record":
            store.episodes.record(given[0], source=given[1])
        elif kind == "supersede":
            store.within(source=given[2]).supersede(given[0], given[1])
        elif kind == "erase episode":
            store.episodes.erase(given[0])
        elif kind == "revert":
            store.ledger.revert(source=given[0]).apply()
        elif kind in ("distrust", "trust"):
            getattr(store.sources, kind)(given[0])
        else:
            getattr(store.within(source=given[1]), kind)(given[0])
    except (Conflict, NotFound):
        pass


def check(store: Store) -> None:
    """Compare what is hidden with the supports, and what is found with what is hidden."""
    with store.file.engine.read() as transaction:
        assert trust.misjudged(transaction) == trust.misjudged_episodes(transaction) == []
    facts = [
        fact
        for name in "abcde"
        for fact in store.list(subject="s", active_only=False)
        if name in fact.content
    ]
    assert not [fact for fact in facts if fact.distrusted]
    active = store.list()
    assert {hit.fact.id for hit in store.search("a b c d e", limit=50)} == {
        fact.id for fact in active
    }
    assert store.count() == len(active) == store.status().active
    assert store.status().subjects == ({"s": len(active)} if active else {})
    assert store.status().episodes == len(store.episodes.list())


@pytest.mark.hypothesis
@settings(deadline=None)
@given(st.lists(ACTS, max_size=14), PREFIX)
def test_what_is_hidden_follows_every_change(acts: list[tuple[Any, ...]], prefix: str) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        for one in acts:
            act(store, one)
            check(store)
        for source in ("web:a.org", "web:a.org/x", "web:", "chat"):
            store.sources.trust(source)
        before = everything(store)
        assert before["status"]["distrusted"] == 0
        store.sources.distrust(prefix)
        check(store)
        store.sources.trust(prefix)
        assert everything(store) == before


@pytest.mark.hypothesis
@settings(deadline=None)
@given(st.lists(ACTS, min_size=4, max_size=14))
def test_what_was_hidden_at_a_line_is_what_was_hidden_then(acts: list[tuple[Any, ...]]) -> None:
    with memstore.open(":memory:", embedder=None) as store:
        then: dict[int, tuple[set[int], set[int]]] = {}
        for one in acts:
            # An erased text speaks for nothing, not even in the past.
            if one[0] not in ("erase", "erase episode"):
                act(store, one)
            with store.file.engine.read() as transaction:
                last = memstore.database.journal.last_id(transaction)
                then[last] = (
                    {*distrusted.FACTS.ids(transaction)},
                    {*distrusted.EPISODES.ids(transaction)},
                )
        with store.file.engine.read() as transaction:
            ids = range(1, len(acts) + 1)
            for line, (facts, episodes) in then.items():
                assert trust.distrusted_at(transaction, ids, line) == facts
                # An episode that was recorded later is not one of then.
                said = {id_ for id_ in ids if id_ <= max(episodes, default=0)}
                assert trust.distrusted_episodes_at(transaction, said, line) == episodes


def test_what_was_hidden_at_a_line_outlives_an_erasure(bad: Store) -> None:
    bad.sources.distrust(BAD)
    line = bad.file.head().line
    bad.episodes.erase(1)
    bad.sources.trust(BAD)
    with bad.file.engine.read() as transaction:
        assert trust.distrusted_at(transaction, [1, 2, 3], line) == {1, 2}
        assert trust.distrusted_at(transaction, [1, 2, 3], line - 1) == set()
        assert trust.distrusted_at(transaction, [2, 3], line) == {2}
