"""Any argument gives an answer or a documented error."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

import memstore
from memstore import (
    AsyncStore,
    Extractor,
    InvalidArgument,
    InvalidArgumentType,
    Memory,
    NewEpisode,
    NewFact,
    Scope,
    Store,
)
from memstore.facts.batch import AddFact, DeleteFact, KeepFact, SupersedeFact

DOCUMENTED = (memstore.MemstoreError, InvalidArgument, InvalidArgumentType)

SOUND: dict[str, Any] = {
    "verdict": "reject",
    "proposal_ids": [1],
    "since": 1,
    "created_after": "2020-01-01",
    "a": "now",
    "content": "some text",
    "subject": "s",
    "source": "chat",
    "deleted_at": "2026-03-01",
    "fact_id": 1,
    "moment": "now",
    "old_id": 1,
    "new_id": 2,
    "memory_id": 1,
    "episode_id": 1,
    "task_id": 3,
    "proposal_id": 1,
    "status": "pending",
    "prompt": "which port does staging use?",
    "query": "text",
    "new": NewEpisode(content="c", source="s", thread="t", tags=("k",)),
    "tag": "k",
    "queries": ["text"],
    "text": "text",
    "others": ["text"],
    "namespace": "other",
    "uuid": "x",
    "patch": {"a": 1},
    "messages": "text",
    "facts": [],
    "new_episodes": [],
    "fact_ids": [1],
    "changes": [],
    "lines": [],
    "name": "n",
    "left": "a",
    "right": "b",
    "entity": "a",
    "names": ["a"],
    "path": "/nowhere/at/all",
    "generation_id": 1,
    "name_or_id": "n",
    "access": "read",
    "timeout_seconds": 0.01,
    "target": "/nowhere/at/all",
    "max_tokens": 100,
    "decide": lambda facts: [],
    "idempotency_keys": ["k"],
    "episode_ids": [1],
    "external_key": "k",
    "external_key_prefix": "k",
    "external_keys": ["k"],
    "items": [],
    "expired_at": "2026-03-01",
}
"""A valid value for each parameter without a default."""

NOT_CALLED = {
    "backup_in_background": "starts a thread",
    "close": "ends the store",
    "embed_in_background": "starts a thread",
    "keep_backups": "does not return",
    "keep_embedding": "does not return",
    "progress": "is called by us",
    "reembed": "asks a model",
    "put_forward": "for the library's own use",
    "check": "for the library's own use",
    "note_use": "for the library's own use",
    "stage": "asks a model",
    "run": "asks a model",
}


class Nothing:
    """A useless object."""


WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30]),
    st.sampled_from([0.5, math.nan, math.inf, -1e308]),
    st.sampled_from(["", " ", "\x00", "\ud800", "all", "x" * 501, "text"]),
    st.sampled_from([b"bytes", datetime(2026, 1, 1), Path("p"), Nothing(), Nothing, len]),
    st.sampled_from([[], [None], ["abc"], [1], [[]], (), {}, {"a"}, {1: 2}, {"a": Nothing()}]),
    st.sampled_from([{"nonsense": 1}, [{"nonsense": 1}], [{"content": 1}], {"a": {"b": math.nan}}]),
    st.sampled_from([{"a": "\ud800"}, {"\ud800": 1}, [("a", "=", "\ud800")]]),
)
FIELDS = st.dictionaries(
    st.sampled_from([*inspect.signature(NewFact).parameters]), WRONG, max_size=3
)
CHANGES = st.lists(
    st.one_of(
        st.builds(DeleteFact, fact_id=WRONG, evidence=WRONG),
        st.builds(KeepFact, fact_id=WRONG),
        st.builds(SupersedeFact, old_id=WRONG, new_id=WRONG),
        st.builds(AddFact, fact=WRONG, precedence=WRONG),
        st.builds(
            lambda more: AddFact(fact=NewFact(**{"content": "c", "subject": "s"} | more)), FIELDS
        ),
    ),
    min_size=1,
    max_size=2,
)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with a chain, a task, an episode and a tombstone, in its own folder."""
    with (
        contextlib.chdir(tmp_path_factory.mktemp("wrong")),
        memstore.open(":memory:", embedder=None) as store,
    ):
        old = store.add("one", subject="s")
        store.add("two", subject="s", supersedes=old.id)
        store.tasks.create("three")
        store.episodes.add("said", source="chat")
        yield store


def parts(store: Store) -> dict[str, Any]:
    return {
        "store": store,
        "tasks": store.tasks,
        "episodes": store.episodes,
        "proposals": store.proposals,
        "generations": store.file.generations,
        "tokens": store.file.tokens,
        "graph": store.graph,
        "memory": Memory(store),
    }


with memstore.open(":memory:", embedder=None) as _store:
    METHODS = [
        (name, method)
        for name, part in parts(_store).items()
        for method in dir(type(part))
        if not method.startswith("_")
        and method not in NOT_CALLED
        and inspect.isfunction(inspect.getattr_static(type(part), method))
    ]


