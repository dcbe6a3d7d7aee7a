"""Facts: stored, corrected, confirmed, deleted, restored and erased, always journalled."""

from __future__ import annotations

import json
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.raw import raw

from memstore import Conflict, Fact, IdempotencyConflict, NewFact, NotFound, Store
from memstore.database.journal import with_implied
from memstore.database.tables import facts as fact_table
from memstore.database.tables.facts import journalled, journalled_text
from memstore.domain import chains, clock
from memstore.errors import Remedy
from memstore.facts.batch import AddFact, SupersedeFact
from memstore.text import folding, words

BERLIN = {"content": "Alice lives in Berlin", "subject": "alice", "category": "identity"}
MUNICH = {"content": "Alice lives in Munich", "subject": "alice", "category": "identity"}


def kinds(store: Store, fact_id: int) -> list[str]:
    return [operation.kind for operation in store.ledger.journal(fact_id)]


def test_add_returns_what_get_returns(store: Store) -> None:
    added = store.add(
        **BERLIN,
        metadata={"source": "talk", "n": 3, "none": None},
        valid_at="2026-03-01",
        source="unit",
    )
    assert store.get(added.id) == added
    assert added.status == "active"
    assert added.embedded
    assert added.metadata == {"source": "talk", "n": 3, "none": None}
    assert added.valid_at == datetime(2026, 3, 1, tzinfo=UTC)
    assert (added.namespace, added.source, added.confirmed_count) == ("default", "unit", 0)


texts = st.text(st.characters(exclude_categories=["Cs"]))
times = st.datetimes(timezones=st.just(UTC))


@given(
    st.builds(
        Fact,
        content=texts,
        metadata=st.dictionaries(texts, st.integers() | texts | st.none() | st.lists(texts)),
        superseded_at=st.none() | times,
        created_at=times,
        valid_at=st.none() | times,
        user_id=st.none() | texts,
        use_count=st.integers(0, 9),
        confirmed_count=st.integers(0, 2),
        category=st.just("note") | texts,
        namespace=st.just("default") | texts,
        thread=st.none() | texts,
        seq=st.none() | st.integers(0, 9),
    ),
    st.none() | times,
)
def test_the_journal_records_a_row_as_its_fact(fact: Fact, line_of: datetime | None) -> None:
    at = clock.to_text(line_of or fact.created_at)
    told = journalled_text(fact_table.row_of(fact, fact_table.encoded(fact)), at)
    assert with_implied(json.loads(told), at) == journalled(fact)


letters = st.text(st.sampled_from("aé오ảｎ﷽ﬁ港ไ") | st.characters(categories=["Mn", "Lo", "Ll"]))


@given(letters, letters)
def test_composing_a_text_changes_nothing_by_which_it_is_found(content: str, subject: str) -> None:
    content = unicodedata.normalize("NFD", content) + content
    found = fact_table.found_by(content, subject, "note")
    assert found.segments == words.segments(content, subject)
    assert found.claim_hash == (folding.claim_hash(found.subject_key, content) if content else None)


def test_a_line_leaves_out_what_most_facts_have_as_new_ones(store: Store) -> None:
    fact = store.add("The port is 5432", subject="staging")
    with raw(store.file.path) as file:
        [(stored,)] = file.execute("SELECT after FROM memstore_journal WHERE fact_id = 1")
    assert [*json.loads(stored)] == ["uuid", "content", "subject"]
    [line] = store.ledger.journal(fact.id)
    assert line.after == journalled(fact)


def test_facts_added_together_have_the_same_creation_time(store: Store) -> None:
    facts = store.add_many([BERLIN, MUNICH, BERLIN | {"created_at": "2026-03-01"}])
    assert facts[0].created_at == facts[1].created_at != facts[2].created_at


