"""The memory as of an earlier moment is what it was then."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.test_index import without_index
from tests.support.clock import ManualClock

import memstore
from memstore import InvalidArgument, MemstoreError, NotFound, Scope, Store
from memstore.database.tables import replies
from memstore.domain import clock
from memstore.frozen import replace

OpenStore = Callable[..., Store]

ANA = Scope(user_id="ana")


def told(fact: Any) -> dict[str, Any]:
    """Return what a fact says, without how often it was used and which moment it is of."""
    values = fact.to_dict()
    for name in ("use_count", "last_used_at", "as_of", "embedded", "embed_error"):
        values.pop(name, None)
    return values


def op(store: Store) -> str:
    return f"op:{store.file.head().line}"


# -- single cases ------------------------------------------------------------------------


def test_a_view_has_what_was_active_with_the_metadata_and_confirmations_of_then(
    store: Store,
) -> None:
    old = store.add("Alice lives in Lisbon", subject="alice")
    store.update_metadata(old.id, {"sure": 1})
    store.confirm(old.id)
    gone = store.add("Bob likes tea", subject="bob")
    then = store.as_of(op(store))
    before = [told(fact) for fact in store.list()]
    store.update_metadata(old.id, {"sure": 2})
    store.confirm(old.id)
    new = store.add("Alice lives in Rome", subject="alice", supersedes=old.id)
    store.delete(gone.id)
    assert [told(fact) for fact in then.list()] == before
    assert [fact.id for fact in then.list(filters={"sure": 1})] == [old.id]
    assert then.list(filters={"sure": 2}) == []
    assert then.get(old.id).as_of == then.at
    assert [hit.fact.id for hit in then.search("where does Alice live")][:1] == [old.id]
    assert [told(fact) for fact in then.history(old.id)] == before[:1]
    assert then.recall("Alice", max_tokens=100).facts == (old.id,)
    assert then.exists("Alice lives in Lisbon", subject="alice")
    assert not then.exists("Alice lives in Rome", subject="alice")
    assert then.count() == then.status().active == 2
    with pytest.raises(NotFound, match=f"fact {new.id} was stored after"):
        then.get(new.id)


def test_a_view_can_only_be_read(store: Store) -> None:
    store.add("Alice lives in Lisbon", subject="alice")
    then = store.as_of("now")
    verbs = {name for name in dir(Store) if not name.startswith("_")}
    assert {"add", "delete", "erase", "tasks", "episodes", "sources"} <= verbs - {*dir(then)}
    for room in ("keys", "ledger", "transfer", "graph"):
        read = {name for name in dir(getattr(then, room)) if not name.startswith("_")}
        assert read < {*dir(getattr(store, room))}, room
    assert store.count() == 1


def test_before_the_first_line_nothing_was_there(store: Store) -> None:
    store.add("Alice lives in Lisbon", subject="alice")
    store.episodes.add("Alice moved", source="chat")
    for moment in (datetime(2020, 1, 1, tzinfo=UTC), "yesterday", "90w"):
        then = store.as_of(moment)
        assert (then.line, then.list(), list(then.search("Alice")), then.count()) == (0, [], [], 0)
        assert then.recall("Alice", max_tokens=100).text == ""
        assert then.status().active == 0
        with pytest.raises(NotFound, match="was stored after"):
            then.get(1)


def test_what_was_erased_since_stays_erased(store: Store) -> None:
    kept = store.add("Alice lives in Lisbon", subject="alice")
    secret = store.add("The password is hunter2", subject="api", metadata={"k": "hunter2"})
    said = store.episodes.add("I said hunter2", source="chat")
    then = store.as_of("now")
    store.erase(secret.id)
    store.episodes.erase(said.id)
    assert [fact.id for fact in then.list()] == [kept.id]
    assert [hit.fact.id for hit in then.search("password hunter2")] in ([], [kept.id])
    assert "hunter2" not in repr(then.recall("hunter2 password", max_tokens=500))
    assert "hunter2" not in repr(then.history(subject="api"))
    assert not then.exists("The password is hunter2", subject="api")
    with pytest.raises(NotFound):
        then.get(secret.id)


def test_a_fact_that_has_expired_since_was_active(open_store: OpenStore) -> None:
    now = ManualClock()
    with clock.use(now), open_store() as store:
        ends = now.utc_now() + timedelta(hours=1)
        fact = store.add("The door is open", subject="door", expired_at=ends)
        then = store.as_of("now")
        now.advance(7200)
        assert store.list() == []
        assert [one.status for one in then.list()] == ["active"]
        assert then.search("door")[0].fact.id == fact.id
        assert (then.status().active, then.status().expired) == (1, 0)
        store.add("another", subject="x")
        assert store.as_of("now").status().expired == 1


def test_episodes_of_then_are_recalled(store: Store) -> None:
    first = store.episodes.add("We talked about the harbour", source="chat", tags=["sea"])
    then = store.as_of("now")
    store.episodes.update(first.id, expired_at=datetime(2020, 1, 1, tzinfo=UTC))
    store.episodes.add("The harbour again", source="chat")
    assert then.recall("harbour", max_tokens=200).episodes == (first.id,)
    assert then.status().episodes == 1


def test_an_export_of_then_brings_back_what_was_there(
    store: Store, open_store: OpenStore, tmp_path: Path
) -> None:
    old = store.add("Alice lives in Lisbon", subject="alice", metadata={"k": 1})
    new = store.add("Alice lives in Rome", subject="alice", supersedes=old.id)
    gone = store.add("The password is hunter2", subject="api")
    said = store.episodes.add("We met at the harbour", source="chat", tags=["sea"])
    then = store.as_of("now")
    store.update_metadata(new.id, {"k": 2})
    store.delete(new.id)
    store.episodes.update(said.id, tags=["land"])
    store.erase(gone.id)
    store.add("Bob likes tea", subject="bob")
    lines = [*then.transfer.export()]
    assert "hunter2" not in "".join(lines)
    with memstore.open(tmp_path / "copy.db", embedder=None) as copy:
        copy.transfer.import_(lines)
        facts = copy.list(active_only=False, include_deleted=True)
        assert [(fact.content, fact.metadata, fact.status) for fact in facts] == [
            ("Alice lives in Lisbon", {"k": 1}, "superseded"),
            ("Alice lives in Rome", {}, "active"),
        ]
        assert [episode.tags for episode in copy.episodes.list()] == [["sea"]]
        assert copy.ledger.verify() == []
    assert lines[0].count(then.status().head) == 1


def test_an_export_of_then_has_proposals_replies_and_decisions_of_then(
    store: Store, open_store: OpenStore, tmp_path: Path
) -> None:
    said = store.episodes.add("Ana moved", source="chat")
    page = store.episodes.add("Ana left", source="chat")
    for number, subject in enumerate("aabbcc"):
        store.add(f"fact {number}", subject=subject)
    put = partial(store.proposals.put_forward, evidence={})
    first, second, third = put([1, 2], "both a"), put([3, 4], "both b"), put([5, 6], "both c")
    store.proposals.reject(third.id)
    with store.file.engine.write() as transaction:
        replies.insert(transaction, said.id, "k", "model", {"facts": []})
    store.graph.build()
    store.graph.merge("ana", "anna")
    then = store.as_of("now")

    store.proposals.accept(first.id)
    store.proposals.reject(second.id)
    store.add("fact 9", subject="a", supersedes=store.list(subject="a")[0].id, source="web:x")
    with store.file.engine.write() as transaction:
        replies.insert(transaction, page.id, "k", "model", {"facts": ["later"]})
    store.graph.merge("ana", "annie")

    lines = [*then.transfer.export()]
    assert "later" not in "".join(lines)
    copy = open_store(tmp_path / "copy.db", embedder=None)
    report = copy.transfer.import_(lines)
    assert report.proposals == 3
    open_ = copy.proposals.list()
    assert [one.content for one in open_] == ["both a", "both b"]
    assert [one.content for one in copy.proposals.list(state="rejected")] == ["both c"]
    assert copy.proposals.accept(open_[0].id).new is not None
    assert [(one.left, one.right) for one in copy.graph.decisions()] == [("ana", "anna")]
    with copy.file.engine.read() as transaction:
        assert [one.reply for one in replies.everything(transaction)] == ['{"facts":[]}']
    assert copy.ledger.verify() == []


def test_an_accepted_and_an_open_supersession_have_their_states_of_then(
    store: Store, open_store: OpenStore, tmp_path: Path
) -> None:
    for number in (1, 3):
        store.add(f"mine {number}", subject="s")
        store.add(f"theirs {number}", subject="s", source="web:a.org", supersedes=number)
    store.proposals.accept(1)
    moment = op(store)
    store.proposals.accept(2)
    copy = open_store(tmp_path / "copy.db", embedder=None)
    copy.transfer.import_(store.as_of(moment).transfer.export())
    states = {one.sources[0].content: one.state for one in copy.proposals.list(state=None)}
    assert states == {"mine 1": "accepted", "mine 3": "open"}
    assert [fact.content for fact in copy.list()] == ["theirs 1", "mine 3", "theirs 3"]
    assert copy.ledger.verify() == []


def test_the_graph_of_a_view_forgets_what_is_erased(store: Store) -> None:
    store.add("Alice works at GitHub", subject="alice")
    secret = store.add("Alice knows Quentin Kumquat", subject="alice")
    then = store.as_of("now")
    graph = then.graph
    assert len(graph.neighbours("alice")) == 2
    store.erase(secret.id)
    assert [one.entity.name for one in graph.neighbours("alice")] == ["GitHub"]
    assert "Kumquat" not in repr(graph.entities())


def test_without_an_index_the_same_facts_are_found(store: Store) -> None:
    facts = [store.add(f"the {word} of Ana", subject="ana") for word in WORDS]
    store.file.embed_pending()
    moment = op(store)
    store.delete(facts[0].id)
    store.update_metadata(facts[1].id, {"k": 1})
    store.add("tea again", subject="ana")

    def seen() -> list[Any]:
        then = store.as_of(moment)
        found = [{hit.fact.id for hit in then.search(word, **asked)} for asked, word in QUESTIONS]
        return [found, [fact.id for fact in then.list()], then.count(filters=[("k", "=", None)])]

    expected = seen()
    assert expected[1] == [fact.id for fact in facts]
    assert without_index(store, seen) == expected


QUESTIONS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"ranking": "classic", "vector_weight": 0}, "tea"),
    ({"ranking": "classic", "vector_weight": 0, "valid_on": "today"}, "Ana"),
    ({"ranking": "classic"}, "something to drink"),
)


def test_the_graph_of_then_has_what_was_active(store: Store) -> None:
    old = store.add("Alice works at GitHub", subject="alice")
    store.add("Alice knows Bob Smith", subject="alice")
    store.graph.merge("Bob Smith", "Robert Smith")
    then = store.as_of("now")
    store.add("Alice works at Globex Corp", subject="alice", supersedes=old.id)
    store.graph.build()

    def beside(graph: Any) -> set[str]:
        return {one.entity.name for one in graph.neighbours("alice")}

    assert beside(store.graph) == {"Globex Corp", "Bob Smith"}
    assert beside(then.graph) == {"GitHub", "Bob Smith"}
    assert then.graph.get("Robert Smith").name == "Bob Smith"
    with pytest.raises(NotFound):
        then.graph.get("Globex Corp")
    assert not hasattr(then.graph, "merge")


def test_owners_and_namespaces_see_their_own(store: Store) -> None:
    store.add("Ana likes tea", subject="ana", user_id="ana")
    store.add("Everybody likes tea", subject="all")
    store.within("other").add("Others like tea", subject="others")
    confined = store.within(confined=True).as_of("now")
    assert [fact.id for fact in confined.list()] == [2]
    assert [fact.id for fact in confined.of(ANA).list()] == [1]
    assert {hit.fact.id for hit in confined.of("all").search("tea")} == {1, 2}
    assert len(store.of("all").as_of("now").search("tea", namespaces="all")) == 3
    with pytest.raises(memstore.AccessDenied):
        confined.search("tea", namespaces="other")
    with pytest.raises(NotFound):
        confined.get(3)


def test_the_four_quadrants_of_known_and_true(open_store: OpenStore) -> None:
    """What was known then, and now, of what held then, and now."""
    now = ManualClock(datetime(2026, 3, 1, tzinfo=UTC))
    with clock.use(now), open_store() as store:
        old = store.add("Ana lives in Rome", subject="ana", valid_at="2026-01-01")
        march = store.as_of("now")
        now.advance(86_400 * 31)
        # Only now it becomes known that she had moved in February.
        new = store.add(
            "Ana lives in Oslo", subject="ana", supersedes=old.id, valid_at="2026-02-10"
        )
        known = {"then": march, "now": store}
        held = {"january": "2026-01-15", "february": "2026-02-20"}
        answers = {
            (k, h): [fact.id for fact in view.list(valid_on=day)]
            for (k, view), (h, day) in itertools.product(known.items(), held.items())
        }
        assert answers == {
            ("then", "january"): [old.id],
            ("then", "february"): [old.id],
            ("now", "january"): [old.id],
            ("now", "february"): [new.id],
        }
        assert store.get(old.id).holds_until == datetime(2026, 2, 10, tzinfo=UTC)
        assert march.get(old.id).holds_until is None
        found = store.search("where does Ana live", valid_on="2026-01-15")
        assert [hit.fact.id for hit in found] == [old.id]
        assert store.recall("Ana", max_tokens=99, valid_on="2026-01-15").facts == (old.id,)
        assert store.count(valid_on="2025-12-31") == 0


# -- against what was seen at the time -----------------------------------------------------

SUBJECTS = ("ana", "bob", "todo", "Zoë")
WORDS = ("tea", "milk", "Rome", "Oslo", "harbour", "door", "rain")
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"active_only": False},
    {"active_only": False, "include_deleted": True, "owners": "all"},
    {"owners": ANA},
    {"subject": "ana"},
    {"category": "event", "owners": "all"},
    {"tasks": False, "owners": "all"},
    {"pinned": True, "owners": "all"},
    {"filters": {"k": 1}, "owners": "all"},
    {"filters": [("k", "!=", 1)], "owners": "all", "active_only": False},
    {"filters": [("k", "=", None)], "owners": "all"},
    {"valid_on": "2026-01-02", "owners": "all"},
    {"valid_on": "2026-01-01T12:00:00Z", "owners": "all", "tasks": False},
)


def uuids(store: Store) -> set[str]:
    found = store.of("all").list(active_only=False, include_deleted=True)
    return {fact.uuid for fact in found}


def _list(store: Any, owners: Any = None, **asked: Any) -> list[Any]:
    found: list[Any] = store.of(owners).list(**asked)
    return found


class Told:
    """What a store says of itself: compared with what a view says later."""

    def __init__(self, store: Any, erased: frozenset[int]) -> None:
        listed = [_list(store, **asked) for asked in FILTERS]
        self.lists = [[told(fact) for fact in some if fact.id not in erased] for some in listed]
        self.counts = [len(some) for some in self.lists]
        ids = [fact["id"] for fact in self.lists[2]]
        self.chains = {id_: [told(one) for one in store.history(id_)] for id_ in ids}
        # A clock that was set back makes other ages: without them, the order is exact.
        by_words: Any = {"ranking": "classic", "vector_weight": 0, "half_lives_seconds": {}}
        self.found = [
            [
                (hit.fact.id, hit.word_score > 0, hit.fact.metadata)
                for hit in store.of("all").search(word, limit=1000, **by_words, **asked)
            ]
            for word in WORDS
            for asked in ({}, {"tasks": False})
        ]
        self.scores = [[hit.word_score for hit in store.search(word, **by_words)] for word in WORDS]

    def without(self, erased: frozenset[int]) -> None:
        """Drop what was erased since; the weights of words are not compared then."""
        self.lists = [[one for one in some if one["id"] not in erased] for some in self.lists]
        self.counts = [len(some) for some in self.lists]
        self.chains = {
            id_: [one for one in chain if one["id"] not in erased]
            for id_, chain in self.chains.items()
            if id_ not in erased
        }
        self.found = [[hit for hit in some if hit[0] not in erased] for some in self.found]
        self.scores = []


class Life:
    """A store that does what numbers say, and remembers what it looked like after each act."""

    def __init__(self, path: Path, now: ManualClock) -> None:
        self.now = now
        self.store = memstore.open(path, embedder=None)
        self.other = memstore.open(path, embedder=None, source="web:x")
        self.away = memstore.open(path.with_name("away.db"), embedder=None)
        self.seen: list[tuple[int, Told]] = []
        self.erased: set[int] = set()

    def close(self) -> None:
        for store in (self.store, self.other, self.away):
            store.close()

    def act(self, kind: int, which: int, what: int) -> None:
        self.now.advance((7, -3, 0.5, 86_400, 0)[what % 5])
        store = self.other if what % 3 == 0 else self.store
        with suppress(MemstoreError, ValueError):
            ACTS[kind % len(ACTS)](self, store, which, what)
        line = self.store.file.head().line
        if line and (not self.seen or self.seen[-1][0] != line):
            self.seen.append((line, Told(self.store, frozenset(self.erased))))

    def id(self, which: int) -> int:
        facts = self.store.of("all").list(active_only=False, include_deleted=True)
        return facts[which % len(facts)].id if facts else 1

    # the acts

    def add(self, store: Store, which: int, what: int) -> None:
        store.add(
            f"{WORDS[what % 7]} {WORDS[which % 7]} {which % 3}",
            subject=SUBJECTS[what % 4],
            category=("note", "event")[which % 2],
            metadata=({}, {"k": 1}, {"k": None}, {"k": "1"}, {"k": 2.5})[which % 5],
            user_id=(None, "ana")[what % 5 == 4],
            valid_at=(None, "2026-01-01", "2026-01-02T10:00:00Z")[which % 3],
            expired_at=self.now.utc_now() + timedelta(hours=5) if what % 6 == 5 else None,
        )

    def add_many(self, store: Store, which: int, what: int) -> None:
        new = [
            {"content": f"{WORDS[(what + n) % 7]} {n}", "subject": SUBJECTS[n % 2]}
            for n in range(which % 4 + 1)
        ]
        store.add_many(new)

    def replace(self, store: Store, which: int, what: int) -> None:
        old = store.get(self.id(which))
        store.add(
            f"{WORDS[what % 7]} instead {which}",
            subject=old.subject,
            supersedes=old.id,
            valid_at=(None, "2026-01-02")[what % 2],
            **old.scope.ids,
        )

    def supersede(self, store: Store, which: int, what: int) -> None:
        store.supersede(self.id(which), self.id(what), any_subject=True)

    def delete(self, store: Store, which: int, what: int) -> None:
        store.delete(self.id(which))

    def restore(self, store: Store, which: int, what: int) -> None:
        store.restore(self.id(which))

    def reinstate(self, store: Store, which: int, what: int) -> None:
        store.reinstate(self.id(which))

    def change(self, store: Store, which: int, what: int) -> None:
        store.update_metadata(self.id(which), {"k": (1, 2, None, "x", True)[what % 5]})

    def confirm(self, store: Store, which: int, what: int) -> None:
        store.confirm(self.id(which))

    def pin(self, store: Store, which: int, what: int) -> None:
        (store.pin if what % 2 else store.unpin)(self.id(which))

    def task(self, store: Store, which: int, what: int) -> None:
        tasks = store.tasks.list()
        if not tasks or what % 2:
            store.tasks.create(f"{WORDS[which % 7]} to do")
        else:
            store.tasks.update(tasks[which % len(tasks)].id, ("completed", "pending")[what % 4 > 1])

    def revert(self, store: Store, which: int, what: int) -> None:
        last = self.store.file.head().line
        store.of("all").ledger.revert(lines=[max(1, last - which % 4)]).apply()

    def distrust(self, store: Store, which: int, what: int) -> None:
        if what % 2:
            store.sources.distrust("web:x")
        else:
            store.sources.trust("web:x")

    def erase(self, store: Store, which: int, what: int) -> None:
        if what % 3 == 1:
            self.erased.add(self.id(which))
            store.erase(self.id(which))

    def carry(self, store: Store, which: int, what: int) -> None:
        """Export, change either file, and import the one into the other."""
        self.away.transfer.import_([*self.store.transfer.export()])
        facts = self.away.of("all").list()
        if facts:
            self.away.delete(facts[which % len(facts)].id)
            self.away.update_metadata(facts[what % len(facts)].id, {"k": "away"})
        self.away.add(f"{WORDS[what % 7]} from afar {which}", subject="ana")
        store.transfer.import_([*self.away.transfer.export()])

    def record(self, store: Store, which: int, what: int) -> None:
        said = store.episodes.record(f"{WORDS[which % 7]} was said {what}", source="chat")
        store.add(
            f"{WORDS[which % 7]} heard",
            subject="ana",
            episode_id=said.id,
            unless_known=bool(what % 2),
        )

    def propose(self, store: Store, which: int, what: int) -> None:
        ids = [fact.id for fact in store.list(subject="ana")]
        pair = {ids[which % len(ids)], ids[what % len(ids)]} if ids else ()
        store.of().proposals.put_forward([*pair], f"{WORDS[what % 7]} both", {})

    def decide(self, store: Store, which: int, what: int) -> None:
        held = store.proposals.list()
        if held:
            decide = store.proposals.accept if which % 3 else store.proposals.reject
            decide(held[what % len(held)].id)

    def forget(self, store: Store, which: int, what: int) -> None:
        if what % 3 == 2:
            plan = store.of("all").ledger.erasure(subject=SUBJECTS[which % 4])
            self.erased.update(plan.fact_ids)
            plan.apply()


ACTS = (
    Life.add,
    Life.add,
    Life.add_many,
    Life.replace,
    Life.replace,
    Life.supersede,
    Life.delete,
    Life.restore,
    Life.reinstate,
    Life.change,
    Life.change,
    Life.confirm,
    Life.pin,
    Life.task,
    Life.revert,
    Life.distrust,
    Life.erase,
    Life.carry,
    Life.record,
    Life.propose,
    Life.decide,
    Life.decide,
    Life.forget,
)


def live(path: Path, acts: list[tuple[int, int, int]]) -> None:
    now = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    with clock.use(now):
        life = Life(path, now)
        try:
            for act in acts:
                life.act(*act)
            erased = frozenset(life.erased)
            for line, before in life.seen:
                then = Told(life.store.as_of(f"op:{line}"), erased)
                if erased:
                    before.without(erased)
                    then.without(erased)
                assert vars(then) == vars(before), line
            if life.seen:
                line, before = life.seen[len(life.seen) // 2]
                with memstore.open(path.with_name("copy.db"), embedder=None) as copy:
                    copy.transfer.import_([*life.store.as_of(f"op:{line}").transfer.export()])
                    assert uuids(copy) >= {one["uuid"] for one in before.lists[2]}  # and hidden
                    assert copy.ledger.verify() == []
        finally:
            life.close()


NUMBERS = st.integers(0, 200)


@pytest.mark.hypothesis
@settings(deadline=None)
@given(acts=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=25))
def test_a_view_says_what_the_store_said_then(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[int, int, int]]
) -> None:
    live(tmp_path_factory.mktemp("life") / "memory.db", acts)


def test_a_view_for_asyncio_does_the_same(store: Store) -> None:
    fact = store.add("Alice works at GitHub", subject="alice")
    coat = memstore.AsyncStore(store)

    async def asked() -> None:
        view = await coat.as_of("now")
        then = store.as_of(f"op:{view.line}")
        assert [told(one) for one in await view.list()] == [told(one) for one in then.list()]
        assert (await view.search("GitHub"))[0].fact.id == fact.id
        assert [one.entity.name for one in await view.graph.neighbours("alice")] == ["GitHub"]
        assert not hasattr(view, "add")
        assert await view.status() == replace(then.status(), at=view.at)
        assert len([*await view.transfer.export()]) == len([*then.transfer.export()])

    asyncio.run(asked())


# -- why, and what was done, up to then ------------------------------------------------------------


def test_a_view_explains_as_of_then(store: Store) -> None:
    said = store.episodes.add("The port is 5499", source="chat", speaker="user")
    old = store.add("The port is 5432", subject="staging")
    new = store.add("The port is 5499", subject="staging", supersedes=old.id, episode_id=said.id)
    store.add("The port is 1", subject="staging", source="web:a.org", supersedes=new.id)
    then, told = store.as_of("now"), [str(store.ledger.explain(id_)) for id_ in (1, 2, 3)]
    supports = [store.ledger.support(id_) for id_ in (1, 2, 3)]
    store.confirm(new.id)
    store.proposals.accept(1)
    store.sources.trust("web:a.org", "agent")
    store.sources.distrust("chat")
    lines = [line.id for line in store.ledger.journal(old.id) if line.fact_id == old.id]
    store.ledger.revert(lines=lines[1:]).apply(decide={old.id: "undo"})
    assert store.get(old.id).status == "active"
    store.delete(3)
    assert [str(then.ledger.explain(id_)) for id_ in (1, 2, 3)] == told
    assert [then.ledger.support(id_) for id_ in (1, 2, 3)] == supports
    later = store.add("Bob is tall", subject="bob")
    with pytest.raises(NotFound, match="was stored after"):
        then.ledger.explain(later.id)
    store.erase(old.id)
    assert "5432" not in str(then.ledger.explain(old.id)) + str(then.ledger.explain(new.id))
    for scope in (Scope(user_id="ana"), Scope(user_id="ben")):
        with pytest.raises(NotFound):
            then.of(scope).ledger.explain(new.id)


def test_a_view_says_why_it_does_not_find_a_fact(store: Store) -> None:
    for number in range(12):
        store.add(f"tea number {number} in the harbour", subject="ana")
    gone = store.delete(3)
    then = store.as_of("now")
    expected = {id_: store.why_not("tea harbour", id_, ranking="classic") for id_ in range(1, 13)}
    store.restore(gone.id)
    store.delete(1)
    store.add("tea 2", subject="ana", supersedes=2)
    store.add("harbour harbour tea", subject="bob")
    then_found = [hit.fact.id for hit in then.search("tea harbour", ranking="classic")]
    for id_, was in expected.items():
        found = then.why_not("tea harbour", id_, ranking="classic")
        assert (found.stage, found.place, found.text) == (was.stage, was.place, was.text)
        assert (id_ in then_found) == (found.stage == "found")
        if found.place is not None and found.place <= 10:
            assert then_found[found.place - 1] == id_
    assert then.why_not("tea", 4, subject="bob").stage == "subject"
    assert then.why_not("tea", 4, max_tokens=500).stage == "found"
    with pytest.raises(NotFound):
        then.why_not("tea", 14)
    asyncs = memstore.AsyncView(then)
    assert asyncio.run(asyncs.why_not("tea", 4)).stage == "found"


def test_a_view_tells_what_had_been_done(store: Store) -> None:
    store.add("one", subject="s")
    began = op(store)
    store.add("two", subject="s", supersedes=1)
    then, told = store.as_of("now"), store.ledger.log()
    differences = store.ledger.diff(began)
    store.delete(2)
    store.add("three", subject="s")
    assert then.ledger.log() == told
    assert then.ledger.log(limit=1) == told[:1]
    assert then.ledger.log(before=told[0].line) == told[1:]
    assert [*then.ledger.diff(began)] == [*differences]
    with pytest.raises(InvalidArgument, match="is before the first moment"):
        then.ledger.diff("now")


def test_what_an_owner_lost_since_was_there(store: Store) -> None:
    hers = store.of(user_id="ana")
    kettle = hers.add("the kettle is blue", subject="kettle")
    hers.add("the pan is red", subject="pan")
    store.file.warm()
    line = hers.line
    hers.delete(kettle.id)
    hers.add("the pan is green", subject="pan", supersedes=2)
    then = hers.as_of(f"op:{line}")
    assert [one.id for one in then.list()] == [1, 2]
    assert (then.count(), hers.count()) == (2, 1)
