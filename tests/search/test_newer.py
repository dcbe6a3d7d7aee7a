"""What is newer: the later facts that a hit names, and where they are shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.support.clock import ManualClock

from memstore import NewFact, Scope, Store
from memstore.database.tables.facts import Claimed
from memstore.domain.queries import FactSearch
from memstore.domain.records import Fact, SearchHit
from memstore.domain.results import ScoreParts
from memstore.errors import EmbedderUnavailable
from memstore.frozen import replace
from memstore.search import newer
from memstore.search.corpus import FactCorpus
from memstore.text.judging import judge as judging
from memstore.text.judging.judge import Claim, Slots, Verdict

SPRING = datetime(2024, 3, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return SPRING + timedelta(days=number)


class Recorder:
    """Judges by the first word of the newer text, and records what it compares."""

    def __init__(self) -> None:
        self.compared: list[tuple[str, str]] = []

    def __call__(self, old: Claimed, new: Claimed) -> str:
        self.compared.append((old.content, new.content))
        word = new.content.split()[0]
        return word if word in [*Verdict] else Verdict.KEEP


def named(
    store: Store, judge: Callable[..., str], *ids: int, **asked: Any
) -> dict[int, tuple[int, ...]]:
    """Return the newer facts of these, in a search with these conditions."""
    wanted = store._narrowing(FactSearch(**{"tasks": False, **asked}))
    facts = [store.get(id_) for id_ in ids]

    def found(*state: Any) -> dict[int, tuple[int, ...]]:
        corpus = FactCorpus(*state)
        return newer.newer(corpus.transaction, corpus.lookup, facts, wanted, judge)

    return store.file.searches.facts.index.read(found)


@pytest.fixture(name="judge")
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture(params=["words", "built-in", "none"])
def store(request: pytest.FixtureRequest, open_store: Callable[..., Store]) -> Store:
    """A store with an embedder of words, the built-in model, or none."""
    options: dict[str, dict[str, Any]] = {
        "words": {},
        "built-in": {"embedder": "local"},
        "none": {"embedder": None},
    }
    return open_store(**options[request.param])


def add(store: Store, content: str, at: int, subject: str = "Ana", **more: Any) -> int:
    return store.add(content, subject=subject, created_at=day(at), **more).id


def test_a_fact_is_compared_with_later_ones_on_its_subject(store: Store, judge: Recorder) -> None:
    old = add(store, "drinks tea", 1)
    add(store, "retire an earlier one", 0)
    add(store, "retire another subject", 2, "Ben")
    later = add(store, "retire drinks coffee", 3)
    assert named(store, judge, old) == {old: (later,)}
    assert judge.compared == [("drinks tea", "retire drinks coffee")]


def test_what_is_valid_since_an_earlier_time_is_no_later_fact(
    store: Store, judge: Recorder
) -> None:
    old = add(store, "drinks tea", 1, valid_at=day(1))
    add(store, "retire told later of an earlier time", 5, valid_at=day(0))
    assert named(store, judge, old) == {}
    corrected = add(store, "retire of the same time, stored later", 6, valid_at=day(1))
    assert named(store, judge, old) == {old: (corrected,)}


def test_facts_of_one_time_do_not_replace_each_other(store: Store, judge: Recorder) -> None:
    first, second = (
        fact.id
        for fact in store.add_many(
            NewFact(content=f"retire {word}", subject="Ana", created_at=day(1)) for word in "ab"
        )
    )
    assert named(store, judge, first, second) == {}


def test_proofs_come_before_questions_and_the_latest_first(store: Store, judge: Recorder) -> None:
    old = add(store, "drinks tea", 1)
    asks = [add(store, f"ask drinks water {place}", 9 + place) for place in range(2)]
    proofs = [add(store, f"retire drinks juice {place}", 2 + place) for place in range(2)]
    add(store, "keep drinks milk", 20)
    assert named(store, judge, old) == {old: (proofs[1], proofs[0], asks[1])}


def test_what_is_not_active_or_of_others_is_not_compared(store: Store, judge: Recorder) -> None:
    old = add(store, "drinks tea", 1)
    owned = add(store, "drinks cocoa", 1, user_id="u")
    gone = add(store, "retire deleted", 2)
    store.delete(gone)
    replaced = add(store, "retire superseded", 2)
    last = add(store, "keep this", 3, supersedes=replaced)
    add(store, "retire expired", 2, expired_at=day(4))
    store.within("other").add("retire elsewhere", subject="Ana", created_at=day(2))
    of_user = add(store, "retire of a user", 2, user_id="u")
    assert named(store, judge, old) == {}
    assert judge.compared == [("drinks tea", store.get(last).content)]
    assert named(store.of("all"), judge, old, owned, namespaces="all") == {owned: (of_user,)}
    scope = Scope(user_id="u")
    assert named(store.of(scope), judge, owned) == {owned: (of_user,)}


def test_later_facts_pass_the_filter_of_the_search(store: Store, judge: Recorder) -> None:
    old = add(store, "drinks tea", 1, category="preference")
    later = add(store, "retire drinks coffee", 3, metadata={"level": 2})
    assert named(store, judge, old, created_before=day(2)) == {}
    assert named(store, judge, old, category="preference") == {}
    assert named(store, judge, old, filters={"level": 2}) == {old: (later,)}


def test_a_task_is_not_compared(store: Store, judge: Recorder) -> None:
    task = store.tasks.create("water the plants")
    store.tasks.create("retire the old plants")
    assert named(store, judge, task.id, tasks=True) == {}
    assert judge.compared == []


def test_a_fact_is_compared_with_its_nearest_ten(store: Store, judge: Recorder) -> None:
    old = add(store, "the colour of the boat is green", 1)
    far = [f"keep {word} {word}{word}" for word in "abcdefghijklmnopqrst"]
    store.add_many(NewFact(content=text, subject="Ana", created_at=day(3)) for text in far)
    near = add(store, "retire the colour of the boat is blue", 2)
    assert named(store, judge, old) == {old: (near,)}
    assert len(judge.compared) <= newer.NEAREST


def test_a_pending_fact_is_compared_by_words(
    open_store: Callable[..., Store], judge: Recorder, embedder: Any
) -> None:
    store = open_store()
    store.add_many(
        NewFact(content=f"keep other {place}", subject="Ana", created_at=day(3))
        for place in range(12)
    )
    near = add(store, "retire the colour of the boat is blue", 2)
    embedder.failure = EmbedderUnavailable("down")
    old = add(store, "the colour of the boat is green", 1)
    assert not store.get(old).embedded
    assert named(store, judge, old) == {old: (near,)}


def test_the_first_twenty_hits_are_compared(store: Store, judge: Recorder) -> None:
    facts = store.add_many(
        NewFact(content=f"is number {place}", subject=f"s{place}", created_at=day(1))
        for place in range(25)
    )
    for fact in facts:
        add(store, "retire it", 2, fact.subject)
    found = named(store, judge, *(fact.id for fact in facts))
    assert [*found] == [fact.id for fact in facts[: newer.MAX_HITS]]


# -- the order in which hits are shown -------------------------------------------------------------


@pytest.fixture
def facts(open_store: Callable[..., Store], manual_clock: ManualClock) -> list[Fact]:
    store = open_store()
    return [store.add(f"fact {number}", subject="Ana") for number in range(1, 7)]


def shown(
    facts: Sequence[Fact], order: str, names: dict[int, tuple[int, ...]], limit: int = 9
) -> str:
    """Return the ids of hits as they are shown, each with those that it names."""
    by_id = {fact.id: fact for fact in facts}
    hits = [
        SearchHit(by_id[int(id_)], 1 - place / 10, 0.5, 0.5, 1.0, _parts(1 - place / 10))
        for place, id_ in enumerate(order)
    ]
    found = newer.arranged(hits, names, by_id, limit)
    scores = [hit.score for hit in found if hit.fact.status == "active"]
    assert scores == sorted(scores, reverse=True)
    assert all(sum(hit.parts[:-1]) == pytest.approx(hit.score) for hit in found)
    return " ".join(f"{hit.fact.id}{''.join(f'>{id_}' for id_ in hit.newer)}" for hit in found)


def _parts(score: float) -> ScoreParts:
    return ScoreParts(words=score)


@pytest.mark.parametrize(
    ("order", "names", "limit", "expected"),
    [
        ("123", {}, 9, "1 2 3"),
        ("123", {1: (3,)}, 9, "1>3 3 2"),
        ("123", {1: (4,)}, 9, "1>4 4 2 3"),
        ("123", {1: (4, 3)}, 9, "1>4>3 4 2 3"),
        ("123", {3: (1,)}, 9, "1 2 3>1"),
        ("123", {1: (2,), 2: (3,)}, 9, "1>2 2>3 3"),
        ("123", {1: (3,), 2: (3,)}, 9, "1>3 3 2>3"),
        ("123", {1: (2,), 2: (1,)}, 9, "1>2 2>1 3"),
        ("123", {1: (4,)}, 3, "1>4 4 2"),
        ("123", {1: (4,)}, 1, "1>4"),
        ("123", {3: (4,)}, 3, "1 2 3>4"),
        ("123", {1: (9,)}, 9, "1>9 2 3"),
    ],
)
def test_the_first_newer_fact_follows_the_hit_that_names_it(
    facts: list[Fact], order: str, names: dict[int, tuple[int, ...]], limit: int, expected: str
) -> None:
    assert shown(facts, order, names, limit) == expected


def test_superseded_hits_come_last(facts: list[Fact]) -> None:
    facts[0] = replace(facts[0], superseded_by=2, superseded_at=day(1))
    assert shown(facts, "123", {}) == "2 3 1"
    assert shown(facts, "123", {}, limit=2) == "2 3"


# -- the judge of a search -------------------------------------------------------------------------

PAIRS = [
    ("Ana works at Initech", "Ana no longer works at Initech"),
    ("Ana works at Initech", "Ana works at Globex"),
    ("Ana works at Initech", "Ana plays the cello"),
    ("Ana lives in Rome", "Ana moved from Rome to Oslo"),
    ("Ana likes tea", "Ana also likes coffee"),
]


def test_a_search_judges_as_the_judge_does_each_time() -> None:
    for _ in range(2):
        decide = newer.Judged()
        for place, pair in enumerate(PAIRS):
            old, new = (
                Claimed(2 * place + later, "Ana", text, ("", "")) for later, text in enumerate(pair)
            )
            expected = judging.judge(*(Claim(text, "Ana") for text in pair))
            assert decide(old, new) == expected.verdict, pair


def test_slots_that_an_extractor_found_are_judged_too() -> None:
    old, new = PAIRS[1]
    found = [
        {"holder": "Ana", "attribute": "employer", "value": value, "cardinality": "one"}
        for value in ("Initech", "Globex")
    ]
    expected = judging.judge(
        *(Claim(text, "Ana", Slots(**one)) for text, one in zip((old, new), found, strict=True)),
    )
    decide = newer.Judged()
    for slots, verdict in ((found, expected.verdict), (None, Verdict.ASK)):
        claimed = [
            Claimed(id_, "Ana", text, ("", ""), slots and json.dumps(slots[id_]))
            for id_, text in enumerate((old, new))
        ]
        assert newer.Judged()(*claimed) == verdict
    assert expected.verdict is Verdict.RETIRE
    assert decide(*claimed) == Verdict.ASK  # what is known of the texts with slots is another


def test_a_process_keeps_a_bounded_number_of_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newer, "MAX_KNOWN", 3)
    monkeypatch.setattr(newer.Judged, "_known", {})
    decide = newer.Judged()
    for place in range(9):
        decide(Claimed(place, "a", f"{place}", ("", "")), Claimed(99, "a", "x", ("", "")))
        assert len(newer.Judged._known) <= 3