def test_content_is_kept_verbatim(store: Store) -> None:
    text = "  two  spaces,\ttab\nline\r\n𝒰𝓃𝒾𝒸ℴ𝒹ℯ 👩‍👩‍👧 \u202e rtl  "
    assert store.get(store.add(text, subject="x").id).content == text


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"content": ""}, "content is empty"),
        ({"content": "   \n"}, "content is empty"),
        ({"subject": " "}, "subject is empty"),
        ({"category": ""}, "category is empty"),
        ({"content": "a\x00b"}, "NUL"),
        ({"content": "half \ud800"}, "lone surrogate"),
        ({"content": "x" * 1_000_001}, "1,000,001 characters"),
        ({"subject": "x" * 501}, "subject is 501 characters"),
        ({"created_at": "someday"}, "created_at is not a time: 'someday'"),
        ({"created_at": datetime(2026, 1, 1)}, "created_at has no time zone"),
        ({"metadata": {"x": float("nan")}}, "metadata cannot be written as JSON"),
        ({"idempotency_key": ""}, "idempotency_key is empty"),
    ],
)
def test_add_refuses_bad_values_by_name(
    store: Store, arguments: dict[str, object], names: str
) -> None:
    with pytest.raises(ValueError, match=names):
        store.add(**{**BERLIN, **arguments})  # type: ignore[arg-type]
    assert store.list(active_only=False) == []


@pytest.mark.parametrize("argument", ["content", "subject", "category", "metadata"])
def test_add_refuses_other_types_by_name(store: Store, argument: str) -> None:
    with pytest.raises(TypeError, match=f"{argument} must be"):
        store.add(**{**BERLIN, argument: 7})  # type: ignore[arg-type]


def test_supersedes_retires_the_old_fact_in_the_same_transaction(store: Store) -> None:
    old = store.add(**BERLIN)
    new = store.add(**MUNICH, supersedes=old.id)
    retired = store.get(old.id)
    assert (retired.superseded_by, retired.status) == (new.id, "superseded")
    assert retired.superseded_at is not None
    assert store.list() == [new]
    assert store.list(active_only=False) == [retired, new]


@pytest.mark.parametrize("state", ["missing", "superseded", "deleted", "elsewhere"])
def test_supersedes_refuses_and_stores_nothing(
    store: Store, open_store: Callable[..., Store], state: str
) -> None:
    old = store.add(**BERLIN)
    if state == "missing":
        old_id, error, says = 99, NotFound, "no fact 99 in namespace 'default'"
    elif state == "superseded":
        new = store.add(**MUNICH, supersedes=old.id)
        newest = store.add("Alice lives in Rome", subject="alice", supersedes=new.id)
        old_id, error = old.id, Conflict
        says = f"already superseded by fact {new.id}.*newest of its chain is fact {newest.id}"
    elif state == "deleted":
        store.delete(old.id)
        old_id, error, says = old.id, Conflict, r"is deleted\nRestore it first"
    else:
        old_id = open_store(namespace="other").add(**BERLIN).id
        error, says = NotFound, f"no fact {old_id} in namespace 'default'"
    before = store.list(active_only=False, include_deleted=True)
    with pytest.raises(error, match=says):
        store.add("Alice lives in Oslo", subject="alice", supersedes=old_id)
    assert store.list(active_only=False, include_deleted=True) == before


def test_supersede_links_two_facts(store: Store) -> None:
    old, new = store.add(**BERLIN), store.add(**MUNICH)
    assert store.supersede(old.id, new.id).superseded_by == new.id


def test_supersede_refuses_the_same_fact_and_inactive_facts(store: Store) -> None:
    old, new = store.add(**BERLIN), store.add(**MUNICH)
    with pytest.raises(Conflict, match="cannot supersede itself"):
        store.supersede(old.id, old.id)
    store.supersede(old.id, new.id)
    with pytest.raises(Conflict, match=f"is superseded by fact {new.id}, so it cannot"):
        store.supersede(new.id, old.id)
    with pytest.raises(Conflict, match="already superseded"):
        store.supersede(old.id, new.id)


