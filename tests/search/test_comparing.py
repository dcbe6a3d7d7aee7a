"""What is stored of which facts are newer: a search that reads it names the same as by judging."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.clock import wait_until
from tests.support.examples import examples
from tests.support.raw import raw

import memstore
from memstore import MemstoreError, NewFact, Store
from memstore.database.engine import Transaction
from memstore.database.filters import FactFilter
from memstore.database.tables import facts as fact_table
from memstore.database.tables import feeds
from memstore.database.tables import newer as newer_table
from memstore.database.tables.newer import Pair
from memstore.database.writes import Delete, Insert
from memstore.domain.queries import FactNarrowing
from memstore.domain.records import TODO, Fact
from memstore.errors import SchemaError
from memstore.search import comparing, newer, searches
from memstore.search.corpus import FactCorpus
from memstore.search.lookups.base import Lookup
from memstore.text.folding import subject_key
from memstore.text.judging import judge as judging

SPRING = datetime(2024, 3, 1, tzinfo=UTC)
OLD, NEW = "The timeout is 5 seconds.", "The timeout is 9 seconds."
JUDGED = Path(__file__).parents[1] / "text" / "judged"


def naive(
    transaction: Transaction, lookup: Lookup[FactFilter], facts: Sequence[Fact], wanted: FactFilter
) -> dict[int, tuple[int, ...]]:
    """The truth: judge each fact and its nearest later ones."""
    compared = [fact for fact in facts if subject_key(fact.subject) != TODO][: newer.MAX_HITS]
    near = lookup.on_subject(compared, wanted, newer.NEAREST, later=True)
    ids = {*near, *itertools.chain.from_iterable(near.values())}
    claims = fact_table.claims(transaction, sorted(ids))
    found: dict[int, list[tuple[object, ...]]] = {}
    for id_, other in ((id_, other) for id_, others in near.items() for other in others):
        old, new = claims[id_], claims[other]
        verdict = judging.verdict(newer.claim_of(old), newer.claim_of(new))
        if old.since < new.since and verdict != "keep":
            found.setdefault(id_, []).append((verdict == "retire", new.since, new.id))
    return {
        id_: tuple(one[-1] for one in sorted(each, reverse=True)[: newer.MAX_NEWER])
        for id_, each in found.items()
    }


def both(store: Store, **asked: Any) -> list[dict[int, tuple[int, ...]]]:
    """Return what is newer by what is stored, and by judging, of all active facts."""
    wanted = store._narrowing(FactNarrowing(tasks=False, **asked))
    facts = store.list(limit=1000)

    def found(*state: Any) -> list[dict[int, tuple[int, ...]]]:
        corpus = FactCorpus(*state)
        parts = [facts[start : start + 10] for start in range(0, len(facts), 10)]
        answers: list[dict[int, tuple[int, ...]]] = [{}, {}]
        for part in parts:
            given = corpus.transaction, corpus.lookup, part, wanted
            answers[0] |= newer.newer(*given)
            answers[1] |= naive(*given)
        return answers

    return store.file.searches.facts.index.read(found)


def compare(store: Store) -> None:
    store.file.searches.comparisons.run()


def rows(store: Store) -> list[Pair]:
    with store.file.engine.read() as transaction:
        return [*newer_table.every(transaction)]


def troubles(store: Store) -> list[str]:
    return [one.message for one in store.file.doctor(deep=True) if one.check == "newer"]


def add(store: Store, content: str, at: int = 0, subject: str = "api", **more: Any) -> int:
    created_at = SPRING + timedelta(days=at)
    return store.add(content, subject=subject, created_at=created_at, **more).id


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The pairs that searches judge themselves."""
    judged: list[tuple[str, str]] = []
    decide = newer.Judged.__call__

    def noted(self: newer.Judged, old: Any, new: Any) -> str:
        judged.append((old.content, new.content))
        return decide(self, old, new)

    monkeypatch.setattr(newer.Judged, "__call__", noted)
    return judged


# -- what a search reads ---------------------------------------------------------------------------


def test_a_search_reads_what_was_compared(store: Store, asking: list[tuple[str, str]]) -> None:
    old, new = add(store, OLD), add(store, NEW, 1)
    compare(store)
    assert both(store) == [{old: (new,)}] * 2
    assert asking == []
    assert rows(store) == [Pair(old, new, proves=True)]


