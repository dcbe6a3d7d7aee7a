"""Differences: applied to the facts of one moment, they give those of another."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.clock import ManualClock
from tests.support.examples import examples
from tests.support.raw import sql

import memstore
from memstore import Conflict, InvalidArgument, NotFound, Store
from memstore.database import journal
from memstore.domain import clock
from memstore.file.paths import is_server
from memstore.history import past

OpenStore = Callable[..., Store]
NewMemory = Callable[[], AbstractContextManager[Path | str]]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
Listed = dict[int, dict[str, Any]]


def head(store: Store) -> str:
    return f"op:{store.file.head().line}"


def kinds(store: Store, a: str, b: str = "now", **asked: Any) -> list[tuple[str, int, str]]:
    return [(one.kind, one.fact_id, one.text) for one in store.ledger.diff(a, b, **asked)]


@pytest.fixture
def began(store: Store) -> str:
    """A moment with three facts: 1, 2 and 3."""
    store.add_many({"content": f"fact {n}", "subject": "s"} for n in (1, 2, 3))
    return head(store)


def test_what_became_of_each_fact_is_told(store: Store, began: str) -> None:
    store.add("fact 4", subject="s", supersedes=1)
    store.delete(2)
    store.update_metadata(3, {"n": 1})
    store.pin(3)
    store.confirm(3)
    assert kinds(store, began) == [
        ("added", 4, "replaces 1"),
        ("retired", 1, "replaced by fact 4"),
        ("retired", 2, "deleted"),
        ("changed", 3, "n: none → 1, pinned, confirmed: 0 → 1"),
    ]
    found = {one.fact_id: one for one in store.ledger.diff(began)}
    assert found[1].by == 4
    assert found[4].replaces == (1,)
    assert found[4].after["content"] == "fact 4"
    assert found[3].before == {"metadata": {}, "confirmed_count": 0}
    assert found[3].after["metadata"] == {"n": 1}
    assert (found[2].actor, found[2].source, found[2].line) == ("user", "library", 6)


def test_the_net_effect_counts(store: Store, began: str) -> None:
    store.add("fact 4", subject="s")
    store.delete(4)
    store.delete(1)
    store.restore(1)
    store.pin(2)
    store.unpin(2)
    found = store.ledger.diff(began)
    assert list(found) == []
    assert (found.total, found.passed) == (0, 1)
    assert str(found).endswith("Nothing changed.")


def test_a_revert_restores_and_says_why(store: Store, began: str) -> None:
    store.delete(1)
    deleted = head(store)
    store.ledger.revert(lines=[4]).apply()
    (one,) = store.ledger.diff(deleted)
    assert (one.kind, one.text, one.reason) == (
        "restored",
        "it was deleted",
        "it takes back line 4",
    )
    assert one.evidence == {"reverts": [4]}


def test_what_expired_is_retired(open_store: OpenStore) -> None:
    manual = ManualClock(NOON)
    with clock.use(manual):
        store = open_store(embedder=None)
        store.add("short", subject="s", expired_at=NOON + timedelta(hours=1))
        store.add("past", subject="s", expired_at=NOON + timedelta(hours=1))
        store.delete(2)
        a = head(store)
        assert kinds(store, a) == []
        manual.advance(7200)
        (one,) = store.ledger.diff(a)
        assert (one.kind, one.text, one.line) == ("retired", "expired", None)
        assert one.at == NOON + timedelta(hours=1)
        assert kinds(store, "90m") == [("retired", 1, "expired")]
        assert kinds(store, "30m") == []


def test_what_was_erased_is_told_without_a_byte_of_it(store: Store) -> None:
    store.add("the wombat", subject="wombat", metadata={"wombat": 1})
    store.add("kept", subject="s")
    before = head(store)
    store.add("a wombat too", subject="wombat")
    store.update_metadata(1, {"wombat": 2})
    between = head(store)
    store.erase(1)
    store.erase(3)
    found = store.ledger.diff(before)
    assert [(one.kind, one.fact_id, one.claim) for one in found] == [("erased", 1, "(erased)")]
    assert found.passed == 1
    assert kinds(store, between) == [("erased", 1, ""), ("erased", 3, "")]
    assert kinds(store, before, between) == [("added", 3, "")]
    for a, b in ((before, "now"), (between, "now"), (before, between)):
        told = store.ledger.diff(a, b)
        assert "wombat" not in str(told) + json.dumps(told.to_dict())


def test_a_task_shows_its_status(store: Store, began: str) -> None:
    task = store.tasks.create("write")
    created = head(store)
    store.tasks.update(task.id, status="completed")
    ((kind, id_, text),) = kinds(store, created)
    assert (kind, id_) == ("changed", task.id)
    assert "status: pending → completed" in text


def test_differences_read_like_a_changelog(open_store: OpenStore) -> None:
    with clock.use(ManualClock(NOON)):
        store = open_store(embedder=None)
        store.add("Lives in Lisbon", subject="alice")
        store.add("Lives in Rome", subject="alice", supersedes=1)
        assert str(store.ledger.diff("op:1", "op:2")) == (
            "2026-03-01T12:00:00Z (line 1) to 2026-03-01T12:00:00Z (line 3)\n"
            "\n"
            "Added\n"
            "- #2 alice: Lives in Rome (replaces 1); 2026-03-01, user through library, line 2\n"
            "\n"
            "Retired\n"
            "- #1 alice: Lives in Lisbon (replaced by fact 2); 2026-03-01, user through library,"
            " line 3"
        )


def test_differences_are_filtered_and_paged(store: Store, began: str) -> None:
    store.add("x", subject="other", category="diet")
    store.add("y", subject="Other")
    store.add("ana's", subject="other", user_id="ana")
    assert [one.fact_id for one in store.ledger.diff(began, subject="OTHER")] == [4, 5]
    assert [one.fact_id for one in store.ledger.diff(began, category="diet")] == [4]
    assert [one.fact_id for one in store.of(user_id="ana").ledger.diff(began)] == [6]
    assert [one.fact_id for one in store.of("all").ledger.diff(began)] == [4, 5, 6]
    page = store.ledger.diff(began, limit=1, offset=1)
    assert [one.fact_id for one in page] == [5]
    assert page.total == 2
    assert "1 of 2 differences" in str(page)


@pytest.mark.parametrize(
    ("a", "b", "error", "text"),
    [
        ("op:3", "op:1", InvalidArgument, None),
        ("now", "op:1", InvalidArgument, r"b \(.*\) is before the first moment \(.*\)"),
        ("soon", "now", InvalidArgument, "a is not a moment: 'soon'"),
        ("op:1", "9999-01-01", InvalidArgument, "b is in the future"),
        ("op:1", "op:99", NotFound, "there is no line 99"),
    ],
)
def test_moments_that_make_no_sense_are_refused(
    store: Store, began: str, a: str, b: str, error: type[Exception], text: str | None
) -> None:
    if text is None:  # both are of one act
        assert list(store.ledger.diff(a, b)) == []
        return
    with pytest.raises(error, match=text):
        store.ledger.diff(a, b)


@pytest.mark.parametrize("a", ["1999-01-01", "yesterday", "op:1"])
def test_the_first_day_differs_from_the_one_before(store: Store, a: str) -> None:
    assert list(store.ledger.diff("yesterday", "now")) == []  # an empty file, too
    store.add("one", subject="s")
    store.add("two", subject="s")
    expected = [2] if a == "op:1" else [1, 2]
    assert [one.fact_id for one in store.ledger.diff(a, "now")] == expected


def test_a_page_that_makes_no_sense_is_refused(store: Store, began: str) -> None:
    with pytest.raises(InvalidArgument, match="limit must be at least 1"):
        store.ledger.diff(began, limit=0)
    with pytest.raises(InvalidArgument, match="offset must be 0 or more"):
        store.ledger.diff(began, offset=-1)


# -- who may see what --------------------------------------------------------------------


def test_other_namespaces_and_owners_stay_hidden(open_store: OpenStore) -> None:
    store = open_store(embedder=None)
    store.add("first", subject="s")
    other = store.within("other")
    other.add("theirs", subject="s")
    page = other.episodes.record("theirs")
    store.add("ana's", subject="s", user_id="ana")
    assert kinds(store, "op:1") == []
    assert kinds(other, "op:1") == [("added", 2, "")]
    confined = store.within(confined=True)
    for hidden in ("op:2", f"episode:{page.id}"):
        with pytest.raises(NotFound):
            confined.ledger.diff(hidden)
    assert kinds(confined, "op:1") == []


def test_evidence_that_quotes_what_may_not_be_seen_is_left_out(store: Store, began: str) -> None:
    page = store.of(user_id="ana").episodes.record("the wombat said so")
    with store.file.engine.write() as transaction:
        from memstore.database.changes import Changes, Line
        from memstore.database.journal import Author, Kind
        from memstore.database.tables import facts as fact_table

        line = Line(
            Kind.DELETE,
            1,
            page.id,
            after={"deleted_at": "2026-03-01T00:00:00.000000Z"},
            evidence={"episode": page.id, "said": "the wombat said so", "wanted": "DELETE"},
        )
        update = fact_table.updating(1, deleted_at=clock.utc_now())
        Changes(transaction, Author("user", "library")).write(line, update)
    (one,) = store.ledger.diff(began)
    assert (one.reason, one.evidence) == ("a model wanted to delete it", None)
    assert "wombat" not in str(store.ledger.diff(began))
    (one,) = store.of("all").ledger.diff(began)
    assert one.reason == 'a model wanted to delete it and "the wombat said so" was said'


# -- properties --------------------------------------------------------------------------

NAMES = (
    "add add_many supersede replace confirm metadata pin unpin delete restore task status "
    "erase revert expiring foreign wait merge"
).split()
ACTS = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 30)), min_size=1, max_size=16)


@pytest.mark.hypothesis
@settings(max_examples=examples(60))
@given(acts=ACTS, back=st.booleans())
def test_applying_the_differences_to_the_list_of_then_gives_the_list_of_now(
    new_memory: NewMemory, acts: Any, back: bool
) -> None:
    manual = ManualClock(NOON)
    with clock.use(manual), new_memory() as path, memstore.open(path, embedder=None) as store:
        store.add("the first", subject="s")
        snapshots = [(clock.utc_now(), head(store), active(store))]
        for number, (name, chosen) in enumerate(acts):
            with suppress(Conflict, NotFound):
                _do(store, manual, new_memory, name, chosen, number)
            if back and number == len(acts) // 2:
                manual.advance(-7200)
            snapshots.append((clock.utc_now(), head(store), active(store)))
        for place, (at, line, before) in enumerate(snapshots):
            for then, later, after in snapshots[place:]:
                if back:  # lines alone are in order
                    _compare(store, line, later, None, None)
                else:
                    _compare(store, at, then, before, after)


def _compare(store: Store, a: Any, b: Any, before: Listed | None, after: Listed | None) -> None:
    found = store.ledger.diff(a, b)
    assert [*found] == sorted(found, key=lambda one: (one.at, one.line or 0, one.fact_id))
    page = store.ledger.diff(a, b, limit=2, offset=1)
    assert ([*page], page.total, page.passed) == (found[1:3], found.total, found.passed)
    erased = {row[0] for row in sql(store.path, "SELECT id FROM memstore_facts WHERE content = ''")}
    pairs = [(replayed(store, found.a), replayed(store, found.b))]
    if before is not None and after is not None:
        pairs.append((before, after))
    for start, end in pairs:
        applied = {id_: one for id_, one in start.items() if id_ not in erased}
        for one in found:
            if one.fact_id not in erased:  # its lines are empty
                _apply(applied, one)
        assert {*applied} == {*end} - erased
        for id_, values in applied.items():
            assert compared(values) == compared(end[id_])
    if before is not None and after is not None:  # what was erased since was active until then
        applied = dict(before)
        for one in found:
            _apply(applied, one)
        assert {*applied} == {*after}


def _apply(listed: Listed, one: memstore.Difference) -> None:
    if one.kind in ("retired", "erased"):
        listed.pop(one.fact_id, None)
    elif one.kind in ("added", "restored"):
        assert one.fact_id not in listed
        listed[one.fact_id] = dict(one.after)
    else:
        kept = {k: v for k, v in listed[one.fact_id].items() if k not in one.before}
        listed[one.fact_id] = kept | dict(one.after)


def active(store: Store) -> Listed:
    return {one.id: one.to_dict() for one in store.list()}


def replayed(store: Store, found: Any) -> Listed:
    """Return the active facts of then by replaying every line up to it."""
    listed = {}
    with store.file.engine.read() as transaction:
        for fact_id, lines in journal.by_fact(transaction):
            own = [line for line in lines if line.id <= found.line]
            state = past.state(own) if own else None
            if state is None or {"superseded_by", "deleted_at"} & state.keys():
                continue
            expires = state.get("expired_at")
            if expires is None or datetime.fromisoformat(expires) > found.at:
                listed[fact_id] = state
    return listed


def compared(values: dict[str, Any]) -> dict[str, Any]:
    names = "content subject category metadata pinned_at last_confirmed_at expired_at".split()
    return {name: values.get(name) for name in names} | {
        "metadata": values.get("metadata") or {},
        "confirmed_count": values.get("confirmed_count") or 0,
    }


def _do(
    store: Store, manual: ManualClock, new_memory: NewMemory, name: str, chosen: int, number: int
) -> None:
    known = [row[0] for row in sql(store.path, "SELECT id FROM memstore_facts")]
    one, other = known[chosen % len(known)], known[(chosen * 7 + 3) % len(known)]
    match name:
        case "add":
            store.add(f"fact {number}", subject="s")
        case "add_many":
            store.add_many({"content": f"fact {number} {n}", "subject": "s"} for n in range(3))
        case "expiring":
            expires = clock.utc_now() + timedelta(minutes=chosen + 1)
            store.add(f"short {number}", subject="s", expired_at=expires)
        case "supersede":
            store.supersede(one, other, any_subject=True)
        case "replace":
            store.add(f"newer {number}", subject="s", supersedes=one, any_subject=True)
        case "metadata":
            store.update_metadata(one, {"n": chosen % 3 or None, str(number): 1})
        case "task":
            store.tasks.create(f"task {number}")
        case "status":
            store.tasks.update(one, status=("completed", "pending")[chosen % 2])
        case "revert":
            store.ledger.revert(lines=[1 + chosen % store.file.head().line]).apply()
        case "foreign":
            if is_server(store.path):  # where no other program can write
                return
            columns = "(content, subject, category, metadata, created_at)"
            values = f"('theirs {number}', 's', 'note', '{{}}', '2026-01-01T00:00:00Z')"
            sql(store.path, f"INSERT INTO memstore_facts {columns} VALUES {values}")
            store.add(f"after theirs {number}", subject="s")
        case "merge":  # another copy of the memory, changed there
            with new_memory() as path, memstore.open(path, embedder=None) as copy:
                copy.transfer.import_([*store.transfer.export()])
                copy.add(f"elsewhere {number}", subject="s")
                for fact in copy.list()[: chosen % 3]:
                    (copy.delete, copy.confirm, copy.pin, copy.erase)[chosen % 4](fact.id)
                store.transfer.import_([*copy.transfer.export()])
        case "wait":
            manual.advance(60 * chosen)
        case _:
            getattr(store, name)(one)