def test_add_many_stores_all_or_none(store: Store) -> None:
    facts = store.add_many([NewFact(**BERLIN), MUNICH])
    assert [fact.content for fact in facts] == [BERLIN["content"], MUNICH["content"]]
    with pytest.raises(ValueError, match="fact 2 of 2: content is empty; none was stored"):
        store.add_many([{"content": "fine", "subject": "x"}, {"content": "", "subject": "x"}])
    with pytest.raises(NotFound):
        store.add_many(
            [
                {"content": "fine", "subject": "x"},
                {"content": "y", "subject": "x", "supersedes": 99},
            ]
        )
    assert store.list() == facts
    assert store.add_many([]) == []


def test_idempotency_key_returns_the_same_fact(store: Store) -> None:
    old = store.add(**BERLIN)
    first = store.add(**MUNICH, supersedes=old.id, idempotency_key="k")
    again = store.add(**MUNICH, supersedes=old.id, idempotency_key="k")
    assert again == first
    assert len(store.list(active_only=False)) == 2


def test_idempotency_key_with_other_content_is_refused(store: Store) -> None:
    first = store.add(**BERLIN, idempotency_key="k")
    with pytest.raises(IdempotencyConflict, match=f"'k' already belongs to fact {first.id}"):
        store.add(**MUNICH, idempotency_key="k")


def test_idempotency_key_is_bound_to_its_namespace(open_store: Callable[..., Store]) -> None:
    here, there = open_store(), open_store(namespace="other")
    assert here.add(**BERLIN, idempotency_key="k").id != there.add(**MUNICH, idempotency_key="k").id


def test_exists_counts_active_facts_only(store: Store) -> None:
    old = store.add(**BERLIN)
    assert store.exists(BERLIN["content"], subject="alice")
    assert not store.exists(BERLIN["content"], subject="bob")
    new = store.add(**MUNICH, supersedes=old.id)
    assert not store.exists(BERLIN["content"], subject="alice")
    store.add(**BERLIN, supersedes=new.id)  # A → B → A
    assert store.exists(BERLIN["content"], subject="alice")


def test_history_is_the_whole_chain_from_any_member(store: Store) -> None:
    a = store.add(**BERLIN)
    b = store.add(**MUNICH, supersedes=a.id)
    c = store.add("Alice lives in Rome", subject="alice", supersedes=b.id)
    store.add("Alice has a cat", subject="alice")
    for member in (a, b, c):
        assert [fact.id for fact in store.history(member.id)] == [a.id, b.id, c.id]


def test_history_contains_every_merged_branch(store: Store) -> None:
    a, b = store.add(**BERLIN), store.add("Alice is at home in Berlin", subject="alice")
    c = store.add(**MUNICH, supersedes=a.id)
    store.supersede(b.id, c.id)
    assert [fact.id for fact in store.history(b.id)] == [a.id, b.id, c.id]


def test_history_of_a_subject_contains_all_its_facts(store: Store) -> None:
    a = store.add(**BERLIN)
    b = store.add(**MUNICH, supersedes=a.id)
    store.delete(b.id)
    store.add("Bob has a dog", subject="bob")
    assert [fact.status for fact in store.history(subject="alice")] == ["superseded", "deleted"]


@pytest.mark.parametrize("arguments", [{}, {"fact_id": 1, "subject": "alice"}])
def test_history_needs_either_an_id_or_a_subject(
    store: Store, arguments: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match="either a fact's id or a subject"):
        store.history(**arguments)  # type: ignore[arg-type]


def test_confirm_counts(store: Store) -> None:
    fact = store.add(**BERLIN)
    store.confirm(fact.id)
    twice = store.confirm(fact.id)
    assert twice.confirmed_count == 2
    assert twice.last_confirmed_at is not None


