"""A store of some owners reaches nothing that others have, whichever verb is called.

The verbs are found by introspection, so a new one is walked too: what it takes has to be said in
:data:`SOUND`, unless its name is known already.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

import memstore
from memstore import (
    AccessDenied,
    AsyncStore,
    AtLeast,
    InvalidArgument,
    MemstoreError,
    NewFact,
    NotFound,
    Scope,
    Store,
)
from memstore.domain.arguments import MAX_NUMBER
from memstore.facts.batch import AddFact, DeleteFact, KeepFact, SupersedeFact
from memstore.facts.keyed import DeleteKey

SECRET: Final = "zanzibar"
"""A word in every text that others have; no caller says it."""

THEIRS: Final = "of-17"
"""A word in every name that others use, which a caller may guess."""

BEN: Final = Scope(user_id="ben-of-the-others")
ANA: Final = Scope(user_id="ana")

OWNERS: Final = {
    "exactly": ANA,
    "at least": AtLeast(user_id="ana"),
    "nobody": Scope(),
}

Filled = dict[str, Any]


def fill(store: Store, owners: Scope, word: str, name: str) -> Filled:
    """Store something of every kind for owners; return its ids."""
    own = store.of(owners)
    said = own.episodes.add(
        f"{word} was said", source="chat", thread=f"thread {name}", tags=[word],
        idempotency_key=f"said {name}",
    )  # fmt: skip
    old = own.add(f"Dora lived in {word}", subject=f"Dora {name}", episode_id=said.id)
    new = own.add(f"Dora moved from {word}", subject=f"Dora {name}", supersedes=old.id)
    keyed = own.add(f"the key of {word}", subject=f"Key {name}", external_key=f"{name}/key")
    gone = own.add(f"{word} is gone", subject=f"Gone {name}", metadata={"word": word})
    own.delete(gone.id)
    pair = [own.add(f"{word} likes {what}", subject=f"Pair {name}").id for what in ("tea", "milk")]
    proposal = own.proposals.put_forward(pair, f"{word} likes tea and milk", {"why": word})
    task = own.tasks.create(f"call {word}", project=f"project {name}")
    own.searches.record(f"where is {word}", facts=[new.id])
    store.file.write_searches()
    return {
        "fact": new.id,
        "old": old.id,
        "gone": gone.id,
        "key": keyed.external_key,
        "episode": said.id,
        "uuid": said.uuid,
        "proposal": proposal.id,
        "pair": pair,
        "task": task.id,
        "deleted_at": store.get(gone.id).deleted_at,
    }


@contextmanager
def both(store: Store) -> Iterator[Filled]:
    """Fill a store for those who ask and for others; check that nothing of others changes."""
    for owners, word in ((ANA, "wharf"), (Scope(), "meadow")):
        fill(store, owners, word, f"of {word}")
    theirs = fill(store, BEN, SECRET, THEIRS)
    store.graph.build()
    before = everything(store)
    yield theirs
    assert everything(store) == before


def everything(store: Store) -> dict[str, Any]:
    """Return all that the others have."""
    own = store.of(BEN)
    facts = own.list(active_only=False, include_deleted=True)
    episodes = own.episodes.list(include_expired=True)
    return {
        "facts": [fact.to_dict() | {"embedded": None} for fact in facts],
        "episodes": [one.to_dict() | {"embedded": None} for one in episodes],
        "proposals": [one.to_dict() for one in own.proposals.list(None)],
        "lines": [line.line for line in own.ledger.changes(limit=None)],
        "searches": len(own.searches.list()),
    }


def decide(found: dict[str, Any]) -> list[Any]:
    assert SECRET not in str(found)
    return []


def sound(theirs: Filled, folder: Path) -> dict[str, Any]:
    """Return a value for each parameter: what names something names what others have."""
    fact, episode = theirs["fact"], theirs["episode"]
    return {
        # what names something of others
        "fact_id": fact,
        "fact_ids": [fact],
        "old_id": theirs["old"],
        "new_id": fact,
        "task_id": theirs["task"],
        "facts": [fact],
        "fact": fact,
        "sources": theirs["pair"],
        "episode": episode,
        "episode_id": episode,
        "episode_ids": [episode],
        "episodes": [episode],
        "proposal_id": theirs["proposal"],
        "proposal_ids": [theirs["proposal"]],
        "external_key": theirs["key"],
        "external_keys": [theirs["key"]],
        "external_key_prefix": theirs["key"],
        "idempotency_keys": [f"said {THEIRS}"],
        "uuid": theirs["uuid"],
        "deleted_at": theirs["deleted_at"],
        "supersedes": theirs["old"],
        "moment": f"episode:{episode}",
        "items": [DeleteKey(external_key=theirs["key"])],
        "changes": [DeleteFact(fact_id=fact)],
        "subject": f"Dora {THEIRS}",
        "thread": f"thread {THEIRS}",
        "project": f"project {THEIRS}",
        "name": f"Dora {THEIRS}",
        "prefix": "",
        # what does not
        "content": "the ferry leaves at noon",
        "query": f"who moved: Dora {THEIRS}, likes tea",
        "queries": [f"who moved: Dora {THEIRS}, likes tea"],
        "prompt": f"where is {SECRET}, and who is Dora {SECRET}?",
        "hits": (),
        "max_tokens": 2_000,
        "days": 7,
        "patch": {"seen": True},
        "expired_at": "2120-01-01",
        "new_facts": [],
        "new_episodes": [],
        "new": {"content": "x", "source": "s", "thread": "t", "tags": ["one"]},
        "tag": "one",
        "tags": ["one"],
        "status": "completed",
        "verdict": "accept",
        "evidence": {},
        "level": "tool",
        "source": "web:nowhere.example",
        "path": folder,
        "lines": [],
        "acts": None,
        "decide": decide,
        "a": "2020-01-01",
        "left": "x",
        "right": "y",
        "keep": 0,
        "since": 0,
        "created_after": "2020-01-01",
        "run": None,
    }


IDS: Final = frozenset(
    "fact_id fact_ids old_id new_id task_id facts fact sources episode episode_id episode_ids"
    " proposal_id proposal_ids uuid moment supersedes changes external_key subject".split()
)
"""The parameters that name something; the optional ones are tried one by one."""

PARTS: Final = (
    "", "tasks", "episodes", "proposals",
    "keys", "ledger", "searches", "sources", "transfer", "graph",
)  # fmt: skip

NOT_WALKED: Final = {
    "close": "ends the store",
    "of": "is another test's",
    "within": "is another test's",
    "to_dict": "is not a verb",
}

ONLY_FILTERED: Final = {
    # Several ids, of which those that are not there are left out.
    "get_many", "transfer.uuids", "ledger.histories", "searches.note_use", "keys.get",
    "keys.get_many", "keys.first_stored", "episodes.by_keys", "episodes.namespace_of",
    "keys.delete", "keys.put", "keys.change", "proposals.decide",
    # What is recorded of a search is what the program says.
    "searches.record",
    # A subject is no id.
    "history", "add", "exists", "episodes.list",
}  # fmt: skip
"""Verbs that answer with nothing, where others say that there is no such thing."""


def of_verb(verb: str, theirs: Filled) -> dict[str, Any]:
    """Return what is meant by parameters that mean something else for other verbs."""
    new = {"content": "x", "subject": "s", "supersedes": theirs["old"]}
    return {"facts": [new]} if verb == "add_many" else {}


def part_of(store: Any, name: str) -> Any:
    return getattr(store, name) if name else store


def verbs_of(store: Any) -> list[str]:
    found = []
    for name in PARTS:
        if name and not hasattr(type(store), name):
            continue
        part = part_of(store, name)
        found += [
            f"{name}.{verb}" if name else verb
            for verb in dir(type(part))
            if not verb.startswith("_")
            and verb not in NOT_WALKED
            and inspect.isfunction(inspect.getattr_static(type(part), verb))
        ]
    return found


with memstore.open(":memory:", embedder=None) as _store:
    VERBS: Final = verbs_of(_store)
    _store.add("x", subject="s")
    VERBS_OF_VIEWS: Final = verbs_of(_store.as_of("now"))


def calls(call: Callable[..., Any], values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a verb is called with: what it needs, then each other id that it takes."""
    parameters = inspect.signature(call).parameters
    needed = {
        name: values[name]
        for name, one in parameters.items()
        if one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    }
    yield needed
    for name, one in parameters.items():
        if one.default is not one.empty and name in IDS:
            yield {**needed, name: values[name]}