def test_a_search_judges_what_was_not_compared_yet(
    store: Store, asking: list[tuple[str, str]]
) -> None:
    add(store, OLD, subject="web")
    add(store, NEW, 1, subject="web")
    old = add(store, OLD)
    compare(store)
    new = add(store, NEW, 1)
    stored, judged = both(store)
    assert stored == judged
    assert stored[old] == (new,)
    assert asking == [(OLD, NEW)]  # those of the other subject are known


def test_a_search_has_what_it_saw_compared(
    store: Store, asking: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "PAUSE_SECONDS", 0.0)
    old, new = add(store, OLD), add(store, NEW, 1)
    store.search("timeout")
    assert wait_until(lambda: rows(store) == [Pair(old, new, proves=True)])
    store.file.searches.comparisons.close()
    asking.clear()
    hits = store.search("timeout", touch=False)
    assert {hit.fact.id: hit.newer for hit in hits} == {old: (new,), new: ()}
    assert asking == []


def test_a_read_only_store_compares_nothing(open_store: Callable[..., Store]) -> None:
    store = open_store()
    old, new = add(store, OLD), add(store, NEW, 1)
    reader = open_store(read_only=True)
    hits = reader.search("timeout", touch=False)
    reader.file.searches.comparisons.start()
    reader.file.searches.comparisons.finish()
    reader.close()
    assert {hit.fact.id: hit.newer for hit in hits} == {old: (new,), new: ()}
    assert rows(store) == []


def test_an_earlier_moment_does_not_know_what_came_later(
    store: Store, asking: list[tuple[str, str]]
) -> None:
    add(store, OLD)
    then = store.as_of(f"op:{store.file.head().line}")
    add(store, NEW, 1)
    compare(store)
    assert [hit.newer for hit in then.search("timeout")] == [()]
    assert both(store) != [{}, {}]