def test_confirm_refuses_inactive_facts(store: Store) -> None:
    old = store.add(**BERLIN)
    new = store.add(**MUNICH, supersedes=old.id)
    with pytest.raises(Conflict, match=f"superseded by fact {new.id}"):
        store.confirm(old.id)
    store.delete(new.id)
    with pytest.raises(Conflict, match="deleted"):
        store.confirm(new.id)


def test_update_metadata_is_a_merge_patch(store: Store) -> None:
    fact = store.add(**BERLIN, metadata={"a": 1, "b": {"c": 2, "d": 3}})
    patched = store.update_metadata(fact.id, {"a": None, "b": {"c": None, "e": 4}, "f": [1]})
    assert patched.metadata == {"b": {"d": 3, "e": 4}, "f": [1]}
    assert patched.embedded
    assert kinds(store, fact.id) == ["add", "metadata"]
    store.update_metadata(fact.id, {"f": [1]})
    assert kinds(store, fact.id) == ["add", "metadata"]  # nothing changed, so nothing is journalled


def test_delete_is_undone_by_restore(store: Store) -> None:
    fact = store.add(**BERLIN)
    assert store.delete(fact.id).status == "deleted"
    assert store.delete(fact.id).status == "deleted"
    assert store.list() == store.list(active_only=False) == []
    assert [f.id for f in store.list(include_deleted=True)] == [fact.id]
    assert store.search("Berlin") == []
    assert store.restore(fact.id) == fact
    assert store.search("Berlin")[0].fact == fact
    assert kinds(store, fact.id) == ["add", "delete", "restore"]


def test_restore_of_a_superseded_fact_extends_the_chain(store: Store) -> None:
    a = store.add(**BERLIN, metadata={"k": 1})
    b = store.add(**MUNICH, supersedes=a.id)
    c = store.restore(a.id)
    assert (c.content, c.subject, c.category, c.metadata) == (
        a.content,
        a.subject,
        a.category,
        {"k": 1},
    )
    assert c.embedded
    assert [(f.id, f.status) for f in store.history(a.id)] == [
        (a.id, "superseded"),
        (b.id, "superseded"),
        (c.id, "active"),
    ]


def test_restore_refuses_active_facts_and_those_superseded_by_a_deleted_one(store: Store) -> None:
    a = store.add(**BERLIN)
    with pytest.raises(Conflict, match="active, so there is nothing to restore"):
        store.restore(a.id)
    b = store.add(**MUNICH, supersedes=a.id)
    store.delete(b.id)
    with pytest.raises(Conflict, match=rf"fact {b.id}, is deleted\nRestore it first"):
        store.restore(a.id)


def test_erase_leaves_only_an_empty_entry_in_the_history(store: Store) -> None:
    a = store.add(**BERLIN, idempotency_key="k")
    b = store.add(**MUNICH, supersedes=a.id)
    store.erase(a.id)
    with pytest.raises(NotFound):
        store.get(a.id)
    assert [(f.id, f.status, f.content) for f in store.history(b.id)] == [
        (a.id, "erased", ""),
        (b.id, "active", b.content),
    ]
    assert store.list(active_only=False, include_deleted=True) == [b]
    operations = [o for o in store.ledger.journal(b.id) if o.fact_id == a.id]
    assert [o.kind for o in operations] == ["add", "supersede", "erase"]
    *earlier, erasure = operations
    assert all(o.before is None and o.after is None for o in earlier)
    assert {k: v for k, v in (erasure.after or {}).items() if v in ("", {})} == {
        **dict.fromkeys(("content", "subject", "category"), ""),
        "metadata": {},
    }
    for again in (store.delete, store.restore, store.confirm):
        with pytest.raises(NotFound):
            again(a.id)
    store.add(**BERLIN, idempotency_key="k")  # the key is free again


