"""Each read is one verb, of now and of a moment; a moment that is now answers as the store does."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

import memstore
from memstore import Scope, Store, View

ROOMS: Final = ("", "keys", "ledger", "transfer", "graph")

ANA: Final = Scope(user_id="ana")

READS: Final[dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]]] = {
    "search": [(("where is tea",), {}), (("tea",), {"active_only": False, "limit": 2})],
    "search_batch": [((["tea", "harbour"],), {"limit": 3})],
    "recall": [(("tea",), {"max_tokens": 200}), (("tea",), {"max_tokens": 200, "episodes": False})],
    "turns_for": [(("harbour",), {})],
    "why_not": [(("tea", 1), {}), (("harbour", 3), {"max_tokens": 300})],
    "get": [((2,), {}), ((4,), {})],
    "get_many": [(([4, 1, 4, 99],), {})],
    "list": [
        ((), {}),
        ((), {"include_deleted": True, "active_only": False, "newest_first": True, "limit": 3}),
        ((), {"states": ["superseded", "deleted"]}),
        ((), {"subject": "ana", "filters": {"n": 1}, "after_id": 1}),
    ],
    "count": [((), {}), ((), {"active_only": False, "tasks": False}), ((), {"pinned": True})],
    "exists": [(("Ana likes tea",), {"subject": "ana"}), (("Ana likes",), {"subject": "ana"})],
    "history": [((1,), {}), ((), {"subject": "ana"}), ((), {"external_key": "k/1"})],
    "status": [((), {})],
    "keys.get": [(("k/1",), {}), (("none",), {})],
    "keys.get_many": [((["k/1", "k/2", "none"],), {})],
    "ledger.log": [((), {}), ((), {"limit": 2, "kinds": ["delete"]})],
    "ledger.changes": [((), {"limit": None}), ((), {"limit": 3, "newest_first": False})],
    "ledger.diff": [(("op:3",), {}), (("op:3", "op:5"), {"limit": 2})],
    "ledger.journal": [((1,), {})],
    "ledger.histories": [(([1, 3, 99],), {})],
    "ledger.support": [((2,), {})],
    "ledger.explain": [((1,), {}), ((4,), {})],
    "transfer.export": [((), {})],
    "transfer.uuids": [(([1, 2, 99],), {})],
    "transfer.identity": [((), {})],
    "graph.entities": [((), {"limit": 5})],
    "graph.get": [(("Ana",), {})],
    "graph.neighbours": [(("Ana",), {})],
}
"""What each read is called with."""

OF_NOW: Final = frozenset({"embedded", "embed_error", "use_count", "last_used_at", "as_of"})
"""What a fact says of now at any moment, or of the moment alone."""

ELSEWHERE: Final = {"of": "returns another view"}


def fill(store: Store) -> None:
    old = store.add("Ana likes tea", subject="ana", metadata={"n": 1})  # 1
    store.add("Ana likes tea and milk", subject="ana", metadata={"n": 1}, supersedes=old.id)  # 2
    said = store.episodes.add("The harbour is closed", source="chat", thread="t", speaker="ana")
    store.add("The harbour is closed", subject="harbour", episode_id=said.id)  # 3
    gone = store.add("Tea is cheap", subject="tea")  # 4
    store.delete(gone.id)
    store.keys.put(
        [{"content": text, "subject": "keyed", "external_key": "k/1"} for text in ("one", "two")]
    )  # 5, 6
    pinned = store.add("Ana works with Bob Smith", subject="ana")  # 7
    store.pin(pinned.id)
    store.confirm(pinned.id)
    store.tasks.create("water the tea plant")  # 8
    store.add("Ana drinks tea at the harbour", subject="ana", user_id="ana")  # 9
    store.graph.build()


def change(store: Store) -> None:
    """Change everything that can be read, after the moment."""
    store.add("Ana likes coffee", subject="ana", supersedes=2)
    store.update_metadata(3, {"n": 2})
    store.restore(4)
    store.keys.put([{"content": "three", "subject": "keyed", "external_key": "k/1"}])
    store.unpin(7)
    store.confirm(7)
    store.delete(3)
    store.episodes.add("The harbour is open again", source="chat", thread="t", speaker="ben")
    store.add("Carl Jones likes tea", subject="carl")


def answer(seen: View, verb: str, arguments: tuple[Any, ...], given: dict[str, Any]) -> Any:
    call: Any = seen
    for name in verb.split("."):
        call = getattr(call, name)
    try:
        found = call(*arguments, **given)
    except memstore.NotFound as error:
        return str(error)
    if verb == "transfer.export":  # without the head, which says when, and the sum at the end
        found = sorted(map(json.dumps, plain([json.loads(line) for line in found][1:-1])))
    return plain(found)


def answers(seen: View, verb: str) -> list[Any]:
    return [answer(seen, verb, *case) for case in READS[verb]]


def plain(found: Any) -> Any:
    """Return an answer as values that can be compared, without what is of now."""
    if isinstance(found, memstore.SearchHit | memstore.EpisodeHit):
        one = found.fact if isinstance(found, memstore.SearchHit) else found.episode
        return one.id  # scores are by the texts that there are now
    if isinstance(found, memstore.WhyNot):
        return found.stage, found.place, found.text
    if isinstance(found, list | tuple):
        return [plain(one) for one in found]
    if isinstance(found, dict):
        return {key: plain(one) for key, one in found.items() if key not in OF_NOW}
    if isinstance(found, memstore.Recalled):
        return found.text
    if isinstance(found, memstore.PastStatus):
        return {key: one for key, one in found.to_dict().items() if key != "at"}
    as_dict = getattr(found, "to_dict", None)
    return plain(as_dict()) if callable(as_dict) else found


def verbs_of(kind: type) -> set[str]:
    return {
        name
        for name in dir(kind)
        if not name.startswith("_") and inspect.isfunction(inspect.getattr_static(kind, name))
    }


def test_every_read_is_in_the_table(store: Store) -> None:
    then = store.as_of("now")
    every = {
        f"{room}.{verb}".lstrip(".")
        for room in ROOMS
        for verb in verbs_of(type(getattr(then, room) if room else then))
    }
    assert every - {*ELSEWHERE} == {*READS}


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with memstore.open(tmp_path_factory.mktemp("views") / "memory.db", source="test") as store:
        fill(store)
        yield store


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[View, dict[str, Any]]]:
    """Return a view of a file that was changed since, and what it answered before."""
    with memstore.open(tmp_path_factory.mktemp("views") / "memory.db", source="test") as store:
        fill(store)
        then = store.as_of("now")
        before = {verb: answers(then, verb) for verb in READS}
        change(store)
        yield store.as_of(f"op:{then.line}"), before


@pytest.fixture
def filled(store: Store) -> Store:
    fill(store)
    return store


@pytest.mark.parametrize("verb", READS)
@pytest.mark.parametrize("owners", [None, Scope(), ANA, "all"], ids=str)
def test_a_moment_that_is_now_answers_as_the_store(
    unchanged: Store, verb: str, owners: Any
) -> None:
    now, then = unchanged, unchanged.as_of("now")
    if owners is not None:
        now, then = now.of(owners), then.of(owners)
    expected, found = answers(now, verb), answers(then, verb)
    if verb == "status":  # that of a store says more
        expected = [{name: one.get(name, found[0][name]) for name in found[0]} for one in expected]
    assert found == expected


@pytest.mark.parametrize("verb", READS)
def test_an_earlier_moment_answers_as_it_did(
    changed: tuple[View, dict[str, Any]], verb: str
) -> None:
    then, before = changed
    assert answers(then, verb) == before[verb]


@pytest.mark.parametrize("call", [lambda seen: seen.ledger.diff("op:1", "now")])
def test_now_of_a_view_is_its_moment(filled: Store, call: Callable[[View], Any]) -> None:
    then = filled.as_of("op:5")
    told = plain([*call(then)])
    change(filled)
    assert plain([*call(then)]) == told
    with pytest.raises(memstore.InvalidArgument, match="after the moment of the view"):
        then.ledger.diff("op:1", f"op:{filled.line}")


def test_a_view_counts_no_use(filled: Store) -> None:
    then = filled.as_of("now")
    then.search("tea", touch=True)
    then.recall("tea", max_tokens=100, touch=True)
    assert [fact.use_count for fact in filled.list()] == [0] * filled.count()


def test_line_and_at_of_a_store_are_of_now(filled: Store) -> None:
    assert filled.line == filled.file.head().line == filled.within(confined=True).line
    assert filled.as_of("now").line == filled.line
    assert filled.as_of("op:1").at < filled.at