def answer(call: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Return what a verb answers, read to its end; a plan is carried out."""
    found = call(**arguments)
    if inspect.isgenerator(found):
        return [*found]
    apply = getattr(found, "apply", None)
    return (found, apply()) if apply is not None and hasattr(found, "digest") else found


def told(found: Any) -> str:
    """Return all that an answer says, in words."""
    if isinstance(found, list | tuple):
        return "\n".join(map(told, found))
    if isinstance(found, dict):
        return "\n".join(map(told, (*found, *found.values())))
    as_dict = getattr(found, "to_dict", None)
    return f"{found!r} {found} {as_dict() if callable(as_dict) else ''}"


def walk(seen: Any, verb: str, theirs: Filled, folder: Path, *, is_confined: bool) -> None:
    part, _, name = verb.rpartition(".")
    call = getattr(part_of(seen, part), name)
    for arguments in calls(call, sound(theirs, folder) | of_verb(verb, theirs)):
        try:
            found = told(answer(call, arguments))
        except (MemstoreError, InvalidArgument, LookupError) as error:
            found = str(error)
        else:
            named = [one for one in arguments if one in IDS - {"external_key", "subject"}]
            needed = [one for one in named if _is_needed(call, one)]
            assert not needed or verb in ONLY_FILTERED, f"{verb}({arguments}) found {found[:200]}"
        if name == "status" and not is_confined:
            continue  # it says that others hold something
        assert SECRET not in found, (verb, arguments)
        assert str(BEN.user_id) not in found, (verb, arguments)


def _is_needed(call: Callable[..., Any], name: str) -> bool:
    one = inspect.signature(call).parameters[name]
    return one.default is one.empty


@pytest.mark.parametrize("owners", OWNERS)
@pytest.mark.parametrize("is_confined", [False, True], ids=["open", "confined"])
def test_no_verb_reaches_what_others_have(
    open_store: Callable[..., Store], tmp_path: Path, owners: str, is_confined: bool
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    store = open_store(embedder=None)
    own = store.of(OWNERS[owners])
    seen = own.within(confined=True) if is_confined else own
    with both(store) as theirs:
        for verb in VERBS:
            walk(seen, verb, theirs, folder, is_confined=is_confined)


@pytest.mark.parametrize("owners", OWNERS)
def test_no_verb_of_a_moment_reaches_what_others_had(
    open_store: Callable[..., Store], tmp_path: Path, owners: str
) -> None:
    store = open_store(embedder=None)
    with both(store) as theirs:
        for then in (store.of(OWNERS[owners]).as_of("now"), store.as_of("now").of(OWNERS[owners])):
            for verb in VERBS_OF_VIEWS:
                walk(then, verb, theirs, tmp_path, is_confined=True)


def test_async_store_of_owners_reaches_the_same(open_store: Callable[..., Store]) -> None:
    store = open_store(embedder=None)
    with both(store) as theirs:

        async def ask() -> None:
            own = AsyncStore(store).of(ANA)
            with pytest.raises(NotFound):
                await own.get(theirs["fact"])
            with pytest.raises(NotFound):
                await own.episodes.get(theirs["episode"])
            then = await own.as_of("now")
            with pytest.raises(NotFound):
                await then.get(theirs["fact"])
            assert SECRET not in told(await own.list(active_only=False))
            assert await then.of(BEN).count() == 5

        asyncio.run(ask())


# -- owners --------------------------------------------------------------------------------------


def test_what_a_store_of_owners_stores_is_theirs(store: Store) -> None:
    own = store.of(user_id="ana", run_id="r1")
    scope = Scope(user_id="ana", run_id="r1")
    assert own.add("likes tea", subject="ana").scope == scope
    assert own.add_many([{"content": "likes milk", "subject": "ana"}])[0].scope == scope
    named = NewFact(content="likes rum", subject="ana", user_id="ana")
    assert own.add_many([named])[0].scope == scope
    assert own.keys.put([NewFact(content="x", subject="s", external_key="k")])[0].scope == scope  # type: ignore[union-attr]
    assert (
        own.ledger.apply([AddFact(fact=NewFact(content="y", subject="s"))])[0].fact.scope == scope
    )
    assert own.episodes.add("said", source="chat").scope == scope
    assert own.episodes.record("told").scope == scope
    task = own.tasks.create("call")
    assert store.get(task.id).scope == scope
    assert own.count() == store.of(scope).count() == 6
    for wrong in ({"user_id": "ben"}, {"agent_id": "coder"}, {"run_id": "r2"}):
        with pytest.raises(InvalidArgument, match="owners contradict the owners of the store"):
            own.add_many([{"content": "z", "subject": "s"} | wrong])
        with pytest.raises(InvalidArgument, match="owners contradict"):
            own.episodes.add_many([{"content": "z", "source": "s"} | wrong])
    with pytest.raises(InvalidArgument, match="owners contradict"):
        own.keys.put([DeleteKey(external_key="k", scope=Scope(user_id="ben"))])


def test_a_store_of_all_stores_without_owners_or_for_those_that_are_named(store: Store) -> None:
    every = store.of("all")
    assert every.add("likes tea", subject="ana").scope == Scope()
    new = NewFact(content="likes milk", subject="ana", user_id="ana")
    assert every.add_many([new])[0].scope == ANA
    assert every.count() == 2


def test_changes_in_a_store_of_owners_name_only_facts_of_theirs(store: Store) -> None:
    theirs, own = store.of(BEN).add("b", subject="s"), store.of(ANA).add("a", subject="s")
    for change in (
        DeleteFact(fact_id=theirs.id),
        KeepFact(fact_id=theirs.id),
        SupersedeFact(old_id=theirs.id, new_id=own.id),
        SupersedeFact(old_id=own.id, new_id=theirs.id),
        AddFact(fact=NewFact(content="c", subject="s", supersedes=theirs.id)),
    ):
        with pytest.raises(NotFound):
            store.of(ANA).ledger.apply([change])
    assert store.get(theirs.id) == theirs


def test_a_fact_of_an_episode_of_others_is_refused(store: Store) -> None:
    said = store.of(BEN).episodes.add("said", source="chat")
    with pytest.raises(NotFound, match="no episode"):
        store.of(ANA).add("x", subject="s", episode_id=said.id)
    assert store.add("x", subject="s", episode_id=said.id).episode_id == said.id


def test_other_owners_are_chosen_anew_and_confined_ones_only_narrowed(store: Store) -> None:
    assert store.of(ANA).of(BEN).of("all").of().namespace == "default"
    confined = store.of(AtLeast(user_id="ana")).within(confined=True)
    inside = confined.of(user_id="ana", run_id="r")
    assert inside.add("x", subject="s").run_id == "r"
    assert inside.of(ANA).count() == 0
    assert confined.count() == 1
    for wider in ("all", BEN, Scope(), AtLeast(run_id="r"), AtLeast(user_id="ben")):
        for one in (confined, inside, confined.alone, confined.as_of("now")):
            with pytest.raises(AccessDenied, match="bound to its owners"):
                one.of(wider)
    exactly = store.of(ANA).within(confined=True)
    with pytest.raises(AccessDenied):
        exactly.of(user_id="ana", run_id="r")
    # Confined to a namespace alone, any owners may be chosen.
    assert store.within(confined=True).of(BEN).of("all").count() == 1


def test_owners_stay_with_what_a_store_returns(store: Store) -> None:
    own = store.of(ANA)
    fact = own.add("x", subject="s")
    for one in (
        own.within("other").within("default"),
        own.within(source="cli"),
        own.alone,
        own.unless_changed([fact.id], store.file.head().line),
    ):
        assert [found.id for found in one.list()] == [fact.id]
        assert one.add("y", subject=f"s {one!r}").scope == ANA
        assert "owners=Scope(user_id='ana'" in repr(one)
        own.delete(one.list()[-1].id)
    assert store.list() == []


def test_a_store_of_owners_is_kept(store: Store) -> None:
    assert store.of(user_id="ana") is store.of(ANA)
    assert store.of("all") is not store.of()


def test_an_export_of_owners_is_imported_whole(store: Store, tmp_path: Path) -> None:
    with both(store):
        lines = [*store.of(ANA).transfer.export()]
    with memstore.open(tmp_path / "copy.db", embedder=None) as copy:
        report = copy.transfer.import_(lines)
        assert (report.imported, report.episodes, report.proposals) == (7, 1, 1)
        assert [one.scope for one in copy.owners()] == [ANA]
        own, theirs = store.of(ANA), copy.of(ANA)
        assert [(one.content, one.status) for one in theirs.list(active_only=False)] == [
            (one.content, one.status) for one in own.list(active_only=False)
        ]
        assert len(theirs.history(subject="Dora of wharf")) == 2
        assert copy.file.doctor(deep=True) == []
        with pytest.raises(InvalidArgument, match="imports what anybody has"):
            copy.of(BEN).transfer.import_(lines)


def test_an_export_of_owners_ends_what_a_fact_of_others_replaced(
    store: Store, tmp_path: Path
) -> None:
    old = store.of(ANA).add("the PIN is 1234", subject="pin")
    new = store.of(BEN).add("the PIN is 9999", subject="pin")
    store.supersede(old.id, new.id)
    lines = [*store.of(ANA).transfer.export()]
    assert "9999" not in "".join(lines)
    with memstore.open(tmp_path / "copy.db", embedder=None) as copy:
        copy.transfer.import_(lines)
        assert copy.of(ANA).list() == []
        assert [one.status for one in copy.of(ANA).list(active_only=False)] == ["expired"]


def test_clearing_is_for_everybody(store: Store) -> None:
    store.of(ANA).add("x", subject="s")
    with pytest.raises(InvalidArgument, match="erases what everybody has"):
        store.of(ANA).clear()
    assert store.of("all").clear()
    assert store.of("all").count() == 0


def test_the_largest_limit_lists_all_that_there_is(store: Store) -> None:
    for user in ("ana", "ben"):
        own = store.of(user_id=user)
        for number in range(3):
            own.add(f"claim {number} of {user}", subject=f"subject {number}")
            own.episodes.add(f"turn {number} of {user}", thread="one", source="test")
    every = store.of("all")
    assert len(every.owners(limit=MAX_NUMBER)) == 2
    for order in ("name", "size", "changed"):
        assert len(every.subjects(order=order, limit=MAX_NUMBER)) == 3
    assert len(every.episodes.list(thread="one", limit=MAX_NUMBER, offset=1)) == 5