def test_expired_facts_are_not_active(store: Store) -> None:
    past = store.add(**BERLIN, expired_at="2020-01-01")
    coming = store.add(**MUNICH, expired_at="2999-01-01")
    assert past.status == "expired"
    assert store.list() == [coming]
    assert store.list(active_only=False) == [past, coming]
    assert [hit.fact.id for hit in store.search("Alice lives")] == [coming.id]
    assert len(store.search("Alice lives", active_only=False)) == 2


def test_list_pages_in_either_order(store: Store) -> None:
    ids = [store.add(f"fact {n}", subject="x").id for n in range(5)]
    assert [f.id for f in store.list(limit=2, offset=1)] == ids[1:3]
    assert [f.id for f in store.list(limit=2, newest_first=True)] == ids[:2:-1]
    assert store.list(offset=5) == []
    with pytest.raises(ValueError, match="limit must be at least 1"):
        store.list(limit=0)
    with pytest.raises(ValueError, match="offset must be 0 or more"):
        store.list(offset=-1)


def test_list_filters_by_subject_and_category(store: Store) -> None:
    a = store.add(**BERLIN)
    b = store.add("Alice likes tea", subject="alice", category="preference")
    store.add("Bob likes tea", subject="bob", category="preference")
    assert store.list(subject="alice") == [a, b]
    assert store.list(subject="alice", category="preference") == [b]


def test_touch_counts_only_facts_of_its_namespace(open_store: Callable[..., Store]) -> None:
    here, there = open_store(), open_store(namespace="other")
    mine, theirs = here.add(**BERLIN), there.add(**MUNICH)
    assert here.searches.note_use([mine.id, theirs.id, 99]) == 1
    assert (here.get(mine.id).use_count, there.get(theirs.id).use_count) == (1, 0)
    assert here.get(mine.id).last_used_at is not None


def test_status_counts_the_namespace(store: Store, open_store: Callable[..., Store]) -> None:
    a = store.add(**BERLIN)
    store.add(**MUNICH, supersedes=a.id)
    store.delete(store.add("gone", subject="x").id)
    store.add("old", subject="x", expired_at="2020-01-01")
    open_store(namespace="other").add("elsewhere", subject="y")
    status = store.status()
    assert (status.active, status.superseded, status.deleted, status.expired) == (1, 1, 1, 1)
    assert (status.subjects, status.categories) == ({"alice": 1}, {"identity": 1})
    assert (status.pending, status.quarantined) == (0, 0)
    assert status.namespaces == {"default": 4, "other": 1}
    assert (status.model, status.dimension, status.embedder) == ("words-64", 64, "words-64")
    assert status.path == store.path
    assert status.size_bytes > 0


def test_journal_names_author_and_source(open_store: Callable[..., Store]) -> None:
    store = open_store(actor="ada", source="test")
    fact = store.add(**BERLIN)
    (operation,) = store.ledger.journal(fact.id)
    assert (operation.actor, operation.source, operation.fact_id) == ("ada", "test", fact.id)
    assert operation.after is not None
    assert operation.after["content"] == fact.content


def test_ids_must_be_whole_numbers(store: Store) -> None:
    for wrong in ("1", 1.0, True, None):
        with pytest.raises(TypeError, match="whole number"):
            store.get(wrong)  # type: ignore[arg-type]


def test_subjects_are_found_with_spaces_around_them(store: Store) -> None:
    fact = store.add("Alice lives in Berlin", subject=" alice ", category=" identity ")
    assert (fact.subject, fact.category) == ("alice", "identity")
    assert store.list(subject=" alice ", category="identity ") == [fact]
    assert store.history(subject=" alice") == [fact]
    assert store.exists(fact.content, subject="alice ")


@pytest.mark.parametrize("limit", [0, -1, 2.5, 2**70])
def test_limits_are_positive_whole_numbers(store: Store, limit: int) -> None:
    for ask in (store.list, store.tasks.list, store.file.embed_pending):
        with pytest.raises(ValueError, match="limit must be at least 1"):
            ask(limit=limit)


