"""Erasing by a plan: what goes, what stays and why, and not a byte of what went."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import memstore
from memstore import Conflict, InvalidArgument, NotFound, Scope, Store
from memstore.database import short_transactions
from memstore.database.tables import facts as fact_table
from memstore.history import erasing, erasure

WEB = "web:x"

KEPT = frozenset(
    """id uuid namespace superseded_by superseded_at confirmed_count last_confirmed_at use_count
    last_used_at created_at valid_at expired_at deleted_at episode_id derivation
    unsearched""".split()
)
"""What an erased fact keeps: numbers, times and links, none of which says what it said."""


def told(
    plan: memstore.ErasurePlan,
) -> tuple[list[tuple[str, int | None]], list[tuple[str, int | None]]]:
    """Return what goes and what stays."""
    return [(s.kind, s.id) for s in plan.steps], [(s.kind, s.id) for s in plan.stays]


def rows(store: Store) -> list[dict[str, Any]]:
    facts = store.of("all").list(active_only=False, include_deleted=True)
    return [fact.to_dict() for fact in facts] + [
        episode.to_dict() for episode in store.of("all").episodes.list(include_expired=True)
    ]


def test_each_column_of_a_fact_is_blanked_by_erasing_or_known_to_stay() -> None:
    blanked = {*fact_table.BLANK, "metadata"}
    assert blanked | KEPT == {*fact_table.STORED}
    assert blanked & KEPT == set()


def test_a_plan_changes_nothing_and_says_what_goes_and_why(store: Store) -> None:
    said = store.episodes.record("Ana lives in Lisbon and likes tea", source="chat")
    only = store.add("Ana lives in Lisbon", subject="ana", episode_id=said.id)
    twice = store.add("Ana likes tea", subject="ana", episode_id=said.id)
    store.confirm(twice.id)
    before = rows(store), store.file.head()
    plan = store.ledger.erasure(episode=said.id)
    assert told(plan) == ([("fact", only.id), ("episode", said.id)], [("fact", twice.id)])
    assert plan.steps[0].claim == "ana: Ana lives in Lisbon"
    assert plan.steps[0].reason == (
        f"it was said in episode {said.id} by user through library, in line 2"
    )
    assert plan.steps[1].reason == "it was named"
    assert plan.stays[0].reason == ("it was also confirmed by user through library, in line 4")
    assert (plan.counts.facts, plan.counts.episodes, plan.counts.pieces) == (1, 1, 1)
    assert (rows(store), store.file.head()) == before


def test_applying_says_what_went_and_takes_the_support_of_what_stays(
    store: Store, path: Path
) -> None:
    said = store.episodes.record("Ana lives in Lisbon and likes tea", source="chat")
    store.add("Ana lives in Lisbon", subject="ana", episode_id=said.id)
    twice = store.add("Ana likes tea", subject="ana", episode_id=said.id)
    store.confirm(twice.id)
    plan = store.ledger.erasure(episode=said.id)
    done = plan.apply()
    assert (done.counts, done.left, done.is_gone) == (plan.counts, (), True)
    assert [support.kind for support in store.ledger.support(twice.id)] == ["confirmed"]
    assert b"Lisbon" not in path.read_bytes()
    assert store.ledger.verify() == []
    assert store.file.doctor(deep=True) == []


def test_a_support_whose_quote_was_erased_is_no_support_any_more(store: Store) -> None:
    fact = store.add("Ana likes tea", subject="ana")
    said = store.episodes.record("I like tea, says Ana", source="chat")
    evidence = {"episode": said.id, "said": "I like tea"}
    with store.file.engine.write() as transaction:
        memstore.store.store.facts_of(store).writer(transaction).confirm(fact, evidence)
    assert [support.kind for support in store.ledger.support(fact.id)] == ["said", "restated"]
    store.episodes.erase(said.id)
    assert [support.kind for support in store.ledger.support(fact.id)] == ["said"]


def test_drawn_facts_stay_if_the_caller_says_so(store: Store) -> None:
    said = store.episodes.record("Ana lives in Lisbon", source="chat")
    fact = store.add("Ana lives in Lisbon", subject="ana", episode_id=said.id)
    plan = store.ledger.erasure(episode=said.id, drawn=False)
    assert told(plan) == ([("episode", said.id)], [("fact", fact.id)])
    assert plan.stays[0].reason == "facts drawn from an episode were left out"
    plan.apply()
    again = store.ledger.erasure(episode=said.id)  # what the episode left behind can still be found
    assert told(again) == ([("fact", fact.id)], [])
    assert again.steps[0].reason == "nothing that it rested on is left"
    again.apply()
    assert store.count(active_only=False) == 0


def test_a_subject_takes_its_facts_and_names_the_episodes_that_stay(store: Store) -> None:
    said = store.episodes.record("Ana lives in Lisbon", source="chat")
    old = store.add("Ana lives in Rome", subject="Ana")
    new = store.add("Ana lives in Lisbon", subject="ANA", episode_id=said.id, supersedes=old.id)
    gone = store.delete(store.add("Ana is tall", subject="ana").id)
    other = store.add("Bob is tall", subject="bob")
    plan = store.ledger.erasure(subject="ana")
    goes = [("fact", old.id), ("fact", new.id), ("fact", gone.id)]
    assert told(plan) == (goes, [("episode", said.id)])
    assert plan.stays[0].reason == f"fact {new.id} was drawn from it"
    plan.apply()
    assert [fact.id for fact in store.list(active_only=False, include_deleted=True)] == [other.id]


def test_a_source_takes_what_is_of_it_and_leaves_what_others_say_too(store: Store) -> None:
    web = store.within(source=WEB)
    through = web.add("the port is 1", subject="a")
    cited = store.add("the port is 2", subject="b", source=WEB)
    page = store.episodes.record("the port is 3", source=WEB)
    drawn = store.add("the port is 3", subject="c", episode_id=page.id)
    mine = store.add("the port is 4", subject="d")
    both = store.add("the port is 5", subject="e", source=WEB)
    store.add("the port is 5", subject="e", source="chat", unless_known=True)
    plan = store.ledger.erasure(source=WEB)
    goes = [("fact", through.id), ("fact", cited.id), ("fact", drawn.id), ("episode", page.id)]
    assert told(plan) == (goes, [("fact", both.id)])
    assert plan.stays[0].reason.startswith("it was also restated, from chat,")
    plan.apply()
    assert [fact.id for fact in store.list()] == [mine.id, both.id]


def test_an_owner_takes_all_that_is_theirs(store: Store) -> None:
    kept = store.add("of nobody", subject="a")
    for agent in (None, "planner"):
        store.add("of ana", subject="a", user_id="ana", agent_id=agent)
        scope = Scope(user_id="ana", agent_id=agent)
        store.of(scope).episodes.add("ana said", source="chat")
    bob = store.add("of bob", subject="a", user_id="bob")
    assert len(store.ledger.erasure(owner=Scope(user_id="ana", agent_id="planner")).steps) == 2
    assert len(store.of(user_id="ana").ledger.erasure(owner="ana").steps) == 2
    plan = store.ledger.erasure(owner="ana")
    assert (len(plan.fact_ids), len(plan.episode_ids)) == (2, 2)
    plan.apply()
    assert [fact.id for fact in store.of("all").list()] == [kept.id, bob.id]
    assert store.of("all").episodes.count() == 0


def test_facts_of_other_owners_drawn_from_an_episode_that_goes_are_named(store: Store) -> None:
    ana = Scope(user_id="ana")
    said = store.of(ana).episodes.record("Ana and Bob live in Lisbon", source="chat")
    mine = store.add("Ana lives in Lisbon", subject="ana", user_id="ana", episode_id=said.id)
    theirs = store.add("Bob lives in Lisbon", subject="bob", user_id="bob", episode_id=said.id)
    told_all, told_ana = (
        store.ledger.erasure(owner="ana"),
        store.of(ana).ledger.erasure(owner="ana"),
    )
    goes = [("fact", mine.id), ("episode", said.id)]
    assert told(told_all) == (goes, [("fact", theirs.id)])
    assert told_all.stays[0].claim == "bob: Bob lives in Lisbon"
    assert told_all.stays[0].reason.startswith("it belongs to other owners; it was said in episode")
    assert told(told_ana) == (goes, [("fact", None)])
    assert (told_ana.stays[0].claim, told_ana.stays[0].text) == ("", "stays")
    assert (
        told_ana.stays[0].reason == f"it belongs to other owners; it was said in episode {said.id}"
    )
    assert "Bob" not in str(told_ana.to_dict()["stays"])
    # The support of the fact that stays goes, too.
    assert told_ana.counts == told_all.counts
    assert told_ana.apply().counts == told_all.counts
    assert store.get(theirs.id).content == "Bob lives in Lisbon"
    assert store.ledger.support(theirs.id) == []


def test_a_run_takes_what_was_recorded_in_it(path: Path) -> None:
    with memstore.open(path, embedder=None) as first:
        old = first.add("an old thing", subject="a")
    with memstore.open(path, embedder=None) as second:
        second.add("a new thing", subject="a")
        second.episodes.add("new words", source="chat")
        second.confirm(old.id)
        run = second.ledger.journal(2)[0].run
        assert run is not None
        plan = second.ledger.erasure(run=run)
        assert told(plan) == ([("fact", 2), ("episode", 1)], [("fact", old.id)])
        plan.apply()
        assert [fact.id for fact in second.list()] == [old.id]


def test_conditions_narrow_the_selection(store: Store) -> None:
    said = store.episodes.record("a and b", source=WEB)
    a = store.add("a", subject="a", episode_id=said.id)
    store.add("b", subject="b", episode_id=said.id)
    store.add("a too", subject="a")
    plan = store.ledger.erasure(episode=said.id, subject="a")
    assert told(plan) == ([("fact", a.id)], [("episode", said.id)])
    assert told(store.ledger.erasure(source=WEB, facts=[a.id])) == told(plan)
    plan.apply()
    assert store.episodes.get(said.id).content == "a and b"


def test_nothing_selected_is_an_error(store: Store) -> None:
    fact = store.add("a", subject="a", user_id="ana")
    with pytest.raises(InvalidArgument, match="nothing is selected: give an episode"):
        store.ledger.erasure()
    for nothing in (
        {"subject": "b"},
        {"source": "b"},
        {"owner": "bob"},
        {"episode": 9},
        {"facts": [fact.id]},  # of another owner
    ):
        with pytest.raises(NotFound):
            store.ledger.erasure(**nothing)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        store.of("all").ledger.erasure(facts=[fact.id, 9])
    for wrong, argument in (
        ({"owner": Scope()}, "owner"),
        ({"owner": 1}, "owner"),
        ({"run": "x"}, "run"),
        ({"facts": "12"}, "facts"),
        ({"episode": "1"}, "episode"),
        ({"subject": " "}, "subject"),
    ):
        with pytest.raises((ValueError, TypeError)) as caught:
            store.ledger.erasure(**wrong)  # type: ignore[arg-type]
        assert caught.value.argument == argument  # type: ignore[attr-defined]


def test_a_plan_that_no_longer_holds_is_refused(store: Store) -> None:
    said = store.episodes.record("a", source="chat")
    a = store.add("a", subject="a", episode_id=said.id)
    other = store.add("b", subject="b")

    def changes() -> list[Callable[[], object]]:
        return [
            lambda: store.confirm(a.id),
            lambda: store.add("a 2", subject="a 2", episode_id=said.id),
            lambda: store.episodes.update(said.id, tags=["x"]),
        ]

    for change in changes():
        plan = store.ledger.erasure(episode=said.id)
        change()
        before = rows(store)
        with pytest.raises(Conflict, match="nothing was done"):
            plan.apply()
        assert rows(store) == before
    plan = store.ledger.erasure(subject="b")
    store.add("b too", subject="B")
    with pytest.raises(Conflict):
        plan.apply()
    plan = store.ledger.erasure(subject="b")
    store.confirm(a.id)  # it has nothing to do with it
    plan.apply()
    with pytest.raises(NotFound):
        store.get(other.id)


def test_what_others_change_meanwhile_is_left_and_named(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short_transactions, "SECONDS", 0.0)
    monkeypatch.setattr(erasure, "ERASED_AT_ONCE", 1)
    facts = [store.add(f"a {n}", subject="a", source=WEB) for n in range(3)]
    said = [store.episodes.add(f"ana {n}", source=WEB).id for n in range(2)]

    def progress(done: int, total: int) -> None:
        assert total == 5
        if done == 1:
            store.confirm(facts[2].id)
        if done == 3:
            store.episodes.update(said[1], tags=["new"])

    done = store.ledger.erasure(source=WEB).apply(progress=progress)
    assert [(step.kind, step.id, step.reason) for step in done.left] == [
        ("fact", facts[2].id, "it was changed while the others were erased"),
        ("episode", said[1], "it was changed while the others were erased"),
    ]
    assert (done.counts.facts, done.counts.episodes) == (2, 1)
    assert [fact.id for fact in store.list()] == [facts[2].id]
    assert [episode.id for episode in store.episodes.list()] == [said[1]]


@pytest.mark.parametrize("stop", range(12))
def test_an_interrupted_erasure_leaves_whole_rows_and_is_completed_by_the_next(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    monkeypatch.setattr(short_transactions, "SECONDS", 0.0)
    monkeypatch.setattr(erasure, "ERASED_AT_ONCE", 1)
    secret = "zqsecret"
    for n in range(3):
        page = store.episodes.record(f"page {n} has {secret}{n}", source=WEB)
        store.add(f"{secret}{n}", subject="pages", episode_id=page.id)
    in_steps = erasure.in_steps

    def interrupted(*given: Any, **more: Any) -> Any:
        yield from islice(in_steps(*given, **more), stop)
        raise KeyboardInterrupt

    plan = store.ledger.erasure(source=WEB)
    with monkeypatch.context() as patched:
        patched.setattr(erasure, "in_steps", interrupted)
        with pytest.raises(KeyboardInterrupt):
            plan.apply()
    assert store.file.doctor(deep=True) == []
    assert store.ledger.verify() == []
    for fact in store.list():
        assert store.search(fact.content)
    done = store.ledger.erasure(source=WEB).apply()
    assert done.is_gone
    assert secret.encode() not in path.read_bytes()
    assert (store.count(active_only=False), store.episodes.count()) == (0, 0)
    with pytest.raises(NotFound):
        store.ledger.erasure(source=WEB)


@pytest.mark.parametrize("stop", range(9))
def test_an_interrupted_clear_leaves_whole_rows_and_is_completed_by_the_next(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    monkeypatch.setattr(short_transactions, "SECONDS", 0.0)
    monkeypatch.setattr(erasure, "ERASED_AT_ONCE", 1)
    secret = "zqsecret"
    other = store.within("other").add("theirs", subject="a")
    for n in range(3):
        page = store.episodes.record(f"page {n} has {secret}{n}", source=WEB)
        store.add(f"Ana {secret}{n} knows Bob Marsh", subject="Ana Silva", episode_id=page.id)
    store.graph.build()
    store.graph.merge(f"Ana {secret}0", "Ana Silva")
    in_steps = erasure.in_steps

    def interrupted(*given: Any, **more: Any) -> Any:
        yield from islice(in_steps(*given, **more), stop)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(erasure, "in_steps", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.clear()
    assert store.file.doctor(deep=True) == []
    for fact in store.list():
        assert store.search(fact.content)
    assert store.clear()
    assert secret.encode() not in path.read_bytes()
    assert (store.count(active_only=False), store.episodes.count()) == (0, 0)
    assert store.within("other").get(other.id).content == "theirs"
    assert store.file.doctor(deep=True) == []
    assert store.ledger.verify() == []


def test_others_write_while_a_namespace_is_cleared(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short_transactions, "SECONDS", 0.0)
    monkeypatch.setattr(erasure, "ERASED_AT_ONCE", 1)
    for n in range(3):
        store.add(f"a {n}", subject="a")
    steps, in_steps = [0], erasure.in_steps

    def meanwhile(*given: Any, **more: Any) -> Any:
        for _ in in_steps(*given, **more):
            steps[0] += 1
            if steps[0] == 2:  # nothing that is changed meanwhile escapes, but what is new stays
                store.confirm(3)
                store.add("b", subject="b")
            yield

    monkeypatch.setattr(erasure, "in_steps", meanwhile)
    assert store.clear()
    assert [fact.content for fact in store.list()] == ["b"]
    assert steps[0] > 5


def test_a_confined_store_sees_no_other_namespace_and_no_copies(store: Store) -> None:
    there = store.within("other").add("theirs", subject="a")
    mine = store.add("mine", subject="a")
    store.file.backup(Path(f"{store.path}.version-6"))
    confined = store.within(store.namespace, confined=True)
    plan = confined.ledger.erasure(subject="a")
    assert (plan.fact_ids, plan.copies) == ((mine.id,), ())
    assert store.ledger.erasure(subject="a").copies == (f"{store.path}.version-6",)
    with pytest.raises(NotFound):
        confined.ledger.erasure(facts=[there.id])
    plan.apply()
    assert store.within("other").get(there.id).content == "theirs"


def test_replies_that_quote_a_fact_go_and_their_episodes_are_closed(store: Store) -> None:
    said = store.episodes.add("some long text", source="chat")
    fact = store.add("the secret pass", subject="a")
    reply = {"facts": [{"content": "well, the secret pass it is"}]}
    with store.file.engine.write() as transaction:
        erasing.reply_table.insert(transaction, said.id, "k", "m", reply)
        erasing.reply_table.insert(transaction, said.id, "l", "m", {"facts": []})
    plan = store.ledger.erasure(facts=[fact.id])
    assert plan.counts.replies == 2
    assert plan.apply().counts == plan.counts
    with store.file.engine.read() as transaction:
        assert erasing.reply_table.count_all(transaction) == 0


def test_many_facts_take_the_graph_along(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure, "GRAPH_DROPPED_FROM", 3)
    monkeypatch.setattr(erasure, "SWEPT_AT_ONCE", 2)
    for n in range(4):
        store.add(f"Ana Silva works with Bob Marsh{n}", subject="Ana Silva")
    store.add("Carl Zeiss lives in Jena", subject="Carl Zeiss")
    store.graph.build()
    plan = store.ledger.erasure(subject="ana silva")
    assert plan.graphs == (store.namespace,)
    assert plan.counts.entries > 0
    plan.apply()
    assert store.file.doctor(deep=True) == []
    assert not store.graph.status().built_at


def test_erasing_two_facts_that_one_was_compared_with_leaves_a_whole_chain(store: Store) -> None:
    kept = store.add("Ana lives in Rome", subject="ana")
    said = store.episodes.add("I moved to Oslo", source="chat")
    others = []
    for n in range(3):
        new = memstore.NewFact(content=f"Ana lives in Oslo {n}", subject="ana")
        change = memstore.AddFact(
            fact=new,
            precedence=memstore.MayReplace(fact_id=kept.id, similarity=0.5),
            evidence={"episode": said.id, "said": "I moved to Oslo", "was": ["Rome"]},
        )
        others.append(store.ledger.apply([change])[0].fact.id)
    store.episodes.erase(said.id)
    for fact_id in others:
        store.erase(fact_id)
        assert store.ledger.verify() == []