def test_rules_that_are_switched_off_read_and_store_nothing(
    open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    add(store, OLD)
    add(store, NEW, 1)
    compare(store)
    store.close()
    some = open_store(without_rules=["ALIGNED", "VALUE_MAYBE", "ATTRIBUTE_MAYBE"])
    monkeypatch.setattr(newer_table, "state", None)  # is not asked
    some.search("timeout", touch=False)
    none = open_store(without_rules=[*judging.Rule.__members__])
    monkeypatch.setattr(newer, "newer", None)
    assert [hit.newer for hit in none.search("timeout", touch=False)] == [(), ()]


def test_without_the_decisive_rules_both_always_stay() -> None:
    """Whatever other rules are switched off, too."""
    each = claims()
    pairs = [*zip(each[::2], each[1::2], strict=True)]
    for others in ((), *((rule,) for rule in {*judging.Rule} - judging.DECISIVE)):
        without = {*judging.DECISIVE, *others}
        assert {judging.verdict(*pair, without=without) for pair in pairs[::7]} == {"keep"}


# -- what is compared ------------------------------------------------------------------------------


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group of four facts is a large one, of which each is compared with two others."""
    for module in (newer, comparing):
        monkeypatch.setattr(module, "MAX_GROUP", 3)
        monkeypatch.setattr(module, "NEAREST", 2)


@pytest.mark.usefixtures("large")
def test_a_fact_of_a_large_group_is_compared_with_its_nearest_ones(
    store: Store, asking: list[tuple[str, str]]
) -> None:
    old = add(store, OLD)
    others = [add(store, f"It has {n} users", n) for n in (2, 3)]
    new = add(store, NEW, 9)
    compare(store)
    assert {*rows(store)} == {Pair(*others, proves=False), Pair(old, new, proves=True)}
    assert both(store)[0] == {others[0]: (others[1],), old: (new,)}
    assert asking == []
    later = add(store, "The timeout is 4 seconds.", 5)  # between two of them
    waits, _ = both(store)
    assert waits[old] == (new, later)  # the search compared what waits, and nothing else
    assert {pair[1] for pair in asking} == {"The timeout is 4 seconds."}
    compare(store)
    asking.clear()
    assert both(store)[0] == {others[0]: (others[1],), old: (new, later), later: (new,)}
    assert asking == []
    assert troubles(store) == []
    store.erase(new)
    assert both(store)[0] == {others[0]: (others[1],), old: (later,)}
    store.delete(others[0])
    compare(store)  # now it is small enough: all its pairs
    assert Pair(old, later, proves=True) in rows(store)
    assert both(store)[0] == both(store)[1]


@pytest.mark.usefixtures("large")
def test_a_filter_holds_in_a_large_group(store: Store) -> None:
    old = add(store, OLD)
    news = [add(store, f"The timeout is {n} seconds.", n) for n in (6, 7, 8)]
    compare(store)
    assert both(store)[0][old] == (news[2], news[1], news[0])
    until = {"created_before": SPRING + timedelta(days=7)}
    assert both(store, **until)[0][old] == (news[0],)
    store.delete(news[2])
    assert both(store)[0][old] == (news[1], news[0])
    store.restore(news[2])
    compare(store)
    assert both(store)[0][old] == (news[2], news[1], news[0])


@pytest.mark.usefixtures("large")
def test_a_large_group_waits_as_long_as_there_is_no_index(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [add(store, f"The timeout is {n} seconds.", n) for n in range(5)]
    index = store.file.searches.facts.index
    with monkeypatch.context() as patch:
        patch.setattr(index, "read", lambda work: work(None, None))
        compare(store)
    assert rows(store) == []
    assert both(store)[0] == both(store)[1] != {}
    compare(store)
    # Each with its two nearest earlier ones.
    assert Counter(pair.newer for pair in rows(store)) == dict(
        zip(ids[1:], (1, 2, 2, 2), strict=True)
    )


def test_a_subject_with_many_facts_is_compared_with_a_bounded_number(
    store: Store, asking: list[tuple[str, str]]
) -> None:
    store.add_many(
        NewFact(content=f"The limit of queue {n} is {n}", subject="api", created_at=SPRING)
        for n in range(300)
    )
    add(store, OLD, 1)
    new = add(store, NEW, 2)
    compare(store)
    hits = store.search("timeout 5 seconds", touch=False)
    assert len(asking) <= newer.MAX_HITS * newer.NEAREST
    assert any(hit.newer == (new,) for hit in hits)


def test_many_facts_are_compared_in_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "PAGE", 4)
    monkeypatch.setattr(comparing, "WRITTEN_AT_ONCE", 2)
    for number in range(11):
        add(store, f"The timeout is {number} seconds.", number)
    compare(store)
    assert len(rows(store)) == 11 * 10 // 2
    assert both(store)[0] == both(store)[1]


def test_too_many_that_wait_are_judged_at_once(
    store: Store, asking: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newer, "MAX_WAITING", 3)
    add(store, OLD)
    add(store, NEW, 1)
    compare(store)
    for number in range(4):
        add(store, f"note {number}", subject="else")
    stored, judged = both(store)
    assert stored == judged != {}
    assert asking


def test_a_program_that_leaves_many_compares_them_at_its_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newer, "MAX_WAITING", 3)
    compare(store)
    comparisons = store.file.searches.comparisons
    add(store, OLD)
    add(store, NEW, 1)
    comparisons.finish()
    assert rows(store) == []
    add(store, "The timeout is 7 seconds.", 2)
    comparisons.finish()
    assert len(rows(store)) == 3


def test_newer_rules_make_all_anew_and_older_ones_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = add(store, OLD), add(store, NEW, 1)
    compare(store)
    with store.file.engine.write() as transaction:
        transaction.run(Delete("memstore_newer"))
    for module in (comparing, newer):
        monkeypatch.setattr(module, "RULES", newer.RULES - 1)
    compare(store)
    assert rows(store) == []  # a newer version's
    assert both(store) == [{old: (new,)}] * 2
    for module in (comparing, newer):
        monkeypatch.setattr(module, "RULES", newer.RULES + 2)
    assert both(store) == [{old: (new,)}] * 2
    compare(store)
    assert rows(store) == [Pair(old, new, proves=True)]


def test_a_feed_with_a_gap_has_all_compared_again(store: Store) -> None:
    old, new = add(store, OLD), add(store, NEW, 1)
    compare(store)
    with store.file.engine.write() as transaction:
        transaction.run(Delete("memstore_newer"))
        feeds.break_off(transaction)
    assert both(store) == [{old: (new,)}] * 2
    compare(store)
    assert rows(store) == [Pair(old, new, proves=True)]


def test_erasing_removes_what_is_known_of_a_fact(store: Store) -> None:
    old, new, newest = (
        add(store, f"The timeout is {seconds} seconds.", seconds) for seconds in (5, 7, 9)
    )
    compare(store)
    assert len(rows(store)) == 3
    store.erase(new)
    assert rows(store) == [Pair(old, newest, proves=True)]
    assert troubles(store) == []


def test_what_is_erased_while_it_is_compared_is_not_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, _ = add(store, OLD), add(store, NEW, 1)
    found = comparing.pairs

    def erased(*given: Any) -> Iterator[Pair]:
        yield from [*found(*given)]
        monkeypatch.setattr(comparing, "pairs", found)
        store.erase(old)

    monkeypatch.setattr(comparing, "pairs", erased)
    compare(store)
    assert rows(store) == []


def test_two_stores_of_a_file_do_not_undo_each_other(
    open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = open_store(), open_store()
    old, new = add(one, OLD), add(other, NEW, 1)
    found = comparing.pairs

    def overtaken(*given: Any) -> Iterator[Pair]:
        monkeypatch.setattr(comparing, "pairs", found)
        compare(other)
        yield from found(*given)

    monkeypatch.setattr(comparing, "pairs", overtaken)
    compare(one)
    assert both(one) == both(other) == [{old: (new,)}] * 2
    assert rows(one) == [Pair(old, new, proves=True)]


def test_a_file_from_before_gets_its_tables(path: Path, open_store: Callable[..., Store]) -> None:
    store = open_store()
    old, new = add(store, OLD), add(store, NEW, 1)
    store.close()
    with raw(path) as file:
        before = file.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
        file.executescript("DROP TABLE memstore_newer; DROP TABLE memstore_compared")
    with pytest.raises(SchemaError, match="has an early form of schema version 7"):
        memstore.open(path, embedder=None, read_only=True)
    store = open_store()
    compare(store)
    assert rows(store) == [Pair(old, new, proves=True)]
    with raw(path) as file:
        assert (
            file.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall() == before
        )


# -- the doctor ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("large")
def test_the_doctor_compares_a_large_group_of_which_there_is_no_index_yet(
    store: Store, open_store: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        add(store, f"The timeout is {number} seconds.", number)
    store.close()
    # More are indexed in the background.
    monkeypatch.setattr("memstore.search.index.index.AT_ONCE", 2)
    store = open_store()
    store.file.rebuild()
    assert len(rows(store)) == 1 + 2 + 2 + 2


@pytest.mark.parametrize("wrong", ["missing", "other", "stray"])
def test_the_doctor_finds_and_repairs_what_is_wrong(store: Store, wrong: str) -> None:
    old, new = add(store, OLD), add(store, NEW, 1)
    compare(store)
    right = rows(store)
    form = Insert("memstore_newer", Pair._fields)
    with store.file.engine.write() as transaction:
        if wrong != "stray":
            transaction.run(Delete("memstore_newer"))
        if wrong == "other":
            transaction.run(form, {"older": old, "newer": new, "proves": 0})
        if wrong == "stray":
            transaction.run(form, {"older": 98, "newer": 99, "proves": 0})
    found = {"stray": 98}.get(wrong, old)
    assert troubles(store) == [f"facts of which it is wrongly known what is newer: {found}"]
    store.file.rebuild()
    assert troubles(store) == []
    assert rows(store) == right


def test_the_doctor_does_not_miss_what_was_not_compared_yet(store: Store) -> None:
    add(store, OLD)
    assert troubles(store) == []
    compare(store)
    add(store, NEW, 1)
    assert troubles(store) == []


# -- the judge -------------------------------------------------------------------------------------


def lines() -> list[Mapping[str, Any]]:
    text = (JUDGED / "pairs.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def claims() -> list[judging.Claim]:
    sides = (("older", "slots_old"), ("newer", "slots_new"))
    found = []
    for number, line in enumerate(lines()):
        for text, slots in sides:
            given = judging.Slots(**line[slots]) if number % 5 == 0 and line.get(slots) else None
            found.append(judging.Claim(line[text], line["subject"], given))
    return found


def test_what_is_not_worth_judging_lets_both_stay() -> None:
    every = [*claims(), judging.Claim("It is."), judging.Claim("it is."), judging.Claim("")]
    chosen = every[:: max(1, len(every) // 250)]
    left_out = 0
    for claim in chosen:
        for is_newer in (False, True):
            near = {*judging.worth_judging(claim, chosen, is_newer=is_newer)}
            for place, other in enumerate(chosen):
                pair = (other, claim) if is_newer else (claim, other)
                if place not in near:
                    left_out += 1
                    assert judging.verdict(*pair) == "keep", pair
    assert left_out > len(chosen) ** 2


WORDS = st.sampled_from(
    "The the timeout port is was no longer now also 5 9 seconds days Ana Rome Oslo moved from to in"
    " maybe works at likes tea party on Friday. renamed? not It his since 今 没有 茶".split()
)
TEXTS = st.lists(WORDS, max_size=9).map(" ".join)


@given(TEXTS, st.lists(TEXTS, max_size=6), st.booleans())
def test_no_text_is_left_out_that_the_judge_would_name(
    text: str, others: list[str], is_newer: bool
) -> None:
    claim = judging.Claim(text, "Ana")
    given = [judging.Claim(other, "Ana") for other in others]
    near = judging.worth_judging(claim, given, is_newer=is_newer)
    assert near == sorted({*near})
    for place in {*range(len(given))}.difference(near):
        pair = (given[place], claim) if is_newer else (claim, given[place])
        assert judging.verdict(*pair) == "keep"


# -- any life of a memory --------------------------------------------------------------------------

SAID = (
    "The timeout is {0} seconds.", "The timeout is no longer {0} seconds.", "Now it has {0} users",
    "It moved from Rome to Oslo {0}", "It is in Rome", "IT IS IN ROME", "It is not in Rome now",
    "It also has port {0}", "", "‮\x07 the timeout is {0}", "x" * 9000 + "{0}",
)  # fmt: skip
OWNERS = ({}, {"user_id": "ana"}, {"user_id": "ana", "run_id": "1"})
LIVES = st.lists(st.tuples(*[st.integers(0, 99)] * 3), min_size=4, max_size=40)


def act(store: Store, ids: list[int], kind: int, which: int, what: int) -> None:
    one = ids[which % len(ids)] if ids else 0
    subject = ("api", "API", "web", "todo")[which % 4]
    text = SAID[what % len(SAID)].format(which % 7)
    given = {
        "created_at": SPRING + timedelta(days=what % 9),
        **OWNERS[(which // 4) % 3 if what % 2 else 0],
    }
    if kind % 12 < 6:
        if what % 5 == 0:
            given["valid_at"] = SPRING + timedelta(days=which % 9)
        ids.append(store.add(text or "It ends", subject=subject, **given).id)
    elif kind % 12 == 6:
        store.delete(one)
    elif kind % 12 == 7:
        store.restore(one)
    elif kind % 12 == 8:
        old = store.get(one)
        new = store.add(text, subject=old.subject, supersedes=one, **old.scope.ids)
        ids.append(new.id)
    elif kind % 12 == 9:
        store.erase(one)
    elif kind % 12 == 10:
        store.confirm(one)
    else:
        compare(store)


@settings(max_examples=examples(60), deadline=None)
@given(LIVES, st.integers(2, 5), st.booleans())
def test_a_search_names_the_same_whatever_was_compared_when(
    lives: list[tuple[int, ...]], most: int, small: bool
) -> None:
    with (
        pytest.MonkeyPatch.context() as patch,
        memstore.open(":memory:", embedder="local") as store,
    ):
        if small:
            for module in (comparing, newer):
                patch.setattr(module, "MAX_GROUP", most)
            patch.setattr(newer, "MAX_WAITING", 3 * most)
            patch.setattr(comparing, "PAGE", most)
        for module in (comparing, newer):  # in large groups all that is stored is named
            patch.setattr(module, "NEAREST", len(lives) if small else most)
        ids: list[int] = []
        whole = store.of("all")
        for number, one in enumerate(lives):
            with suppress(MemstoreError, ValueError):
                act(whole, ids, *one)
            if number % 5 == 4:
                agree(store, whole)
        agree(store, whole)
        compare(store)
        agree(store, whole)
        assert troubles(store) == []


def agree(*stores: Store) -> None:
    for store in stores:
        for asked in ({}, {"created_before": SPRING + timedelta(days=5)}, {"active_only": False}):
            stored, judged = both(store, **asked)
            assert stored == judged, asked