def test_embedder_options_require_a_name(open_store: Callable[..., Store]) -> None:
    with pytest.raises(ValueError, match="model applies only to an embedder that is named"):
        open_store(model="x", base_url="http://localhost")
    with pytest.raises(ValueError, match="api_key applies only to"):
        open_store(embedder=None, api_key="k")


def test_idempotency_key_of_a_deleted_fact_is_a_conflict(store: Store) -> None:
    fact = store.add(**BERLIN, idempotency_key="k")
    store.delete(fact.id)
    with pytest.raises(Conflict, match=r"which is deleted\nUse a new idempotency key"):
        store.add(**BERLIN, idempotency_key="k")


def test_idempotency_key_does_not_hide_a_supersession(store: Store) -> None:
    old, new = store.add(**BERLIN), store.add(**MUNICH, idempotency_key="k")
    with pytest.raises(
        IdempotencyConflict,
        match=rf"(?s)fact {new.id}, .*fact {old.id}.*Supersede",
    ):
        store.add(**MUNICH, idempotency_key="k", supersedes=old.id)
    assert store.get(old.id).status == "active"


def test_facts_that_expire_before_they_are_valid_are_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="expired_at is not after the time from which"):
        store.add(**BERLIN, valid_at="2026-01-01", expired_at="2025-01-01")


def test_the_namespace_name_all_is_reserved(open_store: Callable[..., Store]) -> None:
    with pytest.raises(ValueError, match="namespace cannot be 'all'"):
        open_store(namespace="all")


def test_namespace_cannot_be_rebound(store: Store) -> None:
    with pytest.raises(AttributeError):
        store.namespace = "other"  # type: ignore[misc]


def test_in_memory_store_behaves_like_any_other(open_store: Callable[..., Store]) -> None:
    store = open_store(":memory:", wait_seconds=1)
    store.add(**BERLIN)
    half_read = store.transfer.export()
    next(half_read)
    store.add(**MUNICH)
    assert len(store.list()) == 2
    store.close()
    assert not Path(store.path).exists()


# -- the same fact twice -------------------------------------------------------------------------


def test_add_stores_duplicates_by_default(store: Store) -> None:
    first, second = store.add(**BERLIN), store.add(**BERLIN)
    assert second.id != first.id
    assert store.count() == 2


@pytest.mark.parametrize(
    ("content", "subject"),
    [
        ("Alice lives in Berlin", "alice"),
        ("Alice  lives in Berlin.", " Alice"),
        ("Alice lives\tin Berlin", "ALICE"),
    ],
)
def test_add_unless_known_confirms_a_known_fact(store: Store, content: str, subject: str) -> None:
    held = store.add(**BERLIN, metadata={"a": 1, "b": 2})
    again = store.add(
        content, subject=subject, category="identity", metadata={"b": 2, "a": 1}, unless_known=True
    )
    assert (again.id, again.content) == (held.id, held.content)
    assert (again.confirmed_count, again.last_confirmed_at is not None) == (1, True)
    assert kinds(store, held.id) == ["add", "confirm"]
    assert store.count() == 1


@pytest.mark.parametrize(
    "different",
    [
        {"content": "Alice lives in Berlin!"},
        {"subject": "bob"},
        {"category": "note"},
        {"metadata": {"a": True}},
        {"metadata": {"a": 1, "b": 2}},
        {"metadata": None},
        {"expired_at": "2099-01-01"},
        {"user_id": "ana"},
        {"agent_id": "bot"},
        {"run_id": "r1"},
    ],
)
def test_add_unless_known_stores_what_differs(store: Store, different: dict[str, Any]) -> None:
    said: dict[str, Any] = {**BERLIN, "metadata": {"a": 1}}
    held = store.add(**said)
    other = store.add(**said | different, unless_known=True)
    assert other.id != held.id
    assert store.get(held.id).confirmed_count == 0
    assert store.of("all").count() == 2