@pytest.mark.parametrize(("part", "method"), METHODS, ids=map(".".join, METHODS))
@settings(phases=[Phase.explicit, Phase.generate], max_examples=examples(40))
@given(data=st.data())
def test_wrong_arguments_raise_the_documented_errors(
    held: Store, part: str, method: str, data: st.DataObject
) -> None:
    call = getattr(parts(held)[part], method)
    arguments: dict[str, Any] = {}
    first: list[Any] = []
    for name, parameter in inspect.signature(call).parameters.items():
        if name == "progress" or parameter.kind is parameter.VAR_POSITIONAL:
            continue
        needed = parameter.default is parameter.empty
        if data.draw(st.booleans(), label=f"{name} is wrong"):
            arguments[name] = data.draw(WRONG, label=name)
        elif needed:
            assert name in SOUND, f"{part}.{method} needs a sound {name}"
            arguments[name] = SOUND[name]
        if parameter.kind is parameter.POSITIONAL_ONLY and name in arguments:
            first.append(arguments.pop(name))
    answer(call, *first, **arguments)


@settings(phases=[Phase.explicit, Phase.generate], max_examples=examples(100))
@given(changes=CHANGES, owners=st.one_of(st.just(Scope()), WRONG), since=WRONG)
@example(changes=[AddFact(fact=NewFact(content="c", subject="s"))], owners=Scope(), since=10**30)
def test_wrong_changes_raise_the_documented_errors(
    held: Store, changes: Any, owners: Any, since: Any
) -> None:
    answer(lambda: held.of(owners).ledger.apply(changes, since=since))


@settings(phases=[Phase.explicit, Phase.generate], max_examples=examples(100))
@given(fields=FIELDS)
def test_wrong_fields_raise_the_documented_errors(held: Store, fields: Any) -> None:
    answer(held.add_many, [{"content": "c", "subject": "s"} | fields])
    answer(held.add, **{"content": "c", "subject": "s"} | without(fields, "derivation"))


@settings(phases=[Phase.explicit, Phase.generate], max_examples=examples(100))
@given(
    options=st.fixed_dictionaries(
        {},
        optional={
            name: WRONG
            for name in inspect.signature(memstore.open).parameters
            if name not in ("path", "read_only")
        },
    )
)
def test_wrong_options_raise_the_documented_errors(options: Any) -> None:
    made = answer(memstore.open, ":memory:", **{"embedder": None} | options)
    if made is not None:
        made.close()


def without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def answer(call: Callable[..., Any], *args: Any, **arguments: Any) -> Any:
    """Return the result of a call, read to its end; ``None`` if it raises a documented error."""
    try:
        found = call(*args, **arguments)
        return [*found] if inspect.isgenerator(found) else found
    except DOCUMENTED:
        return None


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["abc"], "item 1 of 1: facts must be NewFact objects or mappings of its fields, not str"),
        (
            [{"content": "c", "subject": "s"}, {"colour": 1}],
            "item 2 of 2: facts have no field 'colour'",
        ),
        ([{"content": "c"}], "item 1 of 1: facts lack 'subject'"),
        ([{1: 2}], "item 1 of 1: facts have no field 1"),
        ("abc", "facts must be a list, not str"),
        (5, "facts must be a list, not int"),
    ],
)
def test_malformed_new_facts_are_named(held: Store, wrong: Any, says: str) -> None:
    with pytest.raises((InvalidArgument, InvalidArgumentType)) as caught:
        held.add_many(wrong)
    assert says in str(caught.value)


def test_a_generator_is_accepted_by_name(held: Store) -> None:
    for made in (Memory(held, "ollama"), Extractor(held, "ollama")):
        assert "llama3.1" in repr(made)
    with pytest.raises(InvalidArgument, match=r"^generator must be ollama, openai or"):
        Memory(held, "nonsense")
    with pytest.raises(InvalidArgumentType, match=r"^generator must be .*, not int"):
        Memory(held, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, "memory.db", AsyncStore])
def test_learning_classes_require_a_store(held: Store, wrong: Any) -> None:
    given = AsyncStore(held) if wrong is AsyncStore else wrong
    calls: list[Callable[[Any], object]] = [
        Memory,
        lambda store: Extractor(store, "ollama"),
        lambda store: memstore.consolidate(store, subject="s", generator="ollama"),
    ]
    for call in calls:
        with pytest.raises(InvalidArgumentType, match=r"^store must be a Store, not"):
            call(given)


def test_exists_refuses_arguments_that_are_not_text(held: Store) -> None:
    with pytest.raises(InvalidArgumentType, match="content must be text"):
        held.exists(None, subject="s")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentType, match="subject must be text"):
        held.exists("one", subject=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [5, b"memory.db", "", " ", "a\x00b", "\ud800", "x" * 5000])
def test_invalid_path_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DOCUMENTED):
        memstore.open(wrong, embedder=None)
    assert not [*tmp_path.iterdir()]
