"""Metadata: what is accepted, how it is patched, and that rows of other programs are tolerated."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples
from tests.support.written import form

import memstore
from memstore import Store
from memstore.domain.metadata import MAX_BYTES, decode, merge_patch, reverse_patch

# -- the merge patch -------------------------------------------------------------------------

# RFC 7396, appendix A, where both sides are objects.
RFC_VECTORS: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    # Those of the appendix whose target is not an object, nested one level down.
    ({"x": [1, 2]}, {"x": {"a": "b", "c": None}}, {"x": {"a": "b"}}),
    ({"x": ["a", "b"]}, {"x": ["c", "d"]}, {"x": ["c", "d"]}),
    ({"x": {"a": "foo"}}, {"x": "bar"}, {"x": "bar"}),
    # The example of section 3.
    (
        {
            "title": "Goodbye!",
            "author": {"givenName": "John", "familyName": "Doe"},
            "tags": ["example", "sample"],
            "content": "This will be unchanged",
        },
        {
            "title": "Hello!",
            "phoneNumber": "+01-123-456-7890",
            "author": {"familyName": None},
            "tags": ["example"],
        },
        {
            "title": "Hello!",
            "author": {"givenName": "John"},
            "tags": ["example"],
            "content": "This will be unchanged",
            "phoneNumber": "+01-123-456-7890",
        },
    ),
]


@pytest.mark.parametrize(("target", "patch", "expected"), RFC_VECTORS, ids=str)
def test_merge_patch_follows_rfc_7396(
    store: Store, target: dict[str, Any], patch: dict[str, Any], expected: dict[str, Any]
) -> None:
    fact = store.add("tea", subject="sue", metadata=target)
    assert store.update_metadata(fact.id, patch).metadata == expected
    assert store.get(fact.id).metadata == expected


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def rfc_7396(target: Any, patch: Any) -> Any:
    """The pseudo-code of section 2."""
    if not isinstance(patch, dict):
        return patch
    if not isinstance(target, dict):
        target = {}
    target = dict(target)
    for name, value in patch.items():
        if value is None:
            if name in target:
                del target[name]
        else:
            target[name] = rfc_7396(target.get(name), value)
    return target


@given(target=objects, patch=objects)
def test_merge_patch_agrees_with_the_rfc_pseudocode(
    target: dict[str, Any], patch: dict[str, Any]
) -> None:
    before = json.dumps([target, patch])
    assert json.dumps(merge_patch(target, patch), sort_keys=True) == json.dumps(
        rfc_7396(target, patch), sort_keys=True
    )
    assert json.dumps([target, patch]) == before, "the arguments are left alone"


@settings(deadline=None, max_examples=examples(60))
@given(metadata=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), values))
def test_metadata_round_trips(fresh: Callable[[], Store], metadata: dict[str, Any]) -> None:
    store = fresh()
    fact = store.add("tea", subject="sue", metadata=metadata)
    assert json.dumps(fact.metadata) == json.dumps(metadata)
    assert json.dumps(store.get(fact.id).metadata) == json.dumps(metadata)


@pytest.mark.parametrize(("before", "after"), [(1, True), (0, False), (True, 1), (1, 1.0)])
def test_a_patch_that_changes_only_the_type_is_a_change(
    store: Store, before: Any, after: Any
) -> None:
    fact = store.add("tea", subject="sue", metadata={"done": before, "in": [before]})
    store.update_metadata(fact.id, {"done": after, "in": [after]})
    expected = json.dumps({"done": after, "in": [after]})
    assert json.dumps(store.get(fact.id).metadata) == expected


def test_a_patch_that_changes_nothing_is_not_journalled(store: Store) -> None:
    fact = store.add("tea", subject="sue", metadata={"a": 1})
    for patch in ({}, {"a": 1}, {"b": None}):
        assert store.update_metadata(fact.id, patch).metadata == {"a": 1}
    assert [operation.kind for operation in store.ledger.journal(fact.id)] == ["add"]


def test_a_patch_changes_neither_text_nor_embedding(store: Store, embedder: Any) -> None:
    fact = store.add("tea", subject="sue")
    embedder.calls.clear()
    after = store.update_metadata(fact.id, {"a": 1})
    assert embedder.calls == []
    assert after.to_dict() == {**fact.to_dict(), "metadata": {"a": 1}}


def test_patches_by_two_stores_are_both_kept(
    store: Store, open_store: Callable[..., Store]
) -> None:
    fact = store.add("tea", subject="sue", metadata={"a": 1})
    open_store().update_metadata(fact.id, {"b": 2})
    assert store.update_metadata(fact.id, {"c": 3}).metadata == {"a": 1, "b": 2, "c": 3}


# -- what is refused -------------------------------------------------------------------------


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def circular() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = value
    return value


REFUSED: dict[str, tuple[Any, type[Exception]]] = {
    "nan": ({"a": math.nan}, ValueError),
    "infinity": ({"a": math.inf}, ValueError),
    "nan inside": ({"a": [{"b": -math.inf}]}, ValueError),
    "number as key": ({1: "a"}, TypeError),
    "none as key": ({None: "a"}, TypeError),
    "number as key inside": ({"a": [{True: 1}]}, TypeError),
    "too large": ({"a": "x" * MAX_BYTES}, ValueError),
    "too large in bytes": ({"a": "é" * (MAX_BYTES // 2)}, ValueError),
    "bytes": ({"a": b"x"}, TypeError),
    "set": ({"a": {1}}, TypeError),
    "object": ({"a": object()}, TypeError),
    "half a character": ({"a": "\ud800"}, ValueError),
    "half a character as key": ({"\ud800": 1}, ValueError),
    "endless number": ({"a": 10**5000}, ValueError),
    "too deep": (nested(100_000), ValueError),
    "deeper than the database reads": (nested(1100), ValueError),
    "circular": (circular(), ValueError),
    "text": ("text", TypeError),
    "list": ([], TypeError),
    "pairs": ([("a", 1)], TypeError),
    "number": (5, TypeError),
}
refused = pytest.mark.parametrize(("metadata", "error"), REFUSED.values(), ids=REFUSED)


@refused
def test_metadata_that_is_not_a_json_object_is_refused_and_nothing_stored(
    store: Store, embedder: Any, metadata: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="metadata"):
        store.add("tea", subject="sue", metadata=metadata)
    assert store.list() == []
    assert embedder.calls == [], "it is checked before anybody is asked"


@refused
def test_patches_that_are_not_json_objects_are_refused_and_nothing_changed(
    store: Store, metadata: Any, error: type[Exception]
) -> None:
    fact = store.add("tea", subject="sue", metadata={"z": 1})
    with pytest.raises(error, match="metadata"):
        store.update_metadata(fact.id, metadata)
    assert store.get(fact.id).metadata == {"z": 1}


def test_patches_that_make_metadata_too_large_are_refused(store: Store) -> None:
    fact = store.add("tea", subject="sue", metadata={"a": "x" * (MAX_BYTES // 2)})
    with pytest.raises(ValueError, match="over the limit"):
        store.update_metadata(fact.id, {"b": "x" * (MAX_BYTES // 2)})
    assert store.get(fact.id).metadata.keys() == {"a"}


def test_metadata_up_to_the_limit_is_kept(store: Store) -> None:
    metadata = {"a": "x" * (MAX_BYTES - len('{"a": ""}'))}
    assert store.add("tea", subject="sue", metadata=metadata).metadata == metadata


@pytest.mark.parametrize("empty", [None, {}])
def test_no_metadata_reads_as_an_empty_object(store: Store, empty: Any) -> None:
    fact = store.add("tea", subject="sue", metadata=empty)
    assert store.get(fact.id).metadata == {}
    assert store.update_metadata(fact.id, {"a": 1}).metadata == {"a": 1}
    assert store.update_metadata(fact.id, {"a": None}).metadata == {}


def test_a_fact_does_not_share_its_metadata_with_the_caller(store: Store) -> None:
    given_ = {"a": [1]}
    fact = store.add("tea", subject="sue", metadata=given_)
    given_["a"].append(2)
    fact.metadata["b"] = 3
    assert store.get(fact.id).metadata == {"a": [1]}


# -- rows of other programs ------------------------------------------------------------------

STRANGE = {
    "array": "[1, 2]",
    "number": "5",
    "text": '"a"',
    "null": "null",
    "broken": '{"a": 1',
    "plain text": "a",
    "empty": "",
    "nan": '{"a": NaN}',
    "json5": "{a: 1}",
    "nested too deep": '{"a":' * 1500 + "1" + "}" * 1500,
    "bytes": b"\xff\xfe",
    "a number": 7,
}


@pytest.mark.parametrize("stored", STRANGE.values(), ids=STRANGE)
def test_rows_whose_metadata_is_not_an_object_break_nothing(store: Store, stored: Any) -> None:
    strange = store.add("tea", subject="todo", category="note")
    plain = store.add("tea", subject="todo", metadata={"a": 1})
    with store.file.engine.write() as transaction:  # another SQLite may allow deeper JSON
        transaction.run(
            form("UPDATE memstore_facts SET metadata = :stored WHERE id = :id"),
            {"stored": stored, "id": strange.id},
        )
    assert [fact.id for fact in store.list()] == [strange.id, plain.id]
    assert isinstance(store.get(strange.id).metadata, dict)
    assert {hit.fact.id for hit in store.search("tea")} == {strange.id, plain.id}
    assert store.tasks.list() == []
    for op in ("=", "!=", "<", "<=", ">", ">="):
        for include_missing in (False, True):
            condition = memstore.MetadataFilter("a", op, 1, include_missing)
            found = [fact.id for fact in store.list(filters=[condition])]
            hits = {hit.fact.id for hit in store.search("tea", filters=[condition])}
            assert hits == set(found)
            assert (strange.id in found) is include_missing
            assert (plain.id in found) is (op in ("=", "<=", ">="))
    assert [fact.id for fact in store.list(filters={"a": None})] == [strange.id]
    assert [fact.id for fact in store.list(filters=[("a", "!=", None)])] == [plain.id]
    assert store.update_metadata(strange.id, {"b": 2}).metadata["b"] == 2
    assert list(store.transfer.export())


json_values = st.recursive(
    st.booleans() | st.integers(-2, 2) | st.sampled_from(["a", ""]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=5,
)
json_objects = st.dictionaries(st.sampled_from("abc"), json_values, max_size=3)


@given(before=json_objects, patch=st.dictionaries(st.sampled_from("abc"), st.none() | json_values))
def test_the_reverse_of_a_patch_restores_the_metadata(
    before: dict[str, Any], patch: dict[str, Any]
) -> None:
    after = merge_patch(before, patch)
    back = reverse_patch(before, patch)
    assert json.dumps(merge_patch(after, back), sort_keys=True) == json.dumps(
        before, sort_keys=True
    )


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ('{"a": 1, "b": [true, null]}', {"a": 1, "b": [True, None]}),
        (' {"a": 1}', {"a": 1}),
        ('{"a": 1}\n', {"a": 1}),
        ('{"a": 1} {}', {"_raw": '{"a": 1} {}'}),
        ('{"a": 1', {"_raw": '{"a": 1'}),
        ('{"a": NaN}', {"_raw": '{"a": NaN}'}),
        ("[1]", {"_raw": [1]}),
        ("", {}),
        (None, {}),
    ],
)
def test_stored_metadata_is_read_as_json(stored: str | None, read: dict[str, Any]) -> None:
    assert decode(stored) == read