def test_add_unless_known_ignores_tasks_and_inactive_facts(store: Store) -> None:
    store.tasks.create("Call Alice")
    gone = store.add(**BERLIN)
    store.delete(gone.id)
    old = store.add(**BERLIN)
    store.add(**MUNICH, supersedes=old.id)
    store.erase(store.add(**BERLIN).id)
    elsewhere = store.within("other").add(**BERLIN)
    new = store.add(**BERLIN, unless_known=True)
    assert new.id not in (gone.id, old.id, elsewhere.id)
    assert new.confirmed_count == 0
    task = store.add("Call Alice", subject="todo", category="task", unless_known=True)
    assert task.confirmed_count == 0


def test_add_unless_known_lets_the_known_fact_supersede(store: Store) -> None:
    held, wrong = store.add(**BERLIN), store.add(**MUNICH)
    again = store.add(**BERLIN, supersedes=wrong.id, unless_known=True)
    assert (again.id, store.get(wrong.id).superseded_by) == (held.id, held.id)
    assert again.confirmed_count == 1
    with pytest.raises(Conflict, match="already superseded"):
        store.add(**BERLIN, supersedes=wrong.id, unless_known=True)
    assert store.get(held.id).confirmed_count == 1


def test_add_unless_known_can_correct_the_case_of_a_fact(store: Store) -> None:
    old = store.add("alice lives in berlin", subject="alice")
    new = store.add("Alice lives in Berlin", subject="alice", supersedes=old.id, unless_known=True)
    assert store.get(old.id).superseded_by == new.id


def test_add_unless_known_with_a_used_key_does_not_confirm(store: Store) -> None:
    first = store.add(**BERLIN, idempotency_key="k", unless_known=True)
    assert store.add(**BERLIN, idempotency_key="k", unless_known=True) == first


def test_erased_fact_leaves_no_hash_of_its_text(store: Store, path: Path) -> None:
    store.erase(store.add(**BERLIN).id)
    store.close()
    with raw(path) as file:
        assert file.execute("SELECT claim_hash FROM memstore_facts").fetchall() == [(None,)]


@pytest.mark.parametrize("episode_id", [-1, 0, 7, 2**63 - 1, 2**63, -(2**63) - 1])
def test_fact_needs_an_existing_episode(store: Store, episode_id: int) -> None:
    old = store.add("tea", subject="ana")
    new: dict[str, Any] = {"content": "coffee", "subject": "ana", "episode_id": episode_id}
    says = f"there is no episode {episode_id} in namespace 'default'"
    with pytest.raises(NotFound, match=f"^{says}"):
        store.add(**new)
    with pytest.raises(NotFound, match=f"^{says}"):
        store.add_many([{"content": "milk", "subject": "ana"}, new])
    with pytest.raises(NotFound, match=f"^{says}"):
        store.add(**new, supersedes=old.id)
    with pytest.raises(NotFound, match=f"^{says}"):
        store.ledger.apply([AddFact(fact=NewFact(**new))])
    assert store.list(active_only=False) == [old]


def test_fact_needs_an_episode_of_its_namespace(store: Store) -> None:
    here = store.episodes.add("tea, please", source="chat")
    other = store.within("other")
    with pytest.raises(NotFound, match=f"no episode {here.id} in namespace 'other'"):
        other.add("tea", subject="ana", episode_id=here.id)
    assert store.add("tea", subject="ana", episode_id=here.id).episode_id == here.id
    assert store.file.doctor() == []


def test_fact_of_another_subject_supersedes_only_with_any_subject(store: Store) -> None:
    old, new = store.add(**BERLIN), store.add("Bob lives in Munich", subject="bob")
    says = f"fact {old.id} is about 'alice', but the fact to supersede it is about 'bob'"
    for attempt in (
        lambda: store.supersede(old.id, new.id),
        lambda: store.add("Bob left", subject="bob", supersedes=old.id),
        lambda: store.ledger.apply([SupersedeFact(old_id=old.id, new_id=new.id)]),
        lambda: store.ledger.apply(
            [AddFact(fact=NewFact(content="c", subject="bob", supersedes=old.id))]
        ),
    ):
        with pytest.raises(Conflict, match=says) as caught:
            attempt()
        assert caught.value.remedy is Remedy.SAY_ANY_SUBJECT
    assert store.get(old.id).status == "active"
    assert store.add("x", subject=" ALICE ", supersedes=old.id).subject == "ALICE"
    third = store.add("Carol too", subject="carol", supersedes=new.id, any_subject=True)
    assert (
        store.supersede(third.id, store.add(**BERLIN).id, any_subject=True).status == "superseded"
    )


def test_task_and_fact_supersede_each_other_only_with_any_subject(store: Store) -> None:
    task, fact = store.tasks.create("buy bread"), store.add("bread is sold out", subject="todo")
    with pytest.raises(
        Conflict, match=f"fact {task.id} is a task, but the fact to supersede it is not"
    ):
        store.supersede(task.id, fact.id)
    with pytest.raises(
        Conflict, match=f"fact {fact.id} is not a task, but the fact to supersede it is one"
    ):
        store.supersede(fact.id, task.id)
    assert store.supersede(task.id, fact.id, any_subject=True).superseded_by == fact.id


def test_older_returns_the_superseded_fact(store: Store) -> None:
    old = store.add(**BERLIN)
    new = store.add(**MUNICH, supersedes=old.id)
    assert chains.older(store.history(old.id), old.id) is None
    store.delete(new.id)
    older = chains.older(store.history(new.id), new.id)
    assert older is not None
    assert older.id == old.id
    assert store.reinstate(old.id).status == "active"


def test_key_repeated_in_a_batch_creates_one_fact(store: Store) -> None:
    held = store.add(**BERLIN, idempotency_key="held")
    found = store.add_many(
        NewFact(**BERLIN, idempotency_key=key) for key in ("held", "new", "new", "other")
    )
    assert [fact.id - held.id for fact in found] == [0, 1, 1, 2]
    assert store.count() == 3
    with pytest.raises(IdempotencyConflict):
        store.add_many(
            [NewFact(**BERLIN, idempotency_key="a"), NewFact(**MUNICH, idempotency_key="a")]
        )
    assert store.count() == 3


def test_a_batch_confirms_its_duplicates(store: Store) -> None:
    held = store.add(**BERLIN)
    new = NewFact(**BERLIN)
    other = NewFact(**MUNICH)
    applied = store.ledger.apply(
        [AddFact(fact=one, unless_known=True) for one in (new, other, other)]
    )
    assert [one.known for one in applied] == [True, False, True]
    assert [one.fact.id - held.id for one in applied] == [0, 1, 1]
    assert [store.get(one.fact.id).confirmed_count for one in applied[1:]] == [1, 1]


@pytest.mark.parametrize(
    "given",
    [{"a": (1, 2)}, {"a": {"b": [True, None]}}, {"a": 1.5, "b": "ü"}, {}, None, OrderedDict(a=1)],
)
def test_add_returns_the_fact_as_stored(store: Store, given: Any) -> None:
    fact = store.add(**BERLIN, metadata=given, valid_at="2026-03-01T10:00+02:00", source="s")
    assert fact == store.get(fact.id)
    assert list(fact.metadata) == list(store.get(fact.id).metadata)


def test_changing_the_passed_metadata_later_does_not_change_the_fact(store: Store) -> None:
    given: dict[str, Any] = {"list": [1], "text": "a"}
    fact = store.add(**BERLIN, metadata=given)
    given["list"].append(2)
    given["text"] = "b"
    assert fact.metadata == {"list": [1], "text": "a"}
